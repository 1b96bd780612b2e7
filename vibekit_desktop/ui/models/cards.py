"""From tool calls to cards: verb, target, counts, status, what a command changed. Pure; UI thread for the translation."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from vibekit_desktop.core.types.chats import ToolCall
from vibekit_desktop.core.types.checkpoints import Author, ChangeStatus, FileChange
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.blocks import Card, CardFile
from vibekit_desktop.ui.models.mini_diff import counts
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible_text import one_line

_READS_IN_A_ROW = 3
_EXIT = re.compile(r"\s*(?:Error: )?exit (?:code |status )?(\d{1,5})\b", re.IGNORECASE)

_ICONS = {
    "read": "read",
    "search": "search",
    "edit": "edit",
    "write": "edit",
    "delete": "file-deleted",
    "move": "file-renamed",
    "execute": "terminal",
    "shell": "terminal",
    "command": "terminal",
    "hook": "terminal",
    "fetch": "globe",
    "browser": "globe",
    "think": "plan",
}


class _Arguments(msgspec.Struct):
    """The one argument that is shown."""

    command: str | list[str] = ""


def _verbs(kind: str, title: str) -> tuple[str, str]:
    """Past and present."""
    match kind:
        case "read":
            return tr("Read"), tr("Reading")
        case "search":
            return tr("Searched"), tr("Searching")
        case "edit" | "write":
            return tr("Edited"), tr("Editing")
        case "delete":
            return tr("Deleted"), tr("Deleting")
        case "move":
            return tr("Renamed"), tr("Renaming")
        case "execute" | "shell" | "command" | "hook":
            return tr("Ran"), tr("Running")
        case "fetch" | "browser":
            return tr("Fetched"), tr("Fetching")
        case "think":
            return (tr("Asked"), tr("Asking")) if title.startswith("AskUser") else (tr("Planned"), tr("Planning"))
        case _:
            return tr("Used"), tr("Using")


def relative(path: str, workspace: str) -> str:
    """A path as it is shown: below the workspace without it, else as recorded."""
    shown, root = path.replace("\\", "/"), workspace.replace("\\", "/").rstrip("/")
    return shown[len(root) + 1 :] if root and shown.startswith(f"{root}/") else shown


def _command(call: ToolCall) -> str:
    raw = bytes(call.input)
    if raw:
        try:
            command = msgspec.json.decode(raw, type=_Arguments).command
        except msgspec.DecodeError:
            command = ""
        if command:
            return command if isinstance(command, str) else " ".join(command)
    return _without_tool(call.title)


def _without_tool(title: str) -> str:
    """ "Grep needle" without the tool's name in front."""
    first, _, rest = title.partition(" ")
    return rest.strip("` ") if rest and first[:1].isupper() else title.strip("` ")


def _status(call: ToolCall) -> tuple[str, str]:
    """State and its words."""
    took = when.duration(call.duration_ms) if call.duration_ms >= 100 else ""
    if call.status in ("pending", "in_progress"):
        return "active", took
    if call.status == "failed":
        found = _EXIT.match(call.output[:200])
        word = tr("exit {code}", code=found[1]) if found else tr("failed")
        return "failed", f"{word} · {took}" if took else word
    return "done", took if call.kind in ("execute", "shell", "command", "fetch") else ""


def _path(call: ToolCall, workspace: str) -> str:
    raw = call.diffs[0].path if call.diffs else call.locations[0].path if call.locations else ""
    return relative(raw, workspace)


def card(call: ToolCall, turn: int, workspace: str, changes: Mapping[str, Sequence[FileChange]]) -> Card:
    """One call; ``changes`` are the turn's known changes by tool call id, and by path under ``path:`` and the path."""
    past, present = _verbs(call.kind, call.title)
    state, status = _status(call)
    path = _path(call, workspace)
    own = changes.get(call.id, ())
    known = next(iter(changes.get(f"path:{path}", ())), None) if path else None
    added: int | None = None
    removed: int | None = None
    icon = _ICONS.get(call.kind, "agent")
    editing = call.kind in ("edit", "write")
    if call.diffs:
        both = [counts(fragment.old_text, fragment.new_text) for fragment in call.diffs]
        added, removed = sum(one for one, _ in both), sum(two for _, two in both)
    if editing and known is not None and len(changes.get(f"calls:{path}", ())) == 1:
        added, removed = known.lines_added, known.lines_removed
    if editing and known is not None and known.status is ChangeStatus.ADDED and not any(d.old_text for d in call.diffs):
        past, present, icon = tr("Created"), tr("Creating"), "file-added"
    if path and (editing or call.kind in ("read", "delete", "move")):
        target, mono = path, True
    elif call.kind in ("execute", "shell", "command", "hook"):
        target, mono = _command(call), True
    elif call.kind in ("search", "fetch", "browser"):
        target, mono = _without_tool(call.title), True
    else:
        target, mono = (_without_tool(call.title) if call.kind == "think" else call.title), False
    files = () if editing else tuple(_file(change) for change in own)
    return Card(
        key=call.id,
        icon=icon,
        verb=tr("Failed") if state == "failed" else present if state == "active" else past,
        target=one_line(target),
        mono=mono,
        state=state,
        status=status,
        turn=turn,
        path=path if editing and known is not None else "",
        undone=known.undone if editing and known is not None else False,
        added=added,
        removed=removed,
        fragments=call.diffs,
        first_line=call.locations[0].line if call.locations else 0,
        output="" if call.diffs else call.output,
        files=files,
        sure=all(change.author is Author.COMMAND for change in own),
    )


def _file(change: FileChange) -> CardFile:
    return CardFile(change.path, change.status.value, change.lines_added, change.lines_removed, change.undone)


def cards(
    calls: Sequence[ToolCall], turn: int, workspace: str, changes: Mapping[str, Sequence[FileChange]]
) -> tuple[Card, ...]:
    """Consecutive calls; three or more reads in a row are one card."""
    result: list[Card] = []
    at = 0
    while at < len(calls):
        end = at
        while end < len(calls) and calls[end].kind == "read" and calls[end].status == "completed":
            end += 1
        if end - at >= _READS_IN_A_ROW:
            result.append(_reads(calls[at:end], turn, workspace))
            at = end
            continue
        result.append(card(calls[at], turn, workspace, changes))
        at += 1
    return tuple(result)


def _reads(calls: Sequence[ToolCall], turn: int, workspace: str) -> Card:
    paths = tuple(dict.fromkeys(one_line(_path(call, workspace) or call.title) for call in calls))
    return Card(
        key=f"reads:{calls[0].id}",
        icon="read",
        verb=tr("Read"),
        target=tr_n("1 file", "{n} files", len(paths)),
        mono=False,
        state="done",
        status="",
        turn=turn,
        lines=paths,
    )
