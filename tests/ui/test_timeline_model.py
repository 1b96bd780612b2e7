"""The timeline's rows: what they say, and by which signals they change."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes as samples
from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtEntry,
    Author,
    BeforeTurn,
    Conflict,
    Coverage,
    EntryKind,
    FileChange,
    FileState,
    Now,
    PinnedPoint,
    PlacedConflict,
    RestoreKind,
    Skipped,
    Start,
    State,
    TimelineEntry,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.models.conflicts import ConflictMarks
from vibekit_desktop.ui.models.timeline import TimelineModel
from vibekit_desktop.ui.models.timeline_beside import Beside
from vibekit_desktop.ui.models.timeline_build import rows_of
from vibekit_desktop.ui.models.timeline_phrases import coverage_text, only_rules
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind, Running, TimelineRow

OTHER = ChatId("11111111-1111-4111-8111-111111111111")


def rows(entries: tuple[TimelineEntry, ...] | None = None, **rest: int) -> list[TimelineRow]:
    return rows_of(samples.timeline(entries, **rest), now_ms=samples.NOW_MS)


def one(found: list[TimelineRow], kind: RowKind, number: int = 0) -> TimelineRow:
    return next(row for row in found if row.kind is kind and (not number or row.number == number))


def model() -> TimelineModel:
    return TimelineModel(now_ms=lambda: samples.NOW_MS)


def test_rows_stand_newest_first_with_the_disk_on_top() -> None:
    kinds = [row.kind for row in rows() if row.kind in (RowKind.NOW, RowKind.TURN, RowKind.ENTRY)]
    assert kinds == [
        RowKind.NOW,
        RowKind.TURN,
        RowKind.TURN,
        RowKind.ENTRY,
        RowKind.TURN,
        RowKind.TURN,
        RowKind.TURN,
    ]


def test_now_says_how_many_files_changed_since_the_last_turn() -> None:
    assert one(rows(), RowKind.NOW).detail == "2 files changed since turn 5"
    quiet = (*samples.entries()[:-1], replace(samples.entries()[-1], files=()))
    assert one(rows(quiet), RowKind.NOW).detail == "Nothing changed since turn 5"


def test_a_turn_tells_its_time_duration_and_prompt() -> None:
    turn = one(rows(), RowKind.TURN, 3)
    assert (turn.title, turn.detail) == ("Turn 3", "13:31 · 2 m 05 s")
    assert turn.prompt == "Now make it pass. Keep the public API."


def test_six_or_more_files_fold_and_open_on_demand() -> None:
    folded = one(rows(), RowKind.GROUP)
    assert (folded.title, folded.counts) == ("7 files", (58, 83))
    opened = rows_of(samples.timeline(), frozenset({folded.key}), now_ms=samples.NOW_MS)
    assert sum(1 for row in opened if row.kind is RowKind.FILE and row.number == 3) == 7


def test_a_files_diff_and_undo_point_at_the_turn_it_changed_in() -> None:
    row = next(row for row in rows() if row.title == "src/export/legacy_rows.py")
    assert (row.old, row.new, row.undo_to) == (BeforeTurn(4), AfterTurn(4), BeforeTurn(4))
    assert row.button_name(Button.UNDO) == "Undo what turn 4 did to src/export/legacy_rows.py"
    assert row.button_name(Button.DIFF) == "Show diff of src/export/legacy_rows.py, turn 4, 64 deleted"


def test_a_file_changed_since_goes_back_to_the_end_of_the_last_turn() -> None:
    row = next(row for row in rows() if row.in_now and row.kind is RowKind.FILE)
    assert (row.old, row.new, row.undo_to) == (AfterTurn(5), Now(), AfterTurn(5))


def test_changes_before_any_turn_count_from_the_start() -> None:
    now = TimelineEntry(kind=EntryKind.NOW, turn=0, at=0, files=(samples.change("a.py", 1, 1),))
    row = one(rows((now,)), RowKind.FILE)
    assert (row.old, row.undo_to) == (Start(), Start())


def test_every_turn_can_be_restored_to_even_one_that_changed_no_file() -> None:
    found = rows()
    assert one(found, RowKind.RESTORE, 1).undo_to == BeforeTurn(1)
    assert one(found, RowKind.QUIET).title == "No files changed"


def test_coverage_says_what_is_missing() -> None:
    turn = one(rows(), RowKind.TURN, 4)
    assert turn.buttons == (Button.COVERAGE,)
    assert turn.button_name(Button.COVERAGE) == "Coverage of turn 4: 1 file not captured, 48 MB"
    unknown = samples.turn(7, "14:00", 1, "x", (), (Skipped("a", "locked"), Skipped("b", "locked")))
    assert one(rows((unknown,)), RowKind.TURN, 7).button_name(Button.COVERAGE) == "Coverage of turn 7: 2 files not captured"


def test_a_command_makes_a_turn_doubtful_not_a_file_missing() -> None:
    ran = samples.turn(7, "14:00", 1, "x", (samples.change("a", 1, 1),), (Skipped("", "command"), Skipped("", "sub-agent")))
    row = one(rows((ran,)), RowKind.TURN, 7)
    assert row.buttons == (Button.COVERAGE,)
    assert row.button_name(Button.COVERAGE) == "Coverage of turn 7: may be incomplete"
    assert row.coverage is not None
    assert coverage_text(row.coverage) == "May be incomplete"
    both = samples.turn(8, "14:00", 1, "x", (samples.change("a", 1, 1),), (Skipped("", "command"), Skipped("b", "locked")))
    row = one(rows((both,)), RowKind.TURN, 8)
    assert row.coverage is not None
    assert coverage_text(row.coverage) == "1 not captured"


def test_now_counts_from_the_last_restore_only_what_that_put_back() -> None:
    *before, now = samples.entries()
    restore = next(entry for entry in before if entry.kind is EntryKind.RESTORE)
    undo = replace(restore, entry=2, files=(samples.change("src/export/csv_writer.py", 4, 4),))
    detail = one(rows((*before, undo, now)), RowKind.NOW).detail
    assert detail == "2 files changed since turn 5"
    whole = replace(restore, entry=2, files=now.files)
    assert one(rows((*before, whole, now)), RowKind.NOW).detail == "2 files changed since the last restore"
    assert one(rows((*before, whole, replace(now, files=()))), RowKind.NOW).detail == "Nothing changed since the last restore"


def test_what_a_rule_left_out_is_said_without_alarm() -> None:
    ignored = samples.turn(6, "14:10", 3, "Format it", [samples.change("a.py", 1, 1)], (Skipped(".ruff_cache", "ignored"),))
    row = one(rows((ignored,)), RowKind.TURN, 6)
    assert row.coverage is not None
    assert only_rules(row.coverage)
    assert coverage_text(row.coverage) == "1 left out"
    assert row.button_name(Button.COVERAGE) == "Coverage of turn 6: 1 left out by a rule"
    both = replace(row.coverage, skipped=(*row.coverage.skipped, Skipped("big", "too-large", 2_000_000)))
    assert not only_rules(both)
    assert coverage_text(both) == "2 not captured: 2.0 MB"
    assert coverage_text(both, with_size=False) == "2 not captured"


def test_a_file_that_is_missing_as_it_was_and_as_it_is_counts_once() -> None:
    twice = Coverage(
        complete=False, skipped=(Skipped("rand.bin", "no-copy", 3_000_000), Skipped("rand.bin", "cannot-store", 3_000_005))
    )
    assert coverage_text(twice) == "1 not captured: 3.0 MB"


def test_the_size_of_what_was_not_kept_comes_from_the_coverage_where_its_change_has_none() -> None:
    big = replace(samples.change("big", None, None, letter="A"), after=FileState(State.NOT_CAPTURED, reason="too-large"))
    turn = samples.turn(6, "14:10", 3, "Make it", [big], (Skipped("big", "too-large", 48_000_000),))
    assert one(rows((turn,)), RowKind.FILE, 6).remark == "48 MB, not captured"


def test_only_the_entry_that_undo_would_take_back_offers_undo() -> None:
    assert Button.TAKE_BACK in one(rows(can_undo=1), RowKind.ENTRY).buttons
    assert Button.TAKE_BACK not in one(rows(can_undo=9), RowKind.ENTRY).buttons


def test_restores_of_the_other_program_have_no_number_and_offer_no_undo() -> None:
    *before, now = samples.entries()
    theirs = [
        TimelineEntry(kind=EntryKind.RESTORE, turn=5, at=samples.moment(at), point="2", restore_kind=RestoreKind.RESTORE)
        for at in ("14:04", "14:05")
    ]
    found = rows((*before, *theirs, now), can_undo=0)
    entries = [row for row in found if row.kind is RowKind.ENTRY and not row.number]
    assert len({row.key for row in entries}) == 2
    assert not any(row.buttons for row in entries)
    between = replace(samples.entries()[-1], kind=EntryKind.BETWEEN, files=(samples.change("notes.md", 1, 1),))
    opened = frozenset({("between", between.turn, "")})
    shown = rows_of(samples.timeline((*before, between, *theirs, now)), opened=opened, now_ms=samples.NOW_MS)
    assert one(shown, RowKind.BETWEEN).open
    assert AtEntry(0) not in {row.new for row in shown}, "there is no such point"


def test_an_undone_restore_offers_redo_and_its_undo_has_no_row_of_its_own() -> None:
    *before, now = samples.entries()
    undone = tuple(replace(entry, undone=True) if entry.entry == 1 else entry for entry in before)
    undo = TimelineEntry(
        kind=EntryKind.RESTORE, turn=5, at=samples.moment("14:04"), entry=2, restore_kind=RestoreKind.UNDO, takes_back=1
    )
    found = rows((*undone, undo, now), can_undo=0, can_redo=2)
    entries = [row for row in found if row.kind is RowKind.ENTRY]
    assert len(entries) == 1
    assert entries[0].undone
    assert Button.REDO in entries[0].buttons


def test_a_branch_is_offered_only_while_it_is_there() -> None:
    *before, now = samples.entries()
    moved = tuple(replace(entry, branch_chat_id=ChatId("b")) if entry.entry == 1 else entry for entry in before)
    assert Button.OPEN_CHAT in one(rows((*moved, now)), RowKind.ENTRY).buttons
    undone = tuple(replace(entry, undone=True) if entry.entry == 1 else entry for entry in moved)
    assert Button.OPEN_CHAT not in one(rows((*undone, now)), RowKind.ENTRY).buttons


def test_redo_of_an_undone_file_is_offered_only_while_it_tells_the_truth() -> None:
    turn = samples.turn(5, "14:02", 5, "x", (samples.change("a.py", 1, 1, undone=True),))
    undo_file = TimelineEntry(
        kind=EntryKind.RESTORE,
        turn=5,
        at=samples.moment("14:03"),
        entry=3,
        point="before:5",
        restore_kind=RestoreKind.UNDO_FILE,
        files=(samples.change("a.py", 1, 1),),
    )
    row = one(rows((turn, undo_file), can_undo=3), RowKind.FILE, 5)
    assert (row.remark, row.buttons) == ("Undone", (Button.DIFF, Button.REDO))
    assert one(rows((turn, undo_file), can_undo=2), RowKind.FILE, 5).buttons == (Button.DIFF,)
    assert one(rows((turn, undo_file), can_undo=3), RowKind.ENTRY).title == "a.py as it was before turn 5"


def test_a_file_that_was_not_captured_offers_nothing_that_cannot_be_done() -> None:
    missing = replace(
        samples.change("big.bin", None, None), before=samples.FileState(samples.State.NOT_CAPTURED, size=48_000_000)
    )
    row = one(rows((samples.turn(2, "13:00", 1, "x", (missing,)),)), RowKind.FILE)
    assert row.remark == "48 MB, not captured"
    assert row.off == {Button.DIFF, Button.UNDO}
    assert row.why_off


def test_without_the_workspace_diff_works_and_undo_says_why_not() -> None:
    found = rows_of(samples.timeline(workspace_found=False), now_ms=samples.NOW_MS)
    row = next(row for row in found if row.kind is RowKind.FILE)
    assert row.off == {Button.UNDO}
    assert row.why_off == "The workspace was not found where it was."
    assert Button.RESTORE in one(found, RowKind.RESTORE).off


def test_changes_between_turns_fold_into_one_row() -> None:
    between = TimelineEntry(kind=EntryKind.BETWEEN, turn=2, at=0, files=(samples.change("a.py", 1, None),))
    turns = (samples.turn(2, "13:00", 1, "x", ()), between, samples.turn(3, "13:30", 1, "y", ()))
    found = rows(turns)
    row = one(found, RowKind.BETWEEN)
    assert row.title == "1 file changed after turn 2"
    opened = rows_of(samples.timeline(turns), frozenset({row.key}), now_ms=samples.NOW_MS)
    file = one(opened, RowKind.FILE)
    assert (file.old, file.new, file.undo_to) == (AfterTurn(2), BeforeTurn(3), AfterTurn(2))


def test_files_of_a_restore_show_what_it_changed() -> None:
    found = rows_of(samples.timeline(), frozenset({("entry", 1, "")}), now_ms=samples.NOW_MS)
    file = next(row for row in found if row.key[0] == "file" and row.key[2].startswith("entry"))
    assert (file.old, file.new) == (AtEntry(1), BeforeTurn(4))


def test_names_that_hide_something_are_shown_with_marks() -> None:
    row = one(rows((samples.turn(2, "13:00", 1, "a\u202eb", (samples.change("x\u202egpj.exe", 1, 1),)),)), RowKind.FILE)
    assert row.title == "x\u27e8U+202E\u27e9gpj.exe"


@pytest.mark.parametrize("opened", [False, True])
def test_the_model_passes_qts_own_tests(qtmodeltester: ModelTester, opened: bool) -> None:
    subject = model()
    subject.set_timeline(samples.timeline())
    if opened:
        subject.toggle(subject.row_of_key(("group", 3, "turn")))
    qtmodeltester.check(subject)


def test_a_new_turn_inserts_its_rows_and_resets_nothing(qtbot: QtBot) -> None:
    subject = model()
    subject.set_timeline(samples.timeline())
    *before, now = samples.entries()
    new = samples.turn(6, "14:10", 3, "one more", (samples.change("a.py", 1, 1),))
    with qtbot.assertNotEmitted(subject.modelReset), qtbot.waitSignal(subject.rowsInserted):
        subject.set_timeline(samples.timeline((*before, new, replace(now, turn=6, files=()))))
    assert subject.rows == tuple(rows((*before, new, replace(now, turn=6, files=()))))


def test_a_changed_row_is_said_to_have_changed_and_nothing_else(qtbot: QtBot) -> None:
    subject = model()
    subject.set_timeline(samples.timeline())
    *before, now = samples.entries()
    changed = replace(now, files=(replace(now.files[0], lines_added=7), now.files[1]))
    with qtbot.waitSignal(subject.dataChanged) as seen:
        subject.set_timeline(samples.timeline((*before, changed)))
    assert seen.args is not None
    assert seen.args[0].row() == 1


def test_another_chat_resets_and_forgets_what_was_open(qtbot: QtBot) -> None:
    subject = model()
    subject.set_timeline(samples.timeline())
    subject.toggle(subject.row_of_key(("group", 3, "turn")))
    with qtbot.waitSignal(subject.modelReset):
        subject.set_timeline(samples.timeline(chat=OTHER))
    assert len(subject.rows) == len(rows())


@given(st.lists(st.sampled_from(samples.entries()), max_size=7), st.lists(st.sampled_from(samples.entries()), max_size=7))
def test_updates_by_small_signals_end_where_a_fresh_model_begins(
    first: list[TimelineEntry], second: list[TimelineEntry]
) -> None:
    def ordered(entries: list[TimelineEntry]) -> tuple[TimelineEntry, ...]:
        return tuple(entry for entry in samples.entries() if entry in entries)

    subject = model()
    subject.set_timeline(samples.timeline(ordered(first)))
    ghost = list(subject.rows)
    subject.rowsRemoved.connect(lambda _, start, end: ghost.__delitem__(slice(start, end + 1)))
    subject.rowsInserted.connect(lambda _, start, end: ghost.__setitem__(slice(start, start), subject.rows[start : end + 1]))
    subject.dataChanged.connect(lambda top, _: ghost.__setitem__(top.row(), subject.rows[top.row()]))
    subject.set_timeline(samples.timeline(ordered(second)))
    assert ghost == list(subject.rows) == rows(ordered(second))


def test_an_incomplete_turn_without_a_list_is_called_partly_recorded() -> None:
    turn = replace(samples.turn(2, "13:00", 1, "x", (samples.change("a", 1, 1),)), coverage=Coverage(complete=False))
    assert "Partly recorded" in one(rows((turn,)), RowKind.TURN).name


def test_without_the_workspace_nobody_says_that_nothing_changed() -> None:
    gone = (TimelineEntry(kind=EntryKind.NOW, turn=1, at=samples.NOW_MS),)
    (row,) = [
        row for row in rows_of(samples.timeline(gone, workspace_found=False), now_ms=samples.NOW_MS) if row.kind is RowKind.NOW
    ]
    assert row.detail == "The workspace was not found where it was."


def beside(entries: tuple[TimelineEntry, ...] | None = None, **more: object) -> list[TimelineRow]:
    return rows_of(
        samples.timeline(entries),
        now_ms=samples.NOW_MS,
        beside=Beside(**more),  # type: ignore[arg-type]  # a builder for tests
    )


def test_now_says_who_it_was_only_where_that_is_known_of_every_file() -> None:
    *before, now = samples.entries()
    mine = tuple(replace(change, author=Author.USER) for change in now.files)
    theirs = tuple(replace(change, author=Author.CHAT, other_chat=OTHER) for change in now.files)

    def said(files: tuple[FileChange, ...], **names: object) -> str:
        return one(beside((*before, replace(now, files=files)), **names), RowKind.NOW).detail

    assert said(mine) == "2 files changed by you since turn 5"
    assert said(theirs) == "2 files changed by another chat since turn 5"
    assert said(theirs, names={OTHER: "Docs: tidy"}) == "2 files changed by “Docs: tidy” since turn 5"
    assert said((mine[0], theirs[1])) == "2 files changed since turn 5"


def test_a_pinned_point_stands_where_it_is_with_its_name() -> None:
    found = beside(pins=(PinnedPoint(BeforeTurn(4), "before the rewrite", 1), PinnedPoint(Start(), "clean", 2)))
    pins = [row for row in found if row.kind is RowKind.PIN]
    assert [(row.title, row.detail, row.point) for row in pins] == [
        ("before the rewrite", "Before turn 4", BeforeTurn(4)),
        ("clean", "Start of chat", Start()),
    ]
    above = found[found.index(pins[0]) - 1]
    assert (above.kind, above.number) == (RowKind.RESTORE, 4)
    assert found[-1] is pins[1]
    assert pins[0].name == "Pinned point before the rewrite, before turn 4"


def test_a_pin_of_a_point_that_is_not_shown_is_not_shown() -> None:
    assert beside(pins=(PinnedPoint(BeforeTurn(40), "gone", 1),)) == rows()


def test_a_file_that_somebody_else_wrote_meanwhile_carries_the_glyph_in_its_turn_only() -> None:
    conflict = Conflict(path=WorkspacePath("docs/export.md"), other_chat=OTHER, expected_sha="", actual_sha="", tag="5", ts=1)
    marks = ConflictMarks([PlacedConflict(conflict=conflict, turn=5)])
    marked = [row for row in beside(conflicts=marks) if row.conflict]
    assert [(row.path, row.number) for row in marked] == [("docs/export.md", 5)]
    assert marked[0].name.endswith("conflict")
    assert marked[0].button_name(Button.DIFF).endswith("conflict")


def test_turns_that_changed_nothing_can_be_left_out() -> None:
    empty = {entry.turn for entry in samples.entries() if entry.kind is EntryKind.TURN and not entry.files}
    shown = {row.number for row in beside(only_changes=True) if row.kind is RowKind.TURN}
    assert empty
    assert shown == {row.number for row in rows() if row.kind is RowKind.TURN} - empty


def test_everything_folds_and_unfolds() -> None:
    subject = model()
    subject.set_timeline(samples.timeline())
    subject.fold_all(True)
    turns = [row for row in subject.rows if row.kind is RowKind.FILE and not row.in_now]
    assert turns == []
    subject.fold_all(False)
    files = [row.path for row in subject.rows if row.kind is RowKind.FILE and row.key[2].startswith("turn")]
    assert len(files) == sum(len(entry.files) for entry in samples.entries() if entry.kind is EntryKind.TURN)


def test_what_stands_beside_one_chat_is_not_shown_beside_another() -> None:
    subject = model()
    subject.set_timeline(samples.timeline())
    subject.set_beside(Beside(pins=(PinnedPoint(BeforeTurn(4), "x", 1),), only_changes=True))
    subject.set_timeline(samples.timeline(chat=OTHER))
    assert subject.beside == Beside(only_changes=True)


def test_what_stands_under_now_is_not_said_again_between_the_turns() -> None:
    *turns, now = samples.entries()
    gone = samples.change("notes.md", 3, None, letter="A")
    between = replace(now, kind=EntryKind.BETWEEN, files=(*now.files, gone))
    undone = TimelineEntry(
        kind=EntryKind.RESTORE, turn=5, at=1, entry=2, point="before:5", restore_kind=RestoreKind.UNDO_FILE, files=(gone,)
    )

    def titles(*entries: TimelineEntry) -> list[str]:
        return [row.title for row in rows((*turns, *entries)) if row.kind is RowKind.BETWEEN]

    assert titles(between, undone, now) == ["1 file changed after turn 5"]
    assert titles(replace(between, files=now.files), undone, now) == []
    # What was changed again since is another change.
    others = tuple(replace(one, after=samples.present("c")) for one in now.files)
    assert titles(between, undone, replace(now, files=others)) == ["3 files changed after turn 5"]
    # While a turn runs there is no such block.
    running = rows_of(
        samples.timeline((*turns, between, undone, now)), now_ms=samples.NOW_MS, running=Running(6, samples.NOW_MS)
    )
    assert one(running, RowKind.BETWEEN).title == "3 files changed after turn 5"
