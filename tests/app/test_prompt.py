"""The verb ``prompt`` as people meet it: what it says when something goes wrong, and how it ends when it is not let finish."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.helpers import scripted_agent
from tests.helpers.program import Answer, call
from tests.helpers.scripted_steps import wait_for
from vibekit_desktop.cli.printing import short_ids


class Places:
    """Folders of one test, and calls in them."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self.data, self.work = folder / "data", folder / "work"
        self.work.mkdir()

    def agent(self, *turns: list[dict[str, object]], **more: object) -> str:
        return " ".join(scripted_agent.command({"turns": list(turns), **more}, self.folder))

    def words(self, agent: str, *more: str, text: str = "go") -> list[str]:
        return ["prompt", text, "--workspace", str(self.work), "--agent-command", agent, *more]

    def call(self, *words: str, given: bytes | None = None) -> Answer:
        return call(self.data, self.home, *words, given=given)

    def start(self, words: list[str]) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(self.data), "--home", str(self.home), *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def places(tmp_path: Path, home: Path) -> Places:
    return Places(tmp_path, home)


def _lines(answer: Answer) -> list[str]:
    return [line.strip() for line in answer.out.decode().splitlines()]


# -- what is said ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", ["true", "cat", "yes"])
def test_what_is_no_agent_is_called_that(places: Places, program: str) -> None:
    answer = places.call(*places.words(program))
    assert (answer.status, answer.err) == (3, f"error: agent.failed: {program} does not speak ACP; nothing was sent\n")


def test_an_agent_that_does_not_answer_in_the_time_given_is_told_as_that(places: Places) -> None:
    answer = places.call(*places.words("sleep 1000", "--timeout", "0.5"))
    words = "sleep gives no answer: it may not be an agent that speaks ACP; nothing was sent"
    assert (answer.status, answer.err) == (3, f"error: agent.failed: {words}\n")


def test_a_program_that_is_not_there_is_named_as_it_was_given(places: Places) -> None:
    answer = places.call(*places.words("/no/such/program --acp"))
    assert (answer.status, answer.err) == (
        3,
        "error: agent.missing: there is no program '/no/such/program' that can be run; nothing was sent\n",
    )


def test_a_path_of_a_program_is_one_from_the_present_folder(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    (places.folder / "here").mkdir()
    script = places.folder / "my agent"
    script.write_text(f"#!/bin/sh\nexec {places.agent([{'say': 'it is me'}])}\n")
    script.chmod(0o755)
    monkeypatch.chdir(places.folder / "here")
    answer = places.call(*places.words("'../my agent'"))
    assert (answer.status, answer.err) == (0, "")
    assert "it is me" in _lines(answer)


def test_what_was_allowed_and_not_written_is_told_as_that(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object) -> None:
        from vibekit_desktop.core.types.errors import DiskFull

        raise DiskFull("c.txt", "no room")

    monkeypatch.setattr("vibekit_desktop.core.disk.workspace.Workspace.stage_file", full)
    agent = places.agent([{"write": "c.txt", "text": "x"}], [{"write": "c.txt", "text": "x"}])
    answer = places.call(*places.words(agent, "--allow", "all"))
    assert "not written: create c.txt: the disk is full" in _lines(answer)
    assert "denied" not in answer.out.decode()
    (given,) = places.call(*places.words(agent, "--allow", "all", "--json")).json["permissions"]
    assert given == {"title": "create c.txt", "answer": "allowed", "not_done": "the disk is full", "agent_title": None}


def test_a_tool_of_the_agents_own_keeps_its_title(places: Places) -> None:
    ask: dict[str, object] = {"ask": "Summon the kraken", "kind": "other"}
    agent = places.agent([ask], [ask])
    (given,) = places.call(*places.words(agent, "--json")).json["permissions"]
    assert (given["title"], given["agent_title"]) == ("use a tool of its own", "Summon the kraken")
    assert "denied: use a tool of its own (Summon the kraken)" in _lines(places.call(*places.words(agent)))


def test_the_text_may_come_on_standard_input(places: Places) -> None:
    log = places.folder / "log"
    agent = places.agent([{"say": "ok"}], log=str(log))
    assert places.call(*places.words(agent, text="-"), given="ein Wörtchen\nmehr\n".encode()).status == 0
    prompts = [one for line in log.read_text().splitlines() if (one := json.loads(line)).get("method") == "session/prompt"]
    assert prompts[0]["params"]["prompt"][0]["text"] == "ein Wörtchen\nmehr\n"
    for nothing in (b"", b" \n"):
        answer = places.call(*places.words(agent, text="-"), given=nothing)
        assert (answer.status, answer.err) == (2, "error: agent.empty-prompt: there is nothing to send\n")
    assert places.call(*places.words(agent, text="-"), given=b"\xff").status == 2


def test_the_help_says_what_is_needed(places: Places) -> None:
    answer = places.call("prompt", "--help")
    text = " ".join(answer.out.decode().split())
    assert text.startswith("usage: vibekit-desktop prompt [CHAT] TEXT [--workspace DIR]")
    assert "reads (the default)" in text
    assert "Exit status: 0" in text
    assert "[[CHAT]" not in text


# -- when it is not let finish -------------------------------------------------------------------------------------


def test_a_reader_that_goes_ends_the_turn_without_a_word(places: Places) -> None:
    steps: list[dict[str, object]] = [{"report": "pid", "to": str(places.folder / "pid")}, {"say": "one\ntwo\n"}]
    chunks = [step for number in range(2000) for step in ({"say": f"{number}\n"}, {"sleep": 0.02})]
    running = places.start(places.words(places.agent([*steps, *chunks])))
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline() == "one\n"
    running.stdout.close()
    with running.stderr:
        assert running.stderr.read() == ""
    assert running.wait(60) == 3
    wait_for(Path(f"/proc/{json.loads((places.folder / 'pid').read_text())}/cwd"), gone=True)
    (chat,) = places.call("list", "--json").json["chats"]
    messages = places.call("show", chat["id"], "--json").json["chat"]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "event"]


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interrupt_tells_what_the_turn_changed(places: Places, as_json: bool) -> None:
    steps: list[dict[str, object]] = [{"write": "a.txt", "text": "x\n"}, {"touch": str(places.folder / "go")}, {"sleep": 60}]
    running = places.start(places.words(places.agent(steps), "--allow", "all", *(["--json"] if as_json else [])))
    wait_for(places.folder / "go")
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 3
    assert err.startswith("error: interrupted: ")
    assert err.count("\n") == 1
    if as_json:
        outcome = json.loads(out)
        assert (outcome["stop_reason"], [file["path"] for file in outcome["files"]]) == ("cancelled", ["a.txt"])
    else:
        lines = [" ".join(line.split()) for line in out.splitlines()]
        assert "A a.txt +1" in lines
        assert "stopped" in lines


def test_an_interrupt_while_the_text_is_awaited_ends_at_once(places: Places) -> None:
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(places.data), *places.words("true", text="-")]
    with subprocess.Popen(command, stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        os.close(reader)
        os.write(writer, b"half a ")
        until = time.monotonic() + 60
        while unread(writer):
            assert time.monotonic() < until
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
    os.close(writer)
    assert (running.returncode, err) == (3, "error: interrupted: stopped; nothing was lost\n")


def unread(pipe: int) -> int:
    """How many bytes of a pipe nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4), sys.byteorder)


# -- other verbs ---------------------------------------------------------------------------------------------------


def test_short_ids_are_as_long_as_they_must_be() -> None:
    ids = [
        "018bcfe5-6800-7e27-a828-733adf7b3138",
        "018bcfe5-6800-7d25-bce3-8da8b93c1cae",
        "118bcfe5-6800-7d25-bce3-8da8b93c1cae",
    ]
    assert list(short_ids(ids).values()) == ["018bcfe5-6800-7d", "018bcfe5-6800-7e", "118bcfe5"]
    assert short_ids(["a", "b" * 8 + "-1", "b" * 8 + "-2"]) == {
        "a": "a",
        "b" * 8 + "-1": "b" * 8 + "-1",
        "b" * 8 + "-2": "b" * 8 + "-2",
    }
    assert short_ids(["abcdefgh-x", "abcdefghix"])["abcdefgh-x"] == "abcdefgh-x"


def test_every_short_id_of_the_list_names_its_chat(places: Places) -> None:
    for _ in range(3):
        assert places.call(*places.words(places.agent([{"say": "ok"}]))).status == 0
    rows = [line.split()[-1] for line in _lines(places.call("list"))[1:]]
    assert len(set(rows)) == 3
    for number, short in enumerate(rows, 1):
        first, second = places.call("show", short), places.call("show", f"@{number}")
        assert (first.status, first.out) == (0, second.out)


def test_show_has_the_calls_where_they_were_and_says_what_an_event_is(places: Places) -> None:
    steps: list[dict[str, object]] = [{"say": "first"}, {"write": "a.txt", "text": "x", "title": "Write a"}, {"say": "then"}]
    answer = places.call(*places.words(places.agent([*steps, {"sleep": 60}]), "--allow", "all", "--timeout", "2"))
    assert answer.status == 1
    lines = [line for line in _lines(places.call("show", "@1")) if line]
    place = lines.index("first")
    assert lines[place : place + 3] == ["first", "completed: Write a", "then"]
    assert lines[place + 3].startswith("[3] event: stopped  ")
