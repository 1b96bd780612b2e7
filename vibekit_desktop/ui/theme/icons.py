"""Icons by name in a token's colour, cached per size, screen ratio and colour.

UI thread only. `QtSvg` is imported here and nowhere else in the shell, so the first window does not pay for it.
"""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from vibekit_desktop.ui import assets
from vibekit_desktop.ui.theme.palette import Theme


@lru_cache(maxsize=2048)
def _render(name: str, color: str, size: int, ratio: float, opacity: float) -> QPixmap:
    svg = assets.icon_svg(name).replace("currentColor", color)
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    picture = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setOpacity(opacity)
    renderer.render(painter, QRectF(0, 0, picture.width(), picture.height()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


def pixmap(theme: Theme, name: str, token: str = "text.secondary", size: int = 16, ratio: float | None = None) -> QPixmap:
    """One icon as it is painted; ``ratio`` is the screen's device pixel ratio (default: the main screen's)."""
    screen = QGuiApplication.primaryScreen()
    scale = ratio if ratio is not None else (screen.devicePixelRatio() if screen else 1.0)
    return _render(name, theme.hex(token), size, scale, 1.0)


def icon(theme: Theme, name: str, token: str = "text.secondary", size: int = 16) -> QIcon:
    """One icon with its disabled look, at the main screen's ratio and at 1 and 2."""
    result = QIcon()
    screen = QGuiApplication.primaryScreen()
    ratios = {1.0, 2.0, screen.devicePixelRatio() if screen else 1.0}
    for ratio in sorted(ratios):
        result.addPixmap(_render(name, theme.hex(token), size, ratio, 1.0))
        faded = _render(name, theme.hex(token), size, ratio, theme.opacity("disabled-icon"))
        result.addPixmap(faded, QIcon.Mode.Disabled)
    return result


def app_icon(theme: Theme) -> QIcon:
    """The program's own icon: the glyph at 16, the full picture above."""
    result = QIcon()
    result.addPixmap(_render("app-glyph", theme.hex("accent.fill"), 16, 1.0, 1.0))
    for size in (24, 32, 48, 64, 128, 256):
        result.addPixmap(app_pixmap(size, 1.0))
    return result


def app_pixmap(size: int, ratio: float) -> QPixmap:
    """The program's own picture at one size; it brings its own colours."""
    return _render("app-icon", "", size, ratio, 1.0)
