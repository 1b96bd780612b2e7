"""A timeline of very many files: told first, its lines counted a while at a time, the disk looked at once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest

from tests.core.services.town import Town
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import Wired, build
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.checkpoints import EntryKind, FileState, Timeline
from vibekit_desktop.core.types.events import ChatUpdated
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

T = TypeVar("T")
CHAT = ChatId("one")
FILES = 25


def slowly(town: Town, work: Callable[[Wired], Awaitable[T]]) -> T:
    """A program whose clock goes on by a tenth of the time to count in whenever it is looked at."""
    ticks = count()

    async def whole() -> T:
        wired = build(Dirs(town.data), home=town.home, clock=town.clock, pause=asyncio.sleep, now_s=lambda: next(ticks) * 0.03)
        heard = wired.bus.subscribe(ChatUpdated, town.events.append)
        try:
            return await work(wired)
        finally:
            heard.close()
            await wired.close()

    town.events.clear()
    return asyncio.run(whole())


def counted(timeline: Timeline) -> int:
    """How many files of the turns have their counts."""
    turns = [entry for entry in timeline.entries if entry.kind is EntryKind.TURN]
    return sum(change.lines_added is not None for entry in turns for change in entry.files)


@pytest.fixture
def large(town: Town) -> Town:
    town.turn(CHAT, **{f"f{n}": f"one {n}\ntwo\n" for n in range(FILES)})
    for path in town.data.rglob("net.json"):
        path.unlink()  # what the end of the turn counted
    return town


def test_what_is_known_is_told_first_and_counting_goes_on_until_all_is_counted(large: Town) -> None:
    async def work(wired: Wired) -> None:
        checkpoints = wired.core.checkpoints
        first = await checkpoints.timeline(CHAT, counted=False)
        assert first.counting
        assert counted(first) == 0, "a turn has the counts of all its files, or of none"
        assert [len(entry.files) for entry in first.entries] == [FILES, 0]
        assert not large.events, "the row of the chat is told what all of it is"
        steps = 1
        while await checkpoints.count_on(CHAT):
            steps += 1
        assert 2 <= steps <= 4
        last = await checkpoints.timeline(CHAT, counted=False)
        assert not last.counting
        assert counted(last) == FILES
        (told,) = large.events
        assert isinstance(told, ChatUpdated)
        assert (told.header.lines_added, told.header.lines_removed) == (2 * FILES, 0)

    slowly(large, work)


def test_who_wants_all_counted_waits_for_it(large: Town) -> None:
    timeline = slowly(large, lambda wired: wired.core.checkpoints.timeline(CHAT))
    assert not timeline.counting
    assert counted(timeline) == FILES
    assert slowly(large, lambda wired: wired.core.checkpoints.count_on(CHAT)) is False, "nobody began to count"


def test_the_disk_is_looked_at_once_for_a_timeline(large: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: Counter[WorkspacePath] = Counter()
    look = Workspace.look

    def noted(self: Workspace, path: WorkspacePath) -> FileState:
        looked[path] += 1
        return look(self, path)

    monkeypatch.setattr(Workspace, "look", noted)
    large.run(lambda wired: wired.core.checkpoints.timeline(CHAT))
    assert len(looked) == FILES
    assert set(looked.values()) == {1}


def test_a_blob_is_opened_once_to_be_read(large: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: Counter[str] = Counter()
    open_it = Fs.open_regular

    def noted(self: Fs, path: Path | str, *, follow: bool = False, dir_fd: int | None = None) -> int:
        opened[str(path)] += "blobs" in str(path)
        return open_it(self, path, follow=follow, dir_fd=dir_fd)

    monkeypatch.setattr(Fs, "open_regular", noted)
    large.run(lambda wired: wired.core.checkpoints.timeline(CHAT))
    blobs = {path: times for path, times in opened.items() if times}
    assert len(blobs) == FILES
    assert set(blobs.values()) == {1}
