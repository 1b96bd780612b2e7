"""Let a vault go on with the folder in which its workspace is now. Blocking; used in threads.

Nothing is written in the folder. The commit point is the replaced list of vaults (`Shelf.rebind`); before it nothing changed,
after it the former path is forgotten.
"""

from pathlib import Path

from vibekit_desktop.core.checkpoint.history import agree
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import running_turns
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.checkpoints import State
from vibekit_desktop.core.types.errors import Busy, CoreError, WorkspaceMissing, WorkspaceRefused
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.moves import Likeness

LOOKED_AT = 500
"""So many files tell one folder from another."""


def look(fs: Fs, shelf: Shelf, vault: OpenVault, folder: Path) -> Likeness:
    """How much a folder is like the workspace of a vault. `WorkspaceMissing` if there is no such folder, `WorkspaceRefused` for
    one that is never a workspace, is another vault's, or while the vault's own is where it was."""
    shelf.refuse_as_workspace(folder)
    if not folders.is_folder(folder):
        raise WorkspaceMissing(str(folder))
    text = folders.settled(str(folder))
    if vault.workspace() is not None:
        raise WorkspaceRefused(text, "not-missing")
    other = shelf.find(text)
    if other is not None and not _is_bare(other):
        raise WorkspaceRefused(text, "has-chats")
    here = Workspace.open(fs, Path(text), never=(shelf.data_dir, vault.folder))
    alike = 0
    changed: list[WorkspacePath] = []
    missing: list[WorkspacePath] = []
    view = vault.store.memory.public()
    newest = sorted(view.by_path, key=lambda path: view.by_path[path][-1].position, reverse=True)
    known = [path for path in newest if view.last_known(path).has_content][:LOOKED_AT]
    for path in known:
        try:
            found = here.look(path)
        except CoreError:
            changed.append(path)  # something is there that cannot be read
            continue
        if found.state is State.ABSENT:
            missing.append(path)
        elif agree(found, view.last_known(path)):
            alike += 1
        else:
            changed.append(path)
    same = shelf.seen_as(vault) not in (None, (0, 0)) and shelf.seen_as(vault) == folders.identity(text)
    return Likeness(folder=text, same=same, alike=alike, changed=tuple(changed), missing=tuple(missing))


def move(fs: Fs, shelf: Shelf, vault: OpenVault, folder: Path) -> str:
    """The workspace of the vault is this folder from now on; its path as the list keeps it. As `look`; also refused
    (`WorkspaceRefused`) for a folder that cannot be it, and with `Busy` while a turn runs. The caller holds the lock."""
    for chat, turn in running_turns(fs, vault.store.desktop):
        raise Busy(f"turn {turn} of chat {chat}")
    found = look(fs, shelf, vault, folder)
    if not found.can_be:
        raise WorkspaceRefused(found.folder, "not-alike")
    shelf.rebind(vault, found.folder)
    return found.folder


def _is_bare(vault: OpenVault) -> bool:
    """Whether a vault has nothing in it: somebody has only opened its folder."""
    return not (vault.chats.list() or vault.chats.list(archived=True) or vault.store.all_logs())
