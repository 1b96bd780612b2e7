"""The verbs about chats as a whole: names, pins, the archive, deleting, branches; and the settings.

As in `cli.commands`: call the services, print, return the exit status of command-line.md.
"""

import argparse
from collections.abc import Sequence

from vibekit_desktop.cli import objects, printing
from vibekit_desktop.cli.objects import Json
from vibekit_desktop.cli.printing import many
from vibekit_desktop.cli.sentences import DONE, REFUSED
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.ids import ChatId, MessageId, parse_message_id
from vibekit_desktop.core.types.removals import NotRemoved, PurgeReport

_WHY_KEPT = {"open": "a window has it open", "running": "a turn of it runs"}


def _done(options: argparse.Namespace, text: str) -> int:
    if options.json:
        printing.print_json({"ok": True, "failed_children": []})
    else:
        printing.say(text)
    return DONE


async def rename(core: Core, options: argparse.Namespace) -> int:
    """``rename``: give a chat another name."""
    chat = await core.chats.resolve(options.chat)
    await core.chats.rename(chat, options.name)
    return _done(options, f"renamed {chat}")


async def pin(core: Core, options: argparse.Namespace) -> int:
    """``pin`` and ``unpin``: keep a chat at the top of the window's list, or no longer."""
    chat = await core.chats.resolve(options.chat)
    await core.chats.pin(chat, options.verb == "pin")
    return _done(options, f"{options.verb}ned {chat}")


async def archive(core: Core, options: argparse.Namespace) -> int:
    """``archive`` and ``unarchive``: out of sight, and back."""
    chat = await core.chats.resolve(options.chat)
    if options.verb == "archive":
        await core.chats.archive(chat)
        return _done(options, f"archived {chat}; `list --archived` shows it, `unarchive` brings it back")
    await core.chats.unarchive(chat)
    return _done(options, f"brought back {chat}")


async def delete(core: Core, options: argparse.Namespace) -> int:
    """``delete``: a chat, for good, with its branches or without them."""
    chat = await core.chats.resolve(options.chat)
    if not options.yes:
        branches = [] if options.keep_branches else await _below(core, chat)
        if options.json:
            printing.print_json({"ok": False, "failed_children": [], "would_delete": [*branches, chat]})
        else:
            with_them = f" and {many(len(branches), 'branch', 'branches')} of it" if branches else ""
            printing.say(f"Chat {chat}{with_them} would be deleted for good. Files in the workspace stay as they are.")
            printing.say("Nothing was changed. Add --yes to delete, or use `archive`.")
        return REFUSED
    report = await core.chats.delete(chat, keep_branches=options.keep_branches)
    if options.json:
        printing.print_json(
            {
                "ok": True,
                "failed_children": [one.chat for one in report.failed_children],
                "deleted": list(report.deleted),
                "failed": _not_removed(report.failed_children),
            }
        )
    else:
        for one in report.deleted:
            printing.say(f"deleted {one}")
        for failed in report.failed_children:
            printing.say(f"not deleted: branch {failed.chat} ({failed.reason}); it is a chat of its own now")
    return REFUSED if report.failed_children else DONE


async def _below(core: Core, chat: ChatId) -> list[ChatId]:
    """The branches of a chat and theirs, deepest first."""
    found: list[ChatId] = []
    seen = {chat}

    async def visit(one: ChatId) -> None:
        for child in await core.chats.children(one):
            if child not in seen:
                seen.add(child)
                await visit(child)
                found.append(child)

    await visit(chat)
    return found


def _not_removed(chats: Sequence[NotRemoved]) -> list[Json]:
    return [{"chat_id": one.chat, "reason": one.reason} for one in chats]


async def purge(core: Core, options: argparse.Namespace) -> int:
    """``purge``: delete what was archived long ago."""
    report = await core.chats.purge(options.older_than, only_look=not options.yes)
    if options.json:
        printing.print_json(
            {
                "ok": options.yes and not report.failed,
                "failed_children": [],
                "removed" if options.yes else "would_remove": list(report.removed),
                "kept": _not_removed(report.kept),
                "failed": _not_removed(report.failed),
            }
        )
    else:
        _print_purge(report, carried_out=options.yes)
    return DONE if options.yes and not report.failed else REFUSED


def _print_purge(report: PurgeReport, *, carried_out: bool) -> None:
    for chat in report.removed:
        printing.say(f"{'deleted' if carried_out else 'would be deleted:'} {chat}")
    for one in report.kept:
        printing.say(f"kept {one.chat}: {_WHY_KEPT.get(one.reason, one.reason)}")
    for one in report.failed:
        printing.say(f"not deleted: {one.chat} ({one.reason})")
    if not carried_out:
        printing.say(
            f"{many(len(report.removed), 'archived chat')} would be deleted. Nothing was changed. Add --yes to delete."
        )
    elif not report.removed:
        printing.say("No archived chat is that old.")


async def branch(core: Core, options: argparse.Namespace) -> int:
    """``branch``: a chat of its own that ends just before a turn or a message."""
    message: MessageId | None = parse_message_id(options.message) if options.message is not None else None
    parent = await core.chats.resolve(options.chat)
    made = await core.chats.branch(parent, options.turn or 0, message=message, files_before=options.files == "before")
    if options.json:
        printing.print_json({"chat_id": made, "parent_id": parent})
        return DONE
    where = f"message {message}" if message is not None else f"turn {options.turn}"
    files = "; the files are as before it, `undo` takes that back" if options.files == "before" else ""
    printing.say(f"made {made}: chat {parent} before {where}{files}")
    return DONE


async def family(core: Core, options: argparse.Namespace) -> int:
    """``promote``, ``discard`` and ``merge``: what becomes of a branch and its parent."""
    chat = await core.chats.resolve(options.chat)
    match options.verb:
        case "promote":
            parent = await core.chats.promote(chat)
            text = f"{chat} takes the place of {parent}, which is archived"
        case "discard":
            parent = await core.chats.discard(chat)
            text = f"deleted the branch {chat} of {parent}"
        case _:
            parent = await core.chats.merge(chat)
            text = f"what branch {chat} said is at the end of {parent}; the branch is archived"
    if options.json:
        printing.print_json({"chat_id": chat, "parent_id": parent})
    else:
        printing.say(text)
    return DONE


async def settings(core: Core, options: argparse.Namespace) -> int:
    """``settings``: list, read, change."""
    if options.key is None:
        found = await core.settings.all()
    elif options.value is None:
        found = [await core.settings.get(options.key)]
    else:
        found = [await core.settings.set(options.key, options.value)]
    if options.json:
        printing.print_json({"settings": [objects.setting_object(one) for one in found]})
    else:
        rows = [(one.key, str(one.value), str(one.default), one.text) for one in found]
        printing.print_rows(("setting", "value", "default", ""), rows)
    return DONE
