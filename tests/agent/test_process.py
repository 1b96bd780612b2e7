"""What an agent's process is given of ours: its streams, its folder, the environment it is told, and nothing else."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.linked import linked, lives, until
from tests.arch.source import ROOT
from vibekit_desktop.core.agent import family
from vibekit_desktop.core.agent.environment import child_environment
from vibekit_desktop.core.disk.bounded_log import BoundedLog

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


def read(path: Path) -> object:
    return json.loads(path.read_text("utf-8"))


@linux
async def test_no_descriptor_of_ours_is_inherited(either_loop: object, tmp_path: Path) -> None:
    ends = os.pipe()
    for end in ends:
        os.set_inheritable(end, True)
    try:
        async with linked(tmp_path, {"start": [{"report": "fds", "to": str(tmp_path / "fds.json")}]}) as agent:
            await agent.link.open()
            assert read(tmp_path / "fds.json") == [0, 1, 2]
    finally:
        for end in ends:
            os.close(end)


async def test_the_environment_is_the_one_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "WORD": "ünï"}
    async with linked(tmp_path, {"start": [{"report": "env", "to": str(tmp_path / "env.json")}]}, env=env) as agent:
        await agent.link.open()
        told = read(tmp_path / "env.json")
    assert isinstance(told, dict)
    told.pop("LC_CTYPE", None)  # Python's own doing, where there is no locale
    assert told == env


@linux
async def test_it_runs_in_its_folder_and_in_a_group_of_its_own(tmp_path: Path) -> None:
    steps = [{"report": what, "to": str(tmp_path / f"{what}.json")} for what in ("pid", "group", "folder")]
    async with linked(tmp_path, {"start": steps}) as agent:
        await agent.link.open()
        assert read(tmp_path / "pid.json") == read(tmp_path / "group.json") == agent.link.pid
        assert read(tmp_path / "folder.json") == str(agent.folder)


async def test_every_start_is_told_in_the_log(tmp_path: Path) -> None:
    async with linked(tmp_path, {"start": [{"stderr": "hello"}]}) as agent:
        await agent.link.open()
    first, second = (tmp_path / "errors.log").read_text("utf-8").splitlines()
    assert f"Scripted, process {agent.link.pid}" in first
    assert second == "hello"


def test_nothing_of_the_protocol_is_imported_before_an_agent_is_started() -> None:
    """It costs most of a second, which the window and the command line do not have."""
    code = "import sys; import vibekit_desktop.app.wiring, vibekit_desktop.cli; sys.exit('acp' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


# -- families ----------------------------------------------------------------------------------------------------


@linux
async def test_a_family_is_what_a_process_started_and_nobody_else() -> None:
    line = "setsid sleep 600 & sleep 600 & echo $!; wait"
    shell = await asyncio.create_subprocess_exec("/bin/sh", "-c", line, stdout=-1, start_new_session=True)
    other = await asyncio.create_subprocess_exec("sleep", "600")
    try:
        leader = family.kin_of(shell.pid)
        assert leader is not None
        await until(lambda: len(family.family(leader)) == 2)
        found = family.family(leader)
        assert {os.getpid(), other.pid, shell.pid}.isdisjoint(kin.pid for kin in found)
        # The number of one that was given again is nobody's we know.
        assert not family.family(family.Kin(leader.pid, leader.started - 1))
        stranger = family.Kin(other.pid, -1)
        assert await asyncio.to_thread(family.end, [stranger, *found], 5.0)
        assert not [kin for kin in found if lives(kin.pid)]
        assert lives(other.pid)
    finally:
        other.kill()
        await other.wait()
        with contextlib.suppress(ProcessLookupError):  # it ends with the last of its children
            os.killpg(shell.pid, signal.SIGKILL)
        await shell.communicate()


@linux
def test_a_process_that_is_gone_is_no_kin() -> None:
    assert family.kin_of(2**22 + 5) is None
    assert family.end([family.Kin(2**22 + 5, 1)], 0.1)


# -- the log of errors -------------------------------------------------------------------------------------------


def test_a_bounded_log_keeps_the_newest_part(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "deep" / "er" / "a.log", limit_bytes=1000)
    for number in range(100):
        assert log.add(f"{number:03} {'x' * 45}\n".encode())
    new, old = tmp_path / "deep/er/a.log", tmp_path / "deep/er/a.log.1"
    text = old.read_text() + new.read_text()
    assert len(text) <= 1000
    assert len(text) > 500
    lines = text.splitlines()
    assert lines[-1].startswith("099")
    assert [int(line[:3]) for line in lines] == list(range(int(lines[0][:3]), 100))
    assert log.add(b"y" * 5000)
    assert new.read_bytes() == b"y" * 500


def test_a_link_in_the_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine", "utf-8")
    (tmp_path / "a.log").symlink_to(tmp_path / "target")
    assert not BoundedLog(tmp_path / "a.log").add(b"text")
    assert (tmp_path / "target").read_text("utf-8") == "mine"


# -- the environment ---------------------------------------------------------------------------------------------


def test_only_what_is_allowed_is_passed() -> None:
    base = {
        "HOME": "/h", "PATH": "/usr/bin", "LANG": "C", "LC_TIME": "C", "https_proxy": "p",
        "ANTHROPIC_API_KEY": "k", "PYTHONPATH": "/p", "LD_PRELOAD": "x", "QT_PLUGIN_PATH": "q", "XTERM": "t",
    }  # fmt: skip
    allowed = {"HOME": "/h", "PATH": "/usr/bin", "LANG": "C", "LC_TIME": "C", "https_proxy": "p"}
    assert child_environment(base) == allowed
    assert child_environment(base, passing=["ANTHROPIC_API_KEY", "NOT_THERE"]) == allowed | {"ANTHROPIC_API_KEY": "k"}
    assert child_environment(base, extra={"HOME": "/other", "NEW": "1"}) == allowed | {"HOME": "/other", "NEW": "1"}


def test_the_path_leads_neither_into_the_workspace_nor_into_our_bundle() -> None:
    base = {"PATH": os.pathsep.join(["", ".", "bin", "/usr/bin", "/app/usr/bin", "/app/../bin", "/appendix"]), "APPDIR": "/app"}
    assert child_environment(base)["PATH"] == os.pathsep.join(["/usr/bin", "/app/../bin", "/appendix"])


def test_a_bundle_gives_back_the_value_it_took() -> None:
    base = {"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/mine", "XDG_DATA_DIRS": "/b", "XDG_DATA_DIRS_ORIG": "/d"}
    assert child_environment(base) == {"XDG_DATA_DIRS": "/d"}
    assert child_environment(base, passing=["LD_LIBRARY_PATH"])["LD_LIBRARY_PATH"] == "/mine"
