"""After an undo the agent does not know that files changed: the banner says so, and a note in the next message tells it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes, samples
from tests.ui.live_stage import IDLE, MAIN, Program
from tests.ui.spin import bury, own_loop
from vibekit_desktop.core.types.agents import LivePhase
from vibekit_desktop.core.types.checkpoints import EntryKind, FileChange, RestoreKind, Timeline, TimelineEntry
from vibekit_desktop.core.types.ids import ChatId, parse_workspace_path
from vibekit_desktop.ui.models.banners import NOTHING, Known, worst
from vibekit_desktop.ui.models.untold import files_of, note, untold
from vibekit_desktop.ui.views.controls import Button

FILES = next(entry.files for entry in sample_changes.entries() if len(entry.files) > 1)


def put_back(count: int = 1, *, entry: int = 9, kind: RestoreKind = RestoreKind.UNDO_FILE, **more: object) -> TimelineEntry:
    made = TimelineEntry(
        kind=EntryKind.RESTORE, turn=5, at=1, entry=entry, point="before:5", restore_kind=kind, files=FILES[:count]
    )
    return replace(made, **more)  # type: ignore[arg-type]  # by the names of its fields


def timeline(*after: TimelineEntry) -> Timeline:
    turns = [entry for entry in sample_changes.entries() if entry.kind is EntryKind.TURN]
    return replace(sample_changes.timeline((*turns, *after)), chat=MAIN)


def said(*after: TimelineEntry, phase: LivePhase = LivePhase.IDLE) -> str:
    known = Known(view=samples.chat_view(), live=replace(IDLE, phase=phase), timeline=timeline(*after))
    return worst(known).text


def test_the_banner_names_the_file_or_counts_them() -> None:
    name = FILES[0].path.rpartition("/")[2]
    assert said(put_back()) == f"The agent does not know that {name} changed."
    assert said(put_back(2, kind=RestoreKind.UNDO_TURN)) == "The agent does not know that 2 files changed."


@pytest.mark.parametrize(
    "entry",
    [
        put_back(undone=True),
        put_back(kind=RestoreKind.UNDO),
        put_back(branch_chat_id=ChatId("branch-01")),
        put_back(0),
    ],
)
def test_what_was_undone_or_went_with_the_chat_the_agent_need_not_know(entry: TimelineEntry) -> None:
    assert untold(timeline(entry)) == ()
    assert said(entry) == ""


def test_a_turn_afterwards_or_nobody_to_tell_ends_it() -> None:
    turn = next(entry for entry in sample_changes.entries() if entry.kind is EntryKind.TURN)
    assert said(put_back(), turn) == ""
    assert said(put_back(), phase=LivePhase.UNAVAILABLE) == ""
    assert worst(Known(view=samples.chat_view(), timeline=timeline(put_back()))) == NOTHING
    assert untold(replace(timeline(), entries=(put_back(),))) == ()


def test_the_note_names_each_file_once_and_not_without_end() -> None:
    paths = files_of((put_back(2), put_back(1, entry=10)))
    assert note(paths).count(paths[0]) == 1
    assert note(paths[:1]) == (
        f"Note: since your last answer I put {paths[0]} back to an earlier state. Read it again before you change it."
    )
    many = [parse_workspace_path(f"f{number}.txt") for number in range(25)]
    assert "f19.txt and 5 more" in note(many)
    assert isinstance(FILES[0], FileChange)


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        made.fake.checkpoints.timelines[MAIN] = timeline(put_back())
        made.conductor.open.refresh()
        made.settle()
        yield made
        made.conductor.close()
        bury(made.window)


def test_the_button_puts_the_note_before_what_is_written_and_it_goes_with_the_message(program: Program) -> None:
    program.type("And now the tests.")
    banner = program.page.banner
    assert "does not know" in banner.accessibleName()
    button = banner.findChildren(Button)[0]
    assert button.text() == "Add a note to the next message"
    button.click()
    program.settle()
    text = program.composer.written.text
    assert text.startswith("Note: since your last answer")
    assert text.endswith("And now the tests.")
    assert banner.isHidden()
    program.composer.send()
    program.settle()
    (asked,) = program.asked("prompt")
    assert FILES[0].path in str(asked)
