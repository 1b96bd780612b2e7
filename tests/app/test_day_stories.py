"""A person's day in the window, by mouse and by keys: the whole program, its own core, a scripted agent, real files."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from shiboken6 import isValid

from tests.app.demo import MODEL, README, REPORT
from tests.app.test_live_stories import begin, folder, phase, say
from tests.app.test_stories_of_trouble import write_other_session
from tests.app.window import Window, opened
from tests.helpers.claude_sessions import START, SessionBuilder
from vibekit_desktop.app import kept
from vibekit_desktop.core.types.agents import LivePhase
from vibekit_desktop.ui.dialogs.asking import Asking
from vibekit_desktop.ui.models.conflicts import CardButton
from vibekit_desktop.ui.models.timeline_rows import Button
from vibekit_desktop.ui.remember import Remember, zoom_of
from vibekit_desktop.ui.views.shell import screens_name

__all__ = ["folder"]

CONTROL, SHIFT, ALT = (Qt.KeyboardModifier(value) for value in (0x04000000, 0x02000000, 0x08000000))


def names(window: Window) -> list[str]:
    return [row.header.name for row in window.chats()]


def asked(window: Window) -> list[Asking[object]]:
    """The questions that are open."""
    return [one for one in window.main.findChildren(Asking) if isValid(one) and one.card.isVisible()]


async def both(window: Window, workspace: Path, home: Path) -> tuple[str, str]:
    """Start with two chats of one workspace; the names of the demo chat, which is open, and of the other."""
    other = write_other_session(home, workspace)
    await window.start()
    await window.settled()
    demo = next(name for name in names(window) if name != other)
    window.choose_chat(demo)
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()
    return demo, other


# Chats.


async def test_a_chat_is_archived_from_the_list_and_undo_brings_it_back(window: Window, workspace: Path, home: Path) -> None:
    demo, other = await both(window, workspace, home)
    window.key(Qt.Key.Key_1, CONTROL)
    assert window.conductor.sidebar.list.hasFocus()
    window.key(Qt.Key.Key_Delete)
    await window.until(lambda: window.toast == f"Archived “{demo}”" or window.toast == f'Archived "{demo}"', window.toast)
    await window.until(lambda: names(window) == [other])
    await window.until(lambda: window.turns() == [1], "the chat that follows is shown")
    await window.settled()
    window.key(Qt.Key.Key_H, CONTROL | SHIFT)
    await window.until(lambda: names(window) == [demo], "it is among the archived ones")
    window.key(Qt.Key.Key_H, CONTROL | SHIFT)
    window.press_toast("Undo")
    await window.until(lambda: set(names(window)) == {demo, other})
    await window.settled()


async def test_the_keys_undo_an_archive_while_its_toast_can(window: Window, workspace: Path, home: Path) -> None:
    demo, other = await both(window, workspace, home)
    window.key(Qt.Key.Key_1, CONTROL)
    window.key(Qt.Key.Key_Delete)
    await window.until(lambda: names(window) == [other] and window.turns() == [1])
    await window.settled()
    assert "Archived" in window.toast
    window.key(Qt.Key.Key_Z, CONTROL)
    await window.until(lambda: set(names(window)) == {demo, other})
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1], "it is shown again")
    await window.settled()
    assert window.toast == ""


async def test_a_chat_is_renamed_where_its_title_stands(window: Window, workspace: Path) -> None:
    await window.open_demo()
    window.key(Qt.Key.Key_2, CONTROL)
    window.key(Qt.Key.Key_F2)
    await window.until(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
    QTest.keyClicks(QApplication.focusWidget(), "Tides & currents")
    window.key(Qt.Key.Key_Return)
    await window.until(lambda: names(window) == ["Tides & currents"])
    assert window.main.windowTitle().startswith("Tides & currents, tidewatch")
    window.key(Qt.Key.Key_F2)
    await window.until(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
    QTest.keyClicks(QApplication.focusWidget(), "Something else")
    window.key(Qt.Key.Key_Escape)
    await window.settled()
    assert names(window) == ["Tides & currents"], "Esc keeps the name"
    await window.settled()


async def test_a_chat_is_branched_the_branch_is_looked_at_and_left_again(window: Window, workspace: Path) -> None:
    await window.open_demo()
    (demo,) = names(window)
    files = (workspace / MODEL).read_bytes()
    window.press_block("branch", turn=3)
    await window.until(lambda: asked(window))
    window.press_button(asked(window)[0], "Branch")
    await window.until(lambda: window.turns() == [2, 1], "the branch is open and ends before turn 3")
    await window.until(lambda: len(names(window)) == 2)
    await window.settled()
    row = next(row for row in window.chats() if row.header.parent_chat_id is not None)
    assert row.header.rewind_from_turn == 3
    assert (workspace / MODEL).read_bytes() == files, "the files stay as they are"
    window.choose_chat(demo)
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()


async def test_a_chat_is_deleted_for_good_only_after_it_was_asked(window: Window, workspace: Path, home: Path) -> None:
    demo, other = await both(window, workspace, home)
    window.key(Qt.Key.Key_1, CONTROL)
    window.key(Qt.Key.Key_Delete, SHIFT)
    await window.until(lambda: asked(window))
    window.key(Qt.Key.Key_Escape)
    await window.until(lambda: not asked(window))
    assert set(names(window)) == {demo, other}
    window.key(Qt.Key.Key_Delete, SHIFT)
    await window.until(lambda: asked(window))
    window.press_button(asked(window)[0], "Delete chat")
    await window.until(lambda: names(window) == [other])
    assert (workspace / MODEL).exists(), "files stay as they are"
    await window.settled()


# Finding.


async def test_a_word_is_found_in_the_whole_chat_and_escape_leaves(window: Window, workspace: Path) -> None:
    await window.open_demo()
    window.key(Qt.Key.Key_F, CONTROL)
    finding = window.conductor.page.transcript.finding
    await window.until(lambda: finding.isVisible() and finding.field.hasFocus())
    QTest.keyClicks(finding.field, "table")
    await window.until(lambda: finding.count > 1)
    first = finding.place
    assert first is not None
    window.key(Qt.Key.Key_F3)
    await window.until(lambda: finding.place != first)
    window.key(Qt.Key.Key_F3, SHIFT)
    await window.until(lambda: finding.place == first)
    window.picture("find")
    window.key(Qt.Key.Key_Escape)
    assert not finding.isVisible()
    assert window.conductor.page.transcript.hasFocus()
    await window.settled()


# Agents.


async def test_questions_are_answered_by_keys_alone(window: Window, tmp_path: Path, folder: Path) -> None:
    first = {"write": "a.txt", "text": "agent\n", "ask": True, "via": "disk"}
    second = {"write": "b.txt", "text": "agent\n", "ask": True, "via": "disk"}
    await begin(window, tmp_path, folder, [first, second, {"say": "Done."}])
    say(window, "Write both.")
    panel = window.conductor.page.permission
    await window.until(panel.isVisible)
    assert window.conductor.page.composer.field.hasFocus(), "a question takes no focus"
    first_asked = panel.question
    await window.until(lambda: panel.may_answer)
    window.key(Qt.Key.Key_Y, CONTROL | SHIFT)
    await window.until(lambda: panel.question is not None and panel.question != first_asked)
    await window.until(lambda: panel.may_answer)
    window.key(Qt.Key.Key_N, CONTROL | SHIFT)
    await window.until(lambda: phase(window) is LivePhase.IDLE)
    await window.settled()
    assert (folder / "a.txt").read_text() == "agent\n"
    assert not (folder / "b.txt").exists()
    await window.settled()


async def test_the_theme_changes_and_the_text_grows_while_a_turn_runs(window: Window, tmp_path: Path, folder: Path) -> None:
    gate = tmp_path / "go"
    await begin(window, tmp_path, folder, [{"say": "Before. "}, {"wait_for": str(gate)}, {"say": "After."}])
    say(window, "Go on")
    await window.until(lambda: phase(window) is LivePhase.RUNNING)
    window.conductor.keys.actions["theme-dark"].trigger()
    await window.until(lambda: window.hub.theme.dark)
    window.key(Qt.Key.Key_Plus, CONTROL)
    assert window.hub.zoom == pytest.approx(1.1)
    ground = window.shell.grab().toImage().pixelColor(window.main.panes.centre.x() + 4, 400)
    assert ground == window.hub.theme.color("bg.surface")
    gate.touch()
    await window.until(lambda: phase(window) is LivePhase.IDLE)
    await window.settled()
    assert any("Before. After." in text for text in (str(block) for block in window._blocks()))
    window.key(Qt.Key.Key_0, CONTROL)
    assert window.hub.zoom == 1
    await window.settled()


# Conflicts.


async def test_two_chats_wrote_one_file_and_the_person_compares_and_brings_one_back(
    window: Window, workspace: Path, home: Path
) -> None:
    theirs = b"# Tides of the other chat\n"
    made = SessionBuilder(cwd=str(workspace), session="7d1c2b3a-0f1e-4d2c-8b3a-9e8f7a6b5c4d", now=START.replace(hour=23))
    made.files[made.at(README)] = (workspace / README).read_text()
    made.prompt("Give it another title.")
    made.write(README, theirs.decode())
    made.end_turn("It has one.")
    made.install(home)
    ours = (workspace / README).read_bytes()
    (workspace / README).write_bytes(theirs)
    await window.start()
    await window.settled()
    other = "Give it another title."
    window.choose_chat(other)
    await window.until(lambda: window.turns() == [1])
    await window.settled()
    window.choose_chat(next(name for name in names(window) if name != other))
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()
    window.key(Qt.Key.Key_3, ALT)
    inspector = window.conductor.inspector
    model, view = inspector.conflicts_model, inspector.conflicts.list
    await window.until(lambda: model.rowCount() > 0, "the conflict is told")
    await window.settled()
    window.picture("conflict")
    number = next(n for n, card in enumerate(model.cards) if card.path == README)
    window.click(view.viewport(), view.button_rect(number, CardButton.COMPARE))
    await window.until(lambda: window.main.page == "review" and window.conductor.review.pane.diff is not None)
    await window.settled()
    window.key(Qt.Key.Key_Escape)
    assert (workspace / README).read_bytes() == theirs, "to compare changes nothing"
    window.click(view.viewport(), view.button_rect(number, CardButton.BRING_BACK))
    await window.until(window.dialogs, "a preview asks first")
    await window.settled()
    window.picture("bring-back")
    window.press_dialog(window.preview.primary.text())
    await window.until(lambda: (workspace / README).read_bytes() == ours)
    await window.settled()


# The window.


async def test_a_narrow_window_has_the_timeline_as_a_drawer(window: Window, workspace: Path) -> None:
    await window.open_demo()
    panes = window.main.panes
    window.shell.resize(1024, 768)
    await window.until(lambda: panes.is_narrow)
    assert not panes.inspector_open
    window.key(Qt.Key.Key_F9, SHIFT)
    assert panes.inspector_open
    await window.until(panes.inspector.isVisible)
    window.press_timeline(Button.DIFF, turn=2, path=MODEL)
    await window.until(lambda: window.main.page == "review")
    window.key(Qt.Key.Key_Escape)
    await window.until(lambda: window.main.page == "transcript")
    if panes.inspector_open:
        window.key(Qt.Key.Key_Escape)
    assert not panes.inspector_open
    window.shell.resize(880, 700)
    await window.until(lambda: not panes.sidebar.isVisible())
    window.key(Qt.Key.Key_F9)
    await window.until(panes.sidebar.isVisible)
    window.key(Qt.Key.Key_Escape)
    assert not panes.sidebar.isVisible()
    window.shell.resize(1440, 900)
    await window.until(lambda: panes.sidebar.isVisible() and panes.inspector_open, "growing brings both back")
    await window.settled()


async def test_a_day_without_the_mouse(window: Window, workspace: Path) -> None:
    before = (workspace / REPORT).read_bytes()
    await window.start()
    await window.settled()
    window.key(Qt.Key.Key_1, CONTROL)
    window.key(Qt.Key.Key_Down)
    window.key(Qt.Key.Key_Return)
    await window.until(lambda: window.turns() == [5, 4, 3, 2, 1])
    await window.settled()
    seen: list[QWidget | None] = []
    for _ in range(4):
        window.key(Qt.Key.Key_F6)
        seen.append(QApplication.focusWidget())
    assert len(set(seen)) >= 3, "F6 goes from pane to pane"
    window.key(Qt.Key.Key_1, ALT)
    window.key(Qt.Key.Key_3, CONTROL)
    view = window.conductor.inspector.timeline
    assert view.hasFocus()
    number = next(n for n, row in enumerate(window.timeline()) if row.path == REPORT and Button.UNDO in row.buttons)
    view.setCurrentIndex(view.model().index(number, 0))
    window.key(Qt.Key.Key_Backspace, CONTROL)
    await window.until(lambda: window.toast or window.dialogs())
    await window.settled()
    assert (workspace / REPORT).read_bytes() != before
    window.key(Qt.Key.Key_Z, CONTROL)
    await window.until(lambda: (workspace / REPORT).read_bytes() == before)
    await window.settled()
    window.key(Qt.Key.Key_F1)
    await window.until(lambda: any("Keyboard shortcuts" in label for label in window.labels(window.main)))
    window.picture("keys")
    window.key(Qt.Key.Key_Escape)
    await window.settled()


@pytest.mark.parametrize("percent", [80, 150, 200])
async def test_at_any_size_of_text_everything_is_there_and_works(window: Window, workspace: Path, percent: int) -> None:
    await window.open_demo()
    window.hub.set_zoom(percent / 100)
    await window.settled()
    window.picture("main")
    page = window.conductor.page
    assert page.header.height() >= page.header.sizeHint().height()
    window.press_timeline(Button.DIFF, turn=2, path=MODEL)
    await window.until(lambda: window.main.page == "review" and window.conductor.review.pane.diff is not None)
    await window.settled()
    window.picture("review")
    window.key(Qt.Key.Key_Escape)
    await window.ask_to_restore(3)
    window.picture("restore")
    dialog = window.preview
    assert dialog.card.geometry().bottom() < window.main.height()
    assert dialog.primary.width() >= dialog.primary.sizeHint().width()
    window.press_dialog("Cancel")
    await window.until(lambda: not window.dialogs())
    await window.settled()


def test_the_next_start_stands_as_the_last_one_did(qapp: QApplication, tmp_path: Path, home: Path, workspace: Path) -> None:
    state = tmp_path / "state"

    async def story(window: Window, first: bool) -> tuple[bool, int, float, int]:
        known = kept.read(state)
        window.hub.set_zoom(zoom_of(known.get(screens_name(), {})))
        inspector = window.conductor.inspector
        Remember(window.shell, window.main, window.hub, known, lambda now: kept.write(state, now), inspector=inspector)
        await window.open_demo()
        panes = window.main.panes
        if first:
            window.main.toggle_inspector()
            panes.want(panes.wanted._replace(sidebar=333))
            window.hub.set_zoom(1.2)
            inspector.show_tab(1)
        await window.settled()
        stood = panes.inspector_open, panes.wanted.sidebar, window.hub.zoom, inspector.tab()
        await window.end()
        return stood

    def run(first: bool) -> tuple[bool, int, float, int]:
        with opened(qapp, data=tmp_path / "data", home=home, pictures=tmp_path / "pictures") as window:
            return window.play(story(window, first))

    first = run(True)
    assert first == run(False)
    assert first == (False, 333, 1.2, 1)


async def test_the_keys_restore_and_branch_at_the_turn_that_is_in_focus(window: Window, workspace: Path) -> None:
    await window.open_demo()
    transcript = window.conductor.page.transcript
    window.key(Qt.Key.Key_R, CONTROL | SHIFT)
    await window.until(lambda: len(window.dialogs()) == 1)
    assert "before turn 5" in window.dialogs()[0].accessibleName(), "nothing is in focus: the last turn"
    window.dialogs()[0].answer(None)
    await window.settled()
    transcript.setFocus(Qt.FocusReason.TabFocusReason)
    window.key(Qt.Key.Key_Home)
    assert transcript.turn_in_focus == 1
    window.key(Qt.Key.Key_R, CONTROL | SHIFT)
    await window.until(lambda: len(window.dialogs()) == 1)
    assert "before turn 1" in window.dialogs()[0].accessibleName()
    window.dialogs()[0].answer(None)
    await window.settled()
    transcript.setFocus(Qt.FocusReason.TabFocusReason)
    window.key(Qt.Key.Key_B, CONTROL | SHIFT)
    await window.until(lambda: len(asked(window)) == 1)
    (question,) = asked(window)
    assert "turn 1" in question.accessibleName() + question.accessibleDescription()
    question.answer(None)
    await window.settled()
    transcript.verticalScrollBar().setValue(transcript.verticalScrollBar().maximum())
    assert transcript.turn_in_focus == 0, "what is out of sight is not meant"
