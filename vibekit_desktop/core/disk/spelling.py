"""Which spelling of a path is the real file's: on file systems that fold names, and where links lead.

Decided by device and inode, never by text: what the file system takes for one file is one file. Only looks. Blocking; POSIX.
"""

import os
import stat as stat_bits
import unicodedata

from vibekit_desktop.core.disk import names
from vibekit_desktop.core.disk.beneath import Beneath
from vibekit_desktop.core.disk.fs import cannot_read
from vibekit_desktop.core.types.errors import PathEscape, PathRefused
from vibekit_desktop.core.types.ids import WorkspacePath

_LINKS = 40
"""So many links on one way are a loop; the number is Linux's."""
_PROBED_NAMES = 64
"""One name with a letter tells; a large folder is not asked about all of its names."""


def other_spellings(name: str) -> list[str]:
    """Names that a file system which folds names may take for this one; none where only one spelling exists."""
    spellings = [name.swapcase(), unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)]
    if len(os.fsencode(spellings[0])) != len(os.fsencode(name)):
        spellings[0] = name.upper() if name.upper() != name else name.lower()
    return [one for one in dict.fromkeys(spellings) if one != name]


def folded(name: str) -> str:
    """One text for all spellings that file systems commonly take for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def folds_names(beneath: Beneath) -> bool | None:
    """Whether the root takes two spellings for one name; None as long as no name is there to tell."""
    fd = beneath.open_root()
    try:
        present = beneath.fs.names(fd)
        listed = set(present)
        told = False
        for name in sorted(present)[:_PROBED_NAMES]:
            for other in other_spellings(name):
                if other in listed:
                    return False
                told = True
                if _same(beneath, fd, name, other):
                    return True
        return False if told else None
    except OSError as error:
        raise cannot_read(beneath.root, error) from error
    finally:
        beneath.fs.close(fd)


def spelled(beneath: Beneath, path: WorkspacePath) -> WorkspacePath:
    """The path as its folders list it. What does not exist keeps the spelling asked for, as does what cannot be looked at.

    Costs one or two looks a component; folders are listed only where they fold names.
    """
    parts = path.split("/")
    done: list[str] = []
    fd = beneath.open_root()
    try:
        for part in parts:
            name = _listed_as(beneath, fd, part)
            done.append(name)
            if len(done) == len(parts):
                break
            below = beneath.step(fd, name)
            beneath.fs.close(fd)
            fd = below
    except (OSError, PathEscape):
        done = done[: len(parts)]
    finally:
        beneath.fs.close(fd)
    return WorkspacePath("/".join((*done, *parts[len(done) :])))


def _same(beneath: Beneath, fd: int, name: str, other: str) -> bool:
    try:
        here, there = beneath.fs.lstat(name, dir_fd=fd), beneath.fs.lstat(other, dir_fd=fd)
    except OSError:
        return False
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _listed_as(beneath: Beneath, fd: int, name: str) -> str:
    """The name in the listing that is the same file; the name itself if it is listed, absent, or no other one fits."""
    if not any(_same(beneath, fd, name, other) for other in other_spellings(name)):
        return name
    listed = beneath.fs.names(fd)
    if name in listed:
        return name
    alike = [one for one in listed if folded(one) == folded(name) and _same(beneath, fd, name, one)]
    if alike:
        return alike[0]
    same = [one for one in listed if _same(beneath, fd, name, one)]  # a rule of folding that we do not know
    return same[0] if len(same) == 1 else name


def real(beneath: Beneath, path: WorkspacePath) -> WorkspacePath:
    """The path of the file that opening ``path`` would open, or make: every link inside the workspace resolved.

    `PathEscape` if that is outside, the root itself, or nowhere (a loop); `PathRefused` if it is one we never touch.
    """
    ahead = path.split("/")[::-1]
    done: list[str] = []
    links = 0
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not done:
                raise PathEscape(path)
            done.pop()
            continue
        text = _link_text(beneath, done, part)
        if text is None:
            done.append(part)
            continue
        links += 1
        if links > _LINKS:
            raise PathEscape(path)
        if text.startswith("/"):
            text = _beneath_root(beneath, path, text)
            done = []
        ahead.extend(text.split("/")[::-1])
    if not done:
        raise PathEscape(path)
    found = WorkspacePath("/".join(done))
    reason = names.refusal(found)
    if reason:
        raise PathRefused(path, reason)
    return found


def _link_text(beneath: Beneath, above: list[str], name: str) -> str | None:
    """The text of the link there; None if no link is."""
    try:
        fd = beneath.descend(above)
        try:
            if not stat_bits.S_ISLNK(beneath.fs.lstat(name, dir_fd=fd).st_mode):
                return None
            return os.fsdecode(beneath.fs.readlink(name, dir_fd=fd))
        finally:
            beneath.fs.close(fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_read("/".join((*above, name)), error) from error


def _beneath_root(beneath: Beneath, path: WorkspacePath, text: str) -> str:
    """An absolute link text as one relative to the root, which it may reach by another name."""
    root = str(beneath.root).rstrip("/") + "/"
    for way in (text, beneath.fs.realpath(text)):
        if f"{way}/".startswith(root):
            return way[len(root) :]
    raise PathEscape(path)
