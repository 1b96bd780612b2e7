"""Pictures of the window: ``python3 dev.py shots [NAME...] [--out DIR]``.

What they show is recorded anew for each run (`tests.helpers.recording`): a scripted agent works in a folder, the program's core
writes it down, and the program's window shows it, off screen. Run it before and after a change to the window and look at both.
``--readme`` makes those of the README anew; ``--zoom`` and ``--ratio`` are the text zoom and the screen's pixel ratio.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.arch.source import ROOT

README = {"main": "main-light", "review": "review-light", "restore": "restore-dark"}
VIEWS = ("main", "narrow", "review", "restore", "states", "permission", "first-run")
"""In the order in which they can be taken of one recording: after ``permission`` a turn runs."""
THEMES = ("light", "dark")
NAMES = [f"{view}-{theme}" for view in VIEWS for theme in THEMES]
SIZE, NARROW = (1440, 900), (1024, 768)


def shoot(names: dict[str, Path], scratch: Path, zoom: float) -> None:
    """Make pictures, by their names, of one recording."""
    home = scratch / "ann"
    home.mkdir()
    os.environ["HOME"] = str(home)  # so that paths are shown as a person sees their own
    from PySide6.QtWidgets import QApplication

    from tests.app.window import opened
    from tests.helpers.recording import Clock
    from tests.shots_stage import Stage, tell_time

    app = QApplication(["vibekit-desktop"])
    clock = Clock()
    tell_time(clock)
    with opened(app, data=scratch / "data", home=home, pictures=scratch, clock=clock) as window:
        stage = Stage(window, clock, home, scratch, zoom)
        views: dict[str, Callable[[], Awaitable[None]]] = {
            "main": stage.main,
            "narrow": stage.narrow,
            "review": stage.review,
            "restore": stage.restore,
            "states": stage.states,
            "permission": stage.permission,
            "first-run": stage.first_run,
        }

        async def play() -> None:
            await stage.begin()
            for view in VIEWS:
                wanted = [theme for theme in THEMES if f"{view}-{theme}" in names]
                if not wanted:
                    continue
                await views[view]()
                for theme in wanted:
                    await stage.save(names[f"{view}-{theme}"], theme)
                    print(names[f"{view}-{theme}"], flush=True)
            await stage.end()

        window.play(play())


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py shots")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--readme", action="store_true", help="make the pictures of the README")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "shots")
    parser.add_argument("--zoom", type=int, default=100, help="text zoom in percent, 80 to 200")
    parser.add_argument("--ratio", type=float, default=1.0, help="pixels of the screen for each of the window's")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    target = ROOT / "docs" / "pictures" if options.readme else options.out.resolve()
    target.mkdir(parents=True, exist_ok=True)
    wanted = README if options.readme else {name: name for name in options.names or NAMES}
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ.setdefault("QT_API", "pyside6")
    if options.ratio != 1.0:
        os.environ["QT_SCALE_FACTOR"] = str(options.ratio)
    with tempfile.TemporaryDirectory() as scratch:
        shoot({name: target / f"{file}.png" for file, name in wanted.items()}, Path(scratch), options.zoom / 100)
    return 0


if __name__ == "__main__":
    sys.exit(main())
