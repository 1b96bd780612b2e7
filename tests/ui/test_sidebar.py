"""The sidebar: choosing, filtering, workspaces, and what it looks like when there is nothing."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.ui.models.chat_list import ChatListModel, Role
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.sidebar import Sidebar


@pytest.fixture
def model(qtbot: QtBot) -> ChatListModel:
    return ChatListModel(lambda: samples.NOW)


@pytest.fixture
def sidebar(qtbot: QtBot, model: ChatListModel) -> Sidebar:
    made = Sidebar(ThemeHub("light", still=True), model)
    qtbot.addWidget(made)
    made.resize(279, 800)
    made.show()
    return made


def _row_centre(sidebar: Sidebar, row: int) -> QPoint:
    return sidebar.list.visualRect(sidebar.list.model().index(row, 0)).center()


def test_a_click_on_a_row_asks_for_its_chat(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    qtbot.waitUntil(lambda: sidebar.list.visualRect(model.index(2)).isValid())
    with qtbot.waitSignal(sidebar.chat_chosen) as chosen:
        qtbot.mouseClick(sidebar.list.viewport(), Qt.MouseButton.LeftButton, pos=_row_centre(sidebar, 2))
    assert chosen.args == [samples.MAIN]


def test_marking_the_open_chat_asks_for_nothing(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    with qtbot.assertNotEmitted(sidebar.chat_chosen):
        sidebar.show_chat(samples.MAIN)
    assert sidebar.list.currentIndex().row() == 2


def test_the_arrows_step_over_group_headers(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    sidebar.show_chat(samples.headers()[3].id)
    with qtbot.waitSignal(sidebar.chat_chosen) as chosen:
        qtbot.keyClick(sidebar.list, Qt.Key.Key_Down)
    assert chosen.args == [samples.headers()[4].id]
    with qtbot.waitSignal(sidebar.chat_chosen) as chosen:
        qtbot.keyClick(sidebar.list, Qt.Key.Key_Up)
    assert chosen.args == [samples.headers()[3].id]


def test_home_and_end_go_to_the_first_and_the_last_chat(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    chats = [model.index(row).data(Role.CHAT) for row in range(model.rowCount()) if model.index(row).data(Role.CHAT)]
    sidebar.show_chat(chats[3])
    for key, chat in ((Qt.Key.Key_Home, chats[0]), (Qt.Key.Key_End, chats[-1])):
        with qtbot.waitSignal(sidebar.chat_chosen) as chosen:
            qtbot.keyClick(sidebar.list, key)
        assert chosen.args == [chat]


def test_the_selection_survives_news(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    sidebar.show_chat(samples.headers()[6].id)
    model.drop(samples.headers()[2].id)
    model.flush()
    assert sidebar.list.currentIndex().row() == model.row_of(samples.headers()[6].id)


def test_typing_filters_and_escape_clears(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    sidebar.focus_search()
    qtbot.keyClicks(sidebar.search, "retry")
    assert model.rowCount() == 2
    qtbot.keyClick(sidebar.search, Qt.Key.Key_Escape)
    assert model.rowCount() == 13


def test_filtering_opens_nothing_and_keeps_the_mark(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    last = samples.headers()[8]
    sidebar.show_chat(last.id)
    with qtbot.assertNotEmitted(sidebar.chat_chosen):
        qtbot.keyClicks(sidebar.search, "retry")
        assert not sidebar.list.selectionModel().hasSelection()
        qtbot.keyClick(sidebar.search, Qt.Key.Key_Escape)
    assert sidebar.list.currentIndex().row() == model.row_of(last.id)
    assert sidebar.list.selectionModel().hasSelection()


def test_a_chat_that_is_gone_opens_no_other(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    sidebar.show_chat(samples.headers()[6].id)
    with qtbot.assertNotEmitted(sidebar.chat_chosen):
        model.drop(samples.headers()[6].id)
        model.flush()
    assert not sidebar.list.selectionModel().hasSelection()


def test_without_chats_there_is_nothing_to_filter(sidebar: Sidebar, model: ChatListModel) -> None:
    model.load([])
    assert not sidebar.search.isEnabled()
    model.put(samples.headers()[0])
    model.flush()
    assert sidebar.search.isEnabled()


def test_the_workspace_menu_narrows_the_list(qtbot: QtBot, sidebar: Sidebar, model: ChatListModel) -> None:
    model.load(samples.headers())
    sidebar.set_workspaces([samples.WORKSPACE, "/home/ada/code/lantern"], "")
    menu = sidebar.workspace_menu()
    menu.actions()[2].trigger()
    assert sidebar.workspace == "/home/ada/code/lantern"
    assert sidebar.picker.text() == "lantern"
    assert model.chats == 2


def test_a_workspace_called_with_an_ampersand_keeps_it(sidebar: Sidebar) -> None:
    sidebar.set_workspaces(["/home/ada/a&b"], "")
    assert sidebar.workspace_menu().actions()[1].text().startswith("a&&b")


def test_the_dialogs_answer_by_signal(qtbot: QtBot, sidebar: Sidebar) -> None:
    sidebar.import_folder()
    dialog = sidebar.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    with qtbot.waitSignal(sidebar.import_requested) as asked:
        dialog.fileSelected.emit("/home/ada/histories")
    assert asked.args == ["/home/ada/histories"]
    dialog.close()


def test_import_keeps_only_its_icon_when_it_is_tight(sidebar: Sidebar) -> None:
    sidebar.resize(230, 800)
    assert sidebar.findChildren(type(sidebar.opener))
    assert not any(text == "Import…" for text in (child.text() for child in sidebar.findChildren(type(sidebar._import))))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_state_can_be_painted(qtbot: QtBot, model: ChatListModel, mode: str) -> None:
    made = Sidebar(ThemeHub(mode, still=True), model)
    qtbot.addWidget(made)
    made.resize(279, 800)
    assert not made.grab().isNull()
    model.load(samples.headers())
    made.show_chat(samples.MAIN)
    assert not made.grab().isNull()
    model.set_filter("zzz")
    assert not made.grab().isNull()
