"""Comments of a review: said on lines, listed, changed, deleted, brought to their lines, sent as one message."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from tests.ui.review_stage import LAST, ONE, TWO, ReviewStage, open_review
from tests.ui.spin import run, settle, until
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Now
from vibekit_desktop.core.types.errors import CommentRefused
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, Side
from vibekit_desktop.ui.models.comments import CommentListModel

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[ReviewStage]:
    with open_review(qtbot) as found:
        yield found


async def say(stage: ReviewStage, text: str) -> Comment:
    """Comment on the current hunk by keys."""
    stage.page.pane.view.setFocus()
    stage.key(Qt.Key.Key_C)
    stage.page.comments.editor.field.setPlainText(text)
    before = len(stage.page.all_comments)
    stage.key(Qt.Key.Key_Return, CTRL)
    await until(lambda: len(stage.page.all_comments) == before + 1)
    await settle()
    return stage.page.all_comments[-1]


def test_a_comment_is_said_by_keys_and_stands_in_list_counts_and_gutter(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        made = await say(stage, "Why is this needed?")
        assert (made.path, made.side, made.text) == (ONE, Side.NEW, "Why is this needed?")
        assert made.first_line == made.last_line
        assert stage.page.comments.editor.isHidden()
        assert stage.page.pane.view.hasFocus()
        assert [entry.comments for entry in stage.page.model.entries] == [1, 0, 0, 0, 0]
        assert stage.page.bar.comments.isVisible()
        marks = stage.page.pane.view._painter.dress.comments
        assert marks

    run(story())


def test_a_refused_comment_keeps_its_words(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.page.pane.view.setFocus()
        stage.fake.reviews.raises["comment"] = CommentRefused(samples.CHAT, "too-many")
        stage.key(Qt.Key.Key_C)
        stage.page.comments.editor.field.setPlainText("words")
        stage.key(Qt.Key.Key_Return, CTRL)
        await until(lambda: bool(stage.notifier.shown))
        assert stage.page.comments.editor.field.toPlainText() == "words"
        assert not stage.page.comments.editor.isHidden()

    run(story())


def test_esc_leaves_the_field_before_the_review(qtbot: QtBot, stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        left: list[bool] = []
        stage.page.back_requested.connect(lambda: left.append(True))
        stage.key(Qt.Key.Key_C)
        await settle()
        stage.key(Qt.Key.Key_Escape)
        assert stage.page.comments.editor.isHidden()
        assert not left
        stage.key(Qt.Key.Key_Escape)
        assert left

    run(story())


def test_esc_keeps_what_was_written_for_the_next_lines(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        stage.key(Qt.Key.Key_C)
        stage.page.comments.editor.field.setPlainText("half a thou")
        stage.key(Qt.Key.Key_Escape)
        assert stage.page.comments.editor.isHidden()
        stage.page.next_hunk()
        stage.key(Qt.Key.Key_C)
        assert stage.page.comments.editor.field.toPlainText() == "half a thou"
        stage.page.comments.editor.cancel.click()
        stage.key(Qt.Key.Key_C)
        assert stage.page.comments.editor.field.toPlainText() == ""

    run(story())


def test_enter_on_a_comment_goes_to_its_file_and_lines(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        made = await say(stage, "Look here")
        stage.page.list.select(TWO)
        await stage.until_shown(TWO)
        stage.fake.reviews.places[made.id] = (40, 40)
        stage.page.comments.select(made.id)
        stage.page.comments.list.setFocus()
        stage.key(Qt.Key.Key_Return)
        await stage.until_shown(ONE)
        await until(lambda: stage.page.pane.view.chosen_lines() == (1, 40, 40))

    run(story())


def test_lines_that_are_gone_are_said_to_be(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        made = await say(stage, "Look here")
        stage.fake.reviews.places[made.id] = None
        stage.notes.read()
        await until(lambda: stage.page.comments.model.rows[0].is_gone)
        assert "lines are gone" in stage.page.comments.model.rows[0].name

    run(story())


def test_where_lines_are_is_not_known_of_other_sides_than_those_they_were_looked_for_in(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        await say(stage, "Why is this needed?")
        model = stage.page.comments.model
        assert model.rows[0].place is not None
        stage.page.list.select(TWO)
        await stage.until_shown(TWO)
        await settle()
        assert model.rows[0].place is not None
        stage.page.bar.old_picked.emit(BeforeTurn(2))
        assert model.rows[0].place is None
        await settle()
        assert model.rows[0].place is None
        stage.page.list.select(ONE)
        await stage.until_shown(ONE)
        await until(lambda: model.rows[0].place is not None)

    run(story())


def test_a_comment_is_changed_and_deleted_after_a_question(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        made = await say(stage, "First words")
        stage.page.comments.list.edit_requested.emit(made)
        stage.page.comments.editor.field.setPlainText("Better words")
        stage.key(Qt.Key.Key_Return, CTRL)
        await until(lambda: stage.page.all_comments[0].text == "Better words")
        await settle()
        stage.page.comments.select(made.id)
        stage.page.comments.list.setFocus()
        stage.key(Qt.Key.Key_Delete)
        question = await stage.until_asked()
        question.button("Delete comment").click()
        await until(lambda: not stage.page.all_comments)

    run(story())


def test_all_that_was_not_sent_goes_as_one_message(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        await say(stage, "One")
        await stage.open(LAST)
        await say(stage, "Two")
        assert stage.page.comments.send.text() == "Send 2 comments to the agent"
        stage.page.comments.send.click()
        await until(lambda: all(comment.sent_at for comment in stage.page.all_comments))
        assert len(stage.said) == 1
        assert "One" in stage.said[0][1]
        assert "Two" in stage.said[0][1]
        await settle()
        assert not stage.page.comments.send.isEnabled()

    run(story())


def test_a_message_that_nobody_took_is_not_sent(stage: ReviewStage) -> None:
    stage.takes = False

    async def story() -> None:
        await stage.open()
        await say(stage, "One")
        stage.page.comments.send.click()
        await until(lambda: bool(stage.said))
        await settle()
        assert not stage.page.all_comments[0].sent_at

    run(story())


def _comment(path: str, line: int) -> Comment:
    return Comment(
        id=f"{path}{line}", path=samples.path(path), side=Side.NEW, first_line=line, last_line=line, text="t", quote="q",
        point=Now(),
        sha=None, at=line, changed_at=line,
    )  # fmt: skip


def test_the_list_is_by_file_and_line_and_passes_qts_own_tests(qtmodeltester: ModelTester) -> None:
    model = CommentListModel()
    model.set_comments([_comment("b", 3), _comment("a", 9), _comment("a", 2)])
    assert [row.comment.id for row in model.rows] == ["a2", "a9", "b3"]
    model.set_places([PlacedComment(_comment("a", 2), 20, 20)])
    assert [row.comment.id for row in model.rows] == ["a9", "a2", "b3"]
    qtmodeltester.check(model)


def test_in_the_smallest_window_the_comments_stand_in_the_place_of_the_files(stage: ReviewStage) -> None:
    async def story() -> None:
        await stage.open()
        await say(stage, "Words")
        stage.key(Qt.Key.Key_C)
        await settle()
        for width in range(1300, 790, -20):  # as a person drags it
            stage.window.resize(width, 560)
            await settle(3)
        assert stage.window.width() == 800
        assert not stage.page.list.isVisible()
        assert stage.page.comments.isVisible()
        assert stage.page.pane.width() >= 320
        stage.page.toggle_comments()
        await settle()
        assert stage.page.list.isVisible()

    run(story())
