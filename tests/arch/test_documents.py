"""What the documents say exists does exist, and the changelog can be read by programs."""

import ast
import re
from pathlib import Path

import pytest

from tests.arch.source import ROOT, tracked

DOCUMENTS = [path for path in tracked() if path.suffix == ".md" and (path.parent == ROOT or ROOT / "docs" in path.parents)]
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_document_names_exists(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    named = {match.group(1).partition("#")[0] for match in re.finditer(r"\]\(([^)\s]+)\)", text)}
    missing = [name for name in named if name and "://" not in name and not (path.parent / name).exists()]
    # In code marks: paths from the root, given with their folder.
    for name in re.findall(r"`((?:vibekit_desktop|docs|tests|packaging|resources|stubs)/[\w./-]*)`", text):
        if not (ROOT / name).exists():
            missing.append(name)
    assert not missing


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_python_in_a_document_compiles(path: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), flags=re.DOTALL):
        assert ast.parse(block).body, "a block of Python that says nothing"


def test_the_changelog_can_be_parsed() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n")
    assert lines[0] == "# Changelog"
    releases = [line for line in lines if line.startswith("## ")]
    assert releases[0] == "## [Unreleased]"
    assert all(re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", line) for line in releases[1:])
    section = ""
    for line in lines[1:]:
        if line.startswith("### "):
            section = line[4:]
            assert section in KINDS
        elif line.startswith("## "):
            section = ""
        elif section and line:
            assert line.startswith(("- ", "  ")), line


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "python3 dev.py run" in readme
    assert "python3 dev.py test" in readme


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs/adr").glob("[0-9]*.md"))
    assert numbers == list(range(1, len(numbers) + 1))
