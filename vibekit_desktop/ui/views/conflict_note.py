"""Paint a conflict in the transcript: the chip that says there is one, and the note that opens under it. UI thread only."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath

from vibekit_desktop.ui.models.blocks import conflict_key
from vibekit_desktop.ui.models.conflicts import ConflictCard
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.block_view import LEFT, Hit, PaintState, off_hit, tall
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.views.text_block import TextLayout
from vibekit_desktop.ui.visible import visible

_PAD = 12
_BUTTON = 24
_GAP = 8


class ConflictChip:
    """A chip of the height of all chips, its right edge at ``right``. ``index``: its number among the hits of its block."""

    def __init__(self, theme: Theme, text: str, right: float, middle: float) -> None:
        self._theme = theme
        self._text = text
        width = 6 + 14 + 5 + text_width(theme, "small", text) + 7
        height = theme.size("chip")
        self.box = QRectF(right - width, round(middle - height / 2), width, height)
        self.index = -1

    def paint(self, painter: QPainter, state: PaintState) -> None:
        """Paint it where it stands."""
        theme, box = self._theme, self.box
        on = self.index >= 0 and self.index in (state.hover, state.pressed)
        line = theme.color("warning.line") if on else None
        rounded(painter, box, theme.radius("small"), fill=theme.color("warning.tint"), line=line)
        if self.index >= 0 and state.focus == self.index:
            focus_ring(painter, theme, box, theme.radius("small"))
        draw_icon(painter, theme, "conflict", "warning.text", box.x() + 6, round(box.center().y() - 7), 14)
        draw_text(painter, theme, box.adjusted(25, 0, 0, 0), self._text, style="small", token="warning.text", elide=None)


class ConflictNoteView:
    """The note: what happened, who and when; what can be done about it.

    Its hits are of the action ``settle``, the conflict's key as text and the button's place as number."""

    def __init__(self, theme: Theme, card: ConflictCard, width: int) -> None:
        self._theme = theme
        self._card = card
        self._width = width
        self._head = tall(theme, 36)
        words = visible(card.text)
        self._text = TextLayout(theme, words, width - 2 * _PAD, plain=True, style="small", token="text.secondary")
        top = self._head + 10 + self._text.height + 10
        hits: list[Hit] = []
        self._buttons: list[tuple[QRectF, str]] = []
        x, height = float(_PAD), tall(theme, _BUTTON)
        for number, button in enumerate(card.buttons):
            text, why = card.words(button), card.why_off(button)
            wide = text_width(theme, "small", text, weight=500) + 18
            if x > _PAD and x + wide > width - _PAD:
                x, top = float(_PAD), top + height + _GAP
            box = QRectF(x, top, wide, height)
            self._buttons.append((box, text))
            hit = Hit(box, "settle", card.button_name(button), conflict_key(card), number)
            hits.append(off_hit(box, why) if why else hit)
            x += wide + _GAP
        self.hits = tuple(hits)
        self.height = round(top + height + _PAD)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        """Paint it with its top left corner at the origin; the state counts its own hits."""
        theme = self._theme
        box, radius = QRectF(0, 0, self._width, self.height), theme.radius("card")
        rounded(painter, box, radius, fill=theme.color("bg.surface"))
        painter.save()
        shape = QPainterPath()
        shape.addRoundedRect(box, radius, radius)
        painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
        painter.fillRect(QRectF(0, 0, self._width, self._head), theme.color("warning.tint"))
        painter.restore()
        rounded(painter, box, radius, line=theme.color("warning.line"))
        draw_icon(painter, theme, "conflict", "warning.text", _PAD, round(self._head / 2 - 8))
        title = QRectF(_PAD + 24, 0, self._width - 2 * _PAD - 24, self._head)
        time = self._card.moment
        used = text_width(theme, "small", time) if time else 0
        draw_text(painter, theme, title, time, style="small", token="text.tertiary", elide=None, right=True)
        draw_text(painter, theme, title.adjusted(0, 0, -used - 8, 0), self._card.title, style="body-strong")
        self._text.paint(painter, QPointF(_PAD, self._head + 10))
        for number, (place, text) in enumerate(self._buttons):
            off = self.hits[number].action == "off"
            fill = (
                "bg.button"
                if off
                else "bg.pressed"
                if state.pressed == number
                else "bg.button-hover"
                if state.hover == number
                else "bg.button"
            )
            rounded(painter, place, theme.radius("control"), fill=theme.color(fill), line=theme.color("line.strong"))
            if state.focus == number:
                focus_ring(painter, theme, place, theme.radius("control"))
            painter.setFont(theme.font("small", weight=500))
            painter.setPen(theme.color("text.disabled" if off else "text.primary"))
            painter.drawText(place.adjusted(9, 0, 0, 0), LEFT, text)
