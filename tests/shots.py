"""Pictures of the window: ``python3 dev.py shots [NAME...] [--out DIR]``.

Each is made by the program itself, off screen, with a home folder made for it in which one agent's history of a small project
lies. Run it before and after a change to the window and look at both.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.arch.source import ROOT
from tests.helpers.claude_sessions import write_demo_session

VIEWS = {
    "transcript": ("--open", "@1", "--view", "transcript"),
    "review": ("--open", "@1", "--view", "review"),
    "restore": ("--open", "@1", "--view", "restore:start"),
    "first-run": ("--view", "first-run"),
}
THEMES = ("light", "dark")
NAMES = [f"{view}-{theme}" for view in VIEWS for theme in THEMES]


def take(name: str, target: Path, scratch: Path) -> bool:
    """Make one picture; whether it worked."""
    view, _, theme = name.rpartition("-")
    data = scratch / name
    home = data / "home"
    workspace = home / "tidewatch"
    workspace.mkdir(parents=True)
    if view != "first-run":
        write_demo_session(home, workspace)
    picture = target / f"{name}.png"
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(data / "data"), "--home", str(home), "--theme", theme]
    run = subprocess.run([*command, *VIEWS[view], "--offscreen-shot", str(picture)], cwd=ROOT, check=False)
    print(f"{picture}" if run.returncode == 0 else f"{name}: exit status {run.returncode}")
    return run.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py shots")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "shots")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    target = options.out.resolve()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        worked = [take(name, target, Path(scratch)) for name in options.names or NAMES]
    return 0 if all(worked) else 1


if __name__ == "__main__":
    sys.exit(main())
