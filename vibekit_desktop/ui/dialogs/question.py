"""Ask one small question in the window: a title, a sentence, two or three buttons.

For what cannot be undone by one more click, or touches what somebody else wrote. UI thread only.
"""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import Dress, rounded
from vibekit_desktop.ui.views.controls import Button, draw_icon


class Choice(NamedTuple):
    """One button: what `ask` returns for it (empty: no), its words, its kind."""

    key: str
    text: str
    kind: str = "secondary"


class Question(Overlay[str]):
    """Invariant: exactly one choice has the empty key; it has the focus first, and Esc means it."""

    def __init__(
        self, hub: ThemeHub, parent: QWidget, title: str, text: str, choices: Sequence[Choice], *, icon: str = "undo"
    ) -> None:
        super().__init__(hub, parent)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        outer = QVBoxLayout(self.card)
        outer.setContentsMargins(24, 20, 24, 20)
        outer.setSpacing(20)
        top = QHBoxLayout()
        top.setSpacing(14)
        top.addWidget(IconTile(hub, icon, self.card), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(4)
        self._title = _words(title, self.card)
        Dress(self._title, hub, "heading")
        self._text = _words(text, self.card)
        Dress(self._text, hub, "body", "text.secondary")
        for label in (self._title, self._text):
            words.addWidget(label)
        self._fit()
        hub.changed.connect(self._fit)
        top.addLayout(words, 1)
        outer.addLayout(top)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addStretch(1)
        for choice in choices:
            button = Button(hub, choice.text, kind=choice.kind, size="large", parent=self.card)
            button.clicked.connect(lambda _=False, key=choice.key: self.answer(key or None))
            row.addWidget(button)
            self.stops.append(button)
        outer.addLayout(row)
        quiet = next(number for number, choice in enumerate(choices) if not choice.key)
        self.stops = [*self.stops[quiet:], *self.stops[:quiet]]

    def _fit(self) -> None:
        for label in (self._title, self._text):
            label.setMinimumWidth(self.hub.theme.size("question-width") - 48 - 50)

    def button(self, text: str) -> Button:
        """The button with these words."""
        return next(stop for stop in self.stops if isinstance(stop, Button) and stop.text() == text)

    def wanted_size(self, room: QSize) -> QSize:
        """As wide as a sentence reads well, or as its buttons need; as high as it needs."""
        asked = self.card.sizeHint()
        return QSize(max(self.hub.theme.size("question-width"), asked.width()), asked.height()).boundedTo(room)

    async def ask(self) -> str:
        """The key of the choice, or empty; the dialog is gone afterwards."""
        key = await self.wait()
        self.close_now()
        return key or ""


class IconTile(QWidget):
    """The tinted square with an icon at the head of a dialog; decorative."""

    def __init__(self, hub: ThemeHub, icon: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._icon = icon
        side = hub.theme.size("icon-tile")
        self.setFixedSize(side, side)
        hub.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        rounded(painter, QRectF(self.rect()), theme.radius("card"), fill=theme.color("accent.tint"))
        draw_icon(painter, theme, self._icon, "accent.text", 8, 8, 20)


def _words(text: str, parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setText(text)
    return label
