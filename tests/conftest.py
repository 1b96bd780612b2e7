"""What every test has: no screen, no real home folder, a clock that stands still, and no unexpected warnings in the log."""

import gc
import logging
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), max_examples=30, derandomize=True)
settings.register_profile("long", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-cases", action="store_true", help="write what is computed into tests/core/diff/cases/*.md")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "expects_log(pattern): this test causes log records of level WARNING or above like this")
    _hear_signals()


def _hear_signals() -> None:
    """Who runs the tests in the background may have them ignore signals, and the programs that they start with them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is signal.SIG_IGN:
        signal.signal(hangup, signal.SIG_DFL)


def pytest_sessionstart() -> None:
    """No test collects garbage in a thread: Qt objects that an earlier test left would die there, and Qt with them."""
    gc.disable()


def pytest_runtest_teardown() -> None:
    if gc.get_count()[0] > 100_000:
        gc.collect()


@dataclass
class Clock:
    """Milliseconds that pass only when told to."""

    now_ms: int = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now_ms

    def advance(self, ms: int) -> None:
        self.now_ms += ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder; every variable by which a program finds the user's files points into it."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name, below in {
        "HOME": "",
        "USERPROFILE": "",
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
        "XDG_CACHE_HOME": ".cache",
        "APPDATA": "AppData/Roaming",
        "LOCALAPPDATA": "AppData/Local",
    }.items():
        monkeypatch.setenv(name, str(folder / below))
    for name in [name for name in os.environ if name.startswith("VIBEKIT_")]:
        monkeypatch.delenv(name)
    return folder


@dataclass
class ExpectedLogs(logging.Handler):
    """Collects our warnings and errors; those that no pattern expects fail the test."""

    patterns: list[str] = field(default_factory=list)
    records: list[logging.LogRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(logging.WARNING)

    __hash__ = object.__hash__

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def expect(self, pattern: str) -> None:
        self.patterns.append(pattern)

    @property
    def unexpected(self) -> list[str]:
        return [_told(record) for record in self.records if not any(re.search(one, _line(record)) for one in self.patterns)]


def _line(record: logging.LogRecord) -> str:
    return f"{record.levelname} {record.name}: {record.getMessage()}"


def _told(record: logging.LogRecord) -> str:
    """The record with the traceback of what it tells of."""
    line = _line(record)
    return f"{line}\n{logging.Formatter().formatException(record.exc_info)}" if record.exc_info else line


@pytest.fixture(autouse=True)
def expected_logs(request: pytest.FixtureRequest) -> Iterator[ExpectedLogs]:
    """Fail on warnings of ours in the log, unless ``expect`` or the marker ``expects_log`` announced them."""
    handler = ExpectedLogs([str(mark.args[0]) for mark in request.node.iter_markers("expects_log")])
    logger = logging.getLogger("vibekit_desktop")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)
    if handler.unexpected:
        pytest.fail("unexpected log records:\n" + "\n".join(handler.unexpected), pytrace=False)
