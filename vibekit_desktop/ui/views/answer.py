"""Lay out one piece of an answer: prose and code blocks under each other. UI thread only."""

from collections.abc import Mapping, Set

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.long_text import cut_lines
from vibekit_desktop.ui.models.blocks import AnswerBlock
from vibekit_desktop.ui.models.markdown import Code, file_name, pieces
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.block_view import Hit, PaintState
from vibekit_desktop.ui.views.code_block import CodeBlockView
from vibekit_desktop.ui.views.text_block import TextLayout
from vibekit_desktop.ui.visible import visible

_GAP = 10


class AnswerView:
    """Invariant: the hits are those of the parts, moved to where the parts stand."""

    def __init__(
        self,
        theme: Theme,
        block: AnswerBlock,
        width: int,
        key: str,
        *,
        opened: Set[str],
        styles: Mapping[str, StyleRuns | None],
        shifts: Mapping[str, int],
    ) -> None:
        self.copy_text = block.text
        self._key = key
        self._theme = theme
        self._parts: list[tuple[int, TextLayout | CodeBlockView]] = []
        self.wanted: list[tuple[str, str, tuple[str, ...]]] = []
        """Code blocks whose colours are not there yet: key, file name, lines."""
        self.code: list[tuple[str, QRectF, int]] = []
        """Code blocks that can be moved sideways: key, place, how far."""
        hits: list[Hit] = []
        y = 0
        parts = (None,) if block.plain else pieces(block.text)
        for number, piece in enumerate(parts):
            y += _GAP if number else 0
            if isinstance(piece, Code):
                name = f"{key}:{number}"
                code = CodeBlockView(
                    theme,
                    piece.language,
                    piece.text,
                    width,
                    name,
                    opened=name in opened,
                    styles=styles.get(name),
                    shift=shifts.get(name, 0),
                )
                file = file_name(piece.language)
                if name not in styles and file:
                    self.wanted.append((name, file, tuple(piece.text.split("\n"))))
                if code.most_shift:
                    self.code.append((name, QRectF(0, y, width, code.height), code.most_shift))
                hits += [Hit(hit.box.translated(0, y), hit.action, hit.name, hit.text, hit.number) for hit in code.hits]
                self._parts.append((y, code))
                y += code.height
            else:
                text = visible(cut_lines(block.text)) if piece is None else piece.text
                prose = TextLayout(theme, text, width, plain=piece is None)
                hits += prose.links(QPointF(0, y))
                self._parts.append((y, prose))
                y += prose.height
        self.height = max(1, y)
        self.hits = tuple(hits)
        self._own_hits = [self._hits_of(top, part) for top, part in self._parts]

    def holds(self, key: str) -> bool:
        """Whether a code block of this key is here."""
        return key.startswith(f"{self._key}:")

    def _hits_of(self, top: int, part: TextLayout | CodeBlockView) -> int:
        """The index of a code block's first hit among all."""
        if isinstance(part, TextLayout):
            return 0
        first = part.hits[0].box.translated(0, top)
        return next(i for i, hit in enumerate(self.hits) if hit.box == first)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        for (top, part), first in zip(self._parts, self._own_hits, strict=True):
            if state.clip is not None and (top > state.clip.bottom() or top + part.height < state.clip.top()):
                continue
            clip = state.clip.translated(0, -top) if state.clip is not None else None
            if isinstance(part, TextLayout):
                part.paint(painter, QPointF(0, top), clip)
                continue
            painter.translate(0, top)
            part.paint(painter, PaintState(state.hover - first, state.pressed - first, state.focus - first, clip))
            painter.translate(0, -top)
        focused = self.hits[state.focus] if 0 <= state.focus < len(self.hits) else None
        hovered = self.hits[state.hover] if 0 <= state.hover < len(self.hits) else None
        for hit in (focused, hovered):
            if hit is not None and hit.action == "link":
                y = round(hit.box.bottom()) - 4
                painter.fillRect(QRectF(hit.box.x(), y, hit.box.width(), 1), self._theme.color("accent.text"))
