"""What the dialogs that ask about one chat have in common: a head with icon and words, parts of their own, two buttons.

UI thread only.
"""

from typing import TypeVar

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink, rounded
from vibekit_desktop.ui.views.controls import Button, draw_icon

T = TypeVar("T")

_SIDE, _TILE_AND_GAP = 24, 50


class Asking(Overlay[T]):
    """Invariant: Cancel has the focus first, and Esc means it. A subclass puts its parts in with `add_part` and says what the
    other button answers with `agreed`."""

    def __init__(
        self,
        hub: ThemeHub,
        parent: QWidget,
        *,
        title: str,
        text: str,
        icon: str,
        cancel: str,
        go: str,
        kind: str = "primary",
        tone: str = "accent",
    ) -> None:
        super().__init__(hub, parent)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        outer = QVBoxLayout(self.card)
        outer.setContentsMargins(_SIDE, 20, _SIDE, 20)
        outer.setSpacing(20)
        top = QHBoxLayout()
        top.setSpacing(14)
        top.addWidget(_Tile(hub, icon, tone, self.card), 0, Qt.AlignmentFlag.AlignTop)
        self._words = QVBoxLayout()
        self._words.setSpacing(4)
        self.title, self.text = _label(title, self.card), _label(text, self.card)
        for label in (self.title, self.text):
            self._words.addWidget(label)
        top.addLayout(self._words, 1)
        outer.addLayout(top)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addStretch(1)
        self.cancel = Button(hub, cancel, size="large", parent=self.card)
        self.cancel.clicked.connect(lambda: self.answer(None))
        self.go = Button(hub, go, kind=kind, size="large", parent=self.card)
        self.go.clicked.connect(lambda: self.answer(self.agreed()))
        for button in (self.cancel, self.go):
            row.addWidget(button)
        outer.addLayout(row)
        self.stops = [self.cancel, self.go]
        hub.changed.connect(self._dress)
        self._dress()

    @property
    def inner_width(self) -> int:
        """How wide the words are."""
        return self.hub.theme.size("question-width") - 2 * _SIDE - _TILE_AND_GAP

    def add_part(self, widget: QWidget, *stops: QWidget, gap: int = 8) -> None:
        """Put a part under the words; ``stops`` are where Tab goes in it."""
        self._words.addSpacing(gap)
        self._words.addWidget(widget)
        self.stops += stops

    def say(self, text: str) -> None:
        """Another text under the title."""
        self.text.setText(text)
        self.setAccessibleDescription(text)
        layout = self.card.layout()
        if layout is not None:  # what it needs now, not what it needed for the former text
            layout.invalidate()
            layout.activate()
        self._place()

    def agreed(self) -> T | None:
        """What the button that goes on answers."""
        raise TypeError(type(self).__name__)  # every one of these dialogs says it

    def _dress(self) -> None:
        theme = self.hub.theme
        for label in (self.title, self.text):
            label.setFixedWidth(self.inner_width)
        self.title.setFont(theme.font("heading"))
        self.text.setFont(theme.font("body"))
        ink(self.title, theme, "text.primary")
        ink(self.text, theme, "text.secondary")

    def wanted_size(self, room: QSize) -> QSize:
        """As wide as a sentence reads well, as high as it needs."""
        return QSize(self.hub.theme.size("question-width"), self.card.sizeHint().height()).boundedTo(room)


class _Tile(QWidget):
    """The tinted square with an icon; decorative."""

    def __init__(self, hub: ThemeHub, icon: str, tone: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._icon, self._tone = icon, tone
        side = hub.theme.size("icon-tile")
        self.setFixedSize(side, side)
        hub.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        rounded(painter, QRectF(self.rect()), theme.radius("card"), fill=theme.color(f"{self._tone}.tint"))
        draw_icon(painter, theme, self._icon, f"{self._tone}.text", 8, 8, 20)


def _label(text: str, parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setText(text)
    return label
