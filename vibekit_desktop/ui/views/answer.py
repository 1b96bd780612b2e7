"""Lay out one piece of an answer: prose and code blocks under each other. UI thread only."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.models.blocks import AnswerBlock
from vibekit_desktop.ui.models.markdown import Code, Piece, Prose, arrived, file_name, pieces, plain_pieces
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.block_view import Hit, PaintState
from vibekit_desktop.ui.views.code_block import CodeBlockView
from vibekit_desktop.ui.views.text_block import TextLayout
from vibekit_desktop.ui.views.text_places import within

_GAP = 10
_CARET_GAP = 3
_LARGE, _SHARE, _TAIL = 2_500, 16, 40


class _Part(NamedTuple):
    """One piece as it is laid out. ``how``: everything its layout follows from beside the piece."""

    piece: Piece
    how: tuple[object, ...]
    shown: TextLayout | CodeBlockView
    top: int


class AnswerView:
    """Invariant: the hits are those of the parts, moved to where the parts stand.

    ``earlier`` is how the same answer was laid out when less of it was there: parts that did not change are taken from it, so
    that an answer that grows costs its last part only. It must not be used any more."""

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
        earlier: "AnswerView | None" = None,
        files: Set[str] = frozenset(),
    ) -> None:
        self.copy_text = block.text
        self._key = key
        self._theme = theme
        self._width = width
        self._growing = block.growing
        self._parts: list[_Part] = []
        self.fresh = 0
        """How many parts were laid out for this, and not taken from ``earlier``; tests look at it."""
        self.stale = False
        """Whether the last part shows less than there is: laying out a large one for every few words would cost too much."""
        self._patient = True
        self.wanted: list[tuple[str, str, tuple[str, ...]]] = []
        """Code blocks whose colours are not there yet: key, file name, lines."""
        self.code: list[tuple[str, QRectF, int]] = []
        """Code blocks that can be moved sideways: key, place, how far."""
        hits: list[Hit] = []
        y = 0
        for number, piece in enumerate(_pieces(block)):
            y += _GAP if number and not block.plain else 0
            name = f"{key}:{number}"
            if isinstance(piece, Code):
                if name not in styles:
                    self._want(name, piece)
                how: tuple[object, ...] = (theme, width, name in opened, styles.get(name), shifts.get(name, 0))
            else:
                how = (theme, width, block.plain, files)
            shown = earlier.part(number, piece, how) if earlier is not None else None
            if shown is None and block.growing and earlier is not None:
                kept = earlier.almost(number, piece, how)
                if kept is not None:
                    piece, shown, self.stale = kept.piece, kept.shown, True
            if shown is None:
                shown = self._lay_out(piece, name, how, earlier, number)
            if isinstance(shown, CodeBlockView):
                if shown.most_shift:
                    self.code.append((name, QRectF(0, y, width, shown.height), shown.most_shift))
                hits += [Hit(hit.box.translated(0, y), hit.action, hit.name, hit.text, hit.number) for hit in shown.hits]
            else:
                hits += shown.links(QPointF(0, y))
            self._parts.append(_Part(piece, how, shown, y))
            y += shown.height
        self.height = max(1, y)
        self.hits = tuple(hits)
        self._own_hits = [self._hits_of(part.top, part.shown) for part in self._parts]

    def _want(self, name: str, piece: Code) -> None:
        """Ask for the colours of a code block, once all of it is there."""
        file = file_name(piece.language)
        if file and (piece.closed or not self._growing):
            self.wanted.append((name, file, tuple(piece.text.split("\n"))))

    def _lay_out(
        self, piece: Piece, name: str, how: tuple[object, ...], earlier: "AnswerView | None", number: int
    ) -> TextLayout | CodeBlockView:
        if isinstance(piece, Prose) and earlier is not None and (known := earlier.prose_at(number, piece, how)) is not None:
            return known.at_width(self._width)
        self.fresh += 1
        if isinstance(piece, Prose):
            files = how[3] if isinstance(how[3], Set) else frozenset()
            return TextLayout(self._theme, piece.text, self._width, plain=how[2] is True, files=files)
        _theme, _width, opened, styles, shift = how
        return CodeBlockView(
            self._theme,
            piece.language,
            piece.text,
            self._width,
            name,
            opened=opened is True,
            styles=styles if isinstance(styles, StyleRuns) else None,
            shift=shift if isinstance(shift, int) else 0,
            earlier=earlier.code_at(number) if earlier is not None else None,
        )

    def part(self, number: int, piece: Piece, how: tuple[object, ...]) -> TextLayout | CodeBlockView | None:
        """The layout of a piece if it is here and would be the same."""
        if number >= len(self._parts):
            return None
        mine = self._parts[number]
        same = (
            mine.piece == piece
            and len(mine.how) == len(how)
            and all(a is b or a == b for a, b in zip(mine.how, how, strict=True))
        )
        return mine.shown if same else None

    def almost(self, number: int, piece: Piece, how: tuple[object, ...]) -> _Part | None:
        """The part of a large piece that has grown by so little that its former layout will do for a while."""
        mine = self._parts[number] if self._patient and number == len(self._parts) - 1 else None
        if mine is None or not isinstance(piece, Prose) or not isinstance(mine.piece, Prose) or mine.how != how:
            return None
        size = len(mine.piece.text)
        grown = len(piece.text) - size
        if size < _LARGE or grown > size // _SHARE or not piece.text.startswith(mine.piece.text[: size - _TAIL]):
            return None
        return mine

    def catch_up(self) -> None:
        """Whoever takes this over lays out what is stale."""
        self._patient = False

    def prose_at(self, number: int, piece: Piece, how: tuple[object, ...]) -> TextLayout | None:
        """The layout of the same prose at another width."""
        mine = self._parts[number] if number < len(self._parts) else None
        if mine is None or mine.piece != piece or (mine.how[0], *mine.how[2:]) != (how[0], *how[2:]):
            return None
        return mine.shown if isinstance(mine.shown, TextLayout) else None

    def code_at(self, number: int) -> CodeBlockView | None:
        """The code block that is piece ``number``, if it is one."""
        shown = self._parts[number].shown if number < len(self._parts) else None
        return shown if isinstance(shown, CodeBlockView) else None

    def holds(self, key: str) -> bool:
        """Whether a code block of this key is here."""
        return key.startswith(f"{self._key}:")

    def _hits_of(self, top: int, part: TextLayout | CodeBlockView) -> int:
        """The index of a code block's first hit among all."""
        if isinstance(part, TextLayout):
            return 0
        first = part.hits[0].box.translated(0, top)
        return next(i for i, hit in enumerate(self.hits) if hit.box == first)

    def caret(self) -> QPointF:
        """Where the next words will come: an x, and the middle of the line."""
        if not self._parts:
            return QPointF(0, self._theme.line_height("reading") / 2)
        last = self._parts[-1]
        return last.shown.end() + QPointF(_CARET_GAP, last.top)

    # Its characters: those of the parts, a line end between two

    @property
    def text(self) -> str:
        """What is shown, with all of its code."""
        return "\n".join(part.shown.text for part in self._parts)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(part.shown.text) + 1 for part in self._parts), initial=0))

    def _part_of(self, index: int) -> tuple[_Part, int]:
        number = min(max(0, bisect_right(self._starts, index) - 1), len(self._parts) - 1)
        return self._parts[number], self._starts[number]

    def index_at(self, place: QPointF) -> int:
        """The border between two characters that is nearest to a place."""
        if not self._parts:
            return 0
        number = max((n for n, part in enumerate(self._parts) if part.top <= place.y()), default=0)
        part = self._parts[number]
        return self._starts[number] + part.shown.index_at(place - QPointF(0, part.top))

    def box_of(self, index: int) -> QRectF:
        """Where the character of an index begins."""
        if not self._parts:
            return QRectF(0, 0, 0, 1)
        part, start = self._part_of(index)
        return part.shown.box_of(min(index - start, len(part.shown.text))).translated(0, part.top)

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""
        if not self._parts:
            return 0, 0
        part, start = self._part_of(index)
        first, end = part.shown.word_at(min(index - start, len(part.shown.text)))
        return first + start, end + start

    def paint(self, painter: QPainter, state: PaintState) -> None:
        for number, ((_piece, _how, part, top), first) in enumerate(zip(self._parts, self._own_hits, strict=True)):
            if state.clip is not None and (top > state.clip.bottom() or top + part.height < state.clip.top()):
                continue
            clip = state.clip.translated(0, -top) if state.clip is not None else None
            grounds = within(state.grounds, self._starts[number], len(part.text)) if state.grounds else ()
            if isinstance(part, TextLayout):
                part.paint(painter, QPointF(0, top), clip, grounds)
                continue
            painter.translate(0, top)
            inside = PaintState(state.hover - first, state.pressed - first, state.focus - first, clip, grounds=grounds)
            part.paint(painter, inside)
            painter.translate(0, -top)
        if self._growing and state.pulse is not None:
            caret = self.caret()
            state.pulse.draw_caret(painter, caret.x(), caret.y())
            if self.stale:
                state.pulse.counts(painter, QRectF(caret.x(), caret.y(), 1, 1))
        focused = self.hits[state.focus] if 0 <= state.focus < len(self.hits) else None
        hovered = self.hits[state.hover] if 0 <= state.hover < len(self.hits) else None
        for hit in (focused, hovered):
            if hit is not None and hit.action in ("link", "file"):
                y = round(hit.box.bottom()) - 4
                painter.fillRect(QRectF(hit.box.x(), y, hit.box.width(), 1), self._theme.color("accent.text"))


def _pieces(block: AnswerBlock) -> Sequence[Piece]:
    if block.plain:
        return plain_pieces(block.text)
    return pieces(arrived(block.text) if block.growing else block.text)
