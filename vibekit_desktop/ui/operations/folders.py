"""Before a folder is worked in for the first time: say how large it is, where that will be felt, and let a person choose.

UI thread only.
"""

import logging
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.folders import FolderWeight
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.patience import GivenUp, patiently
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import short_path, workspace_name

LONG_S = 8.0
"""A first check that takes about so long is worth a question; a shorter one is over before the first answer is."""

_log = logging.getLogger(__name__)


def weight_words(weight: FolderWeight) -> tuple[str, str]:
    """How many files there are, and what that means; both empty where nobody will feel it."""
    if weight.is_too_large:
        count = tr("More than {n} files and folders here.", n=weight.limit)
        text = tr(
            "That is too many to check before and after each turn. What an agent says it changes is recorded and can be taken "
            "back; what its commands change beside that is not seen."
        )
        return count, text
    if weight.check_s < LONG_S:
        return "", ""
    count = tr_n("{n} file here.", "{n} files here.", weight.files)
    return count, tr("Recording starts at once; the first check takes about {time}.", time=_about(weight.check_s))


def _about(seconds: float) -> str:
    """A time as rough as it is known."""
    if seconds < 90:
        return tr("{n} s", n=round(seconds / 10) * 10)
    return tr("{n} min", n=round(seconds / 60))


class FolderOperations(QObject):
    """Invariant: at most one folder is weighed. ``another_wanted`` has no argument: another folder is to be chosen."""

    another_wanted = Signal()

    def __init__(self, core: Core, hub: ThemeHub, bridge: Bridge, notifier: Notifier, window: QWidget) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._asking = False

    async def words(self, folder: str) -> tuple[str, str]:
        """As `weight_words`, of a folder; empty where it can't be known: whoever uses the folder says why."""
        try:
            weight = await self._core.library.weigh_folder(Path(folder))
        except CoreError as error:
            _log.info("a folder was not weighed: %s", error.code)
            return "", ""
        return ("", "") if weight is None else weight_words(weight)

    async def may_use(self, folder: str) -> bool:
        """Whether a folder is to be worked in; a person is asked if it is huge."""
        if self._asking:
            return False
        self._asking = True
        try:
            counting = tr("Counting the files in {name}…", name=visible_name(workspace_name(folder) or folder))
            count, text = await patiently(self._bridge, self, self._notifier, self.words(folder), counting)
            return not count or await self._agreed(folder, count, text)
        except GivenUp:
            return False
        finally:
            self._asking = False

    async def _agreed(self, folder: str, count: str, text: str) -> bool:
        choices = [
            Choice("", tr("Cancel")),
            Choice("another", tr("Choose another")),
            Choice("use", tr("Use this folder"), "primary"),
        ]
        place = visible_name(short_path(folder))
        answer = await Question(self._hub, self._window, count, f"{place}\n{text}", choices, icon="folder-open").ask()
        if answer == "another":
            self.another_wanted.emit()
        return answer == "use"
