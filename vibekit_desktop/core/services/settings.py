"""Read, check and change settings; say what changed. Implements `core.api.Settings`.

They are kept in ``library.json``, which is read again when its stamp changed: what another process decides counts here at
once. A stored value that cannot be one counts as the default and stays in the file.
"""

import asyncio
import logging
import threading
from collections.abc import Sequence

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import SettingChanged
from vibekit_desktop.core.types.settings import (
    CAPTURE_MB,
    COPIES_MB,
    COPY_MB,
    KINDS,
    Limits,
    Setting,
    SettingKind,
    Value,
    kind_of,
)

_log = logging.getLogger(__name__)


class SettingsService:
    """The settings of this user. Invariant: every change is told once, whoever noticed it first."""

    def __init__(self, bus: Bus, shelf: Shelf) -> None:
        self._bus = bus
        self._shelf = shelf
        self._guard = threading.Lock()  # changes are noticed in several threads
        self._told: dict[str, Value] | None = None

    async def all(self) -> Sequence[Setting]:
        """Every setting with its value."""
        return await asyncio.to_thread(lambda: [self._setting(kind, self._stored(kind)) for kind in KINDS.values()])

    async def get(self, key: str) -> Setting:
        """One setting."""
        kind = kind_of(key)
        return await asyncio.to_thread(lambda: self._setting(kind, self._stored(kind)))

    async def set(self, key: str, text: str) -> Setting:
        """Change a setting."""
        kind = kind_of(key)
        value = kind.parse(text)

        def work() -> list[SettingChanged]:
            with self._guard:
                known = self._told or self._values()
                self._shelf.set_setting(key, value)
                return self._news_since(known)

        for event in await durably(work):
            self._bus.publish(event)
        return self._setting(kind, value)

    def value(self, kind: SettingKind) -> Value:
        """What a setting is now; the default where the list cannot be read. Blocking."""
        try:
            return self._stored(kind)
        except CoreError as error:
            _log.info("the settings were not read: %s", error.code)
            return kind.default

    def number(self, kind: SettingKind) -> int:
        """As `value`, for a whole number. Blocking."""
        value = self.value(kind)
        return value if isinstance(value, int) else 0

    def limits(self) -> Limits:
        """What a capture may take now. Blocking."""
        return Limits(
            capture_bytes=self.number(CAPTURE_MB) << 20,
            copy_bytes=self.number(COPY_MB) << 20,
            copies_bytes=self.number(COPIES_MB) << 20,
        )

    def news(self) -> Sequence[SettingChanged]:
        """What changed since this was last asked, to be published; nothing the first time. Blocking."""
        with self._guard:
            if self._told is None:
                self._told = self._values()
                return []
            return self._news_since(self._told)

    def _news_since(self, known: dict[str, Value]) -> list[SettingChanged]:
        self._told = self._values()
        return [SettingChanged(key, value) for key, value in self._told.items() if known.get(key) != value]

    def _values(self) -> dict[str, Value]:
        return {kind.key: self.value(kind) for kind in KINDS.values()}

    def _stored(self, kind: SettingKind) -> Value:
        stored = self._shelf.settings().get(kind.key, kind.default)
        return stored if isinstance(stored, int | str) and kind.holds(stored) else kind.default

    def _setting(self, kind: SettingKind, value: Value) -> Setting:
        return Setting(key=kind.key, value=value, default=kind.default, text=kind.text)
