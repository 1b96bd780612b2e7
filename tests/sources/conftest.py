"""A vault to import into, and one call that does it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.claude_sessions import SessionBuilder
from vibekit_desktop.core.chat.fitting import LIMITS, ChatLimits
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.sources.base import ForeignSession
from vibekit_desktop.core.sources.claude_code import ClaudeCode
from vibekit_desktop.core.sources.materialise import ImportOutcome, materialise
from vibekit_desktop.core.types.chats import Chat


@dataclass
class Importer:
    """Reads a session's file and materialises it."""

    folder: Path
    home: Path
    clock: Callable[[], int]
    fs: Fs
    limits: ChatLimits = LIMITS

    def __post_init__(self) -> None:
        self.vault = VaultStore(self.fs, self.folder, clock=self.clock)
        self.chats = ChatStore(self.fs, self.folder, clock=self.clock, limits=self.limits)

    def read(self, session: SessionBuilder) -> ForeignSession:
        return ClaudeCode().read(session.install(self.home))

    def text(self, text: str | bytes, name: str = "session.jsonl") -> ForeignSession:
        path = self.home / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return ClaudeCode().read(path)

    def run(self, found: SessionBuilder | ForeignSession, *, detached: bool = False) -> ImportOutcome:
        session = self.read(found) if isinstance(found, SessionBuilder) else found
        return materialise(
            session,
            vault=self.vault,
            chats=self.chats,
            workspace_root="/somewhere/else" if detached else session.cwd,
            detached=detached,
            clock=self.clock,
        )

    def chat(self, outcome: ImportOutcome) -> Chat:
        """The chat with all its messages."""
        return self.chats.whole(self.chats.load(outcome.chat_id)[0])

    def lines(self, outcome: ImportOutcome, *kinds: str) -> Sequence[Line]:
        return [line for line in self.vault.lines(outcome.chat_id) if not kinds or line.type in kinds]


@pytest.fixture
def importer(tmp_path: Path, home: Path, clock: Callable[[], int]) -> Importer:
    return Importer(tmp_path / "vault", home, clock, Fs())


@pytest.fixture
def session() -> SessionBuilder:
    return SessionBuilder(files={"/home/ann/tidewatch/a.py": "one\ntwo\nthree\n"})
