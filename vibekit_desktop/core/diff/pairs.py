"""Which deleted line became which added line inside one block of changes.

A pair shares enough text to be read as the same line, edited; a rewritten line has no partner. Pairs keep the order of
both sides. Pure; any thread.
"""

from collections.abc import Sequence
from typing import AnyStr

from rapidfuzz.distance import Indel

ALIKE = 0.55
"""Two unrelated lines of code share up to about half of their letters in order by accident."""

_SURELY = 0.75
"""Where all lines of two equally long blocks are so much alike one by one, nothing better is looked for."""

_TABLE_LIMIT = 4_000
"""Up to this many comparisons a block is aligned as well as possible; above, each line looks only a few lines ahead."""
_SMALL = 64
"""Blocks that need no more comparisons have room of their own: a few large ones above leave them theirs."""
_LOOK_AHEAD = 4
_LONGEST = 600
"""Longer lines are compared by their first characters only: the comparison is quadratic."""


class Room:
    """How many comparisons are left for one document, for large blocks and for small ones.

    Where much is rewritten, blocks are paired from the top down until pairing takes as long as everything else; what is below
    stands side by side in order.
    """

    def __init__(self, large: int = 50_000, small: int = 100_000) -> None:
        self.large, self.small = large, small

    def take(self, comparisons: int) -> bool:
        """Whether so many may be made."""
        if comparisons > _SMALL:
            self.large -= comparisons
            return self.large >= 0
        self.small -= comparisons
        return self.small >= 0


def pairs(old: Sequence[AnyStr], new: Sequence[AnyStr], room: Room | None = None) -> list[tuple[int, int]]:
    """Index pairs (into ``old``, into ``new``), both rising."""
    room = room or Room()
    product = len(old) * len(new)
    if not room.take(product if product <= _TABLE_LIMIT else (2 * _LOOK_AHEAD + 1) * len(old)):
        return []
    if product == 1:
        return [(0, 0)] if likeness(old[0].strip()[:_LONGEST], new[0].strip()[:_LONGEST]) else []
    before = [line.strip()[:_LONGEST] for line in old]
    after = [line.strip()[:_LONGEST] for line in new]
    if len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            if Indel.normalized_similarity(one, other, score_cutoff=_SURELY) < _SURELY:
                break
        else:
            return [(at, at) for at in range(len(before))]
    return _best(before, after) if product <= _TABLE_LIMIT else _nearest(before, after)


def likeness(old: AnyStr, new: AnyStr) -> float:
    """0 for lines that are not a pair, else how much they share, up to 1."""
    if not old or not new:
        return 1.0 if old == new else 0.0
    if old.startswith(new) or new.startswith(old):
        return max(ALIKE, Indel.normalized_similarity(old, new))  # ``x`` and ``x = 1``: continued, however far
    return Indel.normalized_similarity(old, new, score_cutoff=ALIKE)


def _best(old: list[AnyStr], new: list[AnyStr]) -> list[tuple[int, int]]:
    """The pairs with the greatest likeness in all: dynamic programming from the end."""
    rows, columns = len(old), len(new)
    alike = [[likeness(one, other) for other in new] for one in old]
    total = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        below, here, score = total[i + 1], total[i], alike[i]
        for j in range(columns - 1, -1, -1):
            best = below[j] if below[j] >= here[j + 1] else here[j + 1]
            if score[j]:
                best = max(best, score[j] + below[j + 1])
            here[j] = best
    found = []
    i = j = 0
    while i < rows and j < columns:
        if alike[i][j] and total[i][j] == alike[i][j] + total[i + 1][j + 1]:
            found.append((i, j))
            i += 1
            j += 1
        elif total[i][j] == total[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _nearest(old: list[AnyStr], new: list[AnyStr]) -> list[tuple[int, int]]:
    """For large blocks: each old line takes the most alike of the next few new lines around where it would fall."""
    found = []
    taken = 0
    shift = 0
    for i, line in enumerate(old):
        start = max(taken, i + shift - _LOOK_AHEAD)
        scores = [(likeness(line, new[j]), -j) for j in range(start, min(len(new), max(start, i + shift) + _LOOK_AHEAD + 1))]
        score, place = max(scores, default=(0.0, 0))
        if score:
            found.append((i, -place))
            taken = -place + 1
            shift = -place - i
    return found
