"""Say where a workspace is now that was not found where it was: choose the folder, ask if it may be another one, go on there.

UI thread only.
"""

from pathlib import Path, PurePath

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.errors import CoreError, WorkspaceRefused
from vibekit_desktop.core.types.moves import Likeness
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import short_path, workspace_name

_NAMED = 3
"""So many files that differ are named."""


class MoveOperations(QObject):
    """Invariant: at most one folder is looked at. ``moved(former, workspace)``: chats have another workspace now."""

    moved = Signal(str, str)

    def __init__(
        self, core: Core, hub: ThemeHub, bridge: Bridge, notifier: Notifier, window: QWidget, opened: OpenChat
    ) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._open = opened
        self._looking = False

    def ask(self) -> None:
        """Let a person choose the folder in which the open chat's workspace is now."""
        view = self._open.view
        if view is None or view.workspace_found:
            return
        workspace = view.vault_workspace
        title = tr("Where is {name} now?", name=workspace_name(workspace) or tr("the workspace"))
        dialog = QFileDialog(self._window, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setDirectory(_above(workspace))
        dialog.fileSelected.connect(lambda folder: self.locate(workspace, folder))
        dialog.open()

    def locate(self, workspace: str, folder: str) -> None:
        """Go on in this folder, after asking if it may be another one."""
        if self._looking:
            return

        async def work() -> None:
            try:
                found = await self._core.library.look_at_move(workspace, Path(folder))
                if not found.can_be:
                    raise WorkspaceRefused(found.folder, "not-alike")
                if found.is_sure or await self._agreed(workspace, found):
                    there = await self._core.library.move_workspace(workspace, Path(folder))
                    place = visible_name(short_path(found.folder))
                    self._notifier.toast(tr("Its chats go on in {folder}", folder=place), "done", everywhere=True)
                    self.moved.emit(workspace, there)
            except CoreError as error:
                self._notifier.toast(sentence(error).sentence, "error", everywhere=True)
            finally:
                self._looking = False

        self._looking = True
        self._bridge.spawn(self, work(), name="locate a workspace")

    async def _agreed(self, workspace: str, found: Likeness) -> bool:
        name = workspace_name(workspace) or tr("the workspace")
        title = tr("Is this {name}?", name=name)
        choices = [Choice("", tr("Cancel")), Choice("go", tr("Use this folder"), "primary")]
        text = f"{visible_name(short_path(found.folder))}\n{what_differs(found)}"
        return bool(await Question(self._hub, self._window, title, text, choices, icon="folder-open").ask())


def what_differs(found: Likeness) -> str:
    """Why a folder may not be the workspace, and what happens if it is used."""
    words: list[str] = []
    if not (found.alike or found.changed or found.missing):
        words.append(tr("Its chats tell no file by which the folder could be known."))
    else:
        total = found.alike + len(found.changed) + len(found.missing)
        one, many = "Of the file that its chats saw last:", "Of the {n} files that its chats saw last:"
        counts = [tr_n("{n} is as it was", "{n} are as they were", found.alike)] if found.alike else []
        counts += [tr_n("{n} has changed", "{n} have changed", len(found.changed))] if found.changed else []
        counts += [tr_n("{n} is missing", "{n} are missing", len(found.missing))] if found.missing else []
        words.append(f"{tr_n(one, many, total)} {', '.join(counts)}{_examples(found)}.")
    words.append(tr("Nothing in the folder is changed. Its chats go on there, and the former place is forgotten."))
    return "\n".join(words)


def _examples(found: Likeness) -> str:
    differing = [*found.missing, *found.changed]
    named = [visible_name(path) for path in differing[:_NAMED]]
    if len(differing) > _NAMED:
        named.append("…")
    return f" ({', '.join(named)})" if named else ""


def _above(workspace: str) -> str:
    """The folder it was in: what is moved is mostly not moved far. Whether that is there the dialog finds out."""
    place = PurePath(workspace)
    return str(place.parent) if place.is_absolute() else ""
