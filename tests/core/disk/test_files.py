"""Whole files, line logs and locks: all at once or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest

from vibekit_desktop.core.disk import atomic, faults, journal
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.types.errors import Busy, CannotRead, CannotWrite, DiskFull


class BrokenFs(Fs):
    """A disk whose calls fail when told to. ``calls`` records what was done, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fail: dict[str, int] = {}
        self.short = 0

    def _take(self, name: str) -> None:
        self.calls.append(name)
        if name in self.fail:
            raise OSError(self.fail[name], "injected")

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.short:
            self.short -= 1
            return super().write(fd, data[:3])
        self._take("write")
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._take("fsync-folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "fsync")
        super().fsync(fd)

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        self._take("move")
        super().move(old, new, dir_fd=dir_fd)


def test_replacing_a_file_syncs_it_then_renames_then_syncs_the_folder(tmp_path: Path) -> None:
    fs = BrokenFs()
    atomic.replace(fs, tmp_path / "f", b"new")
    assert fs.calls == ["write", "fsync", "move", "fsync-folder"]
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("step", ["write", "fsync", "move"])
def test_a_failed_replacement_leaves_the_old_content_and_no_temp(tmp_path: Path, step: str) -> None:
    fs = BrokenFs()
    (tmp_path / "f").write_bytes(b"old")
    fs.fail[step] = errno.ENOSPC
    with pytest.raises(DiskFull):
        atomic.replace(fs, tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_failing_source_leaves_no_temp(tmp_path: Path) -> None:
    def pieces():  # type: ignore[no-untyped-def]  # a generator that fails half-way
        yield b"half"
        raise CannotRead("f", "gone")

    with pytest.raises(CannotRead):
        atomic.write_temp(Fs(), tmp_path / "temp", pieces())
    assert os.listdir(tmp_path) == []


def test_replacing_into_a_missing_folder_is_an_error_of_writing(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite) as caught:
        atomic.replace(Fs(), tmp_path / "missing" / "f", b"x")
    assert not isinstance(caught.value, DiskFull)


def test_removing_twice_is_harmless(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    atomic.remove(Fs(), tmp_path / "f")
    atomic.remove(Fs(), tmp_path / "f")
    assert os.listdir(tmp_path) == []


def test_short_writes_are_continued(tmp_path: Path) -> None:
    fs = BrokenFs()
    fs.short = 4
    journal.append(fs, tmp_path / "log", [b"0123456789", b"abc"], set_aside=tmp_path / "aside")
    assert (tmp_path / "log").read_bytes() == b"0123456789\nabc\n"


def test_a_disk_that_takes_nothing_is_an_error(tmp_path: Path) -> None:
    class Stuck(Fs):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            return 0

    with pytest.raises(CannotWrite):
        atomic.replace(Stuck(), tmp_path / "f", b"x")


def test_a_new_log_is_durable_in_its_folder_and_that_in_its_parent(tmp_path: Path) -> None:
    fs = BrokenFs()
    journal.append(fs, tmp_path / "a" / "b" / "log", [b"x"], set_aside=tmp_path / "aside")
    assert fs.calls == ["fsync-folder", "fsync-folder", "write", "fsync", "fsync-folder"]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("step", ["write", "fsync"])
def test_a_failed_append_cuts_the_log_back(tmp_path: Path, step: str) -> None:
    fs = BrokenFs()
    journal.append(fs, tmp_path / "log", [b"good"], set_aside=tmp_path / "aside")
    fs.short = 1 if step == "write" else 0
    fs.fail[step] = errno.EIO
    with pytest.raises(CannotWrite):
        journal.append(fs, tmp_path / "log", [b"a line that fails"], set_aside=tmp_path / "aside")
    assert (tmp_path / "log").read_bytes() == b"good\n"
    fs.fail.clear()
    journal.append(fs, tmp_path / "log", [b"next"], set_aside=tmp_path / "aside")
    assert journal.read(fs, tmp_path / "log").lines == (b"good", b"next")


def test_a_torn_tail_is_set_aside_once_and_cut(tmp_path: Path) -> None:
    log = tmp_path / "chat" / "log"
    log.parent.mkdir()
    log.write_bytes(b"good\nto")
    read = journal.read(Fs(), log)
    assert (read.lines, read.torn) == ((b"good",), b"to")
    fs = BrokenFs()
    fs.fail["fsync"] = errno.EIO
    with pytest.raises(CannotWrite):
        journal.append(fs, log, [b"x"], set_aside=tmp_path / "aside")
    journal.append(Fs(), log, [b"next"], set_aside=tmp_path / "aside")
    assert log.read_bytes() == b"good\nnext\n"
    (aside,) = (tmp_path / "aside").iterdir()
    assert aside.read_bytes() == b"to"


def test_appending_nothing_makes_no_file(tmp_path: Path) -> None:
    journal.append(Fs(), tmp_path / "log", [], set_aside=tmp_path)
    assert os.listdir(tmp_path) == []
    assert journal.read(Fs(), tmp_path / "log").lines == ()


def test_a_log_replaced_by_a_link_is_neither_read_nor_written(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"theirs\n")
    os.symlink(tmp_path / "target", tmp_path / "log")
    with pytest.raises(CannotRead):
        journal.read(Fs(), tmp_path / "log")
    with pytest.raises((CannotRead, CannotWrite)):
        journal.append(Fs(), tmp_path / "log", [b"x"], set_aside=tmp_path / "aside")
    assert (tmp_path / "target").read_bytes() == b"theirs\n"


def test_reading_is_bounded_and_never_waits_for_a_fifo(tmp_path: Path) -> None:
    fs = Fs()
    (tmp_path / "f").write_bytes(b"12345")
    assert fs.read_bytes(tmp_path / "f", limit=5) == b"12345"
    with pytest.raises(CannotRead) as caught:
        fs.read_bytes(tmp_path / "f", limit=4)
    assert caught.value.reason == "too large"
    os.mkfifo(tmp_path / "pipe")
    for odd in ("pipe", "."):
        with pytest.raises(CannotRead) as caught:
            fs.read_bytes(tmp_path / odd)
        assert caught.value.reason == "not a regular file"
    with pytest.raises(FileNotFoundError):
        fs.read_bytes(tmp_path / "missing")
    os.symlink("f", tmp_path / "link")
    with pytest.raises(CannotRead):
        fs.read_bytes(tmp_path / "link")
    assert fs.read_bytes(tmp_path / "link", follow=True) == b"12345"


def test_a_file_that_grows_while_it_is_read_is_still_bounded(tmp_path: Path) -> None:
    class Growing(Fs):
        def read(self, fd: int, count: int) -> bytes:
            return b"x" * 100

    (tmp_path / "f").write_bytes(b"1")
    with pytest.raises(CannotRead):
        Growing().read_bytes(tmp_path / "f", limit=50)


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    fs = Fs()
    (tmp_path / "f").write_bytes(b"")
    os.symlink(tmp_path, tmp_path / "link")
    for name in ("f", "link"):
        with pytest.raises(CannotWrite):
            fs.make_folder(tmp_path / name)
    with pytest.raises(CannotWrite):
        fs.make_folder(tmp_path / "f" / "below")
    fs.make_folder(tmp_path / "link" / "made")
    assert (tmp_path / "made").is_dir()
    assert fs.list_names(tmp_path / "missing") == []
    assert fs.list_names(tmp_path / "f") == []
    assert fs.stat(tmp_path / "f" / "below") is None


def test_steps_that_fail_name_the_path(tmp_path: Path) -> None:
    fs = Fs()
    with pytest.raises(CannotWrite):
        fs.sync_folder(tmp_path / "missing")
    with pytest.raises(CannotWrite):
        fs.rename(tmp_path / "missing", tmp_path / "other")
    with pytest.raises(CannotWrite):
        fs.remove(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/f").write_bytes(b"")
    with pytest.raises(CannotWrite):
        fs.remove_folder(tmp_path / "full")
    fs.remove(tmp_path / "missing")
    fs.remove_folder(tmp_path / "missing")


def test_a_held_lock_is_busy_and_names_its_holder(tmp_path: Path) -> None:
    now = [0.0]
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    second = VaultLock(Fs(), tmp_path, now_s=lambda: now[0], wait=wait)
    with VaultLock(Fs(), tmp_path, program="first").hold(), pytest.raises(Busy) as caught, second.hold(1.0):
        pytest.fail("two holders")
    assert caught.value.holder == f"first {os.getpid()}"
    assert 0.9 < sum(waits) < 1.1
    with second.hold(0):
        pass
    assert (tmp_path / "desktop/lock").exists()


def test_a_lock_is_not_inherited_and_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    lock = VaultLock(Fs(), tmp_path)
    assert lock.holder() == ""
    with lock.hold():
        links = {name: os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
        assert [os.get_inheritable(int(name)) for name, target in links.items() if target == str(lock.path)] == [False]
    lock.path.unlink()
    (tmp_path / "theirs").write_bytes(b"theirs")
    os.symlink(tmp_path / "theirs", lock.path)
    with pytest.raises(CannotWrite), lock.hold():
        pytest.fail("locked through a link")
    assert (tmp_path / "theirs").read_bytes() == b"theirs"


def test_a_lock_that_cannot_be_signed_is_given_back(tmp_path: Path) -> None:
    fs = BrokenFs()
    fs.fail["write"] = errno.ENOSPC
    with pytest.raises(DiskFull), VaultLock(fs, tmp_path).hold():
        pytest.fail("held")
    with VaultLock(Fs(), tmp_path).hold(0):
        pass


def test_points_are_silent_unless_armed() -> None:
    seen: list[str] = []
    faults.point("before")
    with faults.armed(seen.append):
        faults.point("inside")
    faults.point("after")
    assert seen == ["inside"]
