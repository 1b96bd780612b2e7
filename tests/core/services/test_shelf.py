"""Which vault belongs to a folder: one for each existing folder, whatever its spelling; and folders that never get one."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Clock
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.types.errors import CannotRead, WorkspaceRefused
from vibekit_desktop.core.types.ids import ChatId


def _folder(path: Path) -> str:
    path.mkdir(parents=True)
    return str(path)


def test_a_folder_has_one_vault_by_every_spelling(tmp_path: Path, shelf: Shelf) -> None:
    work = _folder(tmp_path / "work")
    (tmp_path / "link").symlink_to(work)
    made = shelf.for_workspace(work)
    assert made.workspace_path == work
    for text in (work, str(tmp_path / "link"), f"{work}/", f"{tmp_path}/./work", f"{tmp_path}/link/../work"):
        assert shelf.for_workspace(text) is made, text
    assert len(shelf.vaults()) == 1


def test_a_link_first_means_the_folder_it_leads_to(tmp_path: Path, shelf: Shelf) -> None:
    work = _folder(tmp_path / "work")
    (tmp_path / "link").symlink_to(work)
    made = shelf.for_workspace(str(tmp_path / "link"))
    assert made.workspace_path == work
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(_folder(tmp_path / "other"))
    assert shelf.for_workspace(str(tmp_path / "link")) is not made, "the link leads to another folder now"
    assert shelf.for_workspace(work) is made


def test_nested_folders_are_separate(tmp_path: Path, shelf: Shelf) -> None:
    outer, inner = _folder(tmp_path / "work"), _folder(tmp_path / "work" / "inner")
    assert shelf.for_workspace(outer) is not shelf.for_workspace(inner)


def test_another_folder_with_a_used_inode_is_another_workspace(tmp_path: Path, shelf: Shelf) -> None:
    """A file system gives the inode of a removed folder to the next one that is made: that says nothing."""
    made = shelf.for_workspace(_folder(tmp_path / "gone"))
    inode = os.stat(tmp_path / "gone").st_ino
    shutil.rmtree(tmp_path / "gone")
    fresh = tmp_path / "fresh"
    for attempt in range(50):
        fresh = tmp_path / f"fresh-{attempt}"
        fresh.mkdir()
        if os.stat(fresh).st_ino == inode:
            break
    assert shelf.find(str(fresh)) is None
    assert shelf.for_workspace(str(fresh)) is not made


def test_a_recorded_folder_that_is_not_here_keeps_its_vault_and_finds_it_when_it_comes(tmp_path: Path, shelf: Shelf) -> None:
    text = str(tmp_path / "later")
    made = shelf.for_workspace(text)
    assert made.workspace() is None
    assert shelf.for_workspace(text) is made
    _folder(tmp_path / "later")
    found = made.workspace()
    assert found is not None
    assert shelf.for_workspace(text) is made
    assert shelf.for_workspace("c:\\work") is shelf.for_workspace("c:\\work")
    assert shelf.for_workspace("c:\\work").workspace() is None


def test_the_library_says_the_same_to_another_process(tmp_path: Path, home: Path, data: Path, clock: Clock) -> None:
    one, two = (Shelf(Fs(), data, clock=clock, home=home) for _ in range(2))
    work = _folder(tmp_path / "work")
    assert one.for_workspace(work).id == two.for_workspace(work).id
    assert one.for_workspace(_folder(tmp_path / "second")).id in {vault.id for vault in two.vaults()}
    assert data.stat().st_mode & 0o777 == 0o700
    assert (data / "library.json").stat().st_mode & 0o777 == 0o600


def test_the_newest_used_is_first(tmp_path: Path, shelf: Shelf, clock: Clock) -> None:
    for name in ("a", "b", "c"):
        clock.advance(100_000)
        shelf.for_workspace(_folder(tmp_path / name))
    clock.advance(100_000)
    shelf.for_workspace(str(tmp_path / "a"))
    assert [Path(vault.workspace_path).name for vault in shelf.vaults()] == ["a", "c", "b"]


def test_root_home_and_our_own_data_get_no_vault(tmp_path: Path, shelf: Shelf, home: Path, data: Path) -> None:
    data.mkdir()
    (tmp_path / "to-home").symlink_to(home)
    (tmp_path / "to-data").symlink_to(data)
    refused = {
        Path("/"): "root", Path("/tmp/.."): "root", home: "home", tmp_path / "to-home": "home", data: "own-data",
        data / "vaults" / "x": "own-data", tmp_path / "to-data": "own-data",
    }  # fmt: skip
    for folder, reason in refused.items():
        with pytest.raises(WorkspaceRefused) as found:
            shelf.refuse_as_workspace(folder)
        assert found.value.reason == reason, folder
    shelf.refuse_as_workspace(home / "project")
    shelf.refuse_as_workspace(tmp_path)


def test_a_vault_for_one_run_is_first_recorded_and_shown_by_no_other_run(
    tmp_path: Path, shelf: Shelf, data: Path, home: Path, clock: Clock
) -> None:
    work, other = _folder(tmp_path / "work"), _folder(tmp_path / "other")
    listed = shelf.for_workspace(work)
    kept = shelf.for_workspace(other)
    folder = tmp_path / "vibekit"
    with pytest.raises(CannotRead):
        shelf.open_for_this_run(folder, Path(work))
    folder.mkdir()
    shelf.open_for_this_run(folder, Path(work))
    vaults = shelf.vaults()
    assert [vault.folder for vault in vaults] == [folder, kept.folder], "it stands for the listed one of its workspace"
    assert shelf.for_workspace(work) is vaults[0]
    assert listed not in vaults
    assert not list(folder.iterdir())
    shelf.open_for_this_run(folder, Path(work))
    recorded = [one for one in json.loads((data / "library.json").read_text())["vaults"] if one.get("unlisted")]
    assert [(one["folder"], one["workspace"]) for one in recorded] == [(str(folder), work)], "once"
    another_run = Shelf(Fs(), data, clock=clock, home=home)
    assert {vault.folder for vault in another_run.vaults()} == {kept.folder, listed.folder}
    assert another_run.for_workspace(work).folder == listed.folder


def test_one_bad_vault_keeps_no_other_from_being_found(tmp_path: Path, shelf: Shelf, data: Path) -> None:
    chat = ChatId("chat-a")
    bad = shelf.for_workspace(_folder(tmp_path / "bad"))
    good = shelf.for_workspace(_folder(tmp_path / "good"))
    (good.folder / "chats").mkdir(parents=True)
    (good.folder / "chats" / f"{chat}.json").write_text("{}")
    shutil.rmtree(bad.folder)
    bad.folder.symlink_to(bad.folder.name)
    assert shelf.holding(chat) is good
    assert shelf.holding(ChatId("chat-b")) is None


def test_unknown_keys_and_a_crashed_write_in_the_library_do_no_harm(tmp_path: Path, shelf: Shelf, data: Path) -> None:
    shelf.for_workspace(_folder(tmp_path / "work"))
    leftover = data / (".vibekit-temp-" + "0" * 24)
    leftover.write_text("half")
    mine = data / ".vibekit-temp-notes"
    mine.write_text("somebody's")
    listed = json.loads((data / "library.json").read_text())
    listed["later"] = {"a": 1}
    (data / "library.json").write_text(json.dumps(listed))
    assert len(shelf.vaults()) == 1
    shelf.for_workspace(_folder(tmp_path / "second"))
    assert len(shelf.vaults()) == 2
    assert not leftover.exists()
    assert mine.exists()


def test_vaults_are_found_again_when_the_list_is_lost(
    shelf: Shelf, data: Path, tmp_path: Path, home: Path, clock: Clock
) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    first, second = shelf.for_workspace(str(work)), shelf.for_workspace(str(other))
    (data / "vaults" / "stranger" / "desktop").mkdir(parents=True)
    (data / "vaults" / "stranger" / "desktop" / "vault.json").write_text("{")
    (data / "library.json").unlink()
    again = Shelf(Fs(), data, clock=clock, home=home)
    assert {vault.id: vault.workspace_path for vault in again.vaults()} == {first.id: str(work), second.id: str(other)}
    assert not (data / "library.json").exists(), "reading writes nothing"
    third = again.for_workspace(str(tmp_path / "third"))
    listed = Shelf(Fs(), data, clock=clock, home=home).vaults()
    assert {vault.id for vault in listed} == {first.id, second.id, third.id}
    assert again.for_workspace(str(work)).folder == first.folder
