"""Everything the core can announce. Past tense, frozen, a closed union; ids and values only.

Published after the change is durable (architecture 9). ``initiator`` is a token of who asked, so that it can ignore its
own echo.
"""

from dataclasses import dataclass

from vibekit_desktop.core.types.agents import AgentInfo, LiveState, TurnOutcome
from vibekit_desktop.core.types.chats import ChatHeader, Message
from vibekit_desktop.core.types.checkpoints import RestoreReport, RestoreStep
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


@dataclass(frozen=True, slots=True)
class ChatCreated:
    """A chat appeared in the list (also when a source session was found)."""

    header: ChatHeader


@dataclass(frozen=True, slots=True)
class ChatUpdated:
    """A chat's header changed."""

    header: ChatHeader


@dataclass(frozen=True, slots=True)
class ChatDeleted:
    """A chat is gone from the list."""

    chat: ChatId


@dataclass(frozen=True, slots=True)
class ChatArchived:
    """A chat went from the list into the archive."""

    chat: ChatId


@dataclass(frozen=True, slots=True)
class MessageAppended:
    """A chat has a new message, at its end."""

    chat: ChatId
    message: Message


@dataclass(frozen=True, slots=True)
class MessageUpdated:
    """A message of a chat is another now; the whole of it."""

    chat: ChatId
    message: Message


@dataclass(frozen=True, slots=True)
class ImportProgressed:
    """Reading a history: ``done`` of ``total`` bytes."""

    chat: ChatId
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class RestoreProgressed:
    """A restore is running: ``done`` of ``total`` files are through this step. Not told for every file."""

    chat: ChatId
    done: int
    total: int
    step: RestoreStep = RestoreStep.PLACE


@dataclass(frozen=True, slots=True)
class WorkspaceRestored:
    """Files of a workspace were put back by a restore, an undo or a redo."""

    chat: ChatId
    workspace: str
    paths: tuple[WorkspacePath, ...]
    report: RestoreReport
    initiator: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptChanged:
    """A transcript was cut, or its cut turns came back; ``messages`` is its length now."""

    chat: ChatId
    messages: int
    initiator: str = ""


@dataclass(frozen=True, slots=True)
class HistoryGrew:
    """Somebody added to a chat's log: a turn began or ended, a write was captured. ``workspace``: whose files it is about."""

    chat: ChatId
    workspace: str


@dataclass(frozen=True, slots=True)
class WorkspaceMoved:
    """The folder of the chat that this window shows is not where it was any more, is there again, or is another one; or
    somebody has said where a workspace is now. ``workspace``: its path until then."""

    workspace: str


@dataclass(frozen=True, slots=True)
class ReviewChanged:
    """Somebody marked a file of a chat's changes as reviewed, or no longer, or wrote, changed, sent or deleted a comment."""

    chat: ChatId


@dataclass(frozen=True, slots=True)
class TimelineNoted:
    """Somebody pinned a point of a chat, or forgot its name, or settled a conflict."""

    chat: ChatId


@dataclass(frozen=True, slots=True)
class RestoreRecovered:
    """A restore that a crash had interrupted was finished at start."""

    chat: ChatId
    report: RestoreReport


@dataclass(frozen=True, slots=True)
class SettingChanged:
    """A setting has another value now, whoever changed it."""

    key: str
    value: int | str


@dataclass(frozen=True, slots=True)
class LiveChanged:
    """What a live chat is doing, waiting for, or offering changed; the whole of it as it is now."""

    state: LiveState


@dataclass(frozen=True, slots=True)
class AnswerStreamed:
    """The answer that an agent is giving, as it is now: at most 30 times a second, and not in the chat's file before its turn
    ended. `MessageAppended` with the same message id is its end."""

    chat: ChatId
    turn: int
    message: Message


@dataclass(frozen=True, slots=True)
class LiveTurnEnded:
    """A turn of a live chat ended; its answer and its lines are stored."""

    outcome: TurnOutcome


@dataclass(frozen=True, slots=True)
class AgentChecked:
    """Something more is known of an agent: it was started, it wants a sign-in, it has a version."""

    agent: AgentInfo


Event = (
    ChatCreated
    | ChatUpdated
    | ChatDeleted
    | ChatArchived
    | MessageAppended
    | MessageUpdated
    | ImportProgressed
    | RestoreProgressed
    | WorkspaceRestored
    | TranscriptChanged
    | HistoryGrew
    | WorkspaceMoved
    | ReviewChanged
    | TimelineNoted
    | RestoreRecovered
    | SettingChanged
    | LiveChanged
    | AnswerStreamed
    | LiveTurnEnded
    | AgentChecked
)
