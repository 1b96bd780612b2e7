"""The command line's promises: the keys of every object, the exit status, and that Qt is never imported."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.claude_sessions import write_demo_session
from tests.helpers.program import call, tree

DIFF_KEYS = {"path", "status", "old_path", "lines_added", "lines_removed", "tag", "author", "how", "tool_call_id",
             "before_sha", "after_sha", "mode_before", "mode_after"}  # fmt: skip


@pytest.fixture
def places(tmp_path: Path, home: Path) -> tuple[Path, Path, Path]:
    """(data folder, home folder with one session, its workspace)."""
    workspace = tmp_path / "tidewatch"
    workspace.mkdir()
    write_demo_session(home, workspace)
    return tmp_path / "data", home, workspace


def test_a_found_session_is_listed_before_anybody_opened_it(places: tuple[Path, Path, Path]) -> None:
    data, home, workspace = places
    (row,) = call(data, home, "--json", "list").json["chats"]
    assert row["source"] == "claude-code"
    assert row["agent"] == "Claude Code"
    assert row["workspace"] == str(workspace)
    assert row["turn_count"] == 5
    assert row["opened"] is False
    assert set(row) >= {"id", "name", "agent", "source", "workspace", "created_at", "updated_at", "message_count", "turn_count",
                        "lines_added", "lines_removed", "parent_chat_id", "archived", "damaged"}  # fmt: skip
    assert not (data / "vaults").exists(), "listing opens nothing"
    call(data, home, "show", "@1")
    (opened,) = call(data, home, "--json", "list").json["chats"]
    assert opened["id"] == row["id"]
    assert opened["opened"] is True


def test_a_row_of_the_list_tells_the_net_counts_after_a_restore(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places

    def net(verb: str) -> tuple[int, int]:
        row = call(data, home, "--json", "list").json["chats"][0]
        files = call(data, home, "--json", "diff", "@1").json["files"]
        counts = row["lines_added"], row["lines_removed"]
        assert counts == tuple(sum(one[key] for one in files) for key in ("lines_added", "lines_removed")), verb
        return counts

    call(data, home, "timeline", "@1")
    before = net("timeline")
    assert call(data, home, "restore", "@1", "before:2", "--yes").status == 0
    assert net("restore") != before
    assert call(data, home, "undo", "@1", "--yes").status == 0
    assert net("undo") == before


def test_paths_of_a_diff_may_stand_before_or_after_the_options(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    points, paths = ("--from", "start", "--to", "after:5"), ("README.md", "tidewatch/model.py")
    for words in ((*points, *paths), (*paths, *points), (paths[0], *points, paths[1])):
        files = call(data, home, "--json", "diff", "@1", *words).json["files"]
        assert [one["path"] for one in files] == list(paths), words
    assert call(data, home, "diff", "@1", *points, "README.md", "--bogus").status == 2
    assert call(data, home, "show", "@1", "README.md").status == 2
    assert call(data, home, "show", "@1", "--", "README.md").status == 2


def test_a_path_that_looks_like_an_option_stands_after_two_dashes(tmp_path: Path, home: Path) -> None:
    data, work = tmp_path / "data", _with_files(tmp_path, home, "--patch", "plain.txt", "-")
    assert {path.name for path in work.iterdir()} == {"--patch", "plain.txt", "-"}
    points = ("--from", "before:1", "--to", "after:1")
    for words in (
        ("--", "--patch"),
        (*points, "--", "--patch"),
        ("--", "--patch", "plain.txt"),
        ("-", *points, "--", "--patch"),
    ):
        files = call(data, home, "--json", "diff", "story", *words).json["files"]
        assert [one["path"] for one in files] == sorted(word for word in words if word in ("--patch", "plain.txt", "-")), words
    assert call(data, home, "diff", "story", *points, "--bogus", "--", "--patch").status == 2


def test_a_name_of_several_lines_is_told_on_one(tmp_path: Path, home: Path) -> None:
    data = tmp_path / "data"
    _with_files(tmp_path, home, "a\n    D secrets.txt \u22121\tb")
    told = "A a\\x0a    D secrets.txt \u22121\\x09b"
    for words in (("timeline", "story"), ("diff", "story"), ("undo-turn", "story", "1"), ("preview", "story", "before:1")):
        out = call(data, home, *words).out.decode()
        assert "D secrets.txt" in out
        assert not any(line.strip().startswith("D secrets.txt") for line in out.splitlines()), (words, out)
    assert told in call(data, home, "diff", "story").out.decode()


def test_notes_of_files_without_changed_lines_are_told(tmp_path: Path, home: Path) -> None:
    data, work = tmp_path / "data", _with_files(tmp_path, home, "run.sh", "old.txt", "picture")
    (work / "picture").write_bytes(b"\0one")
    call(data, home, "turn", "story", "begin", "--workspace", str(work), "--prompt", "Change facts")
    (work / "picture").write_bytes(b"\0two")
    for name in ("run.sh", "picture"):
        (work / name).chmod(0o755)
    (work / "old.txt").rename(work / "new.txt")
    assert call(data, home, "turn", "story", "end").status == 0

    points = ("--from", "before:2", "--to", "after:2")
    notes = {one["path"]: one["notes"] for one in call(data, home, "--json", "diff", "story", *points).json["files"]}
    mode = "mode: 644 -> 755"
    assert notes == {"run.sh": [mode], "new.txt": ["rename: old.txt -> new.txt"], "picture": [mode, "binary"]}
    told = call(data, home, "diff", "story", *points).out.decode()
    assert told.count(mode) == 2
    assert "rename: old.txt -> new.txt" in told


def test_an_old_name_in_a_note_is_as_harmless_as_any_other(tmp_path: Path, home: Path) -> None:
    data, work = tmp_path / "data", _with_files(tmp_path, home, "\x1b[31mred\n\u202e\udce9")
    call(data, home, "turn", "story", "begin", "--workspace", str(work), "--prompt", "Rename it")
    (work / "\x1b[31mred\n\u202e\udce9").rename(work / "new.txt")
    assert call(data, home, "turn", "story", "end").status == 0
    points = ("--from", "before:2", "--to", "after:2")
    told = call(data, home, "diff", "story", *points).out.decode()
    assert "rename: \\x1b[31mred\\x0a\\u202e" in told
    assert not {"\x1b", "\u202e"} & set(told)
    assert [len(one["notes"]) for one in call(data, home, "--json", "diff", "story", *points).json["files"]] == [1]


def _with_files(tmp_path: Path, home: Path, *names: str) -> Path:
    """A workspace whose chat "story" made these files in its only turn."""
    data, work = tmp_path / "data", tmp_path / "work"
    work.mkdir()
    assert call(data, home, "turn", "story", "begin", "--workspace", str(work), "--prompt", "Make files").status == 0
    for name in names:
        (work / name).write_text("text\n")
    assert call(data, home, "turn", "story", "end").status == 0
    return work


def test_a_turn_that_ran_a_command_is_doubtful_and_misses_no_file(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    heads = [line for line in call(data, home, "timeline", "@1").out.decode().splitlines() if line.startswith("Turn ")]
    assert [line.endswith("(may be incomplete)") for line in heads] == [False, True, False, True, False]


def test_json_may_stand_before_or_after_the_verb_and_is_all_there_is(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    assert call(data, home, "--json", "list").out == call(data, home, "list", "--json").out
    for words in (("list",), ("sources",), ("show", "@1"), ("timeline", "@1"), ("diff", "@1"), ("preview", "@1", "before:1"),
                  ("verify",), ("doctor",)):  # fmt: skip
        answer = call(data, home, *words, "--json")
        assert answer.status == 0, words
        assert answer.err == ""
        assert isinstance(answer.json, dict)


def test_sources_says_where_it_looked(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    (source,) = call(data, home, "--json", "sources").json["sources"]
    assert source["name"] == "claude-code"
    assert source["sessions"] == 1
    assert source["root"] == str(home / ".claude" / "projects")
    assert source["newest_at"] > 0
    assert source["problems"] == []


def test_a_chat_can_be_named_in_every_promised_way(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    chat = call(data, home, "--json", "list").json["chats"][0]["id"]
    session = next((home / ".claude" / "projects").rglob("*.jsonl")).stem
    for name in (chat, chat[:8], "@1", f"claude-code:{session}"):
        assert call(data, home, "--json", "show", name).json["chat"]["id"] == chat, name


def test_show_cuts_messages_and_says_where_turns_are(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    whole = call(data, home, "--json", "show", "@1").json
    turns = whole["turns"]
    assert [turn["turn"] for turn in turns] == [1, 2, 3, 4, 5]
    first = turns[2]["first_message"]
    part = call(data, home, "--json", "show", "@1", "--messages", f"{first}:{first}").json
    assert part["chat"]["messages"] == [whole["chat"]["messages"][first - 1]]
    assert part["chat"]["messages"][0]["role"] == "user"


def test_timeline_and_diff_have_the_promised_keys_and_agree(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    entries = call(data, home, "--json", "timeline", "@1").json["entries"]
    assert [entry["kind"] for entry in entries] == ["turn"] * 5 + ["now"]
    for entry in entries:
        assert set(entry) >= {"kind", "turn", "tag", "at", "prompt", "coverage", "files"}
        for change in entry["files"]:
            assert set(change) >= DIFF_KEYS
    turn = next(entry for entry in entries if entry["files"])
    number = turn["turn"]
    answer = call(data, home, "--json", "diff", "@1", "--from", f"before:{number}", "--to", f"after:{number}").json
    assert {one["path"] for one in answer["files"]} == {one["path"] for one in turn["files"]}
    counts = {one["path"]: (one["lines_added"], one["lines_removed"]) for one in turn["files"]}
    for one in answer["files"]:
        assert set(one) >= DIFF_KEYS | {"hunks", "notes"}
        assert (one["author"], one["how"]) == (None, None), "between two points many may have been at work"
        assert (one["lines_added"], one["lines_removed"]) == counts[one["path"]]
        lines = [line for hunk in one["hunks"] for line in hunk["lines"]]
        assert sum(line.startswith("+") for line in lines) == counts[one["path"]][0]
        assert sum(line.startswith("-") for line in lines) == counts[one["path"]][1]
        for hunk in one["hunks"]:
            assert sum(line[0] in " -" for line in hunk["lines"]) == hunk["old_lines"]
            assert sum(line[0] in " +" for line in hunk["lines"]) == hunk["new_lines"]


def test_a_patch_of_any_turn_is_taken_by_git(places: tuple[Path, Path, Path], tmp_path: Path) -> None:
    data, home, _ = places
    for turn in range(1, 6):
        before, after = tmp_path / f"before{turn}", tmp_path / f"after{turn}"
        for folder, point in ((before, f"before:{turn}"), (after, f"after:{turn}")):
            folder.mkdir()
            assert call(data, home, "checkout", "@1", point, str(folder)).status == 0
        patch = call(data, home, "diff", "@1", "--from", f"before:{turn}", "--to", f"after:{turn}", "--patch").out
        if patch:
            subprocess.run(["git", "apply", "-"], input=patch, cwd=before, check=True)
        assert tree(before) == tree(after), turn


def test_preview_restore_and_undo_as_a_script_would_use_them(places: tuple[Path, Path, Path]) -> None:
    data, home, workspace = places
    before = tree(workspace)
    preview = call(data, home, "--json", "preview", "@1", "before:3", "--scope", "files").json
    assert set(preview) >= {"digest", "message_count", "files"}
    for one in preview["files"]:
        assert set(one) >= {"path", "action", "reason", "changed_by", "also_by", "current_sha", "wanted_sha", "current_mode",
                            "wanted_mode"}  # fmt: skip
    assert tree(workspace) == before, "a preview changes nothing"
    unsaid = call(data, home, "--json", "restore", "@1", "before:3", "--scope", "files")
    assert unsaid.status == 1
    assert unsaid.json == preview, "without --yes the preview is printed"
    assert tree(workspace) == before
    words = ("restore", "@1", "before:3", "--scope", "files", "--plan", preview["digest"], "--yes")
    report = call(data, home, "--json", *words)
    assert report.status == 0
    assert set(report.json) >= {"entry", "restored", "left", "verified", "branch_chat_id"}
    assert set(report.json["restored"]) == {one["path"] for one in preview["files"] if one["action"] != "leave"}
    assert call(data, home, *words).status == 1, "the plan is no longer that one"
    assert call(data, home, "undo", "@1", "--yes").status == 0
    assert tree(workspace) == before


def test_cat_gives_exact_bytes(places: tuple[Path, Path, Path]) -> None:
    data, home, workspace = places
    for path, content in tree(workspace).items():
        assert call(data, home, "cat", "@1", "now", path).out == content
        assert call(data, home, "cat", "@1", "after:5", path).out == content


def test_text_output_cannot_steer_a_terminal(tmp_path: Path, home: Path) -> None:
    from tests.helpers.claude_sessions import SessionBuilder

    workspace = tmp_path / "ws"
    workspace.mkdir()
    made = SessionBuilder(cwd=str(workspace))
    made.prompt("look \x1b]0;owned\x07 here \u202e")
    made.write(f"{workspace}/a\x1b[31m.txt", "x\n")
    made.end_turn("\x1b[2J done")
    made.install(home)
    for verb in (("list",), ("show", "@1"), ("timeline", "@1"), ("preview", "@1", "before:1"), ("diff", "@1")):
        out = call(tmp_path / "data", home, *verb).out
        assert b"\x1b" not in out, verb
        assert "\u202e".encode() not in out, verb


def test_a_verb_never_imports_qt(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    script = (
        "import sys\n"
        "from vibekit_desktop.app.main import main\n"
        f"status = main(['--data-dir', {str(data)!r}, '--home', {str(home)!r}, '--json', 'timeline', '@1'])\n"
        "bad = [name for name in sys.modules if name.split('.')[0] in ('PySide6', 'shiboken6', 'qasync')]\n"
        "sys.stderr.write(repr(bad))\n"
        "sys.exit(status)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stderr == "[]"
    assert json.loads(out.stdout)["entries"]


def test_version_and_help_are_answered_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    from vibekit_desktop import __version__
    from vibekit_desktop.app.main import main

    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"vibekit-desktop {__version__}"
    assert main(["--help"]) == 0
    assert "restore" in capsys.readouterr().out


def test_verify_makes_its_caches_again_when_asked(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    before = call(data, home, "--json", "list").json
    assert call(data, home, "timeline", "@1").status == 0
    for name in ("sessions.json", "net.json"):
        (data / "cache" / name).write_text("{broken")
    assert call(data, home, "--json", "verify").json["ok"], "a cache is no problem"
    assert (data / "cache" / "net.json").read_text() == "{broken", "verify changes nothing"
    assert call(data, home, "--json", "verify", "--repair-index").json["ok"]
    assert not (data / "cache" / "net.json").exists()
    assert json.loads((data / "cache" / "sessions.json").read_text())["sessions"]
    assert call(data, home, "--json", "list").json["chats"][0]["id"] == before["chats"][0]["id"]
