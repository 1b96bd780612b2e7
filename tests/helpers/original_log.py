"""The event log of the other program, as its specification says: lines, tags, and what replaying them gives.

A model for tests, made from the description of the format alone; it uses nothing of ours. It is strict: what that program would
skip, mistake or treat wrongly raises `Misunderstood` here, so that a folder which passes is one that it understands whole.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

KINDS = ("turn_start", "snapshot", "restore_started", "restore_committed", "restore", "conflict_detected")
LINE_BYTES = 32 << 20
RING = 500
_LARGEST = 2**63 - 1
_TAG = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{64}")
_LOST_BYTE = re.compile("[\udc80-\udcff]")
_NO_BLOB_ON_PURPOSE = ("link", "not-captured", "unknown")
"""Words of the other side's state keys: the hash beside them names nothing that a restore could use, so that it stops."""


class Misunderstood(Exception):
    """Something in a folder that the other program would not understand, or not as it is meant."""


class TagNotFound(Exception):
    """The text is no tag of this chat."""


@dataclass(frozen=True)
class Event:
    """One line; the fields stand in the order in which they are written."""

    type: str
    tag: str = ""
    path: str = ""
    before_sha: str = ""
    after_sha: str = ""
    description: str = ""
    other_chat: str = ""
    expected_sha: str = ""
    ts: int = 0
    turn: int = 0
    tool: int = 0
    message_count: int = 0
    v: int = 0


_TYPES = {one.name: one.type for one in fields(Event)}
_ALWAYS = ("type", "ts", "v")


def encode(event: Event) -> bytes:
    """One line with its LF: compact, zero and empty values left out, escaped as Go does by default."""
    values = {one.name: getattr(event, one.name) for one in fields(Event)}
    kept = {key: value for key, value in values.items() if value or key in _ALWAYS}
    text = json.dumps({key: _text(value) for key, value in kept.items()}, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text.encode() + b"\n"


def _text(value: object) -> object:
    """A name that is not UTF-8 does not survive: each byte that is none becomes U+FFFD."""
    return _LOST_BYTE.sub("\ufffd", value) if isinstance(value, str) else value


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Misunderstood("a key twice: the last one would win")
    return found


def decode(data: bytes) -> tuple[Event, dict[str, object]]:
    """One line, and what it holds besides; `Misunderstood` for anything that would be skipped or read as something else."""
    if len(data) > LINE_BYTES:
        raise Misunderstood("a line that ends the replay")
    try:
        raw = json.loads(data.decode(), object_pairs_hook=_pairs)
    except ValueError as error:
        raise Misunderstood("no JSON") from error
    if not isinstance(raw, dict):
        raise Misunderstood("no object")
    known = {key: value for key, value in raw.items() if key in _TYPES}
    others = {key: value for key, value in raw.items() if key not in _TYPES}
    if any(key.lower() in _TYPES for key in others):
        raise Misunderstood("a key that differs only in case from one of its own")
    for key, value in known.items():
        if type(value) is not _TYPES[key]:
            raise Misunderstood(f"{key} has a wrong type")
        if isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
            raise Misunderstood(f"{key} is too large")
    if "type" not in known:
        raise Misunderstood("no type")
    return Event(**known), others


def read(path: Path) -> list[tuple[Event, dict[str, object]]]:
    """Every line of a log; blank ones are nothing, an unterminated one counts if it is whole."""
    if not path.exists():
        return []
    return [decode(line) for line in path.read_bytes().split(b"\n") if line.strip()]


# -- tags --------------------------------------------------------------------------------------------------------


def is_hash(text: str) -> bool:
    """64 lower-case hex digits."""
    return _SHA.fullmatch(text) is not None


def is_tag(text: str) -> bool:
    """The strict grammar."""
    return _TAG.fullmatch(text) is not None


def _number(text: str) -> int:
    digits = text.removeprefix("+")
    value = int(digits) if digits.isascii() and digits.isdigit() else 0
    return value if value <= _LARGEST else 0


def pair(tag: str) -> tuple[int, int]:
    """Turn and tool as they are read for ordering; anything else is 0."""
    turn, _, tool = tag.partition(".")
    return _number(turn), _number(tool)


def tag_text(turn: int, tools: int) -> str:
    """The tag of the next snapshot in a turn with so many."""
    return f"{turn}.{tools}" if tools or not turn else f"{turn}"


# -- what replaying gives ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """One observation of a path."""

    tag: str
    before: str
    after: str


@dataclass
class Replayed:
    """What one log says after the replay of every line."""

    turn: int = 0
    tools: int = 0
    pending: str = ""
    watermarks: dict[str, int] = field(default_factory=dict)
    paths_of: dict[str, list[str]] = field(default_factory=dict)
    history: dict[str, list[Seen]] = field(default_factory=dict)
    referenced: set[str] = field(default_factory=set)
    tags: list[str] = field(default_factory=list)
    conflicts: list[Event] = field(default_factory=list)

    def apply(self, event: Event) -> None:
        """One event. Kinds that it does not know are ignored."""
        match event.type:
            case "turn_start":
                self.turn, self.tools = event.turn, 0
            case "snapshot":
                self._snapshot(event)
            case "restore_started":
                self.pending = event.tag
            case "restore_committed" | "restore":
                self.pending = ""
            case "conflict_detected":
                self.conflicts = [*self.conflicts, event][-RING:]

    def _snapshot(self, event: Event) -> None:
        self.watermarks[event.tag] = event.message_count
        self.paths_of.setdefault(event.tag, []).append(event.path)
        self.history.setdefault(event.path, []).append(Seen(event.tag, event.before_sha, event.after_sha))
        self.referenced |= {sha for sha in (event.before_sha, event.after_sha) if sha}
        self.turn = max(self.turn, event.turn)
        if event.turn == self.turn and event.tool >= self.tools:
            self.tools = event.tool + 1
        if all(pair(tag) != pair(event.tag) for tag in self.tags):
            self.tags = sorted([*self.tags, event.tag], key=pair)

    def next_tag(self) -> str:
        """What the next snapshot is called."""
        return tag_text(self.turn, self.tools)

    def require(self, tag: str) -> None:
        """Membership is by exact text."""
        if tag not in self.watermarks:
            raise TagNotFound(tag)

    def content_at(self, path: str, tag: str) -> str:
        """The hash before the path's own snapshot of that tag, or nothing, which means absent."""
        return next((seen.before for seen in self.history.get(path, []) if seen.tag == tag), "")

    def content_at_or_before(self, path: str, tag: str) -> str:
        """The same, else what the nearest earlier snapshot announced. Later ones are never looked at: its fault W1."""
        found = self.history.get(path, [])
        if any(seen.tag == tag for seen in found):
            return self.content_at(path, tag)
        earlier = [seen for seen in found if pair(seen.tag) < pair(tag)]
        return earlier[-1].after if earlier else ""

    def touched(self, wanted: Callable[[tuple[int, int]], bool]) -> list[str]:
        """The paths of the tags whose place is wanted, as first seen."""
        found = [path for tag in self.tags if wanted(pair(tag)) for path in self.paths_of[tag]]
        return list(dict.fromkeys(found))

    def touched_at_or_after(self, tag: str) -> list[str]:
        """What a restore considers."""
        return self.touched(lambda place: place >= pair(tag))

    def touched_between(self, old: str, new: str) -> list[str]:
        """What a diff considers: after ``old`` up to ``new``, which is left out if it is no tag."""
        return self.touched(lambda place: pair(old) < place < pair(new) or (new in self.watermarks and place == pair(new)))


def replay(path: Path, *, blob_is_there: Callable[[str], bool]) -> Replayed:
    """A whole log. `Misunderstood` where a line would do something that its writer cannot have meant."""
    state = Replayed()
    for event, others in read(path):
        for problem in _problems(event, others, state, blob_is_there):
            raise Misunderstood(f"{event.type} {event.tag}: {problem}")
        state.apply(event)
    return state


def _problems(event: Event, others: dict[str, object], state: Replayed, blob_is_there: Callable[[str], bool]) -> Iterator[str]:
    for sha in (event.before_sha, event.after_sha, event.expected_sha):
        if sha and not is_hash(sha):
            yield "a hash that is none"
    if event.type == "turn_start" and event.turn <= state.turn:
        yield "a turn number that does not grow"
    if event.type in ("restore_started", "restore_committed", "restore") and event.tag not in state.watermarks:
        yield "a restore to a tag that is none"
    if event.type != "snapshot":
        return
    if not is_tag(event.tag):
        yield "a snapshot without a tag"
    elif event.tag != tag_text(event.turn, event.tool):
        yield "a tag that is not of its turn and tool"
    if event.tag in state.watermarks:
        yield "a tag for the second time"
    if state.tags and pair(event.tag) <= pair(state.tags[-1]):
        yield "a tag that is out of order"
    if not event.path or event.path.startswith("/") or "\0" in event.path:
        yield "a path that is none"
    for side, sha in (("before", event.before_sha), ("after", event.after_sha)):
        if sha and others.get(f"{side}_state") not in _NO_BLOB_ON_PURPOSE and not blob_is_there(sha):
            yield f"a missing blob {side}"


def stamped(event: Event, now_ms: int) -> Event:
    """As the appender fills it in; a kind that it does not know is refused."""
    if event.type not in KINDS:
        raise ValueError(event.type)
    return replace(event, ts=event.ts or now_ms, v=event.v or 1)
