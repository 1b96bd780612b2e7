"""List, find, open and branch chats. Implements `core.api.Chats`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.types.chats import Chat, ChatHeader, ChatView, Message, Role, TurnSpan
from vibekit_desktop.core.types.errors import ChatAmbiguous, ChatNotFound, InvalidId
from vibekit_desktop.core.types.events import ChatCreated
from vibekit_desktop.core.types.ids import ChatId, imported_chat_id, new_chat_id, parse_chat_id

PREFIX_MIN = 8
ANSWERED_MS = 12 * 60 * 60 * 1000
"""A tool call still open in a chat that nobody touched for so long is not running any more: whoever ran it is gone."""


class ChatService:
    """The chats of all vaults and of the histories found."""

    def __init__(
        self, bus: Bus, history: HistoryService, headers: Headers, serial: Serial, *, clock: Callable[[], int]
    ) -> None:
        self._bus = bus
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
            own = [header for vault in self._history.vaults() for header in self._headers.of_vault(vault)]
            known = {header.id for header in own}
            own += [self._headers.of_found(session) for session in found if session.chat not in known]
            kept = [header for header in own if header.archived is archived]
            if workspace is not None:
                wanted = folders.settled(workspace)
                kept = [header for header in kept if header.workspace in (workspace, wanted)]
            kept.sort(key=lambda header: (-header.updated_at, header.id))
            return kept

        headers = await asyncio.to_thread(rows)
        return headers if limit is None else headers[:limit]

    async def resolve(self, text: str) -> ChatId:
        """An id, a unique prefix, ``@N`` or ``source:session``."""
        if text.startswith("@") and text[1:].isdecimal():
            headers = await self.list()
            number = int(text[1:])
            if not 1 <= number <= len(headers):
                raise ChatNotFound(text)
            return headers[number - 1].id
        if ":" in text:
            source, _, session = text.partition(":")
            chat = imported_chat_id(source, session)
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

    async def branch(self, chat: ChatId, turn: int) -> ChatId:
        """Make a chat of its own that ends just before a turn. The parent's source is read to its end first."""
        vault = await self._history.vault_of(chat)
        await self._history.bring_up_to_date(chat, vault)
        branch = new_chat_id(self._clock())

        def work() -> ChatHeader:
            with vault.lock.hold():
                vault.chats.load(chat)  # a damaged chat is told before anything is made
                vault.changing_kernel(chat).branch(chat, turn, branch)
            return self._headers.read(vault, branch)

        async with self._serial.hold(vault.id):
            header = await durably(work)
        self._bus.publish(ChatCreated(header))
        return branch

    async def open(self, chat: ChatId) -> ChatView:
        """Read a chat; a source session is materialised first, one that has grown is brought up to date."""
        vault = await self._history.vault_of(chat)
        await self._history.bring_up_to_date(chat, vault)

        def work() -> ChatView:
            loaded, raw = vault.chats.load(chat)
            messages = loaded.messages or ()
            if self._clock() - loaded.updated_at > ANSWERED_MS:
                messages = without_open_calls(messages)
            return ChatView(
                header=self._headers.read(vault, chat),
                chat=loaded,
                messages=messages,
                turns=turn_spans(loaded, vault.kernel().shape(chat).prompt_index),
                vault_workspace=vault.workspace_path,
                workspace_found=vault.workspace() is not None,
                raw={**raw, "message_count": len(messages)},
            )

        async with self._serial.hold(vault.id):
            return await durably(work)


def without_open_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, each tool call that was never answered as failed."""

    def closed(message: Message) -> Message:
        if all(call.status not in ("pending", "in_progress") for call in message.tool_calls):
            return message
        calls = tuple(
            msgspec.structs.replace(call, status="failed") if call.status in ("pending", "in_progress") else call
            for call in message.tool_calls
        )
        return msgspec.structs.replace(message, tool_calls=calls)

    return tuple(map(closed, messages))


def turn_spans(chat: Chat, prompt_index: Mapping[int, int]) -> tuple[TurnSpan, ...]:
    """Where each turn stands in a transcript: from its user message to the message before the next one.

    ``prompt_index``: the message at which a turn begins. Where some messages say their turn, one that does not (a slash
    command of another program) begins none; where none does, each user message counts on from the one before it.
    """
    messages: Sequence[Message] = chat.messages or ()
    numbers = {index: turn for turn, index in prompt_index.items()}
    starts: list[tuple[int, int]] = []
    turn = 0
    said = bool(numbers) or any(message.turn for message in messages)
    for index, message in enumerate(messages):
        number = message.turn or numbers.get(index, 0 if said else turn + 1)
        if message.role == Role.USER and number:
            turn = number
            starts.append((turn, index))
    spans: list[TurnSpan] = []
    for position, (number, first) in enumerate(starts):
        last = starts[position + 1][1] - 1 if position + 1 < len(starts) else len(messages) - 1
        spans.append(
            TurnSpan(
                turn=number,
                first_message=first,
                last_message=last,
                tag=messages[first].checkpoint_tag,
                duration_ms=sum(message.turn_elapsed_ms for message in messages[first : last + 1]),
            )
        )
    return tuple(spans)
