"""The product and the reference model side by side: every operation is done to both, and then they must agree."""

import copy
import hashlib
import itertools
import json
import os
import shutil
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.conftest import Clock
from tests.core.checkpoint.world import ALL_MINE, Crash, CrashAt, World
from tests.helpers.model import ABSENT, UNKNOWN, Line, St, known, same
from tests.helpers.model_restores import NEW_MODE, Plan, Step, Vault
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.recorder import Recorder
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.locks import VaultLock
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
from vibekit_desktop.core.types.errors import ChangedMeanwhile, NothingToTakeBack
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath

T = TypeVar("T")
U = TypeVar("U")

PATHS = ("a", "b", "d/c")
FOREIGN = {"d/readme": b"nobody changes this", ".git/config": b"[core]\n", ".git/hooks/post-checkout": b"#!/bin/sh\n"}
"""Files that no operation names: they stay as they are, to the inode. They keep the folder from coming and going."""


@dataclass(frozen=True)
class Waiting:
    """A write that was announced and is not done yet. ``unknown``: nobody said what would be written."""

    path: str
    data: bytes | None
    mode: int | None = None


class Run:
    """One vault and its model. Each method does one thing to both.

    ``crash_at``: the next operation of the product is stopped at that step; then it is opened again and recovers, and the model
    goes on from the step of its own that left the same lines and files. There must be one.
    """

    def __init__(self, folder: Path) -> None:
        self.world = World(folder, Clock())
        self.model = Vault()
        self.waiting: list[Waiting] = []
        self.crash_at = 0
        for path, data in FOREIGN.items():
            self.world.write(path, data, 0o755 if "hooks" in path else NEW_MODE)
        self.foreign = {path: self._facts(self.world.root / path) for path in FOREIGN}
        self.gone: set[str] = set()
        """Chats that were deleted; their ids are not used again."""

    def both(self, product: Callable[[], T], model: Callable[[Vault], U]) -> tuple[T, U] | None:
        """Do one thing to both; what they answered, or None if it was stopped."""
        self.world.clock.advance(11)
        if not self.crash_at:
            return product(), model(self.model)
        hook, self.crash_at = CrashAt(self.crash_at), 0
        before = self.disk()
        with faults.armed(hook):
            try:
                answer = product()
            except Crash:
                pass
            else:
                return answer, model(self.model)
        self.world.reopen()
        crashed = self.disk()
        with VaultLock(self.world.fs, self.world.vault_folder).hold(0):
            self.world.kernel.recover()
        moments = [copy.deepcopy(self.model)]
        twin = copy.deepcopy(self.model)
        twin.on_step = lambda: moments.append(self._moment(twin))
        model(twin)
        twin.on_step = None
        moments.append(twin)
        for path in {*before, *crashed, *twin.disk}:
            whole = {one.get(path, ABSENT) for one in (before, twin.disk)}
            assert crashed.get(path, ABSENT) in whole or ".vibekit-restore-" in path, f"{path} is neither before nor after"
        for moment in moments:
            looked = self.known_file.exists() is (moment.seen is not None)
            if looked and self.disk() == moment.disk and self.written() == _written(moment):
                self.model = moment
                self.world.transcripts.chats = {ChatId(chat): list(all_) for chat, all_ in moment.transcripts.items()}
                return None
        raise AssertionError(f"after a crash at {hook.seen[-1]} no moment of the model fits")

    @property
    def known_file(self) -> Path:
        """What the last look saw: a cache."""
        return self.world.vault_folder / "desktop" / "known"

    @staticmethod
    def _moment(model: Vault) -> Vault:
        hook, model.on_step = model.on_step, None
        moment = copy.deepcopy(model)
        model.on_step = hook
        return moment

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

    # -- turns and hooks -----------------------------------------------------------------------------------------

    def begin(self, chat: str) -> None:
        messages = self.world.transcripts.chats.setdefault(ChatId(chat), [])
        self.model.transcripts.setdefault(chat, [])
        both = self.both(
            lambda: self.recorder.begin_turn(ChatId(chat), message_count=len(messages) + 1),
            lambda model: model.begin_turn(chat),
        )
        if both is not None:
            assert both[0] == both[1] == self.recorder.open_turn(ChatId(chat))
            messages += [both[0], 0]

    def end(self, chat: str) -> None:
        self.both(lambda: self.recorder.end_turn(ChatId(chat)), lambda model: model.end_turn(chat))

    def begin_command(self, chat: str) -> None:
        self.both(lambda: self.recorder.begin_command(ChatId(chat)), lambda model: model.begin_command(chat))

    def end_command(self, chat: str) -> None:
        self.both(lambda: self.recorder.end_command(ChatId(chat)), lambda model: model.end_command(chat))

    def announce(self, chat: str, path: str, kind: str, data: bytes, mode: int | None) -> None:
        """An agent or a hook says what it is about to do; it may do so later, or never."""
        old = self.model.at_disk(path)
        will = Waiting(path, data, mode)
        match kind:
            case "delete":
                said, after, will = Announced(deleted=True), ABSENT, Waiting(path, None)
            case "unknown":
                said, after = Announced(), UNKNOWN
            case "mode" if mode is not None and old != ABSENT:
                said, after = Announced(mode=mode), old._replace(mode=mode)
                will = Waiting(path, old.data, mode)
            case _:
                said, after = Announced(content=data, mode=mode), St("file", data, old.mode if mode is None else mode)
        both = self.both(
            lambda: self.recorder.capture(ChatId(chat), WorkspacePath(path), said, message_count=1),
            lambda model: model.capture(chat, path, after),
        )
        if both is None:
            return
        report, conflict = both
        assert (report.conflict is not None) == conflict, f"conflict at {path}: {report.conflict}"
        assert report.tag == self.model.lines[-1].tag
        assert same(self.state(report.before), old)
        self.waiting.append(will)

    def perform(self, number: int) -> None:
        """An announced write happens."""
        will = self.waiting.pop(number % len(self.waiting))
        self.put(will.path, will.data, will.mode)

    def write(self, chat: str, path: str, data: bytes | None, mode: int | None, *, expects_other: bool = False) -> None:
        """A write that goes through us. ``expects_other``: the writer had read something else there; a file that has already
        what is to be written is the writer's own all the same."""
        old = self.model.at_disk(path)
        after = ABSENT if data is None else St("file", data, mode or old.mode or NEW_MODE)
        if old == after == ABSENT:
            return
        expected = None
        if expects_other:
            expected = FileState(State.ABSENT) if old != ABSENT else FileState(State.PRESENT, BlobHash("0" * 64), 0o644)

        def product() -> bool:
            try:
                self.recorder.write(ChatId(chat), WorkspacePath(path), data, message_count=1, mode=mode, expected=expected)
            except ChangedMeanwhile:
                return False
            return True

        met = expects_other and (data is None or (old.kind, old.data) != ("file", data))
        both = self.both(product, lambda model: model.write(chat, path, after, met=met))
        assert both is None or both[0] is not met

    @property
    def recorder(self) -> Recorder:
        return self.world.kernel.recorder

    # -- chats ---------------------------------------------------------------------------------------------------

    def branch(self, chat: str, turn: int, new: str) -> None:
        self.both(
            lambda: self.world.kernel.branch(ChatId(chat), turn, ChatId(new)),
            lambda model: model.begin_branch(chat, turn, new),
        )

    def retire(self, chat: str) -> None:
        self.world.transcripts.chats.pop(ChatId(chat), None)
        self.model.transcripts.pop(chat, None)
        self.gone.add(chat)
        self.both(lambda: self.world.kernel.retire(ChatId(chat)), lambda model: model.retire(chat))

    def forget(self) -> None:
        """The caches go."""
        self.known_file.unlink(missing_ok=True)
        shutil.rmtree(self.world.vault_folder / "desktop" / "baseline", ignore_errors=True)
        self.model.forget()

    def tear(self, chat: str) -> None:
        """A power cut left half a line at the end of a log."""
        log = self.world.log_path(ChatId(chat))
        if log.exists():
            log.write_bytes(log.read_bytes() + b'{"type":"turn_st')

    # -- turns without looks: lines as an import leaves them -----------------------------------------------------

    def begin_bare(self, chat: str) -> None:
        self.world.turns[ChatId(chat)] = self.model.last_turn(chat)
        self.world.begin(ChatId(chat))
        self.model.begin_turn(chat, look=False)

    def end_bare(self, chat: str) -> None:
        if chat in self.model.open:
            self.world.turns[ChatId(chat)] = self.model.open[chat]
            self.world.end(ChatId(chat))
            self.model.end_turn(chat, look=False)

    def act_bare(self, chat: str, path: str, data: bytes | None, mode: int | None = None) -> None:
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
        stamps = {path: self._facts(self.world.root / path) for path in self.model.disk if path not in expected.acts}
        chats = set(self.world.transcripts.chats)
        both = self.both(
            lambda: self.world.do(plan),
            lambda model: model.carry_out(copy.deepcopy(expected), branch=self._new(chats)),
        )
        for path, facts in stamps.items():
            assert self._facts(self.world.root / path) == facts, f"{path} is not in the plan and was touched"
        if both is None:
            return
        report, entry = both
        assert report.entry == entry
        assert set(report.restored) == set(expected.acts), "the report lists what changed"
        assert report.verified
        assert not report.failed or any(not known(step.wanted) for step in expected.steps.values())

    def _new(self, chats: set[ChatId]) -> str:
        return next((chat for chat in self.world.transcripts.chats if chat not in chats), "no-branch")

    def compare_plan(self, plan: RestorePlan, expected: Plan) -> None:
        assert plan.cuts == (expected.keep >= 0), "the transcript is cut"
        assert not plan.cuts or plan.keep_messages == expected.keep
        assert bool(plan.brings_back) == bool(expected.back_from)
        said = {file.path: (file.action.value, file.reason, file.changed_by or "") for file in plan.files}
        wanted = {path: (step.action, step.reason, self._who(step)) for path, step in expected.steps.items()}
        assert said == wanted, f"plan {plan.kind.value} {plan.point} of {plan.chat}: {said} is not {wanted}"
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
        return sorted({line.chat for line in self.model.lines} - self.model.retired - self.gone)

    def check(self) -> None:
        assert self.disk() == self.model.disk
        for path, facts in self.foreign.items():
            assert self._facts(self.world.root / path) == facts, path
        assert not self.world.stages()
        assert {chat: all_ for chat, all_ in self.world.transcripts.chats.items() if all_} == {
            chat: all_ for chat, all_ in self.model.transcripts.items() if all_
        }
        for chat in self.chats():
            self.check_points(chat)
            self.check_timeline(chat)
        assert self.model.lost() == []
        wrong = self.model.wrong(self.chats())
        assert not wrong, f"not what was there: {wrong}"
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
            net = self._net(chat, lambda line, turn=turn: line.turn == turn and not line.entry)
            if turn == self.model.open.get(chat):
                net = {path: change for path, change in net.items() if not self._waits(chat, turn, path, change[0])}
            _equal_changes(said, net, f"turn {turn}")
        for entry, row in entries.items():
            said = {change.path: (self.state(change.before), self.state(change.after)) for change in row.files}
            _equal_changes(said, self._net(chat, lambda line, entry=entry: line.entry == entry), f"entry {entry}")

    def _waits(self, chat: str, turn: int, path: str, before: St) -> bool:
        """Whether a turn that has not ended has only announced a change of a path, so far."""
        last = self.model.last_line(path)
        announced = last is not None and (last.chat, last.turn, last.kind) == (chat, turn, "snapshot") and not last.through
        return announced and same(before, self.model.at_disk(path))

    def _net(self, chat: str, belongs: Callable[[Line], bool]) -> dict[str, tuple[St, St]]:
        found: dict[str, tuple[St, St]] = {}
        for line in self.model.own_lines(chat):
            if line.observes and line.how != "gap" and belongs(line):
                found[line.path] = (found[line.path][0] if line.path in found else line.before, line.after)
        return {path: pair for path, pair in found.items() if not same(*pair)}

    # -- a checker that reads only the disk ----------------------------------------------------------------------

    def check_log(self) -> None:
        """The logs hold the lines of the model, in its order; the lines of one look may come in any order."""
        for said, true in itertools.zip_longest(self.written(), _written(self.model)):
            assert said == true, f"log: {said}, model: {true}"

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
        return _any_order([line for _, line in sorted(found, key=lambda item: item[0])])

    def _parsed(self, chat: str, line: dict[str, object]) -> tuple[object, ...]:
        if line["type"] == "conflict_detected":
            return (chat, line["type"], 0, 0, line["path"], "", "", "", "")
        states = [self._parsed_state(line, side) for side in ("before", "after")] if "path" in line else []
        keys = [line.get(key, "") for key in ("path", "author", "how", "tag", "owner")]
        turn = 0 if line["type"] == "branch_start" else line.get("turn", 0)
        return (chat, line["type"], turn, line.get("entry", 0), *keys, *states)

    def _parsed_state(self, line: dict[str, object], side: str) -> tuple[object, ...]:
        kind = {"present": "file"}.get(str(line[f"{side}_state"]), line[f"{side}_state"])
        return (
            kind,
            self.blob(str(line[f"{side}_sha"])) if kind == "file" else b"",
            None if kind == "unknown" else line.get(f"{side}_mode"),
        )

    def blob(self, sha: str) -> bytes:
        for place in ("snapshots/blobs", "desktop/blobs"):
            path = self.world.vault_folder / place / sha[:2] / sha[2:]
            if path.exists():
                data = path.read_bytes()
                assert hashlib.sha256(data).hexdigest() == sha, "a content is damaged"
                return data
        raise AssertionError(f"a line names the content {sha}, which is not there")


_SHOWN = (
    "turn_start",
    "turn_end",
    "command_start",
    "command_end",
    "snapshot",
    "observed",
    "conflict_detected",
    "restore_plan",
    "branch_start",
)


def _written(model: Vault) -> list[tuple[object, ...]]:
    return _any_order([_short(line) for line in model.lines if line.kind in _SHOWN])


def _any_order(lines: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The lines of one look, or of one restore, have no order among each other."""
    found: list[tuple[object, ...]] = []
    for looked, group in itertools.groupby(lines, key=lambda line: line[6] in ("scan", "gap", "settle", "restore")):
        one_look = list(group)
        found += sorted(one_look, key=lambda line: str(line[:7])) if looked else one_look
    return found


def _short(line: Line) -> tuple[object, ...]:
    states = [tuple(line.before), tuple(line.after)] if line.observes else []
    owner = "chat" if line.owner.startswith("chat:") else line.owner
    return (line.chat, line.kind, line.turn, line.entry, line.path, line.author, line.how, line.tag, owner, *states)


def _equal_changes(said: dict[str, tuple[St, St]], true: dict[str, tuple[St, St]], where: str) -> None:
    assert said.keys() == true.keys(), (where, sorted(said), sorted(true))
    for path in said:
        for one, other in zip(said[path], true[path], strict=True):
            assert one == other == UNKNOWN or same(one, other), (where, path)


__all__ = ["FOREIGN", "PATHS", "Run", "Waiting"]
