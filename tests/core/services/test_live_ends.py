"""How what belongs to a live chat ends, and what is remembered of it: its processes, its rules, its own mistakes."""

import asyncio
import threading
from pathlib import Path

import pytest

from tests.agent.linked import lives
from tests.conftest import Clock, ExpectedLogs
from tests.core.services.live_town import LiveTown
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.agent.acp_link import AcpLink
from vibekit_desktop.core.agent.link import Ended
from vibekit_desktop.core.chat.partial import Partial
from vibekit_desktop.core.services.live_rules import Rules
from vibekit_desktop.core.types.agents import Answer, LivePhase, StopReason, TurnOutcome
from vibekit_desktop.core.types.errors import DiskFull


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    return LiveTown(tmp_path, home, clock)


def test_a_rule_that_cannot_be_stored_is_not_followed(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object) -> None:
        raise DiskFull("somewhere", "ENOSPC")

    monkeypatch.setattr(Rules, "add", full)
    edits = [{"write": f"{name}.txt", "text": "x\n", "ask": True, "via": "disk"} for name in ("a", "b")]
    choice = town.agent(edits)

    async def work(wired: Wired) -> list[str]:
        chat = await town.new(wired, choice)
        outcome, asked = await town.answering(wired, chat, Answer.ALLOW_EDITS)
        assert outcome.stop_reason is StopReason.END
        return [question.subject for question in asked]

    assert town.run(work) == ["a.txt", "b.txt"]


def test_an_agent_whose_end_was_cut_short_is_ended_with_the_program(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = town.agent([{"say": "one"}])

    async def work(wired: Wired) -> int:
        chat = await town.new(wired, choice)
        await wired.core.live.start(chat)
        agent = wired.core.live._live[chat].agent
        link = agent.link
        assert isinstance(link, AcpLink)
        assert link.pid is not None
        began = asyncio.Event()

        async def never(_link: AcpLink, *, patience_s: float = 2.0) -> Ended:
            began.set()
            return await asyncio.get_running_loop().create_future()

        with monkeypatch.context() as patch:
            patch.setattr(AcpLink, "close", never)
            ending = asyncio.create_task(agent.end())
            await began.wait()
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)
        await wired.core.live.close()
        assert not lives(link.pid)
        return link.pid

    assert not lives(town.run(work))


def test_an_agent_that_ended_by_itself_is_let_go_of(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[AcpLink] = []
    close = AcpLink.close

    async def noted(link: AcpLink, *, patience_s: float = 2.0) -> Ended:
        ended = await close(link, patience_s=patience_s)
        closed.append(link)
        return ended

    monkeypatch.setattr(AcpLink, "close", noted)
    choice = town.agent([{"say": "one"}, {"crash": 3}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.start(chat)
        link = wired.core.live._live[chat].agent.link
        assert (await town.say(wired, chat)).stop_reason is StopReason.DIED
        await town.until(wired, chat, lambda state: state.phase is LivePhase.OFF)
        await wired.core.live.close()
        assert set(closed) == {link}

    town.run(work)


def test_the_agent_of_a_deleted_chat_is_ended(town: LiveTown) -> None:
    choice = town.agent([{"say": "one"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        link = wired.core.live._live[chat].agent.link
        await wired.core.chats.delete(chat)
        async with asyncio.timeout(10):
            assert (await link.ended()).reason == "closed"

    town.run(work)


def test_a_mistake_of_ours_while_an_answer_streams_is_in_the_log(
    town: LiveTown, monkeypatch: pytest.MonkeyPatch, expected_logs: ExpectedLogs
) -> None:
    expected_logs.expect("stream an answer failed")
    monkeypatch.setattr("vibekit_desktop.core.services.live_turn.SAVE_S", 0)
    failed = threading.Event()

    def fails(_partial: Partial) -> bool:
        failed.set()
        raise RuntimeError

    monkeypatch.setattr(Partial, "flush", fails)
    go = town.folder / "go"
    choice = town.agent([{"say": "one"}, {"wait_for": str(go)}, {"say": " two"}])

    async def work(wired: Wired) -> TurnOutcome:
        chat = await town.new(wired, choice)
        running = asyncio.create_task(town.say(wired, chat))
        assert await asyncio.to_thread(failed.wait, 10)
        go.touch()
        return await running

    assert town.run(work).stop_reason is StopReason.END
    assert [record.getMessage() for record in expected_logs.records if record.levelname == "ERROR"] == [
        "stream an answer failed"
    ]
