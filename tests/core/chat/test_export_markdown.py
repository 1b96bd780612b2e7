"""The Markdown document of chat.md 6.1, and that nothing in a chat reaches beyond its place in it."""

import re

import msgspec
import pytest
from hypothesis import given

from tests.core.chat.chats_of_all_kinds import CALL, CHAT, HOSTILE, MESSAGES, any_chat
from vibekit_desktop.core.chat import export_markdown
from vibekit_desktop.core.chat.export_markdown import document
from vibekit_desktop.core.types.chats import Chat, Message, ToolCall

WHOLE = """\
# Add a retry to the uploader

- **Chat ID:** `0198f0aa-1111-7abc-8def-000000000001`
- **Model:** model-x
- **Mode:** code
- **Created:** 2026-07-24 07:59:50 UTC
- **Updated:** 2026-07-24 08:00:42 UTC
- **Messages:** 5

## User

_2026-07-24 08:00:00 UTC_

Retry **three** times.

    indented

---

## Assistant

_2026-07-24 08:00:42 UTC_

<details>
<summary>Reasoning</summary>

Look at `up.py` first.

</details>

Done.

**Plan**

- [x] read
- [ ] write _(in progress)_
- [ ] test

<details>
<summary>Tool: Edit up.py — completed</summary>

Duration: 310ms

Locations:

- `src/up.py:14`
- ``a`b.py``

Input:

```json
{
  "path": "src/up.py",
  "times": 3
}
```

Output:

````
one
```
red ⟨U+202E⟩turned
````

</details>

<details>
<summary>Tool: tool — unknown</summary>

</details>

---

## Event: model_switched

model-y

---

## Event: event

---

## message

odd

---
"""


def test_the_whole_document() -> None:
    assert document(CHAT, MESSAGES) == WHOLE


def test_a_chat_without_anything_is_a_short_document() -> None:
    assert document(Chat(), ()) == "# Untitled chat\n\n- **Messages:** 0\n\n_No messages._\n"
    assert document(Chat(name=" \r\n "), ()).startswith("# Untitled chat\n")


def test_tags_and_diffs_are_not_in_it() -> None:
    made = document(Chat(), (Message(role="user", checkpoint_tag="77.88"), Message(role="assistant", tool_calls=(CALL,))))
    assert "77.88" not in made
    assert "retry(send" not in made


@pytest.mark.parametrize("count", [1, 3, 40])
def test_a_fence_is_longer_than_every_run_of_backticks_inside(count: int) -> None:
    ticks = "`" * count
    for call in (ToolCall(output=f"a\n{ticks}\nb {ticks}"), ToolCall(input=msgspec.Raw(f'"{ticks}"'.encode()))):
        made = document(Chat(), (Message(role="assistant", tool_calls=(call,)),))
        fences = re.findall(r"^(`{3,})(?:json)?\n(.*?)^\1$", made, re.DOTALL | re.MULTILINE)
        assert [len(fence) for fence, _ in fences] == [max(3, count + 1)]
        assert ticks in fences[0][1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("```python\nleft open", "```python\nleft open\n```"),
        ("`" * 40 + "\ncode\n```", "`" * 40 + "\ncode\n```\n" + "`" * 40),
        ("~~~\n```\n", "~~~\n```\n~~~"),
        ("- item\n      ```\n      code", "- item\n      ```\n      code\n      ```"),
        ("```\nclosed\n```", "```\nclosed\n```"),
        ("```\n    ```\n<!-- still code", "```\n    ```\n<!-- still code\n```"),
        ("``` not `a` fence", "``` not `a` fence"),
        ("<!-- open", "&lt;!-- open"),
        ("a </details> b `</details>` c", "a &lt;/details> b `</details>` c"),
        ("```html\n</details>\n```", "```html\n</details>\n```"),
        ("<b>bold</b> 1 < 2 <detailsx>", "<b>bold</b> 1 < 2 <detailsx>"),
        ("\x1b[2Jgone\x07 tab\tstays\r\nline", "␛[2Jgone␇ tab\tstays\nline"),
        ("half \ud83d", "half \ufffd"),
        ("שלום \u200f, 👩\u200d💻", "שלום \u200f, 👩\u200d💻"),
    ],
)
def test_a_message_stays_what_it_is_and_within_its_place(content: str, expected: str) -> None:
    made = document(Chat(), (Message(role="user", content=content),))
    assert made == f"# Untitled chat\n\n- **Messages:** 1\n\n## User\n\n{expected}\n\n---\n"


def test_titles_and_names_cannot_break_their_line() -> None:
    call = ToolCall(title="a</summary>\n## Assistant\r<script>", kind="x", status="<b>\x1b[1m")
    made = document(Chat(name="n\n<!-- m", model="m\n# x"), (Message(role="ro\n# le", tool_calls=(call,)),))
    assert "# n &lt;!-- m\n" in made
    assert "- **Model:** m # x\n" in made
    assert "\n## ro # le\n" in made
    assert "<summary>Tool: a&lt;/summary&gt; ## Assistant &lt;script&gt; — &lt;b&gt;␛[1m</summary>" in made


def _outside_of_fences(made: str) -> list[str]:
    lines: list[str] = []
    fence = ""
    for line in made.split("\n"):
        opened = re.fullmatch(r" {0,3}(`{3,}|~{3,})(.*)", line)
        if fence:
            text = line.strip()
            if len(text) >= len(fence) and not text.strip(fence[0]) and len(line) - len(line.lstrip()) < 4:
                fence = ""
        elif opened and not (opened[1][0] == "`" and "`" in opened[2]):
            fence = opened[1]
        else:
            lines.append(line)
    assert not fence, "a block of code is left open"
    return lines


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_message_hides_nothing_that_follows(text: str) -> None:
    call = ToolCall(title=text, output=text, input=msgspec.Raw(text.encode("utf-8", "replace")))
    message = Message(role="assistant", content=text, reasoning=text, plan=[{"content": text}], tool_calls=(call,))
    made = document(Chat(name=text), (message, Message(role="event", event_kind="last")))
    made.encode()
    outside = _outside_of_fences(made)
    assert "## Event: last" in outside
    assert not [line for line in outside if "<!" in line or "<?" in line]
    assert outside.count("<details>") == outside.count("</details>") == (2 if text.strip() else 1)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", made)


@given(any_chat)
def test_any_chat_has_a_document_that_can_be_written(chat: Chat) -> None:
    made = document(chat, chat.messages or ())
    made.encode()
    assert made.endswith("\n")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", made)


def test_code_style_holds_any_backticks() -> None:
    assert export_markdown.code("a") == "`a`"
    assert export_markdown.code("`a``b") == "``` `a``b ```"
