"""The small diff inside a tool card, from the fragments the agent told. Bounded; pure; any thread.

Fragments are never whole files, so a line number is known only where the fragment stands at one place of the file, or where the
agent said at which line it was looking.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache

from vibekit_desktop.core.types.chats import DiffFragment

_MOST = 1_500
"""Longer fragments are counted, not compared."""

_LARGEST = 8 << 20
"""Of a file that a fragment is looked for in; a place after that is not found."""
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MiniLine:
    """One line as it is: ``sign`` is ``+``, ``-`` or empty; ``marks`` are the changed words as (start, end); ``at``: which
    line of the fragment it is on its side, from 0."""

    sign: str
    text: str
    number: int = 0
    marks: tuple[tuple[int, int], ...] = ()
    at: int = field(default=0, compare=False)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


@lru_cache(maxsize=256)
def compare(old: str, new: str, first: tuple[int, int] = (0, 0)) -> tuple[MiniLine, ...]:
    """The lines of one fragment: what went, what came, one line of context around unless it is blank. ``first``: the numbers of
    the first lines of both sides, 0 = not known."""
    before, after = _lines(old), _lines(new)
    if len(before) + len(after) > _MOST:
        return (*_side("-", before, 0, first[0]), *_side("+", after, 0, first[1]))
    result: list[MiniLine] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(1):
        lines: list[MiniLine] = []
        for kind, i, i_end, j, j_end in group:
            if kind == "equal":
                lines += _side("", after[j:j_end], j, first[1])
                continue
            marks = _all_marks(before[i:i_end], after[j:j_end])
            lines += _side("-", before[i:i_end], i, first[0], [one for one, _ in marks])
            lines += _side("+", after[j:j_end], j, first[1], [two for _, two in marks])
        while lines and not lines[0].sign and not lines[0].text.strip():
            del lines[0]
        while lines and not lines[-1].sign and not lines[-1].text.strip():
            del lines[-1]
        result += lines
    return tuple(result)


_Marks = tuple[tuple[int, int], ...]


def _side(sign: str, lines: Sequence[str], at: int, first: int, marks: Sequence[_Marks] = ()) -> list[MiniLine]:
    """Lines of one side, the first of which is the line ``at`` of the fragment."""
    return [
        MiniLine(sign, line, first and first + at + n, marks[n] if n < len(marks) else (), at + n)
        for n, line in enumerate(lines)
    ]


def _all_marks(gone: Sequence[str], come: Sequence[str]) -> list[tuple[_Marks, _Marks]]:
    return [_marks(old, new) for old, new in zip(gone, come, strict=False)] if len(gone) <= 50 else []


def places(fragments: Sequence[DiffFragment], before: bytes | None, after: bytes | None) -> tuple[tuple[int, int], ...]:
    """The numbers of the lines at which each fragment begins in a file before and after, 0 where it stands at no place, or at
    more than one."""
    old, new = _text(before), _text(after)
    return tuple((_place(old, one.old_text), _place(new, one.new_text)) for one in fragments)


def _text(data: bytes | None) -> str:
    return (data or b"")[:_LARGEST].decode("utf-8", "replace").replace("\r\n", "\n")


def _place(text: str, fragment: str) -> int:
    sought = fragment.replace("\r\n", "\n")
    found = text.find(sought) if sought.strip() else -1
    if found < 0 or text.find(sought, found + 1) >= 0:
        return 0
    return text.count("\n", 0, found) + 1


def _marks(old: str, new: str) -> tuple[_Marks, _Marks]:
    """The middle that differs, on word bounds; nothing where less than 40% of the line stays."""
    a, b = _WORD.findall(old[:500]), _WORD.findall(new[:500])
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    start = len("".join(a[:head]))
    end = len("".join(a[len(a) - tail :])) if tail else 0
    if start + end < 0.4 * max(len(old), len(new)) or len(old) > 500 or len(new) > 500:
        return (), ()
    left = ((start, len(old) - end),) if start < len(old) - end else ()
    right = ((start, len(new) - end),) if start < len(new) - end else ()
    return left, right


@lru_cache(maxsize=4096)
def counts(old: str, new: str) -> tuple[int, int]:
    """Lines added and deleted by one fragment."""
    before, after = _lines(old), _lines(new)
    if not before or not after or len(before) + len(after) > _MOST:
        return len(after), len(before)
    added = removed = 0
    for kind, i, i_end, j, j_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            added += j_end - j
            removed += i_end - i
    return added, removed
