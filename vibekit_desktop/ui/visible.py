"""Characters that cannot be seen, or that turn the text around them, made visible.

Only what is painted goes through here; what is copied is always the text as it is. The table of such characters and their
marks is `core.types.hidden`. Pure; any thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from vibekit_desktop.core.types.hidden import HIDDEN, PERHAPS, mark


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
    return PERHAPS.search(text) is not None and HIDDEN.search(text) is not None


def show(line: str) -> Shown:
    """One line with a mark in place of every hidden character, and where everything went; tabs stay."""
    if not has_hidden(line):
        return Shown(line)
    pieces: list[str] = []
    starts: list[int] = []
    tags: list[tuple[int, int]] = []
    column = place = 0
    for found in HIDDEN.finditer(line):
        kept, sign = line[place : found.start()], mark(found)
        starts.extend(range(column, column + len(kept) + 1))
        column += len(kept)
        tags.append((column, column + len(sign)))
        column += len(sign)
        pieces += (kept, sign)
        place = found.end()
    rest = line[place:]
    starts.extend(range(column, column + len(rest) + 1))
    return Shown("".join((*pieces, rest)), starts, tuple(tags))


def visible(text: str) -> str:
    """A text of several lines with a mark in place of every hidden character; tabs and line ends stay."""
    if PERHAPS.search(text) is None:
        return text
    return HIDDEN.sub(lambda found: "\n" if found[0] == "\n" else mark(found), text.replace("\r\n", "\n"))


def visible_name(name: str) -> str:
    """A name or path on one line: tabs and line ends are marked too, every blank stays."""
    if not has_hidden(name) and "\t" not in name:
        return name
    return show(name).text.replace("\t", "\u2409")


def one_line(text: str, limit: int = 400) -> str:
    """Prose on one line, for rows and titles: runs of blanks and line ends become one blank."""
    return show(" ".join(text[: limit * 2].split())[:limit]).text
