"""Scenarios 31 to 46 of the specification: what replaying a log gives. Each test says which of them it shows.

Where ours differs it is by its one rule: the content at a point is the before of the path's first observation there or later.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.capture import next_tag
from vibekit_desktop.core.checkpoint.conflicts import conflicts
from vibekit_desktop.core.checkpoint.history import History, View
from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.types.checkpoints import ABSENT, UNKNOWN, FileState, State, parse_point
from vibekit_desktop.core.types.errors import BlobNotFound, InvalidId, PointNotFound
from vibekit_desktop.core.types.ids import WorkspacePath, tag_order


def view_of(*lines: Line) -> View:
    return History({A: LogContents(lines, tuple(range(1, len(lines) + 1)))}).view(A)


def text_sha(text: str) -> str:
    return hash_of(text.encode()) if text else ""


def snap(tag: str, path: str, before: str, after: str, count: int = 0) -> Line:
    """A line of the original's; an empty text is an omitted hash."""
    turn, _, tool = tag.partition(".")
    return Line(
        type="snapshot",
        tag=tag,
        path=path,
        before_sha=text_sha(before),
        after_sha=text_sha(after),
        turn=int(turn),
        tool=int(tool or 0),
        message_count=count,
        ts=1,
    )


def turn(number: int) -> Line:
    return Line(type="turn_start", turn=number, ts=1)


def at(view: View, path: str, tag: str) -> FileState:
    return view.content_at(WorkspacePath(path), Marks(view).position(parse_point(tag)))


def state(text: str) -> FileState:
    return FileState(State.PRESENT, hash_of(text.encode())) if text else ABSENT


TWO_TURNS = (
    turn(1),
    snap("1", "a", "a0", "a1", 3),
    snap("1.1", "b", "", "b1", 4),
    turn(2),
    snap("2", "a", "a1", "a2", 6),
)


def test_31_two_turns_of_two_files() -> None:
    view = view_of(*TWO_TURNS)
    marks = Marks(view)
    assert marks.last_turn == 2
    assert next_tag(marks) == (2, 1, "2.1")
    assert {line.tag: line.message_count for line in marks.own_lines() if line.tag} == {"1": 3, "1.1": 4, "2": 6}
    assert min(marks.tags, key=tag_order) == "1"  # type: ignore[arg-type]  # the texts are tags
    assert at(view, "a", "2") == state("a1")
    assert at(view, "b", "1.1") == ABSENT


def test_32_no_hash_before_is_an_absent_file() -> None:
    assert at(view_of(turn(1), snap("1", "f", "", "x")), "f", "1") == ABSENT


def test_33_a_path_that_was_never_touched_is_unknown() -> None:
    """The original says absent, and a checkout then deletes the file (E9)."""
    assert at(view_of(*TWO_TURNS), "never", "1") == UNKNOWN


def test_34_each_of_five_tags_has_its_own_before() -> None:
    lines = [turn(1)] + [snap(f"1.{n}" if n else "1", "f", f"{n}", f"{n + 1}") for n in range(5)]
    view = view_of(*lines)
    assert [at(view, "f", line.tag) for line in lines[1:]] == [state(f"{n}") for n in range(5)]


def test_35_a_tag_of_another_path_after_the_last_of_this_one_gives_what_that_left() -> None:
    view = view_of(turn(1), snap("1", "f", "", "a1"), turn(2), snap("2", "g", "", "x"))
    assert at(view, "f", "2") == state("a1")


def test_36_if_nobody_announced_what_it_left_it_is_unknown() -> None:
    """The original says absent and deletes the file (W7)."""
    view = view_of(turn(1), snap("1", "f", "a0", ""), turn(2), snap("2", "g", "", "x"))
    assert at(view, "f", "2") == UNKNOWN


texts = st.sampled_from(("", "x", "y"))
steps = st.lists(st.tuples(st.sampled_from("fg"), texts, texts) | st.none(), max_size=10)


def lines_of(found: list[tuple[str, str, str] | None]) -> list[Line]:
    """Captures as the original would number them; None begins a turn."""
    lines: list[Line] = []
    number = tool = 0
    for one in found:
        if one is None:
            number, tool = number + 1, 0
            lines.append(turn(number))
        else:
            lines.append(snap(f"{number}.{tool}" if tool or not number else f"{number}", *one))
            tool += 1
    return lines


@given(steps, st.text(alphabet="0123456789.", max_size=4))
def test_37_a_captures_own_before_is_what_its_tag_gives_and_unknown_tags_are_refused(
    found: list[tuple[str, str, str] | None], text: str
) -> None:
    lines = lines_of(found)
    view = view_of(*lines)
    for line in lines:
        if line.type == "snapshot":
            expected = FileState(State.PRESENT, line.before_sha) if line.before_sha else ABSENT  # type: ignore[arg-type]  # a hash
            assert at(view, line.path, line.tag) == expected
    if text not in {line.tag for line in lines}:
        with pytest.raises(Exception) as caught:  # noqa: PT011  # two kinds, told apart below
            at(view, "f", text)
        assert type(caught.value).__name__ in ("PointNotFound", "Malformed")


def test_38_a_chat_reads_what_its_lines_name_and_never_an_empty_hash(world: World) -> None:
    world.turn({"f": b"1"})
    assert world.kernel.read_blob(A, hash_of(b"1")) == b"1"
    assert world.kernel.read_blob(A, hash_of(b"1").upper()) == b"1"
    with pytest.raises(InvalidId):
        world.kernel.read_blob(A, "")
    with pytest.raises(BlobNotFound):
        world.kernel.read_blob(A, hash_of(b"of nobody"))


def three(world: World) -> World:
    """Tags 1 (a), 1.1 (b), 2 (a), 2.1 (c)."""
    world.turn({"a": b"a1", "b": b"b1"})
    world.turn({"a": b"a2", "c": b"c1"})
    return world


def changed(world: World, old: str, new: str) -> list[str]:
    return [path for path, _, _ in world.kernel.changed_between(A, parse_point(old), parse_point(new))]


def test_39_what_changed_between_two_tags(world: World) -> None:
    """The original lists what was touched, c too; ours what differs: at tag 2 the file c was not there yet."""
    three(world)
    assert changed(world, "1", "2") == ["a", "b"]
    assert changed(world, "1", "after:2") == ["a", "b", "c"]


def test_40_without_a_history_nothing_changed(world: World) -> None:
    assert changed(world, "start", "now") == []
    assert world.kernel.touched(A) == []
    with pytest.raises(PointNotFound):
        changed(world, "1", "2")


def test_41_a_tag_that_is_none_is_refused_on_either_side(world: World) -> None:
    """The original takes an unknown tag as a bound and gives what lies between; ours never guesses."""
    three(world)
    for old, new in (("1", "5"), ("0.5", "2")):
        with pytest.raises(PointNotFound):
            changed(world, old, new)


def test_42_a_capture_of_a_later_turn_is_one_that_began() -> None:
    marks = Marks(view_of(turn(1), snap("1", "f", "", "x"), snap("4", "f", "x", "y")))
    assert marks.last_turn == 4
    assert next_tag(marks) == (4, 1, "4.1")


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 502])
def test_43_44_46_all_conflicts_are_there_in_their_order_and_nothing_warns(count: int) -> None:
    """The original keeps the last 500 in a ring and warns (C9); ours keeps them all (a warning would fail this test)."""
    lines = [Line(type="conflict_detected", tag="1", path="f", other_chat="b", ts=n + 1) for n in range(count)]
    assert [one.ts for one in conflicts(view_of(turn(1), *lines))] == list(range(1, count + 1))


kinds = st.sampled_from(("turn_start", "snapshot", "restore_started", "restore_committed", "restore", "conflict_detected", "x"))
numbers = st.integers(-(2**62), 2**62)
any_line = st.builds(
    Line,
    type=kinds,
    tag=st.text(alphabet="0123456789.", max_size=4),
    path=st.sampled_from(("f", "g/h")),
    before_sha=texts.map(text_sha),
    after_sha=texts.map(text_sha),
    turn=numbers | st.integers(0, 5),
    tool=numbers,
    ts=numbers,
    seq=st.integers(0, 3),
)


@given(st.lists(any_line, max_size=15))
def test_45_no_order_of_events_breaks_the_replay(lines: list[Line]) -> None:
    numbered = [
        Line(**{name: getattr(one, name) for name in one.__struct_fields__} | {"seq": n}) for n, one in enumerate(lines, 1)
    ]
    for found in (numbered, [one for one in lines if not one.seq]):
        view = view_of(*found)
        marks = Marks(view)
        assert marks.last_turn >= 0
        assert next_tag(marks)[1] >= 0
        positions = [marks.position(parse_point(tag)) for tag in marks.tags if _is_point(tag)]
        assert positions == sorted(positions)
        assert [one.position for one in view.observations] == sorted(one.position for one in view.observations)


def _is_point(text: str) -> bool:
    whole, dot, part = text.partition(".")
    return whole.isdigit() and (part.isdigit() if dot else True)
