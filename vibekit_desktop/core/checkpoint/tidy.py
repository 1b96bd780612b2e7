"""The folders of one restore on its way: made where they are needed, cleared away where a file comes, tidied behind what went.

Each one that came or went is said in a ``dir`` line, once, also when a crash made the steps run again. Only empty folders are
ever removed. Blocking; under the vault's lock.
"""

from collections.abc import Collection, Iterable, Sequence

from vibekit_desktop.core.checkpoint import log, ownership
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import View
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.disk.workspace import parents_of
from vibekit_desktop.core.types.checkpoints import Author, How, LeaveReason, State
from vibekit_desktop.core.types.ids import WorkspacePath


def folder_line(
    path: WorkspacePath,
    state: State,
    *,
    turn: int,
    entry: int = 0,
    author: Author = Author.RESTORE,
    how: How = How.RESTORE,
    owner: str = "",
) -> Line:
    """A ``dir`` line: a folder came, or with the state ``absent`` went. ``owner``: an author word."""
    text, exact = log.path_keys(path)
    owned_by, other = ownership.owner_keys(owner)
    return Line(
        type="dir",
        path=text,
        path_b64=exact,
        state=state.value,
        author=author.value,
        how=how.value,
        entry=entry,
        turn=turn,
        owner=owned_by,
        other_chat=other,
    )


class Folders:
    """The folders of one entry. ``new`` collects its lines. Invariant: the last line of a folder says what this entry left."""

    def __init__(self, ground: Ground, written: Sequence[Line], new: list[Line], *, entry: int, turn: int) -> None:
        """``written``: the entry's lines so far."""
        self._ground = ground
        self._new = new
        self._entry = entry
        self._turn = turn
        self._said = {log.path_of(line): line.state for line in written if line.type == "dir"}

    def said(self, path: WorkspacePath) -> str:
        """What this entry's lines say that it left; empty if they do not speak of the path."""
        return self._said.get(path, "")

    def say(self, path: WorkspacePath, state: State, *, owner: str = "") -> None:
        """A folder came or went."""
        if self._said.get(path) != state:
            self._said[path] = state.value
            self._new.append(folder_line(path, state, entry=self._entry, turn=self._turn, owner=owner))

    def make(self, folders: Iterable[WorkspacePath], *, owner: str = "") -> None:
        """Make what is missing of them, outermost first."""
        workspace = self._ground.folder()
        for folder in folders:
            if workspace.look(folder).state is State.ABSENT and workspace.make_folder(folder):
                self.say(folder, State.FOLDER, owner=owner)

    def clear(self, path: WorkspacePath, planned: Iterable[WorkspacePath], *, owner: str = "") -> LeaveReason | None:
        """Remove a folder and the folders in it that the plan emptied; why it stays, if it does."""
        workspace = self._ground.folder()
        inner = {folder for one in planned if one.startswith(f"{path}/") for folder in parents_of(one)}
        for folder in sorted((one for one in inner if one.startswith(f"{path}/")), reverse=True):
            if workspace.look(folder).state is State.ABSENT or workspace.remove_empty_folder(folder):
                self.say(folder, State.ABSENT)
        if workspace.look(path).state is State.FOLDER and not workspace.remove_empty_folder(path):
            return LeaveReason.CANNOT_WRITE if workspace.is_empty_folder(path) else LeaveReason.NOT_EMPTY
        self.say(path, State.ABSENT, owner=owner)
        return None

    def tidy(self, view: View, position: int, paths: Iterable[WorkspacePath], left: Collection[WorkspacePath]) -> None:
        """Remove the empty folders above ``paths`` that did not exist at a position of the view and were made since; not those
        that are said to be ``left``."""
        for folder in sorted({folder for path in paths for folder in parents_of(path)}, reverse=True):
            if folder in left or not self._came_since(view, position, folder):
                continue
            workspace = self._ground.folder()
            if workspace.look(folder).state is State.ABSENT or workspace.remove_empty_folder(folder):
                self.say(folder, State.ABSENT)

    def _came_since(self, view: View, position: int, folder: WorkspacePath) -> bool:
        said, then = self.said(folder), view.folder_at(folder, position)
        if said:
            return said == State.FOLDER and then.state is not State.FOLDER
        return then.state is State.ABSENT and ownership.may_tidy(view.folders.get(folder, ()))
