"""Characters that cannot be seen, or that turn the text around them, made visible.

The one table of such characters and the one way to mark them: ␛ for a control, ⟨U+202E⟩ for what has no picture, ⟨80⟩ for a
byte that is no text. Only what is painted goes through here; what is copied is always the text as it is. Pure; any thread.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ALWAYS = (
    "\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffc\ud800-\udfff\U000e0000-\U000e007f"
)
_JOINERS = "\u200c\u200d"
_VARIANTS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"

# Joiners shape emoji and the scripts from Hebrew on; between other letters they only make two names look alike.
_SHAPED = "\u0590-\u200b\u200e-\U0010ffff"
# Variants choose the look of the sign before them; a row of them, or one after a letter, can only hide something.
_VARIED = "0-9#*\u00a9-\ufdff\ufe10-\U000e00ff\U000e01f0-\U0010ffff"

_PERHAPS = re.compile(f"[{_ALWAYS}{_JOINERS}{_VARIANTS}]")
_HIDDEN = re.compile(f"[{_ALWAYS}]|(?<![{_SHAPED}])[{_JOINERS}]|[{_JOINERS}](?![{_SHAPED}])|(?<![{_VARIED}])[{_VARIANTS}]")


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as it is painted. ``starts[i]`` is where character ``i`` of the original begins (one more entry for the end); None
    if both are the same text. ``tags`` are the runs that stand for hidden characters."""

    text: str
    starts: Sequence[int] | None = None
    tags: tuple[tuple[int, int], ...] = ()

    def at(self, index: int) -> int:
        """The painted column of a character of the original."""
        if self.starts is None:
            return min(index, len(self.text))
        return self.starts[min(index, len(self.starts) - 1)]


def has_hidden(text: str) -> bool:
    """Whether something in the text would not be seen, or would turn the order of what is around it."""
    return _PERHAPS.search(text) is not None and _HIDDEN.search(text) is not None


def show(line: str) -> Shown:
    """One line with a mark in place of every hidden character, and where everything went; tabs stay."""
    if not has_hidden(line):
        return Shown(line)
    pieces: list[str] = []
    starts: list[int] = []
    tags: list[tuple[int, int]] = []
    column = place = 0
    for found in _HIDDEN.finditer(line):
        kept, mark = line[place : found.start()], _mark(found)
        starts.extend(range(column, column + len(kept) + 1))
        column += len(kept)
        tags.append((column, column + len(mark)))
        column += len(mark)
        pieces += (kept, mark)
        place = found.end()
    rest = line[place:]
    starts.extend(range(column, column + len(rest) + 1))
    return Shown("".join((*pieces, rest)), starts, tuple(tags))


def visible(text: str) -> str:
    """A text of several lines with a mark in place of every hidden character; tabs and line ends stay."""
    if _PERHAPS.search(text) is None:
        return text
    return _HIDDEN.sub(lambda found: "\n" if found[0] == "\n" else _mark(found), text.replace("\r\n", "\n"))


def visible_name(name: str) -> str:
    """A name or path on one line: tabs and line ends are marked too, every blank stays."""
    return show(name).text.replace("\t", "\u2409")


def one_line(text: str, limit: int = 400) -> str:
    """Prose on one line, for rows and titles: runs of blanks and line ends become one blank."""
    return show(" ".join(text[: limit * 2].split())[:limit]).text


def _mark(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\u27e8{code - 0xDC00:02X}\u27e9"
    return f"\u27e8U+{code:04X}\u27e9"
