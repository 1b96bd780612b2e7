"""What somebody else writes while an agent waits for a permission is never taken for the agent's, and never lost."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.live_town import LiveTown, Step, by_path
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.agents import Answer, Prompt, Why
from vibekit_desktop.core.types.checkpoints import Action, Author, BeforeTurn, Mine, Scope
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

OLD = WorkspacePath("old.txt")
BEFORE, THEIRS, AGENTS = "alpha\nbeta\n", "alpha\nTHEIRS\n", "alpha\nfive\n"


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    made = LiveTown(tmp_path, home, clock)
    (made.work / OLD).write_text(BEFORE)
    return made


def _write(via: str, **more: object) -> Step:
    return {"write": "old.txt", "text": AGENTS, "ask": True, "via": via, **more}


def _lines(town: LiveTown) -> list[dict[str, object]]:
    """The lines about the file, in order."""
    found = [path.read_text().splitlines() for path in town.data.rglob("events.jsonl")]
    lines = [json.loads(line) for log in found for line in log]
    return sorted((one for one in lines if one.get("path") == "old.txt"), key=lambda one: int(one["seq"]))


def _written(lines: Sequence[dict[str, object]], text: str) -> list[tuple[object, object]]:
    """Who wrote a text, and how that is known, by the lines that say that it came."""
    sha = hashlib.sha256(text.encode()).hexdigest()
    return [
        (one["author"], one["how"])
        for one in lines
        if one["type"] == "observed" and one.get("after_sha") == sha and (one.get("before_sha") != sha or not one.get("owner"))
    ]


async def _theirs(wired: Wired, chat: ChatId) -> bytes:
    """What "Bring back theirs" of the one conflict gives."""
    (found,) = await wired.core.checkpoints.placed_conflicts(chat)
    assert found.theirs is not None
    return await wired.core.checkpoints.content(chat, found.theirs, OLD)


@pytest.mark.parametrize("via", ["disk", "client"])
@pytest.mark.parametrize("announce", ["before", "never"])
@pytest.mark.parametrize("first", [True, False], ids=["chat-wrote-it", "first-change"])
def test_an_edit_made_while_a_permission_waits_is_somebody_elses_and_comes_back(
    town: LiveTown, via: str, announce: str, first: bool
) -> None:
    turns: list[list[Step]] = [[{"write": "old.txt", "text": BEFORE + "one\n"}]] if first else []
    choice = town.agent(*turns, [_write(via, announce=announce)])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        if first:
            await town.say(wired, chat)
        turn = 2 if first else 1
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        (town.work / OLD).write_text(THEIRS)
        await wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE)
        again = await town.question(wired, chat, after=question.id)
        assert again.why == (Why.CHANGED,)
        (diff,) = again.diffs
        assert (diff.old_text, diff.new_text) == (THEIRS, AGENTS)
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, again.id, Answer.ALLOW_ONCE))
        assert outcome.turn == turn
        assert (town.work / OLD).read_text() == AGENTS
        assert await _theirs(wired, chat) == THEIRS.encode()
        (conflict,) = await wired.core.checkpoints.placed_conflicts(chat)
        assert conflict.turn == turn
        change = by_path(outcome)["old.txt"]
        assert change.author is Author.AGENT

    town.run(work)
    assert _written(_lines(town), THEIRS) == [("unknown", "scan")]


@pytest.mark.parametrize("answer", [Answer.DENY, None], ids=["denied", "stopped"])
@pytest.mark.parametrize("step", [_write("disk"), {"delete": "old.txt", "ask": True}], ids=["write", "delete"])
def test_what_is_written_while_a_permission_waits_is_nobodys_we_know_if_it_is_not_given(
    town: LiveTown, step: Step, answer: Answer | None
) -> None:
    choice = town.agent([step])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        (town.work / OLD).write_text(THEIRS)

        async def end() -> None:
            if answer is None:
                await wired.core.live.stop(chat)
            else:
                await wired.core.live.answer(chat, question.id, answer)

        outcome = await town.ended(wired, chat, end)
        assert by_path(outcome)["old.txt"].author is Author.UNKNOWN
        plan = await wired.core.checkpoints.plan_restore(chat, BeforeTurn(1), paths=(), scope=Scope.FILES, mine=Mine())
        assert [one.action for one in plan.files] == [Action.LEAVE], "it may be theirs"

    town.run(work)
    assert (town.work / OLD).read_text() == THEIRS
    assert _written(_lines(town), THEIRS) == [("unknown", "scan")]


def test_what_an_agent_wrote_is_known_before_a_person_is_asked_about_something_else(town: LiveTown) -> None:
    """It writes by itself, and then waits for a command: an edit of the same file meanwhile is not its own."""
    choice = town.agent([{**_write("disk"), "ask": False}, {"shell": "true", "ask": True}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        (town.work / OLD).write_text(THEIRS)
        await town.ended(wired, chat, lambda: wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE))
        assert await wired.core.checkpoints.content(chat, BeforeTurn(1), OLD) == BEFORE.encode()
        assert await _theirs(wired, chat) == THEIRS.encode()

    town.run(work)
    assert {author for author, _ in _written(_lines(town), AGENTS)} == {"agent"}
    assert _written(_lines(town), THEIRS) == [("unknown", "scan")]


@pytest.mark.parametrize("diff", ["full", "fragment"])
@pytest.mark.parametrize("announce", ["after", "update"])
def test_a_write_that_is_told_when_it_is_done_is_the_agents(town: LiveTown, diff: str, announce: str) -> None:
    written = "alphonso" + BEFORE[8:] if diff == "fragment" else AGENTS
    step: Step = {"write": "old.txt", "text": written, "via": "disk", "announce": announce, "diff": diff}
    choice = town.agent([step], [{"write": "old.txt", "text": "more\n"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome = await town.say(wired, chat)
        change = by_path(outcome)["old.txt"]
        assert change.author is Author.AGENT
        assert change.tool_call_id
        await town.say(wired, chat)
        assert await wired.core.checkpoints.placed_conflicts(chat) == []
        await town.restore(wired, chat, 1)

    town.run(work)
    assert (town.work / OLD).read_text() == BEFORE
    assert {author for author, _ in _written(_lines(town), written)} == {"agent"}


def test_what_is_told_afterwards_and_is_not_what_the_disk_shows_is_nobodys(town: LiveTown) -> None:
    told: Step = {"update": {
        "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit", "kind": "edit", "status": "completed",
        "content": [{"type": "diff", "path": str(town.work / OLD), "oldText": BEFORE, "newText": AGENTS}],
    }}  # fmt: skip
    choice = town.agent([{"wait_for": str(town.folder / "on")}, told])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        await town.until(wired, chat, lambda state: state.turn == 1)
        (town.work / OLD).write_text(THEIRS)

        async def go_on() -> None:
            (town.folder / "on").touch()

        outcome = await town.ended(wired, chat, go_on)
        assert by_path(outcome)["old.txt"].author is Author.UNKNOWN

    town.run(work)


@pytest.mark.parametrize("first", [True, False], ids=["chat-wrote-it", "first-change"])
@pytest.mark.parametrize("via", ["terminal", "disk"])
def test_an_edit_made_while_a_command_waits_comes_back_after_the_command_wrote_over_it(
    town: LiveTown, via: str, first: bool
) -> None:
    turns: list[list[Step]] = [[{"write": "old.txt", "text": BEFORE + "one\n"}]] if first else []
    choice = town.agent(*turns, [{"shell": "echo five > old.txt", "ask": True, "via": via}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        if first:
            await town.say(wired, chat)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        (town.work / OLD).write_text(THEIRS)
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE))
        assert by_path(outcome)["old.txt"].author is Author.COMMAND
        (conflict,) = await wired.core.checkpoints.placed_conflicts(chat)
        assert conflict.turn == outcome.turn
        assert await _theirs(wired, chat) == THEIRS.encode()
        assert conflict.theirs is not None
        plan = await wired.core.checkpoints.plan_undo_file(chat, conflict.theirs, OLD, mine=Mine(restore_all=True))
        await wired.core.checkpoints.carry_out(plan)

    town.run(work)
    assert (town.work / OLD).read_text() == THEIRS


def test_an_edit_of_a_file_whose_allowed_write_has_failed_is_somebody_elses(town: LiveTown) -> None:
    asked: Step = {"ask": "Edit", "kind": "edit", "path": "old.txt", "old": BEFORE, "new": AGENTS, "call": "c1"}
    failed: Step = {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed"}}
    choice = town.agent([asked, failed, {"shell": "true", "ask": True}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        await wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE)
        command = await town.question(wired, chat, after=question.id)
        (town.work / OLD).write_text(THEIRS)
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, command.id, Answer.ALLOW_ONCE))
        assert by_path(outcome)["old.txt"].author is Author.UNKNOWN
        plan = await wired.core.checkpoints.plan_restore(chat, BeforeTurn(1), paths=(), scope=Scope.FILES, mine=Mine())
        assert [one.action for one in plan.files] == [Action.LEAVE], "it may be theirs"

    town.run(work)
    assert _written(_lines(town), THEIRS) == [("unknown", "scan")]


def test_an_edit_that_a_failed_write_found_is_not_told_as_the_agents(town: LiveTown) -> None:
    """It is asked again because of the edit, allowed, and fails: what the turn changed is what somebody wrote."""
    asked: Step = {"ask": "Edit", "kind": "edit", "path": "old.txt", "old": BEFORE, "new": AGENTS, "call": "c1"}
    failed: Step = {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed"}}
    choice = town.agent([asked, failed])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        (town.work / OLD).write_text(THEIRS)
        await wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE)
        again = await town.question(wired, chat, after=question.id)
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, again.id, Answer.ALLOW_ONCE))
        assert by_path(outcome)["old.txt"].author is Author.UNKNOWN

    town.run(work)


@pytest.mark.parametrize("more", [[], [{"shell": "true"}], [{"write": "a.txt", "text": "x"}]], ids=["alone", "shell", "write"])
@pytest.mark.parametrize("step", [{"delete": "old.txt"}, {"move": ["old.txt", "new.txt"]}], ids=["delete", "move"])
def test_what_an_agent_says_that_it_takes_away_is_its_own_however_quick_it_is(
    town: LiveTown, step: Step, more: list[Step]
) -> None:
    choice = town.agent([{"write": "b.txt", "text": "x"}, step, *more, {"say": "done"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        changes = by_path(await town.say(wired, chat))
        assert {change.author for change in changes.values()} == {Author.AGENT}
        plan = await wired.core.checkpoints.plan_restore(chat, BeforeTurn(1), paths=(), scope=Scope.FILES, mine=Mine())
        assert Action.LEAVE not in {file.action for file in plan.files}
        await wired.core.checkpoints.carry_out(plan)
        assert (town.work / OLD).read_text() == BEFORE
        assert not (town.work / "new.txt").exists()

    town.run(work)
