"""Paint one row of the chat list: group header or chat. Paints what the model says; computes nothing. UI thread only."""

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from vibekit_desktop.core.types.chats import ChatStatus
from vibekit_desktop.ui.models.chat_list import ChatRow, GroupRow, Mark, Role, title_of
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.views.row_paint import counts_width, draw_counts, draw_text, text_width
from vibekit_desktop.ui.wording import workspace_name

Index = QModelIndex | QPersistentModelIndex

_ELIDE = Qt.TextElideMode.ElideRight
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

_BETWEEN = " · "

SIDE = 8
"""The list's own inset: rows stand this far from the edges of the pane."""


class ChatRowDelegate(QStyledItemDelegate):
    """Rows of 52 px for chats, 28 for group headers. Invariant: everything painted comes from the row's value."""

    def __init__(self, hub: ThemeHub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.ring = False
        """Whether the focused row gets a ring: only after the keyboard was used."""
        self.pulse: Pulse | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(Role.KIND)
        return QSize(0, self._hub.theme.size("row-group" if isinstance(row, GroupRow) else "row-chat"))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(Role.KIND)
        box = QRectF(option.rect).adjusted(SIDE, 0, -SIDE, 0)
        painter.save()
        if isinstance(row, GroupRow):
            self._group(painter, row, box)
        elif isinstance(row, ChatRow):
            self._chat(painter, row, str(index.data(Role.TIME)), box, option)
        painter.restore()

    def _group(self, painter: QPainter, row: GroupRow, box: QRectF) -> None:
        theme = self._hub.theme
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(box.adjusted(SIDE, 4, 0, 0), int(_LEFT), row.text)

    def _ground(self, painter: QPainter, box: QRectF, option: QStyleOptionViewItem) -> bool:
        theme = self._hub.theme
        view = option.widget
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected:
            # Qt clears State_Active for every item view without the focus; the window is what counts here.
            active = view.isActiveWindow()
            token = "bg.selected" if active else "bg.selected-inactive"
        elif option.state & QStyle.StateFlag.State_MouseOver:
            token = "bg.hover-sidebar"
        else:
            token = ""
        if token:
            rounded(painter, box, theme.radius("control"), fill=theme.color(token))
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused and self.ring and isinstance(view, QAbstractItemView) and view.hasFocus():
            focus_ring(painter, theme, box, theme.radius("control"))
        return selected

    def _chat(self, painter: QPainter, row: ChatRow, time: str, box: QRectF, option: QStyleOptionViewItem) -> None:
        theme = self._hub.theme
        header = row.header
        selected = self._ground(painter, box, option)
        indent = 18 if row.depth else 0
        if row.depth:
            self._elbow(painter, box)
        slot = box.x() + 4 + indent
        glyph = self._glyph(row)
        if glyph and glyph[0] == "spinner" and self.pulse is not None:
            self.pulse.draw_arc(painter, QRectF(slot + 3, box.y() + 10, 14, 14))
        elif glyph:
            draw_icon(painter, theme, glyph[0], glyph[1], slot + 3, box.y() + 10, 14)
        left, right = slot + 20, box.right() - 10
        title_height, small_height = theme.line_height("body"), theme.line_height("small") + 1
        top = box.y() + (box.height() - title_height - small_height) / 2 - 0.5
        first = QRectF(left, round(top), right - left, title_height)
        second = QRectF(left, first.bottom(), right - left, small_height)
        metrics = theme.metrics("small")
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(first, int(_RIGHT), time)
        room = first.width() - metrics.horizontalAdvance(time) - 8
        style = "body-strong" if selected else "body"
        painter.setFont(theme.font(style))
        painter.setPen(theme.color("text.primary"))
        painter.drawText(first, int(_LEFT), theme.metrics(style).elidedText(title_of(header), _ELIDE, room))
        counts = (header.lines_added, header.lines_removed)
        used = counts_width(theme, counts)
        draw_counts(painter, theme, counts, QRectF(right - used, second.top(), used, second.height()))
        self._second_line(painter, row, second.adjusted(0, 0, -(used + 8) if used else 0, 0))

    def _second_line(self, painter: QPainter, row: ChatRow, box: QRectF) -> None:
        theme, header = self._hub.theme, row.header
        metrics = theme.metrics("small")
        color: QColor = theme.color("text.tertiary")
        if header.status is ChatStatus.DAMAGED:
            color = theme.color("danger.text")
            text = metrics.elidedText(
                tr("Damaged · {problem}", problem=header.problem or tr("unreadable")), _ELIDE, box.width()
            )
        else:
            if row.mark is Mark.NEEDS_YOU:
                box = self._needs_you(painter, box)
            first = tr("From turn {turn}", turn=header.rewind_from_turn) if header.parent_chat_id else header.agent
            text = self._fitting([first, workspace_name(header.workspace)], box.width())
        painter.setFont(theme.font("small"))
        painter.setPen(color)
        painter.drawText(box, int(_LEFT), text)

    def _needs_you(self, painter: QPainter, box: QRectF) -> QRectF:
        """The words that are never cut; returns the room that is left."""
        theme = self._hub.theme
        x = draw_text(painter, theme, box, tr("Needs you"), style="small", weight=500, token="warning.text", elide=None)
        dot = box.adjusted(x, 0, 0, 0)
        draw_text(painter, theme, dot, _BETWEEN, style="small", token="text.tertiary", elide=None)
        return box.adjusted(min(box.width(), x + text_width(theme, "small", _BETWEEN)), 0, 0, 0)

    def _fitting(self, parts: list[str], width: float) -> str:
        """The workspace goes first when it is tight, then the agent."""
        metrics = self._hub.theme.metrics("small")
        first, rest = parts[0], parts[1]
        whole = " · ".join(part for part in (first, rest) if part)
        if metrics.horizontalAdvance(whole) <= width or not first:
            return metrics.elidedText(whole, _ELIDE, width)
        left_over = width - metrics.horizontalAdvance(f"{first} · ")
        if left_over > 4 * metrics.averageCharWidth():
            return f"{first} · {metrics.elidedText(rest, _ELIDE, left_over)}"
        return metrics.elidedText(first, _ELIDE, width)

    @staticmethod
    def _glyph(row: ChatRow) -> tuple[str, str] | None:
        if row.header.status is ChatStatus.DAMAGED:
            return "damaged", "danger.text"
        if row.mark is Mark.NEEDS_YOU:
            return "status-needs-you", "warning.fill"
        if row.mark is Mark.RUNNING:
            return "spinner", "accent.text"
        if row.header.parent_chat_id:
            return "branch", "text.secondary"
        return None

    def _elbow(self, painter: QPainter, box: QRectF) -> None:
        """The line from the parent's row down to the branch."""
        x, y = box.x() + 13.5, box.y() - 1
        path = QPainterPath()
        path.moveTo(x, y)
        path.lineTo(x, y + 12.5)
        path.quadTo(x, y + 18.5, x + 6, y + 18.5)
        path.lineTo(x + 9.5, y + 18.5)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._hub.theme.color("line.control"), 1))
        painter.drawPath(path)
        painter.restore()
