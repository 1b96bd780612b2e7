"""A chat that begins: in which folder, with which agent, anew or with a session of the agent's own. Nothing is installed."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import own_loop, run, settle, until
from vibekit_desktop.core.types.agent_errors import NotOffered, UnknownAgent
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    AgentInfo,
    AgentSession,
    AgentState,
    LivePhase,
    LiveState,
    SignIn,
    SignInKind,
)
from vibekit_desktop.core.types.events import AgentChecked
from vibekit_desktop.core.types.ids import new_chat_id
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.dialogs.new_chat import NewChatDialog
from vibekit_desktop.ui.dialogs.sign_in import AGAIN, SignInDialog
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.main_window import MainWindow

LANTERN = "/home/ada/code/lantern"
AGENTS = [
    AgentInfo(id="vibe", name="Mistral Vibe", state=AgentState.NOT_INSTALLED, install="pip install mistral-vibe"),
    AgentInfo(id="claude", name="Claude Agent", state=AgentState.READY, version="0.49.0"),
    AgentInfo(id="codex", name="Codex", state=AgentState.FOUND),
    AgentInfo(id="gemini", name="<b>Gemini</b>", state=AgentState.NOT_SIGNED_IN),
]
SESSIONS = [
    AgentSession(id="s1", title="Fix the\nexport", workspace=samples.WORKSPACE, updated_at=samples.NOW),
    AgentSession(id="s2", title="", workspace=samples.WORKSPACE),
]


class Program:
    """The window over a core that knows some agents."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        self.fake.chats.headers = samples.headers()
        self.fake.chats.views = {samples.MAIN: samples.chat_view()}
        self.fake.checkpoints.timelines = {samples.MAIN: samples.timeline()}
        self.fake.agents.found = AGENTS
        self.fake.library.folders = [samples.WORKSPACE, LANTERN]
        hub = ThemeHub("light", still=True)
        self.window = MainWindow(hub)
        qtbot.addWidget(self.window)
        self.window.resize(1440, 900)
        self.conductor = Conductor(self.fake.core, hub, self.window)
        with qtbot.waitActive(self.window):
            self.window.show()
            self.window.activateWindow()

        async def story() -> None:
            await self.conductor.histories.list_chats()
            await self.conductor.open.open(samples.MAIN)
            await until(lambda: not self.conductor._look_again.isActive())
            await self.conductor.settled()

        run(story())

    @property
    def dialogs(self) -> list[NewChatDialog]:
        return [one for one in self.window.findChildren(NewChatDialog) if one.isVisible()]

    @property
    def dialog(self) -> NewChatDialog:
        (found,) = self.dialogs
        return found

    def ask(self, **about: str) -> NewChatDialog:
        """Ask for a new chat and wait for the dialog."""
        self.conductor.agents.new_chat(**about)
        self.settle()
        return self.dialog

    def settle(self) -> None:
        async def story() -> None:
            await settle()
            await until(lambda: self.conductor.bridge.running <= len(self.dialogs))
            await settle()

        run(story())

    def press(self, button: Button) -> None:
        button.click()
        self.settle()

    def asked(self, name: str) -> list[tuple[object, ...]]:
        return [arguments for called, arguments in self.fake.live.calls if called == name]


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        found = Program(qtbot)
        yield found
        found.conductor.close()
        run(found.conductor.drained())  # a dialog that is open ends before its window


def test_ctrl_n_asks_and_start_begins_a_chat_in_the_folder_that_is_open(program: Program) -> None:
    made = new_chat_id()

    async def new_chat(workspace: object, choice: object) -> object:
        program.fake.live.note("new_chat", workspace, choice)
        header = replace(samples.headers()[0], id=made, source="", message_count=0)
        program.fake.chats.views[made] = replace(samples.chat_view(()), header=header)
        program.fake.live.states[made] = LiveState(chat=made, phase=LivePhase.IDLE, agent="Claude Agent")
        return made

    program.fake.live.new_chat = new_chat  # type: ignore[method-assign,assignment]  # answers with a chat that can be opened
    QTest.keyClick(program.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    program.settle()
    dialog = program.dialog
    assert dialog.agents.hasFocus()
    assert dialog.primary.text() == "Start chat"
    program.press(dialog.primary)
    ((workspace, choice),) = program.asked("new_chat")
    assert (str(workspace), choice) == (samples.WORKSPACE, AgentChoice(name="claude"))
    assert program.conductor.open.chat == made
    assert program.conductor.page.composer.field.hasFocus()
    blank = [label.text() for label in program.conductor.page.transcript.findChildren(QLabel) if label.isVisible()]
    assert "A new chat with Claude Agent in tidepool" in blank


def test_escape_begins_nothing_and_gives_the_focus_back(program: Program) -> None:
    program.conductor.page.transcript.setFocus()
    program.ask()
    QTest.keyClick(program.dialog.agents, Qt.Key.Key_Escape)
    program.settle()
    assert program.dialogs == []
    assert program.asked("new_chat") == []
    assert program.conductor.page.transcript.hasFocus()


def test_the_first_agent_that_is_here_is_chosen_and_the_keys_choose_another(program: Program) -> None:
    dialog = program.ask()
    assert dialog.choice == AgentChoice(name="claude")
    QTest.keyClick(dialog.agents, Qt.Key.Key_Down)
    assert dialog.choice == AgentChoice(name="codex")
    QTest.keyClick(dialog.agents, Qt.Key.Key_Home)
    assert dialog.choice is None
    assert not dialog.primary.isEnabled(), "it is not installed"
    QTest.keyClick(dialog.agents, Qt.Key.Key_Return)
    assert program.dialogs
    QTest.keyClick(dialog.agents, Qt.Key.Key_End)
    QTest.keyClick(dialog.agents, Qt.Key.Key_Return)
    program.settle()
    assert program.asked("new_chat")[0][1] == AgentChoice(name="gemini")


def test_what_is_not_installed_tells_how_and_installs_nothing(program: Program) -> None:
    dialog = program.ask()
    copy = next(one for one in dialog.findChildren(Button) if one.accessibleName().startswith("Copy the command"))
    copy.click()
    assert QGuiApplication.clipboard().text() == "pip install mistral-vibe"
    assert dialog.note.text() == "The command was copied. Nothing was installed."
    names = [row.accessibleName() for row in dialog.agents.rows]
    assert names[:2] == ["Mistral Vibe, Not installed, pip install mistral-vibe", "Claude Agent 0.49.0, Ready"]


def test_a_command_of_ones_own_goes_before_the_list(program: Program) -> None:
    dialog = program.ask()
    dialog.command.setText("'/opt/my agent/run' --acp")
    assert dialog.choice == AgentChoice(name="run", command=("/opt/my agent/run", "--acp"))
    dialog.command.setText("'/opt/my agent")
    assert dialog.choice is None
    assert not dialog.primary.isEnabled()
    assert dialog.note.text() == "A quotation mark is missing in that command."
    dialog.command.setText("my-agent")
    QTest.keyClick(dialog.command, Qt.Key.Key_Return)
    program.settle()
    assert program.asked("new_chat")[0][1] == AgentChoice(name="my-agent", command=("my-agent",))


def test_another_folder_is_chosen_from_the_recent_ones_or_the_disk(program: Program) -> None:
    dialog = program.ask()
    dialog.folder.picked.emit(LANTERN)
    dialog.folder.picked.emit(dialog.folder._choices[-1][1])
    (chooser,) = program.window.findChildren(QFileDialog)
    chooser.fileSelected.emit("/srv/new")
    chooser.close()
    assert dialog.folder.text().startswith("new")
    program.press(dialog.primary)
    assert str(program.asked("new_chat")[0][0]) == "/srv/new"


def test_without_a_folder_nothing_can_begin(program: Program) -> None:
    program.fake.library.folders = []
    program.conductor.open.view = None
    dialog = program.ask()
    assert not dialog.primary.isEnabled()
    assert not dialog.ask_sessions.isVisible()


def test_a_session_that_the_agent_keeps_can_be_gone_on_with(program: Program) -> None:
    program.fake.agents.kept = SESSIONS
    dialog = program.ask()
    program.press(dialog.ask_sessions)
    (asked,) = [arguments for name, arguments in program.fake.agents.calls if name == "sessions"]
    assert (asked[0], str(asked[1])) == (AgentChoice(name="claude"), samples.WORKSPACE)
    words = [text for text, _ in dialog.sessions._choices]
    assert words[0] == "A new session"
    assert words[1].startswith("Fix the export")
    assert words[2] == "Session s2"
    dialog.sessions.picked.emit("s1")
    assert dialog.primary.text() == "Continue session"
    program.press(dialog.primary)
    ((workspace, choice, session),) = program.asked("continue_session")
    assert (str(workspace), choice, session) == (samples.WORKSPACE, AgentChoice(name="claude"), "s1")


def test_another_agent_has_other_sessions(program: Program) -> None:
    program.fake.agents.kept = SESSIONS
    dialog = program.ask()
    program.press(dialog.ask_sessions)
    dialog.sessions.picked.emit("s1")
    QTest.keyClick(dialog.agents, Qt.Key.Key_Down)
    assert not dialog.sessions.isVisible()
    program.press(dialog.primary)
    assert program.asked("continue_session") == []
    assert len(program.asked("new_chat")) == 1


def test_an_agent_that_lists_no_sessions_says_so(program: Program) -> None:
    program.fake.agents.raises["sessions"] = NotOffered("Claude Agent", "sessions")
    dialog = program.ask()
    program.press(dialog.ask_sessions)
    assert dialog.note.text() == "Claude Agent can't list its sessions."
    assert dialog.ask_sessions.isEnabled()


def test_news_of_an_agent_is_shown_and_keeps_what_was_chosen(program: Program) -> None:
    dialog = program.ask()
    QTest.keyClick(dialog.agents, Qt.Key.Key_Down)
    program.fake.agents.found = [replace(one, version="9.9") if one.id == "codex" else one for one in AGENTS]
    program.fake.publish(AgentChecked(program.fake.agents.found[2]))
    program.settle()
    assert dialog.choice == AgentChoice(name="codex")
    assert "Codex 9.9, Installed" in [row.accessibleName() for row in dialog.agents.rows]


def test_an_agent_is_looked_at_when_it_is_chosen_once_and_no_other_is_started(program: Program) -> None:
    dialog = program.ask()
    checks = [arguments for called, arguments in program.fake.agents.calls if called == "check"]
    assert checks == []  # the one that is chosen is ready already
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Down):
        QTest.keyClick(dialog.agents, key)
    program.settle()
    assert [arguments for called, arguments in program.fake.agents.calls if called == "check"] == [("codex",)]


def test_only_one_dialog_is_open(program: Program) -> None:
    program.ask()
    program.conductor.new_chat()
    program.settle()
    assert len(program.dialogs) == 1


def test_what_cannot_begin_is_told_in_the_dialog_which_keeps_what_was_typed(program: Program) -> None:
    program.fake.live.raises["new_chat"] = UnknownAgent("claude", ())
    dialog = program.ask()
    dialog.command.setText("no-such-agent --acp")
    program.press(dialog.primary)
    assert program.dialog is dialog
    assert "There is no agent" in dialog.note.text()
    assert dialog.command.text() == "no-such-agent --acp"
    assert program.conductor.notifier.shown == ""
    assert dialog.primary.isEnabled()
    program.press(dialog.primary)
    assert program.dialogs == []
    assert len(program.asked("new_chat")) == 2


def test_a_beginning_that_takes_long_can_be_given_up(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    async def never(*_: object) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    monkeypatch.setattr(program.fake.live, "new_chat", never)
    dialog = program.ask()
    program.press(dialog.primary)
    assert (dialog.primary.text(), dialog.primary.isEnabled()) == ("Starting…", False)
    program.press(dialog.cancel)
    assert program.dialogs == []
    assert ended == ["cancelled"]


@pytest.mark.parametrize("folder", ["/", str(Path.home())])
def test_a_folder_that_is_no_workspace_is_refused_before_anything_begins(program: Program, folder: str) -> None:
    dialog = program.ask()
    dialog._take_folder(folder)
    assert not dialog.primary.isEnabled()
    assert "project folder" in dialog.note.text()
    dialog._take_folder("/srv/new")
    assert dialog.primary.isEnabled()
    assert dialog.note.text() == ""


def test_a_blank_is_no_command_and_starts_no_agent_of_the_list(program: Program) -> None:
    dialog = program.ask()
    dialog.command.setText(" ")
    assert dialog.choice is None
    assert not dialog.primary.isEnabled()
    QTest.keyClick(dialog.command, Qt.Key.Key_Return)
    program.settle()
    assert program.asked("new_chat") == []
    dialog.command.setText("")
    assert dialog.choice == AgentChoice(name="claude")


def test_the_agent_that_is_chosen_is_in_sight(program: Program) -> None:
    program.window.resize(800, 560)
    program.fake.agents.found = [replace(AGENTS[1], id=f"a{n}", name=f"Agent {n}") for n in range(40)]
    dialog = program.ask(agent="a30")
    box = dialog.agents.chosen_box.toRect()
    shown = dialog.agents.mapTo(dialog._scroll.viewport(), box.center())
    assert dialog._scroll.viewport().rect().contains(shown)


def test_files_are_looked_for_in_the_folder_of_the_chat_and_the_text_has_the_focus(program: Program, tmp_path: Path) -> None:
    composer = program.conductor.page.composer
    assert composer.folder == samples.WORKSPACE
    composer.folder = str(tmp_path)
    composer.attach_button.setFocus()
    composer.attach()
    (chooser,) = program.window.findChildren(QFileDialog)
    assert chooser.directory().absolutePath() == str(tmp_path)
    chooser.filesSelected.emit([str(tmp_path / "a.txt")])
    chooser.close()
    QApplication.processEvents()
    assert composer.chips.attachments
    assert program.window.focusWidget() is composer.field  # offscreen no window is in front again by itself


def test_the_first_page_begins_a_chat_with_the_agent_that_was_pressed(program: Program) -> None:
    program.conductor.first_run.agent_chosen.emit("codex")
    program.settle()
    assert program.dialog.choice == AgentChoice(name="codex")


def test_another_agent_for_a_chat_asks_for_no_folder(program: Program) -> None:
    program.conductor.agents._ask_agent()
    program.settle()
    dialog = program.dialog
    assert not dialog.folder.isVisible()
    assert not dialog.ask_sessions.isVisible()
    assert dialog.primary.text() == "Continue here"
    program.press(dialog.primary)
    assert program.asked("choose_agent") == [(samples.MAIN, AgentChoice(name="claude"))]


def test_tab_stays_inside_and_reaches_every_control(program: Program) -> None:
    dialog = program.ask()
    seen: list[QWidget | None] = []
    for _ in range(7):
        QTest.keyClick(QApplication.focusWidget() or dialog, Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert {dialog.command, dialog.ask_sessions, dialog.folder, dialog.primary, dialog.cancel, dialog.agents} <= set(seen)


@pytest.mark.parametrize("size", [(800, 560), (1440, 900)])
@pytest.mark.parametrize("count", [0, 1, 4, 40])
def test_the_dialog_fits_into_any_window(program: Program, size: tuple[int, int], count: int) -> None:
    program.window.resize(*size)
    program.fake.agents.found = [replace(AGENTS[1], id=f"a{n}", name=f"Agent {n}") for n in range(count)]
    dialog = program.ask()
    QApplication.processEvents()
    assert dialog.rect().contains(dialog.card.geometry())
    for button in (dialog.primary, dialog.cancel):
        assert dialog.card.rect().contains(button.geometry())
    assert dialog.choice == (AgentChoice(name="a0") if count else None)


def test_texts_of_agents_are_plain(program: Program) -> None:
    dialog = program.ask()
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in dialog.findChildren(QLabel))


def test_the_ways_to_sign_in_are_told_and_only_the_agents_own_are_carried_out(qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(900, 700)
    host.show()
    ways = (
        SignIn(id="own", name="<i>Log in</i>", description="Opens the browser"),
        SignIn(id="key", name="Key", kind=SignInKind.ENV, variables=("API_KEY", "API_BASE")),
        SignIn(id="shell", name="Terminal", kind=SignInKind.TERMINAL, command=("agent", "log in")),
    )
    with own_loop():

        async def story(press: str) -> str | None:
            dialog = SignInDialog(ThemeHub("light", still=True), host, "Claude Code", ways)
            task = asyncio.ensure_future(dialog.ask())
            await until(dialog.card.isVisible)
            assert all(label.textFormat() == Qt.TextFormat.PlainText for label in dialog.findChildren(QLabel))
            copies = [one for one in dialog.findChildren(Button) if one.text() == "Copy"]
            copied = []
            for copy in copies:
                copy.click()
                copied.append(QGuiApplication.clipboard().text())
            assert copied == ["API_KEY\nAPI_BASE", "agent 'log in'"]
            next(one for one in dialog.findChildren(Button) if one.text() == press).click()
            return await task

        assert run(story("Sign in")) == "own"
        assert run(story("I have signed in")) == AGAIN
        assert run(story("Cancel")) is None
