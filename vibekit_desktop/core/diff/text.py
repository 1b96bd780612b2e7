"""Bytes to text: which encoding, which line ends, and the bytes that two texts are compared by.

Lines end at ``\\n`` and nowhere else, as in the engine (`lines`); a ``\\r`` before it belongs to the line end. A text without
any ``\\n`` that has several ``\\r``, the last one at its end, is read with that as its line end. Pure; any thread.
"""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

from vibekit_desktop.core.diff.legacy import eight_bit, without_mark
from vibekit_desktop.core.types.diffs import EXACT, Compare, DiffSide, Ignore

BLANKS = b" \t\r\x0b\x0c"
_AT_THE_END = re.compile(rb"[ \t\r\x0b\x0c]+\n")
_SEVERAL = re.compile(rb"[ \t\r\x0b\x0c]{2,}|[\t\r\x0b\x0c]")
_ESCAPED = re.compile("[\udc80-\udcff]+")
WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32 LE"),  # before UTF-16: its mark starts with the other's
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32 BE"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 LE"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 BE"),
)
_PART = 1 << 16
_MOST_INVALID = 20
"""A wide text of which more than one character in so many is broken is no text."""


@dataclass(frozen=True, slots=True)
class Text:
    """One side that is text.

    ``raw`` are the bytes after the byte order mark in which every line ends with one ``\\n`` byte or ``\\r\\n``: a wide
    encoding is re-encoded to UTF-8, and where lines end in ``\\r`` alone (``lone_cr``) it is replaced. ``codec`` reads ``raw``.
    ``invalid`` counts bytes that are not text in this encoding: in UTF-8 they are shown as lone surrogates U+DC80 to U+DCFF,
    which turn back into the bytes with ``surrogateescape``.
    """

    raw: bytes
    encoding: str
    size: int
    line_ends: tuple[int, int]
    """How many lines end in CRLF, and how many in LF alone (or in CR alone, in a text of such lines)."""
    codec: str = "utf-8"
    invalid: int = 0
    lone_cr: bool = False

    @property
    def decoded(self) -> str:
        """The whole text for showing. Made when it is asked for: most of a large one is never shown."""
        return self.raw.decode(self.codec, "surrogateescape")

    @property
    def line_count(self) -> int:
        """How many lines there are; a last one without a newline counts."""
        return sum(self.line_ends) + (not self.final_newline)

    @property
    def final_newline(self) -> bool:
        """Whether the last line ends; an empty text has no line that does not."""
        return not self.raw or self.raw.endswith(b"\n")


def read(data: bytes) -> Text | None:
    """The text in ``data``; None if it is binary: a NUL in an encoding that has none, or a wide one that is broken."""
    for mark, codec, name in WIDE:
        if data.startswith(mark):
            return _wide(data, data[len(mark) :], codec, name)
    if b"\0" in data:
        guess = without_mark(data)
        return None if guess is None else _wide(data, data, *guess)
    raw = data.removeprefix(codecs.BOM_UTF8)
    name = "UTF-8 BOM" if len(raw) < len(data) else "UTF-8"
    raw, lone_cr, ends = _line_ends(raw)
    if _is_utf8(raw):
        return Text(raw, name, len(data), ends, lone_cr=lone_cr)
    # Mostly UTF-8 with a few stray bytes, or another encoding altogether? Latin-1 hardly ever looks valid.
    loose = raw.decode("utf-8", "surrogateescape")
    invalid = sum(len(run) for run in _ESCAPED.findall(loose))
    others = sum(1 for char in loose if char > "\x7f") - invalid
    if others > invalid or name == "UTF-8 BOM":
        return Text(raw, name, len(data), ends, invalid=invalid, lone_cr=lone_cr)
    codec, name = eight_bit(raw)
    return Text(raw, name, len(data), ends, codec, lone_cr=lone_cr)


def _wide(data: bytes, body: bytes, codec: str, name: str) -> Text | None:
    invalid = 0
    try:
        decoded = body.decode(codec)
    except UnicodeDecodeError:
        loose = body.decode(codec, "replace")
        invalid = loose.count("\ufffd")
        if invalid * _MOST_INVALID > len(loose):
            return None
        decoded = body.decode(codec, "backslashreplace")
    if "\0" in decoded:
        return None
    raw, lone_cr, ends = _line_ends(decoded.encode())
    return Text(raw, name, len(data), ends, invalid=invalid, lone_cr=lone_cr)


def _is_utf8(raw: bytes) -> bool:
    """Read in parts: one letter beyond the first 256 makes the whole of a text two or four times as large in memory."""
    start = 0
    try:
        while start < len(raw):
            end = raw.find(b"\n", start + _PART) + 1 or len(raw)
            raw[start:end].decode()
            start = end
    except UnicodeDecodeError:
        return False
    return True


def _line_ends(raw: bytes) -> tuple[bytes, bool, tuple[int, int]]:
    """The bytes with their lines ending in newlines, whether that was the lone CR's doing, and how many end in CRLF and LF."""
    newlines = raw.count(b"\n")
    if b"\r" not in raw:
        return raw, False, (0, newlines)
    if not newlines and raw.endswith(b"\r") and raw.count(b"\r") > 1:
        return raw.replace(b"\r", b"\n"), True, (0, raw.count(b"\r"))
    crlf = raw.count(b"\r\n")
    return raw, False, (crlf, newlines - crlf)


def guessed(encoding: str) -> bool:
    """Whether the name is that of a guess."""
    return encoding.endswith("?")


def comparable(old: Text, new: Text, how: Compare = EXACT) -> tuple[bytes, bytes]:
    """Both sides as bytes in which two lines are equal exactly if they count as unchanged.

    Line ends and a missing last newline are told in notes, not as changed lines, so they are made equal here. The number of
    lines stays that of the texts.

    What is left out is what git leaves out with ``--ignore-space-at-eol`` (end of line), ``-b`` (amount) and ``-w`` (all), but
    for two things: form feeds and vertical tabs are blanks too, and a carriage return before a line end never counts at all.
    """
    if old.codec == new.codec:
        before, after = old.raw, new.raw
    else:
        before, after = (one.decoded.encode("utf-8", "surrogateescape") for one in (old, new))
    return _normal(before, how.ignore), _normal(after, how.ignore)


def _normal(raw: bytes, ignore: Ignore) -> bytes:
    if raw and not raw.endswith(b"\n"):
        raw += b"\n"
    if ignore is Ignore.NOTHING:
        return raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw
    if ignore is Ignore.ALL:
        return raw.translate(None, BLANKS)
    raw = _AT_THE_END.sub(b"\n", raw)
    return _SEVERAL.sub(b" ", raw) if ignore is Ignore.AMOUNT else raw


def only_whitespace_differs(old: Text, new: Text) -> bool:
    """Whether nothing is left of the difference once all blanks and line ends are taken out."""
    first, second = comparable(old, new)
    return first.translate(None, BLANKS + b"\n") == second.translate(None, BLANKS + b"\n")


def line_ending(text: Text) -> str:
    """``LF``, ``CRLF``, ``CR``, ``mixed``, or ``none`` if no line ends."""
    if text.lone_cr:
        return "CR"
    crlf, lf = text.line_ends
    if crlf and lf:
        return "mixed"
    return "CRLF" if crlf else "LF" if lf else "none"


def split(decoded: str) -> list[str]:
    """The lines of a text without their ends."""
    lines = (decoded.replace("\r\n", "\n") if "\r" in decoded else decoded).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def side(text: Text | None, lines: Sequence[str] | None = None) -> DiffSide:
    """One side for showing; None is a file that is not there. ``lines`` if they are known already."""
    if text is None:
        return DiffSide(lines=(), exists=False)
    return DiffSide(
        lines=tuple(split(text.decoded)) if lines is None else lines,
        exists=True,
        encoding=text.encoding,
        line_ending=line_ending(text),
        final_newline=text.final_newline,
        size=text.size,
    )
