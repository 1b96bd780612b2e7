"""The rows of the chat list as they were read last, so that a list costs a look at each file instead of reading it.

``desktop/headers`` can be thrown away at any time. A row counts only for the file that it was read from: same size, time of
change and inode. Rows stand newest first, the first hundred in a segment of their own, so that the beginning of the list can be
shown before anything was looked at. Replaced without syncing; a damaged one is read as none.

| bytes | what |
| --- | --- |
| 16 | what this version writes |
| 4 + 4 | length and CRC-32 of the first segment |
| 4 + 4 | length and CRC-32 of the second |
| | the segments: MessagePack lists of [size, mtime, inode, row] |

Blocking; any thread, no lock.
"""

import hashlib
import logging
import os
import struct
import zlib
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat import rows
from vibekit_desktop.core.chat.rows import ChatFile, Details
from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, InvalidId
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

FIRST = 100
_LIMIT_BYTES = 256 << 20
_FRONT = struct.Struct(">16sIIII")
_MARK = hashlib.sha256(b"headers 1" + " ".join(ChatFile.__struct_fields__ + Details.__struct_fields__).encode()).digest()[:16]
_SUFFIX = ".json"
_NEVER = -1
"""The inode of no file: the row is read again."""
_FOR_GOOD = ("not a regular file", "too large")
_log = logging.getLogger(__name__)


class _Seen(msgspec.Struct, frozen=True, array_like=True, gc=False):
    size: int
    mtime_ns: int
    ino: int
    row: ChatFile


_ROWS = msgspec.msgpack.Decoder(list[_Seen])


class HeaderCache:
    """The rows of one folder of chats. Invariant: `verified` tells of each file what is in it now."""

    def __init__(self, fs: Fs, path: Path, *, archived: bool, limit: int) -> None:
        self._fs = fs
        self._path = path
        self._archived = archived
        self._limit = limit
        self._known: dict[str, _Seen] | None = None
        self._order: list[_Seen] = []
        self._recent: dict[str, _Seen] = {}
        """Rows of single chats, read or written since the whole list was looked at."""

    def first(self, limit: int) -> list[ChatFile]:
        """The beginning of the list as it was known last; nothing is looked at."""
        found = self._order if self._known is not None else self._load(limit)
        return [seen.row for seen in found[:limit]]

    def verified(self, folder: Path) -> list[ChatFile]:
        """Every chat of the folder, newest update first; only files that changed are read."""
        known = self._known
        if known is None:
            self._order = self._load()
            known = {f"{seen.row.id}{_SUFFIX}": seen for seen in self._order}
        recent, self._recent = self._recent, {}
        changed = any(known.get(name) != seen for name, seen in recent.items())
        if changed:
            known = {**known, **recent}
        fresh: dict[str, _Seen] = {}
        for name, found in self._fs.stats(folder):
            seen = known.get(name)
            if seen is None or seen.mtime_ns != found.st_mtime_ns or seen.ino != found.st_ino or seen.size != found.st_size:
                if not name.endswith(_SUFFIX):
                    continue
                try:
                    seen = self._look(folder / name, parse_chat_id(name.removesuffix(_SUFFIX)), found)
                except (InvalidId, FileNotFoundError):
                    continue
                changed = True
            fresh[name] = seen
        self._known = fresh
        if changed or len(fresh) != len(known):
            self._order = sorted(fresh.values(), key=_place)
            self._save(self._order)
        return [seen.row for seen in self._order]

    def one(self, path: Path, chat: ChatId) -> ChatFile | None:
        """The row of one chat; None if it has no file."""
        found = self._fs.stat(path)
        if found is None:
            return None
        seen = self._recent.get(path.name) or (self._known or {}).get(path.name)
        if seen is not None and (seen.size, seen.mtime_ns, seen.ino) == _stamp(found):
            return seen.row
        try:
            seen = self._look(path, chat, found)
        except FileNotFoundError:
            return None
        self._put(seen)
        return seen.row

    def opened(self, path: Path, before: os.stat_result, chat: Chat, *, newer: bool) -> None:
        """A chat was just read whole: its row need not be. ``before``: what its file was then, or even earlier."""
        seen = self._recent.get(path.name) or (self._known or {}).get(path.name)
        if seen is None or (seen.size, seen.mtime_ns, seen.ino) != _stamp(before):
            self._put(_Seen(*_stamp(before), rows.of(chat, archived=self._archived, newer=newer)))

    def wrote(self, path: Path, chat: Chat) -> None:
        """A chat was just written: its row is known without reading it."""
        found = self._fs.stat(path)
        if found is not None:
            self._put(_Seen(*_stamp(found), rows.of(chat, archived=self._archived)))

    def damaged(self, path: Path, chat: ChatId, problem: str) -> None:
        """Reading the whole file found what reading its row did not."""
        found = self._fs.stat(path)
        if found is not None:
            try:
                data = self._fs.read_bytes(path, limit=self._limit)
            except (FileNotFoundError, CannotRead):
                data = b""
            self._put(_Seen(*_stamp(found), self._damaged(chat, problem, found, data)))

    def _put(self, seen: _Seen) -> None:
        self._recent[f"{seen.row.id}{_SUFFIX}"] = seen

    def _damaged(self, chat: ChatId, problem: str, found: os.stat_result, data: bytes = b"") -> ChatFile:
        return rows.damaged(chat, problem, data, changed_ms=found.st_mtime_ns // 1_000_000, archived=self._archived)

    def _look(self, path: Path, chat: ChatId, found: os.stat_result) -> _Seen:
        size, mtime_ns, ino = _stamp(found)
        try:
            data = self._fs.read_bytes(path, limit=self._limit)
        except CannotRead as error:
            # What the system refuses now it may allow later, without a trace in the file.
            return _Seen(size, mtime_ns, ino if error.reason in _FOR_GOOD else _NEVER, self._damaged(chat, error.reason, found))
        row = rows.read(chat, data, changed_ms=mtime_ns // 1_000_000, archived=self._archived)
        return _Seen(size, mtime_ns, ino, row)

    # -- the file ------------------------------------------------------------------------------------------------

    def _load(self, limit: int | None = None) -> list[_Seen]:
        """What the file says, or of it the first segment if that is enough; nothing if it is not to be trusted."""
        try:
            fd = self._fs.open_regular(self._path)
        except (FileNotFoundError, OSError):
            return []
        try:
            front = self._fs.read(fd, _FRONT.size)
            if len(front) != _FRONT.size:
                return []
            mark, first, first_crc, second, second_crc = _FRONT.unpack(front)
            if mark != _MARK or first + second > _LIMIT_BYTES:
                return []
            found = _decoded(self._exactly(fd, first), first_crc)
            if limit is not None and (limit <= FIRST or not second):
                return found or []
            more = _decoded(self._exactly(fd, second), second_crc)
        except OSError as error:
            _log.info("the rows of the list were not read: %s", type(error).__name__)
            return []
        finally:
            self._fs.close(fd)
        return found + more if found is not None and more is not None else []

    def _exactly(self, fd: int, count: int) -> bytes:
        pieces: list[bytes] = []
        while count and (piece := self._fs.read(fd, count)):
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def _save(self, order: list[_Seen]) -> None:
        if not self._fs.is_folder(self._path.parent):
            return  # nothing of ours is in this vault: reading it makes nothing
        segments = [msgspec.msgpack.encode(order[:FIRST]), msgspec.msgpack.encode(order[FIRST:])]
        front = _FRONT.pack(_MARK, *(number for data in segments for number in (len(data), zlib.crc32(data))))
        temp = atomic.temp_beside(self._path)
        try:
            self._fs.write_new(temp, front + b"".join(segments))
            self._fs.rename(temp, self._path)
        except CannotWrite as error:
            _log.info("the rows of the list were not kept: %s", error.reason)
            self._drop(temp)

    def _drop(self, temp: Path) -> None:
        try:
            self._fs.remove(temp)
        except CannotWrite:
            return  # a leftover harms nobody


def _decoded(data: bytes, crc: int) -> list[_Seen] | None:
    if zlib.crc32(data) != crc:
        return None
    try:
        return _ROWS.decode(data)
    except (msgspec.MsgspecError, ValueError):
        return None


def _stamp(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_size, found.st_mtime_ns, found.st_ino


def _place(seen: _Seen) -> tuple[int, str]:
    return -seen.row.updated_at, seen.row.id
