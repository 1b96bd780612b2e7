"""Faults that people reported of other programs of this kind around git repositories, the disk itself, and content from before;
named after their ids."""

import os
from pathlib import Path

import pygit2
import pytest

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks, row, told
from tests.core.checkpoint.trees import Stamp, stamps
from tests.core.checkpoint.world import A, Crash, CrashAt, World
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


class Repository:
    """A git repository in a workspace, made without the git program."""

    def __init__(self, folder: Path) -> None:
        self.repo = pygit2.init_repository(str(folder))

    def commit(self) -> None:
        index = self.repo.index
        index.add_all()
        index.write()
        who = pygit2.Signature("Test", "test@example.org", 0, 0)
        parents = [] if self.repo.head_is_unborn else [self.repo.head.target]
        self.repo.create_commit("HEAD", who, who, "one", index.write_tree(), parents)

    def state(self) -> dict[str, Stamp]:
        return stamps(Path(self.repo.path))


def _nested(world: World) -> tuple[Repository, Repository]:
    world.write("one/a", b"0")
    world.write("two/b", b"0")
    repositories = Repository(world.root / "one"), Repository(world.root / "two")
    for repository in repositories:
        repository.commit()
    return repositories


def test_bl_104_no_git_folder_ever_changes_wherever_it_stops(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "made").mkdir()
    made = World(tmp_path / "made", clock)
    _nested(made)

    def work(world: World) -> None:
        hooks = Hooks(world)
        hooks.begin()
        hooks.record("one/a", b"1")
        hooks.end()
        world.restore("before:1")

    counted = CrashAt()
    with faults.armed(counted):
        work(made.copy(tmp_path / "whole"))
    for at in range(1, len(counted.seen) + 1, 3):
        world = made.copy(tmp_path / f"crash{at}")
        before = [stamps(world.root / name / ".git") for name in ("one", "two")]
        with faults.armed(CrashAt(at)), pytest.raises(Crash):
            work(world)
        world.reopen()
        world.recover()
        assert [stamps(world.root / name / ".git") for name in ("one", "two")] == before


def test_bl_105_a_restore_moves_no_branch_and_no_index(world: World, hooks: Hooks) -> None:
    world.write("a", b"0")
    repository = Repository(world.root)
    repository.commit()
    hooks.begin()
    hooks.record("a", b"1")
    hooks.end()
    repository.commit()
    world.write("b", b"mine")
    repository.commit()
    before = repository.state()
    world.restore("before:1")
    assert world.read("a") == b"0"
    assert world.read("b") == b"mine"
    assert repository.state() == before


def test_bl_107_nothing_is_kept_in_the_users_repository(world: World, hooks: Hooks) -> None:
    world.write("a", b"0")
    repository = Repository(world.root)
    repository.commit()
    before = repository.state()
    for number in range(10):
        hooks.begin()
        hooks.record("a", b"%d" % number)
        hooks.command(lambda number=number: world.write(f"out{number}", b"x"))
        hooks.end()
    world.restore("before:1")
    assert repository.state() == before


def test_bl_108_files_of_nested_repositories_come_back(world: World, hooks: Hooks) -> None:
    _nested(world)
    hooks.begin()
    hooks.record("one/a", b"1")
    hooks.command(lambda: world.write("two/b", b"1"))
    hooks.end()
    assert told(row(world, 1).files) == {"one/a": ("M", "agent", "announced"), "two/b": ("M", "command", "scan")}
    world.restore("before:1")
    assert (world.read("one/a"), world.read("two/b")) == (b"0", b"0")


def test_bl_118_the_first_look_at_a_dirty_folder_writes_nothing_in_it(world: World, hooks: Hooks) -> None:
    world.write("a", b"0")
    Repository(world.root).commit()
    world.write("a", b"uncommitted")
    world.write("untracked", b"x")
    before = stamps(world.root)
    hooks.begin()
    hooks.end()
    assert stamps(world.root) == before


def test_content_from_before_an_unannounced_change_comes_from_git(world: World, hooks: Hooks) -> None:
    world.write("tracked", b"committed\n")
    Repository(world.root).commit()
    hooks.begin()
    assert not any((world.vault_folder / "desktop" / "baseline").rglob("*/*")), "git has it, nobody copies it"
    hooks.command(lambda: world.write("tracked", b"changed\n"))
    hooks.end()
    assert row(world, 1).coverage.complete
    world.restore("before:1")
    assert world.read("tracked") == b"committed\n"


@pytest.mark.parametrize("chat", [A, ChatId("x" * 128)])
def test_a_chat_id_of_any_length_has_a_log_of_its_own(world: World, hooks: Hooks, chat: ChatId) -> None:
    hooks.begin(chat)
    hooks.record("a", b"1", chat)
    hooks.end(chat)
    assert set(told(row(world, 1, chat).files)) == {"a"}


class Told(Fs):
    """Writes down every rename in a folder and every sync of one, with the inode of the folder."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, int]] = []

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        super().move(old, new, dir_fd=dir_fd)
        folder = os.fstat(dir_fd) if dir_fd is not None else Path(new).parent.stat()
        self.steps.append(("move", folder.st_ino))

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        self.steps.append(("sync", os.fstat(fd).st_ino))


def test_bl_047_a_rename_that_was_acknowledged_has_its_folder_synced(tmp_path: Path, clock: Clock) -> None:
    fs = Told()
    world = World(tmp_path, clock, fs)
    hooks = Hooks(world)
    world.write("sub/f", b"0")
    hooks.begin()
    world.kernel.recorder.write(A, WorkspacePath("sub/f"), b"1", message_count=1)
    hooks.end()
    world.restore("before:1")
    moved = [index for index, (what, _) in enumerate(fs.steps) if what == "move"]
    assert len(moved) > 4
    for index in moved:
        assert ("sync", fs.steps[index][1]) in fs.steps[index + 1 :], "the name may be lost by a power cut"


def test_bl_113_a_log_too_large_to_read_is_said_and_hides_no_other(world: World, hooks: Hooks) -> None:
    hooks.begin(A)
    hooks.record("a", b"1", A)
    hooks.end(A)
    hooks.begin(ChatId("other"))
    hooks.record("b", b"1", ChatId("other"))
    hooks.end(ChatId("other"))
    with world.log_path(A).open("r+b") as file:
        file.truncate(600 << 20)
    world.reopen()
    assert world.vault.damage(A)
    assert row(world, 1, ChatId("other")).files
    assert world.log_path(A).stat().st_size == 600 << 20
