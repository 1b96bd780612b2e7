"""A chat as one HTML page that stands alone: no script, no request, no file beside it. To read in a browser, and to print.

Whatever is in the chat, the page has only the elements and attributes that are written here: the browser is told to load
nothing (Content-Security-Policy), and all texts go through `export_html_text`. Pure; any thread.
"""

from collections.abc import Iterator, Sequence

from vibekit_desktop.core.chat.export_html_style import STYLE
from vibekit_desktop.core.chat.export_html_text import block, fragment, plain, rich, shown
from vibekit_desktop.core.chat.export_markdown import heading
from vibekit_desktop.core.chat.export_text import given, lines_of, moment, on_one_line, plan_of, printed, title
from vibekit_desktop.core.types.chats import Block, Chat, Message, ToolCall, TurnSpan

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_BETWEEN = " \u00b7 "
_ROLES = {"user": "user", "assistant": "assistant"}
_STATUSES = {"failed": "failed", "pending": "running", "in_progress": "running"}


def page(chat: Chat, messages: Sequence[Message], turns: Sequence[TurnSpan] = ()) -> str:
    """The whole page. ``turns`` say at which messages the turns begin, by their index in ``messages``."""
    return lines_of("\n".join(_page(chat, messages, turns)) + "\n")


def _page(chat: Chat, messages: Sequence[Message], turns: Sequence[TurnSpan]) -> Iterator[str]:
    name = shown(on_one_line(chat.name)) or "Untitled chat"
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="referrer" content="no-referrer">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{name}</title>"
    yield f"<style>{STYLE}</style>"
    yield "</head>"
    yield "<body>"
    yield "<header>"
    yield f"<h1>{name}</h1>"
    yield from _facts(chat, messages)
    yield "</header>"
    yield "<main>"
    if not messages:
        yield '<p class="note">No messages.</p>'
    starts = {span.first_message: span for span in turns}
    removed = sorted(chat.removed_turns)
    for number, message in enumerate(messages):
        span = starts.get(number)
        while span is not None and removed and removed[0][0] < span.turn:
            yield _removed(*removed.pop(0))
        yield from _message(message, span)
    for one in removed:
        yield _removed(*one)
    yield "</main>"
    yield "</body>"
    yield "</html>"


def _facts(chat: Chat, messages: Sequence[Message]) -> Iterator[str]:
    facts = (
        ("Chat ID", chat.id),
        ("Agent", chat.agent),
        ("Model", chat.model),
        ("Mode", chat.current_mode_id),
        ("Created", moment(chat.created_at)),
        ("Updated", moment(chat.updated_at)),
        ("Messages", str(len(messages))),
    )
    yield "<dl>"
    for name, value in facts:
        if value:
            yield f"<div><dt>{name}</dt><dd>{shown(on_one_line(value))}</dd></div>"
    yield "</dl>"


def _removed(first: int, last: int, branch: str) -> str:
    words = f"Turn {first} was removed and is" if first == last else f"Turns {first} to {last} were removed and are"
    return f'<p class="note">{words} kept in chat {shown(on_one_line(branch))}.</p>'


def _message(message: Message, span: TurnSpan | None) -> Iterator[str]:
    yield f'<article class="{_ROLES.get(message.role, "event")}">'
    about = [f"Turn {span.turn}"] if span is not None else []
    if span is not None and span.duration_ms > 0:
        about.append(_length(span.duration_ms))
    if when := moment(message.ts):
        about.append(when)
    yield f'<h2>{shown(heading(message))} <span class="about">{_BETWEEN.join(about)}</span></h2>'
    if message.role == "assistant":
        yield from _answer(message)
    else:
        yield from _thought(message.reasoning)
        if message.content.strip():
            yield plain(message.content)
        for call in message.tool_calls:
            yield from _call(call)
    if plan := plan_of(message):
        yield "<h3>Plan</h3>"
        yield '<ul class="plan">'
        for line in plan:
            state = " <em>in progress</em>" if line.running else ""
            yield f"<li>{'&#9745;' if line.done else '&#9744;'} {shown(line.text)}{state}</li>"
        yield "</ul>"
    yield "</article>"


def _answer(message: Message) -> Iterator[str]:
    """An answer in the order it came. What no block tells of comes before (its words) or after (its calls)."""
    calls = {call.id: call for call in message.tool_calls}
    blocks = message.blocks
    if not any(_kind(one) == "thinking" for one in blocks):
        yield from _thought(message.reasoning)
    if message.content.strip() and not any(_kind(one) == "text" and one.text.strip() for one in blocks):
        yield rich(message.content)
    told: set[str] = set()
    for one in blocks:
        match _kind(one):
            case "thinking":
                yield from _thought(one.thinking)
            case "tool_use":
                call = calls.get(one.tool_call_id)
                if call is not None and call.id not in told:
                    told.add(call.id)
                    yield from _call(call)
            case _:
                if one.text.strip():
                    yield rich(one.text)
    for call in message.tool_calls:
        if call.id not in told:
            yield from _call(call)


def _kind(block: Block) -> str:
    return block.type if block.type in ("thinking", "tool_use") else "text"


def _thought(text: str) -> Iterator[str]:
    if text.strip():
        yield f'<details class="thought"><summary>Reasoning</summary>\n{plain(text)}\n</details>'


def _call(call: ToolCall) -> Iterator[str]:
    yield f'<details class="tool {_STATUSES.get(call.status, "ended")}"><summary>Tool: {shown(title(call))}</summary>'
    about = [shown(on_one_line(call.kind))] if call.kind and call.title else []
    if call.duration_ms > 0:
        about.append(_length(call.duration_ms))
    if call.agent_subtask_id or call.sub_session_id:
        about.append("by a sub-agent")
    if about:
        yield f'<p class="about">{_BETWEEN.join(about)}</p>'
    if call.locations:
        yield "<ul>"
        for one in call.locations:
            place = f"{one.path}:{one.line}" if one.line > 0 else one.path
            yield f"<li><code>{shown(on_one_line(place))}</code></li>"
        yield "</ul>"
    if arguments := given(call):
        yield f"<h3>Input</h3>\n{block(arguments, 'code')}"
    if output := printed(call.output).strip("\n"):
        yield f"<h3>Output</h3>\n{block(output, 'code')}"
    for diff in call.diffs:
        yield f"<h3>{shown(on_one_line(diff.path))}</h3>\n{fragment(diff)}"
    yield "</details>"


def _length(duration_ms: int) -> str:
    """ "310 ms", "4.2 s", "3 min 20 s"."""
    if duration_ms < 1000:
        return f"{duration_ms} ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.1f} s"
    return f"{duration_ms // 60_000} min {duration_ms % 60_000 // 1000} s"
