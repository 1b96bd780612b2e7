"""Random turns, hooks, edits by hand, restores, branches and crashes of several chats, against the reference model."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.core.checkpoint.machine import PATHS, Run

ASKED = os.environ.get("VIBEKIT_HISTORIES", "")
MAX_EXAMPLES = int(ASKED or "100")
STEPS = int(os.environ.get("VIBEKIT_STEPS", "25"))
"""Without ``VIBEKIT_HISTORIES`` the same histories every time; with it as many new ones."""
MEMORY = "/dev/shm"
"""Files in memory, where there is such a place: these tests are about rules, and a sync costs more than all the rest."""

pytestmark = pytest.mark.timeout(0 if ASKED else 120)

paths = st.sampled_from(PATHS)
contents = st.sampled_from([None, b"", b"1", b"2", b"3"])
written = st.sampled_from([b"", b"1", b"2", b"3"])
modes = st.sampled_from([None, None, None, 0o755, 0o644])
numbers = st.integers(0, 40)
named = st.one_of(st.just(()), st.just(()), st.lists(paths, min_size=1, max_size=2, unique=True).map(tuple))
scopes = st.sampled_from(["files", "files", "files", "both", "chat"])
kinds = st.sampled_from(["write", "write", "write", "delete", "unknown", "mode"])


class Histories(RuleBasedStateMachine):
    """One vault and its model; see `Run`. Numbers choose among what is there."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY if os.path.isdir(MEMORY) else None))
        self.both = Run(self.folder)
        self.made = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def chat(self, number: int) -> str:
        chats = sorted({"chat-a", "chat-b", *self.both.chats()} - self.both.gone)
        return chats[number % len(chats)]

    def point(self, chat: str, number: int) -> str:
        points = self.both.model.points(chat)
        return sorted(points, key=lambda point: (points[point], point))[number % len(points)]

    @rule(path=paths, data=contents, mode=modes)
    def user(self, path: str, data: bytes | None, mode: int | None) -> None:
        self.both.put(path, data, mode)

    # -- restores ------------------------------------------------------------------------------------------------

    def before_restore(self) -> None:
        """What must be so before an entry."""

    @rule(chat=numbers, point=numbers, mine=st.booleans(), only=named, scope=scopes)
    def restore(self, chat: int, point: int, mine: bool, only: tuple[str, ...], scope: str) -> None:
        name = self.chat(chat)
        if self.both.model.points(name):
            self.before_restore()
            self.both.restore(name, self.point(name, point), scope=scope, mine=mine, paths=only)

    @rule(chat=numbers, point=numbers, mine=st.booleans(), path=paths)
    def undo_file(self, chat: int, point: int, mine: bool, path: str) -> None:
        name = self.chat(chat)
        if self.both.model.points(name):
            self.before_restore()
            self.both.restore(name, self.point(name, point), kind="undo-file", mine=mine, paths=[path])

    @rule(chat=numbers, mine=st.booleans(), kind=st.sampled_from(["undo", "undo", "redo"]))
    def take_back(self, chat: int, mine: bool, kind: str) -> None:
        self.before_restore()
        self.both.take_back(self.chat(chat), kind, mine=mine)

    @rule()
    def reopen(self) -> None:
        self.both.world.reopen()

    @invariant()
    def both_agree(self) -> None:
        self.both.check()


class RecordedHistories(Histories):
    """Turns and hooks as they happen, with looks."""

    @rule(chat=numbers)
    def begin(self, chat: int) -> None:
        self.both.begin(self.chat(chat))

    @precondition(lambda self: self.both.model.open)
    @rule(chat=numbers)
    def end(self, chat: int) -> None:
        chats = sorted(self.both.model.open)
        self.both.end(chats[chat % len(chats)])

    @precondition(lambda self: self.both.model.open)
    @rule(chat=numbers)
    def begin_command(self, chat: int) -> None:
        chats = sorted(self.both.model.open)
        self.both.begin_command(chats[chat % len(chats)])

    @precondition(lambda self: self.both.model.commands)
    @rule(chat=numbers)
    def end_command(self, chat: int) -> None:
        chats = sorted(self.both.model.commands)
        self.both.end_command(chats[chat % len(chats)])

    @rule(chat=numbers, path=paths, kind=kinds, data=written, mode=modes)
    def announce(self, chat: int, path: str, kind: str, data: bytes, mode: int | None) -> None:
        self.both.announce(self.chat(chat), path, kind, data, mode)

    @precondition(lambda self: self.both.waiting)
    @rule(number=numbers)
    def perform(self, number: int) -> None:
        self.both.perform(number)

    @rule(chat=numbers, path=paths, data=contents, mode=modes, expects_other=st.sampled_from([False, False, True]))
    def write(self, chat: int, path: str, data: bytes | None, mode: int | None, expects_other: bool) -> None:
        self.both.write(self.chat(chat), path, data, mode, expects_other=expects_other)

    @rule(chat=numbers, turn=numbers)
    def branch(self, chat: int, turn: int) -> None:
        name = self.chat(chat)
        turns = [turn for turn in self.both.model.transcripts.get(name, []) if turn]
        if turns and len(self.both.chats()) < 5:
            self.made += 1
            self.both.branch(name, turns[turn % len(turns)], f"branch-{self.made}")

    @rule(chat=numbers)
    def delete(self, chat: int) -> None:
        name = self.chat(chat)
        if name in self.both.chats() and len(self.both.chats()) > 1:
            self.both.retire(name)

    @rule()
    def forget(self) -> None:
        self.both.forget()

    @rule(at=st.integers(1, 60))
    def crash(self, at: int) -> None:
        self.both.crash_at = at

    @rule(chat=numbers)
    def tear(self, chat: int) -> None:
        self.both.tear(self.chat(chat))


class BareHistories(Histories):
    """Lines without looks, as an import leaves them: the changes between are computed."""

    def before_restore(self) -> None:
        for chat in list(self.both.model.open):
            self.both.end_bare(chat)

    @rule(chat=numbers)
    def begin(self, chat: int) -> None:
        self.both.begin_bare(self.chat(chat))

    @rule(chat=numbers)
    def end(self, chat: int) -> None:
        self.both.end_bare(self.chat(chat))

    @rule(chat=numbers, path=paths, data=contents, mode=modes)
    def act(self, chat: int, path: str, data: bytes | None, mode: int | None) -> None:
        if self.chat(chat) in self.both.model.open:
            self.both.act_bare(self.chat(chat), path, data, mode)


common = settings(
    stateful_step_count=STEPS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    derandomize=not ASKED,
    database=None,
    print_blob=True,
)
TestRecordedHistories = RecordedHistories.TestCase
TestRecordedHistories.settings = settings(common, max_examples=MAX_EXAMPLES)
TestBareHistories = BareHistories.TestCase
TestBareHistories.settings = settings(common, max_examples=MAX_EXAMPLES // 3)
