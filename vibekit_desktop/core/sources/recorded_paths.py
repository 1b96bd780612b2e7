"""Map paths as another program recorded them, perhaps on another system, to paths of the workspace. Pure string logic.

Windows paths are understood on every platform; their drive letter is compared without regard to case. Never touches the disk.
"""

import re
from dataclasses import dataclass

from vibekit_desktop.core.disk.names import refusal
from vibekit_desktop.core.sources.base import OUTSIDE, PRIVATE
from vibekit_desktop.core.types.errors import PathEscape
from vibekit_desktop.core.types.ids import WorkspacePath, parse_workspace_path

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def is_windows(path: str) -> bool:
    """Whether a path is absolute as Windows writes them: a drive letter, or a network share."""
    return bool(_DRIVE.match(path)) or path.startswith("\\\\")


def is_absolute(path: str) -> bool:
    """Absolute on any system."""
    return path.startswith("/") or is_windows(path)


def canonical(path: str) -> str:
    """An absolute path with ``/`` between the parts, a lower-case drive letter, and no ``.``, ``..`` or empty parts."""
    if is_windows(path):
        path = path.replace("\\", "/")
        if path[1:2] == ":":
            path = path[0].lower() + path[1:]
    lead = "//" if path.startswith("//") else "/" if path.startswith("/") else ""
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != "..":
            parts.append(part)
    return lead + "/".join(parts)


@dataclass(frozen=True, slots=True)
class RecordedRoot:
    """The folder that a session was recorded in; empty if the history does not say."""

    cwd: str

    def absolute(self, path: str, cwd_then: str = "") -> str:
        """The recorded path made absolute with the folder the agent was in at that moment."""
        if is_absolute(path):
            return canonical(path)
        base = cwd_then or self.cwd
        if is_windows(base):
            path = path.replace("\\", "/")
        return canonical(f"{base}/{path}") if base else path

    def relative(self, path: str, cwd_then: str = "") -> tuple[WorkspacePath | None, str]:
        """The workspace path, or None and why it is only noted."""
        absolute = self.absolute(path, cwd_then)
        root = canonical(self.cwd) if self.cwd else ""
        prefix = root if root.endswith("/") else root + "/"
        if not root or not absolute.startswith(prefix):
            return None, OUTSIDE
        try:
            inside = parse_workspace_path(absolute[len(prefix) :])
        except PathEscape:
            return None, OUTSIDE
        if refusal(inside):
            return None, PRIVATE
        return inside, ""

    def show(self, path: str) -> str:
        """The path as a transcript shows it: relative where it is inside the workspace, else as recorded."""
        inside, _ = self.relative(path)
        return inside if inside is not None else path
