"""Sessions of an agent's own: begun, told again, gone on with, listed; and who has to sign in first."""

import asyncio
from pathlib import Path

import pytest

from tests.agent.linked import linked, until
from vibekit_desktop.core.agent.link import CommandsChanged, Greeting, SessionNamed, TextArrived, TextPart, UserTextArrived
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentNotSignedIn, NotOffered
from vibekit_desktop.core.types.agents import SignIn, SignInKind, StopReason

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "all", "name": "All"}]}


async def test_a_session_that_is_told_again_reaches_nobody_but_who_asked(either_loop: object, tmp_path: Path) -> None:
    replay = [
        {"user": "please", "whole": True},
        {"say": "done it", "whole": True},
        {"write": "a.txt", "text": "new", "ask": True, "call": "c1"},
        {"shell": "ls", "via": "terminal"},
        {"read": "b.txt"},
        {"mode": "all"},
    ]
    async with linked(tmp_path, {"load": True, "replay": replay, "modes": MODES}) as agent:
        greeting = await agent.link.open()
        assert greeting.can_load
        session = await agent.link.load_session("old", str(agent.folder))
        assert session.id == "old"
        assert session.replayed[:2] == (UserTextArrived("please"), TextArrived("done it"))
        assert [event.status for event in session.replayed if getattr(event, "id", "") == "c1"] == ["pending", "failed"]
        assert session.options[0].value == "ask"  # the answer is newer than what was told before it
        assert not agent.host.calls  # nothing was done, nobody was asked
        assert not (agent.folder / "a.txt").exists()
        assert await agent.link.prompt("old", [TextPart("on")]) is StopReason.END
        assert agent.host.said == "nothing left to do"


async def test_a_session_that_is_gone_on_with_is_not_told_again(tmp_path: Path) -> None:
    steps = [{"say": "old words"}, {"commands": [["help", "tell"]]}, {"title": "Its name"}]
    script = {"resume": True, "on": {"session/resume": {"steps": steps}}}
    async with linked(tmp_path, script) as agent:
        await agent.link.open()
        session = await agent.link.resume_session("old", str(agent.folder))
        assert not session.replayed
        assert [type(event) for event in agent.host.events] == [CommandsChanged, SessionNamed]


async def test_what_is_told_before_the_id_of_a_new_session_is_known_belongs_to_it(tmp_path: Path) -> None:
    early = {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "a", "description": "b"}]}
    steps = [
        {"update": early, "session": "chosen"},
        {"title": "x", "session": "another"},
        {"end": {"result": {"sessionId": "chosen", "modes": MODES}}},
    ]
    script = {"on": {"session/new": {"steps": steps}}}
    async with linked(tmp_path, script) as agent:
        session = await agent.session()
        assert session.id == "chosen"
        assert [type(event) for event in agent.host.events] == [CommandsChanged]


async def test_a_fork_is_a_session_of_its_own(tmp_path: Path) -> None:
    async with linked(tmp_path, {"fork": True}) as agent:
        first = await agent.session()
        second = await agent.link.fork_session(first.id, str(agent.folder))
        assert second.id != first.id
        assert await agent.link.prompt(second.id, [TextPart("on")]) is StopReason.END


async def test_what_an_agent_cannot_is_not_asked_of_it(tmp_path: Path) -> None:
    async with linked(tmp_path, {}) as agent:
        greeting = await agent.link.open()
        assert greeting == Greeting(name="scripted-agent", title="Scripted agent", version="1.0")
        for request in (agent.link.load_session, agent.link.resume_session, agent.link.fork_session):
            with pytest.raises(NotOffered):
                await request("old", str(agent.folder))
        with pytest.raises(NotOffered):
            await agent.link.list_sessions(str(agent.folder))
        assert not agent.received("session/load")


async def test_a_session_that_the_agent_does_not_know_is_its_words(tmp_path: Path) -> None:
    async with linked(tmp_path, {"load": True, "knows": []}) as agent:
        await agent.link.open()
        with pytest.raises(AgentFailed) as failed:
            await agent.link.load_session("old", str(agent.folder))
        assert (failed.value.step, failed.value.reason, failed.value.said) == ("session", "said", "Resource not found")
        # What was told of it is not kept for the next one.
        assert not (await agent.link.new_session(str(agent.folder))).replayed


def listed(folder: Path | str, count: int) -> list[dict[str, object]]:
    return [
        {
            "sessionId": f"s{number}",
            "cwd": str(folder),
            "title": f"T{number}",
            "updatedAt": f"2026-01-{number % 28 + 1:02}T00:00:00Z",
        }
        for number in range(count)
    ]


async def test_the_sessions_of_a_folder_are_listed_newest_first(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    sessions = [
        *listed(folder, 3),
        {"sessionId": "else", "cwd": "/else"},
        {"sessionId": "l", "cwd": str(tmp_path / "link")},
        {"cwd": "/"},
        5,
    ]
    async with linked(tmp_path, {"list": True, "sessions": sessions, "page": 2}) as agent:
        await agent.link.open()
        found = await agent.link.list_sessions(str(folder))
        assert [one.id for one in found] == ["s2", "s1", "s0", "l"]
        assert (found[0].title, found[0].updated_at) == ("T2", 1767398400000)


async def test_an_endless_list_is_followed_for_ten_pages(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    async with linked(tmp_path, {"list": True, "sessions": listed(folder, 50), "page": 1}) as agent:
        await agent.link.open()
        assert len(await agent.link.list_sessions(str(folder))) == 10
        assert len(agent.received("session/list")) == 10


# -- signing in --------------------------------------------------------------------------------------------------

WAYS = [
    {"id": "web", "name": "Browser", "description": "Opens a page"},
    {"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": "THE_KEY"}, {"name": "THE_URL"}]},
    {"id": "term", "name": "Terminal", "type": "terminal", "args": ["--login"], "env": {"A": "b"}},
    {"id": "old", "name": "Older", "_meta": {"terminal-auth": {"command": "/bin/agent", "args": ["/login"]}}},
    {"name": "without an id"},
]


async def test_the_ways_to_sign_in_are_told(tmp_path: Path) -> None:
    async with linked(tmp_path, {"auth_methods": WAYS}) as agent:
        greeting = await agent.link.open()
        web, key, term, old = greeting.sign_in
        assert web == SignIn(id="web", name="Browser", description="Opens a page")
        assert (key.kind, key.variables) == (SignInKind.ENV, ("THE_KEY", "THE_URL"))
        assert term.kind is SignInKind.TERMINAL
        assert term.command[:2] == ("env", "A=b")
        assert term.command[-1] == "--login"
        assert any(word.endswith("scripted_agent.py") for word in term.command)
        assert (old.kind, old.command) == (SignInKind.TERMINAL, ("/bin/agent", "/login"))
        with pytest.raises(NotOffered):
            await agent.link.sign_in(key)


async def test_an_agent_signs_its_user_in(tmp_path: Path) -> None:
    async with linked(tmp_path, {"auth_methods": WAYS, "auth_required": True}) as agent:
        greeting = await agent.link.open()
        with pytest.raises(AgentNotSignedIn) as wanted:
            await agent.link.new_session(str(agent.folder))
        assert wanted.value.ways == ("Browser", "Key", "Terminal", "Older")
        assert wanted.value.said == "Authentication required"
        await agent.link.sign_in(greeting.sign_in[0])
        assert (await agent.link.new_session(str(agent.folder))).id


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            {"code": -32000, "message": "Gemini API key is missing or not configured."},
            "Gemini API key is missing or not configured.",
        ),
        (
            {"code": -32603, "message": "Internal error", "data": {"details": "Please login first"}},
            "Internal error: Please login first",
        ),
        ({"code": -32000, "message": "A", "data": {"authMethods": [{"id": "x", "name": "Theirs"}]}}, "A"),
    ],
)
async def test_an_error_that_means_it_asks_for_a_sign_in(error: dict[str, object], said: str, tmp_path: Path) -> None:
    async with linked(tmp_path, {"auth_methods": WAYS[:1], "on": {"session/new": {"error": error}}}) as agent:
        with pytest.raises(AgentNotSignedIn) as wanted:
            await agent.session()
        assert wanted.value.said == said
        assert wanted.value.ways == (("Theirs",) if "data" in error and "authMethods" in str(error) else ("Browser",))


async def test_a_sign_in_may_be_wanted_at_the_prompt(tmp_path: Path) -> None:
    async with linked(tmp_path, {"auth_required": "prompt"}) as agent:
        with pytest.raises(AgentNotSignedIn):
            await agent.prompt()


# -- others' sessions --------------------------------------------------------------------------------------------


async def test_only_tool_calls_of_helpers_are_taken_from_under_another_id(tmp_path: Path) -> None:
    turn = [
        {"say": "not ours", "session": "helper"},
        {"write": "a.txt", "text": "x", "ask": True, "call": "c1", "session": "helper"},
        {"say": "ours", "whole": True},
    ]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        await agent.prompt()
        assert agent.host.said == "ours"
        assert [tool.status for tool in agent.host.tools] == ["pending", "completed"]
        assert len(agent.host.asked("ask")) == 1


async def test_with_two_sessions_nothing_is_taken_under_a_third_id(tmp_path: Path) -> None:
    turn = [{"write": "a.txt", "text": "x", "session": "helper"}, {"ask": "may I", "session": "helper"}]
    async with linked(tmp_path, {"turns": [turn]}) as agent:
        await agent.session()
        await agent.link.new_session(str(agent.folder))
        await agent.prompt()
        assert not agent.host.tools
        assert not agent.host.asked("ask")
        assert not agent.host.asked("write")
        assert "refused: -32602" in agent.host.said


async def test_two_sessions_of_one_agent_answer_at_once(tmp_path: Path) -> None:
    turns = [[{"wait_for": "go"}, {"say": "first"}], [{"touch": "go"}, {"say": "second"}]]
    async with linked(tmp_path, {"turns": turns}) as agent:
        first = await agent.session()
        second = await agent.link.new_session(str(agent.folder))
        slow = asyncio.ensure_future(agent.link.prompt(first.id, [TextPart("a")]))
        await until(lambda: len(agent.received("session/prompt")) == 1)
        await agent.link.prompt(second.id, [TextPart("b")])
        await slow
        assert sorted(agent.host.said.split()) in (["first", "second"], ["firstsecond"], ["secondfirst"])
