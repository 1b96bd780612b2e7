"""Opening a chat costs its file, however long the chat is, and what is shown is what is stored."""

from pathlib import Path

import msgspec
import pytest

from tests.conftest import Clock
from tests.core.chat.world import C1, SMALL, Unsynced, World, said, turns, user
from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.chat.fitting import ChatLimits
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.errors import ChatDamaged, NewerFormat

LONG = turns(30)
LARGE = turns(3, 1_200_000)


class Noting(Unsynced):
    """Notes which files are opened."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        self.opened.append(Path(path).name)
        return super().open(path, flags, mode, dir_fd=dir_fd)


def test_of_the_parts_only_the_beginning_of_the_last_one_is_read(tmp_path: Path, clock: Clock) -> None:
    fs = Noting()
    world = World(tmp_path, clock, fs, limits=SMALL)
    world.make(C1, *LONG)
    world.reopen()
    fs.opened.clear()
    found, _ = world.chats.load_to_show(C1)
    shape = world.transcripts.shape_of(found, newest=True)
    row = world.chats.header(C1)
    assert fs.opened == [f"{C1}.json", f"{C1}-{found.parts[-1].n}.json"]
    whole = world.transcripts.shape_of(found)
    assert min(shape.prompt_index.values()) < found.first_index
    assert shape.prompt_index.items() <= whole.prompt_index.items()
    assert (shape.messages, row and row.message_count) == (60, 60)
    assert {index for index in whole.prompt_index.values() if index >= found.first_index} <= set(shape.prompt_index.values())


def test_where_prompts_do_not_say_their_turn_all_of_them_are_told(small: World) -> None:
    small.make(C1, *(msgspec.structs.replace(message, turn=0) for message in LONG))
    found, _ = small.chats.load_to_show(C1)
    assert found.parts
    assert small.transcripts.shape_of(found, newest=True) == small.transcripts.shape_of(found)


def test_a_damaged_last_part_does_not_keep_a_chat_from_being_shown(small: World) -> None:
    small.make(C1, *LONG)
    found, _ = small.chats.load_to_show(C1)
    small.chats.parts.path(C1, found.parts[-1].n).write_bytes(b"{")
    shape = small.transcripts.shape_of(found, newest=True)
    assert min(shape.prompt_index.values()) >= found.first_index


@pytest.mark.parametrize("messages", [LONG, LARGE], ids=["small", "large"])
def test_what_is_shown_is_what_is_stored(world: World, messages: tuple[Message, ...]) -> None:
    world.make(C1, *messages)
    loaded, raw = world.chats.load(C1)
    shown, stored = world.chats.load_to_show(C1)
    assert {field: getattr(shown, field) for field in loaded.__struct_fields__} == {
        field: getattr(loaded, field) for field in loaded.__struct_fields__
    }
    assert dict(stored) == {**raw, "message_count": len(messages)}
    assert len(stored) == len(raw)
    world.reopen()
    assert world.chats.header(C1) == world.chats.list()[0]


@pytest.mark.parametrize("wrong", [b'"name": 7', b'"id": "other"', b'"messages": [{"id": "../x"}]', b'"name": "\\ud800"', b"}"])
def test_a_large_damaged_chat_is_not_shown(world: World, wrong: bytes) -> None:
    filling = b'"summary": "' + b"x" * (codec.CHECKED_BYTES + 9) + b'"'
    world.plant(b'{\n  "id": "%s",\n  %s,\n  %s\n}' % (C1.encode(), filling, wrong), f"{C1}.json")
    with pytest.raises(ChatDamaged):
        world.chats.load_to_show(C1)
    row = world.chats.header(C1)
    assert row is not None
    assert row.problem


def test_the_original_s_large_file_with_nulls_is_shown(world: World) -> None:
    filling = b'"summary": "' + b"x" * (codec.CHECKED_BYTES + 9) + b'"'
    world.plant(b'{\n  "id": "%s",\n  %s,\n  "parts": null,\n  "messages": null\n}' % (C1.encode(), filling), f"{C1}.json")
    assert world.chats.load_to_show(C1)[0].messages is None


def test_a_large_newer_chat_is_shown_and_not_changed(world: World) -> None:
    world.make(C1, *LARGE)
    data = world.file(C1).read_bytes().replace(b'"desktop_format": 1', b'"desktop_format": 9')
    world.file(C1).write_bytes(data)
    world.chats.load_to_show(C1)
    row = world.chats.header(C1)
    assert row is not None
    assert row.newer
    with pytest.raises(NewerFormat):
        world.chats.append(C1, said("more"))


def test_a_file_whose_frame_is_large_is_not_split_at_every_change(tmp_path: Path, clock: Clock) -> None:
    world = World(tmp_path, clock, limits=ChatLimits(read=60_000, write=50_000, split_over=6_000, split_to=2_000))
    world.make(C1, *turns(3))
    world.chats.mutate(C1, lambda chat, _: msgspec.structs.replace(chat, summary="x" * 9_000))
    parts = [len(world.chats.append(C1, user(f"more-{number}", "x" * 100)).chat.parts) for number in range(60)]
    assert 1 <= parts[-1] <= 12
    assert world.chats.count(world.get()) == 66
    world.chats.append(C1, said("large", "x" * 30_000))
    assert [message.id for message in world.get().messages or ()] == ["large"], "the largest that is written is another matter"
