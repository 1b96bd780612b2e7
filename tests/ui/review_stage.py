"""A review page with all that works for it, over a core with a handful of files, in a window of its own loop."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import sample_changes as samples
from tests.ui.spin import bury, own_loop, settle, until
from vibekit_desktop.core.diff.document import build
from vibekit_desktop.core.types.checkpoints import ABSENT, Now, Start
from vibekit_desktop.core.types.diffs import BinaryPair, DiffRequest, FileDiff
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.reviews import ReviewNotes
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.review import ReviewPage

ONE, TWO, LOCK, LOGO, LAST = (
    samples.path(text) for text in ("src/one.py", "src/two.py", "uv.lock", "assets/logo.png", "tests/test_last.py")
)


def lines(*changed: int, count: int = 60) -> tuple[bytes, bytes]:
    """Two texts that differ in some lines (from 1)."""
    old = [f"line {n}" for n in range(1, count + 1)]
    new = [f"changed {n}" if n in changed else text for n, text in enumerate(old, 1)]
    return "\n".join([*old, ""]).encode(), "\n".join([*new, ""]).encode()


def diff_of(path: WorkspacePath, *changed: int, generated: str = "", seed: str = "n") -> FileDiff:
    """A file that was changed in some lines, which are hunks of their own if they are far apart."""
    return FileDiff(
        request=DiffRequest(samples.CHAT, path, Start(), Now()),
        before=samples.present("o" + path),
        after=samples.present(seed + path),
        result=build(*lines(*changed)),
        generated=generated,
    )


class ReviewStage:
    """Files: one.py with two hunks, two.py with one, a lock file, a picture, test_last.py that is new."""

    def __init__(self, qtbot: QtBot) -> None:
        self.fake = FakeCore()
        self.hub = ThemeHub("light", still=True)
        self.bridge = Bridge(self.fake.core.events)
        diffs = self.fake.diffs.by_path
        diffs[ONE] = diff_of(ONE, 10, 40)
        diffs[TWO] = diff_of(TWO, 20)
        diffs[LOCK] = diff_of(LOCK, 5, generated="lock")
        diffs[LOGO] = samples.file_diff(LOGO, Start(), Now(), BinaryPair(212_000, 198_000))
        diffs[LAST] = FileDiff(
            request=DiffRequest(samples.CHAT, LAST, Start(), Now()),
            before=ABSENT,
            after=samples.present("new"),
            result=build(None, b"a\nb\n"),
        )
        self.window = QWidget()
        self.page = ReviewPage(self.hub, self.bridge, self.fake.core.diffs)
        layout = QHBoxLayout(self.window)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.page)
        self.notifier = Notifier(self.page, self.hub)
        self.said: list[tuple[ChatId, str]] = []
        self.takes = True
        self.notes = ReviewNotes(
            self.hub, self.bridge, self.fake.core.reviews, self.notifier, self.page, self.window, self._send
        )
        self.page.options_chosen.connect(self.page.set_options)
        self.page.told.connect(lambda text: self.notifier.toast(text, "info"))
        qtbot.addWidget(self.window)
        self.window.resize(1300, 800)
        self.window.show()
        self.window.activateWindow()

    async def _send(self, chat: ChatId, text: str) -> bool:
        self.said.append((chat, text))
        return self.takes

    async def open(self, path: WorkspacePath = ONE) -> None:
        """Show the review from this file on."""
        self.page.open("Keep empty rows", samples.timeline(), path=path)
        await self.until_shown(path)
        await settle()

    async def until_shown(self, path: WorkspacePath) -> None:
        """Wait until the pane shows a file."""
        await until(lambda: self.page.pane.diff is not None and self.page.pane.diff.request.path == path)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the focus is."""
        QTest.keyClick(QApplication.focusWidget() or self.page, key, modifiers)

    def change_on_disk(self, path: WorkspacePath, *changed: int) -> None:
        """Another content of a file from now on."""
        self.fake.diffs.by_path[path] = replace(diff_of(path, *changed, seed="later"), before=samples.present("o" + path))

    @property
    def here(self) -> tuple[WorkspacePath | None, int]:
        """The current file and its current hunk."""
        return self.page.list.current, self.page.pane.view.hunk

    async def until_asked(self) -> Question:
        """Wait for a question."""
        await until(lambda: any(each.card.isVisible() for each in self.window.findChildren(Question)))
        return next(each for each in self.window.findChildren(Question) if each.card.isVisible())


@contextmanager
def open_review(qtbot: QtBot) -> Iterator[ReviewStage]:
    """A stage for one test, with a loop of its own."""
    with own_loop():
        found = ReviewStage(qtbot)
        yield found
        bury(found.window)
