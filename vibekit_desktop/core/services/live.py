"""Chats with an agent that answers now. Implements `core.api.Live`.

Knows which live chats there are and finds the vault of each; what one of them does is in `services.live_chat`. Loop thread.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat import prompted
from vibekit_desktop.core.chat.hooked import UNNAMED
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.services.chats import ChatService
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.live_chat import LiveChat
from vibekit_desktop.core.services.live_means import Means
from vibekit_desktop.core.services.live_session import transcript_of
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.turn_book import load
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.agent_errors import AgentFailed, EmptyPrompt
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    Answer,
    Headless,
    LiveState,
    Prompt,
    Rule,
    StopReason,
    TurnOutcome,
)
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.errors import Busy, CoreError, WorkspaceMissing
from vibekit_desktop.core.types.events import ChatDeleted, WorkspaceMoved
from vibekit_desktop.core.types.ids import ChatId, new_chat_id

_log = logging.getLogger(__name__)

MOST_IDLE = 4
"""So many agents wait at most; of more, those that were used longest ago are ended."""


THIS_TURN = "a turn of this chat"


class LiveService:
    """The live chats of this process. Invariant: a chat has at most one `LiveChat`."""

    def __init__(self, means: Means, shelf: Shelf, history: HistoryService, chats: ChatService) -> None:
        self._means = means
        self._shelf = shelf
        self._history = history
        self._chats = chats
        self._live: dict[ChatId, LiveChat] = {}
        self._empty: dict[tuple[str, AgentChoice], ChatId] = {}
        """The chats made by this process in which nobody has said anything."""
        self._work: set[asyncio.Task[None]] = set()
        """Agents that are being started because somebody will need them, or ended because nobody will."""
        self._deletions = means.bus.subscribe(ChatDeleted, lambda event: self._deleted(event.chat))
        self._moves = means.bus.subscribe(WorkspaceMoved, lambda event: self._moved(event.workspace))

    # -- which chat --------------------------------------------------------------------------------------------------

    async def _of(self, chat: ChatId) -> LiveChat:
        found = self._live.pop(chat, None)
        if found is None:
            vault = await self._history.vault_of(chat)
            stored = await durably(lambda: load(vault, chat))
            found = self._live.get(chat) or LiveChat(self._means, vault, stored, self._means.agents.choice_of(stored))
        self._live.pop(chat, None)
        self._live[chat] = found  # the newest last
        return found

    async def look(self, chat: ChatId) -> LiveState:
        """What the chat is doing; nothing is started."""
        live = self._live.get(chat)
        if live is None:
            vault = await self._history.vault_of(chat)
            stored, _ = await durably(lambda: vault.chats.load_to_show(chat))
            live = LiveChat(self._means, vault, stored, self._means.agents.choice_of(stored))
        await live.agent.know()
        return live.state()

    def running(self) -> Sequence[LiveState]:
        """The chats whose turn runs now."""
        states = (live.state() for live in self._live.values())
        return [state for state in states if state.turn]

    # -- chats -------------------------------------------------------------------------------------------------------

    async def new_chat(self, workspace: Path, choice: AgentChoice) -> ChatId:
        """A chat without messages; its agent is started meanwhile."""
        launchable = await self._means.agents.launchable(choice)
        chat, _vault = await self._make(workspace, choice, launchable.info.name, launchable.info.id)
        live = await self._of(chat)
        self._warm(live)
        return chat

    async def _make(self, workspace: Path, choice: AgentChoice, name: str, identity: str) -> tuple[ChatId, OpenVault]:
        def place() -> OpenVault:
            self._shelf.refuse_as_workspace(workspace)
            if not folders.is_folder(workspace):
                raise WorkspaceMissing(str(workspace))
            return self._shelf.for_workspace(str(workspace))

        vault = await durably(place)
        key = (vault.id, choice)
        kept = self._empty.get(key)
        if kept is not None and await durably(lambda: _is_empty(vault, kept)):
            return kept, vault
        chat = new_chat_id(self._means.clock())
        fresh = Chat(
            id=chat,
            name=UNNAMED,
            messages=(),
            created_at=self._means.clock(),
            agent=name,
            agent_id="" if choice.command else identity,
            agent_command=choice.command,
        )

        def make(_kernel: CheckpointKernel) -> None:
            vault.chats.mutate(chat, lambda _found, _there: fresh, create=True)

        await self._means.book.changing(chat, vault, make)
        await self._means.book.tell(chat, vault, created=True)
        self._empty[key] = chat
        return chat, vault

    def _warm(self, live: LiveChat) -> None:
        async def work() -> None:
            try:
                await live.agent.start()
            except CoreError as error:
                _log.info("the agent of chat %s was not started: %s", live.chat, error.code)  # its state says so
            await self._end_idle()

        self._later(work(), "start an agent")

    def _later(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    def _deleted(self, chat: ChatId) -> None:
        """Nobody says anything in it any more."""
        self._forget_empty(chat)
        live = self._live.get(chat)
        if live is None:
            return

        async def work() -> None:
            await live.close()
            self._live.pop(chat, None)  # not before: who ends the program meanwhile ends it too

        self._later(work(), "end the agent of a deleted chat")

    def _moved(self, workspace: str) -> None:
        """Agents that were started where a workspace is no longer work there no more; the next prompt starts them where it is.
        One that is only gone may come back."""

        async def work() -> None:
            if workspace in await asyncio.to_thread(lambda: [vault.workspace_path for vault in self._shelf.vaults()]):
                return
            for live in [one for one in self._live.values() if one.vault.workspace_path == workspace]:
                await live.close()
                self._live.pop(live.chat, None)

        self._later(work(), "end the agents of a workspace that is elsewhere")

    async def _end_idle(self) -> None:
        """Not more processes than are of use."""
        idle = [live for live in self._live.values() if live.is_idle]
        for live in idle[:-MOST_IDLE]:
            if live.is_idle:  # ending one takes a while, and somebody may have said something to the next
                await live.agent.end()

    async def continue_session(self, workspace: Path, choice: AgentChoice, session: str) -> ChatId:
        """A chat that goes on with a session of the agent's own."""
        launchable = await self._means.agents.launchable(choice)
        known = await durably(lambda: _with_session(self._shelf.vaults(), session))
        if known is not None:
            return known  # it is here already
        chat, vault = await self._make(workspace, choice, launchable.info.name, launchable.info.id)
        live = await self._of(chat)
        try:
            told = transcript_of(await live.agent.take_up(session), workspace=vault.workspace_path, clock=self._means.clock)

            def fill(_kernel: CheckpointKernel) -> None:
                vault.chats.mutate(chat, lambda found, _: prompted.continued(found, told, session=session))

            await self._means.book.changing(chat, vault, fill)
        except CoreError:
            await self.discard_empty(chat)
            raise
        live.agent.was_filled(told)
        self._forget_empty(chat)
        await self._means.book.tell(chat, vault)
        return chat

    async def choose_agent(self, chat: ChatId, choice: AgentChoice) -> LiveState:
        """From now on this agent answers in the chat. One that is only being started is ended."""
        launchable = await self._means.agents.launchable(choice)
        live = await self._of(chat)
        if live.is_busy and not live.is_starting:
            raise Busy(THIS_TURN)
        waits = await live.take_back()
        live.agent.choice = choice  # first: what is said while the other one ends is for this one
        await live.agent.end()
        live.agent.options = ()  # the other one's
        info = launchable.info

        def change(found: Chat) -> Chat:
            return msgspec.structs.replace(
                found,
                agent=info.name,
                agent_id="" if choice.command else info.id,
                agent_command=choice.command,
                current_mode_id="",
                model="",
                available_modes=None,
                available_models=None,
                session_seen="",
                cut=found.cut or bool(found.source),
            )

        def work(_kernel: CheckpointKernel) -> None:
            live.vault.chats.mutate(chat, lambda found, _: change(found))

        await self._means.book.changing(chat, live.vault, work)
        await self._means.book.tell(chat, live.vault)
        if waits:
            live.say_queued()  # who said it meant it for whoever answers
        else:
            self._warm(live)
        await live.agent.know()
        return live.state()

    async def start(self, chat: ChatId) -> LiveState:
        """Start the chat's agent now."""
        live = await self._of(chat)
        await live.agent.start()
        await self._end_idle()
        return live.state()

    async def discard_empty(self, chat: ChatId) -> bool:
        """End and remove a chat in which nobody has said anything."""
        live = await self._of(chat)
        if not await durably(lambda: _is_empty(live.vault, chat)) or live.is_busy:
            return False
        await live.close()
        self._live.pop(chat, None)
        self._forget_empty(chat)
        await self._chats.delete(chat)
        return True

    def _forget_empty(self, chat: ChatId) -> None:
        self._empty = {key: one for key, one in self._empty.items() if one != chat}

    # -- saying something --------------------------------------------------------------------------------------------

    async def prompt(self, chat: ChatId, prompt: Prompt) -> None:
        """Say something: at once, or after the turn that runs."""
        _require_words(prompt)
        live = await self._of(chat)
        await live.prompt(prompt)
        self._forget_empty(chat)

    async def run(self, chat: ChatId, prompt: Prompt, *, allow: Headless, timeout_s: float | None = None) -> TurnOutcome:
        """Say something and wait for the end of the turn; ``allow`` answers."""
        _require_words(prompt)
        live = await self._of(chat)
        if live.is_busy:
            raise Busy(THIS_TURN)
        running = live.run(prompt, allow)
        self._forget_empty(chat)
        try:
            await asyncio.wait({running}, timeout=timeout_s)
            if not running.done():
                live.stop(StopReason.TIMED_OUT)
                await asyncio.wait({running})
        except asyncio.CancelledError:
            live.stop()
            await asyncio.wait({running})
            raise
        if running.cancelled():  # the time was over before the agent had even a session
            raise AgentFailed(live.agent.name, live.agent.step, "silent")
        return running.result()

    async def stop(self, chat: ChatId) -> None:
        """Stop the turn that runs, or the start of the agent."""
        live = self._live.get(chat)
        if live is not None:
            live.stop()

    async def stop_command(self, chat: ChatId, tool_call_id: str) -> None:
        """End one command that runs in a terminal of ours."""
        live = self._live.get(chat)
        if live is not None:
            await live.stop_command(tool_call_id)

    async def send_now(self, chat: ChatId, queued: str) -> None:
        """Stop the turn that runs and go on with this prompt of the queue."""
        live = self._live.get(chat)
        if live is not None:
            live.send_now(queued)

    async def unqueue(self, chat: ChatId, queued: str) -> Prompt | None:
        """Take a prompt out of the queue."""
        live = self._live.get(chat)
        return live.unqueue(queued) if live is not None else None

    async def answer(self, chat: ChatId, question: str, answer: Answer) -> None:
        """Answer a question."""
        live = self._live.get(chat)
        if live is not None:
            live.answer(question, answer)

    async def set_option(self, chat: ChatId, option: str, value: str) -> LiveState:
        """Choose one of the agent's options."""
        live = await self._of(chat)
        await live.agent.set_option(option, value)
        return live.state()

    async def rules(self, chat: ChatId) -> Sequence[Rule]:
        """What this chat's agent may do without a question."""
        live = await self._of(chat)
        return await durably(lambda: self._means.rules.of(live.vault, chat))

    async def forget_rule(self, chat: ChatId, rule: Rule) -> None:
        """Ask again from now on."""
        await (await self._of(chat)).agent.forget_rule(rule)

    # -- the end of the program ----------------------------------------------------------------------------------

    async def close(self) -> None:
        """End every turn and every agent."""
        self._deletions.close()
        self._moves.close()
        for task in tuple(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        live, self._live = tuple(self._live.values()), {}
        for found in await asyncio.gather(*(one.close() for one in live), return_exceptions=True):
            if isinstance(found, Exception):
                _log.error("a live chat was not closed", exc_info=found)


def _require_words(prompt: Prompt) -> None:
    if not prompt.text.strip() and not prompt.attachments:
        raise EmptyPrompt


def _is_empty(vault: OpenVault, chat: ChatId) -> bool:
    header = vault.chats.header(chat)
    return header is not None and not header.problem and header.message_count == 0 and not header.parent_chat_id


def _with_session(vaults: Sequence[OpenVault], session: str) -> ChatId | None:
    """The chat that a session is already."""
    for vault in vaults:
        for row in vault.chats.list():
            if session in row.sessions or session == row.source_session:
                return row.id
    return None
