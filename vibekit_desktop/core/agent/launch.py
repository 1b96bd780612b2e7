"""How an agent is started: the command, where, with which environment. Values only; any thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from vibekit_desktop.core.types.agents import AgentInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One start of one agent. ``command``: the program, by its absolute path, and its arguments. ``env`` is the whole
    environment of the process, nothing is inherited."""

    name: str
    command: tuple[str, ...]
    folder: str
    env: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launchable:
    """An agent that is on this computer and can be started.

    ``ask_mode``: the mode of its own in which it asks before it edits, to be chosen in every new session that has it; empty if
    it always asks or is told so by its environment."""

    info: AgentInfo
    command: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    ask_mode: str = ""
    asks: bool = False
    """Its environment makes it ask before it edits."""

    def launch(self, folder: str) -> Launch:
        """Start it in a folder."""
        return Launch(name=self.info.name, command=self.command, folder=folder, env=self.env)
