"""Where code begins and ends in a message that is written in Markdown: fences over lines, runs of backticks within one.

Everything here takes time in proportion to the text, whatever the text is. Pure; any thread.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*(.*)")
_TICKS = re.compile("`+")
_FAR = 4


@dataclass(frozen=True, slots=True)
class Fence:
    """The line that opens a block of code: how far it stands in, its run of marks, and the first word after it."""

    indent: int
    run: str
    language: str

    def is_closed_by(self, line: str) -> bool:
        """Whether ``line`` ends the block. A block that stands far in is one of a list, where the end may stand anywhere."""
        text = line.strip()
        if len(text) < len(self.run) or text.strip(self.run[0]):
            return False
        return self.indent >= _FAR or indent_of(line) < _FAR


def fence_of(line: str) -> Fence | None:
    """The block of code that a line outside of one opens."""
    found = _FENCE.fullmatch(line)
    if found is None or (found[1][0] == "`" and "`" in found[2]):
        return None
    words = found[2].split(None, 1)
    return Fence(indent_of(line), found[1], words[0] if words else "")


def indent_of(line: str) -> int:
    """How many columns a line stands in."""
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blank.expandtabs(4))


def spans(line: str) -> Iterator[tuple[int, str]]:
    """The pieces of a line, which together are the line: text (0), and code with how many backticks stand on each side of it.

    Code ends at the next run of backticks that is as long as the one that began it; a run without such a partner is text.
    """
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(line)]
    if not runs:
        yield 0, line
        return
    partner: list[int] = [-1] * len(runs)
    seen: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        length = runs[number][1] - runs[number][0]
        partner[number] = seen.get(length, -1)
        seen[length] = number
    place = number = 0
    while number < len(runs):
        start, end = runs[number]
        other = partner[number]
        if other < 0:
            number += 1
            continue
        if start > place:
            yield 0, line[place:start]
        place = runs[other][1]
        yield end - start, line[start:place]
        number = other + 1
    if place < len(line):
        yield 0, line[place:]


def longest_run(text: str) -> int:
    """The length of the longest run of backticks in a text."""
    return max((found.end() - found.start() for found in _TICKS.finditer(text)), default=0)
