"""Tool cards on the screen: a small diff in its colours and with its numbers, conflicts in place, the way back from an undo."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import EntryKind, RestoreKind, Timeline, TimelineEntry
from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.transcript import TranscriptView


@pytest.fixture
def model(qtbot: QtBot) -> TranscriptModel:
    made = TranscriptModel(lambda: samples.NOW)
    made.set_view(samples.chat_view())
    made.set_timeline(samples.timeline())
    return made


@pytest.fixture
def view(qtbot: QtBot, model: TranscriptModel) -> TranscriptView:
    made = TranscriptView(ThemeHub("light", still=True), model)
    qtbot.addWidget(made)
    made.resize(800, 900)
    made.show()
    made.grab()
    return made


def press(qtbot: QtBot, view: TranscriptView, action: str, text: str = "") -> None:
    """Click the first place on the screen that does ``action``."""
    for row, block in sorted(view.views.items()):
        for hit in block.hits:
            if hit.action == action and (not text or hit.text == text):
                place = hit.box.center().toPoint() + QPoint(view.column_left(), view.row_top(row) + view.gap(row))
                if view.viewport().rect().contains(place):
                    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
                    return
    raise AssertionError(f"nothing does {action}")


def test_a_small_diff_is_plain_until_its_colours_and_numbers_come_and_asks_for_them_once(
    qtbot: QtBot, view: TranscriptView
) -> None:
    colours: list[tuple[str, str, tuple[str, ...]]] = []
    places: list[tuple[str, int, str, tuple[DiffFragment, ...]]] = []
    view.colours_wanted.connect(lambda *asked: colours.append(asked))
    view.places_wanted.connect(lambda *asked: places.append(asked))
    press(qtbot, view, "card", "call-54")
    qtbot.waitUntil(lambda: bool(places) and any(":mini" in f":{key}" for key, _, _ in colours))
    plain = view.grab().toImage()
    mine = [asked for asked in colours if asked[0].startswith("mini:5:call-54:")]
    assert {name for _, name, _ in mine} == {f"{samples.WORKSPACE}/{samples.GUIDE}"}
    (key, turn, path, fragments) = places[0]
    assert (turn, path) == (5, samples.GUIDE)
    view.set_places(key, [(41, 41)] * len(fragments))
    numbered = view.grab().toImage()
    assert numbered != plain
    for key, _, lines in mine:
        ends = [len(lines)] * (len(lines) + 1)
        view.set_colours(key, StyleRuns(offsets=tuple(min(n, 1) for n, _ in enumerate(ends)), starts=(0,), kinds=bytes([3])))
    assert view.grab().toImage() != numbered
    asked = len(colours), len(places)
    press(qtbot, view, "card", "call-54")
    press(qtbot, view, "card", "call-54")
    qtbot.wait(0)
    assert (len(colours), len(places)) == asked


def undone(path: str, *, point: str = "before:5", can_undo: int = 9) -> Timeline:
    """The timeline after what turn 5 did to a file was undone."""
    timeline = samples.timeline()
    entries = [
        replace(entry, files=tuple(replace(one, undone=one.path == path) for one in entry.files))
        if (entry.kind, entry.turn) == (EntryKind.TURN, 5)
        else entry
        for entry in timeline.entries
    ]
    files = tuple(one for entry in entries for one in entry.files if one.undone)
    undo = TimelineEntry(
        kind=EntryKind.RESTORE, turn=5, at=samples.NOW, entry=9, point=point, restore_kind=RestoreKind.UNDO_FILE, files=files
    )
    return replace(timeline, entries=(*entries, undo), can_undo=can_undo)


def names(view: TranscriptView, action: str) -> list[str]:
    """What does ``action`` in the rows that are laid out."""
    return [hit.name for _, block in sorted(view.views.items()) for hit in block.hits if hit.action == action]


@pytest.mark.parametrize("path", [str(samples.GUIDE), "src/export/csv_writer.py"])
def test_what_was_undone_last_can_be_redone_where_undo_stood(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel, path: str
) -> None:
    phrase = f"Undo what turn 5 did to {path}"
    assert phrase in names(view, "undo")
    model.set_timeline(undone(path))
    view.grab()
    assert phrase not in names(view, "undo")
    assert names(view, "redo") == [f"Redo what turn 5 did to {path}"]
    with qtbot.waitSignal(view.redo_requested):
        press(qtbot, view, "redo")
    row = next(row for row, block in view.views.items() if any(hit.action == "redo" for hit in block.hits))
    menu = view.block_menu(row)
    assert f"Redo what turn 5 did to {path}" in [action.text() for action in menu.actions()]
    model.set_held("Wait until the other chat’s turn ends.")
    view.grab()
    assert names(view, "redo") == []


def test_what_the_next_undo_does_not_take_back_is_only_said_to_be_undone(view: TranscriptView, model: TranscriptModel) -> None:
    for timeline in (undone(str(samples.GUIDE), can_undo=12), undone(str(samples.GUIDE), point="before:4")):
        model.set_timeline(timeline)
        view.grab()
        assert names(view, "redo") == []
