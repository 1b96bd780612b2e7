"""An address is opened only after it was shown whole and somebody said yes."""

import asyncio
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from tests.ui.restore_stage import Stage, click, open_stage
from tests.ui.spin import run
from vibekit_desktop.ui.dialogs.open_link import ask_to_open


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    with open_stage(qtbot) as found:
        yield found


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []

    def open_url(url: QUrl) -> bool:
        found.append(url.toString())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    return found


def asked(stage: Stage, address: str, press: str) -> tuple[str, str]:
    async def story() -> tuple[str, str]:
        task = asyncio.ensure_future(ask_to_open(stage.hub, stage.window, address))
        question = await stage.until_asked()
        words = question.accessibleName(), question.accessibleDescription()
        click(question.button(press))
        await task
        return words

    return run(story())


def test_the_host_and_the_whole_address_are_shown_first(stage: Stage, opened: list[str]) -> None:
    title, text = asked(stage, "https://example.org/guide", "Cancel")
    assert (title, text) == ("Open example.org in the browser?", "https://example.org/guide")
    assert opened == []
    asked(stage, "https://example.org/guide", "Open")
    assert opened == ["https://example.org/guide"]


def test_letters_that_look_alike_are_shown_as_they_are_looked_up(stage: Stage, opened: list[str]) -> None:
    assert asked(stage, "https://ex\u0430mple.org/", "Cancel")[0] == "Open xn--exmple-4nf.org in the browser?"
    assert opened == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "/etc/passwd"])
def test_anything_else_is_shown_and_cannot_be_opened(stage: Stage, opened: list[str], address: str) -> None:
    assert asked(stage, address, "Close") == ("This address can't be opened from here.", address)
    assert opened == []


def test_a_long_address_is_wrapped(stage: Stage, opened: list[str]) -> None:
    text = asked(stage, "https://example.org/" + "a" * 400, "Cancel")[1]
    assert max(map(len, text.split("\n"))) < 60
    assert text.replace("\n", "") == "https://example.org/" + "a" * 400
