"""List, find and read chats: the half of `services.chats` that changes nothing but what a source brings."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from vibekit_desktop.core.chat.spans import turn_spans, without_open_calls
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import Chat, ChatHeader, ChatView, Damage, Message, TranscriptShape, TurnSpan
from vibekit_desktop.core.types.errors import ChatAmbiguous, ChatNotFound, InvalidId
from vibekit_desktop.core.types.ids import CHAT_LINK, ChatId, parse_chat_id

T = TypeVar("T")

PREFIX_MIN = 8
ANSWERED_MS = 12 * 60 * 60 * 1000
"""A tool call still open in a chat that nobody touched for so long is not running any more: whoever ran it is gone."""


class ChatReading:
    """The chats of all vaults and of the histories found, to be read."""

    def __init__(
        self, shelf: Shelf, history: HistoryService, headers: Headers, serial: Serial, *, clock: Callable[[], int]
    ) -> None:
        self._shelf = shelf
        self._history = history
        self._headers = headers
        self._serial = serial
        self._clock = clock

    async def list(
        self, *, archived: bool = False, workspace: str | None = None, limit: int | None = None
    ) -> Sequence[ChatHeader]:
        """All rows, newest update first; equal times by id."""
        found = [] if archived else await self._history.found()

        def rows() -> list[ChatHeader]:
            own = [header for vault in self._history.vaults() for header in self._headers.of_vault(vault, archived=archived)]
            if found:
                # A session whose chat is archived or was deleted does not come back as a row of its source.
                known = {header.id for header in own} | self._shelf.hidden() | self._archived()
                lived = frozenset[str]().union(*(vault.chats.sessions().ids for vault in self._history.vaults()))
                own += [
                    self._headers.of_found(session)
                    for session in found
                    # A session that an agent of ours answered in is the row of its chat.
                    if session.chat not in known and session.summary.session not in lived
                ]
            kept = own
            if workspace is not None:
                wanted = folders.settled(workspace)
                kept = [header for header in kept if header.workspace in (workspace, wanted)]
            kept.sort(key=lambda header: (-header.updated_at, header.id))
            return kept

        headers = await asyncio.to_thread(rows)
        return headers if limit is None else headers[:limit]

    def _archived(self) -> set[ChatId]:
        vaults = self._history.vaults()
        return {header.id for vault in vaults for header in self._headers.of_vault(vault, archived=True)}

    async def first_rows(self, limit: int) -> Sequence[ChatHeader]:
        """The newest rows as they were known last."""

        def rows() -> list[ChatHeader]:
            own = [header for vault in self._history.vaults() for header in self._headers.first_of(vault, limit)]
            own.sort(key=lambda header: (-header.updated_at, header.id))
            return own[:limit]

        return await asyncio.to_thread(rows)

    async def resolve(self, text: str) -> ChatId:
        """An id, a unique prefix, ``@N``, ``source:session`` or a chat's link."""
        text = text.removeprefix(CHAT_LINK).rstrip("/") if text.startswith(CHAT_LINK) else text
        if text.startswith("@") and text[1:].isdecimal():
            headers = await self.list()
            number = int(text[1:])
            if not 1 <= number <= len(headers):
                raise ChatNotFound(text)
            return headers[number - 1].id
        if ":" in text:
            source, _, session = text.partition(":")
            chat = await self._history.chat_of_session(source, session)
            await self._history.vault_of(chat)
            return chat
        try:
            chat = parse_chat_id(text)
        except InvalidId as error:
            raise ChatNotFound(text) from error
        if await self._history.holds(chat):
            return chat  # a whole id of ours: nothing else needs to be looked for
        headers = await self.list()
        ids = [header.id for header in headers] + [header.id for header in await self.list(archived=True)]
        if chat in ids:
            return chat
        if len(text) < PREFIX_MIN:
            raise ChatNotFound(text)
        fits = [one for one in ids if one.startswith(text)]
        if len(fits) > 1:
            raise ChatAmbiguous(text, len(fits))
        if not fits:
            raise ChatNotFound(text)
        return fits[0]

    async def open(self, chat: ChatId) -> ChatView:
        """Read a chat; a source session is materialised first, one that has grown is brought up to date."""
        vault = await self._history.vault_of(chat)
        # What it follows is known once it is read, and mostly it need not be read again.
        first = await self._reading(vault, lambda: (*vault.chats.load_to_show(chat), vault.chats.header(chat)))
        await self._history.bring_up_to_date(chat, vault)

        def work() -> ChatView:
            loaded, raw, row = first
            if vault.chats.header(chat) is not row:
                loaded, raw = vault.chats.load_to_show(chat)
            shape = vault.kernel().shape(chat, told=vault.transcripts.shape_of(loaded, newest=True))
            return self._view(vault, chat, loaded, shape, raw)

        return await self._reading(vault, work)

    async def open_damaged(self, chat: ChatId) -> ChatView:
        """As far as the chat can be read."""
        vault = await self._history.vault_of(chat)

        def work() -> ChatView:
            loaded, damage = vault.chats.load_damaged(chat)
            shape = vault.kernel().shape(chat, told=vault.transcripts.shape_of(loaded))
            return self._view(vault, chat, loaded, shape, {}, damage)

        return await self._reading(vault, work)

    def _view(
        self,
        vault: OpenVault,
        chat: ChatId,
        loaded: Chat,
        shape: TranscriptShape,
        raw: Mapping[str, object],
        damage: Damage | None = None,
    ) -> ChatView:
        messages = loaded.messages or ()
        return ChatView(
            header=self._headers.read(vault, chat),
            chat=loaded,
            messages=self._answered(loaded, messages),
            turns=turn_spans(
                messages, shape.prompt_index, first_index=loaded.first_index, earlier_unmarked=tuple(shape.unmarked)
            ),
            vault_workspace=vault.workspace_path,
            workspace_found=vault.workspace() is not None,
            raw=raw,
            first_index=loaded.first_index,
            damage=damage,
        )

    def _answered(self, chat: Chat, messages: Sequence[Message]) -> tuple[Message, ...]:
        old = self._clock() - chat.updated_at > ANSWERED_MS
        return without_open_calls(messages) if old else tuple(messages)

    async def earlier(self, chat: ChatId, before: int, limit: int) -> Sequence[Message]:
        """The last ``limit`` messages before an index."""
        vault = await self._history.vault_of(chat)

        def work() -> Sequence[Message]:
            loaded = vault.chats.load_damaged(chat)[0]
            last = max(0, min(before, vault.chats.count(loaded)))
            return self._answered(loaded, vault.chats.page(loaded, max(0, last - max(0, limit)), last))

        return await self._reading(vault, work)

    async def turns(self, chat: ChatId) -> Sequence[TurnSpan]:
        """Every turn of a chat."""
        vault = await self._history.vault_of(chat)

        def work() -> Sequence[TurnSpan]:
            loaded = vault.chats.load_damaged(chat)[0]
            shape = vault.kernel().shape(chat, told=vault.transcripts.shape_of(loaded))
            return turn_spans(
                loaded.messages or (),
                shape.prompt_index,
                first_index=loaded.first_index,
                earlier_unmarked=tuple(shape.unmarked),
            )

        return await self._reading(vault, work)

    async def children(self, chat: ChatId) -> Sequence[ChatId]:
        """The branches of a chat."""
        vault = await self._history.vault_of(chat)
        return await self._reading(vault, lambda: vault.chats.children(chat))

    async def _reading(self, vault: OpenVault, work: Callable[[], T]) -> T:
        async with self._serial.hold(vault.id):
            return await durably(work)
