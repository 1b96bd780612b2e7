"""What every turn of an agent needs of its vault, whoever drives the agent: to change and to read under the right locks, to
wait until the disk is quiet, to say what a turn changed, and to tell the news.

Each change is one short one under the vault's lock; what it announced is durable before anybody hears of it. Loop thread.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.chat import hooked
from vibekit_desktop.core.chat.codec import is_newer
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.disk.tree import Stamp
from vibekit_desktop.core.services.contents import LineCounts
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import Chat, Message
from vibekit_desktop.core.types.checkpoints import Coverage, EntryKind, FileChange
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
"""Somebody waits for the end; what changes later is told as late."""
_STEP_S = 0.1


class TurnBook:
    """The vault's side of turns. Holds no state: what is open is what the logs say."""

    def __init__(
        self,
        bus: Bus,
        headers: Headers,
        serial: Serial,
        counts: LineCounts,
        *,
        count_again: Callable[[OpenVault, ChatId], None],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bus = bus
        self._headers = headers
        self._serial = serial
        self._counts = counts
        self._count_again = count_again
        self._pause = pause
        self._now_s = now_s

    async def changing(self, chat: ChatId, vault: OpenVault, work: Callable[[CheckpointKernel], T]) -> T:
        """Do one change under the vault's lock, what a crash left finished first. An archived chat whose agent goes on comes
        back. `LogDamaged` before anything is written that the log cannot take."""

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

    async def reading(self, vault: OpenVault, work: Callable[[CheckpointKernel], T]) -> T:
        """Ask the kernel something, in a thread and in order with the changes of this process."""
        async with self._serial.hold(vault.id):
            return await durably(lambda: work(vault.kernel()))

    async def until_quiet(self, vault: OpenVault) -> Sequence[WorkspacePath]:
        """Wait until nothing changed for a moment, but not for ever; the paths that were changing to the end."""
        began = since = self._now_s()
        seen = await self.reading(vault, lambda kernel: kernel.recorder.signature())
        changing: Sequence[WorkspacePath] = ()
        while self._now_s() - since < QUIET_S:
            if self._now_s() - began >= LONGEST_S:
                return changing
            await self._pause(_STEP_S)
            now = await self.reading(vault, lambda kernel: kernel.recorder.signature())
            if found := _differing(seen, now):
                changing, seen, since = found, now, self._now_s()
        return ()

    async def changes(self, vault: OpenVault, chat: ChatId, turn: int) -> tuple[tuple[FileChange, ...], Coverage]:
        """The net change of every file in a turn that ended, with counts, and what of it is not in the store."""

        def work(kernel: CheckpointKernel) -> tuple[tuple[FileChange, ...], Coverage]:
            self._count_again(vault, chat)
            for entry in kernel.timeline(chat).entries:
                if entry.kind is EntryKind.TURN and entry.turn == turn:
                    return self._counts.fill_entry(vault, kernel, entry).files, entry.coverage
            return (), Coverage(complete=False)

        return await self.reading(vault, work)

    async def tell(
        self, chat: ChatId, vault: OpenVault, *news: MessageAppended | MessageUpdated, created: bool = False, row: bool = True
    ) -> None:
        """After the change is durable. ``row``: what the list shows of the chat changed too."""
        if created or row:
            header = await self._headers.one(vault, chat)
            self._bus.publish(ChatCreated(header) if created else ChatUpdated(header))
        for event in news:
            self._bus.publish(event)
        self._bus.publish(HistoryGrew(chat, vault.workspace_path))


def stamp(vault: OpenVault, chat: ChatId, tag: str) -> Message | None:
    """Put the tag of a turn's first capture on its prompt, where the original looks for it; returns the prompt then. The
    capture stands without. Under the vault's lock."""
    if "." in tag:
        return None
    try:
        made = vault.chats.mutate(chat, lambda found, _: hooked.stamped(found, int(tag), tag))
        of_turn = (message for message in made.chat.messages or () if message.turn == int(tag))
        return next(of_turn, None) if made.written else None
    except CoreError as error:
        _log.info("the tag %s of chat %s is only in its log: %s", tag, chat, error.code)
        return None


def turn_of_ours(vault: OpenVault, chat: ChatId) -> int:
    """The turn of a chat that a process of ours runs now; 0 if none does. What hooks tell of that agent's turns and commands we
    have seen ourselves."""
    text = TurnLock(vault.chats.fs, vault.store.desktop, chat).running()
    return int(text) if text.isascii() and text.isdecimal() else 0


def message_count(vault: OpenVault, chat: ChatId) -> int:
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


def load(vault: OpenVault, chat: ChatId) -> Chat:
    """A chat that may be added to."""
    found, raw = vault.chats.load(chat)
    if not vault.chats.exists(chat):
        raise ChatGone(chat, "archived")
    if is_newer(raw):
        raise NewerFormat(str(vault.chats.folder / f"{chat}.json"))
    return found


def require_open_turn(kernel: CheckpointKernel, chat: ChatId) -> int:
    """The number of the chat's running turn; `NoOpenTurn` if none runs."""
    turn = kernel.recorder.open_turn(chat)
    if not turn:
        raise NoOpenTurn(chat, "turn")
    return turn


def _differing(one: Mapping[WorkspacePath, Stamp], other: Mapping[WorkspacePath, Stamp]) -> list[WorkspacePath]:
    paths = {path for path, found in one.items() if other.get(path) != found}
    return sorted(paths | {path for path in other if path not in one})
