"""Files stay small and finished, and name no machine."""

import re
from pathlib import Path

import pytest

from tests.arch import rules
from tests.arch.source import ROOT, python_files, tracked

LARGEST = 600
CODE = list(python_files("vibekit_desktop", "tests", "dev.py"))
# Put together here, so that this file does not find itself.
MACHINE = re.compile("|".join(("/work" + "/(main|shared)", "/tmp" + "/brief", "/root" + "/[a-z.]")))


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_stays_within_the_largest_size(path: Path) -> None:
    assert len(path.read_bytes().split(b"\n")) <= LARGEST


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_finished(path: Path) -> None:
    assert not list(rules.unfinished(path.read_text("utf-8")))


@pytest.mark.parametrize("path", list(python_files("vibekit_desktop")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_why_it_exists(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not text or text.startswith('"""')


def test_no_file_names_a_machine() -> None:
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in MACHINE.finditer(text)]
    assert not found


def test_every_text_file_ends_with_a_newline_and_uses_lf() -> None:
    for path in tracked():
        if path.suffix in (".py", ".pyi", ".toml", ".qss", ".svg") or path.parent == ROOT / "docs":
            data = path.read_bytes()
            assert b"\r" not in data, path
            assert not data or data.endswith(b"\n"), path
