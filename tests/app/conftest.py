"""A window for a story, and stories as coroutines that run in the window's loop."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.app.window import Window, opened
from tests.helpers.claude_sessions import write_demo_session


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path, home: Path) -> Iterator[Window]:
    """The program, not started yet; it ends with the test and must leave nothing behind."""
    with opened(qapp, data=tmp_path / "data", home=home, pictures=tmp_path / "pictures") as made:
        yield made


@pytest.fixture
def workspace(tmp_path: Path, home: Path) -> Path:
    """The demo session's folder, as the session left it; the session lies in the home folder."""
    folder = tmp_path / "tidewatch"
    folder.mkdir()
    write_demo_session(home, folder)
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine is a story: it runs where the program's own tasks run. The program ends with it:
    qasync and pytest-qt ask Qt's timers once more after it, and no task may begin while the loop stands."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    window = pyfuncitem.funcargs["window"]
    assert isinstance(window, Window)
    wanted = inspect.signature(pyfuncitem.obj).parameters

    async def to_its_end() -> None:
        try:
            await pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted})
        finally:
            await window.end()

    window.play(to_its_end())
    return True
