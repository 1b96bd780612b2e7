"""How many files the first check of a folder would go through, and about how long it would take.

Goes down the folder by the very rules of the check (`baseline.survey`), and reads a few of its files as the check would.
Changes nothing. Blocking.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from vibekit_desktop.core.checkpoint import baseline
from vibekit_desktop.core.disk.tree import Stamp
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.folders import FolderWeight
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.settings import Limits

_SAMPLE = 200
"""So many files tell what one costs."""
_COPY = 3.0
"""Keeping a copy of a small file costs so many times what reading it does."""


class WeighingStopped(Exception):
    """Whoever asked does not want to know any more."""


def weigh(workspace: Workspace, limits: Limits, *, stopped: Callable[[], bool]) -> FolderWeight:
    """What the first check of a folder would go through. Raises `CannotRead`, and `WeighingStopped` soon after ``stopped``
    said so."""

    def go_on() -> None:
        if stopped():
            raise WeighingStopped

    started = time.perf_counter()
    found = baseline.survey(workspace, entering=go_on)
    clean = found.git.clean if found.git is not None else {}
    files = {path: stamp for path, stamp in found.tree.entries.items() if stamp.kind in ("file", "link")}
    if found.cut_short:
        return FolderWeight(files=baseline.MOST_ENTRIES, limit=baseline.MOST_ENTRIES, check_s=0.0)
    copied, read = _to_be_read(files, clean, limits)
    looked_s = time.perf_counter() - started
    looked_s += _each_s(workspace, copied, go_on) * (1 + _COPY) * len(copied) + _each_s(workspace, read, go_on) * len(read)
    return FolderWeight(files=len(files), limit=baseline.MOST_ENTRIES, check_s=looked_s)


def _to_be_read(
    files: Mapping[WorkspacePath, Stamp], clean: Mapping[WorkspacePath, str], limits: Limits
) -> tuple[list[WorkspacePath], list[WorkspacePath]]:
    """The files that the first check copies, and those that it only reads: of both there is a limit."""
    copied: list[WorkspacePath] = []
    read: list[WorkspacePath] = []
    copies_left, hashes_left = limits.copies_bytes, baseline.HASH_BYTES
    for path in sorted(files):
        size = files[path].size
        if clean.get(path):
            continue
        if size <= min(limits.copy_bytes, copies_left):
            copies_left -= size
            copied.append(path)
        elif size <= min(limits.capture_bytes, hashes_left):
            hashes_left -= size
            read.append(path)
    return copied, read


def _each_s(workspace: Workspace, paths: Sequence[WorkspacePath], go_on: Callable[[], None]) -> float:
    """What reading one of them costs, as a few that lie far apart say."""
    some = paths[:: max(1, len(paths) // _SAMPLE)]
    started = time.perf_counter()
    for path in some:
        go_on()
        with suppress(CoreError):  # the check leaves out what can't be read
            workspace.look(path)
    return (time.perf_counter() - started) / max(1, len(some))
