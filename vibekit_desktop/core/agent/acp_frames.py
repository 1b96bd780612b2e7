"""From a line of an agent's to what it is: something said, something asked, an answer, or nothing that is for us.

Read in steps, each only as deep as it is needed: a large message costs what of it is used. Pure; any thread. Nothing here
raises, whatever the line holds.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

import msgspec

from vibekit_desktop.core.agent.acp_json import ABSENT, number, small, text_of, words
from vibekit_desktop.core.agent.acp_offers import config_options
from vibekit_desktop.core.agent.acp_values import ToolJson, ask_of, event_of, tool_of
from vibekit_desktop.core.agent.link import Ask, LinkEvent
from vibekit_desktop.core.types.agents import AgentOption

RESULT_BYTES = 8 << 20
"""Of the answer to one of our requests; a larger one is as if it were empty."""


@dataclass(frozen=True, slots=True)
class ModeTold:
    """The mode is another now."""

    mode: str


@dataclass(frozen=True, slots=True)
class ConfigTold:
    """The options that an agent tells in one list are others now."""

    options: tuple[AgentOption, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """Something said in a session."""

    session: str
    what: LinkEvent | ModeTold | ConfigTold


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """A tool call waits to be allowed."""

    session: str
    ask: Ask


@dataclass(frozen=True, slots=True)
class ReadAsked:
    """A file, or some lines of it, is to be read through us."""

    session: str
    path: str
    line: int | None
    limit: int | None


@dataclass(frozen=True, slots=True)
class WriteAsked:
    """A file is to be written by us; the text is exactly as it came."""

    session: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class TerminalAsked:
    """A command is to be run in a terminal of ours. ``folder``: None for the session's own."""

    session: str
    command: str
    args: tuple[str, ...]
    folder: str | None
    env: tuple[tuple[str, str], ...]
    limit_bytes: int | None


@dataclass(frozen=True, slots=True)
class OfTerminal:
    """A request about a terminal that there is."""

    session: str
    terminal: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A request for something that exists, without what it needs."""


Params = PermissionAsked | ReadAsked | WriteAsked | TerminalAsked | OfTerminal | Unreadable


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. ``params``: None for a method that there is none of."""

    id: int | str
    method: str
    params: Params | None


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request of ours: a result, or an error as its code, message and data."""

    id: int
    result: object = None
    error: tuple[int, str, object] | None = None


class Skipped(Enum):
    """A line that is nothing to us."""

    NO_MESSAGE = auto()
    """It is no JSON object."""
    NOT_OURS = auto()
    """A message that we know nothing of."""


Frame = Told | Asked | Answered | Skipped


class _Envelope(msgspec.Struct):
    id: msgspec.Raw = ABSENT
    method: msgspec.Raw = ABSENT
    params: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT
    error: msgspec.Raw = ABSENT


class _Params(msgspec.Struct, rename="camel"):
    session_id: msgspec.Raw = ABSENT
    update: msgspec.Raw = ABSENT
    tool_call: msgspec.Raw = ABSENT
    options: msgspec.Raw = ABSENT
    path: msgspec.Raw = ABSENT
    content: msgspec.Raw = ABSENT
    line: msgspec.Raw = ABSENT
    limit: msgspec.Raw = ABSENT
    command: msgspec.Raw = ABSENT
    args: msgspec.Raw = ABSENT
    cwd: msgspec.Raw = ABSENT
    env: msgspec.Raw = ABSENT
    output_byte_limit: msgspec.Raw = ABSENT
    terminal_id: msgspec.Raw = ABSENT


class _Kind(msgspec.Struct, rename="camel"):
    session_update: msgspec.Raw = ABSENT


_envelope = msgspec.json.Decoder(_Envelope)
_params = msgspec.json.Decoder(_Params)
_kind = msgspec.json.Decoder(_Kind)
_tool = msgspec.json.Decoder(ToolJson)
_PROBLEMS = (msgspec.DecodeError, RecursionError)
# One escape after the other, so that a backslash of a text is never taken for one; the group is half a character.
_HALF = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def read(line: bytes | bytearray) -> Frame:
    """What a line is."""
    whole = True
    try:
        message = _envelope.decode(line)
    except RecursionError:
        return Skipped.NO_MESSAGE
    except msgspec.DecodeError:
        # Agents that count in halves of characters cut a text in the middle of one; the rest of it is fine.
        if b"\\u" not in line:
            return Skipped.NO_MESSAGE
        whole = False
        try:
            message = _envelope.decode(_HALF.sub(lambda found: rb"\ufffd" if found[1] else found[0], line))
        except _PROBLEMS:
            return Skipped.NO_MESSAGE
    method, id_ = text_of(message.method), small(message.id, 1024)
    if method is None:
        return _answer(message, id_)
    if not bytes(message.id):
        return _told(message.params) if method == "session/update" else Skipped.NOT_OURS
    if not isinstance(id_, int | str) or isinstance(id_, bool):
        return Skipped.NOT_OURS
    reader = _READERS.get(method)
    if reader is None:
        return Asked(id_, method, None)
    try:
        params = reader(_params.decode(message.params))
    except _PROBLEMS:
        params = None
    if params is None or (isinstance(params, WriteAsked) and not whole):
        return Asked(id_, method, Unreadable())  # a file is never written with a text that was mended here
    return Asked(id_, method, params)


def _answer(message: _Envelope, id_: object) -> Frame:
    if not isinstance(id_, int) or isinstance(id_, bool) or bytes(message.method):
        return Skipped.NOT_OURS
    if bytes(message.error) in (b"", b"null"):
        return Answered(id_, small(message.result, RESULT_BYTES))
    error = small(message.error)
    code = error.get("code") if isinstance(error, dict) else None
    data = error.get("data") if isinstance(error, dict) else None
    return Answered(id_, error=(code if isinstance(code, int) else 0, words(error, "message"), data))


def _told(raw: msgspec.Raw) -> Frame:
    try:
        params = _params.decode(raw)
        kind = text_of(_kind.decode(params.update).session_update)
    except _PROBLEMS:
        return Skipped.NOT_OURS
    session = text_of(params.session_id)
    if not session or not kind:
        return Skipped.NOT_OURS
    what: LinkEvent | ModeTold | ConfigTold | None
    match kind:
        case "current_mode_update":
            mode = words(small(params.update), "currentModeId")
            what = ModeTold(mode) if mode else None
        case "config_option_update":
            options = config_options(small(params.update))
            what = None if options is None else ConfigTold(options)
        case _:
            what = event_of(kind, params.update)
    return Skipped.NOT_OURS if what is None else Told(session, what)


# -- the requests: None if they lack what they need ------------------------------------------------------------------


def _permission(params: _Params) -> Params | None:
    tool, session = tool_of(_tool.decode(params.tool_call)), text_of(params.session_id)
    return None if tool is None or not session else PermissionAsked(session, ask_of(tool, small(params.options)))


def _read(params: _Params) -> Params | None:
    session, path = text_of(params.session_id), text_of(params.path)
    return ReadAsked(session, path, _count(params.line), _count(params.limit)) if session and path else None


def _write(params: _Params) -> Params | None:
    session, path, content = text_of(params.session_id), text_of(params.path), _exact(params.content)
    return WriteAsked(session, path, content) if session and path and content is not None else None


def _exact(raw: msgspec.Raw) -> str | None:
    """A text that becomes a file: one with bytes that are none is not repaired."""
    value = small(raw, limit=len(bytes(raw)))
    return value if isinstance(value, str) else None


def _terminal(params: _Params) -> Params | None:
    session, command = text_of(params.session_id), text_of(params.command)
    args, env, cwd = small(params.args), small(params.env), small(params.cwd)
    if not session or not command or not isinstance(args, list | None) or not isinstance(env, list | None):
        return None
    if not isinstance(cwd, str | None) or not all(isinstance(word, str) for word in args or ()):
        return None
    pairs = tuple((words(pair, "name"), words(pair, "value")) for pair in env or ())
    if any(not name or "=" in name for name, _ in pairs):
        return None
    return TerminalAsked(session, command, tuple(args or ()), cwd or None, pairs, _count(params.output_byte_limit))


def _of_terminal(params: _Params) -> Params | None:
    session, terminal = text_of(params.session_id), text_of(params.terminal_id)
    return OfTerminal(session, terminal) if session and terminal else None


def _count(raw: msgspec.Raw) -> int | None:
    value = small(raw, 1024)
    return None if value is None else number({"value": value}, "value")


_READERS: dict[str, Callable[[_Params], Params | None]] = {
    "session/request_permission": _permission,
    "fs/read_text_file": _read,
    "fs/write_text_file": _write,
    "terminal/create": _terminal,
    "terminal/output": _of_terminal,
    "terminal/wait_for_exit": _of_terminal,
    "terminal/kill": _of_terminal,
    "terminal/release": _of_terminal,
}
