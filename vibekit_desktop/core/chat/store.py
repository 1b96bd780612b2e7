"""One file per chat; the directory is the index. The older messages of a long chat are in parts beside it.

A damaged file is a damaged entry and hides nothing else; nothing ever overwrites it. Files are replaced whole (`disk.atomic`),
so reading takes no lock; whoever writes holds the vault's lock. The commit point of a change is the rename of the chat file:

| crash | what is left | who cleans |
| --- | --- | --- |
| before it | the old chat; parts that nothing names | the next change of the chat; `leftovers.sweep` |
| after it | the new chat; parts that only the old one named | the same |
| inside a deletion, before the file goes | the chat, with a tombstone that does not count while it is there | nobody needs to |
| after it | a draft, a running answer, a review, parts of no chat | the same deletion again; `leftovers.sweep` |

Blocking.
"""

import builtins
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat import codec, salvage
from vibekit_desktop.core.chat.fitting import LIMITS, ChatLimits, fitted, new_part
from vibekit_desktop.core.chat.headers import HeaderCache
from vibekit_desktop.core.chat.parts import Parts
from vibekit_desktop.core.chat.places import Places, draft_in, partial_in
from vibekit_desktop.core.chat.reviews import Reviews
from vibekit_desktop.core.chat.rows import ChatFile
from vibekit_desktop.core.chat.timeline_notes import TimelineNotes
from vibekit_desktop.core.chat.tombstones import Tombstones
from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import Chat, ChatPart, Damage, Message
from vibekit_desktop.core.types.errors import (
    BugError,
    CannotRead,
    ChatDamaged,
    ChatGone,
    ChatNotFound,
    NewerFormat,
)
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

_HARDLY_ANY = 2
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mutated:
    """What became of a change: the chat as it is now, whether anything was written, whether the chat was made."""

    chat: Chat
    written: bool
    created: bool


@dataclass(frozen=True, slots=True)
class SessionIds:
    """The agents' sessions that chats refer to. Not ``complete``: a chat could not be read, so there may be more."""

    ids: frozenset[str]
    complete: bool


class ChatStore:
    """The chats of one vault. Invariant: a chat is either its old transcript or its new one, never a mixture."""

    def __init__(self, fs: Fs, vault_folder: Path, *, clock: Callable[[], int], limits: ChatLimits = LIMITS) -> None:
        self.fs = fs
        self._clock = clock
        self._limits = limits
        self.places = Places(fs, vault_folder)
        self.folder = self.places.folder
        self.parts = Parts(fs, self.places.desktop)
        self.reviews = Reviews(fs, self.places)
        self.notes = TimelineNotes(fs, self.places)
        self.tombstones = Tombstones(fs, self.places.desktop, clock=clock)
        self._active = HeaderCache(fs, self.places.desktop / "headers", archived=False, limit=limits.read)
        self._archived = HeaderCache(fs, self.places.desktop / "headers-archive", archived=True, limit=limits.read)

    # -- the list ------------------------------------------------------------------------------------------------

    def list(self, *, archived: bool = False) -> "list[ChatFile]":
        """Every chat, newest update first; damaged ones with their ``problem``."""
        if not archived:
            return self._active.verified(self.folder)
        folder = self.places.archive()
        return self._archived.verified(folder) if folder is not None else []

    def first(self, limit: int) -> "builtins.list[ChatFile]":
        """The beginning of the list as it was known last, at once; no chat is looked at."""
        return self._active.first(limit)

    def header(self, chat: ChatId) -> ChatFile | None:
        """One chat's row, archived or not, or None if it has no file."""
        found = self._active.one(self.places.active(chat), chat)
        if found is not None:
            return found
        path = self.places.archived(chat)
        return self._archived.one(path, chat) if path is not None else None

    def exists(self, chat: ChatId) -> bool:
        """Whether the chat has a file in the list, readable or not."""
        return self.fs.stat(self.places.active(chat)) is not None

    def where(self, chat: ChatId) -> str:
        """``active``, ``archived``, or empty if the chat has no file."""
        home = self.places.home(chat)
        return "" if home is None else "active" if home == self.folder else "archived"

    def sessions(self) -> SessionIds:
        """Every session of an agent that a chat refers to, earlier ones and archived chats included."""
        try:
            found = [*self.list(), *self.list(archived=True)]
        except CannotRead:
            return SessionIds(frozenset(), complete=False)
        return SessionIds(
            frozenset(session for row in found for session in row.sessions), complete=not any(row.problem for row in found)
        )

    def children(self, chat: ChatId) -> "builtins.list[ChatId]":
        """The branches of a chat, archived ones too; not the branches of those."""
        return [row.id for row in (*self.list(), *self.list(archived=True)) if row.parent_chat_id == chat]

    # -- reading -------------------------------------------------------------------------------------------------

    def load(self, chat: ChatId) -> tuple[Chat, dict[str, object]]:
        """The chat with its newest messages, and the raw object it was read from; an archived one if it is not in the list.
        `ChatNotFound`, `ChatDamaged`, `CannotRead`."""
        home = self.places.home(chat)
        if home is None:
            raise ChatNotFound(chat)
        return self.read(home / f"{chat}.json", chat)

    def read(self, path: Path, chat: ChatId) -> tuple[Chat, dict[str, object]]:
        """As `load`, from one place."""
        before = self.fs.stat(path)
        try:
            found, raw = codec.decode(self.fs.read_bytes(path, limit=self._limits.read), chat)
        except FileNotFoundError as error:
            raise ChatNotFound(chat) from error
        except codec.Unreadable as error:
            self._rows_of(path).damaged(path, chat, str(error))
            raise ChatDamaged(chat, str(error)) from error
        if before is not None:
            self._rows_of(path).opened(path, before, found, newer=codec.is_newer(raw))
        return found, raw

    def load_to_show(self, chat: ChatId) -> tuple[Chat, Mapping[str, object]]:
        """As `load`, in a fraction of the time for a large file, and not to be written again: see `codec.decode_to_show`."""
        home = self.places.home(chat)
        if home is None:
            raise ChatNotFound(chat)
        path = home / f"{chat}.json"
        before = self.fs.stat(path)
        try:
            data = self.fs.read_bytes(path, limit=self._limits.read)
            found, said = codec.decode_to_show(data, chat)
        except FileNotFoundError as error:
            raise ChatNotFound(chat) from error
        except codec.Unreadable as error:
            self._rows_of(path).damaged(path, chat, str(error))
            raise ChatDamaged(chat, str(error)) from error
        if before is not None:
            self._rows_of(path).opened(path, before, found, newer=codec.is_newer({codec.FORMAT_KEY: said}))
        return found, codec.Stored(data, {"message_count": self.count(found)})

    def load_damaged(self, chat: ChatId) -> tuple[Chat, Damage | None]:
        """The chat as far as it can be read, and what is wrong with it; never to be written again. None: nothing is."""
        try:
            return self.load_to_show(chat)[0], None
        except ChatDamaged as error:
            path = (self.places.home(chat) or self.folder) / f"{chat}.json"
            try:
                data = self.fs.read_bytes(path, limit=self._limits.read)
            except FileNotFoundError as gone:
                raise ChatNotFound(chat) from gone
            return salvage.transcript(data, chat, error.reason, str(path))

    def count(self, chat: Chat) -> int:
        """How many messages the whole transcript has."""
        return chat.first_index + len(chat.messages or ())

    def page(self, chat: Chat, first: int, last: int) -> tuple[Message, ...]:
        """The messages from index ``first`` to before ``last`` of the whole transcript; only the parts that hold them are read.
        `ChatDamaged` says which part is wrong."""
        found: builtins.list[Message] = []
        at = 0
        for part in chat.parts:
            if first < at + part.messages and at < last:
                found += self.parts.messages(ChatId(chat.id), part)[max(0, first - at) : max(0, last - at)]
            at += part.messages
        found += (chat.messages or ())[max(0, first - at) : max(0, last - at)]
        return tuple(found)

    def whole(self, chat: Chat) -> Chat:
        """The chat with all messages in one, as if it had no parts."""
        return self.shortened(chat, None) if chat.parts else chat

    def shortened(self, chat: Chat, keep: int | None) -> Chat:
        """The chat with its first ``keep`` messages; None: with all of them, and without parts. Parts that stay whole stay."""
        if keep is None:
            everything = self.page(chat, 0, self.count(chat))
            return msgspec.structs.replace(chat, parts=(), messages=everything)
        if keep >= chat.first_index:
            kept = None if chat.messages is None else chat.messages[: keep - chat.first_index]
            return msgspec.structs.replace(chat, messages=kept)
        whole: builtins.list[ChatPart] = []
        at = 0
        for part in chat.parts:
            if at + part.messages > keep:
                break
            whole.append(part)
            at += part.messages
        return msgspec.structs.replace(chat, parts=tuple(whole), messages=self.page(chat, at, keep))

    def damaged_parts(self, chat: Chat) -> "builtins.list[str]":
        """What is wrong with the parts of a chat, in words; every part is read."""
        found = (self.parts.problem(ChatId(chat.id), part) for part in chat.parts)
        return [problem for problem in found if problem]

    # -- writing -------------------------------------------------------------------------------------------------

    def mutate(
        self,
        chat: ChatId,
        change: Callable[[Chat, bool], Chat | None],
        *,
        create: bool = False,
        keep_date: bool = False,
        anywhere: bool = False,
    ) -> Mutated:
        """Load, change, save. ``change`` gets the chat and whether it is there, and returns None to leave it as it is.

        ``created_at`` stays; ``updated_at`` is now, except with ``keep_date``. Refused before ``change`` is called: a chat that
        was deleted a moment ago or is archived (`ChatGone`; with ``anywhere`` an archived one is changed where it is), one that
        is not there (`ChatNotFound`) unless ``create``, one that cannot be read (`ChatDamaged`, `CannotRead`) or is a newer
        version's (`NewerFormat`).
        """
        now = self._clock()
        home = self._home(chat)
        there = home is not None and (anywhere or home == self.folder)
        path = home / f"{chat}.json" if home is not None and there else self.places.active(chat)
        if there:
            old, raw = self.read(path, chat)
            if codec.is_newer(raw):
                raise NewerFormat(str(path))
        else:
            self.refuse_late(chat)
            if not create:
                raise ChatNotFound(chat)
            old, raw = Chat(id=chat, messages=(), created_at=now), {}
        new = change(old, there)
        if new is None or (there and new == old):
            return Mutated(old, written=False, created=False)
        if new.id != chat:
            raise BugError("a change gave the chat another id")
        updated_at = old.updated_at if keep_date and there else max(now, old.updated_at)
        new = msgspec.structs.replace(new, created_at=old.created_at, updated_at=updated_at)
        return Mutated(self.put(path, new, raw), written=True, created=not there)

    def refuse_late(self, chat: ChatId) -> None:
        """Raise `ChatGone` for a chat that is archived, or was deleted a moment ago."""
        if self._home(chat) not in (None, self.folder):
            raise ChatGone(chat, "archived")
        if chat in self.tombstones:
            raise ChatGone(chat, "deleted")

    def _home(self, chat: ChatId) -> Path | None:
        """As `Places.home`; an archive that cannot be looked at stands in no other chat's way."""
        try:
            return self.places.home(chat)
        except CannotRead:
            return None

    def append(self, chat: ChatId, message: Message, *, keep_date: bool = False) -> Mutated:
        """Put a message at the end; one without a time gets it. A message whose id is there already is not put there again."""
        dated = message if message.ts else msgspec.structs.replace(message, ts=self._clock())

        def longer(found: Chat, _: bool) -> Chat | None:
            messages = found.messages or ()
            if self.has_lately(found, dated.id):
                return None
            return msgspec.structs.replace(found, messages=(*messages, dated))

        return self.mutate(chat, longer, keep_date=keep_date)

    def has_lately(self, chat: Chat, message: str) -> bool:
        """Whether a message is among the newest: in the chat file, or last of all in the parts where the file has hardly any
        because the message is so large."""
        messages = chat.messages or ()
        if any(one.id == message for one in messages):
            return True
        if not chat.parts or len(messages) > _HARDLY_ANY:
            return False
        try:
            return self.page(chat, chat.first_index - 1, chat.first_index)[0].id == message
        except ChatDamaged:
            return False

    def update(self, chat: ChatId, message: str, change: Callable[[Message], Message | None]) -> Mutated:
        """Change the first message of an id where it stands; nothing is written if there is none. One in a part makes that part
        anew."""

        def changed(found: Chat, _: bool) -> Chat | None:
            messages = _replaced(found.messages or (), message, change)
            if messages is not None:
                return msgspec.structs.replace(found, messages=messages)
            return self._with_new_part(found, message, change)

        return self.mutate(chat, changed)

    def _with_new_part(self, found: Chat, message: str, change: Callable[[Message], Message | None]) -> Chat | None:
        chat = ChatId(found.id)
        unread: ChatDamaged | None = None
        for index, part in reversed(builtins.list(enumerate(found.parts))):
            try:
                old = self.parts.messages(chat, part)
            except ChatDamaged as error:
                unread = error
                continue
            messages = _replaced(old, message, change)
            if messages == old:
                return None
            if messages is not None:
                made = new_part(self.parts, chat, messages, codec.objects(messages, self.parts.objects(chat, part)))
                return msgspec.structs.replace(found, parts=(*found.parts[:index], made, *found.parts[index + 1 :]))
        if unread is not None:
            raise unread
        return None

    def save(self, chat: Chat, raw: Mapping[str, object] | None = None) -> Chat:
        """Write the chat as it is, its dates too, whether or not it was there; returns it as it was written, which may be with
        more parts. Without ``raw`` the keys we do not know are taken from the file that is there; a damaged or newer file is
        never overwritten. What a chat says is ``parts`` and ``messages`` together: without parts it is all in ``messages``.

        `InvalidText` if it holds half characters; `CannotWrite` with `fitting.TOO_LARGE` if it is too large even without its
        messages. Nothing is changed then."""
        identity = parse_chat_id(chat.id)
        path = self.places.active(identity)
        there = self.exists(identity)
        if not there and self._home(identity) is not None:
            raise ChatGone(identity, "archived")
        if raw is None and there:
            raw = self.read(path, identity)[1]
        return self.put(path, chat, raw)

    def put(self, path: Path, chat: Chat, raw: Mapping[str, object] | None) -> Chat:
        """As `save`, to one place."""
        identity = parse_chat_id(chat.id)
        if raw is not None and codec.is_newer(raw):
            raise NewerFormat(str(path))
        try:
            codec.check_ids(chat)
        except codec.Unreadable as error:
            raise ChatDamaged(chat.id, str(error)) from error
        saved, data = fitted(self.parts, path, chat, raw or {}, self._limits)
        self.places.make_folder()
        faults.point("chat.save")
        atomic.replace(self.fs, path, data, mode=0o600)
        self._rows_of(path).wrote(path, saved)
        self.drop_unnamed(identity, known={part.n for part in saved.parts})
        return saved

    def _rows_of(self, path: Path) -> HeaderCache:
        return self._active if path.parent == self.folder else self._archived

    # -- the end -------------------------------------------------------------------------------------------------

    def delete(self, chat: ChatId) -> bool:
        """Remove a chat, archived or not, with all beside it; whether there was one, which cannot be made again for a while."""
        home = self.places.home(chat)
        if home is not None:
            self.tombstones.add(chat)
            faults.point("chat.delete")
            atomic.remove(self.fs, home / f"{chat}.json")
        self.drop_leftovers(chat, home or self.folder)
        return home is not None

    def drop_leftovers(self, chat: ChatId, folder: Path) -> None:
        """Remove what belongs to a chat whose file is gone."""
        atomic.remove(self.fs, draft_in(folder, chat))
        atomic.remove(self.fs, partial_in(folder, chat))
        if self._home(chat) is None:  # else there is an archived one of this id, whose review it is
            self.reviews.delete(chat)
            self.notes.delete(chat)
        self.drop_unnamed(chat)

    def drop_unnamed(self, chat: ChatId, *, known: Collection[int] = ()) -> int:
        """Remove the part files of a chat that it does not name, neither in the list nor in the archive; how many. Those of a
        chat that cannot be read stay. ``known``: these are named, so that it need not be read if there are no others."""
        unnamed = set(self.parts.numbers().get(chat, ())).difference(known)
        try:
            for home in self.places.homes(chat) if unnamed else ():
                unnamed -= {part.n for part in self.read(home / f"{chat}.json", chat)[0].parts}
        except (ChatDamaged, ChatNotFound, CannotRead) as error:
            _log.info("parts of chat %s were not removed: %s", chat, error.code)
            return 0
        self.parts.remove(chat, unnamed)
        return len(unnamed)


def _replaced(
    messages: Sequence[Message], identity: str, change: Callable[[Message], Message | None]
) -> tuple[Message, ...] | None:
    """The messages with one changed; None if it is not among them or stays as it is."""
    for index, message in enumerate(messages):
        if message.id == identity:
            new = change(message)
            if new is None:
                return tuple(messages)
            if new.id != identity:
                raise BugError("a change gave the message another id")
            return (*messages[:index], new, *messages[index + 1 :])
    return None
