"""The model of the other program does what its specification says, its faults included; else it would prove nothing of ours."""

import hashlib
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.helpers.original import BlobNotFound, OriginalStore, folder_name, line_counts
from tests.helpers.original_log import Event, Misunderstood, TagNotFound, decode, encode, is_tag, pair, replay

# The example of the specification, signs and all.
EXAMPLE = (
    '{"type":"turn_start","ts":1785000000000,"turn":1,"message_count":2,"v":1}',
    '{"type":"snapshot","tag":"1.1","path":"notes/new.txt","after_sha":'
    '"98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4","ts":1785000000180,"turn":1,"tool":1,"message_count":3,"v":1}',
    '{"type":"restore_started","tag":"1","ts":1785000120000,"message_count":3,"v":1}',
    '{"type":"conflict_detected","tag":"1","path":"src/app.txt","before_sha":'
    '"c50add215a34876ca41570d9848e417d4d28b507a163008c2e65b2368276020d","other_chat":"chat-a","expected_sha":'
    '"4fdbc441ea7b546100e086ac1e4fc5ae6749b7314311c99db05be450eca12996","ts":1785000090100,"v":1}',
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> OriginalStore:
    (tmp_path / "work").mkdir()
    return OriginalStore(tmp_path / "config", tmp_path / "work", clock)


@pytest.mark.parametrize("line", EXAMPLE)
def test_its_example_lines_read_and_write_the_same(line: str) -> None:
    event, others = decode(line.encode())
    assert others == {}
    assert encode(event) == line.encode() + b"\n"


def test_texts_are_escaped_as_go_does() -> None:
    event = Event("snapshot", path="<a>&\u2028\u2029é\udcff")
    assert (
        encode(event) == b'{"type":"snapshot","path":"\\u003ca\\u003e\\u0026\\u2028\\u2029\xc3\xa9\xef\xbf\xbd","ts":0,"v":0}\n'
    )
    assert decode(encode(event)[:-1])[0].path == "<a>&\u2028\u2029é\ufffd"


def test_tags_are_allocated_read_and_found_as_it_does(store: OriginalStore) -> None:
    assert store.write("c", "a", b"1") == "0.0"
    store.advance_turn("c")
    assert [store.write("c", "a", b"1") for _ in range(3)] == ["1", "1.1", "1.2"]
    store.advance_turn("c")
    assert store.write("c", "a", b"1") == "2"
    assert store.load("c").tags == ["0.0", "1", "1.1", "1.2", "2"]
    assert store.oldest_tag("c") == "0.0"
    with pytest.raises(TagNotFound):
        store.restore("c", "1.0")
    assert [pair(text) for text in ("007", "+5.2", "abc.1", "1.2.3", "9" * 21)] == [(7, 0), (5, 2), (0, 1), (1, 0), (0, 0)]
    assert [is_tag(text) for text in ("1", "1.0", "1.2.3", " 1", ".1", "1.")] == [True, True, False, False, False, False]


def test_it_restores_what_its_specification_says_it_restores(store: OriginalStore) -> None:
    store.advance_turn("c")
    store.write("c", "a", b"v1", 2)
    store.advance_turn("c")
    store.write("c", "a", b"v2", 4)
    store.write("c", "new", b"n", 4)
    (store.work / "mine").write_bytes(b"user")
    assert store.restore_preview("c", "2") == ["a", "new"]
    assert store.restore("c", "2") == 4
    assert {path.name: path.read_bytes() for path in store.work.iterdir()} == {"a": b"v1", "mine": b"user"}
    kinds = [event.type for event, _ in map(decode, store.log_path("c").read_bytes().splitlines())]
    assert kinds[-2:] == ["restore_started", "restore_committed"]


def test_it_has_its_faults(store: OriginalStore) -> None:
    """W1: a file first touched after the tag is deleted. E9: a checkout deletes a file of nobody's."""
    for name in ("a", "b", "mine"):
        (store.work / name).write_bytes(b"before")
    store.advance_turn("c")
    store.write("c", "a", b"1")
    store.write("c", "b", b"1")
    store.restore("c", "1")
    assert sorted(path.name for path in store.work.iterdir()) == ["a", "mine"]
    store.checkout_file("c", "1", "mine")
    assert sorted(path.name for path in store.work.iterdir()) == ["a"]


def test_it_finds_drift_and_shows_each_chat_its_own_blobs(store: OriginalStore, clock: Clock) -> None:
    store.write("a", "f", b"by a")
    clock.advance(5)
    (store.work / "f").write_bytes(b"by hand")
    tag = store.write("b", "f", b"by b")
    (found,) = store.conflicts("b")
    assert (found.tag, found.other_chat) == (tag, "a")
    assert store.read_blob("b", found.before_sha) == b"by hand"
    with pytest.raises(BlobNotFound):
        store.read_blob("b", found.expected_sha)
    assert (store.owner_of("f"), store.owner_of("none")) == ("b", "")
    assert OriginalStore(store.config, store.work, store.clock).owner_of("f") == "b"
    store.cleanup("b")
    assert store.load_all() == ["a"]


def test_it_collects_what_no_snapshot_names(store: OriginalStore, clock: Clock) -> None:
    clock.now_ms = 4_000_000_000_000
    store.write("a", "f", b"kept")
    gone = store.put(b"of nobody")
    assert store.gc_once() == [gone]
    store.cleanup("a")
    assert len(store.gc_once()) == 1


def test_its_diff_counts_lines_by_the_longest_common_part(store: OriginalStore) -> None:
    for text in (b"a\nb\n", b"b\na\n", b"b\na\nc\n"):
        store.advance_turn("c")
        store.write("c", "f", text)
    assert [(one.status, one.added, one.removed) for one in store.diff("c", "3", "2")] == [("M", 1, 1)]
    assert [(one.status, one.added, one.removed) for one in store.diff("c", "1", "2")] == [("A", 2, 0)]
    assert line_counts(b"x\n" * 4097, b"x\n" * 4097) == (4097, 4097)
    assert line_counts(b"", b"") == (0, 0)


def test_ids_that_could_lead_elsewhere_are_hashed() -> None:
    assert [folder_name(chat) for chat in ("chat-abc123", "a", "ABCdef-0")] == ["chat-abc123", "a", "ABCdef-0"]
    for chat in ("", ".", "..", "a/b", "../etc"):
        assert folder_name(chat) == hashlib.sha256(chat.encode()).hexdigest()


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"snapshot","path":"a","turn":1,"v":1}',
        b'{"type":"snapshot","tag":"2","path":"a","turn":1,"v":1}',
        b'{"type":"snapshot","tag":"1","path":"a","turn":"1"}',
        b'{"type":"snapshot","tag":"1","path":"a","turn":true}',
        b'{"type":"snapshot","tag":"1","path":"a","turn":1.0}',
        b'{"type":"snapshot","tag":"1","path":"/a","turn":1}',
        b'{"type":"snapshot","tag":"1","path":"a","turn":1,"before_sha":"' + b"a" * 64 + b'"}',
        b'{"type":"snapshot","tag":"1","path":"a","turn":1,"Tag":"2"}',
        b'{"type":"snapshot","tag":"1","tag":"1","path":"a","turn":1}',
        b'{"type":"restore_started","tag":"7"}',
        b'{"type":"turn_start","turn":0}',
        b'{"tag":"1"}',
        b"[]",
        b"nothing",
        b'{"type":"x","path":"\xff"}',
    ],
)
def test_what_it_would_mistake_is_raised(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "events.jsonl").write_bytes(line + b"\n")
    with pytest.raises(Misunderstood):
        replay(tmp_path / "events.jsonl", blob_is_there=lambda _: False)
