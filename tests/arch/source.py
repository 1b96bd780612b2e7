"""The project's own files, for the tests of its shape."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "vibekit_desktop"


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that git tracks or would track; without git, every file outside the folders that tools make."""
    try:
        run = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
        )
        names = [ROOT / name.decode() for name in run.stdout.split(b"\0") if name]
    except (OSError, subprocess.CalledProcessError):
        made = {".git", ".venv", "build", "dist", "out", "__pycache__"}
        names = [path for path in ROOT.rglob("*") if not any(part in made or part.endswith("_cache") for part in path.parts)]
    return tuple(path for path in sorted(names) if path.is_file())


def python_files(*folders: str) -> Iterator[Path]:
    """Every tracked Python file at or below one of the folders (or files) given relative to the root."""
    wanted = tuple(ROOT / folder for folder in folders)
    for path in tracked():
        if path.suffix == ".py" and any(path == folder or folder in path.parents for folder in wanted):
            yield path


def shown(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def module_names(*packages: str) -> list[str]:
    """Dotted names of every module below these folders of the package."""
    names = []
    for path in python_files(*(f"vibekit_desktop/{package}" for package in packages)):
        parts = list(path.relative_to(ROOT).with_suffix("").parts)
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names
