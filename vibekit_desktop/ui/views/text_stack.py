"""A long plain text as slices under each other, as many of them as somebody wanted to see. UI thread only.

A slice is laid out once, however often more of the text is asked for, and only what is in sight is painted.
"""

from bisect import bisect_right
from collections.abc import Sequence, Set

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from vibekit_desktop.ui.models import text_parts
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.block_view import Hit, PaintState, TextButton, tall
from vibekit_desktop.ui.views.text_block import TextLayout
from vibekit_desktop.ui.views.text_places import Ground, within
from vibekit_desktop.ui.visible import visible

AT_ONCE = 8
"""So many slices are shown at first, and so many more at each press."""


class TextStack:
    """The slices that are shown. ``steps``: how often more was asked for; ``earlier``: the same as it was before, whose slices
    are taken over, so that it must not be used any more. ``more``: how many characters are not shown. Invariant: slices and
    tops belong together."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        width: int,
        *,
        steps: int = 0,
        style: str = "reading",
        token: str = "",
        earlier: "TextStack | None" = None,
    ) -> None:
        self._width, self._how = width, (theme, text, style, token)
        slices = text_parts.slices(text)
        self._all = len(slices)
        shown = slices[: AT_ONCE * (steps + 1)]
        known = earlier._layouts[: len(shown)] if earlier is not None and earlier._how == self._how else []
        if earlier is not None and earlier._width != width:
            known = [layout.at_width(width) for layout in known]
        self._layouts: list[TextLayout] = known + [
            TextLayout(theme, visible(one) or " ", width, plain=True, style=style, token=token) for one in shown[len(known) :]
        ]
        self.more = sum(map(len, slices[len(shown) :]))
        self._tops: list[int] = []
        self.height = 0
        for layout in self._layouts:
            self._tops.append(self.height)
            self.height += layout.height
        self._begins: list[int] | None = None

    @property
    def text(self) -> str:
        """What is shown, as characters that can be chosen."""
        return "\n".join(layout.text for layout in self._layouts)

    @property
    def _starts(self) -> list[int]:
        """Where each slice begins in the text."""
        if self._begins is None:
            self._begins = [0]
            for layout in self._layouts:
                self._begins.append(self._begins[-1] + len(layout.text) + 1)
        return self._begins

    def index_at(self, place: QPointF) -> int:
        """The border between two characters that is nearest to a place."""
        number = max(0, bisect_right(self._tops, place.y()) - 1)
        return self._starts[number] + self._layouts[number].index_at(place - QPointF(0, self._tops[number]))

    def box_of(self, index: int) -> QRectF:
        """Where the character of an index begins."""
        number = self._at(index)
        return self._layouts[number].box_of(index - self._starts[number]).translated(0, self._tops[number])

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""
        number = self._at(index)
        start, end = self._layouts[number].word_at(index - self._starts[number])
        return start + self._starts[number], end + self._starts[number]

    def _at(self, index: int) -> int:
        return min(bisect_right(self._starts, index) - 1, len(self._layouts) - 1)

    def paint(self, painter: QPainter, origin: QPointF, clip: QRectF | None = None, grounds: Sequence[Ground] = ()) -> None:
        """Paint at ``origin``; ``clip`` is the visible part in the stack's own coordinates."""
        for number, (layout, top) in enumerate(zip(self._layouts, self._tops, strict=True)):
            if clip is not None and (top + layout.height < clip.top() or top > clip.bottom()):
                continue
            mine = within(grounds, self._starts[number], len(layout.text)) if grounds else ()
            inner = clip.translated(0, -top) if clip is not None else None
            layout.paint(painter, origin + QPointF(0, top), inner, mine)

    def more_words(self) -> str:
        """What the button says that shows more."""
        if len(self._layouts) + AT_ONCE >= self._all:
            return tr("Show the last {n} characters", n=self.more)
        return tr("Show more, {n} characters are left", n=self.more)


def steps_of(key: str, opened: Set[str]) -> int:
    """How often more of a row's text was asked for."""
    steps = 0
    while step_key(key, steps) in opened:
        steps += 1
    return steps


def step_key(key: str, step: int) -> str:
    """What is opened when more is asked for the next time, after ``step`` times."""
    return f"{key}:more:{step}"


class MoreButton:
    """The button under a stack that shows more of it, or nothing where all is shown. ``hit``: None then."""

    def __init__(self, theme: Theme, stack: TextStack, key: str, left: float, top: float) -> None:
        self.height = 0
        self.hit: Hit | None = None
        if not stack.more:
            return
        self.height = tall(theme, 28)
        words, middle = stack.more_words(), top + self.height / 2
        width = TextButton(theme, words, 0, middle, link=True).box.width()
        self._button = TextButton(theme, words, left + width, middle, link=True)
        self.hit = Hit(self._button.box, "fold", words, key)

    def paint(self, painter: QPainter, state: PaintState, index: int) -> None:
        """Paint it as the hit number ``index`` of its block."""
        if self.hit is not None:
            self._button.paint(painter, state, index)
