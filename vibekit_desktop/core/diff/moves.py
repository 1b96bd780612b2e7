"""Blocks of lines that went in one place and came in another.

Pure; any thread; bounded: lines that went many times begin no block, and after so many comparisons no more are looked for.
"""

from collections.abc import Container, Hashable, Iterator, Sequence
from typing import TypeVar

from vibekit_desktop.core.diff.lines import Change
from vibekit_desktop.core.types.diffs import Move

LEAST_LINES = 3
LEAST_LETTERS = 20
"""Letters and digits that a block has at least: a few brackets are found everywhere."""

_MOST_PLACES = 16
_MOST_STEPS = 100_000

Line = TypeVar("Line", str, bytes)


class _Search:
    """What went and came and is in no block yet. Invariant: a line is in one block at most."""

    def __init__(
        self, old: Sequence[Hashable], new: Sequence[Hashable], went: Sequence[Change], came: Sequence[Change]
    ) -> None:
        self.old, self.new = old, new
        self.went: set[int] = set()
        self.came: set[int] = set()
        for one in went:
            self.went.update(range(one.old_start, one.old_end))
        for one in came:
            self.came.update(range(one.new_start, one.new_end))
        self.steps = 0

    def around(self, i: int, j: int) -> tuple[int, int]:
        """How far the two texts are equal and free above and below these two lines, both excluded."""
        above = self._walk(i, j, -1)
        return above, self._walk(i, j, 1)

    def _walk(self, i: int, j: int, step: int) -> int:
        old, new, went, came = self.old, self.new, self.went, self.came
        count = 0
        while True:
            i += step
            j += step
            if not (i in went and j in came and old[i] == new[j]):
                self.steps += count + 1
                return count
            count += 1

    def take(self, i: int, j: int, length: int) -> None:
        self.went.difference_update(range(i, i + length))
        self.came.difference_update(range(j, j + length))


def moves(old: Sequence[Line], new: Sequence[Line], found: Sequence[Change]) -> tuple[Move, ...]:
    """The moved blocks, rising by the old side; equal lines are those that count as equal, given as such."""
    if len(found) < 2:
        return ()
    # Both ends of a move are rows of lines inside of one change.
    went = [one for one in found if one.old_end - one.old_start >= LEAST_LINES]
    came = [one for one in found if one.new_end - one.new_start >= LEAST_LINES]
    gone: set[Line] = set()
    there: set[Line] = set()
    for one in went:
        gone.update(old[one.old_start : one.old_end])
    for one in came:
        there.update(new[one.new_start : one.new_end])
    both = {line for line in gone & there if _letters(line)}
    if not both:
        return ()
    places: dict[Line, list[int]] = {}
    for one in went:
        for i, line in enumerate(old[one.old_start : one.old_end], one.old_start):
            if line in both:
                places.setdefault(line, []).append(i)
    both = {line for line in both if len(places[line]) <= _MOST_PLACES}
    search = _Search(old, new, went, came)
    taken: list[Move] = []
    for j, line in _seeds(new, came, gone):
        if line not in both:
            continue
        block = _longest(search, places[line], j) if j in search.came else None
        if block is not None and _weighs_enough(new[block[1] : block[1] + block[2]]):
            i, first, length = block
            search.take(i, first, length)
            taken.append(Move(i + 1, i + length, first + 1, first + length))
        if search.steps > _MOST_STEPS:
            break
    return tuple(sorted(taken, key=lambda move: move.old_first))


def _seeds(new: Sequence[Line], found: Sequence[Change], gone: Container[Line]) -> Iterator[tuple[int, Line]]:
    """Lines that came in a row of lines all of which went somewhere, long enough to be a block."""
    for one in found:
        block: Sequence[Line] = new[one.new_start : one.new_end]
        run = 0
        for at, line in enumerate((*block, None)):
            if line is not None and line in gone:
                run += 1
                continue
            if run >= LEAST_LINES:
                first = at - run
                yield from enumerate(block[first:at], one.new_start + first)
            run = 0


def _longest(search: _Search, places: Sequence[int], j: int) -> tuple[int, int, int] | None:
    """The longest block through line ``j`` of the new side: its beginnings and its length."""
    best: tuple[int, int, int] | None = None
    for i in places:
        if i not in search.went:
            continue
        above, below = search.around(i, j)
        length = above + 1 + below
        if length >= LEAST_LINES and (best is None or length > best[2]):
            best = (i - above, j - above, length)
    return best


def _letters(line: str | bytes) -> int:
    return sum(map(str.isalnum, line if isinstance(line, str) else line.decode("latin-1")))


def _weighs_enough(block: Sequence[Line]) -> bool:
    letters = 0
    for line in block:
        letters += _letters(line)
        if letters >= LEAST_LETTERS:
            return True
    return False
