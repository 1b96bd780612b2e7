"""When the world does not play along: a full disk, a closed folder, a lost stage. Nothing is lost, and what failed is named."""

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.world import ALL_MINE, A, B, Crash, World
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.history import History
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.checkpoint.log import Line, PlanBody
from vibekit_desktop.core.checkpoint.ownership import author_word
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import Author, Mine, RestoreKind, Scope
from vibekit_desktop.core.types.errors import (
    CannotWrite,
    DiskFull,
    NothingToTakeBack,
    PlanStale,
    RestoreUnfinished,
)
from vibekit_desktop.core.types.ids import WorkspacePath


@dataclass
class Rule:
    """Fail calls of one name whose path matches."""

    call: str
    matches: Callable[[str], bool]
    error: int


class FailingFs(Fs):
    """A disk that refuses some calls by path."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []

    def _check(self, call: str, path: Path | str) -> None:
        for rule in self.rules:
            if rule.call == call and rule.matches(str(path)):
                raise OSError(rule.error, os.strerror(rule.error))

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            self._check("create", path)
        return super().open(path, flags, mode, dir_fd=dir_fd)

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        self._check("move", new)
        super().move(old, new, dir_fd=dir_fd)

    def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        self._check("unlink", name)
        super().unlink(name, dir_fd=dir_fd)

    def touch(self, path: Path) -> None:
        self._check("touch", path)
        super().touch(path)

    def link(self, old: Path, new: Path) -> None:
        self._check("link", new)
        super().link(old, new)


@pytest.fixture
def fs() -> FailingFs:
    return FailingFs()


@pytest.fixture
def world(tmp_path: Path, clock: Clock, fs: FailingFs) -> World:
    made = World(tmp_path, clock, fs)
    made.write("a", b"a0")
    made.write("b", b"b0")
    made.turn({"a": b"a1", "b": b"b1", "c": b"c1"})
    return made


def is_stage_of(name: str) -> Callable[[str], bool]:
    return lambda path: path.startswith(f"{name}.vibekit-restore-")


def lose_before(world: World, point: str, wanted: str = "before:1") -> None:
    """Restore, and crash just before a point."""

    def kill(name: str) -> None:
        if name == point:
            raise Crash

    with faults.armed(kill), pytest.raises(Crash):
        world.do(world.plan(wanted, scope=Scope.BOTH))
    world.reopen()


def test_bl_024_a_failing_stage_names_the_file_and_changes_nothing(world: World, fs: FailingFs) -> None:
    disk = world.disk()
    fs.rules.append(Rule("create", is_stage_of("b"), errno.EIO))
    plan = world.plan("before:1")
    with pytest.raises(CannotWrite) as caught:
        world.do(plan)
    assert caught.value.path == "b"
    assert (world.disk(), world.stages()) == (disk, [])
    assert not any(line.type == "restore_plan" for line in world.vault.lines(A))
    fs.rules.clear()
    assert world.restore("before:1").verified


def test_a_full_disk_while_staging_takes_new_folders_back(world: World, fs: FailingFs) -> None:
    world.write("deep/er/f", b"f0")
    world.begin()
    world.act("deep/er/f", None)
    shutil.rmtree(world.root / "deep")
    fs.rules.append(Rule("create", is_stage_of("f"), errno.ENOSPC))
    with pytest.raises(DiskFull):
        world.restore("before:2")
    assert not (world.root / "deep").exists()
    assert not (world.vault_folder / "desktop/staging").exists()


def test_a_closed_folder_leaves_only_its_own_paths(world: World, fs: FailingFs) -> None:
    fs.rules.append(Rule("create", is_stage_of("b"), errno.EACCES))
    report = world.restore("before:1")
    assert [(left.path, left.reason) for left in report.failed] == [("b", "cannot-write")]
    assert world.disk() == {"a": b"a0", "b": b"b1"}


def test_when_nothing_can_be_staged_there_is_no_entry(world: World, fs: FailingFs) -> None:
    fs.rules.append(Rule("create", is_stage_of("b"), errno.EROFS))
    report = world.restore("before:1", paths=("b",))
    assert (report.entry, [left.reason for left in report.failed]) == (0, ["cannot-write"])
    assert not any(line.entry for line in world.vault.lines(A))


def test_what_cannot_be_stored_is_left(world: World, fs: FailingFs) -> None:
    world.write("a", b"typed by hand")
    plan = world.plan("before:1", mine=ALL_MINE)
    sha = hash_of(b"typed by hand")
    fs.rules.append(Rule("move", lambda path: path.endswith(sha[2:]), errno.ENOSPC))
    report = world.do(plan)
    assert [(left.path, left.reason) for left in report.failed] == [("a", "cannot-store")]
    assert world.disk() == {"a": b"typed by hand", "b": b"b0"}
    (gap,) = [line for line in world.vault.lines(A) if line.how == "gap"]
    assert (gap.after_state, gap.after_reason, gap.after_sha) == ("not-captured", "cannot-store", sha)


def test_a_plan_that_cannot_be_written_down_changes_nothing(world: World, fs: FailingFs) -> None:
    disk = world.disk()
    fs.rules.append(Rule("create", lambda path: path.endswith("events.jsonl"), errno.ENOSPC))
    with pytest.raises(DiskFull):
        world.restore("before:1")
    assert (world.disk(), world.stages()) == (disk, [])


def test_a_rename_that_fails_leaves_that_path_and_goes_on(world: World, fs: FailingFs) -> None:
    fs.rules += [
        Rule("move", lambda path: path == "a", errno.EACCES),
        Rule("unlink", lambda path: path == "c", errno.EACCES),
    ]
    report = world.restore("before:1")
    assert [(left.path, left.reason) for left in report.failed] == [("a", "cannot-write"), ("c", "cannot-write")]
    assert world.disk() == {"a": b"a1", "b": b"b0", "c": b"c1"}
    assert not world.stages()
    fs.rules.clear()
    world.undo()
    assert world.disk() == {"a": b"a1", "b": b"b1", "c": b"c1"}


def test_a_stage_that_cannot_be_removed_does_not_stop_the_rest(world: World, fs: FailingFs) -> None:
    fs.rules += [
        Rule("move", lambda path: path == "a", errno.EACCES),
        Rule("unlink", is_stage_of("a"), errno.EACCES),
    ]
    report = world.restore("before:1")
    assert [left.path for left in report.failed] == ["a"]
    assert world.disk().keys() - {"a", "b"} == set(world.stages())


def test_a_content_that_changes_while_it_is_stored_makes_the_plan_stale(world: World) -> None:
    plan = world.plan("before:1")

    def meddle(name: str) -> None:
        if name == "atomic.create" and world.read("a") == b"a1":
            world.write("a", b"other")

    with faults.armed(meddle), pytest.raises(PlanStale) as caught:
        world.do(plan)
    assert caught.value.changed == ("a",)
    assert world.disk() == {"a": b"other", "b": b"b1", "c": b"c1"}


def test_large_content_that_no_restore_takes_is_not_copied_at_a_look(world: World) -> None:
    world.cap(10)
    world.write("b", b"more than ten bytes")
    world.restore("before:1", paths=("a",))
    (gap,) = [line for line in world.vault.lines(A) if line.how == "gap"]
    assert (gap.after_state, gap.after_reason, gap.after_sha) == ("not-captured", "too-large", hash_of(b"more than ten bytes"))
    world.restore("before:1", mine=Mine(restore=frozenset({WorkspacePath("b")})))
    assert world.read("b") == b"b0"
    world.undo()
    assert world.read("b") == b"more than ten bytes"


def test_a_file_that_became_a_folder_is_told_as_gone(world: World) -> None:
    (world.root / "b").unlink()
    (world.root / "b").mkdir()
    world.restore("before:1", paths=("a",))
    (gap,) = [line for line in world.vault.lines(A) if line.how == "gap"]
    assert (gap.path, gap.after_state) == ("b", "absent")


def test_what_cannot_be_read_gets_no_line(world: World) -> None:
    (world.root / "b").unlink()
    os.mkfifo(world.root / "b")
    world.restore("before:1", paths=("a",))
    assert not [line for line in world.vault.lines(A) if line.how == "gap"]


def test_a_lost_stage_is_made_again_with_its_folder(world: World) -> None:
    world.write("deep/f", b"f0")
    world.begin()
    world.act("deep/f", None)
    shutil.rmtree(world.root / "deep")
    lose_before(world, "restore.planned", "before:2")
    shutil.rmtree(world.root / "deep")
    (report,) = world.recover()
    assert (report.verified, world.read("deep/f")) == (True, b"f0")
    world.undo()
    assert not (world.root / "deep").exists()


def test_a_spoiled_stage_is_made_again(world: World) -> None:
    lose_before(world, "restore.planned")
    for name in world.stages():
        (world.root / name).write_bytes(b"spoiled")
    (report,) = world.recover()
    assert report.verified
    assert world.disk() == {"a": b"a0", "b": b"b0"}


def test_a_path_that_cannot_be_looked_at_after_the_crash_is_left(world: World) -> None:
    lose_before(world, "restore.planned")
    (world.root / "a").unlink()
    os.mkfifo(world.root / "a")
    (world.root / "c").unlink()
    (report,) = world.recover()
    assert [(left.path, left.reason) for left in report.failed] == [("a", "not-regular")]
    assert report.restored == ("b", "c")


def test_a_change_after_the_crash_that_cannot_be_stored_is_still_left(world: World, fs: FailingFs) -> None:
    lose_before(world, "restore.planned")
    world.write("a", b"typed by hand")
    fs.rules.append(Rule("move", lambda path: path.endswith(hash_of(b"typed by hand")[2:]), errno.ENOSPC))
    world.recover()
    (conflict,) = [line for line in world.vault.lines(A) if line.type == "restore_conflict"]
    assert (conflict.after_state, world.read("a")) == ("not-captured", b"typed by hand")


def test_a_plan_stays_open_while_the_log_is_damaged_or_the_workspace_is_away(world: World) -> None:
    lose_before(world, "restore.planned")
    away = CheckpointKernel(world.fs, world.vault, None, world.transcripts, world.clock)
    assert (away.recover(), away.unfinished()) == ([], [(A, "interrupted")])
    good = world.log_path().read_bytes()
    world.log_path().write_bytes(good.replace(b'"turn_start"', b'"turn_stort"', 1))
    assert world.kernel.unfinished() == [(A, "log-damaged")]
    assert world.recover() == []
    with pytest.raises(RestoreUnfinished):
        world.do(world.plan("start"))
    world.log_path().write_bytes(good)
    (report,) = world.recover()
    assert report.verified


def test_an_open_plan_of_one_chat_holds_its_paths_against_others(world: World) -> None:
    lose_before(world, "restore.planned")
    world.turn({"z": b"z"}, B)
    world.turn({"a": b"b"}, B)
    with pytest.raises(RestoreUnfinished) as caught:
        world.restore("start", B)
    assert caught.value.chat == A
    assert world.restore("before:1", B, paths=("z",)).entry == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"rubbish",
        lambda data: data.replace(b'"a"', b'"../a"'),
        lambda data: data.replace(b'"token":"', b'"token":"0'),
        lambda data: data.replace(b"a.vibekit", b"../a.vibekit"),
    ],
)
def test_a_list_of_stages_that_is_not_ours_removes_nothing(world: World, spoil: Callable[[bytes], bytes]) -> None:
    lose_before(world, "restore.plan")
    listed = world.vault_folder / "desktop/staging"
    listed.write_bytes(spoil(listed.read_bytes()))
    stages = sorted(world.stages())
    assert len(stages) == 2
    world.recover()
    if spoil(b"a.vibekit") != b"../a.vibekit":
        assert sorted(world.stages()) == stages
    assert not listed.exists()
    assert world.disk().keys() >= {"a", "b", "c"}


def test_a_restore_clears_away_what_an_earlier_one_left(world: World) -> None:
    lose_before(world, "restore.plan")
    assert len(world.stages()) == 2
    assert world.restore("before:1").verified
    assert world.stages() == []


def test_a_list_that_cannot_be_touched_up_still_counts_as_a_blob(world: World, fs: FailingFs) -> None:
    fs.rules.append(Rule("touch", lambda _: True, errno.EPERM))
    assert world.restore("before:1").verified


def test_lines_of_a_plan_that_means_nothing_to_us_are_shown_and_passed_over(world: World) -> None:
    body = PlanBody(kind="sideways", point="nowhere", scope="files", token="x")
    world.vault.append(A, [Line(type="restore_plan", entry=1, plan=body), Line(type="restore_done", entry=1)])
    timeline = world.kernel.timeline(A)
    assert [row.restore_kind for row in timeline.entries if row.entry] == [RestoreKind.RESTORE]
    assert timeline.can_undo == 0
    with pytest.raises(NothingToTakeBack):
        world.plan(None, kind=RestoreKind.REDO)


def test_a_change_told_as_another_chats_names_it(world: World) -> None:
    line = log.observed(
        WorkspacePath("a"), world.look("a"), world.look("b"), author=Author.CHAT, how=log.How.SCAN, other_chat="other"
    )
    world.write("a", b"b1")
    world.vault.append(A, [line])
    assert world.plan("before:1").files[0].changed_by == "other"
    view = History(world.vault.all_logs()).view(A)
    last = view.last(WorkspacePath("a"))
    assert last is not None
    assert author_word(last, A) == "chat:other"


def test_a_folder_is_never_restored_as_a_file(world: World) -> None:
    folder = Line(type="observed", path="d", before_state="folder", after_state="absent", author="agent", how="scan", turn=1)
    world.vault.append(A, [folder])
    assert world.actions(world.plan("start", paths=("d",))) == {"d": "leave:not-regular"}
