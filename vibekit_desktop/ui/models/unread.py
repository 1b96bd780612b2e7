"""Which chats are unread: how far a person saw each, and what came after. Pure; UI thread only."""

from collections.abc import Callable, Iterable, Mapping

from vibekit_desktop.core.types.chats import ChatHeader
from vibekit_desktop.core.types.ids import ChatId


class Unread:
    """Invariant: the chat that is open is never unread; one that nobody opened and that did not grow is not either.

    ``tell(chat, messages)`` is called with every count that is to be kept for the next start.
    """

    def __init__(self, tell: Callable[[ChatId, int], None]) -> None:
        self._tell = tell
        self._seen: dict[ChatId, int] = {}
        self._open: ChatId | None = None

    def load(self, seen: Mapping[ChatId, int]) -> None:
        """What was kept; what was noted in this window meanwhile is newer."""
        self._seen = {**seen, **self._seen}

    def open(self, chat: ChatId | None, header: ChatHeader | None) -> None:
        """This chat is being looked at from now on, or none."""
        self._open = chat
        if chat is not None and header is not None:
            self._note(chat, header.message_count)

    def came(self, former: ChatHeader | None, header: ChatHeader) -> None:
        """A row is another one now. What grew in a chat that nobody looks at is unread from where it was."""
        if header.id == self._open:
            self._note(header.id, header.message_count)
        elif former is None or former.status is not header.status:
            return  # counted in another way
        elif header.message_count > former.message_count and header.id not in self._seen:
            self._note(header.id, former.message_count)

    def among(self, headers: Iterable[ChatHeader]) -> frozenset[ChatId]:
        """Those of these chats that have something unread."""
        return frozenset(
            header.id
            for header in headers
            if header.id != self._open and header.message_count > self._seen.get(header.id, header.message_count)
        )

    def _note(self, chat: ChatId, messages: int) -> None:
        if self._seen.get(chat) != messages:
            self._seen[chat] = messages
            self._tell(chat, messages)
