"""The review page and its presenter: one current request, late answers dropped, words and colours as they arrive."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import sample_changes as samples
from tests.ui import sample_texts
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.diff.document import build
from vibekit_desktop.core.types.checkpoints import ABSENT, AfterTurn, BeforeTurn, Now, Start
from vibekit_desktop.core.types.diffs import (
    EXACT,
    BinaryPair,
    Compare,
    DiffRequest,
    FileDiff,
    Ignore,
    Span,
    StyleRuns,
    TooLarge,
    WordSpans,
)
from vibekit_desktop.core.types.errors import BlobCorrupt
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.models.files import FileEntry, FileListModel, entry_of, totals
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.file_list import shown_name
from vibekit_desktop.ui.views.review import ReviewPage
from vibekit_desktop.ui.views.segments import Segments

CSV = samples.path("src/export/csv_writer.py")
ADDED = samples.path("tests/data/empty_row.csv")
LOGO = samples.path("assets/logo.png")
BIG = samples.path("data/big.json")


class Stage:
    """A page over a core with four files."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        self.hub = ThemeHub("light")
        self.bridge = Bridge(self.fake.core.events)
        result = build(sample_texts.OLD_BYTES, sample_texts.NEW_BYTES)
        self.fake.diffs.by_path = {
            CSV: samples.file_diff(CSV, BeforeTurn(3), AfterTurn(3), result),
            ADDED: FileDiff(
                request=DiffRequest(samples.CHAT, ADDED, Start(), Now()),
                before=ABSENT,
                after=samples.present("n"),
                result=build(None, b"a\nb\n"),
            ),
            LOGO: samples.file_diff(LOGO, Start(), Now(), BinaryPair(212_000, 198_000)),
            BIG: samples.file_diff(BIG, Start(), Now(), TooLarge(9_200_000, 9_300_000)),
        }
        self.page = ReviewPage(self.hub, self.bridge, self.fake.core.diffs)
        self.page.options_chosen.connect(self.page.set_options)
        qtbot.addWidget(self.page)
        self.page.resize(1200, 700)
        self.page.show()

    async def open(self, **more: object) -> None:
        self.page.open("Keep empty rows", samples.timeline(), **more)  # type: ignore[arg-type]  # a shorthand
        await until(lambda: self.page.pane.diff is not None)
        await settle()

    def asked(self, name: str) -> list[tuple[object, ...]]:
        return [arguments for call, arguments in self.fake.diffs.calls if call == name]


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with own_loop():
        found = Stage(qtbot)
        yield found
        bury(found.page)


def test_it_opens_with_the_whole_chat_against_the_disk_and_the_file_that_was_asked_for(stage: Stage) -> None:
    run(stage.open(path=ADDED))
    assert stage.asked("files") == [(samples.CHAT, Start(), Now(), (), EXACT)]
    assert stage.page.pane.diff is not None
    assert stage.page.pane.diff.request == DiffRequest(samples.CHAT, ADDED, Start(), Now())


def test_the_letters_and_counts_are_those_of_the_diffs(stage: Stage) -> None:
    run(stage.open())
    rows = [(entry.letter, entry.added, entry.removed, entry.remark) for entry in stage.page.model.entries]
    assert rows == [("M", 13, 10, ""), ("A", 2, 0, ""), ("M", None, None, "binary"), ("M", None, None, "large")]


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (None, "src/rows.py", "rows.py"),
        ("src/fmt.py", "src/format.py", "fmt.py → format.py"),
        ("src/fmt.py", "lib/format.py", "fmt.py → format.py"),
        ("src/rows.py", "lib/rows.py", "rows.py"),
    ],
)
def test_a_file_that_only_went_to_another_folder_has_one_name(old: str | None, new: str, shown: str) -> None:
    entry = entry_of(samples.file_diff(LOGO, Start(), Now(), BinaryPair(1, 2)))
    entry = replace(entry, path=samples.path(new), old_path=samples.path(old) if old else None)
    assert shown_name(entry) == shown


def test_nothing_of_the_bar_is_hidden_by_a_width_that_nobody_saw(qtbot: QtBot) -> None:
    hub = ThemeHub("light", still=True)
    page = ReviewPage(hub, Bridge(FakeCore().core.events), FakeCore().core.diffs)
    qtbot.addWidget(page)
    page.resize(300, 200)
    assert not page.bar.white.isHidden()
    page.resize(1400, 900)
    page.show()
    assert page.bar.white.isVisible()
    page.resize(500, 500)
    QApplication.processEvents()
    assert not page.bar.white.isVisible()


def test_another_side_asks_for_other_diffs(stage: Stage) -> None:
    async def story() -> None:
        await stage.open(old=BeforeTurn(3), new=AfterTurn(3), path=CSV)
        stage.page.bar.right.piece(1).click()
        await until(lambda: stage.page.presenter.request == DiffRequest(samples.CHAT, CSV, BeforeTurn(3), Now()))
        stage.page._compare(Start(), Now())
        await until(lambda: stage.page.presenter.request == DiffRequest(samples.CHAT, CSV, Start(), Now()))

    run(story())


def test_whitespace_is_ignored_on_request(stage: Stage) -> None:
    async def story() -> None:
        await stage.open(path=CSV)
        stage.page.bar.white.click()
        await until(lambda: stage.asked("file")[-1][0] == DiffRequest(samples.CHAT, CSV, Start(), Now(), Compare(Ignore.ALL)))

    run(story())


def test_walking_through_the_list_computes_only_where_one_stops(stage: Stage) -> None:
    async def story() -> None:
        await stage.open(path=CSV)
        before = len(stage.asked("file"))
        for _ in range(3):
            QTest.keyClick(stage.page.files, Qt.Key.Key_Down)
        await until(lambda: stage.page.pane.diff is not None and stage.page.pane.diff.request.path == BIG)
        assert len(stage.asked("file")) == before + 1

    run(story())


def test_a_late_answer_is_dropped(stage: Stage) -> None:
    gate = asyncio.Event()
    quick = stage.fake.diffs.file

    async def slow(request: DiffRequest, *, unlimited: bool = False) -> FileDiff:
        if request.path == CSV:
            # Like a thread that cannot be cancelled: it answers although nobody waits any more.
            await asyncio.shield(asyncio.ensure_future(gate.wait()))
        return await quick(request, unlimited=unlimited)

    stage.fake.diffs.file = slow  # type: ignore[method-assign]  # holds one answer back

    async def story() -> None:
        stage.page.open("t", samples.timeline(), path=CSV)
        await until(lambda: stage.page.presenter.request is not None)
        stage.page.presenter._start()
        await settle()
        stage.page.list.files.setCurrentIndex(stage.page.model.index(stage.page.model.row_of(ADDED)))
        await until(lambda: stage.page.pane.diff is not None)
        gate.set()
        await settle()
        assert stage.page.pane.diff is not None
        assert stage.page.pane.diff.request.path == ADDED

    run(story())


def test_words_and_colours_are_asked_for_and_arrive(stage: Stage) -> None:
    stage.fake.diffs.word_spans = {2: WordSpans((Span(0, 1),), (Span(0, 2),))}
    stage.fake.diffs.styles = {CSV: StyleRuns((0, 1), (0,), b"\x01")}

    async def story() -> None:
        await stage.open(path=CSV)
        dress = stage.page.pane.view._painter.dress
        await until(lambda: 2 in dress.words and dress.styles[0] is not None and dress.styles[1] is not None)

    run(story())


def test_words_of_a_former_file_never_reach_the_present_one(stage: Stage) -> None:
    gate = asyncio.Event()

    async def slow(diff: FileDiff, first: int, last: int) -> Mapping[int, WordSpans]:
        await gate.wait()
        return {0: WordSpans((Span(0, 1),), (Span(0, 1),))}

    bury(stage.page)
    stage.fake.diffs.words = slow  # type: ignore[method-assign]  # holds the words back
    stage.page = ReviewPage(stage.hub, stage.bridge, stage.fake.core.diffs)
    stage.page.resize(1200, 700)
    stage.page.show()

    async def story() -> None:
        await stage.open(path=CSV)
        await settle()
        stage.page.list.files.setCurrentIndex(stage.page.model.index(stage.page.model.row_of(ADDED)))
        await until(lambda: stage.page.pane.diff is not None and stage.page.pane.diff.request.path == ADDED)
        gate.set()
        await settle(3)
        assert stage.page.pane.view._painter.dress.words in ({}, {0: WordSpans((Span(0, 1),), (Span(0, 1),))})
        assert 2 not in stage.page.pane.view._painter.dress.words

    run(story())


def test_load_anyway_asks_again_without_limits(stage: Stage) -> None:
    async def story() -> None:
        await stage.open(path=BIG)
        stage.page.pane.load_anyway.emit()
        await until(lambda: stage.asked("file")[-1][1] is True)

    run(story())


def test_a_large_file_that_was_loaded_has_counts_wherever_it_stands(stage: Stage) -> None:
    page, model = stage.page, stage.page.model
    stage.fake.diffs.unlimited[BIG] = replace(stage.fake.diffs.by_path[BIG], result=build(b"a\n" * 3, b"b\n" * 5))

    def told() -> tuple[int | None, int | None, str]:
        entry = model.entry_at(model.row_of(BIG))
        assert entry is not None
        return entry.added, entry.removed, entry.remark

    async def story() -> None:
        await stage.open(path=BIG)
        assert told() == (None, None, "large")
        page.pane.load_anyway.emit()
        await until(lambda: told() == (5, 3, ""))
        assert totals((one.added, one.removed) for one in model.entries) == (13 + 2 + 5, 10 + 3)
        asked = len(stage.asked("files"))
        page.look_again()  # the list is made anew, and knows nothing of it
        await until(lambda: len(stage.asked("files")) > asked)
        await settle()
        assert told() == (5, 3, "")
        # When it changes it is what the list says of it.
        stage.fake.diffs.by_path[BIG] = replace(stage.fake.diffs.by_path[BIG], after=samples.present("other"))
        stage.fake.diffs.unlimited.clear()
        page.look_again()
        await until(lambda: told() == (None, None, "large"))

    run(story())


def test_a_copy_that_is_damaged_is_an_error_in_place(stage: Stage) -> None:
    stage.fake.diffs.raises["file"] = BlobCorrupt("0" * 64)

    async def story() -> None:
        stage.page.open("t", samples.timeline(), path=CSV)
        await until(lambda: "damaged" in stage.page.pane._blank.accessibleName())
        stage.page.pane.retry.emit()
        await until(lambda: stage.page.pane.diff is not None)

    run(story())


def test_both_sides_the_same_is_said(stage: Stage) -> None:
    stage.fake.diffs.by_path.clear()

    async def story() -> None:
        stage.page.open("t", samples.timeline())
        await until(lambda: stage.page.pane._blank.accessibleName() == "Nothing to review. Both sides are the same.")

    run(story())


def test_undo_file_goes_to_the_left_side_and_back_goes_back(qtbot: QtBot, stage: Stage) -> None:
    run(stage.open(old=BeforeTurn(3), new=AfterTurn(3), path=CSV))
    with qtbot.waitSignal(stage.page.undo_file_requested) as seen:
        stage.page.head._undo.click()
    assert seen.args is not None
    assert seen.args[0].request == DiffRequest(samples.CHAT, CSV, BeforeTurn(3), AfterTurn(3))
    with qtbot.waitSignal(stage.page.back_requested):
        QTest.keyClick(stage.page.pane.view, Qt.Key.Key_Escape)


def test_hunks_are_counted_and_walked_from_the_head(stage: Stage) -> None:
    run(stage.open(path=CSV))
    head = stage.page.head
    assert head._hunk.accessibleName() == "Hunk 1 of 3"
    head._down.click()
    assert head._hunk.accessibleName() == "Hunk 2 of 3"
    assert stage.page.pane.view.hunk == 1


def test_the_layout_can_be_switched_by_keyboard(stage: Stage) -> None:
    run(stage.open(path=CSV))
    stage.page.bar.layout_switch.piece(0).setFocus()
    QTest.keyClick(stage.page.bar.layout_switch.piece(0), Qt.Key.Key_Right)
    assert stage.page.pane.view.unified


def test_nothing_of_the_bar_is_cut_in_the_smallest_window(stage: Stage) -> None:
    run(stage.open())
    stage.page.setMinimumSize(1, 1)  # as in a window, which has a least size of its own
    for width in (1200, 900, 800):
        stage.page.resize(width, 560)
        run(settle())
        (switch,) = (one for one in stage.page.findChildren(Segments) if one.accessibleName() == "Layout of the diff")
        bar = switch.parentWidget()
        assert bar is not None
        shown = [one for one in bar.findChildren(QAbstractButton) if one.isVisible()]
        for button in shown:
            assert button.width() >= button.sizeHint().width(), (width, button.text())
            assert bar.rect().contains(button.rect().translated(button.mapTo(bar, QPoint(0, 0)))), (width, button.text())
        assert [switch.piece(number).accessibleName() for number in (0, 1)] == ["Side by side", "Unified"]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_it_paints_in_both_themes(stage: Stage, mode: str) -> None:
    run(stage.open(path=CSV))
    stage.hub.set_mode(mode)
    ground = stage.hub.theme.color("bg.surface").rgb()
    for width, height in ((1440, 900), (900, 500)):
        stage.page.resize(width, height)
        picture = stage.page.grab().toImage()
        colors = {picture.pixel(x, y) for x in range(0, width, 9) for y in range(0, height, 9)}
        assert ground in colors
        assert stage.hub.theme.color("diff.add-line").rgb() in colors, "a change is in sight"


def test_the_file_list_passes_qts_own_tests(qtmodeltester: ModelTester) -> None:
    model = FileListModel()
    model.set_entries([FileEntry(path=samples.path(text), letter="M") for text in ("a", "b/c", "d")])
    qtmodeltester.check(model)


def test_entries_that_stay_keep_their_rows(qtbot: QtBot) -> None:
    model = FileListModel()
    model.set_entries([FileEntry(path=samples.path(text), letter="M") for text in ("a", "b", "c")])
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.rowsRemoved) as seen:
        model.set_entries([FileEntry(path=samples.path(text), letter="M") for text in ("a", "c")])
    assert seen.args is not None
    assert seen.args[1:] == [1, 1]


def test_an_entry_tells_what_was_not_compared() -> None:
    assert entry_of(samples.file_diff("a", Start(), Now(), BinaryPair(1, None))).name == "a, modified, binary"
