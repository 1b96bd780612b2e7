"""Take back a hunk, a file or a turn while later work stays: plan, ask where both meet, do it, say what happened.

Nothing is written before every overlap is decided. Success is said only from the verified report, with the way back beside it.
UI thread only.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.checkpoints import (
    Action,
    AfterTurn,
    BeforeTurn,
    LeaveReason,
    Now,
    PlannedFile,
    Point,
    RestorePlan,
    RestoreReport,
    Start,
)
from vibekit_desktop.core.types.diffs import FileDiff
from vibekit_desktop.core.types.errors import CoreError, PlanStale
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Decision, Decisions, InversePlan, InverseRequest
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.overlaps import OverlapsDialog
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.overlaps import change_name
from vibekit_desktop.ui.models.restore_items import summary_of
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.outcome import partly_text
from vibekit_desktop.ui.operations.patience import GivenUp, LongWork, patiently
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.wording import file_name, leave_text, point_words, shown_path

INITIATOR = "window"
_TRIES = 3

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants undone: of ``path`` the ``hunk`` that was counted in the content ``seen``, or all; without a path
    everything between the points of the request. ``asked``: they know already that later work is in the file. ``turns``: the
    last turn of the chat, for a change that reaches up to the disk; 0 if nothing came before it but what is on disk."""

    request: InverseRequest
    path: WorkspacePath | None = None
    hunk: int = -1
    seen: BlobHash | None = None
    asked: bool = False
    turns: int = 0

    @property
    def name(self) -> str:
        """The file's name, or nothing."""
        return file_name(shown_path(self.path)) if self.path is not None else ""


def wish_for_hunk(diff: FileDiff, hunk: int) -> Wish:
    """One place of a file."""
    of = diff.request
    request = InverseRequest(chat=of.chat, old=of.old, new=of.new, paths=(of.path,), hunks=(hunk,))
    return Wish(request=request, path=of.path, hunk=hunk, seen=diff.after.sha)


def wish_for_file(diff: FileDiff, last_turn: int = 0) -> Wish:
    """A file; one that was renamed gets its name back too. ``last_turn`` of its chat."""
    of = diff.request
    paths = (of.path,) if of.old_path in (None, of.path) else (of.old_path, of.path)
    request = InverseRequest(chat=of.chat, old=of.old, new=of.new, paths=tuple(path for path in paths if path))
    return Wish(request=request, path=of.path, turns=_turns(of.old, of.new, last_turn))


def wish_for_turn(chat: ChatId, path: WorkspacePath, turn: int) -> Wish:
    """What one turn did to a file, as somebody wants it who was told of later work in it."""
    request = InverseRequest(chat=chat, old=BeforeTurn(turn), new=AfterTurn(turn), paths=(path,))
    return Wish(request=request, path=path, asked=True)


def wish_for_all(chat: ChatId, old: Point, new: Point) -> Wish:
    """Everything between two points."""
    return Wish(request=InverseRequest(chat=chat, old=old, new=new))


def _turns(old: Point, new: Point, last_turn: int) -> int:
    """The last turn, if a change up to the disk has something of a turn in it for sure."""
    if not isinstance(new, Now):
        return 0
    match old:
        case Start():
            return last_turn
        case BeforeTurn(turn):
            return last_turn if turn <= last_turn else 0
        case AfterTurn(turn):
            return last_turn if turn < last_turn else 0
        case _:
            return 0


class InverseOperations(QObject):
    """Invariant: one wish at a time; another one meanwhile is ignored.

    Signals: ``compare_wanted(path, point)``: Compare was pressed: the file at a point against the disk; ``stale()``: what was
    shown is not what is on the disk any more; ``back_wanted(chat)``: Undo of the toast was pressed."""

    compare_wanted = Signal(object, object)
    stale = Signal()
    back_wanted = Signal(object)

    def __init__(self, hub: ThemeHub, bridge: Bridge, core: Core, notifier: Notifier, window: QWidget) -> None:
        super().__init__(window)
        self._hub = hub
        self._bridge = bridge
        self._core = core
        self._notifier = notifier
        self._window = window
        self._busy = False

    def start(self, wish: Wish) -> None:
        """Undo was pressed."""
        self._bridge.spawn(self, self.undo(wish), name="undo a change")

    async def undo(self, wish: Wish) -> RestoreReport | None:
        """Take it back; None if the person said no or nothing could be done."""
        if self._busy:
            return None
        self._busy = True
        try:
            outcome = await self._work(wish)
        except CoreError as error:
            action = (tr("Try again"), lambda: self.start(wish)) if error.retryable else None
            self._notifier.toast(sentence(error).sentence, "error", action)
            return None
        except GivenUp:
            return None
        finally:
            self._busy = False
        if outcome is None:
            return None
        plan, report = outcome
        self._tell(_as_agreed(wish, plan), plan, report)
        return report

    # How.

    async def _plan(self, wish: Wish, decisions: Decisions = ()) -> InversePlan:
        return await self._core.undo.plan(wish.request, decisions)

    async def _planned(self, wish: Wish, decisions: Decisions = ()) -> InversePlan:
        """Outside of a dialog."""
        return await patiently(self._bridge, self, self._notifier, self._plan(wish, decisions), tr("Looking at the files…"))

    async def _write(self, plan: RestorePlan) -> RestoreReport:
        with LongWork(self._notifier, tr("Undoing…")):
            return await self._core.checkpoints.carry_out(plan, initiator=INITIATOR)

    async def _work(self, wish: Wish) -> tuple[InversePlan, RestoreReport] | None:
        planned = await self._agreed(wish, await self._planned(wish))
        for _ in range(_TRIES):
            if planned is None or planned.plan is None:
                return None
            wish = _as_agreed(wish, planned)
            try:
                return planned, await self._write(planned.plan)
            except PlanStale as stale:
                _log.info("plan stale: %d paths", len(stale.changed))
                fresh = await self._planned(wish, planned.decisions)
                if fresh.overlaps == planned.overlaps and _acts(fresh.plan) == _acts(planned.plan):
                    planned = fresh
                else:  # what was decided was decided of something else
                    planned = await self._agreed(wish, await self._planned(wish))
        assert planned is not None
        assert planned.plan is not None
        return planned, await self._write(planned.plan)

    async def _agreed(self, wish: Wish, plan: InversePlan) -> InversePlan | None:
        """The plan that somebody agrees to, or None."""
        if self._is_stale(wish, plan):
            self._notifier.toast(tr("This file changed on disk. Showing the new state."), "info")
            self.stale.emit()
            return None
        if plan.open or plan.plan is None:
            dialog = OverlapsDialog(
                self._hub, self._window, plan, bridge=self._bridge, replan=lambda decisions: self._plan(wish, decisions)
            )
            decided = await dialog.ask()
            if decided is not None and decided.plan is not None and not decided.plan.acts:
                self._notifier.toast(tr("Everything stays as it is now."), "info")
                return None
            return decided
        if not plan.plan.acts:
            self._nothing(wish, plan.plan)
            return None
        question = self._question(wish, plan, plan.plan)
        if question is None:
            return plan
        key = await question.ask()
        if key == "compare":
            self.compare_wanted.emit(wish.path, AfterTurn(wish.turns) if wish.turns else wish.request.new)
        if key == "turns":
            turns = replace(wish, request=replace(wish.request, new=AfterTurn(wish.turns)), turns=0, asked=True)
            return await self._agreed(turns, await self._planned(turns))
        return plan if key == "go" else None

    @staticmethod
    def _is_stale(wish: Wish, plan: InversePlan) -> bool:
        """Whether a hunk was counted in another content than the one on disk: it would be another hunk."""
        if wish.hunk < 0 or wish.request.new != Now() or plan.plan is None:
            return False
        file = next((each for each in plan.plan.files if each.path == wish.path), None)
        return file is not None and file.current.sha != wish.seen

    # Asking.

    def _question(self, wish: Wish, plan: InversePlan, what: RestorePlan) -> Question | None:
        """What is asked before, if anything is: of a turn always, of a file where it goes or later work stays in it."""
        change = change_name(wish.request)
        if wish.path is None:
            title = tr("Undo {what}?", what=change)
            return self._ask(title, f"{summary_of(what)} {_kept(plan)}{_gone(plan)}".strip(), tr("Undo {what}", what=change))
        file = next((each for each in what.acts if each.path == wish.path), None)
        if wish.turns and wish.path in plan.goes_too:
            who = _who(file, wish.request.chat)
            title = tr("{file} was changed {who}after turn {turn}.", file=wish.name, who=who, turn=wish.turns)
            deletes = file is not None and file.action is Action.DELETE
            everything = tr("Delete file") if deletes else tr("Undo all of it")
            choices = [Choice("compare", tr("Compare")), Choice("", tr("Cancel")), Choice("go", everything)]
            choices.append(Choice("turns", tr("Keep later lines"), "primary"))
            text = tr("Undo only what turns did, and keep the later lines?")
            return Question(self._hub, self._window, title, text, choices)
        if file is not None and file.action is Action.DELETE:
            title = tr("This deletes {file}, which {what} created.", file=wish.name, what=change)
            return self._ask(title, tr("A copy is kept."), tr("Delete file"))
        if wish.hunk < 0 and not wish.asked and wish.path in plan.later_kept:
            who = _who(file, wish.request.chat)
            title = tr("{file} was changed {who}after {what}.", file=wish.name, who=who, what=change)
            text = tr("Undo only what {what} did, and keep the later lines?", what=change)
            return self._ask(title, text, tr("Undo {what} only", what=change), compare=True)
        return None

    def _ask(self, title: str, text: str, go: str, *, compare: bool = False) -> Question:
        choices = [Choice("", tr("Cancel")), Choice("go", go, "primary")]
        if compare:
            choices.insert(0, Choice("compare", tr("Compare")))
        return Question(self._hub, self._window, title, text, choices)

    # Telling.

    def _nothing(self, wish: Wish, plan: RestorePlan) -> None:
        left = next((file for file in plan.files if file.reason != LeaveReason.SAME), None)
        if left is not None:
            name = file_name(shown_path(left.path))
            text = tr("{file} stays as it is.", file=name) + " " + leave_text(left.reason, left.current.size)
            self._notifier.toast(text, "error")
        elif wish.path is not None and wish.hunk < 0:
            point = point_words(wish.request.old)
            self._notifier.toast(tr("{file} is already as it was {point}", file=wish.name, point=point), "info")
        else:
            self._notifier.toast(tr("That is undone already."), "info")

    def _tell(self, wish: Wish, plan: InversePlan, report: RestoreReport) -> None:
        assert plan.plan is not None
        chat = report.chat
        if report.failed or not report.verified:
            again: Callable[[], None] = lambda: self.start(wish)  # noqa: E731 - a name for what the button does
            self._notifier.toast(partly_text(plan.plan, report), "error", (tr("Try again"), again))
        elif not report.entry:
            self._notifier.toast(tr("That is undone already."), "info")
        else:
            text = undone_text(wish, plan, report)
            self._notifier.toast(text, "done", (tr("Undo"), lambda: self.back_wanted.emit(chat)))


def undone_text(wish: Wish, plan: InversePlan, report: RestoreReport) -> str:
    """What is said when everything was done as planned."""
    decided_to_keep = any(decision is Decision.KEEP for _, _, decision in plan.decisions)
    kept = decided_to_keep or any(path in plan.later_kept for path in report.restored)
    if wish.path is None:
        return tr_n(
            "Undid {what} in {n} file", "Undid {what} in {n} files", len(report.restored), what=change_name(wish.request)
        )
    if wish.hunk >= 0:
        text = tr("Undid hunk {n} of {file}", n=wish.hunk + 1, file=wish.name)
        return tr("{done}; later changes are kept", done=text) if kept else text
    if kept:
        what = change_name(wish.request)
        return tr("Undid what {what} did to {file}; later changes are kept", what=what, file=wish.name)
    return tr("{file} is as it was {point}", file=wish.name, point=point_words(wish.request.old))


def _acts(plan: RestorePlan | None) -> dict[WorkspacePath, tuple[Action, object]]:
    return {file.path: (file.action, file.wanted) for file in plan.acts} if plan is not None else {}


def _kept(plan: InversePlan) -> str:
    count = len(plan.later_kept)
    return tr_n("Later work in {n} file is kept.", "Later work in {n} files is kept.", count) if count else ""


def _gone(plan: InversePlan) -> str:
    count = len(plan.goes_too)
    one, more = (
        "{n} of them was changed after its turns; that goes too.",
        "{n} of them were changed after their turns; that goes too.",
    )
    return tr_n(one, more, count) if count else ""


def _as_agreed(wish: Wish, plan: InversePlan) -> Wish:
    """The wish as it was agreed to: perhaps only a part of it, and nobody is asked about the rest again."""
    return wish if plan.request == wish.request else replace(wish, request=plan.request, turns=0, asked=True)


def _who(file: PlannedFile | None, chat: ChatId) -> str:
    """Who changed it later, as part of a sentence with a blank behind it; nothing for later turns or where nobody knows."""
    changed_by = file.changed_by if file is not None else None
    if changed_by in (None, "unknown", chat):
        return ""
    return tr("by you") + " " if changed_by == "user" else tr("by another chat") + " "
