"""Read files and JSON that other programs wrote, trusting nothing: not the type of the file, not the types inside.

Only reads; follows links (the user's own layout), opens regular files only and never waits on a pipe. Any thread.
"""

import json
import os
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from vibekit_desktop.core.types.errors import CannotRead

T = TypeVar("T")

_AT_ONCE = 200

MAX_SESSION_BYTES = 1 << 30
"""Larger histories are refused: reading takes a few times their size in memory."""


def read_regular(path: Path, *, limit: int = MAX_SESSION_BYTES) -> bytes:
    """The bytes of a regular file; `CannotRead` with the reason for anything else, a missing file included."""
    try:
        descriptor = _open(path)
        try:
            size = os.fstat(descriptor).st_size
            if size > limit:
                raise CannotRead(str(path), "too large")
            return _read(descriptor, limit)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise CannotRead(str(path), _word(error)) from error


def read_beginning(path: Path, size: int) -> bytes:
    """The first bytes of a regular file; empty if it cannot be read."""
    try:
        descriptor = _open(path)
        try:
            return _read(descriptor, size)
        finally:
            os.close(descriptor)
    except (OSError, ValueError, CannotRead):
        return b""


def _open(path: Path) -> int:
    """A regular file, opened; nothing else stays open, and a pipe is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    raise CannotRead(str(path), "is a folder" if stat.S_ISDIR(kind) else "not a regular file")


def _read(descriptor: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (part := os.read(descriptor, min(size, 1 << 24))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def mark_of(path: Path) -> tuple[int, int]:
    """Size and time of change in nanoseconds; `CannotRead` if there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        raise CannotRead(str(path), _word(error)) from error
    return found.st_size, found.st_mtime_ns


def names_in(folder: Path) -> list[str]:
    """The names in a folder, sorted; none if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _word(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "missing"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


def plain(raw: bytes | msgspec.Raw) -> object:
    """A JSON text as plain values; None for what cannot be read (too deep, too long a number, not JSON)."""
    if not bytes(raw):
        return None
    try:
        return msgspec.json.decode(raw, type=object)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        found: object = json.loads(bytes(raw))
        return found
    except (ValueError, RecursionError):
        return None


def mapping(value: object) -> Mapping[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[object]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else ()


def text(value: object) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def number(value: object) -> int:
    """The value as a whole number of a sane size, else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -(1 << 53) < value < 1 << 53:
        return 0
    return int(value)


def let_go(items: list[T]) -> None:
    """Empty a long list that nobody needs any more, bit by bit: all at once, nothing else would be done in any thread for as
    long as that takes."""
    while items:
        del items[-_AT_ONCE:]


def milliseconds(stamp: object) -> int:
    """Unix milliseconds of an ISO time; 0 if it is none."""
    if not isinstance(stamp, str) or len(stamp) > 40:
        return 0
    try:
        moment = datetime.fromisoformat(stamp)
        return max(0, round(moment.timestamp() * 1000)) if moment.tzinfo is not None else 0
    except (ValueError, OverflowError, OSError):
        return 0
