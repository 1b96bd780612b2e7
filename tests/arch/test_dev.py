"""dev.py, as far as it can be tried without changing the machine."""

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.arch.source import ROOT


@pytest.fixture
def dev() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev_under_test", ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_still_parses_where_it_has_to_say_that_python_is_too_old() -> None:
    source = (ROOT / "dev.py").read_text("utf-8")
    assert ast.parse(source, feature_version=(3, 7)).body


def test_it_uses_the_standard_library_only() -> None:
    tree = ast.parse((ROOT / "dev.py").read_bytes())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays are asked about on Linux only")
@pytest.mark.parametrize(
    ("args", "needed"),
    [
        ([], True),
        (["--data-dir", "somewhere", "--theme", "dark"], True),
        (["--open", "@1", "-v"], True),
        (["list"], False),
        (["--data-dir", "somewhere", "timeline", "@1"], False),
        (["--offscreen-shot", "window.png"], False),
        (["--offscreen-shot=window.png"], False),
        (["--version"], False),
        (["--help"], False),
    ],
)
def test_only_a_window_needs_a_display(dev: ModuleType, monkeypatch: pytest.MonkeyPatch, args: list[str], needed: bool) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM")
    assert dev.needs_display(args) is needed


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries are looked for on Linux only")
def test_missing_libraries_end_in_the_one_command_to_run(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = (("libsurely-not-here.so.7", "libsurely7"), ("libnot-here-either.so.1", "libsurely7"), ("libc.so.6", "libc6"))
    assert [name for name, _ in dev.missing_libraries(wanted)] == ["libsurely-not-here.so.7", "libnot-here-either.so.1"]
    monkeypatch.setattr(dev.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    with pytest.raises(dev.Stop, match=r"Run: sudo apt-get install libsurely7$"):
        dev.need_libraries(wanted, install=False)
    monkeypatch.setattr(dev.shutil, "which", lambda name: "/usr/bin/dnf" if name == "dnf" else None)
    with pytest.raises(dev.Stop, match="sudo dnf install"):
        dev.need_libraries(wanted, install=True)


def test_a_python_without_venv_ends_in_the_one_command_to_run(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(dev, "PYTHON", tmp_path / "none")
    monkeypatch.setattr(dev, "can_make_venv", lambda: False)
    monkeypatch.setattr(dev.shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(dev.Stop, match=r"Run: sudo apt-get install python3\.\d+-venv$"):
        dev.make_venv(install=False)


def test_nothing_is_installed_if_nothing_changed(dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[list[str]] = []
    python = tmp_path / "python"
    python.touch()
    monkeypatch.setattr(dev, "VENV", tmp_path)
    monkeypatch.setattr(dev, "PYTHON", python)
    monkeypatch.setattr(dev, "make_venv", lambda *, install: None)
    monkeypatch.setattr(dev, "call", lambda command: calls.append(command) or 0)
    dev.set_up()
    dev.set_up()
    assert len(calls) == 1
    dev.set_up(extra="dev")
    assert calls[1][-1].endswith("[dev]")


def test_a_failed_installation_is_tried_again(dev: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.touch()
    monkeypatch.setattr(dev, "VENV", tmp_path)
    monkeypatch.setattr(dev, "PYTHON", python)
    monkeypatch.setattr(dev, "make_venv", lambda *, install: None)
    monkeypatch.setattr(dev, "call", lambda command: 1)
    for _ in range(2):
        with pytest.raises(dev.Stop):
            dev.set_up()


def test_the_checks_see_no_variables_of_ours(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIBEKIT_DATA_DIR", "/somewhere")
    monkeypatch.setenv("VIBEKIT_AGENTS", "/where/real/agents/are")
    env = dev.test_environment()
    assert env["QT_QPA_PLATFORM"] == "offscreen"
    assert {name for name in env if name.startswith("VIBEKIT_")} == {"VIBEKIT_AGENTS"}
