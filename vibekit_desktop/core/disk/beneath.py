"""The way down from the root of a workspace: by descriptor, one component at a time, following no link.

Nothing that turns a folder into a link meanwhile can lead outside. The root is bound by device and
inode: another folder in its place is `WorkspaceMissing`. Blocking; POSIX.
"""

import errno
import os
import stat as stat_bits
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vibekit_desktop.core.disk import names
from vibekit_desktop.core.disk.fs import DIRECTORY, NOFOLLOW, Fs
from vibekit_desktop.core.types.errors import PathEscape, PathRefused, WorkspaceMissing
from vibekit_desktop.core.types.ids import WorkspacePath

PATH_BYTES = 4095
"""Nobody makes a longer path; walking down thousands of folders for a planted one would take minutes."""


class Beneath:
    """One root. Invariant: every descriptor that it hands out is of a folder that lies beneath it when it is opened."""

    def __init__(self, fs: Fs, root: Path, identity: tuple[int, int], never: frozenset[tuple[int, int]]) -> None:
        self.fs = fs
        self.root = root
        self.identity = identity
        self._never = never

    def open_root(self) -> int:
        """The descriptor of the root, the caller's to close; `WorkspaceMissing` if it is not the folder that it was."""
        try:
            fd = self.fs.open(self.root, os.O_RDONLY | DIRECTORY | NOFOLLOW)
        except OSError as error:
            raise WorkspaceMissing(str(self.root)) from error
        found = self.fs.fstat(fd)
        if (found.st_dev, found.st_ino) != self.identity:
            self.fs.close(fd)
            raise WorkspaceMissing(str(self.root))
        return fd

    def is_never(self, found: os.stat_result) -> bool:
        """Whether this is one of our own folders, in which nothing is read or written."""
        return bool(self._never) and (found.st_dev, found.st_ino) in self._never

    def is_ours(self, fd: int) -> bool:
        """`is_never` of an open folder."""
        return bool(self._never) and self.is_never(self.fs.fstat(fd))

    def step(self, fd: int, part: str) -> int:
        """Down one folder. `FileNotFoundError` if nothing or a file is there, `PathEscape` if a link is."""
        try:
            return self.fs.open(part, os.O_RDONLY | DIRECTORY | NOFOLLOW, dir_fd=fd)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            if stat_bits.S_ISLNK(self.fs.lstat(part, dir_fd=fd).st_mode):
                raise PathEscape(part) from error
            raise FileNotFoundError(errno.ENOENT, "a file is on the way") from error

    def descend(self, parts: list[str]) -> int:
        """The descriptor of a folder, the caller's to close; `PathRefused` on the way through one of our own."""
        fd = self.open_root()
        try:
            for part in parts:
                below = self.step(fd, part)
                self.fs.close(fd)
                fd = below
                if self.is_ours(fd):
                    raise PathRefused("/".join(parts), "own-data")
        except BaseException:
            self.fs.close(fd)
            raise
        return fd

    @contextmanager
    def parent(self, path: WorkspacePath) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder that holds ``path``, and its last name."""
        reason = names.refusal(path)
        if reason:
            raise PathRefused(path, reason)
        if len(os.fsencode(path)) > PATH_BYTES:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        *above, base = path.split("/")
        fd = self.descend(above)
        try:
            yield fd, base
        finally:
            self.fs.close(fd)
