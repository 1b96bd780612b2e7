"""What crashes left beside the chats of one vault: parts that no chat names, reviews and notes of no chat, and temps.

They harm nobody, so finding them costs next to nothing: the numbers of the parts are compared with those in the rows of the
list. Before a part goes its chat is read. Blocking; `sweep` wants the vault's lock.
"""

import logging
from pathlib import Path

from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.types.errors import CannotRead
from vibekit_desktop.core.types.ids import ChatId

_log = logging.getLogger(__name__)


def there_are(store: ChatStore) -> bool:
    """Whether a sweep may find something. Takes no lock; a write that goes on just now looks like one that never ended."""
    folders = [folder for folder in _folders(store) if folder != store.places.desktop]  # the lists of rows come and go there
    names = (name for folder in folders for name in store.fs.list_names(folder))
    unfinished = any(name.startswith(atomic.TEMP_PREFIX) for name in names)
    return unfinished or bool(store.reviews.orphans() or store.notes.orphans()) or bool(_unnamed(store))


def sweep(store: ChatStore) -> int:
    """Remove what is left; how many parts that were. The parts of a chat that cannot be read stay."""
    removed = sum(store.drop_unnamed(chat) for chat in _unnamed(store))
    for folder in _folders(store):
        atomic.sweep(store.fs, folder)
    store.reviews.sweep()
    store.notes.sweep()
    return removed


def _unnamed(store: ChatStore) -> list[ChatId]:
    """The chats with parts that no row names; such a part may be named all the same, by a chat that could not be read."""
    numbers = store.parts.numbers()
    if not numbers:
        return []
    try:
        rows = (*store.list(), *store.list(archived=True))
    except CannotRead as error:
        _log.info("no parts were looked for: %s", error.reason)
        return []
    unreadable = {row.id for row in rows if row.problem}
    named = {(row.id, n) for row in rows for n in row.parts if row.id in numbers}
    return [chat for chat, own in numbers.items() if chat not in unreadable and any((chat, n) not in named for n in own)]


def _folders(store: ChatStore) -> list[Path]:
    try:
        archive = store.places.archive()
    except CannotRead:
        archive = None
    found = (store.folder, archive, store.parts.folder, store.reviews.folder, store.notes.folder, store.places.desktop)
    return [folder for folder in found if folder is not None]
