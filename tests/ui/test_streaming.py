"""The transcript's rows while an answer comes: what stands where, and that only what differs changes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from tests.conftest import Clock
from tests.ui import running_samples as running
from tests.ui import samples
from vibekit_desktop.core.types.agents import LivePhase
from vibekit_desktop.core.types.chats import Block, Message, ToolCall
from vibekit_desktop.ui.long_text import MAX_RICH
from vibekit_desktop.ui.models.block_words import spoken
from vibekit_desktop.ui.models.blocks import (
    AnswerBlock,
    CardsBlock,
    CheckpointBlock,
    FooterBlock,
    ThinkingBlock,
    UserBlock,
    WorkingBlock,
)
from vibekit_desktop.ui.models.blocks import Block as Shown
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_rows import MOST_CALLS, Kind

BEFORE = len(samples.messages())


class Signals:
    """What a model told since it was asked last: ("insert", first, last) and so on."""

    def __init__(self, model: TranscriptModel) -> None:
        self._told: list[tuple[str, int, int]] = []
        model.rowsInserted.connect(lambda _, first, last: self._told.append(("insert", first, last)))
        model.rowsRemoved.connect(lambda _, first, last: self._told.append(("remove", first, last)))
        model.dataChanged.connect(lambda first, last: self._told.append(("change", first.row(), last.row())))
        model.modelReset.connect(lambda: self._told.append(("reset", 0, 0)))

    def take(self) -> list[tuple[str, int, int]]:
        told, self._told = self._told, []
        return told


@pytest.fixture
def model(qtbot: QtBot, clock: Clock) -> Iterator[TranscriptModel]:
    """The chat with its prompt, its turn running, nothing said yet."""
    clock.now_ms = samples.NOW
    made = TranscriptModel(clock)
    tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    made.set_view(samples.chat_view())
    made.set_timeline(samples.timeline())
    made.set_live(running.RUNNING)
    made.append(samples.MAIN, running.PROMPT)
    yield made
    tester.deleteLater()


def stream(model: TranscriptModel, *blocks: Block, calls: Sequence[ToolCall] = (), plan: object = None) -> None:
    model.stream(samples.MAIN, running.TURN, running.answer(*blocks, calls=tuple(calls), plan=plan))


def text(words: str) -> Block:
    return Block(text=words)


def thinking(words: str, took_ms: int = 0) -> Block:
    return Block(type="thinking", thinking=words, duration_ms=took_ms)


def use(call: ToolCall) -> Block:
    return Block(type="tool_use", tool_call_id=call.id)


def kinds(model: TranscriptModel, last: int) -> list[Kind]:
    return [model.kind(row) for row in range(model.rowCount())][-last:]


def blocks(model: TranscriptModel) -> list[Shown]:
    return [model.block(row) for row in range(model.rowCount())]


def cards(model: TranscriptModel) -> CardsBlock:
    """The last box of cards."""
    return next(block for block in reversed(blocks(model)) if isinstance(block, CardsBlock))


def test_a_prompt_is_followed_by_a_line_that_says_that_the_turn_runs(model: TranscriptModel) -> None:
    assert kinds(model, 4) == [Kind.FOOTER, Kind.CHECKPOINT, Kind.USER, Kind.WORKING]
    assert blocks(model)[-1] == WorkingBlock(running.TURN, running.BEGAN)


def test_the_answer_stands_between_its_prompt_and_that_line(model: TranscriptModel) -> None:
    model.stream(samples.MAIN, running.TURN, running.coming())
    assert kinds(model, 6) == [Kind.CHECKPOINT, Kind.USER, Kind.THINKING, Kind.CARDS, Kind.ANSWER, Kind.WORKING]
    assert blocks(model)[-2] == AnswerBlock(running.TAIL, growing=True)


def test_words_that_come_change_their_row_alone(model: TranscriptModel) -> None:
    stream(model, thinking("Hm."), text("The "))
    before = blocks(model)
    signals = Signals(model)
    stream(model, thinking("Hm."), text("The loader"))
    row = model.rowCount() - 2
    assert signals.take() == [("change", row, row)]
    assert blocks(model)[:row] == before[:row]


def test_a_new_block_is_one_row_more_and_the_one_before_it_is_finished(model: TranscriptModel) -> None:
    stream(model, text("First."))
    blocks(model)
    signals = Signals(model)
    call = running.read(1)
    stream(model, text("First."), use(call), calls=[call])
    row = model.rowCount() - 2
    assert signals.take() == [("insert", row, row), ("change", row - 1, row)]
    assert blocks(model)[-3:-1] == [AnswerBlock("First."), cards(model)]


def test_a_call_that_changes_in_an_older_box_changes_that_box_alone(model: TranscriptModel) -> None:
    first, second = running.COMMAND, running.read(2)
    stream(model, use(first), text("Meanwhile"), use(second), text("more"), calls=[first, second])
    blocks(model)
    signals = Signals(model)
    done = msgspec.structs.replace(first, status="completed", duration_ms=1200)
    stream(model, use(first), text("Meanwhile"), use(second), text("more"), calls=[done, second])
    box = next(row for row in range(model.rowCount() - 6, model.rowCount()) if model.kind(row) is Kind.CARDS)
    assert signals.take() == [("change", box, box)]
    changed = model.block(box)
    assert isinstance(changed, CardsBlock)
    assert (changed.cards[0].verb, changed.cards[0].status) == ("Ran", "1.2 s")


def test_saying_the_same_again_changes_nothing(model: TranscriptModel) -> None:
    model.stream(samples.MAIN, running.TURN, running.coming())
    blocks(model)
    signals = Signals(model)
    model.stream(samples.MAIN, running.TURN, running.coming())
    assert signals.take() == []


def test_the_whole_answer_has_the_same_rows_and_then_its_footer(model: TranscriptModel) -> None:
    model.stream(samples.MAIN, running.TURN, running.coming())
    model.set_timeline(running.timeline(*running.changed()))
    keys = [model.key(row) for row in range(model.rowCount())]
    blocks(model)
    signals = Signals(model)
    model.append(samples.MAIN, running.whole())
    assert [model.key(row) for row in range(model.rowCount())][:-1] == keys[:-1]
    told = signals.take()
    assert [step for step in told if step[0] != "change"] == [
        ("remove", len(keys) - 1, len(keys) - 1),
        ("insert", len(keys) - 1, len(keys) - 1),
    ]
    footer = blocks(model)[-1]
    assert isinstance(footer, FooterBlock)
    assert (footer.turn, footer.files, footer.added, footer.removed, footer.duration_ms) == (6, 2, 25, 6, 41_000)
    signals.take()
    model.set_live(running.IDLE)
    assert signals.take() == [], "all of it was shown already"


def test_the_finished_chat_reads_the_same_when_it_is_read_again(model: TranscriptModel) -> None:
    model.stream(samples.MAIN, running.TURN, running.coming())
    model.append(samples.MAIN, running.whole())
    model.set_live(running.IDLE)
    shown, keys = blocks(model), [model.key(row) for row in range(model.rowCount())]
    view = samples.chat_view((*samples.messages(), running.PROMPT, running.whole()))
    model.set_view(view)
    assert [model.key(row) for row in range(model.rowCount())] == keys
    assert blocks(model) == shown


def test_an_answer_that_comes_stays_when_the_chat_is_read_again(model: TranscriptModel) -> None:
    model.stream(samples.MAIN, running.TURN, running.coming())
    before = blocks(model)
    model.set_view(samples.chat_view((*samples.messages(), running.PROMPT)))
    assert blocks(model) == before


def test_a_chat_that_is_read_again_with_the_answer_shows_it_once(model: TranscriptModel) -> None:
    model.stream(samples.MAIN, running.TURN, running.coming())
    model.set_view(samples.chat_view((*samples.messages(), running.PROMPT, running.whole())))
    assert kinds(model, 5)[:-1] == [Kind.USER, Kind.THINKING, Kind.CARDS, Kind.ANSWER]
    count = model.rowCount()
    model.append(samples.MAIN, running.whole())
    assert model.rowCount() == count
    model.stream(samples.MAIN, running.TURN, running.coming())
    assert model.rowCount() == count, "a late word of it is not shown again"


def test_an_answer_of_another_chat_is_shown_when_that_chat_is(model: TranscriptModel) -> None:
    signals = Signals(model)
    other = samples.headers()[2].id
    model.stream(other, 1, running.answer(text("Elsewhere")))
    model.set_live(replace(running.RUNNING, chat=other, turn=1))
    assert signals.take() == []
    view = samples.chat_view((Message(id="x1", role="user", content="Go", turn=1),))
    model.set_view(replace(view, header=samples.headers()[2]))
    assert kinds(model, 4) == [Kind.CHECKPOINT, Kind.USER, Kind.ANSWER, Kind.WORKING]


def test_a_turn_that_ended_without_an_answer_leaves_none(model: TranscriptModel) -> None:
    stream(model, text("Half of"))
    model.set_live(running.IDLE)
    assert AnswerBlock("Half of") in blocks(model), "it is not taken away before somebody has read the chat again"
    model.set_view(samples.chat_view((*samples.messages(), running.PROMPT)))
    assert kinds(model, 3) == [Kind.CHECKPOINT, Kind.USER, Kind.FOOTER]


def test_thinking_says_that_it_goes_on_and_then_how_long_it_took(model: TranscriptModel) -> None:
    stream(model, thinking("Let me"))
    assert blocks(model)[-2] == ThinkingBlock("Let me", running=True)
    assert spoken(blocks(model)[-2]) == "Thinking…"
    stream(model, thinking("Let me see.", 6_000), text("So"))
    assert spoken(blocks(model)[-3]) == "Thought for 6 s"
    model.append(samples.MAIN, running.answer(thinking("Let me see.", 6_000), text("So")))
    assert spoken(blocks(model)[-3]) == "Thought for 6 s"


def test_thinking_of_which_nobody_knows_the_time_has_none(model: TranscriptModel) -> None:
    model.append(samples.MAIN, running.answer(thinking("Quick."), text("So")))
    assert spoken(blocks(model)[-3]) == "Thought"


def test_the_running_line_says_what_was_changed_so_far_and_the_step_of_the_plan(model: TranscriptModel) -> None:
    plan = [{"content": "Read the loader", "status": "completed"}, {"content": "Write the manifest", "status": "in_progress"}]
    stream(model, text("So"), plan=plan)
    model.set_timeline(running.timeline(*running.changed()))
    assert blocks(model)[-1] == WorkingBlock(running.TURN, running.BEGAN, 2, 25, 6, step="Write the manifest")
    assert spoken(blocks(model)[-1]) == "Working, 2 files changed so far, Write the manifest"
    model.set_live(replace(running.RUNNING, phase=LivePhase.STOPPING))
    assert spoken(blocks(model)[-1]).startswith("Stopping")


def test_a_plan_is_a_card_above_the_answer_and_follows_what_is_done(model: TranscriptModel) -> None:
    stream(model, text("So"))
    steps = [{"content": "Read", "status": "in_progress"}, {"content": "Write", "status": "pending"}]
    stream(model, text("So"), plan=steps)
    assert kinds(model, 4) == [Kind.USER, Kind.PLAN, Kind.ANSWER, Kind.WORKING]
    card = cards(model).cards[0]
    assert (card.verb, card.target, card.status) == ("Planned", "2 steps", "0 of 2 done")
    assert [(step.text, step.state) for step in card.steps] == [("Read", "active"), ("Write", "open")]
    signals = Signals(model)
    stream(model, text("So"), plan=[{**step, "status": "completed"} for step in steps])
    assert [kind for kind, _, _ in signals.take()] == ["change", "change"], "the card, and the step in the last line"
    assert (cards(model).cards[0].state, cards(model).cards[0].status) == ("done", "")


@pytest.mark.parametrize("plan", ["words", 7, {"a": 1}, [None, {"content": 3}, {"status": "completed"}], [[]]])
def test_a_plan_that_is_none_is_not_shown(model: TranscriptModel, plan: object) -> None:
    stream(model, text("So"), plan=plan)
    assert kinds(model, 3) == [Kind.USER, Kind.ANSWER, Kind.WORKING]


def test_what_went_with_a_prompt_is_named(model: TranscriptModel) -> None:
    prompt = blocks(model)[-2]
    assert isinstance(prompt, UserBlock)
    assert prompt.attachments == (("plot-design.pdf", False), ("Screen.png", True))
    assert spoken(prompt).endswith("with plot-design.pdf, Screen.png")


def test_while_a_turn_runs_nothing_can_be_undone_and_it_says_why(model: TranscriptModel) -> None:
    why = "Wait until turn 6 ends, or stop it"
    assert model.block(model.row_of_turn(5)) == CheckpointBlock(5, True, held=why)
    assert {card.held for card in cards(model).cards if card.path or card.files} == {why}
    model.set_live(running.IDLE)
    assert model.block(model.row_of_turn(5)) == CheckpointBlock(5, True)
    assert not any(card.held for card in cards(model).cards)
    model.set_held("A turn runs in another chat here.")
    assert model.block(model.row_of_turn(5)) == CheckpointBlock(5, True, held="A turn runs in another chat here.")


def test_a_running_command_can_be_stopped_where_it_runs_in_a_terminal_of_ours(model: TranscriptModel) -> None:
    stream(model, use(running.COMMAND), calls=[running.COMMAND])
    card = cards(model).cards[0]
    assert (card.verb, card.target, card.can_stop) == ("Running", "npm test -- plot", False)
    assert card.began_at == running.COMMAND.ts
    assert card.opens_itself
    signals = Signals(model)
    model.set_live(replace(running.RUNNING, running_commands=("run-1",)))
    assert cards(model).cards[0].can_stop
    assert signals.take() == [("change", model.rowCount() - 2, model.rowCount() - 2)]


def test_what_was_denied_and_what_was_stopped_says_so(model: TranscriptModel) -> None:
    denied = ToolCall(id="d", kind="edit", title="setup.cfg", status="failed", output="Denied", outcome="denied")
    stopped = ToolCall(id="s", kind="execute", title="sleep 100", status="failed", outcome="stopped", duration_ms=9_000)
    stream(model, use(denied), use(stopped), calls=[denied, stopped])
    first, second = cards(model).cards
    assert (first.verb, first.status, first.state) == ("Denied", "by you", "denied")
    assert (second.verb, second.target, second.status) == ("Stopped", "sleep 100", "9 s")


def test_many_calls_in_a_row_are_several_boxes(model: TranscriptModel) -> None:
    """A box is laid out as a whole when one of its calls changes, so it must not become too large."""
    calls = [msgspec.structs.replace(running.COMMAND, id=f"c{n}") for n in range(3 * MOST_CALLS + 1)]
    for count in range(1, len(calls) + 1):
        stream(model, *map(use, calls[:count]), calls=calls[:count])
    boxes = [len(block.cards) for block in blocks(model)[-5:-1] if isinstance(block, CardsBlock)]
    assert boxes == [MOST_CALLS, MOST_CALLS, MOST_CALLS, 1]


def test_a_text_that_becomes_too_long_for_markdown_goes_on_as_slices(model: TranscriptModel) -> None:
    words = "some words that go on\n" * (MAX_RICH // 12)
    before = model.rowCount() - 1
    for size in range(1000, len(words), 7_000):
        stream(model, text(words[:size]))
    parts = [block for block in blocks(model)[before:] if isinstance(block, AnswerBlock)]
    assert len(parts) > 3
    assert [part.growing for part in parts] == [False] * (len(parts) - 1) + [True]
    assert "\n".join(part.text for part in parts) == words[:size].removesuffix("\n")


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from(["a ", "\n\n", "```\n", "- x\n", " ", "word " * 40])),
        st.tuples(st.just("think"), st.sampled_from(["hm ", " ", "so\n"])),
        st.tuples(st.just("call"), st.sampled_from(["read", "edit", "execute"])),
        st.tuples(st.just("end"), st.integers(0, 30)),
        st.tuples(st.just("plan"), st.integers(0, 3)),
        st.tuples(st.just("flood"), st.just("x\n" * 9_000)),
        st.tuples(st.just("files"), st.integers(0, 2)),
        st.tuples(st.just("again"), st.just("")),
    ),
    min_size=1,
    max_size=40,
)


@given(STEPS)
def test_however_an_answer_comes_its_rows_are_those_of_its_last_state(qapp: object, steps: list[tuple[str, object]]) -> None:
    def fresh() -> TranscriptModel:
        made = TranscriptModel(lambda: samples.NOW)
        made.set_view(samples.chat_view((*samples.messages(), running.PROMPT)))
        made.set_live(running.RUNNING)
        return made

    model = fresh()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    answer: list[Block] = []
    calls: list[ToolCall] = []
    plan: list[dict[str, str]] = []
    files = running.timeline()
    seen = blocks(model)
    mirror = Mirror(model)
    for step, value in steps:
        match step:
            case "say" | "flood" if answer and answer[-1].type == "text":
                answer[-1] = text(answer[-1].text + str(value))
            case "say" | "flood":
                answer.append(text(str(value)))
            case "think" if answer and answer[-1].type == "thinking":
                answer[-1] = thinking(answer[-1].thinking + str(value))
            case "think":
                answer.append(thinking(str(value)))
            case "call":
                calls.append(msgspec.structs.replace(running.COMMAND, id=f"c{len(calls)}", kind=str(value)))
                answer.append(use(calls[-1]))
            case "end" if calls and isinstance(value, int):
                place = value % len(calls)
                calls[place] = msgspec.structs.replace(calls[place], status="completed", output="done")
            case "plan" if isinstance(value, int):
                plan = [{"content": f"step {n}", "status": "pending"} for n in range(value)]
            case "files" if isinstance(value, int):
                files = running.timeline(*running.changed()[:value])
                model.set_timeline(files)
            case "again":
                model.set_view(samples.chat_view((*samples.messages(), running.PROMPT)))
        model.stream(samples.MAIN, running.TURN, running.answer(*answer, calls=tuple(calls), plan=[*plan] or None))
        mirror.check()
        seen = blocks(model)
    whole = fresh()
    if any(step == "files" for step, _ in steps):
        whole.set_timeline(files)
    whole.stream(samples.MAIN, running.TURN, running.answer(*answer, calls=tuple(calls), plan=plan or None))
    assert [model.key(row) for row in range(model.rowCount())] == [whole.key(row) for row in range(whole.rowCount())]
    assert list(map(untimed, seen)) == list(map(untimed, blocks(whole)))
    tester.deleteLater()


class Mirror:
    """A copy of a model's blocks, kept up by its signals alone. What it shows must always be what the model says."""

    def __init__(self, model: TranscriptModel) -> None:
        self._model = model
        self._copy = blocks(model)
        model.rowsInserted.connect(lambda _, first, last: self._put(first, first, last + 1))
        model.rowsRemoved.connect(lambda _, first, last: self._put(first, last + 1, first))
        model.dataChanged.connect(lambda first, last: self._put(first.row(), last.row() + 1, last.row() + 1))

    def _put(self, first: int, end: int, new_end: int) -> None:
        self._copy[first:end] = [self._model.block(row) for row in range(first, new_end)]

    def check(self) -> None:
        assert self._copy == blocks(self._model)


def untimed(block: Shown) -> Shown:
    return replace(block, took_ms=0) if isinstance(block, ThinkingBlock) else block


def test_a_view_that_follows_the_signals_shows_what_the_model_says(model: TranscriptModel) -> None:
    mirror = Mirror(model)
    message = running.coming()
    for count in range(1, len(message.blocks) + 1):
        part = msgspec.structs.replace(message, blocks=message.blocks[:count])
        model.stream(samples.MAIN, running.TURN, part)
        mirror.check()
    model.set_timeline(running.timeline(*running.changed()))
    mirror.check()
    model.set_live(replace(running.RUNNING, running_commands=("run-1",)))
    mirror.check()
    model.append(samples.MAIN, running.whole())
    mirror.check()
    model.set_live(running.IDLE)
    mirror.check()
    model.set_view(samples.chat_view())
    mirror.check()


def test_3000_calls_of_a_growing_answer_tell_of_few_rows(model: TranscriptModel) -> None:
    """The work of a call is what it tells of: a view makes those rows anew, and no others."""
    answer: list[Block] = []
    calls: list[ToolCall] = []
    states: list[Message] = []
    for n in range(1000):
        call = msgspec.structs.replace(running.COMMAND, id=f"c{n}", status="in_progress")
        answer += [use(call)] if n % 9 else [text(f"Step {n}"), use(call)]
        states.append(running.answer(*answer, calls=(*calls, call)))
        calls.append(msgspec.structs.replace(call, status="completed"))
        states.append(running.answer(*answer, calls=tuple(calls)))
        states.append(running.answer(*answer, text("and so "), calls=tuple(calls)))
    signals = Signals(model)
    most = total = 0
    for message, after in pairwise(states):
        model.stream(samples.MAIN, running.TURN, message)
        model.stream(samples.MAIN, running.TURN, after)
        for row in range(max(0, model.rowCount() - 8), model.rowCount()):
            model.block(row)  # what is in sight
        rows = sum(last - first + 1 for _, first, last in signals.take())
        most, total = max(most, rows), total + rows
    assert most < 16
    assert total < 6 * len(states)
