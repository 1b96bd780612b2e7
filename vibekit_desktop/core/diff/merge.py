"""Three-way merge of bytes by lines: what becomes of a text when a change is taken back and later work stays.

``base`` is the text just after the change, ``ours`` what is there now, ``theirs`` what was there before the change. Lines that
only one side changed are taken from it; lines that both changed are an overlap, unless both made the same of them. Clean
results are those of ``git merge-file``; where git calls it a conflict, this is clean in three cases only:

* *beside*: one side only added lines, directly above or below lines that the other side changed;
* *line ends*, the final newline or the encoding differ between the sides: they are facts about the whole file, merged by
  themselves, so that a file whose line ends were changed since is still merged line by line;
* the encoding is UTF-16 or UTF-32, which git takes for binary.

Pure; any thread. The engine holds the interpreter lock: large inputs belong in the worker process.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from pygit2.enums import DiffOption

from vibekit_desktop.core.diff.lines import Change, aligned
from vibekit_desktop.core.diff.shape import Side, as_it_is, merged, shaped

_HOW = DiffOption.FORCE_TEXT  # the plain algorithm, which ``git merge-file`` takes: other alignments merge differently


class Take(IntEnum):
    """Which side a part of the result comes from."""

    SAME = 0
    """All three are equal here, or both sides made the same of it."""
    OURS = 1
    THEIRS = 2
    OVERLAP = 3
    """Both changed it: somebody has to decide."""


@dataclass(frozen=True, slots=True)
class Part:
    """A run of lines, from 0, ends not included, on each of the three sides. ``beside``: git would ask here."""

    take: Take
    base: tuple[int, int]
    ours: tuple[int, int]
    theirs: tuple[int, int]
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Parts:
    """What `compare` found, without the texts: small enough to travel between processes. ``bytewise``: lines are compared with
    their ends, as they are."""

    bytewise: bool
    parts: tuple[Part, ...]


def compare(base: bytes, ours: bytes, theirs: bytes) -> Parts | None:
    """Lay the three side by side; None if they cannot be merged as text."""
    found: Parts | None = None
    exact = as_it_is(base, ours, theirs)
    if exact is not None:
        found = Parts(bytewise=True, parts=tuple(_parts(exact)))
        if not any(part.beside or part.take is Take.OVERLAP for part in found.parts):
            return found
    sides = shaped(base, ours, theirs)
    return found if sides is None else Parts(bytewise=False, parts=tuple(_parts(sides, end=b"\n")))


class Merge:
    """Three texts and how they lie side by side."""

    def __init__(self, base: bytes, ours: bytes, theirs: bytes, found: Parts) -> None:
        """``found``: what `compare` said of the same three."""
        sides = as_it_is(base, ours, theirs) if found.bytewise else shaped(base, ours, theirs)
        if sides is None:
            raise ValueError("these texts have no lines to merge")
        self._base, self._ours, self._theirs = sides
        self.parts = found.parts
        self.overlaps: tuple[Part, ...] = _overlaps(found.parts)
        """What has to be decided, top down."""

    def result(self, undo: Collection[int] = ()) -> bytes:
        """The text with the overlaps of these numbers as in ``theirs``, the others as in ``ours``."""
        numbers = {id(part): number for number, part in enumerate(self.overlaps)}
        shape = merged(self._base.shape, self._ours.shape, self._theirs.shape)
        lines: list[bytes] = []
        ends: list[bytes] = []
        for part in self.parts:
            take = part.take
            if take is Take.OVERLAP:
                take = Take.THEIRS if numbers[id(part)] in undo else Take.OURS
            match take:
                case Take.SAME | Take.OURS:
                    side, (first, last) = self._ours, part.ours
                case _:
                    side, (first, last) = self._theirs, part.theirs
            lines += side.lines[first:last]
            if part.take is Take.SAME and part.base[1] - part.base[0] == part.theirs[1] - part.theirs[0] == last - first:
                ends += self._merged_ends(part)
            else:
                ends += side.ends[first:last]
        return shape.written(lines, ends)

    def _merged_ends(self, part: Part) -> Iterator[bytes]:
        """The line ends of lines that are equal on all sides, each merged by itself."""
        base = self._base.ends[part.base[0] : part.base[1]]
        ours = self._ours.ends[part.ours[0] : part.ours[1]]
        theirs = self._theirs.ends[part.theirs[0] : part.theirs[1]]
        return (its if old == here else here for old, here, its in zip(base, ours, theirs, strict=True))

    def texts(self, part: Part) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Lines of a part for showing: as they are now, as they were before the change, as they were just after it."""
        return (
            self._ours.shown(*part.ours),
            self._theirs.shown(*part.theirs),
            self._base.shown(*part.base),
        )


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merge | None:
    """Both steps at once; None if the texts cannot be merged by lines."""
    found = compare(base, ours, theirs)
    return None if found is None else Merge(base, ours, theirs, found)


def _overlaps(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.take is Take.OVERLAP)


# -- from two comparisons to parts -------------------------------------------------------------------------------


def _parts(sides: Sequence[Side], *, end: bytes = b"") -> Iterator[Part]:
    """The parts of the whole text, top down."""
    base, ours, theirs = (side.lines for side in sides)
    at = _Cursor()
    for mine, other in _groups(changes(base, ours, end=end), changes(base, theirs, end=end)):
        low = min(one.old_start for one in (*mine, *other))
        high = max(one.old_end for one in (*mine, *other))
        if low > at.base:
            yield at.step(Take.SAME, low - at.base, low - at.base, low - at.base)
        size = high - low
        from_ours = size + sum(_growth(one) for one in mine)
        from_theirs = size + sum(_growth(one) for one in other)
        if not other:
            yield at.step(Take.OURS, size, from_ours, from_theirs)
        elif not mine:
            yield at.step(Take.THEIRS, size, from_ours, from_theirs)
        elif ours[at.ours : at.ours + from_ours] == theirs[at.theirs : at.theirs + from_theirs]:
            yield at.step(Take.SAME, size, from_ours, from_theirs)
        elif _is_beside(mine, other) or _is_beside(other, mine):
            for one, take in sorted([*((one, Take.OURS) for one in mine), *((one, Take.THEIRS) for one in other)]):
                old, new = one.old_end - one.old_start, one.new_end - one.new_start
                counts = (new, old) if take is Take.OURS else (old, new)
                yield at.step(take, old, *counts, beside=True)
        else:
            yield from _overlap(at, base, ours, theirs, (size, from_ours, from_theirs))
    if at.base < len(base):
        rest = len(base) - at.base
        yield at.step(Take.SAME, rest, rest, rest)


class _Cursor:
    """How far each side has been told."""

    def __init__(self) -> None:
        self.base = self.ours = self.theirs = 0

    def step(self, take: Take, base: int, ours: int, theirs: int, *, beside: bool = False) -> Part:
        """The next lines of each side."""
        part = Part(
            take,
            (self.base, self.base + base),
            (self.ours, self.ours + ours),
            (self.theirs, self.theirs + theirs),
            beside,
        )
        self.base, self.ours, self.theirs = part.base[1], part.ours[1], part.theirs[1]
        return part


def _overlap(
    at: _Cursor,
    base: Sequence[bytes],
    ours: Sequence[bytes],
    theirs: Sequence[bytes],
    counts: tuple[int, int, int],
) -> Iterator[Part]:
    """An overlap without what both sides begin and end with alike."""
    size, mine, other = counts
    here, there = ours[at.ours : at.ours + mine], theirs[at.theirs : at.theirs + other]
    shortest = min(mine, other)
    above = next((n for n in range(shortest) if here[n] != there[n]), shortest)
    rest = shortest - above
    below = next((n for n in range(rest) if here[-1 - n] != there[-1 - n]), rest)
    was = base[at.base : at.base + size]
    # Of the old lines those go with them that are the same there too.
    first = next((n for n in range(min(above, size)) if was[n] != here[n]), min(above, size))
    last = next((n for n in range(min(below, size - first)) if was[-1 - n] != here[-1 - n]), min(below, size - first))
    if above:
        yield at.step(Take.SAME, first, above, above)
    yield at.step(Take.OVERLAP, size - first - last, mine - above - below, other - above - below)
    if below:
        yield at.step(Take.SAME, last, below, below)


def _growth(one: Change) -> int:
    return (one.new_end - one.new_start) - (one.old_end - one.old_start)


def _groups(ours: Sequence[Change], theirs: Sequence[Change]) -> Iterator[tuple[list[Change], list[Change]]]:
    """The changes of both sides, those together that share or touch lines of the base, top down."""
    i = j = 0
    while i < len(ours) or j < len(theirs):
        mine: list[Change] = []
        other: list[Change] = []
        end = min(one[at].old_start for one, at in ((ours, i), (theirs, j)) if at < len(one))
        # Two changes of one side never touch, so a group grows only through the other side.
        while True:
            if i < len(ours) and ours[i].old_start <= end:
                mine.append(ours[i])
                end, i = max(end, ours[i].old_end), i + 1
            elif j < len(theirs) and theirs[j].old_start <= end:
                other.append(theirs[j])
                end, j = max(end, theirs[j].old_end), j + 1
            else:
                break
        yield mine, other


def _is_beside(added: Sequence[Change], changed: Sequence[Change]) -> bool:
    """Whether one side only adds lines, directly above or below the lines that the other side changes."""
    if len(changed) != 1 or changed[0].old_start == changed[0].old_end:
        return False
    edges = (changed[0].old_start, changed[0].old_end)
    return all(one.old_start == one.old_end and one.old_start in edges for one in added)


def changes(old: Sequence[bytes], new: Sequence[bytes], *, end: bytes = b"") -> list[Change]:
    """What turns some lines into others, top down, as ``git merge-file`` aligns them. ``end``: what they lack to be lines."""
    if old == new:
        return []
    if not old or not new:
        return [Change(0, len(old), 0, len(new))]
    before, after = (b"".join(line + end for line in lines) if end else b"".join(lines) for lines in (old, new))
    return aligned(before, after, _HOW)
