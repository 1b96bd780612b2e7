"""Let the window look as the setting says, also when it changes meanwhile. UI thread only."""

from PySide6.QtCore import QObject

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.events import SettingChanged
from vibekit_desktop.core.types.settings import THEME
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.theme.palette import ThemeHub


class FollowTheme(QObject):
    """From its making on, changes of the setting count; `begin` reads what it is."""

    def __init__(self, core: Core, hub: ThemeHub, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._core = core
        self._hub = hub
        bridge.subscribe(self, SettingChanged, lambda event: self._changed(event.key, event.value))

    async def begin(self) -> None:
        """Look as the setting says now."""
        self._changed(THEME.key, (await self._core.settings.get(THEME.key)).value)

    def _changed(self, key: str, value: int | str) -> None:
        if key == THEME.key:
            self._hub.set_mode(str(value))
