"""Carry out an agent's write: capture, stage beside the target, look once more, rename (docs/storage-format.md 5).

What the agent did not know is never overwritten: a file that is not what the writer read is left, its bytes in the store.

| crash after | what is left | who goes on |
| --- | --- | --- |
| the capture | a capture without its write | the end of the turn: "it was not written" |
| the stage | and the stage, listed | the next change, by the list |
| the rename | the write | nobody needs to |

Blocking; the caller holds the vault's lock.
"""

from vibekit_desktop.core.checkpoint import announcements, capture, copies, look, recover, stages
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import agree
from vibekit_desktop.core.checkpoint.tidy import folder_line
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import (
    Action,
    Author,
    CaptureReport,
    FileState,
    How,
    PlannedFile,
    State,
)
from vibekit_desktop.core.types.errors import (
    CannotWrite,
    ChangedMeanwhile,
    CoreError,
    EnvironmentFault,
    NotProtected,
    PathEscape,
    PathRefused,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

LINK = "link"


def write(
    ground: Ground,
    chat: ChatId,
    path: WorkspacePath,
    data: bytes | None,
    *,
    message_count: int,
    mode: int | None,
    expected: FileState | None,
    tool_call_id: str,
    unprotected: bool,
) -> CaptureReport:
    """Write ``data`` to a path, or delete it. ``expected``: what the writer read there; anything else is `ChangedMeanwhile`,
    and what is there is in the store. `NotProtected` where it cannot be stored, unless ``unprotected`` says that the user
    accepts.

    A link is never written through and never replaced. Raises and changes nothing but the log, unless it returns.
    """
    workspace = ground.folder()
    capture.refuse(path)
    path = workspace.spelled(path)
    state = workspace.look(path)
    if state.state is State.LINK:
        raise PathRefused(path, LINK)
    if data is None and state.state is not State.PRESENT:
        raise PathRefused(path, capture.FOLDER if state.state is State.FOLDER else "missing")
    if data is not None and mode is None:
        mode = stages.NEW_FILE_MODE if state.mode is None else state.mode
    announced = Announced(content=data, deleted=data is None, mode=mode, tool_call_id=tool_call_id, through=True)
    real, state = capture.target(workspace, path, announced)
    if real != path:
        raise PathEscape(path)  # a link on the way, wherever it leads: what we write goes where the path says
    if expected is not None and not agree(expected, state) and not _is_written(state, data):
        announcements.meet(ground, chat, path, expected, state)
        raise ChangedMeanwhile(path)
    if not unprotected:
        _require_protection(ground, path, state)
    report = capture.capture(ground, chat, path, announced, message_count=message_count)
    try:
        _do(ground, chat, report)
    except CoreError:
        if _is_there(ground, report):
            return report
        _never_written(ground, chat, report)
        raise
    return report


def _is_written(state: FileState, data: bytes | None) -> bool:
    """Whether a file has what is to be written: some agents write it themselves, too, and ask for it at the same time."""
    return data is not None and state.has_content and state.sha == hash_of(data)


def _is_there(ground: Ground, report: CaptureReport) -> bool:
    """Whether exactly what was to be written stands there all the same: some agents write a file themselves, too."""
    there = ground.folder().look(report.path)
    return there.state is report.after.state and there.sha == report.after.sha


def _require_protection(ground: Ground, path: WorkspacePath, state: FileState) -> None:
    if state.state is State.UNKNOWN:
        raise NotProtected(path, state.reason or State.UNKNOWN.value)
    if state.has_content and (state.size or 0) > ground.limits.capture_bytes:
        raise NotProtected(path, copies.TOO_LARGE)


def _do(ground: Ground, chat: ChatId, report: CaptureReport) -> None:
    path, before, after = report.path, report.before, report.after
    workspace = ground.folder()
    if after.state is State.ABSENT:
        _still(ground, path, before)
        faults.point("write.unlink")
        workspace.unlink(path)
        workspace.sync_parent(path)
        return
    current = FileState(before.state, before.sha, before.mode)
    action = Action.CREATE if before.state is State.ABSENT else Action.WRITE
    file = PlannedFile(path=path, action=action, current=current, wanted=after)
    staged = stages.make(ground, [file], ground.vault.make_token())
    if path in staged.left:
        stages.discard(ground, staged.stages.items(), staged.folders)
        raise CannotWrite(path, staged.said.get(path, staged.left[path].value))
    try:
        _still(ground, path, before)
        turn = ground.vault.memory.view(chat)[1].last_turn
        ground.vault.append(
            chat,
            [folder_line(folder, State.FOLDER, turn=turn, author=Author.AGENT, how=How.ANNOUNCED) for folder in staged.folders],
        )
        faults.point("write.rename")
        workspace.put_in_place(path, staged.stages[path])
    except CoreError:
        stages.discard(ground, staged.stages.items(), staged.folders)
        raise
    workspace.sync_parent(path)
    if not recover.open_plans(ground):
        stages.sweep(ground)


def _still(ground: Ground, path: WorkspacePath, before: FileState) -> None:
    """The last look before the change: still what was captured, or `ChangedMeanwhile`."""
    now = ground.folder().look(path)
    same = agree(before, now) or (before.state is now.state is State.UNKNOWN)
    if not same:
        look.captured(ground, path, now)
        raise ChangedMeanwhile(path)


def _never_written(ground: Ground, chat: ChatId, report: CaptureReport) -> None:
    """A write that is known to have failed is closed: the file is as it was captured, and what has become of it
    since is somebody else's change."""
    path, before = report.path, report.before
    try:
        turn = ground.vault.memory.view(chat)[1].last_turn
        ground.vault.append(chat, [look.settled(ground, chat, path, before, turn=turn, done=False)])
        capture.unrecorded(ground, chat, path, ground.folder().look(path))
    except EnvironmentFault:
        return  # the end of the turn finds out by itself
