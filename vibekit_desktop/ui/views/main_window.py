"""Arrange the panes; own no data.

Stands inside the native window (`views.shell`) or alone. Content comes through `install_sidebar`, `install_page` and
`install_inspector`. UI thread only.
"""

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QMainWindow, QRadioButton, QStackedWidget, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import pressed_by
from vibekit_desktop.ui.views.menu_bar import WindowMenu
from vibekit_desktop.ui.views.panes import Panes
from vibekit_desktop.ui.visible import one_line

CENTRE_PAGES = ("first_run", "transcript", "empty")
WHOLE_PAGES = ("review",)


class MainWindow(QMainWindow):
    """The shell. ``page_changed`` carries the page's name; ``sidebar_shown`` and ``inspector_shown`` whether the pane is
    visible; ``narrow_changed`` whether the inspector is a drawer; ``closing`` comes before the window goes.

    Invariant: the inspector is visible only beside the transcript; ``review`` takes the whole window.
    """

    page_changed = Signal(str)
    sidebar_shown = Signal(bool)
    inspector_shown = Signal(bool)
    narrow_changed = Signal(bool)
    closing = Signal()

    def __init__(self, hub: ThemeHub) -> None:
        super().__init__()
        self._hub = hub
        size = hub.theme.size
        self.setMinimumSize(size("window-min-width"), size("window-min-height"))
        self.panes = Panes(hub)
        self._outer = QStackedWidget(self)
        self._outer.addWidget(self.panes)
        self.setCentralWidget(self._outer)
        self._centre = QStackedWidget()
        self._pages: dict[str, QWidget] = {}
        self._page = ""
        self._opener: QWidget | None = None
        self.panes.sidebar_shown.connect(self._sidebar_shown)
        self.panes.inspector_shown.connect(self.inspector_shown)
        self.panes.narrow_changed.connect(self.narrow_changed)
        self.menu = WindowMenu(self, hub)
        hub.changed.connect(self.menu.place)
        hub.changed.connect(self._place_opener)
        self.set_chat("", "")
        self.setWindowIcon(icons.app_icon(hub.theme))
        screen = QGuiApplication.primaryScreen()
        if screen is not None:
            room = screen.availableSize()
            self.resize(min(1440, int(room.width() * 0.9)), min(900, int(room.height() * 0.9)))

    def set_chat(self, title: str, workspace: str) -> None:
        """Say in the title bar what is open; empty texts are left out."""
        parts = ", ".join(part for part in (one_line(title), workspace) if part)
        self.setWindowTitle(tr("{what} - VibeKit Desktop", what=parts) if parts else tr("VibeKit Desktop"))

    def install_sidebar(self, widget: QWidget, opener: QWidget | None = None) -> None:
        """Put the chat list in its pane. ``opener`` is a button at the top left of the centre while the pane is closed."""
        self.panes.sidebar.put(widget)
        if opener is not None:
            self._opener = opener
            opener.setParent(self.panes.centre)
            self._place_opener()
            opener.setVisible(not self.panes.sidebar.isVisible())

    def _place_opener(self) -> None:
        if self._opener is not None:
            theme = self._hub.theme
            self._opener.move(theme.space("s12"), (theme.size("header") - self._opener.sizeHint().height()) // 2)

    def install_inspector(self, widget: QWidget) -> None:
        """Put the inspector in its pane."""
        self.panes.inspector.put(widget)

    def install_page(self, name: str, widget: QWidget) -> None:
        """Give a page its widget: ``first_run``, ``transcript``, ``empty`` in the centre, ``review`` over all panes."""
        if name not in CENTRE_PAGES + WHOLE_PAGES:
            raise KeyError(name)
        old = self._pages.pop(name, None)
        holder = self._outer if name in WHOLE_PAGES else self._centre
        if old is not None:
            holder.removeWidget(old)
            old.deleteLater()
        self._pages[name] = widget
        holder.addWidget(widget)
        if self._page == name:
            self.show_page(name)

    @property
    def page(self) -> str:
        """The page shown, or empty before the first."""
        return self._page

    def show_page(self, name: str) -> None:
        """Bring a page to the front; raises `KeyError` if it was not installed."""
        widget = self._pages[name]
        changed = name != self._page
        self._page = name
        if name in WHOLE_PAGES:
            self._outer.setCurrentWidget(widget)
        else:
            if self.panes.centre.content is not self._centre:
                self.panes.centre.put(self._centre)
            self._centre.setCurrentWidget(widget)
            self._outer.setCurrentWidget(self.panes)
            self.panes.allow_inspector(name == "transcript")
            if self._opener is not None:
                self._opener.raise_()
        if changed:
            self.menu.show_review(name in WHOLE_PAGES)
            self.page_changed.emit(name)

    def toggle_sidebar(self) -> None:
        """Show or hide the chat list."""
        self.panes.toggle_sidebar()

    def toggle_inspector(self) -> None:
        """Show or hide the inspector."""
        self.panes.toggle_inspector()

    def _sidebar_shown(self, shown: bool) -> None:
        if self._opener is not None:
            self._opener.setVisible(not shown)
            self._opener.raise_()
        self.sidebar_shown.emit(shown)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Cancel) and self.panes.close_drawer():
            event.accept()
            return
        focus = QApplication.focusWidget()  # a button that does not know Enter itself
        is_button = isinstance(focus, QAbstractButton) and not isinstance(focus, QCheckBox | QRadioButton)
        if is_button and isinstance(focus, QAbstractButton) and self.isAncestorOf(focus) and pressed_by(focus, event):
            return
        if not self.menu.alt(event, pressed=True):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self.menu.alt(event, pressed=False):
            super().keyReleaseEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        super().closeEvent(event)
