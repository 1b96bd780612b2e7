"""Every verb, called wrongly in every way: the promised exit status, one sentence, the error object, and nothing changed."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.program import Answer
from tests.helpers.vaults import Library, chat_of, make_library, session
from vibekit_desktop.cli.commands import COMMANDS

Case = tuple[tuple[str, ...], int, str]
STAGE = "one.txt.vibekit-restore-000000000000000001"
MODES = ("", "7", "75", "999", "0888", "4755", "07777", "rwx", "-755", "٧٥٥")
ONE, TURN, OPEN = "{one}", "{turn}", "{open}"
"""Stand for chats of the library: an imported one, one of hooks without a turn that runs, one with a turn that runs."""


def _chats(verb: str, *rest: str) -> list[Case]:
    """What can be wrong with the chat of any verb."""
    found: list[Case] = [
        ((verb, chat, *rest), 3, "chat.not-found") for chat in ("no-such-chat", "@99", "@0", "../../etc", "x", "claude-code:x")
    ]
    return [*found, ((verb, "prefix-a", *rest), 3, "chat.ambiguous")]


def _paths(*words: str, named: tuple[str, ...] = ()) -> list[Case]:
    """What can be wrong with a path, which stands last or after ``named``."""
    escapes = ("../outside", "/etc/passwd", "sub/../../x", "", ".", "/", "a\0b", "{work}", "{other_work}/one.txt", "{work}-x/y")
    refused = (".git/config", ".GIT/config", "sub/.git/x", STAGE, f"{STAGE}/x")
    return [
        *(((*words, *named, path), 1, "path.escape") for path in escapes),
        *(((*words, *named, path), 1, "path.refused") for path in refused),
    ]


def _points(*before: str, after: tuple[str, ...] = ()) -> list[Case]:
    malformed = ("yesterday", "before:", "before:-1", "after:x", "entry:", "1.2.3", "-1.0", "٣", "before:1 ")
    unknown = ("before:99", "after:99", "7", "7.5", "1.9", "entry:9", "before:0")
    return [
        *(((*before, point, *after), 2, "request.malformed") for point in malformed),
        *(((*before, point, *after), 3, "checkpoint.point-not-found") for point in unknown),
    ]


def _usage(*calls: tuple[str, ...]) -> list[Case]:
    return [(words, 2, "usage") for words in calls]


CASES: dict[str, list[Case]] = {
    "list": _usage(("list", "--limit", "0"), ("list", "--limit", "x"), ("list", "--workspace"), ("list", "more")),
    "sources": _usage(("sources", "more"), ("sources", "--limit", "3")),
    "import": [
        *_usage(("import",), ("import", "a", "b"), ("import", "a", "--workspace")),
        (("import", "{home}/nowhere"), 3, "disk.cannot-read"),
        (("import", "{work}"), 3, "source.unknown-format"),
        (("import", "{session}", "--workspace", "{home}/nowhere"), 3, "workspace.missing"),
        (("import", "{session}", "--workspace", "{home}"), 1, "workspace.refused"),
        (("import", "{session}", "--workspace", "/"), 1, "workspace.refused"),
        (("import", "{session}", "--workspace", "{other_work}"), 1, "workspace.refused"),
        (("import", "{session}", "--workspace", "{home}/new"), 1, "workspace.refused"),
        (("import", "{session}", "--agent", "nobody"), 2, "request.malformed"),
    ],
    "show": [
        *_usage(("show",), ("show", ONE, "x"), ("show", ONE, "--messages", "5:2"), ("show", ONE, "--messages", "0:2")),
        *_chats("show"),
    ],
    "timeline": [*_usage(("timeline",), ("timeline", ONE, "x")), *_chats("timeline")],
    "diff": [
        *_usage(("diff",), ("diff", ONE, "--from"), ("diff", ONE, "a.txt", "--bogus")),
        *_chats("diff"),
        *_points("diff", ONE, "--from"),
        *_points("diff", ONE, "--to"),
        *_paths("diff", ONE),
    ],
    "preview": [
        *_usage(("preview",), ("preview", ONE), ("preview", ONE, "start", "--scope", "all")),
        *_chats("preview", "before:1"),
        *_points("preview", ONE),
        (("preview", ONE, "now"), 2, "request.malformed"),
        *_paths("preview", ONE, "before:1", named=("--path",)),
    ],
    "restore": [
        *_usage(("restore",), ("restore", ONE), ("restore", ONE, "start", "--mine", "x"), ("restore", ONE, "start", "--plan")),
        *_chats("restore", "before:1", "--yes"),
        *_points("restore", ONE, after=("--yes",)),
        (("restore", ONE, "now", "--yes"), 2, "request.malformed"),
        (("restore", ONE, "before:1", "--plan", "0" * 64, "--yes"), 1, "checkpoint.plan-stale"),
        *_paths("restore", ONE, "before:1", "--yes", named=("--path",)),
    ],
    "undo-file": [
        *_usage(("undo-file",), ("undo-file", ONE), ("undo-file", ONE, "start")),
        *_chats("undo-file", "before:1", "one.txt", "--yes"),
        *_points("undo-file", ONE, after=("one.txt", "--yes")),
        (("undo-file", ONE, "now", "one.txt", "--yes"), 2, "request.malformed"),
        *_paths("undo-file", ONE, "before:1", "--yes"),
    ],
    "undo": [
        *_usage(("undo",), ("undo", ONE, "x")),
        *_chats("undo", "--yes"),
        (("undo", ONE, "--yes"), 1, "checkpoint.nothing-to-take-back"),
        (("undo", OPEN, "--yes"), 1, "checkpoint.nothing-to-take-back"),
    ],
    "redo": [
        *_usage(("redo",), ("redo", ONE, "x")),
        *_chats("redo", "--yes"),
        (("redo", ONE, "--yes"), 1, "checkpoint.nothing-to-take-back"),
    ],
    "end-restore": [
        *_usage(("end-restore",), ("end-restore", ONE, "x"), ("end-restore", ONE, "--mine", "keep")),
        *_chats("end-restore", "--yes"),
        *_chats("end-restore"),
        *((("end-restore", chat, *rest), 1, "checkpoint.nothing-to-end") for chat in (ONE, OPEN) for rest in ((), ("--yes",))),
    ],
    "cat": [
        *_usage(("cat",), ("cat", ONE), ("cat", ONE, "start")),
        *_chats("cat", "start", "one.txt"),
        *_points("cat", ONE, after=("one.txt",)),
        (("cat", ONE, "start", "one.txt"), 1, "checkpoint.not-known-there"),
        (("cat", ONE, "after:1", "never.txt"), 1, "checkpoint.not-known-there"),
        *_paths("cat", ONE, "after:1"),
    ],
    "checkout": [
        *_usage(("checkout",), ("checkout", ONE), ("checkout", ONE, "start")),
        *_chats("checkout", "start", "{home}/out"),
        *_points("checkout", ONE, after=("{home}/out",)),
        (("checkout", ONE, "after:1", "{work}"), 1, "checkout.not-empty"),
    ],
    "conflicts": [*_usage(("conflicts",), ("conflicts", ONE, "x")), *_chats("conflicts")],
    "branch": [
        *_usage(
            ("branch",), ("branch", ONE), ("branch", ONE, "--at"), ("branch", ONE, "--at", "0"), ("branch", ONE, "--at", "-1"),
            ("branch", ONE, "--at", "text"), ("branch", ONE, "--at", "1.5"), ("branch", ONE, "2"),
            ("branch", ONE, "--at", "1", "--message", "x"), ("branch", ONE, "--message"), ("branch", ONE, "--files", "before"),
            ("branch", ONE, "--at", "1", "--files", "after"),
        ),
        (("branch", ONE, "--message", "a b"), 1, "request.invalid-id"),
        (("branch", ONE, "--message", ""), 1, "request.invalid-id"),
        (("branch", ONE, "--message", "nobody"), 3, "checkpoint.point-not-found"),
        (("branch", ONE, "--at", "99", "--files", "before"), 3, "checkpoint.point-not-found"),
        *_chats("branch", "--at", "1"),
        (("branch", ONE, "--at", "99"), 3, "checkpoint.point-not-found"),
        (("branch", OPEN, "--at", "2"), 3, "checkpoint.point-not-found"),
    ],
    "export": [
        *_usage(("export",), ("export", ONE, "x"), ("export", ONE, "--format", "xml"), ("export", ONE, "--out")),
        *_chats("export"),
        (("export", ONE, "--out", "{work}/one.txt"), 1, "export.file-there"),
        (("export", ONE, "--out", "{home}/nowhere/x.md"), 3, "disk.cannot-write"),
    ],
    "rename": [
        *_usage(("rename",), ("rename", ONE), ("rename", ONE, "a", "b")),
        *_chats("rename", "a name"),
        *((("rename", ONE, name), 2, "request.malformed") for name in ("", "  ", "\n")),
    ],
    **{
        verb: [*_usage((verb,), (verb, ONE, "x"), (verb, ONE, "--yes")), *_chats(verb)]
        for verb in ("pin", "unpin", "archive", "unarchive")
    },
    **{
        verb: [
            *_usage((verb,), (verb, ONE, "x"), (verb, ONE, "--yes")),
            *_chats(verb),
            *(((verb, chat), 1, "chat.not-a-branch") for chat in (ONE, OPEN)),
        ]
        for verb in ("promote", "discard", "merge")
    },
    "delete": [
        *_usage(("delete",), ("delete", ONE, "x"), ("delete", ONE, "--keep"), ("delete", "--yes")),
        *_chats("delete"),
        *_chats("delete", "--yes"),
        *_chats("delete", "--keep-branches", "--yes"),
    ],
    "purge": _usage(
        ("purge",), ("purge", "--yes"), ("purge", "--older-than", "--yes"), ("purge", "--older-than", "3", "x"),
        *(("purge", "--yes", "--older-than", days) for days in ("-1", "1.5", "x", "", "٣", "9999999")),
    ),
    "settings": [
        *_usage(("settings", "theme", "dark", "x"), ("settings", "--theme", "dark")),
        *((("settings", *words), 2, "settings.unknown") for words in (("nope",), ("nope", "1"), ("",), ("Theme",))),
        *((("settings", "theme", value), 2, "settings.bad-value") for value in ("", "blue", "DARK")),
        *((("settings", "archive.retention_days", value), 2, "settings.bad-value") for value in ("x", "1.5", "٣", "99999999")),
    ],
    "record": [
        *_usage(
            ("record",), ("record", OPEN), ("record", OPEN, "a.txt", "b.txt"), ("record", OPEN, "a.txt", "--mode"),
            *(("record", OPEN, "a.txt", "--mode", mode) for mode in MODES),
            ("record", OPEN, "one.txt", "--delete", "--mode", "644"),
        ),
        *_chats("record", "a.txt"),
        *_paths("record", OPEN),
        (("record", OPEN, "{work}/../other/x"), 1, "path.escape"),
        (("record", OPEN, "sub"), 1, "path.refused"),
        (("record", OPEN, "CON"), 1, "path.refused"),
        (("record", OPEN, "pipe"), 1, "path.refused"),
        (("record", OPEN, "out/x"), 1, "path.escape"),
    ],
    "turn": [
        *_usage(
            ("turn",), ("turn", OPEN), ("turn", "begin"), ("turn", OPEN, "pause"), ("turn", OPEN, "end", "x"),
            ("turn", OPEN, "begin", "--answer", "x"), ("turn", OPEN, "end", "--prompt", "x"), ("turn", OPEN, "end", "--answer"),
            ("turn", OPEN, "command-end", "--answer", "x"),
        ),
        *_chats("turn", "end"),
        *_chats("turn", "command-begin"),
        *_chats("turn", "command-end"),
        *(((("turn", chat, "begin")), 2, "workspace.needed") for chat in ("new-chat", "n", "claude-code:new", "other:new")),
        *(
            (("turn", chat, "begin", "--workspace", "{work}"), 1, "request.invalid-id")
            for chat in ("", "a b", "../x", "a/b", "x" * 129, "é", "a.b", ":", "claude-code:", "Claude:x")
        ),
        (("turn", "@99", "begin", "--workspace", "{work}"), 3, "chat.not-found"),
        (("turn", "prefix-a", "begin"), 3, "chat.ambiguous"),
        (("turn", "new-chat", "begin", "--workspace", "{work}/one.txt"), 3, "workspace.missing"),
        (("turn", "new-chat", "begin", "--workspace", "{home}/nowhere"), 3, "workspace.missing"),
        (("turn", "new-chat", "begin", "--workspace", "{home}"), 1, "workspace.refused"),
        (("turn", "new-chat", "begin", "--workspace", "/"), 1, "workspace.refused"),
        (("turn", "new-chat", "begin", "--workspace", "{data}"), 1, "workspace.refused"),
        (("turn", "new-chat", "begin", "--workspace", "{data}/vaults"), 1, "workspace.refused"),
        (("turn", OPEN, "begin", "--workspace", "{other_work}"), 1, "workspace.refused"),
        (("turn", ONE, "begin", "--workspace", "{other_work}"), 1, "workspace.refused"),
        (("turn", TURN, "end"), 1, "turn.none-open"),
        (("turn", TURN, "end", "--answer", "x"), 1, "turn.none-open"),
        (("turn", ONE, "end", "--answer", "x"), 1, "turn.none-open"),
        (("turn", TURN, "command-begin"), 1, "turn.none-open"),
        (("turn", TURN, "command-end"), 1, "turn.none-open"),
        (("turn", OPEN, "command-end"), 1, "turn.none-open"),
    ],
    "undo-turn": [
        *_usage(("undo-turn",), ("undo-turn", ONE), ("undo-turn", ONE, "x", "--yes")),
        *_usage(("undo-turn", ONE, "1", "--overlaps", "x")),
        *_chats("undo-turn", "1", "--yes"),
        (("undo-turn", ONE, "99", "--yes"), 3, "checkpoint.point-not-found"),
        *_paths("undo-turn", ONE, "1", "--yes", named=("--path",)),
    ],
    "comments": [*_usage(("comments",), ("comments", ONE, "x")), *_chats("comments")],
    "agents": _usage(("agents", "x"), ("agents", "--start")),
    "prompt": [
        *_usage(("prompt",), ("prompt", "x", "--allow", "some"), ("prompt", "x", "--timeout", "soon")),
        *_usage(("prompt", "a", "b", "c"), ("prompt", "x", "--agent", "a", "--agent-command", "b")),
        *_usage(("prompt", "hello", "--agent-command", "true"), ("prompt", "hello", "--workspace", "{work}")),
        *_chats("prompt", "hello"),
        (("prompt", "hello", "--workspace", "{work}", "--agent-command", "'"), 2, "request.malformed"),
        (("prompt", "hello", "--workspace", "{work}", "--agent", "nobody"), 2, "agent.unknown"),
        (("prompt", "hello", "--workspace", "{work}", "--agent-command", "/no/such/program"), 3, "agent.missing"),
        (("prompt", "hello", "--workspace", "{home}", "--agent-command", "true"), 1, "workspace.refused"),
    ],
    "verify": [*_usage(("verify", ONE, "x"), ("verify", "--repair")), *_chats("verify")],
    "doctor": _usage(("doctor", "x"), ("doctor", "--fix")),
}  # fmt: skip

EVERY = [case for cases in CASES.values() for case in cases]
GLOBAL = _usage(
    (), ("frobnicate",), ("--vault", "x", "list"), ("--workspace", "x", "list"), ("--open", "x", "list"), ("--jsonn", "list"),
    ("list", "--js"), ("search", "x"),
)[1:]  # fmt: skip


def test_every_verb_has_its_table() -> None:
    assert CASES.keys() == COMMANDS.keys()


# -- the library -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "home").mkdir()
    library = make_library(folder, folder / "home")
    for chat in ("chat-turn", "chat-open", "prefix-a1", "prefix-a2"):
        words = ("turn", chat, "begin", "--workspace", str(library.work), "--prompt", "go")
        assert library.call(*words).status == 0
    assert library.call("turn", "chat-turn", "end").status == 0
    (library.work / "sub").mkdir()
    (library.work / "sub" / "x.txt").write_text("x")
    os.mkfifo(library.work / "pipe")
    (library.work / "out").symlink_to(library.other_work)
    (library.home / "new").mkdir()
    _make_old(library.data / "library.json")
    return folder


def _make_old(listed: Path) -> None:
    """All vaults were used long ago: a call that should not have noted its use would be seen."""
    found = json.loads(listed.read_bytes())
    for vault in found["vaults"]:
        vault["used_at"] = 1
    listed.write_text(json.dumps(found, indent=2))


@pytest.fixture
def library(template: Path, home: Path) -> Library:
    kept = template.with_name(template.name + "-kept")
    if not kept.exists():
        shutil.copytree(template, kept, symlinks=True, copy_function=_copy)
    work, other = template / "work", template / "other"
    ids = [chat_of(session(work, name)) for name in ("one", "two", "far")]
    return Library(template / "data", template / "home", work, other, *ids)


def _copy(source: str, target: str) -> None:
    if stat.S_ISFIFO(os.lstat(source).st_mode):
        os.mkfifo(target)
    else:
        shutil.copy2(source, target)


@pytest.fixture
def broken(template: Path, library: Library) -> Iterator[Library]:
    """The library, for a test that breaks it."""
    yield library
    shutil.rmtree(template)
    shutil.copytree(template.with_name(template.name + "-kept"), template, symlinks=True, copy_function=_copy)


def everything(library: Library) -> dict[str, tuple[int, bytes]]:
    """Every file, folder and link with its permissions. Not the caches, and not the name of who held a lock last."""
    found: dict[str, tuple[int, bytes]] = {}
    for top in (library.data, library.work, library.other_work, library.home):
        for root, folders, names in os.walk(top):
            for name in (*folders, *names):
                path = Path(root) / name
                mode = path.lstat().st_mode
                if path.parent.name == "cache" or name == "cache":
                    continue
                if path.parent.name == "desktop" and name in ("lock", "headers", "headers-archive"):
                    continue
                content = path.read_bytes() if stat.S_ISREG(mode) else b""
                found[str(path)] = mode, os.fsencode(os.readlink(path)) if stat.S_ISLNK(mode) else content
    return found


def filled(library: Library, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words with the names of this library."""
    made = next((library.home / ".claude" / "projects").rglob("*.jsonl"))
    values = {
        "one": library.one, "turn": "chat-turn", "open": "chat-open", "work": str(library.work), "home": str(library.home),
        "other_work": str(library.other_work), "data": str(library.data), "session": str(_session_of(library, made)),
    }  # fmt: skip
    return tuple(word.format(**values) for word in words)


def _session_of(library: Library, found: Path) -> Path:
    """The file of the session that became the first chat."""
    made = session(library.work, "one").session
    return next(path for path in found.parents[1].rglob("*.jsonl") if made in path.name)


def check(library: Library, words: tuple[str, ...], status: int, code: str) -> None:
    """The call is refused as promised, with and without ``--json``, and changes nothing."""
    before = everything(library)
    called = filled(library, words)
    for extra in ((), ("--json",)):
        answer: Answer = library.call(*extra, *called)
        assert answer.status == status, (words, answer.err)
        lines = answer.err.removesuffix("\n").split("\n")
        assert len(lines) == 1, (words, lines)
        assert lines[0].startswith(f"error: {code}: "), (words, lines)
        text = lines[0].removeprefix(f"error: {code}: ")
        assert len(text) > 10
        assert "Traceback" not in text
        if extra:
            assert answer.json["error"] == {"code": code, "message": answer.json["error"]["message"]}
            assert answer.json["error"]["message"] == text.encode("utf-8", "backslashreplace").decode()
        else:
            assert answer.out == b"", words
    assert everything(library) == before, words


# -- the tests ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", CASES)
def test_a_wrong_call_is_told_in_one_sentence_and_changes_nothing(library: Library, verb: str) -> None:
    for words, status, code in CASES[verb]:
        check(library, words, status, code)


def test_a_wrong_option_before_the_verb_is_a_usage_error(library: Library) -> None:
    for words, status, code in GLOBAL:
        check(library, words, status, code)


CHANGING: tuple[tuple[str, ...], ...] = (
    ("record", OPEN, "a.txt"), ("record", OPEN, "one.txt", "--delete"), ("turn", OPEN, "begin", "--prompt", "x"),
    ("turn", OPEN, "end", "--answer", "x"), ("turn", OPEN, "command-begin"), ("branch", OPEN, "--at", "1"),
    ("restore", OPEN, "before:1", "--yes"), ("undo-file", OPEN, "before:1", "one.txt", "--yes"), ("undo", OPEN, "--yes"),
)  # fmt: skip


def _damage_chat(library: Library) -> None:
    (library.vault / "chats" / "chat-open.json").write_bytes(b'{"id": "chat-open", "messages": [')


def _damage_log(library: Library) -> None:
    log = library.log("chat-open")  # type: ignore[arg-type]  # a chat by its plain id
    log.write_bytes(b'{"type":"broken\n' + log.read_bytes())


@pytest.mark.parametrize(
    ("breaking", "code"), [(_damage_chat, "chat.damaged"), (_damage_log, "store.log-damaged")], ids=["chat", "log"]
)
def test_what_is_damaged_is_told_and_kept_by_every_verb_that_would_change_it(
    broken: Library, breaking: Callable[[Library], None], code: str
) -> None:
    breaking(broken)
    for words in CHANGING:
        if words[0] == "undo" or (words[0] == "undo-file" and breaking is _damage_log):
            continue  # nothing to undo; a file that this chat did not change is left anyway
        check(broken, words, 3, code)


def test_a_workspace_that_is_gone_is_looked_for_where_it_was(broken: Library) -> None:
    broken.work.rename(broken.work.with_name("away"))
    broken.work.with_name("work").write_text("a file, no folder")
    for words in CHANGING:
        if words[0] in ("undo", "branch"):
            continue
        answer = broken.call(*filled(broken, words))
        assert answer.status == 3
        assert answer.err == f"error: workspace.missing: there is no folder at {str(broken.work)!r}; nothing was changed\n"
    for reading in (("conflicts", OPEN), ("timeline", OPEN), ("show", OPEN), ("list",)):
        assert broken.call(*filled(broken, reading)).status == 0
    broken.work.with_name("work").unlink()


def test_a_data_folder_that_is_a_file_is_told(library: Library, tmp_path: Path) -> None:
    data = tmp_path / "file"
    data.write_text("x")
    elsewhere = Library(data, library.home, library.work, library.other_work, library.one, library.two, library.far)
    words = ("--json", "turn", "new-chat", "begin", "--workspace", str(library.work), "--prompt", "x")
    answer = elsewhere.call(*words)
    assert (answer.status, answer.json["error"]["code"]) == (3, "disk.cannot-write")
    assert data.read_text() == "x"


def test_a_data_folder_that_may_not_be_written_is_told(tmp_path: Path, home: Path) -> None:
    """In a process that is not root, since root may write everywhere."""
    data, work = tmp_path / "data", tmp_path / "work"
    for folder in (data, work):
        folder.mkdir()
    data.chmod(0o555)
    for folder in (tmp_path, home, *list(tmp_path.parents)[:3]):
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o055)
    script = (
        "import contextlib, io, os, sys\n"
        "from vibekit_desktop.app.main import main\n"
        "places = sys.argv[3:5]\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"  # what is loaded late must be loaded while it may be read
        "    main(['--data-dir', sys.argv[1] + '-other', *places, 'turn', 'x', 'begin', '--workspace', sys.argv[2]])\n"
        "if os.geteuid() == 0:\n"
        "    os.setgroups([])\n"
        "    os.setgid(65534)\n"
        "    os.setuid(65534)\n"
        "sys.exit(main(['--data-dir', sys.argv[1], *places, *sys.argv[5:]]))\n"
    )
    words = ("--json", "turn", "new-chat", "begin", "--workspace", str(work), "--prompt", "x")
    command = [sys.executable, "-c", script, str(data), str(work), "--home", str(home), *words]
    out = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert out.returncode == 3, out.stderr
    assert json.loads(out.stdout)["error"]["code"] == "disk.cannot-write"
    assert out.stderr.decode().startswith("error: disk.cannot-write: ")
    assert list(data.iterdir()) == []
