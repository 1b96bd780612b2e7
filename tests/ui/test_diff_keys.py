"""The diff view by keyboard alone: a current line, choosing lines, folds, sides, and what is asked of others."""

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.types.diffs import DiffDocument, Move
from vibekit_desktop.ui.models.diff_find import Hits
from vibekit_desktop.ui.models.diff_options import DiffOptions
from vibekit_desktop.ui.models.diff_rows import Show
from vibekit_desktop.ui.models.diff_runs import Runs
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff import DiffView
from vibekit_desktop.ui.views.diff_dress import CommentMark

SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
Make = Callable[..., DiffView]
BASE = [b"line %d of the file" % n for n in range(200)]


def text(lines: list[bytes], end: bytes = b"\n") -> bytes:
    return end.join(lines) + end


def document(old: bytes, new: bytes) -> DiffDocument:
    result = build(old, new, limits=UNLIMITED)
    assert isinstance(result, DiffDocument)
    return result


def two_changes() -> DiffDocument:
    new = list(BASE)
    new[50] = b"another line"
    new[150:151] = [b"two", b"lines"]
    return document(text(BASE), text(new))


@pytest.fixture
def view(qtbot: QtBot) -> Make:
    def make(of: DiffDocument, *, unified: bool = False, size: tuple[int, int] = (900, 400)) -> DiffView:
        widget = DiffView(ThemeHub("light"), unified=unified)
        qtbot.addWidget(widget)
        widget.resize(*size)
        widget.set_document(of)
        widget.show()
        widget.setFocus()
        qtbot.waitUntil(widget.hasFocus)
        return widget

    return make


def press(qtbot: QtBot, widget: DiffView, *keys: Qt.Key, modifiers: Qt.KeyboardModifier | None = None) -> None:
    for key in keys:
        qtbot.keyClick(widget, key, modifiers or Qt.KeyboardModifier.NoModifier)


def test_the_focus_begins_at_the_current_hunk_and_arrows_move_by_a_line(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes())
    rows = widget.rows
    assert rows is not None
    assert widget.current_row == rows.hunk_span(0)[0]
    press(qtbot, widget, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up)
    assert widget.current_row == rows.hunk_span(0)[0] + 1
    press(qtbot, widget, Qt.Key.Key_End)
    assert widget.current_row == len(rows) - 1
    assert widget.verticalScrollBar().value() == widget.verticalScrollBar().maximum()
    press(qtbot, widget, Qt.Key.Key_Home)
    assert (widget.current_row, widget.verticalScrollBar().value()) == (0, 0)


def test_the_hunk_that_the_current_line_enters_is_the_current_one(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes(), size=(900, 900))
    rows = widget.rows
    assert rows is not None
    while widget.current_row < rows.hunk_span(1)[0]:
        press(qtbot, widget, Qt.Key.Key_Down)
    assert widget.hunk == 1


def test_the_current_line_stays_in_sight(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes())
    widget.set_options(DiffOptions(context=None))
    for key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, *[Qt.Key.Key_Down] * 30):
        press(qtbot, widget, key)
        first, last = widget.visible_span()
        assert first <= widget.current_row <= last


def test_shift_and_arrows_choose_whole_lines_of_one_side(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes())
    widget.go_to_hunk(1)
    press(qtbot, widget, Qt.Key.Key_Down, Qt.Key.Key_Down, modifiers=SHIFT)
    assert widget.selected_text() == "two\nlines\nline 151 of the file"
    press(qtbot, widget, Qt.Key.Key_Up, modifiers=SHIFT)
    assert widget.selected_text() == "two\nlines"
    assert widget.chosen_lines() == (1, 151, 152)
    press(qtbot, widget, Qt.Key.Key_C, modifiers=CTRL)
    assert QGuiApplication.clipboard().text() == "two\nlines"
    press(qtbot, widget, Qt.Key.Key_Up)
    assert widget.selected_text() == ""


def test_the_other_side_is_reached_by_key_and_copied_from(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes())
    press(qtbot, widget, Qt.Key.Key_Left, modifiers=CTRL)
    press(qtbot, widget, Qt.Key.Key_Down, modifiers=SHIFT)
    assert widget.selected_text() == "line 50 of the file\nline 51 of the file"
    press(qtbot, widget, Qt.Key.Key_Right, modifiers=CTRL)
    assert widget.side == 1


def test_everything_of_a_side_is_copied_with_its_line_ends_and_hidden_lines(qtbot: QtBot, view: Make) -> None:
    new = list(BASE)
    new[50] = b"\xe2\x80\xae another\tline"
    widget = view(document(text(BASE), text(new, b"\r\n")))
    press(qtbot, widget, Qt.Key.Key_A, modifiers=CTRL)
    assert widget.selected_text().encode() == text(new, b"\r\n")


def test_in_a_unified_view_one_side_is_chosen(qtbot: QtBot, view: Make) -> None:
    widget = view(document(b"a\nb\nc\n", b"a\nx\nc\n"), unified=True)
    rows = widget.rows
    assert rows is not None
    kinds = [rows.kind(index) for index in range(len(rows))]
    assert kinds == [Show.PAIR, Show.OLD, Show.NEW, Show.PAIR]
    press(qtbot, widget, Qt.Key.Key_Home)
    press(qtbot, widget, Qt.Key.Key_End, modifiers=SHIFT)
    assert widget.selected_text() == "a\nx\nc"
    widget.move_to(1)
    press(qtbot, widget, Qt.Key.Key_Down, Qt.Key.Key_Down, modifiers=SHIFT)
    assert widget.selected_text() == "b\nc"


def test_enter_opens_more_and_more_of_the_fold_that_is_current_and_shift_all_of_it(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes(), size=(900, 900))
    rows = widget.rows
    assert rows is not None
    hidden = [fold.count for fold in rows.folds]
    assert len(hidden) == 3
    index = next(n for n in range(1, len(rows)) if rows.kind(n) is Show.FOLD)
    widget.move_to(index)
    press(qtbot, widget, Qt.Key.Key_Return)
    assert [fold.count for fold in rows.folds] == [hidden[0], hidden[1] - 20, hidden[2]]
    assert rows.kind(widget.current_row) is Show.FOLD
    press(qtbot, widget, Qt.Key.Key_Return)
    assert [fold.count for fold in rows.folds] == [hidden[0], hidden[1] - 40, hidden[2]]
    press(qtbot, widget, Qt.Key.Key_Return, modifiers=SHIFT)
    assert [fold.count for fold in rows.folds] == [hidden[0], hidden[2]]


def test_a_double_click_on_a_fold_opens_all_of_it(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes(), size=(900, 900))
    rows = widget.rows
    assert rows is not None
    index = next(n for n in range(1, len(rows)) if rows.kind(n) is Show.FOLD)
    place = QPoint(120, widget.grab_row(index).center().y())
    qtbot.mouseDClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert len(rows.folds) == 2


def test_a_word_is_chosen_by_a_double_click_and_its_line_by_a_third_press(qtbot: QtBot, view: Make) -> None:
    widget = view(document(b"one two_three four\n", b"one two_three five\n"))
    text_left = widget._geometry.panes(widget.viewport().width())[1][1].left() + widget._geometry.columns().text
    place = QPoint(round(text_left + 6 * widget._painter.lines.advance), widget.grab_row(0).center().y())
    qtbot.mouseDClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert widget.selected_text() == "two_three"
    qtbot.mousePress(widget.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert widget.selected_text() == "one two_three five"


def drag(widget: DiffView, start: QPointF, end: QPointF) -> None:
    viewport = widget.viewport()
    left, none, plain = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    for kind, at, button, buttons in (
        (QEvent.Type.MouseButtonPress, start, left, left),
        (QEvent.Type.MouseMove, end, none, left),
        (QEvent.Type.MouseButtonRelease, end, left, none),
    ):
        event = QMouseEvent(kind, at, QPointF(viewport.mapToGlobal(at.toPoint())), button, buttons, plain)
        QApplication.sendEvent(viewport, event)


@pytest.mark.parametrize("wrap", [False, True])
def test_characters_are_chosen_with_the_mouse_over_several_rows(view: Make, wrap: bool) -> None:
    long_line = "x" * 90 + "end"
    widget = view(document(b"abc\n\tdef\n", f"abc\n\tdeg\n{long_line}\n".encode()))
    widget.set_options(DiffOptions(wrap=wrap))
    left = widget._geometry.panes(widget.viewport().width())[1][1].left() + widget._geometry.columns().text
    advance = widget._painter.lines.advance
    first, second = widget.grab_row(0), widget.grab_row(1)
    drag(widget, QPointF(left + advance, first.center().y()), QPointF(left + 6 * advance, second.center().y()))
    assert widget.selected_text() == "bc\n\tde"
    if wrap:
        third = widget.grab_row(2)
        columns = widget._painter.wrap
        assert third.height() == 20 * -(-93 // columns)
        y = third.top() + 30
        drag(widget, QPointF(left, y), QPointF(left + 3 * advance, y))
        assert widget.chosen_lines() == (1, 3, 3)
        chosen = widget.selection
        assert chosen is not None
        assert (chosen.first.column, chosen.last.column) == (columns, columns + 3)


def test_the_sides_scroll_sideways_as_one_and_with_shift_apart(qtbot: QtBot, view: Make) -> None:
    widget = view(document(b"x" * 400 + b"\n", b"y" * 400 + b"\n"))
    qtbot.waitUntil(lambda: widget.horizontalScrollBar().maximum() > 100)
    press(qtbot, widget, Qt.Key.Key_Right, Qt.Key.Key_Right)
    widget.viewport().repaint()
    both = list(widget._painter.scroll)
    assert both[0] == both[1] > 0
    press(qtbot, widget, Qt.Key.Key_Right, modifiers=SHIFT)
    widget.viewport().repaint()
    assert widget._painter.scroll[0] == both[0] < widget._painter.scroll[1]
    point = QPointF(20, 20)
    wheel = QWheelEvent(
        point, QPointF(widget.viewport().mapToGlobal(QPoint(20, 20))), QPoint(), QPoint(0, -120),
        Qt.MouseButton.NoButton, SHIFT, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget.viewport(), wheel)
    widget.viewport().repaint()
    assert widget._painter.scroll[0] > both[0]


def test_what_others_do_is_asked_for(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes())
    with qtbot.waitSignal(widget.undo_hunk_requested) as undo:
        press(qtbot, widget, Qt.Key.Key_Backspace, modifiers=CTRL)
    assert undo.args == [0]
    with qtbot.waitSignal(widget.comment_requested) as comment:
        press(qtbot, widget, Qt.Key.Key_C)
    assert comment.args == [1, 51, 51]
    press(qtbot, widget, Qt.Key.Key_Down, modifiers=SHIFT)
    with qtbot.waitSignal(widget.comment_requested) as comment:
        press(qtbot, widget, Qt.Key.Key_C)
    assert comment.args == [1, 51, 52]
    with qtbot.waitSignal(widget.find_requested):
        press(qtbot, widget, Qt.Key.Key_F, modifiers=CTRL)
    with qtbot.waitSignal(widget.copy_path_requested):
        press(qtbot, widget, Qt.Key.Key_C, modifiers=CTRL | SHIFT)
    words = [action.text() for action in widget.menu().actions() if action.text()]
    assert words == ["Copy", "Select all of this side", "Comment on these lines…", "Undo hunk", "Find…", "Copy path"]


def test_the_sign_of_a_comment_is_pressed(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes())
    before = widget._geometry.columns().text
    widget.set_comments([CommentMark(1, 51, 52, ("first", "second"))])
    assert widget._geometry.columns().text > before
    rows = widget.rows
    assert rows is not None
    left = widget._geometry.panes(widget.viewport().width())[1][1].left()
    y = widget.grab_row(rows.hunk_span(0)[0]).center().y()
    with qtbot.waitSignal(widget.comment_activated) as seen:
        qtbot.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(left) + 10, y))
    assert seen.args == ["first"]


def test_the_label_of_a_moved_block_leads_to_its_other_end(qtbot: QtBot, view: Make) -> None:
    moved = BASE[10:14]
    new = BASE[:10] + BASE[14:120] + moved + BASE[120:]
    found = document(text(BASE), text(new))
    if not found.moves:
        found = DiffDocument(
            old=found.old, new=found.new, rows=found.rows, hunks=found.hunks, notes=found.notes, lines_added=4,
            lines_removed=4, moves=(Move(11, 14, 117, 120),),
        )  # fmt: skip
    widget = view(found)
    rows = widget.rows
    assert rows is not None
    half = widget.viewport().width() // 2
    y = widget.grab_row(rows.hunk_span(0)[0]).center().y()
    widget.viewport().repaint()
    qtbot.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(half - 40, y))
    assert widget.hunk == 1
    assert rows.sides(widget.current_row)[1] == found.moves[0].new_first


def test_held_outside_the_view_scrolls_on_and_chooses(qtbot: QtBot, view: Make) -> None:
    widget = view(two_changes())
    widget.set_options(DiffOptions(context=None))
    widget.move_to(0)
    viewport = widget.viewport()
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=QPoint(600, 10))
    below = QPointF(600, viewport.height() + 30)
    move = QMouseEvent(
        QEvent.Type.MouseMove, below, QPointF(viewport.mapToGlobal(below.toPoint())), Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(viewport, move)
    qtbot.waitUntil(lambda: widget.verticalScrollBar().value() > 100)
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=below.toPoint())
    lines = widget.chosen_lines()
    assert lines is not None
    assert lines[2] - lines[1] > 20
    before = widget.verticalScrollBar().value()
    QApplication.processEvents()
    assert widget.verticalScrollBar().value() == before


def test_200_000_lines_are_copied_without_holding_up_the_window(qtbot: QtBot, view: Make) -> None:
    lines = [b"    value_%d = compute(%d)  # a note about it" % (n, n) for n in range(200_000)]
    widget = view(document(text(lines[:-1]), text(lines)))
    widget.choose_all()
    clipboard, longest = QGuiApplication.clipboard(), 1e9
    for _ in range(3):
        clipboard.clear()
        steps: list[float] = []
        begun = time.process_time()
        press(qtbot, widget, Qt.Key.Key_C, modifiers=CTRL)
        while True:
            steps.append(time.process_time() - begun)
            if clipboard.text():
                break
            begun = time.process_time()
            QApplication.processEvents()
        longest = min(longest, max(steps))
    assert clipboard.text() == text(lines).decode()
    assert longest < 0.05
    begun = time.process_time()
    assert widget.menu().actions()[0].isEnabled()
    assert time.process_time() - begun < 0.015


def test_a_wrapped_line_higher_than_the_view_is_gone_through_by_key_and_costs_what_is_in_sight(
    qtbot: QtBot, view: Make
) -> None:
    widget = view(document(b"first\nlast\n", b"first\n" + b"x" * 2_000_000 + b"needle\nlast\n"))
    widget.set_options(DiffOptions(wrap=True))
    rows = widget.rows
    assert rows is not None
    assert rows.row_height(1) > 100_000
    widget.move_to(1)
    top = widget.verticalScrollBar().value()
    press(qtbot, widget, Qt.Key.Key_PageDown)
    assert widget.current_row == 1
    assert widget.verticalScrollBar().value() == top + widget.verticalScrollBar().pageStep()
    begun = time.process_time()
    widget.viewport().repaint()
    assert time.process_time() - begun < 0.5
    hits = Hits(widget.runs or Runs(document(b"", b"")), "needle")
    list(hits.search())
    widget.show_hit(hits[0])
    place = widget.place_at(QPointF(widget.viewport().width() - 8, widget.viewport().height() // 3 + 10), 1)
    assert place is not None
    assert place.column > 1_999_000
    press(qtbot, widget, Qt.Key.Key_End)
    assert widget.current_row == 2
    press(qtbot, widget, Qt.Key.Key_Up, Qt.Key.Key_Up)
    assert widget.current_row == 1
