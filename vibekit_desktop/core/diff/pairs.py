"""Which deleted line became which added line inside one block of changes.

A pair shares enough text to be read as the same line, edited; a rewritten line has no partner. Pairs keep the order of
both sides. Pure; any thread.
"""

from collections.abc import Sequence

from rapidfuzz.distance import Indel

ALIKE = 0.55
"""Two unrelated lines of code share up to about half of their letters in order by accident."""

_SURELY = 0.75
"""Where all lines of two equally long blocks are so much alike one by one, nothing better is looked for."""

_TABLE_LIMIT = 4_000
"""Up to this many comparisons a block is aligned as well as possible; above, each line looks only a few lines ahead."""
_ALWAYS = 64
"""Blocks that need no more comparisons are paired however many there are."""
_LOOK_AHEAD = 4
_LONGEST = 2_000
"""Longer lines are compared by their first characters only: the comparison is quadratic."""


class Room:
    """How many comparisons are left for one document. Small blocks are always paired; where much is rewritten, what is paired
    from the top down takes as long as everything else, and the rest stands beside each other in order."""

    def __init__(self, comparisons: int = 50_000) -> None:
        self.left = comparisons

    def take(self, comparisons: int) -> bool:
        """Whether so many may be made."""
        if comparisons > _ALWAYS:
            if comparisons > self.left:
                return False
            self.left -= comparisons
        return True


def pairs(old: Sequence[str], new: Sequence[str], room: Room | None = None) -> list[tuple[int, int]]:
    """Index pairs (into ``old``, into ``new``), both rising."""
    room = room or Room()
    product = len(old) * len(new)
    if not room.take(product if product <= _TABLE_LIMIT else (2 * _LOOK_AHEAD + 1) * len(old)):
        return []
    before = [line.strip()[:_LONGEST] for line in old]
    after = [line.strip()[:_LONGEST] for line in new]
    if len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            if Indel.normalized_similarity(one, other, score_cutoff=_SURELY) < _SURELY:
                break
        else:
            return [(at, at) for at in range(len(before))]
    return _best(before, after) if product <= _TABLE_LIMIT else _nearest(before, after)


def likeness(old: str, new: str) -> float:
    """0 for lines that are not a pair, else how much they share, up to 1."""
    if not old or not new:
        return 1.0 if old == new else 0.0
    if old.startswith(new) or new.startswith(old):
        return max(ALIKE, Indel.normalized_similarity(old, new))  # ``x`` and ``x = 1``: continued, however far
    return Indel.normalized_similarity(old, new, score_cutoff=ALIKE)


def _best(old: list[str], new: list[str]) -> list[tuple[int, int]]:
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


def _nearest(old: list[str], new: list[str]) -> list[tuple[int, int]]:
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
