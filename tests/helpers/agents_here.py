"""A computer with agents on it that are not there: programs that do nothing, links that answer as a test says."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.agent.link import Ended, Greeting, Host, PromptPart, Session
from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.agent_meeting import LIMITS, Limits
from vibekit_desktop.core.services.agents import AgentService
from vibekit_desktop.core.types.agent_errors import AgentNotSignedIn
from vibekit_desktop.core.types.agents import AgentInfo, AgentOption, AgentSession, SignIn, StopReason
from vibekit_desktop.core.types.events import AgentChecked

T = TypeVar("T")


@dataclass
class FakeLink:
    """`core.agent.link.Link` that answers as it is told; an error is raised, an event is waited for."""

    launch: Launch
    host: Host
    greeting: Greeting = field(default_factory=lambda: Greeting(name="fake", version="1.2.3"))
    fails: dict[str, BaseException] = field(default_factory=dict)
    waits: dict[str, asyncio.Event] = field(default_factory=dict)
    kept: Sequence[AgentSession] = ()
    calls: list[str] = field(default_factory=list)
    signed_in: bool = False
    closed: bool = False

    async def _do(self, name: str) -> None:
        self.calls.append(name)
        if name in self.waits:
            await self.waits[name].wait()
        if name in self.fails and not (self.signed_in and isinstance(self.fails[name], AgentNotSignedIn)):
            raise self.fails[name]

    async def open(self) -> Greeting:
        await self._do("open")
        return self.greeting

    async def new_session(self, folder: str) -> Session:
        await self._do("new_session")
        assert folder == self.launch.folder
        assert os.listdir(folder) == []
        return Session(id="s")

    async def load_session(self, session: str, folder: str) -> Session:
        raise AssertionError

    async def resume_session(self, session: str, folder: str) -> Session:
        raise AssertionError

    async def fork_session(self, session: str, folder: str) -> Session:
        raise AssertionError

    async def list_sessions(self, folder: str) -> Sequence[AgentSession]:
        await self._do("list_sessions")
        return self.kept

    async def prompt(self, session: str, parts: Sequence[PromptPart]) -> StopReason:
        raise AssertionError

    async def cancel(self, session: str) -> None:
        raise AssertionError

    async def set_option(self, session: str, option: AgentOption, value: str) -> None:
        raise AssertionError

    async def sign_in(self, way: SignIn) -> None:
        await self._do(f"sign_in {way.id}")
        self.signed_in = True

    async def ended(self) -> Ended:
        raise AssertionError

    async def close(self, *, patience_s: float = 2.0) -> Ended:
        self.closed = True
        return Ended(reason="closed")


@dataclass
class Computer:
    """A computer with programs of agents on it. Each `run` is a process of its own."""

    folder: Path
    home: Path
    environ: dict[str, str] = field(default_factory=dict)
    links: list[FakeLink] = field(default_factory=list)
    events: list[AgentInfo] = field(default_factory=list)
    make: Callable[[FakeLink], None] = lambda link: None
    from_desktop: bool = False
    limits: Limits = LIMITS
    workspaces: Callable[[], Sequence[str]] = tuple
    arrived: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    """Once for every agent that is started."""

    def __post_init__(self) -> None:
        self.bin, self.data = self.folder / "bin", self.folder / "data"
        self.bin.mkdir(exist_ok=True)
        self.data.mkdir(exist_ok=True)
        self.environ = {"PATH": str(self.bin), "HOME": str(self.home), "SECRET": "x", **self.environ}

    def install(self, name: str, text: str = "#!/bin/sh\n", *, folder: Path | None = None) -> str:
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def own(self, *agents: object) -> None:
        (self.data / "agents.json").write_text(json.dumps({"agents": agents}))

    def connect(self, launch: Launch, host: Host) -> FakeLink:
        link = FakeLink(launch, host)
        self.make(link)
        self.links.append(link)
        self.arrived.release()
        return link

    def run(self, work: Callable[[AgentService], Awaitable[T]]) -> T:
        async def whole() -> T:
            bus = Bus()
            bus.subscribe(AgentChecked, lambda event: self.events.append(event.agent))
            agents = AgentService(
                bus,
                Fs(),
                data_dir=self.data,
                cache_dir=self.data / "cache",
                logs_dir=self.data / "logs",
                home=self.home,
                environ=self.environ,
                connect=self.connect,
                from_desktop=self.from_desktop,
                workspaces=self.workspaces,
                limits=self.limits,
            )
            try:
                return await work(agents)
            finally:
                await agents.close()

        self.events.clear()
        self.arrived = asyncio.Semaphore(0)
        return asyncio.run(whole())

    def again(self) -> "Computer":
        """The same computer, for a process at the same time."""
        return replace(self, links=[], events=[])

    def listed(self, agent: str) -> AgentInfo:
        return next(info for info in self.run(lambda agents: agents.list()) if info.id == agent)

    def check(self, agent: str) -> AgentInfo:
        return self.run(lambda agents: agents.check(agent))
