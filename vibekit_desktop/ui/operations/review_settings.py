"""Keep how a person likes their diffs: read it at the beginning, store what they change, follow what others change.

UI thread only.
"""

from PySide6.QtCore import QObject, Signal

from vibekit_desktop.core.api import Settings
from vibekit_desktop.core.types.events import SettingChanged
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.models.review_options import ReviewOptions, options_of, with_value


class ReviewSettings(QObject):
    """Invariant: ``options`` is what was chosen last, here or elsewhere. ``changed(options)``: it is another one."""

    changed = Signal(object)

    def __init__(self, settings: Settings, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._bridge = bridge
        self._storing = 0
        self.options = ReviewOptions()
        bridge.subscribe(self, SettingChanged, lambda event: self._told(event.key, event.value))

    async def begin(self) -> None:
        """Read what is stored."""
        self._take(options_of({one.key: one.value for one in await self._settings.all()}))

    def choose(self, options: ReviewOptions) -> None:
        """A person chose; it is shown at once and stored meanwhile."""
        former = self.options.settings()
        new = {key: text for key, text in options.settings().items() if former[key] != text}
        self._take(options)
        if new:
            self._storing += 1
            self._bridge.spawn(self, self._store(new), name="store how diffs are shown")

    async def _store(self, new: dict[str, str]) -> None:
        try:
            for key, text in new.items():
                await self._settings.set(key, text)
        finally:
            self._storing -= 1

    def _told(self, key: str, value: int | str) -> None:
        if not self._storing:  # else it is the echo of what was chosen here, perhaps of an older choice
            self._take(with_value(self.options, key, value))

    def _take(self, options: ReviewOptions) -> None:
        if options != self.options:
            self.options = options
            self.changed.emit(options)
