"""The verb undo-turn, as a person and as a script use it: a whole story through the real command line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.program import Answer, call, tree

OVERLAP_KEYS = {"path", "number", "kind", "first_line", "last_line", "now", "then", "after", "changed_by"}


class Desk:
    """One workspace and one chat that hooks tell of."""

    def __init__(self, tmp_path: Path, home: Path) -> None:
        self.data, self.home, self.work = tmp_path / "data", home, tmp_path / "work"
        self.work.mkdir()

    def run(self, *words: str, given: bytes | None = None) -> Answer:
        return call(self.data, self.home, *words, given=given)

    def turn(self, **files: str) -> None:
        assert self.run("turn", "story", "begin", "--workspace", str(self.work), "--prompt", "Do it").status == 0
        for name, content in files.items():
            path = f"{name}.txt"
            assert self.run("record", "story", path, given=content.encode()).status == 0
            (self.work / path).write_text(content)
        assert self.run("turn", "story", "end").status == 0


@pytest.fixture
def desk(tmp_path: Path, home: Path) -> Desk:
    """Turn 2 changes two lines of a list and makes a file; turn 3 adds to the list; a person changes a line of turn 2."""
    made = Desk(tmp_path, home)
    made.turn(list="milk\nbread\neggs\ntea\nrice\n")
    made.turn(list="oat milk\nbread\neggs\ngreen tea\nrice\n", note="made by turn 2\n")
    made.turn(list="oat milk\nbread\neggs\ngreen tea\nrice\nsalt\n")
    (made.work / "list.txt").write_text("oat milk\nbread\neggs\nblack tea\nrice\nsalt\n")
    return made


def test_a_turn_is_taken_back_from_the_command_line_and_brought_again(desk: Desk) -> None:
    start = tree(desk.work)

    asked = desk.run("undo-turn", "story", "2", "--yes")
    assert asked.status == 1
    words = asked.out.decode()
    assert "list.txt, line 4, changed later by somebody, may be you" in words
    assert "-black tea" in words
    assert "+tea" in words
    assert "Nothing was changed: later work overlaps in 1 place. Add --overlaps keep, or --overlaps undo." in words
    assert tree(desk.work) == start

    shown = desk.run("undo-turn", "story", "2", "--overlaps", "keep")
    assert shown.status == 1
    assert "undo-turn before:2 to after:2: 2 of 2 files will change, 1 deleted" in shown.out.decode()
    assert "later work stays in 1 file" in shown.out.decode()
    assert "Nothing was changed. Add --yes to carry it out." in shown.out.decode()
    assert tree(desk.work) == start

    done = desk.run("undo-turn", "story", "2", "--overlaps", "keep", "--yes")
    assert done.status == 0
    assert "Restored 2 of 2 files, verified. It is entry 1 and can be undone." in done.out.decode()
    assert tree(desk.work) == {"list.txt": b"milk\nbread\neggs\nblack tea\nrice\nsalt\n"}

    (entry,) = [one for one in desk.run("--json", "timeline", "story").json["entries"] if one["kind"] == "restore"]
    assert (entry["restore_kind"], entry["point"], entry["upto"]) == ("undo-turn", "before:2", "after:2")
    marks = {
        (one["turn"], file["path"]): file["undone"]
        for one in desk.run("--json", "timeline", "story").json["entries"]
        if one["kind"] == "turn"
        for file in one["files"]
    }
    assert marks == {(1, "list.txt"): False, (2, "list.txt"): False, (2, "note.txt"): True, (3, "list.txt"): False}

    assert desk.run("undo", "story", "--yes").status == 0
    assert tree(desk.work) == start
    assert desk.run("redo", "story", "--yes").status == 0
    assert tree(desk.work) == {"list.txt": b"milk\nbread\neggs\nblack tea\nrice\nsalt\n"}
    assert desk.run("verify").status == 0


def test_what_scripts_read(desk: Desk) -> None:
    asked = desk.run("--json", "undo-turn", "story", "2", "--yes")
    assert asked.status == 1
    assert set(asked.json) == {"entry", "overlaps", "later_kept"}
    assert asked.json["entry"] is None
    (overlap,) = asked.json["overlaps"]
    assert set(overlap) == OVERLAP_KEYS
    assert {key: overlap[key] for key in ("path", "number", "kind", "now", "then", "after", "changed_by")} == {
        "path": "list.txt",
        "number": 0,
        "kind": "lines",
        "now": ["black tea"],
        "then": ["tea"],
        "after": ["green tea"],
        "changed_by": "unknown",
    }

    shown: Any = desk.run("undo-turn", "story", "2", "--overlaps", "undo", "--json").json
    assert {"digest", "files", "overlaps", "later_kept", "kind", "upto"} <= set(shown)
    assert [(one["path"], one["action"]) for one in shown["files"]] == [("list.txt", "write"), ("note.txt", "delete")]

    done = desk.run("undo-turn", "story", "2", "--overlaps", "undo", "--yes", "--json")
    assert done.status == 0
    assert (done.json["entry"], done.json["restored"], done.json["verified"]) == (1, ["list.txt", "note.txt"], True)
    assert done.json["later_kept"] == ["list.txt"]
    assert tree(desk.work) == {"list.txt": b"milk\nbread\neggs\ntea\nrice\nsalt\n"}


def test_one_file_of_a_turn(desk: Desk) -> None:
    done = desk.run("undo-turn", "story", "2", "--path", "note.txt", "--yes")
    assert done.status == 0
    assert "note.txt" not in tree(desk.work)
    again = desk.run("undo-turn", "story", "2", "--path", "note.txt", "--yes")
    assert again.status == 1
    assert "Nothing to restore." in again.out.decode()


def test_turns_and_paths_that_are_none(desk: Desk) -> None:
    start = tree(desk.work)
    assert desk.run("undo-turn", "story", "0", "--yes").status == 2
    assert desk.run("undo-turn", "story", "two", "--yes").status == 2
    assert desk.run("undo-turn", "story", "9", "--yes").status == 3
    assert desk.run("undo-turn", "story", "2", "--path", "../outside", "--yes").status == 1
    assert desk.run("undo-turn", "story", "2", "--overlaps", "both", "--yes").status == 2
    assert desk.run("undo-turn", "story", "2", "--path", "nobody.txt", "--yes").status == 1
    assert tree(desk.work) == start


def test_the_real_program_does_it_without_a_screen(desk: Desk) -> None:
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(desk.data), "--home", str(desk.home)]
    words = ["undo-turn", "story", "2", "--overlaps", "keep", "--yes", "--json"]
    run = subprocess.run([*command, *words], capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["restored"] == ["list.txt", "note.txt"]
