"""Interruptions and damage: a disk that is full at every step, contents that are missing or wrong, a workspace that moved or is
another one, a clock that goes backwards. Kills at every step are in test_crash.py and test_crash_recording.py."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.corpus.bench import Bench, picture
from tests.core.checkpoint.hooks import Hooks, row, told
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from tests.helpers.unsynced_fs import Unsynced
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.checkpoints import EntryKind, State, parse_point
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, EnvironmentFault, WorkspaceMissing
from vibekit_desktop.core.types.ids import WorkspacePath


@pytest.fixture
def bench(either: Bench) -> Bench:
    """Who is told to have done it makes no difference here."""
    return either


# -- a full disk -------------------------------------------------------------------------------------------------

STEP = 16 if os.environ.get("VIBEKIT_CORPUS") == "full" else 240
"""So many bytes more room at each try; a new file or folder takes as many."""


class Full(Unsynced):
    """A disk with room for so many bytes more. ``was_full``: somebody found none."""

    room: int | None = None
    was_full = False

    def _take(self, wanted: int) -> int:
        if self.room is None:
            return wanted
        if self.room <= 0:
            self.was_full = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = min(wanted, self.room)
        self.room -= taken
        return taken

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, data[: self._take(len(data))])

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            self._take(STEP)
        return super().open(path, flags, mode, dir_fd=dir_fd)

    def mkdir(self, name: Path | str, mode: int, *, dir_fd: int | None = None) -> None:
        self._take(STEP)
        super().mkdir(name, mode, dir_fd=dir_fd)

    def symlink(self, text: bytes, name: str, *, dir_fd: int | None = None) -> None:
        self._take(STEP)
        super().symlink(text, name, dir_fd=dir_fd)


def _tries(start: World, folder: Path, operation: Callable[[World], object]) -> Iterator[World]:
    """The world after each try, with more and more room, until there is enough; each time with all the room again."""
    for number in range(2000):
        world = start.copy(folder / str(number))
        fs = Full()
        world.fs = fs
        world.reopen()
        fs.room = number * STEP
        with suppress(EnvironmentFault):
            operation(world)
        fs.room = None
        world.reopen()
        yield world
        shutil.rmtree(folder / str(number))
        if not fs.was_full:
            assert number > 10
            return
    pytest.fail("it never fits")


def _sound(world: World) -> None:
    """No log is damaged, and whatever a line names is there and right."""
    for chat in world.vault.chats_with_logs():
        assert world.vault.damage(chat) == ()
    problems = [one.kind.value for one in world.kernel.verify().problems]
    assert set(problems) <= {"blob-stray", "log-tail", "restore-unfinished"}


SEED = {"edit": b"0" * 100, "gone": b"g" * 100, "sub/kept": b"k"}
NEW: dict[str, bytes | None] = {"edit": b"1" * 100, "gone": None, "a/b/new": b"n" * 100}


def _seeded(folder: Path, clock: Clock) -> World:
    folder.mkdir()
    world = World(folder, clock, Unsynced())
    for path, data in SEED.items():
        world.write(path, data)
    return world


def test_the_disk_is_full_at_every_step_of_a_turn(tmp_path: Path, clock: Clock) -> None:
    """Begin, writes through us, a change of a command, end: each write is whole or was not done, and all goes back."""

    def turn(world: World) -> None:
        recorder = world.kernel.recorder
        recorder.begin_turn(A, message_count=1)
        for path, data in NEW.items():
            recorder.write(A, WorkspacePath(path), data, message_count=1)
        recorder.begin_command(A)
        world.write("by a command", b"c" * 100)
        recorder.end_command(A)
        recorder.end_turn(A)

    ends = set()
    for world in _tries(_seeded(tmp_path / "seed", clock), tmp_path, turn):
        for path in NEW:
            assert world.read(path) in (SEED.get(path), NEW[path]), path
        _sound(world)
        hooks = Hooks(world)
        if not world.kernel.recorder.open_turn(A):
            hooks.begin()
        hooks.record("afterwards", b"it works again")
        hooks.end()
        world.restore("before:1", mine=ALL_MINE)
        left = world.disk()
        ends.add("by a command" in left)
        left.pop("by a command", None)
        assert left == SEED
        assert not world.stages()
        assert not list(world.vault_folder.rglob(".vibekit-temp-*"))
    assert ends >= {False}


def _turned(folder: Path, clock: Clock) -> World:
    world = _seeded(folder, clock)
    world.write("run.sh", b"#!\n", 0o755)
    hooks = Hooks(world)
    hooks.begin()
    for path, data in NEW.items():
        hooks.record(path, data)

    def command() -> None:
        (world.root / "run.sh").chmod(0o644)
        (world.root / "link").symlink_to("edit")

    hooks.command(command)
    hooks.end()
    world.write("by hand", b"h")
    return world


@pytest.mark.parametrize("undo", [False, True], ids=["restore", "undo"])
def test_the_disk_is_full_at_every_step_of_a_restore(tmp_path: Path, clock: Clock, undo: bool) -> None:
    start = _turned(tmp_path / "turned", clock)
    before, wanted = picture(start.root), None
    if undo:
        start.restore("before:1", mine=ALL_MINE)
        before, wanted = picture(start.root), before
    for world in _tries(start, tmp_path, lambda one: one.undo() if undo else one.restore("before:1", mine=ALL_MINE)):
        _sound(world)
        world.recover()
        now = picture(world.root)
        if wanted is not None and world.kernel.timeline(A).can_redo == 0:
            assert now == before, "all or nothing"
            world.undo()
            now = picture(world.root)
        elif wanted is None and not world.kernel.timeline(A).can_undo:
            assert now == before, "all or nothing"
            world.restore("before:1", mine=ALL_MINE)
        if wanted is not None:
            assert now == wanted
        else:
            assert world.disk() == SEED | {"run.sh": b"#!\n", "by hand": b"h"}
        assert not world.stages()
        assert not (world.vault_folder / "desktop/staging").exists()
        assert not list(world.vault_folder.rglob(".vibekit-temp-*"))


# -- contents ----------------------------------------------------------------------------------------------------


def _places(world: World, data: bytes) -> list[Path]:
    sha = hash_of(data)
    places = [world.vault_folder / place / sha[:2] / sha[2:] for place in ("snapshots/blobs", "desktop/blobs")]
    return [place for place in places if place.exists()]


def _flip(place: Path) -> None:
    data = bytearray(place.read_bytes())
    data[0] = 255  # not the opposite: both places may be one file
    place.write_bytes(data)


HARM: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "a flipped bit": _flip,
    "empty": lambda place: place.write_bytes(b""),
    "cut short": lambda place: place.write_bytes(place.read_bytes()[:-1]),
    "longer": lambda place: place.write_bytes(place.read_bytes() + b"!"),
    "a folder": lambda place: (place.unlink(), place.mkdir()),
}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_a_content_that_is_missing_or_wrong_is_an_error_and_never_absence(bench: Bench, harm: Callable[[Path], object]) -> None:
    bench.seed({"bad": b"a content that gets lost", "gone": b"a content that gets lost", "good": b"0"})
    with bench.turn():
        bench.write("bad", b"1")
        bench.write("gone", None)
        bench.write("good", b"1")
    for place in _places(bench.world, b"a content that gets lost"):
        harm(place)
    bench.world.reopen()
    assert {one.kind.value for one in bench.world.kernel.verify().problems} & {"blob-missing", "blob-corrupt"}
    with pytest.raises((BlobNotFound, BlobCorrupt)):
        bench.world.kernel.content(A, parse_point("before:1"), WorkspacePath("bad"))
    plan = bench.world.plan("before:1", mine=ALL_MINE)
    assert bench.world.actions(plan) == {"bad": "leave:damaged", "gone": "leave:damaged", "good": "write"}
    report = bench.world.do(plan)
    assert {one.path for one in report.failed} == {"bad", "gone"}
    assert bench.world.disk() == {"bad": b"1", "good": b"0"}
    bench.world.undo()
    assert picture(bench.root) == bench.after


def test_the_whole_store_is_gone_and_nothing_is_deleted(bench: Bench) -> None:
    bench.seed({"edited": b"0", "gone": b"0", "kept": b"k"})
    with bench.turn():
        bench.write("edited", b"1")
        bench.write("gone", None)
        bench.write("made", b"2")
    for place in ("snapshots/blobs", "desktop/blobs", "desktop/baseline"):
        shutil.rmtree(bench.world.vault_folder / place, ignore_errors=True)
    bench.world.reopen()
    report = bench.world.restore("before:1", mine=ALL_MINE)
    assert {(one.path, one.reason) for one in report.failed} == {("edited", "damaged"), ("gone", "damaged")}
    assert bench.world.disk() == {"edited": b"1", "kept": b"k"}, "what the turn made is stored again, then goes"
    bench.world.undo()
    assert picture(bench.root) == bench.after


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_a_copy_of_the_first_look_that_is_missing_or_wrong_is_not_used(shell: Bench, harm: Callable[[Path], object]) -> None:
    shell.seed({"f": b"before", "g": b"before too"})
    shell.hooks.begin()
    sha = hash_of(b"before")
    copy = shell.world.vault_folder / "desktop/baseline" / sha[:2] / sha[2:]
    shell.hooks.command(lambda: (harm(copy), shell.world.write("f", b"1"), shell.world.write("g", b"1")))
    shell.hooks.end()
    coverage = row(shell.world, 1).coverage
    assert [(one.path, one.reason) for one in coverage.skipped] == [("f", "no-copy")]
    assert shell.world.kernel.state_at(A, parse_point("before:1"), WorkspacePath("f")).state is State.NOT_CAPTURED
    report = shell.world.restore("before:1")
    assert [(one.path, one.reason) for one in report.failed] == [("f", "not-captured")]
    assert shell.world.disk() == {"f": b"1", "g": b"before too"}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_what_the_last_look_saw_is_missing_or_wrong(hooked: Bench, harm: Callable[[Path], object]) -> None:
    """The next look is a first one: it tells nothing of paths that no line names, and everything of those that one does."""
    hooked.seed({"named": b"0", "unnamed": b"0"})
    with hooked.turn():
        hooked.write("named", b"1")
    place = hooked.world.vault_folder / "desktop/known"
    harm(place)
    hooked.world.reopen()
    hooked.world.write("named", b"by hand")
    hooked.world.write("unnamed", b"by hand")
    if place.is_dir():
        with pytest.raises(EnvironmentFault):
            hooked.hooks.begin()
        place.rmdir()
    with hooked.turn():
        hooked.write("unnamed", b"2")
    hooked.tells({"unnamed": "M"})
    (between,) = [entry for entry in hooked.world.kernel.timeline(A).entries if entry.kind is EntryKind.BETWEEN]
    assert set(told(between.files)) == {"named"}
    hooked.goes_back_and_forth()


# -- the workspace -----------------------------------------------------------------------------------------------


def test_a_workspace_that_was_moved_goes_on_where_it_is(bench: Bench) -> None:
    bench.seed({"f": b"0", "g": b"0"})
    with bench.turn():
        bench.write("f", b"1")
    world = bench.world
    world.root = bench.root.rename(bench.root.parent / "moved")
    world.reopen()
    with bench.turn():
        bench.write("g", b"1")
    bench.tells({"g": "M"})
    bench.goes_back_and_forth()
    bench.number = 1
    world.restore("before:1", mine=ALL_MINE)
    assert world.disk() == {"f": b"0", "g": b"0"}


def _replace(bench: Bench) -> None:
    bench.root.rename(bench.root.parent / "away")
    bench.root.mkdir()
    for path, data in {"f": b"of another project", "own": b"own"}.items():
        bench.world.write(path, data)


def test_another_folder_in_the_place_of_an_open_workspace_is_not_touched(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("f", b"1")
        bench.write("g", b"1")
    plan = bench.world.plan("before:1", mine=ALL_MINE)
    _replace(bench)
    for act in (
        lambda: bench.world.do(plan),
        lambda: bench.world.restore("before:1", mine=ALL_MINE),
        bench.hooks.begin,
        lambda: bench.hooks.record("f", b"2"),
    ):
        with pytest.raises(WorkspaceMissing):
            act()
    assert bench.world.disk() == {"f": b"of another project", "own": b"own"}


def test_another_folder_in_the_place_of_the_workspace_loses_nothing_between_turns(bench: Bench) -> None:
    """Opened anew, it is simply what is there now: everything in it is somebody's, and stays."""
    bench.seed({"f": b"0", "h": b"0"})
    with bench.turn():
        bench.write("f", b"1")
        bench.write("g", b"1")
        bench.write("h", None)
    _replace(bench)
    bench.world.reopen()
    there = picture(bench.root)
    report = bench.world.restore("before:1")
    assert bench.world.disk().items() >= {"f": b"of another project", "own": b"own"}.items()
    assert "g" not in bench.world.disk()
    if report.restored:
        bench.world.undo()
    assert picture(bench.root) == there
    bench.hooks.begin(B)
    bench.hooks.end(B)
    assert told(row(bench.world, 1, B).files) == {}
    assert picture(bench.root) == there


def test_a_workspace_that_is_gone_is_said_and_comes_back_as_it_was(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("f", b"1")
    away = bench.root.rename(bench.root.parent / "away")
    with pytest.raises(WorkspaceMissing):
        bench.world.restore("before:1", mine=ALL_MINE)
    with pytest.raises(WorkspaceMissing):
        bench.hooks.begin()
    with pytest.raises(WorkspaceMissing):
        Workspace.open(bench.world.fs, bench.root)
    away.rename(bench.root)
    bench.goes_back_and_forth()


# -- the clock ---------------------------------------------------------------------------------------------------

HOUR = 3_600_000


@pytest.mark.parametrize(
    "jump", [-1, -2000, -30 * HOUR, -(10**12)], ids=["a tick", "two seconds", "more than a day", "decades"]
)
def test_a_clock_that_goes_backwards(bench: Bench, clock: Clock, jump: int) -> None:
    bench.seed({"f": b"0", "g": b"0"})
    with bench.turn():
        bench.write("f", b"1")
        clock.advance(jump)
        bench.write("g", b"1")
    bench.tells({"f": "M", "g": "M"})
    clock.advance(jump)
    with bench.turn():
        bench.write("f", b"2")
    bench.tells({"f": "M"})
    clock.advance(jump)
    bench.goes_back_and_forth()
    turns = [entry.turn for entry in bench.world.kernel.timeline(A).entries if entry.kind is EntryKind.TURN]
    assert turns == [1, 2, 3]
    bench.world.restore("before:1", mine=ALL_MINE)
    assert bench.world.disk() == {"f": b"0", "g": b"0"}


def test_a_clock_that_jumps_ahead(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("f", b"1")
    bench.world.clock.advance(10**12)
    with bench.turn():
        bench.write("f", b"2")
    bench.tells({"f": "M"})
    bench.goes_back_and_forth()


def test_files_dated_in_the_future_or_before_all_time(bench: Bench) -> None:
    bench.seed({"future": b"0", "past": b"0"})
    os.utime(bench.root / "future", ns=(4 * 10**18, 4 * 10**18))
    os.utime(bench.root / "past", ns=(0, 0))

    def act(one: Bench) -> None:
        one.write("future", b"1")
        one.write("past", b"1")
        os.utime(one.root / "future", ns=(0, 0))
        os.utime(one.root / "past", ns=(4 * 10**18, 4 * 10**18))

    bench.whole_way(act, {"future": "M", "past": "M"})
