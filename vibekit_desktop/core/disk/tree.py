"""What is in a workspace, without reading a byte of it: every path with the stamp that tells whether it changed.

Goes down by folder descriptor, follows no link, opens nothing but folders, and holds few descriptors however deep the tree is.
Blocking; the cost is one call to the disk for each entry.
"""

import hashlib
import os
import re
import stat as stat_bits
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple, Protocol

from vibekit_desktop.core.disk import names
from vibekit_desktop.core.disk.beneath import PATH_BYTES, Beneath
from vibekit_desktop.core.disk.fs import cannot_read, reason_of
from vibekit_desktop.core.types.errors import PathEscape, PathRefused
from vibekit_desktop.core.types.ids import WorkspacePath

Kind = Literal["file", "link", "folder", "other"]

_KINDS: dict[int, Kind] = {stat_bits.S_IFREG: "file", stat_bits.S_IFLNK: "link", stat_bits.S_IFDIR: "folder"}
_SPECIAL = re.compile(r"[Gg][Ii][Tt]|\.vibekit-restore-|[^\x00-\x7f]")
_OPEN_FOLDERS = 64
"""So many folders above the present one stay open; one further up is opened again from the root."""


class Stamp(NamedTuple):
    """What one `lstat` tells. Two equal stamps of one path: nothing has written there in between, unless within one tick."""

    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    dev: int
    mode: int
    """The permission bits (0o777)."""
    kind: Kind
    """``other``: a FIFO, a socket, a device."""
    nlink: int


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp in what the operating system says."""
    mode = found.st_mode
    kind = _KINDS.get(mode & 0o170000, "other")
    # `tuple.__new__`: the call for each entry of a large tree, at half the price of `Stamp(...)`.
    return tuple.__new__(
        Stamp,
        (
            found.st_size,
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_ino,
            found.st_dev,
            mode & 0o777,
            kind,
            found.st_nlink,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """One walk.

    ``ignored``: each topmost ignored path with a fingerprint of everything in it; an empty one says that it was not seen whole.
    ``complete``: ``entries`` is everything that is not ignored. ``problems``: the paths, ignored or not, that were not seen
    whole, and why: the system's word, ``changed`` (it vanished or became something else meanwhile), ``too-many``, ``too-deep``.
    """

    entries: dict[WorkspacePath, Stamp] = field(default_factory=dict)
    ignored: dict[WorkspacePath, str] = field(default_factory=dict)
    complete: bool = True
    problems: list[tuple[WorkspacePath, str]] = field(default_factory=list)


class Rooted(Protocol):
    """What is walked: a `Workspace`."""

    @property
    def beneath(self) -> Beneath: ...


Ignored = Callable[[WorkspacePath, bool], bool]
Entering = Callable[[str, Sequence[str]], None]


def walk(workspace: Rooted, *, ignored: Ignored, limit: int, entering: Entering | None = None) -> Tree:
    """Everything in the workspace but ``.git``, our own folders and stages.

    ``ignored`` is asked once for each path, with whether it is a folder, never for one below an ignored folder. ``entering`` is
    told each folder (the root is the empty text) with the names in it, before any of them is asked about. Ignored folders are
    gone through last, with what ``limit`` leaves, so that they take nothing from the listing.

    Raises `WorkspaceMissing`, `CannotRead` if the root itself cannot be listed, and what ``ignored`` raises.
    """
    return _Walk(workspace.beneath, ignored, limit, entering).run()


def never_listed(name: str) -> bool:
    """Whether a name is one that is never read or written, wherever it is."""
    return names.is_git_alias(name) or names.is_stage_name(name)


class _Level:
    """A folder on the way: its descriptor (-1 while it is closed) and the folders in it that are still to come."""

    __slots__ = ("fd", "prefix", "todo")

    def __init__(self, prefix: str, fd: int, todo: list[str]) -> None:
        self.prefix = prefix
        self.fd = fd
        self.todo = todo


class _Walk:
    def __init__(self, beneath: Beneath, ignored: Ignored, limit: int, entering: Entering | None) -> None:
        self._beneath = beneath
        self._fs = beneath.fs
        self._ignored = ignored
        self._entering = entering
        self._left = limit
        self._entries: dict[WorkspacePath, Stamp] = {}
        self._set_aside: list[tuple[WorkspacePath, os.stat_result]] = []
        self._problems: list[tuple[WorkspacePath, str]] = []
        self._full = False
        self._fold = 0

    def run(self) -> Tree:
        self._down([], self._list)
        complete = not self._problems
        fingerprints = {path: self._fingerprint(path, found) for path, found in self._set_aside}
        return Tree(
            entries=self._entries,
            ignored=fingerprints,
            complete=complete,
            problems=self._problems,
        )

    def _problem(self, path: str, reason: str) -> None:
        self._problems.append((WorkspacePath(path), reason))

    # -- down and up again, without recursion --------------------------------------------------------------------

    def _down(self, parts: list[str], visit: Callable[[str, int], list[str]]) -> None:
        """Call ``visit`` with the prefix and descriptor of a folder and of every folder that a visit names."""
        levels: list[_Level] = []
        try:
            fd = self._beneath.descend(parts)
            levels.append(_Level("".join(f"{part}/" for part in parts), fd, []))
            levels[0].todo = visit(levels[0].prefix, fd)
            while levels and not self._full:
                top = levels[-1]
                if not top.todo:
                    self._close(levels.pop())
                    continue
                name = top.todo.pop()
                below = self._enter(top, name)
                if not top.todo:  # a long chain of folders takes no more descriptors than a short one
                    self._close(levels.pop())
                if below is None:
                    continue
                levels.append(below)
                if len(levels) > _OPEN_FOLDERS:
                    self._close(levels[-_OPEN_FOLDERS - 1])
                below.todo = visit(below.prefix, below.fd)
        finally:
            for level in levels:
                self._close(level)

    def _close(self, level: _Level) -> None:
        if level.fd >= 0:
            fd, level.fd = level.fd, -1
            self._fs.close(fd)

    def _enter(self, above: _Level, name: str) -> _Level | None:
        prefix = f"{above.prefix}{name}/"
        if len(os.fsencode(prefix)) > PATH_BYTES:
            self._problem(prefix[:-1], "too-deep")
            return None
        try:
            if above.fd < 0:
                above.fd = self._beneath.descend(above.prefix[:-1].split("/") if above.prefix else [])
            fd = self._beneath.step(above.fd, name)
        except (FileNotFoundError, PathEscape, PathRefused):
            self._problem(prefix[:-1], "changed")
            return None
        except OSError as error:
            self._problem(prefix[:-1], reason_of(error))
            return None
        if self._beneath.is_ours(fd):
            self._fs.close(fd)
            return None
        return _Level(prefix, fd, [])

    def _scan(self, prefix: str, fd: int) -> list[tuple[str, os.stat_result]]:
        """What is in a folder, as far as the limit reaches."""
        try:
            found = list(islice(self._fs.scan(fd), self._left + 1))
        except OSError as error:
            if not prefix:
                raise cannot_read(self._beneath.root, error) from error
            self._problem(prefix[:-1], reason_of(error))
            return []
        if len(found) > self._left:
            found.pop()
            self._full = True
            self._problem(prefix[:-1], "too-many")
        self._left -= len(found)
        return found

    # -- listing -------------------------------------------------------------------------------------------------

    def _list(self, prefix: str, fd: int) -> list[str]:
        may_be_special = _SPECIAL.search
        found = self._scan(prefix, fd)
        if self._entering is not None:
            self._entering(prefix[:-1], [name for name, _ in found])
        folders: list[str] = []
        for name, stat in found:
            if may_be_special(name) and never_listed(name):
                continue
            path = WorkspacePath(prefix + name)
            stamp = stamp_of(stat)
            is_folder = stamp.kind == "folder"
            if is_folder and self._beneath.is_never(stat):
                continue
            if self._ignored(path, is_folder):
                self._set_aside.append((path, stat))
                continue
            self._entries[path] = stamp
            if is_folder:
                folders.append(name)
        return folders

    # -- ignored -------------------------------------------------------------------------------------------------

    def _fingerprint(self, path: WorkspacePath, stat: os.stat_result) -> str:
        self._fold = 0
        self._add("", [_row("", stat)])
        if not stat_bits.S_ISDIR(stat.st_mode):
            return f"{self._fold:032x}"
        if self._full:
            return ""
        before = len(self._problems)
        try:
            self._down(path.split("/"), self._add_folder)
        except (FileNotFoundError, PathEscape, PathRefused):
            self._problem(path, "changed")
        except OSError as error:
            self._problem(path, reason_of(error))
        return f"{self._fold:032x}" if len(self._problems) == before else ""

    def _add_folder(self, prefix: str, fd: int) -> list[str]:
        may_be_special = _SPECIAL.search
        rows: list[str] = []
        folders: list[str] = []
        for name, stat in self._scan(prefix, fd):
            if may_be_special(name) and never_listed(name):
                continue
            if stat_bits.S_ISDIR(stat.st_mode):
                if self._beneath.is_never(stat):
                    continue
                folders.append(name)
            rows.append(_row(name, stat))
        self._add(prefix, rows)
        return folders

    def _add(self, prefix: str, rows: list[str]) -> None:
        """One more folder into the fold. A sum, because folders come in no certain order."""
        rows.sort()
        text = "\0\0".join((prefix, *rows)).encode("utf-8", "surrogateescape")
        digest = hashlib.blake2b(text, digest_size=16).digest()
        self._fold = (self._fold + int.from_bytes(digest, "big")) % (1 << 128)


def _row(name: str, stat: os.stat_result) -> str:
    """A folder counts by name and inode: its times change with files that came and went."""
    if stat_bits.S_ISDIR(stat.st_mode):
        return f"{name}\0/\0{stat.st_ino}"
    return f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\0{stat.st_ino}"
