"""A folder that the original wrote, opened with ``--vault`` and ``--workspace``: read as it is, changed only by adding."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.program import Answer, call, tree

USAGE = {
    "context_pct": 3.5, "context_size": 2, "credits": 0.4, "turn_count": 1, "last_turn_ms": 3, "has_real_data": True, "x": 1,
}  # fmt: skip


@dataclass
class Folder:
    """The original's folder, the workspace, and ours."""

    vault: Path
    work: Path
    data: Path
    home: Path

    def call(self, *words: str) -> Answer:
        return call(self.data, self.home, "--vault", str(self.vault), "--workspace", str(self.work), "--json", *words)

    @property
    def log(self) -> Path:
        return self.vault / "snapshots" / "chats" / "chat-a" / "events.jsonl"

    @property
    def chat(self) -> Path:
        return self.vault / "chats" / "chat-a.json"

    def blob(self, data: bytes) -> str:
        sha = hashlib.sha256(data).hexdigest()
        path = self.vault / "snapshots" / "blobs" / sha[:2] / sha[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return sha


def _lines(folder: Folder) -> list[dict[str, object]]:
    """Two turns of two messages each, a drift, a restore of the original's own, and what a later version may write."""
    one, two, three, new = (folder.blob(data) for data in (b"one\n", b"two\n", b"three\n", b"new\n"))
    at = 1_785_000_000_000
    app = {"type": "snapshot", "path": "src/app.txt", "v": 1}
    return [
        {"type": "turn_start", "ts": at, "turn": 1, "message_count": 1, "v": 1},
        {**app, "tag": "1", "before_sha": one, "after_sha": two, "ts": at + 1, "turn": 1, "message_count": 1, "x": {"a": 1}},
        {"type": "snapshot", "tag": "1.1", "path": "new.txt", "after_sha": new, "ts": at + 2, "turn": 1, "tool": 1, "v": 1},
        {"type": "of_a_later_version", "ts": at + 3, "x": [1, 2]},
        {"type": "turn_start", "ts": at + 60_000, "turn": 2, "message_count": 3, "v": 1},
        {"type": "conflict_detected", "tag": "2", "path": "src/app.txt", "before_sha": two, "other_chat": "chat-b", "v": 1,
         "expected_sha": one, "ts": at + 60_001},
        {**app, "tag": "2", "before_sha": two, "after_sha": three, "ts": at + 60_002, "turn": 2, "message_count": 3},
        {"type": "restore_started", "tag": "2", "ts": at + 70_000, "message_count": 3, "v": 1},
        {"type": "restore_committed", "tag": "2", "ts": at + 70_001, "message_count": 3, "v": 1},
        {"type": "turn_start", "ts": at + 80_000, "turn": 3, "message_count": 4, "v": 1},
        {**app, "tag": "3", "before_sha": two, "after_sha": three, "ts": at + 80_001, "turn": 3, "message_count": 4},
    ]  # fmt: skip


def _chat() -> dict[str, object]:
    """As the original left it: its own restore cut the answer of turn 2, the prompt stayed."""
    call_ = {"id": "t-1", "title": "x", "kind": "edit", "status": "completed", "ts": 1, "unknown": 2,
             "diffs": [{"path": "src/app.txt", "new_text": "two", "unknown": 3}]}  # fmt: skip
    return {
        "id": "chat-a", "name": "Do it", "model": "m", "later": {"a": [1, None]}, "agent": "old", "auto_approve_crew": True,
        "messages": [
            {"id": "u-1", "role": "user", "content": "first", "checkpoint_tag": "1", "ts": 1, "unknown": 7},
            {"id": "a-1", "role": "assistant", "content": "ok", "ts": 2, "tool_calls": [call_],
             "blocks": [{"type": "tool_use", "tool_call_id": "t-1", "unknown": 4}]},
            {"id": "u-2", "role": "user", "content": "second", "checkpoint_tag": "2", "ts": 3},
            {"id": "u-3", "role": "user", "content": "third", "checkpoint_tag": "3", "ts": 4},
            {"id": "a-3", "role": "assistant", "content": "done", "ts": 5},
        ],
        "usage": USAGE, "created_at": 1_784_879_990_000, "updated_at": 1_785_000_061_000, "message_count": 0,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Folder:
    made = Folder(tmp_path / "vibekit", tmp_path / "work", tmp_path / "data", home)
    made.chat.parent.mkdir(parents=True)
    made.log.parent.mkdir(parents=True)
    made.log.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in _lines(made)))
    made.chat.write_text(json.dumps(_chat(), indent=2))
    empty = {"id": "chat-empty", "name": "New conversation", "messages": None, "usage": USAGE, "created_at": 1, "updated_at": 2}
    (made.vault / "chats" / "chat-empty.json").write_text(json.dumps(empty, indent=2))
    (made.work / "src").mkdir(parents=True)
    (made.work / "src" / "app.txt").write_bytes(b"three\n")
    (made.work / "new.txt").write_bytes(b"new\n")
    return made


def test_reading_changes_nothing_in_it(folder: Folder) -> None:
    before = tree(folder.vault)
    for words in (
        ("list",), ("show", "chat-a"), ("show", "chat-empty"), ("timeline", "chat-a"), ("timeline", "chat-empty"),
        ("diff", "chat-a"), ("preview", "chat-a", "1.1"), ("preview", "chat-empty", "start"), ("verify",), ("doctor",),
        ("sources",),
    ):  # fmt: skip
        assert folder.call(*words).status == 0, words
    assert folder.call("cat", "chat-a", "before:1", "src/app.txt").out == b"one\n"
    assert tree(folder.vault) == before
    rows = folder.call("list").json["chats"]
    assert [(row["id"], row["message_count"], row["turn_count"]) for row in rows] == [("chat-a", 5, 3), ("chat-empty", 0, 0)]


def test_its_prompts_are_placed_by_the_counts_in_its_log(folder: Folder) -> None:
    """Turn 2 and its answer were cut by the original; the prompt stayed. Turn 3 was counted after that."""
    turns = folder.call("show", "chat-a").json["turns"]
    assert [(one["turn"], one["first_message"], one["last_message"]) for one in turns] == [(1, 1, 2), (2, 3, 3), (3, 4, 5)]
    entries = [one for one in folder.call("timeline", "chat-a").json["entries"] if one["kind"] == "turn"]
    assert [(one["turn"], one["prompt"]) for one in entries] == [(1, "first"), (2, "second"), (3, "third")]


def test_a_restore_cuts_its_transcript_too_and_undo_brings_everything_back(folder: Folder) -> None:
    log, chat, work = folder.log.read_bytes(), json.loads(folder.chat.read_text()), tree(folder.work)
    answer = folder.call("restore", "chat-a", "before:2", "--yes")
    assert (answer.status, answer.json["restored"]) == (0, ["src/app.txt"])
    assert (folder.work / "src" / "app.txt").read_bytes() == b"two\n"
    short = json.loads(folder.chat.read_text())
    assert short["messages"] == chat["messages"][:2], "unknown keys and all"
    assert short["later"] == {"a": [1, None]}
    assert short["usage"] == USAGE
    assert folder.log.read_bytes().startswith(log), "its lines stay byte for byte"
    branch = folder.call("show", answer.json["branch_chat_id"]).json
    assert [one["content"] for one in branch["chat"]["messages"]] == ["first", "ok", "second", "third", "done"]
    assert [one["turn"] for one in branch["turns"]] == [1, 2, 3]
    assert folder.call("undo", "chat-a", "--yes").status == 0
    whole = json.loads(folder.chat.read_text())
    assert whole["messages"] == chat["messages"]
    assert tree(folder.work) == work
    assert folder.call("redo", "chat-a", "--yes").status == 0
    assert json.loads(folder.chat.read_text())["messages"] == chat["messages"][:2]
    assert folder.call("restore", "chat-a", "start", "--yes").status == 0
    assert tree(folder.work) == {"src/app.txt": b"one\n"}
    assert folder.call("verify").status == 0


def test_a_chat_folder_that_is_a_link_to_another_disk_is_written_through(folder: Folder, tmp_path: Path) -> None:
    (folder.vault / "chats").rename(tmp_path / "elsewhere")
    (folder.vault / "chats").symlink_to(tmp_path / "elsewhere")
    assert folder.call("restore", "chat-a", "before:2", "--yes").status == 0
    assert len(json.loads((tmp_path / "elsewhere" / "chat-a.json").read_text())["messages"]) == 2


@pytest.mark.parametrize(
    "planted",
    [
        {"turn": 2**70}, {"turn": -3}, {"entry": 2**63}, {"seq": -1}, {"seq": 2**64}, {"ts": 2**80}, {"message_count": 2**65},
        {"before_state": "link"}, {"path": "../../outside"}, {"path": "/etc/passwd"},
        {"path": ""}, {"path": "a/../.."}, {"tag": "x" * 5000},
        {"before_sha": "../../x"}, {"after_state": "link"}, {"before_state": "folder"}, {"before_mode": 2**40},
        {"path": "a" * 300}, {"path": "a/" * 3000 + "b"}, {"path": ".git/config"}, {"path": "x.vibekit-restore-1"},
        {"author": "restore", "type": "observed", "entry": 7}, {"path_b64": "////"}, {"other_chat": "../x", "owner": "chat"},
    ],
)  # fmt: skip
def test_a_planted_line_never_leads_outside_and_never_breaks_a_verb(folder: Folder, planted: dict[str, object]) -> None:
    sha = folder.blob(b"evil\0text")
    line = {"type": "snapshot", "tag": "9", "path": "p.txt", "before_sha": sha, "after_sha": sha, "turn": 9, "ts": 1, "v": 1}
    with folder.log.open("a") as log:
        log.write(json.dumps(line | planted) + "\n")
    outside = {path: path.stat().st_mtime_ns for path in folder.work.parent.iterdir()}
    for words in (
        ("list",), ("show", "chat-a"), ("timeline", "chat-a"), ("diff", "chat-a"), ("verify",),
        ("restore", "chat-a", "start", "--mine", "restore", "--yes"), ("undo", "chat-a", "--yes"), ("verify",),
    ):  # fmt: skip
        answer = folder.call(*words)
        assert "Traceback" not in answer.err, (words, answer.err)
        assert answer.status in (0, 1, 3)
        assert answer.status == 0 or b'"error"' in answer.out or answer.status == 1 or words == ("verify",), words
    made = {path: path.stat().st_mtime_ns for path in folder.work.parent.iterdir() if path not in (folder.data, folder.work)}
    assert made.keys() <= outside.keys() | {folder.data}
