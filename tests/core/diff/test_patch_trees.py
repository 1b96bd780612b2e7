"""Patches of whole random trees, applied and taken back by the real ``git apply``."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.diff.strategies import sides
from vibekit_desktop.core.diff.patch import unified
from vibekit_desktop.core.types.checkpoints import ABSENT, FileState, State
from vibekit_desktop.core.types.ids import WorkspacePath

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

_GIT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CEILING_DIRECTORIES": tempfile.gettempdir(),
}


@dataclass(frozen=True)
class File:
    """A file or a link, and its permissions; those of a link do not count."""

    data: bytes
    mode: int = 0o644
    link: bool = False

    @property
    def state(self) -> FileState:
        return FileState(State.LINK) if self.link else FileState(State.PRESENT, mode=self.mode)


Tree = dict[str, File]
PARTS = (
    b"a", b"b", b"src", b"with space", b"two  spaces ", b" leading", b'quo"te', b"back\\slash", b"tab\there", b"new\nline",
    "na\u00efve".encode(), "\u65e5\u672c".encode(), "\u202eright".encode(), b"caf\xe9", b"-dash", b"--- a", b"+++ b",
    b"@@ -1 @@", b"dev", b"null", b"a.", b"...", b"\x01\x7f", b"b\xff\xfe", b"'single'", b"$HOME", b"*?[x]", b"rename to b",
    b"trailing\t",
)  # fmt: skip
ODD = (
    b"", b"\n", b"\r\n", b"a", b"a\n", b"\0", b"\0\n" * 40, bytes(range(256)) * 9, b"a\r\nb\nc\r\n", b"\xff\xfe\n",
    b"x\n" * 300, b"-- \n--- a\n+++ b\n@@ -1 +1 @@\n", b"diff --git a/a b/a\nindex 1..2\n",
    b"\\ No newline at end of file\n", b"GIT binary patch\n",
)  # fmt: skip


def files() -> st.SearchStrategy[File]:
    text = sides().map(lambda pair: pair[0] or b"")
    odd = st.sampled_from(
        [
            b"",
            b"\n",
            b"\r\n",
            b"a",
            b"a\n",
            b"\0",
            b"\0\n" * 40,
            bytes(range(256)) * 9,
            b"a\r\nb\nc\r\n",
            b"\xff\xfe\n",
            b"x\n" * 300,
        ]
    )
    plain = st.builds(File, st.one_of(text, odd), st.sampled_from([0o644, 0o644, 0o755]))
    texts = st.sampled_from([b"elsewhere", b"../out", b"with space", b"/nowhere", "\u00e9".encode(), b"new\nline", b"caf\xe9"])
    return st.one_of(plain, plain, plain, st.builds(File, texts, st.just(0o777), st.just(True)))


def names() -> st.SearchStrategy[str]:
    parts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3)
    return parts.map(b"/".join).map(os.fsdecode)


def stands(tree: Mapping[str, File]) -> bool:
    """No file is in the way of another."""
    folders = {name[:at] for name in tree for at, char in enumerate(name) if char == "/"}
    return folders.isdisjoint(tree)


@st.composite
def edited(draw: st.DrawFn) -> tuple[Tree, Tree, dict[str, str]]:
    """A tree, what it becomes, and old names by new ones."""
    old = draw(st.dictionaries(names(), files(), max_size=6).filter(stands))
    new, moved = dict(old), dict[str, str]()
    for name in draw(st.permutations(sorted(old))):
        what = draw(st.sampled_from(["stay", "gone", "other", "edit", "mode", "move", "move and edit"]))
        file = new.pop(name)
        if what == "other":
            file = draw(files())
        if what in ("edit", "move and edit") and not file.link:
            lines = file.data.split(b"\n")
            at = draw(st.integers(0, len(lines)))
            file = File(
                b"\n".join([*lines[:at], draw(st.sampled_from([b"", b"new", b"n\r", b"\0"])), *lines[at + 1 :]]), file.mode
            )
        if what == "mode" and not file.link:
            file = File(file.data, file.mode ^ 0o111)
        # A link is never taken for a renamed one; git itself cannot take back such a patch where a folder is in its place.
        target = draw(names()) if what.startswith("move") and not file.link else name
        if what == "gone" or target in old.keys() - {name} or not stands({**new, target: file}):
            continue
        new[target] = file
        if target != name:
            moved[target] = name
    for name, file in draw(st.dictionaries(names(), files(), max_size=3)).items():
        if name not in new and name not in old and stands({**new, name: file}):
            new[name] = file
    return old, new, moved


def patch_of(old: Tree, new: Tree, moved: Mapping[str, str]) -> bytes:
    """As the diff of a chat is made: by path, a renamed file as one under its new name."""
    parts: list[bytes] = []
    for name in sorted((old.keys() | new.keys()) - set(moved.values()) | moved.keys()):
        before, after = old.get(moved.get(name, name)), new.get(name)
        parts.append(
            unified(
                WorkspacePath(name),
                before and before.data,
                after and after.data,
                old_path=WorkspacePath(moved[name]) if name in moved else None,
                old_state=before.state if before else ABSENT,
                new_state=after.state if after else ABSENT,
            )
        )
    return b"".join(parts)


def lay(folder: Path, tree: Tree) -> None:
    for name, file in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.link:
            os.symlink(file.data, os.fsencode(path))
        else:
            path.write_bytes(file.data)
            path.chmod(file.mode)


def read(folder: Path) -> Tree:
    found: Tree = {}
    for root, folders, leaves in os.walk(folder):
        for name in [*leaves, *(one for one in folders if (Path(root) / one).is_symlink())]:
            path = Path(root) / name
            if path.is_symlink():
                file = File(os.readlink(os.fsencode(path)), 0o777, link=True)
            else:
                file = File(path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644)
            found[os.path.relpath(path, folder)] = file
    return found


def apply(folder: Path, patch: bytes, *more: str) -> None:
    words = ["git", "apply", "--whitespace=nowarn", *more, "-"]
    run = subprocess.run(words, cwd=folder, input=patch, capture_output=True, check=False, env=_GIT)
    assert run.returncode == 0, run.stderr.decode("utf-8", "replace") + "\n" + patch.decode("utf-8", "backslashreplace")


@given(change=edited())
def test_any_tree_becomes_the_other_and_comes_back(change: tuple[Tree, Tree, dict[str, str]]) -> None:
    old, new, moved = change
    patch = patch_of(old, new, moved)
    assert bool(patch) == (old != new)
    with tempfile.TemporaryDirectory(prefix="patch-") as made:
        folder = Path(made)
        lay(folder, old)
        if patch:
            apply(folder, patch)
            assert read(folder) == new
            apply(folder, patch, "-R")
        assert read(folder) == old


def test_a_file_gives_way_to_a_folder_of_its_name_and_back(tmp_path: Path) -> None:
    one, other = {"a": File(b"x\n")}, {"a/b": File(b"y\n"), "a/c": File(b"", 0o755)}
    for old, new in ((one, other), (other, one)):
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        lay(tmp_path, old)
        patch = patch_of(old, new, {})
        apply(tmp_path, patch)
        assert read(tmp_path) == new
        apply(tmp_path, patch, "-R")
        assert read(tmp_path) == old


@pytest.mark.parametrize("data", [b"", b"\0", b"text\n"])
def test_a_name_with_blanks_before_a_slash_is_no_riddle(tmp_path: Path, data: bytes) -> None:
    old = {"two  blanks /a b/x b/two": File(b"\0old"), "mode  /run": File(b"x\n")}
    new = {"two  blanks /a b/x b/two": File(data), "new  /file ": File(data), "mode  /run": File(b"x\n", 0o755)}
    lay(tmp_path, old)
    patch = patch_of(old, new, {})
    apply(tmp_path, patch)
    assert read(tmp_path) == new
    apply(tmp_path, patch, "-R")
    assert read(tmp_path) == old
