"""Notice what other processes do to the vaults, so that the window shows it. Implements `core.api.Watch`.

Once a second the lock file and three folders of each vault are looked at; only if one of them changed, and for a while after
it, or every tenth time, so are the sizes and times of its logs, chat files and reviews. Nothing is read but the headers of
chats and the settings, where they changed, and no lock is taken. What this process does under a vault's lock is told apart by
looking when the lock is taken and before it goes; of that, only answers that a crash interrupted are told here. Of the vault
whose chat the window shows the workspace is looked at too, whether it is where it was: others may be on disks that do not
answer. The looking is in a thread, the events are published on the loop thread.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk import journal
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.journal import Stamp
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.services.settings import SettingsService
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.shown import Shown
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.errors import ChatNotFound, CoreError, InvalidId
from vibekit_desktop.core.types.events import (
    ChatArchived,
    ChatCreated,
    ChatDeleted,
    ChatUpdated,
    Event,
    HistoryGrew,
    ReviewChanged,
    WorkspaceMoved,
)
from vibekit_desktop.core.types.ids import ChatId, VaultId, parse_chat_id

_log = logging.getLogger(__name__)

PERIOD_S = 1.0
WARM_LOOKS = 20
"""Looks at everything after a change: whoever holds the lock may be at work for long, and file times are coarse."""
EVERY = 10
"""Among quiet looks, each of this number looks at everything: the original takes no lock of ours."""


@dataclass(slots=True)
class _Seen:
    """The stamps of one vault's files at one look."""

    marks: tuple[Stamp | None, ...] = ()
    chats: dict[ChatId, Stamp] = field(default_factory=dict)
    logs: dict[ChatId, Stamp] = field(default_factory=dict)
    archived: frozenset[ChatId] = frozenset()
    reviews: dict[ChatId, Stamp] = field(default_factory=dict)


@dataclass(slots=True)
class _Changes:
    """What others did since it was last asked."""

    created: set[ChatId] = field(default_factory=set)
    updated: set[ChatId] = field(default_factory=set)
    deleted: set[ChatId] = field(default_factory=set)
    """Gone from the list, or from the archive for good."""
    grown: set[ChatId] = field(default_factory=set)
    reviewed: set[ChatId] = field(default_factory=set)


class _Eye:
    """Looks at one vault. Invariant: what this process did under the vault's lock is in ``_seen``, never in ``_changes``."""

    def __init__(self, fs: Fs, vault: OpenVault, *, all_known: bool) -> None:
        self.vault = vault
        self._fs = fs
        self._guard = threading.Lock()  # the lock is taken in the threads of other operations
        self._ours = False
        self._warm = 0
        self._looks = 0
        self._changes = _Changes()
        self._logs = vault.folder / "snapshots" / "chats"
        self._archive = vault.chats.folder / "archive"
        self._marks = (vault.lock.path, vault.chats.folder, self._logs, self._archive)
        self._places: dict[Path, dict[str, tuple[ChatId, Path] | None]] = {}
        """For every name in a folder: whose it is and what is to be looked at. Parsing and joining cost more than looking."""
        self._seen = self._everything() if all_known else _Seen()

    def around_lock(self, begins: bool) -> None:
        """This process begins or ends to change the vault."""
        with self._guard:
            try:
                if begins:
                    self._take(whole=True)  # what others did until now
                else:
                    self._seen = self._everything()
            except CoreError as error:
                _log.info("vault %s could not be looked at: %s", self.vault.id, error.code)
            self._ours = begins

    def changes(self) -> _Changes:
        """What others did since the last time."""
        with self._guard:
            if not self._ours:
                self._take(whole=False)
                self._changes.updated |= self.vault.take_news()
            found, self._changes = self._changes, _Changes()
            return found

    def _take(self, *, whole: bool) -> None:
        self._looks += 1
        if tuple(journal.stamp(self._fs, path) for path in self._marks) != self._seen.marks:
            self._warm = WARM_LOOKS
        if not whole and not self._warm and self._looks % EVERY:
            return
        self._warm = max(0, self._warm - 1)
        before, self._seen = self._seen, self._everything()
        new, old = self._seen.chats, before.chats
        found = self._changes
        found.created |= new.keys() - old.keys()
        found.updated |= {chat for chat, stamp in new.items() if chat in old and old[chat] != stamp}
        gone = (old.keys() - new.keys()) | (before.archived - self._seen.archived)
        found.deleted = (found.deleted | gone) - new.keys()
        found.grown |= {chat for chat, stamp in self._seen.logs.items() if before.logs.get(chat) != stamp}
        found.reviewed |= {chat for chat, stamp in self._seen.reviews.items() if before.reviews.get(chat) != stamp}

    def _everything(self) -> _Seen:
        # The marks first: a change between the two shows again at the next look.
        marks = tuple(journal.stamp(self._fs, path) for path in self._marks)
        chats = self._stamps(self._marks[1], ".json", "")
        return _Seen(marks, chats, self._stamps(self._logs, "", "events.jsonl"), self._archived(), self._reviews())

    def _reviews(self) -> dict[ChatId, Stamp]:
        try:
            return self._stamps(self.vault.reviews.folder, ".json", "")
        except CoreError:
            return {}  # it stands in no chat's way

    def _archived(self) -> frozenset[ChatId]:
        try:
            names = self._fs.list_names(self._archive)
        except CoreError:
            return frozenset()  # no folder of ours
        places = (_place(self._archive, name, ".json", "") for name in names)
        return frozenset(place[0] for place in places if place is not None)

    def _stamps(self, folder: Path, suffix: str, below: str) -> dict[ChatId, Stamp]:
        before = self._places.get(folder, {})
        names = self._fs.list_names(folder)
        places = {name: before[name] if name in before else _place(folder, name, suffix, below) for name in names}
        self._places[folder] = places
        found: dict[ChatId, Stamp] = {}
        for place in places.values():
            if place is None:
                continue
            try:
                stamp = journal.stamp(self._fs, place[1])
            except CoreError:
                continue
            if stamp is not None:
                found[place[0]] = stamp
        return found


def _place(folder: Path, name: str, suffix: str, below: str) -> tuple[ChatId, Path] | None:
    """Whose a name in a folder is; None for what is no chat's."""
    if not name.endswith(suffix):
        return None
    try:
        return parse_chat_id(name.removesuffix(suffix)), folder / name / below if below else folder / name
    except InvalidId:
        return None


class WatchService:
    """Watches every vault of the shelf between `start` and `stop`."""

    def __init__(
        self,
        bus: Bus,
        fs: Fs,
        shelf: Shelf,
        headers: Headers,
        settings: SettingsService,
        shown: Shown,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._bus = bus
        self._fs = fs
        self._shelf = shelf
        self._headers = headers
        self._settings = settings
        self._shown = shown
        self._ground: tuple[VaultId, tuple[int, int] | None] | None = None
        """Whose chat was shown at the last look, and which folder its workspace was."""
        self._pause = pause
        self._task: asyncio.Task[None] | None = None
        self._eyes: dict[VaultId, _Eye] = {}
        self._first = True

    def start(self) -> None:
        """Watch from now on; what is there at the first look is known."""
        if self._task is None:
            self._first = True
            self._task = asyncio.get_running_loop().create_task(self._run(), name="watch the vaults")
            self._task.add_done_callback(_ended)

    async def stop(self) -> None:
        """Watch no longer."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        for eye in self._eyes.values():
            eye.vault.lock.around = None
        self._eyes = {}

    async def look(self) -> None:
        """Look once and publish what others did."""
        for event in await durably(self._news):
            self._bus.publish(event)

    async def _run(self) -> None:
        while True:
            await self.look()
            await self._pause(PERIOD_S)

    def _news(self) -> list[Event]:
        try:
            vaults = self._shelf.vaults()
        except CoreError as error:
            _log.info("the vaults could not be listed: %s", error.code)
            return []
        news: list[Event] = [*self._settings.news()]
        for vault in vaults:
            try:
                news += self._of(self._eye(vault))
            except CoreError as error:
                _log.info("vault %s could not be looked at: %s", vault.id, error.code)
        self._first = False
        return news + self._of_workspace()

    def _of_workspace(self) -> list[Event]:
        vault = self._shown.vault
        if vault is None:
            self._ground = None
            return []
        workspace = vault.workspace()
        before, self._ground = self._ground, (vault.id, workspace.identity if workspace is not None else None)
        if before is None or before == self._ground or before[0] != vault.id:
            return []
        return [WorkspaceMoved(vault.workspace_path)]

    def _eye(self, vault: OpenVault) -> _Eye:
        eye = self._eyes.get(vault.id)
        if eye is None or eye.vault is not vault:
            # A vault that this process made since is known by the events of what it did there.
            eye = _Eye(self._fs, vault, all_known=self._first or vault.lock.used)
            vault.lock.around = eye.around_lock
            self._eyes[vault.id] = eye
        return eye

    def _of(self, eye: _Eye) -> list[Event]:
        vault, found = eye.vault, eye.changes()
        news: list[Event] = [self._went(vault, chat) for chat in sorted(found.deleted)]
        for chat in sorted(found.created | found.updated):
            try:
                header = self._headers.read(vault, chat)
            except ChatNotFound:
                continue  # gone again
            if header.archived:
                continue  # and by now out of sight; the next look says so
            news.append(ChatCreated(header) if chat in found.created else ChatUpdated(header))
        news += [HistoryGrew(chat, vault.workspace_path) for chat in sorted(found.grown)]
        return news + [ReviewChanged(chat) for chat in sorted(found.reviewed)]

    @staticmethod
    def _went(vault: OpenVault, chat: ChatId) -> Event:
        return ChatArchived(chat) if vault.chats.where(chat) == "archived" else ChatDeleted(chat)


def _ended(task: "asyncio.Task[None]") -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _log.error("the vaults are not watched any more: %s", type(error).__name__, exc_info=error)
