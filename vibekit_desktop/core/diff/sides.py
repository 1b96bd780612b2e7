"""One side of a diff as lines: for showing, and as the bytes that they are.

Lines of a large text are made when they are asked for, from its bytes and a table of their ends: opening one costs nothing by
the line. Pure; any thread.
"""

import codecs
import io
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import overload

from vibekit_desktop.core.diff.text import WIDE, read, split


class Lines(Sequence[str]):
    """The lines of a text without their ends. Invariant: ``lengths[i]`` is how long the lines up to ``i`` are together, without
    their newlines. Without a table it is made when it is first needed, which takes 4 ms for 100,000 lines."""

    __slots__ = ("_codec", "_known", "_raw")

    def __init__(self, raw: bytes, lengths: "array[int] | None", codec: str) -> None:
        self._raw = raw
        self._known = lengths
        self._codec = codec

    @property
    def _lengths(self) -> "array[int]":
        if self._known is None:
            self._known = lengths_of(self._raw)
        return self._known

    def _bytes(self, first: int, last: int) -> bytes:
        """From the beginning of one line to the newline of another, both included."""
        return self._raw[self._lengths[first - 1] + first if first else 0 : self._lengths[last] + last + 1]

    @property
    def size(self) -> int:
        """Bytes of all lines."""
        return len(self._raw)

    def text(self) -> str:
        """All lines, joined by newlines."""
        whole = self._raw.decode(self._codec, "surrogateescape")
        return (whole.replace("\r\n", "\n") if "\r" in whole else whole).removesuffix("\n")

    def __len__(self) -> int:
        return len(self._lengths)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: "slice[int | None, int | None, int | None]") -> tuple[str, ...]: ...
    def __getitem__(self, index: "int | slice[int | None, int | None, int | None]") -> str | tuple[str, ...]:
        if isinstance(index, slice):
            first, last, step = index.indices(len(self._lengths))
            if step != 1:
                return tuple(self[at] for at in range(first, last, step))
            return self._between(first, last)
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        line = self._bytes(at, at)
        line = line[:-1].removesuffix(b"\r") if line.endswith(b"\n") else line
        return line.decode(self._codec, "surrogateescape")

    def _between(self, first: int, last: int) -> tuple[str, ...]:
        if first >= last:
            return ()
        return tuple(split(self._bytes(first, last - 1).decode(self._codec, "surrogateescape")))

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self._lengths), 1000):
            yield from self._between(first, min(len(self._lengths), first + 1000))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Lines) and self._codec == other._codec:
            return self._lengths == other._lengths and self._raw == other._raw
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]  # compared by content, and too large to hash

    def __repr__(self) -> str:
        return f"Lines({len(self)})"


def cut(raw: bytes) -> list[bytes]:
    """The lines of a text's bytes without their newlines."""
    lines = raw.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def lengths_of(raw: bytes) -> "array[int]":
    """The table that `Lines` needs."""
    return table_of(cut(raw))


def table_of(lines: Sequence[bytes]) -> "array[int]":
    """`lengths_of` the text that was `cut` into these lines."""
    return array("I", accumulate(map(len, lines)))


@dataclass(frozen=True, slots=True)
class Pieces:
    """Content cut into its byte order mark and its lines with their ends; put together they are the content again."""

    mark: bytes
    lines: tuple[bytes, ...]


def pieces(data: bytes) -> Pieces | None:
    """The bytes of the lines of a diff document, one for one; None if the content is no text."""
    text = read(data)
    if text is None:
        return None
    codec = text.encoding.removesuffix("?").lower().replace(" ", "-")
    for mark, wide, _ in WIDE:
        if wide == codec:
            mark = mark if data.startswith(mark) else b""
            return Pieces(mark, tuple(_wide_lines(data[len(mark) :], ("\r" if text.lone_cr else "\n").encode(wide))))
    mark = codecs.BOM_UTF8 if text.encoding == "UTF-8 BOM" else b""
    if text.lone_cr:
        # Split where the newlines would be, and cut the bytes as they are at the same places.
        ends = list(accumulate(map(len, io.BytesIO(text.raw))))
        body = data[len(mark) :]
        return Pieces(mark, tuple(body[start:end] for start, end in zip([0, *ends], ends, strict=False)))
    return Pieces(mark, tuple(io.BytesIO(text.raw)))


def _wide_lines(body: bytes, newline: bytes) -> Iterator[bytes]:
    unit = len(newline)
    start = at = 0
    while (found := body.find(newline, at)) >= 0:
        if found % unit:
            at = found + 1
            continue
        at = found + unit
        yield body[start:at]
        start = at
    if start < len(body):
        yield body[start:]
