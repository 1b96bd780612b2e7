"""What an agent asks of us over ACP, put to the `link.Host` and answered in ACP's words.

Loop thread. Each request has a task of its own, which begins in the order of the requests.
"""

import logging
import traceback

from acp import RequestError

from vibekit_desktop.core.agent.acp_frames import (
    OfTerminal,
    PermissionAsked,
    ReadAsked,
    TerminalAsked,
    Unreadable,
    WriteAsked,
)
from vibekit_desktop.core.agent.acp_sessions import Sessions
from vibekit_desktop.core.agent.link import Denied, Host, TerminalExit

_log = logging.getLogger(__name__)

_CODES = {"not-found": -32002, "not-text": -32602, "no-terminal": -32602, "stopped": -32800, "no-turn": -32800}
"""How ACP calls what a `Denied` says: not found, wrong, cancelled; what it has no number for is an internal error."""
_INTERNAL = -32603

Answer = dict[str, object]
_CANCELLED: Answer = {"outcome": {"outcome": "cancelled"}}


class AgentRequests:
    """Answers an agent's requests. Promise: none is done for a session that is not open, or is being told again."""

    def __init__(self, name: str, host: Host, sessions: Sessions) -> None:
        self._name, self._host, self._sessions = name, host, sessions

    async def __call__(self, method: str, params: object, notification: bool) -> Answer:
        """The answer to a request, or a `RequestError`; nothing else, for the SDK would write it into the log."""
        try:
            return await self._answer(method, params)
        except Denied as denied:
            raise RequestError(_CODES.get(denied.code, _INTERNAL), denied.text, {"code": denied.code}) from None
        except RequestError:
            raise
        except Exception as error:
            # Whatever it is, it is ours. Its words may hold what the agent sent, so only its kind and its places are told.
            places = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
            _log.error("a request of %s failed: %s at %s", self._name, type(error).__name__, " ".join(places))
            raise RequestError.internal_error() from None

    async def _answer(self, method: str, params: object) -> Answer:
        match params:
            case PermissionAsked():
                return await self._permission(params)
            case ReadAsked() | WriteAsked() | TerminalAsked() | OfTerminal():
                if self._sessions.telling_again:
                    raise RequestError(_INTERNAL, "The session is being told again; nothing is done meanwhile.")
                self._check(params.session)
                return await self._done(method, params)
            case Unreadable():
                raise RequestError.invalid_params()
            case _ if method == "elicitation/create":
                return {"action": "decline"}
            case _:
                raise RequestError.method_not_found(method[:200])

    def _check(self, session: str) -> None:
        if not self._sessions.has(session):
            raise RequestError(-32602, "There is no such session.")

    async def _permission(self, asked: PermissionAsked) -> Answer:
        if self._sessions.telling_again:
            return _CANCELLED
        self._check(asked.session)
        chosen = await self._host.ask(asked.ask)
        if chosen is None:
            return _CANCELLED
        if chosen not in [option.id for option in asked.ask.options]:
            _log.error("an answer for %s was none of those that it offers", self._name)
            return _CANCELLED
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    async def _done(self, method: str, params: ReadAsked | WriteAsked | TerminalAsked | OfTerminal) -> Answer:
        match params:
            case ReadAsked():
                return {"content": await self._host.read(params.path, params.line, params.limit)}
            case WriteAsked():
                await self._host.write(params.path, params.text)
                return {}
            case TerminalAsked():
                terminal = await self._host.create_terminal(
                    params.command, params.args, params.folder, params.env, params.limit_bytes
                )
                return {"terminalId": terminal}
            case OfTerminal():
                return await self._terminal(method, params.terminal)

    async def _terminal(self, method: str, terminal: str) -> Answer:
        match method:
            case "terminal/output":
                output = await self._host.terminal_output(terminal)
                answer: Answer = {"output": output.text, "truncated": output.truncated}
                return answer if output.exit is None else answer | {"exitStatus": _exit(output.exit)}
            case "terminal/wait_for_exit":
                return _exit(await self._host.wait_for_exit(terminal))
            case "terminal/kill":
                await self._host.kill_terminal(terminal)
            case _:
                await self._host.release_terminal(terminal)
        return {}


def _exit(exit_: TerminalExit) -> Answer:
    return {"exitCode": exit_.code, "signal": exit_.signal}
