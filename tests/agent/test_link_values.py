"""What is read out of an agent's messages: each field by itself, and never an error."""

import json

import msgspec
import pytest
from acp.meta import CLIENT_METHODS
from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.core.agent import acp_frames, acp_offers
from vibekit_desktop.core.agent.acp_errors import error_words, wants_sign_in
from vibekit_desktop.core.agent.acp_frames import Answered, Asked, ConfigTold, ModeTold, Skipped, Told, Unreadable, WriteAsked
from vibekit_desktop.core.agent.acp_sessions import Options
from vibekit_desktop.core.agent.link import Greeting, ToolChanged, UsageChanged
from vibekit_desktop.core.types.agents import OptionKind, StopReason, Usage
from vibekit_desktop.core.types.chats import DiffFragment, Location


def told(update: object) -> object:
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    frame = acp_frames.read(json.dumps(message).encode())
    return frame.what if isinstance(frame, Told) else frame


def test_a_tool_call_is_read_whole() -> None:
    content = [
        {"type": "content", "content": {"type": "text", "text": "one"}},
        {"type": "diff", "path": "a", "oldText": None, "newText": "n"},
        {"type": "diff", "path": "b", "oldText": "o", "newText": "n"},
        {"type": "terminal", "terminalId": "t"},
        {"type": "content", "content": {"type": "resource", "resource": {"uri": "x", "text": "two"}}},
        {"type": "content", "content": {"type": "image", "data": "x", "mimeType": "y"}},
    ]
    update = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "kind": "edit", "status": "pending"}
    more = {"content": content, "locations": [{"path": "a", "line": 3}, {"path": "/b"}], "rawInput": {"a": [1, None]}}
    assert told(update | more) == ToolChanged(
        id="c",
        title="T",
        kind="edit",
        status="pending",
        output="one\ntwo",
        diffs=(DiffFragment(path="a", new_text="n"), DiffFragment(path="b", old_text="o", new_text="n")),
        locations=(Location(path="a", line=3), Location(path="/b")),
        input=b'{"a": [1, null]}',
        terminals=("t",),
    )


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"rawOutput": {"exit_code": 3, "stdout": "x"}}, 3),
        ({"rawOutput": {"exitCode": 0}}, 0),
        ({"rawOutput": {"output": "x", "metadata": {"exit": 2, "truncated": False}}}, 2),
        ({"rawOutput": {"exit_code": None, "exitCode": "1", "exit": 4.5, "metadata": 5}}, None),
        ({"rawOutput": {"exit_code": 10**30}}, None),
        ({"_meta": {"terminal_exit": {"terminal_id": "t", "exit_code": 5, "signal": None}}, "rawOutput": {"exit": 0}}, 5),
        ({"_meta": {"terminal_exit": 5}, "rawOutput": [1]}, None),
        ({"rawOutput": "Exit code 7\nno such file"}, 7),
        ({"rawOutput": "it said: Exit code 7"}, None),
        ({}, None),
    ],
)
def test_how_a_command_ended_is_read_where_agents_tell_it(said: dict[str, object], code: int | None) -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
    assert told(update | said) == ToolChanged(id="c", status="completed", exit_code=code)


def test_what_one_field_has_wrong_hides_no_other() -> None:
    update = {
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": 5, "kind": "brew", "status": "done",
        "content": [5, {"type": "new"}, {"type": "diff", "path": "a", "newText": 5}, {"type": "content", "content": "words"}],
        "locations": ["x", {"path": "a", "line": -1}, {"line": 1}, {"path": "b", "line": 10**30}], "rawInput": None,
    }  # fmt: skip
    assert told(update) == ToolChanged(
        id="c",
        kind="other",
        diffs=(DiffFragment(path="a"),),
        locations=(Location(path="a"), Location(path="b", line=(1 << 63) - 1)),
    )


def test_what_is_not_said_is_as_it_was() -> None:
    assert told({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": []}) == ToolChanged(id="c")
    assert told({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": None, "locations": None}) == ToolChanged(
        id="c"
    )
    assert told({"sessionUpdate": "tool_call_update", "toolCallId": "c", "locations": []}) == ToolChanged(id="c", locations=())


def test_an_input_that_is_too_large_is_as_if_it_were_not_said() -> None:
    tool = told({"sessionUpdate": "tool_call", "toolCallId": "c", "rawInput": "x" * (3 << 20), "title": "T"})
    assert tool == ToolChanged(id="c", title="T")


def test_a_list_is_cut_at_a_length_that_no_honest_agent_reaches() -> None:
    tool = told({"sessionUpdate": "tool_call", "toolCallId": "c", "content": [{"type": "terminal", "terminalId": "t"}] * 5000})
    assert isinstance(tool, ToolChanged)
    assert len(tool.terminals or ()) == 1000


def test_numbers_are_kept_in_their_bounds() -> None:
    assert told({"sessionUpdate": "usage_update", "used": 10**25, "size": -5, "cost": {"amount": -1, "currency": "USD"}}) == (
        UsageChanged(Usage((1 << 63) - 1, 0))
    )
    assert told({"sessionUpdate": "usage_update", "used": 2.7, "size": True}) == UsageChanged(Usage(2, 0))


def test_updates_of_options() -> None:
    assert told({"sessionUpdate": "current_mode_update", "currentModeId": "m"}) == ModeTold("m")
    option = {"type": "select", "id": "t", "name": "Think", "category": "thought_level", "currentValue": "a"}
    found = told(
        {
            "sessionUpdate": "config_option_update",
            "configOptions": [option | {"options": [{"value": "a", "name": "A"}]}, option, 5],
        }
    )
    assert isinstance(found, ConfigTold)
    assert [(one.kind, one.value) for one in found.options] == [(OptionKind.THOUGHT, "a")]


def test_a_later_answer_leaves_what_it_does_not_speak_of() -> None:
    options = Options()
    options.take({"modes": {"currentModeId": "a", "availableModes": [{"id": "a"}, {"id": "b"}]}, "configOptions": []})
    options.take({})
    options.take(None)
    options.mode_told("b")
    assert [(one.id, one.value) for one in options.all()] == [("mode", "b")]


def test_answers_and_errors() -> None:
    assert acp_frames.read(b'{"id": 3, "result": {"a": 1}}') == Answered(3, {"a": 1})
    assert acp_frames.read(b'{"id": 3}') == Answered(3)
    assert acp_frames.read(b'{"id": 3, "error": {"code": -1, "message": "m", "data": [1]}}') == Answered(
        3, error=(-1, "m", [1])
    )
    assert acp_frames.read(b'{"id": 3, "error": 5, "result": 1}') == Answered(3, error=(0, "", None))
    assert acp_frames.read(b'{"id": 3, "error": null, "result": 1}') == Answered(3, 1)


def test_requests() -> None:
    assert acp_frames.read(b'{"id": "x", "method": "what/ever"}') == Asked("x", "what/ever", None)
    params = b'{"sessionId": "s", "path": "/a", "content": "\\u00e4\\ud83d\\ude00"}'
    write = b'{"id": 0, "method": "fs/write_text_file", "params": ' + params + b"}"
    assert acp_frames.read(write) == Asked(0, "fs/write_text_file", WriteAsked("s", "/a", "ä\U0001f600"))
    assert acp_frames.read(write.replace(b"\\ude00", b"")) == Asked(0, "fs/write_text_file", Unreadable())
    assert acp_frames.read(write.replace(b"\\u00e4", b"\xff")) == Asked(0, "fs/write_text_file", Unreadable())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    (
        "sessionUpdate", "toolCallId", "title", "kind", "status", "content", "locations", "rawInput", "entries",
        "availableCommands", "configOptions", "currentModeId", "used", "size", "cost", "type", "text", "path", "oldText",
        "newText", "terminalId", "id", "name", "category", "currentValue", "options", "value", "group",
    )
)  # fmt: skip
KINDS = st.sampled_from(
    (
        "agent_message_chunk", "tool_call", "tool_call_update", "plan", "available_commands_update", "usage_update",
        "session_info_update", "current_mode_update", "config_option_update", "diff", "content", "terminal", "text", "select",
        "boolean",
    )
)  # fmt: skip
LIKELY = st.recursive(
    JSON | KINDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=8), max_leaves=30
)


@given(LIKELY, KINDS)
def test_no_update_is_an_error(update: object, kind: str) -> None:
    made = {**update, "sessionUpdate": kind, "toolCallId": "c"} if isinstance(update, dict) else update
    found = told(made)
    assert found is Skipped.NOT_OURS or not isinstance(found, Skipped)
    if isinstance(found, ToolChanged) and found.input is not None:
        msgspec.json.decode(found.input)


@given(LIKELY)
def test_no_answer_is_an_error(answer: object) -> None:
    assert isinstance(acp_offers.greeting(answer, ("a",)), Greeting)
    acp_offers.listed_sessions(answer)
    acp_offers.stop_reason(answer)
    Options().take(answer)
    wants_sign_in(0, error_words("m", answer))


METHODS = st.sampled_from(
    [*(name for name in CLIENT_METHODS.values() if name.startswith(("session/", "fs/", "terminal/"))), "other"]
)


@given(METHODS, LIKELY | JSON, JSON)
def test_no_message_is_an_error(method: str, params: object, id_: object) -> None:
    acp_frames.read(json.dumps({"id": id_, "method": method, "params": params}).encode())
    acp_frames.read(json.dumps({"id": id_, "result": params}).encode())
    acp_frames.read(json.dumps({"id": id_, "error": params}).encode())


@given(st.binary(max_size=60))
def test_no_bytes_are_an_error(line: bytes) -> None:
    acp_frames.read(line)
    acp_frames.read(b'{"method":"session/update","params":{"sessionId":"s","update":' + line + b"}}")
    acp_frames.read(
        b'{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","title":"' + line + b'"}}}'
    )


@pytest.mark.parametrize(
    ("code", "said", "wanted"),
    [
        (-32000, "anything", True),
        (-32603, "Not logged in · Please run /login", True),
        (-32603, "Authentication required: Use the CLI", True),
        (-32603, "Missing API key for the provider.", True),
        (-32603, "The process exited with code 1", False),
        (-32602, "No previous sessions found for this project", False),
    ],
)
def test_errors_that_want_a_sign_in(code: int, said: str, wanted: bool) -> None:
    assert wants_sign_in(code, said) is wanted


def test_the_words_of_an_error_are_short_and_complete() -> None:
    assert error_words("Internal error", {"details": "it broke"}) == "Internal error: it broke"
    assert error_words("it broke", "it broke") == "it broke"
    assert len(error_words("x" * 9999, None)) == 2000


def test_an_unknown_end_of_a_turn_is_an_end() -> None:
    assert acp_offers.stop_reason({"stopReason": "paused"}) is StopReason.END
    assert acp_offers.stop_reason({"stopReason": "died"}) is StopReason.END
    assert acp_offers.stop_reason({}) is None
