"""What an edit left on disk: computed, checked, or said not to be known. Never guessed."""

from pathlib import Path

import pytest

from tests.helpers.claude_sessions import SessionBuilder, display_patch
from tests.sources.conftest import Importer
from vibekit_desktop.core.sources.base import FileTouched
from vibekit_desktop.core.types.checkpoints import Author, State
from vibekit_desktop.core.types.ids import parse_blob_hash


def _told(touch: FileTouched) -> tuple[str, str]:
    def side(state: State, data: bytes | None, reason: str) -> str:
        return data.decode() if data is not None else f"<{reason or state.value}>"

    before, after = touch.before, touch.after
    return side(before.state, before.data, before.reason), side(after.state, after.data, after.reason)


def _only(importer: Importer, session: SessionBuilder) -> tuple[str, str]:
    (touch,) = importer.read(session).touches
    return _told(touch)


def test_an_edit_replaces_the_first_occurrence_or_every_one(importer: Importer, session: SessionBuilder) -> None:
    session.files[session.at("a.py")] = "x\nx\n"
    session.prompt("Go")
    session.edit("a.py", "x", "y")
    session.edit("a.py", "x", "z", every=True)
    assert [_told(touch) for touch in importer.read(session).touches] == [("x\nx\n", "y\nx\n"), ("y\nx\n", "y\nz\n")]


def test_replacing_by_nothing_takes_the_line_end_too(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.edit("a.py", "two", "")
    assert _only(importer, session) == ("one\ntwo\nthree\n", "one\nthree\n")


def test_tabs_in_the_display_patch_do_not_matter_and_are_never_written(importer: Importer, session: SessionBuilder) -> None:
    session.files[session.at("a.go")] = "func a() {\n\t\treturn 1\n}\n"
    session.prompt("Go")
    session.edit("a.go", "\t\treturn 1", "\t\treturn 2")
    assert _only(importer, session)[1] == "func a() {\n\t\treturn 2\n}\n"


def test_a_patch_that_shows_something_else_makes_the_result_not_captured(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    other = display_patch("one\ntwo\nthree\n", "one\n2\nthree\noriginSessionId: x\n")
    session.edit("a.py", "two", "2", structuredPatch=other)
    assert _only(importer, session) == ("one\ntwo\nthree\n", "<differs>")


def test_text_that_does_not_occur_makes_the_result_not_captured(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.edit("a.py", "two", "2", originalFile="something else\n", structuredPatch=[])
    assert _only(importer, session) == ("something else\n", "<differs>")


def test_what_the_person_changed_in_the_dialog_is_not_captured(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.edit("a.py", "two", "2", userModified=True)
    assert _only(importer, session) == ("one\ntwo\nthree\n", "<user-modified>")


def test_writes_create_and_overwrite(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.write("new.py", "a\n")
    session.write("new.py", "b\n")
    assert [_told(touch) for touch in importer.read(session).touches] == [("<absent>", "a\n"), ("a\n", "b\n")]


def test_many_edits_in_one_call_are_one_change(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    edits = [
        {"old_string": "one", "new_string": "1", "replace_all": False},
        {"old_string": "two", "new_string": "", "replace_all": False},
    ]
    call = session.call("MultiEdit", file_path=session.at("a.py"), edits=edits)
    outcome = {
        "filePath": session.at("a.py"),
        "edits": edits,
        "originalFileContents": "one\ntwo\nthree\n",
        "userModified": False,
    }
    session.result(call, "Applied 2 edits", outcome)
    assert _only(importer, session) == ("one\ntwo\nthree\n", "1\nthree\n")


def test_a_notebook_edit_is_known_only_if_both_sides_are_recorded(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    path = session.at("n.ipynb")
    call = session.call("NotebookEdit", notebook_path=path, new_source="1")
    session.result(call, "Updated", {"notebook_path": path, "original_file": "{}", "updated_file": '{"a":1}', "error": ""})
    call = session.call("NotebookEdit", notebook_path=path, new_source="2")
    session.result(call, "Updated cell", {"new_source": "2", "error": ""})
    told = [_told(touch) for touch in importer.read(session).touches]
    assert told == [("{}", '{"a":1}'), ('{"a":1}', "<no-content>")]


def test_failed_and_rejected_edits_change_nothing(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    call = session.call("Edit", file_path=session.at("a.py"), old_string="x", new_string="y")
    session.result(call, "<tool_use_error>no</tool_use_error>", "Error: no", failed=True)
    call = session.call("Write", file_path=session.at("b.py"), content="x")
    session.result(call, "The user doesn't want to proceed with this tool use.", "User rejected tool use", failed=True)
    found = importer.read(session)
    assert found.touches == ()
    assert [call.status for call in found.messages[1].tool_calls] == ["failed", "failed"]
    assert all(not call.diffs for call in found.messages[1].tool_calls)


def test_without_an_original_the_content_before_is_what_was_just_read(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.read("a.py")
    session.edit("a.py", "two", "2", originalFile=None)
    session.edit("a.py", "three", "3", originalFile=None)
    told = [_told(touch) for touch in importer.read(session).touches]
    assert told == [("one\ntwo\nthree\n", "one\n2\nthree\n"), ("one\n2\nthree\n", "one\n2\n3\n")]


@pytest.mark.parametrize("between", ["command", "mcp", "prompt", "agent", "hook", "editor"])
def test_what_may_have_changed_a_file_in_between_makes_it_unknown(
    importer: Importer, session: SessionBuilder, between: str
) -> None:
    session.prompt("Go")
    session.read("a.py")
    match between:
        case "command":
            session.bash("sed -i s/a/b/ a.py", "")
        case "mcp":
            session.result(session.call("mcp__fs__write", path="a.py"), [{"type": "text", "text": "ok"}])
        case "prompt":
            session.prompt("Again")
        case "agent":
            session.result(session.call("Task", description="work", prompt="work"), "done", {"status": "completed"})
        case "hook":
            session.record("progress", data={"type": "hook_progress", "hookEvent": "PostToolUse"})
        case _:
            session.record("attachment", attachment={"type": "edited_text_file", "filename": session.at("a.py"), "snippet": ""})
    session.edit("a.py", "two", "2", originalFile=None)
    assert _only(importer, session) == ("<no-content>", "<no-content>")


def test_a_partly_read_file_is_not_known(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    call = session.call("Read", file_path=session.at("a.py"), limit=1)
    file = {"filePath": session.at("a.py"), "content": "one", "numLines": 1, "startLine": 1, "totalLines": 4}
    session.result(call, "one", {"type": "text", "file": file})
    session.edit("a.py", "two", "2", originalFile=None)
    assert _only(importer, session)[0] == "<no-content>"


def test_an_edit_whose_result_is_seen_right_after_is_known_from_there(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.edit("a.py", "two", "2", originalFile=None)
    session.edit("a.py", "three", "3")
    told = [_told(touch) for touch in importer.read(session).touches]
    assert told == [("one\ntwo\nthree\n", "one\n2\nthree\n"), ("one\n2\nthree\n", "one\n2\n3\n")]


def test_a_command_in_between_cuts_that_knowledge_too(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.edit("a.py", "two", "2", originalFile=None)
    session.bash("make format", "")
    session.edit("a.py", "three", "3")
    first, second = importer.read(session).touches
    assert _told(first) == ("<no-content>", "<no-content>")
    assert _told(second)[0] == "one\n2\nthree\n"


def test_an_empty_original_with_nothing_to_replace_may_be_no_file_at_all(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    call = session.call("Edit", file_path=session.at("n.py"), old_string="", new_string="new\n")
    session.result(call, "ok", {"filePath": session.at("n.py"), "oldString": "", "newString": "new\n", "originalFile": ""})
    assert _only(importer, session) == ("<empty-or-absent>", "new\n")


def _snapshot(session: SessionBuilder, message: str, backups: dict[str, object], *, update: bool) -> None:
    session.raw(
        type="file-history-snapshot",
        messageId="x" if update else message,
        snapshot={"messageId": message, "trackedFileBackups": backups, "timestamp": session.stamp()},
        isSnapshotUpdate=update,
    )


def test_a_backup_taken_just_before_the_first_edit_is_the_content_before(importer: Importer, session: SessionBuilder) -> None:
    prompt = session.prompt("Go")
    _snapshot(session, prompt, {"a.py": {"backupFileName": "abc@v1", "version": 1, "backupTime": ""}}, update=True)
    session.edit("a.py", "two", "2", originalFile=None)
    assert _only(importer, session) == ("<no-content>", "<no-content>")
    history = importer.home / ".claude" / "file-history" / session.session
    history.mkdir(parents=True)
    (history / "abc@v1").write_bytes(b"one\ntwo\nthree\n")
    assert _only(importer, session) == ("one\ntwo\nthree\n", "one\n2\nthree\n")
    (history / "abc@v1").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    assert _only(importer, session) == ("one\r\ntwo\r\nthree\r\n", "<no-content>")


def test_no_backup_name_means_there_was_no_file_and_a_missing_entry_means_nothing(
    importer: Importer, session: SessionBuilder
) -> None:
    prompt = session.prompt("Go")
    _snapshot(session, prompt, {"n.py": {"backupFileName": None, "version": 1, "backupTime": ""}}, update=True)
    for name in ("n.py", "m.py"):
        call = session.call("Edit", file_path=session.at(name), old_string="", new_string="new\n")
        session.result(call, "ok", {"filePath": session.at(name), "oldString": "", "newString": "new\n", "originalFile": None})
    told = [_told(touch) for touch in importer.read(session).touches]
    assert told == [("<absent>", "new\n"), ("<empty-or-absent>", "new\n")]


def test_paths_outside_the_folder_and_inside_git_are_notes(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.write("/home/ann/.claude/plans/plan.md", "# plan\n")
    session.write(".git/hooks/pre-commit", "#!/bin/sh\n")
    session.write("../tidewatch-two/a.py", "x\n")
    session.write("in.py", "x\n")
    outcome = importer.run(session)
    notes = importer.lines(outcome, "note")
    assert [(line.path, line.reason) for line in notes] == [
        ("/home/ann/.claude/plans/plan.md", "outside"),
        ("/home/ann/tidewatch/.git/hooks/pre-commit", "private"),
        ("/home/ann/tidewatch-two/a.py", "outside"),
    ]
    assert [line.path for line in importer.lines(outcome, "snapshot")] == ["in.py"]
    assert outcome.imported is not None
    assert (outcome.imported.edits, outcome.imported.files) == (4, 4)


def test_windows_paths_are_relative_whatever_the_case_of_the_drive(importer: Importer) -> None:
    session = SessionBuilder(cwd="c:\\Users\\ann\\tide watch")
    session.prompt("Go")
    for path in ("C:\\Users\\ann\\tide watch\\src\\a.py", "c:/Users/ann/tide watch/src/b.py", "D:\\x.py"):
        call = session.call("Write", file_path=path, content="x\n")
        session.result(call, "ok", {"type": "create", "filePath": path, "content": "x\n", "structuredPatch": []})
    assert [touch.path for touch in importer.read(session).touches] == ["src/a.py", "src/b.py", None]


def test_a_change_of_folder_within_the_session_does_not_move_the_workspace(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.cwd = "/home/ann/tidewatch/sub"
    session.prompt("Go on")
    session.write("here.py", "x\n")
    call = session.call("Write", file_path="relative.py", content="x\n")
    session.result(call, "ok", {"type": "create", "filePath": "relative.py", "content": "x\n"})
    found = importer.read(session)
    assert found.cwd == "/home/ann/tidewatch"
    assert [touch.path for touch in found.touches] == ["sub/here.py", "sub/relative.py"]


def test_a_sidechain_in_the_file_adds_edits_and_no_turn(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Use a helper")
    task = session.call("Task", description="help", prompt="help")
    at = session.parent
    session.sidechain, session.parent = True, None
    session.record("user", message={"role": "user", "content": "You help."})
    session.edit("a.py", "two", "2")
    session.sidechain, session.parent = False, at
    session.result(task, "helped")
    session.say("It helped.")
    found = importer.read(session)
    assert (found.turns, found.edits, len(found.messages)) == (1, 1, 2)
    assert [call.agent_subtask_id for call in found.messages[1].tool_calls] == ["", "sidechain"]


def _progress(session: SessionBuilder, kind: str, block: dict[str, object]) -> None:
    message = {
        "type": kind,
        "uuid": session.stamp(),
        "timestamp": session.stamp(),
        "message": {"role": kind, "content": [block]},
    }
    parent = session.parent
    session.record(
        "progress", data={"type": "agent_progress", "agentId": "a17", "prompt": "p", "message": message}, toolUseID="t"
    )
    session.parent = parent


def test_a_sub_agents_edits_in_progress_lines_are_read(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Use a helper")
    task = session.call("Task", description="help", prompt="help")
    path = session.at("s.py")
    arguments = {"file_path": path, "content": "a\nb\n"}
    _progress(session, "assistant", {"type": "tool_use", "id": "t1", "name": "Write", "input": arguments})
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": f"File created successfully at: {path}"}
    _progress(session, "user", answer)
    arguments = {"file_path": path, "old_string": "b", "new_string": "c", "replace_all": False}
    _progress(session, "assistant", {"type": "tool_use", "id": "t2", "name": "Edit", "input": arguments})
    _progress(session, "user", {"type": "tool_result", "tool_use_id": "t2", "content": "updated successfully"})
    _progress(session, "assistant", {"type": "tool_use", "id": "t3", "name": "Edit", "input": arguments})
    _progress(session, "user", {"type": "tool_result", "tool_use_id": "t3", "content": "was rejected", "is_error": True})
    session.result(task, "helped", {"status": "completed"})
    session.end_turn("Done.")
    outcome = importer.run(session)
    assert [_told(touch) for touch in importer.read(session).touches] == [("<absent>", "a\nb\n"), ("a\nb\n", "a\nc\n")]
    (end,) = importer.lines(outcome, "turn_end")
    assert end.coverage is not None
    assert end.coverage.complete


@pytest.mark.parametrize("layout", ["folder", "beside"])
def test_a_sub_agents_own_file_is_merged_by_time(importer: Importer, session: SessionBuilder, layout: str) -> None:
    session.prompt("Use a helper")
    task = session.call("Agent", description="help", prompt="help")
    helper = SessionBuilder(cwd=session.cwd, session=session.session, now=session.now, sidechain=True, count=5000)
    helper.files = session.files
    helper.record("user", message={"role": "user", "content": "You help."}, agentId="b2")
    helper.edit("a.py", "two", "2")
    session.stamp(120)
    session.result(task, "helped", {"status": "completed", "agentId": "b2"})
    session.edit("a.py", "three", "3")
    session.end_turn("Done.")
    path = session.install(importer.home)
    folder = path.parent / session.session / "subagents" if layout == "folder" else path.parent
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent-b2.jsonl").write_text(helper.text())
    found = importer.read(session)
    assert [_told(touch)[1] for touch in found.touches] == ["one\n2\nthree\n", "one\n2\n3\n"]
    assert (found.turns, found.edits) == (1, 2)


def test_files_that_a_command_is_recorded_to_have_changed_are_seen(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.read("a.py")
    listed = [
        {"filePath": session.at("a.py"), "hunks": [], "deleted": True},
        {"filePath": session.at("n.py"), "hunks": [], "created": True},
    ]
    session.bash("mv a.py n.py", "", bashEditDiff={"files": listed, "changedFiles": [], "moreFiles": 0})
    outcome = importer.run(session)
    gone, new = importer.read(session).touches
    assert (_told(gone), gone.author, gone.announced) == (("one\ntwo\nthree\n", "<absent>"), Author.COMMAND, False)
    assert _told(new) == ("<absent>", "<no-content>")
    assert [(line.author, line.how, line.tag) for line in importer.lines(outcome, "observed")] == [
        ("command", "import", "")
    ] * 2
    assert outcome.imported is not None
    assert (outcome.imported.edits, outcome.imported.files) == (0, 2)


def test_half_of_a_character_in_a_content_is_not_captured(importer: Importer, session: SessionBuilder) -> None:
    session.prompt("Go")
    session.write("e.py", "x\n")
    text = session.text().replace('"content": "x\\n"', '"content": "\\ud83d"')
    (touch,) = importer.text(text).touches
    assert _told(touch) == ("<not-text>", "<not-text>")


def test_bytes_are_what_the_history_says(importer: Importer, session: SessionBuilder, tmp_path: Path) -> None:
    session.files[session.at("a.py")] = "\ufeffeins\r\nzwei\r\n"
    session.prompt("Go")
    session.write("a.py", "\ufeffeins\r\ndrei\r\n")
    outcome = importer.run(session)
    (line,) = importer.lines(outcome, "snapshot")
    assert importer.vault.blobs.get(parse_blob_hash(line.after_sha)) == "\ufeffeins\r\ndrei\r\n".encode()
