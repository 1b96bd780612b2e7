"""Live chats with real processes of a scripted agent: turns, questions, rules, stops, deaths."""

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.live_town import LiveTown, by_path
from tests.helpers.processes import words
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    Answer,
    Headless,
    LivePhase,
    Operation,
    Prompt,
    RuleKind,
    StopReason,
    Why,
)
from vibekit_desktop.core.types.checkpoints import AtTag, Author, ChangeStatus, EntryKind
from vibekit_desktop.core.types.events import AnswerStreamed, ChatCreated, LiveTurnEnded, MessageAppended
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    return LiveTown(tmp_path, home, clock)


EDIT = {"write": "a.txt", "text": "agent\n", "ask": True, "via": "disk"}


# -- whole turns -------------------------------------------------------------------------------------------------


def test_a_move_that_is_told_when_it_was_done_leaves_no_change_by_anybody_else(town: LiveTown) -> None:
    (town.work / "old.txt").write_text("mine\n")

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, town.agent([{"move": ["old.txt", "new.txt"]}, {"say": "Done."}]))
        await town.say(wired, chat)
        timeline = await wired.core.checkpoints.timeline(chat)
        assert [(entry.kind, bool(entry.files)) for entry in timeline.entries] == [
            (EntryKind.TURN, True),
            (EntryKind.NOW, False),
        ]

    town.run(work)


def test_a_turn_is_stored_with_its_answer_its_calls_and_its_files(town: LiveTown) -> None:
    (town.work / "a.txt").write_text("mine\n")
    choice = town.agent(
        [
            {"think": "let me see"},
            {"plan": [["write it", "in_progress"]]},
            {"say": "I will."},
            EDIT,
            {"write": "new/b.txt", "text": "b\n", "ask": True},
            {"say": "Done."},
        ]
    )

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome = await town.say(wired, chat, "Change a\nplease")
        assert outcome.stop_reason is StopReason.END
        assert outcome.turn == 1
        changes = by_path(outcome)
        assert {path: one.status for path, one in changes.items()} == {
            "a.txt": ChangeStatus.MODIFIED,
            "new/b.txt": ChangeStatus.ADDED,
        }
        assert all(one.author is Author.AGENT and one.tool_call_id for one in changes.values())
        assert await town.before_and_after(wired, chat, 1, "a.txt") == (b"mine\n", b"agent\n")
        view = await wired.core.chats.open(chat)
        assert view.header.name == "Change a"
        prompt, answer = view.messages
        assert (prompt.role, prompt.content, prompt.turn, prompt.checkpoint_tag) == ("user", "Change a\nplease", 1, "1")
        assert [block.type for block in answer.blocks] == ["thinking", "text", "tool_use", "tool_use", "text"]
        assert answer.content == "I will.\n\nDone."
        assert answer.plan
        assert all(call.status == "completed" for call in answer.tool_calls)
        await town.restore(wired, chat, 1)

    town.run(work)
    assert (town.work / "a.txt").read_text() == "mine\n"
    assert not (town.work / "new").exists()
    kinds = [type(event) for event in town.events]
    assert kinds.index(ChatCreated) < kinds.index(MessageAppended) < kinds.index(AnswerStreamed) < kinds.index(LiveTurnEnded)


def test_an_edit_waits_for_the_person_and_is_captured_before_the_agent_hears(town: LiveTown) -> None:
    target = town.work / "a.txt"
    target.write_text("mine\n")
    choice = town.agent([{**EDIT, "text": "agent\n"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        assert (question.operation, question.subject, question.turn) == (Operation.EDIT, "a.txt", 1)
        assert Answer.ALLOW_ONCE in question.answers
        assert target.read_text() == "mine\n"
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE))
        assert by_path(outcome)["a.txt"].author is Author.AGENT
        assert await town.before_and_after(wired, chat, 1, "a.txt") == (b"mine\n", b"agent\n")
        await wired.core.live.answer(chat, question.id, Answer.DENY)  # too late: nobody's
        assert [given.answer for given in outcome.permissions] == ["allowed"]

    town.run(work)


def test_what_an_agent_in_its_ask_mode_announces_is_kept_when_it_is_allowed_not_before(town: LiveTown) -> None:
    modes = {"currentModeId": "free", "availableModes": [{"id": "free", "name": "Free"}, {"id": "ask", "name": "Ask"}]}
    command = town.agent([EDIT], modes=modes).command
    desktop = {"programs": [list(command)], "ask_mode": "ask"}
    town.data.mkdir(exist_ok=True)
    (town.data / "agents.json").write_text(json.dumps({"agents": [{"id": "mine", "name": "Mine", "desktop": desktop}]}))

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, AgentChoice(name="mine"))
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        assert not await wired.core.checkpoints.touched(chat)
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, question.id, Answer.DENY))
        assert not outcome.files
        assert not await wired.core.checkpoints.touched(chat)
        assert (await wired.core.chats.open(chat)).chat.agent_id == "mine"

    town.run(work)
    assert [one["modeId"] for one in town.got("session/set_mode")] == ["ask"]


def test_what_is_denied_does_not_happen_and_the_call_says_so(town: LiveTown) -> None:
    (town.work / "a.txt").write_text("mine\n")
    choice = town.agent([EDIT, {"write": "b.txt", "text": "b", "ask": False}, {"say": "ok"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome, asked = await town.answering(wired, chat, Answer.DENY)
        assert len(asked) == 2  # the second is a write through us that nobody asked for
        assert not outcome.files
        assert [given.answer for given in outcome.permissions] == ["denied", "denied"]
        view = await wired.core.chats.open(chat)
        first = view.messages[-1].tool_calls[0]
        assert (first.status, first.outcome) == ("failed", "denied")

    town.run(work)
    assert (town.work / "a.txt").read_text() == "mine\n"
    assert not (town.work / "b.txt").exists()


def test_a_file_that_changed_while_the_question_stood_is_asked_again(town: LiveTown) -> None:
    target = town.work / "a.txt"
    target.write_text("mine\n")
    choice = town.agent([EDIT])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        first = await town.question(wired, chat)
        target.write_text("mine, newer\n")
        await wired.core.live.answer(chat, first.id, Answer.ALLOW_ONCE)
        second = await town.question(wired, chat, after=first.id)
        assert Why.CHANGED in second.why
        await town.ended(wired, chat, lambda: wired.core.live.answer(chat, second.id, Answer.ALLOW_ONCE))
        # The announcement may have been captured too; the newest capture is what stood there when it was allowed.
        path = WorkspacePath("a.txt")
        newest = "1.1" if await town.has_tag(wired, chat, "1.1") else "1"
        assert await wired.core.checkpoints.content(chat, AtTag(Tag(newest)), path) == b"mine, newer\n"

    town.run(work)


def test_what_a_command_changes_is_the_commands(town: LiveTown) -> None:
    (town.work / "gone.txt").write_text("bye\n")
    choice = town.agent([{"shell": "rm gone.txt; echo made > made.txt", "ask": True, "call": "run-1"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome, asked = await town.answering(wired, chat)
        assert [(one.operation, one.subject) for one in asked] == [(Operation.RUN, "rm gone.txt; echo made > made.txt")]
        found = {path: (one.status, one.author, one.tool_call_id) for path, one in by_path(outcome).items()}
        assert found == {
            "gone.txt": (ChangeStatus.DELETED, Author.COMMAND, "run-1"),
            "made.txt": (ChangeStatus.ADDED, Author.COMMAND, "run-1"),
        }
        assert outcome.coverage.complete

    town.run(work)


def test_a_command_in_a_terminal_of_ours_shows_its_output_in_its_call(town: LiveTown) -> None:
    choice = town.agent([{"shell": "echo to see; echo x > t.txt", "ask": True, "via": "terminal", "call": "run-1"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome = await town.say(wired, chat)
        assert by_path(outcome)["t.txt"].author is Author.COMMAND
        call = (await wired.core.chats.open(chat)).messages[-1].tool_calls[0]
        assert call.output.strip() == "to see"

    town.run(work)


def test_how_a_command_ended_is_known_after_a_restart_and_its_time_is_without_the_wait(town: LiveTown) -> None:
    ours = {"shell": "exit 3", "ask": True, "via": "terminal", "call": "ours"}
    told = {"shell": "exit 4", "ask": False, "tells_exit": True, "call": "told"}
    silent = {"shell": "true", "ask": False, "call": "silent"}
    choice = town.agent([ours, told, silent])

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        return chat

    chat = town.run(work)

    async def again(wired: Wired) -> None:
        calls = (await wired.core.chats.open(chat)).messages[-1].tool_calls
        assert {call.id: call.exit_code for call in calls} == {"ours": 3, "told": 4, "silent": None}

    town.run(again)


def test_edits_that_nobody_asks_about_are_found(town: LiveTown) -> None:
    (town.work / "a.txt").write_text("mine\n")
    silent = {"write": "a.txt", "text": "agent\n", "via": "disk", "announce": "never"}
    choice = town.agent([silent, {"shell": "echo s > s.txt", "via": "disk", "ask": False}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome = await town.say(wired, chat)
        assert set(by_path(outcome)) == {"a.txt", "s.txt"}
        assert await town.before_and_after(wired, chat, 1, "a.txt") == (b"mine\n", b"agent\n")
        await town.restore(wired, chat, 1)

    town.run(work)
    assert (town.work / "a.txt").read_text() == "mine\n"
    assert not (town.work / "s.txt").exists()


# -- rules and headless answers ----------------------------------------------------------------------------------


def test_all_edits_in_this_chat_are_asked_once_also_in_the_next_program(town: LiveTown) -> None:
    edits = [{**EDIT, "write": f"{name}.txt"} for name in "ab"]
    choice = town.agent(edits, [{**EDIT, "write": "c.txt"}], load=True)

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        _, asked = await town.answering(wired, chat, Answer.ALLOW_EDITS)
        assert len(asked) == 1
        return chat

    async def second(wired: Wired) -> None:
        (rule,) = await wired.core.live.rules(chat)
        assert rule.kind is RuleKind.EDITS
        outcome, asked = await town.answering(wired, chat)
        assert not asked
        assert set(by_path(outcome)) == {"c.txt"}
        assert (await wired.core.live.look(chat)).rules == (rule,)
        await wired.core.live.forget_rule(chat, rule)
        assert not await wired.core.live.rules(chat)
        assert not (await wired.core.live.look(chat)).rules

    chat = town.run(first)
    town.run(second)


@pytest.mark.parametrize(
    ("allow", "written", "read"), [(Headless.ALL, True, True), (Headless.READS, False, True), (Headless.NONE, False, False)]
)
def test_without_a_person_the_answer_is_given_beforehand(town: LiveTown, allow: Headless, written: bool, read: bool) -> None:
    (town.work / "a.txt").write_text("mine\n")
    choice = town.agent([{"read": "a.txt", "ask": True}, EDIT, {"shell": "touch made.txt", "ask": True}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome = await town.say(wired, chat, allow=allow)
        expected = ["allowed" if read else "denied", *(["allowed" if written else "denied"] * 2)]
        assert [given.answer for given in outcome.permissions] == expected
        assert bool(outcome.files) is written

    town.run(work)
    assert (town.work / "made.txt").exists() is written
    assert (town.work / "a.txt").read_text() == ("agent\n" if written else "mine\n")


def test_nothing_is_written_outside_of_the_workspace_whatever_was_allowed(town: LiveTown) -> None:
    outside = town.folder / "outside.txt"
    steps = [{"write": str(outside), "text": "x", "via": via, "ask": ask} for via in ("client", "disk") for ask in (True,)]
    choice = town.agent([*steps, {"write": str(outside), "text": "x", "via": "client", "ask": False}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome = await town.say(wired, chat)
        assert {given.answer for given in outcome.permissions} == {"refused"}

    town.run(work)
    assert not outside.exists()


# -- stopping and dying ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cancel", ["obey", {"error": {"code": -32603, "message": "Request was aborted."}}])
def test_a_stop_ends_the_turn_and_keeps_what_was_done(town: LiveTown, cancel: object) -> None:
    choice = town.agent([EDIT, {"say": "half"}, {"sleep": 60}], [{"say": "again"}], cancel=cancel)

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        await wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE)
        await town.streamed(wired, chat, lambda message: "half" in "".join(block.text for block in message.blocks))
        outcome = await town.ended(wired, chat, lambda: wired.core.live.stop(chat))
        assert outcome.stop_reason is StopReason.CANCELLED
        assert set(by_path(outcome)) == {"a.txt"}
        view = await wired.core.chats.open(chat)
        assert [message.role for message in view.messages] == ["user", "assistant", "event"]
        assert view.messages[-1].event_kind == "cancelled"
        assert (await town.say(wired, chat)).stop_reason is StopReason.END  # the same process goes on

    town.run(work)
    assert len(town.got("initialize")) == 1


def test_a_stop_answers_the_questions_that_are_open(town: LiveTown) -> None:
    choice = town.agent([EDIT, {"say": "never"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        outcome = await town.ended(wired, chat, lambda: wired.core.live.stop(chat))
        assert outcome.stop_reason is StopReason.CANCELLED
        await wired.core.live.answer(chat, question.id, Answer.ALLOW_ONCE)
        assert not (await town.idle(wired, chat)).questions

    town.run(work)
    assert not (town.work / "a.txt").exists()


def test_an_agent_that_does_not_stop_is_ended_with_its_children(town: LiveTown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vibekit_desktop.core.services.live_turn.STOP_S", 0.3)
    pids = town.folder / "pids"
    hang = [{"child": 600, "pids": str(pids)}, {"say": "x"}, {"hang": True}]
    choice = town.agent(hang, [{"say": "fine"}], cancel="ignore", sigterm="ignore", eof="stay")

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        outcome = await town.ended(wired, chat, lambda: wired.core.live.stop(chat))
        assert outcome.stop_reason is StopReason.CANCELLED
        assert (await town.idle(wired, chat)).phase is LivePhase.OFF
        assert (await town.say(wired, chat)).stop_reason is StopReason.END  # another process

    town.run(work)
    for pid in re.findall(r"\d+", pids.read_text()):
        assert not words(int(pid))


def test_an_agent_that_dies_ends_its_turn_and_the_chat_says_so(town: LiveTown) -> None:
    (town.work / "a.txt").write_text("mine\n")
    choice = town.agent([EDIT, {"say": "so far"}, {"stderr": "it hurts"}, {"crash": 7}], [{"say": "fine"}], load=True)

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome, _ = await town.answering(wired, chat, text="first words")
        assert outcome.stop_reason is StopReason.DIED
        assert "exit status 7" in outcome.problem
        assert set(by_path(outcome)) == {"a.txt"}
        view = await wired.core.chats.open(chat)
        assert [message.role for message in view.messages] == ["user", "assistant", "event"]
        assert view.messages[1].content.strip() == "so far"
        assert "it hurts" in view.messages[2].content
        state = await town.idle(wired, chat)
        assert state.phase is LivePhase.OFF
        assert state.problem
        assert (await town.say(wired, chat)).stop_reason is StopReason.END

    town.run(work)
    assert not town.got("session/load")  # nobody knows what the dead process kept of it
    assert "first words" in town.said_to_it()[1]
    assert "so far" in town.said_to_it()[1]


def test_a_turn_that_takes_too_long_for_who_waits_is_stopped(town: LiveTown) -> None:
    choice = town.agent([{"say": "x"}, {"sleep": 60}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome = await wired.core.live.run(chat, Prompt(text="go"), allow=Headless.ALL, timeout_s=1.0)
        assert outcome.stop_reason is StopReason.TIMED_OUT

    town.run(work)


def test_closing_the_program_ends_a_running_turn_and_keeps_it(town: LiveTown) -> None:
    choice = town.agent([{"say": "half"}, {"sleep": 60}])

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        return chat

    chat = town.run(work)
    assert town.words(chat)[:2] == ["user: go", "assistant: half"]
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(chat))
    assert [one.turn for one in timeline.entries if one.kind == "turn"] == [1]
