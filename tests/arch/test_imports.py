"""Arrows point down, and the core and the command line work where Qt is not installed."""

import subprocess
import sys

import pytest

from tests.arch.source import ROOT, module_names

_BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6", "qasync"):
            raise ImportError("Qt was imported: " + name)

sys.meta_path.insert(0, Blocker())
sys.path.insert(0, sys.argv[1])
import importlib
for name in sys.argv[2:]:
    importlib.import_module(name)
"""


def _run(*modules: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _BLOCKER, str(ROOT), *modules]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_import_contract_is_kept() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_no_module_of_the_core_or_the_command_line_imports_qt() -> None:
    run = _run(*module_names("core", "cli"))
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("module", ["PySide6.QtCore", "shiboken6", "qasync"])
def test_the_blocker_blocks_qt(module: str) -> None:
    run = _run(module)
    assert run.returncode != 0
    assert "Qt was imported" in run.stderr
