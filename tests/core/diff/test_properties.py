"""What holds for any two contents and every way to compare them."""

from hypothesis import given
from hypothesis import strategies as st

from tests.core.diff.strategies import edited
from vibekit_desktop.core.diff.document import UNLIMITED, Comparison, assemble, build, compare
from vibekit_desktop.core.diff.hunks import CONTEXT
from vibekit_desktop.core.diff.moves import LEAST_LETTERS, LEAST_LINES
from vibekit_desktop.core.diff.partial import with_what_counts
from vibekit_desktop.core.diff.sides import Lines, pieces
from vibekit_desktop.core.diff.text import comparable, read
from vibekit_desktop.core.types.diffs import EXACT, Compare, DiffDocument, Identical, Ignore, RowKind

COMPARE = st.builds(Compare, st.sampled_from(Ignore), st.booleans())
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "cp1251")


@st.composite
def contents(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two contents in any encodings, with any line ends; now and then with a block that moved, or a stray byte."""
    old, new = draw(edited())
    if draw(st.booleans()):
        block = ["def moved_about(here):", "    return there(here)", "# the end of it"]
        old[(at := draw(st.integers(0, len(old)))) : at] = block
        new[(at := draw(st.integers(0, len(new)))) : at] = block
    sides = []
    for lines in (old, new):
        end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
        text = end.join(lines) + draw(st.sampled_from(["", end]))
        data = text.encode(draw(st.sampled_from(ENCODINGS)), "ignore")
        sides.append(data + draw(st.sampled_from([b"", b"", b"", b"\xff\n"])))
    return sides[0], sides[1]


def document(old: bytes, new: bytes, how: Compare = EXACT) -> DiffDocument | None:
    found = build(old, new, how=how, limits=UNLIMITED)
    return found if isinstance(found, DiffDocument) else None


def compared(old: bytes, new: bytes, how: Compare) -> tuple[list[bytes], list[bytes]]:
    """The lines of both sides as they are compared."""
    before, after = read(old), read(new)
    assert before is not None
    assert after is not None
    first, second = comparable(before, after, how)
    return first.split(b"\n")[:-1], second.split(b"\n")[:-1]


@given(contents(), COMPARE)
def test_the_hunks_rebuild_both_sides(pair: tuple[bytes, bytes], how: Compare) -> None:
    """Each side is what is outside of the hunks, which both have, with its own lines of the hunks put in."""
    found = document(*pair, how)
    if found is None:
        return
    old, new = compared(*pair, how)
    built: list[bytes] = []
    taken: list[bytes] = []
    i = j = 0
    for hunk in found.hunks:
        first, second = hunk.old_start - (hunk.old_lines > 0), hunk.new_start - (hunk.new_lines > 0)
        built += [*old[i:first], *new[second : second + hunk.new_lines]]
        taken += [*new[j:second], *old[first : first + hunk.old_lines]]
        i, j = first + hunk.old_lines, second + hunk.new_lines
    built += old[i:]
    taken += new[j:]
    if how.blank_lines:
        built, taken, old, new = ([line for line in lines if line] for lines in (built, taken, old, new))
    assert built == new
    assert taken == old


@given(contents(), COMPARE)
def test_rows_and_hunks_agree(pair: tuple[bytes, bytes], how: Compare) -> None:
    found = document(*pair, how)
    if found is None:
        return
    old, new = compared(*pair, how)
    rows = found.rows
    assert [row.old_line for row in rows if row.old_line] == list(range(1, len(found.old.lines) + 1))
    assert [row.new_line for row in rows if row.new_line] == list(range(1, len(found.new.lines) + 1))
    for row in rows:
        if row.kind is RowKind.SAME:
            one = old[row.old_line - 1] if row.old_line else b""
            other = new[row.new_line - 1] if row.new_line else b""
            assert one == other
            assert (row.old_line and row.new_line) or how.blank_lines
    end = -1
    changed = {number for number, row in enumerate(rows) if row.kind is not RowKind.SAME}
    for hunk in found.hunks:
        assert end < hunk.first_row <= hunk.first_change <= hunk.last_change <= hunk.last_row < len(rows)
        assert hunk.first_change in changed
        assert hunk.last_change in changed
        assert hunk.first_change - hunk.first_row <= CONTEXT
        inside = rows[hunk.first_row : hunk.last_row + 1]
        lines = [row.old_line for row in inside if row.old_line], [row.new_line for row in inside if row.new_line]
        for numbers, start, count in zip(
            lines, (hunk.old_start, hunk.new_start), (hunk.old_lines, hunk.new_lines), strict=True
        ):
            assert len(numbers) == count
            assert not numbers or numbers == list(range(start, start + count))
        changed -= set(range(hunk.first_change, hunk.last_change + 1))
        end = hunk.last_row
    assert not changed
    assert found.lines_removed == sum(row.old_line is not None for row in rows if row.kind is not RowKind.SAME)
    assert found.lines_added == sum(row.new_line is not None for row in rows if row.kind is not RowKind.SAME)


@given(contents(), COMPARE)
def test_moves_are_blocks_that_went_and_came(pair: tuple[bytes, bytes], how: Compare) -> None:
    found = document(*pair, how)
    if found is None:
        return
    old, new = compared(*pair, how)
    went = {row.old_line for row in found.rows if row.kind is not RowKind.SAME}
    came = {row.new_line for row in found.rows if row.kind is not RowKind.SAME}
    for move in found.moves:
        gone = set(range(move.old_first, move.old_last + 1))
        there = set(range(move.new_first, move.new_last + 1))
        assert gone <= went
        assert there <= came
        went -= gone
        came -= there
        assert len(gone) >= LEAST_LINES
        assert old[move.old_first - 1 : move.old_last] == new[move.new_first - 1 : move.new_last]
        block = b"".join(old[move.old_first - 1 : move.old_last]).decode("latin-1")
        assert sum(map(str.isalnum, block)) >= LEAST_LETTERS
    assert list(found.moves) == sorted(found.moves, key=lambda move: move.old_first)


@given(contents(), COMPARE)
def test_another_process_finds_the_same(pair: tuple[bytes, bytes], how: Compare) -> None:
    found = compare(*pair, how=how, limits=UNLIMITED)
    here = build(*pair, how=how, limits=UNLIMITED)
    if isinstance(found, Comparison):
        there = assemble(*pair, found)
        assert there == here
        assert isinstance(there.old.lines, Lines)
        assert list(there.new.lines) == list(there.new.lines[:])
        assert there.new.lines.text().removesuffix("\n") == "\n".join(there.new.lines).removesuffix("\n")  # type: ignore[attr-defined]  # lazy
    else:
        assert found == here


@given(contents())
def test_pieces_are_the_lines_of_the_document_as_bytes(pair: tuple[bytes, bytes]) -> None:
    found = document(*pair)
    if found is None:
        return
    for data, side in zip(pair, (found.old, found.new), strict=True):
        cut = pieces(data)
        assert cut is not None
        assert cut.mark + b"".join(cut.lines) == data
        assert len(cut.lines) == len(side.lines)


@given(contents(), COMPARE)
def test_making_only_what_counts_leaves_only_what_does_not(pair: tuple[bytes, bytes], how: Compare) -> None:
    old, new = pair
    made = with_what_counts(old, new, how)
    assert made is not None
    found = build(made, new, how=how, limits=UNLIMITED)
    if isinstance(found, DiffDocument):
        assert not found.hunks
    else:
        assert isinstance(found, Identical) or made == new
    if how == EXACT:
        assert made == new


def test_what_comes_or_goes_whole_is_made_whole() -> None:
    how = Compare(Ignore.ALL)
    assert with_what_counts(None, b"a", how) == b"a"
    assert with_what_counts(b"a", None, how) is None
    assert with_what_counts(b"\0", b"\0\1", how) == b"\0\1"
    assert with_what_counts(b"a b\r\nc\r\nd", b"ab\nC\nd\ne\n", how) == b"a b\r\nC\nd\r\ne\n"
    assert with_what_counts(b"d", b"d \ne\n", how) == b"d\ne\n"
