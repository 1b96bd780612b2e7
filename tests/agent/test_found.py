"""Where agents are: on the PATH that is given and nowhere else, never inside of a workspace, never by a relative name."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.helpers.processes import words
from vibekit_desktop.core.agent import found
from vibekit_desktop.core.agent.login_shell import login_shell_path
from vibekit_desktop.core.disk.fs import Fs

FS = Fs()


def program(folder: Path, name: str, text: str = "#!/bin/sh\n", *, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


def path_of(*folders: Path | str, workspaces: tuple[str, ...] = ()) -> found.SearchPath:
    return found.search_path(os.pathsep.join(map(str, folders)), workspaces=workspaces, fs=FS)


def test_a_program_is_found_in_the_first_folder_that_has_it(tmp_path: Path) -> None:
    first, second = program(tmp_path / "a", "agent"), program(tmp_path / "b", "agent")
    path = path_of(tmp_path / "none", tmp_path / "a", tmp_path / "b")
    assert path.program("agent") == str(first)
    assert path_of(second.parent, first.parent).program("agent") == str(second)
    assert path.program("other") is None


def test_what_cannot_be_run_is_no_program(tmp_path: Path) -> None:
    program(tmp_path / "a", "agent", mode=0o644)
    (tmp_path / "b" / "agent").mkdir(parents=True)
    os.symlink("nowhere", tmp_path / "b" / "dangling")
    real = program(tmp_path / "c", "agent")
    assert path_of(tmp_path / "a", tmp_path / "b", tmp_path / "c").program("agent") == str(real)
    assert path_of(tmp_path / "b").program("dangling") is None


def test_relative_folders_are_never_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "agent")
    program(tmp_path / "bin", "agent")
    monkeypatch.chdir(tmp_path)
    path = path_of("", ".", "bin", "./bin", "~/bin", "../" + tmp_path.name)
    assert path.folders == ()
    assert path.program("agent") is None
    for name in ("./agent", "bin/agent", "", ".", "..", str(tmp_path / "agent")):
        assert path.program(name) is None, "only a bare name is looked for"


def test_folders_of_workspaces_are_never_searched_whatever_link_leads_there(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    planted = program(workspace / "node_modules" / ".bin", "agent")
    os.symlink(planted.parent, tmp_path / "link")
    os.symlink(workspace, tmp_path / "also-work")
    other = program(tmp_path / "work-tools", "agent")
    path = path_of(planted.parent, tmp_path / "link", workspace, other.parent, workspaces=(str(tmp_path / "also-work"),))
    assert path.program("agent") == str(other), "a name that only begins alike is another folder"
    assert path.inside == (str(planted.parent), str(tmp_path / "link"), str(workspace))


def test_a_child_gets_the_folders_of_workspaces_last_and_no_relative_one(tmp_path: Path) -> None:
    work, tools, own = tmp_path / "work" / ".venv" / "bin", tmp_path / "tools", tmp_path / "own"
    path = path_of(work, ".", tools, "", tools, workspaces=(str(tmp_path / "work"),))
    assert path.child(str(tools / "agent")) == f"{tools}:{work}"
    assert path.child(str(own / "agent")) == f"{own}:{tools}:{work}", "its own node is beside it"
    assert path.child(str(work / "agent")) == f"{tools}:{work}", "nothing of a workspace comes first"


def test_more_than_one_path_is_searched_one_after_the_other(tmp_path: Path) -> None:
    path = found.search_path(f"{tmp_path}/a:{tmp_path}/b", f"{tmp_path}/b:{tmp_path}/c", "", fs=FS)
    assert path.folders == (f"{tmp_path}/a", f"{tmp_path}/b", f"{tmp_path}/c")


def test_on_windows_the_shims_are_found_by_their_extensions() -> None:
    text = 'C:\\npm;"C:\\Program Files\\x";relative;\\rooted;C:here'
    path = found.search_path(text, fs=FS, extensions=".EXE;.CMD", windows=True)
    assert path.folders == ("C:\\npm", "C:\\Program Files\\x")
    there = {"C:\\npm\\opencode", "C:\\npm\\opencode.CMD", "C:\\Program Files\\x\\opencode.EXE", "C:\\npm\\a.cmd"}

    def find(name: str) -> str | None:
        return path.program(name, is_program=lambda full: full in there)

    assert find("opencode") == "C:\\npm\\opencode.CMD", "not the script beside it that is for another system"
    assert find("a.cmd") == "C:\\npm\\a.cmd"
    assert find("other") is None


def test_a_full_path_is_taken_as_it_is_given_and_a_relative_one_is_nobodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = program(tmp_path / "opt", "agent")
    monkeypatch.chdir(agent.parent)
    path = path_of()
    assert found.command((str(agent), "--acp"), path, home=tmp_path) == (str(agent), "--acp")
    assert found.command(("~/opt/agent", "-x"), path, home=tmp_path) == (str(agent), "-x")
    for other in (("./agent",), ("opt/agent",), ("agent",), (str(tmp_path / "none"),), (str(tmp_path),)):
        assert found.command(other, path, home=tmp_path) == ()


def test_another_program_in_the_same_place_has_another_stamp(tmp_path: Path) -> None:
    agent = program(tmp_path / "lib", "agent", "#!/bin/sh\necho 1\n")
    os.utime(agent, (499162500, 499162500))
    os.symlink(agent, tmp_path / "agent")
    link = str(tmp_path / "agent")
    before = found.stamp(link, FS)
    assert before
    assert found.stamp(link, FS) == before
    agent.unlink()
    program(tmp_path / "lib", "agent", "#!/bin/sh\necho 2\n")
    os.utime(agent, (499162500, 499162500))
    assert found.stamp(link, FS) != before, "although the date and the size are the same"
    agent.unlink()
    assert found.stamp(link, FS) == ""


def test_an_agent_that_ended_in_a_node_that_is_too_old_is_said_to(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "node_modules" / "@x" / "agent"
    script = program(package / "dist", "main.mjs")
    (package / "package.json").write_text('{"name": "@x/agent", "engines": {"node": ">=22.19.0"}}')
    (tmp_path / "bin").mkdir()
    os.symlink(script, tmp_path / "bin" / "agent")
    agent = str(tmp_path / "bin" / "agent")
    said = "SyntaxError: no export named 'x'\n\nNode.js v20.20.2"
    assert found.node_trouble(agent, said, FS) == "It ran in Node.js 20.20.2 and wants 22.19.0 or later."
    assert found.node_trouble(agent, "Node.js v22.19.0", FS) == ""
    assert found.node_trouble(agent, "no word of it", FS) == ""
    for text in ("{", "[]", '{"name": "x", "engines": {"node": "^18 || latest"}}', '{"name": "x", "engines": 7}', '{"a": 1}'):
        (package / "package.json").write_text(text)
        assert found.node_trouble(agent, said, FS) == ""


# -- the login shell -------------------------------------------------------------------------------------------------

posix = pytest.mark.skipif(sys.platform == "win32", reason="there is no login shell")


def ask(shell: Path | str, home: Path, *, limit_s: float = 5.0, **env: str) -> str:
    whole = {"PATH": os.defpath, "HOME": str(home), **env}
    return asyncio.run(login_shell_path(str(shell), whole, home, limit_s=limit_s))


@posix
def test_the_login_shell_says_the_path_that_its_files_make(home: Path) -> None:
    (home / ".bash_profile").write_text('echo hello; PATH="$HOME/.nvm/bin:$PATH"; . "$HOME/.bashrc"\n')
    (home / ".bashrc").write_text('case $- in *i*) PATH="$HOME/late:$PATH";; esac; printf "no newline"\n')
    assert ask("/bin/bash", home).split(":")[:2] == [f"{home}/late", f"{home}/.nvm/bin"]


@posix
def test_a_plain_shell_is_asked_too(home: Path) -> None:
    (home / ".profile").write_text('PATH="$PATH:/opt/x y/bin"\n')
    assert ask("/bin/sh", home).endswith(":/opt/x y/bin")


@posix
@pytest.mark.parametrize(
    "text",
    [
        "exit 3",
        "kill -9 $$",
        "exec true",
        "echo garbage; printf '\\377\\376\\000'; exit 0",
        "echo PATH=/wrong",
    ],
)
def test_a_shell_that_says_nothing_of_use_has_no_path(tmp_path: Path, home: Path, text: str) -> None:
    assert ask(program(tmp_path, "shell", f"#!/bin/sh\n{text}\n"), home) == ""


@posix
def test_what_is_no_shell_is_not_asked(tmp_path: Path, home: Path) -> None:
    told = tmp_path / "told"
    for name in ("tcsh", "csh", "nologin", "false"):
        assert ask(program(tmp_path / "bin", name, f"#!/bin/sh\ntouch {told}\n"), home) == ""
    assert ask("bash", home) == "", "by a full path only"
    assert ask("", home) == ""
    assert ask(tmp_path / "none", home) == ""
    assert ask(program(tmp_path, "text", "no program", mode=0o644), home) == ""
    assert not told.exists()


@posix
def test_garbage_around_the_answer_is_passed_over(tmp_path: Path, home: Path) -> None:
    (home / ".bash_profile").write_text("set -x; head -c 200000 /dev/urandom; echo __; PATH=/only/this\n")
    assert ask("/bin/bash", home, PATH="/usr/bin:/bin") == "/only/this"


@posix
def test_a_shell_that_does_not_answer_is_ended_with_what_it_started(tmp_path: Path, home: Path) -> None:
    pids = tmp_path / "pids"
    text = f"#!/bin/sh\nsleep 300 &\necho $! $$ > {pids}.new; mv {pids}.new {pids}\nwhile :; do read x || wait; done\n"
    assert ask(program(tmp_path, "shell", text), home, limit_s=1.0) == ""
    started = [int(word) for word in pids.read_text().split()]
    assert len(started) == 2
    try:
        assert not any(words(pid) for pid in started)
    finally:
        for pid in started:
            if words(pid):
                os.kill(pid, signal.SIGKILL)


@posix
def test_the_shell_has_no_terminal_and_is_in_the_home_folder(tmp_path: Path, home: Path) -> None:
    told = tmp_path / "told"
    (home / ".bash_profile").write_text(f"tty > {told}; pwd >> {told}; PATH=/x\n")
    assert ask("/bin/bash", home, PATH="/usr/bin:/bin") == "/x"
    assert told.read_text().splitlines() == ["not a tty", str(home)]
