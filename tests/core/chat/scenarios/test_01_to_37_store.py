"""Scenarios 1 to 37: one file per chat, one way to change it. What the original announces as events is what `Mutated` says.

In our terms: a refused write tells the caller (22, 24: `ChatGone`; 15, 18: `ChatNotFound`), a damaged chat is a row that says
so (9, 11), and tombstones outlive the process. 36 has no meaning here: the tag is looked up by nobody.
"""

import multiprocessing
import os
import stat
import threading
from pathlib import Path

import msgspec
import pytest

from tests.conftest import Clock
from tests.core.chat.world import BAD_IDS, C1, C2, SMALL, World, said, user
from vibekit_desktop.core.chat import rows
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.chat.tombstones import LIFE_MS
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.errors import (
    BugError,
    CannotRead,
    CannotWrite,
    ChatDamaged,
    ChatGone,
    ChatNotFound,
    InvalidId,
    InvalidText,
)
from vibekit_desktop.core.types.ids import ChatId


def named(name: str, seen: list[bool] | None = None):  # type: ignore[no-untyped-def]  # the type of a change is long
    def change(chat: Chat, exists: bool) -> Chat:
        if seen is not None:
            seen.append(exists)
        return msgspec.structs.replace(chat, name=name)

    return change


def test_1_a_first_change_makes_the_chat_with_both_dates(world: World, clock: Clock) -> None:
    seen: list[bool] = []
    made = world.chats.mutate(C1, named("New", seen), create=True)
    assert (seen, made.written, made.created) == ([False], True, True)
    assert (made.chat.created_at, made.chat.updated_at) == (clock(), clock())


def test_2_a_second_change_finds_it(world: World, clock: Clock) -> None:
    world.make()
    seen: list[bool] = []
    clock.advance(7)
    changed = world.chats.mutate(C1, named("Newer", seen), create=True)
    assert (seen, changed.written, changed.created) == ([True], True, False)
    assert (changed.chat.updated_at - changed.chat.created_at, world.get().name) == (7, "Newer")


def test_3_a_change_that_declines_makes_nothing(world: World) -> None:
    declined = world.chats.mutate(C1, lambda chat, exists: None, create=True)
    assert (declined.written, declined.created) == (False, False)
    assert not world.folder.exists()


@pytest.mark.parametrize("bad", BAD_IDS)
def test_4_bad_ids_are_refused_everywhere_and_touch_nothing(world: World, bad: str) -> None:
    chat = ChatId(bad)
    for call in (
        lambda: world.chats.mutate(chat, named("x"), create=True),
        lambda: world.chats.load(chat),
        lambda: world.chats.header(chat),
        lambda: world.chats.where(chat),
        lambda: world.chats.append(chat, user("u")),
        lambda: world.chats.update(chat, "u", lambda message: message),
        lambda: world.chats.delete(chat),
        lambda: world.archive.archive(chat),
        lambda: world.archive.unarchive(chat),
        lambda: world.archive.set_summary(chat, "x"),
        lambda: world.drafts.get(chat),
        lambda: world.drafts.set(chat, "x"),
        lambda: world.drafts.delete(chat),
    ):
        with pytest.raises(InvalidId):
            call()
    assert not world.folder.exists()


def test_5_an_id_of_128_characters_is_accepted_and_129_a_dot_and_a_line_end_are_not(world: World) -> None:
    world.make(ChatId("x" * 128))
    assert world.ids() == ["x" * 128]
    for bad in ("x" * 129, "a.b", "a\n"):
        with pytest.raises(InvalidId):
            world.make(ChatId(bad))


def test_6_a_missing_chat_is_said_to_be_missing(world: World) -> None:
    with pytest.raises(ChatNotFound):
        world.chats.load(C1)
    assert (world.chats.header(C1), world.chats.where(C1), world.chats.exists(C1)) == (None, "", False)


def test_7_the_chat_that_was_changed_last_is_listed_first(world: World, clock: Clock) -> None:
    for chat in (C1, C2, C1):
        clock.advance(5)
        world.make(chat, name=str(clock()))
    assert world.ids() == [C1, C2]


def test_8_what_is_no_chat_by_its_name_is_not_listed(world: World) -> None:
    world.make()
    world.plant(b"{}", "notes.txt")
    world.plant(b"{}", "bad.id.json")
    world.plant(b"{}", ".json")
    assert world.ids() == [C1]


def test_9_a_damaged_file_is_a_row_that_says_so_and_hides_nothing(world: World) -> None:
    world.make()
    world.plant(b"{not json", f"{C2}.json")
    found = {row.id: row.problem for row in world.chats.list()}
    assert found[C1] == ""
    assert found[C2]


@pytest.mark.parametrize(
    "data", [b"null", b"{}", b"[]", b"0", b'"x"', b"\0" * 99, b"\xff\xfe", b'{"id":7}', b'{"messages":[{}]}']
)
def test_10_whatever_a_file_holds_the_list_stands(world: World, data: bytes) -> None:
    world.make()
    world.plant(data, f"{C2}.json")
    assert sorted(world.ids()) == [C1, C2]
    with pytest.raises(ChatDamaged):
        world.chats.load(C2)


def test_11_a_file_that_is_too_large_is_a_damaged_row(small: World) -> None:
    small.make()
    small.plant(b" " * (SMALL.read + 1), f"{C2}.json")
    assert {row.id: row.problem for row in small.chats.list()} == {C1: "", C2: "too large"}
    with pytest.raises(CannotRead):
        small.chats.load(C2)


def test_12_a_file_of_exactly_the_limit_is_read(small: World) -> None:
    data = b'{"id":"chat-0001"}'
    small.plant(data + b" " * (SMALL.read - len(data)), f"{C1}.json")
    assert small.get().id == C1
    assert small.chats.list()[0].problem == ""


def test_13_an_empty_store_has_empty_lists(world: World) -> None:
    assert (world.ids(), world.ids(archived=True), world.chats.first(9)) == ([], [], [])


def test_14_an_appended_message_gets_its_time(world: World, clock: Clock) -> None:
    world.make()
    clock.advance(3)
    done = world.chats.append(C1, msgspec.structs.replace(user("u"), ts=0))
    assert (done.written, done.created) == (True, False)
    assert (world.get().messages or ())[0].ts == clock()


def test_15_nothing_is_appended_to_a_missing_chat(world: World) -> None:
    with pytest.raises(ChatNotFound):
        world.chats.append(C1, user("u"))
    assert not world.folder.exists()


def test_16_an_updated_message_stands_where_it_stood(world: World) -> None:
    world.make(C1, user("u"), said("a"))
    done = world.chats.update(C1, "u", lambda message: msgspec.structs.replace(message, checkpoint_tag="1"))
    assert done.written
    assert [(message.id, message.checkpoint_tag) for message in world.get().messages or ()] == [("u", "1"), ("a", "")]


def test_17_updating_a_message_that_is_not_there_writes_nothing(world: World) -> None:
    world.make(C1, user("u"))
    before = world.tree()
    assert not world.chats.update(C1, "other", lambda message: msgspec.structs.replace(message, content="x")).written
    assert world.tree() == before


def test_18_updating_in_a_missing_chat_is_refused(world: World) -> None:
    with pytest.raises(ChatNotFound):
        world.chats.update(C1, "u", lambda message: message)
    assert not world.folder.exists()


def test_19_a_deleted_chat_leaves_no_file(world: World) -> None:
    world.make()
    assert world.chats.delete(C1)
    assert list(world.active.iterdir()) == []


def test_20_deleting_what_is_not_there_is_done_and_hinders_no_creation(world: World) -> None:
    assert not world.chats.delete(C1)
    assert C1 not in world.chats.tombstones
    world.make()
    assert world.ids() == [C1]


def test_21_a_deletion_sets_a_tombstone_that_other_processes_see(world: World) -> None:
    world.make()
    world.chats.delete(C1)
    world.reopen()
    assert C1 in world.chats.tombstones


def test_22_a_change_to_a_chat_that_was_just_deleted_is_refused_before_it_is_asked(world: World) -> None:
    world.make()
    world.chats.delete(C1)
    asked: list[bool] = []
    with pytest.raises(ChatGone):
        world.chats.mutate(C1, named("Late", asked), create=True)
    assert (asked, world.ids()) == ([], [])


def test_23_a_tombstone_hinders_no_other_chat(world: World) -> None:
    world.make()
    world.chats.delete(C1)
    world.make(C2)
    assert world.ids() == [C2]


def test_24_nothing_is_appended_to_a_chat_that_was_just_deleted(world: World) -> None:
    world.make()
    world.chats.delete(C1)
    with pytest.raises(ChatGone):
        world.chats.append(C1, user("u"))
    assert world.ids() == []


def test_25_a_tombstone_ends_and_the_chat_can_be_made_again(world: World, clock: Clock) -> None:
    world.make()
    world.chats.delete(C1)
    clock.advance(LIFE_MS + 1)
    assert C1 not in world.chats.tombstones
    world.make()
    assert world.ids() == [C1]


def test_26_a_new_tombstone_forgets_old_ones_and_keeps_fresh_ones(world: World, clock: Clock) -> None:
    stones = world.chats.tombstones
    stones.add(ChatId("old"))
    clock.advance(LIFE_MS - 5)
    stones.add(ChatId("fresh"))
    clock.advance(6)
    stones.add(ChatId("new"))
    assert sorted(msgspec.json.decode((world.folder / "desktop" / "tombstones").read_bytes())) == ["fresh", "new"]


def test_26_a_damaged_list_of_tombstones_hinders_nothing(world: World) -> None:
    world.plant(b"rubbish", "tombstones", world.folder / "desktop")
    world.make()
    world.chats.delete(C1)
    assert C1 in world.chats.tombstones


def test_27_a_damaged_file_is_not_changed(world: World) -> None:
    path = world.plant(b'{"id": "chat-0001", "name": ', f"{C1}.json")
    for change in (lambda: world.chats.mutate(C1, named("x"), create=True), lambda: world.chats.append(C1, user("u"))):
        with pytest.raises(ChatDamaged):
            change()
    assert path.read_bytes() == b'{"id": "chat-0001", "name": '


def test_28_a_change_of_the_id_is_our_fault_and_writes_nothing(world: World) -> None:
    world.make()
    before = world.tree()
    with pytest.raises(BugError):
        world.chats.mutate(C1, lambda chat, _: msgspec.structs.replace(chat, id=C2))
    assert world.tree() == before


@pytest.mark.parametrize("key", ["name", "model", "summary"])
def test_29_half_characters_are_refused_in_every_text(world: World, key: str) -> None:
    world.make(C1, user("u"))
    before = world.tree()
    with pytest.raises(InvalidText):
        world.chats.mutate(C1, lambda chat, _: msgspec.structs.replace(chat, **{key: "a\ud83d"}))
    with pytest.raises(InvalidText):
        world.chats.append(C1, user("v", "\udcff"))
    with pytest.raises(InvalidText):
        world.chats.update(C1, "u", lambda message: msgspec.structs.replace(message, reasoning="\udcff"))
    assert world.tree() == before


def _appends(folder: Path, writer: int, clock_ms: int, count: int, real: bool) -> None:
    store = ChatStore(Fs(), folder, clock=lambda: clock_ms)
    for index in range(count):
        with VaultLock(Fs(), folder).hold(60):
            store.append(C1, user(f"m{writer}-{index}"))


def test_30_four_processes_that_append_fifty_messages_each_lose_none(world: World) -> None:
    world.make()
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_appends, args=(world.folder, writer, world.clock(), 50, True)) for writer in range(4)]
    for process in writers:
        process.start()
    for process in writers:
        process.join(100)
    assert [process.exitcode for process in writers] == [0, 0, 0, 0]
    found = [message.id for message in world.get().messages or ()]
    assert sorted(found) == sorted(f"m{writer}-{index}" for writer in range(4) for index in range(50))
    for writer in range(4):
        mine = [identity for identity in found if identity.startswith(f"m{writer}-")]
        assert mine == [f"m{writer}-{index}" for index in range(50)], "each writer's in its order"


def test_31_threads_that_append_to_two_chats_complete_both(world: World) -> None:
    world.make(C1)
    world.make(C2)

    def add(chat: ChatId, index: int) -> None:
        with VaultLock(world.fs, world.folder, wait=threading.Event().wait).hold(60):
            world.chats.append(chat, user(f"m{index}"))

    threads = [threading.Thread(target=add, args=(chat, index)) for chat in (C1, C2) for index in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(world.get(chat).messages or ()) for chat in (C1, C2)] == [20, 20]


def test_32_a_vault_below_a_file_is_a_typed_error(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "file").write_text("x")
    broken = World(tmp_path / "file" / "vault", clock)
    assert broken.ids() == []
    with pytest.raises(CannotWrite):
        broken.make()


def test_33_a_folder_that_others_may_enter_is_made_private_by_the_first_write_and_never_by_reading(world: World) -> None:
    world.active.mkdir(parents=True)
    world.active.chmod(0o755)
    assert world.ids() == []
    assert stat.S_IMODE(world.active.stat().st_mode) == 0o755
    world.make()
    assert stat.S_IMODE(world.active.stat().st_mode) == 0o700
    assert stat.S_IMODE(world.file(C1).stat().st_mode) == 0o600


def test_33_a_folder_whose_mode_cannot_be_changed_works_all_the_same(world: World) -> None:
    class Foreign(Fs):
        def fchmod(self, fd: int, mode: int) -> None:
            raise PermissionError(1, "Operation not permitted")

    world.active.mkdir(parents=True)
    world.active.chmod(0o755)
    World(world.folder, world.clock, Foreign()).make()
    assert world.ids() == [C1]


def test_34_another_process_finds_everything(world: World) -> None:
    made = world.make(C1, user("u"), said("a"))
    world.chats.list()
    world.reopen()
    assert world.get() == made
    assert world.ids() == [C1]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user")
def test_35_deleting_in_a_folder_that_may_not_be_written_is_an_error(world: World) -> None:
    world.make()
    world.active.chmod(0o500)
    try:
        with pytest.raises(CannotWrite):
            world.chats.delete(C1)
    finally:
        world.active.chmod(0o700)
    assert world.ids() == [C1]
    world.chats.append(C1, user("u"))  # a tombstone does not count for a chat that is there


def test_35_a_deletion_that_fails_is_an_error_and_the_chat_stays(world: World) -> None:
    class Stuck(Fs):
        def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
            raise PermissionError(13, "Permission denied")

    world.make()
    with pytest.raises(CannotWrite):
        World(world.folder, world.clock, Stuck()).chats.delete(C1)
    assert world.chats.append(C1, user("u")).written, "a tombstone does not count for a chat that is there"


def test_37_counts_are_counted_whatever_the_file_says(world: World) -> None:
    for text, count in (("[]", 0), ("null", 0), ('[{"id":"u","role":"user"},{"id":"a","role":"assistant"}]', 2)):
        data = f'{{\n  "id": "chat-0001",\n  "messages": {text},\n  "message_count": 77\n}}'.encode()
        row = rows.read(C1, data, changed_ms=1, archived=False)
        assert (row.message_count, row.turn_count, row.problem) == (count, min(count, 1), "")
    for text in ("{}", '"x"', "[", "[{}", '[{"id":"u"},', "7", ""):
        data = f'{{\n  "id": "chat-0001",\n  "messages": {text}\n}}'.encode()
        row = rows.read(C1, data, changed_ms=1, archived=False)
        assert (row.message_count, bool(row.problem)) == (0, True)
