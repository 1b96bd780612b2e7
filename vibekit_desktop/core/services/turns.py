"""Turns of an agent that another program runs, as its hooks tell them. Implements `core.api.Turns`.

Each call is one short change under the vault's lock; what it announced is durable before anybody hears of it. While a process
of ours runs a turn of the same chat, the edges that its agent's hooks tell are ours already: nothing is written for them.

| crash after | what is left | who goes on |
| --- | --- | --- |
| the turn's start | a turn without its prompt, with the right number | nobody needs to |
| the answer | an answer in a turn that is open | the same ``end`` again: an answer is stored once |
| a capture | a capture without its tag on the prompt | nobody needs to; the log has the tag |
"""

import uuid
from collections.abc import Callable
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat import hooked
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.services.hook_chats import HookChats, Named
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.services.turn_book import (
    TurnBook,
    load,
    message_count,
    require_open_turn,
    stamp,
    turn_of_ours,
)
from vibekit_desktop.core.types.chats import Chat, Message, Role
from vibekit_desktop.core.types.checkpoints import CaptureReport, TurnReport
from vibekit_desktop.core.types.events import MessageAppended, MessageUpdated
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


class TurnService:
    """The turns of hooks. Holds no state: what is open is what the logs say."""

    def __init__(
        self,
        book: TurnBook,
        chats: HookChats,
        *,
        clock: Callable[[], int],
        path_of: Callable[[str, str], WorkspacePath],
    ) -> None:
        self._book = book
        self._chats = chats
        self._clock = clock
        self._path_of = path_of

    # -- captures ------------------------------------------------------------------------------------------------

    async def record(
        self, chat_text: str, path_text: str, *, content: bytes | None, deleted: bool, mode: int | None
    ) -> CaptureReport:
        """Capture a path just before the caller writes it."""
        chat, vault = await self._chats.place(chat_text)
        path = self._path_of(vault.workspace_path, path_text)
        announced = Announced(content=content, deleted=deleted, mode=mode)

        def work(kernel: CheckpointKernel) -> tuple[CaptureReport, Message | None]:
            count = message_count(vault, chat)
            report = kernel.recorder.capture(chat, path, announced, message_count=count)
            return report, stamp(vault, chat, report.tag)

        report, stamped = await self._book.changing(chat, vault, work)
        await self._book.tell(
            chat, vault, *([] if stamped is None else [MessageUpdated(chat, stamped)]), row=stamped is not None
        )
        return report

    # -- turns ---------------------------------------------------------------------------------------------------

    async def begin(self, chat_text: str, *, workspace: Path | None, agent: str | None, prompt: str | None) -> TurnReport:
        """A turn begins; a chat that is not there yet is made."""
        named, vault = await self._chats.place_or_new(chat_text, workspace)
        if ours := await durably(lambda: turn_of_ours(vault, named.chat)):
            return TurnReport(chat=named.chat, turn=ours)

        def work(kernel: CheckpointKernel) -> tuple[int, bool, list[Message]]:
            begun: list[int] = []
            new: list[Message] = []

            def change(found: Chat, there: bool) -> Chat:
                chat = found if there else self._new_chat(named)
                if agent:
                    chat = msgspec.structs.replace(chat, agent=hooked.storable(agent))
                message = self._prompt(chat, prompt)
                told = message is not None and bool(chat.messages) and (chat.messages or ())[-1].id == message.id
                count = vault.chats.count(chat) + (message is not None and not told)
                identity = message.id if message is not None else ""
                turn = kernel.recorder.begin_turn(named.chat, message_count=count, message_id=identity)
                begun.append(turn)
                prompted = None if message is None else msgspec.structs.replace(message, turn=turn)
                if prompted is not None and not told:
                    new.append(prompted)
                return hooked.begun(chat, turn, prompted)

            made = vault.chats.mutate(named.chat, change, create=True)
            return begun[0], made.created, new

        turn, created, new = await self._book.changing(named.chat, vault, work)
        await self._book.tell(named.chat, vault, *(MessageAppended(named.chat, one) for one in new), created=created)
        return TurnReport(chat=named.chat, turn=turn)

    def _prompt(self, chat: Chat, prompt: str | None) -> Message | None:
        if prompt is None:
            return None
        words = hooked.storable(prompt)
        told = hooked.told_already(chat, words)
        return told or Message(id=str(uuid.uuid4()), role=Role.USER.value, ts=self._clock(), content=words)

    def _new_chat(self, named: Named) -> Chat:
        return Chat(
            id=named.chat,
            messages=(),
            created_at=self._clock(),
            agent=named.agent,
            source=named.source,
            source_session=named.session,
        )

    async def command_begin(self, chat_text: str) -> TurnReport:
        """The agent is about to run a command."""
        return await self._command(chat_text, lambda kernel, chat: kernel.recorder.begin_command(chat))

    async def command_end(self, chat_text: str) -> TurnReport:
        """The command ended."""
        return await self._command(chat_text, lambda kernel, chat: kernel.recorder.end_command(chat))

    async def _command(self, chat_text: str, step: Callable[[CheckpointKernel, ChatId], int]) -> TurnReport:
        chat, vault = await self._chats.place(chat_text)
        if ours := await durably(lambda: turn_of_ours(vault, chat)):
            return TurnReport(chat=chat, turn=ours)

        def work(kernel: CheckpointKernel) -> int:
            message_count(vault, chat)  # a damaged chat is told before anything is done
            return step(kernel, chat)

        turn = await self._book.changing(chat, vault, work)
        await self._book.tell(chat, vault, row=False)
        return TurnReport(chat=chat, turn=turn)

    async def end(self, chat_text: str, *, answer: str | None) -> TurnReport:
        """The turn ended; its files are found and told."""
        chat, vault = await self._chats.place(chat_text)
        if ours := await durably(lambda: turn_of_ours(vault, chat)):
            return TurnReport(chat=chat, turn=ours)
        await self._book.reading(vault, lambda kernel: require_open_turn(kernel, chat))  # no waiting for nothing
        unsettled = await self._book.until_quiet(vault)

        def work(kernel: CheckpointKernel) -> tuple[int, list[Message]]:
            turn = require_open_turn(kernel, chat)
            new: list[Message] = []
            prompted = hooked.prompted_at(load(vault, chat), turn)
            took_ms = max(0, self._clock() - prompted) if prompted else 0
            if answer is not None and answer.strip():
                words = hooked.storable(answer)
                message = hooked.answer_of(str(uuid.uuid4()), words, ts=self._clock(), took_ms=took_ms)
                if vault.chats.mutate(chat, lambda found, _: hooked.answered(found, turn, message)).written:
                    new.append(message)
            return kernel.recorder.end_turn(chat, duration_ms=took_ms, unsettled=unsettled), new

        turn, new = await self._book.changing(chat, vault, work)
        files, coverage = await self._book.changes(vault, chat, turn)
        await self._book.tell(chat, vault, *(MessageAppended(chat, one) for one in new))
        return TurnReport(chat=chat, turn=turn, files=files, coverage=coverage)
