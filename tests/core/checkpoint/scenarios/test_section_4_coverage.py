"""Rows of section 4 of the specification that need captures and looks: where the original is wrong or blind, ours is not."""

import os
from pathlib import Path

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks, row, told
from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.types.checkpoints import parse_point
from vibekit_desktop.core.types.ids import WorkspacePath


def test_w2_a_file_over_the_cap_is_never_deleted_by_a_restore(tmp_path: Path, clock: Clock) -> None:
    world = World(tmp_path, clock)
    world.cap(8)
    hooks = Hooks(world)
    world.write("big", b"123456789")
    hooks.begin()
    hooks.record("big", b"cut")
    hooks.end()
    report = world.restore("before:1")
    assert [(one.path, one.reason) for one in report.failed] == [("big", "not-captured")]
    assert world.read("big") == b"cut"


def test_w7_a_file_whose_new_content_nobody_announced_is_never_deleted(world: World, hooks: Hooks) -> None:
    world.write("f", b"0")
    hooks.begin()
    hooks.record("f", b"1", known=False)
    hooks.begin()
    hooks.record("g", b"1")
    hooks.begin()
    hooks.record("f", b"2")
    hooks.end()
    assert world.at("before:2", "f") == b"1"
    world.restore("before:2")
    assert world.read("f") == b"1"


def test_w8_what_a_restore_overwrites_is_kept_also_where_no_capture_saw_it(world: World, hooks: Hooks) -> None:
    world.write("f", b"0")
    hooks.begin()
    hooks.record("f", b"1")
    hooks.end()
    world.write("f", b"hours of work")
    assert world.actions(world.plan("before:1")) == {"f": "leave:changed-since"}
    from tests.core.checkpoint.world import ALL_MINE

    world.restore("before:1", mine=ALL_MINE)
    assert world.read("f") == b"0"
    world.undo()
    assert world.read("f") == b"hours of work"


def test_w17_an_append_that_failed_gives_no_tag_twice(world: World, hooks: Hooks) -> None:
    hooks.begin()
    first = hooks.record("a", b"1")
    data = world.log_path().read_bytes()
    world.log_path().write_bytes(data[:-5])  # the end of the line never reached the disk
    world.reopen()
    second = hooks.record("a", b"2")
    tags = [line.tag for line in hooks.lines() if line.tag]
    assert len(tags) == len(set(tags))
    assert first.tag == second.tag == "1", "the torn one is not there, so its tag was never given"


def test_w18_new_content_over_the_cap_is_stored_and_read_back(tmp_path: Path, clock: Clock) -> None:
    world = World(tmp_path, clock)
    world.cap(8)
    hooks = Hooks(world)
    hooks.begin()
    hooks.record("f", b"123456789")
    hooks.end()
    hooks.begin()
    hooks.record("g", b"x")
    hooks.end()
    assert world.kernel.content(A, parse_point("after:1"), WorkspacePath("f")) == b"123456789"


def test_g1_changes_by_commands_are_seen_and_go_back(world: World, hooks: Hooks) -> None:
    world.write("f", b"0")
    hooks.begin()
    hooks.command(lambda: world.write("f", b"formatted"))
    hooks.end()
    world.restore("before:1")
    assert world.read("f") == b"0"


def test_g2_deletes_and_renames_are_captured(world: World, hooks: Hooks) -> None:
    world.write("gone", b"0")
    world.write("old", b"o")
    hooks.begin()
    hooks.record("gone", None)
    world.kernel.recorder.capture_rename(A, WorkspacePath("old"), WorkspacePath("new"), message_count=1)
    (world.root / "old").rename(world.root / "new")
    hooks.end()
    assert {path: status for path, (status, _, _) in told(row(world, 1).files).items()} == {"gone": "D", "new": "R"}
    world.restore("before:1")
    assert world.disk() == {"gone": b"0", "old": b"o"}


def test_g2_deleting_a_folder_is_captured_file_by_file(world: World, hooks: Hooks) -> None:
    for path in ("d/a", "d/sub/b"):
        world.write(path, b"0")
    hooks.begin()
    world.kernel.recorder.capture(A, WorkspacePath("d"), Announced(deleted=True), message_count=1)
    (world.root / "d/a").unlink()
    (world.root / "d/sub/b").unlink()
    (world.root / "d/sub").rmdir()
    (world.root / "d").rmdir()
    hooks.end()
    world.restore("before:1")
    assert world.disk() == {"d/a": b"0", "d/sub/b": b"0"}


def test_g3_modes_come_back(world: World, hooks: Hooks) -> None:
    world.write("run.sh", b"#!", 0o755)
    world.write("plain", b"x", 0o644)
    hooks.begin()
    hooks.record("run.sh", None)
    hooks.command(lambda: (world.root / "plain").chmod(0o600))
    hooks.end()
    assert {path: how for path, (how, _, _) in told(row(world, 1).files).items()} == {"run.sh": "D", "plain": "M"}
    world.restore("before:1")
    assert (world.root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (world.root / "plain").stat().st_mode & 0o777 == 0o644


def test_g3_an_announced_change_of_the_mode_alone_is_one(world: World, hooks: Hooks) -> None:
    world.write("run.sh", b"#!", 0o644)
    hooks.begin()
    world.kernel.recorder.capture(A, WorkspacePath("run.sh"), Announced(mode=0o755), message_count=1)
    (world.root / "run.sh").chmod(0o755)
    hooks.end()
    (change,) = row(world, 1).files
    assert (change.before.mode, change.after.mode, change.before.sha) == (0o644, 0o755, change.after.sha)
    assert world.actions(world.plan("before:1")) == {"run.sh": "mode"}


def test_g4_links_are_links(world: World, hooks: Hooks) -> None:
    (world.root / "link").symlink_to("one")
    hooks.begin()

    def point_elsewhere() -> None:
        (world.root / "link").unlink()
        (world.root / "link").symlink_to("two")

    hooks.command(point_elsewhere)
    hooks.end()
    world.restore("before:1")
    assert os.readlink(world.root / "link") == "one"


def test_g7_one_file_has_one_history_however_its_path_is_written(world: World, hooks: Hooks) -> None:
    from vibekit_desktop.core.disk.workspace import relative

    world.write("f", b"0")
    hooks.begin()
    for text, data in (("./f", b"1"), ("a/../f", b"2"), (f"{world.root}/f", b"3")):
        hooks.record(relative(world.root, text), data)
    hooks.end()
    assert list(told(row(world, 1).files)) == ["f"]
    assert world.at("before:1", "f") == b"0"


def test_g8_a_name_that_is_no_utf8_survives(world: World, hooks: Hooks) -> None:
    name = os.fsdecode(b"caf\xe9")
    hooks.begin()
    hooks.record(name, b"1")
    hooks.command(lambda: world.write(os.fsdecode(b"\xff\xfe"), b"2"))
    hooks.end()
    assert set(told(row(world, 1).files)) == {name, os.fsdecode(b"\xff\xfe")}
    world.restore("before:1")
    assert world.disk() == {}
    world.undo()
    assert os.listdir(os.fsencode(world.root)) in ([b"caf\xe9", b"\xff\xfe"], [b"\xff\xfe", b"caf\xe9"])


def test_g9_bytes_are_bytes(world: World, hooks: Hooks) -> None:
    data = bytes(range(256)) * 256
    world.write("image", data)
    hooks.begin()
    hooks.record("image", data[::-1])
    hooks.end()
    world.restore("before:1")
    assert world.read("image") == data


def test_g10_what_is_no_file_is_never_opened(world: World, hooks: Hooks) -> None:
    os.mkfifo(world.root / "fifo")
    hooks.begin()
    hooks.record("a", b"1")
    hooks.end()
    assert set(told(row(world, 1).files)) == {"a"}
    world.restore("before:1")
    assert (world.root / "fifo").is_fifo()


def test_g11_a_turn_without_writes_is_a_point(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.end()
    hooks.begin()
    hooks.record("a", b"1")
    hooks.end()
    world.restore("before:1")
    assert world.disk() == {}


def test_g12_a_name_of_255_bytes_goes_back(world: World, hooks: Hooks) -> None:
    name = "n" * 255
    world.write(name, b"0")
    hooks.begin()
    hooks.record(name, b"1")
    hooks.end()
    world.restore("before:1")
    assert world.read(name) == b"0"


def test_the_same_size_and_time_with_other_bytes_is_a_change(world: World, hooks: Hooks) -> None:
    world.write("f", b"one")
    os.utime(world.root / "f", ns=(1_000_000_000, 1_000_000_000))
    hooks.begin()

    def sneak() -> None:
        with (world.root / "f").open("r+b") as file:
            file.write(b"two")
        os.utime(world.root / "f", ns=(1_000_000_000, 1_000_000_000))

    hooks.command(sneak)
    hooks.end()
    assert told(row(world, 1).files) == {"f": ("M", "command", "scan")}
    world.restore("before:1")
    assert world.read("f") == b"one"
