"""A person looks at what an agent did and takes some of it back: the whole program, from the press to the disk."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tests.app.window import Window
from tests.helpers.claude_sessions import write_demo_session
from tests.helpers.program import tree
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn
from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind

MODEL, REPORT, README, NOTES, TESTS = (
    "tidewatch/model.py",
    "tidewatch/report.py",
    "README.md",
    "NOTES.md",
    "tests/test_model.py",
)
MAIN = "tidewatch/__main__.py"


@pytest.fixture
def workspace(tmp_path: Path, home: Path) -> Path:
    """The demo session's folder, as the session left it."""
    folder = tmp_path / "tidewatch"
    folder.mkdir()
    write_demo_session(home, folder)
    return folder


async def open_demo(window: Window) -> None:
    """Start, and open the chat that was found, by a click on its row."""
    await window.start()
    await window.settled()
    (row,) = window.chats()
    window.choose_chat(row.header.name)
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()


async def ask_to_restore(window: Window, turn: int) -> None:
    """Press Restore to before a turn in the timeline and wait for the preview."""
    window.press_timeline(Button.RESTORE, turn=turn)
    await window.until(window.dialogs)
    await window.settled()


# Looking.


async def test_a_chat_that_was_found_opens_from_the_list_with_its_turns_and_files(window: Window, workspace: Path) -> None:
    before = tree(workspace)
    await window.start()
    await window.settled()
    assert window.main.page == "first_run", "nothing is opened by itself before a person chose it"
    (row,) = window.chats()
    window.choose_chat(row.header.name)
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()
    assert window.main.page == "transcript"
    assert len(window.prompts()) == 5
    assert set(window.files(2)) == {TESTS, MODEL}
    assert set(window.files(4)) == {NOTES, README}
    assert window.files(4)[NOTES].letter == "D"
    assert window.now() == []
    assert window.shell.windowTitle().endswith("tidewatch - VibeKit Desktop")
    (row,) = window.chats()
    assert row.header.lines_added
    assert row.header.lines_removed
    assert tree(workspace) == before, "looking changes nothing"
    window.picture("opened")


async def test_diff_in_the_timeline_opens_the_review_page_with_both_sides(window: Window, workspace: Path) -> None:
    await open_demo(window)
    window.press_timeline(Button.DIFF, turn=2, path=MODEL)
    review = window.conductor.review
    await window.until(lambda: window.main.page == "review" and review.pane.diff is not None)
    await window.settled()
    diff = review.pane.diff
    assert diff is not None
    assert (diff.request.path, diff.request.old, diff.request.new) == (MODEL, BeforeTurn(2), AfterTurn(2))
    assert isinstance(diff.result, DiffDocument)
    assert '    for line in text.split("\\n"):' in diff.result.old.lines
    assert "    for line in text.splitlines():" in diff.result.new.lines
    assert any(label.startswith("Before turn 2") and "After turn 2" in label for label in window.labels(review.pane))
    assert {entry.path for entry in review.model.entries} == {TESTS, MODEL}
    assert review.files.hasFocus(), "the arrow keys walk the files"
    window.picture("review")
    window.key(Qt.Key.Key_Escape)
    assert window.main.page == "transcript"


async def test_diff_in_the_transcript_shows_the_same(window: Window, workspace: Path) -> None:
    await open_demo(window)
    window.press_block("diff", turn=3, path=README)
    review = window.conductor.review
    await window.until(lambda: window.main.page == "review" and review.pane.diff is not None)
    assert review.pane.diff is not None
    assert review.pane.diff.request.path == README
    assert {entry.path for entry in review.model.entries} == {MAIN, REPORT, README}


# One file.


async def test_undo_puts_one_file_back_and_the_toast_takes_the_undo_back(window: Window, workspace: Path) -> None:
    await open_demo(window)
    before = tree(workspace)
    window.press_timeline(Button.UNDO, turn=5, path=MODEL)
    await window.until(lambda: window.toast)
    assert window.toast == "model.py is as it was before turn 5"
    await window.settled()
    assert b"HIGH_FROM_M" not in (workspace / MODEL).read_bytes()
    others = {path: content for path, content in tree(workspace).items() if path != MODEL}
    assert others == {path: content for path, content in before.items() if path != MODEL}
    assert window.files(5)[MODEL].undone
    entry = next(row for row in window.timeline() if row.kind is RowKind.ENTRY)
    assert entry.title == "model.py as it was before turn 5"
    assert window.now() == [], "what the program did itself is not a change by somebody"
    window.picture("undone")
    window.press_toast("Undo")
    await window.until(lambda: window.toast.startswith("Undone"))
    await window.settled()
    assert tree(workspace) == before
    assert not window.files(5)[MODEL].undone


async def test_undo_of_an_earlier_turn_names_the_later_ones_first(window: Window, workspace: Path) -> None:
    await open_demo(window)
    before = tree(workspace)
    window.press_timeline(Button.UNDO, turn=2, path=MODEL)
    await window.until(window.dialogs)
    assert isinstance(window.dialog, Question)
    assert window.dialog.accessibleName() == "This takes back what turns 2 and 5 did to model.py."
    window.picture("question")
    window.press_dialog("Cancel")
    await window.until(lambda: not window.dialogs())
    await window.settled()
    assert tree(workspace) == before
    assert window.toast == ""


# The workspace.


async def test_cancel_in_the_preview_changes_nothing(window: Window, workspace: Path) -> None:
    await open_demo(window)
    before, stored = tree(workspace), tree(window.data)
    await ask_to_restore(window, 3)
    preview = window.preview
    groups = {row.title: row.group.value for row in preview.files._model.rows if row.file is not None}
    assert groups == {
        MODEL: "rewritten",
        README: "rewritten",
        REPORT: "rewritten",
        MAIN: "deleted",
        NOTES: "brought-back",
    }
    assert preview.primary.text() == "Restore 5 files and the chat"
    assert preview.cancel.hasFocus(), "Enter, pressed too early, must not restore"
    window.picture("preview")
    window.key(Qt.Key.Key_Escape)
    await window.until(lambda: not window.dialogs())
    await window.settled()
    assert tree(workspace) == before
    assert tree(window.data) == stored
    assert window.turns() == [5, 4, 3, 2, 1]


async def test_a_restore_takes_back_files_and_chat_and_an_undo_brings_everything_back(window: Window, workspace: Path) -> None:
    await open_demo(window)
    before, title = tree(workspace), window.chats()[0].header.name
    await ask_to_restore(window, 3)
    window.press_dialog("Restore 5 files and the chat")
    await window.until(lambda: window.toast)
    assert window.toast == "Restored 5 of 5 files to before turn 3"
    await window.settled()
    after = tree(workspace)
    assert set(after) == {README, NOTES, MODEL, REPORT, TESTS}
    assert after[README] == b"# Tidewatch\n\nPrints the tides of a harbour.\n\n## Use\n\n    python -m tidewatch\n"
    assert b"splitlines" in after[MODEL]
    assert b"HIGH_FROM_M" not in after[MODEL]
    assert len(window.prompts()) == 2
    (moved,) = window.branches()
    assert (moved.first_turn, moved.last_turn) == (3, 5)
    rows = window.chats()
    assert [(row.depth, row.header.name) for row in rows] == [(0, title), (1, "Branch: " + title)]
    assert rows[1].header.rewind_from_turn == 3
    window.picture("restored")

    window.press_toast("Undo")
    await window.until(lambda: window.toast.startswith("Undone"))
    await window.settled()
    assert tree(workspace) == before
    assert len(window.prompts()) == 5
    assert window.branches() == []
    assert [row.header.name for row in window.chats()] == [title]
    window.picture("back")


async def test_the_branch_of_a_restore_opens_and_holds_the_turns_that_were_moved(window: Window, workspace: Path) -> None:
    await open_demo(window)
    title = window.chats()[0].header.name
    await ask_to_restore(window, 4)
    window.press_dialog("Restore 3 files and the chat")
    await window.until(lambda: window.toast)
    await window.settled()
    window.press_block("chat")
    await window.until(lambda: len(window.prompts()) == 5)
    await window.settled()
    assert window.conductor.chats.row_of(window.chats()[1].header.id) == window.conductor.sidebar.list.currentIndex().row()
    window.choose_chat(title)
    await window.until(lambda: len(window.prompts()) == 3)
    await window.settled()


async def test_files_only_leaves_the_chat_as_it_is(window: Window, workspace: Path) -> None:
    await open_demo(window)
    await ask_to_restore(window, 2)
    window.choose_scope("Files only")
    await window.until(lambda: window.preview.primary.text() == "Restore 6 files")
    await window.settled()
    window.press_dialog("Restore 6 files")
    await window.until(lambda: window.toast)
    await window.settled()
    assert set(tree(workspace)) == {README, NOTES, MODEL, REPORT}
    assert len(window.prompts()) == 5
    assert len(window.chats()) == 1


# What somebody else wrote.


async def test_what_a_person_wrote_is_kept_until_they_say_otherwise_and_comes_back(window: Window, workspace: Path) -> None:
    await open_demo(window)
    mine = b"mine, not the agent's\n"
    (workspace / MODEL).write_bytes(mine)
    window.come_back()
    await window.until(lambda: window.now() == [MODEL])
    await window.settled()
    before = tree(workspace)
    await ask_to_restore(window, 3)
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

    await ask_to_restore(window, 3)
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
    await open_demo(window)
    await ask_to_restore(window, 3)
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
    await ask_to_restore(window, 1)
    assert "CHANGES.md" not in [row.title for row in window.preview.files._model.rows]
    window.press_dialog(window.preview.primary.text())
    await window.until(lambda: window.toast.startswith("Restored"))
    await window.settled()
    assert tree(workspace).keys() == {README, NOTES, "CHANGES.md"}
    assert (workspace / "CHANGES.md").read_bytes() == theirs


def write_other_session(home: Path, workspace: Path) -> str:
    """A second, later session on the same folder; returns its title."""
    from datetime import timedelta

    from tests.helpers.claude_sessions import START, SessionBuilder

    made = SessionBuilder(cwd=str(workspace), session="7d1c2b3a-0f1e-4d2c-8b3a-9e8f7a6b5c4d", now=START + timedelta(hours=1))
    made.prompt("Begin a list of changes.")
    made.write("CHANGES.md", "# Changes\n\n- tides are printed\n")
    made.end_turn("There is a list now.")
    made.install(home)
    (workspace / "CHANGES.md").write_bytes(b"# Changes\n\n- tides are printed\n")
    return "Begin a list of changes."


# What is not there, or not right.


async def test_a_workspace_that_is_gone_is_said_and_the_chat_can_be_read(window: Window, workspace: Path) -> None:
    await open_demo(window)
    workspace.rename(workspace.with_name("moved"))
    window.come_back()
    await window.until(window.conductor.page.banner.isVisible)
    await window.settled()
    said = window.conductor.page.banner.accessibleName()
    assert said == "The workspace was not found where it was. The chat can be read; nothing can be restored."
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
    await open_demo(window)
    (vault,) = (window.data / "vaults").iterdir()
    broken = vault / "chats" / "0190a0a0-0000-7000-8000-000000000000.json"
    broken.write_bytes(b'{"id": "0190a0a0-')
    window.come_back()
    await window.until(lambda: len(window.chats()) == 2)
    bad = next(row.header for row in window.chats() if row.header.problem)
    window.picture("damaged")
    window.choose_chat(bad.name)
    await window.until(lambda: window.main.page == "empty")
    await window.settled()
    assert window.conductor.empty.accessibleName(), "a sentence stands where the chat would be"
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
    await open_demo(window)
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
    assert [action.text() for action in window.conductor.sidebar.workspace_menu().actions()][0] == "All workspaces"


# The window.


async def test_everything_that_can_be_pressed_has_a_name(window: Window, workspace: Path) -> None:
    await open_demo(window)
    nameless = [
        type(one).__name__
        for one in window.main.findChildren(QWidget)
        if one.isVisible() and one.focusPolicy() & Qt.FocusPolicy.TabFocus and not one.accessibleName() and not text_of(one)
    ]
    assert nameless == []


def text_of(widget: QWidget) -> str:
    text = getattr(widget, "text", None)
    return str(text()) if callable(text) else ""
