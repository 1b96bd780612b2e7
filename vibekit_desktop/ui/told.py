"""What a person was told once and need not be told again. UI thread only."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal


class Told(QObject):
    """The words of what was told, over all starts of the program. ``changed`` has no argument."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.words: frozenset[str] = frozenset()

    def learn(self, words: Iterable[str]) -> None:
        """What was told at earlier starts."""
        self._set(self.words.union(words))

    def add(self, word: str) -> None:
        """It was told now."""
        self._set(self.words | {word})

    def _set(self, words: frozenset[str]) -> None:
        if words != self.words:
            self.words = words
            self.changed.emit()
