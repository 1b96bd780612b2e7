"""What was allowed and could not be done is told as that: not as denied, and not as a change."""

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Clock, ExpectedLogs
from tests.core.services.live_town import LiveTown, Step
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.disk.fs import cannot_write
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.agents import Answer, Given, Headless, Prompt, TurnOutcome
from vibekit_desktop.core.types.chats import ToolCall
from vibekit_desktop.core.types.checkpoints import EntryKind, TimelineEntry
from vibekit_desktop.core.types.ids import ChatId


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    return LiveTown(tmp_path, home, clock)


WRITE: Step = {"write": "slow.txt", "text": "x\n", "via": "client"}


def _fails(number: int) -> Callable[..., None]:
    def fails(_workspace: Workspace, path: str, *_given: object) -> None:
        error = OSError(number, "no")
        raise cannot_write(path, error) from error

    return fails


async def _entries(wired: Wired, chat: ChatId) -> dict[EntryKind, TimelineEntry]:
    return {entry.kind: entry for entry in (await wired.core.checkpoints.timeline(chat)).entries}


async def _calls(wired: Wired, chat: ChatId) -> list[ToolCall]:
    return [call for message in (await wired.core.chats.open(chat)).messages for call in message.tool_calls]


@pytest.mark.parametrize(("ask", "via"), [(True, "client"), (True, "disk"), (False, "client")])
def test_a_write_that_was_allowed_when_the_folder_had_gone_was_not_written(
    town: LiveTown, expected_logs: ExpectedLogs, ask: bool, via: str
) -> None:
    expected_logs.expect("stays open: workspace.missing")
    choice = town.agent([{**WRITE, "ask": ask, "via": via}, {"say": "done"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        away = town.work.rename(town.work.with_name("away"))
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE))
        assert outcome.permissions == (Given("create slow.txt", "allowed", "the folder is gone"),)
        assert outcome.files == ()
        (call,) = await _calls(wired, chat)
        assert (call.status, call.outcome) == ("failed", "")
        assert "Not written: the folder is gone." in call.output
        assert (await _entries(wired, chat))[EntryKind.TURN].files == ()
        away.rename(town.work)
        assert (await town.say(wired, chat)).files == ()

    town.run(work)
    assert not (town.work / "slow.txt").exists()


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.EROFS, "the folder is read-only"),
        (errno.EACCES, "the folder does not allow it"),
        (errno.ENOSPC, "the disk is full"),
        (errno.EIO, "the disk does not work"),
    ],
)
def test_a_write_that_the_folder_does_not_take_is_told_with_its_reason_and_closed_at_once(
    town: LiveTown, monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    go = town.folder / "go"
    choice = town.agent([WRITE, {"touch": str(go)}, {"wait_for": str(town.folder / "on")}])
    monkeypatch.setattr(Workspace, "stage_file", _fails(number))

    async def work(wired: Wired) -> TurnOutcome:
        chat = await town.new(wired, choice)
        running = asyncio.create_task(wired.core.live.run(chat, Prompt(text="go"), allow=Headless.ALL, timeout_s=20))
        async with asyncio.timeout(15):
            while not go.exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.02)
        lines = [path.read_text() for path in town.data.rglob("*.jsonl") if "slow.txt" in path.read_text()]
        assert '"settle"' in lines[0]
        (town.folder / "on").touch()
        outcome = await running
        (call,) = await _calls(wired, chat)
        assert (call.status, call.outcome) == ("failed", "")
        return outcome

    outcome = town.run(work)
    assert outcome.permissions == (Given("create slow.txt", "allowed", why),)
    assert outcome.files == ()


def test_what_was_asked_of_a_person_first_is_told_once(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = town.agent([{**WRITE, "ask": True}])
    monkeypatch.setattr(Workspace, "stage_file", _fails(errno.EROFS))

    async def work(wired: Wired) -> TurnOutcome:
        chat = await town.new(wired, choice)
        return (await town.answering(wired, chat))[0]

    assert town.run(work).permissions == (Given("create slow.txt", "allowed", "the folder is read-only"),)


def test_what_only_waits_for_its_answer_is_no_change_yet(town: LiveTown) -> None:
    (town.work / "same.txt").write_text("same\n")
    choice = town.agent([{"write": "same.txt", "text": "same\n", "ask": True}, {**WRITE, "ask": True}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        first = await town.question(wired, chat)
        entries = await _entries(wired, chat)
        assert (entries[EntryKind.TURN].files, entries[EntryKind.NOW].files) == ((), ())
        await wired.core.live.answer(chat, first.id, Answer.ALLOW_ONCE)
        second = await town.question(wired, chat, after=first.id)
        entries = await _entries(wired, chat)  # the same bytes were written meanwhile
        assert (entries[EntryKind.TURN].files, entries[EntryKind.NOW].files) == ((), ())
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, second.id, Answer.ALLOW_ONCE))
        assert [file.path for file in outcome.files] == ["slow.txt"]

    town.run(work)


def test_what_others_did_before_is_not_told_while_a_turn_touches_their_files(town: LiveTown) -> None:
    town.turn("other", a="1", b="1")
    choice = town.agent([{"write": "a.txt", "text": "2", "ask": True}, {"write": "b.txt", "text": "2", "ask": True}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        first = await town.question(wired, chat)
        before = EntryKind.BETWEEN in await _entries(wired, chat)
        await wired.core.live.answer(chat, first.id, Answer.ALLOW_ONCE)
        second = await town.question(wired, chat, after=first.id)
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, second.id, Answer.ALLOW_ONCE))
        assert len(outcome.files) == 2
        assert before is (EntryKind.BETWEEN in await _entries(wired, chat)) is False

    town.run(work)
