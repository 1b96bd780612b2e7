"""The inspector's tabs by mouse and by keyboard, their menus, and what assistive technology is told."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAction, QGuiApplication, QImage
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtTag,
    BeforeTurn,
    Conflict,
    Now,
    PinnedPoint,
    PlacedConflict,
    Start,
)
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath
from vibekit_desktop.ui.models.conflicts import CardButton
from vibekit_desktop.ui.models.files_tree import FileButton
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.button_list import ButtonList
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.inspector_bar import CONFLICTS, FILES, TIMELINE

OTHER = ChatId("11111111-1111-4111-8111-111111111111")
GUIDE = WorkspacePath("docs/export.md")
CONFLICT = Conflict(path=GUIDE, other_chat=OTHER, expected_sha="e" * 64, actual_sha="a" * 64, tag="5", ts=1)
OVER = PlacedConflict(conflict=CONFLICT, theirs=AtTag(Tag("5")), ours=AfterTurn(5), turn=5, before=4)
THEIRS = PlacedConflict(conflict=replace(CONFLICT, ts=2), theirs=Now(), ours=AfterTurn(5), before=5)
UNKNOWN = PlacedConflict(conflict=replace(CONFLICT, ts=3), before=5)
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def hub(qtbot: QtBot) -> ThemeHub:
    return ThemeHub("light")


@pytest.fixture
def inspector(qtbot: QtBot, hub: ThemeHub) -> Inspector:
    widget = Inspector(hub, now_ms=lambda: samples.NOW_MS)
    qtbot.addWidget(widget)
    widget.resize(360, 900)
    widget.show_timeline(samples.timeline())
    widget.show_pins([PinnedPoint(BeforeTurn(4), "clean", 1)])
    widget.show_conflicts([OVER, THEIRS])
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def press(qtbot: QtBot, view: ButtonList, row: int, button: object) -> None:  # type: ignore[type-arg]  # any list
    view.scrollTo(view.model().index(row, 0))
    view.executeDelayedItemsLayout()
    place = view.button_rect(row, button)
    assert view.viewport().rect().contains(place)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place.center())


def entry(menu: QMenu | None, text: str) -> QAction:
    assert menu is not None
    return next(action for action in menu.actions() if action.text().partition("\t")[0] == text)


def row_of(inspector: Inspector, kind: RowKind, number: int = 0) -> int:
    rows = inspector.timeline_model.rows
    return next(at for at, row in enumerate(rows) if row.kind is kind and (not number or row.number == number))


def menu_of(inspector: Inspector, number: int) -> QMenu | None:
    row = inspector.timeline_model.row_at(number)
    assert row is not None
    return inspector.timeline.menu(number, row)


# -- files -----------------------------------------------------------------------------------------------------------


def file_row(inspector: Inspector, path: str) -> int:
    return inspector.files_model.row_of(WorkspacePath(path))


def test_every_changed_file_has_diff_and_undo_against_the_start(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_tab(FILES)
    view, row = inspector.files.list, file_row(inspector, "docs/export.md")
    with qtbot.waitSignal(inspector.diff_requested) as seen:
        press(qtbot, view, row, FileButton.DIFF)
    assert seen.args == [GUIDE, Start(), Now()]
    with qtbot.waitSignal(inspector.undo_file_requested) as undo:
        press(qtbot, view, row, FileButton.UNDO)
    assert undo.args == [GUIDE, Start()]
    assert inspector.bar.tabs[FILES].count == str(len(inspector.files_model.files))


def test_the_tree_opens_and_closes_by_mouse_and_by_keys(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_tab(FILES)
    with qtbot.waitSignal(inspector.layout_chosen) as seen:
        inspector.files.layout_switch.piece(1).click()
    assert seen.args == [True]
    view, model = inspector.files.list, inspector.files_model
    whole = len(model.rows)
    press(qtbot, view, 0, FileButton.TOGGLE)
    assert len(model.rows) < whole
    view.setFocus()
    view.setCurrentIndex(model.index(0))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert len(model.rows) == whole
    view.setCurrentIndex(model.index(next(at for at, row in enumerate(model.rows) if row.file is not None)))
    while view.currentIndex().row():
        former = view.currentIndex().row()
        qtbot.keyClick(view, Qt.Key.Key_Left)  # to the folder that the file is in, which closes, and on to the one above
        assert view.currentIndex().row() <= former
    shown = len(model.rows)  # a folder on the way was closed
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert len(model.rows) < shown
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert len(model.rows) == shown


def test_the_keys_of_the_table_act_on_the_row_of_the_files(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_tab(FILES)
    view = inspector.files.list
    view.setFocus()
    view.setCurrentIndex(inspector.files_model.index(file_row(inspector, "docs/export.md")))
    with qtbot.waitSignal(inspector.undo_file_requested):
        qtbot.keyClick(view, Qt.Key.Key_Backspace, CONTROL)
    with qtbot.waitSignal(inspector.editor_requested) as seen:
        qtbot.keyClick(view, Qt.Key.Key_E, CONTROL | SHIFT)
    assert seen.args is not None
    assert seen.args[0] == GUIDE
    qtbot.keyClick(view, Qt.Key.Key_C, CONTROL | SHIFT)
    assert QGuiApplication.clipboard().text() == "docs/export.md"
    with qtbot.waitSignal(inspector.diff_requested):
        qtbot.keyClick(view, Qt.Key.Key_Return)


def test_undo_of_a_file_waits_for_a_turn_and_says_until_when(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_tab(FILES)
    inspector.set_held("Wait until turn 6 ends, or stop it")
    row = inspector.files_model.row_at(file_row(inspector, "docs/export.md"))
    assert row is not None
    assert inspector.files.list.button_tip(row, FileButton.UNDO) == "Wait until turn 6 ends, or stop it"
    with qtbot.assertNotEmitted(inspector.undo_file_requested):
        press(qtbot, inspector.files.list, file_row(inspector, "docs/export.md"), FileButton.UNDO)


# -- conflicts -------------------------------------------------------------------------------------------------------


def test_the_cards_are_pressed_where_they_are_painted(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_tab(CONFLICTS)
    view = inspector.conflicts.list
    with qtbot.waitSignal(inspector.diff_requested) as seen:
        press(qtbot, view, 0, CardButton.COMPARE)
    assert seen.args == [GUIDE, AfterTurn(5), Now()]
    with qtbot.waitSignal(inspector.settle_requested) as kept:
        press(qtbot, view, 1, CardButton.KEEP)
    assert kept.args is not None
    assert (kept.args[0].placed, kept.args[1]) == (OVER, True)
    with qtbot.waitSignal(inspector.bring_back_requested) as back:
        press(qtbot, view, 1, CardButton.BRING_BACK)
    assert back.args is not None
    assert back.args[0].back_to == AtTag(Tag("5"))


def test_what_was_not_kept_is_off(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_conflicts([UNKNOWN])
    inspector.show_tab(CONFLICTS)
    with qtbot.assertNotEmitted(inspector.bring_back_requested), qtbot.assertNotEmitted(inspector.diff_requested):
        press(qtbot, inspector.conflicts.list, 0, CardButton.BRING_BACK)
        press(qtbot, inspector.conflicts.list, 0, CardButton.COMPARE)


def test_cards_are_walked_by_keys(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_tab(CONFLICTS)
    view = inspector.conflicts.list
    view.setFocus()
    view.setCurrentIndex(inspector.conflicts_model.index(1))
    for _ in range(2):
        qtbot.keyClick(view, Qt.Key.Key_Right)
    with qtbot.waitSignal(inspector.settle_requested):
        qtbot.keyClick(view, Qt.Key.Key_Return)


def test_settled_ones_are_shown_on_demand_and_the_badge_counts_the_others(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_conflicts([replace(OVER, settled=True)])
    inspector.show_tab(CONFLICTS)
    assert inspector.bar.tabs[CONFLICTS].count == ""
    assert inspector.conflicts._blank.accessibleName().startswith("No conflicts. What others changed")
    entry(inspector.bar.menu(), "Show settled conflicts").trigger()
    with qtbot.waitSignal(inspector.settle_requested) as seen:
        press(qtbot, inspector.conflicts.list, 0, CardButton.REOPEN)
    assert seen.args is not None
    assert seen.args[1] is False


@pytest.mark.parametrize("zoom", [0.8, 1.0, 2.0])
@pytest.mark.parametrize("width", [300, 360, 560])
def test_cards_hold_their_buttons_and_words_at_any_width_and_zoom(qtbot: QtBot, zoom: float, width: int) -> None:
    widget = Inspector(ThemeHub("dark", zoom=zoom), now_ms=lambda: samples.NOW_MS)
    qtbot.addWidget(widget)
    widget.resize(width, 900)
    widget.show_timeline(samples.timeline())
    widget.show_conflicts([OVER, THEIRS])
    widget.show_tab(CONFLICTS)
    with qtbot.waitExposed(widget):
        widget.show()
    view = widget.conflicts.list
    view.executeDelayedItemsLayout()
    for number in range(2):
        row = view.visualRect(view.model().index(number, 0))
        for button in (CardButton.COMPARE, CardButton.KEEP, CardButton.BRING_BACK):
            place = view.button_rect(number, button)
            assert row.contains(place)
            assert place.height() >= 24
            assert place.right() <= view.viewport().width() - 20
    assert not widget.grab().toImage().isNull()


# -- menus, pins, tabs -----------------------------------------------------------------------------------------------


def test_the_menu_of_a_file_has_everything_that_its_keys_do(qtbot: QtBot, inspector: Inspector) -> None:
    rows = inspector.timeline_model.rows
    number = next(at for at, row in enumerate(rows) if row.path == GUIDE and row.number == 5)
    menu = menu_of(inspector, number)
    assert menu is not None
    assert [action.text() for action in menu.actions() if not action.isSeparator()] == [
        "Show diff\tEnter",
        "Undo in this file\tCtrl ⌫",
        "Restore to before this turn…\tCtrl ⇧ R",
        "Open in editor\tCtrl ⇧ E",
        "Copy path\tCtrl ⇧ C",
        "Every chat that changed it",
    ]
    with qtbot.waitSignal(inspector.restore_requested) as seen:
        entry(menu, "Restore to before this turn…").trigger()
    assert seen.args == [BeforeTurn(5)]
    with qtbot.waitSignal(inspector.writers_requested):
        entry(menu, "Every chat that changed it").trigger()


def test_the_keys_of_a_row_come_before_those_of_the_window(qtbot: QtBot, inspector: Inspector) -> None:
    window_keys = QAction(inspector)
    window_keys.setShortcut("Ctrl+Shift+R")
    inspector.addAction(window_keys)
    view = inspector.timeline
    view.setFocus()
    view.setCurrentIndex(view.model().index(row_of(inspector, RowKind.TURN, 3), 0))
    with qtbot.waitSignal(inspector.restore_requested) as seen, qtbot.assertNotEmitted(window_keys.triggered):
        qtbot.keyClick(view, Qt.Key.Key_R, CONTROL | SHIFT)
    assert seen.args == [BeforeTurn(3)]


def test_nothing_is_restored_by_menu_or_key_while_it_waits(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.set_held("Wait until turn 6 ends, or stop it")
    number = row_of(inspector, RowKind.TURN, 3)
    assert not entry(menu_of(inspector, number), "Restore to before this turn…").isEnabled()
    inspector.timeline.setFocus()
    inspector.timeline.setCurrentIndex(inspector.timeline_model.index(number))
    with qtbot.assertNotEmitted(inspector.restore_requested):
        qtbot.keyClick(inspector.timeline, Qt.Key.Key_R, CONTROL | SHIFT)


def test_a_point_is_pinned_renamed_and_let_go_from_its_row(qtbot: QtBot, inspector: Inspector) -> None:
    with qtbot.waitSignal(inspector.pin_requested) as seen:
        entry(menu_of(inspector, row_of(inspector, RowKind.TURN, 3)), "Pin this point…").trigger()
    assert seen.args == [BeforeTurn(3), ""]
    pin = row_of(inspector, RowKind.PIN)
    with qtbot.waitSignal(inspector.pin_requested) as renamed:
        entry(menu_of(inspector, pin), "Rename this point…").trigger()
    assert renamed.args == [BeforeTurn(4), "clean"]
    view = inspector.timeline
    view.setFocus()
    view.setCurrentIndex(inspector.timeline_model.index(pin))
    with qtbot.waitSignal(inspector.pin_requested):
        qtbot.keyClick(view, Qt.Key.Key_F2)
    with qtbot.waitSignal(inspector.unpin_requested) as gone:
        qtbot.keyClick(view, Qt.Key.Key_Delete)
    assert gone.args == [BeforeTurn(4)]
    with qtbot.waitSignal(inspector.restore_requested) as restore:
        press(qtbot, view, pin, Button.RESTORE)
    assert restore.args == [BeforeTurn(4)]


def test_tabs_are_switched_by_number_and_by_arrows_and_told(qtbot: QtBot, inspector: Inspector) -> None:
    with qtbot.waitSignal(inspector.tab_changed) as seen:
        inspector.show_tab(CONFLICTS)
    assert seen.args == [CONFLICTS]
    assert inspector.tab() == CONFLICTS
    inspector.bar.tabs[CONFLICTS].setFocus()
    qtbot.keyClick(inspector.bar.tabs[CONFLICTS], Qt.Key.Key_Right)
    assert inspector.tab() == TIMELINE
    inspector.show_tab(7)
    assert inspector.tab() == TIMELINE


def test_the_menu_folds_leaves_out_and_asks_for_a_rescan(qtbot: QtBot, inspector: Inspector) -> None:
    entry(inspector.bar.menu(), "Fold all").trigger()
    assert not [row for row in inspector.timeline_model.rows if row.kind is RowKind.FILE and not row.in_now]
    entry(inspector.bar.menu(), "Unfold all").trigger()
    assert [row for row in inspector.timeline_model.rows if row.kind is RowKind.FILE and not row.in_now]
    entry(inspector.bar.menu(), "Show only turns that changed files").trigger()
    assert inspector.timeline_model.beside.only_changes
    assert entry(inspector.bar.menu(), "Show only turns that changed files").isChecked()
    with qtbot.waitSignal(inspector.rescan_requested):
        entry(inspector.bar.menu(), "Rescan").trigger()


# -- light -----------------------------------------------------------------------------------------------------------


def test_what_was_just_undone_is_lit_and_goes_out(qtbot: QtBot, inspector: Inspector) -> None:
    *before, fifth, now = samples.entries()
    assert fifth.turn == 5
    undone = replace(fifth, files=(replace(fifth.files[0], undone=True), *fifth.files[1:]))
    inspector.show_timeline(samples.timeline((*before, undone, now)))
    assert inspector.timeline.lit == {("file", 5, f"turn {fifth.files[0].path}")}
    qtbot.waitUntil(lambda: not inspector.timeline.lit, timeout=5000)
    qtbot.waitUntil(lambda: not inspector.timeline.pulse.beats, timeout=5000)


def test_another_chat_and_the_first_look_light_nothing(inspector: Inspector) -> None:
    assert inspector.timeline.lit == frozenset()
    inspector.show_timeline(samples.timeline(chat=OTHER))
    assert inspector.timeline.lit == frozenset()


def test_a_turn_that_was_jumped_to_is_current_and_lit(inspector: Inspector) -> None:
    assert inspector.timeline.show_turn(2)
    assert inspector.timeline.currentIndex().row() == row_of(inspector, RowKind.TURN, 2)
    assert inspector.timeline.lit == {("turn", 2, "")}
    assert not inspector.timeline.show_turn(40)


def test_under_reduced_motion_nothing_is_lit(qtbot: QtBot) -> None:
    widget = Inspector(ThemeHub("light", still=True), now_ms=lambda: samples.NOW_MS)
    qtbot.addWidget(widget)
    widget.show_timeline(samples.timeline())
    widget.timeline.show_turn(2)
    assert widget.timeline.lit == frozenset()


# -- assistive technology --------------------------------------------------------------------------------------------


def test_rows_and_their_buttons_are_parts_with_names(inspector: Inspector) -> None:
    face = QAccessible.queryAccessibleInterface(inspector.timeline)
    assert face is not None
    assert (face.role(), face.childCount()) == (QAccessible.Role.List, len(inspector.timeline_model.rows))
    rows = inspector.timeline_model.rows
    number = next(at for at, row in enumerate(rows) if row.path == GUIDE and row.number == 5)
    row = face.child(number)
    assert row.role() is QAccessible.Role.ListItem
    assert row.text(QAccessible.Text.Name) == "docs/export.md, modified, 18 added, 2 deleted, conflict"
    names = [row.child(at).text(QAccessible.Text.Name) for at in range(row.childCount())]
    assert names == [
        "Show diff of docs/export.md, turn 5, 18 added, 2 deleted, conflict",
        "Undo what turn 5 did to docs/export.md",
    ]
    undo = row.child(1)
    assert undo.role() is QAccessible.Role.Button
    place = inspector.timeline.button_rect(number, Button.UNDO)
    assert undo.rect().topLeft() == inspector.timeline.viewport().mapToGlobal(place.topLeft())
    assert face.childAt(*undo.rect().center().toTuple()).text(QAccessible.Text.Name) == row.text(QAccessible.Text.Name)


def test_a_button_that_is_off_says_why(inspector: Inspector) -> None:
    inspector.set_held("Wait until turn 6 ends, or stop it")
    face = QAccessible.queryAccessibleInterface(inspector.timeline)
    rows = inspector.timeline_model.rows
    undo = face.child(next(at for at, row in enumerate(rows) if Button.UNDO in row.buttons)).child(1)
    assert undo.state().disabled
    assert undo.text(QAccessible.Text.Description) == "Wait until turn 6 ends, or stop it"


def test_the_tree_of_files_is_a_tree_and_its_folders_are_open_or_closed(inspector: Inspector) -> None:
    inspector.show_tab(FILES)
    inspector.files.set_tree(True)
    face = QAccessible.queryAccessibleInterface(inspector.files.list)
    folder = face.child(0)
    assert (folder.role(), folder.state().expanded) == (QAccessible.Role.TreeItem, True)
    inspector.files_model.toggle(0)
    assert (folder.state().expanded, folder.state().collapsed) == (False, True)


def test_the_keyboard_is_where_the_list_says(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    inspector.activateWindow()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    rows = inspector.timeline_model.rows
    number = next(at for at, row in enumerate(rows) if Button.UNDO in row.buttons)
    view.setCurrentIndex(inspector.timeline_model.index(number))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    face = QAccessible.queryAccessibleInterface(view)
    focused = face.focusChild()
    assert focused.role() is QAccessible.Role.Button
    assert focused.state().focused
    assert focused.text(QAccessible.Text.Name).startswith("Show diff of")


def test_faces_outlive_their_list(qtbot: QtBot, hub: ThemeHub) -> None:
    widget = Inspector(hub, now_ms=lambda: samples.NOW_MS)
    widget.show_timeline(samples.timeline())
    row = QAccessible.queryAccessibleInterface(widget.timeline).child(1)
    button = row.child(0)
    assert button.isValid()
    widget.deleteLater()
    with qtbot.waitSignal(widget.destroyed):
        pass
    assert (row.isValid(), button.isValid(), row.text(QAccessible.Text.Name), button.rect().isEmpty()) == (
        False,
        False,
        "",
        True,
    )


@pytest.mark.parametrize("tab", [TIMELINE, FILES, CONFLICTS])
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_every_tab_paints(qtbot: QtBot, mode: str, ratio: float, tab: int) -> None:
    widget = Inspector(ThemeHub(mode, zoom=ratio), now_ms=lambda: samples.NOW_MS)
    qtbot.addWidget(widget)
    widget.resize(300, 900)
    widget.show_timeline(samples.timeline())
    widget.show_pins([PinnedPoint(BeforeTurn(4), "a name that is much longer than there is room for in a narrow pane", 1)])
    widget.show_conflicts([OVER, THEIRS, UNKNOWN, replace(OVER, conflict=replace(CONFLICT, ts=9), settled=True)])
    widget.bar.settled_requested.emit(True)
    widget.files.set_tree(True)
    widget.show_tab(tab)
    with qtbot.waitExposed(widget):
        widget.show()
    image = widget.grab().toImage()
    assert isinstance(image, QImage)
    points = [QPoint(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)]
    assert len({image.pixel(point) for point in points}) > 8
