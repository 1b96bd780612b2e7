"""How long until our window is shown, compared with an empty one."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

from tests.arch.source import ROOT

ROUNDS = 9
AIM = 1.3

_EMPTY = """
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.resize(1440, 900)
window.show()
app.processEvents()
"""


def _timed(command: Sequence[str], env: Mapping[str, str]) -> tuple[float, float]:
    """Wall and processor seconds of one process from start to end."""
    before = os.times()
    started = time.perf_counter()
    subprocess.run(command, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, check=True)
    wall = time.perf_counter() - started
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used


def run() -> bool:
    """Print the figures; whether the aim was met."""
    with tempfile.TemporaryDirectory() as data:
        env = dict(os.environ, QT_QPA_PLATFORM="offscreen", VIBEKIT_QUIT_AFTER_PAINT="1", VIBEKIT_DATA_DIR=data)
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # a program that is used has its byte code
        commands = {
            "python": [sys.executable, "-c", "pass"],
            "empty window": [sys.executable, "-c", _EMPTY],
            "our window": [sys.executable, "-m", "vibekit_desktop"],
        }
        least = dict.fromkeys(commands, (float("inf"), float("inf")))
        for _ in range(ROUNDS):
            for name, command in commands.items():
                wall, used = _timed(command, env)
                least[name] = (min(least[name][0], wall), min(least[name][1], used))
    empty = least["empty window"]
    for name, (wall, used) in least.items():
        print(
            f"{name:14} {wall * 1000:6.0f} ms  {used * 1000:6.0f} ms of processor   "
            f"{wall / empty[0]:.2f}x  {used / empty[1]:.2f}x an empty window"
        )
    ours = least["our window"]
    return min(ours[0] / empty[0], ours[1] / empty[1]) <= AIM
