"""Where data, caches, logs and window state live on each platform, or under ``--data-dir``.

Only names places; makes nothing. Any thread.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APP = "vibekit-desktop"


@dataclass(frozen=True, slots=True)
class Dirs:
    """The places of storage.md 1. ``cache``, ``logs`` and ``state`` can be deleted at any time."""

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
        return Dirs(Path(os.path.abspath(os.path.expanduser(text))))
    import platformdirs  # here, so that a start with --data-dir does not pay for it

    return Dirs(Path(platformdirs.user_data_dir(APP, appauthor=False)))
