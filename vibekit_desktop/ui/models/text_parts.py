"""Where a long text is divided into rows, so that only what is on the screen is laid out. Pure; any thread.

A Markdown text is divided at blank lines where nothing goes on over them: not in a code block, and not before what may belong
to a list, a table or a quotation above. A text that is too long for Markdown, or has a line that is, is divided at line ends,
and where there is none for long between words. While a text grows, what was divided stays so; only its last part changes, and
where the one before that ends.
"""

import re
from functools import lru_cache
from itertools import pairwise

from vibekit_desktop.ui.long_text import MAX_LINE, MAX_RICH

PART = 6_144
"""A part of a Markdown text is at least so long."""
SLICE = 8_192
"""A text that is too long for Markdown has slices of about this size."""
_LATER = MAX_LINE - SLICE
"""So much later a slice may end, where that is the end of a line or a word: no slice is longer than a line may be."""
_EDGE = re.compile(r"^(?:[ ]{0,3}(`{3,}|~{3,})|[ \t]*\n)", re.MULTILINE)
_GOES_ON = frozenset(" \t-*+|>0123456789\n")
"""What a line begins with that may go on with what is above it, though a blank line stands between them."""


def is_rich(text: str) -> bool:
    """Whether it is shown as Markdown."""
    return len(text) <= MAX_RICH and not (len(text) > MAX_LINE and _has_long_line(text))


@lru_cache(maxsize=32)
def _has_long_line(text: str) -> bool:
    """Whether a line that is no code is too long to be laid out in one piece."""
    if _all_short(text):
        return False
    fence, seen, at = "", 0, 0
    for line in text.split("\n"):
        if len(line) > MAX_LINE:
            for edge in _EDGE.finditer(text, seen, at):
                fence = _fence_behind(fence, edge, text)
            seen = at
            if not fence:
                return True
        at += len(line) + 1
    return False


def _all_short(text: str) -> bool:
    """Whether no line is longer than `MAX_LINE`: looked at from line end to line end, as far apart as they may be."""
    at = 0
    while len(text) - at > MAX_LINE:
        end = text.rfind("\n", at, at + MAX_LINE + 1)
        if end < 0:
            return False
        at = end + 1
    return True


def _fence_behind(fence: str, edge: re.Match[str], text: str) -> str:
    """The fence of the code block that goes on behind an edge, empty for none; ``fence``: the one before it."""
    mark = edge[1]
    if not mark:
        return fence
    if not fence:
        return str(mark)
    closes = mark.startswith(fence) and not text[edge.end() : _line_end(text, edge.end())].strip(mark[0] + " ")
    return "" if closes else fence


def count(text: str) -> int:
    """How many parts a text has."""
    return len(_starts(text)) if is_rich(text) else -(-len(text) // SLICE)


def part(text: str, number: int) -> str:
    """One part of a text; empty beyond the last."""
    if not is_rich(text):
        return text[_bound(text, number * SLICE) : _bound(text, (number + 1) * SLICE)].removesuffix("\n")
    starts = _starts(text)
    if number >= len(starts):
        return ""
    end = starts[number + 1] if number + 1 < len(starts) else len(text)
    return text[starts[number] : end].strip("\n")


def slices(text: str) -> list[str]:
    """A text as it is, in slices that are no longer than a line may be; one, if all of it is."""
    if len(text) <= MAX_LINE:
        return [text]
    bounds = [_bound(text, at) for at in range(0, len(text) + SLICE, SLICE)]
    return [text[start:end].removesuffix("\n") for start, end in pairwise(bounds) if start < end]


def sizes(text: str) -> list[int]:
    """About how long each part is."""
    if not is_rich(text):
        return [SLICE] * count(text)
    starts = (*_starts(text), len(text))
    return [end - start for start, end in pairwise(starts)]


def _bound(text: str, at: int) -> int:
    if not 0 < at < len(text):
        return min(at, len(text))
    found = text.find("\n", at, at + _LATER)
    if found < 0:
        found = text.find(" ", at, at + _LATER)
    return found + 1 if found >= 0 else at


_KNOWN = 8_192


@lru_cache(maxsize=32)
def _starts(text: str) -> tuple[int, ...]:
    """Where the parts of a Markdown text begin."""
    if len(text) <= PART:
        return (0,)
    # A text that grows is divided as its beginning was, which is looked at once; no part begins in a code block.
    known = (len(text) - 1) // _KNOWN * _KNOWN
    starts = list(_starts(text[:known])) if known else [0]
    fence = ""
    for edge in _EDGE.finditer(text, starts[-1]):
        if edge[1]:
            fence = _fence_behind(fence, edge, text)
            continue
        at = edge.end()
        if not fence and at - starts[-1] >= PART and at < len(text) and text[at] not in _GOES_ON:
            starts.append(at)
    return tuple(starts)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)
