"""Tell the user, once, in words: a toast at the bottom of the centre pane.

The same fact always stands somewhere else too, so a missed toast loses nothing. UI thread only.
"""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPoint, QPropertyAnimation, QRectF, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QEnterEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QHBoxLayout, QLabel, QSizePolicy, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import cast_shadow, rounded
from vibekit_desktop.ui.views.controls import Button, IconButton
from vibekit_desktop.ui.views.pulse import Pulse

Action = tuple[str, Callable[[], None]]

_LOOK = {
    "done": ("check", "success.text"),
    "restored": ("restore", "success.text"),
    "info": ("info", "accent.text"),
    "error": ("warning", "danger.text"),
}
_WAITING = "waiting"
"""The kind of a toast that stands until what it tells of has ended."""


class _Toast(NamedTuple):
    text: str
    kind: str
    action: Action | None
    everywhere: bool
    about: str = ""


class _Arc(QWidget):
    """Something is at work."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._pulse = Pulse(hub, self)
        self.setFixedSize(16, 16)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._pulse.draw_arc(QPainter(self), QRectF(1, 1, 14, 14))


class _Frame(QWidget):
    """The toast itself. Invariant: shows one text; closes itself unless it is an error, something is waited for, or the mouse
    is over it. What had the focus before one of its buttons has it again when it goes."""

    def __init__(self, host: QWidget, hub: ThemeHub, toast: _Toast, closed: Callable[[], None]) -> None:
        super().__init__(host)
        self._hub = hub
        self._host = host
        self._closed = closed
        self._former: QWidget | None = None
        self.toast = toast
        theme = hub.theme
        self.setAccessibleName(toast.text)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 7, 6, 7)
        layout.setSpacing(10)
        self._picture = QLabel(self)
        layout.addWidget(_Arc(hub, self) if toast.kind == _WAITING else self._picture)
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setText(toast.text)
        self.label.setFont(theme.font("body"))
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        width = min(theme.size("toast-width"), max(200, host.width() - 64)) - 180
        self.label.setWordWrap(theme.metrics("body").horizontalAdvance(toast.text) > width)
        if self.label.wordWrap():
            self.label.setFixedWidth(width)
        layout.addWidget(self.label, 1)
        layout.addSpacing(6)
        if toast.action is not None:
            button = Button(hub, toast.action[0], kind="link", size="small", parent=self)
            button.clicked.connect(self.act)
            layout.addWidget(button)
        if toast.kind != _WAITING:
            close = IconButton(hub, "close", tr("Close this message"), parent=self)
            close.clicked.connect(self.close_now)
            layout.addWidget(close)
        cast_shadow(self, hub)
        hub.changed.connect(self._themed)
        self._themed()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._leave)
        self._move = QPropertyAnimation(self, b"pos", self)
        self._move.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.ensurePolished()
        self.adjustSize()
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_moved)

    def _themed(self) -> None:
        if self.toast.kind in _LOOK:
            glyph, token = _LOOK[self.toast.kind]
            self._picture.setPixmap(icons.pixmap(self._hub.theme, glyph, token, 16, self.devicePixelRatioF()))
        self.update()

    def _focus_moved(self, old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self.isAncestorOf(new) and old is not None and not self.isAncestorOf(old):
            self._former = old
            old.destroyed.connect(self._former_gone)

    def _former_gone(self) -> None:
        self._former = None

    def _give_back_focus(self) -> None:
        focus = QApplication.focusWidget()
        if focus is not None and self.isAncestorOf(focus) and self._former is not None and self._former.isVisible():
            self._former.setFocus(Qt.FocusReason.OtherFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._hub.theme
        rounded(
            painter,
            QRectF(self.rect()),
            theme.radius("card"),
            fill=theme.color("bg.popup"),
            line=theme.color("line.strong"),
        )

    def enter(self, place: QPoint) -> None:
        """Slide in and start the clock."""
        self.show()
        self.raise_()
        duration = self._hub.theme.motion("toast-in")
        if duration:
            self._move.setDuration(duration)
            self._move.setStartValue(place + QPoint(0, 12))
            self._move.setEndValue(place)
            self._move.start()
        else:
            self.move(place)
        self._start_clock()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.toast.text))

    def go_to(self, host: QWidget) -> None:
        """Stand in another widget, without coming in again."""
        self._move.stop()
        self._host = host
        self.setParent(host)
        self.show()
        self.raise_()

    def _start_clock(self) -> None:
        if self.toast.kind not in ("error", _WAITING):
            self._timer.start(self._hub.theme.motion("toast-stay"))

    def enterEvent(self, event: QEnterEvent) -> None:
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._start_clock()
        super().leaveEvent(event)

    def act(self) -> None:
        """Do what its button says."""
        self.close_now()
        if self.toast.action is not None:
            self.toast.action[1]()

    def _leave(self) -> None:
        if any(button.hasFocus() for button in self.findChildren(QAbstractButton)):
            self._start_clock()
            return
        duration = self._hub.theme.motion("toast-out")
        if not duration:
            self.close_now()
            return
        self._move.stop()
        self._move.setDuration(duration)
        self._move.setStartValue(self.pos())
        self._move.setEndValue(QPoint(self.x(), self._host.height() + 4))
        self._move.finished.connect(self.close_now)
        self._move.start()

    def say(self, text: str) -> None:
        """How far it is. Nobody is interrupted for it."""
        self.label.setText(text)

    def close_now(self) -> None:
        """Be gone, and say so once."""
        self._timer.stop()
        if not self.isHidden():
            self._give_back_focus()
            self.hide()
            self.deleteLater()
            self._closed()


class Waiting:
    """What a person waits for, while it is told: `say` how far it is, `end` when it is over."""

    def __init__(self, frame: _Frame) -> None:
        self._frame = frame
        self._over = False
        frame.destroyed.connect(self._gone)

    def _gone(self) -> None:
        self._over = True

    def say(self, text: str) -> None:
        """Another text in the same place."""
        if not self._over:
            self._frame.say(text)

    def end(self) -> None:
        """It is over: the toast goes, if other news did not take its place."""
        if not self._over:
            self._frame.close_now()


class Notifier(QObject):
    """Shows one toast at a time on ``host``, the newest. Invariant: an error that other news covered comes back after it.

    ``inset`` is the distance from the bottom of ``host`` (16 above the read-only row). A toast belongs to the chat that was
    open when it came (`show_chat`) and goes when another one is opened, unless it was told ``everywhere``.
    """

    def __init__(self, host: QWidget, hub: ThemeHub) -> None:
        super().__init__(host)
        self._host = host
        self._hub = hub
        self._frame: _Frame | None = None
        self._covered: _Toast | None = None
        """The newest error, while something newer stands over it."""
        self._chat = ""
        self.inset = hub.theme.space("s16")
        host.installEventFilter(self)

    def show_chat(self, chat: str) -> None:
        """This chat is open now: what was told about another one goes."""
        if chat == self._chat:
            return
        self._chat = chat
        if self._covered is not None and not self._covered.everywhere:
            self._covered = None
        if self._frame is not None and not self._frame.toast.everywhere:
            self._frame.close_now()

    def stand_in(self, host: QWidget, *, inset: int) -> None:
        """Show toasts in another widget from now on; one that is shown moves there."""
        if host is not self._host:
            self._host.removeEventFilter(self)
            self._host = host
            host.installEventFilter(self)
        self.inset = inset
        if self._frame is not None:
            self._frame.go_to(host)
            self._frame.move(self._place(self._frame))

    def take_back(self) -> bool:
        """Do what Undo in the toast in sight does; whether it has such a button."""
        frame = self._frame
        if frame is None or frame.toast.action is None or frame.toast.action[0] != tr("Undo"):
            return False
        frame.act()
        return True

    def toast(
        self, text: str, kind: str = "done", action: Action | None = None, *, everywhere: bool = False, about: str = ""
    ) -> None:
        """Show ``text`` now; ``kind`` is ``done``, ``restored``, ``info`` or ``error``; ``action`` is a button and what it
        does; ``everywhere``: it is not about the chat that is open; ``about``: what failed, until that is done (`done`)."""
        if kind not in _LOOK:
            raise KeyError(kind)
        shown = self._frame
        if kind == "error":
            self._covered = None  # the newest error is the one to be read
        elif shown is not None and shown.toast.kind == "error":
            self._covered = shown.toast
        if shown is not None:
            self._frame = None
            shown.close_now()
        self._show(_Toast(text, kind, action, everywhere, about))

    def done(self, about: str) -> None:
        """What failed before was done now: the error that told of it is over."""
        if self._covered is not None and self._covered.about == about:
            self._covered = None
        if self._frame is not None and self._frame.toast.about == about:
            self._frame.close_now()

    def wait(self, text: str, stop: Callable[[], None] | None = None) -> Waiting:
        """Show that something is at work until the answer is ended; ``stop`` is what Cancel does, if it can be stopped."""
        shown = self._frame
        if shown is not None and shown.toast.kind == "error":
            self._covered = shown.toast
        if shown is not None:
            self._frame = None
            shown.close_now()
        return Waiting(self._show(_Toast(text, _WAITING, None if stop is None else (tr("Cancel"), stop), everywhere=True)))

    @property
    def shown(self) -> str:
        """The text on the screen, or nothing."""
        return self._frame.label.text() if self._frame is not None else ""

    def dismiss(self) -> None:
        """Close what is shown."""
        if self._frame is not None:
            self._frame.close_now()

    def _show(self, toast: _Toast) -> _Frame:
        frame = _Frame(self._host, self._hub, toast, lambda: self._closed(frame))
        self._frame = frame
        frame.enter(self._place(frame))
        return frame

    def _closed(self, frame: _Frame) -> None:
        if self._frame is not frame:
            return
        self._frame = None
        if self._covered is not None:
            covered, self._covered = self._covered, None
            self._show(covered)

    def _place(self, frame: QWidget) -> QPoint:
        x = (self._host.width() - frame.width()) // 2
        return QPoint(x, self._host.height() - frame.height() - self.inset)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self._frame is not None:
            self._frame.move(self._place(self._frame))
        return super().eventFilter(watched, event)
