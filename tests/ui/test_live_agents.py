"""A live chat in the window: what its agent may do, what waits for it, what is said of it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from tests.ui import samples
from tests.ui.live_stage import AGENTS, ASKING, CONTROL, IDLE, MAIN, OTHER, RUNNING, SHIFT, Program
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.types.agent_errors import AgentFailed
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    AgentOption,
    Answer,
    Choice,
    Hold,
    LivePhase,
    LiveState,
    Operation,
    OptionKind,
    Prompt,
    QueuedPrompt,
    Rule,
    RuleKind,
    SignIn,
    SignInKind,
    Why,
)
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import BeforeTurn
from vibekit_desktop.core.types.errors import CannotWrite
from vibekit_desktop.core.types.events import (
    ChatDeleted,
)
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.dialogs.question import Question as Dialog
from vibekit_desktop.ui.dialogs.shortcuts import Shortcuts
from vibekit_desktop.ui.dialogs.sign_in import SignInDialog
from vibekit_desktop.ui.views.attachments import of_path
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.main_window import MainWindow


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        found = Program(qtbot)
        yield found
        found.conductor.close()

        bury(found.window)


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
    program.fake.live.states[MAIN] = LiveState(chat=MAIN, phase=LivePhase.UNAVAILABLE, agent="claude-acp")
    program.open(OTHER)
    program.open(MAIN)
    row = program.page.foot.read_only
    assert row.isVisible()
    assert not program.composer.isVisible()
    assert row.accessibleName() == "Claude Code, which made this chat, was not found here."
    assert program.conductor.page.header.agent.text() == "Claude Code", "its id is no name"
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
    program.live(replace(RUNNING, queue=(QueuedPrompt("q", Prompt(text="one")),)))

    def leave(text: str) -> bool:
        async def story() -> bool:
            task = program.conductor.bridge.spawn(program.conductor, program.conductor.may_close(), name="leave")
            await until(lambda: program.waiting == 1)
            await settle()
            (dialog,) = [one for one in program.window.findChildren(Dialog) if one.isVisible()]
            assert dialog.accessibleName() == "Turn 6 is still running."
            assert dialog.accessibleDescription().endswith("1 queued message is kept as a draft.")
            assert not await program.conductor.may_close(), "it is being asked already"
            dialog.button(text).click()
            return await task

        return run(story())

    assert not leave("Keep running")
    assert program.asked("stop") == []
    assert leave("Stop and quit")
    assert program.asked("stop") == [("stop", MAIN)]


def test_what_was_written_and_cannot_be_kept_is_asked_about_before_the_window_closes(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[str] = []
    full = True

    async def set_draft(_chat: ChatId, text: str) -> None:
        if full and text:
            raise CannotWrite("/store/drafts", "No space left on device")
        stored.append(text)

    monkeypatch.setattr(program.fake.chats, "set_draft", set_draft)
    program.page.composer.field.setPlainText("half a thought")
    program.settle()

    def leave(text: str) -> bool:
        async def story() -> bool:
            task = program.conductor.bridge.spawn(program.conductor, program.conductor.may_close(), name="leave")
            await until(lambda: any(one.isVisible() for one in program.window.findChildren(Dialog)))
            (question,) = [one for one in program.window.findChildren(Dialog) if one.isVisible()]
            assert question.accessibleName() == "What you wrote and did not send can't be kept."
            assert not await program.conductor.may_close(), "it is being asked already"
            question.button(text).click()
            return await task

        return run(story())

    assert not leave("Keep running")
    assert leave("Quit without it")
    full = False
    assert run(program.conductor.may_close()), "it is tried again"
    assert stored == ["half a thought"]
    full = True
    assert run(program.conductor.may_close()), "what is stored is not asked about again"


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


@pytest.mark.parametrize("size", [(800, 560), (1000, 620), (1440, 900)])
@pytest.mark.parametrize("waiting", [0, 1, 12])
def test_everything_at_the_foot_is_within_the_page(program: Program, size: tuple[int, int], waiting: int) -> None:
    edit = replace(
        ASKING.questions[0],
        operation=Operation.EDIT,
        subject="setup.cfg",
        title="Something that says a little more",
        why=(Why.RUNS_LATER, Why.CHANGED),
        diffs=(DiffFragment(path="setup.cfg", new_text="line\n" * 300),),
    )
    queue = tuple(QueuedPrompt(f"p{n}", Prompt(text=f"message {n}")) for n in range(waiting))
    program.window.resize(*size)
    program.composer.field.set_text("a prompt\n" * 40)
    program.live(replace(RUNNING, questions=(edit,), queue=queue))
    page, foot = program.page, program.page.foot
    assert page.rect().contains(foot.geometry())
    parts = [foot.permission, *([foot.queue] if waiting else []), foot.composer]
    for upper, lower in pairwise(parts):
        assert upper.geometry().bottom() < lower.geometry().top()
    assert foot.rect().contains(parts[-1].geometry())
    assert page.permission.deny_button.visibleRegion().boundingRect().size() == page.permission.deny_button.size()


def test_tab_goes_from_the_question_by_the_queue_to_the_composer(program: Program) -> None:
    program.live(replace(ASKING, queue=(QueuedPrompt("p1", Prompt(text="one")),)))
    program.composer.add([of_path("/a/b.md")])
    program.page.transcript.setFocus()
    panel, row, composer = program.page.permission, program.page.foot.queue.rows[0], program.composer
    wanted = [
        panel.subject.lines,
        panel.first,
        panel.deny_button,
        row,
        row.edit_button,
        row.send_button,
        row.remove_button,
        *composer.chips.chips(),
        composer.field,
        composer.attach_button,
        composer.queue_button,
        composer.stop_button,
    ]
    seen = []
    for _ in wanted:
        QTest.keyClick(QApplication.focusWidget() or program.window, Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert seen == wanted


def test_tab_goes_from_pane_to_pane_and_to_a_divider_at_the_end_of_its_pane(program: Program) -> None:
    program.live(replace(ASKING, queue=(QueuedPrompt("q", Prompt(text="next")),)))
    program.conductor.sidebar.picker.setFocus()
    names: list[str] = []
    for _ in range(40):
        focus = QApplication.focusWidget()
        assert focus is not None
        names.append(focus.accessibleName())
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        if QApplication.focusWidget() is program.conductor.sidebar.picker:
            break
    order = [
        "Chats",
        "Import",
        "Width of the chat list",
        "Agent: Claude Code",
        "Hide inspector",
        "Transcript",
        "Allow once: Claude Code wants to run a command",
        "Queued message 1: next",
        "Message to Claude Code",
        "Attach files",
        "Stop turn 6",
        "Timeline",
        "Timeline",
        "Width of the inspector",
    ]
    assert [name for name in names if name in order] == order
    assert names[-1] == "Width of the inspector"


def test_what_is_allowed_in_a_chat_can_be_taken_back_before_its_agent_was_started(program: Program) -> None:
    rule = Rule(chat=MAIN, kind=RuleKind.COMMAND, subject="make")
    program.fake.live.kept_rules = [rule]
    program.fake.live.states[MAIN] = replace(IDLE, phase=LivePhase.OFF)
    program.open(OTHER)
    program.open(MAIN)
    assert program.composer.more.isVisible()
    program.live(replace(IDLE, phase=LivePhase.STARTING))
    assert program.composer.more.isVisible(), "the core knows it only when the agent is there"
    program.live(replace(IDLE, phase=LivePhase.OFF))
    program.composer.rule_forgotten.emit(rule)
    program.settle()
    assert program.fake.live.kept_rules == []
    assert not program.composer.more.isVisible()


def test_the_keys_are_listed_in_the_window(program: Program) -> None:
    QTest.keyClick(QApplication.focusWidget() or program.window, Qt.Key.Key_F1)
    run(settle(40))
    (dialog,) = [one for one in program.window.findChildren(Shortcuts) if one.isVisible()]
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert texts[texts.index("New chat") + 1] == "Ctrl N"
    assert texts[texts.index("Keyboard shortcuts", 1) + 1] == "F1 or Ctrl /"
    assert dialog.rect().contains(dialog.card.geometry())
    body = dialog.list.widget()
    assert body.width() <= dialog.list.viewport().width(), "the keys are cut"
    QTest.keyClick(QApplication.focusWidget() or dialog, Qt.Key.Key_Escape)
    program.settle()
    assert not [one for one in program.window.findChildren(Shortcuts) if one.isVisible()]


def test_a_chip_with_one_choice_is_a_fact_and_no_button(program: Program) -> None:
    one = AgentOption(id="m", name="Mode", kind=OptionKind.MODE, value="ask", choices=(Choice("ask", "Ask first"),))
    two = replace(one, choices=(*one.choices, Choice("auto", "Auto")))
    chip = program.page.header.mode
    for option, pressable in ((one, False), (two, True)):
        program.live(replace(IDLE, options=(option,)))
        assert chip.text() == "Ask first"
        assert (chip.focusPolicy() is Qt.FocusPolicy.StrongFocus) is pressable
        assert chip.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents) is not pressable


def test_what_an_agent_offered_last_has_names_before_it_runs_and_where_it_is_gone_is_a_fact(program: Program) -> None:
    choices = (Choice("s-1", "Small"), Choice("l-1", "Large"))
    model = AgentOption(id="model", name="Model", kind=OptionKind.MODEL, value="s-1", choices=choices)
    chip, pick = program.page.header.model, program.composer.model
    program.live(replace(IDLE, phase=LivePhase.OFF, options=(model,)))
    assert (chip.text(), pick.text(), pick.isHidden()) == ("Small", "Small", False)
    assert chip.focusPolicy() is Qt.FocusPolicy.StrongFocus
    program.live(replace(IDLE, phase=LivePhase.UNAVAILABLE, options=(model,)))
    assert chip.text() == "Small"
    assert chip.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_the_chips_of_the_header_stand_inside_it_at_the_largest_text(program: Program) -> None:
    header = program.page.header
    for _ in range(8):
        program.conductor.keys.actions["bigger"].trigger()
    assert header.agent.geometry().bottom() < header.height() - 3


def test_enter_presses_what_has_the_focus_and_not_the_row_around_it(program: Program) -> None:
    program.live(replace(RUNNING, queue=(QueuedPrompt("q", Prompt(text="next")),)))
    program.page.foot.queue.rows[0].remove_button.setFocus()
    program.press(Qt.Key.Key_Return)
    assert program.asked("unqueue", "send_now") == [("unqueue", MAIN, "q")]
    assert program.composer.field.is_empty, "it was removed and not taken to be edited"
    program.conductor.inspector._files_tab.setFocus()
    program.press(Qt.Key.Key_Return)
    assert program.conductor.inspector._files_tab.isChecked()
