"""Ways of changing files: by the shell or announced, made, edited, deleted, moved, respelled, a folder for a file and back."""

import os
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.corpus.bench import Bench, Hand, picture
from tests.core.checkpoint.world import ALL_MINE
from tests.helpers.folding_fs import FoldingFs


def test_create(bench: Bench) -> None:
    bench.seed({"kept": b"k"})
    bench.whole_way(lambda one: (one.write("new", b"n"), one.write("a/b/c", b"deep")), {"new": "A", "a/b/c": "A"})


def test_edit(bench: Bench) -> None:
    bench.seed({"f": b"0", "sub/g": b"0", "kept": b"k"})
    bench.whole_way(lambda one: (one.write("f", b"1"), one.write("sub/g", b"longer than before")), {"f": "M", "sub/g": "M"})


def test_edit_by_a_file_that_takes_its_place(bench: Bench) -> None:
    """As editors save: a new file renamed over the old one."""
    bench.seed({"f": b"0"})

    def save(one: Bench) -> None:
        one.write("f", b"1")
        (one.root / "f.tmp").write_bytes(b"2")
        os.replace(one.root / "f.tmp", one.root / "f")

    with bench.turn():
        save(bench)
    assert {change.path for change in bench.row().files} == {"f"}
    if bench.hand is not Hand.ANNOUNCED:  # there the second write is nobody's, and is told so
        bench.tells({"f": "M"})
    bench.goes_back_and_forth()


def test_delete(bench: Bench) -> None:
    bench.seed({"gone": b"0", "kept": b"k"})
    bench.whole_way(lambda one: one.write("gone", None), {"gone": "D"})


def test_delete_a_folder(bench: Bench) -> None:
    bench.seed({"d/a": b"1", "d/sub/b": b"2", "kept": b"k"})
    bench.whole_way(lambda one: one.remove_folder("d"), {"d/a": "D", "d/sub/b": "D"})


def test_delete_everything(bench: Bench) -> None:
    bench.seed({f"{name}/{number}": b"x" for name in "abc" for number in range(3)})
    gone = {f"{name}/{number}": "D" for name in "abc" for number in range(3)}
    bench.whole_way(lambda one: [one.remove_folder(name) for name in "abc"], gone)


def test_move(bench: Bench) -> None:
    bench.seed({"old": b"content", "kept": b"k"})
    bench.whole_way(lambda one: one.move("old", "sub/new"), {"sub/new": "R"})


def test_move_over_a_file(bench: Bench) -> None:
    bench.seed({"old": b"content", "there": b"other"})
    with bench.turn():
        bench.move("old", "there")
    assert {change.path for change in bench.row().files} >= {"there"}
    assert bench.row().coverage.complete
    bench.goes_back_and_forth()


def test_move_and_edit(bench: Bench) -> None:
    bench.seed({"old": b"content"})

    def act(one: Bench) -> None:
        one.move("old", "new")
        one.write("new", b"changed")

    with bench.turn():
        act(bench)
    assert bench.row().coverage.complete
    bench.goes_back_and_forth()


def test_move_a_folder(shell: Bench) -> None:
    shell.seed({"src/a": b"1", "src/sub/b": b"2"})
    (shell.root / "src/hollow").mkdir()
    shell.whole_way(lambda one: os.rename(one.root / "src", one.root / "lib"), {"lib/a": "R", "lib/sub/b": "R"})


def test_two_files_that_change_places(shell: Bench) -> None:
    shell.seed({"a": b"1", "b": b"2"})

    def act(one: Bench) -> None:
        os.rename(one.root / "a", one.root / "c")
        os.rename(one.root / "b", one.root / "a")
        os.rename(one.root / "c", one.root / "b")

    shell.whole_way(act, {"a": "M", "b": "M"})


def test_case_only_rename(bench: Bench) -> None:
    bench.seed({"Readme": b"content"})
    bench.whole_way(lambda one: one.move("Readme", "README"), {"README": "R"})


@pytest.mark.parametrize("hand", list(Hand))
def test_case_only_rename_where_capitals_are_small_letters(tmp_path: Path, clock: Clock, hand: Hand) -> None:
    bench = Bench(tmp_path, clock, hand, FoldingFs())
    bench.seed({"Readme": b"content", "other": b"o"})
    with bench.turn():
        bench.move("Readme", "README")
    bench.restore()
    assert picture(bench.root) == bench.before
    bench.world.undo()
    assert picture(bench.root) == bench.after


def folder_for_a_file(bench: Bench) -> None:
    bench.seed({"x/a": b"1", "x/sub/b": b"2"})
    with bench.turn():
        bench.remove_folder("x")
        bench.write("x", b"a file now")


def file_for_a_folder(bench: Bench) -> None:
    bench.seed({"x": b"a file"})
    with bench.turn():
        bench.write("x", None)
        bench.write("x/a", b"1")
        bench.write("x/sub/b", b"2")


def test_a_folder_becomes_a_file(bench: Bench) -> None:
    folder_for_a_file(bench)
    bench.tells({"x": "A", "x/a": "D", "x/sub/b": "D"})
    bench.goes_back_and_forth()


def test_a_file_becomes_a_folder(bench: Bench) -> None:
    file_for_a_folder(bench)
    bench.tells({"x": "D", "x/a": "A", "x/sub/b": "A"})
    bench.goes_back_and_forth()


def test_a_folder_becomes_a_file_and_a_folder_again_in_two_turns(bench: Bench) -> None:
    bench.seed({"x/a": b"1"})
    seed = picture(bench.root)
    with bench.turn():
        bench.remove_folder("x")
        bench.write("x", b"file")
    with bench.turn():
        bench.write("x", None)
        bench.write("x/b", b"2")
    bench.goes_back_and_forth()
    bench.world.restore("before:1", mine=ALL_MINE)
    assert picture(bench.root) == seed


def test_a_file_that_comes_and_goes_in_one_turn_leaves_nothing(bench: Bench) -> None:
    bench.seed({"kept": b"k"})
    with bench.turn():
        bench.write("temp", b"t")
        bench.write("temp", None)
    assert bench.row().coverage.complete
    bench.tells({})
    assert bench.world.restore("before:1").restored == ()
    bench.is_quiet()


def test_an_edit_and_its_opposite_are_no_change(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("f", b"1")
        bench.write("f", b"0")
    assert bench.row().coverage.complete
    assert bench.world.restore("before:1").restored == ()
    bench.is_quiet()


def test_a_file_deleted_and_made_again_as_it_was_is_no_change(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("f", None)
        bench.write("f", b"0")
    assert bench.world.restore("before:1").restored == ()
    assert picture(bench.root) == bench.before
    bench.is_quiet()


def test_new_times_alone_are_no_change(shell: Bench) -> None:
    shell.seed({"f": b"0"})
    with shell.turn():
        os.utime(shell.root / "f", ns=(1, 1))
    shell.tells({})
    assert shell.world.restore("before:1").entry == 0
    assert (shell.root / "f").stat().st_mtime_ns == 1, "an empty plan writes nothing"


def test_all_ways_in_one_turn(bench: Bench) -> None:
    bench.seed({"edit": b"0", "gone": b"0", "move": b"m", "d/a": b"1", "file": b"f", "kept": b"k"})

    def act(one: Bench) -> None:
        one.write("edit", b"1")
        one.write("gone", None)
        one.move("move", "moved/here")
        one.remove_folder("d")
        one.write("d", b"file now")
        one.write("file", None)
        one.write("file/in", b"folder now")
        one.write("new", b"n")

    expected = {"edit": "M", "gone": "D", "moved/here": "R", "d": "A", "d/a": "D", "file": "D", "file/in": "A", "new": "A"}
    with bench.turn():
        act(bench)
    bench.tells(expected)
    bench.goes_back_and_forth()


def test_three_turns_each_go_back_to_their_own_beginning(bench: Bench) -> None:
    bench.seed({"a": b"0", "b": b"0"})
    states = [picture(bench.root)]
    for number, changes in enumerate(({"a": b"1", "c": b"1"}, {"b": None, "c": b"2"}, {"a": None, "d/e": b"3"}), 1):
        with bench.turn():
            for path, data in changes.items():
                bench.write(path, data)
        states.append(bench.after)
        assert bench.number == number
    for number in (3, 2, 1):
        bench.number = number
        bench.restore()
        assert picture(bench.root) == states[number - 1]
        bench.world.undo()
        assert picture(bench.root) == states[-1]
