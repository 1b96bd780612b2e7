"""What every painted block of the transcript is to the list that shows it, and the small parts they share. UI thread only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import focus_ring
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.views.row_paint import draw_button_ground, draw_icon_button, text_width
from vibekit_desktop.ui.views.text_places import Ground

LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


def tall(theme: Theme, pixels: int) -> int:
    """The height of a row: it grows with its text, and shrinks no more than its icons and buttons allow."""
    return round(pixels * max(1.0, theme.zoom))


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that can be pressed: what it does (``action`` with its arguments), and its whole phrase."""

    box: QRectF
    action: str
    name: str
    text: str = ""
    number: int = 0


def off_hit(box: QRectF, why: str) -> Hit:
    """A button that cannot be pressed now: the pointer and the keyboard are told why."""
    return Hit(box, "off", why)


@dataclass(slots=True)
class PaintState:
    """What the pointer and the keyboard are on: indexes into the block's hits, -1 for none. ``clip`` is the visible part."""

    hover: int = -1
    pressed: int = -1
    focus: int = -1
    clip: QRectF | None = None
    pulse: Pulse | None = None
    """What makes running things move; None = they stand still."""
    grounds: Sequence[Ground] = ()
    """What of a block's text is chosen or was found."""


class BlockView(Protocol):
    """One block laid out at a width. Invariant: ``height`` and ``hits`` do not change; a change makes a new block view."""

    height: int
    hits: tuple[Hit, ...]
    copy_text: str

    def paint(self, painter: QPainter, state: PaintState) -> None:
        """Paint with the block's top left corner at the origin."""


@runtime_checkable
class TextView(Protocol):
    """A block whose text can be chosen by the character. Indexes are characters of ``text``; places are the block's own."""

    @property
    def text(self) -> str:
        """What it shows, without what only decorates."""

    def index_at(self, place: QPointF) -> int:
        """The border between two characters that is nearest to a place."""

    def box_of(self, index: int) -> QRectF:
        """Where the character of an index begins: a box without width, as high as its line."""

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""


class TextButton:
    """A ghost button, 24 px high, painted inside a block: optional icon of 14, text in 12/500."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        right: float,
        middle: float,
        *,
        icon: str = "",
        link: bool = False,
        enabled: bool = True,
    ) -> None:
        self._enabled = enabled
        self._theme = theme
        self._text = text
        self._icon = icon
        self._link = link
        width = text_width(theme, "small", text, weight=500) + (20 if icon else 0) + (14 if text else 8)
        height = tall(theme, 24)
        self.box = QRectF(right - width, middle - height / 2, width, height)

    def paint(self, painter: QPainter, state: PaintState, index: int) -> None:
        """Paint it as the hit number ``index`` of its block; -1 for a button that cannot be pressed now."""
        theme = self._theme
        if self._enabled:
            button_ground(painter, theme, self.box, state, index)
        x = self.box.x() + 7
        token = "text.disabled" if not self._enabled else "accent.text" if self._link else "text.secondary"
        if self._icon:
            draw_icon(painter, theme, self._icon, token, round(x), round(self.box.center().y() - 7), 14)
            x += 20
        painter.setFont(theme.font("small", weight=500))
        painter.setPen(theme.color(token))
        painter.drawText(QRectF(x, self.box.y(), self.box.right() - x, self.box.height()), LEFT, self._text)


def button_ground(painter: QPainter, theme: Theme, box: QRectF, state: PaintState, index: int) -> None:
    """The tint and the focus ring of a painted button."""
    draw_button_ground(painter, theme, box, hovered=state.hover == index, pressed=state.pressed == index)
    if state.focus == index:
        focus_ring(painter, theme, box, theme.radius("small"))


def icon_button(painter: QPainter, theme: Theme, icon: str, box: QRectF, state: PaintState, index: int) -> None:
    """A square button of 24 px with an icon of 16; an index of -1 = it cannot be pressed now."""
    on = index >= 0
    hovered, pressed = on and state.hover == index, on and state.pressed == index
    draw_icon_button(painter, theme, icon, box, hovered=hovered, pressed=pressed, enabled=on)
    if on and state.focus == index:
        focus_ring(painter, theme, box, theme.radius("small"))
