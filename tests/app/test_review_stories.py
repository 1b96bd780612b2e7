"""A person reviews a change of fifty files by keys alone: the whole program, from the key to the disk."""

import asyncio
import subprocess
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QWidget

from tests.app.window import Window
from tests.helpers.program import tree
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, Now
from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.reviews import Decision
from vibekit_desktop.ui.dialogs.overlaps import OverlapsDialog
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.models.files import Mark
from vibekit_desktop.ui.views.review import ReviewPage

CTRL, SHIFT, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
CHAT = "fifty"
FILES = 50
LOCK, LOGO, NEWS, GONE = "poetry.lock", "data.bin", "pkg/news.py", "pkg/m02.py"
BLOB = b"\x00\x01\x02" * 30


def text(name: str, *changed: int, count: int = 40) -> bytes:
    """A file of a few functions; ``changed`` lines are other ones."""
    lines = [f"{name}_{n} = {n * 7}" if n % 10 else f"def {name}_{n}():" for n in range(1, count + 1)]
    return "\n".join([*(f"{line}  # new" if n in changed else line for n, line in enumerate(lines, 1)), ""]).encode()


class Project:
    """The folder of a chat of two turns: the first changed fifty files, the second went on in two of them."""

    def __init__(self, window: Window, folder: Path) -> None:
        self.window = window
        self.folder = folder
        self.before: dict[str, bytes | None] = {}
        self.after: dict[str, bytes | None] = {}
        for number in range(FILES - 3):
            path = f"pkg/m{number:02}.py"
            name = path.removeprefix("pkg/").removesuffix(".py")
            self.before[path] = text(name)
            self.after[path] = text(name, 5, 33) if number % 5 == 0 else text(name, 12)
        self.after[GONE] = None
        self.before[NEWS], self.after[NEWS] = None, text("news", count=12)
        self.before[LOCK], self.after[LOCK] = text("lock", count=200), text("lock", *range(1, 200, 9), count=200)
        self.before[LOGO], self.after[LOGO] = BLOB, BLOB + b"more"
        for path, content in self.before.items():
            self.put(path, content)

    def put(self, path: str, content: bytes | None) -> None:
        """Write a file as the agent or the person does it."""
        place = self.folder / path
        if content is None:
            place.unlink(missing_ok=True)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def read(self, path: str) -> bytes:
        """What is on the disk."""
        return (self.folder / path).read_bytes()

    async def turn(self, prompt: str, changes: dict[str, bytes | None]) -> None:
        """One turn of an agent that announces what it writes."""
        turns = self.window.wired.core.turns
        await turns.begin(CHAT, workspace=self.folder, agent="Scribe", prompt=prompt)
        for path, content in changes.items():
            await turns.record(CHAT, path, content=content, deleted=content is None, mode=None)
            self.put(path, content)
        await turns.end(CHAT, answer="Done.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tidepool"
    place.mkdir()
    return place


async def made(window: Window, folder: Path) -> Project:
    """The program with the chat open, after both turns and an edit by hand."""
    project = Project(window, folder)
    await project.turn("Mark what is new.", project.after)
    later = text("m00", 5, 20, 33)
    await project.turn("Go on in two files.", {"pkg/m00.py": later, "pkg/m05.py": text("m05", 5, 6, 33)})
    await window.start(open_chat=CHAT)
    await window.until(lambda: window.turns() == [2, 1])
    await window.settled()
    return project


async def review_turn_1(window: Window) -> ReviewPage:
    """From the timeline, by keys: the review of the first turn."""
    window.key(Qt.Key.Key_3, CTRL)
    await window.settled()
    view = window.conductor.inspector.timeline
    assert view.hasFocus()
    window.key(Qt.Key.Key_Home)
    for _ in range(len(window.timeline())):
        if window.timeline()[view.currentIndex().row()].name.startswith("Turn 1,"):
            break
        window.key(Qt.Key.Key_Down)
    window.key(Qt.Key.Key_Return)
    review = window.conductor.review
    await window.until(lambda: window.main.page == "review" and review.pane.diff is not None)
    await window.settled()
    assert review.sides == (BeforeTurn(1), AfterTurn(1))
    return review


def path_of(review: ReviewPage) -> str:
    return str(review.list.current)


async def step(window: Window, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key and let it have its effect."""
    window.key(key, modifiers)
    review = window.conductor.review

    def is_shown() -> bool:
        shown = review.pane.diff
        return review.list.current in (None, shown.request.path if shown is not None else "")

    await window.until(is_shown)
    await window.settled()


async def export_by_keys(window: Window, what: str, out: Path) -> None:
    """Tab to the menu of the bar, walk to the entry, type the file's name."""
    review = window.conductor.review
    window.key(Qt.Key.Key_F6)
    for _ in range(4):
        if review.files.hasFocus():
            break
        window.key(Qt.Key.Key_F6)
    assert review.files.hasFocus()
    for _ in range(12):
        if review.bar.more.hasFocus():
            break
        window.key(Qt.Key.Key_Backtab, SHIFT)
    assert review.bar.more.hasFocus()
    window.key(Qt.Key.Key_Space)
    for words in ("Export this review", what):
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        for _ in range(len(menu.actions()) + 1):
            if menu.activeAction() is not None and menu.activeAction().text() == words:
                break
            QTest.keyClick(menu, Qt.Key.Key_Down)
        QTest.keyClick(menu, Qt.Key.Key_Right if words != what else Qt.Key.Key_Return)
    await window.until(lambda: window.main.window().findChildren(QFileDialog))
    (save,) = window.main.window().findChildren(QFileDialog)
    (name, *_) = save.findChildren(QLineEdit)
    name.setText(str(out))
    QTest.keyClick(name, Qt.Key.Key_Return)


def dialog(window: Window, kind: type[QWidget]) -> list[QWidget]:
    return [one for one in window.main.findChildren(kind) if one.isVisible()]


@pytest.mark.qt_log_ignore("does not support", extend=True)  # menus off screen
async def test_fifty_files_are_reviewed_by_keys_alone(window: Window, folder: Path, tmp_path: Path) -> None:
    project = await made(window, folder)
    before = tree(folder)
    review = await review_turn_1(window)
    entries = review.model.entries
    assert len(entries) == FILES
    assert {entry.letter for entry in entries} == {"M", "A", "D"}
    assert review.files.hasFocus()

    # Every hunk, from the first to the last, with F7 alone. The lock file is passed over.
    window.key(Qt.Key.Key_Return)
    assert review.pane.view.hasFocus()
    seen: list[tuple[str, int]] = [(path_of(review), review.pane.view.hunk)]
    while window.toast != "This is the last change.":
        await step(window, Qt.Key.Key_F7)
        here = (path_of(review), review.pane.view.hunk)
        if here != seen[-1]:
            seen.append(here)
    window.conductor.notifier.dismiss()
    hunks = {
        str(path): len(diff.result.hunks) if isinstance(diff.result, DiffDocument) else 0 for path, diff in review.diffs.items()
    }
    expected = [
        (path, number) for path, count in hunks.items() if path != LOCK for number in (range(count) if count else (-1,))
    ]
    assert seen == expected
    assert len(seen) > FILES

    # Back to the top; every file is marked as it is read, and the footer counts them.
    await step(window, Qt.Key.Key_F6, SHIFT)
    assert review.files.hasFocus()
    await step(window, Qt.Key.Key_Home)
    assert path_of(review) == entries[0].path
    for number in range(4):
        await step(window, Qt.Key.Key_V)
        assert review.list._foot.accessibleName() == f"{number + 1} of {FILES} reviewed"
        await step(window, Qt.Key.Key_PageDown, CTRL)
    window.picture("reviewed")
    assert tree(folder) == before, "looking and marking change nothing"

    # One hunk is undone although a later turn went on in the same file: its lines stay.
    await step(window, Qt.Key.Key_Home)
    while path_of(review) != "pkg/m00.py":
        await step(window, Qt.Key.Key_PageDown, CTRL)
    await step(window, Qt.Key.Key_Return)
    await step(window, Qt.Key.Key_F7)
    assert (path_of(review), review.pane.view.hunk) == ("pkg/m00.py", 1)
    await step(window, Qt.Key.Key_Backspace, CTRL)
    await window.until(lambda: window.toast)
    assert window.toast == "Undid hunk 2 of m00.py; later changes are kept"
    await window.settled()
    assert project.read("pkg/m00.py") == text("m00", 5, 20)
    others = {path: content for path, content in tree(folder).items() if path != "pkg/m00.py"}
    assert others == {path: content for path, content in before.items() if path != "pkg/m00.py"}
    window.picture("hunk undone")

    # What is to be said is said on the line.
    await step(window, Qt.Key.Key_C)
    for letter in "Why?":
        window.key(Qt.Key(ord(letter.upper())), SHIFT if letter in "W?" else Qt.KeyboardModifier.NoModifier)
    await step(window, Qt.Key.Key_Return, CTRL)
    await window.until(lambda: len(review.all_comments) == 1)
    await window.settled()
    (comment,) = review.all_comments
    assert (comment.path, comment.text.lower()) == ("pkg/m00.py", "why?")
    assert comment.quote == text("m00", 33).decode().splitlines()[comment.first_line - 1]

    # The review is exported, from the menu of the bar.
    out = tmp_path / "review.md"
    await export_by_keys(window, "Summary (Markdown)…", out)
    await window.until(lambda: window.toast == "Saved review.md")
    exported = out.read_text()
    assert "pkg/m00.py" in exported
    assert "hy?" in exported, "the comment is in it"
    window.shell.activateWindow()  # as a window manager does when a dialog is closed
    await window.until(window.shell.isActiveWindow)

    # The undo is undone.
    await step(window, Qt.Key.Key_Z, CTRL)
    await window.until(lambda: window.toast.startswith("Undone"))
    await window.settled()
    assert tree(folder) == before
    assert window.main.page == "review", "one stays where one was"

    # And the review is kept: after Esc and back, marks and comments are there.
    await step(window, Qt.Key.Key_Escape)
    assert window.main.page == "transcript"
    await review_turn_1(window)
    assert sum(1 for entry in review.model.entries if entry.mark is Mark.REVIEWED) == 4
    assert next(entry.comments for entry in review.model.entries if entry.path == "pkg/m00.py") == 1


async def test_a_review_is_exported_as_a_patch_that_git_takes(window: Window, folder: Path, tmp_path: Path) -> None:
    project = await made(window, folder)
    await review_turn_1(window)
    out = tmp_path / "turn1.patch"
    window.conductor.review.export_requested.emit("patch")
    await window.settled()
    (save,) = window.main.window().findChildren(QFileDialog)
    save.fileSelected.emit(str(out))
    save.close()
    await window.until(lambda: window.toast == "Saved turn1.patch")
    copy = tmp_path / "copy"
    copy.mkdir()
    for path, content in project.before.items():
        if content is not None:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(content)
    await asyncio.to_thread(subprocess.run, ["git", "apply", str(out)], cwd=copy, check=True, capture_output=True)
    wanted = {path: content for path, content in project.after.items() if content is not None}
    assert {path: (copy / path).read_bytes() for path in wanted} == wanted
    assert not (copy / GONE).exists()


async def test_lines_that_were_changed_again_are_asked_about_and_nothing_is_written_before(
    window: Window, folder: Path
) -> None:
    project = await made(window, folder)
    project.put("pkg/m05.py", text("m05", 5, 6, 33).replace(b"m05_33 = 231  # new", b"m05_33 = 0  # by hand"))
    window.come_back()
    await window.settled()
    before = tree(folder)
    review = await review_turn_1(window)
    while path_of(review) != "pkg/m05.py":
        await step(window, Qt.Key.Key_PageDown, CTRL)
    await step(window, Qt.Key.Key_Backspace, CTRL | SHIFT)
    await window.until(lambda: dialog(window, OverlapsDialog))
    (asked,) = window.main.findChildren(OverlapsDialog)
    await window.until(asked.card.isVisible)
    assert QApplication.focusWidget() is asked.cancel
    assert "overlap in" in asked.accessibleName()
    assert not asked.primary.isEnabled()
    window.picture("overlaps")
    count = asked.model.rowCount()
    assert count == 2, "lines 5 and 6, and line 33"
    window.key(Qt.Key.Key_Tab)
    window.key(Qt.Key.Key_Tab) if asked.primary.hasFocus() else None
    assert asked.list.hasFocus()
    for number in range(count):
        assert tree(folder) == before, "nothing is written before all is decided"
        assert not asked.primary.isEnabled()
        window.key(Qt.Key.Key_Left if number else Qt.Key.Key_Right)
    assert [row.decision for row in asked.model.rows] == [Decision.UNDO, *[Decision.KEEP] * (count - 1)]
    assert asked.primary.isEnabled()
    asked.primary.setFocus()
    window.key(Qt.Key.Key_Return)
    await window.until(lambda: window.toast)
    await window.settled()
    assert window.toast == "Undid what turn 1 did to m05.py; later changes are kept"
    assert project.read("pkg/m05.py") == text("m05").replace(b"m05_33 = 231", b"m05_33 = 0  # by hand")
    await step(window, Qt.Key.Key_Z, CTRL)
    await window.until(lambda: window.toast.startswith("Undone"))
    await window.settled()
    assert tree(folder) == before


async def test_a_whole_turn_is_undone_and_later_work_stays(window: Window, folder: Path) -> None:
    project = await made(window, folder)
    before = tree(folder)
    review = await review_turn_1(window)
    project.put("pkg/m05.py", text("m05", 5, 33))
    review.undo_all_requested.emit(*review.sides)
    await window.until(window.dialogs)
    question = window.dialog
    assert isinstance(question, Question)
    assert question.accessibleName() == "Undo turn 1?"
    assert "Later work in" in question.accessibleDescription()
    window.picture("undo turn")
    window.press_dialog("Undo turn 1")
    await window.until(lambda: window.toast)
    await window.settled()
    assert window.toast.startswith("Undid turn 1 in")
    assert project.read("pkg/m00.py") == text("m00", 20)
    assert project.read("pkg/m01.py") == project.before["pkg/m01.py"]
    assert project.read(GONE) == project.before[GONE]
    assert not (folder / NEWS).exists()
    del before


async def test_on_disk_follows_the_disk_and_stays_at_the_line(window: Window, folder: Path) -> None:
    project = await made(window, folder)
    window.key(Qt.Key.Key_D, CTRL | SHIFT)
    review = window.conductor.review
    await window.until(lambda: window.main.page == "review" and review.pane.diff is not None)
    await window.settled()
    assert review.sides[1] == Now()
    while path_of(review) != "pkg/m10.py":
        await step(window, Qt.Key.Key_PageDown, CTRL)
    await step(window, Qt.Key.Key_Return)
    await step(window, Qt.Key.Key_F7)
    assert review.pane.view.hunk == 1
    lines = text("m10", 5, 33).splitlines(keepends=True)
    project.put("pkg/m10.py", b"".join([*lines[:18], b"# by hand\n", *lines[18:]]))
    window.come_back()

    def hunks() -> int:
        shown = review.pane.diff
        return len(shown.result.hunks) if shown is not None and isinstance(shown.result, DiffDocument) else 0

    await window.until(lambda: hunks() == 3)
    await window.settled()
    assert path_of(review) == "pkg/m10.py"
    assert review.pane.view.hunk == 2, "the hunk that was looked at is the third now"
    assert review.pane.view.hasFocus()


async def test_a_review_in_its_own_window_lives_beside_the_chat(window: Window, folder: Path) -> None:
    project = await made(window, folder)
    review = await review_turn_1(window)
    review.own_window_requested.emit()
    (own,) = window.conductor.reviews.own_windows
    await window.until(lambda: own.page.pane.diff is not None)
    await window.settled()
    assert own.page.sides == (BeforeTurn(1), AfterTurn(1))
    await step(window, Qt.Key.Key_Escape) if window.shell.isActiveWindow() else window.conductor.review.back_requested.emit()
    own.page.list.select(WorkspacePath("pkg/m01.py"))
    await window.until(lambda: own.page.pane.diff is not None and own.page.pane.diff.request.path == "pkg/m01.py")
    own.page.undo_file()
    await window.until(lambda: project.read("pkg/m01.py") == project.before["pkg/m01.py"])
    await window.settled()
    own.close()
    await window.settled()
    assert window.conductor.reviews.own_windows == ()
