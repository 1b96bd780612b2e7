"""Look at the disk and write down what changed unrecorded: whose it is, and in whose log (storage.md 4, "A look").

Each difference is one ``observed`` line: in the log of the chat whose turn is open, if exactly one is (how ``scan``), else in
the log of the chat that looks (how ``gap``). Lines first, then what is remembered of the look: a crash between the two finds
the paths named and equal. Blocking; under the vault's lock.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from vibekit_desktop.core.checkpoint import baseline, log
from vibekit_desktop.core.checkpoint.baseline import Difference, Looked
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import agree, is_known
from vibekit_desktop.core.checkpoint.log import CoverageLine, Line, SkippedPath
from vibekit_desktop.core.checkpoint.open_turns import OpenTurn, open_turn, open_turns
from vibekit_desktop.core.types.checkpoints import Author, FileState, How, State
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, EnvironmentFault, LogDamaged
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

STILL_CHANGING = "still-changing"
TOO_LARGE = "too-large"
CANNOT_STORE = "cannot-store"
EVERY_TURN = None
"""A point stands after this look: what was announced and is not there did not happen before it."""


def store_content(ground: Ground, path: WorkspacePath, state: FileState, *, own: bool = True) -> FileState:
    """Put what is at a path into the store; the state that was really stored, which may be newer than ``state``."""
    sha = ground.vault.blobs.put_pieces(ground.folder().pieces(path), own=own or state.state is State.LINK)
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
    if (state.size or 0) > ground.capture_bytes:
        return FileState(State.NOT_CAPTURED, state.sha, state.mode, TOO_LARGE, state.size)
    try:
        return store_content(ground, path, state)
    except EnvironmentFault:
        return FileState(State.NOT_CAPTURED, state.sha, state.mode, CANNOT_STORE, state.size)


def before_entry(ground: Ground, chat: ChatId, seen: Mapping[WorkspacePath, FileState]) -> None:
    """The look before a restore of ``chat``. Over the whole workspace where one such look was ever made in this vault, since
    only then is there a state of the other paths to compare with. ``seen``: what was looked at just now."""
    whole = ground.known.load(ground.folder().identity) is not None
    _look(ground, chat, whole=whole, seen=seen, ending=EVERY_TURN)


def before_turn(ground: Ground, chat: ChatId) -> CoverageLine:
    """The look before a turn of ``chat``; what it could not see."""
    looked = _look(ground, chat, ending=frozenset((chat,)))
    return CoverageLine(complete=looked.whole, skipped=tuple(one for one in looked.skipped if one.reason != baseline.IGNORED))


def around_command(ground: Ground, chat: ChatId) -> None:
    """The look before or after a command of ``chat``: the only one whose changes a command is told to have made. What anybody
    else comes upon while it runs may as well be a person's."""
    _look(ground, chat, command=True)


def at_end(ground: Ground, turn: OpenTurn, unsettled: Sequence[WorkspacePath]) -> CoverageLine:
    """The look at the end of a turn, and what of the whole turn is not in the store."""
    looked = _look(ground, turn.chat, ending=frozenset((turn.chat,)))
    missing = {(one.path, one.reason): one for one in looked.skipped}
    for path, reason in sorted(turn.notes):
        missing.setdefault((path, reason), SkippedPath(path=path, reason=reason))
    for one in turn.coverage.skipped if turn.coverage is not None else ():
        missing.setdefault((one.path, one.reason), one)
    for path in unsettled:
        missing[path, STILL_CHANGING] = baseline.skipped(path, STILL_CHANGING)
    missing.update(_not_in_store(ground, turn))
    complete = looked.whole and turn.coverage is not None and turn.coverage.complete and not missing
    return CoverageLine(complete=complete, skipped=tuple(missing[key] for key in sorted(missing)))


def _not_in_store(ground: Ground, turn: OpenTurn) -> dict[tuple[str, str], SkippedPath]:
    """The paths that changed in a turn and whose content before or after nobody has."""
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
                found[seen.path, reason] = baseline.skipped(seen.path, reason, state.size)
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
    ending: frozenset[ChatId] | None = frozenset(),
    whole: bool = True,
    seen: Mapping[WorkspacePath, FileState] | None = None,
    command: bool = False,
) -> Looked:
    """Compare, write the lines, remember. ``ending``: the chats for whose open turns this look says how announced writes came
    out; None for all."""
    if ground.vault.damage(looker):
        raise LogDamaged(looker, ground.vault.damage(looker))
    view = ground.vault.memory.public()
    looked = (baseline.compare_whole if whole else baseline.compare_named)(ground, view, seen or {})
    turns = open_turns(ground)
    whose = _whose(ground, looker, turns, command=command)
    lines: dict[ChatId, list[Line]] = {}
    for one in looked.differences:
        found = line_of(ground, one, whose, turns, ending=ending, looker=looker)
        if found is not None:
            lines.setdefault(found[0], []).append(found[1])
    own = lines.setdefault(whose.chat, [])
    created = turns[whose.chat].created if whose.chat in turns else frozenset()
    own += [_folder_line(path, here, whose, created) for path, here in looked.folders]
    if whose.how is How.SCAN:
        own += _notes(looked, turns[whose.chat])
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
    """A state that a line of ours is going to name: its content comes under our own care, if it is there."""
    if state.has_content and state.sha is not None:
        with suppress(BlobNotFound, BlobCorrupt):
            ground.vault.blobs.keep_own(state.sha)
    return state


def line_of(
    ground: Ground,
    one: Difference,
    whose: Whose,
    turns: Mapping[ChatId, OpenTurn],
    *,
    looker: ChatId,
    ending: frozenset[ChatId] | None = frozenset(),
) -> tuple[ChatId, Line] | None:
    """The line of one difference, and whose log it goes to; None while an announced write may still be under way."""
    last = one.last
    if last is not None:
        turn = turns.get(last.chat)
        running = turn is not None and last.line.type == "snapshot" and last.line.seq > 0 and last.line.turn == turn.turn
        undone = agree(last.before, one.after)
        if running and undone and ending is not EVERY_TURN and last.chat not in ending:
            return None
        if not is_known(last.after) or (running and undone):
            after = captured(ground, one.path, one.after)
            chat = last.chat if running else looker
            number = last.line.turn if running else whose.turn if whose.chat == looker else 0
            author = Author.AGENT if running else Author.UNKNOWN
            return chat, log.observed(one.path, after, after, author=author, how=How.SETTLE, turn=number)
    line = log.observed(
        one.path,
        kept(ground, one.before),
        captured(ground, one.path, one.after),
        author=whose.author,
        how=whose.how,
        turn=whose.turn,
    )
    return whose.chat, msgspec.structs.replace(line, renamed_from=log.old_name(one.renamed_from), late=whose.late)


def _folder_line(path: WorkspacePath, here: bool, whose: Whose, created: frozenset[WorkspacePath]) -> Line:
    """A folder that came or went. One that holds a file which the agent said it makes was made by the agent."""
    text, exact = log.path_keys(path)
    announced = here and whose.how is How.SCAN and any(file.startswith(f"{path}/") for file in created)
    return Line(
        type="dir",
        path=text,
        path_b64=exact,
        state="folder" if here else "absent",
        author=(Author.AGENT if announced else whose.author).value,
        how=whose.how.value,
        turn=whose.turn,
    )


def _notes(looked: Looked, turn: OpenTurn) -> list[Line]:
    """What was seen to change inside a turn and is not kept, once a turn."""
    return [
        Line(type="note", path=one.path, reason=one.reason, size=one.size, turn=turn.turn)
        for one in looked.skipped
        if (one.path, one.reason) not in turn.notes
    ]
