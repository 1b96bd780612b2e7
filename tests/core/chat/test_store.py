"""Chat files: strict when read, faithful when written, and one bad file hides nothing."""

import json
import os
import stat
from pathlib import Path

import msgspec
import pytest

from tests.conftest import Clock
from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.chat.fitting import TOO_LARGE, ChatLimits
from vibekit_desktop.core.chat.store import ChatStore, Mutated
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import Block, Chat, DiffFragment, Location, Message, ToolCall
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, ChatDamaged, ChatNotFound, InvalidId, NewerFormat
from vibekit_desktop.core.types.ids import ChatId

CHAT = ChatId("chat-0001")


@pytest.fixture
def chats(tmp_path: Path, clock: Clock) -> ChatStore:
    return ChatStore(Fs(), tmp_path / "vault", clock=clock)


def _chat(**fields: object) -> Chat:
    call = ToolCall(
        id="t-1",
        title="Edit a.py",
        kind="edit",
        input=msgspec.Raw(b'{"a":1}'),
        locations=(Location(path="a.py", line=3),),
        diffs=(DiffFragment(path="a.py", old_text="x", new_text=""),),
        ts=5,
    )
    messages = (
        Message(id="u-1", role="user", ts=1, content="Grüße 👋 \u2028 \\ud83d </script>", turn=1),
        Message(id="a-1", role="assistant", ts=2, content="Yes", tool_calls=(call,), blocks=(Block(text="Yes"),)),
    )
    return msgspec.structs.replace(Chat(id=CHAT, name="A chat", messages=messages, created_at=1, updated_at=2), **fields)


def _put(chats: ChatStore, data: bytes, name: str = f"{CHAT}.json") -> Path:
    chats.folder.mkdir(parents=True, exist_ok=True)
    path = chats.folder / name
    path.write_bytes(data)
    return path


def test_a_saved_chat_is_read_back_as_it_was(chats: ChatStore) -> None:
    chats.save(_chat(removed_turns=((2, 3, "branch-1"),), cut=True))
    found, raw = chats.load(CHAT)
    assert found == _chat(removed_turns=((2, 3, "branch-1"),), cut=True)
    assert raw["id"] == CHAT


def test_the_file_has_the_keys_that_the_original_always_writes(chats: ChatStore) -> None:
    chats.save(_chat())
    data = (chats.folder / f"{CHAT}.json").read_bytes()
    raw = json.loads(data)
    assert data.startswith(b'{\n  "id": "chat-0001",')
    assert not data.endswith(b"\n")
    assert {"id", "name", "messages", "usage", "created_at", "updated_at", "message_count"} <= set(raw)
    assert raw["messages"][0]["role"] == "user"
    call = raw["messages"][1]["tool_calls"][0]
    assert (call["kind"], call["status"], call["ts"], call["input"]) == ("edit", "completed", 5, {"a": 1})
    assert raw["messages"][1]["blocks"] == [{"type": "text", "text": "Yes"}]
    assert call["diffs"] == [{"path": "a.py", "new_text": "", "old_text": "x"}]
    chats.save(_chat(messages=None))
    assert json.loads((chats.folder / f"{CHAT}.json").read_bytes())["messages"] is None
    assert chats.load(CHAT)[0].messages is None


def test_files_are_private(chats: ChatStore) -> None:
    old = os.umask(0)
    try:
        chats.save(_chat())
    finally:
        os.umask(old)
    assert stat.S_IMODE(chats.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((chats.folder / f"{CHAT}.json").stat().st_mode) == 0o600


def test_keys_we_do_not_know_survive_at_every_depth(chats: ChatStore) -> None:
    chats.save(_chat())
    path = chats.folder / f"{CHAT}.json"
    raw = json.loads(path.read_bytes())
    raw["supervised_mode"] = True
    raw["usage"]["credits"] = 0.5
    raw["messages"][0]["attachments"] = [{"name": "x"}]
    raw["messages"][1]["refusal"] = {"category": "y"}
    raw["messages"][1]["tool_calls"][0]["weight"] = 7
    path.write_text(json.dumps(raw))
    found = chats.mutate(
        CHAT,
        lambda chat, _: msgspec.structs.replace(
            chat,
            name="New",
            messages=tuple(msgspec.structs.replace(message, ts=message.ts + 1) for message in chat.messages or ()),
        ),
    )
    assert found.chat.name == "New"
    again = json.loads(path.read_bytes())
    assert again["supervised_mode"] is True
    assert again["usage"]["credits"] == 0.5
    assert again["messages"][0]["attachments"] == [{"name": "x"}]
    assert again["messages"][0]["ts"] == 2
    assert again["messages"][1]["refusal"] == {"category": "y"}
    assert again["messages"][1]["tool_calls"][0]["weight"] == 7


def test_the_example_of_the_original_can_be_read(chats: ChatStore) -> None:
    example = {
        "id": CHAT,
        "name": "Add a retry",
        "acp_session_id": "sess_7f",
        "agent": "kiro",
        "auto_approve_crew": False,
        "messages": [
            {"id": "u-1", "role": "user", "content": "Retry.", "checkpoint_tag": "1", "ts": 1},
            {"id": "a-1", "role": "assistant", "ts": 2, "tool_calls": None, "blocks": [{"type": "text", "text": "Done."}]},
        ],
        "usage": {"context_pct": 3.5},
        "created_at": 1,
        "updated_at": 2,
        "message_count": 0,
    }
    _put(chats, json.dumps(example, indent=2).encode())
    found, _ = chats.load(CHAT)
    assert (found.acp_session_id, len(found.messages or ())) == ("sess_7f", 2)
    (header,) = chats.list()
    assert (header.turn_count, header.message_count, header.problem) == (1, 2, "")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON that can be written again"),
        (b'{"id": "chat-0001", "na', "not JSON that can be written again"),
        (b"[1]", "not an object"),
        (b'{"id":"chat-0001","name":"\\ud83d"}', "not JSON that can be written again"),
        (b'{"id":"chat-0001","name":"\xff"}', "not JSON that can be written again"),
        (b'{"id":"chat-0001","x":NaN}', "not JSON that can be written again"),
        (b'{"id":"chat-0001","x":' + b"9" * 10_000 + b"}", "not JSON that can be written again"),
        (b'{"id":"chat-0001","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"id":"chat-0001","name":"a","name":"b"}', "a key is given twice"),
        (b'{"id":"chat-0001","messages":[{"id":"u","id":"v"}]}', "a key is given twice"),
        (b'{"id":"chat-0001","messages":{}}', "a key has a value of a wrong type"),
        (b'{"id":"chat-0002"}', "the id inside is not the file's name"),
        (b'{"id":"chat-0001","messages":[{"id":"../x"}]}', "a message id is not valid"),
        (b'{"id":"chat-0001","parent_chat_id":"../x"}', "a chat id is not valid"),
    ],
)
def test_what_could_poison_a_later_save_is_damaged_and_never_overwritten(chats: ChatStore, data: bytes, reason: str) -> None:
    path = _put(chats, data)
    with pytest.raises(ChatDamaged) as refused:
        chats.load(CHAT)
    assert refused.value.reason == reason
    with pytest.raises(ChatDamaged):
        chats.save(_chat())
    with pytest.raises(ChatDamaged):
        chats.mutate(CHAT, lambda chat, _: chat)
    assert path.read_bytes() == data


def test_one_bad_file_is_a_damaged_row_and_hides_nothing(chats: ChatStore) -> None:
    chats.save(_chat())
    _put(chats, b"rubbish", "chat-0002.json")
    _put(chats, b'{"id":"chat-0009"}', "chat-0003.json")
    (chats.folder / "chat-0004.json").mkdir()
    _put(chats, b"draft", "chat-0001.plan.md")
    _put(chats, b"{}", "not an id!.json")
    rows = {row.id: row.problem for row in chats.list()}
    assert rows == {
        "chat-0001": "",
        "chat-0002": "not JSON that can be written again",
        "chat-0003": "the id inside is not the file's name",
        "chat-0004": "not a regular file",
    }


def test_the_list_is_newest_first_and_sees_changes(chats: ChatStore, clock: Clock) -> None:
    chats.save(_chat())
    chats.save(_chat(id="chat-0002", updated_at=9, parent_chat_id=CHAT, rewind_from_turn=2))
    first, second = chats.list()
    assert (first.id, first.parent_chat_id, first.rewind_from_turn) == ("chat-0002", CHAT, 2)
    assert (second.message_count, second.turn_count) == (2, 1)
    chats.mutate(CHAT, lambda chat, _: msgspec.structs.replace(chat, name="Newest", created_at=77))
    newest = chats.list()[0]
    assert (newest.id, newest.name, newest.updated_at, newest.created_at) == (CHAT, "Newest", clock(), 1)
    assert chats.header(CHAT) == newest


def test_an_empty_vault_has_no_chats_and_is_not_made_by_looking(chats: ChatStore) -> None:
    assert chats.list() == []
    assert not chats.folder.exists()
    with pytest.raises(ChatNotFound):
        chats.load(CHAT)
    assert chats.header(CHAT) is None


def test_ids_that_are_no_file_names_are_refused_before_a_path_is_made(chats: ChatStore) -> None:
    for text in ("..", "a/b", "", "x" * 300, "a\0", "con.txt"):
        with pytest.raises(InvalidId):
            chats.load(ChatId(text))
        with pytest.raises(InvalidId):
            chats.save(_chat(id=text))


def test_a_chat_over_the_limit_is_refused_and_the_old_file_stays(tmp_path: Path, clock: Clock) -> None:
    chats = ChatStore(Fs(), tmp_path, clock=clock, limits=ChatLimits(read=2500, write=2000, split_to=1000))
    chats.save(_chat())
    with pytest.raises(CannotWrite) as refused:
        chats.save(_chat(name="x" * 3000))
    assert refused.value.reason == TOO_LARGE
    assert chats.load(CHAT)[0] == _chat()
    _put(chats, b" " * 2501)
    with pytest.raises(CannotRead):
        chats.load(CHAT)
    chats.delete(CHAT)
    assert chats.list() == []


def test_a_chat_of_a_newer_version_is_shown_and_never_written(chats: ChatStore) -> None:
    data = b'{"id":"chat-0001","name":"From tomorrow","desktop_format":3,"messages":[]}'
    path = _put(chats, data)
    assert chats.load(CHAT)[0].name == "From tomorrow"
    with pytest.raises(NewerFormat):
        chats.mutate(CHAT, lambda chat, _: msgspec.structs.replace(chat, name="x"))
    assert path.read_bytes() == data


def test_a_change_that_declines_writes_nothing(chats: ChatStore, clock: Clock) -> None:
    chats.save(_chat())
    before = (chats.folder / f"{CHAT}.json").stat().st_mtime_ns
    clock.advance(5)
    assert chats.mutate(CHAT, lambda chat, _: None) == Mutated(_chat(), written=False, created=False)
    assert (chats.folder / f"{CHAT}.json").stat().st_mtime_ns == before


def test_a_failed_write_leaves_the_old_chat(tmp_path: Path, clock: Clock) -> None:
    class Broken(Fs):
        def fsync(self, fd: int) -> None:
            raise OSError(28, "No space left on device")

    ChatStore(Fs(), tmp_path, clock=clock).save(_chat())
    broken = ChatStore(Broken(), tmp_path, clock=clock)
    with pytest.raises(CannotWrite):
        broken.save(_chat(name="New"))
    assert broken.load(CHAT)[0] == _chat()
    assert [path.name for path in broken.folder.iterdir()] == [f"{CHAT}.json"]


def test_a_link_in_the_place_of_a_chat_is_not_followed(chats: ChatStore, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(codec.encode(_chat()))
    chats.folder.mkdir(parents=True)
    (chats.folder / f"{CHAT}.json").symlink_to(other)
    with pytest.raises(CannotRead):
        chats.load(CHAT)
    assert chats.list()[0].problem
