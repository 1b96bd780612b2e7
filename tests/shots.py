"""Pictures of the window: ``python3 dev.py shots [NAME...] [--out DIR]``.

Each is made by the program itself, off screen, with a home folder made for it in which an agent's histories lie
(`tests.helpers.demo_home`). Run it before and after a change to the window and look at both. ``--readme`` makes those of the
README anew.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.arch.source import ROOT
from tests.helpers.demo_home import MAIN_CHAT, write_demo_home

VIEWS = {
    "transcript": ("--open", MAIN_CHAT, "--view", "transcript"),
    "review": ("--open", MAIN_CHAT, "--view", "review"),
    "restore": ("--open", MAIN_CHAT, "--view", "restore:before:3"),
    "first-run": ("--view", "first-run"),
}
THEMES = ("light", "dark")
NAMES = [f"{view}-{theme}" for view in VIEWS for theme in THEMES]


README = {"main": "transcript-light", "review": "review-light", "restore": "restore-dark"}


def take(name: str, picture: Path, scratch: Path) -> bool:
    """Make one picture; whether it worked."""
    view, _, theme = name.rpartition("-")
    data = scratch / name
    home = data / "ann"
    home.mkdir(parents=True)
    write_demo_home(home)
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(data / "data"), "--home", str(home), "--theme", theme]
    env = dict(os.environ, HOME=str(home))  # so that paths are shown as a person sees their own
    run = subprocess.run([*command, *VIEWS[view], "--offscreen-shot", str(picture)], cwd=ROOT, env=env, check=False)
    print(f"{picture}" if run.returncode == 0 else f"{name}: exit status {run.returncode}")
    return run.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py shots")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--readme", action="store_true", help="make the pictures of the README")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "shots")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    target = ROOT / "docs" / "pictures" if options.readme else options.out.resolve()
    target.mkdir(parents=True, exist_ok=True)
    wanted = README if options.readme else {name: name for name in options.names or NAMES}
    with tempfile.TemporaryDirectory() as scratch:
        worked = [take(name, target / f"{file}.png", Path(scratch)) for file, name in wanted.items()]
    return 0 if all(worked) else 1


if __name__ == "__main__":
    sys.exit(main())
