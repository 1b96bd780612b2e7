"""The dress of the whole window: another theme or text size costs what is seen, and no widget is made ready anew for it.

Counted, not timed: what Qt is asked to do again, and how often."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QSize, QStringListModel
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tests.ui.samples import chat_view
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.theme.dress import Dress, apply
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.prompt_field import PromptField
from vibekit_desktop.ui.views.transcript import TranscriptView

STEPS = (1.1, 1.5, 2.0, 0.8, 1.0)


@pytest.fixture
def hub(qapp: QApplication) -> Iterator[ThemeHub]:
    """The application, dressed as the program dresses it; another test finds it as it was."""
    style, palette, font = qapp.style().name(), qapp.palette(), qapp.font()
    hub = ThemeHub("light", still=True)
    dress: Dress = apply(qapp, hub)
    yield hub
    dress.setParent(None)
    hub.changed.disconnect(dress.refresh)
    qapp.setStyle(style)
    qapp.setPalette(palette)
    qapp.setFont(font)


class Watch(QObject):
    """What a widget was told."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.told: list[QEvent.Type] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.told.append(event.type())
        return super().eventFilter(watched, event)


def looks(hub: ThemeHub) -> Iterator[None]:
    """Every step of the zoom, and both themes."""
    for zoom in STEPS:
        hub.set_zoom(zoom)
        yield
    for mode in ("dark", "light"):
        hub.set_mode(mode)
        yield


def test_no_widget_is_made_ready_anew_for_another_theme_or_text_size(qtbot: QtBot, qapp: QApplication, hub: ThemeHub) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    watches = [Watch(kind(window)) for kind in (QLineEdit, QPlainTextEdit, QPushButton, QTableWidget) for _ in range(3)]
    window.show()
    for watch in watches:
        watch.told.clear()
    for _ in looks(hub):
        qapp.processEvents()
    assert not qapp.styleSheet()
    for watch in watches:
        assert QEvent.Type.StyleChange not in watch.told
        assert QEvent.Type.Polish not in watch.told
        assert QEvent.Type.PaletteChange in watch.told


def _has(picture: QImage, color: QColor) -> bool:
    places = ((x, y) for x in range(picture.width()) for y in range(picture.height()))
    return any(picture.pixelColor(x, y) == color for x, y in places)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_field_made_before_and_one_made_after_a_change_look_alike(qtbot: QtBot, hub: ThemeHub, mode: str) -> None:
    before = QLineEdit("words")
    qtbot.addWidget(before)
    before.ensurePolished()
    hub.set_mode("dark" if mode == "light" else "light")
    hub.set_mode(mode)
    hub.set_zoom(1.5)
    after = QLineEdit("words")
    qtbot.addWidget(after)
    pictures = []
    for field in (before, after):
        field.resize(200, field.sizeHint().height())
        pictures.append(field.grab().toImage())
        assert field.font().pixelSize() == hub.theme.font("body").pixelSize()
        assert field.palette().highlight().color() == hub.theme.color("accent.fill")
    assert pictures[0] == pictures[1]
    assert _has(pictures[0], hub.theme.color("bg.field"))
    assert _has(pictures[0], hub.theme.color("line.control"))


def test_what_is_written_can_be_read_after_a_change_of_the_theme(qtbot: QtBot, qapp: QApplication, hub: ThemeHub) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    fields = [PromptField(hub, around), QPlainTextEdit(around), QLineEdit(around)]
    around.show()
    qapp.processEvents()
    for mode in ("dark", "light"):
        hub.set_mode(mode)
        for field in fields:
            assert field.palette().text().color() == hub.theme.color("text.primary")


def test_a_label_of_another_colour_follows_the_text_size(qtbot: QtBot, hub: ThemeHub) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    box = QCheckBox("Ignore whitespace", around)
    for zoom, mode in ((2.0, "dark"), (1.0, "light")):
        hub.set_zoom(zoom)
        hub.set_mode(mode)
        ink(box, hub.theme, "text.secondary")
        assert box.font().pixelSize() == hub.theme.font("body").pixelSize()
        assert box.palette().windowText().color() == hub.theme.color("text.secondary")
        assert box.palette().text().color() == hub.theme.color("text.primary")


def test_a_menu_has_the_colours_of_the_theme_and_rows_that_grow_with_the_text(qtbot: QtBot, hub: ThemeHub) -> None:
    hub.set_mode("dark")
    menu = QMenu()
    qtbot.addWidget(menu)
    menu.addAction("Go on")
    tick = menu.addAction("Ticked")
    tick.setCheckable(True)
    tick.setChecked(True)
    heights = []
    for zoom in (1.0, 2.0):
        hub.set_zoom(zoom)
        menu.ensurePolished()
        heights.append(menu.sizeHint().height())
        menu.resize(menu.sizeHint())
        picture = menu.grab().toImage()
        assert picture.pixelColor(menu.width() // 2, 4) == hub.theme.color("bg.popup")
        assert _has(picture, hub.theme.color("line.strong"))
    assert heights[0] == 2 * 28 + 12
    assert heights[1] == 2 * 56 + 12


def test_a_plain_button_that_is_the_default_is_filled(qtbot: QtBot, hub: ThemeHub) -> None:
    button = QPushButton("Go on")
    qtbot.addWidget(button)
    assert button.sizeHint().height() == 28
    button.resize(button.sizeHint())
    assert not _has(button.grab().toImage(), hub.theme.color("accent.fill"))
    button.setDefault(True)
    assert _has(button.grab().toImage(), hub.theme.color("accent.fill"))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_header_of_a_list_of_files_can_be_read(qtbot: QtBot, hub: ThemeHub, mode: str) -> None:
    hub.set_mode(mode)
    view = QTableWidget(1, 1)
    qtbot.addWidget(view)
    view.setHorizontalHeaderLabels(["Name"])
    view.resize(300, 200)
    view.show()
    header = view.horizontalHeader()
    picture = header.grab().toImage()
    assert picture.pixelColor(header.sectionSize(0) + 20, 4) == hub.theme.color("bg.raised")
    assert _has(picture, hub.theme.color("text.secondary"))


class Counting(QStyledItemDelegate):
    """Counts the rows that are measured."""

    def __init__(self) -> None:
        super().__init__()
        self.measured = 0

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        self.measured += 1
        return QSize(100, 20)


def test_a_list_that_is_not_seen_is_laid_out_when_it_is_seen_again(qtbot: QtBot, qapp: QApplication, hub: ThemeHub) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    model, delegate = QStringListModel([str(n) for n in range(50)]), Counting()
    rows = PaintedList(hub, model, delegate, name="Rows", parent=window)
    window.show()
    qapp.processEvents()
    rows.hide()
    qapp.processEvents()
    delegate.measured = 0
    for _ in looks(hub):
        qapp.processEvents()
    assert delegate.measured == 0
    rows.show()
    qapp.processEvents()
    assert delegate.measured >= 50


class Guessed(TranscriptView):
    """Counts how often all heights are guessed."""

    guesses = 0

    def guess_heights(self, first: int = 0, end: int | None = None) -> list[int]:
        self.guesses += 1
        return super().guess_heights(first, end)


def _transcript(qtbot: QtBot, hub: ThemeHub) -> Guessed:
    model = TranscriptModel(lambda: 1_900_000_000_000)
    view = Guessed(hub, model)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    model.set_view(chat_view())
    view.grab()
    return view


def test_heights_are_guessed_anew_for_another_text_size_but_not_for_another_theme(qtbot: QtBot, hub: ThemeHub) -> None:
    view = _transcript(qtbot, hub)
    view.guesses, heights = 0, view.heights
    first = min(view.views)
    hub.set_mode("dark")
    assert view.guesses == 0
    assert view.heights is heights
    assert view.views[first] is not None
    hub.set_zoom(1.5)
    assert view.guesses == 1


def test_a_transcript_that_is_not_seen_is_laid_out_when_it_is_seen_again(qtbot: QtBot, hub: ThemeHub) -> None:
    view = _transcript(qtbot, hub)
    view.hide()
    view.guesses = 0
    for _ in looks(hub):
        assert view.laid_out == 0
    hub.set_zoom(2.0)
    assert view.guesses == 0
    view.show()
    assert view.guesses == 1
    assert view.laid_out
    assert view.is_at_end
