"""The verbs that change files back: restore and every kind of undo, with their previews."""

import argparse
import sys
from collections.abc import Mapping, Sequence

from vibekit_desktop.cli import objects, printing
from vibekit_desktop.cli.objects import Json
from vibekit_desktop.cli.printing import many
from vibekit_desktop.cli.sentences import DONE, REFUSED
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.chats import ChatHeader
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, Mine, Point, RestorePlan, Scope, parse_point
from vibekit_desktop.core.types.errors import NothingToEnd, PlanStale
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Decision, InverseRequest

_NOTHING: Mapping[str, Json] = {}


def paths_of(core: Core, header: ChatHeader, texts: Sequence[str]) -> list[WorkspacePath]:
    """Paths that a person typed, in a chat's workspace."""
    return [core.library.workspace_path(header.workspace, text) for text in texts]


async def header_of(core: Core, text: str) -> ChatHeader:
    """The chat that a person means; a session of another program is read in first."""
    return (await core.chats.open(await core.chats.resolve(text))).header


async def _plan(core: Core, options: argparse.Namespace, point: Point) -> tuple[RestorePlan, list[WorkspacePath]]:
    header = await header_of(core, options.chat)
    paths = paths_of(core, header, options.paths)
    mine = Mine(restore_all=options.mine == "restore")
    plan = await core.checkpoints.plan_restore(header.id, point, paths=paths, scope=Scope(options.scope), mine=mine)
    return plan, paths


def _show_plan(options: argparse.Namespace, plan: RestorePlan, more: Mapping[str, Json] = _NOTHING) -> None:
    if options.json:
        printing.print_json({**objects.plan_object(plan), **more})
    else:
        printing.print_plan(plan)


async def preview(core: Core, options: argparse.Namespace) -> int:
    """What a restore would do."""
    plan, _ = await _plan(core, options, parse_point(options.point))
    _show_plan(options, plan)
    return DONE


async def _carry_out(
    core: Core,
    options: argparse.Namespace,
    plan: RestorePlan,
    named: Sequence[WorkspacePath],
    more: Mapping[str, Json] = _NOTHING,
) -> int:
    """Do it with --yes, else show it. ``more``: what its object has beside that of every restore."""
    if not options.yes:
        _show_plan(options, plan, more)
        if not options.json:
            printing.say("Nothing was changed. Add --yes to carry it out.")
        return REFUSED
    report = await core.checkpoints.carry_out(plan)
    if options.json:
        printing.print_json({**objects.report_object(report), **more})
    else:
        printing.print_report(report)
    left = {one.path for one in report.left}
    # command-line.md: a path that was asked for by name and left, for whatever reason, is not a success
    if report.failed or not report.verified or any(path in left for path in named):
        return REFUSED
    return DONE


async def _recover(core: Core, options: argparse.Namespace) -> ChatId:
    """Before the first change of a verb: what a crash interrupted (docs/storage-format.md 4). Returns the chat."""
    chat = await core.chats.resolve(options.chat)
    if options.yes:
        for report in await core.checkpoints.recover(chat):
            print(f"finished the interrupted entry {report.entry} of chat {report.chat}", file=sys.stderr)
    return chat


async def restore(core: Core, options: argparse.Namespace) -> int:
    """The workspace, and perhaps the chat, as they were at a point."""
    await _recover(core, options)
    plan, paths = await _plan(core, options, parse_point(options.point))
    if options.plan and options.plan != plan.digest:
        raise PlanStale(())
    return await _carry_out(core, options, plan, paths)


async def undo_file(core: Core, options: argparse.Namespace) -> int:
    """One file as it was at a point."""
    point = parse_point(options.point)
    await _recover(core, options)
    header = await header_of(core, options.chat)
    path = core.library.workspace_path(header.workspace, options.path)
    mine = Mine(restore_all=options.mine == "restore")
    plan = await core.checkpoints.plan_undo_file(header.id, point, path, mine=mine)
    return await _carry_out(core, options, plan, [path])


async def undo_turn(core: Core, options: argparse.Namespace) -> int:
    """Take back what one turn did, and keep what came later."""
    await _recover(core, options)
    header = await header_of(core, options.chat)
    paths = paths_of(core, header, options.paths)
    request = InverseRequest(
        chat=header.id, old=BeforeTurn(options.turn), new=AfterTurn(options.turn), paths=tuple(dict.fromkeys(paths))
    )
    found = await core.undo.plan(request)
    if options.overlaps and found.open:
        decision = Decision(options.overlaps)
        found = await core.undo.plan(request, tuple((one.path, one.number, decision) for one in found.overlaps))
    more: dict[str, Json] = {
        "overlaps": [objects.overlap_object(one) for one in found.overlaps],
        "later_kept": [objects.shown(path) for path in found.later_kept],
    }
    if found.plan is None:
        if options.json:
            printing.print_json({"entry": None, **more})
        else:
            printing.print_overlaps(found.open)
            count = many(len(found.open), "place")
            printing.say(f"Nothing was changed: later work overlaps in {count}. Add --overlaps keep, or --overlaps undo.")
        return REFUSED
    if found.later_kept and not options.json:
        printing.say(f"later work stays in {many(len(found.later_kept), 'file')}")
    return await _carry_out(core, options, found.plan, paths, more)


async def undo(core: Core, options: argparse.Namespace) -> int:
    """Take back the newest restore or undo of a change; or with redo the newest of these undos."""
    chat = await _recover(core, options)
    mine = Mine(restore_all=options.mine == "restore")
    planner = core.checkpoints.plan_undo if options.verb == "undo" else core.checkpoints.plan_redo
    return await _carry_out(core, options, await planner(chat, mine=mine), [])


async def end_restore(core: Core, options: argparse.Namespace) -> int:
    """End a restore that is not ours to carry on."""
    chat = await _recover(core, options)
    if options.yes:
        ended = await core.checkpoints.leave_unfinished(chat)
        text = f"ended {many(ended, 'restore')} of chat {chat}; its files stay as they are"
    elif (await core.checkpoints.timeline(chat)).to_answer:
        ended = 0
        text = (
            f"Chat {chat} has a restore that was begun by another program or in another folder, and did not end. It would be "
            "ended, its files as they are.\nNothing was changed. Add --yes to end it."
        )
    else:
        raise NothingToEnd(chat)
    if options.json:
        printing.print_json({"ended": ended})
    else:
        printing.say(text)
    return DONE if ended else REFUSED
