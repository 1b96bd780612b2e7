"""Git's rules of what is ignored, compared with git itself; what cannot be read is never taken for "nothing is ignored"."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.ignore import IgnoreRules
from vibekit_desktop.core.disk.tree import Tree, walk
from vibekit_desktop.core.disk.wildmatch import ignore_rule
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.errors import CannotRead
from vibekit_desktop.core.types.ids import WorkspacePath

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def path(text: str) -> WorkspacePath:
    return WorkspacePath(text)


def repository(folder: Path) -> Path:
    """The least that git takes for a repository."""
    for name in ("objects", "refs", "info"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder / ".git"


def rules(root: Path, *, fold: bool = False) -> IgnoreRules:
    return IgnoreRules.read(Workspace.open(Fs(), root), fold=fold)


def ignored(root: Path, *paths: str, fold: bool = False) -> list[str]:
    """Those of the paths that are ignored; a folder is given with a slash behind it."""
    read = rules(root, fold=fold)
    return [one for one in paths if read.ignored(path(one.rstrip("/")), one.endswith("/"))]


def walked(root: Path) -> Tree:
    workspace = Workspace.open(Fs(), root)
    read = IgnoreRules.read(workspace)
    return walk(workspace, ignored=read.ignored, entering=read.entering, limit=100_000)


# -- the same as git -------------------------------------------------------------------------------------------------

_PARTS = (
    "a", "b", "foo", "*.o", "*", "**", "f?o", "[ab]", "a*", "b.o", "x.o", "\\a", "[!a]", "a ", "*a*", "a*o", "*o*",
    "[[:alpha:]]", "[a-c]*", "fo[!a-m]", "[]a]", "a\\*", "**a", "é", "?", "***", "[a", "[^b]", "\\", "*.[oa]", "[[:nope:]]",
    "[a\\-c]", "a\\ ", "[--a]", "[[:x]", "*b*o*", "[\\]]",
)  # fmt: skip
_NAMES = ("a", "b", "foo", "b.o", "x.o", "fxo", "ab", "a ", "é", "a*", "boo", "]")


def _random_pattern(chance: random.Random) -> str:
    text = "/".join(chance.choice(_PARTS) for _ in range(chance.choice((1, 1, 1, 2, 2, 3))))
    for odds, change in (
        (0.2, lambda text: f"/{text}"),
        (0.3, lambda text: f"{text}/"),
        (0.3, lambda text: f"!{text}"),
        (0.05, lambda text: f"#{text}"),
        (0.1, lambda text: f"{text} "),
        (0.1, lambda text: f"{text}\r"),
    ):
        if chance.random() < odds:
            text = change(text)
    return text


def _write_random_rules(chance: random.Random, file: Path) -> None:
    lines = [_random_pattern(chance) for _ in range(chance.randint(1, 5))]
    file.write_text("\ufeff" * (chance.random() < 0.1) + "\n".join(lines) + "\n" * chance.randint(0, 1))


def _grow(chance: random.Random, folder: Path, depth: int) -> None:
    if chance.random() < 0.3:
        _write_random_rules(chance, folder / ".gitignore")
    for name in _NAMES:
        if depth < 3 and chance.random() < 0.3:
            (folder / name).mkdir()
            _grow(chance, folder / name, depth + 1)
        elif chance.random() < 0.5:
            (folder / name).touch()


def _by_git(root: Path, paths: list[str]) -> set[str]:
    run = subprocess.run(
        ["git", "check-ignore", "-z", "--stdin", "--no-index"],
        cwd=root,
        input=b"\0".join(os.fsencode(one) for one in paths) + b"\0",
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"},
    )
    assert run.returncode in (0, 1), run.stderr
    return {os.fsdecode(one) for one in run.stdout.split(b"\0") if one}


@needs_git
@pytest.mark.parametrize("seed", range(25))
def test_random_rules_mean_what_git_takes_them_for(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = tmp_path / "work"
    root.mkdir()
    repository(root)
    _write_random_rules(chance, root / ".gitignore")
    if chance.random() < 0.5:
        _write_random_rules(chance, root / ".git" / "info" / "exclude")
    _grow(chance, root, 0)
    found = {str(one.relative_to(root)): one.is_dir() for one in root.rglob("*") if ".git" not in one.relative_to(root).parts}
    paths = list(found)
    chance.shuffle(paths)
    read = rules(root)
    ours = {one for one in paths if read.ignored(path(one), found[one])}
    assert ours == _by_git(root, paths)
    tree = walked(root)
    listed = {one for one in paths if one not in ours}
    assert set(tree.entries) == listed
    assert tree.ignored.keys() == {one for one in ours if one.rpartition("/")[0] not in ours}


@needs_git
@pytest.mark.parametrize(
    "line", [b"\xff*", b"?", b"??", b"[\x80-\xff]", b"[!a]", b"n*e", b"\xc3\xa9", b"*\xa9", b"a\tb", b"a\\\tb"]
)
def test_patterns_and_names_are_bytes(root: Path, line: bytes) -> None:
    repository(root)
    (root / ".gitignore").write_bytes(line + b"\n")
    names = [os.fsdecode(name) for name in (b"\xff\xfe", b"\xff", b"\xc3\xa9", b"a", b"n\ne", b"a\tb", b"\n")]
    for name in names:
        (root / name).touch()
    assert set(ignored(root, *names)) == _by_git(root, names)


# -- which rules count -----------------------------------------------------------------------------------------------


def test_deeper_rules_are_stronger_and_the_last_line_decides(root: Path) -> None:
    (root / "sub").mkdir()
    (root / ".gitignore").write_text("*.log\n!keep.log\n/top\nbuild/\n")
    (root / "sub" / ".gitignore").write_text("!x.log\nkeep.log\n")
    found = ignored(root, "a.log", "keep.log", "sub/x.log", "sub/keep.log", "top", "sub/top", "build/", "build", "sub/build/")
    assert found == ["a.log", "sub/keep.log", "top", "build/", "sub/build/"]


def test_nothing_comes_back_from_below_an_ignored_folder(root: Path) -> None:
    (root / "out").mkdir()
    (root / ".gitignore").write_text("out/\n!out/keep\n")
    (root / "out" / ".gitignore").write_text("!*\n")
    assert ignored(root, "out/keep", "out/deep/er/x") == ["out/keep", "out/deep/er/x"]


def test_folders_that_tools_fill_are_ignored_unless_rules_say_otherwise(root: Path) -> None:
    names = ("node_modules/", "a/__pycache__/", ".venv/", "node_modules", "venv/", ".hg/")
    assert ignored(root, *names) == ["node_modules/", "a/__pycache__/", ".venv/", ".hg/"]
    (root / ".gitignore").write_text("!node_modules\n")
    assert ignored(root, *names) == ["a/__pycache__/", ".venv/", ".hg/"]


def test_a_nested_repository_has_its_own_rules(root: Path) -> None:
    repository(root)
    (root / ".gitignore").write_text("*.tmp\nnode_modules\n/lib/x\nvendor/\n")
    (root / ".git" / "info" / "exclude").write_text("outer\n")
    for name in ("lib", "vendor", "plain"):
        (root / name).mkdir()
    repository(root / "lib")
    repository(root / "vendor")
    (root / "lib" / ".git" / "info" / "exclude").write_text("inner\n")
    (root / "lib" / ".gitignore").write_text("*.o\n")
    (root / "plain" / ".git").mkdir()  # no repository, only a folder with the name of one
    asked = ("lib/a.tmp", "lib/x", "lib/outer", "lib/inner", "lib/a.o", "lib/node_modules/", "inner", "vendor/f", "plain/a.tmp")
    assert ignored(root, *asked) == ["lib/inner", "lib/a.o", "lib/node_modules/", "vendor/f", "plain/a.tmp"]
    for one in asked:
        (root / one.rstrip("/")).parent.mkdir(exist_ok=True)
        (root / one.rstrip("/")).mkdir() if one.endswith("/") else (root / one).touch()
    tree = walked(root)
    assert {one for one in asked if one.rstrip("/") in tree.entries} == {"lib/a.tmp", "lib/x", "lib/outer", "inner"}


def test_rules_of_the_folders_above_reach_into_the_workspace(root: Path) -> None:
    repository(root)
    (root / ".gitignore").write_text("*.log\n/app/web/dist\n")
    (root / ".git" / "info" / "exclude").write_text("secret\n")
    (root / "app" / "web").mkdir(parents=True)
    (root / "app" / ".gitignore").write_text("web/cache\n!web/a.log\n")
    (root / "app" / "web" / ".gitignore").write_text("!b.log\n")
    asked = ("a.log", "b.log", "c.log", "dist", "sub/dist", "cache", "secret", "kept")
    assert ignored(root / "app" / "web", *asked) == ["c.log", "dist", "cache", "secret"]
    (root.parent / ".gitignore").write_text("kept\n")
    assert ignored(root / "app" / "web", "kept") == [], "above the repository's top is not the repository's business"


def test_a_workspace_that_is_ignored_itself_is_still_one(root: Path) -> None:
    repository(root)
    (root / ".gitignore").write_text("/scratch\n*.log\n")
    (root / "scratch" / "deep").mkdir(parents=True)
    assert ignored(root / "scratch" / "deep", "code.py", "a.log", "node_modules/") == ["node_modules/"]


def test_a_worktree_and_a_submodule_use_the_exclude_file_of_their_repository(root: Path) -> None:
    main = root / "main"
    main.mkdir()
    git = repository(main)
    (git / "info" / "exclude").write_text("everywhere\n")
    tree = git / "worktrees" / "w"
    tree.mkdir(parents=True)
    (tree / "HEAD").write_text("ref: refs/heads/w\n")
    (tree / "commondir").write_text("../..\n")
    (root / "w").mkdir()
    (root / "w" / ".git").write_text(f"gitdir: {tree}\n")
    assert ignored(root / "w", "everywhere", "x") == ["everywhere"]
    module = git / "modules" / "m"
    module.mkdir(parents=True)
    shutil.copytree(git / "info", module / "info")
    (module / "objects").mkdir()
    (module / "HEAD").write_text("ref: refs/heads/m\n")
    (main / "m").mkdir()
    (main / "m" / ".git").write_text("gitdir: ../.git/modules/m\n")
    (main / ".gitignore").write_text("outer\n")
    assert ignored(main, "m/outer", "m/everywhere", "outer") == ["m/everywhere", "outer"]


def test_on_a_disk_that_folds_names_rules_fold_too(root: Path) -> None:
    (root / ".gitignore").write_text("Build/\n*.LOG\n[A-C]x\n")
    asked = ("build/", "BUILD/", "a.log", "bX", "dx")
    assert ignored(root, *asked, fold=True) == ["build/", "BUILD/", "a.log", "bX"]
    assert ignored(root, *asked) == []


# -- what cannot be read ---------------------------------------------------------------------------------------------


def _plant(file: Path, kind: str) -> None:
    match kind:
        case "link":
            file.symlink_to("/etc/hostname")
        case "dangling":
            file.symlink_to("none")
        case "fifo":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case _:
            file.write_bytes(b"#" * (1 << 20) + b"\n")


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "folder", "large"])
def test_rules_that_cannot_be_read_are_said_and_never_guessed(root: Path, kind: str) -> None:
    """BL-023: an ignore check that fails must not mean that nothing is ignored."""
    _plant(root / ".gitignore", kind)
    with pytest.raises(CannotRead) as raised:
        rules(root)
    assert raised.value.path == ".gitignore"


@pytest.mark.parametrize("kind", ["link", "fifo", "large"])
def test_rules_deeper_down_that_cannot_be_read_stop_the_walk(root: Path, kind: str) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "code").touch()
    _plant(root / "sub" / ".gitignore", kind)
    with pytest.raises(CannotRead) as raised:
        walked(root)
    assert raised.value.path == "sub/.gitignore"
    (root / ".gitignore").write_text("sub\n")
    assert walked(root).ignored.keys() == {"sub"}, "an ignored folder's rules are nobody's business"


@pytest.mark.parametrize("place", [".git/info/exclude", "../.gitignore"])
def test_other_files_of_rules_count_as_much(root: Path, place: str) -> None:
    repository(root if place.startswith(".git/") else root.parent)
    _plant(root / place, "fifo")
    with pytest.raises(CannotRead):
        rules(root)


def test_a_link_on_the_way_to_rules_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / ".gitignore").write_text("*\n")
    (root / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(CannotRead):
        rules(root).ignored(path("sub/code"), False)


@pytest.mark.parametrize(
    "line", [b"*a" * 200, b"**/" * 200 + b"x", b"[a-z]*" * 300, b"*?" * 500, b"*/" * 500 + b"b", b"[" * 3000]
)
def test_no_pattern_takes_for_ever(root: Path, line: bytes) -> None:
    """The file comes with the workspace, and its author may be hostile; a slow one would run into the limit of every test."""
    (root / ".gitignore").write_bytes(line + b"b\n")
    read = rules(root)
    for number in range(200):
        assert not read.ignored(path("/".join(("a" * 250,) * 12) + f"/{'a' * 240}{number}"), False)


def test_lines_that_can_match_nothing_are_no_rules() -> None:
    for line in (b"", b"#x", b"  ", b"!", b"/", b"//", b"[a", b"a//b", b"x\\", b"[[:what:]]", b"!/"):
        assert ignore_rule(line) is None
