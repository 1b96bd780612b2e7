"""How far a restore is, step by step: nothing is silent while it saves, prepares and puts back."""

import pytest

from tests.core.services.town import Crash, Town
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.services import checkpoints
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, BeforeTurn, RestoreStep, Scope
from vibekit_desktop.core.types.events import RestoreProgressed
from vibekit_desktop.core.types.ids import ChatId

CHAT = ChatId("one")
FILES = {f"f{number}": "text\n" for number in range(5)}


@pytest.fixture(autouse=True)
def _every_file_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "PROGRESS_S", 0)


def told(town: Town) -> list[tuple[RestoreStep, int, int]]:
    return [(one.step, one.done, one.total) for one in town.events if isinstance(one, RestoreProgressed) and one.chat == CHAT]


async def restore(wired: Wired) -> None:
    plan = await wired.core.checkpoints.plan_restore(CHAT, BeforeTurn(2), paths=(), scope=Scope.FILES, mine=KEEP_MINE)
    await wired.core.checkpoints.carry_out(plan)


def two_turns(town: Town) -> None:
    town.turn(CHAT, **FILES)
    town.turn(CHAT, **dict.fromkeys(FILES, "other\n"))


def test_every_step_says_how_far_it_is(town: Town) -> None:
    two_turns(town)
    town.run(restore)
    whole = range(5)
    assert told(town) == [
        *((RestoreStep.KEEP, number, 5) for number in whole),
        *((RestoreStep.STAGE, number, 5) for number in whole),
        *((RestoreStep.PLACE, number + 1, 5) for number in whole),
    ]


def test_what_is_finished_after_a_crash_says_how_far_it_is(town: Town) -> None:
    two_turns(town)

    def dies(name: str) -> None:
        if name == "restore.path":
            raise Crash(name)

    with faults.armed(dies), pytest.raises(Crash):
        town.run(restore)
    town.run(lambda wired: wired.recover())
    assert told(town) == [(RestoreStep.PLACE, number + 1, 5) for number in range(5)]
    assert all((town.work / f"{name}.txt").read_text() == "text\n" for name in FILES)


def test_news_do_not_come_for_every_file(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "PROGRESS_S", 3600)
    two_turns(town)
    town.run(restore)
    assert told(town)[-1] == (RestoreStep.PLACE, 5, 5), "the last is always told"
    assert len(told(town)) <= 2
