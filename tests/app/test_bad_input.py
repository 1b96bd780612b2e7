"""What goes wrong gets a clear sentence, the exit status of the command line's page, and changes nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.claude_sessions import write_demo_session
from tests.helpers.program import Answer, call, tree
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock


@pytest.fixture
def places(tmp_path: Path, home: Path) -> tuple[Path, Path, Path]:
    """(data folder, home folder with one session, its workspace)."""
    workspace = tmp_path / "tidewatch"
    workspace.mkdir()
    write_demo_session(home, workspace)
    return tmp_path / "data", home, workspace


def _says(answer: Answer, status: int, code: str) -> str:
    assert answer.status == status, answer.err
    lines = answer.err.strip().split("\n")
    assert len(lines) == 1, "one line on standard error"
    assert lines[0].startswith(f"error: {code}: "), lines
    return lines[0]


def _unreadable(tmp_path: Path) -> dict[str, Path]:
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    garbage = tmp_path / "garbage.jsonl"
    garbage.write_bytes(bytes(range(256)) * 64)
    cut = tmp_path / "cut.jsonl"
    cut.write_text('{"type":"user","message":{"role":"us')
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"hello": ["world"]}))
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    fifo = tmp_path / "fifo.jsonl"
    os.mkfifo(fifo)
    deep = tmp_path / "deep.jsonl"
    deep.write_text("[" * 100_000)
    return {
        "empty": empty, "garbage": garbage, "cut": cut, "other": other, "folder": folder, "fifo": fifo, "deep": deep,
        "missing": tmp_path / "missing.jsonl",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["empty", "garbage", "cut", "other", "folder", "fifo", "deep", "missing"])
def test_a_file_that_is_no_history_is_refused_with_a_sentence(tmp_path: Path, home: Path, kind: str) -> None:
    path = _unreadable(tmp_path)[kind]
    answer = call(tmp_path / "data", home, "--json", "import", str(path))
    assert answer.status == 3
    assert answer.json["error"]["code"] in ("source.unknown-format", "disk.cannot-read")
    assert answer.err.startswith("error: ")
    assert not (tmp_path / "data" / "vaults").exists(), "nothing was written"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything; the sources' own tests simulate it")
def test_a_file_without_permission_is_refused(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "locked.jsonl"
    path.write_text("{}")
    path.chmod(0)
    _says(call(tmp_path / "data", home, "import", str(path)), 3, "disk.cannot-read")


def test_without_permission_another_user_gets_a_sentence(tmp_path: Path) -> None:
    """The same as an unprivileged user, since a test run by root proves nothing."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the test above covers this one")
    path = tmp_path / "locked.jsonl"
    path.write_text("{}")
    path.chmod(0)
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from vibekit_desktop.core.sources.claude_code import ClaudeCode\n"
        "from vibekit_desktop.core.types.errors import CannotRead\n"
        "os.chdir(sys.argv[1])\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    ClaudeCode().read(Path('locked.jsonl'))\n"
        "except CannotRead as error:\n"
        "    print('refused', error.reason)\n"
    )
    tmp_path.chmod(0o755)
    command = [sys.executable, "-c", script, str(tmp_path)]
    out = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).resolve().parents[2])
    assert out.stdout == "refused Permission denied\n", out.stderr


def test_a_workspace_that_does_not_exist_is_said_and_nothing_is_made(places: tuple[Path, Path, Path], tmp_path: Path) -> None:
    data, home, _ = places
    session = next((home / ".claude" / "projects").rglob("*.jsonl"))
    _says(call(data, home, "import", str(session), "--workspace", str(tmp_path / "nowhere")), 3, "workspace.missing")
    assert not (data / "vaults").exists()


def test_a_missing_workspace_can_be_read_and_not_restored(places: tuple[Path, Path, Path], tmp_path: Path) -> None:
    data, home, workspace = places
    assert call(data, home, "timeline", "@1").status == 0
    workspace.rename(tmp_path / "moved")
    for verb in (("timeline", "@1"), ("show", "@1"), ("diff", "@1")):
        assert call(data, home, *verb).status == 0, verb
    out = tmp_path / "out"
    out.mkdir()
    assert call(data, home, "checkout", "@1", "after:1", str(out)).status == 0
    assert tree(out)
    line = _says(call(data, home, "restore", "@1", "before:1", "--yes"), 3, "workspace.missing")
    assert str(workspace) in line, "it says where it looked"


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("show", "no-such-chat"), 3, "chat.not-found"),
        (("show", "@99"), 3, "chat.not-found"),
        (("show", "../../etc"), 3, "chat.not-found"),
        (("timeline", ""), 3, "chat.not-found"),
        (("preview", "@1", "before:99"), 3, "checkpoint.point-not-found"),
        (("preview", "@1", "7.5"), 3, "checkpoint.point-not-found"),
        (("preview", "@1", "entry:1"), 3, "checkpoint.point-not-found"),
        (("preview", "@1", "yesterday"), 2, "request.malformed"),
        (("preview", "@1", "before:-1"), 2, "request.malformed"),
        (("restore", "@1", "now", "--yes"), 2, "request.malformed"),
        (("undo", "@1", "--yes"), 1, "checkpoint.nothing-to-take-back"),
        (("redo", "@1", "--yes"), 1, "checkpoint.nothing-to-take-back"),
        (("undo-file", "@1", "before:1", "../outside", "--yes"), 1, "path.escape"),
        (("undo-file", "@1", "before:1", "/etc/passwd", "--yes"), 1, "path.escape"),
        (("undo-file", "@1", "before:1", ".git/config", "--yes"), 1, "path.refused"),
        (("cat", "@1", "after:1", "never/there.py"), 1, "checkpoint.not-known-there"),
        (("restore", "@1", "before:1", "--plan", "0" * 64, "--yes"), 1, "checkpoint.plan-stale"),
        (("frobnicate",), 2, "usage"),
        (("search", "text"), 2, "usage"),
        (("show",), 2, "usage"),
        (("list", "--limit", "0"), 2, "usage"),
        (("show", "@1", "--messages", "5:2"), 2, "usage"),
        (("--vault", "x", "list"), 2, "usage"),
    ],
)
def test_a_request_that_cannot_be_met_says_why(
    places: tuple[Path, Path, Path], words: tuple[str, ...], status: int, code: str
) -> None:
    data, home, workspace = places
    before = tree(workspace)
    line = _says(call(data, home, *words), status, code)
    assert len(line) > len(f"error: {code}: ") + 10
    assert tree(workspace) == before
    answer = call(data, home, *words, "--json")
    assert answer.status == status
    assert answer.json["error"]["code"] == code


def test_a_checkout_into_a_folder_with_files_is_refused(places: tuple[Path, Path, Path]) -> None:
    data, home, workspace = places
    before = tree(workspace)
    _says(call(data, home, "checkout", "@1", "after:1", str(workspace)), 1, "checkout.not-empty")
    assert tree(workspace) == before


def test_a_damaged_library_is_kept_and_said(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    assert call(data, home, "timeline", "@1").status == 0
    library = data / "library.json"
    library.write_text('{"version": 1, "vaults": [{"id"')
    _says(call(data, home, "list"), 3, "disk.cannot-read")
    assert library.read_text() == '{"version": 1, "vaults": [{"id"'


def test_a_library_of_a_newer_version_is_left_alone(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    data.mkdir(exist_ok=True)
    (data / "library.json").write_text('{"version": 99}')
    _says(call(data, home, "list"), 3, "store.newer-format")
    assert (data / "library.json").read_text() == '{"version": 99}'


def test_one_damaged_chat_hides_no_other(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    assert call(data, home, "timeline", "@1").status == 0
    (vault,) = (data / "vaults").iterdir()
    (vault / "chats" / "broken.json").write_bytes(b"\0" * 413)
    rows = call(data, home, "--json", "list").json["chats"]
    assert {row["id"]: row["damaged"] for row in rows}["broken"] is True
    assert len(rows) == 2
    report = call(data, home, "--json", "verify")
    assert report.status == 3
    assert [one["kind"] for one in report.json["problems"]] == ["chat-damaged"]
    assert (vault / "chats" / "broken.json").read_bytes() == b"\0" * 413


def test_a_held_vault_is_busy_and_names_the_holder(places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    data, home, workspace = places
    assert call(data, home, "timeline", "@1").status == 0
    (vault,) = (data / "vaults").iterdir()
    before = tree(workspace)
    holder = VaultLock(Fs(), vault, program="another-program")
    seconds = iter(range(0, 10_000, 3))
    monkeypatch.setitem(VaultLock.__init__.__kwdefaults__, "now_s", lambda: next(seconds))
    monkeypatch.setitem(VaultLock.__init__.__kwdefaults__, "wait", lambda _: None)
    with holder.hold(1.0):
        line = _says(call(data, home, "restore", "@1", "before:1", "--yes"), 4, "vault.busy")
    assert "another-program" in line
    assert tree(workspace) == before


def test_two_processes_change_one_vault_and_neither_loses_anything(places: tuple[Path, Path, Path]) -> None:
    """Four restores by real processes at once: the log stays whole and every entry is there once."""
    data, home, workspace = places
    chat = call(data, home, "--json", "list").json["chats"][0]["id"]
    assert call(data, home, "timeline", chat).status == 0
    before = tree(workspace)
    command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(data), "--home", str(home), "--json"]
    running = [
        subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for words in (
            ("restore", chat, "before:2", "--scope", "files", "--yes"),
            ("restore", chat, "before:3", "--scope", "files", "--yes"),
        )
        for _ in range(2)
    ]
    statuses: list[int] = []
    for process in running:
        _, err = process.communicate(timeout=60)
        statuses.append(process.returncode)
        # a plan that was overtaken is refused as stale; anything else is a fault
        assert process.returncode == 0 or b"checkpoint.plan-stale" in err, err
    assert 0 in statuses
    assert call(data, home, "verify").status == 0
    entries = [one for one in call(data, home, "--json", "timeline", chat).json["entries"] if one["kind"] == "restore"]
    assert [one["entry"] for one in entries] == list(range(1, len(entries) + 1))
    while call(data, home, "undo", chat, "--yes").status == 0:
        pass
    assert tree(workspace) == before
