"""Copies of files that nothing else has: made before a command, within their limits, and told where they cannot be made."""

from pathlib import Path

import pytest

from tests.conftest import Clock, ExpectedLogs
from tests.core.checkpoint.hooks import Hooks, row
from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import Protection, Skipped, State
from vibekit_desktop.core.types.errors import DiskFull
from vibekit_desktop.core.types.settings import Limits

LIMITS = Limits(capture_bytes=1000, copy_bytes=10, copies_bytes=1500)


class FullFs(Fs):
    """A store that takes nothing of more than ``room`` bytes."""

    room = 1 << 30

    def write_new(self, path: Path, data: bytes) -> None:
        if len(data) > self.room:
            raise DiskFull(str(path), "No space left on device")
        super().write_new(path, data)

    def write_all(self, fd: int, data: bytes) -> None:
        if len(data) > self.room:
            raise OSError(28, "No space left on device")
        super().write_all(fd, data)


@pytest.fixture
def fs() -> FullFs:
    return FullFs()


@pytest.fixture
def world(tmp_path: Path, clock: Clock, fs: FullFs) -> World:
    made = World(tmp_path, clock, fs)
    made.kernel = CheckpointKernel(fs, made.vault, made.workspace, made.transcripts, clock, limits=LIMITS)
    return made


@pytest.fixture
def hooks(world: World) -> Hooks:
    return Hooks(world)


def test_before_a_command_larger_files_are_copied_too_and_come_back(world: World, hooks: Hooks) -> None:
    world.write("big", b"b" * 900)
    hooks.begin()
    assert world.kernel.recorder.protect(A) == Protection()
    hooks.command(lambda: world.write("big", None))
    hooks.end()
    assert row(world, 1).coverage.complete
    world.restore("before:1")
    assert world.disk() == {"big": b"b" * 900}


def test_what_the_limits_leave_out_is_told_largest_first(world: World, hooks: Hooks) -> None:
    world.write("huge", b"h" * 1001)
    world.write("one", b"1" * 800)
    world.write("two", b"2" * 900)
    hooks.begin()
    left = (Skipped("huge", "too-large", 1001), Skipped("two", "no-copy", 900))
    assert world.kernel.recorder.protect(A) == Protection(left_out=left)
    hooks.command(lambda: world.write("one", None))
    hooks.end()
    world.restore("before:1")
    assert world.read("one") == b"1" * 800


def test_what_the_store_has_no_room_for_is_told_until_it_has_some(world: World, hooks: Hooks, fs: FullFs) -> None:
    world.write("big", b"b" * 900)
    world.write("small", b"s")
    hooks.begin()
    fs.room = 600
    unkept = (Skipped("big", "disk-full", 900),)
    assert world.kernel.recorder.protect(A) == Protection(unkept=unkept)
    assert world.kernel.recorder.protect(A) == Protection(unkept=unkept)
    fs.room = 1 << 30
    assert world.kernel.recorder.protect(A) == Protection()
    hooks.command(lambda: world.write("big", b""))
    hooks.end()
    assert world.at("before:1", "big") == b"b" * 900


def test_what_a_line_names_and_could_not_be_stored_is_tried_again(world: World, hooks: Hooks, fs: FullFs) -> None:
    hooks.begin()
    fs.room = 600
    hooks.command(lambda: world.write("made", b"m" * 900))
    unkept = (Skipped("made", "disk-full", 900),)
    assert world.kernel.recorder.protect(A) == Protection(unkept=unkept)
    hooks.end()
    fs.room = 1 << 30
    hooks.begin()
    assert world.kernel.recorder.protect(A) == Protection()
    hooks.command(lambda: world.write("made", None))
    hooks.end()
    (change,) = row(world, 2).files
    assert change.before.state is State.PRESENT
    assert world.at("before:2", "made") == b"m" * 900
    world.restore("before:2")
    assert world.read("made") == b"m" * 900


def test_what_cannot_be_walked_is_told(world: World, hooks: Hooks, expected_logs: ExpectedLogs) -> None:
    hooks.begin()
    (world.root / ".gitignore").symlink_to("nowhere")
    expected_logs.expect("the ignore rules")
    assert world.kernel.recorder.protect(A) == Protection(left_out=(Skipped(".", "ignore-rules"),))


def test_a_copy_is_kept_for_good_though_the_disk_is_full_by_then(world: World, hooks: Hooks, fs: FullFs) -> None:
    """What was promised before a command needs no more room after it."""
    world.write("a", b"x" * 500)
    hooks.begin()
    assert world.kernel.recorder.protect(A).unkept == ()

    def command() -> None:
        world.write("a", b"gone")
        fs.room = 400

    hooks.command(command)
    fs.room = 1 << 30
    hooks.end()
    assert world.at("before:1", "a") == b"x" * 500
