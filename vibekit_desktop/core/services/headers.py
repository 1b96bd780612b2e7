"""Rows of the chat list: from chat files, and from sessions nobody opened yet.

Blocking parts run in threads. The net line counts of a chat are filled in from what was last counted for it.
"""

import asyncio
from dataclasses import replace

from vibekit_desktop.core.services.found import FoundSession
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.core.types.ids import ChatId


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
        """All rows of one vault, damaged ones included."""
        return [self._with_net(replace(header, workspace=vault.workspace_path)) for header in vault.chats.headers()]

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
        """The row of one chat, read from its file."""
        header = await asyncio.to_thread(vault.chats.header, chat)
        return self._with_net(replace(header, workspace=vault.workspace_path))

    def _with_net(self, header: ChatHeader) -> ChatHeader:
        net = self._net.get(header.id)
        return header if net is None else replace(header, lines_added=net[0], lines_removed=net[1])
