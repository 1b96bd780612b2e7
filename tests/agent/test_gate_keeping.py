"""The gate and what goes: deletions, moves, commands, and what an agent does without asking."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.agent.gate_stage import Stage, ask, edit, run, tool
from vibekit_desktop.core.agent.link import Denied
from vibekit_desktop.core.types.agents import Answer, Headless, Hold, Question, Why
from vibekit_desktop.core.types.errors import DiskFull


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


# -- deleting, moving, what has no name ------------------------------------------------------------------------------


def test_what_is_deleted_is_kept_also_a_folder_with_what_is_in_it(stage: Stage) -> None:
    stage.file("gone.txt")
    stage.file("folder/a")
    stage.file("folder/b/c")
    (stage.root / "empty").mkdir()
    stage.answers = [Answer.ALLOW_ONCE] * 3

    async def work() -> list[str | None]:
        names = ["gone.txt", "folder", "empty"]
        return [await stage.gate.ask(ask(tool(name, kind="delete", at=[name]))) for name in names]

    assert stage.run(work) == ["yes", "yes", "yes"]
    assert set(stage.sink.kept) == {"gone.txt", "folder/a", "folder/b/c"}
    assert {question.answers for question in stage.asked} == {(Answer.ALLOW_ONCE, Answer.DENY)}


def test_a_link_that_leads_outside_can_be_deleted_as_the_link_that_it_is(stage: Stage) -> None:
    (stage.root / "out").symlink_to("/etc")
    stage.answers = [Answer.ALLOW_ONCE]
    assert stage.run(lambda: stage.gate.ask(ask(tool(kind="delete", at=["out"])))) == "yes"
    assert stage.told == ["capture out"]


def test_both_ends_of_a_move_are_kept(stage: Stage) -> None:
    stage.file("old.txt")
    stage.file("tree/x")
    stage.answers = [Answer.ALLOW_ONCE] * 2

    async def work() -> list[str | None]:
        given = json.dumps({"old_path": "old.txt", "new_path": "new.txt"}).encode()
        return [
            await stage.gate.ask(ask(tool("1", kind="move", given=given))),
            await stage.gate.ask(ask(tool("2", kind="move", at=["tree", "wood"]))),
        ]

    assert stage.run(work) == ["yes", "yes"]
    assert stage.told == ["capture_move old.txt new.txt", "capture_move tree wood", "capture tree", "capture wood"]
    assert stage.given[0] == ("move old.txt to new.txt", "allowed")


@pytest.mark.parametrize("at", [[], ["."]])
def test_an_edit_that_names_no_file_is_looked_around_as_a_command_is(stage: Stage, at: list[str]) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> None:
        assert await stage.gate.ask(ask(tool(kind="edit", title="Patch", at=at))) == "yes"
        assert stage.told == ["begins c1"]
        stage.gate.saw(tool(status="completed"))
        await stage.until(lambda: stage.told == ["begins c1", "ends c1"])

    stage.run(work)
    assert stage.asked[0].why == (Why.NOT_ANNOUNCED,)
    assert stage.asked[0].answers == (Answer.ALLOW_ONCE, Answer.DENY)


# -- commands --------------------------------------------------------------------------------------------------------


def test_the_workspace_is_looked_at_before_a_command_gets_its_answer_and_after_it_ended(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE] * 2

    async def work() -> None:
        assert await stage.gate.ask(run("make", "1")) == "yes"
        assert stage.told == ["begins 1"]
        assert await stage.gate.ask(run("make it", "2")) == "yes"
        stage.gate.saw(tool("1", status="completed"))
        stage.gate.saw(tool("2", status="failed"))
        await stage.until(lambda: len(stage.told) == 4)

    stage.run(work)
    assert stage.told == ["begins 1", "begins 2", "ends 1", "ends 2"]


def test_a_command_that_never_ends_is_ended_with_its_turn(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]
    stage.run(lambda: stage.gate.ask(run("server &")))
    assert stage.told == ["begins c1", "ends c1"]


def test_a_command_that_said_that_it_runs_and_then_asks_is_begun_by_its_answer(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> None:
        request = run("make")
        stage.gate.saw(tool(kind="execute", title="make", status="in_progress"))
        await stage.until(lambda: stage.told == ["begins c1"])
        assert await stage.gate.ask(request) == "yes"

    stage.run(work)
    assert stage.told == ["begins c1", "ends c1", "begins c1", "ends c1"]


def test_a_denied_command_is_not_looked_around(stage: Stage) -> None:
    stage.answers = [Answer.DENY]
    assert stage.run(lambda: stage.gate.ask(run("make"))) == "no"
    assert stage.told == []


def test_a_command_waits_where_the_workspace_cannot_be_looked_at(stage: Stage) -> None:
    stage.sink.fail["begins"] = [DiskFull("log", "no room")]
    stage.answers = [Answer.ALLOW_ONCE, Answer.RETRY]
    assert stage.run(lambda: stage.gate.ask(run("make"))) == "yes"
    assert stage.asked[1].hold is Hold.DISK_FULL
    assert stage.told == ["begins c1", "begins c1", "ends c1"]


def test_a_command_outside_is_asked_about_as_such(stage: Stage) -> None:
    stage.answers = [Answer.DENY]
    stage.run(lambda: stage.gate.ask(run("ls", cwd=str(stage.home))))
    assert stage.asked[0].why == (Why.OUTSIDE,)
    assert stage.asked[0].folder == str(stage.home)
    assert stage.asked[0].answers == (Answer.ALLOW_ONCE, Answer.DENY)


# -- what nobody asked about -----------------------------------------------------------------------------------------


def test_what_nobody_asked_about_is_kept_in_order_as_soon_as_it_is_heard_of(stage: Stage) -> None:
    for name in ("a", "b", "c"):
        stage.file(name)

    async def work() -> None:
        stage.gate.saw(tool("1", kind="edit", status="pending", at=["a"]))
        stage.gate.saw(tool("2", kind="delete", status="in_progress", at=["b"]))
        stage.gate.saw(tool("3", kind="move", status="in_progress", at=["c", "d"]))
        stage.gate.saw(tool("3", status="in_progress"))
        stage.gate.saw(tool("4", kind="execute", title="make", status="in_progress"))
        stage.gate.saw(tool("4", status="completed"))
        stage.gate.saw(tool("5", kind="edit", status="completed", at=["a"]))
        stage.gate.saw(tool("6", kind="edit", status="in_progress", at=["/etc/passwd"]))
        stage.gate.saw(tool("7", kind="read", status="in_progress", at=["a"]))

    stage.run(work)
    assert stage.told == ["capture a", "capture b", "capture_move c d", "begins 4", "ends 4"]


def test_a_capture_that_fails_unasked_harms_nobody(stage: Stage) -> None:
    stage.file("a")
    stage.file("b")
    stage.sink.fail["capture"] = [DiskFull("a", "no room")]

    async def work() -> None:
        stage.gate.saw(tool("1", kind="edit", status="pending", at=["a"]))
        stage.gate.saw(tool("2", kind="edit", status="pending", at=["b"]))

    stage.run(work)
    assert set(stage.sink.kept) == {"b"}
    assert stage.given == []


def test_what_was_kept_when_it_was_announced_is_not_kept_twice(stage: Stage) -> None:
    target = stage.file("a.txt")
    stage.headless = Headless.ALL

    async def work() -> None:
        stage.gate.saw(tool(kind="edit", status="pending", at=["a.txt"]))
        await stage.until(lambda: "a.txt" in stage.sink.kept)
        assert await stage.gate.ask(edit("a.txt")) == "yes"
        assert stage.told == ["capture a.txt"]
        target.write_text("mine\n")
        assert await stage.gate.ask(edit("a.txt")) == "yes"

    stage.run(work)
    assert stage.sink.kept["a.txt"] == [b"old\n", b"mine\n"]


def test_what_waits_for_a_person_is_closed_first_and_kept_anew_when_it_is_allowed(stage: Stage) -> None:
    stage.file("a.txt")

    def look(question: Question) -> Answer:
        assert stage.sink.waiting == [("a.txt",)]
        return Answer.ALLOW_ONCE

    stage.answers = [look]

    async def work() -> None:
        stage.gate.saw(tool(kind="edit", status="pending", at=["a.txt"]))
        await stage.until(lambda: "a.txt" in stage.sink.kept)
        assert await stage.gate.ask(edit("a.txt")) == "yes"

    stage.run(work)
    assert stage.told == ["capture a.txt"] * 2


def test_outside_of_a_turn_nothing_is_allowed(stage: Stage) -> None:
    async def work() -> list[str]:
        gate = stage.gate
        gate.saw(tool(kind="edit", status="pending", at=["a"]))
        codes = []
        for request in (gate.ask(edit("a")), gate.read("a", None, None), gate.write("a", "x")):
            with pytest.raises(Denied) as denied:
                await request
            codes.append(denied.value.code)
        with pytest.raises(Denied):
            await gate.create_terminal("ls", [], None, [], None)
        assert await gate.settle() == ()
        return codes

    assert asyncio.run(work()) == ["no-turn"] * 3
    assert stage.told == []


def test_an_agent_that_asks_without_end_is_denied(stage: Stage) -> None:
    async def work() -> list[str | None]:
        asks = [asyncio.ensure_future(stage.gate.ask(run(f"ls {number}", str(number)))) for number in range(150)]
        await stage.until(lambda: sum(one.done() for one in asks) == 50)
        stage.gate.cancel()
        return [await one for one in asks]

    answers = stage.run(work)
    assert (answers.count("no"), answers.count(None)) == (50, 100)
