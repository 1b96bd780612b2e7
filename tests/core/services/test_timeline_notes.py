"""Pinned points, and conflicts with where their contents are and what a person said of them."""

import json
from pathlib import Path

import pytest

from tests.core.services.town import Town
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, AfterTurn, AtTag, BeforeTurn, Now, PinnedPoint, PlacedConflict
from vibekit_desktop.core.types.errors import InvalidText, NewerFormat, PointNotFound
from vibekit_desktop.core.types.events import TimelineNoted
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath

A, B = ChatId("chat-one"), ChatId("chat-two")


@pytest.fixture
def place(town: Town) -> Town:
    return town


def notes_file(town: Town, chat: ChatId) -> Path:
    (found,) = town.data.rglob(f"desktop/timeline/{chat}.json")
    return found


def conflicts(town: Town, chat: ChatId) -> list[PlacedConflict]:
    return list(town.run(lambda wired: wired.core.checkpoints.placed_conflicts(chat)))


def pins(town: Town, chat: ChatId) -> list[PinnedPoint]:
    return list(town.run(lambda wired: wired.core.checkpoints.pins(chat)))


def met(town: Town) -> PlacedConflict:
    """Chat two writes over what somebody made of chat one's file."""
    town.turn(A, a="one")
    (town.work / "a.txt").write_text("by hand")
    town.turn(B, a="two")
    (found,) = conflicts(town, B)
    return found


def test_a_point_keeps_its_name_until_it_is_forgotten(place: Town) -> None:
    place.turn(A, a="one")
    place.run(lambda wired: wired.core.checkpoints.pin(A, BeforeTurn(1), "  before  it all "))
    assert place.events == [TimelineNoted(A)]
    assert [(pin.point, pin.name) for pin in pins(place, A)] == [(BeforeTurn(1), "before it all")]
    place.run(lambda wired: wired.core.checkpoints.pin(A, BeforeTurn(1), "another name"))
    assert [pin.name for pin in pins(place, A)] == ["another name"]
    place.run(lambda wired: wired.core.checkpoints.unpin(A, BeforeTurn(1)))
    assert pins(place, A) == []


def test_a_point_that_is_not_there_and_an_empty_name_are_refused(place: Town) -> None:
    place.turn(A, a="one")
    with pytest.raises(PointNotFound):
        place.run(lambda wired: wired.core.checkpoints.pin(A, BeforeTurn(7), "seven"))
    with pytest.raises(InvalidText):
        place.run(lambda wired: wired.core.checkpoints.pin(A, BeforeTurn(1), " \n "))
    assert pins(place, A) == []


def test_a_conflict_says_where_both_contents_are(place: Town) -> None:
    found = met(place)
    assert (found.conflict.path, found.conflict.other_chat) == ("a.txt", A)
    assert found.ours == AfterTurn(1)
    assert found.turn == 1
    assert found.theirs is not None
    theirs = found.theirs
    data = place.run(lambda wired: wired.core.checkpoints.content(B, theirs, WorkspacePath("a.txt")))
    assert data == b"by hand"


def test_what_the_others_left_is_brought_back_by_an_undo_of_the_file(place: Town) -> None:
    found = met(place)

    async def bring_back(wired) -> None:  # type: ignore[no-untyped-def]  # a test's shorthand
        assert found.theirs is not None
        plan = await wired.core.checkpoints.plan_undo_file(B, found.theirs, found.conflict.path, mine=KEEP_MINE)
        await wired.core.checkpoints.carry_out(plan)

    place.run(bring_back)
    assert (place.work / "a.txt").read_text() == "by hand"


def test_what_is_on_disk_now_is_theirs_and_ours_is_after_the_last_turn(place: Town) -> None:
    place.turn(A, a="one")
    place.turn(B, a="two")
    (found,) = conflicts(place, A)
    assert found.theirs == Now()
    assert found.ours == AfterTurn(1)
    assert (found.turn, found.before) == (0, 1)


def test_a_settled_conflict_stays_settled_by_its_contents(place: Town) -> None:
    found = met(place)
    place.run(lambda wired: wired.core.checkpoints.settle(B, found.conflict))
    assert place.events == [TimelineNoted(B)]
    assert [one.settled for one in conflicts(place, B)] == [True]
    (place.work / "a.txt").write_text("other words")
    place.turn(B, a="three")
    assert [one.settled for one in conflicts(place, B)] == [True, False]
    place.run(lambda wired: wired.core.checkpoints.settle(B, found.conflict, settled=False))
    assert [one.settled for one in conflicts(place, B)] == [False, False]


def test_settling_twice_is_told_once(place: Town) -> None:
    found = met(place)
    place.run(lambda wired: wired.core.checkpoints.settle(B, found.conflict))
    place.run(lambda wired: wired.core.checkpoints.settle(B, found.conflict))
    assert place.events == []


def test_the_notes_go_with_their_chat_and_a_branch_begins_with_them(place: Town) -> None:
    place.turn(A, a="one")
    place.turn(A, a="two")
    place.run(lambda wired: wired.core.checkpoints.pin(A, BeforeTurn(1), "here"))
    branch = place.branch(A, 2)
    assert [pin.name for pin in pins(place, branch)] == ["here"]
    place.run(lambda wired: wired.core.chats.delete(A, keep_branches=True))
    assert not list(place.data.rglob(f"desktop/timeline/{A}.json"))
    assert [pin.name for pin in pins(place, branch)] == ["here"]


@pytest.mark.expects_log("notes of chat .* cannot be read")
def test_a_damaged_file_is_kept_and_gives_nothing(place: Town) -> None:
    place.turn(A, a="one")
    place.run(lambda wired: wired.core.checkpoints.pin(A, BeforeTurn(1), "here"))
    notes_file(place, A).write_bytes(b"no json")
    assert pins(place, A) == []
    place.run(lambda wired: wired.core.checkpoints.pin(A, AfterTurn(1), "there"))
    assert [pin.name for pin in pins(place, A)] == ["there"]
    (kept,) = place.data.rglob("*.json.unread-*")
    assert kept.read_bytes() == b"no json"


def test_what_is_not_understood_stays_and_a_newer_version_is_never_changed(place: Town) -> None:
    place.turn(A, a="one")
    place.run(lambda wired: wired.core.checkpoints.pin(A, BeforeTurn(1), "here"))
    path = notes_file(place, A)
    found = json.loads(path.read_text())
    found |= {"colour": "blue", "pins": [{"point": "beside:9", "name": "?"}, *found["pins"]]}
    path.write_text(json.dumps(found))
    assert [pin.name for pin in pins(place, A)] == ["here"]
    place.run(lambda wired: wired.core.checkpoints.pin(A, AfterTurn(1), "there"))
    written = json.loads(path.read_text())
    assert written["colour"] == "blue"
    assert written["pins"][0] == {"point": "beside:9", "name": "?"}
    newer = json.dumps({**written, "version": 9})
    path.write_text(newer)
    with pytest.raises(NewerFormat):
        place.run(lambda wired: wired.core.checkpoints.pin(A, AtTag(Tag("1")), "tag"))
    assert path.read_text() == newer


def test_every_chat_that_changed_a_file_is_named_newest_first(place: Town) -> None:
    place.turn(A, a="one")
    place.turn(B, a="two")
    place.turn(A, a="three", b="x")

    def asked(name: str) -> list[ChatId]:
        return list(place.run(lambda wired: wired.core.checkpoints.changed_by(A, WorkspacePath(name))))

    assert asked("a.txt") == [A, B]
    assert asked("b.txt") == [A]
    assert asked("nothing.txt") == []
