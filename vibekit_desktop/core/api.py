"""What the faces may ask for. Protocols only; the implementers are in `core.services`.

All methods are called on the loop thread and do their work elsewhere; none blocks longer than a loop step. Errors are those of
`core.types.errors`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from vibekit_desktop.core.types.agents import (
    AgentChoice,
    AgentInfo,
    AgentSession,
    Answer,
    Headless,
    LiveState,
    Prompt,
    Rule,
    TurnOutcome,
)
from vibekit_desktop.core.types.chats import WHOLE, ChatHeader, ChatView, Export, ExportFormat, Message, TurnSpan, Withheld
from vibekit_desktop.core.types.checkpoints import (
    CaptureReport,
    CheckoutReport,
    Conflict,
    Mine,
    PinnedPoint,
    PlacedConflict,
    Point,
    RestorePlan,
    RestoreReport,
    Scope,
    Timeline,
    TurnReport,
)
from vibekit_desktop.core.types.diffs import EXACT, Compare, DiffRequest, FileDiff, StyleRuns, WordSpans
from vibekit_desktop.core.types.events import Event
from vibekit_desktop.core.types.folders import FolderWeight
from vibekit_desktop.core.types.ids import BlobHash, ChatId, MessageId, WorkspacePath
from vibekit_desktop.core.types.moves import Likeness
from vibekit_desktop.core.types.removals import DeleteReport, PurgeReport
from vibekit_desktop.core.types.reviews import (
    Comment,
    Decisions,
    InversePlan,
    InverseRequest,
    PlacedComment,
    ReviewedFile,
    ReviewFormat,
    Side,
)
from vibekit_desktop.core.types.settings import Setting
from vibekit_desktop.core.types.sources import ImportReport, SourceSummary
from vibekit_desktop.core.types.verified import VerifyReport

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

    async def first_rows(self, limit: int) -> Sequence[ChatHeader]:
        """The newest rows as they were known last, at once and unverified: something to show until `list` has looked."""

    async def resolve(self, text: str) -> ChatId:
        """A chat id, a unique prefix of 8 characters or more, ``@N``, ``source:session``, or a chat's link (`ids.chat_link`).
        Archived chats are found too, by anything but a row number."""

    async def open(self, chat: ChatId) -> ChatView:
        """Read a chat; a source session is materialised first, one that has grown is brought up to date. Of a long chat the
        newest messages: ``first_index`` says how many are before them."""

    async def open_damaged(self, chat: ChatId) -> ChatView:
        """As `open`, of a chat that `open` refuses as damaged: what of it can be read, and its ``damage``. An event stands for
        every message that can't be read. ``raw`` is empty: nothing of it can be written again."""

    async def earlier(self, chat: ChatId, before: int, limit: int) -> Sequence[Message]:
        """The last ``limit`` messages before the one of index ``before``, in order; fewer at the beginning of the chat."""

    async def turns(self, chat: ChatId) -> Sequence[TurnSpan]:
        """Where every turn of a chat stands, also of those among the earlier messages of a long one: `open` need not tell
        them."""

    async def hold_open(self, chat: ChatId | None) -> None:
        """This window shows ``chat`` from now on, and no other: no purge takes it away meanwhile. It ends with the process."""

    async def branch(self, chat: ChatId, turn: int, *, message: MessageId | None = None, files_before: bool = False) -> ChatId:
        """Make a chat of its own that ends just before a turn, or just before ``message`` (then ``turn`` does not matter);
        raises `PointNotFound`. No file is touched, unless ``files_before``: then the files are put back to how they were before
        that turn first, as an entry of ``chat`` that can be undone; `NotAllRestored` if that failed for one of them."""

    async def children(self, chat: ChatId) -> Sequence[ChatId]:
        """The branches of a chat, archived ones too; not the branches of those."""

    async def promote(self, chat: ChatId) -> ChatId:
        """A branch takes the place of its parent, whose other branches become its own; the parent is archived. Returns the
        former parent. Raises `NotABranch`."""

    async def discard(self, chat: ChatId) -> ChatId:
        """Delete a branch; its own branches become its parent's. Returns the parent. Raises `NotABranch`."""

    async def merge(self, chat: ChatId) -> ChatId:
        """Put what only the branch says at the end of its parent, and archive the branch. Returns the parent. Raises
        `NotABranch` or `NothingToMerge`."""

    async def rename(self, chat: ChatId, name: str) -> None:
        """Give a chat another name, kept to the length a name may have; `Malformed` for an empty one."""

    async def pin(self, chat: ChatId, pinned: bool) -> None:
        """Keep a chat at the top of the list, or no longer."""

    async def archive(self, chat: ChatId) -> None:
        """Put a chat out of sight; `Busy` while a turn of it runs. Archiving an archived chat does nothing."""

    async def unarchive(self, chat: ChatId) -> None:
        """Bring an archived chat back; one that is not archived stays as it is."""

    async def delete(self, chat: ChatId, *, keep_branches: bool = False) -> DeleteReport:
        """Delete a chat for good, its branches first, or with ``keep_branches`` without them. `Busy` while a turn of it runs.
        A chat of another program's session does not come back by itself."""

    async def purge(self, older_than_days: int, *, only_look: bool = False) -> PurgeReport:
        """Delete the chats that were archived longer ago. One that a window has open, or that a turn runs in, is kept."""

    async def draft(self, chat: ChatId) -> str:
        """What was written for the chat and not sent; empty if nothing was."""

    async def set_draft(self, chat: ChatId, text: str) -> None:
        """Keep what is being written; an empty text forgets it. Raises `DraftTooLarge`."""

    async def seen(self) -> Mapping[ChatId, int]:
        """How many messages of each chat a person has seen; chats that nobody noted are not among them."""

    async def note_seen(self, chat: ChatId, messages: int) -> None:
        """So many messages of a chat were seen: what comes after them is unread, also in the next window."""


class Checkpoints(Protocol):
    """What the chats did to the files, and the way back."""

    async def timeline(self, chat: ChatId, *, counted: bool = True) -> Timeline:
        """The chat's turns and entries with their files, line counts included, and what is on disk now. Not ``counted``: lines
        are counted for a moment only, and `Timeline.counting` says whether that was enough."""

    async def count_on(self, chat: ChatId) -> bool:
        """Count some more of the lines that the last `timeline` left; whether there are still some. When all are counted, it is
        to be read again."""

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

    async def disk_mark(self, chat: ChatId) -> int:
        """Another number once what `timeline` says is on disk may be old, or the workspace came or went; cheap, by sizes and
        times alone. Only a hint, of this process."""

    async def touched(self, chat: ChatId) -> Sequence[WorkspacePath]:
        """Every path with a line of this chat's, sorted."""

    async def conflicts(self, chat: ChatId) -> Sequence[Conflict]:
        """Where somebody else changed a file under this chat's hands, oldest first."""

    async def placed_conflicts(self, chat: ChatId) -> Sequence[PlacedConflict]:
        """The same, with the points that have the two contents, and which of them a person settled."""

    async def settle(self, chat: ChatId, conflict: Conflict, *, settled: bool = True) -> None:
        """A conflict of these contents stays as it is, or is to be told again. `TimelineNoted` tells of it."""

    async def changed_by(self, chat: ChatId, path: WorkspacePath) -> Sequence[ChatId]:
        """The chats that changed a file of the chat's workspace, the newest change first."""

    async def pins(self, chat: ChatId) -> Sequence[PinnedPoint]:
        """The points of a chat that have a name."""

    async def pin(self, chat: ChatId, point: Point, name: str) -> None:
        """Give a point a name, or another one; `InvalidText` for none, `PointNotFound`. `TimelineNoted` tells of it."""

    async def unpin(self, chat: ChatId, point: Point) -> None:
        """Forget the name of a point; none is fine. `TimelineNoted` tells of it."""


class Undo(Protocol):
    """Taking back one hunk, one file or one turn while later work stays."""

    async def plan(self, request: InverseRequest, decisions: Decisions = ()) -> InversePlan:
        """What it would do; changes nothing. Its ``plan`` is None until every overlap is decided; `Checkpoints.carry_out` does
        it. The numbers of ``decisions`` are those of the overlaps of an earlier answer: whoever decided compares the new
        ``overlaps`` with those that were shown, since the file may have changed meanwhile. Raises `Malformed` for hunks,
        overlaps or points that there are not."""


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
        """Begin: from now on `ChatCreated`, `ChatUpdated`, `ChatDeleted`, `HistoryGrew` and `ReviewChanged` tell what others
        did, and `WorkspaceMoved` what became of the folder of the chat that is shown."""

    async def stop(self) -> None:
        """End; harmless if it never began."""


class Diffs(Protocol):
    """The two sides of a file and what differs."""

    async def file(self, request: DiffRequest, *, unlimited: bool = False) -> FileDiff:
        """Compute one diff off the loop thread."""

    async def files(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, compare: Compare = EXACT
    ) -> Sequence[FileDiff]:
        """All files that differ between two points; with ``paths`` only those. A file that was renamed is one of them, with
        its old name in the request."""

    async def patch(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, compare: Compare = EXACT
    ) -> bytes:
        """All files that differ between two points as one unified diff that ``git apply`` takes.

        With something left out by ``compare`` it makes the files at ``old`` with the other changes.
        """

    async def sides(self, request: DiffRequest) -> tuple[bytes | None, bytes | None]:
        """The bytes of a file at the two points; None is a file that is not there. Raises `NotKnownThere`."""

    async def planned(self, plan: RestorePlan, path: WorkspacePath) -> FileDiff:
        """What restoring one file of a plan changes: old = on disk now, new = after restoring."""

    async def words(self, diff: FileDiff, first_row: int, last_row: int) -> Mapping[int, WordSpans]:
        """The changed words of the changed rows between two rows, both included; rows without any are not in the answer."""

    async def highlight(self, path: str, lines: Sequence[str]) -> StyleRuns | None:
        """Colours for a text by its file name; None if there is no lexer or the text is over the limits."""

    async def highlight_part(self, path: str, lines: Sequence[str], first: int, last: int) -> StyleRuns | None:
        """Colours of the lines ``first`` to ``last`` (from 0, both included) at once; line 0 of the answer is ``first``.

        Read from some way above, so that now and then a colour is wrong until `highlight` answers for the whole text.
        """


class Reviews(Protocol):
    """What a person has looked at in a chat's changes and said of them. `ReviewChanged` tells of changes.

    A branch begins with its parent's marks, and the comments that the agent was not told. What a branch has goes to its parent
    when it is merged, and a branch that is promoted gets what was open there.
    """

    async def reviewed(self, chat: ChatId) -> Sequence[ReviewedFile]:
        """What was reviewed, oldest first; one path may be among them with several contents."""

    async def set_reviewed(
        self, chat: ChatId, path: WorkspacePath, before: BlobHash | None, after: BlobHash | None, reviewed: bool
    ) -> None:
        """Mark what a file was and became as reviewed, or no longer. Of too many marks the oldest give way."""

    async def comments(self, chat: ChatId) -> Sequence[Comment]:
        """All comments, oldest first."""

    async def comment(
        self,
        chat: ChatId,
        path: WorkspacePath,
        side: Side,
        first_line: int,
        last_line: int,
        text: str,
        *,
        old: Point,
        new: Point,
    ) -> Comment:
        """Keep a comment on lines of one side of the diff between two points; ``path`` is the file's name on that side. Raises
        `CommentRefused`, `NotKnownThere`, `InvalidText`."""

    async def edit_comment(self, chat: ChatId, comment: str, text: str) -> None:
        """Say something else; it is open again then. `CommentNotFound`, `CommentRefused`, `InvalidText`."""

    async def delete_comment(self, chat: ChatId, comment: str) -> None:
        """Forget a comment; `CommentNotFound`."""

    async def place(
        self, chat: ChatId, path: WorkspacePath, side: Side, point: Point, *, old_path: WorkspacePath | None = None
    ) -> Sequence[PlacedComment]:
        """Where the comments on one side of a file are in its content at a point; with ``old_path`` also those written while it
        had that name."""

    async def message(self, chat: ChatId, comments: Sequence[str]) -> str:
        """These comments, by their ids, as one message for the agent; `CommentNotFound`."""

    async def sent(self, chat: ChatId, comments: Sequence[str]) -> None:
        """The agent was told these now; one that is gone meanwhile is not missed."""

    async def problems(self, chat: ChatId) -> Sequence[str]:
        """The files with marks and comments of this chat that could not be read, and are kept as they are."""


class Exports(Protocol):
    """Chats as files for other programs and other people."""

    async def export(self, chat: ChatId, kind: ExportFormat, *, withheld: Withheld = WHOLE) -> Export:
        """The chat as it is now, archived or not, with all its messages; or its changes from its start to the disk.
        ``withheld``: what is left out of the messages; of changes nothing is, or they could not be applied."""

    async def review(
        self,
        chat: ChatId,
        old: Point,
        new: Point,
        paths: Sequence[WorkspacePath],
        kind: ReviewFormat,
        *,
        compare: Compare = EXACT,
    ) -> Export:
        """What differs between two points, with what was reviewed and said of it; with ``paths`` only those. As a patch it is
        the changes alone, as ``git apply`` takes them. `ExportTooLarge`."""

    async def save(self, export: Export, place: Path) -> Path:
        """Write it to a new file, or under its own name into a folder that is there; returns the file. `FileThere` if there is
        something already: nothing is ever replaced."""


class Histories(Protocol):
    """Other programs' histories on this computer. Read where they are, never changed."""

    async def sources(self) -> Sequence[SourceSummary]:
        """What was found."""

    async def import_path(self, path: Path, *, workspace: Path | None, agent: str | None) -> ImportReport:
        """Materialise one history file, or every one in a folder."""

    async def keep_all(self, source: str, told: Callable[[int, int], None]) -> ImportReport:
        """Materialise every session found of a program; ``told`` hears how many of how many are done, on the loop's thread.
        Cancelling ends it between two of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor's report: no content, no names of the user's."""

    name: str
    state: str
    """``ok``, ``warning`` or ``failed``."""
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSize:
    """What all vaults keep of files, in bytes. Over the budget nothing stops; it is said. ``free_bytes``: of the disk with the
    ``folder`` that the vaults are in; None if nobody knows."""

    used_bytes: int
    budget_bytes: int
    free_bytes: int | None = None
    folder: str = ""


class Settings(Protocol):
    """What a person decided for all vaults. `SettingChanged` tells of changes, whoever made them, while `Watch` runs."""

    async def all(self) -> Sequence[Setting]:
        """Every setting with its value, in a fixed order."""

    async def get(self, key: str) -> Setting:
        """One setting; raises `UnknownSetting`."""

    async def set(self, key: str, text: str) -> Setting:
        """Change a setting to what a person typed; raises `UnknownSetting` or `BadSetting` and changes nothing then."""


class Retention(Protocol):
    """Removes archived chats when they are as old as the setting says, for as long as a window runs."""

    def start(self) -> None:
        """Begin: once now, then when the next one is due, and at least every hour."""

    async def stop(self) -> None:
        """End; harmless if it never began, and twice."""


class Library(Protocol):
    """Which vaults there are."""

    async def workspaces(self) -> Sequence[str]:
        """The workspace folders of all vaults, most recently used first."""

    async def open_folder(self, folder: Path) -> str:
        """Make a vault for a folder (or find the one there is); returns the workspace path. Writes nothing in the folder."""

    async def weigh_folder(self, folder: Path) -> FolderWeight | None:
        """How many files the first check of a folder will go through, and about how long it will take; None if it was done
        already. Changes nothing. Raises `CannotRead`, or as `open_folder`."""

    async def look_at_move(self, workspace: str, folder: Path) -> Likeness:
        """How much a folder is like a workspace that is not where it was; changes nothing. Raises `WorkspaceRefused` for one
        that is never a workspace or is another one of ours, and while the workspace is where it was."""

    async def move_workspace(self, workspace: str, folder: Path) -> str:
        """A workspace that is not where it was is in this folder from now on, with all its chats; returns its path. Writes
        nothing in the folder. As `look_at_move`; also refused if the folder cannot be it (`Likeness.can_be`), and with `Busy`
        while a turn runs. `WorkspaceMoved` tells it, with the former path."""

    def workspace_path(self, workspace: str, text: str) -> WorkspacePath:
        """A path a person typed, absolute or relative to the workspace; raises `PathEscape` or `PathRefused`. Pure."""

    async def verify(self, chat: ChatId | None) -> VerifyReport:
        """Check every log, blob and chat file; changes nothing."""

    async def rebuild_caches(self) -> None:
        """Throw away what is only remembered (found sessions, net counts) and look again."""

    async def doctor(self) -> Sequence[Check]:
        """Versions, folders, locks, disk space: what to send with a bug report."""

    async def store_size(self) -> StoreSize:
        """What the stored contents of all vaults take, and what is planned for them. Only what changed is counted again."""


class Agents(Protocol):
    """The agents that this computer can start. `AgentChecked` tells what becomes known of one later."""

    async def list(self) -> Sequence[AgentInfo]:
        """Every agent of the list and of the user's own, with what is known without starting any; those that are here first."""

    async def problems(self) -> Sequence[str]:
        """What is wrong with the user's own list of agents, a sentence each."""

    async def check(self, agent: str) -> AgentInfo:
        """Start an agent, ask what it is and whether it wants a sign-in, and end it again; raises `UnknownAgent`."""

    async def sign_in(self, agent: str, way: str) -> AgentInfo:
        """Let an agent sign its user in, the way named by the id of a `SignIn`; what it is then. One that wants a terminal or
        variables is not signed in by us: `NotOffered`."""

    async def sessions(self, choice: AgentChoice, workspace: Path) -> Sequence[AgentSession]:
        """The sessions that an agent keeps of a workspace, newest first; `NotOffered` where it tells none."""


class Live(Protocol):
    """Chats with an agent that answers now. One process a chat; several at once. `LiveChanged`, `AnswerStreamed` and
    `LiveTurnEnded` tell what happens."""

    async def look(self, chat: ChatId) -> LiveState:
        """What the chat is doing; nothing is started. For one that has no agent yet it says which would answer, if that is
        known and it is here."""

    async def new_chat(self, workspace: Path, choice: AgentChoice) -> ChatId:
        """A chat without messages, in the vault of a folder; its agent is started meanwhile. One of this agent there that
        nobody said anything in yet is taken again. Raises `UnknownAgent` or what `Library.open_folder` raises."""

    async def continue_session(self, workspace: Path, choice: AgentChoice, session: str) -> ChatId:
        """A chat that goes on with a session of the agent's own: what it replays is its transcript."""

    async def choose_agent(self, chat: ChatId, choice: AgentChoice) -> LiveState:
        """From now on this agent answers in the chat; it is told the history with the next prompt. One that is only being
        started is ended; `Busy` while a turn runs."""

    async def start(self, chat: ChatId) -> LiveState:
        """Start the chat's agent now, so that it is there when the prompt comes; also after it ended or wanted a sign-in."""

    async def prompt(self, chat: ChatId, prompt: Prompt) -> None:
        """Say something: at once, or after the turn that runs. Returns when it is stored or queued. Raises `AgentNeeded`,
        `AgentMissing`, `AgentNotSignedIn`, `AgentFailed`, `AttachmentRefused`, `NotOffered`, `EmptyPrompt`, `Busy`; nothing
        is stored then."""

    async def run(self, chat: ChatId, prompt: Prompt, *, allow: Headless, timeout_s: float | None = None) -> TurnOutcome:
        """As `prompt`, and wait for the end of the turn; nobody is asked, ``allow`` answers. After ``timeout_s`` the turn is
        stopped."""

    async def stop(self, chat: ChatId) -> None:
        """Stop the turn that runs. It always ends: an agent that does not listen is ended with what it started. While the agent
        is being started, that is ended, and what was to be said waits in the queue. Returns when it has been asked; does
        nothing if nothing runs."""

    async def stop_command(self, chat: ChatId, tool_call_id: str) -> None:
        """End one command that runs in a terminal of ours, with its children."""

    async def send_now(self, chat: ChatId, queued: str) -> None:
        """Stop the turn that runs and go on with this prompt of the queue."""

    async def unqueue(self, chat: ChatId, queued: str) -> Prompt | None:
        """Take a prompt out of the queue; the prompt, or None if it was sent meanwhile."""

    async def answer(self, chat: ChatId, question: str, answer: Answer) -> None:
        """Answer a question. One that is not asked any more is nobody's: nothing happens."""

    async def set_option(self, chat: ChatId, option: str, value: str) -> LiveState:
        """Choose one of the agent's options; raises `NotOffered` or `AgentFailed`."""

    async def rules(self, chat: ChatId) -> Sequence[Rule]:
        """What this chat's agent may do without a question."""

    async def forget_rule(self, chat: ChatId, rule: Rule) -> None:
        """Ask again from now on."""

    async def discard_empty(self, chat: ChatId) -> bool:
        """End and remove a chat in which nobody has said anything; whether it was one."""

    def running(self) -> Sequence[LiveState]:
        """The chats whose turn runs now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The bundle the faces are given."""

    events: Events
    chats: Chats
    checkpoints: Checkpoints
    undo: Undo
    turns: Turns
    watch: Watch
    diffs: Diffs
    reviews: Reviews
    exports: Exports
    histories: Histories
    library: Library
    settings: Settings
    retention: Retention
    agents: Agents
    live: Live
    version: str
