"""Where what a person looks at has gone when a file is shown again with another content.

Lines are found again by what is above, below and in them; a hunk by its changed lines. Pure; no Qt.
"""

from collections.abc import Sequence

from vibekit_desktop.core.types.diffs import DiffDocument, Hunk, RowKind

_CHUNK = 1024
_AROUND = 2000
_NEAR = 3
_CHANGED_ROWS = 400
_HUNKS = 500


class Follow:
    """From the lines of one text to the same lines of another. Lines count from 1."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        self._before = before
        self._after = after
        most = min(len(before), len(after))
        self._head = _common(before, after, most)
        self._tail = _common_end(before, after, most - self._head)

    def line(self, number: int) -> int | None:
        """Where a line is now; None if it is gone."""
        if number <= self._head:
            return number
        if number > len(self._before) - self._tail:
            return number + len(self._after) - len(self._before)
        low, high = self._head, len(self._after) - self._tail
        text = self._before[number - 1]
        middle = min(max(number - 1, low), high)
        first = max(low, middle - _AROUND)
        around = self._after[first : min(high, middle + _AROUND)]
        candidates = [at for at, other in enumerate(around, first) if other == text]
        if not candidates:
            return None
        return max(candidates, key=lambda at: (self._alike(number - 1, at), -abs(at - middle))) + 1

    def near(self, number: int) -> int:
        """Where a line is now, or else the nearest line above that still is."""
        for above in range(number, max(0, number - _AROUND), -1):
            found = self.line(above)
            if found is not None:
                return found
        return max(1, min(number, len(self._after)))

    def _alike(self, here: int, there: int) -> int:
        """How many of the lines around two places are the same."""
        count = 0
        for step in (*range(-_NEAR, 0), *range(1, _NEAR + 1)):
            one, other = here + step, there + step
            if 0 <= one < len(self._before) and 0 <= other < len(self._after):
                count += self._before[one] == self._after[other]
        return count


def _common(before: Sequence[str], after: Sequence[str], most: int) -> int:
    done = 0
    while done < most and before[done : min(most, done + _CHUNK)] == after[done : min(most, done + _CHUNK)]:
        done = min(most, done + _CHUNK)
    while done < most and before[done] == after[done]:
        done += 1
    return done


def _common_end(before: Sequence[str], after: Sequence[str], most: int) -> int:
    one, other = len(before), len(after)
    done = 0
    while done < most:
        step = min(_CHUNK, most - done)
        if before[one - done - step : one - done] != after[other - done - step : other - done]:
            break
        done += step
    while done < most and before[one - done - 1] == after[other - done - 1]:
        done += 1
    return done


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
