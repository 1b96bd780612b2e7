"""What a person can want of a live chat: say something, stop it, answer it, choose for it. One function each.

Each starts a task, tells its own errors, and says with a signal what came of it. UI thread only.
"""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.agents import AgentChoice, Answer, LivePhase, LiveState, Prompt, Rule
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.text import tr

_log = logging.getLogger(__name__)


class LiveOperations(QObject):
    """Signals: ``known(LiveState)``: what a chat is doing, asked for and not told by an event; ``taken(chat, Prompt)`` and
    ``refused(chat, Prompt)``: what became of a prompt; ``unqueued(chat, Prompt)``: it waits no longer and can be written anew;
    ``ruled(chat, rules)``: what its agent may do without a question; ``agent_chosen(chat)``: somebody answers in it now."""

    known = Signal(object)
    taken = Signal(object, object)
    refused = Signal(object, object)
    unqueued = Signal(object, object)
    ruled = Signal(object, object)
    agent_chosen = Signal(object)

    def __init__(self, core: Core, bridge: Bridge, notifier: Notifier, parent: QObject) -> None:
        super().__init__(parent)
        self._core = core
        self._live = core.live
        self._bridge = bridge
        self._notifier = notifier

    def _do(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        async def told() -> None:
            try:
                await work()
            except CoreError as error:
                self._notifier.toast(sentence(error).sentence, "error", about=name)
            else:
                self._notifier.done(name)

        self._bridge.spawn(self, told(), name=name)

    # What is going on.

    def look(self, chat: ChatId) -> None:
        """Ask what a chat is doing; nothing is started."""

        async def work() -> None:
            try:
                state = await self._live.look(chat)
            except CoreError as error:
                _log.info("what a chat is doing is not known: %s", error.code)  # what is wrong with it its page says
                return
            self.known.emit(state)
            if state.phase is LivePhase.OFF and not state.rules:
                await self._tell_rules(chat)  # its agent, which knows them, was not started yet

        self._do("look at a live chat", work)

    async def _tell_rules(self, chat: ChatId) -> None:
        try:
            rules = await self._live.rules(chat)
        except CoreError as error:
            _log.info("the rules of a chat can't be read: %s", error.code)  # then everything is asked
            return
        self.ruled.emit(chat, tuple(rules))

    def start(self, chat: ChatId, *, quietly: bool = False) -> None:
        """Start a chat's agent, so that it is there when the prompt comes. ``quietly``: nobody asked for it, so an error is
        told where the chat is, by its state."""

        async def work() -> None:
            try:
                self.known.emit(await self._live.start(chat))
            except CoreError:
                if not quietly:
                    raise

        self._do("start an agent", work)

    # Saying something.

    def prompt(self, chat: ChatId, prompt: Prompt, *, unwanted: Callable[[], bool] = lambda: False) -> None:
        """Say something, or queue it. ``unwanted``: whether the start of the agent was stopped meanwhile; then it was not said,
        though nothing failed, unless it waits in the queue."""

        async def work() -> None:
            done = False
            try:
                await self._live.prompt(chat, prompt)
                done = not unwanted() or await waits()
            except CoreError:
                if not unwanted():
                    raise
            finally:
                (self.taken if done else self.refused).emit(chat, prompt)

        async def waits() -> bool:
            return any(one.prompt == prompt for one in (await self._live.look(chat)).queue)

        self._do("send a prompt", work)

    def send_now(self, chat: ChatId, queued: str) -> None:
        """Stop the turn and go on with a queued prompt."""
        self._do("send a queued prompt", lambda: self._live.send_now(chat, queued))

    def unqueue(self, chat: ChatId, queued: str, *, edit: bool) -> None:
        """Take a prompt out of the queue, to write it anew or to forget it."""

        async def work() -> None:
            prompt = await self._live.unqueue(chat, queued)
            if prompt is None:
                self._notifier.toast(tr("That message was sent meanwhile."), "info")
            elif edit:
                self.unqueued.emit(chat, prompt)

        self._do("take a prompt back", work)

    # Stopping and answering.

    def stop(self, chat: ChatId) -> None:
        """Stop the turn that runs."""
        self._do("stop a turn", lambda: self._live.stop(chat))

    def stop_command(self, chat: ChatId, tool_call_id: str) -> None:
        """End one command."""
        self._do("stop a command", lambda: self._live.stop_command(chat, tool_call_id))

    def answer(self, chat: ChatId, question: str, answer: Answer) -> None:
        """Answer a question of the agent's."""
        self._do("answer an agent", lambda: self._live.answer(chat, question, answer))

    # Choosing.

    def set_option(self, chat: ChatId, option: str, value: str) -> None:
        """Choose a mode, a model, or something else that the agent offers."""

        async def work() -> None:
            self.known.emit(await self._live.set_option(chat, option, value))

        self._do("choose an option", work)

    def forget_rule(self, rule: Rule) -> None:
        """Ask again before what a rule allowed."""

        async def work() -> None:
            await self._live.forget_rule(rule.chat, rule)
            await self._tell_rules(rule.chat)
            self.known.emit(await self._live.look(rule.chat))

        self._do("forget a rule", work)

    def choose_agent(self, chat: ChatId, choice: AgentChoice) -> None:
        """Let an agent answer in the chat from now on."""

        async def work() -> None:
            self.agent_chosen.emit(await self.choose(chat, choice))

        self._do("choose an agent", work)

    async def choose(self, chat: ChatId, choice: AgentChoice) -> ChatId:
        """The same, for whoever waits for it and tells its errors."""
        self.known.emit(await self._live.choose_agent(chat, choice))
        return chat

    async def new_chat(self, workspace: str, choice: AgentChoice, session: str = "") -> ChatId:
        """Begin a chat in a folder, or go on with a session that the agent keeps. Raises why not."""
        folder = Path(workspace)
        if session:
            return await self._live.continue_session(folder, choice, session)
        return await self._live.new_chat(folder, choice)

    def discard_empty(self, chat: ChatId) -> None:
        """Nobody wants to say anything in it: it goes, if it is empty."""

        async def work() -> None:
            await self._live.discard_empty(chat)

        self._do("discard an empty chat", work)

    def sign_in(self, chat: ChatId, agent: str, way: str) -> None:
        """Let the agent sign its user in, then start it."""

        async def work() -> None:
            info = await self._core.agents.sign_in(agent, way)
            self._notifier.toast(tr("Signed in to {agent}", agent=info.name), "done", everywhere=True)
            state: LiveState = await self._live.start(chat)
            self.known.emit(state)

        self._notifier.toast(tr("Signing in. Follow what the agent opens; the window goes on meanwhile."), "info")
        self._do("sign in", work)
