"""Heights of many rows with their sums: find the row at a place and the place of a row in logarithmic time. Pure."""

from collections.abc import Iterable


class Heights:
    """A Fenwick tree of row heights. Invariant: every sum is that of the present heights."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._values = list(heights)
        self._tree = [0, *self._values]
        size = len(self._tree)
        for at in range(1, size):
            parent = at + (at & -at)
            if parent < size:
                self._tree[parent] += self._tree[at]
        self.total = sum(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, row: int) -> int:
        return self._values[row]

    def set(self, row: int, height: int) -> None:
        """Another height for one row."""
        change = height - self._values[row]
        if not change:
            return
        self._values[row] = height
        self.total += change
        at = row + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at

    def top(self, row: int) -> int:
        """Where a row begins: the sum of all before it."""
        total, at = 0, row
        while at > 0:
            total += self._tree[at]
            at -= at & -at
        return total

    def row_at(self, y: int) -> int:
        """The row that covers ``y``; the first above all, the last below all."""
        if not self._values:
            return 0
        at, left = 0, max(0, y)
        step = 1 << (len(self._tree).bit_length() - 1)
        while step:
            following = at + step
            if following < len(self._tree) and self._tree[following] <= left:
                at = following
                left -= self._tree[at]
            step >>= 1
        return min(at, len(self._values) - 1)
