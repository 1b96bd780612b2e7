"""Where the panes stand at a width, and what the bare window looks like. The rule is pure.

This is what the very first picture of the window needs, so it imports little: the name `Qt` alone would cost 16 ms.
"""

from typing import NamedTuple

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter, QPixmap

from vibekit_desktop.ui.theme.palette import Theme


class Wanted(NamedTuple):
    """What the person asked for: widths of the side panes, and whether they are open."""

    sidebar: int
    inspector: int
    sidebar_open: bool
    inspector_open: bool


class Arranged(NamedTuple):
    """Where the panes stand: widths (0 = closed), and whether a side pane lies over the centre as a drawer."""

    sidebar: int
    inspector: int
    sidebar_drawer: bool
    inspector_drawer: bool


def arrange(width: int, wanted: Wanted, theme: Theme) -> Arranged:
    """The narrow rule: below one width the inspector is a drawer, below another the list too; the centre keeps its least."""
    sidebar_drawer = width < theme.size("narrow-sidebar")
    inspector_drawer = width < theme.size("narrow-inspector")
    sidebar = min(max(wanted.sidebar, theme.size("sidebar-min")), theme.size("sidebar-max")) if wanted.sidebar_open else 0
    inspector = 0
    if wanted.inspector_open:
        inspector = min(max(wanted.inspector, theme.size("inspector-min")), theme.size("inspector-max"))
    room = width - theme.size("centre-min")
    beside = (0 if sidebar_drawer else sidebar) + (0 if inspector_drawer else inspector)
    if beside > room and inspector and not inspector_drawer:
        inspector = max(theme.size("inspector-min"), inspector - (beside - room))
        beside = sidebar + inspector
    if beside > room and sidebar and not sidebar_drawer:
        sidebar = max(theme.size("sidebar-min"), sidebar - (beside - room))
    return Arranged(sidebar, inspector, sidebar_drawer, inspector_drawer)


def default_wanted(theme: Theme) -> Wanted:
    """Both side panes open at their first widths."""
    return Wanted(theme.size("sidebar-default"), theme.size("inspector-default"), sidebar_open=True, inspector_open=True)


def paint_bare(painter: QPainter, theme: Theme, width: int, height: int) -> None:
    """Grounds and hairlines of a window without any content."""
    now = arrange(width, default_wanted(theme), theme)
    left = 0 if now.sidebar_drawer else now.sidebar
    right = width - (0 if now.inspector_drawer else now.inspector)
    line = theme.size("splitter-line")
    _fill(painter, theme, "bg.sidebar", QRect(0, 0, left, height))
    _fill(painter, theme, "bg.surface", QRect(left, 0, right - left, height))
    _fill(painter, theme, "bg.inspector", QRect(right, 0, width - right, height))
    _fill(painter, theme, "line.hair", QRect(left - line, 0, line, height))
    if right < width:
        _fill(painter, theme, "line.hair", QRect(right, 0, line, height))
    _fill(painter, theme, "line.hair", QRect(left, theme.size("header") - line, width - left, line))


def _fill(painter: QPainter, theme: Theme, token: str, box: QRect) -> None:
    # A tile instead of `fillRect`, whose overloads alone bring in the name `Qt`.
    tile = QPixmap(16, 16)
    tile.fill(theme.color(token))
    painter.drawTiledPixmap(box, tile)
