"""From what an agent says in a turn to the message that is stored: blocks in order, calls merged, bounded, always storable."""

import msgspec
import pytest

from tests.conftest import Clock
from vibekit_desktop.core.agent import answer as limits
from vibekit_desktop.core.agent.answer import DENIED, STOPPED, AnswerBuilder
from vibekit_desktop.core.agent.link import PlanChanged, TextArrived, ThoughtArrived, ToolChanged
from vibekit_desktop.core.types.agents import PlanStep
from vibekit_desktop.core.types.chats import DiffFragment, Location

WORK = "/w/space"


@pytest.fixture
def builder(clock: Clock) -> AnswerBuilder:
    return AnswerBuilder("a", turn=3, workspace=WORK, clock=clock)


def shape(builder: AnswerBuilder) -> list[str]:
    """The blocks in short."""
    return [f"{one.type}:{one.text or one.thinking or one.tool_call_id}" for one in builder.message().blocks]


def test_pieces_that_follow_each_other_are_one_block_and_a_call_stands_between(builder: AnswerBuilder) -> None:
    for event in (
        ThoughtArrived("hm"),
        ThoughtArrived("m"),
        TextArrived("I re"),
        TextArrived("ad"),
        ToolChanged(id="t1", title="Read a", kind="read", status="completed"),
        TextArrived("then"),
    ):
        assert builder.add(event)
    assert shape(builder) == ["thinking:hmm", "text:I read", "tool_use:t1", "text:then"]
    whole = builder.message(whole=True)
    assert (whole.content, whole.reasoning) == ("I read\n\nthen", "hmm")
    assert builder.message().content == ""


def test_another_message_of_the_agent_is_another_block(builder: AnswerBuilder) -> None:
    for event in (
        TextArrived("A plan ", "m1"),
        TextArrived("first.", "m1"),
        PlanChanged((PlanStep("look", "pending"),)),
        TextArrived("I look.", "m2"),
        TextArrived(" Now."),
    ):
        builder.add(event)
    assert shape(builder) == ["text:A plan first.", "text:I look. Now."]
    assert builder.message(whole=True).content == "A plan first.\n\nI look. Now."


def test_a_plan_alone_is_an_answer(builder: AnswerBuilder) -> None:
    assert not builder.says_something
    builder.add(PlanChanged((PlanStep("look", "pending"),)))
    assert builder.says_something
    assert builder.ended(took_ms=1).plan == [{"content": "look", "priority": "medium", "status": "pending"}]


def test_how_long_it_thought_is_kept(builder: AnswerBuilder, clock: Clock) -> None:
    builder.add(ThoughtArrived("hm"))
    clock.advance(6000)
    assert builder.message().blocks[0].duration_ms == 0
    builder.add(TextArrived("so"))
    clock.advance(1000)
    builder.add(ThoughtArrived("and"))
    clock.advance(2000)
    assert [block.duration_ms for block in builder.ended(took_ms=0).blocks] == [6000, 0, 2000]


def test_a_call_keeps_what_was_said_of_it_before(builder: AnswerBuilder, clock: Clock) -> None:
    builder.add(ToolChanged(id="t", title="Edit", kind="edit", status="pending", input=b'{"a": 1}'))
    builder.add(ToolChanged(id="t", diffs=(DiffFragment(path=f"{WORK}/src/a.py", new_text="x"),)))
    builder.add(ToolChanged(id="t", locations=(Location(path=f"{WORK}/src/a.py", line=4),), title=""))
    clock.advance(700)
    builder.add(ToolChanged(id="t", status="completed", diffs=(), output="ok"))
    (call,) = builder.message().tool_calls
    assert (call.title, call.kind, call.status, call.output) == ("Edit", "edit", "completed", "ok")
    assert call.diffs == (DiffFragment(path="src/a.py", new_text="x"),)
    assert call.locations == (Location(path=f"{WORK}/src/a.py", line=4),)
    assert bytes(call.input) == b'{"a": 1}'
    assert call.duration_ms == 700


def test_the_same_again_changes_nothing(builder: AnswerBuilder) -> None:
    said = ToolChanged(id="t", title="Edit", kind="edit", status="pending")
    assert builder.add(said)
    assert not builder.add(said)
    assert not builder.add(TextArrived(""))


def test_what_still_runs_at_the_end_was_stopped_unless_it_was_denied(builder: AnswerBuilder) -> None:
    builder.add(ToolChanged(id="runs", kind="execute", status="in_progress"))
    builder.add(ToolChanged(id="denied", kind="edit", status="pending"))
    builder.add(ToolChanged(id="done", kind="read", status="completed"))
    assert builder.mark("denied", DENIED)
    assert not builder.mark("nobody's", DENIED)
    ended = builder.ended(took_ms=5)
    assert [(call.id, call.status, call.outcome) for call in ended.tool_calls] == [
        ("runs", "failed", STOPPED),
        ("denied", "failed", DENIED),
        ("done", "completed", ""),
    ]
    assert (ended.turn, ended.turn_elapsed_ms) == (0, 5)


def test_a_plan_is_part_of_the_message(builder: AnswerBuilder) -> None:
    builder.add(PlanChanged((PlanStep("one", "completed"), PlanStep("two"))))
    assert builder.message().plan == [
        {"content": "one", "priority": "medium", "status": "completed"},
        {"content": "two", "priority": "medium", "status": "pending"},
    ]


def test_half_characters_never_reach_a_file(builder: AnswerBuilder) -> None:
    builder.add(TextArrived("a\ud800b"))
    builder.add(
        ToolChanged(id="t\udc00", title="\ud800", output="\ud801", diffs=(DiffFragment(path="\ud800", new_text="\ud800"),))
    )
    assert b"a\xef\xbf\xbdb" in msgspec.json.encode(builder.ended(took_ms=0))


def test_an_answer_without_end_is_kept_up_to_a_bound_and_says_so(builder: AnswerBuilder) -> None:
    piece = "x" * (limits.TEXT_CHARS // 4)
    for _ in range(6):
        builder.add(TextArrived(piece))
    text = builder.message().blocks[0].text
    assert len(text) < limits.TEXT_CHARS + 200
    assert text.endswith("too long to be kept.]")


def test_outputs_and_diffs_are_bounded_one_by_one_and_together(builder: AnswerBuilder) -> None:
    large = "y" * (3 * limits.OUTPUT_CHARS)
    for number in range(40):
        diff = DiffFragment(path="p", old_text=large, new_text=large)
        builder.add(ToolChanged(id=f"t{number}", output=f"begin{large}end", diffs=(diff,), input=b"1" * limits.INPUT_BYTES))
    calls = builder.message().tool_calls
    assert calls[0].output.startswith("begin")
    assert calls[0].output.endswith("end")
    assert "are not kept" in calls[0].output
    assert sum(len(call.output) for call in calls) < limits.OUTPUTS_CHARS + 40 * 100
    assert sum(len(one.new_text) + len(one.old_text) for call in calls for one in call.diffs) <= limits.DIFFS_CHARS
    assert sum(len(bytes(call.input)) for call in calls) <= limits.INPUTS_BYTES


def test_the_places_that_tools_name_are_bounded_together(builder: AnswerBuilder) -> None:
    places = tuple(Location(path=f"/{number}/" + "p" * 4000) for number in range(200))
    short = tuple(Location(path="p") for _ in range(200))
    diffs = tuple(DiffFragment(path="q" * 4000) for _ in range(200))
    for number in range(200):
        builder.add(ToolChanged(id=f"t{number}", locations=places if number % 2 else short, diffs=diffs))
        builder.add(ToolChanged(id=f"t{number}", locations=short))
    assert builder.message().tool_calls[0].locations == short
    assert len(msgspec.json.encode(builder.ended(took_ms=0))) < 2 * limits.PATHS_CHARS


def test_calls_without_a_name_and_too_many_of_them_are_nobodys(builder: AnswerBuilder) -> None:
    assert not builder.add(ToolChanged(id="", title="x"))
    for number in range(limits.MOST_CALLS + 5):
        builder.add(ToolChanged(id=str(number)))
    assert len(builder.message().tool_calls) == limits.MOST_CALLS


def test_what_a_command_takes_does_not_hold_the_time_it_waited_to_be_allowed(builder: AnswerBuilder, clock: Clock) -> None:
    builder.add(ToolChanged(id="t", kind="execute", status="pending"))
    clock.now_ms += 100
    builder.waiting(["t"])
    clock.now_ms += 60_000
    assert builder.waiting([])
    assert not builder.waiting([])
    clock.now_ms += 700
    builder.add(ToolChanged(id="t", status="completed"))
    assert builder.message().tool_calls[0].duration_ms == 800


def test_questions_of_one_call_that_overlap_are_one_wait_and_a_denied_call_took_no_time_of_it(
    builder: AnswerBuilder, clock: Clock
) -> None:
    builder.waiting(["t"])  # asked before the call was told
    clock.now_ms += 5_000
    builder.add(ToolChanged(id="t", kind="execute", status="pending"))
    clock.now_ms += 5_000
    builder.waiting(["t", "other"])
    clock.now_ms += 5_000
    builder.waiting(["other"])
    clock.now_ms += 20
    builder.waiting(["other", "t"])
    clock.now_ms += 5_000
    builder.add(ToolChanged(id="t", status="failed"))
    assert builder.message().tool_calls[0].duration_ms == 20


def test_how_a_command_ended_is_kept_and_what_a_terminal_of_ours_says_counts_last(builder: AnswerBuilder) -> None:
    builder.add(ToolChanged(id="t", kind="execute", status="completed", exit_code=0))
    assert builder.message().tool_calls[0].exit_code == 0
    assert builder.exited("t", 3)
    assert not builder.exited("t", 3)
    assert not builder.exited("other", 3)
    builder.add(ToolChanged(id="t", title="Ran"))
    assert builder.message().tool_calls[0].exit_code == 3


def test_a_terminals_output_goes_to_the_call_that_shows_it(builder: AnswerBuilder) -> None:
    builder.add(ToolChanged(id="t", kind="execute", status="in_progress", terminals=("term",), output=""))
    assert builder.output("t", "line\n")
    assert not builder.output("t", "line\n")
    assert not builder.output("other", "line\n")
    builder.add(ToolChanged(id="t", status="completed", terminals=("term",), output=""))
    assert builder.message().tool_calls[0].output == "line\n"
