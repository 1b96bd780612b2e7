"""Random turns, edits by hand, restores, undos and redos of two chats against a tiny reference of the rules."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, RestoreKind
from vibekit_desktop.core.types.errors import NothingToTakeBack
from vibekit_desktop.core.types.ids import ChatId

PATHS = ("a", "b", "c")
MAX_EXAMPLES = int(os.environ.get("VIBEKIT_HISTORIES", "120"))
Content = bytes | None


@dataclass
class Seen:
    """One observation: whose log, by whom (``agent``, ``restore``, ``unknown``), and whose content the after is."""

    path: str
    before: Content
    after: Content
    chat: ChatId
    author: str
    owner: str
    """A chat id, or ``unknown``."""


@dataclass
class Entry:
    kind: str
    takes_back: int
    seen: list[Seen]


@dataclass
class Reference:
    """The rules of docs/storage-format.md 3 and 4 over a plain list of marks and observations."""

    disk: dict[str, Content] = field(default_factory=dict)
    events: list[Seen | str] = field(default_factory=list)
    entries: dict[tuple[ChatId, int], Entry] = field(default_factory=dict)
    in_force: dict[ChatId, list[int]] = field(default_factory=lambda: {A: [], B: []})
    redoable: dict[ChatId, list[int]] = field(default_factory=lambda: {A: [], B: []})

    def seen(self, path: str) -> list[Seen]:
        return [event for event in self.events if isinstance(event, Seen) and event.path == path]

    def known(self, path: str) -> Content:
        return self.seen(path)[-1].after

    def agent(self, chat: ChatId, turn: int, path: str, data: Content) -> None:
        before = self.disk.get(path)
        if self.seen(path) and self.known(path) != before:
            mark = self.events.index(f"{chat} before:{turn}")
            last = max(at for at, event in enumerate(self.events) if isinstance(event, Seen) and event.path == path)
            gap = Seen(path, self.known(path), before, chat, "unknown", "unknown")
            self.events.insert(mark if last < mark else len(self.events), gap)
        self.events.append(Seen(path, before, data, chat, "agent", chat))
        self.disk[path] = data

    def at(self, mark: str, path: str) -> Content:
        later = self.events[self.events.index(mark) :]
        return next((one.before for one in later if isinstance(one, Seen) and one.path == path), self.known(path))

    def is_left(self, chat: ChatId, path: str) -> bool:
        newest = [one for one in self.seen(path) if one.author != "unknown"]
        return bool(newest) and newest[-1].owner == chat and newest[-1].after == self.disk.get(path)

    def restore(self, chat: ChatId, mark: str, *, mine: bool) -> dict[str, Content]:
        """What is written, by path."""
        later = self.events[self.events.index(mark) :]
        paths = {one.path for one in later if isinstance(one, Seen) and one.chat == chat and one.author != "unknown"}
        wanted = {path: self.at(mark, path) for path in paths}
        return {
            path: data for path, data in wanted.items() if data != self.disk.get(path) and (mine or self.is_left(chat, path))
        }

    def take_back(self, chat: ChatId, number: int, *, mine: bool) -> dict[str, Content]:
        entry = self.entries[chat, number]
        return {
            one.path: one.before
            for one in entry.seen
            if one.before != self.disk.get(one.path) and (mine or self.disk.get(one.path) == one.after)
        }

    def carry_out(self, chat: ChatId, kind: str, changes: dict[str, Content], takes_back: int = 0) -> None:
        if not changes:
            return
        for path in sorted({event.path for event in self.events if isinstance(event, Seen)}):
            if self.known(path) != self.disk.get(path):
                self.events.append(Seen(path, self.known(path), self.disk.get(path), chat, "unknown", "unknown"))
        number = 1 + max((of for owner, of in self.entries if owner == chat), default=0)
        undone = self.entries.get((chat, takes_back))
        owners = {}
        if undone is not None:
            begin = self.events.index(f"{chat} entry:{takes_back}")
            for path in changes:
                earlier = [one for one in self.events[:begin] if isinstance(one, Seen) and one.path == path]
                owners[path] = earlier[-1].owner if earlier else "unknown"
        self.events.append(f"{chat} entry:{number}")
        seen = [
            Seen(path, self.disk.get(path), data, chat, "restore", owners.get(path, chat)) for path, data in changes.items()
        ]
        self.events += seen
        self.disk.update(changes)
        self.entries[chat, number] = Entry(kind, takes_back, seen)
        if kind == "restore":
            self.redoable[chat].clear()
            self.in_force[chat].append(number)
        elif kind == "undo":
            self.in_force[chat].remove(takes_back)
            self.redoable[chat].append(number)
        else:
            self.redoable[chat].remove(takes_back)
            self.in_force[chat].append(self.entries[chat, takes_back].takes_back)


chats = st.sampled_from([A, B])
contents = st.sampled_from([None, b"", b"1", b"2", b"3"])
steps = st.one_of(
    st.tuples(st.just("turn"), chats, st.dictionaries(st.sampled_from(PATHS), contents, min_size=1, max_size=3)),
    st.tuples(st.just("turn"), chats, st.dictionaries(st.sampled_from(PATHS), contents, min_size=1, max_size=3)),
    st.tuples(st.just("write"), chats, st.dictionaries(st.sampled_from(PATHS), contents, min_size=1, max_size=1)),
    st.tuples(st.just("user"), st.sampled_from(PATHS), contents),
    st.tuples(st.just("restore"), chats, st.integers(0, 30), st.booleans()),
    st.tuples(st.just("undo"), chats, st.booleans()),
    st.tuples(st.just("redo"), chats, st.booleans()),
    st.tuples(st.just("reopen")),
)


class Run:
    """The engine and the reference side by side."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder, Clock())
        self.reference = Reference()

    def step(self, step: tuple[object, ...]) -> None:
        match step:
            case ("turn", chat, changes):
                turn = self.world.begin(chat)
                self.reference.events.append(f"{chat} before:{turn}")
                self.reference.redoable[chat].clear()
                self.acts(chat, changes)
            case ("write", chat, changes) if self.world.turns.get(chat):
                self.acts(chat, changes)
            case ("user", path, data):
                self.world.write(path, data)
                self.reference.disk[path] = data
            case ("restore", chat, which, mine) if marks := self.marks(chat):
                mark = marks[which % len(marks)]
                self.reference.carry_out(chat, "restore", self.reference.restore(chat, mark, mine=mine))
                self.world.restore(mark.split(" ")[1], chat, mine=ALL_MINE if mine else KEEP_MINE)
            case (("undo" | "redo") as kind, chat, mine):
                self.take_back(kind, chat, mine=mine)
            case ("reopen",):
                self.world.reopen()

    def acts(self, chat: ChatId, changes: dict[str, Content]) -> None:
        for path, data in changes.items():
            self.world.act(path, data, chat)
            self.reference.agent(chat, self.world.turns[chat], path, data)

    def marks(self, chat: ChatId) -> list[str]:
        return [event for event in self.reference.events if isinstance(event, str) and event.startswith(f"{chat} ")]

    def take_back(self, kind: str, chat: ChatId, *, mine: bool) -> None:
        reference = self.reference
        candidates = reference.in_force[chat] if kind == "undo" else reference.redoable[chat]
        number = (max(candidates) if kind == "undo" else candidates[-1]) if candidates else 0
        if number:
            reference.carry_out(chat, kind, reference.take_back(chat, number, mine=mine), number)
        try:
            plan = self.world.plan(None, chat, kind=RestoreKind(kind), mine=ALL_MINE if mine else KEEP_MINE)
        except NothingToTakeBack:
            assert not number
            return
        assert plan.takes_back == number
        self.world.do(plan)

    def check(self) -> None:
        expected = {path: data for path, data in self.reference.disk.items() if data is not None}
        assert self.world.disk() == expected
        for chat in (A, B):
            for mark in self.marks(chat):
                for path in {event.path for event in self.reference.events if isinstance(event, Seen)}:
                    assert self.world.at(mark.split(" ")[1], path, chat) == self.reference.at(mark, path), (mark, path)
            timeline = self.world.kernel.timeline(chat)
            assert timeline.can_undo == max(self.reference.in_force[chat], default=0)
            assert timeline.can_redo == (self.reference.redoable[chat] or [0])[-1]


_OVERWRITTEN: list[tuple[object, ...]] = [("turn", A, {"a": b"1"})]
_AND_BACK: list[tuple[object, ...]] = [("restore", A, 0, True), ("undo", A, False)]


def replay(history: list[tuple[object, ...]]) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder))
        for step in history:
            run.step(step)
            yield
        run.check()


@settings(max_examples=MAX_EXAMPLES)
@example([("turn", A, {"a": b"1"}), ("user", "a", b"2"), ("restore", A, 0, True), ("undo", A, False), ("restore", A, 0, False)])
@example(
    [("turn", A, {"a": b"1"}), ("turn", B, {"a": b"2"}), ("restore", A, 0, True), ("undo", A, False), ("restore", B, 0, False)]
)
@example([*_OVERWRITTEN, *_AND_BACK, ("turn", A, {"b": b"1"}), ("redo", A, False)])
@example([("turn", A, {"a": b"1", "b": b"1"}), *_AND_BACK, ("user", "b", b"2"), ("restore", A, 0, False), ("redo", A, False)])
@given(st.lists(steps, max_size=14))
def test_the_engine_agrees_with_the_reference(history: list[tuple[object, ...]]) -> None:
    for _ in replay(history):
        pass
