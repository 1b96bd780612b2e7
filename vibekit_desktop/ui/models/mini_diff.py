"""The small diff inside a tool card, from the fragments the agent told. Bounded; pure; any thread.

Fragments are never whole files, so a line number is known only where the agent said at which line it was looking.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

_MOST = 1_500
"""Longer fragments are counted, not compared."""

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MiniLine:
    """One line as it is: ``sign`` is ``+``, ``-`` or empty; ``marks`` are the changed words as (start, end)."""

    sign: str
    text: str
    number: int = 0
    marks: tuple[tuple[int, int], ...] = ()


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


@lru_cache(maxsize=256)
def compare(old: str, new: str, first_line: int = 0) -> tuple[MiniLine, ...]:
    """The lines of one fragment: what went, what came, one line of context around."""
    before, after = _lines(old), _lines(new)
    if len(before) + len(after) > _MOST:
        gone = [MiniLine("-", line) for line in before]
        return (*gone, *(MiniLine("+", line) for line in after))
    result: list[MiniLine] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    groups = list(matcher.get_grouped_opcodes(1))
    for group in groups:
        for kind, i, i_end, j, j_end in group:
            if kind == "equal":
                result += [MiniLine("", line, first_line and first_line + j + n) for n, line in enumerate(after[j:j_end])]
                continue
            result += _changed(before[i:i_end], after[j:j_end], first_line and first_line + i, first_line and first_line + j)
    return tuple(result)


def _changed(gone: Sequence[str], come: Sequence[str], old_line: int, new_line: int) -> list[MiniLine]:
    marks = [_marks(old, new) for old, new in zip(gone, come, strict=False)] if len(gone) <= 50 else []
    blank: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]] = ((), ())
    lines = [
        MiniLine("-", line, old_line and old_line + n, (marks[n] if n < len(marks) else blank)[0])
        for n, line in enumerate(gone)
    ]
    lines += [
        MiniLine("+", line, new_line and new_line + n, (marks[n] if n < len(marks) else blank)[1])
        for n, line in enumerate(come)
    ]
    return lines


def _marks(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
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
