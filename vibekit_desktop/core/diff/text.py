"""Bytes to lines: which encoding, which line ends, and the bytes that two texts are compared by.

Lines end at ``\\n`` and nowhere else, as in the engine (`lines`); a ``\\r`` before it belongs to the line end.
Pure; any thread.
"""

import codecs
import re
from dataclasses import dataclass

from vibekit_desktop.core.types.diffs import EXACT, Compare, DiffSide, Ignore

_BLANKS = b" \t\r\x0b\x0c"
_AT_THE_END = re.compile(rb"[ \t\r\x0b\x0c]+\n")
_SEVERAL = re.compile(rb"[ \t\r\x0b\x0c]+")
_ESCAPED = re.compile("[\udc80-\udcff]+")
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32 LE"),  # before UTF-16: its mark starts with the other's
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32 BE"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 LE"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 BE"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """One side that is text.

    ``raw`` are the bytes after the byte order mark, re-encoded to UTF-8 if the encoding is a wide one: so a line end is one
    ``\\n`` byte in every encoding. ``decoded`` is the same text for showing. ``invalid`` counts bytes that are not UTF-8 in a
    text that otherwise is; they are shown as ``\\xNN``.
    """

    raw: bytes
    decoded: str
    encoding: str
    size: int
    invalid: int = 0

    @property
    def line_count(self) -> int:
        """How many lines there are; a last one without a newline counts."""
        return self.raw.count(b"\n") + (not self.raw.endswith(b"\n") if self.raw else 0)

    @property
    def final_newline(self) -> bool:
        """Whether the last line ends; an empty text has no line that does not."""
        return not self.raw or self.raw.endswith(b"\n")

    @property
    def line_ends(self) -> tuple[int, int]:
        """How many lines end in CRLF, and how many in LF alone."""
        crlf = self.raw.count(b"\r\n") if b"\r" in self.raw else 0
        return crlf, self.raw.count(b"\n") - crlf


def read(data: bytes) -> Text | None:
    """The text in ``data``; None if it is binary: a NUL byte outside the wide encodings, or a wide encoding that is broken."""
    for mark, codec, name in _WIDE:
        if data.startswith(mark):
            return _wide(data, mark, codec, name)
    if b"\0" in data:
        return None
    raw = data.removeprefix(codecs.BOM_UTF8)
    name = "UTF-8 BOM" if len(raw) < len(data) else "UTF-8"
    try:
        return Text(raw, raw.decode("utf-8"), name, len(data))
    except UnicodeDecodeError:
        pass
    # Mostly UTF-8 with a few stray bytes, or another encoding altogether? Latin-1 hardly ever looks valid.
    loose = raw.decode("utf-8", "surrogateescape")
    invalid = sum(len(run) for run in _ESCAPED.findall(loose))
    others = sum(1 for char in loose if char > "\x7f") - invalid
    if others > invalid or name == "UTF-8 BOM":
        return Text(raw, raw.decode("utf-8", "backslashreplace"), name, len(data), invalid)
    return Text(raw, raw.decode("latin-1"), "Latin-1?", len(data))


def _wide(data: bytes, mark: bytes, codec: str, name: str) -> Text | None:
    try:
        decoded = data[len(mark) :].decode(codec)
    except UnicodeDecodeError:
        return None
    return None if "\0" in decoded else Text(decoded.encode(), decoded, name, len(data))


def comparable(old: Text, new: Text, how: Compare = EXACT) -> tuple[bytes, bytes]:
    """Both sides as bytes in which two lines are equal exactly if they count as unchanged.

    Line ends and a missing last newline are told in notes, not as changed lines, so they are made equal here. The number of
    lines stays that of the texts.
    """
    same_kind = _bytewise(old) == _bytewise(new)
    before, after = (old.raw, new.raw) if same_kind else (old.decoded.encode(), new.decoded.encode())
    return _normal(before, how.ignore), _normal(after, how.ignore)


def _bytewise(text: Text) -> str:
    """Texts of one kind have equal bytes exactly where they have equal characters."""
    return "latin-1" if text.encoding == "Latin-1?" else "utf-8"


def _normal(raw: bytes, ignore: Ignore) -> bytes:
    if raw and not raw.endswith(b"\n"):
        raw += b"\n"
    match ignore:
        case Ignore.NOTHING:
            return raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw
        case Ignore.ALL:
            return raw.translate(None, _BLANKS)
        case Ignore.END_OF_LINE:
            return _AT_THE_END.sub(b"\n", raw)
        case Ignore.AMOUNT:
            return _SEVERAL.sub(b" ", _AT_THE_END.sub(b"\n", raw))


def only_whitespace_differs(old: Text, new: Text) -> bool:
    """Whether nothing is left of the difference once all blanks and line ends are taken out."""
    first, second = comparable(old, new)
    return first.translate(None, _BLANKS + b"\n") == second.translate(None, _BLANKS + b"\n")


def side(text: Text | None) -> DiffSide:
    """One side for showing; None is a file that is not there."""
    if text is None:
        return DiffSide(lines=(), exists=False)
    decoded = text.decoded.replace("\r\n", "\n") if "\r" in text.decoded else text.decoded
    lines = decoded.split("\n")
    if lines[-1] == "":
        lines.pop()
    return DiffSide(
        lines=tuple(lines),
        exists=True,
        encoding=text.encoding,
        line_ending=line_ending(text),
        final_newline=text.final_newline,
        size=text.size,
    )


def line_ending(text: Text) -> str:
    """``LF``, ``CRLF``, ``mixed``, or ``none`` if no line ends."""
    crlf, lf = text.line_ends
    if crlf and lf:
        return "mixed"
    return "CRLF" if crlf else "LF" if lf else "none"
