"""The walk over a workspace: everything in it, nothing outside, nothing opened but folders, whatever a tree may look like."""

import os
import socket
import stat as stat_bits
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.tree import Stamp, Tree, walk
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.errors import CannotRead, PathEscape, PathRefused, WorkspaceMissing
from vibekit_desktop.core.types.ids import WorkspacePath

MANY = 100_000


def path(text: str) -> WorkspacePath:
    return WorkspacePath(text)


def nothing(_: WorkspacePath, __: bool) -> bool:
    return False


def only(*paths: str) -> Callable[[WorkspacePath, bool], bool]:
    return lambda asked, _: asked in paths


class CountingFs(Fs):
    """Counts open descriptors, lists what was opened, and fails or interferes where it is told to."""

    def __init__(self) -> None:
        self.held = 0
        self.most = 0
        self.opened: list[str] = []
        self.before_open: dict[str, Callable[[], None]] = {}
        self.unreadable: set[str] = set()
        self._names: dict[int, str] = {}

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        self.before_open.pop(str(path), lambda: None)()
        fd = super().open(path, flags, mode, dir_fd=dir_fd)
        self.opened.append(str(path))
        self._names[fd] = str(path)
        self.held += 1
        self.most = max(self.most, self.held)
        return fd

    def close(self, fd: int) -> None:
        super().close(fd)
        self.held -= 1

    def scan(self, folder: int) -> Iterator[tuple[str, os.stat_result]]:
        if self._names[folder] in self.unreadable:
            raise PermissionError(13, "Permission denied")
        return super().scan(folder)


def walked(root: Path, *ignored: str, limit: int = MANY, fs: Fs | None = None) -> Tree:
    return walk(Workspace.open(fs or Fs(), root), ignored=only(*ignored), limit=limit)


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())


def test_every_entry_is_listed_with_its_stamp(root: Path) -> None:
    make(root, "a.txt", "sub/b.txt")
    os.chmod(root / "a.txt", 0o754)
    os.chmod(root / "sub", 0o1755)
    (root / "link").symlink_to("sub")
    os.link(root / "a.txt", root / "hard")
    tree = walked(root)
    assert tree.complete
    assert tree.problems == []
    assert sorted(tree.entries) == ["a.txt", "hard", "link", "sub", "sub/b.txt"]
    found = os.lstat(root / "a.txt")
    assert tree.entries[path("a.txt")] == Stamp(
        5, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev, 0o754, "file", 2
    )
    assert {str(one): stamp.kind for one, stamp in tree.entries.items() if stamp.kind != "file"} == {
        "link": "link",
        "sub": "folder",
    }
    assert tree.entries[path("sub")].mode == 0o755


def test_a_stamp_of_one_path_is_that_of_the_walk(root: Path) -> None:
    make(root, "a.txt", "sub/b.txt")
    (root / "sub" / "link").symlink_to("nowhere")
    workspace = Workspace.open(Fs(), root)
    tree = walk(workspace, ignored=nothing, limit=MANY)
    assert {one: workspace.stamp(one) for one in tree.entries} == tree.entries
    assert workspace.stamp(path("none")) is None
    assert workspace.stamp(path("none/deeper")) is None
    assert workspace.stamp(path("a.txt/below")) is None
    (root / "way").symlink_to("sub")
    with pytest.raises(PathEscape):
        workspace.stamp(path("way/b.txt"))
    with pytest.raises(PathRefused):
        workspace.stamp(path(".git/config"))


def test_links_are_not_crossed(root: Path, tmp_path: Path) -> None:
    make(tmp_path, "outside/secret")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(".")
    (root / "dangling").symlink_to("none")
    assert sorted(walked(root).entries) == ["dangling", "loop", "out"]


def test_what_is_no_file_is_listed_and_not_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "fifo")
    monkeypatch.chdir(root)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    fs = CountingFs()
    tree = walked(root, fs=fs)
    assert {str(one): stamp.kind for one, stamp in tree.entries.items()} == {"fifo": "other", "socket": "other"}
    assert set(fs.opened) == {str(root)}


def test_git_stages_and_our_own_folders_are_left_out_and_nested_repositories_are_not(root: Path) -> None:
    make(
        root,
        ".git/config",
        "lib/.git/HEAD",
        "lib/code.c",
        "wt/.git",
        "wt/x",
        "ours/log",
        "f.vibekit-restore-12",
        ".gitignore",
        "a/.GIT/x",
    )
    workspace = Workspace.open(Fs(), root, never=(root / "ours",))
    tree = walk(workspace, ignored=nothing, limit=MANY)
    assert sorted(tree.entries) == [".gitignore", "a", "lib", "lib/code.c", "wt", "wt/x"]
    assert tree.complete


def test_every_name_that_can_exist_is_kept_exactly(root: Path) -> None:
    names = [b"line\nbreak", b"\xff\xfe", b"x" * 255, b" ", b"-rf", "e\u0301".encode(), "\u202e".encode(), b"\\", b"tab\t"]
    for name in names:
        with open(os.path.join(os.fsencode(root), name), "wb"):
            pass
    tree = walked(root)
    assert sorted(os.fsencode(one) for one in tree.entries) == sorted(names)
    workspace = Workspace.open(Fs(), root)
    assert all(workspace.stamp(one) == stamp for one, stamp in tree.entries.items())


@pytest.fixture
def deep(root: Path) -> Iterator[Path]:
    """2,200 levels of two folders, one of them with the next level; taken apart from the top, else no tool can remove it."""
    fd = os.open(root, os.O_RDONLY)
    for _ in range(2200):
        os.mkdir("d", dir_fd=fd)
        os.mkdir("e", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    yield root
    while (root / "d" / "d").exists():
        (root / "d" / "d").rename(root / "next")
        (root / "d" / "e").rmdir()
        (root / "d").rmdir()
        (root / "next").rename(root / "d")


def test_a_very_deep_tree_takes_few_descriptors_no_recursion_and_ends_where_no_path_can_be_longer(deep: Path) -> None:
    fs = CountingFs()
    tree = walked(deep, fs=fs)
    assert fs.most < 80
    assert fs.held == 0
    assert len(tree.entries) > 4000
    assert {reason for _, reason in tree.problems} == {"too-deep"}
    assert not tree.complete
    assert max(len(one) for one in tree.entries) <= 4097


def test_a_folder_that_vanishes_meanwhile_is_a_problem_and_no_crash(root: Path) -> None:
    make(root, "kept/a", "other/b")
    (root / "gone").mkdir()
    fs = CountingFs()
    fs.before_open["gone"] = (root / "gone").rmdir
    tree = walked(root, fs=fs)
    assert tree.problems == [("gone", "changed")]
    assert not tree.complete
    assert {"kept/a", "other/b"} <= tree.entries.keys()


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(root: Path, tmp_path: Path) -> None:
    make(tmp_path, "outside/secret")
    (root / "sub").mkdir()

    def swap() -> None:
        (root / "sub").rmdir()
        (root / "sub").symlink_to(tmp_path / "outside")

    fs = CountingFs()
    fs.before_open["sub"] = swap
    tree = walked(root, fs=fs)
    assert tree.problems == [("sub", "changed")]
    assert not [one for one in tree.entries if "secret" in one]


def test_a_folder_that_cannot_be_read_is_named(root: Path) -> None:
    make(root, "closed/a", "open/b")
    fs = CountingFs()
    fs.unreadable.add("closed")
    tree = walked(root, fs=fs)
    assert tree.problems == [("closed", "Permission denied")]
    assert not tree.complete
    assert sorted(tree.entries) == ["closed", "open", "open/b"]
    assert fs.held == 0


def test_a_root_that_cannot_be_read_or_is_another_one_raises(root: Path) -> None:
    fs = CountingFs()
    fs.unreadable.add(str(root))
    with pytest.raises(CannotRead):
        walked(root, fs=fs)
    workspace = Workspace.open(Fs(), root)
    root.rename(root.parent / "moved")
    root.mkdir()
    with pytest.raises(WorkspaceMissing):
        walk(workspace, ignored=nothing, limit=MANY)


def test_no_more_than_the_limit_is_listed(root: Path) -> None:
    make(root, *(f"d{number}/f" for number in range(10)))
    assert walked(root, limit=20).complete
    tree = walked(root, limit=19)
    assert not tree.complete
    assert len(tree.entries) == 19
    assert [reason for _, reason in tree.problems] == ["too-many"]


def test_an_exception_of_the_rules_leaves_no_descriptor_open(root: Path) -> None:
    make(root, "a/b/c")
    fs = CountingFs()

    def broken(asked: WorkspacePath, _: bool) -> bool:
        if asked == "a/b/c":
            raise CannotRead("a/b/.gitignore", "broken")
        return False

    with pytest.raises(CannotRead):
        walk(Workspace.open(fs, root), ignored=broken, limit=MANY)
    assert fs.held == 0


def test_the_rules_hear_of_each_folder_before_they_are_asked_about_what_is_in_it(root: Path) -> None:
    make(root, "a/b", "c")
    heard: list[tuple[str, list[str]]] = []

    def ask(asked: WorkspacePath, is_folder: bool) -> bool:
        assert asked.rpartition("/")[2] in dict(heard)[asked.rpartition("/")[0]]
        assert is_folder == (asked == "a")
        return False

    def hear(folder: str, names: Sequence[str]) -> None:
        heard.append((folder, sorted(names)))

    walk(Workspace.open(Fs(), root), ignored=ask, limit=MANY, entering=hear)
    assert sorted(heard) == [("", ["a", "c"]), ("a", ["b"])]


# -- ignored ---------------------------------------------------------------------------------------------------------


def test_ignored_paths_are_not_listed_but_told_by_one_fingerprint_each(root: Path) -> None:
    make(root, "node_modules/p/a.js", "node_modules/b.js", "x.log", "kept")
    asked: list[str] = []

    def ignored(one: WorkspacePath, _: bool) -> bool:
        asked.append(one)
        return one in ("node_modules", "x.log")

    tree = walk(Workspace.open(Fs(), root), ignored=ignored, limit=MANY)
    assert list(tree.entries) == ["kept"]
    assert sorted(tree.ignored) == ["node_modules", "x.log"]
    assert sorted(asked) == ["kept", "node_modules", "x.log"]
    assert all(len(mark) == 32 for mark in tree.ignored.values())
    assert walked(root, "node_modules", "x.log").ignored == tree.ignored


@pytest.mark.parametrize("change", ["write", "create", "delete", "rename", "replace", "deep", "folder", "link"])
def test_any_change_inside_an_ignored_folder_changes_its_fingerprint(root: Path, change: str) -> None:
    make(root, "out/deep/er/a", "out/b", "out/c")
    before = walked(root, "out").ignored
    match change:
        case "write":
            (root / "out/b").write_bytes(b"longer than it was")
        case "create":
            make(root, "out/new")
        case "delete":
            (root / "out/c").unlink()
        case "rename":
            (root / "out/b").rename(root / "out/d")
        case "replace":
            found = os.stat(root / "out/b")
            make(root, "twin")
            (root / "twin").write_bytes(b"out/B")
            os.utime(root / "twin", ns=(found.st_atime_ns, found.st_mtime_ns))
            (root / "twin").replace(root / "out/b")
        case "deep":
            os.utime(root / "out/deep/er/a", ns=(1, 1))
        case "folder":
            (root / "out/empty").mkdir()
        case _:
            (root / "out/link").symlink_to("b")
    assert walked(root, "out").ignored.keys() == before.keys()
    assert walked(root, "out").ignored != before


def test_what_came_and_went_inside_an_ignored_folder_is_no_change(root: Path) -> None:
    make(root, "out/sub/a")
    before = walked(root, "out").ignored
    make(root, "out/sub/temporary")
    (root / "out/sub/temporary").unlink()
    assert walked(root, "out").ignored == before


def test_a_huge_ignored_folder_takes_nothing_from_the_listing(root: Path) -> None:
    make(root, *(f"aaa/f{number}" for number in range(30)), "zzz/kept", "small.log")
    tree = walked(root, "aaa", "small.log", limit=10)
    assert tree.complete
    assert sorted(tree.entries) == ["zzz", "zzz/kept"]
    assert tree.ignored[path("aaa")] == "", "not seen whole"
    assert tree.ignored[path("small.log")] != ""
    assert tree.problems == [("aaa", "too-many")]


def test_an_ignored_folder_that_cannot_be_read_has_no_fingerprint(root: Path) -> None:
    make(root, "out/closed/a")
    fs = CountingFs()
    fs.unreadable.add("closed")
    tree = walked(root, "out", fs=fs)
    assert tree.ignored == {"out": ""}
    assert tree.problems == [("out/closed", "Permission denied")]
    assert tree.complete


# -- what a folder holds ---------------------------------------------------------------------------------------------


def test_a_folder_tells_everything_it_holds_also_what_we_never_touch(root: Path) -> None:
    make(root, "d/a", "d/sub/b", "d/.git/config", "d/x.vibekit-restore-1")
    (root / "d/link").symlink_to("sub")
    workspace = Workspace.open(Fs(), root)
    held = workspace.holds(path("d"))
    assert held is not None
    assert sorted(held) == ["d/.git", "d/a", "d/link", "d/sub", "d/sub/b", "d/x.vibekit-restore-1"]
    assert held.index(path("d/sub")) < held.index(path("d/sub/b"))
    assert workspace.holds(path("d"), limit=6) == held
    assert workspace.holds(path("d"), limit=5) is None
    for other in ("d/a", "none", "d/link", "d/.git"):
        assert workspace.holds(path(other)) is None


def test_a_folder_emptied_from_the_deepest_up_can_be_removed(root: Path) -> None:
    make(root, "d/a", "d/sub/deep/b", "d/sub/c")
    workspace = Workspace.open(Fs(), root)
    held = workspace.holds(path("d")) or []
    assert workspace.remove_empty_folder(path("d")) is False
    for one in reversed(held):
        if stat_bits.S_ISDIR(os.lstat(root / one).st_mode):
            assert workspace.remove_empty_folder(one)
        else:
            workspace.unlink(one)
    assert workspace.remove_empty_folder(path("d"))
    assert os.listdir(root) == []


def test_a_folder_that_is_gone_counts_as_removed_also_if_the_disk_fails_just_then(root: Path) -> None:
    class Failing(Fs):
        def fsync(self, fd: int) -> None:
            raise OSError(5, "Input/output error")

    (root / "d").mkdir()
    workspace = Workspace.open(Failing(), root)
    assert workspace.remove_empty_folder(path("d")) is True
    assert workspace.remove_empty_folder(path("d")) is False


# -- what it costs ---------------------------------------------------------------------------------------------------


def test_each_folder_is_opened_once_and_each_entry_asked_about_once(root: Path) -> None:
    make(root, *(f"p{a}/m{b}/f{c}" for a in range(5) for b in range(5) for c in range(4)))
    fs = CountingFs()
    walked(root, fs=fs)
    assert len(fs.opened) - 1 == 1 + 5 + 25, "one is the opening of the workspace"
    assert fs.most <= 4
