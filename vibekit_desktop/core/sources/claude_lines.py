"""Claude Code's session files: bytes to records, whatever state the file is in.

Lines are split at byte 0x0A only. Objects glued on one line, runs of NUL, a record cut short with a whole one behind it, a cut
last line and a JSON array instead of lines are all read; what cannot be read is reported with its line and never fatal.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from vibekit_desktop.core.types.sources import SkippedLine

_NOTHING = msgspec.Raw(b"")


class Head(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The keys of a record that mean something to us; values that may be large stay undecoded."""

    type: str = ""
    uuid: str | None = ""
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = ""
    timestamp: str | None = ""
    cwd: str | None = ""
    project: str | None = ""
    is_sidechain: bool | None = False
    is_meta: bool | None = False
    is_compact_summary: bool | None = False
    is_visible_in_transcript_only: bool | None = False
    is_api_error_message: bool | None = False
    is_snapshot_update: bool | None = False
    agent_id: str | None = ""
    subtype: str | None = ""
    prompt_source: str | None = ""
    origin: msgspec.Raw = _NOTHING
    message: msgspec.Raw = _NOTHING
    tool_use_result: msgspec.Raw = _NOTHING
    data: msgspec.Raw = _NOTHING
    snapshot: msgspec.Raw = _NOTHING
    snapshot_message_id: str | None = ""
    tracking_path: str | None = ""
    backup: msgspec.Raw = _NOTHING
    attachment: msgspec.Raw = _NOTHING
    content: msgspec.Raw = _NOTHING
    summary: str | None = ""
    leaf_uuid: str | None = ""
    custom_title: str | None = ""
    ai_title: str | None = ""
    duration_ms: float | None = 0


class Record(NamedTuple):
    """One record: where it stands (line from 1) and what it says. ``damaged``: some of its text could not be read exactly."""

    line: int
    head: Head
    damaged: bool = False


class Lines(NamedTuple):
    """A whole file read."""

    records: list[Record]
    skipped: list[SkippedLine]


_HEAD = msgspec.json.Decoder(Head)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Head)}
_GAP = re.compile(r"[\s\0,\[\]\ufeff]*")
_FIRST_KEYS = "parentUuid|type|uuid|sessionId|isSidechain|logicalParentUuid|messageId|summary|timestamp|cwd"
_START = re.compile(rf'\{{\s*"(?:{_FIRST_KEYS})"\s*:')
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MOST_TRIES = 64


def parse(data: bytes, *, step: Callable[[int], None] | None = None) -> Lines:
    """Every record of a file, in file order. ``step`` is called with the bytes done so far."""
    records: list[Record] = []
    skipped: list[SkippedLine] = []
    if data.lstrip(b"\xef\xbb\xbf \t\r\n\0")[:1] == b"[":
        _loose(data, 1, records, skipped)
        return Lines(records, skipped)
    for number, start, line in _split(data):
        if step is not None and number % 64 == 0:
            step(start)
        body = line.strip(b" \t\r\0")
        if not body:
            continue
        try:
            records.append(Record(number, _HEAD.decode(body)))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            before = len(skipped)
            _loose(body, number, records, skipped)
            if start + len(line) >= len(data):
                skipped[before:] = [_cut(item) for item in skipped[before:]]
    return Lines(records, skipped)


def _cut(item: SkippedLine) -> SkippedLine:
    """On the last line, which has no end yet, what is not JSON is a record that is still being written or was cut off."""
    return SkippedLine(item.line, "cut off") if item.reason == "not JSON" else item


def _split(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    start, number = 0, 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield number, start, data[start:end]
        start, number = end + 1, number + 1


def _loose(data: bytes, line: int, records: list[Record], skipped: list[SkippedLine]) -> None:
    """Decode object after object with end positions; after a failure look for the next beginning of a record."""
    damaged = False
    try:
        body = data.decode("utf-8")
    except UnicodeDecodeError:
        body, damaged = data.decode("utf-8", "replace"), True
    decoder = json.JSONDecoder(parse_constant=_no_number)
    at, counted = 0, 0
    tries = _MOST_TRIES
    while True:
        found = _GAP.match(body, at)
        at = found.end() if found else at
        if at >= len(body):
            return
        line += body.count("\n", counted, at)
        counted = at
        end = -1
        if body[at] == "{":
            try:
                value, end = decoder.raw_decode(body, at)
                record = _record(value, body[at:end], line, damaged)
                if record is not None:
                    records.append(record)
                else:
                    skipped.append(SkippedLine(line, "not a record"))
            except RecursionError:
                skipped.append(SkippedLine(line, "nested too deeply"))
                end = -2
            except ValueError:
                end = -1
        if end >= 0:
            at = end
            continue
        if end == -1:
            skipped.append(SkippedLine(line, "not JSON"))
        at, tries = _resume(body, at + 1, decoder, tries)


def _no_number(_: str) -> None:
    """NaN and the infinities are no JSON; they are read as null."""


def _resume(body: str, at: int, decoder: json.JSONDecoder, tries: int) -> tuple[int, int]:
    """Where to go on after something unreadable: at a whole record behind it on the same line, else on the next line."""
    stop = body.find("\n", at)
    stop = len(body) if stop < 0 else stop
    for found in _START.finditer(body, at, stop):
        if tries <= 0:
            break
        tries -= 1
        try:
            value, end = decoder.raw_decode(body, found.start())
        except (ValueError, RecursionError):
            continue
        rest = _GAP.match(body, end)
        behind = rest.end() if rest else end
        whole = isinstance(value, dict) and isinstance(value.get("type"), str) and ("sessionId" in value or "uuid" in value)
        if whole and (behind >= len(body) or behind > stop or body[behind] == "{") and body[end : end + 1] not in (",", "]"):
            return found.start(), tries
    return stop, tries


def _record(value: object, source: str, line: int, damaged: bool) -> Record | None:
    """A record from what the slow reader found; fields of a wrong type are as if absent."""
    if not isinstance(value, dict):
        return None
    raw = source.encode("utf-8", "replace")
    try:
        return Record(line, _HEAD.decode(raw), damaged)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    parts: dict[str, msgspec.Raw]
    try:
        parts = _OBJECT.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # Half of a surrogate pair, NaN, or a number that no machine word holds: written again with what can be kept.
        damaged = True
        try:
            again = _SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False))
            parts = _OBJECT.decode(again.encode())
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
    known: dict[str, object] = {}
    for name, part in parts.items():
        field = _FIELDS.get(name)
        if field is None:
            continue
        try:
            whole = field.type is msgspec.Raw
            known[field.name] = msgspec.Raw(bytes(part)) if whole else msgspec.json.decode(part, type=field.type)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
    return Record(line, msgspec.structs.replace(Head(), **known), damaged)
