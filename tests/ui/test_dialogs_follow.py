"""A dialog that is open follows the theme and the size of text as everything else does."""

from collections.abc import Callable

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.live_stage import AGENTS
from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.ui.dialogs.new_chat import NewChatDialog
from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.dialogs.shortcuts import Shortcuts
from vibekit_desktop.ui.dialogs.storage import StorageDialog
from vibekit_desktop.ui.theme.dress import apply
from vibekit_desktop.ui.theme.palette import ThemeHub

Make = Callable[[ThemeHub, QWidget], Overlay]  # type: ignore[type-arg]  # of any answer
TEXT = "A sentence that is long enough to be broken into more than one line in a dialog of this kind. " * 2
DIALOGS: dict[str, Make] = {
    "question": lambda hub, host: Question(hub, host, "Title", TEXT, [Choice("", "Cancel"), Choice("go", "Go on", "primary")]),
    "storage": lambda hub, host: StorageDialog(hub, host, StoreSize(used_bytes=1 << 30, budget_bytes=5 << 30)),
    "new chat": lambda hub, host: NewChatDialog(hub, host, AGENTS, workspace="/home/ada/code/tidepool"),
    "shortcuts": lambda hub, host: Shortcuts(hub, host, [("Find", "Ctrl+F"), ("Restore", "Ctrl+R")]),
}


def labels(dialog: QWidget) -> list[QLabel]:
    return [one for one in dialog.findChildren(QLabel) if one.isVisible() and one.text()]


@pytest.mark.parametrize("name", DIALOGS)
def test_it_follows(qtbot: QtBot, qapp: object, name: str) -> None:
    hub = ThemeHub("light", still=True)
    apply(qapp, hub)  # type: ignore[arg-type]  # it is the application
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(1400, 1000)
    host.show()
    dialog = DIALOGS[name](hub, host)
    dialog._open()
    dialog._show_card()
    before = [label.palette().color(QPalette.ColorRole.WindowText) for label in labels(dialog)]
    small = dialog.card.size()
    assert before
    hub.set_mode("dark")
    after = [label.palette().color(QPalette.ColorRole.WindowText) for label in labels(dialog)]
    assert all(now.lightness() > was.lightness() for now, was in zip(after, before, strict=True)), (
        "light words on a dark ground"
    )
    hub.set_zoom(1.6)
    qtbot.waitUntil(lambda: not dialog._again.isActive())
    assert dialog.card.height() >= small.height()
    for label in labels(dialog):
        needed = label.heightForWidth(label.width()) if label.wordWrap() else label.sizeHint().height()
        assert label.height() >= needed, label.text()
    hub.set_zoom(1.0)
    dialog.close_now()
