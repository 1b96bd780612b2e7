"""What a text is beside its lines: encoding, line ends, final newline. Three of them are merged like anything else.

A text is taken apart into lines without their ends, the ends, and the rest, and written again to the byte; one that would not
come out as it was is not taken apart at all. Pure; any thread.
"""

import codecs
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vibekit_desktop.core.diff.text import WIDE, Text, line_ending, read

_ENDS = {"LF": b"\n", "CRLF": b"\r\n", "CR": b"\r"}
_UTF_8_BOM = "UTF-8 BOM"
_MARKS = {name: mark for mark, _, name in WIDE} | {_UTF_8_BOM: codecs.BOM_UTF8}
_BYTES = ""
"""The encoding of every text that has no mark and no wide characters: its bytes are kept, whatever they mean."""


@dataclass(frozen=True, slots=True)
class Shape:
    """``encoding``: empty where the bytes stay as they are, else the name of `Text`. ``end``: the end that all lines have, None
    where each keeps its own. ``usual``: the end of a line that has none."""

    encoding: str
    end: bytes | None
    usual: bytes
    final: bool

    def with_final(self, *, final: bool) -> "Shape":
        """The same with or without a newline at the end."""
        return replace(self, final=final)

    def written(self, lines: Sequence[bytes], ends: Sequence[bytes]) -> bytes:
        """The bytes of some lines with their own ends, in this shape."""
        if self.end is not None:
            ends = [self.end] * len(lines)
        parts = [part for line, end in zip(lines, ends, strict=True) for part in (line, end or self.usual)]
        if not self.final and lines and lines[-1]:  # an empty line without an end would be none
            parts.pop()
        body = b"".join(parts)
        if self.encoding not in (_BYTES, _UTF_8_BOM):
            body = body.decode().encode(_codec(self.encoding))
        return _MARKS.get(self.encoding, b"") + body


@dataclass(frozen=True, slots=True)
class Side:
    """One text taken apart. ``lines`` are compared; ``ends`` are theirs, where the lines have none in themselves."""

    lines: tuple[bytes, ...]
    ends: tuple[bytes, ...]
    shape: Shape
    codec: str

    def shown(self, first: int, last: int) -> tuple[str, ...]:
        """Some lines for people, without their ends."""
        errors = "backslashreplace"
        return tuple(line.rstrip(b"\r\n").decode(self.codec, errors) for line in self.lines[first:last])


_AS_IT_IS = Shape(_BYTES, None, b"", final=True)


def as_it_is(*texts: bytes) -> tuple[Side, ...] | None:
    """The lines with their ends, as git sees them; None if git takes one of them for binary, or it has wide characters."""
    found = [read(data) for data in texts]
    if any(text is None or _is_wide(text) for text in found):
        return None
    sides = []
    for text, data in zip(found, texts, strict=True):
        lines = tuple(data.split(b"\n"))
        whole = (*(line + b"\n" for line in lines[:-1]), *((lines[-1],) if lines[-1] else ()))
        sides.append(Side(whole, (b"",) * len(whole), _AS_IT_IS, text.codec if text is not None else "utf-8"))
    return tuple(sides)


def shaped(*texts: bytes) -> tuple[Side, ...] | None:
    """The lines without their ends; None if one of them is no text, could not be written again as it was, or is in an encoding
    whose lines mean something else in that of another."""
    found = [read(data) for data in texts]
    read_all = [text for text in found if text is not None]
    if len(read_all) < len(texts):
        return None
    if any(_is_wide(text) for text in read_all) and any(text.codec != "utf-8" or text.invalid for text in read_all):
        return None
    sides = tuple(_taken_apart(text) for text in read_all)
    for side, data in zip(sides, texts, strict=True):
        if side.shape.written(side.lines, side.ends) != data:
            return None
    return sides


def _taken_apart(text: Text) -> Side:
    lines = text.raw.split(b"\n")
    if not lines[-1]:
        lines.pop()
        ends = [b"\n"] * len(lines)
    else:
        ends = [b"\n"] * (len(lines) - 1) + [b""]
    style = line_ending(text)
    if style == "CR":
        ends = [b"\r" if end else b"" for end in ends]
    elif style != "LF":
        for at, line in enumerate(lines):
            if ends[at] and line.endswith(b"\r"):
                lines[at], ends[at] = line[:-1], b"\r\n"
    usual = Counter(end for end in ends if end).most_common(1)
    encoding = text.encoding if _is_wide(text) or text.encoding in _MARKS else _BYTES
    shape = Shape(encoding, _ENDS.get(style), usual[0][0] if usual else b"\n", text.final_newline)
    return Side(tuple(lines), tuple(ends), shape, text.codec)


def _is_wide(text: Text) -> bool:
    return text.encoding.startswith(("UTF-16", "UTF-32"))


def _codec(encoding: str) -> str:
    return encoding.rstrip("?").lower().replace(" ", "-")


def merged(base: Shape, ours: Shape, theirs: Shape) -> Shape:
    """What is not as it was in ``base`` stays as in ``ours``, the rest becomes what it is in ``theirs``."""
    same_end = ours.end == base.end
    return Shape(
        encoding=theirs.encoding if ours.encoding == base.encoding else ours.encoding,
        end=theirs.end if same_end else ours.end,
        usual=theirs.usual if same_end and theirs.end is not None else ours.usual,
        final=theirs.final if ours.final == base.final else ours.final,
    )
