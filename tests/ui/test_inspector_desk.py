"""Pins, conflicts and files of the inspector, against a core made for the test."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore, empty_plan
from tests.ui import sample_changes as samples
from tests.ui import samples as chats
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.types.checkpoints import (
    Action,
    AfterTurn,
    AtTag,
    Author,
    BeforeTurn,
    Conflict,
    EntryKind,
    FileState,
    Now,
    PinnedPoint,
    PlacedConflict,
    PlannedFile,
    RestoreKind,
    RestoreReport,
    Scope,
    State,
    TimelineEntry,
)
from vibekit_desktop.core.types.errors import InvalidText
from vibekit_desktop.core.types.events import TimelineNoted
from vibekit_desktop.core.types.ids import BlobHash, ChatId, Tag, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.pin_point import PinPoint
from vibekit_desktop.ui.dialogs.restore_preview import RestorePreview
from vibekit_desktop.ui.inspector_desk import InspectorDesk
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.models.conflicts import CardButton
from vibekit_desktop.ui.models.timeline_rows import RowKind
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.checkpoints import CheckpointOperations
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.inspector import Inspector

OTHER = chats.BRANCH
GUIDE = WorkspacePath("docs/export.md")
CONFLICT = Conflict(path=GUIDE, other_chat=OTHER, expected_sha="e" * 64, actual_sha="a" * 64, tag="5", ts=1)
PLACED = PlacedConflict(conflict=CONFLICT, theirs=AtTag(Tag("5")), ours=AfterTurn(5), turn=5, before=4)


@dataclass
class Held:
    why_held: str = ""
    is_running: bool = False
    stopped: int = 0

    def stop(self) -> None:
        self.stopped += 1


class Stage:
    """An inspector beside one open chat."""

    def __init__(self, qtbot: QtBot) -> None:
        self.hub = ThemeHub("light", still=True)
        self.fake = FakeCore()
        view = chats.chat_view()
        self.chat = view.header.id
        self.fake.chats.views = {self.chat: view}
        self.fake.checkpoints.timelines = {self.chat: samples.timeline(chat=self.chat)}
        self.window = QWidget()
        self.window.resize(1300, 850)
        qtbot.addWidget(self.window)
        self.bridge = Bridge(self.fake.core.events)
        self.notifier = Notifier(self.window, self.hub)
        self.open = OpenChat(self.fake.core, self.bridge, self.window)
        self.work = CheckpointOperations(self.hub, self.bridge, self.fake.core, self.notifier, self.window)
        self.inspector = Inspector(self.hub, self.window, now_ms=lambda: samples.NOW_MS)
        self.inspector.setGeometry(940, 0, 360, 850)
        self.open.timeline_read.connect(self.inspector.show_timeline)
        self.rows = ChatListModel(lambda: samples.NOW_MS, self.window)
        self.rows.load(chats.headers())
        self.held = Held()
        self.desk = InspectorDesk(
            self.fake.core,
            self.hub,
            self.bridge,
            self.notifier,
            self.window,
            self.open,
            self.held,
            self.work,
            self.inspector,
            self.rows,
        )
        self.window.show()

    def show(self, *placed: PlacedConflict, pins: tuple[PinnedPoint, ...] = ()) -> None:
        self.fake.checkpoints.placed, self.fake.checkpoints.pinned = list(placed), list(pins)
        run(self.open.open(self.chat))
        self.settle()
        self.fake.checkpoints.calls.clear()

    def settle(self) -> None:
        async def quiet() -> None:
            await settle()
            await until(lambda: not self.bridge.running)
            await settle()

        run(quiet())

    def press_toast(self) -> None:
        """Press the button of the toast that is shown."""
        buttons = [one for one in self.window.findChildren(Button) if one.text() in ("Undo", "Stop") and one.isVisible()]
        buttons[-1].click()

    def asked(self, *names: str) -> list[tuple[object, ...]]:
        return [(name, *given) for name, given in self.fake.checkpoints.calls if name in names]


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with own_loop():
        found = Stage(qtbot)
        yield found
        bury(found.window)


def test_pins_and_conflicts_are_shown_beside_the_timeline(stage: Stage) -> None:
    with_cards: list[object] = []
    stage.desk.conflicts_known.connect(with_cards.append)
    stage.show(
        replace(PLACED, conflict=replace(CONFLICT, ts=0), settled=True), PLACED, pins=(PinnedPoint(BeforeTurn(4), "clean", 1),)
    )
    rows = stage.inspector.timeline_model.rows
    assert [row.title for row in rows if row.kind is RowKind.PIN] == ["clean"]
    assert [row.path for row in rows if row.conflict] == [GUIDE]
    tab = stage.inspector.bar.tabs[2]
    assert (tab.count, tab.accessibleName()) == ("1", "Conflicts, 1")
    (card,) = stage.inspector.conflicts_model.cards
    assert card.text.startswith("“Write rows eagerly instead” wrote it")
    assert len(with_cards) == 1


def test_what_a_person_did_and_no_turn_wrote_over_is_no_conflict(stage: Stage) -> None:
    """The timeline has it, under Now or between the turns; an alarm for each own change would be one that nobody looks at."""
    by_hand = replace(PLACED, conflict=replace(CONFLICT, other_chat="", tag="", ts=2), theirs=Now(), turn=0)
    stage.show(by_hand)
    assert stage.inspector.conflicts_model.cards == ()
    stage.show(by_hand, replace(by_hand, turn=5), replace(PLACED, turn=0))
    assert [card.placed.turn for card in stage.inspector.conflicts_model.cards] == [0, 5]


def test_without_conflicts_there_is_no_badge_and_a_sentence(stage: Stage) -> None:
    stage.show()
    assert stage.inspector.bar.tabs[2].count == ""
    said = stage.inspector.conflicts._blank.accessibleName()
    assert said.startswith("No conflicts. No other chat changed a file of this one, and no turn wrote over")


def test_a_point_is_pinned_under_the_name_that_was_typed(stage: Stage) -> None:
    stage.show()
    stage.inspector.pin_requested.emit(BeforeTurn(4), "")

    async def answer() -> None:
        await until(lambda: any(one.card.isVisible() for one in stage.window.findChildren(PinPoint)))
        dialog = stage.window.findChild(PinPoint)
        assert isinstance(dialog, PinPoint)
        assert not dialog.go.isEnabled()
        QTest.keyClicks(dialog.field, " before  the rewrite ")
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)

    run(answer())
    stage.settle()
    assert stage.asked("pin") == [("pin", stage.chat, BeforeTurn(4), "before the rewrite")]


def test_a_pin_that_is_refused_says_why(stage: Stage) -> None:
    stage.show(pins=(PinnedPoint(BeforeTurn(4), "clean", 1),))
    stage.fake.checkpoints.raises["unpin"] = InvalidText(stage.chat)
    stage.inspector.unpin_requested.emit(BeforeTurn(4))
    stage.settle()
    assert stage.notifier.shown


def test_a_pin_that_was_removed_comes_back_with_undo(stage: Stage) -> None:
    stage.show(pins=(PinnedPoint(BeforeTurn(4), "clean", 1),))
    stage.inspector.unpin_requested.emit(BeforeTurn(4))
    stage.settle()
    assert stage.notifier.shown == "Unpinned “clean”"
    stage.press_toast()
    stage.settle()
    assert stage.asked("unpin", "pin") == [("unpin", stage.chat, BeforeTurn(4)), ("pin", stage.chat, BeforeTurn(4), "clean")]


def test_keep_settles_a_conflict_and_can_be_taken_back(stage: Stage) -> None:
    stage.show(PLACED)
    (card,) = stage.inspector.conflicts_model.cards
    stage.desk.press_conflict(card, CardButton.KEEP)
    stage.settle()
    assert stage.asked("settle") == [("settle", stage.chat, CONFLICT, True)]
    assert stage.notifier.shown == "export.md is kept as it is"
    stage.fake.publish(TimelineNoted(stage.chat))
    stage.settle()
    assert stage.inspector.conflicts_model.cards == ()
    assert stage.inspector.bar.tabs[2].count == ""
    stage.press_toast()
    stage.settle()
    assert stage.asked("settle")[-1] == ("settle", stage.chat, CONFLICT, False)


def test_compare_is_a_review_between_the_two_contents(stage: Stage, qtbot: QtBot) -> None:
    stage.show(PLACED)
    (card,) = stage.inspector.conflicts_model.cards
    with qtbot.waitSignal(stage.desk.compare_wanted) as seen:
        stage.desk.press_conflict(card, CardButton.COMPARE)
    assert seen.args == [GUIDE, AtTag(Tag("5")), AfterTurn(5)]


def bring_back(stage: Stage, *, go: bool) -> None:
    stage.show(PLACED)
    present = FileState(State.PRESENT, BlobHash("b" * 64), 0o644)
    file = PlannedFile(path=GUIDE, action=Action.WRITE, current=present, wanted=replace(present, sha=BlobHash("a" * 64)))
    plan = replace(empty_plan(stage.chat, AtTag(Tag("5")), Scope.FILES, RestoreKind.UNDO_FILE), files=(file,), paths=(GUIDE,))
    stage.fake.checkpoints.plans = [plan]
    stage.fake.checkpoints.reports = [
        RestoreReport(
            chat=stage.chat, kind=RestoreKind.UNDO_FILE, entry=3, restored=(GUIDE,), left=(), failed=(), verified=True
        )
    ]
    (card,) = stage.inspector.conflicts_model.cards
    stage.desk.press_conflict(card, CardButton.BRING_BACK)

    async def answer() -> None:
        await until(lambda: any(one.card.isVisible() for one in stage.window.findChildren(RestorePreview)))
        dialog = stage.window.findChild(RestorePreview)
        assert isinstance(dialog, RestorePreview)
        dialog.answer(plan if go else None)

    run(answer())
    stage.settle()


def test_bring_back_shows_what_it_would_do_does_it_and_settles_the_conflict(stage: Stage) -> None:
    bring_back(stage, go=True)
    assert [name for name, *_ in stage.asked("plan_undo_file", "carry_out", "settle")] == [
        "plan_undo_file",
        "carry_out",
        "settle",
    ]
    assert stage.asked("settle") == [("settle", stage.chat, CONFLICT, True)]


def test_a_preview_that_is_left_changes_and_settles_nothing(stage: Stage) -> None:
    bring_back(stage, go=False)
    assert stage.asked("carry_out", "settle") == []


def test_bring_back_waits_for_a_running_turn_and_says_so(stage: Stage) -> None:
    stage.show(PLACED)
    stage.held.why_held, stage.held.is_running = "Wait until turn 6 ends, or stop it", True
    (card,) = stage.inspector.conflicts_model.cards
    stage.desk.press_conflict(card, CardButton.BRING_BACK)
    stage.settle()
    assert stage.asked("plan_undo_file") == []
    stage.press_toast()
    assert stage.held.stopped == 1


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_every_chat_that_changed_a_file_is_a_menu_and_opens(stage: Stage, qtbot: QtBot) -> None:
    stage.show()
    stage.fake.checkpoints.writers = [stage.chat, OTHER, ChatId("unheard-of")]
    stage.inspector.writers_requested.emit(GUIDE)
    stage.settle()
    menu = next(one for one in stage.inspector.findChildren(QMenu) if one.isVisible())
    section, own, other, gone = menu.actions()
    assert (section.text(), own.text(), own.isEnabled()) == ("export.md", "This chat", False)
    assert (other.text(), gone.text()) == ("Write rows eagerly instead", "A chat that is gone")
    with qtbot.waitSignal(stage.inspector.open_chat_requested) as seen:
        other.trigger()
    assert seen.args == [OTHER]
    menu.close()


def test_now_names_the_other_chat_as_it_is_called(stage: Stage) -> None:
    *before, now = samples.entries()
    files = tuple(replace(change, author=Author.CHAT, other_chat=OTHER) for change in now.files)
    news = TimelineEntry(kind=EntryKind.NOW, turn=5, at=0, files=files)
    stage.fake.checkpoints.timelines[stage.chat] = samples.timeline((*before, news), chat=stage.chat)
    stage.show()
    row = next(one for one in stage.inspector.timeline_model.rows if one.kind is RowKind.NOW)
    assert row.detail == "2 files changed by “Write rows eagerly instead” since turn 5"


def test_what_stands_beside_another_chat_is_never_shown(stage: Stage) -> None:
    stage.show(replace(PLACED, theirs=Now()), pins=(PinnedPoint(BeforeTurn(4), "clean", 1),))
    stage.inspector.show_timeline(samples.timeline(chat=OTHER))
    assert not [row for row in stage.inspector.timeline_model.rows if row.kind is RowKind.PIN or row.conflict]
    assert stage.inspector.conflicts_model.cards == ()
