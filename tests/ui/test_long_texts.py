"""Texts of any length in the transcript: all of them can be reached, in steps whose cost has a bound."""

import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import Block, Message
from vibekit_desktop.ui.long_text import MAX_LINE
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_rows import Kind
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views import text_block, text_stack
from vibekit_desktop.ui.views.text_rows import FoldedView, UserView
from vibekit_desktop.ui.views.transcript import TranscriptView

LONG = "".join(f"word{n} " for n in range(40_000)).strip()
"""One line, longer than is shown at first."""


def shown(qtbot: QtBot, *messages: Message) -> TranscriptView:
    model = TranscriptModel(lambda: samples.NOW)
    model.set_view(samples.chat_view(messages))
    view = TranscriptView(ThemeHub("light", still=True), model)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    view.grab()
    return view


def row_of(view: TranscriptView, kind: Kind) -> int:
    return next(row for row in range(view.count) if view._model.kind(row) == kind)


def more(view: TranscriptView, row: int) -> bool:
    """Press what shows more; False where all is shown."""
    hit = next((one for one in view.lay_out(row).hits if one.action == "fold" and "characters" in one.name), None)
    if hit is not None:
        view.do(hit)
    return hit is not None


def test_of_a_message_of_one_long_line_every_character_can_be_shown_in_steps(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    class Counted(text_block.TextLayout):
        def __init__(self, theme, text, width, **how) -> None:  # type: ignore[no-untyped-def]  # as the one it counts
            made.append(len(text))
            super().__init__(theme, text, width, **how)

    monkeypatch.setattr(text_stack, "TextLayout", Counted)
    view = shown(qtbot, Message(id="u", role="user", ts=samples.NOW, content=LONG, turn=1))
    row = row_of(view, Kind.USER)
    made.clear()  # at widths that it had before it was shown
    steps = 0
    while True:
        block = view.lay_out(row)
        assert isinstance(block, UserView)
        assert LONG.startswith(block.text.replace("\n", ""))
        assert len(made) <= text_stack.AT_ONCE, "a step costs more than its own slices"
        assert all(size <= MAX_LINE for size in made)
        view.grab()
        made.clear()
        if not more(view, row):
            break
        steps += 1
    assert steps == 5
    assert block.text.replace("\n", "") == LONG
    assert block.copy_text == LONG
    last = len(block.text) - 1
    assert block.index_at(QPointF(block.box_of(last).center())) == last
    assert block.text[slice(*block.word_at(last - 2))] == "word39999"


def test_of_long_thinking_and_of_a_long_answer_nothing_is_left_out(qtbot: QtBot) -> None:
    blocks = (Block(type="thinking", thinking=LONG), Block(text=f"Before.\n\n{LONG[:30_000]}"))
    view = shown(qtbot, Message(id="a", role="assistant", ts=samples.NOW, content="x", blocks=blocks))
    row = row_of(view, Kind.THINKING)
    view.toggle(view.name_of(row))
    while more(view, row):
        pass
    block = view.lay_out(row)
    assert isinstance(block, FoldedView)
    assert block.text.replace("\n", "") == LONG
    answers = [row for row in range(view.count) if view._model.kind(row) == Kind.ANSWER]
    words = "".join(view.lay_out(row).text for row in answers)
    assert words.replace("\n", "") == f"Before.{LONG[:30_000]}".replace("\n", "")


def test_a_message_of_usual_length_has_no_such_button(qtbot: QtBot) -> None:
    view = shown(qtbot, Message(id="u", role="user", ts=samples.NOW, content="word " * 1_000, turn=1))
    assert view.lay_out(row_of(view, Kind.USER)).hits == ()
