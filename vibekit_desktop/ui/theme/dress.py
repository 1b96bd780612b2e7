"""Dress the whole program in the hub's theme and follow it: palette, font, the ring around what has the focus.

UI thread only.
"""

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QFocusFrame, QToolTip, QWidget
from shiboken6 import isValid

from vibekit_desktop.ui.theme import parts
from vibekit_desktop.ui.theme.app_style import AppStyle
from vibekit_desktop.ui.theme.palette import ThemeHub

_TOLD_LATER = (QEvent.Type.ApplicationPaletteChange, QEvent.Type.ApplicationFontChange)


class FocusRing(QObject):
    """One frame for the whole program: stands around the focused button unless the mouse put the focus there."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._frame: QFocusFrame | None = None
        app.focusChanged.connect(self._moved)

    def _moved(self, _old: QWidget | None, new: QWidget | None) -> None:
        pressed = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        wanted = new if isinstance(new, QAbstractButton) and not pressed else None
        if self._frame is not None and isValid(self._frame):
            self._frame.destroyed.disconnect(self._gone)  # it comes later, and would be taken for the end of the next frame
            self._frame.setWidget(None)  # type: ignore[arg-type]  # Qt takes null, the stubs do not say so
            self._frame.deleteLater()
        self._frame = None
        if wanted is not None:
            self._frame = QFocusFrame(wanted)
            self._frame.destroyed.connect(self._gone)
            self._frame.setWidget(wanted)

    def _gone(self) -> None:
        self._frame = None


class Dress(QObject):
    """Keeps the application dressed in the hub's theme. A widget made later has the present one."""

    def __init__(self, app: QApplication, hub: ThemeHub) -> None:
        super().__init__(app)
        self._app = app
        self._hub = hub
        hub.changed.connect(self.refresh)

    def refresh(self) -> None:
        """Set palette and font anew; what they do not say is painted by `AppStyle`, which reads the theme at every paint."""
        theme = self._hub.theme
        palette = theme.palette()
        self._app.setPalette(palette)
        self._app.setFont(theme.font("body"))
        QToolTip.setFont(theme.font("small"))
        QToolTip.setPalette(parts.tip_palette(theme, palette))
        for kind in _TOLD_LATER:
            # Who hears of the change after us measures text at once.
            QCoreApplication.sendPostedEvents(None, kind.value)


def apply(app: QApplication, hub: ThemeHub) -> Dress:
    """Dress ``app`` now and whenever the theme changes."""
    app.setStyle(AppStyle(hub))
    dress = Dress(app, hub)
    dress.refresh()
    if app.findChild(FocusRing) is None:
        FocusRing(app)
    return dress
