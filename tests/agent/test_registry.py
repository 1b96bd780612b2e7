"""The list of agents: what comes with the program is whole, and an own list changes it without being able to harm it."""

import json

import pytest

from vibekit_desktop.core.agent import registry
from vibekit_desktop.core.agent.registry import Registry


def own(*agents: object, **more: object) -> Registry:
    return registry.read(json.dumps({"agents": agents, **more}).encode())


def test_the_list_that_comes_with_the_program_is_whole() -> None:
    found = registry.read()
    assert not found.problems
    assert len(set(found.ids)) == len(found.ids) >= 12
    for entry in found.entries:
        assert entry.name
        assert entry.description
        assert entry.website.startswith("https://")
        assert entry.passing
        assert not entry.custom
        assert all(registry.is_bare(words[0]) for words in entry.programs), "no path of one machine"


def test_every_agent_is_found_by_its_id_its_name_and_what_people_call_it() -> None:
    found = registry.read()
    for text, agent in (
        ("claude-acp", "claude-acp"),
        ("Claude Agent", "claude-acp"),
        ("claude", "claude-acp"),
        (" CODEX ", "codex-acp"),
        ("opencode", "opencode"),
        ("Gemini CLI", "gemini"),
        ("copilot", "github-copilot-cli"),
    ):
        entry = found.find(text)
        assert entry is not None, text
        assert entry.id == agent
    assert found.find("") is None
    assert found.find("nobody") is None


def test_no_two_agents_of_the_list_can_be_meant_by_one_word() -> None:
    words: list[str] = []
    for entry in registry.read().entries:
        words += {entry.id, entry.name.casefold(), *(alias.casefold() for alias in entry.aliases)}
    assert len(set(words)) == len(words)


def test_the_history_of_claude_code_is_claude_agents() -> None:
    entry = registry.read().of_source("claude-code")
    assert entry is not None
    assert entry.id == "claude-acp"
    assert registry.read().of_source("") is None


def test_the_agents_that_have_a_mode_in_which_they_ask_are_put_into_it() -> None:
    modes = {entry.id: entry.ask_mode for entry in registry.read().entries if entry.ask_mode}
    assert modes == {
        "claude-acp": "default",
        "codex-acp": "read-only",
        "gemini": "default",
        "qwen-code": "default",
        "mistral-vibe": "ask",
    }


def test_opencode_is_told_to_ask_by_its_environment_whatever_its_files_say() -> None:
    entry = registry.read().find("opencode")
    assert entry is not None
    asked = {"edit": "ask", "bash": "ask"}
    assert json.loads(entry.env["OPENCODE_PERMISSION"]) == asked
    content = json.loads(entry.env["OPENCODE_CONFIG_CONTENT"])
    assert content == {"permission": asked, "agent": {"build": {"permission": asked}}}


def test_an_agent_is_passed_the_variables_that_its_patterns_name_and_no_others() -> None:
    entry = registry.read().find("gemini")
    assert entry is not None
    assert entry.passed(["GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "XGEMINI_", "gemini_api_key"]) == [
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ]
    many = registry.read().find("opencode")
    assert many is not None
    assert many.passed(["OPENROUTER_API_KEY", "STRIPE_API_KEY"]) == ["OPENROUTER_API_KEY"]
    assert not any("*" in pattern[:1] or pattern == "@models" for pattern in many.passing)


def test_an_own_agent_is_added_after_those_of_the_list() -> None:
    found = own(
        {
            "id": "mine",
            "name": "My agent",
            "desktop": {
                "programs": [["/opt/mine/agent", "--acp"], ["my-agent"]],
                "ask_mode": "careful",
                "ask_env": {"MINE_ASKS": "1"},
                "env": {"MINE": "x", "MINE_ASKS": "0"},
                "pass_env": ["MINE_*", "@models"],
            },
        }
    )
    entry = found.entries[-1]
    assert (entry.id, entry.name, entry.custom) == ("mine", "My agent", True)
    assert entry.programs == (("/opt/mine/agent", "--acp"), ("my-agent",))
    assert entry.env == {"MINE": "x", "MINE_ASKS": "1"}, "what makes it ask wins"
    assert entry.passed(["MINE_KEY", "OPENAI_API_KEY", "OTHER"]) == ["MINE_KEY", "OPENAI_API_KEY"]
    assert entry.ask_mode == "careful"
    assert not found.problems
    assert found.ids[:-1] == registry.read().ids


def test_an_own_agent_with_the_id_of_one_of_the_list_changes_only_what_it_says() -> None:
    found = own({"id": "gemini", "desktop": {"programs": [["~/bin/gemini", "--acp", "--debug"]], "env": {"GEMINI_MODEL": "m"}}})
    entry, before = found.find("gemini"), registry.read().find("gemini")
    assert entry is not None
    assert before is not None
    assert entry.programs == (("~/bin/gemini", "--acp", "--debug"),)
    assert entry.env == {"GEMINI_MODEL": "m"}
    assert (entry.name, entry.ask_mode, entry.install, entry.passing) == (
        before.name,
        "default",
        before.install,
        before.passing,
    )
    assert not entry.custom
    assert found.ids == registry.read().ids


def test_an_entry_of_the_registry_can_be_taken_as_it_is() -> None:
    found = own(
        {"id": "a", "name": "A", "version": "1.2.3", "distribution": {"npx": {"package": "a@1.2.3", "args": ["acp"]}}},
        {"id": "b", "name": "B", "icon": "./i.svg", "distribution": {"uvx": {"package": "b==1", "env": {"B": "1"}}}},
        {
            "id": "c",
            "name": "C",
            "distribution": {
                "binary": {
                    f"{system}-x86_64": {"archive": "https://example.org/c", "cmd": "./dist/c serve", "args": ["acp"]}
                    for system in ("linux", "darwin", "windows")
                }
            },
        },
    )
    assert [entry.programs for entry in found.entries[-3:]] == [
        (("npx", "-y", "a@1.2.3", "acp"),),
        (("uvx", "b==1"),),
        (("c", "serve", "acp"),),
    ]
    assert found.entries[-2].env == {"B": "1"}
    assert not found.problems


@pytest.mark.parametrize(
    "agent",
    [
        3,
        {},
        {"id": "No Such Id", "desktop": {"programs": [["x"]]}},
        {"id": "../x", "desktop": {"programs": [["x"]]}},
        {"id": "x" * 65, "desktop": {"programs": [["x"]]}},
        {"id": "x"},
        {"id": "x", "desktop": {"programs": [[]]}},
        {"id": "x", "desktop": {"programs": [[""]]}},
        {"id": "x", "desktop": {"programs": "x"}},
        {"id": "x", "desktop": {"programs": [["./x"]]}},
        {"id": "x", "desktop": {"programs": [["bin/x"]]}},
        {"id": "x", "desktop": {"programs": [[".."]]}},
        {"id": "x", "desktop": {"programs": [["x\0"]]}},
        {"id": "x", "desktop": {"programs": [["x"]], "env": {"A=B": "1"}}},
        {"id": "x", "desktop": {"programs": [["x"]], "env": {"A": 1}}},
        {"id": "x", "desktop": {"programs": [["x"]], "env": {"A": "\0"}}},
        {"id": "x", "desktop": {"programs": [["x"]], "pass_env": ["a b"]}},
        {"id": "x", "name": 3, "desktop": {"programs": [["x"]]}},
        {"id": "gemini", "desktop": {"ask_mode": ["yolo"]}},
        {"id": "gemini", "desktop": 7},
    ],
    ids=str,
)
def test_an_agent_that_cannot_be_one_is_told_and_hides_no_other(agent: object) -> None:
    found = own(agent, {"id": "good", "desktop": {"programs": [["good"]]}})
    assert found.ids == (*registry.read().ids, "good")
    assert len(found.problems) == 1
    assert found.problems[0].startswith("agent 1 of agents.json was left out: ")
    before, after = registry.read().find("gemini"), found.find("gemini")
    assert before == after, "one that is put over another badly leaves that one as it was"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"7", b'{"agents": 3}', b"\xff\xfe{}", b"[" * 100_000, b'{"agents":[' * 2000]
)
def test_a_damaged_own_list_is_told_and_leaves_the_list_that_comes_with_the_program(data: bytes) -> None:
    found = registry.read(data)
    assert found.entries == registry.read().entries
    assert len(found.problems) == 1


def test_a_command_that_runs_a_program_of_the_list_is_known_as_that_agent() -> None:
    found = own({"id": "mine", "desktop": {"programs": [["npx", "mine"], ["python3", "agent.py"]]}})
    for program in ("opencode", "/opt/opencode/bin/opencode", "C:\\x\\opencode.CMD"):
        entry = found.of_program(program)
        assert entry is not None
        assert entry.id == "opencode"
    for program in ("npx", "python3", "open", ""):
        assert found.of_program(program) is None
