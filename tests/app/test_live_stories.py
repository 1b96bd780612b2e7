"""A person talks to an agent in the window: the program's own core, a real process of a scripted agent, real files."""

import shlex
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.app.window import Window
from tests.helpers.scripted_agent import command
from vibekit_desktop.core.types.agents import LivePhase, Operation

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tidepool"
    made.mkdir()
    (made / "a.txt").write_text("mine\n")
    return made


def phase(window: Window) -> LivePhase | None:
    state = window.conductor.live.state
    return state.phase if state is not None else None


async def begin(window: Window, tmp_path: Path, folder: Path, *turns: list[dict[str, object]]) -> None:
    """Start, and begin a chat with an agent that does these turns."""
    line = shlex.join(command({"title": "Scripted", "turns": list(turns)}, tmp_path))
    await window.start()
    window.conductor.agents.new_chat(workspace=str(folder))
    await window.until(lambda: window.conductor.agents._dialog is not None)
    dialog = window.conductor.agents._dialog
    assert dialog is not None
    await window.until(dialog.card.isVisible)
    dialog.command.setText(line)
    dialog.primary.click()
    await window.until(lambda: phase(window) is LivePhase.IDLE, "the agent is there")
    assert window.conductor.page.composer.field.hasFocus()


def say(window: Window, text: str) -> None:
    field = window.conductor.page.composer.field
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


async def allow(window: Window, operation: Operation) -> None:
    """Wait for a question about this, read it, press Allow once."""
    panel = window.conductor.page.permission
    await window.until(lambda: panel.question is not None and panel.question.operation is operation)
    await window.until(lambda: panel.may_answer, "there was time to read")
    window.click(panel.first)


async def test_a_turn_is_talked_through_and_taken_back(window: Window, tmp_path: Path, folder: Path) -> None:
    edit = {"write": "a.txt", "text": "agent\n", "ask": True, "via": "disk"}
    shell = {"shell": "echo made > made.txt", "ask": True, "via": "terminal"}
    await begin(window, tmp_path, folder, [{"say": "I will."}, edit, shell, {"say": "Done."}])
    page = window.conductor.page
    say(window, "Change it, then build.")
    await allow(window, Operation.EDIT)
    assert not window.conductor.keys.actions["restore"].isEnabled()
    await allow(window, Operation.RUN)
    await window.until(lambda: phase(window) is LivePhase.IDLE)
    await window.settled()
    assert (folder / "a.txt").read_text() == "agent\n"
    assert (folder / "made.txt").read_text() == "made\n"
    assert set(window.files(1)) == {"a.txt", "made.txt"}
    assert page.composer.field.is_empty
    assert not page.permission.isVisible()
    await window.ask_to_restore(1)
    window.press_dialog("Restore 2 files and the chat")
    await window.until(lambda: "Restored" in window.toast)
    await window.settled()
    assert (folder / "a.txt").read_text() == "mine\n"
    assert not (folder / "made.txt").exists()
    assert page.composer.field.text == "Change it, then build.", "the prompt that was cut is written again"
    window.press_toast("Undo")
    await window.until((folder / "made.txt").exists)
    await window.until(lambda: page.composer.field.is_empty)
    await window.settled()
    assert window.prompts() == ["Change it, then build."]


async def test_a_turn_is_stopped_and_what_was_queued_waits(window: Window, tmp_path: Path, folder: Path) -> None:
    await begin(window, tmp_path, folder, [{"say": "Slowly."}, {"sleep": 600}], [{"say": "Quickly."}])
    say(window, "Go on")
    await window.until(lambda: phase(window) is LivePhase.RUNNING)
    say(window, "and then this")
    strip = window.conductor.page.foot.queue
    await window.until(strip.isVisible)
    window.key(Qt.Key.Key_X, CONTROL_SHIFT)
    await window.until(lambda: phase(window) is LivePhase.IDLE)
    assert strip.isVisible(), "after a stop the queue waits for a person"
    window.click(strip.rows[0].send_button)
    await window.until(lambda: phase(window) is LivePhase.IDLE and not strip.isVisible())
    await window.settled()
    assert window.prompts() == ["Go on", "and then this"]
    assert window.turns() == [2, 1]


async def test_a_draft_stays_with_its_chat_and_an_empty_chat_goes_when_it_is_left(
    window: Window, tmp_path: Path, folder: Path
) -> None:
    await begin(window, tmp_path, folder, [{"say": "Hello."}])
    empty = window.conductor.open.chat
    say(window, "Hi")
    await window.until(lambda: phase(window) is LivePhase.IDLE and window.turns() == [1])
    await window.settled()
    QTest.keyClicks(window.conductor.page.composer.field, "half a")
    window.conductor.live.drafts.store_now()
    await window.settled()
    assert empty is not None
    assert await window.wired.core.chats.draft(empty) == "half a"
    window.conductor.agents.new_chat(workspace=str(folder))
    await window.until(lambda: window.conductor.agents._dialog is not None)
    dialog = window.conductor.agents._dialog
    assert dialog is not None
    await window.until(dialog.card.isVisible)
    dialog.command.setText(shlex.join(command({"title": "Other"}, tmp_path)))
    dialog.primary.click()
    await window.until(lambda: window.conductor.open.chat not in (empty, None))
    await window.until(lambda: len(window.chats()) == 2)
    window.choose_chat("Hi")
    await window.until(lambda: len(window.chats()) == 1, "the chat in which nobody said anything is gone")
    assert window.conductor.page.composer.field.text == "half a"
