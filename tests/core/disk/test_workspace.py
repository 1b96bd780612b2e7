"""Inside the workspace by descriptor, never outside; names that are never touched."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from vibekit_desktop.core.disk import names
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.workspace import Workspace, parents_of, relative
from vibekit_desktop.core.types.checkpoints import ABSENT, State
from vibekit_desktop.core.types.errors import (
    CannotRead,
    CannotWrite,
    PathEscape,
    PathRefused,
    WorkspaceMissing,
)
from vibekit_desktop.core.types.ids import WorkspacePath


def path(text: str) -> WorkspacePath:
    return WorkspacePath(text)


STAGE = "f.vibekit-restore-123"


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace.open(Fs(), root)


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".GIT",
        ".Git.",
        ".git ",
        ".git. .",
        "git~1",
        "GIT~2",
        ".git::$INDEX_ALLOCATION",
        ".g\u200cit",
        "\ufeff.git",
        "a\\.git",
    ],
)
def test_every_spelling_of_git_is_refused(workspace: Workspace, root: Path, name: str) -> None:
    with pytest.raises(PathRefused):
        relative(root, f"sub/{name}/config")
    assert workspace.look(path(f"{name}/config")).reason == "refused"
    with pytest.raises(PathRefused):
        workspace.stage_file(path(f"{name}/f"), STAGE, (b"x",), 0o644)
    assert os.listdir(root) == []


@pytest.mark.parametrize("name", [".gitignore", ".github", "git", "dot.git", "git~x", ".git2"])
def test_names_that_only_begin_like_git_are_files(root: Path, name: str) -> None:
    assert relative(root, name) == name


def test_paths_given_by_a_person_are_made_relative_or_refused(root: Path) -> None:
    assert relative(root, f"{root}/a/./b") == "a/b"
    assert relative(root, "a/../b") == "b"
    assert relative(root, "..cache/x") == "..cache/x"
    for bad in ("", ".", "..", "../x", "a/../../x", "/etc/passwd", f"{root}", f"{root}-other/x", "a\0b"):
        with pytest.raises(PathEscape):
            relative(root, bad)
    with pytest.raises(PathRefused):
        relative(root, "x.vibekit-restore-12")


@pytest.mark.parametrize(
    "name", ["nul", "NUL.txt", "aux.c", "con", "COM1", "lpt9.log", "a:b", "x.", "x ", "q?", 'q"', "a\\b", "t\tab", "CONIN$"]
)
def test_names_that_windows_cannot_have_are_reserved(name: str) -> None:
    assert names.is_reserved(name)


@pytest.mark.parametrize("name", ["null", "auxiliary.c", "com", "com10", ".x", "x.y", "café", "a b"])
def test_ordinary_names_are_not_reserved(name: str) -> None:
    assert not names.is_reserved(name)


def test_a_reserved_folder_that_is_there_already_makes_no_new_name(workspace: Workspace, root: Path) -> None:
    assert workspace.refused_for_creation(path("aux/f"))
    (root / "aux").mkdir()
    assert not workspace.refused_for_creation(path("aux/f"))
    assert workspace.refused_for_creation(path("aux/nul"))


def test_stage_names_fit_and_can_be_told() -> None:
    for base in ("f", "x" * 255, "é" * 127, os.fsdecode(b"\xff\xfe"), "a\nb"):
        stage = names.stage_name(base)
        assert len(stage.encode()) <= 255
        assert names.is_stage_name(stage)
    assert names.stage_name("f") != names.stage_name("f")
    assert not names.is_stage_name("../f.vibekit-restore-1")
    assert not names.is_stage_name("f.vibekit-restore-1x")


def test_states_are_told_apart(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"x")
    (root / "f").chmod(0o640)
    os.symlink("f", root / "link")
    os.symlink("nowhere", root / "dangling")
    (root / "sub").mkdir()
    os.mkfifo(root / "pipe")
    found = workspace.look(path("f"))
    assert (found.state, found.mode, found.size) == (State.PRESENT, 0o640, 1)
    assert workspace.look(path("link")).state is State.LINK
    assert workspace.look(path("dangling")).state is State.LINK
    assert workspace.look(path("sub")).state is State.FOLDER
    assert (workspace.look(path("pipe")).state, workspace.look(path("pipe")).reason) == (State.UNKNOWN, "not-regular")
    assert workspace.look(path("link/x")).reason == "link-on-the-way"
    for missing in ("z", "z/y", "f/x"):
        assert workspace.look(path(missing)) == ABSENT
    assert workspace.look(path("x" * 300)).reason == "cannot-read"


def test_a_file_that_cannot_be_opened_is_unknown(root: Path) -> None:
    class Closed(Fs):
        def open_regular(self, path: Path | str, *, follow: bool = False, dir_fd: int | None = None) -> int:
            raise PermissionError(13, "no")

    (root / "f").write_bytes(b"secret")
    found = Workspace.open(Closed(), root).look(path("f"))
    assert (found.state, found.reason, found.size) == (State.UNKNOWN, "cannot-read", 6)


def test_bytes_and_state_of_a_reading_belong_together(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"x")
    os.symlink("f", root / "link")
    state, data = workspace.read(path("f"))
    assert (state, data) == (workspace.look(path("f")), b"x")
    assert workspace.read(path("link"))[1] == b"f"
    assert workspace.read(path("z")) == (ABSENT, None)
    with pytest.raises(CannotRead):
        b"".join(workspace.pieces(path("z")))


def test_another_folder_in_the_place_of_the_root_is_missing(workspace: Workspace, root: Path, tmp_path: Path) -> None:
    root.rename(tmp_path / "moved")
    for _ in range(2):
        with pytest.raises(WorkspaceMissing):
            workspace.look(path("f"))
        root.mkdir(exist_ok=True)
    with pytest.raises(WorkspaceMissing):
        Workspace.open(Fs(), tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WorkspaceMissing):
        Workspace.open(Fs(), tmp_path / "file")


def test_a_root_that_is_a_link_is_bound_to_its_target(root: Path, tmp_path: Path) -> None:
    os.symlink(root, tmp_path / "link")
    assert Workspace.open(Fs(), tmp_path / "link").root == root


def test_a_stage_is_private_until_it_is_whole_and_never_replaces_anything(workspace: Workspace, root: Path) -> None:
    workspace.stage_file(path("f"), STAGE, (b"a", b"b"), 0o444)
    assert (root / STAGE).read_bytes() == b"ab"
    assert (root / STAGE).stat().st_mode & 0o777 == 0o444
    with pytest.raises(CannotWrite):
        workspace.stage_file(path("f"), STAGE, (b"x",), 0o600)
    with pytest.raises(CannotWrite):
        workspace.stage_link(path("f"), STAGE, b"x")
    assert (root / STAGE).read_bytes() == b"ab"
    workspace.put_in_place(path("f"), STAGE)
    workspace.sync_parent(path("f"))
    assert os.listdir(root) == ["f"]


def test_a_stage_whose_source_fails_is_gone(workspace: Workspace, root: Path) -> None:
    def pieces():  # type: ignore[no-untyped-def]  # a generator that fails half-way
        yield b"half"
        raise CannotRead("blob", "gone")

    with pytest.raises(CannotRead):
        workspace.stage_file(path("f"), STAGE, pieces(), 0o600)
    assert os.listdir(root) == []


def test_only_stage_names_are_staged_dropped_or_moved(workspace: Workspace, root: Path) -> None:
    (root / "precious").write_bytes(b"x")
    for name in ("precious", "../precious.vibekit-restore-1", ""):
        with pytest.raises(PathRefused):
            workspace.drop_stage(path("f"), name)
        with pytest.raises(PathRefused):
            workspace.put_in_place(path("f"), name)
        with pytest.raises(PathRefused):
            workspace.stage_file(path("f"), name, (), 0o600)
        assert workspace.look_stage(path("f"), name) == ABSENT
    workspace.drop_stage(path("f"), STAGE)
    workspace.drop_stage(path("gone/f"), STAGE)
    (root / STAGE).mkdir()
    workspace.drop_stage(path("f"), STAGE)
    assert (root / STAGE).is_dir()


def test_folders_are_made_one_by_one_and_removed_only_when_empty(workspace: Workspace, root: Path) -> None:
    assert workspace.missing_parents(path("a/b/f")) == ["a", "a/b"]
    assert workspace.make_folder(path("a"))
    assert not workspace.make_folder(path("a"))
    assert workspace.is_empty_folder(path("a"))
    (root / "a/f").write_bytes(b"")
    assert not workspace.is_empty_folder(path("a"))
    assert not workspace.is_empty_folder(path("z"))
    assert not workspace.remove_empty_folder(path("a"))
    (root / "a/f").unlink()
    assert workspace.remove_empty_folder(path("a"))
    with pytest.raises(CannotWrite):
        workspace.make_folder(path("a/b"))
    (root / "f").write_bytes(b"")
    with pytest.raises(CannotWrite):
        workspace.make_folder(path("f"))
    assert parents_of(path("a/b/c")) == ["a", "a/b"]


def test_set_id_bits_are_never_set(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"")
    workspace.set_mode(path("f"), 0o6755)
    assert (root / "f").stat().st_mode & 0o7777 == 0o755
    with pytest.raises(CannotWrite):
        workspace.set_mode(path("z"), 0o600)
    with pytest.raises(CannotWrite):
        workspace.unlink(path("z"))


def test_a_folder_that_became_a_link_is_never_gone_through(workspace: Workspace, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs")
    os.symlink(outside, root / "sub")
    with pytest.raises(PathEscape):
        workspace.stage_file(path("sub/f"), STAGE, (b"x",), 0o600)
    with pytest.raises(PathEscape):
        workspace.unlink(path("sub/f"))
    with pytest.raises(PathEscape):
        workspace.make_folder(path("sub/new"))
    workspace.drop_stage(path("sub/f"), STAGE)
    workspace.sync_parent(path("sub/f"))
    assert not workspace.is_empty_folder(path("sub"))
    assert os.listdir(outside) == ["f"]
    assert (outside / "f").read_bytes() == b"theirs"


def test_swapping_a_folder_and_a_link_never_leads_out(workspace: Workspace, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs")
    (root / "real").mkdir()
    stop = threading.Event()

    def flip() -> None:
        while not stop.is_set():
            os.rename(root / "real", root / "sub")
            os.rename(root / "sub", root / "real")
            os.symlink(outside, root / "sub")
            os.unlink(root / "sub")

    flipper = threading.Thread(target=flip)
    flipper.start()
    try:
        for _ in range(400):
            try:
                workspace.stage_file(path("sub/f"), STAGE, (b"x",), 0o600)
                workspace.put_in_place(path("sub/f"), STAGE)
                workspace.unlink(path("sub/f"))
            except (PathEscape, CannotWrite):
                continue
    finally:
        stop.set()
        flipper.join()
    assert os.listdir(outside) == ["f"]
    assert (outside / "f").read_bytes() == b"theirs"


class Blinking(Fs):
    """A file that somebody replaces again and again: after each look it is what ``then`` makes of it."""

    then: Callable[[], None] = staticmethod(lambda: None)

    def close(self, fd: int) -> None:
        super().close(fd)
        self.then()


def test_a_file_that_goes_while_it_is_read_is_absent(root: Path) -> None:
    """`timeline` and `diff` failed as a whole while a build was running."""
    fs = Blinking()
    workspace = Workspace.open(fs, root)
    (root / "a").write_bytes(b"x")
    fs.then = lambda: (root / "a").unlink(missing_ok=True)
    assert workspace.read(path("a")) == (ABSENT, None)


def test_a_link_that_takes_the_place_of_a_file_is_not_read_as_one(workspace: Workspace, root: Path) -> None:
    (root / "a").write_bytes(b"x")
    state = workspace.look(path("a"))
    (root / "a").unlink()
    (root / "a").symlink_to("elsewhere")
    with pytest.raises(CannotRead):
        list(workspace.pieces(path("a"), seen=state.state))
    assert workspace.read(path("a"))[1] == b"elsewhere"
