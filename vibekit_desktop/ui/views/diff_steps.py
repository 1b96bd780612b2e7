"""Long work on the window's thread in slices of a few milliseconds, between which everything else goes on."""

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer, Signal

_SLICE_S = 0.006
_FIRST_S = 0.002


class Steps(QObject):
    """Runs one iterator at a time to its end; a newer one replaces it. ``advanced()``: a slice is over."""

    advanced = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._job: Iterator[None] | None = None
        self._ended: Callable[[], None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._slice)

    @property
    def busy(self) -> bool:
        """Whether there is something left to do."""
        return self._job is not None

    def start(self, job: Iterator[None], ended: Callable[[], None] | None = None) -> None:
        """Do this from now on: a small slice at once. ``ended`` is called when all is done."""
        self._timer.stop()
        self._job, self._ended = job, ended
        self._work(_FIRST_S)

    def stop(self) -> None:
        """Leave the rest undone."""
        self._timer.stop()
        self._job = self._ended = None

    def _slice(self) -> None:
        self._work(_SLICE_S)

    def _work(self, seconds: float) -> None:
        job = self._job
        if job is None:
            return
        end = time.perf_counter() + seconds
        done = object()
        while time.perf_counter() < end:
            if next(job, done) is done:
                ended = self._ended
                self._job = self._ended = None
                if ended is not None:
                    ended()
                self.advanced.emit()
                return
        self._timer.start()
        self.advanced.emit()
