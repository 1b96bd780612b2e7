"""Faults that came out when real processes were driven against each other at random; each with the smallest way to it."""

import pytest

from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.world import A, B, World
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import RestoreKind, Scope
from vibekit_desktop.core.types.errors import CannotWrite
from vibekit_desktop.core.types.ids import WorkspacePath


def test_an_entry_that_only_cuts_the_transcript_is_a_point_of_the_files_too(world: World, hooks: Hooks) -> None:
    """There was no look before it: a change from before it seemed to have come later."""
    world.write("a", b"a0")
    hooks.begin()
    hooks.record("a", b"a1")
    hooks.end()
    world.write("a", b"by hand")
    world.restore("before:1", scope=Scope.CHAT)
    world.write("a", b"later")
    world.do(world.plan(None, kind=RestoreKind.UNDO, scope=Scope.BOTH))
    hooks.begin()
    assert [world.at(point, "a") for point in ("after:1", "entry:1", "entry:2")] == [b"a1", b"by hand", b"later"]
    assert world.read("a") == b"later"
    assert world.transcripts.chats[A][:2] == [1, 0]


def test_a_write_still_on_its_way_when_a_transcript_is_cut_is_the_agents(world: World, hooks: Hooks) -> None:
    """A cut counts as a moment at which every announced write was looked for; so they must be looked for."""
    world.write("a", b"a0")
    hooks.begin()
    hooks.record("a", b"a1", do=False)
    world.restore("before:1", scope=Scope.CHAT)
    world.write("a", b"a1")
    hooks.end()
    lines = [(line.author, line.how) for line in hooks.lines() if line.path == "a" and line.type == "observed"]
    assert lines == [("agent", "settle"), ("agent", "scan")]


def test_what_a_person_wrote_stays_theirs_when_an_announced_write_over_it_is_not_done(world: World, hooks: Hooks) -> None:
    """The line that closes such a write is by the agent: it made the content count as what the chat had left."""
    world.write("a", b"a0")
    hooks.begin()
    world.write("a", b"by hand")
    hooks.record("a", b"a1", do=False)
    hooks.end()
    assert world.actions(world.plan("before:1")) == {"a": "leave:changed-since"}
    assert world.at("after:1", "a") == b"by hand"


def test_what_another_chat_wrote_stays_its_own_when_an_announced_write_over_it_is_not_done(world: World, hooks: Hooks) -> None:
    world.write("a", b"a0")
    hooks.begin(B)
    hooks.record("a", b"b1", B)
    hooks.end(B)
    hooks.begin()
    hooks.record("a", b"a1", do=False)
    hooks.end()
    assert world.actions(world.plan("before:1", B)) == {"a": "write"}
    assert world.kernel.owner_of(WorkspacePath("a")) == B


def test_what_another_chat_wrote_stays_its_own_when_a_write_of_ours_over_it_fails(world: World, hooks: Hooks) -> None:
    world.write("a", b"a0")
    hooks.begin(B)
    hooks.record("a", b"b1", B)
    hooks.end(B)
    hooks.begin()

    def fail(name: str) -> None:
        if name == "write.rename":
            raise CannotWrite("a", "no permission")

    with faults.armed(fail), pytest.raises(CannotWrite):
        world.kernel.recorder.write(A, WorkspacePath("a"), b"a1", message_count=1)
    hooks.end()
    assert world.read("a") == b"b1"
    assert world.actions(world.plan("before:1", B)) == {"a": "write"}
