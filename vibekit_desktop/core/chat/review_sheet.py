"""A review as it is exported: its files with what differs, what was said of them, and the words that both documents use.

Frozen values; pure; any thread.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from vibekit_desktop.core.chat.export_text import on_one_line
from vibekit_desktop.core.types.checkpoints import Point, State
from vibekit_desktop.core.types.diffs import (
    BinaryPair,
    DiffDocument,
    DiffNote,
    FileDiff,
    Identical,
    Note,
    TooLarge,
    Unreadable,
    WordSpans,
)
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.reviews import PlacedComment, Side

_FOLDED = {"lock": "lock file", "generated": "generated file", "minified": "minified file"}
_WHY = {
    "not-captured": "it was not captured",
    "unknown": "nobody knows what it was",
    "damaged": "the stored copy is damaged",
    "not-regular": "it is not a plain file",
    "too-large": "it is larger than one file may be",
    "cannot-read": "it cannot be read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetFile:
    """One file: its diff, the changed words of the rows in its hunks, and the comments on both sides."""

    diff: FileDiff
    words: Mapping[int, WordSpans]
    comments: tuple[PlacedComment, ...] = ()
    reviewed: bool = False

    @property
    def path(self) -> str:
        """The file's name, on one line, marked."""
        return on_one_line(self.diff.request.path)

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed; 0 where they cannot be counted."""
        result = self.diff.result
        return (result.lines_added, result.lines_removed) if isinstance(result, DiffDocument) else (0, 0)

    def on(self, side: Side) -> tuple[PlacedComment, ...]:
        """The comments on one side."""
        return tuple(one for one in self.comments if one.comment.side is side)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A whole review. ``elsewhere``: comments on files that do not differ between the two points."""

    chat: ChatId
    name: str
    old: Point
    new: Point
    made_at: int
    files: Sequence[SheetFile]
    elsewhere: tuple[PlacedComment, ...] = ()

    @property
    def comments(self) -> list[PlacedComment]:
        """All comments."""
        return [*(one for file in self.files for one in file.comments), *self.elsewhere]

    @property
    def summary(self) -> str:
        """ "3 files, +12 −4; 2 reviewed; 1 comment"."""
        added = sum(file.counts[0] for file in self.files)
        removed = sum(file.counts[1] for file in self.files)
        seen = sum(file.reviewed for file in self.files)
        files = many(len(self.files), "file")
        return f"{files}, +{added} \u2212{removed}; {seen} reviewed; {many(len(self.comments), 'comment')}"


def many(count: int, noun: str) -> str:
    """ "1 file", "2 files"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def change_word(diff: FileDiff) -> str:
    """What became of the file, in a word."""
    if diff.before.state is State.ABSENT:
        return "added"
    if diff.after.state is State.ABSENT:
        return "deleted"
    if diff.request.old_path is not None and diff.request.old_path != diff.request.path:
        return "renamed"
    return "modified"


def facts(diff: FileDiff) -> Iterator[str]:
    """What is said of a file besides its lines: one sentence each."""
    match diff.result:
        case DiffDocument(notes=notes, moves=moves):
            told = notes
            if moves:
                yield f"{many(len(moves), 'block')} moved."
        case Identical(notes=notes):
            told = notes
            if not notes and change_word(diff) == "modified":
                yield "The bytes are the same."
        case BinaryPair(notes=notes, old_size=old, new_size=new):
            told = notes
            yield f"Not text: {_size(old)} before, {_size(new)} after."
        case TooLarge(old_size=old, new_size=new):
            told = ()
            yield f"Too large to be compared: {_size(old)} before, {_size(new)} after."
        case Unreadable(side=side, reason=reason):
            told = ()
            what = "What it was before" if side == "old" else "What it became"
            yield f"{what} cannot be shown: {_WHY.get(reason, on_one_line(reason))}."
        case _:
            assert_never(diff.result)
    old_path = diff.request.old_path
    if old_path is not None and old_path != diff.request.path and not any(one.note is Note.RENAME for one in told):
        yield f"Renamed from {on_one_line(old_path)}."
    for note in told:
        yield _note(note)
    if diff.generated:
        yield f"A {_FOLDED.get(diff.generated, 'generated file')}."


def _size(size: int | None) -> str:
    return "absent" if size is None else many(size, "byte")


def _note(note: DiffNote) -> str:
    old, new = on_one_line(note.old), on_one_line(note.new)
    match note.note:
        case Note.LINE_ENDINGS:
            return f"Line endings changed: {old} before, {new} after."
        case Note.MODE:
            return f"Permissions changed: {old} before, {new} after."
        case Note.ENCODING:
            return f"Encoding changed: {old} before, {new} after."
        case Note.FINAL_NEWLINE:
            return "The last line ends now." if new == "yes" else "The last line does not end any more."
        case Note.ONLY_WHITESPACE:
            return "Only whitespace differs."
        case Note.INVALID_BYTES:
            return f"Bytes that are no text: {old} before, {new} after."
        case Note.INVISIBLE:
            return f"Characters that cannot be seen or that turn text around: {old} before, {new} after."
        case Note.RENAME:
            return f"Renamed from {old}."
        case Note.TYPE:
            return f"Was a {old}, is a {new}."
        case _:
            assert_never(note.note)
