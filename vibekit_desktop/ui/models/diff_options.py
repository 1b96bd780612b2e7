"""How a person wants diffs to be shown: one value, the same for every file. Pure; no Qt."""

from dataclasses import dataclass

CONTEXTS: tuple[int | None, ...] = (3, 10, None)
"""Lines of context a person can choose; None shows every line."""

TAB_WIDTHS = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """``context`` None shows every line; ``invisibles`` draws blanks, tabs and line ends; ``stronger`` outlines word marks.

    Direction controls and other characters that cannot be seen are marked whatever is chosen here.
    """

    wrap: bool = False
    invisibles: bool = False
    tab_columns: int = 4
    context: int | None = 3
    stronger: bool = False


USUAL = DiffOptions()
