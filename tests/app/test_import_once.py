"""A session of another program is read once, however many parts of the program want it at the same time."""

import asyncio
import threading
from pathlib import Path

import pytest

from tests.app.window import Window
from vibekit_desktop.core.sources.claude_code import ClaudeCode
from vibekit_desktop.core.types.checkpoints import Now, Start
from vibekit_desktop.core.types.events import ImportProgressed


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """In which threads a session is read from now on."""
    threads: list[int] = []
    read = ClaudeCode.read

    def watched(self: ClaudeCode, *given: object, **more: object) -> object:
        threads.append(threading.get_ident())
        return read(self, *given, **more)  # type: ignore[arg-type]  # handed on as they are

    monkeypatch.setattr(ClaudeCode, "read", watched)
    return threads


async def test_a_session_that_is_opened_is_read_once(window: Window, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = counted(monkeypatch)
    await window.open_demo()
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()
    assert workspace.is_dir()


async def test_many_who_ask_for_the_same_session_at_once_get_it_from_one_reading(
    window: Window, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await window.start()
    await window.settled()
    (row,) = window.chats()
    threads = counted(monkeypatch)
    core, chat = window.wired.core, row.header.id
    views = await asyncio.gather(
        *(core.chats.open(chat) for _ in range(5)), core.live.look(chat), core.diffs.files(chat, Start(), Now(), ())
    )
    assert len(threads) == 1
    assert {len(view.messages) for view in views[:5]} == {len(views[0].messages)}
    assert views[0].messages
    assert workspace.is_dir()


async def test_how_far_it_is_read_is_told_at_the_end_but_not_a_thousand_times(
    window: Window, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = ClaudeCode.read

    def chatty(self: ClaudeCode, path: Path, **more: object) -> object:
        progress = more["progress"]
        assert callable(progress)
        for done in range(5_000):
            progress(done, 5_000)
        return read(self, path, **more)  # type: ignore[arg-type]  # handed on as they are

    monkeypatch.setattr(ClaudeCode, "read", chatty)
    told: list[ImportProgressed] = []
    watching = window.wired.core.events.subscribe(ImportProgressed, told.append)
    await window.open_demo()
    watching.close()
    assert 2 <= len(told) < 50
    assert told[-1].done == told[-1].total
    assert workspace.is_dir()
