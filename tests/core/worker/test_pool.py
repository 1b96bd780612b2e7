"""The worker process: its answers, its death, its end."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from vibekit_desktop.core.diff.document import Limits, build
from vibekit_desktop.core.highlight.lex import lex
from vibekit_desktop.core.types.diffs import Compare, Ignore
from vibekit_desktop.core.types.errors import BugError, WorkerDied
from vibekit_desktop.core.worker import pool as module
from vibekit_desktop.core.worker.pool import WorkerPool

OLD = b"import os\n\n\ndef load(path):\n    return os.stat(path)\n"
NEW = b"import os\n\n\ndef load(path):\n    return os.lstat(path)\n\n\nload('.')\n"


def with_pool(
    story: Callable[[WorkerPool], Coroutine[None, None, None]], argv: list[str] | None = None, job_limit_s: float = 60.0
) -> None:
    async def run() -> None:
        pool = WorkerPool(argv=argv, job_limit_s=job_limit_s)
        try:
            await story(pool)
        finally:
            await pool.close()

    asyncio.run(run())


def script(tmp_path: Path, text: str) -> list[str]:
    """A worker that behaves as told: ``text`` runs first, then the real one."""
    path = tmp_path / "worker.py"
    path.write_text(
        f"import os, sys\nhere = {str(tmp_path)!r}\n{text}\n"
        "from vibekit_desktop.core.worker.jobs import serve\nsys.exit(serve())\n"
    )
    return [sys.executable, str(path)]


# Dies at its first start after it has got a whole job; works at the second.
DIES_ONCE = """
if not os.path.exists(here + "/died"):
    open(here + "/died", "w").close()
    sys.stdin.buffer.read(20)
    os._exit(9)
"""
DIES_ALWAYS = "sys.stdin.buffer.read(20)\nos._exit(9)\n"


def test_the_answers_are_those_of_the_functions_themselves() -> None:
    async def story(pool: WorkerPool) -> None:
        assert pool.pid is None
        assert await pool.build(OLD, NEW) == build(OLD, NEW)
        assert pool.pid is not None
        assert await pool.build(OLD, OLD, old_mode=0o644, new_mode=0o755) == build(OLD, OLD, old_mode=0o644, new_mode=0o755)
        assert await pool.build(None, b"\0") == build(None, b"\0")
        assert await pool.build(None, None) == build(None, None)
        assert await pool.build(OLD, NEW, limits=Limits(lines=2)) == build(OLD, NEW, limits=Limits(lines=2))
        crlf = OLD.replace(b"\n", b"\r\n")
        assert await pool.build(OLD, crlf, how=Compare(Ignore.ALL)) == build(OLD, crlf, how=Compare(Ignore.ALL))
        lines = NEW.decode().split("\n")
        assert await pool.lex("a.py", "\n".join(lines)) == lex("a.py", lines)
        assert await pool.lex("a.txt", "\n".join(lines)) is None
        assert await pool.lex("a.py", "x = '\udcff'") == lex("a.py", ["x = '?'"])

    with_pool(story)


def test_many_jobs_at_once_get_each_its_own_answer() -> None:
    async def story(pool: WorkerPool) -> None:
        texts = [b"line %d\n" % number for number in range(30)]
        found = await asyncio.gather(*(pool.build(b"", text) for text in texts))
        assert found == [build(b"", text) for text in texts]

    with_pool(story)


def test_a_worker_that_dies_under_a_job_is_started_again_and_the_job_done(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        assert await pool.build(OLD, NEW) == build(OLD, NEW)
        assert (tmp_path / "died").exists()

    with_pool(story, script(tmp_path, DIES_ONCE))


def test_a_worker_that_always_dies_is_a_clear_error_and_the_pool_lives_on(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        for _ in range(2):
            with pytest.raises(WorkerDied) as caught:
                await pool.build(OLD, NEW)
            assert caught.value.reason == "died"

    with_pool(story, script(tmp_path, DIES_ALWAYS))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_worker_killed_between_jobs_is_not_noticed_by_the_next() -> None:
    async def story(pool: WorkerPool) -> None:
        await pool.build(OLD, NEW)
        first = pool.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert await pool.build(OLD, NEW) == build(OLD, NEW)
        assert pool.pid not in (None, first)

    with_pool(story)


def test_a_job_over_its_time_ends_with_its_process(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        with pytest.raises(WorkerDied) as caught:
            await pool.build(OLD, NEW)
        assert caught.value.reason == "too-slow"

    # Waits on its own input for ever: the pool keeps that open.
    with_pool(story, script(tmp_path, "sys.stdin.buffer.read(10**9)\n"), job_limit_s=0.3)


def test_a_program_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        with pytest.raises(WorkerDied) as caught:
            await pool.build(OLD, NEW)
        assert caught.value.reason == "cannot-start"

    with_pool(story, [str(tmp_path / "nothing")])


def test_a_cancelled_job_leaves_the_others_alone() -> None:
    async def story(pool: WorkerPool) -> None:
        tasks = [asyncio.ensure_future(pool.build(b"", b"%d\n" % number)) for number in range(5)]
        await asyncio.sleep(0)
        for task in tasks[:4]:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in ended[:4])
        assert ended[4] == build(b"", b"4\n")

    with_pool(story)


def test_a_closed_pool_leaves_no_process_and_takes_no_jobs() -> None:
    async def story(pool: WorkerPool) -> None:
        await pool.build(OLD, NEW)
        pid = pool.pid
        assert pid is not None
        await pool.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        with pytest.raises(WorkerDied):
            await pool.build(OLD, NEW)
        await pool.close()

    with_pool(story)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_closing_ends_a_job_that_is_running(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        job = asyncio.ensure_future(pool.build(OLD, NEW))
        await asyncio.to_thread((tmp_path / "started").read_bytes)
        await pool.close()
        with pytest.raises(WorkerDied) as caught:
            await job
        assert caught.value.reason == "closed"

    os.mkfifo(tmp_path / "started")
    with_pool(story, script(tmp_path, "open(here + '/started', 'w').close()\nsys.stdin.buffer.read(10**9)\n"))


def test_closing_a_pool_that_was_never_used_does_nothing() -> None:
    async def story(pool: WorkerPool) -> None:
        assert pool.pid is None

    with_pool(story)


def test_the_worker_ends_at_the_end_of_its_input_and_never_loads_qt(tmp_path: Path) -> None:
    environment = module.environment() | {"PYTHONVERBOSE": ""}
    run = subprocess.run(module.command(), input=b"", env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    listing = "import sys, vibekit_desktop.core.worker.jobs; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-P", "-c", listing], env=environment, capture_output=True, check=True)
    loaded = {name.partition(b".")[0] for name in run.stdout.split()}
    assert not loaded & {b"PySide6", b"shiboken6", b"qasync"}


def test_nothing_in_the_current_folder_can_pose_as_our_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vibekit_desktop", "msgspec", "pygments"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    async def story(pool: WorkerPool) -> None:
        assert await pool.build(OLD, NEW) == build(OLD, NEW)

    with_pool(story)


def test_a_job_that_raises_is_our_fault_and_the_worker_goes_on(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        for _ in range(2):
            with pytest.raises(BugError, match="TypeError at do:"):
                await pool.build(OLD, NEW)
        assert await pool.lex("a.py", "x") is not None

    with_pool(story, script(tmp_path, "import vibekit_desktop.core.worker.jobs as jobs\njobs._build = None\n"))


def test_an_answer_to_another_question_is_our_fault(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        with pytest.raises(BugError):
            await pool.build(OLD, NEW)

    with_pool(story, script(tmp_path, "import vibekit_desktop.core.worker.jobs as jobs\njobs.do = lambda *_: jobs.Plain()\n"))


def test_a_lexer_that_fails_leaves_the_text_plain(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        assert await pool.lex("a.py", "x") is None
        assert await pool.build(OLD, NEW) == build(OLD, NEW)

    with_pool(story, script(tmp_path, "import vibekit_desktop.core.worker.jobs as jobs\njobs._lex = None\n"))


def test_a_frozen_program_is_its_own_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert module.command() == [sys.executable, "--worker"]
    assert "PYTHONPATH" not in module.environment()


def test_a_long_text_is_coloured_in_slices_between_which_others_have_their_turn(tmp_path: Path) -> None:
    text = NEW.decode() * 300

    async def story(pool: WorkerPool) -> None:
        done: list[str] = []

        async def colour() -> None:
            assert await pool.lex("a.py", text) == lex("a.py", text.split("\n"))
            done.append("colours")

        async def compare() -> None:
            assert await pool.build(OLD, NEW) == build(OLD, NEW)
            done.append("diff")

        await asyncio.gather(colour(), compare())
        assert done == ["diff", "colours"]

    with_pool(story, script(tmp_path, "import vibekit_desktop.core.worker.jobs as jobs\njobs.SLICE_S = 0.001\n"))


def test_a_text_that_the_worker_always_forgets_stays_plain(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        assert await pool.lex("a.py", NEW.decode()) is None

    with_pool(story, script(tmp_path, "import vibekit_desktop.core.worker.jobs as jobs\njobs.MOST_BEGUN = 0\n"))


def test_a_text_that_nobody_waits_for_is_not_gone_on_with(tmp_path: Path) -> None:
    async def story(pool: WorkerPool) -> None:
        task = asyncio.ensure_future(pool.lex("a.py", NEW.decode() * 300))
        await pool.build(OLD, NEW)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await pool.build(OLD, NEW) == build(OLD, NEW)

    with_pool(story, script(tmp_path, "import vibekit_desktop.core.worker.jobs as jobs\njobs.SLICE_S = 0.001\n"))
