"""Tool cards on the screen: a small diff in its colours and with its numbers, conflicts in place, the way back from an undo."""

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import DiffFragment
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
