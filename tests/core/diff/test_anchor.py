"""Lines that were spoken of are found again after the file changed, or nowhere; never in a wrong place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.diff.strategies import edited, sides
from vibekit_desktop.core.diff.anchor import Anchor, find_block, lines_of

OLD = [f"line {number}" for number in range(1, 31)]


def after(new: list[str], first: int, last: int, old: list[str] = OLD) -> tuple[int, int] | None:
    before, now = (("\n".join(lines) + "\n").encode() if lines else b"" for lines in (old, new))
    return Anchor(before, now).find(first, last)


@pytest.mark.parametrize(
    ("new", "lines", "wanted"),
    [
        (OLD, (3, 5), (3, 5)),
        (["new", *OLD], (3, 5), (4, 6)),
        ([*OLD, "new"], (29, 30), (29, 30)),
        (OLD[2:], (3, 5), (1, 3)),
        ([*OLD[:3], "put between", *OLD[3:]], (3, 5), (3, 6)),
        ([*OLD[:2], "put before", *OLD[2:]], (3, 5), (4, 6)),
        ([*OLD[:5], "put after", *OLD[5:]], (3, 5), (3, 5)),
        ([*OLD[:3], "changed", *OLD[4:]], (3, 5), (3, 5)),
        ([*OLD[:2], "changed", *OLD[3:]], (3, 5), (3, 5)),
        ([*OLD[:2], "changed", *OLD[3:]], (3, 3), None),
        (OLD[:2] + OLD[5:], (3, 5), None),
        ([*OLD[:2], "other", "lines", *OLD[4:]], (3, 5), None),
        (OLD[:10] + OLD[15:] + OLD[10:15], (11, 15), (26, 30)),
        (OLD[:10] + OLD[15:] + [f"    {line}" for line in OLD[10:15]], (11, 15), (26, 30)),
        ([], (1, 1), None),
    ],
)
def test_lines_go_where_they_went(new: list[str], lines: tuple[int, int], wanted: tuple[int, int] | None) -> None:
    assert after(new, *lines) == wanted


def test_a_brace_among_many_is_found_by_what_stands_around_it_or_not_at_all() -> None:
    old = ["a {", "  one", "}", "b {", "  two", "}"]
    assert after(["x", *old], 6, 6, old) == (7, 7)
    assert find_block(["}", "}", "}"], ["}"], near=9) is None
    assert find_block(["}", "}", "}"], ["}"], near=2) == (2, 2)
    assert find_block(["}"], ["}"], near=9) is None, "one brace is as good as another"
    assert find_block(["return found"], ["return found"], near=9) == (1, 1)
    assert find_block(["a", "}", "b", "}"], ["}"], near=9, above=["b"]) == (4, 4)
    assert find_block(["}", "x"], ["}"], near=9, below=["x"]) == (1, 1)
    assert find_block(["a"], [], near=1) is None
    assert find_block([], ["a"], near=1) is None


@pytest.mark.parametrize("lines", [(0, 1), (2, 1), (1, 99), (31, 31), (-1, -1)])
def test_lines_that_never_were_are_nowhere(lines: tuple[int, int]) -> None:
    assert after(OLD, *lines) is None


def test_what_is_no_text_has_no_lines() -> None:
    assert lines_of(b"\0") is None
    assert lines_of(None) is None
    assert lines_of(b"") == ()
    assert Anchor(b"\0", b"a\n").find(1, 1) is None
    assert Anchor(b"a\n", b"\0").find(1, 1) is None
    assert Anchor(b"\r\n".join([b"one", b"two"]), "one\ntwo\n".encode("utf-16")).find(2, 2) == (2, 2)
    assert all(char < "\ud800" or char > "\udfff" for char in "".join(lines_of(b"caf\xc3\xa9 \xc3\xa9 \xff\n") or ()))


@given(change=edited(), data=st.data())
def test_lines_outside_of_every_change_are_found_as_they_are(change: tuple[list[str], list[str]], data: st.DataObject) -> None:
    old, new = change
    if not old or not new:
        return
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    place = after(new, first, last, old)
    if place is None:
        return
    assert 1 <= place[0] <= place[1] <= len(new)
    wanted = [" ".join(line.split()) for line in old[first - 1 : last] if line.strip()]
    there = [" ".join(line.split()) for line in new[place[0] - 1 : place[1]]]
    kept = [line for line in wanted if line in there]
    assert 2 * len(kept) >= len(wanted), "at least half of what was spoken of is there"


@given(pair=sides(), first=st.integers(-1, 30), count=st.integers(0, 5))
def test_any_two_contents_give_a_place_inside_or_none(pair: tuple[bytes | None, bytes | None], first: int, count: int) -> None:
    old, new = (one or b"" for one in pair)
    place = Anchor(old, new).find(first, first + count)
    lines = lines_of(new) or ()
    assert place is None or 1 <= place[0] <= place[1] <= len(lines)
    own = lines_of(old) or ()
    if 1 <= first <= first + count <= len(own):
        assert Anchor(old, old).find(first, first + count) == (first, first + count)
