"""Real histories, read where they are beside the checkout: what we import equals an independent count of the raw file."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from tests.helpers.claude_count import count
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.sources.base import ForeignSession
from vibekit_desktop.core.sources.claude_code import ClaudeCode
from vibekit_desktop.core.sources.materialise import ImportKind, ImportOutcome, materialise
from vibekit_desktop.core.types.checkpoints import State
from vibekit_desktop.core.types.ids import ChatId


def _samples() -> list[Path]:
    for above in Path(__file__).resolve().parents:
        folder = above / "shared" / "samples" / "claude-code"
        if folder.is_dir():
            return sorted(folder.rglob("*.jsonl"))
    return []


SAMPLES = _samples()
TABLE = {
    "compaction-x3-very-long-2.1.7": (56, 53, 3, 0, 2),
    "multiedit-sidechain-1.0.56": (58, 58, 0, 0, 8),
    "replace-all-x19-2.1.33": (29, 29, 0, 0, 0),
    "glued-lines-2.1.12": (14, 14, 0, 0, 1),
    "rejected-planmode-2.1.12": (12, 11, 1, 0, 0),
    "many-edits-tasks-2.1.39": (10, 10, 0, 0, 3),
    "unicode-cjk-2.1.2": (9, 7, 2, 0, 0),
    "edit-errors-emoji-2.1.17": (9, 7, 2, 0, 7),
}
"""session-formats.md 2.8: edits, with full before, with absent before, hunks only, failed."""

pytestmark = pytest.mark.skipif(not SAMPLES, reason="no real histories beside the checkout")


@dataclass
class Imported:
    session: ForeignSession
    outcome: ImportOutcome
    vault: VaultStore
    chats: ChatStore
    chat: ChatId


@pytest.fixture(params=SAMPLES, ids=lambda path: path.stem)
def imported(request: pytest.FixtureRequest, tmp_path: Path, clock: Callable[[], int]) -> Imported:
    path: Path = request.param
    session = ClaudeCode().read(path)
    vault = VaultStore(Fs(), tmp_path, clock=clock)
    chats = ChatStore(Fs(), tmp_path, clock=clock)
    outcome = materialise(session, vault=vault, chats=chats, workspace_root=session.cwd, detached=False, clock=clock)
    return Imported(session, outcome, vault, chats, outcome.chat_id)


def test_turns_edits_and_files_equal_an_independent_count(imported: Imported) -> None:
    raw = count(Path(imported.session.path))
    found = imported.outcome.imported
    assert imported.outcome.kind is ImportKind.IMPORTED
    assert found is not None
    assert (found.turns, found.edits, found.files) == (raw.turns, len(raw.edits), raw.files)
    assert raw.cwd in (imported.session.cwd, "")


def test_edits_agree_with_the_table_of_the_format_description(imported: Imported) -> None:
    name = Path(imported.session.path).stem
    if name not in TABLE:
        pytest.skip("not in the table")
    touches = imported.session.touches
    full = sum(1 for touch in touches if touch.before.state is State.PRESENT)
    absent = sum(1 for touch in touches if touch.before.state is State.ABSENT)
    failed = count(Path(imported.session.path)).failed
    assert (len(touches), full, absent, len(touches) - full - absent, failed) == TABLE[name]


def test_every_content_that_the_file_tells_is_in_the_log_and_in_the_store(imported: Imported) -> None:
    raw = count(Path(imported.session.path))
    touches = imported.session.touches
    assert len(touches) == len(raw.edits)
    for touch, edit in zip(touches, raw.edits, strict=True):
        for content, told in ((touch.before, edit.before), (touch.after, edit.after)):
            if told is not None:
                assert content.data is not None
                assert _sha(content.data) == told
        assert (touch.before.state is State.ABSENT) == edit.created
    lines = [line for line in imported.vault.lines(imported.chat) if line.type == "snapshot"]
    inside = [touch for touch in touches if touch.path is not None]
    assert len(lines) == len(inside)
    for line, touch in zip(lines, inside, strict=True):
        assert log.path_of(line) == touch.path
        for state, content in ((log.state_before(line), touch.before), (log.state_after(line), touch.after)):
            assert state.state is content.state
            if content.data is not None:
                assert state.sha is not None
                assert imported.vault.blobs.get(state.sha) == content.data


def _sha(data: bytes) -> str:
    return sha256(data).hexdigest()


def test_the_chain_of_contents_breaks_only_where_the_raw_file_says_so(imported: Imported) -> None:
    last: dict[str, str] = {}
    breaks = 0
    for touch in imported.session.touches:
        key = touch.recorded
        before = _sha(touch.before.data) if touch.before.data is not None else None
        if key in last and before is not None:
            breaks += last[key] != before
        if touch.after.data is None:
            assert touch.after.reason
            last.pop(key, None)
        else:
            last[key] = _sha(touch.after.data)
    assert breaks == count(Path(imported.session.path)).breaks


def test_tags_count_on_in_every_turn_and_turns_stand_in_order(imported: Imported) -> None:
    turn, tool, open_turn = 0, 0, 0
    for line in imported.vault.lines(imported.chat):
        assert line.seq == 0
        if line.type == "turn_start":
            assert line.turn == turn + 1
            turn, tool, open_turn = line.turn, 0, line.turn
        elif line.type == "turn_end":
            assert line.turn == open_turn
        elif line.type == "snapshot":
            assert line.tag == (f"{turn}.{tool}" if tool or not turn else str(turn))
            assert (line.turn, line.tool) == (turn, tool)
            tool += 1
    assert turn == imported.session.turns


def test_the_chat_can_be_read_again_and_every_edit_stands_at_its_call(imported: Imported) -> None:
    chat, _ = imported.chats.load(imported.chat)
    assert chat.messages == imported.session.messages
    calls = {call.id for message in chat.messages or () for call in message.tool_calls}
    assert {touch.tool_call_id for touch in imported.session.touches} <= calls
    prompts = [message.turn for message in chat.messages or () if message.turn]
    assert prompts == sorted(prompts)
    assert len({message.id for message in chat.messages or ()}) == len(chat.messages or ())
    header = imported.chats.list()[0]
    assert (header.problem, header.message_count) == ("", len(chat.messages or ()))


def test_the_cheap_header_says_what_the_whole_reading_says(imported: Imported) -> None:
    summary = ClaudeCode().summarise(Path(imported.session.path))
    session = imported.session
    assert (summary.title, summary.cwd, summary.session) == (session.title, session.cwd, session.session)
    assert (summary.created_at, summary.updated_at) == (session.created_at, session.updated_at)
    assert (summary.message_count, summary.turn_count) == (len(session.messages), session.turns)
    assert summary.chat_id == imported.chat


def test_importing_again_changes_nothing(imported: Imported, clock: Callable[[], int]) -> None:
    lines = imported.vault.lines(imported.chat)
    chat_file = imported.chats.folder / f"{imported.chat}.json"
    before = chat_file.read_bytes()
    session = ClaudeCode().read(Path(imported.session.path))
    again = materialise(
        session, vault=imported.vault, chats=imported.chats, workspace_root=session.cwd, detached=False, clock=clock
    )
    assert again.kind is ImportKind.UNCHANGED
    assert imported.vault.lines(imported.chat) == lines
    assert chat_file.read_bytes() == before
