"""Which paths of a workspace are ignored, by git's rules and a short list of our own.

Rules come from the workspace's ``.gitignore`` files, each repository's ``info/exclude``, and, if the workspace lies inside a
larger repository, from the folders above it. A nested repository begins anew. A file of rules that is there and cannot be read
is `CannotRead`, never "nothing is ignored" (BL-023). The user's global ignore file does not count. Blocking; one thread.
"""

from collections.abc import Sequence
from pathlib import Path

from vibekit_desktop.core.disk.beneath import Beneath
from vibekit_desktop.core.disk.fs import cannot_read
from vibekit_desktop.core.disk.gitdirs import GitDir, around, git_dir
from vibekit_desktop.core.disk.reach import NO_RULES, Ranked, Reach
from vibekit_desktop.core.disk.tree import Rooted
from vibekit_desktop.core.disk.wildmatch import byte_text, ignore_rule, lines_of
from vibekit_desktop.core.types.errors import CannotRead, PathEscape
from vibekit_desktop.core.types.ids import WorkspacePath

RULES_BYTES = 1 << 20
"""A larger file of rules is `CannotRead`: a workspace's author may be hostile, and every path is asked about."""
_RULES = ".gitignore"
_BUILT_IN = (
    "node_modules", "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".hg",
    ".svn", ".jj", ".fast-agent",
)  # fmt: skip
"""What tools make again by themselves, the data of other version control and what agents keep for themselves, also where no
file of rules says so."""
_MOST_LINES = RULES_BYTES + 1
"""No file of rules has more lines, so the rules of a deeper file are always stronger."""
_ABOVE = 64
"""So many folders above the workspace can hold rules of different strength."""


class IgnoreRules:
    """The rules of one workspace at one moment. Files of rules are read when the first path of their folder is asked about."""

    def __init__(self, beneath: Beneath, top: Reach, *, fold: bool) -> None:
        self._beneath = beneath
        self._fold = fold
        self._built_in = _ranked(0, "\n".join(f"{name}/" for name in _BUILT_IN).encode(), fold=fold)
        self._reach: dict[str, Reach | None] = {"": top}
        self._hints: dict[str, frozenset[str]] = {}

    @classmethod
    def read(cls, workspace: Rooted, *, fold: bool = False) -> "IgnoreRules":
        """The rules as they stand now; `CannotRead` if a file of rules that reaches the root cannot be read. ``fold``: capitals
        and small letters are one, as on a file system that folds names."""
        rules = cls(workspace.beneath, NO_RULES, fold=fold)
        rules._reach[""] = rules._at_top()
        return rules

    def ignored(self, path: WorkspacePath, is_folder: bool) -> bool:
        """Whether a path, or a folder above it, is ignored. `CannotRead` if a file of rules on its way cannot be read."""
        folder, _, name = path.rpartition("/")
        reach = self._reach[folder] if folder in self._reach else self._of(folder)
        if self._fold or not name.isascii():
            name = byte_text(name, fold=self._fold)
        return reach is None or _decides(reach, name, folder=is_folder)

    def entering(self, folder: str, present: Sequence[str]) -> None:
        """Say what is in a folder that comes next, which spares looking for rules where there are none."""
        self._hints = {folder: frozenset(name for name in present if name in (_RULES, ".git"))}

    def _of(self, folder: str) -> Reach | None:
        """The rules in a folder; None if it is ignored itself. Works down from the nearest folder that is known."""
        parts = folder.split("/")
        known = len(parts)
        while "/".join(parts[:known]) not in self._reach:
            known -= 1
        for count in range(known, len(parts)):
            above, here = "/".join(parts[:count]), "/".join(parts[: count + 1])
            reach = self._reach[above]
            name = byte_text(parts[count], fold=self._fold)
            if reach is None or _decides(reach, name, folder=True):
                self._reach[here] = None
            else:
                self._reach[here] = self._inside(here, reach.below(name))
        return self._reach[folder]

    def _inside(self, folder: str, reach: Reach) -> Reach:
        """The rules in a folder, with its own file of rules, or anew if a repository begins there."""
        present = self._hints.get(folder)
        if present is None or ".git" in present:
            nested = git_dir(self._beneath.fs, self._beneath.root / folder)
            if nested is not None:
                reach = self._of_repository(nested)
        if present is None or _RULES in present:
            data = self._read_inside(folder)
            if data:
                reach = reach.with_rules(_ranked(folder.count("/") + 2 + _ABOVE, data, fold=self._fold))
        return reach

    # -- the top -------------------------------------------------------------------------------------------------

    def _at_top(self) -> Reach:
        fs, root = self._beneath.fs, self._beneath.root
        repository = around(fs, root)
        reach = self._of_repository(repository) if repository is not None else NO_RULES.with_rules(self._built_in)
        if repository is not None and repository.top != root:
            reach = self._from_above(repository, reach)
        data = self._read_inside("")
        return reach.with_rules(_ranked(1 + _ABOVE, data, fold=self._fold)) if data else reach

    def _from_above(self, repository: GitDir, reach: Reach) -> Reach:
        """The rules of the folders above. A workspace that they ignore is one all the same: then they do not count."""
        outside = NO_RULES.with_rules(self._built_in)
        place = repository.top
        for depth, part in enumerate(self._beneath.root.relative_to(repository.top).parts):
            data = self._read_above(place / _RULES)
            if data:
                reach = reach.with_rules(_ranked(min(depth + 2, _ABOVE), data, fold=self._fold))
            name = byte_text(part, fold=self._fold)
            if _decides(reach, name, folder=True):
                return outside
            reach = reach.below(name)
            place = place / part
        return reach

    def _of_repository(self, repository: GitDir) -> Reach:
        """What holds at the top of a repository before its own files of rules."""
        data = self._read_above(repository.common / "info" / "exclude")
        reach = NO_RULES.with_rules(self._built_in)
        return reach.with_rules(_ranked(1, data, fold=self._fold)) if data else reach

    # -- reading -------------------------------------------------------------------------------------------------

    def _read_above(self, path: Path) -> bytes:
        try:
            return self._beneath.fs.read_bytes(path, limit=RULES_BYTES)
        except FileNotFoundError:
            return b""

    def _read_inside(self, folder: str) -> bytes:
        """The file of rules in a folder; nothing if there is none. A link or a FIFO is never opened."""
        fs = self._beneath.fs
        path = f"{folder}/{_RULES}" if folder else _RULES
        try:
            fd = self._beneath.descend(folder.split("/") if folder else [])
            try:
                return fs.read_bytes(_RULES, dir_fd=fd, limit=RULES_BYTES)
            finally:
                fs.close(fd)
        except FileNotFoundError:
            return b""
        except CannotRead as error:
            raise CannotRead(path, error.reason) from error
        except PathEscape as error:
            raise CannotRead(path, "a link is on the way") from error
        except OSError as error:
            raise cannot_read(path, error) from error


def _decides(reach: Reach, name: str, *, folder: bool) -> bool:
    rule = reach.names.strongest(name, folder=folder)
    return rule is not None and not rule.negated


def _ranked(depth: int, data: bytes, *, fold: bool) -> tuple[Ranked, ...]:
    rules = (ignore_rule(line, fold=fold) for line in lines_of(data))
    return tuple((depth * _MOST_LINES + number, rule) for number, rule in enumerate(rules) if rule is not None)
