"""Find the two sides of a diff and compute it off the loop thread. Implements `core.api.Diffs`."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.diff import intraline
from vibekit_desktop.core.diff.document import DEFAULT, UNLIMITED, Limits, build
from vibekit_desktop.core.diff.kinds import generated
from vibekit_desktop.core.diff.partial import with_what_counts
from vibekit_desktop.core.diff.patch import unified
from vibekit_desktop.core.diff.renames import renamed
from vibekit_desktop.core.services.colours import Colours
from vibekit_desktop.core.services.contents import Missing, candidate, content_of, size_of
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.checkpoints import FileState, Now, Point, RestorePlan, State, point_text
from vibekit_desktop.core.types.diffs import (
    EXACT,
    BinaryPair,
    Compare,
    DiffDocument,
    DiffNote,
    DiffRequest,
    DiffResult,
    FileDiff,
    Identical,
    Note,
    StyleRuns,
    TooLarge,
    Unreadable,
    WordSpans,
)
from vibekit_desktop.core.types.errors import ExportTooLarge, NotKnownThere
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.worker.pool import WorkerPool

Side = bytes | Missing | None
T = TypeVar("T")
_KINDS = {State.PRESENT: "file", State.LINK: "link", State.FOLDER: "folder"}
IN_PROCESS_LIMIT = 1 << 20
"""Bytes of both sides together up to which a diff is computed in a thread; the engine holds the interpreter lock, so larger
ones go to the worker process."""
KEPT_LISTS = 2
"""A review and one in a window of its own follow the disk at the same time."""
KEPT_BYTES = 64 << 20
"""Of both sides of all files of a list; a larger one is compared anew each time."""

_Triple = tuple[WorkspacePath, FileState, FileState]
_Between = tuple[ChatId, Point, Point, tuple[WorkspacePath, ...], Compare]


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two sides of a file, of which no content is read yet."""

    path: WorkspacePath
    before: FileState
    after: FileState
    old_path: WorkspacePath | None = None


@dataclass(frozen=True, slots=True)
class _Unread:
    """A diff without its result, and the bytes to compute it from; or one that is ``known``, which needs none."""

    diff: FileDiff
    old: Side = None
    new: Side = None
    known: bool = False


@dataclass(frozen=True, slots=True)
class _Listed:
    """The answer to a question for all files, by path, and what their states were then."""

    states: list[_Triple]
    diffs: dict[WorkspacePath, FileDiff]

    def same(self, request: DiffRequest, before: FileState, after: FileState) -> FileDiff | None:
        """What was found of a file whose two sides are what they were."""
        known = self.diffs.get(request.path)
        return known if known is not None and (known.request, known.before, known.after) == (request, before, after) else None


class DiffService:
    """Diffs of files between points of a chat. The newest lists are kept: whoever follows the disk asks again and again, and
    what did not change is not compared again."""

    def __init__(self, history: HistoryService, serial: Serial, pool: WorkerPool, colours: Colours) -> None:
        self._history = history
        self._serial = serial
        self._pool = pool
        self._colours = colours
        self._listed: OrderedDict[_Between, _Listed] = OrderedDict()

    async def _sides(self, chat: ChatId, read: Callable[[OpenVault, CheckpointKernel], T]) -> T:
        vault = await self._history.vault_of(chat)
        async with self._serial.hold(vault.id):
            return await durably(lambda: read(vault, vault.kernel()))

    async def _compute(self, unread: _Unread, *, limits: Limits) -> FileDiff:
        diff, old, new = unread.diff, unread.old, unread.new
        request = diff.request
        if isinstance(old, Missing):
            return replace(diff, result=Unreadable("old", old.reason))
        if isinstance(new, Missing):
            return replace(diff, result=Unreadable("new", new.reason))
        modes = (diff.before.mode, diff.after.mode)
        result: DiffResult
        if len(old or b"") + len(new or b"") > IN_PROCESS_LIMIT:
            result = await self._pool.build(old, new, old_mode=modes[0], new_mode=modes[1], how=request.compare, limits=limits)
        else:
            result = await asyncio.to_thread(_built, old, new, modes, request.compare, limits)
        notes = _file_notes(diff)
        if notes and isinstance(result, DiffDocument | Identical | BinaryPair):
            result = replace(result, notes=notes + result.notes)
        kind = await asyncio.to_thread(generated, request.path, old, new)
        return replace(diff, result=result, generated=kind)

    async def file(self, request: DiffRequest, *, unlimited: bool = False) -> FileDiff:
        """One file between two points."""
        (unread,) = await self._sides(request.chat, lambda vault, kernel: [_read_request(vault, kernel, request)])
        return await self._compute(unread, limits=UNLIMITED if unlimited else DEFAULT)

    async def files(
        self,
        chat: ChatId,
        old: Point,
        new: Point,
        paths: Sequence[WorkspacePath],
        *,
        compare: Compare = EXACT,
        most: int | None = None,
    ) -> Sequence[FileDiff]:
        """All files that differ between two points. ``most``: bytes of both sides of all of them; `ExportTooLarge` over that,
        before any is read to be shown."""
        between = (chat, old, new, tuple(paths), compare)
        known = self._listed.get(between)
        changed = await self._changed(between, known, most)
        if changed is None:
            if between in self._listed:
                self._listed.move_to_end(between)
            return () if known is None else tuple(known.diffs.values())
        states, size, found = changed
        diffs: dict[WorkspacePath, FileDiff] = {}
        while found:
            unread = found.popleft()  # nobody holds its bytes after its turn
            diffs[unread.diff.request.path] = unread.diff if unread.known else await self._compute(unread, limits=DEFAULT)
        self._listed.pop(between, None)
        if size <= KEPT_BYTES and not any(_is_damaged(one.result) for one in diffs.values()):
            self._listed[between] = _Listed(states, diffs)
            if len(self._listed) > KEPT_LISTS:
                self._listed.popitem(last=False)
        return tuple(diffs.values())

    async def _changed(
        self, between: _Between, known: _Listed | None = None, most: int | None = None
    ) -> tuple[list[_Triple], int, deque[_Unread]] | None:
        """What differs, how many bytes that is, and those that are to be compared: not of a file that is as it was when
        ``known`` was. None if all are."""
        chat, old, new, paths, compare = between

        def read(vault: OpenVault, kernel: CheckpointKernel) -> tuple[list[_Triple], int, deque[_Unread]] | None:
            states = _differing(kernel, chat, old, new, paths)
            if known is not None and known.states == states:
                return None
            pairs = _paired(vault, kernel, chat, states)
            if paths:
                pairs = _named(pairs, states, set(paths))
            size = sum((size_of(vault, one.before) or 0) + (size_of(vault, one.after) or 0) for one in pairs)
            if most is not None and size > most:
                raise ExportTooLarge(size, most)
            return states, size, deque(side(vault, kernel, one) for one in pairs)

        def side(vault: OpenVault, kernel: CheckpointKernel, one: _Pair) -> _Unread:
            request = DiffRequest(chat, one.path, old, new, compare, old_path=one.old_path)
            same = None if known is None else known.same(request, one.before, one.after)
            if same is not None:
                return _Unread(same, known=True)
            return _read_pair(vault, kernel, request, one.before, one.after)

        return await self._sides(chat, read)

    async def patch(
        self,
        chat: ChatId,
        old: Point,
        new: Point,
        paths: Sequence[WorkspacePath],
        *,
        compare: Compare = EXACT,
        most: int | None = None,
    ) -> bytes:
        """All files that differ between two points as one unified diff, with ``most`` as for `files`. Files whose content is
        not to be had are left out."""
        changed = await self._changed((chat, old, new, tuple(paths), compare), most=most)

        def join() -> bytes:
            parts: list[bytes] = []
            for unread in () if changed is None else changed[2]:
                diff, one, other = unread.diff, unread.old, unread.new
                if isinstance(one, Missing) or isinstance(other, Missing):
                    continue
                parts.append(
                    unified(
                        diff.request.path,
                        one,
                        with_what_counts(one, other, compare),
                        old_path=diff.request.old_path,
                        old_state=diff.before,
                        new_state=diff.after,
                    )
                )
            return b"".join(parts)

        return await asyncio.to_thread(join)

    async def sides(self, request: DiffRequest) -> tuple[bytes | None, bytes | None]:
        """The bytes at the two points, as they are."""
        (unread,) = await self._sides(request.chat, lambda vault, kernel: [_read_request(vault, kernel, request)])
        if isinstance(unread.old, Missing):
            raise NotKnownThere(request.old_path or request.path, point_text(request.old), unread.old.reason)
        if isinstance(unread.new, Missing):
            raise NotKnownThere(request.path, point_text(request.new), unread.new.reason)
        return unread.old, unread.new

    async def planned(self, plan: RestorePlan, path: WorkspacePath) -> FileDiff:
        """What restoring one file changes: old = on disk now, new = after restoring."""
        file = next(file for file in plan.files if file.path == path)
        request = DiffRequest(plan.chat, path, Now(), plan.point)

        (unread,) = await self._sides(
            plan.chat, lambda vault, kernel: [_read_pair(vault, kernel, request, file.current, file.wanted)]
        )
        merged = None if file.wanted.sha is None else plan.merged(file.wanted.sha)
        if merged is not None:
            unread = replace(unread, new=merged)  # no store has it before the plan is carried out
        return await self._compute(unread, limits=DEFAULT)

    async def words(self, diff: FileDiff, first_row: int, last_row: int) -> Mapping[int, WordSpans]:
        """The changed words of the changed rows between two rows."""
        document = diff.result
        if not isinstance(document, DiffDocument):
            return {}
        return await asyncio.to_thread(intraline.words, document, first_row, last_row)

    async def highlight(self, path: str, lines: Sequence[str]) -> StyleRuns | None:
        """Colours for a text, from the worker process."""
        return await self._colours.whole(path, lines)

    async def highlight_part(self, path: str, lines: Sequence[str], first: int, last: int) -> StyleRuns | None:
        """Colours for the lines that are seen first."""
        return await self._colours.part(path, lines, first, last)


def _is_damaged(result: DiffResult) -> bool:
    """Whether bytes that should be there were not to be had: they may be the next time."""
    return isinstance(result, Unreadable) and result.reason == "damaged"


def _built(
    old: bytes | None, new: bytes | None, modes: tuple[int | None, int | None], how: Compare, limits: Limits
) -> DiffResult:
    result = build(old, new, old_mode=modes[0], new_mode=modes[1], how=how, limits=limits)
    if isinstance(result, DiffDocument):
        len(result.old.lines), len(result.new.lines)  # so that nobody waits for their tables on the loop
    return result


def _read_request(vault: OpenVault, kernel: CheckpointKernel, request: DiffRequest) -> _Unread:
    before = kernel.state_at(request.chat, request.old, request.old_path or request.path)
    after = kernel.state_at(request.chat, request.new, request.path)
    return _read_pair(vault, kernel, request, before, after)


def _differing(kernel: CheckpointKernel, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath]) -> list[_Triple]:
    """What differs, or what is named of it; where a named file came, with all that came or went: its old name is among them."""
    found = kernel.changed_between(chat, old, new, paths)
    if not paths or not any(_is_file(after) and before.state is State.ABSENT for _, before, after in found):
        return found
    others = (one for one in kernel.changed_between(chat, old, new) if one[0] not in paths)
    return sorted([*found, *(one for one in others if State.ABSENT in (one[1].state, one[2].state))], key=lambda one: one[0])


def _read_pair(
    vault: OpenVault, kernel: CheckpointKernel, request: DiffRequest, before: FileState, after: FileState
) -> _Unread:
    return _Unread(
        FileDiff(request=request, before=before, after=after, result=TooLarge(0, 0)),
        content_of(vault, kernel, request.old_path or request.path, before),
        content_of(vault, kernel, request.path, after),
    )


def _told(kernel: CheckpointKernel, chat: ChatId) -> dict[str, str]:
    """Renames that the history knows of, by new path."""
    changes = (change for entry in kernel.timeline(chat).entries for change in entry.files)
    return {change.path: change.old_path for change in changes if change.old_path is not None}


def _paired(vault: OpenVault, kernel: CheckpointKernel, chat: ChatId, states: Sequence[_Triple]) -> list[_Pair]:
    """The same files, with those that were only renamed as one."""
    gone = {path: before for path, before, after in states if _is_file(before) and after.state is State.ABSENT}
    came = {path: after for path, before, after in states if _is_file(after) and before.state is State.ABSENT}
    pairs: Mapping[str, str] = {}
    if gone and came:
        pairs = renamed(
            [candidate(vault, kernel, path, state) for path, state in gone.items()],
            [candidate(vault, kernel, path, state) for path, state in came.items()],
            _told(kernel, chat),
        )
    old_paths = set(pairs.values())
    joined: list[_Pair] = []
    for path, before, after in states:
        old = pairs.get(path)
        if old is not None:
            joined.append(_Pair(path, gone[WorkspacePath(old)], after, WorkspacePath(old)))
        elif path not in old_paths or path not in gone:
            joined.append(_Pair(path, before, after))
    return joined


def _named(pairs: Sequence[_Pair], states: Sequence[_Triple], paths: Collection[WorkspacePath]) -> list[_Pair]:
    """Those that were asked for; one that is only asked for by the name it had before went."""
    found = {path: _Pair(path, before, after) for path, before, after in states if path in paths}
    for one in pairs:
        if one.path in paths:
            found[one.path] = one
            if one.old_path is not None:
                found.pop(one.old_path, None)
    return [found[path] for path in sorted(found)]


def _is_file(state: FileState) -> bool:
    return state.state is State.PRESENT and state.sha is not None


def _file_notes(diff: FileDiff) -> tuple[DiffNote, ...]:
    """What is to be said of the file's name and of what it is."""
    notes: list[DiffNote] = []
    old_path = diff.request.old_path
    if old_path is not None and old_path != diff.request.path:
        notes.append(DiffNote(Note.RENAME, old_path, diff.request.path))
    kinds = (_KINDS.get(diff.before.state), _KINDS.get(diff.after.state))
    if None not in kinds and kinds[0] != kinds[1]:
        notes.append(DiffNote(Note.TYPE, kinds[0] or "", kinds[1] or ""))
    return tuple(notes)
