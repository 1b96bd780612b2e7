"""Write the files of a point into an empty folder. Nothing of the vault or the workspace is changed. Blocking; no lock."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.stages import NEW_FILE_MODE
from vibekit_desktop.core.disk import names
from vibekit_desktop.core.disk.workspace import Workspace, parents_of
from vibekit_desktop.core.types.checkpoints import CheckoutReport, FileState, LeaveReason, LeftFile, State
from vibekit_desktop.core.types.errors import (
    BlobCorrupt,
    BlobNotFound,
    CannotRead,
    CannotWrite,
    DiskFull,
    FolderNotEmpty,
    PathEscape,
)
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath

_Source = Callable[[WorkspacePath, BlobHash], Iterator[bytes]]


def from_store(ground: Ground, states: Mapping[WorkspacePath, FileState], folder: Path) -> CheckoutReport:
    """The recorded contents."""
    return _write(ground, states, folder, lambda _, sha: ground.vault.blobs.pieces(sha))


def from_disk(ground: Ground, states: Mapping[WorkspacePath, FileState], folder: Path) -> CheckoutReport:
    """A copy of what is in the workspace now."""
    return _write(ground, states, folder, lambda path, _: ground.folder().pieces(path))


def _write(ground: Ground, states: Mapping[WorkspacePath, FileState], folder: Path, source: _Source) -> CheckoutReport:
    if ground.fs.stat(folder) is not None and (not ground.fs.is_folder(folder) or ground.fs.list_names(folder)):
        raise FolderNotEmpty(str(folder))
    ground.fs.make_folder(folder, 0o755)
    target = Workspace.open(ground.fs, folder)
    files: list[WorkspacePath] = []
    left: list[LeftFile] = []
    for path, state in sorted(states.items()):
        if state.state in (State.ABSENT, State.FOLDER):
            continue
        reason = _one(target, path, state, source)
        if reason is None:
            files.append(path)
        else:
            left.append(LeftFile(path, reason))
    return CheckoutReport(tuple(files), tuple(left))


def _one(target: Workspace, path: WorkspacePath, state: FileState, source: _Source) -> str | None:
    if not state.has_content or state.sha is None:
        return state.reason or state.state.value
    if names.refusal(path) or target.refused_for_creation(path):
        return LeaveReason.REFUSED.value
    stage = names.stage_name(path.rsplit("/", 1)[-1])
    try:
        for parent in parents_of(path):
            if target.look(parent).state is State.ABSENT:
                target.make_folder(parent)
        if state.state is State.LINK:
            target.stage_link(path, stage, b"".join(source(path, state.sha)))
        else:
            target.stage_file(path, stage, source(path, state.sha), NEW_FILE_MODE if state.mode is None else state.mode)
        target.put_in_place(path, stage)
        target.sync_parent(path)
    except (BlobCorrupt, BlobNotFound):
        return LeaveReason.DAMAGED.value
    except CannotRead:
        return LeaveReason.CANNOT_READ.value
    except DiskFull:
        raise
    except PathEscape:
        return LeaveReason.LINK_ON_THE_WAY.value
    except CannotWrite:
        return LeaveReason.CANNOT_WRITE.value
    return None
