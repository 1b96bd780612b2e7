"""Everything the services ask of one vault's checkpoints: timeline, preview, restore, undo, recovery, content.

Synchronous and without locks. What only reads folds in what other processes wrote each time it is asked. What changes the vault
(the recorder, `carry_out`, `leave_unfinished`, `recover`, `branch`, `branch_at`, `retire`) wants the vault's lock held by the
caller.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from vibekit_desktop.core.checkpoint import (
    checkout,
    conflict_places,
    conflicts,
    facts,
    lives,
    log,
    ownership,
    recover,
    restore,
    stages,
    timeline,
    verify,
)
from vibekit_desktop.core.checkpoint import plan as planning
from vibekit_desktop.core.checkpoint.blobs import is_sound
from vibekit_desktop.core.checkpoint.change import Change
from vibekit_desktop.core.checkpoint.decide import Target
from vibekit_desktop.core.checkpoint.ground import Ground, Transcripts
from vibekit_desktop.core.checkpoint.history import View, agree
from vibekit_desktop.core.checkpoint.known import Known
from vibekit_desktop.core.checkpoint.plan import PlanRequest
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.checkpoint.prompts import placed
from vibekit_desktop.core.checkpoint.recorder import Recorder
from vibekit_desktop.core.checkpoint.stages import Progress
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import running_turns
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.chats import TranscriptShape
from vibekit_desktop.core.types.checkpoints import (
    UNKNOWN,
    BeforeTurn,
    CheckoutReport,
    Conflict,
    FileState,
    Now,
    PlacedConflict,
    Point,
    RestorePlan,
    RestoreReport,
    State,
    Timeline,
    point_text,
)
from vibekit_desktop.core.types.errors import BlobNotFound, Busy, NotKnownThere, PlanStale, PointNotFound, RestoreUnfinished
from vibekit_desktop.core.types.ids import BlobHash, ChatId, Tag, WorkspacePath, parse_blob_hash, parse_chat_id, tag_order
from vibekit_desktop.core.types.settings import Limits
from vibekit_desktop.core.types.verified import VerifyReport

_USUAL = Limits()
_NOT_LOOKED: Mapping[WorkspacePath, FileState] = MappingProxyType({})


class CheckpointKernel:
    """One vault and its workspace, if that was found. Holds nothing that is not on disk, but for what saves reading twice."""

    def __init__(
        self,
        fs: Fs,
        vault: VaultStore,
        workspace: Workspace | None,
        transcripts: Transcripts,
        clock: Callable[[], int],
        *,
        limits: Limits = _USUAL,
        whole: bool = True,
    ) -> None:
        known = Known(fs, vault.desktop)
        self._ground = Ground(fs, vault, workspace, transcripts, clock, known, limits, whole)
        self.recorder = Recorder(self._ground)
        """What writes the history while it happens."""

    # -- reading the history -------------------------------------------------------------------------------------

    def _view(self, chat: ChatId) -> tuple[View, Marks]:
        return self._ground.vault.memory.view(chat)

    def touched(self, chat: ChatId) -> list[WorkspacePath]:
        """Every path this chat changed, sorted."""
        return ownership.touched(self._view(chat)[0])

    def state_at(self, chat: ChatId, point: Point, path: WorkspacePath) -> FileState:
        """The state of a path at a point; for ``now`` the disk, or the last known state without a workspace."""
        return self._states(chat, point)(path)

    def _states(
        self, chat: ChatId, point: Point, disk: Mapping[WorkspacePath, FileState] = _NOT_LOOKED
    ) -> Callable[[WorkspacePath], FileState]:
        """The states at one point. The history is looked at once for all paths: looking stats every log of the vault."""
        view, marks = self._view(chat)
        if isinstance(point, Now):
            if self._ground.workspace is None:
                return view.last_known
            return lambda path: disk.get(path) or self.disk_state(path)
        position = marks.position(point)
        return lambda path: view.content_at(path, position)

    def disk_state(self, path: WorkspacePath) -> FileState:
        """What is on disk; unknown without a workspace."""
        return UNKNOWN if self._ground.workspace is None else self._ground.workspace.look(path)

    def disk_content(self, path: WorkspacePath) -> tuple[FileState, bytes | None]:
        """State and bytes on disk; no bytes where there is no content."""
        return (UNKNOWN, None) if self._ground.workspace is None else self._ground.workspace.read(path)

    def read_state(self, state: FileState) -> bytes:
        """The bytes of a recorded state, checked. `BlobNotFound` also for a hash that no line of the vault names."""
        if state.sha is None or not state.has_content:
            raise BlobNotFound(state.sha or "")
        if not self._ground.vault.memory.names(state.sha):
            raise BlobNotFound(state.sha)
        return self._ground.vault.blobs.get(state.sha)

    def read_blob(self, chat: ChatId, text: str) -> bytes:
        """A stored content that this chat's own lines name, by its hash in either case; any other is `BlobNotFound`, so that
        one chat never reads what only another knows."""
        sha = parse_blob_hash(text.lower())
        own = (placed.line for _, placed in self._view(chat)[0].own)
        if not any(named == sha for line in own for _, named in log.contents_named(line)):
            raise BlobNotFound(sha)
        return self._ground.vault.blobs.get(sha)

    def conflicts(self, chat: ChatId) -> tuple[Conflict, ...]:
        """Who else changed what this chat works on, oldest first."""
        return conflicts.conflicts(self._view(chat)[0])

    def placed_conflicts(self, chat: ChatId) -> tuple[PlacedConflict, ...]:
        """The same, each with the points that have its contents."""
        return conflict_places.placed(*self._view(chat), self.disk_state)

    def changed_by(self, chat: ChatId, path: WorkspacePath) -> tuple[ChatId, ...]:
        """The chats that changed a path as ``chat`` sees it, the newest change first."""
        return ownership.chats_of(self._view(chat)[0], path)

    def find_point(self, chat: ChatId, point: Point) -> None:
        """Raise `PointNotFound` unless the chat has such a point."""
        self._view(chat)[1].position(point)

    def owner_of(self, path: WorkspacePath) -> ChatId | None:
        """The chat that left a path last, if the path is still a chat's."""
        view = self._ground.vault.memory.public()
        newest = ownership.newest_left(view, path)
        return ownership.other_chat(ownership.author_word(newest, view.chat)) if newest is not None else None

    def oldest_tag(self, chat: ChatId) -> Tag | None:
        """The lowest tag of a chat; None before its first capture."""
        return min((Tag(tag) for tag in self._view(chat)[1].tags), key=tag_order, default=None)

    def content(self, chat: ChatId, point: Point, path: WorkspacePath) -> bytes:
        """The bytes of a path at a point; `NotKnownThere` says why there are none."""
        if isinstance(point, Now) and self._ground.workspace is not None:
            state, data = self.disk_content(path)
            if data is not None:
                return data
        else:
            state = self.state_at(chat, point, path)
            if state.has_content:
                return self.read_state(state)
        raise NotKnownThere(path, point_text(point), state.reason or state.state.value)

    def disk(self, chat: ChatId) -> Mapping[WorkspacePath, FileState]:
        """What is on disk at every path of this chat; empty without a workspace."""
        if self._ground.workspace is None:
            return {}
        return {path: self._ground.workspace.look(path) for path in self.touched(chat)}

    def changed_between(
        self,
        chat: ChatId,
        old: Point,
        new: Point,
        paths: Sequence[WorkspacePath] = (),
        *,
        disk: Mapping[WorkspacePath, FileState] = _NOT_LOOKED,
    ) -> list[tuple[WorkspacePath, FileState, FileState]]:
        """The paths of this chat, or those named, that differ between two points, with both states. ``disk``: what `disk` has
        just found, so that nobody looks twice."""
        found: list[tuple[WorkspacePath, FileState, FileState]] = []
        at_old, at_new = self._states(chat, old, disk), self._states(chat, new, disk)
        for path in sorted(paths) if paths else self.touched(chat):
            before, after = at_old(path), at_new(path)
            same_unknown = before.state is after.state is State.UNKNOWN and before.sha == after.sha
            if not same_unknown and not agree(before, after):
                found.append((path, before, after))
        return found

    def disk_mark(self, chat: ChatId) -> int:
        """Another number once what `timeline` says is on disk may be old; 0 without a workspace. Only a hint."""
        view, _ = self._view(chat)
        return 0 if self._ground.workspace is None else self._ground.workspace.mark(ownership.touched(view))

    def timeline(self, chat: ChatId, *, disk: Mapping[WorkspacePath, FileState] = _NOT_LOOKED) -> Timeline:
        """The chat's turns and entries, and what is on disk now; line counts are not filled in. ``disk``: what `disk` has just
        found."""
        view, marks = self._view(chat)
        now: dict[WorkspacePath, FileState] | None = None
        if self._ground.workspace is not None:
            now = {path: disk.get(path) or self.disk_state(path) for path in ownership.touched(view)}
        reasons = {reason for of, reason in self.unfinished() if of == chat}
        return timeline.build(
            view,
            marks,
            prompts=self._prompts(chat, marks),
            disk=now,
            now_ms=self._ground.clock(),
            unfinished=bool(reasons),
            to_answer=not reasons.isdisjoint(recover.TO_ANSWER),
            running=self.recorder.open_turn(chat),
        )

    def _prompts(self, chat: ChatId, marks: Marks) -> dict[int, str]:
        """The prompts by turn, also of turns that were cut away and are in a branch now."""
        prompts: dict[int, str] = {}
        for entry in marks.entries.values():
            if entry.branch:
                prompts.update(self.shape(parse_chat_id(entry.branch)).prompts)
        prompts.update(self.shape(chat).prompts)
        return prompts

    def shape(self, chat: ChatId, *, told: TranscriptShape | None = None) -> TranscriptShape:
        """Length and prompts of a chat's transcript, also where only the log tells which message began a turn. ``told``: what
        the transcript itself tells, if somebody has just read it."""
        return placed(told or self._ground.transcripts.shape(chat), self._view(chat)[1])

    # -- restoring -----------------------------------------------------------------------------------------------

    def plan(self, chat: ChatId, request: PlanRequest) -> RestorePlan:
        """What a restore, undo or redo would do. Changes nothing."""
        request = planning.checked(request)
        view, marks = self._view(chat)
        aims = planning.targets(view, marks, request)
        contents = self._ground.vault.contents(chat)
        last = max((*contents.numbers, *contents.damaged), default=0)
        return planning.make(
            view,
            marks,
            request,
            disk=facts.gather(self._ground.folder(), view, aims) if aims else {},
            unsound=self._unsound(aims, request),
            shape=self.shape(chat),
            branch=self._branch_shape(marks, request),
            log_lines=last,
        )

    def change(self, chat: ChatId, old: Point, new: Point) -> Change:
        """What changed between two points, to be taken back."""
        view, marks = self._view(chat)
        return Change(view, marks, old, new, self.disk_state)

    def _unsound(self, aims: Sequence[Target], request: PlanRequest) -> set[BlobHash]:
        wanted = {aim.wanted.sha for aim in aims if aim.wanted.has_content and aim.wanted.sha is not None}
        # What the plan brings itself, or is on disk there and only gets another mode, comes into the store with it.
        brought = {one.wanted.sha for one in request.given if one.data is not None or one.wanted.sha == one.now.sha}
        return {sha for sha in wanted - brought if not is_sound(self._ground.vault.blobs, sha)}

    def _branch_shape(self, marks: Marks, request: PlanRequest) -> TranscriptShape | None:
        standing = marks.standing()
        if request.point is not None or not standing.can_undo:
            return None
        branch = standing.in_force[standing.can_undo]
        return self.shape(parse_chat_id(branch)) if branch else None

    def carry_out(self, plan: RestorePlan, *, progress: Progress | None = None) -> RestoreReport:
        """Do what ``plan`` says if it is still what would happen, else `PlanStale` and nothing was changed. `Busy` while a
        process of ours runs a turn in this vault."""
        for chat, turn in running_turns(self._ground.fs, self._ground.vault.desktop):
            raise Busy(f"turn {turn} of chat {chat}")
        for chat, line, reason in recover.open_plans(self._ground):
            if reason != recover.OTHER_VAULT and (chat == plan.chat or recover.overlaps(line, plan)):
                raise RestoreUnfinished(chat, reason)
        fresh = self.plan(plan.chat, planning.request_of(plan))
        if fresh.digest != plan.digest:
            raise PlanStale(planning.differing(plan, fresh))
        if not restore.has_work(fresh):
            return restore.nothing(fresh)
        self._ground.vault.sweep()
        if fresh.files and not recover.open_plans(self._ground):
            stages.sweep(self._ground)
        _, marks = self._view(plan.chat)
        return restore.carry_out(self._ground, marks, fresh, progress)

    def unfinished(self) -> list[tuple[ChatId, str]]:
        """The chats with a restore that did not end, and why."""
        return recover.unfinished(self._ground)

    def leave_unfinished(self, chat: ChatId) -> int:
        """Close every restore of a chat that is not ours to finish, its files as they are; how many there were."""
        return recover.leave(self._ground, chat)

    def needs_recovery(self) -> bool:
        """Whether a restore did not end, or ended without clearing its last traces away."""
        return stages.has_list(self._ground) or bool(self.unfinished())

    def recover(
        self, *, needed: ChatId | None = None, progress: Callable[[ChatId], Progress] | None = None
    ) -> list[RestoreReport]:
        """Finish every interrupted restore of ours. What keeps one from it (a full disk, a damaged chat) keeps no other, and is
        raised only for the chat that is ``needed``."""
        self._ground.vault.sweep()
        return recover.recover(self._ground, needed, progress)

    # -- branches and deleted chats --------------------------------------------------------------------------------

    def branch(self, chat: ChatId, turn: int, branch: ChatId) -> None:
        """Begin a chat of its own before a turn: the messages and the history up to there, the files as they are."""
        if turn < 1:
            raise PointNotFound(chat, point_text(BeforeTurn(turn)))
        lives.branch(self._ground, chat, self._view(chat)[1], self.shape(chat), turn, branch)

    def branch_at(self, chat: ChatId, message: int, branch: ChatId) -> None:
        """As `branch`, just before a message, by its index; the history up to the first turn that begins there or later."""
        marks, shape = self._view(chat)[1], self.shape(chat)
        turn = lives.turn_from(marks, shape, message)
        lives.branch(self._ground, chat, marks, shape, turn, branch, keep=message)

    def turn_from(self, chat: ChatId, message: int) -> int:
        """The first turn whose prompt is at or after a message, by its index; 0 if none is."""
        return lives.turn_from(self._view(chat)[1], self.shape(chat), message)

    def retire(self, chat: ChatId) -> None:
        """Put the log of a deleted chat away; it goes for good once no chat's history reaches back to it."""
        lives.retire(self._ground, chat)

    # -- the rest ------------------------------------------------------------------------------------------------

    def checkout(self, chat: ChatId, point: Point, folder: Path) -> CheckoutReport:
        """Write every file this chat knows at a point into an empty folder, made if it is missing."""
        state_at = self._states(chat, point)
        states = {path: state_at(path) for path in self.touched(chat)}
        if isinstance(point, Now) and self._ground.workspace is not None:
            return checkout.from_disk(self._ground, states, folder)
        return checkout.from_store(self._ground, states, folder)

    def verify(self, chat: ChatId | None = None) -> VerifyReport:
        """Check the logs and contents; changes nothing."""
        return verify.verify(self._ground, chat)
