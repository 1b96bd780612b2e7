"""A diff as data: document, hunk, line, span; and the reasons there is none.

Frozen values; no I/O; any thread. Text is decoded for showing; the bytes themselves stay in the store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from vibekit_desktop.core.types.checkpoints import FileState, Point
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


class Ignore(StrEnum):
    """Which whitespace inside lines does not count when two lines are compared. Line ends never do."""

    NOTHING = "nothing"
    END_OF_LINE = "end-of-line"
    """Blanks at a line's end."""
    AMOUNT = "amount"
    """How many blanks stand where there are some, and those at a line's end."""
    ALL = "all"
    """All of it, also where there is none on the other side."""


@dataclass(frozen=True, slots=True)
class Compare:
    """What counts as a change. ``blank_lines`` True: changes that only add or remove blank lines do not."""

    ignore: Ignore = Ignore.NOTHING
    blank_lines: bool = False


EXACT = Compare()
"""Everything counts."""


@dataclass(frozen=True, slots=True)
class DiffRequest:
    """One file between two points of one chat. ``old_path`` is its name at ``old`` where that was another one."""

    chat: ChatId
    path: WorkspacePath
    old: Point
    new: Point
    compare: Compare = EXACT
    old_path: WorkspacePath | None = None


class RowKind(StrEnum):
    """What stands in one row of a side-by-side view."""

    SAME = "same"
    CHANGED = "changed"
    """A line on both sides, different: the same line edited, or one that stands beside another in a block of changes."""
    DELETED = "deleted"
    """Only on the old side."""
    ADDED = "added"
    """Only on the new side."""


@dataclass(frozen=True, slots=True)
class Span:
    """A run of characters inside a line: ``start`` included, ``end`` not, in code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Row:
    """One row: line numbers from 1 on each side, None where that side has no line here."""

    kind: RowKind
    old_line: int | None
    new_line: int | None


class Hunk(NamedTuple):
    """One group of changes with its context: rows ``first_row`` to ``last_row`` (both included) of the document.

    The four numbers are those of a unified diff (lines from 1; a start of 0 with 0 lines at the top of an empty side).
    """

    first_row: int
    last_row: int
    first_change: int
    last_change: int
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    heading: str = ""


class Note(StrEnum):
    """A fact said once instead of as changed lines. ``DiffDocument.notes`` pairs it with its two values."""

    LINE_ENDINGS = "line-endings"
    MODE = "mode"
    ENCODING = "encoding"
    FINAL_NEWLINE = "final-newline"
    ONLY_WHITESPACE = "only-whitespace"
    INVALID_BYTES = "invalid-bytes"
    """How many bytes of each side are not text in its encoding."""
    INVISIBLE = "invisible"
    """How many direction controls and other characters that cannot be seen are on each side."""
    RENAME = "rename"
    """The old and the new path."""
    TYPE = "type"
    """What each side is: ``file``, ``link`` or ``folder``."""


@dataclass(frozen=True, slots=True)
class DiffNote:
    """One fact: for example (LINE_ENDINGS, "CRLF", "LF")."""

    note: Note
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSide:
    """One side: its lines without their line ends, and what the bytes looked like. ``exists`` False = absent there."""

    lines: Sequence[str]
    exists: bool
    encoding: str = "UTF-8"
    line_ending: str = "LF"
    final_newline: bool = True
    size: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """A block that went in one place and came in another: lines from 1, first and last included, of each side."""

    old_first: int
    old_last: int
    new_first: int
    new_last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffDocument:
    """Two texts laid side by side. ``rows`` cover both files whole, in order; hunks point into them.

    ``moves`` rise by the old side; no line is in two of them.
    """

    old: DiffSide
    new: DiffSide
    rows: Sequence[Row]
    hunks: tuple[Hunk, ...]
    notes: tuple[DiffNote, ...]
    lines_added: int
    lines_removed: int
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Identical:
    """Both sides have the same bytes (the mode may differ: see notes)."""

    size: int
    notes: tuple[DiffNote, ...] = ()


@dataclass(frozen=True, slots=True)
class BinaryPair:
    """At least one side is not text. An image is a PNG or a JPEG by its first bytes."""

    old_size: int | None
    new_size: int | None
    old_image: bool = False
    new_image: bool = False
    notes: tuple[DiffNote, ...] = ()


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Not laid out unless asked for again without limits. Sizes in bytes; lines are None of a side that is not there, or not
    known to be text."""

    old_size: int
    new_size: int
    old_lines: int | None = None
    new_lines: int | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A side is not to be had: not captured, unknown, damaged. ``side`` is ``old`` or ``new``."""

    side: str
    reason: str


DiffResult = DiffDocument | Identical | BinaryPair | TooLarge | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """A computed diff of one file with the states of its two sides.

    ``generated`` says why a file is not shown at once: ``lock``, ``generated``, ``minified``, or empty for one that is.
    """

    request: DiffRequest
    before: FileState
    after: FileState
    result: DiffResult
    generated: str = ""


@dataclass(frozen=True, slots=True)
class WordSpans:
    """The changed words of one changed row, on its two sides."""

    old: tuple[Span, ...]
    new: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class StyleRuns:
    """Colours of one text: line i has the runs k from ``offsets[i]`` to ``offsets[i + 1]``, of ``starts[k]`` and ``kinds[k]``.

    ``starts`` are code-point columns inside the line; a run ends where the next begins, the last at the line's end.
    ``kinds`` index `STYLE_NAMES`.
    """

    offsets: Sequence[int]
    starts: Sequence[int]
    kinds: bytes


STYLE_NAMES = ("plain", "keyword", "string", "number", "comment", "function", "type", "punctuation")
"""Names of the `color.syntax` tokens, in the order of `StyleRuns.kinds`."""
