"""Live chats with real processes of a scripted agent: turns, questions, stops, deaths, sessions."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.live_town import LiveTown, by_path
from tests.helpers.processes import words
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.agent_errors import AgentNotSignedIn, EmptyPrompt
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    Answer,
    Attachment,
    Headless,
    LivePhase,
    Operation,
    OptionKind,
    Prompt,
    RuleKind,
    StopReason,
    Why,
)
from vibekit_desktop.core.types.checkpoints import AtTag, Author, ChangeStatus
from vibekit_desktop.core.types.errors import Busy
from vibekit_desktop.core.types.events import AnswerStreamed, ChatCreated, LiveTurnEnded, MessageAppended
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    return LiveTown(tmp_path, home, clock)


EDIT = {"write": "a.txt", "text": "agent\n", "ask": True, "via": "disk"}


# -- whole turns -------------------------------------------------------------------------------------------------


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
        await wired.core.live.forget_rule(chat, rule)
        assert not await wired.core.live.rules(chat)

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


# -- the queue ---------------------------------------------------------------------------------------------------


def test_what_is_said_while_a_turn_runs_waits_and_goes_on_by_itself(town: LiveTown) -> None:
    go = town.folder / "go"
    choice = town.agent([{"wait_for": str(go)}], [{"say": "two"}], [{"say": "three"}])

    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await town.new(wired, choice)
        await live.prompt(chat, Prompt(text="one"))
        for text in ("two", "no", "three"):
            await live.prompt(chat, Prompt(text=text))
        state = await live.look(chat)
        assert [one.prompt.text for one in state.queue] == ["two", "no", "three"]
        dropped = await live.unqueue(chat, state.queue[1].id)
        assert dropped == Prompt(text="no")
        assert await live.unqueue(chat, state.queue[1].id) is None
        go.touch()
        await town.until(wired, chat, lambda one: not one.queue and not one.turn and one.phase is LivePhase.IDLE)

    town.run(work)
    assert town.said_to_it() == ["one", "two", "three"]


def test_send_now_stops_what_runs_and_goes_first(town: LiveTown) -> None:
    choice = town.agent([{"say": "x"}, {"sleep": 60}], [{"say": "b"}], [{"say": "a"}])

    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await town.new(wired, choice)
        await live.prompt(chat, Prompt(text="long"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        await live.prompt(chat, Prompt(text="a"))
        await live.prompt(chat, Prompt(text="b"))
        await live.send_now(chat, (await live.look(chat)).queue[1].id)
        await town.until(wired, chat, lambda one: not one.queue and not one.turn and one.phase is LivePhase.IDLE)

    town.run(work)
    assert town.said_to_it() == ["long", "b", "a"]


def test_after_a_stop_the_queue_waits_for_the_person(town: LiveTown) -> None:
    choice = town.agent([{"say": "x"}, {"sleep": 60}], [{"say": "c"}], [{"say": "b"}])

    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await town.new(wired, choice)
        await live.prompt(chat, Prompt(text="a"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        await live.prompt(chat, Prompt(text="b"))
        await town.ended(wired, chat, lambda: live.stop(chat))
        state = await town.idle(wired, chat)
        assert [one.prompt.text for one in state.queue] == ["b"]
        await live.prompt(chat, Prompt(text="c"))
        await town.until(wired, chat, lambda one: not one.queue and not one.turn and one.phase is LivePhase.IDLE)

    town.run(work)
    assert town.said_to_it() == ["a", "c", "b"]


# -- several at once ---------------------------------------------------------------------------------------------


def test_turns_of_several_chats_run_at_once_one_process_each(town: LiveTown) -> None:
    other = town.folder / "other"
    other.mkdir()
    flags = [town.folder / name for name in ("one", "two", "three")]
    scripts = [
        [
            {"touch": str(flag)},
            *({"wait_for": str(one)} for one in flags),
            {"write": f"{flag.name}.txt", "text": "x", "ask": True},
        ]
        for flag in flags
    ]

    async def work(wired: Wired) -> None:
        places = (town.work, town.work, other)
        chats = [
            await town.new(
                wired, AgentChoice(command=town.agent(script, counter=str(town.folder / f"count{number}")).command), place
            )
            for number, (script, place) in enumerate(zip(scripts, places, strict=True))
        ]
        outcomes = await asyncio.gather(*(town.say(wired, chat) for chat in chats))
        assert [set(by_path(one)) for one in outcomes] == [{"one.txt"}, {"two.txt"}, {"three.txt"}]

    town.run(work)
    assert len(town.got("initialize")) == 3


def test_no_restore_while_a_turn_of_its_workspace_runs(town: LiveTown) -> None:
    choice = town.agent([EDIT], [{"say": "x"}, {"sleep": 60}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        with pytest.raises(Busy, match="turn 2"):
            await town.restore(wired, chat, 1)
        await town.ended(wired, chat, lambda: wired.core.live.stop(chat))
        await town.restore(wired, chat, 1)

    town.run(work)
    assert not (town.work / "a.txt").exists()


# -- sessions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("can", "method"), [({"load": True}, "session/load"), ({"load": True, "resume": True}, "session/resume")]
)
def test_the_next_program_goes_on_with_the_same_session(town: LiveTown, can: dict[str, object], method: str) -> None:
    choice = town.agent([{"say": "one"}], [{"say": "two"}], replay=[{"user": "x"}, {"say": "y"}], **can)

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat, "one")
        return chat

    chat = town.run(first)
    town.run(lambda wired: town.say(wired, chat, "two"))
    assert len(town.got(method)) == 1
    assert len(town.got("session/new")) == 1
    assert town.said_to_it() == ["one", "two"]
    assert town.words(chat) == ["user: one", "assistant: one", "user: two", "assistant: two"]


def test_after_a_cut_another_session_is_told_what_is_left(town: LiveTown) -> None:
    choice = town.agent([{"say": "first answer"}], [EDIT, {"say": "second answer"}], [{"say": "third"}], load=True)

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await town.say(wired, chat, "first question")
        await town.say(wired, chat, "second question")
        await town.restore(wired, chat, 2)
        await town.say(wired, chat, "third question")
        view = await wired.core.chats.open(chat)
        assert len(view.chat.prior_acp_session_ids) == 1

    town.run(work)
    assert len(town.got("session/new")) == 2
    last = town.said_to_it()[-1]
    assert "first question" in last
    assert "first answer" in last
    assert "second question" not in last
    assert last.endswith("third question")


def test_a_session_that_is_not_known_any_more_is_begun_anew_and_told(town: LiveTown) -> None:
    choice = town.agent([{"say": "one"}], [{"say": "two"}], load=True, knows=[])

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat, "one")
        return chat

    chat = town.run(first)
    town.run(lambda wired: town.say(wired, chat, "two"))
    assert "User: one" in town.said_to_it()[1]


def test_another_agent_is_told_the_history(town: LiveTown) -> None:
    one, two = town.agent([{"say": "from one"}]), town.agent([], [{"say": "from two"}], name="other")

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, one)
        await town.say(wired, chat, "hello")
        await wired.core.live.choose_agent(chat, two)
        await town.say(wired, chat, "and now")
        assert (await wired.core.chats.open(chat)).chat.agent_command == two.command

    town.run(work)
    assert "from one" in town.said_to_it()[1]


def test_a_session_of_the_agents_own_becomes_a_chat(town: LiveTown) -> None:
    replay = [{"user": "old question"}, {"say": "old answer"}, {"write": "a.txt", "text": "x", "via": "client", "ask": True}]
    choice = town.agent([{"say": "new"}], load=True, list=True, sessions=[{"sessionId": "s-9", "title": "Old"}], replay=replay)

    async def work(wired: Wired) -> None:
        chat = await wired.core.live.continue_session(town.work, choice, "s-9")
        assert await wired.core.live.continue_session(town.work, choice, "s-9") == chat
        view = await wired.core.chats.open(chat)
        assert [message.content.strip() for message in view.messages] == ["old question", "old answer"]
        await town.say(wired, chat, "go on")
        assert not await wired.core.checkpoints.touched(chat)

    town.run(work)
    assert not (town.work / "a.txt").exists()  # nothing is done while a session is told again
    assert town.said_to_it() == ["go on"]


def test_an_agent_that_wants_a_sign_in_is_told_and_nothing_is_stored(town: LiveTown) -> None:
    choice = town.agent([], auth_required=True, auth_methods=[{"id": "login", "name": "Log in"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        with pytest.raises(AgentNotSignedIn) as raised:
            await wired.core.live.prompt(chat, Prompt(text="go"))
        assert raised.value.ways == ("Log in",)
        state = await wired.core.live.look(chat)
        assert [way.id for way in state.sign_in] == ["login"]
        assert state.problem
        assert not (await wired.core.chats.open(chat)).messages
        assert await wired.core.live.discard_empty(chat)

    town.run(work)
    assert town.rows() == []


def test_a_chat_that_nobody_said_anything_in_is_taken_again(town: LiveTown) -> None:
    choice = town.agent([{"say": "x"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        assert await town.new(wired, choice) == chat
        await town.say(wired, chat)
        assert await town.new(wired, choice) != chat
        assert not await wired.core.live.discard_empty(chat)

    town.run(work)


# -- what an agent offers ----------------------------------------------------------------------------------------

MODES = {"currentModeId": "free", "availableModes": [{"id": "free", "name": "Free"}, {"id": "strict", "name": "Strict"}]}


def test_modes_and_commands_are_offered_chosen_and_kept(town: LiveTown) -> None:
    choice = town.agent([{"commands": [["init", "Begin", "what"]]}, {"usage": {"used": 5, "size": 10}}], [], modes=MODES)

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await wired.core.live.start(chat)
        state = await wired.core.live.set_option(chat, _mode(await wired.core.live.look(chat)), "strict")
        assert [(one.kind, one.value) for one in state.options] == [(OptionKind.MODE, "strict")]
        await town.say(wired, chat)
        state = await wired.core.live.look(chat)
        assert [one.name for one in state.commands] == ["init"]
        assert (state.usage.used, state.usage.size) == (5, 10)
        return chat

    chat = town.run(first)
    town.run(lambda wired: wired.core.live.start(chat))
    assert [one["modeId"] for one in town.got("session/set_mode")] == ["strict", "strict"]


def _mode(state: object) -> str:
    options = getattr(state, "options")  # noqa: B009
    return str(next(one.id for one in options if one.kind is OptionKind.MODE))


def test_files_go_with_a_prompt_by_their_path_and_images_where_they_are_taken(town: LiveTown) -> None:
    (town.work / "notes.txt").write_text("hello")
    image = b"\x89PNG\r\n\x1a\n" + b"0" * 20
    choice = town.agent([], images=True)

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        attachments = (
            Attachment(name="notes.txt", path=str(town.work / "notes.txt")),
            Attachment(name="shot.png", media_type="image/png", data=image),
        )
        await town.ended(wired, chat, lambda: wired.core.live.prompt(chat, Prompt(text="see", attachments=attachments)))
        (prompt, *_rest) = (await wired.core.chats.open(chat)).messages
        assert [one.name for one in prompt.attachments] == ["notes.txt", "shot.png"]
        with pytest.raises(EmptyPrompt):
            await wired.core.live.prompt(chat, Prompt(text="  "))

    town.run(work)
    parts = town.got("session/prompt")[0]["prompt"]
    assert isinstance(parts, list)
    assert [part["type"] for part in parts] == ["text", "resource_link", "image"]
    assert parts[1]["uri"].endswith("/notes.txt")


# -- after a crash of ours ---------------------------------------------------------------------------------------


def test_a_turn_that_a_crash_cut_off_is_ended_at_the_next_start(town: LiveTown) -> None:
    choice = town.agent([EDIT])

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        return chat

    chat = town.run(work)
    town.run(lambda wired: wired.core.turns.begin(chat, workspace=town.work, agent=None, prompt="cut off"))
    (lock,) = (town.data / "vaults").glob("*/desktop/turns/*.lock")
    assert lock.read_text() == ""
    lock.write_text("2\n")
    (town.work / "late.txt").write_text("after the crash")

    async def start(wired: Wired) -> None:
        await wired.recover()
        await wired.recover()
        with pytest.raises(Exception, match="turn"):
            await wired.core.turns.end(chat, answer=None)

    town.run(start)
    assert lock.read_text() == ""
