"""Remember a file as it is, just before the agent changes it: one ``snapshot`` line with a tag of its own.

Order: contents into the store, synced; what changed unrecorded before; perhaps ``conflict_detected``; the ``snapshot`` line,
synced. That line is the commit point. When it raises, no line was written, and the write it was for should not happen.

| crash after | what is left |
| --- | --- |
| contents stored | contents that no line names |
| lines of the look | true lines |
| the ``snapshot`` line | a capture whose write may not have happened; the end of the turn finds out |

Blocking; the caller holds the vault's lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vibekit_desktop.core.checkpoint import baseline, conflicts, copies, log, look, ownership
from vibekit_desktop.core.checkpoint.baseline import Difference
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import View, agree, is_known
from vibekit_desktop.core.checkpoint.known import state_of
from vibekit_desktop.core.checkpoint.open_turns import last_look, open_turns
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.disk import faults, names
from vibekit_desktop.core.disk.gitfacts import GitFacts
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    CaptureReport,
    Conflict,
    Coverage,
    FileState,
    LeaveReason,
    Skipped,
    State,
)
from vibekit_desktop.core.types.errors import LogDamaged, PathEscape, PathRefused
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath

FOLDER = "folder"
RESERVED = "reserved"
MOST_FILES = 10_000
"""A folder with more is not captured file by file: its deletion is found by the look at the end of the turn."""
NOT_ANNOUNCED = "not-announced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """What is going to be written: ``content``, or nothing any more (``deleted``); with neither it is not known, or with a
    ``mode`` only that changes."""

    content: bytes | None = None
    deleted: bool = False
    mode: int | None = None
    tool_call_id: str = ""
    renamed_from: WorkspacePath | None = None
    through: bool = False
    """The write goes through us: it is done in the same call, or said to have failed."""


def capture(ground: Ground, chat: ChatId, path: WorkspacePath, announced: Announced, *, message_count: int) -> CaptureReport:
    """Capture one path; the write is the caller's. A link is read as the file it leads to, as the writer will; one that leads
    outside is refused. A folder that is to be deleted is captured file by file; the report is that of the first.

    `PathRefused`, `PathEscape`, `LogDamaged`, `DiskFull`, `CannotWrite`: nothing is remembered, so nothing should be written.
    """
    workspace = ground.folder()
    path, state = target(workspace, path, announced)
    if state.state is State.FOLDER:
        return _folder(ground, chat, path, announced, message_count)
    return _one(ground, chat, path, state, announced, message_count)


def capture_rename(
    ground: Ground, chat: ChatId, old: WorkspacePath, new: WorkspacePath, *, message_count: int, tool_call_id: str = ""
) -> tuple[CaptureReport, CaptureReport]:
    """Capture both ends of a rename. What is at the old name, link or file, will be at the new one."""
    workspace = ground.folder()
    old, state = target(workspace, old, Announced(deleted=True))
    if not state.has_content:
        raise PathRefused(old, FOLDER if state.state is State.FOLDER else "missing")
    gone = _one(ground, chat, old, state, Announced(deleted=True, tool_call_id=tool_call_id), message_count)
    new, present = target(workspace, new, Announced(deleted=True))
    named = Announced(tool_call_id=tool_call_id, renamed_from=old)
    came = _one(ground, chat, new, present, named, message_count, after=gone.before)
    return gone, came


def target(workspace: Workspace, path: WorkspacePath, announced: Announced) -> tuple[WorkspacePath, FileState]:
    """The real file that an announced write concerns, and its state now."""
    refuse(path)
    path = workspace.spelled(path)
    state = workspace.look(path)
    behind = state.reason == LeaveReason.LINK_ON_THE_WAY or (state.state is State.LINK and not announced.deleted)
    if behind:
        path = workspace.real(path)
        refuse(path)
        state = workspace.look(path)
    if state.state is State.UNKNOWN and state.reason == LeaveReason.REFUSED:
        raise PathRefused(path, "own-data")
    if state.state is State.UNKNOWN and state.reason == LeaveReason.LINK_ON_THE_WAY:
        raise PathEscape(path)
    if state.state is State.UNKNOWN and state.reason == LeaveReason.NOT_REGULAR:
        raise PathRefused(path, LeaveReason.NOT_REGULAR.value)
    if state.state is State.FOLDER and not announced.deleted:
        raise PathRefused(path, FOLDER)
    if state.state is State.ABSENT and not announced.deleted and workspace.refused_for_creation(path):
        raise PathRefused(path, RESERVED)
    return path, state


def refuse(path: WorkspacePath) -> None:
    """`PathRefused` for a name that is never touched."""
    reason = names.refusal(path)
    if reason:
        raise PathRefused(path, reason)


def _folder(ground: Ground, chat: ChatId, path: WorkspacePath, announced: Announced, message_count: int) -> CaptureReport:
    """A whole folder is about to be deleted."""
    workspace = ground.folder()
    below = workspace.holds(path)
    if below is None or len(below) > MOST_FILES:
        raise PathRefused(path, FOLDER)
    states = [(one, workspace.look(one)) for one in below if not names.refusal(one)]
    files = [(one, state) for one, state in states if state.state is not State.FOLDER]
    if not files:
        raise PathRefused(path, "empty-folder")
    reports = [_one(ground, chat, one, state, announced, message_count) for one, state in files]
    skipped = tuple(one for report in reports for one in report.coverage.skipped)
    return replace(reports[0], coverage=Coverage(complete=not skipped, skipped=skipped))


def _one(
    ground: Ground,
    chat: ChatId,
    path: WorkspacePath,
    state: FileState,
    announced: Announced,
    message_count: int,
    *,
    after: FileState | None = None,
) -> CaptureReport:
    damaged = ground.vault.damage(chat)
    if damaged:
        raise LogDamaged(chat, damaged)
    before = stored(ground, path, state)
    after = _after(ground, before, announced) if after is None else after
    unrecorded(ground, chat, path, before)
    view, marks = ground.vault.memory.view(chat)
    turn, tool, tag = next_tag(marks)
    found = conflict(ground, view, path, before, tag)
    line = log.announced(
        path,
        before,
        after,
        tag=tag,
        tool=tool,
        turn=turn,
        message_count=message_count,
        tool_call_id=announced.tool_call_id,
        renamed_from=log.old_name(announced.renamed_from),
        through=announced.through,
    )
    faults.point("capture.line")
    ground.vault.append(chat, [*([conflicts.line_of(found)] if found is not None else []), line])
    faults.point("capture.done")
    missing = () if before.has_content or before.state is State.ABSENT else (_skipped(path, before),)
    return CaptureReport(
        chat=chat,
        path=path,
        tag=tag,
        before=before,
        after=after,
        coverage=Coverage(complete=not missing, skipped=missing),
        conflict=found,
    )


def _skipped(path: WorkspacePath, state: FileState) -> Skipped:
    return Skipped(path, state.reason or state.state.value, state.size)


def stored(ground: Ground, path: WorkspacePath, state: FileState) -> FileState:
    """The state with its content in the store, where a ``snapshot`` line names it; a link's text only where ours do."""
    if not state.has_content:
        return state
    if (state.size or 0) > ground.limits.capture_bytes:
        return FileState(State.NOT_CAPTURED, state.sha, state.mode, copies.TOO_LARGE, state.size)
    return look.store_content(ground, path, state, own=False)


def _after(ground: Ground, before: FileState, announced: Announced) -> FileState:
    if announced.deleted:
        return ABSENT
    if announced.content is None:
        if announced.mode is not None and before.sha is not None and before.state is not State.LINK:
            return replace(before, mode=announced.mode & 0o777)
        return FileState(State.UNKNOWN, reason=NOT_ANNOUNCED)
    mode = before.mode if announced.mode is None else announced.mode & 0o777
    sha = ground.vault.blobs.put(announced.content)
    return FileState(State.PRESENT, sha, mode, size=len(announced.content))


def unrecorded(ground: Ground, chat: ChatId, path: WorkspacePath, disk: FileState) -> None:
    """What changed before a capture and nobody wrote down: at its path, and at every path whose content is not known."""
    public = ground.vault.memory.public()
    one = difference(ground, public, path, disk)
    found = [one] if one is not None else []
    _write_down(ground, chat, public, [*found, *_unknown(ground, public, but=path)])


def find_out(ground: Ground, chat: ChatId) -> bool:
    """Look at every path whose content is not known; whether anything was found out."""
    public = ground.vault.memory.public()
    found = _unknown(ground, public)
    _write_down(ground, chat, public, found)
    return bool(found)


def difference(ground: Ground, public: View, path: WorkspacePath, disk: FileState) -> Difference | None:
    """How a path differs from what was last known of it. ``public``: the vault's own view."""
    if path in public.by_path:
        return baseline.named_difference(public, path, disk)
    return _since_the_last_look(ground, path, disk)


def _unknown(ground: Ground, public: View, *, but: WorkspacePath | None = None) -> list[Difference]:
    found: list[Difference] = []
    for path, seen in public.by_path.items():
        if path != but and not is_known(seen[-1].after) and not names.refusal(path):
            one = baseline.named_difference(public, path, ground.folder().look(path))
            found += [one] if one is not None else []
    return found


def _write_down(ground: Ground, chat: ChatId, public: View, found: Sequence[Difference]) -> None:
    if not found:
        return
    turns = open_turns(ground)
    whose = look.whose_capture(ground, chat)
    looked_for = last_look(ground)
    lines = [look.line_of(ground, public, one, whose, turns, looker=chat, looked_for=looked_for) for one in found]
    for log_of in sorted({of for of, _ in lines}):
        ground.vault.append(log_of, [line for of, line in lines if of == log_of])


def _since_the_last_look(ground: Ground, path: WorkspacePath, disk: FileState) -> Difference | None:
    """The change of a path that no line names yet, since the last look at everything."""
    workspace = ground.folder()
    seen = ground.known.load(workspace.identity)
    if seen is None or disk.state is State.UNKNOWN:
        return None
    entry = seen.entries.get(path)
    if entry is None:
        came = not baseline.is_below(path, seen.ignored) and disk.state is not State.ABSENT
        return Difference(path=path, before=ABSENT, after=disk) if came else None
    if (entry.stamp == workspace.stamp(path) and not entry.fresh) or agree(state_of(entry), disk):
        return None
    before = baseline.recall(ground, GitFacts.read(workspace.root) if entry.git else None, entry)
    return None if agree(before, disk) else Difference(path=path, before=before, after=disk)


def next_tag(marks: Marks) -> tuple[int, int, Tag]:
    """Turn, place in it, and tag of the next announced capture (docs/storage-format.md 2)."""
    turn = marks.last_turn
    tools = [tag.partition(".")[2] or "0" for tag, (_, of) in marks.tags.items() if of == turn]
    tool = max((int(text) + 1 for text in tools if text.isdecimal()), default=0)
    return turn, tool, Tag(f"{turn}.{tool}" if tool or not turn else str(turn))


def conflict(ground: Ground, view: View, path: WorkspacePath, before: FileState, tag: str) -> Conflict | None:
    """The conflict of a capture: another chat left the path last, and what is there is not what that chat left."""
    newest = ownership.newest_left(view, path)
    other = ownership.other_chat(ownership.author_word(newest, view.chat)) if newest is not None else None
    if newest is None or other is None:
        return None
    there = ABSENT if before.state is State.FOLDER else before
    if not is_known(newest.after) or not is_known(there) or agree(newest.after, there):
        return None
    return _conflict(ground, path, other, newest.after, before, tag)


def met(ground: Ground, view: View, path: WorkspacePath, expected: FileState, there: FileState, tag: str) -> Conflict:
    """The conflict of a write that was not done: the file is not what the writer had read."""
    last = view.last(path)
    other = ownership.other_chat(ownership.author_word(last, view.chat)) if last is not None else None
    return _conflict(ground, path, other, expected, there, tag)


def _conflict(
    ground: Ground, path: WorkspacePath, other: ChatId | None, expected: FileState, there: FileState, tag: str
) -> Conflict:
    return Conflict(
        path=path,
        other_chat=other or "",
        expected_sha=expected.sha or "",
        actual_sha=there.sha or "",
        tag=tag,
        ts=ground.clock(),
    )
