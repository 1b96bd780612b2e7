"""How a person likes their diffs, as one value; and the same as settings. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from vibekit_desktop.core.types.diffs import EXACT, Compare, Ignore
from vibekit_desktop.core.types.settings import (
    DIFF_BLANK_LINES,
    DIFF_CONTEXT,
    DIFF_INVISIBLES,
    DIFF_LAYOUT,
    DIFF_MARKS,
    DIFF_TAB_WIDTH,
    DIFF_WHITESPACE,
    DIFF_WRAP,
    SettingKind,
    Value,
)

TAB_WIDTHS = (2, 4, 8)
CONTEXTS = (3, 10, None)
"""Unchanged lines around a change; None is all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions:
    """What a review shows as a change, and how."""

    unified: bool = False
    compare: Compare = EXACT
    wrap: bool = False
    invisibles: bool = False
    tab_width: int = 4
    context: int | None = 3
    stronger: bool = False

    def settings(self) -> dict[str, str]:
        """Every key with what it must be set to."""
        return {
            DIFF_LAYOUT.key: "unified" if self.unified else "side-by-side",
            DIFF_WHITESPACE.key: self.compare.ignore.value,
            DIFF_BLANK_LINES.key: _word(self.compare.blank_lines),
            DIFF_WRAP.key: _word(self.wrap),
            DIFF_INVISIBLES.key: _word(self.invisibles),
            DIFF_TAB_WIDTH.key: str(self.tab_width),
            DIFF_CONTEXT.key: "all" if self.context is None else str(self.context),
            DIFF_MARKS.key: _word(self.stronger),
        }


def options_of(values: Mapping[str, Value]) -> ReviewOptions:
    """The options that settings mean; a key that is missing is as by default."""

    def value(kind: SettingKind) -> Value:
        return values.get(kind.key, kind.default)

    context = value(DIFF_CONTEXT)
    return ReviewOptions(
        unified=value(DIFF_LAYOUT) == "unified",
        compare=Compare(Ignore(str(value(DIFF_WHITESPACE))), blank_lines=value(DIFF_BLANK_LINES) == "yes"),
        wrap=value(DIFF_WRAP) == "yes",
        invisibles=value(DIFF_INVISIBLES) == "yes",
        tab_width=int(value(DIFF_TAB_WIDTH)),
        context=None if context == "all" else int(context),
        stronger=value(DIFF_MARKS) == "yes",
    )


def with_value(options: ReviewOptions, key: str, value: Value) -> ReviewOptions:
    """The options after one setting changed; the same ones if it is none of theirs."""
    known: dict[str, Value] = dict(options.settings())
    return options_of({**known, key: value}) if key in known else options


def ignoring(options: ReviewOptions, ignore: Ignore) -> ReviewOptions:
    """The options with other whitespace ignored."""
    return replace(options, compare=replace(options.compare, ignore=ignore))


def _word(yes: bool) -> str:
    return "yes" if yes else "no"
