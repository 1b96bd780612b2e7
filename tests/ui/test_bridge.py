"""The bridge: what belongs to a widget ends with it, and nothing fails in silence."""

import asyncio
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import own_loop, run, until
from vibekit_desktop.core.types.errors import DiskFull
from vibekit_desktop.core.types.events import ChatDeleted
from vibekit_desktop.ui.bridge import Bridge


@pytest.fixture(autouse=True)
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop of the test's own, whatever other tests left behind."""
    with own_loop() as found:
        yield found


def test_a_subscription_ends_with_its_owner(qtbot: QtBot) -> None:
    core = FakeCore()
    bridge, owner = Bridge(core.core.events), QObject()
    seen: list[str] = []
    bridge.subscribe(owner, ChatDeleted, lambda event: seen.append(event.chat))
    core.publish(ChatDeleted(samples.MAIN))
    delete(owner)
    core.publish(ChatDeleted(samples.MAIN))
    assert seen == [samples.MAIN]
    assert core.bus.subscriptions == 0


def test_a_task_ends_with_its_owner(qtbot: QtBot) -> None:
    async def story() -> bool:
        bridge, owner = Bridge(FakeCore().core.events), QObject()
        never = asyncio.Event()
        task = bridge.spawn(owner, never.wait(), name="wait")
        await asyncio.sleep(0)
        delete(owner)
        await until(lambda: bridge.running == 0)
        return task.cancelled()

    assert run(story())


def test_a_failed_task_is_reported_with_its_name(qtbot: QtBot) -> None:
    told: list[tuple[str, BaseException]] = []

    async def story() -> None:
        bridge = Bridge(FakeCore().core.events, report=lambda name, error: told.append((name, error)))

        async def fail() -> None:
            raise DiskFull("a", "no room")

        owner = QObject()
        bridge.spawn(owner, fail(), name="save")
        await until(lambda: bool(told))

    run(story())
    assert told[0][0] == "save"
    assert isinstance(told[0][1], DiskFull)


@pytest.mark.expects_log("task save failed")
def test_without_a_report_the_failure_is_in_the_log(qtbot: QtBot) -> None:
    async def story() -> None:
        bridge, owner = Bridge(FakeCore().core.events), QObject()

        async def fail() -> None:
            raise DiskFull("a", "no room")

        bridge.spawn(owner, fail(), name="save")
        await until(lambda: bridge.running == 0)

    run(story())


def test_everything_can_be_cancelled_at_the_end(qtbot: QtBot) -> None:
    async def story() -> None:
        bridge, owner = Bridge(FakeCore().core.events), QObject()
        bridge.spawn(owner, asyncio.Event().wait(), name="wait")
        bridge.cancel_all()
        await until(lambda: bridge.running == 0)

    run(story())


def test_after_the_end_no_news_comes_and_nothing_begins(qtbot: QtBot) -> None:
    async def story() -> None:
        core = FakeCore()
        bridge, owner = Bridge(core.core.events), QObject()
        seen: list[str] = []
        bridge.subscribe(owner, ChatDeleted, lambda event: seen.append(event.chat))
        bridge.close()
        core.publish(ChatDeleted(samples.MAIN))
        task = bridge.spawn(owner, asyncio.Event().wait(), name="wait")
        await until(lambda: bridge.running == 0)
        assert (seen, core.bus.subscriptions, task.cancelled()) == ([], 0, True)
        delete(owner)

    run(story())


def test_what_is_destroyed_after_the_loop_is_destroyed_in_silence(qtbot: QtBot) -> None:
    loop = asyncio.new_event_loop()
    bridge, owner = Bridge(FakeCore().core.events), QObject()
    former = asyncio.get_event_loop()
    asyncio.set_event_loop(loop)
    never = asyncio.Event()
    task = bridge.spawn(owner, never.wait(), name="wait")
    asyncio.set_event_loop(former)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    delete(owner)  # it raised "Event loop is closed" into Qt
    assert not task.cancelled()
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # the interpreter would say so of a loop that is gone
