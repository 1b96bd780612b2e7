"""What one process does to a vault is news for another that watches it, and for none that did it itself."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.helpers.vaults import Library
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import Wired, build
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.settings import SettingsService
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.shown import Shown
from vibekit_desktop.core.services.watch import WARM_LOOKS, WatchService
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Mine, Scope
from vibekit_desktop.core.types.events import (
    ChatArchived,
    ChatCreated,
    ChatDeleted,
    ChatUpdated,
    Event,
    HistoryGrew,
    ReviewChanged,
    WorkspaceMoved,
)
from vibekit_desktop.core.types.ids import WorkspacePath


class Two:
    """The window's core, which looks when it is told to, and another process's."""

    def __init__(self, window: Wired, other: Wired) -> None:
        self.window, self.other = window, other
        self.events: list[Event] = []
        for kind in (ChatCreated, ChatUpdated, ChatArchived, ChatDeleted, HistoryGrew, ReviewChanged, WorkspaceMoved):
            window.bus.subscribe(kind, self.events.append)

    async def news(self) -> list[str]:
        """Look, and say what was published since the last time."""
        watch = self.window.core.watch
        assert isinstance(watch, WatchService)
        await watch.look()
        found = [f"{type(event).__name__} {_chat(event)}" for event in self.events]
        self.events.clear()
        return found


def _chat(event: Event) -> str:
    match event:
        case ChatCreated(header) | ChatUpdated(header):
            return header.id
        case ChatDeleted(chat) | ChatArchived(chat) | HistoryGrew(chat, _) | ReviewChanged(chat):
            return chat
        case WorkspaceMoved(workspace):
            return workspace
        case _:
            raise AssertionError(event)


async def _never(_: float) -> None:
    return None


def play(library: Library, story: Callable[[Two], Awaitable[None]]) -> None:
    async def run() -> None:
        window, other = (build(Dirs(library.data), home=library.home, pause=_never) for _ in range(2))
        try:
            await story(Two(window, other))
        finally:
            await window.close()
            await other.close()

    asyncio.run(run())


def test_what_another_process_does_is_told_once(library: Library) -> None:
    async def story(two: Two) -> None:
        assert await two.news() == [], "what is there at the first look is known"
        turns = two.other.core.turns
        await turns.begin("hook-chat", workspace=library.work, agent=None, prompt="go")
        assert await two.news() == ["ChatCreated hook-chat", "HistoryGrew hook-chat"]
        assert await two.news() == []
        await turns.record("hook-chat", "one.txt", content=b"x", deleted=False, mode=None)
        assert await two.news() == ["ChatUpdated hook-chat", "HistoryGrew hook-chat"], "its prompt bears a tag now"
        await turns.record("hook-chat", "one.txt", content=b"y", deleted=False, mode=None)
        assert await two.news() == ["HistoryGrew hook-chat"]
        await turns.end("hook-chat", answer="done")
        await turns.begin(library.far, workspace=None, agent=None, prompt="there")
        assert sorted(await two.news()) == sorted(
            ["ChatUpdated hook-chat", "HistoryGrew hook-chat", f"ChatUpdated {library.far}", f"HistoryGrew {library.far}"]
        )
        (library.vault / "chats" / "hook-chat.json").unlink()
        assert await two.news() == ["ChatDeleted hook-chat"]

    play(library, story)


def test_what_is_reviewed_in_another_process_is_told_and_our_own_only_once(library: Library) -> None:
    async def story(two: Two) -> None:
        assert await two.news() == []
        path = WorkspacePath("one.txt")
        await two.other.core.reviews.set_reviewed(library.one, path, None, None, True)
        assert await two.news() == [f"ReviewChanged {library.one}"]
        await two.other.core.reviews.set_reviewed(library.one, path, None, None, True)
        assert await two.news() == [], "nothing was changed"
        await two.window.core.reviews.set_reviewed(library.one, path, None, None, False)
        assert await two.news() == [f"ReviewChanged {library.one}"]
        assert await two.news() == []
        (library.vault / "desktop" / "reviews").rename(library.vault / "desktop" / "elsewhere")
        assert await two.news() == []

    play(library, story)


def test_what_another_process_archives_brings_back_and_removes_is_told(library: Library) -> None:
    async def story(two: Two) -> None:
        await two.news()
        chats = two.other.core.chats
        await chats.archive(library.one)
        assert await two.news() == [f"ChatArchived {library.one}"]
        await chats.rename(library.one, "elsewhere")
        assert await two.news() == [], "nobody looks at it"
        await chats.unarchive(library.one)
        assert await two.news() == [f"ChatCreated {library.one}"]
        await chats.archive(library.one)
        await chats.delete(library.two)
        assert sorted(await two.news()) == [f"ChatArchived {library.one}", f"ChatDeleted {library.two}"]
        await chats.delete(library.one)
        assert await two.news() == [f"ChatDeleted {library.one}"], "also out of the archive: somebody may have it open"
        assert await two.news() == []

    play(library, story)


def test_a_workspace_that_goes_or_comes_back_is_told_while_its_chat_is_shown(library: Library) -> None:
    work = library.work.resolve()
    told = f"WorkspaceMoved {library.work}"

    async def story(two: Two) -> None:
        chats = two.window.core.chats
        assert await two.news() == []
        work.rename(work.with_name("elsewhere"))
        assert await two.news() == [], "nobody looks at it"
        await chats.hold_open(library.one)
        assert await two.news() == [], "it is not there when the chat is opened, which says so"
        work.with_name("elsewhere").rename(work)
        assert await two.news() == [told]
        assert await two.news() == []
        work.rename(work.with_name("elsewhere"))
        assert await two.news() == [told]
        work.mkdir()
        assert await two.news() == [told], "another folder of its name"
        await chats.hold_open(library.far)
        work.rmdir()
        assert await two.news() == []
        await chats.hold_open(library.two)
        assert await two.news() == []
        await chats.hold_open(None)
        work.mkdir()
        assert await two.news() == []

    play(library, story)


def test_a_vault_that_another_process_makes_is_found(library: Library, tmp_path: Path) -> None:
    async def story(two: Two) -> None:
        await two.news()
        fresh = tmp_path / "fresh"
        fresh.mkdir()
        await two.other.core.turns.begin("new-chat", workspace=fresh, agent=None, prompt="go")
        assert await two.news() == ["ChatCreated new-chat", "HistoryGrew new-chat"]

    play(library, story)


def test_what_this_process_does_is_no_news_and_hides_none(library: Library) -> None:
    async def story(two: Two) -> None:
        await two.news()
        await two.other.core.turns.begin(library.two, workspace=None, agent=None, prompt="go")
        core = two.window.core
        plan = await core.checkpoints.plan_restore(library.one, BeforeTurn(2), paths=(), scope=Scope.FILES, mine=Mine())
        await core.checkpoints.carry_out(plan)
        await core.chats.branch(library.one, 2)
        fresh = library.work.with_name("fresh")
        fresh.mkdir()
        await core.turns.begin("own-chat", workspace=fresh, agent=None, prompt="go")
        two.events.clear()  # what the services themselves said of it
        assert await two.news() == [f"ChatUpdated {library.two}", f"HistoryGrew {library.two}"]
        assert await two.news() == []

    play(library, story)


def test_what_the_original_writes_without_our_lock_is_seen_within_ten_looks(library: Library) -> None:
    async def story(two: Two) -> None:
        for _ in range(WARM_LOOKS + 5):
            assert await two.news() == []
        with library.log(library.one).open("ab") as log:
            log.write(b'{"type":"turn_start","ts":1700000000000,"turn":9,"v":1}\n')
        found: list[str] = []
        for _ in range(10):
            found += await two.news()
        assert found == [f"HistoryGrew {library.one}"]

    play(library, story)


@pytest.mark.parametrize("kind", ["gone", "file"])
def test_a_vault_that_cannot_be_looked_at_hides_no_other(library: Library, kind: str) -> None:
    async def story(two: Two) -> None:
        await two.news()
        library.vault.rename(library.vault.with_name("away"))
        if kind == "file":
            library.vault.write_text("x")
        await two.other.core.turns.begin(library.far, workspace=None, agent=None, prompt="there")
        assert {f"ChatUpdated {library.far}", f"HistoryGrew {library.far}"} <= set(await two.news())

    play(library, story)


def test_it_watches_between_start_and_stop_and_leaves_nothing_behind(library: Library) -> None:
    async def run() -> None:
        looked, heard = asyncio.Event(), asyncio.Event()

        async def pause(_: float) -> None:
            looked.set()
            await asyncio.sleep(0)

        window, other = (build(Dirs(library.data), home=library.home, pause=pause) for _ in range(2))
        events: list[HistoryGrew] = []
        window.bus.subscribe(HistoryGrew, events.append)
        window.bus.subscribe(HistoryGrew, lambda _: heard.set())
        window.core.watch.start()
        window.core.watch.start()
        await looked.wait()
        await other.core.turns.begin(library.one, workspace=None, agent=None, prompt="go")
        await asyncio.wait_for(heard.wait(), 20)
        await window.core.watch.stop()
        await window.core.watch.stop()
        assert [task.get_name() for task in asyncio.all_tasks() if "vaults" in task.get_name()] == []
        await other.core.turns.begin(library.one, workspace=None, agent=None, prompt="again")
        for _ in range(50):
            await asyncio.sleep(0)
        assert [event.chat for event in events] == [library.one]
        await window.close()
        await other.close()

    asyncio.run(run())


def test_a_look_at_two_thousand_chats_is_cheap_and_a_quiet_one_almost_free(tmp_path: Path, home: Path) -> None:
    data, work = tmp_path / "data", tmp_path / "work"
    work.mkdir()
    fs = Fs()
    shelf = Shelf(fs, data, clock=lambda: 1, home=home)
    vault = shelf.for_workspace(str(work))
    for number in range(2000):
        folder = vault.folder / "snapshots" / "chats" / f"chat-{number:05d}"
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_bytes(b"{}\n")
    vault.chats.folder.mkdir()
    for number in range(2000):
        (vault.chats.folder / f"chat-{number:05d}.json").write_bytes(b"{}")
    calls: list[str] = []

    class Counting(Fs):
        def stat(self, path: Path):  # type: ignore[no-untyped-def]  # counts, and passes on
            calls.append(path.name)
            return super().stat(path)

    async def run() -> tuple[float, int]:
        from vibekit_desktop.core.bus import Bus

        watch = WatchService(Bus(), Counting(), shelf, Headers(fs, data / "cache"), SettingsService(Bus(), shelf), Shown(fs))
        await watch.look()
        with VaultLock(fs, vault.folder).hold():
            pass
        began = time.perf_counter()
        await watch.look()
        took = time.perf_counter() - began
        for _ in range(WARM_LOOKS):
            await watch.look()
        while watch_looks_at_everything(calls):
            await watch.look()
        calls.clear()
        for _ in range(9):
            await watch.look()
        await watch.stop()
        return took, len(calls)

    def watch_looks_at_everything(found: list[str]) -> bool:
        was = len(found) > 1000
        found.clear()
        return was

    took, quiet = asyncio.run(run())
    assert took < 1.0
    assert quiet <= 9 * 3 + 2 * 4000, "at most one of ten quiet looks is at everything"
    print(f"look at 2,000 chats: {took * 1000:.1f} ms; nine quiet looks: {quiet} stats")
