"""What the agent of a live chat reaches: the gate for all that it wants to do, the chat for what it says. Loop thread."""

from collections.abc import Sequence
from typing import Protocol

from vibekit_desktop.core.agent.gate import Gate
from vibekit_desktop.core.agent.link import Ask, LinkEvent, TerminalExit, TerminalOutput


class Hears(Protocol):
    """The chat, as far as it hears of its agent."""

    def event(self, event: LinkEvent) -> None:
        """Something that the agent said."""

    def asked(self, ask: Ask, chosen: str | None) -> None:
        """A question of the agent's was answered."""

    def heard(self) -> None:
        """The agent asked for something, or got what it asked for."""

    def commands_changed(self) -> None:
        """A command in a terminal of ours began or ended."""


class ChatHost:
    """`link.Host` of one chat."""

    def __init__(self, chat: Hears, gate: Gate) -> None:
        self._chat = chat
        self._gate = gate

    def event(self, event: LinkEvent) -> None:
        self._chat.event(event)

    async def ask(self, ask: Ask) -> str | None:
        self._chat.heard()
        chosen = await self._gate.ask(ask)
        self._chat.asked(ask, chosen)
        return chosen

    async def read(self, path: str, line: int | None, limit: int | None) -> str:
        self._chat.heard()
        return await self._gate.read(path, line, limit)

    async def write(self, path: str, text: str) -> None:
        self._chat.heard()
        await self._gate.write(path, text)

    async def create_terminal(
        self, command: str, args: Sequence[str], folder: str | None, env: Sequence[tuple[str, str]], limit_bytes: int | None
    ) -> str:
        self._chat.heard()
        made = await self._gate.create_terminal(command, args, folder, env, limit_bytes)
        self._chat.commands_changed()
        return made

    async def terminal_output(self, terminal: str) -> TerminalOutput:
        return await self._gate.terminal_output(terminal)

    async def wait_for_exit(self, terminal: str) -> TerminalExit:
        ended = await self._gate.wait_for_exit(terminal)
        self._chat.commands_changed()
        return ended

    async def kill_terminal(self, terminal: str) -> None:
        await self._gate.kill_terminal(terminal)
        self._chat.commands_changed()

    async def release_terminal(self, terminal: str) -> None:
        await self._gate.release_terminal(terminal)
        self._chat.commands_changed()
