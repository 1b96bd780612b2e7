"""Open a file of a workspace with the program that the system has for it; never one that would run.

What an agent wrote must not run because somebody wanted to read it: of a program its folder is opened instead. UI thread only.
"""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from vibekit_desktop.core.types.checkpoints import FileState
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.wording import folder_name

_RUN = frozenset(
    (
        "app",
        "appimage",
        "appref-ms",
        "bat",
        "chm",
        "cmd",
        "com",
        "command",
        "cpl",
        "desktop",
        "dll",
        "exe",
        "gadget",
        "hta",
        "inf",
        "ins",
        "jar",
        "job",
        "jse",
        "lnk",
        "msc",
        "msi",
        "msp",
        "pif",
        "ps1",
        "psc1",
        "reg",
        "rgs",
        "scf",
        "scpt",
        "scr",
        "sct",
        "shb",
        "terminal",
        "tool",
        "url",
        "vb",
        "vbe",
        "vbs",
        "ws",
        "wsc",
        "wsf",
        "wsh",
        "workflow",
        "xpi",
    )
)
"""Endings that some system runs, installs or follows, and does not show."""
_BY_NAME = frozenset(("bash", "fish", "js", "ksh", "php", "pl", "py", "pyw", "rb", "sh", "tcl", "zsh"))
"""Endings of source text that a system may run when it is opened: shown where the system is known to edit them."""


def runs_when_opened(path: WorkspacePath, state: FileState, *, windows: bool) -> bool:
    """Whether opening a file may run it rather than show it."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
    if ending in _RUN:
        return True
    if windows:
        return ending in _BY_NAME
    executable = state.mode is not None and bool(state.mode & 0o111)
    return executable and (not ending or ending in _BY_NAME)


def file_address(workspace: str, path: str) -> QUrl:
    """Where a file or folder of a workspace is, as the system is asked for it."""
    return QUrl.fromLocalFile(f"{workspace.rstrip('/')}/{path}" if path else workspace)


def open_in_editor(workspace: str, path: WorkspacePath, *, only_folder: bool) -> bool:
    """Ask the system to open a file, or the folder it is in; whether it said that it would."""
    return QDesktopServices.openUrl(file_address(workspace, folder_name(path) if only_folder else path))
