"""What is chosen in a diff: a run of text on one side, told in lines and columns of that side, and that text exactly.

Independent of layout and folds: hidden lines between the ends are chosen too. Pure; no Qt.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from vibekit_desktop.core.types.diffs import DiffSide

_NO_LINES: tuple[int, ...] = ()
_ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}


class Place(NamedTuple):
    """Before the character ``column`` (from 0, in code points) of line ``line`` (from 1)."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Selection:
    """From where the person began (``anchor``) to where they are (``head``), on one side."""

    side: int
    anchor: Place
    head: Place

    @property
    def first(self) -> Place:
        """Its upper end."""
        return min(self.anchor, self.head)

    @property
    def last(self) -> Place:
        """Its lower end."""
        return max(self.anchor, self.head)

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it."""
        return self.anchor == self.head

    def lines(self) -> tuple[int, int]:
        """First and last line it touches; a line it only begins before is not touched."""
        first, last = self.first, self.last
        below = last.line - 1 if last.column == 0 and last.line > first.line else last.line
        return first.line, below

    def within(self, line: int, length: int) -> tuple[int, int, bool] | None:
        """The columns chosen in a line of ``length`` characters, and whether its end is chosen too; None: not touched."""
        first, last = self.first, self.last
        if self.empty or not first.line <= line <= last.line:
            return None
        start = min(first.column, length) if line == first.line else 0
        if line < last.line:
            return start, length, True
        end = min(last.column, length)
        return (start, end, False) if end > start else None


def whole_lines(side: DiffSide, which: int, anchor: int, head: int) -> Selection:
    """The lines between two, whole, without the end of the last."""
    if anchor <= head:
        return Selection(which, Place(anchor, 0), Place(head, len(side.lines[head - 1])))
    return Selection(which, Place(anchor, len(side.lines[anchor - 1])), Place(head, 0))


def everything(side: DiffSide, which: int) -> Selection:
    """The whole side, its last line end included."""
    count = len(side.lines)
    end = Place(count + 1, 0) if side.final_newline else Place(count, len(side.lines[-1]) if count else 0)
    return Selection(which, Place(1, 0), end)


def parts_of(selection: Selection, lines: int) -> Iterator[Selection]:
    """The same in parts of at most so many lines, in the order of the text."""
    start, last = selection.first, selection.last
    while last.line - start.line > lines:
        end = Place(start.line + lines, 0)
        yield Selection(selection.side, start, end)
        start = end
    yield Selection(selection.side, start, last)


def text_of(side: DiffSide, selection: Selection, crlf: Container[int] = _NO_LINES) -> str:
    """The chosen text as it is in the file. ``crlf``: which lines end in CRLF, where a side has both kinds of ends."""
    first, last = selection.first, selection.last
    if selection.empty or first.line > len(side.lines):
        return ""
    lines = list(side.lines[first.line - 1 : last.line])
    beyond = last.line > len(side.lines)
    if not beyond:
        lines[-1] = lines[-1][: last.column]
    lines[0] = lines[0][first.column :]
    end = _ENDS.get(side.line_ending)
    if end is not None:
        return end.join(lines) + (end if beyond else "")
    ends = ["\r\n" if number in crlf else "\n" for number in range(first.line, first.line + len(lines))]
    if not beyond:
        ends[-1] = ""
    return "".join(piece for pair in zip(lines, ends, strict=True) for piece in pair)
