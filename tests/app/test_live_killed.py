"""Our program is ended in the middle of an agent's answer. Killed: at most its last second is lost, everything else is known.
Told to end: it ends the turn and the agent first.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import scripted_agent
from tests.helpers.processes import words
from tests.helpers.program import with_core
from tests.helpers.scripted_steps import wait_for

PER_SECOND = 40


def call(data: Path, home: Path, *verb: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(data), "--home", str(home), *verb]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def start(data: Path, home: Path, work: Path, agent: "list[str]") -> "subprocess.Popen[str]":
    words_of = ["prompt", "go", "--workspace", str(work), "--agent-command", " ".join(agent), "--allow", "all"]
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(data), "--home", str(home), *words_of]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_until(running: "subprocess.Popen[str]", words_: str) -> None:
    assert running.stdout is not None
    told = ""
    while words_ not in told:
        piece = os.read(running.stdout.fileno(), 4096).decode()
        assert piece, told
        told += piece


def test_a_kill_loses_no_more_than_the_last_second_of_an_answer(tmp_path: Path, home: Path) -> None:
    data, work, pid = tmp_path / "data", tmp_path / "work", tmp_path / "pid"
    work.mkdir()
    (work / "a.txt").write_text("mine\n")
    numbered = [{"say": f"w{number} "} for number in range(4000)]
    paced = [step for word in numbered for step in (word, {"sleep": 1 / PER_SECOND})]
    edit = {"write": "a.txt", "text": "agent\n", "ask": True, "via": "disk"}
    agent = scripted_agent.command({"turns": [[{"report": "pid", "to": str(pid)}, edit, *paced]]}, tmp_path)
    running = start(data, home, work, agent)
    read_until(running, f"w{4 * PER_SECOND} ")
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)

    chat = json.loads(call(data, home, "list", "--json").stdout)["chats"][0]["id"]
    with_core(data, home, lambda core: core.checkpoints.recover(chat))  # as the window does at its start
    messages = json.loads(call(data, home, "show", chat, "--json").stdout)["chat"]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "event"]
    assert messages[2]["event_kind"] == "interrupted"
    kept = [int(number) for number in re.findall(r"w(\d+)", messages[1]["content"])]
    assert kept == list(range(len(kept)))
    # A second, and as much again for a machine that is busy with something else.
    assert len(kept) >= 2 * PER_SECOND
    # The turn is over, its edit is the agent's, and it can be taken back.
    entries = json.loads(call(data, home, "timeline", chat, "--json").stdout)["entries"]
    (row,) = next(entry for entry in entries if entry["kind"] == "turn")["files"]
    assert (row["path"], row["author"]) == ("a.txt", "agent")
    assert call(data, home, "restore", chat, "before:1", "--yes").returncode == 0
    assert (work / "a.txt").read_text() == "mine\n"
    wait_for(Path(f"/proc/{json.loads(pid.read_text())}/cwd"), gone=True)
    assert not words(json.loads(pid.read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_ends_the_turn_and_its_agent(tmp_path: Path, home: Path, number: signal.Signals) -> None:
    data, work, pid = tmp_path / "data", tmp_path / "work", tmp_path / "pid"
    work.mkdir()
    steps = [{"report": "pid", "to": str(pid)}, {"say": "begun "}, {"hang": True}]
    agent = scripted_agent.command({"eof": "stay", "cancel": "ignore", "turns": [steps]}, tmp_path)
    running = start(data, home, work, agent)
    read_until(running, "begun")
    running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (3, "error: interrupted: stopped; nothing was lost\n")
    chat = json.loads(call(data, home, "list", "--json").stdout)["chats"][0]["id"]
    messages = json.loads(call(data, home, "show", chat, "--json").stdout)["chat"]["messages"]
    assert [message["role"] for message in messages[:2]] == ["user", "assistant"]
    assert messages[1]["content"].strip() == "begun"
    (lock,) = (data / "vaults").glob("*/desktop/turns/*.lock")
    assert lock.read_text() == ""  # no turn is open
    wait_for(Path(f"/proc/{json.loads(pid.read_text())}/cwd"), gone=True)
    assert not words(json.loads(pid.read_text()))
