"""Kinds of folders and repositories: none, nested, submodules, worktrees, empty ones, and what lies staged in them.

Files are walked; a repository inside is only folders whose ``.git`` is never touched. No branch, index or ref ever moves.
"""

import hashlib
import shutil
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.corpus.bench import Bench, Hand, Thing, picture
from tests.core.checkpoint.corpus.repositories import Repository, needs_git
from tests.core.checkpoint.world import ALL_MINE
from vibekit_desktop.core.types.checkpoints import Coverage, Skipped, State

pytestmark = needs_git


@pytest.fixture
def bench(either: Bench) -> Bench:
    """Who is told to have done it makes no difference here."""
    return either


def home_of(bench: Bench) -> Path:
    return bench.root.parent / "home"


def repository(bench: Bench, path: str = ".") -> Repository:
    return Repository(bench.root / path, home_of(bench))


def inside(bench: Bench) -> dict[bytes, Thing]:
    """Everything in the folders and files called ``.git``."""
    return {path: thing for path, thing in picture(bench.root, git=True).items() if b".git" in path.split(b"/")}


def change(bench: Bench, *paths: str) -> dict[str, str]:
    """Edit some files and make a new one beside each; what the timeline should say."""
    told: dict[str, str] = {}
    for path in paths:
        bench.write(path, b"changed by the turn\n")
        bench.write(f"{path}.new", b"made by the turn\n")
        told |= {path: "M", f"{path}.new": "A"}
    return told


def whole_way(bench: Bench, *paths: str) -> None:
    git = inside(bench)
    with bench.turn():
        told = change(bench, *paths)
    bench.tells(told)
    bench.goes_back_and_forth()
    assert inside(bench) == git


def test_a_folder_that_is_no_repository(bench: Bench) -> None:
    bench.seed({"a": b"0", "sub/b": b"0"})
    whole_way(bench, "a", "sub/b")


def test_a_repository(bench: Bench) -> None:
    bench.seed({"a": b"0\n", "sub/b": b"0\n"})
    repository(bench).init().commit()
    whole_way(bench, "a", "sub/b")


def test_a_repository_without_a_commit(bench: Bench) -> None:
    bench.seed({"a": b"0\n"})
    repository(bench).init()
    whole_way(bench, "a")


def test_a_folder_of_a_larger_repository(tmp_path: Path, clock: Clock) -> None:
    bench = Bench(tmp_path, clock)
    bench.seed({"a": b"0\n"})
    (tmp_path / "beside").write_bytes(b"0\n")
    Repository(tmp_path, tmp_path / "home").init().commit()
    before = picture(tmp_path / ".git")
    whole_way(bench, "a")
    assert picture(tmp_path / ".git") == before
    assert (tmp_path / "beside").read_bytes() == b"0\n"


def test_a_child_repository(bench: Bench) -> None:
    bench.seed({"a": b"0\n", "child/b": b"0\n", "child/untracked": b"0\n"})
    repository(bench, "child").init().commit()
    repository(bench).init()
    whole_way(bench, "a", "child/b", "child/untracked")


def test_repositories_in_a_folder_that_is_none(bench: Bench) -> None:
    bench.seed({"one/a": b"0\n", "two/deep/b": b"0\n"})
    repository(bench, "one").init().commit()
    repository(bench, "two/deep").init().commit()
    whole_way(bench, "one/a", "two/deep/b")


def test_a_submodule(bench: Bench) -> None:
    other = Repository(bench.root.parent / "other", home_of(bench)).init()
    (other.folder / "lib").write_bytes(b"0\n")
    other.commit()
    bench.seed({"a": b"0\n"})
    outer = repository(bench).init().commit()
    outer.git("submodule", "--quiet", "add", str(other.folder), "sub")
    outer.commit()
    assert (bench.root / "sub/.git").is_file()
    whole_way(bench, "a", "sub/lib")


def test_a_worktree_as_the_workspace(bench: Bench) -> None:
    main = Repository(bench.root.parent / "main", home_of(bench)).init()
    (main.folder / "a").write_bytes(b"0\n")
    main.commit()
    main.git("worktree", "add", "-q", "-b", "side", str(bench.root))
    before = picture(main.folder, git=True)
    assert (bench.root / ".git").is_file()
    whole_way(bench, "a")
    assert picture(main.folder, git=True) == before


def test_a_worktree_inside_the_workspace(bench: Bench) -> None:
    bench.seed({"a": b"0\n"})
    repository(bench).init().commit().git("worktree", "add", "-q", "-b", "side", "trees/side")
    whole_way(bench, "a", "trees/side/a")


def test_an_empty_nested_repository(bench: Bench) -> None:
    bench.seed({"a": b"0\n"})
    repository(bench).init().commit()
    repository(bench, "empty").init()
    with bench.turn():
        bench.write("a", b"1\n")
        bench.write("empty/f", b"1\n")
    bench.tells({"a": "M", "empty/f": "A"})
    bench.goes_back_and_forth()


def test_a_nested_repository_that_a_turn_makes_and_one_that_it_deletes(shell: Bench) -> None:
    """Its files come and go; its ``.git`` is nobody's that we may touch, so its folder stays."""
    shell.seed({"a": b"0\n", "gone/f": b"0\n"})
    repository(shell, "gone").init().commit()
    with shell.turn():
        shutil.rmtree(shell.root / "gone")
        repository(shell, "made").init()
        shell.write("made/f", b"1\n")
    shell.tells({"gone/f": "D", "made/f": "A"})
    report = shell.world.restore("before:1", mine=ALL_MINE)
    assert report.failed == ()
    assert shell.world.disk().keys() >= {"a", "gone/f"}
    assert not (shell.root / "made/f").exists()
    assert (shell.root / "made/.git/HEAD").is_file()


def test_a_broken_repository(bench: Bench) -> None:
    """One bad repository costs no turn."""
    bench.seed({"a": b"0\n", ".git/HEAD": b"nonsense", "sub/.git": b"gitdir: /nowhere", "sub/b": b"0\n"})
    whole_way(bench, "a", "sub/b")


# -- what lies in the index, and a HEAD that moves ----------------------------------------------------------------


def mixed(bench: Bench) -> Repository:
    """Committed, staged, changed since, staged and changed again, untracked, deleted, and staged as deleted."""
    names = ("committed", "staged", "unstaged", "both", "deleted", "staged-deleted")
    bench.seed(dict.fromkeys(names, b"committed\n"))
    made = repository(bench).init().commit()
    bench.seed({"staged": b"staged\n", "both": b"staged\n", "added": b"staged\n", "added-changed": b"staged\n"})
    made.git("add", "staged", "both", "added", "added-changed")
    made.git("rm", "-q", "--cached", "staged-deleted")
    bench.seed({"unstaged": b"changed\n", "both": b"changed again\n", "added-changed": b"changed\n", "untracked": b"mine\n"})
    (bench.root / "deleted").unlink()
    return made


MIXED = ("committed", "staged", "unstaged", "both", "added", "added-changed", "untracked", "staged-deleted")


def test_staged_unstaged_and_untracked_work(bench: Bench) -> None:
    made = mixed(bench)
    before = made.git("status", "--porcelain=v2"), made.git("diff", "--cached")
    whole_way(bench, *MIXED)
    bench.restore()
    assert picture(bench.root) == bench.before
    assert (made.git("status", "--porcelain=v2"), made.git("diff", "--cached")) == before


@pytest.mark.parametrize("move", ["commit", "branch", "reset", "stash", "gc"])
def test_a_head_that_moved_since_stays_where_it_is(bench: Bench, move: str) -> None:
    made = mixed(bench)
    with bench.turn():
        change(bench, *MIXED)
    match move:
        case "commit":
            made.commit()
        case "branch":
            made.git("checkout", "-q", "-b", "other")
            made.commit()
        case "reset":
            made.git("reset", "-q")
        case "stash":
            made.git("-c", "user.name=a", "-c", "user.email=a@b", "stash", "create")
        case "gc":
            made.git("gc", "-q", "--prune=now")
    git, head, log = inside(bench), made.git("rev-parse", "HEAD"), made.git("log", "--all", "--format=%H")
    bench.goes_back_and_forth()
    assert inside(bench) == git
    assert (made.git("rev-parse", "HEAD"), made.git("log", "--all", "--format=%H")) == (head, log)


def test_a_commit_inside_a_turn_stays_and_only_the_bytes_go_back(bench: Bench) -> None:
    bench.seed({"a": b"0\n"})
    made = repository(bench).init().commit()
    with bench.turn():
        bench.write("a", b"1\n")
        made.git("add", "-A")
        made.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "by the agent")
        head = made.git("rev-parse", "HEAD")
    bench.tells({"a": "M"})
    bench.goes_back_and_forth()
    assert made.git("rev-parse", "HEAD") == head


def test_a_checkout_of_another_branch_in_a_turn_is_its_changes(shell: Bench) -> None:
    shell.seed({"a": b"main\n", "only-main": b"0\n"})
    made = repository(shell).init().commit()
    made.git("checkout", "-q", "-b", "side")
    shell.world.write("a", b"the side branch\n")
    shell.world.write("only-main", None)
    shell.world.write("only-side", b"1\n")
    made.commit()
    made.git("checkout", "-q", "main")
    made.age()
    with shell.turn():
        made.git("checkout", "-q", "side")
    shell.tells({"a": "M", "only-main": "D", "only-side": "A"})
    shell.restore()
    assert picture(shell.root) == shell.before
    assert made.git("rev-parse", "--abbrev-ref", "HEAD") == "side\n"


def test_content_that_only_git_had_and_lost_is_said_to_be_missing(shell: Bench) -> None:
    shell.seed({"a": b"committed\n", "b": b"committed too\n"})
    made = repository(shell).init().commit()
    made.git("update-index", "--refresh")
    shell.hooks.begin()
    assert not list((shell.world.vault_folder / "desktop").rglob("baseline/*/*")), "git has it, nobody copies it"
    oid = hashlib.sha1(b"blob 10\0committed\n").hexdigest()
    (shell.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    shell.hooks.command(lambda: (shell.world.write("a", b"1"), shell.world.write("b", b"1")))
    shell.hooks.end()
    shell.number = 1
    assert shell.row().coverage == Coverage(complete=False, skipped=(Skipped("a", "no-copy"),))
    assert {file.path: file.before.state for file in shell.row().files} == {"a": State.UNKNOWN, "b": State.PRESENT}
    report = shell.world.restore("before:1", mine=ALL_MINE)
    assert {one.path for one in report.failed} == {"a"}
    assert (shell.world.read("a"), shell.world.read("b")) == (b"1", b"committed too\n")


# -- ignore rules ------------------------------------------------------------------------------------------------


def ignored(*paths: str) -> Coverage:
    return Coverage(complete=not paths, skipped=tuple(Skipped(path, "ignored") for path in paths))


def test_an_uncommitted_ignore_rule_protects_what_it_names(bench: Bench) -> None:
    bench.seed({".gitignore": b"*.log\n", "a": b"0\n"})
    made = repository(bench).init().commit()
    bench.seed({".gitignore": b"*.log\nresults/\n", "results/big": b"a week of work", "x.log": b"log"})
    made.git("checkout", "-q", "HEAD", "--", "a")
    with bench.turn():
        bench.write("a", b"1\n")
    bench.tells({"a": "M"})
    bench.goes_back_and_forth()
    assert bench.world.read("results/big") == b"a week of work"


def test_ignore_rules_that_a_turn_takes_away_make_nothing_appear(bench: Bench) -> None:
    bench.seed({".gitignore": b"results/\n*.log\n", "results/big": b"a week of work", "x.log": b"log", "a": b"0"})
    with bench.turn():
        bench.write(".gitignore", b"")
        bench.write("a", b"1")
    bench.tells({".gitignore": "M", "a": "M"}, ignored("results", "x.log"))
    bench.goes_back_and_forth()
    bench.restore()
    assert bench.world.disk() == {
        ".gitignore": b"results/\n*.log\n",
        "results/big": b"a week of work",
        "x.log": b"log",
        "a": b"0",
    }


def test_ignore_rules_that_a_turn_adds_make_nothing_vanish(bench: Bench) -> None:
    bench.seed({"results/big": b"a week of work", "x.log": b"log", "a": b"0"})
    with bench.turn():
        bench.write(".gitignore", b"results/\n*.log\n")
        bench.write("a", b"1")
    bench.tells({".gitignore": "A", "a": "M"}, ignored("results", "x.log"))
    bench.goes_back_and_forth()
    bench.restore()
    assert bench.world.disk() == {"results/big": b"a week of work", "x.log": b"log", "a": b"0"}


def test_ignore_rules_taken_back_by_a_restore_delete_nothing(bench: Bench) -> None:
    """The rule goes first or last: what it protected stays, also what came while it was gone."""
    bench.seed({".gitignore": b"results/\n", "results/big": b"a week of work", "a": b"0"})
    with bench.turn():
        bench.write(".gitignore", None)
    with bench.turn():
        bench.write("a", b"1")
    bench.world.write("results/more", b"by hand")
    for number in (2, 1):
        bench.number = number
        bench.world.restore(f"before:{number}", mine=ALL_MINE)
        assert bench.world.read("results/big") == b"a week of work"
        assert bench.world.read("results/more") == b"by hand"
    assert bench.world.read(".gitignore") == b"results/\n"
    assert bench.world.read("a") == b"0"


def test_what_an_agent_says_it_writes_below_an_ignored_folder_goes_back(hooked: Bench) -> None:
    hooked.seed({".gitignore": b"build/\n", "build/out": b"0", "build/other": b"kept"})
    with hooked.turn():
        hooked.write("build/out", b"1")
    hooked.tells({"build/out": "M"}, ignored("build"))
    hooked.restore()
    assert picture(hooked.root) == hooked.before


@pytest.mark.parametrize("hand", list(Hand))
def test_a_change_of_a_file_that_its_own_turn_made_ignored_is_said(tmp_path: Path, clock: Clock, hand: Hand) -> None:
    bench = Bench(tmp_path, clock, hand)
    bench.seed({"x.log": b"0", "a": b"0"})
    with bench.turn():
        bench.write(".gitignore", b"*.log\n")
        bench.write("x.log", b"1")
    assert ("x.log", "ignored") in {(one.path, one.reason) for one in bench.row().coverage.skipped}
    bench.world.restore("before:1", mine=ALL_MINE)
    wanted = b"0" if hand is Hand.ANNOUNCED else b"1"
    assert bench.world.disk() == {"x.log": wanted, "a": b"0"}
