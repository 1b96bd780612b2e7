"""Every operation that records is stopped at each of its durable steps; what was there is whole, and the work goes on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.world import ALL_MINE, A, B, Crash, CrashAt, World
from tests.helpers.unsynced_fs import Unsynced
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.errors import BlobNotFound
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

SEED = {"text": b"seed", "empty": b"", "gone": b"soon", "sub/deep/kept": bytes(range(256)) * 40}
BRANCH = ChatId("branch")
Operation = Callable[[World], object]


def seeded(folder: Path, clock: Clock) -> World:
    """One finished turn and one that runs, another chat's turn beside it, an unannounced change, an empty folder."""
    folder.mkdir()
    world = World(folder, clock, Unsynced())
    for path, data in SEED.items():
        world.write(path, data)
    hooks = Hooks(world)
    hooks.begin(A)
    hooks.record("text", b"one")
    hooks.end(A)
    hooks.begin(B)
    hooks.record("of b", b"b", B)
    hooks.end(B)
    hooks.begin(A)
    hooks.record("text", b"two")
    world.write("unannounced", b"u")
    world.write("of b", b"by somebody")
    (world.root / "hollow").mkdir()
    return world


def capture(path: str, announced: Announced) -> Operation:
    return lambda world: world.kernel.recorder.capture(A, WorkspacePath(path), announced, message_count=3)


def write(path: str, data: bytes | None) -> Operation:
    return lambda world: world.kernel.recorder.write(A, WorkspacePath(path), data, message_count=3)


def end_and_restore(world: World) -> None:
    world.kernel.recorder.end_turn(A)
    world.restore("before:1", mine=ALL_MINE)


OPERATIONS: dict[str, Operation] = {
    "capture of a new file": capture("new", Announced(content=b"n")),
    "capture of a changed file": capture("text", Announced(content=b"three")),
    "capture of a deleted file": capture("gone", Announced(deleted=True)),
    "capture of an empty file": capture("empty", Announced(content=b"")),
    "capture of a large binary": capture("sub/deep/kept", Announced(content=b"\0" * 9000)),
    "capture without the content": capture("text", Announced()),
    "capture of a mode": capture("text", Announced(mode=0o755)),
    "capture of a foreign change": capture("of b", Announced(content=b"mine")),
    "capture of a folder to delete": capture("sub", Announced(deleted=True)),
    "capture of a rename": lambda world: world.kernel.recorder.capture_rename(
        A, WorkspacePath("gone"), WorkspacePath("there"), message_count=3
    ),
    "write over a file": write("text", b"three"),
    "write of a new file in new folders": write("x/y/z", b"new"),
    "write that deletes": write("gone", None),
    "begin of a turn": lambda world: world.kernel.recorder.begin_turn(A, message_count=5),
    "begin of another chat's turn": lambda world: world.kernel.recorder.begin_turn(B, message_count=5),
    "begin of a command": lambda world: world.kernel.recorder.begin_command(A),
    "end of a turn": lambda world: world.kernel.recorder.end_turn(A),
    "branch": lambda world: world.kernel.branch(A, 2, BRANCH),
    "deletion of a chat that others need": lambda world: world.kernel.retire(A),
    "deletion of a chat that nobody needs": lambda world: (world.kernel.retire(A), world.kernel.retire(B)),
    "end and restore": end_and_restore,
}


def check_whole(world: World, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Each file is complete, old or new; each content that a line names is there and right; no log is damaged."""
    for path in before.keys() | after.keys():
        assert world.disk().get(path) in (before.get(path), after.get(path)), path
    for chat in world.vault.chats_with_logs():
        assert world.vault.damage(chat) == ()
        assert not world.vault.contents(chat).torn
    wrong = [one for one in world.kernel.verify().problems if one.kind.value not in ("blob-stray", "restore-unfinished")]
    assert wrong == []
    numbers = [line.seq for found in world.vault.all_logs().values() for line in found.lines if line.seq]
    assert len(numbers) == len(set(numbers)), "no number is given twice"


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_step_of_an_operation_may_be_the_last(tmp_path: Path, clock: Clock, name: str) -> None:
    operation = OPERATIONS[name]
    counted = CrashAt()
    whole = seeded(tmp_path / "whole", clock)
    before = whole.disk()
    with faults.armed(counted):
        operation(whole)
    after = whole.disk()
    assert counted.seen
    for at in range(1, len(counted.seen) + 1):
        world = seeded(tmp_path / f"at-{at}", clock)
        with faults.armed(CrashAt(at)), pytest.raises(Crash):
            operation(world)
        world.reopen()
        check_whole(world, before, after)
        world.recover()
        check_whole(world, before, after)
        assert not world.stages()
        if name.startswith("deletion"):
            world.kernel.retire(A)
            assert A not in world.vault.chats_with_logs()
            continue
        hooks = Hooks(world)
        if world.kernel.recorder.open_turn(A):
            hooks.end(A)
        hooks.begin(A)
        hooks.record("text", b"afterwards")
        hooks.end(A)
        assert world.at("before:1", "text") == b"seed"
        world.restore("before:1", mine=ALL_MINE)
        kept = {path: data for path, data in world.disk().items() if path != "of b"}
        assert kept == SEED, f"after a crash at {counted.seen[at - 1]}"
        world.undo()
        assert world.read("text") == b"afterwards"


def test_a_deleted_chats_contents_are_under_our_own_care_before_its_log_moves(tmp_path: Path, clock: Clock) -> None:
    world = seeded(tmp_path / "w", clock)
    named = {line.before_sha for line in world.vault.lines(A) if line.before_sha}
    world.kernel.retire(A)
    for blob in (world.vault_folder / "snapshots/blobs").rglob("*/*"):
        if blob.is_file():
            blob.unlink()
    world.reopen()
    for sha in named:
        try:
            world.kernel.read_blob(A, sha)
        except BlobNotFound:
            pytest.fail("the original's collection would have taken it")
