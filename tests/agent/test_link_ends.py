"""However an agent ends or does not answer, every request ends with the reason, and nothing that it started is left."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.agent.linked import SOON, Host, linked, lives, until
from vibekit_desktop.core.agent.acp_link import AcpLink, Patience
from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.agent.link import Ended, TextPart
from vibekit_desktop.core.types.agent_errors import AgentFailed
from vibekit_desktop.core.types.agents import StopReason
from vibekit_desktop.core.types.errors import BugError


def pids(path: Path, count: int = 1) -> list[int]:
    text = path.read_text("ascii") if path.exists() else ""
    return [int(line) for line in text.split("\n")[:-1]] if text.count("\n") >= count else []


async def test_a_program_that_is_not_there_fails_at_the_start(tmp_path: Path) -> None:
    async with linked(tmp_path, {}, run=(str(tmp_path / "no such agent"),)) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.link.open()
        assert (failed.value.step, failed.value.reason) == ("start", "No such file or directory")
        assert await agent.link.ended() == Ended(reason="start")
        with pytest.raises(AgentFailed):
            await agent.link.new_session(str(agent.folder))


async def test_a_program_that_cannot_be_run_fails_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("text", "utf-8")
    for command in ((str(tmp_path / "agent"),), (sys.executable, "a\0b")):
        async with linked(tmp_path, {}, run=command) as agent:
            with pytest.raises(AgentFailed) as failed:
                await agent.link.open()
            assert failed.value.step == "start"


async def test_a_folder_that_is_not_there_fails_at_the_start(tmp_path: Path) -> None:
    link = AcpLink(Launch(name="S", command=(sys.executable,), folder=str(tmp_path / "none"), env={}), Host())
    with pytest.raises(AgentFailed):
        await link.open()
    assert (await link.close()).reason == "start"


async def test_a_program_that_ends_at_once_fails_the_handshake_with_its_words(either_loop: object, tmp_path: Path) -> None:
    async with linked(tmp_path, {"start": [{"stderr": "no licence found"}, {"crash": 7}]}) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.link.open()
        assert (failed.value.step, failed.value.reason, failed.value.status) == ("handshake", "exit", 7)
        assert failed.value.said == "no licence found"
        assert await agent.link.ended() == Ended(reason="exit", status=7, said="no licence found")


async def test_a_program_that_speaks_something_else_fails_the_handshake(tmp_path: Path) -> None:
    async with linked(tmp_path, {}, run=("/bin/sh", "-c", "echo usage: me; exit 1")) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.link.open()
        assert (failed.value.reason, failed.value.status) == ("exit", 1)


@pytest.mark.parametrize("version", [2, "1", None, True, 1.5])
async def test_another_version_of_the_protocol_fails_the_handshake(version: object, tmp_path: Path) -> None:
    async with linked(tmp_path, {"protocol": version}) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.link.open()
        assert (failed.value.step, failed.value.reason) == ("handshake", "version" if version == 2 else "not-acp")
        assert (await agent.link.ended()).reason == "closed"


@pytest.mark.parametrize(
    "answer", [{"result": 5}, {"result": None}, {"result": []}, {"error": "words"}, {"error": {"code": "x"}}]
)
async def test_an_answer_of_the_wrong_type_fails_the_request(answer: dict[str, object], tmp_path: Path) -> None:
    async with linked(tmp_path, {"on": {"session/new": answer}}) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.session()
        assert failed.value.step == "session"
        assert failed.value.reason in ("protocol", "said")
    for method in ("initialize", "session/prompt"):
        async with linked(tmp_path, {"on": {method: answer}}) as agent:
            with pytest.raises(AgentFailed):
                await agent.prompt()


@pytest.mark.parametrize(("method", "step"), [("initialize", "handshake"), ("session/new", "session")])
async def test_an_agent_that_does_not_answer_is_given_up(method: str, step: str, tmp_path: Path) -> None:
    patience = Patience(session_s=0.3) if step == "session" else Patience(handshake_s=0.3)
    async with linked(tmp_path, {"on": {method: "hang"}}, patience=patience) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.session()
        assert (failed.value.step, failed.value.reason) == (step, "silent")


async def test_an_option_and_a_sign_in_that_hang_are_given_up(tmp_path: Path) -> None:
    script = {
        "modes": {"currentModeId": "a", "availableModes": [{"id": "a"}, {"id": "b"}]},
        "auth_methods": [{"id": "w", "name": "W"}],
        "on": {"session/set_mode": "hang", "authenticate": "hang"},
    }
    patience = Patience(option_s=0.3, sign_in_s=0.3)
    async with linked(tmp_path, script, patience=patience) as agent:
        greeting = await agent.link.open()
        session = await agent.link.new_session(str(agent.folder))
        with pytest.raises(AgentFailed) as failed:
            await agent.link.set_option(session.id, session.options[0], "b")
        assert (failed.value.step, failed.value.reason) == ("option", "silent")
        with pytest.raises(AgentFailed) as failed:
            await agent.link.sign_in(greeting.sign_in[0])
        assert (failed.value.step, failed.value.reason) == ("sign-in", "silent")


@pytest.mark.parametrize("end", [{"crash": 3}, {"signal": signal.SIGKILL.value}])
async def test_an_agent_that_dies_in_a_turn_fails_it_with_its_last_words(
    end: dict[str, int], either_loop: object, tmp_path: Path
) -> None:
    async with linked(tmp_path, {"turns": [[{"say": "x"}, {"stderr": "out of luck"}, end]]}) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.prompt()
        assert (failed.value.step, failed.value.reason, failed.value.said) == ("prompt", "exit", "out of luck")
        assert failed.value.status == (3 if "crash" in end else -9)
        assert agent.host.said == "x"
        with pytest.raises(AgentFailed) as failed:
            await agent.prompt()
        assert failed.value.reason == "exit"
        await agent.link.cancel(agent.opened.id)


async def test_an_agent_that_dies_while_it_waits_for_us_fails_the_turn(tmp_path: Path) -> None:
    host = Host(gate=asyncio.Event())
    turn = [
        {"request": "fs/write_text_file", "params": {"path": "/x", "content": "y"}, "wait": False},
        {"wait_for": "die"},
        {"crash": 1},
    ]
    async with linked(tmp_path, {"turns": [turn]}, host=host) as agent:
        running = asyncio.ensure_future(agent.prompt())
        await until(lambda: host.waiting == 1)
        (agent.folder / "die").touch()
        with pytest.raises(AgentFailed):
            await running
        assert host.waiting == 1  # the host decides what becomes of it


async def test_the_last_answer_of_an_agent_that_ends_is_heard(tmp_path: Path) -> None:
    for _ in range(5):
        async with linked(tmp_path, {"turns": [[{"frame_mb": 1}, {"end": "end_turn"}, {"crash": 0}]]}) as agent:
            assert await agent.prompt() is StopReason.END
            assert len(agent.host.said) == 1 << 20
            assert await agent.link.ended() == Ended(reason="exit", status=0)


async def test_an_agent_that_closes_its_output_and_lives_on_is_ended(tmp_path: Path) -> None:
    text = "import os, time; os.close(1); os.close(0); time.sleep(600)"
    async with linked(tmp_path, {}, run=(sys.executable, "-E", "-S", "-c", text)) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.link.open()
        assert failed.value.reason in ("not-acp", "closed")


async def test_the_exit_is_noticed_while_a_child_holds_the_streams(either_loop: object, tmp_path: Path) -> None:
    turn = [
        {"child": 600, "hold": True, "pids": "pids"},
        {"child": 600, "hold": True, "setsid": True, "pids": "pids"},
        {"say": "x"},
        {"crash": 4},
    ]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.prompt()
        assert failed.value.status == 4
        own, apart = pids(agent.folder / "pids", 2)
        await until(lambda: not lives(own))  # of its group, so it is ended without being asked
        os.kill(apart, signal.SIGKILL)  # it left the group, and its parent ended by itself: nobody can know whose it was


@pytest.mark.parametrize("eof", ["leave", "stay"])
@pytest.mark.parametrize("sigterm", ["obey", "ignore"])
async def test_closing_ends_the_agent_and_its_children_wherever_they_went(eof: str, sigterm: str, tmp_path: Path) -> None:
    turn = [
        {"child": 600, "pids": "pids"},
        {"child": 600, "hold": True, "pids": "pids"},
        {"child": 600, "setsid": True, "pids": "pids"},
    ]
    async with linked(tmp_path, {"turns": [turn], "eof": eof, "sigterm": sigterm}) as agent:
        await agent.prompt()
        children = pids(agent.folder / "pids", 3)
        assert len(children) == 3
        end = await agent.link.close(patience_s=20 if eof == "leave" else 0.3)
        assert end.reason == "closed"
        assert end.status == (0 if eof == "leave" else -9 if sigterm == "ignore" else -15)
        assert not [pid for pid in children if lives(pid)]
        assert await agent.link.close() == end


async def test_closing_ends_nobody_else(tmp_path: Path) -> None:
    other = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    try:
        async with linked(tmp_path, {"eof": "stay", "sigterm": "ignore"}) as first, linked(tmp_path, {}) as second:
            await first.session()
            session = await second.session()
            await first.link.close(patience_s=0.1)
            assert lives(other.pid)
            assert await second.link.prompt(session.id, [TextPart("on")]) is StopReason.END
    finally:
        other.kill()
        await other.wait()


async def test_an_agent_that_ignores_the_cancel_ends_when_it_is_closed(tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"say": "x"}, {"hang": True}]], "cancel": "ignore", "eof": "stay"}) as agent:
        turn = asyncio.ensure_future(agent.prompt())
        await until(lambda: agent.host.said == "x")
        assert agent.opened is not None
        await agent.link.cancel(agent.opened.id)
        await agent.link.close(patience_s=0.1)
        assert await turn is StopReason.CANCELLED


async def test_closing_in_a_turn_fails_it_as_closed(tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"say": "x"}, {"hang": True}]]}) as agent:
        turn = asyncio.ensure_future(agent.prompt())
        await until(lambda: agent.host.said == "x")
        await agent.link.close()
        with pytest.raises(AgentFailed) as failed:
            await turn
        assert failed.value.reason == "closed"
        with pytest.raises(AgentFailed):
            await agent.link.prompt(agent.opened.id, [TextPart("more")])


async def test_closing_while_the_host_decides_harms_nothing(tmp_path: Path) -> None:
    host = Host(gate=asyncio.Event())
    async with linked(tmp_path, {"turns": [[{"ask": "may I"}]]}, host=host) as agent:
        turn = asyncio.ensure_future(agent.prompt())
        await until(lambda: host.waiting == 1)
        await agent.link.close()
        assert host.waiting == 0
        with pytest.raises(AgentFailed):
            await turn


async def test_a_start_that_is_given_up_leaves_no_process(tmp_path: Path) -> None:
    async with linked(tmp_path, {"on": {"initialize": "hang"}}) as agent:
        start = asyncio.ensure_future(agent.link.open())
        await until(lambda: bool(agent.received("initialize")))
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        assert agent.link.pid is not None
        assert not lives(agent.link.pid)


async def test_a_link_that_was_never_opened_can_be_closed(tmp_path: Path) -> None:
    async with linked(tmp_path, {}) as agent:
        assert await agent.link.close() == Ended(reason="closed")


async def test_a_link_is_opened_once(tmp_path: Path) -> None:
    async with linked(tmp_path, {}) as agent:
        await agent.link.open()
        with pytest.raises(BugError):
            await agent.link.open()
        assert await agent.link.new_session(str(agent.folder))


async def test_waiting_for_the_end_can_be_given_up(tmp_path: Path) -> None:
    async with linked(tmp_path, {}) as agent:
        await agent.session()
        waiting = asyncio.ensure_future(agent.link.ended())
        await asyncio.sleep(0)
        waiting.cancel()
        assert await agent.prompt() is StopReason.END


async def test_an_agent_that_reads_nothing_holds_up_no_cancel(tmp_path: Path) -> None:
    text = "import time; time.sleep(600)"
    patience = Patience(handshake_s=0.5, cancel_s=0.2)
    async with linked(tmp_path, {}, run=(sys.executable, "-E", "-S", "-c", text), patience=patience) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.link.open()
        assert failed.value.reason == "silent"


async def test_errors_are_drained_and_only_the_newest_are_kept(either_loop: object, tmp_path: Path) -> None:
    async with linked(
        tmp_path, {"turns": [[{"stderr_kb": 3000}, {"stderr": "the end"}, {"say": "x"}]]}, patience=SOON
    ) as agent:
        assert await agent.prompt() is StopReason.END
        end = await agent.link.close()
        assert end.said.endswith("the end")
        assert len(end.said) <= 8 << 10
    new = tmp_path / "errors.log"
    assert sum(file.stat().st_size for file in tmp_path.glob("errors.log*")) <= 1 << 20
    assert new.read_bytes().endswith(b"the end\n")
    assert new.stat().st_mode & 0o077 == 0


async def test_a_log_that_cannot_be_written_disturbs_nobody(tmp_path: Path) -> None:
    (tmp_path / "errors.log").mkdir()
    async with linked(tmp_path, {"turns": [[{"stderr": "words"}, {"say": "x"}]]}) as agent:
        assert await agent.prompt() is StopReason.END
        assert (await agent.link.close()).said == "words"
