"""Scenarios 104 to 119 of the specification: conflicts and owners. Each test says which of them it shows."""

import pytest

from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.world import A, B, World
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.types.checkpoints import AfterTurn, Conflict, Now
from vibekit_desktop.core.types.errors import BlobNotFound
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

C = ChatId("chat-c")
F = WorkspacePath("f")


def write(hooks: Hooks, data: bytes | None, chat: ChatId, path: str = "f") -> Conflict | None:
    """A whole turn with one announced write."""
    hooks.begin(chat)
    report = hooks.record(path, data, chat)
    hooks.end(chat)
    return report.conflict


def test_104_and_107_foreign_content_between_two_chats_is_one_conflict_with_the_tag_of_the_capture(
    world: World, hooks: Hooks
) -> None:
    write(hooks, b"X", A)
    world.write("f", b"Y")
    hooks.begin(B)
    report = hooks.record("f", b"Z", B)
    hooks.end(B)
    (conflict,) = world.kernel.conflicts(B)
    assert (conflict.path, conflict.other_chat, conflict.expected_sha) == ("f", A, hash_of(b"X"))
    assert conflict.ts > 0
    assert conflict.tag == report.tag
    assert report.conflict == conflict


def test_105_finding_what_the_other_chat_left_is_none(world: World, hooks: Hooks) -> None:
    write(hooks, b"X", A)
    assert write(hooks, b"Z", B) is None
    assert world.kernel.conflicts(B) == ()


def test_106_outside_edits_between_captures_of_one_chat_are_no_conflict_with_a_chat_and_are_told_as_drift(
    world: World, hooks: Hooks
) -> None:
    """The original tells nothing, so a restore may lose them unseen (C7)."""
    write(hooks, b"X", A)
    world.write("f", b"by hand")
    assert write(hooks, b"Z", A) is None
    (drift,) = world.kernel.conflicts(A)
    assert (drift.other_chat, drift.expected_sha, drift.actual_sha) == ("", hash_of(b"X"), hash_of(b"by hand"))


def test_108_a_new_chat_has_no_conflicts(world: World) -> None:
    assert world.kernel.conflicts(C) == ()


def test_109_the_foreign_bytes_are_readable_for_the_chat_that_met_them_only(world: World, hooks: Hooks) -> None:
    write(hooks, b"X", A)
    world.write("f", b"foreign")
    conflict = write(hooks, b"Z", B)
    assert conflict is not None
    assert world.kernel.read_blob(B, conflict.actual_sha) == b"foreign"
    write(hooks, b"own", C, "other")
    with pytest.raises(BlobNotFound):
        world.kernel.read_blob(C, conflict.actual_sha)


def test_110_and_111_what_says_nothing_of_a_content_gives_no_owner(world: World, hooks: Hooks) -> None:
    hooks.begin(A)
    assert world.kernel.owner_of(F) is None
    write(hooks, b"X", A)
    assert world.kernel.owner_of(F) == A
    assert world.kernel.owner_of(WorkspacePath("never touched")) is None


def test_112_order_is_the_logs_and_never_the_clocks(world: World, hooks: Hooks) -> None:
    """The original lets the wall clock decide (C6)."""
    write(hooks, b"1", A)
    world.clock.advance(-3_600_000)
    write(hooks, b"2", B)
    assert world.kernel.owner_of(F) == B
    assert write(hooks, b"3", A) is None
    assert world.kernel.owner_of(F) == A


def test_113_deleting_a_chat_forgets_only_what_it_still_holds(world: World, hooks: Hooks) -> None:
    write(hooks, b"1", A, "a")
    write(hooks, b"1", A, "taken over")
    write(hooks, b"2", B, "taken over")
    world.kernel.retire(C)
    world.kernel.retire(A)
    assert world.kernel.owner_of(WorkspacePath("taken over")) == B


def test_115_and_117_a_cold_start_knows_the_latest_writer(world: World, hooks: Hooks) -> None:
    write(hooks, b"1", A)
    write(hooks, b"2", B)
    world.reopen()
    assert world.kernel.owner_of(F) == B


def test_116_the_owner_follows_the_last_writer(world: World, hooks: Hooks) -> None:
    assert world.kernel.owner_of(F) is None, "without any chats"
    for chat, data in ((A, b"1"), (B, b"2"), (A, b"3")):
        write(hooks, data, chat)
        assert world.kernel.owner_of(F) == chat


def test_118_a_captured_save_of_an_editor_is_taken_back_to_the_agents_content(world: World, hooks: Hooks) -> None:
    hooks.begin(A)
    hooks.record("f", b"agent", A)
    save = hooks.record("f", b"editor", A)
    hooks.end(A)
    world.undo_file(save.tag, "f")
    assert world.read("f") == b"agent"


def test_119_a_captured_save_is_no_conflict_and_an_uncaptured_one_is(world: World, hooks: Hooks) -> None:
    write(hooks, b"agent", A)
    write(hooks, b"saved", A)
    assert write(hooks, b"by B", B) is None
    world.write("f", b"saved behind our back")
    assert write(hooks, b"by A", A) is not None
    assert len([one for one in world.kernel.conflicts(A) if one.tag]) == 1


# -- section 4.4, where the original is wrong --------------------------------------------------------------------


def test_c1_a_restore_by_the_other_chat_is_no_conflict(world: World, hooks: Hooks) -> None:
    world.write("f", b"0")
    write(hooks, b"1", A)
    world.restore("before:1", A)
    assert write(hooks, b"2", B) is None


def test_c2_a_write_that_never_happened_is_no_conflict(world: World, hooks: Hooks) -> None:
    world.write("f", b"0")
    hooks.begin(A)
    hooks.record("f", b"1", A, do=False)
    hooks.end(A)
    assert write(hooks, b"2", B) is None


def test_c2_an_announced_write_of_the_other_chat_is_told_with_what_came_of_it(world: World, hooks: Hooks) -> None:
    """What was only announced has no content yet: it is neither a deletion nor a second conflict."""
    write(hooks, b"mine", A)
    hooks.begin(B)
    hooks.record("f", b"never", B, known=False, do=False)
    assert world.kernel.conflicts(A) == ()
    hooks.end(B)
    assert world.kernel.conflicts(A) == ()
    hooks.begin(B)
    hooks.record("f", b"theirs", B, known=False)
    hooks.end(B)
    (conflict,) = world.kernel.conflicts(A)
    assert (conflict.other_chat, conflict.expected_sha, conflict.actual_sha) == (B, hash_of(b"mine"), hash_of(b"theirs"))


def test_c2_both_contents_have_their_points_where_a_write_was_announced_without_its_own(world: World, hooks: Hooks) -> None:
    write(hooks, b"mine", A)
    write(hooks, b"theirs", B)
    hooks.begin(A)
    hooks.record("f", b"never", A, known=False, do=False)
    hooks.end(A)
    (there,) = world.kernel.placed_conflicts(A)
    assert (there.theirs, there.ours, there.turn) == (Now(), AfterTurn(1), 0)
    hooks.begin(A)
    hooks.record("f", b"over it", A, known=False)
    hooks.end(A)
    (placed,) = world.kernel.placed_conflicts(A)
    assert placed.turn == 3
    assert placed.theirs is not None
    assert world.kernel.content(A, placed.theirs, F) == b"theirs"
    assert placed.ours == AfterTurn(3)


def test_c3_a_deleted_file_that_is_there_again_is_a_conflict_and_one_that_stays_away_is_none(
    world: World, hooks: Hooks
) -> None:
    world.write("f", b"0")
    world.write("g", b"0")
    write(hooks, None, A, "f")
    write(hooks, None, A, "g")
    world.write("f", b"back again")
    conflict = write(hooks, b"2", B, "f")
    assert conflict is not None
    assert conflict.expected_sha == ""
    assert write(hooks, b"2", B, "g") is None


def test_c4_drift_that_was_met_once_is_not_met_again(world: World, hooks: Hooks) -> None:
    write(hooks, b"1", A)
    world.write("f", b"foreign")
    hooks.begin(B)
    assert hooks.record("f", b"2", B, known=False).conflict is not None
    assert hooks.record("f", b"3", B, known=False).conflict is None
    hooks.end(B)


def test_c5_drift_against_a_chat_that_nobody_opened_since_the_start_is_met(world: World, hooks: Hooks) -> None:
    write(hooks, b"1", A)
    world.write("f", b"foreign")
    world.reopen()
    assert write(hooks, b"2", B) is not None


def test_c9_conflicts_are_all_there_however_many(world: World, hooks: Hooks) -> None:
    hooks.begin(A)
    for number in range(30):
        hooks.record(f"f{number}", b"A", A)
    hooks.end(A)
    for number in range(30):
        world.write(f"f{number}", b"foreign")
    hooks.begin(B)
    for number in range(30):
        hooks.record(f"f{number}", b"B", B)
    hooks.end(B)
    world.reopen()
    assert [one.path for one in world.kernel.conflicts(B)] == [f"f{number}" for number in range(30)]
