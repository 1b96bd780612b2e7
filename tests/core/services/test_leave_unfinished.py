"""The answer to a restore that is not ours to carry on: it is ended, no file is touched, whoever shows the chat hears of it."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from tests.helpers.program import tree
from tests.helpers.vaults import Library
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import build
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, BeforeTurn, Scope
from vibekit_desktop.core.types.errors import LogDamaged, NothingToEnd, RestoreUnfinished
from vibekit_desktop.core.types.events import HistoryGrew, RestoreRecovered

T = TypeVar("T")
STARTED = {"type": "restore_started", "tag": "2", "ts": 1, "message_count": 3, "v": 1}


class Killed(BaseException):
    """The program ends here."""


def run(library: Library, work: Callable[[Core], Awaitable[T]]) -> tuple[T, list[object]]:
    """What ``work`` gave, and the news of it, as one run of the program."""
    heard: list[object] = []

    async def inside() -> T:
        wired = build(Dirs(library.data), home=library.home)
        wired.bus.subscribe(HistoryGrew, heard.append)
        wired.bus.subscribe(RestoreRecovered, heard.append)
        try:
            return await work(wired.core)
        finally:
            await wired.close()

    return asyncio.run(inside()), heard


def begun_elsewhere(library: Library) -> None:
    """The other program begins a restore of the first chat, and is killed."""
    with library.log(library.one).open("ab") as log:
        log.write(json.dumps(STARTED).encode() + b"\n")


def killed_halfway(library: Library) -> None:
    """Our own program is killed once the restore of the first chat is planned."""

    def kill(name: str) -> None:
        if name == "restore.planned":
            raise Killed

    async def work(core: Core) -> None:
        plan = await core.checkpoints.plan_restore(library.one, BeforeTurn(2), paths=(), scope=Scope.FILES, mine=KEEP_MINE)
        with faults.armed(kill), pytest.raises(Killed):
            await core.checkpoints.carry_out(plan)

    run(library, work)


def asks(library: Library) -> tuple[bool, bool]:
    """Whether a restore of the first chat did not end, and whether it waits for an answer."""
    timeline, _ = run(library, lambda core: core.checkpoints.timeline(library.one))
    return timeline.unfinished, timeline.to_answer


def leave(library: Library) -> tuple[int, list[object]]:
    return run(library, lambda core: core.checkpoints.leave_unfinished(library.one))


def test_a_restore_of_another_program_is_ended_and_no_file_is_touched(library: Library) -> None:
    begun_elsewhere(library)
    assert asks(library) == (True, True)
    files, log = tree(library.work), library.log(library.one).read_bytes()
    other = library.log(library.two).read_bytes()
    assert leave(library) == (1, [HistoryGrew(library.one, str(library.work))])
    assert tree(library.work) == files
    assert library.log(library.one).read_bytes().startswith(log)
    assert library.log(library.two).read_bytes() == other
    assert asks(library) == (False, False)
    rows = library.call("--json", "timeline", library.one).json["entries"]
    assert [row["kind"] for row in rows] == ["turn", "turn", "now"], "nothing was restored"
    assert library.call("restore", library.one, "before:2", "--yes").status == 0
    assert library.call("undo", library.one, "--yes").status == 0
    assert tree(library.work) == files


def test_a_plan_that_came_with_a_copied_vault_is_ended_too(library: Library) -> None:
    killed_halfway(library)
    (library.vault / "desktop" / "token").write_bytes(b"another\n")
    assert asks(library) == (True, True)
    files = tree(library.work)
    assert leave(library)[0] == 1
    assert tree(library.work) == files
    assert asks(library) == (False, False)
    assert library.call("undo", library.one, "--yes").status == 1, "what was never done here is not taken back"
    assert library.call("restore", library.one, "before:2", "--yes").status == 0
    assert (library.work / "one.txt").read_text() == "one 1\n"


def test_with_the_workspace_gone_it_is_ended_all_the_same(library: Library) -> None:
    begun_elsewhere(library)
    shutil.rmtree(library.work)
    assert leave(library)[0] == 1
    assert asks(library) == (False, False)


def test_an_interrupted_restore_of_ours_is_finished_first(library: Library) -> None:
    killed_halfway(library)
    assert asks(library) == (True, False)
    begun_elsewhere(library)
    assert asks(library) == (True, True)
    ended, heard = leave(library)
    assert ended == 1
    assert [type(event) for event in heard] == [RestoreRecovered, HistoryGrew]
    assert (library.work / "one.txt").read_text() == "one 1\n"
    assert asks(library) == (False, False)


def test_one_of_ours_that_cannot_be_finished_yet_is_not_given_up(library: Library) -> None:
    killed_halfway(library)
    library.work.rename(library.work.with_name("away"))
    log = library.log(library.one).read_bytes()
    with pytest.raises(RestoreUnfinished) as caught:
        leave(library)
    assert caught.value.reason == "interrupted"
    assert library.log(library.one).read_bytes() == log
    library.work.with_name("away").rename(library.work)
    with pytest.raises(NothingToEnd):
        leave(library)
    assert (library.work / "one.txt").read_text() == "one 1\n", "it was finished"


def test_where_nothing_waits_for_an_answer_nothing_is_written(library: Library) -> None:
    assert asks(library) == (False, False)
    log = library.log(library.one).read_bytes()
    with pytest.raises(NothingToEnd):
        leave(library)
    assert library.log(library.one).read_bytes() == log


def test_to_a_damaged_log_no_answer_is_added(library: Library) -> None:
    begun_elsewhere(library)
    log = library.log(library.one)
    log.write_bytes(b'{"type":"broken\n' + log.read_bytes())
    before = log.read_bytes()
    with pytest.raises(LogDamaged):
        leave(library)
    assert log.read_bytes() == before
