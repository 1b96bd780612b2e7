"""The files that calls were about can be opened where an answer names them; to find them holds up nothing."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.types.chats import DiffFragment, Location, Message, ToolCall
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.models.named_files import AT_A_TIME, named_files
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.main_window import MainWindow

ROOT = "/home/ada/code/tidepool"


def call_about(*paths: str) -> Message:
    return Message(role="assistant", tool_calls=(ToolCall(locations=tuple(Location(path=path) for path in paths)),))


def test_paths_of_calls_are_told_as_they_are_in_the_workspace() -> None:
    edit = ToolCall(diffs=(DiffFragment(path=f"{ROOT}/docs/b.md"), DiffFragment(path="C:\\other\\c.md")))
    told = [call_about(f"{ROOT}/src/a.py", "/etc/hosts", "x/../../y", ""), Message(role="assistant", tool_calls=(edit,))]
    found = {"known.py"}
    for _ in named_files(told, ROOT, found):
        pass
    assert found == {"known.py", "src/a.py", "docs/b.md"}


def test_one_call_about_a_crowd_of_files_is_looked_at_in_steps() -> None:
    count, found = 50 * AT_A_TIME, set[str]()
    steps = sum(1 for _ in named_files([call_about(*(f"{ROOT}/f{n}.py" for n in range(count)))], ROOT, found))
    assert steps >= 50
    assert len(found) == count


class Program:
    """The window over a core whose chat is about a crowd of files."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        view = samples.chat_view((call_about(*(f"{ROOT}/f{n}.py" for n in range(40_000))),))
        self.fake.chats.headers = samples.headers()
        self.fake.chats.views = {samples.MAIN: view, samples.headers()[1].id: samples.chat_view(())}
        self.fake.checkpoints.timelines = {samples.MAIN: samples.timeline()}
        self.window = MainWindow(ThemeHub("light", still=True))
        qtbot.addWidget(self.window)
        self.conductor = Conductor(self.fake.core, ThemeHub("light", still=True), self.window)


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        yield made
        made.conductor.close()
        bury(made.window)


def test_a_crowd_of_files_is_there_a_moment_after_the_timeline(program: Program) -> None:
    view = program.conductor.page.transcript
    then: list[bool] = []
    program.conductor.open.timeline_read.connect(lambda _: then.append("f39999.py" in view._files))

    async def story() -> None:
        await program.conductor.start(open_chat=samples.MAIN, view=None, recover=None)
        await until(lambda: "f39999.py" in view._files)

    run(story())
    assert then == [False]
