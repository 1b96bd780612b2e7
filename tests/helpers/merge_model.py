"""What a merge of three texts must give where every line has a name of its own. No product code."""

from collections.abc import Sequence
from itertools import pairwise

Lines = list[str]
Segment = tuple[Lines, Lines, Lines]
CONTEXT = 3


def is_certain(base: Sequence[str], *sides: Sequence[str]) -> bool:
    """Whether there is only one way to lay the sides beside the base: no line twice, and none that moved."""
    for side in (base, *sides):
        if len(set(side)) < len(side):
            return False
    return all([line for line in base if line in side] == [line for line in side if line in base] for side in sides)


def segments(base: Lines, ours: Lines, theirs: Lines) -> list[Segment]:
    """The texts cut where all three have the same line."""
    found: list[Segment] = []
    for line in [line for line in base if line in ours and line in theirs]:
        i, j, k = base.index(line), ours.index(line), theirs.index(line)
        found += [(base[:i], ours[:j], theirs[:k]), ([line], [line], [line])]
        base, ours, theirs = base[i + 1 :], ours[j + 1 :], theirs[k + 1 :]
    return [*found, (base, ours, theirs)]


def reference(one: Segment) -> Lines | None:
    """What becomes of a segment; None if somebody must decide."""
    base, ours, theirs = one
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    for added, changed in ((ours, theirs), (theirs, ours)):
        beside = _around(added, base)
        if beside is not None and not set(base) & set(changed):
            return [*beside[0], *changed, *beside[1]]
    return None


def _around(added: Lines, base: Lines) -> tuple[Lines, Lines] | None:
    """What a side added above and below the old lines, if it did nothing else."""
    at = added.index(base[0]) if base and base[0] in added else -1
    return (added[:at], added[at + len(base) :]) if at >= 0 and added[at : at + len(base)] == base else None


def merged(base: Lines, ours: Lines, theirs: Lines, undo: Sequence[bool]) -> Lines:
    """The whole text; ``undo``: whether each overlap, in order, becomes as in ``theirs``."""
    found: Lines = []
    decided = iter(undo)
    for one in segments(base, ours, theirs):
        lines = reference(one)
        if lines is None:
            lines = one[2] if next(decided) else one[1]
        found += lines
    return found


def overlaps(base: Lines, ours: Lines, theirs: Lines) -> int:
    """How many decisions it takes."""
    return sum(reference(one) is None for one in segments(base, ours, theirs))


def hunks(old: Lines, new: Lines) -> list[list[tuple[int, int, int, int]]]:
    """The changes of a diff, as lines of the old and of the new text, those together whose contexts meet."""
    kept = [line for line in old if line in new]
    places = [(-1, -1), *((old.index(line), new.index(line)) for line in kept), (len(old), len(new))]
    changes = [
        (above[0] + 1, below[0], above[1] + 1, below[1])
        for above, below in pairwise(places)
        if (above[0] + 1, above[1] + 1) != below
    ]
    found: list[list[tuple[int, int, int, int]]] = []
    for one in changes:
        if found and one[0] - found[-1][-1][1] <= 2 * CONTEXT:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def without(old: Lines, new: Lines, numbers: set[int]) -> Lines:
    """The new text with some hunks as they were."""
    result = list(new)
    for number, hunk in reversed(list(enumerate(hunks(old, new)))):
        for first, last, start, end in reversed(hunk) if number in numbers else ():
            result[start:end] = old[first:last]
    return result
