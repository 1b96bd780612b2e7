"""The old bytes with only those changes that count. Pure; any thread."""

from collections.abc import Sequence

from vibekit_desktop.core.diff.lines import counted
from vibekit_desktop.core.diff.sides import Pieces, pieces
from vibekit_desktop.core.diff.text import comparable, read
from vibekit_desktop.core.types.diffs import EXACT, Compare

_WIDE = ("UTF-16", "UTF-32")


def with_what_counts(old: bytes | None, new: bytes | None, how: Compare) -> bytes | None:
    """What ``old`` becomes if of all changes to ``new`` only those are made that count as one; whole files that come or go
    and what is no text are changed whole."""
    if how == EXACT or old is None or new is None or old == new:
        return new
    before, after = read(old), read(new)
    cut, other = pieces(old), pieces(new)
    if before is None or after is None or cut is None or other is None:
        return new
    if before.encoding != after.encoding or before.encoding.startswith(_WIDE) or before.lone_cr or after.lone_cr:
        return new  # no patch has such lines: it carries the file whole
    found, _ = counted(*comparable(before, after, how), blank_lines=how.blank_lines)
    lines: list[bytes] = []
    at = 0
    for one in found:
        lines += cut.lines[at : one.old_start]
        lines += other.lines[one.new_start : one.new_end]
        at = one.old_end
    lines += cut.lines[at:]
    return cut.mark + b"".join(_ended(lines, _line_end(cut, other)))


def _line_end(*sides: Pieces) -> bytes:
    """How lines end here, for one that had no end and is no longer the last."""
    for side in sides:
        for line in side.lines[:-1]:
            return line[len(line.rstrip(b"\r\n")) :]
    return b"\n"


def _ended(lines: Sequence[bytes], line_end: bytes) -> list[bytes]:
    return [line if line.endswith((b"\n", b"\r")) else line + line_end for line in lines[:-1]] + list(lines[-1:])
