"""One file per chat; the directory is the index.

A damaged file is a damaged entry and hides nothing else; nothing ever overwrites it. Files are replaced whole (`disk.atomic`),
so reading takes no lock; whoever writes holds the vault's lock. Blocking.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, ChatDamaged, ChatNotFound, InvalidId, NewerFormat
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

READ_LIMIT = 32 << 20
WRITE_LIMIT = 24 << 20
TOO_LARGE = "larger than a chat file may be"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFile:
    """What the list needs of one chat. ``problem`` is empty, or why the chat cannot be opened; the rest is then a guess."""

    id: ChatId
    name: str = ""
    model: str = ""
    agent: str = ""
    source: str = ""
    source_session: str = ""
    source_path: str = ""
    source_stamp: str = ""
    recorded_workspace: str = ""
    detached: bool = False
    cut: bool = False
    hooked_from: int = 0
    newer: bool = False
    """Written by a newer version: shown, never changed."""
    parent_chat_id: ChatId | None = None
    rewind_from_turn: int = 0
    created_at: int = 0
    updated_at: int = 0
    archived_at: int = 0
    message_count: int = 0
    turn_count: int = 0
    problem: str = ""


class _MessageHead(msgspec.Struct, frozen=True):
    role: str | None = ""
    turn: int | None = 0


class _Head(msgspec.Struct, frozen=True):
    id: str
    name: str | None = ""
    model: str | None = ""
    agent: str | None = ""
    source: str | None = ""
    source_session: str | None = ""
    source_path: str | None = ""
    source_stamp: str | None = ""
    recorded_workspace: str | None = ""
    detached: bool | None = False
    cut: bool | None = False
    hooked_from: int | None = 0
    desktop_format: object = 0
    parent_chat_id: str | None = ""
    rewind_from_turn: int | None = 0
    created_at: int | None = 0
    updated_at: int | None = 0
    archived_at: int | None = 0
    messages: list[_MessageHead] | None = None


_HEAD = msgspec.json.Decoder(_Head)
_Stamp = tuple[int, int, int]


class ChatStore:
    """The chats of one vault. Invariant: a chat is either its old file or its new one, never a mixture."""

    def __init__(self, fs: Fs, vault_folder: Path, *, clock: Callable[[], int]) -> None:
        self._fs = fs
        self.folder = vault_folder / "chats"
        self._clock = clock
        self._headers: dict[ChatId, tuple[_Stamp, ChatFile]] = {}

    def _path(self, chat: ChatId) -> Path:
        return self.folder / f"{parse_chat_id(chat)}.json"

    def list(self) -> "list[ChatFile]":
        """Every chat, newest update first; damaged ones with their ``problem``."""
        found: dict[ChatId, tuple[_Stamp, ChatFile]] = {}
        for name in self._fs.list_names(self.folder):
            if not name.endswith(".json"):
                continue
            try:
                chat = parse_chat_id(name.removesuffix(".json"))
                seen = self._fs.stat(self.folder / name)
            except (InvalidId, CannotRead):
                continue
            if seen is None:
                continue
            stamp = seen.st_size, seen.st_mtime_ns, seen.st_ino
            cached = self._headers.get(chat)
            found[chat] = cached if cached is not None and cached[0] == stamp else (stamp, self._header(chat, seen.st_mtime_ns))
        self._headers = found
        return sorted((header for _, header in found.values()), key=lambda header: (-header.updated_at, header.id))

    def header(self, chat: ChatId) -> ChatFile | None:
        """One chat's header, or None if it has no file."""
        seen = self._fs.stat(self._path(chat))
        return self._header(chat, seen.st_mtime_ns) if seen is not None else None

    def _header(self, chat: ChatId, changed_ns: int) -> ChatFile:
        problem = ""
        try:
            head = _HEAD.decode(self._fs.read_bytes(self._path(chat), limit=READ_LIMIT))
            if head.id == chat:
                return _chat_file(chat, head)
            problem = "the id inside is not the file's name"
        except FileNotFoundError:
            problem = "missing"
        except CannotRead as error:
            problem = error.reason
        except (msgspec.MsgspecError, ValueError, RecursionError):
            problem = "not a chat file"
        return ChatFile(id=chat, name=chat, updated_at=changed_ns // 1_000_000, problem=problem)

    def exists(self, chat: ChatId) -> bool:
        """Whether the chat has a file, readable or not."""
        return self._fs.stat(self._path(chat)) is not None

    def load(self, chat: ChatId) -> tuple[Chat, dict[str, object]]:
        """The chat, and the raw object it was read from. `ChatNotFound`, `ChatDamaged`, `CannotRead`."""
        try:
            data = self._fs.read_bytes(self._path(chat), limit=READ_LIMIT)
        except FileNotFoundError as error:
            raise ChatNotFound(chat) from error
        try:
            return codec.decode(data, chat)
        except codec.Unreadable as error:
            raise ChatDamaged(chat, str(error)) from error

    def save(self, chat: Chat, raw: Mapping[str, object] | None = None) -> None:
        """Write the chat as it is. Without ``raw`` the keys we do not know are taken from the file that is there; a damaged or
        newer file is never overwritten. `CannotWrite` with `TOO_LARGE` above the limit; nothing is changed then."""
        identity = parse_chat_id(chat.id)
        if raw is None and self.exists(identity):
            raw = self.load(identity)[1]
        if raw is not None and is_newer(raw):
            raise NewerFormat(str(self._path(identity)))
        try:
            codec.check_ids(chat)
        except codec.Unreadable as error:
            raise ChatDamaged(chat.id, str(error)) from error
        data = codec.encode(chat, raw)
        if len(data) > WRITE_LIMIT:
            raise CannotWrite(str(self._path(identity)), TOO_LARGE)
        if not self._fs.is_folder(self.folder):  # it may be a link to another volume (chat.md 1.1)
            self._fs.make_folder(self.folder)
        atomic.replace(self._fs, self._path(identity), data, mode=0o600)

    def mutate(self, chat: ChatId, change: Callable[[Chat], Chat | None]) -> Chat:
        """Load, change, save; ``change`` returns None to leave it. ``created_at`` stays, ``updated_at`` is now."""
        old, raw = self.load(chat)
        new = change(old)
        if new is None or new == old:
            return old
        new = msgspec.structs.replace(new, id=old.id, created_at=old.created_at, updated_at=max(self._clock(), old.updated_at))
        self.save(new, raw)
        return new

    def delete(self, chat: ChatId) -> None:
        """Remove a chat's file, durably; missing is fine."""
        atomic.remove(self._fs, self._path(chat))
        self._headers.pop(chat, None)


def is_newer(raw: Mapping[str, object]) -> bool:
    """Whether a newer version wrote the chat: it is shown and never changed."""
    found = raw.get(codec.FORMAT_KEY)
    return isinstance(found, int) and found > codec.FORMAT


def _chat_file(chat: ChatId, head: _Head) -> ChatFile:
    messages = head.messages or []
    users = [message for message in messages if message.role == "user"]
    marked = sum(1 for message in users if message.turn)
    parent: ChatId | None = None
    if head.parent_chat_id:
        try:
            parent = parse_chat_id(head.parent_chat_id)
        except InvalidId:
            parent = None
    return ChatFile(
        id=chat,
        name=head.name or "",
        model=head.model or "",
        agent=head.agent or "",
        source=head.source or "",
        source_session=head.source_session or "",
        source_path=head.source_path or "",
        source_stamp=head.source_stamp or "",
        recorded_workspace=head.recorded_workspace or "",
        detached=bool(head.detached),
        cut=bool(head.cut),
        hooked_from=head.hooked_from or 0,
        newer=is_newer({codec.FORMAT_KEY: head.desktop_format}),
        parent_chat_id=parent,
        rewind_from_turn=head.rewind_from_turn or 0,
        created_at=head.created_at or 0,
        updated_at=head.updated_at or 0,
        archived_at=head.archived_at or 0,
        message_count=len(messages),
        turn_count=marked or (0 if head.source else len(users)),
    )
