"""Section 4 of the specification: the original's faults, one test a row, each showing that ours is right.

Rows W12 to W14 are the collector's; the groups G and C are told where their parts are tested.
"""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.scenarios.session import Session, killed_at
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.log import WHOLE_LOG
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import Action, EntryKind, RestoreKind, Scope, parse_point
from vibekit_desktop.core.types.errors import CannotWrite, LogDamaged, NotProtected, PlanStale
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.verified import Problem


def small_cap(session: Session, size: int) -> None:
    """From now on files above a few bytes are too large to be captured."""
    world = session.world
    world.cap(size)


def failing_once(step: str, after: str) -> Callable[[str], None]:
    """The first step of that name that comes after another fails as a full disk does."""
    seen: list[str] = []

    def hook(name: str) -> None:
        seen.append(name)
        if name == step and after in seen and "failed" not in seen:
            seen.append("failed")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return hook


def meddling(step: str, change: Callable[[], None]) -> Callable[[str], None]:
    """Somebody changes the disk just before the first step of that name."""
    done: list[str] = []

    def hook(name: str) -> None:
        if name == step and not done:
            done.append(name)
            change()

    return hook


# -- wrong results and data loss ---------------------------------------------------------------------------------


def test_w1_a_turn_that_edited_two_files_is_taken_back_in_both(session: Session) -> None:
    """Upstream deletes b: nothing at or before tag 1 is read as "did not exist"."""
    world = session.world
    world.write("a", b"a0")
    world.write("b", b"b0")
    session.turn({"a": b"a1", "b": b"b1"})
    assert world.restore("1").restored == ("a", "b")
    assert world.disk() == {"a": b"a0", "b": b"b0"}


def test_w2_a_file_too_large_to_capture_is_never_deleted(session: Session) -> None:
    world = session.world
    small_cap(session, 8)
    world.write("big", b"larger than the cap")
    session.begin()
    with pytest.raises(NotProtected):
        session.write("big", b"small")
    report = session.capture("big", Announced(content=b"small"))
    assert (report.coverage.complete, report.before.reason) == (False, "too-large")
    world.write("big", b"small")
    session.end()
    assert world.actions(world.plan("1", mine=ALL_MINE)) == {"big": "leave:not-captured"}
    assert [left.path for left in world.restore("1", mine=ALL_MINE).failed] == ["big"]
    assert world.read("big") == b"small"


def test_w3_a_later_turn_of_another_file_brings_no_undone_edit_back(session: Session) -> None:
    world = session.world
    world.write("f", b"v0")
    session.turn({"f": b"v1"})
    session.turn({"f": b"v2"})
    world.restore("1")
    session.turn({"g": b"x"})
    session.turn({"f": b"v4"})
    assert world.at("3", "f") == b"v0"
    world.restore("3")
    assert world.disk() == {"f": b"v0"}


def test_w4_back_and_forth_never_mixes_two_states(session: Session) -> None:
    world = session.world
    world.write("x", b"x0")
    world.write("y", b"y0")
    session.turn({"x": b"x1"})
    session.turn({"y": b"y1"})
    world.restore("1")
    assert world.disk() == {"x": b"x0", "y": b"y0"}
    world.restore("2")
    assert world.disk() == {"x": b"x1", "y": b"y0"}, "as it was just before turn 2"


def test_w5_a_file_that_is_not_in_the_second_tag_is_in_the_diff(session: Session) -> None:
    world = session.world
    world.write("b", b"b0")
    session.turn({"a": b"a1", "b": b"b1"})
    session.turn({"a": b"a2"})
    found = world.kernel.changed_between(A, parse_point("1"), parse_point("2"))
    assert [(path, world.kernel.read_state(after)) for path, _, after in found] == [("a", b"a1"), ("b", b"b1")]


def test_w6_an_edit_by_hand_between_two_tags_stays(session: Session) -> None:
    world = session.world
    session.turn({"f": b"agent 1"})
    world.write("f", b"by hand")
    session.turn({"g": b"x"})
    session.turn({"f": b"agent 3"})
    world.restore("2")
    assert world.disk() == {"f": b"by hand"}


def test_w7_a_write_whose_content_nobody_announced_is_not_a_deletion(session: Session) -> None:
    world = session.world
    world.write("f", b"0")
    session.begin()
    session.capture("f", Announced())
    world.write("f", b"written by it")
    session.end()
    session.turn({"g": b"x"})
    session.turn({"f": b"later"})
    world.restore("2")
    assert world.disk() == {"f": b"written by it"}


def test_w8_what_a_restore_writes_over_is_kept_or_left(session: Session) -> None:
    world = session.world
    session.turn({"f": b"agent"})
    world.write("f", b"never captured")
    assert world.actions(world.plan("1")) == {"f": "leave:changed-since"}
    world.restore("1", mine=ALL_MINE)
    assert world.disk() == {}
    world.undo()
    assert world.disk() == {"f": b"never captured"}


def test_w9_a_restore_that_was_not_closed_takes_no_later_edit_away(session: Session) -> None:
    world = session.world
    world.write("f", b"0")
    world.write("g", b"0")
    session.turn({"f": b"1", "g": b"1"})
    with killed_at("restore.close"):
        world.restore("1")
    world.write("f", b"edited afterwards")
    world.reopen()
    world.recover()
    assert world.disk() == {"f": b"edited afterwards", "g": b"0"}
    assert world.recover() == []


def test_w10_a_restore_that_was_said_to_have_failed_does_not_happen_later(session: Session) -> None:
    """The line reached the file and its sync failed: the file is cut back before the error is told."""
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1"})
    plan = world.plan("1")
    with faults.armed(failing_once("journal.sync", "restore.plan")), pytest.raises(CannotWrite):
        world.do(plan)
    assert world.stages() == []
    world.reopen()
    assert world.recover() == []
    assert world.disk() == {"f": b"1"}
    assert world.kernel.verify().problems == ()


@pytest.mark.parametrize("obstacle", ["full folder", "file as parent"])
def test_w11_a_file_that_cannot_be_put_back_stops_no_other_and_no_later_call(session: Session, obstacle: str) -> None:
    world = session.world
    world.write("sub/f", b"0")
    world.write("g", b"0")
    session.turn({"sub/f": b"1", "g": b"1"})

    def in_the_way() -> None:
        world.write("sub/f", None)
        if obstacle == "full folder":
            world.write("sub/f/inside", b"mine")
        else:
            for path in (world.root / "sub").iterdir():
                path.unlink()
            (world.root / "sub").rmdir()
            world.write("sub", b"mine")

    with faults.armed(meddling("restore.planned", in_the_way)):
        report = world.restore("1")
    assert (report.restored, [left.path for left in report.failed]) == (("g",), ["sub/f"])
    assert world.kernel.unfinished() == []
    assert session.turn({"g": b"2"}) == 2
    assert world.restore("2").restored == ("g",)


def test_w15_one_bad_line_is_read_around_kept_and_never_written_over(session: Session) -> None:
    """Reading goes on; no tag is handed out a second time, since nothing is appended until the user decides."""
    world = session.world
    session.turn({"f": b"1"})
    session.turn({"f": b"2"})
    lines = world.log_path().read_bytes().splitlines(keepends=True)
    bad = next(number for number, line in enumerate(lines) if b'"tag":"1"' in line)
    lines[bad] = lines[bad].replace(b'"turn":1', b'"turn":7')
    world.log_path().write_bytes(b"".join(lines))
    world.reopen()
    assert world.vault.damage(A) == (bad + 1,)
    assert world.at("2", "f") == b"1"
    with pytest.raises(LogDamaged):
        session.begin()
    with pytest.raises(LogDamaged):
        world.restore("2")
    assert world.log_path().read_bytes() == b"".join(lines)
    assert [found.kind for found in world.kernel.verify().problems] == [Problem.LOG_LINE]
    assert session.turn({"g": b"1"}, B) == 1


def test_w16_what_could_not_be_read_once_is_read_again(session: Session) -> None:
    world = session.world
    session.turn({"f": b"1"})
    path = world.log_path()
    path.rename(path.with_name("aside"))
    path.mkdir()
    assert world.vault.damage(A) == (WHOLE_LOG,)
    path.rmdir()
    path.with_name("aside").rename(path)
    assert world.vault.damage(A) == ()
    assert world.restore("1").restored == ("f",)


def test_w17_a_line_whose_sync_failed_is_not_there_and_its_tag_is_free(session: Session) -> None:
    world = session.world
    session.begin()
    with faults.armed(failing_once("journal.sync", "capture.line")), pytest.raises(CannotWrite):
        session.write("f", b"1")
    assert world.disk() == {}
    assert session.write("f", b"2").tag == "1"
    world.reopen()
    assert session.tags() == ["1"]
    tags = [json.loads(line).get("tag") for line in world.log_path().read_bytes().splitlines()]
    assert tags.count("1") == 1


def test_w18_a_content_above_the_originals_cap_comes_back(session: Session) -> None:
    world = session.world
    large = bytes(16 << 20) + b"1"
    session.turn({"f": large})
    session.turn({"f": b"small"})
    assert world.restore("2").restored == ("f",)
    assert world.read("f") == large


def test_w19_a_damaged_content_is_mended_when_it_is_put_again(session: Session) -> None:
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1"})
    for place in world.vault_folder.rglob(hash_of(b"0")[2:]):
        place.write_bytes(b"broken")
    assert world.actions(world.plan("1")) == {"f": "leave:damaged"}
    session.turn({"g": b"0"})
    assert world.restore("1").restored == ("f", "g")
    assert world.disk() == {"f": b"0"}


# -- restore: what a person sees, and races ----------------------------------------------------------------------


def test_e1_a_preview_says_what_happens_to_each_path(session: Session) -> None:
    world = session.world
    for name in ("changed", "same", "theirs"):
        world.write(name, b"00")
    session.turn({"changed": b"1", "same": b"1", "made": b"1", "theirs": b"1"})
    world.write("same", b"00")
    world.write("theirs", b"by hand")
    files = {str(file.path): file for file in world.plan("1").files}
    assert {path: (file.action, file.reason, file.changed_by) for path, file in files.items()} == {
        "changed": (Action.WRITE, "", None),
        "made": (Action.DELETE, "", None),
        "same": (Action.LEAVE, "same", None),
        "theirs": (Action.LEAVE, "changed-since", "unknown"),
    }
    assert files["changed"].current.size == 1


def test_e2_a_preview_that_is_no_longer_true_is_not_carried_out(session: Session) -> None:
    world = session.world
    session.turn({"f": b"1"})
    plan = world.plan("1")
    world.write("f", b"meanwhile")
    with pytest.raises(PlanStale) as caught:
        world.do(plan)
    assert list(caught.value.changed) == ["f"]
    assert world.disk() == {"f": b"meanwhile"}


@pytest.mark.parametrize("step", ["stage.create", "restore.plan", "restore.planned", "restore.path"])
def test_e3_a_write_while_the_restore_runs_is_neither_lost_nor_left_out(session: Session, step: str) -> None:
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1"})
    with faults.armed(meddling(step, lambda: world.write("f", b"meanwhile"))):
        report = world.restore("1")
    assert world.disk() == {"f": b"meanwhile"}
    assert [(left.path, left.reason) for left in report.left] == [("f", "changed-just-now")]
    assert world.vault.blobs.get(hash_of(b"meanwhile")) == b"meanwhile"


@pytest.mark.parametrize("step", ["restore.plan", "restore.planned"])
def test_e4_the_stages_of_a_run_that_was_killed_are_removed(session: Session, step: str) -> None:
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1"})
    with killed_at(step):
        world.restore("1")
    assert len(world.stages()) == 1
    world.reopen()
    world.recover()
    assert world.stages() == []
    assert world.disk() == {"f": b"1" if step == "restore.plan" else b"0"}


class WatchedFs(Fs):
    """Remembers the inode of everything that was synced."""

    def __init__(self) -> None:
        self.synced: list[int] = []

    def fsync(self, fd: int) -> None:
        self.synced.append(os.fstat(fd).st_ino)
        super().fsync(fd)


@pytest.fixture
def watched(tmp_path: Path, clock: Clock) -> tuple[Session, WatchedFs]:
    fs = WatchedFs()
    return Session(World(tmp_path, clock, fs)), fs


def test_e5_a_deletion_is_synced(watched: tuple[Session, WatchedFs]) -> None:
    session, fs = watched
    world = session.world
    world.write("sub/kept", b"x")
    session.turn({"sub/f": b"1"})
    closed: list[int] = []

    def note(name: str) -> None:
        if name == "target.unlink":
            fs.synced.clear()
        elif name == "restore.close":
            closed.extend(fs.synced)

    with faults.armed(note):
        world.restore("1")
    assert (world.root / "sub").stat().st_ino in closed, "before the restore is said to be done"


def test_e6_new_folders_are_synced_in_their_parents(watched: tuple[Session, WatchedFs]) -> None:
    session, fs = watched
    world = session.world
    session.turn({"new/deep/f": b"1"})
    vault = world.vault_folder
    parents = [
        world.root,
        world.root / "new",
        vault / "snapshots",
        vault / "snapshots" / "chats",
        vault / "snapshots" / "blobs",
    ]
    for parent in parents:
        assert parent.stat().st_ino in fs.synced, parent


def test_e7_a_file_that_is_right_already_is_not_written(session: Session) -> None:
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1", "g": b"1"})
    world.write("f", b"0")
    before = (world.root / "f").stat()
    world.restore("1", mine=ALL_MINE)
    after = (world.root / "f").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_e8_a_checkout_of_one_file_is_an_entry_that_can_be_undone(session: Session) -> None:
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1"})
    world.undo_file("1", "f")
    row = world.kernel.timeline(A).entries[-2]
    assert (row.kind, row.restore_kind, row.entry) == (EntryKind.RESTORE, RestoreKind.UNDO_FILE, 1)
    world.undo()
    assert world.disk() == {"f": b"1"}


def test_e9_a_file_that_the_chat_never_touched_is_never_deleted(session: Session) -> None:
    world = session.world
    world.write("mine", b"x")
    session.turn({"f": b"1"})
    plan = world.plan("1", kind=RestoreKind.UNDO_FILE, paths=("mine",), mine=ALL_MINE)
    assert world.actions(plan)["mine"].startswith("leave:")
    world.do(plan)
    assert world.read("mine") == b"x"


def test_e10_a_question_never_carries_a_restore_on(session: Session) -> None:
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1"})
    with killed_at("restore.planned"):
        world.restore("1", scope=Scope.BOTH)
    world.reopen()
    disk, log = world.disk(), world.log_path().read_bytes()
    world.kernel.timeline(A)
    world.kernel.owner_of(WorkspacePath("f"))
    world.kernel.oldest_tag(A)
    world.kernel.conflicts(A)
    world.kernel.read_blob(A, hash_of(b"1"))
    world.kernel.verify()
    world.plan("1")
    assert (world.disk(), world.log_path().read_bytes()) == (disk, log)


def test_e11_many_files_of_one_folder_are_put_in_place_with_one_sync_of_it(session: Session) -> None:
    world = session.world
    names = [f"sub/{number}" for number in range(6)]
    for name in names:
        world.write(name, b"0")
    session.turn(dict.fromkeys(names, b"1"))
    seen: list[str] = []
    with faults.armed(seen.append):
        world.restore("1")
    done = seen[seen.index("restore.planned") : seen.index("restore.close")]
    assert (done.count("target.rename"), done.count("folder.sync")) == (6, 1)
