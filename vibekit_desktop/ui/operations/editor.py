"""Open a file of a workspace in another program as a person asks for it, and say what could not be done. UI thread only."""

import sys

from vibekit_desktop.core.types.checkpoints import FileState
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.views.open_file import open_in_editor, runs_when_opened
from vibekit_desktop.ui.wording import file_name, shown_path


def open_file(notifier: Notifier, workspace: str, path: WorkspacePath, state: FileState) -> None:
    """Open a file that is in ``state``; of one that would run, its folder."""
    runs = runs_when_opened(path, state, windows=sys.platform == "win32")
    name = file_name(shown_path(path))
    if not open_in_editor(workspace, path, only_folder=runs):
        notifier.toast(tr("This computer has no program for {file}.", file=name), "error")
    elif runs:
        text = tr("{file} would run if it was opened, so its folder was opened instead.", file=name)
        notifier.toast(text, "info")
