"""What painted things and labels have of the theme: rounded boxes, focus ring, shadow, the colour of words. UI thread only."""

import math
from collections.abc import Iterable

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QGradient,
    QLinearGradient,
    QPainter,
    QPalette,
    QPen,
    QRadialGradient,
)
from PySide6.QtWidgets import QGraphicsDropShadowEffect, QWidget

from vibekit_desktop.ui.theme.palette import Theme, ThemeHub

_STEPS, _SOFT = 10, 1.6
"""A shadow fades in so many steps, as a blur does, over about so many of its deviations to each side."""


def rounded(painter: QPainter, box: QRectF, radius: float, *, fill: QColor | None = None, line: QColor | None = None) -> None:
    """A rounded box with a crisp 1 px line inside its bounds."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(line, 1) if line is not None else Qt.PenStyle.NoPen)
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    inner = box.adjusted(0.5, 0.5, -0.5, -0.5) if line is not None else box
    painter.drawRoundedRect(inner, radius - (0.5 if line is not None else 0), radius - (0.5 if line is not None else 0))
    painter.restore()


def all_rounded(painter: QPainter, boxes: Iterable[QRectF], radius: float, fill: QColor) -> None:
    """Rounded boxes of one colour without a line."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    for box in boxes:
        painter.drawRoundedRect(box, radius, radius)
    painter.restore()


def ink(widget: QWidget, theme: Theme, token: str) -> None:
    """Another colour for the words of a label, a check box or a radio button. Not by a style sheet: a widget that has one does
    not follow the program's font."""
    palette = QPalette()
    palette.setColor(QPalette.ColorRole.WindowText, theme.color(token))
    widget.setPalette(palette)


class Dress(QObject):
    """The font and the colour of the words of a widget, by their names; they follow the theme while the widget lives. An empty
    name leaves what the program gives."""

    def __init__(self, widget: QWidget, hub: ThemeHub, style: str, token: str = "") -> None:
        super().__init__(widget)
        self._widget, self._hub, self._style, self._token = widget, hub, style, token
        hub.changed.connect(self._apply)
        self._apply()

    def set_token(self, token: str) -> None:
        """Another colour."""
        self._token = token
        self._apply()

    def _apply(self) -> None:
        if self._style:
            self._widget.setFont(self._hub.theme.font(self._style))
        if self._token:
            ink(self._widget, self._hub.theme, self._token)


class _Shadow(QGraphicsDropShadowEffect):
    """Follows the theme while the widget that casts it lives."""

    def __init__(self, widget: QWidget, hub: ThemeHub) -> None:
        super().__init__(widget)
        self._hub = hub
        hub.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        theme = self._hub.theme
        token = theme.tokens.shadow(theme.dark)
        color = QColor(token.color)
        color.setAlphaF(token.alpha)
        self.setBlurRadius(token.blur)
        self.setOffset(0, token.y)
        self.setColor(color)


def cast_shadow(widget: QWidget, hub: ThemeHub) -> None:
    """The shadow under everything that lies above the window's panes."""
    widget.setGraphicsEffect(_Shadow(widget, hub))


def draw_shadow(painter: QPainter, theme: Theme, box: QRectF) -> None:
    """The shadow that a card in ``box`` throws, before the card itself is painted: what it covers is left out in part. For what
    is large: an effect on a widget would blur all of it, and that takes longer than a frame."""
    token = theme.tokens.shadow(theme.dark)
    reach = shadow_reach(theme)
    stands = box.translated(0, token.y)
    inner = stands.adjusted(reach, reach, -reach, -reach)
    color = QColor(token.color)

    def fading(gradient: QGradient) -> QBrush:
        for step in range(_STEPS + 1):
            share = step / _STEPS
            color.setAlphaF(token.alpha * 0.5 * math.erfc((share * 2 - 1) * _SOFT))
            gradient.setColorAt(share, color)
        return QBrush(gradient)

    out = 2 * reach
    for left, x in ((True, inner.left()), (False, inner.right())):
        end = x - out if left else x + out
        painter.fillRect(QRectF(min(x, end), inner.top(), out, inner.height()), fading(QLinearGradient(x, 0, end, 0)))
    for top, y in ((True, inner.top()), (False, inner.bottom())):
        end = y - out if top else y + out
        painter.fillRect(QRectF(inner.left(), min(y, end), inner.width(), out), fading(QLinearGradient(0, y, 0, end)))
        for left, x in ((True, inner.left()), (False, inner.right())):
            corner = QRectF(x - out if left else x, y - out if top else y, out, out)
            painter.fillRect(corner, fading(QRadialGradient(x, y, out)))


def shadow_reach(theme: Theme) -> int:
    """How far a shadow goes to each side of where it stands."""
    return theme.tokens.shadow(theme.dark).blur


def focus_ring(painter: QPainter, theme: Theme, box: QRectF, radius: float) -> None:
    """The 2 px ring inside ``box``; painted views use it for their current row or button."""
    width = theme.size("focus-width")
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color("line.focus"), width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inset = width / 2
    painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), radius - inset, radius - inset)
    painter.restore()
