"""Names inside a workspace that are never touched, and names that are never made. Pure; any thread."""

import re
import secrets
import unicodedata

from vibekit_desktop.core.types.errors import PathRefused
from vibekit_desktop.core.types.ids import WorkspacePath, parse_workspace_path

_STAGE = re.compile(r"[^/]*\.vibekit-restore-[0-9]+")
_STAGE_DIGITS = 18
"""So many that nobody guesses a name in time to be in the way of it."""
_SHORT_GIT = re.compile(r"git~[0-9]+")
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\\x00-\x1f]')
_NAME_BYTES = 255
"""The longest name that the usual file systems take."""


def is_git_alias(part: str) -> bool:
    """Whether some file system would take this name for ``.git``: other case, trailing dots or blanks, a stream behind
    ``:``, characters that are ignored in comparing, the short name of Windows."""
    if part.isascii() and "git" not in part.lower():
        return False  # most names, quickly
    for piece in part.split("\\"):
        seen = "".join(sign for sign in piece if unicodedata.category(sign) != "Cf")
        seen = seen.split(":", 1)[0].rstrip(" .").casefold()
        if seen == ".git" or _SHORT_GIT.fullmatch(seen):
            return True
    return False


def is_stage_name(name: str) -> bool:
    """Whether a name looks like a stage of a restore. Looking like one does not make it ours."""
    return ".vibekit-restore-" in name and _STAGE.fullmatch(name) is not None


def stage_name(base: str) -> str:
    """A new stage name for a target: text that any log can hold, and no longer than a name may be."""
    suffix = f".vibekit-restore-{secrets.randbelow(10**_STAGE_DIGITS):0{_STAGE_DIGITS}d}"
    exact = base.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode("utf-8")
    return exact[: _NAME_BYTES - len(suffix)].decode("utf-8", "ignore") + suffix


def refusal(path: WorkspacePath) -> str:
    """Why a path is never read or written, or nothing."""
    parts = path.split("/")
    if any(is_git_alias(part) for part in parts):
        return "git"
    return "stage" if any(is_stage_name(part) for part in parts) else ""


def is_reserved(part: str) -> bool:
    """Whether a name cannot exist on Windows, or means a device there: such a file could not be removed (BL-078)."""
    if part != part.rstrip(" .") or _NOT_ON_WINDOWS.search(part):
        return True
    return _DEVICE.fullmatch(part.split(".", 1)[0].rstrip(" ")) is not None


def relative(root: str, text: str) -> WorkspacePath:
    """A path as a person gives it: relative to the workspace, or absolute inside it.

    `PathEscape` if it is outside or the workspace itself, `PathRefused` if it is one we never touch.
    """
    base = root.rstrip("/") + "/"
    path = parse_workspace_path(text[len(base) :] if text.startswith(base) else text)
    reason = refusal(path)
    if reason:
        raise PathRefused(path, reason)
    return path
