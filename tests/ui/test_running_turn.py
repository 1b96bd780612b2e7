"""A running turn in the transcript's view: it is followed only from the end, costs what is new, and moves only what moves."""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from tests.ui import running_samples as running
from tests.ui import samples
from vibekit_desktop.core.types.agents import Operation, Question
from vibekit_desktop.core.types.chats import Block, Message, ToolCall
from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.models.block_words import spoken
from vibekit_desktop.ui.models.blocks import AnswerBlock
from vibekit_desktop.ui.models.markdown import arrived
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_rows import Kind
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.views.answer import AnswerView
from vibekit_desktop.ui.views.block_view import BlockView, Hit, PaintState
from vibekit_desktop.ui.views.heights import Heights
from vibekit_desktop.ui.views.latest import LatestPill
from vibekit_desktop.ui.views.tool_cards import CardsView
from vibekit_desktop.ui.views.transcript import TranscriptView

LONG = "A paragraph of some length that wraps when the window is not too wide, and then some more of it. " * 3


class Watched(TranscriptView):
    """The view, counting what it lays out: all rows, and the parts of answers that were not there before."""

    rows = 0
    parts = 0

    def make_block(self, row: int) -> BlockView:
        made = super().make_block(row)
        self.rows += 1
        self.parts += made.fresh if isinstance(made, AnswerView) else 0
        return made

    def take(self) -> tuple[int, int]:
        found, self.rows, self.parts = (self.rows, self.parts), 0, 0
        return found


def make(qtbot: QtBot, *, still: bool = True) -> tuple[TranscriptModel, Watched]:
    model = TranscriptModel(lambda: samples.NOW)
    view = Watched(ThemeHub("light", still=still), model)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    model.set_view(samples.chat_view())
    model.set_timeline(samples.timeline())
    model.set_live(running.RUNNING)
    model.append(samples.MAIN, running.PROMPT)
    view.scroll_to_end()
    return model, view


@pytest.fixture
def shown(qtbot: QtBot) -> tuple[TranscriptModel, Watched]:
    return make(qtbot)


def say(model: TranscriptModel, *blocks: Block, calls: tuple[ToolCall, ...] = ()) -> None:
    model.stream(samples.MAIN, running.TURN, running.answer(*blocks, calls=calls))


def use(call: ToolCall) -> Block:
    return Block(type="tool_use", tool_call_id=call.id)


def pill(view: TranscriptView) -> LatestPill:
    found = view.findChild(LatestPill)
    assert isinstance(found, LatestPill)
    return found


def hits(view: TranscriptView, action: str) -> list[tuple[int, Hit]]:
    return [(row, hit) for row, block in sorted(view.views.items()) for hit in block.hits if hit.action == action]


def press(qtbot: QtBot, view: TranscriptView, row: int, hit: Hit) -> None:
    place = hit.box.center().toPoint() + QPoint(view.column_left(), view.row_top(row) + view.gap(row))
    assert view.viewport().rect().contains(place)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


# Following the end


def test_who_looks_at_the_end_goes_on_seeing_it(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    for count in range(1, 30):
        say(model, Block(text=f"{LONG}\n\n" * count))
        assert view.is_at_end
    assert not pill(view).isVisible()
    model.append(samples.MAIN, running.answer(Block(text=f"{LONG}\n\n" * 29)))
    model.set_live(running.IDLE)
    assert view.is_at_end


def test_who_has_scrolled_up_is_left_alone_and_shown_the_way(qtbot: QtBot, shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    say(model, Block(text=f"{LONG}\n\n" * 8))
    view.scroll_by(-300)
    row, top = view.top_row, view.row_top(view.top_row)
    call = running.read(1)
    for count in range(8, 20):
        say(model, Block(text=f"{LONG}\n\n" * count), use(call), Block(text=LONG * count), calls=(call,))
        assert (view.top_row, view.row_top(row)) == (row, top)
    assert pill(view).isVisible()
    qtbot.mouseClick(pill(view), Qt.MouseButton.LeftButton)
    assert view.is_at_end
    assert not pill(view).isVisible()
    say(model, Block(text=f"{LONG}\n\n" * 20), use(call), Block(text=LONG * 30), calls=(call,))
    assert view.is_at_end, "from there on it is followed again"


def test_scrolling_to_the_end_takes_the_pill_away(qtbot: QtBot, shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    say(model, Block(text=f"{LONG}\n\n" * 8))
    view.scroll_by(-300)
    say(model, Block(text=f"{LONG}\n\n" * 9))
    assert pill(view).isVisible()
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert not pill(view).isVisible()


def test_a_text_that_grows_out_of_sight_makes_the_scroll_bar_longer(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    say(model, Block(text="Short."))
    view.scroll_to_row(0)
    view.grab()
    before = view.verticalScrollBar().maximum()
    say(model, Block(text=f"{LONG}\n\n" * 60))
    assert view.verticalScrollBar().maximum() > before + 1000


def test_a_press_is_not_lost_because_something_comes_below(qtbot: QtBot, shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    call = running.COMMAND
    text = Block(text=f"{LONG}\n\n" * 20)
    say(model, use(call), text, calls=(call,))
    view.show_turn(running.TURN)
    view.grab()
    row, hit = next(found for found in hits(view, "card") if found[1].text == call.id)
    place = hit.box.center().toPoint() + QPoint(view.column_left(), view.row_top(row) + view.gap(row))
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    say(model, use(call), text, Block(type="thinking", thinking="Then"), calls=(call,))
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.lay_out(row).height < 40, "it was closed"


def test_a_press_does_what_was_pressed_though_the_block_is_laid_out_anew_meanwhile(
    qtbot: QtBot, shown: tuple[TranscriptModel, Watched]
) -> None:
    model, view = shown
    edit = running.edit(running.LOADER, "edit-1", "a\n", "b\n")
    model.set_timeline(running.timeline(*running.changed()))
    say(model, use(running.COMMAND), use(edit), calls=(running.COMMAND, edit))
    view.grab()
    row, hit = next(found for found in hits(view, "diff") if found[1].text == running.LOADER)
    place = hit.box.center().toPoint() + QPoint(view.column_left(), view.row_top(row) + view.gap(row))
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    model.set_live(replace(running.RUNNING, running_commands=("run-1",)))  # a Stop comes before it among the hits
    with qtbot.waitSignal(view.diff_requested) as asked:
        qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked.args == [running.LOADER, running.TURN]


def test_the_keyboard_stays_on_its_row_when_others_come_and_go_around_it(
    qtbot: QtBot, shown: tuple[TranscriptModel, Watched]
) -> None:
    model, view = shown
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert model.kind(view._current) is Kind.WORKING
    say(model, Block(type="thinking", thinking="Hm"), Block(text="So"))
    assert model.kind(view._current) is Kind.WORKING
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert model.kind(view._current) is Kind.ANSWER
    say(model, Block(type="thinking", thinking="Hm"), Block(text="So"), use(running.COMMAND), calls=(running.COMMAND,))
    model.append(samples.MAIN, running.answer(Block(type="thinking", thinking="Hm"), Block(text="So")))
    assert model.kind(view._current) is Kind.ANSWER


def test_a_block_larger_than_the_window_can_be_read_while_it_grows(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    say(model, Block(text=f"{LONG}\n\n" * 40))
    view.scroll_by(-700)
    row, top = view.top_row, view.row_top(view.top_row)
    assert model.kind(row) is Kind.ANSWER
    say(model, Block(text=f"{LONG}\n\n" * 41))
    assert (view.top_row, view.row_top(row)) == (row, top)
    assert pill(view).isVisible()


# What it costs


def test_words_that_come_lay_out_their_last_part_alone(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    text = "".join(f"Paragraph {n}. {LONG}\n\n" for n in range(40))
    view.take()
    most = 0
    for size in range(100, len(text), 60):
        say(model, Block(text=text[:size]))
        rows, parts = view.take()
        most = max(most, parts)
        assert rows <= 3
    assert most <= 2


def test_words_out_of_sight_lay_out_nothing(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    say(model, Block(text=f"{LONG}\n\n" * 20))
    view.scroll_to_row(0)
    view.take()
    for count in range(20, 60):
        say(model, Block(text=f"{LONG}\n\n" * count))
    assert view.take() == (0, 0)


def test_3000_calls_of_an_answer_with_tools_lay_out_a_few_rows_each(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    blocks: list[Block] = []
    calls: list[ToolCall] = []
    view.take()
    most = total = 0
    for n in range(1000):
        call = msgspec.structs.replace(running.COMMAND, id=f"c{n}", kind=("execute", "edit", "search")[n % 3])
        blocks += [Block(text=f"Step {n}: {LONG}"), use(call)] if n % 5 == 0 else [use(call)]
        for status, output in (("in_progress", ""), ("in_progress", running.OUTPUT), ("completed", running.OUTPUT)):
            now = msgspec.structs.replace(call, status=status, output=output)
            say(model, *blocks, calls=(*calls, now))
            rows, _ = view.take()
            most, total = max(most, rows), total + rows
        calls.append(now)
    assert most <= 6
    assert total <= 3000 * 3


def test_the_whole_answer_takes_over_what_was_laid_out(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    text = "".join(f"Paragraph {n}. {LONG}\n\n" for n in range(40))
    say(model, Block(text=text))
    view.take()
    model.append(samples.MAIN, running.answer(Block(text=text)))
    model.set_live(running.IDLE)
    assert view.take()[1] == 0


def test_a_list_or_a_table_that_is_very_long_is_laid_out_in_pieces_and_not_for_every_word(
    shown: tuple[TranscriptModel, Watched],
) -> None:
    model, view = shown
    for text in ("- an item\n" * 2000, "| a | b |\n|---|---|\n" + "| one | two |\n" * 1500, "word " * 3000):
        view.take()
        calls = 0
        for size in range(2000, min(len(text), 20_000), 200):
            say(model, Block(text=text[:size]))
            calls += 1
        assert view.take()[1] <= calls + 40
    stale = next(block for block in view.views.values() if isinstance(block, AnswerView) and block.stale)
    view.pulse.second.emit()
    caught_up = [block for block in view.views.values() if isinstance(block, AnswerView)]
    assert stale not in caught_up, "a second later all of it is shown"
    assert not any(block.stale for block in caught_up)


# What is shown


def block_view(view: TranscriptView, model: TranscriptModel, kind: Kind) -> BlockView:
    row = max(row for row in range(model.rowCount()) if model.kind(row) is kind)
    return view.lay_out(row)


def test_an_open_fence_is_code_at_once(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    say(model, Block(text="Look:\n\n```python\nprint('*not bold*')"))
    answer = block_view(view, model, Kind.ANSWER)
    assert isinstance(answer, AnswerView)
    assert answer.code_at(1) is not None
    assert answer.code_at(1).copy_text == "print('*not bold*')"  # type: ignore[union-attr]  # it was just looked at


def test_the_colours_of_a_block_are_asked_for_when_all_of_it_is_there(
    qtbot: QtBot, shown: tuple[TranscriptModel, Watched]
) -> None:
    model, view = shown
    asked: list[tuple[str, ...]] = []
    view.colours_wanted.connect(lambda _key, _name, lines: asked.append(lines))
    say(model, Block(text="```python\na = 1\n"))
    say(model, Block(text="```python\na = 1\nb = 2\n"))
    say(model, Block(text="```python\na = 1\nb = 2\n```\nSo"))
    view.show_turn(running.TURN)
    qtbot.waitUntil(lambda: ("a = 1", "b = 2") in asked)
    assert ("a = 1",) not in asked
    view.set_colours("nobody's", StyleRuns((0,), (), ()))


@pytest.mark.parametrize("last", ["-", "=", "*", "**", "`", "``", "~~", "#", "###", ">", "12.", "3)", "---", "|", "  -"])
def test_marks_that_may_become_anything_wait_for_what_follows(last: str) -> None:
    assert arrived(f"Some words\n{last}") == "Some words\n"


@pytest.mark.parametrize("last", ["- x", "```", "a", "12", "#5", "*a", "x=1", "```py"])
def test_what_is_plain_already_is_shown(last: str) -> None:
    assert arrived(f"Some words\n{last}") == f"Some words\n{last}"


@pytest.mark.parametrize(
    "text",
    [
        "x" * 2_000_000,
        "\x1b[31mred\x1b[0m \x07\x00\x08 \u202egnp.exe \u200b\ud800",
        "```\n" + "y" * 300_000,
        "> " * 3_000 + "deep",
        "[" * 4_000,
        "**" * 3_000 + "\n- " * 2_000,
        "| a " * 2_000 + "|\n" + "|---" * 2_000 + "|\n",
        "<script>alert(1)</script><img src=x onerror=y>\n![a](file:///etc/passwd)",
    ],
)
def test_whatever_comes_is_shown_and_nothing_breaks(shown: tuple[TranscriptModel, Watched], text: str) -> None:
    model, view = shown
    for size in (1, 7, len(text) // 3, len(text) // 2, len(text)):
        say(model, Block(text=text[:size]), Block(type="thinking", thinking=text[:size]))
        assert not view.grab().isNull()
    call = msgspec.structs.replace(running.COMMAND, title=text[:50_000], output=text)
    say(model, use(call), calls=(call,))
    assert not view.grab().isNull()
    model.append(samples.MAIN, running.answer(use(call), Block(text=text[:100_000]), calls=(call,)))
    assert not view.grab().isNull()


def test_the_output_of_a_running_command_is_seen_until_it_ends_or_somebody_closes_it(
    qtbot: QtBot, shown: tuple[TranscriptModel, Watched]
) -> None:
    model, view = shown
    call = running.COMMAND
    say(model, use(call), calls=(call,))
    row = model.rowCount() - 2
    assert view.lay_out(row).height > 36 + 3 * 18
    tall = msgspec.structs.replace(call, output="".join(f"line {n}\n" for n in range(500)))
    say(model, use(call), calls=(tall,))
    most = view.lay_out(row).height
    assert most < 36 + 14 * 18 + 60, "the last twelve lines, and the way to all of them"
    done = msgspec.structs.replace(tall, status="completed")
    say(model, use(call), calls=(done,))
    assert view.lay_out(row).height < 40
    say(model, use(call), calls=(call,))
    view.grab()
    press(qtbot, view, *next(found for found in hits(view, "card") if found[1].text == call.id))
    assert view.lay_out(row).height < 40
    say(model, use(call), calls=(tall,))
    assert view.lay_out(row).height < 40, "what somebody closed stays closed"


def test_stop_stops_the_command_it_stands_at(qtbot: QtBot, shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    say(model, use(running.COMMAND), calls=(running.COMMAND,))
    assert not hits(view, "stop")
    model.set_live(replace(running.RUNNING, running_commands=("run-1",)))
    view.grab()
    with qtbot.waitSignal(view.stop_command_requested) as asked:
        press(qtbot, view, *hits(view, "stop")[0])
    assert asked.args == ["run-1"]


def test_what_waits_says_why_and_does_nothing(qtbot: QtBot, shown: tuple[TranscriptModel, Watched]) -> None:
    _, view = shown
    view.show_turn(5)
    view.grab()
    off = hits(view, "off")
    assert {hit.name for _, hit in off} == {"Wait until turn 6 ends, or stop it"}
    assert not hits(view, "restore")
    assert not hits(view, "undo")
    assert hits(view, "diff")
    with qtbot.assertNotEmitted(view.restore_requested), qtbot.assertNotEmitted(view.undo_requested):
        press(qtbot, view, *off[0])


def test_the_end_of_a_turn_gives_undo_back(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    model.set_live(running.IDLE)
    view.show_turn(5)
    view.grab()
    assert hits(view, "restore")
    assert hits(view, "undo")
    assert not hits(view, "off")


# What moves


def beats_on(view: TranscriptView) -> bool:
    """Whether a timer runs on after two beats and what they cause to be painted."""
    for _ in range(2):
        view.grab()
        view.pulse.beat()
        view.pulse.tick()
    return view.pulse.beats


def test_nothing_beats_while_nothing_runs(qtbot: QtBot) -> None:
    model, view = make(qtbot, still=False)
    view.grab()
    assert view.pulse.beats
    assert beats_on(view)
    model.set_live(running.IDLE)
    assert not beats_on(view)


def test_nothing_beats_for_what_is_out_of_sight(qtbot: QtBot) -> None:
    model, view = make(qtbot, still=False)
    say(model, Block(text=f"{LONG}\n\n" * 30))
    view.scroll_to_row(0)
    assert not beats_on(view)


def test_under_reduced_motion_only_the_seconds_go_on(qtbot: QtBot) -> None:
    model, view = make(qtbot, still=True)
    say(model, Block(text="So"))
    view.grab()
    assert view.pulse.beats
    assert not view.pulse._turning


def painted(view: TranscriptView, color: QColor) -> int:
    """How many pixels of the view have a colour."""
    image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    wanted = color.rgb() & 0xFFFFFF
    return sum(
        image.pixel(x, y) & 0xFFFFFF == wanted for x in range(image.width()) for y in range(image.height() // 2, image.height())
    )


@pytest.mark.parametrize(
    "text", ["So it is", "Look:\n\n```python\na = 1", "```\n" + "line\n" * 50, "| a | b |\n|---|---|\n| 1 | 2 |", ""]
)
def test_a_text_that_grows_ends_with_a_caret(shown: tuple[TranscriptModel, Watched], text: str) -> None:
    model, view = shown
    accent = view.hub.theme.color("accent.text")
    say(model, Block(text=text or "-"))
    with_caret = painted(view, accent)
    model.append(samples.MAIN, running.answer(Block(text=text or "-")))
    model.set_live(running.IDLE)
    assert with_caret - painted(view, accent) > 8 * 16 - 8


@given(st.lists(st.integers(1, 90), max_size=1300), st.integers(0, 1300), st.lists(st.integers(1, 90), max_size=700))
def test_heights_are_cut_and_added_to_like_a_list(before: list[int], cut: int, more: list[int]) -> None:
    heights = Heights(before)
    heights.cut(cut)
    heights.add(more)
    expected = [*before[:cut], *more]
    assert (len(heights), heights.total) == (len(expected), sum(expected))
    for row in range(0, len(expected), 97):
        assert heights.top(row) == sum(expected[:row])
    if expected:
        heights.set(len(expected) - 1, 5)
        assert heights.total == sum(expected[:-1]) + 5


def test_rows_of_every_state_can_be_painted_in_both_themes(qtbot: QtBot) -> None:
    plan = [{"content": f"step {n}", "status": ("completed", "in_progress", "pending")[n % 3]} for n in range(40)]
    calls = tuple(
        msgspec.structs.replace(running.COMMAND, id=f"c{n}", status=status, outcome=outcome)
        for n, (status, outcome) in enumerate([("failed", "denied"), ("failed", "stopped"), ("failed", ""), ("pending", "")])
    )
    message = msgspec.structs.replace(running.answer(*map(use, calls), calls=calls), plan=plan)
    for mode in ("light", "dark"):
        model = TranscriptModel(lambda: samples.NOW)
        view = TranscriptView(ThemeHub(mode), model)
        qtbot.addWidget(view)
        view.resize(500, 900)
        model.set_view(samples.chat_view((running.PROMPT,)))
        model.set_live(running.RUNNING)
        model.stream(samples.MAIN, running.TURN, message)
        assert not view.grab().isNull()
        assert isinstance(view.lay_out(2), CardsView)


def test_an_answer_is_announced_once_when_it_is_whole(qtbot: QtBot, shown: tuple[TranscriptModel, Watched]) -> None:
    model, _ = shown
    say(model, Block(text="So it is"))
    with qtbot.waitSignal(model.answered) as told:
        model.append(samples.MAIN, running.answer(Block(text="So it is.")))
    assert told.args == ["So it is."]
    with qtbot.assertNotEmitted(model.answered):
        model.append(samples.MAIN, Message(id="e1", role="event", event_kind="interrupted"))


def test_parts_of_an_answer_are_taken_over_only_where_they_are_the_same(qtbot: QtBot) -> None:
    theme: Theme = ThemeHub("light").theme
    lay_out: Callable[..., AnswerView] = lambda text, earlier=None, width=600: AnswerView(  # noqa: E731
        theme, AnswerBlock(text, growing=True), width, "k", opened=set(), styles={}, shifts={}, earlier=earlier
    )
    text = f"{LONG}\n\n```py\ncode\n```\n{LONG}"
    first = lay_out(text)
    assert first.fresh == 3
    assert lay_out(text, first).fresh == 0
    assert lay_out(f"{text} more", first).fresh == 1
    assert lay_out(f"x{text}", first).fresh == 1
    assert lay_out(f"{text} more", first).height == lay_out(f"{text} more").height


def test_at_another_width_prose_is_taken_over_and_stands_as_if_laid_out_there(qtbot: QtBot) -> None:
    hub = ThemeHub("light")
    text = f"{LONG} `code` and [a link](https://example.org) {LONG}\n\n> said\n\n- one `two`\n\n```py\ncode\n```\n{LONG}"

    def lay_out(width: int, earlier: AnswerView | None = None) -> AnswerView:
        return AnswerView(
            hub.theme, AnswerBlock(text), width, "k", opened=set(), styles={}, shifts={}, files=frozenset(), earlier=earlier
        )

    def picture(view: AnswerView) -> QImage:
        image = QImage(700, view.height, QImage.Format.Format_RGB32)
        image.fill(0xFFFFFF)
        painter = QPainter(image)
        view.paint(painter, PaintState())
        painter.end()
        return image

    for width in (460, 640):
        anew = lay_out(width)
        taken = lay_out(width, lay_out(600))
        assert anew.fresh == 3
        assert taken.fresh == 1, "only the code block is laid out anew"
        assert (taken.height, taken.hits, taken.text) == (anew.height, anew.hits, anew.text)
        assert picture(taken) == picture(anew)


def test_a_call_that_waits_to_be_allowed_says_so_and_has_no_clock(shown: tuple[TranscriptModel, Watched]) -> None:
    model, view = shown
    say(model, use(running.COMMAND), calls=(running.COMMAND,))
    question = Question(
        id="q",
        chat=samples.MAIN,
        turn=running.TURN,
        agent="Claude Code",
        operation=Operation.RUN,
        subject="npm test",
        asked_at=samples.NOW,
        tool_call_id=running.COMMAND.id,
    )

    def said() -> list[str]:
        view.grab()
        return [spoken(model.block(row)) for row in range(model.rowCount())][-2:]

    model.set_live(replace(running.RUNNING, questions=(question,)))
    assert said() == ["Run npm test -- plot, Waiting for you", "Waiting for you"]
    model.set_live(running.RUNNING)
    assert said()[0].startswith("Running npm test")
    assert said()[1] == "Working"


def test_a_plain_text_that_grows_costs_its_last_lines_and_stands_as_one(qapp: object) -> None:
    theme = ThemeHub("light").theme

    def lay_out(text: str, earlier: AnswerView | None = None) -> AnswerView:
        block = AnswerBlock(text, plain=True, growing=True)
        return AnswerView(theme, block, 700, "k", opened=set(), styles={}, shifts={}, earlier=earlier)

    text = "some words that go on\n" * 300
    first = lay_out(text)
    again = lay_out(text + "and more", first)
    assert (first.fresh > 5, again.fresh) == (True, 1)
    assert again.text == text + "and more"
    lines = text.count("\n") + 1
    assert again.height == lines * theme.line_height("reading")
