"""What takes long says so, with a way to wait no longer; what is quick shows nothing."""

import asyncio
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from tests.ui.restore_stage import Stage, click, open_stage
from tests.ui.spin import run, settle, until
from vibekit_desktop.core.types.checkpoints import (
    Action,
    BeforeTurn,
    Mine,
    Point,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    Scope,
)
from vibekit_desktop.core.types.errors import Busy
from vibekit_desktop.core.types.events import RestoreProgressed
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.dialogs.restore_preview import RestorePreview
from vibekit_desktop.ui.operations import patience
from vibekit_desktop.ui.views.controls import Button, IconButton

LOOKING = "Looking at the files…"


@pytest.fixture
def stage(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(patience, "QUICK_S", 0)
    with open_stage(qtbot) as found:
        yield found


class SlowPlan:
    """A plan that is there when the test says so."""

    def __init__(self, stage: Stage) -> None:
        self.asked = 0
        self.ready = asyncio.Event()
        self.error: Busy | None = None
        stage.fake.checkpoints.plan_restore = self._plan  # type: ignore[method-assign]  # answers when it may

    async def _plan(
        self, chat: ChatId, point: Point, *, paths: tuple[WorkspacePath, ...], scope: Scope, mine: Mine
    ) -> RestorePlan:
        self.asked += 1
        await self.ready.wait()
        if self.error is not None:
            raise self.error
        return samples.plan(scope, mine)


def dialogs(stage: Stage) -> list[RestorePreview]:
    return [each for each in stage.window.findChildren(RestorePreview) if each.card.isVisible()]


def test_looking_at_many_files_says_so_until_the_preview_is_there(stage: Stage) -> None:
    async def story() -> None:
        slow = SlowPlan(stage)
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(1)))
        await until(lambda: stage.notifier.shown == LOOKING)
        assert not stage.window.findChildren(IconButton), "it can't be closed and forgotten while it goes on"
        slow.ready.set()
        dialog = await stage.until_open()
        assert stage.notifier.shown == ""
        click(dialog.cancel)
        assert await task is None
        assert slow.asked == 1

    run(story())


def test_cancel_ends_the_wait_and_the_next_restore_begins_at_once(stage: Stage) -> None:
    async def story() -> None:
        slow = SlowPlan(stage)
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(1)))
        await until(lambda: stage.notifier.shown == LOOKING)
        (cancel,) = [each for each in stage.window.findChildren(Button) if each.isVisible()]
        click(cancel)
        assert await task is None
        assert stage.notifier.shown == ""
        slow.ready.set()
        await settle()
        assert not dialogs(stage)
        again = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(1)))
        click((await stage.until_open()).cancel)
        assert await again is None
        assert not stage.carried()

    run(story())


def test_an_error_after_a_long_look_is_what_stands(stage: Stage) -> None:
    async def story() -> None:
        slow = SlowPlan(stage)
        slow.error = Busy("another program")
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(1)))
        await until(lambda: stage.notifier.shown == LOOKING)
        slow.ready.set()
        assert await task is None
        assert stage.notifier.shown not in ("", LOOKING)

    run(story())


def test_an_error_from_before_comes_back_after_the_wait(stage: Stage) -> None:
    async def story() -> None:
        slow = SlowPlan(stage)
        stage.notifier.toast("The disk is full.", "error")
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(1)))
        await until(lambda: stage.notifier.shown == LOOKING)
        slow.ready.set()
        click((await stage.until_open()).cancel)
        assert await task is None
        assert stage.notifier.shown == "The disk is full."

    run(story())


def test_an_undo_of_many_files_says_how_far_it_is(stage: Stage) -> None:
    go = asyncio.Event()
    carry_out = stage.fake.checkpoints.carry_out

    async def slowly(plan: RestorePlan, *, initiator: str = "") -> RestoreReport:
        await go.wait()
        return await carry_out(plan, initiator=initiator)

    async def story() -> None:
        stage.fake.checkpoints.carry_out = slowly  # type: ignore[method-assign]  # ends when it may
        files = (samples.planned("a.py", Action.WRITE), samples.planned("b.py", Action.WRITE))
        stage.fake.checkpoints.plans.append(samples.of_files(*files, kind=RestoreKind.UNDO))
        task = asyncio.ensure_future(stage.work.undo(samples.CHAT))
        await until(lambda: stage.notifier.shown == "Restoring…")
        assert not [each for each in stage.window.findChildren(Button) if each.isVisible()], "a restore is not left half done"
        stage.fake.publish(RestoreProgressed(ChatId("another"), 7, 9))
        stage.fake.publish(RestoreProgressed(samples.CHAT, 1240, 20301))
        await until(lambda: stage.notifier.shown == "Restoring 1,240 of 20,301…")
        go.set()
        assert await task is not None
        assert stage.notifier.shown not in ("", "Restoring 1,240 of 20,301…")

    run(story())


def test_what_is_quick_shows_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "QUICK_S", 3600)
    shown: list[str] = []
    monkeypatch.setattr(stage.notifier, "wait", lambda text, stop=None: shown.append(text))

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(1)))
        click((await stage.until_open()).cancel)
        await task

    run(story())
    assert shown == []
