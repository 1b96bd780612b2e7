"""What grows beside the text: icons and the buttons they are on; and rows that have less room then."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.agents import LivePhase, LiveState, Operation, Question
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.tokens import load_tokens
from vibekit_desktop.ui.views import chat_row
from vibekit_desktop.ui.views.controls import Button, IconButton, draw_icon
from vibekit_desktop.ui.views.sidebar import Sidebar

ZOOMS = [(0.8, 16), (1.0, 16), (1.25, 20), (1.5, 22), (2.0, 22)]
PLACE = 40


def _painted(zoom: float, ratio: float, x: float = PLACE) -> QRectF:
    """Where an icon that fills its square has ink."""
    picture = QImage(round(100 * ratio), round(100 * ratio), QImage.Format.Format_ARGB32)
    picture.setDevicePixelRatio(ratio)
    picture.fill(QColor("white"))
    painter = QPainter(picture)
    draw_icon(painter, Theme(load_tokens(), dark=False, zoom=zoom), "status-needs-you", "text.primary", x, PLACE)
    painter.end()
    inked = [
        (at, down)
        for at in range(picture.width())
        for down in range(picture.height())
        if picture.pixelColor(at, down) != QColor("white")
    ]
    left, top = min(at for at, _ in inked), min(down for _, down in inked)
    right, bottom = max(at for at, _ in inked) + 1, max(down for _, down in inked) + 1
    return QRectF(left / ratio, top / ratio, (right - left) / ratio, (bottom - top) / ratio)


@pytest.mark.parametrize(("zoom", "side"), ZOOMS)
def test_an_icon_grows_with_the_text_around_its_middle(qtbot: QtBot, zoom: float, side: int) -> None:
    plain, grown = _painted(1.0, 1.0), _painted(zoom, 1.0)
    assert grown.width() / plain.width() == pytest.approx(side / 16, abs=0.2)
    assert grown.center().x() == pytest.approx(plain.center().x(), abs=1)
    assert grown.center().y() == pytest.approx(plain.center().y(), abs=1)


def test_an_icon_at_the_left_edge_stays_inside_of_it(qtbot: QtBot) -> None:
    assert _painted(2.0, 1.0, x=0).left() >= 0
    assert _painted(2.0, 1.0, x=0).width() == _painted(2.0, 1.0).width()


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("zoom", [1.0, 1.1, 1.5, 2.0])
def test_a_picture_of_an_icon_is_made_for_the_screen_and_stands_on_its_pixels(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, zoom: float, ratio: float
) -> None:
    picture = QImage(200, 200, QImage.Format.Format_ARGB32)
    picture.setDevicePixelRatio(ratio)
    theme = Theme(load_tokens(), dark=False, zoom=zoom)
    made: list[tuple[int, float]] = []
    render = icons.pixmap

    def note(theme: Theme, name: str, token: str, size: int, scale: float) -> object:
        made.append((size, scale))
        return render(theme, name, token, size, scale)

    monkeypatch.setattr(icons, "pixmap", note)
    painter = QPainter(picture)
    draw_icon(painter, theme, "check", "text.primary", 11, 13)
    painter.end()
    assert made == [(theme.icon(16), ratio)]


def test_buttons_with_icons_grow_with_them(qtbot: QtBot) -> None:
    hub = ThemeHub("light", still=True)
    around = QWidget()
    qtbot.addWidget(around)
    square, worded = IconButton(hub, "more", "More", parent=around), Button(hub, "Undo", icon="undo", parent=around)
    narrow, words = worded.sizeHint().width(), hub.theme.metrics("body-strong", weight=500).horizontalAdvance("Undo")
    assert square.sizeHint().width() == 24
    hub.set_zoom(2.0)
    assert square.sizeHint().width() == 30
    more = hub.theme.metrics("body-strong", weight=500).horizontalAdvance("Undo") - words
    assert worded.sizeHint().width() - narrow == pytest.approx(more + 6, abs=1)


@pytest.mark.parametrize("zoom", [1.0, 1.5, 2.0])
def test_no_count_stands_on_words_that_are_never_cut(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, zoom: float) -> None:
    hub = ThemeHub("light", zoom=zoom, still=True)
    model = ChatListModel(lambda: samples.NOW)
    header = replace(samples.headers()[0], lines_added=125, lines_removed=79)
    model.load([header])
    question = Question(
        id="q", chat=header.id, turn=5, agent="Claude Code", operation=Operation.RUN, subject="make", asked_at=1
    )
    model.set_live(LiveState(chat=header.id, phase=LivePhase.RUNNING, questions=(question,)))
    sidebar = Sidebar(hub, model)
    qtbot.addWidget(sidebar)
    sidebar.setFixedSize(279, 800)
    sidebar.show()
    counted: list[QRectF] = []
    worded: list[QRectF] = []
    draw_counts, draw_text = chat_row.draw_counts, chat_row.draw_text

    def counts(painter: QPainter, theme: Theme, found: tuple[int | None, int | None], box: QRectF) -> None:
        if any(found):
            counted.append(box)
        draw_counts(painter, theme, found, box)

    def words(painter: QPainter, theme: Theme, box: QRectF, text: str, **how: object) -> float:
        width = draw_text(painter, theme, box, text, **how)  # type: ignore[arg-type]  # handed on as it came
        if text == "Needs you":
            worded.append(QRectF(box.left(), box.top(), width, box.height()))
        return width

    monkeypatch.setattr(chat_row, "draw_counts", counts)
    monkeypatch.setattr(chat_row, "draw_text", words)
    sidebar.list.grab()
    assert worded
    for box in counted:
        assert not any(box.intersects(one) for one in worded)
    assert bool(counted) is (zoom < 2.0)
