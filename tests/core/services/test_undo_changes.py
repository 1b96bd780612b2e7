"""Undo of one hunk, one file, one turn while later work stays: what goes, what stays, what is asked, and what is left."""

import hashlib
import os

import pytest

from tests.core.services.town import Town
from tests.core.services.undo_town import CHAT, OTHER, UndoTown, actions, text
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.types.checkpoints import (
    KEEP_MINE,
    AfterTurn,
    BeforeTurn,
    EntryKind,
    Now,
    RestoreKind,
    Scope,
    Start,
)
from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.core.types.errors import Busy, Malformed, PlanStale, PointNotFound
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.reviews import Decision, Overlap

LINES = tuple("abcdefghijklmnopqrstuvwxyz")


@pytest.fixture
def undo(town: Town) -> UndoTown:
    return UndoTown(town)


def changed(**to: str) -> bytes:
    """The usual lines with some of them as another word."""
    return text(*(to.get(line, line) for line in LINES))


@pytest.fixture
def three(undo: UndoTown) -> UndoTown:
    """Turn 1 writes a file, turns 2 and 3 each change a line of it; a person another one."""
    undo.turn({"f": changed()})
    undo.turn({"f": changed(b="turn 2", n="turn 2")})
    undo.turn({"f": changed(b="turn 2", n="turn 2", t="turn 3")})
    undo.put({"f": changed(b="turn 2", n="turn 2", t="turn 3", y="mine")})
    return undo


# -- what goes and what stays ------------------------------------------------------------------------------------------


def test_a_turn_goes_and_what_came_later_stays(three: UndoTown) -> None:
    found = three.plan(2)
    assert (found.overlaps, found.later_kept) == ((), ("f",))
    before = three.disk()
    assert three.disk() == before, "a plan changes nothing"
    report = three.do(found)
    assert (report.restored, report.left, report.verified, report.kind) == (("f",), (), True, RestoreKind.UNDO_TURN)
    assert three.read("f") == changed(t="turn 3", y="mine")


def test_what_goes_too_of_somebody_else_up_to_the_disk_is_told(three: UndoTown) -> None:
    three.turn({"g": changed()})
    assert three.plan((Start(), Now())).goes_too == ("f",)
    assert three.plan((Start(), Now()), paths=("f",)).goes_too == ("f",)
    assert three.plan((Start(), AfterTurn(4)), paths=("f",)).goes_too == (), "there it stays"
    assert three.plan((AfterTurn(4), Now()), paths=("f",)).goes_too == (), "there is nothing of a turn beside it"
    three.put({"mine.txt": b"new"})
    assert three.plan((Start(), Now()), paths=("mine.txt",)).goes_too == ()


def test_one_hunk_goes_and_the_other_stays(three: UndoTown) -> None:
    report = three.undo_hunks(2, "f", 1)
    assert report.kind is RestoreKind.UNDO_HUNK
    assert three.read("f") == changed(b="turn 2", t="turn 3", y="mine")
    assert three.undone() == set()
    three.undo_hunks(2, "f", 0)
    assert three.read("f") == changed(t="turn 3", y="mine")
    assert three.undone() == {(2, "f")}, "both hunks of the change are gone now"


def test_one_file_of_a_turn_goes_and_the_others_stay(undo: UndoTown) -> None:
    undo.turn({"f": changed(), "g": changed()})
    undo.turn({"f": changed(a="x"), "g": changed(a="x")})
    undo.undo_turn(2, paths=("g",))
    assert undo.disk() == {"f": changed(a="x"), "g": changed()}
    assert undo.undone() == {(2, "g")}


def test_an_undo_of_a_turn_is_one_entry_that_can_be_undone_and_redone(three: UndoTown) -> None:
    before = three.disk()
    three.undo_turn(2)
    after = three.disk()
    (entry,) = [one for one in three.timeline().entries if one.kind is EntryKind.RESTORE]
    assert (entry.restore_kind, entry.point, entry.upto, entry.undone) == (RestoreKind.UNDO_TURN, "before:2", "after:2", False)
    assert three.undone() == {(2, "f")}
    assert three.take_back().verified
    assert (three.disk(), three.undone()) == (before, set())
    assert three.take_back(redo=True).verified
    assert (three.disk(), three.undone()) == (after, {(2, "f")})


def test_what_a_person_wrote_stays_theirs_in_the_merged_file(three: UndoTown) -> None:
    """A restore leaves it by default, as it would have left it before the undo; also after an undo and a redo of that."""

    async def changed_by(wired: Wired) -> list[tuple[str, str | None]]:
        plan = await wired.core.checkpoints.plan_restore(CHAT, BeforeTurn(1), paths=(), scope=Scope.FILES, mine=KEEP_MINE)
        return [(file.action.value, file.changed_by) for file in plan.files]

    expected = three.town.run(changed_by)
    assert expected == [("leave", "unknown")]
    three.undo_turn(2)
    assert three.town.run(changed_by) == expected
    three.take_back()
    assert three.town.run(changed_by) == expected
    three.take_back(redo=True)
    assert three.town.run(changed_by) == expected


def test_a_change_between_any_two_points_goes(three: UndoTown) -> None:
    three.undo_turn((BeforeTurn(2), AfterTurn(3)))
    assert three.read("f") == changed(y="mine")
    three.take_back()
    three.undo_turn((Start(), Now()))
    assert three.disk() == {}


def test_what_others_did_meanwhile_at_other_paths_is_not_part_of_the_turn(undo: UndoTown) -> None:
    """A path is part of a turn because this chat changed it then, not because it differs."""
    undo.turn({"f": b"1\n", "g": b"1\n"})
    undo.turn({"g": b"other\n"}, chat=OTHER)
    undo.turn({"f": b"2\n"})
    found = undo.plan((AfterTurn(1), AfterTurn(2)))
    assert actions(found) == {"f": "write"}
    assert actions(undo.plan((AfterTurn(1), AfterTurn(2)), paths=("g",))) == {"g": "write"}, "asked for by name"


def test_what_is_undone_already_is_the_same(three: UndoTown) -> None:
    three.undo_turn(2)
    found = three.plan(2)
    assert actions(found) == {"f": "leave:same"}
    assert three.do(found).entry == 0


def test_a_turn_that_nobody_ended_is_taken_back_and_what_a_person_did_after_it_stays(undo: UndoTown) -> None:
    """Its last line is the last of the history: the end of the turn is not the disk for that."""
    undo.turn({"f": changed()})
    undo.turn({"f": changed(b="turn 2", n="turn 2")}, ends=False)
    undo.put({"f": changed(b="turn 2", n="turn 2", y="mine")})
    undo.undo_turn(2)
    assert undo.read("f") == changed(y="mine")
    undo.take_back()
    assert undo.read("f") == changed(b="turn 2", n="turn 2", y="mine")


def test_one_place_of_a_turn_that_nobody_ended_is_taken_back(undo: UndoTown) -> None:
    undo.turn({"f": changed()})
    undo.turn({"f": changed(b="turn 2", n="turn 2")}, ends=False)
    undo.undo_hunks(2, "f", 0)
    assert undo.read("f") == changed(n="turn 2")


def test_lines_added_right_below_what_a_turn_added_stay(undo: UndoTown) -> None:
    undo.turn({"f": text("a")})
    undo.turn({"f": text("a", "turn 2")})
    undo.turn({"f": text("a", "turn 2", "turn 3")})
    undo.undo_turn(2)
    assert undo.read("f") == text("a", "turn 3")


def test_line_ends_that_a_person_changed_stay(three: UndoTown) -> None:
    three.put({"f": three.read("f").replace(b"\n", b"\r\n")})
    three.undo_turn(2)
    assert three.read("f") == changed(t="turn 3", y="mine").replace(b"\n", b"\r\n")


# -- overlaps ------------------------------------------------------------------------------------------------------


@pytest.fixture
def again(undo: UndoTown) -> UndoTown:
    """Turn 2 changes three lines; another chat one of them again, and a person another one."""
    undo.turn({"f": changed()})
    undo.turn({"f": changed(b="turn 2", k="turn 2", t="turn 2")})
    undo.turn({"f": changed(b="other", k="turn 2", t="turn 2")}, chat=OTHER)
    undo.put({"f": changed(b="other", k="mine", t="turn 2")})
    return undo


def test_lines_changed_again_are_asked_about_with_their_texts_and_who_it_was(again: UndoTown) -> None:
    before = again.disk()
    found = again.plan(2)
    assert found.plan is None
    assert found.open == found.overlaps
    first, second = found.overlaps
    assert (first.kind, first.number, first.first_line, first.last_line) == (Overlap.LINES, 0, 2, 2)
    assert (first.now, first.then, first.after, first.changed_by) == (("other",), ("b",), ("turn 2",), OTHER)
    assert (second.number, second.now, second.changed_by) == (1, ("mine",), "unknown")
    assert again.disk() == before


@pytest.mark.parametrize(
    ("first", "second", "b", "k", "undone"),
    [
        (Decision.KEEP, Decision.KEEP, "other", "mine", False),
        (Decision.KEEP, Decision.UNDO, "other", "k", False),
        (Decision.UNDO, Decision.KEEP, "b", "mine", False),
        (Decision.UNDO, Decision.UNDO, "b", "k", True),
    ],
)
def test_each_overlap_becomes_what_was_decided(
    again: UndoTown, first: Decision, second: Decision, b: str, k: str, undone: bool
) -> None:
    before = again.disk()
    decide = ((WorkspacePath("f"), 0, first), (WorkspacePath("f"), 1, second))
    again.undo_turn(2, decide=decide)
    assert again.read("f") == changed(b=b, k=k)
    assert again.undone() == ({(2, "f")} if undone else set())
    again.take_back()
    assert again.disk() == before


def test_while_one_overlap_is_open_there_is_no_plan(again: UndoTown) -> None:
    found = again.plan(2, decide=((WorkspacePath("f"), 1, Decision.UNDO),))
    assert (found.plan, [one.number for one in found.open]) == (None, [0])


@pytest.mark.parametrize("wrong", [("f", 2), ("g", 0)])
def test_a_decision_about_nothing_is_refused(again: UndoTown, wrong: tuple[str, int]) -> None:
    with pytest.raises(Malformed):
        again.plan(2, decide=((WorkspacePath(wrong[0]), wrong[1], Decision.KEEP),))


def test_a_hunk_whose_lines_were_changed_again_is_asked_about_alone(again: UndoTown) -> None:
    found = again.plan(2, paths=("f",), hunks=(2,))
    assert found.overlaps == ()
    (overlap,) = again.plan(2, paths=("f",), hunks=(1,)).overlaps
    assert (overlap.now, overlap.then) == (("mine",), ("k",))


# -- whole files -----------------------------------------------------------------------------------------------------


def test_a_file_that_the_turn_made_is_deleted_and_its_empty_folder_with_it(undo: UndoTown) -> None:
    undo.turn({"f": b"1\n"})
    undo.turn({"new/deep/g": b"2\n"})
    undo.put({"kept/h": b"mine\n"})
    report = undo.undo_turn(2)
    assert report.restored == ("new/deep/g",)
    assert undo.disk() == {"f": b"1\n", "kept/h": b"mine\n"}
    assert not (undo.work / "new").exists()
    undo.take_back()
    assert undo.read("new/deep/g") == b"2\n"


def test_a_folder_with_a_persons_file_in_it_stays(undo: UndoTown) -> None:
    undo.turn({"f": b"1\n"})
    undo.turn({"new/g": b"2\n"})
    undo.put({"new/mine": b"3\n"})
    report = undo.undo_turn(2)
    assert (report.restored, report.failed) == (("new/g",), ())
    assert undo.disk() == {"f": b"1\n", "new/mine": b"3\n"}


def test_a_file_that_the_turn_made_and_others_went_on_with_is_asked_about(undo: UndoTown) -> None:
    undo.turn({"f": b"1\n"})
    undo.turn({"g": b"2\n"})
    undo.turn({"g": b"2\n3\n"})
    found = undo.plan(2)
    (overlap,) = found.overlaps
    assert (overlap.kind, overlap.path, overlap.changed_by) == (Overlap.FILE, "g", CHAT)
    assert actions(undo.plan(2, decide=Decision.KEEP)) == {"g": "leave:changed-since"}
    undo.undo_turn(2, decide=Decision.UNDO)
    assert undo.disk() == {"f": b"1\n"}
    undo.take_back()
    assert undo.read("g") == b"2\n3\n"


def test_a_file_that_the_turn_deleted_comes_back(undo: UndoTown) -> None:
    undo.turn({"d/f": changed(), "g": b"1\n"})
    undo.turn({"d/f": None})
    os.rmdir(undo.work / "d")
    undo.turn({"g": b"2\n"})
    undo.undo_turn(2)
    assert undo.disk() == {"d/f": changed(), "g": b"2\n"}


def test_a_file_that_was_deleted_later_or_made_again_is_asked_about(undo: UndoTown) -> None:
    undo.turn({"f": b"1\n", "g": b"1\n"})
    undo.turn({"f": b"2\n", "g": None})
    undo.put({"f": None, "g": b"mine\n"})
    found = undo.plan(2)
    assert [(one.path, one.kind) for one in found.overlaps] == [("f", Overlap.FILE), ("g", Overlap.FILE)]
    report = undo.undo_turn(2, decide=((WorkspacePath("f"), 0, Decision.UNDO), (WorkspacePath("g"), 0, Decision.KEEP)))
    assert (report.restored, report.failed) == (("f",), ())
    assert undo.disk() == {"f": b"1\n", "g": b"mine\n"}


def test_bytes_that_are_no_text_go_back_whole_or_are_asked_about(undo: UndoTown) -> None:
    undo.turn({"f": b"\0one", "g": b"\0one"})
    undo.turn({"f": b"\0two", "g": b"\0two"})
    undo.put({"g": b"\0mine"})
    found = undo.plan(2)
    assert [(one.path, one.kind) for one in found.overlaps] == [("g", Overlap.FILE)]
    undo.undo_turn(2, decide=Decision.KEEP)
    assert undo.disk() == {"f": b"\0one", "g": b"\0mine"}


def test_modes_are_merged_like_contents(undo: UndoTown) -> None:
    undo.turn({"f": changed(), "g": changed()})
    for path in ("f", "g"):
        (undo.work / path).chmod(0o644)

    async def executable(wired: Wired) -> None:
        turns = wired.core.turns
        await turns.begin(CHAT, workspace=undo.work, agent="Agent", prompt="go")
        for path in ("f", "g"):
            await turns.record(CHAT, path, content=None, deleted=False, mode=0o755)
            (undo.work / path).chmod(0o755)
        await turns.end(CHAT, answer="done")

    undo.town.run(executable)
    undo.put({"f": changed(y="mine")})
    (undo.work / "g").chmod(0o700)
    found = undo.plan(2)
    assert [(one.path, one.kind) for one in found.overlaps] == [("g", Overlap.MODE)]
    undo.undo_turn(2, decide=Decision.UNDO)
    assert [(undo.work / path).stat().st_mode & 0o777 for path in ("f", "g")] == [0o644, 0o644]
    assert undo.read("f") == changed(y="mine")


def test_links_go_back_as_what_they_were(undo: UndoTown) -> None:
    undo.turn({"f": b"1\n"})
    os.symlink("f", undo.work / "link")
    undo.turn({"f": b"2\n"})

    def retarget() -> None:
        (undo.work / "link").unlink()
        os.symlink("elsewhere", undo.work / "link")

    undo.turn_of_others(retarget)
    undo.undo_turn(3)
    assert undo.disk() == {"f": b"2\n", "link": b"-> f"}
    undo.take_back()
    (undo.work / "link").unlink()
    os.symlink("mine", undo.work / "link")
    assert [one.kind for one in undo.plan(3).overlaps] == [Overlap.FILE]


def test_a_folder_that_became_a_file_and_a_file_that_became_a_folder_go_back(undo: UndoTown) -> None:
    undo.turn({"d/x": b"1\n", "f": b"1\n"})

    def swap() -> None:
        (undo.work / "d" / "x").unlink()
        (undo.work / "d").rmdir()
        (undo.work / "d").write_bytes(b"file\n")
        (undo.work / "f").unlink()
        undo.put({"f/y": b"in\n"})

    undo.turn_of_others(swap)
    undo.undo_turn(2)
    assert undo.disk() == {"d/x": b"1\n", "f": b"1\n"}
    undo.take_back()
    assert undo.disk() == {"d": b"file\n", "f/y": b"in\n"}
    undo.put({"d": b"mine\n", "f/mine": b"mine\n"})
    assert [(one.path, one.kind) for one in undo.plan(2).overlaps] == [("d", Overlap.FILE)]
    assert actions(undo.plan(2, decide=Decision.KEEP)) == {
        "d": "leave:changed-since",
        "d/x": "leave:file-on-the-way",
        "f": "leave:not-empty",
        "f/y": "delete",
    }
    report = undo.undo_turn(2, decide=Decision.UNDO)
    assert [(left.path, left.reason) for left in report.failed] == [("f", "not-empty")]
    assert undo.disk() == {"d/x": b"1\n", "f/mine": b"mine\n"}
    undo.take_back()
    assert undo.disk() == {"d": b"mine\n", "f/mine": b"mine\n", "f/y": b"in\n"}


def test_empty_folders_come_and_go_with_the_turn(undo: UndoTown) -> None:
    undo.turn({"f": b"1\n"})
    undo.turn_of_others(lambda: (undo.work / "e" / "deep").mkdir(parents=True))
    undo.undo_turn(2)
    assert not (undo.work / "e").exists()
    undo.take_back()
    assert (undo.work / "e" / "deep").is_dir()
    undo.turn_of_others(lambda: os.removedirs(undo.work / "e" / "deep"))
    undo.undo_turn(3)
    assert (undo.work / "e" / "deep").is_dir()


# -- renames -------------------------------------------------------------------------------------------------------


@pytest.fixture
def moved(undo: UndoTown) -> UndoTown:
    """Turn 2 gives a file another name and changes a line of it."""
    undo.turn({"old": changed()})
    undo.turn({"old": None, "new": changed(b="turn 2")})
    return undo


def test_a_renamed_file_goes_back_to_its_old_name_with_later_work_in_it(moved: UndoTown) -> None:
    moved.turn({"new": changed(b="turn 2", t="turn 3")})
    moved.put({"new": changed(b="turn 2", t="turn 3", y="mine")})
    before = moved.disk()
    report = moved.undo_turn(2)
    assert report.restored == ("new", "old")
    assert moved.disk() == {"old": changed(t="turn 3", y="mine")}
    assert (2, "new") in moved.undone()
    moved.take_back()
    assert moved.disk() == before


def test_a_file_that_was_only_renamed_takes_later_bytes_with_it(undo: UndoTown) -> None:
    """Text or not: the content was not changed, so whatever became of it goes to the old name."""
    undo.turn({"old": b"\0one"})
    undo.turn({"old": None, "new": b"\0one"})
    undo.put({"new": b"\0mine"})
    undo.undo_turn(2)
    assert undo.disk() == {"old": b"\0mine"}
    undo.take_back()
    assert undo.disk() == {"new": b"\0mine"}


def test_either_name_of_a_renamed_file_names_it(moved: UndoTown) -> None:
    for path in ("old", "new"):
        assert set(actions(moved.plan(2, paths=(path,)))) == {"old", "new"}


def test_a_hunk_of_a_renamed_file_goes_and_the_name_stays(moved: UndoTown) -> None:
    moved.undo_hunks(2, "new", 0)
    assert moved.disk() == {"new": changed()}


def test_a_renamed_file_whose_old_name_is_taken_is_asked_about(moved: UndoTown) -> None:
    moved.put({"old": b"mine\n"})
    found = moved.plan(2)
    assert [(one.path, one.kind) for one in found.overlaps] == [("new", Overlap.FILE)]
    moved.undo_turn(2, decide=Decision.KEEP)
    assert moved.disk() == {"new": changed(b="turn 2"), "old": b"mine\n"}
    moved.undo_turn(2, decide=Decision.UNDO)
    assert moved.disk() == {"old": changed()}


def test_a_renamed_file_that_was_deleted_later_is_asked_about(moved: UndoTown) -> None:
    moved.turn({"new": None})
    assert [(one.path, one.kind) for one in moved.plan(2).overlaps] == [("new", Overlap.FILE)]
    moved.undo_turn(2, decide=Decision.UNDO)
    assert moved.disk() == {"old": changed()}


# -- what is left, and what is refused -------------------------------------------------------------------------------


def test_a_side_that_nobody_has_is_left_with_the_reason(undo: UndoTown) -> None:
    undo.turn({"f": b"1\n", "g": b"1\n"})
    undo.turn({"f": changed(), "g": changed()})
    undo.turn({"f": changed(a="x")})
    sha = hashlib.sha256(changed()).hexdigest()
    for blob in undo.town.vault.rglob(sha[2:]):
        blob.write_bytes(b"damaged")
    assert actions(undo.plan(2)) == {"f": "leave:damaged", "g": "write"}
    report = undo.undo_turn(2)
    assert [(left.path, left.reason) for left in report.failed] == [("f", "damaged")]
    assert undo.disk() == {"f": changed(a="x"), "g": b"1\n"}


def test_a_file_too_large_to_be_kept_is_left_with_the_reason(undo: UndoTown) -> None:
    undo.turn({"f": b"1\n"})
    undo.town.run(lambda wired: wired.core.settings.set("capture.max_mb", "1"))
    large = b"x" * ((1 << 20) + 1)
    undo.put({"big": large})
    undo.turn({"big": b"small\n"})
    assert actions(undo.plan(2)) == {"big": "leave:not-captured"}


def test_a_plan_that_is_no_longer_true_is_refused(three: UndoTown) -> None:
    found = three.plan(2)
    three.put({"f": changed(a="later")})
    before = three.disk()
    with pytest.raises(PlanStale):
        three.do(found)
    assert three.disk() == before
    found = three.plan(2, decide=Decision.UNDO)
    three.turn({"g": b"another turn\n"})
    before = three.disk()
    with pytest.raises(PlanStale):
        three.do(found)
    assert three.disk() == before


def test_while_a_turn_runs_nothing_is_undone(three: UndoTown) -> None:
    found = three.plan(2)
    before = three.disk()
    with TurnLock(Fs(), three.town.vault / "desktop", OTHER).hold(1), pytest.raises(Busy):
        three.do(found)
    assert three.disk() == before


def test_points_and_hunks_that_are_none_are_refused(three: UndoTown) -> None:
    with pytest.raises(PointNotFound):
        three.plan(9)
    with pytest.raises(Malformed):
        three.plan((AfterTurn(2), BeforeTurn(2)))
    with pytest.raises(Malformed):
        three.plan((Now(), Now()))
    with pytest.raises(Malformed):
        three.plan(2, paths=("f",), hunks=(7,))
    with pytest.raises(Malformed):
        three.plan(2, hunks=(0,))


def test_a_path_that_the_change_did_not_touch_is_the_same_or_not_this_chats(three: UndoTown) -> None:
    three.put({"nobody": b"1\n"})
    assert actions(three.plan(3, paths=("nobody",))) == {"nobody": "leave:not-this-chat"}
    three.turn({"g": b"1\n"})
    assert actions(three.plan(2, paths=("g",))) == {"g": "leave:same"}


def test_a_plan_says_what_its_files_will_be_before_it_is_carried_out(three: UndoTown) -> None:
    found = three.plan(2)
    plan = found.plan
    assert plan is not None
    (file,) = plan.files
    assert (file.lines_added, file.lines_removed) == (2, 2)
    diff = three.town.run(lambda wired: wired.core.diffs.planned(plan, WorkspacePath("f")))
    lines = tuple(changed(t="turn 3", y="mine").decode().split("\n")[:-1])
    assert isinstance(diff.result, DiffDocument)
    assert tuple(diff.result.new.lines) == lines


def test_a_huge_file_is_merged_in_the_worker(undo: UndoTown) -> None:
    old, lines = [f"line {number}" for number in range(60_000)], [f"line {number}" for number in range(60_000)]
    undo.turn({"f": text(*old)})
    lines[5] = "turn 2"
    undo.turn({"f": text(*lines)})
    lines[50_000] = old[50_000] = "turn 3"
    undo.turn({"f": text(*lines)})
    undo.undo_turn(2)
    assert undo.read("f") == text(*old)
