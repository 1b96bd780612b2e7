"""The gate where agents ask: what goes is kept before the answer, and the answer is about what was shown."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.agent.gate_stage import OPTIONS, Stage, ask, edit, run, tool
from vibekit_desktop.core.agent.link import AskOption
from vibekit_desktop.core.types.agents import Answer, Headless, Hold, Operation, Question, RuleKind, Why
from vibekit_desktop.core.types.errors import CannotWrite, DiskFull, LogDamaged


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_twenty_of_twenty_edits_are_kept_before_their_answers_go_out(stage: Stage) -> None:
    for number in range(20):
        stage.file(f"f{number}.txt", f"old {number}\n")
    stage.answers = [Answer.ALLOW_ONCE] * 20

    async def work() -> None:
        for number in range(20):
            path = str(stage.root / f"f{number}.txt")
            assert await stage.gate.ask(edit(path, f"old {number}\n", "new\n", f"c{number}")) == "yes"
            # At this moment the agent has its answer and writes by itself.
            assert stage.sink.kept[f"f{number}.txt"] == [f"old {number}\n".encode()]
            Path(path).write_text("new\n")

    stage.run(work)
    assert [question.subject for question in stage.asked] == [f"f{number}.txt" for number in range(20)]
    assert stage.given == [(f"edit f{number}.txt", "allowed") for number in range(20)]


def test_twenty_edits_asked_for_at_once_are_all_kept_before_their_answers(stage: Stage) -> None:
    for number in range(20):
        stage.file(f"f{number}.txt")
    stage.answers = [Answer.ALLOW_ONCE] * 20

    async def one(number: int) -> None:
        assert await stage.gate.ask(edit(f"f{number}.txt", call=f"c{number}")) == "yes"
        assert stage.sink.kept[f"f{number}.txt"] == [b"old\n"]

    async def work() -> None:
        await asyncio.gather(*(one(number) for number in range(20)))

    stage.run(work)


def test_a_question_says_what_it_is_about_and_offers_what_makes_sense(stage: Stage) -> None:
    stage.file("src/a.py")
    stage.answers = [Answer.DENY]
    assert stage.run(lambda: stage.gate.ask(edit(str(stage.root / "src/a.py")))) == "no"
    (question,) = stage.asked
    assert (question.operation, question.subject, question.folder) == (Operation.EDIT, "src/a.py", "src")
    assert question.answers == (Answer.ALLOW_ONCE, Answer.ALLOW_FOLDER, Answer.ALLOW_EDITS, Answer.DENY)
    assert (question.why, question.hold, question.tool_call_id) == ((), Hold.NONE, "c1")
    assert stage.told == []
    assert stage.given == [("edit src/a.py", "denied")]


def test_a_file_that_is_not_there_is_created(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]
    assert stage.run(lambda: stage.gate.ask(edit("new.py", "", "x\n"))) == "yes"
    assert stage.asked[0].operation is Operation.CREATE
    assert stage.sink.kept == {"new.py": [None]}


def test_an_agent_that_sends_nothing_with_its_request_is_looked_up_by_the_call(stage: Stage) -> None:
    stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> str | None:
        stage.gate.saw(tool(kind="edit", title="Write", status="pending", diff=("a.txt", "ol", "ne")))
        return await stage.gate.ask(ask(tool()))

    assert stage.run(work) == "yes"
    assert stage.asked[0].subject == "a.txt"
    assert stage.sink.kept["a.txt"] == [b"old\n"]


def test_every_path_that_was_ever_named_is_kept(stage: Stage) -> None:
    for name in ("a", "b", "c", "d"):
        stage.file(name)
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> str | None:
        stage.gate.saw(tool(kind="edit", status="pending", at=[str(stage.root / "a")]))
        stage.gate.saw(tool(diff=("b", "x", "y")))
        return await stage.gate.ask(ask(tool(given=json.dumps({"changes": {"c": {}}, "filePath": "./d"}).encode())))

    assert stage.run(work) == "yes"
    assert set(stage.sink.kept) == {"a", "b", "c", "d"}
    assert stage.asked[0].paths == ("a", "b", "c", "d")


def test_a_file_that_changed_while_the_question_was_open_is_asked_about_again(stage: Stage) -> None:
    target = stage.file("a.txt", "old\n")

    def change(question: Question) -> Answer:
        target.write_text("mine\n")
        return Answer.ALLOW_ONCE

    stage.answers = [change, Answer.ALLOW_ONCE]
    assert stage.run(lambda: stage.gate.ask(edit("a.txt"))) == "yes"
    assert [question.why for question in stage.asked] == [(), (Why.CHANGED,)]
    assert stage.asked[1].answers == (Answer.ALLOW_ONCE, Answer.DENY)
    assert stage.sink.kept["a.txt"] == [b"mine\n"]
    assert ("meet", "a.txt") in stage.sink.events, "the agent waited, so somebody else wrote it"


def test_a_file_that_changes_between_the_look_and_the_capture_is_asked_about_again(stage: Stage) -> None:
    target = stage.file("a.txt", "old\n")
    changes = iter([lambda: target.write_text("mine\n")])
    stage.sink.meanwhile = lambda path: next(changes, lambda: 0)() and None
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]
    assert stage.run(lambda: stage.gate.ask(edit("a.txt"))) == "no"
    assert stage.asked[1].why == (Why.CHANGED,)
    assert stage.given == [("edit a.txt", "denied")]


def test_a_path_that_became_a_link_while_the_question_was_open_is_refused(stage: Stage) -> None:
    target = stage.file("a.txt", "old\n")

    def change(question: Question) -> Answer:
        target.unlink()
        target.symlink_to(stage.home / "elsewhere")
        return Answer.ALLOW_ONCE

    stage.answers = [change]
    assert stage.run(lambda: stage.gate.ask(edit("a.txt"))) == "no"
    assert stage.told == []
    assert stage.given == [("edit a.txt: a link leads elsewhere", "refused")]


def test_a_link_inside_is_kept_as_the_file_behind_it(stage: Stage) -> None:
    stage.file("deep/real.txt")
    (stage.root / "link.txt").symlink_to("deep/real.txt")
    stage.answers = [Answer.ALLOW_ONCE]
    assert stage.run(lambda: stage.gate.ask(edit("link.txt"))) == "yes"
    assert stage.asked[0].paths == ("link.txt", "deep/real.txt")
    assert stage.sink.kept == {"deep/real.txt": [b"old\n"]}


def test_a_link_to_a_file_that_runs_later_is_asked_about_as_that_file(stage: Stage) -> None:
    stage.file("Makefile")
    (stage.root / "notes.txt").symlink_to("Makefile")
    stage.answers = [Answer.DENY]
    stage.run(lambda: stage.gate.ask(edit("notes.txt")))
    assert stage.asked[0].why == (Why.RUNS_LATER,)


# -- what is answered for good ---------------------------------------------------------------------------------------


def test_an_answer_for_good_makes_a_rule_that_answers_from_then_on_by_allow_once(stage: Stage) -> None:
    stage.file("src/a.py")
    stage.file("src/b.py")
    stage.file("top.py")
    stage.answers = [Answer.ALLOW_FOLDER, Answer.DENY]

    async def work() -> list[str | None]:
        paths = ["src/a.py", "src/b.py", "top.py"]
        return [await stage.gate.ask(edit(path, call=path)) for path in paths]

    assert stage.run(work) == ["yes", "yes", "no"]
    assert [(rule.kind, rule.subject) for rule in stage.rules] == [(RuleKind.FOLDER, "src")]
    assert [question.subject for question in stage.asked] == ["src/a.py", "top.py"]
    assert set(stage.sink.kept) == {"src/a.py", "src/b.py"}


def test_a_rule_answers_the_questions_that_are_open_already(stage: Stage) -> None:
    stage.file("a.py")
    stage.file("b.py")
    stage.answers = [lambda question: None, Answer.ALLOW_EDITS]

    async def work() -> list[str | None]:
        return list(await asyncio.gather(stage.gate.ask(edit("a.py", call="1")), stage.gate.ask(edit("b.py", call="2"))))

    assert stage.run(work) == ["yes", "yes"]
    assert len(stage.asked) == 2


def test_no_rule_answers_for_a_file_that_changed_meanwhile(stage: Stage) -> None:
    target = stage.file("a.py")
    stage.answers = [Answer.ALLOW_EDITS, Answer.DENY]

    async def work() -> list[str | None]:
        first = await stage.gate.ask(edit("a.py", call="1"))
        changes = iter([lambda: target.write_text("mine\n")])
        stage.sink.meanwhile = lambda path: next(changes, lambda: 0)() and None
        return [first, await stage.gate.ask(edit("a.py", call="2"))]

    assert stage.run(work) == ["yes", "no"]
    assert stage.asked[1].why == (Why.CHANGED,)
    assert ("meet", "a.py") not in stage.sink.events, "nobody was waited for: it may be the agent's own work"


def test_a_command_is_allowed_for_good_by_its_whole_text_and_folder(stage: Stage) -> None:
    (stage.root / "sub").mkdir()
    stage.answers = [Answer.ALLOW_COMMAND, Answer.DENY, Answer.DENY]

    async def work() -> list[str | None]:
        return [
            await stage.gate.ask(run("npm test", "1")),
            await stage.gate.ask(run("npm test", "2")),
            await stage.gate.ask(run("npm test; rm -rf .", "3")),
            await stage.gate.ask(run("npm test", "4", cwd="sub")),
        ]

    assert stage.run(work) == ["yes", "yes", "no", "no"]
    assert [question.folder for question in stage.asked] == ["", "", "sub"]
    assert Answer.ALLOW_COMMAND not in stage.asked[2].answers


def test_a_command_that_is_known_by_its_title_only_is_not_allowed_for_good(stage: Stage) -> None:
    stage.answers = [Answer.DENY]
    stage.run(lambda: stage.gate.ask(ask(tool(kind="execute", title="npm test ..."))))
    assert stage.asked[0].answers == (Answer.ALLOW_ONCE, Answer.DENY)


# -- which option ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "allowed", "denied"),
    [
        (OPTIONS, "yes", "no"),
        ((AskOption("a", "", "allow_always"), AskOption("n", "", "reject_always")), None, None),
        ((AskOption("a", "", "allow_always"), AskOption("n", "", "reject_once")), "n", "n"),
        ((AskOption("allow_session", "", "allow_once"), AskOption("n", "", "reject_once")), "n", "n"),
        ((AskOption("allow_session", "", "allow_once"), AskOption("once", "", "allow_once")), "once", None),
        ((), None, None),
    ],
)
def test_no_answer_ever_holds_longer_than_once(
    stage: Stage, options: tuple[AskOption, ...], allowed: str | None, denied: str | None
) -> None:
    stage.file("a.txt")
    stage.answers = [Answer.ALLOW_EDITS, Answer.DENY]

    async def work() -> tuple[str | None, str | None]:
        change = edit("a.txt").tool
        first = await stage.gate.ask(ask(change, options))
        stage.rules.clear()
        return first, await stage.gate.ask(ask(change, options))

    assert stage.run(work) == (allowed, denied)


def test_an_agent_that_takes_no_answer_for_once_is_told_no_and_that_is_said(stage: Stage) -> None:
    stage.file("a.txt")
    options = (AskOption("a", "", "allow_always"), AskOption("n", "", "reject_once"))
    assert stage.run(lambda: stage.gate.ask(ask(edit("a.txt").tool, options))) == "n"
    assert stage.asked == []
    assert stage.given == [("edit a.txt: the agent takes no answer for once only", "refused")]


# -- what can't be kept ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "hold"),
    [
        (DiskFull("a.txt", "no room"), Hold.DISK_FULL),
        (CannotWrite("a.txt", "no"), Hold.CANNOT_STORE),
        (LogDamaged("c", [3]), Hold.CANNOT_STORE),
    ],
)
def test_an_edit_waits_while_what_goes_cannot_be_kept(stage: Stage, error: Exception, hold: Hold) -> None:
    stage.file("a.txt")
    stage.sink.fail["capture"] = [error]
    stage.answers = [Answer.ALLOW_ONCE, Answer.RETRY]
    assert stage.run(lambda: stage.gate.ask(edit("a.txt"))) == "yes"
    assert [(question.hold, question.answers) for question in stage.asked[1:]] == [
        (hold, (Answer.RETRY, Answer.UNPROTECTED, Answer.DENY))
    ]
    assert stage.sink.kept["a.txt"] == [b"old\n"]


def test_a_file_too_large_to_be_kept_waits_for_consent(stage: Stage) -> None:
    stage.file("big.bin")
    stage.file("small.txt")
    stage.sink.too_large.add("big.bin")
    stage.answers = [Answer.ALLOW_ONCE, Answer.UNPROTECTED, Answer.ALLOW_ONCE, Answer.DENY]

    async def work() -> list[str | None]:
        both = tool("1", kind="edit", at=["big.bin", "small.txt"])
        return [await stage.gate.ask(ask(both)), await stage.gate.ask(edit("big.bin", call="2"))]

    assert stage.run(work) == ["yes", "no"]
    assert stage.asked[1].hold is Hold.TOO_LARGE
    assert stage.sink.kept == {"small.txt": [b"old\n"] * 2}, "once more when it is let through: time has passed"
    assert stage.given == [("edit big.bin and 1 more (can't be undone)", "allowed"), ("edit big.bin", "denied")]


def test_without_a_person_nothing_is_let_through_that_cannot_be_kept(stage: Stage) -> None:
    stage.file("big.bin")
    stage.sink.too_large.add("big.bin")
    stage.headless = Headless.ALL
    assert stage.run(lambda: stage.gate.ask(edit("big.bin"))) == "no"
    assert stage.asked == []


# -- without a person ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allow", "answers"),
    [
        (Headless.READS, ["yes", "no", "no", "no", "no", "no"]),
        (Headless.ALL, ["yes", "yes", "yes", "yes", "yes", "yes"]),
        (Headless.NONE, ["no", "no", "no", "no", "no", "no"]),
    ],
)
def test_the_answer_given_beforehand_answers(stage: Stage, allow: Headless, answers: list[str]) -> None:
    stage.file("a.txt")
    stage.file("Makefile")
    stage.headless = allow

    async def work() -> list[str | None]:
        asks = [
            ask(tool("1", kind="read", at=["a.txt"])),
            edit("a.txt", call="2"),
            edit("Makefile", call="3"),
            run("ls", "4"),
            ask(tool("5", kind="fetch", title="get")),
            ask(tool("6", kind="read", at=["/etc/hostname"])),
        ]
        return [await stage.gate.ask(one) for one in asks]

    assert stage.run(work) == answers
    assert stage.asked == []
