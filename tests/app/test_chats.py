"""Chats as a whole, through the command line: names, pins, the archive, deleting, branches, long chats, settings.

Where the original system answers a request over HTTP, a verb of ours answers: what it refuses with 404 is exit status 3, with
400 or 409 one of 1, 2 and 4, and what it pages by time is paged by number.
"""

import itertools
import json
from pathlib import Path

import pytest

from tests.helpers.program import Answer, call
from tests.helpers.vaults import Library, make_library
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock, VaultLock


@pytest.fixture
def library(tmp_path: Path, home: Path) -> Library:
    return make_library(tmp_path, home)


def ok(answer: Answer) -> Answer:
    assert answer.status == 0, answer.err
    assert answer.err == ""
    return answer


def rows(library: Library, *words: str) -> list[dict[str, object]]:
    found = ok(library.call("--json", "list", *words)).json["chats"]
    assert isinstance(found, list)
    return found


def ids(library: Library, *words: str) -> list[object]:
    return [row["id"] for row in rows(library, *words)]


def file(library: Library, chat: str) -> Path:
    return library.vault / "chats" / f"{chat}.json"


# -- lists and messages --------------------------------------------------------------------------------------------


def test_a_row_counts_messages_and_holds_none(library: Library) -> None:
    """Scenario 41."""
    for row in rows(library):
        assert isinstance(row["message_count"], int)
        assert row["message_count"] >= 2
        assert "messages" not in row


def test_one_chat_is_shown_with_all_its_messages(library: Library) -> None:
    """Scenarios 42 and 43."""
    shown = ok(library.call("--json", "show", library.one)).json
    assert shown["chat"]["id"] == library.one
    assert shown["chat"]["message_count"] == len(shown["chat"]["messages"]) == 4
    assert [turn["turn"] for turn in shown["turns"]] == [1, 2]


def test_a_part_of_the_messages_is_shown_by_number(library: Library) -> None:
    """Scenarios 44 to 49: by number from 1, both ends included, since times need not be in order."""
    whole = ok(library.call("--json", "show", library.one)).json["chat"]["messages"]
    for words, wanted in (
        ("1:4", whole), ("3:4", whole[2:]), ("2:2", whole[1:2]), ("1:500", whole), ("4:10000", whole[3:]), ("5:9", []),
    ):  # fmt: skip
        assert ok(library.call("--json", "show", library.one, "--messages", words)).json["chat"]["messages"] == wanted, words
    for words in ("abc", "0:3", "-5:2", "3:1", "1:", ":4", "1:2:3", ""):
        answer = library.call("--json", "show", library.one, "--messages", words)
        assert (answer.status, answer.json["error"]["code"]) == (2, "usage"), words


@pytest.mark.parametrize("chat", ["no-such-chat", "bad.id", "with@sign", "", "//", "a/b", "../x"])
def test_what_is_no_chat_is_not_found(library: Library, chat: str) -> None:
    """Scenarios 50, 51 and 53."""
    for verb in ("show", "archive", "unarchive", "promote", "discard", "merge", "export", "timeline"):
        answer = library.call("--json", verb, chat)
        assert (answer.status, answer.json["error"]["code"]) == (3, "chat.not-found"), verb


def test_a_verb_that_there_is_not_is_wrong_usage(library: Library) -> None:
    """Scenarios 52 and 54."""
    for words in (("frobnicate", library.one), ("show", library.one, "messages"), ("archive", library.one, "--yes")):
        assert library.call(*words).status == 2


def _long(library: Library) -> list[dict[str, object]]:
    """Make a chat whose older messages are in parts; returns all of its messages."""
    path = file(library, library.one)
    stored = json.loads(path.read_text())
    stored.pop("source")  # it would be read again
    text = "x" * (1 << 20)
    stored["messages"] = [
        {"id": f"m{n}", "role": "user" if n % 2 == 0 else "assistant", "content": f"{n} {text}", "ts": n, "ours": {"n": n}}
        for n in range(30)
    ]
    path.write_text(json.dumps(stored))
    ok(library.call("rename", library.one, "a long one"))
    assert len(json.loads(path.read_text())["messages"]) < 30
    assert list((library.vault / "desktop" / "overflow").iterdir())
    listed: list[dict[str, object]] = stored["messages"]
    return listed


def test_messages_of_a_long_chat_are_counted_from_its_beginning(library: Library) -> None:
    everything = _long(library)
    shown = ok(library.call("--json", "show", library.one)).json
    assert shown["chat"]["messages"] == everything, "also what we do not know in them"
    assert shown["chat"]["message_count"] == 30
    assert "parts" not in shown["chat"]
    for words, wanted in (("1:2", everything[:2]), ("30:30", everything[29:]), ("5:28", everything[4:28]), ("31:40", [])):
        found = ok(library.call("--json", "show", library.one, "--messages", words)).json["chat"]["messages"]
        assert found == wanted, words
    text = ok(library.call("show", library.one, "--messages", "3:4")).out.decode()
    assert text.index("[3] user") < text.index("[4] assistant")
    (row,) = [row for row in rows(library) if row["id"] == library.one]
    assert row["message_count"] == 30


# -- names and pins ------------------------------------------------------------------------------------------------


def test_a_name_and_a_pin_are_in_the_row(library: Library) -> None:
    assert ok(library.call("--json", "rename", library.one, "Another name")).json == {"ok": True, "failed_children": []}
    assert ok(library.call("pin", library.one)).out.decode() == f"pinned {library.one}\n"
    order = ids(library)
    (row,) = [row for row in rows(library) if row["id"] == library.one]
    assert row["name"] == "Another name"
    assert isinstance(row["pinned_at"], int)
    assert row["pinned_at"] > 0
    assert ok(library.call("unpin", library.one)).out.decode() == f"unpinned {library.one}\n"
    assert ids(library) == order, "the list is by date"
    assert [row["pinned_at"] for row in rows(library)] == [None] * 3
    ok(library.call("show", library.one))
    assert next(row["name"] for row in rows(library) if row["id"] == library.one) == "Another name", (
        "its source does not decide"
    )


# -- the archive ---------------------------------------------------------------------------------------------------


def test_a_chat_is_archived_found_there_and_brought_back(library: Library) -> None:
    """Scenarios 67, 70, 73, 74, 79 and 83."""
    before = rows(library)
    assert ok(library.call("--json", "archive", library.one)).json["ok"] is True
    assert library.one not in ids(library)
    assert not file(library, library.one).exists()
    (row,) = rows(library, "--archived")
    assert (row["id"], row["archived"]) == (library.one, True)
    assert isinstance(row["archived_at"], int)
    assert [ok(library.call("--json", "show", text)).json["chat"]["id"] for text in (library.one, library.one[:12])] == [
        library.one
    ] * 2
    assert ok(library.call("export", library.one)).out.startswith(b"# ")
    assert ok(library.call("--json", "timeline", library.one)).json["entries"]
    text = ok(library.call("list", "--archived")).out.decode()
    assert "@1" not in text, "the numbers are those of the list"
    ok(library.call("unarchive", library.one))
    assert [row["id"] for row in rows(library)] == [row["id"] for row in before]
    assert rows(library, "--archived") == []


def test_nothing_archived_is_an_empty_list(library: Library) -> None:
    """Scenario 13."""
    assert rows(library, "--archived") == []
    assert rows(library, "--workspace", "/nowhere") == []


def test_what_is_not_archived_stays_where_it_is(library: Library) -> None:
    """Scenario 75, but a chat of the list is there already, which is what was asked for."""
    ok(library.call("unarchive", library.one))
    ok(library.call("archive", library.one))
    ok(library.call("archive", library.one))
    assert ids(library, "--archived") == [library.one]


def test_a_chat_does_not_replace_another_of_its_id(library: Library) -> None:
    """Scenario 76."""
    ok(library.call("archive", library.one))
    away = library.vault / "chats" / "archive" / f"{library.one}.json"
    stored = json.loads(away.read_text())
    file(library, library.one).write_text(json.dumps({**stored, "name": "another"}))
    kept = away.read_bytes(), file(library, library.one).read_bytes()
    answer = library.call("--json", "archive", library.one)
    assert (answer.status, answer.json["error"]["code"]) == (1, "chat.in-use")
    assert (away.read_bytes(), file(library, library.one).read_bytes()) == kept


def test_an_archive_that_leads_elsewhere_is_refused(library: Library, tmp_path: Path) -> None:
    """Scenarios 81 and 82."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / f"{library.far}.json").write_text("{}")
    (library.vault / "chats" / "archive").symlink_to(victim)
    for words in (("archive", library.one), ("unarchive", library.far), ("delete", library.far, "--yes")):
        answer = library.call(*words)
        assert answer.status in (0, 3), words
    assert [path.name for path in victim.iterdir()] == [f"{library.far}.json"]
    assert (victim / f"{library.far}.json").read_text() == "{}"
    assert file(library, library.one).exists()


def test_a_folder_of_chats_that_is_a_link_works(library: Library, tmp_path: Path) -> None:
    """Scenario 82."""
    real = tmp_path / "volume"
    (library.vault / "chats").rename(real)
    (library.vault / "chats").symlink_to(real)
    ok(library.call("archive", library.one))
    assert (real / "archive" / f"{library.one}.json").exists()
    ok(library.call("unarchive", library.one))
    assert (real / f"{library.one}.json").exists()


# -- deleting ------------------------------------------------------------------------------------------------------


def test_without_yes_it_is_only_said_what_would_go(library: Library) -> None:
    branch = ok(library.call("--json", "branch", library.one, "--at", "2")).json["chat_id"]
    answer = library.call("--json", "delete", library.one)
    assert answer.status == 1
    assert answer.json == {"ok": False, "failed_children": [], "would_delete": [branch, library.one]}
    text = library.call("delete", library.one)
    assert text.status == 1
    assert "and 1 branch of it would be deleted" in text.out.decode()
    assert "Nothing was changed. Add --yes" in text.out.decode()
    assert library.call("--json", "delete", library.one, "--keep-branches").json["would_delete"] == [library.one]
    assert {library.one, branch} <= set(ids(library))


def test_a_chat_is_deleted_with_its_branches(library: Library) -> None:
    """Scenarios 93 and 19."""
    branch = ok(library.call("--json", "branch", library.one, "--at", "2")).json["chat_id"]
    found = ok(library.call("--json", "delete", library.one, "--yes")).json
    assert found == {"ok": True, "failed_children": [], "deleted": [branch, library.one], "failed": []}
    assert not {library.one, branch} & set(ids(library))
    assert not file(library, library.one).exists()
    assert (library.work / "one.txt").read_text() == "one 2\n"
    answer = library.call("--json", "delete", library.one, "--yes")
    assert (answer.status, answer.json["error"]["code"]) == (3, "chat.not-found")
    assert ok(library.call("verify")).status == 0


def test_a_branch_that_cannot_be_deleted_is_named(library: Library) -> None:
    """Scenario 92."""
    branch = ok(library.call("--json", "branch", library.one, "--at", "2")).json["chat_id"]
    with TurnLock(Fs(), library.vault / "desktop", branch).hold(3):
        answer = library.call("--json", "delete", library.one, "--yes")
    assert answer.status == 1, "done only in part"
    assert answer.json["ok"] is True
    assert answer.json["failed_children"] == [branch]
    assert branch in ids(library)
    assert next(row["parent_chat_id"] for row in rows(library) if row["id"] == branch) is None


def test_kept_branches_stay(library: Library) -> None:
    branch = ok(library.call("--json", "branch", library.one, "--at", "2")).json["chat_id"]
    assert ok(library.call("--json", "delete", library.one, "--keep-branches", "--yes")).json["deleted"] == [library.one]
    assert branch in ids(library)
    assert ok(library.call("--json", "show", branch)).json["chat"]["message_count"] == 2


def test_a_chat_whose_turn_runs_is_busy(library: Library) -> None:
    """Scenario 99, for what takes a chat away."""
    with TurnLock(Fs(), library.vault / "desktop", library.one).hold(3):
        for words in (("delete", library.one, "--yes"), ("archive", library.one)):
            answer = library.call(*words)
            assert answer.status == 4
            assert answer.err.startswith("error: vault.busy: busy: turn 3 of chat")
    assert library.one in ids(library)


def test_a_vault_that_is_held_is_busy(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    branch = ok(library.call("--json", "branch", library.one, "--at", "2")).json["chat_id"]
    changing = (
        ("rename", library.one, "x"), ("pin", library.one), ("archive", library.one), ("delete", library.one, "--yes"),
        ("branch", library.one, "--at", "1"), ("promote", branch), ("discard", branch), ("merge", branch),
    )  # fmt: skip
    seconds = itertools.count()
    holder = VaultLock(Fs(), library.vault, program="somebody")
    # The program's own locks wait by this clock.
    monkeypatch.setitem(VaultLock.__init__.__kwdefaults__, "now_s", lambda: next(seconds))
    monkeypatch.setitem(VaultLock.__init__.__kwdefaults__, "wait", lambda _: None)
    with holder.hold():
        for words in changing:
            answer = library.call("--json", *words)
            assert (answer.status, answer.json["error"]["code"]) == (4, "vault.busy"), words
            assert "somebody" in answer.json["error"]["message"]


def test_a_deleted_session_comes_back_only_by_its_own_file(library: Library) -> None:
    ok(library.call("delete", library.one, "--yes"))
    assert library.one not in ids(library)
    assert library.call("show", library.one).status == 3
    (source,) = ok(library.call("--json", "sources")).json["sources"]
    assert source["sessions"] == 3, "it is still there, and told where histories are told"
    folder = Path(source["root"])
    ok(library.call("import", str(folder)))
    assert library.one not in ids(library)
    path = next(path for path in folder.rglob("*.jsonl") if '"one.txt"' in path.read_text() or "one.txt" in path.read_text())
    assert ok(library.call("--json", "import", str(path))).json["imported"][0]["chat_id"] == library.one
    assert library.one in ids(library)


# -- purging -------------------------------------------------------------------------------------------------------


def test_a_purge_says_what_would_go_and_then_does_it(library: Library) -> None:
    """Scenarios 84 to 88, and 80."""
    for chat in (library.one, library.two):
        ok(library.call("archive", chat))
    old = library.vault / "chats" / "archive" / f"{library.one}.json"
    old.write_text(json.dumps({**json.loads(old.read_text()), "archived_at": 1_600_000_000_000}))
    (old.parent / "notes.txt").write_text("kept")
    (old.parent / "bad.id.json").write_text("kept")
    (old.parent / "folder.json").mkdir()
    (old.parent / "dangling.json").symlink_to("nowhere")
    answer = library.call("--json", "purge", "--older-than", "30")
    assert answer.status == 1
    assert answer.json == {
        "ok": False, "failed_children": [], "would_remove": [library.one], "kept": [], "failed": [],
    }  # fmt: skip
    assert "1 archived chat would be deleted. Nothing was changed. Add --yes" in (
        library.call("purge", "--older-than", "30").out.decode()
    )
    assert old.exists()
    found = ok(library.call("--json", "purge", "--older-than", "30", "--yes")).json
    assert (found["ok"], found["removed"]) == (True, [library.one])
    assert not old.exists()
    assert {path.name for path in old.parent.iterdir()} == {
        f"{library.two}.json", "notes.txt", "bad.id.json", "folder.json", "dangling.json",
    }  # fmt: skip
    assert ok(library.call("purge", "--older-than", "30", "--yes")).out.decode() == "No archived chat is that old.\n"


def test_a_purge_of_nothing_is_nothing(tmp_path: Path, home: Path) -> None:
    """Scenario 86."""
    found = call(tmp_path / "data", home, "--json", "purge", "--older-than", "0", "--yes")
    assert (found.status, found.json["removed"]) == (0, [])
    assert not (tmp_path / "data").exists()


# -- branches ------------------------------------------------------------------------------------------------------


def test_a_branch_is_promoted_discarded_and_merged(library: Library) -> None:
    """Scenario 94."""
    made = [ok(library.call("--json", "branch", library.one, "--at", "2")).json["chat_id"] for _ in range(3)]
    promoted = ok(library.call("--json", "promote", made[0])).json
    assert promoted == {"chat_id": made[0], "parent_id": library.one}
    parents = {row["id"]: row["parent_chat_id"] for row in rows(library)}
    assert parents[made[0]] is None
    assert parents[made[1]] == parents[made[2]] == made[0]
    assert ids(library, "--archived") == [library.one]
    assert ok(library.call("--json", "discard", made[1])).json == {"chat_id": made[1], "parent_id": made[0]}
    assert made[1] not in ids(library)
    assert library.call("merge", made[2]).err.startswith("error: chat.nothing-to-merge: ")
    for words in (("turn", made[2], "begin", "--prompt", "more"), ("turn", made[2], "end", "--answer", "yes")):
        ok(library.call(*words))
    assert ok(library.call("--json", "merge", made[2])).json == {"chat_id": made[2], "parent_id": made[0]}
    messages = ok(library.call("--json", "show", made[0])).json["chat"]["messages"]
    assert [message.get("content") for message in messages[-3:-1]] == ["more", "yes"]
    assert messages[-1]["event_kind"] == "merged"
    assert set(ids(library, "--archived")) == {library.one, made[2]}


def test_what_is_no_branch_is_refused(library: Library) -> None:
    """Scenario 95."""
    before = file(library, library.one).read_bytes()
    for verb in ("promote", "discard", "merge"):
        answer = library.call("--json", verb, library.one)
        assert (answer.status, answer.json["error"]["code"]) == (1, "chat.not-a-branch")
    assert file(library, library.one).read_bytes() == before


def test_a_branch_can_put_the_files_back(library: Library) -> None:
    made = ok(library.call("--json", "branch", library.one, "--at", "2", "--files", "before")).json
    assert made["parent_id"] == library.one
    assert (library.work / "one.txt").read_text() == "one 1\n"
    ok(library.call("undo", library.one, "--yes"))
    assert (library.work / "one.txt").read_text() == "one 2\n"


def test_a_branch_can_begin_at_a_message(library: Library) -> None:
    messages = ok(library.call("--json", "show", library.one)).json["chat"]["messages"]
    made = ok(library.call("--json", "branch", library.one, "--message", messages[3]["id"])).json["chat_id"]
    shown = ok(library.call("--json", "show", made)).json["chat"]["messages"]
    assert [message["id"] for message in shown] == [message["id"] for message in messages[:3]]


# -- settings ------------------------------------------------------------------------------------------------------


def test_settings_are_listed_read_and_changed(library: Library) -> None:
    found = ok(library.call("--json", "settings")).json["settings"]
    assert {one["key"]: one["value"] for one in found} == {
        "archive.retention_days": 0, "store.budget_gb": 5, "capture.max_mb": 64, "baseline.copy_mb": 1,
        "baseline.total_mb": 256, "theme": "system",
        "diff.layout": "side-by-side", "diff.ignore_whitespace": "nothing", "diff.ignore_blank_lines": "no", "diff.wrap": "no",
        "diff.invisibles": "no", "diff.tab_width": 4, "diff.context": "3", "diff.stronger_marks": "no",
    }  # fmt: skip
    assert all(one["text"] and set(one) == {"key", "value", "default", "text"} for one in found)
    (changed,) = ok(library.call("--json", "settings", "theme", "dark")).json["settings"]
    assert (changed["key"], changed["value"], changed["default"]) == ("theme", "dark", "system")
    (read,) = ok(library.call("--json", "settings", "theme")).json["settings"]
    assert read == changed
    text = ok(library.call("settings")).out.decode()
    assert "archive.retention_days" in text
    assert "dark" in text
    answer = library.call("settings", "theme", "blue")
    assert answer.status == 2
    assert answer.err == (
        "error: settings.bad-value: 'blue' cannot be theme: it must be system, light or dark; nothing was changed\n"
    )
