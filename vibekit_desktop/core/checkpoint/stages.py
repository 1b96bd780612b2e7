"""The staged files of a restore, and the list that makes them ours after a crash.

The list (``desktop/staging``) is durable before the first folder or stage is made and goes after the restore is done. What it
names is ours; anything else that only looks like a stage is somebody's file.

| crash after | what is left | who cleans |
| --- | --- | --- |
| the list | nothing in the workspace | `sweep` |
| some folders and stages | they | `sweep`, by the list |
| the ``restore_plan`` line | they, and the plan | recovery, which uses them |

Blocking; under the vault's lock.
"""

import errno
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import is_sound
from vibekit_desktop.core.checkpoint.decide import is_new_folder
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.disk import atomic, names
from vibekit_desktop.core.disk.workspace import parents_of
from vibekit_desktop.core.types.checkpoints import Action, LeaveReason, PlannedFile, RestoreStep, State
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, EnvironmentFault, PathEscape
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath

_LIMIT_BYTES = 256 << 20
"""A list of some hundred thousand stages; what is larger, no restore of ours wrote."""
NEW_FILE_MODE = 0o644
_THIS_PATH = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EINVAL, errno.ENAMETOOLONG, errno.EOPNOTSUPP,
)  # fmt: skip
"""What is wrong with one path and no other: no permission, a file where a folder must be, a name or link that cannot be."""


Progress = Callable[[RestoreStep, int, int], None]
"""Told at each file: the step, how many are through it, and of how many."""


class StageName(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A target and the name of its stage beside it."""

    path: str
    path_b64: str = ""
    stage: str = ""


class StageList(msgspec.Struct, frozen=True, kw_only=True):
    """What one restore is about to make in the workspace."""

    token: str
    stages: tuple[StageName, ...]
    folders: tuple[StageName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """What was made: stage by path, the folders, and the paths that could not be staged with the reason; of
    those that may not be written, ``said`` is what the system says."""

    stages: Mapping[WorkspacePath, str]
    folders: tuple[WorkspacePath, ...]
    left: Mapping[WorkspacePath, LeaveReason]
    said: Mapping[WorkspacePath, str] = field(default_factory=dict)


def _named(path: WorkspacePath, stage: str = "") -> StageName:
    text, exact = log.path_keys(path)
    return StageName(path=text, path_b64=exact, stage=stage)


def final_mode(file: PlannedFile) -> int | None:
    """The permission bits that a path will have: the recorded ones, else those it has, else the usual ones; None for a link."""
    if file.wanted.state is not State.PRESENT:
        return None
    if file.wanted.mode is not None:
        return file.wanted.mode
    return NEW_FILE_MODE if file.current.mode is None else file.current.mode


def stage_one(ground: Ground, path: WorkspacePath, stage: str, state: State, sha: BlobHash, mode: int | None) -> None:
    """Make one stage from the store; its content is checked while it is written."""
    if state is State.LINK:
        ground.folder().stage_link(path, stage, ground.vault.blobs.get(sha))
    else:
        pieces = ground.vault.blobs.pieces(sha)
        ground.folder().stage_file(path, stage, pieces, NEW_FILE_MODE if mode is None else mode)


def make(
    ground: Ground,
    files: Collection[PlannedFile],
    token: str,
    progress: Progress | None = None,
) -> Staged:
    """Stage every write and create beside its target, all durable, and make the folders above. What is not allowed there is
    left; any other failure takes everything back and is raised, so the workspace is as it was.

    Below a folder that the plan itself makes, perhaps where a file is now, a stage gets only its name; its content is checked.
    """
    wanted = [file for file in files if file.action in (Action.WRITE, Action.CREATE)]
    plan = {file.path: names.stage_name(file.path.rsplit("/", 1)[-1]) for file in wanted if file.wanted.sha is not None}
    workspace = ground.folder()
    new = {file.path for file in files if file.action is not Action.LEAVE and is_new_folder(file.current, file.wanted)}
    later = {file.path for file in wanted if not new.isdisjoint(parents_of(file.path))}
    missing = sorted({folder for file in wanted if file.path not in later for folder in workspace.missing_parents(file.path)})
    if not plan and not missing:
        return Staged(stages={}, folders=(), left={})
    earlier = _listed(ground)  # what could not be removed yet stays on the list
    listed = StageList(
        token=token,
        stages=(*(earlier.stages if earlier else ()), *(_named(path, stage) for path, stage in plan.items())),
        folders=tuple(_named(folder) for folder in missing),
    )
    ground.fs.make_folder(ground.vault.desktop)
    atomic.replace(ground.fs, ground.vault.desktop / "staging", msgspec.json.encode(listed))
    stages: dict[WorkspacePath, str] = {}
    made: list[WorkspacePath] = []
    left: dict[WorkspacePath, LeaveReason] = {}
    said: dict[WorkspacePath, str] = {}
    try:
        for count, file in enumerate(wanted):
            if progress is not None:
                progress(RestoreStep.STAGE, count, len(wanted))
            stage = plan.get(file.path, "")
            reason = _later(ground, file) if file.path in later else _stage(ground, file, stage, made, said)
            if reason is not None:
                left[file.path] = reason
            elif stage:
                stages[file.path] = stage
        for path in stages:
            workspace.sync_parent(path)
    except EnvironmentFault:
        discard(ground, list(stages.items()), made)
        raise
    return Staged(stages=stages, folders=tuple(made), left=left, said=said)


def _later(ground: Ground, file: PlannedFile) -> LeaveReason | None:
    """What can be said of a stage that cannot be made yet."""
    sha = file.wanted.sha
    return None if sha is None or is_sound(ground.vault.blobs, sha) else LeaveReason.DAMAGED


def _stage(
    ground: Ground, file: PlannedFile, stage: str, made: list[WorkspacePath], said: dict[WorkspacePath, str]
) -> LeaveReason | None:
    sha = file.wanted.sha
    try:
        for folder in parents_of(file.path):
            if ground.folder().look(folder).state is State.ABSENT and ground.folder().make_folder(folder):
                made.append(folder)
        if sha is not None:
            stage_one(ground, file.path, stage, file.wanted.state, sha, final_mode(file))
    except PathEscape:
        return LeaveReason.LINK_ON_THE_WAY
    except CannotWrite as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _THIS_PATH:
            said[file.path] = error.reason
            return LeaveReason.CANNOT_WRITE
        raise
    return None


def discard(ground: Ground, stages: Iterable[tuple[WorkspacePath, str]], folders: Collection[WorkspacePath]) -> None:
    """Take back what `make` made: stages, folders that are still empty, and the list, unless a stage could not be removed; that
    is raised at the end."""
    stuck: CannotWrite | None = None
    for path, stage in stages:
        try:
            ground.folder().drop_stage(path, stage)
        except CannotWrite as error:
            stuck = error
    for folder in sorted(folders, reverse=True):
        ground.folder().remove_empty_folder(folder)
    if stuck is not None:
        raise stuck
    forget(ground)


def forget(ground: Ground) -> None:
    """The list is no longer needed."""
    atomic.remove(ground.fs, ground.vault.desktop / "staging")


def has_list(ground: Ground) -> bool:
    """Whether a list is there: some restore has not cleared up behind itself."""
    return ground.fs.is_file(ground.vault.desktop / "staging")


def sweep(ground: Ground) -> None:
    """Remove what a restore that crashed before its plan was written left in the workspace. Not for one with a plan.

    What cannot be removed now stays on the list."""
    if not has_list(ground):
        return
    listed = _listed(ground)
    if listed is None:
        # Not a list of ours: nothing in the workspace is touched on its word.
        forget(ground)
        return
    stages = [(log.path_of(name), name.stage) for name in listed.stages]
    with suppress(CannotWrite):
        discard(ground, stages, [log.path_of(name) for name in listed.folders])


def _listed(ground: Ground) -> StageList | None:
    """The list of this vault's own, if there is one."""
    try:
        data = ground.fs.read_bytes(ground.vault.desktop / "staging", limit=_LIMIT_BYTES)
        listed = msgspec.json.decode(data, type=StageList)
        for name in (*listed.stages, *listed.folders):
            log.path_of(name)
    except (FileNotFoundError, CannotRead, msgspec.MsgspecError, UnicodeError, RecursionError, PathEscape):
        return None
    ours = listed.token != "" and listed.token == ground.vault.token
    return listed if ours and all(names.is_stage_name(name.stage) for name in listed.stages) else None
