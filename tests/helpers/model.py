"""The rules of docs/storage-format.md 3 as a small program over plain data: what is written, and what can be read of it.

No product code. The model keeps one list of lines for a whole vault, in the order of the history. It is slow and says each rule
once. It also keeps what the product cannot know: every state that was ever on disk, and the whole disk at each point
(`Model.truth`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

T = TypeVar("T")
LEFT = ("agent", "command", "restore")
EDGES = ("turn_start", "turn_end", "command_start", "command_end", "restore_plan")
"""Lines that stand after a look."""


EVERYBODY = "*"


class St(NamedTuple):
    """The state of a path: ``absent``, ``file`` or ``unknown``. A mode of None was not recorded."""

    kind: str
    data: bytes = b""
    mode: int | None = None


ABSENT = St("absent")
UNKNOWN = St("unknown")


def known(state: St) -> bool:
    return state.kind != "unknown"


def same(one: St, other: St) -> bool:
    """Whether both are known and equal; the mode only where both recorded one."""
    if not (known(one) and known(other)) or one[:2] != other[:2]:
        return False
    return one.mode is None or other.mode is None or one.mode == other.mode


@dataclass(frozen=True)
class Planned:
    """What a ``restore_plan`` says, as far as anything depends on it."""

    kind: str
    takes_back: int = 0
    branch: str = ""
    keep: int = -1
    back_from: str = ""
    last: int = 0
    """The last turn that was cut."""


@dataclass(frozen=True)
class Line:
    """One line of a log. ``computed``: no line at all, but a change that a view computes. ``own``: set by a view."""

    chat: str
    kind: str
    turn: int = 0
    path: str = ""
    before: St = UNKNOWN
    after: St = UNKNOWN
    author: str = ""
    how: str = ""
    tag: str = ""
    entry: int = 0
    owner: str = ""
    plan: Planned | None = None
    parent: str = ""
    seq: int = 0
    cut: int = 0
    computed: bool = False
    own: bool = False
    through: bool = False
    """It went through us: done in the same call."""

    @property
    def observes(self) -> bool:
        return self.kind in ("snapshot", "observed")

    @property
    def between(self) -> bool:
        return self.how in ("gap", "settle") and not self.entry


@dataclass
class Model:
    """One vault, its workspace and its chats."""

    disk: dict[str, St] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    seen: dict[str, St] | None = None
    """What the last look saw at paths that no line names; None before the first, and when it was forgotten."""
    open: dict[str, int] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    """The chats of the commands that run."""
    edge: str = ""
    """The chat whose command ends with the look of now: what others come upon may be anybody's."""
    transcripts: dict[str, list[int]] = field(default_factory=dict)
    retired: set[str] = field(default_factory=set)
    began: dict[str, int] = field(default_factory=dict)
    """When a chat began: the number of lines then; of a branch, when its parent did."""
    count: int = 0
    ever: dict[str, set[St]] = field(default_factory=dict)
    """Every state that was ever on disk."""
    truth: dict[tuple[str, str], dict[str, St]] = field(default_factory=dict)
    """The disk at points that are exact for every path: a look over everything came just before."""
    on_step: Callable[[], None] | None = None
    """Called after each durable step."""
    memo: dict[tuple[object, ...], object] = field(default_factory=dict)
    """What was computed from the present lines; emptied whenever they change."""

    # -- the disk ------------------------------------------------------------------------------------------------

    def at_disk(self, path: str) -> St:
        return self.disk.get(path, ABSENT)

    def put(self, path: str, state: St) -> None:
        """Whoever it is changes the disk."""
        self.ever.setdefault(path, {ABSENT}).add(state)
        if state == ABSENT:
            self.disk.pop(path, None)
        else:
            self.disk[path] = state
        self.step()

    def step(self) -> None:
        if self.on_step is not None:
            self.on_step()

    def add(self, line: Line, *point: str) -> Line:
        """Append a line; ``point``: the names of points that are exact here."""
        self.count += 1
        line = replace(line, seq=self.count)
        for name in point:
            self.truth[line.chat, name] = {path: self.at_disk(path) for path in self.exact()}
        self.began.setdefault(line.chat, line.seq)
        self.lines.append(line)
        self.memo.clear()
        self.step()
        return line

    def drop(self, chat: str) -> None:
        """A log is no longer there."""
        self.lines = [line for line in self.lines if line.chat != chat]
        self.memo.clear()

    # -- who is at work ------------------------------------------------------------------------------------------

    def last_turn(self, chat: str) -> int:
        begun = (line.turn for line in self.own_lines(chat) if line.kind in ("turn_start", "snapshot"))
        return max(begun, default=0)

    def last_entry(self, chat: str) -> int:
        return max((line.entry for line in self.own_lines(chat)), default=0)

    def last_line(self, path: str) -> Line | None:
        return next((line for line in reversed(self.lines) if line.observes and line.path == path), None)

    def named(self) -> set[str]:
        return {line.path for line in self.lines if line.observes}

    def last_known(self, path: str) -> St:
        """The ``after`` of the path's last line, else what the looks saw there."""
        last = self.last_line(path)
        if last is not None:
            return last.after
        return UNKNOWN if self.seen is None else self.seen.get(path, ABSENT)

    # -- looks ---------------------------------------------------------------------------------------------------

    def look(self, looker: str, only: Iterable[str] | None = None, *, ending: str = "", capturing: bool = False) -> None:
        """Compare with the last known state: everything, or some paths. ``ending``: the chat whose announced writes did not
        happen where nothing is to be seen of them, as its turn ends or (`EVERYBODY`) an entry begins."""
        paths = {*self.disk, *(self.seen or ()), *self.named()} if only is None else set(only)
        found: dict[str, list[Line]] = {}
        for path in sorted(paths):
            if self.last_line(path) is not None or self.seen is not None:
                line = self._look_at(looker, path, capturing=capturing, ending=ending)
                if line is not None:
                    found.setdefault(line.chat, []).append(line)
        for chat in sorted(found) if capturing else found:
            for line in found[chat]:
                self.add(line)
        if only is None:
            self.seen = {path: state for path, state in self.disk.items() if path not in self.named()}
            self.step()

    def _look_at(self, looker: str, path: str, *, capturing: bool, ending: str) -> Line | None:
        last, disk, before = self.last_line(path), self.at_disk(path), self.last_known(path)
        if same(before, disk):
            return None
        chat = next(iter(self.open)) if len(self.open) == 1 else ""
        if capturing and looker in self.open:
            chat = looker
        said = self._announcement(path, last) if last is not None else None
        if last is not None and said is not None:
            if last is said and (same(last.before, disk) or not known(before)):
                owner = self._owner_before(said) if same(last.before, disk) else ""
                return Line(said.chat, "observed", said.turn, path, disk, disk, "agent", "settle", owner=owner)
            if last is not said and (same(said.after, disk) or not known(said.after)):
                return Line(said.chat, "observed", said.turn, path, before, disk, "agent", "scan")
        elif last is not None and not known(before):
            turn = self.open.get(looker) or self.last_turn(looker) if chat in ("", looker) else 0
            return Line(looker, "observed", turn, path, disk, disk, "unknown", "settle")
        if chat:
            author = "command" if chat in self.commands and chat == self.edge else "unknown"
            return Line(chat, "observed", self.open[chat], path, before, disk, author, "scan")
        return Line(looker, "observed", self.last_turn(looker), path, before, disk, "unknown", "gap")

    def _announcement(self, path: str, last: Line) -> Line | None:
        """The write that was announced and of which nothing was seen yet, or what a look called not done so far."""
        if self._is_announced(last):
            looked = max((line.seq for line in self.lines if line.kind in EDGES), default=0)
            return last if last.seq > looked else None
        of_path = [line for line in self.lines if line.observes and line.path == path]
        earlier = of_path[-2] if len(of_path) > 1 else None
        if last.how != "settle" or earlier is None or earlier.chat != last.chat or not self._is_announced(earlier):
            return None
        return earlier if same(earlier.before, last.after) else None

    def _owner_before(self, said: Line) -> str:
        """Whose content a path held before a write that was not done; empty for the agent's own."""
        view = [line for line in self.view(said.chat) if line.observes and line.path == said.path]
        at = max(index for index, line in enumerate(view) if line.seq == said.seq and not line.computed)
        earlier = view[at - 1] if at else None
        word = "unknown" if earlier is None or earlier.computed else self.word(earlier, said.chat)
        return "" if word == "agent" else word

    def _is_announced(self, line: Line) -> bool:
        return line.kind == "snapshot" and not line.through and self.open.get(line.chat) == line.turn

    def exact(self) -> set[str]:
        """The paths of which the last look knows what was there."""
        return self.named() if self.seen is None else {*self.disk, *self.named(), *self.seen}

    def forget(self) -> None:
        """What the looks saw is lost: of paths that no line names, nothing earlier is known any more."""
        self.seen = None
        named = self.named()
        for point, states in self.truth.items():
            self.truth[point] = {path: state for path, state in states.items() if path in named}

    # -- turns ---------------------------------------------------------------------------------------------------

    def begin_turn(self, chat: str, *, look: bool = True) -> int:
        if look:
            self.look(chat, ending=chat)
        self.close(chat)
        turn = self.last_turn(chat) + 1
        exact = [f"before:{turn}", *([] if self.has_begun(chat) else ["start"])] if look else []
        self.open[chat] = turn
        self.transcripts.setdefault(chat, []).extend((turn, 0))
        self.add(Line(chat, "turn_start", turn), *exact)
        return turn

    def has_begun(self, chat: str) -> bool:
        return any(line.chat == chat and not line.between for line in self.lines)

    def close(self, chat: str) -> None:
        self.open.pop(chat, None)
        self.commands = [other for other in self.commands if other != chat]

    def begin_command(self, chat: str) -> None:
        self.look(chat)
        self.commands.append(chat)
        self.add(Line(chat, "command_start", self.open[chat]))

    def end_command(self, chat: str) -> None:
        self.edge = chat
        self.look(chat)
        self.edge = ""
        self.commands.remove(chat)
        self.add(Line(chat, "command_end", self.open[chat]))

    def end_turn(self, chat: str, *, look: bool = True) -> None:
        if look:
            self.look(chat, ending=chat)
        turn = self.open[chat]
        self.close(chat)
        self.add(Line(chat, "turn_end", turn), *([f"after:{turn}"] if look else []))

    def capture(self, chat: str, path: str, after: St, *, look: bool = True, through: bool = False) -> bool:
        """An announced change, before it is done; whether it is a conflict with another chat."""
        if look:
            unknown = {other for other in self.named() if not known(self.last_known(other))}
            self.look(chat, {path, *unknown}, capturing=True)
        turn = self.open.get(chat) or self.last_turn(chat)
        disk = self.at_disk(path)
        newest = next((line for line in reversed(self.lines) if line.path == path and line.author in LEFT), None)
        conflict = newest is not None and self.word(newest, chat).startswith("chat:") and not same(newest.after, disk)
        if newest is not None and not known(newest.after):
            conflict = False
        before = sum(line.kind == "snapshot" and line.turn == turn for line in self.own_lines(chat))
        tag = f"{turn}.{before}" if before or not turn else f"{turn}"
        if conflict and look:
            self.add(Line(chat, "conflict_detected", path=path))
        self.add(Line(chat, "snapshot", turn, path, disk, after, "agent", "announced", tag, through=through))
        return conflict

    def write(self, chat: str, path: str, after: St, *, met: bool = False) -> None:
        """An announced change that goes through us. ``met``: the file is not what the writer read, so it is left."""
        if met:
            unknown = {other for other in self.named() if not known(self.last_known(other))}
            self.look(chat, {path, *unknown}, capturing=True)
            self.add(Line(chat, "conflict_detected", path=path))
            return
        self.capture(chat, path, after, through=True)
        self.put(path, after)

    # -- views ---------------------------------------------------------------------------------------------------

    def lineage(self, chat: str) -> dict[str, int]:
        """The logs whose lines count as a chat's own, with the last line that does."""
        return self.once("lineage", chat, self._lineage)

    def once(self, name: str, chat: str, make: Callable[[str], T]) -> T:
        """What was made of the present lines before, or is made now."""
        if (name, chat) not in self.memo:
            self.memo[name, chat] = make(chat)
        return self.memo[name, chat]  # type: ignore[return-value]  # put there by the same name two lines above

    def _lineage(self, chat: str) -> dict[str, int]:
        found: dict[str, int] = {}
        limit = self.count
        while chat and chat not in found:
            found[chat] = limit
            first = next((line for line in self.lines if line.chat == chat and line.kind == "branch_start"), None)
            chat, limit = (first.parent, min(first.cut, limit)) if first is not None else ("", 0)
        return found

    def own_lines(self, chat: str) -> list[Line]:
        mine = self.lineage(chat)
        return [line for line in self.lines if line.seq <= mine.get(line.chat, -1)]

    def view(self, chat: str) -> list[Line]:
        """The history as a chat sees it, with the changes nobody recorded."""
        return self.once("view", chat, self._view)

    def _view(self, chat: str) -> list[Line]:
        mine = self.lineage(chat)
        lines = [replace(line, own=line.seq <= mine.get(line.chat, -1)) for line in self.lines]
        gaps: dict[int, list[Line]] = {}
        last: dict[str, tuple[int, St]] = {}
        for index, line in enumerate(lines):
            if not line.observes:
                continue
            at, state = last.get(line.path, (-1, UNKNOWN))
            if known(state) and known(line.before) and not same(state, line.before):
                opening = self._opening(lines[:index], line)
                where = opening if opening is not None and opening > at else index
                if line.how == "settle" and line.author == "agent":
                    where = at + 1
                gap = replace(line, before=state, after=line.before, author="unknown", how="gap", computed=True, owner="")
                gaps.setdefault(where, []).append(gap)
            last[line.path] = index, line.after
        return [one for index, line in enumerate(lines) for one in (*gaps.get(index, ()), line)]

    @staticmethod
    def _opening(earlier: Sequence[Line], line: Line) -> int | None:
        """The line that opens the turn or entry of a line."""
        if line.between:
            return None
        for index, other in enumerate(earlier):
            if other.chat != line.chat:
                continue
            if other.kind == "restore_plan" and line.entry and other.entry == line.entry:
                return index
            if other.kind == "turn_start" and not line.entry and other.turn == line.turn:
                return index
        return None

    def points(self, chat: str) -> dict[str, int]:
        """Every point of a chat but ``now``, and the line of its view that it stands before."""
        return self.once("points", chat, self._points)

    def _points(self, chat: str) -> dict[str, int]:
        view = self.view(chat)
        found: dict[str, int] = {}
        closed: set[int] = set()
        current = 0
        for index, line in enumerate(view):
            if not line.own or line.computed:
                continue
            if not line.between:
                found.setdefault("start", index)
            if line.kind == "turn_start":
                current = line.turn
                found[f"before:{line.turn}"] = found[f"after:{line.turn}"] = index
            elif line.kind == "turn_end" and line.turn == current and line.turn not in closed:
                closed.add(line.turn)
                found[f"after:{line.turn}"] = index
            elif line.kind == "restore_plan":
                found[f"entry:{line.entry}"] = index
            elif line.observes and not line.entry:
                if line.tag:
                    found.setdefault(line.tag, index)
                if line.turn and line.turn not in closed and line.how in ("announced", "scan"):
                    found[f"after:{line.turn}"] = index + 1
        return found

    def content(self, chat: str, point: str, path: str) -> St:
        """What was at a path at a point."""
        if point == "now":
            return self.at_disk(path)
        view = self.view(chat)
        later = (line for line in view[self.points(chat)[point] :] if line.observes and line.path == path)
        return next((line.before for line in later), self.last_known(path))

    # -- whose content -------------------------------------------------------------------------------------------

    def word(self, line: Line, chat: str) -> str:
        """Whose content a line left, as a chat sees it: an author, or ``chat:`` and another chat."""
        word = line.owner or line.author
        mine = line.seq <= self.lineage(chat).get(line.chat, -1)
        if word == f"chat:{chat}":
            return "agent"
        return f"chat:{line.chat}" if word in LEFT and not mine else word

    def changed_by(self, chat: str, path: str) -> str:
        """Empty if the disk holds what this chat left, else who changed it: a chat, ``user`` or ``unknown``."""
        disk = self.at_disk(path)
        seen = [line for line in self.view(chat) if line.observes and line.path == path]
        newest = next((line for line in reversed(seen) if line.author in LEFT and not line.computed), None)
        if newest is not None and self.word(newest, chat) in LEFT and same(newest.after, disk):
            return ""
        if not seen or not same(seen[-1].after, disk) or seen[-1].computed:
            return "unknown"
        word = self.word(seen[-1], chat)
        return word if word.startswith("chat:") or word == "user" else "unknown"

    def in_plan(self, line: Line) -> bool:
        """Whether a line of a view is a reason to restore its path."""
        if not line.own or line.computed or not line.observes:
            return False
        return line.author in LEFT or (line.author == "unknown" and line.how == "scan" and line.turn > 0)
