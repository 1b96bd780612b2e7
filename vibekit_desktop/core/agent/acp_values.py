"""From ACP's updates and requests to our values.

Pure; any thread, large ones not the loop's. Nothing here raises, whatever the JSON holds.
"""

from collections.abc import Iterator

import msgspec

from vibekit_desktop.core.agent.acp_exits import exit_code_of
from vibekit_desktop.core.agent.acp_json import ABSENT, MOST, entries, number, small, text_of, under, words
from vibekit_desktop.core.agent.link import (
    Ask,
    AskOption,
    CommandsChanged,
    LinkEvent,
    PlanChanged,
    SessionNamed,
    TextArrived,
    ThoughtArrived,
    ToolChanged,
    UsageChanged,
    UserTextArrived,
)
from vibekit_desktop.core.types.agents import AgentCommand, PlanStep, Usage
from vibekit_desktop.core.types.chats import DiffFragment, Location

INPUT_BYTES = 2 << 20
"""Of the input of a tool; a larger one is as if it were not said."""
_STATUSES = ("pending", "in_progress", "completed", "failed")
_TOOL_KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")


class ToolJson(msgspec.Struct, rename="camel"):
    """A tool call as it comes; nothing of it is looked at yet."""

    session_update: msgspec.Raw = ABSENT
    tool_call_id: msgspec.Raw = ABSENT
    title: msgspec.Raw = ABSENT
    kind: msgspec.Raw = ABSENT
    status: msgspec.Raw = ABSENT
    content: msgspec.Raw = ABSENT
    locations: msgspec.Raw = ABSENT
    raw_input: msgspec.Raw = ABSENT
    raw_output: msgspec.Raw = ABSENT
    meta: msgspec.Raw = msgspec.field(default=ABSENT, name="_meta")


class ContentJson(msgspec.Struct, rename="camel"):
    """One piece of the content of a tool call, or of a message."""

    type: msgspec.Raw = ABSENT
    text: msgspec.Raw = ABSENT
    content: msgspec.Raw = ABSENT
    resource: msgspec.Raw = ABSENT
    message_id: msgspec.Raw = ABSENT
    path: msgspec.Raw = ABSENT
    old_text: msgspec.Raw = ABSENT
    new_text: msgspec.Raw = ABSENT
    terminal_id: msgspec.Raw = ABSENT


_ID_CHARS = 200

_content = msgspec.json.Decoder(ContentJson)
_pieces = msgspec.json.Decoder(list[msgspec.Raw])


def tool_of(json: ToolJson) -> ToolChanged | None:
    """What is said of a tool call; None if it is not said of which."""
    id_ = text_of(json.tool_call_id)
    if not id_:
        return None
    kind, status = text_of(json.kind), text_of(json.status)
    output, diffs, terminals = _parts(json.content)
    return ToolChanged(
        id=id_,
        title=text_of(json.title),
        kind=kind if kind is None or kind in _TOOL_KINDS else "other",
        status=status if status in _STATUSES else None,
        output=output,
        diffs=diffs,
        terminals=terminals,
        locations=_locations(json.locations),
        input=_input(json.raw_input),
        exit_code=exit_code_of(json.raw_output, json.meta),
    )


def _input(raw: msgspec.Raw) -> bytes | None:
    """The input as it came, if it is JSON that others can read too."""
    return None if small(raw, INPUT_BYTES) is None else bytes(raw)


def _locations(raw: msgspec.Raw) -> tuple[Location, ...] | None:
    found = small(raw)
    if not isinstance(found, list):
        return None
    told = [entry for entry in found[:MOST] if words(entry, "path")]
    return tuple(Location(path=words(entry, "path"), line=number(entry, "line")) for entry in told)


def _parts(raw: msgspec.Raw) -> tuple[str | None, tuple[DiffFragment, ...] | None, tuple[str, ...] | None]:
    """The output, the diffs and the terminals of a tool call's content; None for what it has none of.

    By the letter a content replaces the one before it; but agents also leave out of a later one what they have said."""
    try:
        pieces = _pieces.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None, None, None  # there is none, or it is no list
    output: list[str] = []
    diffs: list[DiffFragment] = []
    terminals: list[str] = []
    for piece in pieces[:MOST]:
        content = _read_content(piece)
        match text_of(content.type):
            case "content":
                output.append(_words_of(content.content))
            case "diff":
                old, new = text_of(content.old_text) or "", text_of(content.new_text) or ""
                diffs.append(DiffFragment(path=text_of(content.path) or "", old_text=old, new_text=new))
            case "terminal":
                terminals.append(text_of(content.terminal_id) or "")
            case _:
                pass
    said = "\n".join(text for text in output if text)
    return said or None, tuple(diffs) or None, tuple(terminal for terminal in terminals if terminal) or None


def _read_content(raw: msgspec.Raw) -> ContentJson:
    try:
        return _content.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return ContentJson()


def _words_of(raw: msgspec.Raw) -> str:
    """The words of a block of content; of a file or an image there are none."""
    block = _read_content(raw)
    kind = text_of(block.type)
    if kind == "text":
        return text_of(block.text) or ""
    return (text_of(_read_content(block.resource).text) or "") if kind == "resource" else ""


def event_of(kind: str, raw: msgspec.Raw) -> LinkEvent | None:
    """An update of the session, but those about its options; None for one that says nothing to us."""
    match kind:
        case "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk":
            chunk = _read_content(raw)
            words_, message = _words_of(chunk.content), (text_of(chunk.message_id) or "")[:_ID_CHARS]
            if not words_:
                return None
            if kind == "user_message_chunk":
                return UserTextArrived(words_, message)
            return ThoughtArrived(words_, message) if kind == "agent_thought_chunk" else TextArrived(words_, message)
        case "tool_call" | "tool_call_update":
            try:
                return tool_of(msgspec.json.decode(raw, type=ToolJson))
            except (msgspec.DecodeError, RecursionError):
                return None
        case "plan":
            return PlanChanged(tuple(_steps(small(raw))))
        case "available_commands_update":
            return CommandsChanged(tuple(_commands(small(raw))))
        case "usage_update":
            return UsageChanged(_usage(small(raw)))
        case "session_info_update":
            title = words(small(raw), "title")
            return SessionNamed(title) if title else None
        case _:
            return None


def _steps(update: object) -> Iterator[PlanStep]:
    for entry in entries(update, "entries"):
        status, priority = words(entry, "status"), words(entry, "priority")
        yield PlanStep(
            content=words(entry, "content"),
            status=status if status in ("pending", "in_progress", "completed") else "pending",
            priority=priority if priority in ("high", "medium", "low") else "medium",
        )


def _commands(update: object) -> Iterator[AgentCommand]:
    for entry in entries(update, "availableCommands"):
        if name := words(entry, "name"):
            yield AgentCommand(name, words(entry, "description"), words(under(entry, "input"), "hint"))


def _usage(update: object) -> Usage:
    cost = under(update, "cost")
    amount = cost.get("amount")
    known = isinstance(amount, int | float) and not isinstance(amount, bool) and 0 <= amount < 1e12
    return Usage(
        used=number(update, "used"),
        size=number(update, "size"),
        cost=float(amount) if known and isinstance(amount, int | float) else 0.0,
        currency=words(cost, "currency") if known else "",
    )


def ask_of(tool: ToolChanged, options: object) -> Ask:
    """A request for permission; of options with one id only the first counts."""
    found: dict[str, AskOption] = {}
    for entry in entries({"options": options}, "options"):
        id_ = words(entry, "optionId")
        if id_ and id_ not in found:
            found[id_] = AskOption(id_, words(entry, "name") or id_, words(entry, "kind") or "other")
    return Ask(tool=tool, options=tuple(found.values()))
