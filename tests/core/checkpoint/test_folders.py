"""Folders come back and go by their own lines, apart from the files: whose they are, what is in them, and what stays (G6)."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.trees import EMPTY, command_turn, put, tree_of
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from vibekit_desktop.core.checkpoint.history import FOLDER, History
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.disk import faults, names
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import ABSENT, UNKNOWN
from vibekit_desktop.core.types.ids import WorkspacePath


def line(path: str, state: str, **keys: object) -> Line:
    values: dict[str, object] = {"author": "command", "how": "scan", "turn": 1} | keys
    return Line(type="dir", path=path, state=state, **values)  # type: ignore[arg-type]  # keys of a line


def folders_at(world: World, path: str) -> list[str]:
    view = History(world.vault.all_logs()).view(A)
    return [view.folder_at(WorkspacePath(path), position).state.value for position in range(view.end + 1)]


def test_a_folder_at_a_point_is_what_the_next_line_says_it_was_before(world: World) -> None:
    world.begin()
    world.vault.append(A, [line("d", "folder"), line("d", "absent")])
    assert folders_at(world, "d") == ["absent", "absent", "absent", "folder", "absent"]
    view = History(world.vault.all_logs()).view(A)
    assert view.by_path == {}
    assert [(seen.before, seen.after) for seen in view.folders[WorkspacePath("d")]] == [(ABSENT, FOLDER), (FOLDER, ABSENT)]
    assert view.folder_at(WorkspacePath("other"), 0) == UNKNOWN


def test_a_change_of_a_folder_that_nobody_recorded_stands_before_the_turn_that_shows_it(world: World) -> None:
    """Made twice: in between it went. By the same rule as for files, before the turn."""
    world.begin()
    world.vault.append(A, [line("d", "folder")])
    world.end()
    world.begin()
    world.vault.append(A, [line("d", "folder", turn=2)])
    view, marks = world.vault.memory.view(A)
    assert view.folder_at(WorkspacePath("d"), marks.turns[2].start) == ABSENT
    assert [seen.computed for seen in view.folders[WorkspacePath("d")]] == [False, True, False]


def test_the_folders_made_for_a_restore_are_part_of_its_entry(world: World) -> None:
    world.write("deep/er/f", b"x")
    world.begin()
    world.act("deep/er/f", None)
    shutil.rmtree(world.root / "deep")
    world.end()
    world.restore("before:1")
    view, marks = world.vault.memory.view(A)
    entry = marks.entries[1]
    assert entry.folders_changed == {"deep": True, "deep/er": True}
    assert view.folder_at(WorkspacePath("deep"), entry.position) == ABSENT
    assert view.content_at(WorkspacePath("deep/er/f"), entry.position) == ABSENT


# -- empty folders -----------------------------------------------------------------------------------------------


def test_an_empty_folder_comes_back_with_its_missing_parents(world: World, hooks: Hooks) -> None:
    put(world.root, {"a/b/c": EMPTY, "keep": b"k"})
    hooks.begin()
    hooks.command(lambda: shutil.rmtree(world.root / "a"))
    hooks.end()
    plan = world.plan("before:1", paths=("a/b/c",))
    assert world.actions(plan) == {"a/b/c": "create"}
    assert world.do(plan).verified
    assert tree_of(world.root) == {"a/b/c": EMPTY, "keep": b"k"}
    world.undo()
    assert tree_of(world.root) == {"keep": b"k"}


def test_every_folder_of_a_nest_is_told_and_they_go_from_the_bottom_up(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.command(lambda: os.makedirs(world.root / "a/b/c"))
    hooks.end()
    plan = world.plan("before:1")
    assert world.actions(plan) == {"a": "delete", "a/b": "delete", "a/b/c": "delete"}
    assert plan.deletes == 3
    report = world.do(plan)
    assert (report.verified, report.restored[0], tree_of(world.root)) == (True, "a", {})
    said = [(one.path, one.state) for one in world.vault.lines(A) if one.type == "dir" and one.entry]
    assert said == [("a/b/c", "absent"), ("a/b", "absent"), ("a", "absent")]
    world.undo()
    assert tree_of(world.root) == {"a/b/c": EMPTY}


def test_a_folder_that_holds_somebodys_file_is_left_and_nothing_failed(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.command(lambda: put(world.root, {"out": EMPTY, "log": b"by the command"}))
    hooks.end()
    world.write("out/mine", b"typed by hand")
    plan = world.plan("before:1", mine=ALL_MINE)
    assert world.actions(plan) == {"log": "delete", "out": "leave:not-empty"}
    report = world.do(plan)
    assert report.failed == ()
    assert [(left.path, left.reason) for left in report.left] == [("out", "not-empty")]
    assert tree_of(world.root) == {"out/mine": b"typed by hand"}


def test_what_comes_into_a_folder_at_the_last_moment_keeps_it(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.command(lambda: os.mkdir(world.root / "out"))
    hooks.end()
    plan = world.plan("before:1")

    def meddle(name: str) -> None:
        if name == "folder.remove":
            world.write("out/mine", b"this very moment")

    with faults.armed(meddle):
        report = world.do(plan)
    assert [(left.path, left.reason) for left in report.failed] == [("out", "not-empty")]
    assert tree_of(world.root) == {"out/mine": b"this very moment"}
    assert world.kernel.timeline(A).can_undo == 0, "nothing was done"


def test_a_folder_of_a_persons_own_is_in_no_plan(world: World, hooks: Hooks) -> None:
    world.turn({"f": b"1"})
    hooks.begin(B)
    hooks.end(B)
    (world.root / "theirs").mkdir()
    hooks.begin(B)
    hooks.end(B)
    assert [one.author for one in world.vault.lines(B) if one.type == "dir"] == ["unknown"]
    for chat in (A, B):
        assert "theirs" not in world.actions(world.plan("start", chat, mine=ALL_MINE))


def test_a_folder_of_another_chat_is_in_no_plan(world: World, hooks: Hooks) -> None:
    hooks.begin(B)
    hooks.command(lambda: os.mkdir(world.root / "of-b"), B)
    hooks.end(B)
    hooks.begin(A)
    hooks.command(lambda: os.mkdir(world.root / "of-a"), A)
    hooks.end(A)
    assert world.actions(world.plan("before:1", A)) == {"of-a": "delete"}
    assert world.actions(world.plan("before:1", B)) == {"of-b": "delete"}


def test_a_folder_that_was_made_again_by_hand_is_left(world: World, hooks: Hooks) -> None:
    """The chat removed it; a person made a folder of that name. Restoring wants it there, and it is."""
    put(world.root, {"d": EMPTY})
    hooks.begin()
    hooks.command(lambda: os.rmdir(world.root / "d"))
    hooks.end()
    (world.root / "d").mkdir()
    assert world.actions(world.plan("before:1")) == {}
    assert world.actions(world.plan("before:1", paths=("d",))) == {"d": "leave:same"}


def test_a_file_in_the_place_of_an_empty_folder_is_the_persons(world: World, hooks: Hooks) -> None:
    put(world.root, {"d": EMPTY})
    hooks.begin()
    hooks.command(lambda: os.rmdir(world.root / "d"))
    hooks.end()
    world.write("d", b"a note of my own")
    assert world.actions(world.plan("before:1")) == {"d": "leave:changed-since"}
    assert world.restore("before:1").entry == 0
    report = world.restore("before:1", mine=ALL_MINE)
    assert (report.verified, tree_of(world.root)) == (True, {"d": EMPTY})
    world.undo()
    assert tree_of(world.root) == {"d": b"a note of my own"}


def test_a_named_folder_that_no_line_names_is_left(world: World) -> None:
    world.turn({"f": b"1"})
    (world.root / "theirs").mkdir()
    assert world.actions(world.plan("before:1", paths=("theirs",), mine=ALL_MINE)) == {"theirs": "leave:not-this-chat"}


# -- folders behind files ----------------------------------------------------------------------------------------


def test_the_folders_of_new_files_go_without_a_word(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.record("src/new/a.py", b"a")
    hooks.record("src/new/b.py", b"b")
    hooks.end()
    plan = world.plan("before:1")
    assert world.actions(plan) == {"src/new/a.py": "delete", "src/new/b.py": "delete"}
    world.do(plan)
    assert tree_of(world.root) == {}
    world.undo()
    assert tree_of(world.root) == {"src/new/a.py": b"a", "src/new/b.py": b"b"}
    world.redo()
    assert tree_of(world.root) == {}


@pytest.mark.parametrize("by", ["command", "unknown"])
def test_a_folder_made_in_the_turn_goes_whoever_of_the_turn_made_it(world: World, hooks: Hooks, by: str) -> None:
    def make() -> None:
        (world.root / "made").mkdir()

    hooks.begin()
    if by == "command":
        hooks.command(make)
    else:
        make()
    hooks.command(lambda: world.write("made/f", b"x"))
    hooks.end()
    world.restore("before:1")
    assert tree_of(world.root) == {}


def test_a_folder_that_was_there_before_stays_when_it_is_emptied(world: World, hooks: Hooks) -> None:
    put(world.root, {"pkg": EMPTY})
    hooks.begin()
    hooks.record("pkg/f", b"x")
    hooks.end()
    world.restore("before:1")
    assert tree_of(world.root) == {"pkg": EMPTY}


def test_a_folder_of_the_turn_before_stays_when_a_later_turn_is_taken_back(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.command(lambda: os.mkdir(world.root / "out"))
    hooks.end()
    hooks.begin()
    hooks.record("out/f", b"x")
    hooks.end()
    world.restore("before:2")
    assert tree_of(world.root) == {"out": EMPTY}
    world.restore("before:1")
    assert tree_of(world.root) == {}
    world.undo()
    world.undo()
    assert tree_of(world.root) == {"out/f": b"x"}


def test_an_empty_folder_comes_back_although_a_file_came_and_went_in_it(world: World, hooks: Hooks) -> None:
    put(world.root, {"tmp": EMPTY})
    hooks.begin()
    hooks.record("tmp/f", b"x")
    hooks.record("tmp/f", None)
    hooks.command(lambda: os.rmdir(world.root / "tmp"))
    hooks.end()
    plan = world.plan("before:1")
    assert world.actions(plan) == {"tmp": "create", "tmp/f": "leave:same"}
    world.do(plan)
    assert tree_of(world.root) == {"tmp": EMPTY}


def test_a_folder_kept_by_a_file_that_is_left_is_no_failure(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.record("new/f", b"agent's")
    hooks.end()
    world.write("new/f", b"edited by hand")
    plan = world.plan("before:1")
    assert world.actions(plan) == {"new/f": "leave:changed-since"}
    assert world.do(plan).failed == ()


# -- what is in the way ------------------------------------------------------------------------------------------


def test_a_file_is_not_put_where_a_folder_holds_what_is_nobodys(world: World, hooks: Hooks) -> None:
    put(world.root, {"x": b"one"})
    hooks.begin()
    hooks.command(lambda: put(world.root, {"x/f": b"built"}))
    hooks.end()
    world.write("x/mine", b"typed by hand")
    plan = world.plan("before:1", mine=ALL_MINE)
    assert world.actions(plan) == {"x": "leave:not-empty", "x/f": "delete"}
    report = world.do(plan)
    assert [(left.path, left.reason) for left in report.failed] == [("x", "not-empty")]
    assert tree_of(world.root) == {"x/mine": b"typed by hand"}


def test_a_file_is_not_put_where_a_folder_holds_an_empty_folder_or_a_repository_of_somebodys(
    world: World, hooks: Hooks
) -> None:
    put(world.root, {"x": b"one"})
    hooks.begin()
    hooks.command(lambda: put(world.root, {"x/f": b"built"}))
    hooks.end()
    for theirs in ("x/empty", "x/.git", f"x/{names.stage_name('f')}"):
        (world.root / theirs).mkdir()
        assert world.actions(world.plan("before:1", mine=ALL_MINE)) == {"x": "leave:not-empty", "x/f": "delete"}, theirs
        (world.root / theirs).rmdir()
    assert world.actions(world.plan("before:1")) == {"x": "write", "x/f": "delete"}


def test_a_file_is_not_put_below_a_file_of_somebodys(world: World, hooks: Hooks) -> None:
    put(world.root, {"x/f": b"in it"})
    hooks.begin()
    hooks.command(lambda: shutil.rmtree(world.root / "x"))
    hooks.end()
    world.write("x", b"a note of my own")
    plan = world.plan("before:1")
    assert world.actions(plan) == {"x": "leave:changed-since", "x/f": "leave:file-on-the-way"}
    assert world.do(plan).failed == (), "it is left because of what somebody wrote"
    assert tree_of(world.root) == {"x": b"a note of my own"}
    plan = world.plan("before:1", mine=ALL_MINE)
    assert world.actions(plan) == {"x": "write", "x/f": "create"}
    assert world.do(plan).verified
    assert tree_of(world.root) == {"x/f": b"in it"}
    world.undo()
    assert tree_of(world.root) == {"x": b"a note of my own"}


def test_a_file_in_the_place_of_a_folder_that_should_be_gone_stays(world: World, hooks: Hooks) -> None:
    """No folder is there, which is all that the plan wants of the path; the file is nobody's of this chat."""
    hooks.begin()
    hooks.command(lambda: os.mkdir(world.root / "x"))
    hooks.end()
    (world.root / "x").rmdir()
    world.write("x", b"a note of my own")
    assert world.actions(world.plan("before:1", mine=ALL_MINE)) == {}
    assert world.actions(world.plan("before:1", mine=ALL_MINE, paths=("x",))) == {"x": "leave:same"}


def test_a_file_that_stays_keeps_what_should_be_below_it_away(world: World, hooks: Hooks) -> None:
    """The chat put a file where a folder was, a person edited it since: it is left, and so is what was in the folder."""
    put(world.root, {"x/f": b"in it"})
    hooks.begin()
    hooks.command(lambda: put(world.root, {"x": b"one"}))
    hooks.end()
    world.write("x", b"edited by hand")
    assert world.actions(world.plan("before:1")) == {"x": "leave:changed-since", "x/f": "leave:file-on-the-way"}
    assert world.actions(world.plan("before:1", mine=ALL_MINE)) == {"x": "delete", "x/f": "create"}
    assert world.restore("before:1", mine=ALL_MINE).verified
    assert tree_of(world.root) == {"x/f": b"in it"}
    world.undo()
    assert tree_of(world.root) == {"x": b"edited by hand"}


def test_what_cannot_be_brought_back_below_keeps_nothing_else(world: World, hooks: Hooks) -> None:
    """A damaged content below: the file above still goes, as wanted, and the rest comes."""
    put(world.root, {"x/f": b"in it", "x/g": b"too"})
    hooks.begin()
    hooks.command(lambda: put(world.root, {"x": b"one"}))
    hooks.end()
    state = world.kernel.state_at(A, world.plan("before:1").point, WorkspacePath("x/f"))
    assert state.sha is not None
    for blob in world.vault_folder.rglob(state.sha[2:]):
        blob.write_bytes(b"bad")
    plan = world.plan("before:1")
    assert world.actions(plan) == {"x": "delete", "x/f": "leave:damaged", "x/g": "create"}
    report = world.do(plan)
    assert [(left.path, left.reason) for left in report.failed] == [("x/f", "damaged")]
    assert tree_of(world.root) == {"x/g": b"too"}


def test_a_folder_that_is_kept_by_somebodys_change_is_told_as_theirs(world: World, hooks: Hooks) -> None:
    put(world.root, {"x": b"one"})
    hooks.begin()
    hooks.command(lambda: put(world.root, {"x/f": b"built"}))
    hooks.end()
    world.write("x/f", b"edited by hand")
    plan = world.plan("before:1")
    assert world.actions(plan) == {"x": "leave:not-empty", "x/f": "leave:changed-since"}
    assert [file.changed_by for file in plan.files] == ["unknown", "unknown"]
    assert world.do(plan).failed == ()


def test_a_folder_that_cannot_be_emptied_keeps_its_file_out(world: World, hooks: Hooks) -> None:
    """A file in it is changed at the last moment: it stays, so the folder stays, and what stood there before stays away."""
    put(world.root, {"x": b"one"})
    hooks.begin()
    hooks.command(lambda: put(world.root, {"x/f": b"built", "x/g": b"too"}))
    hooks.end()
    plan = world.plan("before:1")

    def meddle(name: str) -> None:
        if name == "restore.planned":
            world.write("x/f", b"saved this very moment")

    with faults.armed(meddle):
        report = world.do(plan)
    assert {left.path: left.reason for left in report.failed} == {"x": "not-empty", "x/f": "changed-just-now"}
    assert report.restored == ("x/g",)
    assert tree_of(world.root) == {"x/f": b"saved this very moment"}
    assert not world.stages()
    world.undo()
    assert tree_of(world.root) == {"x/f": b"saved this very moment", "x/g": b"too"}


class ClosedFs(Fs):
    """Nothing can be removed from one folder."""

    closed = False

    def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        if self.closed and name == "f":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        super().unlink(name, dir_fd=dir_fd)


def test_a_closed_folder_keeps_what_is_in_it_and_a_file_out_of_its_place(tmp_path: Path, clock: Clock) -> None:
    fs = ClosedFs()
    world = World(tmp_path, clock, fs)
    command_turn(world, {"x": b"one"}, {"x/f": b"built"})
    fs.closed = True
    report = world.restore("before:1")
    assert {left.path: left.reason for left in report.failed} == {"x": "not-empty", "x/f": "cannot-write"}
    assert tree_of(world.root) == {"x/f": b"built"}
    fs.closed = False
    assert world.restore("before:1").verified
    assert tree_of(world.root) == {"x": b"one"}
