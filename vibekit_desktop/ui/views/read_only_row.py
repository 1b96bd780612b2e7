"""The foot of a chat in which nobody answers: where it comes from, and the two ways to go on with it. UI thread only."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.controls import Button, draw_icon
from vibekit_desktop.ui.views.hint_button import HintButton
from vibekit_desktop.ui.views.row_paint import draw_text

_TEXT_LEFT, _EDGE, _GAP, _TEXT_LEAST = 40, 8, 6, 120


class ReadOnlyRow(QWidget):
    """One row. ``continue_requested`` and ``copy_requested`` have no argument.

    Where it is tight the sentence is cut, then Copy as prompt goes; its tool tip has the whole sentence."""

    continue_requested = Signal()
    copy_requested = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text = ""
        self.go_on = HintButton(hub, tr("Continue here"), menu=True)
        self.go_on.setParent(self)
        self.go_on.setAccessibleName(tr("Continue this chat here, with an agent of your choice"))
        self.go_on.clicked.connect(self.continue_requested)
        self.copy = Button(hub, tr("Copy as prompt"), icon="copy", kind="ghost", parent=self)
        self.copy.setAccessibleName(tr("Copy the chat as a prompt for another agent"))
        self.copy.clicked.connect(self.copy_requested)
        self._can = (False, False)
        self.say("")
        hub.changed.connect(self._place)

    def say(self, text: str, *, can_continue: bool = False, can_copy: bool = False) -> None:
        """The one sentence, and what can be done."""
        self._text = text
        self._can = (can_continue, can_copy)
        self.setAccessibleName(text)
        self.setToolTip(plain_tip(text))
        self._place()

    def _place(self) -> None:
        right = self.width() - _EDGE
        for button, wanted in ((self.go_on, self._can[0]), (self.copy, self._can[1])):
            size = button.sizeHint()
            fits = button is self.go_on or right - size.width() >= _TEXT_LEFT + _TEXT_LEAST
            button.setVisible(wanted and fits)
            if wanted and fits:
                right -= size.width()
                button.setGeometry(right, (self.height() - size.height()) // 2, size.width(), size.height())
                right -= _GAP
        self._room = max(0, right - _TEXT_LEFT - _GAP)
        self.update()

    # Qt's names below.

    def sizeHint(self) -> QSize:
        size = self._hub.theme.size
        return QSize(size("reading-max"), size("chat-foot") - self._hub.theme.space("s16"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        box = QRectF(self.rect())
        rounded(painter, box, theme.radius("composer"), fill=theme.color("bg.raised"), line=theme.color("line.hair"))
        draw_icon(painter, theme, "lock", "text.tertiary", 14, (self.height() - 16) // 2)
        place = QRectF(_TEXT_LEFT, 0, self._room, self.height())
        draw_text(painter, theme, place, self._text, token="text.secondary", elide=Qt.TextElideMode.ElideRight)
