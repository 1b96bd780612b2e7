"""Move chats out of sight, back, and for good.

An archived chat is the same file in ``chats/archive``; its draft goes with it, its parts stay where they are. The rename of the
chat file is the commit point of both ways:

| crash | what is left | who cleans |
| --- | --- | --- |
| archiving, before it | the chat in the list, with a time of archiving that does not count there | nobody needs to |
| archiving, after it | the archived chat, its draft in the list's folder | unarchiving finds it there |
| unarchiving, before it | the archived chat, its draft in the list's folder | unarchiving again |
| unarchiving, after it | the chat in the list, with a time of archiving that does not count | nobody needs to |

Which folder has the file decides, never a key in it. Written under the vault's lock. Blocking.
"""

import logging
import stat as stat_bits
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat.places import draft_in, partial_in
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.errors import (
    CannotRead,
    CannotWrite,
    ChatDamaged,
    ChatInUse,
    ChatNotFound,
    CoreError,
    InvalidId,
    NewerFormat,
)
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Purged:
    """What became of one chat of a purge; ``reason`` is empty, or why it could not be removed."""

    chat: ChatId
    reason: str = ""


class Archive:
    """The archived chats of one vault. Invariant: moving a chat never replaces another one."""

    def __init__(self, fs: Fs, store: ChatStore, *, clock: Callable[[], int]) -> None:
        self._fs = fs
        self._store = store
        self._clock = clock

    def archive(self, chat: ChatId) -> None:
        """Put a chat away. `ChatNotFound` if the list has none; `ChatInUse` if the archive has one of that id. A damaged chat
        goes as it is."""
        source = self._store.places.active(chat)
        if not self._store.exists(chat):
            raise ChatNotFound(chat)
        folder = self._store.places.make_archive()
        target = folder / source.name
        if self._fs.stat(target) is not None:
            raise ChatInUse(chat)
        self._restamp(source, chat, self._clock())
        self._store.tombstones.add(chat)
        self._move(chat, self._store.folder, folder)
        self._carry(chat, self._store.folder, folder)
        self._sync(self._store.folder, folder)

    def unarchive(self, chat: ChatId) -> None:
        """Bring an archived chat back to the list. `ChatNotFound`; `ChatInUse` if the list has a chat of that id: both stay as
        they are then. A damaged chat comes as it is."""
        source = self._store.places.archived(chat)
        if source is None or self._fs.stat(source) is None:
            raise ChatNotFound(chat)
        if self._store.exists(chat):
            raise ChatInUse(chat)
        self._carry(chat, source.parent, self._store.folder)
        self._move(chat, source.parent, self._store.folder)
        self._sync(source.parent, self._store.folder)
        self._store.tombstones.clear(chat)
        self._restamp(self._store.places.active(chat), chat, 0)

    def _move(self, chat: ChatId, source: Path, target: Path) -> None:
        faults.point("archive.move")
        self._fs.rename(source / f"{chat}.json", target / f"{chat}.json")

    def _carry(self, chat: ChatId, source: Path, target: Path) -> None:
        """Take along what is beside a chat. What cannot be taken is no reason to leave the chat."""
        for beside in (draft_in, partial_in):
            faults.point("archive.beside")
            try:
                if self._fs.stat(beside(source, chat)) is not None:
                    self._fs.rename(beside(source, chat), beside(target, chat))
            except (CannotRead, CannotWrite) as error:
                _log.info("something of chat %s stayed behind: %s", chat, error.reason)

    def _sync(self, source: Path, target: Path) -> None:
        faults.point("archive.folders")
        self._fs.sync_folder(target)
        self._fs.sync_folder(source)

    def _restamp(self, path: Path, chat: ChatId, archived_at: int) -> None:
        """Say in the chat when it was archived. One that cannot be written goes without."""
        self._rewrite(path, chat, lambda found: msgspec.structs.replace(found, archived_at=archived_at), best_effort=True)

    def _rewrite(self, path: Path, chat: ChatId, change: Callable[[Chat], Chat], *, best_effort: bool) -> None:
        try:
            old, raw = self._store.read(path, chat)
            new = change(old)
            if new != old:
                self._store.put(path, new, raw)
        except (ChatDamaged, CannotRead, NewerFormat) as error:
            if not best_effort:
                raise
            _log.info("chat %s is moved as it is: %s", chat, error.code)

    def set_summary(self, chat: ChatId, text: str) -> None:
        """Keep one line about an archived chat; its dates stay. `ChatNotFound`, `ChatDamaged`."""
        path = self._store.places.archived(chat)
        if path is None or self._fs.stat(path) is None:
            raise ChatNotFound(chat)
        self._rewrite(path, chat, lambda found: msgspec.structs.replace(found, summary=text), best_effort=False)

    # -- for good ------------------------------------------------------------------------------------------------

    def ages(self) -> list[tuple[ChatId, int]]:
        """Every archived chat, and since when it is: as it says, else when its file was last changed. Only files count: what is
        a link or a folder is left alone."""
        folder = self._store.places.archive()
        if folder is None:
            return []
        said = {row.id: row.archived_at for row in self._store.list(archived=True) if not row.problem}
        found: list[tuple[ChatId, int]] = []
        for name in self._fs.list_names(folder):
            try:
                chat = parse_chat_id(name.removesuffix(".json")) if name.endswith(".json") else None
                seen = self._fs.stat(folder / name)
            except (InvalidId, CannotRead):
                continue
            if chat is not None and seen is not None and stat_bits.S_ISREG(seen.st_mode):
                found.append((chat, said.get(chat) or seen.st_mtime_ns // 1_000_000))
        return found

    def purge(self, older_than_ms: int, *, keep: Callable[[ChatId], bool]) -> list[Purged]:
        """Remove the chats that were archived longer ago than that, with what belongs to them, except those that ``keep``
        wants; what became of each. 0 or less: none is ever old enough. One that cannot be removed stops no other."""
        if older_than_ms <= 0:
            return []
        limit = self._clock() - older_than_ms
        found: list[Purged] = []
        for chat, since in self.ages():
            if since >= limit or keep(chat):
                continue
            try:
                if self._store.exists(chat):
                    raise ChatInUse(chat)  # then what is beside it is the active chat's
                self._store.delete(chat)
                found.append(Purged(chat))
            except CoreError as error:
                found.append(Purged(chat, getattr(error, "reason", error.code)))
        return found
