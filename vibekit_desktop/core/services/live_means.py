"""What every live chat works with. Values; any thread."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.agent.link import Host, Link
from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.agents import AgentService
from vibekit_desktop.core.services.live_rules import Rules
from vibekit_desktop.core.services.turn_book import TurnBook


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Made once, for all of them."""

    bus: Bus
    book: TurnBook
    fs: Fs
    agents: AgentService
    rules: Rules
    connect: Callable[[Launch, Host], Link]
    load: Callable[[], object]
    """What takes time before the first `connect`; called in a thread."""
    clock: Callable[[], int]
    home: Path
    data_dir: Path
