"""What is remembered of the logs is what reading them anew would give, whoever made them grow."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from tests.helpers.unsynced_fs import Unsynced
from vibekit_desktop.core.checkpoint.history import View
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId

C = ChatId("chat-c")
CHATS = (A, B, C)


def told(view: View) -> tuple[object, ...]:
    seen = (*view.observations, *(one for found in view.folders.values() for one in found))
    return (
        [(one.position, one.path, one.before, one.after, one.author, one.how, one.chat, one.own, one.computed) for one in seen],
        [(position, placed.chat, placed.number, placed.line.type) for position, placed in view.own],
        {path: [one.position for one in found] for path, found in view.by_path.items()},
        view.end,
    )


steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["begin", "end", "record", "hand", "restore", "undo", "branch", "retire", "import", "elsewhere", "back"]
        ),
        st.sampled_from([A, B]),
        st.sampled_from(["a", "b", "d/c"]),
        st.sampled_from([None, b"1", b"2"]),
    ),
    min_size=4,
    max_size=25,
)


def step(world: World, hooks: Hooks, other: VaultStore, what: str, chat: ChatId, path: str, data: bytes | None) -> None:
    match what:
        case "begin":
            hooks.begin(chat)
        case "end":
            hooks.end(chat)
        case "record":
            hooks.record(path, data, chat)
        case "hand":
            world.write(path, data)
        case "restore":
            world.restore("start", chat, mine=ALL_MINE)
        case "undo":
            world.undo(chat)
        case "branch":
            world.kernel.branch(chat, 1, C)
        case "retire":
            world.kernel.retire(chat)
        case "import":
            lines = [Line(type="snapshot", path=path, tag="0.9", ts=world.clock(), before_sha="a" * 64, after_sha="b" * 64)]
            other.append(chat, lines, number=False)
        case "elsewhere":
            other.append(chat, [Line(type="note", path=path, reason="x")])
        case "back":
            world.clock.advance(-5_000)


@settings(max_examples=40)
@given(steps)
def test_growing_views_are_those_of_a_new_reader(history: list[tuple[str, ChatId, str, bytes | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), Clock(), Unsynced())
        hooks = Hooks(world)
        other = VaultStore(Unsynced(), world.vault_folder, clock=world.clock)
        for what, chat, path, data in history:
            world.clock.advance(1)
            try:
                step(world, hooks, other, what, chat, path, data)
            except CoreError:
                continue
            fresh = VaultStore(Fs(), world.vault_folder, clock=world.clock)
            for one in CHATS:
                assert told(world.vault.memory.view(one)[0]) == told(fresh.memory.view(one)[0]), (what, one)
            assert told(world.vault.memory.public()) == told(fresh.memory.public()), what
            named = {
                sha for found in fresh.all_logs().values() for line in found.lines for sha in (line.before_sha, line.after_sha)
            }
            assert all(world.vault.memory.names(sha) == fresh.memory.names(sha) for sha in named if sha)  # type: ignore[arg-type]


def test_a_longer_view_leaves_the_shorter_one_as_it_was(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.record("a", b"1")
    before = world.vault.memory.view(A)[0]
    then = told(before)
    hooks.record("a", b"2")
    hooks.record("b", b"2")
    assert told(before) == then
    assert told(world.vault.memory.view(A)[0]) != then


def test_a_log_that_was_rewritten_is_read_anew(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.record("a", b"1")
    hooks.record("b", b"1")
    assert len(world.vault.lines(A)) == 3
    lines = world.log_path().read_bytes().splitlines(keepends=True)
    world.log_path().write_bytes(lines[0] + lines[2] + lines[1])
    assert [line.path for line in world.vault.lines(A)] == ["", "b", "a"]
    fresh = VaultStore(Fs(), world.vault_folder, clock=world.clock)
    assert told(world.vault.memory.view(A)[0]) == told(fresh.memory.view(A)[0])
