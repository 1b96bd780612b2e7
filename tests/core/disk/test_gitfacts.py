"""What git knows, taken from its files and compared with git; whatever a repository holds, nothing runs, nothing changes."""

import hashlib
import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from vibekit_desktop.core.disk import gitindex
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.gitdirs import around, git_dir
from vibekit_desktop.core.disk.gitfacts import GitFacts
from vibekit_desktop.core.disk.ignore import IgnoreRules
from vibekit_desktop.core.disk.tree import walk
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.ids import WorkspacePath

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def path(text: str) -> WorkspacePath:
    return WorkspacePath(text)


class Repository:
    """A repository made by git, without anybody's settings."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@b",
        }

    def git(self, *args: str) -> bytes:
        command = ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *args]
        run = subprocess.run(command, cwd=self.root, env=self._env, capture_output=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def write(self, name: str | bytes, data: bytes) -> None:
        """A file of some time ago, so that git does not take it for one that may have changed unseen."""
        place = os.path.join(os.fsencode(self.root), os.fsencode(name))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(data)
        os.utime(place, ns=(10**18, 10**18))

    def commit(self, *args: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x", *args)

    def facts(self) -> GitFacts:
        found = GitFacts.read(self.root)
        assert found is not None
        return found


@pytest.fixture
def repository(root: Path, home: Path) -> Repository:
    made = Repository(root, home)
    made.git("init", "-q")
    made.write("a.txt", b"one\n")
    made.write("sub/b.txt", b"two\n")
    made.write("sub/run.sh", b"#!/bin/sh\n")
    os.chmod(root / "sub/run.sh", 0o755)
    made.commit()
    return made


def oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


# -- clean -----------------------------------------------------------------------------------------------------------


def test_tracked_and_unchanged_files_have_their_content_in_git(repository: Repository, root: Path) -> None:
    facts = repository.facts()
    assert dict(facts.clean) == {"a.txt": oid(b"one\n"), "sub/b.txt": oid(b"two\n"), "sub/run.sh": oid(b"#!/bin/sh\n")}
    assert facts.content(oid(b"two\n")) == b"two\n"
    assert facts.content(oid(b"never")) is None
    assert facts.content("x") is None
    assert len(facts.clean) == 3
    repository.git("gc", "-q")
    assert not (root / ".git/objects" / oid(b"one\n")[:2]).exists()
    packed = repository.facts()
    assert dict(packed.clean) == dict(facts.clean)
    assert packed.content(oid(b"one\n")) == b"one\n"
    assert facts.content(oid(b"one\n")) == b"one\n", "facts of before the packing find it too"


@pytest.mark.parametrize("change", ["content", "same size", "times put back", "mode", "gone", "folder", "link", "untracked"])
def test_what_was_touched_is_not_clean(repository: Repository, root: Path, change: str) -> None:
    file = root / "a.txt"
    match change:
        case "content":
            file.write_bytes(b"longer than before")
        case "same size":
            file.write_bytes(b"ONE\n")
        case "times put back":
            found = file.stat()
            file.write_bytes(b"ONE\n")
            os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
        case "mode":
            file.chmod(0o755)
        case "gone":
            file.unlink()
        case "folder":
            file.unlink()
            file.mkdir()
        case "link":
            file.rename(root / "moved")
            file.symlink_to("moved")
        case _:
            repository.git("rm", "-q", "--cached", "a.txt")
    facts = repository.facts()
    assert sorted(facts.clean) == ["sub/b.txt", "sub/run.sh"]
    assert path("a.txt") not in facts.clean
    assert facts.clean.get(path("none"), "") == ""


def test_a_file_as_young_as_the_index_may_have_changed_unseen(root: Path, home: Path) -> None:
    repository = Repository(root, home)
    repository.git("init", "-q")
    repository.write("f", b"x")
    written = (root / "f").stat()
    repository.git("add", "f")
    assert list(repository.facts().clean) == ["f"]
    os.utime(root / ".git" / "index", ns=(written.st_mtime_ns, written.st_mtime_ns))
    assert list(repository.facts().clean) == []


def test_links_submodules_and_conflicts_are_tracked_and_never_clean(repository: Repository, root: Path) -> None:
    (root / "link").symlink_to("a.txt")
    repository.commit()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    conflict = "".join(f"100644 {oid(b'one' + bytes((10,)))} {stage}\tboth\n" for stage in (1, 2, 3))
    subprocess.run(["git", "update-index", "--index-info"], cwd=root, input=conflict.encode(), check=True)
    repository.write("both", b"one\n")
    (root / "module").mkdir()
    facts = repository.facts()
    assert {"link", "module", "both"} <= set(facts.tracked())
    assert not {"link", "module", "both"} & set(facts.clean)


def test_a_file_that_is_only_announced_or_not_checked_out_is_not_clean(repository: Repository) -> None:
    repository.write("later", b"")
    repository.git("add", "-N", "later")
    repository.git("update-index", "--skip-worktree", "a.txt")
    assert sorted(repository.facts().clean) == ["sub/b.txt", "sub/run.sh"]


def test_content_that_is_missing_or_damaged_in_git_is_not_offered(repository: Repository, root: Path) -> None:
    """As in a partial clone; and a planted object that is not what its name says."""
    place = root / ".git/objects" / oid(b"one\n")[:2] / oid(b"one\n")[2:]
    place.chmod(0o644)
    place.write_bytes(zlib.compress(b"blob 4\0ONE\n"))
    facts = repository.facts()
    assert facts.content(oid(b"one\n")) is None
    place.write_bytes(b"garbage")
    assert path("a.txt") not in repository.facts().clean
    place.write_bytes(zlib.compress(b"blob 4\0" + b"\0" * (1 << 22)))
    assert facts.content(oid(b"one\n")) is None, "no more than the size that was promised is unpacked"
    place.unlink()
    assert path("a.txt") not in repository.facts().clean
    os.mkfifo(place)
    assert path("a.txt") not in repository.facts().clean


# -- converted -------------------------------------------------------------------------------------------------------


def test_a_file_that_git_holds_with_other_line_ends_is_not_clean(repository: Repository) -> None:
    repository.git("config", "core.autocrlf", "true")
    repository.write("crlf", b"a\r\nb\r\n")
    repository.write("lf", b"none")
    repository.commit()
    facts = repository.facts()
    assert path("crlf") not in facts.clean
    assert path("lf") in facts.clean


@pytest.mark.parametrize(
    ("place", "rule"),
    [
        (".gitattributes", "*.bin filter=rot"),
        ("deep/.gitattributes", "*.bin filter=rot"),
        (".git/info/attributes", "/deep/*.bin filter=rot"),
        (".gitattributes", "deep/** -text filter=rot"),
        (".gitattributes", "[attr]turned filter=rot\n*.bin turned"),
        (".gitattributes", '"*.b\\151n" filter=rot'),
        (".gitattributes", "*.bin working-tree-encoding=UTF-16"),
        ("../home/.config/git/attributes", "*.bin filter=rot"),
    ],
)
def test_a_file_that_a_filter_may_have_turned_into_another_of_its_size_is_not_clean(
    repository: Repository, root: Path, place: str, rule: str
) -> None:
    repository.write("deep/x.bin", b"hello")
    repository.commit()
    assert path("deep/x.bin") in repository.facts().clean
    file = root / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{rule}\n")
    facts = repository.facts()
    assert path("deep/x.bin") not in facts.clean
    if not rule.startswith('"'):
        assert path("a.txt") in facts.clean


def test_a_filter_in_use_is_seen_through(repository: Repository) -> None:
    """Git itself calls the file clean, and holds other bytes of the same length."""
    repository.git("config", "filter.rot.clean", "tr a-z b-za")
    repository.git("config", "filter.rot.smudge", "tr b-za a-z")
    repository.write(".gitattributes", b"*.rot filter=rot\n")
    repository.write("x.rot", b"abc")
    repository.commit()
    assert repository.git("status", "--porcelain") == b""
    assert repository.git("cat-file", "blob", ":x.rot") == b"bcd"
    assert path("x.rot") not in repository.facts().clean


@pytest.mark.parametrize(
    "line", ["[core]\n\tattributesFile = /somewhere\n", "[include]\n\tpath = other\n", '[includeIf "x"]\n']
)
def test_settings_that_lead_elsewhere_make_nothing_clean(repository: Repository, root: Path, line: str) -> None:
    with (root / ".git" / "config").open("a") as file:
        file.write(line)
    facts = repository.facts()
    assert dict(facts.clean) == {}
    assert facts.tracks(path("a.txt"))


@pytest.mark.parametrize("kind", ["fifo", "large", "link"])
def test_attributes_that_cannot_be_read_make_nothing_below_clean(repository: Repository, root: Path, kind: str) -> None:
    place = root / "sub" / ".gitattributes"
    match kind:
        case "fifo":
            os.mkfifo(place)
        case "large":
            place.write_bytes(b"#" * (1 << 20) + b"\n")
        case _:
            place.symlink_to("/etc/hostname")
    assert list(repository.facts().clean) == ["a.txt"]


# -- where repositories are ------------------------------------------------------------------------------------------


def test_a_workspace_in_a_folder_of_a_repository_has_the_paths_of_the_workspace(repository: Repository, root: Path) -> None:
    facts = GitFacts.read(root / "sub")
    assert facts is not None
    assert sorted(facts.clean) == ["b.txt", "run.sh"]
    assert sorted(facts.tracked()) == ["b.txt", "run.sh"]


def test_nested_repositories_each_have_their_own_facts(repository: Repository, root: Path, home: Path) -> None:
    """BL-108."""
    inner = Repository(root / "inner", home)
    inner.root.mkdir()
    inner.git("init", "-q")
    inner.write("deep/c.txt", b"three\n")
    inner.commit()
    facts = repository.facts()
    found = facts.clean[path("inner/deep/c.txt")]
    assert found.startswith(oid(b"three\n"))
    assert facts.content(found) == b"three\n"
    assert repository.facts().content(found) == b"three\n", "also in facts that never heard of the path"
    assert facts.clean[path("a.txt")] == oid(b"one\n")
    assert facts.tracks(path("inner/deep"))
    assert not facts.tracks(path("inner/none"))
    for bad in (f"{oid(b'three')}:..", f"{oid(b'three')}:2e2e", f"{oid(b'three')}:zz", f"{oid(b'one')}:2f657463"):
        assert facts.content(bad) is None


def test_a_worktree_reads_the_objects_of_its_repository(repository: Repository, root: Path, home: Path) -> None:
    repository.git("worktree", "add", "-q", "../tree")
    tree = Repository(root.parent / "tree", home)
    for name in ("a.txt", "sub/b.txt"):
        tree.write(name, (tree.root / name).read_bytes())
    tree.git("status")
    tree.git("update-index", "--refresh")
    facts = tree.facts()
    assert {"a.txt", "sub/b.txt"} <= set(facts.clean)
    assert facts.content(facts.clean[path("a.txt")]) == b"one\n"


def test_a_repository_that_borrows_objects_finds_them(repository: Repository, root: Path, home: Path) -> None:
    repository.git("clone", "-q", "--shared", ".", "../borrower")
    borrower = Repository(root.parent / "borrower", home)
    borrower.write("a.txt", b"one\n")
    borrower.git("update-index", "--refresh")
    facts = borrower.facts()
    assert facts.content(facts.clean[path("a.txt")]) == b"one\n"


def test_names_of_any_bytes_are_found(repository: Repository) -> None:
    name = b"\xff\xfe\n\xc3\xa9"
    repository.write(name, b"odd")
    repository.commit()
    assert repository.facts().clean[path(os.fsdecode(name))] == oid(b"odd")


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index_is_read(repository: Repository, version: str, root: Path) -> None:
    for number in range(40):
        repository.write(f"{'x' * number}/{'y' * (number % 9 + 1)}", b"%d" % number)
    if version == "3":
        repository.commit()
        repository.git("update-index", "--skip-worktree", "a.txt")
    repository.git("update-index", "--index-version", version)
    repository.commit()
    stages = repository.git("ls-files", "-s", "-z").split(b"\0")[:-1]
    read = gitindex.parse((root / ".git" / "index").read_bytes())
    assert [b"%o %s 0\t%s" % (entry.mode, entry.oid.encode(), entry.path) for entry in read] == stages
    assert struct.unpack_from(">I", (root / ".git" / "index").read_bytes(), 4)[0] == int(version)


# -- tracked ---------------------------------------------------------------------------------------------------------


def test_rules_do_not_reach_what_git_tracks(repository: Repository, root: Path) -> None:
    repository.write("out/kept.log", b"kept")
    repository.commit()
    repository.write(".gitignore", b"out/\n*.log\n")
    repository.write("out/kept.log", b"and changed since")
    repository.write("out/built", b"")
    workspace = Workspace.open(Fs(), root)
    rules = IgnoreRules.read(workspace)
    ignored = repository.facts().unless_tracked(rules.ignored)
    tree = walk(workspace, ignored=ignored, entering=rules.entering, limit=1000)
    assert path("out/kept.log") in tree.entries
    assert tree.ignored.keys() == {"out/built"}


# -- odd and hostile -------------------------------------------------------------------------------------------------


def _state(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    found = {}
    for place in sorted(folder.rglob("*")):
        seen = place.lstat()
        data = place.read_bytes() if place.is_file() else b""
        found[str(place)] = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_mode, data)
    return found


def test_nothing_is_run_and_nothing_is_written(repository: Repository, root: Path) -> None:
    trap = root.parent / "trap"
    ran = root.parent / "ran"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\nexec cat\n")
    trap.chmod(0o755)
    for setting in ("core.fsmonitor", "core.sshCommand", "core.pager", "filter.x.clean", "filter.x.process", "diff.external"):
        repository.git("config", setting, str(trap))
    repository.git("config", "core.hooksPath", str(root.parent))
    repository.git("config", "core.worktree", "/")
    (root / ".gitattributes").write_text("*.sh filter=x\n")
    (root / "a.txt").write_bytes(b"changed")
    os.utime(root / "sub/b.txt")
    before = _state(root)
    facts = repository_facts = GitFacts.read(root)
    assert repository_facts is not None
    assert facts is not None
    assert dict(facts.clean) == {}
    assert facts.tracks(path("a.txt"))
    assert facts.content(oid(b"two\n")) == b"two\n"
    assert _state(root) == before
    assert not ran.exists()


def _break_index(root: Path) -> None:
    data = bytearray((root / ".git/index").read_bytes())
    data[40] ^= 1
    (root / ".git/index").write_bytes(data)


def _cut_index(root: Path) -> None:
    (root / ".git/index").write_bytes((root / ".git/index").read_bytes()[:100])


def _split_index(root: Path) -> None:
    subprocess.run(["git", "update-index", "--split-index"], cwd=root, check=True)


def _index_fifo(root: Path) -> None:
    (root / ".git/index").unlink()
    os.mkfifo(root / ".git/index")


def _index_link(root: Path) -> None:
    (root / ".git/index").rename(root / "index")
    (root / ".git/index").symlink_to(root / "index")


def _no_head(root: Path) -> None:
    (root / ".git/HEAD").unlink()


def _no_objects(root: Path) -> None:
    shutil.rmtree(root / ".git/objects")


def _pointer(text: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        (root / ".git").rename(root.parent / "moved")
        (root / ".git").write_text(text)

    return plant


def _pointer_fifo(root: Path) -> None:
    shutil.rmtree(root / ".git")
    os.mkfifo(root / ".git")


@pytest.mark.parametrize(
    "harm",
    [
        _break_index, _cut_index, _split_index, _index_fifo, _index_link, _no_head, _no_objects, _pointer_fifo,
        _pointer(""), _pointer("gitdir: "), _pointer("gitdir: /none"), _pointer("gitdir: \0"), _pointer("gitdir: .git"),
        _pointer("x" * 100_000),
    ],
)  # fmt: skip
def test_a_repository_that_is_not_as_it_should_be_is_none(
    repository: Repository, root: Path, harm: Callable[[Path], None]
) -> None:
    harm(root)
    assert GitFacts.read(root) is None


def test_an_index_is_read_whole_or_not_at_all(repository: Repository, root: Path) -> None:
    data = (root / ".git/index").read_bytes()
    good = gitindex.parse(data)
    assert len(good) == 3
    for length in range(len(data)):
        body = data[:length]
        with pytest.raises(gitindex.BadIndex):
            gitindex.parse(body)
        try:
            assert gitindex.parse(body + hashlib.sha1(body).digest()) == good, "cut between two of the parts behind the entries"
        except gitindex.BadIndex:
            continue
    body = data[:-20]
    assert gitindex.parse(body + bytes(20)) == good, "git may leave the hash out"


def test_without_a_repository_there_are_no_facts(root: Path) -> None:
    assert GitFacts.read(root) is None
    assert around(Fs(), root) is None


def test_a_bare_repository_and_one_without_an_index_have_nothing(root: Path, home: Path) -> None:
    bare = Repository(root, home)
    bare.git("init", "-q", "--bare")
    assert GitFacts.read(root) is None
    (root / "new").mkdir()
    new = Repository(root / "new", home)
    new.git("init", "-q")
    assert dict(new.facts().clean) == {}
    assert not new.facts().tracks(path("x"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_repository_is_none_of_ours(repository: Repository, root: Path) -> None:
    os.chown(root / ".git", 12345, 12345)
    assert git_dir(Fs(), root) is None
    assert GitFacts.read(root) is None


def test_a_pack_folder_with_something_else_in_it_is_left_alone(repository: Repository, root: Path) -> None:
    repository.git("gc", "-q")
    os.mkfifo(root / ".git/objects/pack/pack-x.idx")
    facts = repository.facts()
    assert dict(facts.clean) == {}
    assert facts.content(oid(b"one\n")) is None


def test_damaged_packs_give_nothing(repository: Repository, root: Path) -> None:
    repository.git("gc", "-q")
    for file in (root / ".git/objects/pack").glob("pack-*.pack"):
        file.chmod(0o644)
        file.write_bytes(file.read_bytes()[:60] + b"\xff" * 400)
    assert repository.facts().content(oid(b"one\n")) is None


def test_the_objects_of_a_repository_may_go_between_two_questions(repository: Repository, root: Path) -> None:
    facts = repository.facts()
    found = facts.clean[path("a.txt")]
    shutil.rmtree(root / ".git")
    assert facts.content(found) is None
    assert facts.clean_oid(path("sub/b.txt")) is None
