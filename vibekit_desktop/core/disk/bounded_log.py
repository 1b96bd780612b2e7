"""A log of what others write, of which only the newest part is kept: two files, so that it never grows past its limit.

Nothing is synced and nothing depends on it: whatever fails is a line that is missing. Several processes may write to one log;
if two of them turn it over at once, a part of it is lost. Blocking; any thread.
"""

import os
from pathlib import Path

from vibekit_desktop.core.disk.fs import NOFOLLOW, Fs
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite

LIMIT_BYTES = 1 << 20


class BoundedLog:
    """The file at ``path`` and the one before it, ``path`` with ``.1``; both together hold at most ``limit_bytes``."""

    def __init__(self, path: Path, *, fs: Fs | None = None, limit_bytes: int = LIMIT_BYTES) -> None:
        self._path, self._fs, self._half = path, fs or Fs(), limit_bytes // 2

    def add(self, data: bytes) -> bool:
        """Write at the end; of what does not fit the newest part. False: it could not be written."""
        data = data[-self._half :]
        try:
            found = self._fs.stat(self._path)
            if found is None:
                self._fs.make_folder(self._path.parent)
            elif found.st_size + len(data) > self._half:
                self._fs.move(self._path, self._path.with_name(f"{self._path.name}.1"))
            fd = self._fs.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | NOFOLLOW, 0o600)
            try:
                self._fs.write_all(fd, data)
            finally:
                self._fs.close(fd)
        except (OSError, CannotRead, CannotWrite):
            return False
        return True
