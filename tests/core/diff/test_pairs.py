"""Which deleted line became which added line."""

from hypothesis import given
from hypothesis import strategies as st

from tests.core.diff.strategies import LINE
from vibekit_desktop.core.diff.pairs import likeness, pairs


def test_a_line_continued_is_the_same_line() -> None:
    assert pairs(["x"], ["x = compute(first, second)"]) == [(0, 0)]


def test_a_rewritten_line_has_no_partner() -> None:
    assert pairs(["for item in basket:"], ["raise RuntimeError"]) == []
    assert likeness("", "text") == 0
    assert likeness("", "") == 1


def test_indentation_does_not_count() -> None:
    assert pairs(["return x"], ["                return x"]) == [(0, 0)]


def test_in_large_blocks_lines_without_a_partner_are_passed_over() -> None:
    old = [f"alpha_{n} = load({n})" for n in range(100)]
    new = [f"alpha_{n} = load({n}, 1)" for n in range(50)] + ["%%%"] * 5 + [f"alpha_{n} = load({n}, 1)" for n in range(50, 100)]
    old[10] = "######################"
    found = pairs(old, new)
    assert (9, 9) in found
    assert (11, 11) in found
    assert (99, 104) in found
    assert all(i != 10 for i, _ in found)


@given(st.lists(LINE, max_size=90), st.lists(LINE, max_size=90))
def test_pairs_rise_on_both_sides_and_are_alike(old: list[str], new: list[str]) -> None:
    last = (-1, -1)
    for i, j in pairs(old, new):
        assert last[0] < i < len(old)
        assert last[1] < j < len(new)
        assert likeness(old[i].strip(), new[j].strip())
        last = (i, j)
