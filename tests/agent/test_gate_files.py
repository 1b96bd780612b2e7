"""What an agent reads and writes through us: a write is what was allowed, or is asked about by itself."""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path

import pytest

from tests.agent.gate_stage import Stage, ask, edit, tool
from vibekit_desktop.core.agent import gate_files
from vibekit_desktop.core.agent.grants import replaces
from vibekit_desktop.core.agent.link import Denied
from vibekit_desktop.core.types.agents import Answer, Headless, Hold, Operation, Question, Why
from vibekit_desktop.core.types.errors import CannotWrite, DiskFull


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def code_of(request: Coroutine[object, object, object]) -> str:
    """The code that a request is denied with; empty if it is done."""
    try:
        await request
    except Denied as denied:
        return denied.code
    return ""


def test_a_write_that_is_what_was_allowed_is_not_asked_about_again(stage: Stage) -> None:
    target = stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> None:
        assert await stage.gate.ask(edit(str(target))) == "yes"
        await stage.gate.write(str(target), "new\n")

    stage.run(work)
    assert target.read_text() == "new\n"
    assert stage.told == ["capture a.txt", "write a.txt"]
    assert stage.given == [("edit a.txt", "allowed")]


def test_twenty_of_twenty_client_writes_are_kept_before_they_land(stage: Stage) -> None:
    for number in range(20):
        stage.file(f"f{number}", f"old {number}\n")
    stage.answers = [Answer.ALLOW_ONCE] * 20

    async def work() -> None:
        for number in range(20):
            await stage.gate.ask(edit(f"f{number}", f"old {number}\n", "new\n", str(number)))
            await stage.gate.write(f"f{number}", "new\n")
            assert stage.sink.kept[f"f{number}"] == [f"old {number}\n".encode()] * 2

    stage.run(work)


@pytest.mark.parametrize(
    ("old", "new", "written", "why"),
    [
        ("old\n", "new\n", "new\n", None),
        ("old", "new", "new\n", None),  # an agent that loses the last newline on both sides
        ("old\n", "new\n", "new", Why.OTHER_CONTENT),
        ("old\n", "new\n", "new\n\n", Why.OTHER_CONTENT),
        ("old\n", "new\n", "evil\n", Why.OTHER_CONTENT),
        ("old\n", "new\n", "old\n", None),  # that is there already
        ("ol", "ne", "ned\n", None),  # a fragment says what becomes of the rest: it stays
        ("ol", "ne", "anything at all", Why.OTHER_CONTENT),
        ("not there", "ne", "ne", None),
        ("not there", "ne", "old\nne", Why.OTHER_CONTENT),
        ("", "new\n", "new\n", None),  # nothing is said of what is there
        ("", "new\n", "other\n", Why.OTHER_CONTENT),
    ],
)
def test_a_write_is_held_against_the_text_that_was_shown(
    stage: Stage, old: str, new: str, written: str, why: Why | None
) -> None:
    target = stage.file("a.txt", "old\n")
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]

    async def work() -> str:
        await stage.gate.ask(edit("a.txt", old, new))
        return await code_of(stage.gate.write("a.txt", written))

    assert stage.run(work) == ("" if why is None else "denied")
    assert [question.why for question in stage.asked[1:]] == ([] if why is None else [(why,)])
    assert target.read_text() == (written if why is None else "old\n")


@pytest.mark.parametrize(
    ("there", "fragments", "text", "fits"),
    [
        ("a b a", [("a", "c")], "c b c", True),  # everywhere
        ("a b a", [("a", "c")], "a b c", True),  # in one place, also the second
        ("a b a", [("a", "c")], "c b d", False),
        ("a b", [("a", "c"), ("b", "d")], "c d", True),
        ("a b", [("a", "c"), ("c b", "d")], "d", True),  # the second is about what the first made
        ("a b", [("a", "c"), ("b", "d")], "c b", False),  # half of it
        ("a\r\n", [("a", "b")], "b\n", False),
        ("x" * 5000, [("x", "y"), ("x", "z")], "y" * 5000, False),  # too many ways to look at
        ("x" * 5000, [("x", "y")], "y" + "x" * 4999, True),
    ],
)
def test_a_fragment_says_what_becomes_of_the_file(there: str, fragments: list[tuple[str, str]], text: str, fits: bool) -> None:
    assert replaces(there, fragments, text) is fits


def test_what_will_really_be_written_is_shown_when_it_is_not_what_was_allowed(stage: Stage) -> None:
    stage.file("a.txt", "old\n")
    stage.answers = [Answer.ALLOW_ONCE, Answer.ALLOW_ONCE]

    async def work() -> None:
        await stage.gate.ask(edit("a.txt", "old\n", "nice\n"))
        await stage.gate.write("a.txt", "other\n")

    stage.run(work)
    second = stage.asked[1]
    assert [(diff.path, diff.old_text, diff.new_text) for diff in second.diffs] == [("a.txt", "old\n", "other\n")]
    assert second.tool_call_id == "c1"
    assert second.answers == (Answer.ALLOW_ONCE, Answer.DENY)


def test_a_grant_is_used_once(stage: Stage) -> None:
    target = stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]

    async def work() -> list[str]:
        await stage.gate.ask(edit("a.txt"))
        return [await code_of(stage.gate.write("a.txt", text)) for text in ("new\n", "newer\n")]

    assert stage.run(work) == ["", "denied"]
    assert stage.asked[1].why == (Why.NOT_ANNOUNCED,)
    assert target.read_text() == "new\n"


def test_a_grant_ends_with_its_turn(stage: Stage) -> None:
    stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]
    stage.run(lambda: stage.gate.ask(edit("a.txt")))
    assert stage.run(lambda: code_of(stage.gate.write("a.txt", "new\n"))) == "denied"


def test_a_write_over_a_file_that_changed_since_it_was_allowed_is_asked_about_again(stage: Stage) -> None:
    target = stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]

    async def work() -> str:
        await stage.gate.ask(edit("a.txt"))
        target.write_text("mine\n")
        return await code_of(stage.gate.write("a.txt", "new\n"))

    assert stage.run(work) == "denied"
    assert stage.asked[1].why == (Why.CHANGED,)
    assert target.read_text() == "mine\n"


def test_a_file_that_changes_in_the_very_step_of_writing_is_asked_about_again(stage: Stage) -> None:
    target = stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE, Answer.ALLOW_ONCE]
    changes = iter(["", "mine\n"])

    def change(path: str) -> None:
        text = next(changes, "")
        if text:
            target.write_text(text)

    async def work() -> None:
        await stage.gate.ask(edit("a.txt"))
        stage.sink.meanwhile = change
        next(changes)
        await stage.gate.write("a.txt", "new\n")

    stage.run(work)
    assert stage.asked[1].why == (Why.CHANGED,)
    assert stage.sink.kept["a.txt"] == [b"old\n", b"mine\n"]
    assert target.read_text() == "new\n"


def test_what_an_agent_wrote_by_itself_as_well_is_not_asked_about_again(stage: Stage) -> None:
    """One agent writes each file by itself and through us at the same time."""
    target = stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> None:
        await stage.gate.ask(edit("a.txt", call="1"))
        target.write_text("new\n")
        await stage.gate.write("a.txt", "new\n")
        target.write_text("old\n")
        stage.answers = [Answer.ALLOW_ONCE]
        await stage.gate.ask(edit("a.txt", call="2"))
        stage.sink.meanwhile = lambda path: target.write_text("new\n") and None
        await stage.gate.write("a.txt", "new\n")

    stage.run(work)
    assert len(stage.asked) == 2
    assert stage.told == ["capture a.txt", "capture a.txt", "write a.txt"]
    assert target.read_text() == "new\n"


def test_a_write_that_nobody_announced_is_asked_about(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> None:
        stage.gate.saw(tool("c9", kind="edit", status="completed", at=["other"]))
        stage.gate.saw(tool("c8", kind="think", status="in_progress", given=b'{"path": "deep/new.txt"}'))
        await stage.gate.write("deep/new.txt", "x\n")

    stage.run(work)
    (question,) = stage.asked
    assert (question.operation, question.why, question.tool_call_id) == (Operation.CREATE, (Why.NOT_ANNOUNCED,), "c8")
    assert (stage.root / "deep/new.txt").read_text() == "x\n"


def test_who_allowed_edits_for_good_meant_those_of_an_agent_that_never_asks(stage: Stage) -> None:
    stage.answers = [Answer.ALLOW_EDITS]

    async def work() -> None:
        await stage.gate.write("a", "1")
        await stage.gate.write("b", "2")

    stage.run(work)
    assert len(stage.asked) == 1
    assert stage.given == [("create a", "allowed"), ("create b", "allowed")]


def test_no_rule_covers_other_content_than_what_was_shown(stage: Stage) -> None:
    stage.file("a.txt")
    stage.answers = [Answer.ALLOW_EDITS, Answer.DENY]

    async def work() -> str:
        await stage.gate.ask(edit("a.txt"))
        return await code_of(stage.gate.write("a.txt", "evil\n"))

    assert stage.run(work) == "denied"
    assert stage.asked[1].why == (Why.OTHER_CONTENT,)


def test_a_write_waits_while_what_goes_cannot_be_kept(stage: Stage) -> None:
    target = stage.file("a.txt")
    stage.sink.too_large.add("a.txt")
    stage.answers = [Answer.ALLOW_ONCE, Answer.RETRY, Answer.UNPROTECTED]
    assert stage.run(lambda: code_of(stage.gate.write("a.txt", "new\n"))) == ""
    assert [question.hold for question in stage.asked] == [Hold.NONE, Hold.TOO_LARGE, Hold.TOO_LARGE]
    assert stage.told == ["write a.txt", "write a.txt", "write unprotected a.txt"]
    assert target.read_text() == "new\n"
    assert stage.given[-1] == ("edit a.txt (can't be undone)", "allowed")


def test_a_held_write_that_is_denied_is_not_done(stage: Stage) -> None:
    target = stage.file("a.txt")
    stage.sink.fail["write"] = [DiskFull("a.txt", "no room")]
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]
    assert stage.run(lambda: code_of(stage.gate.write("a.txt", "new\n"))) == "denied"
    assert stage.asked[1].hold is Hold.DISK_FULL
    assert target.read_text() == "old\n"


def test_a_write_that_the_disk_refuses_even_unprotected_fails(stage: Stage) -> None:
    stage.file("a.txt")
    stage.sink.fail["write"] = [CannotWrite("/store/blob", "no")]
    stage.sink.fail["write unprotected"] = [CannotWrite("a.txt", "no")]
    stage.answers = [Answer.ALLOW_ONCE, Answer.UNPROTECTED]
    assert stage.run(lambda: code_of(stage.gate.write("a.txt", "new\n"))) == "not-written"
    assert stage.asked[1].hold is Hold.CANNOT_STORE
    assert stage.told[-1] == "not done a.txt"


def test_a_write_through_a_link_is_refused_and_link_and_target_stay(stage: Stage) -> None:
    real = stage.file("real.txt")
    (stage.root / "link.txt").symlink_to("real.txt")
    stage.headless = Headless.ALL
    assert stage.run(lambda: code_of(stage.gate.write("link.txt", "new\n"))) == "refused"
    assert real.read_text() == "old\n"
    assert (stage.root / "link.txt").is_symlink()
    assert stage.given[-1] == ("edit link.txt: a link leads elsewhere", "refused")


def test_half_characters_are_no_text(stage: Stage) -> None:
    stage.headless = Headless.ALL
    assert stage.run(lambda: code_of(stage.gate.write("a.txt", "\ud800"))) == "not-text"


def test_a_stopped_turn_writes_nothing_any_more(stage: Stage) -> None:
    target = stage.file("a.txt")

    async def work() -> list[str]:
        waiting = asyncio.ensure_future(code_of(stage.gate.write("a.txt", "new\n")))
        await stage.until(lambda: bool(stage.asked))
        stage.gate.cancel()
        assert not stage.questions.answer(stage.asked[0].id, Answer.ALLOW_ONCE)
        return [
            await waiting,
            await code_of(stage.gate.write("a.txt", "new\n")),
            await code_of(stage.gate.read("a.txt", None, None)),
        ]

    assert stage.run(work) == ["stopped"] * 3
    assert target.read_text() == "old\n"
    assert stage.told == []


# -- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "limit", "text"),
    [
        (None, None, "one\ntwo\nthree"),
        (1, 1, "one\n"),
        (2, None, "two\nthree"),
        (3, 5, "three"),
        (4, None, ""),
        (None, 2, "one\ntwo\n"),
        (0, 1, "one\n"),
        (-5, 1, "one\n"),
        (2, 0, ""),
        (2, -1, ""),
    ],
)
def test_a_window_of_lines_is_read(stage: Stage, line: int | None, limit: int | None, text: str) -> None:
    stage.file("a.txt", "one\ntwo\nthree")
    assert stage.run(lambda: stage.gate.read(str(stage.root / "a.txt"), line, limit)) == text
    assert stage.asked == []


def test_bytes_that_are_no_text_are_replaced(stage: Stage) -> None:
    stage.file("a.txt").write_bytes(b"\xffa\r\nb\x0bc\n")
    assert stage.run(lambda: stage.gate.read("a.txt", 1, 2)) == "\ufffda\r\nb\x0bc\n"


def test_a_file_that_is_missing_large_or_none_is_not_read(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_files, "READ_BYTES", 10)
    stage.file("large", "x" * 11)
    (stage.root / "folder").mkdir()
    os.mkfifo(stage.root / "pipe")

    async def work() -> list[str]:
        names = ["gone", "gone/too", "large", "folder", "pipe", "/tmp/surely/not/there"]
        stage.answers = [Answer.ALLOW_ONCE]
        return [await code_of(stage.gate.read(name, None, None)) for name in names]

    assert stage.run(work) == ["not-found", "not-found", "too-large", "refused", "refused", "not-found"]


def test_what_is_outside_is_asked_about_once_and_read_piece_by_piece(stage: Stage, tmp_path: Path) -> None:
    outside = tmp_path / "notes.txt"
    outside.write_text("one\ntwo\n")
    stage.answers = [Answer.ALLOW_ONCE, Answer.DENY]

    async def work() -> list[str]:
        texts = [await stage.gate.read(str(outside), 1, 1), await stage.gate.read("../notes.txt", 2, 1)]
        return [*texts, await code_of(stage.gate.read(str(tmp_path / "other.txt"), None, None))]

    assert stage.run(work) == ["one\n", "two\n", "denied"]
    assert stage.asked[0].why == (Why.OUTSIDE, Why.NOT_ANNOUNCED)
    assert stage.asked[0].subject == str(outside)


def test_a_read_outside_that_was_allowed_by_request_is_not_asked_about_again(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("text")
    stage.answers = [Answer.ALLOW_ONCE]

    async def work() -> str:
        await stage.gate.ask(ask(tool(kind="read", at=[str(tmp_path / "notes.txt")])))
        return await stage.gate.read(str(tmp_path / "notes.txt"), None, None)

    assert stage.run(work) == "text"


def test_a_link_inside_that_leads_outside_is_read_as_what_is_outside(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("text")
    (stage.root / "in.txt").symlink_to(tmp_path / "notes.txt")
    stage.answers = [Answer.ALLOW_ONCE]
    assert stage.run(lambda: stage.gate.read("in.txt", None, None)) == "text"
    assert stage.asked[0].why == (Why.OUTSIDE, Why.NOT_ANNOUNCED)


def test_who_allows_nothing_beforehand_allows_no_reading_either(stage: Stage) -> None:
    stage.file("a.txt")
    stage.headless = Headless.NONE
    assert stage.run(lambda: code_of(stage.gate.read("a.txt", None, None))) == "denied"
    stage.headless = Headless.READS
    assert stage.run(lambda: stage.gate.read("a.txt", None, None)) == "old\n"


def test_the_workspace_is_found_by_another_name_of_it(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(stage.root)
    stage.file("a.txt")
    stage.answers = [Answer.ALLOW_ONCE]

    def unasked(question: Question) -> Answer:
        raise AssertionError(question)

    async def work() -> None:
        await stage.gate.write(str(tmp_path / "alias" / "a.txt"), "new\n")
        stage.answers = [unasked]
        assert await stage.gate.read(str(tmp_path / "alias" / "a.txt"), None, None) == "new\n"

    stage.run(work)
    assert stage.asked[0].subject == "a.txt"
