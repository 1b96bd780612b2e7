"""Faults that people reported of other programs of this kind, as far as they concern the checkpoints; named after their ids."""

import os
import random
from pathlib import Path

import pytest

from tests.core.checkpoint.world import ALL_MINE, A, B, World, replaced
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.types.checkpoints import Author, FileState, How, State
from vibekit_desktop.core.types.errors import BlobCorrupt, LogDamaged, NothingToTakeBack, PlanStale
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.verified import Problem


def stamp(path: Path) -> tuple[int, int, int, bytes]:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_mode, path.read_bytes()


def test_bl_001_a_restore_leaves_other_projects_of_the_workspace(world: World) -> None:
    world.write("p1/a.txt", b"a0")
    world.write("p2/b.txt", b"b0")
    before = stamp(world.root / "p2/b.txt")
    world.turn({"p1/a.txt": b"a1"})
    world.restore("before:1")
    assert world.read("p1/a.txt") == b"a0"
    assert stamp(world.root / "p2/b.txt") == before


def test_bl_002_output_of_another_process_is_not_in_the_preview(world: World) -> None:
    world.write("run.py", b"0")
    world.turn({"run.py": b"1"})
    world.write("out/data.jsonl", b"much")
    before = stamp(world.root / "out/data.jsonl")
    plan = world.plan("start")
    assert [file.path for file in plan.files] == ["run.py"]
    world.do(plan)
    assert stamp(world.root / "out/data.jsonl") == before


def test_bl_004_the_oldest_point_changes_only_what_the_agent_touched(world: World) -> None:
    for number in range(50):
        world.write(f"f{number}", b"old")
    world.turn({"f0": b"new"})
    for number in range(10):
        world.write(f"mine{number}", b"mine")
    for number in range(1, 6):
        world.write(f"f{number}", b"mine")
    disk = world.disk()
    plan = world.plan("start")
    assert world.actions(plan) == {"f0": "write"}
    world.do(plan)
    assert world.disk() == disk | {"f0": b"old"}


def test_bl_008_undoing_a_chat_never_touches_what_only_an_older_chat_touched(world: World) -> None:
    world.write("f", b"f0")
    world.turn({"f": b"f1"})
    world.write("f", b"weeks of work")
    world.turn({"g": b"g1"}, B)
    plan = world.plan("start", B, mine=ALL_MINE)
    assert world.actions(plan) == {"g": "delete"}
    world.do(plan)
    assert world.disk() == {"f": b"weeks of work"}


def test_bl_011_an_unknown_kind_of_line_changes_nothing_and_survives(world: World) -> None:
    world.write("a", b"a0")
    world.begin()
    odd = b'{"type":"from_the_future","ts":1,"turn":7,"v":3,"what":{"ever":[1]}}'
    with world.log_path().open("ab") as file:
        file.write(odd + b"\n")
    world.act("a", b"a1")
    world.end()
    world.restore("before:1")
    assert world.read("a") == b"a0"
    assert odd in world.log_path().read_bytes().split(b"\n")


def test_bl_014_a_plan_is_bound_to_the_log_it_was_made_at(world: World) -> None:
    world.turn({"a": b"a1"})
    plan = world.plan("before:1")
    world.vault.append(A, [Line(type="turn_start", turn=2)])
    with pytest.raises(PlanStale):
        world.do(plan)
    assert world.read("a") == b"a1"


def test_bl_015_without_version_control_the_bytes_come_back(world: World) -> None:
    world.write("a.txt", b"old")
    world.turn({"a.txt": b"new"})
    report = world.restore("before:1")
    assert (report.restored, report.verified, world.read("a.txt")) == (("a.txt",), True, b"old")


def test_bl_020_a_file_that_was_created_and_then_edited_is_reverted(world: World) -> None:
    world.turn({"t.txt": b"v1"})
    world.turn({"t.txt": b"v2"})
    world.restore("before:2")
    assert world.read("t.txt") == b"v1"
    world.restore("before:1")
    assert world.read("t.txt") is None


def test_bl_025_a_file_that_was_too_large_is_named_and_the_result_is_not_success(world: World) -> None:
    world.begin()
    world.write("big", b"0" * 100)
    before = FileState(State.NOT_CAPTURED, hash_of(b"0" * 100), 0o644, "too-large")
    world.write("big", b"")
    line = log.observed(WorkspacePath("big"), before, world.look("big"), author=Author.AGENT, how=How.ANNOUNCED, turn=1)
    world.vault.append(A, [replaced(line, type="snapshot", tag="1")])
    world.act("small", b"s")
    world.end()
    report = world.restore("before:1")
    assert [(left.path, left.reason) for left in report.failed] == [("big", "not-captured")]
    assert world.vault.lines(A)[-1].type == "restore_partial"
    assert world.disk() == {"big": b""}


def test_bl_028_edits_by_hand_are_flagged_and_kept(world: World) -> None:
    world.write("a.py", b"one\ntwo\n")
    world.write("b.py", b"b\n")
    world.turn({"a.py": b"ONE\ntwo\n"})
    world.write("a.py", b"ONE\nTWO by hand\n")
    world.write("b.py", b"by hand\n")
    plan = world.plan("before:1")
    assert [(file.path, file.changed_by) for file in plan.files] == [("a.py", "unknown")]
    world.restore("before:1", mine=ALL_MINE)
    assert world.disk() == {"a.py": b"one\ntwo\n", "b.py": b"by hand\n"}
    assert world.vault.blobs.get(hash_of(b"ONE\nTWO by hand\n"))


def test_bl_029_a_restore_can_be_undone_hand_edits_included(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1", "b": b"b1"})
    world.write("a", b"by hand")
    disk = world.disk()
    world.restore("1", mine=ALL_MINE)
    assert world.disk() == {"a": b"a0"}
    world.undo()
    assert world.disk() == disk


def test_bl_035_empty_objects_after_a_freeze_leave_the_rest_usable(world: World) -> None:
    world.write("a", b"a0")
    world.write("b", b"b0")
    world.turn({"a": b"a1"})
    world.turn({"b": b"b1"})
    sha = hash_of(b"a0")
    (world.vault_folder / "snapshots/blobs" / sha[:2] / sha[2:]).write_bytes(b"")
    temp = world.vault_folder / "snapshots/blobs" / sha[:2] / f".vibekit-temp-{24 * '0'}"
    temp.write_bytes(b"")
    world.reopen()
    assert Problem.BLOB_CORRUPT in {found.kind for found in world.kernel.verify().problems}
    assert world.actions(world.plan("start")) == {"a": "leave:damaged", "b": "write"}
    assert world.restore("before:2").verified
    assert world.read("b") == b"b0"


def test_bl_036_a_bad_line_in_the_middle_hides_nothing_and_stops_writing(world: World) -> None:
    world.turn({"a": b"a1"})
    good = world.log_path().read_bytes()
    bad = good.split(b"\n")
    bad[1] = bad[1][:-30]
    world.log_path().write_bytes(b"\n".join(bad))
    for _ in range(10):
        with world.log_path().open("ab") as file:
            file.write(log.encode(Line(type="turn_start", turn=9, v=1)) + b"\n")
    world.reopen()
    assert world.vault.damage(A) == (2,)
    assert len(world.vault.lines(A)) == 12
    damaged = world.log_path().read_bytes()
    with pytest.raises(LogDamaged) as caught:
        world.vault.append(A, [Line(type="turn_start", turn=10)])
    assert caught.value.lines == (2,)
    assert world.log_path().read_bytes() == damaged
    assert [found.detail for found in world.kernel.verify().problems if found.kind is Problem.LOG_LINE] == ["line 2"]


def test_bl_038_a_log_cut_in_its_last_line_shows_the_rest_and_keeps_the_tail(world: World) -> None:
    world.turn({"a": b"a1"})
    data = world.log_path().read_bytes()
    world.log_path().write_bytes(data[:-20])
    world.reopen()
    assert len(world.vault.lines(A)) == 2
    assert [found.kind for found in world.kernel.verify().problems] == [Problem.LOG_TAIL]
    world.vault.append(A, [Line(type="turn_end", turn=1)])
    (aside,) = (world.vault_folder / "desktop/set-aside").iterdir()
    assert aside.read_bytes() == data.split(b"\n")[2][:-19]


def test_bl_039_a_line_appended_after_a_cut_off_one_stands_alone(world: World) -> None:
    world.turn({"a": b"a1"})
    with world.log_path().open("ab") as file:
        file.write(b'{"type":"turn_sta')
    world.reopen()
    world.turn({"a": b"a2"})
    assert world.vault.damage(A) == ()
    assert [line.type for line in world.vault.lines(A)] == ["turn_start", "snapshot", "turn_end"] * 2


def test_bl_040_a_line_separator_inside_a_text_is_no_end_of_line(world: World) -> None:
    world.turn({"a\u2028b\u0085c": b"x"})
    assert world.log_path().read_bytes().count(b"\n") == 3
    world.reopen()
    assert world.kernel.touched(A) == ["a\u2028b\u0085c"]


def test_bl_046_the_next_start_finishes_and_twice_is_the_same(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1", "b": b"b1"})

    class Killed(BaseException):
        pass

    def kill(name: str) -> None:
        if name == "target.unlink":
            raise Killed

    with faults.armed(kill), pytest.raises(Killed):
        world.restore("before:1")
    world.reopen()
    assert world.kernel.unfinished() == [(A, "interrupted")]
    assert len(world.recover()) == 1
    assert (world.disk(), world.recover(), world.kernel.unfinished()) == ({"a": b"a0"}, [], [])


def test_bl_051_undo_in_one_chat_leaves_the_work_of_another(world: World) -> None:
    world.write("a", b"a0")
    world.write("b", b"b0")
    world.turn({"a": b"a1"})
    world.turn({"b": b"b1"}, B)
    world.restore("start")
    assert world.disk() == {"a": b"a0", "b": b"b1"}


def test_bl_054_a_lock_file_of_a_dead_process_blocks_nobody(world: World) -> None:
    (world.vault_folder / "desktop").mkdir(parents=True)
    (world.vault_folder / "desktop/lock").write_bytes(b"vibekit-desktop 999999\n")
    with VaultLock(world.fs, world.vault_folder).hold(0):
        assert VaultLock(world.fs, world.vault_folder).holder() == f"vibekit-desktop {os.getpid()}"


def test_bl_065_a_flipped_bit_is_refused_before_any_file_changes(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    plan = world.plan("before:1")
    sha = hash_of(b"a0")
    (world.vault_folder / "snapshots/blobs" / sha[:2] / sha[2:]).write_bytes(b"a1")
    with pytest.raises(PlanStale) as caught:
        world.do(plan)
    assert caught.value.changed == ("a",)
    report = world.restore("before:1")
    assert [(left.path, left.reason) for left in report.failed] == [("a", "damaged")]
    assert world.read("a") == b"a1"
    with pytest.raises(BlobCorrupt):
        world.at("before:1", "a")


def test_bl_067_random_bytes_come_back_equal(world: World) -> None:
    data = random.Random(67).randbytes(64 << 10)
    world.write("bin", data)
    world.turn({"bin": data[::-1]})
    world.restore("before:1")
    assert world.read("bin") == data


def test_bl_068_a_byte_order_mark_and_line_ends_survive(world: World) -> None:
    data = b"\xef\xbb\xbffirst\r\nsecond\r"
    world.write("bom", data)
    world.turn({"bom": b"first\nsecond\n"})
    world.restore("before:1")
    assert world.read("bom") == data


def test_bl_071_modes_come_back_and_no_stage_is_ever_wider(world: World) -> None:
    world.write("secret", b"s0", 0o600)
    world.write("script", b"#0", 0o755)
    world.begin()
    world.act("secret", b"s1", mode=0o644)
    world.act("script", b"#1", mode=0o600)
    world.end()
    seen: list[tuple[str, int]] = []

    def watch(_: str) -> None:
        for path in world.root.glob("*.vibekit-restore-*"):
            seen.append((path.name.split(".")[0], path.stat().st_mode & 0o777))

    with faults.armed(watch):
        world.restore("before:1")
    assert {mode for name, mode in seen if name == "secret"} == {0o600}
    assert {mode for name, mode in seen if name == "script"} <= {0o600, 0o755}
    assert (world.root / "secret").stat().st_mode & 0o777 == 0o600
    assert (world.root / "script").stat().st_mode & 0o777 == 0o755


def test_bl_072_untouched_files_keep_time_and_inode(world: World) -> None:
    for number in range(100):
        world.write(f"f{number}", b"x")
    world.turn({"f0": b"new", "f1": b"new"})
    world.turn({"f1": b"x"})
    before = {number: stamp(world.root / f"f{number}") for number in range(1, 100)}
    world.restore("before:1")
    assert {number: stamp(world.root / f"f{number}") for number in range(1, 100)} == before


def test_bl_117_nothing_to_undo_is_a_message(world: World) -> None:
    with pytest.raises(NothingToTakeBack) as caught:
        world.undo()
    assert caught.value.kind == "undo"
    assert world.kernel.timeline(A).can_undo == 0
