"""Long chats: the newest messages come first, earlier ones on request, and nothing that a person looks at moves."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run
from vibekit_desktop.core.types.chats import ChatView, Message, TurnSpan
from vibekit_desktop.core.types.events import ChatArchived, ChatDeleted, ChatUpdated, SettingChanged
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.models.blocks import CheckpointBlock, EarlierBlock, EventBlock, UserBlock
from vibekit_desktop.ui.models.chat_list import Role
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_rows import Kind
from vibekit_desktop.ui.operations.open_chat import EARLIER
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.transcript import TranscriptView

TURNS, SHOWN = 250, 20


def every_message() -> tuple[Message, ...]:
    """Two for each turn."""
    made: list[Message] = []
    for turn in range(1, TURNS + 1):
        made.append(Message(id=f"u{turn}", role="user", content=f"question {turn}", turn=turn))
        made.append(Message(id=f"a{turn}", role="assistant", content=f"answer {turn}\n\n" + "more words. " * (turn % 7 * 20)))
    return tuple(made)


def long_view(messages: tuple[Message, ...] = every_message(), shown: int = SHOWN) -> ChatView:
    view = samples.chat_view(messages[-shown:])
    spans = tuple(
        TurnSpan(turn=message.turn, first_message=index, last_message=index + 1)
        for index, message in enumerate(messages)
        if message.turn
    )
    return replace(view, turns=spans, first_index=len(messages) - shown)


def test_the_first_row_says_how_many_messages_are_earlier() -> None:
    model = TranscriptModel(lambda: samples.NOW)
    QAbstractItemModelTester(model)
    model.set_view(long_view())
    assert model.block(0) == EarlierBlock(2 * TURNS - SHOWN)
    assert model.block(1) == CheckpointBlock(TURNS - SHOWN // 2 + 1, None)
    assert model.data(model.index(0)) == "480 earlier messages"
    model.set_view(long_view(shown=2 * TURNS))
    assert model.kind(0) is Kind.CHECKPOINT, "a chat without earlier messages has no such row"


def test_earlier_messages_come_above_and_make_the_same_rows_as_if_they_had_been_there() -> None:
    messages = every_message()
    model = TranscriptModel(lambda: samples.NOW)
    QAbstractItemModelTester(model)
    model.set_view(long_view())
    whole = TranscriptModel(lambda: samples.NOW)
    whole.set_view(long_view(shown=2 * TURNS))
    while model.first_loaded:
        upto = model.first_loaded
        model.put_before(samples.MAIN, upto, messages[max(0, upto - 77) : upto])
    assert [model.key(row) for row in range(model.rowCount())] == [whole.key(row) for row in range(whole.rowCount())]
    assert [model.block(row) for row in range(model.rowCount())] == [whole.block(row) for row in range(whole.rowCount())]


def test_messages_that_are_not_the_next_ones_are_not_taken() -> None:
    messages = every_message()
    model = TranscriptModel(lambda: samples.NOW)
    model.set_view(long_view())
    before = model.rowCount()
    model.put_before(samples.MAIN, 100, messages[:100])
    model.put_before(samples.headers()[1].id, model.first_loaded, messages[:100])
    model.put_before(samples.MAIN, model.first_loaded, ())
    assert model.rowCount() == before
    assert model.first_loaded == 2 * TURNS - SHOWN


def test_a_chat_that_grows_keeps_the_earlier_messages_that_were_loaded() -> None:
    messages = every_message()
    model = TranscriptModel(lambda: samples.NOW)
    QAbstractItemModelTester(model)
    model.set_view(long_view())
    model.put_before(samples.MAIN, 480, messages[400:480])
    more = (*messages, Message(id="u251", role="user", content="question 251", turn=251))
    model.set_view(long_view(more, shown=11))  # and its older messages went into parts meanwhile
    assert model.first_loaded == 400
    assert model.block(model.rowCount() - 1) == UserBlock("question 251", "")
    assert model.block(2) == UserBlock("question 201", "")


def test_a_merged_branch_is_named() -> None:
    model = TranscriptModel(lambda: samples.NOW)
    model.set_view(samples.chat_view((Message(id="e", role="event", event_kind="merged", content="Branch: x (id)"),)))
    assert model.block(0) == EventBlock("branch", "Merged from the branch Branch: x (id)")


@pytest.fixture
def view(qtbot: QtBot) -> TranscriptView:
    model = TranscriptModel(lambda: samples.NOW)
    model.set_view(long_view())
    made = TranscriptView(ThemeHub("light", still=True), model)
    qtbot.addWidget(made)
    made.resize(800, 600)
    made.show()
    return made


def _in_sight(view: TranscriptView) -> dict[str, int]:
    """Where every prompt on the screen stands."""
    found: dict[str, int] = {}
    for row in range(view.count):
        top = view.row_top(row)
        block = view._model.block(row)
        if isinstance(block, UserBlock) and -20 < top < view.viewport().height():
            found[block.text] = top + view.gap(row)
    return found


@pytest.mark.parametrize("scroll", [0, 13, 333])
def test_nothing_in_sight_moves_when_earlier_messages_come(view: TranscriptView, scroll: int) -> None:
    view.scroll_to_row(0)
    view.scroll_by(scroll)
    before = _in_sight(view)
    assert before
    view._model.put_before(samples.MAIN, 480, every_message()[280:480])
    after = _in_sight(view)
    assert before.items() <= after.items()


def test_whoever_reads_the_end_stays_there(view: TranscriptView) -> None:
    view.scroll_to_end()
    before = _in_sight(view)
    view._model.put_before(samples.MAIN, 480, every_message()[280:480])
    assert _in_sight(view) == before
    assert view.is_at_end


def test_the_row_can_be_pressed_with_pointer_and_keyboard(qtbot: QtBot, view: TranscriptView) -> None:
    view.scroll_to_row(0)
    (hit,) = view.lay_out(0).hits
    place = hit.box.center().toPoint() + QPoint(view.column_left(), view.row_top(0) + view.gap(0))
    with qtbot.waitSignal(view.earlier_requested):
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.keyClick(view, Qt.Key.Key_Home)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    with qtbot.waitSignal(view.earlier_requested):
        qtbot.keyClick(view, Qt.Key.Key_Return)
    view._model.put_before(samples.MAIN, 480, every_message()[280:480])
    assert view._current == -1, "the row that was current is none any more"


# -- the whole window ----------------------------------------------------------------------------------------------


class Program:
    """The window over a core with one long chat."""

    def __init__(self, qtbot: QtBot, *, own_theme: bool = False) -> None:
        self.fake = FakeCore()
        self.view = long_view()
        self.fake.chats.headers = samples.headers()
        self.fake.chats.views = {samples.MAIN: self.view}
        self.fake.chats.older = {samples.MAIN: every_message()}
        self.fake.checkpoints.timelines = {samples.MAIN: samples.timeline()}
        self.hub = ThemeHub("light", still=True)
        self.window = MainWindow(self.hub)
        qtbot.addWidget(self.window)
        self.window.resize(1440, 600)
        self.conductor = Conductor(self.fake.core, self.hub, self.window, own_theme=own_theme)
        self.window.show()
        self.do()

    def do(self, *events: ChatArchived | ChatDeleted | ChatUpdated | SettingChanged) -> None:
        async def story() -> None:
            if self.conductor.open.chat is None and not events:
                await self.conductor.start(open_chat=samples.MAIN, view=None, recover=None)
            for event in events:
                self.fake.publish(event)
            await self.conductor.settled()

        run(story())

    def rows(self) -> list[str]:
        model = self.conductor.chats
        return [str(model.data(model.index(row), Role.CHAT)) for row in range(model.rowCount())]


def _running(qtbot: QtBot, *, own_theme: bool) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot, own_theme=own_theme)
        yield made
        made.conductor.close()
        bury(made.window)


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    yield from _running(qtbot, own_theme=False)


@pytest.fixture
def program_with_own_look(qtbot: QtBot) -> Iterator[Program]:
    yield from _running(qtbot, own_theme=True)


def test_earlier_messages_are_read_in_steps(program: Program) -> None:
    page = program.conductor.page.transcript
    page.earlier_requested.emit()
    page.earlier_requested.emit()  # pressed twice: read once
    program.do()
    asked = [call for call in program.fake.chats.calls if call[0] == "earlier"]
    assert asked == [("earlier", (samples.MAIN, 480, EARLIER))]
    assert program.conductor.transcript.first_loaded == 280
    page.earlier_requested.emit()
    program.do()
    page.earlier_requested.emit()
    program.do()
    assert program.conductor.transcript.first_loaded == 0
    assert program.conductor.transcript.kind(0) is Kind.CHECKPOINT


def test_a_chat_deleted_elsewhere_goes_and_its_page_says_so(program: Program) -> None:
    program.do(ChatDeleted(samples.MAIN))
    assert samples.MAIN not in program.rows()
    assert program.window.page == "empty"
    assert program.conductor.empty.accessibleName().startswith("This chat was deleted.")
    assert program.conductor.open.chat is None
    assert ("hold_open", (None,)) in program.fake.chats.calls


def test_another_chat_deleted_elsewhere_only_loses_its_row(program: Program) -> None:
    other = samples.headers()[1].id
    program.do(ChatDeleted(other))
    assert other not in program.rows()
    assert program.conductor.open.chat == samples.MAIN
    assert program.window.page == "transcript"


def test_a_chat_archived_elsewhere_leaves_the_list_and_can_be_read_on(program: Program) -> None:
    archived = replace(program.view, header=replace(program.view.header, archived=True))
    program.fake.chats.views[samples.MAIN] = archived
    program.do(ChatArchived(samples.MAIN))
    assert samples.MAIN not in program.rows()
    assert program.conductor.page.banner.accessibleName() == "This chat is archived."
    program.do(ChatUpdated(archived.header))
    assert samples.MAIN not in program.rows(), "news of an archived chat brings no row back"
    program.fake.chats.views[samples.MAIN] = program.view
    program.do(ChatUpdated(program.view.header))
    assert samples.MAIN in program.rows()
    assert not program.conductor.page.banner.isVisible()


def test_the_open_chat_is_held_open(program: Program) -> None:
    assert ("hold_open", (samples.MAIN,)) in program.fake.chats.calls


def test_the_window_looks_as_the_setting_says_and_follows_it(program: Program) -> None:
    assert program.hub.mode == "system"
    program.do(SettingChanged("theme", "dark"))
    assert program.hub.mode == "dark"
    program.do(SettingChanged("store.budget_gb", 7))
    assert program.hub.mode == "dark"


def test_a_look_chosen_for_this_run_stays(program_with_own_look: Program) -> None:
    program_with_own_look.do(SettingChanged("theme", "dark"))
    assert program_with_own_look.hub.mode == "light"
