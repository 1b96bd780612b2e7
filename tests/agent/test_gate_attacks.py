"""The gate against agents that do things at the wrong moment, and against commands that start while all are being ended."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

import pytest

from tests.agent.gate_stage import RecordingSink, Stage, ask, edit, run, tool
from vibekit_desktop.core.agent.guarded_turn import MOST_WAITING
from vibekit_desktop.core.agent.link import Denied
from vibekit_desktop.core.agent.pty_command import PtyCommand
from vibekit_desktop.core.types.agents import Answer
from vibekit_desktop.core.types.checkpoints import FileState
from vibekit_desktop.core.types.ids import WorkspacePath


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


class SlowLook:
    """A disk on which a look takes until it is let go."""

    def __init__(self, sink: RecordingSink, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.go_on = asyncio.Event(), asyncio.Event()
        look = sink.look

        async def slow(path: WorkspacePath) -> FileState:
            self.began.set()
            await self.go_on.wait()
            return await look(path)

        monkeypatch.setattr(sink, "look", slow)


Request = Callable[[Stage], Coroutine[object, object, object]]


@pytest.mark.parametrize(
    "request_of",
    [lambda stage: stage.gate.ask(edit("a.txt")), lambda stage: stage.gate.write("a.txt", "agent\n")],
    ids=["asks", "writes"],
)
@pytest.mark.parametrize("how", ["stopped", "over"])
def test_nobody_is_asked_about_a_turn_that_is_stopped_or_over(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, request_of: Request, how: str
) -> None:
    """The files are looked at while the turn is stopped: its question would stand there without end."""
    stage.file("a.txt")

    async def work() -> None:
        slow = SlowLook(stage.sink, monkeypatch)
        request = asyncio.create_task(request_of(stage))
        await slow.began.wait()
        if how == "stopped":
            stage.gate.cancel()
        else:
            await stage.gate.settle()
        slow.go_on.set()
        with suppress(Denied):
            assert await request is None

    stage.run(work)
    assert stage.asked == []
    assert stage.questions.open == ()


def test_a_held_write_is_not_asked_about_once_the_turn_is_stopped(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.file("a.txt")
    stage.sink.too_large.add("a.txt")
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> str | None:
        stage.sink.meanwhile = lambda path: stage.gate.cancel()
        return await stage.gate.ask(edit("a.txt"))

    assert stage.run(work) is None
    assert len(stage.asked) == 1


def test_commands_that_start_while_all_are_ended_are_ended_too(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    starting, go_on = asyncio.Event(), asyncio.Event()
    start = PtyCommand.start
    made: list[PtyCommand] = []

    async def slow(command: PtyCommand, *more: object) -> None:
        made.append(command)
        await start(command, *more)  # type: ignore[arg-type]  # handed on as they are
        starting.set()
        await go_on.wait()

    monkeypatch.setattr(PtyCommand, "start", slow)

    async def work() -> None:
        terminals = stage.terminals
        creating = asyncio.create_task(terminals.create("sleep 600", [], str(stage.root), [], None))
        await starting.wait()
        closing = asyncio.create_task(terminals.close())
        await asyncio.sleep(0)
        go_on.set()
        await closing
        terminal = await creating
        assert terminals.running() == ()
        with pytest.raises(Denied):
            await terminals.wait(terminal)
        (command,) = made
        async with asyncio.timeout(5):
            assert await command.wait() != 0

    stage.run(work)


def test_a_command_that_fails_to_start_while_all_are_ended_is_denied(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    starting, go_on = asyncio.Event(), asyncio.Event()

    async def fails(command: PtyCommand, *more: object) -> None:
        starting.set()
        await go_on.wait()
        raise OSError

    monkeypatch.setattr(PtyCommand, "start", fails)

    async def work() -> None:
        creating = asyncio.create_task(stage.terminals.create("true", [], str(stage.root), [], None))
        await starting.wait()
        closing = asyncio.create_task(stage.terminals.close())
        await asyncio.sleep(0)
        go_on.set()
        await closing
        with pytest.raises(Denied, match="cannot-start"):
            await creating

    stage.run(work)


def test_what_an_agent_tells_while_its_turn_is_settled_is_done_with_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a turn is still going on once it is settled."""
    stage.file("a.txt")
    stage.file("b.txt")
    ends = stage.sink.command_ends

    async def tells(tool_call_id: str) -> None:
        stage.gate.saw(tool("late", kind="edit", status="in_progress", at=["b.txt"]))
        stage.gate.saw(tool("later", kind="execute", status="in_progress", given=b'{"command": "x"}'))
        await ends(tool_call_id)

    monkeypatch.setattr(stage.sink, "command_ends", tells)
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> set[str]:
        await stage.gate.ask(run("ls"))
        await stage.gate.settle()
        told = len(stage.told)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(stage.told) == told
        return {task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()}

    assert not {name for name in stage.run(work) if "agent" in name}
    assert stage.told.count("begins later") == stage.told.count("ends later")


@pytest.mark.parametrize("kind", ["edit", "execute"])
def test_a_storm_of_calls_that_nobody_asked_about_does_not_hold_up_the_end_of_the_turn(stage: Stage, kind: str) -> None:
    """Each is a look at the disk and a line of the log; what is too much is found by the look at the turn's end."""
    stage.file("a.txt")

    async def work() -> None:
        for number in range(2000):
            command = b'{"command": "x"}' if kind == "execute" else None
            at = ["a.txt"] if kind == "edit" else None
            stage.gate.saw(tool(str(number), kind=kind, status="in_progress", at=at, given=command))

    stage.run(work)
    assert len(stage.told) <= 2 * MOST_WAITING
    assert sum(told.startswith("begins") for told in stage.told) == sum(told.startswith("ends") for told in stage.told)


def test_after_a_storm_the_next_calls_are_kept_again(stage: Stage) -> None:
    stage.file("a.txt")
    stage.file("b.txt")

    async def work() -> None:
        for number in range(500):
            stage.gate.saw(tool(str(number), kind="edit", status="in_progress", at=["a.txt"]))
        await stage.until(lambda: len(stage.told) >= MOST_WAITING)
        await asyncio.sleep(0)
        stage.gate.saw(tool("calm", kind="edit", status="in_progress", at=["b.txt"]))

    stage.run(work)
    assert "capture b.txt" in stage.told


def test_a_stop_does_not_wait_until_a_thousand_files_are_kept(stage: Stage) -> None:
    paths = [f"f{number}.txt" for number in range(1000)]
    for path in paths:
        stage.file(path)
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> str | None:
        asking = asyncio.create_task(stage.gate.ask(ask(tool(kind="edit", at=paths))))
        await stage.until(lambda: bool(stage.told))
        stage.gate.cancel()
        return await asking

    assert stage.run(work) is None
    assert len(stage.told) < 100


def test_a_call_that_names_a_thousand_files_unasked_does_not_hold_up_the_others(stage: Stage) -> None:
    for number in range(1000):
        stage.file(f"f{number}.txt")

    async def work() -> None:
        stage.gate.saw(tool(kind="edit", status="in_progress", at=[f"f{number}.txt" for number in range(1000)]))

    stage.run(work)
    assert 0 < len(stage.told) <= MOST_WAITING
