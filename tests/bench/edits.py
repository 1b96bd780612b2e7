"""What the diff benches compare: lines of real source, and edits as people make them."""

import random
import re
import sysconfig
from functools import cache
from pathlib import Path

_NAME = re.compile(r"[A-Za-z_]\w{3,}")


@cache
def _modules(start: int) -> tuple[tuple[str, ...], ...]:
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    random.Random(5).shuffle(files)
    return tuple(tuple(file.read_text("utf-8", "replace").split("\n")) for file in files[start:])


def source_lines(count: int, *, start: int = 0) -> list[str]:
    """Lines of this Python's own standard library, from a module on."""
    lines: list[str] = []
    while len(lines) < count:
        for module in _modules(start):
            lines += module
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
