"""Where the programs of agents are on this computer.

Looks through a PATH that it is given, never through the one of this process. What a workspace holds is never found: relative
folders, and folders inside of one, do not count, so that nothing in a project can stand in for an agent. Blocking; any thread.
"""

import ntpath
import os
import posixpath
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vibekit_desktop.core.agent.registry import is_bare
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CoreError

WINDOWS = os.name == "nt"
_EXTENSIONS = ".COM;.EXE;.BAT;.CMD"
_PACKAGE_BYTES = 1 << 20
_NODE = re.compile(r"Node\.js v(\d{1,4}\.\d{1,4}\.\d{1,4})")
_WANTED = re.compile(r">=\s*v?(\d{1,4}(?:\.\d{1,4}){0,2})")


def _is_program(path: str) -> bool:
    # With a folder in the name `which` looks nowhere else; it only says whether this is a file that can be run.
    return shutil.which(path) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPath:
    """A PATH as it may be used. ``folders`` are those to be searched, in order, each once; ``inside`` are those of workspaces,
    ``roots`` the workspaces."""

    folders: tuple[str, ...]
    inside: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ("",)
    windows: bool = WINDOWS

    def program(self, name: str, *, is_program: Callable[[str], bool] = _is_program) -> str | None:
        """The absolute path of a program by its bare name."""
        if not is_bare(name):
            return None
        path = ntpath if self.windows else posixpath
        for folder in self.folders:
            for full in self._names(path.join(folder, name)):
                if is_program(full):
                    return full
        return None

    def _names(self, full: str) -> Iterator[str]:
        # On Windows the file of this very name is a script for another system; npm puts its shim for this one beside it.
        if self.windows and full.casefold().endswith(tuple(one.casefold() for one in self.extensions if one)):
            yield full
            return
        for extension in self.extensions:
            yield full + extension

    def child(self, program: str) -> str:
        """The PATH that a program is started with: no relative folder; its own folder first if it is not on the PATH; those of
        workspaces last, where their tools are found and stand in for nothing."""
        own = os.path.dirname(program)
        first = () if own in self.folders or any(_within(own, root) for root in self.roots) else (own,)
        return (";" if self.windows else ":").join(dict.fromkeys((*first, *self.folders, *self.inside)))


def search_path(
    *texts: str, workspaces: Sequence[str] = (), fs: Fs, extensions: str = "", windows: bool = WINDOWS
) -> SearchPath:
    """The PATHs, one after the other. ``extensions`` is Windows' PATHEXT."""
    roots = [fs.realpath(folder) for folder in workspaces]
    folders: dict[str, None] = {}
    inside: dict[str, None] = {}
    for text in texts:
        for word in text.split(";" if windows else ":"):
            folder = word.strip('"') if windows else word
            if not _absolute(folder, windows=windows):
                continue
            theirs = bool(roots) and any(_within(fs.realpath(folder), root) for root in roots)
            (inside if theirs else folders)[folder] = None
    known = tuple(one for one in (extensions or _EXTENSIONS).split(";") if one) if windows else ("",)
    return SearchPath(folders=tuple(folders), inside=tuple(inside), roots=tuple(roots), extensions=known, windows=windows)


def _absolute(folder: str, *, windows: bool) -> bool:
    if windows:
        return bool(ntpath.splitdrive(folder)[0]) and ntpath.isabs(folder)
    return posixpath.isabs(folder)


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def command(words: Sequence[str], path: SearchPath, *, home: Path) -> tuple[str, ...]:
    """A command with its program's absolute path, or nothing if there is no such program. A full path is taken as it is given,
    ``~/`` is the home folder; a relative one is never found."""
    program, *arguments = words
    if is_bare(program):
        found = path.program(program)
        return (found, *arguments) if found is not None else ()
    full = os.path.join(home, program[2:]) if program.startswith("~/") else program
    if not os.path.isabs(full) or not _is_program(full):
        return ()
    return (full, *arguments)


def stamp(program: str, fs: Fs) -> str:
    """What changes when a program is another one: where it leads, and the size, the times and the number of that file."""
    real = fs.realpath(program)
    try:
        found = fs.stat(Path(real))
    except CoreError:
        found = None
    if found is None:
        return ""
    # Package managers give their files the date of the package, the same for every version of it: ctime tells them apart.
    return f"{real}|{found.st_size}|{found.st_mtime_ns}|{found.st_ctime_ns}|{found.st_ino}"


class _Engines(msgspec.Struct, frozen=True):
    node: str = ""


class _Manifest(msgspec.Struct, frozen=True):
    name: str = ""
    engines: _Engines = _Engines()


def node_trouble(program: str, said: str, fs: Fs) -> str:
    """A sentence about Node.js, if an agent that ended says that it ran in one that is older than its package wants; else
    empty."""
    ran = _NODE.search(said)
    wanted = _WANTED.search(_engines(Path(fs.realpath(program)), fs)) if ran is not None else None
    if ran is None or wanted is None or _version(ran[1]) >= _version(wanted[1]):
        return ""
    return f"It ran in Node.js {ran[1]} and wants {wanted[1]} or later."


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _engines(program: Path, fs: Fs) -> str:
    """What the package of a program says of Node.js."""
    for folder in list(program.parents)[:4]:
        try:
            manifest = msgspec.json.decode(fs.read_bytes(folder / "package.json", limit=_PACKAGE_BYTES), type=_Manifest)
        except (FileNotFoundError, CoreError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if manifest.name:
            return manifest.engines.node
    return ""
