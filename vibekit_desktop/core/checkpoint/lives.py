"""Where a log begins and ends: a branch from a turn; the log of a deleted chat put away, and gone once nobody needs it.

| crash after | what is left | what beginning again does |
| --- | --- | --- |
| the branch's log | a log that no chat shows | a new branch gets a new id |
| contents under our care | the log where it was | moves it |
| the move | the retired log | keeps it or drops it |
| the states written down, the number | the retired log | drops it |

Blocking; under the vault's lock.
"""

from dataclasses import replace

from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.known import Entry
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.tree import Kind, Stamp
from vibekit_desktop.core.types.chats import TranscriptShape
from vibekit_desktop.core.types.checkpoints import BeforeTurn, FileState, State, point_text
from vibekit_desktop.core.types.errors import LogDamaged, PointNotFound
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


def branch(
    ground: Ground, chat: ChatId, marks: Marks, shape: TranscriptShape, turn: int, new: ChatId, *, keep: int | None = None
) -> None:
    """Begin the chat ``new`` as a branch of ``chat`` before a turn: its messages up to that prompt, or the first ``keep``, and
    its history up to there. Turn 0 is the end: the whole history."""
    damaged = ground.vault.damage(chat)
    if damaged:
        raise LogDamaged(chat, damaged)
    if turn:
        if turn not in marks.turns or turn not in shape.prompt_index:
            raise PointNotFound(chat, point_text(BeforeTurn(turn)))
        first, keep = _before(ground, marks, turn), shape.prompt_index[turn] if keep is None else keep
    else:
        first, keep = _after_everything(ground, chat, marks), shape.messages if keep is None else keep
    faults.point("branch.log")
    ground.vault.append(new, [first])
    faults.point("branch.transcript")
    ground.transcripts.branch(chat, new, keep=keep, first_turn=first.turn)


def _before(ground: Ground, marks: Marks, turn: int) -> Line:
    # The turn may stand in an ancestor's log: then the branch begins there, whatever came after in this chat.
    placed = next(placed for position, placed in marks.view.own if position == marks.turns[turn].start)
    contents = ground.vault.contents(placed.chat)
    earlier = [line.seq for number, line in zip(contents.numbers, contents.lines, strict=True) if number < placed.number]
    return Line(
        type="branch_start",
        parent=placed.chat,
        turn=turn,
        cut_seq=max(earlier, default=0),
        cut_lines=placed.number - 1,
    )


def _after_everything(ground: Ground, chat: ChatId, marks: Marks) -> Line:
    contents = ground.vault.contents(chat)
    return Line(
        type="branch_start",
        parent=chat,
        turn=marks.last_turn + 1,
        cut_seq=max((line.seq for line in contents.lines), default=0),
        cut_lines=max(contents.numbers, default=0),
    )


def turn_from(marks: Marks, shape: TranscriptShape, message: int) -> int:
    """The first turn whose prompt is at or after a message; 0 if none is."""
    later = [(index, turn) for turn, index in shape.prompt_index.items() if index >= message and turn in marks.turns]
    return min(later)[1] if later else 0


def retire(ground: Ground, chat: ChatId) -> None:
    """Put the log of a deleted chat away, and drop every retired log that nobody's history needs any more."""
    faults.point("log.retire")
    ground.vault.retire(chat)
    drop_unneeded(ground)


def drop_unneeded(ground: Ground) -> None:
    """A retired log stays as long as a chat that began before its last line is there, or a branch whose history begins in it,
    and as long as another log says something older of a path than it does."""
    vault = ground.vault
    retired = set(vault.retired_chats())
    if not retired:
        return
    spans = vault.memory.spans()
    ancestries = [vault.memory.ancestry(chat) for chat in vault.chats_with_logs()]
    needed = {one for ancestry in ancestries for one in ancestry}
    oldest = min((spans[ancestry[0]][0] for ancestry in ancestries if ancestry[0] in spans), default=None)
    unneeded = sorted(retired - needed)
    going = [chat for chat in unneeded if oldest is None or chat not in spans or spans[chat][1] <= oldest]
    while droppable := [chat for chat in going if not _hides_older(ground, chat)]:
        going.remove(droppable[0])
        _remember_states(ground, droppable[0])
        vault.keep_seq()
        faults.point("log.drop")
        vault.drop_retired(droppable[0])


def _hides_older(ground: Ground, chat: ChatId) -> bool:
    """Whether a log has the newest line of a path that another log names too: without it, what that one says would be taken for
    the last known state, and the next look would tell of a change that nobody made."""
    view = ground.vault.memory.public()
    told = (*view.by_path.values(), *view.folders.values())
    return any(found[-1].chat == chat and any(one.chat != chat for one in found) for found in told)


def _remember_states(ground: Ground, chat: ChatId) -> None:
    """Paths that only this log names are unnamed from now on: what they were last becomes their state at the last look."""
    if ground.workspace is None:
        return
    seen = ground.known.load(ground.workspace.identity)
    if seen is None:
        return
    entries: dict[WorkspacePath, Entry] = dict(seen.entries)
    for path, found in ground.vault.memory.public().by_path.items():
        if any(one.chat != chat for one in found):
            continue
        entry, last = entries.pop(path, None), found[-1].after
        if entry is not None and last.has_content and entry.sha == last.sha:
            entries[path] = entry
        elif last.state is not State.ABSENT:
            # Not what the last look saw: the stamp of nothing, so the next one reads it.
            mode = -1 if last.mode is None else last.mode
            entries[path] = Entry(Stamp(last.size or 0, 0, 0, 0, 0, mode, _kind(last), 1), last.sha or "")
    ground.known.save(replace(seen, entries=entries))


def _kind(state: FileState) -> Kind:
    return "link" if state.state is State.LINK else "file"
