"""Importing twice, importing what grew, importing after a crash, and what cannot be imported."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.helpers.claude_sessions import SessionBuilder, demo_session, write_demo_session
from tests.sources.conftest import Importer
from vibekit_desktop.core.chat.fitting import ChatLimits
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.chat.transcripts import StoredTranscripts
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.sources import materialise as module
from vibekit_desktop.core.sources.base import ImportCancelled
from vibekit_desktop.core.sources.claude_code import ClaudeCode
from vibekit_desktop.core.sources.materialise import ImportKind
from vibekit_desktop.core.types.checkpoints import State
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, UnknownFormat
from vibekit_desktop.core.types.ids import imported_chat_id, new_chat_id


def test_an_import_writes_what_the_storage_format_says(importer: Importer, session: SessionBuilder, clock: Clock) -> None:
    session.prompt("Change it")
    session.edit("a.py", "two", "2")
    session.write("b.py", "b\n")
    session.end_turn("Done.")
    session.prompt("Run it")
    session.bash("make", "ok\n")
    session.end_turn("It runs.")
    outcome = importer.run(session)
    assert outcome.chat_id == imported_chat_id("claude-code", session.session)
    start, *lines = importer.lines(outcome)
    assert (start.type, start.source, start.session, start.recorded) == (
        "import_start",
        "claude-code",
        session.session,
        "/home/ann/tidewatch",
    )
    assert (start.imported_at, start.import_seq, start.detached) == (clock(), 0, False)
    kinds = [(line.type, line.turn, line.tag, line.message_count) for line in lines]
    assert kinds == [
        ("turn_start", 1, "", 1),
        ("snapshot", 1, "1", 1),
        ("snapshot", 1, "1.1", 1),
        ("turn_end", 1, "", 0),
        ("turn_start", 2, "", 3),
        ("turn_end", 2, "", 0),
    ]
    assert all(line.seq == 0 and line.before_mode == line.after_mode == -1 for line in lines)
    assert {(line.author, line.how) for line in lines if line.type == "snapshot"} == {("agent", "import")}
    times = [line.ts for line in lines]
    assert times == sorted(times)
    assert times[0] > 0
    first, second = (line.coverage for line in lines if line.type == "turn_end")
    assert first is not None
    assert first.complete
    assert second is not None
    assert (second.complete, second.skipped[0].reason) == (False, "command")
    chat = importer.chat(outcome)
    assert (chat.agent, chat.source, chat.model) == ("Claude Code", "claude-code", "claude-opus-4-6")
    assert [message.checkpoint_tag for message in chat.messages or () if message.role == "user"] == ["1", ""]
    assert lines[0].message_id == (chat.messages or ())[0].id


def test_a_session_that_may_still_run_has_an_open_turn(importer: Importer, session: SessionBuilder, clock: Clock) -> None:
    clock.now_ms = int(session.now.timestamp() * 1000)
    session.prompt("Go")
    session.write("b.py", "b\n")
    outcome = importer.run(session)
    assert importer.lines(outcome, "turn_end") == []
    clock.advance(13 * 3_600_000)
    importer.run(session)
    assert [line.turn for line in importer.lines(outcome, "turn_end")] == [1]


def test_what_grew_is_added_and_nothing_is_written_twice(importer: Importer, session: SessionBuilder, clock: Clock) -> None:
    clock.now_ms = int(session.now.timestamp() * 1000)
    whole = demo_session("/home/ann/tidewatch")
    copy = SessionBuilder(session=whole.session, cwd=whole.cwd)
    kinds = []
    for upto in range(12, len(whole.records) + 1, 7):
        copy.records = whole.records[:upto]
        kinds.append(importer.run(copy).kind)
    outcome = importer.run(whole)
    assert kinds[0] is ImportKind.IMPORTED
    assert set(kinds[1:]) == {ImportKind.UPDATED}
    grown = [(line.type, line.turn, line.tag, line.path) for line in importer.lines(outcome) if line.type != "turn_end"]
    fresh = Importer(importer.folder.parent / "fresh", importer.home, clock, Fs())
    at_once = fresh.run(whole)
    assert grown == [(line.type, line.turn, line.tag, line.path) for line in fresh.lines(at_once) if line.type != "turn_end"]
    assert {line.turn for line in importer.lines(outcome, "turn_end")} == {1, 2, 3, 4, 5}
    assert importer.chat(outcome).messages == fresh.chat(at_once).messages
    assert importer.run(whole).kind is ImportKind.UNCHANGED


def test_a_crash_between_log_and_chat_is_mended_by_importing_again(
    importer: Importer, session: SessionBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    def crash(*_: object) -> None:
        raise Crash

    session.prompt("Go")
    session.write("b.py", "b\n")
    session.end_turn("Done.")
    monkeypatch.setattr(ChatStore, "save", crash)
    with pytest.raises(Crash):
        importer.run(session)
    monkeypatch.undo()
    chat = imported_chat_id("claude-code", session.session)
    lines = importer.vault.lines(chat)
    assert len(lines) == 4
    assert not importer.chats.exists(chat)
    assert importer.run(session).kind is ImportKind.IMPORTED
    assert importer.vault.lines(chat) == lines
    assert importer.chats.exists(chat)


def test_a_cut_last_line_in_the_log_is_written_again(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.write("b.py", "b\n")
    session.end_turn("Done.")
    outcome = importer.run(session)
    log = importer.folder / "snapshots" / "chats" / outcome.chat_id / "events.jsonl"
    log.write_bytes(log.read_bytes()[:-30])
    importer.run(session)
    assert [line.type for line in importer.lines(outcome)] == ["import_start", "turn_start", "snapshot", "turn_end"]


def test_a_history_that_lost_what_was_imported_is_refused_and_ours_is_kept(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.write("b.py", "b\n")
    session.prompt("Go on")
    session.say("ok")
    outcome = importer.run(session)
    chat, lines = importer.chat(outcome), importer.vault.lines(outcome.chat_id)
    session.records = session.records[:2]
    again = importer.run(session)
    assert again.kind is ImportKind.FAILED
    assert again.failed is not None
    assert again.failed.code == "source.rewritten"
    assert importer.chat(outcome) == chat
    assert importer.vault.lines(outcome.chat_id) == lines


def test_a_chat_that_was_cut_here_no_longer_follows(importer: Importer, session: SessionBuilder, clock: Clock) -> None:
    session.prompt("One")
    session.say("ok")
    outcome = importer.run(session)
    branch = new_chat_id(clock())
    transcripts = StoredTranscripts(importer.chats, clock=clock)
    transcripts.keep_as_branch(outcome.chat_id, branch, keep=0, first_turn=1)
    transcripts.cut(outcome.chat_id, keep=0, branch=branch, first_turn=1, last_turn=1)
    session.prompt("Two")
    assert importer.run(session).kind is ImportKind.UNCHANGED
    assert importer.chat(outcome).messages == ()


def test_a_name_that_the_user_gave_stays_and_an_old_title_does_not(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("One")
    outcome = importer.run(session)
    session.raw(type="ai-title", aiTitle="A better title", sessionId=session.session)
    importer.run(session)
    assert importer.chat(outcome).name == "A better title"
    importer.chats.mutate(outcome.chat_id, lambda chat, _: type(chat)(**{**_fields(chat), "name": "Mine"}))
    session.prompt("Two")
    importer.run(session)
    assert importer.chat(outcome).name == "Mine"


def _fields(chat: object) -> dict[str, object]:
    return {name: getattr(chat, name) for name in chat.__struct_fields__}  # type: ignore[attr-defined]  # a msgspec struct


def test_unknown_keys_of_the_chat_survive_an_update(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("One")
    outcome = importer.run(session)
    path = importer.chats.folder / f"{outcome.chat_id}.json"
    path.write_text(path.read_text().replace('"role": "user"', '"role": "user",\n      "starred": true', 1))
    session.prompt("Two")
    importer.run(session)
    assert '"starred": true' in path.read_text()


def test_a_session_mapped_to_another_folder_is_detached(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.write("b.py", "b\n")
    outcome = importer.run(session, detached=True)
    assert importer.lines(outcome)[0].detached
    assert importer.chat(outcome).detached
    assert importer.chat(outcome).recorded_workspace == "/home/ann/tidewatch"
    assert [line.path for line in importer.lines(outcome, "snapshot")] == ["b.py"]


SMALL = ChatLimits(read=120_000, write=90_000, split_to=30_000)


def test_a_session_too_large_for_one_file_loses_nothing_and_importing_again_changes_nothing(
    importer: Importer, session: SessionBuilder
) -> None:
    small = Importer(importer.folder.parent / "small", importer.home, importer.clock, Fs(), SMALL)
    for turn in range(4):
        session.prompt(f"Run {turn}")
        session.bash("make", "y" * 40_000)
        session.end_turn("Ran.")
    outcome = small.run(session)
    stored = small.chats.load(outcome.chat_id)[0]
    assert stored.parts
    assert len(stored.messages or ()) < 8
    assert small.chat(outcome).messages == importer.chat(importer.run(session)).messages, "as if there were no limit"
    parts = {path: path.stat().st_ino for path in small.chats.parts.folder.iterdir()}
    assert small.run(session).kind is ImportKind.UNCHANGED
    assert {path: path.stat().st_ino for path in small.chats.parts.folder.iterdir()} == parts, "no part was written again"
    session.prompt("More words")
    session.end_turn("Yes.")
    assert small.run(session).kind is ImportKind.UPDATED
    grown = small.chats.load(outcome.chat_id)[0]
    assert grown.parts[: len(stored.parts)] == stored.parts, "what is the same is in the same parts still"
    assert small.chat(outcome).messages == importer.chat(importer.run(session)).messages
    assert small.run(session).kind is ImportKind.UNCHANGED


def test_a_damaged_part_of_an_imported_chat_is_said_and_left_alone(importer: Importer, session: SessionBuilder) -> None:
    small = Importer(importer.folder.parent / "small", importer.home, importer.clock, Fs(), SMALL)
    session.prompt("Run")
    for _ in range(3):
        session.bash("make", "y" * 60_000)
    session.prompt("More")
    session.end_turn("Ran.")
    outcome = small.run(session)
    part = sorted(small.chats.parts.folder.iterdir())[0]
    part.write_bytes(b"rubbish")
    failed = small.run(session)
    assert failed.failed is not None
    assert failed.failed.code == "chat.damaged"
    assert part.read_bytes() == b"rubbish"
    assert small.chats.load(outcome.chat_id)[0].messages


def test_a_damaged_chat_or_log_is_left_alone(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.say("ok")
    outcome = importer.run(session)
    path = importer.chats.folder / f"{outcome.chat_id}.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    again = importer.run(session)
    assert again.failed is not None
    assert again.failed.code == "chat.damaged"
    assert path.read_bytes() == whole[:100]
    path.write_bytes(whole)
    log = importer.folder / "snapshots" / "chats" / outcome.chat_id / "events.jsonl"
    log.write_bytes(b"rubbish\n" + log.read_bytes())
    again = importer.run(session)
    assert again.failed is not None
    assert again.failed.code == "store.log-damaged"


def test_a_full_disk_passes_through_and_leaves_no_half_import(importer: Importer, session: SessionBuilder) -> None:
    class Full(Fs):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            raise OSError(28, "No space left on device")

    session.prompt("Go")
    session.write("b.py", "b\n")
    broken = Importer(importer.folder, importer.home, importer.clock, Full())
    with pytest.raises(CannotWrite):
        broken.run(session)
    assert importer.chats.list() == []
    assert importer.run(session).kind is ImportKind.IMPORTED


# -- what cannot be imported ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 5000,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40,
        b'{"type":"session_meta","payload":{"id":"x"}}\n',
        b'{"version": 3, "sessions": []}',
        b"# A text\n\nwith words\n",
        b'{"type":"user","message":{"content":"cut',
        b'{"type":"summary","summary":"only a title","leafUuid":"x"}\n',
    ],
)
def test_what_is_no_session_is_refused_with_a_reason(importer: Importer, data: bytes) -> None:
    with pytest.raises(UnknownFormat) as refused:
        importer.text(data)
    assert refused.value.reason
    assert not importer.folder.exists()


def test_folders_missing_files_and_pipes_cannot_be_read(importer: Importer, tmp_path: Path) -> None:
    source = ClaudeCode()
    with pytest.raises(CannotRead) as refused:
        source.read(tmp_path)
    assert refused.value.reason == "is a folder"
    with pytest.raises(CannotRead) as refused:
        source.read(tmp_path / "nowhere.jsonl")
    assert refused.value.reason == "missing"
    import os

    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.jsonl")
        with pytest.raises(CannotRead) as refused:
            source.read(tmp_path / "pipe.jsonl")
        assert refused.value.reason == "not a regular file"
        assert not source.recognise(tmp_path / "pipe.jsonl")


def test_a_file_without_permission_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secret.jsonl"
    path.write_text("{}")
    monkeypatch.setattr("vibekit_desktop.core.sources.reading.os.open", refuse)
    with pytest.raises(CannotRead) as refused:
        ClaudeCode().read(path)
    assert refused.value.reason == "Permission denied"


@pytest.mark.parametrize("value", [None, 7, -1.5, True, "x", [], {}, [[]], {"a": {}}, ["\u2028"], [{"type": 3}], 10**30])
def test_any_value_in_any_key_is_survived(importer: Importer, session: SessionBuilder, value: object) -> None:
    session.prompt("Go")
    session.read("a.py")
    session.edit("a.py", "two", "2")
    session.bash("make", "ok", bashEditDiff=value)
    good = list(session.records)
    for index, record in enumerate(good):
        for key in record:
            session.records = [*good[:index], {**record, key: value}, *good[index + 1 :]]
            assert importer.read(session).turns <= 1
        for nested in ("message", "toolUseResult", "snapshot"):
            inside = record.get(nested)
            for key in inside if isinstance(inside, dict) else ():
                session.records = [*good[:index], {**record, nested: {**inside, key: value}}, *good[index + 1 :]]
                importer.read(session)


def test_cancelling_stops_the_reading(session: SessionBuilder, home: Path) -> None:
    session.prompt("Go")
    with pytest.raises(ImportCancelled):
        ClaudeCode().read(session.install(home), cancelled=lambda: True)


def test_progress_ends_at_the_size_of_the_file(session: SessionBuilder, home: Path) -> None:
    session.prompt("Go")
    path = session.install(home)
    told: list[tuple[int, int]] = []
    ClaudeCode().read(path, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


# -- finding -------------------------------------------------------------------------------------------------------


def test_sessions_are_found_under_a_home_and_sub_agents_are_not(session: SessionBuilder, home: Path) -> None:
    session.prompt("Go")
    path = session.install(home)
    (path.parent / "agent-1.jsonl").write_text(session.text())
    inside = path.parent / session.session / "subagents"
    inside.mkdir(parents=True)
    (inside / "agent-2.jsonl").write_text(session.text())
    (path.parent / "notes.txt").write_text("x")
    source = ClaudeCode()
    assert list(source.find(home)) == [path]
    assert list(source.find_in(home)) == [path]
    assert list(source.find(home / "nobody")) == []
    moved = home / "moved"
    shutil.move(home / ".claude", moved)
    assert [found.name for found in source.find(home, config_dir=moved)] == [path.name]


def test_the_stamp_changes_when_the_session_or_a_sub_agent_grows(session: SessionBuilder, home: Path) -> None:
    session.prompt("Go")
    path = session.install(home)
    source = ClaudeCode()
    first = source.stamp(path)
    assert source.stamp(path) == first
    inside = path.parent / session.session / "subagents"
    inside.mkdir(parents=True)
    (inside / "agent-2.jsonl").write_text(session.text())
    second = source.stamp(path)
    session.say("more")
    session.install(home)
    assert len({first, second, source.stamp(path)}) == 3


def test_the_demo_session_tells_what_is_on_disk(importer: Importer, home: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    outcome = importer.run(ClaudeCode().read(write_demo_session(home, workspace)))
    assert outcome.imported is not None
    assert (outcome.imported.turns, outcome.imported.files, outcome.imported.skipped) == (5, 6, ())
    left = {touch.path: touch.after for touch in importer.read(demo_session(str(workspace))).touches}
    for path, content in left.items():
        assert path is not None
        if content.state is State.ABSENT:
            assert not (workspace / path).exists()
        else:
            assert (workspace / path).read_bytes() == content.data
    assert module.branch_id("a", "b", "c") != module.branch_id("a", "b", "d")
