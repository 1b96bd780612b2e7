"""What the agent's adapter needs of the vault: to look, to keep what is about to go, to write. Given by the services.

All of it is about one chat and its open turn. Errors are those of `core.types.errors`. Loop thread; the work is done elsewhere.
"""

from collections.abc import Sequence
from typing import Protocol

from vibekit_desktop.core.types.checkpoints import CaptureReport, FileState, Fits, Protection
from vibekit_desktop.core.types.ids import WorkspacePath


class Sink(Protocol):
    """The history of the turn that runs. Promise: when `capture` or `write` returns, what goes is in the store, durably."""

    async def look(self, path: WorkspacePath) -> FileState:
        """What is at a path now; never raises but for a missing workspace."""

    async def read(self, path: WorkspacePath, limit_bytes: int) -> bytes:
        """The content of a regular file inside the workspace; `CannotRead` (reason ``too-large`` over the limit), `PathEscape`,
        `PathRefused`."""

    async def real(self, path: WorkspacePath) -> WorkspacePath:
        """The path behind every link on the way, spelled as the disk spells it; `PathEscape` if that is outside."""

    async def capture(self, path: WorkspacePath, *, tool_call_id: str, deleted: bool = False) -> CaptureReport:
        """Keep a path as it is, just before the agent writes or deletes it by itself. What it will write is never said here: an
        agent's diffs are not trusted. `PathRefused`, `PathEscape`, `LogDamaged`, `DiskFull`, `CannotWrite`."""

    async def capture_move(self, old: WorkspacePath, new: WorkspacePath, *, tool_call_id: str) -> Sequence[CaptureReport]:
        """Keep both ends of a rename that the agent is about to do by itself."""

    async def write(
        self,
        path: WorkspacePath,
        data: bytes,
        *,
        expected: FileState | None,
        tool_call_id: str,
        unprotected: bool = False,
    ) -> CaptureReport:
        """Keep what is there and write ``data``, in one step. ``expected``: what was there when it was allowed; else it is
        `ChangedMeanwhile` and nothing is written. `NotProtected` where what goes can't be kept, unless ``unprotected``."""

    async def not_done(self, path: WorkspacePath) -> None:
        """What was announced for a path was not done: if the disk does not say otherwise, the turn has not changed it so far.
        Never raises."""

    async def waits(self, paths: Sequence[WorkspacePath], *, tool_call_id: str) -> None:
        """A person is about to be asked, and the agent waits: whoever changes these paths until it is allowed is somebody else.
        Never raises."""

    async def meet(self, path: WorkspacePath, expected: FileState) -> None:
        """A path is another one than when the person was asked: keep what is there as somebody else's. Never raises."""

    async def finished(self, paths: Sequence[WorkspacePath], fits: Fits, *, tool_call_id: str) -> None:
        """A call is said to have changed these paths: what the disk shows of it is the agent's. Never raises."""

    async def protection(self) -> Protection | None:
        """What a command that ran now could change for good, once everything is kept that can be. None: it took too long."""

    async def command_begins(self, tool_call_id: str, *, unprotected: bool = False) -> Protection | None:
        """A command is about to run; the disk is looked at first, for at most two seconds. None: the look was not done by
        then, what was before the command is not known. With anything ``unkept`` it does not begin, unless ``unprotected``."""

    async def command_ends(self, tool_call_id: str) -> None:
        """The command ended: what it changed is looked for. Never raises for want of a begin."""
