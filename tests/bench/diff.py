"""How long a diff takes, compared with the same path on the standard library's difflib."""

import difflib
import random
import re
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.diff.hunks import lay_out
from vibekit_desktop.core.diff.intraline import words
from vibekit_desktop.core.diff.lines import Change
from vibekit_desktop.core.diff.text import read, side
from vibekit_desktop.core.types.diffs import DiffDocument, DiffSide, Row, RowKind

AIM = 3.0
SIZES = (10_000, 50_000)
FIRST_SCREENS = 20
"""Hunks whose words are marked at once."""

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NAME = re.compile(r"[A-Za-z_]\w{3,}")


def source_lines(count: int, *, start: int = 0) -> list[str]:
    """Lines of this Python's own standard library."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    random.Random(5).shuffle(files)
    lines: list[str] = []
    while len(lines) < count:
        for file in files[start:]:
            lines += file.read_text("utf-8", "replace").split("\n")
    return lines[:count]


def edited(lines: list[str], edits: int) -> list[str]:
    """The lines after some edits as people make them: names changed, lines put in and taken out."""
    dice = random.Random(7)
    new = list(lines)
    for place in sorted(dice.sample(range(len(lines) - 10), edits), reverse=True):
        match dice.randrange(4):
            case 0 | 1:
                for at in range(place, place + dice.randint(1, 4)):
                    new[at] = _NAME.sub(lambda found: found.group() + "_new", new[at], count=1)
            case 2:
                new[place:place] = [f"    log.debug('step %d', {dice.randrange(10**6)})"] * dice.randint(1, 3)
            case _:
                del new[place : place + dice.randint(1, 4)]
    return new


def ours(old: bytes, new: bytes) -> int:
    """Bytes to rows, and the words of the first screens."""
    found = build(old, new, limits=UNLIMITED)
    assert isinstance(found, DiffDocument)
    if found.hunks:
        words(found, 0, found.hunks[min(FIRST_SCREENS, len(found.hunks)) - 1].last_row)
    return len(found.rows)


def theirs(old: bytes, new: bytes) -> int:
    """The same path with difflib for matching lines and words."""
    left, right = side(read(old)), side(read(new))
    opcodes = difflib.SequenceMatcher(None, left.lines, right.lines).get_opcodes()
    found = [Change(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in opcodes if tag != "equal"]
    rows, hunks = lay_out(left.lines, right.lines, found)
    for row in rows[: hunks[min(FIRST_SCREENS, len(hunks)) - 1].last_row + 1] if hunks else ():
        if row.kind is RowKind.CHANGED and row.old_line and row.new_line:
            one, other = (_TOKEN.findall(lines[number - 1]) for lines, number in _both(left, right, row))
            matcher = difflib.SequenceMatcher(None, one, other)
            if matcher.ratio() >= 0.4:
                matcher.get_opcodes()
    return len(rows)


def _both(left: DiffSide, right: DiffSide, row: Row) -> tuple[tuple[tuple[str, ...], int], tuple[tuple[str, ...], int]]:
    return (left.lines, row.old_line or 0), (right.lines, row.new_line or 0)


def _least(work: Callable[[bytes, bytes], int], old: bytes, new: bytes, best: float) -> float:
    started = time.process_time()
    work(old, new)
    return min(best, time.process_time() - started)


def run() -> bool:
    """Print the figures; whether the aim was met."""
    good = True
    for size in SIZES:
        lines = source_lines(size)
        old, new = "\n".join(lines).encode(), "\n".join(edited(lines, size // 20)).encode()
        mine = other = float("inf")
        for _ in range(5):
            mine, other = _least(ours, old, new, mine), _least(theirs, old, new, other)
        times = f"{mine * 1000:6.1f} ms, difflib {other * 1000:7.1f} ms"
        print(f"{size:7} lines, {size // 20} edits: {times}: {other / mine:.1f}x faster")
        good = good and other / mine >= AIM
    return good
