"""Chats out of sight, back, and gone for good: the archive, sources that stay hidden, names, pins and drafts, retention."""

import asyncio
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.services.town import DAY_MS, Town
from tests.helpers.claude_sessions import SessionBuilder
from tests.helpers.vaults import chat_of, session
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import ShownLock, TurnLock
from vibekit_desktop.core.services.purge import LONGEST_S, RetentionService
from vibekit_desktop.core.types.checkpoints import BeforeTurn, EntryKind, Mine, RestoreReport, Scope
from vibekit_desktop.core.types.errors import CannotWrite, ChatInUse, ChatNotFound, DraftTooLarge, Malformed
from vibekit_desktop.core.types.events import (
    ChatArchived,
    ChatCreated,
    ChatDeleted,
    ChatUpdated,
    HistoryGrew,
    MessageAppended,
    MessageUpdated,
)
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.removals import PurgeReport

MAIN, OTHER, THIRD = ChatId("chat-main"), ChatId("chat-other"), ChatId("chat-third")


@pytest.fixture
def three(town: Town) -> Town:
    for chat in (MAIN, OTHER, THIRD):
        town.turn(chat, f"first of {chat}", **{chat.replace("-", "_"): "1\n"})
        town.turn(chat, f"second of {chat}", **{chat.replace("-", "_"): "2\n"})
    return town


def archive(town: Town, chat: ChatId) -> None:
    town.run(lambda wired: wired.core.chats.archive(chat))


# -- the archive ---------------------------------------------------------------------------------------------------


def test_an_archived_chat_leaves_the_list_and_says_when(three: Town) -> None:
    updated = three.stored(MAIN)["updated_at"]
    three.clock.advance(5000)
    archive(three, MAIN)
    assert three.events == [ChatArchived(MAIN)]
    assert three.rows() == [THIRD, OTHER]
    (row,) = three.run(lambda wired: wired.core.chats.list(archived=True))
    assert (row.id, row.archived, row.archived_at, row.updated_at) == (MAIN, True, three.clock.now_ms, updated)
    archive(three, MAIN)
    assert three.events == [], "archived already"


def test_an_archived_chat_can_be_found_read_and_looked_at(three: Town) -> None:
    archive(three, MAIN)
    resolve = lambda text: three.run(lambda wired: wired.core.chats.resolve(text))  # noqa: E731
    assert resolve(MAIN) == resolve("chat-mai") == MAIN
    assert three.words(MAIN)[0] == "user: first of chat-main"
    timeline = three.run(lambda wired: wired.core.checkpoints.timeline(MAIN))
    assert [entry.turn for entry in timeline.entries if entry.turn and entry.files] == [1, 2]
    assert three.rows(archived=True) == [MAIN]


@pytest.mark.parametrize("scope", [Scope.FILES, Scope.BOTH])
def test_an_archived_chat_can_be_restored_from_and_stays_archived(three: Town, scope: Scope) -> None:
    archive(three, MAIN)

    async def restore(wired: Wired) -> RestoreReport:
        plan = await wired.core.checkpoints.plan_restore(MAIN, BeforeTurn(2), paths=(), scope=scope, mine=Mine())
        return await wired.core.checkpoints.carry_out(plan)

    async def undo(wired: Wired) -> RestoreReport:
        return await wired.core.checkpoints.carry_out(await wired.core.checkpoints.plan_undo(MAIN, mine=Mine()))

    whole = three.words(MAIN)
    assert three.run(restore).verified
    assert (three.work / "chat_main.txt").read_text() == "1\n"
    assert three.words(MAIN) == (whole if scope is Scope.FILES else whole[:2])
    assert three.rows(archived=True) == [MAIN]
    assert three.run(undo).verified
    assert three.words(MAIN) == whole
    assert three.rows(archived=True) == [MAIN]
    assert MAIN not in three.rows()


def test_a_chat_that_is_brought_back_is_told_as_a_new_row(three: Town) -> None:
    archive(three, MAIN)
    three.run(lambda wired: wired.core.chats.unarchive(MAIN))
    (event,) = three.events
    assert isinstance(event, ChatCreated)
    assert (event.header.id, event.header.archived) == (MAIN, False)
    assert MAIN in three.rows()
    three.run(lambda wired: wired.core.chats.unarchive(MAIN))
    assert three.events == [], "it is back already"


def test_a_chat_is_not_brought_back_onto_another_of_its_id(three: Town) -> None:
    archive(three, MAIN)
    away = three.file(MAIN, archived=True).read_bytes()
    here = json.dumps({**json.loads(away), "name": "another"}).encode()
    three.file(MAIN).write_bytes(here)
    with pytest.raises(ChatInUse):
        archive(three, MAIN)
    assert three.file(MAIN).read_bytes() == here
    assert three.file(MAIN, archived=True).read_bytes() == away
    report = three.run(lambda wired: purge_all(three, wired))
    assert [(one.chat, one.reason) for one in report.failed] == [(MAIN, ChatInUse.code)]
    assert three.file(MAIN).read_bytes() == here


def test_an_unreadable_archived_chat_comes_back_as_it_is(three: Town) -> None:
    archive(three, MAIN)
    three.file(MAIN, archived=True).write_text("{broken")
    three.run(lambda wired: wired.core.chats.unarchive(MAIN))
    assert three.file(MAIN).read_text() == "{broken"
    rows = three.run(lambda wired: wired.core.chats.list())
    assert [row.id for row in rows if row.problem] == [MAIN]


def test_what_is_not_there_cannot_be_archived_or_brought_back(three: Town) -> None:
    nobody = ChatId("chat-nobody")
    for work in (
        lambda wired: wired.core.chats.archive(nobody),
        lambda wired: wired.core.chats.unarchive(nobody),
        lambda wired: wired.core.chats.rename(nobody, "x"),
        lambda wired: wired.core.chats.pin(nobody, True),
        lambda wired: wired.core.chats.draft(nobody),
        lambda wired: wired.core.chats.children(nobody),
        lambda wired: wired.core.chats.earlier(nobody, 5, 5),
    ):
        with pytest.raises(ChatNotFound):
            three.run(work)
        assert three.events == []


def test_an_archived_chat_comes_back_when_its_agent_goes_on(three: Town) -> None:
    archive(three, MAIN)
    three.run(lambda wired: wired.core.turns.begin(MAIN, workspace=three.work, agent=None, prompt="again"))
    first, second, appended, grew = three.events
    assert isinstance(first, ChatCreated)
    assert isinstance(second, ChatUpdated)
    assert isinstance(appended, MessageAppended)
    assert appended.message.content == "again"
    assert isinstance(grew, HistoryGrew)
    assert MAIN in three.rows()


def test_a_capture_in_a_chat_that_was_archived_meanwhile_is_kept(three: Town) -> None:
    three.run(lambda wired: wired.core.turns.begin(MAIN, workspace=three.work, agent=None, prompt="again"))
    archive(three, MAIN)
    report = three.run(lambda wired: wired.core.turns.record(MAIN, "chat_main.txt", content=b"3", deleted=False, mode=None))
    assert report.tag == "3"
    assert [event.message.checkpoint_tag for event in three.events if isinstance(event, MessageUpdated)] == ["3"]
    assert MAIN in three.rows()


# -- one chat ------------------------------------------------------------------------------------------------------


def test_a_chat_can_be_renamed_and_keeps_its_date(three: Town) -> None:
    before = three.stored(MAIN)["updated_at"]
    three.clock.advance(9000)
    three.run(lambda wired: wired.core.chats.rename(MAIN, "  A new\nname  "))
    (event,) = three.events
    assert isinstance(event, ChatUpdated)
    assert (event.header.name, event.header.updated_at) == ("A new name", before)
    three.run(lambda wired: wired.core.chats.rename(MAIN, "ä" * 600))
    assert three.stored(MAIN)["name"] == "ä" * 256, "512 bytes at most, whole letters"
    for name in ("", "  \n "):
        with pytest.raises(Malformed):
            three.run(lambda wired, name=name: wired.core.chats.rename(MAIN, name))  # type: ignore[misc]
    three.run(lambda wired: wired.core.chats.rename(MAIN, "ä" * 256))
    assert three.events == [], "it has that name"


def test_a_pin_says_when_and_stays_until_it_is_taken_off(three: Town) -> None:
    three.run(lambda wired: wired.core.chats.pin(MAIN, True))
    since = three.clock.now_ms
    three.clock.advance(9000)
    three.run(lambda wired: wired.core.chats.pin(MAIN, True))
    assert three.events == []
    rows = {row.id: row.pinned_at for row in three.run(lambda wired: wired.core.chats.list())}
    assert rows == {MAIN: since, OTHER: 0, THIRD: 0}
    assert three.rows() == [THIRD, OTHER, MAIN], "the list is by date"
    three.run(lambda wired: wired.core.chats.pin(MAIN, False))
    (event,) = three.events
    assert isinstance(event, ChatUpdated)
    assert event.header.pinned_at == 0
    assert "pinned_at" not in three.stored(MAIN)


def test_an_archived_chat_can_be_renamed_where_it_is(three: Town) -> None:
    archive(three, MAIN)
    three.run(lambda wired: wired.core.chats.rename(MAIN, "elsewhere"))
    assert three.stored(MAIN, archived=True)["name"] == "elsewhere"
    assert MAIN not in three.rows()


def test_a_draft_is_kept_with_its_chat(three: Town) -> None:
    three.run(lambda wired: wired.core.chats.set_draft(MAIN, "half a thought"))
    assert three.events == [], "a draft is no news"
    archive(three, MAIN)
    assert three.run(lambda wired: wired.core.chats.draft(MAIN)) == "half a thought"
    three.run(lambda wired: wired.core.chats.unarchive(MAIN))
    assert three.run(lambda wired: wired.core.chats.draft(MAIN)) == "half a thought"
    with pytest.raises(DraftTooLarge):
        three.run(lambda wired: wired.core.chats.set_draft(MAIN, "x" * (256 * 1024 + 1)))
    three.run(lambda wired: wired.core.chats.set_draft(MAIN, ""))
    assert three.run(lambda wired: wired.core.chats.draft(MAIN)) == ""
    three.run(lambda wired: wired.core.chats.set_draft(OTHER, "gone with it"))
    three.run(lambda wired: wired.core.chats.delete(OTHER))
    assert three.dangling() == []


def test_the_first_rows_are_what_was_known_last(three: Town) -> None:
    three.rows()
    first = three.run(lambda wired: wired.core.chats.first_rows(2))
    assert [row.id for row in first] == [THIRD, OTHER]
    assert three.run(lambda wired: wired.core.chats.first_rows(0)) == []


# -- sources -------------------------------------------------------------------------------------------------------


@pytest.fixture
def told(town: Town) -> tuple[Town, SessionBuilder, Path, ChatId]:
    """A session of another program that was opened once."""
    made = session(town.work, "told", "a", "b")
    path = made.install(town.home)
    chat = chat_of(made)
    town.words(chat)
    return town, made, path, chat


def imported(town: Town, path: Path) -> list[str]:
    report = town.run(lambda wired: wired.core.histories.import_path(path, workspace=None, agent=None))
    assert not report.failed
    return [one.chat_id for one in (*report.imported, *report.updated)] + list(report.unchanged)


def test_a_deleted_chat_of_a_source_does_not_come_back_by_itself(
    told: tuple[Town, SessionBuilder, Path, ChatId],
) -> None:
    town, made, path, chat = told
    town.run(lambda wired: wired.core.chats.delete(chat))
    assert town.rows() == []
    made.prompt("and more")  # its program goes on
    made.end_turn("yes")
    made.install(town.home)
    assert town.rows() == []
    for text in (chat, chat[:12], f"claude-code:{made.session}"):
        with pytest.raises(ChatNotFound):
            town.run(lambda wired, text=text: wired.core.chats.resolve(text))  # type: ignore[misc]
    with pytest.raises(ChatNotFound):
        town.words(chat)
    assert imported(town, path.parent) == [], "a whole folder is no wish for this one"
    assert town.rows() == []


def test_a_deleted_chat_of_a_source_comes_back_when_its_file_is_imported(
    told: tuple[Town, SessionBuilder, Path, ChatId],
) -> None:
    town, made, path, chat = told
    whole = town.words(chat)
    town.run(lambda wired: wired.core.chats.delete(chat))
    assert imported(town, path) == [chat]
    assert town.rows() == [chat]
    assert town.words(chat) == whole
    timeline = town.run(lambda wired: wired.core.checkpoints.timeline(chat))
    assert [entry.turn for entry in timeline.entries if entry.kind is EntryKind.TURN] == [1, 2]
    assert town.dangling() == []
    made.prompt("and more")
    made.end_turn("yes")
    made.install(town.home)
    assert town.words(chat)[-1] == "assistant: yes", "it is followed again"


def test_an_archived_chat_of_a_source_stays_away_until_its_file_is_imported(
    told: tuple[Town, SessionBuilder, Path, ChatId],
) -> None:
    town, made, path, chat = told
    archive(town, chat)
    made.prompt("and more")
    made.end_turn("yes")
    made.install(town.home)
    assert town.rows() == []
    assert "assistant: yes" not in town.words(chat)
    assert imported(town, path.parent) == []
    assert town.rows() == []
    assert imported(town, path) == [chat]
    assert any(isinstance(event, ChatCreated) for event in town.events)
    assert town.rows() == [chat]
    assert town.words(chat)[-1] == "assistant: yes"


def test_a_row_of_a_source_that_nobody_opened_can_be_deleted(town: Town) -> None:
    made = session(town.work, "told", "a")
    path = made.install(town.home)
    chat = chat_of(made)
    report = town.run(lambda wired: wired.core.chats.delete(chat))
    assert (report.deleted, town.events) == ((chat,), [ChatDeleted(chat)])
    assert town.rows() == []
    assert not list(town.data.glob("vaults/*")), "nothing was made for it"
    assert imported(town, path) == [chat]
    assert town.rows() == [chat]


# -- retention -----------------------------------------------------------------------------------------------------


async def purge_all(town: Town, wired: Wired, days: int = 0, *, only_look: bool = False) -> PurgeReport:
    town.clock.advance(1)
    return await wired.core.chats.purge(days, only_look=only_look)


def test_a_purge_removes_what_is_strictly_older(three: Town) -> None:
    for chat in (MAIN, OTHER):
        archive(three, chat)
        three.clock.advance(DAY_MS)
    report = three.run(lambda wired: wired.core.chats.purge(2))
    assert report == PurgeReport(), "two days to the millisecond are not longer ago than two days"
    report = three.run(lambda wired: purge_all(three, wired, 2, only_look=True))
    assert report.removed == (MAIN,)
    assert three.rows(archived=True) == [OTHER, MAIN], "it only looked"
    report = three.run(lambda wired: wired.core.chats.purge(2))
    assert report.removed == (MAIN,)
    assert three.events == [ChatDeleted(MAIN)]
    assert three.rows(archived=True) == [OTHER]
    assert THIRD in three.rows()
    assert three.dangling() == []


def test_where_a_chat_does_not_say_when_it_was_archived_its_file_does(three: Town) -> None:
    archive(three, MAIN)
    stored = three.stored(MAIN, archived=True)
    del stored["archived_at"]
    path = three.file(MAIN, archived=True)
    path.write_text(json.dumps(stored))
    seconds = three.clock.now_ms / 1000
    os.utime(path, (seconds, seconds - 3 * 86_400))
    assert three.run(lambda wired: purge_all(three, wired, 4)).removed == ()
    assert three.run(lambda wired: purge_all(three, wired, 2)).removed == (MAIN,)


def test_a_purge_keeps_what_a_window_shows_and_where_a_turn_runs(three: Town) -> None:
    for chat in (MAIN, OTHER, THIRD):
        archive(three, chat)
    shown = ShownLock(Fs(), three.vault / "desktop", MAIN)
    shown.take()
    with TurnLock(Fs(), three.vault / "desktop", OTHER).hold(3):
        report = three.run(lambda wired: purge_all(three, wired))
    shown.give_back()
    assert report.removed == (THIRD,)
    assert sorted((one.chat, one.reason) for one in report.kept) == [(MAIN, "open"), (OTHER, "running")]
    assert set(three.run(lambda wired: purge_all(three, wired)).removed) == {MAIN, OTHER}


def test_the_chat_that_this_window_shows_is_kept_until_it_shows_another(three: Town) -> None:
    archive(three, MAIN)

    async def work(wired: Wired) -> list[PurgeReport]:
        await wired.core.chats.hold_open(MAIN)
        first = await purge_all(three, wired)
        await wired.core.chats.hold_open(OTHER)
        return [first, await purge_all(three, wired)]

    first, second = three.run(work)
    assert [one.chat for one in first.kept] == [MAIN]
    assert second.removed == (MAIN,)


def test_a_window_that_ends_shows_nothing(three: Town) -> None:
    archive(three, MAIN)
    three.run(lambda wired: wired.core.chats.hold_open(MAIN))  # and its process ends
    assert three.run(lambda wired: purge_all(three, wired)).removed == (MAIN,)


def test_reading_a_chat_writes_nothing_into_a_folder_that_is_not_ours_yet(three: Town) -> None:
    shutil.rmtree(three.vault / "desktop")
    three.run(lambda wired: wired.core.chats.hold_open(MAIN))
    assert not (three.vault / "desktop").exists()


def test_branches_of_a_purged_chat_become_those_of_its_parent(three: Town) -> None:
    branch = three.branch(MAIN, 2)
    archive(three, MAIN)
    report = three.run(lambda wired: purge_all(three, wired))
    assert report.removed == (MAIN,)
    assert three.dangling() == []
    assert branch in three.rows()


def test_one_archived_chat_that_cannot_be_removed_hides_no_other(three: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    for chat in (MAIN, OTHER):
        archive(three, chat)
    real = Fs.remove

    def remove(self: Fs, path: Path) -> None:
        if path.name == f"{MAIN}.json":
            raise CannotWrite(str(path), "Permission denied")
        real(self, path)

    monkeypatch.setattr(Fs, "remove", remove)
    report = three.run(lambda wired: purge_all(three, wired))
    monkeypatch.undo()
    assert report.removed == (OTHER,)
    assert [(one.chat, one.reason) for one in report.failed] == [(MAIN, "disk.cannot-write")]
    assert three.words(MAIN)[0] == "user: first of chat-main"
    assert three.dangling() == [], "its log is where it was"


class Waiting:
    """Stands for time: `pause` waits until the test says that it has passed."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.woken = asyncio.Event()
        self.gone: asyncio.Event = asyncio.Event()

    async def pause(self, seconds: float) -> None:
        self.asked.append(seconds)
        self.gone.set()
        await self.woken.wait()

    async def pass_ended(self) -> float:
        await asyncio.wait_for(self.gone.wait(), 20)
        self.gone.clear()
        return self.asked[-1]

    def wake(self) -> None:
        self.woken.set()
        self.woken = asyncio.Event()


def retention(town: Town, wired: Wired, waiting: Waiting) -> RetentionService:
    made = wired.core.retention
    assert isinstance(made, RetentionService)
    made._pause = waiting.pause
    return made


def with_retention(town: Town, story: Callable[[Wired, RetentionService, Waiting], object]) -> None:
    async def work(wired: Wired) -> None:
        waiting = Waiting()
        service = retention(town, wired, waiting)
        try:
            await story(wired, service, waiting)  # type: ignore[misc]
        finally:
            await service.stop()

    town.run(work)


def test_without_a_limit_nothing_is_ever_removed(three: Town) -> None:
    archive(three, MAIN)
    three.clock.advance(5000 * DAY_MS)

    async def story(wired: Wired, service: RetentionService, waiting: Waiting) -> None:
        service.start()
        assert await waiting.pass_ended() == LONGEST_S

    with_retention(three, story)
    assert three.rows(archived=True) == [MAIN]


def test_the_first_pass_is_at_once_and_the_next_when_one_is_due(three: Town) -> None:
    three.run(lambda wired: wired.core.settings.set("archive.retention_days", "2"))
    archive(three, MAIN)
    three.clock.advance(2 * DAY_MS)
    archive(three, OTHER)
    three.clock.advance(2 * DAY_MS - 90_000)

    async def story(wired: Wired, service: RetentionService, waiting: Waiting) -> None:
        service.start()
        service.start()  # once is enough
        assert await waiting.pass_ended() == 90
        assert [row.id for row in await wired.core.chats.list(archived=True)] == [OTHER]
        three.clock.advance(90_001)
        waiting.wake()
        assert await waiting.pass_ended() == LONGEST_S
        assert await wired.core.chats.list(archived=True) == []

    with_retention(three, story)


def test_a_changed_setting_and_a_newly_archived_chat_wake_it(three: Town) -> None:
    archive(three, MAIN)
    three.clock.advance(3 * DAY_MS)

    async def story(wired: Wired, service: RetentionService, waiting: Waiting) -> None:
        service.start()
        assert await waiting.pass_ended() == LONGEST_S
        await wired.core.settings.set("archive.retention_days", "1")
        assert await waiting.pass_ended() == LONGEST_S
        assert await wired.core.chats.list(archived=True) == []
        await wired.core.chats.archive(OTHER)
        assert await waiting.pass_ended() == LONGEST_S, "a day is longer than an hour"
        await wired.core.settings.set("theme", "dark")
        await service.stop()
        await service.stop()
        await wired.core.chats.archive(THIRD)
        assert len(waiting.asked) == 3, "nothing else woke it, and nothing does when it ended"
        service.start()
        await waiting.pass_ended()

    with_retention(three, story)


def test_a_pass_that_fails_is_done_again(three: Town) -> None:
    three.run(lambda wired: wired.core.settings.set("archive.retention_days", "1"))
    archive(three, MAIN)
    three.clock.advance(3 * DAY_MS)
    library = three.data / "library.json"
    good = library.read_bytes()

    async def story(wired: Wired, service: RetentionService, waiting: Waiting) -> None:
        library.write_text("{broken")
        service.start()
        assert await waiting.pass_ended() == LONGEST_S
        library.write_bytes(good)
        waiting.wake()
        await waiting.pass_ended()
        assert await wired.core.chats.list(archived=True) == []

    with_retention(three, story)


def test_stopping_what_never_began_does_nothing(three: Town) -> None:
    three.run(lambda wired: wired.core.retention.stop())
