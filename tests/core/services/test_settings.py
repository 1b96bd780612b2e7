"""Settings: stored once, checked, seen by every process at once, and what they decide."""

import json
from pathlib import Path

import pytest

from tests.core.services.town import Town
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.services.settings import SettingsService
from vibekit_desktop.core.services.watch import WatchService
from vibekit_desktop.core.types import settings
from vibekit_desktop.core.types.checkpoints import CaptureReport
from vibekit_desktop.core.types.errors import BadSetting, CannotRead, UnknownSetting
from vibekit_desktop.core.types.events import SettingChanged
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.settings import KINDS, Limits, Setting

MAIN = ChatId("chat-main")


def change(town: Town, key: str, text: str) -> Setting:
    return town.run(lambda wired: wired.core.settings.set(key, text))


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.key)
def test_every_setting_has_a_default_that_it_can_hold_and_a_sentence(kind: settings.SettingKind) -> None:
    assert kind.holds(kind.default)
    assert kind.parse(str(kind.default)) == kind.default
    assert kind.text.endswith(".")
    for text in ("", "x", "-1", "1.5", "1e3", "٣", str(kind.most + 1), "9" * 30, "Dark"):
        with pytest.raises(BadSetting):
            kind.parse(text)
    assert not any(kind.holds(value) for value in (None, True, 1.5, [], "x", -1, kind.most + 1))


def test_the_settings_are_listed_with_their_defaults(town: Town) -> None:
    found = town.run(lambda wired: wired.core.settings.all())
    assert [(one.key, one.value) for one in found] == [(kind.key, kind.default) for kind in KINDS.values()]
    assert not town.data.exists(), "reading makes nothing"


def test_a_change_is_kept_told_once_and_leaves_the_rest_alone(town: Town) -> None:
    town.turn(MAIN, "x")
    path = town.data / "library.json"
    stored = json.loads(path.read_text())
    path.write_text(json.dumps({**stored, "settings": {"later.key": [1], "theme": "light"}}))
    assert change(town, "archive.retention_days", " 30 ").value == 30
    assert town.events == [SettingChanged("archive.retention_days", 30)]
    assert json.loads(path.read_text())["settings"] == {"later.key": [1], "theme": "light", "archive.retention_days": 30}
    assert json.loads(path.read_text())["vaults"] == stored["vaults"]
    change(town, "archive.retention_days", "30")
    assert town.events == [], "it is that already"
    assert town.run(lambda wired: wired.core.settings.get("theme")).value == "light"


def test_what_cannot_be_a_value_changes_nothing(town: Town) -> None:
    change(town, "theme", "dark")
    before = (town.data / "library.json").read_bytes()
    with pytest.raises(BadSetting) as bad:
        change(town, "theme", "blue")
    assert bad.value.wanted == "system, light or dark"
    for work in (lambda wired: wired.core.settings.set("nope", "1"), lambda wired: wired.core.settings.get("nope")):
        with pytest.raises(UnknownSetting):
            town.run(work)
    assert (town.data / "library.json").read_bytes() == before
    assert town.events == []


def test_a_stored_value_that_cannot_be_one_counts_as_the_default(town: Town) -> None:
    change(town, "theme", "dark")
    path = town.data / "library.json"
    stored = json.loads(path.read_text())
    stored["settings"] = {"theme": 7, "capture.max_mb": "much", "store.budget_gb": None, "archive.retention_days": -3}
    path.write_text(json.dumps(stored))
    found = {one.key: one.value for one in town.run(lambda wired: wired.core.settings.all())}
    assert found == {kind.key: kind.default for kind in KINDS.values()}


def test_a_library_that_cannot_be_read_is_said_and_the_captures_go_by_the_defaults(town: Town) -> None:
    change(town, "capture.max_mb", "3")
    (town.data / "library.json").write_text("{broken")
    with pytest.raises(CannotRead):
        town.run(lambda wired: wired.core.settings.all())

    async def limits(wired: Wired) -> Limits:
        service = wired.core.settings
        assert isinstance(service, SettingsService)
        return service.limits()

    assert town.run(limits) == Limits()


def test_what_another_process_decides_is_seen_at_once_and_told_by_the_watch(town: Town) -> None:
    async def work(wired: Wired) -> list[object]:
        watch = wired.core.watch
        assert isinstance(watch, WatchService)
        await watch.look()
        other = town.build()
        await other.core.settings.set("theme", "dark")
        await other.close()
        seen: list[object] = [(await wired.core.settings.get("theme")).value, list(town.events)]
        await watch.look()
        await watch.look()
        await wired.core.settings.set("theme", "light")
        await watch.look()
        return seen

    assert town.run(work) == ["dark", []]
    told = [event for event in town.events if isinstance(event, SettingChanged)]
    assert told == [SettingChanged("theme", "dark"), SettingChanged("theme", "light")], "our own change once"


def test_the_largest_capture_is_a_setting_that_counts_at_once(town: Town) -> None:
    town.turn(MAIN, "make the chat")
    (town.work / "big.bin").write_bytes(b"x" * (1 << 20) + b"x")

    async def record(wired: Wired) -> CaptureReport:
        await wired.core.settings.set("capture.max_mb", "1")
        return await wired.core.turns.record(MAIN, "big.bin", content=None, deleted=False, mode=None)

    report = town.run(record)
    assert [one.reason for one in report.coverage.skipped] == ["too-large"]
    change(town, "capture.max_mb", "2")
    again = town.run(lambda wired: wired.core.turns.record(MAIN, "big.bin", content=b"y", deleted=False, mode=None))
    assert again.coverage.complete


def test_what_a_look_copies_is_a_setting(town: Town) -> None:
    change(town, "baseline.copy_mb", "0")
    (town.work / "old.txt").write_text("before")

    def stored() -> set[str]:
        return {path.name for path in Path(town.vault).glob("**/blobs/**/*") if path.is_file()}

    async def turn(wired: Wired) -> None:
        await wired.core.turns.begin(MAIN, workspace=town.work, agent=None, prompt="x")
        await wired.core.turns.end(MAIN, answer=None)

    town.run(turn)
    assert stored() == set(), "no file is so small"
    change(town, "baseline.copy_mb", "1")
    (town.work / "new.txt").write_text("also before")
    town.run(turn)
    assert len(stored()) >= 1


def test_the_doctor_warns_above_the_budget(town: Town) -> None:
    checks = {one.name: one for one in town.run(lambda wired: wired.core.library.doctor())}
    assert "5120 MB planned for" in checks["stored contents"].detail
    change(town, "store.budget_gb", "7")
    checks = {one.name: one for one in town.run(lambda wired: wired.core.library.doctor())}
    assert "7168 MB planned for" in checks["stored contents"].detail
