"""Say how much the store takes when that is asked for, and change from where on it is said. UI thread only."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.settings import BUDGET_GB
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.storage import SHOW, StorageDialog
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.theme.palette import ThemeHub


class StorageOperations(QObject):
    """Invariant: at most one dialog is open. ``show_folder`` lets the system show a folder."""

    def __init__(
        self,
        core: Core,
        hub: ThemeHub,
        bridge: Bridge,
        notifier: Notifier,
        window: QWidget,
        show_folder: Callable[[str], None],
    ) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._show_folder = show_folder
        self._asking = False

    def open(self) -> None:
        """Show the dialog."""
        if not self._asking:
            self._asking = True
            self._bridge.spawn(self, self._ask(), name="show the storage")

    async def _ask(self) -> None:
        try:
            size = await self._core.library.store_size()
            dialog = StorageDialog(self._hub, self._window, size)
            dialog.budget_chosen.connect(lambda budget: self._set_budget(dialog, budget))
            if await dialog.ask() == SHOW:
                self._show_folder(size.folder)
        except CoreError as error:
            self._tell(error)
        finally:
            self._asking = False

    def _set_budget(self, dialog: StorageDialog, budget: int) -> None:
        async def work() -> None:
            try:
                await self._core.settings.set(BUDGET_GB.key, str(budget))
                dialog.show_size(await self._core.library.store_size())
            except CoreError as error:
                self._tell(error)

        self._bridge.spawn(dialog, work(), name="set the store's budget", lasting=True)

    def _tell(self, error: CoreError) -> None:
        self._notifier.toast(sentence(error).sentence, "error", everywhere=True)
