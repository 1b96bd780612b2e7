"""The hunks are those that an author would draw, as often as git's are, and no more lines are changed than with git."""

import random
import shutil
from pathlib import Path

import pytest

from tests.core.diff.authors import by_git, edited, source, text
from vibekit_desktop.core.diff.lines import Change, changes, counted
from vibekit_desktop.core.diff.text import comparable, read
from vibekit_desktop.core.types.diffs import Compare, Ignore

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

_OPTIONS = {
    Ignore.NOTHING: (),
    Ignore.END_OF_LINE: ("--ignore-space-at-eol",),
    Ignore.AMOUNT: ("-b",),
    Ignore.ALL: ("-w",),
}


def exact(found: list[Change], hunks: list[Change]) -> float:
    """How many percent of the author's hunks were found with just those bounds."""
    return 100 * len(set(found) & set(hunks)) / len(hunks)


def changed_lines(found: list[Change]) -> int:
    return sum(one.old_end - one.old_start + one.new_end - one.new_start for one in found)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_authors_hunks_are_found_as_often_as_git_finds_them(tmp_path: Path, seed: int) -> None:
    lines = source(10_000, start=seed * 40)
    new, hunks = edited(lines, 500, seed)
    ours = exact(changes(text(lines), text(new)), hunks)
    theirs = exact(by_git(tmp_path, text(lines), text(new), "--histogram"), hunks)
    assert ours >= theirs - 0.5
    assert ours > 90


def test_a_file_of_blank_lines_has_no_more_changed_lines_than_with_git(tmp_path: Path) -> None:
    dice = random.Random(3)
    lines = [""] * 10_000
    new = list(lines)
    for at in sorted(dice.sample(range(10_000), 20), reverse=True):
        new[at : at + dice.randint(0, 1)] = [f"word {at}"] * dice.randint(0, 2)
    old_text, new_text = text(lines), text(new)
    assert changed_lines(changes(old_text, new_text)) <= changed_lines(by_git(tmp_path, old_text, new_text, "--histogram"))


def test_brace_soup_has_no_more_changed_lines_than_with_git(tmp_path: Path) -> None:
    dice = random.Random(4)
    lines = [dice.choice(("", "}", "    }", "        }")) for _ in range(10_000)]
    new = list(lines)
    for at in sorted(dice.sample(range(10_000), 100), reverse=True):
        new[at] = f"call({at});"
    old_text, new_text = text(lines), text(new)
    assert changed_lines(changes(old_text, new_text)) <= changed_lines(by_git(tmp_path, old_text, new_text, "--histogram"))


def blanks_changed(dice: random.Random, line: str) -> str:
    """The line with other blanks somewhere."""
    match dice.randrange(4):
        case 0:
            return line + dice.choice((" ", "\t", "  "))
        case 1:
            return line.replace(" ", "  ")
        case 2:
            return line.replace(" ", "")
        case _:
            return "  " + line


@pytest.mark.parametrize("ignore", list(Ignore))
@pytest.mark.parametrize("blank_lines", [False, True])
def test_what_is_ignored_is_what_git_ignores(tmp_path: Path, ignore: Ignore, blank_lines: bool) -> None:
    dice = random.Random(5)
    lines = source(3_000, start=9)
    new, _ = edited(lines, 40, 6)
    for at in sorted(dice.sample(range(len(new)), 300), reverse=True):
        if dice.random() < 0.5:
            new[at] = blanks_changed(dice, new[at])
        else:
            new[at:at] = [dice.choice(("", "", "   "))] * dice.randint(1, 2)
    old_text, new_text = text(lines), text(new)
    before, after = read(old_text), read(new_text)
    assert before is not None
    assert after is not None
    found, _ = counted(*comparable(before, after, Compare(ignore)), blank_lines=blank_lines)
    options = (*_OPTIONS[ignore], *(["--ignore-blank-lines"] if blank_lines else []))
    theirs = by_git(tmp_path, old_text, new_text, "--patience", *options)
    assert abs(changed_lines(found) - changed_lines(theirs)) <= changed_lines(theirs) * 0.02
