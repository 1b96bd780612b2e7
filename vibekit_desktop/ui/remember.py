"""Remember how the window stood, for each set of screens: its place, its panes, its text zoom, its look, its tab,
whether files stand as a list or a tree, and of which workspace the chats are listed; on any screens what a person was told.

Knows no disk: whoever makes it hands over what was kept and a function that keeps. UI thread only.
"""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication

from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.told import Told
from vibekit_desktop.ui.views.arrangement import Wanted
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.shell import Shell, screens_name

Known = Mapping[str, Mapping[str, str]]

_KEEP_MS = 1000
_SCREENS_MS = 500
"""A screen that is plugged in comes and goes several times until everything about it is known."""
_OPEN, _CLOSED = "open", "closed"
_TREE, _LIST = "tree", "list"
_MOST_PATH = 1_000


def zoom_of(values: Mapping[str, str]) -> float:
    """The text zoom that was kept; 1 if none was."""
    text = values.get("zoom", "")
    return int(text) / 100 if text.isascii() and text.isdecimal() and len(text) <= 3 else 1.0


def mode_of(values: Mapping[str, str]) -> str:
    """The look that was asked for."""
    mode = values.get("mode", "")
    return mode if mode in ("light", "dark") else "system"


def panes_of(values: Mapping[str, str]) -> Wanted | None:
    """The panes that were kept."""
    words = values.get("panes", "").split()
    if len(words) != 4 or not all(word.isascii() and word.isdecimal() and len(word) < 6 for word in words[:2]):
        return None
    return Wanted(int(words[0]), int(words[1]), sidebar_open=words[2] != _CLOSED, inspector_open=words[3] != _CLOSED)


def workspace_of(known: Known, screens: str) -> str:
    """The workspace whose chats were listed last on these screens, else on any; empty for all."""
    sections = [*known.values()]  # the newest stands last
    here = known.get(screens) or (sections[-1] if sections else {})
    return here.get("workspace", "")


class Remember(QObject):
    """From its making on what changes is kept, a moment later and once more when the window closes.

    Invariant: what is kept under a set of screens is how the window stood on them last.
    """

    def __init__(
        self,
        shell: Shell,
        window: MainWindow,
        hub: ThemeHub,
        known: Known,
        keep: Callable[[Known], object],
        *,
        inspector: Inspector | None = None,
        chats: ChatListModel | None = None,
        choose_workspace: Callable[[str], None] | None = None,
        told: Told | None = None,
    ) -> None:
        """``choose_workspace`` lists the chats of a workspace, as a person does."""
        super().__init__(window)
        self._shell, self._window, self._hub, self._inspector, self._chats = shell, window, hub, inspector, chats
        self._told = told
        self._known = {name: dict(values) for name, values in known.items()}
        self._keep = keep
        self._screens = screens_name()
        self._kept = self._known.get(self._screens, {})
        self._restore(self._kept)
        if choose_workspace is not None and (workspace := workspace_of(self._known, self._screens)):
            choose_workspace(workspace)
        self._later = QTimer(self, interval=_KEEP_MS, singleShot=True)
        self._later.timeout.connect(self.keep_now)
        self._look = QTimer(self, interval=_SCREENS_MS, singleShot=True)
        self._look.timeout.connect(self._other_screens)
        window.panes.wanted_changed.connect(self._later.start)
        window.menu.always_changed.connect(self._later.start)
        hub.changed.connect(self._later.start)
        if inspector is not None:
            inspector.tab_changed.connect(self._later.start)
            inspector.layout_chosen.connect(self._later.start)
        if chats is not None:
            chats.workspace_changed.connect(self._later.start)
        if told is not None:
            told.learn(word for values in self._known.values() for word in values.get("told", "").split())
            told.changed.connect(self._later.start)
        shell.closing.connect(self.keep_now)
        shell.installEventFilter(self)
        screens: QGuiApplication = QGuiApplication.instance()  # type: ignore[assignment]  # there is one, and it is a window's
        for signal in (screens.screenAdded, screens.screenRemoved, screens.primaryScreenChanged):
            signal.connect(self._look.start)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Only the window's own events come here, and of those few are of these kinds.
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowStateChange):
            self._later.start()
        return super().eventFilter(watched, event)

    def _values(self) -> dict[str, str]:
        wanted = self._window.panes.wanted
        values = {
            "place": self._shell.saved_place(),
            "panes": f"{wanted.sidebar} {wanted.inspector} {_word(wanted.sidebar_open)} {_word(wanted.inspector_open)}",
            "zoom": str(round(self._hub.zoom * 100)),
            "look": "dark" if self._hub.theme.dark else "light",
            "mode": self._hub.mode,
            "menu": "always" if self._window.menu.always else "on-alt",
        }
        if self._inspector is not None:
            values["tab"] = str(self._inspector.tab())
            values["files"] = _TREE if self._inspector.files.as_tree else _LIST
        if self._told is not None and self._told.words:
            values["told"] = " ".join(sorted(self._told.words))
        if self._chats is not None and _can_be_kept(self._chats.workspace):
            values["workspace"] = self._chats.workspace
        return values

    def keep_now(self) -> None:
        """Keep how it stands now, if that is news."""
        self._later.stop()
        values = self._values()
        if values != self._kept:
            self._kept = values
            self._known.pop(self._screens, None)  # the newest stands last
            self._known[self._screens] = values
            self._keep(self._known)

    def _restore(self, values: Mapping[str, str]) -> None:
        wanted = panes_of(values)
        if wanted is not None:
            self._window.panes.want(wanted)
        self._window.menu.set_always(values.get("menu") == "always")
        tab, files = values.get("tab", ""), values.get("files", "")
        if self._inspector is not None and tab in ("0", "1", "2"):
            self._inspector.show_tab(int(tab))
        if self._inspector is not None and files in (_TREE, _LIST):
            self._inspector.files.set_tree(files == _TREE)

    def _other_screens(self) -> None:
        """Screens were plugged in or out: stand as one stood on these."""
        now = screens_name()
        if now == self._screens:
            return
        self._screens = now
        self._kept = self._known.get(now, {})
        if self._kept:
            self._hub.set_zoom(zoom_of(self._kept))
            self._restore(self._kept)
            self._shell.stand(self._kept.get("place", ""))
        self._later.start()


def _word(is_open: bool) -> str:
    return _OPEN if is_open else _CLOSED


def _can_be_kept(path: str) -> bool:
    """Whether a path is one line of a text file. Names of folders can be anything."""
    return (
        0 < len(path) <= _MOST_PATH and path.splitlines() == [path] and path == path.encode("utf-8", "replace").decode("utf-8")
    )
