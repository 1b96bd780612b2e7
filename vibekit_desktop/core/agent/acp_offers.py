"""From ACP's answers to what an agent is and offers: options, ways to sign in, sessions, the ends of turns.

Pure; any thread. Nothing here raises, whatever the JSON holds.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from vibekit_desktop.core.agent.acp_json import MOST, Json, entries, under, words
from vibekit_desktop.core.agent.link import Greeting
from vibekit_desktop.core.types.agents import AgentOption, AgentSession, Choice, OptionKind, SignIn, SignInKind, StopReason

MODE_ID, MODEL_ID = "mode", "model"
"""What the options are called that an agent tells as lists of their own."""
_KINDS = {"mode": OptionKind.MODE, "model": OptionKind.MODEL, "thought_level": OptionKind.THOUGHT}


def config_options(of: object) -> tuple[AgentOption, ...] | None:
    """The options of an answer or an update; None if it has none."""
    if not isinstance(of, dict) or not isinstance(of.get("configOptions"), list):
        return None
    return tuple(option for entry in entries(of, "configOptions") if (option := _option(entry)) is not None)


def _option(entry: Json) -> AgentOption | None:
    value, kind = entry.get("currentValue"), words(entry, "type")
    choices: tuple[Choice, ...] = ()
    if kind == "boolean" and isinstance(value, bool):
        value = "true" if value else "false"
    elif kind in ("select", "") and isinstance(value, str):
        choices = tuple(_choices(entry))
    if not words(entry, "id") or not isinstance(value, str) or (kind != "boolean" and not choices):
        return None
    return AgentOption(
        id=words(entry, "id"),
        name=words(entry, "name") or words(entry, "id"),
        kind=_KINDS.get(words(entry, "category"), OptionKind.OTHER),
        value=value,
        choices=choices,
        description=words(entry, "description"),
    )


def _choices(entry: Json) -> Iterator[Choice]:
    for listed in entries(entry, "options"):
        if "group" in listed:
            yield from _choices(listed)
        elif "value" in listed and (id_ := words(listed, "value")):
            yield Choice(id_, words(listed, "name") or id_, words(listed, "description"))


def mode_option(of: object) -> AgentOption | None:
    """The modes of a session as an option."""
    return _listed(under(of, "modes"), "availableModes", "id", "currentModeId", MODE_ID, "Mode", OptionKind.MODE)


def model_option(of: object) -> AgentOption | None:
    """The models of a session, which some agents tell as a list of their own."""
    return _listed(under(of, "models"), "availableModels", "modelId", "currentModelId", MODEL_ID, "Model", OptionKind.MODEL)


def _listed(of: Json, listed: str, id_: str, current: str, option: str, name: str, kind: OptionKind) -> AgentOption | None:
    choices = tuple(
        Choice(words(entry, id_), words(entry, "name") or words(entry, id_), words(entry, "description"))
        for entry in entries(of, listed)
        if words(entry, id_)
    )
    if not choices:
        return None
    return AgentOption(id=option, name=name, kind=kind, value=words(of, current), choices=choices)


def greeting(of: object, command: Sequence[str]) -> Greeting:
    """What it answered to ``initialize``; ``command`` is how it was started."""
    able, info = under(of, "agentCapabilities"), under(of, "agentInfo")
    prompt, sessions = under(able, "promptCapabilities"), under(able, "sessionCapabilities")
    # Of a session an agent can what it names, with an object or ``true``.
    can = {name for name, value in sessions.items() if value is True or isinstance(value, dict)}
    return Greeting(
        name=words(info, "name"),
        title=words(info, "title"),
        version=words(info, "version"),
        can_load=able.get("loadSession") is True,
        can_resume="resume" in can,
        can_list="list" in can,
        can_fork="fork" in can,
        can_close="close" in can,
        takes_images=prompt.get("image") is True,
        takes_files=prompt.get("embeddedContext") is True,
        sign_in=sign_ins(of, command),
    )


def sign_ins(of: object, command: Sequence[str]) -> tuple[SignIn, ...]:
    """The ways to sign in that an answer, or the data of an error, tells."""
    return tuple(way for entry in entries(of, "authMethods") if (way := _sign_in(entry, command)) is not None)


def _sign_in(entry: Json, command: Sequence[str]) -> SignIn | None:
    id_, description = words(entry, "id"), words(entry, "description")
    name = words(entry, "name") or id_
    if not id_:
        return None
    if words(entry, "type") == "env_var":
        variables = tuple(words(variable, "name") for variable in entries(entry, "vars") if words(variable, "name"))
        return SignIn(id=id_, name=name, description=description, kind=SignInKind.ENV, variables=variables)
    # Agents older than the type of the method say it in their notes, with a program of their own.
    noted = under(under(entry, "_meta"), "terminal-auth")
    if words(entry, "type") == "terminal":
        env = tuple(f"{key}={value}" for key, value in under(entry, "env").items() if isinstance(value, str))
        run = (*(("env", *env) if env else ()), *command, *_arguments(entry))
    elif words(noted, "command"):
        run = (words(noted, "command"), *_arguments(noted))
    else:
        return SignIn(id=id_, name=name, description=description)
    return SignIn(id=id_, name=name, description=description, kind=SignInKind.TERMINAL, command=run)


def _arguments(of: Json) -> tuple[str, ...]:
    value = of.get("args")
    return tuple(word for word in value[:MOST] if isinstance(word, str)) if isinstance(value, list) else ()


def listed_sessions(of: object) -> tuple[tuple[AgentSession, ...], str]:
    """A page of sessions, and where the next one begins; empty for none."""
    found = tuple(
        AgentSession(
            id=words(entry, "sessionId"), title=words(entry, "title"), workspace=words(entry, "cwd"), updated_at=_when(entry)
        )
        for entry in entries(of, "sessions")
        if words(entry, "sessionId")
    )
    return found, words(of, "nextCursor")


def _when(entry: Json) -> int:
    try:
        when = datetime.fromisoformat(words(entry, "updatedAt"))
        return max(0, int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000))
    except (ValueError, OverflowError):
        return 0


def stop_reason(of: object) -> StopReason | None:
    """Why a turn ended; a word that we do not know is an end like any other. None if it is not said."""
    said = words(of, "stopReason")
    if not said:
        return None
    known = (StopReason.MAX_TOKENS, StopReason.MAX_REQUESTS, StopReason.REFUSAL, StopReason.CANCELLED)
    return next((reason for reason in known if reason == said), StopReason.END)
