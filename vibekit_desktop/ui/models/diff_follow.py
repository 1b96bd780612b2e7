"""Where what a person looks at has gone when a file is shown again with another content.

Lines are found again by what is above, below and in them; a hunk by its changed lines. Pure; no Qt.
"""

from collections.abc import Mapping, Sequence

from vibekit_desktop.core.types.diffs import DiffDocument, Hunk, RowKind, WordSpans

_AROUND = 2000
_NEAR = 3
_ALIKE = 2 * _NEAR
_CHANGED_ROWS = 400
_HUNKS = 500
_COMPARED = 20_000


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


def common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """How many lines at the top, and how many of the others at the end, are the same; none are looked for in large texts."""
    if max(len(before), len(after)) > _COMPARED:
        return 0, 0
    one, other = tuple(before), tuple(after)
    most = min(len(one), len(other))
    head = next((at for at in range(most) if one[at] != other[at]), most)
    rest = most - head
    tail = next((at for at in range(rest) if one[-1 - at] != other[-1 - at]), rest)
    return head, tail


def kept_words(before: DiffDocument, after: DiffDocument, words: Mapping[int, WordSpans]) -> dict[int, WordSpans]:
    """The changed words of the rows that are in both documents with the same lines."""
    shift = len(after.rows) - len(before.rows)
    found: dict[int, WordSpans] = {}
    for row, spans in words.items():
        for there in (row, row + shift):
            if 0 <= there < len(after.rows) and _texts(before, row) == _texts(after, there):
                found[there] = spans
                break
    return found


def _texts(document: DiffDocument, row: int) -> tuple[str | None, str | None]:
    one = document.rows[row]
    return (
        document.old.lines[one.old_line - 1] if one.old_line else None,
        document.new.lines[one.new_line - 1] if one.new_line else None,
    )


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
