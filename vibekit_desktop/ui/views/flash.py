"""The light behind a row that was just undone or jumped to: it goes out by itself. UI thread only."""

import time
from collections.abc import Hashable, Iterable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.pulse import Pulse


class Flash:
    """The rows of one view that are lit, by key. Invariant: under reduced motion none is."""

    def __init__(self, hub: ThemeHub) -> None:
        self._hub = hub
        self._since: dict[Hashable, int] = {}

    def light(self, keys: Iterable[Hashable]) -> None:
        """Light these rows now; whoever shows them paints them again."""
        if self._hub.theme.motion("flash"):
            now = time.monotonic_ns()
            self._since.update((key, now) for key in keys)

    @property
    def lit(self) -> frozenset[Hashable]:
        """The rows that are lit."""
        return frozenset(key for key in tuple(self._since) if self.strength(key) > 0.0)

    def strength(self, key: Hashable) -> float:
        """How bright a row is, from 1 to 0."""
        since = self._since.get(key)
        length_ms = self._hub.theme.motion("flash")
        if since is None or not length_ms:
            return 0.0
        left = 1.0 - (time.monotonic_ns() - since) / 1_000_000 / length_ms
        if left <= 0.0:
            del self._since[key]
            return 0.0
        return left

    def goes_on(self, painter: QPainter, box: QRectF, pulse: Pulse | None) -> None:
        """A lit row was painted in ``box``: paint it again soon."""
        if pulse is not None:
            pulse.turns(painter, box)
