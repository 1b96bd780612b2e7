"""A turn over real pipes: what an agent says reaches the host in order, what it asks is answered, what it offers is chosen."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.agent.linked import Host, linked, until
from vibekit_desktop.core.agent.link import (
    CommandsChanged,
    FilePart,
    ImagePart,
    OptionsChanged,
    PlanChanged,
    SessionNamed,
    TextArrived,
    TextPart,
    ThoughtArrived,
    ToolChanged,
    UsageChanged,
)
from vibekit_desktop.core.types.agent_errors import AgentFailed, NotOffered
from vibekit_desktop.core.types.agents import AgentCommand, OptionKind, PlanStep, StopReason, Usage
from vibekit_desktop.core.types.chats import DiffFragment, Location

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "yolo", "name": "All", "description": "d"}],
}
MODELS = {
    "currentModelId": "small",
    "availableModels": [{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "L"}],
}
CONFIG = [
    {
        "type": "select", "id": "model-x", "name": "Model", "category": "model", "currentValue": "a",
        "options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]}],
    },
    {"type": "boolean", "id": "web", "name": "Web", "currentValue": False},
]  # fmt: skip


async def test_everything_said_reaches_the_host_before_the_prompt_returns(either_loop: object, tmp_path: Path) -> None:
    turn = [
        {"think": "hm well"},
        {"say": "one two"},
        {"say": "three", "message": "m2"},
        {"plan": [["look", "completed"], ["write", "in_progress"]]},
        {"commands": [["init", "make a file", "name"], ["help", "tell"]]},
        {"usage": {"used": 7, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}}},
        {"title": "A name"},
    ]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        assert await agent.prompt() is StopReason.END
        assert agent.host.events == [
            ThoughtArrived("hm "),
            ThoughtArrived("well"),
            TextArrived("one "),
            TextArrived("two"),
            TextArrived("three", "m2"),
            PlanChanged((PlanStep("look", "completed"), PlanStep("write", "in_progress"))),
            CommandsChanged((AgentCommand("init", "make a file", "name"), AgentCommand("help", "tell"))),
            UsageChanged(Usage(7, 100, 0.5, "USD")),
            SessionNamed("A name"),
        ]


async def test_an_allowed_write_is_asked_for_and_done_through_us(either_loop: object, tmp_path: Path) -> None:
    turn = [{"write": "a.txt", "text": "new", "ask": True, "call": "c1", "input": {"path": "a.txt"}}]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        await agent.prompt()
        path = str(agent.folder / "a.txt")
        diff = (DiffFragment(path=path, new_text="new"),)
        first, last = agent.host.tools
        assert first == ToolChanged(
            id="c1", title="Write a.txt", kind="edit", status="pending", diffs=diff, locations=(Location(path=path),),
            input=b'{"path":"a.txt"}',
        )  # fmt: skip
        assert last.status == "completed"
        (ask,) = agent.host.asked("ask")
        assert (ask.tool.id, ask.tool.diffs, [option.kind for option in ask.options]) == (
            "c1",
            diff,
            ["allow_once", "reject_once"],
        )
        assert agent.host.asked("write") == [(path, "new")]
        # The request is never seen before what was said before it, nor after what was said after it.
        assert [name for name, _ in agent.host.calls] == ["event", "ask", "write", "event"]


async def test_a_denied_request_is_an_error_with_our_words_for_the_agent(tmp_path: Path) -> None:
    turn = [{"write": "a.txt", "text": "new"}, {"read": "b.txt"}, {"shell": "ls", "via": "terminal"}]
    async with linked(tmp_path, {"turns": [turn]}, host=Host(denies={"write", "read", "create_terminal"})) as agent:
        assert await agent.prompt() is StopReason.END
        assert [tool.status for tool in agent.host.tools if tool.status in ("failed", "completed")] == ["failed", "failed"]
        assert "no write in this test" in (agent.host.tools[1].output or "")
        assert "no read in this test" in agent.host.said
        assert not (agent.folder / "a.txt").exists()


async def test_an_answer_that_was_not_offered_is_never_sent(tmp_path: Path, expected_logs) -> None:
    expected_logs.expect("none of those")
    host = Host(answers=lambda ask: "surely")
    async with linked(tmp_path, {"turns": [[{"ask": "may I"}]]}, host=host) as agent:
        await agent.prompt()
        assert agent.host.said == "answered: cancelled"


async def test_no_answer_is_a_cancelled_one(tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"ask": "may I"}]]}, host=Host(answers=lambda ask: None)) as agent:
        await agent.prompt()
        assert agent.host.said == "answered: cancelled"


async def test_options_of_any_kind_can_be_answered(tmp_path: Path) -> None:
    odd = [
        {"optionId": "1", "name": "Perhaps", "kind": "allow_sometimes"},
        {"optionId": "1", "name": "Again", "kind": "allow_once"},
        {"optionId": 2, "name": "No id", "kind": "allow_once"},
        "not an option",
        {"optionId": "3"},
    ]
    async with linked(tmp_path, {"turns": [[{"ask": "may I", "options": odd}]]}) as agent:
        await agent.prompt()
        (ask,) = agent.host.asked("ask")
        assert [(option.id, option.name, option.kind) for option in ask.options] == [
            ("1", "Perhaps", "allow_sometimes"),
            ("3", "3", "other"),
        ]
        assert agent.host.said == "answered: 1"


async def test_a_command_runs_in_a_terminal_of_ours(tmp_path: Path) -> None:
    turn = [{"shell": "make", "via": "terminal", "split": ["make", "-j2"], "cwd": None, "env": {"A": "b"}, "limit": 100}]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        await agent.prompt()
        assert agent.host.asked("create_terminal") == [("make", ("-j2",), None, (("A", "b"),), 100)]
        names = ["create_terminal", "wait_for_exit", "terminal_output", "release_terminal"]
        assert [name for name, _ in agent.host.calls if name != "event"] == names
        assert ("terminal-1",) in [tool.terminals for tool in agent.host.tools]
        assert agent.host.said == "output: what it wrote"
        assert agent.host.tools[-1].status == "failed"  # its exit status was 3


async def test_lines_of_a_file_are_read_through_us_if_the_agent_wants_that(tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"read": "a.txt", "line": 3, "limit": 2}]]}) as agent:
        await agent.prompt()
        assert agent.host.asked("read") == [(str(agent.folder / "a.txt"), 3, 2)]
        assert agent.host.said == "read by us"


async def test_we_say_what_we_can_do(tmp_path: Path) -> None:
    async with linked(tmp_path, {}) as agent:
        await agent.link.open()
        (sent,) = agent.received("initialize")
        assert sent["params"]["protocolVersion"] == 1
        assert sent["params"]["clientInfo"]["name"] == "vibekit-desktop"
        assert sent["params"]["clientCapabilities"] == {
            "fs": {"readTextFile": False, "writeTextFile": True},
            "terminal": True,
            "auth": {"terminal": True},
        }


async def test_a_question_in_a_form_is_declined_and_an_unknown_method_is_not_known(tmp_path: Path) -> None:
    turn = [
        {"request": "elicitation/create", "params": {"mode": "form", "message": "who?", "requestedSchema": {}}},
        {"request": "_own/thing"},
        {"request": "fs/delete", "params": {"path": "a"}},
        {"raw": {"jsonrpc": "2.0", "method": "_own/note", "params": {"secret": 1}}},
    ]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        await agent.prompt()
        assert json.loads(agent.host.said.partition("refused")[0]) == {"action": "decline"}
        assert agent.host.said.count("refused: -32601") == 2


async def test_a_prompt_holds_words_files_and_images(tmp_path: Path) -> None:
    parts = [TextPart("see"), FilePart("/w/a b.txt", "text"), FilePart("/w/c.bin"), ImagePart("image/png", b"\x89PNG")]
    async with linked(tmp_path, {"images": True, "files": True}) as agent:
        session = await agent.session()
        await agent.link.prompt(session.id, parts)
        (sent,) = agent.received("session/prompt")
        assert sent["params"]["prompt"] == [
            {"type": "text", "text": "see"},
            {"type": "resource", "resource": {"uri": "file:///w/a%20b.txt", "text": "text"}},
            {"type": "resource_link", "uri": "file:///w/c.bin", "name": "c.bin"},
            {"type": "image", "mimeType": "image/png", "data": "iVBORw=="},
        ]


async def test_an_agent_that_takes_neither_is_given_a_link_and_no_image(tmp_path: Path) -> None:
    async with linked(tmp_path, {}) as agent:
        session = await agent.session()
        with pytest.raises(NotOffered):
            await agent.link.prompt(session.id, [ImagePart("image/png", b"x")])
        await agent.link.prompt(session.id, [FilePart("/w/a.txt", "text")])
        (sent,) = agent.received("session/prompt")
        assert sent["params"]["prompt"] == [{"type": "resource_link", "uri": "file:///w/a.txt", "name": "a.txt"}]


async def test_half_a_character_of_a_prompt_is_sent(tmp_path: Path) -> None:
    async with linked(tmp_path, {}) as agent:
        assert await agent.prompt("a\ud83d") is StopReason.END


async def test_modes_and_models_are_options(tmp_path: Path) -> None:
    async with linked(tmp_path, {"modes": MODES, "models": MODELS, "turns": [[{"mode": "ask"}]]}) as agent:
        session = await agent.session()
        mode, model = session.options
        assert (mode.kind, mode.value, [choice.id for choice in mode.choices]) == (OptionKind.MODE, "ask", ["ask", "yolo"])
        assert (model.kind, model.value, [choice.id for choice in model.choices]) == (
            OptionKind.MODEL,
            "small",
            ["small", "large"],
        )
        await agent.link.set_option(session.id, mode, "yolo")
        await agent.link.set_option(session.id, model, "large")
        told = [event for event in agent.host.events if isinstance(event, OptionsChanged)]
        assert [[option.value for option in event.options] for event in told] == [["yolo", "small"], ["yolo", "large"]]
        assert [sent["params"]["modelId"] for sent in agent.received("session/set_model")] == ["large"]
        await agent.prompt()  # the agent itself goes back
        assert [option.value for option in agent.host.events[-1].options] == ["ask", "large"]


async def test_the_one_list_of_options_wins_over_the_older_lists(tmp_path: Path) -> None:
    script = {"modes": MODES, "models": MODELS, "config_options": CONFIG}
    async with linked(tmp_path, script) as agent:
        session = await agent.session()
        assert [(option.id, option.value) for option in session.options] == [
            ("mode", "ask"),
            ("model-x", "a"),
            ("web", "false"),
        ]
        _, model, web = session.options
        assert [choice.id for choice in model.choices] == ["a", "b"]
        await agent.link.set_option(session.id, model, "b")
        await agent.link.set_option(session.id, web, "true")
        assert [option.value for option in agent.host.events[-1].options] == ["ask", "b", "true"]
        assert agent.received("session/set_config_option")[1]["params"]["value"] is True


async def test_what_is_not_offered_cannot_be_chosen(tmp_path: Path) -> None:
    async with linked(
        tmp_path, {"modes": MODES, "on": {"session/set_mode": {"error": {"code": -1, "message": "busy"}}}}
    ) as agent:
        session = await agent.session()
        (mode,) = session.options
        with pytest.raises(NotOffered):
            await agent.link.set_option(session.id, mode, "other")
        with pytest.raises(NotOffered):
            await agent.link.set_option("another session", mode, "yolo")
        with pytest.raises(AgentFailed) as failed:
            await agent.link.set_option(session.id, mode, "yolo")
        assert (failed.value.step, failed.value.reason, failed.value.said) == ("option", "said", "busy")
        assert not agent.host.events


async def test_what_is_said_after_the_end_of_a_turn_still_reaches_the_host(tmp_path: Path) -> None:
    turn = [{"say": "a"}, {"end": "end_turn"}, {"wait_for": "on"}, {"say": "late"}, {"ask": "late"}]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        assert await agent.prompt() is StopReason.END
        assert agent.host.said == "a"
        (agent.folder / "on").touch()
        await until(lambda: "answered" in agent.host.said)


@pytest.mark.parametrize("reason", list(StopReason)[:5])
async def test_a_turn_ends_as_the_agent_says(reason: StopReason, tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"end": reason.value}]]}) as agent:
        assert await agent.prompt() is reason


async def test_a_cancelled_turn_ends_cancelled(either_loop: object, tmp_path: Path) -> None:
    async with linked(tmp_path, {"turns": [[{"say": "x"}, {"sleep": 60}, {"say": "never"}]]}) as agent:
        turn = asyncio.ensure_future(agent.prompt())
        await until(lambda: agent.host.said == "x")
        assert agent.opened is not None
        await agent.link.cancel(agent.opened.id)
        assert await turn is StopReason.CANCELLED
        assert agent.host.said == "x"


async def test_an_error_after_our_cancel_is_the_end_of_the_turn(tmp_path: Path) -> None:
    script = {
        "turns": [[{"say": "x"}, {"sleep": 60}]],
        "cancel": {"error": {"code": -32603, "message": "Request was aborted."}},
    }
    async with linked(tmp_path, script) as agent:
        turn = asyncio.ensure_future(agent.prompt())
        await until(lambda: agent.host.said == "x")
        assert agent.opened is not None
        await agent.link.cancel(agent.opened.id)
        assert await turn is StopReason.CANCELLED


async def test_a_second_turn_is_not_cancelled_by_the_cancel_of_the_first(tmp_path: Path) -> None:
    turns = [[{"say": "x"}, {"sleep": 60}], [{"end": {"error": {"code": 1, "message": "no"}}}]]
    async with linked(tmp_path, {"turns": turns}) as agent:
        turn = asyncio.ensure_future(agent.prompt())
        await until(lambda: agent.host.said == "x")
        assert agent.opened is not None
        await agent.link.cancel(agent.opened.id)
        await turn
        with pytest.raises(AgentFailed) as failed:
            await agent.prompt()
        assert (failed.value.step, failed.value.reason, failed.value.said) == ("prompt", "said", "no")
