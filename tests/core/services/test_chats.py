"""Turns of a transcript, and what a row of the list knows of a chat."""

import asyncio
from pathlib import Path

import pytest

from tests.core.services.town import Town
from tests.helpers.claude_sessions import SessionBuilder
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import Wired, build
from vibekit_desktop.core.chat.drafts import MOST_BYTES
from vibekit_desktop.core.chat.spans import turn_spans
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.errors import ChatNotFound, DraftTooLarge
from vibekit_desktop.core.types.events import ChatUpdated
from vibekit_desktop.core.types.ids import ChatId

CHAT = ChatId("chat-main")


def _said(*messages: tuple[str, int]) -> tuple[Message, ...]:
    return tuple(Message(id=f"m{n}", role=role, turn=turn) for n, (role, turn) in enumerate(messages))


def test_a_message_that_says_no_turn_begins_none_where_others_do() -> None:
    spans = turn_spans(_said(("user", 1), ("assistant", 0), ("user", 0), ("assistant", 0), ("user", 2), ("assistant", 0)), {})
    assert [(span.turn, span.first_message, span.last_message) for span in spans] == [(1, 0, 3), (2, 4, 5)]


def test_where_no_message_says_its_turn_each_prompt_counts_on() -> None:
    spans = turn_spans(_said(("user", 0), ("assistant", 0), ("user", 0)), {})
    assert [(span.turn, span.first_message, span.last_message) for span in spans] == [(1, 0, 1), (2, 2, 2)]


def test_what_the_log_places_begins_its_turn() -> None:
    spans = turn_spans(_said(("user", 0), ("user", 0), ("assistant", 0)), {4: 1})
    assert [(span.turn, span.first_message, span.last_message) for span in spans] == [(4, 1, 2)]


def test_spans_are_the_same_where_only_the_newest_messages_are_at_hand() -> None:
    said = _said(("user", 1), ("assistant", 0), ("user", 0), ("user", 2), ("assistant", 0), ("user", 3), ("assistant", 0))
    whole = turn_spans(said, {1: 0, 2: 3, 3: 5})
    for first in range(len(said)):
        assert turn_spans(said[first:], {1: 0, 2: 3, 3: 5}, first_index=first, earlier_unmarked=(2,)) == whole
    unsaid = _said(*[("user", 0), ("assistant", 0)] * 4)
    whole = turn_spans(unsaid, {})
    assert [span.turn for span in whole] == [1, 2, 3, 4]
    for first in range(len(unsaid)):
        prompts = list(range(0, 8, 2))
        assert turn_spans(unsaid[first:], {}, first_index=first, earlier_unmarked=prompts) == whole


def test_a_transcript_without_prompts_has_no_turns() -> None:
    assert turn_spans((), {}) == ()
    assert turn_spans(_said(("assistant", 0)), {}) == ()


def test_a_call_that_was_never_answered_does_not_run_for_ever(tmp_path: Path, home: Path) -> None:
    made = SessionBuilder(cwd=str(tmp_path))
    made.prompt("look")
    made.call("Bash", command="sleep 1000")
    made.install(home)
    touched = int(made.now.timestamp() * 1000)

    async def states(later_ms: int) -> list[str]:
        wired = build(Dirs(tmp_path / "data"), home=home, clock=lambda: touched + later_ms)
        (row,) = await wired.core.chats.list()
        view = await wired.core.chats.open(row.id)
        await wired.close()
        return [call.status for message in view.messages for call in message.tool_calls]

    assert asyncio.run(states(60_000)) == ["in_progress"]
    assert asyncio.run(states(13 * 3_600_000)) == ["failed"]


def test_a_row_learns_its_net_counts_from_the_timeline_and_keeps_them(tmp_path: Path, home: Path) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    made = SessionBuilder(cwd=str(workspace))
    made.prompt("write")
    made.write(f"{workspace}/a.txt", "one\ntwo\n")
    made.end_turn("done")
    made.install(home)
    (workspace / "a.txt").write_text("one\ntwo\n")

    async def look() -> tuple[list[ChatUpdated], tuple[int | None, int | None]]:
        wired = build(Dirs(tmp_path / "data"), home=home)
        news: list[ChatUpdated] = []
        subscription = wired.bus.subscribe(ChatUpdated, news.append)
        (row,) = await wired.core.chats.list()
        if news == [] and row.lines_added is None:
            await wired.core.checkpoints.timeline(row.id)
        (row,) = await wired.core.chats.list()
        subscription.close()
        await wired.close()
        return news, (row.lines_added, row.lines_removed)

    first, counts = asyncio.run(look())
    assert [event.header.lines_added for event in first] == [2]
    assert counts == (2, 0)
    again, counts = asyncio.run(look())
    assert again == [], "known from the cache"
    assert counts == (2, 0)
    (tmp_path / "data" / "cache" / "net.json").write_text("{broken")
    _, counts = asyncio.run(look())
    assert counts == (2, 0), "a broken cache is counted again"


def test_earlier_messages_come_by_index_and_number(town: Town) -> None:
    for number in range(1, 4):
        town.turn(CHAT, f"{number}")
    said = ["1", "did 1", "2", "did 2", "3", "did 3"]

    def earlier(before: int, limit: int) -> list[str]:
        return [message.content for message in town.run(lambda wired: wired.core.chats.earlier(CHAT, before, limit))]

    assert earlier(6, 500) == said
    assert earlier(6, 2) == said[4:], "the last ones"
    assert earlier(3, 2) == said[1:3], "before the one of that index"
    assert earlier(99, 99) == said, "beyond the newest: from the end"
    assert earlier(0, 5) == earlier(-1, 5) == []
    assert earlier(6, 0) == earlier(6, -5) == []
    assert earlier(6, 10_000) == said


def test_a_draft_that_cannot_be_kept_is_told(town: Town) -> None:
    town.turn(CHAT, "one")

    async def drafts(wired: Wired) -> None:
        chats = wired.core.chats
        with pytest.raises(ChatNotFound):
            await chats.set_draft(ChatId("chat-none"), "plan")
        await chats.set_draft(CHAT, "x" * MOST_BYTES)
        with pytest.raises(DraftTooLarge):
            await chats.set_draft(CHAT, "x" * (MOST_BYTES + 1))
        assert len(await chats.draft(CHAT)) == MOST_BYTES, "the one before is still there"

    town.run(drafts)
