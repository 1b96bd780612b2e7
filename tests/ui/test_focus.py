"""Where the keys go: one ring at most, Enter and Space press what has it."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFocusFrame, QHBoxLayout, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from vibekit_desktop.ui import assets
from vibekit_desktop.ui.theme.dress import FocusRing
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button, IconButton

UI = Path(assets.__file__).parent


@pytest.fixture
def ring(qapp: QApplication) -> Iterator[None]:
    """The program has one; where no window was made yet it is made for the test."""
    if qapp.findChild(FocusRing) is not None:
        yield
        return
    made = FocusRing(qapp)
    yield
    qapp.focusChanged.disconnect(made._moved)
    delete(made)  # at once: the next window looks whether there is one


@pytest.fixture
def stops(qtbot: QtBot, ring: None) -> tuple[QWidget, list[QWidget]]:
    hub = ThemeHub("light", still=True)
    host = QWidget()
    qtbot.addWidget(host)
    layout = QHBoxLayout(host)
    made: list[QWidget] = [Button(hub, "One"), IconButton(hub, "close", "Two"), QLineEdit(), Button(hub, "Three")]
    for one in made:
        layout.addWidget(one)
    host.show()
    host.activateWindow()
    qtbot.waitActive(host)
    QTest.mouseClick(host, Qt.MouseButton.LeftButton)  # whatever another test held down is let go
    made[2].setFocus()  # what got the focus while it was held down has no ring
    return host, made


def rings() -> int:
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # a frame that was let go says so later
    return sum(1 for one in QApplication.allWidgets() if isinstance(one, QFocusFrame) and one.isVisible())


def test_at_most_one_ring_is_to_be_seen_wherever_the_focus_goes(stops: tuple[QWidget, list[QWidget]]) -> None:
    _, made = stops
    for one, other in product(made, repeat=2):
        for each in (one, other, one):
            each.setFocus(Qt.FocusReason.TabFocusReason)
            assert rings() == (0 if isinstance(each, QLineEdit) else 1)


def test_a_ring_goes_with_its_button(stops: tuple[QWidget, list[QWidget]]) -> None:
    _, made = stops
    made[1].setFocus(Qt.FocusReason.TabFocusReason)
    made[1].hide()
    assert rings() <= 1
    made[0].setFocus(Qt.FocusReason.TabFocusReason)
    made[0].deleteLater()
    made[3].setFocus(Qt.FocusReason.TabFocusReason)
    assert rings() == 1


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_enter_and_space_press_the_button_that_has_the_focus(stops: tuple[QWidget, list[QWidget]], key: Qt.Key) -> None:
    _, made = stops
    pressed: list[int] = []
    for number in (0, 1):
        button = made[number]
        assert isinstance(button, Button | IconButton)
        button.clicked.connect(lambda _=False, which=number: pressed.append(which))
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button, key)
    assert pressed == [0, 1]
    made[0].setEnabled(False)
    QTest.keyClick(made[0], key)
    assert pressed == [0, 1]


def test_a_focused_button_may_be_destroyed(stops: tuple[QWidget, list[QWidget]]) -> None:
    _, made = stops
    for number in (0, 3):
        made[number].setFocus(Qt.FocusReason.TabFocusReason)
        delete(made[number])  # the focus goes on while it is being destroyed
        QApplication.processEvents()
    made[1].setFocus(Qt.FocusReason.TabFocusReason)
    assert rings() == 1


def test_nobody_walks_the_focus_chain_from_python() -> None:
    """Each call makes the widget it is called on the owner of the next one's wrapper: that dies with a widget far away."""
    calls = ("nextInFocusChain(", "previousInFocusChain(")
    guilty = [path.name for path in UI.rglob("*.py") if any(call in path.read_text("utf-8") for call in calls)]
    assert guilty == []
