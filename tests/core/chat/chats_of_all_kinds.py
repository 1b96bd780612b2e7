"""Chats for the tests of exports: one with everything, hostile texts, and a strategy for any chat at all."""

import msgspec
from hypothesis import strategies

from vibekit_desktop.core.types.chats import Block, Chat, DiffFragment, Location, Message, ToolCall, TurnSpan

CHAT = Chat(
    id="0198f0aa-1111-7abc-8def-000000000001",
    name="Add a retry\r\nto the uploader ",
    model="model-x",
    current_mode_id="code",
    agent="Some Agent",
    created_at=1784879990000,
    updated_at=1784880042100,
    removed_turns=((2, 3, "branch-0001"),),
)
CALL = ToolCall(
    id="t-1",
    title="Edit up.py",
    kind="edit",
    status="completed",
    input=msgspec.Raw(b'{"path":"src/up.py","times":3}'),
    output="one\n```\n\x1b[31mred\x1b[0m \u202eturned\n",
    locations=(Location(path="src/up.py", line=14), Location(path="a`b.py")),
    diffs=(DiffFragment(path="src/up.py", old_text="a\nsend(f)\nz", new_text="a\nretry(send, f, 3)\nz"),),
    duration_ms=310,
)
MESSAGES = (
    Message(
        id="u-1", role="user", ts=1784880000000, content="\n  Retry **three** times.\n\n    indented\n", checkpoint_tag="1"
    ),
    Message(
        id="a-1",
        role="assistant",
        ts=1784880042000,
        content="Done.",
        reasoning="Look at `up.py` first.",
        plan=[
            {"content": "read", "priority": "high", "status": "completed"},
            {"content": "write", "priority": "high", "status": "in_progress"},
            {"content": "test", "priority": "low", "status": "pending"},
        ],
        tool_calls=(CALL, ToolCall(id="t-2", title="", kind="", status="")),
        blocks=(Block(type="tool_use", tool_call_id="t-1"), Block(type="text", text="Done.")),
    ),
    Message(id="e-1", role="event", event_kind="model_switched", content="model-y"),
    Message(id="e-2", role="event"),
    Message(id="x-1", role="", content="odd"),
)
TURNS = (TurnSpan(turn=1, first_message=0, last_message=4, duration_ms=42_000),)

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](http://127.0.0.1/a.png) [y](javascript:alert(1)) <http://a> http://plain.example/",
    "[z](data:text/html,<b>) ![w](file:///etc/passwd) [q]: smb://host/share",
    "</details></pre></article></main></body></html>",
    "</style><style>@import url(//evil)</style><link rel=stylesheet href=//evil>",
    "</title><base href=//evil><meta http-equiv=refresh content=0;url=//evil>",
    "<!-- swallowed",
    "<![CDATA[ <?php",
    "'\"` onclick=alert(1) &lt;script&gt; &#60;b&#62;",
    "`" * 40 + "\ncode that never ends <script>",
    "~~~ `x`\n</pre><script>",
    "**<b>** `<i>` # <u>\n# <h> **x**\n- <li> **`<b>`**\n1. <ol>\n| <td> |\n---",
    "\u202egnp.exe\u2066\u200b\u200d\ufeff\U000e0041",
    "\x00\x1b[2J\x1b]52;c;aGk=\x07\x9b31m\x7f\x85",
    "half \ud83d and \udcff",
    "\u2028\u2029\x0b\x0c",
)

_texts = strategies.one_of(
    strategies.text(),
    strategies.text("<>&\"'`*#-|~[]()!/ \n\t1.a", max_size=200),
    strategies.lists(strategies.sampled_from(HOSTILE), max_size=4).map("\n".join),
    strategies.text(strategies.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Ll"])),
)
_calls = strategies.builds(
    ToolCall,
    id=_texts,
    title=_texts,
    kind=_texts,
    status=_texts,
    output=_texts,
    input=strategies.one_of(_texts.map(lambda text: text.encode("utf-8", "replace")), strategies.binary()).map(msgspec.Raw),
    locations=strategies.lists(strategies.builds(Location, path=_texts, line=strategies.integers()), max_size=2).map(tuple),
    diffs=strategies.lists(strategies.builds(DiffFragment, path=_texts, old_text=_texts, new_text=_texts), max_size=2).map(
        tuple
    ),
    duration_ms=strategies.integers(),
    sub_session_id=_texts,
)
_messages = strategies.builds(
    Message,
    role=strategies.one_of(strategies.sampled_from(["user", "assistant", "event"]), _texts),
    ts=strategies.integers(),
    content=_texts,
    reasoning=_texts,
    event_kind=_texts,
    plan=strategies.lists(
        strategies.fixed_dictionaries({"content": _texts, "status": strategies.sampled_from(["completed", "in_progress", ""])}),
        max_size=2,
    ),
    tool_calls=strategies.lists(_calls, max_size=2).map(tuple),
    blocks=strategies.lists(
        strategies.builds(
            Block,
            type=strategies.sampled_from(["text", "thinking", "tool_use", ""]),
            text=_texts,
            thinking=_texts,
            tool_call_id=_texts,
        ),
        max_size=3,
    ).map(tuple),
)
any_chat = strategies.builds(
    Chat,
    id=_texts,
    name=_texts,
    model=_texts,
    current_mode_id=_texts,
    agent=_texts,
    created_at=strategies.integers(),
    updated_at=strategies.integers(),
    messages=strategies.lists(_messages, max_size=3).map(tuple),
    removed_turns=strategies.lists(strategies.tuples(strategies.integers(), strategies.integers(), _texts), max_size=1).map(
        tuple
    ),
)
