"""Text of the transcript is chosen across messages, copied as words and as Markdown, and found in the whole chat."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import Block, ChatView, Message
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_find import AT_A_TIME, Finds, Pattern, Place
from vibekit_desktop.ui.models.transcript_rows import Kind
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.select_list import Spot
from vibekit_desktop.ui.views.transcript import TranscriptView

ANSWER = "The **writer** keeps `rows`.\n\n```python\nrow = 1\n```\n\nThat is all."
SHIFT = Qt.KeyboardModifier.ShiftModifier


def ask(turn: int, text: str) -> Message:
    return Message(id=f"u{turn}", role="user", ts=turn * 60_000, content=text, turn=turn)


def answer(turn: int, text: str) -> Message:
    return Message(id=f"a{turn}", role="assistant", ts=turn * 60_000 + 9, blocks=(Block(type="text", text=text),))


SHORT = (ask(1, "Does it keep rows?"), answer(1, ANSWER))


@pytest.fixture
def model(qtbot: QtBot) -> TranscriptModel:
    made = TranscriptModel(lambda: samples.NOW)
    made.set_view(samples.chat_view(SHORT))
    return made


@pytest.fixture
def view(qtbot: QtBot, model: TranscriptModel) -> Iterator[TranscriptView]:
    made = TranscriptView(ThemeHub("light", still=True), model)
    qtbot.addWidget(made)
    made.resize(800, 600)
    made.show()
    made.grab()
    yield made
    QGuiApplication.clipboard().clear()


def row_of(model: TranscriptModel, kind: Kind) -> int:
    return next(row for row in range(model.rowCount()) if model.kind(row) is kind)


def copied(qtbot: QtBot, view: TranscriptView, *, as_markdown: bool = False) -> str:
    with qtbot.waitSignal(view.copied):
        view.copy_selection(as_markdown=as_markdown)
    return QGuiApplication.clipboard().text()


def far(count: int) -> tuple[Message, ...]:
    """Questions and answers; every hundredth answer has the word "needle" twice."""
    made: list[Message] = []
    for turn in range(1, count // 2 + 1):
        words = "needle and needle" if turn % 100 == 0 else "words that go on and on"
        made += (ask(turn, f"Question {turn}"), answer(turn, f"{words} in answer {turn}"))
    return tuple(made)


def test_everything_can_be_chosen_and_is_copied_as_it_was_written(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel
) -> None:
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    found = view.selection
    assert found is not None
    assert (found[0], found[1].row) == (Spot(0, 0), model.rowCount() - 1)
    markdown = copied(qtbot, view, as_markdown=True)
    assert "Does it keep rows?" in markdown
    assert ANSWER in markdown
    data = QGuiApplication.clipboard().mimeData()
    assert bytes(data.data("text/markdown").data()).decode() == markdown


def test_a_drag_chooses_from_one_message_into_the_next(qtbot: QtBot, view: TranscriptView, model: TranscriptModel) -> None:
    question, said = row_of(model, Kind.USER), row_of(model, Kind.ANSWER)
    start = QPoint(view.column_left() + 17, view.row_top(question) + view.gap(question) + 22)
    end = QPoint(view.column_left() + 400, view.row_top(said) + view.gap(said) + 8)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    for place in (start + QPoint(40, 10), end):
        qtbot.mouseMove(view.viewport(), place)
    # The offscreen platform sends moves without buttons: what a held button does is asked for itself.
    view.select(view.spot_at(start.toPointF()), view.spot_at(end.toPointF()))
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=end)
    words = copied(qtbot, view)
    assert words == "Does it keep rows?\n\nThe writer keeps rows."


def test_shift_and_the_arrows_choose_by_characters_and_lines(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel
) -> None:
    question = row_of(model, Kind.USER)
    view.select(Spot(question, 5), Spot(question, 5))
    assert view.selection is None
    for _ in range(3):
        qtbot.keyClick(view, Qt.Key.Key_Right, SHIFT)
    assert copied(qtbot, view) == "it "
    qtbot.keyClick(view, Qt.Key.Key_End, SHIFT)
    assert copied(qtbot, view) == "it keep rows?"
    qtbot.keyClick(view, Qt.Key.Key_Down, SHIFT)
    found = view.selection
    assert found is not None
    assert found[1].row > question
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert view.selection is None


def test_a_double_click_chooses_a_word(qtbot: QtBot, view: TranscriptView, model: TranscriptModel) -> None:
    question = row_of(model, Kind.USER)
    text = view.lay_out(question)
    place = text.box_of(6).center()  # type: ignore[attr-defined]  # a row of text has it
    point = QPoint(view.column_left() + round(place.x()) + 2, view.row_top(question) + view.gap(question) + round(place.y()))
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert copied(qtbot, view) == "it"


def test_what_is_chosen_stays_when_earlier_messages_come_above(view: TranscriptView, model: TranscriptModel) -> None:
    whole = far(60)
    model.set_view(None)
    model.set_view(tail(whole, 40))
    row = model.rowCount() - 2
    view.select(Spot(row, 0), Spot(row, 5))
    key = model.key(row)
    model.put_before(samples.MAIN, 40, whole[:40], samples.chat_view(whole).turns)
    found = view.selection
    assert found is not None
    assert model.key(found[0].row) == key
    assert (found[0].at, found[1].at) == (0, 5)


def tail(whole: tuple[Message, ...], first: int) -> ChatView:
    """A chat of which only the messages from an index on are loaded."""
    view = samples.chat_view(whole)
    return replace(
        view, messages=whole[first:], first_index=first, turns=tuple(one for one in view.turns if one.first_message >= first)
    )


def test_choosing_all_of_many_messages_lays_few_of_them_out(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(far(20_000)))
    view.select_all()
    view.grab()
    assert view.laid_out < 130


def test_a_far_row_is_gone_to_without_laying_out_what_lies_between(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(far(20_000)))
    view.grab()
    view.reveal(0)
    assert view.laid_out < 180
    assert 0 <= view.row_top(0) < view.viewport().height()
    view.scroll_by(400_000)
    view.grab()
    assert view.laid_out < 180
    assert view.top_row > 1_000


def test_find_counts_everything_and_goes_from_place_to_place(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel
) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(far(2_000)))
    view.finding.open("needle")
    qtbot.waitUntil(lambda: view.finding.count == 20)
    first = view.finding.place
    view.finding.step(1)
    second = view.finding.place
    assert first is not None
    assert second is not None
    assert (second.message - first.message, second.nth - first.nth) in ((0, 1), (200, -1))
    row = next(row for row in view.views if model.key(row)[1] == second.message and model.kind(row) is Kind.ANSWER)
    fills = [mark.fill for mark in view.marks(row)]
    assert sorted(fills) == ["find.hit", "find.hit-current"]
    assert 0 <= view.row_top(row) < view.viewport().height()


def test_find_asks_for_messages_that_are_not_loaded_and_shows_a_place_there(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel
) -> None:
    whole = far(1_000)
    model.set_view(None)
    model.set_view(tail(whole, 900))
    asked: list[int] = []
    wanted: list[int] = []

    def earlier(upto: int) -> None:
        asked.append(upto)
        view.finding.earlier(upto, whole[max(0, upto - 500) : upto])

    view.finding.earlier_wanted.connect(earlier, Qt.ConnectionType.QueuedConnection)
    view.finding.load_wanted.connect(wanted.append)
    view.finding.open("NEEDLE")
    qtbot.waitUntil(lambda: view.finding.count == 10)
    assert asked == [900, 400]
    here = view.finding.place
    assert here is not None
    assert here.message >= 900, "it stays the place that was gone to"
    while view.finding.place != Place(199, 0, 0):
        view.finding.step(1)
    assert wanted[-1] == 199
    model.put_before(samples.MAIN, 900, whole[:900], samples.chat_view(whole).turns)
    row = next(row for row in range(model.rowCount()) if model.key(row)[1] == 199 and model.kind(row) is Kind.ANSWER)
    assert 0 <= view.row_top(row) < view.viewport().height()


def test_earlier_messages_that_cannot_be_read_are_said(qtbot: QtBot, view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(tail(far(1_000), 900))
    view.finding.earlier_wanted.connect(lambda upto: view.finding.earlier(upto, ()), Qt.ConnectionType.QueuedConnection)
    view.finding.open("needle")
    qtbot.waitUntil(lambda: "could not be read" in view.finding.words)
    assert view.finding.count == 2


def test_marks_of_markdown_are_no_part_of_what_is_found() -> None:
    finds = Finds(Pattern("writer keeps rows"), 0)
    for _ in finds.look_on(SHORT, 0):
        pass
    assert [finds[number] for number in range(len(finds))] == [Place(1, 0, 0)]
    assert Pattern("Row", match_case=True).times("row Row ROW") == 1
    assert Pattern("(a+").spans("(a+ (A+") == [(0, 3), (4, 7)]
    assert Pattern("words").times("[words](words) [words](wo(rds)words) [words]() ![words](words words)") == 4
    assert Pattern("words").times("[words] (words) [words](words [words]") == 5


def steps_of(finds: Finds, told: Sequence[Message]) -> int:
    """In how many steps messages are looked through."""
    return sum(1 for _ in finds.look_on(told, 0))


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_long_message_is_looked_through_in_steps(role: str) -> None:
    text = "the writer keeps rows " * 30_000
    for told in (Message(id="m", role=role, content=text), Message(id="m", role=role, blocks=(Block(type="text", text=text),))):
        if told.content or role == "assistant":
            finds = Finds(Pattern("r"), 0)
            assert steps_of(finds, [told]) >= len(text) // (2 * AT_A_TIME)
            assert len(finds) == text.count("r")


def test_many_short_texts_are_looked_through_in_steps() -> None:
    finds = Finds(Pattern("needle"), 0)
    block = Block(type="text", text="a needle")
    assert steps_of(finds, [Message(id="m", role="assistant", blocks=(block,) * 20_000)]) > 50
    assert len(finds) == 20_000
    assert finds[19_999] == Place(0, 19_999, 0)


def test_a_place_where_two_steps_meet_is_found_once() -> None:
    for shift in range(10):
        text = "x" * (AT_A_TIME - shift) + "needle" + "x" * AT_A_TIME + "needle"
        finds = Finds(Pattern("needle"), 0)
        steps_of(finds, [Message(id="m", role="user", content=text)])
        assert len(finds) == 2
    finds = Finds(Pattern("xx"), 0)
    steps_of(finds, [Message(id="m", role="user", content="x" * (3 * AT_A_TIME + 1))])
    assert len(finds) == (3 * AT_A_TIME + 1) // 2


@pytest.mark.parametrize("unit", ["[", "[a](b", "[a](b(", "![", "](", "`", "*", "# ", "~~~", "(", "[a](b(c)"])
def test_a_text_of_nothing_but_signs_of_markdown_is_looked_through_at_once(unit: str) -> None:
    assert Pattern("needle").times(unit * (60_000 // len(unit)) + "\nneedle") == 1
