"""Paint the small blocks of the transcript: checkpoint line, message, thinking, turn footer, notes. UI thread only."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from vibekit_desktop.ui import when
from vibekit_desktop.ui.long_text import MAX_RICH, cut_lines
from vibekit_desktop.ui.models.block_words import thought_words
from vibekit_desktop.ui.models.blocks import (
    BranchBlock,
    CheckpointBlock,
    EarlierBlock,
    EventBlock,
    FooterBlock,
    ThinkingBlock,
    UserBlock,
)
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.block_view import LEFT, RIGHT, Hit, PaintState, TextButton, icon_button, off_hit
from vibekit_desktop.ui.views.chips import Chips
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import counts_width, draw_counts, text_width
from vibekit_desktop.ui.views.text_block import TextLayout
from vibekit_desktop.ui.visible import visible

_LAST_PART = 4_000


class CheckpointView:
    """The diamond, what it marks, a hairline, Restore."""

    def __init__(self, theme: Theme, block: CheckpointBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self._block = block
        self.height = round(28 * max(1.0, theme.zoom))
        self.copy_text = ""
        self._restore = TextButton(
            theme, tr("Restore\u2026"), width, self.height / 2, icon="restore", enabled=block.can_restore and not block.held
        )
        name = tr("Restore to before turn {turn}", turn=block.turn)
        hit = (
            off_hit(self._restore.box, block.held) if block.held else Hit(self._restore.box, "restore", name, number=block.turn)
        )
        self.hits: tuple[Hit, ...] = (hit,) if block.can_restore else ()

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        draw_icon(painter, theme, "checkpoint", "accent.text", 0, round(self.height / 2 - 8))
        if self._block.changed is False:
            strong, rest = tr("Before this turn"), tr(" \u00b7 no files changed")
        else:
            strong, rest = tr("Checkpoint {n}", n=self._block.turn), tr(" \u00b7 before this turn")
        x = 23.0
        line = QRectF(x, 0, self._width, self.height)
        painter.setFont(theme.font("small", weight=500))
        painter.setPen(theme.color("text.secondary"))
        painter.drawText(line, LEFT, strong)
        x += text_width(theme, "small", strong, weight=500)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(line.adjusted(x - 23, 0, 0, 0), LEFT, rest)
        x += text_width(theme, "small", rest) + 10
        end = self._restore.box.x() - 10
        painter.fillRect(QRectF(round(x), self.height // 2, end - x, 1), theme.color("line.hair"))
        self._restore.paint(painter, state, 0)


class UserView:
    """A message by the person on raised ground, the time at its right, what went with it as chips under it."""

    def __init__(self, theme: Theme, block: UserBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self._time = block.time
        self._time_width = text_width(theme, "small", block.time)
        self.copy_text = block.text
        text = block.text.strip("\n")
        if len(text) > MAX_RICH:
            text = f"{text[:MAX_RICH]}\n\u2026 {tr('{n} more characters', n=f'{len(text) - MAX_RICH:,}')}"
        room = width - 32 - (round(self._time_width) + 16 if block.time else 0)
        self._layout = TextLayout(theme, visible(cut_lines(text)) or " ", room, plain=True)
        self._chips = Chips(theme, block.attachments, width - 32)
        self._chips_top = 11 + self._layout.height + 8
        if not text.strip() and block.attachments:
            self._chips_top = 11
        self.height = self._layout.height + 22
        if self._chips.height:
            self.height = self._chips_top + self._chips.height + 11
        self.hits: tuple[Hit, ...] = ()

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        box = QRectF(0, 0, self._width, self.height)
        rounded(painter, box, theme.radius("card"), fill=theme.color("bg.raised"))
        clip = state.clip.translated(-16, -11) if state.clip is not None else None
        self._layout.paint(painter, QPointF(16, 11), clip)
        self._chips.paint(painter, QPointF(16, self._chips_top))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        line = QRectF(self._width - 16 - self._time_width - 1, 11, self._time_width + 1, theme.line_height("reading"))
        painter.drawText(line, RIGHT, self._time)


class FoldedView:
    """One line with a chevron that opens to text: thinking, or a note with more to say."""

    def __init__(
        self, theme: Theme, icon: str, title: str, text: str, width: int, key: str, *, opened: bool, running: bool = False
    ) -> None:
        self._theme = theme
        self._icon = icon
        self._running = running
        self._title = title
        self._opened = opened and bool(text.strip())
        self._folds = bool(text.strip())
        self._head = 24
        self.copy_text = text
        self._layout: TextLayout | None = None
        self.height = self._head
        if self._opened:
            shown = visible(cut_lines(_last_part(text) if running else text[:MAX_RICH].strip()))
            self._layout = TextLayout(theme, shown, width - 34, style="body", token="text.secondary")
            self.height += 4 + self._layout.height + 8
        box = QRectF(-6, 0, 6 + self._title_left() + text_width(theme, "small", title) + 8, self._head)
        self.hits: tuple[Hit, ...] = (Hit(box, "fold", title, key),) if self._folds else ()

    def _title_left(self) -> float:
        return 40.0 if self._folds else 20.0

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        if self._folds and (state.hover == 0 or state.pressed == 0):
            token = "bg.pressed" if state.pressed == 0 else "bg.hover"
            rounded(painter, self.hits[0].box, theme.radius("small"), fill=theme.color(token))
        if self._folds and state.focus == 0:
            focus_ring(painter, theme, self.hits[0].box, theme.radius("small"))
        x = 0
        if self._folds:
            draw_icon(painter, theme, "chevron-down" if self._opened else "chevron-right", "text.tertiary", x, 5, 14)
            x = 20
        if self._running and state.pulse is not None:
            state.pulse.draw_arc(painter, QRectF(x, 5, 14, 14))
        else:
            draw_icon(painter, theme, self._icon, "text.tertiary", x, 5, 14)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(QRectF(x + 20, 0, 4000, self._head), LEFT, self._title)
        if self._layout is not None:
            bar = QRectF(6, self._head + 4, 2, self._layout.height)
            painter.fillRect(bar, theme.color("line.hair"))
            clip = state.clip.translated(-20, -self._head - 4) if state.clip is not None else None
            self._layout.paint(painter, QPointF(20, self._head + 4), clip)


def thinking_view(theme: Theme, block: ThinkingBlock, width: int, key: str, *, opened: bool) -> FoldedView:
    """A piece of thinking."""
    title = thought_words(block)
    return FoldedView(theme, "thinking", title, block.text, width, key, opened=opened, running=block.running)


def _last_part(text: str) -> str:
    """The end of a text that is still coming, so that it does not cost more the longer it gets."""
    if len(text) <= _LAST_PART:
        return text.strip()
    tail = text[-_LAST_PART:]
    return "\u2026\n\n" + (tail.partition("\n")[2] or tail).strip()


def event_view(theme: Theme, block: EventBlock, width: int, key: str, *, opened: bool) -> FoldedView:
    """A note of the program."""
    return FoldedView(theme, block.icon, visible(block.text), block.detail, width, key, opened=opened)


class FooterView:
    """What a turn came to: files, lines, time, Review; Copy at the right."""

    def __init__(self, theme: Theme, block: FooterBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self._block = block
        self.height = round(28 * max(1.0, theme.zoom))
        self.copy_text = block.answer
        self._review: TextButton | None = None
        hits: list[Hit] = []
        if block.files:
            left = self._left_part()[1]
            size = text_width(theme, "small", tr("Review"), weight=500) + 14
            self._review = TextButton(theme, tr("Review"), left + size, self.height / 2, link=True)
            hits.append(Hit(self._review.box, "review", tr("Review what turn {n} changed", n=block.turn), number=block.turn))
        if block.answer.strip():
            box = QRectF(width - 24, (self.height - 24) / 2, 24, 24)
            hits.append(Hit(box, "copy", tr("Copy the answer"), block.answer))
        self.hits = tuple(hits)

    def _texts(self) -> tuple[str, str]:
        block = self._block
        if block.files is None:
            first = ""
        elif block.files:
            first = tr_n("1 file changed", "{n} files changed", block.files)
        else:
            first = tr("No files changed")
        return first, when.duration(block.duration_ms)

    def _left_part(self) -> tuple[float, float]:
        """Where the time begins, and where Review begins."""
        theme = self._theme
        first, took = self._texts()
        dot = text_width(theme, "small", "\u00b7")
        x = text_width(theme, "small", first, weight=500) if first else 0.0
        counts = counts_width(theme, (self._block.added, self._block.removed))
        if counts:
            x += 8 + counts
        time_at = x + 8 + dot + 8 if x and took else x
        end = time_at + text_width(theme, "small", took) if took else x
        return time_at, end + 8 + dot + 1

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        block = self._block
        first, took = self._texts()
        line = QRectF(0, 0, self._width, self.height)
        dot = text_width(theme, "small", "\u00b7")
        painter.setFont(theme.font("small", weight=500))
        painter.setPen(theme.color("text.primary" if block.files else "text.secondary"))
        painter.drawText(line, LEFT, first)
        x = text_width(theme, "small", first, weight=500) + 8
        draw_counts(painter, theme, (block.added, block.removed), line.adjusted(x, 0, 0, 0))
        time_at, review_at = self._left_part()
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        if took and time_at:
            painter.drawText(line.adjusted(time_at - 8 - dot, 0, 0, 0), LEFT, "\u00b7")
        painter.setPen(theme.color("text.secondary"))
        painter.drawText(line.adjusted(time_at, 0, 0, 0), LEFT, took)
        if self._review is not None:
            painter.setPen(theme.color("text.tertiary"))
            painter.drawText(line.adjusted(review_at - dot - 1, 0, 0, 0), LEFT, "\u00b7")
            self._review.paint(painter, state, 0)
        if self.hits and self.hits[-1].action == "copy":
            icon_button(painter, theme, "copy", self.hits[-1].box, state, len(self.hits) - 1)


class EarlierView:
    """One line above the first message that is loaded: how many are before it, and the way to them."""

    def __init__(self, theme: Theme, block: EarlierBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self.height = 28
        self.copy_text = ""
        self._text = tr_n("{n} earlier message", "{n} earlier messages", block.messages)
        left = 23 + text_width(theme, "small", self._text) + 10
        size = text_width(theme, "small", tr("Show"), weight=500) + 14
        self._show = TextButton(theme, tr("Show"), left + size, 14, link=True)
        self.hits: tuple[Hit, ...] = (Hit(self._show.box, "earlier", tr("Show earlier messages"), number=block.messages),)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        draw_icon(painter, theme, "arrow-up", "text.tertiary", 0, 6)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.secondary"))
        line = QRectF(23, 0, self._width, self.height)
        painter.drawText(line, LEFT, self._text)
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(line.adjusted(text_width(theme, "small", self._text) + 4, 0, 0, 0), LEFT, "\u00b7")
        self._show.paint(painter, state, 0)


class BranchView:
    """One line where turns were that a restore moved away."""

    def __init__(self, theme: Theme, block: BranchBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self.height = 28
        self.copy_text = ""
        if block.first_turn == block.last_turn:
            self._text = tr("Turn {n} moved to a branch", n=block.first_turn)
        else:
            self._text = tr("Turns {first} to {last} moved to a branch", first=block.first_turn, last=block.last_turn)
        left = 23 + text_width(theme, "small", self._text) + 10
        size = text_width(theme, "small", tr("Open"), weight=500) + 14
        self._open = TextButton(theme, tr("Open"), left + size, 14, link=True)
        self.hits: tuple[Hit, ...] = (Hit(self._open.box, "chat", tr("Open the branch"), block.chat),)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        draw_icon(painter, theme, "branch", "text.tertiary", 0, 6)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.secondary"))
        line = QRectF(23, 0, self._width, self.height)
        painter.drawText(line, LEFT, self._text)
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(line.adjusted(text_width(theme, "small", self._text) + 4, 0, 0, 0), LEFT, "\u00b7")
        self._open.paint(painter, state, 0)
