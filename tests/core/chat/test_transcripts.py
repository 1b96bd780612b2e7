"""Cutting a transcript keeps it, and bringing it back loses nothing, however often each step runs."""

from pathlib import Path

import msgspec
import pytest

from tests.conftest import Clock
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.chat.transcripts import StoredTranscripts, branch_name
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import Chat, Message
from vibekit_desktop.core.types.errors import ChatNotFound
from vibekit_desktop.core.types.ids import ChatId

CHAT, BRANCH = ChatId("chat-0001"), ChatId("branch-01")
MESSAGES = tuple(
    message
    for turn in (1, 2, 4)
    for message in (
        Message(id=f"u-{turn}", role="user", content=f"prompt {turn}", turn=turn, checkpoint_tag=str(turn)),
        Message(id=f"a-{turn}", role="assistant", content=f"answer {turn}"),
    )
)


@pytest.fixture
def chats(tmp_path: Path, clock: Clock) -> ChatStore:
    made = ChatStore(Fs(), tmp_path, clock=clock)
    made.save(
        Chat(id=CHAT, name="A chat", messages=MESSAGES, source="claude-code", source_session="s", created_at=1, updated_at=2)
    )
    return made


@pytest.fixture
def transcripts(chats: ChatStore, clock: Clock) -> StoredTranscripts:
    return StoredTranscripts(chats, clock=clock)


def _cut(transcripts: StoredTranscripts) -> None:
    transcripts.keep_as_branch(CHAT, BRANCH, keep=2, first_turn=2)
    transcripts.cut(CHAT, keep=2, branch=BRANCH, first_turn=2, last_turn=4)


def test_the_shape_says_where_each_prompt_stands(transcripts: StoredTranscripts) -> None:
    shape = transcripts.shape(CHAT)
    assert (shape.messages, dict(shape.prompt_index)) == (6, {1: 0, 2: 2, 4: 4})
    assert shape.prompts[4] == "prompt 4"
    assert transcripts.shape(ChatId("nobody")).messages == 0


def test_a_cut_keeps_the_whole_transcript_as_a_branch(transcripts: StoredTranscripts, chats: ChatStore, clock: Clock) -> None:
    _cut(transcripts)
    short, _ = chats.load(CHAT)
    whole, _ = chats.load(BRANCH)
    assert (short.messages, short.cut, short.removed_turns) == (MESSAGES[:2], True, ((2, 4, BRANCH),))
    assert whole.messages == MESSAGES
    assert (whole.parent_chat_id, whole.name, whole.rewind_from_turn, whole.source) == (CHAT, "Branch: A chat", 2, "")
    assert whole.created_at == clock()


def test_every_step_may_run_twice(transcripts: StoredTranscripts, chats: ChatStore) -> None:
    _cut(transcripts)
    after = chats.load(CHAT)[0], chats.load(BRANCH)[0]
    _cut(transcripts)
    assert (chats.load(CHAT)[0], chats.load(BRANCH)[0]) == after
    transcripts.bring_back(CHAT, BRANCH)
    transcripts.bring_back(CHAT, BRANCH)
    assert chats.load(CHAT)[0].messages == MESSAGES


def test_nothing_is_cut_without_a_branch_that_keeps_it(transcripts: StoredTranscripts, chats: ChatStore) -> None:
    with pytest.raises(ChatNotFound):
        transcripts.cut(CHAT, keep=0, branch=BRANCH, first_turn=1, last_turn=4)
    assert chats.load(CHAT)[0].messages == MESSAGES


def test_bringing_back_ends_the_cut_and_removes_the_untouched_branch(transcripts: StoredTranscripts, chats: ChatStore) -> None:
    _cut(transcripts)
    transcripts.bring_back(CHAT, BRANCH)
    whole, _ = chats.load(CHAT)
    assert (whole.messages, whole.cut, whole.removed_turns) == (MESSAGES, False, ())
    assert not chats.exists(BRANCH)


def test_a_branch_that_somebody_changed_stays(transcripts: StoredTranscripts, chats: ChatStore, clock: Clock) -> None:
    _cut(transcripts)
    clock.advance(1000)
    chats.mutate(BRANCH, lambda chat, _: msgspec.structs.replace(chat, name="Mine now"))
    transcripts.bring_back(CHAT, BRANCH)
    assert chats.load(CHAT)[0].messages == MESSAGES
    assert chats.load(BRANCH)[0].name == "Mine now"


def test_a_crash_before_the_branch_went_is_finished_by_running_again(
    transcripts: StoredTranscripts, chats: ChatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    _cut(transcripts)

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(chats, "delete", crash)
    with pytest.raises(KeyboardInterrupt):
        transcripts.bring_back(CHAT, BRANCH)
    monkeypatch.undo()
    assert chats.load(CHAT)[0].messages == MESSAGES
    transcripts.bring_back(CHAT, BRANCH)
    assert not chats.exists(BRANCH)


def test_a_lost_branch_is_said_and_nothing_changes(transcripts: StoredTranscripts, chats: ChatStore) -> None:
    _cut(transcripts)
    chats.delete(BRANCH)
    with pytest.raises(ChatNotFound):
        transcripts.bring_back(CHAT, BRANCH)
    assert chats.load(CHAT)[0].messages == MESSAGES[:2]


def test_two_cuts_come_back_one_after_the_other(transcripts: StoredTranscripts, chats: ChatStore) -> None:
    second = ChatId("branch-02")
    transcripts.keep_as_branch(CHAT, BRANCH, keep=4, first_turn=4)
    transcripts.cut(CHAT, keep=4, branch=BRANCH, first_turn=4, last_turn=4)
    transcripts.keep_as_branch(CHAT, second, keep=0, first_turn=1)
    transcripts.cut(CHAT, keep=0, branch=second, first_turn=1, last_turn=2)
    transcripts.bring_back(CHAT, second)
    middle, _ = chats.load(CHAT)
    assert (middle.messages, middle.cut, middle.removed_turns) == (MESSAGES[:4], True, ((4, 4, BRANCH),))
    transcripts.bring_back(CHAT, BRANCH)
    assert chats.load(CHAT)[0].messages == MESSAGES


def test_a_branch_name_fits_into_the_limit_without_half_characters() -> None:
    name = branch_name("ü" * 600)
    assert len(name.encode()) <= 512
    assert name.startswith("Branch: üü")
