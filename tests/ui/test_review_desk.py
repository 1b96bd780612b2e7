"""The reviews of a window and what is connected to them: options, comments to the agent, export, windows of their own."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import sample_changes
from tests.ui.live_stage import IDLE, MAIN, OTHER, RUNNING, Program
from tests.ui.review_stage import LAST, ONE, diff_of
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.types.agent_errors import AgentMissing
from vibekit_desktop.core.types.agents import LivePhase, Prompt
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, FileState, Now, Start, State
from vibekit_desktop.core.types.diffs import EXACT, Compare, Ignore
from vibekit_desktop.core.types.errors import FileThere
from vibekit_desktop.core.types.events import ChatDeleted, HistoryGrew, LiveChanged, SettingChanged
from vibekit_desktop.core.types.reviews import ReviewFormat, Side
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.models.review_options import ReviewOptions, options_of, with_value
from vibekit_desktop.ui.operations.review_settings import ReviewSettings
from vibekit_desktop.ui.views.open_file import runs_when_opened
from vibekit_desktop.ui.views.review import ReviewPage
from vibekit_desktop.ui.views.review_window import ReviewWindow


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        found = Program(qtbot)
        found.fake.diffs.by_path = {path: diff_of(path, 10, 40) for path in (ONE, LAST)}
        found.fake.reviews.publish = found.fake.publish
        yield found
        found.conductor.close()
        bury(found.window)


def opened(program: Program) -> ReviewPage:
    """The review of the main window, with its first file shown."""
    program.conductor.open_review(BeforeTurn(4), AfterTurn(4))
    page = program.conductor.review
    run(until(lambda: page.pane.diff is not None))
    program.settle()
    return page


def commented(program: Program) -> None:
    """One comment that was not sent."""
    run(program.fake.reviews.comment(MAIN, ONE, Side.NEW, 10, 10, "Why?", old=Start(), new=Now()))
    program.settle()


def test_comments_are_sent_as_one_message(program: Program) -> None:
    page = opened(program)
    commented(program)
    page.comments.send.click()
    program.settle()
    ((_, chat, prompt),) = program.asked("prompt")
    assert chat == MAIN
    assert isinstance(prompt, Prompt)
    assert "Why?" in prompt.text
    assert program.fake.reviews.said[MAIN][0].sent_at
    assert program.conductor.notifier.shown == "Sent to Claude Code"


def test_without_an_agent_they_go_into_the_message_field_and_are_not_sent(program: Program) -> None:
    page = opened(program)
    commented(program)
    program.fake.live.raises["prompt"] = AgentMissing("Claude Code", "npm i claude")
    page.comments.send.click()
    program.settle()
    assert "Why?" in program.composer.written.text
    assert not program.fake.reviews.said[MAIN][0].sent_at
    assert program.conductor.notifier.shown.endswith("The comments are in the message field.")


def test_where_nobody_can_answer_they_are_copied(program: Program) -> None:
    page = opened(program)
    commented(program)
    program.live(replace(IDLE, phase=LivePhase.UNAVAILABLE))
    program.forget()
    page.comments.send.click()
    program.settle()
    assert not program.asked("prompt")
    assert "Why?" in QGuiApplication.clipboard().text()
    assert program.conductor.notifier.shown.endswith("The comments were copied.")


def test_while_a_turn_runs_undo_waits_and_the_diff_works(program: Program) -> None:
    page = opened(program)
    program.live(RUNNING)
    assert page.held.text == "Undo and Restore wait until turn 6 ends."
    assert not page.head.can_undo
    page.undo_all_requested.emit(*page.sides)
    program.settle()
    assert not program.fake.undo.calls
    assert page.stop.isVisible()
    page.stop.click()
    program.settle()
    assert program.asked("stop") == [("stop", MAIN)]
    program.live(IDLE)
    assert page.held.text == ""
    assert page.head.can_undo


def test_what_is_chosen_is_stored_and_shown_everywhere(program: Program) -> None:
    page = opened(program)
    page.bar.layout_switch.piece(1).click()
    program.settle()
    assert page.pane.view.unified
    assert program.fake.settings.values["diff.layout"] == "unified"
    page.options_chosen.emit(replace(program.conductor.reviews.settings.options, wrap=True, tab_width=8, context=None))
    program.settle()
    assert page.pane.view.options.wrap
    assert page.pane.view.options.tab_columns == 8
    assert page.pane.view.options.context is None
    assert program.fake.settings.values["diff.context"] == "all"
    program.tell(SettingChanged("diff.layout", "side-by-side"))
    assert not page.pane.view.unified


def test_options_are_read_at_the_beginning(qtbot: QtBot) -> None:
    with own_loop():
        fake = FakeCore()
        fake.settings.values = {"diff.ignore_whitespace": "amount", "diff.ignore_blank_lines": "yes", "diff.tab_width": 2}
        parent = QFileDialog()
        settings = ReviewSettings(fake.core.settings, Bridge(fake.core.events), parent)
        run(settings.begin())
        assert settings.options == ReviewOptions(compare=Compare(Ignore.AMOUNT, blank_lines=True), tab_width=2)
        bury(parent)


def test_options_are_the_same_after_a_way_through_settings() -> None:
    options = ReviewOptions(
        unified=True,
        compare=Compare(Ignore.END_OF_LINE, blank_lines=True),
        wrap=True,
        invisibles=True,
        tab_width=8,
        context=10,
        stronger=True,
    )
    assert options_of(dict(options.settings())) == options
    assert with_value(options, "theme", "dark") is options
    assert with_value(options, "diff.context", "all").context is None


def test_a_review_is_exported_to_a_new_file(program: Program, tmp_path: Path) -> None:
    page = opened(program)
    page.export_requested.emit("html")
    (dialog,) = program.window.window().findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "review.html"))
    program.settle()
    ((_, arguments),) = [call for call in program.fake.exports.calls if call[0] == "review"]
    assert arguments == (MAIN, BeforeTurn(4), AfterTurn(4), (), ReviewFormat.HTML, EXACT)
    assert program.conductor.notifier.shown == "Saved review.html"
    program.fake.exports.raises["save"] = FileThere(str(tmp_path / "review.html"))
    dialog.fileSelected.emit(str(tmp_path / "review.html"))
    program.settle()
    assert program.conductor.notifier.shown != "Saved review.html"
    dialog.close()


def test_what_cannot_be_seen_in_the_name_of_an_export_is_marked(program: Program, tmp_path: Path) -> None:
    page = opened(program)
    page.export_requested.emit("html")
    (dialog,) = program.window.window().findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "review\u202elmth.exe"))
    program.settle()
    shown = program.conductor.notifier.shown
    assert shown.startswith("Saved review")
    assert "\u202e" not in shown
    dialog.close()


def test_only_what_the_filter_leaves_is_exported(program: Program) -> None:
    page = opened(program)
    page.list.filter.setText("one")
    program.settle()
    page.export_requested.emit("patch")
    (dialog,) = program.window.window().findChildren(QFileDialog)
    dialog.fileSelected.emit("/tmp/nowhere/one.patch")
    program.settle()
    ((_, arguments),) = [call for call in program.fake.exports.calls if call[0] == "review"]
    assert arguments[3] == (ONE,)
    dialog.close()


# In a window of its own.


def own(program: Program) -> ReviewWindow:
    program.conductor.review.own_window_requested.emit()
    (window,) = program.conductor.reviews.own_windows
    run(until(lambda: window.page.pane.diff is not None))
    program.settle()
    return window


def test_a_window_of_its_own_shows_the_same_review_and_stays_when_another_chat_is_opened(program: Program) -> None:
    opened(program)
    window = own(program)
    assert window.page.sides == (BeforeTurn(4), AfterTurn(4))
    assert not window.page.bar._back.isVisible()
    program.open(OTHER)
    assert window.page.chat == MAIN
    assert window.page.model.entries
    program.forget()
    program.tell(HistoryGrew(MAIN, "/elsewhere"))
    run(until(lambda: ("timeline", (MAIN,)) in program.fake.checkpoints.calls))


def test_its_turns_hold_its_undo_back_also_when_another_chat_is_open(program: Program) -> None:
    opened(program)
    window = own(program)
    program.open(OTHER)
    program.tell(LiveChanged(RUNNING))
    assert window.page.held.text == "Undo and Restore wait until turn 6 ends."
    program.tell(LiveChanged(IDLE))
    assert window.page.held.text == ""


def test_it_closes_with_its_chat_and_by_esc(program: Program) -> None:
    opened(program)
    window = own(program)
    QTest.keyClick(window.page.pane.view, Qt.Key.Key_Escape)
    assert program.conductor.reviews.own_windows == ()
    own(program)
    program.tell(ChatDeleted(MAIN))
    assert program.conductor.reviews.own_windows == ()


# The program of a file.


def test_a_file_is_opened_and_of_a_program_its_folder(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: asked.append(url) or True)
    page = opened(program)
    page.open_in_editor()
    assert asked[-1].toLocalFile() == "/home/ada/code/tidepool/src/one.py"
    program_file = replace(diff_of(sample_changes.path("bin/run.desktop"), 1))
    page.editor_requested.emit(program_file)
    assert asked[-1].toLocalFile() == "/home/ada/code/tidepool/bin"
    assert "would run" in program.conductor.notifier.shown


@pytest.mark.parametrize(
    ("path", "mode", "windows", "runs"),
    [
        ("a.py", 0o644, False, False),
        ("a.py", 0o755, False, True),
        ("a.py", 0o644, True, True),
        ("tool", 0o755, False, True),
        ("tool", 0o644, False, False),
        ("a.desktop", 0o644, False, True),
        ("a.EXE", 0o644, True, True),
        ("notes.txt", 0o755, False, False),
        ("a.b/readme", 0o644, False, False),
    ],
)
def test_what_would_run_is_known(path: str, mode: int, windows: bool, runs: bool) -> None:
    state = FileState(State.PRESENT, None, mode)
    assert runs_when_opened(sample_changes.path(path), state, windows=windows) is runs
