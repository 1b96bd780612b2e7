"""Whatever is done to one chat file: it is a row that says so in words, its bytes stay, and every other chat is there."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.chat.world import C1, C2, World, said, user
from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.chat.salvage import salvage, transcript
from vibekit_desktop.core.types.chats import Block, Chat, DiffFragment, Location, Message, ToolCall
from vibekit_desktop.core.types.errors import CannotRead, ChatDamaged, CoreError

CALL = ToolCall(
    id="t",
    title="Edit",
    kind="edit",
    output="ok\n",
    input=msgspec.Raw(b'{"a":[1,2]}'),
    locations=(Location(path="a.py", line=3),),
    diffs=(DiffFragment(path="a.py", old_text="ü", new_text="y"),),
    ts=5,
)
FULL = Chat(
    id=C2,
    name="Grüße",
    model="m",
    acp_session_id="s",
    prior_acp_session_ids=("r",),
    current_mode_id="code",
    parent_chat_id="other",
    rewind_from_turn=1,
    messages=(
        user("u1", "Tu das.", 1),
        Message(id="a1", role="assistant", ts=2, content="Ja", tool_calls=(CALL,), blocks=(Block(text="Ja"),)),
    ),
    created_at=1,
    updated_at=2,
    archived_at=3,
    summary="s",
    agent="A",
    source="claude-code",
    source_session="x",
    source_path="/p",
    source_stamp="1:2:3",
    recorded_workspace="/w",
    detached=True,
    cut=True,
    hooked_from=1,
    removed_turns=((1, 2, "branch"),),
    pinned_at=4,
)
GOOD = codec.encode(FULL)


def check(world: World, path: Path) -> bool:
    """Whether the file opens. If not, its row says so; in either case nothing else suffers, and no attempt changes a byte."""
    before = None if path.is_fifo() or path.is_dir() else path.read_bytes()
    rows = {row.id: row for row in world.chats.list()}
    assert rows[C1].problem == ""
    opens = True
    try:
        world.chats.load(C2)
    except (ChatDamaged, CannotRead):
        opens = False
    if opens:
        return True
    problem = {row.id: row.problem for row in world.chats.list()}[C2]
    assert problem
    assert problem.isprintable()
    assert "Tu das" not in problem
    for write in (
        lambda: world.chats.append(C2, said("late")),
        lambda: world.chats.save(FULL),
        lambda: world.chats.mutate(C2, lambda chat, _: FULL, create=True),
        lambda: world.transcripts.cut(C2, keep=0, branch=C1, first_turn=1, last_turn=1),
    ):
        with pytest.raises(CoreError):
            write()
    assert world.sweep() == 0
    if before is not None:
        assert path.read_bytes() == before
    return False


@pytest.fixture
def place(world: World) -> Callable[[bytes], Path]:
    world.make(C1, user("u"))

    def put(data: bytes) -> Path:
        return world.plant(data, f"{C2}.json")

    return put


Place = Callable[[bytes], Path]


def test_the_good_file_is_good(world: World, place: Place) -> None:
    assert check(world, place(GOOD))
    assert world.get(C2) == FULL


def test_every_cut_is_damage(world: World, place: Place) -> None:
    for at in range(0, len(GOOD), 97):
        assert not check(world, place(GOOD[:at]))
        assert world.chats.list()[-1].problem or world.chats.list()[0].problem


def test_every_flipped_bit_either_opens_or_is_said(world: World, place: Place) -> None:
    opened = 0
    for at in range(0, len(GOOD), 13):
        for bit in (0x01, 0x10, 0x80):
            opened += check(world, place(GOOD[:at] + bytes([GOOD[at] ^ bit]) + GOOD[at + 1 :]))
    assert opened, "a letter of a text may be another one"


def test_every_zeroed_range_is_damage(world: World, place: Place) -> None:
    for at in range(0, len(GOOD) - 16, 61):
        assert not check(world, place(GOOD[:at] + bytes(16) + GOOD[at + 16 :]))


@pytest.mark.parametrize("kind", ["folder", "fifo", "link", "dangling"])
def test_something_else_in_the_place_of_a_chat_is_a_damaged_row(world: World, place: Place, tmp_path: Path, kind: str) -> None:
    path = place(b"")
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        (tmp_path / "target").write_bytes(GOOD)
        path.symlink_to(tmp_path / ("target" if kind == "link" else "nowhere"))
        with pytest.raises(CannotRead):
            world.chats.load(C2)
        assert {row.id: row.problem for row in world.chats.list()}[C2] == "not a regular file"
        assert (tmp_path / "target").read_bytes() == GOOD
        return
    assert not check(world, path)


def test_nesting_huge_numbers_and_what_is_no_json_is_damage(world: World, place: Place) -> None:
    text = GOOD.decode()
    for wrong in (
        text.replace('"cut": true', '"cut": true,\n  "x": ' + "[" * 100_000 + "]" * 100_000),
        text.replace('"cut": true', '"cut": ' + "[" * 100_000 + "]" * 100_000),
        text.replace('"created_at": 1', '"created_at": ' + "9" * 10_000),
        text.replace('"created_at": 1', '"created_at": NaN'),
        text.replace('"created_at": 1', '"created_at": 1e400'),
        text.replace('"created_at": 1', '"created_at": 1.5'),
        text.replace('"ts": 2', '"ts": 99999999999999999999'),
        text.replace('"updated_at": 2', '"updated_at": -99999999999999999999'),
        text.replace("Grüße", "\\ud83d"),
        text.replace("Tu das", "\\udc00"),
        text.replace('"model": "m"', '"model": "m",\n  "x": "\\ud83d"'),
        "\ufeff" + text,
        text + "x",
        text.replace("\n", "\n\0", 1),
    ):
        assert not check(world, place(wrong.encode())), wrong[:60]
    for raw in (
        GOOD.replace("Grüße".encode(), b"\xff\xfe"),
        GOOD.replace(b'"m"', b'"m",\n  "x": "\xff"'),
        GOOD.decode().encode("utf-16"),
    ):
        assert not check(world, place(raw))


def test_a_key_given_twice_is_damage(world: World, place: Place) -> None:
    compact = msgspec.json.encode(msgspec.json.decode(GOOD))
    assert not check(world, place(compact.replace(b'"cut":true', b'"cut":true,"cut":false')))
    assert not check(world, place(compact.replace(b'"role":"user"', b'"role":"user","role":"event"')))
    place(GOOD.replace(b'"cut": true', b'"cut": true,\n  "cut": false'))
    with pytest.raises(ChatDamaged):
        world.chats.load(C2)
    assert {row.id: row.problem for row in world.chats.list()}[C2] == "a key is given twice"


WRONG: tuple[object, ...] = (None, 7, -1.5, True, "x", [], {}, [[]], {"a": {}}, [7], [{"type": 3}], "../x")


def places(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """The way to every value in a chat."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index)
            yield from places(item, (*path, index))


def replaced(value: object, path: tuple[object, ...], wrong: object) -> object:
    if not path:
        return wrong
    if isinstance(value, dict):
        return {key: replaced(item, path[1:], wrong) if key == path[0] else item for key, item in value.items()}
    assert isinstance(value, list)
    return [replaced(item, path[1:], wrong) if index == path[0] else item for index, item in enumerate(value)]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_wrong_type_in_any_field_either_opens_or_is_said_by_its_row_at_once(
    world: World, place: Place, indent: int | None
) -> None:
    raw = json.loads(GOOD)
    for path in places(raw):
        for wrong in WRONG:
            place(json.dumps(replaced(raw, path, wrong), indent=indent, ensure_ascii=False).encode())
            problem = {row.id: row.problem for row in world.chats.list()}[C2]
            try:
                found = world.chats.load(C2)[0]
            except ChatDamaged:
                assert problem, (path, wrong)
            else:
                assert problem == "", (path, wrong)
                codec.encode(found, raw)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_row(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    world = World(tmp_path_factory.mktemp("any") / "vault", Clock())
    world.plant(data, f"{C2}.json")
    assert world.ids() == [C2]
    with pytest.raises(ChatDamaged):
        world.chats.load(C2)


def test_a_chat_file_that_is_larger_than_any_is_never_read(world: World, place: Place) -> None:
    path = place(b"")
    with path.open("wb") as file:
        file.truncate(200 << 20)
    rows = {row.id: row.problem for row in world.chats.list()}
    assert rows == {C1: "", C2: "too large"}
    with pytest.raises(CannotRead):
        world.chats.load(C2)


# -- what its row can still say ----------------------------------------------------------------------------------


def test_the_row_of_a_damaged_chat_has_its_name_and_says_how_many_messages_are_unreadable(world: World) -> None:
    raw = json.loads(GOOD)
    raw["messages"][0]["role"], raw["messages"][1] = 5, None
    world.plant(json.dumps(raw, indent=2).encode(), f"{C2}.json")
    row = {row.id: row for row in world.chats.list()}[C2]
    assert (row.name, row.agent, row.updated_at, row.unreadable) == (FULL.name, FULL.agent, FULL.updated_at, 2)
    assert row.message_count == 0, "nothing is new in it that could be read"
    assert row.problem


def test_a_message_with_calls_or_with_a_null_of_the_original_counts_as_readable() -> None:
    raw = json.loads(GOOD)
    raw["messages"][0]["role"], raw["messages"][1]["diffs"] = 5, None
    assert (salvage(json.dumps(raw).encode()).messages, salvage(json.dumps(raw).encode()).unreadable) == (2, 1)


@pytest.mark.parametrize("cut", [200, len(GOOD) // 2, len(GOOD) - 1])
def test_of_a_chat_file_that_was_cut_off_the_name_is_still_known(cut: int) -> None:
    found = salvage(GOOD[:cut])
    assert (found.name, found.unreadable) == (FULL.name, 0)


@given(st.binary(max_size=400), st.integers(0, len(GOOD)))
def test_nothing_that_stands_in_a_file_is_too_much_for_its_row(junk: bytes, at: int) -> None:
    for data in (junk, GOOD[:at] + junk + GOOD[at:], b"[" * 5_000, b'{"messages": [null, 1, []], "name": 5}', b""):
        found = salvage(data)
        assert 0 <= found.unreadable <= found.messages
        chat, damage = transcript(data, C2, "no chat", "/chats/chat-0002.json")
        assert chat.id == C2
        assert len(damage.lost) <= damage.messages == chat.first_index + len(chat.messages or ())
