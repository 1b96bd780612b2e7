"""Rows of the chat list: from chat files, and from sessions nobody opened yet.

Blocking parts run in threads. The net line counts of a chat are filled in from what was last counted for it.
"""

import asyncio
import logging

from vibekit_desktop.core.chat.store import ChatFile
from vibekit_desktop.core.services.found import FoundSession
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.core.types.errors import CannotRead, ChatNotFound
from vibekit_desktop.core.types.ids import ChatId

_log = logging.getLogger(__name__)


class Headers:
    """Makes `ChatHeader` rows."""

    def __init__(self) -> None:
        self._net: dict[ChatId, tuple[int, int]] = {}

    def remember_net(self, chat: ChatId, added: int, removed: int) -> bool:
        """Keep the net counts of a chat for its row; returns whether they are news."""
        fresh = (added, removed)
        if self._net.get(chat) == fresh:
            return False
        self._net[chat] = fresh
        return True

    def of_vault(self, vault: OpenVault) -> list[ChatHeader]:
        """All rows of one vault, damaged ones included. A vault that cannot be looked at has none and hides no other's."""
        try:
            return [self._row(vault, file) for file in vault.chats.list()]
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
        net = self._net.get(file.id, (None, None))
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
            status=ChatStatus.DAMAGED if file.problem else ChatStatus.PLAIN,
            problem=file.problem,
        )
