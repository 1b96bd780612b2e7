"""One real file, one path: on disks that fold names, and through links."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.folding_fs import FoldingFs, both_key, case_key, normal_key
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.errors import PathEscape, PathRefused
from vibekit_desktop.core.types.ids import WorkspacePath

COMPOSED = unicodedata.normalize("NFC", "café.md")
DECOMPOSED = unicodedata.normalize("NFD", "café.md")


def path(text: str) -> WorkspacePath:
    return WorkspacePath(text)


def folding(root: Path, key: Callable[[str], str] = both_key) -> Workspace:
    return Workspace.open(FoldingFs(key), root)


@pytest.mark.parametrize(("key", "name"), [(case_key, "Read.me"), (normal_key, COMPOSED), (normal_key, DECOMPOSED)])
def test_a_disk_that_folds_names_is_found_out_by_looking(root: Path, key: Callable[[str], str], name: str) -> None:
    workspace = folding(root, key)
    assert workspace.folds is False, "nothing is there to tell"
    (root / "123").touch()
    assert workspace.folds is False, "a name of digits tells nothing"
    (root / name).touch()
    before = sorted(os.listdir(root))
    assert workspace.folds is True
    assert sorted(os.listdir(root)) == before
    (root / name).unlink()
    assert workspace.folds is True, "what was found out once stays"


def test_a_disk_that_keeps_two_spellings_apart_does_not_fold(root: Path) -> None:
    (root / "a.txt").write_bytes(b"small")
    assert Workspace.open(Fs(), root).folds is False
    (root / "A.txt").write_bytes(b"capital")
    assert Workspace.open(Fs(), root).folds is False
    os.remove(root / "A.txt")
    os.link(root / "a.txt", root / "A.txt")
    assert Workspace.open(Fs(), root).folds is False, "one inode, but both names are listed: two hard links"


def test_the_spelling_on_disk_is_found_for_every_part(root: Path) -> None:
    (root / "Src" / "Deep").mkdir(parents=True)
    (root / "Src" / "Deep" / "Main.PY").touch()
    workspace = folding(root)
    assert workspace.spelled(path("src/DEEP/main.py")) == "Src/Deep/Main.PY"
    assert workspace.spelled(path("Src/Deep/Main.PY")) == "Src/Deep/Main.PY"
    assert workspace.spelled(path("SRC/new/File.py")) == "Src/new/File.py", "what does not exist keeps its spelling"
    assert workspace.spelled(path("SRC/deep/MAIN.py/x")) == "Src/Deep/Main.PY/x"
    assert workspace.spelled(path("none")) == "none"


def test_a_decomposed_name_and_a_composed_one_are_one_file(root: Path) -> None:
    (root / DECOMPOSED).touch()
    assert folding(root, normal_key).spelled(path(COMPOSED)) == DECOMPOSED
    assert Workspace.open(Fs(), root).spelled(path(COMPOSED)) == COMPOSED, "two files on a disk that does not fold"


def test_hard_links_are_not_taken_for_spellings(root: Path) -> None:
    (root / "a.txt").touch()
    os.link(root / "a.txt", root / "other.txt")
    os.link(root / "a.txt", root / "Z.txt")
    workspace = folding(root)
    assert workspace.spelled(path("A.TXT")) == "a.txt"
    assert workspace.spelled(path("OTHER.txt")) == "other.txt"
    plain = Workspace.open(Fs(), root)
    os.link(root / "a.txt", root / "A.txt")
    assert plain.spelled(path("A.txt")) == "A.txt"
    assert plain.spelled(path("a.txt")) == "a.txt"


def test_a_rule_of_folding_that_nobody_knows_is_settled_by_the_inode(root: Path) -> None:
    (root / "straße").touch()
    workspace = folding(root, lambda name: name.casefold().rstrip("."))
    assert workspace.spelled(path("STRASSE.")) == "straße"


def test_where_names_are_not_folded_no_folder_is_listed_for_a_spelling(root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "c.txt").touch()
    fs = FoldingFs(lambda name: name)
    workspace = Workspace.open(fs, root)
    for text in ("a/b/c.txt", "a/b/C.txt", "A/b/c.txt", "a/b/none"):
        assert workspace.spelled(path(text)) == text
    assert fs.listings == 0


def test_a_link_on_the_way_is_not_followed_for_a_spelling(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "File").touch()
    (root / "Link").symlink_to(outside)
    assert folding(root).spelled(path("link/FILE")) == "Link/FILE"


def test_links_inside_lead_to_the_real_file(root: Path) -> None:
    (root / "real" / "deep").mkdir(parents=True)
    (root / "real" / "deep" / "f").touch()
    (root / "a").symlink_to("real")
    (root / "real" / "up").symlink_to("../real/deep")
    (root / "file").symlink_to("a/up/f")
    (root / "absolute").symlink_to(root / "a" / "deep")
    workspace = Workspace.open(Fs(), root)
    assert workspace.real(path("a/deep/f")) == "real/deep/f"
    assert workspace.real(path("a/up/f")) == "real/deep/f"
    assert workspace.real(path("file")) == "real/deep/f"
    assert workspace.real(path("absolute/f")) == "real/deep/f"
    assert workspace.real(path("real/deep/f")) == "real/deep/f"
    assert workspace.real(path("a/new/file")) == "real/new/file", "a file that would be made"
    (root / "dangling").symlink_to("not/there")
    assert workspace.real(path("dangling")) == "not/there"


def test_an_absolute_link_text_may_name_the_root_by_another_way(root: Path, tmp_path: Path) -> None:
    (root / "f").touch()
    (tmp_path / "alias").symlink_to(root)
    (root / "link").symlink_to(tmp_path / "alias" / "f")
    assert Workspace.open(Fs(), root).real(path("link")) == "f"


@pytest.mark.parametrize(
    "text", ["..", "../outside/f", "/etc/passwd", "../work-other/f", ".", "loop", "/proc/self/cwd/x", "sub/../.."]
)
def test_links_that_lead_out_or_nowhere_are_refused(root: Path, text: str) -> None:
    (root / "sub").mkdir()
    (root / "loop").symlink_to("loop")
    (root / "link").symlink_to(text)
    with pytest.raises(PathEscape):
        Workspace.open(Fs(), root).real(path("link"))


def test_a_link_into_the_repository_is_refused(root: Path) -> None:
    (root / ".git").mkdir()
    (root / "link").symlink_to(".git")
    with pytest.raises(PathRefused):
        Workspace.open(Fs(), root).real(path("link/hooks/pre-commit"))


def test_a_folding_disk_is_written_like_any_other(root: Path) -> None:
    """The fake is as strict as a real one: the file is replaced, its name stays."""
    (root / "a.txt").write_bytes(b"old")
    workspace = folding(root)
    stage = "A.txt.vibekit-restore-1"
    workspace.stage_file(path("A.txt"), stage, (b"new",), 0o644)
    workspace.put_in_place(path("A.txt"), stage)
    assert os.listdir(root) == ["a.txt"]
    assert workspace.read(path("A.TXT"))[1] == b"new"
