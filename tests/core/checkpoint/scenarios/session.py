"""Chats whose turns are recorded as they happen, for the scenarios of the specification."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.core.checkpoint.world import A, Crash, World
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.types.checkpoints import CaptureReport
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


@contextmanager
def killed_at(step: str) -> Iterator[None]:
    """The program ends where it comes to the first step of that name; it must come there."""

    def stop(name: str) -> None:
        if name == step:
            raise Crash(name)

    with pytest.raises(Crash), faults.armed(stop):
        yield


@dataclass
class Session:
    """A world, written by the recorder. Times pass between the steps; each step holds the vault's lock as a caller would."""

    world: World

    def _lock(self) -> VaultLock:
        self.world.clock.advance(10)
        return VaultLock(self.world.fs, self.world.vault_folder)

    def begin(self, chat: ChatId = A, count: int = 1) -> int:
        """A turn begins; the transcript has its prompt and, after it, an answer. ``count``: its length with the prompt."""
        with self._lock().hold(0):
            turn = self.world.kernel.recorder.begin_turn(chat, message_count=count)
        self.world.turns[chat] = turn
        transcript = self.world.transcripts.chats.setdefault(chat, [])
        transcript += [0] * (count - 1 - len(transcript)) + [turn, 0]
        return turn

    def end(self, chat: ChatId = A) -> None:
        """The turn ends."""
        with self._lock().hold(0):
            self.world.kernel.recorder.end_turn(chat)

    def write(self, path: str, data: bytes | None, chat: ChatId = A, count: int = 1) -> CaptureReport:
        """The agent writes a file through us, or deletes it."""
        with self._lock().hold(0):
            return self.world.kernel.recorder.write(chat, WorkspacePath(path), data, message_count=count)

    def capture(self, path: str, announced: Announced, chat: ChatId = A, count: int = 1) -> CaptureReport:
        """The agent is about to write a file by itself."""
        with self._lock().hold(0):
            return self.world.kernel.recorder.capture(chat, WorkspacePath(path), announced, message_count=count)

    def command(self, work: Callable[[], None], chat: ChatId = A) -> None:
        """A command of the chat's runs and does ``work``."""
        with self._lock().hold(0):
            self.world.kernel.recorder.begin_command(chat)
        work()
        with self._lock().hold(0):
            self.world.kernel.recorder.end_command(chat)

    def rename(self, old: str, new: str, chat: ChatId = A, count: int = 1) -> None:
        """The agent renames a file by itself, announced."""
        with self._lock().hold(0):
            self.world.kernel.recorder.capture_rename(chat, WorkspacePath(old), WorkspacePath(new), message_count=count)
        target = self.world.root / new
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.world.root / old).rename(target)

    def turn(self, changes: dict[str, bytes | None], chat: ChatId = A, count: int = 1) -> int:
        """A whole turn."""
        turn = self.begin(chat, count)
        for path, data in changes.items():
            self.write(path, data, chat, count)
        self.end(chat)
        return turn

    def tags(self, chat: ChatId = A) -> list[str]:
        """The tags of a chat, in the order of its log."""
        return [line.tag for line in self.world.vault.lines(chat) if line.type == "snapshot"]

    def counts(self, chat: ChatId = A) -> dict[str, int]:
        """What each tag's line says of the transcript's length."""
        return {line.tag: line.message_count for line in self.world.vault.lines(chat) if line.type == "snapshot"}
