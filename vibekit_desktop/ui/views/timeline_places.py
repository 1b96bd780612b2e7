"""Where things stand in a row of the timeline: its height, its body, its buttons.

The same geometry serves painting and hit-testing, so a button is where it is seen. Reads `TimelineRow` only. UI thread.
"""

from PySide6.QtCore import QRectF

from vibekit_desktop.core.types.checkpoints import Coverage
from vibekit_desktop.ui.models.timeline_phrases import coverage_text
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind, TimelineRow
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.row_paint import text_button_width, text_width

LEFT = 48
RIGHT = 8
TOP = 8
PROMPT = 19
_HEAD = 28
_BOX_END = 12
_BLOCK_END = 10


def link_words() -> dict[Button, str]:
    """What stands on the buttons that are words beside a title, in their order."""
    return {
        Button.TAKE_BACK: tr("Undo"),
        Button.REDO: tr("Redo"),
        Button.OPEN_CHAT: tr("Branch"),
        Button.RESTORE: tr("Restore…"),
    }


class TimelinePlaces:
    """The places in the rows of one view. Invariant: they follow from the row and the theme alone."""

    def __init__(self, hub: ThemeHub) -> None:
        self._hub = hub

    def height(self, row: TimelineRow) -> int:
        """How high a row is, with the gap under a block."""
        theme = self._hub.theme
        line = theme.size("row-file")
        match row.kind:
            case RowKind.NOW:
                value = TOP + _HEAD + PROMPT + (_BOX_END if row.last_in_block else 0)
            case RowKind.TURN:
                value = _HEAD + (PROMPT if row.prompt else 0)
            case RowKind.QUIET:
                value = 20 + ((_BOX_END if row.in_now else _BLOCK_END) if row.last_in_block else 0)
            case RowKind.RESTORE:
                value = 40
            case RowKind.FILE:
                return line + ((_BOX_END if row.in_now else _BLOCK_END) if row.last_in_block else 0)
            case RowKind.GROUP:
                return line
            case _:
                value = _HEAD + (_BLOCK_END if row.last_in_block else 0)
        return round(value * theme.zoom)

    def body(self, row: TimelineRow, box: QRectF) -> QRectF:
        """The part of a row that is painted as one line and takes clicks."""
        zoom = self._hub.theme.zoom
        top = box.top() + (TOP * zoom if row.kind is RowKind.NOW else 0)
        height = (30 if row.kind is RowKind.RESTORE else 20 if row.kind is RowKind.QUIET else _HEAD) * zoom
        return QRectF(LEFT, top, box.width() - LEFT - RIGHT, height)

    def buttons(self, row: TimelineRow, box: QRectF) -> list[tuple[Button, QRectF]]:
        """Where the row's buttons are inside ``box``, in the order of Left and Right."""
        theme = self._hub.theme
        body = self.body(row, box)
        side = theme.size("icon-button")
        y = body.top() + (body.height() - side) / 2
        tall = min(side * max(1.0, theme.zoom), body.height())
        top = body.top() + (body.height() - tall) / 2
        match row.kind:
            case RowKind.FILE:
                return self._file_buttons(row, body, side, y)
            case RowKind.GROUP | RowKind.BETWEEN:
                return [(Button.TOGGLE, QRectF(LEFT - 4, y, box.width() - LEFT - RIGHT, side))]
            case RowKind.RESTORE:
                width = min(text_button_width(theme, row.title), body.right() - LEFT + 6)
                return [(Button.RESTORE, QRectF(LEFT - 6, top, width, tall))]
            case RowKind.TURN:
                if Button.COVERAGE not in row.buttons or row.coverage is None:
                    return []
                width = text_width(theme, "small", self.chip_text(row, row.coverage, body)) + 12 + 18
                return [(Button.COVERAGE, QRectF(body.right() - 4 - width, body.top(), width, body.height()))]
            case RowKind.ENTRY | RowKind.PIN:
                return self._entry_buttons(row, body, tall, top)
            case _:
                return []

    def chip_text(self, row: TimelineRow, coverage: Coverage, body: QRectF) -> str:
        """What stands on a coverage chip: without the size where the turn's own name would have to go for it."""
        theme = self._hub.theme
        room = body.width() - 4 - 12 - 18 - text_width(theme, "body", row.title, weight=600) - 8
        text = coverage_text(coverage)
        return text if text_width(theme, "small", text) <= room else coverage_text(coverage, with_size=False)

    def chip(self, place: QRectF) -> QRectF:
        """What is tinted of the place of a coverage chip: a line of text with a little room, where the place is a whole row."""
        inset = (place.height() - self._hub.theme.line_height("small") - 4) / 2
        return place.adjusted(0, inset, 0, -inset)

    def _file_buttons(self, row: TimelineRow, body: QRectF, side: int, y: float) -> list[tuple[Button, QRectF]]:
        found: list[tuple[Button, QRectF]] = []
        right = body.right()
        for button in reversed(row.buttons):
            width = text_button_width(self._hub.theme, tr("Redo")) if button is Button.REDO else side
            found.insert(0, (button, QRectF(right - width, y, width, side)))
            right -= width
        return found

    def _entry_buttons(self, row: TimelineRow, body: QRectF, side: float, y: float) -> list[tuple[Button, QRectF]]:
        theme = self._hub.theme
        found: list[tuple[Button, QRectF]] = []
        x = body.left() + self.entry_room(row, body)[0]
        if Button.TOGGLE in row.buttons:
            found.append((Button.TOGGLE, QRectF(body.left() - 4, y, x - body.left() + 8, side)))
        if row.undone:
            x += self.dot() + theme.metrics("body").horizontalAdvance(tr("Undone"))
        for button, text in self.entry_links(row):
            width = text_button_width(theme, text, "body")
            found.append((button, QRectF(x + self.dot() - 7, y, width, side)))
            x += self.dot() + width - 15
        return found

    def entry_links(self, row: TimelineRow) -> list[tuple[Button, str]]:
        """The buttons of a restore or a pinned point that are words."""
        return [(button, words) for button, words in link_words().items() if button in row.buttons]

    def dot(self) -> float:
        """How wide the dot between two facts is, with the blanks around it."""
        return 12 + self._hub.theme.metrics("body").horizontalAdvance("·")

    def entry_room(self, row: TimelineRow, body: QRectF) -> tuple[float, bool]:
        """How wide the title is, and whether the time fits beside it: what happened is more than when."""
        theme = self._hub.theme
        tail = sum(self.dot() + text_button_width(theme, text, "body") - 14 for _, text in self.entry_links(row))
        if row.undone:
            tail += self.dot() + theme.metrics("body").horizontalAdvance(tr("Undone"))
        time = theme.metrics("small").horizontalAdvance(row.detail) + 16 if row.detail else 0
        title = theme.metrics("body").horizontalAdvance(row.title)
        room = max(40.0, body.width() - tail - 8)
        return min(title, room), bool(row.detail) and title + time <= room
