"""A review in a window of its own, beside the main one. UI thread only."""

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence
from PySide6.QtWidgets import QMainWindow, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.review import ReviewPage
from vibekit_desktop.ui.visible import one_line


class ReviewWindow(QMainWindow):
    """Signals: ``undo_requested()`` and ``redo_requested()``: of the last restore; ``came_back()``: it is in front again;
    ``closed()``. Invariant: it shows one chat's review, and is gone when it is closed."""

    undo_requested = Signal()
    redo_requested = Signal()
    came_back = Signal()
    closed = Signal()

    def __init__(self, hub: ThemeHub, page: ReviewPage, title: str, beside: QWidget) -> None:
        super().__init__()
        self.page = page
        size = hub.theme.size
        self.setMinimumSize(size("window-min-width"), size("window-min-height"))
        self.setWindowTitle(tr("Review changes: {title} - VibeKit Desktop", title=one_line(title)))
        self.setWindowIcon(icons.app_icon(hub.theme))
        self.setCentralWidget(page)
        self.resize(beside.window().size())
        for text, keys, signal in (
            (tr("Undo the last restore"), ("Ctrl+Z",), self.undo_requested),
            (tr("Redo the last undo"), ("Ctrl+Shift+Z", "Ctrl+Y"), self.redo_requested),
        ):
            action = QAction(text, self)
            action.setShortcuts([QKeySequence(key) for key in keys])
            action.triggered.connect(signal)
            self.addAction(action)
        shut = QAction(tr("Close window"), self)
        shut.setShortcuts([QKeySequence("Ctrl+W")])
        shut.triggered.connect(self.close)
        self.addAction(shut)
        page.back_requested.connect(self.close)

    # Qt's names below.

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.came_back.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closed.emit()
        super().closeEvent(event)
        self.deleteLater()
