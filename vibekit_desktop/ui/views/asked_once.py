"""What a list needs for its rows and asks for once: the colours of code, the places of fragments in their files.

UI thread only.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.diffs import StyleRuns

Wanted = tuple[str, str, tuple[str, ...]]
"""Key, file name, lines."""
Unplaced = tuple[str, int, str, tuple[DiffFragment, ...]]
"""Key, turn, path, fragments of what the turn did to it."""
Places = Sequence[tuple[int, int]]


class AskedOnce(QObject):
    """Signal: ``wanted`` (what was asked for), after what is being laid out is laid out. Invariant: no key, which is the first
    of what is asked for, is asked for twice."""

    wanted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked: set[str] = set()
        self._waiting: list[Wanted | Unplaced] = []
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._tell)

    def ask(self, needed: Sequence[Wanted | Unplaced]) -> None:
        """These are needed."""
        new = [one for one in needed if one[0] not in self._asked]
        if new:
            self._asked.update(one[0] for one in new)
            self._waiting += new
            self._soon.start()

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            self.wanted.emit(one)

    def clear(self) -> None:
        """Forget everything: others have these keys now."""
        self._asked.clear()
        self._waiting.clear()


class CodeColours(AskedOnce):
    """``styles`` by the keys of code; None = there are none."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.styles: dict[str, StyleRuns | None] = {}

    def clear(self) -> None:
        super().clear()
        self.styles.clear()


class FragmentPlaces(AskedOnce):
    """``places`` by the keys of cards: the numbers of each fragment's first lines, before and after."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.places: dict[str, Places] = {}

    def clear(self) -> None:
        super().clear()
        self.places.clear()
