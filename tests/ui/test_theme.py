"""The theme: every name that the window uses exists, both looks are readable, icons take a token's colour."""

import ast
import re
from pathlib import Path

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGraphicsDropShadowEffect, QWidget
from pytestqt.qtbot import QtBot

from vibekit_desktop.ui import assets
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.style import cast_shadow
from vibekit_desktop.ui.theme.tokens import load_tokens

UI = Path(assets.__file__).parent
GROUPS = {name.split(".")[0] for name in load_tokens().color_names()}
LOOKS = (True, False)


def _strings() -> set[str]:
    found: set[str] = set()
    for path in UI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def test_every_colour_that_the_window_names_is_a_token() -> None:
    known = set(load_tokens().color_names())
    named = {text for text in _strings() if re.fullmatch(rf"({'|'.join(GROUPS)})\.[a-z-]+", text)}
    assert named
    assert named <= known


def test_every_colour_is_used() -> None:
    """By its name, or as one of a family."""
    families = ("diff.", "syntax.")
    unused = {name for name in set(load_tokens().color_names()) - _strings() if not name.startswith(families)}
    assert unused <= {"accent.fill-hover", "danger.fill", "danger.fill-hover"}  # named by their kind of button


def test_no_colour_is_written_into_a_widget() -> None:
    offenders = [text for text in _strings() if re.fullmatch(r"#[0-9a-fA-F]{3,8}", text)]
    assert not offenders


def test_no_widget_has_a_style_sheet() -> None:
    """It would be made ready anew at every change of the theme, and not follow the text size."""
    offenders = [str(path) for path in UI.rglob("*.py") if "setStyleSheet" in path.read_text(encoding="utf-8")]
    assert not offenders


@pytest.mark.parametrize("dark", LOOKS)
def test_sizes_fonts_and_times_have_values(qtbot: QtBot, *, dark: bool) -> None:
    theme = Theme(load_tokens(), dark=dark)
    for name in theme.tokens.type_names():
        assert theme.font(name).pixelSize() > 0
        assert theme.line_height(name) >= theme.font(name).pixelSize()
    assert theme.size("row-file") == 28
    assert theme.motion("fold") == 120
    with pytest.raises(KeyError):
        theme.color("text.nothing")


def test_text_zoom_scales_fonts_and_what_they_stand_in_but_no_widths(qtbot: QtBot) -> None:
    theme = Theme(load_tokens(), dark=False, zoom=1.5)
    assert theme.font("body").pixelSize() == 20
    assert theme.size("row-chat") == 78
    assert theme.size("header") == 84
    assert theme.size("sidebar-default") == 280
    small = Theme(load_tokens(), dark=False, zoom=0.8)
    assert small.size("row-chat") == 42
    assert small.size("header") == 56


def test_reduced_motion_stops_everything_but_the_time_a_toast_stays(qtbot: QtBot) -> None:
    theme = Theme(load_tokens(), dark=False, still=True)
    assert theme.motion("fold") == 0
    assert theme.motion("toast-stay") == 8000


def _luminance(color: QColor) -> float:
    parts = []
    for value in (color.redF(), color.greenF(), color.blueF()):
        parts.append(value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4)
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _contrast(one: QColor, other: QColor) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", LOOKS)
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("text.primary", "bg.surface"),
        ("text.secondary", "bg.raised"),
        ("text.tertiary", "bg.selected"),
        ("text.tertiary", "bg.sidebar"),
        ("accent.text", "bg.surface"),
        ("danger.text", "bg.sidebar"),
        ("diff.add-mark", "diff.add-line"),
        ("diff.del-mark", "diff.del-line"),
        ("syntax.comment", "bg.raised"),
        ("text.on-accent", "accent.fill"),
    ],
)
def test_text_can_be_read_on_its_ground(qtbot: QtBot, ink: str, ground: str, *, dark: bool) -> None:
    theme = Theme(load_tokens(), dark=dark)
    assert _contrast(theme.color(ink), theme.color(ground)) >= 4.5


def test_the_hub_says_when_another_look_takes_its_place(qtbot: QtBot) -> None:
    hub = ThemeHub("light")
    with qtbot.waitSignal(hub.changed):
        hub.set_mode("dark")
    assert hub.theme.dark
    with qtbot.assertNotEmitted(hub.changed):
        hub.set_mode("dark")


@pytest.mark.parametrize("name", assets.icon_names())
def test_every_icon_can_be_drawn(qtbot: QtBot, name: str) -> None:
    theme = Theme(load_tokens(), dark=True)
    picture = icons.pixmap(theme, name, "text.primary", 16, 2.0).toImage()
    assert picture.width() == 32
    assert any(picture.pixelColor(x, y).alpha() for x in range(32) for y in range(32))


def test_an_icon_takes_the_tokens_colour(qtbot: QtBot) -> None:
    theme = Theme(load_tokens(), dark=False)
    picture = icons.pixmap(theme, "stop", "danger.fill", 16, 1.0).toImage()
    colors = {picture.pixelColor(x, y).name() for x in range(16) for y in range(16) if picture.pixelColor(x, y).alpha() == 255}
    assert theme.color("danger.fill").name() in colors


def test_every_icon_that_is_drawn_is_bundled() -> None:
    known = set(assets.icon_names())
    used = set()
    for path in UI.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        used |= set(re.findall(r'draw_icon\(\s*\w+, \w+, "([a-z-]+)"', text)) | set(re.findall(r'icon="([a-z-]+)"', text))
        used |= set(re.findall(r'IconButton\(\s*\w+, "([a-z-]+)"', text))
    assert used
    assert used <= known


def test_every_icon_that_is_bundled_is_drawn() -> None:
    assert set(assets.icon_names()) <= _strings()


def test_an_unknown_icon_is_our_fault() -> None:
    with pytest.raises(KeyError):
        assets.icon_svg("no-such-icon")


def test_a_shadow_follows_the_theme(qtbot: QtBot) -> None:
    hub = ThemeHub("dark", still=True)
    card = QWidget()
    qtbot.addWidget(card)
    cast_shadow(card, hub)
    effect = card.graphicsEffect()
    assert isinstance(effect, QGraphicsDropShadowEffect)
    dark = effect.color()
    hub.set_mode("light")
    assert effect.color().alphaF() == pytest.approx(hub.theme.tokens.shadow(hub.theme.dark).alpha, abs=0.01)
    assert effect.color() != dark
