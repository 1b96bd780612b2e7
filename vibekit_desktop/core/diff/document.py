"""Two byte strings in, a diff document or a reason out.

Facts about the whole file (line ends, mode, encoding, last newline) are said once in notes, never as changed lines.
Pure; any thread; nothing is raised for ordinary data.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.diff.hunks import Rows, lay_out
from vibekit_desktop.core.diff.kinds import is_image
from vibekit_desktop.core.diff.lines import Change, counted
from vibekit_desktop.core.diff.moves import moves
from vibekit_desktop.core.diff.notes import mode_note, text_notes
from vibekit_desktop.core.diff.sides import Lines, cut, table_of
from vibekit_desktop.core.diff.text import BLANKS, Text, comparable, read, side
from vibekit_desktop.core.types.diffs import (
    EXACT,
    BinaryPair,
    Compare,
    DiffDocument,
    DiffNote,
    DiffResult,
    DiffSide,
    Hunk,
    Identical,
    Ignore,
    Move,
    TooLarge,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest side that is laid out; None is without limit."""

    lines: int | None = 100_000
    size_bytes: int | None = 8 << 20


DEFAULT = Limits()
UNLIMITED = Limits(lines=None, size_bytes=None)


_BEGINNING = 200
_GLANCE = 8_000


class Cancelled(Exception):
    """The caller's ``cancelled`` said yes between two steps."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What comparing two texts found, without the texts: small enough to travel between processes."""

    old: "Side | None"
    new: "Side | None"
    rows_old: bytes
    rows_new: bytes
    hunks: tuple[Hunk, ...]
    notes: tuple[DiffNote, ...]
    lines_added: int
    lines_removed: int
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """What was found out about one text. ``raw`` only where it is not the content itself after its mark of ``mark`` bytes."""

    codec: str
    encoding: str
    line_ending: str
    final_newline: bool
    size: int
    lengths: bytes
    mark: int
    raw: bytes | None


@dataclass(frozen=True, slots=True)
class _Found:
    """The same, with the texts and the tables of their lines."""

    old: Text | None
    new: Text | None
    tables: tuple["array[int]", "array[int]"]
    rows: Rows
    hunks: tuple[Hunk, ...]
    notes: tuple[DiffNote, ...]
    lines_added: int
    lines_removed: int
    moves: tuple[Move, ...]


def build(
    old: bytes | None,
    new: bytes | None,
    *,
    old_mode: int | None = None,
    new_mode: int | None = None,
    how: Compare = EXACT,
    limits: Limits = DEFAULT,
    cancelled: Callable[[], bool] | None = None,
) -> DiffResult:
    """The diff of two contents; None is a file that is not there. Raises `Cancelled` only if ``cancelled`` says so."""
    modes = () if old is None or new is None else mode_note(old_mode, new_mode)
    found = _find(old, new, modes, how=how, limits=limits, cancelled=cancelled)
    if not isinstance(found, _Found):
        return found
    return DiffDocument(
        old=_shown(found.old, found.tables[0]),
        new=_shown(found.new, found.tables[1]),
        rows=found.rows,
        hunks=found.hunks,
        notes=found.notes,
        lines_added=found.lines_added,
        lines_removed=found.lines_removed,
        moves=found.moves,
    )


def compare(
    old: bytes | None,
    new: bytes | None,
    *,
    old_mode: int | None = None,
    new_mode: int | None = None,
    how: Compare = EXACT,
    limits: Limits = DEFAULT,
) -> Comparison | Identical | BinaryPair | TooLarge:
    """`build` for another process, which has the texts already: `assemble` puts the two together there."""
    modes = () if old is None or new is None else mode_note(old_mode, new_mode)
    found = _find(old, new, modes, how=how, limits=limits, cancelled=None)
    if not isinstance(found, _Found):
        return found
    rows_old, rows_new = found.rows.packed
    return Comparison(
        old=_found_side(found.old, old, found.tables[0]),
        new=_found_side(found.new, new, found.tables[1]),
        rows_old=rows_old,
        rows_new=rows_new,
        hunks=found.hunks,
        notes=found.notes,
        lines_added=found.lines_added,
        lines_removed=found.lines_removed,
        moves=found.moves,
    )


def _too_large(old: bytes | None, new: bytes | None) -> TooLarge:
    return TooLarge(len(old or b""), len(new or b""), _lines_at_a_glance(old), _lines_at_a_glance(new))


def _lines_at_a_glance(data: bytes | None) -> int | None:
    """How many lines a large text has, without decoding it; None where it is none, or one of wide characters."""
    if data is None or b"\0" in data[:_GLANCE]:
        return None
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def _find(
    old: bytes | None,
    new: bytes | None,
    modes: tuple[DiffNote, ...],
    *,
    how: Compare,
    limits: Limits,
    cancelled: Callable[[], bool] | None,
) -> _Found | Identical | BinaryPair | TooLarge:
    step = cancelled or (lambda: False)
    if old == new:
        return Identical(len(old or b""), modes)
    if limits.size_bytes is not None and max(len(old or b""), len(new or b"")) > limits.size_bytes:
        return _too_large(old, new)
    before, after = read(old or b""), read(new or b"")
    if before is None or after is None:
        sizes = (None if old is None else len(old), None if new is None else len(new))
        return BinaryPair(*sizes, old_image=is_image(old), new_image=is_image(new), notes=modes)
    if limits.lines is not None and max(before.line_count, after.line_count) > limits.lines:
        lines = (None if old is None else before.line_count, None if new is None else after.line_count)
        return TooLarge(len(old or b""), len(new or b""), *lines)
    _stop(step)
    first, second = comparable(before, after, how)
    found, passed = counted(first, second, blank_lines=how.blank_lines)
    _stop(step)
    old_lines, new_lines = cut(before.raw), cut(after.raw)
    codec = after.codec if new_lines else before.codec
    rows, hunks = lay_out(old_lines, new_lines, found, passed, codec)
    _stop(step)
    if how.ignore is Ignore.NOTHING and before.codec == after.codec and b"\r" not in before.raw and b"\r" not in after.raw:
        moved = moves(old_lines, new_lines, found)
    else:
        moved = moves(cut(first), cut(second), found)
    _stop(step)
    there = (None if old is None else before, None if new is None else after)
    told = not found and how == EXACT
    words_differ = bool(found) and before.codec == after.codec and _words_differ(old_lines, new_lines, found[0])
    return _Found(
        old=there[0],
        new=there[1],
        tables=(table_of(old_lines), table_of(new_lines)),
        rows=rows,
        hunks=hunks,
        notes=modes + text_notes(*there, told=told, words_differ=words_differ),
        lines_added=sum(one.new_end - one.new_start for one in found),
        lines_removed=sum(one.old_end - one.old_start for one in found),
        moves=moved,
    )


def _shown(text: Text | None, table: "array[int]") -> DiffSide:
    return side(None) if text is None else side(text, Lines(text.raw, table, text.codec))


def _found_side(text: Text | None, data: bytes | None, table: "array[int]") -> Side | None:
    if text is None or data is None:
        return None
    shown = side(text, ())
    as_it_is = data.endswith(text.raw)
    return Side(
        codec=text.codec,
        encoding=shown.encoding,
        line_ending=shown.line_ending,
        final_newline=shown.final_newline,
        size=shown.size,
        lengths=table.tobytes(),
        mark=len(data) - len(text.raw) if as_it_is else 0,
        raw=None if as_it_is else text.raw,
    )


def assemble(old: bytes | None, new: bytes | None, found: Comparison) -> DiffDocument:
    """The document of two contents and what `compare` found in them. Costs nothing by the line."""
    return DiffDocument(
        old=_assembled(old, found.old),
        new=_assembled(new, found.new),
        rows=Rows.unpack(found.rows_old, found.rows_new),
        hunks=found.hunks,
        notes=found.notes,
        lines_added=found.lines_added,
        lines_removed=found.lines_removed,
        moves=found.moves,
    )


def _assembled(data: bytes | None, found: Side | None) -> DiffSide:
    if data is None or found is None:
        return side(None)
    raw = found.raw
    if raw is None:
        raw = data[found.mark :] if found.mark else data
    return DiffSide(
        lines=Lines(raw, array("I", found.lengths), found.codec),
        exists=True,
        encoding=found.encoding,
        line_ending=found.line_ending,
        final_newline=found.final_newline,
        size=found.size,
    )


def _stop(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled


def _words_differ(old: Sequence[bytes], new: Sequence[bytes], first: Change) -> bool:
    """Whether the texts from the first change on show that not only whitespace differs: what is left of them without blanks
    would begin alike. Spares looking at the whole of both."""
    one = b"".join(old[first.old_start : first.old_start + _BEGINNING]).translate(None, BLANKS)
    other = b"".join(new[first.new_start : first.new_start + _BEGINNING]).translate(None, BLANKS)
    return not one.startswith(other) and not other.startswith(one)
