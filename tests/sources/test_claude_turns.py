"""What is a turn and what is not, and which messages a conversation has."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from tests.helpers.claude_sessions import SessionBuilder
from tests.sources.conftest import Importer
from vibekit_desktop.core.sources.claude_turns import Conversation, Entry, Segment, converse
from vibekit_desktop.core.types.chats import Message


def _shape(messages: tuple[Message, ...]) -> list[tuple[str, str, int]]:
    return [(message.role, message.event_kind or message.content.split("\n")[0], message.turn) for message in messages]


def test_only_real_prompts_are_turns(importer: Importer, session: SessionBuilder) -> None:
    session.record("user", message={"role": "user", "content": "Caveat: hidden"}, isMeta=True)
    session.record("user", message={"role": "user", "content": "<command-name>/clear</command-name>"})
    session.record("user", message={"role": "user", "content": "<local-command-stdout>ok</local-command-stdout>"})
    session.prompt("First")
    session.say("Yes.")
    session.record("user", message={"role": "user", "content": "<task-notification>done</task-notification>"})
    session.record("user", message={"role": "user", "content": "ping"}, origin={"kind": "task-notification"})
    session.record("user", message={"role": "user", "content": "<bash-input>make</bash-input>"})
    session.record("user", message={"role": "user", "content": "<bash-stdout>ok</bash-stdout>"})
    session.prompt([{"type": "text", "text": "<ide_opened_file>x</ide_opened_file>"}, {"type": "text", "text": "Second"}])
    session.say("Done.")
    found = importer.read(session)
    assert found.turns == 2
    assert _shape(found.messages) == [
        ("user", "First", 1),
        ("assistant", "Yes.", 0),
        ("user", "! make", 0),
        ("user", "Second", 2),
        ("assistant", "Done.", 0),
    ]


def test_a_slash_command_is_shown_only_when_the_agent_worked_on_it(importer: Importer, session: SessionBuilder) -> None:
    command = (
        "<command-message>build</command-message>\n<command-name>/build</command-name>\n<command-args>plan.md</command-args>"
    )
    session.record("user", message={"role": "user", "content": command})
    session.record("user", message={"role": "user", "content": [{"type": "text", "text": "expanded"}]}, isMeta=True)
    session.write("b.py", "x\n")
    session.say("Built.")
    session.prompt("Go on")
    session.say("Fine.")
    outcome = importer.run(session)
    found = importer.chat(outcome)
    assert _shape(found.messages or ())[0] == ("user", "/build plan.md", 0)
    assert [(line.tag, line.turn) for line in importer.lines(outcome, "snapshot")] == [("0.0", 0)]


def test_one_assistant_message_holds_the_blocks_of_a_turn_in_order(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Look")
    session.think("hm")
    session.say("I look.")
    session.read("a.py")
    session.end_turn("Seen.")
    _, answer = importer.read(session).messages
    assert [block.type for block in answer.blocks] == ["thinking", "text", "tool_use", "text"]
    assert (answer.content, answer.reasoning, answer.turn_elapsed_ms) == ("I look.\n\nSeen.", "hm", 42_000)
    (call,) = answer.tool_calls
    assert (call.kind, call.title, call.status, call.locations[0].path) == (
        "read",
        "Read a.py",
        "completed",
        session.at("a.py"),
    )
    assert call.duration_ms == 2000


def test_images_interruptions_and_compactions_are_marked(importer: Importer, session: SessionBuilder) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
    session.prompt([{"type": "text", "text": "See this"}, image])
    session.say("I see.")
    session.record("user", message={"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]})
    before = session.parent
    session.parent = None
    session.record("system", subtype="compact_boundary", logicalParentUuid=before, content="Conversation compacted")
    session.record("user", message={"role": "user", "content": "This session is being continued"}, isCompactSummary=True)
    session.say("On we go.")
    session.prompt("And now?")
    found = importer.read(session)
    assert found.messages[0].content == "See this\n\n[image]"
    assert [message.event_kind for message in found.messages if message.role == "event"] == ["interrupted", "compacted"]
    assert [message.turn for message in found.messages if message.turn] == [1, 2]
    assert found.turns == 2


def test_parallel_calls_that_look_like_forks_stay_in_one_answer(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Read both")
    first = session.call("Read", file_path=session.at("a.py"))
    at_first = session.parent
    second = session.call("Grep", pattern="x")
    at_second = session.parent
    session.parent = at_first
    session.result(first, "one")
    session.parent = at_second
    session.result(second, "two")
    session.say("Both read.")
    found = importer.read(session)
    assert len(found.messages) == 2
    assert [call.output for call in found.messages[1].tool_calls] == ["one\n", "two\n"]
    assert found.branches == ()


def test_a_record_written_twice_counts_once(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Once")
    session.say("Only once.")
    session.records.append(session.records[-1])
    session.records.append(session.records[-3])
    found = importer.read(session)
    assert (len(found.messages), found.turns) == (2, 1)


def test_an_edited_prompt_leaves_a_branch_and_both_prompts_are_numbered(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Begin")
    session.say("Begun.")
    fork = session.parent
    session.prompt("Paint it red")
    session.write("red.py", "red\n")
    session.end_turn("Red.")
    session.parent = fork
    session.prompt("Paint it blue")
    session.write("blue.py", "blue\n")
    session.end_turn("Blue.")
    outcome = importer.run(session)
    main = importer.chat(outcome)
    assert [message.turn for message in main.messages or () if message.turn] == [1, 3]
    (branch,) = outcome.imported.branches if outcome.imported else ()
    left, _ = importer.chats.load(branch)
    assert (left.parent_chat_id, left.name, left.rewind_from_turn) == (outcome.chat_id, "Branch: Begin", 2)
    assert [message.turn for message in left.messages or () if message.turn] == [1, 2]
    lines = importer.vault.lines(outcome.chat_id)
    (start,) = importer.vault.lines(branch)
    assert (start.type, start.parent, start.turn) == ("branch_start", outcome.chat_id, 2)
    assert (lines[start.cut_lines - 1].type, lines[start.cut_lines - 1].turn) == ("turn_end", 2)
    assert [line.turn for line in lines if line.type == "snapshot"] == [2, 3]
    importer.chats.delete(branch)
    importer.run(session)
    assert not importer.chats.exists(branch)


def test_a_rewind_that_comes_later_turns_the_old_end_into_a_branch(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Begin")
    session.say("Begun.")
    fork = session.parent
    session.prompt("This way")
    session.end_turn("Done.")
    first = importer.run(session)
    assert len(importer.chat(first).messages or ()) == 4
    session.parent = fork
    session.prompt("That way")
    session.end_turn("Done too.")
    second = importer.run(session)
    assert second.imported is not None
    assert [message.content for message in importer.chat(second).messages or ()][2] == "That way"
    assert importer.chats.exists(second.imported.branches[0])


def test_a_cleared_conversation_in_the_same_file_goes_on_in_order(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Before")
    session.say("Yes.")
    session.parent = None
    session.prompt("After the clearing")
    session.say("Yes again.")
    found = importer.read(session)
    assert [message.turn for message in found.messages if message.turn] == [1, 2]
    assert found.branches == ()


def test_the_title_is_the_best_there_is(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("x" * 100 + "\nmore")
    leaf = session.say("ok")
    assert importer.read(session).title == "x" * 79 + "…"
    session.raw(type="summary", summary="Of another file", leafUuid="somebody-else")
    session.raw(type="summary", summary="The summary", leafUuid=leaf)
    assert importer.read(session).title == "The summary"
    session.raw(type="ai-title", aiTitle="Made", sessionId=session.session)
    assert importer.read(session).title == "Made"
    session.raw(type="custom-title", customTitle="Mine", sessionId=session.session)
    assert importer.read(session).title == "Mine"


def test_output_is_plain_and_has_a_limit(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Run")
    session.bash("make", "\x1b[31mred\x1b[0m\x1b]8;;http://x\x07link\x1b]8;;\x07\r\n" + "y" * 70_000)
    call = importer.read(session).messages[1].tool_calls[0]
    assert call.output.startswith("redlink\nyyy")
    assert "more characters" in call.output[-80:]
    assert len(call.output) < 66_000


def test_arguments_are_kept_as_json_and_cut_where_they_are_huge(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Run")
    session.bash("echo", "")
    session.write("big.py", "z" * 50_000)
    small, big = importer.read(session).messages[1].tool_calls
    assert msgspec.json.decode(small.input)["command"] == "echo"
    assert len(bytes(big.input)) < 5000
    assert big.diffs[0].new_text.startswith("zzz")


def test_calls_never_answered_failed_unless_the_session_may_run(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("One")
    session.call("Bash", command="sleep")
    assert importer.read(session).messages[1].tool_calls[0].status == "in_progress"
    session.prompt("Two")
    session.say("ok")
    assert importer.read(session).messages[1].tool_calls[0].status == "failed"


def test_unknown_records_are_reported_with_their_line(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.raw(type="permission-mode", permissionMode="plan", sessionId="s")
    session.raw(type="brand-new-thing", sessionId="s")
    session.raw(type="worse\nthing", sessionId="s")
    session.say("ok")
    found = importer.read(session)
    assert [(item.line, item.reason) for item in found.skipped] == [
        (4, "unknown record type brand-new-thing"),
        (5, "unknown record type ?"),
    ]


def test_a_history_of_many_turns_is_walked_over_once(
    importer: Importer, session: SessionBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        session.prompt(f"Question {number}")
        session.say("Answer.")
    looked = 0

    class Counted(list[Segment]):
        def __getitem__(self, index: int) -> Segment:  # type: ignore[override]  # nobody takes a slice of them
            nonlocal looked
            looked += 1
            return super().__getitem__(index)

    def counted(entries: Sequence[Entry]) -> Conversation:
        found = converse(entries)
        return replace(found, segments=Counted(found.segments))

    monkeypatch.setattr("vibekit_desktop.core.sources.claude_code.converse", counted)
    assert importer.read(session).turns == 60
    assert looked < 60 * 10
