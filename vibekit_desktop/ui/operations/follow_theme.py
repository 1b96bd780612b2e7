"""Let the window look as the setting says, also when it changes meanwhile, and store what is chosen here. UI thread only."""

from PySide6.QtCore import QObject

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.events import SettingChanged
from vibekit_desktop.core.types.settings import THEME
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.theme.palette import ThemeHub


class FollowTheme(QObject):
    """From its making on, changes of the setting count; `begin` reads what it is. ``own``: the look was chosen for this run, so
    neither counts and nothing is stored."""

    def __init__(self, core: Core, hub: ThemeHub, bridge: Bridge, parent: QObject, *, own: bool = False) -> None:
        super().__init__(parent)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._own = own
        self._storing = 0
        if not own:
            bridge.subscribe(self, SettingChanged, lambda event: self._changed(event.key, event.value))

    def choose(self, mode: str) -> None:
        """A person chose a look: it is shown at once and stored meanwhile."""
        self._hub.set_mode(mode)
        if not self._own:
            self._storing += 1
            self._bridge.spawn(self, self._store(mode), name="store the look")

    async def _store(self, mode: str) -> None:
        try:
            await self._core.settings.set(THEME.key, mode)
        finally:
            self._storing -= 1

    async def begin(self) -> None:
        """Look as the setting says now."""
        if self._own:
            return
        self._changed(THEME.key, (await self._core.settings.get(THEME.key)).value)

    def _changed(self, key: str, value: int | str) -> None:
        if key == THEME.key and not self._storing:  # else it is the echo of what was chosen here, perhaps of an older choice
            self._hub.set_mode(str(value))
