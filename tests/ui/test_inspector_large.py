"""A chat of hundreds of turns and thousands of files: no step of the inspector holds up the window."""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtTag,
    BeforeTurn,
    Conflict,
    EntryKind,
    PinnedPoint,
    PlacedConflict,
    Timeline,
    TimelineEntry,
)
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath
from vibekit_desktop.ui.models.changed_files import changed_files, count_changed
from vibekit_desktop.ui.models.list_changes import steps_between
from vibekit_desktop.ui.models.timeline import AT_ONCE
from vibekit_desktop.ui.models.timeline_build import rows_of
from vibekit_desktop.ui.models.timeline_rows import RowKind
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.inspector_bar import CONFLICTS, FILES, TIMELINE

TURNS, OF_A_TURN, CONFLICTS_IN_ALL = 400, 7, 500
YARDS = 18
"""What a step may take: so many times a sum of 100,000 numbers, which takes 2.8 ms where 50 ms are the aim."""
OTHER = "11111111-1111-4111-8111-111111111111"


def name(number: int) -> str:
    return f"src/part_{number % 37}/deep/file_{number}.py"


def long_timeline(turns: int = TURNS, of_a_turn: int = OF_A_TURN) -> Timeline:
    entries: list[TimelineEntry] = []
    for turn in range(1, turns + 1):
        files = [samples.change(name(turn * of_a_turn + n), 3, 1) for n in range(of_a_turn)]
        entries.append(samples.turn(turn, "10:00", 30, f"Do the thing number {turn}.", files))
    now = TimelineEntry(kind=EntryKind.NOW, turn=turns, at=0, files=(samples.change(name(of_a_turn), 1, 1),))
    return samples.timeline((*entries, now), can_undo=0)


def conflicts(count: int = CONFLICTS_IN_ALL) -> list[PlacedConflict]:
    return [
        PlacedConflict(
            conflict=Conflict(
                path=WorkspacePath(name(OF_A_TURN + n)),
                other_chat=OTHER,
                expected_sha="e" * 64,
                actual_sha="a" * 64,
                tag=str(n + 1),
                ts=n + 1,
            ),
            theirs=AtTag(Tag(str(n + 1))),
            ours=AfterTurn(1 + n // OF_A_TURN),
            turn=1 + n // OF_A_TURN,
        )
        for n in range(count)
    ]


@pytest.fixture
def inspector(qtbot: QtBot) -> Inspector:
    widget = Inspector(ThemeHub("light"), now_ms=lambda: samples.NOW_MS)
    qtbot.addWidget(widget)
    widget.resize(360, 900)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def longest_ms(work: Callable[[], object]) -> float:
    """The longest step that something takes, with what it leaves for later."""
    longest = 0.0
    rest: list[Callable[[], object]] = [QApplication.processEvents] * 20
    for step in (work, *rest):
        begin = time.process_time()
        step()
        longest = max(longest, (time.process_time() - begin) * 1000)
    return longest


def yard_ms() -> float:
    """What one and the same work takes on this machine now."""
    begin = time.process_time()
    total = 0
    for number in range(100_000):
        total += number
    return (time.process_time() - begin) * 1000


def test_no_step_of_a_long_chat_is_long(inspector: Inspector) -> None:
    shown, placed = long_timeline(), conflicts()
    other = replace(shown, chat=ChatId(OTHER))
    least: dict[str, float] = {}

    def do(what: str, work: Callable[[], object]) -> None:
        least[what] = min(least.get(what, 1e9), longest_ms(work) / min(yard_ms(), yard_ms()))

    for _ in range(3):
        inspector.show_tab(TIMELINE)
        do("the timeline is read", lambda: inspector.show_timeline(shown))
        do("its pins and conflicts", lambda: inspector.show_beside([PinnedPoint(BeforeTurn(4), "clean", 1)], placed, {}))
        do("it is read again", lambda: inspector.show_timeline(replace(shown)))
        do("all files are shown", lambda: inspector.timeline_model.fold_all(False))
        do("all files are folded", lambda: inspector.timeline_model.fold_all(True))
        do("the tab of the files", lambda: inspector.show_tab(FILES))
        do("read again under the files", lambda: inspector.show_timeline(replace(shown)))
        do("as a tree", lambda: inspector.files.set_tree(True))
        do("as a list", lambda: inspector.files.set_tree(False))
        do("the tab of the conflicts", lambda: inspector.show_tab(CONFLICTS))
        do("another chat", lambda: inspector.show_timeline(other))
    assert not {what: took for what, took in least.items() if took > YARDS}


def test_rows_of_files_are_made_when_somebody_looks_at_them(inspector: Inspector, qtbot: QtBot) -> None:
    shown = long_timeline()
    inspector.show_timeline(shown)
    assert inspector.bar.tabs[FILES].count == f"{TURNS * OF_A_TURN:,}"
    assert inspector.files_model.rowCount() == 0
    inspector.show_tab(FILES)
    qtbot.waitUntil(lambda: inspector.files_model.rowCount() == TURNS * OF_A_TURN)
    inspector.show_tab(TIMELINE)
    inspector.show_timeline(None)
    assert inspector.files_model.rowCount() == 0


def test_files_are_counted_as_they_are_listed() -> None:
    moved = samples.turn(1, "13:00", 1, "Move it.", (samples.change("b.py", 1, 1), samples.change("a.py", 1, 1, old="b.py")))
    back = samples.turn(2, "13:01", 1, "And back.", (samples.change("b.py", 1, 1, old="a.py"),))
    for one in (samples.timeline(), samples.timeline((moved,)), samples.timeline((moved, back)), samples.timeline(())):
        assert count_changed(one) == len(changed_files(one))


def test_turns_that_are_kept_say_the_same_as_those_made_anew(inspector: Inspector) -> None:
    model, shown = inspector.timeline_model, long_timeline(12, 3)
    steps: list[Callable[[], object]] = [
        lambda: inspector.show_timeline(shown),
        lambda: inspector.show_beside([PinnedPoint(BeforeTurn(4), "clean", 1)], conflicts(9)),
        lambda: model.fold_all(True),
        lambda: inspector.show_conflicts(conflicts(3)),
        lambda: model.toggle(next(at for at, row in enumerate(model.rows) if row.key == ("group", 2, "turn"))),
        lambda: inspector.show_timeline(replace(shown, workspace_found=False)),
        lambda: inspector.show_timeline(replace(shown, entries=shown.entries[:5])),
        lambda: model.fold_all(False),
        lambda: inspector.show_timeline(samples.timeline()),
    ]
    opened: frozenset[tuple[str, int, str]]
    for step in steps:
        step()
        assert model.timeline is not None
        opened = frozenset(row.key for row in model.rows if row.open)
        assert list(model.rows) == rows_of(model.timeline, opened, now_ms=samples.NOW_MS, beside=model.beside)


def test_steps_between_lists_lead_from_one_to_the_other() -> None:
    chance = random.Random(3)
    for _ in range(300):
        old = chance.sample(range(12), chance.randrange(12))
        new = sorted(chance.sample(range(12), chance.randrange(12)))
        for one in (old, sorted(old), [*old, *old[:2]]):
            made, at = list[int](), 0
            for same, old_from, old_to, new_from, new_to in steps_between(one, new):
                assert old_from == at
                assert not same or one[old_from:old_to] == new[new_from:new_to]
                made, at = made + (one[old_from:old_to] if same else new[new_from:new_to]), old_to
            assert made == new
            assert at == len(one)


# Tens of thousands of turns.


def quiet_timeline(turns: int) -> Timeline:
    entries = [samples.turn(turn, "10:00", 30, f"Question {turn}.", ()) for turn in range(1, turns + 1)]
    return samples.timeline((*entries, TimelineEntry(kind=EntryKind.NOW, turn=turns, at=0)), can_undo=0)


def test_rows_of_early_turns_are_made_when_somebody_gets_there(inspector: Inspector, qtbot: QtBot) -> None:
    model, view, turns = inspector.timeline_model, inspector.timeline, AT_ONCE
    inspector.show_timeline(quiet_timeline(turns))
    grown = [0, model.rowCount()]
    model.rowsInserted.connect(lambda: grown.append(model.rowCount()))

    def is_at_the_first_turn() -> bool:
        view.scrollToBottom()
        return ("turn", 1, "") in {row.key for row in model.rows}

    qtbot.waitUntil(is_at_the_first_turn, timeout=20_000)
    assert all(0 < more - less < AT_ONCE + 10 for less, more in pairwise(grown))
    assert [row.number for row in model.rows if row.kind is RowKind.TURN] == list(range(turns, 0, -1))
    assert not model.canFetchMore()


def test_news_of_a_long_chat_makes_no_more_rows_than_were_there(inspector: Inspector) -> None:
    model, shown = inspector.timeline_model, quiet_timeline(5 * AT_ONCE)
    inspector.show_timeline(shown)
    known = model.rowCount()
    for step in (
        lambda: inspector.show_timeline(quiet_timeline(5 * AT_ONCE + 1)),
        lambda: inspector.show_beside([PinnedPoint(BeforeTurn(4), "clean", 1)], ()),
        lambda: model.fold_all(True),
    ):
        step()
        assert model.rowCount() < known + 10
    inspector.show_timeline(replace(shown, chat=ChatId(OTHER)))
    assert model.rowCount() == known


def test_going_to_an_early_turn_finds_it(inspector: Inspector) -> None:
    inspector.show_timeline(quiet_timeline(5 * AT_ONCE))
    assert inspector.timeline.show_turn(2)
    assert inspector.timeline.currentIndex().row() == inspector.timeline_model.row_of_key(("turn", 2, ""))
    assert not inspector.timeline.show_turn(5 * AT_ONCE + 2)


def test_many_files_on_disk_now_are_no_reason_to_make_the_rows_of_every_turn(inspector: Inspector) -> None:
    shown = long_timeline(400, 2)
    files = tuple(samples.change(name(n), 1, 1) for n in range(AT_ONCE))
    inspector.show_timeline(replace(shown, entries=(*shown.entries[:-1], replace(shown.entries[-1], files=files))))
    assert AT_ONCE < inspector.timeline_model.rowCount() < AT_ONCE + 20


def test_of_twenty_thousand_files_a_thousand_have_rows_and_the_others_are_counted(qtbot: QtBot) -> None:
    many = [samples.change(name(n) + str(n), 3, 1) for n in range(20_300)]
    now = TimelineEntry(kind=EntryKind.NOW, turn=1, at=0, files=tuple(many[:1_001]))
    timeline = samples.timeline((samples.turn(1, "10:00", 30, "Do it.", many), now), can_undo=0)
    inspector = Inspector(ThemeHub("light", still=True), now_ms=lambda: samples.NOW_MS)
    qtbot.addWidget(inspector)
    inspector.show_timeline(timeline)
    rows = inspector.timeline_model.rows
    assert sum(row.kind is RowKind.FILE and row.in_now for row in rows) == 1_000
    (rest,) = [row for row in rows if row.kind is RowKind.QUIET]
    assert rest.title == "1 more file; all are in Files and in Review changes"
    assert (rest.in_now, rest.last_in_block) == (True, True)
    inspector.show_timeline(samples.timeline((timeline.entries[0], replace(now, files=())), can_undo=0))
    rows = inspector.timeline_model.rows
    inspector.timeline_model.toggle(next(at for at, row in enumerate(rows) if row.kind is RowKind.GROUP))
    rows = inspector.timeline_model.rows
    assert sum(row.kind is RowKind.FILE and not row.in_now for row in rows) == 1_000
    assert "19,300 more files; all are in Files and in Review changes" in [row.title for row in rows]
    inspector.grab()
