"""Workspaces as plain values: what is at each path, files, links and empty folders."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.world import World


@dataclass(frozen=True)
class Link:
    """A symbolic link with its text."""

    text: str


@dataclass(frozen=True)
class Folder:
    """An empty folder. One that holds something is implied by it."""


EMPTY = Folder()
Tree = Mapping[str, bytes | Link | Folder]


def tree_of(root: Path) -> dict[str, bytes | Link | Folder]:
    """What is in a folder now, stages too."""
    found: dict[str, bytes | Link | Folder] = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(folder, name)
            key = path.relative_to(root).as_posix()
            if path.is_symlink():
                found[key] = Link(os.readlink(path))
            elif path.is_dir():
                if not any(path.iterdir()):
                    found[key] = EMPTY
            else:
                found[key] = path.read_bytes()
    return dict(sorted(found.items()))


def put(root: Path, tree: Tree) -> None:
    """Make a folder hold exactly this; what is so already is not touched."""
    now = tree_of(root)
    for key in sorted(now.keys(), reverse=True):
        if tree.get(key) == now[key]:
            continue
        path = root / key
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
        above = path.parent
        while above != root and not any(above.iterdir()) and not _is_kept(root, above, tree):
            above.rmdir()
            above = above.parent
    for key, wanted in tree.items():
        path = root / key
        if now.get(key) == wanted and os.path.lexists(path):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(wanted, Folder):
            path.mkdir(exist_ok=True)
        elif isinstance(wanted, Link):
            os.symlink(wanted.text, path)
        else:
            path.write_bytes(wanted)


def _is_kept(root: Path, folder: Path, tree: Tree) -> bool:
    key = folder.relative_to(root).as_posix()
    return any((one == key and tree[one] == EMPTY) or one.startswith(f"{key}/") for one in tree)


def command_turn(world: World, before: Tree, after: Tree) -> None:
    """A turn in which a command turns one tree into another."""
    hooks = Hooks(world)
    put(world.root, before)
    hooks.begin()
    hooks.command(lambda: put(world.root, after))
    hooks.end()
    assert tree_of(world.root) == dict(after)


Stamp = tuple[int, int, int]


def stamps(folder: Path) -> dict[str, Stamp]:
    """Inode, mtime and mode of everything below a folder."""
    return {
        str(path.relative_to(folder)): (found.st_ino, found.st_mtime_ns, found.st_mode)
        for path in sorted(folder.rglob("*"))
        for found in (path.lstat(),)
    }


def facts(root: Path, keys: list[str]) -> dict[str, tuple[int, ...]]:
    """What tells that somebody touched a path: inode, links, mode, size, time of change."""
    found = {}
    for key in keys:
        stat = os.lstat(root / key)
        found[key] = (stat.st_ino, stat.st_nlink, stat.st_mode, stat.st_size, stat.st_mtime_ns)
    return found
