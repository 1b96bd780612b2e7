"""Turns, commands and announced writes as hooks and live agents report them, on real folders."""

import os
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks, row, told
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import (
    Author,
    BeforeTurn,
    EntryKind,
    How,
    Scope,
    State,
)
from vibekit_desktop.core.types.errors import ChangedMeanwhile, NoOpenTurn, NotProtected, PathEscape, PathRefused
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


def test_the_first_look_sets_the_states_and_writes_nothing(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    world.write("deep/b", b"2")
    hooks.begin()
    assert [line.type for line in hooks.lines()] == ["turn_start"]
    hooks.end()
    assert row(world, 1).files == ()
    assert row(world, 1).coverage.complete


def test_a_turn_shows_announced_and_unannounced_changes_and_all_of_it_goes_back(world: World, hooks: Hooks) -> None:
    seed = {"a": b"1", "gone": b"x", "sub/keep": b"k"}
    for path, data in seed.items():
        world.write(path, data)
    hooks.begin()
    hooks.record("a", b"2")
    hooks.record("new", b"n")
    world.write("made-by-shell", b"s")
    world.write("gone", None)
    hooks.end()
    assert told(row(world, 1).files) == {
        "a": ("M", "agent", "announced"),
        "new": ("A", "agent", "announced"),
        "made-by-shell": ("A", "unknown", "scan"),
        "gone": ("D", "unknown", "scan"),
    }
    assert row(world, 1).coverage.complete
    assert world.actions(world.plan("before:1")) == {
        "a": "write",
        "new": "delete",
        "made-by-shell": "leave:changed-since",
        "gone": "leave:changed-since",
    }
    world.restore("before:1", mine=ALL_MINE)
    assert world.disk() == seed
    world.undo()
    assert world.disk() == {"a": b"2", "new": b"n", "made-by-shell": b"s", "sub/keep": b"k"}


def test_what_a_reported_command_changed_goes_back_without_asking(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    world.write("b", b"1")
    hooks.begin()
    world.write("b", b"by hand")
    hooks.command(lambda: world.write("a", b"2"))
    hooks.end()
    assert told(row(world, 1).files) == {"a": ("M", "command", "scan"), "b": ("M", "unknown", "scan")}
    world.restore("before:1")
    assert world.disk() == {"a": b"1", "b": b"by hand"}


def test_two_turns_at_once_make_an_unannounced_change_nobodys(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin(A)
    hooks.begin(B)
    hooks.command(lambda: world.write("a", b"2"), B)
    hooks.record("b", b"new", B)
    hooks.end(B)
    hooks.end(A)
    assert told(row(world, 1, B).files) == {"b": ("A", "agent", "announced")}
    assert told(row(world, 1, A).files) == {}
    gap = next(line for line in hooks.lines(B) if line.path == "a")
    assert (gap.author, gap.how) == (Author.UNKNOWN, How.GAP)
    assert world.actions(world.plan("before:1", B)) == {"b": "delete"}


def test_an_edit_between_turns_is_no_part_of_any(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    world.write("mine", b"old")
    hooks.begin()
    hooks.record("a", b"2")
    hooks.end()
    world.write("mine", b"new")
    hooks.begin()
    hooks.end()
    kinds = [(entry.kind.value, told(entry.files)) for entry in world.kernel.timeline(A).entries]
    assert kinds == [
        ("turn", {"a": ("M", "agent", "announced")}),
        ("between", {"mine": ("M", "unknown", "gap")}),
        ("turn", {}),
        ("now", {}),
    ]
    assert world.actions(world.plan("before:1")) == {"a": "write"}
    assert world.at("before:1", "mine") == b"old"
    assert world.at("before:2", "mine") == b"new"


def test_a_capture_whose_content_is_not_known_is_closed_by_what_is_found(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin()
    hooks.record("a", b"2", known=False)
    hooks.record("b", b"x")
    hooks.end()
    settle = next(line for line in hooks.lines() if line.how == How.SETTLE)
    assert (settle.path, settle.author, settle.before_sha) == ("a", Author.AGENT, settle.after_sha)
    assert told(row(world, 1).files)["a"] == ("M", "agent", "settle")
    assert world.at("after:1", "a") == b"2"
    world.restore("before:1")
    assert world.disk() == {"a": b"1"}


def test_a_write_that_was_announced_and_never_done_is_no_change(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin(A)
    hooks.record("a", b"2", A, do=False)
    hooks.begin(B)
    assert hooks.record("a", b"3", B).conflict is None
    hooks.end(B)
    hooks.end(A)
    assert world.kernel.conflicts(B) == ()


def test_foreign_content_is_a_conflict_and_both_sides_are_kept(world: World, hooks: Hooks) -> None:
    hooks.begin(A)
    hooks.record("f", b"by A", A)
    hooks.end(A)
    world.write("f", b"by somebody")
    hooks.begin(B)
    report = hooks.record("f", b"by B", B)
    hooks.end(B)
    assert report.conflict is not None
    (conflict,) = [one for one in world.kernel.conflicts(B) if one.other_chat]
    assert (conflict.path, conflict.other_chat, conflict.tag) == ("f", A, "1")
    assert world.kernel.read_blob(B, conflict.actual_sha) == b"by somebody"
    kinds = [line.type for line in hooks.lines(B)]
    assert kinds.index("conflict_detected") + 1 == kinds.index("snapshot")


def test_a_folder_that_is_made_and_one_that_goes_are_seen(world: World, hooks: Hooks) -> None:
    (world.root / "old").mkdir()
    hooks.begin()
    hooks.record("new/file", b"1")
    (world.root / "old").rmdir()
    (world.root / "empty").mkdir()
    hooks.end()
    folders = {line.path: (line.state, line.author, line.how) for line in hooks.lines() if line.type == "dir"}
    assert folders == {
        "new": ("folder", "agent", "scan"),
        "old": ("absent", "unknown", "scan"),
        "empty": ("folder", "unknown", "scan"),
    }


def test_a_rename_is_told_as_one(world: World, hooks: Hooks) -> None:
    world.write("old-name", b"content")
    hooks.begin()
    hooks.command(lambda: (world.root / "old-name").rename(world.root / "new-name"))
    hooks.end()
    (change,) = row(world, 1).files
    assert (change.status.value, change.path, change.old_path) == ("R", "new-name", "old-name")
    world.restore("before:1")
    assert world.disk() == {"old-name": b"content"}


def test_an_announced_rename_is_told_as_one(world: World, hooks: Hooks) -> None:
    world.write("old-name", b"content")
    hooks.begin()
    world.kernel.recorder.capture_rename(A, WorkspacePath("old-name"), WorkspacePath("new-name"), message_count=1)
    (world.root / "old-name").rename(world.root / "new-name")
    hooks.end()
    (change,) = row(world, 1).files
    assert (change.status.value, change.path, change.old_path) == ("R", "new-name", "old-name")
    world.restore("before:1")
    assert world.disk() == {"old-name": b"content"}


def test_an_ignored_change_is_said_and_not_listed(world: World, hooks: Hooks) -> None:
    world.write("node_modules/x/index.js", b"1")
    hooks.begin()
    world.write("node_modules/y/index.js", b"2")
    hooks.end()
    entry = row(world, 1)
    assert entry.files == ()
    assert [(one.path, one.reason) for one in entry.coverage.skipped] == [("node_modules", "ignored")]
    hooks.begin()
    hooks.end()
    assert row(world, 2).coverage.complete


def test_what_is_too_large_is_told_with_its_size(world: World, hooks: Hooks) -> None:
    """Its line has no size of its own; the coverage of the turn has."""
    world.cap(100)
    hooks.begin()
    hooks.command(lambda: world.write("samples", b"x" * 4_800))
    hooks.end()
    (missing,) = row(world, 1).coverage.skipped
    assert (missing.path, missing.reason, missing.size) == ("samples", "too-large", 4_800)


def test_an_announced_write_below_an_ignored_folder_is_kept(world: World, hooks: Hooks) -> None:
    world.write("node_modules/x", b"1")
    hooks.begin()
    hooks.record("node_modules/x", b"2")
    hooks.end()
    assert told(row(world, 1).files) == {"node_modules/x": ("M", "agent", "announced")}
    world.restore("before:1")
    assert world.read("node_modules/x") == b"1"


def test_a_write_through_us_is_captured_and_done_in_one_call(world: World, hooks: Hooks) -> None:
    world.write("a", b"1", 0o755)
    hooks.begin()
    recorder = world.kernel.recorder
    recorder.write(A, WorkspacePath("a"), b"2", message_count=1)
    recorder.write(A, WorkspacePath("deep/er/b"), b"new", message_count=1)
    hooks.end()
    assert world.disk() == {"a": b"2", "deep/er/b": b"new"}
    assert (world.root / "a").stat().st_mode & 0o777 == 0o755
    recorder.write(A, WorkspacePath("a"), None, message_count=1)
    assert world.disk() == {"deep/er/b": b"new"}
    world.restore("before:1")
    assert world.disk() == {"a": b"1"}
    assert not (world.root / "deep").exists()
    assert not world.stages()


def test_a_write_over_what_the_agent_did_not_read_is_held_and_the_other_bytes_are_kept(world: World, hooks: Hooks) -> None:
    world.write("f", b"read by the agent")
    hooks.begin()
    read = world.workspace.look(WorkspacePath("f"))
    world.write("f", b"typed by the user")
    with pytest.raises(ChangedMeanwhile):
        world.kernel.recorder.write(A, WorkspacePath("f"), b"agent", message_count=1, expected=read)
    assert world.read("f") == b"typed by the user"
    (conflict,) = world.kernel.conflicts(A)
    assert world.kernel.read_blob(A, conflict.actual_sha) == b"typed by the user"


def test_what_an_agent_wrote_itself_and_asks_us_to_write_is_its_own(world: World, hooks: Hooks) -> None:
    """Some agents write a file and ask for the same write at the same time."""
    world.write("f", b"read by the agent")
    hooks.begin()
    read = world.workspace.look(WorkspacePath("f"))
    hooks.record("f", b"agent", known=False, do=False)
    world.write("f", b"agent")
    world.kernel.recorder.write(A, WorkspacePath("f"), b"agent", message_count=1, expected=read)
    assert not world.kernel.conflicts(A)
    hooks.end()
    assert world.read("f") == b"agent"
    world.restore("before:1")
    assert world.read("f") == b"read by the agent"


def test_a_write_that_could_not_be_taken_back_is_held(tmp_path: Path, clock: Clock) -> None:
    world = World(tmp_path, clock)
    world.cap(10)
    world.write("big", b"x" * 11)
    world.kernel.recorder.begin_turn(A, message_count=1)
    with pytest.raises(NotProtected):
        world.kernel.recorder.write(A, WorkspacePath("big"), b"small", message_count=1)
    assert world.read("big") == b"x" * 11
    report = world.kernel.recorder.write(A, WorkspacePath("big"), b"small", message_count=1, unprotected=True)
    assert report.before.state is State.NOT_CAPTURED
    assert world.read("big") == b"small"
    world.kernel.recorder.end_turn(A)
    assert not row(world, 1).coverage.complete
    assert world.actions(world.plan("before:1")) == {"big": "leave:not-captured"}


@pytest.mark.parametrize(
    ("path", "error"), [(".git/config", PathRefused), ("sub/.GIT/x", PathRefused), ("con", PathRefused), ("fifo", PathRefused)]
)
def test_what_is_never_touched_is_refused_and_nothing_is_written(
    world: World, hooks: Hooks, path: str, error: type[Exception]
) -> None:
    os.mkfifo(world.root / "fifo")
    hooks.begin()
    before = hooks.lines()
    with pytest.raises(error):
        hooks.record(path, b"x", do=False)
    with pytest.raises(error):
        world.kernel.recorder.write(A, WorkspacePath(path), b"x", message_count=1)
    assert hooks.lines() == before


def test_a_link_is_captured_as_the_file_it_leads_to_and_never_out_of_the_workspace(world: World, hooks: Hooks) -> None:
    world.write("real", b"1")
    (world.root / "link").symlink_to("real")
    outside = world.root.parent / "outside"
    outside.write_bytes(b"secret")
    (world.root / "out").symlink_to(outside)
    hooks.begin()
    report = hooks.record("link", b"2", do=False)
    assert report.path == "real"
    (world.root / "link").write_bytes(b"2")
    with pytest.raises(PathEscape):
        hooks.record("out", b"x", do=False)
    with pytest.raises(PathRefused):
        world.kernel.recorder.write(A, WorkspacePath("link"), b"x", message_count=1)
    hooks.end()
    world.restore("before:1")
    assert world.read("real") == b"1"
    assert (world.root / "link").is_symlink()
    assert outside.read_bytes() == b"secret"


def test_an_end_without_a_beginning_is_refused(world: World) -> None:
    for call in (
        lambda: world.kernel.recorder.end_turn(A),
        lambda: world.kernel.recorder.begin_command(A),
        lambda: world.kernel.recorder.end_command(A),
    ):
        with pytest.raises(NoOpenTurn):
            call()
    assert not world.vault.chats_with_logs()


def test_tags_count_within_a_turn_and_before_the_first(world: World, hooks: Hooks) -> None:
    tags = [hooks.record("a", b"0").tag, hooks.record("a", b"1").tag]
    hooks.begin()
    tags += [hooks.record("a", b"2").tag, hooks.record("b", b"3").tag]
    hooks.end()
    hooks.begin()
    hooks.end()
    hooks.begin()
    tags.append(hooks.record("a", b"4").tag)
    assert tags == ["0.0", "0.1", "1", "1.1", "3"]
    assert world.kernel.oldest_tag(A) == "0.0"


def test_a_branch_shares_the_history_before_its_turn_and_goes_on_by_itself(world: World, hooks: Hooks) -> None:
    world.write("a", b"0")
    for data in (b"1", b"2", b"3"):
        hooks.begin()
        hooks.record("a", data)
        hooks.end()
    branch = ChatId("branch")
    world.kernel.branch(A, 3, branch)
    assert world.transcripts.chats[branch] == [1, 0, 2, 0]
    turns = [entry.turn for entry in world.kernel.timeline(branch).entries if entry.kind is EntryKind.TURN]
    assert turns == [1, 2]
    assert world.at("before:2", "a", branch) == b"1"
    assert hooks.begin(branch) == 3
    hooks.record("a", b"4", branch)
    hooks.end(branch)
    world.restore("before:3", branch)
    assert world.read("a") == b"3", "the parent's turn 3 is not the branch's"
    assert next(line.type for line in world.vault.lines(branch)) == "branch_start"


def test_the_log_of_a_deleted_chat_stays_while_it_is_needed(world: World, hooks: Hooks) -> None:
    world.write("a", b"0")
    hooks.begin(B)
    hooks.record("b", b"1", B)
    hooks.end(B)
    hooks.begin(A)
    hooks.record("a", b"1", A)
    hooks.end(A)
    world.kernel.retire(A)
    assert world.vault.retired_chats() == [A], "B began before it ended"
    assert world.at("before:1", "a", B) == b"0"
    assert not world.log_path(A).exists()
    last = world.vault.last_seq()
    world.kernel.retire(B)
    assert world.vault.retired_chats() == []
    assert world.vault.last_seq() == last, "a number is never given twice"
    world.reopen()
    hooks.begin(ChatId("chat-c"))
    assert [line.type for line in hooks.lines(ChatId("chat-c"))] == ["turn_start"], "what the deleted chats left is no change"


def test_a_restore_inside_a_running_turn_does_not_end_it(world: World, hooks: Hooks) -> None:
    world.write("a", b"0")
    hooks.begin()
    hooks.record("a", b"1")
    world.restore("before:1", scope=Scope.FILES)
    world.write("late", b"x")
    hooks.end()
    assert told(row(world, 1).files) == {"a": ("M", "agent", "announced"), "late": ("A", "unknown", "scan")}


def test_what_somebody_else_comes_upon_while_a_command_runs_may_be_a_persons(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin(A)
    world.kernel.recorder.begin_command(A)
    world.write("a", b"typed after the agent was killed")
    hooks.begin(B)
    assert told(row(world, 1, A).files) == {"a": ("M", "unknown", "scan")}
    assert world.actions(world.plan("before:1", A)) == {"a": "leave:changed-since"}


def test_a_command_whose_end_was_never_said_made_nothing_that_the_next_one_finds(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin()
    world.kernel.recorder.begin_command(A)
    world.write("a", b"typed by hand")
    world.kernel.recorder.begin_command(A)
    assert told(row(world, 1).files) == {"a": ("M", "unknown", "scan")}


def test_what_stops_being_ignored_and_changed_meanwhile_has_no_known_content_from_before(world: World, hooks: Hooks) -> None:
    world.write(".gitignore", b"build/\n")
    world.write("build/x", b"0")
    os.utime(world.root / "build/x", (1, 1))
    hooks.begin()
    world.write(".gitignore", b"")
    world.write("build/x", b"1")
    hooks.end()
    hooks.begin()
    hooks.record("build/x", b"2")
    hooks.end()
    state = world.kernel.state_at(A, BeforeTurn(1), WorkspacePath("build/x"))
    assert (state.state, state.reason) == (State.UNKNOWN, "ignored")
    assert world.at("before:2", "build/x") == b"1"
    assert world.actions(world.plan("before:1", mine=ALL_MINE))["build/x"] == "leave:unknown"


def test_a_write_that_somebody_does_at_the_same_time_to_the_same_end_is_done(world: World, hooks: Hooks) -> None:
    """Some agents have us write a file, and write it themselves meanwhile."""
    world.write("f", b"before")
    hooks.begin()

    def also(name: str) -> None:
        if name == "stage.sync":
            world.write("f", b"agent")

    with faults.armed(also):
        world.kernel.recorder.write(A, WorkspacePath("f"), b"agent", message_count=1)
    assert not world.stages()
    hooks.end()
    (change,) = row(world, 1).files
    assert (change.author, change.how) == (Author.AGENT, How.ANNOUNCED)
    assert (world.at("before:1", "f"), world.at("after:1", "f")) == (b"before", b"agent")


def test_a_turn_whose_edit_was_not_made_is_none_of_the_turns_that_an_undo_takes_back(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    for data, do in ((b"2", True), (b"3", False), (b"4", True)):
        hooks.begin()
        hooks.record("a", data, known=False, do=do)
        hooks.end()
    assert row(world, 2).files == ()
    (file,) = world.plan("before:1").files
    assert file.turns == (1, 3)
