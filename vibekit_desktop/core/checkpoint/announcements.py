"""What became of the writes that an agent announced, told as soon as anybody knows: not done, waiting for a person, or done.

An agent that waits for an answer writes nothing meanwhile, so whatever changes then is somebody else's. What it says it has
done, and the disk shows, is its own, also where it only said so afterwards (docs/storage-format.md 5). Blocking; the caller
holds the vault's lock.
"""

from collections.abc import Sequence

import msgspec

from vibekit_desktop.core.checkpoint import capture, conflicts, log, look
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import Observation, agree, is_known
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.checkpoint.open_turns import OpenTurn, last_look, open_turn
from vibekit_desktop.core.types.checkpoints import Author, FileState, Fits, How, State
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, EnvironmentFault
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

HELD_BYTES = 16 << 20
"""A larger file is not held against what an agent says that it wrote."""


def not_done(ground: Ground, chat: ChatId, path: WorkspacePath) -> bool:
    """Close what the running turn of ``chat`` announced last for a path and is said not to have done; whether it was closed.
    Not if the disk shows something else. Without a workspace there is nothing to be seen, and what is said is believed; should
    it come after all, the next look finds it, as after every ``settle`` line."""
    found = _open(ground, chat, path)
    if found is None or (ground.workspace is not None and not agree(found[1].before, ground.workspace.look(path))):
        return False
    ground.vault.append(chat, [_closing(ground, chat, *found)])
    return True


def waits(ground: Ground, chat: ChatId, paths: Sequence[WorkspacePath], *, tool_call_id: str = "") -> bool:
    """A person is about to be asked, and the call waits: what it announced for these paths is closed until it is allowed, and
    what else the turn announced is looked for as long as nobody else had time to write. Whether anything was written down."""
    lines: list[Line] = []
    for path in paths:
        found = _open(ground, chat, path)
        if found is None or (tool_call_id and found[1].line.tool_call_id != tool_call_id):
            continue
        if agree(found[1].before, ground.folder().look(path)):
            lines.append(msgspec.structs.replace(_closing(ground, chat, *found), reason=look.WAITS))
    if lines:
        ground.vault.append(chat, lines)
    return capture.find_out(ground, chat) or bool(lines)


def meet(ground: Ground, chat: ChatId, path: WorkspacePath, expected: FileState, there: FileState) -> None:
    """A file is not what it was when ``chat`` was about to change it: keep what is there, say that somebody wrote it while the
    agent waited for us, and that the chat wanted to write over it."""
    stored = look.captured(ground, path, there)
    found = _open(ground, chat, path)
    if found is not None and not agree(found[1].before, stored):
        ground.vault.append(chat, [msgspec.structs.replace(_closing(ground, chat, *found), reason=look.WAITS)])
    capture.unrecorded(ground, chat, path, stored)
    view, marks = ground.vault.memory.view(chat)
    met = capture.met(ground, view, path, expected, stored, tag=capture.next_tag(marks)[2])
    ground.vault.append(chat, [conflicts.line_of(met)])


def finished(ground: Ground, chat: ChatId, paths: Sequence[WorkspacePath], fits: Fits, *, tool_call_id: str = "") -> bool:
    """A call of the running turn says that it has changed these paths. What it announced before is looked for, and it does no
    more of that; what it only says now is its own where the disk shows just that. Whether anything was written down."""
    turn = open_turn(ground, chat)
    if turn is None:
        return False
    lines = [line for path in paths if (line := _told_afterwards(ground, turn, path, fits)) is not None]
    lines += [line for path in paths if (line := _over(ground, chat, turn, path, tool_call_id)) is not None]
    if lines:
        ground.vault.append(chat, [msgspec.structs.replace(line, tool_call_id=tool_call_id) for line in lines])
    return capture.find_out(ground, chat) or bool(lines)


def _over(ground: Ground, chat: ChatId, turn: OpenTurn, path: WorkspacePath, call: str) -> Line | None:
    """The line that closes what a call announced for a path, where the disk shows nothing of it."""
    public = ground.vault.memory.public()
    last = public.last(path)
    said = look.announcement(public, last, {chat: turn}, last_look(ground)) if last is not None else None
    if said is None or said.line.tool_call_id != call or not agree(said.before, ground.folder().look(path)):
        return None
    return msgspec.structs.replace(_closing(ground, chat, turn, said), reason=look.WAITS)


def _told_afterwards(ground: Ground, turn: OpenTurn, path: WorkspacePath, fits: Fits, tries: int = 3) -> Line | None:
    disk = ground.folder().look(path)
    one = capture.difference(ground, ground.vault.memory.public(), path, disk)
    if one is None or (one.last is not None and not is_known(one.last.after)):
        return None
    if not _may_be_held(one.before) or not _may_be_held(one.after):
        return None
    after = look.captured(ground, path, one.after)
    try:
        came = None if after.state is State.ABSENT else b"".join(ground.folder().pieces(path, seen=after.state))
    except EnvironmentFault:
        return None
    if came is not None and after.sha is not None and hash_of(came) != after.sha:  # it is being written just now
        return _told_afterwards(ground, turn, path, fits, tries - 1) if tries > 1 else None
    if not fits(path, _content(ground, one.before), came):
        return None
    before = look.kept(ground, one.before)
    return log.observed(path, before, after, author=Author.AGENT, how=How.SCAN, turn=turn.turn)


def _may_be_held(state: FileState) -> bool:
    return state.state in (State.ABSENT, State.PRESENT, State.NOT_CAPTURED, State.UNKNOWN) and (state.size or 0) <= HELD_BYTES


def _content(ground: Ground, state: FileState) -> bytes | None:
    if state.state is not State.PRESENT or state.sha is None:
        return None
    try:
        return ground.vault.blobs.get(state.sha)
    except (BlobNotFound, BlobCorrupt, EnvironmentFault):
        return None


def _open(ground: Ground, chat: ChatId, path: WorkspacePath) -> tuple[OpenTurn, Observation] | None:
    """What the running turn of a chat announced last for a path, if nothing was found out of it yet."""
    turn = open_turn(ground, chat)
    last = ground.vault.memory.public().last(path)
    if turn is None or last is None or last.chat != chat or not look.is_announced(last, turn) or not is_known(last.before):
        return None
    return turn, last


def _closing(ground: Ground, chat: ChatId, turn: OpenTurn, last: Observation) -> Line:
    line = look.settled(ground, chat, last.path, last.before, turn=turn.turn, done=False)
    return look.of_call(line, last)
