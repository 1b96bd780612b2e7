"""A restore that did not end is said on the page of its chat, for as long as it is so."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run
from vibekit_desktop.core.types.checkpoints import Timeline
from vibekit_desktop.core.types.errors import RestoreUnfinished
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.main_window import MainWindow

UNFINISHED = Timeline(chat=samples.MAIN, entries=(), workspace_found=True, unfinished=True)
ENDED = replace(UNFINISHED, unfinished=False)
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
        hub = ThemeHub("light", still=True)
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
