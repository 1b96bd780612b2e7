"""Scenarios 114 and 137 to 139 of the specification, and the rows of its section 4 that no other test here carries."""

import random
from pathlib import Path

import pytest

from tests.core.checkpoint.hooks import Hooks, row
from tests.core.checkpoint.world import A, B, World
from tests.helpers.program import call
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.types.checkpoints import Conflict
from vibekit_desktop.core.types.errors import Busy, PathEscape, PointNotFound
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


def test_114_the_owner_of_a_path_is_always_the_chat_that_wrote_it_last(world: World, hooks: Hooks) -> None:
    chance = random.Random(114)
    chats = [A, B, ChatId("chat-c")]
    for chat in chats:
        hooks.begin(chat)
    owners: dict[str, ChatId] = {}
    for number in range(120):
        path, chat = chance.choice("abcd"), chance.choice(chats)
        hooks.record(path, b"%d" % number, chat)
        owners[path] = chat
        if number % 20 == 19:
            world.reopen()
        assert {path: world.kernel.owner_of(WorkspacePath(path)) for path in owners} == owners


def test_137_the_first_capture_of_a_turn_stamps_its_prompt_once(tmp_path: Path) -> None:
    """Through the command line, since the chat file is the services'."""
    data, home, work = tmp_path / "data", tmp_path / "home", tmp_path / "work"
    for folder in (home, work):
        folder.mkdir()
    assert call(data, home, "turn", "stamped-chat", "begin", "--workspace", str(work), "--prompt", "one").status == 0
    for path in ("a", "b"):
        assert call(data, home, "record", "stamped-chat", path).status == 0
    assert call(data, home, "turn", "stamped-chat", "end", "--answer", "done").status == 0
    assert call(data, home, "turn", "stamped-chat", "begin", "--prompt", "two").status == 0
    messages = call(data, home, "--json", "show", "stamped-chat").json["chat"]["messages"]
    assert [(one["role"], one.get("checkpoint_tag")) for one in messages] == [
        ("user", "1"),
        ("assistant", None),
        ("user", None),
    ]


def test_138_no_restore_during_a_running_turn_and_none_to_an_unknown_tag(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.record("a", b"1")
    hooks.end()
    plan = world.plan("before:1")
    with TurnLock(world.fs, world.vault.desktop, A).hold(2), pytest.raises(Busy):
        world.do(plan)
    with pytest.raises(PointNotFound):
        world.plan("7")


def test_139_a_write_of_four_mebibytes_and_one_of_a_byte_more_are_both_kept_whole(world: World, hooks: Hooks) -> None:
    """The original refuses the second; ours keeps contents up to the cap of captures, and the new content always."""
    hooks.begin()
    for size in (4 << 20, (4 << 20) + 1):
        hooks.record("big", b"x" * size)
    hooks.end()
    assert len(world.at("after:1", "big") or b"") == (4 << 20) + 1
    assert len(world.at("1.1", "big") or b"") == 4 << 20


def test_c6_a_clock_that_stands_still_or_goes_back_makes_no_false_conflict(world: World, hooks: Hooks) -> None:
    for step in (0, -60_000, 0, 60_000):
        world.clock.advance(step)
        hooks.record("f", b"a%d" % step, A)
        assert hooks.record("f", b"b%d" % step, B).conflict is None


def test_c7_a_persons_edit_between_two_captures_of_one_chat_is_told(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.record("f", b"1")
    world.write("f", b"by hand")
    hooks.record("f", b"2")
    hooks.end()
    assert [one.path for one in world.kernel.conflicts(A)] == ["f"]


def test_c8_an_owner_is_told_by_its_id_after_a_cold_start(world: World, hooks: Hooks) -> None:
    hooks.record("f", b"1", ChatId("a-chat_With-0"))
    world.reopen()
    assert world.kernel.owner_of(WorkspacePath("f")) == "a-chat_With-0"


def test_c9_what_the_original_wrote_of_conflicts_is_told_too(world: World, hooks: Hooks) -> None:
    hooks.begin()
    line = Line(type="conflict_detected", tag="1", path="f", other_chat="x", expected_sha="a" * 64, before_sha="b" * 64, ts=7)
    world.vault.append(A, [line])
    expected = Conflict(path=WorkspacePath("f"), other_chat="x", expected_sha="a" * 64, actual_sha="b" * 64, tag="1", ts=7)
    assert world.kernel.conflicts(A) == (expected,)


def test_g5_a_folder_that_is_a_link_out_of_the_workspace_is_never_written_through(world: World, hooks: Hooks) -> None:
    outside = world.root.parent / "outside"
    outside.mkdir()
    (world.root / "sub").symlink_to(outside)
    hooks.begin()
    with pytest.raises(PathEscape):
        hooks.record("sub/f", b"1", do=False)
    with pytest.raises(PathEscape):
        world.kernel.recorder.write(A, WorkspacePath("sub/f"), b"1", message_count=1)
    hooks.end()
    assert list(outside.iterdir()) == []


def test_g6_folders_that_a_turn_made_go_with_it_and_empty_ones_come_back(world: World, hooks: Hooks) -> None:
    (world.root / "empty").mkdir()
    hooks.begin()

    def work() -> None:
        (world.root / "empty").rmdir()
        world.write("made/deep/f", b"1")
        (world.root / "hollow").mkdir()

    hooks.command(work)
    hooks.end()
    assert row(world, 1).coverage.complete
    world.restore("before:1")
    assert sorted(path.name for path in world.root.rglob("*")) == ["empty"]
    world.undo()
    assert sorted(str(path.relative_to(world.root)) for path in world.root.rglob("*")) == [
        "hollow", "made", "made/deep", "made/deep/f",
    ]  # fmt: skip
