"""How large a folder is, before it is worked in: by the rules of the check, and not past where a check ends."""

import asyncio
import subprocess
import threading
from pathlib import Path

import pytest

from tests.core.services.town import Town
from tests.helpers.program import tree
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.checkpoint import baseline
from vibekit_desktop.core.checkpoint.weigh import WeighingStopped, weigh
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.errors import WorkspaceMissing, WorkspaceRefused
from vibekit_desktop.core.types.folders import FolderWeight
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.settings import Limits


def fill(folder: Path, count: int, *, size: int = 10) -> Path:
    for number in range(count):
        path = folder / f"part_{number % 7}" / f"file_{number}.txt"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(b"x" * size + str(number).encode())
    return folder


def weighed(town: Town, folder: Path) -> FolderWeight | None:
    return town.run(lambda wired: wired.core.library.weigh_folder(folder))


def test_what_the_rules_leave_out_is_not_counted(town: Town, tmp_path: Path) -> None:
    folder = fill(tmp_path / "project", 50)
    fill(folder / "built", 400)
    (folder / ".gitignore").write_text("built/\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    before = tree(folder)
    found = weighed(town, folder)
    assert found is not None
    assert (found.files, found.is_too_large) == (51, False)
    assert found.check_s > 0
    assert tree(folder) == before
    assert not (town.data / "vaults").exists(), "no vault was made of it"


def test_a_folder_with_more_than_a_check_goes_through_is_too_large(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline, "MOST_ENTRIES", 30)
    found = weighed(town, fill(tmp_path / "project", 50))
    assert found is not None
    assert (found.files, found.limit, found.is_too_large) == (30, 30, True)


def test_one_that_is_checked_already_is_not_weighed_again(town: Town) -> None:
    fill(town.work, 5)
    assert weighed(town, town.work) is not None
    town.turn(ChatId("chat-0001"), "make", a="one\n")
    assert weighed(town, town.work) is None


def test_more_to_be_read_takes_longer(tmp_path: Path) -> None:
    fill(tmp_path / "few", 20)
    fill(tmp_path / "many", 2_000)
    few, many = (
        weigh(Workspace.open(Fs(), tmp_path / name, never=()), Limits(), stopped=lambda: False) for name in ("few", "many")
    )
    assert (few.files, many.files) == (20, 2_000)
    assert many.check_s > few.check_s


def test_what_is_never_a_workspace_is_refused(town: Town, tmp_path: Path) -> None:
    for folder, error in ((town.home, WorkspaceRefused), (tmp_path / "none", WorkspaceMissing)):
        with pytest.raises(error):
            weighed(town, folder)


def test_whoever_does_not_wait_stops_it(town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "project", 50)
    ended = threading.Event()
    with pytest.raises(WeighingStopped):
        weigh(Workspace.open(Fs(), folder, never=()), Limits(), stopped=lambda: True)

    def endless(_workspace: Workspace, _limits: Limits, *, stopped: object) -> FolderWeight:
        assert callable(stopped)
        while not stopped():
            pass
        ended.set()
        raise WeighingStopped

    monkeypatch.setattr("vibekit_desktop.core.services.library.weigh", endless)

    async def give_up(wired: Wired) -> None:
        task = asyncio.ensure_future(wired.core.library.weigh_folder(folder))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(ended.wait, 20)

    town.run(give_up)
