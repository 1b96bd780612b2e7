"""Finding, choosing and following text in a diff: the same as a plain reference, for any texts."""

from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.types.diffs import Compare, DiffDocument, DiffSide, Ignore, RowKind
from vibekit_desktop.ui.models.diff_find import Hit, Hits
from vibekit_desktop.ui.models.diff_follow import Follow, hunk_again
from vibekit_desktop.ui.models.diff_runs import NEW, OLD, Runs
from vibekit_desktop.ui.models.diff_select import Place, Selection, everything, parts_of, text_of, whole_lines

LINES = st.lists(st.sampled_from(["a", "b", "aXa", "xx", "", "def f():", "日本"]), max_size=40)


def document(old: str, new: str, compare: Compare | None = None) -> DiffDocument | None:
    result = build(old.encode(), new.encode(), how=compare or Compare(), limits=UNLIMITED)
    return result if isinstance(result, DiffDocument) else None


def search(found: DiffDocument, text: str, *, match_case: bool = False) -> Hits:
    hits = Hits(Runs(found), text, match_case=match_case)
    for _ in hits.search():
        pass
    assert hits.whole
    return hits


def expected(found: DiffDocument, text: str) -> list[Hit]:
    places: list[Hit] = []
    for number, row in enumerate(found.rows):
        lines = []
        old = found.old.lines[row.old_line - 1] if row.old_line else None
        new = found.new.lines[row.new_line - 1] if row.new_line else None
        if old is not None and (row.kind is not RowKind.SAME or old != new):
            lines.append((OLD, old))
        if new is not None:
            lines.append((NEW, new))
        for side, line in lines:
            start = line.lower().find(text.lower())
            while start >= 0:
                places.append(Hit(number, side, start, start + len(text)))
                start = line.lower().find(text.lower(), start + len(text))
    return places


@given(LINES, LINES, st.sampled_from(["a", "X", "xx", "f(", "本"]))
def test_every_place_of_a_text_is_found_once_and_in_order(old: list[str], new: list[str], text: str) -> None:
    found = document("\n".join(old) + "\n", "\n".join([*new, "end"]) + "\n")
    if found is not None:
        hits = search(found, text)
        assert [hits[at] for at in range(len(hits))] == expected(found, text)


def test_a_line_that_differs_only_in_ignored_blanks_is_looked_at_on_both_sides() -> None:
    found = document("a  b\nc\n", "a b\nd\n", Compare(Ignore.ALL))
    assert found is not None
    assert [tuple(hit) for hit in map(search(found, "b").__getitem__, range(2))] == [(0, OLD, 3, 4), (0, NEW, 2, 3)]


def test_case_counts_only_if_it_is_asked_for() -> None:
    found = document("", "Row row ROW\n")
    assert found is not None
    assert len(search(found, "row")) == 3
    assert len(search(found, "row", match_case=True)) == 1


def test_a_place_deep_in_one_long_line_is_found_in_several_steps() -> None:
    text = "ab" * 300_000 + "needle" + "ab" * 300_000
    found = document("", text + "\n")
    assert found is not None
    hits = Hits(Runs(found), "needle")
    steps = sum(1 for _ in hits.search())
    assert steps > 3
    assert tuple(hits[0]) == (0, NEW, 600_000, 600_006)
    edge = document("", "x" * 199_998 + "needle\n")
    assert edge is not None
    assert len(search(edge, "needle")) == 1


def test_the_next_place_is_the_first_from_a_row_on_and_then_from_the_top() -> None:
    found = document("", "x\n-\nx\n-\n")
    assert found is not None
    hits = search(found, "x")
    assert [hits.at_or_after(row) for row in range(4)] == [0, 1, 1, 0]
    assert [index for index, _ in hits.in_row(2)] == [1]


@given(LINES, LINES, st.booleans())
def test_every_line_is_found_in_its_row(old: list[str], new: list[str], blank_lines: bool) -> None:
    how = Compare(blank_lines=blank_lines)
    found = document("\n".join(old) + "\n", "\n".join([*new, "end"]) + "\n", how)
    if found is None:
        return
    runs = Runs(found)
    for number, row in enumerate(found.rows):
        assert runs.kind(number) is row.kind
        if row.old_line:
            assert runs.row_of(OLD, row.old_line) == number
        if row.new_line:
            assert runs.row_of(NEW, row.new_line) == number
    changed = {number for number, row in enumerate(found.rows) if row.kind is not RowKind.SAME}
    assert changed == {number for run in runs.runs for number in range(run.first, run.last + 1)}
    assert changed == {number for first, last, _ in runs.stretches for number in range(first, last + 1)}


def test_rows_that_do_not_come_packed_are_read_one_by_one() -> None:
    found = document("a\nb\nc\n", "a\nx\nc\nd\n")
    assert found is not None
    plain = DiffDocument(
        old=found.old,
        new=found.new,
        rows=tuple(found.rows),
        hunks=found.hunks,
        notes=(),
        lines_added=found.lines_added,
        lines_removed=found.lines_removed,
    )
    assert Runs(plain).runs == Runs(found).runs


def side(text: str, ending: str = "LF") -> DiffSide:
    final = text.endswith("\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    return DiffSide(lines=tuple(lines), exists=True, line_ending=ending, final_newline=final)


@given(st.text("ab\n\t\u202e日", max_size=60), st.data())
def test_what_is_copied_is_the_very_text_between_two_places(text: str, data: st.DataObject) -> None:
    of = side(text)
    if not of.lines:
        return
    places = []
    for _ in range(2):
        line = data.draw(st.integers(1, len(of.lines)))
        places.append(Place(line, data.draw(st.integers(0, len(of.lines[line - 1])))))
    offsets = sorted(sum(len(one) + 1 for one in of.lines[: place.line - 1]) + place.column for place in places)
    chosen = Selection(NEW, *places)
    assert text_of(of, chosen) == text[offsets[0] : offsets[1]]
    for lines in (1, 2, 100):
        assert "".join(text_of(of, part) for part in parts_of(chosen, lines)) == text_of(of, chosen)
    assert text_of(of, everything(of, NEW)) == text


def test_line_ends_are_copied_as_they_are() -> None:
    whole = Selection(OLD, Place(1, 0), Place(3, 1))
    assert text_of(side("a\nb\nc", "CRLF"), whole) == "a\r\nb\r\nc"
    assert text_of(side("a\nb\nc", "CR"), whole) == "a\rb\rc"
    assert text_of(side("a\nb\nc", "mixed"), whole, frozenset({2})) == "a\nb\r\nc"


def test_whole_lines_are_chosen_upwards_and_downwards_without_the_last_end() -> None:
    of = side("one\ntwo\nthree\n")
    assert text_of(of, whole_lines(of, NEW, 1, 2)) == text_of(of, whole_lines(of, NEW, 2, 1)) == "one\ntwo"
    assert whole_lines(of, NEW, 3, 2).lines() == (2, 3)
    assert Selection(NEW, Place(1, 0), Place(3, 0)).lines() == (1, 2)


def test_a_line_is_followed_whatever_came_above_or_below_it() -> None:
    before = [f"line {n}" for n in range(100)]
    assert Follow(before, ["new", *before]).line(50) == 51
    assert Follow(before, [*before, "new"]).line(50) == 50
    assert Follow(before, [*before[10:], "more", "and more"]).line(50) == 40
    assert Follow(before, before[:49] + before[50:]).line(50) is None
    assert Follow(before, before[:49] + before[50:]).near(50) == 49
    assert Follow(before, []).near(50) == 1


def test_among_equal_lines_the_one_with_the_same_neighbours_is_followed() -> None:
    before = ["}", "a", "}", "b", "}", "c", "}"]
    after = ["x", "y", *before[2:], "z", "z2", "z3"]
    assert after[(Follow(before, after).line(5) or 0) - 2] == "b"


def test_a_hunk_is_known_again_by_its_changed_lines() -> None:
    base = [f"line {n}" for n in range(60)]

    def with_(*changes: tuple[int, str]) -> str:
        lines = list(base)
        for at, text in changes:
            lines[at] = text
        return "\n".join(lines) + "\n"

    old = "\n".join(base) + "\n"
    before = document(old, with_((10, "ten!"), (40, "forty!")))
    kept = document(old, with_((2, "two!"), (40, "forty!")))
    assert before is not None
    assert kept is not None
    assert hunk_again(before, 1, kept, 40) == 1
    assert hunk_again(before, 0, kept, 10) is None
