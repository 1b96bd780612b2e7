"""Inside the core only `core.disk` touches the disk; the sources read it, the worker starts its process."""

import ast
from pathlib import Path

import pytest

from tests.arch import rules
from tests.arch.source import ROOT, python_files, shown

CORE = list(python_files("vibekit_desktop/core"))
FREE = (ROOT / "vibekit_desktop/core/disk", ROOT / "vibekit_desktop/core/worker")
READING = (ROOT / "vibekit_desktop/core/sources",)


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_disk_does_disk(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    if any(folder in path.parents for folder in FREE):
        return
    rule = rules.disk_writes if any(folder in path.parents for folder in READING) else rules.disk_use
    assert not [f"{shown(path, node)} {what}" for node, what in rule(tree)]


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_never_sleeps(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not [shown(path, node) for node in calls if ast.unparse(node.func) == "time.sleep"]
