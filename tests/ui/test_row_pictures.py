"""Rows that are kept as pictures look like rows that are painted anew, and remembered texts like others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QItemSelectionModel, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QListView
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.models.timeline_rows import RowKind
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views import row_paint
from vibekit_desktop.ui.views.button_list import NOTHING, Aim
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.row_pictures import RowPictures
from vibekit_desktop.ui.views.sidebar import Sidebar


@contextmanager
def canvas(ratio: float = 1.0, color: str = "#ffffff") -> Iterator[tuple[QImage, QPainter]]:
    image = QImage(QSize(int(400 * ratio), int(80 * ratio)), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(color)
    painter = QPainter(image)
    yield image, painter
    painter.end()


@pytest.fixture
def hub(qtbot: QtBot) -> ThemeHub:
    return ThemeHub("light", still=True)


def stroke(painter: QPainter, box: QRectF) -> None:
    painter.drawLine(box.topLeft(), box.bottomRight())


def test_a_row_is_painted_once_while_it_is_what_it_was(hub: ThemeHub) -> None:
    pictures, box = RowPictures("bg.sidebar"), QRect(4, 6, 60, 20)
    with canvas() as (image, painter):
        pictures.paint(painter, hub.theme, box, "a row", stroke)
        first = image.copy()
        pictures.paint(painter, hub.theme, box, "a row", stroke)
        assert pictures.made == 1
        assert image == first
        pictures.paint(painter, hub.theme, box, "another", stroke)
        pictures.paint(painter, hub.theme, box.adjusted(0, 0, 1, 0), "a row", stroke)
        assert pictures.made == 3
        hub.set_mode("dark")
        pictures.paint(painter, hub.theme, box, "a row", stroke)
        assert pictures.made == 4
        assert image.pixelColor(60, 8).name() == hub.theme.color("bg.sidebar").name()


def test_a_row_between_two_pixels_of_the_screen_is_painted_as_it_is(hub: ThemeHub) -> None:
    pictures = RowPictures("bg.sidebar")
    with canvas(1.5) as (_, painter):
        pictures.paint(painter, hub.theme, QRect(0, 1, 60, 20), "a row", stroke)
        assert pictures.made == 0
        pictures.paint(painter, hub.theme, QRect(0, 2, 60, 20), "a row", stroke)
        assert pictures.made == 1


def test_only_so_many_pictures_are_kept(hub: ThemeHub) -> None:
    pictures = RowPictures("bg.sidebar")
    with canvas() as (_, painter):
        for number in range(400):
            pictures.paint(painter, hub.theme, QRect(0, 0, 400, 60), number, stroke)
            assert pictures._bytes == sum(one.width() * one.height() * 4 for one in pictures._kept.values()) <= 24_000_000
        assert len(pictures._kept) < 300


def panes(qtbot: QtBot, hub: ThemeHub) -> tuple[Sidebar, Inspector]:
    model = ChatListModel(lambda: samples.NOW)
    model.load(samples.headers())
    sidebar, inspector = Sidebar(hub, model), Inspector(hub, now_ms=lambda: samples.NOW)
    inspector.show_timeline(samples.timeline())
    for pane, width in ((sidebar, 280), (inspector, 360)):
        qtbot.addWidget(pane)
        pane.resize(width, 700)
        pane.show()
    return sidebar, inspector


def grabbed(view: QListView) -> QImage:
    return view.window().grab().toImage()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_rows_of_the_lists_look_the_same_as_pictures(
    qtbot: QtBot, hub: ThemeHub, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    hub.set_mode(mode)
    sidebar, inspector = panes(qtbot, hub)
    for view in (sidebar.list, inspector.timeline):
        delegate = view.itemDelegate()
        grabbed(view)
        kept, made = grabbed(view), delegate._pictures.made
        assert made
        with monkeypatch.context() as patch:
            straight: Callable[..., None] = lambda _self, painter, _theme, box, _what, draw: draw(painter, QRectF(box))  # noqa: E731
            patch.setattr(RowPictures, "paint", straight)
            assert grabbed(view) == kept
        assert delegate._pictures.made == made


def test_a_row_under_the_pointer_or_in_focus_is_painted_as_such_and_then_as_it_was(qtbot: QtBot, hub: ThemeHub) -> None:
    sidebar, inspector = panes(qtbot, hub)
    before = grabbed(inspector.timeline)
    number = next(n for n, row in enumerate(inspector.timeline_model.rows) if row.kind is RowKind.FILE)
    inspector.timeline._hover(Aim(number, None))
    assert grabbed(inspector.timeline) != before
    inspector.timeline._hover(NOTHING)
    assert grabbed(inspector.timeline) == before
    before = grabbed(sidebar.list)
    index = sidebar.list.model().index(1, 0)
    sidebar.list.selectionModel().select(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    assert grabbed(sidebar.list) != before
    sidebar.list.selectionModel().clear()
    assert grabbed(sidebar.list) == before


def test_a_button_that_is_held_back_fades_in_the_picture_too(qtbot: QtBot, hub: ThemeHub) -> None:
    _, inspector = panes(qtbot, hub)
    before = grabbed(inspector.timeline)
    inspector.timeline_model.set_held("a turn runs")
    assert grabbed(inspector.timeline) != before
    inspector.timeline_model.set_held("")
    assert grabbed(inspector.timeline) == before


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("zoom", [0.8, 1.0, 1.3, 2.0])
def test_a_line_of_text_that_is_remembered_looks_like_one_that_is_not(
    hub: ThemeHub, monkeypatch: pytest.MonkeyPatch, ratio: float, zoom: float
) -> None:
    hub.set_zoom(zoom)
    for style, weight in (("body", None), ("small", 500), ("label", None), ("code", None), ("heading", 600)):
        looks = []
        for longest in (200, -1):
            monkeypatch.setattr(row_paint, "_SHORT", longest)
            with canvas(ratio) as (image, painter):
                box = QRectF(7, 3, 380, 41)
                row_paint.draw_text(painter, hub.theme, box, "Turn 12: AVfi src/csv_writer.py +18", style=style, weight=weight)
            looks.append(image)
        assert looks[0] == looks[1]


@given(text=st.text(max_size=30), width=st.floats(10, 300))
def test_measures_that_are_remembered_are_those_of_qt(qapp: object, text: str, width: float) -> None:
    theme = ThemeHub("light", still=True).theme
    plain, mine = QFontMetricsF(theme.font("body")), theme.metrics("body")
    for _ in range(2):
        assert mine.horizontalAdvance(text) == plain.horizontalAdvance(text)
        elide = Qt.TextElideMode.ElideRight
        assert mine.elidedText(text, elide, width) == plain.elidedText(text, elide, width)
