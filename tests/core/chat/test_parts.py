"""Long chats: older messages in parts, nothing left out, and whatever is done to the chat is done to all of it."""

import json
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.chat.world import BRANCH, C1, C2, SMALL, Unsynced, World, said, turns, user
from vibekit_desktop.core.chat import codec, fitting, leftovers, split
from vibekit_desktop.core.chat.fitting import TOO_LARGE, ChatLimits
from vibekit_desktop.core.types.chats import Chat, Message
from vibekit_desktop.core.types.errors import BugError, CannotWrite, ChatDamaged
from vibekit_desktop.core.types.ids import ChatId

LONG = turns(30)


@pytest.fixture
def long(small: World) -> World:
    """A vault with a chat of thirty turns, most of them in parts."""
    small.make()
    for message in LONG:
        small.chats.append(C1, message)
    assert len(small.get().parts) > 2
    return small


def all_messages(world: World, chat: ChatId = C1) -> tuple[Message, ...]:
    return world.chats.whole(world.get(chat)).messages or ()


def parts_on_disk(world: World, chat: ChatId = C1) -> set[int]:
    return set(world.chats.parts.numbers().get(chat, ()))


# -- splitting -----------------------------------------------------------------------------------------------------


def test_a_chat_that_grows_past_the_limit_keeps_every_message(long: World) -> None:
    found = long.get()
    assert all_messages(long) == LONG
    assert long.chats.count(found) == len(LONG)
    assert found.first_index + len(found.messages or ()) == len(LONG)
    assert long.file(C1).stat().st_size <= SMALL.write
    assert all(part.size <= SMALL.split_to + 100 for part in found.parts)
    row = long.chats.header(C1)
    assert row is not None
    assert (row.message_count, row.turn_count) == (60, 30)


def test_the_file_begins_with_a_prompt_and_says_its_format(long: World) -> None:
    raw = json.loads(long.file(C1).read_bytes())
    assert raw["messages"][0]["role"] == "user"
    assert raw["desktop_format"] == 2
    assert [part["n"] for part in raw["parts"]] == sorted(parts_on_disk(long))
    long.make(C2, user("u"))
    assert json.loads(long.file(C2).read_bytes())["desktop_format"] == 1


def test_an_append_writes_no_part_again(long: World) -> None:
    folder = long.chats.parts.folder
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    long.chats.append(C1, user("new"))
    assert {path.name: path.stat().st_ino for path in folder.iterdir()} == before


def test_every_page_is_the_same_as_of_the_whole(long: World) -> None:
    found = long.get()
    for first in range(0, 60, 7):
        for last in (first, first + 1, first + 9, 60, 99):
            assert long.chats.page(found, first, last) == LONG[first:last]
    assert long.chats.page(found, -5, 2) == LONG[:2]


def test_a_message_larger_than_a_file_goes_into_a_part_of_its_own(small: World) -> None:
    small.make(C1, user("u"), said("a"))
    small.chats.append(C1, user("big", "x" * 10_000))
    found = small.get()
    assert (found.messages, [part.messages for part in found.parts]) == ((), [2, 1])
    small.chats.append(C1, said("b"))
    assert [message.id for message in all_messages(small)] == ["u", "a", "big", "b"]


def test_a_message_that_fits_into_the_file_by_itself_stays_there(small: World) -> None:
    small.make(C1, *turns(5))
    small.chats.append(C1, user("big", "x" * 5_000))
    found = small.get()
    assert [message.id for message in found.messages or ()] == ["big"]
    assert [message.id for message in all_messages(small)] == [*(message.id for message in turns(5)), "big"]


def test_a_chat_that_is_too_large_without_its_messages_is_refused(long: World) -> None:
    before = long.tree()
    with pytest.raises(CannotWrite) as refused:
        long.chats.mutate(C1, lambda chat, _: msgspec.structs.replace(chat, summary="x" * 9_000))
    assert refused.value.reason == TOO_LARGE
    assert long.tree() == before


def test_keys_we_do_not_know_are_in_the_parts_and_come_back(small: World) -> None:
    small.make(C1, *turns(9))
    raw = json.loads(small.file(C1).read_bytes())
    for message in raw["messages"]:
        message["starred"] = message["id"]
    small.file(C1).write_text(json.dumps(raw, indent=2))
    small.chats.append(C1, user("big", "x" * 4_000))
    assert small.get().parts
    small.transcripts.branch(C1, BRANCH, keep=3, first_turn=2)
    assert [item["starred"] for item in json.loads(small.file(BRANCH).read_bytes())["messages"]] == ["u1", "a1", "u2"]
    small.transcripts.keep_as_branch(C1, C2, keep=3, first_turn=2)
    small.transcripts.cut(C1, keep=3, branch=C2, first_turn=2, last_turn=9)
    assert [item["starred"] for item in json.loads(small.file(C1).read_bytes())["messages"]] == ["u1", "a1", "u2"]
    small.transcripts.bring_back(C1, C2)
    first = small.get().parts[0]
    assert b'"starred":"u1"' in small.chats.parts.path(C1, first.n).read_bytes()


def test_saving_the_whole_transcript_again_keeps_the_parts_that_are_the_same(long: World) -> None:
    before = long.get()
    _, raw = long.chats.load(C1)
    again = long.chats.save(long.chats.whole(before), raw)
    assert again.parts == before.parts
    changed = (*LONG[:20], said("other"), *LONG[21:])
    _, raw = long.chats.load(C1)
    later = long.chats.save(msgspec.structs.replace(again, parts=(), messages=changed), raw)
    kept = [part for part in later.parts if part in before.parts]
    assert kept
    assert kept == list(before.parts[: len(kept)])
    assert all_messages(long) == changed
    assert parts_on_disk(long) == {part.n for part in later.parts}, "what nothing names is gone"


def test_a_whole_transcript_that_fits_into_a_file_needs_no_parts(long: World) -> None:
    _, raw = long.chats.load(C1)
    saved = long.chats.save(msgspec.structs.replace(long.get(), parts=(), messages=LONG[:4]), raw)
    assert saved.parts == ()
    assert parts_on_disk(long) == set()


# -- changing ------------------------------------------------------------------------------------------------------


def test_a_message_in_a_part_can_be_changed_and_only_its_part_is_made_anew(long: World) -> None:
    before = long.get()
    done = long.chats.update(C1, "u3", lambda message: msgspec.structs.replace(message, checkpoint_tag="3"))
    assert done.written
    assert [message.checkpoint_tag for message in all_messages(long) if message.checkpoint_tag] == ["3"]
    assert len([part for part in done.chat.parts if part not in before.parts]) == 1
    assert parts_on_disk(long) == {part.n for part in done.chat.parts}
    assert not long.chats.update(C1, "u3", lambda message: None).written
    assert not long.chats.update(C1, "u3", lambda message: message).written
    assert not long.chats.update(C1, "nobody", lambda message: None).written
    with pytest.raises(BugError):
        long.chats.update(C1, "u3", lambda message: msgspec.structs.replace(message, id="x"))


def test_a_cut_inside_the_parts_and_back(long: World) -> None:
    for keep in (0, 1, 5, 13, 40, 59, 60):
        branch = ChatId(f"branch-{keep}")
        long.transcripts.keep_as_branch(C1, branch, keep=keep, first_turn=1)
        long.transcripts.cut(C1, keep=keep, branch=branch, first_turn=1, last_turn=30)
        long.transcripts.cut(C1, keep=keep, branch=branch, first_turn=1, last_turn=30)
        assert all_messages(long) == LONG[:keep]
        assert all_messages(long, branch) == LONG
        assert parts_on_disk(long) == {part.n for part in long.get().parts}
        long.transcripts.bring_back(C1, branch)
        long.transcripts.bring_back(C1, branch)
        assert all_messages(long) == LONG
        assert (long.chats.exists(branch), parts_on_disk(long, branch)) == (False, set())
        assert parts_on_disk(long) == {part.n for part in long.get().parts}


def test_a_branch_of_a_long_chat_shares_the_parts_and_lives_on_its_own(long: World) -> None:
    long.transcripts.branch(C1, BRANCH, keep=41, first_turn=21)
    assert all_messages(long, BRANCH) == LONG[:41]
    shared = long.get(BRANCH).parts[0]
    path = long.chats.parts.path(BRANCH, shared.n)
    assert path.stat().st_nlink == 2
    long.chats.delete(C1)
    assert all_messages(long, BRANCH) == LONG[:41]
    long.chats.append(BRANCH, user("more"))
    assert long.chats.count(long.get(BRANCH)) == 42


def test_without_hard_links_a_branch_has_copies(tmp_path: Path, clock: Clock) -> None:
    class Bare(Unsynced):
        def link(self, old: Path, new: Path) -> None:
            if not os.path.lexists(old):
                raise FileNotFoundError(2, "No such file or directory")
            raise PermissionError(1, "Operation not permitted")

    world = World(tmp_path / "vault", clock, Bare(), limits=SMALL)
    world.make(C1, *LONG)
    world.transcripts.keep_as_branch(C1, BRANCH, keep=0, first_turn=1)
    assert all_messages(world, BRANCH) == LONG
    assert {path.stat().st_nlink for path in world.chats.parts.folder.iterdir()} == {1}
    world.transcripts.cut(C1, keep=11, branch=BRANCH, first_turn=1, last_turn=30)
    world.transcripts.bring_back(C1, BRANCH)
    assert all_messages(world) == LONG


def test_parts_stay_with_a_chat_that_is_archived_and_go_with_one_that_is_deleted(long: World) -> None:
    long.archive.archive(C1)
    assert all_messages(long) == LONG
    assert long.sweep() == 0
    long.archive.unarchive(C1)
    assert all_messages(long) == LONG
    long.chats.delete(C1)
    assert parts_on_disk(long) == set()


def test_the_prompts_of_a_long_chat_are_found_without_decoding_messages(long: World) -> None:
    shape = long.transcripts.shape(C1)
    assert shape.messages == 60
    assert dict(shape.prompt_index) == {turn: 2 * (turn - 1) for turn in range(1, 31)}
    assert shape.prompts[3] == "prompt 3"
    part = long.chats.parts.write(C2, 1, LONG[:2], ["no message at all", 7])
    assert [turn for _, turn, _ in long.chats.parts.prompts(C2, part)] == [1]


# -- damage --------------------------------------------------------------------------------------------------------


def break_part(world: World, index: int, data: bytes | None) -> int:
    part = world.get().parts[index]
    path = world.chats.parts.path(C1, part.n)
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    world.reopen()
    return part.n


@pytest.mark.parametrize("data", [None, b"", b"rubbish", b"[" * 9999])
def test_a_damaged_part_is_said_by_its_number_and_the_rest_of_the_chat_opens(long: World, data: bytes | None) -> None:
    n = break_part(long, 1, data)
    found = long.get()
    start = found.parts[0].messages
    end = start + found.parts[1].messages
    assert long.chats.page(found, 0, start) == LONG[:start]
    assert long.chats.page(found, end, 60) == LONG[end:]
    with pytest.raises(ChatDamaged) as said_so:
        long.chats.page(found, start, start + 1)
    assert f"part {n} " in said_so.value.reason
    with pytest.raises(ChatDamaged):
        long.chats.whole(found)
    assert len(long.chats.damaged_parts(found)) == 1
    row = long.chats.header(C1)
    assert row is not None
    assert (row.problem, row.message_count) == ("", 60)
    known = long.transcripts.shape(C1)
    assert known.messages == 60
    assert all(known.prompt_index[turn] == 2 * (turn - 1) for turn in known.prompt_index)
    assert 30 in known.prompt_index
    long.chats.append(C1, user("more"))
    assert long.chats.count(long.get()) == 61
    with pytest.raises(ChatDamaged):
        long.chats.update(C1, "nobody", lambda message: message)


def test_one_flipped_bit_in_a_part_is_found(long: World) -> None:
    path = long.chats.parts.path(C1, long.get().parts[0].n)
    whole = path.read_bytes()
    for at in range(0, len(whole), 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        long.reopen()
        with pytest.raises(ChatDamaged):
            long.chats.page(long.get(), 0, 1)


def test_the_prompts_of_a_part_are_known_while_its_beginning_is_whole(long: World) -> None:
    part = long.get().parts[0]
    path = long.chats.parts.path(C1, part.n)
    whole = path.read_bytes()
    prompts = long.chats.parts.prompts(C1, part)
    for data in (whole[: part.head], whole[:-1] + b"x", whole + b"x"):
        path.write_bytes(data)
        long.reopen()
        assert long.chats.parts.prompts(C1, part) == prompts
    for at in range(0, part.head, 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        long.reopen()
        with pytest.raises(ChatDamaged):
            long.chats.parts.prompts(C1, part)
        assert long.transcripts.shape(C1).messages == 60


def test_a_cut_in_a_chat_with_a_damaged_part_loses_no_other_message(long: World) -> None:
    break_part(long, 1, None)
    found = long.get()
    start = found.parts[0].messages
    end = start + found.parts[1].messages
    long.transcripts.keep_as_branch(C1, BRANCH, keep=2, first_turn=2)
    long.transcripts.cut(C1, keep=2, branch=BRANCH, first_turn=2, last_turn=30)
    assert all_messages(long) == LONG[:2]
    assert long.chats.page(long.get(BRANCH), end, 60) == LONG[end:]
    long.transcripts.bring_back(C1, BRANCH)
    assert long.chats.page(long.get(), end, 60) == LONG[end:]
    assert long.chats.page(long.get(), 0, start) == LONG[:start]


@pytest.mark.parametrize(
    "parts",
    [
        {},
        7,
        [{}],
        [{"n": 0, "messages": 1, "size": 9, "head": 1, "head_sha": "b" * 64, "sha": "a" * 64}],
        [{"n": 1, "messages": 0, "size": 9, "head": 1, "head_sha": "b" * 64, "sha": "a" * 64}],
        [{"n": 1, "messages": 1, "size": 9, "head": 1, "head_sha": "b" * 64, "sha": "../../x"}],
        [{"n": "1", "messages": 1, "size": 9, "head": 1, "head_sha": "b" * 64, "sha": "a" * 64}],
        [{"n": 1, "messages": 1, "size": 9, "head": 1, "head_sha": "b" * 64, "sha": "a" * 64}] * 2,
        [{"n": 1, "messages": 1, "size": 9, "head": 9, "head_sha": "b" * 64, "sha": "a" * 64}],
        [{"n": 1, "messages": 1, "prompts": 2, "size": 9, "head": 1, "head_sha": "b" * 64, "sha": "a" * 64}],
    ],
)
def test_parts_that_cannot_be_are_damage_and_no_part_file_is_removed_for_it(long: World, parts: object) -> None:
    raw = json.loads(long.file(C1).read_bytes())
    raw["parts"] = parts
    long.file(C1).write_text(json.dumps(raw, indent=2))
    before = parts_on_disk(long)
    assert long.chats.list()[0].problem
    with pytest.raises(ChatDamaged):
        long.get()
    assert long.sweep() == 0
    assert parts_on_disk(long) == before


def test_parts_that_no_chat_names_are_swept(long: World) -> None:
    stray = long.chats.parts.write(C1, 77, LONG[:2], [])
    orphan = long.chats.parts.write(ChatId("gone"), 1, LONG[:2], [])
    (long.chats.parts.folder / "notes.txt").write_text("x")
    assert long.sweep() == 2
    assert not long.chats.parts.path(C1, stray.n).exists()
    assert not long.chats.parts.path(ChatId("gone"), orphan.n).exists()
    assert (long.chats.parts.folder / "notes.txt").exists()
    assert all_messages(long) == LONG


def test_a_link_in_the_place_of_a_part_is_not_followed(long: World) -> None:
    part = long.get().parts[0]
    path = long.chats.parts.path(C1, part.n)
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")
    long.reopen()
    with pytest.raises(ChatDamaged):
        long.chats.page(long.get(), 0, 1)


# -- where to split ------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 120), max_size=30), st.integers(0, 100), st.integers(0, 200), st.integers(1, 90))
def test_a_split_keeps_order_and_room(sizes: list[int], room: int, more: int, limit: int) -> None:
    messages = [user(f"m{index}") if index % 3 == 0 else said(f"m{index}") for index in range(len(sizes))]
    most = room + more
    first = split.first_kept(messages, sizes, room=room, most=most)
    kept = sizes[first:]
    assert sum(kept) <= max(room, most if len(kept) == 1 else 0)
    groups = list(split.groups(sizes[:first], limit))
    assert [index for start, end in groups for index in range(start, end)] == list(range(first))
    assert all(end - start == 1 or sum(sizes[start:end]) <= limit for start, end in groups)


STEPS = st.lists(st.tuples(st.sampled_from("aaaaubkcx"), st.integers(0, 10**6), st.integers(1, 1500)), max_size=25)


@given(steps=STEPS)
def test_any_history_of_a_long_chat_says_what_one_list_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    world = World(tmp_path_factory.mktemp("model") / "vault", Clock(), limits=SMALL)
    world.make()
    present: tuple[Message, ...] = ()
    cuts: list[tuple[ChatId, tuple[Message, ...]]] = []
    for number, (kind, choice, size) in enumerate(steps):
        fresh = f"m{number}"
        if kind == "a":
            message = user(fresh, "x" * size, number) if choice % 2 else said(fresh, "y" * size)
            world.chats.append(C1, message)
            present = (*present, message)
        elif kind == "u" and present:
            index = choice % len(present)
            new = msgspec.structs.replace(present[index], content="z" * size)
            world.chats.update(C1, new.id, lambda _, new=new: new)  # type: ignore[misc]  # bound at once
            present = (*present[:index], new, *present[index + 1 :])
        elif kind == "b":
            keep = choice % (len(present) + 1)
            world.transcripts.branch(C1, ChatId(f"branch-{number}"), keep=keep, first_turn=1)
            assert all_messages(world, ChatId(f"branch-{number}")) == present[:keep]
        elif kind == "k":
            keep, branch = choice % (len(present) + 1), ChatId(f"kept-{number}")
            world.transcripts.keep_as_branch(C1, branch, keep=keep, first_turn=1)
            world.transcripts.cut(C1, keep=keep, branch=branch, first_turn=1, last_turn=2)
            cuts.append((branch, present))
            present = present[:keep]
        elif kind == "c" and cuts:
            branch, present = cuts.pop()
            world.transcripts.bring_back(C1, branch)
        elif kind == "x":
            found, raw = world.chats.load(C1)
            world.chats.save(world.chats.whole(found), raw)
        found = world.get()
        assert all_messages(world) == present
        assert world.chats.count(found) == len(present)
        assert world.file(C1).stat().st_size <= SMALL.write
        assert parts_on_disk(world) == {part.n for part in found.parts}
        row = world.chats.header(C1)
        assert row is not None
        assert row.message_count == len(present)
    for branch, before in cuts:
        assert all_messages(world, branch) == before
    assert world.sweep() == 0
    assert [row.problem for row in world.chats.list() if row.problem] == []


def test_a_chat_value_without_parts_is_its_own_whole(world: World) -> None:
    chat = world.make(C1, user("u"))
    assert world.chats.whole(chat) is chat
    assert world.chats.whole(Chat(id=C1)).messages is None


def test_a_change_clears_away_what_an_earlier_one_left(long: World) -> None:
    stray = long.chats.parts.write(C1, 77, LONG[:2], [])
    long.chats.append(C1, user("new"))
    assert not long.chats.parts.path(C1, stray.n).exists()
    assert all_messages(long)[:-1] == LONG


def test_two_chats_of_one_id_keep_the_parts_of_both(long: World) -> None:
    long.archive.archive(C1)
    kept = (long.archived / f"{C1}.json").read_bytes()
    before = parts_on_disk(long)
    long.plant(kept, f"{C1}.json")
    long.chats.save(Chat(id=C1, name="other", messages=turns(40)))
    long.chats.append(C1, user("new"))
    assert parts_on_disk(long) > before
    assert long.sweep() == 0
    long.chats.delete(C1)
    assert (long.archived / f"{C1}.json").read_bytes() == kept
    assert parts_on_disk(long) == before
    assert all_messages(long) == LONG


def test_a_sweep_has_nothing_to_do_where_there_is_nothing(long: World) -> None:
    assert not leftovers.there_are(long.chats)
    long.chats.parts.write(ChatId("gone"), 1, LONG[:2], [])
    assert leftovers.there_are(long.chats)
    long.sweep()
    assert not leftovers.there_are(long.chats)
    long.plant(b"", ".vibekit-temp-" + "0" * 24)
    assert leftovers.there_are(long.chats)
    long.sweep()
    assert not leftovers.there_are(long.chats)


def test_whether_many_messages_fit_is_known_without_writing_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = ChatLimits(split_over=50_000, split_to=20_000, write=200_000)
    for count, length in ((400, 10), (400, 400), (3_000, 1), (3_000, 20), (3_000, 400)):
        told = tuple(Message(id=f"m{n}", role="user", content="x" * length) for n in range(count))
        chat = Chat(id=C1, name="Long", messages=told)
        monkeypatch.setattr(fitting, "_MANY", 1_000_000)
        slow = fitting._much_too_long(codec.objects(told, []), limits, 500)
        monkeypatch.setattr(fitting, "_MANY", 1_000)
        soon = fitting._much_too_long(codec.objects(told, []), limits, 500)
        assert not slow
        whole = len(codec.encode_with(chat, {}, codec.objects(told, [])))
        assert soon == (count > 1_000 and whole > 2 * max(50_000, limits.threshold(500))), (count, length, whole)
