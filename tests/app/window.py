"""The whole program in one process, off screen, as a person uses it: look, press, type, wait.

Built part by part as `app.window` builds it, on folders of the test's own. Every press goes through Qt's events to the place
where the button is painted.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QRadioButton, QWidget
from qasync import QEventLoop

from tests.helpers.processes import children_of_ours
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.garbage import Collector
from vibekit_desktop.app.window import CLOSE_CORE_S, CLOSE_STEP_S
from vibekit_desktop.app.wiring import Wired, build, now_ms
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.dialogs.restore_preview import RestorePreview
from vibekit_desktop.ui.models.blocks import BranchBlock, CardsBlock, UserBlock
from vibekit_desktop.ui.models.chat_list import ChatRow
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind, TimelineRow
from vibekit_desktop.ui.theme.dress import apply
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button as PushButton
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.shell import Shell

T = TypeVar("T")

LIMIT_S = 20.0
"""How long a story waits for something to appear. Only a broken program ever waits this long."""

SIZE = (1440, 900)


class Window:
    """One run of the program. Invariant: between two steps of a story the loop turns, so what was pressed has its effect."""

    def __init__(
        self,
        app: QApplication,
        loop: QEventLoop,
        *,
        data: Path,
        home: Path,
        pictures: Path,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._app = app
        self._loop = loop
        self._ended = False
        self._pictures = pictures
        self.data = data
        hub = self.hub = ThemeHub("light", still=True)
        apply(app, hub)
        self.shell = Shell(dark=False)
        self.shell.resize(*SIZE)
        self.shell.show()
        self.main = MainWindow(hub)
        self.shell.fill(self.main)
        self.wired: Wired = build(Dirs(data), home=home, clock=clock)
        self.conductor = Conductor(self.wired.core, hub, self.main)
        self.conductor.told.learn(("claude-code",))  # somebody who has used the program before
        self.wired.bus.adopt_thread()
        self._collector = Collector(self.main)
        self._collector.start()

    # Turning.

    def play(self, story: Coroutine[object, object, T]) -> T:
        """Turn the loop until ``story`` is over."""
        return self._loop.run_until_complete(story)

    async def start(self, **options: str | None) -> None:
        """What the program does when its window is shown."""
        self.shell.activateWindow()
        await self.conductor.start(open_chat=options.get("open_chat"), view=options.get("view"), recover=self.wired.recover)

    async def open_demo(self) -> None:
        """Start, and open the demo session by a click on its row."""
        await self.start()
        await self.settled()
        (row,) = self.chats()
        self.choose_chat(row.header.name)
        await self.until(lambda: self.turns() == [5, 4, 3, 2, 1])
        await self.settled()

    async def ask_to_restore(self, turn: int) -> None:
        """Press Restore to before a turn in the timeline and wait for the preview."""
        self.press_timeline(Button.RESTORE, turn=turn)
        await self.until(self.dialogs)
        await self.settled()

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Let the program work until ``condition`` holds."""
        end = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(what or "the condition did not come true; " + self.describe())
            await asyncio.sleep(0.005)

    async def settled(self) -> None:
        """Let the program work until nothing is loading, beyond a dialog that waits for an answer."""
        quiet = 0
        while quiet < 4:
            await asyncio.sleep(0.005)
            waiting = 1 if any(one.card.isVisible() for one in self.main.findChildren(Overlay)) else 0
            behind = any(late.behind for late in self.conductor._late)
            quiet = quiet + 1 if self.conductor.bridge.running <= waiting and not behind else 0

    def describe(self) -> str:
        """What is on the screen, for a failed test."""
        rows = "; ".join(row.spoken for row in self.timeline())
        return f"page {self.main.page}, toast {self.toast!r}, timeline: {rows}"

    def picture(self, name: str) -> None:
        """Keep what is on the screen beside the test's other files."""
        self._pictures.mkdir(parents=True, exist_ok=True)
        assert self.shell.grab().save(str(self._pictures / f"{name}.png"))

    # Pressing.

    def click(self, widget: QWidget, place: QRect | None = None) -> None:
        """Press and release the left button in the middle of a place, or of the widget."""
        box = place if place is not None else widget.rect()
        assert not box.isEmpty(), "nothing is painted there"
        assert widget.isVisible()
        middle: QPoint = box.center()
        assert widget.rect().contains(middle), "it is outside of what is shown"
        # Not QTest.mouseMove: it turns the loop inside of the task that is running now.
        here, nowhere, no = QPointF(middle), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(
            widget, QMouseEvent(QEvent.Type.MouseMove, here, QPointF(widget.mapToGlobal(middle)), nowhere, nowhere, no)
        )
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the focus is."""
        QTest.keyClick(QApplication.focusWidget() or self.shell, key, modifiers)

    def come_back(self) -> None:
        """Another program was in front; now the window is again."""
        QApplication.sendEvent(self.shell, QEvent(QEvent.Type.WindowActivate))

    def choose_chat(self, title: str) -> None:
        """Click a row of the chat list."""
        model, view = self.conductor.chats, self.conductor.sidebar.list
        number = next(n for n, row in enumerate(model._rows) if isinstance(row, ChatRow) and row.header.name == title)
        view.scrollTo(model.index(number))
        self.click(view.viewport(), view.visualRect(model.index(number)))

    def press_timeline(self, button: Button, *, turn: int = 0, path: str = "", kind: RowKind | None = None) -> None:
        """Click a button of the row that is about a turn, a file of it, or is of a kind."""
        view = self.conductor.inspector.timeline
        number = self._timeline_row(turn, path, kind, button)
        view.scrollTo(view.model().index(number, 0))
        self.click(view.viewport(), view.button_rect(number, button))

    def _timeline_row(self, turn: int, path: str, kind: RowKind | None, button: Button) -> int:
        for number, row in enumerate(self.timeline()):
            if button not in row.buttons or (kind is not None and row.kind is not kind):
                continue
            if (not turn or row.number == turn) and (not path or row.path == path):
                return number
        raise AssertionError(f"no row has {button.value}: {turn} {path}; {self.describe()}")

    def press_block(self, action: str, *, turn: int = 0, path: str = "") -> None:
        """Click something painted in the transcript: ``diff``, ``undo``, ``restore``, ``review``, ``chat``."""
        view = self.conductor.page.transcript
        for row in reversed(range(view.count)):
            for hit in view.lay_out(row).hits:
                if hit.action == action and (not turn or hit.number == turn) and (not path or hit.text == path):
                    view.scroll_to_row(row)
                    left, top = view.column_left(), view.row_top(row) + view.gap(row)
                    self.click(view.viewport(), hit.box.translated(left, top).toAlignedRect())
                    return
        raise AssertionError(f"nothing in the transcript does {action}")

    def press_toast(self, text: str) -> None:
        """Click the button of the toast."""
        self.click(self._button(self.main, text))

    def press_button(self, where: QWidget, text: str) -> None:
        """Click a button, by its words."""
        self.click(self._button(where, text))

    def press_dialog(self, text: str) -> None:
        """Click a button of the open dialog, by its words."""
        self.click(self._button(self.dialog, text))

    def choose_restore(self, path: str) -> None:
        """In the preview, press Restore beside a file that somebody changed after the agent."""
        view = self.preview.files
        number = view._model.row_of(WorkspacePath(path))
        view.scrollTo(view._model.index(number))
        self.click(view.viewport(), view.piece_at(number, restores=True).toAlignedRect())

    def choose_scope(self, text: str) -> None:
        """In the preview, press what is to be restored."""
        self.click(next(one for one in self.preview.findChildren(QRadioButton) if one.text() == text))

    def _button(self, inside: QWidget, text: str) -> PushButton:
        found = [one for one in inside.findChildren(PushButton) if one.text() == text and one.isVisible()]
        assert found, f"there is no button {text!r}; {[one.text() for one in inside.findChildren(PushButton)]}"
        return found[-1]

    # Looking.

    @property
    def toast(self) -> str:
        """The text of the toast, or nothing."""
        return self.conductor.notifier.shown

    def timeline(self) -> list[TimelineRow]:
        """The rows of the timeline, newest first."""
        return list(self.conductor.inspector.timeline_model.rows)

    def turns(self) -> list[int]:
        """The turns of the timeline, newest first."""
        return [row.number for row in self.timeline() if row.kind is RowKind.TURN]

    def files(self, turn: int) -> dict[str, TimelineRow]:
        """The rows of the files of a turn."""
        rows = [row for row in self.timeline() if row.kind is RowKind.FILE and not row.in_now and row.number == turn]
        return {str(row.path): row for row in rows}

    def now(self) -> list[str]:
        """The files that are not as the chat left them."""
        return [str(row.path) for row in self.timeline() if row.kind is RowKind.FILE and row.in_now]

    def prompts(self) -> list[str]:
        """What the person had said, as the transcript shows it."""
        return [block.text for block in self._blocks() if isinstance(block, UserBlock)]

    def branches(self) -> list[BranchBlock]:
        """The lines where turns were moved away."""
        return [block for block in self._blocks() if isinstance(block, BranchBlock)]

    def cards(self) -> list[CardsBlock]:
        """The boxes of tool calls."""
        return [block for block in self._blocks() if isinstance(block, CardsBlock)]

    def _blocks(self) -> list[object]:
        model = self.conductor.transcript
        return [model.block(row) for row in range(model.rowCount())]

    def chats(self) -> list[ChatRow]:
        """The rows of the chat list, from the top."""
        return [row for row in self.conductor.chats._rows if isinstance(row, ChatRow)]

    def dialogs(self) -> list[RestorePreview | Question]:
        """The dialogs that are open, with what they ask in sight."""
        every: list[RestorePreview | Question] = [*self.main.findChildren(RestorePreview), *self.main.findChildren(Question)]
        return [one for one in every if one.card.isVisible()]

    @property
    def dialog(self) -> RestorePreview | Question:
        """The dialog that is open."""
        (found,) = self.dialogs()
        return found

    @property
    def preview(self) -> RestorePreview:
        """The restore preview that is open."""
        found = self.dialog
        assert isinstance(found, RestorePreview)
        return found

    def labels(self, inside: QWidget) -> list[str]:
        """What assistive technology is told of everything visible in a part of the window."""
        return [one.accessibleName() for one in inside.findChildren(QWidget) if one.isVisible() and one.accessibleName()]

    # The end.

    async def end(self) -> None:
        """Close the window as `app.window` does. Once more is nothing."""
        if self._ended:
            return
        self._ended = True
        self.conductor.close()
        for step, limit_s in ((self.conductor.drained(), CLOSE_STEP_S), (self.wired.close(), CLOSE_CORE_S)):
            await asyncio.wait_for(step, limit_s)
        assert self.conductor.bridge.running == 0
        self._collector.stop()
        self.shell.close()
        self.shell.deleteLater()

    def look_behind(self) -> None:
        """After the end: no subscription, no task, no process."""
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        assert self.wired.bus.subscriptions == 0
        left = asyncio.all_tasks(self._loop)
        assert not left, left
        assert not children_of_ours("--worker")


@contextmanager
def opened(app: QApplication, *, data: Path, home: Path, pictures: Path, clock: Callable[[], int] = now_ms) -> Iterator[Window]:
    """A window from its start to its end."""
    loop = QEventLoop(app)
    asyncio.set_event_loop(loop)
    with loop:
        window = Window(app, loop, data=data, home=home, pictures=pictures, clock=clock)
        try:
            yield window
        finally:
            window.play(window.end())
            window.look_behind()
    asyncio.set_event_loop(None)
