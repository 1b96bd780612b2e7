"""The foot of a chat's page: what waits to be allowed, what is queued, and the composer, or the row of a chat only shown.

Arranges its parts in one column and says how high it is; decides nothing. UI thread only.
"""

from PySide6.QtCore import Signal
from PySide6.QtGui import QMoveEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from vibekit_desktop.core.types.agents import LiveState
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.composer import Composer
from vibekit_desktop.ui.views.permission import PermissionPanel
from vibekit_desktop.ui.views.queue_strip import QueueStrip
from vibekit_desktop.ui.views.read_only_row import ReadOnlyRow

_UNDER_PERMISSION, _UNDER_QUEUE, _BESIDE = 8, 6, 32
_TRANSCRIPT_LEAST = 60
_COMPOSER_SHARE, _FRAMES_SHARE = 0.4, 0.3
"""Of the page's height: how high the composer may become, and how much a question may show of what it is about."""


class ChatFoot(QWidget):
    """The foot. Its parts are public: ``permission``, ``queue``, ``composer``, ``read_only``. ``height_changed(height)``;
    ``focus_left()``: the composer had the focus and is gone.

    Invariant: either the composer is there or the row of a chat that is only shown; a question is there whenever one waits."""

    height_changed = Signal(int)
    focus_left = Signal()

    def __init__(self, hub: ThemeHub, host: QWidget) -> None:
        super().__init__(host)
        self._hub = hub
        self._host = host
        self.permission = PermissionPanel(hub, self)
        self.queue = QueueStrip(hub, self)
        self.composer = Composer(hub, host, self)
        self.read_only = ReadOnlyRow(hub, self)
        self._composing = False
        for part in (self.permission, self.queue, self.composer):
            part.height_changed.connect(self.place)
        for strip in (self.permission, self.queue):
            strip.focus_left.connect(self._take_focus)
        self.setTabOrder(self.permission, self.queue)
        self.setTabOrder(self.queue, self.composer)
        self.composer.hide()
        hub.changed.connect(self.place)
        self.place()

    @property
    def is_composing(self) -> bool:
        """Whether something can be written here."""
        return self._composing

    def show_read_only(self, text: str, *, can_continue: bool, can_copy: bool) -> None:
        """Nobody answers here: say why, and what can be done."""
        self._composing = False
        self.read_only.say(text, can_continue=can_continue, can_copy=can_copy)
        self.setAccessibleName(text)
        self._swap()

    def show_composer(self) -> None:
        """Something can be written here."""
        if self._composing:
            return
        self._composing = True
        self.setAccessibleName("")
        self._swap()

    def _swap(self) -> None:
        focus = QApplication.focusWidget()
        had_focus = not self._composing and focus is not None and self.composer.isAncestorOf(focus)
        self.composer.setVisible(self._composing)
        self.read_only.setVisible(not self._composing)
        if had_focus:
            self.focus_left.emit()
        self.place()

    def set_state(self, state: LiveState | None) -> None:
        """What the chat is doing."""
        self.permission.show_questions(state.questions if state is not None else ())
        self.queue.show_queue(state.queue if state is not None else ())
        self.composer.set_state(state)

    def _take_focus(self) -> None:
        if self._composing:
            self.composer.focus()

    def place(self) -> None:
        """Put the parts one over the other in the column, and take the height that they want and the page has."""
        theme = self._hub.theme
        width = max(200, min(theme.size("reading-max"), self.width() - 2 * _BESIDE))
        left = (self.width() - width) // 2
        page, under = self._host.height(), theme.space("s16")
        spare = page - theme.size("header") - _TRANSCRIPT_LEAST - under
        last: QWidget = self.composer if self._composing else self.read_only
        height = self.read_only.sizeHint().height()
        if self._composing:
            most = min(int(page * _COMPOSER_SHARE) - under, spare - self._least_above(width))
            height = self.composer.height_for(width, most)
        spare -= height
        y = self._place_permission(left, width, int(page * _FRAMES_SHARE) // 2, spare)
        y = self._place_queue(left, width, y, spare - y)
        last.setGeometry(left, y, width, height)
        y += height + under
        if y != self.height() or y != self.minimumHeight():
            self.setFixedHeight(y)
            self.height_changed.emit(y)

    def _least_above(self, width: int) -> int:
        """How much what stands over the composer takes at least: a long prompt does not push a question out of sight."""
        queue = self.queue.height_for(1)
        least = queue + _UNDER_QUEUE if queue else 0
        if self.permission.question is not None:
            least += self.permission.height_for(width, 0) + _UNDER_PERMISSION
        return least

    def _place_permission(self, left: int, width: int, room: int, spare: int) -> int:
        """What waits to be allowed, with as much room for what it is about as is left; returns its lower end with the gap."""
        panel = self.permission
        if panel.question is None:
            return 0
        if self.queue.isVisibleTo(self):
            spare -= self.queue.height_for(1) + _UNDER_QUEUE
        step = self._hub.theme.line_height("code")
        height = panel.height_for(width, room)
        while height + _UNDER_PERMISSION > spare and room > step:
            room -= step
            height = panel.height_for(width, room)
        panel.setGeometry(left, 0, width, height)
        panel.place(room)
        return height + _UNDER_PERMISSION

    def _place_queue(self, left: int, width: int, y: int, spare: int) -> int:
        """What is queued, as many rows as there is room for; returns its lower end with the gap."""
        rows = max(1, (spare - _UNDER_QUEUE) // self._hub.theme.size("queue-row"))
        height = self.queue.height_for(rows)
        if height > spare - _UNDER_QUEUE and rows > 1:
            rows -= 1  # the line that counts the others wants room too
            height = self.queue.height_for(rows)
        if not height:
            return y
        self.queue.setGeometry(left, y, width, height)
        self.queue.set_most(rows)
        return y + height + _UNDER_QUEUE

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.place()

    def moveEvent(self, event: QMoveEvent) -> None:
        self.composer.follow()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._hub.theme.color("bg.surface"))
