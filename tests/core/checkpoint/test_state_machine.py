"""Random turns, hooks, edits by hand, restores, branches and crashes of several chats, against the reference model."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.core.checkpoint.machine import PATHS, Run

MAX_EXAMPLES = int(os.environ.get("VIBEKIT_HISTORIES", "60"))
MEMORY = "/dev/shm"
"""Files in memory, where there is such a place: these tests are about rules, and a sync costs a hundred times the rest."""

paths = st.sampled_from(PATHS)
contents = st.sampled_from([None, b"", b"1", b"2", b"3"])
modes = st.sampled_from([None, None, None, 0o755, 0o644])
numbers = st.integers(0, 40)
few = st.one_of(st.just(()), st.just(()), st.lists(paths, min_size=1, max_size=2, unique=True).map(tuple))


class Histories(RuleBasedStateMachine):
    """One vault and its model; see `Run`."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY if os.path.isdir(MEMORY) else None))
        self.run = Run(self.folder)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def chat(self, number: int) -> str:
        chats = sorted({"chat-a", "chat-b", *self.run.chats()})
        return chats[number % len(chats)]

    def point(self, chat: str, number: int) -> str:
        points = sorted(self.run.model.points(chat), key=lambda point: self.run.model.points(chat)[point])
        return points[number % len(points)]

    @rule(data=contents, path=paths, mode=modes)
    def user(self, path, data, mode) -> None:
        self.run.put(path, data, mode)

    @rule(chat=numbers)
    def begin(self, chat) -> None:
        self.run.begin(self.chat(chat))

    @rule(chat=numbers)
    def end(self, chat) -> None:
        self.run.end(self.chat(chat))

    @rule(chat=numbers, path=paths, data=contents, mode=modes)
    def act(self, chat, path, data, mode) -> None:
        if self.chat(chat) in self.run.model.open:
            self.run.act(self.chat(chat), path, data, mode)

    @rule(chat=numbers, point=numbers, mine=st.booleans(), named=few, scope=st.sampled_from(["files", "files", "both", "chat"]))
    def restore(self, chat, point, mine, named, scope) -> None:
        chat = self.chat(chat)
        if self.run.model.points(chat):
            for other in list(self.run.model.open):
                self.run.end(other)
            self.run.restore(chat, self.point(chat, point), scope=scope, mine=mine, paths=named)

    @rule(chat=numbers, point=numbers, mine=st.booleans(), path=paths)
    def undo_file(self, chat, point, mine, path) -> None:
        chat = self.chat(chat)
        if self.run.model.points(chat):
            for other in list(self.run.model.open):
                self.run.end(other)
            self.run.restore(chat, self.point(chat, point), kind="undo-file", mine=mine, paths=[path])

    @rule(chat=numbers, mine=st.booleans(), kind=st.sampled_from(["undo", "redo"]))
    def take_back(self, chat, mine, kind) -> None:
        for other in list(self.run.model.open):
            self.run.end(other)
        self.run.take_back(self.chat(chat), kind, mine=mine)

    @rule()
    def reopen(self) -> None:
        self.run.world.reopen()

    @invariant()
    def both_agree(self) -> None:
        self.run.check()


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=MAX_EXAMPLES, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
