"""The jobs by name, and how their arguments travel: msgpack messages, each with its length before it.

The worker process runs `serve`: read a job, do it, answer, until the input ends. It never imports Qt, and it never raises for
ordinary data; an unexpected error is answered as `Failed`.
"""

import contextlib
import gc
import io
import math
import os
import queue
import signal
import struct
import threading
import time
import traceback
from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from vibekit_desktop.core.diff import merge
from vibekit_desktop.core.diff.document import Comparison, Limits, assemble, compare
from vibekit_desktop.core.diff.merge import Parts
from vibekit_desktop.core.types.diffs import BinaryPair, Compare, DiffResult, Identical, StyleRuns, TooLarge

if TYPE_CHECKING:
    from vibekit_desktop.core.highlight.lex import Lexing

SLICE_S = 0.15
"""How long a text is coloured before the next job has its turn."""
MOST_BEGUN = 4

_LENGTH = struct.Struct(">I")


class LexJob(msgspec.Struct, frozen=True, kw_only=True, tag="lex"):
    """Colour a text: its lines, joined by newlines. A text that takes longer than a slice goes on with jobs of its ``number``;
    0 is done in one go."""

    path: str
    text: str
    number: int = 0


class MoreJob(msgspec.Struct, frozen=True, tag="more"):
    """Go on with a text that was not finished."""

    number: int


class BuildJob(msgspec.Struct, frozen=True, kw_only=True, tag="build"):
    """Compare two contents."""

    old: bytes | None
    new: bytes | None
    old_mode: int | None
    new_mode: int | None
    compare: Compare
    limits: Limits


class MergeJob(msgspec.Struct, frozen=True, kw_only=True, tag="merge"):
    """Lay three contents side by side."""

    base: bytes
    ours: bytes
    theirs: bytes


Job = LexJob | MoreJob | BuildJob | MergeJob


class Colours(msgspec.Struct, frozen=True, kw_only=True, tag="colours"):
    """`StyleRuns` with its numbers packed, in this machine's order."""

    offsets: bytes
    starts: bytes
    kinds: bytes


class Unfinished(msgspec.Struct, frozen=True, tag="unfinished"):
    """The text takes longer than other jobs should wait: the rest needs another job."""


class Forgotten(msgspec.Struct, frozen=True, tag="forgotten"):
    """This process has not begun the text, or has begun too many others since."""


class Plain(msgspec.Struct, frozen=True, tag="plain"):
    """No colours for this text."""


class Compared(msgspec.Struct, frozen=True, tag="compared"):
    """A comparison; the texts are not sent back, the caller has them."""

    found: Comparison


class Same(msgspec.Struct, frozen=True, tag="same"):
    """Equal bytes."""

    found: Identical


class Binary(msgspec.Struct, frozen=True, tag="binary"):
    """Not two texts."""

    found: BinaryPair


class Large(msgspec.Struct, frozen=True, tag="large"):
    """Over the limits."""

    found: TooLarge


class Merged(msgspec.Struct, frozen=True, tag="merged"):
    """Three texts side by side; they are not sent back. None: they cannot be merged by lines."""

    found: Parts | None


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The job raised: the error's class, and where. No values: they may be the user's content."""

    kind: str
    places: tuple[str, ...]


Answer = Colours | Unfinished | Forgotten | Plain | Compared | Same | Binary | Large | Merged | Failed

_job_encoder = msgspec.msgpack.Encoder()
_job_decoder = msgspec.msgpack.Decoder(Job)
_answer_decoder = msgspec.msgpack.Decoder(Answer)


class EndOfInput(Exception):
    """The other side is gone."""


def send(stream: BinaryIO, message: Job | Answer) -> None:
    """Write one message and flush it."""
    data = _job_encoder.encode(message)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> bytes:
    """The next message's bytes; `EndOfInput` if there is none, or only a part of one."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EndOfInput
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EndOfInput
    return data


def receive_answer(stream: BinaryIO) -> Answer:
    """The next message as an answer."""
    return _answer_decoder.decode(receive(stream))


def lex_job(path: str, text: str, number: int = 0) -> LexJob:
    """Colour a text of the file called ``path``. Characters that cannot be sent are replaced one for one."""
    return LexJob(path=_sendable(path), text=_sendable(text), number=number)


def _sendable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def colours(answer: Answer) -> StyleRuns | None:
    """What a `LexJob` found."""
    if not isinstance(answer, Colours):
        return None
    return StyleRuns(offsets=array("I", answer.offsets), starts=array("I", answer.starts), kinds=answer.kinds)


def diff(job: BuildJob, answer: Answer) -> DiffResult | None:
    """What a `BuildJob` found, put together with its texts; None if this is no answer to one."""
    match answer:
        case Compared(found):
            return assemble(job.old, job.new, found)
        case Same(identical):
            return identical
        case Binary(pair):
            return pair
        case Large(large):
            return large
        case _:
            return None


Begun = OrderedDict[int, "Lexing"]
"""Texts that are not finished, by their number."""


def do(job: Job, begun: Begun) -> Answer:
    """Do one job here and now."""
    try:
        match job:
            case LexJob():
                return _lex(job, begun)
            case MoreJob(number):
                return _go_on(number, begun)
            case BuildJob():
                return _build(job)
            case MergeJob():
                return Merged(merge.compare(job.base, job.ours, job.theirs))
    except Exception as error:
        # The one place that may catch everything in the worker: the next job must not suffer from this one.
        frames = traceback.extract_tb(error.__traceback__)
        return Failed(type(error).__name__, tuple(f"{frame.name}:{frame.lineno}" for frame in frames))


def _lex(job: LexJob, begun: Begun) -> Answer:
    # Imported by the first job that needs it: the lexers take a while.
    from vibekit_desktop.core.highlight.lex import Lexing

    lexing = Lexing(job.path, job.text)
    if not job.number:
        lexing.go_on(math.inf)
        return _coloured(lexing)
    begun[job.number] = lexing
    while len(begun) > MOST_BEGUN:
        begun.popitem(last=False)
    return _go_on(job.number, begun)


def _go_on(number: int, begun: Begun) -> Answer:
    lexing = begun.pop(number, None)
    if lexing is None:
        return Forgotten()
    lexing.go_on(time.monotonic() + SLICE_S)
    if lexing.done:
        return _coloured(lexing)
    begun[number] = lexing
    return Unfinished()


def _coloured(lexing: "Lexing") -> Answer:
    runs = lexing.runs
    if runs is None:
        return Plain()
    return Colours(
        offsets=array("I", runs.offsets).tobytes(), starts=array("I", runs.starts).tobytes(), kinds=bytes(runs.kinds)
    )


def _build(job: BuildJob) -> Answer:
    found = compare(
        job.old,
        job.new,
        old_mode=job.old_mode,
        new_mode=job.new_mode,
        how=job.compare,
        limits=job.limits,
    )
    match found:
        case Comparison():
            return Compared(found)
        case Identical():
            return Same(found)
        case BinaryPair():
            return Binary(found)
        case TooLarge():
            return Large(found)


def serve() -> int:
    """Be the worker process: jobs from standard input, answers to standard output, until the input ends."""
    # The terminal's interrupt reaches the whole group; ending is the parent's decision, told by the end of the input.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get between the answers.
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    os.close(quiet)
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(source, jobs), daemon=True).start()
    # What was imported stays: looking through it for garbage costs a large diff a fifth of its time.
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
    begun: Begun = OrderedDict()
    while True:
        answer = do(jobs.get(), begun)
        try:
            send(target, answer)
        except (BrokenPipeError, io.UnsupportedOperation):
            return 0


def _read_jobs(source: BinaryIO, jobs: "queue.SimpleQueue[Job]") -> None:
    """Its own thread, so that the end of the input ends a worker that is in the middle of a long job."""
    while True:
        try:
            job = _job_decoder.decode(receive(source))
        except (EndOfInput, OSError, msgspec.MsgspecError):
            os._exit(0)
        jobs.put(job)
