"""What a chat, a message, a turn and a chat header are.

The structs mirror the stored keys of chat.md 1.4 to 1.8 plus our additive ones; unknown keys are kept by
`core.chat.codec`, which overlays these values on the raw object. Times are Unix milliseconds. Frozen; any thread.

What there are thousands of is made with ``gc=False``: such values hold texts, each other in one direction, and plans as JSON
has them, so no cycle goes through them, and the collector does not walk over a hundred thousand messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import msgspec

from vibekit_desktop.core.types.ids import ChatId, MessageId

Whole = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
"""A number as the original stores it, in 64 bits. A larger one is damage: nobody else could read what we write of it."""


class Role(StrEnum):
    """Who a message is by. ``event`` is a note of the program between messages."""

    USER = "user"
    ASSISTANT = "assistant"
    EVENT = "event"


class Block(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One piece of an answer, in the order it came: ``text``, ``thinking`` or ``tool_use`` (chat.md 1.7)."""

    type: str = msgspec.field(default="text")
    text: str = ""
    thinking: str = ""
    tool_call_id: str = ""
    agent_subtask_id: str = ""
    duration_ms: Whole = 0
    """Ours: how long the agent thought this; 0 = not known."""


COMMAND_KINDS = ("execute", "shell", "command", "hook")
"""The kinds of tool calls that run a command."""


class Location(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A file a tool call looks at; the path as received, it may be absolute."""

    path: str = ""
    line: Whole = 0


class DiffFragment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A fragment of a change as the agent told it; never a whole file, never applied."""

    path: str = ""
    old_text: str = ""
    new_text: str = ""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One call of a tool inside an answer (chat.md 1.8)."""

    id: str = ""
    title: str = ""
    kind: str = "other"
    status: str = "completed"
    output: str = ""
    input: msgspec.Raw = msgspec.Raw(b"")
    locations: tuple[Location, ...] = ()
    diffs: tuple[DiffFragment, ...] = ()
    sub_session_id: str = ""
    agent_subtask_id: str = ""
    duration_ms: Whole = 0
    ts: Whole = 0
    outcome: str = ""
    """Ours: why a failed call failed, where it was not the tool: ``denied`` (by the person) or ``stopped``."""
    exit_code: Whole | None = None
    """Ours: how the command of this call ended, where somebody who knows has said it."""


class Attached(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Something that went with a prompt: a file by its path, an image by its name alone. Never its content."""

    name: str
    path: str = ""
    media_type: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One message. An assistant message is one whole turn of the agent; its tool calls are inside it."""

    id: str = ""
    role: str = "user"
    ts: Whole = 0
    content: str = ""
    reasoning: str = ""
    event_kind: str = ""
    checkpoint_tag: str = ""
    turn: Whole = 0
    """Ours: the turn that a user message began (docs/storage-format.md 6); 0 = not known."""
    tool_calls: tuple[ToolCall, ...] = ()
    blocks: tuple[Block, ...] = ()
    plan: object = None
    """The agent's plan shown in this message, a list of entries (chat.md 1.9), as it was stored: nothing of it is checked."""
    turn_elapsed_ms: Whole = 0
    attachments: tuple[Attached, ...] = ()
    """Ours: what went with a user's message beside its words."""


class ChatPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Older messages of a chat, in a file of their own that never changes: ``desktop/overflow/<chat>-<n>.json``."""

    n: Whole
    messages: Whole
    """How many there are; a part is never empty."""
    size: Whole
    sha: str
    """SHA-256 of the part's file."""
    head: Whole = 0
    """How many bytes of the file come before its messages, to the end of the prompts."""
    head_sha: str = ""
    """SHA-256 of those."""
    prompts: Whole = 0
    """How many of the messages are the user's."""
    turns: Whole = 0
    """How many of those say their turn."""


class Chat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The stored state of one chat (chat.md 1.4), with our additive keys at the end.

    The transcript is the messages of ``parts``, in order, and then ``messages``, the newest."""

    id: str = ""
    name: str = ""
    model: str = ""
    acp_session_id: str = ""
    prior_acp_session_ids: tuple[str, ...] = ()
    """Sessions that were resumed before, oldest first; never trimmed."""
    current_mode_id: str = ""
    available_models: object = None
    """The models that the agent offered last, as they were stored: nothing of it is checked. So with the modes."""
    available_modes: object = None
    parent_chat_id: str = ""
    rewind_from_turn: Whole = 0
    messages: tuple[Message, ...] | None = None
    created_at: Whole = 0
    updated_at: Whole = 0
    archived_at: Whole = 0
    summary: str = ""
    """One line that was made when the chat was archived."""
    agent: str = ""
    """Ours: the agent's name for people, for example ``Claude Code``."""
    source: str = ""
    """Ours: the source this chat was materialised from (``claude-code``), or empty."""
    source_session: str = ""
    source_path: str = ""
    source_stamp: str = ""
    """Ours: size, mtime and read length of the source file when it was last read, so that growth is noticed."""
    recorded_workspace: str = ""
    """Ours: the folder the session was recorded in."""
    detached: bool = False
    """Ours: recorded in another folder than the vault's workspace, so not part of the vault's history."""
    cut: bool = False
    """Ours: prompted or cut here; it no longer follows its source (docs/storage-format.md 6)."""
    hooked_from: Whole = 0
    """Ours: the first turn that a hook told of a chat that has a source. From there on turns and observations are the hooks',
    messages the source's (docs/storage-format.md 6); 0 = none."""
    removed_turns: tuple[tuple[Whole, Whole, str], ...] = ()
    """Ours: (first turn, last turn, branch chat id) for each cut in force; shown as one line in the transcript."""
    pinned_at: Whole = 0
    """Ours: when the chat was pinned to the top of the list; 0 = it is not."""
    parts: tuple[ChatPart, ...] = ()
    """Ours: the older messages, oldest part first."""
    agent_id: str = ""
    """Ours: the agent that answers in this chat, by its id in the list of agents; empty for one of the user's own commands."""
    agent_command: tuple[str, ...] = ()
    """Ours: the user's own command that is the agent of this chat, the program first."""
    session_seen: str = ""
    """Ours: the last message that the agent's session knows. While it is the transcript's last one the session can go on; after
    a cut, a merge or another agent it cannot, and a new one is begun with the history."""

    @property
    def first_index(self) -> int:
        """The index in the whole transcript of ``messages[0]``: how many messages are in parts."""
        return sum(part.messages for part in self.parts)


class ChatStatus(StrEnum):
    """Why a row of the list looks the way it does."""

    PLAIN = "plain"
    FOUND = "found"
    """A session of another program that nobody has opened yet."""
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatHeader:
    """One row of the chat list. ``lines_added`` and ``lines_removed`` are the net change on disk by this chat;
    None while nobody has counted them. ``turn_count`` counts real prompts."""

    id: ChatId
    name: str
    agent: str
    source: str
    workspace: str
    created_at: int
    updated_at: int
    message_count: int
    turn_count: int
    lines_added: int | None = None
    lines_removed: int | None = None
    parent_chat_id: ChatId | None = None
    rewind_from_turn: int = 0
    archived: bool = False
    archived_at: int = 0
    pinned_at: int = 0
    summary: str = ""
    status: ChatStatus = ChatStatus.PLAIN
    problem: str = ""
    """With ``DAMAGED``: what is wrong, in one sentence without content."""
    unreadable: int = 0
    """With ``DAMAGED``: how many messages are unreadable; 0 where that is not known, or something else is wrong."""


class WhyLost(StrEnum):
    """Why a message of a damaged chat can't be read."""

    NOT_JSON = "not-json"
    """What is written there is cut off, or not what a program writes."""
    NO_OBJECT = "no-object"
    WRONG_TYPE = "wrong-type"
    NO_ID = "no-id"


@dataclass(frozen=True, slots=True, kw_only=True)
class LostMessage:
    """A message that can't be read: which of the whole transcript, from 1, why, and by which of its keys, if it is one."""

    number: int
    why: WhyLost
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What is wrong with a chat that is shown as far as it can be read. ``problem``: why its ``file`` is refused, in one
    sentence without content; ``messages``: how many there are, the ``lost`` ones included. Not ``ended``: the file breaks off
    among its messages, and nobody knows how many there were."""

    file: str
    problem: str
    messages: int
    lost: tuple[LostMessage, ...] = ()
    ended: bool = True


class TurnSpan(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where one turn stands in the transcript: indexes into ``messages``, both included, from 0.

    ``tag`` is the tag of the turn's first announced capture, or empty. ``duration_ms`` 0 = not known.
    """

    turn: int
    first_message: int
    last_message: int
    tag: str = ""
    duration_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptShape:
    """What the checkpoint kernel must know of a transcript to cut it: its length, and for each turn where its prompt stands.

    ``prompt_index`` and ``prompts`` map a turn to the index (from 0) and the text of its user message; turns that the
    transcript does not hold (abandoned forks, turns cut away) are not in them. ``unmarked``: index and text of the user
    messages that do not say their turn (the original's).
    """

    messages: int
    prompt_index: Mapping[int, int]
    prompts: Mapping[int, str]
    unmarked: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    """A chat opened for reading: header, messages in order, the turns among them. ``notes`` are sentences' codes."""

    header: ChatHeader
    chat: Chat
    messages: tuple[Message, ...]
    turns: tuple[TurnSpan, ...]
    vault_workspace: str
    workspace_found: bool
    raw: Mapping[str, object]
    """The chat object as ``show --json`` prints it, chat.md 1.4."""
    first_index: int = 0
    """The index in the whole transcript of ``messages[0]``; above 0 there are earlier messages, in parts."""
    damage: Damage | None = None
    """Of a damaged chat: what is shown is what can be read, and nothing of it can be changed."""


class ExportFormat(StrEnum):
    """What a chat can be exported as: its transcript as a document, as data, as a page; or its changes as a unified diff."""

    MARKDOWN = "md"
    JSON = "json"
    HTML = "html"
    PATCH = "patch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """What is left out of an exported transcript: what commands printed; what looks like a secret."""

    output: bool = False
    secrets: bool = False


WHOLE = Withheld()


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A chat, or its changes, as one file. ``name`` is what the file may be called on every system (chat.md 6.1)."""

    name: str
    data: bytes
    media_type: str


def message_id(message: Message) -> MessageId:
    """The id of a message that was loaded through the codec, which has checked it."""
    return MessageId(message.id)
