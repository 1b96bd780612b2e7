"""Lay changed lines out as rows, and group them with their context.

Rows cover both files whole. They are kept in two arrays, not as objects: 200,000 rows are made in milliseconds and travel
between processes as bytes. Pure; any thread.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import merge
from typing import overload

from vibekit_desktop.core.diff.lines import Change
from vibekit_desktop.core.diff.pairs import Room, pairs
from vibekit_desktop.core.types.diffs import Hunk, Row, RowKind

CONTEXT = 3

_BEFORE = "export default public private protected internal static abstract final async pub unsafe inline"
_HEADS = "def class function function* func fn impl interface struct enum trait namespace module"
_BEGINNINGS = frozenset(word[:3].ljust(3).encode() for word in f"{_BEFORE} {_HEADS}".split())
_CODE_HEADING = re.compile(
    rf"\s*(?:(?:{'|'.join(_BEFORE.split())}|pub\([a-z]+\))\s+)*(?:{'|'.join(map(re.escape, _HEADS.split()))})(?!\w)".encode()
)
_TEXT_HEADING = re.compile(rb"#{1,6} ")
_HEADING_LENGTH = 120
_NOTHING = -(1 << 31)


class Rows(Sequence[Row]):
    """The row map as a sequence of `Row`. Invariant: both arrays have the same length; line numbers only rise.

    A line number counts from 1, and 0 is no line. A negative new line marks a changed pair. A negative old line marks a line
    that counts as unchanged but is on one side only: that of the old side, or of the new one beside `_NOTHING`.
    """

    __slots__ = ("_new", "_old")

    def __init__(self, old: "array[int]", new: "array[int]") -> None:
        self._old = old
        self._new = new

    @classmethod
    def unpack(cls, old: bytes, new: bytes) -> "Rows":
        """From what `packed` gave, in another process of this machine."""
        return cls(array("i", old), array("i", new))

    @property
    def packed(self) -> tuple[bytes, bytes]:
        """Both arrays as bytes."""
        return self._old.tobytes(), self._new.tobytes()

    def lines_in(self, start: int, end: int) -> tuple[int, int]:
        """How many lines of each side are in some rows, ``end`` not included."""
        old, new = self._old[start:end], self._new[start:end]
        return len(old) - old.count(0) - old.count(_NOTHING), len(new) - new.count(0)

    def __len__(self) -> int:
        return len(self._old)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: "slice[int | None, int | None, int | None]") -> tuple[Row, ...]: ...
    def __getitem__(self, index: "int | slice[int | None, int | None, int | None]") -> Row | tuple[Row, ...]:
        if isinstance(index, slice):
            return tuple(map(_row, self._old[index], self._new[index]))
        return _row(self._old[index], self._new[index])

    def __iter__(self) -> Iterator[Row]:
        return map(_row, self._old, self._new)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Rows):
            return self._old == other._old and self._new == other._new
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # compared by content, and too large to hash

    def __repr__(self) -> str:
        return f"Rows({len(self)})"


def _row(old: int, new: int) -> Row:
    if old < 0:
        return Row(RowKind.SAME, None if old == _NOTHING else -old, new or None)
    if new < 0:
        return Row(RowKind.CHANGED, old, -new)
    if not old:
        return Row(RowKind.ADDED, None, new)
    if not new:
        return Row(RowKind.DELETED, old, None)
    return Row(RowKind.SAME, old, new)


@lru_cache(maxsize=1)
def _numbers(bits: int) -> "array[int]":
    """1, 2, 3 and so on: slices of it are copied, where counting anew would take longer than everything else in a row map."""
    return array("i", range(1, 1 << bits))


class Layout:
    """Fills the row map top down, and remembers which rows each change takes."""

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        self._lines = (old, new)
        self._old = array("i")
        self._new = array("i")
        self._numbers = _numbers(max(len(old), len(new)).bit_length())
        self._room = Room()
        self.spans: list[tuple[int, int]] = []

    def same(self, old_start: int, old_end: int, new_start: int, new_end: int) -> None:
        """Equal lines, from 0, ends not included."""
        self._old += self._numbers[old_start:old_end]
        self._new += self._numbers[new_start:new_end]

    def passed(self, one: Change) -> None:
        """Blank lines that do not count: they stand beside each other, and the rest beside nothing."""
        beside = min(one.old_end - one.old_start, one.new_end - one.new_start)
        self.same(one.old_start, one.old_start + beside, one.new_start, one.new_start + beside)
        for i in range(one.old_start + beside, one.old_end):
            self._old.append(-i - 1)
            self._new.append(0)
        for j in range(one.new_start + beside, one.new_end):
            self._old.append(_NOTHING)
            self._new.append(j + 1)

    def change(self, one: Change) -> None:
        """One block: pairs stand in one row; between them what went stands beside what came, and the rest beside nothing."""
        old_rows, new_rows = self._old, self._new
        first = len(old_rows)
        i, old_end, j, new_end = one
        if old_end > i and new_end > j:
            old, new = self._lines
            found = pairs(old[i:old_end], new[j:new_end], self._room)
            if len(found) == old_end - i == new_end - j:
                old_rows += self._numbers[i:old_end]
                new_rows.extend(range(-j - 1, -new_end - 1, -1))
                self.spans.append((first, len(old_rows) - 1))
                return
            i, j = self._paired(i, j, found)
        self._apart(i, old_end, j, new_end)
        self.spans.append((first, len(old_rows) - 1))

    def _paired(self, first: int, second: int, found: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """The pairs of a block and what stands between them; where the rest begins."""
        i, j = first, second
        for at, to in found:
            self._apart(i, first + at, j, second + to)
            i, j = first + at + 1, second + to + 1
            self._old.append(i)
            self._new.append(-j)
        return i, j

    def _apart(self, old_start: int, old_end: int, new_start: int, new_end: int) -> None:
        went, came = old_end - old_start, new_end - new_start
        if went:
            self._old += self._numbers[old_start:old_end]
            if came:
                beside = min(went, came)
                self._new.extend(range(-new_start - 1, -new_start - 1 - beside, -1))
                new_start += beside
                went -= beside
                came -= beside
            if went:
                self._new.frombytes(bytes(self._new.itemsize * went))
        if came:
            self._old.frombytes(bytes(self._old.itemsize * came))
            self._new += self._numbers[new_start:new_end]

    @property
    def rows(self) -> Rows:
        """What was laid out."""
        return Rows(self._old, self._new)


def lay_out(
    old: Sequence[bytes], new: Sequence[bytes], found: Sequence[Change], passed: Sequence[Change] = (), codec: str = "utf-8"
) -> tuple[Rows, tuple[Hunk, ...]]:
    """The rows of both files, and the hunks in them; ``passed`` are changes that do not count. ``codec`` reads headings."""
    layout = Layout(old, new)
    i = j = 0
    left_out = frozenset(passed)
    for one in merge(found, passed) if passed else found:
        layout.same(i, one.old_start, j, one.new_start)
        if one in left_out:
            layout.passed(one)
        else:
            layout.change(one)
        i, j = one.old_end, one.new_end
    layout.same(i, len(old), j, len(new))
    rows = layout.rows
    return rows, tuple(_hunks(old, new, found, layout.spans, rows, codec, plain=not passed))


def _hunks(
    old: Sequence[bytes],
    new: Sequence[bytes],
    found: Sequence[Change],
    spans: Sequence[tuple[int, int]],
    rows: Rows,
    codec: str,
    *,
    plain: bool,
) -> Iterator[Hunk]:
    """The hunks of a layout; ``plain`` if every row outside the changes has a line on both sides."""
    headings = _Headings(new or old, codec)
    start, end = 0, len(rows) - 1
    following = [first for first, _ in spans[1:]] + [end + 3 * CONTEXT]
    for index, (_, last_change) in enumerate(spans):
        # Changes whose contexts meet are one hunk.
        if following[index] - last_change - 1 <= 2 * CONTEXT:
            continue
        first_change = spans[start][0]
        above = CONTEXT if first_change > CONTEXT else first_change
        below = CONTEXT if end - last_change > CONTEXT else end - last_change
        old_above = new_above = above
        old_below = new_below = below
        if not plain:
            old_above, new_above = rows.lines_in(first_change - above, first_change)
            old_below, new_below = rows.lines_in(last_change + 1, last_change + 1 + below)
        old_start = found[start].old_start - old_above
        new_start = found[start].new_start - new_above
        old_lines = found[index].old_end + old_below - old_start
        new_lines = found[index].new_end + new_below - new_start
        yield Hunk(
            first_change - above,
            last_change + below,
            first_change,
            last_change,
            # A side without lines names the line before, as in every unified diff.
            old_start + 1 if old_lines else old_start,
            old_lines,
            new_start + 1 if new_lines else new_start,
            new_lines,
            headings.above(new_start if new else old_start),
        )
        start = index + 1


class _Headings:
    """The nearest heading above a line; asked top down, every line is looked at once."""

    def __init__(self, lines: Sequence[bytes], codec: str) -> None:
        self._lines = lines
        self._codec = codec
        self._seen = 0
        self._code = ""
        self._text = ""

    def above(self, line: int) -> str:
        """For a line counted from 0; empty if there is none."""
        lines = self._lines
        first, last = self._seen, min(line, len(lines))
        self._seen = max(first, line)
        for above in reversed(lines[first:last]):
            if above.lstrip()[:3] in _BEGINNINGS and _CODE_HEADING.match(above):
                self._code = self._shown(above)
                return self._code
        if self._code:
            return self._code
        for at in range(last - 1, first - 1, -1):
            # With blank lines around it: else it is more likely a comment.
            if _TEXT_HEADING.match(lines[at]) and self._alone(at):
                self._text = self._shown(lines[at])
                break
        return self._text

    def _shown(self, line: bytes) -> str:
        """Bytes that are not text are left out: a heading travels between processes."""
        return line.strip().decode(self._codec, "ignore")[:_HEADING_LENGTH]

    def _alone(self, at: int) -> bool:
        return not any(line.strip() for near in (at - 1, at + 1) for line in self._lines[max(0, near) : near + 1])
