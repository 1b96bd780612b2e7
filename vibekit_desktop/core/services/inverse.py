"""Take back what changed between two points while later work stays. Implements `core.api.Undo`.

Nothing is written here: the plan carries what is merged, and `Checkpoints.carry_out` does it if it is still true. What a person
has to decide is asked first; without every decision there is no plan.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from vibekit_desktop.core.checkpoint import inverse
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.change import Changed, renamed
from vibekit_desktop.core.checkpoint.inverse import Lines, Outcome
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.checkpoint.plan import PlanRequest
from vibekit_desktop.core.diff import merge, renames
from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.diff.inverse import taken_back
from vibekit_desktop.core.diff.lines import count
from vibekit_desktop.core.diff.merge import Merge, Part
from vibekit_desktop.core.diff.touched import last_to_touch
from vibekit_desktop.core.services.contents import COUNT_LIMIT, LineCounts, Missing, candidate, content_of
from vibekit_desktop.core.services.diffs import IN_PROCESS_LIMIT
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.checkpoints import (
    FileState,
    LeaveReason,
    Now,
    PlannedFile,
    RestoreKind,
    RestorePlan,
    Scope,
    State,
)
from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.core.types.errors import Malformed, PlanStale, WorkspaceMissing
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Decision, Decisions, InversePlan, InverseRequest, Overlap, OverlapAt
from vibekit_desktop.core.worker.pool import WorkerPool

T = TypeVar("T")

_TRIES = 3
"""How often it begins again because the disk or the history moved meanwhile."""
_STEPS = 40
"""Of more later changes of one file it is not looked up which of them changed some lines: it is told as the last one's."""


@dataclass(frozen=True, slots=True)
class _Read:
    """One path with the contents that are needed. ``steps``: authors of later changes, and the contents from ``new`` on."""

    one: Changed
    theirs: bytes | Missing | None = None
    base: bytes | Missing | None = None
    ours: bytes | None = None
    steps: tuple[tuple[str, bytes], ...] = ()


class _Moved(Exception):
    """The disk is no longer what it was a moment ago."""

    def __init__(self, path: WorkspacePath) -> None:
        super().__init__(path)
        self.path = path


class InverseService:
    """Undo of a hunk, a file, a turn. Holds no state."""

    def __init__(self, history: HistoryService, serial: Serial, pool: WorkerPool, counts: LineCounts) -> None:
        self._history = history
        self._serial = serial
        self._pool = pool
        self._counts = counts

    async def plan(self, request: InverseRequest, decisions: Decisions = ()) -> InversePlan:
        """What taking back would do; `PlanStale` if the disk does not stand still while it is looked at."""
        if request.hunks and len(request.paths) != 1:
            raise Malformed("paths of an undo of hunks", str(len(request.paths)))
        vault = await self._history.vault_of(request.chat)
        await self._history.bring_up_to_date(request.chat, vault)
        moved: set[WorkspacePath] = set()
        for _ in range(_TRIES):
            try:
                return await self._plan(vault, request, decisions)
            except _Moved as error:
                moved.add(error.path)
        raise PlanStale(sorted(moved))

    async def _reading(self, vault: OpenVault, work: Callable[[CheckpointKernel], T]) -> T:
        async with self._serial.hold(vault.id):
            return await durably(lambda: work(vault.kernel()))

    async def _plan(self, vault: OpenVault, request: InverseRequest, decisions: Decisions) -> InversePlan:
        def read(kernel: CheckpointKernel) -> list[_Read]:
            if vault.workspace() is None:
                raise WorkspaceMissing(vault.workspace_path)
            return _read(vault, kernel, request)

        found = await self._reading(vault, read)
        decided = _by_path(decisions, found)
        hunks_of = 0
        outcomes: list[tuple[_Read, Outcome]] = []
        for each in found:
            one = each
            if request.hunks:
                one, hunks_of = await self._only_hunks(each, request.hunks)
            # A folder with a file in its place has no decisions of its own.
            decisions_here = {} if one.one.covered else decided.get(one.one.path, {})
            outcomes.append((one, await self._outcome(one, decisions_here)))
        overlaps = tuple(overlap for _, outcome in outcomes for overlap in outcome.overlaps)
        left_open = tuple(overlap for _, outcome in outcomes for overlap in outcome.open)
        plan: RestorePlan | None = None
        if not left_open:
            wanted = PlanRequest(
                kind=RestoreKind.UNDO_HUNK if request.hunks else RestoreKind.UNDO_TURN,
                point=request.old,
                upto=request.new,
                scope=Scope.FILES,
                paths=request.paths,
                hunks=request.hunks,
                hunks_of=hunks_of,
                given=inverse.joined(outcome for _, outcome in outcomes),
            )
            plan = await self._reading(vault, lambda kernel: self._counted(vault, kernel, kernel.plan(request.chat, wanted)))
            _require_unmoved(plan, found)
        return InversePlan(
            request=request,
            decisions=decisions,
            overlaps=overlaps,
            open=left_open,
            later_kept=tuple(each.one.path for each, outcome in outcomes if outcome.keeps),
            plan=plan,
            goes_too=_goes_too(request, plan, [each.one for each, _ in outcomes]) if plan is not None else (),
        )

    async def _only_hunks(self, each: _Read, hunks: Sequence[int]) -> tuple[_Read, int]:
        """The path as if the change had only made these hunks of its diff; and how many there are."""
        if isinstance(each.theirs, Missing) or isinstance(each.base, Missing):
            return each, len(hunks)
        large = len(each.theirs or b"") + len(each.base or b"") > IN_PROCESS_LIMIT
        if large:
            document = await self._pool.build(each.theirs, each.base, limits=UNLIMITED)
        else:
            document = await asyncio.to_thread(build, each.theirs, each.base, limits=UNLIMITED)
        if not isinstance(document, DiffDocument) or not all(0 <= number < len(document.hunks) for number in hunks):
            raise Malformed("hunks", " ".join(map(str, hunks)))
        if each.theirs is None or each.base is None:
            return each, len(document.hunks)  # a file that came or went has one hunk: all of it
        theirs = await asyncio.to_thread(taken_back, each.theirs, each.base, document, hunks)
        if theirs is None:
            raise Malformed("hunks of a file whose encoding changed", " ".join(map(str, hunks)))
        sha = await asyncio.to_thread(hash_of, theirs)
        old = FileState(State.PRESENT, sha, each.one.new.mode, size=len(theirs))
        return replace(each, one=replace(each.one, old=old, source=None, theirs=theirs), theirs=theirs), len(document.hunks)

    async def _outcome(self, each: _Read, decided: Mapping[int, Decision]) -> Outcome:
        lines: Lines | None = None
        if inverse.needs_lines(each.one):
            if not isinstance(each.theirs, bytes) or not isinstance(each.base, bytes) or each.ours is None:
                return inverse.left(each.one, LeaveReason.DAMAGED)
            lines = await self._lines(each.one, each.theirs, each.base, each.ours, each.steps)
        return await asyncio.to_thread(inverse.outcome, each.one, decided, lines)

    async def _lines(
        self, one: Changed, theirs: bytes, base: bytes, ours: bytes, steps: Sequence[tuple[str, bytes]]
    ) -> Lines | None:
        if len(theirs) + len(base) + len(ours) > IN_PROCESS_LIMIT:
            found = await self._pool.merge(base, ours, theirs)
        else:
            found = await asyncio.to_thread(merge.compare, base, ours, theirs)
        if found is None:
            return None

        def lay_out() -> Lines:
            merged = Merge(base, ours, theirs, found)
            overlaps = [_overlap(one, merged, number, part, steps, base) for number, part in enumerate(merged.overlaps)]
            return Lines(overlaps=tuple(overlaps), result=merged.result)

        return await asyncio.to_thread(lay_out)

    def _counted(self, vault: OpenVault, kernel: CheckpointKernel, plan: RestorePlan) -> RestorePlan:
        """The plan with the line counts of its files."""

        def filled(file: PlannedFile) -> PlannedFile:
            data = None if file.wanted.sha is None else plan.merged(file.wanted.sha)
            if data is None:
                return self._counts.fill_planned(vault, kernel, file)
            now = content_of(vault, kernel, file.path, file.current)
            if isinstance(now, Missing) or max(len(now or b""), len(data)) > COUNT_LIMIT:
                return file
            counts = count(now, data)
            return file if counts is None else replace(file, lines_added=counts[0], lines_removed=counts[1])

        return replace(plan, files=tuple(filled(file) for file in plan.files))


def _by_path(decisions: Decisions, found: Sequence[_Read]) -> dict[WorkspacePath, dict[int, Decision]]:
    paths = {each.one.path for each in found}
    decided: dict[WorkspacePath, dict[int, Decision]] = {}
    for path, number, decision in decisions:
        if path not in paths:
            raise Malformed("overlap", f"{path} {number}")
        decided.setdefault(path, {})[number] = decision
    return decided


def _goes_too(request: InverseRequest, plan: RestorePlan, found: Sequence[Changed]) -> tuple[WorkspacePath, ...]:
    """See `InversePlan.goes_too`."""
    if not isinstance(request.new, Now):
        return ()
    acts = {file.path for file in plan.acts}
    own = [one for one in found if one.path in acts and (one.own or (one.source is not None and one.source.own))]
    return tuple(one.path for one in own if one.owner)


def _require_unmoved(plan: RestorePlan, found: Sequence[_Read]) -> None:
    """`_Moved` unless the plan was made from what was read before."""
    read = {(one.path, one.folder): one for each in found for one in (each.one, each.one.source) if one is not None}
    for given in plan.given:
        one = read[given.path, given.folder]
        # The end of a turn that nobody ended is where the history ends: there the plan has what is on disk.
        if given.old != one.old or given.new not in (one.new, one.now):
            raise _Moved(given.path)
    for file in plan.files:
        if file.reason == LeaveReason.CHANGED_LATER:
            raise _Moved(file.path)


def _overlap(
    one: Changed, merged: Merge, number: int, part: Part, steps: Sequence[tuple[str, bytes]], base: bytes
) -> OverlapAt:
    now, then, after = merged.texts(part)
    step = last_to_touch([base, *(text for _, text in steps)], *part.base) if steps else None
    return OverlapAt(
        path=one.path,
        number=number,
        kind=Overlap.LINES,
        first_line=part.ours[0] + 1,
        last_line=part.ours[1],
        now=now,
        then=then,
        after=after,
        changed_by=one.changed_by if not step else steps[step - 1][0],
    )


# -- what is read, under the vault's turn --------------------------------------------------------------------------


def _read(vault: OpenVault, kernel: CheckpointKernel, request: InverseRequest) -> list[_Read]:
    change = kernel.change(request.chat, request.old, request.new)
    found = _renamed(vault, kernel, request.chat, change.all())
    named = set(request.paths)
    if named:
        there = [one for one in found if one.path in named or (one.source is not None and one.source.path in named)]
        known = {path for one in there for path in (one.path, one.path if one.source is None else one.source.path)}
        found = [*there, *(change.file(path) for path in sorted(named - known))]
    else:
        found = [one for one in found if one.own or (one.source is not None and one.source.own)]
    if request.hunks:
        found = [one for one in found if not one.folder]
    return [_contents(vault, kernel, one, always=bool(request.hunks)) for one in found]


def _renamed(vault: OpenVault, kernel: CheckpointKernel, chat: ChatId, found: list[Changed]) -> list[Changed]:
    """With the files that only changed their name as one, as the review shows them."""
    gone, came = [one for one in found if one.went], [one for one in found if one.came]
    if not gone or not came:
        return renamed(found, {})
    changes = (change for entry in kernel.timeline(chat).entries for change in entry.files)
    told: dict[str, str] = {change.path: change.old_path for change in changes if change.old_path is not None}
    pairs = renames.renamed(
        [candidate(vault, kernel, one.path, one.old) for one in gone],
        [candidate(vault, kernel, one.path, one.new) for one in came],
        told,
    )
    return renamed(found, pairs)


def _contents(vault: OpenVault, kernel: CheckpointKernel, one: Changed, *, always: bool) -> _Read:
    """The path with those of its contents that are needed."""
    moves = one.source is not None and one.now.has_content and one.now.sha not in (one.new.sha, one.before.sha)
    if not (always or moves or inverse.needs_lines(one)):
        return _Read(one)
    state, ours = kernel.disk_content(one.path)
    if (state.state, state.sha, state.mode) != (one.now.state, one.now.sha, one.now.mode):
        raise _Moved(one.path)
    old_path = one.path if one.source is None else one.source.path
    return _Read(
        replace(one, ours=ours if moves else None),
        theirs=content_of(vault, kernel, old_path, one.before),
        base=content_of(vault, kernel, one.path, one.new),
        ours=ours,
        steps=tuple(_steps(vault, kernel, one, ours)),
    )


def _steps(vault: OpenVault, kernel: CheckpointKernel, one: Changed, ours: bytes | None) -> list[tuple[str, bytes]]:
    """The later contents with their authors, if there is more than one author and the contents can be looked at."""
    if len({author for author, _ in one.later}) < 2 or len(one.later) > _STEPS or ours is None:
        return []
    steps: list[tuple[str, bytes]] = []
    for author, state in one.later:
        data = ours if state.sha == one.now.sha else content_of(vault, kernel, one.path, state)
        if isinstance(data, Missing) or len(data or b"") > IN_PROCESS_LIMIT:
            return []
        steps.append((author, data or b""))
    return steps
