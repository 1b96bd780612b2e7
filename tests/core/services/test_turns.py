"""Turns that hooks of another program tell: the chat they make, what they write, when they end, and whose messages count."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.conftest import Clock
from tests.helpers.claude_sessions import SessionBuilder
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import Wired, build
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import Author, BeforeTurn, CaptureReport, EntryKind, Mine, TurnReport
from vibekit_desktop.core.types.errors import (
    ChatAmbiguous,
    ChatDamaged,
    InvalidId,
    NewerFormat,
    NoOpenTurn,
    PathEscape,
    PointNotFound,
    WorkspaceMissing,
    WorkspaceNeeded,
    WorkspaceRefused,
)
from vibekit_desktop.core.types.events import ChatCreated, ChatUpdated, Event, HistoryGrew
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath, imported_chat_id

T = TypeVar("T")


class Crash(Exception):
    """The program ends here."""


class Place:
    """One workspace, one data folder, and a time that passes only while somebody waits."""

    def __init__(self, folder: Path, home: Path, clock: Clock) -> None:
        self.data, self.home, self.clock = folder / "data", home, clock
        self.work = folder / "work"
        self.work.mkdir()
        self.waited = 0.0
        self.while_waiting: Callable[[], None] = lambda: None
        self.events: list[Event] = []

    async def _pause(self, seconds: float) -> None:
        self.waited += seconds
        self.clock.advance(int(seconds * 1000))
        self.while_waiting()

    def run(self, work: Callable[[Wired], Awaitable[T]]) -> T:
        async def whole() -> T:
            wired = build(
                Dirs(self.data), home=self.home, clock=self.clock, pause=self._pause, now_s=lambda: self.clock.now_ms / 1000
            )
            for kind in (ChatCreated, ChatUpdated, HistoryGrew):
                wired.bus.subscribe(kind, self.events.append)
            try:
                return await work(wired)
            finally:
                await wired.close()

        self.clock.advance(1000)
        return asyncio.run(whole())

    def begin(
        self, chat: str = "chat-one", prompt: str | None = "do it", *, workspace: Path | None = None, agent: str | None = None
    ) -> TurnReport:
        place = workspace or self.work
        return self.run(lambda wired: wired.core.turns.begin(chat, workspace=place, agent=agent, prompt=prompt))

    def record(self, path: str, content: bytes | None, chat: str = "chat-one") -> CaptureReport:
        """Announce a write and do it."""
        report = self.run(
            lambda wired: wired.core.turns.record(chat, path, content=content, deleted=content is None, mode=None)
        )
        if content is None:
            (self.work / path).unlink(missing_ok=True)
        else:
            (self.work / path).write_bytes(content)
        return report

    def end(self, answer: str | None = None, chat: str = "chat-one") -> TurnReport:
        return self.run(lambda wired: wired.core.turns.end(chat, answer=answer))

    @property
    def vault(self) -> Path:
        (found,) = (self.data / "vaults").iterdir()
        return found

    def chat(self, chat: str = "chat-one") -> dict[str, object]:
        found = json.loads((self.vault / "chats" / f"{chat}.json").read_bytes())
        assert isinstance(found, dict)
        return found

    def messages(self, chat: str = "chat-one") -> list[tuple[str, str, int]]:
        listed = self.chat(chat)["messages"]
        assert isinstance(listed, list)
        return [(one["role"], one.get("content", ""), one.get("turn", 0)) for one in listed]

    def lines(self, chat: str = "chat-one") -> list[dict[str, object]]:
        log = self.vault / "snapshots" / "chats" / chat / "events.jsonl"
        return [json.loads(line) for line in log.read_bytes().splitlines()]


@pytest.fixture
def place(tmp_path: Path, home: Path, clock: Clock) -> Place:
    return Place(tmp_path, home, clock)


# -- the chat ----------------------------------------------------------------------------------------------------


def test_the_first_turn_makes_the_chat_and_tells_of_it_when_it_is_durable(place: Place) -> None:
    report = place.begin(prompt="Fix the parser\nplease", agent="Tester")
    assert (report.chat, report.turn, report.files) == ("chat-one", 1, ())
    chat = place.chat()
    assert (chat["name"], chat["agent"]) == ("Fix the parser", "Tester")
    assert place.messages() == [("user", "Fix the parser\nplease", 1)]
    (start,) = [line for line in place.lines() if line["type"] == "turn_start"]
    assert (start["turn"], start["message_count"]) == (1, 1)
    assert [{"message_id": start["message_id"]}] == [{"message_id": one["id"]} for one in chat["messages"]]
    created, grew = place.events
    assert isinstance(created, ChatCreated)
    assert (created.header.name, created.header.turn_count, created.header.workspace) == ("Fix the parser", 1, str(place.work))
    assert grew == HistoryGrew(ChatId("chat-one"), str(place.work))


def test_a_turn_without_a_prompt_stores_no_message(place: Place) -> None:
    place.begin(prompt=None)
    assert place.messages() == []
    assert place.chat()["name"] == "New chat"
    assert [line.get("message_count", 0) for line in place.lines() if line["type"] == "turn_start"] == [0]
    assert place.record("a.txt", b"a").tag == "1"
    place.end("done")
    assert place.messages() == [("assistant", "done", 0)]
    place.begin(prompt="Now this")
    assert place.messages() == [("assistant", "done", 0), ("user", "Now this", 2)]
    assert place.chat()["name"] == "Now this"
    entries = place.run(lambda wired: wired.core.checkpoints.timeline(ChatId("chat-one"))).entries
    assert [(entry.turn, entry.prompt) for entry in entries if entry.kind is EntryKind.TURN] == [(1, ""), (2, "Now this")]


def test_a_chat_that_is_not_there_needs_a_workspace(place: Place) -> None:
    def begin(text: str) -> Callable[[Wired], Awaitable[TurnReport]]:
        return lambda wired: wired.core.turns.begin(text, workspace=None, agent=None, prompt="x")

    for text in ("chat-one", "claude-code:some-session"):
        with pytest.raises(WorkspaceNeeded):
            place.run(begin(text))
    for text in ("../etc", "a b", "", "x" * 129, "claude-code:", ":session", "Claude Code:x", "a:\0"):
        with pytest.raises(InvalidId):
            place.run(begin(text))
    assert not place.data.exists() or not (place.data / "vaults").exists()


def test_folders_that_get_no_vault_are_refused_before_anything_is_made(place: Place, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for folder, error in (
        (home, WorkspaceRefused), (Path("/"), WorkspaceRefused), (place.data, WorkspaceRefused),
        (file, WorkspaceMissing), (tmp_path / "nowhere", WorkspaceMissing),
    ):  # fmt: skip
        with pytest.raises(error):
            place.begin(workspace=folder)
    assert not (place.data / "vaults").exists()


def test_a_chat_of_one_workspace_takes_no_turn_for_another(place: Place, tmp_path: Path) -> None:
    place.begin()
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(WorkspaceRefused):
        place.begin(workspace=other)
    link = tmp_path / "link"
    link.symlink_to(place.work)
    assert place.begin(workspace=link).turn == 2, "another spelling of the same folder is the same"
    assert not [entry for entry in json.loads((place.data / "library.json").read_text())["vaults"] if "other" in str(entry)]


def test_an_id_that_begins_like_another_is_a_chat_of_its_own(place: Place) -> None:
    place.begin("session-10")
    assert place.begin("session-1").chat == "session-1"
    place.run(lambda wired: wired.core.turns.begin("session-10", workspace=None, agent=None, prompt="x"))
    assert [len(place.messages(chat)) for chat in ("session-10", "session-1")] == [2, 1]
    place.begin("another-chat-a")
    place.begin("another-chat-b")
    found = place.run(lambda wired: wired.core.turns.begin("another-chat-a", workspace=None, agent=None, prompt="x"))
    assert found.chat == "another-chat-a"
    with pytest.raises(ChatAmbiguous):
        place.run(lambda wired: wired.core.turns.begin("another-chat", workspace=None, agent=None, prompt="x"))
    assert place.run(lambda wired: wired.core.turns.end("@1", answer=None)).chat == "another-chat-a"


def test_words_that_are_no_text_are_stored_as_far_as_they_are(place: Place) -> None:
    place.begin(prompt="caf\udce9", agent="T\udcff")
    assert place.messages() == [("user", "caf\ufffd", 1)]
    assert place.chat()["agent"] == "T\ufffd"


def test_a_chat_that_cannot_be_added_to_is_told_and_left(place: Place) -> None:
    place.begin()
    path = place.vault / "chats" / "chat-one.json"
    whole = path.read_bytes()
    log = place.vault / "snapshots" / "chats" / "chat-one" / "events.jsonl"
    for content, error in (
        (b"{broken", ChatDamaged),
        (whole.replace(b'"desktop_format": 1', b'"desktop_format": 9'), NewerFormat),
    ):
        path.write_bytes(content)
        before = log.read_bytes()
        for step in (
            place.begin, lambda: place.record("a.txt", b"a"), lambda: place.end("x"),
            lambda: place.run(lambda wired: wired.core.turns.command_begin("chat-one")),
        ):  # fmt: skip
            with pytest.raises(error):
                step()
        assert (path.read_bytes(), log.read_bytes()) == (content, before)


# -- captures ----------------------------------------------------------------------------------------------------


def test_the_first_capture_of_a_turn_is_stamped_on_its_prompt_once(place: Place) -> None:
    place.begin(prompt="one")
    assert [place.record(path, b"x").tag for path in ("a", "b", "c")] == ["1", "1.1", "1.2"]
    place.end("did one")
    place.begin(prompt="two")
    place.begin(prompt="three")
    assert place.record("a", b"y").tag == "3"
    tags = [(one["content"], one.get("checkpoint_tag", "")) for one in place.chat()["messages"]]
    assert tags == [("one", "1"), ("did one", ""), ("two", ""), ("three", "3")]
    counts = [line["message_count"] for line in place.lines() if line["type"] == "snapshot"]
    assert counts == [1, 1, 1, 4]


def test_a_capture_before_any_turn_stamps_nothing(place: Place) -> None:
    place.begin()
    place.end("x")
    branch = place.run(lambda wired: wired.core.chats.branch(ChatId("chat-one"), 1))
    assert place.record("a", b"y", branch).tag == "0.0"
    assert place.messages(branch) == []


def test_a_path_is_relative_to_the_workspace_or_absolute_inside_it(place: Place, tmp_path: Path) -> None:
    place.begin()
    (place.work / "sub").mkdir()
    place.record("sub/a", b"1")
    absolute = str(place.work / "sub" / "a")
    report = place.run(lambda wired: wired.core.turns.record("chat-one", absolute, content=b"2", deleted=False, mode=0o600))
    assert (report.path, report.after.mode) == ("sub/a", 0o600)
    before = place.lines()
    for text in (
        "",
        "/etc/passwd",
        "../x",
        "sub/../../x",
        str(place.work),
        ".",
        "a\0b",
        "/a\0b/c",
        str(tmp_path / "data" / "x"),
    ):
        with pytest.raises(PathEscape):
            place.record(text, b"3")
    assert place.lines() == before


def test_without_the_workspace_nothing_is_captured(place: Place, tmp_path: Path) -> None:
    place.begin()
    place.work.rename(tmp_path / "moved")
    for step in (lambda: place.begin(workspace=tmp_path / "moved"), lambda: place.record("a", b"a"), place.end):
        with pytest.raises((WorkspaceMissing, WorkspaceRefused)) as found:
            step()
        assert str(place.work) in str(found.value) or "moved" in str(found.value)


# -- the end -----------------------------------------------------------------------------------------------------


def test_the_end_finds_what_nobody_announced_and_reports_the_turns_net(place: Place) -> None:
    (place.work / "old.txt").write_text("1\n2\n")
    place.begin()
    place.record("new.txt", b"a\nb\n")
    (place.work / "old.txt").write_text("1\n3\n4\n")
    place.run(lambda wired: wired.core.turns.command_begin("chat-one"))
    (place.work / "made.txt").write_text("x\n")
    place.run(lambda wired: wired.core.turns.command_end("chat-one"))
    place.clock.advance(5000)
    report = place.end("All done.")
    found = {
        change.path: (change.status.value, change.lines_added, change.lines_removed, change.author) for change in report.files
    }
    assert found == {
        "made.txt": ("A", 1, 0, Author.COMMAND),
        "new.txt": ("A", 2, 0, Author.AGENT),
        "old.txt": ("M", 2, 1, Author.UNKNOWN),
    }
    assert report.coverage.complete
    (end,) = [line for line in place.lines() if line["type"] == "turn_end"]
    assert end["duration_ms"] > 5000
    assert place.messages()[-1] == ("assistant", "All done.", 0)
    last = place.events[-2:]
    assert isinstance(last[0], ChatUpdated)
    assert (last[0].header.lines_added, last[0].header.lines_removed) == (5, 1)
    assert last[1] == HistoryGrew(ChatId("chat-one"), str(place.work))


def test_the_end_waits_until_the_disk_is_quiet(place: Place) -> None:
    place.begin()
    writes = iter(range(4))

    def write() -> None:
        number = next(writes, None)
        if number is not None:
            (place.work / "late.txt").write_text("x" * number)

    place.while_waiting = write
    report = place.end()
    assert [change.path for change in report.files] == ["late.txt"]
    assert report.coverage.complete
    assert (place.work / "late.txt").read_text() == "xxx"
    assert 0.69 < place.waited < 0.81, "three changes, and a quiet moment after the last"


def test_the_end_waits_three_seconds_at_most_and_says_what_was_still_changing(place: Place) -> None:
    place.begin()
    count = iter(range(1000))
    place.while_waiting = lambda: (place.work / "busy.txt").write_text("x" * next(count)) and None
    report = place.end()
    assert place.waited == pytest.approx(3.0)
    assert not report.coverage.complete
    assert ("busy.txt", "still-changing") in [(one.path, one.reason) for one in report.coverage.skipped]


def test_what_never_began_does_not_end(place: Place) -> None:
    place.begin()
    for wrong in ("command_end",):
        with pytest.raises(NoOpenTurn):
            place.run(lambda wired, name=wrong: getattr(wired.core.turns, name)("chat-one"))
    place.end()
    waited = place.waited
    for step in (
        lambda: place.end("x"), lambda: place.run(lambda wired: wired.core.turns.command_begin("chat-one")),
    ):  # fmt: skip
        with pytest.raises(NoOpenTurn):
            step()
    assert place.waited == waited, "nobody waits for what cannot be"
    assert len(place.messages()) == 1


def test_a_crash_after_the_answer_leaves_an_open_turn_whose_end_stores_it_once(place: Place) -> None:
    place.begin()

    def crash(name: str) -> None:
        if name == "turn.end":
            raise Crash

    with faults.armed(crash), contextlib.suppress(Crash):
        place.end("done")
    assert place.messages()[-1] == ("assistant", "done", 0)
    assert place.end("done").turn == 1
    assert [role for role, _, _ in place.messages()] == ["user", "assistant"]


def test_a_crash_after_the_turn_began_leaves_the_right_number(place: Place) -> None:
    place.begin()
    place.end()
    began: list[str] = []

    def crash(name: str) -> None:
        began.append(name)
        if "turn.begin" in began and name == "atomic.rename" and any(kind == "turn_start" for kind in _types(place)[2:]):
            raise Crash

    with faults.armed(crash), contextlib.suppress(Crash):
        place.begin(prompt="lost")
    assert [text for _, text, _ in place.messages()] == ["do it"]
    assert place.begin(prompt="kept").turn == 3
    assert place.messages()[-1] == ("user", "kept", 3)


def _types(place: Place) -> list[object]:
    return [line["type"] for line in place.lines()]


# -- a chat that has a source ------------------------------------------------------------------------------------


def _session(place: Place) -> SessionBuilder:
    return SessionBuilder(cwd=str(place.work))


def _name(made: SessionBuilder) -> tuple[str, ChatId]:
    return f"claude-code:{made.session}", imported_chat_id("claude-code", made.session)


def _kinds(place: Place, chat: ChatId) -> list[tuple[object, object]]:
    return [(line["type"], line.get("turn", 0)) for line in place.lines(chat) if line["type"] in ("turn_start", "snapshot")]


def test_hooks_that_come_before_the_sources_file_make_the_row_that_it_joins(place: Place) -> None:
    made = _session(place)
    name, chat = _name(made)
    assert place.begin(name, "make it").chat == chat
    assert place.chat(chat)["agent"] == "Claude Code"
    place.record("a.txt", b"a\n", name)
    place.end("made", name)
    made.prompt("make it")
    made.write(str(place.work / "a.txt"), "a\n")
    made.end_turn("I made a.txt.")
    made.install(place.home)
    view = place.run(lambda wired: wired.core.chats.open(chat))
    assert [(one.role, one.content, one.turn, one.checkpoint_tag) for one in view.messages] == [
        ("user", "make it", 1, "1"), ("assistant", "I made a.txt.", 0, ""),
    ]  # fmt: skip
    assert len(view.messages[1].tool_calls) == 1, "the source knows the calls"
    assert _kinds(place, chat) == [("turn_start", 1), ("snapshot", 1)], "what the hooks saw is not told again"
    rows = place.run(lambda wired: wired.core.chats.list())
    assert [row.id for row in rows] == [chat]
    made.prompt("and more")
    made.write(str(place.work / "b.txt"), "b\n")
    made.end_turn("More.")
    made.install(place.home)
    view = place.run(lambda wired: wired.core.chats.open(chat))
    assert [(one.content, one.turn) for one in view.messages if one.role == "user"] == [("make it", 1), ("and more", 0)]
    assert _kinds(place, chat) == [("turn_start", 1), ("snapshot", 1)]


def test_a_session_that_is_there_is_read_to_its_end_before_its_first_turn_by_a_hook(place: Place) -> None:
    made = _session(place)
    name, chat = _name(made)
    made.prompt("one")
    made.write(str(place.work / "a.txt"), "a\n")
    made.end_turn("One.")
    made.install(place.home)
    (place.work / "a.txt").write_text("a\n")
    report = place.run(lambda wired: wired.core.turns.begin(name, workspace=None, agent=None, prompt="two"))
    assert (report.chat, report.turn) == (chat, 2)
    place.record("a.txt", b"b\n", name)
    made.prompt("two")
    made.edit(str(place.work / "a.txt"), "a", "b")
    made.end_turn("Two.")
    made.install(place.home)
    place.end("Two, by the hook", name)
    view = place.run(lambda wired: wired.core.chats.open(chat))
    assert [(one.content, one.turn) for one in view.messages] == [("one", 1), ("One.", 0), ("two", 2), ("Two.", 0)]
    assert _kinds(place, chat) == [("turn_start", 1), ("snapshot", 1), ("turn_start", 2), ("snapshot", 2)]
    timeline = place.run(lambda wired: wired.core.checkpoints.timeline(chat))
    turns = [(entry.turn, entry.prompt, len(entry.files)) for entry in timeline.entries if entry.kind is EntryKind.TURN]
    assert turns == [(1, "one", 1), (2, "two", 1)]


def test_a_session_of_another_folder_is_refused_and_not_even_read(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    made = SessionBuilder(cwd=str(other))
    made.prompt("one")
    made.end_turn("One.")
    made.install(place.home)
    with pytest.raises(WorkspaceRefused):
        place.begin(_name(made)[0])
    assert not (place.data / "vaults").exists()


# -- branches and conflicts --------------------------------------------------------------------------------------


def test_a_branch_holds_what_was_before_a_turn(place: Place) -> None:
    for number in (1, 2, 3):
        place.begin(prompt=f"p{number}")
        place.record("a.txt", f"{number}\n".encode())
        place.end(f"a{number}")
    branch = place.run(lambda wired: wired.core.chats.branch(ChatId("chat-one"), 3))
    created = place.events[-1]
    assert isinstance(created, ChatCreated)
    assert (created.header.id, created.header.parent_chat_id, created.header.rewind_from_turn) == (branch, "chat-one", 3)
    assert place.messages(branch) == place.messages()[:4]
    ids = [[one["id"] for one in place.chat(chat)["messages"]] for chat in (branch, "chat-one")]
    assert ids[0] == ids[1][:4]
    timeline = place.run(lambda wired: wired.core.checkpoints.timeline(branch))
    assert [entry.turn for entry in timeline.entries if entry.kind is EntryKind.TURN] == [1, 2]
    assert place.begin(branch, "other way").turn == 3
    assert (place.work / "a.txt").read_text() == "3\n", "no file is touched"
    with pytest.raises(PointNotFound):
        place.run(lambda wired: wired.core.chats.branch(ChatId("chat-one"), 9))


def test_a_change_under_a_chats_hands_is_a_conflict(place: Place) -> None:
    place.begin()
    place.record("a.txt", b"one\n")
    place.end()
    (place.work / "a.txt").write_text("somebody\n")
    place.begin("chat-two")
    report = place.record("a.txt", b"two\n", "chat-two")
    assert report.conflict is not None
    assert report.conflict.other_chat == "chat-one"
    found = place.run(lambda wired: wired.core.checkpoints.conflicts(ChatId("chat-two")))
    assert [(one.path, one.other_chat, one.tag) for one in found if one.tag] == [("a.txt", "chat-one", "1")]


def test_a_turn_of_hooks_whose_end_is_never_told_keeps_nobody_from_taking_it_back(place: Place) -> None:
    (place.work / "notes.md").write_bytes(b"before\n")
    place.begin()
    place.record("notes.md", b"after\n")
    path = WorkspacePath("notes.md")

    async def undo(wired: Wired) -> bool:
        checkpoints = wired.core.checkpoints
        plan = await checkpoints.plan_undo_file(ChatId("chat-one"), BeforeTurn(1), path, mine=Mine())
        return (await checkpoints.carry_out(plan)).verified

    assert place.run(undo)
    assert (place.work / "notes.md").read_bytes() == b"before\n"
    place.record("notes.md", b"again\n")
    assert place.end().turn == 1
    assert place.run(undo)
    assert (place.work / "notes.md").read_bytes() == b"before\n"
