"""The verb ``prompt``: one turn with a live agent, without a window.

The answer is printed as it comes; with ``--json`` one object is, at the end. Nobody is asked: ``--allow`` answers beforehand.
Whatever ends the call early (a signal, a reader that has gone) ends the turn in order first.
"""

import argparse
import asyncio
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from vibekit_desktop.cli import objects, printing
from vibekit_desktop.cli.options import folder_of
from vibekit_desktop.cli.printing import leave_words, many, named, one_line, visible
from vibekit_desktop.cli.sentences import DONE, FAILED, REFUSED
from vibekit_desktop.cli.streams import all_of_input
from vibekit_desktop.core.api import Core, Subscription
from vibekit_desktop.core.types.agent_errors import EmptyPrompt
from vibekit_desktop.core.types.agents import AgentChoice, Headless, Prompt, StopReason, TurnOutcome
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.errors import CoreError, Malformed, WorkspaceNeeded, WorkspaceRefused
from vibekit_desktop.core.types.events import AnswerStreamed, LiveTurnEnded, MessageAppended
from vibekit_desktop.core.types.ids import ChatId

_ENDED = {
    StopReason.MAX_TOKENS: "the answer was cut off: the agent may not say more at once",
    StopReason.MAX_REQUESTS: "the agent stopped: it may not ask its model more often in one turn",
    StopReason.REFUSAL: "the agent refused to go on",
    StopReason.CANCELLED: "stopped",
    StopReason.TIMED_OUT: "stopped: the time was over",
}


def status_of(reason: StopReason) -> int:
    """0: the agent ended its turn; 3: it failed or died; 1: the turn ended otherwise."""
    if reason is StopReason.END:
        return DONE
    return FAILED if reason in (StopReason.FAILED, StopReason.DIED) else REFUSED


async def prompt(core: Core, options: argparse.Namespace) -> int:
    """``prompt``: say something to an agent and wait for the end of its turn."""
    choice, said = _choice(options), Prompt(text=await _text(options))
    chat, made = await _chat(core, options, choice)
    run = core.live.run(chat, said, allow=Headless(options.allow), timeout_s=options.timeout)
    running = asyncio.ensure_future(run)
    ended: list[TurnOutcome] = []
    teller = _Teller(chat, running.cancel)
    subscriptions: list[Subscription] = [
        core.events.subscribe(LiveTurnEnded, lambda event: ended.append(event.outcome) if event.outcome.chat == chat else None),
        *([] if options.json else teller.follow(core)),
    ]
    try:
        outcome = await running
    except CoreError:
        if made:
            await core.live.discard_empty(chat)
        raise
    except asyncio.CancelledError:
        teller.require_reader()
        if ended:
            teller.end_line()
            _tell_outcome(options, ended[-1])
            if options.json:  # one object is enough
                print("error: interrupted: the turn was stopped", file=sys.stderr)
                return FAILED
        elif made:
            await core.live.discard_empty(chat)
        raise
    finally:
        for subscription in subscriptions:
            subscription.close()
    teller.require_reader()
    teller.end_line()
    _tell_outcome(options, outcome)
    return status_of(outcome.stop_reason)


def _tell_outcome(options: argparse.Namespace, outcome: TurnOutcome) -> None:
    if options.json:
        printing.print_json(objects.outcome_object(outcome))
    else:
        _print_outcome(outcome)


async def _text(options: argparse.Namespace) -> str:
    """What is to be said; ``-`` is what is on standard input, to its end."""
    text: str = options.text
    if text != "-":
        return text
    try:
        text = (await all_of_input()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("text in UTF-8", "standard input") from error
    if not text.strip():
        raise EmptyPrompt
    return text


def _choice(options: argparse.Namespace) -> AgentChoice | None:
    if options.agent_command:
        try:
            words = tuple(shlex.split(options.agent_command))
        except ValueError as error:
            raise Malformed("command", options.agent_command) from error
        if not words:
            raise Malformed("command", options.agent_command)
        program, *arguments = words
        if "/" in program and not program.startswith(("/", "~/")):
            program = os.path.abspath(program)  # as the shell that this was typed in would find it
        return AgentChoice(command=(program, *arguments))
    return AgentChoice(name=options.agent) if options.agent else None


async def _chat(core: Core, options: argparse.Namespace, choice: AgentChoice | None) -> tuple[ChatId, bool]:
    """The chat that is meant, or a new one; whether it was made."""
    place = options.workspace or options.vault_workspace
    if options.chat is None:
        if not place:
            raise WorkspaceNeeded("")
        if choice is None:
            raise Malformed("agent", "")
        return await core.live.new_chat(folder_of(place), choice), True
    chat = await core.chats.resolve(options.chat)
    if options.workspace:
        await _require_workspace(core, chat, folder_of(options.workspace))
    if choice is not None and not await _answers_already(core, chat, choice):
        await core.live.choose_agent(chat, choice)
    return chat, False


async def _require_workspace(core: Core, chat: ChatId, folder: Path) -> None:
    view = await core.chats.open(chat)
    if Path(view.vault_workspace) != folder:
        raise WorkspaceRefused(str(folder), "other-workspace")


async def _answers_already(core: Core, chat: ChatId, choice: AgentChoice) -> bool:
    view = await core.chats.open(chat)
    if choice.command:
        return view.chat.agent_command == choice.command
    state = await core.live.look(chat)
    return choice.name in (state.agent_id, state.agent)


class _Teller:
    """Prints an answer while it comes: words as they are, a line for every call of a tool. ``gone``: called when nothing more
    can be printed, because nobody reads it any more, say; `require_reader` raises why."""

    def __init__(self, chat: ChatId, gone: Callable[[], object]) -> None:
        self._chat = chat
        self._gone = gone
        self._broken: OSError | None = None
        self._told: dict[int, int] = {}
        self._at_line_start = True

    def follow(self, core: Core) -> list[Subscription]:
        """Print what comes from now on."""
        return [
            core.events.subscribe(AnswerStreamed, lambda event: self._tell(event.chat, event.message)),
            core.events.subscribe(MessageAppended, lambda event: self._tell(event.chat, event.message)),
        ]

    def require_reader(self) -> None:
        """Raise what kept the answer from being printed."""
        if self._broken is not None:
            raise self._broken

    def _tell(self, chat: ChatId, message: Message) -> None:
        if chat != self._chat or message.role != "assistant" or self._broken is not None:
            return
        try:
            self._print(message)
        except OSError as error:
            self._broken = error
            self._gone()

    def _print(self, message: Message) -> None:
        titles = {call.id: call.title or call.kind for call in message.tool_calls}
        for place, block in enumerate(message.blocks):
            told = self._told.get(place, 0)
            if block.type == "tool_use" and not told:
                self._told[place] = 1
                self.end_line()
                self._write(f"· {one_line(titles.get(block.tool_call_id, ''))}\n")
            elif block.type == "text" and len(block.text) > told:
                if not told and place:
                    self.end_line()
                self._told[place] = len(block.text)
                self._write(visible(block.text[told:]))
        sys.stdout.flush()

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        self._at_line_start = text.endswith("\n")

    def end_line(self) -> None:
        """What comes next begins a line of its own."""
        if not self._at_line_start:
            self._write("\n")


def _print_outcome(outcome: TurnOutcome) -> None:
    files = f"{many(len(outcome.files), 'file')} changed" if outcome.files else "no file changed"
    printing.say(f"turn {outcome.turn} ended: {files}  ({outcome.chat})")
    printing.print_changes(outcome.files)
    for one in outcome.coverage.skipped:
        what = named(one.path) if one.path and one.path != "." else "something"
        printing.say(f"  not kept: {what} ({leave_words(one.reason)})")
    for given in outcome.permissions:
        title = one_line(given.title) + (f" ({one_line(given.said)})" if given.said else "")
        if given.not_done:
            printing.say(f"  not written: {title}: {given.not_done}")
        elif given.answer != "allowed":
            printing.say(f"  {given.answer}: {title}")
    if outcome.stop_reason in _ENDED:
        printing.say(f"  {_ENDED[outcome.stop_reason]}")
    if outcome.note:
        printing.say(f"  {one_line(outcome.note)}")
    if outcome.problem:
        print(f"error: agent.failed: {one_line(outcome.problem)}", file=sys.stderr)
