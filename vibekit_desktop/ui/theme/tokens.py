"""The design tokens as typed values: named colours, sizes, type, motion.

Parsed once per process. Every look-up of an unknown name raises `KeyError`: a missing token is our fault. No Qt, no heavy
imports; any thread.
"""

import tomllib
from functools import cache
from typing import NamedTuple

from vibekit_desktop.ui import assets


class TypeToken(NamedTuple):
    """One text style: pixels, pixels, a `QFont.Weight` number, and ``ui`` or ``mono``."""

    size: int
    line: int
    weight: int
    font: str


class ShadowToken(NamedTuple):
    """The one shadow there is, of in-window popups."""

    blur: int
    y: int
    color: str
    alpha: float


def _number(value: object) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    raise KeyError(f"not a number: {value!r}")


def _table(data: object, name: str) -> dict[str, object]:
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, dict):
        raise KeyError(name)
    return value


class Tokens:
    """What `tokens.toml` says. Never changes after it is made."""

    def __init__(self, data: dict[str, object]) -> None:
        self._colors: dict[str, tuple[str, str]] = {}
        for group, members in _table(data, "color").items():
            if isinstance(members, dict):
                for name, pair in members.items():
                    self._colors[f"{group}.{name}"] = (str(pair["light"]), str(pair["dark"]))
        self._types = {
            name: TypeToken(int(style["size"]), int(style["line"]), int(style["weight"]), str(style["font"]))
            for name, style in _table(data, "type").items()
            if isinstance(style, dict)
        }
        self._sizes = {name: int(_number(value)) for name, value in _table(data, "size").items()}
        self._radii = {name: int(_number(value)) for name, value in _table(data, "radius").items()}
        self._spaces = {name: int(_number(value)) for name, value in _table(data, "space").items()}
        self._motion = {name: int(_number(value)) for name, value in _table(data, "motion").items() if name != "easing"}
        self._opacities = {
            name: (float(pair["light"]), float(pair["dark"]))
            for name, pair in _table(data, "opacity").items()
            if isinstance(pair, dict)
        }
        fonts = _table(data, "font")
        self._families = {name: tuple(str(item) for item in items) for name, items in fonts.items() if isinstance(items, list)}
        self._shadow = _table(_table(data, "shadow"), "popup")

    def color(self, name: str, dark: bool) -> str:
        """``#RRGGBB`` of a token like ``bg.surface``."""
        return self._colors[name][1 if dark else 0]

    def color_names(self) -> tuple[str, ...]:
        """Every colour there is, as ``group.name``."""
        return tuple(self._colors)

    def type(self, name: str) -> TypeToken:
        """A text style like ``body``."""
        return self._types[name]

    def type_names(self) -> tuple[str, ...]:
        """Every text style there is."""
        return tuple(self._types)

    def size(self, name: str) -> int:
        """A length like ``row-file``."""
        return self._sizes[name]

    def radius(self, name: str) -> int:
        """A corner radius like ``control``."""
        return self._radii[name]

    def space(self, name: str) -> int:
        """A distance like ``s8``."""
        return self._spaces[name]

    def motion(self, name: str) -> int:
        """A duration in milliseconds like ``fold``."""
        return self._motion[name]

    def opacity(self, name: str, dark: bool) -> float:
        """An opacity from 0 to 1 like ``scrim``."""
        return self._opacities[name][1 if dark else 0]

    def families(self, font: str) -> tuple[str, ...]:
        """Font families wanted for ``ui`` or ``mono``, best first."""
        return self._families[font]

    def shadow(self, dark: bool) -> ShadowToken:
        """The shadow of an in-window popup."""
        side = "dark" if dark else "light"
        raw = self._shadow
        return ShadowToken(int(_number(raw["blur"])), int(_number(raw["y"])), str(raw[side]), _number(raw[f"alpha-{side}"]))


@cache
def load_tokens() -> Tokens:
    """The bundled tokens; read and parsed at the first call."""
    return Tokens(tomllib.loads(assets.token_text()))
