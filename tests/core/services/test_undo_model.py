"""Random histories of turns, people's edits and undos, beside a reference that knows every line by its name.

After each step the disk is what the reference says, and every content that the program ever saw is still to be had.
"""

import hashlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.services.town import Town
from tests.core.services.undo_town import CHAT, put, turn
from tests.helpers import merge_model
from tests.helpers.merge_model import Lines
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, AfterTurn, BeforeTurn, RestoreKind, RestoreReport
from vibekit_desktop.core.types.errors import NothingToTakeBack
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.reviews import Decision, InverseRequest

PATHS = ("f", "d/g")
Disk = dict[str, Lines | None]


def encoded(lines: Lines) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@dataclass
class Entry:
    """What an entry of the timeline did: each path before and after it."""

    changed: dict[str, tuple[Lines | None, Lines | None]]
    takes_back: "Entry | None" = None


@dataclass
class Model:
    """The disk, the states around every turn, and the entries."""

    disk: Disk = field(default_factory=lambda: dict.fromkeys(PATHS))
    turns: list[tuple[Disk, Disk]] = field(default_factory=list)
    in_force: list[Entry] = field(default_factory=list)
    redoable: list[Entry] = field(default_factory=list)
    entries: int = 0
    seen: set[bytes] = field(default_factory=set)
    lines: int = 0

    def fresh(self, count: int) -> Lines:
        """Lines that nobody ever wrote."""
        self.lines += count
        return [f"line {number}" for number in range(self.lines - count, self.lines)]

    def look(self) -> None:
        """The program sees what is on disk."""
        self.seen |= {encoded(lines) for lines in self.disk.values() if lines is not None}

    def apply(self, after: Disk, kind: str, back: Entry | None = None) -> None:
        """An entry that leaves some paths as given."""
        changed = {path: (self.disk[path], lines) for path, lines in after.items() if lines != self.disk[path]}
        if not changed:
            return
        self.look()
        self.entries += 1
        self.disk |= {path: lines for path, (_, lines) in changed.items()}
        entry = Entry(changed, back)
        if kind == "undo" and back is not None:
            self.in_force.remove(back)
            self.redoable.append(entry)
        elif kind == "redo" and back is not None and back.takes_back is not None:
            self.redoable.remove(back)
            self.in_force.append(back.takes_back)
        else:
            self.redoable.clear()
            self.in_force.append(entry)
        self.look()


@dataclass
class Wanted:
    """What the reference makes of one path: how many decisions it takes, and what comes of them. None: left as it is."""

    asked: int
    certain: bool
    old: Lines | None
    new: Lines | None
    now: Lines | None

    def result(self, undo: list[bool]) -> Lines | None:
        if self.old == self.new or self.now == self.old:
            return self.now
        if self.now == self.new:
            return self.old
        if self.old is None or self.new is None or self.now is None:
            return self.old if undo[0] else self.now
        return merge_model.merged(self.new, self.now, self.old, undo)


def wanted(old: Lines | None, new: Lines | None, now: Lines | None) -> Wanted:
    asked, certain = 0, True
    if old != new and now not in (old, new):
        if old is None or new is None or now is None:
            asked = 1
        else:
            certain = merge_model.is_certain(new, now, old)
            asked = merge_model.overlaps(new, now, old) if certain else -1
    return Wanted(asked, certain, old, new, now)


class Story:
    """One random history, done to the program and to the model."""

    def __init__(self, wired: Wired, work: Path, vault: "Town", data: st.DataObject) -> None:
        self.wired = wired
        self.work = work
        self.town = vault
        self.data = data
        self.model = Model()
        self.hot: list[int] = []

    def edited(self, lines: Lines | None) -> Lines | None:
        """A content after a random edit."""
        draw = self.data.draw
        if lines is None:
            return self.model.fresh(draw(st.integers(0, 30)))
        if draw(st.integers(0, 19)) == 19:
            return None
        new = list(lines)
        for _ in range(draw(st.integers(1, 6))):
            near = draw(st.sampled_from((*self.hot[-6:], -1)))  # people and agents change again what was just changed
            at = draw(st.integers(0, len(new))) if not 0 <= near <= len(new) else near
            self.hot.append(at)
            new[at : at + draw(st.integers(0, 2))] = self.model.fresh(draw(st.integers(0, 2)))
        return new

    async def turn(self) -> None:
        model = self.model
        model.look()
        before = dict(model.disk)
        paths = PATHS if not model.turns else [path for path in PATHS if self.data.draw(st.booleans())]
        files: dict[str, bytes | None] = {}
        for path in paths:
            lines = self.edited(model.disk[path]) if model.turns else model.fresh(30)
            if lines == model.disk[path]:
                continue
            model.disk[path] = lines
            files[path] = None if lines is None else encoded(lines)
        note(f"turn {len(model.turns) + 1}: {model.disk}")
        await turn(self.wired, self.work, files)
        model.look()
        model.turns.append((before, dict(model.disk)))
        model.redoable.clear()

    async def person(self) -> None:
        path = self.data.draw(st.sampled_from(PATHS))
        old = self.model.disk[path]
        lines = self.edited(old)
        self.model.disk[path] = lines
        note(f"a person: {path} {lines}")
        if lines is not None or old is not None:
            put(self.work, path, None if lines is None else encoded(lines))

    async def undo_change(self) -> None:
        """A turn, one file of it, or some hunks of that."""
        draw, model = self.data.draw, self.model
        number = draw(st.sampled_from((1, *(3 * list(range(2, len(model.turns) + 1))))))
        before, after = model.turns[number - 1]
        changed = [path for path in PATHS if before[path] != after[path]]
        paths = changed if draw(st.booleans()) else [draw(st.sampled_from((*changed, *changed, *PATHS)))]
        named = () if paths is changed else tuple(WorkspacePath(path) for path in paths)
        hunks: set[int] = set()
        aims = {path: wanted(before[path], after[path], model.disk[path]) for path in paths}
        if named and draw(st.integers(0, 3)):
            (path,) = paths
            old, new = before[path], after[path]
            if old is not None and new is not None and old != new and merge_model.is_certain(old, new):
                count = len(merge_model.hunks(old, new))
                hunks = draw(st.sets(st.integers(0, count - 1), min_size=1))
                aims = {path: wanted(merge_model.without(old, new, hunks), new, model.disk[path])}
        request = InverseRequest(
            chat=CHAT, old=BeforeTurn(number), new=AfterTurn(number), paths=named, hunks=tuple(sorted(hunks))
        )
        found = await self.wired.core.undo.plan(request)
        self.check_disk()
        for path, aim in aims.items():
            asked = [one for one in found.overlaps if one.path == path]
            assert aim.asked in (-1, len(asked)), (path, aim, asked)
        decisions = {(one.path, one.number): draw(st.sampled_from(Decision)) for one in found.overlaps}
        note(f"undo turn {number} {named} {sorted(hunks)}: {decisions}")
        decided = tuple((path, at, decision) for (path, at), decision in decisions.items())
        found = await self.wired.core.undo.plan(request, decided)
        plan = found.plan
        assert plan is not None
        self.check_disk()
        report = await self.wired.core.checkpoints.carry_out(plan)
        assert report.kind is (RestoreKind.UNDO_HUNK if hunks else RestoreKind.UNDO_TURN)
        assert report.verified
        assert not report.failed
        result: Disk = {}
        for path, aim in aims.items():
            asked = [one for one in found.overlaps if one.path == path]
            undo = [decisions[one.path, one.number] is Decision.UNDO for one in asked]
            result[path] = aim.result(undo) if aim.certain else self.whatever(path)
        model.apply(result, "change")

    def whatever(self, path: str) -> Lines | None:
        """Of lines that came twice or moved, alignments differ: what the program made of them is taken as it is. Nothing of it
        was made up."""
        lines = (self.work / path).read_text().split("\n")[:-1] if (self.work / path).exists() else None
        assert lines is None or all(line.startswith("line ") for line in lines)
        return lines

    async def take_back(self, kind: str) -> None:
        model = self.model
        standing = model.in_force if kind == "undo" else model.redoable
        ask = self.wired.core.checkpoints.plan_undo if kind == "undo" else self.wired.core.checkpoints.plan_redo
        note(f"{kind}, {len(standing)} to take back")
        if not standing:
            try:
                await ask(CHAT, mine=KEEP_MINE)
            except NothingToTakeBack:
                return
            raise AssertionError("there was nothing to take back")
        entry = standing[-1]
        report: RestoreReport = await self.wired.core.checkpoints.carry_out(await ask(CHAT, mine=KEEP_MINE))
        result = {path: was for path, (was, became) in entry.changed.items() if model.disk[path] == became}
        assert set(report.restored) == {path for path, lines in result.items() if lines != model.disk[path]}
        model.apply(result, kind, entry)

    def check_disk(self) -> None:
        for path, lines in self.model.disk.items():
            target = self.work / path
            assert (target.read_bytes() if target.exists() else None) == (None if lines is None else encoded(lines)), path

    def check_store(self) -> None:
        """Every byte that was there when the program did something is in the store."""
        self.check_disk()
        for data in self.model.seen:
            sha = hashlib.sha256(data).hexdigest()
            places = [self.town.vault / place / sha[:2] / sha[2:] for place in ("snapshots/blobs", "desktop/blobs")]
            assert any(place.exists() and place.read_bytes() == data for place in places), data

    async def run(self) -> None:
        put(self.work, "d/readme", b"keeps its folder from coming and going\n")
        await self.turn()
        await self.turn()
        await self.person()
        steps = ("turn", "turn", "person", "person", "change", "change", "change", "undo", "redo")
        for step in self.data.draw(st.lists(st.sampled_from(steps), min_size=2, max_size=12)):
            self.town.clock.advance(1000)
            match step:
                case "turn":
                    await self.turn()
                case "person":
                    await self.person()
                case "change":
                    await self.undo_change()
                case _:
                    await self.take_back(step)
            self.check_store()
        timeline = await self.wired.core.checkpoints.timeline(CHAT)
        assert max((entry.entry for entry in timeline.entries), default=0) == self.model.entries


@settings(max_examples=max(20, settings.default.max_examples // 3 if settings.default is not None else 20))
@given(st.data())
def test_whatever_is_undone_in_whatever_order_is_what_the_reference_says(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        town = Town(Path(folder), home, Clock())
        town.run(lambda wired: Story(wired, town.work, town, data).run())
