"""Buttons, chips and badges painted from the tokens, as every pane uses them.

They are ordinary Qt buttons for keyboard and assistive technology; only the painting is ours. UI thread only.
"""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QPushButton, QSizePolicy, QWidget

from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.tool_tip import plain_tip

_HEIGHTS = {"small": 24, "normal": 28, "large": 32}
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_PADS = {"small": 8, "normal": 10, "large": 14}


def pressed_by(button: QAbstractButton, event: QKeyEvent) -> bool:
    """Whether a key is Enter on a button, which presses it as Space does; Qt leaves that to dialogs. It is pressed then."""
    if event.key() not in _ENTER or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
        return False
    if button.isEnabled() and not event.isAutoRepeat():
        button.click()
    event.accept()
    return True


def draw_icon(painter: QPainter, theme: Theme, name: str, token: str, x: float, y: float, size: int = 16) -> None:
    """One icon in the middle of the square of ``size`` whose top left corner is at (x, y), sharp at the painter's screen ratio.
    It grows with the text, on all sides alike, but not over the left edge."""
    grown = theme.icon(size)
    more = (grown - size) / 2
    left = max(min(x, 0.0), x - more)
    ratio = painter.device().devicePixelRatio()
    place = QPointF(round(left * ratio) / ratio, round((y - more) * ratio) / ratio)  # between two pixels it would be blurred
    painter.drawPixmap(place, icons.pixmap(theme, name, token, grown, ratio))


def draw_badge(painter: QPainter, theme: Theme, text: str, x: float, y: float, token: str = "text.secondary") -> float:
    """A count in a pill of 18 px whose left edge is at ``x`` and top at ``y``; returns its width."""
    width = badge_width(theme, text)
    fill = "warning.tint" if token == "warning.text" else "bg.chip"
    rounded(painter, QRectF(x, y, width, 18), 9, fill=theme.color(fill))
    painter.setFont(theme.font("label"))
    painter.setPen(theme.color(token))
    painter.drawText(QRectF(x, y, width, 18), Qt.AlignmentFlag.AlignCenter, text)
    return width


def badge_width(theme: Theme, text: str) -> float:
    """How wide `draw_badge` paints ``text``."""
    return max(18.0, theme.metrics("label").horizontalAdvance(text) + 10)


class Button(QPushButton):
    """A button with optional icon and count. ``kind``: ``secondary``, ``primary``, ``ghost``, ``danger`` or ``link``;
    ``size``: ``small`` (24), ``normal`` (28) or ``large`` (32). Signals are `QPushButton`'s."""

    def __init__(
        self,
        hub: ThemeHub,
        text: str,
        *,
        kind: str = "secondary",
        size: str = "normal",
        icon: str = "",
        badge: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._hub = hub
        self._kind = kind
        self._size = size
        self._icon = icon
        self._badge = badge
        self.setAccessibleName(text.rstrip("…"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setAutoDefault(False)
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.updateGeometry()
        self.update()

    def set_badge(self, text: str) -> None:
        """Show another count; empty hides it."""
        self._badge = text
        self.updateGeometry()
        self.update()

    def _style(self) -> str:
        return "small" if self._size == "small" else "body-strong"

    def _metrics(self) -> QFontMetricsF:
        return self._hub.theme.metrics(self._style(), weight=500)

    def _content_width(self) -> float:
        theme = self._hub.theme
        width = self._metrics().horizontalAdvance(self.text()) if self.text() else 0.0
        if self._icon:
            width += self._hub.theme.icon(self._icon_size()) + (6 if self.text() else 0)
        if self._badge:
            width += 6 + badge_width(theme, self._badge)
        return width

    def _icon_size(self) -> int:
        return 14 if self._size == "small" else 16

    def sizeHint(self) -> QSize:
        pad = 0 if self._kind == "link" and self._size != "small" else _PADS[self._size]
        line = 1 if self._kind in ("secondary", "primary", "danger") else 0
        height = round(_HEIGHTS[self._size] * max(1.0, self._hub.theme.zoom))
        return QSize(int(self._content_width() + 0.999) + 2 * (pad + line), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not pressed_by(self, event):
            super().keyPressEvent(event)

    def _colors(self) -> tuple[str, str, str, str]:
        """Fill, line, text and icon tokens; an empty name paints nothing."""
        hovered, down, on = self.underMouse() and self.isEnabled(), self.isDown(), self.isEnabled()
        match self._kind:
            case "primary" | "danger":
                family = "accent" if self._kind == "primary" else "danger"
                if not on:
                    return "bg.chip", "bg.chip", "text.disabled", "text.disabled"
                pressed = "accent.fill-pressed" if family == "accent" else "danger.fill-hover"
                fill = pressed if down else f"{family}.fill-hover" if hovered else f"{family}.fill"
                return fill, fill, "text.on-accent", "text.on-accent"
            case "ghost":
                fill = "bg.pressed" if down else "bg.hover" if hovered else ""
                return fill, "", "text.secondary" if on else "text.disabled", "text.secondary"
            case "link":
                fill = "bg.pressed" if down else "bg.hover" if hovered and self._size == "small" else ""
                return fill, "", "accent.text" if on else "text.disabled", "accent.text"
            case _:
                fill = "bg.pressed" if down else "bg.button-hover" if hovered else "bg.button"
                return fill, "line.strong", "text.primary" if on else "text.disabled", "text.secondary"

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        fill, line, text, icon = self._colors()
        radius = theme.radius("small" if self._size == "small" else "control")
        if fill or line:
            rounded(
                painter,
                QRectF(self.rect()),
                radius,
                fill=theme.color(fill) if fill else None,
                line=theme.color(line) if line else None,
            )
        x = (self.width() - self._content_width()) / 2
        if self._icon:
            size, grown = self._icon_size(), theme.icon(self._icon_size())
            if not self.isEnabled():
                painter.setOpacity(theme.opacity("disabled-icon"))
            left = round(x) + (grown - size) / 2
            draw_icon(painter, theme, self._icon, icon, left, round((self.height() - size) / 2), size)
            painter.setOpacity(1.0)
            x += grown + 6
        if self.text():
            painter.setFont(theme.font(self._style(), weight=500))
            painter.setPen(theme.color(text))
            width = self._metrics().horizontalAdvance(self.text())
            box = QRectF(x, 0, width + 2, self.height())
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextShowMnemonic), self.text())
            x += width + 6
        if self._badge:
            draw_badge(painter, theme, self._badge, x, (self.height() - 18) / 2)


class IconButton(QAbstractButton):
    """A square button with one icon; ``name`` is its whole phrase for assistive technology and its tool tip.
    ``large`` is 28 px instead of 24, and more beside larger text. Signals are `QAbstractButton`'s."""

    def __init__(self, hub: ThemeHub, icon: str, name: str, *, large: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._icon = icon
        self._large = large
        self.setAccessibleName(name)
        self.setToolTip(plain_tip(name))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.updateGeometry()
        self.update()

    def set_icon(self, icon: str, name: str) -> None:
        """Another icon with its phrase."""
        self._icon = icon
        self.setAccessibleName(name)
        self.setToolTip(plain_tip(name))
        self.update()

    def sizeHint(self) -> QSize:
        side = self._hub.theme.size("icon-button-large" if self._large else "icon-button")
        return QSize(side, side)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not pressed_by(self, event):
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        token = "text.primary" if self.isChecked() else "text.secondary"
        fill = ""
        if self.isDown():
            fill = "bg.pressed"
        elif self.isChecked():
            fill = "bg.chip"
        elif self.underMouse() and self.isEnabled():
            fill = "bg.hover"
        if fill:
            rounded(painter, QRectF(self.rect()), theme.radius("control" if self._large else "small"), fill=theme.color(fill))
        if not self.isEnabled():
            painter.setOpacity(theme.opacity("disabled-icon"))
        draw_icon(painter, theme, self._icon, token, (self.width() - 16) // 2, (self.height() - 16) // 2)


class Hairline(QFrame):
    """A 1 px line across; purely decorative."""

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setFixedHeight(1)
        hub.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._hub.theme.color("line.hair"))
