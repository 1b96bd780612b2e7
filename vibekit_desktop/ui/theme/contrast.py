"""The look of a system that asks for high contrast: every token becomes a colour of the system's own palette.

Tints are off, so what they repeat is told by signs, letters and outlines alone. Pure; any thread. Imports no widgets.
"""

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette

_HOVER, _SELECTED, _PRESSED, _MARKED = 0.12, 0.2, 0.3, 0.4
"""How much of the text's colour is in a ground that tells a state; the text on it can be read all the same."""
_RED, _GREEN, _BLUE = 0.2126, 0.7152, 0.0722
_READABLE = 4.5
_SEEN = 3.0


class SystemColours(NamedTuple):
    """What a palette says, as ``#RRGGBB``."""

    ground: str
    text: str
    faded: str
    chosen: str
    on_chosen: str
    link: str
    tip: str
    on_tip: str

    @property
    def dark(self) -> bool:
        """Whether it is light text on a dark ground."""
        return QColor(self.ground).lightness() < QColor(self.text).lightness()


def colours_of(palette: QPalette) -> SystemColours:
    """The colours of a palette; take it before an own palette is set on the application."""
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    return SystemColours(
        palette.color(role.Window).name(),
        palette.color(role.WindowText).name(),
        palette.color(group.Disabled, role.WindowText).name(),
        palette.color(role.Highlight).name(),
        palette.color(role.HighlightedText).name(),
        palette.color(role.Link).name(),
        palette.color(role.ToolTipBase).name(),
        palette.color(role.ToolTipText).name(),
    )


def ratio(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21."""
    first, second = sorted((_luminance(QColor(one)), _luminance(QColor(other))))
    return (second + 0.05) / (first + 0.05)


def _luminance(color: QColor) -> float:
    red, green, blue = (_linear(part) for part in (color.redF(), color.greenF(), color.blueF()))
    return red * _RED + green * _GREEN + blue * _BLUE


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.03928 else float(((part + 0.055) / 1.055) ** 2.4)


def _mixed(ground: str, ink: str, share: float) -> str:
    one, other = QColor(ground), QColor(ink)
    pairs = ((one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue()))
    red, green, blue = (round(a + (b - a) * share) for a, b in pairs)
    return QColor(red, green, blue).name()


def _link(system: SystemColours) -> str:
    return system.link if ratio(system.link, system.ground) >= _READABLE else system.text


def contrast_color(name: str, system: SystemColours) -> str:
    """What a token is in the system's colours; every token has an answer."""
    group, _, rest = name.partition(".")
    exact = {
        "text.on-accent": system.on_chosen,
        "text.on-tooltip": system.on_tip,
        "text.disabled": system.faded,
        "bg.tooltip": system.tip,
        "bg.scrim": QColor(Qt.GlobalColor.black).name(),
        "bg.hover": _mixed(system.ground, system.text, _HOVER),
        "bg.hover-sidebar": _mixed(system.ground, system.text, _HOVER),
        "bg.button-hover": _mixed(system.ground, system.text, _HOVER),
        "bg.selected": _mixed(system.ground, system.text, _SELECTED),
        "bg.selected-inactive": _mixed(system.ground, system.text, _HOVER),
        "bg.track": _mixed(system.ground, system.text, _SELECTED),
        "bg.pressed": _mixed(system.ground, system.text, _PRESSED),
        "bg.thumb": system.text,
        "accent.text": _link(system),
        "line.focus": system.chosen if ratio(system.chosen, system.ground) >= _SEEN else system.text,
        "diff.current": system.chosen if ratio(system.chosen, system.ground) >= _SEEN else system.text,
        "diff.filler-hatch": _mixed(system.ground, system.text, _SELECTED),
        "find.hit": _mixed(system.ground, system.text, _SELECTED),
        "find.hit-current": _mixed(system.ground, system.text, _MARKED),
    }.get(name)
    if exact is not None:
        return exact
    if "fill" in rest and group in ("accent", "danger"):
        return system.chosen  # a button that is filled, with ``text.on-accent`` on it
    if group == "bg" or "tint" in rest or name in ("diff.filler", "diff.fold"):
        return system.ground
    if group == "diff" and rest.endswith(("-line", "-word", "-gutter")):
        return system.ground
    return system.text
