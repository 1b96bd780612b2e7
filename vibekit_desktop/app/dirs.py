"""Where data, caches, logs and window state live on each platform, or under ``--data-dir``.

Only names places; makes nothing. Any thread.
"""

import errno
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vibekit_desktop.core.types.errors import StoreUnwritable

APP = "vibekit-desktop"


@dataclass(frozen=True, slots=True)
class Dirs:
    """Where everything of ours is. ``cache``, ``logs`` and ``state`` can be deleted at any time."""

    data: Path

    @property
    def cache(self) -> Path:
        """Search index, header cache."""
        return self.data / "cache"

    @property
    def logs(self) -> Path:
        """The log file."""
        return self.data / "logs"

    @property
    def state(self) -> Path:
        """Window state."""
        return self.data / "state"


def find_dirs(chosen: str | None, environ: Mapping[str, str] = os.environ) -> Dirs:
    """``chosen`` (from ``--data-dir``) wins over ``VIBEKIT_DATA_DIR``, that over the user's own place."""
    text = chosen or environ.get("VIBEKIT_DATA_DIR") or ""
    if text:
        return Dirs(_behind_link(Path(os.path.abspath(os.path.expanduser(text)))))
    import platformdirs  # here, so that a start with --data-dir does not pay for it

    return Dirs(_behind_link(Path(platformdirs.user_data_dir(APP, appauthor=False))))


def _behind_link(data: Path) -> Path:
    """The folder itself, where the user moved it elsewhere and left a link. Not of a link that leads nowhere: its disk may only
    be missing now, and an empty library in its place would look as if everything were gone."""
    return Path(os.path.realpath(data)) if data.is_symlink() and data.is_dir() else data


def unwritable(dirs: Dirs) -> StoreUnwritable | None:
    """Why nothing can be kept in the data folder; None if it can, as far as can be seen without writing."""
    place = dirs.data
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        return StoreUnwritable(str(place), "not a folder")
    while not place.exists() and place.parent != place:
        place = place.parent
    if os.access(place, os.W_OK | os.X_OK):
        return None
    read_only = sys.platform != "win32" and os.statvfs(place).f_flag & os.ST_RDONLY
    return StoreUnwritable(str(dirs.data), os.strerror(errno.EROFS if read_only else errno.EACCES))
