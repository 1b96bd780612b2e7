"""Copies of the files that nothing else has, as long as there is room for them; what has none, and why.

A look at a turn's edge copies small files. Before a command, which may change anything, also the larger ones are copied that a
capture would keep, smallest first, as long as all copies together stay within their limit. What could not be kept for want of
room, or since the store fails, is told apart from what a limit leaves out; it is tried again at every look. Blocking; under the
vault's lock.
"""

from collections.abc import Collection, MutableMapping
from dataclasses import dataclass, replace

from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.known import NO_COPY, Entry
from vibekit_desktop.core.types.checkpoints import Skipped
from vibekit_desktop.core.types.errors import CannotWrite, DiskFull, EnvironmentFault
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath

DISK_FULL = "disk-full"
CANNOT_STORE = "cannot-store"
CANNOT_READ = "cannot-read"
TOO_LARGE = "too-large"
MOST_TOLD = 1_000
_MOST_FAILURES = 100
"""A store that took so many files less is not asked any more in this look."""
_MOST_CHECKED = 2_000
"""So many files without a copy are looked up in the store; of more, nearly all are left out by the limit."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What has no copy after all. ``failed``: it should have one. ``left_out``: it should not, or it cannot be read."""

    failed: tuple[Skipped, ...] = ()
    left_out: tuple[Skipped, ...] = ()


NOTHING_LEFT = Copied()


def why(error: EnvironmentFault) -> str:
    """Why the store did not take a content."""
    return DISK_FULL if isinstance(error, DiskFull) else CANNOT_STORE


def keep(
    ground: Ground,
    entries: MutableMapping[WorkspacePath, Entry],
    paths: Collection[WorkspacePath],
    copies: Collection[str],
    *,
    limit: int,
) -> Copied:
    """Copy the files of ``paths`` that nothing has, up to ``limit`` bytes each. ``entries`` gets their hashes; ``copies``: what
    is copied already."""
    bare = [path for path in paths if not entries[path].git and entries[path].sha not in copies]
    room = ground.limits.copies_bytes - sum(
        {entries[path].sha: entries[path].stamp.size for path in paths if entries[path].sha in copies}.values()
    )
    if len(bare) <= _MOST_CHECKED:
        bare = [path for path in bare if not (entries[path].sha and ground.vault.blobs.has(BlobHash(entries[path].sha)))]
    failed: list[Skipped] = []
    left_out: list[Skipped] = []
    for path in sorted(bare, key=lambda path: entries[path].stamp.size):
        entry = entries[path]
        size = entry.stamp.size
        if size > min(limit, room):
            left_out.append(Skipped(path, TOO_LARGE if size > ground.limits.capture_bytes else NO_COPY, size))
            continue
        if len(failed) >= _MOST_FAILURES:
            failed.append(Skipped(path, failed[-1].reason, size))
            continue
        try:
            data = b"".join(ground.folder().pieces(path))
        except EnvironmentFault:
            left_out.append(Skipped(path, CANNOT_READ, size))
            continue
        sha = hash_of(data)
        if entry.sha and entry.sha != sha:
            continue  # it changed since it was looked at: the next look tells that
        try:
            ground.known.keep(sha, data)
        except CannotWrite as error:
            failed.append(Skipped(path, why(error), size))
            continue
        entries[path] = replace(entry, sha=sha)
        room -= len(data)
    return Copied(tuple(failed[:MOST_TOLD]), tuple(reversed(left_out[-MOST_TOLD:])))
