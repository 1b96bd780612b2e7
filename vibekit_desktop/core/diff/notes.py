"""Facts about two texts that are said once instead of as changed lines. Pure; any thread."""

import re

from vibekit_desktop.core.diff.text import Text, guessed, line_ending, only_whitespace_differs
from vibekit_desktop.core.types.diffs import DiffNote, Note
from vibekit_desktop.core.types.hidden import HIDDEN

_SEEN = bytes(range(0x20, 0x7F)) + b"\t\n\r"
# Where a hidden character may begin in UTF-8: looking at every character of a large text takes a hundred times as long.
_PERHAPS = re.compile(
    rb"\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8\x9c|\xe1[\x85\x9e\xa0]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]"
    rb"|\xe3\x85\xa4|\xef[\xb8\xbb\xbe\xbf]|\xf3\xa0"
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
    rest = raw.translate(None, _SEEN)
    controls = sum(byte < 0x80 for byte in rest) if rest else 0
    controls += raw.count(b"\r") - text.line_ends[0] if b"\r" in raw else 0
    if rest.isascii() or (text.codec == "utf-8" and _PERHAPS.search(rest) is None):
        return controls
    if text.codec != "utf-8":
        return controls + sum(1 for found in HIDDEN.finditer(text.decoded) if found[0] >= "\x80")
    return controls + sum(_hides(raw, found.start()) for found in _PERHAPS.finditer(raw))


def _hides(raw: bytes, at: int) -> bool:
    """Whether the character that begins at ``at`` is a hidden one beside its two neighbours."""
    before = raw[max(0, at - 4) : at].decode("utf-8", "ignore")[-1:]
    after = raw[at : at + 8].decode("utf-8", "ignore")
    return HIDDEN.match(before + after, len(before)) is not None


def _yes(value: bool) -> str:
    return "yes" if value else "no"
