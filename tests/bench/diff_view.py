"""The painted diff beside what Qt offers: opening 200,000 lines against a text field, frames against a bare background.

Processor time of the window's thread, in turns, the least of several; memory in processes of their own.
"""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QPlainTextEdit, QWidget

from tests.bench.edits import edited, source_lines
from vibekit_desktop.core.diff.document import UNLIMITED, build
from vibekit_desktop.core.diff.intraline import words
from vibekit_desktop.core.highlight.lex import lex
from vibekit_desktop.core.types.checkpoints import ABSENT, BeforeTurn, Now
from vibekit_desktop.core.types.diffs import DiffDocument, DiffRequest, FileDiff
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff import DiffView
from vibekit_desktop.ui.views.diff_paint import RowPainter
from vibekit_desktop.ui.views.diff_pane import DiffPane

ROUNDS = 3
STEPS = 60
COLOURED = 3000
WIDTH, HEIGHT = 1400, 900
FASTER, MEMORY = 10.0, 0.2
SCROLL, REPAINT, SIZE = 1.2, 3.0, 1.2
FRAME_MS, STEP_MS = 16.0, 50.0


def document(lines: int, edits: int) -> DiffDocument:
    """Real source with edits as people make them."""
    text = source_lines(lines)
    found = build("\n".join(text).encode(), "\n".join(edited(text, edits)).encode(), limits=UNLIMITED)
    assert isinstance(found, DiffDocument)
    return found


def file_diff(found: DiffDocument) -> FileDiff:
    """What a pane is given."""
    request = DiffRequest(ChatId("0" * 36), WorkspacePath("a.py"), BeforeTurn(1), Now())
    return FileDiff(request=request, before=ABSENT, after=ABSENT, result=found)


def open_pane(found: DiffDocument) -> DiffPane:
    """The diff, shown and painted."""
    pane = DiffPane(ThemeHub("light"))
    pane.resize(WIDTH, HEIGHT)
    pane.show()
    pane.show_diff(file_diff(found), (("", ""), ("", "")))
    pane.grab()
    return pane


def open_plain(text: str) -> QPlainTextEdit:
    """One side in Qt's own text field, shown and painted."""
    field = QPlainTextEdit()
    field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    field.resize(WIDTH // 2, HEIGHT)
    field.show()
    field.setPlainText(text)
    field.grab()
    return field


class Bare(RowPainter):
    """The floor: everything of every row but its text."""

    def _text(self, painter: QPainter, box: QRectF, index: int, side: int, number: int, changed: str) -> None:
        pass


class Ground(DiffView):
    """The same view with a bare painter, painted anew at every step."""

    def __init__(self, found: DiffDocument) -> None:
        hub = ThemeHub("light")
        super().__init__(hub)
        self._painter = Bare(hub.theme)
        self._geometry = self._painter.geometry
        self.resize(WIDTH, HEIGHT)
        self.set_document(found)
        self.show()
        self.grab()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()


def timed_ms(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def settle(pane: DiffPane) -> float:
    """Let everything that the pane left for later be done; the longest turn of the loop in ms."""
    longest = 0.0
    for _ in range(10_000):
        longest = max(longest, timed_ms(QApplication.processEvents))
        if not pane.view._widths.busy:
            break
    return longest


def dressed(pane: DiffPane, found: DiffDocument) -> None:
    """Words and colours of the part that is looked at."""
    last = min(COLOURED, len(found.rows)) - 1
    pane.view.set_words(words(found, 0, last))
    for side, of in enumerate((found.old, found.new)):
        lines = of.lines[:COLOURED]
        styles = lex("a.py", lines)
        if styles is not None:
            pane.view.add_styles(side, 0, len(lines) - 1, styles)


def scroll_ms(area: QAbstractScrollArea) -> float:
    """A step of three lines down, painted; the middle of many."""
    bar = area.verticalScrollBar()
    bar.setValue(0)
    QApplication.processEvents()

    def step() -> None:
        bar.setValue(bar.value() + 60)
        QApplication.processEvents()

    return median(timed_ms(step) for _ in range(STEPS))


def repaint_ms(area: QAbstractScrollArea) -> tuple[float, float]:
    """A whole frame, and the longest of some at other places."""
    bar = area.verticalScrollBar()
    found = []
    for place in range(20):
        bar.setValue(place * 997)
        QApplication.processEvents()
        found.append(timed_ms(area.viewport().repaint))
    return median(found), max(found)


def memory_kb(kind: str) -> int:
    """What opening adds to a process of its own."""
    run = subprocess.run([sys.executable, "-m", "tests.bench.diff_view", kind], capture_output=True, text=True, check=True)
    return int(run.stdout.split()[-1])


def resident_kb() -> int:
    """How much of this process is in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def added(kind: str) -> None:
    """Open one of the two and print what that added."""
    QApplication([])
    found = document(200_000, 10_000)
    text = "\n".join(found.new.lines)
    open_pane(document(100, 5)).close()
    open_plain("a\nb\n").close()
    before = resident_kb()
    kept: QWidget = open_pane(found) if kind == "ours" else open_plain(text)
    print(resident_kb() - before)
    kept.close()


def line(good: bool, text: str) -> bool:
    """Print a figure and whether its aim was met."""
    print(f"  {'met ' if good else 'MISSED'} {text}")
    return good


def run() -> bool:
    """Print the figures; whether every aim was met."""
    QApplication.instance() or QApplication([])
    large, small = document(200_000, 10_000), document(2_000, 100)
    text = "\n".join(large.new.lines)
    ours = plain = longest = float("inf")
    open_pane(small).close()
    gc.collect()
    gc.freeze()  # as the program does: what is loaded, here by other tables too, is not looked at again and again
    for _ in range(ROUNDS):
        begun = time.process_time()
        pane = open_pane(large)
        ours = min(ours, (time.process_time() - begun) * 1000)
        longest = min(longest, settle(pane))
        pane.close()
        begun = time.process_time()
        open_plain(text).close()
        plain = min(plain, (time.process_time() - begun) * 1000)
    pane, little, ground = open_pane(large), open_pane(small), Ground(large)
    for one, found in ((pane, large), (little, small)):
        settle(one)
        dressed(one, found)
    scroll = {name: min(scroll_ms(area) for _ in range(ROUNDS)) for name, area in (
        ("ours", pane.view), ("small", little.view), ("ground", ground))}  # fmt: skip
    frames = {name: min(repaint_ms(area) for _ in range(ROUNDS)) for name, area in (
        ("ours", pane.view), ("small", little.view), ("ground", ground))}  # fmt: skip
    memory = memory_kb("ours") / max(1, memory_kb("plain"))
    print("the painted diff, 200,000 lines, two sides, at 1400 x 900")
    good = [
        line(plain / ours >= FASTER, f"opens in {ours:.0f} ms, QPlainTextEdit with one side {plain:.0f}: {plain / ours:.1f}x"),
        line(memory <= MEMORY, f"adds {memory:.2f} of the memory that QPlainTextEdit adds"),
        line(longest <= STEP_MS, f"longest step after it: {longest:.1f} ms"),
        line(
            scroll["ours"] <= SCROLL * scroll["ground"],
            f"scroll step {scroll['ours']:.2f} ms, background alone {scroll['ground']:.2f}",
        ),
        line(
            frames["ours"][0] <= REPAINT * frames["ground"][0],
            f"whole frame {frames['ours'][0]:.2f} ms, background alone {frames['ground'][0]:.2f}",
        ),
        line(frames["ours"][1] <= FRAME_MS, f"longest frame {frames['ours'][1]:.1f} ms"),
        line(
            frames["ours"][0] <= SIZE * frames["small"][0],
            f"whole frame with 200,000 lines {frames['ours'][0]:.2f} ms, with 2,000 {frames['small'][0]:.2f}",
        ),
    ]
    for widget in (pane, little, ground):
        widget.close()
    return all(good)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        added(sys.argv[1])
    else:
        sys.exit(0 if run() else 1)
