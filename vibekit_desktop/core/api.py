"""What the faces may ask for. Protocols only; the implementers are in `core.services`.

All methods are called on the loop thread and do their work elsewhere; none blocks longer than a loop step. Errors are those of
`core.types.errors`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from vibekit_desktop.core.types.chats import ChatHeader, ChatView
from vibekit_desktop.core.types.checkpoints import (
    CaptureReport,
    CheckoutReport,
    Conflict,
    Mine,
    Point,
    RestorePlan,
    RestoreReport,
    Scope,
    Timeline,
    TurnReport,
    VerifyReport,
)
from vibekit_desktop.core.types.diffs import DiffRequest, FileDiff, StyleRuns, WordSpans
from vibekit_desktop.core.types.events import Event
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.sources import ImportReport, SourceSummary

E = TypeVar("E", bound=Event)


class Subscription(Protocol):
    """A running subscription to the bus."""

    def close(self) -> None:
        """End it; closing twice is harmless."""


class Events(Protocol):
    """News from the core, delivered in order on the loop thread."""

    def subscribe(self, kind: type[E], handler: Callable[[E], None]) -> Subscription:
        """Call ``handler`` for every event of ``kind`` from now on."""


class Chats(Protocol):
    """The chats of all vaults, and the sessions that other programs keep."""

    async def list(
        self, *, archived: bool = False, workspace: str | None = None, limit: int | None = None
    ) -> Sequence[ChatHeader]:
        """All rows, newest update first. One damaged file is a damaged row and hides nothing else."""

    async def resolve(self, text: str) -> ChatId:
        """A chat id, a unique prefix of 8 characters or more, ``@N``, or ``source:session``."""

    async def open(self, chat: ChatId) -> ChatView:
        """Read a chat; a source session is materialised first, one that has grown is brought up to date."""

    async def branch(self, chat: ChatId, turn: int) -> ChatId:
        """Make a chat of its own that ends just before a turn; raises `PointNotFound`. No file is touched."""


class Checkpoints(Protocol):
    """What the chats did to the files, and the way back."""

    async def timeline(self, chat: ChatId) -> Timeline:
        """The chat's turns and entries with their files, line counts included, and what is on disk now."""

    async def plan_restore(
        self, chat: ChatId, point: Point, *, paths: Sequence[WorkspacePath], scope: Scope, mine: Mine
    ) -> RestorePlan:
        """What a restore would do. With ``paths``, only those. Changes nothing."""

    async def plan_undo_file(self, chat: ChatId, point: Point, path: WorkspacePath, *, mine: Mine) -> RestorePlan:
        """What putting one file back would do; the transcript is not touched. Changes nothing."""

    async def plan_undo(self, chat: ChatId, *, mine: Mine) -> RestorePlan:
        """What taking back the newest entry would do; raises `NothingToTakeBack`."""

    async def plan_redo(self, chat: ChatId, *, mine: Mine) -> RestorePlan:
        """What taking back the newest undo would do; raises `NothingToTakeBack`."""

    async def carry_out(self, plan: RestorePlan, *, initiator: str = "") -> RestoreReport:
        """Do what the plan says if it is still true, else raise `PlanStale`. A plan without anything to do is refused as
        nothing: the report has no entry (0)."""

    async def recover(self, chat: ChatId) -> Sequence[RestoreReport]:
        """Finish what a crash interrupted in the chat's vault; before a plan that is to be carried out at once."""

    async def leave_unfinished(self, chat: ChatId) -> int:
        """The answer to `Timeline.to_answer`: end every restore of the chat that is not ours to carry on, the files as they
        are; how many there were. Raises `NothingToEnd`, or `RestoreUnfinished` if there is one of ours instead."""

    async def content(self, chat: ChatId, point: Point, path: WorkspacePath) -> bytes:
        """The exact bytes of a file at a point; raises `NotKnownThere`."""

    async def checkout(self, chat: ChatId, point: Point, folder: Path) -> CheckoutReport:
        """Write every file the chat knows at that point into an empty folder."""

    async def touched(self, chat: ChatId) -> Sequence[WorkspacePath]:
        """Every path with a line of this chat's, sorted."""

    async def conflicts(self, chat: ChatId) -> Sequence[Conflict]:
        """Where somebody else changed a file under this chat's hands, oldest first."""


class Turns(Protocol):
    """Turns of an agent that another program runs: what its hooks tell as it works (command-line.md ``record``, ``turn``).

    ``chat_text`` is what a person or a hook may call a chat: an id, a unique prefix, ``@N``, ``source:session``.
    """

    async def record(
        self, chat_text: str, path_text: str, *, content: bytes | None, deleted: bool, mode: int | None
    ) -> CaptureReport:
        """Capture a path as it is, just before the caller writes it. ``content`` None and not ``deleted``: nobody knows what
        will be written; with ``mode`` alone the content stays. Raises `PathEscape` or `PathRefused` and does nothing then."""

    async def begin(self, chat_text: str, *, workspace: Path | None, agent: str | None, prompt: str | None) -> TurnReport:
        """A turn begins. A chat that is not there yet is made in the vault of ``workspace``; without one `WorkspaceNeeded`."""

    async def command_begin(self, chat_text: str) -> TurnReport:
        """The agent is about to run a command. `NoOpenTurn` outside a turn."""

    async def command_end(self, chat_text: str) -> TurnReport:
        """The command ended. `NoOpenTurn` if none began."""

    async def end(self, chat_text: str, *, answer: str | None) -> TurnReport:
        """The turn ended: what nobody announced is found, and the report has the turn's files. `NoOpenTurn` without one."""


class Watch(Protocol):
    """Notices what other processes do to the vaults, for as long as somebody looks at them."""

    def start(self) -> None:
        """Begin: from now on `ChatCreated`, `ChatUpdated`, `ChatDeleted` and `HistoryGrew` tell what others did."""

    async def stop(self) -> None:
        """End; harmless if it never began."""


class Diffs(Protocol):
    """The two sides of a file and what differs."""

    async def file(self, request: DiffRequest, *, unlimited: bool = False) -> FileDiff:
        """Compute one diff off the loop thread."""

    async def files(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, ignore_whitespace: bool = False
    ) -> Sequence[FileDiff]:
        """All files that differ between two points; with ``paths`` only those."""

    async def patch(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, ignore_whitespace: bool = False
    ) -> bytes:
        """All files that differ between two points as one unified diff that ``git apply`` takes."""

    async def planned(self, plan: RestorePlan, path: WorkspacePath) -> FileDiff:
        """What restoring one file of a plan changes: old = on disk now, new = after restoring."""

    async def words(self, diff: FileDiff, first_row: int, last_row: int) -> Mapping[int, WordSpans]:
        """The changed words of the changed rows between two rows, both included; rows without any are not in the answer."""

    async def highlight(self, path: str, lines: Sequence[str]) -> StyleRuns | None:
        """Colours for a text by its file name; None if there is no lexer or the text is over the limits."""


class Histories(Protocol):
    """Other programs' histories on this computer. Read where they are, never changed."""

    async def sources(self) -> Sequence[SourceSummary]:
        """What was found."""

    async def import_path(self, path: Path, *, workspace: Path | None, agent: str | None) -> ImportReport:
        """Materialise one history file, or every one in a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor's report: no content, no names of the user's."""

    name: str
    state: str
    """``ok``, ``warning`` or ``failed``."""
    detail: str


class Library(Protocol):
    """Which vaults there are."""

    async def workspaces(self) -> Sequence[str]:
        """The workspace folders of all vaults, most recently used first."""

    async def open_folder(self, folder: Path) -> str:
        """Make a vault for a folder (or find the one there is); returns the workspace path. Writes nothing in the folder."""

    def workspace_path(self, workspace: str, text: str) -> WorkspacePath:
        """A path a person typed, absolute or relative to the workspace; raises `PathEscape` or `PathRefused`. Pure."""

    async def verify(self, chat: ChatId | None) -> VerifyReport:
        """Check every log, blob and chat file; changes nothing."""

    async def rebuild_caches(self) -> None:
        """Throw away what is only remembered (found sessions, net counts) and look again."""

    async def doctor(self) -> Sequence[Check]:
        """Versions, folders, locks, disk space: what to send with a bug report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The bundle the faces are given."""

    events: Events
    chats: Chats
    checkpoints: Checkpoints
    turns: Turns
    watch: Watch
    diffs: Diffs
    histories: Histories
    library: Library
    version: str
