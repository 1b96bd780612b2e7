"""The running answer: kept once a second, gone when the answer is stored, recovered when it never was."""

import os
from pathlib import Path

import msgspec
import pytest

from tests.conftest import Clock
from tests.core.chat.world import C1, C2, World, said, user
from tests.core.checkpoint.world import Crash
from vibekit_desktop.core.chat import partial
from vibekit_desktop.core.chat.partial import Partial
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.types.chats import Message, ToolCall
from vibekit_desktop.core.types.errors import InvalidText


class Seconds:
    """A clock of seconds that stands still."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def running(world: World, seconds: Seconds) -> Partial:
    world.make(C1, user("u", turn=4))
    return Partial(world.chats, C1, turn=4, now_s=seconds)


def stored(world: World) -> str:
    path = world.active / f"{C1}.partial"
    return msgspec.json.decode(path.read_bytes(), type=Message).content if path.exists() else ""


def crashed(world: World, *messages: Message) -> None:
    """A process died while it got these, one after the other."""
    for message in messages:
        Partial(world.chats, C1, turn=4, now_s=lambda: 0.0).add(message)
    world.reopen()


def test_at_most_one_save_a_second(world: World, running: Partial, seconds: Seconds) -> None:
    assert running.add(said("a", "1"))
    assert not running.add(said("a", "12"))
    seconds.now += 0.99
    assert not running.add(said("a", "123"))
    assert stored(world) == "1"
    seconds.now += 0.01
    assert running.add(said("a", "1234"))
    assert stored(world) == "1234"
    assert not running.add(said("a", "12345"))
    assert running.flush()
    assert stored(world) == "12345"
    assert not running.flush()


def test_an_answer_of_nothing_makes_no_file_and_one_of_tools_alone_does(world: World, running: Partial) -> None:
    assert not running.add(said("a", ""))
    assert not (world.active / f"{C1}.partial").exists()
    assert running.add(msgspec.structs.replace(said("a", ""), tool_calls=(ToolCall(id="t"),)))
    assert (world.active / f"{C1}.partial").stat().st_mode & 0o777 == 0o600


def test_after_the_end_no_late_call_makes_the_file_again(world: World, running: Partial, seconds: Seconds) -> None:
    running.add(said("a", "1"))
    running.finish()
    seconds.now += 9
    assert not running.add(said("a", "12"))
    assert not running.flush()
    running.finish()
    assert not (world.active / f"{C1}.partial").exists()


def test_half_characters_are_refused(running: Partial) -> None:
    with pytest.raises(InvalidText):
        running.add(said("a", "\ud83d"))


def test_a_chat_that_was_deleted_meanwhile_gets_no_file(world: World, running: Partial) -> None:
    world.chats.delete(C1)
    assert not running.add(said("a", "1"))
    assert list(world.active.iterdir()) == []


def test_what_a_crash_interrupted_is_an_answer_and_an_event_that_says_so(world: World, clock: Clock) -> None:
    world.make(C1, user("u", turn=4))
    calls = (ToolCall(id="t", status="in_progress"), ToolCall(id="v", status="completed"))
    crashed(world, msgspec.structs.replace(said("a", "half"), tool_calls=calls, reasoning="hm"))
    clock.advance(5)
    assert partial.recover(world.chats) == [C1]
    prompt, answer, event = world.get().messages or ()
    assert (prompt.id, answer.id, answer.role, answer.content, answer.reasoning) == ("u", "a", "assistant", "half", "hm")
    assert [call.status for call in answer.tool_calls] == ["failed", "completed"]
    assert (event.role, event.event_kind) == ("event", "interrupted")
    assert (answer.turn, event.turn) == (4, 4)
    assert not (world.active / f"{C1}.partial").exists()
    assert partial.recover(world.chats) == []
    assert len(world.get().messages or ()) == 3


def test_an_answer_that_is_stored_already_is_not_stored_again(world: World) -> None:
    world.make(C1, user("u", turn=4))
    crashed(world, said("a", "half"))
    world.chats.append(C1, said("a", "whole"))
    assert partial.recover(world.chats) == []
    assert [message.content for message in world.get().messages or ()] == ["Do it.", "whole"]
    assert not (world.active / f"{C1}.partial").exists()


def test_an_answer_that_is_stored_in_a_part_is_not_stored_again(small: World) -> None:
    small.make(C1, user("u", turn=4))
    crashed(small, said("a", "half"))
    small.chats.append(C1, said("a", "x" * 9_000))
    assert small.get().messages == ()
    assert partial.recover(small.chats) == []
    assert small.chats.count(small.get()) == 2


def test_a_recovery_that_stopped_before_its_end_stores_a_huge_answer_once(small: World) -> None:
    small.make(C1, user("u", turn=4))
    crashed(small, said("a", "x" * 9_000))

    def stop(name: str) -> None:
        if name == "partial.recovered":
            raise Crash(name)

    with faults.armed(stop), pytest.raises(Crash):
        partial.recover(small.chats)
    assert (small.active / f"{C1}.partial").exists()
    assert partial.recover(small.chats) == []
    assert [message.role for message in small.chats.whole(small.get()).messages or ()] == ["user", "assistant", "event"]


def test_the_answer_of_a_turn_that_runs_is_left_alone(world: World) -> None:
    world.make(C1, user("u", turn=4))
    crashed(world, said("a", "half"))
    with TurnLock(world.fs, world.folder / "desktop", C1).hold(4):
        assert partial.recover(world.chats) == []
    assert stored(world) == "half"
    assert partial.recover(world.chats) == [C1]


MARK = b'"desktop_partial":1,'


@pytest.mark.parametrize("data", [b'"id":"../x","content":"x"}', b'"id":"a"}', b'"id":"a","ts":"x"}'])
def test_what_cannot_be_stored_is_kept_aside_and_hinders_no_other(world: World, data: bytes) -> None:
    world.make(C1, user("u"))
    world.make(C2, user("u"))
    crashed(world, said("a", "half"))
    world.plant(b"{" + MARK + data, f"{C2}.partial")
    assert partial.recover(world.chats) == [C1]
    assert (world.active / f"{C2}.recovered").read_bytes() == b"{" + MARK + data
    assert len(world.get(C2).messages or ()) == 1
    world.plant(b"{" + MARK + b'"id":"again"}', f"{C2}.partial")
    partial.recover(world.chats)
    assert (world.active / f"{C2}.recovered").read_bytes() == b"{" + MARK + data
    assert (world.active / f"{C2}.recovered-2").read_bytes() == b"{" + MARK + b'"id":"again"}'


FOREIGN = b'{"id":"a","ts":1,"content":"half of the original\'s"}'


@pytest.mark.parametrize("data", [b"", b"{broken", b"[]", FOREIGN, b"\xff" * 99, b'{"desktop_partial":"x"}'])
def test_what_is_not_ours_is_left_where_it_is_and_hinders_no_other(world: World, data: bytes) -> None:
    world.make(C1, user("u"))
    world.make(C2, user("u"))
    crashed(world, said("a", "half"))
    world.plant(data, f"{C2}.partial")
    assert partial.interrupted(world.chats) == [C1]
    assert partial.recover(world.chats, [C2]) == []
    assert partial.recover(world.chats) == [C1]
    assert (world.active / f"{C2}.partial").read_bytes() == data
    assert len(world.get(C2).messages or ()) == 1


@pytest.mark.parametrize("data", [FOREIGN, b"{" + MARK + b'"id":"earlier","content":"x"}'])
def test_an_answer_replaces_no_other_one(world: World, running: Partial, data: bytes) -> None:
    world.plant(data, f"{C1}.partial")
    running.add(said("a", "1"))
    assert stored(world) == "1"
    assert (world.active / f"{C1}.recovered").read_bytes() == data


@pytest.mark.parametrize("kind", ["folder", "fifo", "link"])
def test_something_else_in_its_place_is_left(world: World, tmp_path: Path, kind: str) -> None:
    world.make(C1, user("u"))
    path = world.active / f"{C1}.partial"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        (tmp_path / "other").write_bytes(b"{" + MARK + b'"id":"a","content":"planted"}')
        path.symlink_to(tmp_path / "other")
    assert partial.recover(world.chats) == []
    assert os.path.lexists(path)
    assert len(world.get().messages or ()) == 1


def test_a_sweep_that_takes_a_save_for_what_a_crash_left_costs_nothing(world: World, running: Partial) -> None:
    seen: list[str] = []

    def sweep(name: str) -> None:
        seen.append(name)
        if seen.count("atomic.rename") == 1 and name == "atomic.rename":
            world.sweep()

    with faults.armed(sweep):
        assert running.add(said("a", "1"))
    assert seen.count("atomic.rename") == 2
    assert stored(world) == "1"


def test_the_answer_of_a_damaged_chat_waits_and_that_of_a_deleted_one_goes(world: World, clock: Clock) -> None:
    world.make(C1, user("u"))
    crashed(world, said("a", "half"))
    whole = world.file(C1).read_bytes()
    world.file(C1).write_bytes(b"{broken")
    assert partial.recover(world.chats) == []
    assert stored(world) == "half"
    world.file(C1).write_bytes(whole)
    world.file(C1).unlink()
    world.chats.tombstones.add(C1)
    assert partial.recover(world.chats) == []
    assert not list(world.active.iterdir())


def test_the_answer_of_a_chat_that_is_lost_is_kept_aside(world: World) -> None:
    world.make(C1, user("u"))
    crashed(world, said("a", "half"))
    world.file(C1).unlink()
    assert partial.recover(world.chats) == []
    assert (world.active / f"{C1}.recovered").exists()


def test_the_answer_of_an_archived_chat_waits_until_it_is_back(world: World) -> None:
    world.make(C1, user("u"))
    crashed(world, said("a", "half"))
    world.archive.archive(C1)
    assert partial.recover(world.chats) == []
    world.archive.unarchive(C1)
    assert partial.recover(world.chats) == [C1]
