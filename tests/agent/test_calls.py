"""Calls of tools, put together from the little that agents say at a time; and commands that are the same in other words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent.gate_stage import tool
from vibekit_desktop.core.agent import commands
from vibekit_desktop.core.agent.calls import Call, Calls
from vibekit_desktop.core.types.agents import Operation


def seen(given_input: object, kind: str | None = None) -> Call:
    return Calls().saw(tool(kind=kind, given=json.dumps(given_input).encode()))


def test_every_path_stays_and_the_newest_word_on_the_rest_holds() -> None:
    calls = Calls()
    calls.saw(tool(kind="edit", title="Write", status="pending", at=["a"]))
    calls.saw(tool(status="in_progress", diff=("b", "1", "2")))
    call = calls.saw(tool(title="Write b", diff=("b", "3", "4"), at=["c"]))
    assert call.paths == ("a", "b", "c")
    assert (call.title, call.kind, call.status, call.diffs[0].new_text) == ("Write b", "edit", "in_progress", "4")


def test_of_a_call_that_is_over_the_texts_are_not_kept() -> None:
    calls = Calls()
    calls.saw(tool(status="completed", diff=("b", "1", "2")))
    call = calls.saw(tool(title="Write b"))
    assert (call.paths, call.diffs, call.operation) == (("b",), (), Operation.EDIT)


def test_a_call_that_is_told_twice_is_one() -> None:
    calls = Calls()
    for _ in range(2):
        calls.saw(tool(kind="edit", title="Write", status="pending", at=["a"]))
    assert [call.id for call in calls.running()] == ["c1"]
    calls.saw(tool(status="completed"))
    assert list(calls.running()) == []


@pytest.mark.parametrize(
    ("given_input", "paths"),
    [
        ({"file_path": "a"}, ("a",)),
        ({"filePath": "a", "content": "x"}, ("a",)),
        ({"abs_path": "/a", "path": "b"}, ("/a", "b")),
        ({"absolutePath": "/a"}, ("/a",)),
        ({"notebook_path": "a.ipynb"}, ("a.ipynb",)),
        ({"paths": ["a", "b"]}, ("a", "b")),
        ({"files": [{"path": "a"}, {"path": "b"}]}, ("a", "b")),
        ({"edits": [{"file_path": "a"}, {"file_path": "b"}]}, ("a", "b")),
        ({"changes": {"/w/a": {"type": "update", "move_path": "/w/b"}}}, ("/w/a", "/w/b")),
        (
            {"patch": "*** Begin Patch\n*** Add File: n.txt\n+x\n*** Update File: o.txt\n*** Move to: p.txt\n"},
            ("n.txt", "o.txt", "p.txt"),
        ),
        ({"command": "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: d.txt\nEOF"}, ("d.txt",)),
        ({"source": "print(1)\nprint(2)"}, ()),
        ({"source": "a", "destination": "b"}, ("a", "b")),
        ({"url": "https://x", "uri": "https://x/y"}, ()),
        ({"uri": "file:///a"}, ("file:///a",)),
        ({"path": 7, "file_path": None}, ()),
        ({"input": {"args": {"path": "deep"}}}, ("deep",)),
        (["a"], ()),
    ],
)
def test_paths_are_found_in_what_agents_send_as_input(given_input: object, paths: tuple[str, ...]) -> None:
    call = seen(given_input)
    assert call.paths == paths


@pytest.mark.parametrize(
    ("kind", "given_input", "operation"),
    [
        ("edit", {}, Operation.EDIT),
        ("delete", {}, Operation.DELETE),
        ("move", {}, Operation.MOVE),
        ("execute", {}, Operation.RUN),
        ("read", {"path": "a"}, Operation.READ),
        ("search", {"pattern": "x"}, Operation.READ),
        ("read", {"command": ["bash", "-lc", "cat a"]}, Operation.RUN),
        ("fetch", {"url": "x"}, Operation.FETCH),
        ("think", {}, Operation.OTHER),
        ("switch_mode", {"plan": "x"}, Operation.OTHER),
        ("other", {"path": "a"}, Operation.OTHER),
        ("other", {"path": "a", "content": "x"}, Operation.EDIT),
        ("other", {"command": "ls"}, Operation.RUN),
        (None, {"path": "a"}, Operation.EDIT),
        (None, {"command": "ls"}, Operation.RUN),
        (None, {"command": "create", "path": "a", "file_text": "x"}, Operation.EDIT),
        (None, {}, Operation.OTHER),
        ("a kind of tomorrow", {"path": "a", "new_string": "x"}, Operation.EDIT),
    ],
)
def test_what_a_call_does_is_told_by_what_it_shows(kind: str | None, given_input: object, operation: Operation) -> None:
    call = seen(given_input, kind=kind)
    assert call.operation is operation


def test_a_diff_makes_an_edit_of_a_call_that_calls_itself_a_read() -> None:
    calls = Calls()
    assert calls.saw(tool(kind="read", diff=("a", "1", "2"))).operation is Operation.EDIT


@pytest.mark.parametrize(
    ("given_input", "command", "folder"),
    [
        ({"command": "npm test", "cwd": "sub"}, "npm test", "sub"),
        ({"cmd": "ls", "workdir": "/w"}, "ls", "/w"),
        ({"command": ["bash", "-lc", "ls | wc"]}, "bash -lc 'ls | wc'", ""),
        ({"command": "npm", "args": ["run", "a b"]}, "npm run 'a b'", ""),
        ({"command": "  "}, "", ""),
        ({"command": {"x": 1}}, "", ""),
    ],
)
def test_the_command_and_its_folder_are_found(given_input: object, command: str, folder: str) -> None:
    call = seen(given_input)
    assert (call.command, call.folder) == (command, folder)


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text() | st.floats() | st.integers(), st.lists).map(lambda v: json.dumps(v).encode())
)
def test_no_input_is_too_odd(raw: bytes) -> None:
    Calls().saw(tool(given=raw))


@pytest.mark.parametrize(
    ("asked", "command", "args"),
    [
        ("npm test", "npm test", []),
        ("npm test", "npm", ["test"]),
        ("npm test", "/bin/sh", ["-c", "npm test"]),
        ("npm  test", "npm test", []),
        ("a; b > c", "bash", ["-lc", "a; b > c"]),
        ("bash -lc 'a; b'", "bash", ["-lc", "a; b"]),
        ("bash -lc 'a; b'", "a; b", []),
        ("bash -lc 'a; b'", "/usr/bin/bash", ["-c", "a; b"]),
        ('echo "a b"', "echo 'a b'", []),
        ("echo 'a b'", "echo", ["a b"]),
        ("echo '$x'", "echo", ["$x"]),
    ],
)
def test_a_command_is_the_same_in_other_words(asked: str, command: str, args: list[str]) -> None:
    assert commands.same(asked, command, args)


@pytest.mark.parametrize(
    ("asked", "command", "args"),
    [
        ("npm test", "npm", ["test", "--evil"]),
        ("npm test", "npm test; evil", []),
        ("npm test", "./sh", ["-c", "npm test"]),
        ("npm test", "/tmp/sh", ["-c", "npm test"]),
        ("npm test", "/bin/sh", ["-c", "npm test", "evil"]),
        ("npm test", "/bin/sh", ["--rcfile", "evil", "-c", "npm test"]),
        ("npm test", "/bin/sh", ["npm test"]),
        ('echo "$x"', "echo '$x'", []),
        ("echo '$(evil)'", 'echo "$(evil)"', []),
        ("bash -c 'a'; evil", "a", []),
        ("bash -c 'a' evil", "a", []),
        ("bash -c 'a'$evil", "a", []),
        ('bash -c "$(evil)"', "$(evil)", []),
        ("npm", "npm", ["test"]),
        ("echo 'a", "echo", ["a"]),
    ],
)
def test_what_a_shell_would_read_differently_is_another_command(asked: str, command: str, args: list[str]) -> None:
    assert not commands.same(asked, command, args)


@given(st.text(max_size=40), st.text(max_size=40), st.lists(st.text(max_size=10), max_size=3))
def test_no_command_is_too_odd_to_be_compared(asked: str, command: str, args: list[str]) -> None:
    commands.same(asked, command, args)
    commands.shown(command, args)
    assert commands.same(asked, asked, [])
