"""A window with the restore operations in it, against a core that answers with given plans."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import sample_changes as samples
from tests.ui.spin import bury, own_loop, settle, until
from vibekit_desktop.core.types.checkpoints import (
    Mine,
    Point,
    RestorePlan,
    Scope,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.dialogs.restore_preview import RestorePreview
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.checkpoints import CheckpointOperations
from vibekit_desktop.ui.theme.palette import ThemeHub


class Stage:
    """A window, a core, and the operations; ``until_open`` waits for the preview, which is then ``dialog``."""

    def __init__(self, qtbot: QtBot) -> None:
        self.hub = ThemeHub("light", still=True)
        self.fake = FakeCore()
        self.window = QWidget()
        self.behind = QPushButton("behind", self.window)
        self.window.resize(1300, 850)
        qtbot.addWidget(self.window)
        self.window.show()
        self.behind.setFocus()
        self.bridge = Bridge(self.fake.core.events)
        self.notifier = Notifier(self.window, self.hub)
        self.work = CheckpointOperations(self.hub, self.bridge, self.fake.core, self.notifier, self.window)
        self.mines: list[tuple[Scope, Mine]] = []
        self.fake.checkpoints.plan_restore = self._plan  # type: ignore[method-assign]  # answers follow the choices

    async def _plan(
        self, chat: ChatId, point: Point, *, paths: tuple[WorkspacePath, ...], scope: Scope, mine: Mine
    ) -> RestorePlan:
        self.mines.append((scope, mine))
        return samples.plan(scope, mine)

    async def until_open(self) -> RestorePreview:
        def is_open() -> bool:
            return any(each.card.isVisible() for each in self.window.findChildren(RestorePreview))

        await until(is_open)
        await settle()
        return next(each for each in self.window.findChildren(RestorePreview) if each.card.isVisible())

    async def until_asked(self) -> Question:
        await until(lambda: any(each.card.isVisible() for each in self.window.findChildren(Question)))
        return next(each for each in self.window.findChildren(Question) if each.card.isVisible())

    def carried(self) -> list[RestorePlan]:
        return [call[1][0] for call in self.fake.checkpoints.calls if call[0] == "carry_out"]  # type: ignore[misc]


@contextmanager
def open_stage(qtbot: QtBot) -> Iterator[Stage]:
    """A stage for one test, with a loop of its own."""
    with own_loop():
        found = Stage(qtbot)
        yield found
        bury(found.window)


def click(button: QWidget) -> None:
    """Press a button with the mouse."""
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
