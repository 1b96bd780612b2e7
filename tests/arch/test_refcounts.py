"""The installed PySide6 keeps its hands off the reference count of None (6.12.0 on Python 3.11 dies of it in seconds)."""

import subprocess
import sys

_PAINT = """
import sys
from PySide6.QtCore import QPointF, QRect, QTimer
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QApplication

app = QApplication([])
picture = QPixmap(50, 50)
painter = QPainter(picture)
color, pen, font, rect = QColor("#fff"), QPen(QColor("#000")), QFont(), QRect(0, 0, 9, 9)
calls = [
    lambda: painter.fillRect(rect, color),
    lambda: painter.setPen(pen),
    lambda: painter.setFont(font),
    lambda: painter.drawText(QPointF(1, 1), "abc"),
    lambda: painter.drawPixmap(0, 0, picture.copy()),
    lambda: painter.setClipRect(rect),
    app.processEvents,
]
for call in calls:
    call()
before = sys.getrefcount(None)
for call in calls:
    for _ in range(500):
        call()
print("drift", abs(sys.getrefcount(None) - before))
painter.end()

turns = 0
def turn():
    global turns
    turns += 1
    if turns == 100_000:
        app.quit()
timer = QTimer()
timer.timeout.connect(turn)
timer.start(0)
app.exec()
print("turns", turns)
"""


def test_qt_does_not_change_the_reference_count_of_none() -> None:
    run = subprocess.run([sys.executable, "-c", _PAINT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    words = run.stdout.split()
    assert words[0] == "drift"
    assert int(words[1]) < 100
    assert words[2:] == ["turns", "100000"]
