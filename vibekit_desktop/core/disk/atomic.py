"""Replace a file's content all at once or not at all.

| crash after | what is left | who cleans |
| --- | --- | --- |
| temp created or half written | old content, a temp | `sweep` at the next change |
| temp synced | old content, a whole temp | the same |
| rename | old or new content, each whole | nobody needs to |
| folder synced | new content | - |

Blocking; any thread.
"""

import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import NOFOLLOW, Fs, cannot_write
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite

TEMP_PREFIX = ".vibekit-temp-"
_TEMP = re.compile(r"\.vibekit-temp-[0-9a-f]{24}")


def temp_beside(path: Path) -> Path:
    """A new name in the folder of ``path`` that cannot be guessed."""
    return path.parent / f"{TEMP_PREFIX}{secrets.token_hex(12)}"


def write_temp(fs: Fs, temp: Path, pieces: Iterable[bytes], *, mode: int = 0o600) -> None:
    """Create ``temp``, which must not exist, with all pieces, synced; it is gone again if anything fails.

    An exception that ``pieces`` raises passes through unchanged.
    """
    faults.point("atomic.create")
    try:
        fd = fs.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW, mode)
    except OSError as error:
        raise cannot_write(temp, error) from error
    try:
        try:
            for piece in pieces:
                fs.write_all(fd, piece)
            faults.point("atomic.sync")
            fs.fsync(fd)
        finally:
            fs.close(fd)
    except OSError as error:
        fs.remove(temp)
        raise cannot_write(temp, error) from error
    except Exception:
        fs.remove(temp)
        raise


def replace(fs: Fs, path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """The file holds ``data``, durably, when this returns; its folder must exist. The rename is the commit point.

    On failure the old content is still there and no temp is left.
    """
    temp = temp_beside(path)
    write_temp(fs, temp, (data,), mode=mode)
    try:
        faults.point("atomic.rename")
        fs.rename(temp, path)
    except Exception:
        fs.remove(temp)
        raise
    faults.point("atomic.folder")
    fs.sync_folder(path.parent)


def sweep(fs: Fs, folder: Path) -> None:
    """Remove the temps that crashes left in a folder. Only while nobody else can be writing there; harmless if it fails."""
    try:
        for name in fs.list_names(folder):
            if _TEMP.fullmatch(name):
                fs.remove(folder / name)
    except (CannotRead, CannotWrite):
        return  # a leftover harms nobody


def remove(fs: Fs, path: Path) -> None:
    """The file is gone, durably, when this returns; missing is fine."""
    if fs.stat(path) is None:
        return
    faults.point("atomic.remove")
    fs.remove(path)
    faults.point("atomic.folder")
    fs.sync_folder(path.parent)
