"""One plan draft per chat, capped in size: ``<chat>.plan.md`` beside the chat's file (chat.md 2.10).

It is no part of the chat: writing it changes no date. Replaced whole; a crash leaves the old draft or the new one. Written
under the vault's lock. Blocking.
"""

from vibekit_desktop.core.chat.places import draft_in
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotRead, ChatNotFound, DraftTooLarge, InvalidText
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

MOST_BYTES = 256 << 10


class Drafts:
    """The drafts of one vault's chats. Invariant: a draft is only ever made for a chat of the list."""

    def __init__(self, fs: Fs, store: ChatStore) -> None:
        self._fs = fs
        self._store = store

    def get(self, chat: ChatId) -> str:
        """The draft of a chat, archived or not; empty if there is none. `CannotRead` if it is too large or no text."""
        home = self._store.places.home(chat)
        if home is None:
            return ""
        path = draft_in(home, chat)
        try:
            return self._fs.read_bytes(path, limit=MOST_BYTES).decode()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise CannotRead(str(path), "not text") from error

    def set(self, chat: ChatId, text: str) -> None:
        """Keep a draft. `DraftTooLarge`, `InvalidText`; `ChatGone` or `ChatNotFound` if the list has no such chat."""
        parse_chat_id(chat)
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise InvalidText(chat) from error
        if len(data) > MOST_BYTES:
            raise DraftTooLarge(chat, len(data))
        if not self._store.exists(chat):
            self._store.refuse_late(chat)
            raise ChatNotFound(chat)
        faults.point("chat.draft")
        atomic.replace(self._fs, draft_in(self._store.folder, chat), data, mode=0o600)

    def delete(self, chat: ChatId) -> None:
        """Forget the draft of a chat; none is fine."""
        home = self._store.places.home(chat)
        if home is not None:
            atomic.remove(self._fs, draft_in(home, chat))
