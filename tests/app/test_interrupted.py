"""The program is killed in the middle of a restore; the next verbs find everything, finish it, and take it back."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.program import tree
from tests.helpers.vaults import Library, chat_of, make_library, session

_KILLED = """
import os, signal, sys
from vibekit_desktop.app.main import main
from vibekit_desktop.core.disk import faults

def kill(name):
    if name == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)

with faults.armed(kill):
    sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def library(tmp_path: Path, home: Path) -> Library:
    return make_library(tmp_path, home)


def _kill(library: Library, point: str, *words: str) -> None:
    """A process of its own, killed just before a step."""
    command = [sys.executable, "-c", _KILLED, point, "--data-dir", str(library.data), "--home", str(library.home), *words]
    ended = subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).resolve().parents[2])
    assert ended.returncode == -signal.SIGKILL, ended.stderr


POINTS = ["blob.folder", "stage.sync", "restore.plan", "restore.planned", "target.rename", "transcript.cut", "restore.close"]


@pytest.mark.parametrize("point", [*POINTS, "restore.closed"])
def test_a_killed_restore_is_finished_by_the_next_change(library: Library, point: str) -> None:
    before = tree(library.work)
    _kill(library, point, "restore", library.one, "before:2", "--yes")
    for words in (("list",), ("timeline", library.one), ("preview", library.one, "start")):
        assert library.call(*words).status == 0, words
    problems = {one["kind"] for one in library.call("--json", "verify").json["problems"]}
    assert problems <= {"restore-unfinished"}
    answer = library.call("restore", library.one, "before:2", "--yes")
    assert answer.status == 0, "the first try, without a stale plan"
    assert ("finished the interrupted entry 1" in answer.err) == ("restore-unfinished" in problems)
    assert (library.work / "one.txt").read_text() == "one 1\n"
    assert len(library.call("--json", "show", library.one).json["chat"]["messages"]) == 2
    assert library.call("verify").status == 0
    assert not [path for path in tree(library.work) if ".vibekit-restore-" in path]
    assert not (library.vault / "desktop" / "staging").exists()
    assert not list(library.data.rglob(".vibekit-temp-*"))
    while library.call("undo", library.one, "--yes").status == 0:
        pass
    assert tree(library.work) == before
    assert len(library.call("--json", "show", library.one).json["chat"]["messages"]) == 4


def test_a_recovery_that_cannot_go_on_keeps_no_other_chat_from_changing(library: Library) -> None:
    _kill(library, "transcript.keep", "restore", library.two, "before:1", "--yes")
    path = library.vault / "chats" / f"{library.two}.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    assert library.call("restore", library.one, "before:2", "--yes").status == 0
    assert (library.work / "one.txt").read_text() == "one 1\n"
    refused = library.call("--json", "undo", library.two, "--yes")
    assert (refused.status, refused.json["error"]["code"]) == (3, "chat.damaged")
    found = {(one["kind"], one["chat_id"]) for one in library.call("--json", "verify").json["problems"]}
    assert found == {("restore-unfinished", library.two), ("chat-damaged", library.two)}
    path.write_bytes(whole)
    assert library.call("undo", library.two, "--yes").status == 0
    assert (library.work / "two.txt").read_text() == "two 1\n"
    assert library.call("verify").status == 0


def test_a_plan_that_a_person_confirmed_is_not_carried_out_after_a_recovery_changed_it(library: Library) -> None:
    digest = library.call("--json", "preview", library.one, "start").json["digest"]
    _kill(library, "target.rename", "restore", library.one, "before:2", "--yes")
    answer = library.call("--json", "restore", library.one, "start", "--plan", digest, "--yes")
    assert (answer.status, answer.json["error"]["code"]) == (1, "checkpoint.plan-stale")
    assert (library.work / "one.txt").read_text() == "one 1\n", "the interrupted one was finished"


def test_a_file_in_the_place_of_a_folder_leaves_its_paths_and_restores_the_others(library: Library) -> None:
    """The agent made a folder's file; a person put a file where the folder was."""

    made = session(library.work, "sub/f", "a", "b")
    made.prompt("c")
    made.write("plain.txt", "p\n")
    made.end_turn("Done.")
    made.install(library.home)
    (library.work / "sub").write_text("a file now")
    (library.work / "plain.txt").write_text("p\n")
    answer = library.call("--json", "restore", chat_of(made), "before:2", "--mine", "restore", "--yes")
    assert answer.status == 1
    assert answer.json["restored"] == ["plain.txt"]
    assert answer.json["left"] == [{"path": "sub/f.txt", "reason": "file-on-the-way"}]
    assert (library.work / "sub").read_text() == "a file now"
    assert sorted(os.listdir(library.work)) == ["one.txt", "sub", "two.txt"]


def test_an_import_finishes_what_was_interrupted_before_it_writes(library: Library) -> None:
    _kill(library, "restore.planned", "restore", library.one, "before:2", "--yes")
    assert library.call("timeline", library.one).status == 0
    assert not library.call("--json", "verify").json["ok"], "reading finishes nothing"
    assert library.call("import", str(library.home / ".claude" / "projects")).status == 0
    assert library.call("verify").status == 0
    assert (library.work / "one.txt").read_text() == "one 1\n"


def test_a_history_that_no_longer_holds_what_was_imported_is_refused_by_its_own_name(library: Library) -> None:
    made = session(library.work, "one", "other words")
    path = made.install(library.home)
    answer = library.call("--json", "import", str(path))
    assert answer.status == 1
    (failed,) = answer.json["failed"]
    assert failed["code"] == "source.rewritten"
    assert answer.err.startswith("error: source.rewritten: ")
    assert len(library.call("--json", "show", library.one).json["chat"]["messages"]) == 4, "ours is kept"
