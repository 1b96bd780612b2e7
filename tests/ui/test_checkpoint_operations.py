"""Undo of one file, undo and redo: what is asked before, and what is said after."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from tests.ui.restore_stage import Stage, click, open_stage
from tests.ui.spin import run
from vibekit_desktop.core.types.checkpoints import (
    Action,
    AfterTurn,
    BeforeTurn,
    LeftFile,
    Mine,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    Scope,
)
from vibekit_desktop.core.types.errors import Busy, PlanStale
from vibekit_desktop.ui.dialogs.question import Question

ROWS = samples.path("src/export/rows.py")


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with open_stage(qtbot) as found:
        yield found


def undo_file_plan(action: Action, **more: object) -> RestorePlan:
    file = samples.planned("src/export/rows.py", action, (1, 1), turns=(4,))
    return samples.of_files(replace(file, **more), scope=Scope.FILES, kind=RestoreKind.UNDO_FILE, point=BeforeTurn(4))  # type: ignore[arg-type]  # a shorthand


def undone(stage: Stage, answer: Callable[[Question], None] | None = None) -> RestoreReport | None:
    async def story() -> RestoreReport | None:
        task = asyncio.ensure_future(stage.work.undo_file(samples.CHAT, ROWS, BeforeTurn(4)))
        if answer is not None:
            answer(await stage.until_asked())
        return await task

    return run(story())


def test_one_file_without_conflict_needs_no_dialog(stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(undo_file_plan(Action.WRITE))
    assert undone(stage) is not None
    assert stage.notifier.shown == "rows.py is as it was before turn 4"


def test_undoing_a_creation_asks_before_it_deletes(stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(undo_file_plan(Action.DELETE))
    texts: list[str] = []

    def no(question: Question) -> None:
        texts.append(f"{question.accessibleName()} {question.accessibleDescription()}")
        assert QApplication.focusWidget() is question.button("Cancel")
        QTest.keyClick(question, Qt.Key.Key_Escape)

    assert undone(stage, no) is None
    assert texts == ["This deletes rows.py, which turn 4 created. A copy is kept."]
    assert not stage.carried()
    assert undone(stage, lambda question: click(question.button("Delete file"))) is not None


def test_a_file_changed_since_is_put_back_only_after_a_yes(stage: Stage) -> None:
    kept = undo_file_plan(Action.LEAVE, changed_by="user", reason="changed-since")
    stage.fake.checkpoints.plans += [kept, undo_file_plan(Action.WRITE, changed_by="user")]
    assert undone(stage, lambda question: click(question.button("Put it back to before turn 4"))) is not None
    asked = [call[1][3] for call in stage.fake.checkpoints.calls if call[0] == "plan_undo_file"]
    assert asked == [Mine(), Mine(restore=frozenset({ROWS}))]


def test_compare_shows_the_diff_and_changes_nothing(qtbot: QtBot, stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(undo_file_plan(Action.LEAVE, changed_by="user", reason="changed-since"))
    with qtbot.waitSignal(stage.work.diff_wanted) as seen:
        assert undone(stage, lambda question: click(question.button("Compare"))) is None
    assert seen.args == [samples.CHAT, ROWS, BeforeTurn(4)]
    assert not stage.carried()


def test_of_later_work_only_the_turn_can_be_undone(qtbot: QtBot, stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(undo_file_plan(Action.WRITE, turns=(4, 5)))
    with qtbot.waitSignal(stage.work.turn_only_wanted) as seen:
        assert undone(stage, lambda question: click(question.button("Undo turn 4 only"))) is None
    assert seen.args == [samples.CHAT, ROWS, 4]
    assert not stage.carried()


def test_later_turns_that_would_go_too_are_named(stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(undo_file_plan(Action.WRITE, turns=(4, 5)))
    assert undone(stage, lambda question: click(question.button("Undo turns 4 and 5"))) is not None


def test_a_file_that_is_already_so_is_said_to_be(stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(undo_file_plan(Action.LEAVE, reason="same"))
    assert undone(stage) is None
    assert stage.notifier.shown == "rows.py is already as it was before turn 4"


def test_what_could_not_be_put_back_is_named_and_is_no_success(stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(undo_file_plan(Action.WRITE))
    failed = (LeftFile("src/export/rows.py", "cannot-write"),)
    stage.fake.checkpoints.reports.append(
        RestoreReport(
            chat=samples.CHAT, kind=RestoreKind.UNDO_FILE, entry=2, restored=(), left=failed, failed=failed, verified=True
        )
    )
    undone(stage)
    assert stage.notifier.shown == "Restored 0 of 1 file. rows.py can't be written: in use by another program, or read-only."


def test_a_plan_that_went_stale_is_made_again_without_a_question(stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(undo_file_plan(Action.WRITE))
    stage.fake.checkpoints.raises["carry_out"] = PlanStale(["src/export/rows.py"])
    assert undone(stage) is not None
    assert len(stage.carried()) == 2


def test_a_stale_plan_that_would_do_something_else_now_is_not_carried_out(stage: Stage) -> None:
    stage.fake.checkpoints.plans += [undo_file_plan(Action.WRITE), undo_file_plan(Action.LEAVE, changed_by="user")]
    stage.fake.checkpoints.raises["carry_out"] = PlanStale(["src/export/rows.py"])
    assert undone(stage) is None
    assert len(stage.carried()) == 1
    assert "changed since you looked" in stage.notifier.shown


def test_undo_and_redo_say_what_came_back(stage: Stage) -> None:
    stage.fake.checkpoints.plans.append(replace(samples.of_files(samples.planned("a.py", Action.WRITE), kind=RestoreKind.UNDO)))
    assert run(stage.work.undo(samples.CHAT)) is not None
    assert stage.notifier.shown == "Undone: 1 of 1 file is as it was"
    stage.fake.checkpoints.plans[:] = [samples.of_files(samples.planned("a.py", Action.WRITE), kind=RestoreKind.REDO)]
    assert run(stage.work.redo(samples.CHAT)) is not None
    assert stage.notifier.shown == "Redone: 1 of 1 file is as it was before the undo"


def test_nothing_to_undo_is_said_and_a_busy_store_can_be_tried_again(stage: Stage) -> None:
    assert run(stage.work.undo(samples.CHAT)) is None
    assert stage.notifier.shown.startswith("There is nothing to undo.")
    stage.notifier.dismiss()
    stage.fake.checkpoints.raises["plan_undo_file"] = Busy("the command line")
    assert undone(stage) is None
    assert "in use by the command line" in stage.notifier.shown


def test_an_undo_that_meets_later_changes_shows_the_preview(stage: Stage) -> None:
    left = samples.planned("a.py", Action.LEAVE, changed_by="user", reason="changed-later")
    stage.fake.checkpoints.plans.append(samples.of_files(left, kind=RestoreKind.UNDO, point=AfterTurn(5)))

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.undo(samples.CHAT))
        dialog = await stage.until_open()
        assert not dialog._scope_bar.isVisible()
        assert not dialog.primary.isEnabled()
        dialog.answer(None)
        assert await task is None

    run(story())
