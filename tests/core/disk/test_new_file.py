"""A file that a person named is written whole or not at all, and never over anything."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vibekit_desktop.core.disk import faults, new_file
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotWrite, DiskFull, FileThere


class WithoutLinks(Fs):
    """A disk that knows no hard links. ``meanwhile`` is called just before it says so."""

    def __init__(self) -> None:
        self.meanwhile: Callable[[], None] = lambda: None
        self.stuck = False

    def link(self, old: Path, new: Path) -> None:
        self.meanwhile()
        raise OSError(errno.EPERM, "no links here")

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        if self.stuck:
            raise OSError(errno.EIO, "stuck")
        super().move(old, new, dir_fd=dir_fd)


@pytest.mark.parametrize("disk", [Fs, WithoutLinks])
def test_a_new_file_has_the_bytes_and_the_permissions_of_the_umask(tmp_path: Path, disk: type[Fs]) -> None:
    before = os.umask(0o027)
    try:
        new_file.create(disk(), tmp_path / "f", b"exact\r\n\xff")
    finally:
        os.umask(before)
    assert (tmp_path / "f").read_bytes() == b"exact\r\n\xff"
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("kind", ["file", "empty", "folder", "link", "dangling"])
def test_what_is_there_is_never_replaced(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "f", tmp_path / "other"
    if kind in ("file", "empty"):
        path.write_bytes(b"mine" if kind == "file" else b"")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(other)
    if kind == "link":
        other.write_bytes(b"mine")
    before = {name: os.lstat(tmp_path / name) for name in os.listdir(tmp_path)}
    with pytest.raises(FileThere) as refused:
        new_file.create(Fs(), path, b"new")
    assert refused.value.path == str(path)
    assert {name: os.lstat(tmp_path / name) for name in os.listdir(tmp_path)} == before


def test_what_appears_in_the_last_moment_is_not_replaced_either(tmp_path: Path) -> None:
    path = tmp_path / "f"

    def appear(name: str) -> None:
        if name == "new-file.place":
            path.write_bytes(b"theirs")

    with faults.armed(appear), pytest.raises(FileThere):
        new_file.create(Fs(), path, b"ours")
    assert path.read_bytes() == b"theirs"
    path.unlink()
    disk = WithoutLinks()
    disk.meanwhile = lambda: appear("new-file.place")
    with pytest.raises(FileThere):
        new_file.create(disk, path, b"ours")
    assert path.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["f"]


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite) as refused:
        new_file.create(Fs(), tmp_path / "missing" / "f", b"x")
    assert refused.value.path == str(tmp_path / "missing")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(CannotWrite):
        new_file.create(Fs(), tmp_path / "file" / "f", b"x")
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_leaves_nothing_and_names_the_file(tmp_path: Path) -> None:
    class Full(Fs):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            raise OSError(errno.ENOSPC, "full")

    with pytest.raises(DiskFull) as refused:
        new_file.create(Full(), tmp_path / "f", b"x")
    assert refused.value.path == str(tmp_path / "f")
    assert os.listdir(tmp_path) == []


def test_a_disk_without_links_that_fails_leaves_nothing(tmp_path: Path) -> None:
    disk = WithoutLinks()
    disk.stuck = True
    with pytest.raises(CannotWrite):
        new_file.create(disk, tmp_path / "f", b"x")
    assert os.listdir(tmp_path) == []

    class ReadOnly(WithoutLinks):
        def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
            if path == tmp_path / "f":
                raise OSError(errno.EROFS, "read only")
            return super().open(path, flags, mode, dir_fd=dir_fd)

    with pytest.raises(CannotWrite):
        new_file.create(ReadOnly(), tmp_path / "f", b"x")
    assert os.listdir(tmp_path) == []


def test_a_system_that_cannot_link_without_following_takes_the_name_first(tmp_path: Path) -> None:
    class OtherSystem(Fs):
        def link(self, old: Path, new: Path) -> None:
            raise RuntimeError("follow_symlinks unavailable on this platform")

    new_file.create(OtherSystem(), tmp_path / "f", b"x")
    assert (tmp_path / "f").read_bytes() == b"x"
    assert os.listdir(tmp_path) == ["f"]


class _Crash(BaseException):
    pass


def test_a_crash_leaves_the_whole_file_or_none(tmp_path: Path) -> None:
    seen: list[str] = []
    with faults.armed(seen.append):
        new_file.create(Fs(), tmp_path / "whole", b"content")
    assert seen == ["atomic.create", "atomic.sync", "new-file.place", "new-file.temp", "new-file.folder"]
    for point in seen:

        def crash(name: str, point: str = point) -> None:
            if name == point:
                raise _Crash

        path = tmp_path / point
        with faults.armed(crash), pytest.raises(_Crash):
            new_file.create(Fs(), path, b"content")
        assert not path.exists() or path.read_bytes() == b"content"


def test_an_error_of_ours_leaves_no_temp(tmp_path: Path) -> None:
    def fail(name: str) -> None:
        if name == "new-file.place":
            raise RuntimeError

    with faults.armed(fail), pytest.raises(RuntimeError):
        new_file.create(Fs(), tmp_path / "f", b"x")
    assert os.listdir(tmp_path) == []
