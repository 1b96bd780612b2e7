"""Scenarios 67 to 83: out of sight and back. What goes round it (live agents, summaries by a model) is the service's."""

import stat
import threading
from pathlib import Path

import msgspec
import pytest

from tests.conftest import Clock
from tests.core.chat.world import C1, C2, World, said, turns, user
from vibekit_desktop.core.chat.history import history_text
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.types.errors import CannotRead, ChatDamaged, ChatGone, ChatInUse, ChatNotFound


def test_67_archiving_moves_the_file_and_late_writes_are_refused(world: World) -> None:
    made = world.make(C1, user("u"))
    world.archive.archive(C1)
    assert (world.ids(), world.ids(archived=True)) == ([], [C1])
    assert (world.chats.where(C1), world.chats.exists(C1)) == ("archived", False)
    assert C1 in world.chats.tombstones
    assert world.get().messages == made.messages
    for write in (
        lambda: world.chats.append(C1, user("late")),
        lambda: world.chats.mutate(C1, lambda chat, _: chat, create=True),
        lambda: world.chats.save(made),
    ):
        with pytest.raises(ChatGone) as refused:
            write()
        assert refused.value.reason == "archived"


def test_68_the_draft_goes_along_both_ways(world: World) -> None:
    world.make()
    world.drafts.set(C1, "plan")
    world.archive.archive(C1)
    assert [path.name for path in sorted(world.archived.iterdir())] == [f"{C1}.json", f"{C1}.plan.md"]
    assert world.drafts.get(C1) == "plan"
    world.archive.unarchive(C1)
    assert world.drafts.get(C1) == "plan"
    assert list(world.archived.iterdir()) == []


def test_69_the_archive_is_private(world: World) -> None:
    world.make_archived()
    assert stat.S_IMODE(world.archived.stat().st_mode) == 0o700


def test_70_the_time_of_archiving_is_stored_and_other_dates_stay(world: World, clock: Clock) -> None:
    made = world.make()
    clock.advance(500)
    world.archive.archive(C1)
    found = world.get()
    assert (found.archived_at, found.updated_at, found.created_at) == (clock(), made.updated_at, made.created_at)
    assert world.chats.list(archived=True)[0].archived_at == clock()
    clock.advance(5)
    world.archive.unarchive(C1)
    assert (world.get().archived_at, world.get().updated_at) == (0, made.updated_at)


def test_72_a_missing_chat_cannot_be_archived(world: World) -> None:
    with pytest.raises(ChatNotFound):
        world.archive.archive(C1)
    world.make_archived()
    with pytest.raises(ChatNotFound):
        world.archive.archive(C1)


def test_73_the_archive_is_listed_newest_update_first_and_damaged_files_hide_nothing(world: World, clock: Clock) -> None:
    world.make_archived(C1)
    clock.advance(5)
    world.make_archived(C2)
    world.plant(b"x", "notes.txt", world.archived)
    world.plant(b"{broken", "chat-0003.json", world.archived)
    found = world.chats.list(archived=True)
    assert [row.id for row in found if not row.problem] == [C2, C1]
    assert [row.id for row in found if row.problem] == ["chat-0003"]
    assert all(row.archived for row in found)


def test_74_bringing_back_ends_the_tombstone(world: World) -> None:
    world.make_archived(C1, user("u"))
    world.archive.unarchive(C1)
    assert (world.ids(), world.ids(archived=True)) == ([C1], [])
    assert C1 not in world.chats.tombstones
    assert world.chats.append(C1, said("a")).written


def test_75_what_is_not_archived_cannot_be_brought_back(world: World) -> None:
    with pytest.raises(ChatNotFound):
        world.archive.unarchive(C1)
    world.make()
    with pytest.raises(ChatNotFound):
        world.archive.unarchive(C1)


def test_76_bringing_back_replaces_no_chat_and_archiving_neither(world: World) -> None:
    world.make_archived(C1, user("old"))
    world.plant((world.archived / f"{C1}.json").read_bytes().replace(b"A chat", b"Other"), f"{C1}.json")
    before = world.tree()
    for move in (world.archive.unarchive, world.archive.archive):
        with pytest.raises(ChatInUse):
            move(C1)
    assert world.tree() == before


def test_77_a_damaged_chat_is_moved_as_it_is_both_ways(world: World) -> None:
    world.plant(b"{broken", f"{C1}.json")
    world.archive.archive(C1)
    assert (world.archived / f"{C1}.json").read_bytes() == b"{broken"
    world.archive.unarchive(C1)
    assert world.file(C1).read_bytes() == b"{broken"


def test_78_a_summary_is_stored_and_stays_and_touches_no_date(world: World, clock: Clock) -> None:
    made = world.make_archived(C1)
    clock.advance(5)
    world.archive.set_summary(C1, "Retries uploads")
    assert world.get() == msgspec.structs.replace(made, summary="Retries uploads")
    assert world.chats.list(archived=True)[0].summary == "Retries uploads"
    world.archive.unarchive(C1)
    assert world.get().summary == "Retries uploads"
    with pytest.raises(ChatNotFound):
        world.archive.set_summary(C1, "x")
    world.plant(b"{broken", f"{C2}.json", world.archived)
    with pytest.raises(ChatDamaged):
        world.archive.set_summary(C2, "x")
    assert (world.archived / f"{C2}.json").read_bytes() == b"{broken"


def test_79_an_archived_chat_is_read_whole_also_while_others_write_its_summary(small: World) -> None:
    made = small.make_archived(C1, *turns(20))
    assert made.parts
    problems: list[BaseException] = []

    def work(index: int) -> None:
        try:
            if index % 2:
                with VaultLock(small.fs, small.folder, wait=threading.Event().wait).hold(60):
                    small.archive.set_summary(C1, f"{index}")
            else:
                assert small.chats.whole(small.get()).messages == turns(20)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_80_an_archived_chat_can_be_deleted_for_good(small: World) -> None:
    small.make(C1, *turns(20))
    small.drafts.set(C1, "plan")
    small.archive.archive(C1)
    assert small.chats.delete(C1)
    assert [path for path in small.folder.rglob("*") if C1 in path.name] == []
    assert not small.chats.delete(C1)


def outside(world: World, tmp_path: Path, link: str) -> Path:
    """The archive is a link out of the vault, to a folder that holds a chat of this id."""
    world.make_archived(C1)
    victim = tmp_path / "victim"
    world.archived.rename(victim)
    world.archived.symlink_to(link)
    return victim / f"{C1}.json"


@pytest.mark.parametrize("link", ["../../victim", "{tmp}/victim", "sub/../../../victim", "."])
def test_81_an_archive_that_leads_outside_is_refused_and_the_victim_is_untouched(
    world: World, tmp_path: Path, link: str
) -> None:
    victim = outside(world, tmp_path, link.format(tmp=tmp_path))
    before = victim.read_bytes()
    world.make(C2)
    for call in (
        lambda: world.archive.unarchive(C1),
        lambda: world.archive.set_summary(C1, "x"),
        lambda: world.archive.archive(C2),
        lambda: world.chats.delete(C1),
        lambda: world.archive.purge(1, keep=lambda chat: False),
        lambda: world.chats.list(archived=True),
    ):
        with pytest.raises(CannotRead):
            call()
    assert victim.read_bytes() == before
    assert world.ids() == [C2]
    assert world.chats.append(C2, user("u")).written, "the list is not concerned"


def test_82_an_absolute_link_is_refused_even_if_it_stays_inside(world: World) -> None:
    world.make_archived(C1)
    world.archived.rename(world.active / "old")
    world.archived.symlink_to(world.active / "old")
    with pytest.raises(CannotRead):
        world.archive.unarchive(C1)


def test_82_a_relative_link_that_stays_inside_is_followed(world: World) -> None:
    world.make_archived(C1)
    world.archived.rename(world.active / "old")
    world.archived.symlink_to("./old")
    assert world.ids(archived=True) == [C1]
    world.archive.unarchive(C1)
    world.make_archived(C2)
    assert (world.ids(), world.ids(archived=True)) == ([C1], [C2])
    assert [path.name for path in (world.active / "old").iterdir()] == [f"{C2}.json"]


def test_82_a_link_to_a_link_is_refused(world: World, tmp_path: Path) -> None:
    victim = outside(world, tmp_path, "old")
    (world.active / "old").symlink_to(victim.parent)
    with pytest.raises(CannotRead):
        world.archive.unarchive(C1)


def test_82_a_linked_chats_folder_works_in_everything(world: World, tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    world.folder.mkdir()
    world.active.symlink_to(tmp_path / "volume")
    world.make(C1, user("u"))
    world.drafts.set(C1, "plan")
    world.archive.archive(C1)
    world.archive.set_summary(C1, "s")
    world.archive.unarchive(C1)
    assert (world.ids(), world.drafts.get(C1)) == ([C1], "plan")
    assert world.active.is_symlink()
    assert world.chats.delete(C1)


def test_83_an_archived_chat_is_loaded_where_the_list_has_none(world: World) -> None:
    world.make_archived(C1, user("u", "Hello"))
    assert history_text(world.get().messages or ()) == "User: Hello\n"
    row = world.chats.header(C1)
    assert row is not None
    assert row.archived
