"""What a restore says before it is done: title, summary, rows and their groups."""

from dataclasses import replace

import pytest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from vibekit_desktop.core.types.checkpoints import (
    Action,
    FileState,
    Mine,
    Scope,
    State,
)
from vibekit_desktop.ui.models.restore_items import (
    Group,
    RestoreItemsModel,
    primary_text,
    scope_note,
    summary_of,
    title_of,
)

ROWS = samples.path("src/export/rows.py")


def test_the_summary_counts_what_will_happen() -> None:
    plan = samples.plan()
    assert title_of(plan) == "Restore the workspace to before turn 3?"
    assert summary_of(plan) == (
        "5 files will change: 3 rewritten, 1 deleted, 1 brought back. "
        "2 files you edited are kept unless you choose otherwise. 1 file is left alone."
    )


@pytest.mark.parametrize(
    ("scope", "text", "note"),
    [
        (Scope.BOTH, "Restore 5 files and the chat", "Turns 3 to 5 move to a branch; nothing is deleted."),
        (Scope.FILES, "Restore 5 files", "The chat stays as it is."),
        (Scope.CHAT, "Restore the chat", "Files stay as they are on disk."),
    ],
)
def test_the_primary_says_what_will_happen(scope: Scope, text: str, note: str) -> None:
    assert primary_text(samples.plan(scope)) == text
    assert scope_note(samples.plan(scope)) == note


def test_one_file_is_singular_and_nothing_is_nothing() -> None:
    one = samples.of_files(samples.planned("a.py", Action.WRITE), scope=Scope.FILES)
    assert primary_text(one) == "Restore 1 file"
    assert summary_of(one) == "1 file will change: 1 rewritten."
    assert primary_text(samples.of_files(scope=Scope.FILES)) == ""


def test_groups_stand_in_order_and_empty_ones_are_absent(qtmodeltester: ModelTester) -> None:
    model = RestoreItemsModel()
    model.set_plan(samples.plan())
    qtmodeltester.check(model)
    heads = [row.group for row in model.rows if row.file is None]
    assert heads == [Group.MINE, Group.REWRITTEN, Group.DELETED, Group.BROUGHT_BACK, Group.LEFT_ALONE]
    model.set_plan(samples.of_files(samples.planned("a.py", Action.DELETE)))
    assert [row.title for row in model.rows] == ["Deleted", "a.py"]
    left = samples.planned("data/samples.parquet", Action.LEAVE, reason="not-captured", size=96_000_000)
    model.set_plan(samples.of_files(left))
    assert model.rows[1].remark == "96 MB: no earlier copy was kept. It stays as it is now."


def test_a_choice_changes_rows_in_place(qtbot: QtBot) -> None:
    model = RestoreItemsModel()
    model.set_plan(samples.plan())
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged) as seen:
        model.set_plan(samples.plan(mine=Mine(restore=frozenset({ROWS}))))
    assert seen.args is not None
    assert model.rows[seen.args[0].row()].restores


def test_a_hard_linked_file_a_folder_and_what_may_be_yours_are_told() -> None:
    linked = replace(samples.planned("a", Action.WRITE), hard_linked=True)
    folder = replace(samples.planned("b", Action.DELETE), current=FileState(State.FOLDER))
    maybe = replace(samples.planned("c", Action.LEAVE, changed_by="unknown", reason="changed-since"), may_be_yours=True)
    model = RestoreItemsModel()
    model.set_plan(samples.of_files(linked, folder, maybe))
    rows = {row.path: row.remark for row in model.rows if row.file is not None}
    assert rows == {
        "a": "hard-linked: gets a file of its own",
        "b": "folder",
        "c": "found in the agent's turn, may be yours",
    }
