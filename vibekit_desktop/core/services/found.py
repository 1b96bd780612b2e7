"""The sessions of other programs on this computer, found again cheaply.

Blocking; used in threads. Summaries are remembered by the file's size, mtime and inode, in memory and in a cache file that can
be deleted at any time.
"""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.sources.base import SessionSummary, Source
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.sources import SourceSummary

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FoundSession:
    """One session file of another program."""

    chat: ChatId
    source: Source
    path: Path
    summary: SessionSummary


class _Remembered(msgspec.Struct, frozen=True):
    stamp: str
    summary: SessionSummary | None
    problem: str = ""


class _CacheFile(msgspec.Struct, frozen=True):
    version: int
    sessions: dict[str, _Remembered]


CACHE_VERSION = 1


class Finder:
    """Looks for sessions under one home folder."""

    def __init__(self, fs: Fs, sources: Sequence[Source], home: Path, cache_dir: Path, *, config_dir: Path | None) -> None:
        self.sources = tuple(sources)
        self._config_dir = config_dir
        self._fs = fs
        self._home = home
        self._cache_path = cache_dir / "sessions.json"
        self._guard = threading.Lock()
        self._remembered: dict[str, _Remembered] | None = None
        self._found: dict[ChatId, FoundSession] = {}
        self._problems: dict[str, list[str]] = {}
        self._scanned = False

    def source(self, name: str) -> Source | None:
        """The source called ``name``."""
        return next((source for source in self.sources if source.name == name), None)

    def scan(self) -> list[FoundSession]:
        """Look anew. One unreadable file is remembered as a problem and hides no other."""
        with self._guard:
            before = self._load()
            now: dict[str, _Remembered] = {}
            found: dict[ChatId, FoundSession] = {}
            self._problems = {source.name: [] for source in self.sources}
            for source in self.sources:
                for path in source.find(self._home, config_dir=self._config_dir):
                    remembered = self._summary(source, path, before)
                    if remembered is None:
                        continue
                    now[str(path)] = remembered
                    if remembered.summary is None:
                        self._problems[source.name].append(f"{path.name}: {remembered.problem}")
                        continue
                    chat = remembered.summary.chat_id
                    found[chat] = FoundSession(chat, source, path, remembered.summary)
            self._found = found
            self._scanned = True
            if now != before:
                self._remembered = now
                self._save(now)
            return list(found.values())

    def forget(self) -> None:
        """Throw the remembered summaries away, in memory and on disk."""
        with self._guard:
            self._remembered = {}
            self._scanned = False
            self._fs.remove(self._cache_path)

    def session(self, chat: ChatId) -> FoundSession | None:
        """The session that would become ``chat``."""
        if not self._scanned:
            self.scan()
        return self._found.get(chat)

    def summaries(self) -> list[SourceSummary]:
        """What was found, by program; programs without a history folder are left out."""
        self.scan()
        rows: list[SourceSummary] = []
        for source in self.sources:
            sessions = [one.summary for one in self._found.values() if one.source is source]
            problems = self._problems.get(source.name, [])
            root = source.root(self._home, config_dir=self._config_dir)
            if not sessions and not problems and self._fs.stat(root) is None:
                continue
            rows.append(
                SourceSummary(
                    name=source.name,
                    label=source.label,
                    root=str(root),
                    sessions=len(sessions),
                    folders=len({summary.cwd for summary in sessions}),
                    newest_at=max((summary.updated_at for summary in sessions), default=None),
                    problems=tuple(problems),
                    cleanup=source.cleanup(self._home, config_dir=self._config_dir),
                )
            )
        return rows

    def _summary(self, source: Source, path: Path, before: dict[str, _Remembered]) -> _Remembered | None:
        try:
            stamp = source.stamp(path)
        except (FileNotFoundError, CoreError):
            return None  # gone since it was listed
        remembered = before.get(str(path))
        if remembered is not None and remembered.stamp == stamp:
            return remembered
        try:
            return _Remembered(stamp, source.summarise(path))
        except CoreError as error:
            reason = getattr(error, "reason", error.code)
            return _Remembered(stamp, None, str(reason))

    def _load(self) -> dict[str, _Remembered]:
        if self._remembered is None:
            try:
                cache = msgspec.json.decode(self._fs.read_bytes(self._cache_path, limit=256 << 20), type=_CacheFile)
                self._remembered = cache.sessions if cache.version == CACHE_VERSION else {}
            except (FileNotFoundError, CoreError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self._remembered = {}  # a cache: made again
        return self._remembered

    def _save(self, sessions: dict[str, _Remembered]) -> None:
        try:
            self._fs.make_folder(self._cache_path.parent)
            atomic.replace(self._fs, self._cache_path, msgspec.json.encode(_CacheFile(CACHE_VERSION, sessions)))
        except (CoreError, OSError) as error:
            _log.info("the session cache was not saved: %s", type(error).__name__)
