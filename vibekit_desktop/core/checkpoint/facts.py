"""What is on disk at the paths of a plan, gathered for `decide`. Changes nothing. Blocking."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from vibekit_desktop.core.checkpoint import ownership
from vibekit_desktop.core.checkpoint.decide import DiskFact, Target
from vibekit_desktop.core.checkpoint.history import View
from vibekit_desktop.core.disk import spelling
from vibekit_desktop.core.disk.workspace import Workspace, parents_of
from vibekit_desktop.core.types.checkpoints import ABSENT, FileState, LeaveReason, State
from vibekit_desktop.core.types.errors import CannotRead, PathEscape, PathRefused
from vibekit_desktop.core.types.ids import WorkspacePath


def gather(workspace: Workspace, view: View, targets: Collection[Target]) -> dict[WorkspacePath, DiskFact]:
    """The facts by path."""
    ways = _Ways(workspace)
    facts = {path: _fact(workspace, view, ways, path) for path in sorted({target.path for target in targets})}
    names = Counter(fact.identity for fact in facts.values() if fact.links == 1)
    for path, fact in facts.items():
        if fact.identity is not None and names[fact.identity] > 1:
            facts[path] = replace(fact, spelled=workspace.spelled(path))
    return facts


def _fact(workspace: Workspace, view: View, ways: "_Ways", path: WorkspacePath) -> DiskFact:
    state = workspace.look(path)
    if state.has_content:
        try:
            stamp = workspace.stamp(path)
        except (CannotRead, PathEscape, PathRefused):
            stamp = None
        if stamp is None:
            return DiskFact(state=state)
        return DiskFact(state=state, links=stamp.nlink, identity=(stamp.dev, stamp.ino))
    if state.state is State.FOLDER:
        return DiskFact(state=state, inside=_leaves(workspace, path))
    blocked_by = None
    if state.state is State.ABSENT or state.reason == LeaveReason.LINK_ON_THE_WAY:
        blocked_by = ways.blocked_by(path)
    unmakeable = not ownership.was_here(view, path) and workspace.refused_for_creation(path)
    return DiskFact(state=state, blocked_by=blocked_by, unmakeable=state.state is State.ABSENT and unmakeable)


def _leaves(workspace: Workspace, path: WorkspacePath) -> tuple[WorkspacePath, ...] | None:
    """What is in a folder and holds nothing itself."""
    below = workspace.holds(path)
    if below is None:
        return None
    above = {folder for one in below for folder in parents_of(one)}
    return tuple(sorted(one for one in below if one not in above))


class _Ways:
    """The folders above the paths; each looked at once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._kinds: dict[WorkspacePath, str] = {}

    def blocked_by(self, path: WorkspacePath) -> WorkspacePath | None:
        """The first path above that is there and is no folder."""
        for folder in parents_of(path):
            kind = self._kind(folder)
            if kind != "folder":
                return folder if kind else None
        return None

    def _kind(self, folder: WorkspacePath) -> str:
        if folder not in self._kinds:
            try:
                stamp = self._workspace.stamp(folder)
            except (CannotRead, PathEscape, PathRefused):
                stamp = None
            self._kinds[folder] = "" if stamp is None else stamp.kind
        return self._kinds[folder]


def alike(paths: Iterable[WorkspacePath]) -> frozenset[WorkspacePath]:
    """Those paths that some file system takes for one with another of them."""
    found: dict[str, list[WorkspacePath]] = {}
    for path in paths:
        found.setdefault(spelling.folded(path), []).append(path)
    return frozenset(path for same in found.values() if len(same) > 1 for path in same)


def look(workspace: Workspace, path: WorkspacePath, names: Collection[WorkspacePath]) -> FileState:
    """What is at a path of a plan. ``names``: the paths that may be one with another (`alike`); a file that is listed under
    another of them is that one's, not this one's."""
    state = workspace.look(path)
    if state.has_content and path in names:
        spelled = workspace.spelled(path)
        if spelled != path and spelled in names:
            return ABSENT
    return state
