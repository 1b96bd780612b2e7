"""Keep Python's own housekeeping out of a person's way: cycles are looked for on the UI thread only, in small steps.

What a collection takes grows with what it looks at: a thread that reads a chat makes a million objects, and to look at them
once would hold up the window for a quarter of a second. They are values that die without it, so a crowd is set aside
(`gc.freeze`), and looked at when nobody is at the window.

By itself Python collects in whichever thread allocates next. A Qt object that dies outside of its own thread leaves its timers
and connections behind, and the process ends when Qt uses them. UI thread only.
"""

import gc
import sys
import time

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

CROWD = 50_000
"""So many objects are looked at in about 5 ms."""
_TICK_MS = 200
_AWAY_MS = 20_000
"""Nobody has been at the window for so long: a longer step is in nobody's way."""
_SWITCH_S = 0.0005
_OTHERS_S = 0.03
"""Other threads have worked for so long between two ticks: what they made is a crowd, also where as much died as was born: all
that Python counts is the difference."""


class Collector(QObject):
    """From `start` to `stop` nothing is collected but here. Invariant: between them automatic collection is off.

    The generations are Python's own, and the oldest is what was set aside; a tick on which little was allocated does nothing.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = False
        self._interval = sys.getswitchinterval()
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self.tick)
        self._left = QTimer(self)
        self._left.setSingleShot(True)
        self._left.setInterval(_AWAY_MS)
        self._left.timeout.connect(self.look_at_all)
        self._lasting = 0
        """At most so many objects have outlived a tick since some were set aside."""
        self._aside = False
        self._others = 0.0
        """The processor time of all other threads until the last tick."""
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self.state_changed)

    def start(self) -> None:
        """Take over. What exists by now mostly stays for good and is set aside: modules, classes, the window."""
        self._was_on = gc.isenabled()
        self._interval = sys.getswitchinterval()
        # A thread of ours that decodes or hashes gives the interpreter back at once when the window wants it, not after 5 ms
        # at each of the window's many calls into Qt.
        sys.setswitchinterval(_SWITCH_S)
        gc.disable()
        gc.freeze()
        self._others = time.process_time() - time.thread_time()
        self._timer.start()

    def stop(self) -> None:
        """Give it back as it was."""
        self._timer.stop()
        self._left.stop()
        sys.setswitchinterval(self._interval)
        gc.unfreeze()
        if self._was_on:
            gc.enable()

    def tick(self) -> None:
        """Collect the oldest generation that is due; a crowd is set aside, as are those that outlived many ticks."""
        young = gc.get_count()[0]
        others = time.process_time() - time.thread_time()
        busy, self._others = others - self._others > _OTHERS_S, others
        if young > CROWD or (busy and young):
            self._set_aside()
            return
        due = [
            number for number, (count, most) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True)) if count > most
        ]
        if not due:
            return
        self._lasting += young
        if self._lasting > CROWD:
            gc.collect()
            self._set_aside()
        else:
            gc.collect(due[-1])

    def state_changed(self, state: Qt.ApplicationState) -> None:
        """Somebody came to the window or left it."""
        if state is Qt.ApplicationState.ApplicationActive:
            self._left.stop()
        elif self._aside and self._timer.isActive():
            self._left.start()

    def look_at_all(self) -> None:
        """Collect what was set aside too. Takes as long as it takes."""
        gc.unfreeze()
        gc.collect()
        self._set_aside()
        self._aside = False

    def _set_aside(self) -> None:
        gc.freeze()
        self._lasting, self._aside = 0, True
