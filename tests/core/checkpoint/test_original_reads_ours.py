"""One folder, two programs: what ours wrote is whole for the other one, and its restore touches nothing more for it."""

import base64
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import Clock
from tests.core.checkpoint.scenarios.session import Session, killed_at
from tests.core.checkpoint.world import ALL_MINE, A, B, World, replaced
from tests.helpers import original_log
from tests.helpers.original import BlobNotFound, OriginalStore
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.types.checkpoints import ABSENT, Author, FileState, How, Scope, State
from vibekit_desktop.core.types.errors import NothingToTakeBack, Refusal
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

NAMES = ("a", "sub/b", "c")


def run_of(world: World) -> OriginalStore:
    """A run of the other program on the same folders; strict, as its model is."""
    return OriginalStore(world.vault_folder, world.root, world.clock)


def whole(world: World) -> dict[str, bytes]:
    """Every file and, by its text, every link of the workspace."""
    links = [path for path in world.root.rglob("*") if path.is_symlink()]
    return world.disk() | {str(path.relative_to(world.root)): b"-> " + os.readlink(os.fsencode(path)) for path in links}


def captured(world: World, path: str, before: FileState, after: FileState, chat: ChatId = A) -> str:
    """An announced capture of states as they are given; its tag."""
    turn = world.turns.get(chat, 0)
    count = sum(line.type == "snapshot" and line.turn == turn for line in world.vault.lines(chat))
    line = log.observed(WorkspacePath(path), before, after, author=Author.AGENT, how=How.ANNOUNCED, turn=turn)
    tag = f"{turn}.{count}" if count or not turn else f"{turn}"
    world.vault.append(chat, [replaced(line, type="snapshot", tag=tag, tool=count)])
    return tag


def announced(world: World, chat: ChatId, tag: str) -> list[str]:
    """The paths of a chat's announced captures at or after a tag, as first seen."""
    lines = [line for line in world.vault.lines(chat) if line.type == "snapshot"]
    at = next(number for number, line in enumerate(lines) if line.tag == tag)
    return list(dict.fromkeys(line.path for line in lines[at:]))


def rightly_deleted(world: World, chat: ChatId, path: str, tag: str) -> bool:
    """Whether our own states say "absent" where the other program found nothing; no line at all is its own fault W1."""
    lines = [line for line in world.vault.lines(chat) if line.type == "snapshot" and line.path == path]
    exact = [line for line in lines if line.tag == tag]
    earlier = [line for line in lines if original_log.pair(line.tag) < original_log.pair(tag)]
    if exact:
        return log.state_before(exact[0]).state is State.ABSENT
    return not earlier or log.state_after(earlier[-1]).state is State.ABSENT


def try_restore(world: World, chat: ChatId, tag: str) -> bool:
    """Let the other program restore; whether it could. It must change nothing that it did not preview, or nothing at all."""
    before, other = whole(world), run_of(world)
    preview = other.restore_preview(chat, tag)
    assert preview == announced(world, chat, tag)
    try:
        other.restore(chat, tag)
    except BlobNotFound:
        assert whole(world) == before
        return False
    after = whole(world)
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} <= set(preview)
    for path in before.keys() - after.keys():
        assert rightly_deleted(world, chat, path, tag), path
    return True


# -- any history of ours -----------------------------------------------------------------------------------------

chats, paths = st.sampled_from((A, B)), st.sampled_from(NAMES)
texts = st.sampled_from((None, b"", b"1\n", b"2\n"))
odd = st.sampled_from((State.NOT_CAPTURED, State.UNKNOWN))
steps = st.one_of(
    st.tuples(st.just("begin"), chats),
    st.tuples(st.just("end"), chats),
    st.tuples(st.just("act"), chats, paths, texts),
    st.tuples(st.just("found"), chats, paths, texts),
    st.tuples(st.just("user"), paths, texts),
    st.tuples(st.just("link"), chats, paths),
    st.tuples(st.just("odd"), chats, paths, odd),
    st.tuples(st.just("restore"), chats, st.sampled_from((Scope.FILES, Scope.BOTH))),
    st.tuples(st.sampled_from(("undo", "redo")), chats),
)


def step(world: World, one: tuple[object, ...]) -> None:
    """One step of a history; those that cannot be done there are left out."""
    match one:
        case ("begin", str(chat)):
            world.begin(ChatId(chat))
        case ("end", str(chat)) if world.turns.get(ChatId(chat)):
            world.end(ChatId(chat))
        case ("act", str(chat), str(path), (bytes() | None) as data):
            world.act(path, data, ChatId(chat))
        case ("found", str(chat), str(path), (bytes() | None) as data) if world.turns.get(ChatId(chat)):
            world.found(path, data, ChatId(chat), Author.COMMAND)
        case ("user", str(path), (bytes() | None) as data):
            world.write(path, data)
        case ("link", str(chat), str(path)):
            world.act(path, linked(world, path), ChatId(chat))
        case ("odd", str(chat), str(path), State() as state):
            data = b"not in the store"
            world.write(path, data)
            captured(world, path, FileState(state, None, reason="too-large"), FileState(state, hash_of(data)), ChatId(chat))
        case ("restore", str(chat), Scope() as scope) if world.turns.get(ChatId(chat)):
            world.restore("before:1", ChatId(chat), mine=ALL_MINE, scope=scope)
        case (("undo" | "redo") as kind, str(chat)):
            try:
                (world.undo if kind == "undo" else world.redo)(ChatId(chat), mine=ALL_MINE)
            except NothingToTakeBack:
                return


def linked(world: World, path: str) -> Callable[[], None]:
    def make() -> None:
        world.write(path, None)
        (world.root / path).parent.mkdir(exist_ok=True)
        (world.root / path).symlink_to("somewhere")

    return make


@settings(max_examples=settings().max_examples // 3)
@example([("act", A, "a", b"1\n"), ("begin", A), ("link", A, "a"), ("act", A, "sub/b", None)])
@example([("begin", A), ("act", A, "a", b"1\n"), ("odd", A, "a", State.UNKNOWN), ("begin", A), ("act", A, "c", b"1\n")])
@given(st.lists(steps, min_size=1, max_size=12))
def test_the_other_program_understands_all_of_it_and_restores_no_more_than_it_announced(
    history: list[tuple[object, ...]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), Clock())
        world.write("a", b"there before\n")
        for one in history:
            step(world, one)
        understood(world, Path(folder))


def observed_turn(line: Line) -> bool:
    return line.type in ("turn_start", "snapshot")


def understood(world: World, folder: Path) -> None:
    """Every chat is whole for the other program; restoring to its first and last tags does no more than was announced."""
    mine = {path: path.read_bytes() for path in world.vault_folder.rglob("events.jsonl")}
    other = run_of(world)
    for chat in map(ChatId, other.load_all()):
        lines = [line for line in world.vault.lines(chat) if line.type == "snapshot"]
        state = other.load(chat)
        assert state.tags == [line.tag for line in lines]
        assert (state.pending, state.watermarks) == ("", {line.tag: line.message_count for line in lines})
        assert state.turn == max((line.turn for line in world.vault.lines(chat) if observed_turn(line)), default=0)
        for line in [*lines[:1], *lines[1:][-2:]]:
            twin = world.copy(folder / f"{chat}-{line.tag}")
            try_restore(twin, chat, line.tag)
            assert not twin.stages()
            assert twin.vault.contents(chat).damaged == ()
    assert {path: path.read_bytes() for path in mine} == mine, "reading it wrote nothing"


recorded_steps = st.one_of(
    st.tuples(st.sampled_from(("begin", "end")), chats),
    st.tuples(st.just("write"), chats, paths, texts),
    st.tuples(st.sampled_from(("announced", "unannounced", "failed")), chats, paths, texts),
    st.tuples(st.just("command"), chats, paths, texts),
    st.tuples(st.just("rename"), chats, paths, paths),
    st.tuples(st.just("user"), paths, texts),
    st.tuples(st.just("restore"), chats, st.sampled_from((Scope.FILES, Scope.BOTH))),
    st.tuples(st.sampled_from(("undo", "redo")), chats),
)


def recorded(session: Session, one: tuple[object, ...]) -> None:
    """One step of a history that is recorded while it happens; what is refused is left out."""
    world = session.world
    match one:
        case ("begin", str(chat)):
            session.begin(ChatId(chat), count=len(world.transcripts.chats.get(ChatId(chat), [])) + 1)
        case ("end", str(chat)):
            session.end(ChatId(chat))
        case ("write", str(chat), str(path), (bytes() | None) as data):
            session.write(path, data, ChatId(chat), count=3)
        case (("announced" | "unannounced" | "failed") as how, str(chat), str(path), (bytes() | None) as data):
            known = Announced() if how == "unannounced" else Announced(content=data, deleted=data is None)
            session.capture(path, known, ChatId(chat), count=3)
            if how != "failed":
                world.write(path, data)
        case ("command", str(chat), str(path), (bytes() | None) as data):
            session.command(lambda: world.write(path, data), ChatId(chat))
        case ("rename", str(chat), str(old), str(new)) if old != new and world.read(old) is not None:
            session.rename(old, new, ChatId(chat))
        case ("restore", str(chat), Scope() as scope) if world.turns.get(ChatId(chat)):
            world.restore("before:1", ChatId(chat), mine=ALL_MINE, scope=scope)
        case _:
            step(world, one)


@settings(max_examples=settings().max_examples // 3)
@example(
    [("begin", A), ("announced", A, "a", b"1\n"), ("user", "a", b"2\n"), ("begin", B), ("write", B, "a", b"3"), ("end", B)]
)
@example([("begin", A), ("unannounced", A, "a", None), ("write", A, "sub/b", b"1\n"), ("rename", A, "sub/b", "c"), ("end", A)])
@example([("begin", A), ("command", A, "c", b"1\n"), ("failed", A, "c", b"2\n"), ("end", A), ("restore", A, Scope.BOTH)])
@given(st.lists(recorded_steps, min_size=1, max_size=12))
def test_what_is_recorded_while_it_happens_is_whole_for_it_too(history: list[tuple[object, ...]]) -> None:
    """Looks, commands, conflicts, folders, failed writes and all."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), Clock())
        world.write("a", b"there before\n")
        for one in history:
            with suppress(Refusal):
                recorded(Session(world), one)
        understood(world, Path(folder))


# -- state by state ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [State.NOT_CAPTURED, State.UNKNOWN])
@pytest.mark.parametrize("hashed", [True, False])
def test_it_stops_where_a_content_is_not_in_the_store_and_deletes_nothing(world: World, state: State, hashed: bool) -> None:
    """Its fault W2 took such a file for absent; a hash without a blob (or 64 zeros) makes it stop before any file."""
    world.begin()
    world.write("big", b"new")
    sha = hash_of(b"never stored") if hashed else None
    tag = captured(world, "big", FileState(state, sha, reason="too-large"), world.look("big"))
    world.act("other", b"1")
    assert not try_restore(world, A, tag)
    assert world.disk() == {"big": b"new", "other": b"1"}
    assert not run_of(world).load(A).pending


def test_it_stops_where_the_last_that_it_knows_was_not_captured(world: World) -> None:
    world.begin()
    world.write("big", b"new")
    captured(world, "big", ABSENT, FileState(State.NOT_CAPTURED, hash_of(b"too large"), reason="too-large"))
    world.begin()
    world.act("other", b"1")
    world.act("big", b"small")
    assert not try_restore(world, A, "2")
    assert world.disk() == {"big": b"small", "other": b"1"}


def test_it_stops_where_the_recorder_could_not_store_what_was_there(world: World) -> None:
    world.cap(8)
    session = Session(world)
    world.write("big", b"larger than the cap")
    session.begin()
    session.capture("big", Announced(content=b"small"))
    world.write("big", b"small")
    session.write("other", b"1")
    session.end()
    assert not try_restore(world, A, "1")
    assert world.disk() == {"big": b"small", "other": b"1"}


def test_it_stops_where_nobody_announced_what_was_written(world: World) -> None:
    """It wrote no hash itself in such a line, and then took the file for absent (its fault W7); ours is a hash of nothing."""
    session = Session(world)
    world.write("f", b"0")
    session.begin()
    session.capture("f", Announced())
    world.write("f", b"written by it")
    session.end()
    session.turn({"g": b"1"})
    session.turn({"f": b"later"})
    assert not try_restore(world, A, "2")
    assert world.disk() == {"f": b"later", "g": b"1"}
    assert try_restore(world, A, "1"), "what was there before it is known"
    assert world.disk() == {"f": b"0"}


@pytest.mark.parametrize("what", ["gone", "kept"])
def test_it_stops_at_a_link_and_replaces_none(world: World, what: str) -> None:
    """A link's text is only in our own place, so that it finds no content to put there."""
    world.root.joinpath("link").symlink_to("target of it")
    world.begin()
    if what == "gone":
        world.act("link", lambda: world.root.joinpath("link").unlink())
    else:
        world.act("link", lambda: None)
    world.act("f", b"1")
    assert not try_restore(world, A, "1")
    assert world.root.joinpath("link").is_symlink() is (what == "kept")
    assert world.restore("1", mine=ALL_MINE).verified, "ours can"
    assert os.readlink(world.root / "link") == "target of it"


def test_what_was_found_and_not_announced_is_left_alone_by_it(world: World) -> None:
    """Looks, commands, gaps and our restores are `observed` lines: its restore never touches a file because of one."""
    world.write("mine", b"0")
    world.begin()
    world.act("f", b"1")
    world.found("mine", b"by a command", author=Author.COMMAND)
    world.found("made", b"by a command", author=Author.COMMAND)
    world.end()
    world.write("mine", b"by hand")
    world.restore("before:1", mine=ALL_MINE)
    world.undo()
    assert run_of(world).restore_preview(A, "1") == ["f"]
    assert try_restore(world, A, "1")
    assert world.disk() == {"mine": b"by hand", "made": b"by a command"}


def test_a_file_that_the_agent_deleted_is_deleted_for_it_too(world: World) -> None:
    world.write("f", b"0")
    world.begin()
    world.act("f", None)
    world.begin()
    world.act("g", b"1")
    world.act("f", b"again")
    assert try_restore(world, A, "2")
    assert world.disk() == {}
    world.turn({"f": b"x"})
    assert try_restore(world, A, "1")
    assert world.disk() == {"f": b"0"}


def test_a_name_that_is_not_utf_8_is_for_it_the_name_that_it_would_have_written(world: World) -> None:
    """It replaces such bytes by U+FFFD and then restores to that name; the file itself it never touches."""
    real = os.fsdecode(b"caf\xe9")
    world.write(real, b"0")
    world.begin()
    world.act(real, b"1")
    (line,) = [json.loads(text) for text in world.log_path().read_bytes().splitlines() if b'"snapshot"' in text]
    assert (line["path"], base64.b64decode(line["path_b64"])) == ("caf\ufffd", b"caf\xe9")
    assert try_restore(world, A, "1")
    assert world.disk() == {real: b"1", "caf\ufffd": b"0"}
    world.write("caf\ufffd", None)
    assert world.restore("1").restored == (real,)
    assert world.disk() == {real: b"0"}


# -- its collector -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loaded", [True, False])
def test_its_collector_keeps_what_a_snapshot_names_and_ours_keeps_the_rest(world: World, loaded: bool) -> None:
    world.write("mine", b"mine 0")
    world.turn({"f": b"1"})
    world.begin()
    world.act("f", b"2")
    world.found("mine", b"by a command", author=Author.COMMAND)
    world.write("f", b"by hand")
    world.restore("before:1", mine=ALL_MINE)
    world.clock.now_ms = 4_000_000_000_000
    other = run_of(world)
    if loaded:
        other.load_all()
    named = {
        sha for line in world.vault.lines(A) if line.type == "snapshot" for sha in (line.before_sha, line.after_sha) if sha
    }
    gone = other.gc_once()
    assert not named & set(gone)
    assert all(other.get(sha) for sha in named)
    world.reopen()
    assert world.kernel.verify().problems == ()
    assert world.undo(mine=ALL_MINE).verified
    assert (world.read("f"), world.read("mine")) == (b"by hand", b"by a command")


# -- turns, branches, interrupted --------------------------------------------------------------------------------


def test_its_turns_and_tags_go_on_where_ours_ended_and_ours_where_its(world: World) -> None:
    world.act("f", b"0")
    world.turn({"f": b"1", "g": b"1"})
    assert run_of(world).load(A).tags == ["0.0", "1", "1.1"]
    world.clock.advance(9)
    other = run_of(world)
    assert other.advance_turn(A, 2) == 2
    assert [other.write(A, "f", text, 2) for text in (b"2", b"3")] == ["2", "2.1"]
    world.turns[A] = 2
    world.turn({"f": b"4"})
    assert run_of(world).load(A).tags == ["0.0", "1", "1.1", "2", "2.1", "3"]
    assert [world.at(tag, "f") for tag in ("0.0", "1", "2", "2.1", "3")] == [None, b"0", b"1", b"2", b"3"]


def test_a_branch_is_for_it_a_chat_without_tags(world: World) -> None:
    """It reads no parent; the turns of the branch itself count on from the cut."""
    world.turn({"f": b"1"})
    world.turn({"f": b"2"})
    branch = world.restore("before:2", scope=Scope.BOTH).branch_chat_id
    assert branch is not None
    other = run_of(world)
    assert other.load_all() == sorted([A, branch])
    assert (other.load(branch).tags, other.load(branch).turn) == ([], 0)
    assert other.oldest_tag(branch) == ""
    world.turns[branch] = 2
    world.turn({"f": b"3"}, branch)
    assert run_of(world).load(branch).tags == ["3"]
    assert try_restore(world, branch, "3")
    assert world.read("f") == b"1"


@pytest.mark.parametrize("name", ["restore.planned", "restore.path", "restore.close"])
def test_our_interrupted_restore_is_nothing_to_it_and_is_finished_by_us(world: World, name: str) -> None:
    """`restore_plan` is no kind of its own: it re-runs nothing. What it wrote meanwhile is left by our recovery."""
    world.write("f", b"0")
    world.turn({"f": b"1", "g": b"1"})
    with killed_at(name):
        world.restore("before:1")
    disk, other = world.disk(), run_of(world)
    assert other.load(A).pending == ""
    assert world.disk() == disk
    world.clock.advance(9)
    other.advance_turn(A)
    other.write(A, "f", b"written meanwhile")
    world.reopen()
    world.recover()
    assert world.read("f") == b"written meanwhile"
    assert world.kernel.unfinished() == []
    run_of(world).load_all()


def test_each_chat_reads_what_its_own_snapshots_name_and_no_more(world: World) -> None:
    world.turn({"f": b"of a"})
    world.turn({"g": b"of b"}, B)
    world.found("h", b"observed only")
    other = run_of(world)
    assert other.read_blob(A, hash_of(b"of a")) == b"of a"
    for data in (b"of b", b"observed only"):
        with pytest.raises(BlobNotFound):
            other.read_blob(A, hash_of(data))
