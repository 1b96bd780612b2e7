"""What the state machine found, each in its smallest form."""

from pathlib import Path

import pytest

from tests.core.checkpoint.machine import Run
from tests.core.checkpoint.world import A as CHAT_A
from tests.helpers.model import ABSENT, St
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.types.checkpoints import parse_point
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

A, B = "chat-a", "chat-b"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def content(run: Run, chat: str, point: str, path: str) -> St:
    return run.state(run.world.kernel.state_at(ChatId(chat), parse_point(point), WorkspacePath(path)))


def test_a_chat_starts_after_what_its_first_look_found(run: Run) -> None:
    """What somebody changed before the chat is not the chat's: its start has it."""
    run.announce(B, "a", "write", b"1", None)
    run.perform(0)
    run.put("a", b"by hand")
    run.begin(A)
    run.write(A, "a", b"2", None)
    assert content(run, A, "start", "a").data == b"by hand"
    run.restore(A, "start")
    assert run.world.read("a") == b"by hand"
    run.check()


def test_of_two_deleted_chats_the_one_that_knows_a_path_best_stays_as_long_as_the_other(run: Run) -> None:
    """Counterexample to "it stays as long as a chat that began before its last line is there": the log of A
    would go, the older line of B stay, and the next look would tell of a change from what B said."""
    run.write(B, "a", b"1", None)
    run.write(A, "a", b"2", None)
    run.begin("chat-c")
    run.write(B, "b", b"1", None)
    run.retire(A)
    run.retire(B)
    run.begin("chat-c")
    assert content(run, "chat-c", "before:1", "a").data == b"2"
    run.check()


def test_what_several_dropped_logs_said_of_a_path_is_remembered_as_the_newest_said_it(run: Run) -> None:
    run.write(A, "a", b"1", None)
    run.write("chat-0", "a", b"2", None)
    run.begin(B)
    run.retire(A)
    run.retire("chat-0")
    run.write(B, "a", b"3", None)
    assert content(run, B, "before:1", "a").data == b"2"
    run.check()


def test_a_mode_that_nobody_recorded_is_not_remembered_as_no_permission_at_all(run: Run) -> None:
    run.begin(A)
    run.announce(A, "a", "write", b"1", None)
    run.perform(0)
    run.write(B, "b", b"1", None)
    run.retire(A)
    run.announce(B, "a", "write", b"2", None)
    assert content(run, B, "start", "a").mode in (None, 0o644)
    run.check()


def test_an_undo_of_a_cut_does_not_bring_the_turns_of_a_branch_that_went_on(run: Run) -> None:
    """The branch is a chat of its own by then: turn 3 is its turn, and A will have another."""
    run.begin(A)
    run.begin(A)
    run.restore(A, "before:2", scope="both")
    (branch,) = [chat for chat in run.chats() if chat != A]
    run.begin(branch)
    run.take_back(A, "undo")
    assert run.world.transcripts.chats == {CHAT_A: [1, 0], ChatId(branch): [1, 0, 2, 0, 3, 0]}
    run.check()


def test_what_is_announced_and_comes_later_was_not_there_before_the_turn_of_another_chat(run: Run) -> None:
    """docs/storage-format.md 5: ``before:N`` stands after a look over everything, so it is exact for every path."""
    run.begin(A)
    run.announce(A, "a", "write", b"1", None)
    run.begin(B)
    run.perform(0)
    assert content(run, B, "before:1", "a") == ABSENT


def test_what_is_announced_and_never_comes_was_not_there_before_the_turn_of_another_chat(run: Run) -> None:
    run.begin(A)
    run.announce(A, "a", "write", b"1", None)
    run.begin(B)
    run.end(A)
    assert content(run, B, "before:1", "a") == ABSENT


def test_a_write_that_was_announced_and_not_done_is_in_no_tag_before_the_next_announcement(run: Run) -> None:
    run.begin(A)
    run.announce(A, "a", "write", b"1", None)
    run.announce(A, "b", "write", b"1", None)
    run.announce(A, "a", "write", b"2", None)
    assert content(run, A, "1.1", "a") == ABSENT


def test_a_command_that_takes_back_the_agents_write_is_told_as_the_commands(run: Run) -> None:
    """The write went through us and the look before the command has seen it: what is there after it is its work."""
    run.put("a", b"0")
    run.begin(A)
    run.write(A, "a", b"1", None)
    run.begin_command(A)
    run.put("a", b"0")
    run.end_command(A)
    assert [line.author for line in run.world.vault.lines(CHAT_A) if line.path == "a"] == ["agent", "command"]


def test_a_capture_meets_a_file_that_is_not_what_another_chats_command_left(run: Run) -> None:
    run.put("a", b"1")
    run.begin(B)
    run.begin_command(B)
    run.put("a", b"2")
    run.end_command(B)
    run.put("a", b"1")
    report = run.recorder.capture(CHAT_A, WorkspacePath("a"), Announced(content=b"3"), message_count=1)
    assert report.conflict is not None


def test_a_turn_is_not_completely_seen_when_what_the_look_before_it_saw_was_lost(run: Run) -> None:
    run.put("a", b"1")
    run.begin(A)
    run.forget()
    run.put("a", b"2")
    run.end(A)
    coverage = run.world.vault.lines(CHAT_A)[-1].coverage
    assert coverage is not None
    assert not coverage.complete


def test_what_a_capture_finds_during_a_command_may_be_a_persons(run: Run) -> None:
    """Only the looks at the edges of a command tell what it did."""
    run.begin(A)
    run.begin_command(A)
    run.put("a", b"1")
    run.announce(A, "a", "write", b"2", None)
    assert [line.author for line in run.world.vault.lines(CHAT_A) if line.how == "scan"] == ["unknown"]
