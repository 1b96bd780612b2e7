"""Paint the lines of the transcript: checkpoint, turn footer, earlier messages, turns on a branch. UI thread only."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.blocks import (
    BranchBlock,
    CheckpointBlock,
    EarlierBlock,
    FooterBlock,
    conflict_key,
)
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.block_view import LEFT, Hit, PaintState, TextButton, icon_button, off_hit, tall
from vibekit_desktop.ui.views.conflict_note import ConflictChip
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import counts_width, draw_counts, text_width


class CheckpointView:
    """The diamond, what it marks, a hairline, Restore, Branch from here. Where there is little room the buttons lose their
    words, after what the line says beside the number."""

    def __init__(self, theme: Theme, block: CheckpointBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self.height = tall(theme, 28)
        self.copy_text = ""
        if block.changed is False:
            self._strong, self._rest = tr("Before this turn"), tr(" \u00b7 no files changed")
        else:
            self._strong, self._rest = tr("Checkpoint {n}", n=block.turn), tr(" \u00b7 before this turn")
        strong = text_width(theme, "small", self._strong, weight=500)
        rest = text_width(theme, "small", self._rest)
        self._place(block, words=True)
        if self._left_end() < strong + rest:
            self._rest = ""
        if self._left_end() < strong:
            self._place(block, words=False)
        restore = tr("Restore to before turn {turn}", turn=block.turn)
        branch = tr("Branch from before turn {turn}", turn=block.turn)
        if block.held:
            hit = off_hit(self._restore.box, block.held)
        else:
            hit = Hit(self._restore.box, "restore", restore, number=block.turn)
        self._first = 1 if block.can_restore else 0
        self.hits: tuple[Hit, ...] = (
            *((hit,) if block.can_restore else ()),
            Hit(self._branch.box, "branch", branch, number=block.turn),
        )

    def _place(self, block: CheckpointBlock, *, words: bool) -> None:
        theme, middle = self._theme, self.height / 2
        branch = tr("Branch from here") if words else ""
        self._branch = TextButton(theme, branch, self._width, middle, icon="branch")
        enabled = block.can_restore and not block.held
        right = self._branch.box.x() - 4
        self._restore = TextButton(theme, tr("Restore\u2026"), right, middle, icon="restore", enabled=enabled)

    def _left_end(self) -> float:
        """How much room the words have."""
        return self._restore.box.x() - 23 - 16

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        draw_icon(painter, theme, "checkpoint", "accent.text", 0, round(self.height / 2 - 8))
        x = 23.0
        line = QRectF(x, 0, self._width, self.height)
        painter.setFont(theme.font("small", weight=500))
        painter.setPen(theme.color("text.secondary"))
        painter.drawText(line, LEFT, self._strong)
        x += text_width(theme, "small", self._strong, weight=500)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(line.adjusted(x - 23, 0, 0, 0), LEFT, self._rest)
        x += text_width(theme, "small", self._rest) + 10
        end = self._restore.box.x() - 10
        if end > x:
            painter.fillRect(QRectF(round(x), self.height // 2, end - x, 1), theme.color("line.hair"))
        self._restore.paint(painter, state, 0 if self._first else -1)
        self._branch.paint(painter, state, self._first)


class FooterView:
    """What a turn came to: files, lines, time, Review; Copy at the right."""

    def __init__(self, theme: Theme, block: FooterBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self._block = block
        self.height = tall(theme, 28)
        self.copy_text = block.answer
        self._review: TextButton | None = None
        hits: list[Hit] = []
        if block.files:
            left = self._left_part()[1]
            size = text_width(theme, "small", tr("Review"), weight=500) + 14
            self._review = TextButton(theme, tr("Review"), left + size, self.height / 2, link=True)
            hits.append(Hit(self._review.box, "review", tr("Review what turn {n} changed", n=block.turn), number=block.turn))
        right = float(width)
        copy: Hit | None = None
        if block.answer.strip():
            box = QRectF(width - 24, (self.height - 24) / 2, 24, 24)
            copy = Hit(box, "copy", tr("Copy the answer"), block.answer)
            right = box.x() - 8
        self._chip: ConflictChip | None = None
        if block.conflicts:
            text = tr_n("1 conflict", "{n} conflicts", len(block.conflicts))
            self._chip = ConflictChip(theme, text, right, self.height / 2)
            self._chip.index = len(hits)
            name = tr("{conflicts} in turn {turn}", conflicts=text, turn=block.turn)
            hits.append(Hit(self._chip.box, "conflicts", name, conflict_key(block.conflicts[0]), block.turn))
        if copy is not None:
            hits.append(copy)
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
        if self._chip is not None:
            self._chip.paint(painter, state)
        if self.hits and self.hits[-1].action == "copy":
            icon_button(painter, theme, "copy", self.hits[-1].box, state, len(self.hits) - 1)


class EarlierView:
    """One line above the first message that is loaded: how many are before it, and the way to them."""

    def __init__(self, theme: Theme, block: EarlierBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self.height = tall(theme, 28)
        self.copy_text = ""
        self._text = tr_n("{n} earlier message", "{n} earlier messages", block.messages)
        left = 23 + text_width(theme, "small", self._text) + 10
        size = text_width(theme, "small", tr("Show"), weight=500) + 14
        self._show = TextButton(theme, tr("Show"), left + size, self.height / 2, link=True)
        self.hits: tuple[Hit, ...] = (Hit(self._show.box, "earlier", tr("Show earlier messages"), number=block.messages),)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        draw_icon(painter, theme, "arrow-up", "text.tertiary", 0, round(self.height / 2 - 8))
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
        self.height = tall(theme, 28)
        self.copy_text = ""
        if block.first_turn == block.last_turn:
            self._text = tr("Turn {n} moved to a branch", n=block.first_turn)
        else:
            self._text = tr("Turns {first} to {last} moved to a branch", first=block.first_turn, last=block.last_turn)
        left = 23 + text_width(theme, "small", self._text) + 10
        size = text_width(theme, "small", tr("Open"), weight=500) + 14
        self._open = TextButton(theme, tr("Open"), left + size, self.height / 2, link=True)
        self.hits: tuple[Hit, ...] = (Hit(self._open.box, "chat", tr("Open the branch"), block.chat),)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        draw_icon(painter, theme, "branch", "text.tertiary", 0, round(self.height / 2 - 8))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.secondary"))
        line = QRectF(23, 0, self._width, self.height)
        painter.drawText(line, LEFT, self._text)
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(line.adjusted(text_width(theme, "small", self._text) + 4, 0, 0, 0), LEFT, "\u00b7")
        self._open.paint(painter, state, 0)
