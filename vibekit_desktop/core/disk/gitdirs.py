"""Where a git repository keeps its things: by its files, with a main repository (worktrees), or within another (submodules).

Only reads, by path, as these places lie where ``.git`` says. No setting of a repository is honoured. Blocking; any thread.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotRead

_POINTER_BYTES = 8192
"""One line with a path, which has at most 4,095 bytes."""


@dataclass(frozen=True, slots=True)
class GitDir:
    """One repository: ``git`` holds its HEAD and index, ``common`` its objects and ``info`` (another place for a worktree)."""

    top: Path
    git: Path
    common: Path


def git_dir(fs: Fs, top: Path) -> GitDir | None:
    """The repository that has its files in the folder ``top``; None if none is there that git would take, or it is another
    user's."""
    found = top / ".git"
    if not fs.is_folder(found):
        place = _pointer(fs, found, "gitdir:")
        if place is None:
            return None
        found = place
    common = found
    if fs.is_file(found / "commondir"):
        place = _pointer(fs, found / "commondir", "")
        if place is None:
            return None
        common = place
    if not os.path.lexists(found / "HEAD") or not fs.is_folder(common / "objects"):
        return None
    return GitDir(top, found, common) if fs.is_mine(found) else None


def around(fs: Fs, folder: Path) -> GitDir | None:
    """The repository that has ``folder`` at its top or below; None if there is none. Does not leave the disk of the folder."""
    disk = fs.device(folder)
    for top in (folder, *folder.parents):
        if fs.device(top) != disk:
            return None
        found = git_dir(fs, top)
        if found is not None:
            return found
    return None


def _pointer(fs: Fs, path: Path, prefix: str) -> Path | None:
    """The folder that a one-line file names, relative to its own."""
    try:
        text = os.fsdecode(fs.read_bytes(path, limit=_POINTER_BYTES))
    except (FileNotFoundError, CannotRead):
        return None
    if not text.startswith(prefix):
        return None
    place = text.removeprefix(prefix).strip(" \r\n")
    return path.parent / place if place and "\0" not in place else None
