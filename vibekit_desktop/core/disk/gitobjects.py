"""Read contents from the object database of a git repository: loose objects by ourselves, packs through libgit2.

Nothing is run, nothing is written, nothing but regular files is opened. Whatever is read is checked against its id. Blocking;
one thread.
"""

import hashlib
import os
import re
import zlib
from pathlib import Path

from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotRead

_OID = re.compile(r"[0-9a-f]{40}")
_BLOB_HEADER = re.compile(rb"blob ([0-9]{1,15})\0")
_BLOB_TYPE = 3
"""A blob's number among the kinds of packed objects."""
_FIRST_BYTES = 4096
"""So many packed bytes of a loose object unpack to its header for certain."""
_HEADER_BYTES = 32
"""No header is longer: the word, a size, a zero byte."""
_ALTERNATES_BYTES = 1 << 16
_MOST_PLACES = 16
"""Relative names in a ring would never end by themselves."""
CONTENT_BYTES = 64 << 20
"""No larger content is read: it is held in memory as a whole."""


class Objects:
    """The blobs of one repository, those it borrows from others included."""

    def __init__(self, fs: Fs, common: Path) -> None:
        self._fs = fs
        self._places = _places(fs, common / "objects")
        self._fans = {place: _names(fs, Path(place)) for place in self._places}
        self._packs: _Packs | None = None

    def size(self, oid: str) -> int | None:
        """The size of a blob; None if it is not here, or is none."""
        if not _OID.fullmatch(oid):
            return None
        for place in self._places:
            start = self._loose_start(place, oid)
            if start is not None:
                header = _BLOB_HEADER.match(start)
                return int(header[1]) if header else None
        return self._packed().size(oid)

    def content(self, oid: str) -> bytes | None:
        """The bytes of a blob; None if they cannot be had, are not what the id says, or are more than 64 MiB."""
        size = self.size(oid)
        if size is None:
            # It may have been packed, or unpacked, since it was looked for what is here.
            self._packs = None
            self._fans = {place: _names(self._fs, Path(place)) for place in self._places}
            size = self.size(oid)
        if size is None or size > CONTENT_BYTES:
            return None
        for place in self._places:
            data = self._loose(place, oid, size)
            if data is not None:
                return data if _is(oid, data) else None
        data = self._packed().content(oid)
        return data if data is not None and _is(oid, data) else None

    # -- loose ---------------------------------------------------------------------------------------------------

    def _loose_start(self, place: str, oid: str) -> bytes | None:
        if oid[:2] not in self._fans[place]:
            return None  # nearly all content is packed, and asking for each one is what costs
        try:
            fd = self._fs.open_regular(f"{place}/{oid[:2]}/{oid[2:]}")
        except OSError:
            return None
        try:
            return zlib.decompressobj().decompress(self._fs.read(fd, _FIRST_BYTES), _HEADER_BYTES)
        except (OSError, zlib.error):
            return b""
        finally:
            self._fs.close(fd)

    def _loose(self, place: str, oid: str, size: int) -> bytes | None:
        most = size + _HEADER_BYTES
        try:
            packed = self._fs.read_bytes(f"{place}/{oid[:2]}/{oid[2:]}", limit=most + (most >> 8) + _FIRST_BYTES)
            whole = zlib.decompressobj().decompress(packed, most + 1)
        except (OSError, CannotRead, zlib.error):
            return None
        return whole.partition(b"\0")[2]

    # -- packed --------------------------------------------------------------------------------------------------

    def _packed(self) -> "_Packs":
        if self._packs is None:
            self._packs = _Packs([place for place in self._places if _is_plain(self._fs, Path(place, "pack"))])
        return self._packs


class _Packs:
    """The packs of some object folders. libgit2 is loaded when the first one is opened: it is not needed to start."""

    def __init__(self, places: list[str]) -> None:
        import pygit2

        self._odb = pygit2.Odb()
        self._errors = (pygit2.GitError, KeyError, ValueError, OSError)
        for place in places:
            try:
                self._odb.add_backend(pygit2.OdbBackendPack(place), 1)
            except self._errors:
                continue

    def size(self, oid: str) -> int | None:
        try:
            kind, size = self._odb.read_header(oid)
        except self._errors:
            return None
        return size if int(kind) == _BLOB_TYPE else None

    def content(self, oid: str) -> bytes | None:
        try:
            kind, data = self._odb.read(oid)
        except self._errors:
            return None
        return data if int(kind) == _BLOB_TYPE else None


def _is(oid: str, data: bytes) -> bool:
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest() == oid


def _names(fs: Fs, folder: Path) -> frozenset[str]:
    try:
        return frozenset(fs.list_names(folder))
    except CannotRead:
        return frozenset()


def _is_plain(fs: Fs, packs: Path) -> bool:
    """Whether there are packs, and everything among them is a regular file, so that libgit2 opens nothing else."""
    found = _names(fs, packs)
    return bool(found) and all(fs.is_file(packs / name) for name in found)


def _places(fs: Fs, objects: Path) -> list[str]:
    """The object folder and those it borrows from, each once."""
    found = {str(objects): None}
    waiting = [objects]
    while waiting and len(found) < _MOST_PLACES:
        place = waiting.pop()
        try:
            text = os.fsdecode(fs.read_bytes(place / "info" / "alternates", limit=_ALTERNATES_BYTES))
        except (FileNotFoundError, CannotRead):
            continue
        for line in text.split("\n"):
            other = place / line
            if (
                line
                and not line.startswith(("#", '"'))
                and "\0" not in line
                and str(other) not in found
                and fs.is_folder(other)
            ):
                found[str(other)] = None
                waiting.append(other)
    return list(found)
