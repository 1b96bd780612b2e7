"""The agents of a computer: found without starting any, looked at in order, remembered, started with what is allowed."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import ExpectedLogs
from tests.helpers.agents_here import Computer, FakeLink
from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.agent.link import Ask, Denied, Greeting, ToolChanged
from vibekit_desktop.core.services.agent_meeting import Limits
from vibekit_desktop.core.services.agents import AgentService
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentMissing, AgentNotSignedIn, NotOffered, UnknownAgent
from vibekit_desktop.core.types.agents import AgentChoice, AgentInfo, AgentSession, AgentState, SignIn, SignInKind
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.errors import CannotRead

BROWSER = SignIn(id="browser", name="Browser")
TERMINAL = SignIn(id="terminal", name="Terminal", kind=SignInKind.TERMINAL, command=("/bin/agent", "login"))


@pytest.fixture
def computer(tmp_path: Path, home: Path) -> Computer:
    return Computer(tmp_path, home)


# -- the list --------------------------------------------------------------------------------------------------------


def test_the_list_says_what_is_here_first_and_starts_nothing(computer: Computer) -> None:
    gemini, codex = computer.install("gemini"), computer.install("codex-acp")
    infos = computer.run(lambda agents: agents.list())
    assert [(info.id, info.state, info.command) for info in infos[:2]] == [
        ("codex-acp", AgentState.FOUND, (codex,)),
        ("gemini", AgentState.FOUND, (gemini, "--acp")),
    ]
    assert all(info.state is AgentState.NOT_INSTALLED and not info.command for info in infos[2:])
    opencode = next(info for info in infos if info.id == "opencode")
    assert opencode.install == "npm install -g opencode-ai"
    assert opencode.website == "https://opencode.ai"
    assert not computer.links
    assert os.listdir(computer.data) == [], "looking writes nothing"


def test_an_own_agent_is_in_the_list_and_a_damaged_list_of_ones_own_is_told(computer: Computer) -> None:
    mine = computer.install("mine", folder=computer.folder / "opt")
    computer.own({"id": "mine", "name": "Mine", "desktop": {"programs": [[mine, "-x"]]}})
    info = computer.listed("mine")
    assert (info.name, info.command, info.custom, info.state) == ("Mine", (mine, "-x"), True, AgentState.FOUND)
    (computer.data / "agents.json").write_text("{")

    async def both(agents: AgentService) -> tuple[int, Sequence[str]]:
        return len(await agents.list()), await agents.problems()

    count, problems = computer.run(both)
    assert count > 10
    assert len(problems) == 1
    (computer.data / "agents.json").unlink()
    (computer.data / "agents.json").mkdir()
    assert computer.run(both) == (count, ("agents.json was not read: not a regular file",))


def test_what_is_wrong_with_the_own_list_is_told_where_the_agent_asked_for_is_the_one(
    computer: Computer, expected_logs: ExpectedLogs
) -> None:
    computer.install("opencode")
    computer.install("gemini")
    computer.own({"id": "mine", "name": "Mine"}, {"id": "gemini", "desktop": 7})
    computer.run(lambda agents: agents.launchable(AgentChoice(name="opencode")))
    assert not expected_logs.records
    with pytest.raises(UnknownAgent) as unknown:
        computer.run(lambda agents: agents.launchable(AgentChoice(name="MINE")))
    assert unknown.value.problem.startswith("agent 1 of agents.json was left out: ")
    with pytest.raises(UnknownAgent) as unknown:
        computer.run(lambda agents: agents.launchable(AgentChoice(name="other")))
    assert not unknown.value.problem
    expected_logs.expect("agent 2 of agents.json was left out")
    computer.run(lambda agents: agents.launchable(AgentChoice(name="gemini")))
    assert len(expected_logs.records) == 1
    (computer.data / "agents.json").write_text("{")
    with pytest.raises(UnknownAgent) as unknown:
        computer.run(lambda agents: agents.launchable(AgentChoice(name="mine")))
    assert unknown.value.problem.startswith("agents.json was not read: ")


def test_a_program_inside_of_a_workspace_is_not_an_agent(computer: Computer) -> None:
    workspace = computer.folder / "work"
    computer.install("gemini", folder=workspace / "bin")
    computer.environ["PATH"] = f"{workspace}/bin:.:{computer.bin}"
    computer.workspaces = lambda: (str(workspace),)
    assert computer.listed("gemini").state is AgentState.NOT_INSTALLED
    real = computer.install("gemini")
    assert computer.listed("gemini").command == (real, "--acp")
    start = computer.run(lambda agents: agents.launchable(AgentChoice(name="gemini")))
    assert start.env["PATH"] == f"{computer.bin}:{workspace}/bin"


def test_a_library_that_cannot_be_read_hides_no_agent(computer: Computer) -> None:
    computer.install("gemini")

    def broken() -> Sequence[str]:
        raise CannotRead("library.json", "damaged")

    computer.workspaces = broken
    assert computer.listed("gemini").state is AgentState.FOUND


# -- how one is started ----------------------------------------------------------------------------------------------


def test_an_agent_is_started_with_its_own_variables_and_the_general_ones_only(computer: Computer) -> None:
    program = computer.install("opencode")
    computer.environ |= {"OPENCODE_CONFIG": "/c", "OPENCODE_PERMISSION": '{"edit":"allow"}', "LANG": "C", "GEMINI_API_KEY": "k"}
    start = computer.run(lambda agents: agents.launchable(AgentChoice(name="OpenCode")))
    assert start.command == start.info.command == (program, "acp")
    assert start.env["OPENCODE_CONFIG"] == "/c"
    assert start.env["GEMINI_API_KEY"] == "k"
    assert json.loads(start.env["OPENCODE_PERMISSION"])["edit"] == "ask", "what makes it ask is not the user's to forget"
    assert start.env["LANG"] == "C"
    assert "SECRET" not in start.env
    assert start.launch("/w") == Launch(name="OpenCode", command=(program, "acp"), folder="/w", env=start.env)
    computer.install("claude-agent-acp")
    claude = computer.run(lambda agents: agents.launchable(AgentChoice(name="claude")))
    assert claude.ask_mode == "default"
    assert "GEMINI_API_KEY" not in claude.env


def test_an_agent_that_nobody_knows_and_one_that_is_not_here_are_told_apart(computer: Computer) -> None:
    with pytest.raises(UnknownAgent) as unknown:
        computer.run(lambda agents: agents.launchable(AgentChoice(name="nobody")))
    assert "opencode" in unknown.value.known
    with pytest.raises(UnknownAgent):
        computer.run(lambda agents: agents.launchable(AgentChoice()))
    with pytest.raises(UnknownAgent):
        computer.run(lambda agents: agents.check("nobody"))
    with pytest.raises(AgentMissing) as missing:
        computer.run(lambda agents: agents.launchable(AgentChoice(name="opencode")))
    assert (missing.value.name, missing.value.install) == ("OpenCode", "npm install -g opencode-ai")
    with pytest.raises(AgentMissing) as missing:
        computer.run(lambda agents: agents.launchable(AgentChoice(command=("./opencode", "acp"))))
    assert missing.value.name == "./opencode"


def test_an_own_command_is_used_as_it_is(computer: Computer) -> None:
    mine = computer.install("my-agent")
    computer.environ["OPENAI_API_KEY"] = "k"
    start = computer.run(lambda agents: agents.launchable(AgentChoice(command=("my-agent", "--stdio", "a b"))))
    assert start.command == (mine, "--stdio", "a b")
    assert (start.info.id, start.info.name, start.info.custom) == ("", "my-agent", True)
    assert not start.ask_mode
    assert "OPENAI_API_KEY" not in start.env, "nobody knows that it is for it"


def test_an_own_command_that_runs_an_agent_of_the_list_is_asked_to_ask_as_well(computer: Computer) -> None:
    other = computer.install("opencode", folder=computer.folder / "opt")
    computer.environ["OPENCODE_API_KEY"] = "k"
    start = computer.run(lambda agents: agents.launchable(AgentChoice(name="Mine", command=(other, "acp", "--pure"))))
    assert start.command == (other, "acp", "--pure")
    assert (start.info.id, start.info.name) == ("", "Mine")
    assert "OPENCODE_PERMISSION" in start.env
    assert start.env["OPENCODE_API_KEY"] == "k"
    assert start.env["PATH"] == f"{computer.folder}/opt:{computer.bin}"


def test_a_chat_is_answered_by_the_agent_that_was_chosen_or_whose_history_it_is(computer: Computer) -> None:
    async def choices(agents: AgentService) -> list[AgentChoice | None]:
        chats = (
            Chat(id="a", agent_id="gemini", source="claude-code"),
            Chat(id="b", agent="Mine", agent_command=("mine", "-x"), agent_id="gemini"),
            Chat(id="c", source="claude-code", agent="Claude Code"),
            Chat(id="d", agent="Claude Code"),
            Chat(id="e", source="other"),
            Chat(id="f"),
        )
        return [agents.choice_of(chat) for chat in chats]

    assert computer.run(choices) == [
        AgentChoice(name="gemini"),
        AgentChoice(name="Mine", command=("mine", "-x")),
        AgentChoice(name="claude-acp"),
        None,
        None,
        None,
    ]


# -- looking at one --------------------------------------------------------------------------------------------------


def test_a_check_says_what_an_agent_is_ends_it_and_is_remembered_by_the_next_process(computer: Computer) -> None:
    computer.install("gemini")
    computer.make = lambda link: setattr(link, "greeting", Greeting(version="0.61.0", sign_in=(BROWSER,)))
    info = computer.check("Gemini CLI")
    assert (info.state, info.version, info.problem, info.sign_in) == (AgentState.READY, "0.61.0", "", (BROWSER,))
    assert computer.events == [info]
    (link,) = computer.links
    assert link.calls == ["open", "new_session"]
    assert link.closed
    assert Path(link.launch.folder).is_relative_to(computer.data / "cache")
    assert computer.listed("gemini") == info
    assert len(computer.links) == 1, "without starting it again"
    computer.install("gemini", "#!/bin/sh\n# a later one\n")
    assert computer.listed("gemini").state is AgentState.FOUND
    assert computer.listed("gemini").version == ""


def test_an_agent_that_wants_a_sign_in_says_so(computer: Computer) -> None:
    computer.install("gemini")

    def make(link: FakeLink) -> None:
        link.greeting = Greeting(version="1.0.0", sign_in=(BROWSER, TERMINAL))
        link.fails["new_session"] = AgentNotSignedIn("Gemini CLI", ["Browser"], "API key is missing.")

    computer.make = make
    info = computer.check("gemini")
    assert (info.state, info.version, info.sign_in) == (AgentState.NOT_SIGNED_IN, "1.0.0", (BROWSER, TERMINAL))
    assert info.problem == ""
    assert computer.listed("gemini") == info, "ways to sign in are remembered too"


def test_an_agent_that_has_no_way_to_sign_in_is_quoted(computer: Computer) -> None:
    computer.install("auggie")
    computer.make = lambda link: link.fails.update(
        new_session=AgentNotSignedIn("Auggie", [], "Please run `auggie login`\nfrom your terminal.")
    )
    info = computer.check("auggie")
    assert info.state is AgentState.NOT_SIGNED_IN
    assert info.problem == "Please run `auggie login` from your terminal."


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (AgentFailed("x", "start", "Exec format error"), "It could not be started: Exec format error."),
        (AgentFailed("x", "handshake", "exit", status=1, said="a\nboom"), "It ended by itself with status 1; "),
        (AgentFailed("x", "handshake", "exit", status=-9), "It ended by itself, killed; "),
        (AgentFailed("x", "handshake", "silent"), "It gave no answer to its handshake."),
        (AgentFailed("x", "handshake", "protocol"), "It does not speak the protocol as it should; "),
        (AgentFailed("x", "handshake", "flood"), "It sent more than can be read."),
        (AgentFailed("x", "session", "said", said="Internal error"), "It could not do its session. It said: Internal error"),
    ],
    ids=lambda value: value.reason if isinstance(value, AgentFailed) else "",
)
def test_an_agent_that_fails_is_a_state_with_a_reason_and_the_next_process_tries_anew(
    computer: Computer, error: AgentFailed, words: str
) -> None:
    computer.install("gemini")
    computer.make = lambda link: link.fails.update({"new_session" if error.step == "session" else "open": error})

    async def work(agents: AgentService) -> AgentInfo:
        info = await agents.check("gemini")
        assert [one for one in await agents.list() if one.id == "gemini"] == [info]
        start = await agents.launchable(AgentChoice(name="gemini"))
        assert (start.info.state, start.info.problem) == (AgentState.FOUND, "")
        return info

    info = computer.run(work)
    assert info.state is AgentState.FAILED
    assert info.problem.startswith(words)
    assert ("It said: " in info.problem) == bool(error.said)
    assert computer.links[0].closed
    assert computer.listed("gemini").state is AgentState.FOUND


def test_an_agent_that_does_not_answer_is_given_up_and_ended(computer: Computer) -> None:
    computer.install("gemini")
    computer.limits = Limits(check_s=0.05)
    computer.make = lambda link: link.waits.update(open=asyncio.Event())
    info = computer.check("gemini")
    assert (info.state, info.problem) == (AgentState.FAILED, "It gave no answer within 0.05 seconds.")
    assert computer.links[0].closed


def test_what_an_agent_asks_while_it_is_only_looked_at_is_denied(computer: Computer) -> None:
    computer.install("gemini")
    asked: list[str | None] = []

    async def work(agents: AgentService) -> None:
        await agents.check("gemini")
        host = computer.links[0].host
        host.event(ToolChanged(id="t"))
        asked.append(await host.ask(Ask(tool=ToolChanged(id="t"), options=())))
        for request in (
            host.read("/etc/passwd", None, None),
            host.write("/tmp/x", "y"),
            host.create_terminal("ls", (), None, (), None),
            host.terminal_output("t"),
            host.wait_for_exit("t"),
            host.kill_terminal("t"),
            host.release_terminal("t"),
        ):
            with pytest.raises(Denied):
                await request

    computer.run(work)
    assert asked == [None]


def test_an_agent_is_looked_at_once_at_a_time_and_two_agents_at_most_together(computer: Computer) -> None:
    names = {"gemini": "gemini", "opencode": "opencode", "qwen": "qwen-code", "auggie": "auggie"}
    for name in names:
        computer.install(name)
    gate = asyncio.Event()
    computer.make = lambda link: link.waits.update(open=gate)

    async def work(agents: AgentService) -> list[AgentInfo]:
        checks = [asyncio.create_task(agents.check(agent)) for agent in (*names.values(), "gemini", "Gemini CLI")]
        await computer.arrived.acquire()
        await computer.arrived.acquire()
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(computer.links) == 2
        gate.set()
        return await asyncio.gather(*checks)

    infos = computer.run(work)
    assert [info.state for info in infos] == [AgentState.READY] * 6
    assert sorted(link.launch.name for link in computer.links) == ["Auggie", "Gemini CLI", "OpenCode", "Qwen Code"]
    assert infos[0] == infos[4] == infos[5]


def test_whoever_stops_waiting_for_a_check_does_not_stop_it_for_the_others(computer: Computer) -> None:
    computer.install("gemini")
    gate = asyncio.Event()
    computer.make = lambda link: link.waits.update(open=gate)

    async def work(agents: AgentService) -> AgentInfo:
        first, second = asyncio.create_task(agents.check("gemini")), asyncio.create_task(agents.check("gemini"))
        await computer.arrived.acquire()
        first.cancel()
        await asyncio.wait({first})
        assert not computer.links[0].closed
        gate.set()
        return await second

    assert computer.run(work).state is AgentState.READY


def test_closing_ends_the_agents_that_are_being_looked_at(computer: Computer) -> None:
    computer.install("gemini")
    computer.make = lambda link: link.waits.update(open=asyncio.Event())

    async def work(agents: AgentService) -> None:
        check = asyncio.create_task(agents.check("gemini"))
        await computer.arrived.acquire()
        await agents.close()
        assert computer.links[0].closed
        await asyncio.wait({check})
        assert check.cancelled()

    computer.run(work)


def test_checking_an_agent_that_is_not_here_says_so(computer: Computer) -> None:
    info = computer.check("opencode")
    assert (info.state, info.install) == (AgentState.NOT_INSTALLED, "npm install -g opencode-ai")
    assert not computer.links


# -- what others learn of one ----------------------------------------------------------------------------------------


def test_what_a_start_showed_is_remembered_and_told_once(computer: Computer) -> None:
    computer.install("gemini")

    async def work(agents: AgentService) -> AgentInfo:
        await agents.list()
        start = await agents.launchable(AgentChoice(name="gemini"))
        agents.learned(replace(start.info, version="2.0.0", state=AgentState.READY, problem="of before"))
        agents.learned(replace(start.info, version="2.0.0", state=AgentState.READY))
        agents.learned(AgentInfo(id="", name="mine", state=AgentState.READY))
        return next(info for info in await agents.list() if info.id == "gemini")

    info = computer.run(work)
    assert (info.version, info.state, info.problem) == ("2.0.0", AgentState.READY, "")
    assert computer.events == [info]
    assert computer.listed("gemini") == info


def test_two_processes_remember_what_each_of_them_learned(computer: Computer) -> None:
    computer.install("gemini")
    computer.install("opencode")

    async def work(agents: AgentService) -> None:
        await agents.list()
        await asyncio.to_thread(other.check, "opencode")
        await agents.check("gemini")

    other = computer.again()
    computer.run(work)
    assert computer.listed("opencode").state is AgentState.READY
    assert computer.listed("gemini").state is AgentState.READY


@pytest.mark.parametrize("data", ["{", "[]", '{"agents": {"gemini": {"stamp": 7}}}', "\0" * 100])
def test_a_damaged_cache_is_only_forgotten(computer: Computer, data: str) -> None:
    computer.install("gemini")
    computer.check("gemini")
    (computer.data / "cache" / "agents.json").write_text(data)
    assert computer.listed("gemini").state is AgentState.FOUND
    assert computer.check("gemini").state is AgentState.READY
    assert computer.listed("gemini").state is AgentState.READY


# -- signing in ------------------------------------------------------------------------------------------------------


def wants_sign_in(link: FakeLink) -> None:
    link.greeting = Greeting(version="1.0.0", sign_in=(BROWSER, TERMINAL), can_list=True)
    link.fails["new_session"] = AgentNotSignedIn("x", ["Browser"], "sign in")


def test_an_agent_signs_its_user_in_and_is_ready_then(computer: Computer) -> None:
    computer.install("gemini")
    computer.make = wants_sign_in
    info = computer.run(lambda agents: agents.sign_in("gemini", "browser"))
    assert info.state is AgentState.READY
    assert computer.events == [info]
    assert computer.links[0].calls == ["open", "sign_in browser", "new_session"]
    assert computer.links[0].closed
    assert computer.listed("gemini").state is AgentState.READY


@pytest.mark.parametrize("way", ["terminal", "nothing", ""])
def test_a_way_that_is_not_the_agents_own_to_go_is_not_offered(computer: Computer, way: str) -> None:
    computer.install("gemini")
    computer.make = wants_sign_in
    with pytest.raises(NotOffered):
        computer.run(lambda agents: agents.sign_in("gemini", way))
    assert computer.links[0].calls == ["open"]
    assert computer.links[0].closed


def test_a_sign_in_that_fails_or_never_ends_says_so_and_ends_the_agent(computer: Computer) -> None:
    computer.install("gemini")

    def fails(link: FakeLink) -> None:
        wants_sign_in(link)
        link.fails["sign_in browser"] = AgentFailed("x", "sign-in", "said", said="no")

    computer.make = fails
    with pytest.raises(AgentFailed):
        computer.run(lambda agents: agents.sign_in("gemini", "browser"))

    def hangs(link: FakeLink) -> None:
        wants_sign_in(link)
        link.waits["sign_in browser"] = asyncio.Event()

    computer.make, computer.limits = hangs, Limits(sign_in_s=0.05)
    with pytest.raises(AgentFailed) as silent:
        computer.run(lambda agents: agents.sign_in("gemini", "browser"))
    assert (silent.value.step, silent.value.reason) == ("sign-in", "silent")
    assert all(link.closed for link in computer.links)
    with pytest.raises(AgentMissing):
        computer.run(lambda agents: agents.sign_in("opencode", "x"))


# -- its sessions ----------------------------------------------------------------------------------------------------


def test_the_sessions_of_a_workspace_come_newest_first(computer: Computer) -> None:
    """Which these are the link has found out, however their folders are spelled."""
    computer.install("gemini")
    work = computer.folder / "work"

    def make(link: FakeLink) -> None:
        link.greeting = Greeting(can_list=True)
        link.kept = (
            AgentSession(id="old", title="Old", workspace=str(work), updated_at=1),
            AgentSession(id="linked", title="By a link", workspace="/elsewhere", updated_at=9),
            AgentSession(id="new", title="New", workspace=f"{work}/", updated_at=5),
            AgentSession(id="unsaid", title="", workspace="", updated_at=3),
        )

    computer.make = make
    found = computer.run(lambda agents: agents.sessions(AgentChoice(name="gemini"), work))
    assert [one.id for one in found] == ["linked", "new", "unsaid", "old"]
    assert computer.links[0].launch.folder == str(work)
    assert computer.links[0].closed


def test_an_agent_that_lists_no_sessions_is_not_asked(computer: Computer) -> None:
    computer.install("gemini")
    with pytest.raises(NotOffered):
        computer.run(lambda agents: agents.sessions(AgentChoice(name="gemini"), computer.folder))
    assert computer.links[0].calls == ["open"]
    assert computer.links[0].closed
    computer.make, computer.limits = lambda link: link.waits.update(open=asyncio.Event()), Limits(sessions_s=0.05)
    with pytest.raises(AgentFailed):
        computer.run(lambda agents: agents.sessions(AgentChoice(command=("gemini",)), computer.folder))


# -- the login shell -------------------------------------------------------------------------------------------------


def shell(computer: Computer, text: str) -> Path:
    """A shell for the user; whoever asks it leaves a line in the file that is returned."""
    asked = computer.folder / "asked"
    path = computer.install("sh-of-mine", f'#!/bin/sh\necho x >> {asked}\n{text}\neval "$4"\n', folder=computer.folder / "etc")
    computer.environ["SHELL"] = path
    return asked


def test_started_by_a_desktop_the_login_shell_is_asked_once_where_programs_are(computer: Computer) -> None:
    computer.from_desktop = True
    asked = shell(computer, f"PATH={computer.folder}/nvm:/usr/bin:/bin")
    gemini = computer.install("gemini", folder=computer.folder / "nvm")
    computer.install("opencode")

    async def work(agents: AgentService) -> dict[str, AgentInfo]:
        first, _ = await asyncio.gather(agents.launchable(AgentChoice(name="gemini")), agents.list())
        assert first.env["PATH"].split(":") == [f"{computer.folder}/nvm", "/usr/bin", "/bin", str(computer.bin)]
        return {info.id: info for info in await agents.list()}

    infos = computer.run(work)
    assert infos["gemini"].command == (gemini, "--acp")
    assert infos["opencode"].state is AgentState.FOUND, "what the desktop itself knows counts too"
    assert asked.read_text() == "x\n"


def test_started_in_a_terminal_no_shell_is_asked(computer: Computer) -> None:
    asked = shell(computer, "")
    computer.run(lambda agents: agents.list())
    assert not asked.exists()


def test_the_list_does_not_wait_for_a_slow_shell_and_what_it_finds_is_told(computer: Computer) -> None:
    computer.limits = Limits(shell_s=0.01)
    computer.from_desktop = True
    go = computer.folder / "go"
    os.mkfifo(go)
    shell(computer, f"read x < {go}; PATH={computer.folder}/nvm:/usr/bin:/bin")
    gemini = computer.install("gemini", folder=computer.folder / "nvm")

    async def work(agents: AgentService) -> None:
        first = {info.id: info for info in await agents.list()}
        assert first["gemini"].state is AgentState.NOT_INSTALLED
        await asyncio.to_thread(go.write_text, "go\n")
        await agents.launchable(AgentChoice(name="gemini"))  # this one waits for it

    computer.run(work)
    assert [(info.id, info.command) for info in computer.events] == [("gemini", (gemini, "--acp"))]


def test_a_shell_that_is_no_help_is_done_without(computer: Computer) -> None:
    computer.from_desktop = True
    shell(computer, "exit 1")
    computer.install("gemini")
    assert computer.listed("gemini").state is AgentState.FOUND
    computer.environ["SHELL"] = ""
    assert computer.listed("gemini").state is AgentState.FOUND
