"""Scenarios 84 to 90: archived chats that are old enough go for good. 87 and 91 (hooks, the scheduler) are the service's."""

import os
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.chat.world import C1, C2, World, turns
from vibekit_desktop.core.chat.archive import Purged
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.ids import ChatId

HOUR = 3_600_000


def nobody(_: ChatId) -> bool:
    return False


def test_84_what_is_older_than_the_limit_goes_and_what_is_younger_stays(world: World, clock: Clock) -> None:
    world.make_archived(C1)
    clock.advance(2 * HOUR)
    world.make_archived(C2)
    clock.advance(23 * HOUR)
    assert world.archive.purge(24 * HOUR, keep=nobody) == [Purged(C1)]
    assert world.ids(archived=True) == [C2]


def test_84_exactly_the_limit_stays(world: World, clock: Clock) -> None:
    world.make_archived(C1)
    clock.advance(24 * HOUR)
    assert world.archive.purge(24 * HOUR, keep=nobody) == []
    clock.advance(1)
    assert world.archive.purge(24 * HOUR, keep=nobody) == [Purged(C1)]


def test_84_the_age_is_that_of_archiving_and_without_it_that_of_the_file(world: World, clock: Clock) -> None:
    path = world.plant(b"{broken", f"{C1}.json", world.archived)
    os.utime(path, ns=((clock() - 5) * 1_000_000, (clock() - 5) * 1_000_000))
    assert world.archive.ages() == [(C1, clock() - 5)]
    assert world.archive.purge(5, keep=nobody) == []
    assert world.archive.purge(4, keep=nobody) == [Purged(C1)]


def test_85_what_is_no_chat_survives(world: World, clock: Clock) -> None:
    world.make_archived(C1)
    world.plant(b"x", "notes.txt", world.archived)
    world.plant(b"{}", "bad.id.json", world.archived)
    (world.archived / "chat-0009.json").mkdir()
    clock.advance(HOUR)
    world.archive.purge(1, keep=nobody)
    assert sorted(path.name for path in world.archived.iterdir()) == ["bad.id.json", "chat-0009.json", "notes.txt"]


def test_86_and_87_without_an_archive_nothing_happens(world: World) -> None:
    assert world.archive.purge(1, keep=nobody) == []
    assert not world.folder.exists()


def test_88_draft_and_parts_go_with_their_chat(small: World, clock: Clock) -> None:
    small.make(C1, *turns(20))
    small.drafts.set(C1, "plan")
    small.archive.archive(C1)
    assert list(small.chats.parts.folder.iterdir())
    clock.advance(HOUR)
    assert small.archive.purge(1, keep=nobody) == [Purged(C1)]
    assert list(small.archived.iterdir()) == []
    assert list(small.chats.parts.folder.iterdir()) == []


def test_89_a_dangling_link_is_left_alone_and_hinders_no_other(world: World, clock: Clock) -> None:
    world.make_archived(C2)
    (world.archived / f"{C1}.json").symlink_to("nowhere")
    clock.advance(HOUR)
    assert world.archive.purge(1, keep=nobody) == [Purged(C2)]
    assert (world.archived / f"{C1}.json").is_symlink()


def test_89_what_cannot_be_removed_is_said_and_hinders_no_other(world: World, clock: Clock) -> None:
    class Stuck(Fs):
        def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
            if str(name).endswith(f"{C1}.json"):
                raise PermissionError(13, "Permission denied")
            super().unlink(name, dir_fd=dir_fd)

    world.make_archived(C1)
    world.make_archived(C2)
    clock.advance(HOUR)
    stuck = World(world.folder, clock, Stuck())
    assert stuck.archive.purge(1, keep=nobody) == [Purged(C1, "Permission denied"), Purged(C2)]
    assert world.ids(archived=True) == [C1]


@pytest.mark.parametrize("limit", [0, -1])
def test_90_without_a_limit_nothing_is_ever_removed(world: World, clock: Clock, limit: int) -> None:
    world.make_archived(C1)
    clock.advance(10_000 * HOUR)
    assert world.archive.purge(limit, keep=nobody) == []
    assert world.ids(archived=True) == [C1]


def test_what_is_wanted_still_is_kept(world: World, clock: Clock) -> None:
    world.make_archived(C1)
    world.make_archived(C2)
    clock.advance(HOUR)
    assert world.archive.purge(1, keep=lambda chat: chat == C1) == [Purged(C2)]
    assert world.ids(archived=True) == [C1]


def test_an_active_chat_of_the_same_id_loses_nothing(world: World, clock: Clock) -> None:
    world.make_archived(C1)
    world.plant((world.archived / f"{C1}.json").read_bytes(), f"{C1}.json")
    clock.advance(HOUR)
    (purged,) = world.archive.purge(1, keep=nobody)
    assert purged.reason == "chat.in-use"
    assert (world.ids(), world.ids(archived=True)) == ([C1], [C1])
