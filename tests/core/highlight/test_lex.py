"""Colours for a text by its file name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.core.highlight.lex import LARGEST_TEXT, LONGEST_LINE, lex
from vibekit_desktop.core.types.diffs import STYLE_NAMES, StyleRuns


def pieces(runs: StyleRuns, lines: list[str]) -> list[list[tuple[str, str]]]:
    """For each line its pieces with the names of their styles."""
    found = []
    for number, line in enumerate(lines):
        first, last = runs.offsets[number], runs.offsets[number + 1]
        ends = [*runs.starts[first + 1 : last], len(line)][: last - first]
        found.append(
            [(line[runs.starts[k] : end], STYLE_NAMES[runs.kinds[k]]) for k, end in zip(range(first, last), ends, strict=True)]
        )
    return found


def check(runs: StyleRuns, lines: list[str]) -> None:
    assert len(runs.offsets) == len(lines) + 1
    assert runs.offsets[0] == 0
    assert runs.offsets[-1] == len(runs.starts) == len(runs.kinds)
    for number, line in enumerate(lines):
        starts = list(runs.starts[runs.offsets[number] : runs.offsets[number + 1]])
        assert starts == sorted(set(starts))
        assert bool(starts) == bool(line)
        if line:
            assert starts[0] == 0
            assert starts[-1] < len(line)
    assert all(kind < len(STYLE_NAMES) for kind in runs.kinds)


def test_python_has_its_words_coloured() -> None:
    lines = ["def load(path):  # why", '    return "text" + str(12)']
    runs = lex("src/load.py", lines)
    assert runs is not None
    check(runs, lines)
    first, second = pieces(runs, lines)
    assert ("def", "keyword") in first
    assert ("load", "function") in first
    assert ("# why", "comment") in first
    assert ('"text"', "string") in second
    assert ("12", "number") in second


def test_a_string_over_several_lines_starts_again_on_every_line() -> None:
    lines = ['"""one', "", 'two"""', "x"]
    runs = lex("a.py", lines)
    assert runs is not None
    check(runs, lines)
    assert pieces(runs, lines)[0] == [('"""one', "string")]
    assert pieces(runs, lines)[1] == []
    assert pieces(runs, lines)[2] == [('two"""', "string")]


@pytest.mark.parametrize("name", ["notes.txt", "data.unknown-thing", "no_ending", ""])
def test_a_name_without_a_lexer_is_plain(name: str) -> None:
    assert lex(name, ["def a(): pass"]) is None


def test_a_text_over_the_limits_is_plain() -> None:
    assert lex("a.py", ["x" * (LONGEST_LINE + 1)]) is None
    assert lex("a.py", ["x" * 1000] * (LARGEST_TEXT // 1000)) is None
    assert lex("a.py", ["x" * LONGEST_LINE]) is not None


def test_a_text_without_lines_is_plain() -> None:
    assert lex("a.py", []) is None
    assert lex("a.py", ["", ""]) is not None


@given(
    st.sampled_from(
        ["a.py", "a.ts", "a.md", "a.html", "a.c", "a.json", "a.yaml", "a.php", "a.diff", "Makefile", "a.toml", "a.sh"]
    ),
    st.lists(
        st.one_of(
            st.sampled_from(
                ["def a():", '"""', "/* x", "*/", "<b>", "```", "- x", "}", "\tx", "'", "<?php", "a\rb", "{%", "# T"]
            ),
            st.text(st.characters(exclude_characters="\n"), max_size=8),
        ),
        min_size=1,
        max_size=12,
    ),
)
def test_every_line_is_covered_whatever_the_text(name: str, lines: list[str]) -> None:
    runs = lex(name, lines)
    if runs is not None:
        check(runs, lines)


@pytest.mark.parametrize(
    ("first_line", "coloured"),
    [
        ("#!/usr/bin/env python3", True),
        ("#! /bin/sh -e", True),
        ("#!/usr/bin/env -S NODE_ENV=test node --harmony", True),
        ("#!/opt/nothing/known", False),
        ("# /bin/sh", False),
        ("", False),
    ],
)
def test_a_file_without_an_ending_is_known_by_its_interpreter(first_line: str, coloured: bool) -> None:
    assert (lex("bin/tool", [first_line, "a = 1"]) is not None) == coloured
    assert lex("bin/tool.unknown", [first_line, "a = 1"]) is None
