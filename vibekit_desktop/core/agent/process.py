"""An agent's process: started with nothing of ours, its streams carried both ways, ended with everything that it started.

It notices the exit also while a child of the agent holds the streams open. What the agent writes as errors is always taken off
its hands: the last of it is kept here, the rest goes into a log. Loop thread.
"""

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Protocol

from vibekit_desktop.core.agent import family
from vibekit_desktop.core.agent.family import Kin
from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.disk.bounded_log import BoundedLog

_log = logging.getLogger(__name__)

SAID_BYTES = 8 << 10
"""What is kept of the end of the errors, for a person to read."""
PENDING_BYTES = 256 << 10
"""What waits for a slow log; older errors are left out of it."""
QUIET_S = 0.25
"""A process that has ended and whose streams are silent for so long has said everything; a child of it may hold them open."""
DRAIN_S = 2.0
TERMINATE_S = 1.0
KILL_S = 5.0
FAMILY_S = 0.5
_NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)


class Output(Protocol):
    """What takes what a process writes. Loop thread; both return at once."""

    def data(self, data: bytes) -> None:
        """More of it."""

    def end(self) -> None:
        """That was all."""


class ErrorLog:
    """What an agent writes as errors. Invariant: memory is bounded, and the one who writes never waits for the disk."""

    def __init__(self, path: Path | None) -> None:
        self._log = None if path is None else BoundedLog(path)
        self._tail = bytearray()
        self._pending = bytearray()
        self._writer: asyncio.Task[None] | None = None
        self._failed = False

    @property
    def said(self) -> str:
        """The last lines, as text."""
        return self._tail.decode("utf-8", "replace").strip()

    def add(self, data: bytes) -> None:
        """Take what was written."""
        self._tail += data
        del self._tail[:-SAID_BYTES]
        self.note(data)

    def note(self, data: bytes) -> None:
        """Write into the log only."""
        if self._log is None or self._failed:
            return
        self._pending += data
        del self._pending[:-PENDING_BYTES]
        if self._writer is None:
            self._writer = asyncio.create_task(self._write(self._log), name="agent errors")

    async def written(self) -> None:
        """Wait for the log."""
        if self._writer is not None:
            await self._writer

    async def _write(self, log: BoundedLog) -> None:
        while self._pending:
            data = bytes(self._pending)
            self._pending.clear()
            if not await asyncio.to_thread(log.add, data):
                # A log that can't be written is no reason to disturb anybody, and is not tried for ever.
                self._failed = True
                self._pending.clear()
                _log.info("the log of the agents' errors cannot be written")
        self._writer = None


class _Streams(asyncio.SubprocessProtocol):
    """What asyncio tells of a process, told to its `AgentProcess`."""

    def __init__(self, output: Output, errors: ErrorLog) -> None:
        self.output, self._errors = output, errors
        self._open = {1, 2}
        self.busy = False
        self.exited = asyncio.Event()
        self.output_closed = asyncio.Event()
        self.silent = asyncio.Event()
        self.may_write = asyncio.Event()
        self.may_write.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.busy = True
        if fd == 1:
            self.output.data(data)
        else:
            self._errors.add(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.output_closed.set()
            self.output.end()
        elif fd == 0:
            self.may_write.set()  # whoever waits finds out that nobody reads it
        self._open.discard(fd)
        if not self._open:
            self.silent.set()

    def process_exited(self) -> None:
        self.may_write.set()
        self.exited.set()

    def pause_writing(self) -> None:
        self.may_write.clear()

    def resume_writing(self) -> None:
        self.may_write.set()


class AgentProcess:
    """One process. Invariant: when `exited` has returned, the output was told its end and no more of it comes."""

    def __init__(self, launch: Launch, errors: ErrorLog) -> None:
        self._launch, self.errors = launch, errors
        self._streams: _Streams | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self._leader: Kin | None = None
        self._paused = False
        self._gone: asyncio.Future[int | None] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._ending = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """Its id, also after it ended; None before it was started."""
        return None if self._transport is None else self._transport.get_pid()

    async def start(self, output: Output) -> None:
        """Start it, once; `OSError` or `ValueError` if the system will not. ``output`` may hear of it before."""
        loop = asyncio.get_running_loop()
        self._streams = streams = _Streams(output, self.errors)
        windows = sys.platform == "win32"
        self._transport, _ = await loop.subprocess_exec(
            lambda: streams,
            *self._launch.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._launch.folder,
            env=dict(self._launch.env),
            close_fds=True,
            start_new_session=not windows,
            creationflags=_NEW_GROUP if windows else 0,
        )
        pid = self._transport.get_pid()
        self._leader = family.kin_of(pid) or Kin(pid, started=-1)  # it may be gone already, and what it left is not
        self._gone = loop.create_future()
        self._watch = asyncio.create_task(self._until_gone(self._transport, streams), name="agent process")
        when = datetime.now().isoformat(" ", "seconds")
        self.errors.note(f"--- {when} {self._launch.name}, process {self.pid}\n".encode("utf-8", "replace"))

    def write(self, data: bytes) -> None:
        """Send it something; what an ended one would not read is dropped."""
        if self._transport is not None and self._streams is not None and not self._streams.exited.is_set():
            pipe = self._transport.get_pipe_transport(0)
            if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
                pipe.write(data)

    async def drained(self) -> None:
        """Wait until it has read most of what was sent, or is gone."""
        if self._streams is not None:
            await self._streams.may_write.wait()

    def pause(self) -> None:
        """Take no more of its output for now: it will have to wait."""
        self._reading(pause=True)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._reading(pause=False)

    def _reading(self, *, pause: bool) -> None:
        if self._transport is None or self._paused is pause:
            return
        pipe = self._transport.get_pipe_transport(1)
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            self._paused = pause
            if pause:
                pipe.pause_reading()
            else:
                pipe.resume_reading()

    async def output_closed(self) -> None:
        """Wait until it has closed its output; a living agent that does that is not to be talked to."""
        if self._streams is not None:
            await self._streams.output_closed.wait()

    async def exited(self) -> int | None:
        """Wait until it is gone; its status, negative for a signal, None if it is not known. Cancelling harms nothing."""
        return None if self._gone is None else await asyncio.shield(self._gone)

    async def end(self, patience_s: float) -> None:
        """End it and what it started: its input ends, then it is asked to leave, then it is killed. Twice is harmless."""
        if self._transport is None or self._streams is None or self._watch is None:
            return
        async with self._ending:
            known = await self._family()
            self._close_input(self._transport)
            if not await self._exits_within(self._streams, patience_s):
                known |= await self._family()
                await self._tell(known, "SIGTERM")
                if not await self._exits_within(self._streams, TERMINATE_S):
                    known |= await self._family()
                    await self._tell(known, "SIGKILL")
                    await self._exits_within(self._streams, KILL_S)
            known |= await self._family()
            if known and not await asyncio.to_thread(family.end, known, FAMILY_S):
                _log.warning("a process that %s started could not be ended", self._launch.name)
            if not self._streams.exited.is_set():
                # Nothing ends it: it waits inside of the system.
                self._watch.cancel()
                self._streams.output.end()
                self._found_gone(None)
            else:
                await asyncio.shield(self._watch)
            self._transport.close()
            await self.errors.written()

    async def _family(self) -> frozenset[Kin]:
        return frozenset() if self._leader is None else await asyncio.to_thread(family.family, self._leader)

    async def _exits_within(self, streams: _Streams, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await streams.exited.wait()
        return streams.exited.is_set()

    async def _tell(self, known: frozenset[Kin], name: str) -> None:
        """A signal to the agent's group, and to those of its family that left it."""
        pid = self.pid
        if pid is None or self._streams is None or self._streams.exited.is_set():
            return  # its number may be somebody else's by now
        if sys.platform == "win32":
            system = os.environ.get("SYSTEMROOT", r"C:\Windows")
            killer = os.path.join(system, "System32", "taskkill.exe")
            with contextlib.suppress(OSError):
                run = await asyncio.create_subprocess_exec(
                    killer, "/T", "/F", "/PID", str(pid), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                await run.wait()
            return
        number = signal.Signals[name]
        family.send_group(pid, number)
        await asyncio.to_thread(family.send, known, number)

    def _close_input(self, transport: asyncio.SubprocessTransport) -> None:
        pipe = transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            if pipe.get_write_buffer_size():
                pipe.abort()  # it does not read what is there, so it would never see the end
            else:
                pipe.close()

    async def _until_gone(self, transport: asyncio.SubprocessTransport, streams: _Streams) -> None:
        await streams.exited.wait()
        # What it wrote last may still be on its way to us.
        streams.busy = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                while not streams.silent.is_set() and (streams.busy or self._paused):
                    streams.busy = False
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(QUIET_S):
                            await streams.silent.wait()
        streams.output.end()
        self._found_gone(transport.get_returncode())
        # Whoever is left of its group was started by it and has nobody to talk to.
        if left := await self._family():
            await asyncio.to_thread(family.end, left, FAMILY_S)
        transport.close()
        await self.errors.written()

    def _found_gone(self, status: int | None) -> None:
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(status)
