"""An undo of a turn is stopped at every durable step, and so is the recovery from it: all of it happened, or nothing."""

import contextlib
import hashlib

import pytest

from tests.core.checkpoint.world import Crash, CrashAt
from tests.core.services.town import Town
from tests.core.services.undo_town import CHAT, UndoTown, text
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import EntryKind, RestorePlan

LINES = [f"line {number}" for number in range(30)]


def lines(**to: str) -> bytes:
    """The usual lines with some of them as another word."""
    return text(*(to.get(line.replace(" ", ""), line) for line in LINES))


BEFORE = {
    "merged": lines(line3="turn 2", line20="turn 3", line29="mine"),
    "moved": lines(line3="mine"),
    "new/deep/made": b"made\n",
    "binary": b"\0two",
}
AFTER = {
    "merged": lines(line20="turn 3", line29="mine"),
    "d/old": lines(line3="mine"),
    "gone": b"gone\n",
    "binary": b"\0one",
}


@pytest.fixture
def undo(town: Town) -> UndoTown:
    """A turn that changed, renamed, made and deleted files, and later work by a turn and a person."""
    made = UndoTown(town)
    made.turn({"merged": lines(), "d/old": lines(), "gone": b"gone\n", "binary": b"\0one"})
    made.turn(
        {
            "merged": lines(line3="turn 2"),
            "d/old": None,
            "moved": lines(),
            "new/deep/made": b"made\n",
            "gone": None,
            "binary": b"\0two",
        }
    )
    (made.work / "d").rmdir()
    made.turn({"merged": lines(line3="turn 2", line20="turn 3")})
    made.put({"merged": BEFORE["merged"], "moved": BEFORE["moved"]})
    assert made.disk() == BEFORE
    return made


def check_whole(undo: UndoTown) -> None:
    """Every path is its complete before or after, and every content that was there is on disk or in the store."""
    disk = {path: data for path, data in undo.disk().items() if ".vibekit-restore-" not in path}
    for path in {*BEFORE, *AFTER, *disk}:
        assert disk.get(path) in (BEFORE.get(path), AFTER.get(path)), path
    assert all(data in disk.values() or is_stored(undo, data) for data in BEFORE.values())


def is_stored(undo: UndoTown, data: bytes) -> bool:
    sha = hashlib.sha256(data).hexdigest()
    stored = [undo.town.vault / place / sha[:2] / sha[2:] for place in ("snapshots/blobs", "desktop/blobs")]
    return any(blob.exists() and blob.read_bytes() == data for blob in stored)


def is_planned(undo: UndoTown) -> bool:
    """Whether the plan is in the log, whole."""
    log = (undo.town.vault / "snapshots" / "chats" / CHAT / "events.jsonl").read_bytes()
    return any(b'"type":"restore_plan"' in line for line in log.split(b"\n")[:-1])


def crashed(undo: UndoTown, plan: RestorePlan, hook: CrashAt) -> bool:
    """Carry it out with a crash at a point; whether there is such a point."""
    with faults.armed(hook):
        try:
            undo.town.run(lambda wired: wired.core.checkpoints.carry_out(plan))
        except Crash:
            return True
    return False


def recover(undo: UndoTown) -> None:
    undo.town.run(lambda wired: wired.recover())


def check_end(undo: UndoTown) -> bool:
    """All or nothing; whether it was all."""
    check_whole(undo)
    disk = undo.disk()
    assert disk in (BEFORE, AFTER)
    report = undo.town.run(lambda wired: wired.core.library.verify(None))
    assert [one for one in report.problems if one.kind.value != "log-tail"] == []
    timeline = undo.timeline()
    entries = [entry for entry in timeline.entries if entry.kind is EntryKind.RESTORE]
    assert not timeline.unfinished
    assert len(entries) == (disk == AFTER)
    assert not (undo.town.vault / "desktop" / "staging").exists()
    assert (undo.work / "new").exists() is (disk == BEFORE)
    assert (undo.work / "d").exists() is (disk == AFTER)
    return disk == AFTER


def test_every_step_of_an_undo_of_a_turn_may_be_the_last(undo: UndoTown) -> None:
    plan = undo.plan(2).plan
    assert plan is not None
    kept = undo.town.copy()
    done = 0
    at = 0
    while True:
        at += 1
        hook = CrashAt(at)
        if not crashed(undo, plan, hook):
            break
        check_whole(undo)
        planned = is_planned(undo)
        if planned:
            assert is_stored(undo, AFTER["merged"]), "the merged content is there before the plan"
        recover(undo)
        assert check_end(undo) is planned, hook.seen[-1]
        if planned:
            done += 1
            undo.take_back()
            assert undo.disk() == BEFORE
            undo.take_back(redo=True)
            assert undo.disk() == AFTER
        undo.town.put_back(kept)
    assert check_end(undo)
    assert at > 60
    assert done > 20


def test_every_step_of_the_recovery_may_be_the_last_too(undo: UndoTown) -> None:
    plan = undo.plan(2).plan
    assert plan is not None
    kept = undo.town.copy()
    counted = CrashAt()
    crashed(undo, plan, counted)
    first = counted.seen.index("restore.planned") + 1
    runs = 0
    for at in range(first, len(counted.seen) + 1, 7):
        second = 0
        while True:
            second += 1
            undo.town.put_back(kept)
            if not crashed(undo, plan, CrashAt(at)):
                # What is known of the disk is written again or not, by how young its files are: a run may have less steps.
                assert at > len(counted.seen) - 7
                assert check_end(undo)
                break
            hook = CrashAt(second)
            with faults.armed(hook), contextlib.suppress(Crash):
                recover(undo)
            if len(hook.seen) < second:
                break
            runs += 1
            check_whole(undo)
            recover(undo)
            assert check_end(undo)
    assert runs > 40


def test_what_a_person_writes_between_crash_and_recovery_stays(undo: UndoTown) -> None:
    plan = undo.plan(2).plan
    assert plan is not None
    kept = undo.town.copy()
    counted = CrashAt()
    crashed(undo, plan, counted)
    undo.town.put_back(kept)
    assert crashed(undo, plan, CrashAt(counted.seen.index("restore.planned") + 1))
    undo.put({"merged": b"typed after the crash\n", "d/old": b"made after the crash\n"})
    recover(undo)
    disk = undo.disk()
    assert disk == AFTER | {"merged": b"typed after the crash\n", "d/old": b"made after the crash\n"}
    assert undo.undone() == {(2, "new/deep/made"), (2, "gone"), (2, "binary"), (2, "moved")}


@pytest.mark.parametrize("kind", ["undo", "redo"])
def test_every_step_of_taking_it_back_may_be_the_last(undo: UndoTown, kind: str) -> None:
    undo.undo_turn(2)
    if kind == "redo":
        undo.take_back()
    kept = undo.town.copy()
    start = undo.disk()
    at = 0
    while True:
        at += 1
        hook = CrashAt(at)
        with faults.armed(hook), contextlib.suppress(Crash):
            undo.take_back(redo=kind == "redo")
        check_whole(undo)
        recover(undo)
        check_whole(undo)
        assert undo.disk() in (BEFORE, AFTER)
        if len(hook.seen) < at:
            break
        undo.town.put_back(kept)
    assert undo.disk() != start
    assert at > 40
