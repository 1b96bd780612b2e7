"""Bring the records of a session and of its sub-agents into one order: the one in which the disk saw them.

Sub-agents were written in the main file (1.0.x), inside progress lines (2.1.12 to 2.1.79), beside the session, and in its own
folder (newer). Pure except `sub_agent_files`; any thread.
"""

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vibekit_desktop.core.sources.claude_lines import Head, Record, parse
from vibekit_desktop.core.sources.claude_turns import Entry
from vibekit_desktop.core.sources.reading import milliseconds, names_in, read_beginning

_DEEPEST = 4


class _Progress(msgspec.Struct, frozen=True, rename="camel"):
    type: str = ""
    message: msgspec.Raw = msgspec.Raw(b"")
    agent_id: str | None = ""


_PROGRESS = msgspec.json.Decoder(_Progress)
_HEAD = msgspec.json.Decoder(Head)


def own_files(path: Path) -> list[Path]:
    """The files of sub-agents in a session's own folder, nested ones too."""
    return _under(path.parent / path.name.removesuffix(".jsonl") / "subagents", _DEEPEST)


def sub_agent_files(path: Path) -> list[Path]:
    """The files of all of a session's sub-agents: its own, and those beside it that name the session."""
    session = path.name.removesuffix(".jsonl")
    found = own_files(path)
    if path.name.startswith("agent-"):
        return found
    mark = f'"{session}"'.encode()
    beside = [name for name in names_in(path.parent) if name.startswith("agent-") and name.endswith(".jsonl")]
    return found + [path.parent / name for name in beside if mark in read_beginning(path.parent / name, 1 << 16)]


def _under(folder: Path, depth: int) -> list[Path]:
    found: list[Path] = []
    for name in names_in(folder):
        if name.startswith("agent-") and name.endswith(".jsonl"):
            found.append(folder / name)
        elif depth and not name.endswith((".jsonl", ".json")) and not (folder / name).is_symlink():
            found += _under(folder / name, depth - 1)
    return found


def gather(records: Sequence[Record], agents: Sequence[tuple[Path, bytes]] = ()) -> list[Entry]:
    """One list of entries. Sub-agents' own files are sorted in by time, without changing the order inside any file."""
    main: list[Entry] = []
    alone = all(record.head.is_sidechain for record in records if record.head.type in ("user", "assistant"))
    for record in records:
        head = record.head
        if head.type == "progress" and b"agent_progress" in bytes(head.data):
            main.append(_unpack(record))
        elif head.is_sidechain and not alone:
            main.append(Entry(record, head.agent_id or "sidechain"))
        else:
            main.append(Entry(record))
    if not agents:
        return main
    times: list[int] = []
    latest = 0
    for entry in main:
        latest = max(latest, milliseconds(entry.record.head.timestamp))
        times.append(latest)
    placed: list[tuple[int, int, Entry]] = []
    for file, data in agents:
        agent = file.name.removeprefix("agent-").removesuffix(".jsonl")
        moment = 0
        for record in parse(data).records:
            moment = max(moment, milliseconds(record.head.timestamp))
            at = bisect_right(times, moment) if moment else len(main)
            placed.append((at, moment, Entry(record, agent)))
    placed.sort(key=lambda item: (item[0], item[1]))
    merged: list[Entry] = []
    following = iter(placed)
    item = next(following, None)
    for index in range(len(main) + 1):
        while item is not None and item[0] <= index:
            merged.append(item[2])
            item = next(following, None)
        if index < len(main):
            merged.append(main[index])
    return merged


def _unpack(record: Record) -> Entry:
    """The message inside a progress line, as if it had a line of its own."""
    try:
        progress = _PROGRESS.decode(record.head.data)
        inner = _HEAD.decode(progress.message)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return Entry(record, "sub-agent")
    if progress.type != "agent_progress":
        return Entry(record)
    head = msgspec.structs.replace(
        inner, cwd=record.head.cwd, timestamp=inner.timestamp or record.head.timestamp, parent_uuid=None
    )
    return Entry(Record(record.line, head, record.damaged), progress.agent_id or "sub-agent")
