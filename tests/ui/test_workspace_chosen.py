"""The workspace that was chosen before the last start: its newest chat is shown, and if it is gone all chats are."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.main_window import MainWindow

ORCHARD = next(header for header in samples.headers() if header.workspace.endswith("orchard-api"))


class Program:
    """The window over a core with chats of several workspaces."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        self.fake.chats.headers = sorted(samples.headers(), key=lambda header: -header.updated_at)
        self.fake.chats.views = {header.id: samples.chat_view(()) for header in samples.headers()}
        self.fake.checkpoints.timelines = {header.id: samples.timeline() for header in samples.headers()}
        self.window = MainWindow(ThemeHub("light", still=True))
        qtbot.addWidget(self.window)
        self.conductor = Conductor(self.fake.core, ThemeHub("light", still=True), self.window)

    def start(self, workspace: str) -> None:
        self.conductor.sidebar.choose_workspace(workspace)
        run(self.conductor.start(open_chat=None, view=None, recover=None))


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        yield made
        made.conductor.close()
        bury(made.window)


def test_the_newest_chat_of_the_workspace_that_is_listed_is_shown(program: Program) -> None:
    program.start(ORCHARD.workspace)
    assert program.conductor.open.chat == ORCHARD.id
    assert program.conductor.sidebar.workspace == ORCHARD.workspace


def test_of_a_workspace_that_is_gone_nothing_is_asked_for(program: Program) -> None:
    program.start("/home/ada/code/was-here")
    assert program.conductor.sidebar.workspace == ""
    assert program.conductor.chats.workspace == ""
    assert program.conductor.open.chat == program.fake.chats.headers[0].id
