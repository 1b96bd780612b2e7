"""What the starts of agents showed of them, so that the list knows it before anything is started again.

A cache file: it can be deleted at any time, and what it says of a program counts only while that program is the same file.
Blocking, but for `AgentMemory.note`; any thread.
"""

import logging
import threading
from pathlib import Path

import msgspec

from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.agents import AgentState, SignIn
from vibekit_desktop.core.types.errors import CoreError

_log = logging.getLogger(__name__)
_LIMIT_BYTES = 1 << 20


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an agent. ``stamp`` and ``command``: of the program that showed it."""

    stamp: str
    command: tuple[str, ...]
    state: AgentState
    version: str = ""
    sign_in: tuple[SignIn, ...] = ()
    problem: str = ""


class _File(msgspec.Struct, frozen=True):
    agents: dict[str, Known] = msgspec.field(default_factory=dict)


class AgentMemory:
    """What is known, by the ids of the agents. A failure is known to this process only: the next one may have more luck."""

    def __init__(self, fs: Fs, path: Path) -> None:
        self._fs = fs
        self._path = path
        self._guard = threading.Lock()  # over the file
        self._stored: dict[str, Known] | None = None
        self._noted: dict[str, Known] = {}

    def recall(self, agent: str, stamp: str, command: tuple[str, ...]) -> Known | None:
        """What is known of an agent while its program is this one."""
        found = self._noted.get(agent)
        if found is None:
            with self._guard:
                if self._stored is None:
                    self._stored = self._read()
                found = self._stored.get(agent)
        return found if found is not None and stamp and (found.stamp, found.command) == (stamp, command) else None

    def note(self, agent: str, known: Known) -> None:
        """Remember in this process. Never blocks."""
        self._noted[agent] = known

    def store(self, agent: str, known: Known) -> None:
        """Remember for other processes. Where that cannot be done they will find out by themselves."""
        if known.state is AgentState.FAILED:
            return
        with self._guard:
            stored = {**self._read(), agent: known}  # another process may have learned of others meanwhile
            try:
                self._fs.make_folder(self._path.parent)
                atomic.replace(self._fs, self._path, msgspec.json.encode(_File(stored)))
            except CoreError as error:
                _log.info("what is known of the agents was not stored: %s", error.code)

    def _read(self) -> dict[str, Known]:
        try:
            return dict(msgspec.json.decode(self._fs.read_bytes(self._path, limit=_LIMIT_BYTES), type=_File).agents)
        except (FileNotFoundError, CoreError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return {}
