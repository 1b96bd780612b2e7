"""An append-only line log that survives a torn tail.

A line ends with LF and nothing else does; what a line means is its reader's business. Appending is one write, one sync: when
it returns, the lines are on disk; when it raises, the file has its old length. Reading takes no lock and never waits.

| crash during | what is left | who cleans |
| --- | --- | --- |
| setting a torn tail aside | the tail, perhaps a copy of it too | the next append |
| the cut of the tail | the tail, or not; its copy | the next append |
| the write | some whole lines, perhaps a torn one | the next append; the readers of the lines |
| the sync of a new log's folder | the log, or none | nobody needs to |

Blocking; one writer at a time (the vault's lock).
"""

import hashlib
import os
import stat as stat_bits
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import NOFOLLOW, Fs, cannot_write
from vibekit_desktop.core.types.errors import CannotWrite

LARGEST = 256 << 20
"""Bytes of a log: a larger one is not read, so that a planted file cannot take all memory, and none is written."""
Stamp = tuple[int, int, int]
"""Size, mtime and inode: two equal stamps mean nobody has appended in between."""


@dataclass(frozen=True, slots=True)
class JournalContents:
    """The whole lines of a log without their LF, in order, and the unterminated rest, which is empty in a good log."""

    lines: tuple[bytes, ...] = ()
    torn: bytes = b""


def stamp(fs: Fs, path: Path) -> Stamp | None:
    """A cheap answer to "is it still what I read?"; None for no log."""
    found = fs.stat(path)
    return None if found is None else (found.st_size, found.st_mtime_ns, found.st_ino)


def read(fs: Fs, path: Path) -> JournalContents:
    """Every line there is; a missing log is an empty one. A link in its place, or one that is too large, is `CannotRead`."""
    try:
        data = fs.read_bytes(path, limit=LARGEST)
    except FileNotFoundError:
        return JournalContents()
    # Split at byte 0x0A only: str.splitlines would also cut at U+2028 inside a text.
    *lines, torn = data.split(b"\n")
    return JournalContents(tuple(lines), torn)


def append(fs: Fs, path: Path, lines: Sequence[bytes], *, set_aside: Path) -> None:
    """Add whole lines. A torn tail is copied into the folder ``set_aside`` and cut off first."""
    if not lines:
        return
    is_new = fs.stat(path) is None
    if is_new:
        fs.make_folder(path.parent)
    else:
        _cut_torn_tail(fs, path, set_aside)
    data = b"".join(line + b"\n" for line in lines)
    try:
        faults.point("journal.write")
        fd = fs.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | NOFOLLOW, 0o600)
        try:
            found = fs.fstat(fd)
            if not stat_bits.S_ISREG(found.st_mode):
                raise CannotWrite(str(path), "not a regular file")
            if found.st_size + len(data) > LARGEST:
                raise CannotWrite(str(path), "larger than a log may be")
            try:
                fs.write_all(fd, data)
                faults.point("journal.sync")
                fs.fsync(fd)
            except OSError:
                # Never leave half a line for the next append to glue onto, and never sync again on this descriptor: after a
                # failed sync the kernel may call lost pages clean.
                fs.truncate(fd, found.st_size)
                raise
        finally:
            fs.close(fd)
    except OSError as error:
        raise cannot_write(path, error) from error
    if is_new:
        faults.point("journal.folder")
        fs.sync_folder(path.parent)


def _cut_torn_tail(fs: Fs, path: Path, set_aside: Path) -> None:
    torn = read(fs, path).torn
    if not torn:
        return
    fs.make_folder(set_aside)
    # Named after its content: a crash between copy and cut leaves one copy, not two.
    name = f"{path.parent.name}-tail-{hashlib.sha256(torn).hexdigest()[:16]}"
    atomic.replace(fs, set_aside / name, torn)
    faults.point("journal.cut")
    try:
        fd = fs.open(path, os.O_WRONLY | NOFOLLOW)
        try:
            fs.truncate(fd, fs.fstat(fd).st_size - len(torn))
            fs.fsync(fd)
        finally:
            fs.close(fd)
    except OSError as error:
        raise cannot_write(path, error) from error
