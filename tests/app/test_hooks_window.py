"""Hooks work from another process while the window is open: it shows what they do, without being touched."""

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.app.window import Window
from vibekit_desktop.core.services.watch import WatchService
from vibekit_desktop.core.types.events import HistoryGrew


async def hook(window: Window, home: Path, *words: str, given: bytes | None = None) -> None:
    """One call of the command line, in a process of its own."""
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(window.data), "--home", str(home), *words]

    def run() -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(command, input=given or b"", capture_output=True, check=False, timeout=60)

    out = await asyncio.to_thread(run)
    assert out.returncode == 0, out.stderr


def _shown(window: Window) -> str:
    model = window.conductor.transcript
    return "\n".join(str(model.data(model.index(row))) for row in range(model.rowCount()))


async def test_a_turn_of_another_process_appears_while_it_happens(window: Window, workspace: Path, home: Path) -> None:
    await window.open_demo()
    window.wired.core.watch.start()
    chat = window.conductor.open.chat
    assert chat is not None
    await hook(window, home, "turn", "hooks", "begin", "--workspace", str(workspace), "--prompt", "Said elsewhere")
    await window.until(lambda: [row.header.name for row in window.chats()][:1] == ["Said elsewhere"], "its row appears on top")
    assert window.conductor.open.chat == chat, "what a person looks at stays"
    window.choose_chat("Said elsewhere")
    await window.until(lambda: window.turns() == [1])
    await window.settled()
    assert window.prompts() == ["Said elsewhere"]
    target = workspace / "elsewhere.txt"
    await hook(window, home, "record", "hooks", "elsewhere.txt", given=b"one\n")
    target.write_text("one\n")
    await window.until(lambda: "elsewhere.txt" in window.files(1), "the capture is in the timeline")
    await hook(window, home, "turn", "hooks", "end", "--answer", "It is written.")
    await window.until(lambda: "It is written." in _shown(window), "the answer is in the transcript")
    await window.settled()
    assert window.now() == []
    (row,) = [row for row in window.chats() if row.header.name == "Said elsewhere"]
    assert row.header.lines_added == 1
    window.picture("elsewhere")


async def test_what_another_process_does_to_the_same_files_is_shown_in_now(window: Window, workspace: Path, home: Path) -> None:
    await window.open_demo()
    window.wired.core.watch.start()
    await hook(window, home, "turn", "hooks", "begin", "--workspace", str(workspace), "--prompt", "Elsewhere")
    await hook(window, home, "record", "hooks", "README.md", given=b"other\n")
    (workspace / "README.md").write_text("other\n")
    await hook(window, home, "turn", "hooks", "end")
    await window.until(lambda: "README.md" in window.now(), "the open chat's file was changed by another chat")


async def test_what_the_window_does_itself_is_read_once(window: Window, workspace: Path, home: Path) -> None:
    """Its own restore is no news from elsewhere: no second reading follows it."""
    await window.open_demo()
    window.wired.core.watch.start()
    heard: list[HistoryGrew] = []
    subscription = window.wired.bus.subscribe(HistoryGrew, heard.append)
    await window.ask_to_restore(3)
    window.press_dialog("Restore 5 files and the chat")
    await window.until(lambda: window.toast)
    await window.settled()
    watch = window.wired.core.watch
    assert isinstance(watch, WatchService)
    await watch.look()
    subscription.close()
    assert heard == []
