"""What the last look at the workspace saw: a cache of stamps, and the last known state of the paths that no line names.

``desktop/known`` may vanish at any time: then the next look is a first one, which sets the states of unnamed paths and writes
nothing for them. ``desktop/baseline`` holds copies of files that nothing else has; they are not synced, checked when they are
used, and go when no state needs them (docs/storage-format.md 1 and 5). Blocking; written under the vault's lock.
"""

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.disk import atomic, journal
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.tree import Stamp
from vibekit_desktop.core.types.checkpoints import FileState, State
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath

_VERSION = 1
_LIMIT_BYTES = 256 << 20
"""Several times what the largest workspace that is walked needs."""
NO_COPY = "no-copy"
"""The reason of a content that is known to have been there, and that nobody kept."""


class _Row(msgspec.Struct, frozen=True, array_like=True):
    path: bytes
    stamp: Stamp
    sha: str
    git: str
    fresh: bool


class _File(msgspec.Struct, frozen=True, array_like=True):
    version: int
    workspace: tuple[int, int]
    rows: list[_Row]
    folders: list[bytes]
    ignored: dict[bytes, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or link as the last look saw it.

    ``sha`` is empty where it was not read, ``git`` the id of the same content in the object database of git, or empty.
    ``fresh``: it was so young that a change within the same tick would not show in its stamp, so it is read again.
    """

    stamp: Stamp
    sha: str = ""
    git: str = ""
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One whole look. ``ignored``: topmost ignored path to a fingerprint of what is in it."""

    workspace: tuple[int, int]
    entries: Mapping[WorkspacePath, Entry] = field(default_factory=dict)
    folders: Collection[WorkspacePath] = frozenset()
    ignored: Mapping[WorkspacePath, str] = field(default_factory=dict)


class Known:
    """The file ``desktop/known`` and the copies beside it. Invariant: what is loaded is one whole look, or nothing."""

    def __init__(self, fs: Fs, desktop: Path) -> None:
        self._fs = fs
        self._desktop = desktop
        self._path = desktop / "known"
        self._copies = desktop / "baseline"
        self._cache: tuple[journal.Stamp, Seen] | None = None

    def load(self, workspace: tuple[int, int]) -> Seen | None:
        """The last look at this very folder, if there was one."""
        try:
            stamp = journal.stamp(self._fs, self._path)
            if stamp is None:
                return None
            if self._cache is None or self._cache[0] != stamp:
                seen = _decoded(self._fs.read_bytes(self._path, limit=_LIMIT_BYTES))
                if seen is None:
                    return None
                self._cache = stamp, seen
        except (FileNotFoundError, CannotRead):
            return None
        seen = self._cache[1]
        return seen if seen.workspace == workspace else None

    def saved_ns(self) -> int:
        """When the last look was written down, by the file system's clock; 0 if there was none."""
        try:
            found = self._fs.stat(self._path)
        except CannotRead:
            return 0
        return 0 if found is None else found.st_mtime_ns

    def save(self, seen: Seen) -> None:
        """Replace what is known by a newer look."""
        self._fs.make_folder(self._desktop)
        atomic.replace(self._fs, self._path, _encoded(seen))
        stamp = journal.stamp(self._fs, self._path)
        self._cache = None if stamp is None else (stamp, seen)

    # -- copies --------------------------------------------------------------------------------------------------

    def copy_path(self, sha: str) -> Path:
        """Where the copy of a content is, if there is one."""
        return self._copies / sha[:2] / sha[2:]

    def copy(self, pieces: Iterable[bytes]) -> BlobHash:
        """Keep a copy of a small file; its hash. Not synced: it is a help, and checked when it is used."""
        data = b"".join(pieces)
        sha = hash_of(data)
        with suppress(CannotWrite):  # it is tried again by the next look
            self.keep(sha, data)
        return sha

    def keep(self, sha: BlobHash, data: bytes) -> None:
        """Keep a copy of a content; `CannotWrite`, `DiskFull`."""
        path = self.copy_path(sha)
        if self._fs.is_file(path):
            return
        self._fs.make_folder(path.parent)
        try:
            self._fs.write_new(path, data)
        except CannotWrite:
            self._drop(path)
            raise

    def copied(self, sha: str) -> bytes | None:
        """The copy of a content, if there is one and it is right."""
        try:
            data = self._fs.read_bytes(self.copy_path(sha))
        except (FileNotFoundError, CannotRead):
            return None
        return data if hash_of(data) == sha else None

    def prune(self, needed: Collection[str]) -> frozenset[str]:
        """Remove the copies that no state needs any more; the others."""
        kept: set[str] = set()
        for shard in self._names(self._copies):
            for name in self._names(self._copies / shard):
                if shard + name in needed:
                    kept.add(shard + name)
                else:
                    self._drop(self._copies / shard / name)
        return frozenset(kept)

    def _names(self, folder: Path) -> list[str]:
        try:
            return self._fs.list_names(folder)
        except CannotRead:
            return []

    def _drop(self, path: Path) -> None:
        try:
            self._fs.remove(path)
        except CannotWrite:
            return  # a copy too many harms nobody


def state_of(entry: Entry) -> FileState:
    """The state that an entry stands for; without a hash it is unknown what was in it."""
    mode = entry.stamp.mode if entry.stamp.kind == "file" and entry.stamp.mode >= 0 else None
    if not entry.sha:
        return FileState(State.UNKNOWN, mode=mode, reason=NO_COPY, size=entry.stamp.size)
    kind = State.LINK if entry.stamp.kind == "link" else State.PRESENT
    return FileState(kind, BlobHash(entry.sha), mode, size=entry.stamp.size)


def _encoded(seen: Seen) -> bytes:
    file = _File(
        version=_VERSION,
        workspace=seen.workspace,
        rows=[_Row(os.fsencode(path), entry.stamp, entry.sha, entry.git, entry.fresh) for path, entry in seen.entries.items()],
        folders=[os.fsencode(path) for path in sorted(seen.folders)],
        ignored={os.fsencode(path): mark for path, mark in seen.ignored.items()},
    )
    body = msgspec.msgpack.encode(file)
    return hashlib.sha256(body).digest() + body


def _decoded(data: bytes) -> Seen | None:
    digest, body = data[:32], data[32:]
    if hashlib.sha256(body).digest() != digest:
        return None
    try:
        file = msgspec.msgpack.decode(body, type=_File)
    except (msgspec.MsgspecError, UnicodeError):
        return None
    if file.version != _VERSION:
        return None
    return Seen(
        workspace=file.workspace,
        entries={WorkspacePath(os.fsdecode(row.path)): Entry(row.stamp, row.sha, row.git, row.fresh) for row in file.rows},
        folders=frozenset(WorkspacePath(os.fsdecode(path)) for path in file.folders),
        ignored={WorkspacePath(os.fsdecode(path)): mark for path, mark in file.ignored.items()},
    )
