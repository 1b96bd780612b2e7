"""From tool calls to cards: verb, target, counts, status, what a command changed. Pure; UI thread for the translation."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import msgspec

from vibekit_desktop.core.types.chats import COMMAND_KINDS, ToolCall
from vibekit_desktop.core.types.checkpoints import (
    Author,
    BeforeTurn,
    ChangeStatus,
    EntryKind,
    FileChange,
    RestoreKind,
    Timeline,
)
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.blocks import Card, CardFile
from vibekit_desktop.ui.models.conflicts import ConflictCard
from vibekit_desktop.ui.models.mini_diff import counts
from vibekit_desktop.ui.models.timeline_phrases import not_kept, point_of
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import shown_path

_READS_IN_A_ROW = 3
_MOST_FILES = 1_000
_EDITING = ("edit", "write")
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


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the changes of one turn: by the call that made them, by path, and which calls edited a path.

    Paths are those the cards show. ``edits`` holds the calls that did not fail, in order; ``conflicts`` says who else changed
    a path; ``sizes`` how large some are of which no copy was kept.
    """

    by_call: Mapping[str, Sequence[FileChange]] = field(default_factory=dict)
    by_path: Mapping[str, FileChange] = field(default_factory=dict)
    edits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    conflicts: Mapping[str, ConflictCard] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


NOTHING_KNOWN = Known()


def known_of(changes: Sequence[FileChange], calls: Sequence[ToolCall], workspace: str) -> Known:
    """The changes of one turn and its calls, put in order for the cards."""
    by_call: dict[str, list[FileChange]] = {}
    for change in changes:
        if change.tool_call_id:
            by_call.setdefault(change.tool_call_id, []).append(change)
    edits = Edits(workspace)
    edits.update(calls)
    return Known(by_call, {change.path: change for change in changes}, edits.by_path)


class Edits:
    """Which calls edited which path, kept up as the calls change. Invariant: a call is at one path at most, in the order the
    calls came, and not there if it failed."""

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._paths: dict[str, str] = {}
        self.by_path: dict[str, list[str]] = {}

    def update(self, calls: Iterable[ToolCall]) -> None:
        """Calls that are new, or other ones than they were."""
        for call in calls:
            path = _path(call, self._workspace) if call.kind in _EDITING and call.status != "failed" else None
            before = self._paths.get(call.id)
            if path == before:
                continue
            if before is not None:
                self.by_path[before].remove(call.id)
                del self._paths[call.id]
            if path is not None:
                self._paths[call.id] = path
                self.by_path.setdefault(path, []).append(call.id)


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
        case _ if kind in COMMAND_KINDS:
            return tr("Ran"), tr("Running")
        case "fetch" | "browser":
            return tr("Fetched"), tr("Fetching")
        case "think":
            return (tr("Asked"), tr("Asking")) if title.startswith("AskUser") else (tr("Planned"), tr("Planning"))
        case _:
            return tr("Used"), tr("Using")


def wish(kind: str) -> str:
    """The verb of a call that waits to be allowed: nothing of it has begun."""
    match kind:
        case "read":
            return tr("Read")
        case "edit" | "write":
            return tr("Edit")
        case "delete":
            return tr("Delete")
        case "move":
            return tr("Rename")
        case _ if kind in COMMAND_KINDS:
            return tr("Run")
        case "fetch" | "browser":
            return tr("Fetch")
        case _:
            return tr("Use")


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
    if call.outcome == "denied":
        return "denied", tr("by you")
    if call.outcome == "stopped":
        return "stopped", took
    if call.status in ("pending", "in_progress"):
        return "active", took
    command = call.kind in COMMAND_KINDS
    code = call.exit_code if command else None
    if call.status == "failed" or code:
        found = _EXIT.match(call.output[:200]) if code is None else None
        told = str(code) if code else found[1] if found else ""
        word = tr("exit {code}", code=told) if told else tr("failed")
        return "failed", f"{word} · {took}" if took else word
    if code is not None:
        word = tr("exit {code}", code=str(code))
        return "done", f"{word} · {took}" if took else word
    return "done", took if command or call.kind == "fetch" else ""


def _path(call: ToolCall, workspace: str) -> str:
    raw = call.diffs[0].path if call.diffs else call.locations[0].path if call.locations else ""
    return relative(raw, workspace)


def _edited(call: ToolCall, change: FileChange, edits: Sequence[str]) -> tuple[int | None, int | None]:
    """The lines one call added and deleted. The turn's net counts are the call's own only if no other call edited the file."""
    if len(edits) <= 1:
        return change.lines_added, change.lines_removed
    return _told(call, whole=_creates(call, change, edits))


def _told(call: ToolCall, *, whole: bool) -> tuple[int | None, int | None]:
    """The counts of the fragments. A file written anew tells what it is, not what stood there before: no counts, unless
    ``whole`` says that there was nothing."""
    if not call.diffs or not (whole or all(fragment.old_text for fragment in call.diffs)):
        return None, None
    both = [counts(fragment.old_text, fragment.new_text) for fragment in call.diffs]
    return sum(one for one, _ in both), sum(two for _, two in both)


def _creates(call: ToolCall, change: FileChange, edits: Sequence[str]) -> bool:
    """Whether the file began with this call."""
    first = not edits or edits[0] == call.id
    return first and change.status is ChangeStatus.ADDED and not any(fragment.old_text for fragment in call.diffs)


def card(call: ToolCall, turn: int, workspace: str, known: Known) -> Card:
    """One call; ``known`` is what its turn changed. A call that failed changed nothing, whatever else the turn did."""
    past, present = _verbs(call.kind, call.title)
    state, status = _status(call)
    path = _path(call, workspace)
    own = known.by_call.get(call.id, ())
    editing = call.kind in _EDITING
    failed = state in ("failed", "denied") or (state == "stopped" and call.status == "failed")
    change = known.by_path.get(path) if editing and not failed else None
    edits = known.edits.get(path, ())
    added: int | None = None
    removed: int | None = None
    icon = _ICONS.get(call.kind, "agent")
    if change is not None:
        added, removed = _edited(call, change, edits)
        if _creates(call, change, edits):
            past, present, icon = tr("Created"), tr("Creating"), "file-added"
    elif editing and not failed:
        added, removed = _told(call, whole=False)
    if path and (editing or call.kind in ("read", "delete", "move")):
        target, mono = path, True
    elif call.kind in COMMAND_KINDS:
        target, mono = _command(call), True
    elif call.kind in ("search", "fetch", "browser"):
        target, mono = _without_tool(call.title), True
    else:
        target, mono = (_without_tool(call.title) if call.kind == "think" else call.title), False
    missing, lost = not_kept(change, known.sizes.get(path)) if change is not None and not change.undone else ("", False)
    files = () if editing else own
    return Card(
        key=call.id,
        icon=icon,
        verb=_verb(state, past, present),
        target=shown_path(target) if path and target == path else one_line(target),
        mono=mono,
        state=state,
        status=status or missing,
        turn=turn,
        path=path if change is not None else "",
        undone=change is not None and change.undone,
        added=added,
        removed=removed,
        fragments=call.diffs,
        first_line=call.locations[0].line if call.locations else 0,
        output="" if call.diffs else call.output,
        files=_first_files(files, known),
        file_count=len(files),
        files_added=sum(change.lines_added or 0 for change in files),
        files_removed=sum(change.lines_removed or 0 for change in files),
        sure=all(change.author is Author.COMMAND for change in own),
        # Of several edits of one file the last one tells of it.
        conflict=known.conflicts.get(path) if change is not None and (not edits or edits[-1] == call.id) else None,
        missing=missing,
        lost=lost,
    )


def with_redo(card: Card, paths: Set[str]) -> Card:
    """The card, where what it did to one of these files was undone last: that can be done again."""
    files = tuple(replace(file, can_redo=file.undone and file.path in paths) for file in card.files)
    return replace(card, can_redo=card.undone and card.path in paths, files=files)


def undone_last(timeline: Timeline) -> tuple[int, frozenset[str]]:
    """The turn and the files whose undo is the newest that can be taken back; turn 0 if that is something else."""
    if not timeline.can_undo:
        return 0, frozenset()
    for entry in reversed(timeline.entries):
        if entry.kind is EntryKind.RESTORE and entry.entry == timeline.can_undo:
            point = point_of(entry)
            if entry.restore_kind is RestoreKind.UNDO_FILE and isinstance(point, BeforeTurn):
                return point.turn, frozenset(file.path for file in entry.files)
            break
    return 0, frozenset()


def _verb(state: str, past: str, present: str) -> str:
    match state:
        case "failed":
            return tr("Failed")
        case "denied":
            return tr("Denied")
        case "stopped":
            return tr("Stopped")
        case "active":
            return present
        case _:
            return past


def _first_files(changes: Sequence[FileChange], known: Known) -> tuple[CardFile, ...]:
    """The first files of a list, and of the others those that somebody else changed, too."""
    others = [change for change in changes[_MOST_FILES:] if change.path in known.conflicts]
    return tuple(_file(change, known) for change in (*changes[:_MOST_FILES], *others))


def _file(change: FileChange, known: Known) -> CardFile:
    missing, lost = not_kept(change, known.sizes.get(change.path)) if not change.undone else ("", False)
    return CardFile(
        path=change.path,
        letter=change.status.value,
        added=change.lines_added,
        removed=change.lines_removed,
        undone=change.undone,
        conflict=known.conflicts.get(change.path),
        missing=missing,
        lost=lost,
    )


def cards(calls: Sequence[ToolCall], turn: int, workspace: str, known: Known) -> tuple[Card, ...]:
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
        result.append(card(calls[at], turn, workspace, known))
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
