"""The heads of the three panes at every text zoom: one line under them, and nothing over its edge."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes, samples
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.chat_header import ChatHeader
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.inspector_bar import CONFLICTS, FILES
from vibekit_desktop.ui.views.sidebar import Sidebar

ZOOMS = [0.8, 1.0, 1.5, 2.0]


@pytest.fixture
def hub(qtbot: QtBot) -> ThemeHub:
    return ThemeHub("light", still=True)


@pytest.mark.parametrize("zoom", ZOOMS)
def test_the_heads_grow_together(qtbot: QtBot, hub: ThemeHub, zoom: float) -> None:
    sidebar, header = Sidebar(hub, ChatListModel(lambda: samples.NOW)), ChatHeader(hub)
    inspector = Inspector(hub, now_ms=lambda: sample_changes.NOW_MS)
    for widget in (sidebar, header, inspector):
        qtbot.addWidget(widget)
        widget.resize(360, 900)
        widget.show()
    hub.set_zoom(zoom)
    head = hub.theme.size("header")
    assert header.height() == head
    assert sidebar.picker.parentWidget().height() == head
    qtbot.waitUntil(lambda: inspector.bar.height() == head)


@pytest.mark.parametrize("zoom", ZOOMS)
def test_the_chips_stand_under_the_title_and_inside_the_header(qtbot: QtBot, hub: ThemeHub, zoom: float) -> None:
    header = ChatHeader(hub)
    qtbot.addWidget(header)
    header.resize(1000, 56)
    header.set_chat("Keep empty rows in export", "Claude Code", "Sonnet", "/home/ann/tidepool", "~/tidepool")
    header.show()
    hub.set_zoom(zoom)
    chip = header.agent.geometry()
    assert chip.height() == hub.theme.size("chip")
    assert chip.top() >= hub.theme.line_height("heading")
    assert chip.bottom() < header.height() - 1


@pytest.mark.parametrize("zoom", ZOOMS)
def test_tabs_keep_their_words_and_give_up_their_numbers(qtbot: QtBot, hub: ThemeHub, zoom: float) -> None:
    inspector = Inspector(hub, now_ms=lambda: sample_changes.NOW_MS)
    qtbot.addWidget(inspector)
    inspector.resize(360, 900)
    inspector.show_timeline(sample_changes.timeline())
    inspector.bar.tabs[CONFLICTS].set_count(12, alarm=True)
    inspector.show()
    hub.set_zoom(zoom)
    bar = inspector.bar
    words = sum(tab.width_for(bare=True) for tab in bar.tabs) + bar.more.sizeHint().width() + 16 + 3 * 8 + 12
    inspector.resize(max(360, words), 900)  # where a wide font is all there is, the words alone may take more
    qtbot.waitUntil(lambda: all(tab.width() == tab.sizeHint().width() for tab in bar.tabs))
    assert bar.tabs[CONFLICTS].geometry().right() < bar.more.geometry().left()
    files, conflicts = (tab.width() > tab.width_for(bare=True) for tab in (bar.tabs[FILES], bar.tabs[CONFLICTS]))
    assert conflicts or not files, "the number of the conflicts goes last"
    assert files or zoom > 1.0
    assert not conflicts or zoom < 2.0
    assert bar.tabs[CONFLICTS].accessibleName() == "Conflicts, 12"


@pytest.mark.parametrize("zoom", ZOOMS)
def test_new_chat_is_never_cut_for_the_word_import(qtbot: QtBot, hub: ThemeHub, zoom: float) -> None:
    sidebar = Sidebar(hub, ChatListModel(lambda: samples.NOW))
    qtbot.addWidget(sidebar)
    sidebar.resize(280, 900)
    sidebar.show()
    hub.set_zoom(zoom)
    qtbot.waitUntil(lambda: sidebar.new_chat.width() >= sidebar.new_chat.sizeHint().width())
    assert sidebar._import.text() or zoom > 1.0
    assert not sidebar._import.text() or zoom < 2.0


def test_tab_goes_through_the_header_as_it_stands_on_the_screen(qtbot: QtBot) -> None:
    header = ChatHeader(ThemeHub("light", still=True))
    qtbot.addWidget(header)
    header.resize(1100, 56)
    header.set_chat("A chat", "Claude Code", "Opus", "/work/tidepool", "tidepool")
    header.set_changed(3)
    header.show()
    header.activateWindow()
    qtbot.waitActive(header)
    header.review.setFocus(Qt.FocusReason.TabFocusReason)
    met: list[QWidget] = []
    for _ in range(3):
        header.focusNextChild()
        met.append(header.focusWidget())
    assert met == [header.search, header.inspector, header.more]
    assert [one.x() for one in met] == sorted(one.x() for one in met)
