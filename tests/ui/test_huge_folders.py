"""A huge folder is asked about before it is worked in, in words that are true of it; others open at once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.ui.live_stage import Program
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.types.errors import WorkspaceRefused
from vibekit_desktop.core.types.folders import FolderWeight
from vibekit_desktop.ui.dialogs.new_chat import NewChatDialog
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.operations.folders import weight_words

FOLDER = "/home/ada/code/mountain"


def weight(files: int, check_s: float, *, limit: int = 200_000) -> FolderWeight:
    return FolderWeight(files=files, limit=limit, check_s=check_s)


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        yield made
        made.conductor.close()
        bury(made.window)


def opened(program: Program) -> list[str]:
    return [str(rest[0]) for name, rest in program.fake.library.calls if name == "open_folder"]


def question(program: Program) -> Question:
    async def story() -> None:
        await until(lambda: any(one.isVisible() for one in program.window.findChildren(Question)))

    run(story())
    return next(one for one in program.window.findChildren(Question) if one.isVisible())


def test_the_words_say_how_many_files_and_about_how_long() -> None:
    assert weight_words(weight(114_000, 41.0)) == (
        "114,000 files here.",
        "Recording starts at once; the first check takes about 40 s.",
    )
    assert weight_words(weight(190_000, 200.0))[1].endswith("about 3 min.")
    assert weight_words(weight(30_000, 2.0)) == ("", ""), "nobody will feel it"


def test_of_more_than_is_checked_they_say_what_is_recorded_and_what_is_not() -> None:
    count, text = weight_words(weight(200_000, 0.0))
    assert count == "More than 200,000 files and folders here."
    assert "too many to check" in text
    assert "commands change beside that is not seen" in text
    assert "first check" not in text


def test_a_small_folder_is_opened_without_a_question(program: Program) -> None:
    program.fake.library.weights[FOLDER] = weight(900, 0.2)
    program.conductor.histories.start_open_folder(FOLDER)
    program.settle()
    assert opened(program) == [FOLDER]


@pytest.mark.parametrize(("button", "used"), [("Use this folder", True), ("Cancel", False)])
def test_a_huge_folder_is_opened_only_if_that_is_wanted(program: Program, button: str, used: bool) -> None:
    program.fake.library.weights[FOLDER] = weight(114_000, 41.0)
    program.conductor.histories.start_open_folder(FOLDER)
    asked = question(program)
    assert asked.accessibleName() == "114,000 files here."
    assert opened(program) == []
    asked.button(button).click()
    program.settle()
    assert opened(program) == ([FOLDER] if used else [])
    program.conductor.histories.start_open_folder(FOLDER)
    assert question(program), "it can be asked again"


def test_another_folder_can_be_chosen_instead(program: Program) -> None:
    program.fake.library.weights[FOLDER] = weight(200_000, 0.0)
    program.conductor.histories.start_open_folder(FOLDER)
    question(program).button("Choose another").click()
    program.settle()
    assert opened(program) == []
    (dialog,) = program.window.findChildren(QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.Directory
    dialog.close()


def test_a_folder_that_is_refused_says_why_and_nothing_of_its_size(program: Program) -> None:
    program.fake.library.raises["weigh_folder"] = WorkspaceRefused(str(Path.home()), "home")
    program.fake.library.raises["open_folder"] = WorkspaceRefused(str(Path.home()), "home")
    program.conductor.histories.start_open_folder(str(Path.home()))
    program.settle()
    assert "home folder" in program.conductor.notifier.shown


def test_the_dialog_for_a_new_chat_says_it_under_the_folder(program: Program) -> None:
    program.fake.library.weights[FOLDER] = weight(114_000, 41.0)

    def wait_for(what: Callable[[], object]) -> None:
        run(until(what))

    program.conductor.new_chat()
    wait_for(lambda: program.window.findChildren(NewChatDialog))
    (dialog,) = program.window.findChildren(NewChatDialog)
    assert not dialog.weight.isVisible()
    dialog.folder.picked.emit(FOLDER)
    wait_for(dialog.weight.isVisible)
    assert dialog.weight.text() == "114,000 files here. Recording starts at once; the first check takes about 40 s."
    assert dialog.primary.isEnabled(), "it is only said"
    dialog.folder.picked.emit("/home/ada/code/hill")
    assert not dialog.weight.isVisible()
    wait_for(lambda: ("weigh_folder", (Path("/home/ada/code/hill"),)) in program.fake.library.calls)
    assert not dialog.weight.isVisible()
    dialog.answer(None)
    program.settle()
