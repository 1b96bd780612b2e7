"""Every setting once: key, what it may be, default, text.

Only what takes effect is here. Values are whole numbers or one of a few words; they are stored in ``library.json`` under these
keys, so a key is never renamed. Pure; any thread.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from vibekit_desktop.core.types.errors import BadSetting, UnknownSetting

Value = int | str
"""What a setting can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingKind:
    """One setting there is. A choice if there are ``choices``, else a whole number from ``least`` to ``most``."""

    key: str
    default: Value
    text: str
    """What it decides, in one sentence for people."""
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    def wanted(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return ", ".join(self.choices[:-1]) + " or " + self.choices[-1]
        return f"a whole number from {self.least} to {self.most}"

    def parse(self, text: str) -> Value:
        """The value that a person typed; `BadSetting` if it cannot be one."""
        word = text.strip()
        if self.choices:
            if word in self.choices:
                return word
        elif word.isascii() and word.isdecimal() and len(word) < _LONGEST and self.least <= int(word) <= self.most:
            return int(word)
        raise BadSetting(self.key, text, self.wanted())

    def holds(self, value: object) -> bool:
        """Whether a stored value can be one."""
        if self.choices:
            return value in self.choices
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most


_LONGEST = 12

RETENTION_DAYS = SettingKind(
    key="archive.retention_days",
    default=0,
    text="Archived chats are deleted after so many days; 0 keeps them for ever.",
    most=36_500,
)
BUDGET_GB = SettingKind(
    key="store.budget_gb",
    default=5,
    text="The doctor warns when the stored contents of all vaults take more than so many gigabytes.",
    least=1,
    most=100_000,
)
CAPTURE_MB = SettingKind(
    key="capture.max_mb",
    default=64,
    text="Files up to so many megabytes are kept before they change; of larger ones only the hash is.",
    least=1,
    most=65_536,
)
COPY_MB = SettingKind(
    key="baseline.copy_mb",
    default=1,
    text="When a turn begins, files up to so many megabytes are copied that git does not have; before a command, all.",
    most=1024,
)
COPIES_MB = SettingKind(
    key="baseline.total_mb",
    default=256,
    text="So many megabytes of such copies are made in one workspace at most.",
    most=65_536,
)
THEME = SettingKind(
    key="theme",
    default="system",
    text="The look of the window.",
    choices=("system", "light", "dark"),
)

_YES_NO = ("yes", "no")

DIFF_LAYOUT = SettingKind(
    key="diff.layout",
    default="side-by-side",
    text="How the two sides of a diff are shown.",
    choices=("side-by-side", "unified"),
)
DIFF_WHITESPACE = SettingKind(
    key="diff.ignore_whitespace",
    default="nothing",
    text="Which whitespace inside lines is no change in the review.",
    choices=("nothing", "end-of-line", "amount", "all"),
)
DIFF_BLANK_LINES = SettingKind(
    key="diff.ignore_blank_lines",
    default="no",
    text="Whether blank lines that come or go are no change in the review.",
    choices=_YES_NO,
)
DIFF_WRAP = SettingKind(
    key="diff.wrap",
    default="no",
    text="Whether long lines of a diff are wrapped.",
    choices=_YES_NO,
)
DIFF_INVISIBLES = SettingKind(
    key="diff.invisibles",
    default="no",
    text="Whether blanks and tabs are marked in a diff. Direction controls always are.",
    choices=_YES_NO,
)
DIFF_TAB_WIDTH = SettingKind(
    key="diff.tab_width",
    default=4,
    text="So many columns a tab takes in a diff at most.",
    least=1,
    most=16,
)
DIFF_CONTEXT = SettingKind(
    key="diff.context",
    default="3",
    text="How many unchanged lines are shown around a change.",
    choices=("3", "10", "all"),
)
DIFF_MARKS = SettingKind(
    key="diff.stronger_marks",
    default="no",
    text="Whether changed words have an outline.",
    choices=_YES_NO,
)

KINDS: Mapping[str, SettingKind] = {
    kind.key: kind
    for kind in (
        RETENTION_DAYS,
        BUDGET_GB,
        CAPTURE_MB,
        COPY_MB,
        COPIES_MB,
        THEME,
        DIFF_LAYOUT,
        DIFF_WHITESPACE,
        DIFF_BLANK_LINES,
        DIFF_WRAP,
        DIFF_INVISIBLES,
        DIFF_TAB_WIDTH,
        DIFF_CONTEXT,
        DIFF_MARKS,
    )
}


def kind_of(key: str) -> SettingKind:
    """The setting of a key; `UnknownSetting` if there is none."""
    kind = KINDS.get(key)
    if kind is None:
        raise UnknownSetting(key, tuple(KINDS))
    return kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting as it is now."""

    key: str
    value: Value
    default: Value
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the settings mean for one vault's captures, in bytes."""

    capture_bytes: int = 64 << 20
    copy_bytes: int = 1 << 20
    copies_bytes: int = 256 << 20
