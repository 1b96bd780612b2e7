"""How wide the lines of a diff are, and how high when wrapped: found out bit by bit, so that nothing waits for it."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QObject

from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.ui.models.diff_heights import ExtraLines
from vibekit_desktop.ui.views.diff_steps import Steps

_LINES = 4000


class Widths(Steps):
    """``columns`` is the longest line known so far. Invariant: it never shrinks while the same document is shown."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.columns = 0

    def begin(self, document: DiffDocument | None, tab_columns: int) -> None:
        """Measure the lines of another document: some of them at once, the rest in slices."""
        self.stop()
        self.columns = 0
        if document is not None:
            self.start(self._longest((document.new.lines, document.old.lines), tab_columns))

    def measure(self, extra: ExtraLines) -> None:
        """Measure the heights of wrapped rows instead: nobody scrolls sideways then."""
        self.start(_heights(extra))

    def _longest(self, sides: tuple[Sequence[str], ...], tab_columns: int) -> Iterator[None]:
        for lines in sides:
            for first in range(0, len(lines), _LINES):
                some = lines[first : first + _LINES]
                longest = max(map(len, some))
                # A tab is one character and up to a few columns; only files that have any pay for counting them.
                tabbed = [len(line) + line.count("\t") * (tab_columns - 1) for line in some if "\t" in line]
                self.columns = max(self.columns, longest, *tabbed)
                yield


def _heights(extra: ExtraLines) -> Iterator[None]:
    while extra.look_on():
        yield
