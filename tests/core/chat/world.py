"""A vault's chats with everything around them, and chats made of few words."""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.conftest import Clock
from vibekit_desktop.core.chat import leftovers
from vibekit_desktop.core.chat.archive import Archive
from vibekit_desktop.core.chat.drafts import Drafts
from vibekit_desktop.core.chat.fitting import LIMITS, ChatLimits
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.chat.transcripts import StoredTranscripts
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import Chat, Message
from vibekit_desktop.core.types.ids import ChatId

C1, C2, BRANCH = ChatId("chat-0001"), ChatId("chat-0002"), ChatId("branch-01")
BAD_IDS = ("", "a/b", "..", "a\0b", "a b", "x" * 200, "a.b", "a\n", "x" * 129)
SMALL = ChatLimits(read=8_000, write=6_000, split_to=2_000)
"""Limits that small chats reach."""


class Unsynced(Fs):
    """A process that stops loses nothing that it wrote: syncing only costs time here."""

    def fsync(self, fd: int) -> None:
        return


@dataclass
class World:
    """One vault, opened by one process."""

    folder: Path
    clock: Clock
    fs: Fs = field(default_factory=Unsynced)
    limits: ChatLimits = LIMITS

    def __post_init__(self) -> None:
        self.reopen()

    def reopen(self) -> None:
        """Another process opens the vault."""
        self.chats = ChatStore(self.fs, self.folder, clock=self.clock, limits=self.limits)
        self.archive = Archive(self.fs, self.chats, clock=self.clock)
        self.drafts = Drafts(self.fs, self.chats)
        self.transcripts = StoredTranscripts(self.chats, clock=self.clock)

    @property
    def active(self) -> Path:
        return self.folder / "chats"

    @property
    def archived(self) -> Path:
        return self.folder / "chats" / "archive"

    def file(self, chat: str) -> Path:
        return self.active / f"{chat}.json"

    def plant(self, data: bytes, name: str, folder: Path | None = None) -> Path:
        """Put a file where a chat's could be."""
        place = folder or self.active
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
        return place / name

    def make(self, chat: ChatId = C1, *messages: Message, name: str = "A chat") -> Chat:
        """A chat of the list."""
        return self.chats.mutate(
            chat, lambda found, _: msgspec.structs.replace(found, name=name, parts=(), messages=messages), create=True
        ).chat

    def make_archived(self, chat: ChatId = C1, *messages: Message, name: str = "A chat") -> Chat:
        """A chat of the archive."""
        self.make(chat, *messages, name=name)
        self.archive.archive(chat)
        return self.chats.load(chat)[0]

    def get(self, chat: ChatId = C1) -> Chat:
        return self.chats.load(chat)[0]

    def ids(self, *, archived: bool = False) -> list[str]:
        return [row.id for row in self.chats.list(archived=archived)]

    def sweep(self) -> int:
        return leftovers.sweep(self.chats)

    def tree(self) -> dict[str, bytes]:
        """Every file of the vault that counts, caches left out."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and not path.is_symlink() and not path.name.startswith("headers")
        }


def user(identity: str, text: str = "Do it.", turn: int = 0) -> Message:
    return Message(id=identity, role="user", ts=1, content=text, turn=turn)


def said(identity: str, text: str = "Done.") -> Message:
    return Message(id=identity, role="assistant", ts=2, content=text)


def turns(count: int, size: int = 200) -> tuple[Message, ...]:
    """A transcript of ``count`` turns, each with about ``size`` letters of answer."""
    found: list[Message] = []
    for turn in range(1, count + 1):
        found += [user(f"u{turn}", f"prompt {turn}", turn), said(f"a{turn}", f"{turn} " * (size // 2))]
    return tuple(found)
