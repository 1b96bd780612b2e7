"""The product and the reference model side by side: every operation is done to both, and then they must agree."""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import Clock
from tests.core.checkpoint.world import ALL_MINE, World
from tests.helpers.model import ABSENT, UNKNOWN, Line, St, known, same
from tests.helpers.model_restores import Plan, Step, Vault
from vibekit_desktop.core.types.checkpoints import (
    KEEP_MINE,
    Action,
    EntryKind,
    FileState,
    Now,
    RestoreKind,
    RestorePlan,
    Scope,
    State,
    parse_point,
)
from vibekit_desktop.core.types.errors import NothingToTakeBack
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

PATHS = ("a", "b", "d/c")
FOREIGN = {"ours/readme": b"nobody changes this", ".git/config": b"[core]\n", ".git/hooks/post-checkout": b"#!/bin/sh\n"}
"""Files that no operation names: they stay as they are, to the inode."""
NEW_MODE = 0o644


@dataclass(frozen=True)
class Waiting:
    """A write that was announced and is not done yet."""

    chat: str
    path: str
    state: St


class Run:
    """One vault and its model. Each method does one thing to both."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder, Clock())
        self.model = Vault()
        self.waiting: list[Waiting] = []
        for path, data in FOREIGN.items():
            self.world.write(path, data, 0o755 if "hooks" in path else NEW_MODE)
        self.foreign = {path: self._facts(self.world.root / path) for path in FOREIGN}
        self.turns_looked_at: set[tuple[str, int]] = set()

    # -- the disk ------------------------------------------------------------------------------------------------

    @staticmethod
    def _facts(path: Path) -> tuple[bytes, int, int, int, int]:
        found = path.stat()
        return path.read_bytes(), found.st_ino, found.st_mode, found.st_mtime_ns, found.st_nlink

    def disk(self) -> dict[str, St]:
        """Every file of the workspace but the foreign ones."""
        found: dict[str, St] = {}
        for folder, _, names in os.walk(self.world.root):
            for name in names:
                path = Path(folder) / name
                relative = path.relative_to(self.world.root).as_posix()
                if relative not in FOREIGN:
                    found[relative] = St("file", path.read_bytes(), stat.S_IMODE(path.lstat().st_mode))
        return found

    def put(self, path: str, data: bytes | None, mode: int | None = None) -> None:
        """Somebody changes the disk: a person, a program, or an agent that does what it announced."""
        self.world.clock.advance(7)
        old = self.model.at_disk(path)
        if data is None:
            self.world.write(path, None)
            self.model.put(path, ABSENT)
            return
        bits = mode if mode is not None else old.mode if old != ABSENT else NEW_MODE
        self.world.write(path, data, bits)
        self.model.put(path, St("file", data, bits))

    # -- turns without a recorder: lines as an import or a hook leaves them, and no look -------------------------

    def begin(self, chat: str) -> None:
        self.world.turns[ChatId(chat)] = self.model.last_turn(chat)
        self.world.begin(ChatId(chat))
        self.model.begin_turn(chat, look=False)

    def end(self, chat: str) -> None:
        if chat in self.model.open:
            self.world.turns[ChatId(chat)] = self.model.open[chat]
            self.world.end(ChatId(chat))
            self.model.end_turn(chat, look=False)

    def act(self, chat: str, path: str, data: bytes | None, mode: int | None = None) -> None:
        """The agent announces a change and does it."""
        self.world.turns[ChatId(chat)] = self.model.open.get(chat) or self.model.last_turn(chat)
        old = self.model.at_disk(path)
        bits = mode if mode is not None else old.mode if old != ABSENT else NEW_MODE
        self.world.act(path, data, ChatId(chat), bits)
        after = ABSENT if data is None else St("file", data, bits)
        self.model.capture(chat, path, after, look=False)
        self.model.put(path, after)

    # -- restores ------------------------------------------------------------------------------------------------

    def restore(
        self,
        chat: str,
        point: str,
        *,
        kind: str = "restore",
        scope: str = "files",
        mine: bool = False,
        paths: Collection[str] = (),
    ) -> None:
        expected = self.model.plan_restore(chat, point, kind=kind, scope=scope, mine=mine, paths=paths)
        plan = self.world.plan(
            point,
            ChatId(chat),
            kind=RestoreKind(kind),
            scope=Scope(scope),
            mine=ALL_MINE if mine else KEEP_MINE,
            paths=tuple(sorted(paths)),
        )
        self._carry_out(plan, expected)

    def take_back(self, chat: str, kind: str, *, mine: bool = False) -> None:
        expected = self.model.plan_take_back(chat, kind, mine=mine)
        try:
            plan = self.world.plan(
                None, ChatId(chat), kind=RestoreKind(kind), scope=Scope.BOTH, mine=ALL_MINE if mine else KEEP_MINE
            )
        except NothingToTakeBack:
            assert expected is None, f"nothing to {kind}, but the model takes back entry {expected.takes_back}"
            return
        assert expected is not None, f"{kind} takes back entry {plan.takes_back}, the model finds nothing"
        assert plan.takes_back == expected.takes_back
        self._carry_out(plan, expected)

    def _carry_out(self, plan: RestorePlan, expected: Plan) -> None:
        self.compare_plan(plan, expected)
        before = dict(self.model.disk)
        stamps = {path: self._facts(self.world.root / path) for path in before if path not in expected.acts}
        report = self.world.do(plan)
        entry = self.model.carry_out(expected, branch=report.branch_chat_id or "")
        assert report.entry == entry
        assert set(report.restored) == set(expected.acts), "the report lists what changed"
        assert report.verified
        assert not report.failed or any(not known(step.wanted) for step in expected.steps.values())
        for path, facts in stamps.items():
            assert self._facts(self.world.root / path) == facts, f"{path} is not in the plan and was touched"

    def compare_plan(self, plan: RestorePlan, expected: Plan) -> None:
        assert plan.cuts == (expected.keep >= 0), "the transcript is cut"
        assert not plan.cuts or plan.keep_messages == expected.keep
        assert bool(plan.brings_back) == bool(expected.back_from)
        said = {file.path: (file.action.value, file.reason, file.changed_by or "") for file in plan.files}
        wanted = {path: (step.action, step.reason, self._who(step)) for path, step in expected.steps.items()}
        assert said == wanted, f"plan {plan.kind.value} {plan.point} of {plan.chat}"
        for file in plan.files:
            if file.action is not Action.LEAVE:
                assert same(self.state(file.wanted), expected.steps[file.path].wanted), file.path

    @staticmethod
    def _who(step: Step) -> str:
        return step.changed_by.removeprefix("chat:") if step.reason != "same" else ""

    def state(self, state: FileState) -> St:
        """A state of the product with its bytes, as the model has it."""
        match state.state:
            case State.ABSENT:
                return ABSENT
            case State.PRESENT:
                return St("file", self.world.kernel.read_state(state), state.mode)
            case _:
                return UNKNOWN

    # -- what must be equal --------------------------------------------------------------------------------------

    def chats(self) -> list[str]:
        return sorted({line.chat for line in self.model.lines} - self.model.retired)

    def check(self) -> None:
        assert self.disk() == self.model.disk
        for path, facts in self.foreign.items():
            assert self._facts(self.world.root / path) == facts, path
        assert not self.world.stages()
        for chat in self.chats():
            self.check_points(chat)
            self.check_timeline(chat)
        assert self.model.lost() == []
        assert self.model.wrong(self.chats()) == []
        self.check_log()

    def check_points(self, chat: str) -> None:
        for point in self.model.points(chat):
            for path in PATHS:
                said = self.world.kernel.state_at(ChatId(chat), parse_point(point), WorkspacePath(path))
                true = self.model.content(chat, point, path)
                agree = self.state(said) == true == UNKNOWN or same(self.state(said), true)
                forgotten = path not in self.model.named() and said.state is State.UNKNOWN
                assert agree or forgotten, f"{path} at {point} of {chat}: {said} is not {true}"
        for path in self.model.named():
            at_now = self.world.kernel.state_at(ChatId(chat), Now(), WorkspacePath(path))
            assert at_now.state is (State.ABSENT if path not in self.model.disk else State.PRESENT)

    def check_timeline(self, chat: str) -> None:
        timeline = self.world.kernel.timeline(ChatId(chat))
        standing = self.model.standing(chat)
        assert timeline.can_undo == max(standing.in_force, default=0)
        assert timeline.can_redo == (standing.redoable or [0])[-1]
        rows = {row.turn: row for row in timeline.entries if row.kind is EntryKind.TURN}
        entries = {row.entry: row for row in timeline.entries if row.kind is EntryKind.RESTORE}
        turns = {line.turn for line in self.model.own_lines(chat) if line.kind == "turn_start"}
        assert set(rows) == turns
        assert set(entries) == {line.entry for line in self.model.own_lines(chat) if line.kind == "restore_plan"}
        for turn, row in rows.items():
            said = {change.path: (self.state(change.before), self.state(change.after)) for change in row.files}
            _equal_changes(said, self._net(chat, lambda line, turn=turn: line.turn == turn and not line.entry), f"turn {turn}")
        for entry, row in entries.items():
            said = {change.path: (self.state(change.before), self.state(change.after)) for change in row.files}
            _equal_changes(said, self._net(chat, lambda line, entry=entry: line.entry == entry), f"entry {entry}")

    def _net(self, chat: str, belongs: Callable[[Line], bool]) -> dict[str, tuple[St, St]]:
        found: dict[str, tuple[St, St]] = {}
        for line in self.model.own_lines(chat):
            if line.observes and line.how != "gap" and belongs(line):
                found[line.path] = (found[line.path][0] if line.path in found else line.before, line.after)
        return {path: pair for path, pair in found.items() if not same(*pair)}

    # -- a checker that reads only the disk ----------------------------------------------------------------------

    def check_log(self) -> None:
        """The logs hold the lines of the model, in its order; the lines of one look may come in any order."""
        assert self.written() == [_short(line) for line in self.model.lines if line.kind in _SHOWN]

    def written(self) -> list[tuple[object, ...]]:
        """The lines of all logs in order, parsed without the product."""
        found: list[tuple[int, tuple[object, ...]]] = []
        for place in ("snapshots/chats", "desktop/retired"):
            folder = self.world.vault_folder / place
            for log in sorted(folder.glob("*/events.jsonl")):
                for text in log.read_bytes().split(b"\n")[:-1]:
                    line = json.loads(text)
                    if line["type"] in _SHOWN:
                        found.append((line["seq"], self._parsed(log.parent.name, line)))
        return [line for _, line in sorted(found, key=lambda item: item[0])]

    def _parsed(self, chat: str, line: dict[str, object]) -> tuple[object, ...]:
        states = [self._parsed_state(line, side) for side in ("before", "after")] if "path" in line else []
        keys = [line.get(key, "") for key in ("path", "author", "how", "tag", "owner")]
        return (chat, line["type"], line.get("turn", 0), line.get("entry", 0), *keys, *states)

    def _parsed_state(self, line: dict[str, object], side: str) -> tuple[object, ...]:
        kind = {"present": "file"}.get(str(line[f"{side}_state"]), line[f"{side}_state"])
        return kind, self.blob(str(line[f"{side}_sha"])) if kind == "file" else b"", line.get(f"{side}_mode")

    def blob(self, sha: str) -> bytes:
        for place in ("snapshots/blobs", "desktop/blobs"):
            path = self.world.vault_folder / place / sha[:2] / sha[2:]
            if path.exists():
                data = path.read_bytes()
                assert hashlib.sha256(data).hexdigest() == sha, "a content is damaged"
                return data
        raise AssertionError(f"a line names the content {sha}, which is not there")


_SHOWN = ("turn_start", "turn_end", "command_start", "command_end", "snapshot", "observed", "restore_plan", "branch_start")


def _short(line: Line) -> tuple[object, ...]:
    states = [tuple(line.before), tuple(line.after)] if line.observes else []
    owner = "chat" if line.owner.startswith("chat:") else line.owner
    return (line.chat, line.kind, line.turn, line.entry, line.path, line.author, line.how, line.tag, owner, *states)


def _equal_changes(said: dict[str, tuple[St, St]], true: dict[str, tuple[St, St]], where: str) -> None:
    assert said.keys() == true.keys(), where
    for path in said:
        for one, other in zip(said[path], true[path], strict=True):
            assert one == other == UNKNOWN or same(one, other), (where, path)


__all__ = ["FOREIGN", "PATHS", "Run", "Waiting"]
