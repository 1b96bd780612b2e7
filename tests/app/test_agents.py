"""The verb ``agents``: a table for people, an object for programs, and nothing started unless that is asked for."""

import argparse
import asyncio
import json

import pytest

from tests.helpers.fake_core import FakeCore
from vibekit_desktop.cli.agents import agents
from vibekit_desktop.core.types.agents import AgentInfo, AgentState, SignIn, SignInKind

GEMINI = AgentInfo(
    id="gemini",
    name="Gemini CLI",
    state=AgentState.NOT_SIGNED_IN,
    command=("/opt/my tools/gemini", "--acp"),
    version="0.61.0",
    website="https://example.org",
    sign_in=(
        SignIn(id="oauth", name="Log in with Google"),
        SignIn(id="key", name="API key", kind=SignInKind.ENV, variables=("GEMINI_API_KEY",)),
        SignIn(id="tty", name="Terminal", kind=SignInKind.TERMINAL, command=("/opt/my tools/gemini", "login")),
    ),
)
OPENCODE = AgentInfo(id="opencode", name="OpenCode", state=AgentState.NOT_INSTALLED, install="npm install -g opencode-ai")
CURSOR = AgentInfo(id="cursor", name="Cursor", state=AgentState.NOT_INSTALLED, website="https://example.org/cursor")
MINE = AgentInfo(id="mine", name="Mi\x1bne", state=AgentState.FAILED, command=("/m",), problem="It ended.", custom=True)


@pytest.fixture
def fake() -> FakeCore:
    fake = FakeCore()
    fake.agents.found = [GEMINI, MINE, OPENCODE, CURSOR]
    return fake


def call(fake: FakeCore, *, as_json: bool = False, check: bool = False) -> int:
    return asyncio.run(agents(fake.core, argparse.Namespace(json=as_json, check=check)))


def test_people_read_what_is_here_what_is_wrong_with_it_and_how_to_get_the_rest(
    fake: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(fake) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "agent state version command",
        "Gemini CLI not signed in 0.61.0 '/opt/my tools/gemini' --acp",
        "Mi\\x1bne does not start /m",
        "OpenCode not installed install: npm install -g opencode-ai",
        "Cursor not installed see https://example.org/cursor",
        "Gemini CLI: sign in with Log in with Google",
        "Gemini CLI: sign in with API key: set GEMINI_API_KEY",
        "Gemini CLI: sign in with Terminal: run `'/opt/my tools/gemini' login` in a terminal",
        "Mi\\x1bne: It ended.",
    ]
    assert fake.agents.calls == [("list", ())]


def test_programs_read_an_object(fake: FakeCore, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert call(fake, as_json=True) == 0
    gemini, mine, opencode, _ = json.loads(capsysbinary.readouterr().out)["agents"]
    assert gemini["command"] == ["/opt/my tools/gemini", "--acp"]
    assert (gemini["name"], gemini["state"], gemini["version"], gemini["id"]) == (
        "Gemini CLI",
        "not-signed-in",
        "0.61.0",
        "gemini",
    )
    assert [way["kind"] for way in gemini["sign_in"]] == ["agent", "env", "terminal"]
    assert (mine["problem"], mine["custom"], mine["version"]) == ("It ended.", True, None)
    assert (opencode["command"], opencode["install"]) == (None, "npm install -g opencode-ai")


def test_with_check_what_is_here_is_started_first(fake: FakeCore) -> None:
    assert call(fake, check=True) == 0
    assert fake.agents.calls == [("list", ()), ("check", ("gemini",)), ("check", ("mine",))]
