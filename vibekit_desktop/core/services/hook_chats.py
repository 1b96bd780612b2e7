"""Which chat a hook means, and which vault has it or will have it.

A hook names a chat by its id, by the beginning of one, by a row of the list, or by another program's session, and perhaps the
folder that it works in. Makes a vault where a new chat's workspace has none, and nothing else.
"""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vibekit_desktop.core.chat import hooked
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.errors import ChatNotFound, InvalidId, WorkspaceMissing, WorkspaceNeeded, WorkspaceRefused
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

_SOURCE = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_SESSION_CHARS = 512
"""No program has longer names for its sessions; they go into chat files and events."""


class Names(Protocol):
    """Who knows what people call a chat."""

    async def resolve(self, text: str) -> ChatId:
        """See `core.api.Chats.resolve`."""


@dataclass(frozen=True, slots=True)
class Named:
    """A chat as a hook names it; it need not be there yet. ``source``, ``session``, and ``agent`` (what people call that
    program) only where it is named by another program's session."""

    chat: ChatId
    source: str = ""
    session: str = ""
    agent: str = ""


class HookChats:
    """Finds the chats of hooks. Holds no state."""

    def __init__(self, shelf: Shelf, history: HistoryService, names: Names) -> None:
        self._shelf = shelf
        self._history = history
        self._names = names

    async def place(self, chat_text: str) -> tuple[ChatId, OpenVault]:
        """A chat that is there, and its vault with the workspace in sight; `WorkspaceMissing` if it is not."""
        chat = await self._names.resolve(chat_text)
        vault = await self._history.vault_of(chat)
        await asyncio.to_thread(_require_workspace, vault)
        return chat, vault

    async def place_or_new(self, chat_text: str, workspace: Path | None) -> tuple[Named, OpenVault]:
        """A chat that need not be there yet, and the vault that has it, or will have it. `WorkspaceNeeded` where that cannot be
        told, `WorkspaceRefused` for a folder that is none to work in, or is not the chat's."""
        if workspace is not None:
            await asyncio.to_thread(self._check_workspace, workspace)
        named = await self._named(chat_text, workspace)
        return named, await self._home_of(named, workspace)

    def _check_workspace(self, workspace: Path) -> None:
        self._shelf.refuse_as_workspace(workspace)
        if not folders.is_folder(workspace):
            raise WorkspaceMissing(str(workspace))

    async def _named(self, text: str, workspace: Path | None) -> Named:
        """Which chat is meant. With a workspace a text that is no chat's id is the id of a chat to be made: the beginning of
        another chat's id must not put a hook's turn into that chat."""
        if text.startswith("@"):
            return Named(await self._names.resolve(text))
        if ":" in text:
            source, _, session = text.partition(":")
            if not _SOURCE.fullmatch(source) or not session or "\0" in session or len(session) > _SESSION_CHARS:
                raise InvalidId("session", len(text))
            session = hooked.storable(session)
            chat = await self._history.chat_of_session(source, session)
            return Named(chat, source, session, self._history.source_label(source))
        chat = parse_chat_id(text)
        if workspace is not None or await self._history.holds(chat):
            return Named(chat)
        try:
            return Named(await self._names.resolve(text))
        except ChatNotFound as error:
            raise WorkspaceNeeded(text) from error

    async def _home_of(self, named: Named, workspace: Path | None) -> OpenVault:
        """The vault that has the chat, brought up to date with its source before its first turn by a hook; else the one that
        will have it."""
        vault = await asyncio.to_thread(self._shelf.holding, named.chat)
        if vault is None:
            found = await self._history.found_session(named.chat)
            if found is not None:
                _same_workspace(found.summary.cwd, workspace)
                vault = await self._history.vault_of(named.chat)
        if vault is None:
            if workspace is None:
                raise WorkspaceNeeded(f"{named.source}:{named.session}" if named.source else named.chat)
            return await durably(lambda: self._shelf.for_workspace(str(workspace)))
        _same_workspace(vault.workspace_path, workspace)
        await asyncio.to_thread(_require_workspace, vault)
        if not await asyncio.to_thread(_is_hooked, vault, named.chat):
            await self._history.bring_up_to_date(named.chat, vault)
        return vault


def _require_workspace(vault: OpenVault) -> None:
    if vault.workspace() is None:
        raise WorkspaceMissing(vault.workspace_path)


def _same_workspace(place: str, workspace: Path | None) -> None:
    if workspace is not None and not folders.same_folder(place, str(workspace)):
        raise WorkspaceRefused(str(workspace), "other-workspace")


def _is_hooked(vault: OpenVault, chat: ChatId) -> bool:
    header = vault.chats.header(chat)
    return header is not None and bool(header.hooked_from)
