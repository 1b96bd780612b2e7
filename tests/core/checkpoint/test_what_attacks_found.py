"""Faults that came out when real processes were driven against each other at random; each with the smallest way to it."""

from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.types.checkpoints import RestoreKind, Scope


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
