"""What a chat did to the files, turn by turn, as rows (docs/storage-format.md 3). Pure; any thread.

Rows come in the order of the view: turns, the changes between them, restores, and at the end what is on disk now. Within a row
there is one net change for each path.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from vibekit_desktop.core.checkpoint import log, ownership
from vibekit_desktop.core.checkpoint.history import Observation, View, agree
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.checkpoint.points import Entry, Marks
from vibekit_desktop.core.types.checkpoints import (
    Author,
    ChangeStatus,
    Coverage,
    EntryKind,
    FileChange,
    FileState,
    How,
    RestoreKind,
    Skipped,
    State,
    Timeline,
    TimelineEntry,
    parse_point,
)
from vibekit_desktop.core.types.errors import Malformed, PathEscape, PointNotFound
from vibekit_desktop.core.types.ids import Tag, WorkspacePath, parse_chat_id, parse_workspace_path


@dataclass(slots=True)
class _Row:
    """One row while it is filled."""

    kind: EntryKind
    turn: int
    at: int
    line: Line | None = None
    entry: Entry | None = None
    seen: list[Observation] = field(default_factory=list)
    notes: list[Skipped] = field(default_factory=list)
    end_line: Line | None = None


def status_of(before: FileState, after: FileState) -> ChangeStatus:
    """The letter of a change."""
    if before.state is State.ABSENT and after.state is not State.ABSENT:
        return ChangeStatus.ADDED
    return ChangeStatus.DELETED if after.state is State.ABSENT else ChangeStatus.MODIFIED


def build(
    view: View,
    marks: Marks,
    *,
    prompts: Mapping[int, str],
    disk: Mapping[WorkspacePath, FileState] | None,
    now_ms: int,
    unfinished: bool,
    to_answer: bool,
    running: int = 0,
) -> Timeline:
    """The rows of one chat. ``disk``: what is there now at the paths this chat touched; None without a workspace.
    ``running``: the turn that is open, 0 if none is."""
    rows = _rows(view, marks)
    standing = marks.standing()
    undone = _undone(view, marks)
    waiting: set[WorkspacePath] = set()
    for row in rows:
        if disk is not None and row.kind is EntryKind.TURN and row.turn == running:
            waiting = _waiting(view, row.seen, disk)
            row.seen = [one for one in row.seen if one.path not in waiting]
    entries = [_finished(view, row, marks, prompts, undone) for row in rows if _is_shown(row)]
    entries.append(
        TimelineEntry(
            kind=EntryKind.NOW,
            turn=marks.last_turn,
            at=now_ms,
            files=() if disk is None else tuple(one for one in _now(view, disk) if one.path not in waiting),
        )
    )
    return Timeline(
        chat=view.chat,
        entries=tuple(entries),
        workspace_found=disk is not None,
        can_undo=standing.can_undo,
        can_redo=standing.can_redo,
        unfinished=unfinished,
        to_answer=to_answer,
    )


def _is_shown(row: _Row) -> bool:
    return row.kind is not EntryKind.BETWEEN or bool(_net(row.seen))


def _rows(view: View, marks: Marks) -> list[_Row]:
    touched = ownership.touched_at(view)
    own = {position: placed.line for position, placed in view.own}
    seen = {one.position: one for one in view.observations}
    rows: list[_Row] = []
    turns: dict[int, _Row] = {}
    entries: dict[int, _Row] = {}
    for position in sorted({*own, *seen}):
        line = own.get(position)
        if line is not None:
            _open_row(line, position, marks, rows, turns, entries)
        found = seen.get(position)
        if found is None:
            continue
        entry = entries.get(found.line.entry) if found.own and not found.computed else None
        turn = turns.get(found.turn) if found.own else None
        if entry is not None:
            entry.seen.append(found)
        elif turn is not None:
            turn.seen.append(found)
        elif _is_between(found, position, marks, touched):
            if not rows or rows[-1].kind is not EntryKind.BETWEEN:
                rows.append(_Row(EntryKind.BETWEEN, marks.turn_before(position), found.line.ts))
            rows[-1].seen.append(found)
    return rows


def _open_row(
    line: Line, position: int, marks: Marks, rows: list[_Row], turns: dict[int, _Row], entries: dict[int, _Row]
) -> None:
    mark = marks.turns.get(line.turn)
    if mark is not None and mark.start == position:
        turns[line.turn] = _Row(EntryKind.TURN, line.turn, line.ts, line, end_line=mark.end_line)
        rows.append(turns[line.turn])
    elif line.type == "restore_plan" and line.entry in marks.entries:
        entries[line.entry] = _Row(EntryKind.RESTORE, marks.turn_before(position), line.ts, line, marks.entries[line.entry])
        rows.append(entries[line.entry])
    elif line.type in ("restore_committed", "restore") and not line.seq:
        # A numbered one is ours: it ended a restore of the original's, the files as they were (`recover.leave`).
        rows.append(_Row(EntryKind.RESTORE, marks.turn_before(position), line.ts, line))
    elif line.type == "note" and line.turn in turns:
        size = None if line.size < 0 else line.size
        turns[line.turn].notes.append(Skipped(line.path, line.reason, size))


def _is_between(found: Observation, position: int, marks: Marks, touched: Mapping[WorkspacePath, int]) -> bool:
    """Whether a change is shown between the turns: this chat's gaps, and what others did, while it was idle, to paths that were
    its own by then. What they had done before that is no news of this chat's, and would come up in the middle of a turn."""
    if found.own:
        return found.how is not How.SETTLE
    if position < touched.get(found.path, position + 1):
        return False
    turn = marks.turns.get(marks.turn_before(position))
    return turn is None or position >= turn.end


def _net(seen: list[Observation]) -> dict[WorkspacePath, tuple[Observation, Observation]]:
    """First and last observation of each path that is not what it was."""
    found: dict[WorkspacePath, tuple[Observation, Observation]] = {}
    for one in seen:
        found[one.path] = (found[one.path][0] if one.path in found else one, one)
    return {path: pair for path, pair in sorted(found.items()) if not agree(pair[0].before, pair[1].after)}


def _waiting(view: View, seen: list[Observation], disk: Mapping[WorkspacePath, FileState]) -> set[WorkspacePath]:
    """Of a turn that runs: the paths of which something is only announced so far, the disk being as it was."""
    ends: dict[WorkspacePath, tuple[Observation, Observation]] = {}
    for one in seen:
        ends[one.path] = (ends[one.path][0] if one.path in ends else one, one)
    return {
        path
        for path, (first, last) in ends.items()
        if last.line.type == "snapshot" and last.line.seq and not last.computed and not last.line.through
        if view.by_path[path][-1] is last and path in disk and agree(first.before, disk[path])
    }


def _changes(view: View, row: _Row, undone: Mapping[int, set[WorkspacePath]]) -> list[FileChange]:
    net = _net(row.seen)
    changes = {path: _change(view, first, last) for path, (first, last) in net.items()}
    for path, (_, last) in net.items():
        old = _renamed_from(last)
        if old is None:
            continue
        gone = changes.pop(old, None)
        before = gone.before if gone is not None and gone.status is ChangeStatus.DELETED else changes[path].before
        changes[path] = replace(changes[path], status=ChangeStatus.RENAMED, old_path=old, before=before)
    # Another chat's tag is no point of this one.
    tags = {one.path: one.line.tag for one in reversed(row.seen) if one.line.tag and one.own and not one.computed}
    return [
        replace(
            change,
            tag=Tag(tags[path]) if path in tags else None,
            undone=row.kind is EntryKind.TURN and path in undone.get(row.turn, set()),
        )
        for path, change in changes.items()
    ]


def _renamed_from(last: Observation) -> WorkspacePath | None:
    if last.computed or not last.line.renamed_from:
        return None
    try:
        return parse_workspace_path(last.line.renamed_from)
    except PathEscape:
        return None


def _change(view: View, first: Observation, last: Observation) -> FileChange:
    word = ownership.author_word(last, view.chat)
    other = ownership.other_chat(word)
    # A line that only closes an announced write says whose the content is that it found.
    author = Author(word) if other is None and last.how is How.SETTLE else last.author
    return FileChange(
        path=last.path,
        status=status_of(first.before, last.after),
        before=first.before,
        after=last.after,
        author=Author.CHAT if other is not None else author,
        how=last.how,
        tool_call_id="" if last.computed else last.line.tool_call_id,
        other_chat=other,
    )


def _undone(view: View, marks: Marks) -> dict[int, set[WorkspacePath]]:
    """By turn, the paths whose change an entry still in force took back and none brought again."""
    undone: dict[tuple[int, WorkspacePath], int] = {}
    hunks: dict[tuple[str, str, WorkspacePath, int], set[int]] = {}
    in_force = marks.standing().in_force
    for entry in sorted(marks.entries.values(), key=lambda one: one.position):
        if entry.kind.takes_back_an_entry or (entry.own and entry.number not in in_force):
            continue
        body = entry.body
        try:
            first = marks.position(parse_point(body.point))
            last = min(entry.position, marks.position(parse_point(body.upto))) if body.upto else entry.position
        except (Malformed, PointNotFound):
            continue
        partly = {log.path_of(file) for file in body.files if file.partly}
        for path in {log.path_of(line) for line in entry.lines}:
            if not entry.kind.is_inverse:
                # Put back to before an earlier entry: what that one took back is there again.
                undone = {key: at for key, at in undone.items() if key[1] != path or at < first}
                hunks = {key: taken for key, taken in hunks.items() if key[2] != path}
            elif body.hunks_of:
                taken = hunks.setdefault((body.point, body.upto, path, body.hunks_of), set())
                taken.update(body.hunks)
                if len(taken) < body.hunks_of:
                    continue
            if path in partly:
                continue
            found = [seen for seen in view.by_path.get(path, ()) if seen.own and seen.turn and seen.position < entry.position]
            beyond = {seen.turn for seen in found if entry.kind.is_inverse and not first <= seen.position < last}
            for turn in {seen.turn for seen in found if first <= seen.position} - beyond:
                undone[turn, path] = entry.position
    turns = {turn for turn, _ in undone}
    return {turn: {path for of, path in undone if of == turn} for turn in turns}


def _finished(
    view: View, row: _Row, marks: Marks, prompts: Mapping[int, str], undone: Mapping[int, set[WorkspacePath]]
) -> TimelineEntry:
    changes = _changes(view, row, undone)
    base = TimelineEntry(kind=row.kind, turn=row.turn, at=row.at, files=tuple(changes), notes=_notes(row))
    if row.kind is EntryKind.TURN:
        tag = next((one.line.tag for one in row.seen if one.line.tag and not one.computed), "")
        return replace(
            base,
            tag=Tag(tag) if tag else None,
            prompt=prompts.get(row.turn, ""),
            message_id=row.line.message_id if row.line is not None else "",
            duration_ms=row.end_line.duration_ms if row.end_line is not None else 0,
            coverage=_coverage(row.end_line),
        )
    if row.entry is not None:
        entry = row.entry
        standing = marks.standing()
        kind = entry.kind
        gone = (
            entry.number not in standing.in_force
            if not kind.takes_back_an_entry
            else kind is RestoreKind.UNDO and entry.number not in standing.redoable
        )
        return replace(
            base,
            entry=entry.number,
            point=entry.body.point,
            upto=entry.body.upto,
            restore_kind=kind,
            takes_back=entry.body.takes_back,
            undone=entry.own and gone and _was_taken_back(marks, entry),
            branch_chat_id=parse_chat_id(entry.branch) if entry.branch else None,
        )
    if row.kind is EntryKind.RESTORE and row.line is not None:
        return replace(base, point=row.line.tag, restore_kind=RestoreKind.RESTORE)
    return base


def _notes(row: _Row) -> tuple[Skipped, ...]:
    """What was noted in a turn, but for what its coverage says as well."""
    told = {(one.path, one.reason) for one in _coverage(row.end_line).skipped}
    return tuple(note for note in row.notes if (note.path, note.reason) not in told)


def _was_taken_back(marks: Marks, entry: Entry) -> bool:
    return any(other.body.takes_back == entry.number and other.own for other in marks.entries.values())


def _coverage(line: Line | None) -> Coverage:
    if line is None or line.coverage is None:
        return Coverage(complete=False)
    skipped = tuple(Skipped(one.path, one.reason, None if one.size < 0 else one.size) for one in line.coverage.skipped)
    return Coverage(complete=line.coverage.complete, skipped=skipped)


def _now(view: View, disk: Mapping[WorkspacePath, FileState]) -> list[FileChange]:
    """What is on disk and is not what this chat's last line left: by other chats, by hand, by anything."""
    found: list[FileChange] = []
    for path, state in sorted(disk.items()):
        own = [one for one in view.by_path.get(path, ()) if ownership.puts_in_plan(one)]
        if not own or agree(own[-1].after, state):
            continue
        last = view.by_path[path][-1]
        recorded = agree(last.after, state)
        word = ownership.author_word(last, view.chat) if recorded else Author.UNKNOWN.value
        other = ownership.other_chat(word)
        author = Author.CHAT if other is not None else Author(word)
        before = own[-1].after
        if state.state is State.UNKNOWN and before.state is State.UNKNOWN:
            continue
        found.append(
            FileChange(
                path=path,
                status=status_of(before, state),
                before=before,
                after=state,
                author=author,
                how=last.how if recorded else How.GAP,
                other_chat=other,
            )
        )
    return found
