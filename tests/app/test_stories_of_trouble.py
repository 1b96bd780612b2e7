"""Files that somebody else wrote, folders that are gone, damaged files: nobody's work is lost, and it is said in words."""

from datetime import timedelta
from pathlib import Path

from tests.app.demo import MAIN, MODEL, NOTES, README, REPORT
from tests.app.window import Window
from tests.helpers.claude_sessions import START, SessionBuilder, write_demo_session
from tests.helpers.program import tree
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind

# What somebody else wrote.


async def test_what_a_person_wrote_is_kept_until_they_say_otherwise_and_comes_back(window: Window, workspace: Path) -> None:
    await window.open_demo()
    mine = b"mine, not the agent's\n"
    (workspace / MODEL).write_bytes(mine)
    window.come_back()
    await window.until(lambda: window.now() == [MODEL])
    await window.settled()
    before = tree(workspace)
    await window.ask_to_restore(3)
    rows = {row.title: row for row in window.preview.files._model.rows}
    assert "You changed these after the agent" in rows
    assert rows[MODEL].chooses
    assert not rows[MODEL].restores
    window.picture("mine")
    window.press_dialog("Restore 4 files and the chat")
    await window.until(lambda: window.toast)
    await window.settled()
    assert (workspace / MODEL).read_bytes() == mine
    assert not (workspace / MAIN).exists()
    window.press_toast("Undo")
    await window.until(lambda: window.toast.startswith("Undone"))
    await window.settled()
    assert tree(workspace) == before

    await window.ask_to_restore(3)
    window.choose_restore(MODEL)
    await window.until(lambda: window.preview.primary.text() == "Restore 5 files and the chat")
    await window.settled()
    window.press_dialog("Restore 5 files and the chat")
    await window.until(lambda: window.toast == "Restored 5 of 5 files to before turn 3")
    await window.settled()
    assert b"splitlines" in (workspace / MODEL).read_bytes()
    window.press_toast("Undo")
    await window.until(lambda: window.toast.startswith("Undone"))
    await window.settled()
    assert (workspace / MODEL).read_bytes() == mine
    assert tree(workspace) == before


async def test_a_change_while_the_preview_is_open_is_said_before_anything_is_done(window: Window, workspace: Path) -> None:
    await window.open_demo()
    await window.ask_to_restore(3)
    late = b"typed while the preview was open\n"
    (workspace / REPORT).write_bytes(late)
    before = tree(workspace)
    window.press_dialog("Restore 5 files and the chat")
    await window.until(lambda: any("Look again" in label for label in window.labels(window.dialog)))
    await window.settled()
    assert tree(workspace) == before, "nothing was done on the old plan"
    rows = {row.title: row for row in window.preview.files._model.rows}
    assert rows[REPORT].chooses
    window.picture("stale")
    await window.until(window.preview.primary.isEnabled)
    window.press_dialog("Restore 4 files and the chat")
    await window.until(lambda: window.toast == "Restored 4 of 4 files to before turn 3")
    await window.settled()
    assert (workspace / REPORT).read_bytes() == late


async def test_two_chats_of_one_workspace_leave_each_others_files(window: Window, workspace: Path, home: Path) -> None:
    other = write_other_session(home, workspace)
    await window.start()
    await window.settled()
    titles = [row.header.name for row in window.chats()]
    assert len(titles) == 2
    demo = next(title for title in titles if title != other)
    window.choose_chat(demo)
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()
    window.choose_chat(other)
    await window.until(lambda: window.turns() == [1])
    await window.settled()
    theirs = (workspace / "CHANGES.md").read_bytes()
    window.choose_chat(demo)
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()
    await window.ask_to_restore(1)
    assert "CHANGES.md" not in [row.title for row in window.preview.files._model.rows]
    window.press_dialog(window.preview.primary.text())
    await window.until(lambda: window.toast.startswith("Restored"))
    await window.settled()
    assert tree(workspace).keys() == {README, NOTES, "CHANGES.md"}
    assert (workspace / "CHANGES.md").read_bytes() == theirs


def write_other_session(home: Path, workspace: Path) -> str:
    """A second, later session on the same folder; returns its title."""
    made = SessionBuilder(cwd=str(workspace), session="7d1c2b3a-0f1e-4d2c-8b3a-9e8f7a6b5c4d", now=START + timedelta(hours=1))
    made.prompt("Begin a list of changes.")
    made.write("CHANGES.md", "# Changes\n\n- tides are printed\n")
    made.end_turn("There is a list now.")
    made.install(home)
    (workspace / "CHANGES.md").write_bytes(b"# Changes\n\n- tides are printed\n")
    return "Begin a list of changes."


# What is not there, or not right.


async def test_a_workspace_that_is_gone_is_said_and_the_chat_can_be_read(window: Window, workspace: Path) -> None:
    await window.open_demo()
    workspace.rename(workspace.with_name("moved"))
    window.come_back()
    await window.until(window.conductor.page.banner.isVisible)
    await window.settled()
    said = window.conductor.page.banner.accessibleName()
    assert said == f"{workspace.name} was not found where it was. The chat can be read; nothing can be restored."
    assert len(window.prompts()) == 5
    restore = next(row for row in window.timeline() if row.kind is RowKind.RESTORE)
    assert Button.RESTORE in restore.off
    assert restore.why_off == "The workspace was not found where it was."
    window.press_timeline(Button.RESTORE, turn=3)
    await window.settled()
    assert not window.dialogs()
    assert not workspace.exists()
    window.picture("missing")
    workspace.with_name("moved").rename(workspace)
    window.come_back()
    await window.until(lambda: not window.conductor.page.banner.isVisible())
    await window.settled()


async def test_a_damaged_chat_is_a_row_that_hides_no_other(window: Window, workspace: Path) -> None:
    await window.open_demo()
    (vault,) = (window.data / "vaults").iterdir()
    broken = vault / "chats" / "0190a0a0-0000-7000-8000-000000000000.json"
    broken.write_bytes(b'{"id": "0190a0a0-')
    window.come_back()
    await window.until(lambda: len(window.chats()) == 2)
    bad = next(row.header for row in window.chats() if row.header.problem)
    window.picture("damaged")
    window.choose_chat(bad.name)
    banner = window.conductor.page.banner
    await window.until(lambda: window.conductor.open.chat == bad.id and not banner.isHidden())
    await window.settled()
    assert banner.accessibleName() == "The file of this chat breaks off. No message can be read."
    assert not window.conductor.page.foot.is_composing
    good = next(row.header for row in window.chats() if not row.header.problem)
    window.choose_chat(good.name)
    await window.until(lambda: window.main.page == "transcript" and window.turns() == [5, 4, 3, 2, 1])
    await window.settled()
    assert broken.read_bytes() == b'{"id": "0190a0a0-', "what is damaged is kept as it is"


async def test_without_any_history_the_first_page_says_what_can_be_done(window: Window) -> None:
    await window.start()
    await window.settled()
    assert window.main.page == "first_run"
    assert window.chats() == []
    assert "Welcome to VibeKit Desktop" in window.labels(window.conductor.first_run)
    assert not window.data.exists(), "looking writes nothing"
    window.picture("first-run")


async def test_a_file_that_is_no_history_is_refused_in_a_sentence(window: Window, workspace: Path, tmp_path: Path) -> None:
    await window.open_demo()
    stored = tree(window.data)
    bad = tmp_path / "holiday.jsonl"
    bad.write_bytes(b"this is not JSON\n")
    window.conductor.sidebar.import_requested.emit(str(bad))
    await window.until(lambda: window.toast)
    assert "holiday.jsonl" in window.toast
    assert tree(window.data) == stored
    assert window.main.page == "transcript"
    window.picture("refused")


async def test_a_history_from_elsewhere_is_imported_and_opened(window: Window, workspace: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "their").mkdir()
    file = write_demo_session(elsewhere, tmp_path / "their")
    await window.start()
    await window.settled()
    window.conductor.sidebar.import_requested.emit(str(file))
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()
    assert window.toast == "Opened 1 chat"
    assert window.conductor.sidebar.workspace_menu().actions()[0].text() == "All workspaces"
