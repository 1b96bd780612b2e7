"""The row map: every document row is shown once or hidden in one fold, whatever is opened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui import sample_texts
from vibekit_desktop.core.diff.document import build
from vibekit_desktop.core.types.diffs import DiffDocument, RowKind
from vibekit_desktop.ui.models.diff_rows import STEP, DiffRows, Show


def document(old: bytes, new: bytes) -> DiffDocument:
    result = build(old, new)
    assert isinstance(result, DiffDocument)
    return result


@pytest.fixture
def sample() -> DiffDocument:
    return document(sample_texts.OLD_BYTES, sample_texts.NEW_BYTES)


def shown_lines(rows: DiffRows) -> tuple[list[int], list[int]]:
    old: list[int] = []
    new: list[int] = []
    for index in range(len(rows)):
        left, right = rows.sides(index)
        if left is not None:
            old.append(left)
        if right is not None:
            new.append(right)
    return old, new


def check(rows: DiffRows) -> None:
    """The invariants of a row map."""
    hidden_old: list[int] = []
    hidden_new: list[int] = []
    for fold in rows.folds:
        for row in rows.document.rows[fold.first : fold.last + 1]:
            assert row.kind is RowKind.SAME
            hidden_old.append(row.old_line or 0)
            hidden_new.append(row.new_line or 0)
    old, new = shown_lines(rows)
    assert sorted(old + hidden_old) == list(range(1, len(rows.document.old.lines) + 1))
    assert sorted(new + hidden_new) == list(range(1, len(rows.document.new.lines) + 1))
    assert old == sorted(old)
    assert new == sorted(new)
    y = 0
    for index in range(len(rows)):
        assert rows.top(index) == y
        height = rows.row_height(index)
        assert rows.at(y) == index
        assert rows.at(y + height - 1) == index
        y += height
    assert rows.height == y
    for hunk in range(len(rows.hunks)):
        first, last = rows.hunk_span(hunk)
        assert rows.row_kind(first) is not RowKind.SAME
        assert rows.row_kind(last) is not RowKind.SAME
        assert rows.hunk_at(first) == hunk
    marked = {index for index in range(len(rows)) if rows.row_kind(index) not in (RowKind.SAME, None)}
    covered = {index for mark in rows.marks() for index in range(rows.at(mark.top), rows.at(mark.bottom - 1) + 1)}
    assert marked == covered


@pytest.mark.parametrize("unified", [False, True])
def test_a_real_file_is_laid_out_with_folds_between_its_hunks(sample: DiffDocument, unified: bool) -> None:
    rows = DiffRows(sample, unified=unified)
    check(rows)
    assert [fold.count > STEP for fold in rows.folds] == [True, True]
    assert rows.kind(len(rows) - 1) is Show.END


def test_unified_shows_old_lines_of_a_change_before_the_new_ones() -> None:
    rows = DiffRows(document(b"a\nb\nc\n", b"x\ny\nc\n"), unified=True)
    kinds = [rows.kind(index) for index in range(len(rows))]
    assert kinds == [Show.OLD, Show.OLD, Show.NEW, Show.NEW, Show.PAIR]


def test_a_fold_opens_twenty_lines_at_the_end_that_was_asked_for(sample: DiffDocument) -> None:
    rows = DiffRows(sample, unified=False)
    fold = rows.folds[1]
    rows.show_more(1, up=True)
    assert rows.folds[1].last == fold.last - STEP
    rows.show_more(1, up=False)
    assert rows.folds[1].first == fold.first + STEP
    check(rows)


def test_revealing_a_hidden_row_opens_its_fold_only(sample: DiffDocument) -> None:
    rows = DiffRows(sample, unified=False)
    fold = rows.folds[0]
    assert rows.kind(rows.index_of(fold.first + 1)) is Show.FOLD
    rows.reveal(fold.first + 1)
    assert rows.kind(rows.index_of(fold.first + 1)) is Show.PAIR
    assert len(rows.folds) == 1


def test_a_single_hidden_line_is_shown_instead_of_a_bar() -> None:
    old = b"".join(b"%d\n" % n for n in range(9))
    new = old.replace(b"0\n", b"zero\n", 1).replace(b"8\n", b"eight\n")
    rows = DiffRows(document(old, new), unified=False)
    assert all(fold.count > 1 for fold in rows.folds)
    check(rows)


def test_text_zoom_changes_heights_and_nothing_else(sample: DiffDocument) -> None:
    rows = DiffRows(sample, unified=False)
    before = len(rows)
    rows.resize(line=40, fold=56)
    assert len(rows) == before
    check(rows)


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"def f():", b""]), max_size=60)
STEPS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["up", "down", "all"])), max_size=6)


@given(LINES, LINES, st.booleans(), STEPS, st.booleans())
def test_every_line_is_shown_once_or_hidden_once_whatever_is_opened(
    old: list[bytes], new: list[bytes], unified: bool, steps: list[tuple[int, str]], ends: bool
) -> None:
    tail = b"\n" if ends else b""
    shared = [b"same %d" % n for n in range(80)]
    result = build(b"\n".join([*old, *shared, *new]) + tail, b"\n".join([*new, *shared, *old]) + b"\n")
    if not isinstance(result, DiffDocument):
        return
    rows = DiffRows(result, unified=unified)
    check(rows)
    for number, which in steps:
        if number < len(rows.folds):
            if which == "all":
                rows.show_all(number)
            else:
                rows.show_more(number, up=which == "up")
            check(rows)
