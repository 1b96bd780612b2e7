"""The row map: every document row is shown once or hidden in one fold, whatever is opened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui import sample_texts
from vibekit_desktop.core.diff.document import build
from vibekit_desktop.core.types.diffs import DiffDocument, RowKind
from vibekit_desktop.ui.models.diff_heights import BLOCK, ExtraLines
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


SPANS = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 12)), max_size=4)


@given(LINES, LINES, st.booleans(), st.sampled_from([0, 3, 10, None]), SPANS)
def test_every_line_is_shown_once_or_hidden_once_with_any_context_and_any_lines_opened(
    old: list[bytes], new: list[bytes], unified: bool, context: int | None, spans: list[tuple[int, int]]
) -> None:
    shared = [b"same %d" % n for n in range(80)]
    result = build(b"\n".join([*old, *shared, *new]) + b"\n", b"\n".join([*new, *shared, *old]) + b"\n")
    if not isinstance(result, DiffDocument):
        return
    rows = DiffRows(result, unified=unified, context=context)
    check(rows)
    for hunk in result.hunks:
        first = max(0, hunk.first_change - (context or 0))
        assert all(rows.kind(rows.index_of(row)) is not Show.FOLD for row in range(first, hunk.last_change + 1))
    rows.open_rows([(first, first + count) for first, count in spans])
    check(rows)
    for first, count in spans:
        shown = range(first, min(first + count + 1, len(result.rows)))
        assert all(rows.kind(rows.index_of(row)) is not Show.FOLD for row in shown)
    again = DiffRows(result, unified=not unified, hidden=rows.hidden())
    assert again.hidden() == rows.hidden()
    check(again)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=400), st.lists(st.integers(0, 399), max_size=8), st.booleans())
def test_wrapped_rows_are_as_high_as_was_measured_and_everything_else_counts_as_one_line(
    extra: list[int], looked: list[int], whole: bool
) -> None:
    lines = ExtraLines(len(extra), lambda index, _exact: extra[index])
    known: set[int] = set()
    for index in looked:
        if index < len(extra):
            lines.look(index)
            known.update(range(index // BLOCK * BLOCK, min(len(extra), (index // BLOCK + 1) * BLOCK)))
    if whole:
        while lines.look_on():
            pass
        known = set(range(len(extra)))
    total = 0
    for index, value in enumerate(extra):
        assert lines.above(index) == total
        assert lines.of(index) == (value if index in known else 0)
        total += value if index in known else 0
    assert lines.above(len(extra)) == total


def test_an_estimate_is_replaced_by_what_was_measured() -> None:
    lines = ExtraLines(10, lambda _, exact: 3 if exact else 1)
    assert lines.look_on()
    assert lines.above(10) == 10
    assert lines.look(4)
    assert lines.above(10) == 30
    assert not lines.look(4)
    assert not lines.look_on()


def test_wrapped_rows_are_found_by_their_pixels(sample: DiffDocument) -> None:
    rows = DiffRows(sample, unified=False)
    rows.wrap(lambda index, _exact: index % 3 if rows.row_kind(index) is not None else 0)
    assert rows.extra is not None
    while rows.extra.look_on():
        pass
    check(rows)
    rows.show_all(0)
    assert rows.extra is not None
    assert rows.extra.above(len(rows)) == 0
