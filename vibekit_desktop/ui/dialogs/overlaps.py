"""Ask about every place where an undo and later work meet: what is there now, what the change made, what undoing makes of it.

Nothing is written before all are decided. The plan that is returned is the one that follows from the decisions. UI thread only.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.reviews import Decision, Decisions, InversePlan, Overlap
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.dialogs.question import IconTile
from vibekit_desktop.ui.dialogs.restore_parts import Assurance, Ground, HeadWords, Line
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.overlaps import (
    OVERLAP_ROLE,
    OverlapRow,
    OverlapsModel,
    change_name,
    decisions_of,
    overlaps_summary,
    overlaps_title,
)
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.row_paint import draw_path, draw_text, text_width
from vibekit_desktop.ui.visible import show
from vibekit_desktop.ui.wording import shown_path

Replan = Callable[[Decisions], Awaitable[InversePlan]]

_LIST = 280
_ROW = 44
_MOST_LINES = 400
"""More lines of one place are not shown; they are decided all the same."""


class OverlapsDialog(Overlay[InversePlan]):
    """Invariant: the primary is on exactly while every overlap is decided; what `ask` returns has no open overlap.

    ``ask`` opens it and returns a plan that can be carried out, or None.
    """

    def __init__(self, hub: ThemeHub, parent: QWidget, plan: InversePlan, *, bridge: Bridge, replan: Replan) -> None:
        super().__init__(hub, parent)
        self._plan = plan
        self._bridge = bridge
        self._replan = replan
        self._planning = False
        self._said = ""
        self.model = OverlapsModel(self)
        outer = QVBoxLayout(self.card)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.setSpacing(0)
        outer.addWidget(self._make_head())
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self._make_list())
        middle.addWidget(self._make_texts(), 1)
        outer.addLayout(middle, 1)
        outer.addWidget(self._make_choice())
        outer.addWidget(self._make_foot())
        self.stops = [
            self.cancel, self.primary, self.list, *self._fields, self.keep, self.undo, self.keep_all, self.undo_all,
        ]  # fmt: skip
        self._show_plan(plan)

    # Building.

    def _make_head(self) -> QWidget:
        head = Ground(self.hub, self.card, "", bottom=True)
        row = QHBoxLayout(head)
        row.setContentsMargins(24, 18, 24, 15)
        row.setSpacing(14)
        row.addWidget(IconTile(self.hub, "undo", head), 0, Qt.AlignmentFlag.AlignTop)
        self._words = HeadWords(self.hub, head)
        row.addWidget(self._words, 1)
        return head

    def _make_list(self) -> QWidget:
        side = Ground(self.hub, self.card, "bg.inspector", right=True)
        side.setFixedWidth(_LIST)
        layout = QVBoxLayout(side)
        layout.setContentsMargins(0, 4, 1, 4)
        self.list = OverlapList(self.hub, self.model, side)
        self.list.selected.connect(self._select)
        self.list.decided.connect(self._decide)
        layout.addWidget(self.list)
        return side

    def _make_texts(self) -> QWidget:
        right = Ground(self.hub, self.card, "bg.surface")
        layout = QHBoxLayout(right)
        layout.setContentsMargins(12, 8, 12, 12)
        layout.setSpacing(12)
        self._fields: list[QPlainTextEdit] = []
        self._labels: list[Line] = []
        for words in (tr("Now, on disk"), "", tr("After undoing")):
            column = QVBoxLayout()
            column.setSpacing(4)
            label = Line(self.hub, right, words, "small", "text.secondary")
            field = QPlainTextEdit(right)
            field.setReadOnly(True)
            field.setTabChangesFocus(True)
            field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
            field.setFont(self.hub.theme.font("code"))
            column.addWidget(label)
            column.addWidget(field, 1)
            layout.addLayout(column, 1)
            self._labels.append(label)
            self._fields.append(field)
        return right

    def _make_choice(self) -> QWidget:
        bar = Ground(self.hub, self.card, "bg.popup", top=True)
        bar.setFixedHeight(self.hub.theme.size("restore-scope-bar"))
        row = QHBoxLayout(bar)
        row.setContentsMargins(24, 1, 24, 0)
        row.setSpacing(8)
        self._here = Line(self.hub, bar, "", "body", "text.secondary")
        row.addWidget(self._here)
        self.keep = Button(self.hub, tr("Keep"), icon="keep", parent=bar)
        self.undo = Button(self.hub, tr("Undo"), icon="undo", parent=bar)
        self.keep.clicked.connect(lambda: self._decide(Decision.KEEP))
        self.undo.clicked.connect(lambda: self._decide(Decision.UNDO))
        row.addWidget(self.keep)
        row.addWidget(self.undo)
        row.addStretch(1)
        self.keep_all = Button(self.hub, tr("Keep everywhere"), kind="ghost", parent=bar)
        self.undo_all = Button(self.hub, tr("Undo everywhere"), kind="ghost", parent=bar)
        self.keep_all.clicked.connect(lambda: self._decide_all(Decision.KEEP))
        self.undo_all.clicked.connect(lambda: self._decide_all(Decision.UNDO))
        row.addWidget(self.keep_all)
        row.addWidget(self.undo_all)
        return bar

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
        """As the restore dialog where there is room, but lower: a place is seldom long."""
        theme = self.hub.theme
        return QSize(theme.size("restore-dialog-width"), theme.size("restore-dialog-height") * 3 // 4).boundedTo(room)

    # Asking.

    async def ask(self) -> InversePlan | None:
        """Open, and wait until everything is decided and confirmed, or the person cancels; the dialog is gone afterwards."""
        plan = await self.wait()
        self.close_now()
        return plan

    def may_close(self) -> bool:
        """Always: nothing is written while it is open."""
        return True

    def _confirm(self) -> None:
        if not self._planning and self.primary.isEnabled():
            self._planning = True
            self._show_state()
            self._bridge.spawn(self, self._plan_again(decisions_of(self.model.decided)), name="plan an undo again")

    async def _plan_again(self, decisions: Decisions) -> None:
        try:
            plan = await self._replan(decisions)
        except CoreError as error:
            self._planning = False
            self._said = sentence(error).title
            self._show_state()
            return
        self._planning = False
        # What was decided by number is only good for the places that were shown.
        if plan.overlaps == self._plan.overlaps and plan.plan is not None and not plan.open:
            self.answer(plan)
            return
        self._said = tr("Something changed just now. Look again.")
        self._show_plan(replace(plan, decisions=()))
        self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    # Deciding.

    def _decide(self, decision: Decision) -> None:
        row = self.list.currentIndex().row()
        self._said = ""
        self.model.decide(row, decision)
        following = self.model.next_open(row)
        if following >= 0:
            self.list.setCurrentIndex(self.model.index(following))
        else:
            self._select(row)
        self._show_state()

    def _decide_all(self, decision: Decision) -> None:
        self._said = ""
        for number in range(self.model.rowCount()):
            self.model.decide(number, decision)
        self._select(self.list.currentIndex().row())
        self._show_state()

    # Showing.

    def _show_plan(self, plan: InversePlan) -> None:
        decided = {(path, number): what for path, number, what in plan.decisions}
        self._plan = plan
        self.setAccessibleName(overlaps_title(plan))
        self._words.set_texts(overlaps_title(plan), overlaps_summary(plan))
        self.model.set_overlaps(plan.overlaps, decided)
        first = self.model.next_open(-1)
        self.list.setCurrentIndex(self.model.index(max(0, first)))
        self._show_state()

    def _show_state(self) -> None:
        left = sum(1 for row in self.model.rows if row.decision is None)
        done = self.model.rowCount() - left
        promise = tr("The present state is saved first. You can undo this undo.")
        waiting = tr("{done} of {total} decided", done=done, total=self.model.rowCount())
        self._assurance.set_text(self._said or (waiting if left else promise), warns=bool(self._said))
        words = tr("Undo {what}", what=change_name(self._plan.request))
        keeps = sum(1 for row in self.model.rows if row.decision is Decision.KEEP)
        if keeps:
            words = tr_n("{undo}, keep {n} place", "{undo}, keep {n} places", keeps, undo=words)
        self.primary.setText(words)
        self.primary.setAccessibleName(words)
        self.primary.updateGeometry()
        self.primary.setEnabled(not left and not self._planning)

    def _select(self, row: int) -> None:
        found = self.model.row_at(row)
        if found is None:
            return
        overlap = found.overlap
        name = change_name(self._plan.request)
        self._labels[1].set_text(tr("After {what}", what=name))
        whole = (tr("As it is on disk now."), tr("As {what} left it.", what=name), tr("As it was before."))
        texts = (overlap.now, overlap.after, overlap.then)
        for field, label, lines, words in zip(self._fields, self._labels, texts, whole, strict=True):
            field.setPlainText(_text_of(lines) if overlap.kind is Overlap.LINES else words)
            field.setAccessibleName(label.text)
        self._here.set_text(tr("{where}: {state}", where=found.where, state=found.state))
        where = f"{shown_path(overlap.path)}, {found.where}"
        self.keep.setAccessibleName(tr("Keep {where} as it is now", where=where))
        self.undo.setAccessibleName(tr("Undo {where}", where=where))


class OverlapDelegate(QStyledItemDelegate):
    """Paints `OverlapRow`: path, and under it where and what was decided."""

    def __init__(self, hub: ThemeHub) -> None:
        super().__init__()
        self._hub = hub
        self.ring = False

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        row = index.data(OVERLAP_ROLE)
        if not isinstance(row, OverlapRow):
            return
        theme = self._hub.theme
        state: QStyle.StateFlag = option.state
        box = QRectF(option.rect).adjusted(8, 0, -8, 0)
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            rounded(painter, box, theme.radius("control"), fill=theme.color("bg.selected"))
        elif state & QStyle.StateFlag.State_MouseOver:
            rounded(painter, box, theme.radius("control"), fill=theme.color("bg.hover"))
        zoom = theme.zoom
        first = QRectF(box.left() + 12, box.top() + 5 * zoom, box.width() - 24, 18 * zoom)
        draw_path(painter, theme, first, shown_path(row.overlap.path))
        second = QRectF(first.left(), first.bottom(), first.width(), 16 * zoom)
        token = "warning.text" if row.decision is None else "success.text"
        draw_text(painter, theme, second, row.state, style="small", token=token, right=True)
        second.adjust(0, 0, -text_width(theme, "small", row.state) - 8, 0)
        draw_text(painter, theme, second, row.where, style="small", token="text.tertiary")
        if self.ring and state & QStyle.StateFlag.State_HasFocus:
            focus_ring(painter, theme, box, theme.radius("control"))
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, round(_ROW * self._hub.theme.zoom))


class OverlapList(PaintedList):
    """``selected(row)``: on every move. ``decided(decision)``: Left keeps the current one, Right undoes it, as in the restore
    preview."""

    selected = Signal(int)
    decided = Signal(object)

    def __init__(self, hub: ThemeHub, model: OverlapsModel, parent: QWidget) -> None:
        self._delegate = OverlapDelegate(hub)
        super().__init__(hub, model, self._delegate, name=tr("Places that overlap"), parent=parent)
        self.setUniformItemSizes(True)

    # Qt's names below.

    def currentChanged(
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().currentChanged(current, previous)
        self.selected.emit(current.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.ring = True
        if event.key() == Qt.Key.Key_Left:
            self.decided.emit(Decision.KEEP)
        elif event.key() == Qt.Key.Key_Right:
            self.decided.emit(Decision.UNDO)
        else:
            super().keyPressEvent(event)


def _text_of(lines: Sequence[str]) -> str:
    """The lines as they are shown; a word where there are none."""
    if not lines:
        return tr("(no lines)")
    shown = [show(line).text for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        more = len(lines) - _MOST_LINES
        shown.append(tr_n("… and {n} more line", "… and {n} more lines", more))
    return "\n".join(shown)
