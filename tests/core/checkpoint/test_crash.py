"""A restore is stopped at every durable step, and so is the recovery from it: every path is whole, nothing is lost."""

import contextlib
import hashlib
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.world import A, Crash, CrashAt, World
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import RestoreKind, Scope
from vibekit_desktop.core.types.errors import RestoreUnfinished

BEFORE = {"write": b"new", "run.sh": b"#!new", "made": b"made", "same": b"same"}
WANTED = {"write": b"old", "run.sh": b"#!new", "deep/gone": b"gone", "same": b"same"}
MESSAGES = [1, 0, 2, 0]


def make(folder: Path, clock: Clock) -> World:
    """One write, one creation in a new folder, one deletion, one change of mode; two turns, so that one is cut."""
    folder.mkdir()
    world = World(folder, clock)
    world.turn({"same": b"same"})
    world.write("write", b"old")
    world.write("run.sh", b"#!new", 0o755)
    world.write("deep/gone", b"gone")
    world.begin()
    world.act("write", b"new")
    world.act("run.sh", lambda: os.chmod(world.root / "run.sh", 0o644))
    world.act("made", b"made")
    world.act("deep/gone", None)
    os.rmdir(world.root / "deep")
    world.end()
    return world


def check_whole(world: World) -> None:
    """Every path is its complete before or its complete after; every content that was there is on disk or in the store."""
    disk = {path: data for path, data in world.disk().items() if ".vibekit-restore-" not in path}
    for path in {*BEFORE, *WANTED}:
        allowed = {BEFORE.get(path), WANTED.get(path)}
        assert disk.get(path) in allowed, path
    assert disk.keys() <= {*BEFORE, *WANTED}
    assert (world.root / "run.sh").stat().st_mode & 0o777 in (0o644, 0o755)
    for data in (*BEFORE.values(), *WANTED.values()):
        sha = hashlib.sha256(data).hexdigest()
        stored = [world.vault_folder / place / sha[:2] / sha[2:] for place in ("snapshots/blobs", "desktop/blobs")]
        assert data in disk.values() or any(blob.exists() and blob.read_bytes() == data for blob in stored)
    assert any(found[: len(MESSAGES)] == MESSAGES for found in world.transcripts.chats.values())
    assert world.transcripts.chats[A] in (MESSAGES, MESSAGES[:2])


def check_end(world: World, *, carried_out: bool) -> None:
    """The restore happened as a whole, or it did not happen."""
    check_whole(world)
    assert not world.stages()
    assert not (world.vault_folder / "desktop/staging").exists()
    assert world.kernel.unfinished() == []
    assert world.vault.damage(A) == ()
    report = world.kernel.verify()
    assert [found for found in report.problems if found.kind.value not in ("blob-stray", "log-tail")] == []
    mode = (world.root / "run.sh").stat().st_mode & 0o777
    if carried_out:
        assert (world.disk(), mode, world.transcripts.chats[A]) == (WANTED, 0o755, MESSAGES[:2])
        assert [line.type for line in world.vault.lines(A) if line.entry and line.type.startswith("restore")] == [
            "restore_plan",
            "restore_done",
        ]
        (branch,) = [chat for chat in world.transcripts.chats if chat != A]
        assert world.at("after:2", "write", branch) == b"new"
    else:
        assert (world.disk(), mode, world.transcripts.chats[A]) == (BEFORE, 0o644, MESSAGES)
        assert not (world.root / "deep").exists()


def crashed(world: World, at: int) -> bool:
    """Restore with a crash at a point; whether there is such a point."""
    plan = world.plan("before:2", scope=Scope.BOTH)
    with faults.armed(CrashAt(at)):
        try:
            world.do(plan)
        except Crash:
            return True
    return False


def planned(world: World) -> bool:
    return any(line.type == "restore_plan" for line in world.vault.lines(A))


def test_every_step_of_a_restore_may_be_the_last(tmp_path: Path, clock: Clock) -> None:
    start = make(tmp_path / "start", clock)
    at = 0
    while True:
        at += 1
        world = start.copy(tmp_path / f"at-{at}")
        if not crashed(world, at):
            break
        world.reopen()
        check_whole(world)
        world.recover()
        check_end(world, carried_out=planned(world))
        disk, lines = world.disk(), world.vault.lines(A)
        world.reopen()
        assert world.recover() == []
        assert (world.disk(), world.vault.lines(A)) == (disk, lines)
        if planned(world):
            world.undo()
            assert world.disk() == BEFORE
            assert world.transcripts.chats == {A: MESSAGES}
    check_end(world, carried_out=True)
    assert at > 50


def test_every_step_of_the_recovery_may_be_the_last_too(tmp_path: Path, clock: Clock) -> None:
    """Two levels: for each step of the restore after which there is something to recover, each step of the recovery."""
    start = make(tmp_path / "start", clock)
    first = runs = 0
    while True:
        first += 1
        broken = start.copy(tmp_path / f"at-{first}")
        if not crashed(broken, first):
            break
        second = 0
        while True:
            second += 1
            world = broken.copy(tmp_path / f"at-{first}-{second}")
            crash = CrashAt(second)
            with faults.armed(crash), contextlib.suppress(Crash):
                world.recover()
            if len(crash.seen) < second:
                break
            runs += 1
            world.reopen()
            check_whole(world)
            world.recover()
            check_end(world, carried_out=planned(world))
            shutil.rmtree(world.root.parent)
    assert first > 50
    assert runs > 300


def test_every_step_of_an_undo_may_be_the_last(tmp_path: Path, clock: Clock) -> None:
    """The turns come back with the files, whatever happens in between."""
    start = make(tmp_path / "start", clock)
    start.restore("before:2", scope=Scope.BOTH)
    at = 0
    while True:
        at += 1
        world = start.copy(tmp_path / f"at-{at}")
        plan = world.plan(None, kind=RestoreKind.UNDO, scope=Scope.BOTH)
        crash = CrashAt(at)
        with faults.armed(crash), contextlib.suppress(Crash):
            world.do(plan)
        check_whole(world)
        world.reopen()
        world.recover()
        check_whole(world)
        assert not world.stages()
        done = [line.entry for line in world.vault.lines(A) if line.type == "restore_done"]
        if done == [1, 2]:
            assert (world.disk(), world.transcripts.chats) == (BEFORE, {A: MESSAGES})
            assert world.vault.chats_with_logs() == [A]
            assert not (world.root / "deep").exists()
            assert world.kernel.timeline(A).can_redo == 2
        else:
            assert (done, world.disk()) == ([1], WANTED)
        if len(crash.seen) < at:
            break
    assert at > 40


def test_what_a_person_wrote_between_crash_and_recovery_stays(tmp_path: Path, clock: Clock) -> None:
    """Neither expected nor wanted: left, stored, told."""
    world = make(tmp_path / "world", clock)
    seen = CrashAt()
    trial = make(tmp_path / "trial", clock)
    plan = trial.plan("before:2", scope=Scope.BOTH)
    with faults.armed(seen):
        trial.do(plan)
    assert crashed(world, seen.seen.index("restore.planned") + 1)
    world.write("write", b"typed after the crash")
    world.write("deep/gone", b"made after the crash")
    world.reopen()
    (report,) = world.recover()
    assert world.read("write") == b"typed after the crash"
    assert world.read("deep/gone") == b"made after the crash"
    assert [(left.path, left.reason) for left in report.failed] == [
        ("deep/gone", "changed-just-now"),
        ("write", "changed-just-now"),
    ]
    assert sorted(report.restored) == ["made", "run.sh"]
    kinds = [line.type for line in world.vault.lines(A) if line.entry]
    assert kinds.count("restore_conflict") == 2
    assert kinds[-1] == "restore_partial"
    for data in (b"typed after the crash", b"made after the crash"):
        assert world.vault.blobs.get(hash_of(data)) == data
    assert not world.stages()


def test_a_change_just_before_the_rename_stays(tmp_path: Path, clock: Clock) -> None:
    world = make(tmp_path / "world", clock)
    plan = world.plan("before:2")

    def meddle(name: str) -> None:
        if name == "restore.planned":
            world.write("write", b"saved by an editor this very moment")

    with faults.armed(meddle):
        report = world.do(plan)
    assert world.read("write") == b"saved by an editor this very moment"
    assert [(left.path, left.reason) for left in report.failed] == [("write", "changed-just-now")]
    assert report.verified


def test_a_plan_of_another_vault_is_reported_and_never_carried_on(tmp_path: Path, clock: Clock) -> None:
    world = make(tmp_path / "world", clock)
    at = 0
    while not planned(world):
        at += 1
        world = make(tmp_path / f"at-{at}", clock)
        crashed(world, at)
        world.reopen()
    disk = world.disk()
    (world.vault_folder / "desktop/token").write_bytes(b"another\n")
    assert world.kernel.unfinished() == [(A, "other-vault")]
    assert world.recover() == []
    assert world.disk() == disk
    assert world.kernel.timeline(A).unfinished


def test_a_restore_that_the_original_began_is_only_reported(world: World) -> None:
    world.turn({"a": b"a1"})
    started = b'{"type":"restore_started","tag":"1","ts":1,"message_count":3,"v":1}\n'
    with world.log_path().open("ab") as log:
        log.write(started)
    assert world.kernel.unfinished() == [(A, "original")]
    assert world.recover() == []
    assert world.read("a") == b"a1"
    with world.log_path().open("ab") as log:
        log.write(started.replace(b"started", b"committed"))
    assert world.kernel.unfinished() == []
    assert [entry.point for entry in world.kernel.timeline(A).entries if entry.kind.value == "restore"] == ["1"]


def test_a_needed_content_that_is_damaged_keeps_the_restore_unfinished(tmp_path: Path, clock: Clock) -> None:
    world = make(tmp_path / "world", clock)
    trial = make(tmp_path / "trial", clock)
    seen = CrashAt()
    plan = trial.plan("before:2")
    with faults.armed(seen):
        trial.do(plan)
    assert crashed(world, seen.seen.index("restore.planned") + 1)
    for stage in world.root.rglob("*.vibekit-restore-*"):
        stage.unlink()
    sha = hash_of(b"old")
    for place in ("snapshots/blobs", "desktop/blobs"):
        (world.vault_folder / place / sha[:2] / sha[2:]).write_bytes(b"bad")
    disk = world.disk()
    world.reopen()
    assert world.recover() == []
    assert world.disk() == disk
    assert world.kernel.unfinished() == [(A, "interrupted")]
    with pytest.raises(RestoreUnfinished):
        world.do(world.plan("before:1"))
    world.vault.blobs.put(b"old", own=True)
    (report,) = world.recover()
    assert report.verified
    assert world.disk() == WANTED


def test_look_alikes_of_stages_survive(tmp_path: Path, clock: Clock) -> None:
    world = make(tmp_path / "world", clock)
    theirs = ["write.vibekit-restore-1", "write.vibekit-restore-123456789012345678", "x.vibekit-restore-"]
    for name in theirs:
        world.write(name, b"theirs")
    at = CrashAt()
    trial = make(tmp_path / "trial", clock)
    with faults.armed(at):
        trial.do(trial.plan("before:2", scope=Scope.BOTH))
    crashed(world, at.seen.index("stage.sync") + 1)
    assert len(world.stages()) == 4
    world.reopen()
    world.recover()
    assert sorted(world.stages()) == sorted(theirs)
    crashed(world, len(at.seen) + 50)
    assert sorted(world.stages()) == sorted(theirs)
