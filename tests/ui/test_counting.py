"""A timeline whose lines are not all counted yet: it is there at once, says that counting goes on, and gets its numbers."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.inspector import Inspector

CHAT = samples.MAIN
OTHER = samples.headers()[1].id


class Stage:
    """An open chat and its inspector over a core that counts when it is let."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        self.fake.chats.views = {CHAT: samples.chat_view(), OTHER: samples.chat_view()}
        self.fake.checkpoints.timelines = {
            CHAT: replace(samples.timeline(), counting=True),
            OTHER: replace(samples.timeline(), chat=OTHER),
        }
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.bridge = Bridge(self.fake.core.events)
        self.open = OpenChat(self.fake.core, self.bridge, self.window)
        self.inspector = Inspector(ThemeHub("light", still=True), self.window, now_ms=lambda: samples.NOW)
        self.open.timeline_read.connect(self.inspector.show_timeline)

    def asked(self, name: str) -> list[object]:
        return [given[0] for called, given in self.fake.checkpoints.calls if called == name]


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with own_loop():
        made = Stage(qtbot)
        yield made
        bury(made.window)


def test_counting_is_said_and_the_timeline_is_read_again_when_it_is_done(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    let = asyncio.Event()
    steps = [True, True, False]

    async def count_on(chat: ChatId) -> bool:
        await let.wait()
        if len(steps) == 1:
            stage.fake.checkpoints.timelines[chat] = samples.timeline()
        return steps.pop(0)

    monkeypatch.setattr(stage.fake.checkpoints, "count_on", count_on)

    async def story() -> None:
        await stage.open.open(CHAT)
        assert stage.open.timeline is not None
        assert stage.open.timeline.counting
        assert stage.inspector.held.text == "Counting lines…"
        stage.inspector.set_held("Wait until the other turn ends")
        assert stage.inspector.held.text == "Wait until the other turn ends", "what keeps from doing something goes first"
        stage.inspector.set_held("")
        let.set()
        await until(lambda: not stage.bridge.running)
        assert not steps
        assert stage.asked("timeline") == [CHAT, CHAT]
        assert stage.inspector.held.text == ""

    run(story())


def test_nobody_counts_on_for_a_chat_that_is_not_open_any_more(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ChatId] = []
    let = asyncio.Event()

    async def count_on(chat: ChatId) -> bool:
        asked.append(chat)
        await let.wait()
        return True

    monkeypatch.setattr(stage.fake.checkpoints, "count_on", count_on)

    async def story() -> None:
        await stage.open.open(CHAT)
        await until(lambda: asked == [CHAT])
        await stage.open.open(OTHER)
        let.set()
        await until(lambda: not stage.bridge.running)
        await settle()
        assert asked == [CHAT]
        assert stage.asked("timeline") == [CHAT, OTHER]

    run(story())
