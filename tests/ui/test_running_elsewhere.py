"""A running turn beside the transcript: on top of the timeline, in the list of chats; and where agents are started."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QToolTip, QWidget
from pytestqt.qtbot import QtBot

from tests.ui import running_samples as running
from tests.ui import samples
from vibekit_desktop.core.types.agents import AgentInfo, AgentState, LivePhase, LiveState, Operation, Question
from vibekit_desktop.core.types.checkpoints import EntryKind
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.chat_list import ChatListModel, Mark
from vibekit_desktop.ui.models.timeline import TimelineModel
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind, Running
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button as PaintedButton
from vibekit_desktop.ui.views.first_run import FirstRun
from vibekit_desktop.ui.views.held_line import HeldLine
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.views.sidebar import Sidebar

NOW_RUNS = Running(running.TURN, running.BEGAN)
QUESTION = Question(
    id="q1",
    chat=samples.MAIN,
    turn=6,
    agent="Claude Code",
    operation=Operation.RUN,
    subject="rm -rf dist",
    asked_at=samples.NOW,
)


# The timeline's rows


@pytest.fixture
def rows(qtbot: QtBot) -> TimelineModel:
    model = TimelineModel(now_ms=lambda: samples.NOW)
    model.set_timeline(running.timeline(*running.changed()))
    return model


def test_a_running_turn_is_on_top_in_the_place_of_now(rows: TimelineModel) -> None:
    assert rows.rows[0].kind is RowKind.NOW
    rows.set_running(NOW_RUNS)
    top = rows.rows[:4]
    assert [row.kind for row in top] == [RowKind.TURN, RowKind.FILE, RowKind.FILE, RowKind.RESTORE]
    assert (top[0].title, top[0].running_since, top[0].coverage) == ("Turn 6", running.BEGAN, None)
    assert top[0].name == "Turn 6, running, Ship the plot bundle and check that it loads with a cold cache., 2 files changed"
    assert not any(row.kind is RowKind.NOW for row in rows.rows)
    rows.set_running(None)
    assert rows.rows[0].kind is RowKind.NOW


def test_a_running_turn_that_is_not_in_the_timeline_yet_is_on_top_as_well(qtbot: QtBot) -> None:
    model = TimelineModel(now_ms=lambda: samples.NOW)
    model.set_timeline(samples.timeline())
    model.set_running(NOW_RUNS)
    assert [row.title for row in model.rows[:3]] == ["Turn 6", "No files changed so far", "Restore to before this turn"]
    assert model.rows[3].title == "Turn 5"


def test_a_turn_that_begins_and_ends_changes_its_own_rows_alone(rows: TimelineModel) -> None:
    tester = QAbstractItemModelTester(rows, QAbstractItemModelTester.FailureReportingMode.Fatal)
    told: list[tuple[int, int]] = []
    rows.modelReset.connect(lambda: told.append((-1, -1)))
    rows.dataChanged.connect(lambda first, last: told.append((first.row(), last.row())))
    rows.set_running(NOW_RUNS)
    rows.set_timeline(running.timeline(*running.changed(), samples.change("web/a.ts", running.changed()[0].status, 1, 0)))
    rows.set_running(None)
    assert set(told) <= {(0, 0), (1, 1)}
    tester.deleteLater()


def test_a_hold_changes_no_row_and_everything_that_would_change_a_file(rows: TimelineModel) -> None:
    before = rows.rows
    rows.set_held("Wait")
    assert rows.rows == before
    for row in rows.rows:
        for button in row.buttons:
            waits = button in (Button.UNDO, Button.RESTORE, Button.REDO, Button.TAKE_BACK)
            assert rows.is_off(row, button) == waits or button in row.off
            assert bool(rows.why_off(row, button)) == rows.is_off(row, button)


# The inspector


@pytest.fixture
def inspector(qtbot: QtBot) -> Inspector:
    made = Inspector(ThemeHub("light", still=True), now_ms=lambda: samples.NOW)
    qtbot.addWidget(made)
    made.resize(360, 900)
    made.show_timeline(running.timeline(*running.changed()))
    made.show()
    return made


def line(inspector: Inspector) -> HeldLine:
    found = inspector.findChild(HeldLine)
    assert isinstance(found, HeldLine)
    return found


def row_of(inspector: Inspector, kind: RowKind) -> int:
    return next(place for place, row in enumerate(inspector.timeline_model.rows) if row.kind is kind)


def test_while_a_turn_runs_a_line_on_top_says_what_waits(inspector: Inspector) -> None:
    assert not line(inspector).isVisible()
    inspector.set_live(running.RUNNING)
    assert line(inspector).isVisible()
    assert line(inspector).text == "Undo and Restore wait until turn 6 ends."
    inspector.set_live(running.IDLE)
    assert not line(inspector).isVisible()
    inspector.set_live(replace(running.RUNNING, phase=LivePhase.STOPPING))
    assert line(inspector).isVisible()
    inspector.set_live(None)
    assert not line(inspector).isVisible()


def test_another_chats_turn_is_not_on_top(inspector: Inspector) -> None:
    inspector.set_live(replace(running.RUNNING, chat=samples.BRANCH))
    assert inspector.timeline_model.rows[0].kind is RowKind.NOW
    assert not line(inspector).isVisible()


def test_what_waits_for_somebody_else_says_that(inspector: Inspector) -> None:
    inspector.set_held("A turn of another chat runs here.")
    assert line(inspector).text == "A turn of another chat runs here."
    inspector.set_live(running.RUNNING)
    assert line(inspector).text == "Undo and Restore wait until turn 6 ends."
    inspector.set_live(running.IDLE)
    assert line(inspector).text == "A turn of another chat runs here."
    inspector.set_held("")
    assert not line(inspector).isVisible()


def test_buttons_that_wait_do_nothing_and_diff_works(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.set_live(running.RUNNING)
    view, file = inspector.timeline, row_of(inspector, RowKind.FILE)
    restore = row_of(inspector, RowKind.RESTORE)
    with qtbot.assertNotEmitted(inspector.undo_file_requested), qtbot.assertNotEmitted(inspector.restore_requested):
        for row, button in ((file, Button.UNDO), (restore, Button.RESTORE)):
            qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.button_rect(row, button).center())
    with qtbot.waitSignal(inspector.diff_requested):
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.button_rect(file, Button.DIFF).center())
    inspector.set_live(running.IDLE)
    file = row_of(inspector, RowKind.FILE)
    with qtbot.waitSignal(inspector.undo_file_requested):
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.button_rect(file, Button.UNDO).center())


def test_a_button_that_waits_says_until_when(qtbot: QtBot, inspector: Inspector, monkeypatch: pytest.MonkeyPatch) -> None:
    inspector.set_live(running.RUNNING)
    view = inspector.timeline
    said: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _widget: said.append(text))
    place = view.button_rect(row_of(inspector, RowKind.FILE), Button.UNDO).center()
    view.viewportEvent(QHelpEvent(QEvent.Type.ToolTip, place, view.viewport().mapToGlobal(place)))
    assert said == ["Wait until turn 6 ends, or stop it"]


def test_the_first_turn_of_a_chat_is_shown_while_it_runs(qtbot: QtBot, inspector: Inspector) -> None:
    entries = [entry for entry in samples.timeline().entries if entry.kind is EntryKind.NOW]
    inspector.show_timeline(replace(samples.timeline(), entries=(replace(entries[0], files=(), turn=0),)))
    assert not inspector.timeline.isVisible()
    inspector.set_live(replace(running.RUNNING, turn=1))
    assert inspector.timeline.isVisible()
    assert inspector.timeline_model.rows[0].title == "Turn 1"
    inspector.set_live(running.IDLE)
    assert not inspector.timeline.isVisible()


def test_seconds_and_arc_are_painted_again_while_it_runs_and_not_after(qtbot: QtBot) -> None:
    made = Inspector(ThemeHub("dark"), now_ms=lambda: samples.NOW)
    qtbot.addWidget(made)
    made.resize(360, 700)
    made.show_timeline(running.timeline(*running.changed()))
    made.set_live(running.RUNNING)
    assert beats_on(made, made.timeline.pulse)
    made.set_live(running.IDLE)
    assert not beats_on(made, made.timeline.pulse)


def beats_on(widget: QWidget, pulse: Pulse) -> bool:
    for _ in range(2):
        widget.grab()
        pulse.beat()
        pulse.tick()
    return pulse.beats


# The list of chats


@pytest.fixture
def chats(qtbot: QtBot) -> ChatListModel:
    model = ChatListModel(lambda: samples.NOW)
    model.load(samples.headers())
    return model


def spoken(model: ChatListModel, chat: ChatId) -> str:
    return str(model.data(model.index(model.row_of(chat)), Qt.ItemDataRole.AccessibleTextRole))


def test_a_chat_that_waits_for_an_answer_says_so_before_that_it_runs(chats: ChatListModel) -> None:
    tester = QAbstractItemModelTester(chats, QAbstractItemModelTester.FailureReportingMode.Fatal)
    told: list[int] = []
    chats.dataChanged.connect(lambda first, last: told.append(first.row()) if first == last else told.append(-1))
    chats.set_live(running.RUNNING)
    assert spoken(chats, samples.MAIN).endswith(", running")
    chats.set_live(replace(running.RUNNING, questions=(QUESTION,)))
    assert spoken(chats, samples.MAIN).endswith(", needs you")
    chats.set_live(replace(running.RUNNING, questions=(QUESTION,), running_commands=("c",)))
    chats.set_live(running.IDLE)
    assert spoken(chats, samples.MAIN).endswith("90 deleted")
    assert told == [chats.row_of(samples.MAIN)] * 3
    tester.deleteLater()


def test_what_a_chat_does_is_remembered_until_it_is_in_the_list_and_when_it_changes(qtbot: QtBot) -> None:
    model = ChatListModel(lambda: samples.NOW)
    model.set_live(running.RUNNING)
    model.load(samples.headers())
    assert spoken(model, samples.MAIN).endswith(", running")
    model.put(replace(samples.headers()[0], name="Another name", updated_at=samples.NOW))
    model.flush()
    row = model.data(model.index(model.row_of(samples.MAIN)), Qt.ItemDataRole.UserRole + 1)
    assert getattr(row, "mark", None) is Mark.RUNNING


@pytest.mark.parametrize("phase", list(LivePhase))
def test_only_a_turn_that_runs_is_told(chats: ChatListModel, phase: LivePhase) -> None:
    chats.set_live(LiveState(chat=samples.MAIN, phase=phase, turn=0))
    assert not spoken(chats, samples.MAIN).endswith("running")


def painted(widget: QWidget, color: QColor) -> bool:
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    wanted = color.rgb() & 0xFFFFFF
    return any(image.pixel(x, y) & 0xFFFFFF == wanted for x in range(40) for y in range(image.height()))


def test_the_list_paints_the_diamond_and_the_arc_and_beats_only_for_the_arc(qtbot: QtBot, chats: ChatListModel) -> None:
    hub = ThemeHub("light")
    sidebar = Sidebar(hub, chats)
    qtbot.addWidget(sidebar)
    sidebar.resize(280, 800)
    sidebar.show()
    assert not painted(sidebar.list, hub.theme.color("warning.fill"))
    chats.set_live(replace(running.RUNNING, questions=(QUESTION,)))
    assert painted(sidebar.list, hub.theme.color("warning.fill"))
    assert not beats_on(sidebar.list, sidebar.list.pulse)
    chats.set_live(running.RUNNING)
    assert not painted(sidebar.list, hub.theme.color("warning.fill"))
    assert beats_on(sidebar.list, sidebar.list.pulse)
    chats.set_live(running.IDLE)
    assert not beats_on(sidebar.list, sidebar.list.pulse)


def test_new_chat_is_asked_for_at_the_foot_of_the_list(qtbot: QtBot, chats: ChatListModel) -> None:
    sidebar = Sidebar(ThemeHub("light", still=True), chats)
    qtbot.addWidget(sidebar)
    sidebar.resize(280, 800)
    with qtbot.waitSignal(sidebar.new_chat_requested):
        qtbot.mouseClick(sidebar.new_chat, Qt.MouseButton.LeftButton)
    for width in (220, 420):
        sidebar.resize(width, 800)
        assert not sidebar.grab().isNull()


# Where agents are started


def agent(name: str, state: AgentState, **more: str) -> AgentInfo:
    return AgentInfo(id=name.lower(), name=name, state=state, **more)


def start_buttons(page: FirstRun) -> list[str]:
    names = ("Start ", "Sign in ", "How to ")
    shown = [button for button in page.findChildren(PaintedButton) if button.isVisibleTo(page)]
    return [button.accessibleName() for button in shown if button.accessibleName().startswith(names)]


@pytest.fixture
def page(qtbot: QtBot) -> FirstRun:
    made = FirstRun(ThemeHub("light", still=True))
    qtbot.addWidget(made)
    made.resize(1160, 900)
    return made


def test_agents_that_are_here_come_first_and_a_row_is_filled_with_others(page: FirstRun) -> None:
    others = [agent(f"Other{n}", AgentState.NOT_INSTALLED) for n in range(9)]
    page.show_agents([*others, agent("Gemini", AgentState.NOT_SIGNED_IN), agent("Claude", AgentState.READY)])
    assert start_buttons(page) == ["Start Claude", "Sign in to Gemini", "How to install Other0"]
    page.show_agents([agent(f"Here{n}", AgentState.FOUND) for n in range(20)])
    assert len(start_buttons(page)) == 6
    page.show_agents(())
    assert start_buttons(page) == []


def test_an_agent_is_chosen_by_its_id(qtbot: QtBot, page: FirstRun) -> None:
    page.show_agents(
        [agent("Claude", AgentState.READY), agent("Codex", AgentState.FAILED, problem="It stopped with status 3.")]
    )
    button = next(one for one in page.findChildren(PaintedButton) if one.accessibleName() == "Start Codex")
    with qtbot.waitSignal(page.agent_chosen) as chosen:
        button.click()
    assert chosen.args == ["codex"]
    assert button.parentWidget().toolTip() == "It stopped with status 3."


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_agents_can_be_painted_wide_and_narrow(qtbot: QtBot, mode: str) -> None:
    made = FirstRun(ThemeHub(mode, still=True))
    qtbot.addWidget(made)
    made.show_agents([agent(f"A name that is long {n}", state) for n, state in enumerate(AgentState)])
    for size in ((1160, 800), (480, 500)):
        made.resize(*size)
        assert not made.grab().isNull()


def test_hovering_a_running_turn_breaks_nothing(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.set_live(running.RUNNING)
    view = inspector.timeline
    for y in range(0, 400, 9):
        view.aim_at(QPointF(QPoint(100, y)))
    assert not inspector.grab().isNull()
