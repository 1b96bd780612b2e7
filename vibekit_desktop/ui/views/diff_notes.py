"""The sentences about a diff: facts said once above the panes, and reasons why there are no panes.

Pure; no Qt.
"""

from vibekit_desktop.core.types.diffs import (
    BinaryPair,
    DiffDocument,
    DiffNote,
    Identical,
    Note,
    TooLarge,
    Unreadable,
)
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import size_text


def notes_of(result: DiffDocument | Identical | BinaryPair) -> tuple[tuple[str, str], ...]:
    """One (strong, plain) pair per fact, in the order of the document's notes."""
    lines = 0
    if isinstance(result, DiffDocument):
        lines = min(len(result.old.lines), len(result.new.lines))
    return tuple(pair for note in result.notes if (pair := _note(note, lines)) is not None)


def _note(note: DiffNote, lines: int) -> tuple[str, str] | None:
    match note.note:
        case Note.LINE_ENDINGS:
            strong = tr("Line endings changed {old} → {new}.", old=note.old, new=note.new)
            return strong, tr("Shown once here, not as {n} changed lines.", n=lines) if lines > 1 else ""
        case Note.MODE:
            return _mode(note), ""
        case Note.ENCODING:
            return tr("Encoding changed {old} → {new}.", old=note.old, new=note.new), ""
        case Note.ONLY_WHITESPACE:
            return tr("Same text; only whitespace differs."), ""
        case Note.INVALID_BYTES:
            return tr("Some bytes are not text in this encoding."), tr("They are shown as marks.")
        case Note.INVISIBLE:
            strong = tr("Characters that can't be seen: {old} → {new}.", old=note.old, new=note.new)
            return strong, tr("They are shown as marks; copied text has them as they are.")
        case Note.RENAME:
            return tr("Renamed from {old}.", old=visible_name(note.old)), ""
        case Note.TYPE:
            return tr("Was a {old}, is a {new}.", old=note.old, new=note.new), ""
        case Note.FINAL_NEWLINE:
            return None  # Shown in the row under the last line.


def _mode(note: DiffNote) -> str:
    old, new = _bits(note.old), _bits(note.new)
    if old is not None and new is not None:
        if new & 0o111 and not old & 0o111:
            return tr("Permissions changed: now executable.")
        if old & 0o111 and not new & 0o111:
            return tr("Permissions changed: no longer executable.")
    return tr("Permissions changed {old} → {new}.", old=note.old, new=note.new)


def _bits(text: str) -> int | None:
    try:
        return int(text.removeprefix("0o"), 8)
    except ValueError:
        return None


def folded_text(kind: str, document: DiffDocument) -> str:
    """Why a file is not shown at once: "Lock file, 1,240 changed lines."."""
    count = document.lines_added + document.lines_removed
    lines = tr_n("{n} changed line", "{n} changed lines", count)
    match kind:
        case "lock":
            return tr("Lock file, {lines}.", lines=lines)
        case "minified":
            return tr("Minified file, {lines}.", lines=lines)
        case _:
            return tr("Generated file, {lines}.", lines=lines)


def binary_text(result: BinaryPair) -> str:
    """ "Binary file. 212 KB → 198 KB." """
    old = size_text(result.old_size) or tr("nothing")
    new = size_text(result.new_size) or tr("nothing")
    return tr("Binary file. {old} → {new}.", old=old, new=new)


def large_text(result: TooLarge) -> str:
    """The sizes, and the lines of the newer side where they are known."""
    old, new = size_text(result.old_size), size_text(result.new_size)
    size = new if old == new else tr("{old} → {new}", old=old, new=new)
    lines = result.old_lines if result.new_lines is None else result.new_lines
    if lines is None:
        return tr("{size}. Large files are not laid out at once.", size=size)
    how_many = tr_n("{n} line", "{n} lines", lines)
    return tr("{size}, {lines}. Large files are not laid out at once.", size=size, lines=how_many)


def unreadable_text(result: Unreadable) -> str:
    """Why a side can't be shown."""
    copy = tr("The earlier copy") if result.side == "old" else tr("The later copy")
    match result.reason:
        case "damaged" | "blob-corrupt":
            return tr("{copy} is damaged and can't be shown.", copy=copy)
        case "not-captured":
            return tr("{copy} was not kept and can't be shown.", copy=copy)
        case "unknown" | "":
            return tr("{copy} was not recorded and can't be shown.", copy=copy)
        case "not-regular":
            return tr("It is not a plain file and can't be shown.")
        case _:
            return tr("{copy} can't be read: {reason}.", copy=copy, reason=result.reason.replace("-", " "))
