"""Whatever an agent sends, memory stays bounded, the loop goes on, and nothing of it is an error of ours or in the log."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agent.linked import Host, linked, until
from vibekit_desktop.core.agent.link import LinkEvent, TextArrived, ToolChanged, UsageChanged
from vibekit_desktop.core.agent.wire import STEP_MESSAGES, Limits
from vibekit_desktop.core.types.agent_errors import AgentFailed
from vibekit_desktop.core.types.agents import StopReason, Usage

STEP_S = 0.05
"""What the loop may be held up, in time of its own thread: other programs of this computer do not count."""


@dataclass
class Steps:
    longest_s: float = 0.0


@asynccontextmanager
async def measured() -> AsyncIterator[Steps]:
    """How long the loop's other callbacks had to wait for their turn."""
    steps = Steps()

    async def beat() -> None:
        while True:
            begin = time.thread_time()
            await asyncio.sleep(0.001)
            steps.longest_s = max(steps.longest_s, time.thread_time() - begin)

    task = asyncio.ensure_future(beat())
    try:
        yield steps
    finally:
        task.cancel()


async def test_a_frame_of_five_megabytes_does_not_hold_up_the_loop(either_loop: object, tmp_path: Path) -> None:
    turn = [{"frame_mb": 5}, {"frame_mb": 5, "as": "tool"}, {"say": "end", "whole": True}]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        await agent.session()
        async with measured() as steps:
            assert await agent.prompt() is StopReason.END
        first, tool, last = agent.host.events
        assert isinstance(first, TextArrived)
        assert isinstance(tool, ToolChanged)
        assert len(first.text) == len(tool.output or "") == 5 << 20
        assert last == TextArrived("end")
        assert steps.longest_s < STEP_S


async def test_three_thousand_pieces_do_not_hold_up_the_loop(either_loop: object, tmp_path: Path) -> None:
    class Counting(Host):
        """Counts what reaches it between two turns of another callback."""

        pieces: int = 0
        most_pieces: int = 0

        def event(self, event: LinkEvent) -> None:
            super().event(event)
            self.pieces += 1
            self.most_pieces = max(self.most_pieces, self.pieces)

        async def take_turns(self) -> None:
            while True:
                await asyncio.sleep(0)
                self.pieces = 0

    async with linked(tmp_path, {"turns": [[{"chunks": 3000}]]}, host=Counting()) as agent:
        await agent.session()
        host = agent.host
        assert isinstance(host, Counting)
        other = asyncio.ensure_future(host.take_turns())
        async with measured() as steps:
            await agent.prompt()
        other.cancel()
        assert host.said == "".join(f"{number} " for number in range(3000))
        assert 1 < host.most_pieces <= STEP_MESSAGES
        assert steps.longest_s < STEP_S


async def test_a_host_that_takes_its_time_does_not_hold_up_the_others(tmp_path: Path) -> None:
    class Slow(Host):
        def event(self, event: object) -> None:
            super().event(event)  # type: ignore[arg-type]
            end = time.thread_time() + 0.0005
            while time.thread_time() < end:
                pass

    async with linked(tmp_path, {"turns": [[{"chunks": 1000}]]}, host=Slow()) as agent:
        await agent.session()
        async with measured() as steps:
            await agent.prompt()
        assert steps.longest_s < STEP_S


async def test_a_line_without_an_end_ends_the_agent(either_loop: object, tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"say": "x"}, {"endless_mb": 70}, {"hang": True}]]}) as agent:
        await agent.session()
        async with measured() as steps:
            with pytest.raises(AgentFailed) as failed:
                await agent.prompt()
        assert failed.value.reason == "flood"
        assert (await agent.link.ended()).reason == "flood"
        assert steps.longest_s < STEP_S


async def test_a_frame_over_the_limit_ends_the_agent(tmp_path: Path) -> None:
    limits = Limits(frame_bytes=1 << 20)
    async with linked(tmp_path, {"turns": [[{"frame_mb": 0.9}, {"frame_mb": 3}]]}, limits=limits) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.prompt()
        assert failed.value.reason == "flood"
        assert len(agent.host.events) == 1


async def test_a_hundred_thousand_requests_are_handled_sixty_four_at_a_time(tmp_path: Path) -> None:
    host = Host(gate=asyncio.Event())
    asking = {"toolCall": {"toolCallId": "c"}, "options": []}
    turn = [{"request": "session/request_permission", "params": asking, "wait": False, "times": 100_000}]
    async with linked(tmp_path, {"turns": [turn]}, host=host) as agent:
        running = asyncio.ensure_future(agent.prompt())
        await until(lambda: host.waiting == 64)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(host.asked("ask")) == 64
        await agent.link.close(patience_s=0.2)
        with pytest.raises(AgentFailed):
            await running
        assert host.most == 64


async def test_thousands_of_requests_that_are_answered_at_once_do_not_hold_up_the_loop(
    either_loop: object, tmp_path: Path
) -> None:
    turn = [{"request": "no/such", "wait": False, "times": 5000}, {"say": "end"}]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        await agent.session()
        async with measured() as steps:
            assert await agent.prompt() is StopReason.END
        assert agent.host.said == "end"
        assert steps.longest_s < STEP_S


async def test_an_agent_dies_while_all_its_requests_are_being_handled(tmp_path: Path) -> None:
    host = Host(gate=asyncio.Event())
    asking = {"toolCall": {"toolCallId": "c"}, "options": []}
    turn = [
        {"request": "session/request_permission", "params": asking, "wait": False, "times": 200},
        {"wait_for": "die"},
        {"crash": 1},
    ]
    async with linked(tmp_path, {"turns": [turn]}, host=host) as agent:
        running = asyncio.ensure_future(agent.prompt())
        await until(lambda: host.waiting == 64)
        (agent.folder / "die").touch()
        with pytest.raises(AgentFailed):
            await running


async def test_lines_that_are_no_messages_are_skipped(
    either_loop: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "vibekit_desktop")
    turn = [
        {"junk": "secret words", "times": 900},
        {"junk": "[1, 2]"},
        {"junk": '"text"'},
        {"junk": ""},
        {"bytes": "00ff0a"},
        {"say": "x", "whole": True},
        {"junk": "more of it", "times": 900},
        {"say": "y", "whole": True},
    ]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        assert await agent.prompt() is StopReason.END
        assert agent.host.said == "xy"
    told = [record.getMessage() for record in caplog.records if "no messages" in record.getMessage()]
    assert len(told) == 1
    assert "secret" not in caplog.text


async def test_a_thousand_of_them_end_the_agent(tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"junk": "words", "times": 1000}, {"hang": True}]]}) as agent:
        with pytest.raises(AgentFailed) as failed:
            await agent.prompt()
        assert failed.value.reason == "protocol"


SESSION = "SESSION"


@pytest.mark.parametrize(
    "bad",
    [
        {"deep": 100_000},
        {"deep": 100_000, "as": "update"},
        {"deep": 900},
        {"digits": 10_000},
        {"nan": True},
        {"update": 5},
        {"update": {"sessionUpdate": "of the future", "x": 1}},
        {"update": {"sessionUpdate": ["tool_call"]}},
        {"update": {"sessionUpdate": "tool_call"}},
        {"update": {"sessionUpdate": "agent_message_chunk", "content": "words"}},
        {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}}},
        {"update": {"sessionUpdate": "available_commands_update", "availableCommands": {"a": 1}}, "tells": True},
        {"update": {"sessionUpdate": "config_option_update", "configOptions": "none"}},
        {"raw": {"jsonrpc": "2.0", "method": "session/update"}},
        {"raw": {"jsonrpc": "2.0", "method": 5, "id": 1}},
        {"raw": {"jsonrpc": "2.0", "method": ["a"], "id": {}}},
        {"raw": {"jsonrpc": "2.0", "id": [1], "result": {}}},
        {"raw": {"jsonrpc": "2.0", "id": True, "result": {}}},
        {"raw": {"jsonrpc": "2.0", "id": 99999, "result": {}}},
        {"raw": {"jsonrpc": "2.0", "id": 1.5, "method": "fs/read_text_file"}},
        {"raw": {"jsonrpc": "2.0", "id": None, "method": "fs/read_text_file"}},
        {"raw": {}},
    ],
)
async def test_what_is_wrong_is_skipped(bad: dict[str, object], tmp_path: Path) -> None:
    tells = bad.pop("tells", False)
    async with linked(tmp_path, {"turns": [[bad, {"say": "on", "whole": True}]]}) as agent:
        assert await agent.prompt() is StopReason.END
        assert agent.host.said == "on"
        others = [event for event in agent.host.events if not isinstance(event, TextArrived)]
        if not tells and others:
            (event,) = others
            assert event == UsageChanged(Usage()) or (isinstance(event, ToolChanged) and event.id == "deep")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/request_permission", {"toolCall": {"title": "x"}, "options": []}),
        ("session/request_permission", {"options": []}),
        ("session/request_permission", []),
        ("fs/write_text_file", {"path": 5, "content": "x"}),
        ("fs/write_text_file", {"path": "/x", "content": ["x"]}),
        ("fs/write_text_file", {"path": "/x"}),
        ("fs/read_text_file", {"path": ""}),
        ("terminal/create", {"command": "ls", "args": "-l"}),
        ("terminal/create", {"command": "ls", "args": [1]}),
        ("terminal/create", {"command": "ls", "env": [{"name": "A=B", "value": "c"}]}),
        ("terminal/create", {"command": "ls", "cwd": 5}),
        ("terminal/output", {"terminalId": None}),
        ("terminal/kill", None),
    ],
)
async def test_a_request_without_what_it_needs_is_answered_as_invalid(method: str, params: object, tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"request": method, "params": params}]]}) as agent:
        assert await agent.prompt() is StopReason.END
        assert agent.host.said == "refused: -32602 Invalid params"
        assert {name for name, _ in agent.host.calls} == {"event"}


async def test_bytes_that_are_no_text_are_replaced_in_words(tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"invalid_utf8": True}]]}) as agent:
        await agent.prompt()
        assert agent.host.said == "a\ufffd\ufffdb"


async def test_half_a_character_is_replaced_in_words_and_refused_in_a_file(tmp_path: Path) -> None:
    turn = [
        {"say": "a\ud83d", "whole": True},
        {"say": "\\ud83d \U0001f600", "whole": True},
        {"write": "a.txt", "text": "\ud83d", "announce": "never"},
    ]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        await agent.prompt()
        assert agent.host.said == "a\ufffd\\ud83d \U0001f600"
        assert not agent.host.asked("write")


async def test_a_host_that_fails_is_an_error_for_the_agent_and_no_content_in_the_log(tmp_path: Path, expected_logs) -> None:
    class Failing(Host):
        def event(self, event: object) -> None:
            super().event(event)  # type: ignore[arg-type]
            raise ValueError("secret words")

        async def write(self, path: str, text: str) -> None:
            raise RuntimeError(text)

    expected_logs.expect("was not taken: ValueError at")
    expected_logs.expect("a request of Scripted failed: RuntimeError at")
    turn = [{"say": "secret"}, {"write": "a.txt", "text": "secret", "announce": "never"}, {"say": "end"}]
    async with linked(tmp_path, {"turns": [turn]}, host=Failing()) as agent:
        assert await agent.prompt() is StopReason.END
    assert not [record for record in expected_logs.records if "secret" in record.getMessage()]
    assert len(expected_logs.records) == 3
