"""Which chats a person has looked at, and how far: what makes a row unread, kept across starts.

``seen.json`` in the data directory, replaced whole under the library's lock. It says nothing that cannot be spared: one that
cannot be read counts as empty, and then nothing is unread. Blocking; used in threads.
"""

import logging
import threading
from collections.abc import Mapping
from pathlib import Path

import msgspec

from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId

_log = logging.getLogger(__name__)

VERSION = 1
MOST = 20_000
"""So many chats are remembered; of more those that were noted first are forgotten, and count as read."""
_LIMIT_BYTES = 4 << 20


class SeenFile(msgspec.Struct, frozen=True, kw_only=True):
    """``seen.json``: how many messages of a chat a person has seen, the chat noted last at the end."""

    version: int = VERSION
    seen: dict[str, int] = msgspec.field(default_factory=dict)


class Seen:
    """Invariant: what is handed out is what is on disk; another window's notes are never lost by ours."""

    def __init__(self, fs: Fs, data_dir: Path) -> None:
        self._fs = fs
        self._path = data_dir / "seen.json"
        self._lock = VaultLock(fs, data_dir)
        self._guard = threading.Lock()

    def all(self) -> Mapping[ChatId, int]:
        """How many messages of each chat were seen; a chat that nobody noted is not among them."""
        return {ChatId(chat): count for chat, count in self._read().seen.items()}

    def note(self, chat: ChatId, messages: int) -> None:
        """So many messages of a chat were seen; only what is news is written."""
        with self._guard:
            if self._read().seen.get(chat) == messages:
                return
            self._fs.make_folder(self._path.parent)
            with self._lock.hold():
                file = self._read()
                if file.version > VERSION:
                    return  # a newer program's: it is not ours to shorten
                seen = {one: count for one, count in file.seen.items() if one != chat}
                seen[chat] = messages
                for one in list(seen)[: max(0, len(seen) - MOST)]:
                    del seen[one]
                atomic.replace(self._fs, self._path, msgspec.json.encode(SeenFile(seen=seen)))

    def _read(self) -> SeenFile:
        try:
            return msgspec.json.decode(self._fs.read_bytes(self._path, limit=_LIMIT_BYTES), type=SeenFile)
        except FileNotFoundError:
            return SeenFile()
        except (CoreError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            _log.info("what was seen cannot be read: %s", type(error).__name__)
            return SeenFile()
