"""The list of agents: the one that comes with the program, and what the user's own ``agents.json`` changes of it.

Both have the shape of the agent registry; beside it every agent has a key of ours, ``desktop``, that says how it is found and
started. An own agent with the id of one of the list is put over it, key by key. One bad agent hides no other: it is left out
and told. Reads what it is given; any thread.
"""

import fnmatch
import os
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import msgspec

from vibekit_desktop.core.types.errors import BugError

OWN_BYTES = 1 << 20
"""What an own list may be long."""
_MODELS = "@models"
_SYSTEMS = {"linux": "linux-", "darwin": "darwin-", "win32": "windows-"}

_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
_Words = tuple[_Word, ...]
_Command = Annotated[_Words, msgspec.Meta(min_length=1)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
_Variable = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Pattern = Annotated[str, msgspec.Meta(pattern=r"^(@models|[A-Za-z_*][A-Za-z0-9_*]*)$")]
_Variables = dict[_Variable, Annotated[str, msgspec.Meta(pattern=r"^[^\x00]*$")]]


class _Package(msgspec.Struct, frozen=True):
    package: _Word
    args: _Words = ()
    env: _Variables = msgspec.field(default_factory=dict)


class _Archive(msgspec.Struct, frozen=True):
    cmd: _Word
    args: _Words = ()
    env: _Variables = msgspec.field(default_factory=dict)


class _Distribution(msgspec.Struct, frozen=True):
    npx: _Package | None = None
    uvx: _Package | None = None
    binary: dict[str, _Archive] = msgspec.field(default_factory=dict)


class _Desktop(msgspec.Struct, frozen=True):
    programs: tuple[_Command, ...] = ()
    aliases: tuple[_Name, ...] = ()
    ask_mode: str = ""
    ask_env: _Variables = msgspec.field(default_factory=dict)
    env: _Variables = msgspec.field(default_factory=dict)
    pass_env: tuple[_Pattern, ...] = ()
    install: str = ""
    source: str = ""


class _Agent(msgspec.Struct, frozen=True):
    id: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]
    name: _Name = ""
    description: str = ""
    repository: str = ""
    website: str = ""
    distribution: _Distribution = _Distribution()
    desktop: _Desktop = _Desktop()


class _File(msgspec.Struct, frozen=True):
    agents: tuple[msgspec.Raw, ...] = ()
    models: tuple[_Pattern, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One agent as it is to be looked for and started.

    ``programs``: the commands that may start it, in order, the program first: a bare name, or an absolute path. ``env`` is set,
    ``passing`` are patterns of the names of the user's variables that it is given beside the general ones."""

    id: str
    name: str
    programs: tuple[tuple[str, ...], ...]
    description: str = ""
    website: str = ""
    install: str = ""
    aliases: tuple[str, ...] = ()
    ask_mode: str = ""
    asks: bool = False
    """Its environment makes it ask before it edits."""
    env: Mapping[str, str]
    passing: tuple[str, ...] = ()
    source: str = ""
    custom: bool = False

    def passed(self, names: Sequence[str]) -> list[str]:
        """Which of these variables it is given."""
        return [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.passing)]


@dataclass(frozen=True, slots=True)
class Registry:
    """The agents, those of the list first. ``problems``: what was left out of the user's own list and why, a sentence each;
    ``of``: which agent each is about, as far as its entry says that, in small letters."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...] = ()
    of: tuple[frozenset[str], ...] = ()

    def problem_of(self, text: str, *, known: bool) -> str:
        """What is wrong with the entry of an agent that somebody names; of one that is not ``known`` also what kept the whole
        list from being read. Empty if nothing is."""
        wanted = text.strip().casefold()
        found = (problem for problem, of in zip(self.problems, self.of, strict=True) if wanted in of or not (of or known))
        return next(found, "")

    def find(self, text: str) -> Entry | None:
        """An agent by its id, its name or another name people use for it; upper and lower case are the same."""
        wanted = text.strip().casefold()
        if not wanted:
            return None
        for entry in self.entries:
            if entry.id == wanted:
                return entry
        for entry in self.entries:
            if wanted in (entry.name.casefold(), *(alias.casefold() for alias in entry.aliases)):
                return entry
        return None

    def of_source(self, source: str) -> Entry | None:
        """The agent whose history a source keeps."""
        return next((entry for entry in self.entries if source and entry.source == source), None)

    def of_program(self, program: str) -> Entry | None:
        """The agent of the list that a program is, by the name of its file: a command of the user's own may run it too."""
        agent = _programs().get(_bare(program))
        return None if agent is None else self.find(agent)

    @property
    def ids(self) -> tuple[str, ...]:
        """What agents can be called."""
        return tuple(entry.id for entry in self.entries)


_NO_NAME = frozenset({""})
"""Of an entry that does not even say what it is called: it is about no agent that anybody can name."""


def read(own: bytes | None = None) -> Registry:
    """The list that comes with the program, and ``own``, the content of the user's file, over it."""
    shipped, models = _shipped()
    if own is None:
        return Registry(tuple(_entry(raw, models) for raw in shipped.values()))
    merged = dict(shipped)
    problems: list[str] = []
    given = _own(own, problems)
    of = [frozenset[str]()] * len(problems)
    for number, raw in enumerate(given.agents, 1):
        said: dict[str, object] = {}
        try:
            said = msgspec.json.decode(raw, type=dict[str, object])
            over = _over(merged.get(str(said.get("id"))), said)
            entry = _entry(over, (*models, *given.models))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError, ValueError) as error:
            problems.append(f"agent {number} of agents.json was left out: {error}")
            of.append(frozenset(str(said[key]).casefold() for key in ("id", "name") if key in said) or _NO_NAME)
            continue
        merged[entry.id] = over
    entries = [_entry(raw, (*models, *given.models), custom=key not in shipped) for key, raw in merged.items()]
    return Registry(tuple(entries), tuple(problems), tuple(of))


@cache
def _shipped() -> tuple[dict[str, dict[str, object]], tuple[str, ...]]:
    data = pkgutil.get_data("vibekit_desktop.core.agent", "agents.json")
    if data is None:
        raise BugError("the list of agents is not part of the program")
    file = msgspec.json.decode(data, type=_File)
    agents = [msgspec.json.decode(raw, type=dict[str, object]) for raw in file.agents]
    return {str(agent["id"]): agent for agent in agents}, file.models


@cache
def _programs() -> Mapping[str, str]:
    """The agents of the list by the names of their programs."""
    shipped, models = _shipped()
    entries = [_entry(raw, models) for raw in shipped.values()]
    return {_bare(words[0]): entry.id for entry in entries for words in entry.programs}


def _own(data: bytes, problems: list[str]) -> _File:
    try:
        return msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problems.append(f"agents.json was not read: {error}")
        return _File()


def _over(shipped: dict[str, object] | None, own: dict[str, object]) -> dict[str, object]:
    """An own agent over one of the list: what it does not say stays, inside ``desktop`` too."""
    if shipped is None:
        return own
    ours, theirs = shipped.get("desktop"), own.get("desktop")
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {**shipped, **own, "desktop": {**ours, **theirs}}
    return {**shipped, **own}


def _entry(raw: dict[str, object], models: Sequence[str], *, custom: bool = False) -> Entry:
    """What is said of an agent as an `Entry`; `ValidationError` or `ValueError` if it cannot be one."""
    agent = msgspec.convert(raw, type=_Agent)
    desktop = agent.desktop
    programs, env = (desktop.programs, {}) if desktop.programs else _distributed(agent.distribution)
    if not programs:
        raise ValueError(f"{agent.id} has no `programs`: nobody knows how to start it")
    for words in programs:
        _check_program(agent.id, words[0])
    passing: list[str] = []
    for pattern in desktop.pass_env:
        passing += models if pattern == _MODELS else [pattern]
    return Entry(
        id=agent.id,
        name=agent.name or agent.id,
        programs=programs,
        description=agent.description,
        website=agent.website or agent.repository,
        install=desktop.install,
        aliases=desktop.aliases,
        ask_mode=desktop.ask_mode,
        asks=bool(desktop.ask_env),
        env={**env, **desktop.env, **desktop.ask_env},
        passing=tuple(dict.fromkeys(passing)),
        source=desktop.source,
        custom=custom,
    )


def _check_program(agent: str, program: str) -> None:
    # A relative path would mean another program in every folder.
    if not is_bare(program) and not os.path.isabs(program) and not program.startswith("~/"):
        raise ValueError(f"{agent} has a program that is neither a name nor an absolute path")


def is_bare(program: str) -> bool:
    """Whether this is only a name, to be looked for on the PATH."""
    return os.path.basename(program) == program and program not in ("", ".", "..") and not os.path.splitdrive(program)[0]


def _distributed(given: _Distribution) -> tuple[tuple[tuple[str, ...], ...], dict[str, str]]:
    """How an entry of the registry is started that says nothing else: the runner of its packages, or its program by name."""
    if given.npx is not None:
        return (("npx", "-y", given.npx.package, *given.npx.args),), dict(given.npx.env)
    if given.uvx is not None:
        return (("uvx", given.uvx.package, *given.uvx.args),), dict(given.uvx.env)
    system = _SYSTEMS.get(sys.platform, "linux-")
    for key, archive in sorted(given.binary.items()):
        if key.startswith(system):
            name, *args = archive.cmd.split()
            return ((name.replace("\\", "/").rpartition("/")[2], *args, *archive.args),), dict(archive.env)
    return (), {}


def _bare(program: str) -> str:
    name = program.replace("\\", "/").rpartition("/")[2].casefold()
    return name.removesuffix(".cmd").removesuffix(".exe").removesuffix(".bat")
