"""The turns, tags and entries of one chat, and where a point stands among them (docs/storage-format.md 3). Pure; any thread."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.history import View
from vibekit_desktop.core.checkpoint.log import NO_FILE, Line, PlanBody
from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtEntry,
    AtLine,
    AtTag,
    BeforeTurn,
    How,
    Now,
    Point,
    RestoreKind,
    Start,
    State,
    point_text,
)
from vibekit_desktop.core.types.errors import PointNotFound
from vibekit_desktop.core.types.ids import WorkspacePath


@dataclass(slots=True)
class Turn:
    """One turn: its first line, where it begins, and where it ended."""

    number: int
    start: int
    line: Line
    end_line: Line | None = None
    end: int = 0
    last_seen: int = 0


@dataclass(slots=True)
class Entry:
    """One carried-out plan. ``own``: it stands in the chat's own log, not in the part it shares with its parent. ``position``:
    its plan's, or that of the first folder that was made for it just before."""

    number: int
    position: int
    line: Line
    body: PlanBody
    own: bool
    finished: Line | None = None
    lines: list[Line] = field(default_factory=list)
    """Its ``observed`` lines."""
    folders: list[Line] = field(default_factory=list)
    """Its ``dir`` lines."""

    @property
    def folders_changed(self) -> dict[WorkspacePath, bool]:
        """The folders that came (True) or went with it; not those that did both."""
        first = {log.path_of(line): line.state == State.FOLDER for line in reversed(self.folders)}
        last = {log.path_of(line): line.state == State.FOLDER for line in self.folders}
        return {path: came for path, came in last.items() if first[path] is came}

    @property
    def branch(self) -> str:
        """The chat that keeps what was cut; empty if nothing was."""
        return "" if self._left_the_chat else self.body.branch

    @property
    def did_something(self) -> bool:
        """Whether a file or the transcript changed; an entry that could do nothing neither takes back nor can be taken back."""
        back = self.body.back_from and not self._left_the_chat
        return bool(self.lines or self._did_folders or self.branch or back)

    @property
    def _did_folders(self) -> bool:
        """Whether a folder that the plan speaks of came or went; one made only to stage a file in is none."""
        states = {log.path_of(file): (file.expected_state, file.wanted_state) for file in self.body.files}
        return any(State.FOLDER in states.get(path, ()) for path in self.folders_changed)

    @property
    def _left_the_chat(self) -> bool:
        return self.finished is not None and self.finished.reason == NO_FILE

    @property
    def kind(self) -> RestoreKind:
        """What it was asked as; a word that we do not know is shown as a restore."""
        try:
            return RestoreKind(self.body.kind)
        except ValueError:
            return RestoreKind.RESTORE


@dataclass(frozen=True, slots=True)
class Standing:
    """Which entries of a chat are in force, each with the branch that keeps what it cut; and which undos can be taken back."""

    in_force: dict[int, str]
    redoable: tuple[int, ...]

    @property
    def can_undo(self) -> int:
        """The entry that undo takes back, or 0."""
        return max(self.in_force, default=0)

    @property
    def can_redo(self) -> int:
        """The undo that redo takes back, or 0."""
        return self.redoable[-1] if self.redoable else 0


class Marks:
    """The turns, tags and entries of one view's chat, in order."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.turns: dict[int, Turn] = {}
        self.tags: dict[str, tuple[int, int]] = {}
        """Tag to position and turn."""
        self.entries: dict[int, Entry] = {}
        self._current: Turn | None = None
        self._making: list[tuple[int, Line]] = []
        """The ``dir`` lines of the entry whose plan comes next."""
        for position, placed in view.own:
            self._take(position, placed.line, own=placed.chat == view.chat)
        for turn in self.turns.values():
            turn.end = turn.end or turn.last_seen or turn.start

    def _take(self, position: int, line: Line, *, own: bool) -> None:
        if line.type == "dir" and line.entry and line.entry not in self.entries:
            self._making = [*(one for one in self._making if one[1].entry == line.entry), (position, line)]
            return
        making = [one for one in self._making if one[1].entry == line.entry]
        self._making = []
        if line.type == "turn_start":
            self._current = self.turns.setdefault(line.turn, Turn(line.turn, position, line))
        elif line.type == "turn_end":
            if self._current is not None and line.turn == self._current.number and not self._current.end:
                self._current.end = position
                self._current.end_line = line
        elif line.type == "restore_plan" and line.plan is not None:
            begin = making[0][0] if making else position
            folders = [made for _, made in making]
            self.entries[line.entry] = Entry(line.entry, begin, line, line.plan, own, folders=folders)
        elif line.type == "dir" and line.entry:
            self.entries[line.entry].folders.append(line)
        elif line.type in ("restore_done", "restore_partial"):
            if line.entry in self.entries:
                self.entries[line.entry].finished = line
        elif log.observes(line):
            self._take_observed(position, line)

    def _take_observed(self, position: int, line: Line) -> None:
        if line.entry:
            if line.entry in self.entries:
                self.entries[line.entry].lines.append(line)
            return
        how = log.how_of(line)
        if line.type == "snapshot" and line.turn and line.turn not in self.turns:
            # A log whose turn_start was lost or never written: the turn begins with its first capture.
            self._current = self.turns[line.turn] = Turn(line.turn, position, line)
        if line.turn in self.turns and how in (How.ANNOUNCED, How.SCAN):
            self.turns[line.turn].last_seen = position + 1
        if line.tag:
            self.tags.setdefault(line.tag, (position, line.turn))

    @property
    def last_turn(self) -> int:
        """The number of the newest turn, 0 before the first; never less, whatever a planted line says."""
        return max((0, *self.turns))

    @property
    def last_entry(self) -> int:
        """The number of the newest entry, 0 before the first."""
        return max((0, *self.entries))

    def position(self, point: Point) -> int:
        """Where a point stands; `PointNotFound` if this chat has no such turn, tag or entry."""
        match point:
            case Start():
                return self._start()
            case Now():
                return self.view.end
            case BeforeTurn(turn) if turn in self.turns:
                return self.turns[turn].start
            case AfterTurn(turn) if turn in self.turns:
                return self.turns[turn].end
            case AtTag(tag) if tag in self.tags:
                return self.tags[tag][0]
            case AtEntry(entry) if entry in self.entries:
                return self.entries[entry].position
            case AtLine(number):
                return self._line(number)
            case BeforeTurn() | AfterTurn() | AtTag() | AtEntry():
                raise PointNotFound(self.view.chat, point_text(point))
            case _:
                assert_never(point)

    def _line(self, number: int) -> int:
        """Where a line of the chat's own log stands."""
        for position, placed in self.view.own:
            if placed.chat == self.view.chat and placed.line.seq == number:
                return position
        raise PointNotFound(self.view.chat, point_text(AtLine(number)))

    def _start(self) -> int:
        """Just before the chat's first line, after what its first look found: that was there before the chat."""
        for position, placed in self.view.own:
            if placed.line.entry or not placed.line.how or log.how_of(placed.line) not in (How.GAP, How.SETTLE):
                return position
        return self.view.own[-1][0] + 1 if self.view.own else 0

    def turn_before(self, position: int) -> int:
        """The turn that began last before a position, 0 before the first."""
        return max((0, *(turn.number for turn in self.turns.values() if turn.start < position)))

    def own_lines(self) -> Sequence[Line]:
        """The lines of the chat's own log."""
        return [placed.line for _, placed in self.view.own if placed.chat == self.view.chat]

    def standing(self) -> Standing:
        """Fold the chat's own entries: docs/storage-format.md 4."""
        in_force: dict[int, str] = {}
        redo: list[tuple[int, int]] = []
        for line in self.own_lines():
            if line.type == "turn_start":
                redo.clear()
            entry = self.entries.get(line.entry) if line.type == "restore_plan" else None
            if entry is None:
                continue
            match entry.kind:
                case RestoreKind.RESTORE | RestoreKind.UNDO_FILE | RestoreKind.UNDO_TURN | RestoreKind.UNDO_HUNK:
                    redo.clear()
                    if entry.did_something:
                        in_force[entry.number] = entry.branch
                case RestoreKind.UNDO | RestoreKind.REDO if not entry.did_something:
                    continue
                case RestoreKind.UNDO:
                    if in_force.pop(entry.body.takes_back, None) is not None:
                        redo.append((entry.number, entry.body.takes_back))
                case RestoreKind.REDO:
                    taken = [pair for pair in redo if pair[0] == entry.body.takes_back]
                    if taken:
                        redo.remove(taken[0])
                        in_force[taken[0][1]] = entry.branch
                case _:
                    assert_never(entry.kind)
        return Standing(in_force, tuple(number for number, _ in redo))


def unfinished_plans(lines: Sequence[Line]) -> list[Line]:
    """The ``restore_plan`` lines of one log that nothing closes."""
    closed = {line.entry for line in lines if line.type in ("restore_done", "restore_partial")}
    return [line for line in lines if line.type == "restore_plan" and line.plan is not None and line.entry not in closed]


def original_restore(lines: Sequence[Line]) -> Line | None:
    """The restore that the original began here without saying that it ended, if there is one."""
    pending: Line | None = None
    for line in lines:
        if line.type == "restore_started":
            pending = line
        elif line.type in ("restore_committed", "restore"):
            pending = None
    return pending
