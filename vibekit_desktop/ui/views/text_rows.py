"""Paint the blocks of the transcript that are plain text: a message by the person, thinking, a note. UI thread only."""

from collections.abc import Set

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from vibekit_desktop.ui.long_text import MAX_LINE, cut_lines
from vibekit_desktop.ui.models.block_words import thought_words
from vibekit_desktop.ui.models.blocks import EventBlock, ThinkingBlock, UserBlock
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.block_view import LEFT, RIGHT, Hit, PaintState, tall
from vibekit_desktop.ui.views.chips import Chips
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import text_width
from vibekit_desktop.ui.views.text_block import TextLayout
from vibekit_desktop.ui.views.text_stack import MoreButton, TextStack, step_key, steps_of
from vibekit_desktop.ui.visible import visible

_LAST_PART = 4_000


class UserView:
    """A message by the person on raised ground, the time at its right, what went with it as chips under it. Of a very long one
    more is shown at each press; ``earlier``: the same row as it was before."""

    def __init__(
        self,
        theme: Theme,
        block: UserBlock,
        width: int,
        key: str = "",
        opened: Set[str] = frozenset(),
        earlier: "UserView | None" = None,
    ) -> None:
        self._theme = theme
        self._width = width
        self._time = block.time
        self._time_width = text_width(theme, "small", block.time)
        self.copy_text = block.text
        text = block.text.strip("\n")
        room = width - 32 - (round(self._time_width) + 16 if block.time else 0)
        steps = steps_of(key, opened)
        former = earlier._layout if earlier is not None else None
        self._layout: TextStack = TextStack(theme, text, room, steps=steps, earlier=former)
        self._more = MoreButton(theme, self._layout, step_key(key, steps), 9, 11 + self._layout.height)
        below = self._layout.height + self._more.height
        self._chips = Chips(theme, block.attachments, width - 32)
        self._chips_top = 11 + below + 8
        if not text.strip() and block.attachments:
            self._chips_top = 11
        self.height = below + 22
        if self._chips.height:
            self.height = self._chips_top + self._chips.height + 11
        self.hits: tuple[Hit, ...] = (self._more.hit,) if self._more.hit is not None else ()

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        box = QRectF(0, 0, self._width, self.height)
        rounded(painter, box, theme.radius("card"), fill=theme.color("bg.raised"))
        clip = state.clip.translated(-16, -11) if state.clip is not None else None
        self._layout.paint(painter, QPointF(16, 11), clip, state.grounds)
        self._more.paint(painter, state, 0)
        self._chips.paint(painter, QPointF(16, self._chips_top))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        line = QRectF(self._width - 16 - self._time_width - 1, 11, self._time_width + 1, theme.line_height("reading"))
        painter.drawText(line, RIGHT, self._time)

    @property
    def text(self) -> str:
        """The words of the message as they are shown."""
        return self._layout.text

    def index_at(self, place: QPointF) -> int:
        """The border between two characters that is nearest to a place."""
        return self._layout.index_at(place - QPointF(16, 11))

    def box_of(self, index: int) -> QRectF:
        """Where the character of an index begins."""
        return self._layout.box_of(index).translated(16, 11)

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""
        return self._layout.word_at(index)


class FoldedView:
    """One line with a chevron that opens to text: thinking, or a note with more to say. Of a very long one more is shown at
    each press; ``opened``: the keys of what is open, ``earlier``: the same row as it was before."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        title: str,
        text: str,
        width: int,
        key: str,
        *,
        opened: Set[str],
        running: bool = False,
        earlier: "FoldedView | None" = None,
    ) -> None:
        self._theme = theme
        self._icon = icon
        self._running = running
        self._title = title
        self._opened = key in opened and bool(text.strip())
        self._folds = bool(text.strip())
        self._head = tall(theme, 24)
        self.copy_text = text
        self._layout: TextLayout | TextStack | None = None
        self._more: MoreButton | None = None
        self.height = self._head
        if self._opened and (running or len(text) <= MAX_LINE):
            shown = visible(cut_lines(_last_part(text) if running else text.strip()))
            self._layout = TextLayout(theme, shown, width - 34, style="body", token="text.secondary")
            self.height += 4 + self._layout.height + 8
        elif self._opened:
            steps, former = steps_of(key, opened), earlier._layout if earlier is not None else None
            stack = self._layout = TextStack(
                theme,
                text.strip(),
                width - 34,
                steps=steps,
                style="body",
                token="text.secondary",
                earlier=former if isinstance(former, TextStack) else None,
            )
            self._more = MoreButton(theme, stack, step_key(key, steps), 13, self._head + 4 + stack.height)
            self.height += 4 + stack.height + self._more.height + 8
        box = QRectF(-6, 0, 6 + self._title_left() + text_width(theme, "small", title) + 8, self._head)
        self.hits: tuple[Hit, ...] = (Hit(box, "fold", title, key),) if self._folds else ()
        if self._more is not None and self._more.hit is not None:
            self.hits += (self._more.hit,)

    def _title_left(self) -> float:
        return 40.0 if self._folds else 20.0

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        if self._folds and (state.hover == 0 or state.pressed == 0):
            token = "bg.pressed" if state.pressed == 0 else "bg.hover"
            rounded(painter, self.hits[0].box, theme.radius("small"), fill=theme.color(token))
        if self._folds and state.focus == 0:
            focus_ring(painter, theme, self.hits[0].box, theme.radius("small"))
        x, y = 0, round(self._head / 2 - 7)
        if self._folds:
            draw_icon(painter, theme, "chevron-down" if self._opened else "chevron-right", "text.tertiary", x, y, 14)
            x = 20
        if self._running and state.pulse is not None:
            state.pulse.draw_arc(painter, QRectF(x, y, 14, 14))
        else:
            draw_icon(painter, theme, self._icon, "text.tertiary", x, y, 14)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(QRectF(x + 20, 0, 4000, self._head), LEFT, self._title)
        if self._layout is not None:
            bar = QRectF(6, self._head + 4, 2, self._layout.height)
            painter.fillRect(bar, theme.color("line.hair"))
            clip = state.clip.translated(-20, -self._head - 4) if state.clip is not None else None
            self._layout.paint(painter, QPointF(20, self._head + 4), clip, state.grounds)
        if self._more is not None:
            self._more.paint(painter, state, 1)

    @property
    def text(self) -> str:
        """What is open, as it is shown; nothing while it is folded."""
        return self._layout.text if self._layout is not None else ""

    def index_at(self, place: QPointF) -> int:
        """The border between two characters that is nearest to a place."""
        return self._layout.index_at(place - QPointF(20, self._head + 4)) if self._layout is not None else 0

    def box_of(self, index: int) -> QRectF:
        """Where the character of an index begins."""
        if self._layout is None:
            return QRectF(20, 0, 0, self._head)
        return self._layout.box_of(index).translated(20, self._head + 4)

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""
        return self._layout.word_at(index) if self._layout is not None else (0, 0)


def thinking_view(
    theme: Theme, block: ThinkingBlock, width: int, key: str, *, opened: Set[str], earlier: FoldedView | None = None
) -> FoldedView:
    """A piece of thinking."""
    title, text = thought_words(block), block.text
    return FoldedView(theme, "thinking", title, text, width, key, opened=opened, running=block.running, earlier=earlier)


def _last_part(text: str) -> str:
    """The end of a text that is still coming, so that it does not cost more the longer it gets."""
    if len(text) <= _LAST_PART:
        return text.strip()
    tail = text[-_LAST_PART:]
    return "\u2026\n\n" + (tail.partition("\n")[2] or tail).strip()


def event_view(
    theme: Theme, block: EventBlock, width: int, key: str, *, opened: Set[str], earlier: FoldedView | None = None
) -> FoldedView:
    """A note of the program."""
    return FoldedView(theme, block.icon, visible(block.text), block.detail, width, key, opened=opened, earlier=earlier)
