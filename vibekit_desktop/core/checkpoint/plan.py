"""What a restore would do, computed without doing it. Pure; any thread.

The inputs are the chat's view, what is on disk at the paths concerned, which stored contents are damaged, and the shape of the
transcript. Equal inputs give an equal plan and digest; the same function serves the preview and the moment before the change.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

import msgspec

from vibekit_desktop.core.checkpoint import log, ownership
from vibekit_desktop.core.checkpoint.decide import DiskFact, Target, decide
from vibekit_desktop.core.checkpoint.history import FOLDER, Observation, View, since
from vibekit_desktop.core.checkpoint.points import Entry, Marks
from vibekit_desktop.core.types.chats import TranscriptShape
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    KEEP_MINE,
    Action,
    AfterTurn,
    AtEntry,
    AtLine,
    AtTag,
    BeforeTurn,
    Given,
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
    """What is asked for. ``point`` is None for undo and redo; without ``paths`` the plan covers what the chat changed. With an
    undo of a turn or hunk ``upto`` is the end of the change, and ``given`` what `inverse` says of each path."""

    kind: RestoreKind = RestoreKind.RESTORE
    point: Point | None = None
    scope: Scope = Scope.BOTH
    mine: Mine = KEEP_MINE
    paths: tuple[WorkspacePath, ...] = ()
    upto: Point | None = None
    hunks: tuple[int, ...] = ()
    hunks_of: int = 0
    given: tuple[Given, ...] = ()


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
    if request.kind.takes_back_an_entry:
        return replace(request, point=None)
    if request.point is None or (request.kind.is_inverse and request.upto is None):
        raise Malformed("point", "")
    if request.kind is RestoreKind.UNDO_FILE or request.kind.is_inverse:
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
    """What a plan is about, sorted by path: files, and the folders that lines of this chat's speak of."""
    if request.scope is Scope.CHAT:
        return []
    if request.kind.is_inverse:
        return _sorted(
            Target(
                path=one.path,
                wanted=one.wanted,
                left=one.now,
                owner=one.owner,
                named=one.path in view.by_path,
                folder=one.folder,
                leave=one.leave,
            )
            for one in request.given
        )
    if request.point is None:
        found = _taken_back(view, marks.entries[takes_back(marks, request)])
        return [one for one in found if not request.paths or one.path in request.paths]
    position = marks.position(request.point)
    paths, folders = set(request.paths), view.folders.keys() & set(request.paths)
    if paths:
        paths -= folders - view.by_path.keys()
    else:
        paths, folders = _touched_since(view.by_path, position), _touched_since(view.folders, position)
    files = [Target(path=path, wanted=view.content_at(path, position), named=path in view.by_path) for path in paths]
    return _sorted([*files, *(Target(path=path, wanted=view.folder_at(path, position), folder=True) for path in folders)])


def _touched_since(by_path: Mapping[WorkspacePath, list[Observation]], position: int) -> set[WorkspacePath]:
    return {path for path, found in by_path.items() if any(ownership.puts_in_plan(seen) for seen in since(found, position))}


def _taken_back(view: View, entry: Entry) -> list[Target]:
    found = [
        Target(
            path=(path := log.path_of(line)),
            wanted=log.state_before(line),
            left=log.state_after(line),
            owner=ownership.owner_before(view.by_path.get(path, []), view.chat, entry.position),
        )
        for line in entry.lines
    ]
    for path, came in entry.folders_changed.items():
        owner = ownership.owner_before(view.folders.get(path, []), view.chat, entry.position)
        wanted, left = (ABSENT, FOLDER) if came else (FOLDER, ABSENT)
        found.append(Target(path=path, wanted=wanted, left=left, owner=owner, folder=True))
    return _sorted(found)


def _sorted(found: Iterable[Target]) -> list[Target]:
    return sorted(found, key=lambda one: (one.path, one.folder))


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
        case AtLine():
            wanted = marks.turn_before(marks.position(point))
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
    followed = shape.messages != entry.body.keep or any(turn.start > entry.position for turn in marks.turns.values())
    if followed or max(branch.prompt_index, default=0) > entry.body.cut_last:  # also where the branch went on: it stays a chat
        return Cut(keep=shape.messages, notes=("turns-followed",))
    return Cut(keep=shape.messages, brings_back=branch.messages - shape.messages)


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
    upto = None if request.upto is None else marks.position(request.upto)
    aims = targets(view, marks, request)
    files = decide(view, position, aims, disk, mine=request.mine, unsound=unsound, named=request.paths, upto=upto)
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
        upto=request.upto,
        hunks=request.hunks,
        hunks_of=request.hunks_of,
        given=tuple(_as_of_now(view, (position, upto), one, disk) for one in request.given),
    )
    return with_digest(plan)


def _as_of_now(view: View, span: tuple[int, int | None], given: Given, disk: Mapping[WorkspacePath, DiskFact]) -> Given:
    """What was given of a path, with what the history says of its two points now: if that is something else, so is the plan."""
    at = view.folder_at if given.folder else view.content_at
    old, new = at(given.path, span[0]), given.new if span[1] is None else at(given.path, span[1])
    if span[1] == view.end:  # the disk, whatever the history knows of it
        new = disk[given.path].state
    return replace(given, old=old, new=new)


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
        *_given_content(plan),
    )
    return replace(plan, digest=hashlib.sha256(msgspec.json.encode(content)).hexdigest())


def _given_content(plan: RestorePlan) -> tuple[object, ...]:
    """What an undo of a turn or hunk was made from; nothing for the other kinds."""
    if plan.upto is None:
        return ()
    given = [
        (
            log.path_keys(one.path),
            [log.state_keys(state) for state in (one.old, one.new, one.now, one.wanted)],
            (one.leave, one.owner, one.folder, one.partly),
        )
        for one in plan.given
    ]
    return point_text(plan.upto), plan.hunks, plan.hunks_of, given


def request_of(plan: RestorePlan) -> PlanRequest:
    """The request that a plan answers."""
    return PlanRequest(
        kind=plan.kind,
        point=None if plan.kind.takes_back_an_entry else plan.point,
        scope=plan.scope,
        mine=plan.mine,
        paths=plan.paths,
        upto=plan.upto,
        hunks=plan.hunks,
        hunks_of=plan.hunks_of,
        given=plan.given,
    )


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
    if file.wanted.state is State.ABSENT and file.reason in (LeaveReason.NOT_EMPTY, LeaveReason.SAME_FILE):
        return False  # what is still in the folder, or has the file under its other name, is not this plan's
    return file.changed_by is None or mine.wants(file.path)
