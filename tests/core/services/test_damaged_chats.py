"""A damaged chat opens with what can be read; its files can be put back; and not a byte of it is written."""

import json
from collections.abc import Callable

import pytest

from tests.core.services.town import Town
from vibekit_desktop.core.chat.salvage import LOST
from vibekit_desktop.core.types.chats import ChatView, LostMessage, WhyLost
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Mine, RestorePlan, Scope, Timeline
from vibekit_desktop.core.types.errors import ChatDamaged
from vibekit_desktop.core.types.ids import ChatId

CHAT = ChatId("chat-0001")


@pytest.fixture
def damaged(town: Town) -> Town:
    """Two turns, and then the answer of the first has a text that is none, and the prompt of the second is no message."""
    town.turn(CHAT, "make a", a="one\n")
    town.turn(CHAT, "change a", a="two\n")
    raw = json.loads(town.file(CHAT).read_bytes())
    raw["messages"][1]["content"], raw["messages"][2] = 5, None
    town.file(CHAT).write_bytes(json.dumps(raw, indent=2).encode())
    return town


def look(town: Town) -> ChatView:
    return town.run(lambda wired: wired.core.chats.open_damaged(CHAT))


def spoil(town: Town, change: Callable[[bytes], bytes]) -> None:
    town.file(CHAT).write_bytes(change(town.file(CHAT).read_bytes()))


def test_a_damaged_chat_opens_with_what_can_be_read_and_says_what_cannot(damaged: Town) -> None:
    with pytest.raises(ChatDamaged):
        damaged.run(lambda wired: wired.core.chats.open(CHAT))
    view = look(damaged)
    assert [one.content or one.event_kind for one in view.messages] == ["make a", LOST, LOST, "did change a"]
    assert view.damage is not None
    assert (view.damage.messages, view.damage.ended) == (4, True)
    assert view.damage.lost == (
        LostMessage(number=2, why=WhyLost.WRONG_TYPE, key="content"),
        LostMessage(number=3, why=WhyLost.NO_OBJECT),
    )
    assert view.damage.file == str(damaged.file(CHAT))
    assert view.damage.problem == view.header.problem
    assert view.chat.agent == "Agent"
    assert view.turns[0].turn == 1


def test_a_file_in_which_one_message_is_no_json_has_all_others(town: Town) -> None:
    town.turn(CHAT, "make a", a="one\n")
    town.turn(CHAT, "change a", a="two\n")
    spoil(town, lambda data: data.replace(b'"did make a"', b'"did make a', 1))
    view = look(town)
    assert [one.content or one.event_kind for one in view.messages] == ["make a", LOST, "change a", "did change a"]
    assert view.damage is not None
    assert view.damage.lost == (LostMessage(number=2, why=WhyLost.NOT_JSON),)
    assert (view.chat.agent, view.damage.ended) == ("Agent", True)


@pytest.mark.parametrize("line", [b"    {", b"    },"])
def test_where_a_message_begins_or_ends_may_be_what_is_damaged(town: Town, line: bytes) -> None:
    town.turn(CHAT, "make a", a="one\n")
    town.turn(CHAT, "change a", a="two\n")
    spoil(town, lambda data: data.replace(b"\n" + line + b"\n", b"\n    ?\n", 1))
    view = look(town)
    assert [one.content for one in view.messages][-2:] == ["change a", "did change a"]
    assert view.damage is not None
    assert 0 < len(view.damage.lost) <= 2


def test_of_a_file_that_breaks_off_the_beginning_is_shown_and_that_nobody_knows_how_much_is_lost(town: Town) -> None:
    town.turn(CHAT, "make a", a="one\n")
    town.turn(CHAT, "change a", a="two\n")
    spoil(town, lambda data: data[: data.index(b'"did change a"')])
    view = look(town)
    assert [one.content or one.event_kind for one in view.messages] == ["make a", "did make a", "change a", LOST]
    assert view.damage is not None
    assert not view.damage.ended
    assert view.header.unreadable == 0


def test_every_byte_of_a_damaged_chat_stays_whatever_is_asked_of_it(damaged: Town) -> None:
    before = damaged.file(CHAT).read_bytes()
    look(damaged)
    for refused in (
        lambda wired: wired.core.chats.rename(CHAT, "Other"),
        lambda wired: wired.core.chats.pin(CHAT, True),
        lambda wired: wired.core.chats.branch(CHAT, 2),
        lambda wired: wired.core.live.discard_empty(CHAT),
    ):
        with pytest.raises(ChatDamaged):
            damaged.run(refused)
    assert damaged.file(CHAT).read_bytes() == before


def test_its_timeline_is_whole_and_its_files_can_be_put_back(damaged: Town) -> None:
    before = damaged.file(CHAT).read_bytes()
    timeline: Timeline = damaged.run(lambda wired: wired.core.checkpoints.timeline(CHAT))
    assert timeline.last_turn == 2
    path = damaged.run_path("a.txt")

    def plan(scope: Scope) -> RestorePlan:
        return damaged.run(
            lambda wired: wired.core.checkpoints.plan_restore(CHAT, BeforeTurn(2), paths=(), scope=scope, mine=Mine())
        )

    assert plan(Scope.BOTH).cut_turns is None, "nobody can cut what nobody can write"
    undo = damaged.run(lambda wired: wired.core.checkpoints.plan_undo_file(CHAT, BeforeTurn(2), path, mine=Mine()))
    report = damaged.run(lambda wired: wired.core.checkpoints.carry_out(undo))
    assert report.verified
    assert (damaged.work / "a.txt").read_text() == "one\n"
    back = damaged.run(lambda wired: wired.core.checkpoints.plan_undo(CHAT, mine=Mine()))
    damaged.run(lambda wired: wired.core.checkpoints.carry_out(back))
    assert (damaged.work / "a.txt").read_text() == "two\n"
    assert damaged.file(CHAT).read_bytes() == before


def test_turns_do_not_come_back_out_of_a_branch_that_is_damaged_and_no_file_is_touched(town: Town) -> None:
    town.turn(CHAT, "make a", a="one\n")
    town.turn(CHAT, "change a", a="two\n")
    plan = town.run(
        lambda wired: wired.core.checkpoints.plan_restore(CHAT, BeforeTurn(2), paths=(), scope=Scope.BOTH, mine=Mine())
    )
    report = town.run(lambda wired: wired.core.checkpoints.carry_out(plan))
    assert report.branch_chat_id is not None
    town.file(report.branch_chat_id).write_bytes(b"{broken")
    with pytest.raises(ChatDamaged):
        town.run(lambda wired: wired.core.checkpoints.plan_undo(CHAT, mine=Mine()))
    assert (town.work / "a.txt").read_text() == "one\n"
    assert town.run(lambda wired: wired.core.checkpoints.timeline(CHAT)).last_turn >= 1
