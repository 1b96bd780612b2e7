"""The colours of code blocks: which are known, and asking for each of the others once. UI thread only."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from vibekit_desktop.core.types.diffs import StyleRuns

Wanted = tuple[str, str, tuple[str, ...]]


class CodeColours(QObject):
    """``styles`` by the keys of code blocks; None = there are none. Signal: ``wanted`` (key, file name, lines), after what is
    being laid out is laid out. Invariant: no key is asked for twice."""

    wanted = Signal(str, str, tuple)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.styles: dict[str, StyleRuns | None] = {}
        self._asked: set[str] = set()
        self._waiting: list[Wanted] = []
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._tell)

    def ask(self, blocks: Sequence[Wanted]) -> None:
        """Colours of these blocks are needed."""
        new = [block for block in blocks if block[0] not in self._asked]
        if new:
            self._asked.update(block[0] for block in new)
            self._waiting += new
            self._soon.start()

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting, []
        for block in waiting:
            self.wanted.emit(*block)

    def clear(self) -> None:
        """Forget everything: other blocks have these keys now."""
        self.styles.clear()
        self._asked.clear()
        self._waiting.clear()
