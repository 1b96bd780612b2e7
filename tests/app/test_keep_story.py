"""Somebody hears that another program deletes its chats, and keeps all of them: when they are gone there, they are here."""

from pathlib import Path

from tests.app.window import Window
from tests.helpers.vaults import session
from vibekit_desktop.ui.told import Told


async def test_all_chats_are_kept_before_their_program_deletes_them(window: Window, workspace: Path, home: Path) -> None:
    for name in ("one", "two"):
        session(workspace, name, f"write {name}").install(home)
    new = window.conductor.told
    new.words = Told().words  # nobody was told yet
    await window.start()
    await window.until(lambda: len(window.chats()) == 3)
    window.choose_chat(next(row.header.name for row in window.chats() if row.header.name == "write one"))
    banner = window.conductor.page.banner
    await window.until(banner.isVisible)
    assert banner.accessibleName() == "Claude Code deletes its chats after 30 days. This one is kept here."
    window.picture("told")
    window.press_button(banner, "Learn more")
    await window.until(window.dialogs)
    await window.settled()
    window.picture("more")
    window.press_dialog("Keep all of them")
    await window.until(lambda: window.toast == "3 chats are kept here.")
    await window.settled()
    assert not banner.isVisible(), "it is told once"
    for path in (home / ".claude" / "projects").rglob("*.jsonl"):
        path.unlink()
    window.come_back()
    await window.settled()
    window.conductor.histories.start_list()
    await window.settled()
    assert len(window.chats()) == 3
    window.choose_chat("write two")
    await window.until(lambda: window.prompts() == ["write two"])
    await window.settled()
