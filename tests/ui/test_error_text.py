"""Words for errors: every class has its own, and says what failed, what was changed, what to do."""

import pytest
from pytestqt.qtbot import QtBot

from vibekit_desktop.core.types import errors
from vibekit_desktop.ui.error_text import covered, sentence


def _all(kind: type[errors.CoreError]) -> list[type[errors.CoreError]]:
    return [kind] + [found for child in kind.__subclasses__() for found in _all(child)]


def test_every_error_of_the_core_has_its_own_words() -> None:
    ours = {kind for kind in _all(errors.CoreError) if kind.__module__ == errors.__name__}
    assert ours <= covered()


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (errors.PlanStale(["a.py", "b.py"]), "2 files changed since you looked."),
        (errors.PlanStale(["a.py"]), "1 file changed since you looked."),
        (errors.PlanStale([]), "Something changed since you looked."),
        (errors.WorkspaceMissing("/home/ada/code/tidepool"), "tidepool was not found where it was."),
        (errors.WorkspaceMissing(""), "The folder of this chat was not found where it was."),
        (errors.NothingToTakeBack("redo"), "There is nothing to redo."),
        (errors.WorkspaceRefused("/home/ada", "home"), "This is your home folder."),
        (errors.DiskFull("x", "no room"), "The disk is full."),
        (
            errors.FileTooLarge("/data/vaults/x/chats/one.json", 97_000_000, 32 << 20),
            "This chat's file is 97 MB, larger than 34 MB.",
        ),
        (errors.Busy(""), "The workspace's store is in use by another program."),
    ],
)
def test_the_facts_are_in_the_words(qtbot: QtBot, error: errors.CoreError, title: str) -> None:
    assert sentence(error).title == title


def test_braces_in_a_path_are_only_text(qtbot: QtBot) -> None:
    assert "{n}.py" in sentence(errors.PathRefused("{n}.py", "git")).title


def test_an_error_that_is_not_the_cores_is_a_bug_of_ours(qtbot: QtBot) -> None:
    assert "VibeKit Desktop itself" in sentence(ValueError("boom")).title
    assert "boom" not in sentence(ValueError("boom")).sentence


def test_a_path_in_an_error_hides_nothing() -> None:
    assert "x\u27e8U+202E\u27e9gpj.exe" in sentence(errors.PathRefused("x\u202egpj.exe", "git")).title


@pytest.mark.parametrize(
    "path",
    [
        "/data/vaults/01234567-89ab-cdef-0123-456789abcdef/desktop/turns/01a2.lock",
        "/data/library.json",
        "/data/desktop/lock",
        "/data/snapshots/blobs/aa/bb",
    ],
)
def test_a_file_of_the_store_is_not_told_as_one_of_the_project(qtbot: QtBot, path: str) -> None:
    told = sentence(errors.CannotWrite(path, "Read-only file system"))
    assert told.title == "The store can't be written: Read-only file system."
    assert told.detail == "Nothing was changed, and nothing is recorded. Check the disk and the permissions of /data."
    assert "file was left" not in told.sentence


@pytest.mark.parametrize("path", ["src/desktop/lock", "/home/me/desktop/export.md", "/home/me/chats/one.json"])
def test_every_other_file_is_told_by_its_name(qtbot: QtBot, path: str) -> None:
    assert sentence(errors.CannotWrite(path, "no")).title == f"{path} can't be written: no."


def test_what_is_too_large_is_not_blamed_on_permissions(qtbot: QtBot) -> None:
    told = sentence(errors.FileTooLarge("/data/vaults/x/chats/one.json", 97_000_000, 32 << 20))
    assert told.detail == "That is too much to be read at once. Nothing of it was changed."
    assert told.action == ""
