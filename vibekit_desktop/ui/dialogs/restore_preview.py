"""Show exactly what a restore will do, let the person choose, and return the plan they confirmed.

Every choice is planned anew by the caller's ``replan``, so the words always tell what the plan says. The dialog stays open
while the restore runs and shows how far it is. UI thread only.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from vibekit_desktop.core.types.checkpoints import Mine, RestoreKind, RestorePlan, RestoreStep, Scope
from vibekit_desktop.core.types.diffs import DiffDocument, FileDiff
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.dialogs.question import IconTile
from vibekit_desktop.ui.dialogs.restore_list import RestoreList
from vibekit_desktop.ui.dialogs.restore_parts import Assurance, FileWords, Ground, HeadWords, Line
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.restore_items import (
    RestoreItemsModel,
    differing,
    primary_text,
    scope_note,
    summary_of,
    title_of,
)
from vibekit_desktop.ui.operations.diffs import DiffDresser, Highlight, Words
from vibekit_desktop.ui.operations.disk_watch import DiskWatch, MarkOf
from vibekit_desktop.ui.operations.outcome import progress_text
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.diff_pane import DiffPane
from vibekit_desktop.ui.views.row_paint import Counts
from vibekit_desktop.ui.views.segments import Segment, Segments

Replan = Callable[[Scope, Mine], Awaitable[RestorePlan]]
PlannedDiff = Callable[[RestorePlan, WorkspacePath], Awaitable[FileDiff]]

_log = logging.getLogger(__name__)

_LOOK_AGAIN_MS = 1000
_SCOPES = (Scope.BOTH, Scope.FILES, Scope.CHAT)


class RestorePreview(Overlay[RestorePlan]):
    """Invariant: what the words, the list and the primary button say is ``plan``; a confirmed plan is the one that was shown.

    ``ask`` opens it and returns the plan, or None. Then either `look_again` (the plan was stale) or `close_now`.
    """

    def __init__(
        self,
        hub: ThemeHub,
        parent: QWidget,
        plan: RestorePlan,
        *,
        bridge: Bridge,
        replan: Replan,
        mark: int,
        mark_of: MarkOf,
        diff: PlannedDiff,
        words: Words,
        highlight: Highlight,
    ) -> None:
        super().__init__(hub, parent)
        self.plan = plan
        self._bridge = bridge
        self._replan = replan
        self._mark = mark
        self._mark_of = mark_of
        self._disk = DiskWatch(bridge, mark_of, self._is_seen, self)
        self._disk.changed.connect(self._changed_on_disk)
        self._diff = diff
        self._turn = 0
        self._path: WorkspacePath | None = None
        self._diff_turn = 0
        self._planning = False
        self._running = False
        self._said = ""
        self._stay = ""
        self._model = RestoreItemsModel(self)
        self._pane = DiffPane(hub, self.card, unified=True, heads=False)
        layout = QVBoxLayout(self.card)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addWidget(self._make_head())
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self._make_list())
        middle.addWidget(self._make_diff(), 1)
        layout.addLayout(middle, 1)
        self._scope_bar = self._make_scopes()
        layout.addWidget(self._scope_bar)
        layout.addWidget(self._make_foot())
        self._dresser = DiffDresser(bridge, self._pane, words, highlight)
        self._off = QTimer(self)
        self._off.setSingleShot(True)
        self._off.setInterval(_LOOK_AGAIN_MS)
        self._off.timeout.connect(self._show_primary)
        self._flash = QTimer(self)
        self._flash.setSingleShot(True)
        self._flash.timeout.connect(lambda: self._model.set_plan(self.plan))
        self.stops = [
            self.cancel,
            self.primary,
            self.files,
            self._switch,
            self._pane.view,
            *(self._radio(scope) for scope in _SCOPES),
        ]
        self.setAccessibleName(title_of(plan))
        self._show_plan()

    # Building.

    def _make_head(self) -> QWidget:
        head = Ground(self.hub, self.card, "", bottom=True)
        row = QHBoxLayout(head)
        row.setContentsMargins(24, 18, 24, 15)
        row.setSpacing(14)
        row.addWidget(IconTile(self.hub, "restore", head), 0, Qt.AlignmentFlag.AlignTop)
        self._words = HeadWords(self.hub, head)
        row.addWidget(self._words, 1)
        return head

    def _make_list(self) -> QWidget:
        side = Ground(self.hub, self.card, "bg.inspector", right=True)
        side.setFixedWidth(self.hub.theme.size("restore-list"))
        layout = QVBoxLayout(side)
        layout.setContentsMargins(0, 4, 1, 4)
        self.files = RestoreList(self.hub, self._model, side)
        self.files.selected.connect(self._select)
        self.files.choice.connect(self._choose)
        layout.addWidget(self.files)
        return side

    def _make_diff(self) -> QWidget:
        right = Ground(self.hub, self.card, "bg.surface")
        layout = QVBoxLayout(right)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        bar = Ground(self.hub, right, "", bottom=True)
        bar.setFixedHeight(self.hub.theme.size("restore-file-bar"))
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 0, 8, 1)
        self._file_words = FileWords(self.hub, bar)
        row.addWidget(self._file_words, 1)
        self._switch = Segments(
            self.hub,
            (Segment("", "split", tr("Side by side")), Segment("", "unified", tr("Unified"))),
            name=tr("Layout of the diff"),
            small=True,
            parent=bar,
        )
        self._switch.set_index(1)
        self._switch.chosen.connect(lambda index: self._pane.set_unified(index == 1))
        row.addWidget(self._switch)
        layout.addWidget(bar)
        layout.addWidget(self._pane, 1)
        return right

    def _make_scopes(self) -> QWidget:
        bar = Ground(self.hub, self.card, "bg.popup", top=True)
        bar.setFixedHeight(self.hub.theme.size("restore-scope-bar"))
        row = QHBoxLayout(bar)
        row.setContentsMargins(24, 1, 24, 0)
        row.setSpacing(20)
        row.addWidget(Line(self.hub, bar, tr("Restore"), "body", "text.secondary"))
        self._scopes = QButtonGroup(self)
        for number, text in enumerate((tr("Files and chat"), tr("Files only"), tr("Chat only"))):
            radio = QRadioButton(text, bar)
            self._scopes.addButton(radio, number)
            row.addWidget(radio)
        self._scopes.idToggled.connect(lambda *_: self._dress_radios())
        self.hub.changed.connect(self._dress_radios)
        self._radio(self.plan.scope).setChecked(True)
        self._scopes.idClicked.connect(self._pick_scope)
        row.addStretch(1)
        self._note = Line(self.hub, bar, "", "small", "text.tertiary", right=True)
        row.addWidget(self._note, 1)
        bar.setVisible(self.plan.kind is RestoreKind.RESTORE)
        return bar

    def _radio(self, scope: Scope) -> QRadioButton:
        button = self._scopes.button(_SCOPES.index(scope))
        assert isinstance(button, QRadioButton)
        return button

    def _dress_radios(self) -> None:
        theme = self.hub.theme
        for button in self._scopes.buttons():
            on = button.isChecked()
            button.setFont(theme.font("body-strong" if on else "body"))
            ink(button, theme, "text.primary" if on else "text.secondary")

    def _make_foot(self) -> QWidget:
        foot = Ground(self.hub, self.card, "bg.raised", top=True, foot=True)
        foot.setFixedHeight(self.hub.theme.size("dialog-foot"))
        row = QHBoxLayout(foot)
        row.setContentsMargins(24, 1, 24, 0)
        row.setSpacing(12)
        self._assurance = Assurance(self.hub, foot)
        row.addWidget(self._assurance, 1)
        self.cancel = Button(self.hub, tr("Cancel"), size="large", parent=foot)
        self.cancel.clicked.connect(lambda: self.answer(None))
        self.primary = Button(self.hub, "", kind="primary", size="large", parent=foot)
        self.primary.clicked.connect(self._confirm)
        row.addWidget(self.cancel)
        row.addWidget(self.primary)
        return foot

    def wanted_size(self, room: QSize) -> QSize:
        """1120 x 748 where there is room."""
        theme = self.hub.theme
        return QSize(theme.size("restore-dialog-width"), theme.size("restore-dialog-height")).boundedTo(room)

    # Asking.

    async def ask(self) -> RestorePlan | None:
        """Open, and wait until the person confirms a plan (the dialog stays, running) or cancels (it is gone)."""
        self._disk.start(self.plan.chat, self._mark)
        return await self.wait()

    async def look_again(self, plan: RestorePlan, changed: Sequence[str], mark: int) -> RestorePlan | None:
        """The confirmed plan was no longer true: show the new one, say what changed, and ask again."""
        self._running = False
        self._show_changed(plan, changed)
        self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)
        self._disk.start(plan.chat, mark)
        return await self.wait()

    def _show_changed(self, plan: RestorePlan, changed: Sequence[str]) -> None:
        self.plan = plan
        count = max(1, len(changed))
        self._said = tr_n("{n} file changed just now. Look again.", "{n} files changed just now. Look again.", count)
        self._off.start()
        self._show_plan(stale=frozenset(changed))
        flash = self.hub.theme.motion("flash")
        if flash:
            self._flash.start(flash)

    # The disk, while it is open.

    def _is_seen(self) -> bool:
        return self.isVisible() and not self._running and not self._planning

    def _changed_on_disk(self) -> None:
        self._bridge.spawn(self, self._look_at_disk(self._turn), name="plan a restore again")

    async def _look_at_disk(self, turn: int) -> None:
        """Show the plan that is true now, if another one is. Whoever chooses or confirms meanwhile gets a newer one anyway."""
        try:
            mark = await self._mark_of(self.plan.chat)  # before the plan: what changes while it is made is seen too
            plan = await self._replan(self.plan.scope, self.plan.mine)
        except CoreError as error:
            _log.info("a plan was not made again: %s", error.code)
            return
        self._disk.start(plan.chat, mark)
        if turn == self._turn and not self._running and plan.digest != self.plan.digest:
            self._show_changed(plan, differing(self.plan, plan))

    def show_progress(self, step: RestoreStep, done: int, total: int) -> None:
        """The restore is running: ``done`` of ``total`` files are through this step."""
        if self._running:
            self._set_primary(progress_text(step, done, total), enabled=False)

    def may_close(self) -> bool:
        """Not while files are being put in place."""
        return not self._running

    def _confirm(self) -> None:
        if self._running or self._planning or not self.primary.isEnabled():
            return
        self._running = True
        self._said = ""
        self.cancel.setEnabled(False)
        self._scope_bar.setEnabled(False)
        self.files.setEnabled(False)
        count = len(self.plan.acts)
        if count and self.plan.scope is not Scope.CHAT:
            self.show_progress(RestoreStep.KEEP, 0, count)
        else:
            self._set_primary(tr("Restoring…"), enabled=False)
        self.answer(self.plan)

    # Choosing.

    def _pick_scope(self, index: int) -> None:
        self._plan_again(_SCOPES[index], self.plan.mine)

    def _choose(self, path: WorkspacePath, restores: bool) -> None:
        mine = self.plan.mine
        chosen = mine.restore | {path} if restores else mine.restore - {path}
        self._plan_again(self.plan.scope, replace(mine, restore=frozenset(chosen)))

    def _plan_again(self, scope: Scope, mine: Mine) -> None:
        self._turn += 1
        self._planning = True
        self._show_primary()
        self._bridge.spawn(self, self._ask_plan(scope, mine, self._turn), name="plan a restore again")

    async def _ask_plan(self, scope: Scope, mine: Mine, turn: int) -> None:
        try:
            plan = await self._replan(scope, mine)
        except CoreError as error:
            if turn == self._turn:
                self._planning = False
                self._said = sentence(error).title
                self._radio(self.plan.scope).setChecked(True)
                self._show_plan()
            return
        if turn != self._turn or self._running:
            return
        self._planning = False
        self._said = ""
        self.plan = plan
        self._show_plan()

    # Showing.

    def _show_plan(self, stale: frozenset[str] = frozenset()) -> None:
        plan = self.plan
        if plan.cut_turns is not None:
            # A plan for files only does not know the chat's last turn; the one before it did.
            self._stay = tr("The chat stays at turn {turn}.", turn=plan.cut_turns[1])
        self._words.set_texts(title_of(plan), summary_of(plan))
        self._model.set_plan(plan, stale)
        self.files.set_dimmed(plan.scope is Scope.CHAT)
        self.files.setEnabled(True)
        self._scope_bar.setEnabled(True)
        self.cancel.setEnabled(True)
        note = scope_note(plan)
        self._note.set_text(self._stay if plan.scope is Scope.FILES and self._stay else note)
        promise = tr("The present state is saved first. You can undo this restore.")
        self._assurance.set_text(self._said or promise, warns=bool(self._said))
        self._radio(plan.scope).setChecked(True)
        self._show_primary()
        self._keep_selection()

    def _show_primary(self) -> None:
        if self._running:
            return
        text = primary_text(self.plan)
        waiting = self._planning or self._off.isActive()
        self._set_primary(text or tr("Nothing to restore"), enabled=bool(text) and not waiting)

    def _set_primary(self, text: str, *, enabled: bool) -> None:
        self.primary.setText(text)
        self.primary.setAccessibleName(text)
        self.primary.updateGeometry()
        self.primary.setEnabled(enabled)

    def _keep_selection(self) -> None:
        row = self._model.row_of(self._path) if self._path is not None else -1
        if row < 0:
            acting = [n for n, each in enumerate(self._model.rows) if each.file is not None and not each.chooses]
            files = acting or [n for n, each in enumerate(self._model.rows) if each.file is not None]
            row = files[0] if files else -1
        if row < 0:
            self._pane.clear()
            return
        if self.files.currentIndex().row() != row:
            self.files.setCurrentIndex(self._model.index(row))
        else:
            found = self._model.row_at(row)
            if found is not None and found.path is not None:
                self._select(found.path)

    def _select(self, path: WorkspacePath) -> None:
        again = path == self._path
        self._path = path
        row = self._model.row_at(self._model.row_of(path))
        file = row.file if row is not None else None
        counts: Counts = (file.lines_added, file.lines_removed) if file is not None else (None, None)
        self._file_words.set_file(path, counts)
        self._diff_turn += 1
        self._bridge.spawn(self, self._show_diff(path, self._diff_turn, keep_place=again), name="preview a file")

    async def _show_diff(self, path: WorkspacePath, turn: int, *, keep_place: bool) -> None:
        try:
            diff = await self._diff(self.plan, path)
        except CoreError as error:
            if turn == self._diff_turn:
                self._pane.show_error(sentence(error))
            return
        if turn != self._diff_turn:
            return
        self._pane.show_diff(diff, ((tr("Now"), ""), (tr("After restoring"), "")), keep_place=keep_place)
        if isinstance(diff.result, DiffDocument):
            self._file_words.set_file(path, (diff.result.lines_added, diff.result.lines_removed))
        self._dresser.dress(diff)
