"""Claude Code's records as the messages of a chat (chat.md 1.6 to 1.8): one assistant message for each turn of the agent.

Sub-agents' tool calls stand where they happened, marked with the sub-agent; their texts do not. Pure; any thread.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from vibekit_desktop.core.sources.claude_replay import EDITING, replacements
from vibekit_desktop.core.sources.claude_tools import kind_of, path_of, title_of
from vibekit_desktop.core.sources.claude_turns import Conversation, Kind, Slot, slots
from vibekit_desktop.core.sources.reading import mapping, milliseconds, number, plain, sequence, text
from vibekit_desktop.core.sources.recorded_paths import RecordedRoot
from vibekit_desktop.core.types.chats import Block, DiffFragment, Location, Message, ToolCall
from vibekit_desktop.core.types.errors import InvalidId
from vibekit_desktop.core.types.ids import parse_message_id

OUTPUT_LIMIT = 64 << 10
_INPUT_LIMIT = 16 << 10
_STRING_LIMIT = 2000
_CSI = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
_OSC = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_STRINGS = r"\x1b[PX^_][^\x1b]*\x1b\\"
_ESCAPES = re.compile(rf"{_CSI}|{_OSC}|{_STRINGS}|\x1b[@-Z\\-_]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean(words: str) -> str:
    """Text that can be stored: half characters replaced."""
    return _SURROGATE.sub("\ufffd", words)


def capped(words: str, limit: int = OUTPUT_LIMIT) -> str:
    """At most ``limit`` characters, with a note of what is missing."""
    if len(words) <= limit:
        return words
    return f"{words[:limit]}\n[{len(words) - limit} more characters are in the original history]"


def _printed(words: str) -> str:
    """Output of a program without its escape sequences."""
    return _CONTROLS.sub("", _ESCAPES.sub("", words.replace("\r\n", "\n")))


@dataclass(frozen=True, slots=True)
class _Answer:
    output: str
    failed: bool
    ts: int
    fields: Mapping[str, object]


@dataclass(slots=True)
class MessageWriter:
    """Writes the messages of segments. Every id is given once, and the same on every reading of a file that only grew."""

    conversation: Conversation
    root: RecordedRoot
    model: str = ""
    _answers: dict[str, _Answer] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)
    _calls: set[str] = field(default_factory=set)

    def write(self) -> list[list[Message]]:
        """The messages of every segment."""
        self._collect_answers()
        return [
            [self._message(index, slot) for slot in slots(self.conversation, index)]
            for index in range(len(self.conversation.segments))
        ]

    def _collect_answers(self) -> None:
        for position, entry in enumerate(self.conversation.entries):
            if self.conversation.kinds[position] is not Kind.RESULT:
                continue
            head = entry.record.head
            for block in (mapping(item) for item in sequence(mapping(plain(head.message)).get("content"))):
                call = text(block.get("tool_use_id"))
                if block.get("type") == "tool_result" and call and call not in self._answers:
                    self._answers[call] = _Answer(
                        _output(block.get("content")),
                        block.get("is_error") is True,
                        milliseconds(head.timestamp),
                        mapping(plain(head.tool_use_result)),
                    )

    def _message(self, segment: int, slot: Slot) -> Message:
        head = self.conversation.entries[slot.positions[0]].record.head
        identity = self._identity(head.uuid or "", slot.positions[0])
        ts = milliseconds(head.timestamp)
        words = clean(self.conversation.texts.get(slot.positions[0], ""))
        match slot.kind:
            case Kind.ANSWER:
                return self._assistant(identity, ts, slot.positions)
            case Kind.INTERRUPTED:
                return Message(id=identity, role="event", ts=ts, event_kind="interrupted", content=words.strip("[]"))
            case Kind.SUMMARY:
                return Message(id=identity, role="event", ts=ts, event_kind="compacted", content=words)
            case Kind.PROMPT:
                return Message(id=identity, role="user", ts=ts, content=words, turn=self.conversation.segments[segment].turn)
            case _:
                return Message(id=identity, role="user", ts=ts, content=words)

    def _identity(self, uuid: str, position: int) -> str:
        try:
            found = str(parse_message_id(uuid))
        except InvalidId:
            found = f"line-{position + 1}"
        while found in self._ids:
            found = f"{found[:100]}.{position + 1}"
        self._ids.add(found)
        return found

    def _assistant(self, identity: str, ts: int, positions: list[int]) -> Message:
        blocks: list[Block] = []
        calls: list[ToolCall] = []
        for position in positions:
            record, sub = self.conversation.entries[position]
            message = mapping(plain(record.head.message))
            model = text(message.get("model"))
            if model and not sub and not model.startswith(("<", "[")):
                self.model = model
            content = message.get("content")
            if isinstance(content, str):
                content = [{"type": "text", "text": content}]
            for order, block in enumerate(mapping(item) for item in sequence(content)):
                kind = block.get("type")
                if kind == "tool_use":
                    call = self._call(block, position, order, sub, milliseconds(record.head.timestamp))
                    if call is not None:
                        calls.append(call)
                        blocks.append(Block(type="tool_use", tool_call_id=call.id, agent_subtask_id=sub))
                elif sub:
                    continue
                elif kind == "text" and text(block.get("text")).strip() not in ("", "(no content)"):
                    blocks.append(Block(type="text", text=clean(text(block.get("text")))))
                elif kind == "thinking" and text(block.get("thinking")).strip():
                    blocks.append(Block(type="thinking", thinking=clean(text(block.get("thinking")))))
                elif kind == "image":
                    blocks.append(Block(type="text", text="[image]"))
        return Message(
            id=identity,
            role="assistant",
            ts=ts,
            content="\n\n".join(block.text for block in blocks if block.type == "text"),
            reasoning="\n\n".join(block.thinking for block in blocks if block.type == "thinking"),
            tool_calls=tuple(calls),
            blocks=tuple(blocks),
        )

    def _call(self, block: Mapping[str, object], position: int, order: int, sub: str, ts: int) -> ToolCall | None:
        identity = text(block.get("id")) or f"call-{position + 1}-{order + 1}"
        if identity in self._calls:
            return None
        self._calls.add(identity)
        tool = text(block.get("name"))
        arguments = mapping(block.get("input"))
        answer = self._answers.get(identity)
        recorded = path_of(arguments)
        shown = clean(self.root.show(recorded)) if recorded else ""
        located = recorded if recorded and text(arguments.get("path")) != recorded else ""
        diffs: tuple[DiffFragment, ...] = ()
        if tool in EDITING and (answer is None or not answer.failed):
            diffs = _fragments(tool, arguments, answer.fields if answer else {}, shown)
        return ToolCall(
            id=clean(identity),
            title=clean(title_of(tool, arguments, shown if located else "")),
            kind=kind_of(tool),
            status="in_progress" if answer is None else "failed" if answer.failed else "completed",
            output=answer.output if answer else "",
            input=_input(arguments),
            locations=(Location(path=clean(located), line=max(0, number(arguments.get("offset")))),) if located else (),
            diffs=diffs,
            agent_subtask_id=clean(sub),
            duration_ms=max(0, answer.ts - ts) if answer and answer.ts and ts else 0,
            ts=ts,
        )


def settle(messages: tuple[Message, ...], *, running: bool) -> tuple[Message, ...]:
    """Calls that were never answered failed, except in the last message of a session that may still be running."""
    settled: list[Message] = []
    for index, message in enumerate(messages):
        last = running and index == len(messages) - 1
        if not last and any(call.status == "in_progress" for call in message.tool_calls):
            calls = (
                msgspec.structs.replace(call, status="failed") if call.status == "in_progress" else call
                for call in message.tool_calls
            )
            message = msgspec.structs.replace(message, tool_calls=tuple(calls))
        settled.append(message)
    return tuple(settled)


def _output(content: object) -> str:
    if isinstance(content, str):
        parts = [content]
    else:
        blocks = map(mapping, sequence(content))
        parts = ["[image]" if block.get("type") == "image" else text(block.get("text")) for block in blocks]
    joined = "".join(part if part.endswith("\n") else part + "\n" for part in parts if part)
    return capped(clean(_printed(joined)))


def _fragments(tool: str, arguments: Mapping[str, object], result: Mapping[str, object], path: str) -> tuple[DiffFragment, ...]:
    if tool in ("Write", "NotebookEdit"):
        new = text(arguments.get("content")) or text(arguments.get("new_source"))
        return (DiffFragment(path=path, new_text=capped(clean(new), _INPUT_LIMIT)),)
    return tuple(
        DiffFragment(path=path, old_text=_fragment(change.old), new_text=_fragment(change.new))
        for change in replacements(tool, arguments, result)
    )


def _fragment(words: str) -> str:
    return capped(clean(words), _INPUT_LIMIT)


def _input(arguments: Mapping[str, object]) -> msgspec.Raw:
    """The arguments as JSON; long strings cut where the whole is too long to keep."""
    if not arguments:
        return msgspec.Raw(b"")
    try:
        whole = msgspec.json.encode(_storable(arguments, 1 << 30, 0))
        if len(whole) > _INPUT_LIMIT:
            whole = msgspec.json.encode(_storable(arguments, _STRING_LIMIT, 0))
        return msgspec.Raw(whole) if len(whole) <= 4 * _INPUT_LIMIT else msgspec.Raw(b"")
    except (msgspec.MsgspecError, OverflowError, RecursionError, ValueError):
        return msgspec.Raw(b"")


def _storable(value: object, limit: int, depth: int) -> object:
    if isinstance(value, str):
        return clean(value if len(value) <= limit else value[:limit] + "…")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 63:
        return str(value) if abs(value) < 1 << 256 else None
    if depth > 40:
        return None
    if isinstance(value, dict):
        return {clean(str(key)): _storable(item, limit, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item, limit, depth + 1) for item in value]
    return value
