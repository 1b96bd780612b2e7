"""A chat as a Markdown document (chat.md 6.1), for people to keep, print or paste.

Messages are Markdown and stay it; but none can reach beyond itself: a block of code that is left open is closed, and tags that
would swallow what follows are shown as text. What tools printed is never Markdown. Pure; any thread.
"""

import html
import re
from collections.abc import Iterator, Sequence

from vibekit_desktop.core.chat.export_text import given, lines_of, marked, moment, on_one_line, plan_of, printed, title
from vibekit_desktop.core.chat.prose import Fence, fence_of, longest_run, spans
from vibekit_desktop.core.types.chats import Chat, Message, ToolCall

# Tags that end our own details, or that swallow everything up to an end that may never come.
_REACHING = re.compile(r"<(?=/?(?:details|summary|script|style|pre|textarea)\b|!|\?)", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def document(chat: Chat, messages: Sequence[Message]) -> str:
    """The whole document. Checkpoint tags and diffs are not in it; the text has no half characters."""
    return lines_of("\n\n".join(_parts(chat, messages)) + "\n")


def _parts(chat: Chat, messages: Sequence[Message]) -> Iterator[str]:
    yield f"# {harmless(on_one_line(chat.name)) or 'Untitled chat'}"
    facts = (
        ("Chat ID", code(on_one_line(chat.id)) if chat.id else ""),
        ("Model", harmless(on_one_line(chat.model))),
        ("Mode", harmless(on_one_line(chat.current_mode_id))),
        ("Created", moment(chat.created_at)),
        ("Updated", moment(chat.updated_at)),
        ("Messages", str(len(messages))),
    )
    yield "\n".join(f"- **{name}:** {value}" for name, value in facts if value)
    if not messages:
        yield "_No messages._"
    for message in messages:
        yield from _message(message)


def heading(message: Message) -> str:
    """Who a message is by, in words."""
    match message.role:
        case "user":
            return "User"
        case "assistant":
            return "Assistant"
        case "event":
            return f"Event: {on_one_line(message.event_kind) or 'event'}"
        case _:
            return on_one_line(message.role) or "message"


def _message(message: Message) -> Iterator[str]:
    yield f"## {harmless(heading(message))}"
    if when := moment(message.ts):
        yield f"_{when}_"
    if reasoning := within(message.reasoning):
        yield from _details("Reasoning", [reasoning])
    if content := within(message.content):
        yield content
    if plan := plan_of(message):
        yield "**Plan**"
        yield "\n".join(
            f"- [{'x' if line.done else ' '}] {harmless(line.text)}{' _(in progress)_' if line.running else ''}"
            for line in plan
        )
    for call in message.tool_calls:
        yield from _details(f"Tool: {html.escape(title(call), quote=False)}", _call(call))
    yield "---"


def _details(summary: str, parts: Sequence[str]) -> Iterator[str]:
    yield f"<details>\n<summary>{summary}</summary>"
    yield from parts
    yield "</details>"


def _call(call: ToolCall) -> list[str]:
    parts: list[str] = []
    if call.duration_ms > 0:
        parts.append(f"Duration: {call.duration_ms}ms")
    if call.locations:
        places = (f"{one.path}:{one.line}" if one.line > 0 else one.path for one in call.locations)
        parts += ["Locations:", "\n".join(f"- {code(on_one_line(place))}" for place in places)]
    if arguments := given(call):
        parts += ["Input:", fenced(arguments, "json")]
    if output := printed(call.output).strip("\n"):
        parts += ["Output:", fenced(output)]
    return parts


def fenced(text: str, language: str = "") -> str:
    """A block of code that nothing inside can end."""
    fence = "`" * max(3, longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code(text: str) -> str:
    """A text of one line in code style, whatever backticks are in it."""
    ticks = "`" * (longest_run(text) + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{gap}{text}{gap}{ticks}"


def harmless(line: str) -> str:
    """A line with the tags that reach beyond it as text; code stays as it is."""
    return "".join(piece if ticks else _REACHING.sub("&lt;", piece) for ticks, piece in spans(line)) if "<" in line else line


def within(text: str) -> str:
    """A message's text, trimmed, that ends where it ends: see the module. Controls are marked, so that a terminal that the
    document is printed on does not act on them."""
    text = text.replace("\r\n", "\n").strip()
    if _CONTROL.search(text):
        text = _CONTROL.sub(lambda found: marked(found[0]), text)
    if "```" not in text and "~~~" not in text and "<" not in text:
        return text
    lines: list[str] = []
    fence: Fence | None = None
    for line in text.split("\n"):
        if fence is not None:
            if fence.is_closed_by(line):
                fence = None
        elif (fence := fence_of(line)) is None:
            line = harmless(line)
        lines.append(line)
    if fence is not None:
        lines.append(" " * fence.indent + fence.run)
    return "\n".join(lines)
