"""The messages between an agent's process and the SDK's connection: one JSON object a line, held in bounds.

What an agent says is handed on here, at once and in order, so that an answer or a request is never seen before what was said
before it; the connection gets requests and answers only, and only well-formed ones: what it cannot read it would write into the
log. The agent waits in its pipe while too much of it is being handled; the loop gets its turn whatever comes. Loop thread.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, assert_never

import msgspec

from vibekit_desktop.core.agent.acp_frames import Answered, Asked, Frame, Skipped, Told, read

_log = logging.getLogger(__name__)

STEP_S = 0.008
STEP_MESSAGES = 64
LARGE_BYTES = 128 << 10
"""A longer message is read in a thread."""
AHEAD_BYTES = 512 << 10
"""What is taken out of the pipe before it is read."""
_INVALID_PARAMS = -32602

Message = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of an agent is borne."""

    frame_bytes: int = 64 << 20
    junk_lines: int = 1000
    """Lines in a row that are no messages."""
    requests: int = 64
    """Requests of the agent that are handled at a time."""


LIMITS = Limits()


class Pipe(Protocol):
    """The streams of a process."""

    def write(self, data: bytes) -> None: ...

    async def drained(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...


class Wire:
    """A transport as the SDK wants it, and an `Output` of the process. Invariant: a line over the limit is never kept, and of
    others at most one and what the pipe gives at once.

    ``told`` is called with what the agent says; ``broke`` once, with ``flood`` or ``protocol``, when it is not to be borne."""

    def __init__(self, pipe: Pipe, told: Callable[[Told], None], broke: Callable[[str], None], limits: Limits) -> None:
        self._pipe, self._told, self._broke, self._limits = pipe, told, broke, limits
        self._waiting = bytearray()
        self._searched = 0
        self._wanted = False
        """The reader has nothing more to read."""
        self._news = asyncio.Event()
        self._ended = False
        self._requests = 0
        self._room = asyncio.Event()
        self._since = time.monotonic()
        self._messages = 0
        self._junk = 0
        self._junk_told = False

    # -- Output of the process ---------------------------------------------------------------------------------------

    def data(self, data: bytes) -> None:
        """More of what the agent wrote."""
        if self._ended:
            return
        self._waiting += data
        self._news.set()
        if not self._wanted and len(self._waiting) > AHEAD_BYTES:
            self._pipe.pause()

    def end(self) -> None:
        """It writes no more; what it wrote is still read."""
        self._ended = True
        self._news.set()
        self._room.set()

    # -- the SDK's transport -----------------------------------------------------------------------------------------

    async def send(self, message: Message) -> None:
        """Write a message, and wait if the agent does not read. One that nobody reads any more is dropped."""
        if "method" not in message:
            self._requests -= 1
            self._room.set()
            if isinstance(error := message.get("error"), dict) and error.get("code") == _INVALID_PARAMS:
                error.pop("data", None)  # the SDK would tell the agent what it sent
        self._pipe.write(_encoded(message) + b"\n")
        await self._pipe.drained()

    async def receive(self) -> Message | None:
        """The next request or answer; None when there are no more."""
        while True:
            await self._take_turn()
            line = await self._line()
            if line is None:
                return None
            frame = read(line) if len(line) < LARGE_BYTES else await asyncio.to_thread(read, line)
            self._messages += 1
            message = self._handle(frame)
            if message is not None:
                return message
            if self._junk >= self._limits.junk_lines:
                self._break("protocol")
                return None

    async def close(self) -> None:
        """Read no more."""
        self._stop()

    def _handle(self, frame: Frame) -> Message | None:
        if frame is not Skipped.NO_MESSAGE:
            self._junk = 0
        match frame:
            case Told():
                self._told(frame)
            case Asked() if self._ended:
                pass  # nobody is there for the answer, so nothing is done
            case Asked():
                self._requests += 1
                self._messages = STEP_MESSAGES  # it begins to be handled before anything else is read
                return {"id": frame.id, "method": frame.method, "params": frame.params}
            case Answered():
                self._messages = STEP_MESSAGES  # and who waits for it goes on first
                if frame.error is None:
                    return {"id": frame.id, "result": frame.result}
                code, words, data = frame.error
                return {"id": frame.id, "error": {"code": code, "message": words, "data": data}}
            case Skipped.NO_MESSAGE:
                self._junk += 1
                if not self._junk_told:
                    self._junk_told = True
                    _log.info("an agent writes lines that are no messages; they are skipped")
            case Skipped.NOT_OURS:
                pass
            case _:
                assert_never(frame)
        return None

    async def _take_turn(self) -> None:
        """Let others go on, if they have waited long enough; and wait while too much is asked at once."""
        if self._messages >= STEP_MESSAGES or time.monotonic() - self._since > STEP_S:
            await asyncio.sleep(0)
            self._begin_step()
        while self._requests >= self._limits.requests and not self._ended:
            self._room.clear()
            await self._room.wait()
            self._begin_step()

    def _begin_step(self) -> None:
        self._since, self._messages = time.monotonic(), 0

    async def _line(self) -> bytes | bytearray | None:
        line: bytes | bytearray
        while True:
            end = self._waiting.find(b"\n", self._searched)
            if end >= 0:
                line = self._taken(end)
                self._searched = 0
                if len(self._waiting) < AHEAD_BYTES:
                    self._pipe.resume()
                if line.strip():
                    return line
                continue
            self._searched = len(self._waiting)
            if self._searched > self._limits.frame_bytes:
                self._break("flood")
                return None
            if self._ended:
                line, self._waiting = self._waiting, bytearray()
                self._searched = 0
                return line if line.strip() else None
            self._wanted = True
            self._pipe.resume()
            self._news.clear()
            await self._news.wait()
            self._wanted = False
            self._begin_step()

    def _taken(self, end: int) -> bytes | bytearray:
        """The first line out of what waits; a long one is not copied, what is after it is little."""
        if end < LARGE_BYTES:
            line = bytes(memoryview(self._waiting)[:end])
            del self._waiting[: end + 1]
            return line
        long, self._waiting = self._waiting, self._waiting[end + 1 :]
        del long[end:]
        return long

    def _break(self, reason: str) -> None:
        self._stop()
        self._broke(reason)

    def _stop(self) -> None:
        self._waiting = bytearray()
        self._searched = 0
        self.end()
        self._pipe.resume()  # it is dropped, so that an agent that leaves is not held up by its last words


def _encoded(message: Message) -> bytes:
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:
        return json.dumps(message).encode("ascii")  # half a character, which only an escape can say
