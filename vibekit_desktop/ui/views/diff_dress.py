"""What a diff is painted with beside its rows: words, colours, found places, the selection, comments, moved blocks.

Plain values that the view sets and the painter reads. Pure; no Qt.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from vibekit_desktop.core.types.diffs import Move, StyleRuns, WordSpans
from vibekit_desktop.ui.models.diff_find import Hits
from vibekit_desktop.ui.models.diff_runs import OLD
from vibekit_desktop.ui.models.diff_select import Selection


@dataclass(frozen=True, slots=True)
class CommentMark:
    """Lines ``first`` to ``last`` of one side have comments; ``ids`` are theirs."""

    side: int
    first: int
    last: int
    ids: tuple[str, ...]


class Moves:
    """Which lines belong to a moved block. Invariant: no line is in two of them."""

    def __init__(self, moves: Sequence[Move]) -> None:
        self._moves = (sorted(moves, key=lambda one: one.old_first), sorted(moves, key=lambda one: one.new_first))

    def at(self, side: int, line: int) -> Move | None:
        """The block a line is in."""
        moves = self._moves[side]
        found = bisect_right(moves, line, key=lambda one: one.old_first if side == OLD else one.new_first) - 1
        if found < 0:
            return None
        move = moves[found]
        return move if line <= (move.old_last if side == OLD else move.new_last) else None


@dataclass(slots=True)
class Dress:
    """Keys of ``words`` are document rows; ``parts`` are the colours of some lines (from 0), until ``styles`` has them all.

    ``cursor`` is the display row of the current line and its side, while the view has the focus; ``current`` are the display
    rows of the current hunk; ``crlf`` the lines that end in CRLF where a side has both kinds of ends.
    """

    words: dict[int, WordSpans] = field(default_factory=dict)
    styles: list[StyleRuns | None] = field(default_factory=lambda: [None, None])
    parts: list[list[tuple[int, int, StyleRuns]]] = field(default_factory=lambda: [[], []])
    crlf: list[frozenset[int]] = field(default_factory=lambda: [frozenset(), frozenset()])
    hits: Hits | None = None
    hit: int = -1
    selection: Selection | None = None
    comments: tuple[CommentMark, ...] = ()
    moves: Moves = field(default_factory=lambda: Moves(()))
    current: tuple[int, int] | None = None
    cursor: tuple[int, int] | None = None
    hovered: tuple[int, str] | None = None

    def colours(self, side: int, line: int) -> tuple[StyleRuns | None, int]:
        """The colours for a line (from 1), and its number in them (from 0)."""
        whole = self.styles[side]
        if whole is None:
            for first, last, part in self.parts[side]:
                if first <= line - 1 <= last:
                    return part, line - 1 - first
        return whole, line - 1

    def comment_at(self, side: int, line: int) -> CommentMark | None:
        """The mark of a line."""
        return next((mark for mark in self.comments if mark.side == side and mark.first <= line <= mark.last), None)

    def ends_in_crlf(self, side: int, line: int, line_ending: str) -> bool:
        """How a line ends."""
        return line in self.crlf[side] if line_ending == "mixed" else line_ending == "CRLF"
