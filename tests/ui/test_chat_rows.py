"""Rows of the chat list: the archive, pins, what is unread, filters, glyphs by rank, what a screen reader hears."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.ui import samples
from tests.ui.running_samples import RUNNING
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.chat_list import ChatListModel, Role
from vibekit_desktop.ui.models.chat_rows import ChatRow, Filter, GroupRow, Mark, Quality, spoken, title_of
from vibekit_desktop.ui.models.damage_words import damage_in_row
from vibekit_desktop.ui.views.chat_row import glyph_of, title_weight

HEADERS = samples.headers()
MAIN, BRANCH, RUNS, ASKS, GUIDE, FOUND, RETRY, DAMAGED, PLOT = (header.id for header in HEADERS)


@pytest.fixture
def model(qtbot: QtBot) -> ChatListModel:
    made = ChatListModel(lambda: samples.NOW)
    made.load(samples.headers())
    return made


def rows(model: ChatListModel) -> list[str]:
    return [str(model.data(model.index(row))) for row in range(model.rowCount())]


def row(model: ChatListModel, chat: ChatId) -> ChatRow:
    found = model.data(model.index(model.row_of(chat)), Role.KIND)
    assert isinstance(found, ChatRow)
    return found


def archived(headers: Sequence[ChatHeader]) -> list[ChatHeader]:
    return [replace(header, archived=True, archived_at=samples.NOW) for header in headers]


# -- the archive -----------------------------------------------------------------------------------------------------


def test_the_archive_is_the_other_side_of_the_list(model: ChatListModel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(model.archived_counted) as told:
        model.load_archived(archived([replace(HEADERS[8], id=ChatId("old")), replace(HEADERS[6], id=ChatId("older"))]))
    assert told.args == [2]
    assert model.chats == 9
    model.show_archived(True)
    assert rows(model) == ["Earlier this week", "Replace the retry loop", "Older", "First pass at the plot module"]
    model.show_archived(False)
    assert len(rows(model)) == 13


def test_a_chat_that_is_put_away_and_comes_back_changes_sides_once(model: ChatListModel) -> None:
    model.put_away(MAIN)
    model.flush()
    assert model.row_of(MAIN) == -1
    assert (model.chats, model.archived_chats) == (8, 1)
    assert row(model, BRANCH).depth == 0, "a branch whose chat is archived stands alone"
    assert glyph_of(row(model, BRANCH)) == ("branch", "text.secondary")
    model.put(HEADERS[0])
    model.flush()
    assert (model.chats, model.archived_chats) == (9, 0)
    assert row(model, BRANCH).depth == 1


def test_news_of_an_archived_chat_stay_in_the_archive(model: ChatListModel) -> None:
    (away,) = archived([HEADERS[0]])
    model.put(away)
    model.put(replace(away, name="Another name"))
    model.flush()
    assert model.row_of(MAIN) == -1
    model.show_archived(True)
    assert "Another name" in rows(model)


# -- pins ------------------------------------------------------------------------------------------------------------


def test_pinned_chats_stand_above_all_with_their_branches(model: ChatListModel) -> None:
    model.put(replace(HEADERS[0], pinned_at=5))
    model.put(replace(HEADERS[8], pinned_at=6))
    model.flush()
    assert rows(model)[:5] == [
        "Pinned",
        "Keep empty rows in export",
        "Write rows eagerly instead",
        "First pass at the plot module",
        "Today",
    ]
    assert glyph_of(row(model, PLOT)) == ("pin", "text.secondary")


def test_a_pinned_branch_leaves_its_chat(model: ChatListModel) -> None:
    model.put(replace(HEADERS[1], pinned_at=5))
    model.flush()
    assert rows(model)[:2] == ["Pinned", "Write rows eagerly instead"]
    assert row(model, BRANCH).depth == 0


def test_in_the_archive_nothing_is_pinned(model: ChatListModel) -> None:
    model.load_archived(archived([replace(HEADERS[8], pinned_at=7)]))
    model.show_archived(True)
    assert rows(model)[0] == "Older"


# -- unread ----------------------------------------------------------------------------------------------------------


def test_a_chat_that_grew_while_nobody_looked_is_unread_until_it_is_opened(model: ChatListModel) -> None:
    told: list[tuple[str, int]] = []
    model.seen.connect(lambda chat, messages: told.append((chat, messages)))
    model.set_open(MAIN)
    model.put(replace(HEADERS[4], message_count=12))
    model.flush()
    assert row(model, GUIDE).unread
    assert glyph_of(row(model, GUIDE)) == ("status-unread", "accent.text")
    assert title_weight(row(model, GUIDE), selected=False) == 600
    model.set_open(GUIDE)
    assert not row(model, GUIDE).unread
    assert told == [(MAIN, 10), (GUIDE, 10), (GUIDE, 12)], "both ends are kept for the next start"


def test_what_comes_into_the_open_chat_is_read(model: ChatListModel) -> None:
    model.set_open(GUIDE)
    model.put(replace(HEADERS[4], message_count=14))
    model.flush()
    assert not row(model, GUIDE).unread
    model.set_open(MAIN)
    model.put(replace(HEADERS[4], message_count=14, name="Other"))
    model.flush()
    assert not row(model, GUIDE).unread


def test_what_was_seen_before_the_start_decides_what_is_unread_now(model: ChatListModel) -> None:
    model.load_seen({GUIDE: 6, MAIN: 10, RETRY: 99})
    model.flush()
    assert [chat for chat in (MAIN, GUIDE, RETRY, PLOT) if row(model, chat).unread] == [GUIDE]


def test_a_found_session_that_was_opened_counts_anew_and_is_not_unread(model: ChatListModel) -> None:
    model.put(replace(HEADERS[5], status=ChatStatus.PLAIN, message_count=40))
    model.flush()
    assert not row(model, FOUND).unread


# -- the filter ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("EXPORT guide", ["Docs: tidy the export guide"]),
        ("codex", ["Speed up cold start", "Why does the watcher miss renames?"]),
        ("lantern cold", ["Speed up cold start"]),
        ("éxpört keep", ["Keep empty rows in export"]),
    ],
)
def test_words_are_looked_for_in_title_agent_and_workspace(model: ChatListModel, text: str, found: list[str]) -> None:
    model.set_filter(text)
    assert rows(model)[1:] == found


def test_the_menu_of_the_filter_narrows_by_agent_and_state(model: ChatListModel) -> None:
    model.set_live(replace(RUNNING, chat=RUNS))
    model.narrow(Filter(agents=frozenset({"Codex"})))
    assert rows(model)[0] == "2 chats match"
    model.narrow(Filter(agents=frozenset({"Codex"}), qualities=frozenset({Quality.RUNNING})))
    assert rows(model) == ["1 chat matches", "Speed up cold start"]
    model.narrow(Filter(qualities=frozenset({Quality.DAMAGED, Quality.BRANCH})))
    assert rows(model)[1:] == ["Write rows eagerly instead", "Port the importer to asyncio"]
    assert model.agents == ("Claude Code", "Codex", "Gemini CLI")


def test_a_filter_by_file_asks_for_the_files_once_and_shows_who_touched_it(model: ChatListModel) -> None:
    asked: list[list[ChatId]] = []
    model.touched_wanted.connect(lambda chats: asked.append(list(chats)))
    model.set_filter("file:rows.py")
    assert rows(model) == []
    (wanted,) = asked
    assert MAIN in wanted
    assert FOUND not in wanted, "nobody recorded a file for it yet"
    assert model.looking == len(wanted)
    for chat in wanted:
        model.set_touched(chat, ["src/export/rows.py"] if chat in (MAIN, RETRY) else ["docs/x.md"])
    model.flush()
    assert rows(model) == ["2 chats match", "Keep empty rows in export", "Replace the retry loop"]
    model.set_filter("file:rows.py retry")
    assert rows(model) == ["1 chat matches", "Replace the retry loop"]
    assert len(asked) == 1
    model.put(replace(HEADERS[0], updated_at=samples.NOW))
    model.flush()
    assert asked[1:] == [[MAIN]], "what went on may have touched more"


def test_nothing_found_says_what_may_have_been_meant_and_where_else_something_is(model: ChatListModel) -> None:
    model.load_archived(archived([replace(HEADERS[6], id=ChatId("old"), name="A retyr of old")]))
    model.set_filter("retyr")
    assert rows(model) == []
    assert model.meant() == "retry"
    assert model.matches_elsewhere() == 1
    model.set_filter("zzzzqqq")
    assert model.meant() == ""
    assert model.matches_elsewhere() == 0


# -- rows ------------------------------------------------------------------------------------------------------------


def test_of_many_things_a_row_shows_the_glyph_of_the_worst(model: ChatListModel) -> None:
    whole = replace(HEADERS[1], status=ChatStatus.DAMAGED, pinned_at=3)
    made = ChatRow("x", whole, 0, Mark.NEEDS_YOU, unread=True)
    glyphs = []
    for one in (
        made,
        replace(made, header=replace(whole, status=ChatStatus.PLAIN)),
        replace(made, header=replace(whole, status=ChatStatus.PLAIN), mark=Mark.RUNNING),
        replace(made, header=replace(whole, status=ChatStatus.PLAIN), mark=Mark.NONE),
        replace(made, header=replace(whole, status=ChatStatus.PLAIN), mark=Mark.NONE, unread=False),
        replace(made, header=replace(HEADERS[0], pinned_at=3), mark=Mark.NONE, unread=False),
        replace(made, header=HEADERS[0], mark=Mark.NONE, unread=False),
    ):
        found = glyph_of(one)
        glyphs.append(found[0] if found else "")
    assert glyphs == ["damaged", "status-needs-you", "spinner", "status-unread", "branch", "pin", ""]


def test_a_screen_reader_hears_all_of_a_row(model: ChatListModel) -> None:
    branch = row(model, BRANCH)
    assert spoken(branch, samples.NOW) == (
        "Branch of Keep empty rows in export, from turn 3, Write rows eagerly instead, Claude Code, tidepool, 41 minutes ago, "
        "31 lines added, 12 deleted"
    )
    asks = replace(row(model, ASKS), mark=Mark.NEEDS_YOU, unread=True, header=replace(HEADERS[3], pinned_at=1))
    assert spoken(asks, samples.NOW) == (
        "Chat: Move settings to TOML, Gemini CLI, tidepool, 18 minutes ago, needs you, unread, pinned"
    )


def test_a_damaged_chat_says_how_many_messages_are_unreadable_or_what_else_is_wrong() -> None:
    damaged = replace(HEADERS[0], status=ChatStatus.DAMAGED, problem="a key has a value of a wrong type")
    assert damage_in_row(replace(damaged, unreadable=3)) == "3 messages unreadable"
    assert damage_in_row(replace(damaged, unreadable=1)) == "1 message unreadable"
    assert damage_in_row(damaged) == "a key has a value of a wrong type"
    assert damage_in_row(replace(damaged, problem="")) == "unreadable"


def test_a_damaged_chat_without_a_title_has_its_files_name() -> None:
    lost = replace(HEADERS[7], name=HEADERS[7].id)
    assert title_of(lost) == f"{DAMAGED}.json"
    assert title_of(replace(HEADERS[0], name="")) == f"Chat {MAIN[:8]}"


def test_tool_tips_are_letters_whatever_a_title_says(model: ChatListModel) -> None:
    model.put(replace(HEADERS[0], workspace="/tmp/<img src=x>"))
    model.flush()
    tip = str(model.data(model.index(model.row_of(MAIN)), Qt.ItemDataRole.ToolTipRole))
    assert "&lt;img" in tip
    assert "<img" not in tip


def test_the_row_that_follows_is_the_next_else_the_one_before(model: ChatListModel) -> None:
    assert model.neighbour(RUNS) == MAIN
    assert model.neighbour(MAIN, leaving=[BRANCH]) == ASKS
    assert model.neighbour(PLOT) == DAMAGED
    model.set_filter("plot")
    assert model.neighbour(PLOT) is None


def test_branches_of_branches_count_and_circles_end(model: ChatListModel) -> None:
    deeper = replace(HEADERS[6], parent_chat_id=BRANCH)
    model.put(deeper)
    assert model.branches_of(MAIN) == {BRANCH, RETRY}
    model.put(replace(HEADERS[0], parent_chat_id=RETRY))
    assert model.branches_of(MAIN) == {BRANCH, RETRY}


def test_a_title_typed_into_its_row_is_told_and_nothing_else_is(model: ChatListModel) -> None:
    told: list[tuple[str, str]] = []
    model.renamed.connect(lambda chat, name: told.append((chat, name)))
    place = model.index(model.row_of(MAIN))
    assert model.setData(place, "  Another \n title ")
    assert model.setData(place, HEADERS[0].name)
    assert model.setData(place, "   ")
    assert not model.setData(model.index(0), "a group")
    assert told == [(MAIN, "Another title")]
    assert not model.flags(model.index(model.row_of(DAMAGED))) & Qt.ItemFlag.ItemIsEditable


def test_every_way_through_the_model_keeps_qts_rules(model: ChatListModel, qtmodeltester: ModelTester) -> None:
    model.load_archived(archived([replace(HEADERS[8], id=ChatId("old"))]))
    for step in (
        lambda: model.put(replace(HEADERS[4], pinned_at=4, message_count=90)),
        lambda: model.set_filter("export"),
        lambda: model.show_archived(True),
        lambda: model.set_filter(""),
        lambda: model.put_away(MAIN),
        lambda: model.show_archived(False),
        lambda: model.drop(BRANCH),
    ):
        step()
        model.flush()
        qtmodeltester.check(model)
    assert isinstance(model.data(model.index(0), Role.KIND), GroupRow)
