"""Two images beside each other, or one over the other with a slider between them; PNG and JPEG only.

An image over the limits is not decoded: its size is told instead. `decode` may run in any thread, the rest is UI thread only.
"""

from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSlider, QVBoxLayout, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.row_paint import draw_text
from vibekit_desktop.ui.views.segments import Segment, Segments
from vibekit_desktop.ui.wording import size_text

_FORMATS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"))
_MOST_PIXELS = 64_000_000
_MOST_SIDE = 4096
_ALLOCATION_MB = 300
_TILE = 8
_FULL = 100


@dataclass(frozen=True, slots=True)
class Picture:
    """One side: the image if it can be shown, its width and height if they are known, its size in bytes."""

    image: QImage | None
    width: int
    height: int
    size_bytes: int

    @property
    def words(self) -> str:
        """ "640 × 480 pixels, 212 KB"."""
        size = size_text(self.size_bytes)
        if not self.width:
            return tr("{size}, not an image that can be shown", size=size)
        words = tr("{width} × {height} pixels, {size}", width=self.width, height=self.height, size=size)
        return words if self.image is not None else tr("{words}: too large to show", words=words)


def decode(data: bytes | None) -> Picture | None:
    """An image from its bytes; None if the file is not there. What is damaged or too large has no image."""
    if data is None:
        return None
    kind = next((name for start, name in _FORMATS if data.startswith(start)), None)
    if kind is None:
        return Picture(None, 0, 0, len(data))
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    QImageReader.setAllocationLimit(_ALLOCATION_MB)
    reader = QImageReader(buffer, QByteArray(kind.encode()))
    reader.setDecideFormatFromContent(False)
    reader.setAutoTransform(True)
    size = reader.size()
    if not size.isValid() or size.width() * size.height() > _MOST_PIXELS:
        return Picture(None, max(0, size.width()), max(0, size.height()), len(data))
    if max(size.width(), size.height()) > _MOST_SIDE:
        reader.setScaledSize(size.scaled(_MOST_SIDE, _MOST_SIDE, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        return Picture(None, 0, 0, len(data))
    return Picture(image, size.width(), size.height(), len(data))


class ImagePair(QWidget):
    """Shows two pictures with their labels; either may be absent."""

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.canvas = _Canvas(hub, self)
        bar = QWidget(self)
        row = QHBoxLayout(bar)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(12)
        self.switch = Segments(
            hub, (Segment(tr("Side by side")), Segment(tr("Fade"))), name=tr("How the images are shown"), small=True, parent=bar
        )
        self.switch.chosen.connect(self._switched)
        self.slider = QSlider(Qt.Orientation.Horizontal, bar)
        self.slider.setRange(0, _FULL)
        self.slider.setValue(_FULL // 2)
        self.slider.setMaximumWidth(320)
        self.slider.setAccessibleName(tr("Fade from the old to the new image"))
        self.slider.valueChanged.connect(self.canvas.set_fade)
        row.addWidget(self.switch)
        row.addWidget(self.slider, 1)
        row.addStretch(1)
        self._bar = bar
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.canvas, 1)
        layout.addWidget(bar)
        self.slider.hide()

    def show_pictures(self, old: Picture | None, new: Picture | None, labels: tuple[str, str]) -> None:
        """Show two sides; the switch is there only if both can be shown."""
        both = all(picture is not None and picture.image is not None for picture in (old, new))
        self._bar.setVisible(both)
        if not both:
            self.switch.set_index(0)
        self._switched(self.switch.index)
        self.canvas.show_pictures((old, new), labels)
        words = [f"{label}: {picture.words if picture else tr('does not exist')}" for label, picture in self.canvas.sides]
        self.canvas.setAccessibleName(". ".join(words))

    def clear(self) -> None:
        """Let go of the images."""
        self.canvas.show_pictures((None, None), ("", ""))

    def _switched(self, index: int) -> None:
        self.slider.setVisible(index == 1)
        self.canvas.set_overlaid(index == 1)
        if index == 1:
            self.canvas.set_fade(self.slider.value())


class _Canvas(QWidget):
    """Paints the pictures with a head above each."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.sides: tuple[tuple[str, Picture | None], ...] = ()
        self._overlaid = False
        self._fade = _FULL // 2
        hub.changed.connect(self.update)

    def show_pictures(self, pictures: tuple[Picture | None, Picture | None], labels: tuple[str, str]) -> None:
        """Other pictures."""
        self.sides = tuple(zip(labels, pictures, strict=True))
        self.update()

    def set_overlaid(self, overlaid: bool) -> None:
        """One over the other, or beside each other."""
        self._overlaid = overlaid
        self.update()

    def set_fade(self, percent: int) -> None:
        """How much of the new one is seen."""
        self._fade = percent
        self.update()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 120)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.fillRect(self.rect(), theme.color("bg.surface"))
        head = theme.size("diff-note")
        painter.fillRect(QRectF(0, 0, self.width(), head - 1), theme.color("bg.raised"))
        painter.fillRect(QRectF(0, head - 1, self.width(), 1), theme.color("line.hair"))
        half = self.width() // 2
        for number, (label, picture) in enumerate(self.sides):
            box = QRectF((half + 1) * number, 0, half - number, head - 1).adjusted(12, 0, -12, 0)
            width = draw_text(painter, theme, box, label, style="small", weight=500, token="text.secondary")
            words = picture.words if picture is not None else tr("does not exist")
            draw_text(painter, theme, box.adjusted(width + 8, 0, 0, 0), words, style="small", token="text.tertiary")
        if self._overlaid:
            self._paint_over(painter, QRectF(0, head, self.width(), self.height() - head))
            return
        painter.fillRect(QRectF(half, 0, 1, self.height()), theme.color("line.hair"))
        for number, (_, picture) in enumerate(self.sides):
            room = QRectF((half + 1) * number, head, half - number, self.height() - head)
            if picture is not None and picture.image is not None:
                place = _fit(picture, picture, room)
                self._ground(painter, place)
                painter.drawImage(place, picture.image)

    def _paint_over(self, painter: QPainter, room: QRectF) -> None:
        pictures = [picture for _, picture in self.sides if picture is not None and picture.image is not None]
        largest = max(pictures, key=lambda one: one.width * one.height, default=None)
        if largest is None:
            return
        places = [_fit(picture, largest, room) for picture in pictures]
        self._ground(painter, _fit(largest, largest, room))
        shares = (1.0 - self._fade / _FULL, self._fade / _FULL)
        for picture, place, share in zip(pictures, places, shares, strict=False):
            if picture.image is not None:
                painter.setOpacity(share)
                painter.drawImage(place, picture.image)
        painter.setOpacity(1.0)

    def _ground(self, painter: QPainter, place: QRectF) -> None:
        """The squares behind what is transparent."""
        theme = self._hub.theme
        painter.fillRect(place, theme.color("bg.surface"))
        painter.save()
        painter.setClipRect(place)
        for row in range(int(place.height()) // _TILE + 1):
            for column in range(row % 2, int(place.width()) // _TILE + 1, 2):
                square = QRectF(place.left() + column * _TILE, place.top() + row * _TILE, _TILE, _TILE)
                painter.fillRect(square, theme.color("bg.chip"))
        painter.restore()


def _fit(picture: Picture, largest: Picture, room: QRectF) -> QRectF:
    """Where a picture goes: in the middle, never larger than it is, both on one scale."""
    inner = room.adjusted(16, 16, -16, -16)
    scale = min(1.0, inner.width() / max(1, largest.width), inner.height() / max(1, largest.height))
    width, height = picture.width * scale, picture.height * scale
    return QRectF(room.center().x() - width / 2, room.center().y() - height / 2, width, height)
