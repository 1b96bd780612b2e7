"""Rows of the chat list: from chat files, and from sessions nobody opened yet.

Blocking parts run in threads. The net line counts of a chat are filled in from what was last counted for it.
"""

import asyncio
import logging
import threading
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat.rows import ChatFile
from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.found import FoundSession
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.core.types.errors import CannotRead, ChatNotFound, CoreError
from vibekit_desktop.core.types.ids import ChatId

_log = logging.getLogger(__name__)


NET_LIMIT_BYTES = 16 << 20
_Net = dict[str, tuple[int, int]]


class Headers:
    """Makes `ChatHeader` rows. The counts it remembers are kept in a cache file, which can be deleted at any time."""

    def __init__(self, fs: Fs, cache_dir: Path) -> None:
        self._fs = fs
        self._path = cache_dir / "net.json"
        self._guard = threading.Lock()  # vaults are read in several threads
        self._net: _Net | None = None

    def _known(self) -> _Net:
        if self._net is None:
            try:
                self._net = msgspec.json.decode(self._fs.read_bytes(self._path, limit=NET_LIMIT_BYTES), type=_Net)
            except (FileNotFoundError, CoreError, msgspec.DecodeError, UnicodeDecodeError):
                self._net = {}  # a cache: counted again when a chat is opened
        return self._net

    def remember_net(self, chat: ChatId, added: int, removed: int) -> bool:
        """Keep the net counts of a chat for its row; returns whether they are news. Blocking."""
        with self._guard:
            known = self._known()
            fresh = (added, removed)
            if known.get(chat) == fresh:
                return False
            known[chat] = fresh
            try:
                self._fs.make_folder(self._path.parent)
                atomic.replace(self._fs, self._path, msgspec.json.encode(known))
            except (CoreError, OSError) as error:
                _log.info("the net counts were not kept: %s", type(error).__name__)
            return True

    def forget(self) -> None:
        """Throw the remembered counts away; a chat is counted again when its timeline is read. Blocking."""
        with self._guard:
            self._net = {}
            self._fs.remove(self._path)

    def of_vault(self, vault: OpenVault, *, archived: bool = False) -> list[ChatHeader]:
        """All rows of one vault, damaged ones included. A vault that cannot be looked at has none and hides no other's."""
        try:
            return [self._row(vault, file) for file in vault.chats.list(archived=archived)]
        except CannotRead as error:
            _log.info("vault %s cannot be listed: %s", vault.id, error.reason)
            return []

    def first_of(self, vault: OpenVault, limit: int) -> list[ChatHeader]:
        """The newest rows of one vault as they were known last."""
        try:
            return [self._row(vault, file) for file in vault.chats.first(limit)]
        except CannotRead as error:
            _log.info("vault %s cannot be listed: %s", vault.id, error.reason)
            return []

    def of_found(self, found: FoundSession) -> ChatHeader:
        """The row of a session that nobody opened yet."""
        summary = found.summary
        return ChatHeader(
            id=found.chat,
            name=summary.title,
            agent=found.source.label,
            source=found.source.name,
            workspace=summary.cwd,
            created_at=summary.created_at,
            updated_at=summary.updated_at,
            message_count=summary.message_count,
            turn_count=summary.turn_count,
            status=ChatStatus.FOUND,
        )

    async def one(self, vault: OpenVault, chat: ChatId) -> ChatHeader:
        """The row of one chat, read from its file; raises `ChatNotFound`."""
        return await asyncio.to_thread(self.read, vault, chat)

    def read(self, vault: OpenVault, chat: ChatId) -> ChatHeader:
        """As `one`, blocking."""
        file = vault.chats.header(chat)
        if file is None:
            raise ChatNotFound(chat)
        return self._row(vault, file)

    def _row(self, vault: OpenVault, file: ChatFile) -> ChatHeader:
        with self._guard:
            net = self._known().get(file.id, (None, None))
        return ChatHeader(
            id=file.id,
            name=file.name,
            agent=file.agent,
            source=file.source,
            workspace=vault.workspace_path,
            created_at=file.created_at,
            updated_at=file.updated_at,
            message_count=file.message_count,
            turn_count=file.turn_count,
            lines_added=net[0],
            lines_removed=net[1],
            parent_chat_id=file.parent_chat_id,
            rewind_from_turn=file.rewind_from_turn,
            archived=file.archived,
            archived_at=file.archived_at if file.archived else 0,
            pinned_at=file.pinned_at,
            summary=file.summary,
            status=ChatStatus.DAMAGED if file.problem else ChatStatus.PLAIN,
            problem=file.problem,
            unreadable=file.unreadable,
        )
