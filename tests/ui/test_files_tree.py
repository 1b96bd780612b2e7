"""The files that a chat changed: what is said of each, and the rows of list and tree."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    Author,
    ChangeStatus,
    EntryKind,
    FileState,
    RestoreKind,
    State,
    TimelineEntry,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.models.changed_files import ChangedFile, changed_files
from vibekit_desktop.ui.models.files import FileEntry
from vibekit_desktop.ui.models.files_tree import FileButton, FilesTreeModel

OTHER = ChatId("11111111-1111-4111-8111-111111111111")


def found(*entries: TimelineEntry, **more: object) -> dict[str, ChangedFile]:
    files = changed_files(samples.timeline(entries), **more)  # type: ignore[arg-type]  # a test's shorthand
    return {file.path: file for file in files}


def test_every_file_of_the_chat_is_named_once_with_who_wrote_it_last() -> None:
    files = found(*samples.entries())
    assert len(files) == len({change.path for entry in samples.entries() for change in entry.files})
    assert list(files) == sorted(files)
    assert files["src/export/legacy_rows.py"].by == "Turn 4"
    assert files["src/export/rows.py"].by == "Others"


def test_you_and_another_chat_are_named_where_that_is_known() -> None:
    turn = samples.turn(1, "13:00", 1, "x", (samples.change("a", 1, 1), samples.change("b", 1, 1), samples.change("c", 1, 1)))
    mine = replace(samples.change("a", 2, 2), author=Author.USER)
    theirs = replace(samples.change("b", 2, 2), author=Author.CHAT, other_chat=OTHER)
    strangers = replace(samples.change("c", 2, 2), author=Author.CHAT, other_chat=ChatId("somebody-else"))
    now = TimelineEntry(kind=EntryKind.NOW, turn=1, at=0, files=(mine, theirs, strangers))
    files = found(turn, now, names={OTHER: "Docs: tidy"})
    assert [files[path].by for path in "abc"] == ["You", "“Docs: tidy”", "Another chat"]


def test_one_change_tells_its_counts_and_several_wait_until_the_difference_is_computed() -> None:
    one = samples.turn(1, "13:00", 1, "x", (samples.change("a", 3, 1), samples.change("b", 1, 1)))
    two = samples.turn(2, "13:10", 1, "y", (samples.change("b", 5, 0),))
    files = found(one, two)
    assert files["a"].counts == (3, 1)
    assert files["b"].counts == (None, None)
    net = {WorkspacePath("b"): FileEntry(path=WorkspacePath("b"), letter="M", added=6, removed=1)}
    assert found(one, two, net=net)["b"].counts == (6, 1)


def test_a_file_that_was_put_back_is_named_and_has_no_letter() -> None:
    change = samples.change("a", 3, 1)
    back = replace(change, before=change.after, after=change.before)
    undo = TimelineEntry(
        kind=EntryKind.RESTORE, turn=1, at=1, entry=1, restore_kind=RestoreKind.UNDO_FILE, point="before:1", files=(back,)
    )
    file = found(samples.turn(1, "13:00", 1, "x", (change,)), undo)["a"]
    assert (file.letter, file.remark, file.by, file.is_back) == ("", "as at the start", "Restored", True)


def test_a_renamed_file_keeps_what_it_was_at_the_start() -> None:
    first = samples.change("old.py", 3, 1)
    moved = replace(samples.change("new.py", 0, 0), status=ChangeStatus.RENAMED, old_path=WorkspacePath("old.py"))
    files = found(samples.turn(1, "13:00", 1, "x", (first,)), samples.turn(2, "13:10", 1, "y", (moved,)))
    assert list(files) == ["new.py"]
    assert (files["new.py"].letter, files["new.py"].old_path, files["new.py"].before) == ("R", "old.py", first.before)


def _made(*paths: str) -> list[ChangedFile]:
    present = FileState(State.PRESENT)
    return [
        ChangedFile(path=WorkspacePath(path), before=ABSENT, after=present, letter="A", counts=(1, 0), by="Turn 1", turn=1)
        for path in sorted(paths)
    ]


def tree(*paths: str) -> FilesTreeModel:
    model = FilesTreeModel()
    model.set_tree(True)
    model.set_files(_made(*paths))
    return model


def drawn(model: FilesTreeModel) -> list[str]:
    return ["  " * row.depth + row.title + ("/" if row.file is None else "") for row in model.rows]


def test_folders_stand_before_files_and_chains_of_folders_are_one_row() -> None:
    model = tree("z.py", "src/export/rows.py", "src/export/a.py", "src/main.py", "docs/deep/down/x.md")
    assert drawn(model) == [
        "docs/deep/down/",
        "  x.md",
        "src/",
        "  export/",
        "    a.py",
        "    rows.py",
        "  main.py",
        "z.py",
    ]
    assert model.rows[2].counts == (3, 0)


def test_a_folder_closes_and_a_filter_opens_it() -> None:
    model = tree("src/a.py", "src/b.py", "z.py")
    model.toggle(0)
    assert drawn(model) == ["src/", "z.py"]
    model.set_filter("B.py src")
    assert drawn(model) == ["src/", "  b.py"]
    model.set_filter("")
    assert drawn(model) == ["src/", "z.py"]
    model.fold_all(False)
    assert drawn(model) == ["src/", "  a.py", "  b.py", "z.py"]
    model.fold_all(True)
    assert drawn(model) == ["src/", "z.py"]


def test_the_list_is_flat_and_shows_whole_paths() -> None:
    model = tree("src/a.py", "z.py")
    model.set_tree(False)
    assert drawn(model) == ["src/a.py", "z.py"]


def test_what_cannot_be_undone_says_why() -> None:
    model = FilesTreeModel()
    (file,) = _made("a")
    model.set_files([replace(file, letter="", remark="as at the start")])
    assert model.why_off(model.rows[0], FileButton.UNDO) == "It is as it was at the start of the chat."
    model.set_files([replace(file, before=FileState(State.NOT_CAPTURED))])
    assert model.why_off(model.rows[0], FileButton.UNDO) == "No earlier copy was kept."
    model.set_files([file])
    model.set_held("Wait until turn 6 ends, or stop it")
    assert model.why_off(model.rows[0], FileButton.UNDO) == "Wait until turn 6 ends, or stop it"
    assert model.why_off(model.rows[0], FileButton.DIFF) == ""


def test_rows_have_whole_phrases() -> None:
    model = tree("src/a.py")
    assert model.rows[0].name == "Folder src, 1 file, open"
    assert model.rows[1].name == "src/a.py, added, 1 added, last written by Turn 1"
    assert model.rows[1].button_name(FileButton.UNDO) == "Put src/a.py back to the start of the chat"


@pytest.mark.parametrize("as_tree", [False, True])
def test_the_model_passes_qts_own_tests(qtmodeltester: ModelTester, as_tree: bool) -> None:
    model = tree("src/a.py", "src/b/c.py", "z.py")
    model.set_tree(as_tree)
    qtmodeltester.check(model)


_PATHS = st.lists(st.sampled_from(["a", "b", "d/a", "d/b", "d/e/f", "d/e/g", "h/i/j", "h/i/k/l"]), unique=True)


@given(_PATHS, _PATHS, st.booleans())
def test_updates_by_small_signals_end_where_a_fresh_model_begins(first: list[str], second: list[str], fold: bool) -> None:
    model = tree(*first)
    ghost = list(model.rows)
    model.rowsRemoved.connect(lambda _, start, end: ghost.__delitem__(slice(start, end + 1)))
    model.rowsInserted.connect(lambda _, start, end: ghost.__setitem__(slice(start, start), model.rows[start : end + 1]))

    def moved(_parent: object, start: int, _end: int, _to: object, row: int) -> None:
        ghost.insert(row if row < start else row - 1, ghost.pop(start))

    model.rowsMoved.connect(moved)
    model.dataChanged.connect(
        lambda top, bottom: ghost.__setitem__(slice(top.row(), bottom.row() + 1), model.rows[top.row() : bottom.row() + 1])
    )
    model.set_files(_made(*second))
    if fold:
        model.fold_all(True)
        model.fold_all(False)
    assert [row.key for row in ghost] == [row.key for row in model.rows] == [row.key for row in tree(*second).rows]


def test_a_path_of_a_thousand_folders_is_one_row(qtbot: QtBot) -> None:
    deep = "/".join(["a"] * 1500)
    model = tree(f"{deep}/x", f"{deep}/y")
    assert [row.depth for row in model.rows] == [0, 1, 1]
    staircase = [f"{'/'.join(['a'] * depth)}/x" for depth in range(1, 1200)]
    assert len(tree(*staircase).rows) == 2 * len(staircase)
