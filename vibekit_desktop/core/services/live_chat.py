"""One chat that an agent answers in: what is being said, what waits to be said, what is asked.

A prompt runs as one task, from the start of the agent to the end of the turn; the next of the queue begins when it is over.
After a turn that was stopped or that failed the queue waits for a person. Loop thread.
"""

import asyncio
import logging
import uuid
from contextlib import suppress
from dataclasses import replace

from vibekit_desktop.core.agent.link import Ask, LinkEvent
from vibekit_desktop.core.services import live_words
from vibekit_desktop.core.services.attachments import parts_of
from vibekit_desktop.core.services.live_agent import LiveAgent
from vibekit_desktop.core.services.live_host import ChatHost
from vibekit_desktop.core.services.live_means import Means
from vibekit_desktop.core.services.live_stage import Saying, Stage
from vibekit_desktop.core.services.live_turn import LiveTurn
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.agent_errors import AgentNotSignedIn, NotOffered
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    Answer,
    Headless,
    LivePhase,
    LiveState,
    Prompt,
    QueuedPrompt,
    StopReason,
    TurnOutcome,
)
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import LiveChanged, LiveTurnEnded
from vibekit_desktop.core.types.ids import ChatId

_log = logging.getLogger(__name__)

IDLE_S = 20 * 60.0
"""An agent that nobody says anything to for so long is ended; the next prompt starts it again."""
MOST_QUEUED = 100
_NOT_GONE_ON = (StopReason.CANCELLED, StopReason.DIED, StopReason.FAILED, StopReason.TIMED_OUT)

Begun = asyncio.Future[int]


class LiveChat:
    """Invariant: at most one turn runs; `state` tells all of it, and `LiveChanged` every change."""

    def __init__(self, means: Means, vault: OpenVault, stored: Chat, choice: AgentChoice | None) -> None:
        self._means = means
        self.vault = vault
        self.chat = ChatId(stored.id)
        self.agent = LiveAgent(
            means,
            vault,
            stored,
            choice,
            changed=self._touch,
            make_host=lambda gate: ChatHost(self, gate),
            wrote=self._terminal_wrote,
        )
        self._queue: list[QueuedPrompt] = []
        self._next: str | None = None
        """The queued prompt that somebody wants to be said as soon as the turn has stopped."""
        self._turn: LiveTurn | None = None
        self._talking: asyncio.Task[TurnOutcome] | None = None
        self._outcome: TurnOutcome | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None
        self._headless = False
        self._told = False
        self._closed = False

    # -- what is told ------------------------------------------------------------------------------------------------

    def state(self) -> LiveState:
        """The chat as it is now."""
        agent, turn = self.agent, self._turn
        running = turn is not None and turn.number > 0
        info = agent.launchable.info if agent.launchable is not None else None
        error = agent.error
        return LiveState(
            chat=self.chat,
            phase=self._phase(),
            agent=agent.name,
            agent_id=info.id if info is not None else "",
            version=agent.greeting.version,
            turn=turn.number if turn is not None and running else 0,
            turn_began_at=turn.began_at if turn is not None and running else 0,
            queue=tuple(self._queue),
            questions=agent.questions.open,
            options=agent.options,
            commands=agent.commands,
            usage=agent.usage,
            rules=agent.rules,
            takes_images=agent.greeting.takes_images,
            running_commands=agent.gate.running_commands if agent.gate is not None else (),
            sign_in=agent.greeting.sign_in if isinstance(error, AgentNotSignedIn) else (),
            problem=live_words.what_happened(agent.name or "The agent", error) if error is not None else agent.note,
            error=error,
        )

    def _phase(self) -> LivePhase:
        if self._turn is None or not self._turn.number:
            return LivePhase.STARTING if self._talking is not None else self.agent.phase
        return LivePhase.STOPPING if self._turn.stopping else LivePhase.RUNNING

    def _touch(self) -> None:
        """Something changed; it is told once, after what else changes in this step of the loop."""
        if self._turn is not None:
            self._turn.waiting(question.tool_call_id for question in self.agent.questions.open)
        if not self._told and not self._closed:
            self._told = True
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._told = False
        self._means.bus.publish(LiveChanged(self.state()))

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs, or is about to."""
        return self._talking is not None

    @property
    def is_starting(self) -> bool:
        """Whether something is to be said, and the agent is not there yet."""
        return self._talking is not None and self._turn is None and not self._headless

    @property
    def is_idle(self) -> bool:
        """Whether its agent is there, and nobody says anything to it."""
        return self.agent.phase is LivePhase.IDLE and not self.is_busy

    # -- saying something --------------------------------------------------------------------------------------------

    async def prompt(self, prompt: Prompt) -> None:
        """Say it now, or after the turn that runs and what waits already. Raises why nothing was said."""
        if self._talking is not None or self._queue:
            if len(self._queue) >= MOST_QUEUED:
                raise NotOffered(self.agent.name, "so many prompts in the queue")
            self._queue.append(QueuedPrompt(str(uuid.uuid4()), prompt))
            self.say_queued()
            return
        begun: Begun = asyncio.get_running_loop().create_future()
        talking = self._talk(prompt, None, begun)
        talking.add_done_callback(lambda task: self._carry(task, begun, prompt))
        try:
            await begun
        except asyncio.CancelledError:
            if not talking.cancelled():  # else somebody stopped it before it began, and it waits
                raise

    def _carry(self, task: "asyncio.Task[TurnOutcome]", begun: Begun, prompt: Prompt) -> None:
        """Why a turn never began, to whoever waits for its beginning. What was only stopped is not lost: it waits."""
        if begun.done():
            return
        error = None if task.cancelled() else task.exception()
        if error is not None:
            begun.set_exception(error)
            return
        begun.cancel()
        if not self._closed:
            self._queue.insert(0, QueuedPrompt(str(uuid.uuid4()), prompt))
            self._touch()

    def run(self, prompt: Prompt, headless: Headless) -> "asyncio.Task[TurnOutcome]":
        """Say it now; the task ends with the turn."""
        return self._talk(prompt, headless, None)

    def _talk(self, prompt: Prompt, headless: Headless | None, begun: Begun | None) -> "asyncio.Task[TurnOutcome]":
        self._wake()
        self._headless = headless is not None
        self._talking = asyncio.create_task(self._one_turn(prompt, headless, begun), name="a turn of a live agent")
        self._talking.add_done_callback(self._ended)
        self._touch()
        return self._talking

    async def _one_turn(self, prompt: Prompt, headless: Headless | None, begun: Begun | None) -> TurnOutcome:
        means, agent = self._means, self.agent
        link = await agent.start()
        opened, gate, terminals = agent.opened, agent.gate, agent.terminals
        assert opened is not None
        assert gate is not None
        assert terminals is not None
        parts = await durably(lambda: parts_of(means.fs, prompt, agent.greeting, history=opened.history))
        stage = Stage(
            bus=means.bus,
            book=means.book,
            fs=means.fs,
            vault=self.vault,
            chat=self.chat,
            agent=agent.name,
            link=link,
            gate=gate,
            questions=agent.questions,
            terminals=terminals,
            clock=means.clock,
        )
        saying = Saying(prompt=prompt, parts=parts, session=opened.session.id, headless=headless, amend=agent.amended)
        turn = self._turn = LiveTurn(stage, saying)

        def has_begun(number: int) -> None:
            agent.opened = replace(opened, history="")
            self._touch()
            if begun is not None and not begun.done():
                begun.set_result(number)

        try:
            outcome = await turn.run(has_begun)
        finally:
            self._turn, self._outcome = None, turn.outcome
        if outcome.stop_reason in (StopReason.DIED, StopReason.TIMED_OUT):
            await agent.end(patience_s=0.5)
        with suppress(CoreError):  # a chat that is not there any more: the next prompt finds that out
            await agent.heard_all()
        return outcome

    def _ended(self, task: "asyncio.Task[TurnOutcome]") -> None:
        self._talking = None
        outcome, self._outcome = self._outcome, None
        if outcome is not None:  # not before the next prompt is no longer one for the queue
            self._means.bus.publish(LiveTurnEnded(outcome))
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, CoreError):
            _log.error("a turn of chat %s failed", self.chat, exc_info=error)
        if self._closed:
            return
        gone_on = not task.cancelled() and error is None and task.result().stop_reason not in _NOT_GONE_ON
        if self._queue and (self._next is not None or gone_on):
            self._say_next()
        elif self.agent.link is not None:
            self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._idle_for_long)
        self._touch()

    # -- the queue ---------------------------------------------------------------------------------------------------

    def _say_next(self) -> None:
        """Go on with the queue: with the prompt that somebody wants now, else with the first."""
        wanted, self._next = self._next, None
        found = next((one for one in self._queue if one.id == wanted), None) or self._queue[0]
        self._queue.remove(found)
        begun: Begun = asyncio.get_running_loop().create_future()

        def back(_task: "asyncio.Task[TurnOutcome]") -> None:
            if not begun.done():  # it was never said: it waits again
                begun.cancel()
                self._queue.insert(0, found)
                self._touch()

        self._talk(found.prompt, None, begun).add_done_callback(back)

    def send_now(self, queued: str) -> None:
        """Stop what runs and go on with this prompt."""
        if not any(one.id == queued for one in self._queue):
            return
        self._next = queued
        if self._talking is None:
            self._say_next()
        elif self._turn is None:
            self._talking.cancel()  # the start of the agent goes on
        else:
            self.stop()

    def say_queued(self) -> None:
        """Go on with the queue, if nothing is said now: after a stop it waits for that."""
        if self._talking is None and self._queue:
            self._say_next()
        self._touch()

    def unqueue(self, queued: str) -> Prompt | None:
        """Take a prompt out of the queue."""
        found = next((one for one in self._queue if one.id == queued), None)
        if found is None:
            return None
        self._queue.remove(found)
        self._touch()
        return found.prompt

    # -- stopping ----------------------------------------------------------------------------------------------------

    def stop(self, reason: StopReason = StopReason.CANCELLED, *, closing: bool = False) -> None:
        """Stop the turn that runs, or that is about to, or the start of the agent. What waits goes on waiting."""
        if self._turn is not None:
            self._turn.stop(reason, closing=closing)
            self._touch()
            return
        if self._talking is not None:
            self._talking.cancel()
        self.agent.stop_starting()

    async def take_back(self) -> bool:
        """What is to be said and waits for the agent waits in the queue again; whether there was anything."""
        talking = self._talking
        if talking is None or not self.is_starting:
            return False
        talking.cancel()
        await asyncio.wait({talking})
        return True

    def _wake(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _idle_for_long(self) -> None:
        self._idle = None
        if self.is_idle:
            self._ending = asyncio.create_task(self.agent.end(), name="end an idle agent")

    async def close(self) -> None:
        """End the turn and the process; what was said is kept."""
        self._closed = True
        self._queue.clear()
        self._wake()
        talking = self._talking
        if talking is not None:
            self.stop(closing=True)
            await asyncio.wait({talking})
        await self.agent.end(patience_s=0.5)

    # -- what the agent says and asks --------------------------------------------------------------------------------

    def answer(self, question: str, answer: Answer) -> None:
        """Answer a question; one that nobody asks any more is nobody's."""
        if not self.agent.questions.answer(question, answer):
            _log.info("an answer in chat %s came too late", self.chat)

    async def stop_command(self, tool_call_id: str) -> None:
        """End one command in a terminal of ours."""
        if self.agent.gate is not None:
            await self.agent.gate.stop_command(tool_call_id)

    def event(self, event: LinkEvent) -> None:
        """Something that the agent said."""
        self.agent.event(event)
        if self._turn is not None:
            self._turn.event(event)

    def asked(self, ask: Ask, chosen: str | None) -> None:
        """A question of the agent's was answered."""
        if self._turn is not None:
            self._turn.asked(ask, chosen)

    def heard(self) -> None:
        """The agent asked for something, or got what it asked for."""
        if self._turn is not None:
            self._turn.heard()

    def commands_changed(self) -> None:
        """A command in a terminal of ours began or ended."""
        self.heard()
        self._touch()

    def _terminal_wrote(self, terminal: str) -> None:
        if self._turn is not None:
            self._turn.terminal_wrote(terminal)
