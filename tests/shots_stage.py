"""One window with the recorded afternoon in it, brought into the states of which pictures are made."""

import types
from datetime import UTC, datetime, timedelta
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from tests.app.window import Window
from tests.helpers.claude_sessions import SessionBuilder
from tests.helpers.recording import Afternoon, Clock, Recorder
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import build
from vibekit_desktop.core.types.agents import LivePhase, Prompt
from vibekit_desktop.core.types.checkpoints import BeforeTurn
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.timeline_rows import Button
from vibekit_desktop.ui.theme.contrast import SystemColours

SIZE, NARROW = (1440, 900), (1024, 768)
CONTRAST: dict[str, SystemColours] = {}
"""What the system's high-contrast themes look like, if it asks for them."""
WRITER = WorkspacePath("src/export/csv_writer.py")
DRAFT = "Does the reader handle a trailing empty row too?"
SHIP = "Ship the plot bundle and check that it loads with a cold cache."


def tell_time(clock: Clock) -> None:
    """Let every view of the window go by the clock of the recording."""
    when.time = types.SimpleNamespace(time_ns=lambda: clock.now_ms * 1_000_000)  # type: ignore[attr-defined]  # the module it reads


def ask_for_contrast() -> None:
    """From now on pictures are made as on a system that asks for high contrast."""
    CONTRAST.update(
        light=SystemColours("#ffffff", "#000000", "#600000", "#37006e", "#ffffff", "#00009f", "#ffffff", "#000000"),
        dark=SystemColours("#000000", "#ffffff", "#3ff23f", "#1aebff", "#000000", "#8080ff", "#000000", "#ffffff"),
    )


async def save(window: Window, picture: Path, theme: str) -> None:
    """Save what a window shows, in a theme."""
    window.hub.set_mode(theme)
    if theme in CONTRAST:
        window.hub.set_contrast(asked=True, colours=CONTRAST[theme])
    await window.settled()
    QApplication.sendPostedEvents()  # not processEvents: that would run other tasks inside of this one
    shown = window.shell.grab()
    painter = QPainter(shown)
    for above in QApplication.topLevelWidgets():  # menus are windows of their own
        if above.isVisible() and above is not window.shell:
            painter.drawPixmap(window.shell.mapFromGlobal(above.pos()), above.grab())
    painter.end()
    assert shown.save(str(picture), "PNG")


async def first_run(window: Window, clock: Clock, home: Path) -> None:
    """The program's first start on a computer with histories and agents, its button in focus as whoever uses keys sees it."""
    write_histories(home, datetime.fromtimestamp(clock.now_ms / 1000, UTC))
    await window.start()
    await window.settled()
    window.conductor.first_run.zone.button.setFocus(Qt.FocusReason.TabFocusReason)
    await window.settled()


def write_histories(home: Path, now: datetime) -> None:
    """Sessions of Claude Code in four folders, the newest of this hour."""
    for number, name in enumerate(("tidepool", "lantern", "orchard-api", "tidepool-plot")):
        folder = home / "code" / name
        folder.mkdir(parents=True)
        began = now - timedelta(hours=1 + 31 * number)
        made = SessionBuilder(cwd=str(folder), session=f"7d1c2b3a-0f1e-4d2c-8b3a-{number:012}", now=began)
        made.prompt(f"What does {name} begin with?")
        made.end_turn("At its beginning.")
        made.install(home)


class Stage:
    """Invariant: after a view's method the window shows it, and nothing loads."""

    def __init__(self, window: Window, clock: Clock, home: Path, scratch: Path, zoom: float) -> None:
        self.window, self.clock = window, clock
        self.window.hub.set_zoom(zoom)
        self.recorder = Recorder(window.wired.core, window.data, home, scratch / "tools", clock, window.until)
        self.afternoon = Afternoon(self.recorder)
        self._dialog_open = self._opened = False
        self._menu: QMenu | None = None

    async def begin(self) -> None:
        """Record, with a core of its own that ends; then open the window on what it left, with two agents at work."""
        window = self.window
        wired = build(Dirs(window.data), home=self.recorder.home, clock=self.clock)
        wired.bus.adopt_thread()
        self.recorder.core = wired.core
        await self.afternoon.record()
        await wired.close()
        self.recorder.core = window.wired.core
        await window.start(open_chat=str(self.afternoon.main))
        await window.until(lambda: window.conductor.open.timeline is not None)
        await self.afternoon.at_work()
        await window.wired.core.live.start(self.afternoon.main)
        await window.until(lambda: len(window.wired.core.live.running()) == 2)
        await window.settled()

    async def save(self, picture: Path, theme: str) -> None:
        """Save what is shown, in a theme."""
        await save(self.window, picture, theme)

    async def press(self, action: str, *words: str) -> None:
        """Press something painted in the transcript, by what it does and words of its name; the last of its kind."""
        view = self.window.conductor.page.transcript
        for row in reversed(range(view.count)):
            for hit in view.lay_out(row).hits:
                if hit.action == action and all(word in hit.name for word in words):
                    view.scroll_to_row(row)
                    place = hit.box.translated(view.column_left(), view.row_top(row) + view.gap(row)).toAlignedRect()
                    self.window.click(view.viewport(), place)
                    await self.window.settled()
                    return
        raise AssertionError(f"nothing in the transcript does {action} {words}")

    async def main(self) -> None:
        """Three panes, idle, a draft in the composer."""
        await self._leave_review()
        window = self.window
        window.shell.resize(*SIZE)
        field = window.conductor.page.composer.field
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        if field.is_empty:
            QTest.keyClicks(field, DRAFT)
        await window.settled()
        if not self._opened:
            self._opened = True
            await self.press("card", "Edited", "docs/export.md")
        window.conductor.page.transcript.scroll_to_end()
        await window.settled()

    async def narrow(self) -> None:
        """1024 x 768: the inspector is closed, the list is narrower."""
        await self.main()
        panes = self.window.main.panes
        panes.want(panes.wanted._replace(sidebar=240))
        self.window.shell.resize(*NARROW)
        await self.window.settled()
        self.window.conductor.page.transcript.scroll_to_end()
        await self.window.settled()

    async def review(self) -> None:
        """All changes of the chat."""
        panes = self.window.main.panes
        panes.want(panes.wanted._replace(sidebar=280))
        self.window.shell.resize(*SIZE)
        self.window.conductor.open_review(path=WRITER)
        pane = self.window.conductor.review.pane
        await self.window.until(lambda: pane.diff is not None and pane.diff.request.path == WRITER)
        await self.window.settled()

    async def restore(self) -> None:
        """The preview of a restore over the main window."""
        await self._leave_review()
        self.window.shell.resize(*SIZE)
        self.window.conductor.back.restore_to(BeforeTurn(3))
        await self.window.until(self.window.dialogs)
        files = self.window.preview.files
        files.setCurrentIndex(files.model().index(files._model.row_of(WRITER), 0))
        await self.window.settled()
        self._dialog_open = True

    async def states(self) -> None:
        """What else a person meets: a file that was undone, the toast that says so, a conflict opened in place, the menu of a
        row, a turn opened in the timeline."""
        await self._close_dialog()
        await self.main()
        window = self.window
        window.press_timeline(Button.UNDO, turn=5, path="src/export/__init__.py")
        await window.until(lambda: window.toast)
        await window.settled()
        await self.press("conflict", "docs/export.md")
        view = window.conductor.inspector.timeline
        rows = window.timeline()
        number = next(n for n, row in enumerate(rows) if row.path == "src/export/csv_writer.py" and row.number == 4)
        view.setFocus(Qt.FocusReason.TabFocusReason)
        view.setCurrentIndex(view.model().index(number, 0))
        self._menu = view.menu(number, rows[number])
        assert self._menu is not None
        row = view.visualRect(view.model().index(number, 0))
        self._menu.popup(view.viewport().mapToGlobal(row.bottomRight() - QPoint(self._menu.sizeHint().width() + 8, -2)))
        await window.settled()

    async def permission(self) -> None:
        """A turn runs, a command has output, a question waits, a message is queued."""
        if self._menu is not None:
            self._menu.close()
        self.window.conductor.notifier.dismiss()
        await self._close_dialog()
        await self._leave_review()
        window, live = self.window, self.window.wired.core.live
        window.shell.resize(*SIZE)
        main = self.afternoon.main
        field = window.conductor.page.composer.field
        field.selectAll()
        QTest.keyClick(field, Qt.Key.Key_Delete)
        self.clock.on(4 * 60)
        await live.prompt(main, Prompt(text=SHIP))
        await self._pass_gates()
        await self.afternoon.allow(main, 3)
        panel = window.conductor.page.permission
        await window.until(lambda: panel.isVisible() and panel.question is not None and "rm -rf" in panel.question.subject)
        await live.prompt(main, Prompt(text="Then add a line to the changelog, under Fixed."))
        self.clock.on(14)
        state = await live.look(main)
        assert state.phase is LivePhase.RUNNING
        await window.settled()
        window.conductor.page.transcript.scroll_to_end()
        await window.settled()

    async def end(self) -> None:
        """Stop what works."""
        await self._close_dialog()
        for state in self.window.wired.core.live.running():
            await self.window.wired.core.live.stop(state.chat)
        await self.window.until(lambda: not self.window.wired.core.live.running())
        await self.window.settled()

    async def _pass_gates(self) -> None:
        """Time passes where the recording says so."""
        tools = self.recorder.scratch

        def waiting() -> list[Path]:
            return [here for here in tools.glob("gate-*-here") if not here.with_name(here.name[:-4] + "go").exists()]

        await self.window.until(waiting)
        for here in waiting():
            self.clock.on(9)
            here.with_name(here.name[:-4] + "go").touch()

    async def _leave_review(self) -> None:
        if self.window.main.page == "review":
            self.window.main.show_page("transcript")
            await self.window.settled()

    async def _close_dialog(self) -> None:
        if self._dialog_open:
            self._dialog_open = False
            self.window.press_dialog("Cancel")
            await self.window.until(lambda: not self.window.dialogs())
            await self.window.settled()
