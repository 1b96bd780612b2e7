"""What the workspace is now against what was last known of it, at little cost: what did not change is not read.

A *whole* comparison walks the workspace and trusts a stamp that is the same; a *named* one looks at the paths that lines name.
The first whole one of a vault sets the states of the paths that no line names. Content before an unannounced change comes from
the store, from git's object database, or from a copy taken here (docs/storage-format.md 5). Changes nothing in the workspace or
the logs; puts copies and recalled contents into the vault. Blocking; under the vault's lock.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from vibekit_desktop.core.checkpoint.copies import NOTHING_LEFT, Copied, keep
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import Observation, View, agree
from vibekit_desktop.core.checkpoint.known import NO_COPY, Entry, Seen, state_of
from vibekit_desktop.core.checkpoint.log import SkippedPath, path_keys
from vibekit_desktop.core.disk import names
from vibekit_desktop.core.disk.gitfacts import GitFacts
from vibekit_desktop.core.disk.ignore import IgnoreRules
from vibekit_desktop.core.disk.tree import Stamp, Tree, walk
from vibekit_desktop.core.disk.workspace import Workspace, parents_of
from vibekit_desktop.core.types.checkpoints import ABSENT, FileState, LeaveReason, State
from vibekit_desktop.core.types.errors import CannotRead, EnvironmentFault, PathEscape
from vibekit_desktop.core.types.ids import WorkspacePath

_log = logging.getLogger(__name__)

MOST_ENTRIES = 200_000
"""A larger workspace would keep every turn waiting for its looks."""
HASH_BYTES = 512 << 20
"""What the first look reads in all of files that it does not copy: so that it ends in seconds."""
_TICK_NS = 2_000_000_000
"""Two changes closer together than this may have one stamp on some file system."""

IGNORED = "ignored"
IGNORE_RULES = "ignore-rules"
TOO_MANY = "too-many-files"
CUT_SHORT = "too-many"
"""A walk's word for having met more than it was to list."""
NOT_WALKED = "not-walked"
BASELINE_LOST = "baseline-lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One path that is not what was last known. ``last``: its last line, if one names it."""

    path: WorkspacePath
    before: FileState
    after: FileState
    last: Observation | None = None
    renamed_from: WorkspacePath | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a comparison found. ``folders``: those that came (True) or went. ``seen``: what to remember once the lines are
    written. ``whole``: nothing of the workspace was left out."""

    differences: tuple[Difference, ...] = ()
    folders: tuple[tuple[WorkspacePath, bool], ...] = ()
    skipped: tuple[SkippedPath, ...] = ()
    seen: Seen | None = None
    whole: bool = False
    first: bool = False
    """There was no earlier look to compare with."""
    copied: Copied = NOTHING_LEFT
    """The paths that no line names and of which there is no copy."""


def skipped(path: str, reason: str, size: int | None = None) -> SkippedPath:
    """One thing that was not seen, as a line says it."""
    return SkippedPath(path=path_keys(WorkspacePath(path))[0], reason=reason, size=-1 if size is None else size)


@dataclass(frozen=True, slots=True)
class Surveyed:
    """Everything in a workspace that is looked at, and what git says of it."""

    tree: Tree
    git: GitFacts | None

    @property
    def cut_short(self) -> bool:
        """Whether there is more than `MOST_ENTRIES`, so that it is not looked at as a whole."""
        return not self.tree.complete and any(reason == CUT_SHORT for _, reason in self.tree.problems)


def survey(workspace: Workspace, *, entering: Callable[[], None] | None = None) -> Surveyed:
    """Go through a workspace by its ignore rules. ``entering`` is called at each folder, and may raise. Raises `CannotRead`,
    also where the rules cannot be read."""
    git = GitFacts.read(workspace.root)
    rules = IgnoreRules.read(workspace, fold=workspace.folds)
    ignored = rules.ignored if git is None else git.unless_tracked(rules.ignored)

    def enter(path: str, here: Sequence[str]) -> None:
        if entering is not None:
            entering()
        rules.entering(path, here)

    return Surveyed(walk(workspace, ignored=ignored, limit=MOST_ENTRIES, entering=enter), git)


def compare_named(ground: Ground, view: View, seen: Mapping[WorkspacePath, FileState]) -> Looked:
    """Look at the paths that lines name. ``seen``: what was looked at just now."""
    workspace = ground.folder()
    found: list[Difference] = []
    for path in sorted(view.by_path):
        if not names.refusal(path):
            difference = named_difference(view, path, seen[path] if path in seen else workspace.look(path))
            found += [difference] if difference else []
    return Looked(differences=tuple(found))


def named_difference(view: View, path: WorkspacePath, disk: FileState) -> Difference | None:
    """How a path that a line names differs from its last known state, or None; also where at last it shows what it is."""
    last = view.by_path[path][-1]
    behind = disk.reason == LeaveReason.LINK_ON_THE_WAY  # a link where a folder was: what was below is not here any more
    if disk.state is State.UNKNOWN and not behind:
        return None
    now = ABSENT if behind or disk.state is State.FOLDER else disk
    return None if agree(last.after, now) else Difference(path=path, before=last.after, after=now, last=last)


def compare_whole(
    ground: Ground, view: View, seen: Mapping[WorkspacePath, FileState], *, before_command: bool = False
) -> Looked:
    """Look at everything. Where the workspace cannot be walked, at the named paths only, and that is said. ``before_command``:
    larger files are copied as well."""
    workspace = ground.folder()
    if not ground.whole:
        return _partly(compare_named(ground, view, seen), skipped(".", NOT_WALKED))
    started_ns = ground.fs.now_ns()
    try:
        found = survey(workspace)
    except CannotRead as error:
        # Without the rules everything would count as the user's work: thousands of built files, copied (BL-023).
        _log.warning("the ignore rules of a workspace cannot be read: %s", error.reason)
        return _partly(compare_named(ground, view, seen), skipped(".", IGNORE_RULES))
    if found.cut_short:
        return _partly(compare_named(ground, view, seen), skipped(".", TOO_MANY))
    old = ground.known.load(workspace.identity)
    limit = ground.limits.capture_bytes if before_command else ground.limits.copy_bytes
    return _Comparison(ground, view, seen, found.tree, found.git, old, started_ns - _TICK_NS).run(limit)


def _partly(looked: Looked, why: SkippedPath) -> Looked:
    return replace(looked, skipped=(*looked.skipped, why), whole=False)


class _Comparison:
    """One whole look under way."""

    def __init__(
        self,
        ground: Ground,
        view: View,
        seen: Mapping[WorkspacePath, FileState],
        tree: Tree,
        git: GitFacts | None,
        old: Seen | None,
        young_ns: int,
    ) -> None:
        self._ground = ground
        self._view = view
        self._looked = seen
        self._tree = tree
        self._git = git
        self._old = old
        self._young_ns = young_ns
        self._last_ns = ground.known.saved_ns()
        self._entries: dict[WorkspacePath, Entry] = {}
        self._found: list[Difference] = []
        self._copies_left = ground.limits.copies_bytes
        self._hashes_left = HASH_BYTES
        self._blind = tuple(f"{path}/" for path, _ in tree.problems)
        """Folders that could not be read: what is in them did not go."""

    def run(self, copy_limit: int) -> Looked:
        here = {path for path, stamp in self._tree.entries.items() if stamp.kind in ("file", "link")}
        old = self._old.entries if self._old is not None else {}
        for path in sorted(here | old.keys() | self._view.by_path.keys()):
            if names.refusal(path) or path.startswith(self._blind):
                self._carry(path)
            elif path in self._view.by_path:
                self._named(path)
            elif self._is_ignored(path):
                continue  # the rules changed: it did not go, it is only not looked at any more
            elif self._old is None:
                self._first(path)
            elif path not in old and is_below(path, self._old.ignored):
                self._unignored(path)
            else:
                self._unnamed(path, old.get(path))
        self._pair_renames()
        folders = frozenset(path for path, stamp in self._tree.entries.items() if stamp.kind == "folder")
        seen = Seen(
            workspace=self._ground.folder().identity, entries=self._entries, folders=folders, ignored=self._tree.ignored
        )
        unnamed = [path for path in self._entries if path not in self._view.by_path]
        copies = self._ground.known.prune({self._entries[path].sha for path in unnamed})
        copied = keep(self._ground, self._entries, unnamed, copies, limit=copy_limit)
        return Looked(
            differences=tuple(self._found),
            folders=self._folders(folders),
            skipped=tuple(self._skipped()),
            seen=seen,
            whole=self._tree.complete,
            first=self._old is None,
            copied=copied,
        )

    def _is_young(self, stamp: Stamp) -> bool:
        return max(stamp.mtime_ns, stamp.ctime_ns) >= self._young_ns

    def _carry(self, path: WorkspacePath) -> None:
        entry = self._old.entries.get(path) if self._old is not None else None
        if entry is not None and path.startswith(self._blind):
            self._entries[path] = entry

    def _state(self, path: WorkspacePath, stamp: Stamp | None) -> FileState:
        """What is there now; read only if the stamp says that it may be new."""
        if path in self._looked:
            return self._looked[path]
        entry = self._old.entries.get(path) if self._old is not None else None
        if stamp is not None and entry is not None and entry.stamp == stamp and not entry.fresh and entry.sha:
            return state_of(entry)
        return self._ground.folder().look(path)

    def _remember(self, path: WorkspacePath, stamp: Stamp | None, state: FileState) -> None:
        if stamp is not None and state.has_content:
            self._entries[path] = Entry(stamp, state.sha or "", "", self._is_young(stamp))

    def _named(self, path: WorkspacePath) -> None:
        stamp = self._tree.entries.get(path)
        if stamp is None:
            with suppress(PathEscape):  # a link stands where a folder was
                stamp = self._ground.folder().stamp(path)
        state = self._state(path, stamp)
        self._remember(path, stamp, state)
        difference = named_difference(self._view, path, state)
        if difference is not None:
            self._found.append(difference)

    def _first(self, path: WorkspacePath) -> None:
        """The first look: remember, and keep a copy of what nothing else keeps."""
        stamp = self._tree.entries[path]
        git = self._clean(path)
        sha = ""
        workspace, known = self._ground.folder(), self._ground.known
        try:
            if stamp.kind == "link":
                sha = known.copy(workspace.pieces(path))
            elif not git and stamp.size <= min(self._ground.limits.copy_bytes, self._copies_left):
                self._copies_left -= stamp.size
                sha = known.copy(workspace.pieces(path))
            elif not git and stamp.size <= min(self._ground.limits.capture_bytes, self._hashes_left):
                self._hashes_left -= stamp.size
                sha = workspace.look(path).sha or ""
        except EnvironmentFault as error:
            _log.info("a file was not read at the first look: %s", error.code)
        self._entries[path] = Entry(stamp, sha, git, self._is_young(stamp))

    def _unignored(self, path: WorkspacePath) -> None:
        """It did not come just now, it was only not looked at before. If it changed since the last look, nobody knows from
        what."""
        stamp = self._tree.entries[path]
        if stamp.ctime_ns < self._last_ns:
            self._first(path)
            return
        state = self._ground.folder().look(path)
        self._remember(path, stamp, state)
        if state.has_content:
            before = FileState(State.UNKNOWN, reason=IGNORED)
            self._found.append(Difference(path=path, before=before, after=state))

    def _clean(self, path: WorkspacePath) -> str:
        return self._git.clean.get(path, "") if self._git is not None else ""

    def _unnamed(self, path: WorkspacePath, old: Entry | None) -> None:
        stamp = self._tree.entries.get(path)
        if stamp is not None and stamp.kind not in ("file", "link"):
            stamp = None
        if old is not None and stamp is not None and self._is_same(path, old, stamp):
            self._entries[path] = replace(old, stamp=stamp, fresh=self._is_young(stamp) and not old.git)
            return
        after = ABSENT if stamp is None else self._ground.folder().look(path)
        if after.state is State.UNKNOWN:
            if old is not None:
                self._entries[path] = old
            return
        if after.state is State.FOLDER:
            after = ABSENT
        self._remember(path, stamp, after)
        known = ABSENT if old is None else state_of(old)
        if agree(known, after):
            return
        before = known if old is None else recall(self._ground, self._git, old)
        if not agree(before, after):
            self._found.append(Difference(path=path, before=before, after=after))

    def _is_same(self, path: WorkspacePath, old: Entry, stamp: Stamp) -> bool:
        if old.stamp == stamp and not (old.fresh and (old.sha or old.git)):
            return True  # of a content that nobody has read, reading it now says nothing
        return bool(old.git) and self._clean(path) == old.git and old.stamp.mode == stamp.mode

    def _pair_renames(self) -> None:
        """A file that went and one that came with its inode and its bytes are one file under a new name."""
        if self._old is None:
            return
        gone = {
            (old.stamp.dev, old.stamp.ino): one
            for one in self._found
            if one.after.state is State.ABSENT and (old := self._old.entries.get(one.path)) is not None
        }
        for index, one in enumerate(self._found):
            entry = self._entries.get(one.path)
            if one.before.state is not State.ABSENT or entry is None:
                continue
            old_one = gone.get((entry.stamp.dev, entry.stamp.ino))
            if old_one is not None and old_one.before.sha is not None and old_one.before.sha == one.after.sha:
                self._found[index] = replace(one, renamed_from=old_one.path)

    def _folders(self, here: frozenset[WorkspacePath]) -> tuple[tuple[WorkspacePath, bool], ...]:
        if self._old is None:
            return ()
        was = set(self._old.folders)
        for path, lines in self._view.folders.items():
            (was.add if lines[-1].after.state is State.FOLDER else was.discard)(path)
        gone = (path for path in was - here if not path.startswith(self._blind) and not self._is_ignored(path))
        came = (path for path in here - was if not is_below(path, self._old.ignored))
        return (*((path, True) for path in sorted(came)), *((path, False) for path in sorted(gone)))

    def _is_ignored(self, path: WorkspacePath) -> bool:
        return path not in self._tree.entries and is_below(path, self._tree.ignored)

    def _skipped(self) -> Iterable[SkippedPath]:
        for path, reason in self._tree.problems:
            yield skipped(path, reason)
        marks = self._tree.ignored
        before = self._old.ignored if self._old is not None else marks
        for path in sorted(marks.keys() | before.keys()):
            if marks.get(path) != before.get(path):
                yield skipped(path, IGNORED)


def is_below(path: WorkspacePath, tops: Mapping[WorkspacePath, str]) -> bool:
    """Whether a path is one of some paths or lies below one."""
    return path in tops or any(folder in tops for folder in parents_of(path))


def recall(ground: Ground, git: GitFacts | None, entry: Entry) -> FileState:
    """The state that an entry of the last look stands for, its content in the store if anything still has it."""
    state = state_of(entry)
    try:
        if state.sha is not None:
            if ground.vault.blobs.has(state.sha):
                ground.vault.blobs.keep_own(state.sha)
                return state
            data = ground.known.copied(state.sha)
            if data is not None:
                if not ground.vault.blobs.adopt(ground.known.copy_path(state.sha), state.sha):
                    ground.vault.blobs.put(data, own=True)
                return state
        if entry.git:
            facts = git or GitFacts.read(ground.folder().root)
            data = facts.content(entry.git) if facts is not None else None
            if data is not None and len(data) == entry.stamp.size:
                return FileState(State.PRESENT, ground.vault.blobs.put(data, own=True), entry.stamp.mode, size=len(data))
    except EnvironmentFault as error:
        _log.info("a content from before was not kept: %s", error.code)
    if state.sha is not None:
        return FileState(State.NOT_CAPTURED, state.sha, state.mode, NO_COPY, state.size)
    return state
