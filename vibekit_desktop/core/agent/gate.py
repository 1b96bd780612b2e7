"""Everything that an agent wants to do passes here: what may not be is refused, what may be is asked, what goes is kept first.

An agent in its ask mode waits for `ask`, so what it will overwrite is in the store before it gets its answer; the answer holds
once, always. What it writes through us is written by us. What it does unasked is kept as soon as it is heard of, as well as
can be. The rest is found by the look at the end of the turn. Implements `link.Host` but for `event`. Loop thread.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from vibekit_desktop.core.agent import commands, not_written
from vibekit_desktop.core.agent.asker import Asker
from vibekit_desktop.core.agent.calls import Call
from vibekit_desktop.core.agent.deciding import Decider, Decision, Outcome
from vibekit_desktop.core.agent.gate_files import GateFiles
from vibekit_desktop.core.agent.gate_terminals import GateTerminals
from vibekit_desktop.core.agent.grants import Command, came_of, edit_of
from vibekit_desktop.core.agent.guarded_turn import MOST_WAITING, GuardedTurn
from vibekit_desktop.core.agent.link import Ask, AskOption, Denied, TerminalExit, TerminalOutput, ToolChanged
from vibekit_desktop.core.agent.places import Place, Places
from vibekit_desktop.core.agent.policy import Bounds, Verdict
from vibekit_desktop.core.agent.questions import Questions
from vibekit_desktop.core.agent.sink import Sink
from vibekit_desktop.core.agent.terminals import Terminals
from vibekit_desktop.core.agent.wishes import WRITES, Wish, refused_because
from vibekit_desktop.core.types.agents import Given, Headless, Operation, Rule, Why
from vibekit_desktop.core.types.checkpoints import UNKNOWN, Fits
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

_log = logging.getLogger(__name__)

_LASTING = ("always", "session", "forever", "all")
"""An option that an agent calls an answer for once, and that is more by its id, is not taken."""
_SEEN_BY_NAMES = (Operation.DELETE, Operation.MOVE)
"""What was done is seen from what is there and what is not: nothing of a content is told."""

ASK_S = 0.25
"""An agent in its ask mode asks within some milliseconds of announcing an edit."""


class Gate:
    """The gate of one chat. Invariant: outside of a turn, and once a turn is being stopped, nothing is allowed."""

    def __init__(
        self,
        chat: ChatId,
        agent_name: str,
        workspace: Path,
        sink: Sink,
        questions: Questions,
        terminals: Terminals,
        *,
        rules: Callable[[], Sequence[Rule]],
        add_rule: Callable[[Rule], Awaitable[None]],
        home: Path,
        never: Sequence[Path],
        clock: Callable[[], int],
        new_id: Callable[[], str],
        asks: Callable[[], bool] = lambda: False,
    ) -> None:
        """``asks``: whether the agent is known to ask before it edits; then what it only announces is given a moment for
        that."""
        self._asks = asks
        self._sink = sink
        self._questions = questions
        self._terminals = terminals
        bounds = Bounds(str(workspace), str(home), tuple(str(folder) for folder in never))
        self._places = Places(bounds, sink)
        asker = Asker(chat, agent_name, questions, rules_now=rules, add_rule=add_rule, clock=clock, new_id=new_id)
        self._decider = Decider(self._places, sink, asker)
        self._files = GateFiles(self._places, sink, self._decider)
        self._commands = GateTerminals(str(workspace), self._decider, terminals)
        self._turn: GuardedTurn | None = None

    # -- the turn ----------------------------------------------------------------------------------------------------

    def begin(self, turn: int, headless: Headless | None) -> None:
        """A turn runs from now on. ``headless``: nobody is asked, it answers."""
        self._turn = GuardedTurn(turn, headless, self._sink)

    def cancel(self) -> None:
        """The turn is being stopped: open questions end without an answer, and nothing is allowed any more."""
        if self._turn is not None:
            self._turn.stop()
        self._questions.cancel_all()

    async def settle(self) -> tuple[Given, ...]:
        """The turn is over: wait for what is being kept, end the commands that are still open, forget what was allowed. What
        was asked in it, and the answers."""
        turn = self._turn
        if turn is None:
            return ()
        turn.stop()
        self._questions.cancel_all()
        try:
            await self._commands.end_all()
            await turn.settled()
        finally:
            await turn.end_commands()
            turn.grants.forget()
            if self._turn is turn:
                self._turn = None
        return turn.given

    def why_not(self, tool_call_id: str) -> str:
        """Why a call of the turn was not let through although no person said no: a sentence, or nothing."""
        return self._turn.why_not(tool_call_id) if self._turn is not None else ""

    def _running(self) -> GuardedTurn:
        """The turn that runs, or `Denied`."""
        if self._turn is None:
            raise Denied("no-turn", "No turn is running, so nothing is allowed.")
        if self._turn.stopped():
            raise Denied("stopped", "The turn was stopped.")
        return self._turn

    # -- what the agent tells ----------------------------------------------------------------------------------------

    def saw(self, event: ToolChanged) -> None:
        """A call of a tool began, or more of it is known. Returns at once; what it is about to change is kept meanwhile."""
        turn = self._turn
        if turn is None:
            return
        call = turn.calls.saw(event)
        if call.ended:
            if call.id in turn.heard_running:
                turn.heard_running.discard(call.id)
                turn.later(self._ended(turn, call), "end of an agent's command")
            if call.operation in WRITES and turn.has_room():
                ended = self._failed if call.status == "failed" else self._finished
                turn.later(ended(turn, call), "an agent's edit that has ended")
            return
        if call.id in turn.asked or not turn.has_room():
            return
        if call.operation is Operation.RUN:
            if call.status == "in_progress" and not call.terminals and call.id not in turn.heard_running:
                turn.heard_running.add(call.id)
                turn.later(self._unasked(turn, call), "look before an agent's command")
        elif call.operation in WRITES and call.paths and turn.is_news(call):
            turn.later(self._unasked(turn, call), "keep what an agent edits")

    async def _unasked(self, turn: GuardedTurn, call: Call) -> None:
        """Keep what a call is about to change that nobody asked about, as well as it goes."""
        if call.operation in WRITES and self._asks():
            await asyncio.sleep(ASK_S)
        async with turn.order:
            if call.id in turn.asked:
                return  # meanwhile it was asked about, and is kept when that is allowed
            wish = await self._decider.look(_wish(call))
            free = tuple(place for place in wish.places if place.refused is None)[:MOST_WAITING]
            if wish.places and not free:
                return
            if call.diffs or call.operation in _SEEN_BY_NAMES:  # it may have been done before it was told
                await self._sink.finished([place.real for place in free if place.real], _fits(call, free), tool_call_id=call.id)
            kept = await turn.keep(replace(wish, places=free), unprotected=True)  # it may run already
            if kept.refused is not None or kept.hold:
                _log.info("an edit that nobody asked about was not kept: %s", kept.refused or kept.hold)

    async def _ended(self, turn: GuardedTurn, call: Call) -> None:
        async with turn.order:
            await turn.end_command(call.id)

    async def _finished(self, turn: GuardedTurn, call: Call) -> None:
        """What the agent says it has done is looked for at once: what anybody else does later is not taken for it."""
        async with turn.order:
            wish = await self._decider.look(_wish(call))
            free = tuple(place for place in wish.places if place.real is not None and place.refused is None)[:MOST_WAITING]
            told = [place.real for place in free if place.real is not None]
            # What was asked about was kept when it was allowed: nothing more is to be believed of it.
            fits = _nothing_fits if call.id in turn.asked else _fits(call, free)
            await self._sink.finished(told, fits, tool_call_id=call.id)

    async def _failed(self, turn: GuardedTurn, call: Call) -> None:
        """The agent says that it did not do it: what anybody does to these files from now on is not taken for it."""
        async with turn.order:
            paths = turn.kept_for(call.id)
            await self._sink.finished(paths, _nothing_fits, tool_call_id=call.id)
            await turn.not_done(paths)

    # -- what the agent asks -----------------------------------------------------------------------------------------

    async def ask(self, ask: Ask) -> str | None:
        """The id of the option that is the answer; None: the turn was stopped, or no option says no."""
        turn = self._turn
        if turn is None:
            raise Denied("no-turn", "No turn is running, so nothing is allowed.")
        call = turn.calls.saw(ask.tool)
        if turn.stopped():
            return None
        turn.asked.add(call.id)
        if call.id in turn.heard_running:
            # It said that it runs, and now it waits: what changes until it has its answer is not the command's.
            turn.later(self._ended(turn, call), "an agent's command that was not begun")
        wish = await self._decider.look(_wish(call))
        allow = _option(ask.options, "allow_once")
        if allow is None and wish.refused is None:
            turn.note(f"{wish.words()}: the agent takes no answer for once only", Outcome.REFUSED.value)
            return _option(ask.options, "reject_once")
        decision = await self._decider.decide(turn, wish)
        turn.note(decision.words, decision.given, not_done=decision.why, said=wish.own_words)
        if decision.outcome is Outcome.NOT_DONE:
            turn.let_not(call.id, not_written.sentence(decision.why, writes=wish.operation in WRITES))
            async with turn.order:
                await turn.not_done(wish.inside)
            return _option(ask.options, "reject_once")
        if decision.outcome is Outcome.ALLOWED and allow is not None:
            await self._grant(turn, decision)
            return None if turn.stopped() else allow
        if decision.outcome is Outcome.REFUSED:
            _log.info("an agent was refused something: %s", wish.operation.value)
            if decision.wish.refused is not None:
                turn.let_not(call.id, refused_because(decision.wish.refused))
        return None if decision.outcome is Outcome.CANCELLED else _option(ask.options, "reject_once")

    async def _grant(self, turn: GuardedTurn, decision: Decision) -> None:
        """Remember what was allowed, for what the agent will do through us."""
        wish = decision.wish
        if wish.operation is Operation.RUN:
            turn.heard_running.add(wish.tool_call_id)
            turn.grants.allow_command(Command(wish.command, wish.folder_shown, wish.tool_call_id))
        elif wish.operation is Operation.EDIT:
            for path in wish.inside:
                before = wish.states.get(path, UNKNOWN)
                named = [place.text for place in wish.places if place.real == path]
                edit = await asyncio.to_thread(edit_of, path, before, wish.diffs, named, wish.tool_call_id)
                turn.grants.allow_edit(edit)
            if not wish.inside:
                turn.heard_running.add(wish.tool_call_id)
        elif wish.operation is Operation.READ:
            for place in wish.places:
                if place.real is None:
                    turn.grants.allow_read(place.absolute)

    # -- what the agent does through us ------------------------------------------------------------------------------

    async def read(self, path: str, line: int | None, limit: int | None) -> str:
        """The text of a file; `Denied`."""
        return await self._files.read(self._running(), path, line, limit)

    async def write(self, path: str, text: str) -> None:
        """Make a file hold a text; `Denied`."""
        await self._files.write(self._running(), path, text)

    async def create_terminal(
        self, command: str, args: Sequence[str], folder: str | None, env: Sequence[tuple[str, str]], limit_bytes: int | None
    ) -> str:
        """Run a command in a terminal of ours; `Denied`."""
        return await self._commands.create(self._running(), command, args, folder, env, limit_bytes)

    async def terminal_output(self, terminal: str) -> TerminalOutput:
        """What it wrote so far."""
        return self._terminals.output(terminal)

    async def wait_for_exit(self, terminal: str) -> TerminalExit:
        """Wait until the command ended, and until what it changed was looked for."""
        return await self._commands.wait(terminal)

    async def kill_terminal(self, terminal: str) -> None:
        """End the command."""
        await self._terminals.kill(terminal)

    async def release_terminal(self, terminal: str) -> None:
        """End the command if it runs, and let go of it."""
        await self._terminals.release(terminal)

    @property
    def running_commands(self) -> tuple[str, ...]:
        """The tool calls whose commands run in terminals of ours."""
        return self._commands.running_calls()

    def call_of(self, terminal: str) -> str:
        """The tool call whose command runs or ran in a terminal of ours; empty if none is known."""
        return self._commands.call_of(terminal)

    async def stop_command(self, tool_call_id: str) -> None:
        """End the commands of one tool call, with their children."""
        await self._commands.stop(tool_call_id)


def _wish(call: Call) -> Wish:
    """What a call is about, before anything is looked at."""
    operation = call.operation
    wish = Wish(operation=operation, tool_call_id=call.id, title=call.title, diffs=call.diffs)
    if operation is Operation.RUN:
        command = commands.line(call.command) if call.command else call.title.strip()
        folder = Place(call.folder, Verdict.FREE) if call.folder else None
        return replace(wish, command=command, folder=folder, exact=bool(call.command))
    if operation is Operation.FETCH:
        return wish
    texts = call.moved if operation is Operation.MOVE and call.moved is not None else call.paths
    wish = replace(wish, places=tuple(Place(text, Verdict.FREE) for text in texts))
    return wish if texts or operation not in WRITES else wish.with_why(Why.NOT_ANNOUNCED)


def _nothing_fits(_path: WorkspacePath, _before: bytes | None, _after: bytes | None) -> bool:
    return False


def _fits(call: Call, places: Sequence[Place]) -> Fits:
    """What holds the disk against what a call says that it did."""
    names: dict[WorkspacePath, set[str]] = {}
    for place in places:
        if place.real is not None:
            names.setdefault(place.real, set()).add(place.text)

    def fits(path: WorkspacePath, before: bytes | None, after: bytes | None) -> bool:
        if call.operation is Operation.DELETE:
            return after is None
        if call.operation is Operation.MOVE:
            left = bool(call.paths) and call.paths[0] in names.get(path, ())
            return after is None if left else before is None and after is not None
        fragments = [(diff.old_text, diff.new_text) for diff in call.diffs if diff.path in names.get(path, ())]
        return call.operation is Operation.EDIT and came_of(fragments, before, after)

    return fits


def _option(options: Sequence[AskOption], kind: str) -> str | None:
    """The id of the option of a kind that holds once; None if there is none."""
    for option in options:
        words = set(option.id.casefold().replace("-", "_").split("_"))
        if option.kind == kind and not words & set(_LASTING):
            return option.id
    return None
