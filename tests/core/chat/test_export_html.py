"""The HTML page of a chat: what it shows, and that nothing in a chat becomes anything but text in it."""

import re
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import given

from tests.core.chat.chats_of_all_kinds import CHAT, HOSTILE, MESSAGES, TURNS, any_chat
from vibekit_desktop.core.chat.export_html import POLICY, page
from vibekit_desktop.core.chat.export_html_text import fragment, plain, rich, shown
from vibekit_desktop.core.types.chats import Block, Chat, DiffFragment, Location, Message, ToolCall, TurnSpan

VOID = {"meta", "hr"}
PLAIN = {
    "html", "head", "title", "style", "body", "header", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "div",
    "dt", "dd", "p", "span", "ul", "ol", "li", "pre", "code", "strong", "em", "details", "summary",
} | VOID  # fmt: skip
CLASSES = {
    "user", "assistant", "event", "about", "note", "plan", "thought", "tool", "ended", "failed", "running", "code", "table",
    "diff", "added", "removed", "left-out", "hidden",
}  # fmt: skip
METAS = {
    (("charset", "utf-8"),),
    (("http-equiv", "Content-Security-Policy"), ("content", POLICY)),
    (("name", "referrer"), ("content", "no-referrer")),
    (("name", "viewport"), ("content", "width=device-width, initial-scale=1")),
    (("name", "color-scheme"), ("content", "light dark")),
}


class Walker(HTMLParser):
    """Reads a page and fails at the first thing that is not on the list. ``text``: what a person sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.metas: list[object] = []
        self.styles = 0
        self.elements: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in PLAIN, tag
        self.elements.append(tag)
        if tag == "meta":
            self.metas.append(tuple(attrs))
            assert tuple(attrs) in METAS
            assert self.open == ["html", "head"]
            return
        for name, value in attrs:
            if name == "class":
                assert set((value or "").split(" ")) <= CLASSES, value
            elif (tag, name) == ("ol", "start"):
                assert re.fullmatch(r"[0-9]{1,9}", value or ""), value
            else:
                assert (tag, name, value) == ("html", "lang", "en")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/>")

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], (tag, self.open)
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            self.styles += 1
            assert not re.search(r"url\(|@import|//|<|\\", data)
        else:
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    def handle_decl(self, decl: str) -> None:
        assert decl == "DOCTYPE html"

    def handle_pi(self, data: str) -> None:
        raise AssertionError("a processing instruction")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError("a declaration")


def walk(made: str) -> Walker:
    walker = Walker()
    walker.feed(made)
    walker.close()
    assert walker.open == []
    return walker


def whole(made: str) -> str:
    """The text of a page that is one, everything but the list checked."""
    made.encode()
    walker = walk(made)
    assert sorted(map(str, walker.metas)) == sorted(map(str, METAS))
    assert made.index(POLICY) < made.index("<style>"), "the policy comes before what it is for"
    assert walker.styles == 1
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", made)
    return "".join(walker.text)


def one(role: str = "assistant", **parts: object) -> str:
    return page(Chat(id="c"), (msgspec.convert({"role": role, **parts}, Message),))


def test_the_page_of_a_chat() -> None:
    made = page(CHAT, MESSAGES, TURNS)
    text = whole(made)
    assert " ".join(text.split()) == " ".join(PAGE.split())
    assert "    indented</p>" in made, "blanks and line ends of a person's text stay"


PAGE = """
Add a retry to the uploader Add a retry to the uploader
Chat ID0198f0aa-1111-7abc-8def-000000000001 AgentSome Agent Modelmodel-x Modecode
Created2026-07-24 07:59:50 UTC Updated2026-07-24 08:00:42 UTC Messages5
User Turn 1 · 42.0 s · 2026-07-24 08:00:00 UTC Retry **three** times. indented
Assistant 2026-07-24 08:00:42 UTC
Reasoning Look at `up.py` first.
Tool: Edit up.py — completed edit · 310 ms src/up.py:14 a`b.py
Input { "path": "src/up.py", "times": 3 }
Output one ``` red ⟨U+202E⟩turned
src/up.py a -send(f) +retry(send, f, 3) z
Done.
Tool: tool — unknown
Plan ☑ read ☐ write in progress ☐ test
Event: model_switched model-y Event: event message odd
Turns 2 to 3 were removed and are kept in chat branch-0001.
"""


def test_a_chat_without_anything_is_a_page() -> None:
    assert " ".join(whole(page(Chat(), ())).split()) == "Untitled chat Untitled chat Messages0 No messages."


def test_cuts_stand_where_the_turns_were() -> None:
    chat = Chat(removed_turns=((4, 4, "b-4"), (2, 3, "b-2")))
    turns = tuple(TurnSpan(turn=turn, first_message=at, last_message=at) for at, turn in enumerate((1, 5)))
    text = whole(page(chat, (Message(role="user", content="first"), Message(role="user", content="second")), turns))
    places = [text.index(words) for words in ("first", "Turns 2 to 3", "Turn 4 was removed and is kept in chat b-4.", "second")]
    assert places == sorted(places)


def test_an_answer_is_told_in_the_order_it_came() -> None:
    blocks = (
        Block(type="thinking", thinking="think"),
        Block(type="text", text="before"),
        Block(type="tool_use", tool_call_id="t-1"),
        Block(type="tool_use", tool_call_id="t-1"),
        Block(type="tool_use", tool_call_id="missing"),
        Block(type="text", text="after"),
    )
    calls = (ToolCall(id="t-1", title="first"), ToolCall(id="t-2", title="second", status="failed"))
    message = Message(role="assistant", content="beforeafter", reasoning="think", blocks=blocks, tool_calls=calls)
    text = whole(page(Chat(), (message,)))
    places = [text.index(words) for words in ("think", "before", "Tool: first", "after", "Tool: second — failed")]
    assert places == sorted(places)
    assert text.count("think") == text.count("Tool: first") == text.count("before") == 1


def test_words_that_no_block_tells_are_not_lost() -> None:
    message = Message(
        role="assistant",
        content="the words",
        reasoning="the thought",
        blocks=(Block(type="tool_use", tool_call_id="t"),),
        tool_calls=(ToolCall(id="t", title="the call"),),
    )
    text = whole(page(Chat(), (message,)))
    assert all(words in text for words in ("the words", "the thought", "the call"))


def test_a_call_says_who_made_it_and_how_long_it_took() -> None:
    for length, words in ((999, "999 ms"), (1000, "1.0 s"), (200_000, "3 min 20 s")):
        call = ToolCall(title="t", kind="", sub_session_id="s", duration_ms=length, locations=(Location(path="p"),))
        assert f"{words} · by a sub-agent" in whole(page(Chat(), (Message(role="user", tool_calls=(call,)),)))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_only_text(text: str) -> None:
    call = ToolCall(
        id=text,
        title=text,
        kind=text,
        status=text,
        output=text,
        input=msgspec.Raw(text.encode("utf-8", "replace")),
        locations=(Location(path=text, line=1),),
        diffs=(DiffFragment(path=text, old_text=text, new_text=text * 2),),
    )
    message = Message(
        role=text, event_kind=text, content=text, reasoning=text, plan=[{"content": text}], tool_calls=(call,),
        blocks=(Block(type=text, text=text), Block(type="thinking", thinking=text)),
    )  # fmt: skip
    messages = [message, *(msgspec.structs.replace(message, role=role) for role in ("user", "assistant", "event"))]
    chat = Chat(id=text, name=text, model=text, current_mode_id=text, agent=text, removed_turns=((1, 1, text),))
    whole(page(chat, messages, (TurnSpan(turn=1, first_message=0, last_message=3),)))


@given(any_chat)
def test_any_chat_has_a_page_of_known_elements(chat: Chat) -> None:
    messages = chat.messages or ()
    whole(page(chat, messages, tuple(TurnSpan(turn=at, first_message=at, last_message=at) for at in range(len(messages)))))


def _text(made: str) -> str:
    return "".join(walk(made).text)


@given(any_chat)
def test_every_character_of_a_persons_text_is_on_the_page(chat: Chat) -> None:
    for message in chat.messages or ():
        text = message.content.replace("\r\n", "\n")
        words = [line for line in text.split("\n") if "```" not in line and "~~~" not in line and line.strip()]
        seen = _text(plain(text))
        assert all(_text(shown(line)).strip() in seen for line in words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title #\nwords", "<h3>Title</h3>\n<p>words</p>"),
        ("###### deep", "<h6>deep</h6>"),
        ("#not one", "<p>#not one</p>"),
        ("a **b** `c` ``d`e``", "<p>a <strong>b</strong> <code>c</code> <code>d`e</code></p>"),
        ("** a ** b** `open **", "<p>** a ** b** `open **</p>"),
        ("**a** **b", "<p><strong>a</strong> **b</p>"),
        ("`**a**` **`b`**", "<p><code>**a**</code> **<code>b</code>**</p>"),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("- a\n  more\n\n  far\n- b\n\nend", "<ul><li>a\nmore\nfar</li><li>b</li></ul>\n<p>end</p>"),
        ("- a\n  - b\n    - c\n- d", "<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>"),
        ("- a\n  1. b\n  - c", "<ul><li>a<ol><li>b</li></ol><ul><li>c</li></ul></li></ul>"),
        ("2. a\n3. b", '<ol start="2"><li>a</li><li>b</li></ol>'),
        ("1) a\n* b", "<ol><li>a</li></ol><ul><li>b</li></ul>"),
        ("a\n---\nb", "<p>a</p>\n<hr>\n<p>b</p>"),
        ("- a\n# t\n- b", "<ul><li>a</li></ul>\n<h3>t</h3>\n<ul><li>b</li></ul>"),
        ("| a |\n|---|\n| b |", '<pre class="table">\n| a |\n|---|\n| b |\n</pre>'),
        ("a\n```py x\n  b\n\n```\nc", '<p>a</p>\n<pre class="code">\n  b\n\n</pre>\n<p>c</p>'),
        ("  ```\n  a\n    b\n c", '<pre class="code">\na\n  b\nc\n</pre>'),
        ("[a](http://b) <http://c> ![d](e)", "<p>[a](http://b) &lt;http://c&gt; ![d](e)</p>"),
        ("a\r\nb", "<p>a\nb</p>"),
        ("", ""),
    ],
)
def test_a_little_of_markdown_gets_its_look(text: str, expected: str) -> None:
    assert rich(text) == expected


def test_lists_end_at_a_depth_that_no_list_has() -> None:
    made = rich("\n".join(" " * (2 * at) + "- x" for at in range(3000)))
    assert walk(made).elements.count("ul") == 12
    assert made.count("<li>") == 3000


def test_a_fragment_shows_what_changed_and_little_around_it() -> None:
    lines = [str(number) for number in range(20)]
    made = _text(fragment(DiffFragment(old_text="\n".join(lines), new_text="\n".join([*lines[:10], "new", *lines[11:]]))))
    assert made.split("\n")[1:-1] == ["  ⋯ 7 lines", " 7", " 8", " 9", "-10", "+new", " 11", " 12", " 13", "  ⋯ 6 lines"]
    assert _text(fragment(DiffFragment(new_text="a\nb\n"))) == "\n+a\n+b\n"
    assert _text(fragment(DiffFragment(old_text="a"))) == "\n-a\n"
    assert _text(fragment(DiffFragment(old_text="a\nb\nb", new_text="a\nb"))) == "\n a\n b\n-b\n"
    assert _text(fragment(DiffFragment())) == "\n\n"


@pytest.mark.parametrize("text", ["a `b` **c**\n" * 100_000, "<" * 5_000_000, "- a\n  b\n" * 100_000, "`a ``b " * 100_000])
def test_a_large_message_is_a_page(text: str) -> None:
    made = one(content=text)
    assert len(made) > len(text) * 0.7
    assert made.endswith("</html>\n")
