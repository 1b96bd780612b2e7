"""Content by its SHA-256; verified on every read.

Two places with one layout: ``snapshots/blobs`` (the original's; what ``snapshot`` lines name) and ``desktop/blobs`` (what only
our own line kinds name; the original would collect it). Reading looks in both. A blob is durable before `put` returns; it is
written once and never changed, except that a damaged one is replaced when the same content is put again. Blocking.
"""

import hashlib
import re
import stat as stat_bits
from collections.abc import Iterable, Iterator
from pathlib import Path

from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import Fs, cannot_read
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, CannotRead, EnvironmentFault
from vibekit_desktop.core.types.ids import UNKNOWN_HASH, BlobHash

SHARED = Path("snapshots") / "blobs"
OWN = Path("desktop") / "blobs"
_SHARD_SIGNS = 2
"""The first characters of a hash that are the name of a blob's folder; the rest is the name of its file."""
_HASH = re.compile(r"[0-9a-f]{64}")
_IN_MEMORY = 4 << 20
"""A larger content is hashed while it is written; a smaller one before that, which spares the write where it is there."""

_Stamp = tuple[int, int, int, int]
"""Size, mtime, ctime and inode."""


def hash_of(data: bytes) -> BlobHash:
    """The name of a content."""
    return BlobHash(hashlib.sha256(data).hexdigest())


class BlobStore:
    """The blobs of one vault. Invariant: what is handed out has the hash it was asked for."""

    def __init__(self, fs: Fs, vault_folder: Path) -> None:
        self._fs = fs
        self._folder = vault_folder
        self._sound: dict[Path, _Stamp] = {}
        """Stamps of the files whose content was found right; saves reading them again for a preview, never for `get`."""

    def _places(self, sha: BlobHash) -> tuple[Path, Path]:
        name = Path(sha[:_SHARD_SIGNS]) / sha[_SHARD_SIGNS:]
        return self._folder / SHARED / name, self._folder / OWN / name

    def _stamp(self, path: Path) -> _Stamp | None:
        """None unless a regular file is there; a link planted in the place is neither followed nor removed."""
        try:
            found = self._fs.stat(path)
        except CannotRead:
            return None
        if found is None or not stat_bits.S_ISREG(found.st_mode):
            return None
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino

    def _pieces(self, path: Path) -> Iterator[bytes]:
        try:
            fd = self._fs.open_regular(path)
        except OSError as error:
            raise cannot_read(path, error) from error
        try:
            yield from self._fs.chunks(fd)
        except OSError as error:
            raise cannot_read(path, error) from error
        finally:
            self._fs.close(fd)

    def _is_sound(self, path: Path, sha: BlobHash) -> bool:
        stamp = self._stamp(path)
        if stamp is None:
            return False
        if self._sound.get(path) == stamp:
            return True
        digest = hashlib.sha256()
        try:
            for piece in self._pieces(path):
                digest.update(piece)
        except CannotRead:
            return False
        if digest.hexdigest() != sha:
            self._sound.pop(path, None)
            return False
        self._sound[path] = stamp
        return True

    def put(self, data: bytes, *, own: bool = False) -> BlobHash:
        """Store a content; ``own`` if only our own line kinds will name it."""
        return self.put_pieces((data,), own=own) if len(data) > _IN_MEMORY else self._put_whole(data, own=own)

    def adopt(self, file: Path, sha: BlobHash) -> bool:
        """Store, as our own, the content of a file of ours that never changes, without a second copy of its bytes: a full disk
        has no room for one. Whether it is stored; the caller has checked that the file holds this content."""
        if self._reuse(sha, own=True):
            return True
        target = self._places(sha)[True]
        self._fs.make_folder(target.parent)
        temp = atomic.temp_beside(target)
        try:
            fd = self._fs.open_regular(file)
            try:
                self._fs.fsync(fd)
            finally:
                self._fs.close(fd)
            self._fs.link(file, temp)
        except OSError:
            return False  # no hard links here, or the disk does not work
        try:
            self._fs.rename(temp, target)
        finally:
            self._fs.remove(temp)
        faults.point("blob.folder")
        self._fs.sync_folder(target.parent)
        return True

    def _put_whole(self, data: bytes, *, own: bool) -> BlobHash:
        sha = hash_of(data)
        if self._reuse(sha, own=own):
            return sha
        target = self._places(sha)[own]
        self._fs.make_folder(target.parent)
        atomic.replace(self._fs, target, data)
        return sha

    def put_pieces(self, pieces: Iterable[bytes], *, own: bool = False) -> BlobHash:
        """Store a content of any size, a piece at a time; what ``pieces`` raises passes through and nothing is stored."""
        folder = self._folder / (OWN if own else SHARED)
        self._fs.make_folder(folder)
        temp = atomic.temp_beside(folder / "blob")
        digest = hashlib.sha256()

        def hashed() -> Iterator[bytes]:
            for piece in pieces:
                digest.update(piece)
                yield piece

        atomic.write_temp(self._fs, temp, hashed())
        sha = BlobHash(digest.hexdigest())
        try:
            if self._reuse(sha, own=own):
                self._fs.remove(temp)
                return sha
            target = self._places(sha)[own]
            self._fs.make_folder(target.parent)
            faults.point("blob.rename")
            self._fs.rename(temp, target)
        except Exception:
            self._fs.remove(temp)
            raise
        faults.point("blob.folder")
        self._fs.sync_folder(target.parent)
        return sha

    def _reuse(self, sha: BlobHash, *, own: bool) -> bool:
        """Whether the content is there already, in the place wanted; its age is refreshed so no collector takes it."""
        shared, ours = self._places(sha)
        target, other = (ours, shared) if own else (shared, ours)
        if self._is_sound(target, sha):
            self._refresh(target)
            return True
        if not self._is_sound(other, sha):
            return False
        self._fs.make_folder(target.parent)
        temp = atomic.temp_beside(target)
        try:
            faults.point("blob.link")
            self._fs.link(other, temp)
        except OSError:
            # No hard links here (exFAT, or two file systems): the caller writes a second copy.
            return False
        try:
            self._fs.rename(temp, target)
        finally:
            # Renaming one hard link onto another of the same file does nothing and leaves the first; so does a failure.
            self._fs.remove(temp)
        self._refresh(target)
        faults.point("blob.folder")
        self._fs.sync_folder(target.parent)
        return True

    def _refresh(self, path: Path) -> None:
        try:
            self._fs.touch(path)
        except OSError:
            return
        stamp = self._stamp(path)
        if stamp is not None:
            self._sound[path] = stamp

    def keep_own(self, sha: BlobHash) -> None:
        """A content that is in the store is from now on also named by a line kind of ours."""
        if not self._reuse(sha, own=True):
            self.put_pieces(self.pieces(sha), own=True)

    def get(self, sha: BlobHash) -> bytes:
        """The content, checked; `BlobNotFound` or `BlobCorrupt` and never anything else. A sound one is opened and read once:
        a timeline reads thousands."""
        for place in self._places(sha) if sha != UNKNOWN_HASH else ():
            try:
                data = b"".join(self._pieces(place))
            except CannotRead:
                continue
            if hash_of(data) == sha:
                return data
        return b"".join(self.pieces(sha))

    def pieces(self, sha: BlobHash) -> Iterator[bytes]:
        """The content in pieces. `BlobCorrupt` comes after the last piece: the taker keeps nothing until the end."""
        self._require(sha)
        for place in self._places(sha):
            if self._is_sound(place, sha):
                break
        else:
            raise BlobCorrupt(sha)
        digest = hashlib.sha256()
        for piece in self._pieces(place):
            digest.update(piece)
            yield piece
        if digest.hexdigest() != sha:
            self._sound.pop(place, None)
            raise BlobCorrupt(sha)

    def check(self, sha: BlobHash) -> None:
        """Raise `BlobNotFound` or `BlobCorrupt` unless the content is there and right."""
        self._require(sha)
        if not any(self._is_sound(place, sha) for place in self._places(sha)):
            raise BlobCorrupt(sha)

    def forget_checks(self) -> None:
        """Read every blob anew from now on; `verify` means it."""
        self._sound.clear()

    def size(self, sha: BlobHash) -> int | None:
        """How many bytes the content has, as its file says; None if there is none."""
        stamps = (self._stamp(path) for path in self._places(sha))
        return next((stamp[0] for stamp in stamps if stamp is not None), None)

    def has(self, sha: BlobHash) -> bool:
        """Whether there is a file of this name; says nothing of its content."""
        return sha != UNKNOWN_HASH and any(self._stamp(place) is not None for place in self._places(sha))

    def _require(self, sha: BlobHash) -> None:
        if not self.has(sha):
            raise BlobNotFound(sha)

    def listed(self) -> tuple[dict[BlobHash, int], list[Path]]:
        """Every blob by name with its size, and the files that are no blobs or cannot be looked at. What a crash left of a
        write is none of both: the next change clears it away."""
        found: dict[BlobHash, int] = {}
        strays: list[Path] = []
        for base in (self._folder / SHARED, self._folder / OWN):
            for shard in self._names(base, strays):
                if shard.startswith(atomic.TEMP_PREFIX):
                    continue
                if not self._fs.is_folder(base / shard):
                    strays.append(base / shard)
                    continue
                for name in self._names(base / shard, strays):
                    if name.startswith(atomic.TEMP_PREFIX):
                        continue
                    stamp = self._stamp(base / shard / name)
                    text = shard + name
                    if stamp is None or len(shard) != _SHARD_SIGNS or not _HASH.fullmatch(text):
                        strays.append(base / shard / name)
                    else:
                        found[BlobHash(text)] = stamp[0]
        return found, strays

    def _names(self, folder: Path, strays: list[Path]) -> list[str]:
        try:
            return self._fs.list_names(folder)
        except CannotRead:
            strays.append(folder)
            return []

    def sweep(self) -> None:
        """Remove what a crash left of writes that never ended. Under the vault's lock, where nobody is writing."""
        for base in (self._folder / SHARED, self._folder / OWN):
            atomic.sweep(self._fs, base)
            for shard in self._names(base, []):
                if len(shard) == _SHARD_SIGNS:
                    atomic.sweep(self._fs, base / shard)


def is_sound(store: BlobStore, sha: BlobHash) -> bool:
    """Whether a content is there and right."""
    try:
        store.check(sha)
    except EnvironmentFault:
        return False
    return True
