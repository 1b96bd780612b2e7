"""Count what a Claude Code session holds, by other means than the reader under test: one decoder over the whole text.

The rules are session-formats.md 2.4 and 2.5, written down a second time and as simply as they allow.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

EDITING = ("Edit", "Write", "MultiEdit", "NotebookEdit")
NOT_PROMPTS = ("<command-", "<local-command-", "<bash-", "<task-notification", "[Request interrupted")


@dataclass
class RawEdit:
    """One successful edit as the file tells it; hashes are None where it does not."""

    path: str
    before: str | None
    after: str | None
    created: bool


@dataclass
class RawCount:
    """The independent count of one file."""

    turns: int = 0
    failed: int = 0
    edits: list[RawEdit] = field(default_factory=list)
    cwd: str = ""

    @property
    def files(self) -> int:
        return len({edit.path.replace("\\", "/").casefold() for edit in self.edits})

    @property
    def breaks(self) -> int:
        """How often an edit starts from another content than the edit before it left."""
        last: dict[str, str] = {}
        found = 0
        for edit in self.edits:
            if edit.path in last and edit.before is not None:
                found += last[edit.path] != edit.before
            if edit.after is not None:
                last[edit.path] = edit.after
            else:
                last.pop(edit.path, None)
        return found


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """Every object of a file, glued or not."""
    text = path.read_text(encoding="utf-8")
    decoder, at = json.JSONDecoder(), 0
    while True:
        at = text.find("{", at)
        if at < 0:
            return
        found, at = decoder.raw_decode(text, at)
        yield found


def sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def count(path: Path) -> RawCount:
    """Count one file."""
    result = RawCount()
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    prompts: set[str] = set()
    answered: set[str] = set()
    for record in objects(path):
        result.cwd = result.cwd or record.get("cwd") or ""
        inner = record
        if record.get("type") == "progress" and record["data"].get("type") == "agent_progress":
            inner = record["data"]["message"]
        content = inner.get("message", {}).get("content") if isinstance(inner.get("message"), dict) else None
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
        for block in blocks:
            if block.get("type") == "tool_use" and "id" in block:
                calls[block["id"]] = block["name"], block["input"]
                continue
            call = calls.get(block.get("tool_use_id"))
            if block.get("type") == "tool_result" and call and call[0] in EDITING and block["tool_use_id"] not in answered:
                answered.add(block["tool_use_id"])
                _outcome(result, *call, block, inner.get("toolUseResult"))
        if record.get("type") == "user" and _is_prompt(record, blocks):
            prompts.add(record["uuid"] if not record["uuid"].startswith("[") else f"{len(prompts)}")
    result.turns = len(prompts)
    return result


def _is_prompt(record: dict[str, Any], blocks: list[dict[str, Any]]) -> bool:
    if record.get("isMeta") or record.get("isCompactSummary") or record.get("isSidechain"):
        return False
    origin = record.get("origin") or {}
    if origin.get("kind") == "task-notification" or "senderTaskId" in origin:
        return False
    if any(block["type"] == "tool_result" for block in blocks):
        return False
    texts = [block["text"] for block in blocks if block["type"] == "text" and not re.match("<ide_", block["text"])]
    return any(block["type"] == "image" for block in blocks) or any(not text.startswith(NOT_PROMPTS) for text in texts)


def _outcome(result: RawCount, tool: str, arguments: dict[str, Any], block: dict[str, Any], outcome: object) -> None:
    if block.get("is_error") or isinstance(outcome, str):
        result.failed += 1
        return
    if not isinstance(outcome, dict):
        created = "created successfully" in str(block["content"])
        after = sha(arguments["content"]) if tool == "Write" else None
        result.edits.append(RawEdit(arguments["file_path"], None, after, created))
        return
    original = outcome.get("originalFileContents", outcome.get("originalFile"))
    if tool == "Write":
        after = outcome["content"]
    else:
        after = original
        for change in outcome.get("edits", [outcome]):
            old = change.get("oldString", change.get("old_string"))
            new = change.get("newString", change.get("new_string"))
            every = change.get("replaceAll", change.get("replace_all"))
            if new == "" and old[-1:] != "\n" and old + "\n" in after:
                old += "\n"
            pieces = after.split(old)
            after = new.join(pieces) if every else pieces[0] + new + old.join(pieces[1:])
    before = None if original is None else sha(original)
    result.edits.append(RawEdit(outcome["filePath"], before, sha(after), outcome.get("type") == "create"))
