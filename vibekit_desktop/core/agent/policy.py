"""What an agent may touch at all: one path, one operation, a verdict. Pure: it looks at texts, never at the disk.

Whatever text an agent gives for a path, the answer is a verdict and never an exception. No mode, rule or answer makes a refused
path a free one: nothing is written outside of the workspace, inside of repositories' own folders, to keys, or to our own data.
Where links lead is looked at by `places`, which asks again for the place behind them. Any thread.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from vibekit_desktop.core.agent.name_tables import seen_as, words
from vibekit_desktop.core.agent.runs_later import runs_later
from vibekit_desktop.core.agent.secret_names import is_secret, may_hold_key
from vibekit_desktop.core.disk import names
from vibekit_desktop.core.types.agents import Operation, Why
from vibekit_desktop.core.types.ids import WorkspacePath

PATH_BYTES = 4095
MOST_PARTS = 1000
_DRIVE = re.compile(r"[A-Za-z]:")
_REPOSITORY = frozenset({".hg", ".svn", ".jj", ".bzr", "_darcs", ".fslckout", ".sl"})
_BARE = frozenset({"hooks", "config", "info", "objects", "refs", "head", "packed-refs", "worktrees", "modules"})
_DEVICES = frozenset({"proc", "sys", "dev"})
_SHELL_START = words(
    """
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .cshrc
    .tcshrc .login .kshrc .mkshrc .inputrc .xinitrc .xsession .xprofile .xsessionrc .pam_environment .gitconfig .vimrc .npmrc
    """
)
_HOME_START = (
    (".config", "fish"),
    (".config", "git"),
    (".config", "direnv"),
    (".config", "environment.d"),
    (".config", "nvim"),
)
_HOME_AUTOSTART = (
    (".config", "autostart"),
    (".config", "autostart-scripts"),
    (".config", "systemd"),
    (".local", "share", "systemd"),
    (".config", "plasma-workspace"),
    ("library", "launchagents"),
    ("appdata", "roaming", "microsoft", "windows", "start menu", "programs", "startup"),
)
_SYSTEM_START = ("etc", "usr", "bin", "sbin", "lib", "lib64", "boot", "var", "opt", "system", "library", "windows")


class Verdict(StrEnum):
    """``free``: a rule or the person decides. ``ask``: the person decides, whatever the rules are."""

    REFUSE = "refuse"
    ASK = "ask"
    FREE = "free"


class Refused(StrEnum):
    """Why a path is refused in every mode."""

    OUTSIDE = "outside"
    START_FILE = "start-file"
    AUTOSTART = "autostart"
    HOME_FILE = "home-file"
    KEYS = "keys"
    OWN_DATA = "own-data"
    REPOSITORY = "repository"
    STAGE = "stage"
    DEVICE = "device"
    SYSTEM = "system"
    WORKSPACE = "workspace"
    """The workspace folder itself."""
    NO_PATH = "no-path"
    """The text is no path: empty, too long, with characters that no path has, or of another system."""
    LINK = "link"
    """A link on the way, or in the place, leads elsewhere."""
    NOT_REGULAR = "not-regular"
    RESERVED = "reserved"
    CANNOT_LOOK = "cannot-look"
    GONE = "gone"
    """There is no workspace folder any more."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What paths are held against. All absolute, links resolved. ``never``: our own folders and files."""

    workspace: str
    home: str
    never: tuple[str, ...] = ()

    @property
    def is_windows(self) -> bool:
        """Whether the workspace is a path as Windows writes them."""
        return _DRIVE.match(self.workspace) is not None or self.workspace.startswith("\\\\")


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on one path. ``path``: inside of the workspace, or None. ``absolute``: one text for the place, for showing
    and for looking where it leads; empty if the text is no path."""

    verdict: Verdict
    absolute: str = ""
    path: WorkspacePath | None = None
    refused: Refused | None = None
    why: Why | None = None


def absolute(text: str, bounds: Bounds) -> str:
    """The place that a text of an agent's means, as an absolute path with ``/`` between the parts; the parts are as they came,
    also ``..``. Empty if it is no path here."""
    if not text or "\0" in text:
        return ""
    if text.casefold().startswith("file:"):
        text = _of_uri(text)
        if not text:
            return ""
    try:
        if len(os.fsencode(text)) > PATH_BYTES or text.count("/") > MOST_PARTS:
            return ""
    except UnicodeEncodeError:
        return ""  # half characters: no file has such a name
    if bounds.is_windows:
        text = text.replace("\\", "/")
    elif (_DRIVE.match(text) and text[2:3] in ("\\", "/", "")) or text.startswith("\\\\"):
        return ""  # of another system
    for mark in ("~", "$HOME", "${HOME}"):
        if text == mark or text.startswith(mark + "/"):
            return f"{_slashed(bounds.home)}{text[len(mark) :]}"
    if text.startswith("~"):
        return ""  # somebody else's home
    if text.startswith("/") or (bounds.is_windows and _DRIVE.match(text)):
        return text
    return f"{_slashed(bounds.workspace)}/{text}"


def judge(text: str, operation: Operation, bounds: Bounds) -> Ruling:
    """The verdict on a text that an agent gave for a path."""
    place = absolute(text, bounds)
    if not place:
        return Ruling(Verdict.REFUSE, refused=Refused.NO_PATH)
    parts = _parts(place)
    shown = _joined(parts, bounds)
    top = _parts(_slashed(bounds.workspace))
    home = _parts(_slashed(bounds.home))
    is_top = len(parts) >= len(top) and (_is_below(parts, top) if bounds.is_windows else parts[: len(top)] == top)
    inside = WorkspacePath("/".join(parts[len(top) :])) if is_top and len(parts) > len(top) else None
    writes = operation not in (Operation.READ, Operation.RUN, Operation.FETCH, Operation.OTHER)

    def refuse(reason: Refused) -> Ruling:
        return Ruling(Verdict.REFUSE, shown, inside, refused=reason)

    if any(_is_below(parts, _parts(_slashed(folder))) for folder in bounds.never):
        return refuse(Refused.OWN_DATA)
    if not writes:
        return _reading(refuse, shown, inside, parts, top)
    named = _named(parts, home)
    if inside is None:
        return refuse(Refused.WORKSPACE if is_top else named or _outside(parts, home))
    below = parts[len(top) :]
    if is_repository(below):
        return refuse(Refused.REPOSITORY)
    if any(names.is_stage_name(part) for part in below):
        return refuse(Refused.STAGE)
    if is_secret(below):
        return refuse(Refused.KEYS)
    chosen = named is not None and named is not Refused.KEYS and _named([*top, "x"], home) is named
    if named is not None and not chosen:
        return refuse(named)  # the workspace is the home folder, or holds it
    if chosen or runs_later(below):
        return Ruling(Verdict.ASK, shown, inside, why=Why.RUNS_LATER)
    if may_hold_key(below[-1]):
        return Ruling(Verdict.ASK, shown, inside)
    return Ruling(Verdict.FREE, shown, inside)


def is_repository(parts: Sequence[str]) -> bool:
    """Whether a path lies in what a version control keeps for itself, also that of a sub-module or a bare repository."""
    for at, part in enumerate(parts):
        seen = seen_as(part)
        if names.is_git_alias(part) or seen in _REPOSITORY:
            return True
        if seen.endswith(".git") and at + 1 < len(parts) and seen_as(parts[at + 1]) in _BARE:
            return True
    return False


def _reading(
    refuse: Callable[[Refused], Ruling], shown: str, inside: WorkspacePath | None, parts: list[str], top: list[str]
) -> Ruling:
    if inside is not None:
        return refuse(Refused.KEYS) if is_secret(parts[len(top) :], writing=False) else Ruling(Verdict.FREE, shown, inside)
    if parts == top:
        return Ruling(Verdict.FREE, shown)
    if parts and seen_as(parts[0]) in _DEVICES:
        return refuse(Refused.DEVICE)
    if is_secret(parts, writing=False):
        return refuse(Refused.KEYS)
    return Ruling(Verdict.ASK, shown, why=Why.OUTSIDE)


def _named(parts: list[str], home: list[str]) -> Refused | None:
    """The reason for what is refused by its place in the home folder, wherever the workspace is."""
    if not _is_below(parts, home) or len(parts) == len(home):
        return None
    below = tuple(seen_as(part) for part in parts[len(home) :])
    if is_secret(below):
        return Refused.KEYS
    if (len(below) == 1 and below[0] in _SHELL_START) or any(below[: len(place)] == place for place in _HOME_START):
        return Refused.START_FILE
    if any(below[: len(place)] == place for place in _HOME_AUTOSTART):
        return Refused.AUTOSTART
    return None


def _outside(parts: list[str], home: list[str]) -> Refused:
    if _is_below(parts, home) and len(parts) > len(home):
        return Refused.HOME_FILE if parts[len(home)].startswith(".") else Refused.OUTSIDE
    first = seen_as(parts[0]) if parts else ""
    if first in _DEVICES:
        return Refused.DEVICE
    if is_secret(parts):
        return Refused.KEYS
    return Refused.SYSTEM if first in _SYSTEM_START else Refused.OUTSIDE


def _is_below(parts: Sequence[str], folder: Sequence[str]) -> bool:
    """Whether a path is a folder or below it, without regard to case: to refuse too much here harms nobody."""
    if not folder or len(parts) < len(folder):
        return False
    return all(seen_as(one) == seen_as(other) for one, other in zip(parts, folder, strict=False))


def _of_uri(text: str) -> str:
    try:
        found = urlsplit(text)
    except ValueError:
        return ""
    path = unquote(found.path, errors="surrogateescape")
    if found.netloc not in ("", "localhost") or "\0" in path:
        return ""
    return path[1:] if re.match(r"/[A-Za-z]:/", path) else path


def _slashed(text: str) -> str:
    text = text.replace("\\", "/") if _DRIVE.match(text) or text.startswith("\\\\") else text
    return text.rstrip("/")


def _parts(place: str) -> list[str]:
    """The parts of an absolute path, ``.`` and ``..`` done away with by text; a drive letter is the first of them."""
    found: list[str] = []
    for part in place.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if found and not _DRIVE.fullmatch(found[-1]):
                found.pop()
            continue
        found.append(part.lower() if not found and _DRIVE.fullmatch(part) else part)
    return found


def _joined(parts: Sequence[str], bounds: Bounds) -> str:
    drive = bool(parts) and _DRIVE.fullmatch(parts[0]) is not None
    return ("" if drive else "//" if bounds.is_windows else "/") + "/".join(parts)
