"""What was laid out is taken over where rows before it come or go, and what is far away is gone to at once."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import Block, Message
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.answer import AnswerView
from vibekit_desktop.ui.views.block_view import BlockView
from vibekit_desktop.ui.views.transcript import TranscriptView

PARTS = "\n\n".join(("Prose with `code` in it. " * 20, "```python\nrow = 1\n```", "And some more of it. " * 20))


class Watched(TranscriptView):
    """The view, counting the parts of answers that it lays out and does not take over."""

    fresh = 0

    def make_block(self, row: int) -> BlockView:
        made = super().make_block(row)
        self.fresh += made.fresh if isinstance(made, AnswerView) else 0
        return made


def ask(turn: int) -> Message:
    return Message(id=f"u{turn}", role="user", ts=turn * 60_000, content="Go on.", turn=turn)


def answer(name: str, text: str = PARTS) -> Message:
    return Message(id=name, role="assistant", ts=61_000, blocks=(Block(type="text", text=text),))


@pytest.fixture
def model(qtbot: QtBot) -> TranscriptModel:
    return TranscriptModel(lambda: samples.NOW)


@pytest.fixture
def view(qtbot: QtBot, model: TranscriptModel) -> Watched:
    made = Watched(ThemeHub("light", still=True), model)
    qtbot.addWidget(made)
    made.resize(800, 3_000)
    made.show()
    return made


def test_an_answer_that_ends_is_not_laid_out_again_where_a_footer_went(view: Watched, model: TranscriptModel) -> None:
    model.set_view(samples.chat_view((ask(1), answer("a1"))))
    footer = model.rowCount() - 1
    model.stream(samples.MAIN, 2, answer("a2"))
    view.grab()
    kinds = [model.kind(row) for row in range(model.rowCount())]
    view.fresh = 0
    model.append(samples.MAIN, answer("a2"))
    view.grab()
    assert [model.kind(row) for row in range(footer, model.rowCount())] != kinds[footer:], "the footer is below the second now"
    assert view.fresh == 0


def test_another_text_under_the_same_name_is_laid_out(view: Watched, model: TranscriptModel) -> None:
    model.set_view(samples.chat_view((ask(1), answer("a1"))))
    model.stream(samples.MAIN, 1, answer("a2"))
    view.grab()
    view.fresh = 0
    model.append(samples.MAIN, answer("a2", "Something else."))
    view.grab()
    assert view.fresh == 1
    last = max(row for row, shown in view.views.items() if isinstance(shown, AnswerView))
    shown = view.views[last]
    assert isinstance(shown, AnswerView)
    assert shown.text == "Something else."


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_Up])
def test_what_is_chosen_far_away_goes_on_there(qtbot: QtBot, view: Watched, model: TranscriptModel, key: Qt.Key) -> None:
    many = [one for turn in range(1, 400) for one in (ask(turn), answer(f"a{turn}"))]
    model.set_view(samples.chat_view(tuple(many)))
    view.resize(800, 600)
    row = 600
    view.scroll_to_row(row)
    view.setFocus()
    view.select_nothing()
    for _ in range(2):
        qtbot.keyClick(view, key, Qt.KeyboardModifier.ShiftModifier)
    for far in (0, view.count - 1):
        view.scroll_to_row(far)
        view.fresh = 0
        qtbot.keyClick(view, key, Qt.KeyboardModifier.ShiftModifier)
        assert row - 20 < view.top_row < row + 20, "the end that moves is in sight"
        assert view.fresh < 40, "what lies between is not laid out"
