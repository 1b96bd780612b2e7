"""Somebody changes a file while the window is in front: it is seen within seconds, and looking costs little."""

import asyncio
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from tests.helpers.fake_core import FakeCore
from tests.ui import sample_changes as samples
from tests.ui.spin import own_loop, run, settle, until
from vibekit_desktop.core.types.errors import Busy
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.operations import disk_watch
from vibekit_desktop.ui.operations.disk_watch import DiskWatch


class Place:
    """A watch, what it asked for, and how often it told of a change."""

    def __init__(self) -> None:
        self.fake = FakeCore()
        self.parent = QObject()
        self.bridge = Bridge(self.fake.core.events)
        self.seen = True
        self.asked = self.told = 0
        self.busy = False
        self.watch = DiskWatch(self.bridge, self.mark, lambda: self.seen, self.parent)
        self.watch.changed.connect(self._changed)

    def _changed(self) -> None:
        self.told += 1

    async def mark(self, chat: ChatId) -> int:
        self.asked += 1
        if self.busy:
            raise Busy("another program")
        return await self.fake.core.checkpoints.disk_mark(chat)


@pytest.fixture
def place(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    assert qapp.eventDispatcher() is not None, "timers need one"
    monkeypatch.setattr(disk_watch, "EVERY_MS", 1)
    with own_loop():
        made = Place()
        yield made
        made.watch.stop()


def test_a_change_is_told_once_until_it_was_read(place: Place) -> None:
    async def story() -> None:
        place.watch.start(samples.CHAT, 1)
        await until(lambda: place.asked > 3)
        assert place.told == 0
        place.fake.checkpoints.marks[samples.CHAT] = 2
        await until(lambda: place.told == 1)
        asked = place.asked
        for _ in range(20):
            await settle()
        assert (place.told, place.asked) == (1, asked), "until the new mark is known nobody looks"
        place.watch.start(samples.CHAT, 2)
        await until(lambda: place.asked > asked + 2)
        assert place.told == 1

    run(story())


def test_where_nobody_looks_nothing_is_asked(place: Place) -> None:
    async def story() -> None:
        place.seen = False
        place.watch.start(samples.CHAT, 0)
        for _ in range(50):
            await settle()
        assert place.asked == 0
        place.seen = True
        await until(lambda: place.told == 1)

    run(story())


def test_what_cannot_be_looked_at_is_no_change_and_is_tried_again(place: Place) -> None:
    async def story() -> None:
        place.busy = True
        place.watch.start(samples.CHAT, 0)
        await until(lambda: place.asked > 3)
        assert place.told == 0
        place.busy = False
        await until(lambda: place.told == 1)

    run(story())


def test_a_late_answer_about_the_former_chat_is_dropped(place: Place) -> None:
    gate = asyncio.Event()

    async def slow(chat: ChatId) -> int:
        place.asked += 1
        await gate.wait()
        return 2

    async def story() -> None:
        place.watch._mark_of = slow
        place.watch.start(samples.CHAT, 1)
        await until(lambda: place.asked == 1)
        place.watch.stop()
        gate.set()
        await settle()
        assert place.told == 0

    run(story())
