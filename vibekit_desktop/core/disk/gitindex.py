"""The index of a git repository: what is tracked, and what git last saw on disk of it.

Read by ourselves, from bytes: opening a repository would read its settings and rule files by path, and a planted FIFO or
include among them would hang or mislead us. Pure; any thread.
"""

import hashlib
import struct
from typing import NamedTuple

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
_HASH_BYTES = 20
_NO_HASH = bytes(_HASH_BYTES)
_EXTENDED = 0x4000
"""In the flags of an entry: two more bytes of flags follow."""
_STAGE = 0x3000
"""In the flags of an entry: not 0 while the path is in conflict."""
_KNOWN_VERSIONS = (2, 3, 4)

FILE = 0o100000
"""The kind of a regular file in the mode of an entry."""


class BadIndex(Exception):
    """The bytes are not an index that we read: damaged, split in two files, of another hash, or newer."""


class IndexEntry(NamedTuple):
    """One tracked path, with what git last saw of it on disk. ``plain``: not in conflict, not left out of the checkout, and not
    only announced."""

    path: bytes
    oid: str
    mode: int
    plain: bool
    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int


def parse(data: bytes) -> list[IndexEntry]:
    """All entries, or `BadIndex`."""
    if len(data) < _HEADER.size + _HASH_BYTES:
        raise BadIndex("too short")
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in _KNOWN_VERSIONS:
        raise BadIndex("not an index")
    end = len(data) - _HASH_BYTES
    if data[end:] not in (_NO_HASH, hashlib.sha1(memoryview(data)[:end], usedforsecurity=False).digest()):
        raise BadIndex("does not match its hash")
    try:
        found, at = _entries(data, count, compressed=version == 4)
        _require_known_extensions(data, at, end)
    except (struct.error, IndexError, ValueError) as error:
        raise BadIndex("ends too early") from error
    return found


def _entries(data: bytes, count: int, *, compressed: bool) -> tuple[list[IndexEntry], int]:
    found: list[IndexEntry] = []
    at = _HEADER.size
    path = b""
    for _ in range(count):
        start = at
        ctime, ctime_ns, mtime, mtime_ns, _, ino, mode, _, _, size, oid, flags = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size
        plain = not flags & _STAGE
        if flags & _EXTENDED:
            plain = plain and data[at : at + 2] == b"\0\0"
            at += 2
        if compressed:
            drop, at = _number(data, at)
            path = path[: len(path) - drop]
        else:
            path = b""
        close = data.index(b"\0", at)
        path += data[at:close]
        at = close + 1 if compressed else start + ((close - start) // 8 + 1) * 8
        seen = IndexEntry(path, oid.hex(), mode, plain, size, mtime * 10**9 + mtime_ns, ctime * 10**9 + ctime_ns, ino)
        found.append(seen)
    return found, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number in git's variable-length coding, and where the next thing begins."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


def _require_known_extensions(data: bytes, at: int, end: int) -> None:
    """Parts behind the entries that begin with a small letter change what the entries mean; we know of none that does not."""
    while at + 8 <= end:
        if data[at] >= ord("a"):
            raise BadIndex("needs an extension")
        at += 8 + struct.unpack_from(">I", data, at + 4)[0]
    if at != end:
        raise BadIndex("ends too early")
