"""The painted timeline: buttons are where they are seen, and everything works from the keyboard."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, Now, Skipped, Start
from vibekit_desktop.ui.error_text import ErrorText
from vibekit_desktop.ui.models.files import FileEntry
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.timeline import TimelineView


@pytest.fixture
def hub(qtbot: QtBot) -> ThemeHub:
    return ThemeHub("light")


@pytest.fixture
def inspector(qtbot: QtBot, hub: ThemeHub) -> Inspector:
    widget = Inspector(hub, now_ms=lambda: samples.NOW_MS)
    qtbot.addWidget(widget)
    widget.resize(360, 900)
    widget.show_timeline(samples.timeline())
    widget.show()
    return widget


def row_of(view: TimelineView, title: str, number: int = 0) -> int:
    model = view.model()
    for index in range(model.rowCount()):
        row = inspector_row(view, index)
        if row.title == title and (not number or row.number == number):
            return index
    raise AssertionError(title)


def inspector_row(view: TimelineView, index: int):  # type: ignore[no-untyped-def]  # a test's shorthand
    return view._model.row_at(index)


def press(qtbot: QtBot, view: TimelineView, row: int, button: Button) -> None:
    place = view.button_rect(row, button)
    assert not place.isEmpty()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place.center())


def test_diff_and_undo_are_always_there_and_pressed_where_they_are_painted(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    row = row_of(view, "src/export/legacy_rows.py")
    with qtbot.waitSignal(inspector.diff_requested) as seen:
        press(qtbot, view, row, Button.DIFF)
    assert seen.args == ["src/export/legacy_rows.py", BeforeTurn(4), AfterTurn(4)]
    with qtbot.waitSignal(inspector.undo_file_requested) as undo:
        press(qtbot, view, row, Button.UNDO)
    assert undo.args == ["src/export/legacy_rows.py", BeforeTurn(4)]


def test_every_button_is_at_least_twenty_four_pixels_high_and_inside_its_row(inspector: Inspector) -> None:
    view = inspector.timeline
    for index in range(view.model().rowCount()):
        row = inspector_row(view, index)
        whole = view.visualRect(view.model().index(index, 0))
        for button in row.buttons:
            place = view.button_rect(index, button)
            assert place.height() >= 20
            assert whole.top() <= place.top()
            assert place.bottom() <= whole.bottom()
            assert place.right() <= view.viewport().width()
            assert view.aim_at(QPointF(place.center())) == (index, button)


def test_restore_and_the_undo_of_a_restore_are_asked_for(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    with qtbot.waitSignal(inspector.restore_requested) as seen:
        press(qtbot, view, row_of(view, "Restore to before this turn", 3), Button.RESTORE)
    assert seen.args == [BeforeTurn(3)]
    with qtbot.waitSignal(inspector.undo_requested):
        press(qtbot, view, row_of(view, "Restored to before turn 3"), Button.TAKE_BACK)


def test_a_press_that_ends_elsewhere_does_nothing(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    place = view.button_rect(row_of(view, "src/export/legacy_rows.py"), Button.UNDO).center()
    with qtbot.assertNotEmitted(inspector.undo_file_requested):
        qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=place + QPoint(0, 60))


def test_folded_files_open_and_close(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    before = view.model().rowCount()
    press(qtbot, view, row_of(view, "7 files"), Button.TOGGLE)
    assert view.model().rowCount() == before + 7
    press(qtbot, view, row_of(view, "7 files"), Button.TOGGLE)
    assert view.model().rowCount() == before


def test_the_keyboard_walks_rows_and_buttons(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    view.setFocus(Qt.FocusReason.TabFocusReason)
    view.setCurrentIndex(view.model().index(0, 0))
    qtbot.keyClick(view, Qt.Key.Key_Down)
    with qtbot.waitSignal(inspector.diff_requested) as seen:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert seen.args == ["src/export/rows.py", AfterTurn(5), Now()]
    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    with qtbot.waitSignal(inspector.undo_file_requested) as undo:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert undo.args == ["src/export/rows.py", AfterTurn(5)]
    qtbot.keyClick(view, Qt.Key.Key_Left)
    with qtbot.waitSignal(inspector.diff_requested):
        qtbot.keyClick(view, Qt.Key.Key_Return)


def test_space_opens_a_group(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    before = view.model().rowCount()
    view.setCurrentIndex(view.model().index(row_of(view, "7 files"), 0))
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert view.model().rowCount() == before + 7


def test_a_double_click_on_a_file_opens_its_diff_once(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    middle = view.visualRect(view.model().index(row_of(view, "src/export/legacy_rows.py"), 0)).center()
    seen: list[object] = []
    inspector.diff_requested.connect(lambda *arguments: seen.append(arguments))
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert len(seen) == 1


@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_the_coverage_chip_lists_what_is_missing_and_why(qtbot: QtBot, inspector: Inspector) -> None:
    view = inspector.timeline
    press(qtbot, view, row_of(view, "Turn 4"), Button.COVERAGE)
    menu = view.findChild(QMenu)
    assert menu is not None
    assert menu.actions()[0].text() == "data/samples.parquet: over the size limit, 48 MB"
    menu.close()


@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_the_coverage_chip_says_why_a_turn_may_be_incomplete(qtbot: QtBot, inspector: Inspector) -> None:
    skipped = (Skipped("", "command"), Skipped("", "command"), Skipped("", "sub-agent"))
    turn = samples.turn(7, "14:00", 1, "x", (samples.change("a", 1, 1),), skipped)
    inspector.show_timeline(samples.timeline((turn,)))
    press(qtbot, inspector.timeline, row_of(inspector.timeline, "Turn 7"), Button.COVERAGE)
    menu = inspector.timeline.findChild(QMenu)
    assert menu is not None
    assert [action.text() for action in menu.actions()] == [
        "A command ran; what it changed outside the recorded edits is not known.",
        "A sub-agent worked whose steps are not recorded; what it changed is not known.",
    ]
    menu.close()


def test_a_button_that_is_off_does_nothing(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_timeline(samples.timeline(workspace_found=False))
    view = inspector.timeline
    with qtbot.assertNotEmitted(inspector.undo_file_requested):
        press(qtbot, view, row_of(view, "src/export/legacy_rows.py"), Button.UNDO)


def test_rows_have_whole_phrases_for_assistive_technology(inspector: Inspector) -> None:
    model = inspector.timeline_model
    row = row_of(inspector.timeline, "src/export/legacy_rows.py")
    text = model.data(model.index(row), Qt.ItemDataRole.AccessibleTextRole)
    assert text == "src/export/legacy_rows.py, deleted, 64 deleted"


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("zoom", [0.8, 1.0, 2.0])
def test_it_paints_in_both_themes_at_every_zoom(qtbot: QtBot, mode: str, zoom: float) -> None:
    hub = ThemeHub(mode, zoom=zoom)
    widget = Inspector(hub, now_ms=lambda: samples.NOW_MS)
    qtbot.addWidget(widget)
    widget.resize(300, 700)
    widget.show_timeline(samples.timeline())
    widget.timeline_model.toggle(widget.timeline_model.row_of_key(("group", 3, "turn")))
    widget.show()
    assert len(_colours(widget.grab().toImage())) > 12
    widget.timeline.verticalScrollBar().setValue(10_000)
    assert len(_colours(widget.grab().toImage())) > 12


def test_the_theme_changes_while_it_is_shown(qtbot: QtBot, hub: ThemeHub, inspector: Inspector) -> None:
    hub.set_mode("dark")
    image = inspector.grab().toImage()
    assert image.pixelColor(2, 300) == QColor(hub.theme.hex("bg.inspector"))


def test_an_empty_timeline_says_so_and_a_failed_one_offers_another_try(qtbot: QtBot, inspector: Inspector) -> None:
    now = samples.entries()[-1]
    empty = samples.TimelineEntry(kind=now.kind, turn=0, at=0)
    inspector.show_timeline(samples.timeline((empty,)))
    assert inspector._blank.accessibleName().startswith("No changes yet")
    inspector.show_error(ErrorText("This can't be read.", "Nothing was changed."))
    with qtbot.waitSignal(inspector.retry_requested):
        inspector._blank._button.click()


def test_the_files_tab_asks_for_its_list_when_it_is_shown(qtbot: QtBot, inspector: Inspector) -> None:
    with qtbot.waitSignal(inspector.files_wanted):
        inspector.show_tab(1)
    inspector.show_files([FileEntry(path=samples.path("src/export/rows.py"), letter="M", added=15, removed=5)])
    inspector.files.filter.setText("EXPORT rows.py legacy")
    assert [row.path for row in inspector.files_model.rows] == ["src/export/legacy_rows.py"]
    inspector.files.filter.setText("export/rows.PY")
    (row,) = inspector.files_model.rows
    assert row.counts == (15, 5)
    view = inspector.files.list
    with qtbot.waitSignal(inspector.diff_requested) as seen:
        view.setCurrentIndex(inspector.files_model.index(0))
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert seen.args == ["src/export/rows.py", Start(), Now()]
    inspector.files.filter.setText("nothing like it")
    assert inspector.files._blank.accessibleName().startswith("Nothing found")


def test_a_chats_branch_is_opened_from_the_restore_that_made_it(qtbot: QtBot, inspector: Inspector) -> None:
    branch = samples.ChatId("22222222-2222-4222-8222-222222222222")
    entries = tuple(replace(entry, branch_chat_id=branch) if entry.entry == 1 else entry for entry in samples.entries())
    inspector.show_timeline(samples.timeline(entries))
    view = inspector.timeline
    row = next(n for n in range(view.model().rowCount()) if inspector_row(view, n).kind is RowKind.ENTRY)
    with qtbot.waitSignal(inspector.open_chat_requested) as seen:
        press(qtbot, view, row, Button.OPEN_CHAT)
    assert seen.args == [branch]


def _colours(image: QImage) -> set[int]:
    return {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
