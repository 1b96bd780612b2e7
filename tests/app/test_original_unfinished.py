"""A restore that the other program did not end, from the command line: said, never carried on, refused with a sentence."""

from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.helpers.original import OriginalStore, Stopped
from tests.helpers.program import Answer, call, tree

CHAT = '{{"id":"{0}","name":"{0}","messages":null,"usage":{{}},"created_at":1,"updated_at":2}}'


class Folder:
    """Its folder with two chats; the restore of ``chat-a`` to tag 2 was killed after the first file."""

    def __init__(self, root: Path, home: Path) -> None:
        self.vault, self.work, self.data, self.home = root / "vibekit", root / "work", root / "data", home
        (self.vault / "chats").mkdir(parents=True)
        self.work.mkdir()
        clock = Clock()
        self.store = OriginalStore(self.vault, self.work, clock)
        for chat in ("chat-a", "chat-b"):
            (self.vault / "chats" / f"{chat}.json").write_text(CHAT.format(chat))
            for text in (b"1\n", b"2\n"):
                self.store.advance_turn(chat, 1)
                for name in ("x", "y"):
                    clock.advance(5)
                    self.store.write(chat, f"{chat}/{name}", text, 1)
        with pytest.raises(Stopped):
            self.store.restore("chat-a", "2", stop_after=1)

    def call(self, *words: str) -> Answer:
        return call(self.data, self.home, "--vault", str(self.vault), "--workspace", str(self.work), *words)


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Folder:
    return Folder(tmp_path, home)


def test_the_timeline_says_that_it_did_not_end(folder: Folder) -> None:
    before = tree(folder.vault), tree(folder.work)
    assert folder.call("--json", "timeline", "chat-a").json["unfinished"] is True
    assert folder.call("--json", "timeline", "chat-b").json["unfinished"] is False
    said = b"a restore of this chat began and did not end; `vibekit-desktop end-restore chat-a` ends it\n"
    assert folder.call("timeline", "chat-a").out.endswith(said)
    assert b"did not end" not in folder.call("timeline", "chat-b").out
    found = folder.call("--json", "verify")
    assert [(one["kind"], one["chat_id"]) for one in found.json["problems"]] == [("restore-unfinished", "chat-a")]
    for words in (("diff", "chat-a"), ("preview", "chat-a", "before:1"), ("cat", "chat-a", "before:2", "chat-a/x")):
        assert folder.call(*words).status == 0, words
    assert (tree(folder.vault), tree(folder.work)) == before


def test_a_restore_is_refused_with_a_sentence_and_nothing_is_changed(folder: Folder) -> None:
    before = tree(folder.work), folder.store.log_path("chat-a").read_bytes()
    for words in (("restore", "chat-a", "before:1", "--yes"), ("undo-file", "chat-a", "before:2", "chat-a/y", "--yes")):
        answer = folder.call(*words)
        assert answer.status == 3, words
        assert answer.err == (
            "error: store.restore-unfinished: an earlier restore of chat chat-a is unfinished: another program began it and "
            "has not ended it; it is not carried on here, and nothing was changed; `vibekit-desktop end-restore chat-a --yes` "
            "ends it, the files as they are\n"
        )
    assert (tree(folder.work), folder.store.log_path("chat-a").read_bytes()) == before


def test_other_chats_of_the_folder_are_restored_all_the_same(folder: Folder) -> None:
    before = folder.store.log_path("chat-a").read_bytes()
    assert folder.call("restore", "chat-b", "before:2", "--yes").status == 0
    assert folder.call("undo", "chat-b", "--yes").status == 0
    assert folder.store.log_path("chat-a").read_bytes() == before


def test_it_goes_on_when_that_program_has_ended_it(folder: Folder) -> None:
    OriginalStore(folder.vault, folder.work, Clock()).load("chat-a")
    assert folder.call("--json", "timeline", "chat-a").json["unfinished"] is False
    assert folder.call("restore", "chat-a", "before:1", "--mine", "restore", "--yes").status == 0
    assert sorted(path.name for path in folder.work.glob("chat-a/*") if "vibekit" not in path.name) == []


# -- the answer: it is ended, its files as they are ---------------------------------------------------------------


def test_without_yes_it_says_what_would_be_ended_and_changes_nothing(folder: Folder) -> None:
    before = tree(folder.vault), tree(folder.work)
    answer = folder.call("end-restore", "chat-a")
    assert answer.status == 1
    assert answer.out.decode() == (
        "Chat chat-a has a restore that was begun by another program or in another folder, and did not end. It would be ended, "
        "its files as they are.\nNothing was changed. Add --yes to end it.\n"
    )
    asked = folder.call("--json", "end-restore", "chat-a")
    assert (asked.status, asked.json) == (1, {"ended": 0})
    assert (tree(folder.vault), tree(folder.work)) == before


def test_where_there_is_none_to_end_a_sentence_says_so(folder: Folder) -> None:
    log = folder.store.log_path("chat-b").read_bytes()
    for words in (("end-restore", "chat-b"), ("end-restore", "chat-b", "--yes")):
        answer = folder.call(*words)
        assert answer.status == 1, words
        assert answer.err == (
            "error: checkpoint.nothing-to-end: chat chat-b has no restore that was begun elsewhere and did not end; "
            "nothing was changed\n"
        )
    assert folder.store.log_path("chat-b").read_bytes() == log


def test_once_it_is_ended_restores_and_undo_work_again(folder: Folder) -> None:
    files, log, other = tree(folder.work), _log(folder, "chat-a"), _log(folder, "chat-b")
    answer = folder.call("end-restore", "chat-a", "--yes")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out == b"ended 1 restore of chat chat-a; its files stay as they are\n"
    assert tree(folder.work) == files
    assert _log(folder, "chat-a").startswith(log)
    assert _log(folder, "chat-b") == other
    assert folder.call("--json", "timeline", "chat-a").json["unfinished"] is False
    assert folder.call("verify").status == 0
    assert folder.call("end-restore", "chat-a", "--yes").status == 1, "it has ended"

    assert folder.call("restore", "chat-a", "before:2", "--mine", "restore", "--yes").status == 0
    assert [(folder.work / "chat-a" / name).read_bytes() for name in ("x", "y")] == [b"1\n", b"1\n"]
    assert folder.call("undo", "chat-a", "--yes").status == 0
    assert tree(folder.work) == files
    assert _log(folder, "chat-a").startswith(log)


def test_a_script_reads_how_many_were_ended(folder: Folder) -> None:
    answer = folder.call("--json", "end-restore", "chat-a", "--yes")
    assert (answer.status, answer.json) == (0, {"ended": 1})


def test_once_it_is_ended_that_program_does_not_carry_it_on_either(folder: Folder) -> None:
    assert folder.call("end-restore", "chat-a", "--yes").status == 0
    files, log = tree(folder.work), _log(folder, "chat-a")
    again = OriginalStore(folder.vault, folder.work, Clock())
    again.load_all()
    assert tree(folder.work) == files
    assert _log(folder, "chat-a") == log
    again.restore("chat-a", "1")
    assert not [name for name in tree(folder.work) if name in ("chat-a/x", "chat-a/y")], "its own restores work too"


def _log(folder: Folder, chat: str) -> bytes:
    return folder.store.log_path(chat).read_bytes()
