"""What the preview of a restore says on a terminal, and in JSON, of paths that are not simply rewritten."""

from dataclasses import replace

import pytest

from vibekit_desktop.cli.objects import plan_object
from vibekit_desktop.cli.printing import print_plan
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    KEEP_MINE,
    Action,
    BeforeTurn,
    FileState,
    PlannedFile,
    RestoreKind,
    RestorePlan,
    Scope,
    State,
)
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath

HERE = FileState(State.PRESENT, BlobHash("a" * 64), 0o644)
THERE = FileState(State.PRESENT, BlobHash("b" * 64), 0o644)
FOLDER = FileState(State.FOLDER)


def planned(path: str, action: Action, current: FileState, wanted: FileState) -> PlannedFile:
    return PlannedFile(path=WorkspacePath(path), action=action, current=current, wanted=wanted)


SINCE = replace(planned("since", Action.LEAVE, HERE, THERE), reason="changed-since", changed_by="unknown")
FILES = (
    planned("built", Action.DELETE, FOLDER, ABSENT),
    planned("gone", Action.DELETE, HERE, ABSENT),
    replace(planned("linked", Action.WRITE, HERE, THERE), hard_linked=True),
    planned("logs", Action.CREATE, ABSENT, FOLDER),
    replace(SINCE, path=WorkspacePath("maybe"), may_be_yours=True),
    SINCE,
)
PLAN = RestorePlan(
    chat=ChatId("chat-a"),
    kind=RestoreKind.RESTORE,
    point=BeforeTurn(1),
    scope=Scope.FILES,
    mine=KEEP_MINE,
    paths=(),
    files=FILES,
    digest="d" * 64,
    log_lines=4,
    keep_messages=2,
    total_messages=2,
)


def test_the_preview_says_how_many_files_go_and_what_is_special(capsys: pytest.CaptureFixture[str]) -> None:
    print_plan(PLAN)
    head, *rows = (" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
    assert head == "restore before:1: 4 of 6 files will change, 2 deleted"
    said = {path: row for row in rows for path in [file.path for file in FILES] if f" {path} " in f" {row} "}
    assert said == {
        "built": "delete built a folder now",
        "gone": "delete gone",
        "linked": "rewrite linked hard-linked: this name gets a file of its own, its other names keep theirs",
        "logs": "bring back logs a folder",
        "maybe": "leave maybe changed in the agent's turn, may be yours; kept",
        "since": "leave since changed since by somebody, may be you; kept",
    }


def test_the_preview_in_json_says_the_same() -> None:
    told = plan_object(PLAN)
    assert told["deletes"] == 2
    files = told["files"]
    assert isinstance(files, list)
    rows = {row["path"]: row for row in files if isinstance(row, dict)}
    assert rows["linked"]["hard_linked"] is True
    assert rows["maybe"]["may_be_yours"] is True
    assert rows["since"]["may_be_yours"] is False
    assert (rows["built"]["current_state"], rows["logs"]["wanted_state"]) == ("folder", "folder")
