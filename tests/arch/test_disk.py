"""Inside the core only `core.disk` touches the disk; the sources read it, the worker and the agents have their processes."""

import ast
from pathlib import Path

import pytest

from tests.arch import rules
from tests.arch.source import ROOT, python_files, shown

CORE = list(python_files("vibekit_desktop/core"))
FREE = (ROOT / "vibekit_desktop/core/disk", ROOT / "vibekit_desktop/core/worker")
READING = (ROOT / "vibekit_desktop/core/sources",)

PROCESSES = {ROOT / "vibekit_desktop/core/agent" / name for name in ("family.py", "pty_command.py")}
"""They start and end processes, and hear them: descriptors and signals, and no file's name."""
OF_PROCESSES = {"openpty", "set_blocking", "ttyname", "read", "close", "killpg", "kill", "pidfd_open", "getpgid"}


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_disk_does_disk(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    if any(folder in path.parents for folder in FREE):
        return
    rule = rules.disk_writes if any(folder in path.parents for folder in READING) else rules.disk_use
    free = {f"os.{name}" for name in OF_PROCESSES} if path in PROCESSES else set()
    assert not [f"{shown(path, node)} {what}" for node, what in rule(tree) if what not in free]


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_never_sleeps(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not [shown(path, node) for node in calls if ast.unparse(node.func) == "time.sleep"]
