"""What stands on the screen is what the window would paint anew: nothing is left over from before a change."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from tests.app.window import Window
from vibekit_desktop.core.types.checkpoints import BeforeTurn


async def look(window: Window, what: str) -> None:
    """Compare the screen with a picture that is painted now."""
    await asyncio.sleep(0.05)
    await window.settled()
    screen = QGuiApplication.primaryScreen()
    assert screen is not None
    anew = window.shell.grab().toImage()
    seen = screen.grabWindow(window.shell.winId()).toImage().convertToFormat(anew.format())
    assert seen.size() == anew.size(), what
    other = [
        (x, y) for x in range(0, anew.width(), 3) for y in range(0, anew.height(), 3) if seen.pixel(x, y) != anew.pixel(x, y)
    ]
    assert not other, (what, len(other), other[:3], other[-3:])


async def test_after_every_change_of_the_window_nothing_of_the_former_look_is_left(window: Window, workspace: Path) -> None:
    if QGuiApplication.platformName() != "offscreen":
        pytest.skip("elsewhere other windows may be in front")
    actions = window.conductor.keys.actions
    changes: dict[str, Callable[[], object]] = {
        "dark": lambda: window.hub.set_mode("dark"),
        "larger text": lambda: window.hub.set_zoom(1.3),
        "a small window": lambda: window.shell.resize(1000, 700),
        "the inspector as a drawer": actions["toggle-inspector"].trigger,
        "light": lambda: window.hub.set_mode("light"),
        "no sidebar": actions["toggle-sidebar"].trigger,
        "a large window": lambda: window.shell.resize(1400, 900),
        "the review": window.conductor.open_review,
        "the review, dark": lambda: window.hub.set_mode("dark"),
        "the chat again": lambda: window.main.show_page("transcript"),
        "a preview": lambda: window.conductor.back.restore_to(BeforeTurn(3)),
        "a preview, light": lambda: window.hub.set_mode("light"),
        "no preview": lambda: window.key(Qt.Key.Key_Escape),
    }
    await window.open_demo()
    assert workspace.is_dir()
    await look(window, "opened")
    for what, change in changes.items():
        change()
        if what == "a preview":
            await window.until(window.dialogs)
        await look(window, what)


async def test_sidebar_and_inspector_have_another_theme_a_frame_later(window: Window, workspace: Path) -> None:
    await window.open_demo()
    assert workspace.is_dir()
    former = window.hub.theme
    window.hub.set_mode("dark")
    assert [late.theme for late in window.conductor._late] == [former, former]
    await window.until(lambda: not any(late.behind for late in window.conductor._late))
    assert [late.theme for late in window.conductor._late] == [window.hub.theme, window.hub.theme]
    window.hub.set_zoom(1.2)
    window.hub.set_zoom(1.5)
    await window.settled()
    assert [(late.zoom, late.mode) for late in window.conductor._late] == [(1.5, "dark")] * 2
    assert window.conductor.inspector._hub.theme.zoom == window.conductor.sidebar._hub.theme.zoom == 1.5
