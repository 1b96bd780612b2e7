"""Several names of one file, names that a disk takes for one, and names of every kind (BL-076, BL-077, G7, G8, G12)."""

import contextlib
import os
import shutil
import unicodedata
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.trees import EMPTY, Link, command_turn, facts, put, tree_of
from tests.core.checkpoint.world import A, Crash, CrashAt, World
from tests.helpers.folding_fs import FoldingFs
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import Author, How
from vibekit_desktop.core.types.ids import WorkspacePath

# -- hard links --------------------------------------------------------------------------------------------------


def test_a_hard_linked_file_is_restored_under_its_one_name_and_that_is_said(world: World, hooks: Hooks) -> None:
    put(world.root, {"a": b"old", "other/name": b"x"})
    os.remove(world.root / "other/name")
    os.link(world.root / "a", world.root / "other/name")
    hooks.begin()
    hooks.command(lambda: (world.root / "a").write_bytes(b"new"))
    hooks.end()
    before = facts(world.root, ["other/name"])
    (file,) = world.plan("before:1", paths=("a",)).files
    assert (file.action.value, file.hard_linked) == ("write", True)
    assert world.restore("before:1", paths=("a",)).verified
    assert tree_of(world.root) == {"a": b"old", "other/name": b"new"}
    assert facts(world.root, ["other/name"])["other/name"][0] == before["other/name"][0]
    assert os.lstat(world.root / "a").st_nlink == 1
    world.undo()
    assert tree_of(world.root) == {"a": b"new", "other/name": b"new"}


def test_both_names_of_a_plan_come_back_and_are_two_files_then(world: World, hooks: Hooks) -> None:
    put(world.root, {"a": b"old"})
    os.link(world.root / "a", world.root / "b")
    hooks.begin()
    hooks.command(lambda: (world.root / "a").write_bytes(b"new"))
    hooks.end()
    plan = world.plan("before:1")
    assert [(file.path, file.hard_linked) for file in plan.files] == [("a", True), ("b", True)]
    assert world.do(plan).verified
    assert tree_of(world.root) == {"a": b"old", "b": b"old"}


def test_the_mode_of_one_name_is_not_the_mode_of_its_other_names(world: World, hooks: Hooks) -> None:
    """Outside the plan nothing changes, not even a mode (I6)."""
    put(world.root, {"a": b"same"})
    (world.root / "a").chmod(0o644)
    hooks.begin()
    hooks.command(lambda: (world.root / "a").chmod(0o755))
    hooks.end()
    os.link(world.root / "a", world.root / "theirs")
    kept = facts(world.root, ["theirs"])["theirs"]
    (file,) = world.plan("before:1").files
    assert (file.action.value, file.hard_linked) == ("write", True)
    assert world.restore("before:1").verified
    assert os.stat(world.root / "a").st_mode & 0o777 == 0o644
    inode, _, mode, *_ = facts(world.root, ["theirs"])["theirs"]
    assert (inode, mode) == (kept[0], kept[2])


def test_deleting_one_name_leaves_the_others(world: World, hooks: Hooks) -> None:
    put(world.root, {"theirs": b"kept"})
    hooks.begin()
    hooks.command(lambda: os.link(world.root / "theirs", world.root / "new"))
    hooks.end()
    (file,) = (file for file in world.plan("before:1").files if file.path == "new")
    assert (file.action.value, file.hard_linked) == ("delete", False)
    world.restore("before:1", paths=("new",))
    assert tree_of(world.root) == {"theirs": b"kept"}


# -- links are never followed ------------------------------------------------------------------------------------


def test_what_a_link_leads_to_is_never_touched(world: World, hooks: Hooks, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    put(outside, {"f": b"theirs", "sub/g": b"theirs too"})
    kept = facts(outside, ["f", "sub/g", "sub"])
    put(world.root, {"d/f": b"mine", "d/sub/g": b"mine too", "l": b"a file"})
    hooks.begin()
    hooks.command(lambda: put(world.root, {"d": Link(str(outside)), "l": Link(str(outside / "f"))}))
    hooks.end()
    plan = world.plan("before:1")
    assert world.actions(plan) == {"d": "delete", "d/f": "create", "d/sub/g": "create", "l": "write"}
    assert world.do(plan).verified
    assert tree_of(world.root) == {"d/f": b"mine", "d/sub/g": b"mine too", "l": b"a file"}
    world.undo()
    assert tree_of(world.root) == {"d": Link(str(outside)), "l": Link(str(outside / "f"))}
    world.redo()
    assert facts(outside, ["f", "sub/g", "sub"]) == kept
    assert tree_of(outside) == {"f": b"theirs", "sub/g": b"theirs too"}


def test_a_link_put_in_the_way_at_the_last_moment_is_not_followed(world: World, hooks: Hooks, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    put(outside, {"sub/f": b"theirs"})
    put(world.root, {"d/sub/f": b"mine"})
    hooks.begin()
    hooks.command(lambda: put(world.root, {"d": b"a file"}))
    hooks.end()
    plan = world.plan("before:1")

    def meddle(name: str) -> None:
        if name == "folder.make" and not os.path.lexists(world.root / "d"):
            os.symlink(outside, world.root / "d")

    with faults.armed(meddle):
        report = world.do(plan)
    assert [(left.path, left.reason) for left in report.failed] == [("d/sub/f", "link-on-the-way")]
    assert tree_of(outside) == {"sub/f": b"theirs"}


# -- names that are one file -------------------------------------------------------------------------------------

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD"))
PAIRS = [("A.txt", "a.txt"), ("sub/A.txt", "sub/a.txt"), (COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)]


def folding(tmp_path: Path, clock: Clock) -> World:
    return World(tmp_path, clock, FoldingFs())


def announced(world: World, path: str, before: bytes | None, after: bytes | None, *, turn: int = 1) -> None:
    """A line that nobody's look made right: as an imported history has it."""
    states = [world.workspace.look(WorkspacePath("nothing"))] * 2
    for index, data in enumerate((before, after)):
        if data is not None:
            sha = world.vault.blobs.put(data)
            states[index] = log.state_of("present", sha, 0o644)
    line = log.observed(WorkspacePath(path), states[0], states[1], author=Author.AGENT, how=How.ANNOUNCED, turn=turn)
    world.vault.append(A, [line])


@pytest.mark.parametrize(("old", "new"), PAIRS)
@pytest.mark.parametrize("folds", [True, False])
def test_a_rename_of_case_or_form_alone_is_taken_back(tmp_path: Path, clock: Clock, old: str, new: str, folds: bool) -> None:
    world = World(tmp_path, clock, FoldingFs() if folds else Fs())
    put(world.root, {old: b"the only copy", "beside": b"b"})

    hooks = Hooks(world)
    hooks.begin()
    hooks.command(lambda: os.rename(world.root / old, world.root / new))
    hooks.end()
    for _ in range(2):
        report = world.restore("before:1")
        assert (report.verified, report.failed) == (True, ())
        assert tree_of(world.root) == {old: b"the only copy", "beside": b"b"}
        assert world.undo().verified
        assert tree_of(world.root) == {new: b"the only copy", "beside": b"b"}


@pytest.mark.parametrize("folds", [True, False])
def test_a_folder_that_changed_its_case_keeps_its_files(tmp_path: Path, clock: Clock, folds: bool) -> None:
    """Where the disk folds names the folder keeps the spelling it has; a file is never lost for it."""
    world = World(tmp_path, clock, FoldingFs() if folds else Fs())
    put(world.root, {"Dir/x": b"the only copy"})
    hooks = Hooks(world)
    hooks.begin()
    hooks.command(lambda: os.rename(world.root / "Dir", world.root / "dir"))
    hooks.end()
    assert world.restore("before:1").failed == ()
    assert tree_of(world.root) == {"dir/x" if folds else "Dir/x": b"the only copy"}


@pytest.mark.parametrize("listed", ["A.txt", "a.txt"])
def test_deleting_one_name_of_a_file_never_takes_the_only_copy(tmp_path: Path, clock: Clock, listed: str) -> None:
    """The plan holds "write A.txt" and "delete a.txt", which the disk takes for one (BL-076)."""
    world = folding(tmp_path, clock)
    put(world.root, {listed: b"new"})
    world.begin()
    announced(world, "A.txt", b"old", b"new")
    announced(world, "a.txt", None, b"new")
    world.end()
    plan = world.plan("before:1")
    if listed == "A.txt":
        assert world.actions(plan) == {"A.txt": "write", "a.txt": "leave:same-file"}
    else:
        assert world.actions(plan) == {"A.txt": "create", "a.txt": "delete"}
    report = world.do(plan)
    assert (report.verified, report.failed) == (True, ())
    assert tree_of(world.root) == {"A.txt": b"old"}
    assert not world.plan("before:1").acts
    world.undo()
    assert tree_of(world.root) == {listed: b"new"}


def test_the_name_that_is_wanted_and_there_keeps_its_file(tmp_path: Path, clock: Clock) -> None:
    """Nothing to do for A.txt; deleting a.txt would take it."""
    world = folding(tmp_path, clock)
    put(world.root, {"A.txt": b"same"})
    world.begin()
    announced(world, "A.txt", b"same", b"same")
    announced(world, "a.txt", None, b"same")
    world.end()
    assert world.actions(world.plan("before:1")) == {"A.txt": "leave:same", "a.txt": "leave:same-file"}


def test_a_file_that_somebody_changed_keeps_all_its_names(tmp_path: Path, clock: Clock) -> None:
    world = folding(tmp_path, clock)
    put(world.root, {"a.txt": b"edited by hand"})
    world.begin()
    announced(world, "A.txt", b"old", b"new")
    announced(world, "a.txt", None, b"new")
    world.end()
    assert world.actions(world.plan("before:1")) == {"A.txt": "leave:changed-since", "a.txt": "leave:changed-since"}


def test_every_step_of_taking_back_a_case_rename_may_be_the_last(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "start").mkdir()
    start = folding(tmp_path / "start", clock)
    put(start.root, {"A.txt": b"the only copy"})
    hooks = Hooks(start)
    hooks.begin()
    hooks.command(lambda: os.rename(start.root / "A.txt", start.root / "a.txt"))
    hooks.end()
    at = 0
    while True:
        at += 1
        world = start.copy(tmp_path / "at")
        crash = CrashAt(at)
        with faults.armed(crash), contextlib.suppress(Crash):
            world.do(world.plan("before:1"))
        world.reopen()
        with faults.armed(CrashAt(3)), contextlib.suppress(Crash):
            world.recover()
        world.reopen()
        world.recover()
        planned = any(line.type == "restore_plan" for line in world.vault.lines(A))
        assert tree_of(world.root) == {"A.txt" if planned else "a.txt": b"the only copy"}
        assert world.kernel.unfinished() == []
        if planned:
            assert world.undo().verified
            assert tree_of(world.root) == {"a.txt": b"the only copy"}
        shutil.rmtree(world.root.parent)
        if len(crash.seen) < at:
            break
    assert at > 10


# -- names -------------------------------------------------------------------------------------------------------

LONG = "n" * 255
NAMES = [
    LONG,
    "é" * 127,
    "line\nbreak",
    "-rf",
    " lead",
    "trail ",
    "tab\there",
    '"quoted"',
    "back\\slash",
    "café-" + unicodedata.normalize("NFC", "é"),
    "cafe-" + unicodedata.normalize("NFD", "é"),
    os.fsdecode(b"latin-\xe9"),
    os.fsdecode(b"\xff\xfe"),
    "\u202egnp.exe",
    "..hidden",
    "nul",
    "a:b",
    "*",
]


@pytest.mark.parametrize("name", NAMES, ids=[ascii(name)[:20] for name in NAMES])
def test_every_name_comes_back_goes_and_changes_place_with_a_folder(world: World, name: str) -> None:
    before = {f"{name}/{name}": b"one", "d": EMPTY}
    after = {name: b"two"}
    command_turn(world, before, after)
    report = world.restore("before:1")
    assert (report.verified, report.failed) == (True, ())
    assert tree_of(world.root) == before
    assert not world.stages()
    world.undo()
    assert tree_of(world.root) == after
    world.reopen()
    world.redo()
    assert tree_of(world.root) == before
    assert world.vault.damage(A) == ()


def test_both_forms_of_a_name_are_two_files_where_the_disk_says_so(world: World) -> None:
    forms = [unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD")]
    before = {forms[0]: b"composed", forms[1]: b"decomposed"}
    command_turn(world, before, {forms[0]: b"changed"})
    assert world.restore("before:1").verified
    assert tree_of(world.root) == dict(sorted(before.items()))


def test_a_thousand_files_in_one_plan(world: World) -> None:
    before = {f"d{number % 20}/f{number}": b"old %d" % number for number in range(0, 1000, 2)}
    after = {f"d{number % 20}/f{number}": b"new %d" % number for number in range(1, 1000, 2)}
    command_turn(world, before, after)
    plan = world.plan("before:1")
    assert (len(plan.acts), plan.deletes) == (1000, 500)
    report = world.do(plan)
    assert (report.verified, len(report.restored), report.failed) == (True, 1000, ())
    assert tree_of(world.root) == dict(sorted(before.items()))
    assert not world.plan("before:1").acts
