"""The vault's one history of the disk, and what one chat may see of it (storage.md 4). Pure; any thread.

A *view* is the history as one chat sees it: the lines in order, the observations in them, and the changes nobody recorded,
computed where two observations do not meet. The content of a path at a position is the ``before`` of the first observation
there or later, else the ``after`` of the last. Nothing else is ever inferred. Folders (``dir`` lines) follow the same rule,
apart from the files: one path may hold a file at one time and a folder at another.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.checkpoint.order import Placed, merged
from vibekit_desktop.core.types.checkpoints import ABSENT, UNKNOWN, Author, FileState, How, State
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

FOLDER = FileState(State.FOLDER)


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
    content belongs to. ``chat``: the log it stands in. ``folder``: of a folder that came or went; ``before`` is the opposite.
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
    folder: bool = False

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
        """Those of files."""
        self.by_path: dict[WorkspacePath, list[Observation]] = {}
        self.folders: dict[WorkspacePath, list[Observation]] = {}
        """The observations of folders, by path."""
        self._fold(lines)

    def _fold(self, lines: Sequence[tuple[Placed, bool, bool]]) -> None:
        gaps = _gaps(lines)
        position = 0
        for index, (placed, own, private) in enumerate(lines):
            for gap in gaps.get(index, ()):
                position += 1
                self._add(
                    Observation(
                        position=position,
                        path=gap.path,
                        before=gap.before,
                        after=gap.after,
                        author=Author.UNKNOWN,
                        how=gap.how,
                        chat=placed.chat,
                        own=own,
                        line=gap.shown_by,
                        computed=True,
                        private=private,
                        folder=gap.folder,
                    )
                )
            position += 1
            if own:
                self.own.append((position, placed))
            line = placed.line
            states = _states(line)
            if states is not None:
                self._add(
                    Observation(
                        position=position,
                        path=log.path_of(line),
                        before=states[0],
                        after=states[1],
                        author=log.author_of(line),
                        how=log.how_of(line),
                        chat=placed.chat,
                        own=own,
                        line=line,
                        private=private,
                        folder=line.type == "dir",
                    )
                )
        self.end = position + 1
        """The position after everything."""

    def _add(self, seen: Observation) -> None:
        if seen.folder:
            self.folders.setdefault(seen.path, []).append(seen)
            return
        self.observations.append(seen)
        self.by_path.setdefault(seen.path, []).append(seen)

    def from_position(self, path: WorkspacePath, position: int) -> list[Observation]:
        """The observations of a file at or after a position."""
        return since(self.by_path.get(path, []), position)

    def last(self, path: WorkspacePath) -> Observation | None:
        """The last observation of a file."""
        found = self.by_path.get(path)
        return found[-1] if found else None

    def last_known(self, path: WorkspacePath) -> FileState:
        """The last known state of a file; unknown for one that no line names."""
        last = self.last(path)
        return UNKNOWN if last is None else last.after

    def content_at(self, path: WorkspacePath, position: int) -> FileState:
        """The state of a file at a position. The only rule."""
        return _at(self.by_path.get(path, []), position)

    def folder_at(self, path: WorkspacePath, position: int) -> FileState:
        """Whether a folder was there at a position, by the same rule; unknown for one that no ``dir`` line names."""
        return _at(self.folders.get(path, []), position)


def since(found: list[Observation], position: int) -> list[Observation]:
    """Those at or after a position."""
    return found[bisect_left(found, position, key=lambda seen: seen.position) :]


def _at(found: list[Observation], position: int) -> FileState:
    later = since(found, position)
    if later:
        return later[0].before
    return found[-1].after if found else UNKNOWN


def _states(line: Line) -> tuple[FileState, FileState] | None:
    """Before and after of a line that observes a file or a folder."""
    if log.observes(line):
        return log.state_before(line), log.state_after(line)
    if line.type != "dir" or line.state not in (State.FOLDER, State.ABSENT):
        return None
    return (ABSENT, FOLDER) if line.state == State.FOLDER else (FOLDER, ABSENT)


@dataclass(frozen=True, slots=True)
class _Gap:
    """A change that nobody recorded, and the line that shows it."""

    path: WorkspacePath
    before: FileState
    after: FileState
    how: How
    shown_by: Line
    folder: bool


class _Begins:
    """Where the turns and entries of each chat begin. An entry begins with the ``dir`` lines just before its plan: of folders
    made for it."""

    def __init__(self) -> None:
        self.turns: dict[tuple[ChatId, int], int] = {}
        self.entries: dict[tuple[ChatId, int], int] = {}
        self._making: dict[ChatId, tuple[int, int]] = {}

    def take(self, chat: ChatId, line: Line, index: int) -> None:
        """The next line of a chat."""
        making = self._making.pop(chat, None)
        first = making[1] if making is not None and making[0] == line.entry else index
        if line.type == "turn_start":
            self.turns[chat, line.turn] = index
        elif line.type == "restore_plan":
            self.entries[chat, line.entry] = first
        elif line.type == "dir" and line.entry and (chat, line.entry) not in self.entries:
            self._making[chat] = line.entry, first

    def of(self, chat: ChatId, line: Line) -> int | None:
        """Where the turn or the entry of a line began."""
        if not line.entry:
            return self.turns.get((chat, line.turn))
        making = self._making.get(chat)
        return making[1] if making is not None else self.entries.get((chat, line.entry))


def _gaps(lines: Sequence[tuple[Placed, bool, bool]]) -> dict[int, list[_Gap]]:
    """The changes nobody recorded, by the index of the line they come just before."""
    gaps: dict[int, list[_Gap]] = {}
    last: dict[tuple[bool, WorkspacePath], tuple[int, FileState]] = {}
    begins = _Begins()
    for index, (placed, _, _) in enumerate(lines):
        line = placed.line
        begins.take(placed.chat, line, index)
        states = _states(line)
        if states is None:
            continue
        path, folder, before = log.path_of(line), line.type == "dir", states[0]
        previous = last.get((folder, path))
        if previous is not None and is_known(previous[1]) and is_known(before) and not agree(previous[1], before):
            at, how = index, How.GAP
            begin = begins.of(placed.chat, line)
            between = log.how_of(line) in (How.GAP, How.SETTLE) and not line.entry
            if log.how_of(line) is How.SETTLE and log.author_of(line) is Author.AGENT:
                at = previous[0] + 1  # what was announced was not done: it never was there, not even for a moment
            elif begin is not None and not between:
                if begin > previous[0]:
                    at = begin
                elif not line.entry:
                    how = How.SCAN
            gaps.setdefault(at, []).append(_Gap(path, previous[1], before, how, line, folder))
        last[folder, path] = (index, states[1])
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

    def spans(self) -> dict[ChatId, tuple[int, int]]:
        """Where the first and the last line of each log stand among all lines of the vault."""
        found: dict[ChatId, tuple[int, int]] = {}
        for index, placed in enumerate(self._merged):
            found[placed.chat] = found.get(placed.chat, (index, index))[0], index
        return found

    def public(self) -> View:
        """The history of the disk itself: every line that is not private to a chat, none of them anybody's own."""
        lines = [(placed, False, False) for placed in self._merged if placed.line.seq or self._imports[placed.chat] is None]
        return View(ChatId(""), lines)


def _from(start: Line | None, line: Line) -> bool:
    """Whether a public line is from after the import of a detached chat."""
    if start is None:
        return True
    return line.seq > start.import_seq if line.seq else line.ts > start.imported_at
