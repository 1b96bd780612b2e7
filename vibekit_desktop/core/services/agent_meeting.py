"""Start an agent only to see what it is, and end it again. Loop thread; the process is the link's.

What it is asked to do is never more than to open a session, in a folder with nothing in it, and it is given nothing there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from vibekit_desktop.core.agent import found
from vibekit_desktop.core.agent.launch import Launch, Launchable
from vibekit_desktop.core.agent.link import Greeting, Host, Link
from vibekit_desktop.core.agent.nobody import Nobody
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentNotSignedIn, NotOffered
from vibekit_desktop.core.types.agents import AgentInfo, AgentSession, AgentState, SignInKind

Connect = Callable[[Launch, Host], Link]
_SAID_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long an agent may take, in seconds: to start and open a session, to sign its user in (who has to do something), to
    list its sessions. ``shell_s``: how long the list waits for the login shell; what that finds later is told."""

    check_s: float = 30.0
    sign_in_s: float = 600.0
    sessions_s: float = 60.0
    shell_s: float = 1.0


LIMITS = Limits()


class Meetings:
    """Ways to meet an agent. Invariant: its process is gone when they return, however they do."""

    def __init__(self, fs: Fs, connect: Connect, folders: Path, logs: Path, limits: Limits, load: Callable[[], object]) -> None:
        """``load``: what takes time before the first `connect`; called in a thread."""
        self._fs, self._connect, self._folders, self._logs, self._limits = fs, connect, folders, logs, limits
        self._load = load

    async def look(self, start: Launchable) -> AgentInfo:
        """What it is, and whether it wants a sign-in; one that cannot be started is a state too."""
        info = replace(start.info, state=AgentState.FAILED, problem="")
        folder = await asyncio.to_thread(self._folder, start.info.id)
        await asyncio.to_thread(self._load)
        link = self._connect(start.launch(folder), Nobody())
        try:
            async with asyncio.timeout(self._limits.check_s):
                info = _greeted(info, await link.open())
                return await _with_session(info, link, folder)
        except TimeoutError:
            return replace(info, problem=f"It gave no answer within {self._limits.check_s:g} seconds.")
        except AgentFailed as error:
            return replace(info, problem=await asyncio.to_thread(self._words, start, error))
        finally:
            await link.close()

    async def sign_in(self, start: Launchable, way: str) -> AgentInfo:
        """Let it sign its user in; what it is then. Raises `NotOffered` or `AgentFailed`."""
        name = start.info.name
        folder = await asyncio.to_thread(self._folder, start.info.id)
        await asyncio.to_thread(self._load)
        link = self._connect(start.launch(folder), Nobody())
        try:
            async with _within(self._limits.check_s, name, "handshake"):
                greeting = await link.open()
            chosen = next((one for one in greeting.sign_in if one.id == way), None)
            if chosen is None or chosen.kind is not SignInKind.AGENT:
                raise NotOffered(name, way)
            async with _within(self._limits.sign_in_s, name, "sign-in"):
                await link.sign_in(chosen)
            async with _within(self._limits.check_s, name, "session"):
                return await _with_session(_greeted(replace(start.info, problem=""), greeting), link, folder)
        finally:
            await link.close()

    async def sessions(self, start: Launchable, workspace: Path) -> Sequence[AgentSession]:
        """The sessions that it keeps of a workspace, newest first. Raises `NotOffered` or `AgentFailed`."""
        await asyncio.to_thread(self._load)
        link = self._connect(start.launch(str(workspace)), Nobody())
        try:
            async with _within(self._limits.sessions_s, start.info.name, "session"):
                greeting = await link.open()
                if not greeting.can_list:
                    raise NotOffered(start.info.name, "sessions")
                known = await link.list_sessions(str(workspace))
        finally:
            await link.close()
        return sorted(known, key=lambda one: one.updated_at, reverse=True)

    # -- in threads --------------------------------------------------------------------------------------------------

    def _folder(self, agent: str) -> str:
        """A folder with nothing in it to start an agent in, the same each time: agents remember the folders they were in."""
        folder = self._folders / agent
        self._fs.make_folder(folder)
        return str(folder)

    def _words(self, start: Launchable, error: AgentFailed) -> str:
        """Why it failed, in a few sentences, its own words at the end."""
        match error.reason:
            case "exit":
                how = "" if error.status is None else f" with status {error.status}" if error.status >= 0 else ", killed"
                text = f"It ended by itself{how}; what it wrote is in {self._logs}."
            case "silent":
                text = f"It gave no answer to its {error.step}."
            case "not-acp":
                text = "It does not speak ACP."
            case "version":
                text = "It speaks another version of ACP than this program."
            case "protocol":
                text = f"It does not speak the protocol as it should; what it wrote is in {self._logs}."
            case "flood":
                text = "It sent more than can be read."
            case "said":
                text = f"It could not do its {error.step}."
            case reason:
                text = f"It could not be started: {reason}."
        node = found.node_trouble(start.command[0], error.said, self._fs)
        said = " ".join(error.said.split())
        if node or not said:
            return f"{text} {node}".rstrip()  # what Node.js says then is no help
        return f"{text} It said: {said if len(said) <= _SAID_CHARS else '…' + said[-_SAID_CHARS:]}"


def _greeted(info: AgentInfo, greeting: Greeting) -> AgentInfo:
    return replace(info, version=greeting.version or info.version, sign_in=greeting.sign_in)


async def _with_session(info: AgentInfo, link: Link, folder: str) -> AgentInfo:
    """Whether it opens a session, which is where most agents say that they want a sign-in."""
    try:
        await link.new_session(folder)
    except AgentNotSignedIn as error:
        # Without a way of its own its words are all there is to go by.
        problem = "" if info.sign_in else " ".join(error.said.split())[:_SAID_CHARS]
        return replace(info, state=AgentState.NOT_SIGNED_IN, problem=problem)
    return replace(info, state=AgentState.READY)


@asynccontextmanager
async def _within(limit_s: float, name: str, step: str) -> AsyncIterator[None]:
    """A step that takes longer has failed."""
    try:
        async with asyncio.timeout(limit_s):
            yield
    except TimeoutError as error:
        raise AgentFailed(name, step, "silent") from error
