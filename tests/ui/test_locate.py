"""A workspace that was not found can be located from the banner: sure folders at once, doubtful ones after a question."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.ui import samples
from tests.ui.live_stage import MAIN, Program
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.types.events import WorkspaceMoved
from vibekit_desktop.core.types.ids import WorkspacePath, parse_workspace_path
from vibekit_desktop.core.types.moves import Likeness
from vibekit_desktop.ui.dialogs.question import Question
from vibekit_desktop.ui.operations.moves import what_differs
from vibekit_desktop.ui.views.controls import Button

FORMER = samples.chat_view().vault_workspace
NEW = "/moved/tidepool"


def path(name: str) -> WorkspacePath:
    return parse_workspace_path(name)


def likeness(alike: int, changed: tuple[str, ...] = (), missing: tuple[str, ...] = (), *, same: bool = False) -> Likeness:
    return Likeness(folder=NEW, same=same, alike=alike, changed=tuple(map(path, changed)), missing=tuple(map(path, missing)))


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        made.fake.chats.views[MAIN] = replace(samples.chat_view(), workspace_found=False)
        made.fake.checkpoints.timelines[MAIN] = replace(samples.timeline(), workspace_found=False)
        made.conductor.open.reload()
        made.settle()
        yield made
        made.conductor.close()
        bury(made.window)


def moved(program: Program) -> list[tuple[object, ...]]:
    return [rest for name, rest in program.fake.library.calls if name == "move_workspace"]


def question(program: Program) -> Question:
    async def story() -> None:
        await until(lambda: any(one.isVisible() for one in program.window.findChildren(Question)))

    run(story())
    return next(one for one in program.window.findChildren(Question) if one.isVisible())


def test_the_banner_of_a_missing_folder_offers_to_locate_it_with_the_dialog_of_the_system(program: Program) -> None:
    banner = program.page.banner
    assert "was not found where it was" in banner.accessibleName()
    button = banner.findChildren(Button)[0]
    assert button.text() == "Locate…"
    button.click()
    (dialog,) = program.window.findChildren(QFileDialog)
    assert "tidepool" in dialog.windowTitle()
    assert dialog.fileMode() is QFileDialog.FileMode.Directory
    dialog.fileSelected.emit(NEW)
    dialog.close()
    program.settle()
    assert [str(rest[-1]) for rest in moved(program)] == [NEW]


def test_a_sure_folder_needs_no_question_and_the_list_follows(program: Program) -> None:
    program.conductor.sidebar.choose_workspace(FORMER)
    program.fake.chats.views[MAIN] = replace(samples.chat_view(), vault_workspace=NEW)
    program.fake.chats.headers = [
        replace(one, workspace=NEW if one.workspace == FORMER else one.workspace) for one in program.fake.chats.headers
    ]
    program.fake.checkpoints.timelines[MAIN] = samples.timeline()
    program.conductor.moves.locate(FORMER, NEW)
    program.settle()
    program.tell(WorkspaceMoved(FORMER))

    async def story() -> None:
        await until(program.page.banner.isHidden)

    run(story())
    assert moved(program)
    assert program.conductor.sidebar.workspace == NEW
    assert NEW in program.conductor.notifier.shown


def test_a_doubtful_folder_is_asked_about_with_what_differs(program: Program) -> None:
    program.fake.library.likeness = likeness(1, ("src/a.py",), ("src/b.py",))
    program.conductor.moves.locate(FORMER, NEW)
    asked = question(program)
    assert "tidepool" in asked.accessibleName()
    assert (
        "Of the 3 files that its chats saw last: 1 is as it was, 1 has changed, 1 is missing" in asked.accessibleDescription()
    )
    assert "src/b.py" in asked.accessibleDescription()
    asked.button("Cancel").click()
    program.settle()
    assert not moved(program)
    program.conductor.moves.locate(FORMER, NEW)
    question(program).button("Use this folder").click()
    program.settle()
    assert moved(program)


def test_a_folder_that_cannot_be_it_is_refused_with_the_reason(program: Program) -> None:
    program.fake.library.likeness = likeness(0, missing=("src/a.py",))
    program.conductor.moves.locate(FORMER, NEW)
    program.settle()
    assert not moved(program)
    assert "None of the files" in program.conductor.notifier.shown


def test_what_differs_is_said_in_figures_and_names_only_a_few() -> None:
    many = tuple(f"f{number}.txt" for number in range(9))
    assert "9 are missing (f0.txt, f1.txt, f2.txt, …)." in what_differs(likeness(2, missing=many))
    assert what_differs(likeness(0)).startswith("Its chats tell no file")
