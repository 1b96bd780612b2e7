"""How much the stored contents of all vaults take, counted cheaply enough to be shown all the time.

Folders of blobs are counted one by one and again only when something was added to or removed from them. A content in
both places of a vault counts once, as in `BlobStore.listed`. Blocking; used in threads.
"""

import stat as stat_bits
import threading
from collections.abc import Iterable
from pathlib import Path

from vibekit_desktop.core.checkpoint.blobs import OWN, SHARED
from vibekit_desktop.core.disk import atomic
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotRead

_Stamps = tuple[tuple[int, int], ...]


class StoreSizes:
    """Invariant: what is remembered of a folder is what was in it when it had that stamp."""

    def __init__(self, fs: Fs) -> None:
        self._fs = fs
        self._guard = threading.Lock()
        self._known: dict[tuple[Path, str], tuple[_Stamps, int]] = {}

    def bytes_of(self, vaults: Iterable[Path]) -> int:
        """The bytes of all blobs of these vaults' folders. A folder that cannot be read counts as what it was."""
        with self._guard:
            return sum(self._of_vault(vault) for vault in vaults)

    def _of_vault(self, vault: Path) -> int:
        places = (vault / SHARED, vault / OWN)
        shards = sorted({name for place in places for name in self._names(place) if not name.startswith(atomic.TEMP_PREFIX)})
        return sum(self._of_shard(vault, shard, places) for shard in shards)

    def _of_shard(self, vault: Path, shard: str, places: tuple[Path, ...]) -> int:
        stamps = tuple(self._stamp(place / shard) for place in places)
        known = self._known.get((vault, shard))
        if known is not None and known[0] == stamps:
            return known[1]
        sizes: dict[str, int] = {}
        for place in places:
            try:
                found = list(self._fs.stats(place / shard)) if self._fs.is_folder(place / shard) else []
            except (CannotRead, OSError):
                continue
            sizes.update((name, one.st_size) for name, one in found if stat_bits.S_ISREG(one.st_mode))
        total = sum(size for name, size in sizes.items() if not name.startswith(atomic.TEMP_PREFIX))
        self._known[vault, shard] = stamps, total
        return total

    def _stamp(self, folder: Path) -> tuple[int, int]:
        try:
            found = self._fs.stat(folder)
        except CannotRead:
            found = None
        return (found.st_mtime_ns, found.st_ino) if found is not None else (0, 0)

    def _names(self, folder: Path) -> list[str]:
        try:
            return self._fs.list_names(folder)
        except CannotRead:
            return []
