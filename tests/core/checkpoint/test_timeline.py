"""The rows of the timeline, contents at points, checkouts, and what verify finds."""

import os
from pathlib import Path

import pytest

from tests.core.checkpoint.world import ALL_MINE, A, B, World, replaced
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.log import CoverageLine, Line, SkippedPath
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    UNKNOWN,
    Author,
    ChangeStatus,
    EntryKind,
    FileState,
    How,
    RestoreKind,
    Scope,
    Skipped,
    State,
    TimelineEntry,
    parse_point,
)
from vibekit_desktop.core.types.errors import BlobNotFound, FolderNotEmpty, NotKnownThere
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath
from vibekit_desktop.core.types.verified import Problem


def rows(world: World, chat: ChatId = A) -> list[tuple[str, int, dict[str, str]]]:
    entries = world.kernel.timeline(chat).entries
    return [(row.kind.value, row.turn, {file.path: file.status.value for file in row.files}) for row in entries]


def row(world: World, kind: EntryKind, number: int = 0) -> TimelineEntry:
    return [found for found in world.kernel.timeline(A).entries if found.kind is kind][number]


def test_an_empty_chat_has_only_now(world: World) -> None:
    assert rows(world) == [("now", 0, {})]


def test_turns_gaps_restores_and_now_come_in_order(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1", "b": b"b1"})
    world.write("a", b"by hand")
    world.turn({"a": b"a2"})
    world.restore("before:2")
    world.write("b", b"by hand")
    assert rows(world) == [
        ("turn", 1, {"a": "M", "b": "A"}),
        ("between", 1, {"a": "M"}),
        ("turn", 2, {"a": "M"}),
        ("restore", 2, {"a": "M"}),
        ("now", 2, {"b": "M"}),
    ]
    between = row(world, EntryKind.BETWEEN).files[0]
    assert (between.author, between.how) == (Author.UNKNOWN, How.GAP)
    now = row(world, EntryKind.NOW).files[0]
    assert (now.author, now.how, now.before.sha) == (Author.UNKNOWN, How.GAP, hash_of(b"b1"))
    restore = row(world, EntryKind.RESTORE)
    assert (restore.entry, restore.point, restore.restore_kind, restore.undone) == (1, "before:2", RestoreKind.RESTORE, False)


def test_a_row_has_one_net_change_for_each_path(world: World) -> None:
    world.write("same", b"s")
    world.begin()
    world.act("a", b"1")
    world.act("a", b"2")
    world.act("gone", b"x")
    world.act("gone", None)
    world.act("same", b"t")
    world.act("same", b"s")
    world.end()
    turn = row(world, EntryKind.TURN)
    assert [(file.path, file.status, file.tag) for file in turn.files] == [("a", ChangeStatus.ADDED, "1")]
    assert (turn.tag, turn.prompt, turn.at) == ("1", "prompt 1", world.clock.now_ms)
    assert turn.files[0].after.sha == hash_of(b"2")


def test_a_rename_is_one_row(world: World) -> None:
    world.write("old", b"x")
    world.begin()
    world.act("old", None)
    world.write("new", b"x")
    line = log.observed(WorkspacePath("new"), ABSENT, world.look("new"), author=Author.AGENT, how=How.ANNOUNCED, turn=1)
    world.vault.append(A, [replaced(line, type="snapshot", tag="1.1", tool=1, renamed_from="old")])
    turn = row(world, EntryKind.TURN)
    (file,) = turn.files
    assert (file.path, file.old_path, file.status) == ("new", "old", ChangeStatus.RENAMED)
    assert file.before.sha == file.after.sha


def test_coverage_notes_and_duration_are_told(world: World) -> None:
    world.begin()
    world.vault.append(
        A,
        [
            Line(type="note", path="/etc/hosts", reason="outside", turn=1, size=7),
            Line(
                type="turn_end",
                turn=1,
                duration_ms=1234,
                coverage=CoverageLine(complete=False, skipped=(SkippedPath(path="big", reason="too-large", size=9),)),
            ),
        ],
    )
    turn = row(world, EntryKind.TURN)
    assert turn.notes == (Skipped("/etc/hosts", "outside", 7),)
    assert turn.coverage.skipped == (Skipped("big", "too-large", 9),)
    assert turn.duration_ms == 1234


def test_a_change_that_an_entry_took_back_is_marked_until_that_is_undone(world: World) -> None:
    world.turn({"a": b"a1", "b": b"b1"})
    world.undo_file("before:1", "a")
    assert {file.path: file.undone for file in row(world, EntryKind.TURN).files} == {"a": True, "b": False}
    world.undo()
    assert not any(file.undone for file in row(world, EntryKind.TURN).files)
    assert [row(world, EntryKind.RESTORE, number).undone for number in (0, 1)] == [True, False]
    world.redo()
    assert [row(world, EntryKind.RESTORE, number).undone for number in (0, 1, 2)] == [False, True, False]


def test_what_another_chat_did_to_our_paths_is_shown_between_and_now(world: World) -> None:
    world.turn({"a": b"a1"})
    world.turn({"a": b"a2", "z": b"z"}, B)
    now = row(world, EntryKind.NOW).files[0]
    assert (now.path, now.author, now.other_chat) == ("a", Author.CHAT, B)
    between = row(world, EntryKind.BETWEEN)
    assert [(file.path, file.author, file.other_chat) for file in between.files] == [("a", Author.CHAT, B)]


def test_another_chats_change_inside_our_turn_is_not_the_turns(world: World) -> None:
    world.begin()
    world.act("a", b"a1")
    world.turn({"a": b"b1"}, B)
    world.act("c", b"c1")
    world.end()
    assert rows(world)[0] == ("turn", 1, {"a": "A", "c": "A"})
    assert row(world, EntryKind.TURN).files[0].after.sha == hash_of(b"a1")


def test_prompts_of_turns_that_were_cut_are_still_told(world: World) -> None:
    world.turn({"a": b"a1"})
    world.turn({"a": b"a2"})
    world.restore("before:2", scope=Scope.BOTH)
    assert [found.prompt for found in world.kernel.timeline(A).entries if found.kind is EntryKind.TURN] == [
        "prompt 1",
        "prompt 2",
    ]


def test_content_says_why_there_is_none(world: World) -> None:
    world.turn({"a": b"a1"})
    path = WorkspacePath("a")
    assert world.kernel.content(A, parse_point("after:1"), path) == b"a1"
    assert world.kernel.content(A, parse_point("now"), path) == b"a1"
    for point, name, reason in (("before:1", "a", "absent"), ("now", "z", "absent"), ("start", "z", "unknown")):
        with pytest.raises(NotKnownThere) as caught:
            world.kernel.content(A, parse_point(point), WorkspacePath(name))
        assert caught.value.reason == reason


def test_only_contents_that_the_logs_name_are_handed_out(world: World) -> None:
    world.turn({"a": b"a1"})
    stray = world.vault.blobs.put(b"nobody named this")
    with pytest.raises(BlobNotFound):
        world.kernel.read_state(FileState(State.PRESENT, stray))
    with pytest.raises(BlobNotFound):
        world.kernel.read_state(UNKNOWN)
    with pytest.raises(BlobNotFound):
        world.vault.blobs.get(BlobHash("0" * 64))


def test_what_differs_between_two_points(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1", "b": b"b1"})
    world.turn({"b": b"b2"})

    def changed(old: str, new: str, *paths: str) -> list[str]:
        named = tuple(WorkspacePath(path) for path in paths)
        return [path for path, _, _ in world.kernel.changed_between(A, parse_point(old), parse_point(new), named)]

    assert changed("before:1", "after:2") == ["a", "b"]
    assert changed("after:1", "now") == ["b"]
    assert changed("start", "now", "a", "z") == ["a", "z"]
    world.write("a", b"mine")
    assert changed("after:2", "now") == ["a"]


def test_a_checkout_writes_the_files_of_a_point_into_an_empty_folder(world: World, tmp_path: Path) -> None:
    os.symlink("target", world.root / "link")
    world.write("run", b"#!", 0o755)
    world.write("deep/f", b"f0")
    world.begin()
    world.act("deep/f", b"f1")
    world.act("run", None)
    world.act("link", (world.root / "link").unlink)
    world.act("new", b"n")
    world.end()
    folder = tmp_path / "out" / "here"
    report = world.kernel.checkout(A, parse_point("before:1"), folder)
    assert (report.files, report.left) == (("deep/f", "link", "run"), ())
    assert (folder / "deep/f").read_bytes() == b"f0"
    assert os.readlink(folder / "link") == "target"
    assert (folder / "run").stat().st_mode & 0o777 == 0o755
    assert len(list(folder.rglob("*"))) == 4
    with pytest.raises(FolderNotEmpty):
        world.kernel.checkout(A, parse_point("before:1"), folder)
    now = world.kernel.checkout(A, parse_point("now"), tmp_path / "now")
    assert now.files == ("deep/f", "new")


def test_a_checkout_names_what_it_cannot_write(world: World, tmp_path: Path) -> None:
    world.write("a", b"a0")
    world.write("nul", b"x")
    world.turn({"a": b"a1", "nul": b"y"})
    line = log.observed(WorkspacePath("u"), UNKNOWN, ABSENT, author=Author.AGENT, how=How.ANNOUNCED, turn=1)
    world.vault.append(A, [replaced(line, type="snapshot", tag="1.2")])
    sha = hash_of(b"a0")
    (world.vault_folder / "snapshots/blobs" / sha[:2] / sha[2:]).unlink()
    report = world.kernel.checkout(A, parse_point("before:1"), tmp_path / "out")
    assert [(left.path, left.reason) for left in report.left] == [("a", "damaged"), ("nul", "refused"), ("u", "unknown")]


def test_verify_counts_and_finds_nothing_in_a_sound_vault(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    world.turn({"b": b"b"}, B)
    world.restore("before:1")
    report = world.kernel.verify()
    assert (report.problems, report.chats) == ((), 2)
    assert report.events == len(world.vault.lines(A)) + len(world.vault.lines(B))
    assert report.blobs == 3
    one = world.kernel.verify(B)
    assert (one.chats, one.events, one.blobs) == (1, 3, 1)


def test_verify_finds_what_is_missing(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    sha = hash_of(b"a0")
    (world.vault_folder / "snapshots/blobs" / sha[:2] / sha[2:]).unlink()
    (world.vault_folder / "snapshots/blobs/stray").write_bytes(b"")
    problems = world.kernel.verify().problems
    assert [(found.kind, found.path) for found in problems] == [
        (Problem.BLOB_MISSING, "a"),
        (Problem.BLOB_STRAY, "snapshots/blobs/stray"),
    ]


def test_a_change_by_the_user_in_our_window_is_named_so(world: World) -> None:
    world.write("a", b"a0")
    world.turn({"a": b"a1"})
    world.found("a", b"in our window", author=Author.USER)
    plan = world.plan("before:1")
    assert (plan.files[0].changed_by, world.actions(plan)) == ("user", {"a": "leave:changed-since"})
    world.restore("before:1", mine=ALL_MINE)
    world.undo()
    assert world.plan("before:1").files[0].changed_by == "user"


def test_an_unknown_change_inside_a_turn_is_in_the_plan_and_left(world: World) -> None:
    world.begin()
    world.found("built", b"by something")
    world.found("made", b"by a command", author=Author.COMMAND)
    world.end()
    plan = world.plan("before:1")
    assert world.actions(plan) == {"built": "leave:changed-since", "made": "delete"}
