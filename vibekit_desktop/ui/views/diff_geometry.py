"""Where things are in a diff: panes, columns, buttons of fold bars, the row and character under a point.

Measures only; paints nothing. UI thread only.
"""

from dataclasses import dataclass

from PySide6.QtCore import QRectF

from vibekit_desktop.ui.models.diff_rows import STEP, DiffRows, Show
from vibekit_desktop.ui.models.diff_runs import NEW, OLD
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import Theme

_COMMENT = 18
_WRAP_PAD = 8
_LEAST_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a pane's columns begin, relative to the pane: numbers (one or two), sign, text."""

    numbers: tuple[tuple[float, float], ...]
    sign: float
    text: float


def step_text() -> str:
    """What the buttons say that open a part of a fold."""
    return tr_n("{n} line", "{n} lines", STEP)


class Geometry:
    """Measures of one theme and one row map. ``commented``: room is kept for the signs of comments."""

    def __init__(self, theme: Theme) -> None:
        self.rows: DiffRows | None = None
        self.commented = False
        self.use(theme)

    def use(self, theme: Theme) -> None:
        """Measure with another theme from now on."""
        self.theme = theme
        self.number_advance = theme.metrics("code-small").horizontalAdvance("0" * 16) / 16

    def columns(self) -> Columns:
        """The columns of a pane, wide enough for the largest line number."""
        theme = self.theme
        sign = theme.size("diff-sign-column") * 1.0
        longest = 1
        if self.rows is not None:
            document = self.rows.document
            longest = len(str(max(len(document.old.lines), len(document.new.lines), 1)))
        need = longest * self.number_advance
        more = _COMMENT if self.commented else 0
        if self.rows is not None and self.rows.unified:
            first, second = max(36.0, need + 14) + more, max(36.0, need + 16)
            return Columns(((0, first - 6), (first, first + second - 8)), first + second, first + second + sign - 2)
        width = max(theme.size("diff-number-column"), need + 18 + more)
        return Columns(((0, width - 10),), width, width + sign)

    def panes(self, width: int) -> list[tuple[int, QRectF]]:
        """The sides and their strips (left and width only) in a viewport of ``width``."""
        if self.rows is not None and self.rows.unified:
            return [(NEW, QRectF(0, 0, width, 0))]
        half = width // 2
        return [(OLD, QRectF(0, 0, half, 0)), (NEW, QRectF(half + 1, 0, width - half - 1, 0))]

    def pane(self, width: int, side: int) -> QRectF:
        """The strip in which a side is shown."""
        panes = self.panes(width)
        return panes[side if len(panes) > 1 else 0][1]

    def side_at(self, width: int, x: float) -> int:
        """The side under ``x``; the new one in a unified view."""
        return next((side for side, pane in self.panes(width) if x < pane.right()), NEW)

    def room(self, width: int) -> float:
        """How many pixels of text fit into the narrower pane."""
        return max(1.0, min(pane.width() for _, pane in self.panes(width)) - self.columns().text)

    def wrap_columns(self, width: int, advance: float) -> int:
        """How many columns of text a row takes when lines are wrapped."""
        return max(_LEAST_COLUMNS, int((self.room(width) - _WRAP_PAD) / advance))

    def source(self, index: int, side: int) -> int:
        """The side whose text a pane shows in a display row."""
        if self.rows is None or not self.rows.unified:
            return side
        old, new = self.rows.sides(index)
        return OLD if new is None and old is not None else NEW

    def fold_buttons(self, index: int, width: int, top: float) -> list[tuple[str, QRectF]]:
        """Where the buttons of a fold bar are: ``up``, ``down``, ``all``."""
        if self.rows is None or self.rows.kind(index) is not Show.FOLD:
            return []
        fold = self.rows.fold(self.rows.ref(index))
        height = self.rows.row_height(index)
        metrics = self.theme.metrics("small", weight=500)
        parts: list[tuple[str, float]] = []
        if fold.count > STEP:
            step = 18 + metrics.horizontalAdvance(step_text())
            if not fold.at_start:
                parts.append(("down", step))
            if not fold.at_end:
                parts.insert(0, ("up", step))
        parts.append(("all", metrics.horizontalAdvance(tr("Show all"))))
        total = sum(part for _, part in parts) + 16 * (len(parts) - 1)
        x = width - total - 24 if self.rows.unified else self.panes(width)[1][1].left() + self.columns().text
        places: list[tuple[str, QRectF]] = []
        for which, part in parts:
            places.append((which, QRectF(x - 6, top + 2, part + 12, height - 4)))
            x += part + 16
        return places
