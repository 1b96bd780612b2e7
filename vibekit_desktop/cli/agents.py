"""The verb about the agents that this computer can start.

As in `cli.commands`: call the services, print, return the exit status of command-line.md.
"""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Sequence

from vibekit_desktop.cli import printing
from vibekit_desktop.cli.objects import Json
from vibekit_desktop.cli.sentences import DONE
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.agents import AgentInfo, AgentState, SignIn, SignInKind

_STATES = {
    AgentState.READY: "ready",
    AgentState.NOT_SIGNED_IN: "not signed in",
    AgentState.NOT_INSTALLED: "not installed",
    AgentState.FAILED: "does not start",
    AgentState.FOUND: "installed",
}


async def agents(core: Core, options: argparse.Namespace) -> int:
    """``agents``: what there is; with ``--check`` what is here is started first, to see more of it."""
    infos = await core.agents.list()
    if options.check:
        infos = await asyncio.gather(*(_checked(core, info) for info in infos))
    problems = await core.agents.problems()
    if options.json:
        printing.print_json({"agents": [agent_object(info) for info in infos], "problems": list(problems)})
        return DONE
    printing.print_rows(("agent", "state", "version", "command"), [_row(info) for info in infos])
    for info in infos:
        for line in _more(info):
            printing.say(printing.visible(line))
    for problem in problems:
        print(printing.visible(problem), file=sys.stderr)
    return DONE


async def _checked(core: Core, info: AgentInfo) -> AgentInfo:
    return await core.agents.check(info.id) if info.command else info


def _row(info: AgentInfo) -> tuple[str, ...]:
    if info.command:
        how = shlex.join(info.command)
    elif info.install:
        how = f"install: {info.install}"
    else:
        how = f"see {info.website}" if info.website else ""
    return info.name, _STATES[info.state], info.version, how


def _more(info: AgentInfo) -> Sequence[str]:
    """What does not fit in a row: why it does not start, how to sign in."""
    lines = [f"{info.name}: {info.problem}"] if info.problem else []
    if info.state is AgentState.NOT_SIGNED_IN:
        lines += [f"{info.name}: sign in with {_way(way)}" for way in info.sign_in]
    return lines


def _way(way: SignIn) -> str:
    match way.kind:
        case SignInKind.TERMINAL:
            return f"{way.name}: run `{shlex.join(way.command)}` in a terminal"
        case SignInKind.ENV:
            return f"{way.name}: set {', '.join(way.variables)}"
        case SignInKind.AGENT:
            return f"{way.name} ({way.description})" if way.description else way.name


def agent_object(info: AgentInfo) -> dict[str, Json]:
    """One element of ``agents``."""
    return {
        "name": info.name,
        "command": list(info.command) or None,
        "state": info.state.value,
        "version": info.version or None,
        "id": info.id,
        "install": info.install or None,
        "website": info.website or None,
        "custom": info.custom,
        "source": info.source or None,
        "problem": info.problem or None,
        "sign_in": [
            {
                "id": way.id,
                "name": way.name,
                "description": way.description or None,
                "kind": way.kind.value,
                "variables": list(way.variables),
                "command": list(way.command),
            }
            for way in info.sign_in
        ],
    }
