"""The bytes behind a state, from the store or from the disk, and the line counts between two states.

Blocking; used in threads under the vault's turn. Counts are kept by the two hashes: content never changes under a hash.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.diff.lines import count
from vibekit_desktop.core.diff.renames import Candidate
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.checkpoints import FileChange, FileState, PlannedFile, State, TimelineEntry
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound
from vibekit_desktop.core.types.ids import WorkspacePath

COUNT_LIMIT = 8 << 20
"""Bytes a side: over this no lines are counted for a list, as no diff of them is laid out."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The bytes are not to be had; ``reason`` is a `LeaveReason` value or the state's own reason."""

    reason: str


def content_of(vault: OpenVault, kernel: CheckpointKernel, path: WorkspacePath, state: FileState) -> bytes | Missing | None:
    """None = absent (or a folder). The disk is asked only for content that the store does not hold, and only believed if its
    hash is the wanted one."""
    if state.state in (State.ABSENT, State.FOLDER):
        return None
    if not state.has_content or state.sha is None:
        return Missing(state.reason or state.state.value)
    try:
        return kernel.read_state(state)
    except BlobCorrupt:
        return Missing("damaged")
    except BlobNotFound:
        pass
    workspace = vault.workspace()
    if workspace is not None:
        found, data = workspace.read(path)
        if data is not None and found.sha == state.sha:
            return data
    return Missing("damaged")


def size_of(vault: OpenVault, state: FileState) -> int | None:
    """How many bytes `content_of` gives, as far as that is known without reading them; None where nothing is to be had."""
    if not state.has_content or state.sha is None:
        return None
    return state.size if state.size is not None else vault.store.blobs.size(state.sha)


def candidate(vault: OpenVault, kernel: CheckpointKernel, path: WorkspacePath, state: FileState) -> Candidate:
    """A file that went or came, to find its other name; its content is read when it is asked for."""

    def read() -> bytes | None:
        data = content_of(vault, kernel, path, state)
        return None if isinstance(data, Missing) else data

    return Candidate(path, state.sha or "", size_of(vault, state), read)


Pair = tuple[WorkspacePath, FileState, FileState]
"""A path before and after."""


class Allowance:
    """How long lines may be counted. Invariant: once it is over it stays so."""

    def __init__(self, now_s: Callable[[], float], seconds: float) -> None:
        self._now_s = now_s
        self._until = now_s() + seconds

    def is_over(self) -> bool:
        """Whether the time has passed."""
        return self._now_s() >= self._until


def _key(before: FileState, after: FileState) -> tuple[str, str]:
    return before.sha or before.state.value, after.sha or after.state.value


class LineCounts:
    """Lines added and removed, remembered by hashes."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, int] | None] = {}

    def between(
        self, vault: OpenVault, kernel: CheckpointKernel, path: WorkspacePath, before: FileState, after: FileState
    ) -> tuple[int, int] | None:
        """(added, removed); None where a side is binary, over the limit, or not to be had."""
        key = _key(before, after)
        if key[0] == key[1]:
            return (0, 0) if before.has_content or before.state is State.ABSENT else None
        if key not in self._known:
            self._known[key] = self._count(vault, kernel, path, before, after)
        return self._known[key]

    def is_known(self, before: FileState, after: FileState) -> bool:
        """Whether nothing has to be read for the counts."""
        key = _key(before, after)
        return key[0] == key[1] or key in self._known

    def count_some(self, vault: OpenVault, kernel: CheckpointKernel, pairs: Iterable[Pair], allowance: Allowance) -> list[Pair]:
        """Count in this order until the time is over; what is left."""
        left: list[Pair] = []
        for path, before, after in pairs:
            if self.is_known(before, after):
                continue
            if left or allowance.is_over():
                left.append((path, before, after))
            else:
                self.between(vault, kernel, path, before, after)
        return left

    def _count(
        self, vault: OpenVault, kernel: CheckpointKernel, path: WorkspacePath, before: FileState, after: FileState
    ) -> tuple[int, int] | None:
        sides: list[bytes | None] = []
        for state in (before, after):
            if state.size is not None and state.size > COUNT_LIMIT:
                return None
            data = content_of(vault, kernel, path, state)
            if isinstance(data, Missing) or (data is not None and len(data) > COUNT_LIMIT):
                return None
            sides.append(data)
        return count(sides[0], sides[1])

    def fill_change(self, vault: OpenVault, kernel: CheckpointKernel, change: FileChange) -> FileChange:
        """The change with its counts."""
        found = self.between(vault, kernel, change.path, change.before, change.after)
        return change if found is None else replace(change, lines_added=found[0], lines_removed=found[1])

    def fill_entry(self, vault: OpenVault, kernel: CheckpointKernel, entry: TimelineEntry) -> TimelineEntry:
        """The entry with the counts of its files."""
        if not entry.files:
            return entry
        return replace(entry, files=tuple(self.fill_change(vault, kernel, change) for change in entry.files))

    def fill_known(self, vault: OpenVault, kernel: CheckpointKernel, entry: TimelineEntry) -> TimelineEntry:
        """The entry with the counts of its files, if those of all are known: some of them would make a wrong sum."""
        known = all(self.is_known(change.before, change.after) for change in entry.files)
        return self.fill_entry(vault, kernel, entry) if known else entry

    def fill_planned(self, vault: OpenVault, kernel: CheckpointKernel, file: PlannedFile) -> PlannedFile:
        """The planned file with the counts from what is on disk to what is wanted."""
        found = self.between(vault, kernel, file.path, file.current, file.wanted)
        return file if found is None else replace(file, lines_added=found[0], lines_removed=found[1])
