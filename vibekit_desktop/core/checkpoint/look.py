"""Look at the disk and write down what changed unrecorded: whose it is, and in whose log (docs/storage-format.md 5).

Each difference is one ``observed`` line: in the log of the chat whose turn is open, if exactly one is (how ``scan``), else in
the log of the chat that looks (how ``gap``). Lines first, then what is remembered of the look: a crash between the two finds
the paths named and equal. Blocking; under the vault's lock.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import msgspec

from vibekit_desktop.core.checkpoint import baseline, copies, log, ownership
from vibekit_desktop.core.checkpoint.baseline import Difference, Looked
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import Observation, View, agree, is_known
from vibekit_desktop.core.checkpoint.known import Seen, state_of
from vibekit_desktop.core.checkpoint.log import CoverageLine, Line, SkippedPath
from vibekit_desktop.core.checkpoint.open_turns import OpenTurn, last_look, open_turn, open_turns
from vibekit_desktop.core.checkpoint.tidy import folder_line
from vibekit_desktop.core.types.checkpoints import Author, FileState, How, Protection, Skipped, State
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, CannotRead, EnvironmentFault, LogDamaged
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath

STILL_CHANGING = "still-changing"
WAITS = "waits"
"""Of the line that closes an announced write for good: its agent waits for a person, or says that the call is over."""
BEFORE_UNKNOWN = "before-unknown"
"""Of a command that did not wait for the look before it."""


def store_content(ground: Ground, path: WorkspacePath, state: FileState, *, own: bool = True) -> FileState:
    """Put what is at a path into the store; the state that was really stored, which may be newer than ``state``."""
    sha = ground.vault.blobs.put_pieces(ground.folder().pieces(path, seen=state.state), own=own or state.state is State.LINK)
    return state if sha == state.sha else FileState(state.state, sha, state.mode)


def captured(ground: Ground, path: WorkspacePath, state: FileState) -> FileState:
    """The state as a line of ours may say it: present only if the content is in the store."""
    if not state.has_content:
        return state
    if state.sha is not None and ground.vault.blobs.has(state.sha):
        try:
            ground.vault.blobs.keep_own(state.sha)
            return state
        except EnvironmentFault:
            pass  # the stored copy is damaged, the one on disk is not
    if (state.size or 0) > ground.limits.capture_bytes:
        return FileState(State.NOT_CAPTURED, state.sha, state.mode, copies.TOO_LARGE, state.size)
    try:
        return store_content(ground, path, state)
    except EnvironmentFault:
        return FileState(State.NOT_CAPTURED, state.sha, state.mode, copies.CANNOT_STORE, state.size)


def before_entry(ground: Ground, chat: ChatId, seen: Mapping[WorkspacePath, FileState]) -> None:
    """The look before a restore of ``chat``. Over the whole workspace where one such look was ever made in this vault, since
    only then is there a state of the other paths to compare with. ``seen``: what was looked at just now."""
    whole = ground.known.load(ground.folder().identity) is not None
    _look(ground, chat, whole=whole, seen=seen)


def before_turn(ground: Ground, chat: ChatId) -> CoverageLine:
    """The look before a turn of ``chat``; what it could not see."""
    looked = _look(ground, chat)
    earlier = (baseline.IGNORED, baseline.BASELINE_LOST)  # of what came before the turn
    return CoverageLine(complete=looked.whole, skipped=tuple(one for one in looked.skipped if one.reason not in earlier))


def before_command(ground: Ground, chat: ChatId) -> Protection:
    """The look before a command of ``chat``, and what of the workspace is not in the store after it. What it finds no command
    is told to have made, even if one counts as running: its end may never have been said."""
    looked = _look(ground, chat, before_command=True)
    failed, left_out = list(looked.copied.failed), list(looked.copied.left_out)
    if looked.seen is None:
        return Protection(tuple(failed), (*left_out, *(Skipped(one.path, one.reason) for one in looked.skipped)))
    for path, seen in ground.vault.memory.public().by_path.items():
        entry = looked.seen.entries.get(path)
        last = seen[-1].after
        if entry is None or (is_known(last) and last.state is not State.NOT_CAPTURED):
            continue
        size = entry.stamp.size
        if entry.sha and ground.vault.blobs.has(BlobHash(entry.sha)):
            continue
        if size > ground.limits.capture_bytes:
            left_out.append(Skipped(path, copies.TOO_LARGE, size))
            continue
        try:
            store_content(ground, path, state_of(entry))
        except CannotRead:
            left_out.append(Skipped(path, copies.CANNOT_READ, size))
        except EnvironmentFault as error:
            failed.append(Skipped(path, copies.why(error), size))
    return Protection(tuple(failed), tuple(left_out))


def after_command(ground: Ground, chat: ChatId, tool_call_id: str = "") -> None:
    """The look after a command of ``chat``: the only one whose changes a command is told to have made. What anybody else comes
    upon while it runs may as well be a person's."""
    _look(ground, chat, command=True, tool_call_id=tool_call_id)


def at_end(ground: Ground, turn: OpenTurn, unsettled: Sequence[WorkspacePath]) -> CoverageLine:
    """The look at the end of a turn, and what of the whole turn is not in the store."""
    looked = _look(ground, turn.chat)
    missing = {(one.path, one.reason): one for one in looked.skipped}
    for path, reason in sorted(turn.notes):
        missing.setdefault((path, reason), SkippedPath(path=path, reason=reason))
    for one in turn.coverage.skipped if turn.coverage is not None else ():
        missing.setdefault((one.path, one.reason), one)
    for path in unsettled:
        missing[path, STILL_CHANGING] = baseline.skipped(path, STILL_CHANGING)
    missing.update(_not_in_store(ground, turn, looked.seen))
    complete = looked.whole and turn.coverage is not None and turn.coverage.complete and not missing
    return CoverageLine(complete=complete, skipped=tuple(missing[key] for key in sorted(missing)))


def _not_in_store(ground: Ground, turn: OpenTurn, there: Seen | None) -> dict[tuple[str, str], SkippedPath]:
    """The paths that changed in a turn and whose content before or after nobody has; ``there``: what is on disk now."""
    found: dict[tuple[str, str], SkippedPath] = {}
    view, marks = ground.vault.memory.view(turn.chat)
    begins = marks.turns[turn.turn].start
    for seen in view.observations:
        if seen.position < begins or not seen.own or seen.turn != turn.turn:
            continue
        last = view.by_path[seen.path][-1] is seen
        for state in (seen.before, seen.after) if last else (seen.before,):
            if not state.has_content and state.state is not State.ABSENT:
                reason = state.reason or state.state.value
                entry = there.entries.get(seen.path) if there is not None and state is seen.after else None
                size = entry.stamp.size if state.size is None and entry is not None else state.size
                found[seen.path, reason] = baseline.skipped(seen.path, reason, size)
    return found


# -- from differences to lines -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Whose:
    """Who is told to have made the changes of one look, and in which log that stands."""

    chat: ChatId
    turn: int
    author: Author
    how: How
    late: bool = False


def _look(
    ground: Ground,
    looker: ChatId,
    *,
    whole: bool = True,
    seen: Mapping[WorkspacePath, FileState] | None = None,
    command: bool = False,
    before_command: bool = False,
    tool_call_id: str = "",
) -> Looked:
    """Compare, write the lines, remember."""
    if ground.vault.damage(looker):
        raise LogDamaged(looker, ground.vault.damage(looker))
    view = ground.vault.memory.public()
    if whole:
        looked = baseline.compare_whole(ground, view, seen or {}, before_command=before_command)
    else:
        looked = baseline.compare_named(ground, view, seen or {})
    turns = open_turns(ground)
    whose = _whose(ground, looker, turns, command=command)
    if looked.first and turns:
        # What the look before those turns saw is lost: who knows what else changed in them.
        looked = replace(looked, skipped=(*looked.skipped, baseline.skipped(".", baseline.BASELINE_LOST)))
    lines: dict[ChatId, list[Line]] = {}
    looked_for = last_look(ground)
    for one in looked.differences:
        chat, line = line_of(ground, view, one, whose, turns, looker=looker, looked_for=looked_for)
        if line.author == Author.COMMAND and tool_call_id:
            line = msgspec.structs.replace(line, tool_call_id=tool_call_id)
        lines.setdefault(chat, []).append(line)
    own = lines.setdefault(whose.chat, [])
    created = turns[whose.chat].created if whose.chat in turns else frozenset()
    own += [_folder_line(path, here, whose, created) for path, here in looked.folders]
    for turn in turns.values():
        sole = turn.chat == whose.chat and whose.how is How.SCAN
        noted = [one for one in looked.skipped if sole or one.reason == baseline.BASELINE_LOST]
        lines.setdefault(turn.chat, []).extend(_notes(noted, turn))
    for chat, new in lines.items():
        ground.vault.append(chat, new)
    if looked.seen is not None:
        ground.known.save(looked.seen)
    return looked


def _whose(ground: Ground, looker: ChatId, turns: Mapping[ChatId, OpenTurn], *, command: bool = False) -> Whose:
    if len(turns) == 1:
        turn = next(iter(turns.values()))
        author = Author.COMMAND if command and turn.commands and turn.chat == looker else Author.UNKNOWN
        return Whose(turn.chat, turn.turn, author, How.SCAN)
    _, marks = ground.vault.memory.view(looker)
    last = marks.turns.get(marks.last_turn)
    ended = last.end_line if last is not None else None
    late = (
        ended is not None and ended.coverage is not None and any(one.reason == STILL_CHANGING for one in ended.coverage.skipped)
    )
    return Whose(looker, marks.last_turn, Author.UNKNOWN, How.GAP, late)


def whose_capture(ground: Ground, chat: ChatId) -> Whose:
    """Whose a change is that a capture of ``chat`` comes upon: found inside its turn, if it has one."""
    own = open_turn(ground, chat)
    return Whose(chat, own.turn, Author.UNKNOWN, How.SCAN) if own is not None else _whose(ground, chat, open_turns(ground))


def kept(ground: Ground, state: FileState) -> FileState:
    """A state that a line of ours is going to name: its content comes under our own care, if it is there, by now perhaps."""
    late = state.state is State.NOT_CAPTURED and state.mode is not None and state.sha is not None  # with a mode: no link
    if late and state.sha is not None and ground.vault.blobs.has(state.sha):
        state = FileState(State.PRESENT, state.sha, state.mode, size=state.size)
    if state.has_content and state.sha is not None:
        with suppress(BlobNotFound, BlobCorrupt):
            ground.vault.blobs.keep_own(state.sha)
    return state


def line_of(
    ground: Ground,
    view: View,
    one: Difference,
    whose: Whose,
    turns: Mapping[ChatId, OpenTurn],
    *,
    looker: ChatId,
    looked_for: int,
) -> tuple[ChatId, Line]:
    """The line of one difference, and whose log it goes to. ``view``: the vault's own; ``looked_for``: see `last_look`."""
    after = captured(ground, one.path, one.after)
    last = one.last
    said = announcement(view, last, turns, looked_for) if last is not None else None
    if last is not None and said is not None:
        if last is said and (agree(last.before, one.after) or not is_known(last.after)):
            # It was not done, so far; or it was, and here is what nobody knew.
            done = not agree(last.before, one.after)
            line = settled(ground, said.chat, one.path, after, turn=said.line.turn, done=done)
            return said.chat, of_call(line, said)
        if last is not said and (agree(said.after, one.after) or not is_known(said.after)):
            # Seen not to be done before, and now it is.
            before = kept(ground, one.before)
            line = log.observed(one.path, before, after, author=Author.AGENT, how=How.SCAN, turn=said.line.turn)
            return said.chat, of_call(line, said)
    elif last is not None and not is_known(last.after):
        turn = whose.turn if whose.chat == looker else 0
        return looker, log.observed(one.path, after, after, author=Author.UNKNOWN, how=How.SETTLE, turn=turn)
    line = log.observed(one.path, kept(ground, one.before), after, author=whose.author, how=whose.how, turn=whose.turn)
    return whose.chat, msgspec.structs.replace(line, renamed_from=log.old_name(one.renamed_from), late=whose.late)


def of_call(line: Line, said: Observation) -> Line:
    """The line of what became of an announced write names the call that announced it."""
    return msgspec.structs.replace(line, tool_call_id=said.line.tool_call_id) if said.line.tool_call_id else line


def settled(ground: Ground, chat: ChatId, path: WorkspacePath, there: FileState, *, turn: int, done: bool) -> Line:
    """The line that closes a write which ``chat`` announced last. A content that it did not write stays whose it was: else a
    restore would take what a person wrote for the agent's."""
    owner = other = ""
    if not done:
        found = ground.vault.memory.view(chat)[0].by_path.get(path, ())
        said = (seen.position for seen in reversed(found) if seen.line.type == "snapshot" and seen.chat == chat)
        word = ownership.owner_before(found, chat, next(said, 0))
        owner, other = ownership.owner_keys("" if word == Author.AGENT else word)
    return log.observed(path, there, there, author=Author.AGENT, how=How.SETTLE, turn=turn, owner=owner, other_chat=other)


def announcement(view: View, last: Observation, turns: Mapping[ChatId, OpenTurn], looked_for: int) -> Observation | None:
    """The announced write of a turn that still runs, of which nothing was seen on disk yet: the path's last line, or the one
    before it where a look found that it was not done so far. Not one that went through us: that is done, or was closed. Not one
    that waited for a person, which is announced anew when it is allowed, and not one whose call is over."""
    turn = turns.get(last.chat)
    if turn is None:
        return None
    if is_announced(last, turn):
        return last if last.line.seq > looked_for else None
    if last.line.reason == WAITS:
        return None
    found = view.by_path[last.path][:-1]
    earlier = next((seen for seen in reversed(found) if not seen.computed), None)
    if last.how is not How.SETTLE or earlier is None or earlier.chat != last.chat or not is_announced(earlier, turn):
        return None
    return earlier if agree(earlier.before, last.after) else None


def is_announced(seen: Observation, turn: OpenTurn) -> bool:
    """Whether an observation is an announced write of a turn, of which nothing has been found out yet."""
    line = seen.line
    return not seen.computed and line.type == "snapshot" and line.seq > 0 and line.turn == turn.turn and not line.through


def _folder_line(path: WorkspacePath, here: bool, whose: Whose, created: frozenset[WorkspacePath]) -> Line:
    """A folder that came or went. One that holds a file which the agent said it makes was made by the agent."""
    announced = here and whose.how is How.SCAN and any(file.startswith(f"{path}/") for file in created)
    author = Author.AGENT if announced else whose.author
    return folder_line(path, State.FOLDER if here else State.ABSENT, turn=whose.turn, author=author, how=whose.how)


def _notes(noted: Sequence[SkippedPath], turn: OpenTurn) -> list[Line]:
    """What was seen to change inside a turn and is not kept, once a turn."""
    return [
        Line(type="note", path=one.path, reason=one.reason, size=one.size, turn=turn.turn)
        for one in noted
        if (one.path, one.reason) not in turn.notes
    ]
