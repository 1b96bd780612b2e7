"""Agents and what they ask, as values: which there are, what a live chat is doing, what a person may answer.

Neutral of any protocol: nothing here is ACP's. Texts that come from an agent are its own words and are shown as such, plain.
Times are Unix milliseconds. Frozen; no I/O; any thread.
"""

from dataclasses import dataclass
from enum import StrEnum

from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import ALL_KEPT, Coverage, FileChange, Protection
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId


class AgentState(StrEnum):
    """Whether an agent can be used. ``found``: it is on this computer, and nobody has started it yet to see more."""

    READY = "ready"
    NOT_SIGNED_IN = "not-signed-in"
    NOT_INSTALLED = "not-installed"
    FAILED = "failed"
    """It is there and could not be started; `AgentInfo.problem` says why."""
    FOUND = "found"


class SignInKind(StrEnum):
    """How signing in goes: by the agent itself, by variables that the user sets, or in a terminal."""

    AGENT = "agent"
    ENV = "env"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """One of an agent's own ways to sign in."""

    id: str
    name: str
    description: str = ""
    kind: SignInKind = SignInKind.AGENT
    variables: tuple[str, ...] = ()
    """With ``ENV``: the names of what must be set."""
    command: tuple[str, ...] = ()
    """With ``TERMINAL``: what is to be run in a terminal, the program first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo:
    """One agent of the list, or of the user's own, as this computer has it.

    ``command``: how it is started, empty if it is not installed. ``version``: what it said of itself, else empty."""

    id: str
    name: str
    state: AgentState
    description: str = ""
    command: tuple[str, ...] = ()
    version: str = ""
    install: str = ""
    """The command that installs it; it is shown and never run by us."""
    website: str = ""
    source: str = ""
    """The source that keeps the history of this agent, if one does."""
    sign_in: tuple[SignIn, ...] = ()
    problem: str = ""
    custom: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChoice:
    """Which agent somebody means: one of the list by its id or name, or a command of their own."""

    name: str = ""
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSession:
    """A session that an agent keeps itself and can continue."""

    id: str
    title: str
    workspace: str
    updated_at: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that an option can have."""

    id: str
    name: str
    description: str = ""


class OptionKind(StrEnum):
    """What an option is about; it decides where it is shown."""

    MODE = "mode"
    MODEL = "model"
    THOUGHT = "thought"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOption:
    """Something that an agent offers to be chosen. Without ``choices`` it is on or off: ``value`` is ``true`` or ``false``."""

    id: str
    name: str
    kind: OptionKind
    value: str
    choices: tuple[Choice, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A command of the agent's own that a prompt may begin with, ``/name``."""

    name: str
    description: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of its context an agent has used, and what it cost; 0 and empty where it does not say."""

    used: int = 0
    size: int = 0
    cost: float = 0.0
    currency: str = ""


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One entry of an agent's plan. ``status``: ``pending``, ``in_progress`` or ``completed``."""

    content: str
    status: str = "pending"
    priority: str = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Something beside the words of a prompt: a file by its path, or an image by its bytes."""

    name: str
    path: str = ""
    media_type: str = ""
    data: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a person says to an agent."""

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """A prompt that waits for the turn that runs."""

    id: str
    prompt: Prompt


class Operation(StrEnum):
    """What an agent asks to do."""

    READ = "read"
    EDIT = "edit"
    CREATE = "create"
    DELETE = "delete"
    MOVE = "move"
    RUN = "run"
    FETCH = "fetch"
    OTHER = "other"


class Why(StrEnum):
    """Why a question is asked although a rule might have answered it, or asked again."""

    RUNS_LATER = "runs-later"
    """The file is run by other programs later: build files, hooks, editor tasks."""
    OUTSIDE = "outside"
    """It is outside of the workspace."""
    CHANGED = "changed"
    """The file is another one now than when the question was asked."""
    OTHER_CONTENT = "other-content"
    """What is to be written is not what was allowed."""
    NOT_ANNOUNCED = "not-announced"
    """The agent did not say what it is about to do before it did it."""


class Hold(StrEnum):
    """Why an allowed write waits: what would go can't be kept, so it could not be undone."""

    NONE = ""
    DISK_FULL = "disk-full"
    TOO_LARGE = "too-large"
    CANNOT_STORE = "cannot-store"


class Answer(StrEnum):
    """What a person answers. The middle ones allow, and make a rule for the chat and its workspace."""

    ALLOW_ONCE = "allow-once"
    ALLOW_COMMAND = "allow-command"
    ALLOW_FOLDER = "allow-folder"
    ALLOW_EDITS = "allow-edits"
    ALLOW_READS = "allow-reads"
    DENY = "deny"
    RETRY = "retry"
    """Of a held write: there is room now."""
    UNPROTECTED = "unprotected"
    """Of a held write: let it through although it can't be undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing that an agent waits to be allowed.

    ``subject`` is the command, or the path as it is shown (relative to the workspace, or absolute outside of it). ``title`` and
    ``diffs`` are the agent's words. ``answers`` are those that make sense here, in the order of the buttons."""

    id: str
    chat: ChatId
    turn: int
    agent: str
    operation: Operation
    subject: str
    asked_at: int
    title: str = ""
    folder: str = ""
    """Of a command: where it runs. Of an edit: the folder that `Answer.ALLOW_FOLDER` is about."""
    paths: tuple[str, ...] = ()
    diffs: tuple[DiffFragment, ...] = ()
    why: tuple[Why, ...] = ()
    hold: Hold = Hold.NONE
    answers: tuple[Answer, ...] = (Answer.ALLOW_ONCE, Answer.DENY)
    tool_call_id: str = ""
    protection: Protection = ALL_KEPT
    """What of the workspace is not in the store, where what is asked about may change any of it."""


class RuleKind(StrEnum):
    """What a rule allows without a question."""

    COMMAND = "command"
    FOLDER = "folder"
    EDITS = "edits"
    READS = "reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """An answer given once for all. ``subject``: the exact command, or the folder; it holds for one chat in its workspace."""

    chat: ChatId
    kind: RuleKind
    subject: str = ""
    made_at: int = 0


class Headless(StrEnum):
    """Who answers where no person can be asked: the answer given beforehand (command-line.md ``prompt --allow``)."""

    READS = "reads"
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Given:
    """A question and how it was answered. ``title`` is ours, in words; ``answer`` is ``allowed``, ``denied``, ``cancelled`` or
    ``refused``. ``not_done``: why what was allowed was not done after all. ``said``: what the agent calls it, where we
    have no words for what it is."""

    title: str
    answer: str
    not_done: str = ""
    said: str = ""


class LivePhase(StrEnum):
    """What a live chat is doing."""

    OFF = "off"
    """Nobody has started its agent; a prompt does."""
    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    STOPPING = "stopping"
    UNAVAILABLE = "unavailable"
    """The agent of this chat is not on this computer, or nobody knows which it was."""


class StopReason(StrEnum):
    """How a turn ended."""

    END = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """The agent said that it could not; its words are in `TurnOutcome.problem`."""
    DIED = "died"
    """Its process ended, was flooding us, or stopped answering."""
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """All that the window shows of a live chat beside its transcript and its timeline."""

    chat: ChatId
    phase: LivePhase
    agent: str = ""
    """The agent's name for people."""
    agent_id: str = ""
    version: str = ""
    turn: int = 0
    """The turn that runs, 0 if none does."""
    turn_began_at: int = 0
    queue: tuple[QueuedPrompt, ...] = ()
    questions: tuple[Question, ...] = ()
    options: tuple[AgentOption, ...] = ()
    commands: tuple[AgentCommand, ...] = ()
    usage: Usage = NO_USAGE
    rules: tuple[Rule, ...] = ()
    """What the agent may do without a question, oldest first; known once the agent was started."""
    takes_images: bool = False
    running_commands: tuple[str, ...] = ()
    """The tool calls whose commands run in terminals of ours, so that they can be stopped by themselves."""
    sign_in: tuple[SignIn, ...] = ()
    """With a ``problem``: the agent's ways to sign in, if that is what it wants."""
    problem: str = ""
    """Why the agent is not there, or what ended it, as a sentence; empty if nothing is wrong."""
    error: CoreError | None = None
    """The error behind the problem, for whoever has better words."""


NOT_COMPLETE = Coverage(complete=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """A live turn that ended."""

    chat: ChatId
    turn: int
    stop_reason: StopReason
    files: tuple[FileChange, ...] = ()
    coverage: Coverage = NOT_COMPLETE
    permissions: tuple[Given, ...] = ()
    problem: str = ""
    note: str = ""
    """What else is to be said of its end, as a sentence: that the agent had to be ended, say."""
