"""Restoring: what a plan says is what happens, and nothing is lost."""

import os
from dataclasses import replace as with_values
from pathlib import Path

import pytest

from tests.core.checkpoint.world import ALL_MINE, A, B, World, replaced
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.checkpoint.plan import PlanRequest
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    UNKNOWN,
    Action,
    Author,
    FileState,
    How,
    Mine,
    RestoreKind,
    Scope,
    State,
    parse_point,
)
from vibekit_desktop.core.types.errors import (
    LogDamaged,
    Malformed,
    NothingToTakeBack,
    NotKnownThere,
    PlanStale,
    PointNotFound,
    WorkspaceMissing,
)
from vibekit_desktop.core.types.ids import WorkspacePath


def test_a_restore_puts_back_every_file_of_a_turn(world: World) -> None:
    world.write("a", b"a0")
    world.write("b", b"b0")
    world.turn({"a": b"a1", "b": b"b1", "new/c": b"c1"})
    plan = world.plan("before:1")
    assert world.actions(plan) == {"a": "write", "b": "write", "new/c": "delete"}
    report = world.do(plan)
    assert world.disk() == {"a": b"a0", "b": b"b0"}
    assert report.restored == ("a", "b", "new/c")
    assert report.verified
    assert report.entry == 1
    assert not report.failed
    assert not world.stages()


def test_a_restored_deletion_comes_back_with_its_folder(world: World) -> None:
    world.write("deep/er/f", b"x")
    world.begin()
    world.act("deep/er/f", None)
    os.rmdir(world.root / "deep/er")
    os.rmdir(world.root / "deep")
    report = world.restore("before:1")
    assert world.read("deep/er/f") == b"x"
    assert report.verified
    made = [(line.path, line.state) for line in world.vault.lines(A) if line.type == "dir"]
    assert made == [("deep", "folder"), ("deep/er", "folder")]
    world.undo()
    assert not (world.root / "deep").exists()


def test_a_folder_that_nobody_says_we_made_stays_when_it_is_emptied(world: World) -> None:
    world.turn({"pkg/f": b"x"})
    world.restore("before:1")
    assert (world.root / "pkg").is_dir()
    assert world.disk() == {}


def test_what_was_overwritten_is_in_the_store(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    world.write("a", b"by hand")
    world.restore("before:1", mine=ALL_MINE)
    assert world.read("a") == b"a0"
    assert world.at("entry:1", "a") == b"by hand"
    world.undo()
    assert world.read("a") == b"by hand"


def test_a_file_changed_since_is_left_and_said_so(world: World) -> None:
    world.write("a", b"a0")
    world.write("b", b"b0")
    world.turn({"a": b"a1", "b": b"b1"})
    world.write("a", b"mine")
    plan = world.plan("before:1")
    assert world.actions(plan) == {"a": "leave:changed-since", "b": "write"}
    assert plan.files[0].changed_by == "unknown"
    report = world.do(plan)
    assert world.disk() == {"a": b"mine", "b": b"b0"}
    assert [(left.path, left.reason) for left in report.left] == [("a", "changed-since")]
    assert not report.failed


def test_a_choice_for_one_path_restores_only_that_one(world: World) -> None:
    world.turn({"a": b"a1", "b": b"b1"})
    world.write("a", b"mine")
    world.write("b", b"mine")
    world.restore("before:1", mine=Mine(restore=frozenset({WorkspacePath("a")})))
    assert world.disk() == {"b": b"mine"}


def test_a_path_that_another_chat_left_is_left_and_names_the_chat(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    world.turn({"a": b"a2"}, B)
    plan = world.plan("before:1")
    assert plan.files[0].changed_by == B
    assert plan.files[0].also_by == (B,)
    assert plan.files[0].action is Action.LEAVE


def test_another_chats_paths_are_not_in_the_plan(world: World) -> None:
    world.turn({"a": b"a1"})
    world.turn({"b": b"b1"}, B)
    assert [file.path for file in world.plan("start").files] == ["a"]


def test_a_named_path_that_no_line_names_is_left(world: World) -> None:
    world.turn({"a": b"a1"})
    world.write("z", b"z")
    assert world.actions(world.plan("before:1", paths=("z",))) == {"z": "leave:not-this-chat"}


def test_a_plan_is_stale_when_the_disk_changed(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1", "b": b"b1"})
    plan = world.plan("before:1")
    world.write("a", b"mine")
    with pytest.raises(PlanStale) as caught:
        world.do(plan)
    assert caught.value.changed == ("a",)
    assert world.disk() == {"a": b"mine", "b": b"b1"}


def test_line_counts_are_no_part_of_what_was_confirmed(world: World) -> None:
    world.turn({"a": b"a1"})
    plan = world.plan("before:1")
    plan = with_values(plan, files=tuple(with_values(file, lines_added=4) for file in plan.files))
    assert world.do(plan).verified


def test_a_restore_of_a_restored_state_has_nothing_to_do(world: World) -> None:
    world.turn({"a": b"a1"})
    world.restore("before:1")
    lines = world.vault.lines(A)
    report = world.restore("before:1")
    assert report.entry == 0
    assert [left.reason for left in report.left] == ["same"]
    assert world.vault.lines(A) == lines


def test_now_cannot_be_restored_and_an_unknown_point_is_said_so(world: World) -> None:
    world.turn({"a": b"a1"})
    with pytest.raises(Malformed):
        world.plan("now")
    for point in ("before:9", "after:9", "9.1", "entry:1"):
        with pytest.raises(PointNotFound):
            world.plan(point)


def test_undo_and_redo_have_no_limit(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    world.turn({"a": b"a2"})
    world.restore("before:2")
    world.restore("before:1")
    assert world.read("a") == b"a0"
    world.undo()
    assert world.read("a") == b"a1"
    world.undo()
    assert world.read("a") == b"a2"
    with pytest.raises(NothingToTakeBack):
        world.undo()
    world.redo()
    assert world.read("a") == b"a1"
    world.redo()
    assert world.read("a") == b"a0"
    with pytest.raises(NothingToTakeBack):
        world.redo()
    world.undo()
    world.undo()
    assert world.read("a") == b"a2"
    assert [line.entry for line in world.vault.lines(A) if line.type == "restore_plan"] == list(range(1, 9))


def test_a_new_turn_clears_redo(world: World) -> None:
    world.turn({"a": b"a1"})
    world.restore("before:1")
    world.undo()
    assert world.kernel.timeline(A).can_redo == 2
    world.turn({"b": b"b"})
    with pytest.raises(NothingToTakeBack):
        world.redo()


def test_another_restore_clears_redo(world: World) -> None:
    world.turn({"a": b"a1", "b": b"b1"})
    world.restore("before:1", paths=("a",))
    world.undo()
    world.undo_file("before:1", "b")
    with pytest.raises(NothingToTakeBack):
        world.redo()


def test_undo_leaves_what_changed_since_the_restore(world: World) -> None:
    world.turn({"a": b"a1", "b": b"b1"})
    world.restore("before:1")
    world.write("a", b"mine")
    plan = world.plan(None, kind=RestoreKind.UNDO)
    assert world.actions(plan) == {"a": "leave:changed-later", "b": "create"}
    world.do(plan)
    assert world.disk() == {"a": b"mine", "b": b"b1"}


def test_what_a_person_wrote_stays_theirs_when_it_comes_back(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    world.write("a", b"mine")
    world.restore("before:1", mine=ALL_MINE)
    world.undo()
    plan = world.plan("before:1")
    assert world.actions(plan) == {"a": "leave:changed-since"}
    assert plan.files[0].changed_by == "unknown"


def test_what_the_agent_wrote_is_the_chats_again_after_an_undo(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    world.restore("before:1")
    world.undo()
    assert world.actions(world.plan("before:1")) == {"a": "write"}


def test_what_another_chat_wrote_stays_its_own_when_it_comes_back(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    world.turn({"a": b"a2"}, B)
    world.restore("before:1", mine=ALL_MINE)
    world.undo()
    assert world.read("a") == b"a2"
    assert world.plan("before:1").files[0].changed_by == B
    assert world.actions(world.plan("before:1", B)) == {"a": "write"}


def test_undo_file_takes_back_one_file_and_leaves_the_transcript(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1", "b": b"b1"})
    report = world.undo_file("before:1", "a")
    assert world.disk() == {"a": b"a0", "b": b"b1"}
    assert report.kind is RestoreKind.UNDO_FILE
    assert world.transcripts.chats[A] == [1, 0]


def test_modes_come_back_and_a_mode_alone_is_an_action(world: World) -> None:
    world.write("secret", b"s0", 0o600)
    world.write("run.sh", b"#!", 0o755)
    world.begin()
    world.act("secret", b"s1", mode=0o644)
    world.act("run.sh", lambda: os.chmod(world.root / "run.sh", 0o644))
    world.end()
    plan = world.plan("before:1")
    assert world.actions(plan) == {"run.sh": "mode", "secret": "write"}
    inode = (world.root / "run.sh").stat().st_ino
    assert world.do(plan).verified
    assert (world.root / "secret").stat().st_mode & 0o777 == 0o600
    assert (world.root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (world.root / "run.sh").stat().st_ino == inode


def test_links_are_restored_as_links(world: World) -> None:
    os.symlink("../outside", world.root / "link")
    world.begin()
    world.act("link", lambda: ((world.root / "link").unlink(), (world.root / "link").write_bytes(b"file"))[0])
    world.end()
    world.restore("before:1")
    assert os.readlink(world.root / "link") == "../outside"
    world.undo()
    assert not (world.root / "link").is_symlink()
    assert world.read("link") == b"file"


def test_empty_binary_and_oddly_named_files_come_back_exactly(world: World) -> None:
    data = bytes(range(256)) * 256
    name = os.fsdecode(b"caf\xe9\n\xff")
    for path, content in {"empty": b"", "bin": data, name: b"x", "日本/ü": b"y"}.items():
        world.write(path, content)
    before = world.disk()
    world.turn({"empty": b"no", "bin": b"", name: None, "日本/ü": b"z"})
    report = world.restore("before:1")
    assert report.verified
    assert world.disk() == before
    assert name in report.restored


def test_a_file_that_was_not_captured_is_left_and_the_restore_is_not_called_whole(world: World) -> None:
    world.turn({"a": b"a1"})
    world.begin()
    world.write("big", b"now")
    after = world.look("big")
    before = FileState(State.NOT_CAPTURED, None, None, "too-large")
    line = log.observed(WorkspacePath("big"), before, after, author=Author.AGENT, how=How.ANNOUNCED, turn=2)
    world.vault.append(A, [replaced(line, type="snapshot", tag="2")])
    world.end()
    plan = world.plan("before:1")
    assert world.actions(plan) == {"a": "delete", "big": "leave:not-captured"}
    report = world.do(plan)
    assert [left.path for left in report.failed] == ["big"]
    assert world.vault.lines(A)[-1].type == "restore_partial"
    with pytest.raises(NotKnownThere) as caught:
        world.kernel.content(A, parse_point("before:2"), WorkspacePath("big"))
    assert caught.value.reason == "too-large"


def test_a_folder_in_the_place_of_a_file_is_left(world: World) -> None:
    world.write("a", b"a0")
    world.write("b", b"b0")
    world.turn({"a": b"a1", "b": b"b1"})
    for name in "ab":
        (world.root / name).unlink()
        (world.root / name).mkdir()
    (world.root / "a/inside").write_bytes(b"x")
    assert world.actions(world.plan("before:1", mine=ALL_MINE)) == {"a": "leave:not-empty", "b": "leave:not-regular"}


def test_a_link_on_the_way_is_never_followed(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs")
    world.turn({"sub/f": b"x"})
    (world.root / "sub/f").unlink()
    (world.root / "sub").rmdir()
    os.symlink(outside, world.root / "sub")
    assert world.actions(world.plan("before:1", mine=ALL_MINE)) == {"sub/f": "leave:link-on-the-way"}
    assert (outside / "f").read_bytes() == b"theirs"


def test_a_fifo_is_never_opened(world: World) -> None:
    world.turn({"pipe": b"x"})
    (world.root / "pipe").unlink()
    os.mkfifo(world.root / "pipe")
    assert world.actions(world.plan("before:1", mine=ALL_MINE)) == {"pipe": "leave:not-regular"}


def test_a_reserved_name_that_was_here_is_brought_back(world: World) -> None:
    world.write("aux.c", b"x")
    world.turn({"aux.c": None})
    assert world.actions(world.plan("before:1")) == {"aux.c": "create"}


def test_a_reserved_name_that_only_an_import_names_is_not_made(world: World) -> None:
    world.begin()
    sha = world.vault.blobs.put(b"x")
    before = FileState(State.PRESENT, sha)
    line = log.observed(WorkspacePath("src/nul"), before, ABSENT, author=Author.AGENT, how=How.IMPORT, turn=1)
    world.vault.append(A, [replaced(line, type="snapshot", tag="1")], number=False)
    assert world.actions(world.plan("before:1")) == {"src/nul": "leave:refused"}


def test_the_transcript_is_cut_before_the_prompt_and_kept_as_a_branch(world: World) -> None:
    world.turn({"a": b"a1"})
    world.turn({"a": b"a2"})
    world.turn({"a": b"a3"})
    plan = world.plan("before:2", scope=Scope.BOTH)
    assert (plan.keep_messages, plan.total_messages, plan.cut_turns, plan.next_prompt) == (2, 6, (2, 3), "prompt 2")
    report = world.do(plan)
    assert world.read("a") == b"a1"
    assert world.transcripts.chats[A] == [1, 0]
    branch = report.branch_chat_id
    assert branch is not None
    assert world.transcripts.chats[branch] == [1, 0, 2, 0, 3, 0]
    assert report.next_prompt == "prompt 2"
    (start,) = world.vault.lines(branch)
    assert (start.type, start.parent, start.cut_seq) == ("branch_start", A, 9)
    assert world.at("after:3", "a", branch) == b"a3"


@pytest.mark.parametrize(
    ("point", "keep", "turns"),
    [
        ("start", 0, (1, 3)),
        ("before:1", 0, (1, 3)),
        ("2", 2, (2, 3)),
        ("after:1", 2, (2, 3)),
        ("after:3", 6, None),
        ("entry:1", 4, (3, 3)),
    ],
)
def test_where_the_transcript_is_cut(world: World, point: str, keep: int, turns: tuple[int, int] | None) -> None:
    world.turn({"a": b"a1"})
    world.turn({"b": b"b1"})
    world.undo_file("before:1", "a")
    world.turn({"c": b"c1"})
    plan = world.plan(point, scope=Scope.CHAT)
    assert (plan.keep_messages, plan.cut_turns, plan.files) == (keep, turns, ())


def test_a_prompt_that_the_transcript_does_not_hold_cuts_nothing(world: World) -> None:
    world.turn({"a": b"a1"})
    world.transcripts.chats[A] = [0, 0]
    plan = world.plan("before:1", scope=Scope.BOTH)
    assert not plan.cuts
    assert world.do(plan).branch_chat_id is None


def test_undo_of_a_cut_brings_the_turns_back_and_redo_cuts_again(world: World) -> None:
    world.turn({"a": b"a1"})
    world.turn({"a": b"a2"})
    first = world.restore("before:2", scope=Scope.BOTH)
    plan = world.plan(None, kind=RestoreKind.UNDO, scope=Scope.BOTH)
    assert plan.brings_back == 2
    world.do(plan)
    assert world.transcripts.chats == {A: [1, 0, 2, 0]}
    assert world.read("a") == b"a2"
    assert world.vault.chats_with_logs() == [A]
    again = world.redo()
    assert world.transcripts.chats[A] == [1, 0]
    assert again.branch_chat_id not in (None, first.branch_chat_id)
    world.undo()
    assert world.transcripts.chats == {A: [1, 0, 2, 0]}


def test_undo_of_a_cut_leaves_the_transcript_when_new_turns_followed(world: World) -> None:
    world.turn({"a": b"a1"})
    world.restore("before:1", scope=Scope.BOTH)
    world.turn({"b": b"b1"})
    plan = world.plan(None, kind=RestoreKind.UNDO, scope=Scope.BOTH)
    assert (plan.brings_back, plan.notes) == (0, ("turns-followed",))
    world.do(plan)
    assert world.transcripts.chats[A] == [2, 0]
    assert world.disk() == {"a": b"a1", "b": b"b1"}


def test_a_chat_only_restore_leaves_every_file_and_can_be_undone(world: World) -> None:
    world.turn({"a": b"a1"})
    report = world.restore("before:1", scope=Scope.CHAT)
    assert (report.entry, report.restored, world.read("a")) == (1, (), b"a1")
    assert world.transcripts.chats[A] == []
    world.undo()
    assert world.transcripts.chats[A] == [1, 0]


def test_the_look_before_an_entry_writes_what_nobody_recorded(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1", "b": b"b1"})
    world.turn({"c": b"c1"}, B)
    world.write("b", b"mine")
    world.write("c", b"mine too")
    world.restore("before:1")
    gaps = [(line.path, line.author, line.how, line.turn) for line in world.vault.lines(A) if line.how == "gap"]
    assert gaps == [("b", "unknown", "gap", 1), ("c", "unknown", "gap", 1)]
    assert world.at("after:1", "b") == b"b1"
    assert world.at("entry:1", "b") == b"mine"
    assert world.kernel.touched(A) == ["a", "b"]


def test_a_state_nobody_knew_is_settled_at_the_look(world: World) -> None:
    world.turn({"a": b"a1"})
    world.begin()
    line = log.observed(WorkspacePath("b"), ABSENT, UNKNOWN, author=Author.AGENT, how=How.ANNOUNCED, turn=2)
    world.vault.append(A, [replaced(line, type="snapshot", tag="2")])
    world.write("b", b"it was this")
    world.end()
    world.restore("before:1")
    settled = [line for line in world.vault.lines(A) if line.how == "settle"]
    assert [(line.path, line.before_sha == line.after_sha, line.author) for line in settled] == [("b", True, "unknown")]
    assert world.read("b") == b"it was this"


def test_a_damaged_log_refuses_every_change(world: World) -> None:
    world.turn({"a": b"a1"})
    data = world.log_path().read_bytes().split(b"\n")
    data[0] = data[0].replace(b'"turn":1', b'"turn":7')
    world.log_path().write_bytes(b"\n".join(data))
    plan = world.plan("start")
    with pytest.raises(LogDamaged):
        world.do(plan)
    assert world.read("a") == b"a1"


def test_without_a_workspace_the_last_known_state_is_now(world: World) -> None:
    world.turn({"a": b"a1"})
    kernel = CheckpointKernel(world.fs, world.vault, None, world.transcripts, world.clock)
    assert kernel.content(A, parse_point("now"), WorkspacePath("a")) == b"a1"
    assert not kernel.timeline(A).workspace_found
    with pytest.raises(WorkspaceMissing):
        kernel.plan(A, PlanRequest(RestoreKind.RESTORE, parse_point("before:1")))
    plan = kernel.plan(A, PlanRequest(RestoreKind.RESTORE, parse_point("before:1"), Scope.CHAT))
    assert kernel.carry_out(plan).entry == 1
    assert kernel.recover() == []
