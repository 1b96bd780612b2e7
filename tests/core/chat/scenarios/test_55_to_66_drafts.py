"""Scenarios 55 to 61, 65 and 66: plan drafts. 62 to 64 are of the original's HTTP."""

import stat

import pytest

from tests.conftest import Clock
from tests.core.chat.world import C1, World, user
from vibekit_desktop.core.chat.drafts import MOST_BYTES
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, ChatGone, ChatNotFound, DraftTooLarge, InvalidText


def test_55_a_draft_comes_back_as_it_was_and_changes_no_date(world: World, clock: Clock) -> None:
    world.make()
    before = world.file(C1).read_bytes()
    clock.advance(9)
    world.drafts.set(C1, "# Plan\r\n1. Grüße\n")
    world.reopen()
    assert world.drafts.get(C1) == "# Plan\r\n1. Grüße\n"
    assert world.file(C1).read_bytes() == before
    assert stat.S_IMODE((world.active / f"{C1}.plan.md").stat().st_mode) == 0o600


def test_56_no_draft_is_an_empty_text(world: World) -> None:
    assert world.drafts.get(C1) == ""
    world.make()
    assert world.drafts.get(C1) == ""
    world.drafts.delete(C1)


def test_57_a_chat_that_is_not_there_gets_no_draft(world: World) -> None:
    with pytest.raises(ChatNotFound):
        world.drafts.set(C1, "x")
    assert not world.folder.exists()


def test_58_a_chat_that_was_just_deleted_or_is_archived_gets_no_draft(world: World) -> None:
    world.make()
    world.chats.delete(C1)
    with pytest.raises(ChatGone) as refused:
        world.drafts.set(C1, "x")
    assert refused.value.reason == "deleted"
    world.chats.tombstones.clear(C1)
    world.make_archived()
    with pytest.raises(ChatGone) as refused:
        world.drafts.set(C1, "x")
    assert refused.value.reason == "archived"


def test_59_a_draft_of_exactly_the_limit_is_kept_and_a_longer_one_leaves_the_old(world: World) -> None:
    world.make()
    most = "ü" * (MOST_BYTES // 2)
    world.drafts.set(C1, most)
    with pytest.raises(DraftTooLarge) as refused:
        world.drafts.set(C1, most + "x")
    assert refused.value.size == MOST_BYTES + 1
    assert world.drafts.get(C1) == most


def test_59_half_characters_are_no_draft(world: World) -> None:
    world.make()
    with pytest.raises(InvalidText):
        world.drafts.set(C1, "\ud83d")
    assert world.drafts.get(C1) == ""


def test_60_a_draft_goes_with_its_chat(world: World) -> None:
    world.make(C1, user("u"))
    world.drafts.set(C1, "x")
    world.chats.delete(C1)
    assert list(world.active.iterdir()) == []


def test_61_a_planted_draft_over_the_limit_is_not_read(world: World) -> None:
    world.make()
    world.plant(b"x" * (MOST_BYTES + 1), f"{C1}.plan.md")
    with pytest.raises(CannotRead) as refused:
        world.drafts.get(C1)
    assert refused.value.reason == "too large"
    world.plant(b"\xff\xfe", f"{C1}.plan.md")
    with pytest.raises(CannotRead) as refused:
        world.drafts.get(C1)
    assert refused.value.reason == "not text"


def test_65_and_66_a_folder_in_the_place_of_a_draft_is_an_error_and_nothing_is_lost(world: World) -> None:
    world.make()
    (world.active / f"{C1}.plan.md").mkdir()
    (world.active / f"{C1}.plan.md" / "kept").write_text("x")
    with pytest.raises(CannotWrite):
        world.drafts.delete(C1)
    with pytest.raises(CannotWrite):
        world.drafts.set(C1, "x")
    with pytest.raises(CannotRead):
        world.drafts.get(C1)
    assert (world.active / f"{C1}.plan.md" / "kept").read_text() == "x"
    assert world.ids() == [C1]
