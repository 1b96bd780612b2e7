"""The transcript view: few blocks laid out, the anchor holds, everything painted can be pressed and reached by keyboard."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_rows import Kind
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.chat_header import ChatHeader
from vibekit_desktop.ui.views.chat_page import ChatPage
from vibekit_desktop.ui.views.heights import Heights
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.transcript import TranscriptView


@pytest.fixture
def hub(qtbot: QtBot) -> ThemeHub:
    return ThemeHub("light", still=True)


@pytest.fixture
def model(hub: ThemeHub) -> TranscriptModel:
    made = TranscriptModel(lambda: samples.NOW)
    made.set_view(samples.chat_view())
    made.set_timeline(samples.timeline())
    return made


@pytest.fixture
def view(qtbot: QtBot, hub: ThemeHub, model: TranscriptModel) -> TranscriptView:
    made = TranscriptView(hub, model)
    qtbot.addWidget(made)
    made.resize(800, 600)
    made.show()
    return made


def press(qtbot: QtBot, view: TranscriptView, action: str, text: str = "") -> None:
    """Click the first place on the screen that does ``action``."""
    for row, block in sorted(view.views.items()):
        for hit in block.hits:
            if hit.action == action and (not text or hit.text == text):
                top = view.row_top(row) + view.gap(row)
                place = hit.box.center().toPoint() + QPoint(view.column_left(), top)
                if view.viewport().rect().contains(place):
                    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
                    return
    raise AssertionError(f"nothing does {action}")


def many(count: int) -> tuple[Message, ...]:
    made = []
    for n in range(count):
        text = "A paragraph of some length that wraps. " * (1 + n * 7 % 13)
        made.append(
            Message(id=f"m{n}", role="user" if n % 2 == 0 else "assistant", content=text, turn=n // 2 + 1 if n % 2 == 0 else 0)
        )
    return tuple(made)


def test_a_chat_opens_at_its_end(view: TranscriptView) -> None:
    assert view.is_at_end


def test_only_what_is_on_the_screen_is_laid_out(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(many(20_000)))
    view.grab()
    assert view.laid_out < 60
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    view.grab()
    assert view.laid_out < 180


def test_scrolling_up_never_makes_the_text_jump(view: TranscriptView, model: TranscriptModel) -> None:
    """Heights above are guesses; correcting them must not move what is on the screen."""
    model.set_view(None)
    model.set_view(samples.chat_view(many(400)))
    view.grab()
    for _ in range(60):
        row, before = view.top_row, view.row_top(view.top_row)
        view.scroll_by(-37)
        assert view.row_top(row) == before + 37
        view.grab()
        assert view.row_top(row) == before + 37


def test_the_scroll_bar_reaches_both_ends(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(many(300)))
    bar = view.verticalScrollBar()
    bar.setValue(0)
    assert (view.top_row, view.row_top(0)) == (0, 0)
    bar.setValue(bar.maximum())
    view.grab()
    last = view.count - 1
    assert view.row_top(last) + view.heights[last] <= view.viewport().height()


def test_another_width_keeps_the_block_at_the_top(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(many(300)))
    view.scroll_to_row(100)
    view.resize(560, 600)
    assert view.top_row == 100
    view.resize(1000, 700)
    assert view.top_row == 100


def test_growing_stays_at_the_end_only_if_it_was_there(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(many(100)))
    model.set_view(samples.chat_view(many(110)))
    assert view.is_at_end
    view.scroll_to_row(10)
    model.set_view(samples.chat_view(many(120)))
    assert view.top_row == 10


def test_a_short_chat_stands_at_the_top(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(samples.messages()[:2]))
    assert view.row_top(0) == 0
    assert view.verticalScrollBar().maximum() == 0


def test_the_buttons_ask_for_what_they_say(qtbot: QtBot, view: TranscriptView) -> None:
    view.grab()
    with qtbot.waitSignal(view.diff_requested) as asked:
        press(qtbot, view, "diff", "docs/export.md")
    assert asked.args == ["docs/export.md", 5]
    with qtbot.waitSignal(view.undo_requested) as asked:
        press(qtbot, view, "undo", str(samples.WRITER))
    assert asked.args == [samples.WRITER, 5]
    view.show_turn(5)
    with qtbot.waitSignal(view.restore_requested) as asked:
        press(qtbot, view, "restore")
    assert asked.args == [5]
    view.scroll_to_end()
    with qtbot.waitSignal(view.review_requested) as asked:
        press(qtbot, view, "review")


def test_without_the_workspace_nothing_offers_to_change_it(view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(replace(samples.chat_view(), workspace_found=False))
    model.set_timeline(samples.timeline())
    view.resize(800, 4000)
    view.grab()
    actions = {hit.action for block in view.views.values() for hit in block.hits}
    assert "diff" in actions
    assert not actions & {"undo", "restore"}


def test_a_card_opens_in_place(qtbot: QtBot, view: TranscriptView) -> None:
    view.grab()
    row = next(row for row in range(view.count) if view._model.kind(row) == Kind.CARDS and row > 10)
    before = view.lay_out(row).height
    press(qtbot, view, "card", "call-54")
    assert view.lay_out(row).height > before
    press(qtbot, view, "card", "call-54")
    assert view.lay_out(row).height == before


def test_copy_puts_the_code_on_the_clipboard_as_it_was(qtbot: QtBot, view: TranscriptView) -> None:
    view.grab()
    with qtbot.waitSignal(view.copied):
        press(qtbot, view, "copy")
    assert QGuiApplication.clipboard().text().startswith("with CsvWriter(path) as out:\n    for row")


def test_the_line_of_a_branch_opens_it(qtbot: QtBot, view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(samples.chat_view(samples.messages()[:4], removed_turns=((3, 5, samples.BRANCH),)))
    view.scroll_to_end()
    with qtbot.waitSignal(view.open_chat_requested) as asked:
        press(qtbot, view, "chat")
    assert asked.args == [samples.BRANCH]


def test_code_asks_for_its_colours_once_and_takes_them(qtbot: QtBot, view: TranscriptView) -> None:
    view.set_colours("nothing", None)
    asked: list[tuple[str, str, tuple[str, ...]]] = []
    view.colours_wanted.connect(lambda key, path, lines: asked.append((key, path, lines)))
    view._reset()
    qtbot.waitUntil(lambda: bool(asked))
    key, path, lines = asked[0]
    assert (path, len(lines)) == ("x.py", 3)
    view.set_colours(key, StyleRuns(offsets=(0, 2, 2, 2), starts=(0, 4), kinds=bytes([1, 0])))
    view.grab()
    view.grab()
    assert len(asked) == 1


def test_the_keyboard_reaches_every_button(qtbot: QtBot, view: TranscriptView, model: TranscriptModel) -> None:
    row = model.row_of_turn(5)
    view.show_turn(5)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.accessibleDescription() == "Restore to before turn 5"
    with qtbot.waitSignal(view.restore_requested):
        qtbot.keyClick(view, Qt.Key.Key_Return)
    for _ in range(4):
        qtbot.keyClick(view, Qt.Key.Key_Escape)
        qtbot.keyClick(view, Qt.Key.Key_Down)
    reached = set()
    for _ in range(20):
        qtbot.keyClick(view, Qt.Key.Key_Right)
        reached.add(view.accessibleDescription())
    assert {hit.name for hit in view.lay_out(row + 4).hits} <= reached
    assert "Undo what turn 5 did to docs/export.md" in reached


def test_alt_and_the_arrows_walk_through_the_turns(qtbot: QtBot, view: TranscriptView, model: TranscriptModel) -> None:
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.top_row == 0
    for turn in (2, 3):
        qtbot.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        assert view._current == model.row_of_turn(turn)
    qtbot.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert view._current == model.row_of_turn(2)
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.is_at_end


def test_page_keys_move_by_a_page(qtbot: QtBot, view: TranscriptView, model: TranscriptModel) -> None:
    model.set_view(None)
    model.set_view(samples.chat_view(many(200)))
    before = view.verticalScrollBar().value()
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert view.verticalScrollBar().value() < before
    assert not view.is_at_end
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert view.is_at_end


def test_control_c_copies_the_block_of_the_keyboard(qtbot: QtBot, view: TranscriptView) -> None:
    view.show_turn(5)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    with qtbot.waitSignal(view.copied):
        qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("Run the formatter")


def test_the_wheel_moves_the_view_and_sideways_moves_wide_code(
    qtbot: QtBot, view: TranscriptView, model: TranscriptModel
) -> None:
    wide = "```sh\n" + "x" * 400 + "\n```"
    model.set_view(None)
    model.set_view(samples.chat_view((Message(id="a", role="assistant", content=wide),)))
    view.grab()
    place = QPointF(view.column_left() + 50, 60)

    def wheel(x: int, y: int) -> None:
        QGuiApplication.sendEvent(
            view.viewport(),
            QWheelEvent(
                place,
                view.viewport().mapToGlobal(place),
                QPoint(),
                QPoint(x, y),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            ),
        )

    wheel(-240, 0)
    assert view._shifts == {"4.0.-1.-1:0": 120}
    model.set_view(None)
    model.set_view(samples.chat_view(many(100)))
    before = view.verticalScrollBar().value()
    wheel(0, 120)
    assert view.verticalScrollBar().value() < before


def test_a_block_offers_what_it_can_do_in_a_menu(view: TranscriptView, model: TranscriptModel) -> None:
    texts = [action.text() for action in view.block_menu(model.row_of_turn(5)).actions()]
    assert texts == ["Restore to before this turn…", "Branch from here"]
    texts = [action.text() for action in view.block_menu(model.row_of_turn(5) + 1).actions()]
    assert texts == ["Copy", "Edit in the composer"]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("zoom", [0.8, 1.0, 2.0])
def test_every_block_can_be_painted(qtbot: QtBot, mode: str, zoom: float) -> None:
    hub = ThemeHub(mode, zoom=zoom, still=True)
    model = TranscriptModel(lambda: samples.NOW)
    events = (Message(id="e", role="event", event_kind="compacted", content="Summary"),)
    model.set_view(samples.chat_view(samples.messages() + events, removed_turns=((6, 7, samples.BRANCH),)))
    model.set_timeline(samples.timeline())
    view = TranscriptView(hub, model)
    qtbot.addWidget(view)
    view.resize(800, 4000)
    view._opened |= {"call-50", "call-54", "call-55", "reads:call-51"}
    view.lay_out_anew()
    assert not view.grab().isNull()
    hub.set_mode("light" if mode == "dark" else "dark")
    assert not view.grab().isNull()


def test_at_another_width_what_is_in_sight_is_laid_out_and_the_rest_guessed_in_slices(qtbot: QtBot, hub: ThemeHub) -> None:
    model = TranscriptModel(lambda: samples.NOW)
    told = tuple(Message(id=f"m{n}", role="user", content=f"{n} and some words " * 8, turn=n) for n in range(1, 30_001))
    model.set_view(samples.chat_view(told))
    view = TranscriptView(hub, model)
    qtbot.addWidget(view)
    view.resize(900, 600)
    view.show()
    view.scroll_to_row(view.count // 2)
    wide = view.heights.total
    top, shown = view.top_row, set(view.views)
    view.resize(420, 600)
    assert view.top_row == top
    assert view.views
    assert len(view.views) <= len(shown) + 3, "only what is in sight is laid out"
    assert view._guessing.busy
    model.append(samples.MAIN, Message(id="last", role="event", event_kind="interrupted"))  # while it goes on
    qtbot.waitUntil(lambda: not view._guessing.busy)
    assert view.heights.total > 1.1 * wide
    assert len(view.heights) == view.count == model.rowCount()
    assert view.verticalScrollBar().maximum() == view.heights.total + 14 - view.viewport().height()
    assert all(view.heights[row] == view.gap(row) + block.height for row, block in view.views.items())
    anew = view.guess_heights()
    assert all(view.heights[row] == anew[row] for row in range(view.count) if row not in view.views)


def test_a_link_is_reported_and_never_followed(qtbot: QtBot, hub: ThemeHub) -> None:
    model = TranscriptModel(lambda: samples.NOW)
    page = ChatPage(hub, model)
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.show()
    text = "See [the guide](https://example.org/guide)."
    page.show_view(samples.chat_view((Message(id="a", role="assistant", content=text),)), shown_path="~/code/tidepool")
    page.grab()
    with qtbot.waitSignal(page.transcript.link_requested) as told:
        press(qtbot, page.transcript, "link")
    assert told.args == ["https://example.org/guide"]


def test_the_page_says_where_the_chat_comes_from_and_what_is_wrong(qtbot: QtBot, hub: ThemeHub) -> None:
    page = ChatPage(hub, TranscriptModel(lambda: samples.NOW))
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.show()
    view = samples.chat_view()
    page.show_view(view, shown_path="~/code/tidepool")
    assert page.foot.accessibleName() == "This chat was made with Claude Code. It is shown here as it was recorded."
    assert page.banner.isHidden()
    page.show_view(replace(view, workspace_found=False), shown_path="~/code/tidepool")
    assert "not found" in page.banner.accessibleName()
    assert page.banner.isVisible()


def test_the_header_gives_up_its_parts_in_order(qtbot: QtBot, hub: ThemeHub) -> None:
    window = MainWindow(hub)
    qtbot.addWidget(window)
    page = ChatPage(hub, TranscriptModel(lambda: samples.NOW))
    page.follow(window)
    window.install_page("transcript", page)
    window.show_page("transcript")
    window.resize(1440, 900)
    window.show()
    page.show_view(samples.chat_view(), shown_path="~/code/tidepool")
    header = page.header
    header.set_changed(6)
    assert header.review.isVisible()
    assert header.inspector.isVisible()
    assert header.review.text() == "Review changes"
    window.resize(1000, 700)
    assert header.review.text() == "Review"
    assert header.timeline.isVisible()
    assert not header.inspector.isVisible()
    with qtbot.waitSignal(header.inspector_toggled):
        header.timeline.click()
    header.set_changed(0)
    assert header.review.isHidden()


@pytest.mark.parametrize(
    "path", ["~/a", "~/tidewatch", "~/code/tidepool", "/home/somebody/projects/a/long/way/down/to/tidepool"]
)
def test_the_header_shows_a_path_of_any_length(qtbot: QtBot, hub: ThemeHub, path: str) -> None:
    header = ChatHeader(hub)
    qtbot.addWidget(header)
    header.resize(800, 56)
    header.show()
    header.set_chat("Keep empty rows", "Claude Code", "Sonnet", path, path)
    (label,) = (child for child in header.findChildren(QAbstractButton) if child.text() == path)
    assert label.isVisible()
    header.resize(200, 56)
    assert not label.isVisible(), "it goes first"


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.data())
def test_heights_agree_with_plain_sums(heights: list[int], data: st.DataObject) -> None:
    tree = Heights(heights)
    for _ in range(5):
        row = data.draw(st.integers(0, len(heights) - 1))
        heights[row] = data.draw(st.integers(1, 90))
        tree.set(row, heights[row])
    assert tree.total == sum(heights)
    for row in range(len(heights)):
        assert tree.top(row) == sum(heights[:row])
    y = data.draw(st.integers(0, sum(heights) + 10))
    found = tree.row_at(y)
    assert found == len(heights) - 1 or sum(heights[:found]) <= y < sum(heights[: found + 1])
