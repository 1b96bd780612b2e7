"""Damage in the data folder: said where it is, and it hides nothing else (invariants I9 and I11)."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.program import tree
from tests.helpers.vaults import REPLACED, Library, chat_of, make_library, replace_by, session


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "home").mkdir()
    make_library(folder, folder / "home")
    return folder


@pytest.fixture
def library(template: Path, home: Path) -> Iterator[Library]:
    """The same library for every test, in the same place (sessions name their folder)."""
    kept = template.with_name(template.name + "-kept")
    if not kept.exists():
        shutil.copytree(template, kept, symlinks=True)
    yield _known(template)
    shutil.rmtree(template)
    shutil.copytree(kept, template, symlinks=True)


def _known(folder: Path) -> Library:
    work, other = folder / "work", folder / "other"
    ids = [chat_of(session(work, name)) for name in ("one", "two", "far")]
    return Library(folder / "data", folder / "home", work, other, *ids)


@pytest.mark.parametrize("kind", REPLACED)
def test_a_log_that_is_none_hides_no_other_chat(library: Library, kind: str) -> None:
    replace_by(library.log(library.two), kind)
    before = tree(library.work)
    for words in (("list",), ("show", library.one), ("timeline", library.one), ("preview", library.one, "before:2")):
        assert library.call(*words).status == 0, words
    assert library.call("show", library.two).status == 0, "the conversation can still be read"
    assert library.call("doctor").status == 0
    if kind in ("empty", "deep", "gone"):  # nothing of it is left to protect: it was made again from the source
        assert library.call("restore", library.two, "before:1", "--yes").status == 0
        assert library.call("undo", library.two, "--yes").status == 0
        assert tree(library.work) == before
        assert library.call("verify").status == 0
        return
    refused = library.call("--json", "restore", library.two, "before:1", "--yes")
    assert refused.status == 3
    assert refused.json["error"]["code"] in ("checkpoint.log-damaged", "checkpoint.point-not-found")
    assert tree(library.work) == before
    report = library.call("--json", "verify")
    found = [(one["kind"], one["chat_id"]) for one in report.json["problems"]]
    assert found
    assert set(found) <= {("log-line", library.two), ("log-tail", library.two)}
    assert library.call("restore", library.one, "before:2", "--scope", "files", "--yes").status == 0
    assert library.call("undo", library.one, "--yes").status == 0
    assert tree(library.work) == before


@pytest.mark.parametrize("kind", REPLACED)
def test_a_chat_file_that_is_none_hides_no_other_chat(library: Library, kind: str) -> None:
    path = library.vault / "chats" / f"{library.two}.json"
    replace_by(path, kind)
    rows = {row["id"]: row["damaged"] for row in library.call("--json", "list").json["chats"]}
    assert len(rows) == 3
    assert rows[library.one] is False
    if kind == "gone":
        assert library.call("show", library.two).status == 0, "it is read again from its source"
        return
    assert rows[library.two] is True
    for words in (("show", library.two), ("restore", library.two, "before:1", "--yes"), ("undo", library.two, "--yes")):
        assert library.call("--json", *words).status != 0, words
    report = library.call("--json", "verify")
    assert [(one["kind"], one["chat_id"]) for one in report.json["problems"]] == [("chat-damaged", library.two)]
    assert library.call("restore", library.one, "before:2", "--yes").status == 0
    assert os.path.lexists(path), "what is there was kept"


@pytest.mark.parametrize("kind", REPLACED)
def test_a_vault_that_is_none_hides_no_other_vault(library: Library, kind: str) -> None:
    replace_by(library.vault, kind)
    rows = [row["id"] for row in library.call("--json", "list").json["chats"]]
    assert sorted(rows) == sorted([library.one, library.two, library.far]), "the sessions are found at their source again"
    for words in (("show", library.far), ("timeline", library.far), ("restore", library.far, "before:2", "--yes")):
        assert library.call(*words).status == 0, words
    assert library.call("doctor").status == 0
    report = library.call("--json", "verify")
    assert report.out, "it ends with a report"
    if kind == "loop":
        assert [one["kind"] for one in report.json["problems"]] == ["vault"]


@pytest.mark.parametrize("kind", [kind for kind in REPLACED if kind not in ("empty", "gone")])
def test_a_token_that_is_none_stops_restores_and_nothing_else(library: Library, kind: str) -> None:
    assert library.call("restore", library.one, "before:2", "--scope", "files", "--yes").status == 0
    replace_by(library.vault / "desktop" / "token", kind)
    before = tree(library.work)
    for words in (("list",), ("show", library.one), ("timeline", library.one), ("preview", library.one, "start")):
        assert library.call(*words).status == 0, words
    for words in (("restore", library.one, "start", "--yes"), ("undo", library.one, "--yes")):
        refused = library.call("--json", *words)
        assert refused.status == 3
        assert refused.json["error"]["code"] in ("disk.cannot-read", "disk.too-large")
    assert tree(library.work) == before
    problems = library.call("--json", "verify").json["problems"]
    assert [one["kind"] for one in problems] == ["token"]


@pytest.mark.parametrize("kind", REPLACED)
def test_blobs_that_are_none_are_named_and_refused(library: Library, kind: str) -> None:
    replace_by(library.vault / "snapshots" / "blobs", kind)
    before = tree(library.work)
    for words in (
        ("show", library.one),
        ("timeline", library.one),
        ("preview", library.one, "before:2"),
        ("diff", library.one),
    ):
        assert library.call(*words).status == 0, words
    answer = library.call("--json", "restore", library.one, "before:2", "--scope", "files", "--yes")
    assert answer.status == 1
    assert answer.json["left"] == [{"path": "one.txt", "reason": "damaged"}]
    assert tree(library.work) == before
    kinds = {one["kind"] for one in library.call("--json", "verify").json["problems"]}
    assert "blob-missing" in kinds


@pytest.mark.parametrize("kind", REPLACED)
def test_a_cache_that_is_none_is_made_again(library: Library, kind: str) -> None:
    replace_by(library.data / "cache" / "sessions.json", kind)
    assert len(library.call("--json", "list").json["chats"]) == 3
    assert library.call("sources").status == 0
    assert library.call("verify").status == 0


@pytest.mark.parametrize("kind", [kind for kind in REPLACED if kind != "gone"])
def test_a_library_that_is_none_is_said_and_kept(library: Library, kind: str) -> None:
    path = library.data / "library.json"
    replace_by(path, kind)
    odd = kind in ("fifo", "loop")
    kept = {} if odd else tree(library.data)
    for words in (("list",), ("show", library.one), ("restore", library.one, "before:1", "--yes")):
        answer = library.call("--json", *words)
        assert answer.status == 3
        assert answer.json["error"]["code"] == "disk.cannot-read"
    assert [one["kind"] for one in library.call("--json", "verify").json["problems"]] == ["library"]
    if not odd:
        assert {name: data for name, data in tree(library.data).items() if name in kept} == kept


def test_every_cut_of_a_log_reads_on_and_sets_its_tail_aside(library: Library) -> None:
    """The log cut at every byte of its last three lines: what is whole is read, the rest is a tail, the next line stands
    alone, and the tail is kept."""
    assert library.call("restore", library.one, "before:2", "--scope", "files", "--yes").status == 0
    path = library.log(library.one)
    whole = path.read_bytes()
    vault, work = library.vault, library.work
    kept = work.with_name("work-kept"), vault.with_name("vault-kept")
    shutil.copytree(work, kept[0])
    shutil.copytree(vault, kept[1])
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 0x0A]
    for cut in range(ends[-4], len(whole), 7):
        for there, copy in ((work, kept[0]), (vault, kept[1])):
            shutil.rmtree(there)
            shutil.copytree(copy, there)
        path.write_bytes(whole[:cut])
        torn = whole[max(end for end in [0, *ends] if end <= cut) : cut]
        problems = {one["kind"] for one in library.call("--json", "verify").json["problems"]}
        assert ("log-tail" in problems) == bool(torn)
        assert problems <= {"log-tail", "restore-unfinished"}
        assert library.call("timeline", library.one).status == 0
        assert library.call("restore", library.one, "start", "--mine", "restore", "--yes").status == 0, cut
        assert library.call("verify").status == 0
        assert not (work / "one.txt").exists()
        aside = [one.read_bytes() for one in (vault / "desktop" / "set-aside").glob("*")]
        assert aside == ([torn] if torn else [])
        while library.call("undo", library.one, "--yes").status == 0:
            pass
        assert (work / "one.txt").read_text() in ("one 1\n", "one 2\n")


def _all(data: bytes, part: bytes) -> list[int]:
    return [at for at in range(len(data)) if data.startswith(part, at)]


def test_every_flipped_bit_in_a_numbered_log_is_found(library: Library) -> None:
    """Lines of ours carry a checksum: no bit of them can change unseen, and a log with one is not written to."""
    assert library.call("restore", library.one, "before:2", "--scope", "files", "--yes").status == 0
    path = library.log(library.one)
    whole = path.read_bytes()
    keys = {start + offset for start in _all(whole, b',"crc":"') for offset in range(8)}
    # Without the key a line reads as one of the original's; what it says is untouched. Without the last byte the log ends in a
    # torn line, which is another finding.
    for at in sorted(set(range(0, len(whole) - 1, 41)) - keys):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << (at % 8))]) + whole[at + 1 :])
        report = library.call("--json", "verify").json
        assert "log-line" in {one["kind"] for one in report["problems"]}, whole[at - 20 : at + 20]
        assert library.call("timeline", library.one).status == 0
        assert library.call("--json", "restore", library.one, "start", "--yes").status == 3
    path.write_bytes(whole)
    assert library.call("verify").status == 0
