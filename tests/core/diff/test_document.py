"""What a diff document promises, whatever the two files are."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.diff.strategies import edited, sides
from vibekit_desktop.core.diff.document import UNLIMITED, Cancelled, Comparison, Limits, assemble, build, compare
from vibekit_desktop.core.diff.lines import count
from vibekit_desktop.core.types.diffs import (
    EXACT,
    BinaryPair,
    Compare,
    DiffDocument,
    DiffNote,
    Identical,
    Ignore,
    Note,
    RowKind,
    TooLarge,
)

COMPARE = st.builds(Compare, st.sampled_from(Ignore))


def document(old: bytes | None, new: bytes | None, how: Compare = EXACT) -> DiffDocument:
    found = build(old, new, how=how)
    assert isinstance(found, DiffDocument)
    return found


def text(lines: list[str]) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def shown(found: DiffDocument) -> list[str]:
    """Rows as ``=``, ``-``, ``+`` and ``~`` with their line numbers."""
    signs = {RowKind.SAME: "=", RowKind.DELETED: "-", RowKind.ADDED: "+", RowKind.CHANGED: "~"}
    return [f"{signs[row.kind]}{row.old_line or ''}:{row.new_line or ''}" for row in found.rows]


@given(sides(), COMPARE)
def test_rows_hold_every_line_of_both_sides_once_and_in_order(pair: tuple[bytes | None, bytes | None], how: Compare) -> None:
    found = build(*pair, how=how)
    if not isinstance(found, DiffDocument):
        assert isinstance(found, Identical)
        assert pair[0] == pair[1]
        return
    assert [row.old_line for row in found.rows if row.old_line] == list(range(1, len(found.old.lines) + 1))
    assert [row.new_line for row in found.rows if row.new_line] == list(range(1, len(found.new.lines) + 1))
    for row in found.rows:
        assert (row.old_line is None) == (row.kind is RowKind.ADDED)
        assert (row.new_line is None) == (row.kind is RowKind.DELETED)


@given(sides(), COMPARE)
@example(pair=(b"\n    }", b"\n}\n    }"), how=Compare(Ignore.ALL))
def test_same_rows_are_equal_and_all_others_are_counted(pair: tuple[bytes | None, bytes | None], how: Compare) -> None:
    found = build(*pair, how=how)
    if not isinstance(found, DiffDocument):
        return
    same = changed = 0
    for row in found.rows:
        if row.old_line and row.new_line and row.kind is RowKind.SAME:
            one, other = found.old.lines[row.old_line - 1], found.new.lines[row.new_line - 1]
            same += 1
            assert one == other or (how.ignore is not Ignore.NOTHING and "".join(one.split()) == "".join(other.split()))
        changed += row.kind is not RowKind.SAME
    assert found.lines_removed == len(found.old.lines) - same
    assert found.lines_added == len(found.new.lines) - same
    assert bool(changed) == bool(found.hunks)
    if how == EXACT:
        assert count(*pair) == (found.lines_added, found.lines_removed)


@given(sides())
def test_the_new_side_can_be_rebuilt_from_the_old_side_and_the_hunks(pair: tuple[bytes | None, bytes | None]) -> None:
    found = build(*pair)
    if not isinstance(found, DiffDocument):
        return
    rebuilt: list[str] = []
    position = 0  # lines of the old side already used
    for hunk in found.hunks:
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        rebuilt += found.old.lines[position:start]
        assert len(rebuilt) == (hunk.new_start - 1 if hunk.new_lines else hunk.new_start)
        rows = found.rows[hunk.first_row : hunk.last_row + 1]
        assert sum(row.old_line is not None for row in rows) == hunk.old_lines
        assert sum(row.new_line is not None for row in rows) == hunk.new_lines
        for row in rows:
            if row.kind is RowKind.SAME and row.old_line:
                rebuilt.append(found.old.lines[row.old_line - 1])
            elif row.new_line:
                rebuilt.append(found.new.lines[row.new_line - 1])
        position = start + hunk.old_lines
    rebuilt += found.old.lines[position:]
    assert tuple(rebuilt) == found.new.lines


@given(sides())
def test_hunks_hold_every_change_with_at_most_three_lines_around_and_never_touch(
    pair: tuple[bytes | None, bytes | None],
) -> None:
    found = build(*pair)
    if not isinstance(found, DiffDocument):
        return
    inside: set[int] = set()
    last = -1
    for hunk in found.hunks:
        assert last < hunk.first_row <= hunk.first_change <= hunk.last_change <= hunk.last_row < len(found.rows)
        assert hunk.first_change - hunk.first_row <= 3
        assert hunk.last_row - hunk.last_change <= 3
        assert found.rows[hunk.first_change].kind is not RowKind.SAME
        assert found.rows[hunk.last_change].kind is not RowKind.SAME
        inside |= set(range(hunk.first_change, hunk.last_change + 1))
        last = hunk.last_row
    assert all(number in inside for number, row in enumerate(found.rows) if row.kind is not RowKind.SAME)


@given(edited())
def test_there_are_never_fewer_changes_than_the_longest_common_part_leaves(pair: tuple[list[str], list[str]]) -> None:
    old, new = pair
    common = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, one in enumerate(old):
        for j, other in enumerate(new):
            common[i + 1][j + 1] = common[i][j] + 1 if one == other else max(common[i][j + 1], common[i + 1][j])
    least = common[-1][-1]
    added, removed = count(text(old), text(new)) or (-1, -1)
    assert removed >= len(old) - least
    assert added >= len(new) - least
    if least in (len(old), len(new)):  # only insertions, or only deletions: there is one right answer
        assert (added, removed) == (len(new) - least, len(old) - least)


@given(sides())
def test_different_bytes_never_look_equal(pair: tuple[bytes | None, bytes | None]) -> None:
    found = build(*pair)
    if isinstance(found, DiffDocument) and None not in pair:
        assert found.hunks or found.notes


def test_a_missing_file_and_an_empty_one_are_not_the_same() -> None:
    found = document(None, b"")
    assert (found.old.exists, found.new.exists) == (False, True)
    assert not found.rows
    assert build(None, None) == Identical(0)
    assert build(b"a\n", b"a\n") == Identical(2)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, b"a\nb\n", (2, 0)),
        (b"", b"", (0, 0)),
        (b"a\nb\n", None, (0, 2)),
        (b"a\n", b"a\nb", (1, 0)),
        (b"a\nb", b"a\n", (0, 1)),
        (b"a\nb\n", b"a\nB\n", (1, 1)),
        (b"a\r\nb\r\n", b"a\nb\n", (0, 0)),
        (b"a", b"a\n", (0, 0)),
        (b"\n\n", b"\n", (0, 1)),
        (b"a\0", b"a", None),
    ],
)
def test_lines_are_counted(old: bytes | None, new: bytes | None, expected: tuple[int, int] | None) -> None:
    assert count(old, new) == expected


def test_line_ends_are_a_note_and_not_changed_lines() -> None:
    found = document(b"a\r\nb\r\n", b"a\nb\n")
    assert found.notes == (DiffNote(Note.LINE_ENDINGS, "CRLF", "LF"),)
    assert not found.hunks
    assert shown(found) == ["=1:1", "=2:2"]


def test_one_line_end_changed_in_a_mixed_file_is_told() -> None:
    found = document(b"a\r\nb\nc\r\n", b"a\r\nb\nc\n")
    assert found.notes == (DiffNote(Note.LINE_ENDINGS, "mixed", "mixed"),)


def test_a_missing_last_newline_is_a_note() -> None:
    found = document(b"a\nb", b"a\nb\n")
    assert found.notes == (DiffNote(Note.FINAL_NEWLINE, "no", "yes"),)
    assert not found.hunks
    assert (found.old.final_newline, found.new.final_newline) == (False, True)


def test_a_changed_mode_is_a_note_even_where_the_bytes_are_equal() -> None:
    note = DiffNote(Note.MODE, "644", "755")
    assert build(b"a", b"a", old_mode=0o644, new_mode=0o755) == Identical(1, (note,))
    found = build(b"a", b"b", old_mode=0o644, new_mode=0o755)
    assert isinstance(found, DiffDocument)
    assert note in found.notes
    assert build(b"a", b"a", old_mode=0o644, new_mode=None) == Identical(1)


def test_the_encoding_is_read_from_the_bytes() -> None:
    assert document(b"", "é\n".encode()).new.encoding == "UTF-8"
    assert document(b"", "é\n".encode("utf-8-sig")).new.encoding == "UTF-8 BOM"
    assert document(b"", "é\n".encode("utf-16-le").join((b"\xff\xfe", b""))).new.encoding == "UTF-16 LE"
    assert document(b"", "é\n".encode("utf-16-be").join((b"\xfe\xff", b""))).new.encoding == "UTF-16 BE"
    assert document(b"", "é\n".encode("utf-32")).new.encoding.startswith("UTF-32")
    guessed = document(b"", "déjà vu\n".encode("latin-1")).new
    assert (guessed.encoding, guessed.lines) == ("Latin-1?", ("déjà vu",))


def test_a_changed_encoding_is_a_note_and_not_changed_lines() -> None:
    found = document("é\nb\n".encode(), "é\nb\n".encode("utf-16"))
    assert [note.note for note in found.notes] == [Note.ENCODING]
    assert not found.hunks


def test_a_first_accented_letter_is_no_change_of_encoding() -> None:
    assert document(b"deja\n", "déjà\n".encode("latin-1")).notes == ()


def test_stray_bytes_in_utf8_are_shown_and_told() -> None:
    found = document("äöü\n".encode(), "äöü".encode() + b"\xff\n")
    assert found.new.lines == ("äöü\udcff",)
    assert found.notes == (DiffNote(Note.INVALID_BYTES, "0", "1"),)


@pytest.mark.parametrize("data", [b"\x89PNG\0", b"a\0b\n", b"\xff\xfea", "a\0b".encode("utf-16")])
def test_what_is_no_text_is_binary(data: bytes) -> None:
    assert build(b"a\n", data) == BinaryPair(2, len(data))
    assert build(None, data) == BinaryPair(None, len(data))
    assert build(data, None) == BinaryPair(len(data), None)


def test_a_file_over_the_limits_is_not_laid_out_unless_asked() -> None:
    many, few = b"a\n" * 11, b"a\n" * 10
    limits = Limits(lines=10, size_bytes=100)
    assert build(few, many, limits=limits) == TooLarge(20, 22, 10, 11)
    assert isinstance(build(b"b\n", few, limits=limits), DiffDocument)
    assert build(b"x" * 101, b"y", limits=limits) == TooLarge(101, 1, 1, 1)
    assert build(None, b"x\n" * 51, limits=limits) == TooLarge(0, 102, None, 51)
    assert build(b"", b"x\0" * 51, limits=limits) == TooLarge(0, 102, 0, None)
    assert isinstance(build(few, many, limits=UNLIMITED), DiffDocument)
    assert build(many, many, limits=limits) == Identical(22)


def test_edited_lines_stand_in_one_row_and_rewritten_ones_beside_each_other() -> None:
    found = document(b"keep\nreturn total + tax\nend\n", b"keep\nreturn total - tax\nend\n")
    assert shown(found) == ["=1:1", "~2:2", "=3:3"]
    found = document(b"keep\nreturn total + tax\nend\n", b"keep\nwhile queue: poll()\nend\n")
    assert shown(found) == ["=1:1", "~2:2", "=3:3"]
    found = document(b"one = 1\ntwo = 2\nthree = 3\nreturn len(rows)\n", b"written()\nreturn len(seen)\nzzz\n")
    assert shown(found) == ["~1:1", "-2:", "-3:", "~4:2", "+:3"], (
        "what has no partner stands beside what came, or beside nothing"
    )


def test_lines_of_a_block_are_paired_by_what_they_say_not_by_their_place() -> None:
    old = b"alpha = compute(first)\nbeta = compute(second)\n"
    new = (
        b"# a comment that was not there\nalpha = compute(first, 1)\nsomething else entirely here\nbeta = compute(second, 2)\n"
    )
    assert shown(document(old, new)) == ["+:1", "~1:2", "+:3", "~2:4"]


def test_large_blocks_are_paired_too() -> None:
    old = [f"value_{number} = load({number})" for number in range(400)]
    new = [f"value_{number} = load({number}, cached=True)" for number in range(400)]
    found = document(text(old), text(["# new", *new]))
    kinds = [row.kind for row in found.rows]
    assert kinds.count(RowKind.CHANGED) > 390


def test_ignored_whitespace_leaves_no_changed_lines() -> None:
    old, new = b"if a:\n  b()\n", b"if a:\n    b( )\n"
    found = document(old, new, Compare(Ignore.ALL))
    assert not found.hunks
    assert found.notes == (DiffNote(Note.ONLY_WHITESPACE, "", ""),)
    assert found.new.lines[1] == "    b( )"
    seen = document(old, new)
    assert seen.hunks
    assert seen.notes == (DiffNote(Note.ONLY_WHITESPACE, "", ""),)


def test_ignored_whitespace_still_shows_the_other_changes() -> None:
    found = document(b"a\n  b\nc\n", b"a\nb\nd\n", Compare(Ignore.ALL))
    assert shown(found)[:2] == ["=1:1", "=2:2"]
    assert (found.lines_added, found.lines_removed) == (1, 1)
    assert found.notes == ()


def test_a_hunk_is_headed_by_the_function_it_is_in() -> None:
    lines = ["import os", "class Shop:", "    def buy(self):"] + [f"        step({n})" for n in range(20)]
    new = list(lines)
    new[15] = "        other()"
    (hunk,) = document(text(lines), text(new)).hunks
    assert hunk.heading == "def buy(self):"
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (13, 7, 13, 7)


def test_a_hunk_in_prose_is_headed_by_its_heading() -> None:
    lines = ["# Guide", "", "text", "", "## Install", "", *[f"line {n}" for n in range(12)]]
    new = [*lines[:14], "another", *lines[15:]]
    assert document(text(lines), text(new)).hunks[0].heading == "## Install"


def test_hunks_of_an_added_and_a_deleted_file_start_at_nothing() -> None:
    (hunk,) = document(None, b"a\nb\n").hunks
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (0, 0, 1, 2)
    (hunk,) = document(b"a\nb\n", None).hunks
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (1, 2, 0, 0)


def test_a_cancelled_diff_stops_between_two_steps() -> None:
    answers = iter([False, True])
    with pytest.raises(Cancelled):
        build(b"a\n", b"b\n", cancelled=lambda: next(answers))


def test_rows_can_be_sliced_compared_and_counted() -> None:
    rows = document(b"a\nb\nc\n", b"a\nB\nB\nc\n").rows
    assert len(rows) == len(tuple(rows)) == 4
    assert rows[1:3] == tuple(rows)[1:3]
    assert rows[-1] == tuple(rows)[-1]
    assert rows == tuple(rows)
    assert rows != document(b"a\n", b"b\n").rows
    assert rows != 3
    assert repr(rows) == "Rows(4)"
    with pytest.raises(IndexError):
        _ = rows[4]


def test_a_comparison_and_its_texts_make_the_same_document() -> None:
    old, new = b"a\nb\nc\n", b"a\nbb\nc\nd\n"
    found = compare(old, new)
    assert isinstance(found, Comparison)
    assert assemble(old, new, found) == build(old, new)
    assert compare(old, old) == build(old, old)
    added = compare(None, new)
    assert isinstance(added, Comparison)
    assert assemble(None, new, added) == build(None, new)


def test_two_hunks_of_one_function_have_the_same_heading() -> None:
    lines = ["def long():"] + [f"    step({n})" for n in range(60)]
    new = list(lines)
    new[20] = new[50] = "    other()"
    assert [hunk.heading for hunk in document(text(lines), text(new)).hunks] == ["def long():", "def long():"]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("export default async function load() {", True),
        ("pub(crate) fn load() {", True),
        ("    private static class Inner {", True),
        ("func (s *Shop) Buy() {", True),
        ("default: return 1", False),
        ("classes = 3", False),
        ("final value", False),
        ("# a comment", False),
    ],
)
def test_what_counts_as_a_heading(line: str, heading: bool) -> None:
    lines = ["x", line, *[f"{n};" for n in range(12)]]
    new = [*lines[:10], "y;", *lines[11:]]
    assert document(text(lines), text(new)).hunks[0].heading == (line.strip() if heading else "")
