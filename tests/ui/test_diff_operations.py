"""What a pane is given by its presenter: images, line ends, the colours in sight first, and the same file without a flicker."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import sample_changes as samples
from tests.ui.spin import bury, own_loop, run, settle, until
from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Now
from vibekit_desktop.core.types.diffs import BinaryPair, DiffRequest, DiffResult, FileDiff, Span, StyleRuns, TooLarge, WordSpans
from vibekit_desktop.core.types.errors import NotKnownThere
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.operations.diffs import DiffDresser, DiffPresenter
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_frame import NoteRow
from vibekit_desktop.ui.views.diff_pane import DiffPane

LABELS = (("Before turn 3", "13:31"), ("On disk", ""))
PATH = samples.path("src/a.py")


class Stage:
    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        hub = ThemeHub("light")
        self.pane = DiffPane(hub)
        self._hub = hub
        self._presenter: DiffPresenter | None = None
        qtbot.addWidget(self.pane)
        self.pane.resize(900, 400)
        self.pane.show()

    @property
    def presenter(self) -> DiffPresenter:
        """Made when it is needed first: it takes the fake's answers as they are then."""
        if self._presenter is None:
            self._presenter = DiffPresenter(self._hub, Bridge(self.fake.core.events), self.fake.core.diffs, self.pane)
        return self._presenter

    def give(self, result: DiffResult, *, generated: str = "") -> None:
        made = samples.file_diff(PATH, BeforeTurn(3), Now(), result)
        self.fake.diffs.by_path[PATH] = FileDiff(
            request=made.request, before=made.before, after=made.after, result=result, generated=generated
        )

    async def ask(self) -> None:
        self.presenter.ask(DiffRequest(samples.CHAT, PATH, BeforeTurn(3), Now()), LABELS, at_once=True)
        shown: list[object] = []
        self.presenter.shown.connect(shown.append)
        await until(lambda: bool(shown))
        await settle()

    def asked(self, name: str) -> int:
        return sum(call == name for call, _ in self.fake.diffs.calls)


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with own_loop():
        found = Stage(qtbot)
        yield found
        bury(found.pane)


def picture() -> bytes:
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    image.fill(0x336699)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, "PNG")
    return bytes(data.data())


def test_small_images_are_shown_at_once_and_large_ones_when_asked_for(stage: Stage) -> None:
    data = picture()
    stage.fake.diffs.bytes_of[PATH] = (data, data)

    async def story() -> None:
        stage.give(BinaryPair(len(data), len(data), old_image=True, new_image=True))
        await stage.ask()
        await until(lambda: "8 × 8 pixels" in stage.pane.images.canvas.accessibleName())
        stage.give(BinaryPair(9 << 20, 9 << 20, old_image=True, new_image=True))
        await stage.ask()
        assert stage.asked("sides") == 1
        stage.pane.findChildren(NoteRow)[-1].acted.emit()
        await until(lambda: stage.asked("sides") == 2)

    run(story())


def test_images_that_are_not_to_be_had_leave_their_sizes(stage: Stage) -> None:
    async def refuse(request: DiffRequest) -> tuple[bytes | None, bytes | None]:
        raise NotKnownThere(request.path, "now", "not-captured")

    stage.fake.diffs.sides = refuse  # type: ignore[method-assign]  # the fake's answer

    async def story() -> None:
        stage.give(BinaryPair(2000, 1000, new_image=True))
        await stage.ask()
        await settle()
        rows = [row.accessibleName() for row in stage.pane.findChildren(NoteRow) if row.isVisible()]
        assert rows == ["Binary file. 2 KB → 1 KB."]

    run(story())


def test_a_side_with_both_kinds_of_line_ends_is_copied_exactly(stage: Stage) -> None:
    old, new = b"a\nb\n", b"a\r\nb\nc\r\n"
    stage.fake.diffs.bytes_of[PATH] = (old, new)

    async def story() -> None:
        stage.give(build(old, new, limits=UNLIMITED))
        await stage.ask()
        stage.pane.view.choose_all()
        await until(lambda: stage.pane.view.selected_text() == new.decode())

    run(story())


def whole_styles(lines: Sequence[str], kind: int) -> StyleRuns:
    return StyleRuns(range(len(lines) + 1), [0] * len(lines), bytes([kind]) * len(lines))


def test_the_lines_in_sight_have_their_colours_before_the_whole_file(stage: Stage) -> None:
    lines = [f"line {n}" for n in range(1000)]
    gate = asyncio.Event()

    async def part(path: str, of: Sequence[str], first: int, last: int) -> StyleRuns:
        stage.fake.diffs.calls.append(("part", (first, last)))
        return whole_styles(of[first : last + 1], 1)

    async def whole(path: str, of: Sequence[str]) -> StyleRuns:
        stage.fake.diffs.calls.append(("whole", ()))
        await gate.wait()
        return whole_styles(of, 2)

    stage.fake.diffs.highlight_part = part  # type: ignore[method-assign,assignment]  # the fake's answer
    stage.fake.diffs.highlight = whole  # type: ignore[method-assign,assignment]  # the fake's answer
    new = list(lines)
    new[500] = "another"
    stage.give(build("\n".join(lines).encode(), "\n".join(new).encode(), limits=UNLIMITED))

    async def story() -> None:
        await stage.ask()
        view = stage.pane.view
        await until(lambda: stage.asked("whole") > 0)
        names = [call for call, _ in stage.fake.diffs.calls if call in ("part", "whole")]
        assert names == ["part", "part", "whole"]
        styles, number = view._painter.dress.colours(1, 501)
        assert styles is not None
        assert styles.kinds[styles.offsets[number]] == 1
        gate.set()
        await until(lambda: view._painter.dress.styles[0] is not None)
        styles, number = view._painter.dress.colours(1, 501)
        assert styles is not None
        assert styles.kinds[styles.offsets[number]] == 2

    run(story())


def test_the_same_file_again_keeps_the_words_and_colours_of_what_is_the_same(stage: Stage) -> None:
    lines = [f"value = {n}" for n in range(40)]
    first = [*lines]
    first[20] = "value = x"
    second = ["new", *first]
    stage.give(build("\n".join(lines).encode(), "\n".join(first).encode(), limits=UNLIMITED))
    stage.fake.diffs.word_spans = {20: WordSpans((Span(8, 10),), (Span(8, 9),))}
    stage.fake.diffs.styles = {PATH: whole_styles(first, 3)}

    async def story() -> None:
        await stage.ask()
        view = stage.pane.view
        await until(lambda: 20 in view._painter.dress.words and view._painter.dress.styles[0] is not None)
        stage.fake.diffs.word_spans, stage.fake.diffs.styles = {}, {}
        stage.give(build("\n".join(lines).encode(), "\n".join(second).encode(), limits=UNLIMITED))
        await stage.ask()
        assert list(view._painter.dress.words) == [21]
        assert view._painter.dress.styles[0] is not None
        styles, number = view._painter.dress.colours(1, 22)
        assert styles is not None
        assert number == 20
        assert styles.kinds[styles.offsets[number]] == 3

    run(story())


def test_a_generated_file_is_dressed_only_when_it_is_shown(stage: Stage) -> None:
    stage.give(build(b"a\n", b"b\n"), generated="lock")

    async def story() -> None:
        await stage.ask()
        assert stage.asked("highlight") == 0
        stage.pane.open_folded()
        await until(lambda: stage.asked("highlight") == 2)

    run(story())


def test_colours_of_a_file_nobody_looks_at_any_more_are_not_waited_for(stage: Stage) -> None:
    ended: list[bool] = []

    def never() -> Callable[[str, Sequence[str]], object]:
        async def highlight(path: str, lines: Sequence[str]) -> StyleRuns | None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)
            return None

        return highlight

    stage.fake.diffs.highlight = never()  # type: ignore[method-assign,assignment]  # the fake's answer
    stage.give(build(b"a\n", b"b\n"))

    async def story() -> None:
        await stage.ask()
        stage.presenter.stop()
        await until(lambda: ended == [True])

    run(story())


def test_a_large_file_that_somebody_loaded_stays_loaded(stage: Stage) -> None:
    asked: list[bool] = []
    small = build(b"old\n", b"new\n", limits=UNLIMITED)

    async def answer(request: DiffRequest, *, unlimited: bool = False) -> FileDiff:
        asked.append(unlimited)
        return samples.file_diff(request.path, BeforeTurn(3), Now(), small if unlimited else TooLarge(9_000_000, 9_000_000))

    async def story() -> None:
        stage.fake.diffs.file = answer  # type: ignore[method-assign]  # what a core with a large file answers
        await stage.ask()
        (row,) = (row for row in stage.pane.findChildren(NoteRow) if row.isVisible())
        row.acted.emit()
        await until(lambda: stage.pane.view.document is not None)
        await stage.ask()  # the disk changed
        assert stage.pane.view.document is not None
        other = DiffRequest(samples.CHAT, samples.path("src/b.py"), BeforeTurn(3), Now())
        stage.presenter.ask(other, LABELS, at_once=True)
        await until(lambda: stage.pane.diff is not None and stage.pane.diff.request.path == other.path)
        assert stage.pane.view.document is None, "another file was not asked for"
        await stage.ask()
        assert stage.pane.view.document is not None, "one comes back to it"

    run(story())
    assert asked == [False, True, True, False, True]


def test_answers_with_colours_are_let_go_of_when_they_came(stage: Stage) -> None:
    """Whoever scrolls through a long file asks for hundreds of them."""
    text = "\n".join(f"line {n}" for n in range(5_000)).encode()
    stage.give(build(text, text + b"\nmore", limits=UNLIMITED))

    async def whole(path: str, of: Sequence[str]) -> StyleRuns:
        return whole_styles(of, 2)

    stage.fake.diffs.highlight = whole  # type: ignore[method-assign,assignment]  # the fake's answer

    async def story() -> None:
        await stage.ask()
        dresser = stage.pane.findChild(DiffDresser)
        assert dresser is not None
        for line in range(100, 5_000, 100):
            stage.pane.view.lines_seen.emit(1, line, line + 40)
        assert len(dresser._tasks) > 20
        await until(lambda: not dresser._tasks)

    run(story())
