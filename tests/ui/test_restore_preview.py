"""The restore preview and the operations behind it, against a core that answers with given plans."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import sample_changes as samples
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.types.checkpoints import (
    Action,
    AfterTurn,
    BeforeTurn,
    LeftFile,
    Mine,
    Point,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    Scope,
)
from vibekit_desktop.core.types.errors import Busy, PlanStale
from vibekit_desktop.core.types.events import RestoreProgressed
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.dialogs.restore_preview import RestorePreview
from vibekit_desktop.ui.models.restore_items import Group, RestoreItemsModel, primary_text, scope_note, summary_of, title_of
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.checkpoints import CheckpointOperations
from vibekit_desktop.ui.theme.palette import ThemeHub

ROWS = samples.path("src/export/rows.py")
CSV = samples.path("src/export/csv_writer.py")


# The words.


def test_the_summary_counts_what_will_happen() -> None:
    plan = samples.plan()
    assert title_of(plan) == "Restore the workspace to before turn 3?"
    assert summary_of(plan) == (
        "5 files will change: 3 rewritten, 1 deleted, 1 brought back. "
        "2 files you edited are kept unless you choose otherwise. 1 file is left alone."
    )


@pytest.mark.parametrize(
    ("scope", "text", "note"),
    [
        (Scope.BOTH, "Restore 5 files and the chat", "Turns 3 to 5 move to a branch; nothing is deleted."),
        (Scope.FILES, "Restore 5 files", "The chat stays as it is."),
        (Scope.CHAT, "Restore the chat", "Files stay as they are on disk."),
    ],
)
def test_the_primary_says_what_will_happen(scope: Scope, text: str, note: str) -> None:
    assert primary_text(samples.plan(scope)) == text
    assert scope_note(samples.plan(scope)) == note


def test_one_file_is_singular_and_nothing_is_nothing() -> None:
    one = samples.of_files(samples.planned("a.py", Action.WRITE), scope=Scope.FILES)
    assert primary_text(one) == "Restore 1 file"
    assert summary_of(one) == "1 file will change: 1 rewritten."
    assert primary_text(samples.of_files(scope=Scope.FILES)) == ""


def test_groups_stand_in_order_and_empty_ones_are_absent(qtmodeltester: ModelTester) -> None:
    model = RestoreItemsModel()
    model.set_plan(samples.plan())
    qtmodeltester.check(model)
    heads = [row.group for row in model.rows if row.file is None]
    assert heads == [Group.MINE, Group.REWRITTEN, Group.DELETED, Group.BROUGHT_BACK, Group.LEFT_ALONE]
    model.set_plan(samples.of_files(samples.planned("a.py", Action.DELETE)))
    assert [row.title for row in model.rows] == ["Deleted", "a.py"]
    left = samples.planned("data/samples.parquet", Action.LEAVE, reason="not-captured", size=96_000_000)
    model.set_plan(samples.of_files(left))
    assert model.rows[1].remark == "96 MB: no earlier copy was kept. It stays as it is now."


def test_a_choice_changes_rows_in_place(qtbot: QtBot) -> None:
    model = RestoreItemsModel()
    model.set_plan(samples.plan())
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged) as seen:
        model.set_plan(samples.plan(mine=Mine(restore=frozenset({ROWS}))))
    assert seen.args is not None
    assert model.rows[seen.args[0].row()].restores


# The dialog.


class Stage:
    """A window, a core, and the operations; ``until_open`` waits for the preview, which is then ``dialog``."""

    def __init__(self, qtbot: QtBot) -> None:
        self.hub = ThemeHub("light", still=True)
        self.fake = FakeCore()
        self.window = QWidget()
        self.behind = QPushButton("behind", self.window)
        self.window.resize(1300, 850)
        qtbot.addWidget(self.window)
        self.window.show()
        self.behind.setFocus()
        self.bridge = Bridge(self.fake.core.events)
        self.notifier = Notifier(self.window, self.hub)
        self.work = CheckpointOperations(self.hub, self.bridge, self.fake.core, self.notifier, self.window)
        self.mines: list[tuple[Scope, Mine]] = []
        self.fake.checkpoints.plan_restore = self._plan  # type: ignore[method-assign]  # answers follow the choices

    async def _plan(
        self, chat: ChatId, point: Point, *, paths: tuple[WorkspacePath, ...], scope: Scope, mine: Mine
    ) -> RestorePlan:
        self.mines.append((scope, mine))
        return samples.plan(scope, mine)

    async def until_open(self) -> RestorePreview:
        def is_open() -> bool:
            return any(not each.isHidden() for each in self.window.findChildren(RestorePreview))

        await until(is_open)
        await settle()
        return next(each for each in self.window.findChildren(RestorePreview) if not each.isHidden())

    async def until_asked(self) -> Question:
        await until(lambda: any(not each.isHidden() for each in self.window.findChildren(Question)))
        return next(each for each in self.window.findChildren(Question) if not each.isHidden())

    def carried(self) -> list[RestorePlan]:
        return [call[1][0] for call in self.fake.checkpoints.calls if call[0] == "carry_out"]  # type: ignore[misc]


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with own_loop():
        found = Stage(qtbot)
        yield found
        bury(found.window)


def click(button: QWidget) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


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


# One file, undo, redo.


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
    assert stage.notifier.shown == "Restored 1 of 1 file again"


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
