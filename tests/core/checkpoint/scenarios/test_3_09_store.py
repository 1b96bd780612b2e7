"""Scenarios 120, 121, 135 and 136 of the specification: chats and where they lie. The collector's are told elsewhere."""

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.checkpoint.scenarios.session import Session
from tests.core.checkpoint.world import A, B
from tests.helpers.original import OriginalStore
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import InvalidId
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id


def test_120_one_chat_is_one_history_and_another_another(session: Session) -> None:
    session.turn({"a": b"1"})
    session.turn({"b": b"1"}, B)
    vault = session.world.vault
    assert vault.memory.view(A) is vault.memory.view(A)
    assert [line.path for line in vault.lines(A) if line.type == "snapshot"] == ["a"]
    assert [line.path for line in vault.lines(B) if line.type == "snapshot"] == ["b"]


@pytest.mark.parametrize("loaded", [True, False])
def test_121_a_deleted_chat_has_no_tags_any_more_and_its_folder_is_gone(session: Session, loaded: bool) -> None:
    world = session.world
    session.turn({"a": b"1"})
    session.turn({"b": b"1"}, B)
    if loaded:
        world.kernel.timeline(A)
    else:
        world.reopen()
    world.kernel.retire(A)
    assert not world.log_path(A).parent.exists()
    assert world.vault.chats_with_logs() == [B]
    assert OriginalStore(world.vault_folder, world.root, world.clock).oldest_tag(A) == ""
    world.kernel.retire(B)
    world.reopen()
    assert [world.kernel.oldest_tag(chat) for chat in (A, B)] == [None, None]


def test_121_a_chat_that_was_deleted_and_comes_again_begins_anew(session: Session) -> None:
    """Its number goes on, so that what other chats know of its turns stays true."""
    world = session.world
    session.turn({"a": b"1"})
    world.kernel.retire(A)
    session.turn({"a": b"2"})
    assert session.tags() == ["1"]
    assert world.at("1", "a") == b"1"


@pytest.mark.parametrize("text", ["chat-abc123", "a", "ABCdef-0123456789", "a_b", "x" * 128])
def test_135_an_id_is_the_name_of_its_folder(text: str, tmp_path: Path, clock: Clock) -> None:
    vault = VaultStore(Fs(), tmp_path, clock=clock)
    vault.append(parse_chat_id(text), [Line(type="turn_start", turn=1)])
    assert os.listdir(tmp_path / "snapshots" / "chats") == [text]


@pytest.mark.parametrize("text", ["", ".", "..", "a/b", "../etc", "a\\b", "a\0", "a b", "é", "x" * 129])
def test_135_an_id_that_could_lead_elsewhere_is_none(text: str) -> None:
    """The original's package hashes such ids; its server refuses them, as we do. A hash's folder is a chat like any."""
    with pytest.raises(InvalidId):
        parse_chat_id(text)
    assert parse_chat_id(hashlib.sha256(text.encode()).hexdigest())


@given(st.text(max_size=140) | st.from_regex(r"[A-Za-z0-9_-]{1,128}", fullmatch=True))
def test_136_whatever_the_id_its_log_lies_below_the_vault(text: str) -> None:
    try:
        chat = parse_chat_id(text)
    except InvalidId:
        return
    with tempfile.TemporaryDirectory() as folder:
        vault = VaultStore(Fs(), Path(folder) / "vault", clock=Clock())
        vault.append(ChatId(chat), [Line(type="turn_start", turn=1)])
        files = [path.relative_to(folder) for path in Path(folder).rglob("*") if path.is_file()]
        assert Path("vault/snapshots/chats", chat, "events.jsonl") in files
        assert all(path.parts[0] == "vault" for path in files)
