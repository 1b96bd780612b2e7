"""How keys are written: one way, wherever they stand."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QStyleOptionMenuItem, QWidget
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.ui.actions import Actions, keys_text, menus, on_mac, table
from vibekit_desktop.ui.dialogs.shortcuts import rows_of
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.chat_menus import ChatFacts, chat_menu
from vibekit_desktop.ui.views.key_menu import KeyMenu, letters
from vibekit_desktop.ui.views.main_window import MainWindow

elsewhere = pytest.mark.skipif(on_mac(), reason="macOS has signs of its own for keys")


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def painted(menu: QMenu) -> dict[str, str]:
    """The keys beside each entry that has some."""
    found: dict[str, str] = {}
    for action in menu.actions():
        option = QStyleOptionMenuItem()
        menu.initStyleOption(option, action)
        words, _, keys = option.text.partition("\t")
        if keys:
            found[words.replace("&", "")] = keys
    return found


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("Ctrl+Shift+R", "Ctrl ⇧ R"),
        ("Ctrl++", "Ctrl +"),
        ("Ctrl+-", "Ctrl -"),
        ("+", "+"),
        ("Ctrl+Backspace", "Ctrl ⌫"),
        ("Shift+F9", "⇧ F9"),
        ("Return", "Enter"),
        ("Ctrl+PgDown", "Ctrl PgDown"),
        ("", ""),
    ],
)
def test_keys_are_words_and_signs_with_blanks_between(keys: str, text: str) -> None:
    assert keys_text(QKeySequence(keys, QKeySequence.SequenceFormat.PortableText), mac=False) == text


@elsewhere
def test_the_menu_bar_writes_keys_as_the_timeline_does(qtbot: QtBot) -> None:
    window = MainWindow(ThemeHub("light", still=True))
    qtbot.addWidget(window)
    actions = Actions(window)
    for name in actions.names():
        actions.give(name, lambda: None)
    window.menu.fill(actions)
    found = {words: keys for menu in window.menu.bar.findChildren(QMenu) for words, keys in painted(menu).items()}
    assert found["Restore to before the turn…"] == "Ctrl ⇧ R"
    assert found["Bigger text"] == "Ctrl +"
    assert not [keys for keys in found.values() if "Shift" in keys or "+" in keys[:-1]]
    assert actions["restore"].shortcut() == QKeySequence("Ctrl+Shift+R"), "it is still told to assistive technology"


@elsewhere
def test_the_menu_of_a_chat_writes_them_so_too(window: QWidget) -> None:
    facts = ChatFacts(header=samples.headers()[0])
    keys = {"rename": QKeySequence("F2"), "pin": QKeySequence("Ctrl+Shift+P"), "export": QKeySequence("Ctrl+Shift+S")}
    menu = chat_menu(window, ThemeHub("light", still=True), facts, lambda _: None, lambda name: keys.get(name, QKeySequence()))
    assert painted(menu) == {"Rename": "F2", "Unpin" if facts.header.pinned_at else "Pin": "Ctrl ⇧ P", "Export…": "Ctrl ⇧ S"}


@elsewhere
def test_so_does_the_list_of_keys(window: QWidget) -> None:
    actions = Actions(window)
    actions.give("review", lambda: None)
    assert ("Review changes", "Ctrl ⇧ D") in rows_of(actions)
    assert not [keys for _, keys in rows_of(actions) if "Shift" in keys]


def test_each_entry_of_a_menu_has_a_letter_of_its_own() -> None:
    for spec in menus():
        texts = tuple(one.text for group in spec.groups for name in group for one in table() if one.id == name)
        signs = [text[at].casefold() for text, at in zip(texts, letters(texts), strict=True)]
        assert -1 not in letters(texts)
        assert len(set(signs)) == len(texts)
    assert letters(("Quit", "Fish && chips", "Q")) == (0, -1, -1)


@elsewhere
@pytest.mark.qt_log_ignore("does not support", extend=True)  # menus off screen
def test_a_letter_chooses_its_entry_and_its_place_is_underlined(qtbot: QtBot) -> None:
    menu = KeyMenu("View")
    qtbot.addWidget(menu)
    chosen: list[str] = []
    for text in ("As the system", "Light", "Dark"):
        menu.addAction(text, lambda text=text: chosen.append(text))
    menu.actions()[1].setEnabled(False)
    texts: list[str] = []
    for action in menu.actions():
        option = QStyleOptionMenuItem()
        menu.initStyleOption(option, action)
        texts.append(option.text)
    assert texts == ["&As the system", "&Light", "&Dark"]
    menu.popup(QPoint(0, 0))
    QTest.keyClick(menu, Qt.Key.Key_L)
    assert not chosen, "what can't be done is not done"
    QTest.keyClick(menu, Qt.Key.Key_D)
    assert chosen == ["Dark"]
    assert not menu.isVisible()
