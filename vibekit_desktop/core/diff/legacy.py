"""A guess at the encoding of bytes that do not say theirs: UTF-16 and UTF-32 without a mark, and the old 8-bit ones.

A guess is a guess: its name ends in a question mark. Looks at a bounded beginning of the bytes. Pure; any thread.
"""

import codecs
import re
import unicodedata

_LOOKED_AT = 1 << 16
_CONTROLS = frozenset("\t\n\r\f\x1b")
_STRANGE = frozenset(("Cn", "Co", "Cs", "Cc"))
"""Categories that hardly any text has: no character, private, half a pair, control."""

_HIGH = re.compile(rb"[\xc0-\xff]+")
_WIDE = (
    ("utf-16-le", "UTF-16 LE?", 2),
    ("utf-16-be", "UTF-16 BE?", 2),
    ("utf-32-le", "UTF-32 LE?", 4),
    ("utf-32-be", "UTF-32 BE?", 4),
)
_FEWEST = 8
"""Characters without any line end that are too few to tell a text from numbers."""


def without_mark(data: bytes) -> tuple[str, str] | None:
    """Codec and name of a wide encoding that these bytes, which have a NUL, may well be in; None if they are no text."""
    start = data[:_LOOKED_AT]
    for codec, name, unit in reversed(_WIDE):
        if len(data) % unit:
            continue
        try:
            # Not the end of the text: half of a pair there is no fault.
            text = codecs.getincrementaldecoder(codec)().decode(start, final=len(start) == len(data))
        except UnicodeDecodeError:
            continue
        if (len(text) >= _FEWEST or "\n" in text) and _is_text(text) and _has_latin(text):
            return codec, name
    return None


def _is_text(text: str) -> bool:
    return not any(char not in _CONTROLS and unicodedata.category(char) in _STRANGE for char in set(text))


def _has_latin(text: str) -> bool:
    """Every text has blanks, line ends or plain letters; bytes read in the wrong order have none, but rare characters."""
    plain = sum(text.count(char) for char in set(text) if char < "\x80" or "\u3000" <= char < "\u3040")
    return plain * 50 >= len(text)


def eight_bit(data: bytes) -> tuple[str, str]:
    """Codec and name for bytes that are not UTF-8: every byte gets a character."""
    start = data[:_LOOKED_AT]
    letters = start.translate(None, bytes(range(128)))
    runs = _HIGH.findall(start)
    if sum(len(run) for run in runs if len(run) > 2) * 2 > len(letters):
        # Whole words of such letters: Cyrillic. Small letters, which are most, are the upper half of one encoding only.
        small = sum(1 for byte in letters if byte >= 0xE0)
        windows = small * 2 > len(letters)
        if _decodes(data, "cp1251" if windows else "koi8-r"):
            return ("cp1251", "Windows-1251?") if windows else ("koi8-r", "KOI8-R?")
    if any(0x80 <= byte <= 0x9F for byte in set(letters)) and _decodes(data, "cp1252"):
        return "cp1252", "Windows-1252?"
    return "latin-1", "Latin-1?"


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True
