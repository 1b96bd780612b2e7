"""Two byte strings in, a diff document or a reason out.

Facts about the whole file (line ends, mode, encoding, last newline) are said once in notes, never as changed lines.
Pure; any thread; nothing is raised for ordinary data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.diff.hunks import Rows, lay_out
from vibekit_desktop.core.diff.lines import Change, changes
from vibekit_desktop.core.diff.text import Text, comparable, line_ending, only_whitespace_differs, read, side
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
    Note,
    TooLarge,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest side that is laid out; None is without limit."""

    lines: int | None = 100_000
    size_bytes: int | None = 8 << 20


DEFAULT = Limits()
UNLIMITED = Limits(lines=None, size_bytes=None)


class Cancelled(Exception):
    """The caller's ``cancelled`` said yes between two steps."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What comparing two texts found, without the texts: small enough to travel between processes."""

    rows_old: bytes
    rows_new: bytes
    hunks: tuple[Hunk, ...]
    notes: tuple[DiffNote, ...]
    lines_added: int
    lines_removed: int


@dataclass(frozen=True, slots=True)
class _Found:
    """The same, with the texts."""

    old: DiffSide
    new: DiffSide
    rows: Rows
    hunks: tuple[Hunk, ...]
    notes: tuple[DiffNote, ...]
    lines_added: int
    lines_removed: int


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
    modes = _mode_note(old, new, old_mode, new_mode)
    found = _find(old, new, modes, how=how, limits=limits, cancelled=cancelled)
    if not isinstance(found, _Found):
        return found
    return DiffDocument(
        old=found.old,
        new=found.new,
        rows=found.rows,
        hunks=found.hunks,
        notes=found.notes,
        lines_added=found.lines_added,
        lines_removed=found.lines_removed,
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
    modes = _mode_note(old, new, old_mode, new_mode)
    found = _find(old, new, modes, how=how, limits=limits, cancelled=None)
    if not isinstance(found, _Found):
        return found
    rows_old, rows_new = found.rows.packed
    return Comparison(
        rows_old=rows_old,
        rows_new=rows_new,
        hunks=found.hunks,
        notes=found.notes,
        lines_added=found.lines_added,
        lines_removed=found.lines_removed,
    )


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
        return TooLarge(len(old or b""), len(new or b""))
    before, after = read(old or b""), read(new or b"")
    if before is None or after is None:
        return BinaryPair(None if old is None else len(old), None if new is None else len(new))
    if limits.lines is not None and max(before.line_count, after.line_count) > limits.lines:
        return TooLarge(len(old or b""), len(new or b""))
    _stop(step)
    found = changes(*comparable(before, after, how))
    _stop(step)
    left, right = side(None if old is None else before), side(None if new is None else after)
    rows, hunks = lay_out(left.lines, right.lines, found)
    _stop(step)
    notes = modes
    if old is not None and new is not None:
        told = not found and how == EXACT
        notes += _text_notes(before, after, told=told, words_differ=bool(found) and _words_differ(left, right, found[0]))
    return _Found(
        old=left,
        new=right,
        rows=rows,
        hunks=hunks,
        notes=notes,
        lines_added=sum(one.new_end - one.new_start for one in found),
        lines_removed=sum(one.old_end - one.old_start for one in found),
    )


def assemble(old: bytes | None, new: bytes | None, found: Comparison) -> DiffDocument:
    """The document of two contents and what `compare` found in them."""
    return DiffDocument(
        old=side(None if old is None else read(old)),
        new=side(None if new is None else read(new)),
        rows=Rows.unpack(found.rows_old, found.rows_new),
        hunks=found.hunks,
        notes=found.notes,
        lines_added=found.lines_added,
        lines_removed=found.lines_removed,
    )


def _stop(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled


def _mode_note(old: bytes | None, new: bytes | None, old_mode: int | None, new_mode: int | None) -> tuple[DiffNote, ...]:
    if old is None or new is None or old_mode is None or new_mode is None or old_mode == new_mode:
        return ()
    return (DiffNote(Note.MODE, f"{old_mode:03o}", f"{new_mode:03o}"),)


def _text_notes(old: Text, new: Text, *, told: bool, words_differ: bool) -> tuple[DiffNote, ...]:
    """Facts about two texts that both exist and have different bytes.

    ``told`` if the other notes are all there is to tell; ``words_differ`` if it is known that not only whitespace differs.
    """
    notes: list[DiffNote] = []
    if old.encoding != new.encoding and not _ascii_beside_guess(old, new):
        notes.append(DiffNote(Note.ENCODING, old.encoding, new.encoding))
    ends = (line_ending(old), line_ending(new))
    counts_differ = ends == ("mixed", "mixed") and old.line_ends != new.line_ends
    if ("none" not in ends and ends[0] != ends[1]) or counts_differ:
        notes.append(DiffNote(Note.LINE_ENDINGS, *ends))
    if old.raw and new.raw and old.final_newline != new.final_newline:
        notes.append(DiffNote(Note.FINAL_NEWLINE, _yes(old.final_newline), _yes(new.final_newline)))
    if old.invalid or new.invalid:
        notes.append(DiffNote(Note.INVALID_BYTES, str(old.invalid), str(new.invalid)))
    if not (told and notes) and not words_differ and only_whitespace_differs(old, new):
        # Also the last word where nothing else accounts for the difference, so that different bytes never look equal.
        notes.append(DiffNote(Note.ONLY_WHITESPACE, "", ""))
    return tuple(notes)


def _words_differ(old: DiffSide, new: DiffSide, first: Change) -> bool:
    """Whether the first change alone shows that not only whitespace differs; spares looking at the whole of both texts."""
    one = "".join("".join(old.lines[first.old_start : first.old_end]).split())
    other = "".join("".join(new.lines[first.new_start : first.new_end]).split())
    return not one.startswith(other) and not other.startswith(one)


def _ascii_beside_guess(old: Text, new: Text) -> bool:
    """Plain ASCII is also Latin-1: a first accented letter is no change of encoding."""
    return any(
        one.encoding == "Latin-1?" and other.encoding == "UTF-8" and other.raw.isascii() for one, other in _both(old, new)
    )


def _both(old: Text, new: Text) -> Sequence[tuple[Text, Text]]:
    return ((old, new), (new, old))


def _yes(value: bool) -> str:
    return "yes" if value else "no"
