"""What is chosen or found stands on its ground, exactly where Qt itself would paint it, however much of it there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.text_block import TextLayout
from vibekit_desktop.ui.views.text_places import Ground

TEXT = (
    "A **level** of the `gauge` is kept \U0001f600 and more words so that it wraps, yes. " * 3
    + "\n\n- one `two`\n- three\n\n> quote\n\nend of it"
)
WIDTH = 300


@pytest.fixture(scope="module")
def layout(qapp: QApplication) -> TextLayout:
    return TextLayout(ThemeHub("light", still=True).theme, TEXT, WIDTH)


def painted(layout: TextLayout, grounds: list[Ground], *, by_qt: bool, clip: QRectF | None = None) -> QImage:
    image = QImage(WIDTH + 20, layout.height + 10, QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)
    layout._chars._from_right = by_qt
    painter = QPainter(image)
    layout.paint(painter, QPointF(0, 0), clip, grounds)
    painter.end()
    return image


def lines(layout: TextLayout) -> list[tuple[int, float]]:
    """The middle of every line, and where its text ends; what Qt paints behind that stands for the line end."""
    found, block = [], layout._document.firstBlock()
    while block.isValid():
        top = layout._document.documentLayout().blockBoundingRect(block).topLeft()
        for number in range(block.layout().lineCount()):
            line = block.layout().lineAt(number)
            found.append(
                (round(top.y() + line.y() + line.height() / 2 - layout._lift), top.x() + line.naturalTextRect().right())
            )
        block = block.next()
    return found


@given(data=st.data())
def test_a_ground_stands_where_qt_would_paint_it(layout: TextLayout, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(layout.text) - 1))
    end = data.draw(st.integers(start + 1, len(layout.text)))
    grounds = [Ground(start, end, "bg.selected")]
    mine, theirs = (painted(layout, grounds, by_qt=by_qt) for by_qt in (False, True))
    for y, right in lines(layout):
        other = [x for x in range(24, int(right) - 1) if mine.pixel(x, y) != theirs.pixel(x, y)]
        assert len(other) <= 2, "an edge between two pixels is rounded to either"


def test_every_letter_can_have_a_ground_and_what_is_out_of_sight_is_left_out(layout: TextLayout) -> None:
    grounds = [Ground(at, at + 1, "find.hit") for at in range(0, len(layout.text), 2)]
    whole = painted(layout, grounds, by_qt=False)
    part = painted(layout, grounds, by_qt=False, clip=QRectF(0, 60, WIDTH, 20))
    assert whole.copy(0, 60, WIDTH, 20) == part.copy(0, 60, WIDTH, 20)
    asked = [box for ground in grounds for box in layout._chars.boxes(ground, 60, 80)]
    assert 0 < len(asked) < len(grounds)


def test_text_from_right_to_left_is_left_to_qt(qapp: QApplication) -> None:
    theme = ThemeHub("light", still=True).theme
    for text, from_right in (
        ("plain words", False),
        ("한글 and 漢字 \U0001f600", False),
        ("it says \u05e9\u05dc\u05d5\u05dd", True),
        ("\u0645\u0631", True),
    ):
        layout = TextLayout(theme, text, WIDTH)
        assert layout._chars.from_right is from_right, text
        assert painted(layout, [Ground(0, 2, "find.hit")], by_qt=from_right) != painted(layout, [], by_qt=from_right)
