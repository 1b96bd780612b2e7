"""Where the panes stand at a width. Pure; any thread."""

from typing import NamedTuple

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
