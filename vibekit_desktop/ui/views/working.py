"""Paint the last line of a turn that runs: that it works, for how long, what it changed so far. UI thread only."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from vibekit_desktop.ui.models.block_words import working_words
from vibekit_desktop.ui.models.blocks import WorkingBlock
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.block_view import Hit, PaintState, tall
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import counts_width, draw_counts, draw_text, text_width

_DOT = "\u00b7"


class WorkingView:
    """An arc, "Working", the seconds, the files so far, the step of the plan."""

    def __init__(self, theme: Theme, block: WorkingBlock, width: int) -> None:
        self._theme = theme
        self._width = width
        self._block = block
        self.height = tall(theme, 28)
        self.copy_text = ""
        self.hits: tuple[Hit, ...] = ()

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme, block, pulse = self._theme, self._block, state.pulse
        line = QRectF(0, 0, self._width, self.height)
        arc = QRectF(0, round(self.height / 2 - 7), 14, 14)
        elapsed = ""
        if block.waiting:
            draw_icon(painter, theme, "status-needs-you", "warning.text", arc.x(), arc.y(), 14)
        elif pulse is not None:
            pulse.draw_arc(painter, arc)
            elapsed = pulse.elapsed(block.began_at)
        else:
            draw_icon(painter, theme, "spinner", "accent.text", arc.x(), arc.y(), 14)
        first, files, step = working_words(block)
        x = 22 + draw_text(painter, theme, line.adjusted(22, 0, 0, 0), first, style="small", token="text.secondary")
        if elapsed:
            x = self._dot(painter, line, x)
            width = draw_text(painter, theme, line.adjusted(x, 0, 0, 0), elapsed, style="small", token="text.secondary")
            if pulse is not None:
                pulse.counts(painter, QRectF(x, 0, self._width - x, self.height))
            x += width
        if files:
            x = self._dot(painter, line, x)
            x += draw_text(painter, theme, line.adjusted(x, 0, 0, 0), files, style="small", token="text.secondary") + 8
            counts = (block.added, block.removed)
            draw_counts(painter, theme, counts, line.adjusted(x, 0, 0, 0))
            x += counts_width(theme, counts)
        if step and self._width - x > 120:
            x = self._dot(painter, line, x)
            draw_text(
                painter,
                theme,
                line.adjusted(x, 0, 0, 0),
                tr("Step: {step}", step=step),
                style="small",
                token="text.tertiary",
                elide=Qt.TextElideMode.ElideRight,
            )

    def _dot(self, painter: QPainter, line: QRectF, x: float) -> float:
        theme = self._theme
        draw_text(painter, theme, line.adjusted(x + 8, 0, 0, 0), _DOT, style="small", token="text.tertiary", elide=None)
        return x + 16 + text_width(theme, "small", _DOT)
