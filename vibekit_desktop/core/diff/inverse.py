"""A text with only some places of a change taken back, as bytes. Pure; any thread."""

from collections.abc import Collection, Iterator

from vibekit_desktop.core.diff.lines import Change
from vibekit_desktop.core.diff.shape import shaped
from vibekit_desktop.core.types.diffs import DiffDocument, Hunk, RowKind


def taken_back(old: bytes, new: bytes, document: DiffDocument, hunks: Collection[int]) -> bytes | None:
    """``new`` with the lines of ``old`` in these hunks of their diff; None if the bytes of the one mean nothing in the other.

    What the document tells in notes stays as in ``new``: line ends, encoding, mode. The final newline is that of ``old`` where
    a hunk reaches the end of the text.
    """
    sides = shaped(old, new)
    if sides is None or (sides[0].codec != sides[1].codec and not (old.isascii() or new.isascii())):
        return None
    if (len(sides[0].lines), len(sides[1].lines)) != (len(document.old.lines), len(document.new.lines)):
        return None
    before, after = sides
    lines: list[bytes] = []
    ends: list[bytes] = []
    at, final = 0, after.shape.final
    for number in sorted(set(hunks)):
        for one in _changes(document, document.hunks[number]):
            lines += (*after.lines[at : one.new_start], *before.lines[one.old_start : one.old_end])
            ends += (*after.ends[at : one.new_start], *before.ends[one.old_start : one.old_end])
            at = one.new_end
            if one.old_end == len(before.lines) and one.new_end == len(after.lines):
                final = before.shape.final
    lines += after.lines[at:]
    ends += after.ends[at:]
    return after.shape.with_final(final=final).written(lines, ends)


def _changes(document: DiffDocument, hunk: Hunk) -> Iterator[Change]:
    """The blocks of changed lines in a hunk."""
    old = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
    new = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
    old_start, new_start = old, new
    for row in document.rows[hunk.first_row : hunk.last_row + 1]:
        if row.kind is RowKind.SAME:
            if (old, new) != (old_start, new_start):
                yield Change(old_start, old, new_start, new)
            old_start, new_start = old + 1, new + 1
        old += row.old_line is not None
        new += row.new_line is not None
    if (old, new) != (old_start, new_start):
        yield Change(old_start, old, new_start, new)
