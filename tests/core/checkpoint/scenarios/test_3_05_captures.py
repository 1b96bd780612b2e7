"""Scenarios 59 to 72 of the specification: captures and the questions about them. Each test says which of them it shows."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.world import A, B, World
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.disk.names import relative
from vibekit_desktop.core.types.checkpoints import AtTag, State
from vibekit_desktop.core.types.errors import BlobNotFound, CannotRead, InvalidId, LogDamaged, PathEscape, PathRefused
from vibekit_desktop.core.types.ids import Tag, WorkspacePath

CAP = 64
"""The cap of these tests; what it is of is the same at any size."""


def tags(world: World) -> list[str]:
    return [line.tag for line in world.vault.lines(A) if line.tag]


def capped(world: World) -> Hooks:
    world.cap(CAP)
    return Hooks(world)


def blobs(world: World) -> set[str]:
    folder = world.vault_folder / "snapshots" / "blobs"
    return {path.parent.name + path.name for path in folder.rglob("*") if path.is_file()}


def test_59_the_oldest_tag_is_none_at_first_and_then_the_first(world: World, hooks: Hooks) -> None:
    assert world.kernel.oldest_tag(A) is None
    hooks.begin()
    hooks.record("a", b"1")
    hooks.begin()
    hooks.record("a", b"2")
    hooks.record("b", b"2")
    assert tags(world) == ["1", "2", "2.1"]
    assert world.kernel.oldest_tag(A) == "1"


def test_60_another_program_on_the_same_folder_goes_on_counting(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.record("a", b"1")
    hooks.begin()
    hooks.record("a", b"2")
    world.reopen()
    hooks.begin()
    assert hooks.record("a", b"3").tag == "3"
    assert tags(world) == ["1", "2", "3"]


def test_61_a_deleted_chat_has_no_log_of_its_own_and_the_contents_stay(world: World, hooks: Hooks) -> None:
    hooks.begin()
    hooks.record("a", b"1")
    hooks.end()
    world.kernel.retire(A)
    assert not world.log_path(A).parent.exists()
    assert blobs(world)
    assert world.kernel.oldest_tag(A) is None


def test_62_the_same_content_of_two_chats_is_stored_once(world: World, hooks: Hooks) -> None:
    world.write("f", b"same")
    for chat in (A, B):
        hooks.begin(chat)
        hooks.record("f", b"same", chat)
        hooks.end(chat)
    assert blobs(world) == {hash_of(b"same")}


def test_63_one_content_before_and_two_after_are_three(world: World, hooks: Hooks) -> None:
    for chat, data in ((A, b"by a"), (B, b"by b")):
        world.write("f", b"same")
        hooks.begin(chat)
        hooks.record("f", data, chat)
        hooks.end(chat)
    assert {hash_of(data) for data in (b"same", b"by a", b"by b")} <= blobs(world)
    assert len(blobs(world)) == 3


def test_64_a_file_over_the_cap_is_captured_as_one_that_nobody_has_and_never_as_absent(world: World) -> None:
    hooks = capped(world)
    world.write("big", b"x" * (CAP + 1))
    hooks.begin()
    report = hooks.record("big", b"small")
    assert report.tag == "1"
    assert not report.coverage.complete
    state = world.kernel.state_at(A, AtTag(Tag("1")), WorkspacePath("big"))
    assert (state.state, state.sha, state.reason) == (State.NOT_CAPTURED, hash_of(b"x" * (CAP + 1)), "too-large")
    hooks.end()
    assert world.actions(world.plan("1")) == {"big": "leave:not-captured"}


def test_65_a_file_of_exactly_the_cap_is_captured(world: World) -> None:
    hooks = capped(world)
    world.write("big", b"x" * CAP)
    hooks.begin()
    report = hooks.record("big", b"small")
    assert (report.coverage.complete, report.before.sha) == (True, hash_of(b"x" * CAP))


def test_66_fifty_threads_get_fifty_tags(world: World, hooks: Hooks) -> None:
    hooks.begin()
    got: list[str] = []

    def one(number: int) -> None:
        with VaultLock(Fs(), world.vault_folder).hold(60):
            got.append(hooks.record(f"f{number}", b"x").tag)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(got)) == 50
    assert sorted(tags(world)) == sorted(got)


def test_67_a_chat_names_what_was_before_and_what_comes_after(world: World, hooks: Hooks) -> None:
    world.write("f", b"before")
    hooks.begin()
    hooks.record("f", b"after")
    assert {world.kernel.read_blob(A, hash_of(data)) for data in (b"before", b"after")} == {b"before", b"after"}


@pytest.mark.parametrize("text", ["not-hex", "a" * 63, "", "a" * 65, "\0" * 64, "../" + "a" * 61])
def test_68_and_70_what_is_no_hash_is_refused(world: World, text: str) -> None:
    with pytest.raises(InvalidId):
        world.kernel.read_blob(A, text)


def test_69_a_chat_reads_only_what_its_own_lines_name(world: World, hooks: Hooks) -> None:
    hooks.begin(A)
    hooks.record("f", b"secret of A", A)
    hooks.begin(B)
    hooks.record("g", b"of B", B)
    sha = hash_of(b"secret of A")
    assert world.kernel.read_blob(A, sha.upper()) == b"secret of A"
    with pytest.raises(BlobNotFound):
        world.kernel.read_blob(B, sha)


@given(st.text(max_size=30) | st.sampled_from(["", ".", "..", "../x", "a/../../../x", "/etc/passwd", "a\0b", "a/.."]))
def test_71_a_path_stays_inside_or_is_refused(text: str) -> None:
    try:
        path = relative("/work/space", text)
    except (PathEscape, PathRefused):
        return
    full = os.path.normpath(os.path.join("/work/space", path))
    assert full.startswith("/work/space/")


class Unreadable(Fs):
    """A disk on which the log of a chat cannot be opened for a while."""

    broken = False

    def open_regular(self, path: Path | str, *, follow: bool = False, dir_fd: int | None = None) -> int:
        if self.broken and str(path).endswith("events.jsonl"):
            raise OSError(5, "Input/output error")
        return super().open_regular(path, follow=follow, dir_fd=dir_fd)


def test_72_an_error_of_loading_is_told_again_and_not_remembered(tmp_path: Path, clock: Clock) -> None:
    """The original remembers the error for good; ours asks the disk again (W16)."""
    fs = Unreadable()
    world = World(tmp_path, clock, fs)
    hooks = Hooks(world)
    hooks.begin()
    hooks.record("a", b"1")
    world.reopen()
    fs.broken = True
    for _ in range(2):
        with pytest.raises((LogDamaged, CannotRead)):
            world.kernel.recorder.capture(A, WorkspacePath("a"), Announced(content=b"2"), message_count=1)
    fs.broken = False
    assert hooks.record("a", b"2").tag == "1.1"
