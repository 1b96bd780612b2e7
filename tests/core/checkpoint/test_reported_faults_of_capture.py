"""Faults that people reported of other programs of this kind, as far as they concern captures, looks and hooks; named after
their ids."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks, row, told
from tests.core.checkpoint.trees import stamps
from tests.core.checkpoint.world import ALL_MINE, A, B, Crash, CrashAt, World
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.ignore import IgnoreRules
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.disk.workspace import relative
from vibekit_desktop.core.types.errors import (
    Busy,
    CannotRead,
    CannotWrite,
    ChangedMeanwhile,
    DiskFull,
    PathEscape,
    PathRefused,
)
from vibekit_desktop.core.types.ids import WorkspacePath


def test_bl_006_a_restore_killed_while_a_second_program_starts_never_deletes(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "made").mkdir()
    made = World(tmp_path / "made", clock)
    made.write("a.txt", b"v1")
    made.turn({"a.txt": b"v2"})
    counted = CrashAt()
    with faults.armed(counted):
        made.copy(tmp_path / "whole").restore("before:1")
    for at in range(1, len(counted.seen) + 1):
        world = made.copy(tmp_path / f"crash{at}")
        with faults.armed(CrashAt(at)), pytest.raises(Crash):
            world.restore("before:1")
        assert world.read("a.txt") in (b"v1", b"v2")
        world.reopen()
        world.recover()
        assert world.read("a.txt") in (b"v1", b"v2")


def test_bl_013_an_idle_workspace_is_never_written_to(world: World, hooks: Hooks) -> None:
    world.write("a", b"0")
    hooks.begin()
    hooks.record("a", b"1")
    hooks.end()
    world.write("a", b"dirty")
    before = stamps(world.root)
    for _ in range(10):
        world.clock.advance(600_000)
        world.reopen()
        world.kernel.timeline(A)
        world.plan("before:1")
        world.kernel.conflicts(A)
        world.kernel.verify()
        assert not world.kernel.needs_recovery()
    assert stamps(world.root) == before


class NoStore(Fs):
    """A disk on which nothing in the vault can be written."""

    broken = False

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        if self.broken and dir_fd is None and flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return super().open(path, flags, mode, dir_fd=dir_fd)


def test_bl_016_a_write_that_cannot_be_protected_is_held(tmp_path: Path, clock: Clock) -> None:
    fs = NoStore()
    world = World(tmp_path, clock, fs)
    world.write("a", b"0")
    Hooks(world).begin()
    fs.broken = True
    with pytest.raises(CannotWrite):
        world.kernel.recorder.write(A, WorkspacePath("a"), b"1", message_count=1)
    with pytest.raises(CannotWrite):
        world.kernel.recorder.capture(A, WorkspacePath("a"), Announced(content=b"1"), message_count=1)
    assert world.disk() == {"a": b"0"}
    fs.broken = False
    world.kernel.recorder.write(A, WorkspacePath("a"), b"1", message_count=1)
    world.restore("before:1")
    assert world.disk() == {"a": b"0"}


def test_bl_019_every_file_of_a_turn_comes_back(world: World, hooks: Hooks) -> None:
    world.write("old", b"0")
    hooks.begin()
    hooks.record("old", b"1")
    hooks.record("new folder/inner", b"1")
    hooks.record("größe/naïve—名前.txt", b"1")
    hooks.end()
    world.restore("before:1")
    assert world.disk() == {"old": b"0"}
    world.undo()
    assert world.disk() == {"old": b"1", "new folder/inner": b"1", "größe/naïve—名前.txt": b"1"}


class NoReading(Fs):
    """A disk on which one file may not be opened."""

    name = ""

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        if self.name and str(path) == self.name:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return super().open(path, flags, mode, dir_fd=dir_fd)


def test_bl_022_a_file_that_cannot_be_read_says_so_and_keeps_no_other_from_going_back(tmp_path: Path, clock: Clock) -> None:
    fs = NoReading()
    world = World(tmp_path, clock, fs)
    world.write("closed", b"0")
    world.write("open", b"0")
    world.turn({"closed": b"1", "open": b"1"})
    fs.name = "closed"
    plan = world.plan("before:1")
    assert world.actions(plan) == {"closed": "leave:cannot-read", "open": "write"}
    report = world.do(plan)
    assert [(one.path, one.reason) for one in report.failed] == [("closed", "cannot-read")]
    assert world.disk() == {"closed": b"1", "open": b"0"}


@pytest.mark.expects_log("the ignore rules of a workspace cannot be read")
def test_bl_023_where_ignore_rules_cannot_be_read_nothing_is_walked(
    world: World, hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        world.write(f"dist/{number}", b"built")

    def fails(*_: object, **__: object) -> IgnoreRules:
        raise CannotRead(".gitignore", "too strange")

    monkeypatch.setattr(IgnoreRules, "read", fails)
    hooks.begin()
    hooks.record("a", b"1")
    for number in range(30):
        world.write(f"dist/{number}", b"built again")
    hooks.end()
    assert told(row(world, 1).files) == {"a": ("A", "agent", "announced")}
    assert [(one.path, one.reason) for one in row(world, 1).coverage.skipped] == [(".", "ignore-rules")]
    assert not (world.vault_folder / "desktop" / "baseline").exists()


def test_bl_026_the_agent_never_writes_over_what_the_user_just_typed(world: World, hooks: Hooks) -> None:
    world.write("f", b"read")
    hooks.begin()
    read = world.workspace.look(WorkspacePath("f"))
    world.write("f", b"typed")
    with pytest.raises(ChangedMeanwhile):
        world.kernel.recorder.write(A, WorkspacePath("f"), b"agent", message_count=1, expected=read)
    assert world.read("f") == b"typed"
    (conflict,) = world.kernel.conflicts(A)
    assert (conflict.path, conflict.expected_sha) == ("f", read.sha)
    assert world.kernel.read_blob(A, conflict.actual_sha) == b"typed"


def test_bl_027_a_change_between_the_last_look_and_the_rename_is_not_overwritten(world: World, hooks: Hooks) -> None:
    world.write("f", b"shown in the prompt")
    hooks.begin()

    def edit(name: str) -> None:
        if name == "stage.sync":
            world.write("f", b"edited meanwhile")

    with faults.armed(edit), pytest.raises(ChangedMeanwhile):
        world.kernel.recorder.write(A, WorkspacePath("f"), b"agent", message_count=1)
    assert world.read("f") == b"edited meanwhile"
    assert not world.stages()
    hooks.end()
    assert told(row(world, 1).files) == {"f": ("M", "unknown", "scan")}
    assert world.at("after:1", "f") == b"edited meanwhile"
    assert world.at("before:1", "f") == b"shown in the prompt"


def test_bl_032_creating_a_file_never_goes_through_a_link(world: World, hooks: Hooks) -> None:
    world.write("shared/env", b"secret")
    (world.root / ".env").symlink_to("shared/env")
    hooks.begin()
    with pytest.raises(PathRefused):
        world.kernel.recorder.write(A, WorkspacePath(".env"), b"new", message_count=1)
    assert (world.root / ".env").is_symlink()
    assert world.read("shared/env") == b"secret"


def test_bl_034_two_chats_that_read_the_same_file_do_not_lose_an_edit(world: World, hooks: Hooks) -> None:
    world.write("f", b"v0")
    hooks.begin(A)
    hooks.begin(B)
    read = world.workspace.look(WorkspacePath("f"))
    recorder = world.kernel.recorder
    recorder.write(A, WorkspacePath("f"), b"by A", message_count=1, expected=read)
    with pytest.raises(ChangedMeanwhile):
        recorder.write(B, WorkspacePath("f"), b"by B", message_count=1, expected=read)
    assert world.read("f") == b"by A"
    (conflict,) = world.kernel.conflicts(B)
    assert conflict.other_chat == A
    recorder.write(B, WorkspacePath("f"), b"by B", message_count=1)
    assert world.at("1", "f", B) == b"by A", "what A wrote is in the store"


class ShortWrites(Fs):
    """A disk that takes a few bytes at a time."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, data[:7])


def test_bl_045_a_short_write_leaves_exactly_one_whole_line(tmp_path: Path, clock: Clock) -> None:
    world = World(tmp_path, clock, ShortWrites())
    hooks = Hooks(world)
    hooks.begin()
    hooks.record("a", b"content that takes several writes")
    assert world.vault.contents(A).damaged == ()
    assert not world.vault.contents(A).torn
    assert [line.type for line in hooks.lines()] == ["turn_start", "snapshot"]
    assert world.log_path().read_bytes().count(b"\n") == 2


_MANY = """
import sys, time
from collections.abc import Iterator
from pathlib import Path
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
root, folder, chat, name, count = sys.argv[1:]
fs = Fs()
vault = VaultStore(fs, Path(folder), clock=lambda: time.time_ns() // 1_000_000)
kernel = CheckpointKernel(fs, vault, Workspace.open(fs, Path(root)), None, vault._clock)
for number in range(int(count)):
    with VaultLock(fs, Path(folder)).hold(60):
        content = f"{name} {number}".encode()
        kernel.recorder.capture(ChatId(chat), WorkspacePath(name), Announced(content=content), message_count=1)
        (Path(root) / name).write_bytes(content)
"""


def test_bl_050_four_processes_on_one_log_lose_nothing(world: World, hooks: Hooks) -> None:
    count = 15
    hooks.begin()
    calls = [
        subprocess.Popen([sys.executable, "-c", _MANY, str(world.root), str(world.vault_folder), A, f"f{number}", str(count)])
        for number in range(4)
    ]
    assert [call.wait(timeout=120) for call in calls] == [0] * 4
    world.reopen()
    contents = world.vault.contents(A)
    assert (contents.damaged, contents.torn) == ((), False)
    snapshots = [line for line in contents.lines if line.type == "snapshot"]
    assert len(snapshots) == 4 * count
    assert len({line.tag for line in snapshots}) == 4 * count
    numbers = [line.seq for line in contents.lines]
    assert numbers == sorted(set(numbers))
    hooks.end()
    assert set(told(row(world, 1).files)) == {f"f{number}" for number in range(4)}
    world.restore("before:1")
    assert world.disk() == {}


def test_bl_052_a_chat_lists_no_file_of_another_whose_turn_overlaps(world: World, hooks: Hooks) -> None:
    hooks.begin(A)
    hooks.begin(B)
    hooks.record("b", b"1", B)
    hooks.record("a", b"1", A)
    hooks.end(A)
    hooks.end(B)
    assert set(told(row(world, 1, A).files)) == {"a"}
    assert set(told(row(world, 1, B).files)) == {"b"}


def test_bl_057_captures_killed_while_they_store_leave_nothing_behind(tmp_path: Path, clock: Clock) -> None:
    world = World(tmp_path, clock)
    hooks = Hooks(world)
    hooks.begin()
    for number in range(20):
        world.write("a", b"x" * number)
        with faults.armed(CrashAt(1 + number % 4)), pytest.raises(Crash):
            hooks.record("a", b"y" * number)
        world.reopen()
    hooks.record("a", b"last")
    with VaultLock(world.fs, world.vault_folder).hold(0):
        world.vault.sweep()
    left = [path for path in world.vault_folder.rglob("*") if path.name.startswith(".vibekit-temp-")]
    assert left == []


class FullDisk(Fs):
    """A disk with room for so many bytes more."""

    room: int | None = None

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.room is None:
            return super().write(fd, data)
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = super().write(fd, data[: self.room])
        self.room -= taken
        return taken


@pytest.mark.parametrize("room", [0, 1, 30, 200, 500])
def test_bl_059_a_full_disk_leaves_what_was_good_and_works_again_afterwards(tmp_path: Path, clock: Clock, room: int) -> None:
    fs = FullDisk()
    world = World(tmp_path, clock, fs)
    hooks = Hooks(world)
    world.write("a", b"0" * 100)
    hooks.begin()
    fs.room = room

    def until_full() -> None:
        while True:
            world.kernel.recorder.write(A, WorkspacePath("a"), os.urandom(100), message_count=1)

    with pytest.raises(DiskFull):
        until_full()
    fs.room = None
    world.reopen()
    assert len(world.read("a") or b"") == 100
    assert (world.vault.contents(A).damaged, world.vault.contents(A).torn) == ((), False)
    world.kernel.recorder.write(A, WorkspacePath("a"), b"1", message_count=1)
    hooks.end()
    world.restore("before:1", mine=ALL_MINE)
    assert world.read("a") == b"0" * 100
    assert not world.stages()


class Opened(Fs):
    """Remembers what is opened inside workspaces."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None:
            self.opened.append(str(path))
        return super().open(path, flags, mode, dir_fd=dir_fd)


def test_bl_061_in_a_home_folder_only_touched_paths_are_read(tmp_path: Path, clock: Clock) -> None:
    fs = Opened()
    world = World(tmp_path, clock, fs)
    for number in range(200):
        world.write(f"documents/{number}", b"private")
    world.kernel = CheckpointKernel(fs, world.vault, world.workspace, world.transcripts, clock, whole=False)
    hooks = Hooks(world)
    fs.opened.clear()
    hooks.begin()
    hooks.record("a", b"1")
    hooks.end()
    assert set(fs.opened) == {"a"}
    assert [(one.path, one.reason) for one in row(world, 1).coverage.skipped] == [(".", "not-walked")]


def test_bl_066_bytes_that_are_no_utf8_stay_as_they_are(world: World, hooks: Hooks) -> None:
    original = b"# caf\xe9\nx = 1\n"
    world.write("latin.py", original)
    hooks.begin()
    hooks.record("latin.py", original.replace(b"x = 1", b"x = 2"))
    hooks.end()
    assert world.at("after:1", "latin.py") == b"# caf\xe9\nx = 2\n"
    world.restore("before:1")
    assert world.read("latin.py") == original


@pytest.mark.parametrize("path", ["src/nul", "aux.c", "a:b", "x."])
def test_bl_078_names_that_mean_something_else_on_windows_are_not_made(world: World, hooks: Hooks, path: str) -> None:
    hooks.begin()
    with pytest.raises(PathRefused):
        world.kernel.recorder.write(A, WorkspacePath(path), b"1", message_count=1)
    with pytest.raises(PathRefused):
        hooks.record(path, b"1", do=False)
    assert world.disk() == {}


@pytest.mark.parametrize("way", ["before", "between plan and restore"])
def test_bl_082_a_link_in_the_place_of_a_folder_leads_nowhere(world: World, hooks: Hooks, way: str) -> None:
    hooks.begin()
    world.write("sub/f", b"0")
    hooks.record("sub/f", b"1")
    hooks.end()
    outside = world.root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs")

    def swap() -> None:
        (world.root / "sub").rename(world.root / "moved")
        (world.root / "sub").symlink_to(outside)

    if way == "before":
        swap()
        plan = world.plan("1")
        assert world.actions(plan)["sub/f"] == "leave:link-on-the-way"
    else:
        plan = world.plan("1")

        def hook(name: str) -> None:
            if name == "restore.planned":
                swap()

        with faults.armed(hook):
            report = world.do(plan)
        assert [one.reason for one in report.failed] == ["link-on-the-way"]
    assert (outside / "f").read_bytes() == b"theirs"


@pytest.mark.parametrize("path", ["../../x", "/etc/passwd", "a/../../x"])
def test_bl_083_a_stored_path_that_leaves_the_workspace_makes_the_log_damaged(world: World, path: str) -> None:
    world.turn({"a": b"1"})
    data = world.log_path().read_bytes()
    plain = b"\n".join(line.split(b',"crc"')[0] + b"}" if b"snapshot" in line else line for line in data.split(b"\n"))
    world.log_path().write_bytes(plain.replace(b'"path":"a"', b'"path":"%b"' % path.encode()))
    world.reopen()
    assert world.vault.damage(A)
    assert path not in {file.path for file in world.plan("start").files}


@pytest.mark.parametrize("text", ["../outside/n", "/tmp/n", "a/../../n"])
def test_bl_084_and_085_no_write_leaves_the_workspace(world: World, text: str) -> None:
    with pytest.raises(PathEscape):
        relative(world.root, text)


def test_bl_086_the_insides_of_git_are_refused(world: World, hooks: Hooks) -> None:
    hooks.begin()
    for path in (".git/hooks/post-commit", "sub/.git/config", ".GIT/hooks/x", "git~1/config"):
        with pytest.raises(PathRefused):
            world.kernel.recorder.write(A, WorkspacePath(path), b"#!", message_count=1)


class Counting(Fs):
    """Counts every call that goes to the disk."""

    def __init__(self) -> None:
        self.calls = 0

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        self.calls += 1
        return super().open(path, flags, mode, dir_fd=dir_fd)

    def lstat(self, name: Path | str, *, dir_fd: int | None = None) -> os.stat_result:
        self.calls += 1
        return super().lstat(name, dir_fd=dir_fd)

    def names(self, folder: Path | int) -> list[str]:
        self.calls += 1
        return super().names(folder)


def test_bl_100_what_a_capture_costs_depends_on_its_file_only(tmp_path: Path, clock: Clock) -> None:
    costs = []
    for size in (3, 300):
        fs = Counting()
        folder = tmp_path / str(size)
        folder.mkdir()
        world = World(folder, clock, fs)
        for number in range(size):
            world.write(f"d{number % 7}/{number}", b"x")
        hooks = Hooks(world)
        hooks.begin()
        before = fs.calls
        hooks.record("d0/0", b"1")
        costs.append(fs.calls - before)
    assert costs[0] == costs[1]


@pytest.fixture
def mounted(world: World) -> Iterator[Path]:
    """A folder of the workspace that is a file system of its own."""
    place = world.root / "own"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets us mount nothing")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts a tmpfs")
def test_bl_080_a_file_on_another_file_system_inside_the_workspace_comes_back(
    world: World, hooks: Hooks, mounted: Path
) -> None:
    (mounted / "f").write_bytes(b"0")
    assert (mounted / "f").stat().st_dev != world.root.stat().st_dev
    hooks.begin()
    hooks.record("own/f", b"1")
    hooks.command(lambda: (mounted / "g").write_bytes(b"1"))
    hooks.end()
    world.restore("before:1")
    assert [(path.name, path.read_bytes()) for path in mounted.iterdir()] == [("f", b"0")]


def test_bl_102_a_vault_that_somebody_holds_is_told_in_time_and_usable_afterwards(world: World, hooks: Hooks) -> None:
    hooks.begin()
    seconds = iter(range(100))
    waited: list[float] = []
    patient = VaultLock(world.fs, world.vault_folder, now_s=lambda: float(next(seconds)), wait=waited.append)
    with VaultLock(Fs(), world.vault_folder, program="frozen").hold(0):
        with pytest.raises(Busy, match="frozen"), patient.hold():
            pytest.fail("it is held")
        assert 1 <= len(waited) <= 6
    with patient.hold():
        hooks.record("a", b"1")
    hooks.end()
    assert set(told(row(world, 1).files)) == {"a"}
