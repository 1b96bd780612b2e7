"""One window with the recorded afternoon in it, brought into the states of which pictures are made."""

import types
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.app.window import Window
from tests.helpers.recording import Afternoon, Clock, Recorder
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import build
from vibekit_desktop.core.types.agents import LivePhase, Prompt
from vibekit_desktop.core.types.checkpoints import BeforeTurn
from vibekit_desktop.ui import when

SIZE, NARROW = (1440, 900), (1024, 768)
DRAFT = "Does the reader handle a trailing empty row too?"
SHIP = "Ship the plot bundle and check that it loads with a cold cache."


def tell_time(clock: Clock) -> None:
    """Let every view of the window go by the clock of the recording."""
    when.time = types.SimpleNamespace(time_ns=lambda: clock.now_ms * 1_000_000)  # type: ignore[attr-defined]  # the module it reads


class Stage:
    """Invariant: after a view's method the window shows it, and nothing loads."""

    def __init__(self, window: Window, clock: Clock, home: Path, scratch: Path, zoom: float) -> None:
        self.window, self.clock = window, clock
        self.window.hub.set_zoom(zoom)
        self.recorder = Recorder(window.wired.core, window.data, home, scratch / "tools", clock, window.until)
        self.afternoon = Afternoon(self.recorder)
        self._dialog_open = False

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
        self.window.hub.set_mode(theme)
        await self.window.settled()
        for _ in range(3):
            QApplication.processEvents()
        assert self.window.shell.grab().save(str(picture), "PNG")

    async def main(self) -> None:
        """Three panes, idle, a draft in the composer."""
        window = self.window
        window.shell.resize(*SIZE)
        field = window.conductor.page.composer.field
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        if field.is_empty:
            QTest.keyClicks(field, DRAFT)
        await window.settled()
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
        self.window.conductor.open_review()
        await self.window.settled()

    async def restore(self) -> None:
        """The preview of a restore over the main window."""
        await self._leave_review()
        self.window.shell.resize(*SIZE)
        self.window.conductor.back.restore_to(BeforeTurn(3))
        await self.window.until(self.window.dialogs)
        await self.window.settled()
        self._dialog_open = True

    async def states(self) -> None:
        """What else a person meets: everything opened, something undone, a toast with its Undo."""
        await self._close_dialog()
        await self.main()

    async def permission(self) -> None:
        """A turn runs, a command has output, a question waits, a message is queued."""
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
        await window.until(panel.isVisible)
        await live.prompt(main, Prompt(text="Then add a line to the changelog, under Fixed."))
        self.clock.on(14)
        state = await live.look(main)
        assert state.phase is LivePhase.RUNNING
        await window.settled()
        window.conductor.page.transcript.scroll_to_end()
        await window.settled()

    async def first_run(self) -> None:
        """The first page."""
        await self._close_dialog()
        await self.window.conductor._show_first_run()
        await self.window.settled()

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
