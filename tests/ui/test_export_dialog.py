"""What the dialog before an export asks: as what, and without what; a patch stays whole."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.ui.live_stage import MAIN, Program
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.types.chats import ExportFormat, Withheld
from vibekit_desktop.ui.dialogs.export_chat import ExportChatDialog, Exporting
from vibekit_desktop.ui.theme.palette import ThemeHub


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    return made


def test_likely_secrets_are_masked_unless_somebody_says_otherwise(parent: QWidget) -> None:
    dialog = ExportChatDialog(ThemeHub("light", still=True), parent, "A chat")
    assert dialog.agreed() == Exporting(ExportFormat.MARKDOWN, Withheld(output=False, secrets=True))
    dialog.secrets.click()
    dialog.output.click()
    assert dialog.agreed().withheld == Withheld(output=True, secrets=False)
    assert {dialog.output, dialog.secrets} <= set(dialog.stops)


def test_of_a_patch_nothing_can_be_left_out_and_it_says_why(parent: QWidget) -> None:
    dialog = ExportChatDialog(ThemeHub("light", still=True), parent, "A chat")
    dialog.choose(ExportFormat.PATCH)
    assert not dialog.output.isEnabled()
    assert not dialog.secrets.isEnabled()
    assert "whole" in dialog.secrets.toolTip()
    dialog.choose(ExportFormat.HTML)
    assert dialog.output.isEnabled()
    assert "whole" not in dialog.output.toolTip()


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        yield made
        made.conductor.close()
        bury(made.window)


def test_what_was_chosen_is_what_is_exported_and_preset_the_next_time(program: Program) -> None:
    work = program.conductor.desk.work

    def dialog() -> ExportChatDialog:
        work.export(MAIN)

        async def story() -> None:
            await until(lambda: any(one.isVisible() for one in program.window.findChildren(ExportChatDialog)))

        run(story())
        return next(one for one in program.window.findChildren(ExportChatDialog) if one.isVisible())

    first = dialog()
    first.choose(ExportFormat.HTML)
    first.output.click()
    first.go.click()
    program.settle()
    wanted = Withheld(output=True, secrets=True)
    assert program.fake.exports.calls[-1] == ("export", (MAIN, ExportFormat.HTML, wanted))
    second = dialog()
    assert second.agreed() == Exporting(ExportFormat.HTML, wanted)
    second.cancel.click()
    program.settle()
