"""How long diffs take and how good they are: ours beside git, the engine alone, and the standard library's difflib.

Processor time of one thread, in turns, the least of several; git is a process of its own and timed by the clock.
"""

import difflib
import gc
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz.distance import Indel

from tests.bench import diff_open, diff_view
from tests.bench.edits import edited, source_lines
from tests.core.diff import authors
from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.diff.hunks import lay_out
from vibekit_desktop.core.diff.intraline import between, words
from vibekit_desktop.core.diff.lines import Change, changes
from vibekit_desktop.core.diff.pairs import likeness
from vibekit_desktop.core.types.diffs import DiffDocument, RowKind

FASTER = {10_000: 3.0, 200_000: 10.0}
ABOVE_ENGINE = 1.5
POINTS = 0.5
SIZES = (10_000, 50_000, 200_000)
FIRST_SCREENS = 20
"""Hunks whose words are marked at once, and no more rows of one than are seen."""
SCREEN = 60

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_HAS_GIT = shutil.which("git") is not None


@dataclass(frozen=True)
class Input:
    """Two texts under a name."""

    name: str
    size: int
    old: bytes
    new: bytes


def inputs(size: int) -> list[Input]:
    """Few edits (one line in a thousand), many (one edit in 20 lines), and two unrelated texts."""
    lines = source_lines(size)

    def text(found: Sequence[str]) -> bytes:
        return "\n".join(found).encode()

    old = text(lines)
    return [
        Input("few", size, old, text(edited(lines, max(1, size // 1000)))),
        Input("many", size, old, text(edited(lines, size // 20))),
        Input("different", size, old, text(source_lines(size, start=90))),
    ]


# The paths.


def ours(old: bytes, new: bytes) -> int:
    """Bytes to rows, and the words of the first screens."""
    found = build(old, new, limits=UNLIMITED)
    assert isinstance(found, DiffDocument)
    for hunk in found.hunks[:FIRST_SCREENS]:
        words(found, hunk.first_change, min(hunk.last_change, hunk.first_change + SCREEN))
    return len(found.rows)


def engine(old: bytes, new: bytes) -> int:
    """What no path with this engine can do without: its comparison, and the lines of both texts."""
    found = changes(old + b"\n", new + b"\n")
    return len(found) + len(old.decode().split("\n")) + len(new.decode().split("\n"))


def by_difflib(old: bytes, new: bytes) -> int:
    """The same path with difflib for matching lines and words."""
    left, right = old.decode().split("\n"), new.decode().split("\n")
    opcodes = difflib.SequenceMatcher(None, left, right).get_opcodes()
    found = [Change(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in opcodes if tag != "equal"]
    rows, hunks = lay_out(old.split(b"\n"), new.split(b"\n"), found)
    seen = [
        row
        for hunk in hunks[:FIRST_SCREENS]
        for row in rows[hunk.first_change : min(hunk.last_change, hunk.first_change + SCREEN) + 1]
    ]
    for row in seen:
        if row.kind is RowKind.CHANGED and row.old_line and row.new_line:
            one, other = _TOKEN.findall(left[row.old_line - 1]), _TOKEN.findall(right[row.new_line - 1])
            matcher = difflib.SequenceMatcher(None, one, other)
            if matcher.ratio() >= 0.4:
                matcher.get_opcodes()
    return len(rows)


def git_ms(folder: Path, case: Input, option: str, rounds: int) -> float:
    """``git diff`` of two files, its start included, their writing not."""
    for name, data in (("old", case.old), ("new", case.new)):
        (folder / name).write_bytes(data)
    argv = ["git", "diff", "--no-index", "--no-color", "--no-ext-diff", "-U0", option, "old", "new"]
    best = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        subprocess.run(argv, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        best = min(best, (time.perf_counter() - begun) * 1000)
    return best


def timed_ms(work: Callable[[], object]) -> float:
    """Processor time of one call; what others left behind is cleared away before."""
    gc.collect()
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1000


def said(good: bool, text: str) -> bool:
    """Print a figure and whether its aim was met."""
    print(f"  {'met   ' if good else 'MISSED'} {text}")
    return good


# The tables.


def lines_table() -> bool:
    """Line diffs by size and kind, with as little garbage looked for as in the worker process."""
    kept = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
    try:
        return _lines_table()
    finally:
        gc.set_threshold(*kept)
        gc.unfreeze()


def _lines_table() -> bool:
    print("bytes to rows and the words of the first screens; ms (git: its whole process)")
    print(f"    {'':18} {'ours':>8} {'engine':>8} {'difflib':>8} {'histogram':>10} {'patience':>9}   difflib/ours  ours/engine")
    good = []
    with tempfile.TemporaryDirectory() as scratch:
        for size in SIZES:
            for case in inputs(size):
                rounds = 5
                best = dict.fromkeys((ours, engine, by_difflib), float("inf"))
                for number in range(rounds):
                    for path in best:
                        if path is not by_difflib or number < (rounds if size < SIZES[-1] else 1):
                            best[path] = min(best[path], timed_ms(lambda path=path, case=case: path(case.old, case.new)))  # type: ignore[misc]  # bound now
                git = [git_ms(Path(scratch), case, f"--{how}", rounds) if _HAS_GIT else 0 for how in ("histogram", "patience")]
                faster, above = best[by_difflib] / best[ours], best[ours] / best[engine]
                figures = f"{best[ours]:8.1f} {best[engine]:8.1f} {best[by_difflib]:8.1f} {git[0]:10.1f} {git[1]:9.1f}"
                print(f"    {case.name:9} {size:8} {figures} {faster:12.1f}x {above:11.2f}x")
                if case.name == "many" and size in FASTER:
                    good.append(
                        (faster >= FASTER[size], f"9.1 {size} lines {faster:.1f}x faster than difflib, aim {FASTER[size]:.0f}x")
                    )
                if case.name == "many" and size == SIZES[-1]:
                    good.append(
                        (
                            above <= ABOVE_ENGINE,
                            f"9.1 {size} lines {above:.2f}x of engine, decode and split, aim {ABOVE_ENGINE}x",
                        )
                    )
    return min(said(*one) for one in good)


def quality_table() -> bool:
    """How many of the author's hunks are found exactly, and how many lines are changed in texts of repeats."""
    if not _HAS_GIT:
        print("  git is not installed: nothing to compare with")
        return True
    print("the author's hunks found exactly, in percent")
    good = []
    with tempfile.TemporaryDirectory() as scratch:
        for size in SIZES:
            lines = authors.source(size)
            new, hunks = authors.edited(lines, size // 20, 1)
            old_text, new_text = authors.text(lines), authors.text(new)
            opcodes = difflib.SequenceMatcher(None, lines, new).get_opcodes()
            found = {
                "ours": changes(old_text, new_text),
                "histogram": authors.by_git(Path(scratch), old_text, new_text, "--histogram"),
                "difflib": [Change(*places) for tag, *places in opcodes if tag != "equal"],
            }
            exact = {name: 100 * len(set(one) & set(hunks)) / len(hunks) for name, one in found.items()}
            print(
                f"    {size:8} lines, {len(hunks):5} hunks   "
                + "   ".join(f"{name} {part:.1f}" for name, part in exact.items())
            )
            good.append(
                (
                    exact["ours"] >= exact["histogram"] - POINTS,
                    f"9.1 {size} lines: {exact['ours']:.1f}, git {exact['histogram']:.1f}",
                )
            )
        blank = [""] * 10_000
        edit = [*blank[:3_000], "one", *blank[:2_000], "two", "three", *blank[:5_500]]
        old_text, new_text = authors.text(blank), authors.text(edit)
        mine = sum(one.old_end - one.old_start + one.new_end - one.new_start for one in changes(old_text, new_text))
        theirs = authors.by_git(Path(scratch), old_text, new_text, "--histogram")
        git = sum(one.old_end - one.old_start + one.new_end - one.new_start for one in theirs)
        good.append((mine <= git, f"9.1 a file of blank lines: {mine} changed lines, git {git}"))
    return min(said(*one) for one in good)


def words_table() -> bool:
    """Words inside of changed lines."""
    lines = [line for line in source_lines(6_000) if len(line) > 20][:2_000]
    pairs = list(
        zip(lines, [authors._renamed(authors.random.Random(number), line) for number, line in enumerate(lines)], strict=True)
    )

    def with_difflib() -> None:
        for old, new in pairs:
            difflib.SequenceMatcher(None, _TOKEN.findall(old), _TOKEN.findall(new)).get_opcodes()

    best: dict[str, float] = {}
    for _ in range(5):
        for name, work in {
            "ours, marks and all": lambda: [between(old, new) for old, new in pairs],
            "difflib on tokens": with_difflib,
            "likeness, ours": lambda: [likeness(old, new) for old, new in pairs],
            "likeness, difflib": lambda: [difflib.SequenceMatcher(None, old, new).ratio() for old, new in pairs[:200]],
            "engine on letters": lambda: [Indel.opcodes(old, new) for old, new in pairs],
        }.items():
            count = 200 if name == "likeness, difflib" else len(pairs)
            best[name] = min(best.get(name, float("inf")), timed_ms(work) * 1000 / count)
    print("words of one pair of lines, microseconds")
    print("    " + "   ".join(f"{name} {micros:.1f}" for name, micros in best.items()))
    faster = best["difflib on tokens"] / best["ours, marks and all"]
    return said(faster >= 1, f"words {faster:.1f}x faster than difflib on the same tokens")


def run() -> bool:
    """Print the figures; whether every aim was met."""
    good = [lines_table(), quality_table(), words_table(), diff_open.run()]
    print("9.2 and 9.3")
    return all([*good, diff_view.run()])
