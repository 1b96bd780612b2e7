"""Remove archived chats for good once they are old enough: when somebody asks, and by the setting while a window runs.

A chat that a window shows, or that a turn runs in, is kept whatever its age. One that cannot be removed is told and hides no
other. The age is that of archiving, or of the file where the archive does not say.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.services.families import Families
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.settings import SettingsService
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.shown import Shown
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.errors import ChatInUse, CoreError
from vibekit_desktop.core.types.events import ChatDeleted, ChatUpdated, Event, SettingChanged
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.removals import NotRemoved, PurgeReport
from vibekit_desktop.core.types.settings import RETENTION_DAYS

_log = logging.getLogger(__name__)

DAY_MS = 24 * 60 * 60 * 1000
LONGEST_S = 3600.0
SHORTEST_S = 5.0
OPEN = "open"
RUNNING = "running"


class Purge:
    """Removes what is old, in every vault."""

    def __init__(
        self,
        bus: Bus,
        shelf: Shelf,
        headers: Headers,
        serial: Serial,
        families: Families,
        shown: Shown,
        *,
        clock: Callable[[], int],
    ) -> None:
        self._bus = bus
        self._shelf = shelf
        self._headers = headers
        self._serial = serial
        self._families = families
        self._shown = shown
        self._clock = clock
        self.look_again: Callable[[], None] = _nobody
        """Called when chats were archived or went: another one may be due first."""

    async def purge(self, older_than_days: int, *, only_look: bool = False) -> PurgeReport:
        """Remove the chats that were archived longer ago than so many days."""
        limit = self._clock() - older_than_days * DAY_MS
        report = PurgeReport()
        for vault in await asyncio.to_thread(self._shelf.vaults):
            one = await self._of(vault, limit, only_look=only_look)
            report = PurgeReport(
                removed=report.removed + one.removed, kept=report.kept + one.kept, failed=report.failed + one.failed
            )
        return report

    async def _of(self, vault: OpenVault, limit: int, *, only_look: bool) -> PurgeReport:
        """One vault, one chat at a time: whoever waits for the vault does not wait for the whole pass."""
        report = PurgeReport()
        try:
            due = [chat for chat, since in await asyncio.to_thread(vault.archive.ages) if since < limit]
        except CoreError as error:
            _log.info("the archive of vault %s was not looked at: %s", vault.id, error.code)
            return report
        for chat in due:
            try:
                why = await asyncio.to_thread(self._why_kept, vault, chat)
                if not why and not only_look:
                    why = await self._remove(vault, chat, limit)
            except CoreError as error:
                _log.info("archived chat %s was not removed: %s", chat, error.code)
                report = replace(report, failed=(*report.failed, NotRemoved(chat, error.code)))
                continue
            if why:
                report = replace(report, kept=(*report.kept, NotRemoved(chat, why)))
            else:
                report = replace(report, removed=(*report.removed, chat))
        return report

    def _why_kept(self, vault: OpenVault, chat: ChatId) -> str:
        if self._shown.anywhere(vault, chat):
            return OPEN
        return RUNNING if self._families.running(vault, chat) else ""

    async def _remove(self, vault: OpenVault, chat: ChatId, limit: int) -> str:
        def work() -> tuple[str, Sequence[Event]]:
            with vault.lock.hold():
                # Whoever was quicker may have brought it back, opened it or removed it.
                why = self._why_kept(vault, chat)
                if why or not any(one == chat and since < limit for one, since in vault.archive.ages()):
                    return why, []
                if vault.chats.where(chat) != "archived":
                    raise ChatInUse(chat)  # the list has one of the same id, which would be the one to go
                outcome = self._families.delete(vault, chat, keep_branches=True)
                events: list[Event] = [ChatDeleted(one) for one in outcome.deleted]
                active = [one for one in outcome.updated if vault.chats.where(one) == "active"]
                return "", events + [ChatUpdated(self._headers.read(vault, one)) for one in active]

        async with self._serial.hold(vault.id):
            why, events = await durably(work)
        for event in events:
            self._bus.publish(event)
        return why

    async def next_after(self, limit: int) -> int | None:
        """When the first of the chats was archived that were so at ``limit`` or later; None if none was."""

        def work() -> int | None:
            found: list[int] = []
            for vault in self._shelf.vaults():
                try:
                    found += [since for _, since in vault.archive.ages() if since >= limit]
                except CoreError as error:
                    _log.info("the archive of vault %s was not looked at: %s", vault.id, error.code)
            return min(found, default=None)

        return await asyncio.to_thread(work)


def _nobody() -> None:
    """Nobody waits for what is due."""


class RetentionService:
    """Purges by the setting between `start` and `stop`. Implements `core.api.Retention`.

    One task; a pass that fails is logged and done again at the next time, at most an hour later.
    """

    def __init__(
        self,
        bus: Bus,
        purge: Purge,
        settings: SettingsService,
        *,
        clock: Callable[[], int],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._bus = bus
        self._purge = purge
        self._settings = settings
        self._clock = clock
        self._pause = pause
        self._task: asyncio.Task[None] | None = None
        self._again: asyncio.Event | None = None

    def start(self) -> None:
        """A pass now, and whenever one is due."""
        if self._task is None:
            self._again = asyncio.Event()
            self._purge.look_again = self._again.set
            self._task = asyncio.get_running_loop().create_task(self._run(self._again), name="remove old archived chats")
            self._task.add_done_callback(_ended)

    async def stop(self) -> None:
        """No pass any more; one that is removing a chat ends with that chat."""
        task, self._task = self._task, None
        self._purge.look_again = _nobody
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self, again: asyncio.Event) -> None:
        subscription = self._bus.subscribe(SettingChanged, lambda event: _set_if(again, event.key == RETENTION_DAYS.key))
        try:
            while True:
                again.clear()
                await self._wait(await self._pass(), again)
        finally:
            subscription.close()

    async def _pass(self) -> float:
        """Remove what is due; returns the seconds until the next is."""
        try:
            days = await asyncio.to_thread(self._settings.number, RETENTION_DAYS)
            if days <= 0:
                return LONGEST_S
            report = await self._purge.purge(days)
            if report.removed or report.failed:
                _log.info("archived chats: %d removed, %d failed", len(report.removed), len(report.failed))
            oldest = await self._purge.next_after(self._clock() - days * DAY_MS)
        except CoreError as error:
            _log.info("archived chats were not looked through: %s", error.code)
            return LONGEST_S
        if oldest is None:
            return LONGEST_S
        return min(LONGEST_S, max(SHORTEST_S, (oldest + days * DAY_MS - self._clock()) / 1000))

    async def _wait(self, seconds: float, again: asyncio.Event) -> None:
        """Until so much time passed or somebody says that things are otherwise."""
        waits = {asyncio.ensure_future(self._pause(seconds)), asyncio.ensure_future(again.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
            await asyncio.wait(waits)


def _ended(task: "asyncio.Task[None]") -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _log.error("archived chats are not looked through any more: %s", type(error).__name__, exc_info=error)


def _set_if(event: asyncio.Event, wanted: bool) -> None:
    if wanted:
        event.set()
