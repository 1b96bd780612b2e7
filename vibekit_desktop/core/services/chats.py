"""Name, pin, put away, delete and branch chats. Implements `core.api.Chats`, the reading half in `services.chat_reading`.

Every change is made under the vault's lock and told once, after it is durable; what a chat does with its branches is in
`services.families`, what is removed by its age in `services.purge`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.services.chat_reading import ChatReading
from vibekit_desktop.core.services.families import Families, Outcome, amend
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.purge import Purge
from vibekit_desktop.core.services.seen import Seen
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.shown import Shown
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import Chat, ChatHeader
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Mine, Point, RestorePlan, RestoreReport, Scope
from vibekit_desktop.core.types.errors import (
    ChatNotFound,
    Malformed,
    NotAllRestored,
    PointNotFound,
)
from vibekit_desktop.core.types.events import (
    ChatArchived,
    ChatCreated,
    ChatDeleted,
    ChatUpdated,
    Event,
    MessageAppended,
    ReviewChanged,
)
from vibekit_desktop.core.types.ids import (
    ChatId,
    MessageId,
    WorkspacePath,
    new_chat_id,
)
from vibekit_desktop.core.types.removals import DeleteReport, PurgeReport

T = TypeVar("T")

NAME_BYTES = 512


class Restores(Protocol):
    """Who puts files back."""

    async def plan_restore(
        self, chat: ChatId, point: Point, *, paths: Sequence[WorkspacePath], scope: Scope, mine: Mine
    ) -> RestorePlan:
        """See `core.api.Checkpoints.plan_restore`."""

    async def carry_out(self, plan: RestorePlan, *, initiator: str = "") -> RestoreReport:
        """See `core.api.Checkpoints.carry_out`."""


class ChatService(ChatReading):
    """The chats of all vaults and of the histories found."""

    def __init__(
        self,
        bus: Bus,
        shelf: Shelf,
        history: HistoryService,
        headers: Headers,
        serial: Serial,
        families: Families,
        purge: Purge,
        shown: Shown,
        seen: Seen,
        restores: Restores,
        *,
        clock: Callable[[], int],
    ) -> None:
        super().__init__(shelf, history, headers, serial, clock=clock)
        self._bus = bus
        self._families = families
        self._purge = purge
        self._shown = shown
        self._seen = seen
        self._restores = restores

    async def hold_open(self, chat: ChatId | None) -> None:
        """This window shows ``chat`` from now on."""
        vault = await asyncio.to_thread(self._shelf.holding, chat) if chat is not None else None
        await durably(lambda: self._shown.show(vault, chat))

    # -- changing one chat -------------------------------------------------------------------------------------------

    async def rename(self, chat: ChatId, name: str) -> None:
        """Give a chat another name."""
        words = " ".join(name.split())
        if not words:
            raise Malformed("name", name)
        await self._change(chat, lambda found: msgspec.structs.replace(found, name=_cut_to(words, NAME_BYTES)))

    async def pin(self, chat: ChatId, pinned: bool) -> None:
        """Keep a chat at the top of the list, or no longer."""
        await self._change(
            chat,
            lambda found: msgspec.structs.replace(found, pinned_at=(found.pinned_at or self._clock()) if pinned else 0),
        )

    async def _change(self, chat: ChatId, change: Callable[[Chat], Chat]) -> None:
        vault = await self._history.vault_of(chat)

        if await self._changing(vault, lambda: amend(vault, chat, change)):
            self._bus.publish(ChatUpdated(await self._headers.one(vault, chat)))

    async def archive(self, chat: ChatId) -> None:
        """Put a chat out of sight."""
        vault = await self._history.vault_of(chat)

        def work() -> bool:
            if vault.chats.where(chat) == "archived":
                return False
            self._families.refuse_running(vault, chat)
            vault.archive.archive(chat)
            return True

        if await self._changing(vault, work):
            self._bus.publish(ChatArchived(chat))
            self._purge.look_again()

    async def unarchive(self, chat: ChatId) -> None:
        """Bring an archived chat back."""
        vault = await self._history.vault_of(chat)

        def work() -> ChatHeader | None:
            if vault.chats.where(chat) == "active":
                return None
            vault.archive.unarchive(chat)
            return self._headers.read(vault, chat)

        header = await self._changing(vault, work)
        if header is not None:
            self._bus.publish(ChatCreated(header))

    async def draft(self, chat: ChatId) -> str:
        """What was written for the chat and not sent."""
        vault = await self._history.vault_of(chat)
        return await self._reading(vault, lambda: vault.drafts.get(chat))

    async def set_draft(self, chat: ChatId, text: str) -> None:
        """Keep what is being written."""
        vault = await self._history.vault_of(chat)
        await self._changing(vault, lambda: vault.drafts.set(chat, text) if text else vault.drafts.delete(chat))

    async def seen(self) -> Mapping[ChatId, int]:
        """How many messages of each chat a person has seen."""
        return await asyncio.to_thread(self._seen.all)

    async def note_seen(self, chat: ChatId, messages: int) -> None:
        """So many messages of a chat were seen."""
        await durably(lambda: self._seen.note(chat, messages))

    # -- chats and their branches ------------------------------------------------------------------------------------

    async def branch(self, chat: ChatId, turn: int, *, message: MessageId | None = None, files_before: bool = False) -> ChatId:
        """Make a chat of its own that ends just before a turn or a message. The parent's source is read to its end first."""
        vault = await self._history.vault_of(chat)
        await self._history.bring_up_to_date(chat, vault)
        if files_before:
            await self._put_files_back(vault, chat, turn, message)
        branch = new_chat_id(self._clock())

        def work() -> ChatHeader:
            vault.chats.load(chat)  # a damaged chat is told before anything is made
            kernel = vault.changing_kernel(chat)
            if message is None:
                kernel.branch(chat, turn, branch)
            else:
                kernel.branch_at(chat, _index_of(vault, chat, message), branch)
            vault.reviews.carry(chat, branch, told=False)
            vault.notes.carry(chat, branch)
            return self._headers.read(vault, branch)

        header = await self._changing(vault, work)
        self._bus.publish(ChatCreated(header))
        return branch

    async def _put_files_back(self, vault: OpenVault, chat: ChatId, turn: int, message: MessageId | None) -> None:
        """Every file as it was before the turn, as an entry of the chat."""
        if message is not None:
            turn = await self._reading(vault, lambda: vault.kernel().turn_from(chat, _index_of(vault, chat, message)))
            if not turn:
                return  # nothing came after it
        plan = await self._restores.plan_restore(chat, BeforeTurn(turn), paths=(), scope=Scope.FILES, mine=Mine())
        report = await self._restores.carry_out(plan)
        if report.failed or not report.verified:
            raise NotAllRestored(chat, report.entry, [one.path for one in report.failed])

    async def delete(self, chat: ChatId, *, keep_branches: bool = False) -> DeleteReport:
        """Delete a chat for good."""
        if await asyncio.to_thread(self._shelf.holding, chat) is None and await self._history.found_session(chat):
            await durably(lambda: self._shelf.hide([chat]))  # nobody opened it yet: there is only its row
            self._bus.publish(ChatDeleted(chat))
            return DeleteReport(deleted=(chat,))
        outcome = await self._family(chat, lambda vault: self._families.delete(vault, chat, keep_branches=keep_branches))
        return DeleteReport(deleted=tuple(outcome.deleted), failed_children=tuple(outcome.failed))

    async def promote(self, chat: ChatId) -> ChatId:
        """A branch takes the place of its parent."""
        return _parent(chat, await self._family(chat, lambda vault: self._families.promote(vault, chat)))

    async def discard(self, chat: ChatId) -> ChatId:
        """Delete a branch."""
        return _parent(chat, await self._family(chat, lambda vault: self._families.discard(vault, chat)))

    async def merge(self, chat: ChatId) -> ChatId:
        """Put what only the branch says at the end of its parent."""
        vault = await self._history.vault_of(chat)
        header = await self._headers.one(vault, chat)
        if header.parent_chat_id is not None and await self._history.holds(header.parent_chat_id):
            await self._history.bring_up_to_date(header.parent_chat_id, vault)
        return _parent(chat, await self._family(chat, lambda vault: self._families.merge(vault, chat)))

    async def _family(self, chat: ChatId, work: Callable[[OpenVault], Outcome]) -> Outcome:
        vault = await self._history.vault_of(chat)

        def recovered() -> tuple[Outcome, Sequence[Event]]:
            vault.changing_kernel(chat)
            outcome = work(vault)
            return outcome, self._events_of(vault, outcome)

        outcome, events = await self._changing(vault, recovered)
        for event in events:
            self._bus.publish(event)
        self._purge.look_again()
        return outcome

    def _events_of(self, vault: OpenVault, outcome: Outcome) -> Sequence[Event]:
        events: list[Event] = [ChatDeleted(chat) for chat in outcome.deleted]
        for chat in outcome.updated:
            if vault.chats.where(chat) == "active":
                events.append(ChatUpdated(self._headers.read(vault, chat)))
        if outcome.parent is not None:
            events += [MessageAppended(outcome.parent, message) for message in outcome.appended]
        events += [ReviewChanged(chat) for chat in outcome.reviewed]
        events += [ChatArchived(chat) for chat in outcome.archived]
        return events

    async def purge(self, older_than_days: int, *, only_look: bool = False) -> PurgeReport:
        """Delete the chats that were archived longer ago."""
        return await self._purge.purge(older_than_days, only_look=only_look)

    # -- how ---------------------------------------------------------------------------------------------------------

    async def _changing(self, vault: OpenVault, work: Callable[[], T]) -> T:
        def locked() -> T:
            with vault.lock.hold():
                return work()

        async with self._serial.hold(vault.id):
            return await durably(locked)


def _cut_to(text: str, size: int) -> str:
    """As much of a text as fits; one with half characters stays whole, and the store says what is wrong with it."""
    try:
        return text.encode()[:size].decode("utf-8", "ignore").rstrip()
    except UnicodeEncodeError:
        return text


def _index_of(vault: OpenVault, chat: ChatId, message: MessageId) -> int:
    """Where a message stands in the whole transcript."""
    for index, one in enumerate(vault.chats.whole(vault.chats.load(chat)[0]).messages or ()):
        if one.id == message:
            return index
    raise PointNotFound(chat, f"message {message}")


def _parent(chat: ChatId, outcome: Outcome) -> ChatId:
    if outcome.parent is None:
        raise ChatNotFound(chat)
    return outcome.parent
