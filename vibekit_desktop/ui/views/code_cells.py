"""Lines of code as cells of one width: tabs set out, hidden characters as tags, long lines whole where that costs nothing.

A line is in cells where every character takes exactly one column of the font; only others need a text layout. Pure; no Qt.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from vibekit_desktop.core.types.hidden import HIDDEN, mark
from vibekit_desktop.ui.long_text import MAX_LINE
from vibekit_desktop.ui.visible import Shown, has_hidden, show

TAB_COLUMNS = 4

_TAB_OR_HIDDEN = re.compile(f"\t|{HIDDEN.pattern}")
_DOT, _ARROW = "\u00b7", "\u2192"


@dataclass(frozen=True, slots=True)
class Line:
    """One line ready for painting: what is shown, whether every character is one column wide, how much was cut off.

    ``blanks`` is what stands for blanks and tabs in a line with tabs, column by column; empty where it is made as needed.
    """

    shown: Shown
    plain: bool
    cut: int
    blanks: str = ""

    @property
    def length(self) -> int:
        """How many characters of the original are shown."""
        return len(self.shown.starts) - 1 if self.shown.starts is not None else len(self.shown.text)

    @property
    def columns(self) -> int:
        """About how many columns it takes; a tab counts as many as it may have."""
        return len(self.shown.text) + self.shown.text.count("\t") * (TAB_COLUMNS - 1)


def line_of(text: str) -> Line:
    """Prepare one line; tabs are left to the layout."""
    cut = max(0, len(text) - MAX_LINE)
    kept = text[:MAX_LINE] if cut else text
    if kept.isascii() and "\t" not in kept:
        shown = show(kept)
        return Line(shown, shown.starts is None, cut)
    return Line(show(kept), False, cut)


def cell_line(text: str, tab_columns: int, single: Callable[[str], bool]) -> Line:
    """Prepare one line in cells if it can be. ``single`` says whether characters beyond ASCII take one column each."""
    hidden = has_hidden(text)
    tabs = "\t" in text
    if not hidden and not tabs and (text.isascii() or single(text[:MAX_LINE])):
        cut = 0 if text.isascii() else max(0, len(text) - MAX_LINE)
        return Line(Shown(text[:MAX_LINE] if cut else text), True, cut)
    cut = max(0, len(text) - MAX_LINE)
    kept = text[:MAX_LINE] if cut else text
    seen = HIDDEN.sub("", kept) if hidden else kept
    if not seen.isascii() and not single(seen):
        return Line(show(kept), False, cut)
    shown, blanks = _set_out(kept, tab_columns)
    return Line(shown, True, cut, blanks if tabs else "")


def _set_out(text: str, tab_columns: int) -> tuple[Shown, str]:
    pieces: list[str] = []
    blanks: list[str] = []
    starts: list[int] = []
    tags: list[tuple[int, int]] = []
    column = place = 0
    for found in _TAB_OR_HIDDEN.finditer(text):
        kept = text[place : found.start()]
        starts.extend(range(column, column + len(kept) + 1))
        column += len(kept)
        place = found.end()
        if found[0] == "\t":
            width = tab_columns - column % tab_columns
            sign, dots = " " * width, _ARROW.ljust(width)
        else:
            sign = mark(found)
            dots = " " * len(sign)
            tags.append((column, column + len(sign)))
        column += len(sign)
        pieces += (kept, sign)
        blanks += (blanks_of(kept), dots)
    rest = text[place:]
    starts.extend(range(column, column + len(rest) + 1))
    return Shown("".join((*pieces, rest)), starts, tuple(tags)), "".join((*blanks, blanks_of(rest)))


def blanks_of(text: str) -> str:
    """A dot for every blank, nothing for everything else, in the same columns."""
    return "".join(_DOT if character == " " else " " for character in text)
