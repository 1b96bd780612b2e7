"""What a pane shows instead of its content: nothing yet, an empty state, a failure with Try again, a skeleton while loading.

Nothing is shown for the first 200 ms of loading. UI thread only.
"""

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink, rounded
from vibekit_desktop.ui.views.controls import Button


class Blank(QWidget):
    """A glyph, a title, one sentence, at most one button, in the middle. ``acted`` has no argument: the button was pressed.
    ``ground`` is a colour's token for a page that has nothing behind it."""

    acted = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, ground: str = "") -> None:
        super().__init__(parent)
        self._hub = hub
        self._ground = ground
        self._icon = ""
        self._token = "text.tertiary"
        space = hub.theme.space
        layout = QVBoxLayout(self)
        layout.setContentsMargins(space("s24"), space("s24"), space("s24"), space("s24"))
        layout.setSpacing(space("s4"))
        self._glyph = QLabel(self)
        self._title = _label(self)
        self._sentence = _label(self)
        self._button = Button(hub, "", size="small", parent=self)
        self._button.clicked.connect(self.acted)
        layout.addStretch(1)
        for widget in (self._glyph, self._title, self._sentence):
            widget.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.addWidget(widget)
        layout.addSpacing(space("s6"))
        layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(2)
        hub.changed.connect(self._dress)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Stay quiet: the content is still to come."""
        self.say("", "", "")

    def say(self, icon: str, title: str, sentence: str, action: str = "", *, failed: bool = False) -> None:
        """An empty state, or a failure. Without an ``action`` there is no button."""
        self._icon = icon
        self._token = "danger.text" if failed else "text.tertiary"
        self._title.setText(title)
        self._sentence.setText(sentence)
        self._button.setText(action)
        self._button.setAccessibleName(action)
        self._button.updateGeometry()
        for widget, shown in ((self._glyph, icon), (self._title, title), (self._sentence, sentence), (self._button, action)):
            widget.setVisible(bool(shown))
        self.setAccessibleName(f"{title}. {sentence}" if title else "")
        self._dress()

    def _dress(self) -> None:
        theme = self._hub.theme
        if self._icon:
            self._glyph.setPixmap(
                icons.pixmap(theme, self._icon, self._token, theme.size("icon-large"), self.devicePixelRatioF())
            )
        self._title.setFont(theme.font("body", weight=600))
        self._sentence.setFont(theme.font("small"))
        ink(self._title, theme, "text.primary")
        ink(self._sentence, theme, "text.tertiary")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._ground:
            QPainter(self).fillRect(self.rect(), self._hub.theme.color(self._ground))


class Skeleton(QWidget):
    """Bars of the shape of rows, without any movement; invisible for the first 200 ms."""

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, row: int = 44) -> None:
        super().__init__(parent)
        self._hub = hub
        self._row = row
        self._seen = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._appear)

    def begin(self) -> None:
        """Loading begins now."""
        self.setAccessibleName(tr("Loading"))
        self._seen = False
        self._timer.start(self._hub.theme.tokens.motion("loading-delay"))
        self.update()

    def end(self) -> None:
        """Loading is over."""
        self._timer.stop()
        self._seen = False

    def _appear(self) -> None:
        self._seen = True
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._seen:
            return
        painter = QPainter(self)
        color = self._hub.theme.color("bg.track")
        for number in range(min(6, self.height() // self._row)):
            y = 16 + number * self._row
            rounded(painter, QRectF(16, y, (self.width() - 32) * (0.58, 0.44, 0.66)[number % 3], 8), 4, fill=color)
            rounded(painter, QRectF(16, y + 16, (self.width() - 32) * (0.36, 0.3, 0.42)[number % 3], 8), 4, fill=color)


def _label(parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label
