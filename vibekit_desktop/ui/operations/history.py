"""Bring chats into the list: list them anew, import a history, open a folder, open what a program left.

Each operation tells its own errors and says with a signal what is to be shown. UI thread only.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.chats import ChatHeader
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.sources import ImportReport
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.folders import FolderOperations
from vibekit_desktop.ui.text import tr, tr_n

FIRST_ROWS = 60
"""More than a window shows of the list."""


class HistoryOperations(QObject):
    """What a person can do to have more chats in the list.

    Signals: ``known(headers)``: the newest chats as they were known last; ``listed(headers, workspaces)``: all chats, newest
    first, and all workspaces, most recently used first; ``chat_wanted(chat)``: this one is to be shown;
    ``folder_opened(workspace, chat)``: this workspace was chosen, ``chat`` is its newest or None.
    """

    known = Signal(object)
    listed = Signal(object, object)
    chat_wanted = Signal(object)
    folder_opened = Signal(str, object)

    def __init__(self, core: Core, bridge: Bridge, notifier: Notifier, folders: FolderOperations, parent: QObject) -> None:
        super().__init__(parent)
        self._core = core
        self._bridge = bridge
        self._notifier = notifier
        self._folders = folders

    # What views ask for; each starts a task.

    def start_list(self) -> None:
        """Look for histories again."""
        self._bridge.spawn(self, self.list_chats(), name="list the chats")

    def start_import(self, path: str) -> None:
        """Read one history file, or every one in a folder."""
        self._bridge.spawn(self, self._import(Path(path)), name="import")

    def start_open_folder(self, folder: str) -> None:
        """Work in a folder: show its chats."""
        self._bridge.spawn(self, self._open_folder(Path(folder)), name="open a folder")

    def start_open_source(self, name: str) -> None:
        """Show the newest chat of a program, or of all programs without a name."""
        self._bridge.spawn(self, self._open_source(name), name="open a history")

    # How.

    async def show_first_rows(self) -> None:
        """The beginning of the list as it was known last, at once: something to look at until it is listed."""
        try:
            headers = await self._core.chats.first_rows(FIRST_ROWS)
        except CoreError:
            return  # listing says what is wrong
        self.known.emit(headers)

    async def list_chats(self) -> Sequence[ChatHeader]:
        """List all chats and workspaces."""
        headers = await self._core.chats.list()
        workspaces = dict.fromkeys([*await self._core.library.workspaces(), *(header.workspace for header in headers)])
        self.listed.emit(headers, [one for one in workspaces if one])
        return headers

    async def _open_source(self, name: str) -> None:
        headers = await self.list_chats()
        newest = next((one for one in headers if not name or one.source == name), None)
        if newest is not None:
            self.chat_wanted.emit(newest.id)

    async def _open_folder(self, folder: Path) -> None:
        if not await self._folders.may_use(str(folder)):
            return
        try:
            workspace = await self._core.library.open_folder(folder)
        except CoreError as error:
            self._notifier.toast(sentence(error).sentence, "error", everywhere=True)
            return
        headers = await self.list_chats()
        self.folder_opened.emit(workspace, next((one.id for one in headers if one.workspace == workspace), None))

    async def _import(self, path: Path) -> None:
        try:
            report = await self._core.histories.import_path(path, workspace=None, agent=None)
        except CoreError as error:
            self._notifier.toast(sentence(error).sentence, "error", everywhere=True)
            return
        self._tell(report)
        chats = [*report.imported, *report.updated]
        if chats:
            self.start_list()  # its folder may be a new one in the list of workspaces
            self.chat_wanted.emit(chats[0].chat_id)
        elif report.unchanged:
            self.chat_wanted.emit(report.unchanged[0])

    def _tell(self, report: ImportReport) -> None:
        count = len(report.imported) + len(report.updated)
        if report.failed:
            why = report.failed[0].reason
            one, many = "{n} file could not be read: {why}", "{n} files could not be read: {why}"
            self._notifier.toast(tr_n(one, many, len(report.failed), why=why), "error", everywhere=True)
        elif count:
            self._notifier.toast(tr_n("Opened {n} chat", "Opened {n} chats", count), "done", everywhere=True)
        else:
            self._notifier.toast(tr("Nothing new in it"), "info", everywhere=True)
