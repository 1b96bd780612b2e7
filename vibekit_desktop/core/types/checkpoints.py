"""Tags, points, states, file changes, restore plans and reports.

The meaning of every word is in docs/storage-format.md 2 to 5. Frozen values; no I/O; any thread.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from vibekit_desktop.core.types.errors import Malformed
from vibekit_desktop.core.types.ids import BlobHash, ChatId, Tag, WorkspacePath, parse_tag


class State(StrEnum):
    """What is known of one path at one moment. Absent, not captured and unknown are three different things."""

    ABSENT = "absent"
    PRESENT = "present"
    LINK = "link"
    FOLDER = "folder"
    NOT_CAPTURED = "not-captured"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of one path.

    ``sha`` is the SHA-256 of the bytes (of the link text for a link); None for absent, folder, and where nobody could
    hash it. ``mode`` is the permission bits (0o777) or None if not recorded. ``reason`` says why it is not captured or
    unknown. ``size`` in bytes, where known.
    """

    state: State
    sha: BlobHash | None = None
    mode: int | None = None
    reason: str = ""
    size: int | None = None

    @property
    def has_content(self) -> bool:
        """Whether the bytes (or the link text) are in the store under ``sha``."""
        return self.state in (State.PRESENT, State.LINK)


ABSENT = FileState(State.ABSENT)
UNKNOWN = FileState(State.UNKNOWN)


class Author(StrEnum):
    """Who made a change (docs/storage-format.md 2)."""

    AGENT = "agent"
    COMMAND = "command"
    USER = "user"
    CHAT = "chat"
    UNKNOWN = "unknown"
    RESTORE = "restore"


class How(StrEnum):
    """How we know of a change (docs/storage-format.md 2)."""

    ANNOUNCED = "announced"
    SCAN = "scan"
    GAP = "gap"
    SETTLE = "settle"
    RESTORE = "restore"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Start:
    """Just before the chat's first line."""


@dataclass(frozen=True, slots=True)
class Now:
    """The disk."""


@dataclass(frozen=True, slots=True)
class BeforeTurn:
    """At the start of a turn, after the gap lines that belong before it."""

    turn: int


@dataclass(frozen=True, slots=True)
class AfterTurn:
    """At the end of a turn."""

    turn: int


@dataclass(frozen=True, slots=True)
class AtTag:
    """Just before the capture that has this tag."""

    tag: Tag


@dataclass(frozen=True, slots=True)
class AtEntry:
    """Just before restore entry K."""

    entry: int


@dataclass(frozen=True, slots=True)
class AtLine:
    """Just before the line with this number of the chat's own log: where none of the others stands."""

    line: int


Point = Start | Now | BeforeTurn | AfterTurn | AtTag | AtEntry | AtLine

_POINT = re.compile(r"(before|after|entry|line):([0-9]{1,18})")


def parse_point(text: str) -> Point:
    """Raise `Malformed` unless ``text`` is a POINT of command-line.md."""
    if text == "start":
        return Start()
    if text == "now":
        return Now()
    found = _POINT.fullmatch(text) if text.isascii() else None
    if found:
        number = int(found[2])
        if found[1] == "before":
            return BeforeTurn(number)
        if found[1] == "line":
            return AtLine(number)
        return AfterTurn(number) if found[1] == "after" else AtEntry(number)
    try:
        return AtTag(parse_tag(text))
    except Exception as error:
        raise Malformed("point", text) from error


def point_text(point: Point) -> str:
    """The text that `parse_point` reads back."""
    match point:
        case Start():
            return "start"
        case Now():
            return "now"
        case BeforeTurn(turn):
            return f"before:{turn}"
        case AfterTurn(turn):
            return f"after:{turn}"
        case AtTag(tag):
            return tag
        case AtEntry(entry):
            return f"entry:{entry}"
        case AtLine(line):
            return f"line:{line}"
        case _:
            assert_never(point)


class ChangeStatus(StrEnum):
    """The letter in front of a path."""

    ADDED = "A"
    MODIFIED = "M"
    DELETED = "D"
    RENAMED = "R"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One path's net change in one turn, entry or gap; counts are None where a side is not captured or binary."""

    path: WorkspacePath
    status: ChangeStatus
    before: FileState
    after: FileState
    old_path: WorkspacePath | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    tag: Tag | None = None
    author: Author = Author.UNKNOWN
    how: How = How.SCAN
    tool_call_id: str = ""
    other_chat: ChatId | None = None
    undone: bool = False
    """The file was put back later by an undo of this change that is still in force."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something a turn may have changed that is not in the store."""

    path: str
    reason: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Protection:
    """What of a workspace a command that runs now could change for good. ``unkept``: a copy of it could not be put into the
    store. ``left_out``: none is kept, by a limit or because it cannot be read; `.` stands for the workspace."""

    unkept: tuple[Skipped, ...] = ()
    left_out: tuple[Skipped, ...] = ()


ALL_KEPT = Protection()


@dataclass(frozen=True, slots=True)
class Coverage:
    """Whether a turn was seen whole; else what is missing and why (docs/storage-format.md 5)."""

    complete: bool
    skipped: tuple[Skipped, ...] = ()


Fits = Callable[[WorkspacePath, bytes | None, bytes | None], bool]
"""Whether what was at a path and what is there now are what an agent said that it did. None: nothing, or not to be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Somebody else's change under a chat's hands: seen when the chat captured the path (``conflict_detected``), or found by a
    look on a path that the chat had changed. ``other_chat`` is empty where no chat is known to have done it."""

    path: WorkspacePath
    other_chat: str
    expected_sha: str
    """What was left there; empty where that was no content."""
    actual_sha: str
    tag: str
    """The tag of the capture that met it; empty for what a look found."""
    ts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedConflict:
    """A conflict as it stands now. ``theirs`` and ``ours``: points at which the path is as the others left it (`Now`: that is
    what is on disk), and as this chat did; None where no point has that content. ``turn``: the turn that wrote it again after
    them, ``before``: the one that wrote it before them; 0 if there is none. ``settled``: a person said that it stays so."""

    conflict: Conflict
    theirs: Point | None = None
    ours: Point | None = None
    turn: int = 0
    before: int = 0
    settled: bool = False


@dataclass(frozen=True, slots=True)
class PinnedPoint:
    """A point of a chat that a person gave a name, and when."""

    point: Point
    name: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureReport:
    """One announced write, captured: its tag, what was there, what was announced.

    ``coverage`` is incomplete where the content that goes could not be stored. ``conflict``: another chat left the path, and it
    was not what that chat left."""

    chat: ChatId
    path: WorkspacePath
    tag: Tag
    before: FileState
    after: FileState
    coverage: Coverage
    conflict: Conflict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """The edge of a turn: its number and, at its end, the net change of every file in it."""

    chat: ChatId
    turn: int
    files: tuple[FileChange, ...] = ()
    coverage: Coverage = Coverage(complete=False)


class EntryKind(StrEnum):
    """What a row of the timeline is."""

    TURN = "turn"
    BETWEEN = "between"
    RESTORE = "restore"
    NOW = "now"


class RestoreStep(StrEnum):
    """What a restore is doing with one file after the other. Only the last of the three changes a file that a person sees."""

    KEEP = "keep"
    """A copy of what is there now comes into the store."""
    STAGE = "stage"
    """What is to be there is written beside its place."""
    PLACE = "place"
    """It is put in its place."""


class RestoreKind(StrEnum):
    """What a restore entry was asked as."""

    RESTORE = "restore"
    UNDO_FILE = "undo-file"
    UNDO_TURN = "undo-turn"
    """What changed between two points is taken back, and what came later stays."""
    UNDO_HUNK = "undo-hunk"
    """The same of some places of one file."""
    UNDO = "undo"
    REDO = "redo"

    @property
    def is_inverse(self) -> bool:
        """Whether later work stays, so that what is wanted is no state of any point."""
        return self in (RestoreKind.UNDO_TURN, RestoreKind.UNDO_HUNK)

    @property
    def takes_back_an_entry(self) -> bool:
        """Whether it takes back an entry of the timeline: `undo` and `redo`; the others change files by themselves."""
        return self in (RestoreKind.UNDO, RestoreKind.REDO)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """One row of the timeline, oldest first in a `Timeline`.

    ``between`` and ``now`` carry in ``turn`` the turn that ended (0 before the first). ``restore`` has ``entry``, ``point``
    and ``restore_kind``; ``undone`` says that a later undo took it back. ``can_restore``: restoring to before this turn would
    change something or at least may be asked.
    """

    kind: EntryKind
    turn: int
    at: int
    tag: Tag | None = None
    prompt: str = ""
    message_id: str = ""
    duration_ms: int = 0
    coverage: Coverage = Coverage(complete=False)
    files: tuple[FileChange, ...] = ()
    notes: tuple[Skipped, ...] = ()
    entry: int = 0
    point: str = ""
    upto: str = ""
    """With an undo of a turn or hunk: the point up to which, from ``point`` on, changes were taken back."""
    restore_kind: RestoreKind | None = None
    takes_back: int = 0
    undone: bool = False
    branch_chat_id: ChatId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What a chat did to the files, oldest first; the last entry is ``now``."""

    chat: ChatId
    entries: tuple[TimelineEntry, ...]
    workspace_found: bool
    can_undo: int = 0
    """The entry that ``undo`` would take back, or 0."""
    can_redo: int = 0
    unfinished: bool = False
    """A restore of this chat was interrupted and is not finished yet."""
    to_answer: bool = False
    """It is not ours to carry on: somebody has to say that the files stay as they are (`Checkpoints.leave_unfinished`)."""
    counting: bool = False
    """The lines of some entries are not counted yet (`Checkpoints.count_on`); no file of theirs has counts."""

    @property
    def last_turn(self) -> int:
        """The last turn that has a checkpoint, or 0."""
        return next((entry.turn for entry in reversed(self.entries) if entry.kind is EntryKind.TURN), 0)


class Scope(StrEnum):
    """What a restore covers."""

    BOTH = "both"
    FILES = "files"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Mine:
    """What happens to paths that are not what this chat left: kept, unless ``restore_all`` or named in ``restore``."""

    restore_all: bool = False
    restore: frozenset[WorkspacePath] = frozenset()

    def wants(self, path: WorkspacePath) -> bool:
        """Whether the person asked to restore ``path`` although it was changed since."""
        return self.restore_all or path in self.restore


KEEP_MINE = Mine()


class Action(StrEnum):
    """What a plan does with one path."""

    WRITE = "write"
    CREATE = "create"
    DELETE = "delete"
    MODE = "mode"
    LEAVE = "leave"


class LeaveReason(StrEnum):
    """Why a plan or a restore leaves a path as it is."""

    SAME = "same"
    CHANGED_SINCE = "changed-since"
    CHANGED_LATER = "changed-later"
    CHANGED_JUST_NOW = "changed-just-now"
    NOT_CAPTURED = "not-captured"
    UNKNOWN = "unknown"
    DAMAGED = "damaged"
    CANNOT_READ = "cannot-read"
    CANNOT_WRITE = "cannot-write"
    CANNOT_STORE = "cannot-store"
    NOT_REGULAR = "not-regular"
    NOT_EMPTY = "not-empty"
    REFUSED = "refused"
    LINK_ON_THE_WAY = "link-on-the-way"
    FILE_ON_THE_WAY = "file-on-the-way"
    SAME_FILE = "same-file"
    NOT_THIS_CHAT = "not-this-chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """One path of a plan: what is there (``current``, also what is expected at the moment of writing), what is wanted.

    ``changed_by`` is None, ``user``, ``unknown``, or a chat id: who changed it after this chat left it. ``also_by``: chats
    that changed it at or after the point. ``owner``: with undo and redo, who was the author before the entry taken back.
    """

    path: WorkspacePath
    action: Action
    current: FileState
    wanted: FileState
    reason: str = ""
    changed_by: str | None = None
    also_by: tuple[ChatId, ...] = ()
    owner: str = ""
    turns: tuple[int, ...] = ()
    """The turns of this chat whose change of the path is taken back."""
    hard_linked: bool = False
    """It has other names now, and will be a file of its own."""
    may_be_yours: bool = False
    """Nobody knows who changed it, inside a turn of this chat: it may be the user."""
    lines_added: int | None = None
    lines_removed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an undo of a turn or hunk makes of one path: the file (or with ``folder`` the folder) between the points before and
    after the change (``old``, ``new``), what is on disk (``now``), and what comes of the three (``wanted``).

    ``data`` are the merged bytes, where no point has them; the store gets them when the plan is carried out. ``leave`` is why
    nothing can be done (a `LeaveReason`); ``owner`` whose work stays in it, an author word, empty for this chat's.
    """

    path: WorkspacePath
    old: FileState
    new: FileState
    now: FileState
    wanted: FileState
    data: bytes | None = field(default=None, repr=False)
    leave: str = ""
    owner: str = ""
    folder: bool = False
    partly: bool = False
    """Of the change something stays, because somebody decided so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePlan:
    """What a restore will do, exactly; carried out only if it is still true.

    ``digest`` covers chat, point, kind, scope, choices, the position of the chat's log and every path. ``keep_messages`` is the
    length of the transcript after the cut (equal to the present length when nothing is cut). ``cut_turns`` is the first and
    last turn that move to a branch, or None. ``brings_back`` counts the messages that an undo of a cut brings back.
    ``log_lines`` is the number of lines of the chat's log the plan was made at.
    """

    chat: ChatId
    kind: RestoreKind
    point: Point
    scope: Scope
    mine: Mine
    paths: tuple[WorkspacePath, ...]
    files: tuple[PlannedFile, ...]
    digest: str
    log_lines: int
    keep_messages: int
    total_messages: int
    cut_turns: tuple[int, int] | None = None
    brings_back: int = 0
    takes_back: int = 0
    next_prompt: str = ""
    """With a cut before a prompt: that prompt's text, which goes into the composer."""
    notes: tuple[str, ...] = ()
    upto: Point | None = None
    """With an undo of a turn or hunk: the change that is taken back ends there; it begins at ``point``."""
    hunks: tuple[int, ...] = ()
    hunks_of: int = 0
    """With an undo of hunks: how many there are in all."""
    given: tuple[Given, ...] = ()

    def merged(self, sha: BlobHash) -> bytes | None:
        """A content that this plan brings and no store has yet, by its hash."""
        return next((one.data for one in self.given if one.data is not None and one.wanted.sha == sha), None)

    @property
    def acts(self) -> tuple[PlannedFile, ...]:
        """The files that will change."""
        return tuple(file for file in self.files if file.action is not Action.LEAVE)

    @property
    def deletes(self) -> int:
        """How many paths will be gone."""
        return sum(1 for file in self.files if file.action is Action.DELETE)

    @property
    def cuts(self) -> bool:
        """Whether the transcript becomes shorter."""
        return self.cut_turns is not None


@dataclass(frozen=True, slots=True)
class LeftFile:
    """One path that a restore left as it was."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """What a restore did, checked by hash after the fact.

    ``left`` are all paths left, ``failed`` those among them that the plan meant to change. ``verified``: every restored path
    was read again and is what was wanted.
    """

    chat: ChatId
    kind: RestoreKind
    entry: int
    restored: tuple[WorkspacePath, ...]
    left: tuple[LeftFile, ...]
    failed: tuple[LeftFile, ...]
    verified: bool
    branch_chat_id: ChatId | None = None
    next_prompt: str = ""


@dataclass(frozen=True, slots=True)
class CheckoutReport:
    """The files a checkout wrote, and those it could not."""

    files: tuple[WorkspacePath, ...]
    left: tuple[LeftFile, ...]
