"""Sizes and numbers: files above the cap, large ones without a copy, files that change while they are read, stamps that do not
change, and many files.

``VIBEKIT_CORPUS=full`` asks for 100,000 files and a turn that changes 10,000; else there are 5,000 and 500.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.corpus.bench import Bench, Hand, picture
from tests.core.checkpoint.hooks import told
from tests.core.checkpoint.world import ALL_MINE, A
from tests.helpers.unsynced_fs import Unsynced
from vibekit_desktop.core.types.checkpoints import Coverage, Skipped, State, parse_point
from vibekit_desktop.core.types.ids import WorkspacePath

FULL = os.environ.get("VIBEKIT_CORPUS") == "full"
FILES, CHANGES = (100_000, 10_000) if FULL else (5_000, 500)

# -- above the cap -----------------------------------------------------------------------------------------------

CAP = 64
LARGE = b"L" * 65


@pytest.fixture
def small(bench: Bench) -> Bench:
    """A bench whose store takes no more than 64 bytes of a file before it changes."""
    world = bench.world
    world.cap(CAP)
    return bench


def test_a_file_above_the_cap_that_is_not_touched_costs_nothing(small: Bench) -> None:
    small.seed({"large": LARGE, "f": b"0"})
    small.whole_way(lambda one: one.write("f", b"1"), {"f": "M"})


def test_a_file_above_the_cap_that_is_edited_or_deleted_is_never_called_absent(small: Bench) -> None:
    small.seed({"edited": LARGE, "deleted": LARGE, "f": b"0"})
    with small.turn():
        small.write("edited", b"small now")
        small.write("deleted", None)
        small.write("f", b"1")
    if small.hand is Hand.ANNOUNCED:  # else the copy of the first look has it: that cap is another one
        missing = tuple(Skipped(path, "too-large") for path in ("deleted", "edited"))
        small.tells({"edited": "M", "deleted": "D", "f": "M"}, Coverage(complete=False, skipped=missing))
        report = small.world.restore("before:1")
        assert {(one.path, one.reason) for one in report.failed} == {("edited", "not-captured"), ("deleted", "not-captured")}
        assert small.world.disk() == {"edited": b"small now", "f": b"0"}
        assert small.world.kernel.state_at(A, parse_point("before:1"), WorkspacePath("deleted")).state is State.NOT_CAPTURED
    else:
        small.tells({"edited": "M", "deleted": "D", "f": "M"})
        small.goes_back_and_forth()


def test_a_file_above_the_cap_that_a_turn_makes_goes_and_comes_back(small: Bench) -> None:
    """Before it is deleted it is stored, whatever its size."""
    small.seed({"f": b"0"})
    with small.turn():
        small.write("large", LARGE)
    assert {path: status for path, (status, _, _) in told(small.row().files).items()} == {"large": "A"}
    assert small.row().coverage.complete == (small.hand is Hand.ANNOUNCED)
    small.goes_back_and_forth()


def test_a_file_larger_than_a_look_copies_is_copied_before_a_command(shell: Bench) -> None:
    large = b"x" * ((1 << 20) + 1)
    shell.seed({"edited": large, "deleted": large, "kept": large, "f": b"0"})
    with shell.turn():
        shell.write("edited", b"1")
        shell.write("deleted", None)
        shell.write("f", b"1")
    shell.tells({"edited": "M", "deleted": "D", "f": "M"})
    shell.goes_back_and_forth()


def test_a_large_file_that_an_agent_announces_comes_back(hooked: Bench) -> None:
    large = os.urandom(3 << 20)
    hooked.seed({"edited": large, "deleted": large[::-1]})
    hooked.whole_way(lambda one: (one.write("edited", b"1"), one.write("deleted", None)), {"edited": "M", "deleted": "D"})


# -- while it changes --------------------------------------------------------------------------------------------


class Changing(Unsynced):
    """Somebody writes a file each time after its first bytes were read."""

    def __init__(self) -> None:
        self.file: Path | None = None
        self.versions: Iterator[bytes] = iter(())

    def read(self, fd: int, count: int) -> bytes:
        data = super().read(fd, count)
        if self.file is not None and data and os.fstat(fd).st_ino == self.file.stat().st_ino:
            version = next(self.versions, None)
            if version is not None:
                self.file.write_bytes(version)
        return data


@pytest.mark.parametrize("grows", [True, False], ids=["grows", "same size"])
@pytest.mark.parametrize("step", ["capture", "first look", "look at the end"])
def test_a_file_that_changes_while_it_is_read_is_one_of_its_versions(
    tmp_path: Path, clock: Clock, step: str, grows: bool
) -> None:
    """Whatever was read: a line never names a content that is not in the store, and what is on disk at the end is known."""
    fs = Changing()
    bench = Bench(tmp_path, clock, Hand.ANNOUNCED if step == "capture" else Hand.COMMAND, fs)
    bench.seed({"f": b"version 0"})
    versions = [b"version %d" % number + (b"!" * number if grows else b"") for number in range(5)]

    def while_read() -> None:
        fs.file, fs.versions = bench.root / "f", iter(versions[1:3])

    if step == "first look":
        while_read()
    bench.hooks.begin()
    fs.file = None
    match step:
        case "capture":
            while_read()
            bench.write("f", b"by the agent")
            fs.file = None
        case "look at the end":
            bench.hooks.command(lambda: bench.world.write("f", b"by the agent"))
            bench.world.write("f", versions[0])
            while_read()
        case _:
            bench.hooks.command(lambda: bench.world.write("f", b"by the agent"))
    bench.hooks.end()
    fs.file = None
    bench.hooks.begin()
    bench.hooks.end()
    assert bench.world.kernel.verify().problems == ()
    assert bench.world.at("after:2", "f") == bench.world.read("f")
    before = bench.world.kernel.state_at(A, parse_point("before:1"), WorkspacePath("f"))
    if before.has_content:
        assert bench.world.kernel.read_state(before) in versions
        bench.world.restore("before:1", mine=ALL_MINE)
        assert bench.world.read("f") in versions
    else:
        assert before.state in (State.UNKNOWN, State.NOT_CAPTURED)


def test_a_file_that_another_program_holds_a_lock_on(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with (bench.root / "f").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        bench.whole_way(lambda one: one.write("f", b"1"), {"f": "M"})


# -- stamps that say nothing -------------------------------------------------------------------------------------


def test_the_same_size_and_time_with_other_bytes(bench: Bench) -> None:
    bench.seed({"f": b"one"})
    os.utime(bench.root / "f", ns=(1, 1))

    def act(one: Bench) -> None:
        one.write("f", b"two")
        os.utime(one.root / "f", ns=(1, 1))

    bench.whole_way(act, {"f": "M"})


class Coarse(Unsynced):
    """A disk that tells times in steps of two seconds, and the same inode for everything."""

    def _coarse(self, found: os.stat_result) -> os.stat_result:
        values, extra = list(found[:10]), {}
        for index, name in ((7, "atime"), (8, "mtime"), (9, "ctime")):
            values[index] = int(getattr(found, f"st_{name}")) // 2 * 2
            extra[f"st_{name}"] = float(values[index])
            extra[f"st_{name}_ns"] = values[index] * 10**9
        return os.stat_result(values, extra)

    def lstat(self, name: Path | str, *, dir_fd: int | None = None) -> os.stat_result:
        return self._coarse(super().lstat(name, dir_fd=dir_fd))

    def fstat(self, fd: int) -> os.stat_result:
        return self._coarse(super().fstat(fd))

    def scan(self, folder: int) -> Iterator[tuple[str, os.stat_result]]:
        return ((name, self._coarse(found)) for name, found in super().scan(folder))


@pytest.mark.parametrize("hand", list(Hand))
def test_a_change_within_one_tick_of_a_coarse_clock(tmp_path: Path, clock: Clock, hand: Hand) -> None:
    bench = Bench(tmp_path, clock, hand, Coarse())
    bench.seed({"f": b"one"})
    bench.whole_way(lambda one: one.write("f", b"two"), {"f": "M"})
    with bench.turn():
        bench.write("f", b"six")
    bench.tells({"f": "M"})


# -- many --------------------------------------------------------------------------------------------------------


def _name(number: int) -> str:
    return f"{number % 100}/{number // 100 % 10}/file {number}"


def _many(bench: Bench) -> None:
    for number in range(FILES):
        folder = bench.root / f"{number % 100}/{number // 100 % 10}"
        if number < 1000:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file {number}").write_bytes(b"%d" % number)


@pytest.mark.timeout(1800 if FULL else 120)
def test_many_files_and_a_turn_that_changes_many(shell: Bench) -> None:
    _many(shell)
    with shell.turn():
        for number in range(CHANGES):
            path = shell.root / _name(number)
            if number % 3 == 0:
                path.write_bytes(b"changed %d" % number)
            elif number % 3 == 1:
                path.unlink()
            else:
                path.with_name(f"new {number}").write_bytes(b"new %d" % number)
    assert len(shell.row().files) == CHANGES
    assert shell.row().coverage.complete
    shell.restore()
    assert picture(shell.root) == shell.before
    assert shell.world.undo().verified
    assert picture(shell.root) == shell.after
    shell.is_quiet()


@pytest.mark.timeout(1800 if FULL else 120)
def test_a_turn_that_announces_many_changes(hooked: Bench) -> None:
    """What one write costs does not grow with the workspace; with the turn a little."""
    count = CHANGES // 5
    hooked.seed({_name(number): b"%d" % number for number in range(count)})
    with hooked.turn():
        for number in range(count):
            hooked.write(_name(number), b"changed %d" % number)
    assert len(hooked.row().files) == count
    hooked.restore()
    assert picture(hooked.root) == hooked.before
    assert hooked.world.undo().verified
    assert picture(hooked.root) == hooked.after
