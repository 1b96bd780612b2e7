"""The first run: a folder by button or drop, and what was found."""

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.sources import SourceSummary
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.first_run import FirstRun, describe

CLAUDE = SourceSummary(
    name="claude-code", label="Claude Code", root="/home/ada/.claude", sessions=38, folders=6, newest_at=samples.NOW - 60_000
)
CODEX = SourceSummary(name="codex", label="Codex", root="/home/ada/.codex", sessions=1, folders=1, newest_at=None)
NOTHING = SourceSummary(name="gemini", label="Gemini CLI", root="/home/ada/.gemini", sessions=0, folders=0, newest_at=None)


@pytest.fixture
def page(qtbot: QtBot) -> FirstRun:
    made = FirstRun(ThemeHub("light", still=True))
    qtbot.addWidget(made)
    made.resize(1160, 800)
    made.show()
    return made


def buttons(page: FirstRun) -> list[str]:
    return [button.accessibleName() for button in page.findChildren(Button) if button.isVisible()]


def test_programs_with_chats_are_listed_with_open(page: FirstRun) -> None:
    page.show_sources([CLAUDE, CODEX, NOTHING], samples.NOW)
    assert buttons(page) == ["Choose folder", "Open all 39 chats", "Open the chats of Claude Code", "Open the chats of Codex"]


def test_nothing_found_shows_no_section(page: FirstRun) -> None:
    page.show_sources([NOTHING], samples.NOW)
    assert buttons(page) == ["Choose folder"]


def test_open_names_the_program(qtbot: QtBot, page: FirstRun) -> None:
    page.show_sources([CLAUDE], samples.NOW)
    button = next(button for button in page.findChildren(Button) if button.accessibleName() == "Open the chats of Claude Code")
    with qtbot.waitSignal(page.source_opened) as opened:
        button.click()
    assert opened.args == ["claude-code"]


def test_the_rows_say_how_much_and_how_old() -> None:
    assert describe(CLAUDE, samples.NOW) == "38 chats in 6 folders · newest today"
    assert describe(CODEX, samples.NOW) == "1 chat in 1 folder"


def test_choosing_a_folder_answers_by_signal(qtbot: QtBot, page: FirstRun) -> None:
    page.zone.button.click()
    dialog = page.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    with qtbot.waitSignal(page.folder_chosen) as chosen:
        dialog.fileSelected.emit("/home/ada/code/tidepool")
    assert chosen.args == ["/home/ada/code/tidepool"]
    dialog.close()


def test_a_dropped_folder_is_taken_and_a_web_address_is_not(qtbot: QtBot, page: FirstRun) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/home/ada/code/tidepool")])
    where, copy = QPointF(20, 20), Qt.DropAction.CopyAction
    with qtbot.waitSignal(page.folder_chosen) as chosen:
        page.zone.dropEvent(QDropEvent(where, copy, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier))
    assert chosen.args == ["/home/ada/code/tidepool"]
    web = QMimeData()
    web.setUrls([QUrl("https://example.org/")])
    entering = QDragEnterEvent(where.toPoint(), copy, web, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    entering.setAccepted(False)
    page.zone.dragEnterEvent(entering)
    assert not entering.isAccepted()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_it_can_be_painted_small_and_large(qtbot: QtBot, mode: str) -> None:
    made = FirstRun(ThemeHub(mode, still=True))
    qtbot.addWidget(made)
    made.show_sources([CLAUDE, CODEX], samples.NOW)
    for size in ((1160, 800), (500, 400)):
        made.resize(*size)
        assert not made.grab().isNull()
