"""Write a file that a person named and that was not there before, all at once or not at all. Never replaces anything.

| crash after | what is left | who cleans |
| --- | --- | --- |
| temp created or half written | a temp in the person's folder | the person |
| file in place | the whole file, and a temp that is the same file | the person |
| temp removed | the whole file | nobody needs to |

Where a disk has no hard links, the name is taken by an empty file first, which a crash may leave. Blocking; any thread.
"""

import os
from pathlib import Path

from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import NOFOLLOW, Fs, cannot_write
from vibekit_desktop.core.types.errors import CannotWrite, FileThere

MODE = 0o666
"""What the file may be for others is the person's umask."""


def create(fs: Fs, path: Path, data: bytes) -> None:
    """The file holds ``data``, durably, when this returns. `FileThere` if anything is at ``path``, a dangling link included."""
    if not fs.is_folder(path.parent):
        raise CannotWrite(str(path.parent), "there is no such folder")
    if fs.stat(path) is not None:
        raise FileThere(str(path))
    temp = atomic.temp_beside(path)
    try:
        atomic.write_temp(fs, temp, (data,), mode=MODE)
        faults.point("new-file.place")
        _put_in_place(fs, temp, path)
    except CannotWrite as error:
        fs.remove(temp)
        raise type(error)(str(path), error.reason) from error  # nobody knows the temp's name
    except Exception:
        fs.remove(temp)
        raise
    faults.point("new-file.folder")
    fs.sync_folder(path.parent)


def _put_in_place(fs: Fs, temp: Path, path: Path) -> None:
    try:
        fs.link(temp, path)
    except FileExistsError as error:
        raise FileThere(str(path)) from error
    except (OSError, RuntimeError):  # no links on this disk, or on this system none that follow nothing
        _claim(fs, path)
        try:
            fs.rename(temp, path)
        except CannotWrite:
            fs.remove(path)  # our own, and empty
            raise
    else:
        faults.point("new-file.temp")
        fs.remove(temp)


def _claim(fs: Fs, path: Path) -> None:
    """Take the name with an empty file."""
    try:
        fs.close(fs.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW, MODE))
    except FileExistsError as error:
        raise FileThere(str(path)) from error
    except OSError as error:
        raise cannot_write(path, error) from error
