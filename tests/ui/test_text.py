"""Untrusted text: cut into pieces, made visible, laid out without loading anything."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QUrl
from PySide6.QtGui import QImage, QPainter, QTextDocument
from pytestqt.qtbot import QtBot

from vibekit_desktop.core.highlight.lex import lex
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.dialogs.open_link import web_address
from vibekit_desktop.ui.long_text import MAX_LINE, cut_lines, terminal_lines
from vibekit_desktop.ui.models.markdown import Code, Prose, file_name, pieces, plain_pieces
from vibekit_desktop.ui.models.mini_diff import MiniLine, compare, counts, places
from vibekit_desktop.ui.text import tr_n
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.tokens import load_tokens
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.block_view import PaintState
from vibekit_desktop.ui.views.code_block import CodeBlockView
from vibekit_desktop.ui.views.text_block import DeadDocument, TextLayout, without_images
from vibekit_desktop.ui.visible import has_hidden, one_line, show, visible, visible_name


def test_fences_part_prose_and_code() -> None:
    text = "Before\n\n```python\nx = 1\n```\nAfter\n~~~\nplain\n~~~"
    assert pieces(text) == (Prose("Before"), Code("python", "x = 1"), Prose("After"), Code("", "plain"))


def test_a_fence_that_is_never_closed_takes_the_rest() -> None:
    assert pieces("a\n```sh\nls\n\nmore") == (Prose("a"), Code("sh", "ls\n\nmore", closed=False))


def test_a_longer_fence_holds_a_shorter_one() -> None:
    assert pieces("````md\n```py\nx\n```\n````") == (Code("md", "```py\nx\n```"),)


def test_inline_code_in_backticks_is_no_fence() -> None:
    assert pieces("``` not a fence ``` here") == (Prose("``` not a fence ``` here"),)


@given(st.text(alphabet="ab`~\n# ", max_size=200))
def test_no_line_of_code_is_lost(text: str) -> None:
    for piece in pieces(text):
        assert piece.text.replace("\n", "") in text.replace("\n", "")


def test_long_prose_is_split_between_paragraphs_only() -> None:
    paragraph = "Words and more words, enough of them to make a paragraph. " * 20
    text = "\n\n".join([paragraph.strip()] * 12 + ["- a list", "  that goes on"])
    found = pieces(text)
    assert len(found) > 2
    assert "\n\n".join(piece.text for piece in found) == text


@given(st.lists(st.sampled_from(["", "words", "words that go on " * 30, "x" * 900])), st.integers(0, 5))
def test_plain_text_is_cut_between_lines_and_stays_cut_as_it_grows(lines: list[str], more: int) -> None:
    text = "\n".join(lines)
    cut = plain_pieces(text)
    assert "\n".join(piece.text for piece in cut) == text
    assert plain_pieces(text + "and more\n" * more)[: len(cut) - 1] == cut[:-1]


def test_languages_have_file_names() -> None:
    assert (file_name("Python"), file_name("rs"), file_name("klingon")) == ("x.py", "x.rs", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\x1b[0m", "a\u241b[0m"),
        ("a\u202eb", "a\u27e8U+202E\u27e9b"),
        ("zero\u200bwidth", "zero\u27e8U+200B\u27e9width"),
        ("line\r\nend", "line\nend"),
        ("\ud800", "\u27e8U+D800\u27e9"),
        ("\udce9", "\u27e8E9\u27e9"),
        ("tag\U000e0041", "tag\u27e8U+E0041\u27e9"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("a\u200db", "a\u27e8U+200D\u27e9b"),
        ("\u0436\u200d\u0436", "\u0436\u27e8U+200D\u27e9\u0436"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("a\ufe0f\U000e0141", "a\u27e8U+FE0F\u27e9\u27e8U+E0141\u27e9"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(alphabet=st.sampled_from("aж😀\t\r\n\x00\x7f\u200b\u200c\u200d\ufe0f\U000e0101\u202e\udc80\ud800")))
def test_nothing_that_is_shown_hides_anything(text: str) -> None:
    shown = show(text)
    assert not has_hidden(shown.text)
    assert not has_hidden(visible(text).replace("\n", ""))
    assert visible(text.replace("\r", "").replace("\n", "")) == show(text.replace("\r", "").replace("\n", "")).text
    assert (shown.at(0), shown.at(len(text))) == (0, len(shown.text))
    positions = [shown.at(index) for index in range(len(text) + 1)]
    assert positions == sorted(positions)
    for index, character in enumerate(text):
        piece = shown.text[shown.at(index) : shown.at(index + 1)]
        assert piece == character or (shown.at(index), shown.at(index + 1)) in shown.tags


def test_a_name_shows_every_blank_and_a_title_does_not() -> None:
    assert visible_name(" a\t\n b") == " a\u2409\u240a b"
    assert one_line(" a\t\n b") == "a b"


def test_long_lines_are_cut_and_say_so() -> None:
    assert cut_lines("x" * (MAX_LINE + 5)).endswith(" … 5 more characters")
    assert one_line("a\n b\tc") == "a b c"


def test_output_of_a_terminal_shows_its_last_lines_without_colours() -> None:
    lines, count = terminal_lines("\x1b[32mone\x1b[0m\n10%\r50%\r100%\nthree\x07\n", 2)
    assert (lines, count) == (("100%", "three\x07"), 3)
    assert terminal_lines("", 12) == ((), 0)


def test_a_small_diff_marks_the_words_that_changed() -> None:
    lines = compare("## Empty\nRows are dropped.\n", "## Empty\nRows are kept.\nLazily.\n", (41, 41))
    assert lines == (
        MiniLine("", "## Empty", 41),
        MiniLine("-", "Rows are dropped.", 42, ((9, 16),)),
        MiniLine("+", "Rows are kept.", 42, ((9, 13),)),
        MiniLine("+", "Lazily.", 43),
    )


def test_a_rewritten_line_has_no_marks_and_no_number_is_invented() -> None:
    assert compare("abc\n", "something else entirely\n") == (MiniLine("-", "abc"), MiniLine("+", "something else entirely"))


def test_a_small_diff_has_no_blank_lines_around_what_changed_but_those_between_it() -> None:
    old, new = "top\n\none\n\ntwo\n\nend\n", "top\n\n1\n\n2\n\nend\n"
    assert [line.text for line in compare(old, new)] == ["one", "1", "", "two", "2"]
    assert [line.text for line in compare("\na\nb\n", "\na\nc\n")] == ["a", "b", "c"]


def test_a_fragment_has_line_numbers_only_where_it_stands_at_one_place() -> None:
    before, after = b"one\r\ntwo\r\nsame\r\nsame\r\n", b"one\n2\nand\nsame\nsame\n"
    fragments = (
        DiffFragment(path="a", old_text="two\n", new_text="2\nand\n"),
        DiffFragment(path="a", old_text="same", new_text="and"),
        DiffFragment(path="a", new_text="gone since"),
    )
    assert places(fragments, before, after) == ((2, 2), (0, 3), (0, 0))
    assert places(fragments, None, b"\xff\n2\nand\n")[0] == (0, 2)


def test_counts_are_of_lines() -> None:
    assert counts("", "a\nb\n") == (2, 0)
    assert counts("a\nb\nc", "a\nx\nc\nd") == (2, 1)


@given(st.text(alphabet="ab\n", max_size=40), st.text(alphabet="ab\n", max_size=40))
def test_a_small_diff_agrees_with_its_counts(old: str, new: str) -> None:
    lines = compare(old, new)
    assert counts(old, new) == (sum(line.sign == "+" for line in lines), sum(line.sign == "-" for line in lines))


def test_the_document_answers_every_request_with_a_blank(qtbot: QtBot) -> None:
    document = DeadDocument()
    picture = document.loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl("file:///etc/passwd"))
    assert isinstance(picture, QImage)
    assert (picture.width(), picture.height()) == (1, 1)
    for kind in (QTextDocument.ResourceType.HtmlResource, QTextDocument.ResourceType.StyleSheetResource):
        assert document.loadResource(kind.value, QUrl("file:///etc/passwd")) == ""


@pytest.fixture
def theme(qtbot: QtBot) -> Theme:
    return Theme(load_tokens(), dark=False)


def _paint(layout: TextLayout) -> QImage:
    image = QImage(720, max(1, layout.height), QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)
    painter = QPainter(image)
    layout.paint(painter, QPointF(0, 0))
    painter.end()
    return image


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("form", ["![x]({})", "![x][ref]\n\n[ref]: {}", "<img src='{}'>", "[![x]({})]({})"])
def test_a_picture_that_is_a_named_pipe_hangs_nothing(theme: Theme, tmp_path: Path, form: str) -> None:
    pipe = tmp_path / "picture.png"
    os.mkfifo(pipe)
    for address in (str(pipe), QUrl.fromLocalFile(str(pipe)).toString()):
        _paint(TextLayout(theme, form.replace("{}", address), 700))


def test_pictures_become_words_except_in_code() -> None:
    assert without_images("a ![cat](x.png) b") == "a (picture: cat) b"
    assert without_images("`![cat](x.png)`") == "`![cat](x.png)`"


def test_html_stays_text(theme: Theme) -> None:
    layout = TextLayout(theme, "<b>bold</b> <script>x</script>", 700)
    assert layout._document.toPlainText() == "<b>bold</b> <script>x</script>"


def test_links_are_reported_with_their_address(theme: Theme) -> None:
    hits = TextLayout(theme, "See [the guide](https://example.org/g) now.", 700).links(QPointF(0, 0))
    assert [(hit.action, hit.text) for hit in hits] == [("link", "https://example.org/g")]


@pytest.mark.parametrize("before", ["Words.", "One.\n\nWords.", "# Words", "- Words", "> Words"])
def test_a_table_stands_as_far_under_what_is_above_it_as_a_paragraph(theme: Theme, before: str) -> None:
    table = "| column | other |\n| --- | --- |\n| 1 | 2 |"
    alone, under, below = (TextLayout(theme, text, 600) for text in (table, f"{before}\n\n{table}", f"{before}\n\nunder"))
    inside = alone.box_of(alone.text.index("column")).top() - below.box_of(0).top()  # from its edge to its text
    expected = below.box_of(below.text.index("under")).top() + inside
    assert under.box_of(under.text.index("column")).top() == pytest.approx(expected, abs=1)


def test_a_table_after_a_quotation_has_no_empty_line_in_its_first_cell(theme: Theme) -> None:
    layout = TextLayout(theme, "> quote\n\n| A | B |\n|---|---|\n| c | d |\n", 700)
    assert layout._document.toPlainText().split("\n").count("") <= 1


def test_a_code_line_with_a_tab_keeps_its_colours(theme: Theme) -> None:
    def picture(styles: StyleRuns | None) -> QImage:
        view = CodeBlockView(theme, "python", "\tif x: pass", 400, "key", styles=styles)
        image = QImage(400, view.height, QImage.Format.Format_RGB32)
        image.fill(0xFFFFFF)
        painter = QPainter(image)
        view.paint(painter, PaintState())
        painter.end()
        return image

    assert picture(lex("x.py", ["\tif x: pass"])) != picture(None)


def test_one_line_without_spaces_is_laid_out(theme: Theme) -> None:
    assert TextLayout(theme, cut_lines("x" * 200_000), 700, plain=True).height > 100


@given(st.text(max_size=300))
def test_any_text_can_be_laid_out(qapp: object, text: str) -> None:
    theme = Theme(load_tokens(), dark=True)
    for piece in pieces(text):
        if isinstance(piece, Prose):
            _paint(TextLayout(theme, piece.text, 300))


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "smb://host/share",
        "//host/share",
        "\\\\host\\share",
        "vscode://file/x",
        "https://",
        "https://user:secret@example.org/",
        "https://example.org/" + "a" * 10_000,
        "/etc/passwd",
        "x",
    ],
)
def test_only_web_addresses_can_be_opened(address: str) -> None:
    assert web_address(address) is None


def test_a_web_address_is_one() -> None:
    url = web_address("https://example.org/a?b=c")
    assert url is not None
    assert url.host() == "example.org"


def test_a_tool_tip_never_reads_markup() -> None:
    assert plain_tip("Show diff of <img src=x>.py") == "<qt>Show diff of &lt;img src=x&gt;.py</qt>"
    assert plain_tip("Show diff of a.py") == "Show diff of a.py"
    assert plain_tip("&lt;img src=x>.py") == "<qt>&amp;lt;img src=x&gt;.py</qt>"
    assert plain_tip("<img src='/etc/passwd'>") == "<qt>&lt;img src=&#x27;/etc/passwd&#x27;&gt;</qt>"
    assert plain_tip("") == ""
    assert plain_tip("a\u202eb\nc") == "a\u27e8U+202E\u27e9b\nc"


def test_a_tool_tip_keeps_its_lines_and_wraps_long_ones() -> None:
    assert plain_tip("Agent 1.0\nContext: 5 of 10 tokens") == "Agent 1.0\nContext: 5 of 10 tokens"
    assert plain_tip(f"Agent <1>\n{'x ' * 50}").startswith("<qt>Agent &lt;1&gt;<br>x x ")


def test_all_numbers_of_a_sentence_are_written_alike() -> None:
    assert tr_n("{done} of {n} file", "{done} of {n} files", 1500, done=1499) == "1,499 of 1,500 files"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![a\nb](x.png) and `code` in [go](https://e.org)", "(picture) and code in go"),
        ("> ![a [b] c](x.png)\n> `code` then [go](https://e.org)", "(picture: a (b) c](x.png) code then go"),
        ("`code` `more` [go](https://e.org) `end`", "code more go end"),
    ],
)
def test_a_code_span_and_a_link_stand_on_their_own_words(theme: Theme, text: str, shown: str) -> None:
    layout = TextLayout(theme, text, 700)
    assert layout.text == shown
    words = [word for word in ("code", "more", "end") if word in shown]
    assert len(layout._spans) == len(words), "each span has a box of its own"
    for word, span in zip(words, layout._spans, strict=True):
        at = shown.index(word)
        assert 0 < layout.box_of(at).x() - span.x() < 5
        assert 0 <= span.right() - layout.box_of(at + len(word) - 1).x() < 16
    (link,) = layout.links(QPointF())
    assert link.box.x() == pytest.approx(layout.box_of(shown.index("go")).x())
