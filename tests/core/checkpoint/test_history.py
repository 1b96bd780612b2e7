"""The one history of a vault: order, gaps, points, branches, imports from elsewhere."""

import pytest

from tests.core.checkpoint.world import A, B, World, replaced
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.history import History, agree, is_known, lineage
from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.checkpoint.order import merged
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    UNKNOWN,
    Author,
    FileState,
    How,
    Mine,
    Point,
    Scope,
    State,
    parse_point,
)
from vibekit_desktop.core.types.errors import PointNotFound
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

C = ChatId("chat-c")
P = WorkspacePath("p")


def state(text: str | None) -> FileState:
    return ABSENT if text is None else FileState(State.PRESENT, hash_of(text.encode()))


def seen(before: str | None, after: str | None, **keys: object) -> Line:
    line = log.observed(P, state(before), state(after), author=Author.AGENT, how=How.ANNOUNCED, turn=1)
    return replaced(line, **{"type": "snapshot", **keys})


def logs(**lines: list[Line]) -> dict[ChatId, LogContents]:
    return {
        ChatId(chat.replace("_", "-")): LogContents(tuple(found), tuple(range(1, len(found) + 1)))
        for chat, found in lines.items()
    }


def order(found: dict[ChatId, LogContents]) -> list[str]:
    return [placed.line.tag for placed in merged(found).lines]


def tagged(tag: str, *, seq: int = 0, ts: int = 0) -> Line:
    return Line(type="snapshot", path="p", tag=tag, seq=seq, ts=ts)


def test_numbered_lines_go_by_number_whatever_the_clock_said() -> None:
    found = logs(a=[tagged("1", seq=1, ts=900), tagged("3", seq=3, ts=100)], b=[tagged("2", seq=2, ts=500)])
    assert order(found) == ["1", "2", "3"]


def test_lines_without_a_number_go_by_the_largest_time_so_far() -> None:
    found = logs(a=[tagged("1", ts=100), tagged("3", ts=50)], b=[tagged("0", ts=90), tagged("4", ts=101)])
    assert order(found) == ["0", "1", "3", "4"]


def test_equal_times_are_decided_by_the_chat_id() -> None:
    assert order(logs(b=[tagged("2", ts=5)], a=[tagged("1", ts=5)])) == ["1", "2"]


def test_the_order_of_a_log_always_holds() -> None:
    """An imported line with a time in the future stays before the numbered line behind it, and after the one before it."""
    found = logs(
        a=[tagged("1", seq=1, ts=10), tagged("2", ts=5), tagged("3", ts=9999), tagged("4", seq=2, ts=20)],
        b=[tagged("5", seq=3, ts=15)],
    )
    assert order(found) == ["1", "2", "3", "4", "5"]


def test_imported_and_numbered_lines_are_merged_by_time() -> None:
    found = logs(a=[tagged("1", ts=10), tagged("3", ts=30)], b=[tagged("2", seq=1, ts=20), tagged("4", seq=2, ts=40)])
    assert order(found) == ["1", "2", "3", "4"]


def point(found: dict[ChatId, LogContents], chat: str, text: str) -> FileState:
    view = History(found).view(ChatId(chat))
    wanted: Point = parse_point(text)
    return view.content_at(P, Marks(view).position(wanted))


def test_the_content_at_a_point_is_the_before_of_the_first_observation_there_or_later() -> None:
    found = logs(
        a=[
            Line(type="turn_start", turn=1, seq=1),
            seen("0", "1", seq=2, tag="1"),
            Line(type="turn_end", turn=1, seq=3),
            Line(type="turn_start", turn=2, seq=4),
            seen("1", "2", seq=5, tag="2", turn=2),
        ]
    )
    points = ("start", "before:1", "1", "after:1", "before:2", "2", "after:2")
    assert [point(found, "a", text) for text in points] == [state(text) for text in "0001112"]


def test_a_gap_before_the_first_line_of_a_turn_comes_before_the_turn() -> None:
    found = logs(
        a=[
            Line(type="turn_start", turn=1, seq=1),
            seen("0", "1", seq=2),
            Line(type="turn_start", turn=2, seq=3),
            seen("mine", "2", seq=4, turn=2, tag="2"),
        ]
    )
    assert [point(found, "a", text) for text in ("after:1", "before:2", "2")] == [state("1"), state("mine"), state("mine")]
    (gap,) = [one for one in History(found).view(ChatId("a")).observations if one.computed]
    assert (gap.before, gap.after, gap.how, gap.author) == (state("1"), state("mine"), How.GAP, Author.UNKNOWN)


def test_a_gap_within_a_turn_comes_just_before_the_line() -> None:
    found = logs(
        a=[
            Line(type="turn_start", turn=1, seq=1),
            seen("0", "1", seq=2, tag="1"),
            Line(type="turn_start", turn=9, seq=3),
            seen("1", "2", seq=4, turn=9, tag="9"),
            replaced(seen("x", "y", seq=5, turn=9, tag="9.1"), path="q"),
            seen("other", "3", seq=6, turn=9, tag="9.2"),
        ]
    )
    assert [point(found, "a", text) for text in ("before:9", "9.1", "9.2")] == [state("1"), state("2"), state("other")]
    (gap,) = [one for one in History(found).view(ChatId("a")).observations if one.computed]
    assert gap.how is How.SCAN


def test_another_chats_line_after_the_turn_began_keeps_the_gap_behind_it() -> None:
    found = logs(
        a=[Line(type="turn_start", turn=1, seq=1), seen("mine", "2", seq=3, tag="1")],
        b=[seen("0", "1", seq=2, turn=0)],
    )
    assert [point(found, "a", text) for text in ("before:1", "1")] == [state("0"), state("mine")]


def test_unknown_stays_unknown() -> None:
    found = logs(
        a=[
            Line(type="turn_start", turn=1, seq=1),
            seen("0", "1", seq=2),
            replaced(seen("", "2", seq=3), before_state="unknown", before_sha="0" * 64, tag="1.1"),
        ]
    )
    assert point(found, "a", "1.1") == UNKNOWN
    assert not any(one.computed for one in History(found).view(ChatId("a")).observations)


def test_after_a_turn_without_an_end_is_just_after_its_last_line() -> None:
    found = logs(
        a=[
            Line(type="turn_start", turn=1, seq=1),
            seen("0", "1", seq=2),
            Line(type="turn_start", turn=2, seq=3),
            Line(type="turn_end", turn=1, seq=4),
            seen("mine", "2", seq=5, turn=2),
        ]
    )
    assert point(found, "a", "after:1") == state("1")
    assert point(found, "a", "after:2") == state("2")


def test_a_turn_whose_start_was_never_written_begins_with_its_first_capture() -> None:
    found = logs(a=[seen("0", "1", seq=1, turn=3, tag="3")])
    assert point(found, "a", "before:3") == state("0")
    with pytest.raises(PointNotFound):
        point(found, "a", "before:1")


def test_a_tag_is_found_by_its_exact_text() -> None:
    found = logs(a=[seen("0", "1", seq=1, tag="1")])
    with pytest.raises(PointNotFound):
        point(found, "a", "1.0")


def test_the_originals_lines_mean_what_the_original_means() -> None:
    sha = hash_of(b"x")
    created = Line(type="snapshot", path="p", tag="1", after_sha=sha, turn=1)
    deleted = Line(type="snapshot", path="p", tag="1.1", before_sha=sha, turn=1)
    assert log.state_before(created) == ABSENT
    assert log.state_after(created) == FileState(State.PRESENT, sha)
    assert log.state_after(deleted) == UNKNOWN
    assert (log.author_of(created), log.how_of(created)) == (Author.AGENT, How.ANNOUNCED)


def test_states_agree_by_kind_bytes_and_recorded_mode() -> None:
    sha = hash_of(b"x")
    file = FileState(State.PRESENT, sha, 0o644)
    assert agree(file, FileState(State.PRESENT, sha))
    assert not agree(file, FileState(State.PRESENT, sha, 0o755))
    assert not agree(file, FileState(State.LINK, sha))
    assert agree(file, FileState(State.NOT_CAPTURED, sha))
    assert not agree(UNKNOWN, UNKNOWN)
    assert not agree(ABSENT, FileState(State.FOLDER))
    assert not is_known(UNKNOWN)


# -- branches ----------------------------------------------------------------------------------------------------


def branched(**cut: int) -> dict[ChatId, LogContents]:
    return logs(
        a=[Line(type="turn_start", turn=1, seq=1), seen("0", "1", seq=2, tag="1"), seen("1", "2", seq=3, tag="1.1")],
        b=[
            Line(type="branch_start", parent="a", turn=1, seq=4, **cut),
            Line(type="turn_start", turn=2, seq=5),
            seen("2", "3", seq=6, turn=2, tag="2"),
        ],
    )


@pytest.mark.parametrize("cut", [{"cut_seq": 2}, {"cut_lines": 2}])
def test_a_branch_has_its_parents_lines_up_to_the_cut(cut: dict[str, int]) -> None:
    found = branched(**cut)
    view = History(found).view(ChatId("b"))
    assert [placed.line.tag for _, placed in view.own if placed.line.tag] == ["1", "2"]
    assert point(found, "b", "before:1") == state("0")
    assert point(found, "b", "before:2") == state("2")
    with pytest.raises(PointNotFound):
        point(found, "b", "1.1")


def test_branches_of_branches_reach_back_and_a_loop_ends() -> None:
    found = branched(cut_lines=3) | logs(c=[Line(type="branch_start", parent="b", seq=7, cut_seq=5)])
    assert [segment.chat for segment in lineage(ChatId("c"), found)] == ["a", "b", "c"]
    assert point(found, "c", "1.1") == state("1")
    loop = logs(a=[Line(type="branch_start", parent="b")], b=[Line(type="branch_start", parent="a")])
    assert [segment.chat for segment in lineage(ChatId("a"), loop)] == ["b", "a"]
    missing = logs(a=[Line(type="branch_start", parent="gone")])
    assert [segment.chat for segment in lineage(ChatId("a"), missing)] == ["a"]


def test_a_branch_reads_its_parent_also_when_that_was_deleted(world: World) -> None:
    world.turn({"a": b"a1"})
    world.turn({"a": b"a2"})
    branch = world.restore("before:2", scope=Scope.BOTH).branch_chat_id
    assert branch is not None
    retired = world.vault_folder / "desktop/retired" / A
    retired.parent.mkdir()
    world.log_path().parent.rename(retired)
    world.reopen()
    assert world.vault.chats_with_logs() == [branch]
    assert world.at("before:2", "a", branch) == b"a1"
    assert world.at("after:2", "a", branch) == b"a2"
    report = world.restore("before:1", branch, mine=Mine(restore_all=True))
    assert report.entry == 1
    assert world.disk() == {}


def test_a_branchs_entry_numbers_go_on_and_undo_sees_only_its_own(world: World) -> None:
    world.turn({"a": b"a1", "b": b"b1"})
    world.undo_file("before:1", "b")
    branch = world.restore("before:1", scope=Scope.BOTH).branch_chat_id
    assert branch is not None
    assert world.kernel.timeline(branch).can_undo == 0
    assert world.at("entry:1", "b", branch) == b"b1"
    world.restore("after:1", branch, mine=Mine(restore_all=True), paths=("a",))
    assert world.kernel.timeline(branch).can_undo == 2


# -- chats recorded in another folder ----------------------------------------------------------------------------


def imported(world: World, chat: ChatId, *steps: tuple[str | None, str], detached: bool = True, ts: int = 1000) -> None:
    """A session with one turn: each step is before and after of ``p``."""
    lines = [
        Line(
            type="import_start",
            ts=ts,
            detached=detached,
            import_seq=world.vault.last_seq(),
            imported_at=world.clock.now_ms,
        ),
        Line(type="turn_start", turn=1, ts=ts),
    ]
    for count, (before, after) in enumerate(steps):
        for text in (before, after):
            if text is not None:
                world.vault.blobs.put(text.encode())
        lines.append(seen(before, after, ts=ts + count, how="import", tag=f"1.{count}" if count else "1"))
    lines.append(Line(type="turn_end", turn=1, ts=ts + len(steps)))
    world.vault.append(chat, lines, number=False)
    world.transcripts.chats[chat] = [1, 0]
    world.turns[chat] = 1


def test_a_chat_from_another_folder_sees_its_own_lines_and_nobody_else_does(world: World) -> None:
    world.turn({"p": b"here"})
    imported(world, C, ("there 0", "there 1"), ("there 1", "there 2"))
    assert world.at("before:1", "p", C) == b"there 0"
    assert world.at("1.1", "p", C) == b"there 1"
    assert world.at("after:1", "p", C) == b"there 2"
    assert world.at("before:1", "p") is None
    assert world.at("after:1", "p") == b"here"
    assert world.plan("before:1").files[0].also_by == ()


def test_what_happens_here_after_the_import_counts_for_it(world: World) -> None:
    world.write("p", b"first")
    imported(world, C, ("there 0", "there 1"))
    world.clock.advance(10)
    world.turn({"p": b"later"}, B)
    assert world.at("after:1", "p", C) == b"there 1"
    assert world.kernel.state_at(C, parse_point("now"), P).sha == hash_of(b"later")
    assert world.plan("before:1", C).files[0].also_by == (B,)


def test_a_restore_of_such_a_chat_is_public_and_writes_no_private_gap(world: World) -> None:
    imported(world, C, ("there 0", "there 1"))
    world.write("p", b"what was here")
    report = world.restore("before:1", C, mine=Mine(restore_all=True))
    assert report.verified
    assert world.read("p") == b"there 0"
    assert [line.how for line in world.vault.lines(C) if line.type == "observed"] == ["restore"]
    assert world.at("entry:1", "p", C) == b"what was here"
    assert world.at("after:1", "p", C) == b"there 1"
    world.turn({"p": b"b1"}, B)
    assert world.at("start", "p", B) == b"there 0"
    assert world.plan("before:1", B).files[0].also_by == ()
    world.write("p", b"there 0")
    world.undo(C)
    assert world.read("p") == b"what was here"


def test_several_imports_live_in_one_vault(world: World) -> None:
    imported(world, A, (None, "a1"), detached=False, ts=1000)
    imported(world, B, ("b0", "b1"), ts=2000)
    imported(world, C, ("c0", "c1"), ts=3000)
    assert [world.at("before:1", "p", chat) for chat in (A, B, C)] == [None, b"b0", b"c0"]
    assert [world.at("after:1", "p", chat) for chat in (A, B, C)] == [b"a1", b"b1", b"c1"]
    assert world.kernel.touched(A) == world.kernel.touched(C) == [P]


def test_a_branch_of_such_a_chat_is_as_private(world: World) -> None:
    imported(world, C, ("c0", "c1"), ("c1", "c2"))
    branch = ChatId("fork")
    start = Line(type="branch_start", parent=C, cut_lines=3, turn=1, ts=1001)
    world.vault.append(branch, [start, seen("f0", "f1", ts=1002, turn=2, tag="2", how="import")], number=False)
    assert world.kernel.state_at(branch, parse_point("before:1"), P) == state("c0")
    assert world.kernel.state_at(branch, parse_point("2"), P) == state("f0")
    assert world.kernel.state_at(A, parse_point("start"), P) == UNKNOWN
    assert world.kernel.state_at(C, parse_point("after:1"), P) == state("c2")


def test_a_public_line_without_a_number_counts_from_the_import_on(world: World) -> None:
    imported(world, C, ("c0", "c1"))
    late = world.clock.now_ms + 5
    world.vault.append(B, [seen("x", "early", ts=5), seen("early", "late", ts=late)], number=False)
    assert world.kernel.state_at(C, parse_point("after:1"), P) == state("c1")
    view, _ = world.vault.memory.view(C)
    assert view.last_known(P) == state("late")
    assert view.observations[0].after == state("c1")
