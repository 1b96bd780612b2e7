"""Looking at agents over real pipes: what they are, whether they want a sign-in, and that none is left running."""

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.helpers import scripted_agent
from tests.helpers.processes import children_of_ours
from vibekit_desktop.core.agent.acp_link import AcpLink
from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.agent_meeting import LIMITS, Limits
from vibekit_desktop.core.services.agents import AgentService
from vibekit_desktop.core.types.agent_errors import AgentFailed, NotOffered
from vibekit_desktop.core.types.agents import AgentChoice, AgentInfo, AgentSession, AgentState, SignIn, SignInKind

T = TypeVar("T")
Script = dict[str, object]


class Computer:
    """A computer on which Gemini CLI is an agent that does what a script says."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self.environ = {"PATH": f"{folder}/bin", "HOME": str(home), "GEMINI_API_KEY": "k", "SECRET": "s"}

    def install(self, script: Script) -> str:
        words = scripted_agent.command(script, self.folder)
        program = self.folder / "bin" / "gemini"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)
        return str(program)

    def run(self, work: Callable[[AgentService], Awaitable[T]], limits: Limits = LIMITS) -> T:
        async def whole() -> T:
            data = self.folder / "data"
            agents = AgentService(
                Bus(),
                Fs(),
                data_dir=data,
                cache_dir=data / "cache",
                logs_dir=data / "logs",
                home=self.home,
                environ=self.environ,
                connect=lambda launch, host: AcpLink(launch, host, errors_to=data / "logs" / "agents"),
                from_desktop=False,
                limits=limits,
            )
            try:
                return await work(agents)
            finally:
                await agents.close()
                assert not children_of_ours("scripted_agent")

        return asyncio.run(whole())

    def check(self, script: Script, limits: Limits = LIMITS) -> AgentInfo:
        self.install(script)
        return self.run(lambda agents: agents.check("gemini"), limits)


@pytest.fixture
def computer(tmp_path: Path, home: Path) -> Computer:
    return Computer(tmp_path, home)


def test_an_agent_says_its_version_and_is_ready(computer: Computer) -> None:
    info = computer.check({"name": "gemini-cli", "title": "Gemini", "version": "9.8.7"})
    assert (info.state, info.version, info.problem) == (AgentState.READY, "9.8.7", "")
    assert info.name == "Gemini CLI", "the list's name, whatever it calls itself"


def test_it_is_given_its_own_key_what_everybody_is_given_and_no_secret(computer: Computer) -> None:
    told = computer.folder / "env.json"
    computer.check({"start": [{"report": "env", "to": str(told)}]})
    text = told.read_text()
    assert "GEMINI_API_KEY" in text
    assert "SECRET" not in text


def test_it_is_started_in_a_folder_of_ours_with_nothing_in_it(computer: Computer) -> None:
    told = computer.folder / "folder.json"
    computer.check({"start": [{"report": "folder", "to": str(told)}]})
    folder = computer.folder / "data" / "cache" / "agents" / "gemini"
    assert str(folder) in told.read_text()
    assert os.listdir(folder) == []


def test_an_agent_that_wants_a_sign_in_says_how_it_can_be_done(computer: Computer) -> None:
    methods = [
        {"id": "oauth", "name": "Log in", "description": "In the browser"},
        {"id": "login", "name": "Terminal", "type": "terminal", "args": ["login"]},
    ]
    script: Script = {"version": "1.0.0", "auth_required": True, "auth_methods": methods}
    info = computer.check(script)
    assert info.state is AgentState.NOT_SIGNED_IN
    assert info.sign_in[0] == SignIn(id="oauth", name="Log in", description="In the browser")
    assert info.sign_in[1].kind is SignInKind.TERMINAL
    assert info.sign_in[1].command[-1] == "login"
    assert info.problem == ""


def test_after_a_sign_in_it_is_ready(computer: Computer) -> None:
    computer.install({"auth_required": True, "auth_methods": [{"id": "oauth", "name": "Log in"}]})
    info = computer.run(lambda agents: agents.sign_in("gemini", "oauth"))
    assert info.state is AgentState.READY
    with pytest.raises(NotOffered):
        computer.run(lambda agents: agents.sign_in("gemini", "other"))


def test_a_sign_in_that_the_agent_refuses_fails(computer: Computer) -> None:
    error = {"code": -32603, "message": "the browser was closed"}
    methods = [{"id": "oauth", "name": "Log in"}]
    computer.install({"auth_required": True, "auth_methods": methods, "on": {"authenticate": {"error": error}}})
    with pytest.raises(AgentFailed) as failed:
        computer.run(lambda agents: agents.sign_in("gemini", "oauth"))
    assert "the browser was closed" in failed.value.said


def test_an_agent_that_crashes_at_once_is_quoted(computer: Computer) -> None:
    info = computer.check({"start": [{"stderr": "no config file\n"}, {"crash": 3}]})
    assert info.state is AgentState.FAILED
    assert info.problem.startswith("It ended by itself with status 3; what it wrote is in ")
    assert info.problem.endswith(" It said: no config file")


def test_a_program_that_is_no_agent_fails_in_time(computer: Computer) -> None:
    computer.install({})
    program = Path(computer.folder / "bin" / "gemini")
    program.write_text("#!/bin/sh\nwhile read x; do :; done\n")
    info = computer.run(lambda agents: agents.check("gemini"), Limits(check_s=0.5))
    assert (info.state, info.problem) == (AgentState.FAILED, "It gave no answer within 0.5 seconds.")
    program.write_bytes(b"\x7fELF nothing\n")
    info = computer.run(lambda agents: agents.check("gemini"))
    assert info.state is AgentState.FAILED
    assert "could not be started" in info.problem or "ended" in info.problem


@pytest.mark.parametrize("method", ["initialize", "session/new"])
def test_an_agent_that_hangs_is_ended(computer: Computer, method: str) -> None:
    script: Script = {"on": {method: "hang"}, "eof": "stay", "sigterm": "ignore"}
    info = computer.check(script, Limits(check_s=0.5))
    assert (info.state, info.problem) == (AgentState.FAILED, "It gave no answer within 0.5 seconds.")


def test_the_sessions_of_a_folder_are_listed(computer: Computer) -> None:
    work = str(computer.folder)
    sessions = [
        {"sessionId": "a", "cwd": work, "title": "First", "updatedAt": "2026-01-01T00:00:00Z"},
        {"sessionId": "b", "cwd": work, "title": "Second", "updatedAt": "2026-01-02T00:00:00Z"},
    ]
    computer.install({"list": True, "sessions": sessions})
    found = computer.run(lambda agents: agents.sessions(AgentChoice(name="gemini"), computer.folder))
    assert [(one.id, one.title) for one in found] == [("b", "Second"), ("a", "First")]
    assert isinstance(found[0], AgentSession)
    computer.install({})
    with pytest.raises(NotOffered):
        computer.run(lambda agents: agents.sessions(AgentChoice(name="gemini"), computer.folder))
