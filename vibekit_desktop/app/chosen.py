"""What the arguments chose: the options of a plain start, the home folder, the vault of one run.

Imported before the first paint, so it imports nothing that takes time.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path
    from types import SimpleNamespace

    Options = Namespace | SimpleNamespace

PLAIN_WINDOW = {
    "verb": None, "data_dir": None, "vault": None, "vault_workspace": None, "home": None, "offscreen_shot": None,
    "size": (1440, 900), "theme": None, "open_chat": None, "view": None, "json": False, "verbose": False,
}  # fmt: skip
"""The options when there are no arguments: the window is not kept waiting for the argument parser."""


def home_of(options: "Options") -> "tuple[Path, Path | None]":
    """The home folder whose histories are looked for, and where the environment moved Claude Code's folder to (only for the
    user's own home)."""
    from pathlib import Path

    if options.home:
        return Path(os.path.abspath(os.path.expanduser(options.home))), None
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(os.path.expanduser("~")), Path(moved) if moved else None


def vault_of(options: "Options") -> "tuple[Path, Path] | None":
    """(folder, workspace) of ``--vault`` and ``--workspace``."""
    from pathlib import Path

    if not options.vault:
        return None
    return Path(os.path.abspath(options.vault)), Path(os.path.abspath(options.vault_workspace))
