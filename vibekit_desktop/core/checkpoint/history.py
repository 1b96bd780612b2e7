"""The vault's one history of the disk, and what one chat may see of it (storage.md 4). Pure; any thread.

A *view* is the history as one chat sees it: the lines in order, the observations in them, and the changes nobody recorded,
computed where two observations do not meet. The content of a path at a position is the ``before`` of the first observation
there or later, else the ``after`` of the last. Nothing else is ever inferred.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.checkpoint.order import Placed, merged
from vibekit_desktop.core.types.checkpoints import UNKNOWN, Author, FileState, How, State
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


def is_known(state: FileState) -> bool:
    """Whether the state says what was there, if only by its hash."""
    return state.sha is not None or state.state in (State.ABSENT, State.FOLDER)


def agree(one: FileState, other: FileState) -> bool:
    """Whether two known states are the same file: kind and bytes; the mode only where both recorded one."""
    if not (is_known(one) and is_known(other)) or one.sha != other.sha:
        return False
    if one.sha is None:
        return one.state is other.state
    if (one.state is State.LINK) is not (other.state is State.LINK):
        return False
    return one.mode is None or other.mode is None or one.mode == other.mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One change of one path. ``computed``: nobody recorded it; the line after it in the history shows that it happened.

    ``own``: it counts as this chat's. ``private``: no other chat sees it. ``owner``: with a line of an undo or redo, who the
    content belongs to. ``chat``: the log it stands in.
    """

    position: int
    path: WorkspacePath
    before: FileState
    after: FileState
    author: Author
    how: How
    chat: ChatId
    own: bool
    line: Line
    computed: bool = False
    private: bool = False

    @property
    def turn(self) -> int:
        """The turn it happened in, 0 for one between turns or of an entry."""
        return 0 if self.computed or self.how is How.GAP or self.line.entry else self.line.turn


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a chat's lineage: the lines of one log up to a number; None for all of them."""

    chat: ChatId
    upto: int | None

    def holds(self, number: int) -> bool:
        """Whether a line of that number belongs to it."""
        return self.upto is None or number <= self.upto


def _cut(found: LogContents, line: Line) -> int:
    """The number of the last line of the parent's log that belongs to a branch."""
    if line.cut_lines >= 0:
        return line.cut_lines
    numbers = [number for number, of in zip(found.numbers, found.lines, strict=True) if 0 < of.seq <= line.cut_seq]
    return max(numbers, default=0)


def lineage(chat: ChatId, logs: Mapping[ChatId, LogContents]) -> tuple[Segment, ...]:
    """A chat's own log and, for a branch, its ancestors' up to the cuts; oldest first."""
    segments = [Segment(chat, None)]
    seen = {chat}
    while True:
        found = logs.get(segments[0].chat)
        first = found.lines[0] if found and found.lines else None
        if first is None or first.type != "branch_start" or first.parent in seen or ChatId(first.parent) not in logs:
            return tuple(segments)
        parent = ChatId(first.parent)
        seen.add(parent)
        segments.insert(0, Segment(parent, _cut(logs[parent], first)))


class View:
    """The history as one chat sees it. Invariant: positions grow along it; every observation has its own."""

    def __init__(self, chat: ChatId, lines: Sequence[tuple[Placed, bool, bool]]) -> None:
        """``lines``: each with whether it is this chat's and whether it is private to it."""
        self.chat = chat
        self.own: list[tuple[int, Placed]] = []
        """This chat's lines with their positions."""
        self.observations: list[Observation] = []
        self.by_path: dict[WorkspacePath, list[Observation]] = {}
        self._fold(lines)
        self._positions = {path: [seen.position for seen in found] for path, found in self.by_path.items()}

    def _fold(self, lines: Sequence[tuple[Placed, bool, bool]]) -> None:
        gaps = _gaps(lines)
        position = 0
        for index, (placed, own, private) in enumerate(lines):
            for path, before, after, how, shown_by in gaps.get(index, ()):
                position += 1
                self._add(
                    Observation(
                        position=position,
                        path=path,
                        before=before,
                        after=after,
                        author=Author.UNKNOWN,
                        how=how,
                        chat=placed.chat,
                        own=own,
                        line=shown_by,
                        computed=True,
                        private=private,
                    )
                )
            position += 1
            if own:
                self.own.append((position, placed))
            line = placed.line
            if log.observes(line):
                self._add(
                    Observation(
                        position=position,
                        path=log.path_of(line),
                        before=log.state_before(line),
                        after=log.state_after(line),
                        author=log.author_of(line),
                        how=log.how_of(line),
                        chat=placed.chat,
                        own=own,
                        line=line,
                        private=private,
                    )
                )
        self.end = position + 1
        """The position after everything."""

    def _add(self, seen: Observation) -> None:
        self.observations.append(seen)
        self.by_path.setdefault(seen.path, []).append(seen)

    def from_position(self, path: WorkspacePath, position: int) -> list[Observation]:
        """The observations of a path at or after a position."""
        found = self.by_path.get(path, [])
        return found[bisect_left(self._positions.get(path, []), position) :]

    def last(self, path: WorkspacePath) -> Observation | None:
        """The last observation of a path."""
        found = self.by_path.get(path)
        return found[-1] if found else None

    def last_known(self, path: WorkspacePath) -> FileState:
        """The last known state of a path; unknown for one that no line names."""
        last = self.last(path)
        return UNKNOWN if last is None else last.after

    def content_at(self, path: WorkspacePath, position: int) -> FileState:
        """The state of a path at a position. The only rule."""
        later = self.from_position(path, position)
        return later[0].before if later else self.last_known(path)


_Gap = tuple[WorkspacePath, FileState, FileState, How, Line]


def _gaps(lines: Sequence[tuple[Placed, bool, bool]]) -> dict[int, list[_Gap]]:
    """The changes nobody recorded, by the index of the line they come just before."""
    gaps: dict[int, list[_Gap]] = {}
    last: dict[WorkspacePath, tuple[int, FileState]] = {}
    turns: dict[tuple[ChatId, int], int] = {}
    plans: dict[tuple[ChatId, int], int] = {}
    for index, (placed, _, _) in enumerate(lines):
        line = placed.line
        if line.type == "turn_start":
            turns[placed.chat, line.turn] = index
        elif line.type == "restore_plan":
            plans[placed.chat, line.entry] = index
        if not log.observes(line):
            continue
        path, before = log.path_of(line), log.state_before(line)
        previous = last.get(path)
        if previous is not None and is_known(previous[1]) and is_known(before) and not agree(previous[1], before):
            at, how = index, How.GAP
            begins = plans.get((placed.chat, line.entry)) if line.entry else turns.get((placed.chat, line.turn))
            between = log.how_of(line) in (How.GAP, How.SETTLE) and not line.entry
            if begins is not None and not between:
                if begins > previous[0]:
                    at = begins
                elif not line.entry:
                    how = How.SCAN
            gaps.setdefault(at, []).append((path, previous[1], before, how, line))
        last[path] = (index, log.state_after(line))
    return gaps


class History:
    """All logs of a vault at one moment, in order; makes the views."""

    def __init__(self, logs: Mapping[ChatId, LogContents]) -> None:
        self._logs = logs
        self._merged = merged(logs)
        self._lineages = {chat: lineage(chat, logs) for chat in logs}
        self._imports = {chat: self._detached(chat) for chat in logs}

    def lineage(self, chat: ChatId) -> tuple[Segment, ...]:
        """See `lineage`."""
        return self._lineages.get(chat, (Segment(chat, None),))

    def _detached(self, chat: ChatId) -> Line | None:
        """The ``import_start`` of a chat that was recorded in another folder, or that branched from such a one."""
        for segment in self.lineage(chat):
            found = self._logs.get(segment.chat)
            first = found.lines[0] if found and found.lines else None
            if first is not None and first.type == "import_start" and first.detached:
                return first
        return None

    def view(self, chat: ChatId) -> View:
        """The history as ``chat`` sees it."""
        segments = {segment.chat: segment for segment in self.lineage(chat)}
        start = self._imports.get(chat)
        lines: list[tuple[Placed, bool, bool]] = []
        for placed in self._merged:
            segment = segments.get(placed.chat)
            own = segment is not None and segment.holds(placed.number)
            private = not placed.line.seq and self._imports[placed.chat] is not None
            if own or (not private and _from(start, placed.line)):
                lines.append((placed, own, private))
        return View(chat, lines)

    def public(self) -> View:
        """The history of the disk itself: every line that is not private to a chat, none of them anybody's own."""
        lines = [(placed, False, False) for placed in self._merged if placed.line.seq or self._imports[placed.chat] is None]
        return View(ChatId(""), lines)


def _from(start: Line | None, line: Line) -> bool:
    """Whether a public line is from after the import of a detached chat."""
    if start is None:
        return True
    return line.seq > start.import_seq if line.seq else line.ts > start.imported_at
