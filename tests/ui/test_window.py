"""The shell: panes, the narrow rule, pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from vibekit_desktop.ui.actions import Actions, sequences, table
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.tokens import load_tokens
from vibekit_desktop.ui.views.arrangement import Wanted, arrange
from vibekit_desktop.ui.views.main_window import MainWindow


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    made = MainWindow(ThemeHub("light", still=True))
    qtbot.addWidget(made)
    made.resize(1440, 900)
    made.show()
    return made


def test_the_panes_have_their_widths_and_one_line_between_them(window: MainWindow) -> None:
    panes = window.panes
    assert panes.sidebar.geometry().getRect() == (0, 0, 279, 900)
    assert panes.centre.geometry().getRect() == (280, 0, 800, 900)
    assert panes.inspector.geometry().getRect() == (1081, 0, 359, 900)


def test_the_bare_window_already_has_its_grounds_and_hairlines(window: MainWindow) -> None:
    picture = window.grab().toImage()
    theme = Theme(load_tokens(), dark=False)
    ratio = picture.devicePixelRatio()

    def at(x: int, y: int) -> str:
        return picture.pixelColor(round(x * ratio), round(y * ratio)).name()

    assert at(100, 400) == theme.color("bg.sidebar").name()
    assert at(600, 400) == theme.color("bg.surface").name()
    assert at(1300, 400) == theme.color("bg.inspector").name()
    for x, y in ((279, 400), (1080, 400), (600, 55), (1300, 55)):
        assert at(x, y) == theme.color("line.hair").name()


def test_a_narrow_window_closes_the_inspector_and_growing_brings_it_back(qtbot: QtBot, window: MainWindow) -> None:
    with qtbot.waitSignal(window.narrow_changed) as narrow:
        window.resize(1100, 800)
    assert narrow.args == [True]
    assert not window.panes.inspector.isVisible()
    window.resize(1440, 900)
    assert window.panes.inspector.isVisible()


def test_the_inspector_opens_as_a_drawer_that_escape_closes(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(1100, 800)
    window.toggle_inspector()
    assert window.panes.inspector.isVisible()
    assert window.panes.centre.width() == 1100 - 280
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.panes.inspector.isVisible()


def test_a_drawer_gives_the_focus_back_to_what_opened_it_last_whatever_opened_it_before(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.resize(1100, 800)
    window.activateWindow()
    first, second, inside = (QLineEdit(pane) for pane in (window.panes.centre, window.panes.centre, window.panes.inspector))
    for field in (first, second, inside):
        field.show()
    for opener in (first, second):
        opener.setFocus()
        window.toggle_inspector()
        inside.setFocus()
        if opener is first:
            window.toggle_inspector()
            assert first.hasFocus()
    delete(first)
    window.toggle_inspector()
    assert second.hasFocus()
    window.toggle_inspector()
    inside.setFocus()
    delete(second)
    window.toggle_inspector()
    assert not inside.hasFocus()


def test_a_very_narrow_window_makes_the_list_a_drawer_too(window: MainWindow) -> None:
    window.resize(850, 600)
    assert not window.panes.sidebar.isVisible()
    assert window.panes.centre.width() == 850
    window.toggle_sidebar()
    assert window.panes.sidebar.isVisible()
    assert window.panes.centre.width() == 850


def test_the_dividers_follow_the_keyboard_and_a_double_click(qtbot: QtBot, window: MainWindow) -> None:
    children = [child for child in window.panes.children() if isinstance(child, QWidget)]
    divider = next(child for child in children if child.cursor().shape() == Qt.CursorShape.SplitHCursor)
    qtbot.keyClick(divider, Qt.Key.Key_Right)
    assert window.panes.widths == (296, 360)
    qtbot.mouseDClick(divider, Qt.MouseButton.LeftButton)
    assert window.panes.widths == (280, 360)


def test_pages_change_places_and_review_takes_the_whole_window(qtbot: QtBot, window: MainWindow) -> None:
    pages = {name: QLabel(name) for name in ("first_run", "empty", "transcript", "review")}
    for name, page in pages.items():
        window.install_page(name, page)
    with qtbot.waitSignal(window.page_changed):
        window.show_page("first_run")
    assert pages["first_run"].isVisible()
    assert not window.panes.inspector.isVisible()
    window.show_page("transcript")
    assert window.panes.inspector.isVisible()
    window.show_page("review")
    assert pages["review"].width() == window.width()
    window.show_page("transcript")
    assert pages["transcript"].isVisible()
    with pytest.raises(KeyError):
        window.install_page("settings", QLabel())


def test_the_title_names_chat_and_workspace(window: MainWindow) -> None:
    window.set_chat("Keep empty rows", "tidepool")
    assert window.windowTitle() == "Keep empty rows, tidepool - VibeKit Desktop"
    window.set_chat("", "")
    assert window.windowTitle() == "VibeKit Desktop"


def test_the_opener_is_there_exactly_while_the_list_is_closed(window: MainWindow) -> None:
    opener = QLabel("Show chats")
    window.install_sidebar(QLabel("chats"), opener)
    assert not opener.isVisible()
    window.toggle_sidebar()
    assert opener.isVisible()


THEME = Theme(load_tokens(), dark=False)


@given(st.integers(800, 4000), st.integers(0, 900), st.integers(0, 900), st.booleans(), st.booleans())
def test_the_centre_never_gets_less_than_its_least(width: int, sidebar: int, inspector: int, one: bool, two: bool) -> None:
    now = arrange(width, Wanted(sidebar, inspector, one, two), THEME)
    beside = (0 if now.sidebar_drawer else now.sidebar) + (0 if now.inspector_drawer else now.inspector)
    assert width - beside >= 480
    assert now.sidebar in range(220, 421) or (now.sidebar == 0 and not one)
    assert now.inspector in range(300, 561) or (now.inspector == 0 and not two)


def test_no_two_actions_share_their_keys() -> None:
    for mac in (False, True):
        keys = [keys.toString() for spec in table() for keys in sequences(spec, mac=mac)]
        assert len(keys) == len(set(keys))
        assert all(keys)


def test_no_shortcut_takes_what_text_input_needs() -> None:
    keys = {keys.toString() for spec in table() for keys in sequences(spec, mac=False)}
    assert not [key for key in keys if "Ctrl+Alt" in key or key in ("Ctrl+Shift+U", "Ctrl+.")]


def test_an_action_works_once_it_has_a_purpose(qtbot: QtBot, window: MainWindow) -> None:
    actions = Actions(window, mac=False)
    assert not actions["toggle-sidebar"].isVisible()
    actions.give("toggle-sidebar", window.toggle_sidebar)
    actions["toggle-sidebar"].trigger()
    assert not window.panes.sidebar.isVisible()
    actions.enable("toggle-sidebar", False)
    assert not actions["toggle-sidebar"].isEnabled()
