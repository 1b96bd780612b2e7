"""Claude Code's records as a conversation: which lines are prompts, which belong to which turn, which were left behind.

`parentUuid` makes a tree, the file order is not the tree order (session-formats.md 2.3). We cut the tree at real prompts: a
`Segment` is one prompt with everything that hangs on it up to the next prompts. Pure; any thread.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

import msgspec

from vibekit_desktop.core.sources.claude_lines import Head, Record
from vibekit_desktop.core.sources.reading import mapping, plain, sequence, text


class Kind(Enum):
    """What a record is to a conversation."""

    PROMPT = auto()
    COMMAND = auto()
    """A slash command; not a real prompt, though the agent may work on it."""
    SHELL = auto()
    """A shell command that the person typed."""
    QUEUED = auto()
    """A prompt that begins no turn: typed while the agent was working, or given to a sub-agent."""
    INTERRUPTED = auto()
    SUMMARY = auto()
    """What a compaction left of the conversation so far."""
    ANSWER = auto()
    RESULT = auto()
    NOISE = auto()
    """Conversation lines that people never see."""
    OTHER = auto()


_SPOKEN = {"user", "assistant", "system", "summary", "progress", "attachment"}
_FILES = {"file-history-snapshot", "file-history-delta"}
_TITLES = {"ai-title", "custom-title", "agent-name", "agent-color", "agent-setting", "last-prompt", "tag"}
_STATE = {"queue-operation", "permission-mode", "mode", "cost-state", "worktree-state", "atis-latch", "history-suppression"}
_LINKS = {"pr-link", "bridge-session", "frame-link", "relocated", "started", "result", "content-replacement"}
KNOWN_TYPES = frozenset(_SPOKEN | _FILES | _TITLES | _STATE | _LINKS)
"""Record types that were seen and looked at; most of them say nothing that we show."""

_IDE = re.compile(r"<(ide_[a-z_]+|system-reminder)>.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<(command-name|command-args|bash-input)>(.*?)</\1>", re.DOTALL)
_HIDDEN = ("<local-command-", "<bash-stdout>", "<bash-stderr>", "<task-notification", "<user-memory-input>")
_NOT_HUMAN = frozenset({"task-notification", "peer", "channel", "coordinator", "auto-continuation"})


class Entry(NamedTuple):
    """A record at its place in time. ``sub`` names the sub-agent it is by; empty for the main conversation."""

    record: Record
    sub: str = ""


class _Block(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""


class _Message(msgspec.Struct, frozen=True):
    content: str | list[_Block] = ""


_MESSAGE = msgspec.json.Decoder(_Message)


def classify(head: Head) -> tuple[Kind, str]:
    """What a main-conversation record is, and for what people typed, the text."""
    match head.type:
        case "assistant":
            return Kind.ANSWER, ""
        case "user":
            return _classify_user(head)
        case "attachment" if b"queued_command" in bytes(head.attachment)[:4096]:
            found = mapping(plain(head.attachment))
            if text(found.get("type")) == "queued_command" and text(found.get("commandMode")) in ("prompt", ""):
                shown = _IDE.sub("", _queued_text(found.get("prompt"))).strip()
                if shown and not shown.startswith(("<", "[Request interrupted")):
                    return Kind.QUEUED, shown
            return Kind.OTHER, ""
        case _:
            return Kind.OTHER, ""


def _queued_text(prompt: object) -> str:
    if isinstance(prompt, str):
        return prompt
    return "\n".join(text(mapping(block).get("text")) for block in sequence(prompt) if mapping(block).get("type") == "text")


def _classify_user(head: Head) -> tuple[Kind, str]:
    try:
        content = _MESSAGE.decode(head.message).content if bytes(head.message) else ""
    except (msgspec.MsgspecError, ValueError, RecursionError):
        content = _lenient(head)
    images = 0
    if not isinstance(content, str):
        if any(block.type == "tool_result" for block in content):
            return Kind.RESULT, ""
        images = sum(1 for block in content if block.type in ("image", "document"))
        content = "\n".join(block.text for block in content if block.type == "text" and block.text)
    if head.is_compact_summary:
        return Kind.SUMMARY, content
    if head.is_meta or head.is_visible_in_transcript_only or not _by_a_person(head):
        return Kind.NOISE, ""
    shown = _IDE.sub("", content).strip()
    if shown.startswith("[Request interrupted"):
        return Kind.INTERRUPTED, shown
    if shown.startswith(("<command-name>", "<command-message>", "<command-args>")):
        parts = {found[1]: found[2].strip() for found in _TAG.finditer(shown)}
        return Kind.COMMAND, f"{parts.get('command-name', '')} {parts.get('command-args', '')}".strip()
    if shown.startswith("<bash-input>"):
        parts = {found[1]: found[2].strip() for found in _TAG.finditer(shown)}
        return Kind.SHELL, "! " + parts.get("bash-input", "")
    if shown.startswith(_HIDDEN) or not (shown or images):
        return Kind.NOISE, ""
    marks = ["[image]"] * images
    return Kind.QUEUED if head.is_sidechain else Kind.PROMPT, "\n\n".join(part for part in (shown, *marks) if part)


def _lenient(head: Head) -> str | list[_Block]:
    content = mapping(plain(head.message)).get("content")
    if isinstance(content, str):
        return content
    return [_Block(text(mapping(block).get("type")), text(mapping(block).get("text"))) for block in sequence(content)]


def _by_a_person(head: Head) -> bool:
    if head.prompt_source == "system":
        return False
    if not bytes(head.origin) or bytes(head.origin) == b"null":
        return True
    origin = mapping(plain(head.origin))
    return text(origin.get("kind")) not in _NOT_HUMAN and "senderTaskId" not in origin


@dataclass(slots=True)
class Segment:
    """One real prompt and what hangs on it. ``turn`` 0: what came before the first prompt. ``items``: positions in the entries,
    in file order, the prompt first; sub-agents' entries stand where they happened."""

    turn: int
    parent: int
    items: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Conversation:
    """The whole tree. ``segments[0]`` has no prompt. ``active`` is the path to the newest line, ``left`` the paths to every
    other end that a prompt began."""

    entries: Sequence[Entry]
    kinds: list[Kind]
    texts: dict[int, str]
    turn_at: list[int]
    """For each entry: the newest prompt's turn in file order, which is the turn that the disk was in."""
    segments: list[Segment]
    active: list[int]
    left: list[list[int]]

    @property
    def turns(self) -> int:
        """How many real prompts there are."""
        return len(self.segments) - 1


def converse(entries: Sequence[Entry]) -> Conversation:
    """Build the tree. A record seen twice (same uuid) counts once, where it stood first."""
    kinds: list[Kind] = []
    texts: dict[int, str] = {}
    turn_at: list[int] = []
    segments = [Segment(0, -1)]
    owner: dict[str, int] = {}
    current, newest = 0, 0
    for position, (record, sub) in enumerate(entries):
        head = record.head
        kind = Kind.OTHER
        if sub:
            kind = {"assistant": Kind.ANSWER, "user": Kind.RESULT}.get(head.type, Kind.OTHER)
            segments[current].items.append(position)
        else:
            uuid = head.uuid or ""
            real = bool(uuid) and not uuid.startswith("[")
            if real and uuid in owner:
                kinds.append(Kind.OTHER)
                turn_at.append(len(segments) - 1)
                continue
            kind, shown = classify(head)
            above = owner.get(head.parent_uuid or "", owner.get(head.logical_parent_uuid or "", current))
            if kind is Kind.PROMPT:
                segments.append(Segment(len(segments), above))
                above = len(segments) - 1
            if real:
                owner[uuid] = above
            if shown:
                texts[position] = shown
            if kind is not Kind.OTHER:
                segments[above].items.append(position)
                current = above
                if kind is not Kind.NOISE:
                    newest = above
        kinds.append(kind)
        turn_at.append(len(segments) - 1)
    active = _path(segments, newest)
    parents = {segment.parent for segment in segments}
    ends = [index for index in range(1, len(segments)) if index not in parents and index not in active]
    return Conversation(entries, kinds, texts, turn_at, segments, active, [_path(segments, end) for end in ends])


def _path(segments: list[Segment], end: int) -> list[int]:
    path = [end]
    while segments[path[-1]].parent >= 0:
        path.append(segments[path[-1]].parent)
    return path[::-1]


class Slot(NamedTuple):
    """One message to be: its kind (ANSWER for an assistant message) and the entries that make it."""

    kind: Kind
    positions: list[int]


def slots(conversation: Conversation, segment: int) -> list[Slot]:
    """The messages of a segment, in order. A slash command is one only if the agent answered it."""
    found: list[Slot] = []
    command: int | None = None
    for position in conversation.segments[segment].items:
        match conversation.kinds[position]:
            case Kind.ANSWER:
                if command is not None:
                    found.append(Slot(Kind.COMMAND, [command]))
                    command = None
                if not found or found[-1].kind is not Kind.ANSWER:
                    found.append(Slot(Kind.ANSWER, []))
                found[-1].positions.append(position)
            case Kind.COMMAND:
                command = position
            case Kind.PROMPT | Kind.SHELL | Kind.QUEUED | Kind.INTERRUPTED | Kind.SUMMARY as kind:
                found.append(Slot(kind, [position]))
                command = None
            case _:
                pass
    return found
