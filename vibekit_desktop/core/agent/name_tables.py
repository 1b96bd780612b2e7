"""How tables of names are written down, and how a name is held against one. Pure; any thread."""

import unicodedata


def words(text: str) -> frozenset[str]:
    """A table of names, as it is written down."""
    return frozenset(text.split())


def places(text: str) -> frozenset[tuple[str, ...]]:
    """A table of short paths, each by its parts."""
    return frozenset(tuple(word.split("/")) for word in text.split())


def seen_as(part: str) -> str:
    """The name that a file system might take this one for: other case, trailing dots and blanks, a stream behind ``:``,
    characters that are ignored in comparing."""
    shown = part if part.isascii() else "".join(sign for sign in part if unicodedata.category(sign) != "Cf")
    return shown.split(":", 1)[0].rstrip(" .").casefold() or part
