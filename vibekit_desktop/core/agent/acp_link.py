"""An agent that speaks ACP 1, over its SDK: the adapter between a process and `link.Link`.

The SDK matches answers with requests; what an agent says and asks is read by `acp_frames`, field by field, because the SDK
drops a whole update for one wrong field, and writes what it cannot read into the log. Importing this costs most of a second
(the SDK), so it is imported when the first agent is started. Loop thread.
"""

import asyncio
import contextlib
import logging
import os
import traceback
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path

from acp import PROTOCOL_VERSION, RequestError
from acp.connection import Connection

from vibekit_desktop import __version__
from vibekit_desktop.core.agent import acp_offers, acp_prompt
from vibekit_desktop.core.agent.acp_errors import error_words, wants_sign_in
from vibekit_desktop.core.agent.acp_frames import Told
from vibekit_desktop.core.agent.acp_json import words
from vibekit_desktop.core.agent.acp_requests import AgentRequests
from vibekit_desktop.core.agent.acp_sessions import Sessions
from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.agent.link import (
    Ended,
    Greeting,
    Host,
    ImagePart,
    LinkEvent,
    OptionsChanged,
    PromptPart,
    Session,
)
from vibekit_desktop.core.agent.process import AgentProcess, ErrorLog
from vibekit_desktop.core.agent.wire import LIMITS, Limits, Wire
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentNotSignedIn, NotOffered
from vibekit_desktop.core.types.agents import AgentOption, AgentSession, OptionKind, SignIn, SignInKind, StopReason
from vibekit_desktop.core.types.errors import BugError

_log = logging.getLogger(__name__)

PAGES = 10
"""Of sessions that are listed."""
LEAVE_S = 1.0
"""An agent that closed its output is given so long to leave by itself."""
BROKEN_S = 0.5
"""One that is not to be borne any longer."""

_NO_METHOD = -32601
_CAPABILITIES = {
    # Files are written through us. They are read without us: an agent cannot make a new file if our answer to its read of the
    # missing one is an error (Gemini CLI).
    "fs": {"readTextFile": False, "writeTextFile": True},
    "terminal": True,
    "auth": {"terminal": True},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an agent may take to answer, in seconds. A prompt has no limit."""

    handshake_s: float = 60.0
    session_s: float = 120.0
    option_s: float = 20.0
    cancel_s: float = 2.0
    """For taking the message; not for ending the turn."""
    sign_in_s: float = 600.0
    """Its user may have to find a password in a browser."""


class AcpLink:
    """One agent's process, and what is said with it. Invariant: every request ends; one to an agent that is gone fails at once.

    `close` is called in the end, also of one that ended by itself."""

    def __init__(
        self,
        launch: Launch,
        host: Host,
        *,
        errors_to: Path | None = None,
        patience: Patience = Patience(),
        limits: Limits = LIMITS,
    ) -> None:
        self._name, self._command, self._host, self._patience = launch.name, launch.command, host, patience
        self._process = AgentProcess(launch, ErrorLog(errors_to))
        self._sessions = Sessions()
        self._requests = AgentRequests(launch.name, host, self._sessions)
        self._wire = Wire(self._process, self._told, self._broke, limits)
        self._connection: Connection | None = None
        self._greeting = Greeting()
        self._cancelled: set[str] = set()
        self._reason = "exit"
        self._end: Ended | None = None
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """The id of the process; None before it was started."""
        return self._process.pid

    # -- its life ----------------------------------------------------------------------------------------------------

    async def open(self) -> Greeting:
        """Start the process and greet it, once; it is ended again if that fails."""
        if self._connection is not None or self._over.is_set():
            raise BugError("a link is opened once")
        try:
            await self._process.start(self._wire)
        except (OSError, ValueError) as error:
            why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
            self._finish(Ended(reason="start"))
            raise AgentFailed(self._name, "start", why) from None
        self._keep(self._watch(), "agent watch")
        self._connection = Connection(self._requests, self._wire)
        try:
            return await self._greet()
        except BaseException:
            await self.close(patience_s=BROKEN_S)
            raise

    async def _greet(self) -> Greeting:
        params: dict[str, object] = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": _CAPABILITIES,
            "clientInfo": {"name": "vibekit-desktop", "title": "VibeKit Desktop", "version": __version__},
        }
        try:
            answer = await self._request("handshake", "initialize", params, self._patience.handshake_s)
        except AgentFailed as error:
            # It wrote other things, or did what it does and was done: it is another kind of program.
            if error.reason in ("protocol", "flood") or (error.reason == "exit" and error.status == 0):
                raise self._no_agent() from None
            raise
        version = answer.get("protocolVersion") if isinstance(answer, dict) else None
        if type(version) is not int:
            raise self._no_agent()
        if version != PROTOCOL_VERSION:
            raise AgentFailed(self._name, "handshake", "version")
        self._greeting = acp_offers.greeting(answer, self._command)
        return self._greeting

    def _no_agent(self) -> AgentFailed:
        lines = self._process.errors.said.splitlines()
        return AgentFailed(self._name, "handshake", "not-acp", said=lines[-1] if lines else "")

    async def ended(self) -> Ended:
        """Wait until the process is gone. Cancelling the wait harms nothing."""
        await self._over.wait()
        return self._end or Ended(reason=self._reason)

    async def close(self, *, patience_s: float = 2.0) -> Ended:
        """End the process and everything it started, kindly first; twice is harmless."""
        if self._reason == "exit" and not self._over.is_set():
            self._reason = "closed"
        if self._connection is not None:
            await self._connection.close()
        await self._process.end(patience_s)
        if self._process.pid is None:
            self._finish(Ended(reason="closed"))
        return await self.ended()

    async def _watch(self) -> None:
        """Notice the end of the process, and end one that does not speak any more."""
        exited = asyncio.ensure_future(self._process.exited())
        closed = asyncio.ensure_future(self._process.output_closed())
        try:
            await asyncio.wait({exited, closed}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({exited}, timeout=LEAVE_S)
            if not exited.done():
                self._broke("protocol")
            status = await exited
        finally:
            closed.cancel()
            exited.cancel()
        self._finish(Ended(reason=self._reason, status=status, said=self._process.errors.said))

    def _finish(self, end: Ended) -> None:
        if self._end is None:
            self._end = end
        self._over.set()

    def _broke(self, reason: str) -> None:
        """It is not to be borne any longer."""
        if self._reason == "exit":
            self._reason = reason
        self._keep(self._process.end(BROKEN_S), "agent end")

    def _keep(self, work: Coroutine[object, object, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _told(self, told: Told) -> None:
        event = self._sessions.told(told)
        if event is not None:
            self._hand_on(event)

    def _hand_on(self, event: LinkEvent) -> None:
        try:
            self._host.event(event)
        except Exception as error:
            # It would end the connection, and the SDK would write what the agent said into the log.
            places = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
            _log.error("something said by %s was not taken: %s at %s", self._name, type(error).__name__, " ".join(places))

    # -- sessions ----------------------------------------------------------------------------------------------------

    async def new_session(self, folder: str) -> Session:
        """Begin a session."""
        return await self._enter("session/new", "", {"cwd": folder, "mcpServers": []})

    async def load_session(self, session: str, folder: str) -> Session:
        """Go on with a session; the agent tells it again first. `NotOffered` where it can't."""
        self._check(self._greeting.can_load, "load")
        params: dict[str, object] = {"sessionId": session, "cwd": folder, "mcpServers": []}
        return await self._enter("session/load", session, params, replayed=True)

    async def resume_session(self, session: str, folder: str) -> Session:
        """Go on with a session that is not told again. `NotOffered` where it can't."""
        self._check(self._greeting.can_resume, "resume")
        return await self._enter("session/resume", session, {"sessionId": session, "cwd": folder, "mcpServers": []})

    async def fork_session(self, session: str, folder: str) -> Session:
        """A new session that knows what another one knows. `NotOffered` where it can't."""
        self._check(self._greeting.can_fork, "fork")
        return await self._enter("session/fork", "", {"sessionId": session, "cwd": folder, "mcpServers": []})

    async def _enter(self, method: str, session: str, params: dict[str, object], *, replayed: bool = False) -> Session:
        self._sessions.begin(session, keeps_talk=replayed)
        try:
            answer = await self._request("session", method, params, self._patience.session_s)
            session = session or words(answer, "sessionId")
            if not session:
                raise AgentFailed(self._name, "session", "protocol")
        except BaseException:
            self._sessions.abandon()
            raise
        told = self._sessions.opened(session, answer)
        options = self._sessions.options(session)
        if not replayed:
            for event in told:
                self._hand_on(event)
        return Session(id=session, options=options.all() if options else (), replayed=told if replayed else ())

    async def list_sessions(self, folder: str) -> Sequence[AgentSession]:
        """The sessions of a folder, newest first. `NotOffered` where it can't."""
        self._check(self._greeting.can_list, "list")
        found: dict[str, AgentSession] = {}
        cursor = ""
        for _ in range(PAGES):
            params: dict[str, object] = {"cwd": folder, **({"cursor": cursor} if cursor else {})}
            answer = await self._request("session", "session/list", params, self._patience.session_s)
            page, cursor = acp_offers.listed_sessions(answer)
            found.update((one.id, one) for one in page)
            if not cursor:
                break
        # Not every agent heeds the folder.
        here = await asyncio.to_thread(_in_folder, folder, tuple(found.values()))
        return sorted(here, key=lambda one: -one.updated_at)

    # -- turns -------------------------------------------------------------------------------------------------------

    async def prompt(self, session: str, parts: Sequence[PromptPart]) -> StopReason:
        """Say something and wait for the end of the turn; everything it said in it was given to `Host.event` before. An error
        after a `cancel` is its way to say that it stopped."""
        if not self._greeting.takes_images and any(isinstance(part, ImagePart) for part in parts):
            raise NotOffered(self._name, "image")
        self._cancelled.discard(session)
        blocks = await asyncio.to_thread(acp_prompt.blocks, parts, takes_files=self._greeting.takes_files)
        if session in self._cancelled:
            return StopReason.CANCELLED
        try:
            answer = await self._request("prompt", "session/prompt", {"sessionId": session, "prompt": blocks}, None)
            reason = acp_offers.stop_reason(answer)
            if reason is None:
                raise AgentFailed(self._name, "prompt", "protocol")
        except (AgentFailed, AgentNotSignedIn):
            if session in self._cancelled:
                return StopReason.CANCELLED
            raise
        return reason

    async def cancel(self, session: str) -> None:
        """Ask it to stop the turn; the prompt ends by itself then, or it does not. Never fails: of an agent that is gone the
        prompt ends anyhow."""
        self._cancelled.add(session)
        if self._connection is not None:
            with contextlib.suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(self._patience.cancel_s):
                    await self._connection.send_notification("session/cancel", {"sessionId": session})

    # -- what can be chosen ------------------------------------------------------------------------------------------

    async def set_option(self, session: str, option: AgentOption, value: str) -> None:
        """Choose something; an `OptionsChanged` follows. `NotOffered` for an option or a value that there is not."""
        options = self._sessions.options(session)
        offered = None if options is None else next((one for one in options.all() if one.id == option.id), None)
        if options is None or offered is None:
            raise NotOffered(self._name, option.id)
        values = [choice.id for choice in offered.choices] or ["true", "false"]
        if value not in values:
            raise NotOffered(self._name, value)
        params: dict[str, object] = {"sessionId": session}
        if any(one.id == option.id for one in options.config):
            method = "session/set_config_option"
            params |= {"configId": option.id, "value": value}
            if not offered.choices:
                params |= {"type": "boolean", "value": value == "true"}
        elif offered.kind is OptionKind.MODE:
            method, params["modeId"] = "session/set_mode", value
        else:
            # The SDK has it no more, some agents have nothing else.
            method, params["modelId"] = "session/set_model", value
        answer = await self._request("option", method, params, self._patience.option_s)
        options.chosen(option.id, value)
        options.take(answer)
        self._hand_on(OptionsChanged(options.all()))

    async def sign_in(self, way: SignIn) -> None:
        """Let it sign its user in; `NotOffered` for a way that is not the agent's own doing."""
        self._check(way.kind is SignInKind.AGENT, way.name)
        await self._request("sign-in", "authenticate", {"methodId": way.id}, self._patience.sign_in_s)

    # -- requests ----------------------------------------------------------------------------------------------------

    def _check(self, offered: bool, what: str) -> None:
        if not offered:
            raise NotOffered(self._name, what)

    async def _request(self, step: str, method: str, params: dict[str, object], limit_s: float | None) -> object:
        if self._connection is None:
            raise AgentFailed(self._name, step, "closed")
        try:
            async with asyncio.timeout(limit_s):
                answer: object = await self._connection.send_request(method, params)
                return answer
        except TimeoutError:
            raise AgentFailed(self._name, step, "silent") from None
        except RequestError as error:
            raise self._refused(step, error) from None
        except ConnectionError:
            end = await self.ended()
            raise AgentFailed(self._name, step, end.reason, said=end.said, status=end.status) from None

    def _refused(self, step: str, error: RequestError) -> AgentFailed | AgentNotSignedIn:
        if step == "handshake" and error.code == _NO_METHOD:
            return self._no_agent()  # it may be our own words, come back
        data: object = error.data
        said = error_words(str(error), data)
        if not wants_sign_in(error.code, said):
            return AgentFailed(self._name, step, "said", said=said)
        ways = acp_offers.sign_ins(data, self._command) or self._greeting.sign_in
        return AgentNotSignedIn(self._name, [way.name for way in ways], said)


def _in_folder(folder: str, sessions: Sequence[AgentSession]) -> list[AgentSession]:
    """Those of a folder, however it is spelled; also those that do not say where they are."""
    fs = Fs()
    real = fs.realpath(folder)
    return [one for one in sessions if not one.workspace or real == fs.realpath(one.workspace)]
