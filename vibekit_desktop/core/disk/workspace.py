"""Paths inside a workspace, never outside; fingerprints of what is there now.

Every access goes the way of `Beneath`: by descriptor, following no link. FIFOs, sockets and devices are never opened. ``.git``
and stage names are neither read nor written. Blocking; POSIX.
"""

import hashlib
import os
import stat as stat_bits
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vibekit_desktop.core.disk import faults, folders, names, spelling
from vibekit_desktop.core.disk.beneath import Beneath
from vibekit_desktop.core.disk.fs import DIRECTORY, NOFOLLOW, Fs, cannot_read, cannot_write
from vibekit_desktop.core.disk.tree import Stamp, stamp_of
from vibekit_desktop.core.types.checkpoints import ABSENT, FileState, LeaveReason, State
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, PathEscape, PathRefused, WorkspaceMissing
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath

_FOLDER_MODE = 0o755
_SMALL_BYTES = 1 << 20
"""A larger file is not held in memory, so it is read only once; what was read has its own hash."""
_ATTEMPTS = 3


def relative(root: Path, text: str) -> WorkspacePath:
    """`names.relative`, for a root as a path."""
    return names.relative(str(root), text)


def _unknown(reason: LeaveReason, size: int | None = None) -> FileState:
    return FileState(State.UNKNOWN, reason=reason.value, size=size)


def parents_of(path: WorkspacePath) -> list[WorkspacePath]:
    """The folders above a path inside the workspace, outermost first."""
    parts = path.split("/")
    return [WorkspacePath("/".join(parts[:count])) for count in range(1, len(parts))]


def _require_stage(path: WorkspacePath, stage: str) -> None:
    """A stage's name comes out of a log or a list: it must be one, or it could lead anywhere."""
    if not names.is_stage_name(stage):
        raise PathRefused(path, "stage")


class Workspace:
    """One folder that agents work in. Invariant: nothing outside of it is read or written."""

    def __init__(self, fs: Fs, root: Path, identity: tuple[int, int], never: frozenset[tuple[int, int]] = frozenset()) -> None:
        self._fs = fs
        self.beneath = Beneath(fs, root, identity, never)
        self._folds: bool | None = None
        self.root = root
        self.identity = identity
        """Device and inode of the root."""

    @classmethod
    def open(cls, fs: Fs, root: Path, *, never: Iterable[Path] = ()) -> "Workspace":
        """The workspace at ``root``; `WorkspaceMissing` if no folder is there. ``never``: folders of our own, in which nothing
        is read or written should they lie inside."""
        try:
            resolved = root.resolve(strict=True)
            fd = fs.open(resolved, os.O_RDONLY | DIRECTORY)
        except (OSError, RuntimeError) as error:
            raise WorkspaceMissing(str(root)) from error
        try:
            found = fs.fstat(fd)
        finally:
            fs.close(fd)
        ours = (folders.identity(str(folder)) for folder in never if folders.is_inside(str(folder), str(resolved)))
        return cls(fs, resolved, (found.st_dev, found.st_ino), frozenset(one for one in ours if one is not None))

    @contextmanager
    def _changing(self, path: WorkspacePath) -> Iterator[tuple[int, str]]:
        """`Beneath.parent` for a step that writes: what the world refuses is `CannotWrite`."""
        try:
            with self.beneath.parent(path) as found:
                yield found
        except OSError as error:
            raise cannot_write(path, error) from error

    # -- looking -------------------------------------------------------------------------------------------------

    def mark(self, paths: Iterable[WorkspacePath]) -> int:
        """Another number once one of these paths may have another content, by sizes and times alone: nothing is read, and a
        link on the way is followed. Only a hint, of this process."""
        fd = self.beneath.open_root()
        try:
            return hash(tuple(self._stamp(fd, path) for path in paths))
        finally:
            self._fs.close(fd)

    def _stamp(self, fd: int, path: WorkspacePath) -> tuple[int, ...]:
        try:
            found = self._fs.lstat(path, dir_fd=fd)
        except OSError as error:
            return (error.errno or 0,)
        if stat_bits.S_ISDIR(found.st_mode):  # what comes and goes in it is other paths
            return found.st_mode, found.st_ino
        return found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def look(self, path: WorkspacePath) -> FileState:
        """What is there now, its content hashed. Never raises but for a missing workspace: what cannot be read is unknown,
        with the reason."""
        return self._look(path, None)

    def look_stage(self, path: WorkspacePath, stage: str) -> FileState:
        """What is under a stage's name beside ``path``."""
        return self._look(path, stage) if names.is_stage_name(stage) else ABSENT

    def _look(self, path: WorkspacePath, beside: str | None) -> FileState:
        try:
            with self.beneath.parent(path) as (fd, base):
                return self._look_at(fd, beside or base)
        except FileNotFoundError:
            return ABSENT
        except PathRefused:
            return _unknown(LeaveReason.REFUSED)
        except PathEscape:
            return _unknown(LeaveReason.LINK_ON_THE_WAY)
        except OSError:
            return _unknown(LeaveReason.CANNOT_READ)

    def _look_at(self, fd: int, name: str) -> FileState:
        found = self._fs.lstat(name, dir_fd=fd)
        if stat_bits.S_ISLNK(found.st_mode):
            text = self._fs.readlink(name, dir_fd=fd)
            return FileState(State.LINK, BlobHash(hashlib.sha256(text).hexdigest()), size=len(text))
        if stat_bits.S_ISDIR(found.st_mode):
            return FileState(State.FOLDER)
        if not stat_bits.S_ISREG(found.st_mode):
            return _unknown(LeaveReason.NOT_REGULAR)
        try:
            file = self._fs.open_regular(name, dir_fd=fd)
        except FileNotFoundError:
            raise
        except OSError:
            return _unknown(LeaveReason.CANNOT_READ, found.st_size)
        try:
            digest = hashlib.sha256()
            size = 0
            for piece in self._fs.chunks(file):
                digest.update(piece)
                size += len(piece)
            mode = stat_bits.S_IMODE(self._fs.fstat(file).st_mode) & 0o777
        finally:
            self._fs.close(file)
        return FileState(State.PRESENT, BlobHash(digest.hexdigest()), mode, size=size)

    def pieces(self, path: WorkspacePath, *, seen: State | None = None) -> Iterator[bytes]:
        """The bytes of a file, or the text of a link, in pieces; `CannotRead` if there are none to be had. A small file that
        changes while it is read is read again: half of one version and half of the next was never there. ``seen``: what a look
        found; a link that has become a file since, or the other way round, is `CannotRead`."""
        try:
            with self.beneath.parent(path) as (fd, base):
                is_link = stat_bits.S_ISLNK(self._fs.lstat(base, dir_fd=fd).st_mode)
                if seen is not None and (seen is State.LINK) is not is_link:
                    raise CannotRead(path, "changed")
                if is_link:
                    yield self._fs.readlink(base, dir_fd=fd)
                    return
                yield from self._quiet(fd, base)
        except OSError as error:
            raise cannot_read(path, error) from error

    def _quiet(self, fd: int, base: str) -> Iterator[bytes]:
        for attempt in range(_ATTEMPTS):
            file = self._fs.open_regular(base, dir_fd=fd)
            try:
                before = self._fs.fstat(file)
                if attempt == _ATTEMPTS - 1 or before.st_size > _SMALL_BYTES:
                    yield from self._fs.chunks(file)
                    return
                data = b"".join(self._fs.chunks(file))
                after = self._fs.fstat(file)
            finally:
                self._fs.close(file)
            if len(data) == before.st_size == after.st_size and before.st_mtime_ns == after.st_mtime_ns:
                yield data
                return

    def read(self, path: WorkspacePath) -> tuple[FileState, bytes | None]:
        """State and bytes of one reading, so that they belong together; no bytes where there is no content, and none of a file
        that comes and goes each time it is asked for."""
        for _ in range(_ATTEMPTS):
            state = self.look(path)
            if not state.has_content:
                return state, None
            try:
                data = b"".join(self.pieces(path, seen=state.state))
            except CannotRead:
                continue  # it was there when it was looked at, so it has changed since
            return FileState(state.state, BlobHash(hashlib.sha256(data).hexdigest()), state.mode, size=len(data)), data
        return _unknown(LeaveReason.CANNOT_READ), None

    def is_empty_folder(self, path: WorkspacePath) -> bool:
        """Whether a folder is there and holds nothing."""
        try:
            with self.beneath.parent(path) as (fd, base):
                folder = self.beneath.step(fd, base)
                try:
                    return not self._fs.names(folder)
                finally:
                    self._fs.close(folder)
        except (OSError, PathEscape, PathRefused):
            return False

    def holds(self, path: WorkspacePath, *, limit: int = 10_000) -> list[WorkspacePath] | None:
        """Everything below a folder, what stands above first; also ``.git`` and stages, in which it does not look. None if no
        folder is there, or not all of it can be listed, or it is more than ``limit``."""
        if names.refusal(path):
            return None
        found: list[WorkspacePath] = []
        waiting = [path]
        try:
            while waiting:
                folder = waiting.pop()
                fd = self.beneath.descend(folder.split("/"))
                try:
                    for name, stat in self._fs.scan(fd):
                        below = WorkspacePath(f"{folder}/{name}")
                        found.append(below)
                        if len(found) > limit:
                            return None
                        if stat_bits.S_ISDIR(stat.st_mode) and not (names.refusal(below) or self.beneath.is_never(stat)):
                            waiting.append(below)
                finally:
                    self._fs.close(fd)
        except (OSError, PathEscape, PathRefused):
            return None
        return found

    # -- which file ----------------------------------------------------------------------------------------------

    def stamp(self, path: WorkspacePath) -> Stamp | None:
        """The stamp of what is there, links not followed; None if nothing is. `PathEscape` if a link stands on the way."""
        try:
            with self.beneath.parent(path) as (fd, base):
                return stamp_of(self._fs.lstat(base, dir_fd=fd))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise cannot_read(path, error) from error

    @property
    def folds(self) -> bool:
        """Whether the file system takes several spellings for one name, found out by looking at a name in the root. While none
        is there to tell, no."""
        if self._folds is None:
            self._folds = spelling.folds_names(self.beneath)
        return bool(self._folds)

    def spelled(self, path: WorkspacePath) -> WorkspacePath:
        """The spelling on disk of the same real file, by device and inode (BL-076, BL-077). What does not exist keeps the
        spelling asked for. Folders that fold names are found out one by one, so a mount of its own below counts too."""
        return spelling.spelled(self.beneath, path)

    def real(self, path: WorkspacePath) -> WorkspacePath:
        """The path of the real file, links inside the workspace resolved; `PathEscape` if it lies outside."""
        return spelling.real(self.beneath, path)

    # -- before making -------------------------------------------------------------------------------------------

    def missing_parents(self, path: WorkspacePath) -> list[WorkspacePath]:
        """The folders that must be made before ``path`` can be, outermost first."""
        above = parents_of(path)
        for count, folder in enumerate(above):
            if self.look(folder).state is State.ABSENT:
                return above[count:]
        return []

    def refused_for_creation(self, path: WorkspacePath) -> bool:
        """Whether making ``path`` would make a name that we make on no platform."""
        return any(names.is_reserved(made.rsplit("/", 1)[-1]) for made in (*self.missing_parents(path), path))

    # -- changing ------------------------------------------------------------------------------------------------

    def make_folder(self, path: WorkspacePath) -> bool:
        """Make one folder, durably; False if one is there already."""
        with self._changing(path) as (fd, base):
            faults.point("folder.make")
            try:
                self._fs.mkdir(base, _FOLDER_MODE, dir_fd=fd)
            except FileExistsError:
                self._fs.close(self.beneath.step(fd, base))
                return False
            try:
                self._fs.fsync(fd)
            except OSError:
                self._fs.rmdir(base, dir_fd=fd)  # not made durable is not made: nobody would know whose it is
                raise
            return True

    def remove_empty_folder(self, path: WorkspacePath) -> bool:
        """Remove a folder if it is empty; False if it is still there, or is none. Durable, unless the disk fails just then: an
        empty folder that comes back after a power cut harms nobody."""
        try:
            with self._changing(path) as (fd, base):
                faults.point("folder.remove")
                self._fs.rmdir(base, dir_fd=fd)
                with suppress(OSError):
                    self._fs.fsync(fd)
        except (CannotWrite, PathEscape, PathRefused):
            return False
        return True

    def stage_file(self, path: WorkspacePath, stage: str, pieces: Iterable[bytes], mode: int) -> None:
        """Write a file beside ``path`` under a name that must be free, synced; never more open than ``mode``.

        If anything fails, also in ``pieces``, the stage is gone again.
        """
        _require_stage(path, stage)
        with self._changing(path) as (fd, _):
            faults.point("stage.create")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW
            file = self._fs.open(stage, flags, mode & 0o600, dir_fd=fd)
            try:
                try:
                    for piece in pieces:
                        self._fs.write_all(file, piece)
                    self._fs.fchmod(file, mode & 0o777)
                    faults.point("stage.sync")
                    self._fs.fsync(file)
                finally:
                    self._fs.close(file)
            except Exception:
                self._fs.unlink(stage, dir_fd=fd)
                raise

    def stage_link(self, path: WorkspacePath, stage: str, text: bytes) -> None:
        """Make a link beside ``path`` under a name that must be free."""
        _require_stage(path, stage)
        with self._changing(path) as (fd, _):
            faults.point("stage.create")
            self._fs.symlink(text, stage, dir_fd=fd)

    def drop_stage(self, path: WorkspacePath, stage: str) -> None:
        """Remove a stage; missing is fine. Only for a name that a plan or the list of stages of ours holds."""
        _require_stage(path, stage)
        try:
            with self.beneath.parent(path) as (fd, _):
                if stat_bits.S_ISDIR(self._fs.lstat(stage, dir_fd=fd).st_mode):
                    return
                faults.point("stage.drop")
                self._fs.unlink(stage, dir_fd=fd)
        except (FileNotFoundError, PathEscape):
            return
        except OSError as error:
            raise cannot_write(path, error) from error

    def put_in_place(self, path: WorkspacePath, stage: str) -> None:
        """Rename a stage over its target; durable after `sync_parent`."""
        _require_stage(path, stage)
        with self._changing(path) as (fd, base):
            faults.point("target.rename")
            self._fs.move(stage, base, dir_fd=fd)

    def unlink(self, path: WorkspacePath) -> None:
        """Remove a file or a link; durable after `sync_parent`."""
        with self._changing(path) as (fd, base):
            faults.point("target.unlink")
            self._fs.unlink(base, dir_fd=fd)

    def set_mode(self, path: WorkspacePath, mode: int) -> None:
        """Change the permission bits of a regular file, durably; set-id bits are never set."""
        with self._changing(path) as (fd, base):
            file = self._fs.open_regular(base, dir_fd=fd)
            try:
                faults.point("target.mode")
                self._fs.fchmod(file, mode & 0o777)
                self._fs.fsync(file)
            finally:
                self._fs.close(file)

    def sync_parent(self, path: WorkspacePath) -> None:
        """Make the names in the folder of ``path`` durable; a folder that is gone needs none."""
        try:
            with self.beneath.parent(path) as (fd, _):
                faults.point("folder.sync")
                self._fs.fsync(fd)
        except (FileNotFoundError, PathEscape):
            return
        except OSError as error:
            raise cannot_write(path, error) from error
