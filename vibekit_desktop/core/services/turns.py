"""Turns of an agent that another program runs, as its hooks tell them. Implements `core.api.Turns`.

Each call is one short change under the vault's lock; what it announced is durable before anybody hears of it.

| crash after | what is left | who goes on |
| --- | --- | --- |
| the turn's start | a turn without its prompt, with the right number | nobody needs to |
| the answer | an answer in a turn that is open | the same ``end`` again: an answer is stored once |
| a capture | a capture without its tag on the prompt | nobody needs to; the log has the tag |
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.chat import hooked
from vibekit_desktop.core.chat.codec import is_newer
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.disk.tree import Stamp
from vibekit_desktop.core.services.contents import LineCounts
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.hook_chats import HookChats, Named
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import Chat, Message, Role
from vibekit_desktop.core.types.checkpoints import CaptureReport, Coverage, EntryKind, FileChange, TurnReport
from vibekit_desktop.core.types.errors import (
    ChatDamaged,
    ChatGone,
    ChatNotFound,
    CoreError,
    LogDamaged,
    NewerFormat,
    NoOpenTurn,
)
from vibekit_desktop.core.types.events import ChatCreated, ChatUpdated, HistoryGrew, MessageAppended, MessageUpdated
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

T = TypeVar("T")
_log = logging.getLogger(__name__)

QUIET_S = 0.3
"""A turn ends once nothing changed for so long: formatters and watchers still write when the agent has its answer."""
LONGEST_S = 3.0
"""Whoever called the hook waits; what changes later is told as late."""
_STEP_S = 0.1


class TurnService:
    """The turns of hooks. Holds no state: what is open is what the logs say."""

    def __init__(
        self,
        bus: Bus,
        chats: HookChats,
        headers: Headers,
        serial: Serial,
        counts: LineCounts,
        *,
        clock: Callable[[], int],
        path_of: Callable[[str, str], WorkspacePath],
        count_again: Callable[[OpenVault, ChatId], None],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bus = bus
        self._chats = chats
        self._headers = headers
        self._serial = serial
        self._counts = counts
        self._clock = clock
        self._path_of = path_of
        self._count_again = count_again
        self._pause = pause
        self._now_s = now_s

    # -- captures ------------------------------------------------------------------------------------------------

    async def record(
        self, chat_text: str, path_text: str, *, content: bytes | None, deleted: bool, mode: int | None
    ) -> CaptureReport:
        """Capture a path just before the caller writes it."""
        chat, vault = await self._chats.place(chat_text)
        path = self._path_of(vault.workspace_path, path_text)
        announced = Announced(content=content, deleted=deleted, mode=mode)

        def work(kernel: CheckpointKernel) -> tuple[CaptureReport, Message | None]:
            count = _message_count(vault, chat)
            report = kernel.recorder.capture(chat, path, announced, message_count=count)
            return report, self._stamp(vault, chat, report.tag)

        report, stamped = await self._changing(chat, vault, work)
        await self._tell(chat, vault, *([] if stamped is None else [MessageUpdated(chat, stamped)]), row=stamped is not None)
        return report

    def _stamp(self, vault: OpenVault, chat: ChatId, tag: str) -> Message | None:
        """Put the tag of a turn's first capture on its prompt, where the original looks for it; returns the prompt then. The
        capture stands without."""
        if "." in tag:
            return None
        try:
            made = vault.chats.mutate(chat, lambda found, _: hooked.stamped(found, int(tag), tag))
            of_turn = (message for message in made.chat.messages or () if message.turn == int(tag))
            return next(of_turn, None) if made.written else None
        except CoreError as error:
            _log.info("the tag %s of chat %s is only in its log: %s", tag, chat, error.code)
            return None

    # -- turns ---------------------------------------------------------------------------------------------------

    async def begin(self, chat_text: str, *, workspace: Path | None, agent: str | None, prompt: str | None) -> TurnReport:
        """A turn begins; a chat that is not there yet is made."""
        named, vault = await self._chats.place_or_new(chat_text, workspace)

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

        turn, created, new = await self._changing(named.chat, vault, work)
        await self._tell(named.chat, vault, *(MessageAppended(named.chat, one) for one in new), created=created)
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

        def work(kernel: CheckpointKernel) -> int:
            _message_count(vault, chat)  # a damaged chat is told before anything is done
            return step(kernel, chat)

        turn = await self._changing(chat, vault, work)
        await self._tell(chat, vault, row=False)
        return TurnReport(chat=chat, turn=turn)

    async def end(self, chat_text: str, *, answer: str | None) -> TurnReport:
        """The turn ended; its files are found and told."""
        chat, vault = await self._chats.place(chat_text)
        await self._reading(vault, lambda kernel: _open_turn(kernel, chat))  # no waiting for nothing
        unsettled = await self._until_quiet(vault)

        def work(kernel: CheckpointKernel) -> tuple[int, list[Message]]:
            turn = _open_turn(kernel, chat)
            new: list[Message] = []
            prompted = hooked.prompted_at(_load(vault, chat), turn)
            took_ms = max(0, self._clock() - prompted) if prompted else 0
            if answer is not None and answer.strip():
                words = hooked.storable(answer)
                message = hooked.answer_of(str(uuid.uuid4()), words, ts=self._clock(), took_ms=took_ms)
                if vault.chats.mutate(chat, lambda found, _: hooked.answered(found, turn, message)).written:
                    new.append(message)
            return kernel.recorder.end_turn(chat, duration_ms=took_ms, unsettled=unsettled), new

        turn, new = await self._changing(chat, vault, work)
        files, coverage = await self._reading(vault, lambda kernel: self._changes(vault, kernel, chat, turn))
        await self._tell(chat, vault, *(MessageAppended(chat, one) for one in new))
        return TurnReport(chat=chat, turn=turn, files=files, coverage=coverage)

    def _changes(
        self, vault: OpenVault, kernel: CheckpointKernel, chat: ChatId, turn: int
    ) -> tuple[tuple[FileChange, ...], Coverage]:
        self._count_again(vault, chat)
        for entry in kernel.timeline(chat).entries:
            if entry.kind is EntryKind.TURN and entry.turn == turn:
                return self._counts.fill_entry(vault, kernel, entry).files, entry.coverage
        return (), Coverage(complete=False)

    async def _until_quiet(self, vault: OpenVault) -> Sequence[WorkspacePath]:
        """Wait until nothing changed for a moment, but not for ever; the paths that were changing to the end."""
        began = since = self._now_s()
        seen = await self._reading(vault, lambda kernel: kernel.recorder.signature())
        changing: Sequence[WorkspacePath] = ()
        while self._now_s() - since < QUIET_S:
            if self._now_s() - began >= LONGEST_S:
                return changing
            await self._pause(_STEP_S)
            now = await self._reading(vault, lambda kernel: kernel.recorder.signature())
            if found := _differing(seen, now):
                changing, seen, since = found, now, self._now_s()
        return ()

    # -- how -------------------------------------------------------------------------------------------------------

    async def _changing(self, chat: ChatId, vault: OpenVault, work: Callable[[CheckpointKernel], T]) -> T:
        def locked() -> tuple[T, bool]:
            with vault.lock.hold():
                # Its agent goes on with a chat that was put away: what it does is to be kept and seen.
                back = vault.chats.where(chat) == "archived"
                if back:
                    vault.archive.unarchive(chat)
                kernel = vault.changing_kernel(chat)
                damaged = vault.store.damage(chat)
                if damaged:  # before the transcript gets what its log cannot take
                    raise LogDamaged(chat, damaged)
                return work(kernel), back

        async with self._serial.hold(vault.id):
            result, back = await durably(locked)
        if back:
            self._bus.publish(ChatCreated(await self._headers.one(vault, chat)))
        return result

    async def _reading(self, vault: OpenVault, work: Callable[[CheckpointKernel], T]) -> T:
        async with self._serial.hold(vault.id):
            return await durably(lambda: work(vault.kernel()))

    async def _tell(
        self, chat: ChatId, vault: OpenVault, *news: MessageAppended | MessageUpdated, created: bool = False, row: bool = True
    ) -> None:
        """After the change is durable. ``row``: what the list shows of the chat changed too."""
        if created or row:
            header = await self._headers.one(vault, chat)
            self._bus.publish(ChatCreated(header) if created else ChatUpdated(header))
        for event in news:
            self._bus.publish(event)
        self._bus.publish(HistoryGrew(chat, vault.workspace_path))


def _message_count(vault: OpenVault, chat: ChatId) -> int:
    """The length of a transcript that may be added to; `ChatDamaged` or `NewerFormat` if it may not."""
    header = vault.chats.header(chat)
    if header is None:
        raise ChatNotFound(chat)
    if header.problem:
        raise ChatDamaged(chat, header.problem)
    if header.archived:
        raise ChatGone(chat, "archived")
    if header.newer:
        raise NewerFormat(str(vault.chats.folder / f"{chat}.json"))
    return header.message_count


def _load(vault: OpenVault, chat: ChatId) -> Chat:
    """A chat that may be added to."""
    found, raw = vault.chats.load(chat)
    if not vault.chats.exists(chat):
        raise ChatGone(chat, "archived")
    if is_newer(raw):
        raise NewerFormat(str(vault.chats.folder / f"{chat}.json"))
    return found


def _open_turn(kernel: CheckpointKernel, chat: ChatId) -> int:
    turn = kernel.recorder.open_turn(chat)
    if not turn:
        raise NoOpenTurn(chat, "turn")
    return turn


def _differing(one: Mapping[WorkspacePath, Stamp], other: Mapping[WorkspacePath, Stamp]) -> list[WorkspacePath]:
    paths = {path for path, stamp in one.items() if other.get(path) != stamp}
    return sorted(paths | {path for path in other if path not in one})
