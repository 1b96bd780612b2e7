"""A disk that folds names, as macOS and Windows have: one file under every spelling, listed under the one it was made with."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

from vibekit_desktop.core.disk.fs import Fs


def case_key(name: str) -> str:
    return name.casefold()


def normal_key(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def both_key(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


class FoldingFs(Fs):
    """Finds a name by its key among those that a folder lists. Counts the listings it was asked for."""

    def __init__(self, key: Callable[[str], str] = both_key) -> None:
        self._key = key
        self.listings = 0

    def _spelled(self, name: Path | str, dir_fd: int | None) -> Path | str:
        if dir_fd is None or "/" in str(name):
            return name
        listed = os.listdir(dir_fd)
        if name in listed:
            return name
        return next((one for one in listed if self._key(one) == self._key(str(name))), name)

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        return super().open(self._spelled(path, dir_fd), flags, mode, dir_fd=dir_fd)

    def lstat(self, name: Path | str, *, dir_fd: int | None = None) -> os.stat_result:
        return super().lstat(self._spelled(name, dir_fd), dir_fd=dir_fd)

    def readlink(self, name: str, *, dir_fd: int | None = None) -> bytes:
        return super().readlink(str(self._spelled(name, dir_fd)), dir_fd=dir_fd)

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        super().move(self._spelled(old, dir_fd), self._spelled(new, dir_fd), dir_fd=dir_fd)

    def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        super().unlink(self._spelled(name, dir_fd), dir_fd=dir_fd)

    def mkdir(self, name: Path | str, mode: int, *, dir_fd: int | None = None) -> None:
        super().mkdir(self._spelled(name, dir_fd), mode, dir_fd=dir_fd)

    def rmdir(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        super().rmdir(self._spelled(name, dir_fd), dir_fd=dir_fd)

    def names(self, folder: Path | int) -> list[str]:
        self.listings += 1
        return super().names(folder)
