"""Paint one row of the chat list: group header or chat; and edit its title in place. Computes nothing. UI thread only."""

from typing import NamedTuple

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from vibekit_desktop.core.types.chats import ChatStatus
from vibekit_desktop.ui.models.chat_list import Role
from vibekit_desktop.ui.models.chat_rows import ChatRow, GroupRow, Mark, from_turn, title_of
from vibekit_desktop.ui.models.damage_words import damage_in_row
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.views.row_paint import counts_width, draw_counts, draw_text, text_width
from vibekit_desktop.ui.views.row_pictures import RowPictures
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import workspace_name

Index = QModelIndex | QPersistentModelIndex

_ELIDE = Qt.TextElideMode.ElideRight
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

_BETWEEN = " · "

SIDE = 8
"""The list's own inset: rows stand this far from the edges of the pane."""


_GLYPH, _INDENT = 20, 18
_NAME_CHARS = 200


class _Lines(NamedTuple):
    """Where the two lines of a row stand, and where its glyph begins."""

    slot: float
    first: QRectF
    second: QRectF


class ChatRowDelegate(QStyledItemDelegate):
    """Rows of 52 px for chats, 28 for group headers. Invariant: everything painted comes from the row's value."""

    def __init__(self, hub: ThemeHub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.ring = False
        """Whether the focused row gets a ring: only after the keyboard was used."""
        self.pulse: Pulse | None = None
        self.target: QPersistentModelIndex | None = None
        """The row whose menu is open."""
        self._pictures = RowPictures("bg.sidebar")

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(Role.KIND)
        return QSize(0, self._hub.theme.size("row-group" if isinstance(row, GroupRow) else "row-chat"))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(Role.KIND)
        time = str(index.data(Role.TIME)) if isinstance(row, ChatRow) else ""
        if not isinstance(row, GroupRow | ChatRow):
            return

        def draw(inside: QPainter, place: QRectF) -> None:
            box = place.adjusted(SIDE, 0, -SIDE, 0)
            inside.save()
            if isinstance(row, GroupRow):
                self._group(inside, row, box)
            else:
                self._chat(inside, row, time, box, option, index)
            inside.restore()

        state = QStyle.StateFlag
        special = bool(option.state & (state.State_Selected | state.State_MouseOver | state.State_HasFocus))
        if isinstance(row, ChatRow):
            # A branch's line comes out of the row above; a spinner turns.
            special = special or bool(row.depth) or row.mark is Mark.RUNNING or self.target == index
        if special:
            draw(painter, QRectF(option.rect))
        else:
            self._pictures.paint(painter, self._hub.theme, option.rect, (row, time), draw)

    def _group(self, painter: QPainter, row: GroupRow, box: QRectF) -> None:
        theme = self._hub.theme
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(box.adjusted(SIDE, 4, 0, 0), int(_LEFT), row.text)

    def _ground(self, painter: QPainter, box: QRectF, option: QStyleOptionViewItem, index: Index) -> bool:
        theme = self._hub.theme
        view = option.widget
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected:
            # Qt clears State_Active for every item view without the focus; the window is what counts here.
            active = view.isActiveWindow()
            token = "bg.selected" if active else "bg.selected-inactive"
        elif option.state & QStyle.StateFlag.State_MouseOver or self.target == index:
            token = "bg.hover-sidebar"
        else:
            token = ""
        if token:
            rounded(painter, box, theme.radius("control"), fill=theme.color(token))
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused and self.ring and isinstance(view, QAbstractItemView) and view.hasFocus():
            focus_ring(painter, theme, box, theme.radius("control"))
        return selected

    def _lines(self, box: QRectF, depth: int) -> _Lines:
        theme = self._hub.theme
        slot = box.x() + 4 + (_INDENT if depth else 0)
        left, right = slot + theme.icon(_GLYPH), box.right() - 10
        title_height, small_height = theme.line_height("body"), theme.line_height("small") + 1
        top = box.y() + (box.height() - title_height - small_height) / 2 - 0.5
        first = QRectF(left, round(top), right - left, title_height)
        return _Lines(slot, first, QRectF(left, first.bottom(), right - left, small_height))

    def _chat(
        self, painter: QPainter, row: ChatRow, time: str, box: QRectF, option: QStyleOptionViewItem, index: Index
    ) -> None:
        theme = self._hub.theme
        header = row.header
        selected = self._ground(painter, box, option, index)
        slot, first, second = self._lines(box, row.depth)
        if row.depth:
            below = index.sibling(index.row() + 1, 0)
            self._elbow(painter, box, goes_on=below.isValid() and bool(below.data(Role.DEPTH)))
        self._glyph(painter, row, slot, first)
        metrics = theme.metrics("small")
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(first, int(_RIGHT), time)
        room = first.width() - metrics.horizontalAdvance(time) - 8
        draw_text(
            painter,
            theme,
            QRectF(first.x(), first.y(), room, first.height()),
            title_of(header),
            weight=title_weight(row, selected),
        )
        counts = (header.lines_added, header.lines_removed)
        used = counts_width(theme, counts)
        if used and second.width() - used - 8 < self._least(row):
            counts, used = (0, 0), 0.0  # what the chat is comes before how much it did
        draw_counts(painter, theme, counts, QRectF(second.right() - used, second.top(), used, second.height()))
        self._second_line(painter, row, second.adjusted(0, 0, -(used + 8) if used else 0, 0))

    def _least(self, row: ChatRow) -> float:
        """How much room the words of the second line need that are never cut."""
        if row.header.status is ChatStatus.DAMAGED:
            return 0.0
        if row.mark is Mark.NEEDS_YOU:
            return text_width(self._hub.theme, "small", tr("Needs you"), weight=500)
        return text_width(self._hub.theme, "small", from_turn(row.header)) if row.header.parent_chat_id else 0.0

    def _second_line(self, painter: QPainter, row: ChatRow, box: QRectF) -> None:
        theme, header = self._hub.theme, row.header
        if header.status is ChatStatus.DAMAGED:
            said = tr("Damaged · {problem}", problem=damage_in_row(header))
            draw_text(painter, theme, box, said, style="small", token="danger.text")
            return
        if row.mark is Mark.NEEDS_YOU:
            box = self._needs_you(painter, box)
        first = from_turn(header) if header.parent_chat_id else one_line(header.agent)
        text = self._fitting(first, workspace_name(header.workspace), box.width(), cut=not header.parent_chat_id)
        draw_text(painter, theme, box, text, style="small", token="text.tertiary", elide=None)

    def _needs_you(self, painter: QPainter, box: QRectF) -> QRectF:
        """The words that are never cut; returns the room that is left."""
        theme = self._hub.theme
        x = draw_text(painter, theme, box, tr("Needs you"), style="small", weight=500, token="warning.text", elide=None)
        wide = text_width(theme, "small", _BETWEEN)
        left_over = box.width() - x - wide
        if left_over < 3 * theme.metrics("small").averageCharWidth():
            return QRectF(box.right(), box.y(), 0, box.height())
        draw_text(painter, theme, box.adjusted(x, 0, 0, 0), _BETWEEN, style="small", token="text.tertiary", elide=None)
        return box.adjusted(x + wide, 0, 0, 0)

    def _fitting(self, first: str, workspace: str, width: float, *, cut: bool) -> str:
        """The workspace goes first when it is tight, then the agent; without ``cut`` the first part is a status and stays."""
        metrics = self._hub.theme.metrics("small")
        whole = _BETWEEN.join(part for part in (first, workspace) if part)
        if metrics.horizontalAdvance(whole) <= width or not first:
            return metrics.elidedText(whole, _ELIDE, width)
        left_over = width - metrics.horizontalAdvance(f"{first}{_BETWEEN}")
        if left_over > 4 * metrics.averageCharWidth():
            return f"{first}{_BETWEEN}{metrics.elidedText(workspace, _ELIDE, left_over)}"
        return metrics.elidedText(first, _ELIDE, width) if cut else first

    def _glyph(self, painter: QPainter, row: ChatRow, slot: float, line: QRectF) -> None:
        """One glyph, the first of these that is true of the chat."""
        glyph = glyph_of(row)
        if glyph is None:
            return
        name, token = glyph
        top, left = round(line.center().y() - 8), slot + (self._hub.theme.icon(_GLYPH) - 14) / 2
        if name == "spinner" and self.pulse is not None:
            self.pulse.draw_arc(painter, QRectF(left, top, 14, 14))
        else:
            draw_icon(painter, self._hub.theme, name, token, left, top, 14)

    def _elbow(self, painter: QPainter, box: QRectF, *, goes_on: bool) -> None:
        """The line from the parent's row down to the branch; ``goes_on``: to the next branch as well."""
        x, y = box.x() + 13.5, box.y() - 1
        path = QPainterPath()
        path.moveTo(x, y)
        path.lineTo(x, y + 12.5)
        path.quadTo(x, y + 18.5, x + 6, y + 18.5)
        path.lineTo(x + 9.5, y + 18.5)
        if goes_on:
            path.moveTo(x, y + 12.5)
            path.lineTo(x, box.bottom())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._hub.theme.color("line.control"), 1))
        painter.drawPath(path)
        painter.restore()

    # Another name, typed into the row. Qt's names from here on.

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        field = QLineEdit(parent)
        field.setMaxLength(_NAME_CHARS)
        field.setAccessibleName(tr("Name of the chat"))
        field.setObjectName("rename")
        return field

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        header = index.data(Role.HEADER)
        if isinstance(editor, QLineEdit) and not editor.isModified():
            editor.setText(one_line(header.name, _NAME_CHARS))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            model.setData(index, editor.text(), Qt.ItemDataRole.EditRole)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(Role.KIND)
        box = QRectF(option.rect).adjusted(SIDE, 0, -SIDE, 0)
        first = self._lines(box, row.depth if isinstance(row, ChatRow) else 0).first
        height = self._hub.theme.size("control")
        editor.setGeometry(QRectF(first.x() - 6, first.center().y() - height / 2, first.width() + 12, height).toRect())


def title_weight(row: ChatRow, selected: bool) -> int:
    """How heavy a title is: 600 what is unread, 500 what is chosen."""
    return 600 if row.unread else 500 if selected else 400


def glyph_of(row: ChatRow) -> tuple[str, str] | None:
    """The one glyph of a row with its colour: the first of damaged, needs you, running, unread, branch, pinned that it is."""
    header = row.header
    if header.status is ChatStatus.DAMAGED:
        return "damaged", "danger.text"
    if row.mark is Mark.NEEDS_YOU:
        return "status-needs-you", "warning.fill"
    if row.mark is Mark.RUNNING:
        return "spinner", "accent.text"
    if row.unread:
        return "status-unread", "accent.text"
    if header.parent_chat_id:
        return "branch", "text.secondary"
    if header.pinned_at and not header.archived:
        return "pin", "text.secondary"
    return None
