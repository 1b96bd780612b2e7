"""The event logs and blobs of one vault, as they are on disk now.

Reading takes no lock and folds in what others appended: a log is read again when its size, time or inode changed. Writing
wants the vault's lock, which the caller holds. A log that is damaged in the middle is read around and never written. Blocking.
"""

import secrets
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import BlobStore
from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.checkpoint.memory import Memory
from vibekit_desktop.core.disk import atomic, faults, journal
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, CannotRead, CannotWrite, InvalidId, LogDamaged
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

_TOKEN_BYTES = 200
_SEQ_DIGITS = 19

_EMPTY = LogContents()
_UNREADABLE = LogContents(damaged=(log.WHOLE_LOG,))


class VaultStore:
    """One vault's logs, blobs and token. Invariant: what `append` returned from is durable and in its place."""

    def __init__(self, fs: Fs, folder: Path, *, clock: Callable[[], int]) -> None:
        self._fs = fs
        self.folder = folder
        self.blobs = BlobStore(fs, folder)
        self._clock = clock
        self._cache: dict[Path, _Cached] = {}
        self.memory = Memory(self.all_logs)

    @property
    def desktop(self) -> Path:
        """What is only ours in the vault."""
        return self.folder / "desktop"

    def _live(self, chat: ChatId) -> Path:
        return self.folder / "snapshots" / "chats" / chat / "events.jsonl"

    def _retired(self, chat: ChatId) -> Path:
        return self.desktop / "retired" / chat / "events.jsonl"

    def _ids(self, folder: Path) -> list[ChatId]:
        found: list[ChatId] = []
        for name in self._fs.list_names(folder):
            try:
                chat = parse_chat_id(name)
            except InvalidId:
                continue
            if self._is_there(folder / name / "events.jsonl"):
                found.append(chat)
        return found

    def _is_there(self, path: Path) -> bool:
        try:
            return self._fs.stat(path) is not None
        except CannotRead:
            return True  # nobody can say what it is: `contents` calls it damaged

    def chats_with_logs(self) -> list[ChatId]:
        """The chats that have an event log, sorted; deleted chats are not among them."""
        return self._ids(self.folder / "snapshots" / "chats")

    def retired_chats(self) -> list[ChatId]:
        """The deleted chats whose observations are still needed, sorted."""
        return self._ids(self.desktop / "retired")

    def contents(self, chat: ChatId) -> LogContents:
        """A chat's log, or its retired one, or nothing. One that cannot be read is damaged as a whole (`WHOLE_LOG`), and
        hides no other chat of the vault."""
        for path in (self._live(chat), self._retired(chat)):
            try:
                stamp = journal.stamp(self._fs, path)
                if stamp is None:
                    continue
                cached = self._cache.get(path)
                if cached is None or cached.stamp != stamp:
                    cached = _read(journal.read(self._fs, path), stamp, cached)
                    self._cache[path] = cached
            except CannotRead:
                return _UNREADABLE
            return cached.contents
        return _EMPTY

    def lines(self, chat: ChatId) -> tuple[Line, ...]:
        """The lines of a chat's log that can be understood, in order."""
        return self.contents(chat).lines

    def damage(self, chat: ChatId) -> tuple[int, ...]:
        """Numbers of the damaged lines of a chat's log."""
        return self.contents(chat).damaged

    def all_logs(self) -> dict[ChatId, LogContents]:
        """Every log of the vault, retired ones included."""
        return {chat: self.contents(chat) for chat in sorted({*self.chats_with_logs(), *self.retired_chats()})}

    def last_seq(self) -> int:
        """The largest number given to a line so far, also to one whose log is gone; 0 in a vault without numbered lines."""
        named = max((line.seq for found in self.all_logs().values() for line in found.lines), default=0)
        return max(named, self._kept_seq())

    def _kept_seq(self) -> int:
        try:
            text = self._fs.read_bytes(self.desktop / "seq", limit=_TOKEN_BYTES).decode("ascii", "replace").strip()
        except (FileNotFoundError, CannotRead):
            return 0
        return int(text) if text.isdecimal() and len(text) < _SEQ_DIGITS else 0

    def keep_seq(self) -> None:
        """Write down the largest number, durably, before the lines that bear it may go."""
        last = self.last_seq()
        if last > self._kept_seq():
            self._fs.make_folder(self.desktop)
            atomic.replace(self._fs, self.desktop / "seq", b"%d\n" % last)

    def append(self, chat: ChatId, lines: Sequence[Line], *, number: bool = True) -> tuple[Line, ...]:
        """Add lines to a chat's log, durably, in one write; returns them as written.

        ``number`` gives each the next vault-wide ``seq``; without it (imports) they keep what they have. ``ts`` and ``v`` are
        filled in where they are 0. A damaged log is refused with `LogDamaged` and stays as it is.
        """
        if not lines:
            return ()
        damaged = self.damage(chat)
        if damaged:
            raise LogDamaged(chat, damaged)
        self.take_back_up(chat)
        now = self._clock()
        seq = self.last_seq() if number else 0
        filled: list[Line] = []
        for offset, line in enumerate(lines, 1):
            filled.append(
                msgspec.structs.replace(
                    line, ts=line.ts or now, v=line.v or log.SCHEMA, seq=seq + offset if number else line.seq
                )
            )
        set_aside = self.desktop / "set-aside"
        journal.append(self._fs, self._live(chat), [log.encode(line) for line in filled], set_aside=set_aside)
        return tuple(filled)

    def sweep(self) -> None:
        """Remove what crashes left of writes that never ended. Under the vault's lock, where nobody is writing."""
        for folder in (self.folder / "chats", self.desktop, self.desktop / "set-aside"):
            atomic.sweep(self._fs, folder)
        self.blobs.sweep()

    def retire(self, chat: ChatId) -> None:
        """Put the log of a deleted chat away, durably: its observations stay part of the history of the disk. Every content it
        names comes under our own care first, because the original would collect what no log of its own names."""
        live = self._live(chat)
        if self._fs.stat(live) is None:
            return
        named = {sha for line in self.lines(chat) for _, sha in log.contents_named(line)}
        for sha in sorted(named):
            try:
                self.blobs.keep_own(sha)
            except (BlobNotFound, BlobCorrupt):
                continue  # lost before; the log says so wherever it is read
        self._move(live, self._retired(chat))

    def take_back_up(self, chat: ChatId) -> None:
        """A chat of a retired log that is there after all, or is written again (the same session imported anew), goes on with
        its log."""
        if self._fs.stat(self._live(chat)) is None and self._fs.stat(self._retired(chat)) is not None:
            self._move(self._retired(chat), self._live(chat))

    def _move(self, old: Path, new: Path) -> None:
        self._fs.make_folder(new.parent)
        faults.point("log.move")
        self._fs.rename(old, new)
        faults.point("log.moved")
        self._fs.sync_folder(new.parent)
        self._fs.sync_folder(old.parent)
        with suppress(CannotWrite):
            self._fs.remove_folder(old.parent)  # unless somebody put something else there

    def drop_retired(self, chat: ChatId) -> None:
        """Remove a retired log for good, durably; for one that nobody's history needs."""
        path = self._retired(chat)
        atomic.remove(self._fs, path)
        self._fs.remove_folder(path.parent)

    def remove_log(self, chat: ChatId) -> None:
        """Remove a chat's log and its folder, durably. Only for a log that observed nothing."""
        path = self._live(chat)
        atomic.remove(self._fs, path)
        self._fs.remove_folder(path.parent)

    @property
    def token(self) -> str:
        """The vault's own word on its restore plans; empty until something was written, and where it cannot be read: then no
        plan counts as ours, and nothing is carried on."""
        try:
            return self._read_token()
        except CannotRead:
            return ""

    def _read_token(self) -> str:
        try:
            return self._fs.read_bytes(self.desktop / "token", limit=_TOKEN_BYTES).decode("ascii", "replace").strip()
        except FileNotFoundError:
            return ""

    def token_problem(self) -> str:
        """Why the token cannot be read, or nothing."""
        try:
            self._read_token()
        except CannotRead as error:
            return error.reason
        return ""

    def make_token(self) -> str:
        """The token, made now if there is none. `CannotRead` if one is there that cannot be read: a plan may depend on it."""
        token = self._read_token()
        if not token:
            self._fs.make_folder(self.desktop)
            token = secrets.token_hex(16)
            atomic.replace(self._fs, self.desktop / "token", token.encode("ascii") + b"\n")
        return token


@dataclass(frozen=True, slots=True)
class _Cached:
    """A log as it was read: ``mark`` is over all of its whole lines, ``count`` of them."""

    stamp: journal.Stamp
    contents: LogContents
    count: int
    mark: int


def _mark(lines: Sequence[bytes], start: int = 0) -> int:
    for line in lines:
        start = zlib.crc32(line, zlib.crc32(b"\n", start))
    return start


def _read(read: journal.JournalContents, stamp: journal.Stamp, before: _Cached | None) -> _Cached:
    """What a log holds. One that has only grown is understood from where it ended before; its earlier lines stay the same
    objects."""
    if before is not None and len(read.lines) >= before.count and _mark(read.lines[: before.count]) == before.mark:
        old, skipped, mark = before.contents, before.count, before.mark
    else:
        old, skipped, mark = _EMPTY, 0, 0
    lines, numbers, damaged = list(old.lines), list(old.numbers), list(old.damaged)
    for number, data in enumerate(read.lines[skipped:], skipped + 1):
        if not data.strip():
            continue
        line = log.decode(data)
        if line is None:
            damaged.append(number)
        else:
            lines.append(line)
            numbers.append(number)
    contents = LogContents(tuple(lines), tuple(numbers), tuple(damaged), bool(read.torn))
    return _Cached(stamp, contents, len(read.lines), _mark(read.lines[skipped:], mark))
