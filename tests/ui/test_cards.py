"""Tool cards on the screen: a small diff in its colours and with its numbers, conflicts in place, the way back from an undo."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtTag,
    Conflict,
    EntryKind,
    PlacedConflict,
    RestoreKind,
    Timeline,
    TimelineEntry,
)
from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath
from vibekit_desktop.ui.models.blocks import conflict_key
from vibekit_desktop.ui.models.conflicts import CardButton, ConflictCard, card_of
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
    model.set_held("Wait until the other chat's turn ends.")
    view.grab()
    assert names(view, "redo") == []


def test_what_the_next_undo_does_not_take_back_is_only_said_to_be_undone(view: TranscriptView, model: TranscriptModel) -> None:
    for timeline in (undone(str(samples.GUIDE), can_undo=12), undone(str(samples.GUIDE), point="before:4")):
        model.set_timeline(timeline)
        view.grab()
        assert names(view, "redo") == []


# -- a conflict, in place --------------------------------------------------------------------------------------------


def conflict(path: str, *, settled: bool = False, kept: bool = True) -> ConflictCard:
    """Another chat wrote what turn 5 wrote over."""
    made = Conflict(
        path=WorkspacePath(path), other_chat="other", expected_sha="e" * 64, actual_sha="a" * 64, tag="5.1", ts=samples.NOW
    )
    theirs = AtTag(Tag("5.1")) if kept else None
    placed = PlacedConflict(conflict=made, theirs=theirs, ours=AfterTurn(5), turn=5, before=4, settled=settled)
    return card_of(placed, {ChatId("other"): "Docs: tidy the export guide"}, samples.NOW)


@pytest.mark.parametrize("path", [str(samples.GUIDE), "src/export/csv_writer.py"])
def test_the_note_of_a_conflict_opens_under_the_file_and_its_buttons_ask_for_what_they_say(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel, path: str
) -> None:
    """Of a file that an edit changed, and of one that a command changed."""
    card = conflict(path)
    key = conflict_key(card)
    model.set_conflicts([card])
    view.grab()
    assert names(view, "conflict") == [f"Conflict in {path}: Two chats changed {path.rpartition('/')[2]}"]
    assert names(view, "settle") == []
    (shows,) = [name for name in names(view, "diff") if name.startswith(f"Show diff of {path}, turn 5, ")]
    assert shows.endswith(" deleted, conflict")
    row = next(row for row, block in view.views.items() if any(hit.action == "conflict" for hit in block.hits))
    closed = view.lay_out(row).height
    press(qtbot, view, "conflict", key)
    assert names(view, "settle") == [card.button_name(button) for button in card.buttons]
    note = [hit.box for hit in view.lay_out(row).hits if hit.action == "settle"]
    chip = next(hit.box for hit in view.lay_out(row).hits if hit.action == "conflict")
    assert all(box.top() > chip.bottom() and box.right() <= view.column_width() for box in note)
    assert view.lay_out(row).height > closed
    view.grab()
    for button in card.buttons:
        number = card.buttons.index(button)
        hit = next(one for one in view.lay_out(row).hits if (one.action, one.number) == ("settle", number))
        with qtbot.waitSignal(view.conflict_pressed) as asked:
            view.do(hit)
        assert asked.args == [card, button]
    with qtbot.waitSignal(view.conflict_pressed) as asked:
        press(qtbot, view, "settle", key)
    assert asked.args == [card, CardButton.COMPARE]
    press(qtbot, view, "conflict", key)
    assert names(view, "settle") == []
    assert view.lay_out(row).height == closed


def test_the_note_is_reached_by_keys_and_goes_with_a_conflict_that_is_settled(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel
) -> None:
    card = conflict(str(samples.GUIDE))
    model.set_conflicts([card])
    view.setFocus()
    row = next(row for row, block in view.views.items() if any(hit.action == "conflict" for hit in block.hits))
    view.go_to(row)

    def walk_to(action: str) -> None:
        hits = view.lay_out(row).hits
        for _ in range(len(hits) + 1):
            if 0 <= view._button < len(hits) and hits[view._button].action == action:
                return
            qtbot.keyClick(view, Qt.Key.Key_Right if view._button >= 0 else Qt.Key.Key_Return)
        raise AssertionError(f"no key reaches {action}")

    walk_to("conflict")
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert len(names(view, "settle")) == 3
    walk_to("settle")
    with qtbot.waitSignal(view.conflict_pressed) as asked:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert asked.args == [card, CardButton.COMPARE]
    model.set_conflicts([conflict(str(samples.GUIDE), settled=True)])
    view.grab()
    assert names(view, "conflict") == names(view, "settle") == []


def test_the_chip_of_a_turn_opens_the_note_and_what_was_not_kept_says_so(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel
) -> None:
    model.set_conflicts([conflict(str(samples.GUIDE), kept=False)])
    view.grab()
    press(qtbot, view, "conflicts")
    assert len(names(view, "settle")) == 1
    assert "No copy of it was kept." in names(view, "off")
