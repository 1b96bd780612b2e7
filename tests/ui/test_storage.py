"""How much the store takes can be looked at from the banner and the foot of the list; from where on it is said is chosen."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.ui.live_stage import Program
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.core.types.errors import CannotWrite
from vibekit_desktop.core.types.events import SettingChanged
from vibekit_desktop.core.types.settings import BUDGET_GB
from vibekit_desktop.ui.dialogs.storage import StorageDialog, storage_text
from vibekit_desktop.ui.views.controls import Button

GB = 1 << 30
FULL = StoreSize(used_bytes=5 * GB, budget_bytes=5 * GB, free_bytes=80 * GB, folder="/data/vibekit")


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        made.fake.library.stored = FULL
        made.tell(SettingChanged(BUDGET_GB.key, 5))
        run(until(made.page.banner.isVisible))
        yield made
        made.conductor.close()
        bury(made.window)


def dialog(program: Program) -> StorageDialog:
    run(until(lambda: any(one.isVisible() for one in program.window.findChildren(StorageDialog))))
    return next(one for one in program.window.findChildren(StorageDialog) if one.isVisible())


def test_the_words_say_what_is_taken_what_is_left_and_that_nothing_stops() -> None:
    assert storage_text(FULL).splitlines() == [
        "5 of 5 GB are taken by the copies of files that restoring needs, of all workspaces. 80 GB are free on their disk.",
        "Above the limit nothing stops and nothing is deleted: you are only told.",
        "/data/vibekit",
    ]
    assert "80 MB are free" in storage_text(replace(FULL, free_bytes=80 << 20))
    assert "free" not in storage_text(replace(FULL, free_bytes=None))


def test_the_banner_of_a_full_store_leads_to_a_higher_limit(program: Program) -> None:
    banner = program.page.banner
    assert banner.accessibleName() == "The store is at 5 of 5 GB."
    (button,) = banner.findChildren(Button)
    assert button.text() == "Manage…"
    button.click()
    shown = dialog(program)
    program.fake.library.stored = replace(FULL, budget_bytes=20 * GB)
    shown.budget.picked.emit(20)
    run(until(lambda: shown.budget.text() == "20 GB"))
    assert ("set", (BUDGET_GB.key, "20")) in program.fake.settings.calls
    assert shown.text.text().startswith("5 of 20 GB")
    program.fake.publish(SettingChanged(BUDGET_GB.key, 20))
    run(until(lambda: not banner.isVisible()))
    shown.answer(None)
    program.settle()


def test_the_line_at_the_foot_of_the_list_is_a_button(qtbot: QtBot, program: Program) -> None:
    line = program.conductor.sidebar.store
    line.setFocus()
    qtbot.keyClick(line, Qt.Key.Key_Space)
    shown = dialog(program)
    program.conductor.storage.open()
    assert len([one for one in program.window.findChildren(StorageDialog) if one.isVisible()]) == 1
    shown.answer(None)
    program.settle()
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton)
    dialog(program).answer(None)
    program.settle()


def test_the_folder_is_shown_by_the_system(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(program.conductor.storage, "_show_folder", shown.append)
    program.conductor.storage.open()
    dialog(program).go.click()
    program.settle()
    assert shown == ["/data/vibekit"]


def test_a_limit_that_cannot_be_kept_is_said_and_the_former_stays(program: Program) -> None:
    program.conductor.storage.open()
    shown = dialog(program)
    program.fake.settings.raises["set"] = CannotWrite("/data/vibekit/library.json", "read-only")
    shown.budget.picked.emit(20)
    run(until(lambda: program.conductor.notifier.shown))
    assert shown.budget.text() == "5 GB"
    shown.answer(None)
    program.settle()
