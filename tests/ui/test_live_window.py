"""A live chat in the window: what is said, stored and shown while its turn runs."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.ui import samples
from tests.ui.live_stage import CONTROL, IDLE, MAIN, OTHER, PROMPT, RUNNING, SHIFT, Program, answer
from tests.ui.spin import bury, own_loop, run, settle
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentMissing, AgentNotSignedIn
from vibekit_desktop.core.types.agents import (
    LivePhase,
    Prompt,
    QueuedPrompt,
    StopReason,
    TurnOutcome,
)
from vibekit_desktop.core.types.checkpoints import RestoreKind, RestoreReport
from vibekit_desktop.core.types.errors import DraftTooLarge
from vibekit_desktop.core.types.events import (
    AnswerStreamed,
    ChatUpdated,
    HistoryGrew,
    LiveChanged,
    LiveTurnEnded,
    MessageAppended,
)
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui import sending
from vibekit_desktop.ui.views.attachments import of_path
from vibekit_desktop.ui.views.composer import Written


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        found = Program(qtbot)
        yield found
        found.conductor.close()

        bury(found.window)


# -- saying something ------------------------------------------------------------------------------------------------


def test_a_prompt_goes_to_the_agent_and_its_text_and_draft_go(program: Program) -> None:
    program.type("Ship it.")
    program.press(Qt.Key.Key_Return)
    assert program.asked("prompt") == [("prompt", MAIN, Prompt(text="Ship it."))]
    assert program.composer.field.is_empty
    assert program.fake.chats.drafts[MAIN] == ""
    assert program.composer.field.hasFocus()


@pytest.mark.parametrize(
    "error",
    [
        AgentMissing("Claude Code", "npm i claude"),
        AgentNotSignedIn("Claude Code", ("login",), "no"),
        AgentFailed("Claude Code", "start", "exit"),
    ],
)
def test_a_refused_prompt_keeps_its_text_and_says_why(program: Program, error: Exception) -> None:
    program.fake.live.raises["prompt"] = error
    program.composer.add([of_path("/a/b.md")])
    program.type("Ship it.")
    program.press(Qt.Key.Key_Return)
    assert program.composer.written == Written("Ship it.", (of_path("/a/b.md"),))
    assert program.conductor.notifier.shown.startswith("Claude Code")
    program.press(Qt.Key.Key_Return)
    assert len(program.asked("prompt")) == 2
    assert program.composer.field.is_empty


def test_what_is_sent_is_not_lost_when_another_chat_is_opened_meanwhile(program: Program) -> None:
    program.type("Ship it.")
    program.fake.live.raises["prompt"] = AgentFailed("Claude Code", "start", "exit")
    QTest.keyClick(program.composer.field, Qt.Key.Key_Return)
    program.open(OTHER)
    assert program.composer.field.is_empty
    program.open(MAIN)
    assert program.composer.field.text == "Ship it."


def test_the_agent_of_a_chat_is_started_while_the_first_prompt_is_written(program: Program) -> None:
    program.live(replace(IDLE, phase=LivePhase.OFF))
    program.forget()
    program.type("Sh")
    program.settle()
    assert program.asked() == [("start", MAIN)]


def test_an_agent_that_cannot_be_started_is_not_started_by_typing(program: Program) -> None:
    program.live(replace(IDLE, phase=LivePhase.OFF, problem="Claude Code stopped unexpectedly."))
    program.forget()
    program.type("Sh")
    program.settle()
    assert program.asked() == []


# -- while the agent starts ------------------------------------------------------------------------------------------


LOOK = ["timeline", "pins", "placed_conflicts"]
"""What is asked for once when files may have changed."""
STARTING = replace(
    IDLE, phase=LivePhase.STARTING, problem="It did not start.", error=AgentFailed("Claude Code", "start", "exit")
)


@pytest.fixture
def slow(program: Program, monkeypatch: pytest.MonkeyPatch) -> dict[str, asyncio.Future[None]]:
    """Prompts that are said when the test says so, by their text."""
    waiting: dict[str, asyncio.Future[None]] = {}

    async def prompt(chat: ChatId, prompt: Prompt) -> None:
        program.fake.live.note("prompt", chat, prompt)
        waiting[prompt.text] = asyncio.get_running_loop().create_future()
        await waiting[prompt.text]

    monkeypatch.setattr(program.fake.live, "prompt", prompt)
    monkeypatch.setattr(sending, "PARK_MS", 0)
    return waiting


def _send(program: Program, text: str) -> None:
    program.type(text)
    QTest.keyClick(program.composer.field, Qt.Key.Key_Return)
    run(settle(40))


def test_a_start_can_be_stopped_and_an_old_failure_is_not_told_meanwhile(program: Program) -> None:
    program.live(replace(STARTING, phase=LivePhase.OFF))
    assert program.page.banner.isVisible()
    program.live(STARTING)
    assert not program.page.banner.isVisible()
    assert program.composer.stop_button.isVisible()
    assert program.composer.send_button.isVisible()
    assert program.composer.stop_button.accessibleName() == "Stop starting Claude Code"
    program.composer.stop_button.click()
    program.settle()
    assert program.asked("stop") == [("stop", MAIN)]
    program.press(Qt.Key.Key_Escape)
    program.press(Qt.Key.Key_Escape)
    assert program.asked("stop") == [("stop", MAIN)] * 2
    menu = program.conductor.agents.agents_menu(program.fake.agents.found)
    others = [action for action in menu.actions() if action.text() in ("Claude Agent", "Another agent…")]
    assert [action.isEnabled() for action in others] == [True, True]


def test_while_the_agent_starts_more_can_be_written_and_is_queued(
    program: Program, slow: dict[str, asyncio.Future[None]]
) -> None:
    program.live(STARTING)
    _send(program, "first")
    queue = program.page.foot.queue
    assert [row.id for row in queue.rows] == [sending.PARKED]
    assert program.composer.field.is_empty
    _send(program, "second")
    slow["second"].set_result(None)
    program.fake.live.states[MAIN] = replace(STARTING, queue=(QueuedPrompt("q", Prompt(text="second")),))
    program.fake.publish(LiveChanged(program.fake.live.states[MAIN]))
    run(settle(40))
    assert [row.id for row in queue.rows] == [sending.PARKED, "q"]
    slow["first"].set_result(None)
    program.live(RUNNING)
    assert not queue.isVisible()
    assert program.composer.field.is_empty


@pytest.mark.parametrize("edit", [True, False])
def test_a_prompt_whose_start_is_stopped_is_written_again(
    program: Program, slow: dict[str, asyncio.Future[None]], edit: bool
) -> None:
    program.live(STARTING)
    _send(program, "first")
    program.type("more")
    row = program.page.foot.queue.rows[0]
    (row.edit_button if edit else row.remove_button).click()
    run(settle())
    assert program.asked("stop") == [("stop", MAIN)]
    slow["first"].set_result(None)  # the core's word for a start that somebody stopped
    program.live(IDLE)
    assert program.composer.field.text == ("first\n\nmore" if edit else "more")
    assert not program.page.foot.queue.isVisible()


def test_a_prompt_whose_agent_does_not_start_is_written_again(program: Program, slow: dict[str, asyncio.Future[None]]) -> None:
    program.live(STARTING)
    _send(program, "first")
    slow["first"].set_exception(AgentFailed("Claude Code", "start", "exit"))
    program.live(replace(IDLE, phase=LivePhase.OFF))
    assert program.composer.field.text == "first"
    assert program.conductor.notifier.shown.startswith("Claude Code")


# -- drafts ----------------------------------------------------------------------------------------------------------


def test_what_is_written_is_stored_and_comes_back_with_its_chat(program: Program) -> None:
    program.fake.chats.drafts[OTHER] = "from before"
    program.type("half a")
    program.composer.add([of_path("/a/b.md")])
    program.open(OTHER)
    assert program.composer.written == Written("from before")
    program.open(MAIN)
    assert program.composer.written == Written("half a", (of_path("/a/b.md"),))
    program.conductor.live.drafts.store_now()
    program.settle()
    assert program.fake.chats.drafts[MAIN] == "half a"


def test_a_draft_that_was_typed_just_before_the_end_is_stored(program: Program) -> None:
    program.type("half a sent")
    program.conductor.close()
    run(program.conductor.drained())
    assert program.fake.chats.drafts[MAIN] == "half a sent"


def test_what_is_queued_when_the_program_ends_is_kept_before_what_is_being_written(program: Program) -> None:
    queue = tuple(QueuedPrompt(text, Prompt(text=text)) for text in ("one", "two"))
    program.live(replace(RUNNING, queue=queue))
    program.type("three")
    program.conductor.close()
    run(program.conductor.drained())
    assert program.fake.chats.drafts[MAIN] == "one\n\ntwo\n\nthree"


def test_what_was_queued_and_is_said_is_no_draft_any_more(program: Program) -> None:
    program.live(replace(RUNNING, queue=(QueuedPrompt("q", Prompt(text="one")),)))
    program.conductor.live.drafts.store_now()
    program.settle()
    assert program.fake.chats.drafts[MAIN] == "one"
    assert program.composer.field.is_empty
    program.live(RUNNING)
    program.conductor.live.drafts.store_now()
    program.settle()
    assert program.fake.chats.drafts[MAIN] == ""


def test_a_draft_that_cannot_be_stored_is_said_once(program: Program) -> None:
    for text in ("a", "b"):
        program.fake.chats.raises["set_draft"] = DraftTooLarge(MAIN, 300_000)
        program.type(text)
        program.conductor.live.drafts.store_now()
        program.settle()
        said = program.conductor.notifier.shown
        program.conductor.notifier.dismiss()
    assert said == ""


def test_the_prompt_that_a_restore_cut_is_written_again_and_goes_when_that_is_undone(program: Program) -> None:
    done = RestoreReport(
        chat=MAIN, kind=RestoreKind.RESTORE, entry=1, restored=(), left=(), failed=(), verified=True, next_prompt="Try again."
    )
    program.conductor.checkpoints.finished.emit(MAIN, done)
    assert program.composer.field.text == "Try again."
    program.conductor.checkpoints.finished.emit(MAIN, replace(done, kind=RestoreKind.UNDO, next_prompt=""))
    assert program.composer.field.is_empty
    program.type("mine")
    program.conductor.checkpoints.finished.emit(MAIN, done)
    assert program.composer.field.text == "Try again.\n\nmine"
    program.type("!")
    program.conductor.checkpoints.finished.emit(MAIN, replace(done, kind=RestoreKind.UNDO, next_prompt=""))
    assert program.composer.field.text == "Try again.\n\nmine!", "a person went on with it"


# -- the turn that runs ----------------------------------------------------------------------------------------------


def test_a_running_turn_is_shown_without_reading_the_chat_again(program: Program) -> None:
    program.tell(LiveChanged(RUNNING), MessageAppended(MAIN, PROMPT))
    header = replace(program.fake.chats.views[MAIN].header, message_count=11, updated_at=samples.NOW + 1)
    for n in range(30):
        program.fake.publish(AnswerStreamed(MAIN, 6, answer("word " * n)))
        program.fake.publish(ChatUpdated(header))
    program.tell(HistoryGrew(MAIN, samples.WORKSPACE))
    assert [name for name, _ in program.fake.chats.calls if name == "open"] == []
    assert [name for name, _ in program.fake.checkpoints.calls] == LOOK, "what it changed is fresh"
    assert not program.composer.send_button.isVisible()


def test_the_end_of_a_turn_reads_the_chat_once(program: Program) -> None:
    program.tell(LiveChanged(RUNNING), MessageAppended(MAIN, PROMPT), AnswerStreamed(MAIN, 6, answer("Done.")))
    program.forget()
    header = replace(program.fake.chats.views[MAIN].header, message_count=12, updated_at=samples.NOW + 2)
    program.tell(
        MessageAppended(MAIN, answer("Done.")),
        ChatUpdated(header),
        HistoryGrew(MAIN, samples.WORKSPACE),
        LiveTurnEnded(TurnOutcome(chat=MAIN, turn=6, stop_reason=StopReason.END)),
        LiveChanged(IDLE),
    )
    assert [name for name, _ in program.fake.chats.calls if name == "open"] == ["open"]
    assert [name for name, _ in program.fake.checkpoints.calls] == LOOK
    assert program.conductor.notifier.shown == ""


@pytest.mark.parametrize(
    ("reason", "problem", "said"),
    [
        (StopReason.END, "", ""),
        (StopReason.CANCELLED, "", ""),
        (StopReason.MAX_TOKENS, "", "Turn 6 ended: the answer had become too long for the agent."),
        (StopReason.REFUSAL, "", "Turn 6 ended: the agent refused to go on."),
        (StopReason.DIED, "Claude Code stopped unexpectedly.", "Claude Code stopped unexpectedly."),
        (StopReason.FAILED, "", "Turn 6 ended: the agent could not go on."),
    ],
)
def test_a_turn_that_did_not_end_by_itself_says_why(program: Program, reason: StopReason, problem: str, said: str) -> None:
    program.live(RUNNING)
    program.tell(LiveTurnEnded(TurnOutcome(chat=MAIN, turn=6, stop_reason=reason, problem=problem)))
    assert program.conductor.notifier.shown == said


def test_stop_by_button_by_key_and_by_escape_twice(program: Program) -> None:
    program.live(RUNNING)
    program.composer.stop_button.click()
    program.settle()
    program.press(Qt.Key.Key_X, CONTROL, SHIFT)
    program.composer.focus()
    program.press(Qt.Key.Key_Escape)
    assert len(program.asked("stop")) == 2
    assert program.composer.hint == "Press Esc again to stop"
    program.press(Qt.Key.Key_Escape)
    assert program.asked("stop") == [("stop", MAIN)] * 3


def test_the_escape_that_closes_a_drawer_does_not_arm_stop_and_gives_the_focus_back(program: Program) -> None:
    program.live(RUNNING)
    program.window.resize(800, 560)
    program.composer.focus()
    program.press(Qt.Key.Key_F9, SHIFT)
    program.conductor.inspector.shown_list().setFocus()
    program.press(Qt.Key.Key_Escape)
    assert not program.window.panes.has_drawer
    assert program.composer.hint != "Press Esc again to stop"
    assert program.composer.field.hasFocus()
    program.press(Qt.Key.Key_Escape)
    assert program.composer.hint == "Press Esc again to stop"
    assert program.asked("stop") == []


def test_escape_stops_from_anywhere_in_the_window_but_not_long_after(program: Program) -> None:
    program.live(RUNNING)
    program.conductor.sidebar.list.setFocus()
    program.press(Qt.Key.Key_Escape)
    program.conductor.live._twice._timer.timeout.emit()
    program.conductor.live._twice.forget()
    program.press(Qt.Key.Key_Escape)
    assert program.asked("stop") == []
    program.press(Qt.Key.Key_Escape)
    assert program.asked("stop") == [("stop", MAIN)]


def test_escape_means_nothing_while_no_turn_runs(program: Program) -> None:
    program.composer.focus()
    for _ in range(3):
        program.press(Qt.Key.Key_Escape)
    assert program.asked("stop") == []


def test_a_prompt_during_a_turn_is_queued_and_the_queue_can_be_changed(program: Program) -> None:
    waiting = (QueuedPrompt("p1", Prompt(text="one")), QueuedPrompt("p2", Prompt(text="two", attachments=(of_path("/a"),))))
    program.live(replace(RUNNING, queue=waiting))
    strip = program.page.foot.queue
    assert strip.isVisible()
    strip.rows[0].send_button.click()
    strip.rows[1].edit_button.click()
    program.settle()
    assert program.asked("send_now", "unqueue") == [("send_now", MAIN, "p1"), ("unqueue", MAIN, "p2")]
    assert program.composer.written == Written("two", (of_path("/a"),))
    program.live(replace(RUNNING, queue=waiting[:1]))
    strip.rows[0].remove_button.click()
    program.settle()
    assert program.composer.field.text == "two", "what was removed is not written again"


def test_a_queued_prompt_that_was_sent_meanwhile_is_said_so(program: Program) -> None:
    program.live(replace(RUNNING, queue=(QueuedPrompt("p1", Prompt(text="one")),)))
    program.fake.live.states[MAIN] = RUNNING
    program.page.foot.queue.rows[0].edit_button.click()
    program.settle()
    assert program.conductor.notifier.shown == "That message was sent meanwhile."


def test_up_brings_back_the_queued_prompt_or_else_the_last_one(program: Program) -> None:
    program.composer.focus()
    program.press(Qt.Key.Key_Up)
    last = [one.content for one in program.fake.chats.views[MAIN].messages if one.role == "user"][-1]
    assert program.composer.field.text == last
    program.composer.write(Written())
    program.live(replace(RUNNING, queue=(QueuedPrompt("p1", Prompt(text="one")),)))
    program.composer.focus()
    program.press(Qt.Key.Key_Up)
    assert program.composer.field.text == "one"
    assert program.asked("unqueue") == [("unqueue", MAIN, "p1")]
