"""The composer: what Enter, Shift+Enter, Up and a slash do, what may be pasted and dropped, what is shown while a turn runs."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.agents import (
    AgentCommand,
    AgentOption,
    Attachment,
    Choice,
    LivePhase,
    LiveState,
    OptionKind,
    Prompt,
    QueuedPrompt,
    Rule,
    RuleKind,
)
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.attachments import MOST, as_png, of_path, taken_from
from vibekit_desktop.ui.views.composer import NOTHING, Composer, Written
from vibekit_desktop.ui.views.prompt_field import MOST_CHARS, MOST_LINE, PromptField
from vibekit_desktop.ui.views.queue_strip import QueueStrip

SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
MODE = AgentOption(
    id="mode",
    name="Mode",
    kind=OptionKind.MODE,
    value="ask",
    choices=(Choice("ask", "Ask before edits"), Choice("all", "Accept edits")),
)
MODEL = AgentOption(id="model", name="Model", kind=OptionKind.MODEL, value="s", choices=(Choice("s", "Sonnet"),))
THINK = AgentOption(id="think", name="Think & plan", kind=OptionKind.THOUGHT, value="true")
COMMANDS = (
    AgentCommand("compact", "Make it short"),
    AgentCommand("commit", "Write a commit", "message"),
    AgentCommand("x", ""),
)
IDLE = LiveState(
    chat=samples.MAIN,
    phase=LivePhase.IDLE,
    agent="Claude Code",
    options=(MODE, MODEL, THINK),
    commands=COMMANDS,
    takes_images=True,
)
RUNNING = replace(IDLE, phase=LivePhase.RUNNING, turn=6)


class Stage:
    """A composer on a page, and what it asked for."""

    def __init__(self, qtbot: QtBot) -> None:
        self.hub = ThemeHub("light", still=True)
        self.page = QWidget()
        qtbot.addWidget(self.page)
        self.page.resize(800, 600)
        self.composer = Composer(self.hub, self.page, self.page)
        self.composer.setGeometry(40, 400, 720, 80)
        self.sent: list[Prompt] = []
        self.told: list[str] = []
        self.others: list[object] = []
        self.composer.sent.connect(self.sent.append)
        self.composer.told.connect(self.told.append)
        self.composer.picked.connect(lambda option, value: self.others.append((option, value)))
        self.composer.stop_requested.connect(lambda: self.others.append("stop"))
        self.composer.previous_requested.connect(lambda: self.others.append("previous"))
        self.composer.set_state(IDLE)
        with qtbot.waitActive(self.page):
            self.page.show()
            self.page.activateWindow()
        self.composer.focus()

    @property
    def field(self) -> PromptField:
        return self.composer.field

    def type(self, text: str) -> None:
        QTest.keyClicks(self.field, text)

    def press(self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.field, key, held)

    def paste(self, data: QMimeData) -> None:
        self.field.insertFromMimeData(data)


@pytest.fixture
def stage(qtbot: QtBot) -> Stage:
    return Stage(qtbot)


def text_data(text: str) -> QMimeData:
    data = QMimeData()
    data.setText(text)
    return data


def file_data(*paths: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return data


# -- writing and sending --------------------------------------------------------------------------------------------


def test_enter_sends_and_shift_enter_makes_a_line(stage: Stage) -> None:
    stage.type("first")
    stage.press(Qt.Key.Key_Return, SHIFT)
    stage.type("second")
    stage.press(Qt.Key.Key_Enter)
    assert stage.sent == [Prompt(text="first\nsecond")]


def test_what_was_sent_stays_until_it_is_taken(stage: Stage) -> None:
    """A refused prompt must keep its text: only whoever knows that it was taken empties the composer."""
    stage.type("keep me")
    stage.press(Qt.Key.Key_Return)
    stage.composer.set_busy(True)
    stage.type("more")
    stage.press(Qt.Key.Key_Return)
    assert len(stage.sent) == 1
    stage.composer.set_busy(False)
    assert stage.composer.written == Written("keep me")
    stage.composer.write(NOTHING)
    assert stage.field.is_empty


@pytest.mark.parametrize("text", ["", "  ", "\n\n"])
def test_nothing_is_not_sent(stage: Stage, text: str) -> None:
    stage.field.set_text(text)
    stage.press(Qt.Key.Key_Return)
    assert not stage.composer.send_button.isEnabled()
    assert stage.sent == []


def test_up_in_the_empty_field_asks_for_the_last_prompt(stage: Stage) -> None:
    stage.press(Qt.Key.Key_Up)
    assert stage.others == ["previous"]
    stage.type("a")
    stage.press(Qt.Key.Key_Up)
    assert stage.others == ["previous"]


def test_what_comes_back_is_put_before_what_is_written_and_can_be_undone(stage: Stage) -> None:
    stage.type("mine")
    stage.composer.put_before(Written("the former one", (of_path("/a/b.md"),)))
    assert stage.composer.written == Written("the former one\n\nmine", (of_path("/a/b.md"),))
    stage.press(Qt.Key.Key_Z, CONTROL)
    assert stage.field.text == "mine"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\x00\u2028\u2029\ufdd0\ufdd1\ufeff"), max_size=60))
def test_a_text_comes_out_as_it_went_in(text: str) -> None:
    _ = QApplication.instance() or QApplication([])
    host = QWidget()
    field = PromptField(ThemeHub("light", still=True), host)
    field.set_text(text)
    assert field.text == text
    host.deleteLater()


def test_it_grows_by_line_up_to_its_share_and_then_scrolls(stage: Stage) -> None:
    line = stage.hub.theme.line_height("reading")
    heights = []
    for lines in (1, 2, 3):
        stage.field.set_text("\n".join("x" * 3 for _ in range(lines)))
        heights.append(stage.composer.height_for(720, 400))
    assert heights == [80, 80 + line, 80 + 2 * line]
    stage.field.set_text("\n" * 80)
    assert stage.composer.height_for(720, 200) == 200


def test_tab_leaves_the_field(stage: Stage) -> None:
    stage.press(Qt.Key.Key_Tab)
    assert not stage.field.hasFocus()
    assert stage.field.is_empty


# -- while a turn runs -----------------------------------------------------------------------------------------------


def test_while_a_turn_runs_send_is_stop_and_enter_queues(stage: Stage) -> None:
    stage.composer.set_state(RUNNING)
    composer = stage.composer
    assert composer.stop_button.isVisible()
    assert composer.stop_button.accessibleName() == "Stop turn 6"
    assert not composer.send_button.isVisible()
    assert composer.hint == "Enter queues"
    stage.type("then this")
    assert composer.queue_button.isVisible()
    stage.press(Qt.Key.Key_Return)
    assert stage.sent == [Prompt(text="then this")]
    composer.stop_button.click()
    assert stage.others == ["stop"]
    composer.set_state(replace(RUNNING, phase=LivePhase.STOPPING))
    assert not composer.stop_button.isEnabled()
    assert composer.hint == "Stopping…"


def test_one_more_escape_is_said_only_while_a_turn_runs(stage: Stage) -> None:
    stage.composer.set_armed(True)
    assert "Esc" not in stage.composer.hint
    stage.composer.set_state(RUNNING)
    stage.composer.set_armed(True)
    assert stage.composer.hint == "Press Esc again to stop"
    stage.composer.set_state(IDLE)
    assert "Esc" not in stage.composer.hint


# -- what an agent offers --------------------------------------------------------------------------------------------


def test_mode_and_model_are_menus_and_the_rest_is_in_one(stage: Stage) -> None:
    composer = stage.composer
    assert composer.mode.accessibleName() == "Mode: Ask before edits"
    assert composer.model.accessibleName() == "Model: Sonnet"
    composer.mode.menu().actions()[1].trigger()
    (switch,) = composer.further_menu().actions()
    assert switch.text() == "Think && plan"
    assert switch.isChecked()
    switch.trigger()
    assert stage.others == [("mode", "all"), ("think", "false")]


def test_what_is_allowed_without_asking_can_be_taken_back_in_the_menu(stage: Stage) -> None:
    composer = stage.composer
    command = Rule(chat=IDLE.chat, kind=RuleKind.COMMAND, subject="make && \u202erm -rf x")
    folder = Rule(chat=IDLE.chat, kind=RuleKind.FOLDER, subject="src")
    composer.set_state(replace(IDLE, options=(), rules=(command, folder)))
    assert composer.more.isVisible()
    forgotten: list[Rule] = []
    composer.rule_forgotten.connect(forgotten.append)
    (below,) = composer.further_menu().actions()
    menu = below.menu()
    assert isinstance(menu, QMenu)
    *rules, _, hint = menu.actions()
    assert [one.text() for one in rules] == ["Edits in src", "Run “make &&&& ⟨U+202E⟩rm -rf x”"]
    assert all(one.isChecked() for one in rules)
    assert not hint.isEnabled()
    rules[1].trigger()
    assert forgotten == [command]


def test_without_options_there_are_no_menus(stage: Stage) -> None:
    stage.composer.set_state(replace(IDLE, options=()))
    assert not any(one.isVisible() for one in (stage.composer.mode, stage.composer.model, stage.composer.more))


@pytest.mark.parametrize("width", [416, 500, 720])
def test_the_bar_has_room_for_everything(stage: Stage, width: int) -> None:
    long = replace(MODE, choices=(Choice("ask", "A mode with a name that is much too long for its place"),))
    stage.composer.set_state(replace(RUNNING, options=(long, MODEL, THINK)))
    stage.type("x")
    stage.composer.resize(width, 80)
    bar = stage.composer
    parts = [bar.attach_button, bar.mode, bar.model, bar.more, bar.queue_button, bar.stop_button]
    edges = [(part.geometry().left(), part.geometry().right()) for part in parts]
    assert edges == sorted(edges)
    assert all(right < left for (_, right), (left, _) in pairwise(edges))
    assert edges[-1][1] < width


# -- commands --------------------------------------------------------------------------------------------------------


def test_a_slash_shows_the_agents_commands_and_a_key_takes_one(stage: Stage) -> None:
    commands = stage.composer.commands
    stage.type("/")
    assert commands.isVisible()
    assert commands.found == ("compact", "commit", "x")
    stage.type("com")
    assert commands.found == ("compact", "commit")
    stage.press(Qt.Key.Key_Down)
    assert commands.marked == "commit"
    stage.press(Qt.Key.Key_Return)
    assert stage.field.text == "/commit "
    assert not commands.isVisible()
    assert stage.sent == []
    stage.press(Qt.Key.Key_Return)
    assert stage.sent == [Prompt(text="/commit ")]


def test_escape_closes_the_list_and_a_whole_name_is_sent(stage: Stage) -> None:
    stage.type("/comp")
    stage.press(Qt.Key.Key_Escape)
    assert not stage.composer.commands.isVisible()
    stage.type("act")
    assert stage.composer.commands.isVisible()
    stage.press(Qt.Key.Key_Return)
    assert stage.sent == [Prompt(text="/compact")]


def test_a_slash_elsewhere_is_a_slash(stage: Stage) -> None:
    stage.type("see src/a")
    assert not stage.composer.commands.isVisible()
    stage.field.set_text("/compact now")
    stage.type(" please")
    assert not stage.composer.commands.isVisible()
    stage.composer.set_state(replace(IDLE, commands=()))
    stage.field.set_text("")
    stage.type("/")
    assert not stage.composer.commands.isVisible()


def test_the_list_stands_over_the_box_and_takes_no_focus(stage: Stage) -> None:
    stage.type("/")
    commands = stage.composer.commands
    assert commands.geometry().bottom() < stage.composer.geometry().top()
    assert stage.field.hasFocus()
    QTest.mouseClick(commands, Qt.MouseButton.LeftButton, pos=commands.rect().center())
    assert stage.field.text == "/commit "


# -- attachments -----------------------------------------------------------------------------------------------------


def test_pasted_text_is_only_ever_text(stage: Stage) -> None:
    data = QMimeData()
    data.setHtml("<h1>Big</h1><img src='http://example.org/x.png'>")
    data.setText("Big <b>x</b>")
    stage.paste(data)
    stage.press(Qt.Key.Key_Return)
    assert stage.sent == [Prompt(text="Big <b>x</b>")]


def test_html_alone_is_nothing_that_could_be_pasted(stage: Stage) -> None:
    data = QMimeData()
    data.setHtml("<h1>Big</h1>")
    stage.paste(data)
    assert "<" not in stage.field.text


@pytest.mark.parametrize("text", ["x" * (MOST_LINE + 1), "line\n" * (MOST_CHARS // 4)])
def test_a_text_that_would_stall_the_window_is_refused_with_a_reason(stage: Stage, text: str) -> None:
    stage.paste(text_data(text))
    assert stage.field.is_empty
    assert "too long" in stage.told[0]


def test_files_become_chips_and_go_with_the_prompt(stage: Stage, tmp_path: Path) -> None:
    stage.paste(file_data(str(tmp_path / "a.md"), str(tmp_path / "a.md"), str(tmp_path / "b <i>.png")))
    (first, second) = stage.composer.chips.chips()
    assert first.accessibleName() == "Attached file: a.md"
    assert second.accessibleName() == "Attached picture: b <i>.png"
    assert "<i>" not in second.toolTip()
    assert second.close_button.accessibleName() == "Remove b <i>.png"
    assert "<i>" not in second.close_button.toolTip()
    stage.press(Qt.Key.Key_Return)
    assert [one.path for one in stage.sent[0].attachments] == [str(tmp_path / "a.md"), str(tmp_path / "b <i>.png")]


def test_a_chip_goes_by_its_button_or_by_delete(stage: Stage) -> None:
    stage.composer.add([of_path("/x/one"), of_path("/x/two"), of_path("/x/three")])
    QTest.keyClick(stage.composer.chips.chips()[1], Qt.Key.Key_Delete)
    assert [one.name for one in stage.composer.written.attachments] == ["one", "three"]
    for chip in stage.composer.chips.chips():
        button = next(child for child in chip.findChildren(QWidget) if child.accessibleName().startswith("Remove"))
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert stage.composer.written == NOTHING
    assert stage.field.hasFocus()


def test_a_picture_from_the_clipboard_goes_by_its_bytes(stage: Stage) -> None:
    image = QImage(4, 3, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    data = QMimeData()
    data.setImageData(image)
    stage.paste(data)
    (one,) = stage.composer.written.attachments
    assert one.media_type == "image/png"
    assert QImage.fromData(one.data).width() == 4
    raw = QMimeData()
    raw.setData("image/png", as_png(image))
    raw.setImageData(image)
    (again,) = taken_from(raw) or [None]
    assert again is not None
    assert again.data == as_png(image), "what is a file already is not made anew"


def test_a_table_that_is_also_a_picture_is_pasted_as_text(stage: Stage) -> None:
    data = text_data("a\tb")
    data.setImageData(QImage(4, 3, QImage.Format.Format_RGB32))
    stage.paste(data)
    assert stage.field.text == "a\tb"
    assert not stage.composer.written.attachments


def test_pictures_are_refused_by_an_agent_that_takes_none(stage: Stage) -> None:
    stage.composer.set_state(replace(IDLE, takes_images=False))
    stage.composer.add([Attachment(name="p.png", media_type="image/png", data=b"x"), of_path("/a/b.md")])
    assert [one.name for one in stage.composer.written.attachments] == ["b.md"]
    assert stage.told == ["Claude Code takes no pictures."]
    stage.composer.set_state(replace(IDLE, phase=LivePhase.OFF, takes_images=False))
    stage.composer.add([of_path("/a/p.png")])
    assert len(stage.composer.written.attachments) == 2, "nobody has asked the agent yet"


def test_there_is_a_most_of_files(stage: Stage) -> None:
    stage.composer.add([of_path(f"/a/{n}") for n in range(MOST + 5)])
    assert len(stage.composer.written.attachments) == MOST
    assert stage.told == [f"At most {MOST} files go with one message."]


def test_dropped_files_are_taken_and_a_web_address_is_not(stage: Stage) -> None:
    composer = stage.composer
    where, copy = QPointF(20, 20), Qt.DropAction.CopyAction
    left, no = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    files, web = file_data("/a/b.md"), QMimeData()
    web.setUrls([QUrl("https://example.org/")])
    entering = QDragEnterEvent(where.toPoint(), copy, files, left, no)
    composer.dragEnterEvent(entering)
    assert entering.isAccepted()
    composer.dropEvent(QDropEvent(where, copy, files, left, no))
    assert [one.path for one in composer.written.attachments] == ["/a/b.md"]
    entering = QDragEnterEvent(where.toPoint(), copy, web, left, no)
    entering.setAccepted(False)
    composer.dragEnterEvent(entering)
    assert not entering.isAccepted()


def test_attach_asks_for_files_once(stage: Stage) -> None:
    stage.composer.attach()
    stage.composer.attach()
    (dialog,) = stage.page.findChildren(QFileDialog)
    dialog.filesSelected.emit(["/a/b.md", "/a/c.md"])
    assert [one.name for one in stage.composer.written.attachments] == ["b.md", "c.md"]
    dialog.close()


def test_an_attachment_alone_can_be_sent(stage: Stage) -> None:
    stage.composer.add([of_path("/a/b.md")])
    assert stage.composer.send_button.isEnabled()
    stage.composer.send_button.click()
    assert stage.sent == [Prompt(text="", attachments=(of_path("/a/b.md"),))]


# -- the queue -------------------------------------------------------------------------------------------------------


def queued(count: int) -> tuple[QueuedPrompt, ...]:
    return tuple(QueuedPrompt(f"q{n}", Prompt(text=f"message {n}\nwith two lines")) for n in range(count))


@pytest.fixture
def strip(qtbot: QtBot) -> QueueStrip:
    made = QueueStrip(ThemeHub("dark", still=True))
    qtbot.addWidget(made)
    made.resize(720, 200)
    return made


def test_five_wait_in_sight_and_the_rest_is_counted(strip: QueueStrip) -> None:
    strip.show_queue(queued(9))
    assert strip.isVisible()
    assert [row.accessibleName() for row in strip.rows][:2] == [
        "Queued message 1: message 0 with two lines",
        "Queued message 2: message 1 with two lines",
    ]
    assert strip.rest == "4 more"
    assert strip.height_for() == 5 * 32 + 24
    strip.show_queue(())
    assert not strip.isVisible()


def test_a_queued_prompt_is_edited_sent_or_removed(qtbot: QtBot, strip: QueueStrip) -> None:
    strip.show_queue(queued(2))
    row = strip.rows[1]
    for signal, key, held in (
        (strip.edit_requested, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier),
        (strip.send_requested, Qt.Key.Key_Return, CONTROL),
        (strip.remove_requested, Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier),
    ):
        with qtbot.waitSignal(signal) as asked:
            QTest.keyClick(row, key, held)
        assert asked.args == ["q1"]
    for button, signal in (
        (row.edit_button, strip.edit_requested),
        (row.send_button, strip.send_requested),
        (row.remove_button, strip.remove_requested),
    ):
        with qtbot.waitSignal(signal) as asked:
            button.click()
        assert asked.args == ["q1"]


def test_the_focus_goes_to_the_next_row_when_one_goes(qtbot: QtBot, strip: QueueStrip) -> None:
    strip.show_queue(queued(3))
    with qtbot.waitActive(strip):
        strip.show()
        strip.activateWindow()
    strip.rows[1].setFocus()
    left = queued(3)
    strip.show_queue((left[0], left[2]))
    assert strip.rows[1].hasFocus()
    with qtbot.waitSignal(strip.focus_left):
        strip.show_queue(())


def test_the_clipboard_is_not_touched_by_writing(stage: Stage) -> None:
    QGuiApplication.clipboard().setText("mine")
    stage.type("abc")
    stage.press(Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == "mine"


def test_fewer_rows_are_shown_where_there_is_less_room(strip: QueueStrip) -> None:
    strip.show_queue(queued(4))
    strip.set_most(2)
    assert [row.id for row in strip.rows] == ["q0", "q1"]
    assert strip.rest == "2 more"
    assert strip.height_for(2) == 2 * 32 + 24
    strip.set_most(9)
    assert strip.rest == ""
    assert len(strip.rows) == 4
