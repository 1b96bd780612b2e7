"""One function per verb: call the services, print, return the exit status of command-line.md."""

import argparse
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence

from vibekit_desktop.cli import agents, chats, exports, live, objects, printing, restores, reviews, turns
from vibekit_desktop.cli.objects import Json
from vibekit_desktop.cli.options import folder_of
from vibekit_desktop.cli.printing import many
from vibekit_desktop.cli.restores import header_of, paths_of
from vibekit_desktop.cli.sentences import DONE, FAILED, REFUSED
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.chats import ChatView, ExportFormat, Message
from vibekit_desktop.core.types.checkpoints import (
    ChangeStatus,
    FileChange,
    FileState,
    State,
    parse_point,
)
from vibekit_desktop.core.types.diffs import BinaryPair, Compare, DiffDocument, FileDiff, Identical, Ignore

Command = Callable[[Core, argparse.Namespace], Awaitable[int]]


async def _list(core: Core, options: argparse.Namespace) -> int:
    workspace = str(folder_of(options.workspace)) if options.workspace else None
    headers = await core.chats.list(archived=options.archived, workspace=workspace, limit=options.limit)
    if options.json:
        printing.print_json({"chats": [objects.chat_row(header) for header in headers]})
    else:
        everything = [*await core.chats.list(), *await core.chats.list(archived=True)]
        printing.print_chats(
            headers,
            ids=[header.id for header in everything],
            narrowed=bool(options.archived or workspace),
            numbered=not options.archived,
        )
    return DONE


async def _sources(core: Core, options: argparse.Namespace) -> int:
    sources = await core.histories.sources()
    if options.json:
        printing.print_json({"sources": [objects.source_row(source) for source in sources]})
        return DONE
    rows = [(source.label, str(source.sessions), source.root, "; ".join(source.problems)) for source in sources]
    if rows:
        printing.print_rows(("program", "sessions", "folder", "problems"), rows)
    else:
        printing.say("No histories of other programs were found.")
    return DONE


async def _import(core: Core, options: argparse.Namespace) -> int:
    workspace = folder_of(options.workspace) if options.workspace else None
    report = await core.histories.import_path(folder_of(options.path), workspace=workspace, agent=options.agent)
    if options.json:
        printing.print_json(objects.import_object(report))
    else:
        for word, chats in (("imported", report.imported), ("updated", report.updated)):
            for chat in chats:
                skipped = f", {many(len(chat.skipped), 'line')} not understood" if chat.skipped else ""
                counts = f"{many(chat.turns, 'turn')}, {many(chat.edits, 'edit')} of {many(chat.files, 'file')}"
                printing.say(f"{word} {chat.chat_id}: {counts}{skipped}")
        for chat_id in report.unchanged:
            printing.say(f"unchanged {chat_id}")
    for failed in report.failed:
        print(f"error: {failed.code}: {printing.named(failed.path)}: {failed.reason}", file=sys.stderr)
    return REFUSED if report.failed else DONE


async def _show(core: Core, options: argparse.Namespace) -> int:
    view = await core.chats.open(await core.chats.resolve(options.chat))
    total = view.first_index + len(view.messages)
    first, last = options.messages or (1, total)
    if options.json:
        raw: Mapping[str, object] = view.raw
        if view.first_index:  # as it is stored, with the older messages, which are in files of their own
            raw = json.loads((await core.exports.export(view.header.id, ExportFormat.JSON)).data)
        chat: dict[str, Json] = {str(key): _json(value) for key, value in raw.items()}
        listed = chat.get("messages")
        messages = listed if isinstance(listed, list) else []
        turns = await core.chats.turns(view.header.id) if view.first_index else view.turns
        turns_in = [{**objects.turn_object(turn), "tag": turn.tag or _tag(messages, turn.first_message)} for turn in turns]
        if options.messages:
            chat["messages"] = messages[first - 1 : last]
        printing.print_json({"chat": chat, "turns": turns_in})
        return DONE
    printing.say(f"{printing.visible(view.header.name)}  ({view.header.id})")
    for number, message in enumerate(await _messages(core, view, first - 1, min(last, total)), first):
        printing.print_message(number, message)
    return DONE


def _tag(messages: Sequence[Json], index: int) -> Json:
    """The tag of a turn whose prompt is among the older messages."""
    prompt = messages[index] if index < len(messages) else None
    return prompt.get("checkpoint_tag") or None if isinstance(prompt, Mapping) else None


async def _messages(core: Core, view: ChatView, first: int, last: int) -> Sequence[Message]:
    """The messages from index ``first`` to before ``last`` of the whole chat."""
    start = view.first_index
    newest = view.messages[max(0, first - start) : max(0, last - start)]
    if first >= start:
        return newest
    upto = min(last, start)
    return [*await core.chats.earlier(view.header.id, upto, upto - first), *newest]


def _json(value: object) -> Json:
    """A decoded JSON value, as a value of the type `Json`."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _json(one) for key, one in value.items()}
    if isinstance(value, Sequence):
        return [_json(one) for one in value]
    return str(value)


async def _timeline(core: Core, options: argparse.Namespace) -> int:
    timeline = await core.checkpoints.timeline(await core.chats.resolve(options.chat))
    if options.json:
        printing.print_json(
            {
                "entries": [objects.entry_object(entry) for entry in timeline.entries],
                "can_undo": timeline.can_undo or None,
                "can_redo": timeline.can_redo or None,
                "unfinished": timeline.unfinished,
                "notes": [] if timeline.workspace_found else ["the workspace was not found; now is the last known state"],
            }
        )
    else:
        printing.print_timeline(timeline.entries)
        if timeline.unfinished:
            way_out = f"; `vibekit-desktop end-restore {timeline.chat}` ends it" if timeline.to_answer else ""
            printing.say(f"a restore of this chat began and did not end{way_out}")
    return DONE


def _status(before: FileState, after: FileState) -> ChangeStatus:
    if before.state is State.ABSENT:
        return ChangeStatus.ADDED
    return ChangeStatus.DELETED if after.state is State.ABSENT else ChangeStatus.MODIFIED


def _diff_change(diff: FileDiff) -> FileChange:
    added: int | None = None
    removed: int | None = None
    match diff.result:
        case DiffDocument(lines_added=plus, lines_removed=minus):
            added, removed = plus, minus
        case Identical():
            added, removed = 0, 0
        case BinaryPair():
            pass
        case _:
            pass
    return FileChange(
        path=diff.request.path,
        status=ChangeStatus.RENAMED if diff.request.old_path else _status(diff.before, diff.after),
        old_path=diff.request.old_path,
        before=diff.before,
        after=diff.after,
        lines_added=added,
        lines_removed=removed,
    )


async def _diff(core: Core, options: argparse.Namespace) -> int:
    old, new = parse_point(options.old), parse_point(options.new)
    header = await header_of(core, options.chat)
    paths = paths_of(core, header, options.paths)
    compare = Compare(Ignore.ALL if options.ignore_whitespace else Ignore.NOTHING)
    if options.html or options.markdown:
        return await reviews.document(core, options, header.id, (old, new), paths, compare)
    if options.patch and not options.json:
        patch = await core.diffs.patch(header.id, old, new, paths, compare=compare)
        sys.stdout.buffer.write(patch)
        sys.stdout.buffer.flush()
        return DONE
    diffs = await core.diffs.files(header.id, old, new, paths, compare=compare)
    if options.json:
        changed: dict[str, Json] = {
            "files": [objects.diff_object(diff, objects.change_object(_diff_change(diff))) for diff in diffs],
            "notes": [],
        }
        if options.patch:
            patch = await core.diffs.patch(header.id, old, new, paths, compare=compare)
            changed |= exports.exact(patch, "patch")
        printing.print_json(changed)
        return DONE
    for diff in diffs:
        printing.print_diff(diff, _diff_change(diff))
    if not diffs:
        printing.say("Both sides are the same.")
    return DONE


async def _cat(core: Core, options: argparse.Namespace) -> int:
    point = parse_point(options.point)
    header = await header_of(core, options.chat)
    data = await core.checkpoints.content(header.id, point, core.library.workspace_path(header.workspace, options.path))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return DONE


async def _checkout(core: Core, options: argparse.Namespace) -> int:
    point = parse_point(options.point)
    chat = await core.chats.resolve(options.chat)
    report = await core.checkpoints.checkout(chat, point, folder_of(options.folder))
    if options.json:
        printing.print_json({"files": [objects.shown(path) for path in report.files], "left": objects.left_list(report.left)})
    else:
        printing.say(f"wrote {many(len(report.files), 'file')}")
        for left in report.left:
            printing.say(f"  left {printing.named(left.path)}: {printing.leave_words(left.reason)}")
    return REFUSED if report.left else DONE


async def _verify(core: Core, options: argparse.Namespace) -> int:
    if options.repair_index:
        await core.library.rebuild_caches()
    report = await core.library.verify(await core.chats.resolve(options.chat) if options.chat else None)
    if options.json:
        printing.print_json(objects.verify_object(report))
    else:
        for one in report.problems:
            printing.say(f"{one.kind.value}: {one.chat_id} {printing.named(one.path)} {one.detail}")
        state = "everything is whole" if not report.problems else many(len(report.problems), "problem")
        counts = ((report.chats, "chat"), (report.events, "event"), (report.blobs, "blob"), (report.size_bytes, "byte"))
        printing.say(f"{', '.join(many(count, noun) for count, noun in counts)}: {state}")
    return FAILED if report.problems else DONE


async def _doctor(core: Core, options: argparse.Namespace) -> int:
    checks = await core.library.doctor()
    if options.json:
        printing.print_json({"checks": [{"name": one.name, "state": one.state, "detail": one.detail} for one in checks]})
    else:
        printing.print_rows(("check", "state", ""), [(one.name, one.state, one.detail) for one in checks])
    return DONE


COMMANDS: Mapping[str, Command] = {
    "list": _list,
    "sources": _sources,
    "import": _import,
    "show": _show,
    "timeline": _timeline,
    "diff": _diff,
    "preview": restores.preview,
    "restore": restores.restore,
    "undo-file": restores.undo_file,
    "undo": restores.undo,
    "redo": restores.undo,
    "undo-turn": restores.undo_turn,
    "end-restore": restores.end_restore,
    "cat": _cat,
    "checkout": _checkout,
    "record": turns.record,
    "turn": turns.turn,
    "conflicts": turns.conflicts,
    "comments": reviews.comments,
    "branch": chats.branch,
    "promote": chats.family,
    "discard": chats.family,
    "merge": chats.family,
    "rename": chats.rename,
    "pin": chats.pin,
    "unpin": chats.pin,
    "archive": chats.archive,
    "unarchive": chats.archive,
    "delete": chats.delete,
    "purge": chats.purge,
    "settings": chats.settings,
    "export": exports.export,
    "agents": agents.agents,
    "prompt": live.prompt,
    "verify": _verify,
    "doctor": _doctor,
}
