"""A restore that did not end is said on the page of its chat while it is so; one that is not ours can be ended there."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run
from vibekit_desktop.core.types.checkpoints import Timeline
from vibekit_desktop.core.types.errors import Busy, CoreError, LogDamaged, RestoreUnfinished
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.main_window import MainWindow

UNFINISHED = Timeline(chat=samples.MAIN, entries=(), workspace_found=True, unfinished=True)
ENDED = replace(UNFINISHED, unfinished=False)
ASKING = replace(UNFINISHED, to_answer=True)
LEAVE = "Leave the files as they are"
DONE = "The restore was ended. The files stay as they are."
SAID = "A restore of this chat began and did not end. Some of its files may be put back and others not."


class Program:
    """The window over a core with one chat, and perhaps another one."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        view = samples.chat_view()
        self.fake.chats.headers = [view.header, replace(view.header, id=samples.BRANCH)]
        self.fake.chats.views = {
            samples.MAIN: view,
            samples.BRANCH: replace(view, header=replace(view.header, id=samples.BRANCH)),
        }
        hub = self.hub = ThemeHub("light", still=True)
        self.window = MainWindow(hub)
        qtbot.addWidget(self.window)
        self.conductor = Conductor(self.fake.core, hub, self.window)
        self.window.show()

    def open(self, timeline: Timeline) -> None:
        self.fake.checkpoints.timelines[timeline.chat] = timeline

        async def story() -> None:
            await self.conductor.open.open(timeline.chat)
            await self.conductor.settled()

        run(story())

    def look_again(self, timeline: Timeline) -> None:
        self.fake.checkpoints.timelines[timeline.chat] = timeline

        async def story() -> None:
            self.conductor.open.reload()
            await self.conductor.settled()

        run(story())

    def press(self, do: Callable[[QPushButton], None]) -> None:
        """Do something with the banner's button, and let come of it what comes."""

        async def story() -> None:
            assert self.button is not None
            do(self.button)
            await self.conductor.settled()

        run(story())

    @property
    def button(self) -> QPushButton | None:
        (found,) = self.conductor.page.banner.findChildren(QPushButton)
        return found if found.isVisible() else None

    @property
    def asked(self) -> list[str]:
        """What was asked of the core beyond looking."""
        looks = ("timeline", "pins", "placed_conflicts")
        return [name for name, _ in self.fake.checkpoints.calls if name not in looks]

    @property
    def said(self) -> str:
        banner = self.conductor.page.banner
        return banner.accessibleName() if banner.isVisible() else ""


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        found = Program(qtbot)
        yield found
        found.conductor.close()
        bury(found.window)


def test_the_page_says_it_and_takes_it_back_when_it_has_ended(program: Program) -> None:
    program.open(UNFINISHED)
    assert program.said == SAID
    program.look_again(UNFINISHED)
    assert program.said == SAID
    program.look_again(ENDED)
    assert program.said == ""


def test_it_is_not_said_of_the_next_chat(program: Program) -> None:
    program.open(UNFINISHED)
    program.open(replace(ENDED, chat=samples.BRANCH))
    assert program.said == ""


def test_a_missing_workspace_is_said_first(program: Program) -> None:
    view = program.fake.chats.views[samples.MAIN]
    program.fake.chats.views[samples.MAIN] = replace(view, workspace_found=False)
    program.open(UNFINISHED)
    assert "not found" in program.said
    assert program.button is not None
    assert program.button.text() == "Locate…"


def test_only_what_waits_for_an_answer_has_a_button(program: Program) -> None:
    program.open(UNFINISHED)
    assert (program.said, program.button) == (SAID, None)
    program.look_again(ASKING)
    assert program.said == SAID
    assert program.button is not None
    assert (program.button.text(), program.button.accessibleName()) == (LEAVE, LEAVE)
    program.open(replace(UNFINISHED, chat=samples.BRANCH))
    assert (program.said, program.button) == (SAID, None)


def test_the_button_asks_nothing_ends_the_restore_and_the_banner_goes(program: Program) -> None:
    program.open(ASKING)
    program.press(QPushButton.click)
    assert program.asked == ["leave_unfinished"]
    assert (program.said, program.button) == ("", None)
    assert program.conductor.notifier.shown == DONE


def test_the_button_is_pressed_by_the_keyboard_and_the_focus_stays_on_the_page(program: Program) -> None:
    program.open(ASKING)
    button = program.button
    assert button is not None
    program.conductor.page.header.setFocus()
    for _ in range(12):
        QTest.keyClick(QApplication.focusWidget() or program.window, Qt.Key.Key_Tab)
        if button.hasFocus():
            break
    assert button.hasFocus()
    program.press(lambda found: QTest.keyClick(found, Qt.Key.Key_Space))
    assert program.asked == ["leave_unfinished"]
    assert program.said == ""
    assert program.conductor.page.transcript.hasFocus()


def test_pressed_twice_it_is_ended_once_and_nothing_is_wrong(program: Program) -> None:
    program.open(ASKING)

    def twice(button: QPushButton) -> None:
        button.click()
        button.click()

    program.press(twice)
    assert program.conductor.notifier.shown == DONE
    assert program.said == ""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (LogDamaged(samples.MAIN, (3,)), "1 line of this chat's record can't be read."),
        (Busy("another window"), "The workspace's store is in use by another window."),
    ],
)
def test_an_answer_that_cannot_be_kept_is_told_and_can_be_given_again(program: Program, error: CoreError, told: str) -> None:
    program.open(ASKING)
    program.fake.checkpoints.raises["leave_unfinished"] = error
    program.press(QPushButton.click)
    assert program.conductor.notifier.shown.startswith(told)
    assert program.said == SAID
    program.press(QPushButton.click)
    assert program.asked == ["leave_unfinished", "leave_unfinished"]
    assert program.said == ""


def test_where_that_program_ended_it_meanwhile_the_banner_goes(program: Program) -> None:
    program.open(ASKING)
    program.fake.checkpoints.timelines[samples.MAIN] = ENDED
    program.press(QPushButton.click)
    assert program.conductor.notifier.shown == "", "it was not ended by us, and nothing failed"
    assert program.said == ""


@pytest.mark.parametrize("zoom", [0.8, 1.0, 1.3])
def test_the_sentence_and_the_button_have_room_beside_each_other(program: Program, zoom: float) -> None:
    program.open(ASKING)
    banner, button = program.conductor.page.banner, program.button
    assert button is not None
    program.hub.set_zoom(zoom)
    for width in (1440, 1024, 800):
        program.window.resize(width, 700)
        QApplication.processEvents()
        assert banner.rect().contains(button.geometry()), width
        assert button.width() >= button.sizeHint().width(), width
        assert button.x() >= 144, width


@pytest.mark.parametrize(
    ("reason", "title"),
    [
        ("original", "Another program began to restore this chat's files and did not end."),
        ("other-vault", "This record holds a restore that was begun in another folder."),
        ("damaged", "An interrupted restore could not be finished."),
    ],
)
def test_what_was_refused_for_it_says_why(qtbot: QtBot, reason: str, title: str) -> None:
    found = sentence(RestoreUnfinished(samples.MAIN, reason))
    assert found.title == title
    assert bool(found.action) is (reason == "damaged"), "trying again helps only where something can be put right"
