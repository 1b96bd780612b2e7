"""Which agents this computer can start: found on the PATH, looked at once started, remembered. Implements `core.api.Agents`.

Nothing is started but by `check`, `sign_in` and `sessions`, and nothing is ever installed. The loop thread only waits; the disk
is looked at in threads. An agent is given what the allow-list of `core.agent.environment` and its entry in the list say, never
the whole environment of this process.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vibekit_desktop.core.agent import found, registry
from vibekit_desktop.core.agent.environment import child_environment
from vibekit_desktop.core.agent.found import SearchPath
from vibekit_desktop.core.agent.launch import Launchable
from vibekit_desktop.core.agent.login_shell import login_shell_path
from vibekit_desktop.core.agent.registry import Entry, Registry
from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.agent_meeting import LIMITS, Connect, Limits, Meetings
from vibekit_desktop.core.services.agent_memory import AgentMemory, Known
from vibekit_desktop.core.services.serial import Serial
from vibekit_desktop.core.types.agent_errors import AgentMissing, UnknownAgent
from vibekit_desktop.core.types.agents import AgentChoice, AgentInfo, AgentSession, AgentState
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import AgentChecked

_log = logging.getLogger(__name__)

AT_ONCE = 2
"""So many agents are started at once only to be looked at."""


class AgentService:
    """The agents of this computer. Invariants: one process of an agent at a time is looked at, two in all; the login shell is
    asked once."""

    def __init__(
        self,
        bus: Bus,
        fs: Fs,
        *,
        data_dir: Path,
        cache_dir: Path,
        logs_dir: Path,
        home: Path,
        environ: Mapping[str, str],
        connect: Connect,
        from_desktop: bool,
        workspaces: Callable[[], Sequence[str]] = tuple,
        limits: Limits = LIMITS,
        load: Callable[[], object] = lambda: None,
    ) -> None:
        """``workspaces``: the folders agents work in, nothing in which is ever found; blocking, may raise `CoreError`."""
        self._bus = bus
        self._fs = fs
        self._own = data_dir / "agents.json"
        self._home = home
        self._environ = dict(environ)
        self._workspaces = workspaces
        self._limits = limits
        self._meetings = Meetings(fs, connect, cache_dir / "agents", logs_dir, limits, load)
        self._memory = AgentMemory(fs, cache_dir / "agents.json")
        self._registry = registry.read()
        self._stamps: dict[str, str] = {}
        self._told: dict[str, AgentInfo] = {}
        self._shell_path = ""
        self._shell: asyncio.Task[None] | None = None
        self._ask_shell = from_desktop and not found.WINDOWS
        self._checks: dict[str, asyncio.Task[AgentInfo]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starts = asyncio.Semaphore(AT_ONCE)
        self._serial = Serial()

    # -- what there is -----------------------------------------------------------------------------------------------

    async def list(self) -> Sequence[AgentInfo]:
        """Every agent of the list and of the user's own, those that are here first; nothing is started."""
        await self._shell_answered(self._limits.shell_s)
        infos = await asyncio.to_thread(self._look)
        self._told = {info.id: info for info in infos}
        return infos

    async def problems(self) -> Sequence[str]:
        """What is wrong with the user's own list of agents, a sentence each."""
        return (await asyncio.to_thread(self._read)).problems

    async def launchable(self, choice: AgentChoice) -> Launchable:
        """How an agent is started; raises `UnknownAgent` or `AgentMissing`."""
        await self._shell_answered(None)
        return await asyncio.to_thread(self._launchable, choice)

    def choice_of(self, chat: Chat) -> AgentChoice | None:
        """Which agent answers in a chat: the one that was chosen, or the one whose history the chat came from. None: nobody
        knows."""
        if chat.agent_command:
            return AgentChoice(name=chat.agent, command=chat.agent_command)
        if chat.agent_id:
            return AgentChoice(name=chat.agent_id)
        entry = self._registry.of_source(chat.source)
        return AgentChoice(name=entry.id) if entry is not None else None

    # -- what is known of them ---------------------------------------------------------------------------------------

    def learned(self, info: AgentInfo) -> None:
        """Remember what a start showed of an agent of the list, and tell it if it is news. Loop thread."""
        entry = self._registry.find(info.id)
        if entry is None:
            return  # a command of the user's own: nobody lists it
        if info.state is AgentState.READY:
            info = replace(info, problem="")
        known = Known(
            stamp=self._stamps.get(info.id, ""),
            command=info.command,
            state=info.state,
            version=info.version,
            sign_in=info.sign_in,
            problem=info.problem,
        )
        self._memory.note(info.id, known)
        self._own_task(asyncio.to_thread(self._memory.store, info.id, known), f"remember the agent {info.id}")
        self._tell(info)

    def _own_task(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_say_failure)

    def _tell(self, info: AgentInfo) -> None:
        if self._told.get(info.id) != info:
            self._told[info.id] = info
            self._bus.publish(AgentChecked(info))

    # -- starting them -----------------------------------------------------------------------------------------------

    async def check(self, agent: str) -> AgentInfo:
        """Start an agent, ask what it is and whether it wants a sign-in, and end it again. Who asks while it is being checked
        gets the same answer."""
        entry = await self._entry(agent)
        running = self._checks.get(entry.id)
        if running is None:
            running = asyncio.create_task(self._check(entry), name=f"check the agent {entry.id}")
            self._checks[entry.id] = running
            running.add_done_callback(lambda done: self._checked(entry.id, done))
        return await asyncio.shield(running)

    def _checked(self, agent: str, done: asyncio.Task[AgentInfo]) -> None:
        self._checks.pop(agent, None)
        _say_failure(done)  # whoever asked may have gone

    async def _check(self, entry: Entry) -> AgentInfo:
        await self._shell_answered(None)
        async with self._serial.hold(entry.id), self._starts:
            try:
                start = await asyncio.to_thread(self._launchable, AgentChoice(name=entry.id))
            except AgentMissing:
                info = await asyncio.to_thread(self._look_at, entry)
                self._tell(info)
                return info
            info = await self._meetings.look(start)
        self.learned(info)
        return info

    async def sign_in(self, agent: str, way: str) -> AgentInfo:
        """Let an agent sign its user in; what it is then."""
        entry = await self._entry(agent)
        start = await self.launchable(AgentChoice(name=entry.id))
        async with self._serial.hold(entry.id):
            info = await self._meetings.sign_in(start, way)
        self.learned(info)
        return info

    async def sessions(self, choice: AgentChoice, workspace: Path) -> Sequence[AgentSession]:
        """The sessions that an agent keeps of a workspace, newest first."""
        return await self._meetings.sessions(await self.launchable(choice), workspace)

    async def close(self) -> None:
        """End what still runs; harmless if nothing does, and twice."""
        started = [*self._checks.values(), *([self._shell] if self._shell is not None else [])]
        for task in started:
            task.cancel()
        await asyncio.gather(*started, *self._tasks, return_exceptions=True)

    # -- the login shell ---------------------------------------------------------------------------------------------

    async def _shell_answered(self, patience_s: float | None) -> None:
        """Wait until the user's shell has said what its PATH is, if it is to be asked at all: a program that a desktop started
        does not know where version managers put things."""
        if not self._ask_shell:
            return
        if self._shell is None:
            self._shell = asyncio.create_task(self._ask(), name="ask the login shell for its PATH")
            self._shell.add_done_callback(_say_failure)
        if not self._shell.done():
            await asyncio.wait({self._shell}, timeout=patience_s)

    async def _ask(self) -> None:
        shell = self._environ.get("SHELL", "")
        self._shell_path = await login_shell_path(shell, child_environment(self._environ), self._home)
        if not self._shell_path:
            _log.info("the login shell did not say its PATH")
        if self._told:
            # The list was given before: tell what it lacked.
            for info in await asyncio.to_thread(self._look):
                self._tell(info)

    # -- in threads --------------------------------------------------------------------------------------------------

    async def _entry(self, agent: str) -> Entry:
        entry = (await asyncio.to_thread(self._read)).find(agent)
        if entry is None:
            raise UnknownAgent(agent, self._registry.ids, self._registry.problem_of(agent, known=False))
        return entry

    def _read(self) -> Registry:
        own: bytes | None = None
        unread: tuple[str, ...] = ()
        try:
            own = self._fs.read_bytes(self._own, limit=registry.OWN_BYTES, follow=True)
        except FileNotFoundError:
            own = None
        except CoreError as error:
            unread = (f"agents.json was not read: {getattr(error, 'reason', error.code)}",)
        agents = registry.read(own)
        agents = replace(agents, problems=(*unread, *agents.problems), of=(*(frozenset[str]() for _ in unread), *agents.of))
        if agents.problems != self._registry.problems:
            for problem in agents.problems:
                _log.info("%s", problem)  # who looks at the list is told
        self._registry = agents
        return agents

    def _path(self) -> SearchPath:
        try:
            workspaces = self._workspaces()
        except CoreError as error:
            _log.info("the workspaces are not known: %s", error.code)
            workspaces = ()
        env = self._environ
        return found.search_path(
            self._shell_path, env.get("PATH", ""), workspaces=workspaces, fs=self._fs, extensions=env.get("PATHEXT", "")
        )

    def _look(self) -> Sequence[AgentInfo]:
        path = self._path()
        infos = [self._info(entry, path) for entry in self._read().entries]
        return sorted(infos, key=lambda info: info.state is AgentState.NOT_INSTALLED)

    def _look_at(self, entry: Entry) -> AgentInfo:
        return self._info(entry, self._path())

    def _info(self, entry: Entry, path: SearchPath) -> AgentInfo:
        info = AgentInfo(
            id=entry.id,
            name=entry.name,
            state=AgentState.NOT_INSTALLED,
            description=entry.description,
            install=entry.install,
            website=entry.website,
            source=entry.source,
            custom=entry.custom,
        )
        command = _first(found.command(words, path, home=self._home) for words in entry.programs)
        if not command:
            return info
        stamp = self._stamps[entry.id] = found.stamp(command[0], self._fs)
        known = self._memory.recall(entry.id, stamp, command)
        if known is None:
            return replace(info, state=AgentState.FOUND, command=command)
        return replace(
            info,
            state=known.state,
            command=command,
            version=known.version,
            sign_in=known.sign_in,
            problem=known.problem,
        )

    def _launchable(self, choice: AgentChoice) -> Launchable:
        agents, path = self._read(), self._path()
        if choice.command:
            entry = agents.of_program(choice.command[0])
            info = self._own_command(choice, entry, path)
        else:
            entry = agents.find(choice.name)
            if entry is None:
                raise UnknownAgent(choice.name, agents.ids, agents.problem_of(choice.name, known=False))
            if problem := agents.problem_of(entry.id, known=True):
                _log.warning("%s", problem)  # what is started is not what its user meant
            info = self._info(entry, path)
            if not info.command:
                raise AgentMissing(entry.name, entry.install)
            if info.state is AgentState.FAILED:
                info = replace(info, state=AgentState.FOUND, problem="")  # the next start may go better
        base = {**self._environ, "PATH": path.child(info.command[0])}
        if entry is None:
            return Launchable(info=info, command=info.command, env=child_environment(base))
        return Launchable(
            info=info,
            command=info.command,
            env=child_environment(base, passing=entry.passed(tuple(base)), extra=entry.env),
            ask_mode=entry.ask_mode,
            asks=entry.asks,
        )

    def _own_command(self, choice: AgentChoice, entry: Entry | None, path: SearchPath) -> AgentInfo:
        """The user's own command. One that runs an agent of the list is asked to ask before it edits, as that one is."""
        command = found.command(choice.command, path, home=self._home)
        name = choice.name or (entry.name if entry is not None else Path(choice.command[0]).name)
        if not command:
            looked_for = name if registry.is_bare(choice.command[0]) else choice.command[0]
            raise AgentMissing(looked_for, entry.install if entry is not None else "")
        return AgentInfo(id="", name=name, state=AgentState.FOUND, command=command, custom=True)


def _say_failure(done: "asyncio.Task[None] | asyncio.Task[AgentInfo]") -> None:
    if not done.cancelled() and (error := done.exception()) is not None and not isinstance(error, CoreError):
        _log.error("%s: failed", done.get_name(), exc_info=error)


def _first(commands: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return next((command for command in commands if command), ())
