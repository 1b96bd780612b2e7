"""Edits as people make them, on the modules of this Python, with the hunks that their author would draw."""

import random
import re
import subprocess
import sysconfig
from functools import cache
from pathlib import Path

from vibekit_desktop.core.diff.lines import Change

_NAME = re.compile(r"[A-Za-z_]\w{3,}")
_BLOCK = re.compile(r"\s*(?:async def|def|class) ")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@cache
def modules() -> tuple[tuple[str, ...], ...]:
    """The lines of the library's modules, always in the same order."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts)
    random.Random(11).shuffle(files)
    found = []
    for path in files:
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")[:-1]
        if 60 < len(lines) < 3_000 and max(map(len, lines)) < 300:
            found.append(tuple(lines))
    return tuple(found)


def source(count: int, start: int = 0) -> list[str]:
    """So many lines of real source, from the module ``start`` on."""
    lines: list[str] = []
    while len(lines) < count:
        lines += modules()[start % len(modules())]
        start += 1
    return lines[:count]


def _block(lines: list[str], at: int) -> tuple[int, int] | None:
    """The function or class that begins at ``at`` or soon after, with the blank lines below it."""
    for first in range(at, min(at + 40, len(lines))):
        if _BLOCK.match(lines[first]):
            indent = len(lines[first]) - len(lines[first].lstrip())
            last = first + 1
            while last < len(lines) and (not lines[last].strip() or len(lines[last]) - len(lines[last].lstrip()) > indent):
                last += 1
            return (first, last) if last - first < 60 and last < len(lines) else None
    return None


def _renamed(dice: random.Random, line: str) -> str:
    names = list(_NAME.finditer(line))
    if not names:
        return line + "  # changed"
    name = dice.choice(names)
    return line[: name.start()] + name[0] + dice.choice(("_new", "_2", "_of_it")) + line[name.end() :]


def _edit(dice: random.Random, lines: list[str], at: int, donor: list[str]) -> tuple[int, int, list[str]]:
    """First line, end, and what comes there."""
    match dice.choices(
        ("change", "change some", "new block", "no block", "new lines", "no lines", "wrap"), (30, 15, 15, 8, 15, 10, 7)
    )[0]:
        case "change":
            return at, at + 1, [_renamed(dice, lines[at])]
        case "change some":
            end = min(len(lines), at + dice.randint(2, 6))
            return at, end, [_renamed(dice, line) for line in lines[at:end]]
        case "new block":
            here, there = _block(lines, at), _block(donor, dice.randrange(len(donor) - 100))
            if here is not None and there is not None:
                return here[0], here[0], donor[slice(*there)]
        case "no block":
            here = _block(lines, at)
            if here is not None:
                return *here, []
        case "new lines":
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            return (
                at,
                at,
                [
                    f"{indent}{dice.choice(('log', 'check', 'count'))}({dice.randrange(10**6)})"
                    for _ in range(dice.randint(1, 3))
                ],
            )
        case "no lines":
            return at, min(len(lines), at + dice.randint(1, 4)), []
        case "wrap":
            end = min(len(lines), at + dice.randint(2, 6))
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            return (
                at,
                end,
                [f"{indent}if ready({dice.randrange(10**6)}):", *("    " + line if line else line for line in lines[at:end])],
            )
    return at, at, []


def edited(lines: list[str], edits: int, seed: int) -> tuple[list[str], list[Change]]:
    """The lines after some edits far enough from each other to be hunks of their own, and these hunks."""
    dice = random.Random(seed)
    donor = source(20_000, start=300)
    new: list[str] = []
    hunks: list[Change] = []
    done = 0
    for place in sorted(dice.sample(range(5, len(lines) - 5), edits)):
        if place < done + 2:
            continue
        first, end, come = _edit(dice, lines, place, donor)
        if first < done + 2 or (first == end and not come) or lines[first:end] == come:
            continue
        new += lines[done:first]
        hunks.append(Change(first, end, len(new), len(new) + len(come)))
        new += come
        done = end
    return new + lines[done:], hunks


def by_git(folder: Path, old: bytes, new: bytes, *options: str) -> list[Change]:
    """The hunks that git finds."""
    (folder / "old").write_bytes(old)
    (folder / "new").write_bytes(new)
    run = subprocess.run(
        [
            "git",
            "-c",
            "core.attributesFile=/dev/null",
            "diff",
            "--no-index",
            "--no-color",
            "--no-ext-diff",
            "-U0",
            "-a",
            *options,
            "old",
            "new",
        ],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    found = []
    for match in _HUNK.finditer(run.stdout.decode("utf-8", "replace")):
        i, removed, j, added = int(match[1]), int(match[2] or 1), int(match[3]), int(match[4] or 1)
        i, j = i - (removed > 0), j - (added > 0)
        found.append(Change(i, i + removed, j, j + added))
    return found


def text(lines: list[str]) -> bytes:
    """A file of these lines."""
    return "".join(line + "\n" for line in lines).encode()
