"""Find the two sides of a diff and compute it off the loop thread. Implements `core.api.Diffs`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.diff import intraline
from vibekit_desktop.core.diff.document import DEFAULT, UNLIMITED, Limits, build
from vibekit_desktop.core.diff.patch import unified
from vibekit_desktop.core.highlight.parts import RUN_UP, from_line
from vibekit_desktop.core.services.contents import Missing, content_of
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.checkpoints import FileState, Now, Point, RestorePlan, point_text
from vibekit_desktop.core.types.diffs import (
    EXACT,
    Compare,
    DiffDocument,
    DiffRequest,
    DiffResult,
    FileDiff,
    StyleRuns,
    TooLarge,
    Unreadable,
    WordSpans,
)
from vibekit_desktop.core.types.errors import NotKnownThere
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.worker.pool import WorkerPool

Side = bytes | Missing | None
IN_PROCESS_LIMIT = 1 << 20
"""Bytes of both sides together up to which a diff is computed in a thread; the engine holds the interpreter lock, so larger
ones go to the worker process."""


class DiffService:
    """Diffs of files between points of a chat."""

    def __init__(self, history: HistoryService, serial: Serial, pool: WorkerPool) -> None:
        self._history = history
        self._serial = serial
        self._pool = pool

    async def _sides(
        self, chat: ChatId, read: Callable[[OpenVault, CheckpointKernel], list[tuple[FileDiff, Side, Side]]]
    ) -> list[tuple[FileDiff, Side, Side]]:
        vault = await self._history.vault_of(chat)
        async with self._serial.hold(vault.id):
            return await durably(lambda: read(vault, vault.kernel()))

    async def _compute(self, unread: FileDiff, old: Side, new: Side, *, limits: Limits) -> FileDiff:
        request = unread.request
        result: DiffResult
        if isinstance(old, Missing):
            result = Unreadable("old", old.reason)
        elif isinstance(new, Missing):
            result = Unreadable("new", new.reason)
        else:
            size = len(old or b"") + len(new or b"")
            if size > IN_PROCESS_LIMIT:
                result = await self._pool.build(
                    old,
                    new,
                    old_mode=unread.before.mode,
                    new_mode=unread.after.mode,
                    how=request.compare,
                    limits=limits,
                )
            else:
                result = await asyncio.to_thread(
                    build,
                    old,
                    new,
                    old_mode=unread.before.mode,
                    new_mode=unread.after.mode,
                    how=request.compare,
                    limits=limits,
                )
        return FileDiff(request=request, before=unread.before, after=unread.after, result=result)

    async def file(self, request: DiffRequest, *, unlimited: bool = False) -> FileDiff:
        """One file between two points."""

        def read(vault: OpenVault, kernel: CheckpointKernel) -> list[tuple[FileDiff, Side, Side]]:
            before = kernel.state_at(request.chat, request.old, request.path)
            after = kernel.state_at(request.chat, request.new, request.path)
            return [_read_pair(vault, kernel, request, before, after)]

        ((unread, old, new),) = await self._sides(request.chat, read)
        return await self._compute(unread, old, new, limits=UNLIMITED if unlimited else DEFAULT)

    async def files(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, compare: Compare = EXACT
    ) -> Sequence[FileDiff]:
        """All files that differ between two points."""
        pairs = await self._changed(chat, old, new, paths, compare=compare)
        return [await self._compute(unread, one, other, limits=DEFAULT) for unread, one, other in pairs]

    async def _changed(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, compare: Compare
    ) -> list[tuple[FileDiff, Side, Side]]:
        def read(vault: OpenVault, kernel: CheckpointKernel) -> list[tuple[FileDiff, Side, Side]]:
            return [
                _read_pair(vault, kernel, DiffRequest(chat, path, old, new, compare), before, after)
                for path, before, after in kernel.changed_between(chat, old, new, tuple(paths))
            ]

        return await self._sides(chat, read)

    async def patch(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, compare: Compare = EXACT
    ) -> bytes:
        """All files that differ between two points as one unified diff. Files whose content is not to be had are left out."""
        pairs = await self._changed(chat, old, new, paths, compare=compare)

        def join() -> bytes:
            parts: list[bytes] = []
            for unread, one, other in pairs:
                if isinstance(one, Missing) or isinstance(other, Missing):
                    continue
                parts.append(unified(unread.request.path, one, other, old_state=unread.before, new_state=unread.after))
            return b"".join(parts)

        return await asyncio.to_thread(join)

    async def planned(self, plan: RestorePlan, path: WorkspacePath) -> FileDiff:
        """What restoring one file changes: old = on disk now, new = after restoring."""
        file = next(file for file in plan.files if file.path == path)
        request = DiffRequest(plan.chat, path, Now(), plan.point)

        def read(vault: OpenVault, kernel: CheckpointKernel) -> list[tuple[FileDiff, Side, Side]]:
            return [_read_pair(vault, kernel, request, file.current, file.wanted)]

        ((unread, old, new),) = await self._sides(plan.chat, read)
        return await self._compute(unread, old, new, limits=DEFAULT)

    async def words(self, diff: FileDiff, first_row: int, last_row: int) -> Mapping[int, WordSpans]:
        """The changed words of the changed rows between two rows."""
        document = diff.result
        if not isinstance(document, DiffDocument):
            return {}
        return await asyncio.to_thread(intraline.words, document, first_row, last_row)

    async def sides(self, request: DiffRequest) -> tuple[bytes | None, bytes | None]:
        """The bytes at the two points, as they are."""

        def read(vault: OpenVault, kernel: CheckpointKernel) -> list[tuple[FileDiff, Side, Side]]:
            before = kernel.state_at(request.chat, request.old, request.old_path or request.path)
            after = kernel.state_at(request.chat, request.new, request.path)
            return [_read_pair(vault, kernel, request, before, after)]

        ((_, old, new),) = await self._sides(request.chat, read)
        if isinstance(old, Missing):
            raise NotKnownThere(request.old_path or request.path, point_text(request.old), old.reason)
        if isinstance(new, Missing):
            raise NotKnownThere(request.path, point_text(request.new), new.reason)
        return old, new

    async def highlight(self, path: str, lines: Sequence[str]) -> StyleRuns | None:
        """Colours for a text, from the worker process."""
        return await self._pool.lex(path, lines)

    async def highlight_part(self, path: str, lines: Sequence[str], first: int, last: int) -> StyleRuns | None:
        """Colours for the lines that are seen first."""
        start = max(0, first - RUN_UP)
        runs = await self._pool.lex(path, lines[start : last + 1])
        return runs and from_line(runs, first - start)


def _read_pair(
    vault: OpenVault, kernel: CheckpointKernel, request: DiffRequest, before: FileState, after: FileState
) -> tuple[FileDiff, Side, Side]:
    unread = FileDiff(request=request, before=before, after=after, result=TooLarge(0, 0))
    return unread, content_of(vault, kernel, request.path, before), content_of(vault, kernel, request.path, after)
