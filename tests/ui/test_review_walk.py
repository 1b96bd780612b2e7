"""Walking through a review: hunks and files by keys alone, marks, what stays where it is when the disk changes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from tests.ui.review_stage import LAST, LOCK, LOGO, ONE, TWO, ReviewStage, open_review
from tests.ui.spin import run, settle, until
from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtEntry,
    AtTag,
    BeforeTurn,
    EntryKind,
    Now,
    Point,
    RestoreKind,
    RestoreReport,
    Start,
)
from vibekit_desktop.core.types.diffs import Compare, Ignore
from vibekit_desktop.core.types.errors import BlobCorrupt
from vibekit_desktop.core.types.events import WorkspaceRestored
from vibekit_desktop.core.types.ids import Tag
from vibekit_desktop.ui.actions import review_table, sequences, table
from vibekit_desktop.ui.keys import CHAT_ONLY
from vibekit_desktop.ui.models import files, list_changes
from vibekit_desktop.ui.models.files import FileEntry, Mark
from vibekit_desktop.ui.models.review_marks import mark_of, next_to_review
from vibekit_desktop.ui.models.sides import FLAT, PointGroup, new_points, old_points, turn_of
from vibekit_desktop.ui.views import review_menus
from vibekit_desktop.ui.views.review_menus import points_menu, undo_all_words

CTRL, SHIFT, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[ReviewStage]:
    with open_review(qtbot) as found:
        yield found


def test_f7_goes_on_in_the_next_file_and_passes_over_generated_ones(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        seen = [stage.here]
        for path in (ONE, TWO, LOGO, LAST):
            stage.key(Qt.Key.Key_F7)
            await stage.until_shown(path)
            await settle()
            seen.append(stage.here)
        assert seen == [(ONE, 0), (ONE, 1), (TWO, 0), (LOGO, -1), (LAST, 0)]
        stage.key(Qt.Key.Key_F7)
        assert stage.notifier.shown == "This is the last change."
        assert stage.here == (LAST, 0)

    run(story())


def test_shift_f7_lands_on_the_last_hunk_of_the_file_before(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open(TWO)
        stage.key(Qt.Key.Key_F7, SHIFT)
        await stage.until_shown(ONE)
        await settle()
        assert stage.here == (ONE, 1)
        stage.key(Qt.Key.Key_Up, ALT)
        assert stage.here == (ONE, 0)
        stage.key(Qt.Key.Key_Up, ALT)
        assert stage.notifier.shown == "This is the first change."

    run(story())


def test_a_generated_file_that_was_opened_is_walked_through_too(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open(LOCK)
        assert stage.here == (LOCK, -1), "it is folded"
        stage.key(Qt.Key.Key_F7)
        await stage.until_shown(LOGO)
        await stage.open(LOCK)
        stage.page.pane.open_folded()
        assert stage.here == (LOCK, 0)
        stage.page.list.select(TWO)
        await stage.until_shown(TWO)
        stage.key(Qt.Key.Key_F7)
        await stage.until_shown(LOCK)

    run(story())


def test_ctrl_page_down_goes_to_every_file(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        for path in (TWO, LOCK, LOGO):
            stage.key(Qt.Key.Key_PageDown, CTRL)
            assert stage.page.list.current == path
        stage.key(Qt.Key.Key_PageUp, CTRL)
        assert stage.page.list.current == LOCK

    run(story())


def test_the_arrows_of_the_head_tell_whether_it_goes_on(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        assert (stage.page.head._up.isEnabled(), stage.page.head._down.isEnabled()) == (False, True)
        await stage.open(LAST)
        assert (stage.page.head._up.isEnabled(), stage.page.head._down.isEnabled()) == (True, False)

    run(story())


def test_v_marks_the_file_and_the_footer_counts(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.key(Qt.Key.Key_V)
        await until(lambda: stage.page.model.shown[0].mark is Mark.REVIEWED)
        assert stage.page.list._foot.accessibleName() == "1 of 5 reviewed"
        assert stage.page.head._check.isChecked()
        stage.key(Qt.Key.Key_V)
        await until(lambda: stage.page.model.shown[0].mark is Mark.NONE)

    run(story())


def test_the_circle_in_the_list_marks_without_leaving_the_file(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        files = stage.page.list.files
        box = files.visualRect(stage.page.model.index(1))
        QTest.mouseClick(files.viewport(), Qt.MouseButton.LeftButton, pos=box.topLeft() + QPoint(20, 14))
        await until(lambda: stage.page.model.shown[1].mark is Mark.REVIEWED)
        assert stage.page.list.current == ONE

    run(story())


def test_a_mark_goes_when_the_file_changes_again_and_the_row_says_so(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.key(Qt.Key.Key_V)
        await until(lambda: stage.page.model.shown[0].mark is Mark.REVIEWED)
        stage.change_on_disk(ONE, 10, 50)
        stage.page.look_again()
        await until(lambda: stage.page.model.shown[0].mark is Mark.CHANGED)
        assert "changed again" in stage.page.model.shown[0].name
        stage.fake.diffs.by_path[ONE] = replace(stage.fake.diffs.by_path[ONE], after=samples.present("n" + ONE))
        stage.page.look_again()
        await until(lambda: stage.page.model.shown[0].mark is Mark.REVIEWED)

    run(story())


def test_a_mark_is_of_two_contents_so_another_left_side_is_not_changed_again(stage: ReviewStage) -> None:
    diff = stage.fake.diffs.by_path[ONE]
    run(stage.fake.reviews.set_reviewed(samples.CHAT, ONE, samples.present("x").sha, diff.after.sha, True))
    assert mark_of(diff, run(stage.fake.reviews.reviewed(samples.CHAT))) is Mark.NONE


def test_next_file_is_the_next_one_that_is_not_reviewed() -> None:
    def entry(text: str, mark: Mark = Mark.NONE) -> FileEntry:
        return FileEntry(path=samples.path(text), letter="M", mark=mark)

    entries = (entry("a"), entry("b", Mark.REVIEWED), entry("c", Mark.CHANGED))
    assert next_to_review(entries, samples.path("a")) == "c"
    assert next_to_review(entries, samples.path("c")) == "a"
    assert next_to_review((entry("a"), entry("b", Mark.REVIEWED)), samples.path("a")) is None


def test_a_reload_without_news_leaves_what_is_shown_alone(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        asked = len([call for call in stage.fake.diffs.calls if call[0] == "file"])
        stage.page.look_again()
        await settle(30)
        assert len([call for call in stage.fake.diffs.calls if call[0] == "file"]) == asked
        stage.change_on_disk(ONE, 10, 50)
        stage.fake.publish(_restored())
        await until(lambda: len([call for call in stage.fake.diffs.calls if call[0] == "file"]) == asked + 1)

    run(story())


def _restored() -> WorkspaceRestored:
    report = RestoreReport(
        chat=samples.CHAT, kind=RestoreKind.UNDO_FILE, entry=1, restored=(ONE,), left=(), failed=(), verified=True
    )
    return WorkspaceRestored(samples.CHAT, "/home/ada/tidepool", (ONE,), report)


def test_a_file_that_is_the_same_again_is_said_and_the_next_one_is_shown(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        del stage.fake.diffs.by_path[ONE]
        stage.page.look_again()
        await stage.until_shown(TWO)
        assert stage.notifier.shown == "one.py is the same on both sides now."

    run(story())


def test_after_a_file_that_went_comes_the_one_that_stood_below_it(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open(LOGO)
        del stage.fake.diffs.by_path[LOGO]
        stage.page.look_again()
        await stage.until_shown(LAST)
        del stage.fake.diffs.by_path[LAST]
        stage.page.look_again()
        await stage.until_shown(LOCK)  # the last one now

    run(story())


def test_the_way_back_from_an_undo_stays_in_sight_when_the_file_goes_from_the_review(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        del stage.fake.diffs.by_path[ONE]
        stage.fake.publish(_restored())
        stage.notifier.toast("one.py is as it was before turn 4", "done", ("Undo", lambda: None))
        await stage.until_shown(TWO)
        await settle()
        assert stage.notifier.shown == "one.py is as it was before turn 4"

        del stage.fake.diffs.by_path[TWO]
        stage.page.look_again()
        await stage.until_shown(LOCK)
        assert stage.notifier.shown == "two.py is the same on both sides now."

    run(story())


def test_w_and_s_change_whitespace_and_layout(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.key(Qt.Key.Key_S)
        assert stage.page.pane.view.unified
        stage.key(Qt.Key.Key_W)
        await until(lambda: stage.page.lister.wanted is not None and stage.page.lister.wanted[3] == Compare(Ignore.ALL))
        await settle()
        assert not stage.page.head.can_undo_hunk, "a hunk is counted with all whitespace"
        assert stage.page.head.can_undo
        stage.key(Qt.Key.Key_W)
        await until(lambda: stage.page.lister.wanted is not None and stage.page.lister.wanted[3] == Compare())

    run(story())


def test_letters_typed_into_the_filter_are_letters(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.page.list.filter.setFocus()
        for letter in (Qt.Key.Key_V, Qt.Key.Key_W, Qt.Key.Key_S, Qt.Key.Key_C):
            stage.key(letter)
        assert stage.page.list.filter.text() == "vwsc"
        assert not stage.page.pane.view.unified
        await settle()
        assert not stage.fake.reviews.marks
        stage.key(Qt.Key.Key_Escape)
        assert stage.page.list.filter.text() == ""

    run(story())


def test_undo_goes_by_where_the_focus_is(qtbot: QtBot, stage: ReviewStage) -> None:
    run(stage.open())
    stage.page.list.files.setFocus()
    with qtbot.waitSignal(stage.page.undo_file_requested) as file:
        stage.key(Qt.Key.Key_Backspace, CTRL)
    assert file.args is not None
    assert file.args[0].request.path == ONE
    stage.page.pane.view.setFocus()
    stage.page.next_hunk()
    with qtbot.waitSignal(stage.page.undo_hunk_requested) as hunk:
        stage.key(Qt.Key.Key_Backspace, CTRL)
    assert hunk.args is not None
    assert hunk.args[1] == 1
    with qtbot.waitSignal(stage.page.undo_file_requested):
        stage.key(Qt.Key.Key_Backspace, CTRL | SHIFT)


def test_while_a_turn_runs_nothing_can_be_undone_and_it_says_why(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.page.set_held("Undo and Restore wait until turn 6 ends.")
        assert stage.page.held.text == "Undo and Restore wait until turn 6 ends."
        assert not stage.page.head.can_undo
        assert not stage.page.head.can_undo_hunk
        assert "wait until turn 6" in stage.page.head._undo.toolTip()
        stage.page.next_hunk()
        assert not stage.page.head.can_undo_hunk
        stage.page.set_held("")
        assert stage.page.head.can_undo
        assert stage.page.head.can_undo_hunk

    run(story())


def test_a_list_that_cannot_be_made_says_so_and_can_be_tried_again(stage: ReviewStage) -> None:
    stage.fake.diffs.raises["files"] = BlobCorrupt("0" * 64)

    async def story() -> None:
        stage.page.open("t", samples.timeline(), path=ONE)
        await until(lambda: "damaged" in stage.page.list._blank.accessibleName())
        stage.page.list.retry.emit()
        await stage.until_shown(ONE)

    run(story())


def test_a_list_that_cannot_be_made_again_stays(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.fake.diffs.raises["files"] = BlobCorrupt("0" * 64)
        stage.page.look_again()
        await settle(30)
        assert stage.page.list.is_listed
        assert stage.page.model.entries
        stage.change_on_disk(ONE, 10, 50)
        stage.page.look_again()
        await until(lambda: stage.page.diff is not None and stage.page.diff.after == samples.present("later" + ONE))

    run(story())


def test_the_focus_goes_as_the_list_of_stops_says(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.page.bar.more.setFocus()
        names = []
        for _ in range(4):
            stage.key(Qt.Key.Key_Tab)
            focus = stage.window.focusWidget()
            names.append(focus.accessibleName() if focus is not None else "")
        assert names == ["Filter files", "Changed files", "Next file", "Copy path"]

    run(story())


def test_entries_and_tags_are_sides_too() -> None:
    timeline = samples.timeline()
    tagged = replace(
        timeline,
        entries=tuple(
            replace(
                entry,
                files=tuple(replace(change, tag=Tag(f"{entry.turn}.{n}")) for n, change in enumerate(entry.files, 9)),
            )
            for entry in timeline.entries
        ),
    )
    points = flat(old_points(tagged, Start()))
    assert AtEntry(1) in points
    assert points[points.index(BeforeTurn(4)) : points.index(AfterTurn(4)) + 1] == [
        BeforeTurn(4), AtTag(Tag("4.10")), AtTag(Tag("4.11")), AfterTurn(4),
    ]  # fmt: skip
    assert Now() not in flat(new_points(tagged, AfterTurn(1)))


def flat(menu: Sequence[Point | PointGroup]) -> list[Point]:
    """All points of a menu, those of its groups too."""
    return [point for entry in menu for point in (flat(entry.parts()) if isinstance(entry, PointGroup) else (entry,))]


def test_many_points_are_put_together_by_ten_turns() -> None:
    entries = tuple(samples.turn(n, "10:00", 1, "go on", ()) for n in range(1, 41))
    menu = old_points(samples.timeline(entries), Start())
    assert menu[0] == Start()
    assert [entry.words for entry in menu if isinstance(entry, PointGroup)] == [
        "Turns 1 to 10", "Turns 11 to 20", "Turns 21 to 30", "Turns 31 to 40",
    ]  # fmt: skip
    assert flat(menu) == [Start(), *(point for n in range(1, 41) for point in (BeforeTurn(n), AfterTurn(n)))]


def test_tens_of_thousands_are_put_together_in_steps_and_made_when_they_are_looked_at() -> None:
    entries = tuple(samples.turn(n, "10:00", 1, "go on", ()) for n in range(1, 20_001))
    timeline = samples.timeline(entries)
    menu = new_points(timeline, AfterTurn(12_345))
    assert len(menu) <= FLAT
    groups = [entry for entry in menu if isinstance(entry, PointGroup)]
    assert [group.words for group in groups][:2] == ["Turns 1 to 1,000", "Turns 1,001 to 2,000"]
    turn, steps = turn_of(timeline, AfterTurn(12_345)), 0
    parts: list[Point | PointGroup] = menu
    while AfterTurn(12_345) not in parts:
        (holder,) = (one for one in parts if isinstance(one, PointGroup) and one.first <= turn <= one.last)
        parts, steps = holder.parts(), steps + 1
        assert len(parts) <= FLAT
    assert steps == 3
    assert flat(menu) == [point for n in range(1, 20_001) for point in (BeforeTurn(n), AfterTurn(n))]


def test_restores_without_turns_and_changes_between_turns_split_no_group() -> None:
    turns = [samples.turn(n, "10:00", 1, "go on", ()) for n in range(1, 41)]
    back = replace(turns[0], kind=EntryKind.RESTORE, turn=0)
    only = samples.timeline(tuple(replace(back, entry=n) for n in range(1, FLAT + 9)))
    assert flat(new_points(only, Now())) == [AtEntry(n) for n in range(1, FLAT + 9)]
    between = [one for turn in turns for one in (turn, replace(turn, kind=EntryKind.BETWEEN, turn=0))]
    groups = [entry for entry in new_points(samples.timeline(tuple(between)), Now()) if isinstance(entry, PointGroup)]
    assert [(group.first, group.last) for group in groups] == [(1, 10), (11, 20), (21, 30), (31, 40)]


def test_a_group_of_the_menu_is_filled_when_it_is_opened_and_the_present_one_is_ticked(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = tuple(samples.turn(n, "10:00", 1, "go on", ()) for n in range(1, 31))
    timeline = samples.timeline(entries)
    monkeypatch.setattr(review_menus, "_pop_up", lambda _menu, _anchor: None)
    anchor = QWidget()
    qtbot.addWidget(anchor)
    picked: list[Point] = []
    menu = points_menu(anchor, old_points(timeline, AfterTurn(12)), AfterTurn(12), 12, picked.append)
    first, *groups = menu.actions()
    assert not first.isChecked()
    assert [(group.text(), group.isChecked()) for group in groups] == [
        ("Turns 1 to 10", False), ("Turns 11 to 20", True), ("Turns 21 to 30", False),
    ]  # fmt: skip
    inner = groups[1].menu()
    assert isinstance(inner, QMenu)
    assert inner.isEmpty()
    for _ in range(2):
        inner.aboutToShow.emit()
        assert len(inner.actions()) == 20
    assert [action.text() for action in inner.actions() if action.isChecked()] == ["After turn 12"]
    inner.actions()[0].trigger()
    assert picked == [BeforeTurn(11)]
    menu.close()


def test_what_is_undone_as_a_whole_is_named() -> None:
    assert undo_all_words(BeforeTurn(3), AfterTurn(3)) == "Undo turn 3…"
    assert undo_all_words(BeforeTurn(3), AfterTurn(4)) == "Undo all of these changes…"


def test_every_action_of_the_table_has_its_keys_in_the_page_and_none_twice(stage: ReviewStage) -> None:
    bound = {action.objectName(): action for action in stage.page.actions()}
    assert set(bound) == {spec.id for spec in review_table()}
    for mac in (False, True):
        keys = [key.toString() for spec in review_table() for key in sequences(spec, mac=mac)]
        assert len(keys) == len(set(keys))
    taken = {key.toString() for spec in table() if spec.id not in CHAT_ONLY for key in sequences(spec, mac=False)}
    own = {key.toString() for spec in review_table() for key in sequences(spec, mac=False)}
    assert not taken & own, "both would be ambiguous in the main window"


def test_a_mark_goes_through_the_list_once_however_many_files_there_are(
    stage: ReviewStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    compared = list_changes.apply_changes

    def apply_changes(*given: object) -> None:
        passes.append(1)
        compared(*given)  # type: ignore[arg-type]  # whatever the model gives

    async def story() -> None:
        await stage.open()
        monkeypatch.setattr(files, "apply_changes", apply_changes)
        stage.key(Qt.Key.Key_V)
        await until(lambda: stage.page.model.entries[0].mark is Mark.REVIEWED)
        await settle()
        assert len(passes) == 1

    run(story())
