"""Which deleted line became which added line."""

from hypothesis import given
from hypothesis import strategies as st

from tests.core.diff.strategies import LINE
from vibekit_desktop.core.diff.pairs import Room, likeness, pairs


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


def test_where_there_is_no_room_left_lines_have_no_partner() -> None:
    lines = [f"value_{number} = load({number})" for number in range(12)]
    changed = [line + "  # so" for line in lines]
    assert pairs(lines, changed, Room()) == [(number, number) for number in range(12)]
    room = Room(large=150, small=10)
    assert len(pairs(lines, changed, room)) == 12
    assert pairs(lines, changed, room) == []
    assert len(pairs(lines[:2], changed[:2], room)) == 2, "small blocks have room of their own"
    assert pairs(lines[:3], changed[:3], room) == []
