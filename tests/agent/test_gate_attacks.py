"""The gate against agents that do things at the wrong moment, and against commands that start while all are being ended."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

import pytest

from tests.agent.gate_stage import RecordingSink, Stage, edit, run, tool
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
