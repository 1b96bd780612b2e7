"""Start, feed and end the worker process; cancel a job; survive its death.

One thread of ours talks to the process and blocks on it; the loop thread only waits for futures. The process is started by the
first job. If it dies under a job it is started again and the job tried once more; then the job fails with `WorkerDied`.
A cancelled job that has not begun is never sent; one that has begun is finished and its answer dropped.
"""

import asyncio
import contextlib
import itertools
import logging
import os
import queue
import site
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import BinaryIO

import msgspec

import vibekit_desktop
from vibekit_desktop.core.diff.document import DEFAULT, Limits
from vibekit_desktop.core.diff.merge import Parts
from vibekit_desktop.core.types.diffs import EXACT, Compare, DiffResult, StyleRuns
from vibekit_desktop.core.types.errors import BugError, WorkerDied
from vibekit_desktop.core.worker import jobs
from vibekit_desktop.core.worker.jobs import Answer, BuildJob, Failed, Forgotten, Job, Merged, MergeJob, MoreJob, Unfinished

_log = logging.getLogger(__name__)

JOB_LIMIT_S = 60.0
"""A job that takes longer is ended with its process."""
CLOSE_LIMIT_S = 2.0
_MOST_AGAIN = 3
"""How often a text is begun again that the worker has forgotten."""

_OTHER_ANSWER = "the worker gave an answer to another question"

_KEPT = ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")


def command() -> list[str]:
    """Our own program as a worker: the frozen executable, or this interpreter."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--worker"]
    # -P: whatever lies in the current folder is not ours.
    return [os.path.abspath(sys.executable), "-P", "-m", "vibekit_desktop", "--worker"]


def environment() -> dict[str, str]:
    """Ours, without what could make Python run other code or wait for a terminal; it finds the package where we found it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON") or name in _KEPT}
    if getattr(sys, "frozen", False):
        return env
    found = Path(vibekit_desktop.__file__).resolve().parents[1]
    if not any(found == Path(folder).resolve() for folder in (*site.getsitepackages(), site.getusersitepackages())):
        env["PYTHONPATH"] = str(found)
    return env


class _Task:
    """One job and the future its caller waits for."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.future: Future[Answer] = Future()


class WorkerPool:
    """One worker process behind a queue. Invariant: one job is with the process at a time, so an answer is that job's."""

    def __init__(self, *, argv: Sequence[str] | None = None, job_limit_s: float = JOB_LIMIT_S) -> None:
        self._argv = list(argv) if argv is not None else command()
        self._job_limit_s = job_limit_s
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._guard = threading.Lock()  # over the fields below
        self._process: subprocess.Popen[bytes] | None = None
        self._busy = False
        self._closed = False
        self._numbers = itertools.count(1)

    @property
    def pid(self) -> int | None:
        """The process's id while there is one."""
        with self._guard:
            return self._process.pid if self._process else None

    async def lex(self, path: str, text: str) -> StyleRuns | None:
        """`highlight.lex.lex` in the worker, in slices between which other jobs have their turn; nobody waiting any more ends
        it. A lexer that fails on a text leaves it plain: it is nobody's data."""
        number = next(self._numbers)
        job = await asyncio.to_thread(jobs.lex_job, path, text, number)
        answer = await self._ask(job)
        begun_again = 0
        while isinstance(answer, Unfinished | Forgotten):
            lost = isinstance(answer, Forgotten)
            begun_again += lost
            if begun_again > _MOST_AGAIN:
                return None
            answer = await self._ask(job if lost else MoreJob(number))
        if isinstance(answer, Failed):
            _log.info("no colours: %s at %s", answer.kind, " ".join(answer.places))
        return jobs.colours(answer)

    async def build(
        self,
        old: bytes | None,
        new: bytes | None,
        *,
        old_mode: int | None = None,
        new_mode: int | None = None,
        how: Compare = EXACT,
        limits: Limits = DEFAULT,
    ) -> DiffResult:
        """`diff.document.build` in the worker."""
        job = BuildJob(old=old, new=new, old_mode=old_mode, new_mode=new_mode, compare=how, limits=limits)
        answer = await self._answered(job)
        result = await asyncio.to_thread(jobs.diff, job, answer)
        if result is None:
            raise BugError(_OTHER_ANSWER)
        return result

    async def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Parts | None:
        """`diff.merge.compare` in the worker."""
        answer = await self._answered(MergeJob(base=base, ours=ours, theirs=theirs))
        if not isinstance(answer, Merged):
            raise BugError(_OTHER_ANSWER)
        return answer.found

    async def _answered(self, job: Job) -> Answer:
        answer = await self._ask(job)
        if isinstance(answer, Failed):
            raise BugError(f"a job failed in the worker: {answer.kind} at {' '.join(answer.places)}")
        return answer

    async def close(self) -> None:
        """End the process; jobs not done by then fail with `WorkerDied`. Closing twice is harmless."""
        with self._guard:
            first, self._closed = not self._closed, True
            process, busy = self._process, self._busy
        if first:
            self._tasks.put(None)
        await asyncio.to_thread(self._end, process, busy=busy)

    async def _ask(self, job: Job) -> Answer:
        task = _Task(job)
        with self._guard:
            if self._closed:
                raise WorkerDied("closed")
            self._tasks.put(task)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="worker process", daemon=True)
                self._thread.start()
        return await asyncio.wrap_future(task.future)

    # --- on the thread ---

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if not task.future.set_running_or_notify_cancel():
                continue
            try:
                task.future.set_result(self._do(task.job))
            except Exception as error:
                # Whatever it is, it belongs to the one who waits; without this the caller would wait for ever.
                task.future.set_exception(error)
            del task  # its contents may be large, and the next job may be long in coming

    def _do(self, job: Job) -> Answer:
        for _ in range(2):
            process = self._started()
            expired = threading.Event()
            timer = threading.Timer(self._job_limit_s, _expire, (process, expired))
            timer.daemon = True
            timer.start()
            try:
                source, target = _pipes(process)
                jobs.send(source, job)
                return jobs.receive_answer(target)
            except (OSError, ValueError, jobs.EndOfInput, msgspec.MsgspecError):
                self._forget(process)
            finally:
                timer.cancel()
                with self._guard:
                    self._busy = False
            if expired.is_set():
                raise WorkerDied("too-slow")
        raise WorkerDied("died")

    def _started(self) -> subprocess.Popen[bytes]:
        with self._guard:
            if self._closed:
                raise WorkerDied("closed")
            if self._process is None:
                try:
                    self._process = subprocess.Popen(
                        self._argv,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        env=environment(),
                        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                    )
                except OSError as error:
                    raise WorkerDied("cannot-start") from error
            self._busy = True
            return self._process

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        with self._guard:
            if self._process is process:
                self._process = None
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _end(self, process: subprocess.Popen[bytes] | None, *, busy: bool) -> None:
        """Let it end by itself, and make sure."""
        if process is not None and process.stdin is not None:
            if busy:
                process.kill()  # the thread has the pipes
            else:
                with contextlib.suppress(OSError):
                    process.stdin.close()
        if self._thread is not None:
            self._thread.join(CLOSE_LIMIT_S / 2)
        if process is None:
            return
        try:
            process.wait(CLOSE_LIMIT_S / 2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[BinaryIO, BinaryIO]:
    if process.stdin is None or process.stdout is None:
        raise OSError("no pipes")
    return process.stdin, process.stdout  # type: ignore[return-value]  # IO[bytes] of a pipe is a BinaryIO


def _expire(process: subprocess.Popen[bytes], expired: threading.Event) -> None:
    expired.set()
    process.kill()
