"""What every export of a chat has in common: the file's name, moments, texts of others that are safe to show, a call's words.

Pure; any thread.
"""

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from vibekit_desktop.core.types.chats import Message, ToolCall
from vibekit_desktop.core.types.hidden import HIDDEN, PERHAPS, mark

NAME_CHARACTERS = 80
NAME_BYTES = 255
"""What file systems hold of a name; more could not be saved."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_FORBIDDEN = re.compile(r'[\t"\\/:*?<>|]')
_EPOCH = datetime.datetime(1970, 1, 1)
_CSI = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
_OSC = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_STRINGS = r"\x1b[PX^_][^\x1b]*\x1b\\"
_ESCAPES = re.compile(rf"{_CSI}|{_OSC}|{_STRINGS}|\x1b[@-Z\\-_]")


def file_name(name: str, chat: str, extension: str) -> str:
    """The name of an exported file, ``<name>-<chat><extension>`` (chat.md 6.1); every system can hold it.

    Characters that are controls, that turn text around, or that a system forbids become ``_``.
    """
    shown = HIDDEN.sub("_", _FORBIDDEN.sub("_", name)).strip()[:NAME_CHARACTERS]
    while shown and len(f"{shown}-{chat}{extension}".encode()) > NAME_BYTES:
        shown = shown[:-1]
    return ("-".join(part for part in (shown, chat) if part) or "chat") + extension


def moment(stamp_ms: int) -> str:
    """A moment as ``YYYY-MM-DD HH:MM:SS UTC``; empty for none and for what no calendar holds."""
    if stamp_ms <= 0:
        return ""
    try:
        found = _EPOCH + datetime.timedelta(milliseconds=stamp_ms)
    except OverflowError:
        return ""
    return f"{found:%Y-%m-%d %H:%M:%S} UTC"


def lines_of(text: str) -> str:
    """The text with ``\\n`` at the end of every line, and no half characters, which could not be written."""
    return _SURROGATES.sub("\ufffd", text.replace("\r\n", "\n"))


def marked(text: str) -> str:
    """A text of several lines with a mark in place of every hidden character; tabs and line ends stay."""
    if PERHAPS.search(text) is None:
        return text
    return HIDDEN.sub(lambda found: "\n" if found[0] == "\n" else mark(found), text.replace("\r\n", "\n"))


def on_one_line(text: str) -> str:
    """A name, title or path on one line, marked: line ends become blanks, the ends are trimmed."""
    return marked(re.sub(r"[\r\n]+", " ", text).strip())


def printed(text: str) -> str:
    """What a tool printed, without the escape sequences of terminals, hidden characters marked."""
    return marked(_ESCAPES.sub("", text.replace("\r\n", "\n")) if "\x1b" in text or "\x9b" in text else text)


def given(call: ToolCall) -> str:
    """The arguments of a call, indented if they are JSON; empty if there are none.

    Escape sequences are not taken out as those of an output are: one could eat the JSON around it.
    """
    raw = bytes(call.input)
    if not raw.strip() or raw.strip() == b"null":
        return ""
    try:
        msgspec.json.decode(raw)
        text = msgspec.json.format(raw, indent=2).decode()
    except (msgspec.MsgspecError, ValueError, RecursionError):
        text = raw.decode("utf-8", "replace")
    return marked(text).strip("\n")


def title(call: ToolCall) -> str:
    """What a call is called, and how it went."""
    words = on_one_line(call.title) or on_one_line(call.kind) or "tool"
    return f"{words} \u2014 {on_one_line(call.status) or 'unknown'}"


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One entry of an agent's plan."""

    text: str
    done: bool = False
    running: bool = False


def plan_of(message: Message) -> list[PlanLine]:
    """The plan shown in a message, whatever was stored there: what is no entry is left out."""
    stored = message.plan
    lines: list[PlanLine] = []
    for entry in stored if isinstance(stored, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("content"), str):
            status = entry.get("status")
            lines.append(PlanLine(on_one_line(entry["content"]), status == "completed", status == "in_progress"))
    return lines
