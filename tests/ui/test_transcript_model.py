"""The transcript as rows: what stands where, what a timeline adds, what stays when a chat grows."""

import msgspec
import pytest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import Block, DiffFragment, Location, Message, ToolCall
from vibekit_desktop.core.types.checkpoints import ChangeStatus
from vibekit_desktop.ui.models.blocks import (
    AnswerBlock,
    BranchBlock,
    CardsBlock,
    CheckpointBlock,
    EventBlock,
    FooterBlock,
    UserBlock,
)
from vibekit_desktop.ui.models.cards import NOTHING_KNOWN, cards, known_of
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_rows import Kind


@pytest.fixture
def model(qtbot: QtBot) -> TranscriptModel:
    return TranscriptModel(lambda: samples.NOW)


def kinds(model: TranscriptModel) -> list[Kind]:
    return [model.kind(row) for row in range(model.rowCount())]


def test_the_last_turn_reads_in_the_order_it_happened(model: TranscriptModel) -> None:
    model.set_view(samples.chat_view())
    assert kinds(model)[-7:] == [
        Kind.CHECKPOINT,
        Kind.USER,
        Kind.THINKING,
        Kind.ANSWER,
        Kind.CARDS,
        Kind.ANSWER,
        Kind.FOOTER,
    ]


def test_the_model_keeps_qts_rules(model: TranscriptModel, qtmodeltester: ModelTester) -> None:
    model.set_view(samples.chat_view())
    qtmodeltester.check(model)
    model.set_timeline(samples.timeline())
    model.set_view(samples.chat_view(samples.messages()[:6]))
    qtmodeltester.check(model)


def test_before_the_timeline_comes_nothing_is_claimed(model: TranscriptModel) -> None:
    model.set_view(samples.chat_view())
    footer = model.block(model.rowCount() - 1)
    assert isinstance(footer, FooterBlock)
    assert footer.files is None
    assert footer.duration_ms == 72_000
    checkpoint = model.block(0)
    assert checkpoint == CheckpointBlock(1, None)


def test_the_timeline_brings_files_and_counts(model: TranscriptModel) -> None:
    model.set_view(samples.chat_view())
    model.set_timeline(samples.timeline())
    footer = model.block(model.rowCount() - 1)
    assert isinstance(footer, FooterBlock)
    assert (footer.files, footer.added, footer.removed) == (4, 28, 7)
    assert model.block(0) == CheckpointBlock(1, False)
    assert model.block(model.row_of_turn(5)) == CheckpointBlock(5, True)


def test_cards_say_what_was_done(model: TranscriptModel) -> None:
    model.set_view(samples.chat_view())
    model.set_timeline(samples.timeline())
    block = model.block(model.rowCount() - 3)
    assert isinstance(block, CardsBlock)
    ran, read, edited, created = block.cards
    assert (ran.verb, ran.target, ran.status, ran.state) == ("Ran", "ruff format src", "0.8 s", "done")
    assert [file.path for file in ran.files] == [samples.WRITER, samples.INIT]
    assert (read.verb, read.target, read.lines) == ("Read", "3 files", ("docs/export.md", "src/export/rows.py", "CHANGELOG.md"))
    assert (edited.verb, edited.target, edited.added, edited.removed) == ("Edited", "docs/export.md", 18, 2)
    assert (edited.path, edited.turn) == ("docs/export.md", 5)
    assert (created.verb, created.added) == ("Created", 5)


def test_without_a_recorded_change_there_is_no_undo(model: TranscriptModel) -> None:
    """A button that could do nothing is not there."""
    model.set_view(samples.chat_view())
    block = model.block(model.rowCount() - 3)
    assert isinstance(block, CardsBlock)
    assert [card.path for card in block.cards] == ["", "", "", ""]


def test_the_same_chat_grown_brings_only_the_new_rows(qtbot: QtBot, model: TranscriptModel) -> None:
    model.set_view(samples.chat_view(samples.messages()[:8]))
    before = model.rowCount()
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.rowsInserted) as inserted:
        model.set_view(samples.chat_view())
    assert inserted.args is not None
    assert inserted.args[1] == before


def test_a_cut_transcript_loses_rows_and_gains_the_line_of_the_branch(qtbot: QtBot, model: TranscriptModel) -> None:
    model.set_view(samples.chat_view())
    with qtbot.assertNotEmitted(model.modelReset):
        model.set_view(samples.chat_view(samples.messages()[:4], removed_turns=((3, 5, samples.BRANCH),)))
    assert model.block(model.rowCount() - 1) == BranchBlock(3, 5, samples.BRANCH)


def test_another_chat_is_a_reset(qtbot: QtBot, model: TranscriptModel) -> None:
    model.set_view(samples.chat_view())
    with qtbot.waitSignal(model.modelReset):
        model.set_view(None)
    assert model.rowCount() == 0


def test_a_branch_line_stands_where_its_turns_were(model: TranscriptModel) -> None:
    some = [message for message in samples.messages() if message.id not in ("u2", "a2", "u3", "a3")]
    model.set_view(samples.chat_view(tuple(some), removed_turns=((2, 3, samples.BRANCH),)))
    row = kinds(model).index(Kind.BRANCH)
    assert model.block(row + 1) == CheckpointBlock(4, None)


def test_a_message_without_blocks_shows_its_parts(model: TranscriptModel) -> None:
    calls = (ToolCall(id="c", kind="read", title="Read a.py"),)
    old = Message(id="a", role="assistant", ts=1, content="Text", reasoning="Why", tool_calls=calls)
    model.set_view(samples.chat_view((old,)))
    assert kinds(model) == [Kind.THINKING, Kind.CARDS, Kind.ANSWER]


def test_notes_have_words_of_their_own(model: TranscriptModel) -> None:
    events = (
        Message(id="1", role="event", event_kind="interrupted", content="x"),
        Message(id="2", role="event", event_kind="compacted", content="The summary"),
        Message(id="3", role="event", event_kind="model_switched", content="opus"),
        Message(id="4", role="event", event_kind="some_new_kind", content="Something else"),
        Message(id="5", role="event", event_kind="cancelled", content="It did not stop when asked, and was ended."),
    )
    model.set_view(samples.chat_view(events))
    blocks = [model.block(row) for row in range(5)]
    assert [block.text for block in blocks if isinstance(block, EventBlock)] == [
        "Interrupted",
        "Earlier messages were summed up for the agent",
        "Model changed to opus",
        "Something else",
        "Stopped",
    ]
    assert [block.detail for block in blocks if isinstance(block, EventBlock)] == [
        "x",
        "The summary",
        "",
        "",
        "It did not stop when asked, and was ended.",
    ]


def test_a_very_long_answer_is_sliced_without_losing_a_character(model: TranscriptModel) -> None:
    text = "\n".join(f"line {n} of a very long answer" for n in range(6_000))
    model.set_view(samples.chat_view((Message(id="a", role="assistant", content=text, blocks=(Block(text=text),)),)))
    blocks = [model.block(row) for row in range(model.rowCount())]
    assert len(blocks) > 5
    assert all(isinstance(block, AnswerBlock) and block.plain for block in blocks)
    assert "\n".join(block.text for block in blocks if isinstance(block, AnswerBlock)) == text


def test_messages_of_today_have_a_time_and_older_ones_a_day(model: TranscriptModel) -> None:
    model.set_view(samples.chat_view((Message(id="u", role="user", ts=samples.at(15, 9, 5), content="x"),)))
    block = model.block(0)
    assert isinstance(block, UserBlock)
    assert block.time == "15 Sep, 09:05"


@pytest.mark.parametrize(
    ("call", "verb", "target", "status"),
    [
        (ToolCall(kind="execute", title="Bash Run all", input=msgspec.Raw(b'{"command":"make all"}')), "Ran", "make all", ""),
        (ToolCall(kind="execute", title="`ls`", input=msgspec.Raw(b'{"command":["ls","-l"]}')), "Ran", "ls -l", ""),
        (ToolCall(kind="execute", title="Bash make", input=msgspec.Raw(b'{"command":7}')), "Ran", "make", ""),
        (ToolCall(kind="execute", title="Bash x", status="failed", output="Exit code 2\n"), "Failed", "x", "exit 2"),
        (ToolCall(kind="execute", title="Bash x", status="failed", output="boom"), "Failed", "x", "failed"),
        (ToolCall(kind="execute", title="Bash x", exit_code=0, duration_ms=840), "Ran", "x", "exit 0 · 0.8 s"),
        (ToolCall(kind="execute", title="Bash x", exit_code=0), "Ran", "x", "exit 0"),
        (ToolCall(kind="execute", title="Bash x", duration_ms=840), "Ran", "x", "0.8 s"),
        (ToolCall(kind="execute", title="Bash x", exit_code=2, duration_ms=840), "Failed", "x", "exit 2 · 0.8 s"),
        (ToolCall(kind="execute", title="Bash x", exit_code=0, status="failed"), "Failed", "x", "failed"),
        (ToolCall(kind="execute", title="Bash x", exit_code=1, outcome="stopped", status="failed"), "Stopped", "x", ""),
        (ToolCall(kind="read", title="Read x", exit_code=0), "Read", "Read x", ""),
        (ToolCall(kind="execute", title="Bash x", status="in_progress"), "Running", "x", ""),
        (ToolCall(kind="search", title="Grep needle"), "Searched", "needle", ""),
        (ToolCall(kind="fetch", title="WebFetch https://example.org"), "Fetched", "https://example.org", ""),
        (ToolCall(kind="other", title="Task Explore"), "Used", "Task Explore", ""),
        (ToolCall(kind="think", title="TodoWrite Fix it"), "Planned", "Fix it", ""),
        (ToolCall(kind="read", title="Read", locations=(Location(path="/w/a.py"),)), "Read", "a.py", ""),
        (ToolCall(kind="read", title="Read", locations=(Location(path="/elsewhere/a.py"),)), "Read", "/elsewhere/a.py", ""),
        (ToolCall(kind="execute", title="Bash a\u202eb"), "Ran", "a\u27e8U+202E\u27e9b", ""),
    ],
)
def test_a_call_becomes_a_verb_and_a_target(qtbot: QtBot, call: ToolCall, verb: str, target: str, status: str) -> None:
    (made,) = cards([call], 1, "/w", NOTHING_KNOWN)
    assert (made.verb, made.target, made.status) == (verb, target, status)


def test_two_reads_stay_two_cards(qtbot: QtBot) -> None:
    read = ToolCall(kind="read", title="Read", locations=(Location(path="/w/a.py"),))
    assert len(cards([read, read], 1, "/w", NOTHING_KNOWN)) == 2


def test_a_hundred_thousand_messages_make_few_blocks(model: TranscriptModel) -> None:
    one = samples.messages()[:2]
    model.set_view(samples.chat_view(one * 50_000))
    assert model.rowCount() > 100_000
    assert not model._blocks


def edit(n: int, old: str, new: str, *, path: str = "/w/a.py", status: str = "completed") -> ToolCall:
    fragments = (DiffFragment(path=path, old_text=old, new_text=new),) if status != "failed" else ()
    return ToolCall(id=f"call-{n}", kind="edit", title="Edit", status=status, locations=(Location(path=path),), diffs=fragments)


def test_every_edit_of_a_file_shows_its_own_lines(qtbot: QtBot) -> None:
    calls = [edit(1, "a\n", "b\n"), edit(2, "c\n", "c\nd\ne\n"), edit(3, "f\n", "")]
    known = known_of([samples.change("a.py", ChangeStatus.MODIFIED, 7, 4, "call-3")], calls, "/w")
    made = cards(calls, 5, "/w", known)
    assert [(card.added, card.removed) for card in made] == [(1, 1), (2, 0), (0, 1)]
    assert [card.path for card in made] == ["a.py"] * 3


def test_an_edit_that_failed_has_no_lines_and_nothing_to_undo(qtbot: QtBot) -> None:
    calls = [edit(1, "a\n", "b\n", status="failed"), edit(2, "c\n", "d\n")]
    known = known_of([samples.change("a.py", ChangeStatus.MODIFIED, 7, 4, "call-2")], calls, "/w")
    failed, edited = cards(calls, 5, "/w", known)
    assert (failed.verb, failed.path, failed.added, failed.removed) == ("Failed", "", None, None)
    assert (edited.path, edited.added, edited.removed) == ("a.py", 7, 4), "the only one that did something"


def test_a_file_that_was_created_and_then_edited_was_created_once(qtbot: QtBot) -> None:
    calls = [edit(1, "", "a\nb\n"), edit(2, "b\n", "c\n"), edit(3, "", "all\nanew\n")]
    known = known_of([samples.change("a.py", ChangeStatus.ADDED, 2, 0, "call-3")], calls, "/w")
    made = cards(calls, 5, "/w", known)
    assert [card.verb for card in made] == ["Created", "Edited", "Edited"]
    assert [(card.added, card.removed) for card in made] == [(2, 0), (1, 1), (None, None)]


def test_an_edit_outside_of_the_workspace_tells_what_the_agent_told(qtbot: QtBot) -> None:
    (made,) = cards([edit(1, "a\n", "b\nc\n", path="/elsewhere/a.py")], 5, "/w", NOTHING_KNOWN)
    assert (made.path, made.added, made.removed) == ("", 2, 1)
