"""Answer questions about the folders that people name: which one a text means, whether two mean the same, what room is left.

Follows links: none of these is a path inside a workspace. Blocking; any thread.
"""

import os
import shutil
from pathlib import Path

from vibekit_desktop.core.types.errors import CannotRead


def settled(text: str) -> str:
    """One text for one existing folder: absolute, links resolved where the folder is there, else the text as it is."""
    if os.path.isabs(text) and os.path.isdir(text):
        return os.path.realpath(text)
    return text


def settled_parent(text: str) -> str:
    """An absolute path with the links of its folder resolved, its last name as it is; any other text unchanged."""
    folder, name = os.path.split(text)
    return os.path.join(os.path.realpath(folder), name) if os.path.isabs(text) and name else text


def identity(text: str) -> tuple[int, int] | None:
    """Device and inode of the folder; None if there is none (or the text is of another system)."""
    if not os.path.isabs(text):
        return None
    try:
        found = os.stat(text)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if os.path.isdir(text) else None


def same_folder(one: str, other: str) -> bool:
    """Whether both texts are equal or name one existing folder."""
    if one == other:
        return True
    here = identity(one)
    return here is not None and here == identity(other)


def is_inside(text: str, folder: str) -> bool:
    """Whether ``text`` is ``folder`` or below it, links resolved. A text of another system is inside nothing."""
    if not os.path.isabs(text):
        return False
    path, top = Path(os.path.realpath(text)), Path(os.path.realpath(folder))
    return path == top or top in path.parents


def is_disk_root(text: str) -> bool:
    """Whether this is the root of a disk."""
    real = os.path.realpath(text)
    return os.path.dirname(real) == real


def exists(path: Path) -> bool:
    """Whether anything is at ``path``, a dangling link included."""
    return os.path.lexists(path)


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a folder, also through a link."""
    return os.path.isdir(path)


def writable(folder: Path) -> bool:
    """Whether this process may write in the folder."""
    return os.access(folder, os.W_OK | os.X_OK)


def free_bytes(folder: Path) -> int:
    """Room left on the disk of the folder, or of its nearest parent that exists."""
    place = folder
    while not os.path.isdir(place) and place.parent != place:
        place = place.parent
    try:
        return shutil.disk_usage(place).free
    except OSError as error:
        raise CannotRead(str(folder), os.strerror(error.errno or 0)) from error
