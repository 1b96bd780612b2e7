"""One turn of a real agent, from the prompt to the undo of its undo: every byte of it is known and comes back."""

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from tests.helpers.fake_model import Step
from tests.helpers.lab import SEED, Lab
from tests.real.work import AFTER, ANSWER, BY_COMMANDS, BY_TOOLS, CHANGED, PROMPT, give

pytestmark = pytest.mark.timeout(600)


def sha(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def by_path(files: list[Any]) -> dict[str, Any]:
    """The rows of a turn; a path that has two is an error."""
    found = {row["path"]: row for row in files}
    assert len(found) == len(files)
    return found


def cat(lab: Lab, chat: str, point: str, path: str) -> bytes | None:
    """A file at a point, from the store."""
    answer = lab.look("cat", chat, point, path)
    assert answer.status in (0, 1), answer.err
    return None if answer.status else answer.out


def calls_of(lab: Lab, chat: str) -> list[Any]:
    """The calls of tools in a chat's transcript."""
    messages = lab.look("show", chat, "--json").json["chat"]["messages"]
    return [call for message in messages for call in message.get("tool_calls", ())]


def check_points(lab: Lab, chat: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    for path in CHANGED:
        assert cat(lab, chat, "before:1", path) == before.get(path), path
        assert cat(lab, chat, "after:1", path) == after.get(path), path


@pytest.mark.parametrize("repository", [False, True], ids=["folder", "repository"])
def test_every_byte_that_a_turn_changed_is_known_and_comes_back(place: Lab, repository: bool) -> None:
    if repository:
        place.make_repository()
    give(place)
    done = place.prompt(PROMPT, "--allow", "all")
    assert done.status == 0, done.err
    turn = done.json
    chat = turn["chat_id"]
    assert (turn["turn"], turn["stop_reason"]) == (1, "end_turn")
    assert place.files() == AFTER
    assert place.left_over() == []

    # What is told of it.
    assert {given["answer"] for given in turn["permissions"]} == {"allowed"}
    assert len(turn["permissions"]) == 6, turn["permissions"]
    entries = place.look("timeline", chat, "--json").json["entries"]
    turns = [entry for entry in entries if entry["kind"] == "turn"]
    assert [entry["turn"] for entry in turns] == [1]
    assert turns[0]["coverage"] == {"complete": True, "skipped": []}
    rows = by_path(turns[0]["files"])
    assert by_path(turn["files"]) == rows
    assert set(rows) == set(CHANGED)
    for path, row in rows.items():
        assert (row["before_sha"], row["after_sha"]) == (sha(SEED.get(path)), sha(CHANGED[path])), path
    # In its ask mode every edit of an agent is its own, also where it writes the file itself; and no command's change is.
    assert {path: row["author"] for path, row in rows.items()} == {
        **dict.fromkeys(BY_TOOLS, "agent"),
        **dict.fromkeys(BY_COMMANDS, "command"),
    }
    assert all(row["tool_call_id"] for row in rows.values())
    if not place.kind.writes_twice:
        known = {rows[path]["how"] for path in BY_TOOLS}
        assert known == {"announced"} if place.kind.writes_through else known <= {"settle", "scan"}
    assert {rows[path]["how"] for path in BY_COMMANDS} == {"scan"}
    calls = {call["id"]: str(call) for call in calls_of(place, chat)}
    assert [path for path, row in rows.items() if path.rpartition("/")[2] not in calls[row["tool_call_id"]]] == []

    # What is kept of it.
    check_points(place, chat, SEED, AFTER)
    restored = place.call("restore", chat, "before:1", "--yes", "--json")
    assert (restored.status, restored.json["verified"]) == (0, True), restored.err
    assert place.files() == dict(SEED)
    assert not (place.workspace / "made").exists()
    again = place.call("undo", chat, "--yes", "--json")
    assert (again.status, again.json["verified"]) == (0, True), again.err
    assert place.files() == AFTER
    assert place.look("verify", "--json").json["ok"] is True


def test_a_live_chat_is_listed_once(place: Lab) -> None:
    """Also where the agent keeps a history of its own that is found on this computer."""
    place.play("word", Step("A word."))
    chat = place.prompt("play:word").json["chat_id"]
    assert [row["id"] for row in place.look("list", "--json").json["chats"]] == [chat]


def test_the_transcript_holds_what_was_said_and_done(place: Lab) -> None:
    give(place)
    chat = place.prompt(PROMPT, "--allow", "all").json["chat_id"]
    shown = place.look("show", chat, "--json").json["chat"]["messages"]
    assert shown[0]["role"] == "user"
    assert [message for message in shown if message["role"] == "user" and PROMPT in str(message)] == shown[:1]
    said = str(shown[1:])
    for words in ("I look.", "I write.", "I run.", ANSWER, "rm doomed.txt", "made/by/new.txt"):
        assert words in said, words


def test_a_second_prompt_goes_on_where_the_first_ended(place: Lab) -> None:
    """Another process of the agent, hours later: it takes its session up again, or it is told what was said."""
    do = place.kind
    give(place)
    chat = place.prompt(PROMPT, "--allow", "all").json["chat_id"]
    place.play(
        "more",
        Step("I look again.", (do.read(place.at("old.txt")),)),
        Step("", (do.edit(place.at("old.txt"), "gamma", "delta"),)),
        Step("Twice done."),
    )
    done = place.prompt("And now play:more", "--allow", "all", chat=chat)
    assert done.status == 0, done.err
    assert (done.json["chat_id"], done.json["turn"], done.json["stop_reason"]) == (chat, 2, "end_turn")

    asked = place.model.played("more")[0]
    if do.keeps_sessions:
        assert len(asked.prompts) >= 2
        assert PROMPT in asked.prompts[-2]
        assert ANSWER in asked.talk.answers[-1]
        assert asked.talk.results
    elif PROMPT in asked.prompts[-1]:
        assert ANSWER in asked.prompts[-1]
    else:  # at times its session was written down before it ended, and then it does take it up
        assert ANSWER in asked.talk.answers[-1]
    assert place.files() == {**AFTER, "old.txt": b"alpha\nBETA\ndelta\n"}

    entries = place.look("timeline", chat, "--json").json["entries"]
    turns = [entry for entry in entries if entry["kind"] == "turn"]
    assert [(entry["turn"], sorted(row["path"] for row in entry["files"])) for entry in turns] == [
        (1, sorted(CHANGED)),
        (2, ["old.txt"]),
    ]
    shown = place.look("show", chat, "--json").json["chat"]["messages"]
    prompts = [str(message) for message in shown if message["role"] == "user"]
    assert ["play:work" in prompts[0], "play:more" in prompts[-1], len(prompts)] == [True, True, 2]
    assert cat(place, chat, "before:2", "old.txt") == AFTER["old.txt"]
    assert place.call("restore", chat, "before:1", "--yes", "--json").status == 0
    assert place.files() == dict(SEED)
    assert place.left_over() == []
