"""A person looks at what an agent did and takes some of it back: the whole program, from the press to the disk."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tests.app.demo import MAIN, MODEL, NOTES, README, REPORT, TESTS
from tests.app.window import Window
from tests.helpers.program import tree
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn
from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind

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
    await window.open_demo()
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
    await window.open_demo()
    window.press_block("diff", turn=3, path=README)
    review = window.conductor.review
    await window.until(lambda: window.main.page == "review" and review.pane.diff is not None)
    assert review.pane.diff is not None
    assert review.pane.diff.request.path == README
    assert {entry.path for entry in review.model.entries} == {MAIN, REPORT, README}
    await window.settled()


# One file.


async def test_undo_puts_one_file_back_and_the_toast_takes_the_undo_back(window: Window, workspace: Path) -> None:
    await window.open_demo()
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


async def test_undo_in_the_review_says_so_there_and_its_undo_works_there(window: Window, workspace: Path) -> None:
    await window.open_demo()
    before = tree(workspace)
    window.press_timeline(Button.DIFF, turn=5, path=MODEL)
    review = window.conductor.review
    await window.until(lambda: window.main.page == "review" and review.pane.diff is not None)
    await window.settled()
    window.press_button(review, "Undo file")
    await window.until(lambda: window.toast)
    assert window.toast == "model.py is as it was before turn 5"
    await window.settled()
    assert tree(workspace) != before
    window.press_toast("Undo")
    await window.until(lambda: window.toast.startswith("Undone"))
    await window.settled()
    assert window.main.page == "review"
    assert tree(workspace) == before


async def test_undo_of_an_earlier_turn_names_the_later_ones_first(window: Window, workspace: Path) -> None:
    await window.open_demo()
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
    await window.open_demo()
    before, stored = tree(workspace), tree(window.data)
    await window.ask_to_restore(3)
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
    await window.open_demo()
    before, title = tree(workspace), window.chats()[0].header.name
    await window.ask_to_restore(3)
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
    await window.open_demo()
    title = window.chats()[0].header.name
    await window.ask_to_restore(4)
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
    await window.open_demo()
    await window.ask_to_restore(2)
    window.choose_scope("Files only")
    await window.until(lambda: window.preview.primary.text() == "Restore 6 files")
    await window.settled()
    window.press_dialog("Restore 6 files")
    await window.until(lambda: window.toast)
    await window.settled()
    assert set(tree(workspace)) == {README, NOTES, MODEL, REPORT}
    assert len(window.prompts()) == 5
    assert len(window.chats()) == 1


# The window.


async def test_everything_that_can_be_pressed_has_a_name(window: Window, workspace: Path) -> None:
    await window.open_demo()
    nameless = [
        type(one).__name__
        for one in window.main.findChildren(QWidget)
        if one.isVisible() and one.focusPolicy() & Qt.FocusPolicy.TabFocus and not one.accessibleName() and not text_of(one)
    ]
    assert nameless == []


def text_of(widget: QWidget) -> str:
    text = getattr(widget, "text", None)
    return str(text()) if callable(text) else ""
