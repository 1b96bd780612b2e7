"""What every reader of another program's histories hands over, whatever the program.

A source reads and never writes. It turns one session into a `ForeignSession`: messages, and the steps that touched files, in
the order in which the disk saw them. What the history does not say is `Content` with a reason, never a guess. Any thread.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.checkpoints import Author, State
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.sources import Cleanup, SkippedLine

NO_CONTENT = "no-content"
"""The history does not hold the content."""
NOT_THE_SAME = "differs"
"""What the history says was written is not what its own patch shows."""
USER_MODIFIED = "user-modified"
"""The person changed the text in the approval dialog; only the result on disk knows it."""
NOT_TEXT = "not-text"
"""The recorded text is damaged (not UTF-8, half of a character)."""
EMPTY_OR_ABSENT = "empty-or-absent"
"""The history does not tell an empty file from none."""
OUTSIDE = "outside"
"""The path is outside the folder of the session: noted, never restored."""
PRIVATE = "private"
"""The path is inside ``.git``: noted, never restored."""
COMMAND = "command"
"""A command ran; what it changed is not recorded."""
SUB_AGENT = "sub-agent"
"""A sub-agent ran whose steps are not recorded."""
UNKNOWN_TOOL = "unknown-tool"
"""A tool ran of which we do not know what it changes."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a history knows of a file at one moment: its bytes, that it was absent, or why neither is known."""

    state: State
    data: bytes | None = None
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether this is a fact: bytes or absence."""
        return self.state in (State.PRESENT, State.ABSENT)


ABSENT_FILE = Content(State.ABSENT)


def present(data: bytes) -> Content:
    """A file whose bytes are known."""
    return Content(State.PRESENT, data)


def not_captured(reason: str) -> Content:
    """A file that existed and whose bytes nobody recorded."""
    return Content(State.NOT_CAPTURED, None, reason)


def unknown(reason: str) -> Content:
    """Not even whether there was a file is recorded."""
    return Content(State.UNKNOWN, None, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegan:
    """A real prompt. ``message_count`` is the transcript's length with this prompt in it."""

    turn: int
    ts: int
    message_id: str
    message_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTouched:
    """One path changed by one call. ``path`` is None outside the workspace; ``recorded`` is the path as the history has it.

    ``announced``: the agent said it wrote the file (a snapshot line); else it was seen beside a command (an observed line).
    """

    turn: int
    ts: int
    path: WorkspacePath | None
    recorded: str
    before: Content
    after: Content
    tool_call_id: str
    message_count: int
    announced: bool = True
    author: Author = Author.AGENT
    reason: str = ""
    """With ``path`` None: why it is only noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The end of a turn, and what may have changed in it without being recorded. Not ``sure``: it may still be running."""

    turn: int
    ts: int
    duration_ms: int
    complete: bool
    skipped: tuple[tuple[str, str], ...] = ()
    """(path or empty, reason)."""
    sure: bool = True


Step = TurnBegan | FileTouched | TurnEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignBranch:
    """A conversation that was left: another path from the root. ``key`` names it for ever; turns both included."""

    key: str
    messages: tuple[Message, ...]
    first_turn: int
    last_turn: int
    ts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSession:
    """One session of another program, read whole."""

    source: str
    label: str
    session: str
    path: str
    stamp: str
    cwd: str
    title: str
    titles: tuple[str, ...]
    """Every title that the history ever gave the session: a chat still called so was not renamed by the user."""
    model: str
    created_at: int
    updated_at: int
    messages: tuple[Message, ...]
    steps: tuple[Step, ...]
    branches: tuple[ForeignBranch, ...]
    turns: int
    skipped: tuple[SkippedLine, ...]

    @property
    def touches(self) -> tuple[FileTouched, ...]:
        """The steps that changed a file, in order."""
        return tuple(step for step in self.steps if isinstance(step, FileTouched))

    @property
    def edits(self) -> int:
        """Successful file edits, sub-agents' and those outside the workspace included (command-line.md)."""
        return sum(1 for step in self.touches if step.announced)

    @property
    def files(self) -> int:
        """Distinct paths changed."""
        return len({step.path or step.recorded for step in self.touches})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """What the sidebar shows of a session that nobody has opened: read in one cheap pass."""

    source: str
    label: str
    session: str
    chat_id: ChatId
    path: str
    stamp: str
    title: str
    cwd: str
    model: str
    created_at: int
    updated_at: int
    message_count: int
    turn_count: int


Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all)."""
Cancelled = Callable[[], bool]


class ImportCancelled(Exception):
    """The caller's ``cancelled`` said so; nothing was written."""


class Source(Protocol):
    """One program whose histories we read."""

    @property
    def name(self) -> str:
        """The word used in ids and on disk, for example ``claude-code``."""

    @property
    def label(self) -> str:
        """The name for people."""

    def root(self, home: Path, *, config_dir: Path | None = None) -> Path:
        """The folder under which this program keeps its sessions."""

    def cleanup(self, home: Path, *, config_dir: Path | None = None) -> Cleanup | None:
        """When the program deletes sessions by itself, as it is set up now; None if it never does."""

    def find(self, home: Path, *, config_dir: Path | None = None) -> Iterator[Path]:
        """Every session under a home folder; folders that cannot be read are passed over."""

    def find_in(self, folder: Path) -> Iterator[Path]:
        """Every session in any folder, at any depth."""

    def recognise(self, path: Path) -> bool:
        """Whether a file looks like one of ours; reads only its beginning."""

    def stamp(self, path: Path) -> str:
        """Changes whenever the session's files change; costs no reading."""

    def summarise(self, path: Path) -> SessionSummary:
        """The header, in one cheap pass. Raises `CannotRead` or `UnknownFormat`."""

    def read(self, path: Path, *, progress: Progress | None = None, cancelled: Cancelled | None = None) -> ForeignSession:
        """The whole session. Raises `CannotRead`, `UnknownFormat` or `ImportCancelled`."""
