"""While an agent starts everything can still be done: stop it, choose another one, say more. What is no agent is called so."""

import asyncio
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.live_town import LiveTown
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.agent.acp_link import AcpLink, Patience
from vibekit_desktop.core.types.agent_errors import AgentFailed
from vibekit_desktop.core.types.agents import AgentChoice, Headless, LivePhase, LiveState, Prompt
from vibekit_desktop.core.types.errors import Busy, CoreError
from vibekit_desktop.core.types.ids import ChatId

SLEEPS = AgentChoice(command=("sleep", "1000"))


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    return LiveTown(tmp_path, home, clock)


async def _starting(town: LiveTown, wired: Wired, choice: AgentChoice = SLEEPS) -> ChatId:
    chat = await town.new(wired, choice)
    await town.until(wired, chat, lambda state: state.phase is LivePhase.STARTING)
    return chat


def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    real = AcpLink.__init__

    def impatient(link: AcpLink, launch: object, host: object, **more: object) -> None:
        real(link, launch, host, **{**more, "patience": Patience(handshake_s=0.3)})

    monkeypatch.setattr(AcpLink, "__init__", impatient)


def test_a_stop_ends_the_start_of_an_agent(town: LiveTown) -> None:
    async def work(wired: Wired) -> None:
        chat = await _starting(town, wired)
        await wired.core.live.stop(chat)
        state = await town.until(wired, chat, lambda one: one.phase is LivePhase.OFF)
        assert (state.problem, state.error) == ("The start of sleep was stopped.", None)

    town.run(work)


def test_what_was_to_be_said_when_the_start_was_stopped_waits(town: LiveTown) -> None:
    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await _starting(town, wired)
        said = asyncio.create_task(live.prompt(chat, Prompt(text="one")))
        await town.until(wired, chat, lambda state: live._live[chat].is_busy)
        await live.prompt(chat, Prompt(text="two"))
        await live.stop(chat)
        await said
        state = await town.until(wired, chat, lambda one: one.phase is LivePhase.OFF)
        assert [one.prompt.text for one in state.queue] == ["one", "two"]

    town.run(work)


def test_another_agent_can_be_chosen_while_one_starts_and_gets_what_was_said(town: LiveTown) -> None:
    choice = town.agent([{"say": "a"}], [{"say": "b"}])

    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await _starting(town, wired)
        said = asyncio.create_task(live.prompt(chat, Prompt(text="one")))
        await town.until(wired, chat, lambda state: live._live[chat].is_busy)
        await live.prompt(chat, Prompt(text="two"))
        link = live._live[chat].agent.link
        await live.choose_agent(chat, choice)
        await said
        assert link is None or (await link.ended()).reason == "closed"
        await town.until(wired, chat, lambda one: one.phase is LivePhase.IDLE and not one.queue and not one.turn)
        assert not (await live.look(chat)).problem

    town.run(work)
    assert town.said_to_it() == ["one", "two"]


def test_what_gives_no_answer_is_told_in_words_and_only_once_waited_for(
    town: LiveTown, monkeypatch: pytest.MonkeyPatch
) -> None:
    _impatient(monkeypatch)
    starts: list[str] = []
    opened = AcpLink.open

    async def noted(link: AcpLink) -> object:
        starts.append("start")
        return await opened(link)

    monkeypatch.setattr(AcpLink, "open", noted)

    async def work(wired: Wired) -> None:
        chat = await _starting(town, wired)
        with pytest.raises(AgentFailed) as failed:
            await wired.core.live.prompt(chat, Prompt(text="one"))
        assert (failed.value.step, failed.value.reason) == ("handshake", "silent")
        state = await town.until(wired, chat, lambda one: one.phase is LivePhase.OFF)
        assert state.problem == "sleep gives no answer: it may not be an agent that speaks ACP."

    town.run(work)
    assert starts == ["start"]


def test_the_problem_of_a_former_start_goes_while_it_starts_again(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(wired: Wired) -> None:
        chat = await _starting(town, wired)
        await wired.core.live.stop(chat)
        await town.until(wired, chat, lambda one: one.phase is LivePhase.OFF and bool(one.problem))
        again = asyncio.create_task(wired.core.live.start(chat))
        state = await town.until(wired, chat, lambda one: one.phase is LivePhase.STARTING)
        assert (state.problem, state.error) == ("", None)
        await wired.core.live.stop(chat)
        with pytest.raises(AgentFailed):
            await again

    town.run(work)


def test_what_is_to_be_sent_now_does_not_end_the_start(town: LiveTown) -> None:
    go = town.folder / "go"
    choice = town.agent([{"say": "a"}], [{"say": "b"}], start=[{"wait_for": str(go)}])

    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await _starting(town, wired, choice)
        said = asyncio.create_task(live.prompt(chat, Prompt(text="one")))
        await town.until(wired, chat, lambda state: live._live[chat].is_busy)
        await live.prompt(chat, Prompt(text="two"))
        (waiting,) = (await live.look(chat)).queue
        await live.send_now(chat, waiting.id)
        await said
        go.touch()
        await town.until(wired, chat, lambda one: one.phase is LivePhase.IDLE and not one.queue and not one.turn)

    town.run(work)
    assert town.said_to_it() == ["two", "one"]
    assert len(town.got("initialize")) == 1


def test_while_a_turn_runs_no_other_agent_is_chosen_and_the_reason_is_a_part_of_a_sentence(town: LiveTown) -> None:
    choice = town.agent([{"say": "a"}, {"sleep": 60}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="one"))
        with pytest.raises(Busy) as busy:
            await wired.core.live.choose_agent(chat, choice)
        assert busy.value.holder == "a turn of this chat"

    town.run(work)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("true",), ""),
        (("cat",), ""),
        (("yes",), ""),
        (("sh", "-c", "echo first >&2; echo what is this >&2"), " It said: what is this"),
    ],
)
def test_what_is_no_agent_is_called_that(town: LiveTown, command: tuple[str, ...], said: str) -> None:
    async def work(wired: Wired) -> tuple[CoreError, LiveState]:
        chat = await town.new(wired, AgentChoice(command=command))
        with pytest.raises(AgentFailed) as failed:
            await town.say(wired, chat, allow=Headless.NONE)
        state = await wired.core.live.look(chat)
        return failed.value, state

    error, state = town.run(work)
    assert isinstance(error, AgentFailed)
    assert error.reason == "not-acp"
    assert state.problem == f"{command[0]} does not speak ACP.{said}"


def test_an_agent_that_had_to_be_ended_is_told_in_the_transcript(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vibekit_desktop.core.services.live_turn.STOP_S", 0.3)
    choice = town.agent([{"say": "x"}, {"hang": True}], cancel="ignore")

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        outcome = await town.ended(wired, chat, lambda: wired.core.live.stop(chat))
        name = (await wired.core.live.look(chat)).agent
        words = f"{name} did not stop when asked, and was ended."
        assert outcome.note == words
        assert (await wired.core.chats.open(chat)).messages[-1].content == words

    town.run(work)
