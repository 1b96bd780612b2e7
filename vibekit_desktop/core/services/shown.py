"""Which chat this window shows, so that nobody takes it away meanwhile: at most one, held as a lock that ends with the process.

Blocking; used in threads.
"""

import logging
import threading

from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import ShownLock
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId

_log = logging.getLogger(__name__)


class Shown:
    """Invariant: at most one lock is held, and it is that of the chat that was shown last."""

    def __init__(self, fs: Fs) -> None:
        self._fs = fs
        self._guard = threading.Lock()
        self._held: tuple[ChatId, ShownLock] | None = None
        self.vault: OpenVault | None = None
        """Whose chat is shown."""

    def show(self, vault: OpenVault | None, chat: ChatId | None) -> None:
        """This window shows ``chat`` of ``vault`` from now on, or none. A vault that cannot be written is no reason not to read
        a chat, and one that nothing of ours ever changed is not written to for reading one that is not archived."""
        with self._guard:
            self.vault = vault
            if self._held is not None and self._held[0] == chat:
                return
            before, self._held = self._held, None
            try:
                if vault is not None and chat is not None and self._concerns(vault, chat):
                    lock = ShownLock(self._fs, vault.store.desktop, chat)
                    lock.take()
                    self._held = chat, lock
            except CoreError as error:
                _log.info("chat %s is shown without a lock: %s", chat, error.code)
            finally:
                if before is not None:
                    before[1].give_back()

    def _concerns(self, vault: OpenVault, chat: ChatId) -> bool:
        return self._fs.is_folder(vault.store.desktop) or vault.chats.where(chat) == "archived"

    def anywhere(self, vault: OpenVault, chat: ChatId) -> bool:
        """Whether some window shows a chat."""
        with self._guard:
            if self._held is not None and self._held[0] == chat:
                return True
        return ShownLock(self._fs, vault.store.desktop, chat).is_held()

    def close(self) -> None:
        """This window shows nothing any more."""
        self.show(None, None)
