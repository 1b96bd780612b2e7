"""How many lines more than one the rows of a wrapped diff take, looked at block by block.

A block that nobody looked at counts as unwrapped, so that a large file can be shown before it was measured. Pure; no Qt.
"""

from array import array
from collections.abc import Callable
from itertools import accumulate

BLOCK = 64

UNKNOWN, ESTIMATED, EXACT = range(3)


class ExtraLines:
    """Invariant: `above` is the sum over all rows before, as far as their blocks were measured.

    ``measure(index, exact)`` gives the lines a row takes beyond its first; ``exact`` where it is about to be painted.
    """

    def __init__(self, count: int, measure: Callable[[int, bool], int]) -> None:
        self._count = count
        self._measure = measure
        blocks = -(-count // BLOCK)
        self._sums = array("i", bytes(4 * blocks))
        self._known = bytearray(blocks)
        self._inside: dict[int, array[int]] = {}
        self._above: list[int] | None = None
        self._next = 0

    def above(self, index: int) -> int:
        """Lines beyond the first of all rows before ``index`` together."""
        if not self._count:
            return 0
        if self._above is None:
            self._above = list(accumulate(self._sums, initial=0))
        block, place = divmod(index, BLOCK)
        inside = self._inside.get(block)
        return self._above[block] + (inside[place] if inside is not None else 0)

    def of(self, index: int) -> int:
        """Lines beyond the first of one row."""
        inside = self._inside.get(index // BLOCK)
        place = index % BLOCK
        return inside[place + 1] - inside[place] if inside is not None else 0

    def look(self, index: int) -> bool:
        """Measure the block of a row exactly; whether a height changed."""
        return self._look(index // BLOCK, EXACT)

    def look_on(self) -> bool:
        """Measure the next block nobody looked at; False when there is none left."""
        while self._next < len(self._known) and self._known[self._next]:
            self._next += 1
        if self._next == len(self._known):
            return False
        self._look(self._next, ESTIMATED)
        return True

    def _look(self, block: int, how: int) -> bool:
        if self._known[block] >= how:
            return False
        self._known[block] = how
        first = block * BLOCK
        found = [self._measure(index, how == EXACT) for index in range(first, min(self._count, first + BLOCK))]
        inside = array("i", accumulate(found, initial=0))
        former = self._inside.get(block)
        if former == inside or (former is None and not inside[-1]):
            return False
        self._inside[block] = inside
        self._sums[block] = inside[-1]
        self._above = None
        return True
