"""What a command changed, in the transcript: many files are one line until somebody asks for them, and then some at a time."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.checkpoints import (
    Author,
    ChangeStatus,
    Coverage,
    EntryKind,
    FileState,
    How,
    Skipped,
    State,
    Timeline,
)
from vibekit_desktop.ui.models.block_words import spoken
from vibekit_desktop.ui.models.blocks import CardsBlock
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.block_view import BlockView, Hit
from vibekit_desktop.ui.views.transcript import TranscriptView

CALL = "call-50"


def many(count: int, *, author: Author = Author.COMMAND) -> Timeline:
    """Turn 5, whose command changed so many files."""
    timeline = samples.timeline()
    files = tuple(
        replace(samples.change(f"gen/f{n:05}.txt", ChangeStatus.ADDED, 2, 0, CALL), author=author, how=How.SCAN)
        for n in range(count)
    )
    entries = [
        replace(entry, files=files) if (entry.kind, entry.turn) == (EntryKind.TURN, 5) else entry for entry in timeline.entries
    ]
    return replace(timeline, entries=tuple(entries))


@pytest.fixture
def model(qtbot: QtBot) -> TranscriptModel:
    made = TranscriptModel(lambda: samples.NOW)
    made.set_view(samples.chat_view())
    return made


@pytest.fixture
def view(qtbot: QtBot, model: TranscriptModel) -> TranscriptView:
    made = TranscriptView(ThemeHub("light", still=True), model)
    qtbot.addWidget(made)
    made.resize(800, 900)
    made.show()
    return made


def row_of(model: TranscriptModel) -> int:
    """The row of the box in which the command stands."""
    for row in range(len(model.kinds())):
        block = model.block(row)
        if isinstance(block, CardsBlock) and any(card.key == CALL for card in block.cards):
            return row
    raise AssertionError("no such call")


def box(view: TranscriptView, model: TranscriptModel) -> BlockView:
    """The box, laid out."""
    return view.lay_out(row_of(model))


def hit(found: BlockView, action: str, text: str) -> Hit:
    """What does this in the box."""
    return next(one for one in found.hits if (one.action, one.text) == (action, text))


def diffs(found: BlockView) -> int:
    """How many files of the command have a row."""
    return sum(one.action == "diff" and one.text.startswith("gen/") for one in found.hits)


def test_six_files_of_a_command_are_one_line_that_opens_and_closes(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_timeline(many(5))
    assert diffs(box(view, model)) == 5
    model.set_timeline(many(6))
    assert diffs(box(view, model)) == 0
    view.do(hit(box(view, model), "fold", f"files:{CALL}"))
    assert diffs(box(view, model)) == 6
    view.grab()
    view.do(hit(box(view, model), "fold", f"files:{CALL}"))
    assert diffs(box(view, model)) == 0
    view.grab()


def test_twenty_thousand_files_of_a_command_are_shown_some_at_a_time_and_all_of_them_in_the_review(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel
) -> None:
    model.set_timeline(many(1))
    low = box(view, model).height
    model.set_timeline(many(20_300))
    folded = box(view, model)
    assert folded.height <= low
    head = hit(folded, "fold", f"files:{CALL}")
    assert head.name.startswith("20,300 files changed by this command")
    view.do(head)
    assert diffs(box(view, model)) == 200
    more = hit(box(view, model), "fold", f"files:{CALL}:200")
    assert more.name.startswith("Show 200 more")
    undos = [action.text() for action in view.block_menu(row_of(model)).actions() if action.text().startswith("Undo")]
    assert len(undos) <= 20
    view.do(more)
    assert diffs(box(view, model)) == 400
    for shown in (400, 600, 800):
        view.do(hit(box(view, model), "fold", f"files:{CALL}:{shown}"))
    last = box(view, model)
    assert diffs(last) == 1_000
    assert not [one for one in last.hits if one.text.startswith(f"files:{CALL}:")]
    with qtbot.waitSignal(view.review_requested) as asked:
        view.do(next(one for one in last.hits if one.action == "review"))
    assert asked.args == [5]


def test_a_box_holds_the_first_of_very_many_files_and_the_counts_of_all(model: TranscriptModel) -> None:
    model.set_timeline(many(20_300))
    block = model.block(row_of(model))
    assert isinstance(block, CardsBlock)
    card = next(one for one in block.cards if one.key == CALL)
    assert (len(card.files), card.file_count, card.files_added, card.files_removed) == (1_000, 20_300, 40_600, 0)


def test_many_files_that_only_changed_meanwhile_are_counted_too(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_timeline(many(7, author=Author.UNKNOWN))
    assert hit(box(view, model), "fold", f"files:{CALL}").name.startswith("7 files changed while this command ran")


NOT_KEPT = FileState(State.NOT_CAPTURED, reason="too-large")


def with_big(path: str, call: str, **sides: FileState) -> Timeline:
    """Turn 5 has one file of which no copy was kept before it, or after it."""
    timeline = samples.timeline()
    big = replace(samples.change(path, ChangeStatus.MODIFIED, 0, 0, call), lines_added=None, lines_removed=None, **sides)
    coverage = Coverage(complete=False, skipped=(Skipped(path, "too-large", 48_000_000),))
    entries = [
        replace(entry, files=(big,), coverage=coverage) if (entry.kind, entry.turn) == (EntryKind.TURN, 5) else entry
        for entry in timeline.entries
    ]
    return replace(timeline, entries=tuple(entries))


@pytest.mark.parametrize(("path", "call"), [("big.bin", CALL), (str(samples.GUIDE), "call-54")])
def test_a_file_that_was_not_kept_says_so_and_has_neither_diff_nor_undo(
    view: TranscriptView, model: TranscriptModel, path: str, call: str
) -> None:
    """As in the timeline: for what a command changed, and for what the agent edited itself."""
    model.set_timeline(with_big(path, call, before=NOT_KEPT))
    found = box(view, model)
    assert not [one for one in found.hits if one.text == path]
    assert [one.name for one in found.hits if one.action == "off"] == ["No earlier copy was kept."] * 2
    block = model.block(row_of(model))
    assert isinstance(block, CardsBlock)
    card = next(one for one in block.cards if one.key == call)
    assert "48 MB, not captured" in [card.missing, *(file.missing for file in card.files)]
    assert card.files or "48 MB, not captured" in spoken(block)
    view.grab()
    model.set_timeline(with_big(path, call, after=NOT_KEPT))
    assert [one.action for one in box(view, model).hits if one.text == path] == ["undo"], "what was before it can be put back"
    view.grab()
