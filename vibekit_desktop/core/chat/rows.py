"""What the list needs of one chat, and how it is read out of a chat file. No disk; any thread."""

import codecs

import msgspec

from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.chat.salvage import salvage
from vibekit_desktop.core.types.chats import Chat, ChatPart, Role, Whole
from vibekit_desktop.core.types.errors import InvalidId
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id


class Details(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What is rarely asked of a row: where its chat comes from, and how it is followed."""

    model: str = ""
    source_session: str = ""
    source_path: str = ""
    source_stamp: str = ""
    recorded_workspace: str = ""
    detached: bool = False
    cut: bool = False
    hooked_from: int = 0
    newer: bool = False
    sessions: tuple[str, ...] = ()
    parts: tuple[int, ...] = ()
    keeps_in: tuple[str, ...] = ()


_DETAILS = msgspec.msgpack.Decoder(Details)
_NONE = msgspec.Raw(msgspec.msgpack.encode(Details()))


class ChatFile(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One chat of the list. ``problem`` is empty, or why the chat cannot be opened; the rest is then a guess."""

    id: ChatId
    name: str = ""
    agent: str = ""
    source: str = ""
    created_at: int = 0
    updated_at: int = 0
    message_count: int = 0
    turn_count: int = 0
    parent_chat_id: ChatId | None = None
    rewind_from_turn: int = 0
    archived: bool = False
    """Where its file is decides, not ``archived_at``."""
    archived_at: int = 0
    pinned_at: int = 0
    summary: str = ""
    problem: str = ""
    packed: msgspec.Raw = _NONE
    """The `Details`, decoded when they are asked for: a list of ten thousand rows has no use for them."""
    unreadable: int = 0
    """With a ``problem``: how many of its messages are unreadable; 0 where that is not known, or something else is wrong."""

    @property
    def details(self) -> Details:
        """Everything else, at once."""
        return _DETAILS.decode(self.packed)

    @property
    def model(self) -> str:
        return self.details.model

    @property
    def source_session(self) -> str:
        return self.details.source_session

    @property
    def source_path(self) -> str:
        return self.details.source_path

    @property
    def source_stamp(self) -> str:
        return self.details.source_stamp

    @property
    def recorded_workspace(self) -> str:
        return self.details.recorded_workspace

    @property
    def detached(self) -> bool:
        return self.details.detached

    @property
    def cut(self) -> bool:
        return self.details.cut

    @property
    def hooked_from(self) -> int:
        return self.details.hooked_from

    @property
    def newer(self) -> bool:
        """Written by a newer version: shown, never changed."""
        return self.details.newer

    @property
    def sessions(self) -> tuple[str, ...]:
        """The agent's sessions that this chat is, or was before."""
        return self.details.sessions

    @property
    def parts(self) -> tuple[int, ...]:
        """The numbers of its parts."""
        return self.details.parts

    @property
    def keeps_in(self) -> tuple[str, ...]:
        """The chats that hold the turns which were cut away from it."""
        return self.details.keeps_in


class _MessageHead(msgspec.Struct, frozen=True, gc=False):
    role: str | None = ""
    turn: Whole | None = 0


class _Head(msgspec.Struct, frozen=True):
    id: str
    name: str | None = ""
    model: str | None = ""
    agent: str | None = ""
    acp_session_id: str | None = ""
    prior_acp_session_ids: tuple[str, ...] | None = ()
    source: str | None = ""
    source_session: str | None = ""
    source_path: str | None = ""
    source_stamp: str | None = ""
    recorded_workspace: str | None = ""
    detached: bool | None = False
    cut: bool | None = False
    hooked_from: Whole | None = 0
    parent_chat_id: str | None = ""
    rewind_from_turn: Whole | None = 0
    created_at: Whole | None = 0
    updated_at: Whole | None = 0
    archived_at: Whole | None = 0
    pinned_at: Whole | None = 0
    summary: str | None = ""
    messages: list[_MessageHead] | None = None
    parts: tuple[ChatPart, ...] | None = ()
    removed_turns: tuple[tuple[int, int, str], ...] | None = ()
    desktop_format: object = 0


class _Whole(Chat, frozen=True, kw_only=True):
    desktop_format: object = 0


_HEAD = msgspec.json.Decoder(_Head)
_WHOLE = msgspec.json.Decoder(_Whole)


def read(chat: ChatId, data: bytes, *, changed_ms: int, archived: bool) -> ChatFile:
    """The row of a chat file; with a ``problem`` if it cannot be opened."""
    try:
        found, said = _opened(chat, data)
        return of(found, archived=archived, newer=codec.is_newer({codec.FORMAT_KEY: said}))
    except codec.Unreadable as error:
        return damaged(chat, str(error), data, changed_ms=changed_ms, archived=archived)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return damaged(chat, "not a chat file", data, changed_ms=changed_ms, archived=archived)


def _opened(chat: ChatId, data: bytes) -> tuple[Chat | _Head, object]:
    """What a row needs, and what the file says of its format."""
    if not data.startswith(codec.WRITTEN) or b"\\ud" in data or b"\\uD" in data:
        return _strictly(chat, data)  # neither of us writes like this: look at everything
    if not data.isascii():
        codecs.utf_8_decode(data, "strict", True)
    if len(data) <= codec.CHECKED_BYTES:
        try:
            found = _WHOLE.decode(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return _strictly(chat, data)  # the original writes null for some lists
        if found.id == chat:
            codec.check_ids(found)
            return found, found.desktop_format
    head = _HEAD.decode(data)
    if head.id != chat:
        raise codec.Unreadable("the id inside is not the file's name")
    return head, head.desktop_format


def _strictly(chat: ChatId, data: bytes) -> tuple[Chat, object]:
    found, raw = codec.decode(data, chat)
    return found, raw.get(codec.FORMAT_KEY)


def damaged(chat: ChatId, problem: str, data: bytes = b"", *, changed_ms: int, archived: bool) -> ChatFile:
    """The row of a chat that cannot be opened. ``data``: its file, as far as that can be read."""
    found = salvage(data)
    return ChatFile(
        id=chat,
        name=found.name or chat,
        agent=found.agent,
        updated_at=found.updated_at or changed_ms,
        message_count=found.messages - found.unreadable,
        archived=archived,
        problem=problem,
        unreadable=found.unreadable,
    )


def of(chat: Chat | _Head, *, archived: bool, newer: bool = False) -> ChatFile:
    """The row of a chat. The counts are counted, whatever the file says."""
    parts = chat.parts or ()
    messages = chat.messages or ()
    users = [message for message in messages if message.role == Role.USER]
    marked = sum(1 for message in users if message.turn) + sum(part.turns for part in parts)
    prompts = len(users) + sum(part.prompts for part in parts)
    parent: ChatId | None = None
    if chat.parent_chat_id:
        try:
            parent = parse_chat_id(chat.parent_chat_id)
        except InvalidId:
            parent = None
    sessions = (*(chat.prior_acp_session_ids or ()), chat.acp_session_id or "")
    details = Details(
        model=chat.model or "",
        source_session=chat.source_session or "",
        source_path=chat.source_path or "",
        source_stamp=chat.source_stamp or "",
        recorded_workspace=chat.recorded_workspace or "",
        detached=bool(chat.detached),
        cut=bool(chat.cut),
        hooked_from=chat.hooked_from or 0,
        newer=newer,
        sessions=tuple(session for session in sessions if session),
        parts=tuple(part.n for part in parts),
        keeps_in=tuple(branch for _, _, branch in chat.removed_turns or ()),
    )
    return ChatFile(
        id=ChatId(chat.id),
        name=chat.name or "",
        agent=chat.agent or "",
        source=chat.source or "",
        created_at=chat.created_at or 0,
        updated_at=chat.updated_at or 0,
        message_count=len(messages) + sum(part.messages for part in parts),
        turn_count=marked or (0 if chat.source else prompts),
        parent_chat_id=parent,
        rewind_from_turn=chat.rewind_from_turn or 0,
        archived=archived,
        archived_at=chat.archived_at or 0,
        pinned_at=chat.pinned_at or 0,
        summary=chat.summary or "",
        packed=msgspec.Raw(msgspec.msgpack.encode(details)),
    )
