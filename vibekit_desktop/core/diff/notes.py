"""Facts about two texts that are said once instead of as changed lines. Pure; any thread."""

import re

from vibekit_desktop.core.diff.text import Text, guessed, line_ending, only_whitespace_differs
from vibekit_desktop.core.types.diffs import DiffNote, Note
from vibekit_desktop.core.types.hidden import HIDDEN

_CONTROLS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r") + b"\x7f"
# Where a hidden character may begin in UTF-8; cheaper than looking at every character of a text.
_PERHAPS = re.compile(
    rb"\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8\x9c|\xe1[\x85\x9e\xa0]|\xe2[\x80\x81]|\xe3\x85|\xef[\xb8\xbb\xbe\xbf]|\xf3\xa0"
)


def mode_note(old_mode: int | None, new_mode: int | None) -> tuple[DiffNote, ...]:
    """The permissions, where both are known and differ."""
    if old_mode is None or new_mode is None or old_mode == new_mode:
        return ()
    return (DiffNote(Note.MODE, f"{old_mode:03o}", f"{new_mode:03o}"),)


def text_notes(old: Text | None, new: Text | None, *, told: bool, words_differ: bool) -> tuple[DiffNote, ...]:
    """Facts about two texts that have different bytes; None is a file that is not there.

    ``told`` if the notes are all there is to tell; ``words_differ`` if it is known that not only whitespace differs.
    """
    notes: list[DiffNote] = []
    if old is not None and new is not None:
        notes += _between(old, new)
    invalid = (old.invalid if old else 0, new.invalid if new else 0)
    if any(invalid):
        notes.append(DiffNote(Note.INVALID_BYTES, *map(str, invalid)))
    hidden = (hidden_in(old) if old else 0, hidden_in(new) if new else 0)
    if any(hidden):
        notes.append(DiffNote(Note.INVISIBLE, *map(str, hidden)))
    if old is None or new is None:
        return tuple(notes)
    accounted = told and any(note.note is not Note.INVISIBLE or note.old != note.new for note in notes)
    if not accounted and not words_differ and only_whitespace_differs(old, new):
        # Also the last word where nothing else accounts for the difference, so that different bytes never look equal.
        notes.append(DiffNote(Note.ONLY_WHITESPACE, "", ""))
    return tuple(notes)


def _between(old: Text, new: Text) -> list[DiffNote]:
    notes: list[DiffNote] = []
    if old.encoding != new.encoding and not _same_for_all_we_know(old, new):
        notes.append(DiffNote(Note.ENCODING, old.encoding, new.encoding))
    ends = (line_ending(old), line_ending(new))
    counts_differ = ends == ("mixed", "mixed") and old.line_ends != new.line_ends
    if ("none" not in ends and ends[0] != ends[1]) or counts_differ:
        notes.append(DiffNote(Note.LINE_ENDINGS, *ends))
    if old.raw and new.raw and old.final_newline != new.final_newline:
        notes.append(DiffNote(Note.FINAL_NEWLINE, _yes(old.final_newline), _yes(new.final_newline)))
    return notes


def _same_for_all_we_know(old: Text, new: Text) -> bool:
    """Plain ASCII is also Latin-1: a first accented letter is no change of encoding, and neither are two guesses."""
    guesses = [guessed(one.encoding) and one.size == len(one.raw) for one in (old, new)]
    if all(guesses):
        return True
    return any(
        guess and other.encoding == "UTF-8" and other.raw.isascii() for guess, other in zip(guesses, (new, old), strict=True)
    )


def hidden_in(text: Text) -> int:
    """How many characters are not seen: direction controls, characters without width, tags, controls. Line ends and tabs are
    none, bytes that are not text are counted elsewhere."""
    raw = text.raw
    if raw.isascii():
        controls = len(raw) - len(raw.translate(None, _CONTROLS))
        return controls + (raw.count(b"\r") - raw.count(b"\r\n") if b"\r" in raw else 0)
    if text.codec == "utf-8" and _PERHAPS.search(raw) is None and raw.translate(None, _CONTROLS + b"\r") == raw:
        return 0
    found = sum(1 for _ in HIDDEN.finditer(text.decoded))
    line_ends = text.decoded.count("\n") + text.decoded.count("\r\n")
    return found - line_ends - (text.invalid if text.encoding.startswith("UTF-8") else 0)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
