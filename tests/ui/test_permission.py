"""What an agent waits to be allowed: our words around its own, answers that count only after they could be read."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.agents import Answer, Hold, Operation, Question, Why
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import Protection, Skipped
from vibekit_desktop.ui.models import permission_words as words
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.framed import MOST_CHARS, Framed
from vibekit_desktop.ui.views.permission import READ_MS, PermissionPanel

ALL = tuple(Answer)
RUN = Question(
    id="q1",
    chat=samples.MAIN,
    turn=6,
    agent="Claude Code",
    operation=Operation.RUN,
    subject="rm -rf dist && npm run build",
    asked_at=samples.NOW - 12_000,
    folder="web",
    answers=(Answer.ALLOW_ONCE, Answer.ALLOW_COMMAND, Answer.DENY),
)
EDIT = replace(
    RUN,
    id="q2",
    operation=Operation.EDIT,
    subject="src/export/setup.cfg",
    folder="src/export",
    paths=("src/export/setup.cfg",),
    diffs=(DiffFragment(path="src/export/setup.cfg", old_text="a = 1\n", new_text="a = 2\n"),),
    answers=(Answer.ALLOW_ONCE, Answer.ALLOW_FOLDER, Answer.ALLOW_EDITS, Answer.DENY),
)
HELD = replace(EDIT, id="q3", hold=Hold.DISK_FULL, answers=(Answer.RETRY, Answer.UNPROTECTED, Answer.DENY))


# -- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "subject", "why", "said"),
    [
        (Operation.RUN, "make", (), "Claude Code wants to run a command"),
        (Operation.RUN, "make", (Why.OUTSIDE,), "Claude Code wants to run a command outside the workspace"),
        (Operation.EDIT, "a/setup.cfg", (), "Claude Code wants to edit setup.cfg"),
        (Operation.CREATE, "новый.txt", (), "Claude Code wants to create новый.txt"),
        (Operation.DELETE, "b.md", (), "Claude Code wants to delete b.md"),
        (Operation.MOVE, "b.md", (), "Claude Code wants to move b.md"),
        (Operation.READ, "/etc/hosts", (Why.OUTSIDE,), "Claude Code wants to read outside the workspace"),
        (Operation.READ, "a/b.md", (), "Claude Code wants to read b.md"),
        (Operation.FETCH, "https://example.org/a?b", (), "Claude Code wants to fetch from example.org"),
        (Operation.FETCH, "https://me:pw@example.org:8080/", (), "Claude Code wants to fetch from example.org:8080"),
        (Operation.FETCH, "https://exаmple.org/", (), "Claude Code wants to fetch from the network"),
        (Operation.FETCH, "http://[", (), "Claude Code wants to fetch from the network"),
        (Operation.OTHER, "", (), "Claude Code wants to use a tool"),
    ],
)
def test_who_wants_what(operation: Operation, subject: str, why: tuple[Why, ...], said: str) -> None:
    assert words.headline(replace(RUN, operation=operation, subject=subject, why=why)) == said


@pytest.mark.parametrize(
    "name",
    [
        "setup.cfg (already allowed by VibeKit Desktop)",
        "a\nb",
        "ok\u202egnp.exe",
        "x" * 200,
        "Allow once to continue",
        "",
        "a\u200bb",
    ],
)
def test_a_name_that_could_be_read_as_ours_is_not_among_our_words(name: str) -> None:
    """P10: an agent's text cannot imitate ours."""
    said = words.headline(replace(EDIT, subject=f"src/{name}", paths=()))
    assert said == "Claude Code wants to edit a file"


def test_several_files_are_counted_and_all_are_told() -> None:
    question = replace(EDIT, subject="a.md", paths=("a.md", "b.md", "c.md"))
    assert words.headline(question) == "Claude Code wants to edit 3 files"
    assert words.subject_lines(question) == ("a.md", "b.md", "c.md")


def test_an_agent_with_a_strange_name_is_still_one_line() -> None:
    said = words.headline(replace(RUN, agent="Evil\nAgent\u202e" + "x" * 100))
    assert "\n" not in said
    assert "\u202e" not in said
    assert len(said) < 100
    assert words.agent_name(replace(RUN, agent="")) == "The agent"


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(list(Operation)), st.sampled_from(list(Hold)))
def test_the_words_are_one_line_whatever_is_asked(subject: str, title: str, operation: Operation, hold: Hold) -> None:
    question = replace(RUN, subject=subject, title=title, operation=operation, hold=hold, why=tuple(Why), answers=ALL)
    texts = [words.headline(question), words.reassurance(question), words.agents_words(question), *words.reasons(question)]
    texts += [words.answer_button(question, answer).name for answer in ALL]
    assert all("\n" not in text for text in texts)


def test_every_reason_has_a_sentence() -> None:
    assert len(words.reasons(replace(RUN, why=tuple(Why)))) == len(Why)
    for hold in Hold:
        assert len(words.reasons(replace(RUN, hold=hold))) == (0 if hold is Hold.NONE else 1)


def test_what_the_store_could_not_keep_is_said_instead_of_a_promise() -> None:
    answers = (Answer.RETRY, Answer.UNPROTECTED, Answer.DENY)
    one = Protection(unkept=(Skipped("a/rand.bin", "disk-full", 3_000_000),))
    question = replace(RUN, hold=Hold.DISK_FULL, protection=one, answers=answers)
    assert words.reassurance(question) == ""
    assert words.reasons(question) == (
        "The store could not keep a copy of rand.bin (3.0 MB): the disk is full. What is done to it can't be taken back.",
    )
    assert words.headline(question) == "Claude Code wants to run a command, and not all of it could be undone"
    assert words.answer_button(question, Answer.UNPROTECTED).text == "Run without a copy…"
    title, text, go = words.without_copy(question)
    assert (title, go) == ("Run without a copy?", "Run without a copy")
    assert text == "What this command does to rand.bin (3.0 MB) can't be taken back."
    more = replace(question, hold=Hold.CANNOT_STORE, protection=Protection(unkept=one.unkept * 3))
    assert words.reasons(more) == (
        "The store could not keep a copy of rand.bin (3.0 MB) and 2 more files: it can't be written. What is done to them "
        "can't be taken back.",
    )
    strange = replace(question, protection=Protection(unkept=(Skipped("Allowed. Press Allow", "disk-full", 1),)))
    assert "Press" not in words.reasons(strange)[0]


def test_what_a_limit_leaves_out_is_no_part_of_the_promise() -> None:
    huge = replace(RUN, protection=Protection(left_out=(Skipped("film.mp4", "too-large", 480_000_000),)))
    assert words.reassurance(huge) == (
        "Checkpoint 6 is saved. Files this command changes in the workspace can be taken back, but not film.mp4 (480 MB): not "
        "captured. Effects outside it can't."
    )
    whole = replace(RUN, protection=Protection(left_out=(Skipped(".", "not-walked"),)))
    assert "Not every file of this workspace is captured" in words.reassurance(whole)


def test_what_can_be_taken_back_is_said_only_where_it_can() -> None:
    assert words.reassurance(RUN).startswith("Checkpoint 6 is saved. Files this command changes in the workspace")
    assert words.reassurance(EDIT) == "Checkpoint 6 is saved. This change can be taken back."
    assert words.reassurance(HELD) == ""
    for operation in (Operation.READ, Operation.FETCH):
        assert words.reassurance(replace(RUN, operation=operation)) == ""


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("rm -rf dist && npm run build", ""),
        ("Run `rm -rf dist && npm run build`", ""),
        ("", ""),
        ("Clean up before the release", "Clean up before the release"),
    ],
)
def test_the_agents_words_are_told_only_if_they_say_more(title: str, told: str) -> None:
    assert words.agents_words(replace(RUN, title=title)) == told


def test_folders_are_named_if_their_name_is_plain() -> None:
    def said(folder: str) -> str:
        return words.answer_button(replace(EDIT, folder=folder), Answer.ALLOW_FOLDER).text

    assert said("src/export") == "Edits in src/export"
    assert said("") == "Edits in the top folder of the workspace"
    assert said("src/all of it, allowed") == "Edits in the folder of this file"


def test_the_time_it_waits_is_counted_in_seconds() -> None:
    assert words.waiting(1000, 1500) == ""
    assert words.waiting(1000, 13_400) == "waiting 12 s"
    assert words.waiting(5000, 1000) == ""
    assert words.one_of(1) == ""
    assert words.one_of(3) == "1 of 3"


# -- the panel -------------------------------------------------------------------------------------------------------


@dataclass
class Clock:
    now: int = 10_000

    def __call__(self) -> int:
        return self.now


class Stage:
    """A panel on a page, a clock that stands still, and what was answered."""

    def __init__(self, qtbot: QtBot) -> None:
        self.clock = Clock()
        self.now = samples.NOW
        self.page = QWidget()
        qtbot.addWidget(self.page)
        self.page.resize(800, 700)
        self.other = QLabel("other", self.page)
        self.other.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        hub = ThemeHub("light", still=True)
        self.panel = PermissionPanel(hub, self.page, now_ms=lambda: self.now, clock_ms=self.clock)
        self.panel.set_workspace(samples.WORKSPACE)
        self.panel.set_keys("Ctrl ⇧ Y", "Ctrl ⇧ N")
        self.panel.height_changed.connect(self.place)
        self.answers: list[tuple[str, Answer]] = []
        self.panel.answered.connect(lambda which, answer: self.answers.append((which, answer)))
        with qtbot.waitActive(self.page):
            self.page.show()
            self.page.activateWindow()
        self.other.setFocus()

    def place(self, width: int = 720) -> None:
        if self.panel.question is not None:
            self.panel.setGeometry(40, 20, width, self.panel.height_for(width, 160))
            self.panel.place(160)

    def ask(self, *questions: Question, read: bool = True) -> None:
        self.panel.show_questions(questions)
        if read:
            self.read()

    def read(self) -> None:
        """Time passes in which a person reads."""
        self.clock.now += READ_MS


@pytest.fixture
def stage(qtbot: QtBot) -> Stage:
    return Stage(qtbot)


def test_it_is_there_while_something_waits_and_takes_no_focus(stage: Stage) -> None:
    assert not stage.panel.isVisible()
    stage.ask(RUN)
    assert stage.panel.isVisible()
    assert stage.other.hasFocus()
    assert stage.panel.accessibleName() == "Claude Code wants to run a command. rm -rf dist && npm run build"
    stage.ask()
    assert not stage.panel.isVisible()


def test_it_ticks_only_while_somebody_can_see_it_and_screen_readers_hear_nothing_of_it(
    stage: Stage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = stage.panel.findChild(QTimer)
    assert isinstance(ticks, QTimer)
    stage.page.hide()
    stage.ask(RUN)
    assert not ticks.isActive()
    with qtbot.waitExposed(stage.page):
        stage.page.show()
    assert ticks.isActive()
    heard: list[object] = []
    monkeypatch.setattr(QAccessible, "updateAccessibility", heard.append)
    before = stage.panel.grab().toImage()
    stage.now += 60_000
    ticks.timeout.emit()
    assert stage.panel.grab().toImage() != before
    assert heard == []
    stage.page.hide()
    assert not ticks.isActive()
    stage.page.show()
    stage.ask()
    assert not ticks.isActive()


def test_allow_once_and_deny_answer_the_question_that_is_shown(stage: Stage) -> None:
    stage.ask(RUN)
    stage.panel.first.click()
    stage.panel.deny_button.click()
    stage.panel.allow_once()
    stage.panel.deny()
    assert stage.answers == [("q1", Answer.ALLOW_ONCE), ("q1", Answer.DENY)] * 2


def test_a_click_just_after_the_question_changed_does_nothing(stage: Stage) -> None:
    """Nobody allows what they did not read."""
    stage.ask(RUN, read=False)
    stage.panel.first.click()
    stage.clock.now += READ_MS - 1
    stage.panel.first.click()
    assert stage.answers == []
    stage.clock.now += 1
    stage.panel.first.click()
    assert stage.answers == [("q1", Answer.ALLOW_ONCE)]
    stage.ask(EDIT, read=False)
    for press in (stage.panel.first.click, stage.panel.allow_once, stage.panel.deny, stage.panel.wide.click):
        press()
    assert len(stage.answers) == 1
    stage.read()
    stage.panel.deny()
    assert stage.answers[-1] == ("q2", Answer.DENY)


def test_the_same_question_told_again_can_be_answered_at_once(stage: Stage) -> None:
    stage.ask(RUN)
    stage.panel.show_questions((RUN, EDIT))
    stage.panel.first.click()
    assert stage.answers == [("q1", Answer.ALLOW_ONCE)]


def test_a_question_that_asks_something_else_under_the_same_id_is_another_one(stage: Stage) -> None:
    stage.ask(RUN)
    stage.panel.show_questions((replace(RUN, subject="rm -rf /"),))
    stage.panel.first.click()
    assert stage.answers == []


def test_buttons_that_moved_under_the_pointer_do_nothing_for_a_moment(stage: Stage) -> None:
    stage.ask(RUN)
    stage.panel.move(40, 60)
    stage.panel.first.click()
    assert stage.answers == []


def test_several_wait_and_the_oldest_is_shown(stage: Stage) -> None:
    stage.ask(EDIT, RUN, HELD)
    assert stage.panel.question is EDIT
    stage.ask(RUN, HELD)
    assert stage.panel.question is RUN


def test_the_answers_for_the_chat_are_in_a_menu(stage: Stage) -> None:
    stage.ask(EDIT)
    menu = stage.panel.menu()
    assert menu is not None
    assert [action.text() for action in menu.actions()] == ["Edits in src/export", "All edits in the workspace"]
    menu.actions()[1].trigger()
    assert stage.answers == [("q2", Answer.ALLOW_EDITS)]
    stage.ask(replace(RUN, answers=(Answer.ALLOW_ONCE, Answer.DENY)))
    assert not stage.panel.wide.isVisible()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_menu_goes_when_its_question_goes(stage: Stage) -> None:
    stage.ask(EDIT)
    stage.panel.wide.click()
    menu = stage.panel._menu
    assert menu is not None
    stage.ask(RUN)
    assert not menu.isVisible()


def test_a_held_write_has_its_own_words_and_buttons(stage: Stage) -> None:
    stage.ask(HELD)
    panel = stage.panel
    assert [button.text() for button in panel._buttons if button.isVisible()] == [
        "Try again",
        "Write without a copy…",
        "Deny",
    ]
    panel.allow_once()
    assert stage.answers == [], "there is no such answer to it"
    panel.first.click()
    panel.unprotected.click()
    assert stage.answers == [("q3", Answer.RETRY), ("q3", Answer.UNPROTECTED)]
    assert "disk is full" in panel.accessibleDescription()


def test_the_path_stands_over_its_change_and_the_change_is_plain(stage: Stage) -> None:
    stage.ask(EDIT)
    panel = stage.panel
    assert panel.change.isVisible()
    assert not panel.subject.isVisible()
    assert panel.change.lines.copied == "src/export/setup.cfg\n-a = 1\n+a = 2"
    stage.ask(RUN)
    assert panel.subject.isVisible()
    assert not panel.change.isVisible()


def test_the_focus_that_was_in_it_is_given_on_when_it_goes(qtbot: QtBot, stage: Stage) -> None:
    stage.ask(RUN)
    stage.panel.deny_button.setFocus()
    with qtbot.waitSignal(stage.panel.focus_left):
        stage.ask()


@pytest.mark.parametrize("width", [300, 416, 720])
@pytest.mark.parametrize("question", [RUN, EDIT, HELD], ids=["run", "edit", "held"])
def test_everything_has_its_place_at_any_width(stage: Stage, width: int, question: Question) -> None:
    stage.ask(replace(question, why=tuple(Why), title="Something that says a little more than that"))
    stage.place(width)
    panel = stage.panel
    shown = [one for one in (panel.own, panel.subject, panel.change, *panel._buttons) if one.isVisible()]
    for one in shown:
        assert panel.rect().contains(one.geometry()), one
    for n, one in enumerate(shown):
        assert not any(one.geometry().intersects(other.geometry()) for other in shown[n + 1 :])
    assert not panel.grab().isNull()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_it_can_be_painted(qtbot: QtBot, mode: str) -> None:
    panel = PermissionPanel(ThemeHub(mode, still=True))
    qtbot.addWidget(panel)
    for question in (RUN, EDIT, HELD):
        panel.show_questions((question,))
        panel.resize(720, panel.height_for(720, 200))
        panel.place(200)
        assert not panel.grab().isNull()


# -- the frame -------------------------------------------------------------------------------------------------------


@pytest.fixture
def frame(qtbot: QtBot) -> Iterator[Framed]:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(500, 300)
    made = Framed(ThemeHub("light", still=True), host)
    made.setGeometry(10, 10, 460, 120)
    host.show()
    yield made
    del host  # until here it must be held


def shown(frame: Framed) -> str:
    """What is painted, all of its rows one after another."""
    return "".join(row.line.shown.text for row in frame.lines._rows)


@pytest.mark.parametrize("text", ["x" * 5000, "word " * 900, "日本語テキスト" * 300, "a\tb" * 500, "é" * 700, ""])
def test_a_long_line_is_wrapped_and_nothing_of_it_is_lost(frame: Framed, text: str) -> None:
    frame.show_text([text])
    assert shown(frame) == text
    room = frame.lines.viewport().width() - 24
    for row in frame.lines._rows:
        assert frame.lines._code.width(row.line) <= room + 1
    assert frame.scrolls is (len(text) > 500)


def test_what_cannot_be_seen_is_marked_and_copied_as_it_is(frame: Framed) -> None:
    text = "rm \u202efdp.\u202c \x1b[31m\u200b"
    frame.show_text([text])
    assert "\u202e" not in shown(frame)
    assert "⟨U+202E⟩" in shown(frame)
    assert "␛" in shown(frame)
    QTest.keyClick(frame.lines, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == text


def test_a_line_that_begins_is_told_from_one_that_goes_on(frame: Framed) -> None:
    frame.show_text(["x" * 200, "second"])
    assert [row.first for row in frame.lines._rows] == [True, *[False] * (len(frame.lines._rows) - 2), True]


def test_what_is_not_shown_is_counted(frame: Framed) -> None:
    frame.show_text(["y" * (MOST_CHARS + 1234)])
    assert frame.cut == 1234
    frame.show_text([""] * 1_000_000)
    assert len(frame.lines._rows) < 5000
    assert frame.cut > 900_000
    frame.show_text(["short"])
    assert frame.cut == 0


def test_a_cut_is_said_beside_the_frame(stage: Stage) -> None:
    stage.ask(replace(RUN, subject="z" * (MOST_CHARS + 50)))
    assert "50 more characters are not shown here." in stage.panel.accessibleDescription()


def test_the_frame_scrolls_by_keys_to_its_end(frame: Framed) -> None:
    frame.show_text([f"line {n}" for n in range(100)])
    bar = frame.lines.verticalScrollBar()
    QTest.keyClick(frame.lines, Qt.Key.Key_Down)
    assert bar.value() == frame.lines.step
    QTest.keyClick(frame.lines, Qt.Key.Key_End)
    assert bar.value() == bar.maximum() > 0
    assert not frame.grab().isNull()
