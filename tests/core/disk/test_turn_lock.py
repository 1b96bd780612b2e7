"""A turn that a process of ours runs keeps restores of its vault waiting, and no longer than it lives."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.world import A, B, World
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock, running_turns
from vibekit_desktop.core.types.errors import Busy

_HOLDER = """
import sys
from pathlib import Path
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock
with TurnLock(Fs(), Path(sys.argv[1]), sys.argv[2]).hold(6):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def running(desktop: Path, chat: str) -> Iterator["subprocess.Popen[str]"]:
    """Another process that runs turn 6 of a chat."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(desktop), chat], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_running_turn_is_seen_by_others_and_ends_with_its_process(tmp_path: Path) -> None:
    lock = TurnLock(Fs(), tmp_path, "chat")
    assert running_turns(Fs(), tmp_path) == []
    with running(tmp_path, "chat"):
        assert running_turns(Fs(), tmp_path) == [("chat", "6")]
        with pytest.raises(Busy, match="turn 6 of this chat"), lock.hold(7):
            pytest.fail("two turns of one chat")
    assert lock.running() == ""
    with lock.hold(7):
        pass


@pytest.mark.parametrize("chat", [A, B])
def test_no_restore_goes_into_a_running_turn_of_its_vault(tmp_path: Path, clock: Clock, chat: str) -> None:
    world = World(tmp_path, clock)
    world.write("a", b"0")
    world.turn({"a": b"1"})
    plan = world.plan("before:1")
    with running(world.vault.desktop, chat), pytest.raises(Busy, match=f"turn 6 of chat {chat}"):
        world.do(plan)
    assert world.disk() == {"a": b"1"}
    assert world.do(plan).restored == ("a",)
