"""Colours of texts: from the worker process, and remembered by content.

What was coloured once is kept in memory and in a folder of small files, which can be deleted at any time. Nothing here is
needed: whatever fails, a text is coloured again or stays plain.
"""

import asyncio
import hashlib
import logging
import sys
import threading
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import msgspec

from vibekit_desktop.core.diff.sides import Lines
from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.highlight.parts import FROM_THE_TOP, RUN_UP, from_line
from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.worker.pool import WorkerPool

_log = logging.getLogger(__name__)

LARGEST_TEXT = 2 << 20
"""Bytes; more is shown plain and not even asked about."""
MEMORY_BYTES = 32 << 20
FOLDER_BYTES = 64 << 20
FOLDER_FILES = 2_000
LARGEST_FILE = 8 << 20
_FORMAT = b"colours 1"
_FEWEST_LINES = 200
"""Shorter texts are coloured again as fast as they are read from a file."""


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    """`StyleRuns` in a file, in the order of the machine that wrote it."""

    offsets: bytes
    starts: bytes
    kinds: bytes


_decoder = msgspec.msgpack.Decoder(_Stored)


class Colours:
    """Invariant: what is remembered under a key is what the worker answers for its text. Blocking parts run in threads."""

    def __init__(self, fs: Fs, folder: Path, pool: WorkerPool) -> None:
        self._fs = fs
        self._folder = folder
        self._pool = pool
        self._guard = threading.Lock()  # over the fields below
        self._known: OrderedDict[str, StyleRuns] = OrderedDict()
        self._bytes = 0
        self._on_disk: tuple[int, int] | None = None
        self._version = b""

    async def whole(self, path: str, lines: Sequence[str]) -> StyleRuns | None:
        """Colours for all lines of a text."""
        text = await asyncio.to_thread(_text, lines)
        if text is None:
            return None
        key = await asyncio.to_thread(self._key, path, text)
        found = await asyncio.to_thread(self._recall, key, len(lines))
        if found is None:
            found = await self._pool.lex(path, text)
            if found is not None:
                await asyncio.to_thread(self._remember, key, found, stored=len(lines) >= _FEWEST_LINES)
        return found

    async def part(self, path: str, lines: Sequence[str], first: int, last: int) -> StyleRuns | None:
        """Colours for lines ``first`` to ``last``, both included, read from some way above."""
        first, last = max(0, first), min(last, len(lines) - 1)
        if last < first:
            return None
        start = 0 if first < FROM_THE_TOP else first - RUN_UP
        part = await asyncio.to_thread(lambda: _text(lines[start : last + 1]))
        if part is None or (isinstance(lines, Lines) and lines.size > LARGEST_TEXT):
            return None
        runs = await self._pool.lex(path, part)
        return None if runs is None else from_line(runs, first - start)

    # -- in threads ----------------------------------------------------------------------------------------------

    def _key(self, path: str, text: str) -> str:
        """What the colours depend on: the lexers, the name that chooses one, and the text."""
        if not self._version:
            self._version = f"{metadata.version('Pygments')} {sys.byteorder} {array('I').itemsize}".encode()
        name = path.rpartition("/")[2].encode("utf-8", "surrogatepass")
        found = hashlib.sha256(b"\0".join((_FORMAT, self._version, name, b"")))
        found.update(text.encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    def _recall(self, key: str, lines: int) -> StyleRuns | None:
        with self._guard:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                return found
        if lines < _FEWEST_LINES:
            return None
        place = self._folder / key
        try:
            data = self._fs.read_bytes(place, limit=LARGEST_FILE)
        except (FileNotFoundError, CoreError):
            return None
        found = _unpacked(data, lines)
        try:
            if found is None:
                self._fs.remove(place)
            else:
                self._fs.touch(place)
        except (OSError, CoreError):
            pass  # somebody deleted it just now, which is their right
        if found is not None:
            self._remember(key, found, stored=False)
        return found

    def _remember(self, key: str, runs: StyleRuns, *, stored: bool) -> None:
        size = _size(runs)
        with self._guard:
            old = self._known.pop(key, None)
            self._bytes += size - (0 if old is None else _size(old))
            self._known[key] = runs
            while self._bytes > MEMORY_BYTES and self._known:
                _, dropped = self._known.popitem(last=False)
                self._bytes -= _size(dropped)
            if stored:
                self._store(key, runs)

    def _store(self, key: str, runs: StyleRuns) -> None:
        data = zlib.compress(
            msgspec.msgpack.encode(_Stored(array("I", runs.offsets).tobytes(), array("I", runs.starts).tobytes(), runs.kinds)),
            1,
        )
        if len(data) > LARGEST_FILE:
            return
        try:
            self._fs.make_folder(self._folder)
            if self._on_disk is None:
                atomic.sweep(self._fs, self._folder)
                self._on_disk = self._counted()
            atomic.replace(self._fs, self._folder / key, data)
            files, size = self._on_disk
            self._on_disk = (files + 1, size + len(data))
            if files + 1 > FOLDER_FILES or size + len(data) > FOLDER_BYTES:
                self._on_disk = self._thinned()
        except (OSError, CoreError) as error:
            _log.info("colours were not kept: %s", type(error).__name__)

    def _counted(self) -> tuple[int, int]:
        found = [stat.st_size for _, stat in self._fs.stats(self._folder)]
        return len(found), sum(found)

    def _thinned(self) -> tuple[int, int]:
        """Remove what was not used for longest, until a good part of the room is free."""
        found = sorted(self._fs.stats(self._folder), key=lambda one: one[1].st_mtime_ns)
        files, size = len(found), sum(stat.st_size for _, stat in found)
        for name, stat in found:
            if files <= FOLDER_FILES * 3 // 4 and size <= FOLDER_BYTES * 3 // 4:
                break
            self._fs.remove(self._folder / name)
            files -= 1
            size -= stat.st_size
        return files, size


def _text(lines: Sequence[str]) -> str | None:
    """The lines as one text; None if it is too large to be coloured."""
    if isinstance(lines, Lines):
        return lines.text() if lines.size <= LARGEST_TEXT else None
    text = "\n".join(lines)
    return text if len(text) <= LARGEST_TEXT else None


def _size(runs: StyleRuns) -> int:
    return 4 * (len(runs.offsets) + len(runs.starts)) + len(runs.kinds)


def _unpacked(data: bytes, lines: int) -> StyleRuns | None:
    """What a file holds; None if it is damaged or about another text."""
    try:
        unpacker = zlib.decompressobj()
        stored = _decoder.decode(unpacker.decompress(data, MEMORY_BYTES))
        offsets, starts = array("I", stored.offsets), array("I", stored.starts)
    except (zlib.error, msgspec.MsgspecError, ValueError):
        return None
    if len(offsets) != lines + 1 or not len(starts) == len(stored.kinds) == offsets[-1]:
        return None
    return StyleRuns(offsets=offsets, starts=starts, kinds=stored.kinds)
