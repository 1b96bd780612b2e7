"""What a restore would do, computed without doing it. Pure; any thread.

The inputs are the chat's view, what is on disk at the paths concerned, which stored contents are damaged, and the shape of the
transcript. Equal inputs give an equal plan and digest; the same function serves the preview and the moment before the change.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

import msgspec

from vibekit_desktop.core.checkpoint import log, ownership
from vibekit_desktop.core.checkpoint.history import View, agree
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.types.chats import TranscriptShape
from vibekit_desktop.core.types.checkpoints import (
    KEEP_MINE,
    Action,
    AfterTurn,
    AtEntry,
    AtTag,
    BeforeTurn,
    FileState,
    LeaveReason,
    Mine,
    Now,
    PlannedFile,
    Point,
    RestoreKind,
    RestorePlan,
    Scope,
    Start,
    State,
    point_text,
)
from vibekit_desktop.core.types.errors import Malformed, NothingToTakeBack
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What is asked for. ``point`` is None for undo and redo; without ``paths`` the plan covers what the chat changed."""

    kind: RestoreKind = RestoreKind.RESTORE
    point: Point | None = None
    scope: Scope = Scope.BOTH
    mine: Mine = KEEP_MINE
    paths: tuple[WorkspacePath, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFact:
    """What is at one path: its state; whether a folder there holds something; whether its name would not be made."""

    state: FileState
    not_empty: bool = False
    unmakeable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One path of a plan before the disk is looked at. ``left``: with undo and redo, what the entry left there."""

    path: WorkspacePath
    wanted: FileState
    left: FileState | None = None
    owner: str = ""
    named: bool = True
    """Some line of the view names the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What happens to the transcript; ``brings_back``: how many messages come back."""

    keep: int
    turns: tuple[int, int] | None = None
    next_prompt: str = ""
    brings_back: int = 0
    notes: tuple[str, ...] = ()


def checked(request: PlanRequest) -> PlanRequest:
    """The request with what its kind fixes; `Malformed` where it cannot mean anything."""
    if isinstance(request.point, Now):
        raise Malformed("point", point_text(request.point))
    if request.kind in (RestoreKind.UNDO, RestoreKind.REDO):
        return replace(request, point=None)
    if request.point is None:
        raise Malformed("point", "")
    if request.kind is RestoreKind.UNDO_FILE:
        return replace(request, scope=Scope.FILES)
    return request


def takes_back(marks: Marks, request: PlanRequest) -> int:
    """The entry that an undo or redo takes back, 0 for the other kinds; `NothingToTakeBack` if there is none."""
    standing = marks.standing()
    match request.kind:
        case RestoreKind.UNDO:
            found = standing.can_undo
        case RestoreKind.REDO:
            found = standing.can_redo
        case _:
            return 0
    if not found:
        raise NothingToTakeBack(request.kind.value)
    return found


def targets(view: View, marks: Marks, request: PlanRequest) -> list[Target]:
    """The paths a plan covers and what is wanted there, sorted by path."""
    if request.scope is Scope.CHAT:
        return []
    if request.point is None:
        entry = marks.entries[takes_back(marks, request)]
        found = [
            Target(
                path=log.path_of(line),
                wanted=log.state_before(line),
                left=log.state_after(line),
                owner=ownership.owner_before(view, log.path_of(line), entry.position),
            )
            for line in entry.lines
        ]
        wanted = set(request.paths)
        return sorted((one for one in found if not wanted or one.path in wanted), key=lambda one: one.path)
    position = marks.position(request.point)
    paths = set(request.paths) or {
        path for path in view.by_path if any(ownership.puts_in_plan(seen) for seen in view.from_position(path, position))
    }
    return [Target(path=path, wanted=view.content_at(path, position), named=path in view.by_path) for path in sorted(paths)]


def cut(marks: Marks, request: PlanRequest, shape: TranscriptShape, branch: TranscriptShape | None) -> Cut:
    """Where the transcript is cut, or what comes back. ``branch``: the transcript that the entry to undo had put aside."""
    whole = Cut(keep=shape.messages)
    if request.scope is Scope.FILES:
        return whole
    if request.point is None:
        return _cut_again(marks, request, shape, branch)
    turn = _cut_turn(marks, request.point, shape)
    if turn is None:
        return whole
    prompt = shape.prompts.get(turn, "") if isinstance(request.point, (BeforeTurn, AtTag)) else ""
    return _cut_at(shape, shape.prompt_index[turn], prompt)


def _cut_at(shape: TranscriptShape, keep: int, prompt: str = "") -> Cut:
    gone = [turn for turn, index in shape.prompt_index.items() if index >= keep]
    if not gone or keep >= shape.messages:
        return Cut(keep=shape.messages)
    return Cut(keep=keep, turns=(min(gone), max(gone)), next_prompt=prompt)


def _cut_turn(marks: Marks, point: Point, shape: TranscriptShape) -> int | None:
    """The turn before whose prompt the transcript ends; None if it does not hold that prompt."""
    held = shape.prompt_index
    wanted: int | None = None
    match point:
        case BeforeTurn(turn):
            wanted = turn
        case AtTag(tag):
            wanted = marks.tags[tag][1] if tag in marks.tags else None
        case AfterTurn(turn):
            wanted = min((other for other in held if other > turn), default=None)
        case AtEntry():
            begun = marks.turn_before(marks.position(point))
            wanted = min((other for other in held if other > begun), default=None)
        case Start():
            wanted = min(held, default=None)
        case Now():
            pass
        case _:
            assert_never(point)
    return wanted if wanted in held else None


def _cut_again(marks: Marks, request: PlanRequest, shape: TranscriptShape, branch: TranscriptShape | None) -> Cut:
    entry = marks.entries[takes_back(marks, request)]
    if request.kind is RestoreKind.REDO:
        if not entry.body.back_from:
            return Cut(keep=shape.messages)
        first = marks.entries[entry.body.takes_back].body
        return _cut_at(shape, first.keep) if first.keep >= 0 else Cut(keep=shape.messages)
    if branch is None or not branch.messages:
        return Cut(keep=shape.messages)
    if shape.messages != entry.body.keep or any(turn.start > entry.position for turn in marks.turns.values()):
        return Cut(keep=shape.messages, notes=("turns-followed",))
    return Cut(keep=shape.messages, brings_back=branch.messages - shape.messages)


def decide(view: View, position: int, target: Target, fact: DiskFact, request: PlanRequest, *, sound: bool) -> PlannedFile:
    """One path of a plan. ``sound``: the wanted content is in the store and right."""
    current, wanted = fact.state, target.wanted
    if target.left is None:
        who = ownership.changed_by(view, target.path, current)
        changed = LeaveReason.CHANGED_SINCE
    else:
        who = None if agree(current, target.left) else ownership.changed_by(view, target.path, current) or "unknown"
        changed = LeaveReason.CHANGED_LATER
    if current.state is State.UNKNOWN:
        who = None  # nobody can say who changed what cannot be looked at: that it is left is no choice of ours
    action, reason = _action(target, fact, sound=sound)
    if action is not Action.LEAVE and who is not None and not request.mine.wants(target.path):
        action, reason = Action.LEAVE, changed.value
    later = view.from_position(target.path, position)
    return PlannedFile(
        path=target.path,
        action=action,
        current=current,
        wanted=wanted,
        reason=reason,
        changed_by=None if reason == LeaveReason.SAME else who,
        also_by=ownership.also_by(later, view.chat),
        owner=target.owner,
        turns=ownership.turns_of(later),
    )


def _action(target: Target, fact: DiskFact, *, sound: bool) -> tuple[Action, str]:
    current, wanted = fact.state, target.wanted
    reason: LeaveReason | None = None
    if current.state is State.UNKNOWN:
        return Action.LEAVE, current.reason or LeaveReason.CANNOT_READ.value
    if agree(current, wanted):
        reason = LeaveReason.SAME
    elif wanted.state is State.UNKNOWN:
        reason = LeaveReason.UNKNOWN if target.named else LeaveReason.NOT_THIS_CHAT
    elif wanted.state is State.NOT_CAPTURED:
        reason = LeaveReason.NOT_CAPTURED
    elif wanted.state is State.FOLDER:
        reason = LeaveReason.NOT_REGULAR
    elif wanted.has_content and not sound:
        reason = LeaveReason.DAMAGED
    elif current.state is State.FOLDER:
        reason = LeaveReason.NOT_EMPTY if fact.not_empty else LeaveReason.NOT_REGULAR
    elif current.state is State.ABSENT and fact.unmakeable:
        reason = LeaveReason.REFUSED
    if reason is not None:
        return Action.LEAVE, reason.value
    if wanted.state is State.ABSENT:
        return Action.DELETE, ""
    if current.state is State.ABSENT:
        return Action.CREATE, ""
    same_bytes = current.state is wanted.state and current.sha == wanted.sha
    return (Action.MODE if same_bytes else Action.WRITE), ""


def make(
    view: View,
    marks: Marks,
    request: PlanRequest,
    *,
    disk: Mapping[WorkspacePath, DiskFact],
    unsound: Collection[BlobHash],
    shape: TranscriptShape,
    branch: TranscriptShape | None,
    log_lines: int,
) -> RestorePlan:
    """The whole plan, with its digest."""
    entry = takes_back(marks, request)
    point = AtEntry(entry) if request.point is None else request.point
    position = marks.position(point)
    files = tuple(
        decide(view, position, target, disk[target.path], request, sound=target.wanted.sha not in unsound)
        for target in targets(view, marks, request)
    )
    cutting = cut(marks, request, shape, branch)
    plan = RestorePlan(
        chat=view.chat,
        kind=request.kind,
        point=point,
        scope=request.scope,
        mine=request.mine,
        paths=request.paths,
        files=files,
        digest="",
        log_lines=log_lines,
        keep_messages=cutting.keep,
        total_messages=shape.messages,
        cut_turns=cutting.turns,
        brings_back=cutting.brings_back,
        takes_back=entry,
        next_prompt=cutting.next_prompt,
        notes=cutting.notes,
    )
    return with_digest(plan)


def with_digest(plan: RestorePlan) -> RestorePlan:
    """The plan with the hash of everything a person confirmed with it."""
    mine = sorted(log.path_keys(path) for path in plan.mine.restore)
    content = (
        (plan.chat, plan.kind.value, point_text(plan.point), plan.scope.value, plan.log_lines, plan.takes_back),
        (plan.keep_messages, plan.total_messages, plan.cut_turns, plan.brings_back),
        (plan.mine.restore_all, mine, sorted(log.path_keys(path) for path in plan.paths)),
        [
            (
                log.path_keys(file.path),
                file.action.value,
                log.state_keys(file.current),
                log.state_keys(file.wanted),
                file.reason,
            )
            for file in plan.files
        ],
    )
    return replace(plan, digest=hashlib.sha256(msgspec.json.encode(content)).hexdigest())


def request_of(plan: RestorePlan) -> PlanRequest:
    """The request that a plan answers."""
    point = None if plan.kind in (RestoreKind.UNDO, RestoreKind.REDO) else plan.point
    return PlanRequest(kind=plan.kind, point=point, scope=plan.scope, mine=plan.mine, paths=plan.paths)


def differing(plan: RestorePlan, fresh: RestorePlan) -> list[str]:
    """The paths whose part of the plan is no longer true."""
    old = {file.path: (file.action, file.current, file.wanted, file.reason) for file in plan.files}
    new = {file.path: (file.action, file.current, file.wanted, file.reason) for file in fresh.files}
    return sorted(path for path in {*old, *new} if old.get(path) != new.get(path))


def is_failure(file: PlannedFile, mine: Mine) -> bool:
    """Whether a path that is left was asked for and cannot be done: less than the full request is no success (I8)."""
    soft = (LeaveReason.SAME, LeaveReason.CHANGED_SINCE, LeaveReason.CHANGED_LATER)
    if file.action is not Action.LEAVE or file.reason in soft:
        return False
    return file.changed_by is None or mine.wants(file.path)
