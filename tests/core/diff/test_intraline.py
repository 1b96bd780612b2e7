"""Word marks inside a changed line."""

from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.core.diff.document import build
from vibekit_desktop.core.diff.intraline import between, words
from vibekit_desktop.core.types.diffs import DiffDocument, Span, WordSpans


def marked(old: str, new: str) -> tuple[list[str], list[str]] | None:
    found = between(old, new)
    if found is None:
        return None
    return [old[span.start : span.end] for span in found.old], [new[span.start : span.end] for span in found.new]


def test_one_word_is_marked_whole() -> None:
    assert marked("return first_total", "return last_total") == (["first_total"], ["last_total"])


def test_words_in_several_places_are_marked() -> None:
    assert marked("load(path, mode) or fail(path)", "load(name, mode) or fail(name)") == (["path", "path"], ["name", "name"])


def test_an_insertion_marks_one_side() -> None:
    assert marked("call(a)", "call(a, b)") == ([], [", b"])


def test_neighbouring_words_are_one_mark() -> None:
    assert marked("say hello world now please", "say bonjour monde now please") == (["hello world"], ["bonjour monde"])


def test_indentation_is_marked() -> None:
    assert marked("  value", "    value") == (["  "], ["    "])


def test_a_rewritten_line_has_no_marks() -> None:
    assert marked("alpha beta gamma", "one two three four five") is None


def test_equal_lines_have_no_marks() -> None:
    assert marked("same", "same") is None


def test_letters_that_look_like_surrogate_pairs_elsewhere_count_as_one() -> None:
    assert between("emoji 😀 ends here", "emoji 😁 ends here") == WordSpans((Span(6, 7),), (Span(6, 7),))


def test_a_huge_line_is_marked_from_its_first_to_its_last_difference() -> None:
    middle = ";".join(f"a{n}" for n in range(20_000))
    found = between(f"start one {middle} two end", f"start 1 {middle} 2 end")
    assert found is None or len(found.old) == 1
    same = between("head " + "x;" * 50_000 + "old tail", "head " + "x;" * 50_000 + "new tail")
    assert same == WordSpans((Span(100_005, 100_008),), (Span(100_005, 100_008),))


WORDS = st.lists(st.sampled_from(["a", "bc", " ", "  ", "(", ")", ",", "é", "_x", "9"]), max_size=15).map("".join)


@given(WORDS, WORDS)
def test_marks_rise_stay_inside_the_line_and_leave_equal_text_outside(old: str, new: str) -> None:
    found = between(old, new)
    if found is None:
        return
    rest = []
    for text, spans in ((old, found.old), (new, found.new)):
        position = 0
        kept = ""
        for span in spans:
            assert position <= span.start < span.end <= len(text)
            kept += text[position : span.start]
            position = span.end
        rest.append(kept + text[position:])
    # the indentation has no mark where words changed
    assert rest[0].lstrip() == rest[1].lstrip()


def test_only_changed_rows_in_the_range_are_answered() -> None:
    found = build(b"a = 1\nsame\nb = 2\nc = 3\n", b"a = 9\nsame\nb = 8\nc = 7\n")
    assert isinstance(found, DiffDocument)
    assert sorted(words(found, 0, 2)) == [0, 2]
    assert sorted(words(found, 3, 99)) == [3]
    assert sorted(words(found, -5, 0)) == [0]


def test_indentation_is_not_marked_where_words_changed() -> None:
    found = between("    self._out.writerows(rows)", "        self._out.writerow(row)")
    assert found is not None
    assert [(span.start, span.end) for span in found.old] == [(14, 23), (24, 28)]
    assert [(span.start, span.end) for span in found.new] == [(18, 26), (27, 30)]


def test_a_change_of_indentation_alone_is_marked() -> None:
    found = between("  x = 1", "    x = 1")
    assert found is not None
    assert found.new[0].start < found.new[0].end <= 4


def test_of_two_equal_brackets_the_last_one_came_or_went() -> None:
    assert marked("x = f(a)", "x = g(f(a))") == ([], ["g(", ")"])
    assert marked("x = g(f(a))", "x = f(a)") == (["g(", ")"], [])


def test_blanks_on_both_sides_of_a_change_are_not_marked() -> None:
    assert marked("pending = False", "pending: Line | None = None") == (["False"], [": Line | None", "None"])


def test_what_clings_to_a_letter_is_marked_with_it() -> None:
    assert marked("ein cafe\u0301 hier", "ein cafe hier") == (["cafe\u0301"], ["cafe"])
    assert marked("sign \u2708\ufe0f off", "sign \u2708 off") == (["\u2708\ufe0f"], ["\u2708"])
    assert marked("now 👩\u200d🚀 goes there", "now 👩\u200d🎤 goes there") == (["👩\u200d🚀"], ["👩\u200d🎤"])


def test_a_change_of_the_indentation_alone_is_always_marked() -> None:
    assert marked("\tb()", "                b()") == (["\t"], ["                "])
