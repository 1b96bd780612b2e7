"""Restore, undo and redo, as a person wants them: plan, ask where something of theirs is touched, do it, say what happened.

Success is said only from the verified report. Every operation ends with a toast that offers the way back, or with an error
that says what was not changed. UI thread only.
"""

import logging
from collections.abc import Awaitable, Callable, Coroutine

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.checkpoints import (
    KEEP_MINE,
    Action,
    BeforeTurn,
    LeaveReason,
    Mine,
    PlannedFile,
    Point,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    Scope,
)
from vibekit_desktop.core.types.errors import CoreError, NothingToEnd, PlanStale
from vibekit_desktop.core.types.events import RestoreProgressed
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.dialogs.restore_preview import RestorePreview
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.restore_items import may_choose
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.outcome import done_text, partly_text, progress_text, turns_words
from vibekit_desktop.ui.operations.patience import GivenUp, LongWork, patiently
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.wording import file_name, leave_text, point_words, shown_path

INITIATOR = "window"
_TRIES = 3

_log = logging.getLogger(__name__)

Plan = Callable[[Mine], Coroutine[object, object, RestorePlan]]
Outcome = tuple[RestorePlan, RestoreReport]


class CheckpointOperations(QObject):
    """What a person can do with a chat's checkpoints. Invariant: one operation at a time; another one meanwhile is ignored.

    Signals: ``diff_wanted(chat, path, point)``: Compare was pressed: show the file at ``point`` against the disk;
    ``turn_only_wanted(chat, path, turn)``: only what one turn did to a file is to be undone, and later work in it stays;
    ``finished(chat, report)``: something was done, or the attempt was a no-op; ``answered(chat)``: somebody said what becomes
    of a restore that did not end, and whatever came of it, what is shown of it may be old.
    """

    diff_wanted = Signal(object, object, object)
    turn_only_wanted = Signal(object, object, int)
    finished = Signal(object, object)
    answered = Signal(object)

    def __init__(self, hub: ThemeHub, bridge: Bridge, core: Core, notifier: Notifier, window: QWidget) -> None:
        super().__init__(window)
        self._hub = hub
        self._bridge = bridge
        self._core = core
        self._notifier = notifier
        self._window = window
        self._busy = False
        self._mark = 0
        """How the disk was just before the newest plan was made."""
        self._dialog: RestorePreview | None = None
        self._told: tuple[ChatId, LongWork] | None = None
        """What is carried out without a dialog, and where that is said."""
        bridge.subscribe(self, RestoreProgressed, self._progressed)

    # What views ask for; each starts a task that reports its own errors.

    def start_restore(self, chat: ChatId, point: Point) -> None:
        """Restore… was pressed."""
        self._bridge.spawn(self, self.restore_to(chat, point), name="restore")

    def start_undo_file(self, chat: ChatId, path: WorkspacePath, point: Point) -> None:
        """Undo beside a file was pressed."""
        self._bridge.spawn(self, self.undo_file(chat, path, point), name="undo a file")

    def start_undo(self, chat: ChatId) -> None:
        """Take back the newest restore or undo of a file."""
        self._bridge.spawn(self, self.undo(chat), name="undo")

    def start_redo(self, chat: ChatId) -> None:
        """Take back the newest undo."""
        self._bridge.spawn(self, self.redo(chat), name="redo")

    def start_leave_unfinished(self, chat: ChatId) -> None:
        """Leave the files as they are was pressed."""
        self._bridge.spawn(self, self.leave_unfinished(chat), name="end a restore")

    # The operations.

    async def restore_to(self, chat: ChatId, point: Point) -> RestoreReport | None:
        """Preview, confirm, restore; None if the person said no or it could not be done."""

        async def work() -> Outcome | None:
            plan = await self._planned(chat, self._plan_restore(chat, point, Scope.BOTH, KEEP_MINE))
            return await self._preview(plan, lambda scope, mine: self._plan_restore(chat, point, scope, mine))

        return await self._run(work, again=lambda: self.start_restore(chat, point))

    async def undo_file(self, chat: ChatId, path: WorkspacePath, point: Point) -> RestoreReport | None:
        """Put one file back. Asks only where somebody else's lines, later turns or a created file are at stake."""

        async def plan(mine: Mine) -> RestorePlan:
            return await self._core.checkpoints.plan_undo_file(chat, point, path, mine=mine)

        async def work() -> Outcome | None:
            planned = await self._planned(chat, plan(KEEP_MINE))
            file = next((each for each in planned.files if each.path == path), None)
            if file is None or (file.action is Action.LEAVE and not may_choose(file)):
                self._nothing_to_undo(path, point, file)
                return None
            question = self._question(file, point)
            mine = KEEP_MINE
            if question is not None:
                key = await question.ask()
                if key == "compare":
                    self.diff_wanted.emit(chat, path, point)
                if key == "only" and isinstance(point, BeforeTurn):
                    self.turn_only_wanted.emit(chat, path, point.turn)
                if key != "go":
                    return None
                if may_choose(file):
                    mine = Mine(restore=frozenset({path}))
                    planned = await self._planned(chat, plan(mine))
            return await self._carry_out(planned, lambda: plan(mine))

        return await self._run(work, again=lambda: self.start_undo_file(chat, path, point))

    async def bring_back(self, chat: ChatId, path: WorkspacePath, point: Point) -> RestoreReport | None:
        """Put one file back to a point after a preview, whoever wrote it since; None if the person said no or it could not be
        done."""

        async def plan(mine: Mine) -> RestorePlan:
            return await self._core.checkpoints.plan_undo_file(chat, point, path, mine=mine)

        async def work() -> Outcome | None:
            planned = await self._planned(chat, plan(KEEP_MINE))
            file = next((each for each in planned.files if each.path == path), None)
            if file is None or (file.action is Action.LEAVE and not may_choose(file)):
                self._nothing_to_undo(path, point, file)
                return None
            # Asking for it is the choice: what is on disk is copied first and can be had again.
            wanted = await self._planned(chat, plan(Mine(restore=frozenset({path})))) if may_choose(file) else planned
            return await self._preview(wanted, lambda _, mine: plan(mine))

        def again() -> None:
            self._bridge.spawn(self, self.bring_back(chat, path, point), name="bring a file back")

        return await self._run(work, again=again)

    async def undo(self, chat: ChatId) -> RestoreReport | None:
        """Take back the newest restore or undo of a file; shows the preview only if something changed since."""

        async def plan(mine: Mine) -> RestorePlan:
            return await self._core.checkpoints.plan_undo(chat, mine=mine)

        return await self._run(lambda: self._back(chat, plan), again=lambda: self.start_undo(chat))

    async def redo(self, chat: ChatId) -> RestoreReport | None:
        """Take back the newest undo; shows the preview only if something changed since."""

        async def plan(mine: Mine) -> RestorePlan:
            return await self._core.checkpoints.plan_redo(chat, mine=mine)

        return await self._run(lambda: self._back(chat, plan), again=lambda: self.start_redo(chat))

    async def leave_unfinished(self, chat: ChatId) -> None:
        """End a restore that another program began and did not end. Asks nothing: no file is changed."""
        if self._busy:
            return
        self._busy = True
        try:
            await self._core.checkpoints.leave_unfinished(chat)
        except NothingToEnd:
            _log.info("a restore had ended meanwhile")  # as was wanted: what is shown of it goes
        except CoreError as error:
            self._tell_error(error, lambda: self.start_leave_unfinished(chat))
        else:
            self._notifier.toast(tr("The restore was ended. The files stay as they are."), "done")
        finally:
            self._busy = False
        self.answered.emit(chat)

    # How.

    async def _plan_restore(self, chat: ChatId, point: Point, scope: Scope, mine: Mine) -> RestorePlan:
        return await self._core.checkpoints.plan_restore(chat, point, paths=(), scope=scope, mine=mine)

    async def _planned(self, chat: ChatId, plan: Coroutine[object, object, RestorePlan]) -> RestorePlan:
        async def look() -> RestorePlan:
            self._mark = await self._core.checkpoints.disk_mark(chat)
            return await plan

        return await patiently(self._bridge, self, self._notifier, look(), tr("Looking at the files…"))

    async def _run(self, work: Callable[[], Awaitable[Outcome | None]], *, again: Callable[[], None]) -> RestoreReport | None:
        if self._busy:
            return None
        self._busy = True
        try:
            outcome = await work()
        except CoreError as error:
            self._tell_error(error, again)
            return None
        except GivenUp:
            return None
        finally:
            self._busy = False
            if self._dialog is not None:
                self._dialog.close_now()
                self._dialog = None
        if outcome is None:
            return None
        plan, report = outcome
        self._tell(plan, report, again)
        self.finished.emit(report.chat, report)
        return report

    async def _back(self, chat: ChatId, plan: Plan) -> Outcome | None:
        planned = await self._planned(chat, plan(KEEP_MINE))
        if any(file.action is Action.LEAVE and file.reason != LeaveReason.SAME for file in planned.files):
            return await self._preview(planned, lambda _, mine: plan(mine))
        return await self._carry_out(planned, lambda: plan(KEEP_MINE))

    async def _preview(self, plan: RestorePlan, replan: Callable[[Scope, Mine], Awaitable[RestorePlan]]) -> Outcome | None:
        diffs = self._core.diffs
        dialog = RestorePreview(
            self._hub,
            self._window,
            plan,
            bridge=self._bridge,
            replan=replan,
            mark=self._mark,
            mark_of=self._core.checkpoints.disk_mark,
            diff=diffs.planned,
            words=diffs.words,
            highlight=diffs.highlight,
        )
        self._dialog = dialog
        confirmed = await dialog.ask()
        while confirmed is not None:
            try:
                return confirmed, await self._core.checkpoints.carry_out(confirmed, initiator=INITIATOR)
            except PlanStale as stale:
                _log.info("plan stale: %d paths", len(stale.changed))
                mark = await self._core.checkpoints.disk_mark(plan.chat)
                fresh = await replan(confirmed.scope, confirmed.mine)
                confirmed = await dialog.look_again(fresh, stale.changed, mark)
        return None

    async def _carry_out(self, plan: RestorePlan, again: Callable[[], Coroutine[object, object, RestorePlan]]) -> Outcome:
        """Without a dialog: a stale plan is made again, but never one that would do another kind of thing."""
        wanted = {file.path: file.action for file in plan.acts}
        for _ in range(_TRIES - 1):
            try:
                return plan, await self._write(plan)
            except PlanStale:
                plan = await self._planned(plan.chat, again())
                if {file.path: file.action for file in plan.acts} != wanted:
                    raise
        return plan, await self._write(plan)

    async def _write(self, plan: RestorePlan) -> RestoreReport:
        with LongWork(self._notifier, tr("Restoring…")) as told:
            self._told = (plan.chat, told)
            try:
                return await self._core.checkpoints.carry_out(plan, initiator=INITIATOR)
            finally:
                self._told = None

    def _question(self, file: PlannedFile, point: Point) -> Question | None:
        """The question that must be asked before one file is put back, if any."""
        name = file_name(shown_path(file.path))
        where = point_words(point)
        if may_choose(file):
            who = {"user": tr("you"), "unknown": tr("somebody, perhaps you,")}.get(file.changed_by or "", tr("another chat"))
            title = tr("{file} was changed by {who} after the agent.", file=name, who=who)
            text = tr("Putting it back to {point} replaces those lines too. A copy is kept.", point=where)
            return self._ask(title, text, tr("Put it back to {point}", point=where), compare=True, only=_only(point))
        if file.action is Action.DELETE:
            turn = point.turn if isinstance(point, BeforeTurn) else 0
            if turn:
                title = tr("This deletes {file}, which turn {turn} created.", file=name, turn=turn)
            else:
                title = tr("This deletes {file}, which did not exist then.", file=name)
            return self._ask(title, tr("A copy is kept."), tr("Delete file"), compare=False)
        if len(file.turns) > 1:
            words = turns_words(file.turns)
            title = tr("This takes back what {turns} did to {file}.", turns=words, file=name)
            text = tr("The file will be as it was {point}. A copy of its present state is kept.", point=where)
            return self._ask(title, text, tr("Undo {turns}", turns=words), compare=True, only=_only(point))
        return None

    def _ask(self, title: str, text: str, go: str, *, compare: bool, only: str = "") -> Question:
        """``only``: the words for undoing one turn alone, which then is the primary: it loses nothing that came later."""
        choices = [Choice("", tr("Cancel")), Choice("go", go, "secondary" if only else "primary")]
        if only:
            choices.append(Choice("only", only, "primary"))
        if compare:
            choices.insert(0, Choice("compare", tr("Compare")))
        return Question(self._hub, self._window, title, text, choices)

    def _nothing_to_undo(self, path: WorkspacePath, point: Point, file: PlannedFile | None) -> None:
        name = file_name(shown_path(path))
        if file is None or file.reason == LeaveReason.SAME:
            self._notifier.toast(tr("{file} is already as it was {point}", file=name, point=point_words(point)), "info")
            return
        size = file.current.size
        self._notifier.toast(tr("{file} stays as it is.", file=name) + " " + leave_text(file.reason, size), "error")

    # Telling.

    def _tell_error(self, error: CoreError, again: Callable[[], None]) -> None:
        action = (tr("Try again"), again) if error.retryable else None
        self._notifier.toast(sentence(error).sentence, "error", action)

    def _tell(self, plan: RestorePlan, report: RestoreReport, again: Callable[[], None]) -> None:
        chat = report.chat
        if report.failed or not report.verified:
            self._notifier.toast(partly_text(plan, report), "error", (tr("Try again"), again))
            return
        if not report.entry:
            self._notifier.toast(tr("Everything is already as it was then."), "info")
            return
        kind = "done" if report.kind is RestoreKind.UNDO_FILE else "restored"
        if report.kind is RestoreKind.UNDO:
            action = (tr("Redo"), lambda: self.start_redo(chat))
        else:
            action = (tr("Undo"), lambda: self.start_undo(chat))
        self._notifier.toast(done_text(plan, report), kind, action)

    def _progressed(self, event: RestoreProgressed) -> None:
        if self._dialog is not None and self._dialog.plan.chat == event.chat:
            self._dialog.show_progress(event.step, event.done, event.total)
        elif self._told is not None and self._told[0] == event.chat:
            self._told[1].say(progress_text(event.step, event.done, event.total))


def _only(point: Point) -> str:
    """What undoing one turn alone is called, where the point is before one."""
    return tr("Undo turn {turn} only", turn=point.turn) if isinstance(point, BeforeTurn) else ""
