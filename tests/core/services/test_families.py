"""A chat and its branches: deleting, promoting, discarding, merging, and a death between any two steps of it."""

import contextlib
import json
from collections.abc import Awaitable, Callable

import pytest

from tests.core.services.town import Town
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock, VaultLock
from vibekit_desktop.core.services.checkpoints import CheckpointService
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.checkpoints import (
    BeforeTurn,
    EntryKind,
    LeaveReason,
    LeftFile,
    Mine,
    RestorePlan,
    RestoreReport,
    Scope,
)
from vibekit_desktop.core.types.errors import (
    Busy,
    ChatGone,
    ChatNotFound,
    NotABranch,
    NotAllRestored,
    NothingToMerge,
    PointNotFound,
)
from vibekit_desktop.core.types.events import (
    ChatArchived,
    ChatDeleted,
    ChatUpdated,
    MessageAppended,
)
from vibekit_desktop.core.types.ids import ChatId, MessageId
from vibekit_desktop.core.types.removals import DeleteReport

MAIN = ChatId("chat-main")
OTHER = ChatId("chat-other")


@pytest.fixture
def family(town: Town) -> tuple[Town, ChatId, ChatId, ChatId]:
    """A chat of three turns, two branches of it, and a branch of the first."""
    for number in (1, 2, 3):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")
    first, second = town.branch(MAIN, 2), town.branch(MAIN, 3)
    town.turn(first, "on the branch", b="b\n")
    return town, first, second, town.branch(first, 2)


def delete(chat: ChatId, *, keep: bool = False) -> Callable[[Wired], Awaitable[DeleteReport]]:
    return lambda wired: wired.core.chats.delete(chat, keep_branches=keep)


# -- delete --------------------------------------------------------------------------------------------------------


def test_a_chat_goes_with_its_branches_the_deepest_first(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, second, below = family
    report = town.run(delete(MAIN))
    assert report.deleted[-1] == MAIN
    assert report.deleted.index(below) < report.deleted.index(first)
    assert set(report.deleted) == {MAIN, first, second, below}
    assert report.failed_children == ()
    assert [event.chat for event in town.events if isinstance(event, ChatDeleted)] == list(report.deleted)
    assert town.rows() == []
    assert town.dangling() == []
    assert (town.work / "a.txt").read_text() == "3\n", "no file of the workspace is touched"


def test_branches_that_are_kept_become_those_of_the_chats_parent(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, second, below = family
    town.run(delete(first, keep=True))
    assert town.stored(below)["parent_chat_id"] == MAIN
    assert town.stored(below)["rewind_from_turn"] == 2
    assert [event.header.id for event in town.events if isinstance(event, ChatUpdated)] == [below]
    assert town.dangling() == []
    town.run(delete(MAIN, keep=True))
    assert "parent_chat_id" not in town.stored(below)
    assert "rewind_from_turn" not in town.stored(below)
    assert set(town.rows()) == {second, below}
    assert town.words(below)[:2] == ["user: turn 1", "assistant: did turn 1"]
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(below))
    assert [entry.turn for entry in timeline.entries if entry.kind is EntryKind.TURN] == [1], "read from the retired log"


def test_a_kept_branch_has_the_history_it_inherited_however_short_that_is(town: Town) -> None:
    town.run(lambda wired: wired.core.turns.begin(MAIN, workspace=town.work, agent=None, prompt="the only line of its log"))
    answer = Message(id="a", role="assistant", content="said")
    store = ChatStore(Fs(), town.vault, clock=town.clock)
    with VaultLock(Fs(), town.vault).hold():
        store.append(MAIN, answer)
    branch = town.run(lambda wired: wired.core.chats.branch(MAIN, 0, message=MessageId("a")))
    town.run(delete(MAIN, keep=True))
    below = town.run(lambda wired: wired.core.chats.branch(branch, 1))
    assert town.words(below) == []
    for chat in (below, branch):
        town.run(delete(chat))
    assert [path for path in town.vault.glob("desktop/retired/**/*") if path.is_file()] == []


def test_no_chat_names_a_deleted_branch_that_was_promoted_before(town: Town) -> None:
    town.turn(MAIN, "one")

    async def cut(wired: Wired) -> ChatId | None:
        checkpoints = wired.core.checkpoints
        plan = await checkpoints.plan_restore(MAIN, BeforeTurn(1), paths=(), scope=Scope.CHAT, mine=Mine())
        return (await checkpoints.carry_out(plan)).branch_chat_id

    kept = town.run(cut)
    assert kept is not None
    town.run(lambda wired: wired.core.chats.promote(kept))
    town.run(delete(kept))
    assert town.dangling() == []


def test_keeping_the_branches_changes_no_date_of_theirs(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, _, below = family
    before = town.stored(below)["updated_at"]
    town.clock.advance(60_000)
    town.run(delete(first, keep=True))
    assert town.stored(below)["updated_at"] == before


def test_an_archived_branch_is_one_too(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, _, below = family
    town.run(lambda wired: wired.core.chats.archive(below))
    town.run(delete(first, keep=True))
    assert town.stored(below, archived=True)["parent_chat_id"] == MAIN
    report = town.run(delete(MAIN))
    assert below in report.deleted
    assert town.rows(archived=True) == []


def test_a_branch_that_cannot_be_deleted_stays_as_a_chat_of_its_own(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, second, below = family
    with TurnLock(Fs(), town.vault / "desktop", first).hold(4):
        report = town.run(delete(MAIN))
    assert [(one.chat, one.reason) for one in report.failed_children] == [(first, Busy.code)]
    assert set(report.deleted) == {MAIN, second, below}
    assert town.rows() == [first]
    assert town.dangling() == []


def test_a_chat_whose_turn_runs_is_not_deleted_and_not_archived(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, *_ = family
    before = set(town.rows())
    with TurnLock(Fs(), town.vault / "desktop", MAIN).hold(4):
        for work in (delete(MAIN), lambda wired: wired.core.chats.archive(MAIN)):
            with pytest.raises(Busy, match="turn 4 of chat chat-main"):
                town.run(work)
    assert set(town.rows()) == before
    assert town.events == []


def test_a_damaged_chat_can_be_deleted(town: Town) -> None:
    town.turn(MAIN, "x", a="1")
    town.file(MAIN).write_text("{not json")
    report = town.run(delete(MAIN))
    assert report.deleted == (MAIN,)
    assert town.rows() == []
    assert town.dangling() == []


def test_a_chat_that_is_not_there_cannot_be_deleted(town: Town) -> None:
    town.turn(MAIN, "x")
    with pytest.raises(ChatNotFound):
        town.run(delete(OTHER))
    assert town.events == []


def test_a_chat_deleted_a_moment_ago_is_not_brought_back_by_a_late_hook(town: Town) -> None:
    town.turn(MAIN, "x", a="1")
    town.run(delete(MAIN))
    with pytest.raises(ChatGone):
        town.turn(MAIN, "late")
    assert town.rows() == []
    town.clock.advance(11 * 60_000)
    town.turn(MAIN, "anew")
    assert town.rows() == [MAIN]


def test_a_chat_that_names_its_own_branch_as_its_parent_can_be_deleted(
    family: tuple[Town, ChatId, ChatId, ChatId],
) -> None:
    town, first, second, below = family
    stored = town.stored(MAIN)
    town.file(MAIN).write_text(json.dumps({**stored, "parent_chat_id": below}))
    report = town.run(delete(MAIN))
    assert set(report.deleted) == {MAIN, first, second, below}
    assert town.rows() == []


def test_whoever_keeps_turns_in_a_deleted_branch_does_not_name_it_any_more(town: Town) -> None:
    for number in (1, 2):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")

    async def cut(wired: Wired) -> ChatId:
        plan = await wired.core.checkpoints.plan_restore(MAIN, BeforeTurn(2), paths=(), scope=Scope.BOTH, mine=Mine())
        report = await wired.core.checkpoints.carry_out(plan)
        assert report.branch_chat_id is not None
        return report.branch_chat_id

    branch = town.run(cut)
    assert town.dangling() == []
    town.run(delete(branch))
    assert town.dangling() == []
    assert town.rows() == [MAIN]

    async def undo(wired: Wired) -> bool:
        plan = await wired.core.checkpoints.plan_undo(MAIN, mine=Mine())
        return (await wired.core.checkpoints.carry_out(plan)).verified

    assert town.run(undo), "the files come back, the turns do not"
    assert (town.work / "a.txt").read_text() == "2\n"
    assert town.words(MAIN) == ["user: turn 1", "assistant: did turn 1"]


# -- branches ------------------------------------------------------------------------------------------------------


def test_a_promoted_branch_takes_its_parents_place(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, second, below = family
    assert town.run(lambda wired: wired.core.chats.promote(first)) == MAIN
    assert "parent_chat_id" not in town.stored(first)
    assert "rewind_from_turn" not in town.stored(first)
    assert (town.stored(second)["parent_chat_id"], town.stored(second)["rewind_from_turn"]) == (first, 2)
    assert town.stored(below)["parent_chat_id"] == first
    kinds = [(type(event).__name__, getattr(event, "chat", "") or event.header.id) for event in town.events]  # type: ignore[union-attr]
    assert kinds == [("ChatUpdated", second), ("ChatUpdated", first), ("ChatArchived", MAIN)]
    assert town.rows(archived=True) == [MAIN], "nothing of the former parent is lost"
    assert town.dangling() == []


def test_only_a_branch_can_be_promoted_discarded_or_merged(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, *_ = family
    for name in ("promote", "discard", "merge"):
        with pytest.raises(NotABranch):
            town.run(lambda wired, name=name: getattr(wired.core.chats, name)(MAIN))  # type: ignore[misc]
        with pytest.raises(ChatNotFound):
            town.run(lambda wired, name=name: getattr(wired.core.chats, name)(OTHER))  # type: ignore[misc]
    assert town.events == []


def test_a_branch_whose_parent_is_gone_can_be_promoted_or_discarded_but_not_merged(town: Town) -> None:
    town.turn(MAIN, "one", a="1")
    town.turn(MAIN, "two", a="2")
    first, second = town.branch(MAIN, 2), town.branch(MAIN, 2)
    town.turn(first, "own")
    town.file(MAIN).unlink()  # by hand, or by another program
    with pytest.raises(ChatNotFound):
        town.run(lambda wired: wired.core.chats.merge(first))
    assert town.run(lambda wired: wired.core.chats.promote(first)) == MAIN
    assert "parent_chat_id" not in town.stored(first)
    assert town.stored(second)["parent_chat_id"] == first
    assert town.run(lambda wired: wired.core.chats.discard(second)) == first


def test_a_discarded_branch_goes_and_what_branched_from_it_stays(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, second, below = family
    assert town.run(lambda wired: wired.core.chats.discard(first)) == MAIN
    assert isinstance(town.events[0], ChatDeleted)
    assert set(town.rows()) == {MAIN, second, below}
    assert town.stored(below)["parent_chat_id"] == MAIN
    assert town.dangling() == []


def test_a_merge_puts_what_only_the_branch_says_at_the_end_of_its_parent(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, *_ = family
    before = town.words(MAIN)
    assert town.run(lambda wired: wired.core.chats.merge(first)) == MAIN
    appended = [event.message for event in town.events if isinstance(event, MessageAppended)]
    kinds = [type(event) for event in town.events]
    assert kinds == [ChatUpdated, MessageAppended, MessageAppended, MessageAppended, ChatArchived]
    assert [message.role for message in appended] == ["user", "assistant", "event"]
    assert town.words(MAIN) == [
        *before,
        "user: on the branch",
        "assistant: did on the branch",
        f"event: Branch: turn 1 ({first})",
    ]
    listed = town.stored(MAIN)["messages"]
    assert isinstance(listed, list)
    ids = [one["id"] for one in listed]
    assert len(set(ids)) == len(ids), "merged messages have ids of their own"
    assert all("turn" not in one and "checkpoint_tag" not in one for one in listed[-3:])
    assert listed[-1]["event_kind"] == "merged"
    assert town.rows(archived=True) == [first], "its checkpoints stay within reach"
    view = town.run(lambda wired: wired.core.chats.open(MAIN))
    assert [(span.turn, span.first_message, span.last_message) for span in view.turns] == [(1, 0, 1), (2, 2, 3), (3, 4, 5)]


def test_a_turn_after_a_merge_is_a_turn_of_the_parent(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, *_ = family
    town.run(lambda wired: wired.core.chats.merge(first))
    town.turn(MAIN, "turn 4", a="4\n")
    view = town.run(lambda wired: wired.core.chats.open(MAIN))
    assert [(span.turn, span.first_message) for span in view.turns] == [(1, 0), (2, 2), (3, 4), (4, 9)]


def test_merging_again_adds_nothing_twice(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, first, *_ = family
    town.run(lambda wired: wired.core.chats.merge(first))
    once = town.words(MAIN)
    town.run(lambda wired: wired.core.chats.merge(first))
    assert town.words(MAIN) == once
    town.turn(first, "and more")  # its agent goes on: it comes back
    assert first in town.rows()
    town.run(lambda wired: wired.core.chats.merge(first))
    assert town.words(MAIN)[len(once) :] == ["user: and more", "assistant: did and more", f"event: Branch: turn 1 ({first})"]


def test_a_branch_that_says_nothing_of_its_own_cannot_be_merged(family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    town, _, second, _ = family
    with pytest.raises(NothingToMerge):
        town.run(lambda wired: wired.core.chats.merge(second))
    assert second in town.rows()


def test_the_turns_that_a_restore_cut_away_can_be_merged_back(town: Town) -> None:
    for number in (1, 2, 3):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")

    async def cut(wired: Wired) -> ChatId:
        plan = await wired.core.checkpoints.plan_restore(MAIN, BeforeTurn(2), paths=(), scope=Scope.CHAT, mine=Mine())
        found = (await wired.core.checkpoints.carry_out(plan)).branch_chat_id
        assert found is not None
        return found

    branch = town.run(cut)
    town.run(lambda wired: wired.core.chats.merge(branch))
    assert town.words(MAIN)[2:6] == ["user: turn 2", "assistant: did turn 2", "user: turn 3", "assistant: did turn 3"]

    # The turns stay cut away all the same: what was merged begins none, so no restore cuts there.
    async def plan(wired: Wired) -> RestorePlan:
        return await wired.core.checkpoints.plan_restore(MAIN, BeforeTurn(2), paths=(), scope=Scope.CHAT, mine=Mine())

    assert not town.run(plan).cuts


# -- where a branch begins -----------------------------------------------------------------------------------------


def _message(town: Town, chat: str, index: int) -> MessageId:
    return MessageId(town.run(lambda wired: wired.core.chats.open(ChatId(chat))).messages[index].id)


def test_a_branch_by_a_message_of_a_turn_ends_before_that_turn(town: Town) -> None:
    for number in (1, 2, 3):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")
    prompt = _message(town, MAIN, 2)
    made = town.run(lambda wired: wired.core.chats.branch(MAIN, 0, message=prompt))
    assert town.words(made) == ["user: turn 1", "assistant: did turn 1"]
    assert town.stored(made)["rewind_from_turn"] == 2
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(made))
    assert [entry.turn for entry in timeline.entries if entry.kind is EntryKind.TURN] == [1]


def test_a_branch_by_another_message_ends_just_before_it_and_its_history_before_the_next_turn(town: Town) -> None:
    for number in (1, 2, 3):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")
    answer = _message(town, MAIN, 3)
    made = town.run(lambda wired: wired.core.chats.branch(MAIN, 0, message=answer))
    assert town.words(made) == ["user: turn 1", "assistant: did turn 1", "user: turn 2"]
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(made))
    assert [entry.turn for entry in timeline.entries if entry.kind is EntryKind.TURN] == [1, 2]


def test_a_branch_by_the_last_answer_has_the_whole_history(town: Town) -> None:
    for number in (1, 2):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")
    answer = _message(town, MAIN, 3)
    made = town.run(lambda wired: wired.core.chats.branch(MAIN, 0, message=answer))
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(made))
    assert [entry.turn for entry in timeline.entries if entry.kind is EntryKind.TURN] == [1, 2]
    town.turn(made, "turn 3 of its own", b="b\n")
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(made))
    assert [entry.turn for entry in timeline.entries if entry.kind is EntryKind.TURN] == [1, 2, 3]


def test_a_branch_by_a_message_that_is_not_there_is_refused(town: Town) -> None:
    town.turn(MAIN, "one", a="1")
    with pytest.raises(PointNotFound):
        town.run(lambda wired: wired.core.chats.branch(MAIN, 0, message=MessageId("nobody")))
    with pytest.raises(PointNotFound):
        town.run(lambda wired: wired.core.chats.branch(MAIN, 0))
    assert town.rows() == [MAIN]
    assert town.dangling() == []


def test_inherited_tags_mean_the_same_in_the_branch(town: Town) -> None:
    """Messages are copied up to the cut only, and up to there the branch has its parent's log: no tag names another capture."""
    for number in (1, 2, 3):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")
    made = town.branch(MAIN, 3)
    town.turn(made, "its own third", a="own\n")
    view = town.run(lambda wired: wired.core.chats.open(made))
    tags = {message.turn: message.checkpoint_tag for message in view.messages if message.turn}
    assert tags == {1: "1", 2: "2", 3: "3"}

    async def before(wired: Wired, turn: int) -> bytes:
        return await wired.core.checkpoints.content(made, BeforeTurn(turn), town.run_path("a.txt"))

    assert [town.run(lambda wired, turn=turn: before(wired, turn)) for turn in (2, 3)] == [b"1\n", b"3\n"]  # type: ignore[misc]


def test_a_branch_can_put_the_files_back_first_and_that_can_be_undone(town: Town) -> None:
    for number in (1, 2, 3):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")
    made = town.run(lambda wired: wired.core.chats.branch(MAIN, 2, files_before=True))
    assert (town.work / "a.txt").read_text() == "1\n"
    assert town.words(made) == ["user: turn 1", "assistant: did turn 1"]
    assert len(town.words(MAIN)) == 6, "the parent's transcript stays whole"

    async def undo(wired: Wired) -> int:
        plan = await wired.core.checkpoints.plan_undo(MAIN, mine=Mine())
        return (await wired.core.checkpoints.carry_out(plan)).entry

    assert town.run(undo) == 2
    assert (town.work / "a.txt").read_text() == "3\n"


def test_a_branch_by_a_message_can_put_the_files_back_too(town: Town) -> None:
    for number in (1, 2, 3):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")
    answer, last = _message(town, MAIN, 3), _message(town, MAIN, 5)
    town.run(lambda wired: wired.core.chats.branch(MAIN, 0, message=answer, files_before=True))
    assert (town.work / "a.txt").read_text() == "2\n"
    town.run(lambda wired: wired.core.chats.branch(MAIN, 0, message=last, files_before=True))
    assert (town.work / "a.txt").read_text() == "2\n", "nothing comes after the last answer"


def test_no_branch_is_made_where_a_file_could_not_be_put_back(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2):
        town.turn(MAIN, f"turn {number}", a=f"{number}\n")

    async def carry_out(_self: CheckpointService, plan: RestorePlan, *, initiator: str = "") -> RestoreReport:
        left = LeftFile(town.run_path("a.txt"), LeaveReason.CANNOT_WRITE)
        return RestoreReport(chat=MAIN, kind=plan.kind, entry=1, restored=(), left=(), failed=(left,), verified=True)

    monkeypatch.setattr(CheckpointService, "carry_out", carry_out)
    with pytest.raises(NotAllRestored) as refused:
        town.run(lambda wired: wired.core.chats.branch(MAIN, 2, files_before=True))
    assert (refused.value.entry, refused.value.paths) == (1, ("a.txt",))
    assert town.rows() == [MAIN]


# -- dying ---------------------------------------------------------------------------------------------------------

OPERATIONS: dict[str, Callable[[Town, tuple[ChatId, ChatId, ChatId]], Callable[[Wired], Awaitable[object]]]] = {
    "delete a family": lambda town, ids: delete(MAIN),
    "delete one of the middle": lambda town, ids: delete(ids[0], keep=True),
    "promote": lambda town, ids: lambda wired: wired.core.chats.promote(ids[0]),
    "discard": lambda town, ids: lambda wired: wired.core.chats.discard(ids[0]),
    "merge": lambda town, ids: lambda wired: wired.core.chats.merge(ids[0]),
    "archive": lambda town, ids: lambda wired: wired.core.chats.archive(MAIN),
    "branch": lambda town, ids: lambda wired: wired.core.chats.branch(MAIN, 2),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_death_between_any_two_steps_leaves_nothing_dangling(name: str, family: tuple[Town, ChatId, ChatId, ChatId]) -> None:
    """After each death no chat names one that is not there, every chat can be read, and the same can be done again."""
    town, *rest = family
    ids = (rest[0], rest[1], rest[2])
    kept = town.copy()
    work = OPERATIONS[name](town, ids)
    for number in range(1, 200):
        town.put_back(kept)
        point = town.dies_at(number, work)
        if not point:
            break
        # A branch that was not finished is a log that begins, of a chat that nobody sees.
        begun = "a log of" if name == "branch" else "-"
        assert [one for one in town.dangling() if not _swept(one) and begun not in one] == [], f"died at {point}"
        chats = [*town.rows(), *town.rows(archived=True)]
        for chat in chats:
            town.words(chat)
        if name == "branch":
            continue
        with contextlib.suppress(ChatNotFound, NotABranch):  # it was done already
            town.run(work)
        assert [one for one in town.dangling() if not _swept(one)] == [], f"done again after {point}"
    else:
        pytest.fail("it never ended")
    assert number > 3


def _swept(one: str) -> bool:
    """What is nobody's and goes with the next use of its chat's id."""
    return one.startswith("a draft of")
