"""The vault's side of what an agent of ours does in its turn: to look, to keep what is about to go, to write. Implements
`core.agent.sink.Sink`.

Everything is one short change under the vault's lock, durable before the agent hears of it; then those are told who show it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.services.turn_book import TurnBook, message_count, stamp
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.checkpoints import ALL_KEPT, CaptureReport, FileState, Fits, LeaveReason, Protection, State
from vibekit_desktop.core.types.errors import CannotRead, CoreError, NoOpenTurn, PathRefused, WorkspaceMissing
from vibekit_desktop.core.types.events import MessageUpdated
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

T = TypeVar("T")
_log = logging.getLogger(__name__)

LOOK_S = 2.0
"""So long a command waits for the look before it (docs/storage-format.md 5)."""


class LiveSink:
    """One chat's. Invariant: a command's end is not looked for before the look at its beginning is done."""

    def __init__(self, book: TurnBook, vault: OpenVault, chat: ChatId, *, look_s: float = LOOK_S) -> None:
        self._book = book
        self._vault = vault
        self._chat = chat
        self._look_s = look_s
        self._looks: dict[str, asyncio.Task[Protection]] = {}
        self._unseen = False

    # -- looking -----------------------------------------------------------------------------------------------------

    def _workspace(self) -> Workspace:
        found = self._vault.workspace()
        if found is None:
            raise WorkspaceMissing(self._vault.workspace_path)
        return found

    async def look(self, path: WorkspacePath) -> FileState:
        """What is at a path now."""
        return await durably(lambda: self._workspace().look(path))

    async def real(self, path: WorkspacePath) -> WorkspacePath:
        """The path behind every link on the way, as the disk spells it."""

        def work() -> WorkspacePath:
            workspace = self._workspace()
            return workspace.real(workspace.spelled(path))

        return await durably(work)

    async def read(self, path: WorkspacePath, limit_bytes: int) -> bytes:
        """The content of a regular file."""

        def work() -> bytes:
            workspace = self._workspace()
            real = workspace.real(workspace.spelled(path))
            state = workspace.look(real)
            if state.state is State.ABSENT:
                raise CannotRead(path, "missing")
            if state.state is not State.PRESENT:
                reason = LeaveReason.NOT_REGULAR.value if state.state is State.FOLDER else state.reason or state.state.value
                raise PathRefused(path, reason)
            if (state.size or 0) > limit_bytes:
                raise CannotRead(path, "too-large")
            pieces: list[bytes] = []
            size = 0
            for piece in workspace.pieces(real, seen=state.state):
                size += len(piece)
                if size > limit_bytes:
                    raise CannotRead(path, "too-large")
                pieces.append(piece)
            return b"".join(pieces)

        return await durably(work)

    # -- keeping and writing -----------------------------------------------------------------------------------------

    async def capture(self, path: WorkspacePath, *, tool_call_id: str, deleted: bool = False) -> CaptureReport:
        """Keep a path as it is; what will be written is not known."""
        announced = Announced(deleted=deleted, tool_call_id=tool_call_id)
        return await self._captured(
            lambda kernel, count: kernel.recorder.capture(self._chat, path, announced, message_count=count)
        )

    async def capture_move(self, old: WorkspacePath, new: WorkspacePath, *, tool_call_id: str) -> Sequence[CaptureReport]:
        """Keep both ends of a rename."""

        def work(kernel: CheckpointKernel) -> tuple[Sequence[CaptureReport], Message | None]:
            count = message_count(self._vault, self._chat)
            reports = kernel.recorder.capture_rename(self._chat, old, new, message_count=count, tool_call_id=tool_call_id)
            return reports, stamp(self._vault, self._chat, reports[0].tag)

        reports, stamped = await self._book.changing(self._chat, self._vault, work)
        await self._tell(stamped)
        return reports

    async def write(
        self,
        path: WorkspacePath,
        data: bytes,
        *,
        expected: FileState | None,
        tool_call_id: str,
        unprotected: bool = False,
    ) -> CaptureReport:
        """Keep what is there and write, in one step."""
        return await self._captured(
            lambda kernel, count: kernel.recorder.write(
                self._chat,
                path,
                data,
                message_count=count,
                expected=expected,
                tool_call_id=tool_call_id,
                unprotected=unprotected,
            )
        )

    async def not_done(self, path: WorkspacePath) -> None:
        """Close what was announced for a path and not done."""
        try:
            closed = await self._book.changing(
                self._chat, self._vault, lambda kernel: kernel.recorder.not_done(self._chat, path)
            )
        except CoreError as error:
            _log.info("a write of chat %s that failed stays open: %s", self._chat, error.code)  # the turn's end looks again
            return
        if closed:
            await self._tell(None)

    async def waits(self, paths: Sequence[WorkspacePath], *, tool_call_id: str) -> None:
        """The agent waits for a person."""
        await self._noted(lambda kernel: kernel.recorder.waits(self._chat, paths, tool_call_id=tool_call_id))

    async def meet(self, path: WorkspacePath, expected: FileState) -> None:
        """Somebody changed a path while the agent waited."""
        await self._noted(lambda kernel: kernel.recorder.meet(self._chat, path, expected))

    async def finished(self, paths: Sequence[WorkspacePath], fits: Fits, *, tool_call_id: str) -> None:
        """A call is said to have changed these paths."""
        await self._noted(lambda kernel: kernel.recorder.finished(self._chat, paths, fits, tool_call_id=tool_call_id))

    async def _noted(self, step: Callable[[CheckpointKernel], bool]) -> None:
        """Write down what is only better to know now; else the turn's end finds it."""
        try:
            noted = await self._book.changing(self._chat, self._vault, step)
        except CoreError as error:
            _log.info("what chat %s was told of its files is not written down: %s", self._chat, error.code)
            return
        if noted:
            await self._tell(None)

    async def _captured(self, step: Callable[[CheckpointKernel, int], CaptureReport]) -> CaptureReport:
        def work(kernel: CheckpointKernel) -> tuple[CaptureReport, Message | None]:
            report = step(kernel, message_count(self._vault, self._chat))
            return report, stamp(self._vault, self._chat, report.tag)

        try:
            report, stamped = await self._book.changing(self._chat, self._vault, work)
        except CoreError:
            await self._tell(None)  # what was looked at on the way may be in the log
            raise
        await self._tell(stamped)
        return report

    async def _tell(self, stamped: Message | None) -> None:
        news = () if stamped is None else (MessageUpdated(self._chat, stamped),)
        await self._book.tell(self._chat, self._vault, *news, row=False)

    # -- commands ----------------------------------------------------------------------------------------------------

    async def protection(self) -> Protection | None:
        """Look as before a command, for at most two seconds."""
        task = asyncio.create_task(
            self._book.changing(self._chat, self._vault, lambda kernel: kernel.recorder.protect(self._chat)),
            name="look before a question",
        )
        done, _ = await asyncio.wait({task}, timeout=self._look_s)
        if done:
            return task.result()
        task.add_done_callback(_forget)
        return None

    async def command_begins(self, tool_call_id: str, *, unprotected: bool = False) -> Protection | None:
        """Look before a command, for at most two seconds."""
        if tool_call_id in self._looks:
            return ALL_KEPT
        late: list[bool] = []

        def begin(kernel: CheckpointKernel) -> Protection:
            found = kernel.recorder.protect(self._chat)
            if unprotected or late or not found.unkept:
                kernel.recorder.begin_command(self._chat, tool_call_id=tool_call_id, looked=True)
            return found

        task = self._looks[tool_call_id] = asyncio.create_task(
            self._book.changing(self._chat, self._vault, begin), name="look before a command"
        )
        done, _ = await asyncio.wait({task}, timeout=self._look_s)
        if not done:
            _log.info("a command of chat %s did not wait for its look", self._chat)
            self._unseen = True
            late.append(True)
            return None
        try:
            found = task.result()
        except CoreError as error:
            _log.info("the look before a command of chat %s failed: %s", self._chat, error.code)
            self._looks.pop(tool_call_id, None)
            raise
        if found.unkept and not unprotected:
            self._looks.pop(tool_call_id, None)
        return found

    async def command_ends(self, tool_call_id: str) -> None:
        """Look for what a command changed."""
        task = self._looks.pop(tool_call_id, None)
        if task is None:
            return
        try:
            await asyncio.shield(task)
            unseen, self._unseen = self._unseen, False

            def end(kernel: CheckpointKernel) -> None:
                if unseen:
                    kernel.recorder.note_unseen(self._chat)
                kernel.recorder.end_command(self._chat, tool_call_id=tool_call_id)

            await self._book.changing(self._chat, self._vault, end)
        except NoOpenTurn:
            return  # its turn has ended meanwhile, and that looked too
        except CoreError as error:
            # The end of the turn looks again; what is found then nobody is told to have made.
            _log.info("the look after a command of chat %s failed: %s", self._chat, error.code)
            return
        await self._tell(None)


def _forget(task: "asyncio.Task[Protection]") -> None:
    """Nobody waits for it any more; the look before the command says the same again."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.info("a look before a question failed: %s", error.code if isinstance(error, CoreError) else type(error).__name__)
