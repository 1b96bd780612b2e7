"""A deleted chat stays dead for a while, so that a late write cannot bring it back.

``desktop/tombstones``, seen by every process. It only hinders making a chat: one that is there is never refused because of it,
so a crash between the tombstone and the deletion harms nothing, and the file can be thrown away. Written under the lock.
"""

import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotRead
from vibekit_desktop.core.types.ids import ChatId

LIFE_MS = 10 * 60 * 1000
_LIMIT_BYTES = 4 << 20
_log = logging.getLogger(__name__)


class Tombstones:
    """The ids of chats that went lately. Holds no state: what is in the file counts."""

    def __init__(self, fs: Fs, desktop: Path, *, clock: Callable[[], int]) -> None:
        self._fs = fs
        self._path = desktop / "tombstones"
        self._clock = clock

    def __contains__(self, chat: ChatId) -> bool:
        return chat in self._fresh()

    def add(self, *chats: ChatId) -> None:
        """These went now; those that are old enough are forgotten."""
        if chats:
            self._write(self._fresh() | dict.fromkeys(chats, self._clock()))

    def clear(self, chat: ChatId) -> None:
        """The chat is back."""
        fresh = self._fresh()
        if fresh.pop(chat, None) is not None:
            self._write(fresh)

    def _fresh(self) -> dict[ChatId, int]:
        try:
            data = self._fs.read_bytes(self._path, limit=_LIMIT_BYTES)
            found = msgspec.json.decode(data, type=dict[ChatId, int])
        except FileNotFoundError:
            return {}
        except (CannotRead, msgspec.MsgspecError, ValueError, RecursionError) as error:
            _log.info("the tombstones were not read: %s", type(error).__name__)
            return {}
        now = self._clock()
        return {chat: at for chat, at in found.items() if abs(now - at) <= LIFE_MS}  # a clock may have been set back

    def _write(self, stones: dict[ChatId, int]) -> None:
        faults.point("chat.tombstones")
        self._fs.make_folder(self._path.parent)
        atomic.replace(self._fs, self._path, msgspec.json.encode(stones))
