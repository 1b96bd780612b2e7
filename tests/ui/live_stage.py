"""The window over a core with two chats, in one of which an agent answers: the stage of the tests of live chats."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import run, settle, until
from vibekit_desktop.core.types.agents import (
    AgentInfo,
    AgentState,
    Answer,
    LivePhase,
    LiveState,
    Operation,
    Question,
)
from vibekit_desktop.core.types.chats import Block, Message
from vibekit_desktop.core.types.events import (
    Event,
    LiveChanged,
)
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.dialogs.question import Question as Dialog
from vibekit_desktop.ui.dialogs.sign_in import SignInDialog
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.composer import Composer
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


CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def answer(text: str) -> Message:
    return Message(id="a6", role="assistant", content=text, blocks=(Block(text=text),))


PROMPT = Message(id="u6", role="user", content="Ship it.", turn=6, ts=samples.NOW)
