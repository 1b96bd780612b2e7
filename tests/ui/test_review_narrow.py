"""The heads of a review where there is little room: the name of the file and the sides are what is left last."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn
from vibekit_desktop.ui.models.files import FileEntry
from vibekit_desktop.ui.models.review_options import ReviewOptions
from vibekit_desktop.ui.theme.dress import apply
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.review_bar import ReviewBar
from vibekit_desktop.ui.views.review_head import FileHead
from vibekit_desktop.ui.views.review_menus import More, more_menu

ENTRY = FileEntry(path=samples.path("src/export/csv_writer.py"), letter="M", added=13, removed=10)
WIDTHS = [(1168, 1.0), (860, 1.0), (800, 1.0), (700, 1.0), (600, 1.0), (800, 1.5), (800, 2.0)]


@pytest.fixture
def hub(qapp: QApplication) -> Iterator[ThemeHub]:
    """Of the application too: how large a check box is follows its style."""
    made = ThemeHub("light", still=True)
    apply(qapp, made)
    yield made
    made.set_zoom(1.0)


@pytest.fixture
def pane(qtbot: QtBot) -> QWidget:
    """What the heads stand in: it does not make room for them."""
    widget = QWidget()
    qtbot.addWidget(widget)
    QVBoxLayout(widget).setContentsMargins(0, 0, 0, 0)
    return widget


def show(pane: QWidget, head: QWidget, width: int) -> None:
    outer, inner = pane.layout(), head.layout()
    assert outer is not None
    assert inner is not None
    outer.addWidget(head)
    pane.resize(width, 200)
    pane.show()
    outer.activate()
    inner.activate()
    assert head.width() == width


@pytest.mark.parametrize(("width", "zoom"), WIDTHS)
def test_both_sides_can_be_read_at_every_width(pane: QWidget, hub: ThemeHub, width: int, zoom: float) -> None:
    hub.set_zoom(zoom)
    bar = ReviewBar(hub, pane)
    bar.set_title("Keep empty rows in export")
    bar.set_sides(samples.timeline(), BeforeTurn(3), AfterTurn(3))
    bar.set_comments(3)
    show(pane, bar, width)
    assert bar.right.width() == bar.right.sizeHint().width()
    assert bar.left.width() == bar.left.sizeHint().width()
    assert bar.more.geometry().right() < width
    assert bar.white.isVisible() or width < 1000 * zoom


@pytest.mark.parametrize(("width", "zoom"), [(width - 272, zoom) for width, zoom in WIDTHS if width > 600])
def test_the_name_of_the_file_is_worth_more_than_words_on_buttons(
    pane: QWidget, hub: ThemeHub, width: int, zoom: float
) -> None:
    hub.set_zoom(zoom)
    head = FileHead(hub, pane)
    head.set_file(ENTRY)
    head.set_hunk(0, 3)
    show(pane, head, width)
    name = hub.theme.metrics("code", weight=500).horizontalAdvance("csv_writer.py")
    assert head._line.width() >= 22 + 8 + 24 + min(name, 66 * zoom) - 2, "but for what rounding takes"
    assert head.can_undo
    assert head.can_undo_hunk
    for button in (head._undo, head._undo_hunk):
        assert button.text()
        assert button.width() >= button.sizeHint().width()
        assert button.geometry().right() < width


def test_what_was_left_out_comes_back(pane: QWidget, hub: ThemeHub) -> None:
    head = FileHead(hub, pane)
    head.set_file(ENTRY)
    head.set_hunk(0, 3)
    for width, whole in ((340, False), (1100, True), (340, False)):
        show(pane, head, width)
        assert head._editor.isVisible() == head._hunk.isVisible() == whole
        assert (head._undo.text() == "Undo file") == whole
    assert head._undo.accessibleName() == "Undo the changes in src/export/csv_writer.py"


@pytest.mark.qt_log_ignore("does not support", extend=True)  # menus off screen
def test_whitespace_is_in_the_menu_too(pane: QWidget, hub: ThemeHub) -> None:
    bar = ReviewBar(hub, pane)
    chosen: list[ReviewOptions] = []
    does = More(choose=chosen.append, export=lambda _: None, own_window=None, undo_all=lambda: None, comments=lambda: None)
    menu = more_menu(bar.more, ReviewOptions(), does, undo_words="Undo all", files=1, comments_shown=False, why_no_undo="")
    inner = next(action.menu() for action in menu.actions() if action.text() == "Whitespace")
    assert inner is not None
    next(action for action in inner.actions() if action.text() == "Ignore all whitespace").trigger()
    assert chosen[0].compare.ignore.value
    menu.close()
