"""Whatever stood at a path and whatever stands there now: a restore brings back the one, its undo the other, a crash neither
between (I1, I5, I6, I8)."""

import contextlib
import hashlib
import itertools
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.trees import EMPTY, Folder, Link, Tree, command_turn, facts, put, tree_of
from tests.core.checkpoint.world import ALL_MINE, A, Crash, CrashAt, World
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import Scope

SHAPES: dict[str, Tree] = {
    "absent": {},
    "file": {"x": b"one"},
    "other": {"x": b"two"},
    "link": {"x": Link("beside/kept")},
    "link-to-folder": {"x": Link("beside")},
    "dangling": {"x": Link("nowhere")},
    "empty": {"x": EMPTY},
    "folder": {"x/f": b"in it"},
    "deep": {"x/f": b"in it", "x/sub/g": b"deeper", "x/sub/er/e": EMPTY, "x/l": Link("f")},
}
BESIDE: Tree = {"beside/kept": b"nobody's", "beside/own": EMPTY, "x-": b"a name that sorts between", "x.y": EMPTY}


def with_beside(tree: Tree) -> dict[str, bytes | Link | Folder]:
    return dict(sorted({**BESIDE, **tree}.items()))


PAIRS = [(old, new) for old, new in itertools.permutations(SHAPES, 2)]


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=[f"{new}-back-to-{old}" for old, new in PAIRS])
def test_what_was_at_a_path_comes_back_and_goes_again(world: World, old: str, new: str) -> None:
    before, after = with_beside(SHAPES[old]), with_beside(SHAPES[new])
    command_turn(world, before, after)
    kept = facts(world.root, ["beside/kept", "x-", "x.y", "beside", "beside/own"])
    for _ in range(2):
        plan = world.plan("before:1")
        assert plan.acts
        report = world.do(plan)
        assert (report.verified, report.failed, report.left) == (True, (), ())
        assert tree_of(world.root) == before
        assert not world.plan("before:1").acts, "a restored state has nothing to restore"
        assert world.undo().failed == ()
        assert tree_of(world.root) == after
        assert world.redo().failed == ()
        assert tree_of(world.root) == before
        assert world.undo().failed == ()
        assert tree_of(world.root) == after
    assert facts(world.root, list(kept)) == kept
    assert world.vault.damage(A) == ()


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=[f"{new}-back-to-{old}" for old, new in PAIRS])
def test_what_nobody_owned_up_to_stays_until_it_is_asked_for(world: World, old: str, new: str) -> None:
    """Found inside the turn, by nobody known: may be the user's."""
    before, after = with_beside(SHAPES[old]), with_beside(SHAPES[new])
    hooks = Hooks(world)
    put(world.root, before)
    hooks.begin()
    put(world.root, after)
    hooks.end()
    plan = world.plan("before:1")
    assert {(file.changed_by, file.may_be_yours) for file in plan.files if file.reason == "changed-since"} <= {
        ("unknown", True)
    }
    assert not plan.acts
    assert world.restore("before:1", mine=ALL_MINE).failed == ()
    assert tree_of(world.root) == before
    world.undo()
    assert tree_of(world.root) == after


# -- crashes -----------------------------------------------------------------------------------------------------

CRASHES = [
    ("file", "deep"),
    ("deep", "file"),
    ("deep", "link-to-folder"),
    ("link-to-folder", "deep"),
    ("empty", "absent"),
    ("absent", "empty"),
    ("empty", "file"),
    ("file", "empty"),
    ("link", "file"),
]


def paths_of(tree: Tree) -> dict[str, bytes | Link]:
    return {path: data for path, data in tree.items() if not isinstance(data, Folder)}


def check_whole(world: World, before: Tree, after: Tree) -> None:
    """Every file is its whole before or its whole after, or not there for the moment where a folder and a file change places;
    all content is on disk or in the store."""
    now = {path: data for path, data in paths_of(tree_of(world.root)).items() if ".vibekit-restore-" not in path}
    old, new = paths_of(before), paths_of(after)
    for path in {*now, *old, *new}:
        allowed = [old.get(path), new.get(path)]
        swaps = any(one.startswith(f"{path}/") or tree.get(path) == EMPTY for tree in (before, after) for one in tree)
        assert now.get(path) in [*allowed, *([None] if swaps else [])], path
    for data in [*old.values(), *new.values()]:
        content = os.fsencode(data.text) if isinstance(data, Link) else data
        assert data in now.values() or is_stored(world, content)


def is_stored(world: World, content: bytes) -> bool:
    sha = hashlib.sha256(content).hexdigest()
    places = [world.vault_folder / place / sha[:2] / sha[2:] for place in ("snapshots/blobs", "desktop/blobs")]
    return any(blob.exists() and blob.read_bytes() == content for blob in places)


def is_planned(world: World) -> bool:
    return any(line.type == "restore_plan" for line in world.vault.lines(A))


def check_recovered(world: World, before: Tree, after: Tree) -> None:
    """The whole restore, or none of it, and said once."""
    assert tree_of(world.root) == (before if is_planned(world) else after)
    assert not (world.vault_folder / "desktop/staging").exists()
    assert world.kernel.unfinished() == []
    assert world.vault.damage(A) == ()
    lines = [line for line in world.vault.lines(A) if line.entry == 1]
    said = [(line.type, line.path) for line in lines if line.type in ("observed", "dir")]
    assert len(said) == len(set(said)), said


def check_end(world: World, before: Tree, after: Tree) -> None:
    """And recovering again changes nothing; and it can be taken back."""
    check_recovered(world, before, after)
    disk, all_lines = tree_of(world.root), world.vault.lines(A)
    world.reopen()
    assert world.recover() == []
    assert (tree_of(world.root), world.vault.lines(A)) == (disk, all_lines)
    if is_planned(world):
        ends = [line.type for line in world.vault.lines(A) if line.entry == 1 and line.type.startswith("restore")]
        assert ends == ["restore_plan", "restore_done"]
        world.undo()
        assert tree_of(world.root) == after
        world.redo()
        assert tree_of(world.root) == before


@pytest.mark.parametrize(("old", "new"), CRASHES, ids=[f"{new}-back-to-{old}" for old, new in CRASHES])
def test_every_step_may_be_the_last(tmp_path: Path, clock: Clock, old: str, new: str) -> None:
    (tmp_path / "start").mkdir()
    start = World(tmp_path / "start", clock)
    before, after = with_beside(SHAPES[old]), with_beside(SHAPES[new])
    command_turn(start, before, after)
    at = 0
    while True:
        at += 1
        world = start.copy(tmp_path / "at")
        crash = CrashAt(at)
        with faults.armed(crash), contextlib.suppress(Crash):
            world.do(world.plan("before:1", scope=Scope.FILES))
        ended = len(crash.seen) < at
        world.reopen()
        check_whole(world, before, after)
        world.recover()
        check_end(world, before, after)
        shutil.rmtree(world.root.parent)
        if ended:
            break
    assert at > 8


TWICE = [("file", "folder"), ("folder", "file"), ("folder", "link"), ("link-to-folder", "folder")]


@pytest.mark.parametrize(("old", "new"), TWICE, ids=[f"{new}-back-to-{old}" for old, new in TWICE])
def test_every_step_of_the_recovery_may_be_the_last_too(tmp_path: Path, clock: Clock, old: str, new: str) -> None:
    (tmp_path / "start").mkdir()
    start = World(tmp_path / "start", clock)
    before, after = ({"beside/kept": b"nobody's", **SHAPES[name]} for name in (old, new))
    command_turn(start, before, after)
    first = 0
    while True:
        first += 1
        broken = start.copy(tmp_path / "broken")
        crash = CrashAt(first)
        with faults.armed(crash), contextlib.suppress(Crash):
            broken.do(broken.plan("before:1", scope=Scope.FILES))
        ended = len(crash.seen) < first
        second = 0
        while is_planned(broken) and not ended:
            second += 1
            world = broken.copy(tmp_path / "at")
            crash = CrashAt(second)
            with faults.armed(crash), contextlib.suppress(Crash):
                world.recover()
            world.reopen()
            check_whole(world, before, after)
            world.recover()
            check_recovered(world, before, after)
            shutil.rmtree(world.root.parent)
            if len(crash.seen) < second:
                break
        shutil.rmtree(broken.root.parent)
        if ended:
            break
