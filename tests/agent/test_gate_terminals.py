"""Commands in terminals of ours: only what was allowed is started, and the workspace is looked at around it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.agent.gate_stage import Stage, run, tool
from tests.agent.test_gate_files import code_of
from vibekit_desktop.core.agent.link import Denied, TerminalExit
from vibekit_desktop.core.types.agents import Answer, Headless, Operation, Why


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def start(stage: Stage, command: str, args: Sequence[str] = (), folder: str | None = None) -> str:
    return await stage.gate.create_terminal(command, args, folder, [], None)


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("echo hi > made.txt", []),
        ("/bin/sh", ["-c", "echo hi > made.txt"]),
        ("bash", ["-lc", "echo hi > made.txt"]),
    ],
)
def test_a_command_that_was_allowed_is_started_without_a_second_question(stage: Stage, command: str, args: list[str]) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> None:
        assert await stage.gate.ask(run("echo hi > made.txt")) == "yes"
        terminal = await start(stage, command, args)
        assert await stage.gate.wait_for_exit(terminal) == TerminalExit(0, None)
        assert stage.told == ["begins c1", "ends c1"]
        await stage.gate.release_terminal(terminal)
        stage.gate.saw(tool(status="completed"))

    stage.run(work)
    assert (stage.root / "made.txt").read_text() == "hi\n"
    assert stage.told == ["begins c1", "ends c1"]
    assert len(stage.asked) == 1


def test_a_command_of_a_grant_is_started_once(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]

    async def work() -> str:
        await stage.gate.ask(run("true"))
        await stage.gate.wait_for_exit(await start(stage, "true"))
        return await code_of(start(stage, "true"))

    assert stage.run(work) == "denied"
    assert stage.asked[1].why == (Why.NOT_ANNOUNCED,)


@pytest.mark.parametrize(
    ("command", "args", "folder"),
    [("touch evil", [], None), ("true", ["x"], None), ("/bin/sh", ["-c", "true; touch evil"], None), ("true", [], "sub")],
)
def test_another_command_than_the_one_allowed_is_asked_about(
    stage: Stage, command: str, args: list[str], folder: str | None
) -> None:
    (stage.root / "sub").mkdir()
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]

    async def work() -> str:
        await stage.gate.ask(run("true"))
        return await code_of(start(stage, command, args, folder))

    assert stage.run(work) == "denied"
    assert stage.asked[1].why == (Why.OTHER_CONTENT,)
    assert stage.asked[1].operation is Operation.RUN
    assert not (stage.root / "evil").exists()


def test_a_command_that_nobody_announced_is_asked_about_and_looked_around(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> str:
        stage.gate.saw(tool("c7", kind="execute", title="ls", status="pending"))
        terminal = await start(stage, "pwd")
        await stage.gate.wait_for_exit(terminal)
        return (await stage.gate.terminal_output(terminal)).text

    assert stage.run(work) == f"{stage.root}\n"
    assert (stage.asked[0].subject, stage.asked[0].why, stage.asked[0].tool_call_id) == ("pwd", (Why.NOT_ANNOUNCED,), "c7")
    assert stage.told == ["begins c7", "ends c7"]
    assert stage.given == [("run pwd", "allowed")]


def test_a_rule_for_the_command_answers_also_here(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_COMMAND]

    async def work() -> None:
        await stage.gate.ask(run("true"))
        for _ in range(3):
            await stage.gate.wait_for_exit(await start(stage, "/bin/sh", ["-c", "true"]))

    stage.run(work)
    assert len(stage.asked) == 1


def test_a_folder_outside_is_asked_about_and_our_own_is_refused(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> str:
        terminal = await start(stage, "pwd", folder=str(stage.home))
        await stage.gate.wait_for_exit(terminal)
        assert (await stage.gate.terminal_output(terminal)).text == f"{stage.home}\n"
        return await code_of(start(stage, "ls", folder=str(stage.store)))

    assert stage.run(work) == "refused"
    assert stage.asked[0].why == (Why.OUTSIDE, Why.NOT_ANNOUNCED)
    assert stage.given[1] == (f"run ls: it is our own data ({stage.store})", "refused")


def test_a_command_that_cannot_be_started_is_not_left_running(stage: Stage) -> None:
    stage.headless = Headless.ALL

    async def work() -> list[str]:
        return [
            await code_of(start(stage, "no-such-program", ["x"])),
            await code_of(start(stage, "ls", folder=str(stage.root / "missing"))),
        ]

    assert stage.run(work) == ["cannot-start", "cannot-start"]
    assert stage.told == ["begins command-1", "ends command-1", "begins command-2", "ends command-2"]


def test_one_command_is_stopped_and_the_other_goes_on(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE] * 2

    async def work() -> None:
        await stage.gate.ask(run("sleep 600", "1"))
        await stage.gate.ask(run("sleep 601", "2"))
        one, other = await start(stage, "sleep 600"), await start(stage, "sleep 601")
        assert set(stage.gate.running_commands) == {"1", "2"}
        await stage.gate.stop_command("1")
        assert (await stage.gate.wait_for_exit(one)).signal == "SIGTERM"
        assert stage.gate.running_commands == ("2",)
        assert (await stage.gate.terminal_output(other)).exit is None
        await stage.gate.stop_command("nobody's")
        assert stage.told == ["begins 1", "begins 2", "ends 1"]

    stage.run(work)
    assert stage.told == ["begins 1", "begins 2", "ends 1", "ends 2"]
    assert stage.gate.running_commands == ()


def test_the_end_of_a_turn_ends_what_still_runs(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> str:
        await stage.gate.ask(run("sleep 600"))
        return await start(stage, "sleep 600")

    terminal = stage.run(work)
    assert stage.told == ["begins c1", "ends c1"]
    assert stage.terminals.running() == ()
    with pytest.raises(Denied):
        stage.terminals.output(terminal)


def test_a_stopped_turn_starts_no_command_but_those_that_run_can_be_ended(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> None:
        await stage.gate.ask(run("sleep 600"))
        terminal = await start(stage, "sleep 600")
        stage.gate.cancel()
        assert await code_of(start(stage, "true")) == "stopped"
        await stage.gate.kill_terminal(terminal)
        assert (await stage.gate.wait_for_exit(terminal)).signal == "SIGTERM"
        await stage.gate.release_terminal(terminal)

    stage.run(work)


def test_what_a_command_changed_is_looked_for_before_its_agent_hears_of_the_end(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> None:
        await stage.gate.ask(run("true"))
        await stage.gate.wait_for_exit(await start(stage, "true"))
        assert stage.told == ["begins c1", "ends c1"]

    stage.run(work)
