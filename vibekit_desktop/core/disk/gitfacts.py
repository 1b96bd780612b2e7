"""What git knows of a workspace: which files are tracked, and whose content on disk is in its object database as well.

Nothing is run, no setting is followed, nothing is written, and nothing but regular files is opened: the index is read from its
bytes, and compared with the disk by what git itself last saw (times, inode, size), never by reading a file. Odd data is never
an error: it is None, or nothing. Blocking; one thread.
"""

import os
import stat as stat_bits
from collections.abc import Iterator, Mapping
from pathlib import Path

from vibekit_desktop.core.disk import gitindex
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.gitattributes import Attributes
from vibekit_desktop.core.disk.gitdirs import GitDir, around, git_dir
from vibekit_desktop.core.disk.gitindex import IndexEntry
from vibekit_desktop.core.disk.gitobjects import Objects
from vibekit_desktop.core.disk.tree import Ignored
from vibekit_desktop.core.types.errors import CannotRead, PathEscape
from vibekit_desktop.core.types.ids import WorkspacePath, parse_workspace_path

_INDEX_BYTES = 256 << 20
"""Some millions of tracked files; a larger index is taken as none."""
_LOW = 0xFFFFFFFF
"""The index keeps the lower 32 bits of sizes and inodes."""


class GitFacts:
    """What the repositories of one workspace know: the one it is, or lies in, and those inside it.

    Of one moment: the index is read when the facts are, and every later question is answered from it. Repositories inside are
    found when something in them is asked about.
    """

    def __init__(self, fs: Fs, root: Path, repository: "_Repository") -> None:
        self._fs = fs
        self._root = root
        self._repositories: dict[str, _Repository | None] = {"": repository}
        self.clean: Mapping[WorkspacePath, str] = _Clean(self)
        """Files tracked and unchanged on disk, with the id of their content: that of git, and behind a colon where the
        repository is, if it is not the one around. Worked out when asked; going through it is over the one around only."""

    @classmethod
    def read(cls, root: Path, *, fs: Fs | None = None) -> "GitFacts | None":
        """What is known of the workspace at ``root`` (an absolute path without links); None without a repository around it that
        can be read, is this user's, and is of the usual kind (no split index, no SHA-256)."""
        disk = fs or Fs()
        found = around(disk, root)
        repository = _Repository.read(disk, found, root) if found is not None else None
        return cls(disk, root, repository) if repository is not None else None

    def content(self, oid: str) -> bytes | None:
        """The bytes of a content that `clean` named, also in facts read later; None if they are not to be had any more."""
        oid, _, place = oid.partition(":")
        try:
            repository = self._of(
                parse_workspace_path("/".join((*os.fsdecode(bytes.fromhex(place)).split("/"), "x")).lstrip("/"))
            )
        except (ValueError, PathEscape):
            return None
        return repository.objects.content(oid) if repository is not None else None

    def clean_oid(self, path: WorkspacePath) -> str | None:
        """The id of the content of a file, if git has exactly what is on disk."""
        repository = self._of(path)
        return repository.clean_oid(path) if repository is not None else None

    def tracks(self, path: WorkspacePath) -> bool:
        """Whether git tracks the path, or something below it."""
        repository = self._of(path)
        return repository is not None and repository.tracks(path)

    def unless_tracked(self, ignored: Ignored) -> Ignored:
        """``ignored``, but for what git tracks and the folders on the way to it: rules do not reach these."""

        def verdict(path: WorkspacePath, is_folder: bool) -> bool:
            return ignored(path, is_folder) and not self.tracks(path)

        return verdict

    def tracked(self) -> Iterator[WorkspacePath]:
        """The tracked paths of the repository around, as far as they are in the workspace."""
        repository = self._repositories[""]
        return repository.paths() if repository is not None else iter(())

    def _of(self, path: WorkspacePath) -> "_Repository | None":
        """The repository whose file a path is: that of the nearest folder above that is one."""
        folder = path.rpartition("/")[0]
        if folder in self._repositories:
            return self._repositories[folder]
        parts = folder.split("/")
        for count in range(len(parts)):
            here = "/".join(parts[: count + 1])
            if here not in self._repositories:
                nested = git_dir(self._fs, self._root / here)
                around_it = self._repositories["/".join(parts[:count])]
                self._repositories[here] = (
                    around_it if nested is None else _Repository.read(self._fs, nested, self._root / here, inside=here)
                )
        return self._repositories[folder]


class _Clean(Mapping[WorkspacePath, str]):
    """The paths that are clean, each looked at when it is asked for."""

    def __init__(self, facts: GitFacts) -> None:
        self._facts = facts

    def __getitem__(self, path: WorkspacePath) -> str:
        oid = self._facts.clean_oid(path)
        if oid is None:
            raise KeyError(path)
        return oid

    def __iter__(self) -> Iterator[WorkspacePath]:
        return (path for path in self._facts.tracked() if self._facts.clean_oid(path) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Repository:
    """One repository as seen from the workspace. ``_inside``: where its part of the workspace begins; ``_prefix``: that place
    as the index calls it."""

    def __init__(self, fs: Fs, found: GitDir, root: Path, inside: str, entries: list[IndexEntry], written_ns: int) -> None:
        self._fs = fs
        self._root = str(root)
        self._inside = f"{inside}/" if inside else ""
        prefix = os.fsencode(root.relative_to(found.top))
        self._prefix = b"" if prefix == b"." else prefix + b"/"
        self._entries = {entry.path: entry for entry in entries if entry.path.startswith(self._prefix)}
        self._folders: set[bytes] | None = None
        self._written_ns = written_ns
        self._attributes = Attributes(fs, found)
        self._known: dict[WorkspacePath, str | None] = {}
        self.objects = Objects(fs, found.common)

    @classmethod
    def read(cls, fs: Fs, found: GitDir, root: Path, *, inside: str = "") -> "_Repository | None":
        index = found.git / "index"
        try:
            before = fs.stat(index)
            data = fs.read_bytes(index, limit=_INDEX_BYTES)
            written_ns = before.st_mtime_ns if before is not None else 0
            return cls(fs, found, root, inside, gitindex.parse(data), written_ns)
        except FileNotFoundError:
            return cls(fs, found, root, inside, [], 0)
        except (CannotRead, gitindex.BadIndex):
            return None

    def paths(self) -> Iterator[WorkspacePath]:
        for path in self._entries:
            yield WorkspacePath(self._inside + os.fsdecode(path[len(self._prefix) :]))

    def tracks(self, path: WorkspacePath) -> bool:
        name = self._name(path)
        if name in self._entries:
            return True
        if self._folders is None:
            self._folders = set()
            for tracked in self._entries:
                folder = tracked.rpartition(b"/")[0]
                while folder and folder not in self._folders:
                    self._folders.add(folder)
                    folder = folder.rpartition(b"/")[0]
        return name in self._folders

    def clean_oid(self, path: WorkspacePath) -> str | None:
        if path not in self._known:
            name = self._name(path)
            entry = self._entries.get(name)
            same = entry is not None and self._is_as_git_saw_it(entry, path)
            oid = entry.oid if entry is not None and same and self._has_same_bytes(entry) else None
            self._known[path] = f"{oid}:{os.fsencode(self._inside[:-1]).hex()}" if oid and self._inside else oid
        return self._known[path]

    def _name(self, path: WorkspacePath) -> bytes:
        return self._prefix + os.fsencode(path[len(self._inside) :])

    def _is_as_git_saw_it(self, entry: IndexEntry, path: WorkspacePath) -> bool:
        """Whether the file has not been touched since git wrote or read it. One touched in the moment in which the index was
        written may have changed unseen ("racy"), and does not count."""
        if not entry.plain or entry.mode & 0o170000 != gitindex.FILE or entry.mtime_ns >= self._written_ns:
            return False
        try:
            found = self._fs.lstat(f"{self._root}/{path[len(self._inside) :]}")
        except OSError:
            return False
        return (
            stat_bits.S_ISREG(found.st_mode)
            and bool(found.st_mode & 0o100) == bool(entry.mode & 0o100)
            and found.st_size & _LOW == entry.size
            and found.st_ino & _LOW == entry.ino
            and found.st_mtime_ns == entry.mtime_ns
            and found.st_ctime_ns == entry.ctime_ns
        )

    def _has_same_bytes(self, entry: IndexEntry) -> bool:
        """Whether the content in git is here, and is what is on disk, not a converted form of it."""
        return not self._attributes.may_differ(entry.path) and self.objects.size(entry.oid) == entry.size
