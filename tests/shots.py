"""Pictures of the window: ``python3 dev.py shots [NAME...] [--out DIR]``.

What they show is recorded anew for each run (`tests.helpers.recording`): a scripted agent works in a folder, the program's core
writes it down, and the program's window shows it, off screen. Run it before and after a change to the window and look at both.
``--readme`` makes those of the README anew; ``--zoom`` and ``--ratio`` are the text zoom and the screen's pixel ratio,
``--contrast`` shows the colours of a high-contrast theme instead of ours.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.arch.source import ROOT

README = {"main": "main-light", "review": "review-light", "restore": "restore-dark"}
VIEWS = ("first-run", "main", "narrow", "review", "restore", "states", "permission")
"""In the order in which they can be taken: after ``permission`` a turn runs."""
THEMES = ("light", "dark")
NAMES = [f"{view}-{theme}" for view in VIEWS for theme in THEMES]
SCREEN = {"name": "large", "x": 0, "y": 0, "width": 4096, "height": 2560, "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
"""Room for the window and its menus at any ratio."""


def shoot(names: dict[str, Path], scratch: Path, zoom: float, *, contrast: bool) -> None:
    """Make pictures, by their names, of one recording."""
    home = scratch / "ann"
    home.mkdir()
    os.environ["HOME"] = str(home)  # so that paths are shown as a person sees their own
    os.environ["PATH"] = f"{scratch / 'tools' / 'bin'}:{os.environ.get('PATH', '')}"  # the commands that agents run
    for name in ("claude-agent-acp", "codex-acp", "gemini"):
        program = scratch / "tools" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    from PySide6.QtWidgets import QApplication

    from tests.app.window import opened
    from tests.helpers.recording import Clock
    from tests.shots_stage import Stage, ask_for_contrast, first_run, save, tell_time

    app = QApplication(["vibekit-desktop"])
    clock = Clock()
    tell_time(clock)
    if contrast:
        ask_for_contrast()
    first = [theme for theme in THEMES if f"first-run-{theme}" in names]
    if first:
        with opened(app, data=scratch / "first", home=scratch / "anew", pictures=scratch, clock=clock) as window:
            window.hub.set_zoom(zoom)

            async def begin() -> None:
                await first_run(window, clock, scratch / "anew")
                for theme in first:
                    await save(window, names[f"first-run-{theme}"], theme)
                    print(names[f"first-run-{theme}"], flush=True)

            window.play(begin())
    if len(names) == len(first):
        return
    with opened(app, data=scratch / "data", home=home, pictures=scratch, clock=clock) as window:
        stage = Stage(window, clock, home, scratch, zoom)
        views: dict[str, Callable[[], Awaitable[None]]] = {
            "main": stage.main,
            "narrow": stage.narrow,
            "review": stage.review,
            "restore": stage.restore,
            "states": stage.states,
            "permission": stage.permission,
        }

        async def play() -> None:
            await stage.begin()
            for view, show in views.items():
                wanted = [theme for theme in THEMES if f"{view}-{theme}" in names]
                if not wanted:
                    continue
                await show()
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
    parser.add_argument("--contrast", action="store_true", help="as on a system that asks for high contrast")
    parser.add_argument("--zoom", type=int, default=100, help="text zoom in percent, 80 to 200")
    parser.add_argument("--ratio", type=float, default=1.0, help="pixels of the screen for each of the window's")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    target = ROOT / "docs" / "pictures" if options.readme else options.out.resolve()
    target.mkdir(parents=True, exist_ok=True)
    wanted = README if options.readme else {name: name for name in options.names or NAMES}
    os.environ.setdefault("QT_API", "pyside6")
    if options.ratio != 1.0:
        os.environ["QT_SCALE_FACTOR"] = str(options.ratio)
    with tempfile.TemporaryDirectory() as scratch:
        screens = Path(scratch) / "screens.json"
        screens.write_text(json.dumps({"screens": [SCREEN]}))
        os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={screens}"
        shoot(
            {name: target / f"{file}.png" for file, name in wanted.items()},
            Path(scratch),
            options.zoom / 100,
            contrast=options.contrast,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
