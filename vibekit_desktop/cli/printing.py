"""Text for people, JSON for programs.

Text from chats and file names is untrusted: control characters are made visible before they reach a terminal.
"""

import datetime
import json
import sys
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from vibekit_desktop.cli.objects import Json, hunk_lines, note_text, shown
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus, Message, Role, ToolCall
from vibekit_desktop.core.types.checkpoints import (
    Action,
    ChangeStatus,
    EntryKind,
    FileChange,
    PlannedFile,
    RestorePlan,
    RestoreReport,
    State,
    TimelineEntry,
    point_text,
)
from vibekit_desktop.core.types.diffs import BinaryPair, DiffDocument, FileDiff, Identical, TooLarge, Unreadable
from vibekit_desktop.core.types.reviews import Overlap, OverlapAt

_OVERLAP_LINES = 20
"""Of more lines of an overlap the first are shown."""

_STATUS_STYLE = {
    ChangeStatus.ADDED: "cyan",
    ChangeStatus.MODIFIED: "blue",
    ChangeStatus.DELETED: "red",
    ChangeStatus.RENAMED: "magenta",
}

_LEFT_WORDS = {
    "same": "already as it was then",
    "changed-since": "changed since by somebody else; kept",
    "changed-later": "changed later; kept",
    "changed-just-now": "changed just now; kept, its bytes are stored",
    "not-captured": "no earlier copy was kept; it stays as it is now",
    "unknown": "nobody knows what it was then; it stays as it is now",
    "damaged": "its earlier copy is damaged",
    "cannot-read": "it cannot be read",
    "cannot-write": "it cannot be written",
    "cannot-store": "its present content cannot be stored first",
    "not-regular": "not a plain file",
    "not-empty": "the folder is not empty",
    "refused": "never touched",
    "link-on-the-way": "a link stands on the way",
    "file-on-the-way": "a file stands where a folder must be",
    "same-file": "another name of a file that stays",
    "not-this-chat": "this chat did not change it",
    "too-large": "larger than one file may be",
    "still-changing": "it was still changing",
    "command": "a command; what it changed is not known",
    "ignored": "left out by an ignore rule",
    "no-copy": "nobody kept what was there before",
    "not-announced": "nobody said what would be written",
    "too-many-files": "too many files to look at",
    "ignore-rules": "the ignore rules could not be read",
    "baseline-lost": "what was there before the turn was forgotten",
    "before-unknown": "a command ran before it could be looked at what was there",
    "not-walked": "a home folder or a whole disk is not searched",
    "too-many": "not seen completely",
    "too-deep": "not seen completely",
    "changed": "not seen completely",
}


_CHAT_COLUMNS = (
    (100, ("", "updated", "agent", "workspace", "turns", "changed", "name", "id")),
    (60, ("", "updated", "changed", "name", "id")),
    (0, ("", "name", "id")),
)
"""What ``list`` shows of a chat, by the least width of the terminal."""


def visible(text: str) -> str:
    """``text`` without anything a terminal would act on: control and direction characters become ``\\x..`` marks."""
    out: list[str] = []
    for char in shown(text):
        code = ord(char)
        if char in "\n\t":
            out.append(char)
        elif (
            code < 32 or 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 or code in (0x200E, 0x200F)
        ):
            out.append(f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
        else:
            out.append(char)
    return "".join(out)


def named(path: str) -> str:
    """A file's name, visible and on one line: a name with a line end in it never looks like two lines of an answer."""
    return visible(path).replace("\n", "\\x0a").replace("\t", "\\x09")


def one_line(text: str, width: int = 80) -> str:
    """The first line of ``text``, visible, cut to ``width`` characters."""
    first = visible(text.strip().split("\n", 1)[0]).replace("\t", " ")
    return first if len(first) <= width else first[: width - 1] + "…"


def many(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun: "1 file", "2 files"; ``nouns`` where an s is not enough."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {nouns or noun + 's'}"


_PLAN_NOTES = {
    "turns-followed": "The turns that were cut away stay in their branch: new turns followed.",
    "turn-cut-off": "A turn was cut off: the program was ended while it ran. The first change ends it, and counts what its "
    "agent wrote last as the agent's; this preview does not yet.",
}


def leave_words(reason: str) -> str:
    """A reason of `LeaveReason` in words."""
    return _LEFT_WORDS.get(reason, reason)


def print_json(value: Mapping[str, Json]) -> None:
    """One JSON object, UTF-8, nothing else."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def _console() -> Console:
    # A pipe has no width: rows stay on one line there, so that grep and cut see them whole.
    width = None if sys.stdout.isatty() else 1000
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True, width=width)


def say(text: str) -> None:
    """One line of text for people."""
    _console().print(Text(text))


def when(stamp_ms: int) -> str:
    """A moment in local time; nothing for none."""
    if not stamp_ms:
        return ""
    return datetime.datetime.fromtimestamp(stamp_ms / 1000).strftime("%Y-%m-%d %H:%M")


def _counts(added: int | None, removed: int | None) -> Text:
    text = Text()
    if added:
        text.append(f"+{added}", style="green")
    if removed:
        text.append(f"{' ' if added else ''}−{removed}", style="red")
    return text


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


_SHORT_ID = 8


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """The shortest beginning of each id that no other one has, of 8 characters or more: those of one minute begin alike."""
    ordered = sorted(set(ids))
    short: dict[str, str] = {}
    for place, one in enumerate(ordered):
        size = _SHORT_ID
        for other in (*ordered[max(0, place - 1) : place], *ordered[place + 1 : place + 2]):
            while other.startswith(one[:size]) and size < len(one):
                size += 1
        short[one] = one[: size + 1] if one[size - 1 : size] == "-" else one[:size]
    return short


def print_chats(
    headers: Sequence[ChatHeader], *, ids: Iterable[str] = (), narrowed: bool = False, numbered: bool = True
) -> None:
    """The rows of ``list``, numbered as ``@N`` wants; archived ones have no such number. ``ids``: all that a short one could be
    taken for."""
    short = short_ids([*ids, *(header.id for header in headers)])
    console = _console()
    wanted = next(columns for least, columns in _CHAT_COLUMNS if console.width >= least)
    table = _table()
    for column in wanted:
        # Where there is not room for all, the words give way: a number or an id that is broken in two is of no use.
        table.add_column(column, overflow="fold", no_wrap=column not in ("agent", "workspace", "name"))
    empty = True
    for number, header in enumerate(headers, 1):
        empty = False
        name = f"damaged: {header.problem}" if header.status is ChatStatus.DAMAGED else one_line(header.name, 60)
        cells = {
            "": Text(f"@{number}" if numbered else ""),
            "updated": Text(when(header.updated_at)),
            "agent": Text(visible(header.agent)),
            "workspace": Text(visible(header.workspace)),
            "turns": Text(str(header.turn_count)),
            "changed": _counts(header.lines_added, header.lines_removed),
            "name": Text(visible(name), style="red" if header.status is ChatStatus.DAMAGED else ""),
            "id": Text(short[header.id]),
        }
        table.add_row(*(cells[column] for column in wanted))
    if empty and narrowed:
        say("No chats like that. `vibekit-desktop list` shows all.")
        return
    if empty:
        say("No chats yet. Chats of agents on this computer appear here; `vibekit-desktop import PATH` opens one file.")
        return
    console.print(table)


def print_rows(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """A plain table."""
    table = _table(*columns)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    _console().print(table)


def print_message(number: int, message: Message) -> None:
    """One message of ``show``."""
    console = _console()
    event = message.role == Role.EVENT.value
    what = f": {_EVENTS.get(message.event_kind, visible(message.event_kind) or 'something happened')}" if event else ""
    console.print(Text(f"[{number}] {message.role}{what}  {when(message.ts)}", style="bold"))
    calls = {call.id: call for call in message.tool_calls}
    placed = [block for block in message.blocks if block.type == "text" or block.tool_call_id in calls]
    if any(block.tool_call_id in calls for block in placed):
        for block in placed:
            if block.type == "text" and block.text.strip():
                console.print(Text(visible(block.text.strip("\n"))))
            elif block.tool_call_id in calls:
                console.print(_call_line(calls.pop(block.tool_call_id)))
    elif message.content:
        console.print(Text(visible(message.content)))
    for call in calls.values():
        console.print(_call_line(call))
    console.print()


_EVENTS = {
    "cancelled": "stopped",
    "interrupted": "interrupted",
    "compacted": "earlier messages were summed up for the agent",
    "compaction_failed": "the agent could not sum up earlier messages",
    "model_switched": "another model",
    "merged": "merged from a branch",
    "infra_safety_blocked": "the agent's provider stopped this answer",
}
"""What an event of the transcript is; its own words follow, if it has any."""


def _call_line(call: ToolCall) -> Text:
    return Text(f"  {call.outcome or call.status}: {one_line(call.title or call.kind, 100)}", style="dim")


def _change_line(change: FileChange) -> Text:
    text = Text("    ")
    text.append(change.status.value, style=_STATUS_STYLE[change.status])
    text.append(f" {named(change.path)} ")
    text.append_text(_counts(change.lines_added, change.lines_removed))
    if change.status is ChangeStatus.RENAMED and change.old_path:
        text.append(f" from {named(change.old_path)}", style="dim")
    if change.after.state.value in ("unknown", "not-captured") or change.before.state.value in ("unknown", "not-captured"):
        text.append("  not captured", style="yellow")
    if change.undone:
        text.append("  undone", style="dim")
    return text


def print_changes(changes: Iterable[FileChange]) -> None:
    """The files of one turn."""
    console = _console()
    for change in changes:
        console.print(_change_line(change))


def print_timeline(entries: Iterable[TimelineEntry]) -> None:
    """The entries of ``timeline``, oldest first."""
    console = _console()
    for entry in entries:
        head = Text()
        match entry.kind:
            case EntryKind.TURN:
                head.append(f"Turn {entry.turn}", style="bold")
                head.append(f"  {when(entry.at)}  {one_line(entry.prompt)}")
                if not entry.coverage.complete:
                    missing = len({one.path for one in entry.coverage.skipped if one.path})  # without a path: something ran
                    head.append(f"  ({missing} not captured)" if missing else "  (may be incomplete)", style="yellow")
            case EntryKind.BETWEEN:
                head.append(f"After turn {entry.turn}, by others", style="bold")
            case EntryKind.RESTORE:
                kind = entry.restore_kind.value if entry.restore_kind else "restore"
                head.append(f"Entry {entry.entry}: {kind} {entry.point}", style="bold")
                head.append(f"  {when(entry.at)}{'  undone' if entry.undone else ''}")
            case EntryKind.NOW:
                head.append("Now", style="bold")
                head.append(f"  {len(entry.files)} changed since" if entry.files else "  nothing changed since")
        console.print(head)
        for change in entry.files:
            console.print(_change_line(change))
        for note in entry.notes:
            where = "outside the workspace" if note.path.startswith("/") else "not kept"
            console.print(Text(f"    {where}: {named(note.path)} ({leave_words(note.reason)})", style="dim"))
        for one in entry.coverage.skipped:
            if one.path:
                console.print(Text(f"    not kept: {named(one.path)} ({leave_words(one.reason)})", style="yellow"))


def print_diff(diff: FileDiff, change: FileChange | None) -> None:
    """One file of ``diff`` for people."""
    console = _console()
    console.print(_change_line(change) if change else Text(named(diff.request.path)), style="bold")
    if isinstance(diff.result, DiffDocument | Identical | BinaryPair):
        for note in diff.result.notes:
            console.print(Text(named(note_text(note)), style="dim"))
    match diff.result:
        case DiffDocument() as document:
            for hunk in document.hunks:
                head = f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@ {hunk.heading}"
                console.print(Text(visible(head), style="cyan"))
                for line in hunk_lines(document, hunk.first_row, hunk.last_row):
                    style = {"+": "green", "-": "red"}.get(line[0], "")
                    console.print(Text(visible(line), style=style))
        case Identical():
            console.print(Text("the bytes are the same", style="dim"))
        case BinaryPair(old_size=old, new_size=new):
            console.print(
                Text(f"binary, {old if old is not None else 'absent'} -> {new if new is not None else 'absent'} bytes")
            )
        case TooLarge(old_size=old, new_size=new):
            console.print(Text(f"too large to compare: {old} -> {new} bytes", style="yellow"))
        case Unreadable(side=side, reason=reason):
            console.print(Text(f"the {side} side cannot be shown: {leave_words(reason)}", style="yellow"))


def print_plan(plan: RestorePlan) -> None:
    """The preview of a restore for people."""
    words = {
        Action.WRITE: "rewrite",
        Action.CREATE: "bring back",
        Action.DELETE: "delete",
        Action.MODE: "permissions",
        Action.LEAVE: "leave",
    }
    will = f"{len(plan.acts)} of {many(len(plan.files), 'file')} will change"
    span = point_text(plan.point) + ("" if plan.upto is None else f" to {point_text(plan.upto)}")
    say(f"{plan.kind.value} {span}: {will}" + (f", {plan.deletes} deleted" if plan.deletes else ""))
    table = _table("", "path", "")
    for file in plan.files:
        table.add_row(Text(words[file.action]), Text(named(file.path)), Text(_remark(file), style="dim"))
    if plan.files:
        _console().print(table)
    if plan.cut_turns:
        first, last = plan.cut_turns
        turns = f"turn {first} moves" if first == last else f"turns {first} to {last} move"
        stay = f"{many(plan.keep_messages, 'message')} stay{'s' if plan.keep_messages == 1 else ''}"
        say(f"the chat: {turns} to a branch; {stay}")
    if plan.brings_back:
        say(f"the chat: {many(plan.brings_back, 'message')} come{'s' if plan.brings_back == 1 else ''} back")
    for note in plan.notes:
        say(_PLAN_NOTES.get(note, note))
    say(f"plan {plan.digest}")


def _remark(file: PlannedFile) -> str:
    """What is to be said of one path of a preview."""
    parts: list[str] = []
    if file.changed_by:
        kept = "kept" if file.action is Action.LEAVE else "will be replaced, its bytes are kept"
        who = _who(file.changed_by)
        parts.append(
            f"changed in the agent's turn, may be yours; {kept}" if file.may_be_yours else f"changed since by {who}; {kept}"
        )
    elif file.reason:
        parts.append(leave_words(file.reason))
    if file.current.state is State.FOLDER or file.wanted.state is State.FOLDER:
        parts.append("a folder" if file.wanted.state is State.FOLDER else "a folder now")
    if file.hard_linked:
        parts.append("hard-linked: this name gets a file of its own, its other names keep theirs")
    return "; ".join(parts)


def print_overlaps(overlaps: Iterable[OverlapAt]) -> None:
    """Where later work is in the way of an undo, and what would become of it."""
    for one in overlaps:
        say(f"{named(one.path)}, {_place(one)}, changed later by {_who(one.changed_by)}")
        for sign, lines, style in (("-", one.now, "red"), ("+", one.then, "green")):
            for line in lines[:_OVERLAP_LINES]:
                _console().print(Text(visible(f"  {sign}{line}"), style=style))
            if len(lines) > _OVERLAP_LINES:
                say(f"  {sign} ... {many(len(lines) - _OVERLAP_LINES, 'more line', 'more lines')}")


def _place(overlap: OverlapAt) -> str:
    match overlap.kind:
        case Overlap.FILE:
            return "the whole file"
        case Overlap.MODE:
            return "its permissions"
        case Overlap.LINES if overlap.last_line < overlap.first_line:
            return f"above line {overlap.first_line}"
        case Overlap.LINES if overlap.last_line == overlap.first_line:
            return f"line {overlap.first_line}"
        case _:
            return f"lines {overlap.first_line} to {overlap.last_line}"


def _who(changed_by: str) -> str:
    return {"user": "you", "unknown": "somebody, may be you"}.get(changed_by, f"chat {changed_by}")


def print_report(report: RestoreReport) -> None:
    """What a restore did, for people."""
    if not report.entry:
        say("Nothing to restore.")
    else:
        total = len(report.restored) + len(report.failed)
        how = "verified" if report.verified else "NOT verified"
        say(f"Restored {len(report.restored)} of {many(total, 'file')}, {how}. It is entry {report.entry} and can be undone.")
    for left in report.left:
        say(f"  left {named(left.path)}: {leave_words(left.reason)}")
    if report.branch_chat_id:
        say(f"The removed turns are kept in chat {report.branch_chat_id}.")
