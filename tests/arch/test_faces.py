"""The window and the command line reach the disk, processes and threads through the core only."""

import ast
from pathlib import Path

import pytest

from tests.arch import rules
from tests.arch.source import ROOT, python_files, shown

FACES = list(python_files("vibekit_desktop/ui", "vibekit_desktop/cli"))
WINDOW = [path for path in FACES if "ui" in path.relative_to(ROOT).parts]


def findings(path: Path, *wanted: rules.Rule) -> list[str]:
    tree = ast.parse(path.read_bytes())
    return [f"{shown(path, node)} {what}" for rule in wanted for node, what in rule(tree)]


@pytest.mark.parametrize("path", FACES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_face_never_touches_the_disk(path: Path) -> None:
    found = findings(path, rules.disk_use, rules.qt_disk_use)
    if path == ROOT / "vibekit_desktop/ui/assets.py":  # the only reader of resources/
        found = [
            line
            for line in found
            if not line.endswith(("read_bytes()", "read_text()", "is_dir()", "is_file()", "iterdir()", "resolve()"))
        ]
    if path == ROOT / "vibekit_desktop/cli/streams.py":  # asks what standard input is, by its descriptor
        found = [line for line in found if not line.endswith("os.fstat")]
    assert not found


@pytest.mark.parametrize("path", WINDOW, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_task_of_the_window_has_an_owner(path: Path) -> None:
    if path != ROOT / "vibekit_desktop/ui/bridge.py":
        assert not findings(path, rules.bare_tasks)


@pytest.mark.parametrize("path", WINDOW, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_window_opens_no_nested_event_loop(path: Path) -> None:
    assert not findings(path, rules.nested_loops)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (rules.disk_use, "open('a')"),
        (rules.disk_use, "Path('a').read_text()"),
        (rules.disk_use, "path.exists()"),
        (rules.disk_use, "path.resolve(strict=True)"),
        (rules.disk_use, "Path('a').open()"),
        (rules.disk_use, "os.stat(path)"),
        (rules.disk_use, "os.path.getsize(path)"),
        (rules.disk_use, "from os import scandir"),
        (rules.disk_writes, "open('a', 'w')"),
        (rules.disk_writes, "open('a', mode=how)"),
        (rules.disk_writes, "path.unlink()"),
        (rules.disk_writes, "os.remove('a')"),
        (rules.qt_disk_use, "from PySide6.QtCore import QSettings"),
        (rules.qt_disk_use, "QtCore.QProcess()"),
        (rules.bare_tasks, "asyncio.create_task(work())"),
        (rules.bare_tasks, "loop.create_task(work())"),
        (rules.nested_loops, "menu.exec(point)"),
    ],
)
def test_a_rule_finds_what_it_is_for(rule: rules.Rule, text: str) -> None:
    assert list(rule(ast.parse(text)))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (rules.disk_use, "await core.chats.resolve(text)"),
        (rules.disk_use, "dialog.open()"),
        (rules.disk_use, "text.replace('a', 'b')"),
        (rules.disk_use, "self._fs.stat(path)"),
        (rules.disk_use, "os.fsencode(path), os.path.join(a, b), os.environ"),
        (rules.disk_writes, "open('a'), open('a', 'rb'), path.read_bytes()"),
        (rules.nested_loops, "exec_count.bump()"),
    ],
)
def test_a_rule_leaves_alone_what_is_harmless(rule: rules.Rule, text: str) -> None:
    assert not list(rule(ast.parse(text)))
