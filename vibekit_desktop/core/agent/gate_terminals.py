"""The commands that an agent runs in terminals of ours: only those that were allowed, looked around before and after.

Loop thread.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from vibekit_desktop.core.agent import commands, not_written
from vibekit_desktop.core.agent.deciding import Decider, Outcome
from vibekit_desktop.core.agent.grants import Command
from vibekit_desktop.core.agent.guarded_turn import GuardedTurn
from vibekit_desktop.core.agent.link import Denied, TerminalExit
from vibekit_desktop.core.agent.places import Place
from vibekit_desktop.core.agent.policy import Verdict
from vibekit_desktop.core.agent.terminals import MOST_KEPT, Terminals
from vibekit_desktop.core.agent.wishes import Wish, refused_because
from vibekit_desktop.core.types.agents import Operation

_LOOK_S = 2.0
"""An agent that waits for the end of its command waits so long for the look behind it."""


class GateTerminals:
    """The terminals of one chat's agent. Invariant: a command that ran in one is looked for after its end."""

    def __init__(self, workspace: str, decider: Decider, terminals: Terminals) -> None:
        self._workspace = workspace
        self._decider = decider
        self._terminals = terminals
        self._number = 0
        self._calls: dict[str, str] = {}
        """The tool call of each terminal that runs; an id of ours where the agent told of none."""
        self._ran: dict[str, str] = {}
        """The tool calls of the last terminals, also of those that ended."""
        self._watches: dict[str, asyncio.Task[None]] = {}

    def running_calls(self) -> tuple[str, ...]:
        """The tool calls whose commands run."""
        running = set(self._terminals.running())
        return tuple(dict.fromkeys(call for terminal, call in self._calls.items() if terminal in running))

    def call_of(self, terminal: str) -> str:
        """The tool call whose command runs or ran in a terminal; empty if it is not known any more."""
        return self._ran.get(terminal, "")

    # -- starting ----------------------------------------------------------------------------------------------------

    async def create(
        self,
        turn: GuardedTurn,
        command: str,
        args: Sequence[str],
        folder: str | None,
        env: Sequence[tuple[str, str]],
        limit_bytes: int | None,
    ) -> str:
        """Start a command that was allowed, or ask about it first; the terminal's id. `Denied`."""
        wish = Wish(
            operation=Operation.RUN,
            command=commands.shown(command, args),
            folder=Place(folder, Verdict.FREE) if folder else None,
        )
        wish = await self._decider.look(wish)
        if wish.refused is not None:
            turn.note(wish.refusal(wish.refused), Outcome.REFUSED.value)
            raise Denied("refused", refused_because(wish.refused))
        taken = turn.grants.take_command(command, args, wish.folder_shown)
        if isinstance(taken, Command):
            call = taken.tool_call_id
        else:
            call = self._call_of(turn, wish)
            wish = await self._asked(turn, replace(wish, tool_call_id=call, why=frozenset({taken})))
        place = self._workspace if wish.folder is None else wish.folder.absolute
        async with turn.order:
            try:
                if turn.stopped():
                    raise Denied("stopped", "The turn was stopped.")
                terminal = await self._terminals.create(command, args, place, env, limit_bytes)
            except Denied:
                if not self._runs(call):
                    await turn.end_command(call)
                raise
        self._calls[terminal] = self._ran[terminal] = call
        if len(self._ran) > MOST_KEPT:
            del self._ran[next(iter(self._ran))]
        self._watches[terminal] = asyncio.create_task(self._watch(turn, terminal, call), name="end of a terminal's command")
        return terminal

    def _call_of(self, turn: GuardedTurn, wish: Wish) -> str:
        """The call that runs this command, or else one that runs some command and has no terminal yet."""
        taken = set(self._calls.values())
        running = [
            call
            for call in turn.calls.running()
            if call.operation is Operation.RUN and not call.terminals and call.id not in taken
        ]
        same = [call for call in running if call.command and commands.line(call.command) == wish.command]
        if same or running:
            return (same or running)[0].id
        self._number += 1
        return f"command-{self._number}"

    async def _asked(self, turn: GuardedTurn, wish: Wish) -> Wish:
        turn.asked.add(wish.tool_call_id)
        async with turn.order:
            # It may have been said to run, and waits here: what changes meanwhile is not the command's.
            await turn.end_command(wish.tool_call_id)
        decision = await self._decider.decide(turn, wish)
        turn.note(decision.words, decision.given, not_done=decision.why)
        match decision.outcome:
            case Outcome.ALLOWED:
                return decision.wish
            case Outcome.CANCELLED:
                raise Denied("stopped", "The turn was stopped.")
            case Outcome.DENIED:
                raise Denied("denied", "This was not allowed.")
            case Outcome.NOT_DONE:
                raise Denied("failed", not_written.sentence(decision.why, writes=False))
            case Outcome.REFUSED:
                raise Denied("refused", "Refused: a command may not run there.")

    # -- ending ------------------------------------------------------------------------------------------------------

    def _runs(self, call: str) -> bool:
        return call in self.running_calls()

    async def _watch(self, turn: GuardedTurn, terminal: str, call: str) -> None:
        """Once the command is gone: look for what it changed."""
        try:
            with suppress(Denied):  # its agent has let go of it already, so it is gone
                await self._terminals.wait(terminal)
            self._calls.pop(terminal, None)
            async with turn.order:
                if not self._runs(call):
                    await turn.end_command(call)
        finally:
            self._calls.pop(terminal, None)
            self._watches.pop(terminal, None)

    async def wait(self, terminal: str) -> TerminalExit:
        """Wait until the command is gone and what it changed was looked for: what the agent does next is something else."""
        found = await self._terminals.wait(terminal)
        watch = self._watches.get(terminal)
        if watch is not None:
            await asyncio.wait({watch}, timeout=_LOOK_S)
        return found

    async def stop(self, call: str) -> None:
        """End the commands of one tool call."""
        for terminal in [terminal for terminal, of in self._calls.items() if of == call]:
            with suppress(Denied):
                await self._terminals.kill(terminal)

    async def end_all(self) -> None:
        """End every command, and wait until what they changed was looked for."""
        await self._terminals.close()
        while self._watches:
            await asyncio.gather(*self._watches.values())
