"""What was computed from the logs, kept until one of them changes. Never older than the logs it is asked about."""

from collections.abc import Callable, Collection

from vibekit_desktop.core.checkpoint.history import History, View
from vibekit_desktop.core.checkpoint.log import LogContents, contents_named
from vibekit_desktop.core.checkpoint.order import Placed
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.types.ids import BlobHash, ChatId


class Memory:
    """The history of one vault's logs, its views, and the contents it names. Invariant: equal to computing them anew."""

    def __init__(self, all_logs: Callable[[], dict[ChatId, LogContents]]) -> None:
        self._all_logs = all_logs
        self._logs: dict[ChatId, LogContents] = {}
        self._history = History({})
        self._views: dict[ChatId, tuple[View, Marks]] = {}
        self._named: set[BlobHash] | None = None
        self._public: View | None = None

    def _refresh(self) -> None:
        logs = self._all_logs()
        if logs.keys() == self._logs.keys() and all(found is self._logs[chat] for chat, found in logs.items()):
            return
        new = logs.keys() - self._logs.keys()
        self._logs = logs
        longer = self._history.extended(logs)
        if longer is None:
            self._history = History(logs)
            self._views = {}
            self._named = None
            self._public = None
        else:
            self._take(*longer, new)

    def _take(self, history: History, added: list[Placed], new: Collection[ChatId]) -> None:
        """Go on from what is known: the logs have only grown. Not for chats whose log is ``new``: it may begin a branch, and
        then earlier lines of others are theirs too."""
        self._history = history
        views: dict[ChatId, tuple[View, Marks]] = {}
        for chat, (view, _) in self._views.items():
            if chat in new:
                continue
            longer = view.extended(history.seen_by(chat, added))
            if longer is not None:
                views[chat] = longer, Marks(longer)
        self._views = views
        self._public = self._public and self._public.extended(history.seen_by_all(added))
        if self._named is not None:
            self._named |= {named for placed in added for _, named in contents_named(placed.line)}

    def view(self, chat: ChatId) -> tuple[View, Marks]:
        """The history as a chat sees it, with its turns, tags and entries."""
        self._refresh()
        if chat not in self._views:
            view = self._history.view(chat)
            self._views[chat] = view, Marks(view)
        return self._views[chat]

    def public(self) -> View:
        """The history of the disk, whoever made it."""
        self._refresh()
        if self._public is None:
            self._public = self._history.public()
        return self._public

    def spans(self) -> dict[ChatId, tuple[int, int]]:
        """Where each log's first and last line stand in the history."""
        self._refresh()
        return self._history.spans()

    def ancestry(self, chat: ChatId) -> list[ChatId]:
        """The chats whose logs a chat's history is made of, the first ancestor first and the chat itself last."""
        self._refresh()
        return [part.chat for part in self._history.lineage(chat)]

    def names(self, sha: BlobHash) -> bool:
        """Whether some line of the vault says that this content is in the store. What one said once is not asked again."""
        if self._named is not None and sha in self._named:
            return True
        self._refresh()
        if self._named is None:
            lines = (line for found in self._logs.values() for line in found.lines)
            self._named = {named for line in lines for _, named in contents_named(line)}
        return sha in self._named
