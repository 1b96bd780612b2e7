"""The verbs that hooks call, as a hook calls them: real processes, every kind of standard input, the promised keys."""

import hashlib
import os
import pty
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.program import Answer, call, tree

Call = Callable[..., Answer]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def hook(tmp_path: Path, home: Path, work: Path) -> Call:
    """The command line, and a chat with a turn that began."""

    def run(*words: str, given: bytes | None = None) -> Answer:
        return call(tmp_path / "data", home, *words, given=given)

    assert run("turn", "hooks", "begin", "--workspace", str(work), "--prompt", "Write it").status == 0
    return run


def process(tmp_path: Path, home: Path, *words: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(tmp_path / "data"), "--home", str(home), *words]
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, capture_output=True, check=False, timeout=60, **options)


# -- what is on standard input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"new\n", b""])
@pytest.mark.parametrize("kind", ["pipe", "file", "socket"])
def test_a_pipe_a_file_and_a_socket_are_content_even_empty(
    tmp_path: Path, home: Path, work: Path, hook: Call, kind: str, content: bytes
) -> None:
    (work / "a.txt").write_text("old\n")
    words = ("--json", "record", "hooks", "a.txt")
    if kind == "pipe":
        out = process(tmp_path, home, *words, stdin=None, input=content)
    elif kind == "file":
        given = tmp_path / "given"
        given.write_bytes(content)
        with given.open("rb") as file:
            out = process(tmp_path, home, *words, stdin=file)
    else:
        ours, theirs = socket.socketpair()
        ours.sendall(content)
        ours.shutdown(socket.SHUT_WR)
        out = process(tmp_path, home, *words, stdin=theirs)
        ours.close()
        theirs.close()
    assert out.returncode == 0, out.stderr
    report = Answer(0, out.stdout, "").json
    assert (report["tag"], report["coverage"]) == ("1", {"complete": True, "skipped": []})
    assert (report["before_state"], report["before_sha"]) == ("present", hashlib.sha256(b"old\n").hexdigest())
    assert (report["after_state"], report["after_sha"]) == ("present", hashlib.sha256(content).hexdigest())
    assert (work / "a.txt").read_text() == "old\n", "the hook's caller does the write"


@pytest.mark.parametrize("kind", ["terminal", "null device", "closed"])
def test_a_terminal_the_null_device_and_nothing_at_all_are_no_content(
    tmp_path: Path, home: Path, work: Path, hook: Call, kind: str
) -> None:
    (work / "a.txt").write_text("old\n")
    words = ("--json", "record", "hooks", "a.txt")
    if kind == "terminal":
        ours, theirs = pty.openpty()
        out = process(tmp_path, home, *words, stdin=theirs)
        os.close(ours)
        os.close(theirs)
    elif kind == "closed":
        out = process(tmp_path, home, *words, stdin=None, preexec_fn=lambda: os.close(0))
    else:
        out = process(tmp_path, home, *words)
    assert out.returncode == 0, out.stderr
    report = Answer(0, out.stdout, "").json
    assert (report["before_state"], report["after_state"], report["after_sha"]) == ("present", "unknown", None)


def test_more_than_a_file_may_have_is_refused(tmp_path: Path, home: Path, work: Path, hook: Call) -> None:
    log = tmp_path / "given"
    before = tree(tmp_path / "data")
    with log.open("w+b") as file:
        file.truncate((64 << 20) + 1)
        out = process(tmp_path, home, "--json", "record", "hooks", "b.txt", stdin=file)
    assert (out.returncode, Answer(1, out.stdout, "").json["error"]["code"]) == (1, "record.too-large")
    assert tree(tmp_path / "data") == before


# -- what is told ------------------------------------------------------------------------------------------------


def test_a_turn_of_hooks_from_its_beginning_to_its_undo(hook: Call, work: Path) -> None:
    (work / "kept.txt").write_text("1\n")
    (work / "gone.txt").write_text("bye\n")
    (work / "tool.sh").write_text("#!/bin/sh\n")
    hook("turn", "hooks", "end")
    before = tree(work)
    begun = hook("--json", "turn", "hooks", "begin", "--prompt", "Change them", "--agent", "Tester").json
    assert (begun["chat_id"], begun["turn"], begun["files"]) == ("hooks", 2, [])
    report = hook("--json", "record", "hooks", "kept.txt", given=b"2\n").json
    assert set(report) >= {"tag", "coverage", "path", "before_sha", "after_sha", "conflict"}
    (work / "kept.txt").write_text("2\n")
    assert hook("record", "hooks", "gone.txt", "--delete").status == 0
    (work / "gone.txt").unlink()
    assert hook("record", "hooks", "tool.sh", "--mode", "755").status == 0
    (work / "tool.sh").chmod(0o755)
    assert hook("record", "hooks", str(work / "new" / "n.txt"), "--mode", "0600", given=b"n\n").status == 0
    (work / "new").mkdir()
    (work / "new" / "n.txt").write_text("n\n")
    (work / "new" / "n.txt").chmod(0o600)
    assert hook("turn", "hooks", "command-begin").status == 0
    (work / "made.txt").write_text("by a command\n")
    assert hook("turn", "hooks", "command-end").status == 0
    ended = hook("--json", "turn", "hooks", "end", "--answer", "Changed.").json
    assert set(ended) >= {"chat_id", "turn", "files", "coverage"}
    assert {one["path"]: (one["status"], one["author"]) for one in ended["files"]} == {
        "kept.txt": ("M", "agent"), "gone.txt": ("D", "agent"), "tool.sh": ("M", "agent"), "new/n.txt": ("A", "agent"),
        "made.txt": ("A", "command"),
    }  # fmt: skip
    (mode,) = [(one["mode_before"], one["mode_after"]) for one in ended["files"] if one["path"] == "tool.sh"]
    assert mode == (0o644, 0o755)
    assert ended["coverage"]["complete"]
    timeline = hook("--json", "timeline", "hooks").json["entries"]
    (turn,) = [one for one in timeline if one["turn"] == 2 and one["kind"] == "turn"]
    assert turn["files"] == ended["files"], "as in timeline"
    assert (turn["prompt"], turn["tag"]) == ("Change them", "2")
    assert hook("restore", "hooks", "before:2", "--yes").status == 0
    assert tree(work) == before
    assert (work / "tool.sh").stat().st_mode & 0o777 == 0o644
    shown = hook("--json", "show", "hooks").json
    assert [message["content"] for message in shown["chat"]["messages"]] == ["Write it"]
    assert hook("undo", "hooks", "--yes").status == 0
    assert (work / "kept.txt").read_text() == "2\n"
    assert hook("verify").status == 0


def test_text_for_people_says_what_was_kept_and_found(hook: Call, work: Path) -> None:
    (work / "a.txt").write_text("1\n")
    assert hook("record", "hooks", "a.txt", given=b"2\n").out.decode() == "1  a.txt: kept as it is\n"
    (work / "a.txt").write_text("2\n")
    assert hook("record", "hooks", "b.txt", given=b"").out.decode() == "1.1  b.txt: it is not there yet\n"
    (work / "b.txt").write_text("")
    out = hook("turn", "hooks", "end", "--answer", "ok").out.decode()
    assert out.startswith("turn 1 ended  (hooks)\n  2 files changed\n")
    assert "A a.txt +1" in out, "the file is younger than the turn"
    assert hook("conflicts", "hooks").out.decode() == "Nobody else changed a file of this chat.\n"


def test_the_help_of_every_hook_verb_says_what_it_is_for(hook: Call) -> None:
    for verb, word in (("record", "null device"), ("turn", "nobody announced"), ("branch", "--at"), ("conflicts", "CHAT")):
        answer = hook(verb, "--help")
        assert answer.status == 0
        assert word in " ".join(answer.out.decode().split()), verb


def test_conflicts_have_the_promised_keys(hook: Call, work: Path) -> None:
    hook("record", "hooks", "a.txt", given=b"mine\n")
    (work / "a.txt").write_text("mine\n")
    hook("turn", "hooks", "end")
    (work / "a.txt").write_text("somebody's\n")
    hook("turn", "other", "begin", "--workspace", str(work), "--prompt", "x")
    report = hook("--json", "record", "other", "a.txt", given=b"theirs\n").json
    (found,) = [one for one in hook("--json", "conflicts", "other").json["conflicts"] if one["tag"]]
    assert set(found) >= {"path", "other_chat", "expected_sha", "actual_sha", "tag", "ts"}
    assert report["conflict"] == found
    assert (found["path"], found["other_chat"], found["tag"]) == ("a.txt", "hooks", "1")


def test_a_branch_names_itself_and_its_parent(hook: Call, work: Path) -> None:
    hook("turn", "hooks", "end", "--answer", "one")
    hook("turn", "hooks", "begin", "--prompt", "two")
    made = hook("--json", "branch", "hooks", "--at", "2").json
    assert made["parent_id"] == "hooks"
    rows = {row["id"]: row for row in hook("--json", "list").json["chats"]}
    assert rows[made["chat_id"]]["parent_chat_id"] == "hooks"
    messages = hook("--json", "show", made["chat_id"]).json["chat"]["messages"]
    assert [message["content"] for message in messages] == ["Write it", "one"]


def test_a_vault_of_one_run_takes_hooks_with_its_own_workspace(tmp_path: Path, home: Path, work: Path) -> None:
    vault = tmp_path / "vibekit"
    vault.mkdir()
    opened = ("--vault", str(vault), "--workspace", str(work))
    data = tmp_path / "data"
    assert call(data, home, *opened, "turn", "one", "begin", "--prompt", "x").status == 0
    assert call(data, home, *opened, "turn", "two", "begin", "--workspace", str(work), "--prompt", "x").status == 0
    other = tmp_path / "other"
    other.mkdir()
    assert call(data, home, *opened, "turn", "one", "begin", "--workspace", str(other), "--prompt", "x").status == 1
    assert sorted(path.name for path in (vault / "chats").iterdir()) == ["one.json", "two.json"]


def test_two_hooks_at_once_lose_nothing(tmp_path: Path, home: Path, work: Path, hook: Call) -> None:
    """Eight processes record at the same time, as an agent's parallel writes do: each gets a tag of its own."""
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(tmp_path / "data"), "--home", str(home), "--json"]
    running = [
        subprocess.Popen([*command, "record", "hooks", f"{n}.txt"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        for n in range(8)
    ]
    tags = [Answer(0, process.communicate(timeout=60)[0], "").json["tag"] for process in running]
    assert sorted(tags) == sorted(["1", *(f"1.{n}" for n in range(1, 8))])
    assert hook("verify").status == 0
    assert hook("--json", "show", "hooks").json["chat"]["messages"][0]["checkpoint_tag"] == "1"
