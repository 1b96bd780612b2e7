"""One folder, two programs: what the other one wrote is read right by ours, and changed only by adding."""

import hashlib
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.checkpoint.scenarios.session import Session
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from tests.helpers.original import OriginalStore, Stopped
from tests.helpers.original_log import Event
from vibekit_desktop.core.checkpoint import recover
from vibekit_desktop.core.types.checkpoints import (
    Action,
    Author,
    EntryKind,
    RestoreKind,
    Scope,
    State,
    parse_point,
)
from vibekit_desktop.core.types.errors import LogDamaged, PointNotFound, Refusal
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.verified import Problem


@pytest.fixture
def other(world: World) -> OriginalStore:
    return run_of(world)


def run_of(world: World) -> OriginalStore:
    """A run of the other program on the same folders."""
    return OriginalStore(world.vault_folder, world.root, world.clock)


def writes(world: World, other: OriginalStore, path: str, data: bytes, chat: str = A, count: int = 0) -> str:
    """The other program's agent writes a file, some time later."""
    world.clock.advance(7)
    return other.write(chat, path, data, count)


def logs(world: World) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in world.vault_folder.rglob("events.jsonl") if path.is_file()}


def assert_only_added(before: dict[Path, bytes]) -> None:
    for path, data in before.items():
        assert path.read_bytes().startswith(data), "its lines stay byte for byte"


def shared_blobs(world: World) -> dict[str, bytes]:
    folder = world.vault_folder / "snapshots" / "blobs"
    return {path.parent.name + path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- any history of the other program's --------------------------------------------------------------------------

NAMES = ("a.txt", "sub/b.txt", "c")
CONTENTS = (b"", b"1\n", b"2\r\n", b"3")
steps = st.tuples(st.sampled_from((A, B)), st.none() | st.tuples(st.sampled_from(NAMES), st.sampled_from(CONTENTS)))
"""A chat, and what it writes; None begins a turn."""


@given(st.sets(st.sampled_from(NAMES)), st.lists(steps, min_size=1, max_size=12), st.integers(0, 11))
def test_every_tag_of_every_chat_has_what_was_there_and_is_restored_to(
    there: set[str], history: list[tuple[ChatId, tuple[str, bytes] | None]], which: int
) -> None:
    """Only captured writes, so that every tag is exact: contents and preview of each, restore and undo of one."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), Clock())
        for name in there:
            world.write(name, b"there before\n")
        other = run_of(world)
        tags: list[tuple[ChatId, str, dict[str, bytes]]] = []
        for chat, written in history:
            world.clock.advance(5)
            if written is None:
                other.advance_turn(chat)
            else:
                disk = world.disk()
                tags.append((chat, other.write(chat, *written), disk))
        named = {written[0] for _, written in history if written is not None}
        for chat, tag, disk in tags:
            assert {path: world.at(tag, path, chat) for path in named} == {path: disk.get(path) for path in named}
            assert {str(file.path) for file in world.plan(tag, chat).files} == set(other.restore_preview(chat, tag))
        for chat, tag, disk in tags[which % len(tags) :][:1] if tags else []:
            restored_and_back(world, chat, tag, disk)


def restored_and_back(world: World, chat: ChatId, tag: str, disk: dict[str, bytes]) -> None:
    """Restore to a tag and undo it; ``disk`` is what was there at the tag."""
    preview, whole, lines = run_of(world).restore_preview(chat, tag), world.disk(), logs(world)
    world.restore(tag, chat, mine=ALL_MINE)
    others = {name: data for name, data in whole.items() if name not in preview}
    assert world.disk() == others | {name: disk[name] for name in preview if name in disk}
    if world.kernel.timeline(chat).can_undo:
        world.undo(chat)
    assert world.disk() == whole
    assert_only_added(lines)
    assert world.kernel.verify().problems == ()
    run_of(world).load_all()


# -- its kinds of lines ------------------------------------------------------------------------------------------


def test_its_timeline_has_its_turns_tags_and_what_happened_between_them(world: World, other: OriginalStore) -> None:
    world.write("app.txt", b"0\n")
    other.advance_turn(A, 1)
    assert writes(world, other, "app.txt", b"1\n") == "1"
    assert writes(world, other, "new.txt", b"n\n") == "1.1"
    world.write("app.txt", b"by hand\n")
    world.clock.advance(9)
    other.advance_turn(A, 3)
    writes(world, other, "app.txt", b"2\n")
    rows = [(row.kind, row.turn, {f.path: f.status.value for f in row.files}) for row in world.kernel.timeline(A).entries]
    assert rows == [
        (EntryKind.TURN, 1, {"app.txt": "M", "new.txt": "A"}),
        (EntryKind.BETWEEN, 1, {"app.txt": "M"}),
        (EntryKind.TURN, 2, {"app.txt": "M"}),
        (EntryKind.NOW, 2, {}),
    ]
    points = {
        "start": b"0\n",
        "before:1": b"0\n",
        "after:1": b"1\n",
        "before:2": b"by hand\n",
        "2": b"by hand\n",
        "after:2": b"2\n",
    }
    assert {point: world.at(point, "app.txt") for point in points} == points
    assert [world.at(point, "new.txt") for point in ("1", "1.1", "after:1", "2")] == [None, None, b"n\n", b"n\n"]


def test_what_it_restored_itself_is_seen_by_what_came_after(world: World, other: OriginalStore) -> None:
    """It writes no contents for a restore: the next capture shows what the restore had made of the file."""
    world.write("f", b"0")
    for text in (b"1", b"2"):
        other.advance_turn(A)
        writes(world, other, "f", text)
    world.clock.advance(5)
    other.restore(A, "2")
    assert [row.point for row in world.kernel.timeline(A).entries if row.kind is EntryKind.RESTORE] == ["2"]
    (now,) = world.kernel.timeline(A).entries[-1].files
    assert (now.path, now.author) == ("f", Author.UNKNOWN)
    world.clock.advance(5)
    other.advance_turn(A)
    assert writes(world, other, "f", b"3") == "3"
    assert [world.at(point, "f") for point in ("1", "2", "after:2", "before:3", "after:3")] == [b"0", b"1", b"2", b"1", b"3"]
    assert world.actions(world.plan("before:3")) == {"f": "write"}
    assert not world.kernel.timeline(A).unfinished


def test_captures_before_the_first_turn_are_points_too(world: World, other: OriginalStore) -> None:
    world.write("f", b"0")
    assert [writes(world, other, "f", text) for text in (b"1", b"2")] == ["0.0", "0.1"]
    other.advance_turn(A)
    assert writes(world, other, "f", b"3") == "1"
    assert [world.at(point, "f") for point in ("start", "0.0", "0.1", "before:1", "1")] == [b"0", b"0", b"1", b"2", b"2"]
    assert world.restore("0.1").restored == ("f",)
    assert world.read("f") == b"1"


def test_old_lines_new_versions_unknown_kinds_and_blank_lines_are_no_damage(world: World, other: OriginalStore) -> None:
    world.write("f", b"0")
    other.advance_turn(A)
    writes(world, other, "f", b"1")
    path = other.log_path(A)
    first, second = path.read_bytes().splitlines()
    legacy = first.replace(b',"v":1', b"")
    future = second.replace(b'"v":1', b'"v":99,"later":{"deep":[1,null]}')
    lines = (b"", legacy, b"  ", b'{"type":"of_a_later_version","tag":7,"x":[1]}'.replace(b",\"tag\":7", b""), future,
             b'{"type":"restore","tag":"1","ts":1700000000000,"message_count":3}', b"")  # fmt: skip
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert world.vault.contents(A).damaged == ()
    assert [world.at(point, "f") for point in ("before:1", "1", "after:1")] == [b"0", b"0", b"1"]
    assert [row.kind.value for row in world.kernel.timeline(A).entries] == ["turn", "restore", "now"]
    before = logs(world)
    assert world.restore("before:1").restored == ("f",)
    assert_only_added(before)
    assert run_of(world).load(A).tags == ["1"]


def test_escaped_signs_and_line_ends_come_back_byte_for_byte(world: World, other: OriginalStore) -> None:
    name = "a<b>&c \u2028\u2029 é.txt"
    data = b"one\r\ntwo\r\n\xef\xbb\xbf<&>\x00\xff"
    world.write(name, data)
    other.advance_turn(A)
    writes(world, other, name, b"new\n")
    assert b"\\u003cb\\u003e\\u0026" in other.log_path(A).read_bytes()
    assert world.at("1", name) == data
    world.restore("1")
    assert world.disk() == {name: data}


def test_its_conflict_lines_are_read_and_the_other_chat_is_named(world: World, other: OriginalStore) -> None:
    other.advance_turn(A)
    writes(world, other, "f", b"by a")
    world.write("f", b"by hand")
    world.clock.advance(9)
    other.advance_turn(B)
    writes(world, other, "f", b"by b", B)
    assert [event.other_chat for event in other.conflicts(B)] == [A]
    assert [world.at(point, "f", B) for point in ("before:1", "1", "after:1")] == [b"by hand", b"by hand", b"by b"]
    (file,) = world.plan("before:1").files
    assert (file.action, file.changed_by, file.also_by) == (Action.LEAVE, B, (B,))
    assert world.actions(world.plan("before:1", B)) == {"f": "write"}


def test_paths_as_its_callers_gave_them_are_one_file(world: World, other: OriginalStore) -> None:
    """The original stores the caller's text; ``./f``, ``x/../f`` and ``f`` have three histories there and one here."""
    world.write("f", b"0")
    other.advance_turn(A)
    tags = [writes(world, other, path, text) for path, text in (("./f", b"1"), ("x/../f", b"2"), ("f", b"3"))]
    assert world.kernel.touched(A) == ["f"]
    assert [world.at(tag, "f") for tag in tags] == [b"0", b"1", b"2"]
    before = logs(world)
    world.restore("before:1")
    assert world.disk() == {"f": b"0"}
    assert_only_added(before)


def test_a_capture_whose_content_nobody_announced_is_settled_and_never_deletes(world: World, other: OriginalStore) -> None:
    """Without an announced content its line has no after: unknown, not absent (its fault W7)."""
    world.write("f", b"0")
    other.advance_turn(A)
    other.snapshot(A, "f", None)
    world.write("f", b"written by it")
    other.advance_turn(A)
    writes(world, other, "g", b"1")
    (file,) = world.plan("before:2", paths=("f",)).files
    assert file.reason == "unknown"
    plan = world.plan("before:1", mine=ALL_MINE)
    assert world.actions(plan) == {"f": "write", "g": "delete"}
    before = logs(world)
    world.do(plan)
    assert world.disk() == {"f": b"0"}
    assert_only_added(before)
    world.undo()
    assert world.disk() == {"f": b"written by it", "g": b"1"}


def test_a_file_too_large_for_it_reads_as_absent_and_undo_brings_it_back(world: World, other: OriginalStore) -> None:
    """Its line says "absent" for more than 16 MiB; nothing in it tells the two apart. What is deleted by it can be undone."""
    world.write("big", bytes(16 << 20) + b"1")
    other.advance_turn(A)
    writes(world, other, "big", b"small")
    assert world.at("1", "big") is None
    plan = world.plan("1")
    assert world.actions(plan) == {"big": "delete"}
    world.do(plan)
    world.undo()
    assert world.read("big") == b"small"


def test_an_exactly_sixteen_mebibyte_file_comes_back(world: World, other: OriginalStore) -> None:
    data = bytes(16 << 20)
    world.write("big", data)
    other.advance_turn(A)
    writes(world, other, "big", b"small")
    world.restore("1")
    assert world.read("big") == data


# -- folders of other chats --------------------------------------------------------------------------------------


def test_a_folder_that_is_the_hash_of_an_id_is_a_chat_of_the_history_like_any_other(world: World, other: OriginalStore) -> None:
    """An id with a slash lies under its SHA-256. Nobody knows the id, but what it did to the files counts."""
    name = ChatId(hashlib.sha256(b"team/chat").hexdigest())
    other.advance_turn("team/chat")
    writes(world, other, "f", b"1", "team/chat")
    other.advance_turn(A)
    writes(world, other, "f", b"2")
    assert world.vault.chats_with_logs() == sorted([A, name])
    assert world.at("before:1", "f") == b"1"
    assert world.at("before:1", "f", name) is None
    (file,) = world.plan("before:1", name).files
    assert (file.action, file.changed_by) == (Action.LEAVE, A)
    assert world.restore("before:1").restored == ("f",)


@pytest.mark.parametrize("name", ["chat.with.dots", "chat with blanks", "ünïcode", "x" * 129, "events.jsonl"])
def test_a_folder_that_is_no_chat_of_ours_hides_no_other(world: World, other: OriginalStore, name: str) -> None:
    """The original's package takes any id; its server, like we, refuses such ones. The chats beside them work."""
    other.advance_turn(name)
    writes(world, other, "f", b"1", name)
    other.advance_turn(A)
    writes(world, other, "f", b"2")
    before = logs(world)
    assert world.vault.chats_with_logs() == [A]
    assert world.at("before:1", "f") == b"1"
    assert world.restore("before:1").restored == ("f",)
    assert_only_added(before)
    assert run_of(world).load(name).tags == ["1"]


@pytest.mark.parametrize("planted", ["folder", "link", "garbage"])
def test_a_broken_log_hides_no_other_chat(world: World, other: OriginalStore, planted: str) -> None:
    other.advance_turn(B)
    writes(world, other, "g", b"1", B)
    other.advance_turn(A)
    writes(world, other, "f", b"1")
    path = other.log_path(B)
    if planted == "garbage":
        path.write_bytes(b"\xff\x00rubbish\n")
    else:
        path.unlink()
        path.mkdir() if planted == "folder" else path.symlink_to(other.log_path(A))
    world.reopen()
    assert world.at("after:1", "f") == b"1"
    assert world.restore("before:1").restored == ("f",)
    assert {found.chat_id for found in world.kernel.verify().problems if found.kind is Problem.LOG_LINE} == {B}
    with pytest.raises((LogDamaged, PointNotFound)):
        world.restore("before:1", B)


# -- a restore that it did not finish ----------------------------------------------------------------------------


@pytest.fixture
def halfway(world: World, other: OriginalStore) -> OriginalStore:
    """It was killed after the first of two files of a restore to its tag 2."""
    for text in (b"1", b"2"):
        other.advance_turn(A)
        for name in ("a", "b"):
            writes(world, other, name, text)
    with pytest.raises(Stopped):
        other.restore(A, "2", stop_after=1)
    return other


def test_its_unfinished_restore_is_reported_and_never_carried_on(world: World, halfway: OriginalStore) -> None:
    disk, stages, before = world.disk(), world.stages(), logs(world)
    assert {name: data for name, data in disk.items() if name in ("a", "b")} == {"a": b"1", "b": b"2"}
    assert len(stages) == 1
    assert world.kernel.needs_recovery()
    assert world.kernel.unfinished() == [(A, recover.ORIGINAL)]
    assert world.kernel.timeline(A).unfinished
    assert world.recover() == []
    world.reopen()
    assert world.recover() == []
    assert (world.disk(), logs(world), world.stages()) == (disk, before, stages)
    problems = [(found.kind, found.chat_id, found.detail) for found in world.kernel.verify().problems]
    assert problems == [(Problem.RESTORE_UNFINISHED, A, recover.ORIGINAL)]


def test_its_unfinished_restore_keeps_no_other_chat_from_working(world: World, halfway: OriginalStore) -> None:
    world.clock.advance(9)
    world.turn({"c": b"1"}, B)
    assert world.restore("before:1", B).restored == ("c",)
    assert world.undo(B).restored == ("c",)
    assert not world.kernel.timeline(B).unfinished
    assert world.kernel.unfinished() == [(A, recover.ORIGINAL)]


def test_when_it_has_finished_by_itself_nothing_is_asked_any_more(world: World, halfway: OriginalStore) -> None:
    run_of(world).load(A)
    assert world.kernel.unfinished() == []
    assert not world.kernel.timeline(A).unfinished
    assert (world.read("a"), world.read("b")) == (b"1", b"1")
    assert world.actions(world.plan("before:1", mine=ALL_MINE)) == {"a": "delete", "b": "delete"}


# -- both in turn ------------------------------------------------------------------------------------------------


def test_our_restore_and_undo_add_lines_that_it_passes_over(world: World, other: OriginalStore) -> None:
    world.write("f", b"0")
    for text in (b"1", b"2"):
        other.advance_turn(A, 1)
        writes(world, other, "f", text, count=1)
    before, blobs = logs(world), shared_blobs(world)
    world.restore("before:1")
    assert world.read("f") == b"0"
    world.undo()
    world.redo()
    assert_only_added(before)
    assert shared_blobs(world).items() >= blobs.items()
    again = run_of(world)
    assert again.load(A).tags == ["1", "2"]
    assert again.load(A).pending == ""
    assert again.advance_turn(A) == 3
    world.clock.advance(9)
    assert again.write(A, "f", b"3") == "3"
    assert [world.at(point, "f") for point in ("before:2", "after:2", "before:3", "after:3")] == [b"1", b"2", b"0", b"3"]
    assert world.restore("before:3").restored == ("f",)


both_steps = st.one_of(
    st.tuples(st.just("their turn"), st.sampled_from((A, B))),
    st.tuples(st.just("their write"), st.sampled_from((A, B)), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
    st.tuples(st.sampled_from(("our turn", "our end", "our restore", "our undo")), st.sampled_from((A, B))),
    st.tuples(st.just("our write"), st.sampled_from((A, B)), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
)


class Both:
    """Two programs that take turns on one folder; ``truth`` is the disk just before each capture."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder, Clock())
        self.session = Session(self.world)
        self.truth: list[tuple[ChatId, str, dict[str, bytes]]] = []
        self.named: set[str] = set()

    def step(self, one: tuple[str, ...]) -> None:
        self.world.clock.advance(5)
        what, chat = one[0], ChatId(one[1])
        disk = self.world.disk()
        match what:
            case "their turn":
                run_of(self.world).advance_turn(chat)
            case "our turn":
                self.session.begin(chat)
            case "our end":
                self.session.end(chat)
            case "our restore" if self.world.vault.lines(chat):
                self.world.restore("start", chat, mine=ALL_MINE)
            case "our undo":
                self.world.undo(chat, mine=ALL_MINE)
            case "their write":
                self._note(chat, run_of(self.world).write(chat, *self._content(one)), one[2], disk)
            case "our write":
                self._note(chat, self.session.write(*self._content(one), chat).tag, one[2], disk)

    def _content(self, one: tuple[object, ...]) -> tuple[str, bytes]:
        path, data = one[2:4]
        assert isinstance(path, str)
        assert isinstance(data, bytes)
        return path, data

    def _note(self, chat: ChatId, tag: str, path: str, disk: dict[str, bytes]) -> None:
        self.truth.append((chat, tag, disk))
        self.named.add(path)

    def check(self) -> None:
        for chat, tag, disk in self.truth:
            assert {path: self.world.at(tag, path, chat) for path in self.named} == {
                path: disk.get(path) for path in self.named
            }
        assert self.world.kernel.verify().problems == ()
        run_of(self.world).load_all()


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(both_steps, max_size=14))
def test_two_programs_that_take_turns_on_one_folder_agree_on_every_tag(history: list[tuple[str, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        both = Both(Path(folder))
        for one in history:
            with suppress(Refusal):
                both.step(one)
        both.check()


def test_lines_of_both_stand_in_the_order_in_which_they_were_written(world: World, other: OriginalStore) -> None:
    """Ours are numbered and the original's are not: the times place them, and each log keeps its order."""
    truth: list[tuple[str, ChatId, bytes | None]] = []
    for number in range(1, 5):
        chat = (A, B)[number % 2]
        world.clock.advance(1000)
        truth.append((f"before:{(number + 1) // 2}", chat, world.read("f")))
        data = f"{number}".encode()
        if number in (1, 4):
            run_of(world).advance_turn(chat)
            writes(world, run_of(world), "f", data, chat)
            world.turns[chat] = world.turns.get(chat, 0) + 1
        else:
            world.turn({"f": data}, chat)
    assert [(point, chat, world.at(point, "f", chat)) for point, chat, _ in truth] == truth


def test_its_torn_last_line_is_set_aside_and_nothing_else_is_touched(world: World, other: OriginalStore) -> None:
    other.advance_turn(A)
    writes(world, other, "f", b"1")
    path = other.log_path(A)
    good = path.read_bytes()
    path.write_bytes(good + b'{"type":"snapshot","tag":"1.1","pa')
    assert world.at("after:1", "f") == b"1"
    world.restore("before:1")
    assert path.read_bytes().startswith(good)
    (aside,) = (world.vault_folder / "desktop" / "set-aside").iterdir()
    assert aside.read_bytes() == b'{"type":"snapshot","tag":"1.1","pa'
    run_of(world).load_all()


def test_its_lines_written_later_stay_where_the_log_has_them(world: World, other: OriginalStore) -> None:
    """A clock that went back: the order of the log holds."""
    other.advance_turn(A)
    other.write(A, "f", b"1")
    world.clock.advance(-60_000)
    other.write(A, "f", b"2")
    assert [world.at(tag, "f") for tag in ("1", "1.1", "after:1")] == [None, b"1", b"2"]


def test_a_rewind_child_without_a_log_is_a_chat_without_a_history(world: World, other: OriginalStore) -> None:
    """The original copies messages into a rewound chat and gives it no log."""
    other.advance_turn(A)
    writes(world, other, "f", b"1")
    child = ChatId("0198f0aa-1111-7abc-8def-000000000001")
    assert [row.kind for row in world.kernel.timeline(child).entries] == [EntryKind.NOW]
    with pytest.raises(PointNotFound):
        world.plan("before:1", child, kind=RestoreKind.RESTORE, scope=Scope.BOTH)


def test_a_blob_that_is_damaged_or_gone_leaves_its_file_as_it_is(world: World, other: OriginalStore) -> None:
    for name in ("a", "b", "c"):
        world.write(name, f"{name} 0".encode())
    other.advance_turn(A)
    for name in ("a", "b", "c"):
        writes(world, other, name, b"1")
    other.blob_path(hashlib.sha256(b"a 0").hexdigest()).write_bytes(b"broken")
    other.blob_path(hashlib.sha256(b"b 0").hexdigest()).unlink()
    assert world.actions(world.plan("1")) == {"a": "leave:damaged", "b": "leave:damaged", "c": "write"}
    report = world.restore("1")
    assert [left.path for left in report.failed] == ["a", "b"]
    assert world.disk() == {"a": b"1", "b": b"1", "c": b"c 0"}


def test_a_tag_that_it_names_in_other_digits_is_found_only_by_its_text(world: World, other: OriginalStore) -> None:
    other.append(A, Event("snapshot", tag="7", path="f", after_sha=other.put(b"1"), turn=7))
    assert world.kernel.state_at(A, parse_point("7"), WorkspacePath("f")).state is State.ABSENT
    for text in ("07", "7.0"):
        with pytest.raises(PointNotFound):
            world.at(text, "f")
