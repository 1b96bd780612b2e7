"""Lines of one content found again in another: where a comment stands once its file has changed.

A line that is unchanged between the two is the same line. Lines are found again if at least half of those that are not blank
are unchanged; else where they stand as a block somewhere else. Rather no place than a wrong one. Pure; any thread.
"""

import re
from collections.abc import Sequence

from vibekit_desktop.core.diff.lines import Change, changes
from vibekit_desktop.core.diff.text import comparable, read

_HALF = re.compile("[\ud800-\udfff]")
Lines = tuple[int, int]
"""First and last line, from 1, both included."""
_DISTINCT = 4
"""Letters and digits that a block must have to be told from others by itself."""


def lines_of(data: bytes | None) -> tuple[str, ...] | None:
    """The lines of a content, one for one those of a diff, without half characters; None if it is not text or not there."""
    text = None if data is None else read(data)
    if text is None:
        return None
    lines = _HALF.sub("\ufffd", text.decoded).replace("\r\n", "\n").split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)


class Anchor:
    """Two texts, compared once. Invariant: what is found lies inside the new text."""

    def __init__(self, old: bytes, new: bytes) -> None:
        before, after = read(old), read(new)
        self._old, self._new = lines_of(old) or (), lines_of(new) or ()
        text = before is not None and after is not None
        self._changes: list[Change] = changes(*comparable(before, after)) if before is not None and after is not None else []
        self._text = text

    def find(self, first: int, last: int) -> Lines | None:
        """Where lines of the old text are in the new one; None if they are no longer there."""
        if not self._text or not 1 <= first <= last <= len(self._old):
            return None
        kept, came = self._kept(first - 1, last)
        lines = self._old[first - 1 : last]
        wanted = sum(1 for line in lines if line.strip()) or len(lines)
        there = sum(1 for at in kept.values() if self._new[at].strip()) if any(line.strip() for line in lines) else len(kept)
        if kept and 2 * there >= wanted:
            places = [*kept.values(), *came]
            return min(places) + 1, max(places) + 1
        return find_block(self._new, lines, near=first, above=self._old[: first - 1][-3:], below=self._old[last : last + 3])

    def _kept(self, start: int, end: int) -> tuple[dict[int, int], list[int]]:
        """Of the old lines ``start`` to before ``end``: those that are unchanged with their new places, and the new places of
        what replaced others among them."""
        kept: dict[int, int] = {}
        came: list[int] = []
        at, shift = start, 0
        for one in self._changes:
            if one.old_start >= end:
                break
            if one.old_end > start:
                kept.update((line, line + shift) for line in range(at, max(at, one.old_start)))
                if one.old_start >= start and one.old_end <= end and one.old_end > one.old_start:
                    came += [place for place in (one.new_start, one.new_end - 1) if one.new_end > one.new_start]
                at = max(at, one.old_end)
            shift = one.new_end - one.old_end
        kept.update((line, line + shift) for line in range(at, end))
        return kept, came


def find_block(
    lines: Sequence[str], block: Sequence[str], *, near: int, above: Sequence[str] = (), below: Sequence[str] = ()
) -> Lines | None:
    """Where a block of lines stands as a whole, exactly or with other blanks; of several places the one with most of the lines
    ``above`` and ``below`` around it, if that is one only. ``near`` (from 1) is where it stood: it decides for a block that
    stands there still, and for nothing else."""
    if not block:
        return None
    for same in (str, _without_blanks):
        wanted = [same(line) for line in block]
        key = next((index for index, line in enumerate(wanted) if line.strip()), 0)
        there = [same(line) for line in lines]
        found = [
            at - key
            for at, line in enumerate(there)
            if line == wanted[key] and at >= key and there[at - key : at - key + len(wanted)] == wanted
        ]
        if found:
            scores = [_around(there, at, len(wanted), [*map(same, above)], [*map(same, below)]) for at in found]
            return _best(found, scores, len(wanted), near, distinct=_letters(wanted) >= _DISTINCT)
    return None


def _best(found: Sequence[int], scores: Sequence[int], count: int, near: int, *, distinct: bool) -> Lines | None:
    most = max(scores)
    best = [at for at, score in zip(found, scores, strict=True) if score == most]
    if len(best) > 1:
        best = [at for at in best if at == near - 1]
    if len(best) != 1 or not ((distinct and len(found) == 1) or most or best[0] == near - 1):
        return None
    return best[0] + 1, best[0] + count


def _around(lines: Sequence[str], at: int, count: int, above: Sequence[str], below: Sequence[str]) -> int:
    """How many of the lines next to a place are those that stood next to the block, from the block outwards."""
    score = 0
    for step, line in enumerate(reversed(above), 1):
        if at - step < 0 or lines[at - step] != line:
            break
        score += 1
    for step, line in enumerate(below):
        if at + count + step >= len(lines) or lines[at + count + step] != line:
            break
        score += 1
    return score


def _letters(block: Sequence[str]) -> int:
    return sum(char.isalnum() for line in block for char in line)


def _without_blanks(line: str) -> str:
    return " ".join(line.split())
