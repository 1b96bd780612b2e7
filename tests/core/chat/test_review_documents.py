"""A review as a page and as a summary: what they show, and that nothing of others becomes anything but text in them."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.chat.chats_of_all_kinds import HOSTILE
from tests.core.chat.test_export_html import CLASSES, METAS, PLAIN, VOID, Walker
from vibekit_desktop.core.chat.export_html import POLICY
from vibekit_desktop.core.chat.review_html import PageLimits, page
from vibekit_desktop.core.chat.review_markdown import summary
from vibekit_desktop.core.chat.review_sheet import Sheet, SheetFile, facts
from vibekit_desktop.core.chat.review_words import message
from vibekit_desktop.core.diff import intraline
from vibekit_desktop.core.diff.document import build
from vibekit_desktop.core.types.checkpoints import ABSENT, AfterTurn, FileState, Now, Start, State
from vibekit_desktop.core.types.diffs import (
    BinaryPair,
    DiffDocument,
    DiffNote,
    DiffRequest,
    DiffResult,
    FileDiff,
    Identical,
    Note,
    TooLarge,
    Unreadable,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, Side

CHAT = ChatId("chat-0001")
THERE = FileState(State.PRESENT)
TAGS = PLAIN | {"section", "a", "table", "colgroup", "col", "tr", "td", "mark"}
INSIDE = {"tr": "table", "td": "tr", "colgroup": "table", "col": "colgroup"}
OWN_CLASSES = CLASSES | {
    "files", "facts", "plus", "minus", "lines", "number", "hunk", "same", "went", "came", "moved", "said", "comment",
}  # fmt: skip


class ReviewWalker(Walker):
    """The same for the page of a review: also tables, and links from its list of files to the files in it."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.links: list[str] = []
        self.columns: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        self.elements.append(tag)
        if tag in INSIDE:
            assert self.open[-1] == INSIDE[tag], (tag, self.open)
        if tag == "meta":
            assert tuple(attrs) in METAS
            self.metas.append(tuple(attrs))
            return
        span = 1
        for name, value in attrs:
            match tag, name:
                case _, "class":
                    assert set((value or "").split(" ")) <= OWN_CLASSES, value
                case ("a", "href"):
                    assert re.fullmatch(r"#f[0-9]+", value or ""), value
                    self.links.append((value or "")[1:])
                case ("section", "id"):
                    assert re.fullmatch(r"f[0-9]+", value or ""), value
                    self.targets.append(value or "")
                case ("td", "colspan"):
                    assert value == "3"
                    span = 3
                case ("details", "open"):
                    assert value is None
                case ("ol", "start"):
                    assert re.fullmatch(r"[0-9]{1,9}", value or ""), value
                case _:
                    assert (tag, name, value) == ("html", "lang", "en")
        if tag == "tr":
            self.columns.append(0)
        if tag == "td":
            self.columns[-1] += span
        if tag not in VOID | {"col"}:
            self.open.append(tag)


def whole(made: str) -> str:
    """The text of a page that is one, everything checked that can be."""
    made.encode()
    walker = ReviewWalker()
    walker.feed(made)
    walker.close()
    assert walker.open == []
    assert sorted(map(str, walker.metas)) == sorted(map(str, METAS))
    assert made.index(POLICY) < made.index("<style>")
    assert walker.styles == 1
    assert walker.links == walker.targets == [f"f{number}" for number in range(1, len(walker.targets) + 1)]
    assert set(walker.columns) <= {3}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", made)
    return "".join(walker.text)


def file(
    old: str | bytes | None, new: str | bytes | None, *comments: PlacedComment, path: str = "src/a.py", **more: str
) -> SheetFile:
    before, after = (one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one for one in (old, new))
    return of(
        build(before, after), *comments, path=path, before=ABSENT if old is None else THERE,
        after=ABSENT if new is None else THERE, **more,
    )  # fmt: skip


def of(
    result: DiffResult,
    *comments: PlacedComment,
    path: str = "src/a.py",
    old_path: str | None = None,
    before: FileState = THERE,
    after: FileState = THERE,
    generated: str = "",
) -> SheetFile:
    earlier = None if old_path is None else WorkspacePath(old_path)
    request = DiffRequest(CHAT, WorkspacePath(path), Start(), Now(), old_path=earlier)
    diff = FileDiff(request=request, before=before, after=after, result=result, generated=generated)
    words = intraline.words(result, 0, len(result.rows)) if isinstance(result, DiffDocument) else {}
    return SheetFile(diff=diff, words=words, comments=comments)


def said(
    text: str,
    side: Side = Side.NEW,
    lines: tuple[int, int] = (1, 1),
    now: tuple[int, int] | None = (1, 1),
    *,
    path: str = "src/a.py",
    quote: str = "quoted",
    sent_at: int = 0,
) -> PlacedComment:
    comment = Comment(
        id=text,
        path=WorkspacePath(path),
        side=side,
        first_line=lines[0],
        last_line=lines[1],
        text=text,
        quote=quote,
        point=AfterTurn(2),
        sha=None,
        at=1_700_000_000_000,
        changed_at=0,
        sent_at=sent_at,
    )
    return PlacedComment(comment, *(now or (None, None)))


def sheet(*files: SheetFile, name: str = "A chat", elsewhere: tuple[PlacedComment, ...] = ()) -> Sheet:
    return Sheet(chat=CHAT, name=name, old=Start(), new=Now(), made_at=1_700_000_000_000, files=files, elsewhere=elsewhere)


def test_lines_stand_as_in_a_unified_diff_with_their_numbers_and_words() -> None:
    made = page(sheet(file("one\nx = load(1)\nthree\n", "one\nx = load(2)\nthree\nfour\n")))
    whole(made)
    rows = re.findall(r'<tr class="(same|went|came)"><td>(\d*)</td><td>(\d*)</td><td><code>(.*?)</code></td></tr>', made)
    assert rows == [
        ("same", "1", "1", " one"),
        ("went", "2", "", "\u2212x = load(<mark>1</mark>)"),
        ("came", "", "2", "+x = load(<mark>2</mark>)"),
        ("same", "3", "3", " three"),
        ("came", "", "4", "+four"),
    ]
    assert "modified \u00b7 +2 \u00b7 \u22121" in whole(made)


def test_comments_stand_under_the_lines_they_are_about_and_the_others_below() -> None:
    here = said("About the second.", lines=(2, 2), now=(2, 2))
    before = said("About the old one.", Side.OLD, (2, 2), (2, 2))
    gone = said("Of lines that are gone.", lines=(5, 7), now=None, quote="was here")
    far = said("Far from any change.", lines=(50, 50), now=(50, 50))
    made = page(sheet(file("one\ntwo\n", "one\nTWO\n", here, before, gone, far)))
    text = whole(made)
    order = ["\u2212two", "About the old one.", "+TWO", "About the second.", "Of lines that are gone.", "Far from any change."]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert "lines 5 to 7 then; no longer there" in text
    assert "was here" in text
    assert made.count('<tr class="said">') == 2
    assert "4 comments" in text


def test_comments_on_other_files_come_last_and_say_which() -> None:
    text = whole(page(sheet(elsewhere=(said("Elsewhere.", path="other.txt", sent_at=5),))))
    assert "No file differs." in text
    order = ["Comments on other files", "other.txt", "sent to the agent", "Elsewhere."]
    assert sorted(order, key=text.index) == order


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (of(BinaryPair(3, None)), "Not text: 3 bytes before, absent after."),
        (of(TooLarge(9_000_000, 1)), "Too large to be compared: 9,000,000 bytes before, 1 byte after."),
        (of(Unreadable("old", "not-captured")), "What it was before cannot be shown: it was not captured."),
        (of(Unreadable("new", "<odd>")), "What it became cannot be shown: <odd>."),
        (of(Identical(3)), "The bytes are the same."),
        (of(Identical(3), old_path="old\nname"), "Renamed from old name."),
        (of(Identical(3, (DiffNote(Note.MODE, "644", "755"),))), "Permissions changed: 644 before, 755 after."),
        (file("a\r\nb\r\n", "a\nb\n"), "Line endings changed: CRLF before, LF after."),
        (file("a", "a\n"), "The last line ends now."),
        (file("a \n", "a\n"), "Only whitespace differs."),
        (replace(file("a\n", "b\n", generated="lock"), reviewed=True), "A lock file."),
    ],
)  # fmt: skip
def test_facts_are_said_in_both_documents(made: SheetFile, wanted: str) -> None:
    assert wanted in list(facts(made.diff))
    assert wanted in whole(page(sheet(made)))
    plain = re.sub(r"\\(?=[^\w\s])", "", summary(sheet(made)))
    assert wanted in plain
    assert ("reviewed" in plain.split("## Files")[1]) == made.reviewed


def test_every_note_has_its_sentence() -> None:
    for note in Note:
        (sentence,) = facts(of(Identical(1, (DiffNote(note, "a", "b"),))).diff)
        assert sentence.endswith(".")


def test_a_lock_file_starts_folded_and_others_open() -> None:
    assert "<details><summary>" in page(sheet(file("a\n", "b\n", generated="lock")))
    assert "<details open><summary>" in page(sheet(file("a\n", "b\n")))


def test_what_is_left_out_of_a_long_page_is_said() -> None:
    limits = PageLimits(rows=10, characters=20, page=3_000)
    wide = file("a\n", "b" * 100 + "\n", path="wide")
    long = file(None, "".join(f"line {n}\n" for n in range(100)), path="long")
    many = file("".join(f"{n}\n" for n in range(400)), "".join(f"{n if n % 20 else 'x'}\n" for n in range(400)), path="many")
    text = whole(page(sheet(wide, long, many, *(file("a\n", "b\n", path=f"f{n}") for n in range(20))), limits))
    assert "80 more characters" in text
    assert "90 more rows not shown" in text
    assert "more groups of changes not shown" in text
    assert "Its lines are not shown: the page is long enough." in text
    assert text.count("f19") == 2, "every file is named"


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_in_a_review_becomes_an_element(hostile: str) -> None:
    comment = said(hostile, quote=hostile, path=hostile)
    made = sheet(
        file(hostile, hostile + "x\n" + hostile[::-1], comment, path=hostile, old_path=hostile),
        of(Unreadable("new", hostile)),
        name=hostile,
        elsewhere=(replace(comment, first_line=None, last_line=None),),
    )
    text = whole(page(made))
    assert ("alert(1)" in hostile) <= ("alert(1)" in text)
    assert summary(made).encode()


_hostile = st.lists(st.sampled_from(HOSTILE), max_size=3).map("\n".join)
_texts = st.one_of(st.text(), _hostile, st.text("<>&\"'`*#-~[]() \n\t\r1.a"))
_names = _texts.filter(lambda text: bool(text.strip()))
_places = st.one_of(st.none(), st.tuples(st.integers(1, 5), st.integers(5, 9)))
_said = st.builds(
    lambda text, quote, side, place: said(text, side, (1, 5), place, quote=quote),
    _texts, _texts, st.sampled_from(Side), _places,
)  # fmt: skip
_files = st.builds(
    lambda old, new, path, comments, kind: file(old, new, *comments, path=path, generated=kind),
    st.one_of(st.none(), _texts, st.binary(max_size=40)), st.one_of(_texts, st.binary(max_size=40)), _names,
    st.lists(_said, max_size=3), st.sampled_from(["", "lock"]),
)  # fmt: skip
_sheets = st.builds(
    lambda files, name, others: sheet(*files, name=name, elsewhere=tuple(others)), st.lists(_files, max_size=3), _texts,
    st.lists(_said, max_size=2),
)  # fmt: skip


@given(made=_sheets)
def test_any_review_is_a_whole_page_and_every_comment_is_on_it_once(made: Sheet) -> None:
    document = page(made)
    whole(document)
    assert document.count('<div class="comment">') == len(made.comments)
    summary(made).encode()


@given(made=_sheets)
def test_any_summary_keeps_its_own_headings_to_itself(made: Sheet) -> None:
    """Outside of what a person wrote no line begins like one of ours."""
    text = summary(replace(made, files=[replace(one, comments=()) for one in made.files], elsewhere=()))
    lines = text.split("\n")
    assert [line for line in lines if line.startswith("#")] == [lines[0], "## Files"]
    assert sum(line.startswith("- ") for line in lines) == 5 + len(made.files)


def test_a_message_for_the_agent_quotes_what_it_is_about() -> None:
    text = message(
        [
            said("Say why.", lines=(2, 3), now=(12, 13), quote="a\n```\nb"),
            said("Keep this.", Side.OLD, (1, 1), (1, 1), path="a.py", quote="x"),
            said("Gone?", lines=(9, 9), now=None, path="z`.py", quote=""),
        ]
    )
    assert text == (
        "Please look at these review comments.\n\n"
        "**`a.py`, line 1, in the file as it was after turn 2**\n\n```\nx\n```\n\nKeep this.\n\n"
        "**`src/a.py`, lines 12 to 13 (lines 2 to 3 when this was written)**\n\n````\na\n```\nb\n````\n\nSay why.\n\n"
        "**``z`.py``, line 9 then; no longer there**\n\nGone?"
    )
    assert message([]) == ""
    assert message([said("One.")]).startswith("Please look at this review comment.\n")
