"""Run the window: show it first, then load the rest, then turn the loop until it closes.

| step | loaded by then |
| --- | --- |
| window shown | Qt's widgets |
| panes filled | the theme, the views |
| loop turning | asyncio, qasync, the core |
| chats listed | the histories of this computer |

The order is docs/adr/0003: a person sees a window about as soon as Qt can show one.
"""

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself costs 3 ms, which a person would wait for
    import asyncio

    from PySide6.QtWidgets import QApplication

    from vibekit_desktop.app.chosen import Options
    from vibekit_desktop.app.kept import Keeper
    from vibekit_desktop.app.wiring import Wired
    from vibekit_desktop.ui.conductor import Conductor
    from vibekit_desktop.ui.views.shell import Shell

CLOSE_STEP_S = 2.0
CLOSE_CORE_S = 6.0
"""A running turn is stopped and stored, and its agent ended; the window is gone meanwhile."""
_asked: list[int] = []
"""Signals that came before the loop could take them. A handler that raised would be lost inside of Qt's calls to us."""
NO_DISPLAY = (
    "error: no-display: there is no screen to show the window on; set DISPLAY or WAYLAND_DISPLAY, or start it with "
    "`xvfb-run`, or make a picture with --offscreen-shot FILE.png\n"
)


def has_display() -> bool:
    """Whether Qt has somewhere to show a window."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def run_window(options: "Options") -> int:
    """Show the window and run the program until it closes; returns the exit status."""
    if options.offscreen_shot:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    elif not has_display():
        sys.stderr.write(NO_DISPLAY)
        return 3
    for number in _ending_signals():
        signal.signal(number, lambda number, _frame: _asked.append(number))
    from PySide6.QtWidgets import QApplication

    from vibekit_desktop.app import kept
    from vibekit_desktop.app.dirs import find_dirs
    from vibekit_desktop.ui.views.shell import Shell, screens_name

    state = find_dirs(options.data_dir).state
    app = QApplication(["vibekit-desktop"])
    app.setApplicationName("vibekit-desktop")
    app.setDesktopFileName("vibekit-desktop")
    app.setQuitOnLastWindowClosed(False)
    known = {} if options.offscreen_shot else kept.read(state)
    here = known.get(screens_name(), {})
    look = options.theme or (here.get("look") if here.get("mode") in ("light", "dark") else None)
    shell = Shell(dark=None if look is None else look == "dark")
    if options.offscreen_shot:
        shell.resize(*options.size)
    else:
        shell.stand(here.get("place", ""))
    shell.show()
    app.processEvents()
    if os.environ.get("VIBEKIT_QUIT_AFTER_PAINT"):
        return 0
    return _furnish(app, shell, options, known)


def _ending_signals() -> "tuple[signal.Signals, ...]":
    """What a terminal, a session or another program ends us with."""
    return () if sys.platform == "win32" else (signal.SIGINT, signal.SIGTERM)


def _is_from_desktop() -> bool:
    """Whether a desktop started us and not a shell: then PATH may lack what the user's shell adds to it."""
    return sys.platform != "win32" and not os.environ.get("TERM")


def _furnish(app: "QApplication", shell: "Shell", options: "Options", known: "dict[str, dict[str, str]]") -> int:
    """Load everything else, fill the window, turn the loop."""
    os.environ.setdefault("QT_API", "pyside6")
    import asyncio

    from qasync import QEventLoop

    from vibekit_desktop.app import crash, kept
    from vibekit_desktop.app.chosen import home_of, vault_of
    from vibekit_desktop.app.dirs import find_dirs
    from vibekit_desktop.app.garbage import Collector
    from vibekit_desktop.app.wiring import build
    from vibekit_desktop.ui.conductor import Conductor
    from vibekit_desktop.ui.remember import Remember, mode_of, zoom_of
    from vibekit_desktop.ui.theme.dress import apply
    from vibekit_desktop.ui.theme.palette import ThemeHub
    from vibekit_desktop.ui.theme.system import FollowSystem
    from vibekit_desktop.ui.views.main_window import MainWindow
    from vibekit_desktop.ui.views.shell import screens_name

    dirs = find_dirs(options.data_dir)
    here = known.get(screens_name(), {})
    hub = ThemeHub(options.theme or mode_of(here), zoom=zoom_of(here), still=bool(options.offscreen_shot))
    apply(app, hub)
    window = MainWindow(hub)
    shell.fill(window)
    crash.start_logging(dirs.logs, verbose=options.verbose)
    loop = QEventLoop(app)
    asyncio.set_event_loop(loop)
    home, config_dir = home_of(options)
    wired = build(dirs, home=home, config_dir=config_dir, vault=vault_of(options), from_desktop=_is_from_desktop())
    conductor = Conductor(wired.core, hub, window, own_theme=options.theme is not None)
    crash.install(conductor.tell_fault)
    crash.watch_loop(loop, conductor.tell_fault)
    keeper = kept.Keeper(dirs.state, loop)
    if not options.offscreen_shot:
        Remember(
            shell,
            window,
            hub,
            known,
            keeper.keep,
            inspector=conductor.inspector,
            chats=conductor.chats,
            choose_workspace=conductor.sidebar.choose_workspace,
            told=conductor.told,
        )
        FollowSystem(hub, portal=bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS")))
    Collector(window).start()
    with loop:
        status = loop.run_until_complete(_live(loop, shell, conductor, wired, options, keeper))
    crash.install()  # there is no window any more that could say what goes wrong now
    return status


async def _live(
    loop: "asyncio.AbstractEventLoop",
    shell: "Shell",
    conductor: "Conductor",
    wired: "Wired",
    options: "Options",
    keeper: "Keeper",
) -> int:
    import asyncio

    closed = asyncio.Event()
    shell.closing.connect(closed.set)
    for number in _ending_signals():
        loop.add_signal_handler(number, closed.set)
    if _asked:
        closed.set()
    wired.bus.adopt_thread()
    leaving = _Leaving(loop, shell, conductor, wired)
    shell.may_close = leaving.may_close
    status = 0
    try:
        if options.offscreen_shot:
            from vibekit_desktop.app.shot import take

            status = await take(shell, conductor, options)
        else:
            status = await _start_and_wait(conductor, wired, options, closed)
    finally:
        # reverse order of starting, each step with a time limit
        leaving.end()
        conductor.close()
        # The window's tasks once more at the end: one that a timer of Qt's began meanwhile must not outlive the loop.
        steps = (
            (keeper.written(), CLOSE_STEP_S),
            (conductor.drained(), CLOSE_STEP_S),
            (wired.close(), CLOSE_CORE_S),
            (conductor.drained(), CLOSE_STEP_S),
        )
        for step, limit_s in steps:
            try:
                await asyncio.wait_for(step, limit_s)
            except TimeoutError:
                continue
    return status


class _Leaving:
    """Asks before the window closes over a running turn. Whoever ends the process otherwise is not asked."""

    def __init__(self, loop: "asyncio.AbstractEventLoop", shell: "Shell", conductor: "Conductor", wired: "Wired") -> None:
        self._loop, self._shell, self._conductor, self._wired = loop, shell, conductor, wired
        self._decided = False
        self._asking: asyncio.Task[None] | None = None

    def may_close(self) -> bool:
        """Whether the window may close now; if a turn runs it is asked, and closed after that if that is what is wanted."""
        if self._decided or not self._wired.core.live.running():
            return True
        if self._asking is None or self._asking.done():
            self._asking = self._loop.create_task(self._ask(), name="ask before leaving")
        return False

    def end(self) -> None:
        """It closes anyway: nobody is asked any more."""
        if self._asking is not None:
            self._asking.cancel()

    async def _ask(self) -> None:
        if await self._conductor.may_close():
            self._decided = True
            self._shell.close()


def _say_unwritable(conductor: "Conductor", options: "Options") -> None:
    """Where nothing can be recorded, that is said before anybody trusts that it is."""
    from vibekit_desktop.app.dirs import find_dirs, unwritable
    from vibekit_desktop.ui.error_text import sentence

    problem = unwritable(find_dirs(options.data_dir))
    if problem is not None:
        conductor.notifier.toast(sentence(problem).sentence, "error", everywhere=True)


async def _start_and_wait(conductor: "Conductor", wired: "Wired", options: "Options", closed: "asyncio.Event") -> int:
    """Begin, and wait for the end; whoever closes the window does not wait for the beginning first."""
    import asyncio

    from vibekit_desktop.core.types.errors import CoreError

    wired.core.watch.start()  # before the chats are listed, so that nothing falls between
    begin = conductor.start(open_chat=options.open_chat, view=options.view, recover=wired.recover)
    starting, ending = asyncio.ensure_future(begin), asyncio.ensure_future(closed.wait())
    await asyncio.wait({starting, ending}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        starting.cancel()
        await asyncio.wait({starting}, timeout=CLOSE_STEP_S)
        return 0
    try:
        starting.result()
    except CoreError as error:  # what was to be opened is not there
        from vibekit_desktop.cli.main import print_error
        from vibekit_desktop.cli.sentences import exit_status, sentence

        ending.cancel()
        print_error(error.code, sentence(error), as_json=options.json)
        return exit_status(error)
    _say_unwritable(conductor, options)
    wired.core.retention.start()
    await ending
    return 0
