"""Look at the disk before an entry: store what is there and say what changed unrecorded (storage.md 4, "A look").

For now a look covers the paths that the vault's lines name. Blocking.
"""

from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import Observation, View, agree, is_known
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.disk import names
from vibekit_desktop.core.types.checkpoints import ABSENT, Author, FileState, How, State
from vibekit_desktop.core.types.errors import EnvironmentFault
from vibekit_desktop.core.types.ids import WorkspacePath


def store_content(ground: Ground, path: WorkspacePath, state: FileState) -> FileState:
    """Put what is at a path into the store; the state that was really stored, which may be newer than ``state``."""
    sha = ground.vault.blobs.put_pieces(ground.folder().pieces(path), own=True)
    return state if sha == state.sha else FileState(state.state, sha, state.mode)


def _captured(ground: Ground, path: WorkspacePath, state: FileState) -> FileState:
    """The state as a line may say it: present only if the content is in the store."""
    if not state.has_content:
        return state
    if state.sha is not None and ground.vault.blobs.has(state.sha):
        try:
            ground.vault.blobs.keep_own(state.sha)
            return state
        except EnvironmentFault:
            pass  # the stored copy is damaged, the one on disk is not
    if (state.size or 0) > ground.capture_bytes:
        return FileState(State.NOT_CAPTURED, state.sha, state.mode, "too-large")
    try:
        return store_content(ground, path, state)
    except EnvironmentFault:
        return FileState(State.NOT_CAPTURED, state.sha, state.mode, "cannot-store")


def unrecorded(last: Observation, disk: FileState) -> bool:
    """Whether the disk differs from the last known state, or shows at last what it was."""
    if disk.state is State.UNKNOWN:
        return False
    return not agree(last.after, ABSENT if disk.state is State.FOLDER else disk)


def gap_lines(ground: Ground, view: View, turn: int, seen: dict[WorkspacePath, FileState]) -> list[Line]:
    """One line for every path of the view whose disk state nobody recorded. ``seen``: what was looked at just now.

    A path whose last line is private to this chat gets none: a line is for everybody, and the change it told of would be one
    from a state that nobody else ever saw. The computed gap covers it.
    """
    workspace = ground.folder()
    lines: list[Line] = []
    for path in sorted(view.by_path):
        last = view.by_path[path][-1]
        if last.private or names.refusal(path):
            continue
        disk = seen[path] if path in seen else workspace.look(path)
        if not unrecorded(last, disk):
            continue
        after = ABSENT if disk.state is State.FOLDER else _captured(ground, path, disk)
        settles = not is_known(last.after)
        lines.append(
            log.observed(
                path,
                after if settles else last.after,
                after,
                author=Author.UNKNOWN,
                how=How.SETTLE if settles else How.GAP,
                turn=turn,
            )
        )
    return lines
