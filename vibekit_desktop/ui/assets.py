"""The only reader of bundled resources.

They lie in `vibekit_desktop/resources` once installed, and in `resources` beside the package in a checkout. Read-only; any
thread. Imports nothing heavy: the window is shown before the core is imported.
"""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def resources() -> Path:
    """The folder with `themes` and `icons`."""
    installed = _PACKAGE / "resources"
    return installed if installed.is_dir() else _PACKAGE.parent / "resources"


def token_text() -> str:
    """The design tokens as TOML."""
    return (resources() / "themes" / "tokens.toml").read_text(encoding="utf-8")


def first_colors(*, dark: bool) -> dict[str, str]:
    """The hex colours of the first paint, by token name without its group.

    Found by their text: reading the tokens as TOML takes longer than everything else before that paint.
    """
    text = token_text()
    found: dict[str, str] = {}
    for group, name in (("bg", "sidebar"), ("bg", "surface"), ("bg", "inspector"), ("line", "hair")):
        line = text.index(f"\n{name} ", text.index(f"[color.{group}]"))
        value = text.index("dark = " if dark else "light = ", line)
        start = text.index("#", value)
        found[name] = text[start : start + 7]
    return found


@cache
def icon_svg(name: str) -> str:
    """One icon's SVG text; raises `KeyError` for a name that is not bundled."""
    try:
        return (resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise KeyError(name) from error


def icon_names() -> tuple[str, ...]:
    """Every bundled icon's name, sorted."""
    return tuple(sorted(path.stem for path in (resources() / "icons").iterdir() if path.suffix == ".svg"))
