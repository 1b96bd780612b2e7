"""Heights of many rows with their sums: find the row at a place and the place of a row without a walk over all. Pure.

Sums are kept per chunk of rows: building costs no more than adding up, and a look-up adds a few hundred numbers.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

_CHUNK = 512


class Heights:
    """Row heights. Invariant: every sum is that of the present heights."""

    def __init__(self, heights: Sequence[int] = ()) -> None:
        self._values = list(heights)
        self._sums = [sum(self._values[at : at + _CHUNK]) for at in range(0, len(self._values), _CHUNK)]
        self.total = sum(self._sums)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, row: int) -> int:
        return self._values[row]

    def set(self, row: int, height: int) -> None:
        """Another height for one row."""
        change = height - self._values[row]
        self._values[row] = height
        self._sums[row // _CHUNK] += change
        self.total += change

    def cut(self, count: int) -> None:
        """Keep the first ``count`` rows."""
        gone = self._values[count:]
        del self._values[count:], self._sums[-(-len(self._values) // _CHUNK) :]
        self.total -= sum(gone)
        if len(self._values) % _CHUNK:
            self._sums[-1] = sum(self._values[(len(self._sums) - 1) * _CHUNK :])

    def add(self, heights: Sequence[int]) -> None:
        """More rows at the end."""
        chunk = len(self._values) // _CHUNK
        self._values += heights
        del self._sums[chunk:]
        self._sums += [sum(self._values[at : at + _CHUNK]) for at in range(chunk * _CHUNK, len(self._values), _CHUNK)]
        self.total += sum(heights)

    def top(self, row: int) -> int:
        """Where a row begins: the sum of all before it."""
        chunk = row // _CHUNK
        return sum(self._sums[:chunk]) + sum(self._values[chunk * _CHUNK : row])

    def row_at(self, y: int) -> int:
        """The row that covers ``y``; the first above all, the last below all."""
        if not self._values or y <= 0:
            return 0
        ends = list(accumulate(self._sums))
        chunk = bisect_right(ends, y)
        if chunk == len(ends):
            return len(self._values) - 1
        first = chunk * _CHUNK
        inside = list(accumulate(self._values[first : first + _CHUNK]))
        return first + bisect_right(inside, y - (ends[chunk - 1] if chunk else 0))
