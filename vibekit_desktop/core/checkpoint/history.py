"""The vault's one history of the disk, and what one chat may see of it (docs/storage-format.md 3). Pure; any thread.

A *view* is the history as one chat sees it: the lines in order, the observations in them, and the changes nobody recorded,
computed where two observations do not meet. The content of a path at a position is the ``before`` of the first observation
there or later, else the ``after`` of the last. Nothing else is ever inferred. Folders (``dir`` lines) follow the same rule,
apart from the files: one path may hold a file at one time and a folder at another.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.checkpoint.order import Merged, Placed, merged
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
        self._finder = _GapFinder()
        self._count = 0
        self._position = 0
        self._owned: set[tuple[bool, WorkspacePath]] | None = None
        """The lists that are not shared with a shorter view; None: all."""
        self._fold(lines)

    def _fold(self, lines: Sequence[tuple[Placed, bool, bool]]) -> None:
        gaps: dict[int, list[_Gap]] = {}
        for index, (placed, _, _) in enumerate(lines, self._count):
            found = self._finder.take(index, placed)
            if found is not None:
                gaps.setdefault(found[0], []).append(found[1])
        self._place(lines, gaps)

    def extended(self, lines: Sequence[tuple[Placed, bool, bool]]) -> "View | None":
        """This view and some lines that come after everything, as a new one; None where one of them shows a change that stands
        earlier, so that everything has to be folded anew."""
        longer = View(self.chat, ())
        longer._finder = self._finder.copy()
        gaps: dict[int, list[_Gap]] = {}
        for index, (placed, _, _) in enumerate(lines, self._count):
            found = longer._finder.take(index, placed)
            if found is not None and found[0] < self._count:
                return None
            if found is not None:
                gaps.setdefault(found[0], []).append(found[1])
        longer.own, longer.observations = list(self.own), list(self.observations)
        longer.by_path, longer.folders = dict(self.by_path), dict(self.folders)
        longer._owned = set()
        longer._count, longer._position = self._count, self._position
        longer._place(lines, gaps)
        return longer

    def _place(self, lines: Sequence[tuple[Placed, bool, bool]], gaps: "Mapping[int, list[_Gap]]") -> None:
        position = self._position
        for index, (placed, own, private) in enumerate(lines, self._count):
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
        self._count += len(lines)
        self._position = position
        self.end = position + 1
        """The position after everything."""

    def _add(self, seen: Observation) -> None:
        of = self.folders if seen.folder else self.by_path
        if self._owned is not None and (seen.folder, seen.path) not in self._owned:
            self._owned.add((seen.folder, seen.path))
            of[seen.path] = list(of.get(seen.path, ()))  # the shorter view keeps its own
        of.setdefault(seen.path, []).append(seen)
        if not seen.folder:
            self.observations.append(seen)

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

    def copy(self) -> "_Begins":
        """One that goes on from here by itself."""
        twin = _Begins()
        twin.turns, twin.entries, twin._making = dict(self.turns), dict(self.entries), dict(self._making)
        return twin

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


class _GapFinder:
    """Finds the changes nobody recorded, line by line."""

    def __init__(self) -> None:
        self._last: dict[tuple[bool, WorkspacePath], tuple[int, FileState]] = {}
        self._begins = _Begins()

    def copy(self) -> "_GapFinder":
        """One that goes on from here by itself."""
        twin = _GapFinder()
        twin._last = dict(self._last)
        twin._begins = self._begins.copy()
        return twin

    def take(self, index: int, placed: Placed) -> tuple[int, _Gap] | None:
        """The next line: the change that it shows, and the index of the line which that comes just before."""
        line = placed.line
        self._begins.take(placed.chat, line, index)
        states = _states(line)
        if states is None:
            return None
        path, folder, before = log.path_of(line), line.type == "dir", states[0]
        previous = self._last.get((folder, path))
        self._last[folder, path] = (index, states[1])
        if previous is None or not is_known(previous[1]) or not is_known(before) or agree(previous[1], before):
            return None
        at, how = index, How.GAP
        begin = self._begins.of(placed.chat, line)
        between = log.how_of(line) in (How.GAP, How.SETTLE) and not line.entry
        if log.how_of(line) is How.SETTLE and log.author_of(line) is Author.AGENT:
            at = previous[0] + 1  # what was announced was not done: it never was there, not even for a moment
        elif begin is not None and not between:
            if begin > previous[0]:
                at = begin
            elif not line.entry:
                how = How.SCAN
        return at, _Gap(path, previous[1], before, how, line, folder)


class History:
    """All logs of a vault at one moment, in order; makes the views."""

    def __init__(self, logs: Mapping[ChatId, LogContents]) -> None:
        self._logs = logs
        self._merged: Merged = merged(logs)
        self._lineages = {chat: lineage(chat, logs) for chat in logs}
        self._imports = {chat: self._detached(chat) for chat in logs}

    def extended(self, logs: Mapping[ChatId, LogContents]) -> "tuple[History, list[Placed]] | None":
        """The history of logs that have only grown since, by numbered lines that come after everything; and these lines. None
        where something else has changed."""
        if self._logs.keys() - logs.keys():
            return None
        added: list[Placed] = []
        for chat, found in logs.items():
            old = self._logs.get(chat)
            if old is found:
                continue
            count = len(old.lines) if old is not None else 0
            if old is not None and (len(found.lines) < count or (count and found.lines[count - 1] is not old.lines[count - 1])):
                return None
            added += (
                Placed(chat, number, line) for number, line in zip(found.numbers[count:], found.lines[count:], strict=True)
            )
        added.sort(key=lambda placed: placed.line.seq)
        longer = History({})
        order = self._merged
        lines = list(order.lines)
        for placed in added:
            key = order.then(placed.line, placed.chat)
            if key is None or placed.line.type == "import_start":
                return None
            lines.append(placed)
            order = Merged(lines, key, key)
        longer._logs, longer._merged = logs, order if added else self._merged
        longer._lineages, longer._imports = dict(self._lineages), dict(self._imports)
        for chat in logs.keys() - self._logs.keys():
            longer._lineages[chat] = lineage(chat, logs)
            longer._imports[chat] = longer._detached(chat)
        return longer, added

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
        return View(chat, self.seen_by(chat, self._merged.lines))

    def seen_by(self, chat: ChatId, lines: Iterable[Placed]) -> list[tuple[Placed, bool, bool]]:
        """Those of some lines that ``chat`` sees, each with whether it is its own and whether it is private to it."""
        segments = {segment.chat: segment for segment in self.lineage(chat)}
        start = self._imports.get(chat)
        seen: list[tuple[Placed, bool, bool]] = []
        for placed in lines:
            segment = segments.get(placed.chat)
            own = segment is not None and segment.holds(placed.number)
            private = not placed.line.seq and self._imports[placed.chat] is not None
            if own or (not private and _from(start, placed.line)):
                seen.append((placed, own, private))
        return seen

    def spans(self) -> dict[ChatId, tuple[int, int]]:
        """Where the first and the last line of each log stand among all lines of the vault."""
        found: dict[ChatId, tuple[int, int]] = {}
        for index, placed in enumerate(self._merged.lines):
            found[placed.chat] = found.get(placed.chat, (index, index))[0], index
        return found

    def public(self) -> View:
        """The history of the disk itself: every line that is not private to a chat, none of them anybody's own."""
        return View(ChatId(""), self.seen_by_all(self._merged.lines))

    def seen_by_all(self, lines: Iterable[Placed]) -> list[tuple[Placed, bool, bool]]:
        """Those of some lines that are not private to a chat."""
        return [(placed, False, False) for placed in lines if placed.line.seq or self._imports[placed.chat] is None]


def _from(start: Line | None, line: Line) -> bool:
    """Whether a public line is from after the import of a detached chat."""
    if start is None:
        return True
    return line.seq > start.import_seq if line.seq else line.ts > start.imported_at
