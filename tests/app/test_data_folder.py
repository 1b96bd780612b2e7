"""The data folder: where the user moved it, and what is said where nothing can be kept in it."""

import logging
import os
from pathlib import Path

import pytest

from tests.helpers.vaults import make_library
from vibekit_desktop.app import crash
from vibekit_desktop.app.dirs import Dirs, find_dirs, unwritable


def test_a_data_folder_that_is_a_link_is_the_folder_behind_it(tmp_path: Path, home: Path) -> None:
    library = make_library(tmp_path, home)
    elsewhere = tmp_path / "another disk"
    library.data.rename(elsewhere)
    library.data.symlink_to(elsewhere)
    assert find_dirs(str(library.data)) == Dirs(elsewhere)
    for words in (("list",), ("restore", library.one, "before:2", "--yes"), ("undo", library.one, "--yes"), ("verify",)):
        assert library.call(*words).status == 0, words
    assert library.data.is_symlink()


def test_a_link_in_the_data_folder_is_still_refused(tmp_path: Path, home: Path) -> None:
    library = make_library(tmp_path, home)
    vaults = library.data / "vaults"
    vaults.rename(tmp_path / "vaults")
    vaults.symlink_to(tmp_path / "vaults")
    assert find_dirs(str(library.data)) == Dirs(library.data)


def test_a_link_that_leads_nowhere_makes_no_new_library(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(tmp_path / "gone" / "data")
    dirs = find_dirs(str(tmp_path / "data"))
    problem = unwritable(dirs)
    assert dirs == Dirs(tmp_path / "data")
    assert problem is not None
    assert problem.reason == "not a folder"
    assert not (tmp_path / "gone").exists()


def test_whether_the_data_folder_can_be_written_is_seen_without_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert unwritable(Dirs(tmp_path)) is None
    assert unwritable(Dirs(tmp_path / "not" / "yet")) is None
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    assert unwritable(Dirs(tmp_path / "file")) is not None
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    problem = unwritable(Dirs(tmp_path))
    assert problem is not None
    assert (problem.path, problem.reason) == (str(tmp_path), "Permission denied")


def test_a_log_that_its_disk_does_not_take_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("vibekit_desktop")
    before = list(log.handlers)
    level = log.level
    try:
        crash.start_logging(tmp_path, verbose=False)
        (tmp_path / "vibekit-desktop.log").mkdir()
        for _ in range(3):
            log.info("a line")
    finally:
        for handler in [one for one in log.handlers if one not in before]:
            log.removeHandler(handler)
            handler.close()
        log.setLevel(level)
    assert capsys.readouterr().err == "vibekit-desktop: no log file: Is a directory\n"
