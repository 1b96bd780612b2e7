"""Which files of a repository git may hold otherwise than they are on disk, although their sizes agree.

End-of-line and ident conversions change the size of what they change. A filter (``filter=lfs``) or another encoding need not,
so a path that any rule gives one is not taken from git. Errs on the side of "may be different". Blocking; one thread.
"""

import os
import re
from pathlib import Path

from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.gitdirs import GitDir
from vibekit_desktop.core.disk.reach import NO_RULES, Reach
from vibekit_desktop.core.disk.wildmatch import Rule, byte_text, lines_of, rule
from vibekit_desktop.core.types.errors import CannotRead

_FILE = ".gitattributes"
_FILE_BYTES = 1 << 20
"""A larger file counts as one that cannot be read: every path under it may differ."""
_CHANGING = frozenset({b"filter", b"working-tree-encoding"})
_NAMED_FILE = re.compile(rb"attributesfile", re.IGNORECASE)
_INCLUDES = re.compile(rb"\[\s*include", re.IGNORECASE)


class Attributes:
    """The rules that may change contents, of one repository at one moment."""

    def __init__(self, fs: Fs, repository: GitDir) -> None:
        self._fs = fs
        self._top = repository.top
        self._macros = set(_CHANGING)
        self._reach: dict[bytes, Reach | None] = {}
        try:
            self._reach[b""] = self._at_top(repository)
        except CannotRead:
            self._reach[b""] = None

    def may_differ(self, path: bytes) -> bool:
        """Whether a file, given relative to the top, may have other bytes in git than on disk."""
        folder, _, name = path.rpartition(b"/")
        reach = self._reach[folder] if folder in self._reach else self._of(folder)
        return reach is None or reach.names.strongest(byte_text(name), folder=False) is not None

    def _of(self, folder: bytes) -> Reach | None:
        parts = folder.split(b"/")
        for count in range(len(parts)):
            here = b"/".join(parts[: count + 1])
            if here in self._reach:
                continue
            above = self._reach[b"/".join(parts[:count])]
            try:
                self._reach[here] = above and self._with_file(here, above.below(byte_text(parts[count])))
            except CannotRead:
                self._reach[here] = None
        return self._reach[folder]

    def _with_file(self, folder: bytes, reach: Reach) -> Reach:
        rules = self._rules(self._data(self._top / os.fsdecode(folder) / _FILE))
        return reach.with_rules(tuple((0, one) for one in rules)) if rules else reach

    def _at_top(self, repository: GitDir) -> Reach:
        data = [self._data(path, follow=True) for path in self._of_the_user(repository)]
        data.append(self._data(repository.common / "info" / "attributes"))
        data.append(self._data(self._top / _FILE))
        for one in data:  # twice: a macro may be defined in a later file than it is used in
            self._rules(one)
        rules = [found for one in data for found in self._rules(one)]
        return NO_RULES.with_rules(tuple((0, one) for one in rules))

    def _of_the_user(self, repository: GitDir) -> list[Path]:
        """The attribute files that hold for all of the user's repositories. One that settings name elsewhere, or could, is
        `CannotRead`: settings are not interpreted here."""
        home = Path(os.path.expanduser("~"))
        settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
        for path in (repository.common / "config", repository.git / "config.worktree"):
            text = self._data(path)
            if _NAMED_FILE.search(text) or _INCLUDES.search(text):
                raise CannotRead(str(path), "settings elsewhere")
        for path in (Path("/etc/gitconfig"), settings / "config", home / ".gitconfig"):
            if _NAMED_FILE.search(self._data(path, follow=True)):
                raise CannotRead(str(path), "settings elsewhere")
        return [Path("/etc/gitattributes"), settings / "attributes"]

    def _data(self, path: Path, *, follow: bool = False) -> bytes:
        try:
            return self._fs.read_bytes(path, limit=_FILE_BYTES, follow=follow)
        except FileNotFoundError:
            return b""

    def _rules(self, data: bytes) -> list[Rule]:
        """The rules of a file that may change contents; macros that do are remembered."""
        found: list[Rule] = []
        for line in lines_of(data):
            pattern, words = _cut(line.strip(b" \t\r"))
            if not any(word.lstrip(b"-!").partition(b"=")[0] in self._macros for word in words):
                continue
            if pattern.startswith(b"[attr]"):
                self._macros.add(pattern.removeprefix(b"[attr]"))
            elif one := rule(byte_text(pattern)):
                found.append(one)
        return found


def _cut(line: bytes) -> tuple[bytes, list[bytes]]:
    """Pattern and attributes of a line. A quoted pattern counts as every file: its escapes are not worth their risk."""
    if line.startswith(b"#"):
        return b"", []
    if line.startswith(b'"'):
        return b"*", line.rpartition(b'"')[2].split()
    pattern, *words = line.split() or [b""]
    return pattern, words
