"""Scenarios 1 to 15 of the specification: tags. Each test says which of them it shows."""

from bisect import bisect_left
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.checkpoint.scenarios.session import Session
from vibekit_desktop.core.checkpoint.capture import next_tag
from vibekit_desktop.core.checkpoint.history import History
from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.types.checkpoints import AtTag, parse_point, point_text
from vibekit_desktop.core.types.errors import InvalidId, Malformed
from vibekit_desktop.core.types.ids import ChatId, Tag, parse_tag, tag_order

CHAT = ChatId("c")
any_text = st.text(alphabet="0123456789.+- ab", max_size=8) | st.text(max_size=6)


def marks_of(*lines: Line) -> Marks:
    found = {CHAT: LogContents(lines, tuple(range(1, len(lines) + 1)))}
    return Marks(History(found).view(CHAT))


def snapshot(turn: int, tool: int) -> Line:
    tag = f"{turn}.{tool}" if tool or not turn else f"{turn}"
    return Line(type="snapshot", path="f", tag=tag, turn=turn, tool=tool, after_sha="a" * 64)


@pytest.mark.parametrize("text", ["1", "10", "1.0", "10.5", "0", "0.0", "007"])
def test_01_a_tag_is_taken_as_it_is_written(text: str) -> None:
    assert parse_tag(text) == text


@pytest.mark.parametrize("text", ["", "abc", "1.2.3", "-1", "1.", ".1", " 1", "1 ", "+1", "1\n", "١"])
def test_02_what_is_no_tag_is_refused(text: str) -> None:
    with pytest.raises(InvalidId):
        parse_tag(text)
    with pytest.raises(Malformed):
        parse_point(text)


@given(any_text)
def test_03_what_is_taken_is_printed_the_same(text: str) -> None:
    try:
        tag = parse_tag(text)
    except InvalidId:
        return
    assert tag == text
    assert point_text(AtTag(tag)) == text
    assert parse_point(text) == AtTag(tag)


@pytest.mark.parametrize(
    ("text", "pair"),
    [("0", (0, 0)), ("1", (1, 0)), ("10", (10, 0)), ("1.0", (1, 0)), ("1.2", (1, 2)), ("1.10", (1, 10)), ("10.5", (10, 5)),
     ("99.99", (99, 99))],
)  # fmt: skip
def test_04_tags_are_read_for_ordering(text: str, pair: tuple[int, int]) -> None:
    assert tag_order(Tag(text)) == pair


@pytest.mark.parametrize(
    ("text", "pair"), [("", (0, 0)), ("abc", (0, 0)), ("1.abc", (1, 0)), ("abc.1", (0, 1)), ("1.2.3", (1, 0))]
)
def test_05_what_is_no_tag_is_read_too_and_never_fails(text: str, pair: tuple[int, int]) -> None:
    assert tag_order(Tag(text)) == pair


@pytest.mark.parametrize(
    ("text", "number"),
    [("abc", 0), ("12x", 0), ("-5", 0), (" 7", 0), ("", 0), ("05", 5), ("007", 7), ("+5", 5), ("++5", 0), ("²", 0), ("٣", 0)],
)
def test_06_numbers_are_read_leniently(text: str, number: int) -> None:
    assert tag_order(Tag(text)) == (number, 0)
    assert tag_order(Tag(f"1.{text}")) == (1, number)


@pytest.mark.parametrize("digits", ["9" * 21, str(2**63), "9" * 5000, "1" + "0" * 100_000])
def test_07_a_number_too_large_for_63_bits_counts_as_0(digits: str) -> None:
    assert tag_order(Tag(digits)) == (0, 0)
    assert tag_order(Tag(str(2**63 - 1))) == (2**63 - 1, 0)


@pytest.mark.parametrize("number", [0, 1, 9, 10, 99, 100, 12345, 10**6, 10**9])
def test_08_numbers_are_read_as_they_are(number: int) -> None:
    assert tag_order(Tag(f"{number}.{number}")) == (number, number)


def test_09_tags_are_ordered_by_turn_then_by_capture_as_numbers() -> None:
    less = [("0", "1"), ("1.2", "2"), ("2", "10"), ("1.2", "1.10"), ("2.9", "2.10"), ("0", "0.1"), ("1", "1.2")]
    for one, other in less:
        assert tag_order(Tag(one)) < tag_order(Tag(other))
    for one, other in [("1", "1"), ("1", "1.0"), ("0.0", "0")]:
        assert tag_order(Tag(one)) == tag_order(Tag(other))


@given(st.lists(any_text, max_size=6))
def test_10_any_texts_have_one_order(texts: list[str]) -> None:
    """Reflexive, antisymmetric, transitive: sorting gives one chain, however the texts came."""
    keys = sorted(tag_order(Tag(text)) for text in texts)
    assert keys == sorted(tag_order(Tag(text)) for text in reversed(texts))
    assert all(one <= other for one, other in pairwise(keys))
    assert all(0 <= part < 2**63 for key in keys for part in key)


def test_11_a_tag_has_its_place_among_others() -> None:
    tags = [Tag(text) for text in ("0", "1", "1.2", "2", "3", "10", "10.5")]
    for text, place in [
        ("0", 0),
        ("1.2", 2),
        ("10.5", 6),
        ("0.5", 1),
        ("1.1", 2),
        ("1.5", 3),
        ("5", 5),
        ("10.3", 6),
        ("11", 7),
    ]:
        assert bisect_left(tags, tag_order(Tag(text)), key=tag_order) == place
    assert bisect_left([], tag_order(Tag("1")), key=tag_order) == 0


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_12_turn_and_capture_written_as_a_tag_are_read_back(turn: int, tool: int) -> None:
    text = f"{turn}.{tool}" if tool else f"{turn}"
    assert tag_order(parse_tag(text)) == (turn, tool)


def test_13_the_first_tags() -> None:
    assert next_tag(marks_of()) == (0, 0, "0.0")
    started = Line(type="turn_start", turn=1)
    assert next_tag(marks_of(started)) == (1, 0, "1")
    assert next_tag(marks_of(started, snapshot(1, 0))) == (1, 1, "1.1")


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 6))
def test_14_tags_grow_and_are_tags_wherever_counting_began(turn: int, start: int, count: int) -> None:
    lines = [snapshot(turn, start)]
    for _ in range(count):
        found, tool, tag = next_tag(marks_of(*lines))
        assert tag_order(tag) > tag_order(Tag(lines[-1].tag))
        assert parse_tag(tag) == tag
        lines.append(snapshot(found, tool))
        assert lines[-1].tag == tag


def test_15_a_capture_before_the_first_turn_and_those_of_two_turns(session: Session) -> None:
    session.write("f", b"0")
    session.begin()
    session.write("f", b"1")
    session.write("g", b"1")
    session.end()
    session.begin()
    session.write("f", b"2")
    assert session.tags() == ["0.0", "1", "1.1", "2"]
    assert session.world.kernel.oldest_tag(CHAT) is None
    assert session.world.kernel.oldest_tag(ChatId("chat-a")) == "0.0"
