"""All sessions of a program that deletes them are kept at once: what goes is still there, what was deleted here stays so."""

import asyncio
from pathlib import Path

import pytest

from tests.core.services.town import Town
from tests.helpers.vaults import chat_of, session
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.sources.claude_code import ClaudeCode
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.sources import Cleanup, ImportReport

NAMES = ("one", "two", "three")


@pytest.fixture
def chats(town: Town) -> list[ChatId]:
    """Three sessions that lie in the home folder and were never opened."""
    made = [session(town.work, name, "write it") for name in NAMES]
    for one in made:
        one.install(town.home)
    return [chat_of(one) for one in made]


def sessions(home: Path) -> list[Path]:
    return sorted((home / ".claude" / "projects").rglob("*.jsonl"))


def keep(town: Town) -> tuple[ImportReport, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    report = town.run(lambda wired: wired.core.histories.keep_all("claude-code", lambda *far: told.append(far)))
    return report, told


def test_what_was_never_opened_is_there_when_the_program_has_deleted_it(town: Town, chats: list[ChatId]) -> None:
    report, told = keep(town)
    assert {one.chat_id for one in report.imported} == set(chats)
    assert told == [(0, 3), (1, 3), (2, 3)]
    for path in sessions(town.home):
        path.unlink()
    assert set(town.rows()) == set(chats)
    assert all(town.words(chat)[0] == "user: write it" for chat in chats)
    assert keep(town) == (ImportReport(), [])


def test_what_was_deleted_here_stays_so_and_what_is_kept_is_left_alone(town: Town, chats: list[ChatId]) -> None:
    town.words(chats[0])
    town.words(chats[1])
    town.run(lambda wired: wired.core.chats.delete(chats[1], keep_branches=False))
    report, _ = keep(town)
    assert (report.unchanged, [one.chat_id for one in report.imported]) == ((chats[0],), [chats[2]])
    assert set(town.rows()) == {chats[0], chats[2]}


def test_one_that_cannot_be_read_hides_no_other(town: Town, chats: list[ChatId], monkeypatch: pytest.MonkeyPatch) -> None:
    bad = sessions(town.home)[1]
    keep_reading = ClaudeCode.read

    def read(self: ClaudeCode, path: Path, **more: object) -> object:
        if path == bad:
            path.write_bytes(b"")  # it is another file when it is its turn
        return keep_reading(self, path, **more)  # type: ignore[arg-type]  # handed on as they are

    monkeypatch.setattr(ClaudeCode, "read", read)
    report, _ = keep(town)
    assert (len(report.imported), [one.path for one in report.failed]) == (2, [str(bad)])


def test_stopped_in_the_middle_what_was_read_is_kept(town: Town, chats: list[ChatId]) -> None:
    async def stop(wired: Wired) -> None:
        def told(done: int, _total: int) -> None:
            if done == 1:
                task.cancel()

        task = asyncio.ensure_future(wired.core.histories.keep_all("claude-code", told))
        with pytest.raises(asyncio.CancelledError):
            await task

    town.run(stop)
    report, _ = keep(town)
    assert (len(report.unchanged), len(report.imported)) == (1, 2)


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ("", 30),
        ("{}", 30),
        ('{"cleanupPeriodDays": 7, "model": "opus"}', 7),
        ('{"cleanupPeriodDays": 99999}', 99_999),
        ('{"cleanupPeriodDays": 0}', 30),
        ('{"cleanupPeriodDays": "soon"}', 30),
        ('{"cleanupPeriodDays": -4}', 30),
        ("[1", 30),
    ],
)
def test_when_it_deletes_is_what_its_settings_say(tmp_path: Path, settings: str, days: int) -> None:
    folder = tmp_path / ".claude"
    assert ClaudeCode().cleanup(tmp_path) == Cleanup(30, "cleanupPeriodDays")
    folder.mkdir()
    (folder / "settings.json").write_text(settings)
    assert ClaudeCode().cleanup(tmp_path) == Cleanup(days, "cleanupPeriodDays")
    moved = tmp_path / "moved"
    folder.rename(moved)
    assert ClaudeCode().cleanup(tmp_path, config_dir=moved) == Cleanup(days, "cleanupPeriodDays")


def test_the_summary_of_a_program_says_it(town: Town, chats: list[ChatId]) -> None:
    (found,) = town.run(lambda wired: wired.core.histories.sources())
    assert (found.sessions, found.cleanup) == (len(chats), Cleanup(30, "cleanupPeriodDays"))
