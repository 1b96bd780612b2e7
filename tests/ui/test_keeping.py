"""A chat of a program that deletes its chats says so once, and that it is kept here; all of them can be kept."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tests.ui import samples
from tests.ui.live_stage import MAIN, Program
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.types.chats import ChatView
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.sources import Cleanup, FailedImport, ImportReport, SourceSummary
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.operations.keeping import explanation, outcome
from vibekit_desktop.ui.views.controls import Button

TEXT = "Claude Code deletes its chats after 30 days. This one is kept here."


def source(days: int = 30) -> SourceSummary:
    return SourceSummary(
        name="claude-code",
        label="Claude Code",
        root="/home/ada/.claude/projects",
        sessions=38,
        folders=6,
        newest_at=1,
        cleanup=Cleanup(days, "cleanupPeriodDays"),
    )


def chat(name: str = "claude-code") -> ChatView:
    view = samples.chat_view()
    return replace(view, header=replace(view.header, source=name))


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        made.fake.histories.found = [source()]
        yield made
        made.conductor.close()
        bury(made.window)


def show(program: Program, view: ChatView) -> str:
    """The banner of a chat that is opened."""
    program.fake.chats.views[MAIN] = view
    program.conductor.open.reload()
    program.settle()
    banner = program.page.banner
    return banner.accessibleName() if banner.isVisible() else ""


def ask(program: Program) -> Question:
    program.page.banner.findChildren(Button)[0].click()

    async def story() -> None:
        await until(lambda: any(one.isVisible() for one in program.window.findChildren(Question)))

    run(story())
    return next(one for one in program.window.findChildren(Question) if one.isVisible())


def test_a_chat_of_such_a_program_says_so_until_somebody_has_asked_for_more(program: Program) -> None:
    assert show(program, chat()) == TEXT
    question = ask(program)
    assert question.accessibleName() == "Claude Code deletes its chats after 30 days"
    assert "cleanupPeriodDays" in question.accessibleDescription()
    question.button("Close").click()
    program.settle()
    assert not program.page.banner.isVisible()
    assert show(program, chat()) == "", "it was told"
    assert program.conductor.told.words == {"claude-code"}


def test_who_was_told_at_an_earlier_start_is_not_told_again(program: Program) -> None:
    program.conductor.told.learn(["claude-code"])
    assert show(program, chat()) == ""


@pytest.mark.parametrize("name", ["", "another-program"])
def test_other_chats_say_nothing(program: Program, name: str) -> None:
    assert show(program, chat()) == TEXT
    assert show(program, chat(name)) == ""


def test_a_program_that_keeps_them_for_years_is_no_news(program: Program) -> None:
    program.fake.histories.found = [source(days=36_500)]
    assert show(program, chat()) == ""


def test_something_worse_is_said_first(program: Program) -> None:
    assert "was not found" in show(program, replace(chat(), workspace_found=False))


def test_all_of_them_can_be_kept(program: Program) -> None:
    program.fake.histories.report = ImportReport(
        unchanged=(ChatId("a"), ChatId("b")), failed=(FailedImport("/x.jsonl", "it is cut off", "cannot-read"),)
    )
    assert show(program, chat()) == TEXT
    ask(program).button("Keep all of them").click()
    program.settle()
    assert ("keep_all", ("claude-code",)) in program.fake.histories.calls
    assert program.conductor.notifier.shown == "2 chats are kept here. 1 could not be read: it is cut off"


def test_it_can_be_stopped_and_says_so(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless(_source: str, told: Callable[[int, int], None]) -> ImportReport:
        told(3, 38)
        return await asyncio.Future()

    monkeypatch.setattr(program.fake.histories, "keep_all", endless)
    assert show(program, chat()) == TEXT
    ask(program).button("Keep all of them").click()
    notifier = program.conductor.notifier
    run(until(lambda: notifier.shown))
    assert notifier.shown == "Keeping the chats of Claude Code: 3 of 38…"
    (cancel,) = [one for one in program.window.findChildren(Button) if one.isVisible() and one.text() == "Cancel"]
    cancel.click()
    program.settle()
    assert notifier.shown == "Stopped. What was read until now is kept here."


def test_words_are_right_for_one_and_for_none() -> None:
    assert explanation(source(1))[0] == "Claude Code deletes its chats after 1 day"
    assert outcome(ImportReport(unchanged=(ChatId("a"),))) == ("1 chat is kept here.", "done")
