"""Another process works on the open chat: the window shows it, and nothing that a person looks at moves."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.types.chats import Block, ChatView, Message
from vibekit_desktop.core.types.checkpoints import ChangeStatus, EntryKind, TimelineEntry
from vibekit_desktop.core.types.events import ChatUpdated, HistoryGrew, WorkspaceMoved
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.models.chat_list import ChatRow
from vibekit_desktop.ui.models.timeline_rows import RowKind
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.main_window import MainWindow


class Program:
    """The window over a core in which another process has something to tell."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        self.view = samples.chat_view()
        self.fake.chats.headers = samples.headers()
        self.fake.chats.views = {samples.MAIN: self.view}
        self.fake.checkpoints.timelines = {samples.MAIN: samples.timeline()}
        hub = ThemeHub("light", still=True)
        self.window = MainWindow(hub)
        qtbot.addWidget(self.window)
        self.window.resize(1440, 600)
        self.conductor = Conductor(self.fake.core, hub, self.window)
        self.window.show()

        async def story() -> None:
            await self.conductor.histories.list_chats()
            await self.conductor.open.open(samples.MAIN)
            await until(lambda: not self.conductor._look_again.isActive())  # the window came to the front
            await self.conductor.settled()

        run(story())
        self.fake.chats.calls.clear()
        self.fake.checkpoints.calls.clear()

    def grow(self, said: str = "next") -> ChatView:
        """One more turn, in the transcript and in the timeline."""
        turn = max(message.turn for message in self.view.messages) + 1
        answer = Message(id=f"a{turn}", role="assistant", content="Done.", blocks=(Block(text="Done."),))
        messages = (*self.view.messages, Message(id=f"u{turn}", role="user", content=said, turn=turn), answer)
        made = samples.chat_view(messages)
        header = replace(self.view.header, message_count=len(messages), updated_at=samples.NOW + turn)
        self.view = replace(made, header=header)
        self.fake.chats.views[samples.MAIN] = self.view
        before = self.fake.checkpoints.timelines[samples.MAIN]
        files = (samples.change("src/new.py", ChangeStatus.ADDED, 1, 0),)
        entry = TimelineEntry(kind=EntryKind.TURN, turn=turn, at=header.updated_at, prompt=said, files=files)
        after = replace(before, entries=(*before.entries[:-1], entry, before.entries[-1]))
        self.fake.checkpoints.timelines[samples.MAIN] = after
        return self.view

    def asked(self) -> list[str]:
        """What was read since the last time."""
        calls = [*self.fake.chats.calls, *self.fake.checkpoints.calls]
        self.fake.chats.calls.clear()
        self.fake.checkpoints.calls.clear()
        return [name for name, _ in calls if name in ("open", "timeline")]

    def go_away(self) -> None:
        """The folder of the chat is renamed."""
        self._found(False)

    def come_back(self) -> None:
        self._found(True)

    def _found(self, found: bool) -> None:
        views, timelines = self.fake.chats.views, self.fake.checkpoints.timelines
        views[samples.MAIN] = self.view = replace(self.view, workspace_found=found)
        timelines[samples.MAIN] = replace(timelines[samples.MAIN], workspace_found=found)

    def turns(self) -> list[int]:
        return [row.number for row in self.conductor.inspector.timeline_model.rows if row.kind is RowKind.TURN]

    def hear(self, *events: ChatUpdated | HistoryGrew | WorkspaceMoved) -> None:
        async def story() -> None:
            for event in events:
                self.fake.publish(event)
            await self.conductor.settled()
            await settle()

        run(story())


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        found = Program(qtbot)
        yield found
        found.conductor.close()
        bury(found.window)


GREW = HistoryGrew(samples.MAIN, samples.WORKSPACE)


def test_a_turn_of_another_process_comes_into_transcript_timeline_and_list(program: Program) -> None:
    view = program.grow("Look here")
    program.hear(ChatUpdated(view.header), GREW)
    assert program.asked() == ["open", "timeline"], "a crowd of news is read once"
    assert program.turns()[0] == 6
    model = program.conductor.transcript
    shown = [model.data(model.index(row)) for row in range(model.rowCount())]
    assert any("Look here" in str(text) for text in shown)
    rows = [row for row in program.conductor.chats._rows if isinstance(row, ChatRow)]
    assert rows[0].header == view.header, "its row moved to the top"
    sidebar = program.conductor.sidebar.list
    assert sidebar.currentIndex().row() == program.conductor.chats.row_of(samples.MAIN), "and is still the one marked"


def test_a_line_in_the_log_alone_reads_the_timeline_alone(program: Program) -> None:
    program.hear(GREW)
    assert program.asked() == ["timeline"]
    program.hear(HistoryGrew(samples.BRANCH, samples.WORKSPACE))
    assert program.asked() == ["timeline"], "another chat in the same workspace changes what Now shows"
    program.hear(HistoryGrew(samples.BRANCH, "/home/ada/code/lantern"))
    program.hear(ChatUpdated(program.view.header), ChatUpdated(samples.headers()[3]))
    assert program.asked() == [], "nothing of it is in sight"


def test_whoever_reads_in_the_middle_goes_on_seeing_the_same(program: Program) -> None:
    transcript, timeline = program.conductor.page.transcript, program.conductor.inspector.timeline
    transcript.scroll_to_row(4)
    transcript.scroll_by(20)
    timeline.executeDelayedItemsLayout()
    timeline.verticalScrollBar().setValue(150)
    model = program.conductor.inspector.timeline_model
    top = timeline.indexAt(timeline.viewport().rect().topLeft())
    key = model.rows[top.row()].key
    timeline.setCurrentIndex(top)
    timeline.verticalScrollBar().setValue(timeline.verticalScrollBar().value() + 9)
    place = timeline.visualRect(top).top()
    place_in_transcript = transcript.top_row, transcript.row_top(transcript.top_row)
    for _ in range(3):
        program.hear(ChatUpdated(program.grow().header), GREW)
    assert program.turns()[0] == 8
    assert (transcript.top_row, transcript.row_top(transcript.top_row)) == place_in_transcript
    index = model.index(model.row_of_key(key))
    assert index.row() > top.row(), "rows came in above"
    assert timeline.visualRect(index).top() == place
    assert timeline.currentIndex() == index


def test_whoever_reads_at_the_end_sees_the_news(program: Program) -> None:
    transcript = program.conductor.page.transcript
    transcript.scroll_to_end()
    program.hear(ChatUpdated(program.grow().header), GREW)
    assert transcript.is_at_end


def test_news_after_the_window_closed_reads_nothing(program: Program) -> None:
    async def story() -> None:
        program.fake.publish(ChatUpdated(program.grow().header))
        program.conductor.close()
        await until(lambda: not program.conductor.bridge.running)
        await settle()

    run(story())
    assert program.asked() == []


def test_a_folder_that_goes_while_its_chat_is_open_is_noticed(program: Program) -> None:
    program.go_away()
    program.hear(WorkspaceMoved("/home/ada/code/lantern"))
    assert program.asked() == []
    program.hear(WorkspaceMoved(samples.WORKSPACE))
    assert program.asked() == ["open", "timeline"]
    assert program.conductor.page.banner.accessibleName().startswith("tidepool was not found where it was.")
    program.come_back()
    program.hear(WorkspaceMoved(samples.WORKSPACE))
    assert not program.conductor.page.banner.accessibleName().startswith("tidepool was not found where it was.")


def test_a_timeline_without_its_folder_is_reason_to_read_the_chat_again_once(program: Program) -> None:
    timeline = program.fake.checkpoints.timelines[samples.MAIN]
    program.fake.checkpoints.timelines[samples.MAIN] = replace(timeline, workspace_found=False)
    program.hear(GREW)
    assert program.asked() == ["open", "timeline", "timeline"]
    program.hear(GREW)
    assert program.asked() == ["timeline"], "they go on disagreeing"
    program.go_away()
    program.hear(GREW, ChatUpdated(replace(program.view.header, updated_at=program.view.header.updated_at + 1)))
    program.asked()
    program.come_back()
    program.hear(GREW)
    assert program.asked() == ["open", "timeline", "timeline"]


def test_rescan_looks_at_the_folder_of_the_open_chat_too(program: Program) -> None:
    program.go_away()
    program.conductor.keys.actions["rescan"].trigger()
    program.hear()
    assert program.conductor.page.banner.accessibleName().startswith("tidepool was not found where it was.")
