"""The other program on one folder: what it writes, and what it does with what others wrote.

A model for tests, made from the description of its behaviour alone, its faults included; it uses nothing of ours. One process,
no threads, no syncing: only what ends up on disk is modelled. An `OriginalStore` is one run of it; a new one is a restart.
"""

import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers import original_log as log
from tests.helpers.original_log import Event, Replayed

CAP_BYTES = 16 << 20
AGE_SECONDS = 5 * 60
CELLS = 16_777_216


class PathEscape(Exception):
    """A path that is absolute, outside, or the work folder itself."""


class BlobNotFound(Exception):
    """No such blob, or none that this chat may read."""


class BlobTooLarge(Exception):
    """A blob above the reading cap."""


class BlobCorrupt(Exception):
    """Content that does not match its name."""


class Stopped(BaseException):
    """The program was killed in the middle of a restore."""


@dataclass(frozen=True)
class Change:
    """One entry of its diff."""

    status: str
    path: str
    added: int
    removed: int


def folder_name(chat: str) -> str:
    """The folder of a chat id: itself, or its hash where it could lead elsewhere."""
    if chat in ("", ".", "..") or "/" in chat or os.sep in chat:
        return hashlib.sha256(chat.encode()).hexdigest()
    return chat


@dataclass
class OriginalStore:
    """One run of the program."""

    config: Path
    work: Path
    clock: Callable[[], int]
    _chats: dict[str, Replayed] = field(default_factory=dict)
    _index: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """Path to the chat that wrote it last, the hash it announced, and when."""

    # -- its files -----------------------------------------------------------------------------------------------

    @property
    def _blobs(self) -> Path:
        return self.config / "snapshots" / "blobs"

    def _logs(self) -> Path:
        return self.config / "snapshots" / "chats"

    def log_path(self, chat: str) -> Path:
        return self._logs() / folder_name(chat) / "events.jsonl"

    def blob_path(self, sha: str) -> Path:
        return self._blobs / sha[:2] / sha[2:]

    def put(self, data: bytes) -> str:
        """A blob; if something has its name nothing is written or looked at."""
        sha = hashlib.sha256(data).hexdigest()
        path = self.blob_path(sha)
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o600)
        return sha

    def get(self, sha: str) -> bytes:
        """A blob's content, checked."""
        path = self.blob_path(sha)
        if not log.is_hash(sha) or not os.path.lexists(path) or not stat.S_ISREG(path.lstat().st_mode):
            raise BlobNotFound(sha)
        if path.stat().st_size > CAP_BYTES:
            raise BlobTooLarge(sha)
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha:
            raise BlobCorrupt(sha)
        return data

    def _blob_is_good(self, sha: str) -> bool:
        try:
            self.get(sha)
        except (BlobNotFound, BlobCorrupt):
            return False
        except BlobTooLarge:
            return True
        return True

    def append(self, chat: str, event: Event) -> Event:
        """A line to the log; a torn tail is ended first."""
        filled = log.stamped(event, self.clock())
        path = self.log_path(chat)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        torn = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
        with path.open("ab") as file:
            file.write((b"\n" if torn else b"") + log.encode(filled))
        path.chmod(0o600)
        if chat in self._chats:
            self._take(chat, filled)
        return filled

    def _take(self, chat: str, event: Event) -> None:
        self._chats[chat].apply(event)
        self._own(chat, event)

    def _own(self, chat: str, event: Event) -> None:
        if event.type == "snapshot" and event.path and event.after_sha:
            held = self._index.get(event.path)
            if held is None or held[0] == chat or event.ts > held[2]:
                self._index[event.path] = chat, event.after_sha, event.ts

    def load(self, chat: str) -> Replayed:
        """A chat's state; a restore that did not end is done now, whatever is asked."""
        if chat not in self._chats:
            self._chats[chat] = log.replay(self.log_path(chat), blob_is_there=self._blob_is_good)
            for event, _ in log.read(self.log_path(chat)):
                self._own(chat, event)
        state = self._chats[chat]
        if state.pending:
            self._restore(chat, state.pending, journal=False)
        return state

    def load_all(self) -> list[str]:
        """Every chat on disk, by the name of its folder."""
        found = sorted(path.name for path in self._logs().iterdir()) if self._logs().exists() else []
        for chat in found:
            self.load(chat)
        return found

    # -- what is asked of it -------------------------------------------------------------------------------------

    def _resolve(self, path: str) -> Path:
        whole = os.path.normpath(os.path.join(self.work, path))
        if "\0" in path or os.path.isabs(path) or not whole.startswith(f"{self.work}{os.sep}"):
            raise PathEscape(path)
        return Path(whole)

    def advance_turn(self, chat: str, message_count: int = 0) -> int:
        turn = self.load(chat).turn + 1
        self.append(chat, Event("turn_start", turn=turn, message_count=message_count))
        return turn

    def snapshot(self, chat: str, path: str, new: bytes | None, message_count: int = 0) -> str:
        """Just before a write: what is there and what is announced. Returns the tag."""
        state = self.load(chat)
        target = self._resolve(path)
        before = ""
        if target.exists() and target.stat().st_size <= CAP_BYTES:
            before = self.put(target.read_bytes())
        after = "" if new is None else self.put(new)
        tag = state.next_tag()
        held = self._index.get(path)
        if held is not None and held[0] != chat and held[1] != before:
            self.append(
                chat,
                Event("conflict_detected", tag=tag, path=path, before_sha=before, other_chat=held[0], expected_sha=held[1]),
            )
        self.append(
            chat,
            Event(
                "snapshot",
                tag=tag,
                path=path,
                before_sha=before,
                after_sha=after,
                turn=state.turn,
                tool=state.tools,
                message_count=message_count,
            ),
        )
        return tag

    def write(self, chat: str, path: str, new: bytes, message_count: int = 0) -> str:
        """What the agent does: captured, then written in place."""
        tag = self.snapshot(chat, path, new, message_count)
        target = self._resolve(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(new)
        return tag

    def restore_preview(self, chat: str, tag: str) -> list[str]:
        state = self.load(chat)
        state.require(tag)
        return state.touched_at_or_after(tag)

    def restore(self, chat: str, tag: str, *, stop_after: int | None = None) -> int:
        """Put back what was before a tag; the watermark. ``stop_after``: it is killed after so many files."""
        state = self.load(chat)
        state.require(tag)
        self._restore(chat, tag, stop_after=stop_after)
        return state.watermarks[tag]

    def _restore(self, chat: str, tag: str, *, journal: bool = True, stop_after: int | None = None) -> None:
        state = self._chats[chat]
        state.require(tag)
        count = state.watermarks[tag]
        steps = [(self._resolve(path), state.content_at_or_before(path, tag)) for path in state.touched_at_or_after(tag)]
        if steps:
            staged = self._stage(steps)
            if journal:
                self.append(chat, Event("restore_started", tag=tag, message_count=count))
            try:
                for done, (target, stage) in enumerate(staged):
                    if done == stop_after:
                        raise Stopped
                    if stage is None:
                        target.unlink(missing_ok=True)
                    else:
                        stage.replace(target)
            except OSError:
                _discard(staged)
                raise
            if stop_after is not None:
                raise Stopped
        self.append(chat, Event("restore_committed", tag=tag, message_count=count))

    def _stage(self, steps: list[tuple[Path, str]]) -> list[tuple[Path, Path | None]]:
        """Every content beside its target, or nothing at all."""
        staged: list[tuple[Path, Path | None]] = []
        try:
            for target, sha in steps:
                staged.append((target, self._stage_one(target, sha) if sha else None))
        except Exception:
            _discard(staged)
            raise
        return staged

    def _stage_one(self, target: Path, sha: str) -> Path:
        data = self.get(sha)
        target.parent.mkdir(parents=True, exist_ok=True)
        stage = target.with_name(f"{target.name}.vibekit-restore-{secrets.randbelow(10**9)}")
        stage.write_bytes(data)
        regular = os.path.lexists(target) and stat.S_ISREG(target.lstat().st_mode)
        stage.chmod(target.stat().st_mode & 0o777 if regular else 0o644)
        return stage

    def checkout_file(self, chat: str, tag: str, path: str) -> None:
        """One file as it was; a path that it never saw is deleted, which is its fault E9."""
        state = self.load(chat)
        state.require(tag)
        target = self._resolve(path)
        sha = state.content_at_or_before(path, tag)
        if sha:
            self._stage_one(target, sha).replace(target)
        else:
            target.unlink(missing_ok=True)

    def diff(self, chat: str, old: str, new: str) -> list[Change]:
        state = self.load(chat)
        state.require(old)
        state.require(new)
        if log.pair(old) > log.pair(new):
            old, new = new, old
        found = []
        for path in state.touched_between(old, new):
            before, after = state.content_at_or_before(path, old), state.content_at(path, new)
            if before == after:
                continue
            added, removed = line_counts(self._lenient(before), self._lenient(after))
            found.append(Change("A" if not before else "M" if after else "D", path, added, removed))
        return found

    def _lenient(self, sha: str) -> bytes:
        try:
            return self.get(sha) if sha else b""
        except (BlobNotFound, BlobTooLarge, BlobCorrupt):
            return b""

    def conflicts(self, chat: str) -> list[Event]:
        return list(self.load(chat).conflicts)

    def read_blob(self, chat: str, sha: str) -> bytes:
        if len(sha) != 64 or set(sha.lower()) - set("0123456789abcdef"):
            raise ValueError(sha)
        if sha.lower() not in self.load(chat).referenced:
            raise BlobNotFound(sha)
        return self.get(sha.lower())

    def oldest_tag(self, chat: str) -> str:
        return next(iter(self.load(chat).tags), "")

    def owner_of(self, path: str) -> str:
        """Who wrote a path last, or nothing; loads every chat, which may run a restore: its fault E10."""
        self.load_all()
        return self._index.get(path, ("",))[0]

    def cleanup(self, chat: str) -> None:
        self._chats.pop(chat, None)
        path = self.log_path(chat)
        path.unlink(missing_ok=True)
        if path.parent.exists():
            path.parent.rmdir()
        self._index = {name: held for name, held in self._index.items() if held[0] != chat}

    def gc_once(self) -> list[str]:
        """Delete what nothing names and is old enough; the hashes. A loaded chat counts only what its snapshots name."""
        kept: set[str] = set()
        for folder in self._logs().iterdir() if self._logs().exists() else ():
            if folder.name in self._chats:
                kept |= self._chats[folder.name].referenced
            else:
                kept |= {sha for event, _ in log.read(folder / "events.jsonl") for sha in (event.before_sha, event.after_sha)}
        shards = sorted(self._blobs.iterdir()) if self._blobs.exists() else []
        return [sha for shard in shards if shard.is_dir() and len(shard.name) == 2 for sha in self._sweep(shard, kept)]

    def _sweep(self, shard: Path, kept: set[str]) -> list[str]:
        gone = []
        for path in sorted(shard.iterdir()):
            old = path.lstat().st_mtime <= self.clock() / 1000 - AGE_SECONDS
            if stat.S_ISREG(path.lstat().st_mode) and old and shard.name + path.name not in kept:
                path.unlink()
                gone.append(shard.name + path.name)
        if gone and not list(shard.iterdir()):
            shard.rmdir()
        return gone


def _discard(staged: list[tuple[Path, Path | None]]) -> None:
    for _, stage in staged:
        if stage is not None:
            stage.unlink(missing_ok=True)


def line_counts(old: bytes, new: bytes) -> tuple[int, int]:
    """Lines added and removed by the longest common subsequence; above its cap everything counts as changed."""
    one, two = (data.removesuffix(b"\n").split(b"\n") if data else [] for data in (old, new))
    if not one or not two or len(one) * len(two) > CELLS:
        return len(two), len(one)
    row = [0] * (len(two) + 1)
    for left in one:
        before = row
        row = [0]
        for at, right in enumerate(two):
            row.append(before[at] + 1 if left == right else max(before[at + 1], row[at]))
    return len(two) - row[-1], len(one) - row[-1]
