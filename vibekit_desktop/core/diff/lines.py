"""Line matching on libgit2's engine; knows nothing of files or screens.

Takes bytes in which every line ends with ``\\n`` (`text.comparable`). pygit2 holds the interpreter lock for the whole
comparison: large inputs belong in the worker process.
"""

from typing import NamedTuple

import pygit2
from pygit2.enums import DiffOption

from vibekit_desktop.core.diff.text import comparable, read

# FORCE_TEXT: without it a NUL byte makes an empty patch. PATIENCE with the indent heuristic aligns best and has no input
# on which it takes minutes (MINIMAL has).
_HOW = DiffOption.PATIENCE | DiffOption.INDENT_HEURISTIC | DiffOption.FORCE_TEXT


class Change(NamedTuple):
    """Lines ``old_start`` to ``old_end`` (not included, from 0) became lines ``new_start`` to ``new_end``."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changes(old: bytes, new: bytes) -> list[Change]:
    """What turns ``old`` into ``new``, top down; everything outside the changes is equal."""
    if old == new:
        return []
    if not old or not new:
        return [Change(0, old.count(b"\n"), 0, new.count(b"\n"))]
    return aligned(old, new, _HOW)


def aligned(old: bytes, new: bytes, how: DiffOption) -> list[Change]:
    """What the engine calls changed, top down, with these options of its own."""
    patch = pygit2.Patch.create_from(old, new, flag=how, context_lines=0, interhunk_lines=0)
    found = []
    for hunk in patch.hunks:
        # A side without lines is told by the line before the gap, counted from 1: that is the line after it, counted from 0.
        old_start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        new_start = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        found.append(Change(old_start, old_start + hunk.old_lines, new_start, new_start + hunk.new_lines))
    return found


def counted(old: bytes, new: bytes, *, blank_lines: bool) -> tuple[list[Change], list[Change]]:
    """The changes that count, and those that do not: with ``blank_lines`` those of which every line on both sides is blank, as
    with git's ``--ignore-blank-lines``. A line is blank if nothing of it is left in what is compared."""
    found = changes(old, new)
    if not blank_lines or not found:
        return found, []
    before, after = old.split(b"\n"), new.split(b"\n")
    count: list[Change] = []
    passed: list[Change] = []
    for one in found:
        blank = not any(before[one.old_start : one.old_end]) and not any(after[one.new_start : one.new_end])
        (passed if blank else count).append(one)
    return count, passed


def count(old: bytes | None, new: bytes | None) -> tuple[int, int] | None:
    """Lines added and removed between two files, the same numbers as in the diff document; None if a side is binary."""
    before, after = read(old or b""), read(new or b"")
    if before is None or after is None:
        return None
    found = changes(*comparable(before, after))
    return sum(one.new_end - one.new_start for one in found), sum(one.old_end - one.old_start for one in found)
