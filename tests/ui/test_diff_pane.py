"""What stands around the diff: find, the same file again, images, generated files, and the words for assistive technology."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, Qt
from PySide6.QtGui import QAccessible, QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Now
from vibekit_desktop.core.types.diffs import BinaryPair, DiffDocument, DiffResult, FileDiff, TooLarge
from vibekit_desktop.ui.models.diff_options import DiffOptions
from vibekit_desktop.ui.models.diff_rows import Show
from vibekit_desktop.ui.operations.diffs import lines_in_crlf
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_access import row_words
from vibekit_desktop.ui.views.diff_find import count_words
from vibekit_desktop.ui.views.diff_frame import NoteRow
from vibekit_desktop.ui.views.diff_pane import DiffPane
from vibekit_desktop.ui.views.image_pair import decode

LABELS = (("Before turn 3", "13:31"), ("On disk", ""))
BASE = [f"line {n} of the file" for n in range(300)]


def document(old: str, new: str) -> DiffDocument:
    result = build(old.encode(), new.encode(), limits=UNLIMITED)
    assert isinstance(result, DiffDocument)
    return result


def changed(*changes: tuple[int, str]) -> str:
    lines = list(BASE)
    for at, text in changes:
        lines[at] = text
    return "\n".join(lines) + "\n"


OLD = changed()


def file_diff(result: DiffResult, *, generated: str = "", name: str = "a.py") -> FileDiff:
    made = samples.file_diff(name, BeforeTurn(3), Now(), result)
    return FileDiff(request=made.request, before=made.before, after=made.after, result=result, generated=generated)


@pytest.fixture
def pane(qtbot: QtBot) -> DiffPane:
    widget = DiffPane(ThemeHub("light"))
    qtbot.addWidget(widget)
    widget.resize(900, 400)
    widget.show()
    return widget


def notes(pane: DiffPane) -> list[str]:
    return [row.accessibleName() for row in pane.findChildren(NoteRow) if row.isVisible()]


def searched(qtbot: QtBot, pane: DiffPane) -> Callable[[str], None]:
    def search(text: str) -> None:
        pane.find_bar.field.setText(text)
        qtbot.waitUntil(lambda: pane.find_bar.hits is not None and pane.find_bar.hits.whole)

    return search


# Find.


def test_places_are_counted_and_walked_also_in_folded_lines_which_open(qtbot: QtBot, pane: DiffPane) -> None:
    pane.show_diff(file_diff(document(OLD, changed((10, "x"), (290, "line 150 again")))), LABELS)
    pane.open_find()
    searched(qtbot, pane)("line 150")
    assert (len(pane.find_bar.hits or ()), pane.find_bar.current) == (2, 0)
    rows = pane.view.rows
    assert rows is not None
    assert rows.kind(rows.index_of(150)) is Show.PAIR
    first, last = pane.view.visible_span()
    assert first <= rows.index_of(150) <= last
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Return)
    assert pane.find_bar.current == 1
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_F3)
    assert pane.find_bar.current == 0
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert pane.find_bar.current == 1
    assert rows.sides(pane.view.current_row)[1] == 291


def test_places_are_marked_and_the_current_one_stands_out(qtbot: QtBot, pane: DiffPane) -> None:
    pane.show_diff(file_diff(document("some words\n", "some words\nmore words\n")), LABELS)
    pane.open_find()
    searched(qtbot, pane)("words")
    theme = ThemeHub("light").theme
    picture = pane.view.viewport().grab().toImage()
    colours = {picture.pixelColor(x, y).name().upper() for x in range(0, 880, 2) for y in range(0, 40, 2)}
    assert {theme.hex("find.hit"), theme.hex("find.hit-current")} <= colours
    pane.close_find()
    picture = pane.view.viewport().grab().toImage()
    colours = {picture.pixelColor(x, y).name().upper() for x in range(0, 880, 2) for y in range(0, 40, 2)}
    assert theme.hex("find.hit") not in colours


def test_esc_closes_find_and_gives_the_focus_back(qtbot: QtBot, pane: DiffPane) -> None:
    pane.show_diff(file_diff(document("a\n", "b\n")), LABELS)
    pane.view.setFocus()
    qtbot.keyClick(pane.view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert pane.find_bar.isVisible()
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Escape)
    assert not pane.find_bar.isVisible()
    assert pane.view.hasFocus()
    assert not pane.close_find()


def test_find_begins_with_what_is_chosen_and_goes_on_in_another_file(qtbot: QtBot, pane: DiffPane) -> None:
    pane.show_diff(file_diff(document("a\n", "needle\n")), LABELS)
    pane.view.choose_lines(1, 1, 1)
    pane.open_find()
    assert pane.find_bar.field.text() == "needle"
    pane.show_diff(file_diff(document("a\n", "a needle\nand a needle\n"), name="b.py"), LABELS)
    qtbot.waitUntil(lambda: len(pane.find_bar.hits or ()) == 2)
    assert pane.find_bar.current == -1
    pane.find_bar.step(-1)
    assert pane.find_bar.current == 1


def test_the_words_of_find() -> None:
    assert count_words(0, -1, whole=True, asked=False) == ""
    assert count_words(0, -1, whole=True, asked=True) == "Not found"
    assert count_words(0, -1, whole=False, asked=True) == "Looking…"
    assert count_words(1240, -1, whole=True, asked=True) == "1,240 places"
    assert count_words(17, 2, whole=True, asked=True) == "3 of 17"
    assert count_words(17, 2, whole=False, asked=True) == "3 of 17, looking…"


def test_a_place_far_to_the_right_is_scrolled_to(qtbot: QtBot, pane: DiffPane) -> None:
    pane.show_diff(file_diff(document("a\n", "x" * 5000 + "needle" + "x" * 5000 + "\n")), LABELS)
    pane.open_find()
    searched(qtbot, pane)("needle")
    left = 5000 * pane.view._painter.lines.advance
    assert 0 < left - pane.view.horizontalScrollBar().value() < 450


# The same file again.


def test_the_line_in_sight_stays_where_it_is_when_lines_come_above_it(pane: DiffPane) -> None:
    pane.show_diff(file_diff(document(OLD, changed((20, "x"), (250, "y")))), LABELS)
    view = pane.view
    view.go_to_hunk(1)
    assert view.rows is not None
    before = view.grab_row(view.rows.hunk_span(1)[0]).top()
    after = "first\nsecond\n" + changed((20, "x"), (100, "z"), (250, "y"))
    pane.show_diff(file_diff(document(OLD, after)), LABELS, keep_place=True)
    assert view.rows is not None
    assert view.hunk == 3
    assert view.grab_row(view.rows.hunk_span(3)[0]).top() == before
    assert notes(pane) == []


def test_a_hunk_that_is_gone_is_told(pane: DiffPane) -> None:
    pane.show_diff(file_diff(document(OLD, changed((20, "x"), (250, "y")))), LABELS)
    pane.view.go_to_hunk(1)
    pane.show_diff(file_diff(document(OLD, changed((20, "x")))), LABELS, keep_place=True)
    assert notes(pane) == ["This file changed on disk. Showing the new state."]
    assert pane.view.hunk == 0
    rows = pane.view.rows
    assert rows is not None
    shown = [rows.sides(index)[1] for index in range(*pane.view.visible_span())]
    assert 250 in shown
    pane.show_diff(file_diff(document(OLD, changed((20, "x")))), LABELS, keep_place=True)
    assert notes(pane) == []


def test_what_was_opened_and_chosen_stays_so(pane: DiffPane) -> None:
    pane.show_diff(file_diff(document(OLD, changed((20, "x"), (250, "y")))), LABELS)
    view = pane.view
    assert view.rows is not None
    fold = next(n for n in range(1, len(view.rows)) if view.rows.kind(n) is Show.FOLD)
    view.open_fold(fold, "down")
    view.choose_lines(1, 30, 31)
    hidden = view.rows.folds[1].first
    pane.show_diff(file_diff(document(OLD, "new\n" + changed((20, "x"), (250, "y")))), LABELS, keep_place=True)
    assert view.rows.folds[-2].first == hidden + 1
    assert view.selected_text() == "line 29 of the file\nline 30 of the file"


# Wrapping.


def test_wrapped_lines_are_as_high_as_they_need_and_the_line_in_sight_stays(qtbot: QtBot, pane: DiffPane) -> None:
    lines = [("word " * (1 + n % 60)).strip() for n in range(3000)]
    new = list(lines)
    new[2500] = "changed " * 50
    pane.show_diff(file_diff(document("\n".join(lines) + "\n", "\n".join(new) + "\n")), LABELS)
    view = pane.view
    pane.set_options(DiffOptions(context=None))
    view.verticalScrollBar().setValue(20 * 1500 + 7)
    pane.set_options(DiffOptions(context=None, wrap=True))
    assert view.rows is not None
    assert view.visible_span()[0] == 1500
    assert view.horizontalScrollBar().maximum() == 0
    qtbot.waitUntil(lambda: not view._widths.busy)
    assert view.visible_span()[0] == 1500
    columns = view._painter.wrap
    expected = sum(20 * max(1, -(-len(line) // columns)) for line in lines[:2500])
    assert view.rows.top(2500) == expected
    view.viewport().grab()
    pane.set_options(DiffOptions(context=None))
    assert view.visible_span()[0] == 1500


def test_a_line_with_wide_characters_wraps_to_what_it_takes(pane: DiffPane) -> None:
    pane.show_diff(file_diff(document("a\n", "漢" * 200 + " \u05d0\u05d1 e\u0301\n")), LABELS)
    pane.set_options(DiffOptions(wrap=True, invisibles=True, stronger=True))
    assert pane.view.rows is not None
    assert pane.view.rows.row_height(0) >= 80
    pane.view.viewport().grab()


def test_context_and_tabs_can_be_chosen(pane: DiffPane) -> None:
    pane.show_diff(file_diff(document(OLD, changed((100, "\tx")))), LABELS)
    rows = pane.view.rows
    assert rows is not None
    assert rows.folds[0].count == 97
    pane.set_options(DiffOptions(context=10))
    assert pane.view.rows is not None
    assert pane.view.rows.folds[0].count == 90
    assert pane.view._painter.line(1, 101).shown.text == "    x"
    pane.set_options(DiffOptions(context=None, tab_columns=8))
    assert pane.view.rows.folds == ()
    assert pane.view._painter.line(1, 101).shown.text == "        x"


# Generated files, images, the path.


def test_a_generated_file_is_shown_when_it_is_asked_for(qtbot: QtBot, pane: DiffPane) -> None:
    lock = file_diff(document(OLD, changed((1, "x"))), generated="lock", name="uv.lock")
    pane.show_diff(lock, LABELS)
    assert notes(pane) == ["Lock file, 2 changed lines."]
    assert pane.folded
    with qtbot.waitSignal(pane.unfolded):
        pane.open_folded()
    assert not pane.folded
    assert pane.view.rows is not None
    pane.show_diff(file_diff(document(OLD, changed((2, "x"))), generated="lock", name="uv.lock"), LABELS)
    assert not pane.folded
    pane.show_diff(file_diff(document(OLD, changed((2, "x"))), generated="minified", name="b.js"), LABELS)
    assert notes(pane) == ["Minified file, 2 changed lines."]


def image_bytes(width: int, height: int, colour: str, kind: str = "PNG") -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, kind)
    return bytes(data.data())


def test_the_focus_waits_in_the_pane_while_there_are_no_lines(qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    column = QVBoxLayout(around)
    back = QPushButton("Back", around)
    pane = DiffPane(ThemeHub("light"), around)
    column.addWidget(back)
    column.addWidget(pane)
    around.resize(900, 400)
    around.show()
    around.activateWindow()
    qtbot.waitUntil(around.isActiveWindow)
    lines = file_diff(document(OLD, changed((10, "new"))))
    others: list[Callable[[], None]] = [
        lambda: pane.show_diff(file_diff(TooLarge(9_000_000, 9_000_000)), LABELS),
        lambda: pane.show_diff(file_diff(BinaryPair(10, 12)), LABELS),
        pane.show_loading,
        pane.show_nothing_to_review,
        pane.clear,
    ]
    pane.show_diff(lines, LABELS)
    pane.view.setFocus()
    for other in others:
        other()
        assert QApplication.focusWidget() is pane, "not at the next button, which a key would press"
        other()
        pane.show_diff(lines, LABELS)
        assert QApplication.focusWidget() is pane.view

    pane.open_find("line 1")
    field = QApplication.focusWidget()
    assert field is not None
    assert pane.find_bar.isAncestorOf(field)
    pane.show_loading()
    pane.show_diff(lines, LABELS)
    assert QApplication.focusWidget() is field

    pane.show_diff(file_diff(TooLarge(9_000_000, 9_000_000)), LABELS)
    (load,) = (button for button in pane.findChildren(QAbstractButton) if button.isVisible())
    load.setFocus()
    pane.show_loading()
    pane.show_diff(lines, LABELS)
    assert QApplication.focusWidget() in (pane.view, field), "whoever asked for the lines reads them"

    back.setFocus()
    pane.show_loading()
    pane.show_diff(lines, LABELS)
    assert QApplication.focusWidget() is back


def test_images_stand_side_by_side_and_fade_into_each_other(qtbot: QtBot, pane: DiffPane) -> None:
    old, new = image_bytes(60, 40, "#ff0000"), image_bytes(60, 40, "#0000ff", "JPEG")
    pane.show_diff(file_diff(BinaryPair(len(old), len(new), old_image=True, new_image=True)), LABELS)
    with qtbot.waitSignal(pane.images_wanted):
        pane.findChildren(NoteRow)[-1].acted.emit()
    pane.show_images(decode(old), decode(new))
    canvas = pane.images.canvas
    name = canvas.accessibleName()
    assert name.startswith("Before turn 3: 60 × 40 pixels, ")
    picture = canvas.grab().toImage()
    middle = (canvas.height() + 28) // 2
    assert picture.pixelColor(canvas.width() // 4, middle).name() == "#ff0000"
    assert picture.pixelColor(canvas.width() * 3 // 4, middle).blue() > 240
    qtbot.mouseClick(pane.images.switch.piece(1), Qt.MouseButton.LeftButton)
    assert pane.images.slider.isVisible()
    for value, colour in ((0, (255, 0)), (100, (0, 255))):
        pane.images.slider.setValue(value)
        seen = canvas.grab().toImage().pixelColor(canvas.width() // 2, middle)
        assert abs(seen.red() - colour[0]) < 12
        assert abs(seen.blue() - colour[1]) < 12


def test_an_image_over_the_limits_is_told_and_not_decoded() -> None:
    header = image_bytes(10, 10, "#000000")
    huge = header[:16] + (60_000).to_bytes(4, "big") + (60_000).to_bytes(4, "big") + header[24:]
    picture = decode(huge)
    assert picture is not None
    assert picture.image is None
    damaged = decode(header[:60])
    assert damaged is not None
    assert damaged.image is None or not damaged.image.isNull()
    other = decode(b"GIF89a")
    assert other is not None
    assert other.words == "6 bytes, not an image that can be shown"
    assert decode(None) is None


def test_an_image_that_came_or_went_has_one_side(pane: DiffPane) -> None:
    data = image_bytes(20, 20, "#00ff00")
    pane.show_diff(file_diff(BinaryPair(None, len(data), new_image=True)), LABELS)
    pane.show_images(None, decode(data))
    assert "Before turn 3: does not exist" in pane.images.canvas.accessibleName()
    assert not pane.images.switch.isVisible()
    pane.images.canvas.grab()


def test_the_path_is_copied_as_it_is(pane: DiffPane) -> None:
    pane.show_diff(file_diff(document("a\n", "b\n"), name="src/a\u202eb.py"), LABELS)
    pane.copy_path()
    assert QGuiApplication.clipboard().text() == "src/a\u202eb.py"


def test_lines_that_end_in_crlf_are_known_by_their_bytes() -> None:
    assert lines_in_crlf(b"a\r\nb\nc\r\nd", "UTF-8") == {1, 3}
    assert lines_in_crlf("a\r\nb\nc\r\n".encode("utf-16-le"), "UTF-16 LE") == {1, 3}
    assert lines_in_crlf(b"\xe9\r\nb\n", "Latin-1?") == {1}


# Assistive technology.


def test_every_row_has_its_words(pane: DiffPane) -> None:
    pane.show_diff(file_diff(document(OLD + "end", changed((20, "rows = list")) + "end\n")), LABELS)
    face = QAccessible.queryAccessibleInterface(pane.view)
    rows = pane.view.rows
    assert face is not None
    assert rows is not None
    assert face.role() is QAccessible.Role.List
    assert face.childCount() == len(rows)
    words = [face.child(index).text(QAccessible.Text.Name) for index in range(len(rows))]
    assert words[0] == "17 unchanged lines"
    assert words[4] == "line 21, deleted: line 20 of the file; line 21, added: rows = list"
    assert words[5] == "line 22: line 21 of the file"
    assert words[-1] == "No newline at end of file; Newline added at end of file"
    pane.view.setFocus()
    pane.view.move_to(5)
    child = face.child(5)
    assert face.indexOfChild(child) == 5
    assert child.state().focused
    assert child.rect().height() == 20
    assert child.role() is QAccessible.Role.ListItem
    pane.set_unified(True)
    assert row_words(rows if pane.view.rows is None else pane.view.rows, 4) == "line 21, deleted: line 20 of the file"


def test_the_overview_is_dragged_and_has_keys(qtbot: QtBot, pane: DiffPane) -> None:
    pane.show_diff(file_diff(document(OLD, changed((20, "x"), (250, "y")))), LABELS)
    pane.set_options(DiffOptions(context=None))
    bar, strip = pane.view.verticalScrollBar(), pane._strip
    qtbot.mousePress(strip, Qt.MouseButton.LeftButton, pos=QPoint(6, 2))
    assert bar.value() == 0
    strip.setFocus()
    qtbot.keyClick(strip, Qt.Key.Key_End)
    assert bar.value() == bar.maximum()
    qtbot.keyClick(strip, Qt.Key.Key_PageUp)
    assert 0 < bar.value() < bar.maximum()
    theme = ThemeHub("light").theme
    picture = strip.grab().toImage()
    colours = {picture.pixelColor(x, y).name().upper() for x in (4, 10) for y in range(strip.height())}
    assert {theme.hex("diff.overview-del"), theme.hex("diff.overview-add")} <= colours
