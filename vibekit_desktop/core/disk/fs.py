"""The dozen file-system calls we use, as an object that tests can record and break.

The first half are the bare calls: they raise `OSError` and know nothing of each other. The second half are the few whole
steps everybody needs, in terms of the first; they raise the errors of `core.types.errors`. Blocking; any thread.
"""

import errno
import os
import stat as stat_bits
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, DiskFull, FileTooLarge

if sys.platform == "darwin":
    import fcntl

NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
BINARY: int = getattr(os, "O_BINARY", 0)

CHUNK_BYTES = 1 << 20
"""What is held in memory of a file of any size."""
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


def reason_of(error: OSError) -> str:
    """The operating system's word for an error, without the path that it may carry."""
    return os.strerror(error.errno) if error.errno else type(error).__name__


def cannot_read(path: Path | str, error: OSError) -> CannotRead:
    """The typed error for a failed read."""
    return CannotRead(str(path), reason_of(error))


def cannot_write(path: Path | str, error: OSError) -> CannotWrite:
    """The typed error for a failed write; a full disk or quota is `DiskFull`."""
    if error.errno in _FULL:
        return DiskFull(str(path), reason_of(error))
    return CannotWrite(str(path), reason_of(error))


class Fs:
    """The disk. Holds no state, so every process and thread may have its own."""

    # -- the bare calls: OSError passes through ------------------------------------------------------------------

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        """A descriptor that children do not inherit."""
        return os.open(path, flags | BINARY, mode, dir_fd=dir_fd)

    def close(self, fd: int) -> None:
        os.close(fd)

    def read(self, fd: int, count: int) -> bytes:
        return os.read(fd, count)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """May take fewer bytes than it was given; only `write_all` calls this."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Down to the medium, where the platform has a way to ask for it."""
        if sys.platform == "darwin":
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)

    def truncate(self, fd: int, length: int) -> None:
        os.ftruncate(fd, length)

    def fstat(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def fchmod(self, fd: int, mode: int) -> None:
        os.fchmod(fd, mode)

    def lstat(self, name: Path | str, *, dir_fd: int | None = None) -> os.stat_result:
        return os.stat(name, dir_fd=dir_fd, follow_symlinks=False)

    def readlink(self, name: str, *, dir_fd: int | None = None) -> bytes:
        return os.fsencode(os.readlink(name, dir_fd=dir_fd))

    def symlink(self, text: bytes, name: str, *, dir_fd: int | None = None) -> None:
        if b"\0" in text:  # a text of no link; Python would raise `ValueError`
            raise OSError(errno.EINVAL, "not the text of a link")
        os.symlink(os.fsdecode(text), name, dir_fd=dir_fd)

    def link(self, old: Path, new: Path) -> None:
        os.link(old, new, follow_symlinks=False)

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        """Rename, replacing what is there; with ``dir_fd`` both names are in that folder."""
        os.replace(old, new, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)

    def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        os.unlink(name, dir_fd=dir_fd)

    def mkdir(self, name: Path | str, mode: int, *, dir_fd: int | None = None) -> None:
        os.mkdir(name, mode, dir_fd=dir_fd)

    def rmdir(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        os.rmdir(name, dir_fd=dir_fd)

    def names(self, folder: Path | int) -> list[str]:
        return os.listdir(folder)

    def scan(self, folder: int) -> Iterator[tuple[str, os.stat_result]]:
        """The names in an open folder, each with what `lstat` tells; what vanishes meanwhile is left out."""
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                yield entry.name, found

    def realpath(self, text: str) -> str:
        """Where a text leads, all links followed; only for saying where, never for opening."""
        return os.path.realpath(text)

    def touch(self, path: Path) -> None:
        """Set the times of a file to now."""
        os.utime(path, follow_symlinks=False)

    def now_ns(self) -> int:
        """The clock that stamps are compared with, in nanoseconds since 1970."""
        return time.time_ns()

    # -- whole steps ---------------------------------------------------------------------------------------------

    def write_all(self, fd: int, data: bytes) -> None:
        """Write every byte. A bare write may take only a part of them and report no error."""
        view = memoryview(data)
        while view:
            taken = self.write(fd, view)
            if taken <= 0:
                raise OSError(errno.EIO, "nothing was written")
            view = view[taken:]

    def chunks(self, fd: int) -> Iterator[bytes]:
        """The rest of a file in pieces."""
        while piece := self.read(fd, CHUNK_BYTES):
            yield piece

    def open_regular(self, path: Path | str, *, follow: bool = False, dir_fd: int | None = None) -> int:
        """Open a regular file for reading; anything else is refused with `OSError` before a byte is read.

        A FIFO or device is looked at before it is opened, and opened without blocking, so it can never hang us.
        """
        found = os.stat(path, dir_fd=dir_fd) if follow else self.lstat(path, dir_fd=dir_fd)
        if not stat_bits.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        fd = self.open(path, os.O_RDONLY | NONBLOCK | (0 if follow else NOFOLLOW), dir_fd=dir_fd)
        if not stat_bits.S_ISREG(self.fstat(fd).st_mode):
            self.close(fd)
            raise OSError(errno.EINVAL, "not a regular file")
        return fd

    def _open_to_read(self, path: Path | str, *, follow: bool = False, dir_fd: int | None = None) -> int:
        """`open_regular`, in our own errors but for `FileNotFoundError`."""
        try:
            return self.open_regular(path, follow=follow, dir_fd=dir_fd)
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise CannotRead(str(path), "not a regular file") from error
            raise cannot_read(path, error) from error

    def read_bytes(
        self, path: Path | str, *, limit: int | None = None, follow: bool = False, dir_fd: int | None = None
    ) -> bytes:
        """The whole file. `FileNotFoundError` if it is missing, else `CannotRead`; more than ``limit`` bytes is refused.

        A link is not followed unless ``follow`` says so.
        """
        fd = self._open_to_read(path, follow=follow, dir_fd=dir_fd)
        try:
            there = self.fstat(fd).st_size
            if limit is not None and there > limit:
                raise FileTooLarge(str(path), there, limit)
            parts: list[bytes] = []
            size = 0
            for piece in self.chunks(fd):
                size += len(piece)
                if limit is not None and size > limit:
                    raise FileTooLarge(str(path), size, limit)
                parts.append(piece)
            return b"".join(parts)
        except OSError as error:
            raise cannot_read(path, error) from error
        finally:
            self.close(fd)

    def read_start(self, path: Path, count: int) -> bytes:
        """The first ``count`` bytes of a file, or all if there are fewer; errors as `read_bytes`, a link is not followed."""
        fd = self._open_to_read(path)
        try:
            parts: list[bytes] = []
            while count and (piece := self.read(fd, min(count, CHUNK_BYTES))):
                parts.append(piece)
                count -= len(piece)
            return b"".join(parts)
        except OSError as error:
            raise cannot_read(path, error) from error
        finally:
            self.close(fd)

    def write_new(self, path: Path, data: bytes) -> None:
        """Make a file that is not there yet. Not synced: for what may be lost, and is checked when it is read."""
        try:
            fd = self.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW, 0o600)
            try:
                self.write_all(fd, data)
            finally:
                self.close(fd)
        except OSError as error:
            raise cannot_write(path, error) from error

    def stat(self, path: Path) -> os.stat_result | None:
        """What is at ``path`` itself, links not followed; None if nothing is."""
        try:
            return self.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise cannot_read(path, error) from error

    def device(self, folder: Path) -> int | None:
        """The disk that a folder is on; None if it cannot be told."""
        try:
            return os.stat(folder).st_dev
        except OSError:
            return None

    def is_mine(self, path: Path) -> bool:
        """Whether a file or folder belongs to the user of this process; links followed."""
        if sys.platform == "win32":
            return True
        try:
            return os.stat(path).st_uid == os.geteuid()
        except OSError:
            return False

    def is_folder(self, path: Path) -> bool:
        """Whether ``path`` is a folder, also through a link."""
        try:
            return stat_bits.S_ISDIR(os.stat(path).st_mode)
        except OSError:
            return False

    def is_file(self, path: Path) -> bool:
        """Whether ``path`` itself is a regular file."""
        try:
            return stat_bits.S_ISREG(self.lstat(path).st_mode)
        except OSError:
            return False

    def list_names(self, folder: Path) -> list[str]:
        """The names in a folder, sorted; nothing if it is missing."""
        try:
            return sorted(self.names(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise cannot_read(folder, error) from error

    def stats(self, folder: Path) -> Iterator[tuple[str, os.stat_result]]:
        """`scan` of a folder by its path, also through a link; nothing if it is missing, `CannotRead` if it cannot be read."""
        try:
            fd = self.open(folder, os.O_RDONLY | DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise cannot_read(folder, error) from error
        try:
            yield from self.scan(fd)
        except OSError as error:
            raise cannot_read(folder, error) from error
        finally:
            self.close(fd)

    def make_private(self, folder: Path) -> None:
        """Take away what others may do in a folder, also through a link; `CannotWrite` if that cannot be done."""
        try:
            fd = self.open(folder, os.O_RDONLY | DIRECTORY)
            try:
                if stat_bits.S_IMODE(self.fstat(fd).st_mode) & 0o077:
                    self.fchmod(fd, 0o700)
            finally:
                self.close(fd)
        except OSError as error:
            raise cannot_write(folder, error) from error

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder durable."""
        if sys.platform == "win32":
            return
        try:
            fd = self.open(path, os.O_RDONLY | DIRECTORY)
            try:
                self.fsync(fd)
            finally:
                self.close(fd)
        except OSError as error:
            raise cannot_write(path, error) from error

    def make_folder(self, path: Path, mode: int = 0o700) -> None:
        """Make a folder and its parents; every new name is durable in its parent. A link in the place is refused."""
        found = self.stat(path)
        if found is not None:
            if not stat_bits.S_ISDIR(found.st_mode):
                raise CannotWrite(str(path), "not a folder")
            return
        if path.parent != path and not self.is_folder(path.parent):
            self.make_folder(path.parent, mode)
        try:
            self.mkdir(path, mode)
        except FileExistsError:
            return
        except OSError as error:
            raise cannot_write(path, error) from error
        self.sync_folder(path.parent)

    def rename(self, old: Path, new: Path) -> None:
        """Rename, replacing what is there; durable only after `sync_folder`."""
        try:
            self.move(old, new)
        except OSError as error:
            raise cannot_write(new, error) from error

    def remove(self, path: Path) -> None:
        """Remove a file; missing is fine. Durable only after `sync_folder`."""
        try:
            self.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise cannot_write(path, error) from error

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder; missing is fine."""
        try:
            self.rmdir(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise cannot_write(path, error) from error
