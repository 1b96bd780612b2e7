"""Which file that is gone became which file that came."""

import pytest

from vibekit_desktop.core.diff import renames as module
from vibekit_desktop.core.diff.renames import LARGEST, Candidate, renamed


def file(path: str, data: bytes | None, sha: str = "") -> Candidate:
    return Candidate(path, sha or repr(data), None if data is None else len(data), lambda: data)


def unread(path: str, sha: str, size: int) -> Candidate:
    def read() -> bytes:
        raise AssertionError(f"{path} was read")

    return Candidate(path, sha, size, read)


TEXT = b"".join(b"line %d of it\n" % number for number in range(20))
EDITED = TEXT.replace(b"line 3 ", b"line three ")
OTHER = b"".join(b"something else %d\n" % number for number in range(20))


def test_equal_content_is_the_same_file() -> None:
    assert renamed([file("a", TEXT), file("b", OTHER)], [file("c", OTHER)], {}) == {"c": "b"}


def test_content_that_is_not_to_be_had_is_paired_by_its_name_alone() -> None:
    assert renamed([file("a", None, "x")], [file("b", None, "x"), file("c", None, "y")], {}) == {"b": "a"}


def test_of_several_equal_files_the_one_with_the_same_name_is_taken() -> None:
    gone = [file("one/a.py", TEXT), file("two/b.py", TEXT)]
    assert renamed(gone, [file("three/b.py", TEXT), file("three/a.py", TEXT)], {}) == {
        "three/b.py": "two/b.py",
        "three/a.py": "one/a.py",
    }


def test_half_of_the_text_is_enough() -> None:
    assert renamed([file("a", TEXT)], [file("b", EDITED)], {}) == {"b": "a"}
    half = b"".join(TEXT.splitlines(keepends=True)[:10])
    assert renamed([file("a", TEXT)], [file("b", half + OTHER)], {}) == {}
    assert renamed([file("a", TEXT)], [file("b", half)], {}) == {}
    assert renamed([file("a", TEXT)], [file("b", OTHER)], {}) == {}


def test_the_most_alike_are_paired_first() -> None:
    more = EDITED.replace(b"line 5 ", b"line five ")
    assert renamed([file("a", TEXT)], [file("b", more), file("c", EDITED)], {}) == {"c": "a"}
    assert renamed([file("a", TEXT), file("z", OTHER)], [file("b", more), file("c", EDITED)], {}) == {"c": "a"}


def test_a_file_that_went_deeper_keeps_its_name() -> None:
    assert renamed([file("a.py", TEXT), file("b.py", TEXT)], [file("src/b.py", TEXT)], {}) == {"src/b.py": "b.py"}


def test_empty_files_are_nobodys_other_name() -> None:
    assert renamed([file("a", b"")], [file("b", b"")], {}) == {}


def test_what_was_told_is_believed() -> None:
    assert renamed([file("a", TEXT), file("b", TEXT)], [file("c", OTHER)], {"c": "b"}) == {"c": "b"}
    assert renamed([file("a", TEXT)], [file("c", OTHER)], {"c": "not gone"}) == {}


def test_large_files_are_paired_by_equal_content_only() -> None:
    large = b"x\n" * LARGEST
    assert renamed([file("a", large)], [file("b", large + b"y\n")], {}) == {}
    assert renamed([file("a", large)], [file("b", large)], {}) == {"b": "a"}


def test_the_search_ends_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [file(f"old{number}", b"%d\n" % number + TEXT) for number in range(30)]
    came = [file(f"new{number}", b"%d!\n" % number + TEXT) for number in range(30)]
    assert len(renamed(gone, came, {})) == 30
    monkeypatch.setattr(module, "MOST_STEPS", 100)
    assert len(renamed(gone, came, {})) == 1


def test_nothing_is_read_that_a_record_or_equal_content_decides() -> None:
    gone = [unread("a", "one", 9), unread("b", "two", 9)]
    assert renamed(gone, [unread("c", "one", 9), unread("d", "three", 9)], {"d": "b"}) == {"c": "a", "d": "b"}
    assert renamed([], [unread("c", "one", 9)], {}) == {}
    assert renamed([unread("a", "one", 9)], [], {}) == {}
    assert renamed([unread("a", "one", LARGEST + 1)], [unread("c", "two", LARGEST + 1)], {}) == {}


def test_what_is_held_at_a_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [file("a", TEXT), file("b", OTHER)]
    came = [file("c", EDITED), file("d", OTHER + b"end\n")]
    assert renamed(gone, came, {}) == {"c": "a", "d": "b"}
    monkeypatch.setattr(module, "MOST_HELD", len(TEXT) + 1)
    assert renamed(gone, came, {}) == {"c": "a"}
