"""The program as it is started: a process of its own, on a real screen, ended as people and systems end programs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.arch.source import ROOT
from tests.helpers import scripted_agent
from tests.helpers.processes import children, words
from tests.helpers.program import tree
from tests.helpers.x11 import Screen, screen, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a screen")

LIMIT_S = 30.0
"""How long anything may take to appear."""
END_S = 5.0
"""How long the program may take to end."""


class Running:
    """The program, running."""

    def __init__(self, on: Screen, data: Path, home: Path, *options: str) -> None:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("QT_", "WAYLAND", "DBUS", "XDG_"))}
        env |= {"DISPLAY": on.name, "HOME": str(home)}
        self._screen = on
        self.log = data / "printed"
        data.mkdir(exist_ok=True)
        with self.log.open("wb") as printed:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(data), "--home", str(home), *options],
                env=env,
                cwd=ROOT,
                stdout=printed,
                stderr=printed,
            )

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition; a program that ends meanwhile is a failure at once."""
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end, f"it did not come true; windows: {self._screen.titles()}"
            try:
                self.process.wait(0.03)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError(f"the program ended: {self.process.returncode}, {self.printed}")

    def window(self, title: str) -> int:
        """The program's window, once its title ends like this."""
        found: list[int] = []

        def look() -> bool:
            found[:] = [window for window, name in self._screen.titles().items() if name.endswith(title)]
            return bool(found)

        self.until(look)
        return found[0]

    def workers(self) -> list[int]:
        """Its worker processes."""
        return [pid for pid in children(self.process.pid) if "--worker" in words(pid)]

    def ended(self) -> int:
        """Wait for the end; the exit status, and nothing is left of it."""
        left = children(self.process.pid)
        status = self.process.wait(END_S)
        gone_by = time.monotonic() + END_S
        while any(words(pid) for pid in left):
            assert time.monotonic() < gone_by, "a process of the program is left"
        return status

    @property
    def printed(self) -> str:
        """What it wrote on standard output and standard error."""
        return self.log.read_text("utf-8")


Start = Callable[..., Running]


@pytest.fixture
def on() -> Iterator[Screen]:
    with screen() as made:
        yield made


@pytest.fixture
def start(on: Screen, tmp_path: Path, home: Path) -> Iterator[Start]:
    """Start the program with options of the test's own; whatever is still running in the end is ended."""
    running: list[Running] = []

    def begin(*options: str) -> Running:
        running.append(Running(on, tmp_path / "data", home, *options))
        return running[-1]

    yield begin
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def test_without_a_history_it_shows_its_window_and_ends_when_told_to(start: Start) -> None:
    running = start()
    running.window("VibeKit Desktop")
    running.process.send_signal(signal.SIGTERM)
    assert running.ended() == 0
    assert running.printed == ""


def test_a_chat_that_is_not_there_is_said_where_it_was_asked_for(start: Start, workspace: Path) -> None:
    running = start("--open", "no-such-chat")
    assert running.ended() == 3
    assert running.printed.startswith("error: chat.not-found: ")
    assert "Traceback" not in running.printed


def test_closing_the_window_ends_it(start: Start, on: Screen, workspace: Path) -> None:
    running = start("--open", "@1")
    window = running.window("tidewatch - VibeKit Desktop")
    on.ask_to_close(window)
    assert running.ended() == 0
    assert running.printed == ""


def test_it_ends_at_once_in_the_middle_of_starting(start: Start, workspace: Path) -> None:
    running = start("--open", "@1")
    running.window("VibeKit Desktop")
    running.process.send_signal(signal.SIGINT)
    assert running.ended() == 0
    assert running.printed == ""


def test_a_worker_that_is_killed_is_started_again_and_the_window_goes_on(start: Start, on: Screen, workspace: Path) -> None:
    before = tree(workspace)
    running = start("--open", "@1", "--view", "review")
    window = running.window("tidewatch - VibeKit Desktop")
    running.until(running.workers)
    (first,) = running.workers()
    os.kill(first, signal.SIGKILL)
    running.until(lambda: not words(first))

    def another() -> bool:
        on.press(window, "Down")  # the next file wants its colours
        on.press(window, "Up")
        return any(pid != first for pid in running.workers())

    running.until(another)
    running.process.send_signal(signal.SIGTERM)
    assert running.ended() == 0
    assert running.printed == ""
    assert tree(workspace) == before


def test_a_program_that_is_killed_leaves_no_worker_behind(start: Start, workspace: Path) -> None:
    running = start("--open", "@1", "--view", "review")
    running.until(running.workers)
    running.process.kill()
    assert running.ended() == -signal.SIGKILL


WHITE = 0xFFFFFF
"""The ground of a dialog in the light theme."""


@pytest.fixture
def at_work(start: Start, on: Screen, tmp_path: Path, home: Path) -> tuple[Running, int]:
    """The program and its window, in which the turn of an agent runs that does not end by itself."""
    work, begun = tmp_path / "work", tmp_path / "begun"
    work.mkdir()
    paced = [step for number in range(2000) for step in ({"say": f"w{number} "}, {"sleep": 0.05})]
    first: list[dict[str, object]] = [{"say": "Hello."}]
    turns = [first, [{"say": "I begin."}, {"touch": str(begun)}, *paced]]
    agent = scripted_agent.command({"turns": turns, "counter": str(tmp_path / "counter")}, tmp_path)
    program = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(tmp_path / "data"), "--home", str(home)]
    prompt = ["prompt", "hello", "--workspace", str(work), "--agent-command", " ".join(agent), "--allow", "all"]
    subprocess.run([*program, *prompt], check=True, capture_output=True, timeout=60, cwd=ROOT)
    running = start("--open", "@1", "--theme", "light")
    window = running.window("work - VibeKit Desktop")

    def said() -> bool:
        on.press(window, "l", control=True)
        on.press(window, "g")
        on.press(window, "Return")
        return begun.exists()

    running.until(said)
    return running, window


def _quietly(running: Running, data: Path) -> None:
    """Nothing was printed, and nothing in the log is an error of the program."""
    assert running.printed == ""
    log = data / "logs" / "vibekit-desktop.log"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    assert [line for line in lines if " ERROR " in line] == []


@pytest.mark.parametrize("by", ["the cross", "Ctrl+Q", "a signal"])
def test_leaving_while_an_agent_works_is_quiet(at_work: tuple[Running, int], on: Screen, tmp_path: Path, by: str) -> None:
    running, window = at_work
    if by == "a signal":
        running.process.send_signal(signal.SIGTERM)
    else:
        corner = on.pixel(window, 5, 890)
        if by == "Ctrl+Q":
            on.press(window, "q", control=True)
        else:
            on.ask_to_close(window)
        running.until(lambda: on.pixel(window, 5, 890) != corner)  # what is under the question is dim
        running.until(lambda: on.pixel(window, 530, 450) == WHITE)
        on.press(window, "Tab")
        on.press(window, "Return")
    assert running.ended() == 0
    _quietly(running, tmp_path / "data")
