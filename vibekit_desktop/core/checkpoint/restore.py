"""Carry out a plan: store what will be lost, stage what is wanted, write the plan down, hand over to `finish`.

The ``restore_plan`` line is the commit point. Any error before it leaves the workspace as it was.

| crash after | what is left | what recovery does |
| --- | --- | --- |
| contents stored, gap lines written | contents, true lines | nothing |
| stages made | stages, listed | removes them |
| ``restore_plan`` | everything as before, stages | carries on, see `finish` |

Blocking; the caller holds the vault's lock.
"""

from vibekit_desktop.core.checkpoint import log, look, stages
from vibekit_desktop.core.checkpoint.finish import Finish
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.log import Line, PlanBody, PlanFile
from vibekit_desktop.core.checkpoint.plan import is_failure
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.checkpoint.stages import Progress
from vibekit_desktop.core.checkpoint.tidy import folder_line
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import (
    Action,
    LeaveReason,
    LeftFile,
    PlannedFile,
    RestorePlan,
    RestoreReport,
    RestoreStep,
    State,
    point_text,
)
from vibekit_desktop.core.types.errors import EnvironmentFault, LogDamaged, PlanStale
from vibekit_desktop.core.types.ids import WorkspacePath, new_chat_id


def nothing(plan: RestorePlan) -> RestoreReport:
    """The report of a plan that has nothing to do."""
    left = tuple(LeftFile(file.path, file.reason) for file in plan.files)
    failed = tuple(LeftFile(file.path, file.reason) for file in plan.files if is_failure(file, plan.mine))
    return RestoreReport(chat=plan.chat, kind=plan.kind, entry=0, restored=(), left=left, failed=failed, verified=True)


def has_work(plan: RestorePlan) -> bool:
    """Whether carrying the plan out would change anything."""
    return bool(plan.acts) or plan.cuts or plan.brings_back > 0


def carry_out(ground: Ground, marks: Marks, plan: RestorePlan, progress: Progress | None = None) -> RestoreReport:
    """Do what ``plan`` says; it was made just now, with ``marks``. `LogDamaged`, or `PlanStale` if a file changed meanwhile."""
    damaged = ground.vault.damage(plan.chat)
    if damaged:
        raise LogDamaged(plan.chat, damaged)
    token = ground.vault.make_token()
    left: dict[WorkspacePath, LeaveReason] = {}
    staged = stages.Staged(stages={}, folders=(), left={})
    if ground.workspace is not None:  # also where only the transcript is cut: the entry is a point like any other
        left = _store_what_is_lost(ground, plan, progress)
        look.before_entry(ground, plan.chat, {file.path: file.current for file in plan.files})
        staged = stages.make(ground, [file for file in plan.acts if file.path not in left], token, progress)
        left.update(staged.left)
    body = _body(ground, marks, plan, staged, left, token)
    if not (body.branch or body.back_from or any(file.action != Action.LEAVE for file in body.files)):
        stages.discard(ground, staged.stages.items(), staged.folders)
        return _all_left(plan, body)
    entry, turn = marks.last_entry + 1, marks.last_turn
    planned = Line(type="restore_plan", turn=turn, entry=entry, message_count=plan.keep_messages, plan=body)
    try:
        faults.point("restore.plan")
        folders = [folder_line(folder, State.FOLDER, entry=entry, turn=turn) for folder in staged.folders]
        ground.vault.append(plan.chat, [*folders, planned])
    except EnvironmentFault:
        stages.discard(ground, staged.stages.items(), staged.folders)
        raise
    faults.point("restore.planned")
    return Finish(ground, plan.chat, planned, progress).run(next_prompt=plan.next_prompt)


def _all_left(plan: RestorePlan, body: PlanBody) -> RestoreReport:
    """Everything the plan meant to change could not be stored or staged."""
    left = tuple(LeftFile(log.path_of(file), file.reason) for file in body.files)
    failed = tuple(LeftFile(log.path_of(file), file.reason) for file in body.files if file.failed)
    return RestoreReport(chat=plan.chat, kind=plan.kind, entry=0, restored=(), left=left, failed=failed, verified=True)


def _store_what_is_lost(ground: Ground, plan: RestorePlan, progress: Progress | None) -> dict[WorkspacePath, LeaveReason]:
    """Put every content that is about to go into the store, whatever its size; the paths where that cannot be done.

    A wanted content comes under our own care too: from now on a line kind of ours names it.
    """
    left: dict[WorkspacePath, LeaveReason] = {}
    acts = plan.acts
    for count, file in enumerate(acts):
        if progress is not None:
            progress(RestoreStep.KEEP, count, len(acts))
        data = None if file.wanted.sha is None else plan.merged(file.wanted.sha)
        if data is not None:
            ground.vault.blobs.put(data, own=True)
        elif file.wanted.sha is not None and file.wanted.sha != file.current.sha:
            ground.vault.blobs.keep_own(file.wanted.sha)
        if not file.current.has_content:
            continue
        try:
            stored = look.store_content(ground, file.path, file.current)
        except EnvironmentFault:
            left[file.path] = LeaveReason.CANNOT_STORE
            continue
        if stored.sha != file.current.sha:
            raise PlanStale([file.path])
    return left


def _body(
    ground: Ground,
    marks: Marks,
    plan: RestorePlan,
    staged: stages.Staged,
    left: dict[WorkspacePath, LeaveReason],
    token: str,
) -> PlanBody:
    cut_first, cut_last = plan.cut_turns or (0, 0)
    partly = {one.path for one in plan.given if one.partly}
    return PlanBody(
        kind=plan.kind.value,
        point=point_text(plan.point),
        upto="" if plan.upto is None else point_text(plan.upto),
        hunks=plan.hunks,
        hunks_of=plan.hunks_of,
        scope=plan.scope.value,
        takes_back=plan.takes_back,
        branch=new_chat_id(ground.clock()) if plan.cuts else "",
        keep=plan.keep_messages if plan.cuts else -1,
        cut_first=cut_first,
        cut_last=cut_last,
        back_from=marks.standing().in_force[plan.takes_back] if plan.brings_back else "",
        files=tuple(_plan_file(file, plan, staged, left, partly=file.path in partly) for file in plan.files),
        token=token,
        digest=plan.digest,
    )


def _plan_file(
    file: PlannedFile, plan: RestorePlan, staged: stages.Staged, left: dict[WorkspacePath, LeaveReason], *, partly: bool
) -> PlanFile:
    path, exact = log.path_keys(file.path)
    expected_state, expected_sha, expected_mode, _ = log.state_keys(file.current)
    wanted_state, wanted_sha, wanted_mode, _ = log.state_keys(file.wanted)
    mode = stages.final_mode(file)
    reason = left.get(file.path)
    return PlanFile(
        path=path,
        path_b64=exact,
        action=(Action.LEAVE if reason else file.action).value,
        expected_state=expected_state,
        expected_sha=expected_sha,
        expected_mode=expected_mode,
        wanted_state=wanted_state,
        wanted_sha=wanted_sha,
        wanted_mode=wanted_mode if mode is None else mode,
        stage=staged.stages.get(file.path, ""),
        owner=file.owner,
        reason=reason.value if reason else file.reason,
        failed=reason is not None or is_failure(file, plan.mine),
        partly=partly,
    )
