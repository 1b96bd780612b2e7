"""The window itself, shown before anything else is loaded; it paints the panes' grounds until `MainWindow` fills it.

Imports Qt's widgets and nothing of ours but the colours' text: every import here is waited for by a person. Not even Qt's enums
(they cost 18 ms). UI thread only.
"""

from PySide6.QtCore import QByteArray, Signal
from PySide6.QtGui import QCloseEvent, QColor, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QMainWindow, QWidget

from vibekit_desktop.ui.assets import first_colors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_WIDTH, FIRST_HEIGHT = 1440, 900
LEAST_WIDTH, LEAST_HEIGHT = 800, 560
_SIDEBAR, _INSPECTOR, _HEADER = 280, 360, 56
_NARROW_INSPECTOR, _NARROW_SIDEBAR = 1180, 900
_DARK = 128


def screens_name() -> str:
    """The set of screens there is now, by what tells them apart: name, place, size and ratio of each."""
    parts = []
    for screen in QGuiApplication.screens():
        box = screen.geometry()
        name = screen.name().replace("\n", " ")
        parts.append(f"{name} {box.width()}x{box.height()}+{box.x()}+{box.y()}@{screen.devicePixelRatio():g}")
    return ", ".join(sorted(parts))


class Shell(QMainWindow):
    """The native window. ``closing`` comes when a person closes it; ``may_close`` is asked before, and says no as long as it
    wants to ask the person something first. Invariant: it holds at most one page, over all of it."""

    closing = Signal()

    def __init__(self, *, dark: bool | None = None) -> None:
        super().__init__()
        self.may_close: Callable[[], bool] = lambda: True
        if dark is None:
            dark = self.palette().window().color().lightness() < _DARK
        self._colors = {name: QColor(value) for name, value in first_colors(dark=dark).items()}
        self.setWindowTitle("VibeKit Desktop")
        self.setMinimumSize(LEAST_WIDTH, LEAST_HEIGHT)
        screen = QGuiApplication.primaryScreen()
        if screen is not None:
            room = screen.availableSize()
            self.resize(min(FIRST_WIDTH, int(room.width() * 0.9)), min(FIRST_HEIGHT, int(room.height() * 0.9)))

    def stand(self, place: str) -> bool:
        """Stand where `saved_place` was asked for, as far as that is on a screen; whether the text was such a place."""
        return bool(place) and self.restoreGeometry(QByteArray.fromHex(place.encode("ascii", "replace")))

    def saved_place(self) -> str:
        """Where it stands and how (maximised, full screen), as text."""
        return bytes(self.saveGeometry().toHex().data()).decode("ascii")

    def fill(self, page: QWidget) -> None:
        """Show ``page`` from now on, under its own title and icon."""
        page.windowIconChanged.connect(self.setWindowIcon)
        self.setWindowIcon(page.windowIcon())
        page.windowTitleChanged.connect(self.setWindowTitle)
        self.setWindowTitle(page.windowTitle())
        self.setCentralWidget(page)

    # Qt's names below.

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.centralWidget() is not None:
            return
        painter = QPainter(self)
        colors, width, height = self._colors, self.width(), self.height()
        left = _SIDEBAR if width >= _NARROW_SIDEBAR else 0
        right = width - (_INSPECTOR if width >= _NARROW_INSPECTOR else 0)
        painter.fillRect(0, 0, left, height, colors["sidebar"])
        painter.fillRect(left, 0, right - left, height, colors["surface"])
        painter.fillRect(right, 0, width - right, height, colors["inspector"])
        painter.fillRect(left - 1, 0, 1, height, colors["hair"])
        painter.fillRect(right, 0, 1, height, colors["hair"])
        painter.fillRect(left, _HEADER - 1, width - left, 1, colors["hair"])

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_close():
            event.ignore()
            return
        self.closing.emit()
        super().closeEvent(event)
