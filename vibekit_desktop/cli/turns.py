"""The verbs that hooks of other agents call while they work, and those about what chats did to each other's files.

As in `cli.commands`: call the services, print, return the exit status of command-line.md.
"""

import argparse

from vibekit_desktop.cli import objects, printing
from vibekit_desktop.cli.options import folder_of
from vibekit_desktop.cli.printing import leave_words, many, named
from vibekit_desktop.cli.sentences import DONE, REFUSED
from vibekit_desktop.cli.streams import given_content
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.checkpoints import Coverage, State, TurnReport


async def record(core: Core, options: argparse.Namespace) -> int:
    """``record``: keep a path as it is, just before the caller writes it."""
    content = None if options.delete else given_content()
    report = await core.turns.record(options.chat, options.path, content=content, deleted=options.delete, mode=options.mode)
    if options.json:
        printing.print_json(objects.capture_object(report))
        return DONE if report.coverage.complete else REFUSED
    states = {State.ABSENT: "it is not there yet", State.NOT_CAPTURED: "NOT kept", State.UNKNOWN: "NOT kept"}
    printing.say(f"{report.tag}  {named(report.path)}: {states.get(report.before.state, 'kept as it is')}")
    if report.conflict is not None:
        printing.say(f"  conflict: chat {report.conflict.other_chat} left it otherwise; somebody changed it since")
    _print_skipped(report.coverage)
    return DONE if report.coverage.complete else REFUSED


async def turn(core: Core, options: argparse.Namespace) -> int:
    """``turn``: a turn or a command of it begins or ends."""
    match options.edge:
        case "begin":
            # Before the verb the option belongs to --vault; a new chat in that vault has the same folder.
            place = options.workspace or options.vault_workspace
            workspace = folder_of(place) if place else None
            report = await core.turns.begin(options.chat, workspace=workspace, agent=options.agent, prompt=options.prompt)
        case "end":
            report = await core.turns.end(options.chat, answer=options.answer)
        case "command-begin":
            report = await core.turns.command_begin(options.chat)
        case _:
            report = await core.turns.command_end(options.chat)
    if options.json:
        printing.print_json(objects.turn_report_object(report))
    else:
        _print_turn(report, options.edge)
    return DONE


def _print_turn(report: TurnReport, edge: str) -> None:
    words = {"begin": "begins", "end": "ended", "command-begin": "runs a command", "command-end": "ended a command"}
    printing.say(f"turn {report.turn} {words[edge]}  ({report.chat})")
    if edge != "end":
        return
    printing.say(f"  {many(len(report.files), 'file')} changed" if report.files else "  no file changed")
    printing.print_changes(report.files)
    if not report.coverage.complete and not report.coverage.skipped:
        printing.say("  more may have changed than is known")
    _print_skipped(report.coverage)


def _print_skipped(coverage: Coverage) -> None:
    for one in coverage.skipped:
        what = named(one.path) if one.path else "something ran"
        printing.say(f"  not kept: {what} ({leave_words(one.reason)})")


async def conflicts(core: Core, options: argparse.Namespace) -> int:
    """``conflicts``: where somebody else changed a file under this chat's hands."""
    found = await core.checkpoints.conflicts(await core.chats.resolve(options.chat))
    if options.json:
        printing.print_json({"conflicts": [objects.conflict_object(one) for one in found]})
    elif found:
        rows = [(printing.when(one.ts), one.tag, named(one.path), one.other_chat or "somebody") for one in found]
        printing.print_rows(("when", "tag", "path", "changed by"), rows)
    else:
        printing.say("Nobody else changed a file of this chat.")
    return DONE
