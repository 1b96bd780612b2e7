"""Scenarios 73 to 84 of the specification: what differs between two points, and in how many lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.checkpoint.scenarios.session import Session
from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.checkpoint.timeline import status_of
from vibekit_desktop.core.diff.lines import count
from vibekit_desktop.core.diff.text import read
from vibekit_desktop.core.types.checkpoints import FileState, State, parse_point
from vibekit_desktop.core.types.errors import PointNotFound


def diff(world: World, old: str, new: str) -> list[tuple[str, str, tuple[int, int] | None]]:
    """Letter, path, lines added and removed of every file of chat A."""
    found = world.kernel.changed_between(A, parse_point(old), parse_point(new))
    return [
        (status_of(before, after).value, path, count(content(world, before), content(world, after)))
        for path, before, after in found
    ]


def content(world: World, state: FileState) -> bytes | None:
    return None if state.state is State.ABSENT else world.kernel.read_state(state)


def test_73_a_file_that_grew_by_a_line(world: World) -> None:
    world.write("f", b"1\n")
    world.turn({"f": b"1\n2\n"})
    world.turn({"f": b"1\n2\n3\n"})
    assert diff(world, "1", "2") == [("M", "f", (1, 0))]


def test_74_a_file_that_is_only_there_at_the_second_tag(session: Session) -> None:
    session.turn({"other": b"x"})
    session.world.write("f", b"1\n")
    session.turn({"f": b"1\n2\n"})
    assert diff(session.world, "1", "2") == [("A", "f", (1, 0)), ("A", "other", (1, 0))]


def test_75_a_file_that_is_gone_at_the_second_tag(world: World) -> None:
    world.write("f", b"1\n2\n")
    world.turn({"f": b"1\n3\n"})
    world.turn({"f": None})
    world.turn({"f": b"again"})
    assert diff(world, "1", "3") == [("D", "f", (0, 2))]


def test_76_the_other_way_round_everything_is_turned_round(world: World) -> None:
    """The original swaps the tags silently; ours answers what was asked: what leads from the first to the second."""
    world.turn({"f": b"1\n", "g": b"1\n"})
    world.turn({"f": b"1\n2\n", "g": None})
    world.turn({"f": b"x", "g": b"x"})
    assert diff(world, "2", "3") == [("M", "f", (1, 0)), ("D", "g", (0, 1))]
    assert diff(world, "3", "2") == [("M", "f", (0, 1)), ("A", "g", (1, 0))]


@pytest.mark.parametrize(("old", "new"), [("1", "7"), ("7", "1"), ("1.0", "1"), ("01", "1")])
def test_77_an_unknown_tag_is_refused_by_its_name(world: World, old: str, new: str) -> None:
    world.turn({"f": b"1"})
    with pytest.raises(PointNotFound) as caught:
        diff(world, old, new)
    assert caught.value.point == (new if old == "1" else old)


def test_78_equal_contents_are_no_difference(world: World) -> None:
    world.write("f", b"1")
    world.turn({"f": b"2"})
    world.turn({"f": b"1"})
    world.turn({"f": b"3"})
    assert diff(world, "1", "3") == []
    assert diff(world, "2", "2") == []


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        (b"", b"", (0, 0)), (b"", b"a\nb\n", (2, 0)), (b"a\nb\n", b"", (0, 2)), (b"a\nb\n", b"a\nb\n", (0, 0)),
        (b"a\n", b"a\nb\n", (1, 0)), (b"a\nb\n", b"a\n", (0, 1)), (None, b"a\n", (1, 0)), (b"a", None, (0, 1)),
    ],
)  # fmt: skip
def test_79_lines_are_counted(old: bytes | None, new: bytes | None, counts: tuple[int, int]) -> None:
    assert count(old, new) == counts


def test_80_two_swapped_lines_are_one_each() -> None:
    assert count(b"a\nb\n", b"b\na\n") == (1, 1)


@pytest.mark.parametrize(("data", "lines"), [(b"", 0), (b"a", 1), (b"a\nb\n", 2), (b"a\nb", 2), (b"\n", 1), (b"a\r\nb", 2)])
def test_81_a_last_line_counts_with_and_without_its_end(data: bytes, lines: int) -> None:
    text = read(data)
    assert text is not None
    assert text.line_count == lines
    assert count(b"", data) == (lines, 0)


def test_82_five_thousand_lines_are_counted_right() -> None:
    """The original gives up above 4096 x 4096 lines and calls everything changed, even where nothing is; ours counts."""
    whole = b"".join(b"line %d\n" % number for number in range(5000))
    assert count(whole, whole) == (0, 0)
    assert count(whole, whole.replace(b"line 2500\n", b"another\n")) == (1, 1)
    assert count(whole, whole.replace(b"line", b"other")) == (5000, 5000)
    assert count(b"", whole) == (5000, 0)
    assert count(whole, b"") == (0, 5000)


def test_83_a_small_difference_is_counted_at_once() -> None:
    """The original can be cancelled while it counts; ours does this much in one step."""
    assert count(b"a\nb\nc\n", b"a\nb\nc\n") == (0, 0)


lines = st.lists(st.sampled_from((b"a", b"b", b"", b"c\r")), max_size=8).map(
    lambda found: b"".join(line + b"\n" for line in found)
)


@given(lines, lines)
def test_84_counts_are_bounded_symmetric_and_nothing_for_the_same(old: bytes, new: bytes) -> None:
    forward, backward = count(old, new), count(new, old)
    assert forward is not None
    assert backward is not None
    assert 0 <= forward[0] <= new.count(b"\n")
    assert 0 <= forward[1] <= old.count(b"\n")
    assert new.count(b"\n") - old.count(b"\n") == forward[0] - forward[1] == backward[1] - backward[0]
    assert count(old, old) == (0, 0)
