"""The merge of three texts: beside the real ``git merge-file``, beside a reference that knows lines by name, and by hand."""

import itertools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.diff.strategies import LINE
from tests.helpers.merge_model import reference, segments
from vibekit_desktop.core.diff.merge import Merge, merge
from vibekit_desktop.core.diff.touched import last_to_touch

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

Texts = tuple[bytes, bytes, bytes]


def merged(base: bytes, ours: bytes, theirs: bytes) -> Merge:
    found = merge(base, ours, theirs)
    assert found is not None
    return found


def git(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """What ``git merge-file`` makes of it; None for a conflict."""
    for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(data)
    run = subprocess.run(["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=folder, capture_output=True, check=False)
    assert run.returncode < 128, run.stderr
    return run.stdout if run.returncode == 0 else None


# -- beside git ------------------------------------------------------------------------------------------------------


@st.composite
def few_letters(draw: st.DrawFn) -> Texts:
    """Three texts of a few different lines: every alignment is ambiguous."""
    line = st.sampled_from("abcd"[: draw(st.integers(1, 4))])
    texts = draw(st.tuples(*[st.lists(line, max_size=12)] * 3))
    base, ours, theirs = ("".join(f"{one}\n" for one in lines).encode() for lines in texts)
    return base, ours, theirs


@st.composite
def edited_twice(draw: st.DrawFn) -> Texts:
    """A text, and two edits of it; any of them may lack its final newline."""
    base = draw(st.lists(LINE, max_size=25))

    def edit() -> list[str]:
        new = list(base)
        for _ in range(draw(st.integers(0, 4))):
            at = draw(st.integers(0, len(new)))
            new[at : at + draw(st.integers(0, 3))] = draw(st.lists(LINE, max_size=3))
        return new

    def written(lines: list[str]) -> bytes:
        return "\n".join([*lines, *draw(st.sampled_from([[""], [""], [""], []]))]).encode() if lines else b""

    return written(base), written(edit()), written(edit())


@needs_git
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.one_of(few_letters(), edited_twice()))
def test_what_git_merges_is_merged_alike_and_what_it_does_not_only_where_it_is_said(tmp_path: Path, texts: Texts) -> None:
    found, theirs = merged(*texts), git(tmp_path, *texts)
    if theirs is not None:
        assert not found.overlaps
        assert found.result() == theirs
    elif not found.overlaps:
        beside = any(part.beside for part in found.parts)
        ended: Texts = tuple(text if not text or text.endswith(b"\n") else text + b"\n" for text in texts)  # type: ignore[assignment]  # three, as before
        if not beside:
            # The final newline is merged by itself: with all of them git says the same.
            assert ended != texts
            assert git(tmp_path, *ended) == _with_newline(found.result())


def _with_newline(text: bytes) -> bytes:
    return text if not text or text.endswith(b"\n") else text + b"\n"


@needs_git
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=edited_twice(), ends=st.tuples(*[st.sampled_from([b"\n", b"\r\n"])] * 3))
def test_with_other_line_ends_the_lines_are_merged_as_git_merges_them_with_equal_ones(
    tmp_path: Path, texts: Texts, ends: tuple[bytes, bytes, bytes]
) -> None:
    plain: Texts = tuple(_with_newline(text.replace(b"\r", b"")) for text in texts)  # type: ignore[assignment]  # three, as before
    base, ours, theirs = (text.replace(b"\n", end) for text, end in zip(plain, ends, strict=True))
    found, expected = merged(base, ours, theirs), git(tmp_path, *plain)
    if expected is not None:
        assert not found.overlaps
        assert found.result().replace(b"\r\n", b"\n") == expected
    texts_of_one_kind = all(b"\n" in text for text in plain)
    if texts_of_one_kind and found.result() not in (base, ours, theirs):
        end = ends[2] if ends[1] == ends[0] else ends[1]
        assert found.result() == found.result().replace(b"\r\n", b"\n").replace(b"\n", end)


# -- beside a reference ----------------------------------------------------------------------------------------------


@st.composite
def named_lines(draw: st.DrawFn) -> tuple[list[str], list[str], list[str]]:
    """A text whose lines are all different, and two edits of it that add lines nobody else has: alignments are certain."""
    base = [f"b{number}" for number in range(draw(st.integers(0, 10)))]
    fresh = itertools.count()

    def edit() -> list[str]:
        new = list(base)
        for _ in range(draw(st.integers(0, 4))):
            at = draw(st.integers(0, len(new)))
            added = [f"n{next(fresh)}" for _ in range(draw(st.integers(0, 2)))]
            new[at : at + draw(st.integers(0, 2))] = added
        return new

    return base, edit(), edit()


@given(named_lines(), st.randoms(use_true_random=False))
def test_lines_with_names_are_merged_as_a_reference_merges_them_whatever_is_decided(
    texts: tuple[list[str], list[str], list[str]], chance: "st.Random"
) -> None:
    base, ours, theirs = (("\n".join([*lines, ""])).encode() if lines else b"" for lines in texts)
    found = merged(base, ours, theirs)
    cut = segments(*texts)
    asked = [one for one in cut if reference(one) is None]
    assert len(found.overlaps) == len(asked)
    undo = {number for number in range(len(asked)) if chance.random() < 0.5}
    expected: list[str] = []
    number = -1
    for one in cut:
        lines = reference(one)
        if lines is None:
            number += 1
            lines = one[2] if number in undo else one[1]
        expected += lines
    assert found.result(undo).decode().split("\n")[:-1] == expected
    for part, one in zip(found.overlaps, asked, strict=True):
        assert found.texts(part)[:2] == (tuple(one[1]), tuple(one[2]))
        assert set(found.texts(part)[2]) <= set(one[0])


# -- by hand -----------------------------------------------------------------------------------------------------------


def lines(*words: str, end: str = "\n") -> bytes:
    return "".join(word + end for word in words).encode()


def test_lines_added_directly_below_those_that_go_stay_without_a_question() -> None:
    base, ours, theirs = lines("a", "A1", "A2"), lines("a", "A1", "A2", "B1"), lines("a")
    found = merged(base, ours, theirs)
    assert found.result() == lines("a", "B1")
    assert any(part.beside for part in found.parts)


def test_a_line_changed_beside_a_changed_line_is_asked_about() -> None:
    """As git does: two edits side by side are too close to be told apart."""
    found = merged(lines("a", "b", "c"), lines("a", "b2", "c"), lines("a", "b", "c2"))
    (overlap,) = found.overlaps
    assert found.texts(overlap) == (("b2", "c"), ("b", "c2"), ("b", "c"))


def test_lines_that_come_at_one_place_from_both_sides_are_asked_about() -> None:
    found = merged(lines("a", "z"), lines("a", "new", "z"), lines("a", "old", "z"))
    assert [found.texts(part)[:2] for part in found.overlaps] == [(("new",), ("old",))]
    assert found.result() == lines("a", "new", "z")
    assert found.result({0}) == lines("a", "old", "z")


def test_an_overlap_is_only_as_large_as_what_differs() -> None:
    found = merged(lines("1", "2", "3"), lines("1", "x", "y", "q"), lines("1", "x", "z", "q"))
    (overlap,) = found.overlaps
    assert found.texts(overlap) == (("y",), ("z",), ("2", "3"))
    assert overlap.ours == (2, 3)


def test_a_file_whose_line_ends_were_changed_since_keeps_them() -> None:
    base, theirs = lines("a", "turn", "c", "d"), lines("a", "old", "c", "d")
    ours = lines("a", "turn", "c", "mine", end="\r\n")
    assert merged(base, ours, theirs).result() == lines("a", "old", "c", "mine", end="\r\n")


def test_line_ends_that_the_change_itself_made_go_back_with_it() -> None:
    base, theirs = lines("a", "b", "c", end="\r\n"), lines("a", "b", "c")
    ours = lines("a", "b", "mine", end="\r\n")
    assert merged(base, ours, theirs).result() == lines("a", "b", "mine")


def test_where_only_some_line_ends_were_changed_each_line_keeps_its_own() -> None:
    base, theirs = lines("a", "turn", "c", "d", "e"), lines("a", "old", "c", "d", "e")
    ours = b"a\r\nturn\r\nc\nd\ne\n"
    assert merged(base, ours, theirs).result() == b"a\r\nold\nc\nd\ne\n"


def test_a_file_of_carriage_returns_has_lines_too() -> None:
    words = (("a", "turn", "c", "d"), ("a", "turn", "c", "mine"), ("a", "c", "d"))
    base, ours, theirs = (lines(*one, end="\r") for one in words)
    assert merged(base, ours, theirs).result() == lines("a", "c", "mine", end="\r")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        (b"a\nturn", b"a\nturn\n", b"old\nturn", b"old\nturn\n"),
        (b"a\nb\nturn\n", b"mine\nb\nturn\n", b"a\nb\nturn", b"mine\nb\nturn"),
        (b"", b"mine\n", b"", b"mine\n"),
        (b"turn\n", b"turn\n", b"", b""),
        (b"turn", b"turn", b"old\n", b"old\n"),
    ],
)
def test_the_final_newline_is_merged_by_itself(base: bytes, ours: bytes, theirs: bytes, expected: bytes) -> None:
    assert merged(base, ours, theirs).result() == expected


BOM = b"\xef\xbb\xbf"


def test_a_byte_order_mark_is_no_line() -> None:
    base, theirs = lines("turn", "b", "c"), lines("old", "b", "c")
    assert merged(base, BOM + lines("turn", "b", "mine"), theirs).result() == BOM + lines("old", "b", "mine")
    assert merged(BOM + base, BOM + lines("turn", "b", "mine"), theirs).result() == lines("old", "b", "mine")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_characters_are_merged_by_lines_and_stay_wide(encoding: str) -> None:
    base, ours, theirs = ("a\nĊturn\nc\nd\n", "a\nĊturn\nc\nmine ਊ\n", "a\nċold\nc\nd\n")
    found = merged(*(text.encode(encoding) for text in (base, ours, theirs)))
    assert found.result() == "a\nċold\nc\nmine ਊ\n".encode(encoding)


def test_a_file_that_was_recoded_since_is_still_merged() -> None:
    base, ours, theirs = "é turn\nb\nc\n".encode(), "é turn\nb\nmine\n".encode("utf-16"), "é old\nb\nc\n".encode()
    assert merged(base, ours, theirs).result() == "é old\nb\nmine\n".encode("utf-16")


def test_bytes_that_are_no_text_have_no_lines_to_merge() -> None:
    assert merge(b"a\n", b"a\0\n", b"b\n") is None
    assert merge(b"\0\1\2", b"\0\1\3", b"\0\1\4") is None


def test_a_large_text_is_merged_in_a_moment_and_right() -> None:
    base = [f"line {number}" for number in range(200_000)]
    ours, theirs = list(base), list(base)
    ours[10:12], theirs[150_000:150_001] = ["mine"], ["old", "older"]
    found = merged(*(lines(*one) for one in (base, ours, theirs)))
    expected = list(base)
    expected[150_000:150_001], expected[10:12] = ["old", "older"], ["mine"]
    assert found.result() == lines(*expected)


# -- who was it ------------------------------------------------------------------------------------------------------


def touched(first: int, last: int, *texts: Sequence[str]) -> int | None:
    return last_to_touch([lines(*one) for one in texts], first, last)


def test_the_last_change_of_some_lines_is_found_wherever_they_moved() -> None:
    texts = ["abc", "xabc", "xaBc", "xaBcd", "yyxaBcd"]
    assert touched(1, 2, *texts) == 2
    assert touched(0, 1, *texts) == 2  # never changed itself; the line directly below it was
    assert touched(2, 3, *texts) == 3
    assert touched(1, 2, *texts[:2]) is None


def test_a_place_between_lines_is_touched_by_what_comes_there() -> None:
    assert touched(1, 1, "ab", "aXb", "aXbc") == 1
    assert touched(1, 1, "ab", "aXb", "aYb") == 2


def test_line_ends_are_nobodys_change_of_a_line() -> None:
    assert last_to_touch([b"a\nb\n", b"a\nB\n", b"a\r\nB\r\n"], 1, 2) == 1
