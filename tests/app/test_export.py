"""Exporting a chat through the command line: exact bytes, files that are never replaced, a patch that git takes."""

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.claude_sessions import write_demo_session
from tests.helpers.program import Answer, call, tree, with_core
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.chat.fitting import ChatLimits
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import ExportFormat
from vibekit_desktop.core.types.ids import ChatId

FORMATS = ("md", "json", "html", "patch")


@pytest.fixture
def places(tmp_path: Path, home: Path) -> tuple[Path, Path, Path]:
    """(data folder, home folder with one session, its workspace)."""
    workspace = tmp_path / "tidewatch"
    workspace.mkdir()
    write_demo_session(home, workspace)
    return tmp_path / "data", home, workspace


def chat_of(answer: Answer) -> str:
    return str(answer.json["chats"][0]["id"])


def test_without_a_format_it_is_markdown_on_standard_output(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    (row,) = call(data, home, "--json", "list").json["chats"]
    answer = call(data, home, "export", "@1")  # nobody opened it before
    assert (answer.status, answer.err) == (0, "")
    text = answer.out.decode()
    assert text.startswith(f"# {row['name']}\n\n- **Chat ID:** `{row['id']}`\n")
    messages = call(data, home, "--json", "show", "@1").json["chat"]["messages"]
    assert text.count("\n## User\n") == sum(message["role"] == "user" for message in messages)
    assert f"- **Messages:** {len(messages)}\n" in text
    for words in (("md",), ("MD",), ("markdown",), ("MarkDown",)):
        assert call(data, home, "export", "@1", "--format", *words).out == answer.out
    assert all(message.get("content", "").strip() in text for message in messages)


@pytest.mark.parametrize("wrong", ["xml", "", "txt", "md,json"])
def test_another_format_is_wrong_usage(places: tuple[Path, Path, Path], wrong: str) -> None:
    data, home, _ = places
    answer = call(data, home, "export", "@1", "--format", wrong)
    assert answer.status == 2
    assert answer.out == b""
    assert "md, json, html or patch" in answer.err


def test_json_is_the_chat_as_show_prints_it_and_compact(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    answer = call(data, home, "export", "@1", "--format", "JSON")
    shown = call(data, home, "--json", "show", "@1").json["chat"]
    assert json.loads(answer.out) == shown
    assert shown["message_count"] == len(shown["messages"]) > 0
    assert b"\n" not in answer.out
    assert len(answer.out) <= len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode())


def test_html_is_one_page_with_the_turns(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    text = call(data, home, "export", "@1", "--format", "html").out.decode()
    assert text.startswith("<!DOCTYPE html>\n")
    assert text.endswith("</html>\n")
    assert [f"Turn {turn}" in text for turn in range(1, 7)] == [True] * 5 + [False]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_holds_the_same_bytes_as_standard_output(places: tuple[Path, Path, Path], tmp_path: Path, kind: str) -> None:
    data, home, _ = places
    wanted = call(data, home, "export", "@1", "--format", kind).out
    file = tmp_path / "out.file"
    before = os.umask(0o022)
    try:
        answer = call(data, home, "export", "@1", "--format", kind, "--out", str(file))
    finally:
        os.umask(before)
    assert answer.status == 0
    assert answer.out.decode() == f"wrote {file} ({len(wanted):,} bytes)\n"
    assert file.read_bytes() == wanted
    assert file.stat().st_mode & 0o777 == 0o644
    again = call(data, home, "export", "@1", "--format", kind, "--out", str(file))
    assert (again.status, again.out) == (1, b"")
    assert again.err == f"error: export.file-there: there is something at {str(file)!r} already; nothing was written\n"
    assert file.read_bytes() == wanted
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".vibekit")]


def test_a_folder_gets_the_file_under_its_own_name(places: tuple[Path, Path, Path], tmp_path: Path) -> None:
    data, home, _ = places
    chat = chat_of(call(data, home, "--json", "list"))
    call(data, home, "show", "@1")
    call(data, home, "rename", chat, 'a/b "c" \u202e')
    folder = tmp_path / "exports"
    folder.mkdir()
    for kind in FORMATS:
        answer = call(data, home, "--json", "export", chat, "--format", kind, "--out", str(folder))
        name = f"a_b _c_ _-{chat}.{kind}"
        assert answer.json == {
            "name": name,
            "format": kind,
            "bytes": (folder / name).stat().st_size,
            "path": str(folder / name),
        }
    assert len(os.listdir(folder)) == 4


def test_a_folder_that_is_not_there_is_not_made(places: tuple[Path, Path, Path], tmp_path: Path) -> None:
    data, home, _ = places
    answer = call(data, home, "--json", "export", "@1", "--out", str(tmp_path / "missing" / "a.md"))
    assert answer.status == 3
    assert answer.json["error"]["code"] == "disk.cannot-write"
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("kind", FORMATS)
def test_with_json_and_without_a_file_the_content_is_in_the_object(places: tuple[Path, Path, Path], kind: str) -> None:
    data, home, _ = places
    wanted = call(data, home, "export", "@1", "--format", kind).out
    answer = call(data, home, "export", "@1", "--format", kind, "--json").json
    chat = chat_of(call(data, home, "--json", "list"))
    assert set(answer) == {"name", "format", "bytes", "content"}
    assert answer["name"].endswith(f"-{chat}.{kind}")
    assert (answer["format"], answer["bytes"]) == (kind, len(wanted))
    assert answer["content"].encode() == wanted


def test_the_patch_of_a_chat_makes_its_changes_again(places: tuple[Path, Path, Path], tmp_path: Path) -> None:
    data, home, workspace = places
    (workspace / "latin.txt").write_bytes(b"caf\xe9\n")
    call(data, home, "turn", "live-0001", "begin", "--workspace", str(workspace), "--prompt", "Change all.")
    for path, content in (("latin.txt", b"th\xe9\n"), ("new/\u00e9.txt", b"new\r\n"), ("bin.dat", b"\0\1\2" * 100)):
        assert call(data, home, "record", "live-0001", str(workspace / path), given=content).status == 0
        (workspace / path).parent.mkdir(exist_ok=True)
        (workspace / path).write_bytes(content)
    call(data, home, "turn", "live-0001", "end", "--answer", "Done.")
    before, now = tmp_path / "before", tree(workspace)
    assert call(data, home, "checkout", "live-0001", "start", str(before)).status == 0
    file = tmp_path / "all.patch"
    assert call(data, home, "export", "live-0001", "--format", "patch", "--out", str(file)).status == 0
    assert file.read_bytes() == call(data, home, "diff", "live-0001", "--patch").out
    clean = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
    subprocess.run(["git", "apply", "--whitespace=nowarn", str(file)], cwd=before, check=True, env=clean)
    assert tree(before) == {path: now[path] for path in ("latin.txt", "new/\u00e9.txt", "bin.dat")}
    answer = call(data, home, "--json", "export", "live-0001", "--format", "patch").json
    assert b"\xe9" in file.read_bytes()
    assert base64.b64decode(answer["content_b64"]) == file.read_bytes(), "what is no text is beside the text"


def test_an_archived_chat_is_exported_too(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places
    chat = chat_of(call(data, home, "--json", "list"))
    before = [call(data, home, "export", chat, "--format", kind).out for kind in ("html", "patch")]
    assert call(data, home, "archive", chat).status == 0
    assert [call(data, home, "export", chat, "--format", kind).out for kind in ("html", "patch")] == before
    assert call(data, home, "export", chat).status == 0


def test_a_chat_whose_older_messages_are_in_parts_is_exported_whole(places: tuple[Path, Path, Path]) -> None:
    data, home, workspace = places
    call(data, home, "turn", "long-0001", "begin", "--workspace", str(workspace), "--prompt", "The first.")
    call(data, home, "turn", "long-0001", "end")
    ((folder, raw),) = [(file.parents[1], json.loads(file.read_bytes())) for file in data.glob("vaults/*/chats/long-0001.json")]
    raw["messages"] += [
        {"id": f"m-{turn}-{role}", "role": role, "ts": turn, "content": f"{role} {turn} " + "x" * 300, "later_key": turn}
        for turn in range(2, 40)
        for role in ("user", "assistant")
    ]
    store = ChatStore(Fs(), folder, clock=lambda: 1, limits=ChatLimits(write=8000, split_to=4000))
    store.save(codec.decode(json.dumps(raw).encode(), "long-0001")[0], raw)
    assert store.load(ChatId("long-0001"))[0].parts, "the test needs a chat with parts"
    whole = json.loads(call(data, home, "export", "long-0001", "--format", "json").out)
    assert whole["messages"] == raw["messages"], "with the keys that nobody knows"
    assert whole["message_count"] == len(raw["messages"])
    assert "parts" not in whole
    for kind in ("md", "html"):
        text = call(data, home, "export", "long-0001", "--format", kind).out.decode()
        places_of = [text.index(message["content"]) for message in raw["messages"] if message.get("content")]
        assert places_of == sorted(places_of)
    (folder / "desktop" / "overflow" / "long-0001-1.json").unlink()
    answer = call(data, home, "export", "long-0001", "--out", str(data / "x.md"))
    assert (answer.status, answer.out) == (3, b"")
    assert not (data / "x.md").exists()


def test_exporting_changes_nothing_of_the_chat_and_the_workspace(places: tuple[Path, Path, Path]) -> None:
    data, home, workspace = places
    call(data, home, "show", "@1")
    before = tree(workspace), {path: content for path, content in tree(data).items() if "/chats/" in path}
    for kind in FORMATS:
        assert call(data, home, "export", "@1", "--format", kind).status == 0
    assert (tree(workspace), {path: content for path, content in tree(data).items() if "/chats/" in path}) == before


def test_a_chat_that_is_not_there_is_said(places: tuple[Path, Path, Path], tmp_path: Path) -> None:
    data, home, _ = places
    for words in ("missing-0001", "bad.id", "@9"):
        answer = call(data, home, "export", words, "--out", str(tmp_path / "x"))
        assert (answer.status, answer.out) == (3, b"")
    assert not (tmp_path / "x").exists()


def test_a_file_says_what_it_is(places: tuple[Path, Path, Path]) -> None:
    data, home, _ = places

    async def types(core: Core) -> list[str]:
        chat = await core.chats.resolve("@1")
        return [(await core.exports.export(chat, kind)).media_type for kind in ExportFormat]

    assert with_core(data, home, types) == [
        "text/markdown; charset=utf-8", "application/json", "text/html; charset=utf-8", "text/x-patch",
    ]  # fmt: skip
