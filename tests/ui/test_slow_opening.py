"""A chat that takes its time to be read: the former one is not left standing under its name."""

import asyncio
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.types.chats import ChatView
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.main_window import MainWindow

SLOW = samples.headers()[1].id


class Reading:
    """The window over a core that reads one chat when it is let."""

    def __init__(self, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake = FakeCore()
        self.fake.chats.headers = samples.headers()
        self.fake.chats.views = {samples.MAIN: samples.chat_view(())}
        self.fake.checkpoints.timelines = {samples.MAIN: samples.timeline()}
        self.let = asyncio.Event()
        read = self.fake.chats.open

        async def opened(chat: ChatId) -> ChatView:
            if chat == SLOW:
                await self.let.wait()
            return await read(chat)

        monkeypatch.setattr(self.fake.chats, "open", opened)
        self.window = MainWindow(ThemeHub("light", still=True))
        qtbot.addWidget(self.window)
        self.conductor = Conductor(self.fake.core, ThemeHub("light", still=True), self.window)


@pytest.fixture
def reading(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reading]:
    with own_loop():
        made = Reading(qtbot, monkeypatch)
        yield made
        made.conductor.close()
        bury(made.window)


def test_what_is_being_opened_is_said_and_the_former_chat_is_one_click_away(reading: Reading) -> None:
    async def story() -> None:
        conductor = reading.conductor
        await conductor.start(open_chat=samples.MAIN, view=None, recover=None)
        assert reading.window.page == "transcript"
        conductor.open_chat(SLOW)
        await until(lambda: reading.window.page == "empty")
        assert samples.headers()[1].name in conductor.empty.accessibleName()
        conductor.open_chat(samples.MAIN)
        await until(lambda: reading.window.page == "transcript")
        reading.let.set()
        await conductor.settled()
        assert conductor.open.chat == conductor.open.wanted == samples.MAIN

    run(story())
