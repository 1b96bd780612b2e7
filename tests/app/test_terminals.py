"""The command line on other terminals than ours: another encoding, a full disk behind a pipe, no standard output at all."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.claude_sessions import write_demo_session


@pytest.fixture
def places(tmp_path: Path, home: Path) -> tuple[Path, Path]:
    """(data folder, home folder with one session)."""
    workspace = tmp_path / "tidewatch"
    workspace.mkdir()
    write_demo_session(home, workspace)
    return tmp_path / "data", home


def run(places: tuple[Path, Path], *words: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The program as a process of its own; ``shell`` is what stands behind the call."""
    data, home = places
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(data), "--home", str(home), *words]
    started = ["sh", "-c", f'"$@" {shell}', "sh", *command] if shell else command
    return subprocess.run(started, env={**os.environ, **environment}, capture_output=True, check=False)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_text_that_the_terminal_cannot_show_is_no_fault(places: tuple[Path, Path], encoding: str) -> None:
    run(places, "timeline", "@1")
    for verb in (("list",), ("timeline", "@1"), ("show", "@1"), ("preview", "@1", "start")):
        answer = run(places, *verb, PYTHONIOENCODING=encoding)
        assert (answer.returncode, answer.stderr) == (0, b""), verb
        answer.stdout.decode(encoding)


@pytest.mark.parametrize("words", [("show", "no-such-chat-æ"), ("no-verb-æ",)])
def test_an_object_is_utf_8_on_every_terminal(places: tuple[Path, Path], words: tuple[str, ...]) -> None:
    answer = run(places, "--json", *words, PYTHONIOENCODING="ascii")
    assert answer.returncode in (2, 3)
    assert "æ" in json.loads(answer.stdout.decode("utf-8"))["error"]["message"]
    assert answer.stderr.startswith(b"error: ")
    assert b"Traceback" not in answer.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "words", [("list",), ("--json", "list"), ("diff", "@1", "--patch"), ("cat", "@1", "before:4", "NOTES.md")]
)
def test_output_that_finds_no_room_is_said_in_one_line(places: tuple[Path, Path], words: tuple[str, ...]) -> None:
    answer = run(places, *words, shell=">/dev/full")
    assert answer.returncode == 3
    (line,) = answer.stderr.decode().splitlines()
    assert line.startswith("error: output: ")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("words", [("list",), ("--json", "list"), ("diff", "@1", "--patch"), ("show", "no-such-chat")])
def test_without_standard_output_a_verb_still_works(places: tuple[Path, Path], words: tuple[str, ...]) -> None:
    answer = run(places, *words, shell=">&-")
    assert answer.returncode == (3 if "show" in words else 0)
    assert answer.stderr.count(b"\n") == (1 if "show" in words else 0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
@pytest.mark.parametrize("columns", [30, 40, 60, 80, 100, 140])
def test_a_narrow_terminal_breaks_no_id(places: tuple[Path, Path], columns: int) -> None:
    chat = json.loads(run(places, "--json", "list").stdout)["chats"][0]["id"]
    master, slave = os.openpty()
    data, home = places
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(data), "--home", str(home), "list"]
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "xterm"}
    ended = subprocess.run(command, env=environment, stdin=slave, stdout=slave, stderr=subprocess.PIPE, check=False)
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert (ended.returncode, ended.stderr) == (0, b"")
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown.splitlines()]
    assert all(len(line) <= columns for line in lines), shown
    assert sum(line.rstrip().endswith(chat[:8]) for line in lines) == 1, shown
