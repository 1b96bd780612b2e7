"""Where what a person looks at has gone when a file is shown again with another content.

Lines are found again by what is above, below and in them; a hunk by its changed lines. Pure; no Qt.
"""

from collections.abc import Sequence

from vibekit_desktop.core.types.diffs import DiffDocument, Hunk, RowKind

_AROUND = 2000
_NEAR = 3
_ALIKE = 2 * _NEAR
_CHANGED_ROWS = 400
_HUNKS = 500


class Follow:
    """From the lines of one text to the same lines of another. Lines count from 1.

    Looks at what is around a line only, so that it costs the same for a file of any size.
    """

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        self._before = before
        self._after = after

    def line(self, number: int) -> int | None:
        """Where a line is now; None if it is gone."""
        here = number - 1
        if not 0 <= here < len(self._before):
            return None
        text = self._before[here]
        # Most changes are below a line or above it: then it is as far from the top, or from the end, as it was.
        places = (here, here + len(self._after) - len(self._before))
        for there in places:
            if 0 <= there < len(self._after) and self._after[there] == text and self._alike(here, there) == _ALIKE:
                return there + 1
        found: set[int] = set()
        for middle in places:
            first = max(0, middle - _AROUND)
            around = self._after[first : max(first, middle + _AROUND)]
            found.update(at for at, other in enumerate(around, first) if other == text)
        if not found:
            return None
        return max(found, key=lambda at: (self._alike(here, at), -min(abs(at - place) for place in places))) + 1

    def near(self, number: int) -> int:
        """Where a line is now, or else the nearest line above that still is."""
        for above in range(number, max(0, number - _AROUND), -1):
            found = self.line(above)
            if found is not None:
                return found
        return max(1, min(number, len(self._after)))

    def _alike(self, here: int, there: int) -> int:
        """How many of the lines around two places are the same; beyond an end of both is the same too."""
        count = 0
        for step in (*range(-_NEAR, 0), *range(1, _NEAR + 1)):
            one, other = here + step, there + step
            inside = (0 <= one < len(self._before), 0 <= other < len(self._after))
            count += self._before[one] == self._after[other] if all(inside) else not any(inside)
        return count


def hunk_again(before: DiffDocument, hunk: int, after: DiffDocument, near: int) -> int | None:
    """The hunk that still has a changed line of an earlier hunk, the one nearest to document row ``near``; None if none has."""
    wanted = _changed(before, before.hunks[hunk])
    hunks = sorted(range(len(after.hunks)), key=lambda index: abs(after.hunks[index].first_change - near))[:_HUNKS]
    return next((index for index in hunks if not wanted.isdisjoint(_changed(after, after.hunks[index]))), None)


def _changed(document: DiffDocument, hunk: Hunk) -> set[tuple[int, str]]:
    found: set[tuple[int, str]] = set()
    for row in document.rows[hunk.first_change : min(hunk.last_change + 1, hunk.first_change + _CHANGED_ROWS)]:
        if row.kind is RowKind.SAME:
            continue
        if row.old_line:
            found.add((0, document.old.lines[row.old_line - 1]))
        if row.new_line:
            found.add((1, document.new.lines[row.new_line - 1]))
    # Blank lines and lone brackets are in every hunk: they tell only of a hunk that has nothing else.
    telling = {pair for pair in found if sum(character.isalnum() for character in pair[1]) > 1}
    return telling or found
