"""What the banner under the header says: the worst fact first, and what its button asks for."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tests.ui import sample_changes, samples
from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.core.types.chats import ChatStatus, ChatView
from vibekit_desktop.core.types.checkpoints import AfterTurn, EntryKind, RestoreKind, Timeline, TimelineEntry
from vibekit_desktop.ui.models.banners import NOTHING, Known, worst
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.chat_page import ChatPage
from vibekit_desktop.ui.views.controls import Button

GB = 1 << 30
FULL = StoreSize(used_bytes=5 * GB, budget_bytes=5 * GB)


def view() -> ChatView:
    return samples.chat_view()


def timeline(point: str = "", *, undone: bool = False) -> Timeline:
    """The files went back to a point after everything else; empty: they did not."""
    *before, now = sample_changes.entries()
    back = TimelineEntry(
        kind=EntryKind.RESTORE, turn=5, at=1, entry=9, point=point, restore_kind=RestoreKind.RESTORE, undone=undone
    )
    entries = (*before, back, now) if point else (*before, now)
    return replace(sample_changes.timeline(entries), chat=samples.MAIN)


def known(**rest: object) -> Known:
    return replace(Known(view=view()), **rest)  # type: ignore[arg-type]  # by the names of its fields


def test_where_all_is_well_there_is_nothing_to_say() -> None:
    assert worst(Known()) == NOTHING
    assert worst(known(timeline=timeline())) == NOTHING


def test_files_that_are_at_an_earlier_turn_than_the_chat_can_be_matched() -> None:
    last = view().turns[-1].turn
    fact = worst(known(timeline=timeline("before:3")))
    assert fact.text == f"The chat is at turn {last}, the files are at turn 2."
    assert (fact.tone, fact.action, fact.does) == ("info", "Match chat", "match")
    first = worst(known(timeline=timeline("before:1")))
    assert first.text == f"The chat is at turn {last}, the files are as they were before turn 1."
    assert worst(known(timeline=timeline("before:3", undone=True))) == NOTHING


def test_a_full_store_is_said_and_what_the_meter_says_is_not() -> None:
    fact = worst(known(store=FULL, amount="5 of 5 GB"))
    assert (fact.text, fact.tone) == ("The store is at 5 of 5 GB.", "warning")
    assert worst(known(store=StoreSize(used_bytes=4 * GB, budget_bytes=5 * GB), amount="4 of 5 GB")) == NOTHING


def test_the_worst_comes_first() -> None:
    header = view().header
    all_of_it = known(
        view=replace(view(), workspace_found=False, header=replace(header, archived=True)),
        timeline=replace(timeline("before:3"), unfinished=True, to_answer=True),
        store=FULL,
        amount="5 of 5 GB",
    )
    assert "not found" in worst(all_of_it).text
    found = replace(all_of_it, view=replace(view(), header=replace(header, archived=True)))
    assert worst(found).does == "leave"
    ended = replace(found, timeline=timeline("before:3"))
    assert worst(ended).icon == "store"
    roomy = replace(ended, store=None)
    assert (worst(roomy).text, worst(roomy).does) == ("This chat is archived.", "unarchive")
    damaged = replace(all_of_it, view=replace(view(), header=replace(header, status=ChatStatus.DAMAGED, problem="3 of 118")))
    assert (worst(damaged).text, worst(damaged).tone) == ("3 of 118", "error")


@pytest.fixture
def page(qtbot: QtBot) -> ChatPage:
    made = ChatPage(ThemeHub("light"), TranscriptModel(lambda: samples.NOW))
    qtbot.addWidget(made)
    made.resize(800, 600)
    made.show_view(view(), shown_path="~/code/tidepool")
    made.show()
    return made


def press(page: ChatPage) -> None:
    page.banner.findChildren(Button)[0].click()


def test_match_chat_asks_for_the_files_of_the_last_turn(qtbot: QtBot, page: ChatPage) -> None:
    page.show_timeline(timeline("before:3"))
    with qtbot.waitSignal(page.match_requested) as seen:
        press(page)
    assert seen.args == [AfterTurn(view().turns[-1].turn)]
    page.show_timeline(timeline())
    assert page.banner.isHidden()


def test_an_archived_chat_can_be_brought_back_from_its_banner(qtbot: QtBot, page: ChatPage) -> None:
    page.show_view(replace(view(), header=replace(view().header, archived=True)), shown_path="~/code/tidepool")
    with qtbot.waitSignal(page.unarchive_requested):
        press(page)


def test_what_is_known_of_one_chat_is_not_said_of_another(page: ChatPage) -> None:
    page.show_timeline(timeline("before:3"))
    other = samples.headers()[1]
    page.show_view(replace(view(), header=other), shown_path="~/code/tidepool")
    assert page.banner.isHidden()
    page.show_timeline(timeline("before:3"))
    assert page.banner.isHidden()


def test_a_store_that_is_full_is_said_in_every_chat(page: ChatPage) -> None:
    page.set_store(FULL)
    assert page.banner.accessibleName() == "The store is at 5 of 5 GB."
    page.show_view(replace(view(), header=samples.headers()[1]), shown_path="~/code/tidepool")
    assert page.banner.isVisible()
