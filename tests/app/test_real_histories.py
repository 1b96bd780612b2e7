"""Every real history, taken back turn by turn: the bytes on disk are those that the history recorded.

The expectation is folded here from the raw log lines with plain JSON, not with the program's own reader.
"""

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.program import call, samples, tree, with_core
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Mine, Scope
from vibekit_desktop.core.types.ids import ChatId

FOUND = samples()
FILES = sorted(FOUND.rglob("*.jsonl")) if FOUND else []
TOP = [path for path in FILES if "subagents" not in path.parts]

pytestmark = pytest.mark.skipif(not FILES, reason="the folder of real histories is not beside this checkout")

State = tuple[str, str]
"""(state, hash)."""


class Recorded:
    """What a log says of each path, in order: (turn, before, after)."""

    def __init__(self, log: Path) -> None:
        self.paths: dict[str, list[tuple[int, State, State]]] = {}
        self.turns: list[int] = []
        for text in log.read_bytes().split(b"\n"):
            if not text:
                continue
            line = json.loads(text)
            if line["type"] == "turn_start":
                self.turns.append(line["turn"])
            if line["type"] in ("snapshot", "observed"):
                path = os.fsdecode(base64.b64decode(line["path_b64"])) if "path_b64" in line else line["path"]
                states = _state(line, "before"), _state(line, "after")
                self.paths.setdefault(path, []).append((line.get("turn", 0), *states))

    def before(self, path: str, turn: int) -> State:
        """docs/storage-format.md 3, for a log without restores."""
        steps = self.paths[path]
        later = [index for index, step in enumerate(steps) if step[0] >= turn]
        if not later:
            return steps[-1][2]
        first = later[0]
        if first > 0 and steps[first][0] > turn and steps[first - 1][2][0] in ("present", "absent"):
            # a change that nobody recorded lies between, if the two differ; then the point is before it
            return steps[first - 1][2]
        return steps[first][1]

    def last(self, path: str) -> State:
        """What the history ends with."""
        return self.paths[path][-1][2]


def _state(line: dict[str, Any], side: str) -> State:
    sha = line.get(f"{side}_sha", "")
    return line.get(f"{side}_state") or ("present" if sha else "absent"), sha


def _blob(vault: Path, sha: str) -> bytes:
    for place in ("snapshots", "desktop"):
        path = vault / place / "blobs" / sha[:2] / sha[2:]
        if path.exists():
            return path.read_bytes()
    raise AssertionError(f"no blob {sha}")


def _import(tmp_path: Path, sample: Path) -> tuple[str, Path, Recorded, Path]:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (tmp_path / "home").mkdir()
    answer = call(tmp_path / "data", tmp_path / "home", "--json", "import", str(sample), "--workspace", str(workspace))
    assert answer.status == 0, answer.err
    chat = answer.json["imported"][0]["chat_id"]
    (vault,) = (tmp_path / "data" / "vaults").iterdir()
    log = vault / "snapshots" / "chats" / chat / "events.jsonl"
    return chat, vault, Recorded(log), workspace


def _check_disk(workspace: Path, vault: Path, recorded: Recorded, turn: int | None, left: set[str]) -> None:
    """Every path whose end is known holds what was recorded; ``left`` are the others, which nothing may have touched."""
    on_disk = tree(workspace)
    for path in recorded.paths.keys() - left:
        state, sha = recorded.last(path) if turn is None else recorded.before(path, turn)
        if state == "present":
            assert path in on_disk, (path, turn)
            assert on_disk[path] == _blob(vault, sha), (path, turn)
        elif state == "absent":
            assert path not in on_disk, (path, turn)


@pytest.mark.parametrize("sample", TOP, ids=lambda path: path.stem)
def test_every_turn_of_a_real_history_comes_back_byte_for_byte(tmp_path: Path, sample: Path) -> None:
    chat, vault, recorded, workspace = _import(tmp_path, sample)
    data, home = tmp_path / "data", tmp_path / "home"
    if not recorded.turns:
        return
    last = max(recorded.turns)
    out = call(data, home, "--json", "checkout", chat, f"after:{last}", str(workspace))
    left = {one["path"] for one in out.json["left"]}
    assert out.status == (1 if left else 0)
    assert left == {path for path in recorded.paths if recorded.last(path)[0] not in ("present", "absent")}
    _check_disk(workspace, vault, recorded, None, left)

    async def walk(core: Core) -> None:
        for turn in [*sorted(recorded.turns, reverse=True), *sorted(recorded.turns)]:
            before = tree(workspace)
            point = BeforeTurn(turn)
            plan = await core.checkpoints.plan_restore(ChatId(chat), point, paths=(), scope=Scope.FILES, mine=Mine())
            report = await core.checkpoints.carry_out(plan)
            assert report.verified
            assert not report.failed
            acted = {file.path for file in plan.acts}
            assert acted == set(report.restored)
            for file in plan.files:
                if file.path not in acted:
                    assert file.reason, file.path
            _check_disk(workspace, vault, recorded, turn, left)
            if report.entry and turn % 2:
                back = await core.checkpoints.carry_out(await core.checkpoints.plan_undo(ChatId(chat), mine=Mine()))
                assert back.verified
                assert tree(workspace) == before
                again = await core.checkpoints.carry_out(await core.checkpoints.plan_redo(ChatId(chat), mine=Mine()))
                assert again.verified
                _check_disk(workspace, vault, recorded, turn, left)

    with_core(data, home, walk)
    assert call(data, home, "verify").status == 0


@pytest.mark.parametrize("sample", TOP, ids=lambda path: path.stem)
def test_a_file_edited_by_hand_in_between_is_kept_and_reported(tmp_path: Path, sample: Path) -> None:
    chat, _, recorded, workspace = _import(tmp_path, sample)
    data, home = tmp_path / "data", tmp_path / "home"
    changed = [path for path in recorded.paths if recorded.last(path)[0] == "present"]
    if not recorded.turns or not changed:
        return
    call(data, home, "checkout", chat, f"after:{max(recorded.turns)}", str(workspace))
    mine = workspace / changed[0]
    mine.write_bytes(b"typed by hand\n")
    out = call(data, home, "--json", "restore", chat, "start", "--scope", "files", "--yes")
    assert mine.read_bytes() == b"typed by hand\n"
    reasons = {one["path"]: one["reason"] for one in out.json["left"]}
    assert reasons[changed[0]] == "changed-since"
    # asked for by name, it is put back, and its bytes are not lost
    first = recorded.before(changed[0], min(recorded.turns))
    out = call(data, home, "--json", "undo-file", chat, "start", changed[0], "--mine", "restore", "--yes")
    if first[0] in ("present", "absent"):
        assert out.status == 0
        assert mine.exists() == (first[0] == "present")
        assert call(data, home, "undo", chat, "--yes").status == 0
    assert mine.read_bytes() == b"typed by hand\n"


def test_importing_twice_adds_nothing(tmp_path: Path) -> None:
    sample = next(path for path in TOP if path.stem.startswith("typical-small"))
    chat, _, _, workspace = _import(tmp_path, sample)
    again = call(tmp_path / "data", tmp_path / "home", "--json", "import", str(sample), "--workspace", str(workspace))
    assert again.json["unchanged"] == [chat]
    assert again.json["imported"] == again.json["updated"] == again.json["failed"] == []
