"""A window stands where and how it stood on the same screens before; its menu bar is there while it is wanted."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.app import kept
from vibekit_desktop.ui.actions import Actions, menus, table
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.remember import Remember, mode_of, panes_of, zoom_of
from vibekit_desktop.ui.theme.contrast import SystemColours, contrast_color, ratio
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.system import FollowSystem, is_still
from vibekit_desktop.ui.theme.tokens import load_tokens
from vibekit_desktop.ui.views.arrangement import Wanted
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.shell import Shell, screens_name
from vibekit_desktop.ui.views.sidebar import Sidebar

Known = dict[str, dict[str, str]]


class Run:
    """One start of a window, with a file in which it is kept how it stood."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self._folder = folder
        known = kept.read(folder)
        here = known.get(screens_name(), {})
        self.shell = Shell(dark=False)
        qtbot.addWidget(self.shell)
        self.stood = self.shell.stand(here.get("place", ""))
        self.hub = ThemeHub(mode_of(here), zoom=zoom_of(here), still=True)
        self.main = MainWindow(self.hub)
        self.shell.fill(self.main)
        self.inspector = Inspector(self.hub)
        qtbot.addWidget(self.inspector)
        self.chats = ChatListModel(lambda: samples.NOW)
        self.sidebar = Sidebar(self.hub, self.chats)
        qtbot.addWidget(self.sidebar)
        self.remember = Remember(
            self.shell,
            self.main,
            self.hub,
            known,
            self._keep,
            inspector=self.inspector,
            chats=self.chats,
            choose_workspace=self.sidebar.choose_workspace,
        )
        self.shell.show()

    def _keep(self, known: Mapping[str, Mapping[str, str]]) -> bool:
        return kept.write(self._folder, known)


def test_a_window_stands_as_it_stood_before(qtbot: QtBot, tmp_path: Path) -> None:
    first = Run(qtbot, tmp_path)
    assert not first.stood
    first.shell.setGeometry(40, 30, 800, 600)  # as large as the screen there is off screen
    first.main.panes.want(Wanted(300, 420, sidebar_open=True, inspector_open=False))
    first.hub.set_zoom(1.5)
    first.hub.set_mode("dark")
    first.main.menu.set_always(True)
    first.shell.close()
    second = Run(qtbot, tmp_path)
    assert second.stood
    assert second.shell.size().toTuple() == (800, 600)
    assert second.main.panes.wanted == Wanted(300, 420, sidebar_open=True, inspector_open=False)
    assert second.hub.zoom == 1.5
    assert second.hub.theme.dark
    assert second.main.menu.always


def test_what_changed_is_kept_before_the_window_closes(qtbot: QtBot, tmp_path: Path) -> None:
    run = Run(qtbot, tmp_path)
    run.main.panes.want(run.main.panes.wanted._replace(sidebar_open=False))
    qtbot.waitUntil(lambda: "closed" in kept.read(tmp_path).get(screens_name(), {}).get("panes", ""))


def test_the_chats_of_the_workspace_that_was_chosen_are_listed_again(qtbot: QtBot, tmp_path: Path) -> None:
    first = Run(qtbot, tmp_path)
    assert first.sidebar.workspace == ""
    first.sidebar.choose_workspace("/home/ada/my code/tidepool")
    qtbot.waitUntil(lambda: "workspace" in kept.read(tmp_path).get(screens_name(), {}))
    first.shell.close()
    second = Run(qtbot, tmp_path)
    assert second.sidebar.workspace == second.chats.workspace == "/home/ada/my code/tidepool"
    second.sidebar.choose_workspace("")
    second.shell.close()
    assert Run(qtbot, tmp_path).sidebar.workspace == ""


@pytest.mark.parametrize("name", ["two\nlines", "\udcff", "a\u2028b", "x" * 5_000, "screens"])
def test_a_workspace_of_any_name_harms_nothing_that_is_kept(qtbot: QtBot, tmp_path: Path, name: str) -> None:
    run = Run(qtbot, tmp_path)
    run.hub.set_zoom(1.5)
    run.sidebar.choose_workspace(f"/home/{name}")
    run.shell.close()
    again = Run(qtbot, tmp_path)
    assert again.hub.zoom == 1.5
    assert again.sidebar.workspace in ("", f"/home/{name}")


def test_a_workspace_is_listed_on_other_screens_too(qtbot: QtBot, tmp_path: Path) -> None:
    kept.write(tmp_path, {"other screens": {"zoom": "200", "workspace": "/home/ada/a"}})
    run = Run(qtbot, tmp_path)
    assert run.sidebar.workspace == "/home/ada/a"
    assert run.hub.zoom == 1


def test_files_stand_as_a_tree_where_they_did_before(qtbot: QtBot, tmp_path: Path) -> None:
    first = Run(qtbot, tmp_path)
    first.inspector.show_tab(1)
    first.inspector.files.layout_switch.chosen.emit(1)
    qtbot.waitUntil(lambda: kept.read(tmp_path).get(screens_name(), {}).get("files") == "tree")
    assert kept.read(tmp_path)[screens_name()]["tab"] == "1"
    first.shell.close()
    second = Run(qtbot, tmp_path)
    assert second.inspector.files.as_tree
    assert second.inspector.files.layout_switch.index == 1
    assert second.inspector.tab() == 1


def test_each_set_of_screens_has_its_own(qtbot: QtBot, tmp_path: Path) -> None:
    assert kept.write(tmp_path, {"other screens": {"zoom": "200", "panes": "300 400 open open"}})
    run = Run(qtbot, tmp_path)
    assert run.hub.zoom == 1.0
    run.shell.close()
    known = kept.read(tmp_path)
    assert known["other screens"]["zoom"] == "200"
    assert list(known)[-1] == screens_name()


@pytest.mark.parametrize(
    "text", ["", "\0\xff", "screens\n", "zoom 150\n", "screens x\nzoom\npanes 1\nplace zz\n", "screens " + "x" * 99_999]
)
def test_a_file_that_says_nothing_sensible_is_no_reason_not_to_start(qtbot: QtBot, tmp_path: Path, text: str) -> None:
    (tmp_path / kept.FILE).write_text(text.replace("screens x", f"screens {screens_name()}"), "utf-8")
    run = Run(qtbot, tmp_path)
    assert not run.stood
    assert run.hub.zoom == 1.0
    assert run.main.panes.widths == (280, 360)


def test_what_is_kept_is_bounded_and_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    many = {f"screens {number}": {"zoom": "100"} for number in range(100)}
    assert kept.write(tmp_path, many)
    assert list(kept.read(tmp_path)) == list(many)[-32:]
    (tmp_path / "file").write_text("")
    assert not kept.write(tmp_path / "file" / "state", many)
    assert kept.read(tmp_path / "nowhere") == {}


@pytest.mark.parametrize(
    "values", [{"zoom": "9999"}, {"zoom": "²"}, {"zoom": "-5"}, {"panes": "a b open open"}, {"panes": "1"}]
)
def test_values_that_cannot_be_are_left_out(values: dict[str, str]) -> None:
    assert zoom_of(values) == 1.0
    assert panes_of(values) is None


def test_every_action_is_in_one_menu() -> None:
    named = [name for menu in menus() for group in menu.groups for name in group]
    assert sorted(named) == sorted(spec.id for spec in table())
    letters = [menu.title[menu.title.index("&") + 1].lower() for menu in menus()]
    assert len(letters) == len(set(letters))


@pytest.fixture
def filled(qtbot: QtBot) -> MainWindow:
    window = MainWindow(ThemeHub("light", still=True))
    qtbot.addWidget(window)
    actions = Actions(window, mac=False)
    actions.give("toggle-sidebar", window.toggle_sidebar)
    actions.give("quit", lambda: None)
    window.install_page("transcript", QLabel())
    window.install_page("review", QLabel())
    window.show_page("transcript")
    window.menu.fill(actions)
    window.resize(1440, 900)
    window.show()
    qtbot.waitActive(window)
    return window


def test_the_menu_bar_is_there_while_alt_is_held_and_moves_nothing(qtbot: QtBot, filled: MainWindow) -> None:
    bar, centre = filled.menu.bar, filled.panes.centre
    before = centre.mapTo(filled, centre.rect().topLeft())
    head = QPoint(700, 50)  # near the lower edge of the heads of the panes
    assert not bar.isVisible()
    assert filled.menu.cover.isHidden()
    QTest.keyPress(filled, Qt.Key.Key_Alt)
    assert bar.isVisible()
    assert filled.childAt(head) is filled.menu.cover, "what is under the bar is covered as a whole, not cut through"
    assert filled.childAt(QPoint(700, 58)) is not filled.menu.cover
    assert filled.menu.cover.geometry().contains(bar.geometry())
    assert centre.mapTo(filled, centre.rect().topLeft()) == before
    QTest.keyRelease(filled, Qt.Key.Key_Alt)
    assert not bar.isVisible()
    assert filled.menu.cover.isHidden()
    filled.menu.set_always(True)
    assert filled.menu.cover.isHidden()
    qtbot.waitUntil(lambda: centre.mapTo(filled, centre.rect().topLeft()).y() == filled.menu.height > 0)
    QTest.keyRelease(filled, Qt.Key.Key_Alt)
    assert bar.isVisible()


def test_a_menu_shows_what_can_be_done_and_the_review_has_its_own_while_it_is_open(filled: MainWindow) -> None:
    def shown() -> list[str]:
        return [action.text() for action in filled.menu.bar.actions() if action.isVisible()]

    assert shown() == ["&File", "&View"]
    menu = filled.menu.bar.actions()[0].menu()
    assert isinstance(menu, QMenu)
    assert [action.text() for action in menu.actions() if action.isVisible() and action.text()] == ["Quit"]
    filled.show_page("review")
    assert "&Review" in shown()
    filled.show_page("transcript")
    assert "&Review" not in shown()


DARK = SystemColours("#000000", "#ffffff", "#3ff23f", "#1aebff", "#000000", "#8080ff", "#000000", "#ffffff")
LIGHT = SystemColours("#ffffff", "#000000", "#600000", "#37006e", "#ffffff", "#00009f", "#ffffff", "#000000")


@pytest.mark.parametrize("system", [DARK, LIGHT])
def test_high_contrast_takes_every_colour_from_the_system_and_can_be_read(qtbot: QtBot, system: SystemColours) -> None:
    tokens = load_tokens()
    theme = Theme(tokens, dark=system.dark, contrast=system)
    grounds = [
        "bg.surface",
        "bg.sidebar",
        "bg.selected",
        "bg.hover",
        "bg.pressed",
        "diff.add-line",
        "diff.del-word",
        "find.hit",
    ]
    for name in tokens.color_names():
        assert contrast_color(name, system) == theme.hex(name) == theme.color(name).name()
    for ground in grounds:
        for ink in ("text.primary", "text.tertiary", "warning.text", "diff.add-mark", "syntax.comment"):
            assert ratio(theme.hex(ink), theme.hex(ground)) >= 7
    assert ratio(theme.hex("text.on-accent"), theme.hex("accent.fill")) >= 7
    assert theme.hex("diff.add-line") == theme.hex("diff.del-line") == system.ground
    assert ratio(theme.hex("line.focus"), theme.hex("bg.surface")) >= 3


def test_the_hub_follows_what_the_system_asks_for(qtbot: QtBot) -> None:
    hub = ThemeHub("light")
    with qtbot.waitSignal(hub.changed):
        hub.set_contrast(True, DARK)
    assert hub.theme.dark
    assert hub.theme.hex("bg.surface") == DARK.ground
    with qtbot.waitSignal(hub.changed):
        hub.set_contrast(False)
    assert not hub.theme.dark
    with qtbot.waitSignal(hub.changed):
        hub.set_still(True)
    assert hub.theme.motion("fold") == 0
    FollowSystem(hub, portal=False)  # asks what can be asked here, and nothing breaks where nobody answers


@pytest.mark.parametrize(
    ("name", "value", "still"),
    [
        ("reduced-motion", 1, True),
        ("reduced-motion", 0, False),
        ("enable-animations", False, True),
        ("enable-animations", True, False),
        ("enable-animations", "no", None),
        ("reduced-motion", True, None),
        ("something", 1, None),
    ],
)
def test_what_a_desktop_says_of_motion(name: str, value: object, still: bool | None) -> None:
    assert is_still(name, value) is still
