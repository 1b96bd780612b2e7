"""Files that somebody changes while the window is in front: Now and an open preview tell of it by themselves."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from tests.app.window import Window
from vibekit_desktop.ui.dialogs.restore_preview import RestorePreview
from vibekit_desktop.ui.operations import disk_watch

README = "README.md"


def has_workspace(window: Window) -> bool:
    opened = window.conductor.open
    return (
        opened.view is not None
        and opened.view.workspace_found
        and opened.timeline is not None
        and opened.timeline.workspace_found
    )


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_watch, "EVERY_MS", 20)


async def test_now_follows_the_disk_while_the_window_is_in_front(window: Window, workspace: Path) -> None:
    await window.open_demo()
    assert window.now() == []
    kept = (workspace / README).read_bytes()
    (workspace / README).write_bytes(b"somebody else wrote this\n")
    await window.until(lambda: window.now() == [README], "seen without coming back to the window")
    (workspace / README).write_bytes(kept)
    await window.until(lambda: window.now() == [], "and that it is as it was")
    await window.settled()


async def test_a_folder_that_is_renamed_is_missed_at_once(window: Window, workspace: Path) -> None:
    await window.open_demo()
    away = workspace.with_name("away")
    workspace.rename(away)
    await window.until(lambda: not has_workspace(window), "the folder is missed")
    away.rename(workspace)
    await window.until(lambda: has_workspace(window), "it is there again")
    await window.settled()


async def test_an_open_preview_follows_the_disk(window: Window, workspace: Path) -> None:
    await window.open_demo()
    window.key(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    await window.until(lambda: len(window.dialogs()) == 1)
    (dialog,) = window.dialogs()
    assert isinstance(dialog, RestorePreview)
    model = next(file.path for file in dialog.plan.files)
    (workspace / model).write_bytes(b"mine, a moment ago\n")
    await window.until(lambda: any(file.changed_by for file in dialog.plan.files), "the list is made anew")
    assert "changed just now. Look again." in dialog._assurance.text
    dialog.answer(None)
    await window.settled()
    assert (workspace / model).read_bytes() == b"mine, a moment ago\n"
