"""A live chat in the window: what its agent does is shown as it comes, what a person wants of it reaches the core."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentMissing, AgentNotSignedIn
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    AgentInfo,
    AgentState,
    Answer,
    Hold,
    LivePhase,
    LiveState,
    Operation,
    Prompt,
    Question,
    QueuedPrompt,
    SignIn,
    SignInKind,
    StopReason,
    TurnOutcome,
)
from vibekit_desktop.core.types.chats import Block, Message
from vibekit_desktop.core.types.checkpoints import BeforeTurn, RestoreKind, RestoreReport
from vibekit_desktop.core.types.errors import DraftTooLarge
from vibekit_desktop.core.types.events import (
    AnswerStreamed,
    ChatDeleted,
    ChatUpdated,
    Event,
    HistoryGrew,
    LiveChanged,
    LiveTurnEnded,
    MessageAppended,
)
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.dialogs.question import Question as Dialog
from vibekit_desktop.ui.dialogs.sign_in import SignInDialog
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.attachments import of_path
from vibekit_desktop.ui.views.composer import Composer, Written
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.main_window import MainWindow

MAIN, OTHER = samples.MAIN, samples.BRANCH
IDLE = LiveState(chat=MAIN, phase=LivePhase.IDLE, agent="Claude Code", agent_id="claude", takes_images=True)
RUNNING = replace(IDLE, phase=LivePhase.RUNNING, turn=6, turn_began_at=samples.NOW)
ASKING = replace(
    RUNNING,
    questions=(
        Question(
            id="q1",
            chat=MAIN,
            turn=6,
            agent="Claude Code",
            operation=Operation.RUN,
            subject="make",
            asked_at=samples.NOW,
            answers=(Answer.ALLOW_ONCE, Answer.DENY),
        ),
    ),
)
AGENTS = [
    AgentInfo(id="claude", name="Claude Agent", state=AgentState.READY),
    AgentInfo(id="gemini", name="Gemini CLI", state=AgentState.NOT_SIGNED_IN),
    AgentInfo(id="vibe", name="Mistral Vibe", state=AgentState.NOT_INSTALLED, install="pip install mistral-vibe"),
]


class Program:
    """The window over a core with two chats, an agent in one of them."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        view = samples.chat_view()
        other = replace(view, header=replace(samples.headers()[1], id=OTHER))
        self.fake.chats.headers = samples.headers()
        self.fake.chats.views = {MAIN: view, OTHER: other}
        self.fake.checkpoints.timelines = {MAIN: samples.timeline(), OTHER: replace(samples.timeline(), chat=OTHER)}
        self.fake.live.states = {MAIN: IDLE, OTHER: replace(IDLE, chat=OTHER)}
        self.fake.agents.found = AGENTS
        hub = ThemeHub("light", still=True)
        self.window = MainWindow(hub)
        qtbot.addWidget(self.window)
        self.window.resize(1440, 900)
        self.conductor = Conductor(self.fake.core, hub, self.window)
        with qtbot.waitActive(self.window):
            self.window.show()
            self.window.activateWindow()
        self.page = self.conductor.page

        async def story() -> None:
            await self.conductor.histories.list_chats()
            await self.conductor.open.open(MAIN)
            await until(lambda: not self.conductor._look_again.isActive())
            await self.conductor.settled()

        run(story())
        self.forget()

    def forget(self) -> None:
        """What was asked until now does not matter."""
        for part in (self.fake.live, self.fake.chats, self.fake.checkpoints, self.fake.agents):
            part.calls.clear()

    @property
    def composer(self) -> Composer:
        return self.page.composer

    def tell(self, *events: Event) -> None:
        for event in events:
            self.fake.publish(event)
        self.settle()

    def live(self, state: LiveState) -> None:
        self.fake.live.states[state.chat] = state
        self.tell(LiveChanged(state))

    def settle(self) -> None:
        """Let everything that was begun end."""

        async def story() -> None:
            await settle()
            await until(lambda: self.conductor.bridge.running <= self.waiting)
            await settle()

        run(story())

    @property
    def waiting(self) -> int:
        """Dialogs that wait for an answer."""
        return sum(1 for one in (*self.window.findChildren(Dialog), *self.window.findChildren(SignInDialog)) if one.isVisible())

    def type(self, text: str) -> None:
        self.composer.focus()
        QTest.keyClicks(self.composer.field, text)

    def press(self, key: Qt.Key, *held: Qt.KeyboardModifier) -> None:
        modifiers = Qt.KeyboardModifier.NoModifier
        for one in held:
            modifiers |= one
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifiers)
        self.settle()

    def open(self, chat: ChatId) -> None:
        self.conductor.open_chat(chat)
        self.settle()

    def asked(self, *names: str) -> list[tuple[object, ...]]:
        """What was asked of the live service, by the names of its methods."""
        return [(name, *arguments) for name, arguments in self.fake.live.calls if not names or name in names]


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        found = Program(qtbot)
        yield found
        found.conductor.close()

        bury(found.window)


CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def answer(text: str) -> Message:
    return Message(id="a6", role="assistant", content=text, blocks=(Block(text=text),))


PROMPT = Message(id="u6", role="user", content="Ship it.", turn=6, ts=samples.NOW)


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
    assert [name for name, _ in program.fake.checkpoints.calls] == ["timeline"], "what it changed is fresh"
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
    assert [name for name, _ in program.fake.checkpoints.calls] == ["timeline"]
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


def test_escape_stops_from_anywhere_in_the_window_but_not_long_after(program: Program) -> None:
    program.live(RUNNING)
    program.conductor.sidebar.list.setFocus()
    program.press(Qt.Key.Key_Escape)
    program.conductor.live._disarm.timeout.emit()
    program.conductor.live._disarm.stop()
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


# -- what it may do --------------------------------------------------------------------------------------------------


def read(program: Program) -> None:
    """Time passes in which a person reads."""
    program.page.permission._since -= 10_000


def test_a_question_is_answered_by_button_and_by_key_and_takes_no_focus(program: Program) -> None:
    program.composer.focus()
    program.live(ASKING)
    assert program.page.permission.isVisible()
    assert program.composer.field.hasFocus()
    program.press(Qt.Key.Key_Y, CONTROL, SHIFT)
    assert program.asked("answer") == [], "nobody allows what they did not read"
    read(program)
    program.press(Qt.Key.Key_Y, CONTROL, SHIFT)
    program.press(Qt.Key.Key_N, CONTROL, SHIFT)
    assert program.asked("answer") == [("answer", MAIN, "q1", Answer.ALLOW_ONCE), ("answer", MAIN, "q1", Answer.DENY)]
    program.live(RUNNING)
    assert not program.page.permission.isVisible()
    assert program.composer.field.hasFocus()


def test_a_write_without_a_copy_is_asked_once_more(program: Program) -> None:
    held = replace(
        ASKING.questions[0],
        operation=Operation.EDIT,
        subject="setup.cfg",
        hold=Hold.TOO_LARGE,
        answers=(Answer.RETRY, Answer.UNPROTECTED, Answer.DENY),
    )
    program.live(replace(RUNNING, questions=(held,)))

    def press(text: str) -> None:
        read(program)
        program.page.permission.unprotected.click()
        program.settle()
        (dialog,) = [one for one in program.window.findChildren(Dialog) if one.isVisible()]
        assert dialog.accessibleName() == "Write without a copy?"
        assert "setup.cfg" in dialog.accessibleDescription()
        dialog.button(text).click()
        program.settle()

    press("Cancel")
    assert program.asked("answer") == []
    press("Write without a copy")
    assert program.asked("answer") == [("answer", MAIN, "q1", Answer.UNPROTECTED)]


def test_a_question_of_another_chat_is_shown_in_the_list_only(program: Program) -> None:
    program.live(replace(ASKING, chat=OTHER))
    assert not program.page.permission.isVisible()
    program.open(OTHER)
    assert program.page.permission.isVisible()
    program.open(MAIN)
    assert not program.page.permission.isVisible()


def test_the_system_is_asked_to_call_the_person_only_if_the_window_is_not_in_front(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []
    monkeypatch.setattr(QApplication, "alert", lambda window, *_: called.append(window))
    program.live(ASKING)
    assert called == []
    monkeypatch.setattr(MainWindow, "isActiveWindow", lambda _self: False)
    program.live(ASKING)
    assert called == [], "it is no new question"
    program.live(replace(ASKING, questions=(replace(ASKING.questions[0], id="q2"),)))
    assert len(called) == 1


# -- what waits for the end of a turn --------------------------------------------------------------------------------


def test_undo_and_restore_wait_for_the_turn_and_say_so(program: Program) -> None:
    actions = program.conductor.keys.actions
    program.live(RUNNING)
    assert not any(actions[name].isEnabled() for name in ("undo", "redo", "restore"))
    program.conductor.back.restore_to(BeforeTurn(3))
    assert program.conductor.notifier.shown == "Undo and Restore wait until turn 6 ends."
    program.conductor.undo()
    program.settle()
    assert [name for name, _ in program.fake.checkpoints.calls if name.startswith("plan")] == []
    program.live(IDLE)
    assert all(actions[name].isEnabled() for name in ("undo", "redo", "restore"))


def test_they_wait_for_another_chats_turn_in_the_same_workspace_too(program: Program) -> None:
    program.live(replace(RUNNING, chat=OTHER))
    assert program.conductor.live.why_held == "Undo and Restore wait: a turn of another chat runs in this workspace."
    elsewhere = next(one for one in program.fake.chats.headers if one.workspace != samples.WORKSPACE)
    program.live(replace(IDLE, chat=OTHER))
    program.live(replace(RUNNING, chat=elsewhere.id))
    assert program.conductor.live.why_held == ""


# -- what is shown of the agent --------------------------------------------------------------------------------------


def test_a_chat_without_its_agent_can_be_continued_here_or_copied(program: Program) -> None:
    program.fake.live.states[MAIN] = LiveState(chat=MAIN, phase=LivePhase.UNAVAILABLE, agent="Codex")
    program.open(OTHER)
    program.open(MAIN)
    row = program.page.foot.read_only
    assert row.isVisible()
    assert not program.composer.isVisible()
    assert row.accessibleName() == "This chat was made with Codex, which was not found on this computer."
    row.copy.click()
    program.settle()
    assert QGuiApplication.clipboard().text().endswith("# Untitled chat\n")
    menu = program.conductor.agents.agents_menu(AGENTS)
    assert [action.text() for action in menu.actions() if action.text()] == [
        "Claude Agent",
        "Gemini CLI\tNot signed in",
        "Another agent…",
    ]
    menu.actions()[0].trigger()
    program.settle()
    assert program.asked("choose_agent") == [("choose_agent", MAIN, AgentChoice(name="claude"))]
    assert program.composer.isVisible()
    assert program.composer.field.hasFocus()


@pytest.mark.parametrize("change", ["archived", "missing"])
def test_what_cannot_be_gone_on_with_has_no_composer(program: Program, change: str) -> None:
    view = program.fake.chats.views[OTHER]
    if change == "archived":
        view = replace(view, header=replace(view.header, archived=True))
    else:
        view = replace(view, workspace_found=False)
    program.fake.chats.views[OTHER] = view
    program.open(OTHER)
    assert not program.composer.isVisible()
    assert not program.page.foot.read_only.go_on.isVisible()


def banner(program: Program) -> tuple[str, str]:
    shown = program.page.banner
    (button,) = shown.findChildren(Button)
    return (shown.accessibleName(), button.text() if button.isVisible() else "") if shown.isVisible() else ("", "")


def test_an_agent_that_stopped_is_said_and_can_be_started_again(program: Program) -> None:
    program.live(replace(IDLE, phase=LivePhase.OFF, error=AgentFailed("Claude Code", "prompt", "exit", said="<b>boom</b>")))
    assert banner(program) == ("Claude Code stopped unexpectedly.", "Restart")
    program.page.banner.findChildren(Button)[0].click()
    program.settle()
    assert program.asked("start") == [("start", MAIN)]
    program.live(IDLE)
    assert banner(program) == ("", "")


def test_an_agent_that_wants_a_sign_in_is_signed_in_by_itself_or_tells_how(program: Program) -> None:
    own = SignIn(id="login", name="Log in")
    shell = SignIn(id="term", name="Terminal", kind=SignInKind.TERMINAL, command=("/usr/bin/claude", "/login now"))
    wants = replace(IDLE, phase=LivePhase.OFF, problem="Claude Code wants you to sign in first.", sign_in=(own,))
    program.live(wants)
    assert banner(program) == ("Claude Code wants you to sign in first.", "Sign in…")
    program.page.banner.findChildren(Button)[0].click()
    program.settle()
    assert ("sign_in", ("claude", "login")) in program.fake.agents.calls
    assert program.asked("start") == [("start", MAIN)]
    program.live(replace(wants, sign_in=(own, shell)))
    program.page.banner.findChildren(Button)[0].click()
    program.settle()
    (dialog,) = program.window.findChildren(SignInDialog)
    next(one for one in dialog.findChildren(Button) if one.text() == "Copy").click()
    assert QGuiApplication.clipboard().text() == "/usr/bin/claude '/login now'"
    dialog.again.click()
    program.settle()
    assert program.asked("start") == [("start", MAIN)] * 2


def test_a_turn_that_runs_is_asked_about_before_the_window_closes(program: Program) -> None:
    assert run(program.conductor.may_close())
    program.live(RUNNING)

    def leave(text: str) -> bool:
        async def story() -> bool:
            task = program.conductor.bridge.spawn(program.conductor, program.conductor.may_close(), name="leave")
            await until(lambda: program.waiting == 1)
            await settle()
            (dialog,) = [one for one in program.window.findChildren(Dialog) if one.isVisible()]
            assert dialog.accessibleName() == "Turn 6 is still running."
            assert not await program.conductor.may_close(), "it is being asked already"
            dialog.button(text).click()
            return await task

        return run(story())

    assert not leave("Keep running")
    assert program.asked("stop") == []
    assert leave("Stop and quit")
    assert program.asked("stop") == [("stop", MAIN)]


def test_a_chat_in_which_nobody_said_anything_goes_when_it_is_left(program: Program) -> None:
    view = program.fake.chats.views[OTHER]
    empty = replace(
        view, messages=(), turns=(), header=replace(view.header, source="", message_count=0), chat=samples.chat_view(()).chat
    )
    program.fake.chats.views[OTHER] = empty
    program.open(OTHER)
    program.open(MAIN)
    assert program.asked("discard_empty") == [("discard_empty", OTHER)]
    program.open(OTHER)
    program.type("half a prompt")
    program.open(MAIN)
    assert len(program.asked("discard_empty")) == 1, "what was written there is kept"


def test_a_chat_that_is_gone_leaves_nothing_to_write_in(program: Program) -> None:
    program.tell(ChatDeleted(MAIN))
    assert program.window.page == "empty"
    program.press(Qt.Key.Key_X, CONTROL, SHIFT)
    assert program.asked("stop") == []
