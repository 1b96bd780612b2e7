"""The restore preview, against a core that answers with given plans."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from tests.ui.restore_stage import Stage, click, open_stage
from tests.ui.spin import run, settle, until
from vibekit_desktop.core.types.checkpoints import (
    Action,
    BeforeTurn,
    Mine,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    RestoreStep,
    Scope,
)
from vibekit_desktop.core.types.errors import PlanStale
from vibekit_desktop.core.types.events import RestoreProgressed
from vibekit_desktop.ui.dialogs.restore_preview import RestorePreview
from vibekit_desktop.ui.operations import disk_watch

ROWS = samples.path("src/export/rows.py")
CSV = samples.path("src/export/csv_writer.py")


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with open_stage(qtbot) as found:
        yield found


def test_cancel_has_the_focus_and_esc_changes_nothing(stage: Stage) -> None:
    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        assert QApplication.focusWidget() is dialog.cancel
        QTest.keyClick(dialog.cancel, Qt.Key.Key_Escape)
        assert await task is None
        assert dialog.isHidden()

    run(story())
    assert not stage.carried()
    assert QApplication.focusWidget() is stage.behind


def test_enter_presses_the_button_that_has_the_focus(stage: Stage) -> None:
    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        QTest.keyClick(dialog.cancel, Qt.Key.Key_Return)
        assert await task is None
        assert not stage.carried()
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        QTest.keyClick(dialog.cancel, Qt.Key.Key_Tab)
        QTest.keyClick(dialog.primary, Qt.Key.Key_Return)
        assert await task is not None

    run(story())
    assert len(stage.carried()) == 1


def test_tab_stays_inside_the_dialog_and_the_primary_comes_second(stage: Stage) -> None:
    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        seen: list[QWidget | None] = []
        for _ in range(12):
            QTest.keyClick(QApplication.focusWidget() or dialog, Qt.Key.Key_Tab)
            seen.append(QApplication.focusWidget())
        assert seen[0] is dialog.primary
        assert dialog.cancel in seen
        assert all(widget is not None and dialog.isAncestorOf(widget) for widget in seen)
        dialog.answer(None)
        await task

    run(story())


def test_what_was_confirmed_is_carried_out_and_the_toast_offers_undo(stage: Stage) -> None:
    prompts: list[str] = []
    stage.work.finished.connect(lambda _, report: prompts.append(report.next_prompt))
    stage.fake.checkpoints.reports.append(
        RestoreReport(
            chat=samples.CHAT,
            kind=RestoreKind.RESTORE,
            entry=2,
            restored=tuple(file.path for file in samples.plan().acts),
            left=(),
            failed=(),
            verified=True,
            next_prompt="Now make it pass.",
        )
    )

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        assert dialog.primary.text() == "Restore 5 files and the chat"
        click(dialog.primary)
        assert await task is not None
        assert dialog.isHidden()

    run(story())
    assert stage.carried() == [samples.plan()]
    assert stage.notifier.shown == "Restored 5 of 5 files to before turn 3"
    assert prompts == ["Now make it pass."]


def test_every_choice_is_planned_again_and_the_primary_follows(stage: Stage) -> None:
    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        row = dialog._model.row_of(ROWS)
        dialog.files.setCurrentIndex(dialog._model.index(row))
        QTest.keyClick(dialog.files, Qt.Key.Key_Right)
        await settle()
        assert dialog.primary.text() == "Restore 6 files and the chat"
        place = dialog.files.piece_at(row, restores=False).center().toPoint()
        QTest.mouseClick(dialog.files.viewport(), Qt.MouseButton.LeftButton, pos=place)
        await settle()
        assert dialog.primary.text() == "Restore 5 files and the chat"
        click(dialog._radio(Scope.FILES))
        await settle()
        assert dialog.primary.text() == "Restore 5 files"
        assert dialog._note.text == "The chat stays at turn 5."
        click(dialog._radio(Scope.CHAT))
        await settle()
        assert dialog.primary.text() == "Restore the chat"
        dialog.answer(None)
        await task

    run(story())
    assert stage.mines[1] == (Scope.BOTH, Mine(restore=frozenset({ROWS})))
    assert stage.mines[2] == (Scope.BOTH, Mine())


def test_the_diff_of_the_selected_file_is_what_restoring_it_changes(stage: Stage) -> None:
    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        assert dialog._pane.diff is not None
        assert dialog._pane.diff.request.path == CSV
        dialog.answer(None)
        await task

    run(story())
    assert ("planned", (samples.plan(), CSV)) in stage.fake.diffs.calls


def test_a_stale_plan_is_shown_anew_and_the_primary_waits(stage: Stage) -> None:
    stage.fake.checkpoints.raises["carry_out"] = PlanStale(["docs/export.md", "src/export/csv_writer.py"])

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        click(dialog.primary)
        await until(lambda: dialog._assurance.text == "2 files changed just now. Look again.")
        assert not dialog.primary.isEnabled()
        assert dialog.cancel.isEnabled()
        dialog._off.setInterval(0)
        dialog._off.start()
        await until(dialog.primary.isEnabled)
        click(dialog.primary)
        assert await task is not None

    run(story())
    assert len(stage.carried()) == 2


def test_while_it_runs_it_says_how_far_it_is_and_cannot_be_closed(stage: Stage) -> None:
    running = asyncio.Event()
    carry_out = stage.fake.checkpoints.carry_out

    async def slow(plan: RestorePlan, *, initiator: str = "") -> RestoreReport:
        await running.wait()
        return await carry_out(plan, initiator=initiator)

    stage.fake.checkpoints.carry_out = slow  # type: ignore[method-assign]  # holds the restore open

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        click(dialog.primary)
        await settle()
        assert dialog.primary.text() == "Saving 0 of 5…"
        stage.fake.publish(RestoreProgressed(samples.CHAT, 2300, 4000, RestoreStep.STAGE))
        assert dialog.primary.text() == "Preparing 2,300 of 4,000…"
        stage.fake.publish(RestoreProgressed(samples.CHAT, 3, 5))
        assert dialog.primary.text() == "Restoring 3 of 5…"
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await settle()
        assert not dialog.isHidden()
        running.set()
        assert await task is not None

    run(story())


def test_nothing_to_do_says_so_and_cannot_be_pressed(qtbot: QtBot, stage: Stage) -> None:
    async def story() -> None:
        dialog = RestorePreview(
            stage.hub,
            stage.window,
            samples.of_files(scope=Scope.FILES),
            bridge=stage.bridge,
            replan=lambda scope, mine: stage._plan(samples.CHAT, BeforeTurn(3), paths=(), scope=scope, mine=mine),
            mark=1,
            mark_of=stage.fake.checkpoints.disk_mark,
            diff=stage.fake.diffs.planned,
            words=stage.fake.diffs.words,
            highlight=stage.fake.diffs.highlight,
        )
        task = asyncio.ensure_future(dialog.ask())
        await settle()
        assert (dialog.primary.text(), dialog.primary.isEnabled()) == ("Nothing to restore", False)
        dialog.answer(None)
        assert await task is None

    run(story())


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_it_paints_in_both_themes_and_in_a_small_window(stage: Stage, mode: str) -> None:
    stage.hub.set_mode(mode)

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        stage.window.resize(800, 560)
        await settle()
        stage.window.grab()
        assert stage.window.rect().contains(dialog.card.geometry())
        dialog.answer(None)
        await task

    run(story())


def test_a_change_on_disk_while_it_is_open_is_seen_before_anything_is_pressed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_watch, "EVERY_MS", 1)

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.restore_to(samples.CHAT, BeforeTurn(3)))
        dialog = await stage.until_open()
        before = dialog.plan
        stage.fake.checkpoints.marks[samples.CHAT] = 2
        asked = len(stage.mines)
        await until(lambda: len(stage.mines) > asked)
        await settle()
        assert dialog.plan is before, "the same plan is not shown anew"
        assert dialog.primary.isEnabled()

        fresh = replace(samples.planned("src/export/rows.py", Action.WRITE, (9, 9)), changed_by="user")
        files = (*(file for file in before.files if file.path != ROWS), fresh)
        changed = replace(before, files=files, digest="another")
        stage.fake.checkpoints.plan_restore = answering(changed)  # type: ignore[method-assign]  # the disk is another
        stage.fake.checkpoints.marks[samples.CHAT] = 3
        await until(lambda: dialog.plan is changed)
        assert dialog._assurance.text == "1 file changed just now. Look again."
        assert not dialog.primary.isEnabled(), "nobody confirms what they did not see"
        assert not stage.carried()
        dialog.answer(None)
        assert await task is None

    run(story())


def answering(plan: RestorePlan) -> Callable[..., Coroutine[object, object, RestorePlan]]:
    async def answer(*_: object, **__: object) -> RestorePlan:
        return plan

    return answer
