"""The diff view: two panes as one, hunks, folds, selection, and bounded work for any file."""

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from tests.ui import sample_texts
from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.diff.intraline import words
from vibekit_desktop.core.highlight.lex import lex
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Now
from vibekit_desktop.core.types.diffs import (
    BinaryPair,
    Compare,
    DiffDocument,
    DiffResult,
    Identical,
    RowKind,
    Span,
    TooLarge,
    Unreadable,
)
from vibekit_desktop.ui.long_text import MAX_LINE
from vibekit_desktop.ui.models.diff_rows import Show
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.code_cells import line_of
from vibekit_desktop.ui.views.code_line import comments_plain_in
from vibekit_desktop.ui.views.diff import DiffView
from vibekit_desktop.ui.views.diff_frame import NoteRow
from vibekit_desktop.ui.views.diff_pane import DiffPane

LABELS = (("Before turn 3", "13:31"), ("On disk", ""))

Make = Callable[..., DiffView]


def document(old: bytes, new: bytes) -> DiffDocument:
    result = build(old, new, limits=UNLIMITED)
    assert isinstance(result, DiffDocument)
    return result


@pytest.fixture
def sample() -> DiffDocument:
    return document(sample_texts.OLD_BYTES, sample_texts.NEW_BYTES)


@pytest.fixture
def view(qtbot: QtBot) -> Make:
    def make(of: DiffDocument, *, unified: bool = False, mode: str = "light", size: tuple[int, int] = (1000, 400)) -> DiffView:
        widget = DiffView(ThemeHub(mode), unified=unified)
        qtbot.addWidget(widget)
        widget.resize(*size)
        widget.set_document(of)
        widget.show()
        return widget

    return make


def image(widget: DiffView) -> QImage:
    return widget.viewport().grab().toImage()


def test_changed_rows_are_tinted_on_their_side_and_missing_ones_hatched(view: Make) -> None:
    widget = view(document(b"a\nb\n", b"a\nb\nc\n"))
    theme = ThemeHub("light").theme
    picture = image(widget)
    row = widget.grab_row(2)
    assert picture.pixelColor(900, row.center().y()) == QColor(theme.hex("diff.add-line"))
    left = {picture.pixelColor(x, y).name().upper() for x in range(300, 340) for y in range(row.top(), row.bottom())}
    assert theme.hex("diff.filler") in left
    assert len(left) > 1
    assert picture.pixelColor(1, row.center().y()) == QColor(theme.hex("diff.current"))


def test_both_panes_scroll_as_one_and_a_scrolled_picture_equals_a_fresh_one(view: Make, sample: DiffDocument) -> None:
    widget = view(sample, size=(900, 200))
    widget.verticalScrollBar().setValue(0)
    widget.grab()
    for value in (20, 47, 120, 33):
        widget.verticalScrollBar().setValue(value)
        scrolled = image(widget)
        widget.viewport().update()
        assert scrolled == image(widget)


def test_hunks_are_walked_with_f7_and_the_current_one_is_announced(qtbot: QtBot, view: Make, sample: DiffDocument) -> None:
    widget = view(sample, size=(1000, 260))
    assert widget.hunk == 0
    with qtbot.waitSignal(widget.hunk_changed) as seen:
        qtbot.keyClick(widget, Qt.Key.Key_F7)
    assert seen.args == [1, 3]
    qtbot.keyClick(widget, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert widget.hunk == 2
    first, last = widget.visible_span()
    assert widget.rows is not None
    start, end = widget.rows.hunk_span(2)
    assert first <= start <= end <= last
    qtbot.keyClick(widget, Qt.Key.Key_F7)
    assert widget.hunk == 2
    qtbot.keyClick(widget, Qt.Key.Key_F7, Qt.KeyboardModifier.ShiftModifier)
    assert widget.hunk == 1
    assert "deleted" in widget.accessibleDescription()


def test_scrolling_away_makes_the_first_hunk_in_sight_the_current_one(view: Make, sample: DiffDocument) -> None:
    widget = view(sample, size=(1000, 200))
    widget.verticalScrollBar().setValue(widget.verticalScrollBar().maximum())
    assert widget.hunk == 2


def test_a_fold_opens_where_its_words_are_pressed(qtbot: QtBot, view: Make, sample: DiffDocument) -> None:
    widget = view(sample, size=(1000, 700))
    rows = widget.rows
    assert rows is not None
    index = next(n for n in range(len(rows)) if rows.kind(n) is Show.FOLD)
    hidden = rows.folds[0].count
    place = dict(widget._geometry.fold_buttons(index, 1000, widget.grab_row(index).top()))
    qtbot.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=place["down"].center().toPoint())
    assert sum(fold.count for fold in rows.folds[:1]) in (hidden - 20, rows.folds[0].count)
    before = len(rows.folds)
    index = next(n for n in range(len(rows)) if rows.kind(n) is Show.FOLD)
    place = dict(widget._geometry.fold_buttons(index, 1000, widget.grab_row(index).top()))
    qtbot.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=place["all"].center().toPoint())
    assert len(rows.folds) == before - 1


def test_opening_a_fold_upwards_leaves_the_lines_under_it_in_place(view: Make, sample: DiffDocument) -> None:
    widget = view(sample, size=(1000, 300))
    rows = widget.rows
    assert rows is not None
    below = rows.folds[1].last + 1
    widget.verticalScrollBar().setValue(rows.top(rows.index_of(below)) - 100)
    before = widget.grab_row(rows.index_of(below)).top()
    widget.open_fold(rows.index_of(below) - 1, "up")
    assert widget.grab_row(rows.index_of(below)).top() == before


def test_the_line_in_sight_stays_when_the_layout_changes(view: Make, sample: DiffDocument) -> None:
    widget = view(sample, size=(1000, 240))
    widget.go_to_hunk(1)
    assert widget.rows is not None
    top = widget.rows.ref(widget.visible_span()[0])
    widget.set_unified(True)
    assert abs(widget.rows.ref(widget.visible_span()[0]) - top) <= 1
    widget.set_unified(False)
    assert abs(widget.rows.ref(widget.visible_span()[0]) - top) <= 1


def test_the_same_file_again_keeps_its_place(view: Make) -> None:
    old = b"".join(b"line %d\n" % n for n in range(300))
    new = old.replace(b"line 20\n", b"x\n").replace(b"line 250\n", b"y\n")
    widget = view(document(old, new))
    widget.go_to_hunk(1)
    value = widget.verticalScrollBar().value()
    widget.set_document(document(old, new), keep_place=True)
    assert widget.verticalScrollBar().value() == value
    widget.set_document(document(old, new))
    assert widget.hunk == 0


def press_and_drag(qtbot: QtBot, widget: DiffView, start: QPoint, end: QPoint) -> None:
    viewport = widget.viewport()
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(end),
        QPointF(viewport.mapToGlobal(end)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(viewport, move)
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)


def test_lines_of_one_side_are_chosen_by_their_numbers_and_copied_as_they_are(qtbot: QtBot, view: Make) -> None:
    widget = view(document("a\n\u202eb\tc\x1b\nd\n".encode(), "a\n\u202eb\tc\x1bX\nd\n".encode()))
    press_and_drag(qtbot, widget, QPoint(20, widget.grab_row(0).center().y()), QPoint(24, widget.grab_row(2).center().y()))
    assert widget.selected_text() == "a\n\u202eb\tc\x1b\nd"
    qtbot.keyClick(widget, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "a\n\u202eb\tc\x1b\nd"


def test_words_are_asked_for_once_and_painted_when_they_come(qtbot: QtBot, view: Make) -> None:
    found = document(b"value = old\n", b"value = new\n")
    widget = view(found)
    with qtbot.waitSignal(widget.words_wanted) as seen:
        widget.grab()
    assert seen.args == [0, 0]
    before = image(widget)
    widget.set_words(words(found, 0, 0))
    assert image(widget) != before
    with qtbot.assertNotEmitted(widget.words_wanted, wait=60):
        widget.viewport().update()


def test_colours_are_painted_when_they_come(view: Make, sample: DiffDocument) -> None:
    widget = view(sample)
    before = image(widget)
    widget.set_styles(new=lex("a.py", sample.new.lines), old=lex("a.py", sample.old.lines))
    assert image(widget) != before


def test_a_line_is_cut_and_says_how_much_is_missing() -> None:
    line = line_of("x" * (MAX_LINE + 17))
    assert (len(line.shown.text), line.cut) == (MAX_LINE, 17)


def test_comments_inside_a_word_mark_are_plain() -> None:
    assert comments_plain_in([(0, 10, 4)], [Span(3, 5)]) == [(0, 3, 4), (3, 5, 0), (5, 10, 4)]
    assert comments_plain_in([(0, 3, 1), (3, 6, 4)], [Span(0, 6)]) == [(0, 3, 1), (3, 6, 0)]


STRANGE = "tab\there \u202egnp.exe \x1b[31m \u200b 日本語 🙂 e\u0301 \u05d0\u05d1 \ud7ff\n"


@pytest.mark.parametrize("unified", [False, True])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_strange_characters_paint_and_are_made_visible(view: Make, unified: bool, mode: str) -> None:
    found = document(STRANGE.encode(), (STRANGE * 2).encode() + b"\xff\xfe\n")
    widget = view(found, unified=unified, mode=mode)
    widget.set_words(words(found, 0, len(found.rows) - 1))
    widget.grab()
    assert "\u27e8U+202E\u27e9" in line_of(STRANGE.rstrip("\n")).shown.text
    assert "␛" in line_of(STRANGE.rstrip("\n")).shown.text


def test_a_very_long_line_costs_no_more_than_what_is_in_sight(view: Make) -> None:
    long_line = b"x" * 5_000_000
    widget = view(document(long_line + b"\n", long_line + b"y\n"))
    begin = time.process_time()
    widget.horizontalScrollBar().setValue(40_000)
    widget.grab()
    assert time.process_time() - begin < 1.0


def test_a_hundred_thousand_lines_are_laid_out_and_painted_at_once(view: Make) -> None:
    """Painting looks at the rows in sight only: a full repaint of a large file costs about as much as that of a small one."""
    old = b"".join(b"    value_%d = compute(%d)\n" % (n, n) for n in range(100_000))
    new = old.replace(b"value_500 ", b"value_x ").replace(b"value_99000 ", b"value_y ")
    small = document(old[:4000], new[:4000] + b"z\n")
    large = document(old, new)

    def cost(found: DiffDocument) -> float:
        widget = view(found)
        widget.grab()
        best = 9.0
        for _ in range(5):
            begin = time.process_time()
            widget.viewport().grab()
            best = min(best, time.process_time() - begin)
        return best

    assert cost(large) < 6 * cost(small) + 0.05


@pytest.fixture
def pane(qtbot: QtBot) -> DiffPane:
    widget = DiffPane(ThemeHub("light"))
    qtbot.addWidget(widget)
    widget.resize(900, 400)
    widget.show()
    return widget


def show(pane: DiffPane, result: DiffResult) -> list[str]:
    pane.show_diff(samples.file_diff("a.py", BeforeTurn(3), Now(), result), LABELS)
    pane.grab()
    return [row.accessibleName() for row in pane.findChildren(NoteRow) if row.isVisible()]


def test_facts_about_the_whole_file_are_said_once_above_the_panes(pane: DiffPane, sample: DiffDocument) -> None:
    notes = show(pane, sample)
    assert notes == ["Line endings changed CRLF → LF. Shown once here, not as 176 changed lines."]


def test_a_changed_line_with_hidden_characters_is_pointed_out(pane: DiffPane) -> None:
    notes = show(pane, document(b"a\n", "a\u202e\n".encode()))
    assert notes == ["Characters that can't be seen: 0 → 1. They are shown as marks; copied text has them as they are."]


def test_what_has_no_panes_says_why(qtbot: QtBot, pane: DiffPane) -> None:
    assert show(pane, BinaryPair(212_000, 198_000)) == ["Binary file. 212 KB → 198 KB."]
    assert show(pane, Unreadable("old", "damaged")) == ["The earlier copy is damaged and can't be shown."]
    assert show(pane, TooLarge(9_200_000, 9_200_000)) == ["9.2 MB. Large files are not laid out at once."]
    known = TooLarge(9_200_000, 9_200_000, 148_000, 148_020)
    assert show(pane, known) == ["9.2 MB, 148,020 lines. Large files are not laid out at once."]
    gone = TooLarge(9_200_000, 0, 148_000, None)
    assert show(pane, gone) == ["9.2 MB → 0 bytes, 148,000 lines. Large files are not laid out at once."]
    with qtbot.waitSignal(pane.load_anyway):
        pane.findChildren(NoteRow)[-1].acted.emit()
    assert show(pane, Identical(3)) == []
    assert pane._blank.accessibleName() == "Nothing to review. Both sides are the same."


def test_the_overview_jumps_to_where_it_is_pressed(qtbot: QtBot, pane: DiffPane, sample: DiffDocument) -> None:
    show(pane, sample)
    qtbot.mouseClick(pane._strip, Qt.MouseButton.LeftButton, pos=QPoint(6, pane._strip.height() - 2))
    assert pane.view.verticalScrollBar().value() == pane.view.verticalScrollBar().maximum()
    qtbot.mouseClick(pane._strip, Qt.MouseButton.LeftButton, pos=QPoint(6, 1))
    assert pane.view.verticalScrollBar().value() == 0


@pytest.mark.parametrize("unified", [False, True])
def test_a_blank_line_that_does_not_count_is_no_change(view: Make, unified: bool) -> None:
    result = build(b"a\nb\nc\n", b"a\n\nb\nx\n", how=Compare(blank_lines=True), limits=UNLIMITED)
    assert isinstance(result, DiffDocument)
    widget = view(result, unified=unified)
    rows = widget.rows
    assert rows is not None
    assert [rows.row_kind(index) for index in range(3)] == [RowKind.SAME] * 3
    assert rows.sides(1) == (None, 2)
    picture = image(widget)
    surface = QColor(ThemeHub("light").theme.hex("bg.surface"))
    assert picture.pixelColor(900, widget.grab_row(1).center().y()) == surface
    widget.choose_lines(1, 1, 3)
    assert widget.selected_text() == "a\n\nb"


def test_bytes_that_are_not_text_are_shown_and_copied_as_what_they_are_not(view: Make) -> None:
    widget = view(document("é é é ü\n".encode(), "é é é ü ".encode() + b"\xff\n"))
    widget.grab()
    widget.choose_lines(1, 1, 1)
    widget.copy()
    assert QGuiApplication.clipboard().text() == "é é é ü \ufffd"
