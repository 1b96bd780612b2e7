"""Live chats against fate and broken agents: what goes away, fails or comes late while a turn runs or ends."""

import asyncio
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.live_town import LiveTown
from tests.core.services.town import Crash
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.agent.acp_link import AcpLink
from vibekit_desktop.core.agent.link import Ended, PromptPart, TextArrived
from vibekit_desktop.core.chat.partial import Partial
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.agent_errors import AttachmentRefused
from vibekit_desktop.core.types.agents import Attachment, Headless, LivePhase, Prompt, StopReason, TurnOutcome
from vibekit_desktop.core.types.checkpoints import Author, EntryKind
from vibekit_desktop.core.types.errors import DiskFull
from vibekit_desktop.core.types.events import AnswerStreamed, LiveTurnEnded
from vibekit_desktop.core.types.ids import ChatId


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    return LiveTown(tmp_path, home, clock)


def lock_text(town: LiveTown) -> str:
    (lock,) = (town.data / "vaults").glob("*/desktop/turns/*.lock")
    return lock.read_text()


def authors(town: LiveTown, chat: ChatId, turn: int) -> dict[str, Author]:
    """Who changed what in a turn; with 0 what stands behind the last one."""
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(chat))
    kind = EntryKind.TURN if turn else EntryKind.NOW
    entries = [one for one in timeline.entries if one.kind is kind and (not turn or one.turn == turn)]
    return {change.path: change.author for one in entries for change in one.files}


@contextmanager
def full_disk() -> Iterator[None]:
    """No file is replaced any more."""

    def hook(name: str) -> None:
        if name == "atomic.create":
            raise DiskFull("somewhere", "ENOSPC")

    with faults.armed(hook):
        yield


# -- an end that cannot be stored ----------------------------------------------------------------------------------


@pytest.mark.expects_log("stays open: workspace.missing")
def test_a_workspace_that_goes_while_a_turn_runs_costs_no_word_of_it(town: LiveTown) -> None:
    go, away = town.folder / "go", town.folder / "away"
    edit = {"write": "a.txt", "text": "agent\n", "ask": True, "via": "disk"}
    choice = town.agent([{"say": "one"}, edit, {"wait_for": str(go)}, {"say": "two"}], [{"say": "three"}])

    async def work(wired: Wired) -> tuple[ChatId, TurnOutcome]:
        chat = await town.new(wired, choice)
        running = asyncio.create_task(town.say(wired, chat))
        await town.streamed(wired, chat, lambda message: any(call.status == "completed" for call in message.tool_calls))
        town.work.rename(away)
        go.touch()
        return chat, await running

    chat, outcome = town.run(work)
    assert outcome.stop_reason is StopReason.FAILED
    assert "folder is not there" in outcome.problem
    assert [event.outcome for event in town.events if isinstance(event, LiveTurnEnded)] == [outcome]
    assert town.words(chat) == ["user: go", "assistant: one\n\ntwo"]
    assert lock_text(town) == "1\n"  # it is open, and the next start knows that
    town.run(lambda wired: wired.recover())
    assert lock_text(town) == "1\n"  # the folder is not there yet

    away.rename(town.work)
    town.run(lambda wired: wired.recover())
    assert lock_text(town) == ""
    (town.work / "late.txt").write_text("mine")
    assert authors(town, chat, 1) == {"a.txt": Author.AGENT}
    town.run(lambda wired: town.say(wired, chat))
    assert "late.txt" not in authors(town, chat, 1)
    assert town.words(chat)[-1] == "assistant: three"


@pytest.mark.expects_log("stays open: disk.full|was not kept: disk.full")
def test_an_answer_that_a_full_disk_cannot_take_is_stored_once_it_can(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    go = town.folder / "go"
    saved = threading.Event()
    flush = Partial.flush

    def tells(partial: Partial) -> bool:
        done = flush(partial)
        saved.set()
        return done

    monkeypatch.setattr(Partial, "flush", tells)
    choice = town.agent([{"say": "one"}, {"wait_for": str(go)}], [{"say": "two"}])

    async def work(wired: Wired) -> tuple[ChatId, TurnOutcome]:
        chat = await town.new(wired, choice)
        running = asyncio.create_task(town.say(wired, chat))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        assert await asyncio.to_thread(saved.wait, 10)
        with full_disk():
            go.touch()
            outcome = await running
        return chat, outcome

    chat, outcome = town.run(work)
    assert outcome.stop_reason is StopReason.FAILED
    assert "disk is full" in outcome.problem
    assert lock_text(town) == "1\n"
    town.run(lambda wired: wired.recover())
    assert lock_text(town) == ""
    assert town.words(chat)[:2] == ["user: go", "assistant: one"]
    town.run(lambda wired: town.say(wired, chat))
    assert [words for words in town.words(chat) if not words.startswith("event")] == [
        "user: go",
        "assistant: one",
        "user: go",
        "assistant: two",
    ]


def test_a_prompt_that_a_full_disk_cannot_take_leaves_no_open_turn(town: LiveTown) -> None:
    choice = town.agent([{"say": "one"}])

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await wired.core.live.start(chat)
        with full_disk(), pytest.raises(DiskFull):
            await town.say(wired, chat)
        (town.work / "mine.txt").write_text("mine")
        assert (await town.say(wired, chat)).stop_reason is StopReason.END
        return chat

    chat = town.run(work)
    assert town.words(chat) == ["user: go", "assistant: one"]
    assert lock_text(town) == ""
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(chat))
    assert not [one for one in timeline.entries if one.kind is EntryKind.TURN and one.files]


# -- a crash of ours -----------------------------------------------------------------------------------------------


@pytest.mark.expects_log("a turn of chat .* failed")
@pytest.mark.parametrize("at", ["turn.begin", "atomic.create"])
def test_a_crash_while_a_turn_begins_leaves_no_turn_that_stays_open(town: LiveTown, at: str) -> None:
    choice = town.agent([{"say": "one"}], [{"say": "two"}])

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        return chat

    chat = town.run(first)
    begun: list[str] = []

    def hook(name: str) -> None:
        if name == "turn.begin" or begun:
            begun.append(name)
            if name == at or at in begun:
                raise Crash  # every step after it fails too: the program is gone

    async def dies(wired: Wired) -> None:
        with faults.armed(hook), pytest.raises(Crash):
            await town.say(wired, chat)

    town.run(dies)
    town.run(lambda wired: wired.recover())
    assert lock_text(town) == ""
    (town.work / "late.txt").write_text("mine")
    town.run(lambda wired: town.say(wired, chat))
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(chat))
    assert not [one for one in timeline.entries if one.kind is EntryKind.TURN and one.files]


def test_a_turn_that_could_not_be_ended_at_a_start_is_ended_at_the_next(town: LiveTown) -> None:
    choice = town.agent([{"say": "one"}])

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        return chat

    chat = town.run(work)
    town.run(lambda wired: wired.core.turns.begin(chat, workspace=town.work, agent=None, prompt="cut off"))
    (lock,) = (town.data / "vaults").glob("*/desktop/turns/*.lock")
    lock.write_text("2\n")
    away = town.work.rename(town.folder / "away")
    town.run(lambda wired: wired.recover())
    assert lock.read_text() == "2\n"
    away.rename(town.work)
    town.run(lambda wired: wired.recover())
    assert lock.read_text() == ""
    with pytest.raises(Exception, match="turn"):
        town.run(lambda wired: wired.core.turns.end(chat, answer=None))


# -- turns without end ---------------------------------------------------------------------------------------------


def test_a_turn_ends_whenever_its_last_words_come(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last words and the end of the turn arrive at every distance in steps of the loop."""
    choice = town.agent()
    distances = iter(range(8))
    streamed = asyncio.Event()

    async def prompt(link: AcpLink, session: str, parts: Sequence[PromptPart]) -> StopReason:
        streamed.clear()
        link._hand_on(TextArrived("first"))
        await streamed.wait()
        for _ in range(10):
            await asyncio.sleep(0)  # it is shown, and nothing new is waited for
        link._hand_on(TextArrived("last"))
        for _ in range(next(distances)):
            await asyncio.sleep(0)
        return StopReason.END

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        wired.bus.subscribe(AnswerStreamed, lambda event: streamed.set())
        for _ in range(8):
            async with asyncio.timeout(10):
                outcome = await town.say(wired, chat)
            assert outcome.stop_reason is StopReason.END

    monkeypatch.setattr("vibekit_desktop.core.services.live_turn.FRAME_S", 0)
    monkeypatch.setattr(AcpLink, "prompt", prompt)
    town.run(work)


# -- what people attach --------------------------------------------------------------------------------------------


def test_a_file_whose_name_is_no_text_goes_with_a_prompt(town: LiveTown) -> None:
    choice = town.agent([{"say": "one"}])
    odd = os.fsdecode(b"caf\xe9.txt")
    (town.work / odd).write_text("x")

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        prompt = Prompt(text="half \ud83d", attachments=(Attachment(name=odd, path=str(town.work / odd)),))
        await wired.core.live.run(chat, prompt, allow=Headless.NONE)
        view = await wired.core.chats.open(chat)
        assert [one.name for one in view.messages[0].attachments] == ["caf\ufffd.txt"]
        return chat

    assert town.words(town.run(work)) == ["user: half \ufffd", "assistant: one"]
    assert "caf%E9.txt" in str(town.got("session/prompt"))


@pytest.mark.parametrize("path", ["nothing\ud83d", "no\0thing", "", "nothing"])
def test_what_is_no_file_is_refused_before_anything_is_said(town: LiveTown, path: str) -> None:
    choice = town.agent([{"say": "one"}])

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        prompt = Prompt(text="go", attachments=(Attachment(name=path, path=path),))
        with pytest.raises(AttachmentRefused):
            await wired.core.live.run(chat, prompt, allow=Headless.NONE)
        return chat

    assert town.words(town.run(work)) == []


# -- two things at once --------------------------------------------------------------------------------------------


@contextmanager
def slow_ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[asyncio.Event, asyncio.Event]]:
    """Agents take until the second event to end; the first says that one began to."""
    began, go_on = asyncio.Event(), asyncio.Event()
    close = AcpLink.close

    async def slow(link: AcpLink, *, patience_s: float = 2.0) -> Ended:
        began.set()
        await go_on.wait()
        return await close(link, patience_s=patience_s)

    with monkeypatch.context() as patch:
        patch.setattr(AcpLink, "close", slow)
        yield began, go_on
    go_on.set()


def test_an_agent_is_not_ended_as_idle_while_its_turn_runs(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are to be ended; while the first one ends, somebody says something to the second."""
    go = town.folder / "go"
    choice = town.agent([{"say": "x"}, {"wait_for": str(go)}], counter="")

    async def work(wired: Wired) -> StopReason:
        chats: list[ChatId] = []
        for number in range(3):
            folder = town.folder / f"w{number}"
            folder.mkdir()
            chats.append(await town.new(wired, choice, folder))
            await town.until(wired, chats[-1], lambda state: state.phase is LivePhase.IDLE)
        monkeypatch.setattr("vibekit_desktop.core.services.live.MOST_IDLE", 1)
        with slow_ends(monkeypatch) as (began, go_on):
            starting = asyncio.create_task(wired.core.live.start(chats[2]))
            await began.wait()
            running = asyncio.create_task(town.say(wired, chats[1]))
            await town.streamed(wired, chats[1], lambda message: bool(message.blocks))
            go_on.set()
            await starting
            go.touch()
            return (await running).stop_reason

    assert town.run(work) is StopReason.END


def test_a_prompt_that_comes_while_the_old_agent_ends_goes_to_the_new_one(
    town: LiveTown, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = town.agent([{"say": "old"}], title="Old"), town.agent([{"say": "new"}], title="New")

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, old)
        await wired.core.live.start(chat)
        with slow_ends(monkeypatch) as (began, go_on):
            choosing = asyncio.create_task(wired.core.live.choose_agent(chat, new))
            await began.wait()
            saying = asyncio.create_task(town.say(wired, chat))
            await town.until(wired, chat, lambda state: state.phase is LivePhase.RUNNING or state.turn > 0)
            go_on.set()
            await choosing
            await saying
        state = await wired.core.live.look(chat)
        assert state.phase is LivePhase.IDLE
        return chat

    assert town.words(town.run(work)) == ["user: go", "assistant: new"]


def test_what_an_agent_offers_is_not_forgotten_when_its_predecessor_has_ended(
    town: LiveTown, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = {"availableModes": [{"id": "ask", "name": "Ask"}, {"id": "go", "name": "Go"}], "currentModeId": "ask"}
    choice = town.agent([{"say": "one"}], modes=modes)

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.start(chat)
        agent = wired.core.live._live[chat].agent
        with slow_ends(monkeypatch) as (began, go_on):
            ending = asyncio.create_task(agent.end())
            await began.wait()
            assert (await wired.core.live.start(chat)).options
            go_on.set()
            await ending
        state = await wired.core.live.look(chat)
        assert (state.phase, len(state.options)) == (LivePhase.IDLE, 1)

    town.run(work)
