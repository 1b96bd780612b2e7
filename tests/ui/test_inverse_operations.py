"""Undo of a hunk, a file and a turn: what is asked before, what is said after, and where both meet."""

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
from tests.ui.review_stage import ONE, diff_of
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.types.checkpoints import (
    Action,
    AfterTurn,
    AtEntry,
    BeforeTurn,
    LeftFile,
    Now,
    Point,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    Scope,
    Start,
)
from vibekit_desktop.core.types.diffs import FileDiff
from vibekit_desktop.core.types.errors import Busy, PlanStale
from vibekit_desktop.core.types.reviews import Decision, Decisions, InversePlan, InverseRequest, Overlap, OverlapAt
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.overlaps import OverlapsDialog
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.models.overlaps import OverlapRow, OverlapsModel, overlaps_title
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.inverse import InverseOperations, Wish, wish_for_all, wish_for_file, wish_for_hunk
from vibekit_desktop.ui.theme.palette import ThemeHub

OLD, NEW = BeforeTurn(4), AfterTurn(4)


class Stage:
    """A window, a core, and the operations."""

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
        self.work = InverseOperations(self.hub, self.bridge, self.fake.core, self.notifier, self.window)

    def plan(self, *actions: Action, kind: RestoreKind = RestoreKind.UNDO_TURN, **more: object) -> RestorePlan:
        files = [samples.planned(str(ONE), action, (1, 1), turns=(4,)) for action in actions]
        plan = samples.of_files(
            *(replace(file, **more) for file in files),
            scope=Scope.FILES,
            kind=kind,
            point=OLD,  # type: ignore[arg-type]  # a shorthand
        )
        self.fake.undo.plans.append(plan)
        return plan

    async def asked(self) -> Question:
        await until(lambda: any(each.card.isVisible() for each in self.window.findChildren(Question)))
        return next(each for each in self.window.findChildren(Question) if each.card.isVisible())

    async def overlaps(self) -> OverlapsDialog:
        await until(lambda: any(each.card.isVisible() for each in self.window.findChildren(OverlapsDialog)))
        await settle()
        return next(each for each in self.window.findChildren(OverlapsDialog) if each.card.isVisible())

    def carried(self) -> int:
        return len([call for call in self.fake.checkpoints.calls if call[0] == "carry_out"])


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with own_loop():
        found = Stage(qtbot)
        yield found
        bury(found.window)


def the_diff(new: object = NEW) -> FileDiff:
    diff = diff_of(ONE, 10, 40)
    return replace(diff, request=replace(diff.request, old=OLD, new=new))  # type: ignore[arg-type]  # a shorthand


def undone(stage: Stage, wish: Wish, answer: Callable[[Question], None] | None = None) -> RestoreReport | None:
    async def story() -> RestoreReport | None:
        task = asyncio.ensure_future(stage.work.undo(wish))
        if answer is not None:
            answer(await stage.asked())
        return await task

    return run(story())


def test_a_wish_is_the_request_of_its_points() -> None:
    diff = the_diff()
    assert wish_for_hunk(diff, 1).request == InverseRequest(chat=samples.CHAT, old=OLD, new=NEW, paths=(ONE,), hunks=(1,))
    assert wish_for_file(diff).request == InverseRequest(chat=samples.CHAT, old=OLD, new=NEW, paths=(ONE,))
    renamed = replace(diff, request=replace(diff.request, old_path=samples.path("src/was.py")))
    assert set(wish_for_file(renamed).request.paths) == {ONE, "src/was.py"}
    assert wish_for_all(samples.CHAT, OLD, NEW).request == InverseRequest(chat=samples.CHAT, old=OLD, new=NEW)


def test_a_hunk_is_undone_at_once_and_said_with_the_way_back(qtbot: QtBot, stage: Stage) -> None:
    stage.plan(Action.WRITE, kind=RestoreKind.UNDO_HUNK)
    assert undone(stage, wish_for_hunk(the_diff(), 1)) is not None
    assert stage.notifier.shown == "Undid hunk 2 of one.py"
    with qtbot.waitSignal(stage.work.back_wanted) as seen:
        next(one for one in stage.window.findChildren(QPushButton) if one.text() == "Undo" and one.isVisible()).click()
    assert seen.args == [samples.CHAT]


def test_later_work_that_stays_is_said(stage: Stage) -> None:
    stage.plan(Action.WRITE, kind=RestoreKind.UNDO_HUNK)
    stage.fake.undo.later_kept = (ONE,)
    assert undone(stage, wish_for_hunk(the_diff(), 0)) is not None
    assert stage.notifier.shown == "Undid hunk 1 of one.py; later changes are kept"


def test_a_file_that_was_changed_since_is_asked_about(stage: Stage) -> None:
    stage.plan(Action.WRITE, changed_by="user")
    stage.fake.undo.later_kept = (ONE,)
    texts: list[str] = []

    def no(question: Question) -> None:
        texts.append(f"{question.accessibleName()} {question.accessibleDescription()}")
        assert QApplication.focusWidget() is question.button("Cancel")
        QTest.keyClick(question, Qt.Key.Key_Escape)

    assert undone(stage, wish_for_file(the_diff()), no) is None
    assert texts == ["one.py was changed by you after turn 4. Undo only what turn 4 did, and keep the later lines?"]
    assert not stage.carried()
    assert undone(stage, wish_for_file(the_diff()), lambda question: question.button("Undo turn 4 only").click())
    assert stage.notifier.shown == "Undid what turn 4 did to one.py; later changes are kept"


def test_compare_shows_what_came_later_and_changes_nothing(qtbot: QtBot, stage: Stage) -> None:
    stage.plan(Action.WRITE)
    stage.fake.undo.later_kept = (ONE,)
    with qtbot.waitSignal(stage.work.compare_wanted) as seen:
        assert undone(stage, wish_for_file(the_diff()), lambda question: question.button("Compare").click()) is None
    assert seen.args == [ONE, NEW]


def test_a_file_that_goes_is_asked_about(stage: Stage) -> None:
    stage.plan(Action.DELETE)
    assert undone(stage, wish_for_file(the_diff()), lambda question: question.button("Delete file").click())
    assert stage.notifier.shown == "one.py is as it was before turn 4"


def against_the_disk(last_turn: int = 6) -> Wish:
    return wish_for_file(the_diff(Now()), last_turn)


def test_what_a_person_changed_after_the_turns_does_not_go_with_them_unasked(stage: Stage) -> None:
    stage.plan(Action.WRITE, changed_by="user")
    stage.fake.undo.goes_too = (ONE,)
    texts: list[str] = []

    def no(question: Question) -> None:
        texts.append(f"{question.accessibleName()} {question.accessibleDescription()}")
        QTest.keyClick(question, Qt.Key.Key_Escape)

    assert undone(stage, against_the_disk(), no) is None
    assert texts == ["one.py was changed by you after turn 6. Undo only what turns did, and keep the later lines?"]
    assert not stage.carried()
    assert undone(stage, against_the_disk(), lambda question: question.button("Keep later lines").click())
    asked = [call[1][0] for call in stage.fake.undo.calls if call[0] == "plan"]
    assert [request.new for request in asked] == [Now(), Now(), AfterTurn(6)]
    assert undone(stage, against_the_disk(), lambda question: question.button("Undo all of it").click())
    assert stage.notifier.shown == "one.py is as it was before turn 4"


def test_compare_shows_what_came_after_the_last_turn(qtbot: QtBot, stage: Stage) -> None:
    stage.plan(Action.WRITE)
    stage.fake.undo.goes_too = (ONE,)
    with qtbot.waitSignal(stage.work.compare_wanted) as seen:
        assert undone(stage, against_the_disk(), lambda question: question.button("Compare").click()) is None
    assert seen.args == [ONE, AfterTurn(6)]


def test_a_changed_file_that_goes_altogether_says_so_on_its_button(stage: Stage) -> None:
    stage.plan(Action.DELETE)
    stage.fake.undo.goes_too = (ONE,)
    assert undone(stage, against_the_disk(), lambda question: question.button("Delete file").click())


@pytest.mark.parametrize("old", [AfterTurn(6), AtEntry(3), Start()])
def test_nobody_is_asked_where_only_what_came_after_the_turns_goes(stage: Stage, old: Point) -> None:
    stage.plan(Action.WRITE)
    stage.fake.undo.goes_too = (ONE,)
    diff = the_diff(Now())
    wish = wish_for_file(replace(diff, request=replace(diff.request, old=old)), 0 if old == Start() else 6)
    assert undone(stage, wish) is not None


def test_a_turn_is_previewed_in_a_sentence(stage: Stage) -> None:
    stage.plan(Action.WRITE)
    stage.fake.undo.later_kept = (ONE,)
    texts: list[str] = []

    def yes(question: Question) -> None:
        texts.append(f"{question.accessibleName()} {question.accessibleDescription()}")
        question.button("Undo turn 4").click()

    assert undone(stage, wish_for_all(samples.CHAT, OLD, NEW), yes) is not None
    assert texts[0].startswith("Undo turn 4? 1 file will change")
    assert texts[0].endswith("Later work in 1 file is kept.")
    assert stage.notifier.shown == "Undid turn 4 in 1 file"


def test_nothing_to_do_is_said(stage: Stage) -> None:
    stage.plan(Action.LEAVE, reason="same")
    assert undone(stage, wish_for_file(the_diff())) is None
    assert stage.notifier.shown == "one.py is already as it was before turn 4"


def test_what_cannot_be_undone_says_why(stage: Stage) -> None:
    stage.plan(Action.LEAVE, reason="damaged")
    assert undone(stage, wish_for_file(the_diff())) is None
    assert stage.notifier.shown == "one.py stays as it is. Its earlier copy is damaged."


def test_a_hunk_of_another_content_than_the_one_on_disk_is_not_undone(qtbot: QtBot, stage: Stage) -> None:
    stage.plan(Action.WRITE, kind=RestoreKind.UNDO_HUNK, current=samples.present("something else"))
    with qtbot.waitSignal(stage.work.stale):
        assert undone(stage, wish_for_hunk(the_diff(Now()), 0)) is None
    assert stage.notifier.shown == "This file changed on disk. Showing the new state."
    assert not stage.carried()


def test_a_plan_that_is_stale_is_made_again(stage: Stage) -> None:
    stage.plan(Action.WRITE)
    stage.fake.checkpoints.raises["carry_out"] = PlanStale([str(ONE)])
    assert undone(stage, wish_for_file(the_diff())) is not None
    assert stage.carried() == 2


def test_a_stale_plan_that_does_something_else_now_is_asked_about(stage: Stage) -> None:
    stage.plan(Action.WRITE)
    stage.plan(Action.DELETE)
    stage.fake.checkpoints.raises["carry_out"] = PlanStale([str(ONE)])
    assert undone(stage, wish_for_file(the_diff()), lambda question: question.button("Cancel").click()) is None
    assert stage.carried() == 1


def test_an_error_says_what_was_not_changed(stage: Stage) -> None:
    stage.fake.undo.raises["plan"] = Busy("turn")
    assert undone(stage, wish_for_file(the_diff())) is None
    assert stage.notifier.shown


def test_what_could_not_be_written_is_no_success(stage: Stage) -> None:
    stage.plan(Action.WRITE)
    failed = (LeftFile(str(ONE), "cannot-write"),)
    stage.fake.checkpoints.reports.append(
        RestoreReport(
            chat=samples.CHAT, kind=RestoreKind.UNDO_TURN, entry=3, restored=(), left=failed, failed=failed, verified=True
        )
    )
    assert undone(stage, wish_for_file(the_diff())) is not None
    assert "can't be written" in stage.notifier.shown


# Overlaps.


def overlap(number: int, kind: Overlap = Overlap.LINES, changed_by: str = "user") -> OverlapAt:
    return OverlapAt(
        path=ONE,
        number=number,
        kind=kind,
        first_line=10 * number + 1,
        last_line=10 * number + 2,
        now=("mine", "as well"),
        then=("before",),
        after=("agent",),
        changed_by=changed_by,
    )


def test_nothing_is_written_before_every_overlap_is_decided(stage: Stage) -> None:
    stage.plan(Action.WRITE)
    stage.fake.undo.overlaps = (overlap(0), overlap(1))

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.undo(wish_for_file(the_diff())))
        dialog = await stage.overlaps()
        assert dialog.accessibleName() == "Your lines and turn 4 overlap in 2 places"
        assert QApplication.focusWidget() is dialog.cancel
        assert [field.toPlainText() for field in dialog._fields] == ["mine\nas well", "agent", "before"]
        assert not dialog.primary.isEnabled()
        dialog.list.setFocus()
        QTest.keyClick(dialog.list, Qt.Key.Key_Left)
        assert dialog.list.currentIndex().row() == 1, "it goes on to the next one"
        assert not dialog.primary.isEnabled()
        QTest.keyClick(dialog.list, Qt.Key.Key_Right)
        assert dialog.primary.isEnabled()
        assert dialog.primary.text() == "Undo turn 4, keep 1 place"
        assert not stage.carried()
        dialog.primary.click()
        assert await task is not None

    run(story())
    asked = [arguments[1] for name, arguments in stage.fake.undo.calls if name == "plan"]
    assert asked == [(), ((ONE, 0, Decision.KEEP), (ONE, 1, Decision.UNDO))]
    assert stage.notifier.shown == "Undid what turn 4 did to one.py; later changes are kept"
    assert stage.window.focusWidget() is stage.behind


def test_later_changes_that_were_undone_as_well_are_not_said_to_be_kept(stage: Stage) -> None:
    """Everywhere Undo was chosen: nothing that came later is left of those lines."""
    stage.plan(Action.WRITE)
    stage.fake.undo.overlaps = (overlap(0),)

    async def story(wish: Wish) -> None:
        task = asyncio.ensure_future(stage.work.undo(wish))
        dialog = await stage.overlaps()
        dialog.undo_all.click()
        await until(dialog.primary.isEnabled)
        dialog.primary.click()
        assert await task is not None

    run(story(wish_for_file(the_diff())))
    assert stage.notifier.shown == "one.py is as it was before turn 4"
    run(story(wish_for_hunk(the_diff(), 0)))
    assert stage.notifier.shown == "Undid hunk 1 of one.py"


def test_esc_at_the_overlaps_changes_nothing(stage: Stage) -> None:
    stage.plan(Action.WRITE)
    stage.fake.undo.overlaps = (overlap(0),)

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.undo(wish_for_file(the_diff())))
        dialog = await stage.overlaps()
        dialog.keep_all.click()
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert await task is None

    run(story())
    assert not stage.carried()


def test_places_that_changed_meanwhile_are_asked_about_again(stage: Stage) -> None:
    """What was decided by number is not taken for other places."""
    stage.plan(Action.WRITE)
    stage.fake.undo.overlaps = (overlap(0),)
    plan = stage.fake.undo.plan

    async def other_places(request: InverseRequest, decisions: Decisions = ()) -> InversePlan:
        if decisions and stage.fake.undo.overlaps == (overlap(0),):
            stage.fake.undo.overlaps = (replace(overlap(0), now=("newer",)),)
        return await plan(request, decisions)

    stage.fake.undo.plan = other_places  # type: ignore[method-assign]  # the disk changes between two plans

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.undo(wish_for_file(the_diff())))
        dialog = await stage.overlaps()
        dialog.undo_all.click()
        dialog.primary.click()
        await until(lambda: dialog._fields[0].toPlainText() == "newer")
        assert not dialog.primary.isEnabled()
        assert dialog._assurance.text == "Something changed just now. Look again."
        assert not stage.carried()
        dialog.undo_all.click()
        dialog.primary.click()
        assert await task is not None

    run(story())


def test_an_error_while_deciding_keeps_the_decisions(stage: Stage) -> None:
    stage.plan(Action.WRITE)
    stage.fake.undo.overlaps = (overlap(0),)

    async def story() -> None:
        task = asyncio.ensure_future(stage.work.undo(wish_for_file(the_diff())))
        dialog = await stage.overlaps()
        dialog.undo_all.click()
        stage.fake.undo.raises["plan"] = Busy("turn")
        dialog.primary.click()
        await until(dialog.primary.isEnabled)
        assert dialog._assurance.text
        dialog.primary.click()
        assert await task is not None

    run(story())


def test_places_are_named_as_people_name_them() -> None:
    wheres = [
        OverlapRow(replace(overlap(1), last_line=11)).where,
        OverlapRow(overlap(1)).where,
        OverlapRow(replace(overlap(1), last_line=10)).where,
        OverlapRow(overlap(1, Overlap.FILE)).where,
        OverlapRow(overlap(1, Overlap.MODE)).where,
    ]
    assert wheres == ["line 11", "lines 11 to 12", "before line 11", "the whole file", "its permissions"]
    assert OverlapRow(overlap(1), Decision.UNDO).name == "src/one.py, lines 11 to 12, undo"


@pytest.mark.parametrize(
    ("who", "words"),
    [("user", "Your lines"), ("unknown", "Later lines"), (samples.CHAT, "Later lines"), ("other", "Lines of another chat")],
)
def test_whose_lines_they_are_is_said(who: str, words: str) -> None:
    request = InverseRequest(chat=samples.CHAT, old=OLD, new=NEW)
    overlaps = (overlap(0, changed_by=who),)
    plan = InversePlan(request=request, decisions=(), overlaps=overlaps, open=overlaps, later_kept=(), plan=None)
    assert overlaps_title(plan) == f"{words} and turn 4 overlap in 1 place"


def test_the_overlaps_pass_qts_own_tests(qtmodeltester: ModelTester) -> None:
    model = OverlapsModel()
    model.set_overlaps((overlap(0), overlap(1)), {})
    model.decide(0, Decision.KEEP)
    assert model.next_open(0) == 1
    model.decide(1, Decision.KEEP)
    assert model.next_open(1) == -1
    qtmodeltester.check(model)
