"""Some hunks of a diff taken back: any set of them, byte by byte."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.diff.strategies import content, edited
from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.diff.inverse import taken_back
from vibekit_desktop.core.types.diffs import DiffDocument


def document(old: bytes, new: bytes) -> DiffDocument:
    found = build(old, new, limits=UNLIMITED)
    assert isinstance(found, DiffDocument)
    return found


def back(old: bytes, new: bytes, *hunks: int) -> bytes | None:
    return taken_back(old, new, document(old, new), hunks)


@given(edited().flatmap(lambda texts: st.tuples(content(texts[0]), content(texts[1]))), st.sets(st.integers(0, 9)))
def test_any_set_of_hunks_is_taken_back_as_a_patch_would(sides: tuple[bytes | None, bytes | None], chosen: set[int]) -> None:
    """The reference knows only the four numbers of each hunk."""
    old, new = sides
    assume(old is not None and new is not None and old != new)
    assert old is not None
    assert new is not None
    found = build(old, new, limits=UNLIMITED)
    assume(isinstance(found, DiffDocument))
    assert isinstance(found, DiffDocument)
    hunks = {number for number in chosen if number < len(found.hunks)}
    expected = list(found.new.lines)
    for number in sorted(hunks, reverse=True):
        hunk = found.hunks[number]
        at = hunk.new_start - (1 if hunk.new_lines else 0)
        was = hunk.old_start - (1 if hunk.old_lines else 0)
        expected[at : at + hunk.new_lines] = found.old.lines[was : was + hunk.old_lines]
    result = taken_back(old, new, found, hunks)
    assert result is not None
    assert taken_back(old, new, found, ()) == new
    again = build(result, new, limits=UNLIMITED)
    shown = again.old.lines if isinstance(again, DiffDocument) else found.new.lines
    assert list(shown) == expected


def text(*lines: str, end: str = "\n") -> bytes:
    return "".join(line + end for line in lines).encode()


OLD = text(*"abcdefghijklmnopqrst")
NEW = OLD.replace(b"b\n", b"B\nB2\n").replace(b"k\n", b"").replace(b"t\n", b"T\n")


def test_one_hunk_goes_and_the_others_stay() -> None:
    assert len(document(OLD, NEW).hunks) == 3
    assert back(OLD, NEW, 0) == NEW.replace(b"B\nB2\n", b"b\n")
    assert back(OLD, NEW, 1) == NEW.replace(b"j\n", b"j\nk\n")
    assert back(OLD, NEW, 2) == NEW.replace(b"T\n", b"t\n")
    assert back(OLD, NEW, 0, 1, 2) == OLD


def test_line_ends_are_a_note_and_stay_as_they_became() -> None:
    new = NEW.replace(b"\n", b"\r\n")
    assert back(OLD, new, 0) == NEW.replace(b"B\nB2\n", b"b\n").replace(b"\n", b"\r\n")
    assert back(OLD, new, 0, 1, 2) == OLD.replace(b"\n", b"\r\n")


@pytest.mark.parametrize(
    ("old", "new"), [(OLD, NEW + b"no end"), (OLD[:-1], NEW), (OLD[:-1], NEW[:-1]), (OLD, b"x"), (b"x", NEW)]
)
def test_the_last_hunk_brings_the_end_of_the_file_back(old: bytes, new: bytes) -> None:
    found = document(old, new)
    assert back(old, new, *range(len(found.hunks))) == old
    if len(found.hunks) > 1:
        first = back(old, new, 0)
        assert first is not None
        assert first.endswith(b"\n") == new.endswith(b"\n")


def test_a_hunk_of_a_recoded_file_comes_back_in_the_new_encoding() -> None:
    old, new = "é\nb\nold\n".encode(), "é\nb\nnew\n".encode("utf-16")
    assert back(old, new, 0) == "é\nb\nold\n".encode("utf-16")


def test_bytes_that_would_mean_something_else_are_not_put_into_a_text() -> None:
    assert back("à é old\n".encode("latin-1"), "à é new\n".encode(), 0) is None
