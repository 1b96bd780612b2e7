"""The rows that are remembered: never wrong, never needed, and cheap."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.conftest import Clock
from tests.core.chat.world import C1, C2, Unsynced, World, turns, user
from vibekit_desktop.core.chat.headers import FIRST
from vibekit_desktop.core.types.ids import ChatId


class Counting(Unsynced):
    """Counts the chat files that are read."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.scans = 0

    def read_bytes(
        self, path: Path | str, *, limit: int | None = None, follow: bool = False, dir_fd: int | None = None
    ) -> bytes:
        if str(path).endswith(".json"):
            self.files.append(Path(path).stem)
        return super().read_bytes(path, limit=limit, follow=follow, dir_fd=dir_fd)

    def scan(self, folder: int) -> Iterator[tuple[str, os.stat_result]]:
        self.scans += 1
        return super().scan(folder)


@pytest.fixture
def many(tmp_path: Path, clock: Clock) -> World:
    """A vault with more chats than the first segment holds, and something of ours in it."""
    world = World(tmp_path / "vault", clock, Counting())
    (world.folder / "desktop").mkdir(parents=True)
    for index in range(FIRST + 30):
        clock.advance(1)
        world.make(ChatId(f"chat-{index:04}"), user("u", turn=1))
    return world


def counting(world: World) -> Counting:
    world.reopen()
    assert isinstance(world.fs, Counting)
    world.fs.files.clear()
    return world.fs


def test_another_process_reads_no_chat_that_did_not_change(many: World) -> None:
    rows = many.chats.list()
    fs = counting(many)
    assert many.chats.list() == rows
    assert (fs.files, fs.scans) == ([], 2)


def test_only_what_changed_is_read(many: World, clock: Clock) -> None:
    many.chats.list()
    other = World(many.folder, clock)
    other.chats.append(C1, user("v", turn=2))
    other.chats.delete(C2)
    other.make(ChatId("new"))
    fs = counting(many)
    found = {row.id: row.message_count for row in many.chats.list()}
    assert sorted(fs.files) == [C1, "new"]
    assert (found[C1], found[ChatId("new")], C2 in found) == (2, 0, False)
    fs.files.clear()
    many.reopen()
    many.chats.list()
    assert fs.files == [], "what was found out is kept"


def test_what_this_process_wrote_is_not_read_again(many: World) -> None:
    many.chats.list()
    assert isinstance(many.fs, Counting)
    many.chats.append(C1, user("v"))
    many.fs.files.clear()
    row = many.chats.header(C1)
    assert row is not None
    assert row.message_count == 2
    assert many.chats.list()[0] == row
    assert many.fs.files == []


def test_the_first_rows_are_there_before_anything_is_looked_at(many: World) -> None:
    rows = many.chats.list()
    fs = counting(many)
    assert many.chats.first(10) == rows[:10]
    assert many.chats.first(FIRST + 5) == rows[: FIRST + 5]
    assert many.chats.first(9999) == rows
    assert (fs.files, fs.scans) == ([], 1)


def test_without_a_cache_the_first_rows_are_none_and_the_list_is_whole(many: World) -> None:
    rows = many.chats.list()
    (many.folder / "desktop" / "headers").unlink()
    many.reopen()
    assert many.chats.first(10) == []
    assert many.chats.list() == rows


def test_reading_a_vault_that_has_nothing_of_ours_makes_nothing(world: World) -> None:
    world.make()
    assert world.ids() == [C1]
    assert not (world.folder / "desktop").exists()


def test_a_damaged_cache_is_none(many: World) -> None:
    rows = many.chats.list()
    path = many.folder / "desktop" / "headers"
    whole = path.read_bytes()
    for at in [*range(40), *range(40, len(whole), 97)]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        many.reopen()
        assert many.chats.first(5) in ([], rows[:5])
        path.write_bytes(whole[:at])
        many.reopen()
        assert many.chats.first(5) in ([], rows[:5])
    for at in (3, 20, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        many.reopen()
        assert many.chats.list() == rows


@pytest.mark.parametrize("kind", ["folder", "link", "fifo"])
def test_something_else_in_the_place_of_the_cache_harms_nothing(many: World, kind: str, tmp_path: Path) -> None:
    rows = many.chats.list()
    path = many.folder / "desktop" / "headers"
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        (tmp_path / "other").write_text("mine")
        path.symlink_to(tmp_path / "other")
    else:
        os.mkfifo(path)
    many.reopen()
    assert many.chats.first(5) == []
    assert many.chats.list() == rows
    if kind == "link":
        assert (tmp_path / "other").read_text() == "mine"


def test_damaged_rows_are_remembered_too(many: World) -> None:
    many.plant(b"{broken", "broken.json")
    os.mkfifo(many.active / "pipe.json")
    problems = {row.id: row.problem for row in many.chats.list() if row.problem}
    assert problems == {"broken": "not JSON that can be written again", "pipe": "not a regular file"}
    fs = counting(many)
    assert {row.id: row.problem for row in many.chats.list() if row.problem} == problems
    assert fs.files == []


def test_a_file_that_may_not_be_read_now_is_tried_again(tmp_path: Path, clock: Clock) -> None:
    class Denied(Unsynced):
        denied = True

        def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
            if self.denied and str(path).endswith(f"{C2}.json"):
                raise PermissionError(13, "Permission denied")
            return super().open(path, flags, mode, dir_fd=dir_fd)

    made = World(tmp_path / "vault", clock)
    (made.folder / "desktop").mkdir(parents=True)
    made.make(C2)
    fs = Denied()
    world = World(made.folder, clock, fs)
    assert [row.problem for row in world.chats.list()] == ["Permission denied"]
    world.reopen()
    fs.denied = False
    assert [row.problem for row in world.chats.list()] == [""]


def test_what_opening_found_out_is_in_the_row_from_then_on(world: World) -> None:
    world.make()
    text = world.file(C1).read_bytes()
    world.file(C1).write_bytes(text.replace(b'"name": "A chat"', b'"name": "A chat",\n  "name": "A chat"'))
    assert world.chats.list()[0].problem == "", "what no program writes is not looked for in a file that a program wrote"
    with pytest.raises(Exception, match="given twice"):
        world.chats.load(C1)
    assert world.chats.list()[0].problem == "a key is given twice"


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_seen(many: World) -> None:
    many.chats.list()
    path = many.file(C1)
    stat = path.stat()
    other = path.read_bytes().replace(b"A chat", b"B chat")
    path.rename(path.with_suffix(".old"))
    path.write_bytes(other)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert {row.name for row in many.chats.list() if row.id == C1} == {"B chat"}


def test_the_list_of_two_processes_agrees_after_any_order_of_changes(many: World, clock: Clock) -> None:
    other = World(many.folder, clock)
    for index in range(6):
        clock.advance(1)
        writer, reader = (many, other) if index % 2 else (other, many)
        writer.chats.append(C1, user(f"m{index}"))
        writer.archive.archive(ChatId(f"chat-{index + 50:04}"))
        assert reader.chats.list() == writer.chats.list()
        assert reader.chats.list(archived=True) == writer.chats.list(archived=True)
        assert reader.chats.list()[0].id == C1


def test_sessions_and_children_are_of_all_chats_and_say_if_some_are_not_known(small: World) -> None:
    small.make(C1, *turns(3))
    small.chats.mutate(
        C1, lambda chat, _: msgspec.structs.replace(chat, acp_session_id="s3", prior_acp_session_ids=("s1", "s2"))
    )
    small.transcripts.branch(C1, C2, keep=2, first_turn=2)
    small.chats.mutate(C2, lambda chat, _: msgspec.structs.replace(chat, acp_session_id="s9"))
    small.archive.archive(C2)
    found = small.chats.sessions()
    assert (found.ids, found.complete) == (frozenset({"s1", "s2", "s3", "s9"}), True)
    assert small.chats.children(C1) == [C2]
    assert small.chats.children(C2) == []
    small.plant(b"{broken", "chat-0003.json")
    assert small.chats.sessions().complete is False
    assert small.chats.sessions().ids == found.ids
