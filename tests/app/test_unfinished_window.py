"""A restore that another program began and did not end: the window asks, and the answer is kept."""

import json
from pathlib import Path

from tests.app.window import Window
from tests.helpers.program import tree
from vibekit_desktop.ui.models.timeline_rows import RowKind


async def test_the_files_are_left_as_they_are_and_restores_work_again(window: Window, workspace: Path) -> None:
    await window.open_demo()
    chat = window.conductor.open.chat
    (log,) = window.data.rglob(f"chats/{chat}/events.jsonl")
    started = {"type": "restore_started", "tag": "3", "ts": 1, "message_count": 1, "v": 1}
    with log.open("ab") as file:
        file.write(json.dumps(started).encode() + b"\n")
    window.come_back()
    banner = window.conductor.page.banner
    await window.until(banner.isVisible, "the window says it")
    window.picture("asked")
    files, lines = tree(workspace), log.read_bytes()

    await window.ask_to_restore(3)
    window.press_dialog("Restore 5 files and the chat")
    await window.until(lambda: "did not end" in window.toast, "a restore is refused")
    await window.settled()
    assert (tree(workspace), log.read_bytes()) == (files, lines)

    window.conductor.notifier.dismiss()  # an error is never pushed away by good news
    window.press_button(banner, "Leave the files as they are")
    await window.until(lambda: not banner.isVisible(), "the banner goes by itself")
    assert window.toast == "The restore was ended. The files stay as they are."
    await window.settled()
    assert window.turns() == [5, 4, 3, 2, 1]
    assert not [row for row in window.timeline() if row.kind is RowKind.ENTRY], "nothing was restored"
    window.picture("answered")
    assert tree(workspace) == files
    assert log.read_bytes().startswith(lines)

    await window.ask_to_restore(3)
    window.press_dialog("Restore 5 files and the chat")
    await window.until(lambda: window.toast == "Restored 5 of 5 files to before turn 3", "a restore works again")
    await window.settled()
    assert not (await window.wired.core.library.verify(None)).problems
