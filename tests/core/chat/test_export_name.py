"""The name of an exported file, moments, and the texts of others (chat.md 6.1, scenarios 109 to 113)."""

from unicodedata import category

import msgspec
import pytest
from hypothesis import given, strategies

from vibekit_desktop.core.chat import export_text
from vibekit_desktop.core.types.chats import Message, ToolCall

CHAT = "0198f0aa-1111-7abc-8def-000000000001"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Add a retry", f"Add a retry-{CHAT}.md"),
        ("", f"{CHAT}.md"),
        ("   ", f"{CHAT}.md"),
        ("\u3000\u2003 ", f"{CHAT}.md"),
        ("  both ends  ", f"both ends-{CHAT}.md"),
        ('say "hi"', f"say _hi_-{CHAT}.md"),
        ("../../etc/passwd", f".._.._etc_passwd-{CHAT}.md"),
        ("C:\\x|y*z?<a>", f"C__x_y_z__a_-{CHAT}.md"),
        ("a\r\nSet-Cookie: b\x00\x7f\x85\t", f"a__Set-Cookie_ b____-{CHAT}.md"),
        ("photo\u202egpj.exe", f"photo_gpj.exe-{CHAT}.md"),
        ("zero\u200bwidth", f"zero_width-{CHAT}.md"),
        ("half \ud83d", f"half _-{CHAT}.md"),
        ("x" * 200, "x" * 80 + f"-{CHAT}.md"),
        ("é" * 200, "é" * 80 + f"-{CHAT}.md"),
        ("漢" * 200, "漢" * 71 + f"-{CHAT}.md"),  # 255 bytes are all that a name can have
    ],
)
def test_a_name_keeps_what_every_system_allows(name: str, expected: str) -> None:
    assert export_text.file_name(name, CHAT, ".md") == expected


def test_without_a_name_and_an_id_the_file_is_called_chat() -> None:
    assert export_text.file_name("", "", ".json") == "chat.json"
    assert export_text.file_name("a", "", ".json") == "a.json"


@given(strategies.text(), strategies.text("abc-_09", min_size=1, max_size=128))
def test_a_name_can_always_be_a_file(name: str, chat: str) -> None:
    made = export_text.file_name(name, chat, ".patch")
    assert made.endswith(f"{chat}.patch")
    assert len(made.encode()) <= 255
    assert not set(made) & set('"\\/:*?<>|')
    # What no standard knows yet (Cn) is as harmless as a letter that no font has.
    assert all(char.isprintable() or char.isspace() or ord(char) > 0x2000 or category(char) == "Cn" for char in made)
    assert "\n" not in made
    assert "\0" not in made


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        (1784879990000, "2026-07-24 07:59:50 UTC"),
        (1, "1970-01-01 00:00:00 UTC"),
        (0, ""),
        (-1, ""),
        (253402300799999, "9999-12-31 23:59:59 UTC"),
        (253402300800000, ""),
        (1 << 63, ""),
        (10**400, ""),
    ],
)
def test_a_moment_is_told_in_utc_or_not_at_all(stamp: int, expected: str) -> None:
    assert export_text.moment(stamp) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x\x1b]8;;http://a\x1b\\y", "xy"),
        ("\x1b]52;c;aGk=\x07", ""),
        ("\x1bPq#0\x1b\\z", "z"),
        ("\x9b31mred", "red"),
        ("\x1b]never ends \x1b[", "never ends ␛["),
        ("a\rb\x08c\x00", "a␍b␈c␀"),
        ("one\r\ntwo", "one\ntwo"),
        ("\u202eabc\u200b", "⟨U+202E⟩abc⟨U+200B⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\ud83d", "⟨U+D83D⟩"),
        ("\udcff", "⟨FF⟩"),
        ("👩\u200d💻 नि\u200d", "👩\u200d💻 नि⟨U+200D⟩"),
    ],
)
def test_what_a_tool_printed_neither_acts_nor_hides(text: str, expected: str) -> None:
    assert export_text.printed(text) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", ""),
        (b" null ", ""),
        (b'{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}'),
        (b"{not json", "{not json"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"9" * 5000, "9" * 5000),
        (b"[" * 20_000, "[" * 20_000),
        ('"\u009b\\"a"'.encode(), '"⟨U+009B⟩\\"a"'),  # not taken out as a sequence: the string would not end any more
    ],
)
def test_the_arguments_of_a_call_are_indented_if_they_are_json(raw: bytes, expected: str) -> None:
    assert export_text.given(ToolCall(input=msgspec.Raw(raw))) == expected


@pytest.mark.parametrize("stored", [None, "text", 3, {}, [1, None, {"content": 3}, {"status": "completed"}]])
def test_a_plan_that_is_none_is_no_fault(stored: object) -> None:
    assert export_text.plan_of(Message(plan=stored)) == []


def test_a_call_has_always_a_title_and_a_status() -> None:
    assert export_text.title(ToolCall(title="Edit\n up.py", status="failed")) == "Edit  up.py — failed"
    assert export_text.title(ToolCall(title=" ", kind="edit", status="")) == "edit — unknown"
    assert export_text.title(ToolCall(title="", kind="", status="odd")) == "tool — odd"
