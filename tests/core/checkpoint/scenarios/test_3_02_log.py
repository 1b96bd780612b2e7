"""Scenarios 16 to 30 of the specification: the event log. Each test says which of them it shows."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.checkpoint.scenarios.session import Session
from tests.core.checkpoint.world import A, B, World
from tests.helpers.original import OriginalStore
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.log import WHOLE_LOG, Line
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotWrite, LogDamaged
from vibekit_desktop.core.types.ids import ChatId

SHA = "ab" * 32


@pytest.fixture
def vault(tmp_path: Path, clock: Clock) -> VaultStore:
    return VaultStore(Fs(), tmp_path, clock=clock)


def path_of(folder: Path, chat: str = A) -> Path:
    return folder / "snapshots" / "chats" / chat / "events.jsonl"


def planted(folder: Path, data: bytes, chat: str = A) -> Path:
    path = path_of(folder, chat)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_16_three_events_come_back_with_their_time_and_version(vault: VaultStore, tmp_path: Path, clock: Clock) -> None:
    lines = [Line(type="turn_start", turn=1), Line(type="snapshot", tag="1", path="f"), Line(type="turn_end", turn=1)]
    for line in lines:
        vault.append(A, [line])
    found = VaultStore(Fs(), tmp_path, clock=clock).lines(A)
    assert [(one.type, one.tag, one.path) for one in found] == [(one.type, one.tag, one.path) for one in lines]
    assert {(one.ts, one.v) for one in found} == {(clock.now_ms, 1)}


def test_17_a_version_that_is_given_is_kept(vault: VaultStore) -> None:
    vault.append(A, [Line(type="turn_start", turn=1, v=99), Line(type="turn_end", turn=1)])
    assert [line.v for line in vault.lines(A)] == [99, 1]


def test_18_a_line_without_a_version_is_an_old_one(vault: VaultStore, tmp_path: Path) -> None:
    planted(tmp_path, b'{"type":"restore","tag":"1","ts":1700000000000,"message_count":3}\n')
    assert [(line.type, line.v) for line in vault.lines(A)] == [("restore", 0)]


def test_19_a_missing_log_is_an_empty_one_and_reading_makes_none(vault: VaultStore, tmp_path: Path) -> None:
    assert vault.lines(A) == ()
    assert vault.damage(A) == ()
    assert os.listdir(tmp_path) == []


def test_20_after_a_torn_line_the_next_stands_alone(vault: VaultStore, tmp_path: Path) -> None:
    """Ours takes the torn end out and keeps it aside, instead of leaving a bad line in the middle."""
    vault.append(A, [Line(type="turn_start", turn=1)])
    good = path_of(tmp_path).read_bytes()
    planted(tmp_path, good + b'{"type":"snap')
    assert vault.contents(A).torn
    vault.append(A, [Line(type="turn_end", turn=1)])
    assert [line.type for line in vault.lines(A)] == ["turn_start", "turn_end"]
    assert path_of(tmp_path).read_bytes().startswith(good + b'{"type":"turn_end"')
    assert [path.read_bytes() for path in (tmp_path / "desktop" / "set-aside").iterdir()] == [b'{"type":"snap']


def test_21_a_folder_in_the_place_of_the_log_is_damage_and_not_a_missing_log(vault: VaultStore, tmp_path: Path) -> None:
    path_of(tmp_path).mkdir(parents=True)
    vault.append(B, [Line(type="turn_start", turn=1)])
    assert vault.damage(A) == (WHOLE_LOG,)
    assert vault.damage(B) == ()
    with pytest.raises(LogDamaged):
        vault.append(A, [Line(type="turn_start", turn=1)])


def test_22_each_of_the_six_kinds_comes_back(vault: VaultStore, tmp_path: Path) -> None:
    store = OriginalStore(tmp_path, tmp_path, lambda: 5)
    lines = [
        Line(type="turn_start", turn=1, message_count=2),
        Line(type="snapshot", tag="1", path="f", before_sha=SHA, after_sha=SHA, turn=1, message_count=3),
        Line(type="conflict_detected", tag="1", path="f", before_sha=SHA, other_chat=B, expected_sha="cd" * 32),
        Line(type="restore_started", tag="1", message_count=3),
        Line(type="restore_committed", tag="1", message_count=3),
        Line(type="restore", tag="1", message_count=3),
    ]
    vault.append(A, lines)
    found = vault.lines(A)
    assert [one.type for one in found] == [one.type for one in lines]
    assert (found[2].other_chat, found[2].expected_sha, found[2].before_sha) == (B, "cd" * 32, SHA)
    assert [log.decode(log.encode(one)) for one in found] == list(found)
    assert store.log_path(A).read_bytes().count(b"\n") == 6


def test_23_a_deleted_chats_log_is_gone_from_its_place_and_deleting_again_is_no_error(session: Session) -> None:
    """Ours puts it away as long as another chat's history needs it, and only then lets it go."""
    world = session.world
    session.turn({"f": b"1"})
    session.turn({"g": b"1"}, B)
    world.kernel.retire(A)
    assert not world.log_path(A).parent.exists()
    assert world.vault.chats_with_logs() == [B]
    world.kernel.retire(A)
    assert world.vault.chats_with_logs() == [B]
    world.kernel.retire(B)
    assert world.vault.chats_with_logs() == []


def test_24_deleting_where_a_file_is_in_the_way_deletes_nothing_and_the_next_change_says_why(session: Session) -> None:
    """The original fails at once; for ours there is no log to put away, and the file stays."""
    chats = session.world.vault_folder / "snapshots" / "chats"
    chats.parent.mkdir(parents=True)
    chats.write_bytes(b"in the way")
    session.world.kernel.retire(A)
    with pytest.raises(CannotWrite):
        session.begin()
    assert chats.read_bytes() == b"in the way"


def test_25_a_line_of_33_mebibytes_hides_nothing(vault: VaultStore, tmp_path: Path) -> None:
    """The original loses every line after it and hands out old tags again; ours reads on (W15)."""
    first, last = b'{"type":"turn_start","turn":1,"ts":1,"v":1}\n', b'{"type":"turn_start","turn":2,"ts":2,"v":1}\n'
    planted(tmp_path, first + b'{"type":"later","x":"' + b"y" * (33 << 20) + b'"}\n' + last)
    assert [line.turn for line in vault.lines(A)] == [1, 0, 2]
    assert vault.damage(A) == ()


@given(st.binary(max_size=300))
def test_26_no_bytes_break_the_reader(data: bytes) -> None:
    for line in data.split(b"\n"):
        found = log.decode(line)
        assert found is None or log.decode(log.encode(found)) == found


def test_27_what_append_returned_from_is_in_the_file(vault: VaultStore, tmp_path: Path, clock: Clock) -> None:
    written = vault.append(A, [Line(type="turn_start", turn=1)])
    assert path_of(tmp_path).read_bytes() == log.encode(written[0]) + b"\n"
    assert VaultStore(Fs(), tmp_path, clock=clock).lines(A) == written


@pytest.mark.parametrize("count", [5, 1500])
def test_28_a_log_is_read_whole_or_not_at_all(vault: VaultStore, tmp_path: Path, count: int) -> None:
    """The original can be cancelled in the middle and remembers that; ours has no such state (W16)."""
    planted(tmp_path, b"".join(b'{"type":"turn_start","turn":%d,"ts":1,"v":1}\n' % turn for turn in range(1, count + 1)))
    assert len(vault.lines(A)) == count


@pytest.mark.parametrize("count", [10_000, 10_001])
def test_29_ten_thousand_lines_are_no_limit(vault: VaultStore, tmp_path: Path, count: int) -> None:
    """The original warns above 10 000; ours has nothing to warn of (a warning would fail this test)."""
    planted(tmp_path, b'{"type":"turn_start","turn":1,"ts":1,"v":1}\n' * count)
    assert len(vault.lines(A)) == count
    vault.append(A, [Line(type="turn_start", turn=2)])
    assert len(vault.lines(A)) == count + 1


@given(st.text(max_size=20), st.integers(0, 2**40))
def test_30_a_kind_that_nobody_knows_is_passed_over(kind: str, turn: int) -> None:
    line = log.decode(log.encode(Line(type=kind, turn=turn, path="f", tag="1")))
    assert line is not None
    assert (line.type, line.turn) == (kind, turn)


def test_30_and_the_lines_around_it_count(world: World) -> None:
    world.turn({"f": b"1"})
    world.vault.append(A, [Line(type="of_a_later_version", path="../..", turn=9)])
    world.turn({"f": b"2"})
    assert world.at("2", "f") == b"1"
    assert world.kernel.timeline(A).entries[-1].turn == 2
    assert world.vault.chats_with_logs() == [ChatId(A)]
