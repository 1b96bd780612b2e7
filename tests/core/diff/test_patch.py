"""Patches, tried with the real ``git apply``."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.diff.strategies import sides
from vibekit_desktop.core.diff.patch import unified
from vibekit_desktop.core.types.checkpoints import FileState, State
from vibekit_desktop.core.types.ids import WorkspacePath, parse_workspace_path

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

PLAIN = FileState(State.PRESENT, mode=0o644)
PROGRAM = FileState(State.PRESENT, mode=0o755)
LINK = FileState(State.LINK)


def put(folder: Path, name: WorkspacePath, data: bytes | None, state: FileState = PLAIN) -> None:
    path = folder / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if data is None:
        return
    if state.state is State.LINK:
        path.symlink_to(os.fsdecode(data))
        return
    path.write_bytes(data)
    path.chmod(state.mode or 0o644)


def apply(folder: Path, patch: bytes) -> None:
    run = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"], cwd=folder, input=patch, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr.decode() + patch.decode("utf-8", "replace")


def round_trip(
    folder: Path,
    name: str,
    old: bytes | None,
    new: bytes | None,
    before: FileState = PLAIN,
    after: FileState = PLAIN,
) -> bytes:
    """Apply the patch to the old side, check that the new side comes out, and go back again with the reverse patch."""
    path = parse_workspace_path(name)
    there = folder / os.fsdecode(path)
    put(folder, path, old, before)
    patch = unified(path, old, new, old_state=before, new_state=after)
    if patch:
        apply(folder, patch)
        check(there, new, after)
        apply(folder, unified(path, new, old, old_state=after, new_state=before))
    check(there, old, before)
    return patch


def check(path: Path, data: bytes | None, state: FileState) -> None:
    if data is None:
        assert not path.exists()
        assert not path.is_symlink()
    elif state.state is State.LINK:
        assert os.fsencode(os.readlink(path)) == data
    else:
        assert path.read_bytes() == data
        assert bool(path.stat().st_mode & 0o100) == bool((state.mode or 0o644) & 0o100)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (None, b"a\nb\n"),
        (b"a\nb\n", None),
        (None, b""),
        (b"", None),
        (b"", b"a\n"),
        (b"a\n", b""),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a", b"b"),
        (None, b"no newline"),
        (b"a\r\nb\r\n", b"a\nb\n"),
        ("é\n".encode("latin-1"), "è\n".encode("latin-1")),
        (b"\0\1\2", b"\0\1\3"),
        (None, bytes(range(256)) * 40),
        (bytes(range(256)) * 40, None),
        ("é".encode("utf-16"), "è".encode("utf-16")),
        (b"text\n", b"\0binary"),
        (b"a\x0cb\x85\n", b"a\x0cc\x85\n"),
    ],
)
def test_git_applies_a_patch_and_its_reverse(tmp_path: Path, old: bytes | None, new: bytes | None) -> None:
    assert round_trip(tmp_path, "src/file.py", old, new)


@pytest.mark.parametrize(
    "name",
    [
        "with space.txt",
        "two  spaces/and more.txt",
        'quo"te.txt',
        "back\\slash",
        "naïve/日本.txt",
        "tab\tin.txt",
        "-dash",
        "a b",
    ],
)
@pytest.mark.parametrize(("old", "new"), [(b"a\n", b"b\n"), (None, b"a\n"), (b"a\n", None), (None, b""), (b"\0a", b"\0b")])
def test_names_are_quoted_as_git_does(tmp_path: Path, name: str, old: bytes | None, new: bytes | None) -> None:
    round_trip(tmp_path, name, old, new)


def test_a_name_that_is_not_utf8_keeps_its_bytes(tmp_path: Path) -> None:
    name = WorkspacePath(os.fsdecode(b"caf\xe9.txt"))
    put(tmp_path, name, b"a\n")
    apply(tmp_path, unified(name, b"a\n", b"b\n", old_state=PLAIN, new_state=PLAIN))
    assert (tmp_path / os.fsdecode(b"caf\xe9.txt")).read_bytes() == b"b\n"


def test_a_mode_travels_with_and_without_a_change_of_content(tmp_path: Path) -> None:
    assert b"old mode 100644\nnew mode 100755\n" in round_trip(tmp_path, "run", b"a\n", b"a\n", PLAIN, PROGRAM)
    assert b"old mode 100755\nnew mode 100644\n" in round_trip(tmp_path, "run", b"a\n", b"b\n", PROGRAM, PLAIN)
    assert b"new file mode 100755\n" in round_trip(tmp_path, "other", None, b"a\n", PLAIN, PROGRAM)


def test_a_mode_nobody_recorded_is_no_change() -> None:
    unknown = FileState(State.PRESENT)
    assert unified(WorkspacePath("a"), b"a\n", b"a\n", old_state=PROGRAM, new_state=unknown) == b""
    assert b"100644" not in unified(WorkspacePath("a"), b"a\n", b"b\n", old_state=unknown, new_state=PROGRAM)


def test_a_link_travels_and_may_become_a_file(tmp_path: Path) -> None:
    round_trip(tmp_path, "link", b"one", b"two", LINK, LINK)
    round_trip(tmp_path, "other", None, b"target", PLAIN, LINK)
    patch = round_trip(tmp_path, "third", b"target", b"text\n", LINK, PLAIN)
    assert patch.count(b"diff --git") == 2


def test_a_rename_travels(tmp_path: Path) -> None:
    put(tmp_path, WorkspacePath("old name"), b"a\nb\nc\n")
    patch = unified(
        WorkspacePath("new"), b"a\nb\nc\n", b"a\nB\nc\n", old_path=WorkspacePath("old name"), old_state=PLAIN, new_state=PLAIN
    )
    apply(tmp_path, patch)
    assert (tmp_path / "new").read_bytes() == b"a\nB\nc\n"
    assert not (tmp_path / "old name").exists()


def test_a_rename_alone_carries_no_content(tmp_path: Path) -> None:
    put(tmp_path, WorkspacePath("old"), b"a\n")
    patch = unified(WorkspacePath("b/new"), b"a\n", b"a\n", old_path=WorkspacePath("old"), old_state=PLAIN, new_state=PLAIN)
    assert b"@@" not in patch
    apply(tmp_path, patch)
    assert (tmp_path / "b" / "new").read_bytes() == b"a\n"


def test_equal_sides_make_no_patch() -> None:
    assert unified(WorkspacePath("a"), b"a", b"a", old_state=PLAIN, new_state=PLAIN) == b""
    assert unified(WorkspacePath("a"), None, None) == b""


def test_patches_of_several_files_can_be_joined(tmp_path: Path) -> None:
    parts = []
    for name, old, new in (("a", b"a\n", b"b\n"), ("b", None, b"\0"), ("c", b"", None), ("d", b"x", b"y")):
        put(tmp_path, WorkspacePath(name), old)
        parts.append(unified(WorkspacePath(name), old, new, old_state=PLAIN, new_state=PLAIN))
    apply(tmp_path, b"".join(parts))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"b\n", "b": b"\0", "d": b"y"}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=sides(), name=st.sampled_from(["a.txt", "b c/d", "é"]))
def test_any_two_files_survive_git_apply(tmp_path: Path, pair: tuple[bytes | None, bytes | None], name: str) -> None:
    round_trip(tmp_path, name, *pair)
