"""What is to be done at each path of a plan. Pure; any thread.

The paths depend on each other: a file can come where a folder is only if everything in that folder goes, below a file only if
the file goes, and two names that a file system takes for one file are one file. So they are decided in this order: what is no
folder now, from the top down; the folders to be made; what is a folder now, from the bottom up; last the names that are one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vibekit_desktop.core.checkpoint import ownership
from vibekit_desktop.core.checkpoint.history import Observation, View, agree, since
from vibekit_desktop.core.disk.workspace import parents_of
from vibekit_desktop.core.types.checkpoints import ABSENT, Action, FileState, LeaveReason, Mine, PlannedFile, State
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFact:
    """What is at one path now."""

    state: FileState
    inside: tuple[WorkspacePath, ...] | None = ()
    """With a folder: the files, links and empty folders in it, however deep; None where that cannot be told."""
    unmakeable: bool = False
    """Nothing is there, and its name is one that is never made."""
    links: int = 1
    """How many names the file has."""
    identity: tuple[int, int] | None = None
    """Device and inode."""
    spelled: WorkspacePath | None = None
    """The name it is listed under, where the file system folds names."""
    blocked_by: WorkspacePath | None = None
    """The path above it where a file or a link is, not a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One path of a plan before the disk is looked at. ``left``: what must be there; with undo and redo what the entry left,
    with an undo of a turn or hunk what that was made from. ``folder``: by the ``dir`` lines; the same path may be a target as a
    file too. ``leave``: why it is left, if that is known before."""

    path: WorkspacePath
    wanted: FileState
    left: FileState | None = None
    owner: str = ""
    named: bool = True
    """Some line of the view names the path."""
    folder: bool = False
    leave: str = ""


def decide(
    view: View,
    position: int,
    targets: Iterable[Target],
    disk: Mapping[WorkspacePath, DiskFact],
    *,
    mine: Mine,
    unsound: Collection[BlobHash],
    named: Collection[WorkspacePath] = (),
    upto: int | None = None,
) -> tuple[PlannedFile, ...]:
    """All paths of a plan, sorted. ``unsound``: contents that are not in the store, or wrong there. ``named``: the paths that
    were asked for one by one. ``upto``: changes at or after this position are not what is taken back."""
    return _Deciding(view, (position, view.end if upto is None else upto), targets, disk, mine, unsound, named).run()


def depth(path: WorkspacePath) -> int:
    """How many folders stand above a path."""
    return path.count("/")


def makes_room(current: FileState, wanted: FileState) -> bool:
    """Whether a file or a link goes, so that a folder can be in its place."""
    return current.has_content and wanted.state in (State.ABSENT, State.FOLDER)


def is_new_folder(current: FileState, wanted: FileState) -> bool:
    """Whether what comes below this path comes into a folder that the plan itself makes, perhaps where a file is now."""
    return makes_room(current, wanted) or (wanted.state is State.FOLDER and current.state is State.ABSENT)


class _Deciding:
    """One plan under way. ``_done`` holds what is decided so far; each step reads only what the steps before it decided."""

    def __init__(
        self,
        view: View,
        span: tuple[int, int],
        targets: Iterable[Target],
        disk: Mapping[WorkspacePath, DiskFact],
        mine: Mine,
        unsound: Collection[BlobHash],
        named: Collection[WorkspacePath],
    ) -> None:
        self._view = view
        self._position, self._upto = span
        found = list(targets)
        self._folders = {target.path: target for target in found if target.folder}
        self._files = {target.path: self._with_left(target) for target in found if not target.folder}
        self._disk = disk
        self._mine = mine
        self._unsound = unsound
        self._named = named
        self._done: dict[WorkspacePath, PlannedFile] = {}

    def _with_left(self, file: Target) -> Target:
        """A file, with what the entry left in its place: perhaps a folder."""
        folder = self._folders.get(file.path)
        return file if folder is None else replace(file, left=_both(file, folder).left)

    def run(self) -> tuple[PlannedFile, ...]:
        """Decide everything."""
        folders_now: dict[WorkspacePath, Target] = {}
        for path, target in sorted({**self._covered(), **self._files}.items()):
            if self._disk[path].state.state is State.FOLDER:
                folders_now[path] = target
            else:
                self._done[path] = self._decided(target)
        for path in self._spoken_of():
            target = _both(self._files.get(path), self._folders[path])
            if self._disk[path].state.state is State.FOLDER:
                folders_now[path] = target
            else:
                self._done[path] = self._decided(target)
        for path in sorted(folders_now, key=lambda one: (-depth(one), one)):
            self._done[path] = self._decided(folders_now[path])
        for group in self._aliases():
            self._one_file(group)
        return tuple(file for _, file in sorted(self._done.items()) if not self._is_noise(file))

    def _covered(self) -> dict[WorkspacePath, Target]:
        """The folders that are to be there, where a file that is not this chat's is now."""
        return {
            path: target
            for path, target in self._folders.items()
            if target.wanted.state is State.FOLDER and self._disk[path].state.has_content
        }

    def _spoken_of(self) -> list[WorkspacePath]:
        """The folders that the plan speaks of: those that no file of it brings, keeps or takes with it, sorted."""
        implied: set[WorkspacePath] = set()
        for path in self._files:
            file = self._done.get(path)
            if file is None or file.action is not Action.LEAVE or file.current.state is not State.ABSENT:
                implied.update(parents_of(path))
        implied -= {path for path in implied if self._goes_by_itself(path)}
        return sorted(self._folders.keys() - implied - (self._done.keys() - self._files.keys()))

    def _goes_by_itself(self, path: WorkspacePath) -> bool:
        """Whether a folder is to go that is not tidied away behind its files, since somebody else made it last."""
        folder, current = self._folders.get(path), self._disk[path].state if path in self._disk else ABSENT
        if folder is None or folder.wanted.state is not State.ABSENT or current.state is not State.FOLDER:
            return False
        asked_for = self._mine.wants(path) or self._changed_by(folder, current)[0] is None
        return asked_for and not ownership.may_tidy(self._view.folders.get(path, ()))

    def _is_noise(self, file: PlannedFile) -> bool:
        """A folder that is as it was needs no row."""
        return file.reason == LeaveReason.SAME and file.path not in self._files and file.path not in self._named

    # -- one path ------------------------------------------------------------------------------------------------

    def _decided(self, target: Target, fact: DiskFact | None = None) -> PlannedFile:
        fact = self._disk[target.path] if fact is None else fact
        current = self._current(fact)
        who, in_turn = self._changed_by(target, current)
        action, reason = self._action(target, fact, current)
        if action is not Action.LEAVE and who is not None and not self._mine.wants(target.path):
            changed = LeaveReason.CHANGED_SINCE if target.left is None else LeaveReason.CHANGED_LATER
            action, reason = Action.LEAVE, changed.value
        if who is None:
            who = self._kept_for(fact, reason)
        same = reason == LeaveReason.SAME
        later = self._later(target)
        return PlannedFile(
            path=target.path,
            action=action,
            current=current,
            wanted=target.wanted,
            reason=reason,
            changed_by=None if same else who,
            also_by=ownership.also_by(later, self._view.chat),
            owner=target.owner,
            turns=ownership.turns_of(later),
            hard_linked=action is Action.WRITE and fact.links > 1,
            may_be_yours=in_turn and not same,
        )

    def _kept_for(self, fact: DiskFact, reason: str) -> str | None:
        """Whose change it is that keeps a path from being restored, where another path of the plan is in its way."""
        match reason:
            case LeaveReason.FILE_ON_THE_WAY | LeaveReason.LINK_ON_THE_WAY if fact.blocked_by is not None:
                others: tuple[WorkspacePath, ...] = (fact.blocked_by,)
            case LeaveReason.NOT_EMPTY:
                others = fact.inside or ()
            case _:
                return None
        left = [self._done.get(path) for path in others]
        if any(file is None for file in left):
            return None
        return next((file.changed_by for file in left if file is not None and file.changed_by is not None), None)

    def _current(self, fact: DiskFact) -> FileState:
        """What is there. Below a file or link that the plan itself speaks of, nothing of this workspace is."""
        return ABSENT if fact.blocked_by is not None and fact.blocked_by in self._done else fact.state

    def _goes(self, path: WorkspacePath) -> bool:
        file = self._done.get(path)
        return file is not None and file.action is not Action.LEAVE and makes_room(file.current, file.wanted)

    def _later(self, target: Target) -> list[Observation]:
        files = self._view.by_path.get(target.path, []) if target.path in self._files else []
        folders = self._view.folders.get(target.path, []) if target.folder else []
        found = (*since(files, self._position), *since(folders, self._position))
        return [seen for seen in found if seen.position < self._upto]

    def _changed_by(self, target: Target, current: FileState) -> tuple[str | None, bool]:
        """Who changed the path since this chat left it, and whether that was found inside one of its turns: by the lines of the
        file or of the folder, whichever is there now."""
        if current.state is State.UNKNOWN:
            return None, False  # what cannot be looked at is no change of somebody's
        files, folders = self._view.by_path.get(target.path, []), self._view.folders.get(target.path, [])
        found, seen = files, current
        if current.state is State.FOLDER and not folders:
            seen = ABSENT  # by the lines of the file: it is gone
        elif current.state is State.FOLDER or (current.state is State.ABSENT and target.folder and _is_newer(folders, files)):
            found = folders
        who = ownership.changed_since(found, self._view.chat, seen)
        if target.left is not None:
            who = None if agree(current, target.left) else who or "unknown"
        return who, who == "unknown" and bool(found) and ownership.is_of_a_turn(found[-1]) and agree(found[-1].after, seen)

    def _action(self, target: Target, fact: DiskFact, current: FileState) -> tuple[Action, str]:
        wanted = target.wanted
        if current.state is State.UNKNOWN:
            return Action.LEAVE, current.reason or LeaveReason.CANNOT_READ.value
        if target.leave:
            return Action.LEAVE, target.leave
        reason = self._obstacle(target, fact, current)
        if reason is not None:
            return Action.LEAVE, reason.value
        if wanted.state is State.ABSENT:
            return Action.DELETE, ""
        if current.state is State.ABSENT:
            return Action.CREATE, ""
        same_bytes = current.state is wanted.state and current.sha == wanted.sha
        # The mode of a file with more names would change under all of them: this one gets a file of its own.
        return (Action.MODE if same_bytes and fact.links <= 1 else Action.WRITE), ""

    def _obstacle(self, target: Target, fact: DiskFact, current: FileState) -> LeaveReason | None:
        """Why a path is left although nobody else changed it."""
        wanted = target.wanted
        if agree(current, wanted) or self._is_gone(target, current):
            return LeaveReason.SAME
        if wanted.state is State.UNKNOWN:
            return LeaveReason.UNKNOWN if target.named else LeaveReason.NOT_THIS_CHAT
        if wanted.state is State.NOT_CAPTURED:
            return LeaveReason.NOT_CAPTURED
        if wanted.state is State.FOLDER and not target.folder:
            return LeaveReason.NOT_REGULAR
        if wanted.has_content and wanted.sha in self._unsound:
            return LeaveReason.DAMAGED
        if fact.blocked_by is not None and not self._goes(fact.blocked_by):
            return LeaveReason.LINK_ON_THE_WAY if fact.state.state is State.UNKNOWN else LeaveReason.FILE_ON_THE_WAY
        if current.state is State.FOLDER:
            return self._stays(target, fact)
        if current.state is State.ABSENT and fact.unmakeable:
            return LeaveReason.REFUSED
        return None

    def _is_gone(self, target: Target, current: FileState) -> bool:
        """Whether a file that is to go is gone already, a folder being there now; or the other way round."""
        if target.wanted.state is not State.ABSENT:
            return False
        if current.state is State.FOLDER:
            return not target.folder
        return current.has_content and target.path not in self._files

    def _stays(self, target: Target, fact: DiskFact) -> LeaveReason | None:
        """Why a folder cannot go; None if it will be empty. An empty one goes only where a line of this chat's speaks of it."""
        if fact.inside is None:
            return LeaveReason.NOT_EMPTY
        inside = [self._done.get(path) for path in fact.inside]
        if any(file is None or file.action is not Action.DELETE for file in inside):
            return LeaveReason.NOT_EMPTY
        return None if inside or target.folder else LeaveReason.NOT_REGULAR

    # -- names that are one file ---------------------------------------------------------------------------------

    def _aliases(self) -> list[list[PlannedFile]]:
        """The paths that are one real file, and not by hard links, in groups of two and more."""
        groups: dict[tuple[int, int], list[PlannedFile]] = {}
        for path, file in sorted(self._done.items()):
            fact = self._disk[path]
            if fact.identity is not None and fact.links == 1 and file.current.has_content:
                groups.setdefault(fact.identity, []).append(file)
        return [group for group in groups.values() if len(group) > 1]

    def _one_file(self, group: Sequence[PlannedFile]) -> None:
        """Deleting one of its names would delete the file: where another name is wanted, that one stays (BL-076)."""
        wanted = [file for file in group if file.wanted.state is not State.ABSENT]
        if not wanted:
            return
        listed = next((path for file in group if (path := self._disk[file.path].spelled) is not None), None)
        kept = next((file for file in wanted if file.path == listed), wanted[0])
        for file in group:
            if file.path != kept.path and file.action is not Action.LEAVE:
                reason = LeaveReason.SAME if agree(file.wanted, kept.wanted) else LeaveReason.SAME_FILE
                self._done[file.path] = replace(file, action=Action.LEAVE, reason=reason.value, hard_linked=False)
        old = next((file for file in group if file.path == listed), None)
        if old is None or old.action is not Action.DELETE or not _are_beside(old.path, kept.path):
            return
        # The file is listed under the name that is to go: one name goes, the other comes.
        new = replace(kept, action=Action.CREATE, current=ABSENT, reason="", hard_linked=False)
        if kept.action is Action.LEAVE and kept.reason != LeaveReason.SAME:
            new = self._decided(self._files[kept.path], DiskFact(state=ABSENT))
        if new.action is Action.CREATE and new.wanted.has_content:
            self._done[old.path], self._done[kept.path] = old, new


def _are_beside(one: WorkspacePath, other: WorkspacePath) -> bool:
    """Whether two paths are different names in one folder. A folder gets no other spelling by a restore of what is in it."""
    return one != other and one.rpartition("/")[0] == other.rpartition("/")[0]


def _is_newer(found: Sequence[Observation], other: Sequence[Observation]) -> bool:
    return bool(found) and (not other or found[-1].position > other[-1].position)


def _both(file: Target | None, folder: Target) -> Target:
    """One target of a path that is spoken of as a file and as a folder: at most one of both was there."""
    if file is None:
        return folder
    wanted = folder.wanted if file.wanted.state is State.ABSENT else file.wanted
    left = folder.left if file.left is None or file.left.state is State.ABSENT else file.left
    return replace(folder, wanted=wanted, left=left, owner=file.owner or folder.owner)
