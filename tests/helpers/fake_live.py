"""Agents and live chats that answer with given values; part of `fake_core`. Every call is written down in ``calls``."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vibekit_desktop.core.types.agent_errors import UnknownAgent
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    AgentInfo,
    AgentSession,
    AgentState,
    Answer,
    Headless,
    LivePhase,
    LiveState,
    Prompt,
    QueuedPrompt,
    Rule,
    StopReason,
    TurnOutcome,
)
from vibekit_desktop.core.types.ids import ChatId, new_chat_id


@dataclass
class Answers:
    """What every part of the fake core has."""

    calls: list[tuple[str, tuple[object, ...]]] = field(default_factory=list)
    raises: dict[str, BaseException] = field(default_factory=dict)

    def note(self, name: str, *arguments: object) -> None:
        """Write a call down; raise what the test wants it to raise."""
        self.calls.append((name, arguments))
        error = self.raises.pop(name, None)
        if error is not None:
            raise error


@dataclass
class FakeAgents(Answers):
    """`core.api.Agents`."""

    found: list[AgentInfo] = field(default_factory=list)
    kept: list[AgentSession] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def _one(self, agent: str) -> AgentInfo:
        for info in self.found:
            if agent in (info.id, info.name):
                return info
        raise UnknownAgent(agent, [info.id for info in self.found])

    async def list(self) -> Sequence[AgentInfo]:
        self.note("list")
        return self.found

    async def problems(self) -> Sequence[str]:
        return self.wrong

    async def check(self, agent: str) -> AgentInfo:
        self.note("check", agent)
        return self._one(agent)

    async def sign_in(self, agent: str, way: str) -> AgentInfo:
        self.note("sign_in", agent, way)
        return replace(self._one(agent), state=AgentState.READY)

    async def sessions(self, choice: AgentChoice, workspace: Path) -> Sequence[AgentSession]:
        self.note("sessions", choice, workspace)
        return self.kept


@dataclass
class FakeLive(Answers):
    """`core.api.Live`. ``states`` is what `look` answers; a chat that is not in it has no agent."""

    states: dict[ChatId, LiveState] = field(default_factory=dict)
    outcome: TurnOutcome | None = None
    kept_rules: list[Rule] = field(default_factory=list)
    empty: set[ChatId] = field(default_factory=set)

    def _state(self, chat: ChatId) -> LiveState:
        return self.states.get(chat) or LiveState(chat=chat, phase=LivePhase.UNAVAILABLE)

    async def look(self, chat: ChatId) -> LiveState:
        self.note("look", chat)
        return self._state(chat)

    async def new_chat(self, workspace: Path, choice: AgentChoice) -> ChatId:
        self.note("new_chat", workspace, choice)
        return new_chat_id()

    async def continue_session(self, workspace: Path, choice: AgentChoice, session: str) -> ChatId:
        self.note("continue_session", workspace, choice, session)
        return new_chat_id()

    async def choose_agent(self, chat: ChatId, choice: AgentChoice) -> LiveState:
        self.note("choose_agent", chat, choice)
        self.states[chat] = replace(self._state(chat), phase=LivePhase.OFF, agent=choice.name, problem="")
        return self.states[chat]

    async def start(self, chat: ChatId) -> LiveState:
        self.note("start", chat)
        return self._state(chat)

    async def prompt(self, chat: ChatId, prompt: Prompt) -> None:
        self.note("prompt", chat, prompt)

    async def run(self, chat: ChatId, prompt: Prompt, *, allow: Headless, timeout_s: float | None = None) -> TurnOutcome:
        self.note("run", chat, prompt, allow, timeout_s)
        return self.outcome or TurnOutcome(chat=chat, turn=1, stop_reason=StopReason.END)

    async def stop(self, chat: ChatId) -> None:
        self.note("stop", chat)

    async def stop_command(self, chat: ChatId, tool_call_id: str) -> None:
        self.note("stop_command", chat, tool_call_id)

    async def send_now(self, chat: ChatId, queued: str) -> None:
        self.note("send_now", chat, queued)

    async def unqueue(self, chat: ChatId, queued: str) -> Prompt | None:
        self.note("unqueue", chat, queued)
        waiting = {one.id: one for one in self._state(chat).queue}
        found: QueuedPrompt | None = waiting.pop(queued, None)
        self.states[chat] = replace(self._state(chat), queue=tuple(waiting.values()))
        return found.prompt if found is not None else None

    async def answer(self, chat: ChatId, question: str, answer: Answer) -> None:
        self.note("answer", chat, question, answer)

    async def set_option(self, chat: ChatId, option: str, value: str) -> LiveState:
        self.note("set_option", chat, option, value)
        options = tuple(replace(one, value=value) if one.id == option else one for one in self._state(chat).options)
        self.states[chat] = replace(self._state(chat), options=options)
        return self.states[chat]

    async def rules(self, chat: ChatId) -> Sequence[Rule]:
        self.note("rules", chat)
        return self.kept_rules

    async def forget_rule(self, chat: ChatId, rule: Rule) -> None:
        self.note("forget_rule", chat, rule)
        self.kept_rules.remove(rule)

    async def discard_empty(self, chat: ChatId) -> bool:
        self.note("discard_empty", chat)
        return chat in self.empty

    def running(self) -> Sequence[LiveState]:
        return [state for state in self.states.values() if state.turn]
