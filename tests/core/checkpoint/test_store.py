"""Blobs, lines and logs: what is written comes back, what is damaged is found."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Clock
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import BlobStore, hash_of, is_sound
from vibekit_desktop.core.checkpoint.log import Line, PlanBody, PlanFile
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import ABSENT, UNKNOWN, Author, FileState, How, State
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, CannotRead, LogDamaged, PathEscape
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath, parse_blob_hash

A = ChatId("chat-a")


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(Fs(), tmp_path)


@pytest.fixture
def vault(tmp_path: Path, clock: Clock) -> VaultStore:
    return VaultStore(Fs(), tmp_path, clock=clock)


def place(folder: Path, data: bytes, *, own: bool = False) -> Path:
    sha = hash_of(data)
    return folder / ("desktop/blobs" if own else "snapshots/blobs") / sha[:2] / sha[2:]


def test_a_blob_is_stored_once_under_its_hash(blobs: BlobStore, tmp_path: Path) -> None:
    assert blobs.put(b"x") == blobs.put(b"x") == hash_of(b"x")
    assert blobs.get(hash_of(b"x")) == b"x"
    assert blobs.get(blobs.put(b"")) == b""
    assert os.listdir(place(tmp_path, b"x").parent) == [place(tmp_path, b"x").name]
    assert place(tmp_path, b"x").stat().st_mode & 0o777 == 0o600
    assert place(tmp_path, b"x").parent.stat().st_mode & 0o777 == 0o700


def test_our_own_blobs_are_hard_links_to_the_originals_place(blobs: BlobStore, tmp_path: Path) -> None:
    blobs.put(b"x")
    blobs.put(b"x", own=True)
    assert place(tmp_path, b"x").samefile(place(tmp_path, b"x", own=True))
    place(tmp_path, b"x").unlink()
    assert blobs.get(hash_of(b"x")) == b"x"
    blobs.put(b"x")
    assert place(tmp_path, b"x").exists()
    blobs.put(b"link text", own=True)
    assert not place(tmp_path, b"link text").exists()


def test_without_hard_links_a_second_copy_is_written(tmp_path: Path) -> None:
    class NoLinks(Fs):
        def link(self, old: Path, new: Path) -> None:
            raise PermissionError(1, "no links here")

    blobs = BlobStore(NoLinks(), tmp_path)
    blobs.put(b"x")
    blobs.keep_own(hash_of(b"x"))
    assert place(tmp_path, b"x", own=True).read_bytes() == b"x"
    assert not place(tmp_path, b"x").samefile(place(tmp_path, b"x", own=True))


def test_a_damaged_blob_is_never_handed_out_and_mended_by_the_next_put(blobs: BlobStore, tmp_path: Path) -> None:
    sha = blobs.put(b"right")
    place(tmp_path, b"right").write_bytes(b"wrong")
    with pytest.raises(BlobCorrupt):
        blobs.get(sha)
    with pytest.raises(BlobCorrupt):
        blobs.check(sha)
    assert not is_sound(blobs, sha)
    blobs.put(b"right")
    assert blobs.get(sha) == b"right"


def test_a_damaged_copy_is_passed_over_for_the_good_one(blobs: BlobStore, tmp_path: Path) -> None:
    sha = blobs.put(b"right", own=True)
    place(tmp_path, b"right").parent.mkdir(parents=True)
    place(tmp_path, b"right").write_bytes(b"wrong")
    assert blobs.get(sha) == b"right"


def test_a_blob_that_changes_between_check_and_reading_is_found(blobs: BlobStore, tmp_path: Path) -> None:
    sha = blobs.put(b"right")
    blobs.check(sha)
    target = place(tmp_path, b"right")
    stamp = target.stat()

    class Lying(Fs):
        def stat(self, path: Path) -> os.stat_result | None:
            return stamp

    lying = BlobStore(Lying(), tmp_path)
    lying.check(sha)
    target.write_bytes(b"wrong")
    with pytest.raises(BlobCorrupt):
        lying.get(sha)


def test_missing_blobs_and_links_in_their_place_are_not_found(blobs: BlobStore, tmp_path: Path) -> None:
    sha = hash_of(b"x")
    with pytest.raises(BlobNotFound):
        blobs.get(sha)
    with pytest.raises(BlobNotFound):
        blobs.check(sha)
    target = place(tmp_path, b"x")
    target.parent.mkdir(parents=True)
    (tmp_path / "theirs").write_bytes(b"x")
    os.symlink(tmp_path / "theirs", target)
    assert not blobs.has(sha)
    with pytest.raises(BlobNotFound):
        blobs.get(sha)


def test_large_contents_go_in_and_out_in_pieces(blobs: BlobStore) -> None:
    data = bytes(range(256)) * (20 << 10)
    sha = blobs.put(data)
    assert sha == hash_of(data)
    assert blobs.put(data, own=True) == sha
    assert blobs.put_pieces(iter((data[:100], data[100:]))) == sha
    assert b"".join(blobs.pieces(sha)) == data
    found, strays = blobs.listed()
    assert (found, strays) == ({sha: len(data)}, [])


def test_a_source_that_fails_stores_nothing(blobs: BlobStore) -> None:
    def pieces():  # type: ignore[no-untyped-def]  # a generator that fails half-way
        yield b"half"
        raise CannotRead("f", "gone")

    with pytest.raises(CannotRead):
        blobs.put_pieces(pieces())
    assert blobs.listed() == ({}, [])


texts = st.text(alphabet=st.characters(codec="utf-8"), max_size=20)
names = st.binary(min_size=1, max_size=12).filter(lambda name: b"\0" not in name and b"/" not in name and name.strip(b"."))


@given(names, texts, st.integers(0, 2**40))
def test_every_line_reads_back_as_it_was_written(name: bytes, text: str, number: int) -> None:
    path = WorkspacePath(os.fsdecode(name))
    line = log.observed(
        path, ABSENT, FileState(State.PRESENT, hash_of(name), 0o644), author=Author.AGENT, how=How.SCAN, turn=number
    )
    line = Line(**{field: getattr(line, field) for field in line.__struct_fields__} | {"message_id": text, "v": 1})
    data = log.encode(line)
    assert b"\n" not in data
    assert log.decode(data) == line
    assert log.path_of(line) == path


@given(st.integers(0, 200), st.integers(0, 7))
def test_a_flipped_bit_is_damage_or_changes_nothing(at: int, bit: int) -> None:
    line = log.observed(WorkspacePath("a/b"), ABSENT, UNKNOWN, author=Author.AGENT, how=How.SCAN, turn=3)
    data = bytearray(log.encode(line))
    data[at % len(data)] ^= 1 << bit
    assert log.decode(bytes(data)) in (None, line)


@given(st.binary(max_size=80))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    assert log.decode(data) is None or log.decode(data) is not None


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"snapshot","path":"../../x"}',
        b'{"type":"snapshot","path":"/etc/passwd"}',
        b'{"type":"snapshot"}',
        b'{"type":"observed","path":"a","path_b64":"?"}',
        b'{"type":"dir","path":".."}',
        b'{"type":"snapshot","path":"a","before_sha":"../../x"}',
        b'{"type":"turn_start","turn":"1"}',
        b'{"type":"turn_start","turn":true}',
        b'{"type":"turn_start","turn":NaN}',
        b'{"type":"x","tag":"\\ud800"}',
        b"[1]",
        b"null",
        b"[" * 100_000,
        b'{"type":"x","crc":"00000000"}',
        b'{"type":"restore_plan","plan":{"kind":"restore","point":"start","scope":"files","files":'
        b'[{"path":"a","action":"write","expected_state":"absent","wanted_state":"absent","stage":"../x"}]}}',
    ],
)
def test_lines_that_cannot_be_meant_are_damage(data: bytes) -> None:
    assert log.decode(data) is None


def test_lines_of_the_original_and_of_the_future_are_none() -> None:
    old = log.decode(b'{"type":"restore","tag":"1","ts":1700000000000,"message_count":3}')
    assert old is not None
    assert (old.v, old.seq) == (0, 0)
    assert log.decode(b'{"type":"anything","future":{"deep":[1,2]},"v":99}') is not None
    note = log.decode(b'{"type":"note","path":"/etc/hosts","reason":"outside"}')
    assert note is not None


def test_words_that_we_do_not_know_read_as_unknown() -> None:
    line = Line(type="observed", path="a", author="martian", how="telepathy", before_state="odd", after_state="present")
    assert log.author_of(line) is Author.UNKNOWN
    assert log.how_of(line) is How.SCAN
    assert log.state_before(line) == log.state_after(line) == UNKNOWN
    assert log.state_of("folder", "", -1).state is State.FOLDER
    assert log.state_of("link", hash_of(b"x"), -1) == FileState(State.LINK, hash_of(b"x"))


def test_a_plan_names_the_contents_it_needs() -> None:
    file = PlanFile(
        path="a",
        action="write",
        expected_state="present",
        expected_sha=hash_of(b"1"),
        wanted_state="link",
        wanted_sha=hash_of(b"2"),
    )
    left = PlanFile(path="b", action="leave", expected_state="present", expected_sha=hash_of(b"3"), wanted_state="absent")
    line = Line(type="restore_plan", plan=PlanBody(kind="restore", point="start", scope="files", files=(file, left)))
    assert log.contents_named(line) == [("a", hash_of(b"1")), ("a", hash_of(b"2"))]
    assert log.decode(log.encode(line)) == line


def test_lines_are_numbered_across_the_vault_and_imports_are_not(vault: VaultStore, clock: Clock) -> None:
    first = vault.append(A, [Line(type="turn_start", turn=1), Line(type="turn_end", turn=1)])
    vault.append(ChatId("b"), [Line(type="turn_start", turn=1, ts=5)], number=False)
    last = vault.append(ChatId("b"), [Line(type="turn_start", turn=2)])
    assert [line.seq for line in (*first, *last)] == [1, 2, 3]
    assert [(line.seq, line.ts, line.v) for line in vault.lines(ChatId("b"))] == [(0, 5, 1), (3, clock.now_ms, 1)]
    assert vault.last_seq() == 3
    assert vault.append(A, []) == ()


def test_what_another_process_appended_is_folded_in(vault: VaultStore, tmp_path: Path, clock: Clock) -> None:
    vault.append(A, [Line(type="turn_start", turn=1)])
    other = VaultStore(Fs(), tmp_path, clock=clock)
    other.append(A, [Line(type="turn_start", turn=2)])
    assert [line.seq for line in vault.lines(A)] == [1, 2]
    assert vault.append(A, [Line(type="turn_start", turn=3)])[0].seq == 3
    assert other.lines(A) == vault.lines(A)
    assert other.lines(A) is other.lines(A)


def test_reading_a_chat_that_was_never_used_makes_nothing(vault: VaultStore, tmp_path: Path) -> None:
    assert vault.lines(A) == ()
    assert vault.chats_with_logs() == []
    assert vault.token == ""
    assert os.listdir(tmp_path) == []


def test_folders_that_are_no_chats_are_passed_over(vault: VaultStore, tmp_path: Path) -> None:
    vault.append(A, [Line(type="turn_start", turn=1)])
    (tmp_path / "snapshots/chats/not a chat").mkdir()
    (tmp_path / "snapshots/chats/empty").mkdir()
    assert vault.chats_with_logs() == [A]


def test_blank_lines_are_nothing_and_bad_ones_are_counted_by_their_number(vault: VaultStore, tmp_path: Path) -> None:
    vault.append(A, [Line(type="turn_start", turn=1)])
    path = tmp_path / "snapshots/chats" / A / "events.jsonl"
    path.write_bytes(b"\n" + path.read_bytes() + b"rubbish\n" + b'{"type":"turn_end","turn":1}\n')
    found = vault.contents(A)
    assert (len(found.lines), found.numbers, found.damaged, found.torn) == (2, (2, 4), (3,), False)
    with pytest.raises(LogDamaged):
        vault.append(A, [Line(type="turn_start", turn=2)])


def test_the_token_is_made_once(vault: VaultStore) -> None:
    token = vault.make_token()
    assert len(token) == 32
    assert vault.make_token() == vault.token == token


def test_a_path_that_is_not_utf8_keeps_its_bytes() -> None:
    text, exact = log.path_keys(WorkspacePath(os.fsdecode(b"a\xff")))
    assert (text, exact) == ("a\ufffd", "Yf8=")
    assert log.path_keys(WorkspacePath("plain")) == ("plain", "")
    with pytest.raises(PathEscape):
        log.path_of(PlanFile(path="a", path_b64="Li4=", action="write", expected_state="", wanted_state=""))
    assert parse_blob_hash("0" * 64)
