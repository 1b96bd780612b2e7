"""Timeline, preview, restore, undo and redo: the kernel's work, off the loop thread, one operation at a time per vault.

Implements `core.api.Checkpoints`. Publishes only after a change is durable.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.checkpoint.plan import PlanRequest
from vibekit_desktop.core.checkpoint.stages import Progress
from vibekit_desktop.core.services.contents import Allowance, LineCounts, Pair
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import ChatHeader
from vibekit_desktop.core.types.checkpoints import (
    CheckoutReport,
    Conflict,
    Mine,
    Now,
    PinnedPoint,
    PlacedConflict,
    Point,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    RestoreStep,
    Scope,
    Start,
    Timeline,
)
from vibekit_desktop.core.types.errors import CoreError, Malformed, NothingToEnd, RestoreUnfinished, WorkspaceMissing
from vibekit_desktop.core.types.events import (
    ChatCreated,
    ChatDeleted,
    ChatUpdated,
    HistoryGrew,
    RestoreProgressed,
    RestoreRecovered,
    TimelineNoted,
    TranscriptChanged,
    WorkspaceRestored,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

T = TypeVar("T")

COUNT_S = 0.3
"""So long lines are counted at a time; whoever wants something else of the vault has his turn in between."""

PROGRESS_S = 0.05
"""The least time between two news of one restore."""

_log = logging.getLogger(__name__)


class CheckpointService:
    """The checkpoints of every chat. Holds no state of its own but the remembered line counts, and of which changes of the
    timelines read last the lines are not counted yet."""

    def __init__(
        self,
        bus: Bus,
        history: HistoryService,
        headers: Headers,
        serial: Serial,
        counts: LineCounts,
        *,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bus = bus
        self._history = history
        self._headers = headers
        self._serial = serial
        self._counts = counts
        self._now_s = now_s
        self._uncounted: dict[ChatId, list[Pair]] = {}

    async def _reading(self, chat: ChatId, work: Callable[[OpenVault, CheckpointKernel], T]) -> T:
        vault = await self._history.vault_of(chat)
        async with self._serial.hold(vault.id):
            return await durably(lambda: work(vault, vault.kernel()))

    async def _follow(self, chat: ChatId) -> None:
        """The source of an imported chat is read to its end first (docs/storage-format.md 6)."""
        await self._history.bring_up_to_date(chat, await self._history.vault_of(chat))

    async def timeline(self, chat: ChatId, *, counted: bool = True) -> Timeline:
        """The timeline with line counts; the chat's row learns its net counts on the way, once all is counted."""
        await self._follow(chat)

        def work(vault: OpenVault, kernel: CheckpointKernel) -> tuple[Timeline, ChatHeader | None]:
            disk = kernel.disk(chat)
            timeline = kernel.timeline(chat, disk=disk)
            net = kernel.changed_between(chat, Start(), Now(), disk=disk)
            left: list[Pair] = []
            if not counted:
                newest_first = (
                    (change.path, change.before, change.after) for entry in reversed(timeline.entries) for change in entry.files
                )
                left = self._count_some(vault, kernel, chat, chain(newest_first, net))
            fill = self._counts.fill_known if left else self._counts.fill_entry
            entries = tuple(fill(vault, kernel, entry) for entry in timeline.entries)
            if left:
                return replace(timeline, entries=entries, counting=True), None
            news = self._headers.remember_net(chat, *self._sum(vault, kernel, net))
            return replace(timeline, entries=entries), self._headers.read(vault, chat) if news else None

        timeline, header = await self._reading(chat, work)
        if header is not None:
            self._bus.publish(ChatUpdated(header))
        return timeline

    async def count_on(self, chat: ChatId) -> bool:
        """Count some more of what the last timeline left."""
        if chat not in self._uncounted:
            return False

        def work(vault: OpenVault, kernel: CheckpointKernel) -> bool:
            return bool(self._count_some(vault, kernel, chat, self._uncounted.get(chat, ())))

        return await self._reading(chat, work)

    def _count_some(self, vault: OpenVault, kernel: CheckpointKernel, chat: ChatId, pairs: Iterable[Pair]) -> list[Pair]:
        """Count for a moment, and keep what is left for `count_on`."""
        left = self._counts.count_some(vault, kernel, pairs, Allowance(self._now_s, COUNT_S))
        if left:
            self._uncounted[chat] = left
        else:
            self._uncounted.pop(chat, None)
        return left

    def _net(self, vault: OpenVault, kernel: CheckpointKernel, chat: ChatId) -> tuple[int, int]:
        """Lines added and removed from the chat's start to the disk, over every path it changed."""
        return self._sum(vault, kernel, kernel.changed_between(chat, Start(), Now()))

    def _sum(self, vault: OpenVault, kernel: CheckpointKernel, changes: Iterable[Pair]) -> tuple[int, int]:
        added = removed = 0
        for path, before, after in changes:
            counts = self._counts.between(vault, kernel, path, before, after)
            if counts:
                added += counts[0]
                removed += counts[1]
        return added, removed

    def count_again(self, vault: OpenVault, chat: ChatId) -> None:
        """After a change: what the row of the chat says is no longer so. What was done is done, whatever becomes of this.
        Blocking."""
        try:
            self._headers.remember_net(chat, *self._net(vault, vault.kernel(), chat))
        except CoreError as error:
            _log.info("the net counts of chat %s were not counted: %s", chat, error.code)

    async def disk_mark(self, chat: ChatId) -> int:
        """Another number once what the timeline says is on disk may be old."""

        def work(_vault: OpenVault, kernel: CheckpointKernel) -> int:
            try:
                return kernel.disk_mark(chat)
            except WorkspaceMissing:
                return 0

        return await self._reading(chat, work)

    async def touched(self, chat: ChatId) -> Sequence[WorkspacePath]:
        """Every path with a line of this chat's, sorted."""
        return await self._reading(chat, lambda _vault, kernel: kernel.touched(chat))

    async def conflicts(self, chat: ChatId) -> Sequence[Conflict]:
        """Where somebody else changed a file under this chat's hands."""
        return await self._reading(chat, lambda _vault, kernel: kernel.conflicts(chat))

    async def placed_conflicts(self, chat: ChatId) -> Sequence[PlacedConflict]:
        """The same, with their points, and which of them a person settled."""

        def work(vault: OpenVault, kernel: CheckpointKernel) -> list[PlacedConflict]:
            notes = vault.notes.of(chat)
            return [replace(one, settled=notes.is_settled(one.conflict)) for one in kernel.placed_conflicts(chat)]

        return await self._reading(chat, work)

    async def changed_by(self, chat: ChatId, path: WorkspacePath) -> Sequence[ChatId]:
        """The chats that changed a file, the newest change first."""
        return await self._reading(chat, lambda _vault, kernel: kernel.changed_by(chat, path))

    async def settle(self, chat: ChatId, conflict: Conflict, *, settled: bool = True) -> None:
        """A conflict of these contents stays as it is, or is to be told again."""
        await self._noting(chat, lambda vault, _kernel: vault.notes.settle(chat, conflict, settled=settled))

    async def pins(self, chat: ChatId) -> Sequence[PinnedPoint]:
        """The points of a chat that have a name."""
        return await self._reading(chat, lambda vault, _kernel: vault.notes.of(chat).pins)

    async def pin(self, chat: ChatId, point: Point, name: str) -> None:
        """Give a point a name, or another one."""
        if isinstance(point, Now):
            raise Malformed("point to pin", "now")

        def work(vault: OpenVault, kernel: CheckpointKernel) -> bool:
            kernel.find_point(chat, point)
            return vault.notes.pin(chat, point, name, vault.now_ms())

        await self._noting(chat, work)

    async def unpin(self, chat: ChatId, point: Point) -> None:
        """Forget the name of a point."""
        await self._noting(chat, lambda vault, _kernel: vault.notes.unpin(chat, point))

    async def _noting(self, chat: ChatId, change: Callable[[OpenVault, CheckpointKernel], bool]) -> None:
        def locked(vault: OpenVault, kernel: CheckpointKernel) -> bool:
            with vault.lock.hold():
                return change(vault, kernel)

        if await self._reading(chat, locked):
            self._bus.publish(TimelineNoted(chat))

    async def plan_restore(
        self, chat: ChatId, point: Point, *, paths: Sequence[WorkspacePath], scope: Scope, mine: Mine
    ) -> RestorePlan:
        """What a restore would do."""
        if isinstance(point, Now):
            raise Malformed("point to restore", "now")
        return await self._plan(chat, PlanRequest(point=point, scope=scope, mine=mine, paths=tuple(paths)))

    async def plan_undo_file(self, chat: ChatId, point: Point, path: WorkspacePath, *, mine: Mine) -> RestorePlan:
        """What putting one file back would do."""
        if isinstance(point, Now):
            raise Malformed("point to restore", "now")
        return await self._plan(
            chat, PlanRequest(kind=RestoreKind.UNDO_FILE, point=point, scope=Scope.FILES, mine=mine, paths=(path,))
        )

    async def plan_undo(self, chat: ChatId, *, mine: Mine) -> RestorePlan:
        """What taking back the newest entry would do."""
        return await self._plan(chat, PlanRequest(kind=RestoreKind.UNDO, mine=mine))

    async def plan_redo(self, chat: ChatId, *, mine: Mine) -> RestorePlan:
        """What taking back the newest undo would do."""
        return await self._plan(chat, PlanRequest(kind=RestoreKind.REDO, mine=mine))

    async def _plan(self, chat: ChatId, request: PlanRequest) -> RestorePlan:
        await self._follow(chat)

        def work(vault: OpenVault, kernel: CheckpointKernel) -> RestorePlan:
            if vault.workspace() is None and request.scope is not Scope.CHAT:
                raise WorkspaceMissing(vault.workspace_path)
            plan = kernel.plan(chat, request)
            _branches(vault, plan)
            if vault.turns_cut_off():  # only a change ends such a turn, and then knows whose the last writes are
                plan = replace(plan, notes=(*plan.notes, "turn-cut-off"))
            return replace(plan, files=tuple(self._counts.fill_planned(vault, kernel, file) for file in plan.files))

        return await self._reading(chat, work)

    async def carry_out(self, plan: RestorePlan, *, initiator: str = "") -> RestoreReport:
        """Do what the plan says if it is still true."""
        vault = await self._history.vault_of(plan.chat)
        progress = self._progress()

        def work() -> tuple[RestoreReport, list[ChatId]]:
            with vault.lock.hold():
                kernel = vault.changing_kernel(plan.chat)
                branches = _branches(vault, plan)
                report = kernel.carry_out(plan, progress=progress(plan.chat))
            self.count_again(vault, plan.chat)
            return report, [branch for branch in branches if not vault.chats.where(branch)]

        async with self._serial.hold(vault.id):
            report, gone = await durably(work)
        await self._announce(vault, plan, report, initiator)
        for branch in gone:
            self._bus.publish(ChatDeleted(branch))
        return report

    def _progress(self) -> Callable[[ChatId], Progress]:
        """For a thread, to say how far the restore of a chat is; not oftener than a person reads."""
        loop = asyncio.get_running_loop()
        last = -PROGRESS_S

        def of(chat: ChatId) -> Progress:
            def tell(step: RestoreStep, done: int, total: int) -> None:
                nonlocal last
                now = self._now_s()
                if done == total or now - last >= PROGRESS_S:
                    last = now
                    loop.call_soon_threadsafe(self._bus.publish, RestoreProgressed(chat, done, total, step))

            return tell

        return of

    async def _announce(self, vault: OpenVault, plan: RestorePlan, report: RestoreReport, initiator: str) -> None:
        if not report.entry:
            return
        self._bus.publish(WorkspaceRestored(plan.chat, vault.workspace_path, report.restored, report, initiator))
        header = await self._headers.one(vault, plan.chat)
        if plan.cuts or plan.brings_back:
            self._bus.publish(TranscriptChanged(plan.chat, header.message_count, initiator))
        if report.branch_chat_id:
            self._bus.publish(ChatCreated(await self._headers.one(vault, report.branch_chat_id)))
        self._bus.publish(ChatUpdated(header))

    async def content(self, chat: ChatId, point: Point, path: WorkspacePath) -> bytes:
        """The exact bytes of a file at a point."""
        return await self._reading(chat, lambda _vault, kernel: kernel.content(chat, point, path))

    async def checkout(self, chat: ChatId, point: Point, folder: Path) -> CheckoutReport:
        """Write every file the chat knows at that point into an empty folder."""
        return await self._reading(chat, lambda _vault, kernel: kernel.checkout(chat, point, folder))

    async def recover_all(self) -> Sequence[RestoreReport]:
        """Finish what a crash interrupted in any vault, as the window does when it starts; announces each.

        A vault that is busy or broken keeps no other from being looked at: its chats say so when they are opened.
        """
        reports: list[RestoreReport] = []
        for vault in await asyncio.to_thread(self._history.vaults):
            try:
                reports += await self._recover(vault, None)
            except CoreError as error:
                _log.info("vault %s was not recovered: %s", vault.id, error.code)
        return reports

    async def recover(self, chat: ChatId) -> Sequence[RestoreReport]:
        """Finish what a crash interrupted in the vault of a chat, as is done before the first change; announces each."""
        return await self._recover(await self._history.vault_of(chat), chat)

    async def leave_unfinished(self, chat: ChatId) -> int:
        """End every restore of a chat that is not ours to carry on, its files as they are; ours are finished first."""
        vault = await self._history.vault_of(chat)
        await self._recover(vault, chat)

        def work() -> int:
            with vault.lock.hold():
                kernel = vault.kernel()
                ended = kernel.leave_unfinished(chat)
                ours = [] if ended else [reason for of, reason in kernel.unfinished() if of == chat]
            if ours:
                raise RestoreUnfinished(chat, ours[0])
            if not ended:
                raise NothingToEnd(chat)
            return ended

        async with self._serial.hold(vault.id):
            ended = await durably(work)
        self._bus.publish(HistoryGrew(chat, vault.workspace_path))
        return ended

    async def _recover(self, vault: OpenVault, chat: ChatId | None) -> list[RestoreReport]:
        progress = self._progress()

        def work() -> list[RestoreReport]:
            kernel = vault.kernel()
            interrupted = kernel.needs_recovery()
            if not (interrupted or vault.chats_need_recovery() or vault.turns_cut_off()):
                return []
            with vault.lock.hold():
                reports = kernel.recover(needed=chat, progress=progress) if interrupted else []
                vault.recover_chats()
                vault.end_cut_off_turns(kernel)
            for report in reports:
                self.count_again(vault, report.chat)
            return reports

        async with self._serial.hold(vault.id):
            found = await durably(work)
        for report in found:
            self._bus.publish(RestoreRecovered(report.chat, report))
        return found


def _branches(vault: OpenVault, plan: RestorePlan) -> list[ChatId]:
    """With a plan that brings turns back: the chats that hold what was cut away from its chat, of which it removes the last.
    `ChatDamaged` if that or the chat itself could not be written: before any file is touched."""
    if not plan.brings_back:
        return []
    found = [ChatId(branch) for _, _, branch in vault.chats.load(plan.chat)[0].removed_turns]
    for branch in found[-1:]:
        if vault.chats.where(branch):
            vault.chats.load(branch)
    return found
