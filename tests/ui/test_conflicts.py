"""Conflicts as cards: what they say, what can be pressed, which rows carry the glyph."""

from dataclasses import replace

import pytest
from pytestqt.modeltest import ModelTester

from tests.ui import sample_changes as samples
from vibekit_desktop.core.types.checkpoints import AfterTurn, AtTag, Conflict, Now, PlacedConflict, Point
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath
from vibekit_desktop.ui.models.conflicts import CardButton, ConflictMarks, ConflictModel, card_of

OTHER = ChatId("11111111-1111-4111-8111-111111111111")
NAMES = {OTHER: "Docs: tidy the export guide"}
GUIDE = WorkspacePath("docs/export.md")
THEIRS, OURS = AtTag(Tag("5.1")), AfterTurn(5)


def placed(
    *,
    other: str = OTHER,
    theirs: Point | None = THEIRS,
    ours: Point | None = OURS,
    turn: int = 5,
    before: int = 4,
    actual: str = "a" * 64,
    settled: bool = False,
    ts: int = 0,
) -> PlacedConflict:
    conflict = Conflict(path=GUIDE, other_chat=other, expected_sha="e" * 64, actual_sha=actual, tag="", ts=ts)
    return PlacedConflict(conflict=conflict, theirs=theirs, ours=ours, turn=turn, before=before, settled=settled)


def card(one: PlacedConflict):  # type: ignore[no-untyped-def]  # a test's shorthand
    return card_of(one, NAMES, samples.NOW_MS)


def test_a_turn_that_wrote_over_another_chat_names_both() -> None:
    shown = card(placed())
    assert shown.title == "Two chats changed export.md"
    assert shown.text == "“Docs: tidy the export guide” wrote it after turn 4. Turn 5 wrote over that."
    assert (shown.old, shown.new, shown.back_to) == (AtTag(Tag("5.1")), AfterTurn(5), AtTag(Tag("5.1")))
    assert [shown.words(button) for button in shown.buttons] == ["Compare", "Keep this", "Bring back theirs"]
    assert shown.button_name(CardButton.KEEP) == "Keep my version of docs/export.md"


def test_what_is_on_disk_is_theirs_and_ours_can_be_brought_back() -> None:
    shown = card(placed(theirs=Now(), ours=AfterTurn(4), turn=0))
    assert shown.text.endswith("That is what is on disk.")
    assert (shown.old, shown.new, shown.back_to) == (AfterTurn(4), Now(), AfterTurn(4))
    assert shown.words(CardButton.BRING_BACK) == "Bring back this chat's"


def test_whoever_is_not_known_is_not_named() -> None:
    shown = card(placed(other=""))
    assert shown.title == "export.md was changed outside this chat"
    assert shown.text.startswith("Somebody, perhaps you, wrote it after turn 4.")
    assert card(placed(other="unheard-of")).text.startswith("Another chat wrote it")
    assert "deleted it" in card(placed(actual="")).text


def test_where_no_turn_stands_before_or_after_it_is_said_what_does() -> None:
    assert card(placed(before=0)).text.startswith("“Docs: tidy the export guide” wrote it before turn 5.")
    restored = placed(before=0, turn=0, theirs=Now(), ours=AtTag(Tag("1.1")))
    assert card(restored).text == "“Docs: tidy the export guide” wrote it after it was put back here. That is what is on disk."
    assert card(replace(restored, ours=None)).text.startswith("“Docs: tidy the export guide” wrote it. That")


def test_what_was_not_kept_cannot_be_compared_or_brought_back() -> None:
    shown = card(placed(theirs=None))
    assert shown.why_off(CardButton.COMPARE) == "No copy of both contents was kept."
    assert shown.why_off(CardButton.BRING_BACK) == "No copy of it was kept."
    assert shown.why_off(CardButton.KEEP) == ""


def test_the_newest_stands_first_and_settled_ones_only_where_they_are_wanted() -> None:
    model = ConflictModel()
    model.set_cards([card(placed(ts=1)), card(placed(ts=2, settled=True)), card(placed(ts=3))])
    assert [one.placed.conflict.ts for one in model.cards] == [3, 1]
    assert model.settled == 1
    model.show_settled(True)
    assert [one.placed.conflict.ts for one in model.cards] == [3, 2, 1]
    assert model.cards[1].buttons == (CardButton.COMPARE, CardButton.REOPEN)


def test_only_rows_of_conflicts_that_nobody_settled_carry_the_glyph() -> None:
    marks = ConflictMarks([placed(), replace(placed(turn=3), settled=True)])
    assert marks.of_turn(5, GUIDE)
    assert not marks.of_turn(3, GUIDE)
    assert marks.of_path(GUIDE)
    assert marks == ConflictMarks([placed()])


@pytest.mark.parametrize("settled", [False, True])
def test_the_model_passes_qts_own_tests(qtmodeltester: ModelTester, settled: bool) -> None:
    model = ConflictModel()
    model.show_settled(settled)
    model.set_cards([card(placed(ts=1)), card(placed(ts=2, settled=True))])
    qtmodeltester.check(model)
