"""What became of announced writes: whose a change is that comes while an agent waits, and what it says it has done."""

from collections.abc import Iterator

import pytest

from tests.core.checkpoint.hooks import Hooks, row, told
from tests.core.checkpoint.world import A, B, World
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.checkpoints import AtTag, Author, FileState, How, State
from vibekit_desktop.core.types.ids import Tag, WorkspacePath

P = WorkspacePath("a")


def _waits(world: World, chat: str = A) -> bool:
    return world.kernel.recorder.waits(chat, [P])


def _there(world: World) -> FileState:
    return world.workspace.look(P)


def _changes(hooks: Hooks, chat: str = A) -> list[tuple[str, str]]:
    """Who changed the path, and how that is known, by the lines in which it became another one."""
    lines = (line for line in hooks.lines(chat) if line.path == "a" and line.type == "observed")
    return [(line.author, line.how) for line in lines if line.before_sha != line.after_sha]


@pytest.mark.parametrize("known", [True, False])
def test_what_comes_while_the_agent_waits_is_not_the_agents(world: World, hooks: Hooks, known: bool) -> None:
    world.write("a", b"1")
    hooks.begin()
    hooks.record("a", b"2", known=known, do=False)
    assert _waits(world)
    assert not _waits(world), "it is closed already"
    world.write("a", b"theirs")
    hooks.record("a", b"2", known=known)
    hooks.end()
    assert _changes(hooks) == [(Author.UNKNOWN, How.SCAN)]
    assert world.at("1", "a") == b"1"
    assert world.at("1.1", "a") == b"theirs"
    assert world.at("after:1", "a") == b"2"


def test_what_comes_while_the_agent_waits_is_not_the_agents_though_a_look_comes_first(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin()
    hooks.record("a", b"2", known=False, do=False)
    _waits(world)
    hooks.command(lambda: None)
    world.write("a", b"theirs")
    hooks.end()
    assert told(row(world, 1).files) == {"a": ("M", "unknown", "scan")}


def test_a_deletion_that_waits_was_never_done(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin()
    hooks.record("a", None, do=False)
    _waits(world)
    world.write("a", b"theirs")
    hooks.end()
    assert _changes(hooks) == [(Author.UNKNOWN, How.SCAN)]
    assert world.at("before:1", "a") == b"1"


def test_a_call_that_waits_closes_what_it_announced_itself_and_no_other(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin()
    hooks.record("a", b"2", known=False, do=False)
    world.kernel.recorder.waits(A, [P], tool_call_id="another")
    world.write("a", b"2")
    hooks.end()
    assert told(row(world, 1).files) == {"a": ("M", "agent", "scan")}


def test_a_file_that_was_met_has_its_bytes_kept_and_a_conflict(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin()
    hooks.record("a", b"2", known=False, do=False)
    shown = _there(world)
    assert not world.kernel.recorder.meet(A, P, shown)
    world.write("a", b"theirs")
    assert world.kernel.recorder.meet(A, P, shown)
    hooks.record("a", b"2", known=False)
    hooks.end()
    assert _changes(hooks) == [(Author.UNKNOWN, How.SCAN)]
    (found,) = world.kernel.placed_conflicts(A)
    assert found.theirs == AtTag(Tag("1.1"))
    assert world.at("1.1", "a") == b"theirs"
    assert found.turn == 1


def test_a_file_that_another_chat_wrote_meanwhile_is_that_chats(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin(A)
    hooks.record("a", b"2", A, known=False, do=False)
    shown = _there(world)
    _waits(world)
    hooks.begin(B)
    hooks.record("a", b"by b", B)
    assert world.kernel.recorder.meet(A, P, shown)
    hooks.record("a", b"2", A)
    hooks.end(B)
    hooks.end(A)
    assert _changes(hooks, A) == []
    (found,) = world.kernel.placed_conflicts(A)
    assert found.conflict.other_chat == B


def test_what_is_told_afterwards_is_the_agents_if_it_is_what_the_disk_shows(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    world.write("b", b"1")
    hooks.begin()
    world.write("a", b"2")
    world.write("b", b"2")
    seen: list[tuple[bytes | None, bytes | None]] = []

    def fits(path: WorkspacePath, before: bytes | None, after: bytes | None) -> bool:
        seen.append((before, after))
        return path == "a"

    assert world.kernel.recorder.finished(A, [P, WorkspacePath("b"), WorkspacePath("none")], fits, tool_call_id="c")
    assert not world.kernel.recorder.finished(A, [P], fits)
    hooks.end()
    assert seen == [(b"1", b"2"), (b"1", b"2")]
    assert told(row(world, 1).files) == {"a": ("M", "agent", "scan"), "b": ("M", "unknown", "scan")}
    assert world.at("before:1", "a") == b"1"
    world.restore("before:1")
    assert world.disk() == {"a": b"1", "b": b"2"}


def test_a_call_that_is_over_does_no_more_of_what_it_announced(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin()
    hooks.record("a", b"1", known=False)
    assert world.kernel.recorder.finished(A, [P], lambda *_: False)
    assert not world.kernel.recorder.finished(A, [P], lambda *_: False)
    world.write("a", b"theirs")
    hooks.end()
    assert told(row(world, 1).files) == {"a": ("M", "unknown", "scan")}


def test_outside_of_a_turn_nothing_is_told(world: World, hooks: Hooks) -> None:
    world.write("a", b"1")
    hooks.begin()
    hooks.end()
    world.write("a", b"2")
    assert not world.kernel.recorder.finished(A, [P], lambda *_: True)
    assert not _waits(world)


def test_what_is_told_while_it_is_being_written_is_the_agents_as_it_is_in_the_end(
    world: World, hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("a", b"1")
    hooks.begin()
    world.write("a", b"")
    pieces, reads = Workspace.pieces, []

    def written_meanwhile(workspace: Workspace, path: WorkspacePath, **more: State) -> Iterator[bytes]:
        reads.append(path)
        if len(reads) == 2:
            world.write("a", b"two")
        return pieces(workspace, path, **more)

    monkeypatch.setattr(Workspace, "pieces", written_meanwhile)
    assert world.kernel.recorder.finished(A, [P], lambda _path, _before, after: after == b"two", tool_call_id="c")
    hooks.end()
    assert told(row(world, 1).files) == {"a": ("M", "agent", "scan")}
    assert world.at("after:1", "a") == b"two"
