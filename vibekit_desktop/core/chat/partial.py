"""The answer that an agent is giving, kept while it comes, so that a crash loses at most a second of it.

``<chat>.partial`` beside the chat's file: the message as it will be stored, with the turn that it belongs to, and a mark that
it is ours: the original has files of that name too, which are its own to recover. Replaced whole.

| crash | what is left | who goes on |
| --- | --- | --- |
| while the answer comes | what it was up to a second ago | `recover` puts it at the chat's end and says so |
| between the stored message and `finish` | both | `recover` finds the message stored, and removes the file |
| inside `recover` | the same | the next `recover` |

Blocking: `add` is called in a thread. Recovery holds the vault's lock.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.chat.places import partial_in
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.types.chats import Chat, Message, Role, ToolCall
from vibekit_desktop.core.types.errors import CannotWrite, CoreError, InvalidId, InvalidText, NewerFormat
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id, parse_message_id

EVERY_S = 1.0
INTERRUPTED = "interrupted"
OURS = "desktop_partial"
"""The key that says so."""
_SUFFIX = ".partial"
_LIMIT_BYTES = 256 << 20
_log = logging.getLogger(__name__)


class _Mark(msgspec.Struct, frozen=True):
    desktop_partial: int = 0
    id: str = ""


class Partial:
    """The running answer of one chat. Invariant: after `finish` no file of it is made, whoever still calls `add`."""

    def __init__(self, store: ChatStore, chat: ChatId, *, turn: int, now_s: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._path = partial_in(store.folder, chat)
        self._chat = chat
        self._turn = turn
        self._now_s = now_s
        self._guard = threading.Lock()  # the threads that callers use may overtake each other
        self._saved_at: float | None = None
        self._waiting: Message | None = None
        self._finished = False

    def add(self, message: Message) -> bool:
        """The answer as it is now; saved unless one was saved within the last second. Whether it was."""
        with self._guard:
            self._waiting = message
            due = self._saved_at is None or self._now_s() - self._saved_at >= EVERY_S
            return due and self._save()

    def flush(self) -> bool:
        """Save what `add` left for later; whether there was something."""
        with self._guard:
            return self._save()

    def finish(self) -> None:
        """The answer is stored in the chat, durably: the file goes."""
        with self._guard:
            self._finished = True
            self._waiting = None
            faults.point("partial.finish")
            atomic.remove(self._store.fs, self._path)

    def _save(self) -> bool:
        message = self._waiting
        if message is None or self._finished or not _says_something(message) or not self._store.exists(self._chat):
            return False
        try:
            (item,) = codec.objects([msgspec.structs.replace(message, turn=self._turn)], None)
            data = msgspec.json.encode({OURS: 1, **item} if isinstance(item, dict) else item)
        except UnicodeEncodeError as error:
            raise InvalidText(self._chat) from error
        fs = self._store.fs
        if self._saved_at is None and fs.stat(self._path) is not None and _id_of_ours(fs, self._path) != message.id:
            _keep_aside(fs, self._path)  # of another answer, whoever's: it is not ours to replace
        faults.point("partial.save")
        try:
            atomic.replace(fs, self._path, data, mode=0o600)
        except CannotWrite:
            # No lock is held here, so a sweep may have taken what is half written for what a crash left.
            atomic.replace(fs, self._path, data, mode=0o600)
        self._waiting = None
        self._saved_at = self._now_s()
        return True


def _says_something(message: Message) -> bool:
    return bool(message.content or message.reasoning or message.tool_calls or message.blocks)


def interrupted(store: ChatStore) -> list[ChatId]:
    """The chats of the list with an answer of ours that nobody gives any more. One listing; takes no lock."""
    found: list[ChatId] = []
    for name in store.fs.list_names(store.folder):
        try:
            chat = parse_chat_id(name.removesuffix(_SUFFIX)) if name.endswith(_SUFFIX) else None
            if chat is not None and _is_left(store, chat):
                found.append(chat)
        except InvalidId:
            continue
        except CoreError as error:
            _log.info("the interrupted answer of %s was not looked at: %s", name, error.code)
    return found


def recover(store: ChatStore, chats: Iterable[ChatId] | None = None) -> list[ChatId]:
    """Put every answer of ours that a crash interrupted at the end of its chat, with an event after it that says so; those
    chats. ``chats``: only of these.

    What cannot be stored is kept aside as ``<chat>.recovered``. Left alone: the answer of a turn that a process runs, of a chat
    that is archived, damaged or a newer version's, and what is not ours.
    """
    found: list[ChatId] = []
    for chat in interrupted(store) if chats is None else chats:
        try:
            if _is_left(store, chat) and _recover_one(store, chat):
                found.append(chat)
        except CoreError as error:
            _log.info("the interrupted answer of chat %s was left as it is: %s", chat, error.code)
    return found


def _is_left(store: ChatStore, chat: ChatId) -> bool:
    path = partial_in(store.folder, chat)
    if not store.fs.is_file(path) or TurnLock(store.fs, store.places.desktop, chat).running():
        return False
    return _id_of_ours(store.fs, path) is not None


def _recover_one(store: ChatStore, chat: ChatId) -> bool:
    fs, path = store.fs, partial_in(store.folder, chat)
    message = _read(fs, path)
    if message is None or not (store.where(chat) or chat in store.tombstones):
        _keep_aside(fs, path)
        return False
    if not store.where(chat):  # it went with its chat, but for this
        atomic.remove(fs, path)
        return False
    if not store.exists(chat):
        return False
    known = _is_stored(store, chat, message.id)
    if not known:
        event = Message(id=str(uuid.uuid4()), role=Role.EVENT.value, ts=message.ts, event_kind=INTERRUPTED, turn=message.turn)
        store.mutate(chat, lambda found, _: _with(found, message, event))
    faults.point("partial.recovered")
    atomic.remove(fs, path)
    return not known


def _with(chat: Chat, message: Message, event: Message) -> Chat:
    """The chat with an answer that nobody goes on with."""
    calls = tuple(_ended(call) for call in message.tool_calls)
    ended = msgspec.structs.replace(message, role=Role.ASSISTANT.value, tool_calls=calls)
    return msgspec.structs.replace(chat, messages=(*(chat.messages or ()), ended, event))


def _ended(call: ToolCall) -> ToolCall:
    return msgspec.structs.replace(call, status="failed") if call.status in ("pending", "in_progress") else call


def _is_stored(store: ChatStore, chat: ChatId, message: str) -> bool:
    found, raw = store.load(chat)
    if codec.is_newer(raw):
        raise NewerFormat(str(store.places.active(chat)))
    return store.has_lately(found, message)


def _id_of_ours(fs: Fs, path: Path) -> str | None:
    """The id of the message in a file of ours; None if the file is not ours. `CannotRead` if the system refuses it."""
    if not fs.is_file(path):
        return None
    try:
        found = msgspec.json.decode(fs.read_bytes(path, limit=_LIMIT_BYTES), type=_Mark)
    except (FileNotFoundError, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found.id if found.desktop_partial else None


def _read(fs: Fs, path: Path) -> Message | None:
    """The message in a file of ours; None if it is none that can be stored."""
    try:
        found = msgspec.json.decode(fs.read_bytes(path, limit=_LIMIT_BYTES), type=Message)
        parse_message_id(found.id)
    except (InvalidId, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found if _says_something(found) else None


def _keep_aside(fs: Fs, path: Path) -> None:
    """Out of the way, and not lost: under a name that nobody has."""
    taken = set(fs.list_names(path.parent))
    number = 1
    while (name := f"{path.stem}.recovered" + (f"-{number}" if number > 1 else "")) in taken:
        number += 1
    faults.point("partial.aside")
    fs.rename(path, path.parent / name)
    fs.sync_folder(path.parent)
