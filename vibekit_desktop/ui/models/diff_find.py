"""Find a text in a diff: every place on both sides, counted bit by bit so that nothing waits for a large file.

A line that is the same on both sides is one place. Pure; no Qt.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from vibekit_desktop.ui.models.diff_runs import NEW, OLD, Runs

_ROWS = 1000
_LONG = 200_000


class Hit(NamedTuple):
    """Characters ``start`` to ``end`` of the line that one side has in a document row."""

    row: int
    side: int
    start: int
    end: int


class Hits:
    """Places of one text. Invariant: they rise by row, then old before new, then by column.

    `search` fills it: each step looks at about a thousand rows.
    """

    def __init__(self, runs: Runs, text: str, *, match_case: bool = False) -> None:
        self._runs = runs
        self._length = max(1, len(text))
        self._pattern = re.compile(re.escape(text), 0 if match_case else re.IGNORECASE)
        self._rows = array("i")
        self._sides = bytearray()
        self._starts = array("i")
        self._ends = array("i")
        self.whole = not text
        """Whether every row was looked at."""

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Hit:
        return Hit(self._rows[index], self._sides[index], self._starts[index], self._ends[index])

    def in_row(self, row: int) -> Iterator[tuple[int, Hit]]:
        """The places in a row, with their positions among all."""
        first = bisect_left(self._rows, row)
        for index in range(first, bisect_right(self._rows, row, first)):
            yield index, self[index]

    def at_or_after(self, row: int) -> int:
        """The first place from a row on; the first of all if there is none below."""
        index = bisect_left(self._rows, row)
        return index if index < len(self._rows) else 0

    def search(self) -> Iterator[None]:
        """Look at some more rows with every step."""
        for first in range(0, len(self._runs), _ROWS):
            owners, texts = self._chunk(first, min(len(self._runs), first + _ROWS))
            if sum(map(len, texts)) > _LONG:
                for (row, side), text in zip(owners, texts, strict=True):
                    yield from self._long(row, side, text)
            else:
                self._some(owners, texts)
            yield
        self.whole = True

    def _chunk(self, first: int, end: int) -> tuple[list[tuple[int, int]], list[str]]:
        """The lines of some rows, and where each belongs."""
        pairs = self._runs.lines(first, end)
        sides = (self._runs.document.old.lines, self._runs.document.new.lines)
        # The lines of one side in consecutive rows are consecutive: they are had at once.
        numbers = ([old for old, _ in pairs if old], [abs(new) for _, new in pairs if new])
        olds, news = (iter(sides[side][of[0] - 1 : of[-1]] if of else ()) for side, of in enumerate(numbers))
        owners: list[tuple[int, int]] = []
        texts: list[str] = []
        for row, (old, new) in enumerate(pairs, first):
            left = next(olds) if old else None
            right = next(news) if new else None
            if left is not None and (right is None or new < 0 or left != right):
                owners.append((row, OLD))
                texts.append(left)
            if right is not None:
                owners.append((row, NEW))
                texts.append(right)
        return owners, texts

    def _some(self, owners: list[tuple[int, int]], texts: list[str]) -> None:
        joined = "\n".join(texts)
        found = self._pattern.search(joined)
        if found is None:
            return
        begins = list(accumulate((len(text) + 1 for text in texts), initial=0))
        for match in self._pattern.finditer(joined, found.start()):
            at = bisect_right(begins, match.start()) - 1
            self._add(*owners[at], match.start() - begins[at], match.end() - begins[at])

    def _long(self, row: int, side: int, text: str) -> Iterator[None]:
        position = 0
        while position < len(text):
            end = position + _LONG
            reached = end
            for match in self._pattern.finditer(text, position, min(len(text), end + self._length - 1)):
                self._add(row, side, match.start(), match.end())
                reached = max(reached, match.end())
            position = reached
            yield

    def _add(self, row: int, side: int, start: int, end: int) -> None:
        self._rows.append(row)
        self._sides.append(side)
        self._starts.append(start)
        self._ends.append(end)
