"""The keys of the window do what the table says, and nothing behind a question."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from vibekit_desktop.core.types.chats import ChatHeader
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.actions import table
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.keys import CHAT_ONLY, LOOKS, Keys
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.chat_page import ChatPage
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.sidebar import Sidebar


class Doer:
    """Remembers what was asked for."""

    def __init__(self, hub: ThemeHub) -> None:
        model = ChatListModel(lambda: 0)
        header = ChatHeader(
            id=ChatId("one"),
            name="One",
            agent="",
            source="",
            workspace="",
            created_at=0,
            updated_at=0,
            message_count=0,
            turn_count=0,
        )
        model.load([header])
        self.sidebar = Sidebar(hub, model)
        self.page = ChatPage(hub, TranscriptModel(lambda: 0))
        self.inspector = Inspector(hub)
        self.asked: list[str] = []

    def rescan(self) -> None:
        self.asked.append("rescan")

    def open_review(self) -> None:
        self.asked.append("review")

    def restore(self) -> None:
        self.asked.append("restore")

    def branch(self) -> None:
        self.asked.append("branch")

    def act_on_chat(self, name: str) -> None:
        self.asked.append(f"{name} the chat")

    def undo(self) -> None:
        self.asked.append("undo")

    def redo(self) -> None:
        self.asked.append("redo")

    def new_chat(self) -> None:
        self.asked.append("new chat")

    def stop(self) -> None:
        self.asked.append("stop")

    def show_shortcuts(self) -> None:
        self.asked.append("shortcuts")

    def choose_theme(self, mode: str) -> None:
        self.asked.append(mode)


@pytest.fixture
def hub(qapp: object) -> ThemeHub:
    return ThemeHub("light", still=True)


@pytest.fixture
def window(qtbot: QtBot, hub: ThemeHub) -> tuple[MainWindow, Doer, Keys]:
    window = MainWindow(hub)
    qtbot.addWidget(window)
    doer = Doer(hub)
    window.install_sidebar(doer.sidebar)
    window.install_inspector(doer.inspector)
    window.install_page("transcript", doer.page)
    window.show_page("transcript")
    keys = Keys(
        doer,
        hub,
        window,
    )
    window.resize(1440, 900)
    window.show()
    qtbot.waitActive(window)
    doer.page.transcript.setFocus()
    return window, doer, keys


def test_an_action_without_a_purpose_is_in_no_menu_and_has_no_key(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, _, keys = window
    for spec in table():
        action = keys.actions[spec.id]
        assert action.isEnabled() == action.isVisible() == (action in shown.actions())


def test_the_choices_of_the_menu_are_marked(window: tuple[MainWindow, Doer, Keys], hub: ThemeHub) -> None:
    shown, doer, keys = window
    keys.actions["theme-dark"].trigger()
    assert doer.asked == ["dark"]
    hub.set_mode("dark")
    assert [look for look in LOOKS if keys.actions[f"theme-{look}"].isChecked()] == ["dark"]
    keys.actions["menu-bar"].trigger()
    assert shown.menu.always
    assert keys.actions["menu-bar"].isChecked()


def _press(target: QWidget, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    QTest.keyClick(target, key, held)


def test_keys_reach_what_they_ask_for(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, _ = window
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    _press(shown, Qt.Key.Key_F5)
    _press(shown, Qt.Key.Key_Z, control)
    _press(shown, Qt.Key.Key_Y, control)
    _press(shown, Qt.Key.Key_D, control, shift)
    _press(shown, Qt.Key.Key_R, control, shift)
    _press(shown, Qt.Key.Key_B, control, shift)
    _press(shown, Qt.Key.Key_N, control)
    _press(shown, Qt.Key.Key_F2)
    _press(shown, Qt.Key.Key_P, control, shift)
    _press(shown, Qt.Key.Key_S, control, shift)
    _press(shown, Qt.Key.Key_X, control, shift)
    _press(shown, Qt.Key.Key_F1)
    _press(shown, Qt.Key.Key_Slash, control)
    taken_back = ["undo", "redo", "review", "restore", "branch"]
    of_the_chat = ["rename the chat", "pin the chat", "export the chat"]
    assert doer.asked == ["rescan", *taken_back, "new chat", *of_the_chat, "stop", "shortcuts", "shortcuts"]


def test_the_tabs_of_the_inspector_have_keys_that_open_it(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, _ = window
    shown.toggle_inspector()
    for tab, key in enumerate((Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3)):
        _press(shown, key, Qt.KeyboardModifier.AltModifier)
        assert shown.panes.inspector_open
        assert doer.inspector.tab() == tab


def test_find_is_the_chats_until_a_review_is_shown(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, keys = window
    _press(shown, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert doer.page.transcript.finding.isVisible()
    shown.install_page("review", QWidget())
    shown.show_page("review")
    assert not any(keys.actions[name].isEnabled() for name in CHAT_ONLY)
    shown.show_page("transcript")
    assert all(keys.actions[name].isEnabled() for name in CHAT_ONLY)


def test_nothing_is_taken_back_while_it_is_held_back(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, keys = window
    keys.hold_back(True)
    _press(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert doer.asked == []
    keys.hold_back(False)
    _press(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert doer.asked == ["undo"]


def test_undo_belongs_to_a_text_field_that_has_the_focus(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, _ = window
    _press(shown, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert doer.sidebar.search.hasFocus() or doer.sidebar.search.isAncestorOf(shown.focusWidget() or shown)
    _press(shown.focusWidget() or shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert doer.asked == []


def test_no_key_works_behind_a_question(window: tuple[MainWindow, Doer, Keys], hub: ThemeHub) -> None:
    shown, doer, keys = window
    question = Question(hub, shown, "Delete it?", "A copy is kept.", [Choice("", "Cancel"), Choice("go", "Delete", "primary")])
    question.show()
    keys.actions["undo"].trigger()
    keys.actions["restore"].trigger()
    assert doer.asked == []
    question.close_now()


def test_leaving_works_even_while_something_is_asked(
    qtbot: QtBot, window: tuple[MainWindow, Doer, Keys], hub: ThemeHub
) -> None:
    shown, _, keys = window
    question = Question(hub, shown, "Delete it?", "A copy is kept.", [Choice("", "Cancel"), Choice("go", "Delete", "primary")])
    question.show()
    with qtbot.waitSignal(shown.closing):
        keys.actions["quit"].trigger()
    question.close_now()


def test_a_question_is_wide_enough_for_its_answers(window: tuple[MainWindow, Doer, Keys], hub: ThemeHub) -> None:
    shown, _, _ = window
    shown.resize(1200, 800)
    answers = ("Compare", "Cancel", "Undo turns 1, 4 and 12", "Undo turn 1 only")
    question = Question(
        hub, shown, "Undo?", "A copy is kept.", [Choice(word if word != "Cancel" else "", word) for word in answers]
    )
    question._open()
    shown.grab()
    for word in answers:
        button = question.button(word)
        assert button.width() >= button.sizeHint().width()
    question.close_now()


def test_going_to_the_inspector_opens_it_where_it_is_closed(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, keys = window
    shown.resize(1024, 768)
    assert not shown.panes.inspector_open
    doer.inspector.show_tab(1)
    keys.actions["focus-inspector"].trigger()
    assert shown.panes.inspector_open
    assert doer.inspector.tab() == 1


def test_going_to_the_list_of_chats_opens_it_where_it_is_closed(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, keys = window
    shown.toggle_sidebar()
    assert not doer.sidebar.isVisible()
    keys.actions["focus-list"].trigger()
    assert doer.sidebar.isVisible()
    assert doer.sidebar.list.hasFocus()


def test_panes_are_walked_in_order(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, keys = window
    seen = []
    for _ in range(3):
        keys.actions["next-pane"].trigger()
        seen.append(shown.focusWidget())
    assert doer.sidebar.list in seen
    assert doer.page.transcript in seen


def test_the_inspector_takes_the_focus_whatever_it_shows(window: tuple[MainWindow, Doer, Keys]) -> None:
    shown, doer, keys = window
    for tab in (0, 1):
        doer.inspector.show_tab(tab)
        doer.page.transcript.setFocus()
        keys.actions["focus-inspector"].trigger()
        focus = shown.focusWidget()
        assert focus is not None
        assert doer.inspector.isAncestorOf(focus)
        assert focus.isVisible()
        keys.actions["previous-pane"].trigger()
        assert doer.page.transcript.hasFocus()
        keys.actions["next-pane"].trigger()
        focus = shown.focusWidget()
        assert focus is not None
        assert doer.inspector.isAncestorOf(focus)


def test_text_grows_within_bounds_and_comes_back(window: tuple[MainWindow, Doer, Keys], hub: ThemeHub) -> None:
    _, _, keys = window
    before = hub.theme.line_height("body")
    for _ in range(40):
        keys.actions["bigger"].trigger()
    assert before < hub.theme.line_height("body") <= before * 2
    keys.actions["normal"].trigger()
    assert hub.theme.line_height("body") == before
