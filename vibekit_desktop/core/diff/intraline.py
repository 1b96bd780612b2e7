"""The changed words inside a changed line.

Computed for the rows about to be painted only. A line of which little is left has no marks: they would be confetti.
Pure; any thread; bounded in time and memory by the caps below.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import Indel

from vibekit_desktop.core.types.diffs import DiffDocument, RowKind, Span, WordSpans

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_JOINER = "\u200d"
_CLOSE = ")]}>\"'`"
_UNCHANGED = 0.4
"""Least share of a line's characters that must be the same on both sides for word marks to help."""
_MOST_TOKENS = 4_000
"""A side with more is marked from its first to its last difference (the comparison needs time and memory for the product)."""

Edit = tuple[int, int, int, int]


def words(document: DiffDocument, first_row: int, last_row: int) -> dict[int, WordSpans]:
    """Marks by row number, for the changed rows from ``first_row`` to ``last_row``, both included."""
    found: dict[int, WordSpans] = {}
    first_row = max(0, first_row)
    for number, row in enumerate(document.rows[first_row : last_row + 1], first_row):
        if row.kind is RowKind.CHANGED and row.old_line is not None and row.new_line is not None:
            spans = between(document.old.lines[row.old_line - 1], document.new.lines[row.new_line - 1])
            if spans is not None:
                found[number] = spans
    return found


def between(old: str, new: str) -> WordSpans | None:
    """The marks of one pair of lines; None if they are equal or too little is the same.

    Where more than the indentation changed, the indentation is not marked and does not count: it says nothing of the words.
    """
    if old == new:
        return None
    text, other = old.lstrip(), new.lstrip()
    left, right = len(old) - len(text), len(new) - len(other)
    if text == other:
        return WordSpans(_span(0, left), _span(0, right))
    edits = _slid(text, other, _joined(text, other, list(_edits(text, other))))
    changed = sum(i2 - i1 + j2 - j1 for i1, i2, j1, j2 in edits)
    if len(text) + len(other) - changed < _UNCHANGED * (len(text) + len(other)):
        return None
    return WordSpans(
        old=tuple(Span(left + i1, left + i2) for i1, i2, _, _ in edits if i1 < i2),
        new=tuple(Span(right + j1, right + j2) for _, _, j1, j2 in edits if j1 < j2),
    )


def _span(start: int, end: int) -> tuple[Span, ...]:
    return (Span(start, end),) if start < end else ()


def _edits(old: str, new: str) -> Iterator[Edit]:
    """What differs, in characters: whole words between the common beginning and the common end."""
    start = _common(old, new)
    # Back to a word's beginning: half a word is never common.
    while start and (_inside(old, start) or _inside(new, start)):
        start -= 1
    end = _common(old[: start - 1 if start else None : -1], new[: start - 1 if start else None : -1])
    while end and (_inside(old, len(old) - end) or _inside(new, len(new) - end)):
        end -= 1
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    first, second = _tokens(before), _tokens(after)
    if not first or not second or max(len(first), len(second)) > _MOST_TOKENS:
        yield start, len(old) - end, start, len(new) - end
        return
    ids: dict[str, int] = {}
    one = [ids.setdefault(token, len(ids)) for token in first]
    other = [ids.setdefault(token, len(ids)) for token in second]
    at, to = _places(first, start), _places(second, start)
    for opcode in Indel.opcodes(one, other):
        if opcode.tag != "equal":
            yield at[opcode.src_start], at[opcode.src_end], to[opcode.dest_start], to[opcode.dest_end]


def _common(old: str, new: str) -> int:
    """How many characters the two begin with in common: by halves, each a comparison at memory speed."""
    low, high = 0, min(len(old), len(new))
    if old[:high] == new[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _inside(text: str, at: int) -> bool:
    """Whether ``at`` is inside a token of ``text``."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if left == _JOINER or _clings(right):
        return not left.isspace()
    return (_wordy(left) and _wordy(right)) or (left.isspace() and right.isspace())


def _wordy(char: str) -> bool:
    return char.isalnum() or char == "_" or _clings(char)


def _clings(char: str) -> bool:
    """Whether a character belongs to the one before: an accent, a vowel sign, a joiner."""
    return char > "\x7f" and (char == _JOINER or unicodedata.category(char)[0] == "M")


def _tokens(text: str) -> list[str]:
    """Words, blanks, and signs one by one; what clings to a character is in one token with it."""
    found: list[str] = _TOKEN.findall(text)
    if text.isascii():
        return found
    tokens: list[str] = []
    for token in found:
        before = tokens[-1] if tokens else ""
        if before and not before.isspace() and _inside(before + token, len(before)):
            tokens[-1] += token
        else:
            tokens.append(token)
    return tokens


def _places(tokens: Sequence[str], start: int) -> list[int]:
    places = [start]
    for token in tokens:
        places.append(places[-1] + len(token))
    return places


def _slid(old: str, new: str, edits: list[Edit]) -> list[Edit]:
    """``f(a)`` in ``g(f(a))``: of two equal brackets or quotes at an end it is the last that came or went."""
    slid: list[Edit] = []
    for number, (i1, i2, j1, j2) in enumerate(edits):
        end, other_end = edits[number + 1][::2] if number + 1 < len(edits) else (len(old), len(new))
        while i1 == i2 and j2 < other_end and new[j1] == new[j2] and new[j1] in _CLOSE:
            i1, i2, j1, j2 = i1 + 1, i2 + 1, j1 + 1, j2 + 1
        while j1 == j2 and i2 < end and old[i1] == old[i2] and old[i1] in _CLOSE:
            i1, i2, j1, j2 = i1 + 1, i2 + 1, j1 + 1, j2 + 1
        slid.append((i1, i2, j1, j2))
    return slid


def _joined(old: str, new: str, edits: list[Edit]) -> list[Edit]:
    """Edits with nothing but blanks between them are one: ``a b`` to ``c d`` is one mark, not two."""
    joined: list[Edit] = []
    for edit in edits:
        if joined:
            i1, i2, j1, j2 = joined[-1]
            if not old[i2 : edit[0]].strip() and not new[j2 : edit[2]].strip():
                joined[-1] = (i1, edit[1], j1, edit[3])
                continue
        joined.append(edit)
    return [_without_common_blanks(old, new, edit) for edit in joined]


def _without_common_blanks(old: str, new: str, edit: Edit) -> Edit:
    i1, i2, j1, j2 = edit
    while i1 < i2 and j1 < j2 and old[i1] == new[j1] and old[i1].isspace():
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1] and old[i2 - 1].isspace():
        i2, j2 = i2 - 1, j2 - 1
    return i1, i2, j1, j2
