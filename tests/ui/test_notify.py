"""Toasts: the newest is shown at once, an error stays until it is closed, and what is about a chat goes with it."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button, IconButton


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    widget.resize(800, 500)
    qtbot.addWidget(widget)
    widget.show()
    return widget


@pytest.fixture
def notifier(host: QWidget) -> Notifier:
    return Notifier(host, ThemeHub("light", still=True))


def test_a_newer_toast_replaces_its_own_kind(notifier: Notifier) -> None:
    notifier.toast("rows.py is as it was before turn 4")
    notifier.toast("export.md is as it was before turn 5")
    assert notifier.shown == "export.md is as it was before turn 5"


def test_news_is_shown_at_once_and_the_error_under_it_comes_back(notifier: Notifier) -> None:
    notifier.toast("export.md is locked. Nothing changed", "error")
    notifier.toast("rows.py is as it was before turn 4", "done", ("Undo", lambda: None))
    assert notifier.shown == "rows.py is as it was before turn 4"
    notifier.toast("Copied")
    assert notifier.shown == "Copied"
    notifier.dismiss()
    assert notifier.shown == "export.md is locked. Nothing changed"
    notifier.dismiss()
    assert notifier.shown == ""


def test_a_newer_error_replaces_the_older_one_wherever_it_is(notifier: Notifier) -> None:
    notifier.toast("export.md is locked. Nothing changed", "error")
    notifier.toast("Copied")
    notifier.toast("The disk is full.", "error")
    notifier.dismiss()
    assert notifier.shown == ""


def test_what_was_told_in_a_chat_goes_when_another_one_is_opened(notifier: Notifier) -> None:
    notifier.show_chat("one")
    notifier.toast("The agent ended.", "error")
    notifier.toast("Copied")
    notifier.show_chat("one")
    assert notifier.shown == "Copied"
    notifier.show_chat("two")
    assert notifier.shown == ""
    notifier.toast("Opened 38 chats", everywhere=True)
    notifier.show_chat("one")
    assert notifier.shown == "Opened 38 chats"


def test_the_focus_goes_back_to_where_it_was_when_a_toast_goes(qtbot: QtBot, host: QWidget, notifier: Notifier) -> None:
    field, other = QLineEdit(host), QLineEdit(host)
    for one in (other, field):
        one.show()
    host.activateWindow()
    qtbot.waitActive(host)
    field.setFocus()
    notifier.toast("The disk is full.", "error")
    close = next(button for button in host.findChildren(IconButton))
    close.setFocus()
    assert close.hasFocus()
    close.click()
    assert field.hasFocus()


def test_an_error_comes_at_once(notifier: Notifier) -> None:
    notifier.toast("Opened 1 chat")
    notifier.toast("The disk is full.", "error")
    assert notifier.shown == "The disk is full."


def test_the_action_runs_once_and_closes_the_toast(qtbot: QtBot, host: QWidget, notifier: Notifier) -> None:
    ran: list[int] = []
    notifier.toast("Restored 5 of 5 files to before turn 3", "restored", ("Undo", lambda: ran.append(1)))
    button = next(button for button in host.findChildren(Button) if button.text() == "Undo")
    button.click()
    assert ran == [1]
    assert notifier.shown == ""


def test_a_toast_stands_above_the_bottom_in_the_middle(host: QWidget, notifier: Notifier) -> None:
    notifier.inset = 76
    notifier.toast("Opened 1 chat")
    frame = next(child for child in host.children() if isinstance(child, QWidget))
    assert abs(frame.geometry().center().x() - 400) <= 1
    assert frame.geometry().bottom() == 500 - 76 - 1
    host.resize(1000, 600)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    assert abs(frame.geometry().center().x() - 500) <= 1


def test_a_toast_follows_to_where_people_look(qtbot: QtBot, host: QWidget, notifier: Notifier) -> None:
    other = QWidget()
    qtbot.addWidget(other)
    other.resize(400, 300)
    other.show()
    notifier.toast("rows.py is as it was before turn 4")
    notifier.stand_in(other, inset=20)
    frame = next(child for child in other.children() if isinstance(child, QWidget))
    assert frame.isVisible()
    assert frame.geometry().bottom() == 300 - 20 - 1
    notifier.toast("export.md is locked. Nothing changed", "error")
    assert notifier.shown == "export.md is locked. Nothing changed"
    assert any(isinstance(child, QWidget) and child.isVisible() for child in other.children())
    other.resize(400, 500)
    assert not [child for child in host.children() if isinstance(child, QWidget) and child.isVisible()]


def test_a_text_is_never_read_as_markup(host: QWidget, notifier: Notifier) -> None:
    notifier.toast("<img src='file:///etc/passwd'> is as it was")
    assert notifier.shown == "<img src='file:///etc/passwd'> is as it was"


def test_an_unknown_kind_is_our_fault(notifier: Notifier) -> None:
    with pytest.raises(KeyError):
        notifier.toast("x", "loud")


def test_what_the_toast_in_sight_offers_to_undo_is_undone_once(notifier: Notifier) -> None:
    done: list[str] = []
    assert not notifier.take_back()
    notifier.toast("Archived “Plot”", "done", ("Undo", lambda: done.append("Undo")))
    assert notifier.take_back()
    assert notifier.shown == ""
    assert not notifier.take_back()
    notifier.toast("Undo and Restore wait", "info", ("Stop", lambda: done.append("Stop")))
    assert not notifier.take_back()
    assert notifier.shown == "Undo and Restore wait"
    assert done == ["Undo"]


def test_an_error_goes_when_the_same_was_done_after_all(notifier: Notifier) -> None:
    notifier.toast("The disk is full. Nothing was changed.", "error", about="send a prompt")
    notifier.done("another thing")
    assert notifier.shown == "The disk is full. Nothing was changed."
    notifier.toast("Copied")
    notifier.done("send a prompt")
    assert notifier.shown == "Copied"
    notifier.dismiss()
    assert notifier.shown == "", "also where other news covered it"
    notifier.toast("The disk is full. Nothing was changed.", "error", about="send a prompt")
    notifier.done("send a prompt")
    assert notifier.shown == ""
