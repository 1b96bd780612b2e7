"""The three streams of a call, whatever they are: output to a poor terminal or to none, input that is content or is not.

Text for people loses what the terminal cannot show; objects for programs are UTF-8 everywhere (command-line.md).
"""

import asyncio
import contextlib
import io
import os
import stat
import sys
import threading

CONTENT_BYTES = 64 << 20
_PIECE_BYTES = 1 << 16


class ContentTooLarge(Exception):
    """More came on standard input than one file may have."""


def given_content(limit: int = CONTENT_BYTES) -> bytes | None:
    """What is on standard input: a pipe, socket or file, even an empty one, is content. A terminal, the null device and a
    closed stream are none: nobody said what will be written. `ContentTooLarge` above ``limit``."""
    stream = sys.stdin
    if stream is None:  # the process was started without one; the number 0 may be anything by now
        return None
    try:
        kind = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):
        return None
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or stat.S_ISREG(kind)):
        return None
    data = stream.buffer.read(limit + 1)
    if len(data) > limit:
        raise ContentTooLarge
    return data


async def all_of_input(limit: int = CONTENT_BYTES) -> bytes:
    """Whatever is on standard input, to its end, also of a terminal; `ContentTooLarge` above ``limit``. Who does not wait any
    longer leaves the reading alone: nothing ends it, and nobody waits for its thread."""
    buffered = None if sys.stdin is None else sys.stdin.buffer
    if not isinstance(buffered, io.BufferedReader | io.BufferedRandom):
        return b""
    raw = buffered.raw  # not the stream itself: when the interpreter ends it would wait for that one's lock
    loop = asyncio.get_running_loop()
    found: asyncio.Future[bytes] = loop.create_future()

    def given(data: bytes) -> None:
        if not found.done():
            found.set_result(data)

    def read() -> None:
        data = bytearray()
        with contextlib.suppress(OSError, ValueError):
            while len(data) <= limit and (piece := raw.read(_PIECE_BYTES)):
                data += piece
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(given, bytes(data))

    threading.Thread(target=read, name="read standard input", daemon=True).start()
    data = await found
    if len(data) > limit:
        raise ContentTooLarge
    return data


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace")


def prepare(*, as_json: bool) -> None:
    """Before anything is printed: no character makes printing fail, and without a stream what is printed is lost."""
    sys.stdout = sys.stdout or _nowhere()  # both are None where a process was started without them
    sys.stderr = sys.stderr or _nowhere()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8" if as_json else None, errors="replace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


def give_up_output() -> None:
    """After a failed write: what is still waiting would only fail again when the process ends."""
    sys.stdout = _nowhere()
