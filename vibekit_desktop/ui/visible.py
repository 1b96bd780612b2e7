"""Characters that cannot be seen, or that turn the text around them, made visible.

Pure. Only what is painted goes through here; what is copied is always the text as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_HIDDEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


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
    return _HIDDEN.search(text) is not None


def show(text: str) -> Shown:
    """The text with a visible tag in place of every hidden character; tabs stay."""
    if _HIDDEN.search(text) is None:
        return Shown(text)
    pieces: list[str] = []
    starts: list[int] = []
    tags: list[tuple[int, int]] = []
    column = 0
    for character in text:
        starts.append(column)
        piece = character
        if _HIDDEN.match(character):
            piece = _tag(ord(character))
            tags.append((column, column + len(piece)))
        pieces.append(piece)
        column += len(piece)
    starts.append(column)
    return Shown("".join(pieces), starts, tuple(tags))


def one_line(text: str) -> str:
    """Names and titles on one line: the same tags, nothing else changed."""
    return show(text.replace("\t", " ")).text


def _tag(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xDC80 <= code <= 0xDCFF:
        return f"[{code - 0xDC00:02X}]"
    return f"[U+{code:04X}]"
