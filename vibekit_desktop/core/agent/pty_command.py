"""One command in a terminal of ours: started in a session of its own, heard, and ended with everything that it started.

It writes to a pseudo-terminal that controls its session; where there are none, to a pipe. It reads from nothing, as nobody is
there to type: what would wait for an answer gets the end of its input. As in any terminal its end hangs up on what it left in
the background; what has left its session as a service does goes on, unless the command is ended by us. Loop thread.
"""

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from vibekit_desktop.core.agent import family
from vibekit_desktop.core.agent.family import Kin

if sys.platform != "win32":
    import termios

_log = logging.getLogger(__name__)

READ_BYTES = 1 << 14
"""What is read in one step of the loop."""
_DRAIN_READS = 256
TERMINATE_S = 0.5
KILL_S = 5.0
"""What is not gone so long after it was killed is not ours to kill (it runs as somebody else) or waits inside of the system."""
_TAKE_TERMINAL = 'exec 3<>"$0" 3>&-; exec "$@"'
"""The first terminal that the leader of a session opens is the one that controls it."""
_NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)


class PtyCommand:
    """One command that runs or has run. ``heard`` is called with what it writes. Invariant: after `close` nothing of it is
    heard any more, and no descriptor of it is open."""

    def __init__(self, heard: Callable[[bytes], None]) -> None:
        self._heard = heard
        self._process: asyncio.subprocess.Process | None = None
        self._leader: Kin | None = None
        self._main = -1
        self._reader: asyncio.Task[None] | None = None
        self._given_up = asyncio.Event()

    async def start(self, command: Sequence[str], folder: str, env: Mapping[str, str], rows: int, columns: int) -> None:
        """Start it, once; `OSError` or `ValueError` if the system will not. The program is an absolute path."""
        if sys.platform == "win32":
            await self._start_piped(command, folder, env)
            return
        self._main, side = os.openpty()
        try:
            os.set_blocking(self._main, False)
            termios.tcsetwinsize(side, (rows, columns))
            self._process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                _TAKE_TERMINAL,
                os.ttyname(side),
                *command,
                stdin=subprocess.DEVNULL,
                stdout=side,
                stderr=side,
                cwd=folder,
                env=dict(env),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._main)
            self._main = -1
            raise
        finally:
            os.close(side)
        self._leader = family.kin_of(self._process.pid) or Kin(self._process.pid, started=-1)
        asyncio.get_running_loop().add_reader(self._main, self._read)

    async def _start_piped(self, command: Sequence[str], folder: str, env: Mapping[str, str]) -> None:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=dict(env),
            creationflags=_NEW_GROUP,
        )
        self._process = process

        async def read() -> None:
            while process.stdout is not None and (data := await process.stdout.read(READ_BYTES)):
                self._heard(data)

        self._reader = asyncio.create_task(read(), name="output of a command")

    # -- what it writes ----------------------------------------------------------------------------------------------

    def _read(self) -> bool:
        """Take what is there; False if nothing is."""
        try:
            data = os.read(self._main, READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            data = b""  # so Linux says that nobody holds the other side any more
        if not data:
            self._stop_reading()
            return False
        self._heard(data)
        return True

    def _stop_reading(self) -> None:
        if self._main >= 0:
            asyncio.get_running_loop().remove_reader(self._main)
            os.close(self._main)
            self._main = -1

    # -- how it ends -------------------------------------------------------------------------------------------------

    async def wait(self) -> int | None:
        """Wait until the command itself is gone and what it wrote was heard; its status, negative for a signal. None: nothing
        ends it, and `end` has given up."""
        if self._process is None:
            return 0
        gone = asyncio.ensure_future(self._process.wait())
        given_up = asyncio.ensure_future(self._given_up.wait())
        try:
            await asyncio.wait({gone, given_up}, return_when=asyncio.FIRST_COMPLETED)
            status = gone.result() if gone.done() else None
        finally:
            gone.cancel()
            given_up.cancel()
        for _ in range(_DRAIN_READS):
            if self._main < 0 or not self._read():
                break
            await asyncio.sleep(0)  # others have their turn while much is left
        return status

    async def end(self) -> None:
        """End it with everything that it started: asked first, then killed. Returns when all of it is gone, or cannot be ended;
        twice is harmless."""
        process = self._process
        if process is None:
            return
        if sys.platform == "win32":
            await self._end_tree(process)
            return
        known = await self._family()
        running = process.returncode is None
        if running:
            self._tell_group(process, signal.SIGTERM)
            await self._gone_within(process, TERMINATE_S)
            known |= await self._family()
        if process.returncode is None:
            self._tell_group(process, signal.SIGKILL)
            await self._gone_within(process, KILL_S)
        known |= await self._family()
        if known:
            await asyncio.to_thread(family.end, known, TERMINATE_S if not running else 0.0)
        if process.returncode is None:
            _log.warning("a command could not be ended")
            self._given_up.set()

    async def _gone_within(self, process: asyncio.subprocess.Process, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await process.wait()

    def _tell_group(self, process: asyncio.subprocess.Process, number: signal.Signals) -> None:
        if sys.platform != "win32" and process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)

    async def _family(self) -> frozenset[Kin]:
        return frozenset() if self._leader is None else await asyncio.to_thread(family.family, self._leader)

    async def _end_tree(self, process: asyncio.subprocess.Process) -> None:
        killer = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
        with contextlib.suppress(OSError):
            run = await asyncio.create_subprocess_exec(
                killer, "/T", "/F", "/PID", str(process.pid), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            await run.wait()
        await self._gone_within(process, KILL_S)
        if process.returncode is None:
            self._given_up.set()

    def close(self) -> None:
        """Hear no more of it."""
        self._stop_reading()
        if self._reader is not None:
            self._reader.cancel()
