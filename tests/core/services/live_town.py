"""A workspace, a program and scripted agents in it, for tests of live chats: each call of `run` is a program of its own."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.core.services.town import Town
from tests.helpers import scripted_agent
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    Answer,
    Headless,
    LivePhase,
    LiveState,
    Prompt,
    Question,
    TurnOutcome,
)
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.checkpoints import AtTag, BeforeTurn, FileChange, Mine, Now, Scope
from vibekit_desktop.core.types.errors import PointNotFound
from vibekit_desktop.core.types.events import AnswerStreamed, LiveChanged, LiveTurnEnded
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath

LIMIT_S = 20.0
Step = dict[str, object]


@dataclass
class LiveTown(Town):
    """Agents by script beside what `Town` has. ``log``: every message that the scripted agents got, of all processes."""

    log: Path = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.log = self.folder / "agent.jsonl"

    def agent(self, *turns: list[Step], **more: object) -> AgentChoice:
        """An agent that answers its prompts with these turns, also across processes."""
        script = {"turns": list(turns), "log": str(self.log), "counter": str(self.folder / "count"), **more}
        return AgentChoice(command=scripted_agent.command(script, self.folder))

    def got(self, method: str) -> list[dict[str, object]]:
        """The parameters of every request of this method that agents got."""
        if not self.log.exists():
            return []
        found = [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]
        return [one.get("params", {}) for one in found if one.get("method") == method]

    def said_to_it(self) -> list[str]:
        """The words of every prompt that agents got."""
        texts: list[str] = []
        for params in self.got("session/prompt"):
            parts = params["prompt"]
            assert isinstance(parts, list)
            texts.append("".join(part.get("text", "") for part in parts))
        return texts

    # -- inside of a program -----------------------------------------------------------------------------------------

    async def new(self, wired: Wired, choice: AgentChoice, workspace: Path | None = None) -> ChatId:
        return await wired.core.live.new_chat(workspace or self.work, choice)

    async def say(self, wired: Wired, chat: ChatId, text: str = "go", allow: Headless = Headless.ALL) -> TurnOutcome:
        """One whole turn in which nobody is asked."""
        outcome = await wired.core.live.run(chat, Prompt(text=text), allow=allow, timeout_s=LIMIT_S)
        self.clock.advance(1000)
        return outcome

    async def until(self, wired: Wired, chat: ChatId, holds: Callable[[LiveState], bool]) -> LiveState:
        """Wait for a state of the chat."""
        found: asyncio.Future[LiveState] = asyncio.get_running_loop().create_future()

        def look(event: LiveChanged) -> None:
            if event.state.chat == chat and holds(event.state) and not found.done():
                found.set_result(event.state)

        subscription = wired.bus.subscribe(LiveChanged, look)
        try:
            now = await wired.core.live.look(chat)
            return now if holds(now) else await asyncio.wait_for(found, LIMIT_S)
        finally:
            subscription.close()

    async def question(self, wired: Wired, chat: ChatId, *, after: str = "") -> Question:
        """The next question, another one than ``after``."""
        state = await self.until(wired, chat, lambda one: any(asked.id != after for asked in one.questions))
        return next(asked for asked in state.questions if asked.id != after)

    async def idle(self, wired: Wired, chat: ChatId) -> LiveState:
        """Wait until nothing runs."""
        return await self.until(wired, chat, lambda one: one.phase in (LivePhase.IDLE, LivePhase.OFF) and not one.turn)

    async def ended(self, wired: Wired, chat: ChatId, begin: Callable[[], Awaitable[object]]) -> TurnOutcome:
        """Do something that begins a turn, and wait for its end."""
        found: asyncio.Future[TurnOutcome] = asyncio.get_running_loop().create_future()

        def look(event: LiveTurnEnded) -> None:
            if event.outcome.chat == chat and not found.done():
                found.set_result(event.outcome)

        subscription = wired.bus.subscribe(LiveTurnEnded, look)
        try:
            await begin()
            return await asyncio.wait_for(found, LIMIT_S)
        finally:
            subscription.close()

    async def streamed(self, wired: Wired, chat: ChatId, holds: Callable[[Message], bool]) -> Message:
        """Wait until the running answer is so far."""
        found: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def look(event: AnswerStreamed) -> None:
            if event.chat == chat and holds(event.message) and not found.done():
                found.set_result(event.message)

        subscription = wired.bus.subscribe(AnswerStreamed, look)
        try:
            return await asyncio.wait_for(found, LIMIT_S)
        finally:
            subscription.close()

    async def answering(
        self, wired: Wired, chat: ChatId, answer: Answer = Answer.ALLOW_ONCE, text: str = "go"
    ) -> tuple[TurnOutcome, list[Question]]:
        """One turn in which a person answers every question the same."""
        asked: dict[str, Question] = {}
        answers: list[asyncio.Task[None]] = []

        def look(event: LiveChanged) -> None:
            for question in event.state.questions:
                if question.id not in asked and event.state.chat == chat:
                    asked[question.id] = question
                    given = answer if answer in question.answers else Answer.ALLOW_ONCE
                    answers.append(loop.create_task(wired.core.live.answer(chat, question.id, given)))

        loop = asyncio.get_running_loop()
        subscription = wired.bus.subscribe(LiveChanged, look)
        try:
            outcome = await self.ended(wired, chat, lambda: wired.core.live.prompt(chat, Prompt(text=text)))
        finally:
            subscription.close()
        await self.idle(wired, chat)
        self.clock.advance(1000)
        return outcome, list(asked.values())

    async def before_and_after(self, wired: Wired, chat: ChatId, turn: int, name: str) -> tuple[bytes | None, bytes | None]:
        """What a file held before a turn, and what it holds on disk."""
        checkpoints = wired.core.checkpoints
        path = WorkspacePath(name)
        entry = next(one for one in (await checkpoints.timeline(chat)).entries if one.turn == turn and one.files)
        change = next(one for one in entry.files if one.path == path)
        before = await checkpoints.content(chat, BeforeTurn(turn), path) if change.before.has_content else None
        after = await checkpoints.content(chat, Now(), path) if change.after.has_content else None
        return before, after

    async def has_tag(self, wired: Wired, chat: ChatId, tag: str) -> bool:
        """Whether there was a capture of this tag."""
        try:
            await wired.core.checkpoints.plan_restore(chat, AtTag(Tag(tag)), paths=(), scope=Scope.FILES, mine=Mine())
        except PointNotFound:
            return False
        return True

    async def restore(self, wired: Wired, chat: ChatId, turn: int) -> None:
        """Restore everything to before a turn."""
        checkpoints = wired.core.checkpoints
        plan = await checkpoints.plan_restore(chat, BeforeTurn(turn), paths=(), scope=Scope.BOTH, mine=Mine(restore_all=True))
        await checkpoints.carry_out(plan)
        self.clock.advance(1000)


def by_path(outcome: TurnOutcome) -> dict[str, FileChange]:
    return {change.path: change for change in outcome.files}
