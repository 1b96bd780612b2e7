"""Keep Python's own housekeeping out of a person's way: cycles are looked for on the UI thread only, in small steps.

By itself Python collects in whichever thread allocates next. A Qt object that dies outside of its own thread leaves its timers
and connections behind, and the process ends when Qt uses them. UI thread only.
"""

import gc
import sys

from PySide6.QtCore import QObject, QTimer

_TICK_MS = 200
_SWITCH_S = 0.0005


class Collector(QObject):
    """From `start` to `stop` nothing is collected but here. Invariant: between them automatic collection is off.

    The generations are Python's own; a tick on which little was allocated does nothing.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = False
        self._interval = sys.getswitchinterval()
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self.tick)

    def start(self) -> None:
        """Take over. What exists by now stays for good and is not looked at again: modules, classes, the window."""
        self._was_on = gc.isenabled()
        self._interval = sys.getswitchinterval()
        # A thread of ours that decodes or hashes gives the interpreter back at once when the window wants it, not after 5 ms
        # at each of the window's many calls into Qt.
        sys.setswitchinterval(_SWITCH_S)
        gc.disable()
        gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        """Give it back as it was."""
        self._timer.stop()
        sys.setswitchinterval(self._interval)
        gc.unfreeze()
        if self._was_on:
            gc.enable()

    def tick(self) -> None:
        """Collect the oldest generation that is due."""
        due = [
            number for number, (count, most) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True)) if count > most
        ]
        if due:
            gc.collect(due[-1])
