"""Everything the core can announce. Past tense, frozen, a closed union; ids and values only.

Published after the change is durable (architecture 9). ``initiator`` is a token of who asked, so that it can ignore its
own echo.
"""

from dataclasses import dataclass

from vibekit_desktop.core.types.chats import ChatHeader, Message
from vibekit_desktop.core.types.checkpoints import RestoreReport
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
    """A restore is running: ``done`` of ``total`` files are in place."""

    chat: ChatId
    done: int
    total: int


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
class RestoreRecovered:
    """A restore that a crash had interrupted was finished at start."""

    chat: ChatId
    report: RestoreReport


@dataclass(frozen=True, slots=True)
class SettingChanged:
    """A setting has another value now, whoever changed it."""

    key: str
    value: int | str


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
    | RestoreRecovered
    | SettingChanged
)
