"""Paint what the rows of files share: letter, path cut in the middle, counts, row buttons, a rule of text.

Functions over a painter and a theme; no state but the caches of `theme`. UI thread only.
"""

from math import floor

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.wording import MINUS, fit_path, number_text

Counts = tuple[int | None, int | None]

LETTER_TOKENS = {"A": "diff.add-mark", "M": "diff.mod-mark", "D": "diff.del-mark", "R": "diff.ren-mark"}
LETTER_WIDTH = 14
_GAP = 6
_SHORT = 200


def text_width(theme: Theme, style: str, text: str, *, weight: int | None = None) -> float:
    """How wide a text is in a style."""
    return theme.metrics(style, weight=weight).horizontalAdvance(text)


def draw_text(
    painter: QPainter,
    theme: Theme,
    box: QRectF,
    text: str,
    *,
    style: str = "body",
    token: str = "text.primary",
    weight: int | None = None,
    elide: Qt.TextElideMode | None = Qt.TextElideMode.ElideRight,
    right: bool = False,
) -> float:
    """One line of text in the middle of ``box``, elided to it; returns the width it took."""
    metrics = theme.metrics(style, weight=weight)
    shown = text
    width = metrics.horizontalAdvance(text)
    if width > box.width() and elide is not None:
        shown = metrics.elidedText(text, elide, box.width())
        width = metrics.horizontalAdvance(shown)
    painter.setFont(theme.font(style, weight=weight))
    painter.setPen(theme.color(token))
    x = box.right() - width if right else box.left()
    # On a whole pixel of the screen: between two, the two ways to draw a line do not choose the same one. A half always goes
    # down: `round` goes to the even number, by where the row is.
    ratio = painter.deviceTransform().m22()
    middle = box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2
    baseline = floor(middle * ratio + 0.5) / ratio
    if shown.isascii() and len(shown) <= _SHORT:
        # Other characters may come from other fonts, whose ascent would move the line.
        painter.drawStaticText(QPointF(round(x), baseline - metrics.ascent()), theme.line(style, shown, weight=weight))
    else:
        painter.drawText(QPointF(round(x), baseline), shown)
    return min(width, box.width())


def draw_letter(painter: QPainter, theme: Theme, letter: str, box: QRectF, *, faded: bool = False) -> None:
    """A, M, D or R in the middle of ``box``."""
    painter.setFont(theme.font("label"))
    painter.setPen(theme.color("text.tertiary" if faded else LETTER_TOKENS.get(letter, "text.tertiary")))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, letter)


def counts_parts(counts: Counts) -> list[tuple[str, str]]:
    """The texts "+18" and "−2" with their tokens; zero and unknown are left out."""
    added, removed = counts
    parts: list[tuple[str, str]] = []
    if added:
        parts.append((f"+{number_text(added)}", "diff.add-mark"))
    if removed:
        parts.append((f"{MINUS}{number_text(removed)}", "diff.del-mark"))
    return parts


def counts_width(theme: Theme, counts: Counts, *, weight: int | None = None) -> float:
    """How wide `draw_counts` paints."""
    metrics = theme.metrics("small", weight=weight)
    parts = counts_parts(counts)
    return sum(metrics.horizontalAdvance(text) for text, _ in parts) + _GAP * max(0, len(parts) - 1)


def draw_counts(painter: QPainter, theme: Theme, counts: Counts, box: QRectF, *, weight: int | None = None) -> None:
    """The counts from the left edge of ``box``."""
    x = box.left()
    for text, token in counts_parts(counts):
        part = QRectF(x, box.top(), box.width(), box.height())
        x += draw_text(painter, theme, part, text, style="small", token=token, weight=weight, elide=None) + _GAP


def draw_path(
    painter: QPainter,
    theme: Theme,
    box: QRectF,
    path: str,
    *,
    token: str = "text.primary",
    struck: bool = False,
    style: str = "body",
) -> None:
    """A path that keeps its first folder and its file name when it is cut; struck through if ``struck``."""
    metrics = theme.metrics(style)
    shown = fit_path(path, box.width(), metrics.horizontalAdvance)
    width = draw_text(painter, theme, box, shown, style=style, token=token)
    if struck:
        y = round(box.center().y()) + 0.5
        painter.drawLine(QPointF(box.left(), y), QPointF(box.left() + width, y))


def draw_button_ground(painter: QPainter, theme: Theme, box: QRectF, *, hovered: bool, pressed: bool) -> None:
    """The tint under a painted button while the pointer is on it."""
    if hovered or pressed:
        rounded(painter, box, theme.radius("small"), fill=theme.color("bg.pressed" if pressed else "bg.hover"))


def draw_icon_button(
    painter: QPainter, theme: Theme, name: str, box: QRectF, *, hovered: bool, pressed: bool, enabled: bool = True
) -> None:
    """A 24 px icon button as painted rows have them; tinted under the pointer, faded when off."""
    if enabled:
        draw_button_ground(painter, theme, box, hovered=hovered, pressed=pressed)
    if not enabled:
        painter.setOpacity(theme.opacity("disabled-icon"))
    size = theme.tokens.size("icon")
    x = round(box.x() + (box.width() - size) / 2)
    y = round(box.y() + (box.height() - size) / 2)
    draw_icon(painter, theme, name, "text.secondary", x, y, size)
    painter.setOpacity(1.0)


def draw_text_button(
    painter: QPainter,
    theme: Theme,
    text: str,
    box: QRectF,
    *,
    hovered: bool,
    pressed: bool,
    enabled: bool = True,
    style: str = "small",
) -> None:
    """A text that can be pressed, in the accent; tinted under the pointer."""
    if enabled:
        draw_button_ground(painter, theme, box, hovered=hovered, pressed=pressed)
    inner = box.adjusted(TEXT_BUTTON_PAD, 0, -TEXT_BUTTON_PAD, 0)
    draw_text(painter, theme, inner, text, style=style, weight=500, token="accent.text" if enabled else "text.disabled")


TEXT_BUTTON_PAD = 7


def text_button_width(theme: Theme, text: str, style: str = "small") -> float:
    """How wide `draw_text_button` needs its box."""
    return theme.metrics(style, weight=500).horizontalAdvance(text) + 2 * TEXT_BUTTON_PAD + 1
