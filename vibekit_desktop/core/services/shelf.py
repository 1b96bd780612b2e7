"""The vaults of this user: which there are, which one belongs to a folder, which one holds a chat; and what is decided for all.

Blocking; used in threads. The list, the settings and the sources' rows that are hidden are ``library.json`` in the data
directory, replaced whole under a short lock of its own (docs/storage-format.md 7). A library file that cannot be read is set
aside by name and said, never overwritten.
"""

import logging
import threading
import uuid
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import msgspec

from vibekit_desktop.core.disk import atomic, folders
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.errors import CannotRead, CoreError, NewerFormat, WorkspaceRefused
from vibekit_desktop.core.types.ids import ChatId, VaultId
from vibekit_desktop.core.types.settings import Limits

VERSION = 1
_log = logging.getLogger(__name__)


class VaultEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One vault of the list. ``folder`` is relative to the data directory for vaults made by us, absolute for opened ones.

    ``dev`` and ``ino`` are those of the workspace folder when it was last seen, 0 while it was not found."""

    id: str
    folder: str
    workspace: str
    dev: int = 0
    ino: int = 0
    used_at: int = 0
    unlisted: bool = False
    """Opened for single runs by ``--vault``: kept in the list, shown by no other run."""


class LibraryFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``library.json``."""

    version: int = VERSION
    vaults: tuple[VaultEntry, ...] = ()
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    """What differs from the defaults, by key; what we do not know in it stays."""
    hidden: tuple[str, ...] = ()
    """Chats of other programs' sessions that were deleted: their sources' rows do not come back by themselves."""


class Shelf:
    """All vaults, opened lazily. Invariant: at most one vault per existing folder, whatever the spelling of its path."""

    def __init__(self, fs: Fs, data_dir: Path, *, clock: Callable[[], int], home: Path) -> None:
        self._fs = fs
        self._data_dir = data_dir
        self._path = data_dir / "library.json"
        self._lock = VaultLock(fs, data_dir)
        self._clock = clock
        self._home = home
        self._open: dict[str, OpenVault] = {}
        self._for_this_run: OpenVault | None = None
        self._guard = threading.RLock()  # the cache below is used from several worker threads
        self._cache: tuple[tuple[int, int, int], LibraryFile] | None = None
        self.limits: Callable[[], Limits] = Limits
        """What the settings allow a capture; the vaults opened from now on ask it each time."""

    @property
    def data_dir(self) -> Path:
        """Where the library lives."""
        return self._data_dir

    def open_for_this_run(self, folder: Path, workspace: Path) -> None:
        """Use an existing vibekit folder as the vault of ``workspace``, without listing it (``--vault``)."""
        found = self._fs.stat(folder)
        if found is None:
            raise CannotRead(str(folder), "missing")
        text = folders.settled(str(workspace))
        self._for_this_run = self._make(VaultId(f"@{folder}"), folder, text)
        try:
            self._record(str(folder), text)
        except CoreError as error:
            _log.info("the opened vault was not recorded: %s", error.code)  # no reason not to read it

    def _record(self, folder: str, workspace: str) -> None:
        def add(library: LibraryFile) -> LibraryFile:
            if any(entry.folder == folder and entry.workspace == workspace for entry in library.vaults):
                return library
            entry = VaultEntry(id=str(uuid.uuid4()), folder=folder, workspace=workspace, used_at=self._clock(), unlisted=True)
            return msgspec.structs.replace(library, vaults=(*library.vaults, entry))

        if not any(entry.folder == folder and entry.workspace == workspace for entry in self.read().vaults):
            self._change(add)

    def read(self) -> LibraryFile:
        """The list as it is on disk now; raises `CannotRead` or `NewerFormat` and changes nothing."""
        with self._guard:
            found = self._fs.stat(self._path)
            if found is None:
                return LibraryFile(vaults=self._left_behind())
            stamp = (found.st_size, found.st_mtime_ns, found.st_ino)
            if self._cache and self._cache[0] == stamp:
                return self._cache[1]
            try:
                library = msgspec.json.decode(self._fs.read_bytes(self._path, limit=16 << 20), type=LibraryFile)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise CannotRead(str(self._path), "the list of vaults is damaged; it was kept as it is") from error
            if library.version > VERSION:
                raise NewerFormat(str(self._path))
            self._cache = (stamp, library)
            return library

    def _left_behind(self) -> tuple[VaultEntry, ...]:
        """The vaults of a list that is gone: each says itself which workspace it is of."""
        found: list[VaultEntry] = []
        for name in self._fs.list_names(self._data_dir / "vaults"):
            try:
                said = msgspec.json.decode(self._fs.read_bytes(self._name_of(name), limit=1 << 20), type=VaultEntry)
            except (FileNotFoundError, CannotRead, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # not one of ours, or damaged: it stays where it is
            if said.id == name:
                found.append(said)
        return tuple(found)

    def _name_of(self, vault: str) -> Path:
        return self._data_dir / "vaults" / vault / "desktop" / "vault.json"

    def _write_name(self, entry: VaultEntry) -> None:
        """Let a vault say which workspace it is of, so that losing the list loses no history."""
        path = self._name_of(entry.id)
        self._fs.make_folder(path.parent)
        atomic.replace(self._fs, path, msgspec.json.encode(entry))

    def _change(self, change: Callable[[LibraryFile], LibraryFile]) -> LibraryFile:
        """Read, change and replace the list under its lock."""
        self._fs.make_folder(self._data_dir)
        with self._lock.hold():
            before = self.read()
            atomic.sweep(self._fs, self._data_dir)
            after = change(before)
            if after != before:
                atomic.replace(self._fs, self._path, msgspec.json.format(msgspec.json.encode(after), indent=2))
            return after

    def vaults(self) -> list[OpenVault]:
        """All vaults, most recently used first; the one opened for this run before them."""
        entries = sorted((one for one in self.read().vaults if not one.unlisted), key=lambda entry: entry.used_at, reverse=True)
        listed = [self._opened(entry) for entry in entries]
        if self._for_this_run is None:
            return listed
        own = self._for_this_run
        return [own, *(vault for vault in listed if vault.workspace_path != own.workspace_path)]

    def _opened(self, entry: VaultEntry) -> OpenVault:
        with self._guard:
            vault = self._open.get(entry.id)
            if vault is None or vault.workspace_path != entry.workspace:
                folder = Path(entry.folder)
                folder = folder if folder.is_absolute() else self._data_dir / folder
                vault = self._open[entry.id] = self._make(VaultId(entry.id), folder, entry.workspace)
            return vault

    def _make(self, vault: VaultId, folder: Path, workspace: str) -> OpenVault:
        return OpenVault(
            self._fs,
            vault,
            folder,
            workspace,
            clock=self._clock,
            data_dir=self._data_dir,
            home=self._home,
            limits=self._limits_now,
        )

    def _limits_now(self) -> Limits:
        return self.limits()  # who knows them is given later

    def find(self, workspace: str) -> OpenVault | None:
        """The vault of a folder, by its recorded text, or because both texts name the same existing folder."""
        text = folders.settled(workspace)
        for vault in self.vaults():
            if vault.workspace_path == text:
                return vault
        here = folders.identity(text)
        if here is None:
            return None
        for vault in self.vaults():
            if folders.identity(vault.workspace_path) == here:
                return vault
        return None

    def for_workspace(self, workspace: str) -> OpenVault:
        """The vault of a folder, made if there is none. The folder need not exist (an import from another computer)."""
        found = self.find(workspace)
        if found:
            self._touch(found)
            return found
        text = folders.settled(workspace)
        identity = folders.identity(text) or (0, 0)
        fresh = str(uuid.uuid4())

        def add(library: LibraryFile) -> LibraryFile:
            for entry in library.vaults:
                if entry.workspace == text and not entry.unlisted:  # another process was quicker
                    return library
            entry = VaultEntry(
                id=fresh,
                folder=f"vaults/{fresh}",
                workspace=text,
                dev=identity[0],
                ino=identity[1],
                used_at=self._clock(),
            )
            self._write_name(entry)
            return msgspec.structs.replace(library, vaults=(*library.vaults, entry))

        library = self._change(add)
        entry = next(entry for entry in library.vaults if entry.workspace == text and not entry.unlisted)
        return self._opened(entry)

    def _touch(self, vault: OpenVault) -> None:
        def used(library: LibraryFile) -> LibraryFile:
            now = self._clock()
            changed = tuple(
                msgspec.structs.replace(entry, used_at=now) if entry.id == vault.id and now - entry.used_at > 60_000 else entry
                for entry in library.vaults
            )
            return msgspec.structs.replace(library, vaults=changed)

        if vault is not self._for_this_run:
            self._change(used)

    def seen_as(self, vault: OpenVault) -> tuple[int, int] | None:
        """Device and inode of a listed vault's workspace when it was last seen; zeros if it never was."""
        return next(((entry.dev, entry.ino) for entry in self.read().vaults if entry.id == vault.id), None)

    def rebind(self, vault: OpenVault, workspace: str) -> None:
        """A listed vault's workspace is at ``workspace`` from now on. A vault of that folder, in which there is nothing, is on
        the list no longer."""
        here = folders.identity(workspace) or (0, 0)
        bare = [
            other.id for other in self.vaults() if other.id != vault.id and folders.same_folder(other.workspace_path, workspace)
        ]

        def moved(library: LibraryFile) -> LibraryFile:
            former = next((entry for entry in library.vaults if entry.id == vault.id), None)
            if former is None:
                raise WorkspaceRefused(workspace, "not-listed")
            entry = msgspec.structs.replace(former, workspace=workspace, dev=here[0], ino=here[1], used_at=self._clock())
            if not Path(entry.folder).is_absolute():
                self._write_name(entry)
            kept = (one for one in library.vaults if one.id not in bare)
            return msgspec.structs.replace(library, vaults=tuple(entry if one.id == entry.id else one for one in kept))

        self._change(moved)
        for other in bare:
            self._fs.remove(self._name_of(other))  # else it came back as a second one of the folder if the list were lost

    def refuse_as_workspace(self, folder: Path) -> None:
        """Raise `WorkspaceRefused` for the root of the disk, the home folder, and our own data."""
        if folders.is_disk_root(str(folder)):
            raise WorkspaceRefused(str(folder), "root")
        if folders.same_folder(str(folder), str(self._home)):
            raise WorkspaceRefused(str(folder), "home")
        self.refuse_own_data(str(folder))

    def refuse_own_data(self, folder: str) -> None:
        """Raise `WorkspaceRefused` for our own data: a restore would rewrite what it stands on."""
        if folders.is_inside(folder, str(self._data_dir)):
            raise WorkspaceRefused(folder, "own-data")

    def holding(self, chat: ChatId) -> OpenVault | None:
        """The vault that has the chat's file, among the archived ones too; one in sight wins."""
        archived: OpenVault | None = None
        for vault in self.vaults():
            try:
                place = vault.chats.where(chat)
            except CannotRead as error:
                # one vault that cannot be looked at hides no chat of the others
                _log.info("vault %s was passed over: %s", vault.id, error.reason)
                continue
            if place == "active":
                return vault
            if place and archived is None:
                archived = vault
        return archived

    # -- decided for all vaults ------------------------------------------------------------------------------------

    def settings(self) -> Mapping[str, object]:
        """What is stored of the settings, as it is on disk now."""
        return self.read().settings

    def set_setting(self, key: str, value: object) -> None:
        """Store one setting, the others as they are."""
        self._change(lambda library: msgspec.structs.replace(library, settings={**library.settings, key: value}))

    def hidden(self) -> frozenset[str]:
        """The chats whose sources' rows are not to be shown."""
        return frozenset(self.read().hidden)

    def hide(self, chats: Collection[ChatId]) -> None:
        """Show these sources' rows no longer."""
        if not self.hidden().issuperset(chats):
            self._change(lambda found: msgspec.structs.replace(found, hidden=tuple(dict.fromkeys((*found.hidden, *chats)))))

    def unhide(self, chats: Collection[ChatId]) -> None:
        """Show these sources' rows again."""
        if not self.hidden().isdisjoint(chats):
            self._change(
                lambda found: msgspec.structs.replace(found, hidden=tuple(one for one in found.hidden if one not in chats))
            )
